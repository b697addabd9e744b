// See mapfile.h.
#include "compute/base/mapfile.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MOST_MAPS = 16, // more are mapped all the same, without the line
    NAME_BYTES = 96,
    PAGE_BYTES = 4096,     // at most what a page has
    PART_BYTES = 64 << 20, // between two reports
};

// What is mapped, for the signal handler, which may take no lock: `end` is written last and is
// 0 while the place is free.
static struct {
    _Atomic uintptr_t start, end;
    char name[NAME_BYTES];
} maps[MOST_MAPS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of who writes

static void say(const char *text) {
    ssize_t n = write(STDERR_FILENO, text, strlen(text));
    (void)n;
}

static void on_bus_error(int number, siginfo_t *info, void *unused) {
    (void)unused;
    uintptr_t at = (uintptr_t)info->si_addr;
    for (int i = 0; i < MOST_MAPS; i++) {
        if (at < atomic_load(&maps[i].start) || at >= atomic_load(&maps[i].end))
            continue;
        say("tokendrip: ");
        say(maps[i].name);
        say(" became shorter or could not be read while it was in use: start again\n");
        _exit(1);
    }
    signal(number, SIG_DFL); // not ours: it comes again at once and ends the program
}

static void catch_bus_errors(void) {
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL); // cannot fail with these
}

static void remember(const struct mapfile *map, const char *name) {
    pthread_mutex_lock(&lock);
    catch_bus_errors();
    for (int i = 0; i < MOST_MAPS; i++) {
        if (atomic_load(&maps[i].end) != 0)
            continue;
        snprintf(maps[i].name, NAME_BYTES, "%s", name);
        atomic_store(&maps[i].start, (uintptr_t)map->data);
        atomic_store(&maps[i].end, (uintptr_t)map->data + map->bytes);
        break;
    }
    pthread_mutex_unlock(&lock);
}

static void forget(const struct mapfile *map) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_MAPS; i++) {
        if (atomic_load(&maps[i].start) == (uintptr_t)map->data)
            atomic_store(&maps[i].end, 0);
    }
    pthread_mutex_unlock(&lock);
}

bool mapfile_open(struct mapfile *out, int fd, size_t bytes, const char *name) {
    *out = (struct mapfile){0};
    void *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return false;
    madvise(data, bytes, MADV_HUGEPAGE); // only a wish, which few file systems grant
    *out = (struct mapfile){data, bytes};
    remember(out, name);
    return true;
}

void mapfile_close(struct mapfile *map) {
    if (!map->data)
        return;
    forget(map);
    munmap((void *)(uintptr_t)map->data, map->bytes);
    *map = (struct mapfile){0};
}

bool mapfile_touch(const struct mapfile *map, bool (*on_part)(void *context, size_t done_bytes),
                   void *context) {
    for (size_t at = 0; at < map->bytes; at += PART_BYTES) {
        size_t left = map->bytes - at, part = left < PART_BYTES ? left : PART_BYTES;
        madvise((void *)(uintptr_t)(map->data + at), part, MADV_WILLNEED);
        volatile unsigned char seen = 0; // or nothing would be read
        for (size_t i = 0; i < part; i += PAGE_BYTES)
            seen = (unsigned char)(seen ^ map->data[at + i]);
        if (on_part && !on_part(context, at + part))
            return false;
    }
    return true;
}
