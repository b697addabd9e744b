// Products of weights in blocks with rounded tokens. One token: eight rows at a time, unpacked
// in registers or next to them; the weights stream by once. Many tokens: a panel of 16 rows is
// unpacked once and stays in the cache while all tokens pass by. Both add up a row's groups
// one after the other with add_group, so a token's numbers do not depend on how many come
// with it. Included by kernels_body.h alone.
#ifndef COMPUTE_CPU_KERNELS_ROUNDED_H
#define COMPUTE_CPU_KERNELS_ROUNDED_H

#include "compute/cpu/eights.h"
#include "compute/cpu/kernels.h"
#include "compute/cpu/vec.h"
#include "compute/gguf/quant.h"

enum {
    ROUNDED_DEPTH = 512, // columns of a panel
    ROUNDED_GROUPS = ROUNDED_DEPTH / QUANT_BLOCK,
    ROUNDED_ROWS = EIGHTS_SIDES * EIGHT,
};

_Static_assert(KERNELS_PANEL_FLOATS * sizeof(float) >=
                   ROUNDED_GROUPS * EIGHTS_SIDES * sizeof(struct eight),
               "a panel fits");
_Static_assert(ROUNDED_DEPTH % QUANT_LARGE == 0, "panels cut no block");

static const unsigned char *row_at(const struct tensor *w, int64_t row) {
    return (const unsigned char *)w->data + (size_t)row * quant_row_bytes(w->type, w->cols);
}

// --- Rounding ---

// The largest magnitude's bits; a NaN's are above all others.
VEC_INLINE vec_int most_bits(const vec numbers[GROUP_VECS]) {
    vec_int most = (vec_int)numbers[0] & 0x7fffffff;
    for (int v = 1; v < GROUP_VECS; v++) {
        vec_int bits = (vec_int)numbers[v] & 0x7fffffff;
        vec_int is_more = bits > most;
        most = (is_more & bits) | (~is_more & most);
    }
    return most;
}

static void round_group(struct rounded *out, const float *in) {
    vec numbers[GROUP_VECS];
    for (int v = 0; v < GROUP_VECS; v++)
        numbers[v] = vec_load(in + v * LANES);
    vec_int bits = most_bits(numbers);
    int32_t most_bits_of_all = 0;
    for (int i = 0; i < LANES; i++)
        most_bits_of_all = bits[i] > most_bits_of_all ? bits[i] : most_bits_of_all;
    float most;
    memcpy(&most, &most_bits_of_all, sizeof most);
    float per_step = most > 0 ? 127.0f / most : 0;
    out->scale = most / 127.0f;
    // Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
    const vec round = vec_all(12582912.0f);
    typedef int8_t narrow __attribute__((vector_size(LANES)));
    for (int v = 0; v < GROUP_VECS; v++) {
        vec shifted = numbers[v] * vec_all(per_step) + round;
        vec_int whole = (vec_int)shifted - (vec_int)round;
        narrow bytes = __builtin_convertvector(whole, narrow);
        memcpy(out->q + v * LANES, &bytes, sizeof bytes);
    }
    for (int run = 0; run < 2; run++) {
        out->sum[run] = 0;
        for (int i = 0; i < QUANT_BLOCK / 2; i++)
            out->sum[run] += out->q[run * QUANT_BLOCK / 2 + i];
    }
}

static void round_token(struct rounded *out, const float *in, int count) {
    for (int c = 0; c < count; c += QUANT_BLOCK)
        round_group(&out[c / QUANT_BLOCK], in + c);
}

// --- Rows ---

// Addresses of eight rows from `row` on. Past the last row wanted the last one stands in.
VEC_INLINE void find_rows(const unsigned char *rows[EIGHT], const struct matmul *job, int row) {
    size_t row_bytes = quant_row_bytes(job->weights->type, job->weights->cols);
    for (int i = 0; i < EIGHT; i++) {
        int r = row + i < job->row_to ? row + i : job->row_to - 1;
        rows[i] = (const unsigned char *)job->weights->data + (size_t)r * row_bytes;
    }
}

// Eight numbers of a token's output from row `row` on, as far as they are wanted.
VEC_INLINE floats8 load_out(const struct matmul *job, const float *out, int row) {
    float part[EIGHT] = {0};
    int count = job->row_to - row < EIGHT ? job->row_to - row : EIGHT;
    for (int i = 0; i < count; i++)
        part[i] = out[row + i];
    floats8 all;
    memcpy(&all, part, sizeof all);
    return all;
}

VEC_INLINE void store_out(const struct matmul *job, float *out, int row, floats8 sums) {
    if (job->row_to - row >= EIGHT) {
        memcpy(out + row, &sums, sizeof sums);
        return;
    }
    float part[EIGHT];
    memcpy(part, &sums, sizeof part);
    for (int i = 0; i < job->row_to - row; i++)
        out[row + i] = part[i];
}

// --- One token ---

