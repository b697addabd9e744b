// Eight neighbouring rows of a matrix in any of quant.h's block formats, a group of 32 columns
// at a time, and their products with tokens rounded to bytes. Lanes are rows: what a format
// packs into bytes is unpacked in all rows at once, after four bytes of each row were brought
// into one vector ("line"). Kernels read weights through this alone, so that a format is one
// function here and nothing elsewhere. Included by kernels_body.h alone, after vec.h.
#ifndef COMPUTE_CPU_EIGHTS_H
#define COMPUTE_CPU_EIGHTS_H

#include "compute/cpu/kernels.h"
#include "compute/cpu/vec.h"
#include "compute/gguf/quant.h"

typedef uint8_t bytes32 __attribute__((vector_size(32)));
typedef uint16_t words16 __attribute__((vector_size(32)));
typedef uint16_t halves8 __attribute__((vector_size(16)));
typedef int32_t ints8 __attribute__((vector_size(32)));
typedef uint32_t bits8 __attribute__((vector_size(32)));
typedef float floats8 __attribute__((vector_size(32)));

enum {
    LANES = KERNELS_LANES,
    GROUP_VECS = QUANT_BLOCK / LANES,
    EIGHT = 8,
    LINES = QUANT_BLOCK / 4,
    LARGE_GROUPS = QUANT_LARGE / QUANT_BLOCK,
};

// Column i of row r = scale[i / 16][r] * (q - zero) + least[i / 16][r], where zero is
// eight_zero() of the format. Line k has columns 4k .. 4k + 3, row r's in bytes 4r .. 4r + 3.
struct eight {
    bytes32 lines[LINES];
    floats8 scale[2], least[2]; // the second of each only if the format's runs of 16 have their own
};

// --- What a format has ---

VEC_INLINE bool has_signed_steps(enum gguf_tensor_type type) {
    return type == GGUF_TENSOR_Q8_0 || type == GGUF_TENSOR_IQ4_NL || type == GGUF_TENSOR_IQ4_XS ||
           type == GGUF_TENSOR_MXFP4;
}

VEC_INLINE bool has_runs(enum gguf_tensor_type type) {
    return type == GGUF_TENSOR_Q2_K || type == GGUF_TENSOR_Q3_K || type == GGUF_TENSOR_Q6_K;
}

VEC_INLINE bool has_least(enum gguf_tensor_type type) {
    return type == GGUF_TENSOR_Q4_1 || type == GGUF_TENSOR_Q5_1 || type == GGUF_TENSOR_Q2_K ||
           type == GGUF_TENSOR_Q4_K || type == GGUF_TENSOR_Q5_K;
}

VEC_INLINE bool has_large_blocks(enum gguf_tensor_type type) {
    return has_runs(type) || type == GGUF_TENSOR_Q4_K || type == GGUF_TENSOR_Q5_K ||
           type == GGUF_TENSOR_IQ4_XS;
}

// Signed numbers are multiplied as they are by AVX2, and 128 higher elsewhere.
#if KERNELS_LANES > 4 && !defined(KERNELS_VNNI)
enum { SIGNED_ZERO = 0 };
#else
enum { SIGNED_ZERO = 128 };
#endif

VEC_INLINE int eight_zero(enum gguf_tensor_type type) {
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
        return has_signed_steps(type) ? SIGNED_ZERO : 0;
    }
}

// A format whose products are summed in the same way: one copy of the loops serves all alike.
VEC_INLINE enum gguf_tensor_type summed_like(enum gguf_tensor_type type) {
    switch (type) {
    case GGUF_TENSOR_Q4_K:
        return GGUF_TENSOR_Q4_1;
    case GGUF_TENSOR_Q5_K:
        return GGUF_TENSOR_Q5_1;
    case GGUF_TENSOR_Q3_K:
        return GGUF_TENSOR_Q6_K;
    default:
        return has_signed_steps(type) ? GGUF_TENSOR_Q8_0 : type;
    }
}

// --- Reading eight rows ---

VEC_INLINE floats8 halves_to_floats(halves8 halves) {
#if KERNELS_LANES > 4
    return (floats8)_mm256_cvtph_ps((__m128i)halves);
#else
    uint16_t each[EIGHT];
    floats8 out;
    memcpy(each, &halves, sizeof each);
    vec low = vec_load_half(each), high = vec_load_half(each + 4);
    memcpy(&out, &low, sizeof low);
    memcpy((char *)&out + sizeof low, &high, sizeof high);
    return out;
#endif
}

