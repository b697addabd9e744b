// The kernels, written once over vec.h and compiled for each instruction set (kernels_plain.c,
// kernels_avx2.c and so on, which set KERNELS_NAME, _ISA, _LANES and, where there is an
// instruction that adds products of bytes in fours, _VNNI).
//
// One token: a row of weights times the token, four rows at a time, so that each
// load of the token is used four times; the weights stream by once. Many tokens:
// a panel of weight rows is turned so that neighbouring lanes are neighbouring
// rows, then each number of a token is multiplied with a whole panel line; the
// products of a tile of tokens stay in registers over the panel's whole depth.
//
// The order of additions depends on the shapes alone, never on how the work was
// split (see kernels.h). Nothing here takes memory or waits.
#ifndef COMPUTE_CPU_KERNELS_BODY_H
#define COMPUTE_CPU_KERNELS_BODY_H

#include "compute/cpu/kernels_sets.h"

#include "compute/base/num.h"
#include "compute/cpu/eights.h"
#include "compute/cpu/kernels_make.h"
#include "compute/cpu/kernels_rounded.h"
#include "compute/cpu/vec.h"
#include "compute/gguf/quant.h"

#include <math.h>

enum {
    TILE_VECS = 2, // of weight rows
    TILE_ROWS = TILE_VECS * LANES,
    TILE_MOST = 8,                             // tokens that tile_some knows
    TILE_TOKENS = LANES == 16 ? TILE_MOST : 6, // the sums and a line fit the registers
    PANEL_DEPTH = 512,
    KEY_BLOCK = KERNELS_KEY_BLOCK,
};

_Static_assert(KERNELS_PANEL_FLOATS >= PANEL_DEPTH * TILE_ROWS, "a panel fits");
_Static_assert(KEY_BLOCK % TILE_ROWS == 0, "keys fill panels");
_Static_assert(PANEL_DEPTH % LANES == 0, "only the last panel has a rest");
_Static_assert(PANEL_DEPTH % QUANT_BLOCK == 0, "panels cut no block");

// --- Reading weights ---

VEC_INLINE bool has_blocks(enum gguf_tensor_type type) {
    return type != GGUF_TENSOR_F32 && type != GGUF_TENSOR_F16 && type != GGUF_TENSOR_BF16;
}

// LANES numbers from column `col` on, of a type without blocks.
VEC_INLINE vec load(enum gguf_tensor_type type, const unsigned char *row, int col) {
    if (type == GGUF_TENSOR_F16)
        return vec_load_half((const uint16_t *)(const void *)row + col);
    if (type == GGUF_TENSOR_BF16)
        return vec_load_bf16((const uint16_t *)(const void *)row + col);
    return vec_load((const float *)(const void *)row + col);
}

// The first `count` < LANES of them.
VEC_INLINE vec load_part(enum gguf_tensor_type type, const unsigned char *row, int col, int count) {
    const uint16_t *halves = (const uint16_t *)(const void *)row + col;
    if (type == GGUF_TENSOR_F16)
        return vec_load_half_part(halves, count);
    if (type == GGUF_TENSOR_BF16)
        return vec_load_bf16_part(halves, count);
    return vec_load_part((const float *)(const void *)row + col, count);
}

static void widen(float *out, const struct tensor *weights, int64_t row) {
    const unsigned char *from = row_at(weights, row);
    int cols = (int)weights->cols;
    int c = 0;
    if (has_blocks(weights->type)) { // one row a token, so its speed is of no matter
        quant_row_to_float(out, weights->type, from, (size_t)cols);
        return;
    }
    for (; c + LANES <= cols; c += LANES)
        vec_store(out + c, load(weights->type, from, c));
    if (c < cols)
        vec_store_part(out + c, load_part(weights->type, from, c, cols - c), cols - c);
}

// --- One token ---

