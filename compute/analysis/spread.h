// Median, p10 and p90 of measured times, by nearest rank: each of them is a real sample.
#ifndef COMPUTE_ANALYSIS_SPREAD_H
#define COMPUTE_ANALYSIS_SPREAD_H

#include <stdint.h>

// Times p10 above which other work got into a sample: an undisturbed machine stays below 1.3
// at p90, two threads that must share a core take twice as long.
#define SPREAD_DISTURBED 1.5

struct spread {
    int64_t median_ns, p10_ns, p90_ns;
    int count; // samples; 0 = not measured (the times are then -1)
};

// Sorts the samples in place. count 0 gives "not measured".
struct spread spread_of_samples(int64_t *samples_ns, int count);

// Index of the sample that is the median; count >= 1.
int spread_median_index(const int64_t *samples_ns, int count);

#endif
