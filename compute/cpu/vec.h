// A vector of KERNELS_LANES floats and the few operations the kernels need, for
// 4 (plain C), 8 (AVX2) and 16 (AVX-512) lanes. Operators (+ - * /) are the
// compiler's own on vector types; what is here is what it has no operator for.
// Included by kernels_body.h alone, after KERNELS_LANES is set.
#ifndef COMPUTE_CPU_VEC_H
#define COMPUTE_CPU_VEC_H

#include <stdint.h>
#include <string.h>

#include "compute/gguf/half.h"

#if KERNELS_LANES > 4
#include <immintrin.h>
#endif

typedef float vec __attribute__((vector_size(KERNELS_LANES * 4)));
typedef int32_t vec_int __attribute__((vector_size(KERNELS_LANES * 4)));
typedef uint32_t vec_bits __attribute__((vector_size(KERNELS_LANES * 4)));

#define VEC_INLINE static inline __attribute__((always_inline))

VEC_INLINE vec vec_load(const float *from) {
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

VEC_INLINE void vec_store(float *to, vec v) {
    memcpy(to, &v, sizeof v);
}

// The first `count` < KERNELS_LANES numbers, zeros after them.
VEC_INLINE vec vec_load_part(const float *from, int count) {
    float part[KERNELS_LANES] = {0};
    memcpy(part, from, (size_t)count * sizeof(float));
    return vec_load(part);
}

VEC_INLINE void vec_store_part(float *to, vec v, int count) {
    float part[KERNELS_LANES];
    vec_store(part, v);
    memcpy(to, part, (size_t)count * sizeof(float));
}

#if KERNELS_LANES > 4

VEC_INLINE void vec_store_sums(float out[4], __m256 a, __m256 b, __m256 c, __m256 d) {
    __m256 sums = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
    _mm_storeu_ps(out, _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps(sums, 1)));
}

#endif

#if KERNELS_LANES == 16

VEC_INLINE vec vec_all(float value) {
    return (vec)_mm512_set1_ps(value);
}

// a * b + c, rounded once where the processor can.
VEC_INLINE vec vec_fma(vec a, vec b, vec c) {
    return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

// The larger of each; b where either is not a number.
VEC_INLINE vec vec_max(vec a, vec b) {
    return (vec)_mm512_max_ps((__m512)a, (__m512)b);
}

VEC_INLINE vec vec_min(vec a, vec b) {
    return (vec)_mm512_min_ps((__m512)a, (__m512)b);
}

VEC_INLINE float vec_sum(vec v) {
    return _mm512_reduce_add_ps((__m512)v);
}

VEC_INLINE float vec_largest(vec v) {
    return _mm512_reduce_max_ps((__m512)v);
}

VEC_INLINE __m256 vec_fold(vec v) {
    __m512 whole = (__m512)v;
    return _mm256_add_ps(_mm512_castps512_ps256(whole), _mm512_extractf32x8_ps(whole, 1));
}

// The sums of four vectors, in order.
VEC_INLINE void vec_sum_four(float out[4], const vec v[4]) {
    vec_store_sums(out, vec_fold(v[0]), vec_fold(v[1]), vec_fold(v[2]), vec_fold(v[3]));
}

// Halves at `from`, which need not be aligned, as floats.
VEC_INLINE vec vec_load_half(const uint16_t *from) {
    return (vec)_mm512_cvtph_ps(_mm256_loadu_si256((const void *)from));
}

// One half in all lanes.
VEC_INLINE vec vec_all_half(uint16_t half) {
    return (vec)_mm512_cvtph_ps(_mm256_set1_epi16((int16_t)half));
}

VEC_INLINE vec vec_load_bf16(const uint16_t *from) {
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));
    return (vec)_mm512_slli_epi32(wide, 16);
}