// Four rows times one token. A chain of additions is as slow as its links, so
// each row has two.
VEC_INLINE void dot_four(float out[4], enum gguf_tensor_type type,
                         const unsigned char *const rows[4], const float *in, int cols) {
    vec even[4], odd[4];
    for (int i = 0; i < 4; i++)
        even[i] = odd[i] = vec_all(0);
    int c = 0;
    for (; c + 2 * LANES <= cols; c += 2 * LANES) {
        vec first = vec_load(in + c);
        vec second = vec_load(in + c + LANES);
        for (int i = 0; i < 4; i++) {
            even[i] = vec_fma(load(type, rows[i], c), first, even[i]);
            odd[i] = vec_fma(load(type, rows[i], c + LANES), second, odd[i]);
        }
    }
    for (; c + LANES <= cols; c += LANES) {
        vec first = vec_load(in + c);
        for (int i = 0; i < 4; i++)
            even[i] = vec_fma(load(type, rows[i], c), first, even[i]);
    }
    if (c < cols) {
        vec first = vec_load_part(in + c, cols - c);
        for (int i = 0; i < 4; i++)
            odd[i] = vec_fma(load_part(type, rows[i], c, cols - c), first, odd[i]);
    }
    for (int i = 0; i < 4; i++)
        even[i] += odd[i];
    vec_sum_four(out, even);
}

// Fewer than four rows are left: the last one stands in for those missing, so
// that every row is summed in the same order wherever a split falls.
VEC_INLINE void matvec(const struct matmul *job, enum gguf_tensor_type type) {
    const struct tensor *w = job->weights;
    size_t row_bytes = quant_row_bytes(type, w->cols);
    for (int r = job->row_from; r < job->row_to; r += 4) {
        int rows = job->row_to - r < 4 ? job->row_to - r : 4;
        const unsigned char *at[4];
        float sums[4];
        for (int i = 0; i < 4; i++)
            at[i] = (const unsigned char *)w->data +
                    (size_t)(r + (i < rows ? i : rows - 1)) * row_bytes;
        dot_four(sums, type, at, job->in, (int)w->cols);
        for (int i = 0; i < rows; i++)
            job->out[r + i] = job->add ? job->out[r + i] + sums[i] : sums[i];
    }
}

// One copy of the loops for each type, so that nothing in them asks for it.
static void matvec_any(const struct matmul *job) {
    if (job->weights->type == GGUF_TENSOR_F16)
        matvec(job, GGUF_TENSOR_F16);
    else if (job->weights->type == GGUF_TENSOR_BF16)
        matvec(job, GGUF_TENSOR_BF16);
    else
        matvec(job, GGUF_TENSOR_F32);
}

// --- Many tokens ---

// Left times panel: out[t][lane] (+)= sum over d of left[t][d] * panel[d][lane].
struct tile {
    float *out;
    size_t out_stride;
    const float *left;
    size_t left_stride;
    const float *panel; // line d at panel + d * panel_stride: [TILE_ROWS]
    size_t panel_stride;
    int depth;
    int lanes; // of the panel that are wanted, 1 .. TILE_ROWS
    bool add;
};

VEC_INLINE void store_line(float *out, const vec line[TILE_VECS], int lanes, bool add) {
    if (lanes == TILE_ROWS) {
        for (int v = 0; v < TILE_VECS; v++)
            vec_store(out + v * LANES, add ? vec_load(out + v * LANES) + line[v] : line[v]);
        return;
    }
    float part[TILE_ROWS];
    for (int v = 0; v < TILE_VECS; v++)
        vec_store(part + v * LANES, line[v]);
    for (int i = 0; i < lanes; i++)
        out[i] = add ? out[i] + part[i] : part[i];
}

// `tokens` is a constant where this is used, so the sums live in registers.
VEC_INLINE void tile_of(int tokens, const struct tile *tile) {
    vec sums[TILE_MOST][TILE_VECS];
    for (int t = 0; t < tokens; t++) {
        for (int v = 0; v < TILE_VECS; v++)
            sums[t][v] = vec_all(0);
    }
    const float *left = tile->left;
    size_t stride = tile->left_stride;
    for (int d = 0; d < tile->depth; d++) {
        const float *line = tile->panel + (size_t)d * tile->panel_stride;
        vec first = vec_load(line);
        vec second = vec_load(line + LANES);
        for (int t = 0; t < tokens; t++) {
            vec number = vec_all(left[(size_t)t * stride + (size_t)d]);
            sums[t][0] = vec_fma(number, first, sums[t][0]);
            sums[t][1] = vec_fma(number, second, sums[t][1]);
        }
    }
    for (int t = 0; t < tokens; t++)
        store_line(tile->out + (size_t)t * tile->out_stride, sums[t], tile->lanes, tile->add);
}

