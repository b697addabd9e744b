// What a device reaches at best, as its backend measured it; roofline.h derives bounds
// for measured times from it.
#ifndef COMPUTE_ANALYSIS_RATES_H
#define COMPUTE_ANALYSIS_RATES_H

#include <stdbool.h>

struct device_rates {
    double read_bytes_s;  // memory read by all threads or blocks, best of several
    double matrix_flop_s; // multiplications plus additions of a large matrix product
    bool is_cached;       // the working set fits the last-level cache, and read_bytes_s
                          // is the rate of that cache
};

#endif
