// Rows of numbers in the formats of quant.h, made in plain scalar code: the reference for
// the random weights that every backend makes in its own memory, to the bit.
#ifndef TESTS_COMPUTE_GGUF_QUANT_ROWS_H
#define TESTS_COMPUTE_GGUF_QUANT_ROWS_H

#include <math.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "compute/gguf/half.h"
#include "compute/gguf/quant.h"
#ifdef __cplusplus
}
#endif

// Nearest, ties to even. NaN stays NaN.
static inline uint16_t half_bf16_from_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) // rounding could turn NaN into infinity
        return (uint16_t)((bits >> 16) | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline void write_u16(unsigned char *to, uint16_t value) {
    to[0] = (unsigned char)value;
    to[1] = (unsigned char)(value >> 8);
}

// The number of the largest magnitude, the first of several.
static inline float largest(const float *in) {
    float most = 0;
    for (int i = 0; i < QUANT_BLOCK; i++)
        most = fabsf(in[i]) > fabsf(most) ? in[i] : most;
    return most;
}

static inline void q8_0_from_float(unsigned char *block, const float *in) {
    float most = fabsf(largest(in));
    float per_step = most > 0 ? 127.0f / most : 0;
    write_u16(block, half_from_float(most / 127.0f));
    for (int i = 0; i < QUANT_BLOCK; i++)
        block[2 + i] = (unsigned char)((int)(in[i] * per_step + 128.5f) - 128);
}

static inline unsigned q4_0_step(float value, float per_step) {
    int step = (int)(value * per_step + 8.5f);
    return (unsigned)(step < 15 ? step : 15);
}

static inline void q4_0_from_float(unsigned char *block, const float *in) {
    float most = largest(in);
    float per_step = most != 0 ? -8.0f / most : 0;
    // Zeros must not get the scale -0.
    write_u16(block, most != 0 ? half_from_float(most / -8.0f) : 0);
    for (int i = 0; i < QUANT_BLOCK / 2; i++)
        block[2 + i] = (unsigned char)(q4_0_step(in[i], per_step) |
                                       q4_0_step(in[QUANT_BLOCK / 2 + i], per_step) << 4);
}

static inline float least_of(const float *in) {
    float least = in[0];
    for (int i = 1; i < QUANT_BLOCK; i++)
        least = in[i] < least ? in[i] : least;
    return least;
}

static inline float most_of(const float *in) {
    float most = in[0];
    for (int i = 1; i < QUANT_BLOCK; i++)
        most = in[i] > most ? in[i] : most;
    return most;
}

// value / unit to the nearest whole number up to `most`; 0 for no unit or below 0.
static inline int whole_steps(float value, float unit, int most) {
    float steps = unit > 0 ? value / unit + 0.5f : 0;
    int whole = steps > 0 ? (int)steps : 0;
    return whole < most ? whole : most;
}

enum { GROUPS = QUANT_LARGE / QUANT_BLOCK };

// Six bits each, packed as quant.h says of Q4_K.
static inline void pack_scales(unsigned char *to, const int *scales, const int *leasts) {
    for (int k = 0; k < 4; k++) {
        to[k] = (unsigned char)(scales[k] | scales[4 + k] >> 4 << 6);
        to[4 + k] = (unsigned char)(leasts[k] | leasts[4 + k] >> 4 << 6);
        to[8 + k] = (unsigned char)((scales[4 + k] & 15) | (leasts[4 + k] & 15) << 4);
    }
}

static inline void q4_k_from_float(unsigned char *block, const float *in) {
    float low[GROUPS], step[GROUPS], most_step = 0, most_low = 0;
    int scales[GROUPS], leasts[GROUPS];
    for (int g = 0; g < GROUPS; g++) {
        low[g] = -least_of(in + g * QUANT_BLOCK);
        step[g] = (most_of(in + g * QUANT_BLOCK) + low[g]) / 15.0f;
        most_step = step[g] > most_step ? step[g] : most_step;
        most_low = low[g] > most_low ? low[g] : most_low;
    }
    uint16_t d = half_from_float(most_step / 63.0f), dmin = half_from_float(most_low / 63.0f);
    memset(block, 0, QUANT_Q4_K_BYTES);
    write_u16(block, d);
    write_u16(block + 2, dmin);
    for (int g = 0; g < GROUPS; g++) {
        scales[g] = whole_steps(step[g], half_to_float(d), 63);
        leasts[g] = whole_steps(low[g], half_to_float(dmin), 63);
        float unit = half_to_float(d) * (float)scales[g];
        float least = half_to_float(dmin) * (float)leasts[g];
        for (int i = 0; i < QUANT_BLOCK; i++) {
            int q = whole_steps(in[g * QUANT_BLOCK + i] + least, unit, 15);
            block[16 + g / 2 * QUANT_BLOCK + i] |= (unsigned char)(q << g % 2 * 4);
        }
    }
    pack_scales(block + 4, scales, leasts);
}

// `count` finite numbers, whole blocks. `row` need not be aligned.
static inline void quant_row_from_float(void *row, enum gguf_tensor_type type, const float *in,
                                        size_t count) {
    unsigned char *bytes = (unsigned char *)row;
    switch (type) {
    case GGUF_TENSOR_F32:
        memcpy(row, in, count * sizeof *in);
        break;
    case GGUF_TENSOR_F16:
        for (size_t i = 0; i < count; i++)
            write_u16(bytes + 2 * i, half_from_float(in[i]));
        break;
    case GGUF_TENSOR_BF16:
        for (size_t i = 0; i < count; i++)
            write_u16(bytes + 2 * i, half_bf16_from_float(in[i]));
        break;
    case GGUF_TENSOR_Q8_0:
        for (size_t b = 0; b < count / QUANT_BLOCK; b++)
            q8_0_from_float(bytes + b * QUANT_Q8_0_BYTES, in + b * QUANT_BLOCK);
        break;
    case GGUF_TENSOR_Q4_0:
        for (size_t b = 0; b < count / QUANT_BLOCK; b++)
            q4_0_from_float(bytes + b * QUANT_Q4_0_BYTES, in + b * QUANT_BLOCK);
        break;
    case GGUF_TENSOR_Q4_K:
        for (size_t b = 0; b < count / QUANT_LARGE; b++)
            q4_k_from_float(bytes + b * QUANT_Q4_K_BYTES, in + b * QUANT_LARGE);
        break;
    default: // no test makes random rows of the others
        break;
    }
}

// Places of the f16 scales in a block, -1 = no further one.
static inline int scale_place(enum gguf_tensor_type type, int index) {
    static const struct {
        enum gguf_tensor_type type;
        int places[2];
    } rows[] = {
        {GGUF_TENSOR_Q8_0, {0, -1}},  {GGUF_TENSOR_Q4_0, {0, -1}},   {GGUF_TENSOR_Q4_1, {0, 2}},
        {GGUF_TENSOR_Q5_0, {0, -1}},  {GGUF_TENSOR_Q5_1, {0, 2}},    {GGUF_TENSOR_IQ4_NL, {0, -1}},
        {GGUF_TENSOR_Q2_K, {80, 82}}, {GGUF_TENSOR_Q3_K, {108, -1}}, {GGUF_TENSOR_Q4_K, {0, 2}},
        {GGUF_TENSOR_Q5_K, {0, 2}},   {GGUF_TENSOR_Q6_K, {208, -1}}, {GGUF_TENSOR_IQ4_XS, {0, -1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].type == type)
            return rows[i].places[index];
    }
    return -1;
}

// A row of any block format whose every bit is random, but for the scales' size: they are
// 1/16 to 1/8 of either sign. count: whole blocks
static inline void quant_random_row(void *row, enum gguf_tensor_type type, size_t count,
                                    uint64_t *seed) {
    const struct quant_format *format = quant_format(type);
    unsigned char *block = (unsigned char *)row;
    for (size_t b = 0; b < count / (size_t)format->block; b++, block += format->block_bytes) {
        for (int i = 0; i < format->block_bytes; i++) {
            *seed = *seed * 6364136223846793005u + 1442695040888963407u;
            block[i] = (unsigned char)(*seed >> 56);
        }
        for (int i = 0; i < 2 && scale_place(type, i) >= 0; i++) {
            unsigned char *high = block + scale_place(type, i) + 1;
            *high = (unsigned char)((*high & 0x83) | 0x2c);
        }
        if (type == GGUF_TENSOR_MXFP4)
            block[0] = (unsigned char)(122 + block[0] % 4);
    }
}

#endif