VEC_INLINE floats8 load_halves(const unsigned char *const rows[EIGHT], size_t place) {
    uint16_t h[EIGHT];
    for (int r = 0; r < EIGHT; r++)
        memcpy(&h[r], rows[r] + place, sizeof h[r]);
    return halves_to_floats((halves8){h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]});
}

VEC_INLINE bits8 load_fours(const unsigned char *const rows[EIGHT], size_t place) {
    uint32_t f[EIGHT];
    for (int r = 0; r < EIGHT; r++)
        memcpy(&f[r], rows[r] + place, sizeof f[r]);
    return (bits8){f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]};
}

VEC_INLINE ints8 two_rows(const unsigned char *low, const unsigned char *high) {
#if KERNELS_LANES > 4 // told so, compilers put halves together in slower ways
    __m128i first = _mm_loadu_si128((const void *)low);
    __m128i second = _mm_loadu_si128((const void *)high);
    return (ints8)_mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
#else
    ints8 both;
    memcpy(&both, low, sizeof both / 2);
    memcpy((char *)&both + sizeof both / 2, high, sizeof both / 2);
    return both;
#endif
}

// The 16 bytes at `place` of each row as four lines.
VEC_INLINE void load_lines(bytes32 out[4], const unsigned char *const rows[EIGHT], size_t place) {
    ints8 in[4];
    for (int i = 0; i < 4; i++) // rows 0 to 3 in the low halves, 4 to 7 in the high ones
        in[i] = two_rows(rows[i] + place, rows[4 + i] + place);
    ints8 low01 = __builtin_shufflevector(in[0], in[1], 0, 8, 1, 9, 4, 12, 5, 13);
    ints8 low23 = __builtin_shufflevector(in[2], in[3], 0, 8, 1, 9, 4, 12, 5, 13);
    ints8 high01 = __builtin_shufflevector(in[0], in[1], 2, 10, 3, 11, 6, 14, 7, 15);
    ints8 high23 = __builtin_shufflevector(in[2], in[3], 2, 10, 3, 11, 6, 14, 7, 15);
    out[0] = (bytes32)__builtin_shufflevector(low01, low23, 0, 1, 8, 9, 4, 5, 12, 13);
    out[1] = (bytes32)__builtin_shufflevector(low01, low23, 2, 3, 10, 11, 6, 7, 14, 15);
    out[2] = (bytes32)__builtin_shufflevector(high01, high23, 0, 1, 8, 9, 4, 5, 12, 13);
    out[3] = (bytes32)__builtin_shufflevector(high01, high23, 2, 3, 10, 11, 6, 7, 14, 15);
}

// 32 bytes of each row as eight lines.
VEC_INLINE void load_all_lines(bytes32 out[LINES], const unsigned char *const rows[EIGHT],
                               size_t place) {
    load_lines(out, rows, place);
    load_lines(out + 4, rows, place + 16);
}

// Each byte's bits from `shift` on, as many as `mask` has. Bytes have no shift of their own.
VEC_INLINE bytes32 bits_of(bytes32 bytes, int shift, uint8_t mask) {
    return (bytes32)((words16)bytes >> (uint16_t)shift) & mask;
}

// The same bits, at `to` on.
VEC_INLINE bytes32 moved_bits(bytes32 bytes, int from, uint8_t mask, int to) {
    words16 words = from > to ? (words16)bytes >> (uint16_t)(from - to)
                              : (words16)bytes << (uint16_t)(to - from);
    return (bytes32)words & (uint8_t)(mask << to);
}

// Byte k of each row's four as numbers.
VEC_INLINE floats8 byte_of(bits8 fours, int k) {
    return __builtin_convertvector((ints8)(fours >> (uint32_t)(8 * k) & 255), floats8);
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

// --- Small blocks ---

// Adds 16 to line k's number b where bit 4k + b of its row's four bytes is set.
VEC_INLINE void add_fifth_bits(bytes32 lines[LINES], bits8 tops) {
    for (int k = 0; k < LINES; k++) {
#if KERNELS_LANES > 4
        const __m256i fours = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0,
                                                0x04040404, 0x08080808, 0x0c0c0c0c);
        __m256i place = _mm256_add_epi8(fours, _mm256_set1_epi8((char)(k / 2)));
        __m256i bit = _mm256_set1_epi32(k % 2 ? (int)0x80402010 : 0x08040201);
        __m256i set = _mm256_and_si256(_mm256_shuffle_epi8((__m256i)tops, place), bit);
        lines[k] |= (bytes32)_mm256_cmpeq_epi8(set, bit) & 16;
#else
        bits8 four = tops >> (uint32_t)(4 * k) & 15;
        bits8 pairs = (four | four << 14) & 0x00030003;
        lines[k] |= (bytes32)(((pairs | pairs << 7) & 0x01010101) << 4);
#endif
    }
}

