// Opens and closes an engine: the backend for the requested device, the model from a file or
// a shape, and the worker thread (engine.c).
#include "compute/base/why.h"
#include "compute/engine/engine_parts.h"

#include "compute/backend/load.h"
#include "compute/model/accept.h"
#include "compute/model/obstacles.h"
#include "compute/model/shape.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The card of "cuda:N"; -1 = the first that works.
static int card_of(const char *device) {
    return device && strncmp(device, "cuda:", 5) == 0 ? atoi(device + 5) : -1;
}

static bool is_cuda(const char *device) {
    return device && (strcmp(device, "cuda") == 0 || strncmp(device, "cuda:", 5) == 0);
}

// Auto takes a card if one works, else the CPU.
static bool pick_backend(struct engine *engine, const char *device, struct why *why) {
    struct why cuda_why = {0};
    bool is_auto = !device || strcmp(device, "auto") == 0;
    if (!is_auto && !is_cuda(device) && strcmp(device, backend_cpu.name) != 0)
        return why_set(why, "device '%s' is not known here: use auto, cpu, cuda or cuda:N", device);
    engine->backend = is_auto || is_cuda(device) ? backend_load_cuda(&cuda_why) : &backend_cpu;
    if (!engine->backend && is_cuda(device))
        return why_set(why, "%s cannot be used: %s", device, cuda_why.text);
    if (!engine->backend)
        engine->backend = &backend_cpu;
    return engine->backend->available(why);
}

static bool choose_backend(struct engine *engine, const struct engine_opts *opts, struct why *why) {
    if (!opts->backend)
        return pick_backend(engine, opts->device, why);
    engine->backend = opts->backend;
    return true;
}

static void describe_model(struct engine *engine) {
    const struct model *model = engine->model;
    struct run_info *info = &engine->info;
    info->origin = RUN_MEASURED;
    info->counting = RUN_ENGINE;
    snprintf(info->model, sizeof info->model, "%s", model->name);
    snprintf(info->weights, sizeof info->weights, "%s", model->weights);
    snprintf(info->weight_type, sizeof info->weight_type, "%s", model_weight_type(model));
    snprintf(info->clock, sizeof info->clock, "CLOCK_MONOTONIC");
    model_fill_info(model, info);
    engine->backend->fill_info(engine->state, info);
}

// The tokenizer alone, of a file whose weights are not used.
static bool borrow_tokenizer(struct engine *engine, const char *path, struct why *why) {
    struct gguf *file;
    if (!gguf_open(&file, path, why))
        return false;
    bool ok = tokenizer_open(&engine->tokenizer, file, why);
    gguf_close(file);
    int words = ok ? tokenizer_vocab(engine->tokenizer) : 0;
    if (words > engine->model->shape.vocab)
        return why_set(why,
                       "%s knows %d tokens, and the words come from a file of %d: use the "
                       "program's own model for them",
                       engine->model->name, engine->model->shape.vocab, words);
    return ok;
}

static bool read_script(struct engine *engine, const char *text, struct why *why) {
    size_t bytes = strlen(text), capacity = tokenizer_encode_bound(bytes);
    int32_t *ids = malloc((capacity + 1) * sizeof *ids);
    if (!ids)
        return why_set(why, "no memory for a script of %zu bytes", bytes);
    engine->script.ids = ids;
    engine->script.count =
        tokenizer_encode(engine->tokenizer, ids, (int)capacity, text, bytes, false, why);
    if (engine->script.count < 0)
        return false;
    if (tokenizer_eos(engine->tokenizer) >= 0)
        ids[engine->script.count++] = tokenizer_eos(engine->tokenizer);
    return engine->script.count > 0 || why_set(why, "the script of a shape's answer is empty");
}

static bool make_shape(struct engine *engine, const struct engine_opts *opts, struct why *why) {
    const struct shape_preset *preset = shape_find(opts->shape, why);
    enum gguf_tensor_type type =
        preset && opts->shape_type == GGUF_TENSOR_F32 ? preset->type : opts->shape_type;
    return preset && shape_model(&engine->model, preset, type, opts->shape_seed, why) &&
           borrow_tokenizer(engine, opts->model_path, why) &&
           read_script(engine, opts->script ? opts->script : "", why);
}

struct loading {
    const struct engine_opts *opts;
    size_t total_bytes;
};

static bool on_part(void *context, size_t done_bytes) {
    const struct loading *loading = context;
    const struct engine_opts *opts = loading->opts;
    return !opts->on_loading ||
           opts->on_loading(opts->loading_context, done_bytes, loading->total_bytes);
}