VEC_INLINE void vec_store_half(uint16_t *to, vec v) { // to nearest, ties to even
    _mm256_storeu_si256((void *)to, _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
}

// rows[i][j] becomes rows[j][i]: four rounds of interleaving the first half of
// the rows with the second.
VEC_INLINE void vec_transpose(vec rows[16]) {
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high =
        _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    for (int round = 0; round < 4; round++) {
        vec mixed[16];
        for (int i = 0; i < 8; i++) {
            mixed[2 * i] = (vec)_mm512_permutex2var_ps((__m512)rows[i], low, (__m512)rows[i + 8]);
            mixed[2 * i + 1] =
                (vec)_mm512_permutex2var_ps((__m512)rows[i], high, (__m512)rows[i + 8]);
        }
        for (int i = 0; i < 16; i++)
            rows[i] = mixed[i];
    }
}

#elif KERNELS_LANES == 8

VEC_INLINE vec vec_all(float value) {
    return (vec)_mm256_set1_ps(value);
}

VEC_INLINE vec vec_fma(vec a, vec b, vec c) {
    return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

VEC_INLINE vec vec_max(vec a, vec b) {
    return (vec)_mm256_max_ps((__m256)a, (__m256)b);
}

VEC_INLINE vec vec_min(vec a, vec b) {
    return (vec)_mm256_min_ps((__m256)a, (__m256)b);
}

VEC_INLINE void vec_sum_four(float out[4], const vec v[4]) {
    vec_store_sums(out, (__m256)v[0], (__m256)v[1], (__m256)v[2], (__m256)v[3]);
}

VEC_INLINE float vec_sum(vec v) {
    __m128 four =
        _mm_add_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

VEC_INLINE float vec_largest(vec v) {
    __m128 four =
        _mm_max_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
    __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

VEC_INLINE vec vec_load_half(const uint16_t *from) {
    return (vec)_mm256_cvtph_ps(_mm_loadu_si128((const void *)from));
}

VEC_INLINE vec vec_all_half(uint16_t half) {
    return (vec)_mm256_cvtph_ps(_mm_set1_epi16((int16_t)half));
}

VEC_INLINE vec vec_load_bf16(const uint16_t *from) {
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)from));
    return (vec)_mm256_slli_epi32(wide, 16);
}

VEC_INLINE void vec_store_half(uint16_t *to, vec v) {
    _mm_storeu_si128((void *)to, _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
}

VEC_INLINE void vec_transpose(vec rows[8]) {
    vec mixed[8];
    for (int i = 0; i < 8; i += 4) { // 4 by 4, in both halves of the registers
        __m256 low01 = _mm256_unpacklo_ps((__m256)rows[i], (__m256)rows[i + 1]);
        __m256 high01 = _mm256_unpackhi_ps((__m256)rows[i], (__m256)rows[i + 1]);
        __m256 low23 = _mm256_unpacklo_ps((__m256)rows[i + 2], (__m256)rows[i + 3]);
        __m256 high23 = _mm256_unpackhi_ps((__m256)rows[i + 2], (__m256)rows[i + 3]);
        mixed[i] = (vec)_mm256_shuffle_ps(low01, low23, 0x44);
        mixed[i + 1] = (vec)_mm256_shuffle_ps(low01, low23, 0xee);
        mixed[i + 2] = (vec)_mm256_shuffle_ps(high01, high23, 0x44);
        mixed[i + 3] = (vec)_mm256_shuffle_ps(high01, high23, 0xee);
    }
    for (int i = 0; i < 4; i++) {
        __m256 top = (__m256)mixed[i];
        __m256 bottom = (__m256)mixed[i + 4];
        rows[i] = (vec)_mm256_permute2f128_ps(top, bottom, 0x20);
        rows[i + 4] = (vec)_mm256_permute2f128_ps(top, bottom, 0x31);
    }
}

#else

VEC_INLINE vec vec_all(float value) {
    return (vec){value, value, value, value};
}

VEC_INLINE vec vec_fma(vec a, vec b, vec c) {
    return a * b + c;
}

VEC_INLINE vec vec_max(vec a, vec b) {
    vec_int is_a = a > b;
    return (vec)((is_a & (vec_int)a) | (~is_a & (vec_int)b));
}

VEC_INLINE vec vec_min(vec a, vec b) {
    vec_int is_a = a < b;
    return (vec)((is_a & (vec_int)a) | (~is_a & (vec_int)b));
}

VEC_INLINE float vec_sum(vec v) {
    return (v[0] + v[2]) + (v[1] + v[3]);
}

VEC_INLINE float vec_largest(vec v) {
    float first = v[0] > v[2] ? v[0] : v[2];
    float second = v[1] > v[3] ? v[1] : v[3];
    return first > second ? first : second;
}

// The rules of half.h, four at a time. Halves too small for a leading one get an
// exponent as if they had it, and the one is taken away again: exact, and no float
// here is ever subnormal (the threads flush those). Taking away zero makes a NaN
// quiet, as it should be.
VEC_INLINE vec vec_load_half(const uint16_t *from) {
    typedef uint16_t vec_halves __attribute__((vector_size(8)));
    vec_halves halves;
    memcpy(&halves, from, sizeof halves);
    vec_int half = __builtin_convertvector(halves, vec_int);
    vec_int sign = (half & 0x8000) << 16;
    vec_int rest = half & 0x7fff;
    vec_int is_small = rest < 0x400;
    vec_int is_special = rest > 0x7bff; // infinity, NaN
    vec_int moved =
        (rest << 13) + (112 << 23) + (is_special & (112 << 23)) + (is_small & (1 << 23));
    vec one = (vec)(is_small & 0x38800000); // 2^-14
    return (vec)(sign | (vec_int)((vec)moved - one));
}

VEC_INLINE vec vec_all_half(uint16_t half) {
    return vec_load_half((const uint16_t[4]){half, half, half, half});
}

VEC_INLINE vec vec_load_bf16(const uint16_t *from) {
    typedef uint16_t vec_halves __attribute__((vector_size(8)));
    vec_halves halves;
    memcpy(&halves, from, sizeof halves);
    return (vec)(__builtin_convertvector(halves, vec_int) << 16);
}

VEC_INLINE void vec_store_half(uint16_t *to, vec v) {
    for (int i = 0; i < 4; i++)
        to[i] = half_from_float(v[i]);
}

VEC_INLINE void vec_transpose(vec rows[4]) {
    vec a = rows[0], b = rows[1], c = rows[2], d = rows[3];
    rows[0] = (vec){a[0], b[0], c[0], d[0]};
    rows[1] = (vec){a[1], b[1], c[1], d[1]};
    rows[2] = (vec){a[2], b[2], c[2], d[2]};
    rows[3] = (vec){a[3], b[3], c[3], d[3]};
}

VEC_INLINE void vec_sum_four(float out[4], const vec v[4]) {
    vec turned[4] = {v[0], v[1], v[2], v[3]};
    vec_transpose(turned);
    vec_store(out, (turned[0] + turned[2]) + (turned[1] + turned[3]));
}

#endif

// The first `count` < KERNELS_LANES halves as floats, zeros after them.
VEC_INLINE vec vec_load_half_part(const uint16_t *from, int count) {
    uint16_t part[KERNELS_LANES] = {0};
    memcpy(part, from, (size_t)count * sizeof(uint16_t));
    return vec_load_half(part);
}

VEC_INLINE vec vec_load_bf16_part(const uint16_t *from, int count) {
    uint16_t part[KERNELS_LANES] = {0};
    memcpy(part, from, (size_t)count * sizeof(uint16_t));
    return vec_load_bf16(part);
}

// e^v to 2 units in the last place, for v in [-87, 88]; values beyond count as the
// bound. e^v = 2^n * e^r with |r| <= ln(2) / 2; e^r by its series, whose first term
// left out is r^8 / 40320 < 6e-9.
VEC_INLINE vec vec_exp(vec v) {
    v = vec_max(vec_all(-87.0f), vec_min(vec_all(88.0f), v));
    // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
    const vec round = vec_all(12582912.0f);
    vec shifted = vec_fma(v, vec_all(1.44269504f), round);
    vec n = shifted - round;
    vec r = vec_fma(n, vec_all(-0.693359375f), v); // ln(2) in two parts
    r = vec_fma(n, vec_all(2.12194440e-4f), r);
    vec e = vec_all(1.0f / 5040);
    e = vec_fma(e, r, vec_all(1.0f / 720));
    e = vec_fma(e, r, vec_all(1.0f / 120));
    e = vec_fma(e, r, vec_all(1.0f / 24));
    e = vec_fma(e, r, vec_all(1.0f / 6));
    e = vec_fma(e, r, vec_all(0.5f));
    e = vec_fma(e, r, vec_all(1.0f));
    e = vec_fma(e, r, vec_all(1.0f));
    vec_bits power = ((vec_bits)shifted - (vec_bits)round + 127u) << 23;
    return e * (vec)power;
}

#endif
