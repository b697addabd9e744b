// A pass of the CPU backend. All members of a team go through it together, each doing
// its own rows of every matrix and its own heads, with a barrier wherever one needs what
// another made. A pass computes layer by layer over all its tokens, as the picture shows
// it; inside a layer it computes blocks of tokens, so that scratch is small and stays in
// the cache. A block of one token (every decode step) takes the same path; the kernels
// choose. Nothing is
// allocated and no lock is taken in a pass.
#include "compute/cpu/state.h"

#include "compute/backend/check.h"
#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/gguf/quant.h"

#include <math.h>
#include <string.h>

// Neighbouring tokens of the pass, computed together in a layer.
struct block {
    int first; // in the pass
    int tokens;
};

struct span state_share(const struct backend_state *s, int member, int count, int unit) {
    int64_t units = (count + unit - 1) / unit;
    int64_t from = units * member / threads_working(s->threads) * unit;
    int64_t to = units * (member + 1) / threads_working(s->threads) * unit;
    return (struct span){(int)from, to < count ? (int)to : count};
}

static struct span share_rows(const struct backend_state *s, int member, int rows, int tokens) {
    return state_share(s, member, rows, tokens > 1 ? s->kernels->panel_rows : ROW_UNIT);
}

// Rows `span` of several matrices whose outputs lie side by side in job.out.
static void project(const struct backend_state *s, struct matmul job,
                    const struct tensor *const matrices[], int count, struct span span) {
    int first = 0;
    for (int i = 0; i < count; i++) {
        int rows = (int)matrices[i]->rows;
        struct matmul part = job;
        part.weights = matrices[i];
        part.out = job.out + first;
        part.row_from = span.from > first ? span.from - first : 0;
        part.row_to = span.to - first < rows ? span.to - first : rows;
        if (part.row_from < part.row_to)
            s->kernels->matmul(&part);
        first += rows;
    }
}

static bool has_blocks(const struct tensor *matrix) {
    return quant_format(matrix->type)->block > 1;
}

// What weights in blocks take for the block's `in`: [tokens][cols]. All members have come here
// by a barrier, and nobody waits for the one token that each rounds for itself.
static const struct rounded *round_block(struct backend_state *s, int member, const float *in,
                                         int tokens, int cols) {
    struct rounded *out = tokens == 1 ? s->own[member].rounded : s->rounded;
    struct span mine = tokens == 1 ? (struct span){0, 1} : state_share(s, member, tokens, 1);
    for (int t = mine.from; t < mine.to; t++)
        s->kernels->round(out + (size_t)t * (size_t)(cols / QUANT_BLOCK),
                          in + (size_t)t * (size_t)cols, cols);
    if (tokens > 1)
        threads_barrier(s->threads);
    return out;
}

// --- Steps of a layer; each is called by all members ---

// The block's part of the stream, normalised: [tokens][dim]. One token is so
// little work that every member does it for itself and nobody waits.
static const float *normalise(struct backend_state *s, int member, struct block block,
                              const struct tensor *weight) {
    const struct model_shape *shape = &s->model->shape;
    size_t dim = (size_t)shape->dim;
    const float *in = s->stream + (size_t)block.first * dim;
    if (block.tokens == 1) {
        s->kernels->rms_norm(s->own[member].normed, in, weight->data, shape->dim,
                             shape->norm_epsilon);
        return s->own[member].normed;
    }
    struct span mine = state_share(s, member, block.tokens, 1);
    for (int t = mine.from; t < mine.to; t++)
        s->kernels->rms_norm(s->normed + (size_t)t * dim, in + (size_t)t * dim, weight->data,
                             shape->dim, shape->norm_epsilon);
    threads_barrier(s->threads);
    return s->normed;
}

int state_rows(const struct backend_state *s, int layer) {
    return s->model->layers[layer].has_window ? s->window_rows : s->rows;
}

// The cache of one head in a layer: [rows][head_dim].
static float *head_cache(const struct backend_state *s, float *cache, int layer, int kv_head) {
    size_t rows = (size_t)state_rows(s, layer);
    return cache + s->cache_at[layer] + (size_t)kv_head * rows * (size_t)s->model->shape.head_dim;
}

// Numbers `from` .. `from` + count - 1 of a head's key go to their places in the cache.
static void keep_key(const struct backend_state *s, int layer, int kv_head, int position,
                     const float *key, int from, int count) {
    int head_dim = s->model->shape.head_dim, row = position % state_rows(s, layer);
    float *to = head_cache(s, s->keys, layer, kv_head) +
                (size_t)(row / KERNELS_KEY_BLOCK) * KERNELS_KEY_BLOCK * (size_t)head_dim +
                row % KERNELS_KEY_BLOCK;
    for (int i = 0; i < count; i++)
        to[(size_t)(from + i) * KERNELS_KEY_BLOCK] = key[i];
}

