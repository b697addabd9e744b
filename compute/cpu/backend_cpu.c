// The CPU backend. All members of a team go through a pass together, each doing
// its own rows of every matrix and its own heads, with a barrier wherever one
// needs what another made. A pass is layer by layer over all its tokens, as the
// picture shows it; inside a layer the tokens go in blocks, so that scratch stays
// in the cache and small. A block of one token (every decode step) is the same
// path; the kernels choose. Nothing is allocated and no lock is taken in a pass.
#include "compute/backend/backend.h"

#include "compute/backend/check.h"
#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/cpu/cores.h"
#include "compute/cpu/kernels.h"
#include "compute/cpu/memory.h"
#include "compute/cpu/rates.h"
#include "compute/cpu/threads.h"
#include "compute/model/shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCK_TOKENS = 128,
    ROW_UNIT = 4, // rows of one token's products that go to one member together
    ALIGN_BYTES = 64,
    PAGE_BYTES = 1 << 21, // of the large pages, where the system has them
};

// What a member has for itself.
struct own {
    float *normed; // [dim]
    float *panel;  // [KERNELS_PANEL_FLOATS]
    float *attend; // [attend_floats()]
    int32_t best;  // of its rows of the logits, as find_best says
};

struct backend_state {
    // Set at open.
    const struct model *model; // the caller's, or `made`
    struct model *made;        // owned, of a model made from a shape: its views in `weights`
    void *weights;             // owned: [shape_model_bytes()]
    const struct kernels *kernels;
    struct threads *threads;
    struct own *own; // [members]
    int members;
    int context;  // tokens the cache has room for
    int q_rows;   // heads * head_dim
    int kv_rows;  // kv_heads * head_dim
    void *memory; // holds all arrays below
    float *rope;  // [context][head_dim / 2][2]: cosine and sine of each pair's turn
    // The cache: [layers][kv_heads][context][head_dim], of which every layer
    // holds `cached` tokens.
    float *keys, *values;
    int cached;
    enum backend_marks marks;
    // Of a pass.
    const struct backend_pass *pass;
    bool stopped;
    float *stream; // [tokens of the pass][dim]: what the layers add to
    float *normed; // [BLOCK_TOKENS][dim]
    float *qkv;    // [BLOCK_TOKENS][q_rows + 2 * kv_rows]
    float *mixed;  // [BLOCK_TOKENS][q_rows]
    float *gate;   // [BLOCK_TOKENS][ff_dim]
    float *up;     // [BLOCK_TOKENS][ff_dim]
    float *logits; // [vocab], where the caller has no place for them
};

// Neighbouring tokens of the pass that go through a layer together.
struct block {
    int first; // in the pass
    int tokens;
};

// --- Splitting work ---

struct span {
    int from, to;
};

// Member's share of 0 .. count, cut only at multiples of `unit`.
static struct span share(const struct backend_state *s, int member, int count, int unit) {
    int64_t units = (count + unit - 1) / unit;
    int64_t from = units * member / s->members * unit;
    int64_t to = units * (member + 1) / s->members * unit;
    return (struct span){(int)from, to < count ? (int)to : count};
}

static struct span share_rows(const struct backend_state *s, int member, int rows, int tokens) {
    return share(s, member, rows, tokens > 1 ? s->kernels->panel_rows : ROW_UNIT);
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
    struct span mine = share(s, member, block.tokens, 1);
    for (int t = mine.from; t < mine.to; t++)
        s->kernels->rms_norm(s->normed + (size_t)t * dim, in + (size_t)t * dim, weight->data,
                             shape->dim, shape->norm_epsilon);
    threads_barrier(s->threads);
    return s->normed;
}

static float *cache_row(const struct backend_state *s, float *cache, int layer, int kv_head,
                        int position) {
    const struct model_shape *shape = &s->model->shape;
    size_t head = (size_t)layer * (size_t)shape->kv_heads + (size_t)kv_head;
    return cache + (head * (size_t)s->context + (size_t)position) * (size_t)shape->head_dim;
}

// Turns neighbouring pairs by their position's angles (Su et al. 2021, in the
// pairing of Llama files). row_from and row_to are even.
static void turn(const struct backend_state *s, float *token, struct span rows, int position) {
    int head_dim = s->model->shape.head_dim;
    const float *angles = s->rope + (size_t)position * (size_t)head_dim;
    for (int r = rows.from; r < rows.to; r += 2) {
        float cosine = angles[r % head_dim];
        float sine = angles[r % head_dim + 1];
        float first = token[r], second = token[r + 1];
        token[r] = first * cosine - second * sine;
        token[r + 1] = first * sine + second * cosine;
    }
}

