// Rows of numbers in the formats of quant.h, made in plain scalar code: the reference for
// the random weights that every backend makes in its own memory, to the bit.
#ifndef TESTS_COMPUTE_MODEL_QUANT_ROWS_H
#define TESTS_COMPUTE_MODEL_QUANT_ROWS_H

#include <math.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "compute/model/half.h"
#include "compute/model/quant.h"
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
    }
}

// Numbers that are stored together: 32, or 1 for the formats without blocks.
static inline int quant_block_values(enum gguf_tensor_type type) {
    return type == GGUF_TENSOR_Q8_0 || type == GGUF_TENSOR_Q4_0 ? QUANT_BLOCK : 1;
}

#endif