VEC_INLINE void load_nibbles(bytes32 out[LINES], const unsigned char *const rows[EIGHT],
                             size_t place) {
    bytes32 pairs[4];
    load_lines(pairs, rows, place);
    for (int k = 0; k < 4; k++) {
        out[k] = pairs[k] & 15;
        out[4 + k] = bits_of(pairs[k], 4, 15);
    }
}

// 2^(e - 128); the threads that compute count the two smallest as zero, being subnormal.
VEC_INLINE floats8 mxfp4_scales(const unsigned char *const rows[EIGHT], size_t place) {
    bits8 e;
    for (int r = 0; r < EIGHT; r++)
        e[r] = rows[r][place];
    bits8 is_small = (bits8)(e < 2), small = (bits8){0} + (UINT32_C(1) << 21);
    return (floats8)((is_small & (small << (e & 1))) | (~is_small & ((e - 1) << 23)));
}

// Group of one small block at `place` of each row.
VEC_INLINE void load_small(enum gguf_tensor_type type, struct eight *out,
                           const unsigned char *const rows[EIGHT], size_t place) {
    bool has_fifth = type == GGUF_TENSOR_Q5_0 || type == GGUF_TENSOR_Q5_1;
    size_t at = place + (type == GGUF_TENSOR_MXFP4 ? 1 : has_least(type) ? 4 : 2);
    if (type == GGUF_TENSOR_Q8_0)
        load_all_lines(out->lines, rows, at);
    else
        load_nibbles(out->lines, rows, at + (has_fifth ? 4 : 0));
    if (has_fifth)
        add_fifth_bits(out->lines, load_fours(rows, at));
    for (int k = 0; k < LINES && type == GGUF_TENSOR_IQ4_NL; k++)
        out->lines[k] = look_up(quant_iq4_steps, out->lines[k]);
    for (int k = 0; k < LINES && type == GGUF_TENSOR_MXFP4; k++)
        out->lines[k] = look_up(quant_mxfp4_steps, out->lines[k]);
    out->scale[0] =
        type == GGUF_TENSOR_MXFP4 ? mxfp4_scales(rows, place) : load_halves(rows, place);
    if (has_least(type))
        out->least[0] = load_halves(rows, place + 2);
}

// --- Large blocks: all eight groups of the block at `place` of each row ---

VEC_INLINE floats8 low_halves(bits8 fours) {
    return halves_to_floats(__builtin_convertvector(fours & 0xffff, halves8));
}

// Q4_K and Q5_K have the same scales: d and dmin, then three times four bytes.
VEC_INLINE void load_k_scales(struct eight out[LARGE_GROUPS],
                              const unsigned char *const rows[EIGHT], size_t place) {
    bytes32 head[4];
    load_lines(head, rows, place);
    bits8 a = (bits8)head[1], b = (bits8)head[2], c = (bits8)head[3];
    floats8 d = low_halves((bits8)head[0]), dmin = low_halves((bits8)head[0] >> 16);
    bits8 scales[2] = {a & 0x3f3f3f3f, (c & 0x0f0f0f0f) | (a >> 6 & 0x03030303) << 4};
    bits8 leasts[2] = {b & 0x3f3f3f3f, (c >> 4 & 0x0f0f0f0f) | (b >> 6 & 0x03030303) << 4};
    for (int g = 0; g < LARGE_GROUPS; g++) {
        out[g].scale[0] = d * byte_of(scales[g / 4], g % 4);
        out[g].least[0] = -dmin * byte_of(leasts[g / 4], g % 4);
    }
}

// Lines of groups g and g + 1, g being even.
VEC_INLINE void load_q4_k_pair(struct eight out[2], const unsigned char *const rows[EIGHT],
                               size_t place, int g) {
    bytes32 pairs[LINES];
    load_all_lines(pairs, rows, place + 16 + (size_t)(16 * g));
    for (int k = 0; k < LINES; k++) {
        out[0].lines[k] = pairs[k] & 15;
        out[1].lines[k] = bits_of(pairs[k], 4, 15);
    }
}

