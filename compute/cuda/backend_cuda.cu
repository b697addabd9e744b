// The CUDA backend's table: opens and closes a model on a card, and does what every pass
// needs before and after. A pass over one token is a graph of our own kernels (step.cu),
// one over more tokens goes through cuBLASLt (rows.cu). Nothing is allocated in a pass. An
// error of any CUDA call ends the pass with a reason; the state then refuses all others
// with that reason and can only be closed.
#include "compute/cuda/backend_cuda.cuh"

#include "compute/cuda/cards.cuh"
#include "compute/cuda/rates.cuh"
#include "compute/cuda/state.cuh"

extern "C" {
#include "compute/backend/check.h"
#include "compute/base/why.h"
#include "compute/model/shape.h"
}

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COARSE_NS = 2000,  // a step of the device's clock too coarse to time a layer
    PART_TOKENS = 256, // of the cache in one part of a step's attention, at most MOST_SPLITS parts
};

// --- A pass ---

static bool is_good(const struct backend_state *s, struct why *why) {
    return !s->lost.text[0] ||
           why_set(why, "the GPU failed in an earlier pass and cannot go on: %.180s", s->lost.text);
}

static bool pass(struct backend_state *s, const struct backend_pass *pass, struct why *why) {
    struct backend_limits limits = {s->model->shape.vocab, s->context, s->cached};
    struct why reason = {0};
    if (!is_good(s, why) || !backend_check_pass(pass, &limits, why))
        return false;
    s->cached = pass->first_position; // later tokens are being overwritten
    s->is_stopped = false;
    // The calling thread may not be the one that opened.
    bool ok = device_check(cudaSetDevice(s->device), "be used", &reason) &&
              (pass->count == 1 ? pass_step(s, pass, &reason) : pass_rows(s, pass, &reason));
    if (ok) {
        s->cached += pass->count;
        return true;
    }
    if (!s->is_stopped)
        why_set(&s->lost, "%s", reason.text);
    return why_set(why, "%s", reason.text);
}

// --- Opening and closing ---

static void place_arrays(struct backend_state *s, struct device_arena *arena) {
    const struct model_shape *h = &s->model->shape;
    struct arrays *a = &s->a;
    const size_t most = (size_t)s->most, q_rows = (size_t)s->q_rows, ff = (size_t)h->ff_dim;
    const size_t parts = (size_t)h->heads * (size_t)s->splits;
    const struct device_weights *w = &s->weights;
    const size_t number = w->is_f32 ? sizeof(float) : sizeof(bfloat16);
    auto floats = [arena](size_t count) {
        return static_cast<float *>(device_take(arena, count * sizeof(float)));
    };
    auto rows = [arena, s, most, number](int cols) {
        size_t stride = (size_t)rows_of(s, NULL, cols).stride;
        return static_cast<unsigned char *>(device_take(arena, most * stride * number));
    };
    a->angles = floats((size_t)s->context * (size_t)h->head_dim);
    a->cache = static_cast<unsigned char *>(
        device_take(arena, (size_t)h->layers * 2 * s->cache_plane_bytes));
    a->stream = floats(most * (size_t)h->dim);
    a->qkv = floats(most * (q_rows + 2 * (size_t)s->kv_rows));
    a->gate_up = floats(most * 2 * ff);
    a->normed = rows(h->dim);
    a->mixed = rows(s->q_rows);
    a->inner = rows(h->ff_dim);
    a->widened =
        w->is_f32 ? NULL
                  : static_cast<bfloat16 *>(device_take(arena, w->most_values * sizeof(bfloat16)));
    a->tokens = static_cast<int *>(device_take(arena, most * sizeof(int)));
    a->step = static_cast<struct step *>(device_take(arena, sizeof(struct step)));
    a->query = floats(q_rows);
    a->mixed_one = floats(q_rows);
    a->inner_one = floats(ff);
    a->part_max = floats(parts);
    a->part_sum = floats(parts);
    a->part_mixed = floats(parts * (size_t)h->head_dim);
    a->logits = floats((size_t)h->vocab);
    a->best_values = floats(LARGEST_BLOCKS);
    a->best_ids = static_cast<int *>(device_take(arena, LARGEST_BLOCKS * sizeof(int)));
    a->best_arrived = static_cast<unsigned *>(device_take(arena, sizeof(unsigned)));
    struct attend_products none = {};
    a->attend = none;
    if (!w->is_f32)
        attend_products_place(&a->attend, arena, s->heads, s->cache_stride, s->context, s->most);
}

