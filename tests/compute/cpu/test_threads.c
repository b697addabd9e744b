// Tests of the thread team and of the count of cores. Barriers are tested by what
// they promise: between two of them every member sees what all others wrote. Run
// also under the thread sanitizer. Crowded cores are made by a thread that does
// nothing but burn time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/cpu/cores.h"
#include "compute/cpu/threads.h"

#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 8 };

// --- The team ---

static const int team_sizes[] = {1, 2, 3, 4, 8};
enum { TEAM_SIZES = sizeof(team_sizes) / sizeof(team_sizes[0]) };

static struct threads *team_of(int count) {
    struct why why = {0};
    struct threads *threads;
    if (!threads_create(&threads, count, &why))
        fail_msg("%s", why.text);
    return threads;
}

struct tally {
    struct threads *threads;
    int count, rounds;
    int cells[MOST]; // plain on purpose: only the barriers order them
    int wrong[MOST];
};

// Each round: write one's own cell, meet, read all cells, meet.
static void write_meet_read(void *context, int member) {
    struct tally *tally = context;
    for (int round = 1; round <= tally->rounds; round++) {
        tally->cells[member] = round * 100 + member;
        threads_barrier(tally->threads);
        for (int i = 0; i < tally->count; i++)
            tally->wrong[member] += tally->cells[i] != round * 100 + i;
        threads_barrier(tally->threads);
    }
}

static void check_tally(int count, int rounds, int runs) {
    struct tally tally = {.threads = team_of(count), .count = count, .rounds = rounds};
    assert_int_equal(threads_count(tally.threads), count);
    for (int run = 0; run < runs; run++) {
        threads_run(tally.threads, write_meet_read, &tally);
        for (int i = 0; i < count; i++) {
            assert_int_equal(tally.wrong[i], 0);
            assert_int_equal(tally.cells[i], rounds * 100 + i);
            tally.cells[i] = -1;
        }
    }
    threads_destroy(tally.threads);
}

static void every_member_sees_what_all_wrote_before_a_barrier(void **state) {
    (void)state;
    for (int i = 0; i < TEAM_SIZES; i++)
        check_tally(team_sizes[i], 50, 20);
}

static void *burn(void *context) {
    _Atomic bool *stop = context;
    while (!atomic_load_explicit(stop, memory_order_relaxed))
        ;
    return NULL;
}

static void yield_away(void *context, int member) {
    (void)member;
    for (int i = 0; i < 2000; i++)
        threads_barrier(context);
}

// From here on there is one processor, for threads started later, too.
static cpu_set_t stay_on_one(void) {
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++) {
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    return before;
}

// Four members on one processor: only by giving it to one another do they get on.
static void a_processor_given_away_was_not_taken(void **state) {
    (void)state;
    cpu_set_t before = stay_on_one();
    struct rusage usage;
    struct threads *threads = team_of(4);
    getrusage(RUSAGE_SELF, &usage);
    long all = usage.ru_nivcsw;
    int64_t taken = threads_switches(threads);
    threads_run(threads, yield_away, threads);
    taken = threads_switches(threads) - taken;
    getrusage(RUSAGE_SELF, &usage);
    all = usage.ru_nivcsw - all;
    sched_setaffinity(0, sizeof before, &before);
    threads_destroy(threads);
    if (all < 1000 || taken < 0 || taken > all / 4)
        fail_msg("of %ld switches %ld are counted", all, (long)taken);
}

struct shift {
    struct threads *threads;
    int done[4];
};

// What each member does by itself takes longer than a barrier.
static void work_a_while(void *context, int member) {
    struct shift *shift = context;
    for (int turn = 0; turn < 2; turn++) {
        int64_t end_ns = stopwatch_now_ns() + 200000;
        while (stopwatch_now_ns() < end_ns)
            ;
        threads_barrier(shift->threads);
    }
    shift->done[member]++;
}

// Runs until so many take part; false: they never did.
static bool work_until(struct shift *shift, int wanted) {
    for (int run = 0; run < 20000; run++) {
        memset(shift->done, 0, sizeof shift->done);
        threads_run_sparing(shift->threads, work_a_while, shift);
        int working = threads_working(shift->threads);
        for (int i = 0; i < 4; i++)
            assert_int_equal(shift->done[i], i < working);
        if (working == wanted)
            return true;
    }
    return false;
}

static void a_team_without_processors_goes_on_with_fewer_and_tries_again(void **state) {
    (void)state;
    cpu_set_t before = stay_on_one();
    struct shift shift = {.threads = team_of(4)};
    assert_true(work_until(&shift, 4));
    assert_true(work_until(&shift, 1));
    assert_true(threads_lost_ns(shift.threads) > 0);
    assert_true(work_until(&shift, 4));
    assert_true(work_until(&shift, 2));
    memset(shift.done, 0, sizeof shift.done);
    threads_run(shift.threads, work_a_while, &shift); // all
    for (int i = 0; i < 4; i++)
        assert_int_equal(shift.done[i], 1);
    assert_true(work_until(&shift, 1));
    sched_setaffinity(0, sizeof before, &before);
    threads_destroy(shift.threads); // those that rest go home
}

