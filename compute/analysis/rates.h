// What a device reaches at best, as its backend measured it; roofline.h derives bounds
// for measured times from it.
#ifndef COMPUTE_ANALYSIS_RATES_H
#define COMPUTE_ANALYSIS_RATES_H

#include <stdbool.h>
#include <stdint.h>

struct device_rates {
    double read_bytes_s;  // memory read by all threads or blocks, best of several
    double matrix_flop_s; // multiplications plus additions of a large matrix product
    bool is_cached;       // read_bytes_s is that of a working set which is read markedly
                          // faster than memory is: it fits a cache
};

// The least time that reading or computing so much takes.
static inline double rates_read_ns(const struct device_rates *rates, double bytes) {
    return bytes / rates->read_bytes_s * 1e9;
}
static inline double rates_matrix_ns(const struct device_rates *rates, double flop) {
    return flop / rates->matrix_flop_s * 1e9;
}

// A device that did so much in so long reaches at least these rates: raises those that are
// lower. A time that is not positive proves nothing.
void rates_prove(struct device_rates *rates, double bytes, double flop, int64_t took_ns);

// Raises `rates` to the best that were ever given here in this process for the device and
// that many threads, and remembers them: neighbours slow a device down, and nothing makes
// it faster than it is. The rates of memory and of a cache are two. Thread: any.
void rates_share(struct device_rates *rates, const char *device, int threads);

#endif