// Copies rows `rows` of a token's keys or values to their places in the cache.
static void keep(const struct backend_state *s, float *cache, int layer, int position,
                 const float *token, struct span rows) {
    int head_dim = s->model->shape.head_dim;
    for (int r = rows.from; r < rows.to;) {
        int in_head = r % head_dim;
        int count = head_dim - in_head < rows.to - r ? head_dim - in_head : rows.to - r;
        memcpy(cache_row(s, cache, layer, r / head_dim, position) + in_head, token + r,
               (size_t)count * sizeof(float));
        r += count;
    }
}

static struct span within(struct span span, int from, int to) {
    return (struct span){span.from > from ? span.from - from : 0,
                         span.to < to ? span.to - from : to - from};
}

// Queries, keys and values of the block; keys and values go into the cache.
static void make_qkv(struct backend_state *s, int member, int layer, struct block block) {
    const struct model_layer *weights = &s->model->layers[layer];
    int rows = s->q_rows + 2 * s->kv_rows;
    struct span mine = share_rows(s, member, rows, block.tokens);
    const float *in = normalise(s, member, block, &weights->attn_norm);
    project(s,
            (struct matmul){.out = s->qkv,
                            .out_stride = (size_t)rows,
                            .in = in,
                            .in_stride = (size_t)s->model->shape.dim,
                            .tokens = block.tokens,
                            .panel = s->own[member].panel},
            (const struct tensor *const[]){&weights->q, &weights->k, &weights->v}, 3, mine);

    int turned = s->q_rows + s->kv_rows; // values are not turned
    for (int t = 0; t < block.tokens; t++) {
        int position = s->pass->first_position + block.first + t;
        float *token = s->qkv + (size_t)t * (size_t)rows;
        turn(s, token, (struct span){mine.from, mine.to < turned ? mine.to : turned}, position);
        keep(s, s->keys, layer, position, token + s->q_rows, within(mine, s->q_rows, turned));
        keep(s, s->values, layer, position, token + turned, within(mine, turned, rows));
    }
}

// Heads that share keys go together when there are many tokens, since turning
// the keys is then half the work; each head alone when there is one.
static void mix(struct backend_state *s, int member, int layer, struct block block) {
    const struct model_shape *shape = &s->model->shape;
    int group = shape->heads / shape->kv_heads;
    int heads_each = block.tokens > 1 ? group : 1;
    int parts = shape->heads / heads_each;
    int tiles = (block.tokens + KERNELS_ATTEND_TOKENS - 1) / KERNELS_ATTEND_TOKENS;
    size_t qkv_stride = (size_t)(s->q_rows + 2 * s->kv_rows);
    for (int task = member; task < parts * tiles; task += s->members) {
        int head = task % parts * heads_each;
        int token = task / parts * KERNELS_ATTEND_TOKENS;
        int left = block.tokens - token;
        size_t place = (size_t)head * (size_t)shape->head_dim;
        s->kernels->attend(&(struct attention){
            .out = s->mixed + (size_t)token * (size_t)s->q_rows + place,
            .out_stride = (size_t)s->q_rows,
            .queries = s->qkv + (size_t)token * qkv_stride + place,
            .query_stride = qkv_stride,
            .keys = cache_row(s, s->keys, layer, head / group, 0),
            .values = cache_row(s, s->values, layer, head / group, 0),
            .tokens = left < KERNELS_ATTEND_TOKENS ? left : KERNELS_ATTEND_TOKENS,
            .first_position = s->pass->first_position + block.first + token,
            .heads = heads_each,
            .head_dim = shape->head_dim,
            .scratch = s->own[member].attend,
        });
    }
}

// Adds weights * in to the block's part of the stream.
static void add_to_stream(struct backend_state *s, int member, struct block block,
                          const struct tensor *weights, const float *in) {
    int dim = s->model->shape.dim;
    struct span mine = share_rows(s, member, dim, block.tokens);
    s->kernels->matmul(&(struct matmul){
        .out = s->stream + (size_t)block.first * (size_t)dim,
        .out_stride = (size_t)dim,
        .in = in,
        .in_stride = (size_t)weights->cols,
        .weights = weights,
        .tokens = block.tokens,
        .row_from = mine.from,
        .row_to = mine.to,
        .add = true,
        .panel = s->own[member].panel,
    });
}