static void keep_value(const struct backend_state *s, int layer, int kv_head, int position,
                       const float *value, int from, int count) {
    size_t row = (size_t)(position % state_rows(s, layer));
    float *to = head_cache(s, s->values, layer, kv_head);
    memcpy(to + row * (size_t)s->model->shape.head_dim + from, value,
           (size_t)count * sizeof(float));
}

static const float *angles_at(const struct backend_state *s, int layer, int position) {
    bool has_window = s->model->layers[layer].has_window;
    const float *angles = has_window && s->rope_window ? s->rope_window : s->rope;
    return angles + (size_t)position * (size_t)s->rotary;
}

// Turns neighbouring pairs by their position's angles (Su et al. 2021). row_from and row_to
// are even.
static void turn(const struct backend_state *s, float *token, struct span rows, int layer,
                 int position) {
    int head_dim = s->model->shape.head_dim;
    const float *angles = angles_at(s, layer, position);
    for (int r = rows.from; r < rows.to; r += 2) {
        int place = r % head_dim;
        if (place >= s->rotary)
            continue;
        float cosine = angles[place], sine = angles[place + 1];
        float first = token[r], second = token[r + 1];
        token[r] = first * cosine - second * sine;
        token[r + 1] = first * sine + second * cosine;
    }
}

// The same for one head whose pairs lie half of what is turned apart.
static void turn_halves(const struct backend_state *s, float *head, int layer, int position) {
    const float *angles = angles_at(s, layer, position);
    int half = s->rotary / 2;
    for (int i = 0; i < half; i++) {
        float cosine = angles[2 * i], sine = angles[2 * i + 1];
        float first = head[i], second = head[half + i];
        head[i] = first * cosine - second * sine;
        head[half + i] = first * sine + second * cosine;
    }
}

typedef void keep_fn(const struct backend_state *s, int layer, int kv_head, int position,
                     const float *numbers, int from, int count);

// Keeps rows `rows` of a token's keys or values.
static void keep(const struct backend_state *s, keep_fn *keep_part, int layer, int position,
                 const float *token, struct span rows) {
    int head_dim = s->model->shape.head_dim;
    for (int r = rows.from; r < rows.to;) {
        int from = r % head_dim;
        int count = head_dim - from < rows.to - r ? head_dim - from : rows.to - r;
        keep_part(s, layer, r / head_dim, position, token + r, from, count);
        r += count;
    }
}

static struct span within(struct span span, int from, int to) {
    return (struct span){span.from > from ? span.from - from : 0,
                         span.to < to ? span.to - from : to - from};
}

static void add_biases(const struct backend_state *s, float *token, struct span mine,
                       const struct model_layer *weights) {
    const struct {
        const struct tensor *bias;
        int from, to;
    } parts[] = {
        {&weights->q_bias, 0, s->q_rows},
        {&weights->k_bias, s->q_rows, s->q_rows + s->kv_rows},
        {&weights->v_bias, s->q_rows + s->kv_rows, s->q_rows + 2 * s->kv_rows},
    };
    for (int i = 0; i < 3; i++) {
        const float *bias = parts[i].bias->data;
        struct span rows = within(mine, parts[i].from, parts[i].to);
        for (int r = rows.from; bias && r < rows.to; r++)
            token[parts[i].from + r] += bias[r];
    }
}

// Norms and turns of heads one by one: where a norm or a pair spans a head, whoever multiplied
// its rows does not have all of it. Its heads are queries, then keys, then values.
static void finish_heads(struct backend_state *s, int member, int layer, struct block block) {
    const struct model_shape *shape = &s->model->shape;
    const struct model_layer *weights = &s->model->layers[layer];
    int heads = shape->heads + 2 * shape->kv_heads;
    int row_count = s->q_rows + 2 * s->kv_rows;
    struct span mine = state_share(s, member, block.tokens * heads, 1);
    for (int i = mine.from; i < mine.to; i++) {
        int head = i % heads, position = s->pass->first_position + block.first + i / heads;
        float *at = s->qkv + (size_t)(i / heads) * (size_t)row_count +
                    (size_t)head * (size_t)shape->head_dim;
        bool is_query = head < shape->heads;
        bool is_value = head >= shape->heads + shape->kv_heads;
        const struct tensor *norm = is_query ? &weights->q_norm : &weights->k_norm;
        if (!is_value && norm->data)
            s->kernels->rms_norm(at, at, norm->data, shape->head_dim, shape->norm_epsilon);
        if (!is_value && s->model->math.pairs == MODEL_PAIRS_HALVES)
            turn_halves(s, at, layer, position);
        else if (!is_value)
            turn(s, at, (struct span){0, shape->head_dim}, layer, position);
        if (is_query)
            continue;
        int kv_head = is_value ? head - shape->heads - shape->kv_heads : head - shape->heads;
        (is_value ? keep_value : keep_key)(s, layer, kv_head, position, at, 0, shape->head_dim);
    }
}

