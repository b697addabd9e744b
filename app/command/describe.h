// The walk of a run as text, one block an event: what a still shows, for people
// who read or listen instead of looking, and for tests. The same times, counts
// and words of origin as on the screen; nothing that the run does not hold. With a
// lesson at hand, also its one line about each event, in its language; NULL for a
// lesson leaves that out.
#ifndef APP_COMMAND_DESCRIBE_H
#define APP_COMMAND_DESCRIBE_H

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

// One line about an event, at once on its way: for a screen reader that follows the
// window. The lesson's line; describe_event's without a lesson. The run may still grow.
void describe_step(FILE *out, const struct lesson *lesson, const struct run *run, int event);

// Returns the exit code; `why` is "" or the one line to print.
int describe_command(const struct options *options, char why[256]);

#endif