// The feed-forward network's inner values: swish(gate) * up.
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
    if (mine.from >= mine.to)
        return;
    s->kernels->matmul(&job);
    job.out = s->up;
    job.weights = &weights->up;
    s->kernels->matmul(&job);
    for (int t = 0; t < block.tokens; t++) {
        size_t at = (size_t)t * (size_t)ff_dim + (size_t)mine.from;
        s->kernels->swiglu(s->gate + at, s->up + at, mine.to - mine.from);
    }
}

static void do_layer(struct backend_state *s, int member, int layer, struct block block) {
    const struct model_layer *weights = &s->model->layers[layer];
    make_qkv(s, member, layer, block);
    threads_barrier(s->threads);
    mix(s, member, layer, block);
    threads_barrier(s->threads);
    add_to_stream(s, member, block, &weights->attn_out, s->mixed);
    threads_barrier(s->threads);
    make_inner(s, member, layer, block);
    threads_barrier(s->threads);
    add_to_stream(s, member, block, &weights->down, s->gate);
    threads_barrier(s->threads);
}

// --- A pass ---

static void embed(struct backend_state *s, int member) {
    size_t dim = (size_t)s->model->shape.dim;
    struct span mine = share(s, member, s->pass->count, 1);
    for (int t = mine.from; t < mine.to; t++)
        s->kernels->widen(s->stream + (size_t)t * dim, &s->model->token_embd, s->pass->tokens[t]);
    threads_barrier(s->threads);
}

static float *logits_of(const struct backend_state *s) {
    return s->pass->logits ? s->pass->logits : s->logits;
}

// The row of the largest logit, the lowest of equals; -1: there is no number above
// -infinity.
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
    s->kernels->matmul(&(struct matmul){
        .out = logits_of(s),
        .in = normalise(s, member, last, &s->model->output_norm),
        .weights = &s->model->output,
        .tokens = 1,
        .row_from = mine.from,
        .row_to = mine.to,
    });
    if (s->pass->greedy_id)
        s->own[member].best = find_best(logits_of(s), mine);
}