VEC_INLINE void load_q4_k(struct eight out[LARGE_GROUPS], const unsigned char *const rows[EIGHT],
                          size_t place) {
    load_k_scales(out, rows, place);
    for (int g = 0; g < LARGE_GROUPS; g += 2)
        load_q4_k_pair(out + g, rows, place, g);
}

VEC_INLINE void load_q5_k(struct eight out[LARGE_GROUPS], const unsigned char *const rows[EIGHT],
                          size_t place) {
    bytes32 tops[LINES];
    load_k_scales(out, rows, place);
    load_all_lines(tops, rows, place + 16);
    for (int g = 0; g < LARGE_GROUPS; g += 2) {
        bytes32 pairs[LINES];
        load_all_lines(pairs, rows, place + 48 + (size_t)(16 * g));
        for (int k = 0; k < LINES; k++) {
            out[g].lines[k] = (pairs[k] & 15) | moved_bits(tops[k], g, 1, 4);
            out[g + 1].lines[k] = bits_of(pairs[k], 4, 15) | moved_bits(tops[k], g + 1, 1, 4);
        }
    }
}

VEC_INLINE void load_q6_k(struct eight out[LARGE_GROUPS], const unsigned char *const rows[EIGHT],
                          size_t place) {
    bytes32 scales[4];
    load_lines(scales, rows, place + 192);
    floats8 d = load_halves(rows, place + 208);
    for (int run = 0; run < 2 * LARGE_GROUPS; run++) {
        ints8 scale = (ints8)((bits8)scales[run / 4] << (uint32_t)(24 - run % 4 * 8)) >> 24;
        out[run / 2].scale[run % 2] = d * __builtin_convertvector(scale, floats8);
    }
    for (int h = 0; h < 2; h++) {
        bytes32 low[2][LINES], tops[LINES];
        load_all_lines(low[0], rows, place + (size_t)(64 * h));
        load_all_lines(low[1], rows, place + (size_t)(64 * h) + 32);
        load_all_lines(tops, rows, place + 128 + (size_t)(32 * h));
        for (int s = 0; s < 4; s++) {
            for (int k = 0; k < LINES; k++)
                out[4 * h + s].lines[k] =
                    bits_of(low[s % 2][k], s / 2 * 4, 15) | moved_bits(tops[k], 2 * s, 3, 4);
        }
    }
}

VEC_INLINE void load_two_bits(struct eight out[LARGE_GROUPS],
                              const unsigned char *const rows[EIGHT], size_t place) {
    for (int h = 0; h < 2; h++) {
        bytes32 fours[LINES];
        load_all_lines(fours, rows, place + (size_t)(32 * h));
        for (int s = 0; s < 4; s++) {
            for (int k = 0; k < LINES; k++)
                out[4 * h + s].lines[k] = bits_of(fours[k], 2 * s, 3);
        }
    }
}

VEC_INLINE void load_q2_k(struct eight out[LARGE_GROUPS], const unsigned char *const rows[EIGHT],
                          size_t place) {
    bytes32 runs[4];
    load_lines(runs, rows, place);
    bits8 both = load_fours(rows, place + 80);
    floats8 d = low_halves(both), dmin = low_halves(both >> 16);
    for (int run = 0; run < 2 * LARGE_GROUPS; run++) {
        bits8 four = (bits8)runs[run / 4];
        out[run / 2].scale[run % 2] = d * byte_of(four & 0x0f0f0f0f, run % 4);
        out[run / 2].least[run % 2] = -dmin * byte_of(four >> 4 & 0x0f0f0f0f, run % 4);
    }
    load_two_bits(out, rows, place + 16);
}

VEC_INLINE void load_q3_k(struct eight out[LARGE_GROUPS], const unsigned char *const rows[EIGHT],
                          size_t place) {
    bytes32 head[4], tops[LINES]; // the scales' 12 bytes, after four others
    load_lines(head, rows, place + 92);
    floats8 d = load_halves(rows, place + 108);
    for (int run = 0; run < 2 * LARGE_GROUPS; run++) {
        bits8 low = (bits8)head[1 + run % 8 / 4] >> (uint32_t)(run / 8 * 4) & 0x0f0f0f0f;
        bits8 top = (bits8)head[3] >> (uint32_t)(run / 4 * 2) & 0x03030303;
        out[run / 2].scale[run % 2] = d * (byte_of(low | top << 4, run % 4) - 32);
    }
    load_two_bits(out, rows, place + 32);
    load_all_lines(tops, rows, place);
    for (int g = 0; g < LARGE_GROUPS; g++) {
        for (int k = 0; k < LINES; k++)
            out[g].lines[k] |= moved_bits(tops[k], g, 1, 2);
    }
}

