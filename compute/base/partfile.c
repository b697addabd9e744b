// See partfile.h. Names are tried with O_EXCL, so that two recordings never share
// a part; the last step is renameat2, which can refuse to replace. Prints nothing.
#include "compute/base/partfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compute/base/why.h"

enum { MAX_PARTS = 99 }; // unfinished parts of one target

// --- The parts of this process ---

// Those that exist, oldest first, for an end that leaves no time to their owners. The lock is
// held while one comes or goes.
static struct {
    pthread_mutex_t lock;
    char paths[8][PARTFILE_PATH_BYTES]; // more would be forgotten
    int count;
} parts = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { MOST_PARTS = sizeof parts.paths / sizeof parts.paths[0] };

static void remember(const char *path) {
    if (parts.count < MOST_PARTS)
        snprintf(parts.paths[parts.count++], PARTFILE_PATH_BYTES, "%s", path);
}

static void forget(const char *path) {
    int at = 0;
    while (at < parts.count && strcmp(parts.paths[at], path) != 0)
        at++;
    if (at == parts.count)
        return;
    size_t after = (size_t)(--parts.count - at);
    memmove(parts.paths[at], parts.paths[at] + PARTFILE_PATH_BYTES, after * PARTFILE_PATH_BYTES);
}

void partfile_abandon(char kept[PARTFILE_PATH_BYTES]) {
    struct stat st;
    kept[0] = '\0';
    pthread_mutex_lock(&parts.lock); // for ever: whoever comes now waits for the end
    for (int i = parts.count - 1; i >= 0; i--) {
        const char *path = parts.paths[i];
        if (rmdir(path) == 0 || stat(path, &st) != 0)
            continue;
        if (i > 0 || st.st_size == 0)
            unlink(path);
        else
            memcpy(kept, path, PARTFILE_PATH_BYTES);
    }
}

// --- Targets ---