static void tile_some(int tokens, const struct tile *tile) {
    switch (tokens) {
    case 1:
        tile_of(1, tile);
        return;
    case 2:
        tile_of(2, tile);
        return;
    case 3:
        tile_of(3, tile);
        return;
    case 4:
        tile_of(4, tile);
        return;
    case 5:
        tile_of(5, tile);
        return;
    case 6:
        tile_of(6, tile);
        return;
    case 7:
        tile_of(7, tile);
        return;
    case 8:
        tile_of(8, tile);
        return;
    default: // more never comes from tile_all
        return;
    }
}

// Any number of tokens, in tiles of about equal size.
static void tile_all(int tokens, struct tile tile) {
    int tiles = (tokens + TILE_TOKENS - 1) / TILE_TOKENS;
    for (int i = 0; i < tiles; i++) {
        int from = tokens * i / tiles;
        int to = tokens * (i + 1) / tiles;
        struct tile part = tile;
        part.left += (size_t)from * tile.left_stride;
        part.out += (size_t)from * tile.out_stride;
        tile_some(to - from, &part);
    }
}

// Where a panel comes from: rows of numbers, turned so that rows become lanes.
struct panel_source {
    enum gguf_tensor_type type;
    const unsigned char *rows;
    size_t row_bytes;
    int row_count; // 1 .. TILE_ROWS; lanes beyond become zero
};

VEC_INLINE void fill_square(float *to, const struct panel_source *from, enum gguf_tensor_type type,
                            int first_row, int col, int cols) {
    vec square[LANES];
    for (int i = 0; i < LANES; i++) {
        const unsigned char *row = from->rows + (size_t)(first_row + i) * from->row_bytes;
        if (first_row + i >= from->row_count)
            square[i] = vec_all(0);
        else if (cols >= LANES)
            square[i] = load(type, row, col);
        else
            square[i] = load_part(type, row, col, cols);
    }
    vec_transpose(square);
    for (int i = 0; i < LANES && i < cols; i++)
        vec_store(to + (size_t)i * TILE_ROWS, square[i]);
}

VEC_INLINE void fill_panel_of(float *panel, const struct panel_source *from,
                              enum gguf_tensor_type type, int col_from, int col_to) {
    for (int c = col_from; c < col_to; c += LANES) {
        float *to = panel + (size_t)(c - col_from) * TILE_ROWS;
        for (int v = 0; v < TILE_VECS; v++)
            fill_square(to + v * LANES, from, type, v * LANES, c, col_to - c);
    }
}

// panel[c - col_from][i] = rows[i][c] for col_from <= c < col_to.
static void fill_panel(float *panel, const struct panel_source *from, int col_from, int col_to) {
    if (from->type == GGUF_TENSOR_F16)
        fill_panel_of(panel, from, GGUF_TENSOR_F16, col_from, col_to);
    else if (from->type == GGUF_TENSOR_BF16)
        fill_panel_of(panel, from, GGUF_TENSOR_BF16, col_from, col_to);
    else
        fill_panel_of(panel, from, GGUF_TENSOR_F32, col_from, col_to);
}

// Depth by depth, so that a slice of all tokens stays in the cache while the
// weights stream by; each weight is read and turned once.
static void matmul_tiled(const struct matmul *job) {
    const struct tensor *w = job->weights;
    int cols = (int)w->cols;
    for (int c = 0; c < cols; c += PANEL_DEPTH) {
        int depth = cols - c < PANEL_DEPTH ? cols - c : PANEL_DEPTH;
        for (int r = job->row_from; r < job->row_to; r += TILE_ROWS) {
            int rows = job->row_to - r < TILE_ROWS ? job->row_to - r : TILE_ROWS;
            struct panel_source source = {
                .type = w->type,
                .rows = row_at(w, r),
                .row_bytes = quant_row_bytes(w->type, cols),
                .row_count = rows,
            };
            fill_panel(job->panel, &source, c, c + depth);
            tile_all(job->tokens, (struct tile){
                                      .out = job->out + r,
                                      .out_stride = job->out_stride,
                                      .left = job->in + c,
                                      .left_stride = job->in_stride,
                                      .panel = job->panel,
                                      .panel_stride = TILE_ROWS,
                                      .depth = depth,
                                      .lanes = rows,
                                      .add = job->add || c > 0,
                                  });
        }
    }
}