VEC_INLINE void load_iq4_xs(struct eight out[LARGE_GROUPS], const unsigned char *const rows[EIGHT],
                            size_t place) {
    bits8 both = load_fours(rows, place), lows = load_fours(rows, place + 4);
    floats8 d = low_halves(both);
    for (int g = 0; g < LARGE_GROUPS; g++) {
        bits8 top = both >> (uint32_t)(16 + 2 * g) & 3;
        bits8 scale = (lows >> (uint32_t)(4 * g) & 15) | top << 4;
        out[g].scale[0] = d * __builtin_convertvector((ints8)scale - 32, floats8);
        load_nibbles(out[g].lines, rows, place + 8 + (size_t)(16 * g));
        for (int k = 0; k < LINES; k++)
            out[g].lines[k] = look_up(quant_iq4_steps, out[g].lines[k]);
    }
}

VEC_INLINE int groups_of_block(enum gguf_tensor_type type) {
    return has_large_blocks(type) ? LARGE_GROUPS : 1;
}

// The groups of the block at `place` of each row: [groups_of_block()].
VEC_INLINE void load_eights(enum gguf_tensor_type type, struct eight *out,
                            const unsigned char *const rows[EIGHT], size_t place) {
    switch (type) {
    case GGUF_TENSOR_Q2_K:
        load_q2_k(out, rows, place);
        break;
    case GGUF_TENSOR_Q3_K:
        load_q3_k(out, rows, place);
        break;
    case GGUF_TENSOR_Q4_K:
        load_q4_k(out, rows, place);
        break;
    case GGUF_TENSOR_Q5_K:
        load_q5_k(out, rows, place);
        break;
    case GGUF_TENSOR_Q6_K:
        load_q6_k(out, rows, place);
        break;
    case GGUF_TENSOR_IQ4_XS:
        load_iq4_xs(out, rows, place);
        break;
    default:
        load_small(type, out, rows, place);
        break;
    }
    if (!has_signed_steps(type) || SIGNED_ZERO == 0)
        return;
    for (int g = 0; g < groups_of_block(type); g++) {
        for (int k = 0; k < LINES; k++)
            out[g].lines[k] ^= SIGNED_ZERO;
    }
}

// --- Products ---

