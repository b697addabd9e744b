// Random weights by counter: the number at (row, column) of a tensor is a function
// of the seed, the tensor's number and that place alone. So any thread and any
// device makes any part, in any order, with the same bits. Two finalisers with a key
// of the row's own each (a plain sum would make rows shifted copies of each other);
// the sum of the two halves of the result has a triangular spread, which is near
// enough to a bell and costs nothing. Only 32-bit integers and one multiplication.
// Also compiled by nvcc: C that is C++ too, and nothing included but stdint.h.
#ifndef COMPUTE_MODEL_SHAPE_RANDOM_H
#define COMPUTE_MODEL_SHAPE_RANDOM_H

#include <stdint.h>

#ifdef __CUDACC__
#define SHAPE_RANDOM static inline __host__ __device__
#else
#define SHAPE_RANDOM static inline
#endif

// Constants, by name for those who write the same with vectors.
#define SHAPE_RANDOM_STEP 0x9e3779b9u
#define SHAPE_RANDOM_FIRST 0x7feb352du
#define SHAPE_RANDOM_SECOND 0x846ca68bu

// Standard deviation of shape_random_raw: sqrt(2 * (65536^2 - 1) / 12).
#define SHAPE_RANDOM_RAW_SD 26754.95996

struct shape_random_row {
    uint32_t first, second;
};

SHAPE_RANDOM uint64_t shape_random_mix(uint64_t x) { // splitmix64's finaliser
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

// The keys of row `row` of tensor number `stream`.
SHAPE_RANDOM struct shape_random_row shape_random_keys(uint64_t seed, uint32_t stream,
                                                       uint64_t row) {
    uint64_t key = shape_random_mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    key = shape_random_mix(key ^ stream);
    key = shape_random_mix(key ^ row);
    struct shape_random_row keys;
    keys.first = (uint32_t)key;
    keys.second = (uint32_t)(key >> 32);
    return keys;
}

// -65535 .. 65535
SHAPE_RANDOM int32_t shape_random_raw(struct shape_random_row keys, uint32_t column) {
    uint32_t x = column * SHAPE_RANDOM_STEP + keys.first;
    x = (x ^ (x >> 16)) * SHAPE_RANDOM_FIRST;
    x = (x ^ (x >> 15) ^ keys.second) * SHAPE_RANDOM_SECOND;
    x ^= x >> 16;
    return (int32_t)(x & 0xffff) + (int32_t)(x >> 16) - 65535;
}

// `scale` is the standard deviation wanted over SHAPE_RANDOM_RAW_SD, rounded to float
// once for a whole tensor (shape_scale).
SHAPE_RANDOM float shape_random_value(struct shape_random_row keys, uint32_t column, float scale) {
    return (float)shape_random_raw(keys, column) * scale;
}

#endif
