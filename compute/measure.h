// Warm-up, repeats and spread. A measurement is: one cold run, kept and labelled
// so; warm-up runs until two successive medians of E2E agree within 2 % (or the
// budget ends, which is then said); `repeats` runs; the median of each figure
// with p10 and p90. The run that is shown is the repeat whose E2E is the median:
// a real run, never an average.
#ifndef COMPUTE_MEASURE_H
#define COMPUTE_MEASURE_H

#include "run.h"

enum { MEASURE_MAX_REPEATS = 101 };

struct measure_spread {
    int64_t median_ns, p10_ns, p90_ns;
    int count; // samples; 0 = not measured (fields are then -1)
};

struct measure_result {
    struct measure_spread prefill, step, ttft, tpot, e2e;
    int repeats, warmups;
    bool settled;                 // warm-up medians agreed within 2 %
    bool stages_match;            // sum of stages within 5 % of wall in the shown run
    bool prefill_checked;         // prefill logits agreed with token-by-token logits
    int64_t involuntary_switches; // of the process, during the repeats
    struct run *cold;             // owned
    struct run *shown;            // owned: the median repeat
};

void measure_clear(struct measure_result *result); // frees the runs

// Order statistics by nearest rank over `count` samples, which are sorted in
// place. count 0 gives the "not measured" spread.
struct measure_spread measure_spread_of(int64_t *samples_ns, int count);

#endif
