// Writes a file under a temporary name and renames it when it is complete. The part
// is beside its target, so the rename is atomic: a reader of the target sees the old
// file or the new one, never half of one.
// Overwrites or removes an existing file only if asked to.
#ifndef COMPUTE_BASE_PARTFILE_H
#define COMPUTE_BASE_PARTFILE_H

#include "compute/base/why.h"

#include <stdbool.h>
#include <stddef.h>

enum { PARTFILE_PATH_BYTES = 4096 };

// {.fd = -1}: none. Owner: the creator, who publishes, keeps or discards it.
struct partfile {
    int fd; // -1 once closed
    char path[PARTFILE_PATH_BYTES];
};

// The one rule for every output. True if `path` can become a file: its folder exists and
// is writable, `path` is not a folder or device, it is free or may be replaced, and it is
// none of `taken`, by whatever name or link: the command's inputs and other outputs, a
// list that ends with NULL. NULL: `taken` may be NULL.
bool partfile_check_target(const char *path, bool overwrite, const char *const *taken,
                           struct why *why);

// That last part alone, for a file that may exist.
bool partfile_check_taken(const char *path, const char *const *taken, struct why *why);

// How to name a part. {"part", ".mp4"}: "film.mp4" grows in "film.part.mp4", or
// "film.part2.mp4" and so on if that name is taken (by another recording, or by the
// leftover of an interrupted one).
struct partfile_name {
    const char *word, *ending;
};

bool partfile_create(struct partfile *out, const char *path, struct partfile_name name,
                     struct why *why);

// The same for a folder: "stills" grows in "stills.part". Fills only out->path.
bool partfile_create_folder(struct partfile *out, const char *path, const char *word,
                            struct why *why);

// Writes all bytes. On failure `why` holds the system's reason.
bool partfile_write(const struct partfile *part, const void *data, size_t bytes, struct why *why);

// For any file descriptor: resumes after signals, waits if it would block. 0 or errno.
int partfile_write_fd(int fd, const void *data, size_t bytes);

// Flushes to the disk, closes and renames to `path`. Without `overwrite` a file that
// has appeared there meanwhile is kept. On failure the closed part is kept.
bool partfile_publish(struct partfile *part, const char *path, bool overwrite, struct why *why);

// Renames a file or folder durably; see partfile_publish.
bool partfile_rename(const char *from, const char *to, bool overwrite, struct why *why);

// All in one: `path` holds `data` afterwards, or what it held before.
bool partfile_save(const char *path, const void *data, size_t bytes, bool overwrite,
                   struct why *why);

void partfile_keep(struct partfile *part);    // closes, leaves it
void partfile_discard(struct partfile *part); // closes, removes it

// Just before the process ends at once: removes every part there is but the oldest that holds
// something, whose name is in `kept` then ("" = none). Any thread; whoever comes to a part
// later waits for ever.
void partfile_abandon(char kept[PARTFILE_PATH_BYTES]);

#endif
