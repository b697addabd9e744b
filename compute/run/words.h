// How a run's own times and device are written: lessons count in units they made up.
#ifndef COMPUTE_RUN_WORDS_H
#define COMPUTE_RUN_WORDS_H

#include "compute/base/figures.h"
#include "compute/run/run.h"

// True for lessons that count in something that is no time. "ms" lessons read as time.
bool run_counts_units(const struct run_info *info);

// A time of the run as figure_time or figure_units write it, on the scale of the first;
// the second stands alone.
struct figure run_time_on(const struct run_info *info, int64_t ns, int64_t scale_ns);
struct figure run_time(const struct run_info *info, int64_t ns);

// What decode has taken of a time that begins with prefill, and its share of it. The first is
// so written that prefill and decode add up to the whole as run_time writes all three. Both
// are a dash while prefill goes on (a negative time).
struct figure run_decode_time(const struct run_info *info, int64_t prefill_ns, int64_t whole_ns);
struct figure run_decode_share(int64_t prefill_ns, int64_t whole_ns);
struct figure run_prefill_share(int64_t prefill_ns, int64_t whole_ns);

// "0.92-1.41 ms", or "" where none is kept.
struct figure run_range(const struct run_info *info, const struct run_range *range);

// What is said beside a disturbed run's times; "" if it was not disturbed. Only what was
// measured here can be measured again.
struct figure run_disturbed(const struct run_info *info);

// The model's name, or the language's word for the bundled one.
const char *run_model(const struct run_info *info);

struct run_device {
    char text[128];
};

// "AMD EPYC, 2 threads", or the card's name; "CPU" where the processor is not known.
// Threads are left out where they are unknown or not wanted.
struct run_device run_device(const struct run_info *info, bool with_threads);

#endif
