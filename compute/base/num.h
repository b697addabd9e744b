// Minimum, maximum, clamping, parts per million and per cent. The type is part of the
// name because C has no generic functions.
#ifndef COMPUTE_BASE_NUM_H
#define COMPUTE_BASE_NUM_H

#include <stdint.h>

enum { WHOLE_PPM = 1000000 };

static inline int min_int(int a, int b) {
    return a < b ? a : b;
}

static inline int max_int(int a, int b) {
    return a > b ? a : b;
}

static inline int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

// Limits to low .. high; if high < low, returns `low`.
static inline int clamp_int(int value, int low, int high) {
    return max_int(low, min_int(value, high));
}

static inline int64_t clamp_i64(int64_t value, int64_t low, int64_t high) {
    return max_i64(low, min_i64(value, high));
}

static inline double clamp_double(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

static inline int clamp_ppm(int64_t ppm) {
    return (int)clamp_i64(ppm, 0, WHOLE_PPM);
}

// `part` of `whole`, rounded down, 0 .. WHOLE_PPM; 0 if either is 0 or less. A whole
// above 9.2e12 loses its last digits instead of overflowing.
static inline int ppm_of(int64_t part, int64_t whole) {
    if (part <= 0 || whole <= 0)
        return 0;
    if (part >= whole)
        return WHOLE_PPM;
    if (whole > INT64_MAX / WHOLE_PPM)
        return (int)(part / (whole / WHOLE_PPM));
    return (int)(part * WHOLE_PPM / whole);
}

#endif