// The largest of the shapes whose weights leave room for everything else.
static const char *fitting_shape(const struct backend_state *s, size_t other, size_t free_bytes) {
    const char *name = NULL;
    const struct shape_preset *preset;
    for (int i = 0; other < free_bytes && (preset = shape_at(i)) != NULL; i++) {
        if (shape_bytes(preset, s->model->token_embd.type) <= free_bytes - other)
            name = preset->name;
    }
    return name;
}

// The reason for a failed allocation: too little memory, or enough that was not granted.
static bool refuse(const struct backend_state *s, size_t needed, size_t free_bytes,
                   struct why *why) {
    const bool is_refused = needed <= free_bytes, is_cache = s->weights.bytes <= free_bytes;
    const size_t other = needed - s->weights.bytes;
    const char *shape = fitting_shape(s, other, free_bytes);
    char hint[96];
    if (s->model->is_made && !is_refused)
        return shape_refuse(s->model, needed, free_bytes, why);
    if (is_refused)
        snprintf(hint, sizeof hint, "close other programs that use the card");
    else if (is_cache)
        snprintf(hint, sizeof hint, "take a shorter context");
    else if (shape)
        snprintf(hint, sizeof hint, "take a smaller model (--shape %.30s fits), or --device cpu",
                 shape);
    else
        snprintf(hint, sizeof hint, "take a smaller model, or --device cpu");
    return why_set(why,
                   "%.50s needs %.2f GB of GPU memory (weights %.2f, cache and scratch for %d "
                   "tokens %.2f) and %.2f GB are free%s: %s",
                   s->model->name, (double)needed / 1e9, (double)s->weights.bytes / 1e9, s->context,
                   (double)other / 1e9, (double)free_bytes / 1e9,
                   is_refused ? ", but the card refused them" : "", hint);
}

static bool free_memory(size_t *bytes, struct why *why) {
    size_t total_bytes = 0;
    *bytes = 0;
    return device_check(cudaMemGetInfo(bytes, &total_bytes), "tell its free memory", why);
}

static bool take_memory(struct backend_state *s, struct why *why) {
    struct device_arena count = {NULL, 0};
    place_arrays(s, &count);
    s->memory_bytes = count.used;
    size_t free_bytes;
    size_t needed = s->weights.bytes + s->memory_bytes + gemm_workspace_bytes() +
                    device_weights_staging_bytes(s->model);
    if (!free_memory(&free_bytes, why))
        return false;
    if (needed > free_bytes)
        return refuse(s, needed, free_bytes, why);
    cudaError_t error = cudaMalloc(&s->weights.memory, s->weights.bytes);
    if (error == cudaSuccess)
        error = cudaMalloc(&s->memory, s->memory_bytes);
    if (error == cudaErrorMemoryAllocation) { // taken by others meanwhile, or fragmented
        cudaGetLastError();
        cudaFree(s->weights.memory);
        s->weights.memory = NULL;
        return free_memory(&free_bytes, why) && refuse(s, needed, free_bytes, why);
    }
    if (!device_check(error, "give memory", why))
        return false;
    struct device_arena arena = {s->memory, 0};
    place_arrays(s, &arena);
    return device_check(cudaMemsetAsync(s->memory, 0, s->memory_bytes, s->stream), "clear memory",
                        why);
}

// Like the CPU backend: in double, rounded once.
static bool fill_angles(struct backend_state *s, struct why *why) {
    const struct model *model = s->model;
    const int pairs = model->shape.head_dim / 2;
    const size_t bytes = (size_t)s->context * (size_t)pairs * 2 * sizeof(float);
    float *angles = static_cast<float *>(malloc(bytes));
    double *speeds = static_cast<double *>(malloc((size_t)pairs * sizeof(double)));
    if (!angles || !speeds) {
        free(angles);
        free(speeds);
        return why_set(why, "no memory for the angles of %d positions", s->context);
    }
    struct rope rope = {};
    rope.rotary = model->shape.head_dim;
    rope.base = (double)model->shape.rope_base;
    rope.scaling = &model->rope;
    rope.factors = model->rope_factors;
    const double growth = rope_speeds(speeds, &rope, s->context);
    for (int i = 0; i < pairs; i++) {
        for (int p = 0; p < s->context; p++) {
            float *at = angles + ((size_t)p * (size_t)pairs + (size_t)i) * 2;
            at[0] = (float)(growth * cos(p * speeds[i]));
            at[1] = (float)(growth * sin(p * speeds[i]));
        }
    }
    free(speeds);
    bool ok =
        device_check(cudaMemcpyAsync(s->a.angles, angles, bytes, cudaMemcpyHostToDevice, s->stream),
                     "take angles", why) &&
        device_check(cudaStreamSynchronize(s->stream), "take angles", why);
    free(angles);
    return ok;
}

