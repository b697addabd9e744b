// A permanent team of threads: its members wait for work, do it side by side and meet at
// barriers. The thread that calls threads_run is member 0 and works, too. A waiting member
// spins for some microseconds (a barrier inside a layer takes less), then sleeps in the
// kernel, so that it gives up a core shared with others; a member that had to sleep spins
// for a shorter time afterwards. Without that a step took 20 times as long on two busy
// cores.
#ifndef COMPUTE_CPU_THREADS_H
#define COMPUTE_CPU_THREADS_H

#include "compute/base/why.h"

#include "compute/backend/backend.h"

#include <stdbool.h>
#include <stdint.h>

enum { THREADS_MAX = BACKEND_MAX_THREADS };

struct threads;

// Called by every member at once, member 0 .. count - 1.
typedef void threads_work_fn(void *context, int member);

// A team of `count` members (1 .. THREADS_MAX): starts count - 1 threads with
// every signal blocked. Owner: the caller, threads_destroy. Errors: `why`.
bool threads_create(struct threads **out, int count, struct why *why);
void threads_destroy(struct threads *threads); // NULL is fine

int threads_count(const struct threads *threads);

// Runs `work` on all members and returns when the last one is done. Members see what was
// written before, the caller sees what they wrote. Meanwhile subnormal floats count as
// zero. Thread: one caller at a time; not from
// within work.
void threads_run(struct threads *threads, threads_work_fn *work, void *context);

// The same where fewer members do as well: as long as members wait for one another a quarter of
// the time and more, each time for longer than a barrier needs (other programs have the
// processors, or there are fewer than members), a quarter of the team rests, again and again
// if that does not help. All are tried anew after 16 times the stretch that was bad.
void threads_run_sparing(struct threads *threads, threads_work_fn *work, void *context);

// Within work: how many members take part, 0 .. this - 1. After it: how many did.
int threads_working(const struct threads *threads);

// Of all sparing runs: how long members waited for others that had no processor, and what
// runs by fewer than all took.
int64_t threads_lost_ns(const struct threads *threads);

// How often its members, the caller among them, were taken off a processor in all their
// lives, but for what they gave away themselves while they waited (sched_yield counts as
// taken off with the kernel). Thread: as threads_run.
int64_t threads_switches(struct threads *threads);

// Within work only, called by each member: returns when all have called it. All members
// then see what any of them wrote before.
void threads_barrier(struct threads *threads);

#endif
