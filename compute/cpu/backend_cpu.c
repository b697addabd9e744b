// Opens and closes a model for the CPU: its memory, its threads, and what is known of
// this processor. The pass itself is in pass.c.
#include "compute/cpu/state.h"

#include "compute/backend/check.h"
#include "compute/base/figures.h"
#include "compute/base/why.h"
#include "compute/cpu/cores.h"
#include "compute/cpu/memory.h"
#include "compute/cpu/rates.h"
#include "compute/model/shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    ALIGN_BYTES = 64,
    PAGE_BYTES = 1 << 21, // of the large pages, where the system has them
};

// --- Opening and closing ---

static bool check_matrix(const struct tensor *t, const char *name, bool is_made, struct why *why) {
    (void)is_made; // such a model is checked after its weights were made
    if (!quant_is_known(t->type))
        return why_set(why, "the CPU cannot multiply %s weights of type %s: use an F16 file", name,
                       gguf_tensor_type_name(t->type));
    if (quant_row_bytes(t->type, t->cols) == 0)
        return why_set(why,
                       "the CPU cannot multiply %s weights of type %s in rows of %d numbers: "
                       "they come in blocks of %d",
                       name, gguf_tensor_type_name(t->type), (int)t->cols,
                       quant_format(t->type)->block);
    if (!t->data || (uintptr_t)t->data % quant_alignment(t->type) != 0)
        return why_set(why, "the %s weights are not aligned to their numbers", name);
    return true;
}

static bool check_model(const struct model *model, struct why *why) {
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
    void *place; // of a pointer to float, or to struct rounded
    size_t floats;
};

static size_t padded(size_t floats) {
    size_t unit = ALIGN_BYTES / sizeof(float);
    return (floats + unit - 1) / unit * unit;
}

// Takes the memory for the weights of a model made from a shape; `other_bytes` will
// be needed as well. Does not touch the pages: the members do that.
static bool take_weights(struct backend_state *s, size_t other_bytes, size_t free_bytes,
                         struct why *why) {
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
        struct span mine = state_share(s, member, (int)matrix->rows, ROW_UNIT);
        for (int r = mine.from; r < mine.to; r++)
            s->kernels->random_row(rows + (size_t)r * row_bytes, matrix->type, (int)matrix->cols,
                                   shape_random_keys(s->model->seed, (uint32_t)i, (uint64_t)r),
                                   shape_scale(matrix));
    }
}

// The weights of a file are mapped before; they must have room, too, or every pass would read
// them anew.
static bool refuse_memory(const struct backend_state *s, size_t bytes, size_t weight_bytes,
                          size_t free_bytes, struct why *why) {
    struct figure needed = figure_bytes((int64_t)(bytes + weight_bytes));
    struct figure arrays = figure_bytes((int64_t)bytes), left = figure_bytes((int64_t)free_bytes);
    if (bytes > free_bytes)
        return why_set(why,
                       "a KV cache of %d tokens needs %s of memory with scratch and %s are free: "
                       "ask for a shorter context",
                       s->context, arrays.text, left.text);
    return why_set(why,
                   "%.96s needs %s of memory (weights %s, KV cache of %d tokens with scratch %s) "
                   "and %s are free: close other programs, or take a smaller model",
                   s->model->name, needed.text, figure_bytes((int64_t)weight_bytes).text,
                   s->context, arrays.text, left.text);
}

