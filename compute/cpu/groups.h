// A group of 32 neighbouring numbers out of a row in any of quant.h's block formats: 32 small
// whole numbers, one a byte and in order, and what turns them into numbers. Kernels read
// weights through this alone, so that a format is one function here and nothing elsewhere.
// Written with the compiler's vectors of bytes, which become what each instruction set has.
// Included by kernels_body.h alone, after vec.h.
#ifndef COMPUTE_CPU_GROUPS_H
#define COMPUTE_CPU_GROUPS_H

#include "compute/cpu/vec.h"
#include "compute/model/quant.h"

typedef uint8_t bytes16 __attribute__((vector_size(16)));
typedef uint8_t bytes32 __attribute__((vector_size(32)));
typedef uint16_t words16 __attribute__((vector_size(32)));
typedef uint64_t quads4 __attribute__((vector_size(32)));

enum {
    LANES = KERNELS_LANES,
    GROUP_VECS = QUANT_BLOCK / LANES,
    LARGE_GROUPS = QUANT_LARGE / QUANT_BLOCK,
};

// Number i = scale[i / 16] * (q[i] - zero) + least[i / 16], where zero is group_zero() of the
// format and q is 0 .. 63, or signed where group_is_signed().
struct group {
    bytes32 q;
    float scale[2], least[2];
};

VEC_INLINE bool group_is_signed(enum gguf_tensor_type type) {
    return type == GGUF_TENSOR_Q8_0 || type == GGUF_TENSOR_IQ4_NL || type == GGUF_TENSOR_IQ4_XS ||
           type == GGUF_TENSOR_MXFP4;
}

// Whether the two runs of 16 have a scale each.
VEC_INLINE bool group_has_runs(enum gguf_tensor_type type) {
    return type == GGUF_TENSOR_Q2_K || type == GGUF_TENSOR_Q3_K || type == GGUF_TENSOR_Q6_K;
}

VEC_INLINE bool group_has_least(enum gguf_tensor_type type) {
    return type == GGUF_TENSOR_Q4_1 || type == GGUF_TENSOR_Q5_1 || type == GGUF_TENSOR_Q2_K ||
           type == GGUF_TENSOR_Q4_K || type == GGUF_TENSOR_Q5_K;
}

VEC_INLINE int group_zero(enum gguf_tensor_type type) {
    switch (type) {
    case GGUF_TENSOR_Q3_K:
        return 4;
    case GGUF_TENSOR_Q4_0:
        return 8;
    case GGUF_TENSOR_Q5_0:
        return 16;
    case GGUF_TENSOR_Q6_K:
        return 32;
    default:
        return 0;
    }
}

// --- Pieces ---

VEC_INLINE float load_scale(const unsigned char *at) {
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return vec_all_half(half)[0];
}

VEC_INLINE bytes32 load_bytes(const unsigned char *at) {
    bytes32 bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

// Each byte's bits from `shift` on, as many as `mask` has. Bytes have no shift of their own.
VEC_INLINE bytes32 bits_of(bytes32 bytes, int shift, uint8_t mask) {
    return (bytes32)((words16)bytes >> (uint16_t)shift) & mask;
}

// The low halves of 16 bytes, then their high halves.
VEC_INLINE bytes32 load_nibbles(const unsigned char *at) {
    bytes16 pairs;
    memcpy(&pairs, at, sizeof pairs);
    bytes16 low = pairs & 15, high = pairs >> 4;
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                                   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
}

// 16 where bit i of the four bytes is set.
VEC_INLINE bytes32 load_fifth_bits(const unsigned char *at) {
    const uint64_t bit = UINT64_C(0x8040201008040201), spread = UINT64_C(0x0101010101010101);
    quads4 quads = {at[0] * spread, at[1] * spread, at[2] * spread, at[3] * spread};
    bytes32 bits = (bytes32)(quads & bit);
    return (bytes32)(bits != 0) & 16;
}

VEC_INLINE bytes32 look_up(const int8_t steps[16], bytes32 q) {
#if KERNELS_LANES > 4
    __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)steps));
    return (bytes32)_mm256_shuffle_epi8(table, (__m256i)q);
#else
    for (int i = 0; i < QUANT_BLOCK; i++)
        q[i] = (uint8_t)steps[q[i]];
    return q;