// The header alone.
static bool read_file(struct engine *engine, const struct engine_opts *opts, struct why *why) {
    struct gguf *file;
    if (!gguf_open(&file, opts->model_path, why))
        return false;
    if (!model_accept(&engine->model, &engine->tokenizer, file, opts->model_path, why)) {
        gguf_close(file);
        return false;
    }
    if (opts->bundled)
        snprintf(engine->model->weights, sizeof engine->model->weights, "bundled");
    return true;
}

static bool read_weights(const struct engine *engine, const struct engine_opts *opts,
                         struct why *why) {
    const struct gguf *file = engine->model->file;
    struct loading loading = {opts, file ? gguf_bytes(file) : 0};
    if (!file)
        return true;
    if (!gguf_touch(file, on_part, &loading))
        return why_set(why, "stopped while loading the model");
    return obstacles_no_holes(file, why);
}

// With "auto", a model that does not fit on the card is opened on the CPU; if it fits on
// neither, `why` gives the card's reason.
static bool open_state(struct engine *engine, const struct engine_opts *opts, struct why *why) {
    struct why cpu_why;
    struct backend_opts backend = {.threads = opts->threads,
                                   .context = engine->context,
                                   .device = card_of(opts->device),
                                   .marks = opts->marks};
    if (engine->backend->open(&engine->state, engine->model, &backend, why))
        return true;
    bool is_chosen = opts->device && strcmp(opts->device, "auto") != 0;
    if (is_chosen || engine->backend == &backend_cpu)
        return false;
    engine->backend = &backend_cpu;
    return engine->backend->open(&engine->state, engine->model, &backend, &cpu_why);
}

static bool open_model(struct engine *engine, const struct engine_opts *opts, struct why *why) {
    if (!(opts->shape ? make_shape(engine, opts, why) : read_file(engine, opts, why)))
        return false;
    int most = engine->model->shape.context;
    engine->context = opts->context ? opts->context : most < ENGINE_CONTEXT ? most : ENGINE_CONTEXT;
    // The CPU computes with the mapped file and knows whether all has room before a byte of weights
    // is read; a card copies them when it is opened.
    bool is_read_first = engine->backend != &backend_cpu;
    if ((is_read_first && !read_weights(engine, opts, why)) || !open_state(engine, opts, why) ||
        (!is_read_first && !read_weights(engine, opts, why)) ||
        !generate_scratch_create(&engine->scratch, engine->tokenizer, engine->model->shape.vocab,
                                 why))
        return false;
    describe_model(engine);
    return true;
}

static struct exchange *create_exchange(void) {
    struct exchange *x = calloc(1, sizeof *x);
    if (!x)
        return NULL;
    pthread_mutex_init(&x->lock, NULL); // cannot fail with default attributes
    pthread_cond_init(&x->changed, NULL);
    return x;
}

static bool start_worker(struct engine *engine, struct why *why) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&engine->worker, NULL, engine_work, engine);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    engine->has_worker = error == 0;
    return error == 0 || why_set(why, "cannot start the worker thread: %s", strerror(error));
}

bool engine_open(struct engine **out, const struct engine_opts *opts, struct why *why) {
    *out = NULL;
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return why_set(why, "the engine is out of memory");
    engine->exchange = create_exchange();
    bool is_good = engine->exchange || why_set(why, "the engine is out of memory");
    if (!is_good || !choose_backend(engine, opts, why) || !open_model(engine, opts, why) ||
        !start_worker(engine, why)) {
        engine_close(engine);
        return false;
    }
    *out = engine;
    return true;
}

static void destroy_exchange(struct exchange *x) {
    if (!x)
        return;
    if (x->has_request)
        free((void *)(uintptr_t)x->request.prompt);
    if (x->has_result)
        measure_clear(&x->result);
    pthread_cond_destroy(&x->changed);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

void engine_close(struct engine *engine) {
    if (!engine)
        return;
    if (engine->has_worker) {
        struct exchange *x = engine->exchange;
        pthread_mutex_lock(&x->lock);
        x->is_closing = true;
        atomic_store(&x->stop, true);
        pthread_cond_signal(&x->changed);
        pthread_mutex_unlock(&x->lock);
        pthread_join(engine->worker, NULL);
    }
    destroy_exchange(engine->exchange);
    measure_clear(&engine->work);
    sweep_work_clear(&engine->sweep);
    generate_scratch_clear(&engine->scratch);
    free((void *)(uintptr_t)engine->script.ids);
    if (engine->state)
        engine->backend->close(engine->state);
    tokenizer_close(engine->tokenizer);
    model_close(engine->model);
    free(engine);
}