static bool needs_whole_heads(const struct backend_state *s, const struct model_layer *weights) {
    return s->model->math.pairs == MODEL_PAIRS_HALVES || weights->q_norm.data ||
           weights->k_norm.data;
}

// Queries, keys and values of the block; keys and values go into the cache.
static void make_qkv(struct backend_state *s, int member, int layer, struct block block) {
    const struct model_layer *weights = &s->model->layers[layer];
    int rows = s->q_rows + 2 * s->kv_rows;
    struct span mine = share_rows(s, member, rows, block.tokens);
    const float *in = normalise(s, member, block, &weights->attn_norm);
    struct matmul job = {.out = s->qkv,
                         .out_stride = (size_t)rows,
                         .in = in,
                         .in_stride = (size_t)s->model->shape.dim,
                         .tokens = block.tokens,
                         .panel = s->own[member].panel};
    if (has_blocks(&weights->q) || has_blocks(&weights->k) || has_blocks(&weights->v))
        job.rounded = round_block(s, member, in, block.tokens, s->model->shape.dim);
    project(s, job, (const struct tensor *const[]){&weights->q, &weights->k, &weights->v}, 3, mine);

    bool whole_heads = needs_whole_heads(s, weights);
    int turned = s->q_rows + s->kv_rows; // values are not turned
    for (int t = 0; t < block.tokens; t++) {
        int position = s->pass->first_position + block.first + t;
        float *token = s->qkv + (size_t)t * (size_t)rows;
        add_biases(s, token, mine, weights);
        if (whole_heads)
            continue;
        turn(s, token, (struct span){mine.from, mine.to < turned ? mine.to : turned}, layer,
             position);
        keep(s, keep_key, layer, position, token + s->q_rows, within(mine, s->q_rows, turned));
        keep(s, keep_value, layer, position, token + turned, within(mine, turned, rows));
    }
    if (whole_heads) {
        threads_barrier(s->threads);
        finish_heads(s, member, layer, block);
    }
}

// With many tokens, heads that share keys are computed together, since turning the keys is
// half the work; with one token, each head alone.
static void mix(struct backend_state *s, int member, int layer, struct block block) {
    const struct model_shape *shape = &s->model->shape;
    int group = shape->heads / shape->kv_heads;
    int heads_each = block.tokens > 1 ? group : 1;
    int parts = shape->heads / heads_each;
    int tiles = (block.tokens + KERNELS_ATTEND_TOKENS - 1) / KERNELS_ATTEND_TOKENS;
    size_t qkv_stride = (size_t)(s->q_rows + 2 * s->kv_rows);
    bool has_window = s->model->layers[layer].has_window;
    for (int task = member; task < parts * tiles; task += threads_working(s->threads)) {
        int head = task % parts * heads_each;
        int token = task / parts * KERNELS_ATTEND_TOKENS;
        int left = block.tokens - token;
        size_t place = (size_t)head * (size_t)shape->head_dim;
        s->kernels->attend(&(struct attention){
            .out = s->mixed + (size_t)token * (size_t)s->q_rows + place,
            .out_stride = (size_t)s->q_rows,
            .queries = s->qkv + (size_t)token * qkv_stride + place,
            .query_stride = qkv_stride,
            .keys = head_cache(s, s->keys, layer, head / group),
            .values = head_cache(s, s->values, layer, head / group),
            .rows = state_rows(s, layer),
            .tokens = left < KERNELS_ATTEND_TOKENS ? left : KERNELS_ATTEND_TOKENS,
            .first_position = s->pass->first_position + block.first + token,
            .window = has_window ? s->model->math.window : s->rows + 1,
            .heads = heads_each,
            .head_dim = shape->head_dim,
            .scale = s->scale,
            .cap = s->model->math.score_cap,
            .scratch = s->own[member].attend,
        });
    }
}