#endif
}

// --- Formats ---

VEC_INLINE void set_scale(struct group *group, float scale, float least) {
    group->scale[0] = group->scale[1] = scale;
    group->least[0] = group->least[1] = least;
}

VEC_INLINE struct group load_small(enum gguf_tensor_type type, const unsigned char *block) {
    struct group group;
    float least = 0;
    switch (type) {
    case GGUF_TENSOR_Q4_0:
        group.q = load_nibbles(block + 2);
        break;
    case GGUF_TENSOR_Q4_1:
        group.q = load_nibbles(block + 4);
        least = load_scale(block + 2);
        break;
    case GGUF_TENSOR_Q5_0:
        group.q = load_nibbles(block + 6) | load_fifth_bits(block + 2);
        break;
    case GGUF_TENSOR_Q5_1:
        group.q = load_nibbles(block + 8) | load_fifth_bits(block + 4);
        least = load_scale(block + 2);
        break;
    case GGUF_TENSOR_IQ4_NL:
        group.q = look_up(quant_iq4_steps, load_nibbles(block + 2));
        break;
    default: // Q8_0
        group.q = load_bytes(block + 2);
        break;
    }
    set_scale(&group, load_scale(block), least);
    return group;
}

// 2^(e - 128); the threads that compute count the two smallest as zero, being subnormal.
VEC_INLINE struct group load_mxfp4(const unsigned char *block) {
    struct group group = {.q = look_up(quant_mxfp4_steps, load_nibbles(block + 1))};
    uint32_t e = block[0], bits = e < 2 ? UINT32_C(1) << (21 + e) : (e - 1) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    set_scale(&group, scale, 0);
    return group;
}

VEC_INLINE struct group load_q2_k(const unsigned char *block, int g) {
    struct group group = {.q = bits_of(load_bytes(block + 16 + g / 4 * 32), g % 4 * 2, 3)};
    float d = load_scale(block + 80), dmin = load_scale(block + 82);
    for (int k = 0; k < 2; k++) {
        int run = block[2 * g + k];
        group.scale[k] = d * (float)(run & 15);
        group.least[k] = -dmin * (float)(run >> 4);
    }
    return group;
}

VEC_INLINE struct group load_q3_k(const unsigned char *block, int g) {
    const unsigned char *scales = block + 96;
    struct group group = {.q = bits_of(load_bytes(block + 32 + g / 4 * 32), g % 4 * 2, 3)};
    bytes32 tops = bits_of(load_bytes(block), g, 1);
    group.q |= (bytes32)((words16)tops << 2);
    set_scale(&group, 0, 0);
    for (int k = 0; k < 2; k++) {
        int r = 2 * g + k;
        int low = scales[r % 8] >> r / 8 * 4 & 15;
        int top = scales[8 + r % 4] >> r / 4 * 2 & 3;
        group.scale[k] = load_scale(block + 108) * (float)((low | top << 4) - 32);
    }
    return group;
}

// Q4_K and Q5_K have the same scales.
VEC_INLINE void set_k_scale(struct group *group, const unsigned char *block, int g) {
    const unsigned char *six = block + 4;
    int scale, least;
    if (g < 4) {
        scale = six[g] & 63;
        least = six[4 + g] & 63;
    } else {
        scale = (six[4 + g] & 15) | six[g - 4] >> 6 << 4;
        least = six[4 + g] >> 4 | six[g] >> 6 << 4;
    }
    set_scale(group, load_scale(block) * (float)scale, -load_scale(block + 2) * (float)least);
}

VEC_INLINE struct group load_q4_k(const unsigned char *block, int g) {
    struct group group = {.q = bits_of(load_bytes(block + 16 + g / 2 * 32), g % 2 * 4, 15)};
    set_k_scale(&group, block, g);
    return group;
}

VEC_INLINE struct group load_q5_k(const unsigned char *block, int g) {
    bytes32 tops = bits_of(load_bytes(block + 16), g, 1);
    struct group group = {.q = bits_of(load_bytes(block + 48 + g / 2 * 32), g % 2 * 4, 15)};
    group.q |= (bytes32)((words16)tops << 4);
    set_k_scale(&group, block, g);
    return group;
}