// "film" of "dir/film.mp4": the length of the path without its ending.
static size_t stem_bytes(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

// The folder that holds `path`; "." if the path names none.
static bool folder_of(char out[PARTFILE_PATH_BYTES], const char *path) {
    const char *slash = strrchr(path, '/');
    size_t bytes = slash ? (size_t)(slash - path) : 0;
    if (bytes >= PARTFILE_PATH_BYTES)
        return false;
    if (!slash)
        return snprintf(out, PARTFILE_PATH_BYTES, ".") > 0;
    snprintf(out, PARTFILE_PATH_BYTES, "%.*s", (int)(bytes > 0 ? bytes : 1), path);
    return true;
}

// Existing files by device and inode, so through every link; names that are still free
// by their folder and last part.
static bool is_same_file(const char *a, const char *b) {
    struct stat of_a, of_b;
    bool has_a = stat(a, &of_a) == 0, has_b = stat(b, &of_b) == 0;
    if (has_a != has_b)
        return false;
    if (!has_a) {
        char folder_a[PARTFILE_PATH_BYTES], folder_b[PARTFILE_PATH_BYTES];
        const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
        if (strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b) != 0 ||
            !folder_of(folder_a, a) || !folder_of(folder_b, b) || stat(folder_a, &of_a) != 0 ||
            stat(folder_b, &of_b) != 0)
            return false;
    }
    return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

bool partfile_check_taken(const char *path, const char *const *taken, struct why *why) {
    for (; taken && *taken; taken++) {
        if (is_same_file(path, *taken))
            return why_set(why,
                           "'%.80s' is the same file as '%.80s', which this command reads or "
                           "writes, too: choose another name",
                           path, *taken);
    }
    return true;
}

static bool check_folder(const char *path, struct why *why) {
    char folder[PARTFILE_PATH_BYTES];
    struct stat st;
    // 32: room for ".part99" and an ending.
    if (strlen(path) + 32 > PARTFILE_PATH_BYTES || !folder_of(folder, path))
        return why_set(why, "the file name is too long (%zu bytes)", strlen(path));
    if (stat(folder, &st) != 0 && errno != ENOENT && errno != ENOTDIR)
        return why_set(why, "can't look into the folder '%.120s': %s", folder, strerror(errno));
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return why_set(why, "there is no folder '%.120s' to write into: create it first", folder);
    if (access(folder, W_OK | X_OK) != 0)
        return why_set(why, "can't write in the folder '%.120s': %s", folder, strerror(errno));
    return true;
}

bool partfile_check_target(const char *path, bool overwrite, const char *const *taken,
                           struct why *why) {
    struct stat st;
    if (!check_folder(path, why) || !partfile_check_taken(path, taken, why))
        return false;
    if (lstat(path, &st) != 0)
        return true;
    if (S_ISLNK(st.st_mode) && stat(path, &st) != 0)
        return why_set(why, "'%.120s' is a link to nothing: remove it first", path);
    if (!S_ISREG(st.st_mode))
        return why_set(why, "'%.120s' is there and is no plain file: choose another name", path);
    if (!overwrite)
        return why_set(why, "'%.120s' exists: choose another name or allow it with --overwrite",
                       path);
    return true;
}

// Part number `number` of `path` in `out`. False: too long.
static bool part_path(char out[PARTFILE_PATH_BYTES], const char *path, struct partfile_name name,
                      int number) {
    char digits[12] = "";
    if (number > 1)
        snprintf(digits, sizeof digits, "%d", number);
    int bytes = snprintf(out, PARTFILE_PATH_BYTES, "%.*s.%s%s%s", (int)stem_bytes(path), path,
                         name.word, digits, name.ending);
    return bytes > 0 && bytes < PARTFILE_PATH_BYTES;
}

// Creates the file, or a folder, and remembers it. False: errno says why.
static bool create(struct partfile *out, bool is_folder) {
    pthread_mutex_lock(&parts.lock);
    if (!is_folder)
        out->fd = open(out->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool is_there = is_folder ? mkdir(out->path, 0777) == 0 : out->fd >= 0;
    if (is_there)
        remember(out->path);
    pthread_mutex_unlock(&parts.lock);
    return is_there;
}

bool partfile_create(struct partfile *out, const char *path, struct partfile_name name,
                     struct why *why) {
    out->fd = -1;
    errno = ENAMETOOLONG;
    for (int number = 1; number <= MAX_PARTS; number++) {
        if (!part_path(out->path, path, name, number))
            break;
        if (create(out, false))
            return true;
        if (errno != EEXIST)
            break;
    }
    return why_set(why, "can't create '%.120s' beside the target: %s", out->path, strerror(errno));
}

bool partfile_create_folder(struct partfile *out, const char *path, const char *word,
                            struct why *why) {
    out->fd = -1;
    errno = ENAMETOOLONG;
    for (int number = 1; number <= MAX_PARTS; number++) {
        int bytes = number == 1
                        ? snprintf(out->path, sizeof out->path, "%s.%s", path, word)
                        : snprintf(out->path, sizeof out->path, "%s.%s%d", path, word, number);
        if (bytes < 0 || (size_t)bytes >= sizeof out->path)
            break;
        if (create(out, true))
            return true;
        if (errno != EEXIST)
            break;
    }
    return why_set(why, "can't create the folder '%.120s': %s", out->path, strerror(errno));
}

int partfile_write_fd(int fd, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes > 0) {
        ssize_t written = write(fd, at, bytes);
        if (written >= 0) {
            at += written;
            bytes -= (size_t)written;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            // A pipe that somebody made non-blocking. A hang-up ends the wait, too; the
            // next write reports it.
            struct pollfd ready = {.fd = fd, .events = POLLOUT};
            if (poll(&ready, 1, -1) < 0 && errno != EINTR)
                return errno;
        } else if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

bool partfile_write(const struct partfile *part, const void *data, size_t bytes, struct why *why) {
    int error = partfile_write_fd(part->fd, data, bytes);
    if (error == 0)
        return true;
    return why_set(why, "can't write to '%.120s': %s%s", part->path, strerror(error),
                   error == ENOSPC || error == EDQUOT ? ": free some space and try again" : "");
}

// The new name is on the disk only once its folder has been flushed, too. A failure does
// not damage the file, so it isn't reported.
static void sync_folder(const char *path) {
    char folder[PARTFILE_PATH_BYTES];
    if (!folder_of(folder, path))
        return;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

// Flushes to the disk and closes; 0 or errno. Some network and pseudo file systems
// have no fsync; the data is there.
static int finish(struct partfile *part) {
    bool is_synced = fsync(part->fd) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP;
    int error = is_synced ? 0 : errno;
    if (close(part->fd) != 0 && error == 0)
        error = errno;
    part->fd = -1;
    return error;
}

// Renames, but never over an existing file. File systems that can't do that in one step
// answer EINVAL; for them the check comes first, which leaves a gap of microseconds.
static int rename_to_free_name(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    struct stat st;
    if (lstat(to, &st) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

bool partfile_rename(const char *from, const char *to, bool overwrite, struct why *why) {
    pthread_mutex_lock(&parts.lock);
    int result = overwrite ? rename(from, to) : rename_to_free_name(from, to);
    if (result == 0)
        forget(from);
    pthread_mutex_unlock(&parts.lock); // leaves errno as it is
    if (result != 0)
        return why_set(why, "'%.90s' can't be named '%.90s': %s", from, to, strerror(errno));
    sync_folder(to);
    return true;
}

bool partfile_publish(struct partfile *part, const char *path, bool overwrite, struct why *why) {
    int error = finish(part);
    if (error != 0)
        return why_set(why, "can't finish '%.120s': %s", part->path, strerror(error));
    return partfile_rename(part->path, path, overwrite, why);
}

void partfile_keep(struct partfile *part) {
    if (part->fd >= 0)
        close(part->fd);
    part->fd = -1;
}

void partfile_discard(struct partfile *part) {
    partfile_keep(part);
    pthread_mutex_lock(&parts.lock);
    unlink(part->path);
    forget(part->path);
    pthread_mutex_unlock(&parts.lock);
}

bool partfile_save(const char *path, const void *data, size_t bytes, bool overwrite,
                   struct why *why) {
    struct partfile part;
    if (!partfile_check_target(path, overwrite, NULL, why) ||
        !partfile_create(&part, path, (struct partfile_name){"part", ""}, why))
        return false;
    if (partfile_write(&part, data, bytes, why) && partfile_publish(&part, path, overwrite, why))
        return true;
    partfile_discard(&part);
    return false;
}
