// See memory.h. An unreadable file counts as no limit: a refusal needs a reason.
#include "compute/cpu/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

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

// The same number under its names in both versions; a v1 group counts what is in the groups below
// it only under "total_".
struct version {
    const char *top, *other_top; // where it is mounted
    const char *most, *used, *inactive, *active;
};

static const struct version v1 = {
    "/sys/fs/cgroup/memory", "/sys/fs/cgroup",       "memory.limit_in_bytes",
    "memory.usage_in_bytes", "total_inactive_file ", "total_active_file ",
};
static const struct version v2 = {
    "/sys/fs/cgroup", "/sys/fs/cgroup/unified", "memory.max",
    "memory.current", "inactive_file ",         "active_file ",
};

// What one group's own limit leaves; SIZE_MAX where it has none ("max").
static size_t left_at(const char *folder, const struct version *version) {
    char path[PATH_BYTES + 32];
    size_t most, used, inactive = 0, active = 0;
    snprintf(path, sizeof path, "%s/%s", folder, version->most);
    if (!read_number(path, "", &most))
        return SIZE_MAX;
    snprintf(path, sizeof path, "%s/%s", folder, version->used);
    if (!read_number(path, "", &used))
        return SIZE_MAX;
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    read_number(path, version->inactive, &inactive);
    read_number(path, version->active, &active);
    used = used > inactive ? used - inactive : 0;
    used = used > active ? used - active : 0;
    return most > used ? most - used : 0;
}

// The least that is left from the process's group up to the hierarchy's top. Inside
// a container the path may name folders that only the host sees; left_at skips those.
static size_t left_along(const char *root, const char *top, const char *group,
                         const struct version *version) {
    char folder[PATH_BYTES];
    size_t least = SIZE_MAX, top_bytes = strlen(root) + strlen(top);
    if (snprintf(folder, sizeof folder, "%s%s%s", root, top, group) >= (int)sizeof folder)
        return SIZE_MAX;
    for (;;) {
        size_t left = left_at(folder, version);
        least = left < least ? left : least;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < top_bytes)
            return least;
        *slash = '\0';
    }
}

// True if "memory" is one of v1's controllers: "cpu,memory".
static bool has_memory(const char *controllers) {
    for (const char *at = controllers; (at = strstr(at, "memory")); at++) {
        if ((at == controllers || at[-1] == ',') && (at[6] == ',' || at[6] == '\0'))
            return true;
    }
    return false;
}

// One line of /proc/self/cgroup: "0::/group" (v2) or "4:memory:/group" (v1).
static size_t left_of_line(char *line, const char *root) {
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return SIZE_MAX;
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    const struct version *version = *++controllers == '\0' ? &v2 : &v1;
    if (version == &v1 && !has_memory(controllers))
        return SIZE_MAX;
    size_t here = left_along(root, version->top, group, version);
    size_t there = left_along(root, version->other_top, group, version);
    return here < there ? here : there;
}

static size_t group_left(const char *root) {
    char path[PATH_BYTES], line[LINE_BYTES];
    size_t least = SIZE_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    if (!file)
        return SIZE_MAX;
    while (fgets(line, sizeof line, file)) {
        size_t left = left_of_line(line, root);
        least = left < least ? left : least;
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

size_t memory_address_bytes(const char *root) {
    char path[PATH_BYTES];
    struct rlimit limit;
    size_t pages = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    snprintf(path, sizeof path, "%s/proc/self/statm", root);
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    read_number(path, "", &pages);
    return limit.rlim_cur > pages * page ? (size_t)limit.rlim_cur - pages * page : 0;
}
