// See memory.h. An unreadable file counts as no limit: a refusal needs a reason.
#include "compute/cpu/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 512, LINE_BYTES = 512 };

// The number after `key` in the first line that begins with it ("" = any line).
static bool read_number(const char *path, const char *key, size_t *out) {
    char line[LINE_BYTES];
    bool is_there = false;
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    while (!is_there && fgets(line, sizeof line, file)) {
        uintmax_t value;
        if (strncmp(line, key, strlen(key)) == 0 &&
            sscanf(line + strlen(key), " %" SCNuMAX, &value) == 1) {
            *out = (size_t)value;
            is_there = true;
        }
    }
    fclose(file);
    return is_there;
}

// What one group's own limit leaves; SIZE_MAX where it has none ("max").
static size_t left_at(const char *folder) {
    char path[PATH_BYTES + 32];
    size_t most, used, cached = 0;
    snprintf(path, sizeof path, "%s/memory.max", folder);
    if (!read_number(path, "", &most))
        return SIZE_MAX;
    snprintf(path, sizeof path, "%s/memory.current", folder);
    if (!read_number(path, "", &used))
        return SIZE_MAX;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    read_number(path, "inactive_file", &cached);
    used = used > cached ? used - cached : 0;
    return most > used ? most - used : 0;
}

// The least that is left from the process's group up to the hierarchy's top. Inside
// a container the path may name folders that only the host sees; left_at skips those.
static size_t left_along(const char *top, const char *group) {
    char folder[PATH_BYTES];
    size_t least = SIZE_MAX, top_bytes = strlen(top);
    if (snprintf(folder, sizeof folder, "%s%s", top, group) >= (int)sizeof folder)
        return SIZE_MAX;
    for (;;) {
        size_t left = left_at(folder);
        least = left < least ? left : least;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < top_bytes)
            return least;
        *slash = '\0';
    }
}

static size_t group_left(const char *root) {
    char path[PATH_BYTES], line[LINE_BYTES], top[PATH_BYTES];
    size_t least = SIZE_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    snprintf(top, sizeof top, "%s/sys/fs/cgroup", root);
    FILE *file = fopen(path, "r");
    if (!file)
        return SIZE_MAX;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "0::", 3) != 0) // v2's one line
            continue;
        line[strcspn(line, "\n")] = '\0';
        least = left_along(top, line + 3);
    }
    fclose(file);
    return least;
}

size_t memory_free_bytes(const char *root) {
    char path[PATH_BYTES];
    size_t available_kb, available = SIZE_MAX, left = group_left(root);
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (read_number(path, "MemAvailable:", &available_kb) && available_kb <= SIZE_MAX / 1024)
        available = available_kb * 1024;
    return available < left ? available : left;
}
