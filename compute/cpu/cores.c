// See cores.h. A core is identified by the lowest CPU in its list of hardware threads.
// Unreadable files never lower the count: an unreadable list is a core of its own, an
// unreadable quota is no quota. Must not call anything that needs locks or other threads:
// it runs before any are started.
#include "compute/cpu/cores.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, TEXT_BYTES = 4096 };

// --- Small files ---

// The start of a file as text. False: not readable, or the name was cut.
static bool read_text(char *out, size_t bytes, const char *path) {
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t got = fread(out, 1, bytes - 1, file);
    fclose(file);
    out[got] = '\0';
    return got > 0;
}

static bool read_numbers(const char *path, const char *format, long long *first,
                         long long *second) {
    char text[TEXT_BYTES];
    if (!read_text(text, sizeof text, path))
        return false;
    int wanted = second ? 2 : 1;
    return sscanf(text, format, first, second) == wanted;
}

// --- Physical cores ---

static bool is_set(const struct cores_mask *mask, int cpu) {
    return mask->bits[cpu / 8] >> (cpu % 8) & 1;
}

static void set(struct cores_mask *mask, int cpu) {
    mask->bits[cpu / 8] = (unsigned char)(mask->bits[cpu / 8] | 1 << (cpu % 8));
}

void cores_allowed(struct cores_mask *out) {
    memset(out, 0, sizeof *out);
    cpu_set_t *allowed = CPU_ALLOC(CORES_MAX_CPUS);
    size_t bytes = CPU_ALLOC_SIZE(CORES_MAX_CPUS);
    bool known = allowed && sched_getaffinity(0, bytes, allowed) == 0;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < CORES_MAX_CPUS; cpu++) {
        if (known ? CPU_ISSET_S((size_t)cpu, bytes, allowed) : cpu < online)
            set(out, cpu);
    }
    if (allowed)
        CPU_FREE(allowed);
}

int cores_logical(const struct cores_mask *allowed) {
    int count = 0;
    for (int cpu = 0; cpu < CORES_MAX_CPUS; cpu++)
        count += is_set(allowed, cpu);
    return count;
}

// The lowest CPU of the core that `cpu` belongs to; lists are ascending.
static int core_of(int cpu, const char *root) {
    static const char *const names[] = {"core_cpus_list", "thread_siblings_list"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu%d/topology/%s", root, cpu,
                 names[i]);
        long long lowest;
        if (read_numbers(path, "%lld", &lowest, NULL) && lowest >= 0 && lowest < CORES_MAX_CPUS)
            return (int)lowest;
    }
    return cpu;
}

static int physical_cores(const struct cores_mask *allowed, const char *root) {
    struct cores_mask seen = {{0}};
    for (int cpu = 0; cpu < CORES_MAX_CPUS; cpu++) {
        if (is_set(allowed, cpu))
            set(&seen, core_of(cpu, root));
    }
    return cores_logical(&seen);
}

// --- Quotas ---

static int whole_cores(long long quota_us, long long period_us) {
    if (quota_us <= 0 || period_us <= 0) // v1 says -1 for "no limit"
        return CORES_MAX_CPUS;
    long long cores = quota_us / period_us;
    return cores < 1 ? 1 : cores > CORES_MAX_CPUS ? CORES_MAX_CPUS : (int)cores;
}

// The quota set at one group's own folder; `is_v2` picks the file format.
static int quota_at(const char *folder, bool is_v2) {
    char path[PATH_BYTES + 32];
    long long quota_us, period_us;
    if (is_v2) {
        snprintf(path, sizeof path, "%s/cpu.max", folder); // "max 100000" does not match
        return read_numbers(path, "%lld %lld", &quota_us, &period_us)
                   ? whole_cores(quota_us, period_us)
                   : CORES_MAX_CPUS;
    }
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
    bool has_quota = read_numbers(path, "%lld", &quota_us, NULL);
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
    return has_quota && read_numbers(path, "%lld", &period_us, NULL)
               ? whole_cores(quota_us, period_us)
               : CORES_MAX_CPUS;
}