// Adds what lies in s->added, normalised, to the block's part of the stream.
static void add_normalised(struct backend_state *s, int member, struct block block,
                           const struct tensor *norm) {
    const struct model_shape *shape = &s->model->shape;
    size_t dim = (size_t)shape->dim;
    threads_barrier(s->threads);
    struct span mine = state_share(s, member, block.tokens, 1);
    for (int t = mine.from; t < mine.to; t++) {
        float *added = s->added + (size_t)t * dim;
        float *stream = s->stream + (size_t)(block.first + t) * dim;
        s->kernels->rms_norm(added, added, norm->data, shape->dim, shape->norm_epsilon);
        for (size_t c = 0; c < dim; c++)
            stream[c] += added[c];
    }
}

// Adds weights * in to the block's part of the stream, normalised before where `norm` has data.
static void add_to_stream(struct backend_state *s, int member, struct block block,
                          const struct tensor *weights, const struct tensor *norm,
                          const float *in) {
    int dim = s->model->shape.dim, cols = (int)weights->cols;
    struct span mine = share_rows(s, member, dim, block.tokens);
    const struct rounded *rounded =
        has_blocks(weights) ? round_block(s, member, in, block.tokens, cols) : NULL;
    s->kernels->matmul(&(struct matmul){
        .out = norm->data ? s->added : s->stream + (size_t)block.first * (size_t)dim,
        .out_stride = (size_t)dim,
        .in = in,
        .in_stride = (size_t)cols,
        .rounded = rounded,
        .weights = weights,
        .tokens = block.tokens,
        .row_from = mine.from,
        .row_to = mine.to,
        .add = !norm->data,
        .panel = s->own[member].panel,
    });
    if (norm->data)
        add_normalised(s, member, block, norm);
}

// The feed-forward network's inner values: swish(gate) * up, or gelu(gate) * up.
static void make_inner(struct backend_state *s, int member, int layer, struct block block) {
    const struct model_layer *weights = &s->model->layers[layer];
    int ff_dim = s->model->shape.ff_dim;
    struct span mine = share_rows(s, member, ff_dim, block.tokens);
    struct matmul job = {
        .out = s->gate,
        .out_stride = (size_t)ff_dim,
        .in = normalise(s, member, block, &weights->ffn_norm),
        .in_stride = (size_t)s->model->shape.dim,
        .weights = &weights->gate,
        .tokens = block.tokens,
        .row_from = mine.from,
        .row_to = mine.to,
        .panel = s->own[member].panel,
    };
    bool is_gelu = s->model->math.gate == MODEL_GATE_GELU;
    if (has_blocks(&weights->gate) || has_blocks(&weights->up))
        job.rounded = round_block(s, member, job.in, block.tokens, s->model->shape.dim);
    if (mine.from >= mine.to)
        return;
    s->kernels->matmul(&job);
    job.out = s->up;
    job.weights = &weights->up;
    s->kernels->matmul(&job);
    for (int t = 0; t < block.tokens; t++) {
        size_t at = (size_t)t * (size_t)ff_dim + (size_t)mine.from;
        (is_gelu ? s->kernels->geglu : s->kernels->swiglu)(s->gate + at, s->up + at,
                                                           mine.to - mine.from);
    }
}

static void do_layer(struct backend_state *s, int member, int layer, struct block block) {
    const struct model_layer *weights = &s->model->layers[layer];
    make_qkv(s, member, layer, block);
    threads_barrier(s->threads);
    mix(s, member, layer, block);
    threads_barrier(s->threads);
    add_to_stream(s, member, block, &weights->attn_out, &weights->attn_post_norm, s->mixed);
    threads_barrier(s->threads);
    make_inner(s, member, layer, block);
    threads_barrier(s->threads);
    add_to_stream(s, member, block, &weights->down, &weights->ffn_post_norm, s->gate);
    threads_barrier(s->threads);
}

// --- A pass ---

static void embed(struct backend_state *s, int member) {
    size_t dim = (size_t)s->model->shape.dim;
    struct span mine = state_share(s, member, s->pass->count, 1);
    float scale = s->model->math.embedding_scale;
    for (int t = mine.from; t < mine.to; t++) {
        float *stream = s->stream + (size_t)t * dim;
        s->kernels->widen(stream, &s->model->token_embd, s->pass->tokens[t]);
        for (size_t c = 0; scale != 0 && c < dim; c++)
            stream[c] *= scale;
    }
    threads_barrier(s->threads);
}