// Asks for `bytes` from `at` on of the next eight rows, which lie one after the other: processors
// do not see that what is read from eight places at once is one stream.
VEC_INLINE void fetch_ahead(const unsigned char *next_rows, size_t at, size_t bytes) {
    enum { LINE_BYTES = 64 };
    for (size_t i = 0; i < bytes; i += LINE_BYTES)
        __builtin_prefetch(next_rows + at + i);
}

// Adds the products of the block at `place` of each row.
VEC_INLINE void add_block(enum gguf_tensor_type type, floats8 sums[EIGHTS_TOKENS][EIGHTS_SIDES],
                          const unsigned char *const rows[EIGHT], size_t place,
                          const struct rounded *token) {
    struct eight eights[LARGE_GROUPS];
    struct eights_job one = {.token = token, .zero = eight_zero(type)};
    if (type == GGUF_TENSOR_Q4_K) { // two groups at a time, of which all lines stay in registers
        load_k_scales(eights, rows, place);
        for (int g = 0; g < LARGE_GROUPS; g += 2) {
            struct eight pair[2] = {eights[g], eights[g + 1]};
            load_q4_k_pair(pair, rows, place, g);
            for (int i = 0; i < 2; i++, one.token++) {
                one.sides[0] = &pair[i];
                add_group(summed_like(type), 1, 1, sums, &one);
            }
        }
        return;
    }
    load_eights(type, eights, rows, place);
    for (int g = 0; g < groups_of_block(type); g++, one.token++) {
        one.sides[0] = &eights[g];
        add_group(summed_like(type), 1, 1, sums, &one);
    }
}

VEC_INLINE void matvec_rounded(const struct matmul *job, enum gguf_tensor_type type) {
    int groups = groups_of_block(type);
    size_t block_bytes = quant_row_bytes(type, groups * QUANT_BLOCK);
    size_t row_bytes = quant_row_bytes(type, job->weights->cols);
    int blocks = (int)job->weights->cols / (groups * QUANT_BLOCK);
    for (int r = job->row_from; r < job->row_to; r += EIGHT) {
        const unsigned char *rows[EIGHT];
        find_rows(rows, job, r);
        floats8 sums[EIGHTS_TOKENS][EIGHTS_SIDES];
        sums[0][0] = job->add ? load_out(job, job->out, r) : all8(0);
        for (int b = 0; b < blocks; b++) {
            fetch_ahead(rows[0] + EIGHT * row_bytes, (size_t)b * EIGHT * block_bytes,
                        EIGHT * block_bytes);
            add_block(type, sums, rows, (size_t)b * block_bytes, job->rounded + b * groups);
        }
        store_out(job, job->out, r, sums[0][0]);
    }
}

// --- Many tokens ---

// Rows `row` .. `row` + 15 of `groups` groups from `group` on, unpacked: [sides][groups].
VEC_INLINE void unpack_panel(struct eight *panel, const struct matmul *job,
                             enum gguf_tensor_type type, int row, int group, int groups) {
    int each = groups_of_block(type);
    size_t block_bytes = quant_row_bytes(type, each * QUANT_BLOCK);
    for (int side = 0; side < EIGHTS_SIDES; side++) {
        const unsigned char *rows[EIGHT];
        find_rows(rows, job, row + side * EIGHT);
        for (int g = 0; g < groups; g += each)
            load_eights(type, panel + side * groups + g, rows,
                        (size_t)((group + g) / each) * block_bytes);
    }
}

struct rounded_tile {
    const struct matmul *job;
    const struct eight *panel; // [sides][groups]
    int groups, group;         // of the panel; the first one's number in a row
    int row;
    int zero;
    bool add; // to what is in out
};

VEC_INLINE void pass_tokens(enum gguf_tensor_type type, int tokens, const struct rounded_tile *tile,
                            int first) {
    const struct matmul *job = tile->job;
    size_t stride = (size_t)job->weights->cols / QUANT_BLOCK;
    float *out = job->out + (size_t)first * job->out_stride;
    floats8 sums[EIGHTS_TOKENS][EIGHTS_SIDES];
    for (int t = 0; t < tokens; t++) {
        for (int i = 0; i < EIGHTS_SIDES; i++)
            sums[t][i] =
                tile->add ? load_out(job, out + (size_t)t * job->out_stride, tile->row + i * EIGHT)
                          : all8(0);
    }
    for (int g = 0; g < tile->groups; g++) {
        struct eights_job part = {
            .sides = {tile->panel + g, tile->panel + tile->groups + g},
            .token = job->rounded + (size_t)first * stride + tile->group + g,
            .stride = stride,
            .zero = tile->zero,
        };
        add_group(type, EIGHTS_SIDES, tokens, sums, &part);
    }
    for (int t = 0; t < tokens; t++) {
        for (int i = 0; i < EIGHTS_SIDES; i++)
            store_out(job, out + (size_t)t * job->out_stride, tile->row + i * EIGHT, sums[t][i]);
    }
}