VEC_INLINE floats8 fma8(floats8 a, floats8 b, floats8 c) {
#if KERNELS_LANES > 4
    return (floats8)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

VEC_INLINE floats8 all8(float value) {
    return (floats8){value, value, value, value, value, value, value, value};
}

// Four neighbouring numbers of a token, once for each row.
VEC_INLINE bytes32 four_of(const int8_t *q) {
    int32_t four;
    memcpy(&four, q, sizeof four);
    return (bytes32)((ints8){0} + four);
}

#if KERNELS_LANES > 4 && !defined(KERNELS_VNNI)

// Lines whose products may be added in 16 bits: two numbers of a line, up to 127 times the
// largest q each.
VEC_INLINE int lines_a_sum(enum gguf_tensor_type type) {
    switch (type) {
    case GGUF_TENSOR_Q8_0: // stands for all signed formats
        return 1;
    case GGUF_TENSOR_Q6_K:
        return 2;
    case GGUF_TENSOR_Q5_0:
    case GGUF_TENSOR_Q5_1:
        return 4;
    default:
        return has_runs(type) ? 4 : 8;
    }
}

// The products of neighbours, added in twos: the first operand's bytes count as unsigned.
VEC_INLINE __m256i pairs_of(enum gguf_tensor_type type, bytes32 line, bytes32 four) {
    __m256i q = (__m256i)line, token = (__m256i)four;
    if (has_signed_steps(type))
        return _mm256_maddubs_epi16(_mm256_abs_epi8(q), _mm256_sign_epi8(token, q));
    return _mm256_maddubs_epi16(q, token);
}

VEC_INLINE ints8 add_words(ints8 sum, __m256i words) {
    return sum + (ints8)_mm256_madd_epi16(words, _mm256_set1_epi16(1));
}

#else

VEC_INLINE int lines_a_sum(enum gguf_tensor_type type) {
    (void)type;
    return 1;
}

#if defined(KERNELS_VNNI)

VEC_INLINE ints8 add_fours(ints8 sum, bytes32 line, bytes32 four) {
    return (ints8)KERNELS_VNNI((__m256i)sum, (__m256i)line, (__m256i)four);
}

#else

VEC_INLINE ints8 add_fours(ints8 sum, bytes32 line, bytes32 four) {
    typedef int8_t signs32 __attribute__((vector_size(32)));
    typedef int16_t words32 __attribute__((vector_size(64)));
    typedef int32_t ints16 __attribute__((vector_size(64)));
    words32 products = __builtin_convertvector(line, words32) *
                       __builtin_convertvector((signs32)four, words32); // below 2^15
    ints16 twos = ((ints16)products << 16 >> 16) + ((ints16)products >> 16);
    return sum + __builtin_shufflevector(twos, twos, 0, 2, 4, 6, 8, 10, 12, 14) +
           __builtin_shufflevector(twos, twos, 1, 3, 5, 7, 9, 11, 13, 15);
}

#endif
#endif

enum { EIGHTS_TOKENS = 4, EIGHTS_SIDES = 2 }; // the sums fit the registers

// `sides` eights of rows times `tokens` tokens; both are constants where this is used.
struct eights_job {
    const struct eight *sides[EIGHTS_SIDES];
    const struct rounded *token; // of the same group, the next one `stride` further
    size_t stride;
    int zero; // eight_zero() of the format
};

// Adds lines `first` .. `first` + lines_a_sum() - 1.
VEC_INLINE void add_lines(enum gguf_tensor_type type, int sides, int tokens,
                          ints8 dots[EIGHTS_TOKENS][EIGHTS_SIDES], const struct eights_job *job,
                          int first) {
#if KERNELS_LANES > 4 && !defined(KERNELS_VNNI)
    __m256i words[EIGHTS_TOKENS][EIGHTS_SIDES];
    for (int k = 0; k < lines_a_sum(type); k++) {
        for (int t = 0; t < tokens; t++) {
            bytes32 four = four_of(job->token[(size_t)t * job->stride].q + 4 * (first + k));
            for (int i = 0; i < sides; i++) {
                __m256i pairs = pairs_of(type, job->sides[i]->lines[first + k], four);
                words[t][i] = k > 0 ? _mm256_add_epi16(words[t][i], pairs) : pairs;
            }
        }
    }
    for (int t = 0; t < tokens; t++) {
        for (int i = 0; i < sides; i++)
            dots[t][i] = add_words(dots[t][i], words[t][i]);
    }
#else
    (void)type;
    for (int t = 0; t < tokens; t++) {
        bytes32 four = four_of(job->token[(size_t)t * job->stride].q + 4 * first);
        for (int i = 0; i < sides; i++)
            dots[t][i] = add_fours(dots[t][i], job->sides[i]->lines[first], four);
    }
#endif
}

// Adds a group's products. Whole numbers add up exactly; the order of what is rounded is the
// same for every number of tokens and sides. type: a summed_like()
VEC_INLINE void add_group(enum gguf_tensor_type type, int sides, int tokens,
                          floats8 sums[EIGHTS_TOKENS][EIGHTS_SIDES], const struct eights_job *job) {
    int runs = has_runs(type) ? 2 : 1;
    for (int run = 0; run < runs; run++) {
        ints8 dots[EIGHTS_TOKENS][EIGHTS_SIDES];
        for (int t = 0; t < tokens; t++) {
            const struct rounded *token = &job->token[(size_t)t * job->stride];
            int sum = runs == 2 ? token->sum[run] : token->sum[0] + token->sum[1];
            for (int i = 0; i < sides; i++)
                dots[t][i] = (ints8){0} - job->zero * sum;
        }
        for (int k = run * LINES / 2; k < (run + 3 - runs) * LINES / 2; k += lines_a_sum(type))
            add_lines(type, sides, tokens, dots, job, k);
        for (int t = 0; t < tokens; t++) {
            const struct rounded *token = &job->token[(size_t)t * job->stride];
            int sum = runs == 2 ? token->sum[run] : token->sum[0] + token->sum[1];
            for (int i = 0; i < sides; i++) {
                floats8 unit = job->sides[i]->scale[run] * all8(token->scale);
                floats8 dot = __builtin_convertvector(dots[t][i], floats8);
                sums[t][i] = fma8(unit, dot, sums[t][i]);
                if (has_least(type))
                    sums[t][i] = fma8(job->sides[i]->least[run], all8(token->scale * (float)sum),
                                      sums[t][i]);
            }
        }
    }
}

#endif
