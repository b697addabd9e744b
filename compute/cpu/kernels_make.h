// Rows of random weights for models made from a shape. quant.h and shape_random.h say what
// comes out, to the bit: nothing here may be fused into one rounding. Included by
// kernels_body.h alone.
#ifndef COMPUTE_CPU_KERNELS_MAKE_H
#define COMPUTE_CPU_KERNELS_MAKE_H

#include "compute/cpu/eights.h"
#include "compute/cpu/vec.h"
#include "compute/gguf/quant.h"
#include "compute/model/shape_random.h"

#include <math.h>

// Columns `col` .. `col` + LANES - 1 of a random row.
VEC_INLINE vec random_numbers(struct shape_random_row keys, uint32_t col, float scale) {
    vec_bits x;
    for (int i = 0; i < LANES; i++)
        x[i] = (uint32_t)i;
    x = (x + col) * SHAPE_RANDOM_STEP + keys.first;
    x = (x ^ (x >> 16)) * SHAPE_RANDOM_FIRST;
    x = (x ^ (x >> 15) ^ keys.second) * SHAPE_RANDOM_SECOND;
    x ^= x >> 16;
    vec_int raw = (vec_int)(x & 0xffff) + (vec_int)(x >> 16) - 65535;
    return __builtin_convertvector(raw, vec) * vec_all(scale);
}

// To nearest, ties to even; the numbers are finite.
VEC_INLINE void store_bf16(uint16_t *to, vec v) {
    vec_bits bits = (vec_bits)v;
    bits = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    typedef uint16_t narrow __attribute__((vector_size(LANES * 2)));
    narrow out = __builtin_convertvector(bits, narrow);
    memcpy(to, &out, sizeof out);
}

typedef uint8_t vec_bytes __attribute__((vector_size(LANES)));

VEC_INLINE vec_int steps_of(vec numbers, float per_step, float half) {
    return __builtin_convertvector(numbers * vec_all(per_step) + vec_all(half), vec_int);
}

VEC_INLINE float load_scale(const unsigned char *at) {
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return vec_all_half(half)[0];
}

VEC_INLINE void store_scale(unsigned char *block, float scale) {
    uint16_t half = half_from_float(scale);
    memcpy(block, &half, sizeof half);
}

// The largest magnitude of a block.
VEC_INLINE float block_most(const vec numbers[GROUP_VECS]) {
    vec most = vec_max(numbers[0], -numbers[0]);
    for (int v = 1; v < GROUP_VECS; v++)
        most = vec_max(most, vec_max(numbers[v], -numbers[v]));
    return vec_largest(most);
}

VEC_INLINE void store_q8_0(unsigned char *block, const vec numbers[GROUP_VECS]) {
    float most = block_most(numbers);
    float per_step = most > 0 ? 127.0f / most : 0;
    store_scale(block, most / 127.0f);
    for (int v = 0; v < GROUP_VECS; v++) {
        vec_int steps = steps_of(numbers[v], per_step, 128.5f) - 128;
        vec_bytes bytes = __builtin_convertvector(steps, vec_bytes);
        memcpy(block + 2 + v * LANES, &bytes, sizeof bytes);
    }
}

// Of the numbers as large as the largest the first one counts, since its sign does.
static float signed_most(const float numbers[QUANT_BLOCK], float most) {
    int i = 0;
    while (fabsf(numbers[i]) != most)
        i++;
    return numbers[i];
}

VEC_INLINE void store_q4_0(unsigned char *block, const vec numbers[GROUP_VECS]) {
    float plain[QUANT_BLOCK];
    uint8_t steps[QUANT_BLOCK];
    for (int v = 0; v < GROUP_VECS; v++)
        vec_store(plain + v * LANES, numbers[v]);
    float most = signed_most(plain, block_most(numbers));
    float per_step = most != 0 ? -8.0f / most : 0;
    store_scale(block, most != 0 ? most / -8.0f : 0);
    for (int v = 0; v < GROUP_VECS; v++) {
        vec_int step = steps_of(numbers[v], per_step, 8.5f);
        step -= (vec_int)(step > 15) & 1; // 16, of the largest number's other sign
        vec_bytes bytes = __builtin_convertvector(step, vec_bytes);
        memcpy(steps + v * LANES, &bytes, sizeof bytes);
    }
    typedef uint8_t pairs __attribute__((vector_size(QUANT_BLOCK / 2)));
    pairs low, high;
    memcpy(&low, steps, sizeof low);
    memcpy(&high, steps + sizeof low, sizeof high);
    low |= high << 4;
    memcpy(block + 2, &low, sizeof low);
}

// value / unit to the nearest whole number of 0 .. most; 0 for no unit.
VEC_INLINE int whole_steps(float value, float unit, int most) {
    float steps = unit > 0 ? value / unit + 0.5f : 0;
    int whole = (int)steps;
    return whole < most ? whole : most;
}

VEC_INLINE void store_six_bits(unsigned char *to, const int scales[LARGE_GROUPS],
                               const int leasts[LARGE_GROUPS]) {
    for (int k = 0; k < 4; k++) {
        to[k] = (unsigned char)(scales[k] | scales[4 + k] >> 4 << 6);
        to[4 + k] = (unsigned char)(leasts[k] | leasts[4 + k] >> 4 << 6);
        to[8 + k] = (unsigned char)((scales[4 + k] & 15) | (leasts[4 + k] & 15) << 4);
    }
}