// Without giving up its core a waiting member would burn whole time slices: one
// round is then some milliseconds, and these 2,000 take some 10 s and more.
static void a_busy_stranger_does_not_stop_the_team(void **state) {
    (void)state;
    _Atomic bool stop = false;
    pthread_t strangers[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&strangers[i], NULL, burn, (void *)&stop), 0);
    check_tally(2, 1000, 1);
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++)
        pthread_join(strangers[i], NULL);
}

static void more_members_than_cores_finish(void **state) {
    (void)state;
    check_tally(8, 500, 2);
}

// Long enough for every member to fall asleep between two runs.
static void a_team_that_slept_works_again(void **state) {
    (void)state;
    struct tally tally = {.threads = team_of(3), .count = 3, .rounds = 3};
    for (int run = 0; run < 5; run++) {
        usleep(2000);
        threads_run(tally.threads, write_meet_read, &tally);
        for (int i = 0; i < 3; i++)
            assert_int_equal(tally.wrong[i], 0);
    }
    threads_destroy(tally.threads);
}

struct tiny {
    float product[MOST];
};

static void multiply_tiny(void *context, int member) {
    struct tiny *tiny = context;
    volatile float small = 1e-30f;
    tiny->product[member] = small * 1e-10f; // 1e-40 is subnormal
}

static void subnormal_floats_are_zero_in_every_member_and_not_after(void **state) {
    (void)state;
#if defined(__SSE2__) || defined(__aarch64__)
    struct threads *threads = team_of(3);
    struct tiny tiny = {{1, 1, 1}};
    threads_run(threads, multiply_tiny, &tiny);
    for (int i = 0; i < 3; i++)
        assert_true(tiny.product[i] == 0);
    multiply_tiny(&tiny, 0);
    assert_true(tiny.product[0] > 0);
    threads_destroy(threads);
#else
    skip();
#endif
}

// The blocked signals of every thread of this process, as /proc says it.
static int threads_with_signals_open(void) {
    int open_count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[300], line[200];
        snprintf(path, sizeof(path), "/proc/self/task/%.200s/status", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        while (file && fgets(line, sizeof(line), file)) {
            // SIGINT is bit 1, SIGTERM bit 14.
            if (strncmp(line, "SigBlk:", 7) == 0)
                open_count += (strtoull(line + 7, NULL, 16) & 0x4002) != 0x4002;
        }
        if (file)
            fclose(file);
    }
    closedir(folder);
    return open_count;
}

static void signals_never_reach_the_members(void **state) {
    (void)state;
    int before = threads_with_signals_open();
    struct threads *threads = team_of(4);
    assert_int_equal(threads_with_signals_open(), before);
    threads_destroy(threads);
}

static void impossible_team_sizes_are_refused(void **state) {
    (void)state;
    static const int sizes[] = {0, -1, THREADS_MAX + 1};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct why why = {0};
        struct threads *threads;
        assert_false(threads_create(&threads, sizes[i], &why));
        assert_null(threads);
        assert_non_null(strstr(why.text, "expected 1 to"));
    }
    threads_destroy(NULL);
}

// --- Cores, on machines made of files ---

static char root[64];

