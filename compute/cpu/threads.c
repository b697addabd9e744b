// See threads.h. One idea serves start, barrier and end: a gate, which is a number that
// only grows. Waiting means polling until it differs from the number seen before; opening
// means adding one. Everything shared is a C11 atomic with its order, so that a race
// checker understands it; only a member that gave up polling calls the kernel. Must not
// take locks: the scheduler may stop a member anywhere.
#include "compute/cpu/threads.h"

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

enum {
    // A barrier's usual wait is below 2 us; a sleeper is back after 4 to 40 us, and
    // meanwhile the others would wait for it and sleep in their turn. So a sleep is
    // the last resort: first short polling, then polling with yields of the core in
    // between, which cost little if nobody wants it.
    LOOK_NS = 3000,
    YIELD_NS = 1000000,
    // A yield that switches takes longer; one that finds nobody, less than a microsecond.
    SWITCH_NS = 1000,
    // A barrier's wait that is longer was for a member that had no processor.
    LATE_NS = 20000,
    // Whether the team is too large is judged from runs of so much time together.
    JUDGED_NS = 5000000,
    LATE_PART = 4, // as soon as that part of the time was waited
    BAD_IN_A_ROW = 2,
    // How much longer than the last bad stretch it then goes on with fewer: trying again
    // costs one part in so many.
    TRIED_AGAIN_AFTER = 16,
    LOOKS_A_CLOCK_READ = 8,
    CACHE_LINE_BYTES = 64,
};

// On a cache line of its own: members poll it in a loop.
struct gate {
    _Alignas(CACHE_LINE_BYTES) _Atomic uint32_t number;
    _Atomic int sleepers; // members in the kernel, or about to be
};

// A member.
struct seat {
    _Alignas(CACHE_LINE_BYTES) struct threads *threads;
    int member;
    pthread_t thread;
    int64_t switches; // see threads_switches
    int64_t late_ns;  // it waited for others, in the run before
};

// Of this thread: switches while it yielded, and how long it waited for others.
static _Thread_local int64_t given_away, late_ns;

// How many members work in a run that may do with fewer. Member 0's alone.
struct crew {
    int working;           // members 0 .. working - 1
    int64_t ns, late_ns;   // of the runs not judged yet
    int bad;               // stretches in a row
    int64_t whole_from_ns; // when all are tried again, if fewer work
    int64_t lost_ns;       // see threads_lost_ns
};

struct threads {
    // Set at creation.
    int count;
    int started;        // threads running besides the caller
    struct seat *seats; // [count]
    // Written by member 0 before it opens `start`.
    threads_work_fn *work; // NULL: go home
    void *context;
    uint32_t round; // number of `start` before it
    struct crew crew;
    // Members below it take part in the run. Grows only while all others rest, since one
    // that is late may look at it after the run is over.
    _Atomic int taking_part;
    _Atomic int resting;
    // Shared.
    struct gate start, meet, rest;
    _Alignas(CACHE_LINE_BYTES) _Atomic int arrived; // at the barrier
};

// --- What differs between processors ---

// flush_subnormals: arithmetic on subnormal floats is slow on many processors, and
// results that small do not matter here. Returns the setting before, for
// restore_floats.

#if defined(__SSE2__)

static void pause_briefly(void) {
    _mm_pause();
}

static uint64_t flush_subnormals(void) {
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040u); // flush to zero, denormals are zero
    return before;
}

static void restore_floats(uint64_t before) {
    _mm_setcsr((unsigned)before);
}

#elif defined(__aarch64__)

static void pause_briefly(void) {
    __asm__ volatile("yield");
}

static uint64_t flush_subnormals(void) {
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(before | (uint64_t)1 << 24)); // flush to zero
    return before;
}

static void restore_floats(uint64_t before) {
    __asm__ volatile("msr fpcr, %0" : : "r"(before));
}

#else

static void pause_briefly(void) {
}

static uint64_t flush_subnormals(void) {
    return 0;
}

static void restore_floats(uint64_t before) {
    (void)before;
}

#endif

// --- The gate ---

// Polls for about `most_ns`. True: the gate has opened.
static bool look(const struct gate *gate, uint32_t seen, int64_t most_ns) {
    int64_t give_up_ns = 0;
    for (;;) {
        for (int i = 0; i < LOOKS_A_CLOCK_READ; i++) {
            if (atomic_load_explicit(&gate->number, memory_order_acquire) != seen)
                return true;
            pause_briefly();
        }
        int64_t now_ns = stopwatch_now_ns();
        if (give_up_ns == 0)
            give_up_ns = now_ns + most_ns;
        else if (now_ns >= give_up_ns)
            return false;
    }
}