static bool take_host_memory(struct backend_state *s, struct why *why) {
    size_t bytes = (size_t)s->model->shape.vocab * sizeof(float);
    return device_check(cudaHostAlloc(&s->next, NEXT_COUNT * sizeof(int), cudaHostAllocMapped),
                        "share memory", why) &&
           device_check(cudaHostGetDevicePointer(&s->device_next, s->next, 0), "share memory",
                        why) &&
           device_check(cudaHostAlloc(&s->host_logits, bytes, cudaHostAllocMapped), "share memory",
                        why);
}

static bool warm_pass(struct backend_state *s, int count, struct why *why) {
    static const int32_t zeros[ATTEND_PRODUCTS_TOKENS] = {0};
    int32_t greedy_id;
    struct backend_pass warm = {};
    warm.tokens = zeros;
    warm.count = count;
    warm.logits = s->host_logits;
    warm.greedy_id = &greedy_id;
    return pass(s, &warm, why);
}

// Runs every kernel once before anything is timed: that loads its module, which may wait
// and allocate and must not happen inside a capture.
static bool warm_up(struct backend_state *s, struct why *why) {
    struct why graph_why = {"switched off"};
    if (!warm_pass(s, 1, why) || (s->most > 1 && !warm_pass(s, 2, why)) ||
        (s->a.attend.tile_tokens > 0 && !warm_pass(s, ATTEND_PRODUCTS_TOKENS, why)))
        return false;
    const char *word = getenv("TOKENDRIP_CUDA_GRAPH"); // "off": to compare with
    bool has_graph = !(word && strcmp(word, "off") == 0) && capture_step(s, &graph_why);
    name_driver(s, has_graph ? NULL : graph_why.text);
    if (!warm_pass(s, 1, why)) // also shows that the device outlived a failed capture
        return false;
    s->cached = 0;
    return true;
}

static bool check_matrix(const struct tensor *t, const char *name, bool is_made, struct why *why) {
    if (!device_weights_knows(t->type))
        return why_set(why,
                       "the GPU has no kernels for %s weights, and the %s weights are: use "
                       "--device cpu",
                       gguf_tensor_type_name(t->type), name);
    if (quant_row_bytes(t->type, t->cols) == 0)
        return why_set(why, "the GPU cannot multiply %s weights of type %s in rows of %d numbers",
                       name, gguf_tensor_type_name(t->type), (int)t->cols);
    if (!is_made && !t->data)
        return why_set(why, "the %s weights have no data", name);
    return true;
}

static bool check_model(const struct model *model, struct why *why) {
    const struct model_shape *h = &model->shape;
    if (!backend_check_heads(h, why) || !backend_check_plain(model, why))
        return false;
    if (h->head_dim < 2 || h->head_dim % 2 != 0 || h->head_dim > MOST_HEAD_DIM)
        return why_set(why,
                       "a head size of %d cannot be used on the GPU: it must be even and at "
                       "most %d: use --device cpu",
                       h->head_dim, MOST_HEAD_DIM);
    // Their queries share 48 KiB.
    if (h->heads / h->kv_heads * matrix_stride(WEIGHT_F16, h->head_dim) > 12288)
        return why_set(why, "%d heads of %d numbers share one key head: use --device cpu",
                       h->heads / h->kv_heads, h->head_dim);
    return backend_check_matrices(model, check_matrix, why);
}

static bool create_marks(struct backend_state *s, enum marks_kind kind, enum backend_marks which,
                         struct why *why) {
    s->marks_kind = kind;
    return marks_create(&s->marks, s->model->shape.layers + 1, kind, which, s->stream, why);
}

// The device's clock if its steps are fine enough, else events. An environment variable
// overrides it, for measuring what marks cost.
static bool choose_marks(struct backend_state *s, enum backend_marks which, struct why *why) {
    const char *word = getenv("TOKENDRIP_CUDA_MARKS");
    if (word && strcmp(word, "events") == 0)
        return create_marks(s, MARKS_EVENTS, which, why);
    if (!create_marks(s, MARKS_TIMER, which, why))
        return false;
    if (marks_step_ns(s->marks) <= COARSE_NS || (word && strcmp(word, "timer") == 0))
        return true;
    marks_destroy(s->marks);
    s->marks = NULL;
    return create_marks(s, MARKS_EVENTS, which, why);
}

