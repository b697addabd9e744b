// See rates.h.
#include "compute/analysis/rates.h"

#include <math.h>

void rates_prove(struct device_rates *rates, double bytes, double flop, int64_t took_ns) {
    if (took_ns <= 0)
        return;
    rates->read_bytes_s = fmax(rates->read_bytes_s, bytes / (double)took_ns * 1e9);
    rates->matrix_flop_s = fmax(rates->matrix_flop_s, flop / (double)took_ns * 1e9);
}

void rates_keep_best(struct device_rates *best, const struct device_rates *seen) {
    if (seen->read_bytes_s > best->read_bytes_s) {
        best->read_bytes_s = seen->read_bytes_s;
        best->is_cached = seen->is_cached;
    }
    best->matrix_flop_s = fmax(best->matrix_flop_s, seen->matrix_flop_s);
}
