// A team of threads that stays: its members wait for work, do it side by side and
// meet at barriers. The thread that calls threads_run is member 0 and works too.
// A waiting member first looks again and again for some microseconds (a barrier
// inside a layer is over in less), then sleeps in the kernel, so that a core that
// is shared with somebody else is given up; whoever had to sleep looks less long
// the next times. Without that a step took 20 times as long on two busy cores.
#ifndef COMPUTE_CPU_THREADS_H
#define COMPUTE_CPU_THREADS_H

#include <stdbool.h>

enum { THREADS_MAX = 256 };

struct threads;

// Called by every member at once, member 0 .. count - 1.
typedef void threads_work_fn(void *context, int member);

// A team of `count` members (1 .. THREADS_MAX): starts count - 1 threads with
// every signal blocked. Owner: the caller, threads_destroy. Errors: `why`.
bool threads_create(struct threads **out, int count, char *why);
void threads_destroy(struct threads *threads); // NULL is fine

int threads_count(const struct threads *threads);

// Has all members do `work` and returns when the last one is done. What was
// written before is seen by all, what they wrote is seen after. Floats too small
// to be normal count as zero meanwhile. Thread: one caller at a time; not from
// within work.
void threads_run(struct threads *threads, threads_work_fn *work, void *context);

// Within work only, once by each member: returns when every member has called it.
// What any member wrote before is seen by all after.
void threads_barrier(struct threads *threads);

#endif
