// One line on a terminal's standard error that says how far a long command is,
// rewritten in place. Where standard error is no terminal (a log, a pipe) or the
// user asked for quiet it stays silent, so that nothing counts in a log file.
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

// Takes the line away, so that what is printed next stands alone.
void progress_clear(struct progress *progress);

#endif