// Allocates one piece of memory for all arrays and touches every page, so that page faults
// do not fall into a measured pass.
static bool take_memory(struct backend_state *s, const struct array *arrays, int count,
                        struct why *why) {
    size_t floats = 0;
    for (int i = 0; i < count; i++)
        floats += padded(arrays[i].floats);
    size_t bytes = floats * sizeof(float), free_bytes = memory_free_bytes("");
    size_t weight_bytes = s->model->file ? gguf_bytes(s->model->file) : 0;
    size_t address_bytes = memory_address_bytes("");
    if (weight_bytes > free_bytes || bytes > free_bytes - weight_bytes)
        return refuse_memory(s, bytes, weight_bytes, free_bytes, why);
    free_bytes = address_bytes < free_bytes ? address_bytes : free_bytes;
    if (s->model->is_made && !take_weights(s, bytes, free_bytes, why))
        return false;
    if (bytes > free_bytes)
        return refuse_memory(s, bytes, 0, free_bytes, why);
    s->memory = aligned_alloc(ALIGN_BYTES, bytes);
    if (!s->memory)
        return why_set(why, "the CPU backend is out of memory");
    memset(s->memory, 0, bytes);
    float *at = s->memory;
    for (int i = 0; i < count; i++) {
        memcpy(arrays[i].place, &at, sizeof at);
        at += padded(arrays[i].floats);
    }
    return true;
}

static bool take_arrays(struct backend_state *s, struct why *why) {
    const struct model_shape *h = &s->model->shape;
    size_t dim = (size_t)h->dim;
    size_t q_rows = (size_t)s->q_rows, kv_rows = (size_t)s->kv_rows;
    size_t context = (size_t)s->context;
    size_t most = context < BACKEND_PREFILL_CHUNK ? context : BACKEND_PREFILL_CHUNK;
    size_t cache = s->cache_at[h->layers];
    bool has_window = s->model->math.window > 0;
    size_t attend = s->kernels->attend_floats(h->heads / h->kv_heads, h->head_dim);
    size_t widest = (size_t)(h->ff_dim > s->q_rows ? h->ff_dim : s->q_rows);
    widest = widest > dim ? widest : dim;
    size_t rounded = widest / QUANT_BLOCK * sizeof(struct rounded) / sizeof(float);
    struct array arrays[13 + 4 * THREADS_MAX] = {
        {&s->rope, context * (size_t)s->rotary},
        {&s->rope_window, has_window ? context * (size_t)s->rotary : 0},
        {&s->keys, cache},
        {&s->values, cache},
        {&s->stream, most * dim},
        {&s->normed, BLOCK_TOKENS * dim},
        {&s->qkv, BLOCK_TOKENS * (q_rows + 2 * kv_rows)},
        {&s->mixed, BLOCK_TOKENS * q_rows},
        {&s->gate, BLOCK_TOKENS * (size_t)h->ff_dim},
        {&s->up, BLOCK_TOKENS * (size_t)h->ff_dim},
        {&s->logits, (size_t)h->vocab},
        {&s->added, BLOCK_TOKENS * dim},
        {&s->rounded, BLOCK_TOKENS * rounded},
    };
    int count = 13;
    for (int i = 0; i < s->members; i++) {
        arrays[count++] = (struct array){&s->own[i].normed, dim};
        arrays[count++] = (struct array){&s->own[i].rounded, rounded};
        arrays[count++] = (struct array){&s->own[i].panel, KERNELS_PANEL_FLOATS};
        arrays[count++] = (struct array){&s->own[i].attend, attend};
    }
    return take_memory(s, arrays, count, why);
}

static bool fill_angles(float *angles, const struct rope *rope, int context, struct why *why) {
    int pairs = rope->rotary / 2;
    double *speeds = malloc((size_t)pairs * sizeof *speeds);
    if (!speeds)
        return why_set(why, "the CPU backend is out of memory");
    double growth = rope_speeds(speeds, rope, context);
    for (int i = 0; i < pairs; i++) {
        for (int p = 0; p < context; p++) {
            float *at = angles + ((size_t)p * (size_t)pairs + (size_t)i) * 2;
            at[0] = (float)(growth * cos(p * speeds[i]));
            at[1] = (float)(growth * sin(p * speeds[i]));
        }
    }
    free(speeds);
    return true;
}