static int make_root(void **state) {
    (void)state;
    snprintf(root, sizeof(root), "/tmp/tokendrip-cores-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *walk) {
    (void)st, (void)type, (void)walk;
    return remove(path);
}

static int remove_root(void **state) {
    (void)state;
    return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void put_file(const char *path, const char *text) {
    char full[512];
    snprintf(full, sizeof(full), "%s%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void put_siblings(int cpu, const char *list) {
    char path[128];
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
             cpu);
    put_file(path, list);
}

static struct cores_mask mask_of(const char *cpus) {
    struct cores_mask mask = {{0}};
    for (const char *at = cpus; *at; at++) {
        int cpu = *at - '0';
        mask.bits[cpu / 8] = (unsigned char)(mask.bits[cpu / 8] | 1 << cpu % 8);
    }
    return mask;
}

static int usable(const char *cpus) {
    struct cores_mask mask = mask_of(cpus);
    return cores_usable(&mask, root);
}

static void hardware_threads_of_a_core_count_once(void **state) {
    (void)state;
    static const char *const lists[] = {"0,4\n", "1,5\n", "2,6\n", "3,7\n",
                                        "0,4\n", "1,5\n", "2,6\n", "3,7\n"};
    for (int cpu = 0; cpu < 8; cpu++)
        put_siblings(cpu, lists[cpu]);
    assert_int_equal(usable("01234567"), 4);
    assert_int_equal(usable("04"), 1);
    assert_int_equal(usable("4567"), 4); // the second threads alone: still four cores
    assert_int_equal(usable("0156"), 3);
}

static void the_newer_name_of_the_list_is_read_too(void **state) {
    (void)state;
    for (int cpu = 0; cpu < 4; cpu++) {
        char path[128];
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/core_cpus_list", cpu);
        put_file(path, cpu < 2 ? "0-1\n" : "2-3\n");
    }
    assert_int_equal(usable("0123"), 2);
}

static void unknown_topology_means_a_core_each(void **state) {
    (void)state;
    assert_int_equal(usable("0123"), 4);
    put_siblings(0, "nonsense\n");
    put_siblings(1, "-7\n");
    put_siblings(2, "99999999\n");
    assert_int_equal(usable("012"), 3);
}

static void quotas_bound_the_count(void **state) {
    (void)state;
    static const struct {
        const char *group, *path, *text;
        int cores; // of the four there are
    } rows[] = {
        {"0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n", 2},
        {"0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max", "max 100000\n", 4},
        {"0::/a/b\n", "/sys/fs/cgroup/a/cpu.max", "300000 100000\n", 3}, // a parent's
        {"0::/a/b\n", "/sys/fs/cgroup/cpu.max", "150000 100000\n", 1},   // inside a container
        {"0::/\n", "/sys/fs/cgroup/cpu.max", "50000 100000\n", 1},       // less than one
        {"0::/\n", "/sys/fs/cgroup/cpu.max", "900000 100000\n", 4},      // more than there are
        {"0::/\n", "/sys/fs/cgroup/cpu.max", "100000 0\n", 4},           // no period
        {"0::/x\n", "/sys/fs/cgroup/unified/x/cpu.max", "200000 100000\n", 2},
        {"3:memory:/m\n2:cpu,cpuacct:/c\n", "/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "200000\n", 2},
        {"2:cpu,cpuacct:/c\n", "/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "-1\n", 4},
        {"1:cpuacct:/c\n", "/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "100000\n", 4}, // not ours
        {"garbage\n\n::\n", "/sys/fs/cgroup/cpu.max", "100000 100000\n", 1},
    };
    remove_root(NULL); // every row has its own
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(make_root(NULL), 0);
        put_file("/proc/self/cgroup", rows[i].group);
        put_file(rows[i].path, rows[i].text);
        put_file("/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
        put_file("/sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
        int got = usable("0123");
        remove_root(NULL);
        if (got != rows[i].cores)
            fail_msg("row %zu: %d cores, expected %d", i, got, rows[i].cores);
    }
    assert_int_equal(make_root(NULL), 0);
}

static void a_mask_of_one_core_is_one_core(void **state) {
    (void)state;
    struct cores_mask allowed;
    cores_allowed(&allowed);
    int all = cores_logical(&allowed);
    assert_in_range(all, 1, CORES_MAX_CPUS);
    assert_in_range(cores_here(), 1, all);

    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &before) && CPU_COUNT(&one) == 0)
            CPU_SET(cpu, &one);
    }
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    int cores = cores_here();
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(cores, 1);
}

static void processor_names_are_tidied(void **state) {
    (void)state;
    static const struct {
        const char *line, *name;
    } rows[] = {
        {"model name\t: AMD EPYC 9654 96-Core Processor\n", "AMD EPYC 9654"},
        {"model name\t: Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz\n", "Intel Core i7-8650U"},
        {"model name : 13th Gen Intel(R) Core(TM) i5-1340P\n", "13th Gen Intel Core i5-1340P"},
        {"model name\t: AMD Ryzen 7 5800X 8-Core Processor\n", "AMD Ryzen 7 5800X"},
        {"model name\t:\n", "unknown processor"},
        {"processor : 0\nBogoMIPS : 2\n", "unknown processor"},
        {"model name\t: Broken(\n", "Broken"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char name[96], tight[8];
        put_file("/proc/cpuinfo", rows[i].line);
        cores_name(name, sizeof(name), root);
        assert_string_equal(name, rows[i].name);
        cores_name(tight, sizeof(tight), root); // cut, never overrun
        assert_true(strlen(tight) < sizeof(tight));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_sees_what_all_wrote_before_a_barrier),
        cmocka_unit_test(a_processor_given_away_was_not_taken),
        cmocka_unit_test(a_team_without_processors_goes_on_with_fewer_and_tries_again),
        cmocka_unit_test(a_busy_stranger_does_not_stop_the_team),
        cmocka_unit_test(more_members_than_cores_finish),
        cmocka_unit_test(a_team_that_slept_works_again),
        cmocka_unit_test(subnormal_floats_are_zero_in_every_member_and_not_after),
        cmocka_unit_test(signals_never_reach_the_members),
        cmocka_unit_test(impossible_team_sizes_are_refused),
        cmocka_unit_test_setup_teardown(hardware_threads_of_a_core_count_once, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(the_newer_name_of_the_list_is_read_too, make_root,
                                        remove_root),
        cmocka_unit_test_setup_teardown(unknown_topology_means_a_core_each, make_root, remove_root),
        cmocka_unit_test_setup_teardown(quotas_bound_the_count, make_root, remove_root),
        cmocka_unit_test(a_mask_of_one_core_is_one_core),
        cmocka_unit_test_setup_teardown(processor_names_are_tidied, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