VEC_INLINE struct group load_q6_k(const unsigned char *block, int g) {
    int h = g / 4, s = g % 4;
    bytes32 low = load_bytes(block + 64 * h + 32 * (s % 2));
    bytes32 tops = bits_of(load_bytes(block + 128 + 32 * h), 2 * s, 3);
    struct group group = {.q = bits_of(low, s / 2 * 4, 15) | (bytes32)((words16)tops << 4)};
    set_scale(&group, 0, 0);
    for (int k = 0; k < 2; k++)
        group.scale[k] = load_scale(block + 208) * (float)(int8_t)block[192 + 2 * g + k];
    return group;
}

VEC_INLINE struct group load_iq4_xs(const unsigned char *block, int g) {
    struct group group = {.q = look_up(quant_iq4_steps, load_nibbles(block + 8 + 16 * g))};
    int tops = block[2 + g / 4] >> g % 4 * 2 & 3;
    int scale = (block[4 + g / 2] >> g % 2 * 4 & 15) | tops << 4;
    set_scale(&group, load_scale(block) * (float)(scale - 32), 0);
    return group;
}

VEC_INLINE int group_block_bytes(enum gguf_tensor_type type) {
    switch (type) {
    case GGUF_TENSOR_Q4_0:
        return QUANT_Q4_0_BYTES;
    case GGUF_TENSOR_Q4_1:
        return QUANT_Q4_1_BYTES;
    case GGUF_TENSOR_Q5_0:
        return QUANT_Q5_0_BYTES;
    case GGUF_TENSOR_Q5_1:
        return QUANT_Q5_1_BYTES;
    case GGUF_TENSOR_IQ4_NL:
        return QUANT_IQ4_NL_BYTES;
    case GGUF_TENSOR_MXFP4:
        return QUANT_MXFP4_BYTES;
    case GGUF_TENSOR_Q2_K:
        return QUANT_Q2_K_BYTES;
    case GGUF_TENSOR_Q3_K:
        return QUANT_Q3_K_BYTES;
    case GGUF_TENSOR_Q4_K:
        return QUANT_Q4_K_BYTES;
    case GGUF_TENSOR_Q5_K:
        return QUANT_Q5_K_BYTES;
    case GGUF_TENSOR_Q6_K:
        return QUANT_Q6_K_BYTES;
    case GGUF_TENSOR_IQ4_XS:
        return QUANT_IQ4_XS_BYTES;
    default:
        return QUANT_Q8_0_BYTES;
    }
}

VEC_INLINE bool group_is_of_large(enum gguf_tensor_type type) {
    return group_has_runs(type) || type == GGUF_TENSOR_Q4_K || type == GGUF_TENSOR_Q5_K ||
           type == GGUF_TENSOR_IQ4_XS;
}

// Group `index` of a row. type: one of the block formats, a constant where this is used
VEC_INLINE struct group load_group(enum gguf_tensor_type type, const unsigned char *row,
                                   int index) {
    bool is_large = group_is_of_large(type);
    int g = is_large ? index % LARGE_GROUPS : 0;
    const unsigned char *block =
        row + (size_t)(is_large ? index / LARGE_GROUPS : index) * (size_t)group_block_bytes(type);
    switch (type) {
    case GGUF_TENSOR_MXFP4:
        return load_mxfp4(block);
    case GGUF_TENSOR_Q2_K:
        return load_q2_k(block, g);
    case GGUF_TENSOR_Q3_K:
        return load_q3_k(block, g);
    case GGUF_TENSOR_Q4_K:
        return load_q4_k(block, g);
    case GGUF_TENSOR_Q5_K:
        return load_q5_k(block, g);
    case GGUF_TENSOR_Q6_K:
        return load_q6_k(block, g);
    case GGUF_TENSOR_IQ4_XS:
        return load_iq4_xs(block, g);
    default:
        return load_small(type, block);
    }
}

// q - zero of LANES numbers, the first of which is number v * LANES of the group.
VEC_INLINE vec group_steps(enum gguf_tensor_type type, const struct group *group, int v) {
    bytes32 q = group->q - (uint8_t)group_zero(type);
    int8_t bytes[QUANT_BLOCK];
    memcpy(bytes, &q, sizeof bytes);
    return vec_load_bytes(bytes + v * LANES);
}

#endif