// The kernel compares the number once more under its own lock, so an opening
// between our last poll and the sleep is not missed; an interrupted or untimely return
// just polls again.
static void gate_sleep(struct gate *gate, uint32_t seen) {
    atomic_fetch_add(&gate->sleepers, 1);
    while (atomic_load(&gate->number) == seen)
        syscall(SYS_futex, &gate->number, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    atomic_fetch_sub(&gate->sleepers, 1);
}

static int64_t own_switches(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

// The others may be waiting for our core: yields it between polls. If nobody takes it a
// poll takes a few hundred nanoseconds. True: the gate has opened. The kernel is asked for
// our switches only if one may have happened, so that an undisturbed wait ends at once.
static bool look_yielding(const struct gate *gate, uint32_t seen, int64_t most_ns) {
    int64_t before = own_switches(), now_ns = stopwatch_now_ns(), give_up_ns = now_ns + most_ns;
    bool is_open, has_switched = false;
    for (;;) {
        is_open = atomic_load_explicit(&gate->number, memory_order_acquire) != seen;
        if (is_open || now_ns >= give_up_ns)
            break;
        sched_yield();
        int64_t then_ns = now_ns;
        now_ns = stopwatch_now_ns();
        has_switched = has_switched || now_ns - then_ns > SWITCH_NS;
    }
    if (has_switched)
        given_away += own_switches() - before;
    return is_open;
}

// Returns how long it was, if it was long.
static int64_t gate_wait(struct gate *gate, uint32_t seen) {
    if (look(gate, seen, LOOK_NS))
        return 0;
    int64_t start_ns = stopwatch_now_ns();
    if (!look_yielding(gate, seen, YIELD_NS))
        gate_sleep(gate, seen);
    int64_t waited_ns = stopwatch_now_ns() - start_ns;
    return waited_ns > LATE_NS ? waited_ns : 0;
}

// Both the number and the count of sleepers are sequentially consistent: either
// we see the sleeper, or it sees the new number.
static void gate_open(struct gate *gate) {
    atomic_fetch_add(&gate->number, 1);
    if (atomic_load(&gate->sleepers) > 0)
        syscall(SYS_futex, &gate->number, FUTEX_WAKE_PRIVATE, THREADS_MAX, NULL, NULL, 0);
}

void threads_barrier(struct threads *threads) {
    // Nobody can open the gate before we have arrived, so this is the number to
    // wait on.
    uint32_t seen = atomic_load_explicit(&threads->meet.number, memory_order_relaxed);
    int before = atomic_fetch_add_explicit(&threads->arrived, 1, memory_order_acq_rel);
    if (before + 1 < threads_working(threads)) {
        late_ns += gate_wait(&threads->meet, seen);
        return;
    }
    atomic_store_explicit(&threads->arrived, 0, memory_order_relaxed);
    gate_open(&threads->meet);
}

// --- The team ---

static void work_once(struct seat *seat) {
    struct threads *threads = seat->threads;
    threads->work(threads->context, seat->member);
    seat->late_ns = late_ns;
    late_ns = 0; // what the last barrier takes belongs to the next run
    threads_barrier(threads);
}

static void *live(void *argument) {
    struct seat *seat = argument;
    struct threads *threads = seat->threads;
    flush_subnormals();
    for (uint32_t seen = 0;;) {
        // Between two passes the wait is some microseconds; a member that sleeps then is
        // often woken on the core of the waker, and two members share it.
        gate_wait(&threads->start, seen);
        if (seat->member >= threads_working(threads)) {
            uint32_t rest = atomic_load(&threads->rest.number);
            atomic_fetch_add(&threads->resting, 1);
            gate_sleep(&threads->rest, rest);
            seen = threads->round;
            continue;
        }
        seen++;
        if (!threads->work)
            return NULL;
        work_once(seat);
    }
}

// Sets how many take part in the next run. Those that rest are woken all together.
static void take_part(struct threads *threads, int members) {
    int before = threads_working(threads);
    threads->round = atomic_load(&threads->start.number);
    if (members > before) {
        while (atomic_load(&threads->resting) < threads->count - before)
            sched_yield();
        atomic_store(&threads->resting, 0);
    }
    atomic_store_explicit(&threads->taking_part, members, memory_order_relaxed);
    if (members > before)
        gate_open(&threads->rest);
}

static void run_with(struct threads *threads, int members, threads_work_fn *work, void *context) {
    take_part(threads, members);
    threads->work = work;
    threads->context = context;
    uint64_t floats = flush_subnormals();
    gate_open(&threads->start);
    work_once(&threads->seats[0]);
    restore_floats(floats);
}

void threads_run(struct threads *threads, threads_work_fn *work, void *context) {
    run_with(threads, threads->count, work, context);
}

// A stretch in which somebody waited long is bad. After two in a row a quarter of the team
// rests; when all were tried again, one is enough.
static void judge(struct threads *threads, int64_t now_ns) {
    struct crew *crew = &threads->crew;
    if (crew->ns < JUDGED_NS)
        return;
    bool is_bad = crew->late_ns > crew->ns / LATE_PART;
    crew->bad = is_bad ? crew->bad + 1 : 0;
    if (crew->bad >= BAD_IN_A_ROW && crew->working > 1) {
        crew->working -= (crew->working + 3) / 4;
        crew->whole_from_ns = now_ns + TRIED_AGAIN_AFTER * crew->ns;
    }
    crew->ns = crew->late_ns = 0;
}

void threads_run_sparing(struct threads *threads, threads_work_fn *work, void *context) {
    struct crew *crew = &threads->crew;
    int64_t start_ns = stopwatch_now_ns();
    if (crew->working < threads->count && start_ns >= crew->whole_from_ns) {
        crew->working = threads->count;
        crew->bad = BAD_IN_A_ROW - 1;
        crew->ns = crew->late_ns = 0;
    }
    bool is_whole = crew->working == threads->count;
    run_with(threads, crew->working, work, context);
    int64_t now_ns = stopwatch_now_ns(), longest_ns = 0;
    for (int i = 0; i < crew->working; i++) {
        if (threads->seats[i].late_ns > longest_ns)
            longest_ns = threads->seats[i].late_ns;
    }
    int64_t took_ns = now_ns - start_ns;
    crew->lost_ns += is_whole && longest_ns < took_ns ? longest_ns : took_ns;
    crew->ns += took_ns;
    crew->late_ns += longest_ns;
    judge(threads, now_ns);
}

int threads_working(const struct threads *threads) {
    return atomic_load_explicit(&threads->taking_part, memory_order_relaxed);
}

int64_t threads_lost_ns(const struct threads *threads) {
    return threads->crew.lost_ns;
}

static void note_switches(void *context, int member) {
    struct threads *threads = context;
    threads->seats[member].switches = own_switches() - given_away;
}

int64_t threads_switches(struct threads *threads) {
    int64_t sum = 0;
    threads_run(threads, note_switches, threads);
    for (int i = 0; i < threads->count; i++)
        sum += threads->seats[i].switches;
    return sum;
}

static bool start_members(struct threads *threads, struct why *why) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = 0;
    for (int i = 1; i < threads->count && error == 0; i++) {
        error = pthread_create(&threads->seats[i].thread, NULL, live, &threads->seats[i]);
        threads->started += error == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return why_set(why, "cannot start thread %d of %d: %s; ask for fewer threads",
                       threads->started + 2, threads->count, strerror(error));
    return true;
}

// Zeroed memory in whole cache lines; `bytes` is a multiple of one.
static void *take_lines(size_t bytes) {
    void *memory = aligned_alloc(CACHE_LINE_BYTES, bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

bool threads_create(struct threads **out, int count, struct why *why) {
    *out = NULL;
    if (count < 1 || count > THREADS_MAX)
        return why_set(why, "threads: %d asked for, expected 1 to %d", count, THREADS_MAX);
    struct threads *threads = take_lines(sizeof *threads);
    if (!threads)
        return why_set(why, "threads: out of memory");
    threads->count = threads->crew.working = count;
    atomic_init(&threads->taking_part, count);
    threads->seats = take_lines((size_t)count * sizeof *threads->seats);
    if (!threads->seats) {
        threads_destroy(threads);
        return why_set(why, "threads: out of memory");
    }
    for (int i = 0; i < count; i++)
        threads->seats[i] = (struct seat){.threads = threads, .member = i};
    if (!start_members(threads, why)) {
        threads_destroy(threads);
        return false;
    }
    *out = threads;
    return true;
}

void threads_destroy(struct threads *threads) {
    if (!threads)
        return;
    if (threads->started == threads->count - 1)
        take_part(threads, threads->count);
    threads->work = NULL;
    gate_open(&threads->start);
    for (int i = 1; i <= threads->started; i++)
        pthread_join(threads->seats[i].thread, NULL);
    free(threads->seats);
    free(threads);
}

int threads_count(const struct threads *threads) {
    return threads->count;
}