// Turning weights into a panel of f32 costs as much as some three products of one token:
// so few tokens are quicker one by one, and the weights then come from the cache.
static void matmul(const struct matmul *job) {
    enum { FEW_TOKENS = 3 };
    if (has_blocks(job->weights->type)) {
        matmul_rounded(job);
        return;
    }
    if (job->tokens > FEW_TOKENS) {
        matmul_tiled(job);
        return;
    }
    struct matmul one = *job;
    one.tokens = 1;
    for (int t = 0; t < job->tokens; t++) {
        matvec_any(&one);
        one.out += job->out_stride;
        one.in += job->in_stride;
    }
}

// --- Norm and activation ---

static void rms_norm(float *out, const float *in, const float *weight, int count, float epsilon) {
    vec squares = vec_all(0);
    int i = 0;
    for (; i + LANES <= count; i += LANES) {
        vec v = vec_load(in + i);
        squares = vec_fma(v, v, squares);
    }
    vec rest = vec_load_part(in + i, count - i);
    float mean = vec_sum(vec_fma(rest, rest, squares)) / (float)count;
    vec scale = vec_all(1.0f / sqrtf(mean + epsilon));
    for (i = 0; i + LANES <= count; i += LANES)
        vec_store(out + i, vec_load(in + i) * scale * vec_load(weight + i));
    vec_store_part(out + i, rest * scale * vec_load_part(weight + i, count - i), count - i);
}

VEC_INLINE vec swish(vec gate, vec up) {
    return gate / (vec_all(1) + vec_exp(-gate)) * up;
}

static void swiglu(float *gate, const float *up, int count) {
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        vec_store(gate + i, swish(vec_load(gate + i), vec_load(up + i)));
    if (i < count) {
        vec rest = swish(vec_load_part(gate + i, count - i), vec_load_part(up + i, count - i));
        vec_store_part(gate + i, rest, count - i);
    }
}

VEC_INLINE vec gelu(vec x, vec up) {
    // x / 2 * (1 + tanh(y)) = x / (1 + e^-2y)
    const float twice_root = 1.5957691216057308f; // 2 sqrt(2 / pi)
    vec y = x * vec_all(twice_root) * vec_fma(x * x, vec_all(0.044715f), vec_all(1));
    return x / (vec_all(1) + vec_exp(-y)) * up;
}

static void geglu(float *gate, const float *up, int count) {
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        vec_store(gate + i, gelu(vec_load(gate + i), vec_load(up + i)));
    if (i < count) {
        vec rest = gelu(vec_load_part(gate + i, count - i), vec_load_part(up + i, count - i));
        vec_store_part(gate + i, rest, count - i);
    }
}

VEC_INLINE vec capped(vec x, float cap) {
    vec e = vec_exp(x * vec_all(2 / cap));
    return vec_all(cap) * (vec_all(1) - vec_all(2) / (vec_all(1) + e));
}

static void soft_cap(float *values, int count, float cap) {
    int i = 0;
    for (; i + LANES <= count; i += LANES)
        vec_store(values + i, capped(vec_load(values + i), cap));
    if (i < count)
        vec_store_part(values + i, capped(vec_load_part(values + i, count - i), cap), count - i);
}

// --- Attention ---

