// Turns INT, TERM and HUP into a flag that any loop can poll. One thread waits for
// them in sigwait, so that no handler ever interrupts drawing or encoding. After the
// first signal a command completes its file and exits; the second exits at once, leaves of
// all unfinished files at most one, and names it.
// SIGPIPE is ignored: a write to a closed pipe fails and is reported as an error.
#ifndef COMPUTE_BASE_SIGNALS_H
#define COMPUTE_BASE_SIGNALS_H

#include "compute/base/why.h"

#include <stdbool.h>

// Call once, before any other thread is started: threads inherit the blocked
// signals. One that was ignored at the start (nohup) stays ignored.
bool signals_start(struct why *why);

// True once the user, or the system, has asked to stop. Thread: any.
bool signals_stop_asked(void);

// Called from the signal thread at the first signal, so that a sleeping window
// wakes. Must be quick and thread-safe; NULL removes it, and when this returns the
// old one is no longer running.
void signals_on_stop(void (*wake)(void *context), void *context);

#endif
