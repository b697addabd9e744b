// One line on standard error, rewritten in place, that shows the progress of a long
// command. Prints nothing if standard error is not a terminal (a log, a pipe) or the
// user asked for quiet.
#ifndef COMPUTE_BASE_PROGRESS_H
#define COMPUTE_BASE_PROGRESS_H

#include <stdbool.h>

struct progress {
    bool is_on;
    bool is_shown;
};

struct progress progress_start(bool quiet);

// Replaces the line; text is cut at 79 columns.
void progress_say(struct progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Erases the line before other output.
void progress_clear(struct progress *progress);

#endif
