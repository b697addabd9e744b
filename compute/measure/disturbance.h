// Whether other work got into a measurement. The one rule, four signs, any of which is
// enough:
//   spread    p90 is more than 1.5 times p10: of the prefills of the repeats, or of the
//             decode steps, each compared with the same step of the other repeats, since a
//             later step reads more. An undisturbed machine stays below 1.3, two threads
//             that must share a core take twice as long.
//   steal     a hypervisor gave away more than 5 % of the processor time that was wanted
//             here, and at least 3 ticks (of 10 ms): one may be rounding.
//   switches  the threads that compute were taken off a processor more than 50 times a
//             second each, and at least 3 times. What a waiting thread gives away itself
//             does not count (backend.h). The kernel's own work needs some 20 a second; a
//             program that wants the same core, 200 and more.
//   waits     for more than a tenth of the time a thread that should compute had no
//             processor, so that the others waited for it or went on without it.
// A disturbed run keeps its true times, which are shown with their ranges, and nothing is
// concluded from it.
#ifndef COMPUTE_MEASURE_DISTURBANCE_H
#define COMPUTE_MEASURE_DISTURBANCE_H

#include "compute/run/run.h"

// Processor time of the whole machine since it started, in ticks.
struct disturbance_ticks {
    int64_t stolen, wanted; // wanted: used or stolen; both 0 = not known
};

struct disturbance {
    double prefill_ratio, step_ratio; // p90 / p10, 0 = too few to say
    int64_t stolen_ticks;
    double stolen_share; // of the time wanted, 0 .. 1
    int64_t switches;    // of the threads that compute, all together; -1 = not known
    int64_t lost_ns;     // for which a thread had no processor (backend.h), 0 = not known
    int threads;         // that compute; at least 1
    int64_t measured_ns; // all repeats together
};

enum disturbance_sign {
    DISTURBED_SPREAD = 1 << 0,
    DISTURBED_STEAL = 1 << 1,
    DISTURBED_SWITCHES = 1 << 2,
    DISTURBED_WAITS = 1 << 3,
};

// The DISTURBED_ bits that hold; 0 = undisturbed.
unsigned disturbance_signs(const struct disturbance *disturbance);

// Sets both ratios from repeats of the same request. False: no memory.
bool disturbance_compare(struct disturbance *out, struct run *const *runs, int count);

// The first line of /proc/stat, or zeros if `text` is none.
struct disturbance_ticks disturbance_parse(const char *text);

// The same of this machine, now.
struct disturbance_ticks disturbance_ticks_now(void);

#endif