static bool fill_rope(struct backend_state *s, struct why *why) {
    const struct model *model = s->model;
    double window_base = (double)model->rope_window_base;
    struct rope whole = {.rotary = s->rotary,
                         .base = (double)model->shape.rope_base,
                         .scaling = &model->rope,
                         .factors = model->rope_factors};
    struct rope windowed = {.rotary = s->rotary,
                            .base = window_base > 0 ? window_base : whole.base};
    return fill_angles(s->rope, &whole, s->context, why) &&
           (model->math.window == 0 || fill_angles(s->rope_window, &windowed, s->context, why));
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

static int whole_blocks(int rows) {
    return (rows + KERNELS_KEY_BLOCK - 1) / KERNELS_KEY_BLOCK * KERNELS_KEY_BLOCK;
}

static void set_up_heads(struct backend_state *s) {
    const struct model_math *math = &s->model->math;
    int head_dim = s->model->shape.head_dim;
    s->rotary = math->rotary > 0 ? math->rotary : head_dim;
    s->scale = math->score_scale > 0 ? math->score_scale : 1.0f / sqrtf((float)head_dim);
    // A block of tokens is written before its first token attends.
    int rows = whole_blocks(math->window + BLOCK_TOKENS);
    s->rows = whole_blocks(s->context);
    s->window_rows = rows < s->rows ? rows : s->rows;
    for (int i = 0; i < s->model->shape.layers; i++)
        s->cache_at[i + 1] = s->cache_at[i] + (size_t)state_rows(s, i) * (size_t)s->kv_rows;
}

static bool set_up(struct backend_state *s, const struct backend_opts *opts, struct why *why) {
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
    set_up_heads(s);
    s->own = calloc((size_t)s->members, sizeof *s->own);
    if (!s->own)
        return why_set(why, "the CPU backend is out of memory");
    if (!take_arrays(s, why) || !threads_create(&s->threads, s->members, why))
        return false;
    if (s->made)
        threads_run(s->threads, make_weights, s);
    return fill_rope(s, why) && check_model(s->model, why);
}

static bool open_state(struct backend_state **out, const struct model *model,
                       const struct backend_opts *opts, struct why *why) {
    *out = NULL;
    if (!model->is_made && !check_model(model, why)) // one that is made is checked then
        return false;
    struct backend_state *s = calloc(1, sizeof *s);
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

static bool available(struct why *why) {
    return kernels_choose(NULL, why) != NULL;
}

static void describe(char *out, size_t bytes) {
    char name[96];
    struct why why;
    cores_name(name, sizeof name, "");
    const struct kernels *kernels = kernels_choose(NULL, &why);
    double memory_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    int cores = cores_here();
    snprintf(out, bytes, "%s, %d %s, %s, %.0f GiB memory", name, cores,
             cores == 1 ? "core" : "cores", kernels ? kernels->isa : "no kernels",
             memory_bytes / 0x1p30);
}

static void fill_info(const struct backend_state *s, struct run_info *info) {
    snprintf(info->device, sizeof info->device, "cpu");
    cores_name(info->device_name, sizeof info->device_name, "");
    snprintf(info->driver, sizeof info->driver, "%s", s->kernels->isa);
    info->threads = s->members;
    info->kv_value_bytes = (int)sizeof(float);
}

static bool measure_rates(struct backend_state *s, size_t working_set_bytes,
                          struct device_rates *out, struct why *why) {
    return rates_measure(out, s->threads, s->kernels, working_set_bytes, why);
}

static int64_t switches(struct backend_state *s) {
    return threads_switches(s->threads);
}

static int64_t lost_ns(struct backend_state *s) {
    return threads_lost_ns(s->threads);
}

const struct backend backend_cpu = {
    .abi = BACKEND_ABI,
    .name = "cpu",
    .available = available,
    .describe = describe,
    .open = open_state,
    .close = close_state,
    .pass = state_pass,
    .fill_info = fill_info,
    .measure_rates = measure_rates,
    .switches = switches,
    .lost_ns = lost_ns,
};