static float largest(const float *values, int count) {
    float most = -INFINITY;
    int i = 0;
    if (count >= LANES) {
        vec lanes = vec_load(values);
        for (i = LANES; i + LANES <= count; i += LANES)
            lanes = vec_max(lanes, vec_load(values + i));
        most = vec_largest(lanes);
    }
    for (; i < count; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

// values = e^(values * scale - shift), returns their sum. The lanes past the last
// value take part with a number so small that it adds nothing.
static float exponentials(float *values, int count, float scale, float shift) {
    vec sums = vec_all(0);
    int i = 0;
    for (; i + LANES <= count; i += LANES) {
        vec e = vec_exp(vec_fma(vec_load(values + i), vec_all(scale), vec_all(-shift)));
        vec_store(values + i, e);
        sums += e;
    }
    float sum = vec_sum(sums);
    if (i < count) {
        vec part = vec_load_part(values + i, count - i);
        vec_store_part(values + i, vec_exp(vec_fma(part, vec_all(scale), vec_all(-shift))),
                       count - i);
        for (; i < count; i++)
            sum += values[i];
    }
    return sum;
}

// Scores that are capped are scaled before, others in the exponent.
static float rest_scale(const struct attention *job) {
    return job->cap > 0 ? 1 : job->scale;
}

static void cap_scores(const struct attention *job, float *scores, int count) {
    if (job->cap <= 0)
        return;
    for (int i = 0; i < count; i++)
        scores[i] *= job->scale;
    soft_cap(scores, count, job->cap);
}

static int first_key(const struct attention *job, int position) {
    return position < job->window ? 0 : position - job->window + 1;
}

// A block of keys after the other: what has been mixed so far is scaled down whenever a larger
// score turns up (online softmax, Milakov and Gimelshein 2018), so scratch does not grow with
// the number of keys. All numbers of a token are added up in the same order with one token as
// with many, so that the two give the same bits.
struct attend_scratch {
    float *value_panels; // [panels of head_dim][KEY_BLOCK][TILE_ROWS]
    float *scores;       // [KERNELS_ATTEND_TOKENS][KEY_BLOCK]
    float *most, *sum;   // [heads][KERNELS_ATTEND_TOKENS]
};

static int panels_of(int columns) {
    return (columns + TILE_ROWS - 1) / TILE_ROWS;
}

static size_t attend_floats(int heads, int head_dim) {
    return (size_t)KEY_BLOCK * (size_t)panels_of(head_dim) * TILE_ROWS +
           (size_t)KERNELS_ATTEND_TOKENS * KEY_BLOCK + 2 * (size_t)heads * KERNELS_ATTEND_TOKENS;
}

static struct attend_scratch cut_scratch(const struct attention *job) {
    struct attend_scratch s;
    s.value_panels = job->scratch;
    s.scores = s.value_panels + (size_t)KEY_BLOCK * (size_t)panels_of(job->head_dim) * TILE_ROWS;
    s.most = s.scores + (size_t)KERNELS_ATTEND_TOKENS * KEY_BLOCK;
    s.sum = s.most + (size_t)job->heads * KERNELS_ATTEND_TOKENS;
    return s;
}

// The block that starts with key `first`, of keys or of values.
static const float *block_at(const struct attention *job, const float *rows, int first) {
    return rows + (size_t)(first % job->rows) * (size_t)job->head_dim;
}

// The values of a block cut into panels.
static void load_values(const struct attend_scratch *s, const struct attention *job, int first,
                        int keys) {
    const float *values = block_at(job, job->values, first);
    for (int p = 0; p < panels_of(job->head_dim); p++) {
        int left = job->head_dim - p * TILE_ROWS;
        size_t columns = (size_t)(left < TILE_ROWS ? left : TILE_ROWS);
        for (int k = 0; k < keys; k++) {
            float *to = s->value_panels + (size_t)(p * KEY_BLOCK + k) * TILE_ROWS;
            memset(to, 0, TILE_ROWS * sizeof(float));
            memcpy(to, values + k * job->head_dim + p * TILE_ROWS, columns * sizeof(float));
        }
    }
}

// One token and head between two blocks.
struct standing {
    float *scores;     // of this block's keys: [KEY_BLOCK]
    float *out;        // mixed so far: [head_dim]
    float *most, *sum; // largest score so far, and what the shares so far add up to
};

// Turns the scores into shares and brings what was mixed before to the same
// measure. Of the block's `keys` the token sees those from `from` to before `to`.
static void take_block(const struct standing *s, const struct attention *job, int from, int to,
                       int keys) {
    float scale = rest_scale(job);
    int count = to - from;
    cap_scores(job, s->scores + from, count);
    float seen = count > 0 ? scale * largest(s->scores + from, count) : -INFINITY;
    float now = seen > *s->most ? seen : *s->most;
    float shrink = *s->sum > 0 ? expf(*s->most - now) : 0;
    if (count > 0)
        *s->sum = *s->sum * shrink + exponentials(s->scores + from, count, scale, now);
    else
        shrink = 1;
    *s->most = now;
    for (int k = 0; k < from; k++)
        s->scores[k] = 0;
    for (int k = to; k < keys; k++)
        s->scores[k] = 0;
    for (int c = 0; c < job->head_dim; c++)
        s->out[c] *= shrink;
}

// One head, one block of keys, for the tokens behind its first key. Those that see none of it,
// since their window is past it, take part with shares of 0.
static void attend_block(const struct attend_scratch *s, const struct attention *job, int head,
                         int first, int keys) {
    size_t place = (size_t)head * (size_t)job->head_dim;
    int blind = first - job->first_position; // tokens before the block's first key
    int from = blind > 0 ? blind : 0;
    struct tile tile = {
        .out = s->scores,
        .out_stride = KEY_BLOCK,
        .left = job->queries + (size_t)from * job->query_stride + place,
        .left_stride = job->query_stride,
        .panel_stride = KEY_BLOCK,
        .depth = job->head_dim,
        .lanes = TILE_ROWS,
    };
    for (int k = 0; k < keys; k += TILE_ROWS) {
        tile.panel = block_at(job, job->keys, first) + k;
        tile.out = s->scores + k;
        tile_all(job->tokens - from, tile);
    }
    float *out = job->out + (size_t)from * job->out_stride + place;
    for (int t = from; t < job->tokens; t++) {
        int position = job->first_position + t;
        int sees_from = first_key(job, position) - first;
        int sees_to = position + 1 - first;
        int at = head * KERNELS_ATTEND_TOKENS + t;
        struct standing standing = {
            .scores = s->scores + (size_t)(t - from) * KEY_BLOCK,
            .out = out + (size_t)(t - from) * job->out_stride,
            .most = &s->most[at],
            .sum = &s->sum[at],
        };
        take_block(&standing, job, clamp_int(sees_from, 0, keys), clamp_int(sees_to, 0, keys),
                   keys);
    }
    for (int p = 0; p < panels_of(job->head_dim); p++) {
        int left = job->head_dim - p * TILE_ROWS;
        tile_all(job->tokens - from,
                 (struct tile){
                     .out = out + p * TILE_ROWS,
                     .out_stride = job->out_stride,
                     .left = s->scores,
                     .left_stride = KEY_BLOCK,
                     .panel = s->value_panels + (size_t)p * KEY_BLOCK * TILE_ROWS,
                     .panel_stride = TILE_ROWS,
                     .depth = keys,
                     .lanes = left < TILE_ROWS ? left : TILE_ROWS,
                     .add = true,
                 });
    }
}

// The same for one token: its scores with all keys of the block at once.
static void score_block(float *scores, const float *query, const float *keys, int head_dim) {
    enum { VECS = KEY_BLOCK / LANES };
    vec sums[VECS];
    for (int v = 0; v < VECS; v++)
        sums[v] = vec_all(0);
    for (int d = 0; d < head_dim; d++) {
        vec number = vec_all(query[d]);
        for (int v = 0; v < VECS; v++)
            sums[v] = vec_fma(number, vec_load(keys + d * KEY_BLOCK + v * LANES), sums[v]);
    }
    memcpy(scores, sums, sizeof sums);
}

// out += the mix of `vecs` vectors of columns of the values.
VEC_INLINE void mix_columns(float *out, const float *shares, const float *values, int keys,
                            int head_dim, int vecs) {
    vec sums[8];
    for (int v = 0; v < vecs; v++)
        sums[v] = vec_all(0);
    for (int k = 0; k < keys; k++) {
        vec share = vec_all(shares[k]);
        for (int v = 0; v < vecs; v++)
            sums[v] = vec_fma(share, vec_load(values + k * head_dim + v * LANES), sums[v]);
    }
    for (int v = 0; v < vecs; v++)
        vec_store(out + v * LANES, vec_load(out + v * LANES) + sums[v]);
}

static void mix_block(float *out, const float *shares, const float *values, int keys,
                      int head_dim) {
    int c = 0;
    for (; c + 8 * LANES <= head_dim; c += 8 * LANES)
        mix_columns(out + c, shares, values + c, keys, head_dim, 8);
    for (; c + 4 * LANES <= head_dim; c += 4 * LANES)
        mix_columns(out + c, shares, values + c, keys, head_dim, 4);
    for (; c + LANES <= head_dim; c += LANES)
        mix_columns(out + c, shares, values + c, keys, head_dim, 1);
    if (c == head_dim)
        return;
    vec sum = vec_all(0);
    for (int k = 0; k < keys; k++)
        sum = vec_fma(vec_all(shares[k]), vec_load_part(values + k * head_dim + c, head_dim - c),
                      sum);
    vec_store_part(out + c, vec_load_part(out + c, head_dim - c) + sum, head_dim - c);
}

static void attend_one(const struct attention *job) {
    int position = job->first_position;
    int from = first_key(job, position);
    for (int h = 0; h < job->heads; h++) {
        float most = -INFINITY, sum = 0;
        float *out = job->out + (size_t)h * (size_t)job->head_dim;
        struct standing standing = {job->scratch, out, &most, &sum};
        memset(out, 0, (size_t)job->head_dim * sizeof(float));
        for (int first = from / KEY_BLOCK * KEY_BLOCK; first <= position; first += KEY_BLOCK) {
            int keys = position + 1 - first < KEY_BLOCK ? position + 1 - first : KEY_BLOCK;
            score_block(standing.scores, job->queries + (size_t)h * (size_t)job->head_dim,
                        block_at(job, job->keys, first), job->head_dim);
            take_block(&standing, job, clamp_int(from - first, 0, keys), keys, keys);
            mix_block(out, standing.scores, block_at(job, job->values, first), keys, job->head_dim);
        }
        for (int c = 0; c < job->head_dim; c++)
            out[c] /= sum;
    }
}

static void attend_many(const struct attention *job) {
    struct attend_scratch s = cut_scratch(job);
    size_t width = (size_t)job->heads * (size_t)job->head_dim;
    for (int t = 0; t < job->tokens; t++)
        memset(job->out + (size_t)t * job->out_stride, 0, width * sizeof(float));
    for (int i = 0; i < job->heads * KERNELS_ATTEND_TOKENS; i++) {
        s.most[i] = -INFINITY;
        s.sum[i] = 0;
    }
    int positions = job->first_position + job->tokens;
    int first = first_key(job, job->first_position) / KEY_BLOCK * KEY_BLOCK;
    for (int k = first; k < positions; k += KEY_BLOCK) {
        int keys = positions - k < KEY_BLOCK ? positions - k : KEY_BLOCK;
        load_values(&s, job, k, keys);
        for (int h = 0; h < job->heads; h++)
            attend_block(&s, job, h, k, keys);
    }
    for (int t = 0; t < job->tokens; t++) {
        for (size_t c = 0; c < width; c++) {
            size_t head = c / (size_t)job->head_dim;
            job->out[(size_t)t * job->out_stride + c] /=
                s.sum[head * KERNELS_ATTEND_TOKENS + (size_t)t];
        }
    }
}

static void attend(const struct attention *job) {
    if (job->tokens == 1)
        attend_one(job);
    else
        attend_many(job);
}

// --- Reading, for the measurement of the memory ---

static float read_all(const float *from, size_t count) {
    enum { CHAINS = 8 };
    vec sums[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        sums[i] = vec_all(0);
    for (size_t at = 0; at + CHAINS * LANES <= count; at += CHAINS * LANES) {
        for (int i = 0; i < CHAINS; i++)
            sums[i] += vec_load(from + at + (size_t)(i * LANES));
    }
    for (int i = 1; i < CHAINS; i++)
        sums[0] += sums[i];
    return vec_sum(sums[0]);
}

const struct kernels KERNELS_NAME = {
    .isa = KERNELS_ISA,
    .panel_rows = TILE_ROWS,
    .widen = widen,
    .rms_norm = rms_norm,
    .round = round_token,
    .matmul = matmul,
    .swiglu = swiglu,
    .geglu = geglu,
    .soft_cap = soft_cap,
    .attend = attend,
    .attend_floats = attend_floats,
    .random_row = random_row,
    .read_all = read_all,
};

#endif
