// A file as read-only memory: its pages are read when they are first looked at, and need no
// memory of the process's own. If the file is cut short meanwhile, looking at what is gone would
// kill the program with SIGBUS; it then ends with one line and exit code 1 instead.
#ifndef COMPUTE_BASE_MAPFILE_H
#define COMPUTE_BASE_MAPFILE_H

#include "compute/base/why.h"

#include <stdbool.h>
#include <stddef.h>

struct mapfile {
    const unsigned char *data; // page-aligned; NULL = nothing is mapped
    size_t bytes;
};

// The first `bytes` bytes, > 0, of an open file, which may be closed afterwards. `name` is for
// the line about a file that was cut, and copied. False: errno says why. Any thread.
bool mapfile_open(struct mapfile *out, int fd, size_t bytes, const char *name);
void mapfile_close(struct mapfile *map); // a zeroed one is fine

// Reads all pages, so that none has to be waited for later, in parts between which on_part is
// told how many bytes are done, until it returns false. NULL = nobody is told. False: it did.
bool mapfile_touch(const struct mapfile *map, bool (*on_part)(void *context, size_t done_bytes),
                   void *context);

#endif
