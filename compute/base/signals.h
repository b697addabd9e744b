// Asked to stop: INT, TERM and HUP as a number that any loop can look at. One
// thread waits for them in sigwait, so that no handler ever runs in the middle
// of drawing or encoding. The first asks: whoever works finishes its file and
// leaves. The second leaves at once. SIGPIPE is ignored: a reader that went away
// is a failed write, with a message.
#ifndef COMPUTE_BASE_SIGNALS_H
#define COMPUTE_BASE_SIGNALS_H

#include <stdbool.h>

// Call once, before any other thread is started: threads inherit the blocked
// signals. One that was ignored at the start (nohup) stays ignored.
bool signals_start(char why[256]);

// True once the user, or the system, has asked to stop. Thread: any.
bool signals_stop_asked(void);

// Called from the signal thread at the first signal, so that a sleeping window
// wakes. Must be quick and thread-safe; NULL removes it, and when this returns the
// old one is no longer running.
void signals_on_stop(void (*wake)(void *context), void *context);

#endif
