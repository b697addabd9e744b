// Monotonic nanoseconds: the only clock read in compute/.
#ifndef COMPUTE_BASE_STOPWATCH_H
#define COMPUTE_BASE_STOPWATCH_H

#include <stdint.h>

// Nanoseconds of CLOCK_MONOTONIC since an arbitrary start. Never goes back,
// never wraps in practice (292 years). Thread: any. Cost: about 25 ns.
int64_t stopwatch_now_ns(void);

// The least by which two readings that differ do so, as far as some readings show: no time
// can be told that is not longer. Thread: any. Cost: five of it and more.
int64_t stopwatch_step_ns(void);

// Today's date and time in UTC as "2026-12-01T09:30:00Z" into `out`.
void stopwatch_utc_date(char out[32]);

#endif