// q of a group whose numbers start at -least and go up by `unit`.
VEC_INLINE bytes32 q4_k_steps(const vec numbers[GROUP_VECS], float unit, float least) {
    bytes32 q = {0};
    for (int v = 0; unit > 0 && v < GROUP_VECS; v++) {
        vec steps = (numbers[v] + vec_all(least)) / vec_all(unit) + vec_all(0.5f);
        steps = vec_max(vec_all(0), vec_min(vec_all(15), steps));
        vec_bytes bytes =
            __builtin_convertvector(__builtin_convertvector(steps, vec_int), vec_bytes);
        memcpy((uint8_t *)&q + v * LANES, &bytes, sizeof bytes);
    }
    return q;
}

VEC_INLINE void store_q4_k(unsigned char *block, const vec numbers[LARGE_GROUPS][GROUP_VECS]) {
    float low[LARGE_GROUPS], step[LARGE_GROUPS], most_step = 0, most_low = 0;
    int scales[LARGE_GROUPS], leasts[LARGE_GROUPS];
    for (int g = 0; g < LARGE_GROUPS; g++) {
        vec most = numbers[g][0], least = numbers[g][0];
        for (int v = 1; v < GROUP_VECS; v++) {
            most = vec_max(most, numbers[g][v]);
            least = vec_min(least, numbers[g][v]);
        }
        low[g] = vec_largest(-least);
        step[g] = (vec_largest(most) + low[g]) / 15.0f;
        most_step = step[g] > most_step ? step[g] : most_step;
        most_low = low[g] > most_low ? low[g] : most_low;
    }
    store_scale(block, most_step / 63.0f);
    store_scale(block + 2, most_low / 63.0f);
    float d = load_scale(block), dmin = load_scale(block + 2);
    for (int g = 0; g < LARGE_GROUPS; g += 2) {
        bytes32 q[2];
        for (int k = 0; k < 2; k++) {
            int scale = scales[g + k] = whole_steps(step[g + k], d, 63);
            int least = leasts[g + k] = whole_steps(low[g + k] > 0 ? low[g + k] : 0, dmin, 63);
            q[k] = q4_k_steps(numbers[g + k], d * (float)scale, dmin * (float)least);
        }
        q[0] |= (bytes32)((words16)q[1] << 4);
        memcpy(block + 16 + g / 2 * QUANT_BLOCK, &q[0], sizeof q[0]);
    }
    store_six_bits(block + 4, scales, leasts);
}

VEC_INLINE void random_group(vec out[GROUP_VECS], struct shape_random_row keys, int col,
                             float scale) {
    for (int v = 0; v < GROUP_VECS; v++)
        out[v] = random_numbers(keys, (uint32_t)(col + v * LANES), scale);
}

static void make_q4_k_row(unsigned char *row, int cols, struct shape_random_row keys, float scale) {
    for (int c = 0; c < cols; c += QUANT_LARGE) {
        vec numbers[LARGE_GROUPS][GROUP_VECS];
        for (int g = 0; g < LARGE_GROUPS; g++)
            random_group(numbers[g], keys, c + g * QUANT_BLOCK, scale);
        store_q4_k(row + c / QUANT_LARGE * QUANT_Q4_K_BYTES, (const vec(*)[GROUP_VECS])numbers);
    }
}

VEC_INLINE void make_row(unsigned char *row, enum gguf_tensor_type type, int cols,
                         struct shape_random_row keys, float scale) {
    for (int c = 0; c < cols; c += QUANT_BLOCK) {
        vec numbers[GROUP_VECS];
        random_group(numbers, keys, c, scale);
        if (type == GGUF_TENSOR_Q8_0)
            store_q8_0(row + c / QUANT_BLOCK * QUANT_Q8_0_BYTES, numbers);
        if (type == GGUF_TENSOR_Q4_0)
            store_q4_0(row + c / QUANT_BLOCK * QUANT_Q4_0_BYTES, numbers);
        for (int v = 0; v < GROUP_VECS; v++) {
            size_t at = (size_t)(c + v * LANES);
            if (type == GGUF_TENSOR_F32)
                vec_store((float *)(void *)row + at, numbers[v]);
            if (type == GGUF_TENSOR_F16)
                vec_store_half((uint16_t *)(void *)row + at, numbers[v]);
            if (type == GGUF_TENSOR_BF16)
                store_bf16((uint16_t *)(void *)row + at, numbers[v]);
        }
    }
}

static void random_row(void *row, enum gguf_tensor_type type, int cols,
                       struct shape_random_row keys, float scale) {
    switch (type) {
    case GGUF_TENSOR_F32:
        make_row(row, GGUF_TENSOR_F32, cols, keys, scale);
        break;
    case GGUF_TENSOR_F16:
        make_row(row, GGUF_TENSOR_F16, cols, keys, scale);
        break;
    case GGUF_TENSOR_BF16:
        make_row(row, GGUF_TENSOR_BF16, cols, keys, scale);
        break;
    case GGUF_TENSOR_Q8_0:
        make_row(row, GGUF_TENSOR_Q8_0, cols, keys, scale);
        break;
    case GGUF_TENSOR_Q4_0:
        make_row(row, GGUF_TENSOR_Q4_0, cols, keys, scale);
        break;
    case GGUF_TENSOR_Q4_K:
        make_q4_k_row(row, cols, keys, scale);
        break;
    default: // no shape has others (shape_model)
        break;
    }
}

#endif