static void set_sizes(struct backend_state *s, const struct backend_opts *opts) {
    const struct model_shape *h = &s->model->shape;
    s->context = opts->context;
    s->most = s->context < BACKEND_PREFILL_CHUNK ? s->context : (int)BACKEND_PREFILL_CHUNK;
    s->heads.heads = h->heads;
    s->heads.kv_heads = h->kv_heads;
    s->heads.head_dim = h->head_dim;
    s->q_rows = h->heads * h->head_dim;
    s->kv_rows = h->kv_heads * h->head_dim;
    int splits = (s->context + PART_TOKENS - 1) / PART_TOKENS;
    s->splits = splits < MOST_SPLITS ? splits : (int)MOST_SPLITS;
    s->cache_stride = matrix_stride(s->weights.is_f32 ? WEIGHT_F32 : WEIGHT_F16, h->head_dim);
    size_t number = s->weights.is_f32 ? sizeof(float) : sizeof(half16);
    s->cache_plane_bytes =
        (size_t)h->kv_heads * (size_t)s->context * (size_t)s->cache_stride * number;
}

static bool set_up(struct backend_state *s, const struct backend_opts *opts, struct why *why) {
    struct card card;
    if (opts->context < 1 || opts->context > s->model->shape.context)
        return why_set(why, "a context of %d tokens was asked for, this model has 1 to %d",
                       opts->context, s->model->shape.context);
    if (!cards_find(&card, opts->device, why) ||
        !device_check(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "make a stream",
                      why) ||
        !device_weights_plan(&s->weights, s->model, why))
        return false;
    s->device = card.index;
    s->most_blocks = card.multiprocessors * RESIDENT_BLOCKS;
    memcpy(s->device_name, card.name, sizeof s->device_name);
    set_sizes(s, opts);
    return take_memory(s, why) && gemm_create(&s->gemm, why) &&
           device_weights_fill(&s->weights, s->model, s->stream, why) && fill_angles(s, why) &&
           take_host_memory(s, why) && choose_marks(s, opts->marks, why) && warm_up(s, why);
}

static void close_state(struct backend_state *s) {
    if (!s)
        return;
    if (s->stream)
        cudaStreamSynchronize(s->stream);
    if (s->graph)
        cudaGraphExecDestroy(s->graph);
    marks_destroy(s->marks);
    gemm_destroy(s->gemm);
    device_weights_clear(&s->weights);
    cudaFree(s->memory);
    if (s->next)
        cudaFreeHost(s->next);
    if (s->host_logits)
        cudaFreeHost(s->host_logits);
    if (s->stream)
        cudaStreamDestroy(s->stream);
    cudaGetLastError(); // of a lost device; the next state shall not find it
    free(s);
}

static bool open_state(struct backend_state **out, const struct model *model,
                       const struct backend_opts *opts, struct why *why) {
    *out = NULL;
    if (!check_model(model, why))
        return false;
    struct backend_state *s = static_cast<struct backend_state *>(calloc(1, sizeof *s));
    if (!s)
        return why_set(why, "the CUDA backend is out of memory");
    s->model = model;
    if (!set_up(s, opts, why)) {
        close_state(s);
        return false;
    }
    *out = s;
    return true;
}

static void fill_info(const struct backend_state *s, struct run_info *info) {
    snprintf(info->device, sizeof info->device, "cuda:%d", s->device);
    snprintf(info->device_name, sizeof info->device_name, "%s", s->device_name);
    snprintf(info->driver, sizeof info->driver, "%s", s->driver);
    info->threads = 0;
    info->kv_value_bytes = (int)(s->weights.is_f32 ? sizeof(float) : sizeof(half16));
}

static bool measure_rates(struct backend_state *s, size_t working_set_bytes,
                          struct device_rates *out, struct why *why) {
    return is_good(s, why) && device_check(cudaSetDevice(s->device), "be used", why) &&
           rates_measure(out, s->gemm, s->stream, working_set_bytes, why);
}

static bool available(struct why *why) {
    struct card card;
    return cards_find(&card, -1, why);
}

const struct backend backend_cuda = {
    // 16-bit activations in prefill, f32 in steps: 3e-3 was seen with 18 tokens of the
    // bundled model, and it grows with depth.
    BACKEND_ABI, "cuda", 2e-2,      available,     cards_describe, open_state,
    close_state, pass,   fill_info, measure_rates, NULL,           NULL,
};
