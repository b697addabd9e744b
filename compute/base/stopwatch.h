// Monotonic nanoseconds: the only clock read in compute/.
#ifndef COMPUTE_BASE_STOPWATCH_H
#define COMPUTE_BASE_STOPWATCH_H

#include <stdint.h>

// Nanoseconds of CLOCK_MONOTONIC since an arbitrary start. Never goes back,
// never wraps in practice (292 years). Thread: any. Cost: about 25 ns.
int64_t stopwatch_now_ns(void);

// Today's date and time in UTC as "2026-12-01T09:30:00Z" into `out`.
void stopwatch_utc_date(char out[32]);

#endif
