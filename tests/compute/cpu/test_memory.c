// Tests of how much memory counts as free: made-up /proc and /sys trees, as in
// containers and on plain machines.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/cpu/memory.h"
#include "compute/cpu/rates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static int make_root(void **state) {
    (void)state;
    strcpy(root, "/tmp/tokendrip-memory-XXXXXX");
    return mkdtemp(root) ? 0 : 1;
}

static int remove_root(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void put_file(const char *path, const char *text) {
    char full[256];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(full, 0700);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void the_smaller_of_machine_and_group_counts(void **state) {
    static const char meminfo[] = "MemTotal: 8000 kB\nMemAvailable:    3000 kB\n";
    static const struct {
        const char *meminfo, *group, *path, *max, *current, *stat;
        size_t free_bytes;
    } rows[] = {
        {meminfo, "0::/\n", "/sys/fs/cgroup", "max\n", "5\n", "", 3072000},
        {meminfo, "0::/\n", "/sys/fs/cgroup", "2000000\n", "500000\n", "", 1500000},
        {meminfo, "0::/a/b\n", "/sys/fs/cgroup/a/b", "2000000\n", "500000\n", "", 1500000},
        {meminfo, "0::/a/b\n", "/sys/fs/cgroup/a", "2000000\n", "500000\n", "", 1500000},
        // Cached files make room when it is needed.
        {meminfo, "0::/\n", "/sys/fs/cgroup", "2000000\n", "500000\n",
         "anon 1\ninactive_file 400000\n", 1900000},
        {meminfo, "0::/\n", "/sys/fs/cgroup", "2000000\n", "500000\n",
         "inactive_file 100000\nactive_file 300000\n", 1900000},
        {meminfo, "0::/\n", "/sys/fs/cgroup", "2000000\n", "2500000\n", "", 0},
        {meminfo, "0::/a\n", "/sys/fs/cgroup/unified/a", "2000000\n", "500000\n", "", 1500000},
        {meminfo, "0::/\n", "/sys/fs/cgroup", "9000000\n", "0\n", "", 3072000},
        {meminfo, "4:cpu:/\n", "/sys/fs/cgroup", "1\n", "0\n", "", 3072000}, // no memory
        {"nonsense\n", "0::/\n", "/sys/fs/cgroup", "max\n", "0\n", "", SIZE_MAX},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[128];
        assert_int_equal(make_root(NULL), 0);
        put_file("/proc/meminfo", rows[i].meminfo);
        put_file("/proc/self/cgroup", rows[i].group);
        snprintf(path, sizeof path, "%s/memory.max", rows[i].path);
        put_file(path, rows[i].max);
        snprintf(path, sizeof path, "%s/memory.current", rows[i].path);
        put_file(path, rows[i].current);
        snprintf(path, sizeof path, "%s/memory.stat", rows[i].path);
        put_file(path, rows[i].stat);
        size_t got = memory_free_bytes(root);
        remove_root(NULL);
        if (got != rows[i].free_bytes)
            fail_msg("row %zu: %zu bytes, expected %zu", i, got, rows[i].free_bytes);
    }
}

static void a_limit_of_version_1_counts_with_what_is_in_its_groups(void **state) {
    static const struct {
        const char *groups, *path, *most, *used, *stat;
        size_t free_bytes;
    } rows[] = {
        {"11:memory:/\n0::/\n", "/sys/fs/cgroup/memory", "2000000\n", "500000\n", "", 1500000},
        {"3:cpu,memory:/a/b\n", "/sys/fs/cgroup/memory/a/b", "2000000\n", "500000\n", "", 1500000},
        {"3:memory:/a/b\n", "/sys/fs/cgroup/memory/a", "2000000\n", "500000\n", "", 1500000},
        // A container sees its own group at the top, and its path is the host's.
        {"3:memory:/docker/12ab\n", "/sys/fs/cgroup/memory", "2000000\n", "500000\n",
         "inactive_file 1\ntotal_inactive_file 100000\ntotal_active_file 50000\n", 1650000},
        {"3:memory:/\n", "/sys/fs/cgroup/memory", "9223372036854771712\n", "5\n", "", 3072000},
        {"3:memoryless:/\n4:cpu:/\n", "/sys/fs/cgroup/memory", "1\n", "0\n", "", 3072000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[128];
        assert_int_equal(make_root(NULL), 0);
        put_file("/proc/meminfo", "MemAvailable: 3000 kB\n");
        put_file("/proc/self/cgroup", rows[i].groups);
        snprintf(path, sizeof path, "%s/memory.limit_in_bytes", rows[i].path);
        put_file(path, rows[i].most);
        snprintf(path, sizeof path, "%s/memory.usage_in_bytes", rows[i].path);
        put_file(path, rows[i].used);
        snprintf(path, sizeof path, "%s/memory.stat", rows[i].path);
        put_file(path, rows[i].stat);
        size_t got = memory_free_bytes(root);
        remove_root(NULL);
        if (got != rows[i].free_bytes)
            fail_msg("row %zu: %zu bytes, expected %zu", i, got, rows[i].free_bytes);
    }
}

static void of_the_address_space_what_is_in_use_is_gone(void **state) {
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(make_root(NULL), 0);
    put_file("/proc/self/statm", "1000 200 30 4 0 5 0\n");
    size_t page = (size_t)sysconf(_SC_PAGESIZE), limit = (size_t)1 << 40;
    if (before.rlim_cur == RLIM_INFINITY)
        assert_true(memory_address_bytes(root) == SIZE_MAX);
    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){limit, before.rlim_max}), 0);
    assert_true(memory_address_bytes(root) == limit - 1000 * page);
    setrlimit(RLIMIT_AS, &before);
    remove_root(NULL);
}

static void without_files_there_is_no_limit(void **state) {
    (void)state;
    assert_true(memory_free_bytes("/nonexistent-root") == SIZE_MAX);
}

static void this_machine_has_some_memory_and_not_all_there_is(void **state) {
    (void)state;
    size_t bytes = memory_free_bytes("");
    assert_true(bytes > 1 << 20);
    assert_true(bytes < (size_t)1 << 50);
}

static void the_largest_cache_counts_in_any_unit(void **state) {
    (void)state;
    assert_int_equal(make_root(NULL), 0);
    assert_int_equal(rates_cache_bytes(root), 0);
    put_file("/sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
    assert_int_equal(rates_cache_bytes(root), 32768);
    put_file("/sys/devices/system/cpu/cpu0/cache/index3/size", "24M\n");
    put_file("/sys/devices/system/cpu/cpu0/cache/index2/size", "1024K\n");
    assert_int_equal(rates_cache_bytes(root), 24 << 20);
    put_file("/sys/devices/system/cpu/cpu0/cache/index3/size", "nonsense\n");
    assert_int_equal(rates_cache_bytes(root), 1 << 20);
    remove_root(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smaller_of_machine_and_group_counts),
        cmocka_unit_test(a_limit_of_version_1_counts_with_what_is_in_its_groups),
        cmocka_unit_test(of_the_address_space_what_is_in_use_is_gone),
        cmocka_unit_test(without_files_there_is_no_limit),
        cmocka_unit_test(this_machine_has_some_memory_and_not_all_there_is),
        cmocka_unit_test(the_largest_cache_counts_in_any_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