// The smallest quota from `group` up to the hierarchy's top. Inside a container
// the path may name folders that only the host sees; those are skipped.
static int quota_along(const char *top, const char *group, bool is_v2) {
    char folder[PATH_BYTES];
    if (snprintf(folder, sizeof folder, "%s%s", top, group) >= (int)sizeof folder)
        return CORES_MAX_CPUS;
    int least = CORES_MAX_CPUS;
    for (size_t top_bytes = strlen(top);;) {
        int quota = quota_at(folder, is_v2);
        least = quota < least ? quota : least;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < top_bytes)
            return least;
        *slash = '\0';
    }
}

static bool names_cpu(const char *controllers) {
    for (const char *at = controllers; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, "cpu", 3) == 0 && (at[3] == ',' || at[3] == '\0'))
            return true;
    }
    return false;
}

// One line of /proc/self/cgroup: "0::/group" (v2) or "4:cpu,cpuacct:/group" (v1).
static int quota_of_line(char *line, const char *root) {
    static const char *const v2_tops[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
    static const char *const v1_tops[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return CORES_MAX_CPUS;
    *group++ = '\0';
    bool is_v2 = *++controllers == '\0';
    if (!is_v2 && !names_cpu(controllers))
        return CORES_MAX_CPUS;

    int least = CORES_MAX_CPUS;
    for (int i = 0; i < 2; i++) {
        char top[PATH_BYTES];
        snprintf(top, sizeof top, "%s%s", root, is_v2 ? v2_tops[i] : v1_tops[i]);
        int quota = quota_along(top, group, is_v2);
        least = quota < least ? quota : least;
    }
    return least;
}

static int quota_cores(const char *root) {
    char path[PATH_BYTES], text[TEXT_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!read_text(text, sizeof text, path))
        return CORES_MAX_CPUS;
    int least = CORES_MAX_CPUS;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        int quota = quota_of_line(line, root);
        least = quota < least ? quota : least;
    }
    return least;
}

int cores_usable(const struct cores_mask *allowed, const char *root) {
    int cores = physical_cores(allowed, root);
    int quota = quota_cores(root);
    int usable = cores < quota ? cores : quota;
    return usable < 1 ? 1 : usable;
}

int cores_here(void) {
    struct cores_mask allowed;
    cores_allowed(&allowed);
    return cores_usable(&allowed, "");
}

// --- The processor's name ---

// Words in the name that nobody says.
static bool is_noise(const char *word, size_t bytes) {
    static const char *const noise[] = {"CPU", "Processor", "with"};
    for (size_t i = 0; i < sizeof noise / sizeof noise[0]; i++) {
        if (strlen(noise[i]) == bytes && strncmp(word, noise[i], bytes) == 0)
            return true;
    }
    return bytes > 5 && strncmp(word + bytes - 5, "-Core", 5) == 0; // "96-Core"
}

// Removes "(R)", "(TM)" from a word, in place. Returns the remaining bytes.
static size_t without_marks(char *word, size_t bytes) {
    size_t kept = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (word[i] == '(') {
            while (i < bytes && word[i] != ')')
                i++;
        } else {
            word[kept++] = word[i];
        }
    }
    return kept;
}

static void tidy_name(char *out, size_t bytes, char *name) {
    size_t used = 0;
    out[0] = '\0';
    for (char *word; (word = strsep(&name, " \t")) != NULL;) {
        if (*word == '@') // "@ 2.60GHz": what follows is no name
            break;
        size_t length = without_marks(word, strlen(word));
        if (length == 0 || is_noise(word, length))
            continue;
        int got = snprintf(out + used, bytes - used, "%s%.*s", used ? " " : "", (int)length, word);
        if (got < 0 || (size_t)got >= bytes - used)
            return;
        used += (size_t)got;
    }
}

void cores_name(char *out, size_t bytes, const char *root) {
    char path[PATH_BYTES], text[TEXT_BYTES];
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    snprintf(out, bytes, "unknown processor");
    if (!read_text(text, sizeof text, path))
        return;
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10) != 0)
            continue;
        tidy_name(out, bytes, colon + 1);
        if (out[0] == '\0')
            snprintf(out, bytes, "unknown processor");
        return;
    }
}
