// See progress.h.
#include "compute/base/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_COLUMNS = 79 };

struct progress progress_start(bool quiet) {
    return (struct progress){.is_on = !quiet && isatty(STDERR_FILENO)};
}

void progress_say(struct progress *progress, const char *format, ...) {
    char line[LINE_COLUMNS + 1];
    if (!progress->is_on)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    // Spaces to the end wipe a longer line that was there.
    fprintf(stderr, "\r%-*s\r%s", LINE_COLUMNS, "", line);
    fflush(stderr);
    progress->is_shown = true;
}

void progress_clear(struct progress *progress) {
    if (!progress->is_shown)
        return;
    fprintf(stderr, "\r%-*s\r", LINE_COLUMNS, "");
    fflush(stderr);
    progress->is_shown = false;
}