// The best of what each member found: their rows ascend, so that the first of equals
// is the lowest.
static int32_t greedy_id(const struct backend_state *s) {
    const float *logits = logits_of(s);
    int32_t best = -1;
    for (int i = 0; i < s->members; i++) {
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

static bool pass(struct backend_state *s, const struct backend_pass *pass, char *why) {
    struct backend_limits limits = {s->model->shape.vocab, s->context, s->cached};
    if (!backend_check_pass(pass, &limits, why))
        return false;
    s->pass = pass;
    s->stopped = false;
    s->cached = pass->first_position; // what lies behind is being overwritten
    threads_run(s->threads, forward, s);
    if (!s->stopped && pass->greedy_id)
        *pass->greedy_id = greedy_id(s);
    s->pass = NULL;
    if (s->stopped)
        return why_set(why, "stopped");
    s->cached += pass->count;
    return true;
}

// --- Opening and closing ---

static bool check_matrix(const struct tensor *t, const char *name, bool is_made, char *why) {
    (void)is_made; // it is checked when its weights are there
    if (!quant_is_known(t->type))
        return why_set(why, "the CPU cannot multiply %s weights of type %s: use an F16 file", name,
                       gguf_tensor_type_name(t->type));
    if (quant_row_bytes(t->type, t->cols) == 0)
        return why_set(why,
                       "the CPU cannot multiply %s weights of type %s in rows of %d numbers: "
                       "they come in blocks of %d",
                       name, gguf_tensor_type_name(t->type), (int)t->cols, QUANT_BLOCK);
    if (!t->data || (uintptr_t)t->data % quant_alignment(t->type) != 0)
        return why_set(why, "the %s weights are not aligned to their numbers", name);
    return true;
}

static bool check_model(const struct model *model, char *why) {
    const struct model_shape *h = &model->shape;
    if (!backend_check_heads(h, why))
        return false;
    if (h->head_dim < 2 || h->head_dim % 2 != 0 || h->head_dim > MODEL_MAX_DIM / h->heads)
        return why_set(why, "a head size of %d cannot be used: it must be even and small enough",
                       h->head_dim);
    return backend_check_matrices(model, check_matrix, why);
}

// Every array and its floats, so that adding up and cutting cannot disagree.
struct array {
    float **place;
    size_t floats;
};

static size_t padded(size_t floats) {
    size_t unit = ALIGN_BYTES / sizeof(float);
    return (floats + unit - 1) / unit * unit;
}

// Takes the memory for the weights of a model made from a shape; `other_bytes` will
// be needed besides. Nothing is touched yet: that is the members' work.
static bool take_weights(struct backend_state *s, size_t other_bytes, size_t free_bytes,
                         char *why) {
    const struct model *model = s->model;
    size_t bytes = shape_model_bytes(model);
    size_t whole = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    if (bytes > free_bytes || other_bytes > free_bytes - bytes)
        return shape_refuse(model, bytes + other_bytes, free_bytes, why);
    s->weights = aligned_alloc(PAGE_BYTES, whole);
    if (!s->weights)
        return shape_refuse(model, bytes + other_bytes, free_bytes, why);
    madvise(s->weights, whole, MADV_HUGEPAGE); // only a wish
    if (!shape_place(&s->made, model, s->weights, why))
        return false;
    s->model = s->made;
    return true;
}

// Each member makes the rows that it will read.
static void make_weights(void *context, int member) {
    struct backend_state *s = context;
    for (int i = 0; i < shape_matrices(s->model); i++) {
        const struct tensor *matrix = shape_matrix(s->model, i);
        size_t row_bytes = quant_row_bytes(matrix->type, matrix->cols);
        unsigned char *rows = (void *)(uintptr_t)matrix->data; // ours, in s->weights
        struct span mine = share(s, member, (int)matrix->rows, ROW_UNIT);
        for (int r = mine.from; r < mine.to; r++)
            s->kernels->random_row(rows + (size_t)r * row_bytes, matrix->type, (int)matrix->cols,
                                   shape_random_keys(s->model->seed, (uint32_t)i, (uint64_t)r),
                                   shape_scale(matrix));
    }
}

// Takes one piece of memory for all arrays and touches every page of it, so that
// no pass pays for the system's first look at them.
static bool take_memory(struct backend_state *s, const struct array *arrays, int count, char *why) {
    size_t floats = 0;
    for (int i = 0; i < count; i++)
        floats += padded(arrays[i].floats);
    size_t bytes = floats * sizeof(float), free_bytes = memory_free_bytes("");
    if (s->model->is_made && !take_weights(s, bytes, free_bytes, why))
        return false;
    if (bytes <= free_bytes)
        s->memory = aligned_alloc(ALIGN_BYTES, bytes);
    if (!s->memory)
        return why_set(why,
                       "a KV cache of %d tokens needs %.2f GB of memory with scratch and %.2f GB "
                       "are free: ask for a shorter context",
                       s->context, (double)bytes / 1e9, (double)free_bytes / 1e9);
    memset(s->memory, 0, bytes);
    float *at = s->memory;
    for (int i = 0; i < count; i++) {
        *arrays[i].place = at;
        at += padded(arrays[i].floats);
    }
    return true;
}

static bool take_arrays(struct backend_state *s, char *why) {
    const struct model_shape *h = &s->model->shape;
    size_t dim = (size_t)h->dim;
    size_t q_rows = (size_t)s->q_rows, kv_rows = (size_t)s->kv_rows;
    size_t context = (size_t)s->context;
    size_t most = context < BACKEND_PREFILL_CHUNK ? context : BACKEND_PREFILL_CHUNK;
    size_t cache = (size_t)h->layers * context * kv_rows;
    size_t attend = s->kernels->attend_floats(h->heads / h->kv_heads, h->head_dim, s->context);
    struct array arrays[10 + 3 * THREADS_MAX] = {
        {&s->rope, context * (size_t)h->head_dim},
        {&s->keys, cache},
        {&s->values, cache},
        {&s->stream, most * dim},
        {&s->normed, BLOCK_TOKENS * dim},
        {&s->qkv, BLOCK_TOKENS * (q_rows + 2 * kv_rows)},
        {&s->mixed, BLOCK_TOKENS * q_rows},
        {&s->gate, BLOCK_TOKENS * (size_t)h->ff_dim},
        {&s->up, BLOCK_TOKENS * (size_t)h->ff_dim},
        {&s->logits, (size_t)h->vocab},
    };
    int count = 10;
    for (int i = 0; i < s->members; i++) {
        arrays[count++] = (struct array){&s->own[i].normed, dim};
        arrays[count++] = (struct array){&s->own[i].panel, KERNELS_PANEL_FLOATS};
        arrays[count++] = (struct array){&s->own[i].attend, attend};
    }
    return take_memory(s, arrays, count, why);
}

// Pair i of a head turns by position * base^(-2i / head_dim), divided by the
// model's own factor for that pair where it has any.
static void fill_rope(struct backend_state *s) {
    const struct model *model = s->model;
    int pairs = model->shape.head_dim / 2;
    for (int i = 0; i < pairs; i++) {
        double speed = pow(model->shape.rope_base, -(double)i / pairs);
        if (model->rope_factors)
            speed /= model->rope_factors[i];
        for (int p = 0; p < s->context; p++) {
            float *at = s->rope + ((size_t)p * (size_t)pairs + (size_t)i) * 2;
            at[0] = (float)cos(p * speed);
            at[1] = (float)sin(p * speed);
        }
    }
}

static void close_state(struct backend_state *s) {
    if (!s)
        return;
    threads_destroy(s->threads);
    model_close(s->made);
    free(s->weights);
    free(s->memory);
    free(s->own);
    free(s);
}

static bool set_up(struct backend_state *s, const struct backend_opts *opts, char *why) {
    const struct model_shape *shape = &s->model->shape;
    if (opts->context < 1 || opts->context > shape->context)
        return why_set(why, "a context of %d tokens was asked for, this model has 1 to %d",
                       opts->context, shape->context);
    if (opts->threads < 0 || opts->threads > THREADS_MAX)
        return why_set(why, "%d threads were asked for, expected 1 to %d, or 0 for one a core",
                       opts->threads, THREADS_MAX);
    s->kernels = kernels_choose(opts->isa, why);
    if (!s->kernels)
        return false;
    int cores = cores_here();
    s->members = opts->threads ? opts->threads : cores < THREADS_MAX ? cores : THREADS_MAX;
    s->context = opts->context;
    s->marks = opts->marks;
    s->q_rows = shape->heads * shape->head_dim;
    s->kv_rows = shape->kv_heads * shape->head_dim;
    s->own = calloc((size_t)s->members, sizeof(*s->own));
    if (!s->own)
        return why_set(why, "the CPU backend is out of memory");
    if (!take_arrays(s, why) || !threads_create(&s->threads, s->members, why))
        return false;
    if (s->made)
        threads_run(s->threads, make_weights, s);
    fill_rope(s);
    return check_model(s->model, why);
}

static bool open_state(struct backend_state **out, const struct model *model,
                       const struct backend_opts *opts, char *why) {
    *out = NULL;
    if (!model->is_made && !check_model(model, why)) // one that is made is checked then
        return false;
    struct backend_state *s = calloc(1, sizeof(*s));
    if (!s)
        return why_set(why, "the CPU backend is out of memory");
    s->model = model;
    if (!set_up(s, opts, why)) {
        close_state(s);
        return false;
    }
    *out = s;
    return true;
}

// --- What it says about itself ---

static bool available(char *why) {
    return kernels_choose(NULL, why) != NULL;
}

static void describe(char *out, size_t bytes) {
    char name[96], why[WHY_BYTES];
    cores_name(name, sizeof(name), "");
    const struct kernels *kernels = kernels_choose(NULL, why);
    double memory_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    int cores = cores_here();
    snprintf(out, bytes, "%s, %d %s, %s, %.0f GiB memory", name, cores,
             cores == 1 ? "core" : "cores", kernels ? kernels->isa : "no kernels",
             memory_bytes / 0x1p30);
}

static void fill_info(const struct backend_state *s, struct run_info *info) {
    snprintf(info->device, sizeof(info->device), "cpu");
    cores_name(info->device_name, sizeof(info->device_name), "");
    snprintf(info->driver, sizeof(info->driver), "%s", s->kernels->isa);
    info->threads = s->members;
    info->kv_value_bytes = (int)sizeof(float);
}

static bool measure_rates(struct backend_state *s, size_t working_set_bytes,
                          struct device_rates *out, char *why) {
    return rates_measure(out, s->threads, s->kernels, working_set_bytes, why);
}

const struct backend backend_cpu = {
    .abi = BACKEND_ABI,
    .name = "cpu",
    .available = available,
    .describe = describe,
    .open = open_state,
    .close = close_state,
    .pass = pass,
    .fill_info = fill_info,
    .measure_rates = measure_rates,
};