VEC_INLINE void pass_all(enum gguf_tensor_type type, const struct rounded_tile *tile) {
    int tokens = tile->job->tokens, t = 0;
    for (; t + EIGHTS_TOKENS <= tokens; t += EIGHTS_TOKENS)
        pass_tokens(type, EIGHTS_TOKENS, tile, t);
    for (; t < tokens; t++)
        pass_tokens(type, 1, tile, t);
}

#if KERNELS_LANES > 4

static void pass_any(enum gguf_tensor_type type, const struct rounded_tile *tile) {
    switch (summed_like(type)) {
    case GGUF_TENSOR_Q4_0:
        pass_all(GGUF_TENSOR_Q4_0, tile);
        break;
    case GGUF_TENSOR_Q4_1:
        pass_all(GGUF_TENSOR_Q4_1, tile);
        break;
    case GGUF_TENSOR_Q5_0:
        pass_all(GGUF_TENSOR_Q5_0, tile);
        break;
    case GGUF_TENSOR_Q5_1:
        pass_all(GGUF_TENSOR_Q5_1, tile);
        break;
    case GGUF_TENSOR_Q2_K:
        pass_all(GGUF_TENSOR_Q2_K, tile);
        break;
    case GGUF_TENSOR_Q6_K:
        pass_all(GGUF_TENSOR_Q6_K, tile);
        break;
    default:
        pass_all(GGUF_TENSOR_Q8_0, tile);
        break;
    }
}

#else // where nobody is in a hurry but the compiler

static void pass_any(enum gguf_tensor_type type, const struct rounded_tile *tile) {
    for (int t = 0; t < tile->job->tokens; t++)
        pass_tokens(summed_like(type), 1, tile, t);
}

#endif

VEC_INLINE void matmul_rounded_of(const struct matmul *job, enum gguf_tensor_type type) {
    if (LANES > 4 && job->tokens == 1) { // a second copy of the formats, where it pays
        matvec_rounded(job, type);
        return;
    }
    int all = (int)job->weights->cols / QUANT_BLOCK;
    for (int g = 0; g < all; g += ROUNDED_GROUPS) {
        for (int r = job->row_from; r < job->row_to; r += ROUNDED_ROWS) {
            struct eight *panel = (void *)job->panel;
            int groups = all - g < ROUNDED_GROUPS ? all - g : ROUNDED_GROUPS;
            unpack_panel(panel, job, type, r, g, groups);
            pass_any(type, &(struct rounded_tile){.job = job,
                                                  .panel = panel,
                                                  .groups = groups,
                                                  .group = g,
                                                  .row = r,
                                                  .zero = eight_zero(type),
                                                  .add = job->add || g > 0});
        }
    }
}

#if KERNELS_LANES > 4

// One copy of the loops for each format, so that nothing in them asks for it.
static void matmul_rounded(const struct matmul *job) {
    switch (job->weights->type) {
    case GGUF_TENSOR_Q4_0:
        matmul_rounded_of(job, GGUF_TENSOR_Q4_0);
        break;
    case GGUF_TENSOR_Q4_1:
        matmul_rounded_of(job, GGUF_TENSOR_Q4_1);
        break;
    case GGUF_TENSOR_Q5_0:
        matmul_rounded_of(job, GGUF_TENSOR_Q5_0);
        break;
    case GGUF_TENSOR_Q5_1:
        matmul_rounded_of(job, GGUF_TENSOR_Q5_1);
        break;
    case GGUF_TENSOR_IQ4_NL:
        matmul_rounded_of(job, GGUF_TENSOR_IQ4_NL);
        break;
    case GGUF_TENSOR_MXFP4:
        matmul_rounded_of(job, GGUF_TENSOR_MXFP4);
        break;
    case GGUF_TENSOR_Q2_K:
        matmul_rounded_of(job, GGUF_TENSOR_Q2_K);
        break;
    case GGUF_TENSOR_Q3_K:
        matmul_rounded_of(job, GGUF_TENSOR_Q3_K);
        break;
    case GGUF_TENSOR_Q4_K:
        matmul_rounded_of(job, GGUF_TENSOR_Q4_K);
        break;
    case GGUF_TENSOR_Q5_K:
        matmul_rounded_of(job, GGUF_TENSOR_Q5_K);
        break;
    case GGUF_TENSOR_Q6_K:
        matmul_rounded_of(job, GGUF_TENSOR_Q6_K);
        break;
    case GGUF_TENSOR_IQ4_XS:
        matmul_rounded_of(job, GGUF_TENSOR_IQ4_XS);
        break;
    default:
        matmul_rounded_of(job, GGUF_TENSOR_Q8_0);
        break;
    }
}

#else

static void matmul_rounded(const struct matmul *job) {
    matmul_rounded_of(job, job->weights->type);
}

#endif
#endif
