// A run as text, one block per event. It says what a still shows, for people who read or
// listen, and for tests, with the same times, counts and words of origin. A lesson adds its
// own line about each event, in its language; a NULL lesson adds none.
#ifndef APP_COMMAND_DESCRIBE_H
#define APP_COMMAND_DESCRIBE_H

#include "compute/base/why.h"

#include "app/lesson/lesson.h"
#include "app/options/options.h"
#include "compute/run/run.h"

enum { DESCRIBE_LINE_BYTES = 1024 };

// One line about an event of a complete run, without a newline: its time, phase
// and what happened: `97 units, decode step 1: ...`.
void describe_event(char *out, size_t bytes, const struct run *run, int event);

// The block of an event: that line, the lesson's, then the KV cache and the answer so far.
void describe_block(FILE *out, const struct lesson *lesson, const struct run *run, int event);

// Origin, every block, and a line of totals.
void describe_run(FILE *out, const struct lesson *lesson, const struct run *run);

// One line about an event, flushed at once for a screen reader that follows the window: the
// lesson's, or without one that of describe_event. The run may still grow.
void describe_step(FILE *out, const struct lesson *lesson, const struct run *run, int event);

// Returns the exit code; `why` is "" or the one line to print.
int describe_command(const struct options *options, struct why *why);

#endif