static float *logits_of(const struct backend_state *s) {
    return s->pass->logits ? s->pass->logits : s->logits;
}

// The row of the largest logit, the lowest of equals; -1: no number is above -infinity.
static int32_t find_best(const float *logits, struct span rows) {
    int32_t best = -1;
    float largest = -INFINITY;
    for (int r = rows.from; r < rows.to; r++) {
        if (logits[r] > largest) { // false for NaN
            best = r;
            largest = logits[r];
        }
    }
    return best;
}

static void make_logits(struct backend_state *s, int member) {
    struct block last = {s->pass->count - 1, 1};
    struct span mine = share_rows(s, member, s->model->shape.vocab, 1);
    const float *in = normalise(s, member, last, &s->model->output_norm);
    const struct tensor *weights = &s->model->output;
    s->kernels->matmul(&(struct matmul){
        .out = logits_of(s),
        .in = in,
        .rounded = has_blocks(weights) ? round_block(s, member, in, 1, (int)weights->cols) : NULL,
        .weights = weights,
        .tokens = 1,
        .row_from = mine.from,
        .row_to = mine.to,
        .panel = s->own[member].panel,
    });
    float cap = s->model->math.logit_cap;
    if (cap > 0 && mine.from < mine.to)
        s->kernels->soft_cap(logits_of(s) + mine.from, mine.to - mine.from, cap);
    if (s->pass->greedy_id)
        s->own[member].best = find_best(logits_of(s), mine);
}

// The best of what each member found: their rows ascend, so that the first of equals
// is the lowest.
static int32_t greedy_id(const struct backend_state *s) {
    const float *logits = logits_of(s);
    int32_t best = -1;
    for (int i = 0; i < threads_working(s->threads); i++) {
        int32_t other = s->own[i].best;
        if (other >= 0 && (best < 0 || logits[other] > logits[best]))
            best = other;
    }
    return best >= 0 && isfinite(logits[best]) ? best : -1;
}

static void mark(const struct backend_state *s, int member, int stage) {
    if (member == 0 && s->pass->on_mark &&
        backend_marks_has(s->marks, stage, s->model->shape.layers))
        s->pass->on_mark(s->pass->context, stage, stopwatch_now_ns());
}

// All members agree, whenever the answer changes.
static bool is_told_to_stop(struct backend_state *s, int member) {
    if (!s->pass->is_stopped || s->pass->count == 1)
        return false;
    if (member == 0)
        s->stopped = s->pass->is_stopped(s->pass->context);
    threads_barrier(s->threads);
    return s->stopped;
}

static void forward(void *context, int member) {
    struct backend_state *s = context;
    int count = s->pass->count;
    embed(s, member);
    mark(s, member, 0);
    for (int layer = 0; layer < s->model->shape.layers; layer++) {
        if (is_told_to_stop(s, member))
            return;
        for (int first = 0; first < count; first += BLOCK_TOKENS) {
            int tokens = count - first < BLOCK_TOKENS ? count - first : BLOCK_TOKENS;
            do_layer(s, member, layer, (struct block){first, tokens});
        }
        mark(s, member, layer + 1);
    }
    if (s->pass->logits || s->pass->greedy_id)
        make_logits(s, member);
}

// Going back is possible as long as what the first token sees was not written over.
static bool check_window(const struct backend_state *s, const struct backend_pass *pass,
                         struct why *why) {
    int window = s->model->math.window, first = pass->first_position;
    int oldest = s->written - s->window_rows;
    if (window == 0 || first == 0 || oldest <= 0 || first - window + 1 >= oldest)
        return true;
    return why_set(why,
                   "a pass cannot start at position %d again: layers with a window keep only the "
                   "last %d tokens",
                   first, s->window_rows);
}

bool state_pass(struct backend_state *s, const struct backend_pass *pass, struct why *why) {
    struct backend_limits limits = {s->model->shape.vocab, s->context, s->cached};
    if (!backend_check_pass(pass, &limits, why) || !check_window(s, pass, why))
        return false;
    s->pass = pass;
    s->stopped = false;
    s->cached = pass->first_position; // later tokens are being overwritten
    int end = pass->first_position + pass->count;
    s->written = pass->first_position > 0 && s->written > end ? s->written : end;
    threads_run_sparing(s->threads, forward, s);
    if (!s->stopped && pass->greedy_id)
        *pass->greedy_id = greedy_id(s);
    s->pass = NULL;
    if (s->stopped)
        return why_set(why, "stopped");
    s->cached += pass->count;
    return true;
}
