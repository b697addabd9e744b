// See engine.h. The worker sleeps until a request arrives, measures it, leaves the result
// to be taken, and sleeps again. A new request and a stop look the same to a running
// measurement: one atomic flag, which the worker clears under the lock when it takes the
// next request. The lock is held for copies only, never across a pass, a callback or an
// allocation.
#include "compute/base/why.h"
#include "compute/engine/engine_parts.h"

#include "compute/base/stopwatch.h"
#include "compute/model/model.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- The worker ---

static void wake_owner(void *context) {
    const struct engine *engine = context;
    if (engine->wake)
        engine->wake(engine->wake_context);
}

// A new stage wakes at once, the count of its runs only now and then: a woken window and
// its display server take time from the core that measures.
static bool is_worth_waking(struct engine *engine, enum engine_stage stage) {
    int64_t now_ns = stopwatch_now_ns();
    if (stage == engine->woke_stage && now_ns - engine->woke_ns < ENGINE_WAKE_NS)
        return false;
    engine->woke_stage = stage;
    engine->woke_ns = now_ns;
    return true;
}

// Does nothing for a request that a newer one has replaced.
static void set_status(struct engine *engine, enum engine_stage stage, int done, int total) {
    struct exchange *x = engine->exchange;
    struct engine_status status = {
        .stage = stage, .done = done, .total = total, .request = engine->working_on};
    pthread_mutex_lock(&x->lock);
    bool is_news = x->status.request == status.request && !x->has_request;
    if (is_news)
        x->status = status;
    pthread_mutex_unlock(&x->lock);
    if (is_news && is_worth_waking(engine, stage))
        wake_owner(engine);
}

static void on_cold(void *context) {
    struct engine *engine = context;
    atomic_store(&engine->exchange->live_request, engine->working_on);
}

static void on_progress(void *context, enum measure_stage stage, int done, int total) {
    static const enum engine_stage stages[] = {
        [MEASURE_COLD] = ENGINE_COLD,
        [MEASURE_WARM] = ENGINE_WARM,
        [MEASURE_REPEAT] = ENGINE_REPEAT,
    };
    set_status(context, stages[stage], done, total);
}

static struct generate request_of(const struct engine *engine,
                                  const struct engine_request *request) {
    return (struct generate){
        .backend = engine->backend,
        .state = engine->state,
        .tokenizer = engine->tokenizer,
        .scratch = &engine->scratch,
        .script = engine->script,
        .vocab = engine->model->shape.vocab,
        .context = engine->context,
        .prompt = request->prompt,
        .prompt_count = request->prompt_count,
        .answer_tokens = request->answer_tokens,
        .answer_limit = request->answer_limit,
        .sampler = {.temperature = request->temperature,
                    .top_p_unit = request->top_p_unit,
                    .seed = request->seed},
        .without_cache = request->without_cache,
        .stop = &engine->exchange->stop,
        .busy = &engine->exchange->busy,
    };
}

static int checked_part(const struct engine_request *request) {
    return request->prompt_count < MEASURE_CHECK_TOKENS ? request->prompt_count
                                                        : MEASURE_CHECK_TOKENS;
}

static bool is_checked(const struct engine *engine, const struct engine_request *request) {
    int count = checked_part(request);
    return engine->checked_count == count &&
           memcmp(engine->checked, request->prompt, (size_t)count * sizeof(int32_t)) == 0;
}

static void remember_check(struct engine *engine, const struct engine_request *request) {
    engine->checked_count = checked_part(request);
    memcpy(engine->checked, request->prompt, (size_t)engine->checked_count * sizeof(int32_t));
}

static enum engine_stage stage_after(enum generate_end end) {
    return end == GENERATE_DONE      ? ENGINE_DONE
           : end == GENERATE_STOPPED ? ENGINE_IDLE
                                     : ENGINE_FAILED;
}

// Leaves the result to be taken, unless a newer request has replaced this one. A lost
// device also fails that newer request.
static void finish(struct engine *engine, enum generate_end end, bool has_result, const char *why) {
    struct exchange *x = engine->exchange;
    struct engine_status status = {.stage = stage_after(end), .request = engine->working_on};
    if (status.stage == ENGINE_FAILED)
        why_set(&status.why, "%s", why);
    pthread_mutex_lock(&x->lock);
    if (end == GENERATE_LOST && !x->lost.text[0])
        why_set(&x->lost, "%s", why[0] ? why : "the device was lost");
    bool is_wanted = !x->has_request && x->status.request == engine->working_on;
    if (is_wanted) {
        x->status = status;
        x->has_result = end == GENERATE_DONE && has_result;
        if (x->has_result) {
            x->result = engine->work;
            memset(&engine->work, 0, sizeof engine->work);
        }
    }
    pthread_mutex_unlock(&x->lock);
    if (is_wanted)
        wake_owner(engine);
}

// Comes after the repeats, so that its effect on caches and clocks disturbs none of them.
// Where it fails, only the roofline is missing, and the result says why.
static void measure_roofline(struct engine *engine) {
    struct measure_result *work = &engine->work;
    struct device_rates rates;
    size_t step_bytes = (size_t)roofline_step_bytes(work->shown);
    if (!engine->backend->measure_rates ||
        !engine->backend->measure_rates(engine->state, step_bytes, &rates, &work->no_roofline))
        return;
    const struct run_info *info = &engine->info;
    rates_share(&rates, info->device, info->threads);
    roofline_of(&work->roofline, &engine->model->shape, work->shown, &rates,
                work->prefill.median_ns, work->step.median_ns);
    rates_share(&work->roofline.rates, info->device, info->threads); // what the run proves
}

static void work_on(struct engine *engine, const struct engine_request *request) {
    struct why why = {0};
    struct generate generate = request_of(engine, request);
    generate.on_grown = wake_owner;
    generate.watcher = engine;
    struct run_info info = engine->info;
    info.chat = request->chat;
    stopwatch_utc_date(info.date);
    measure_clear(&engine->work);
    enum generate_end end = measure_run(&engine->work,
                                        &(struct measure_plan){
                                            .generate = &generate,
                                            .info = &info,
                                            .repeats = request->repeats,
                                            .budget_ns = request->budget_ns,
                                            .settle_ns = request->settle_ns,
                                            .pause_ns = request->pause_ns,
                                            .is_checked = is_checked(engine, request),
                                            .publish = &engine->exchange->publish,
                                            .on_cold = on_cold,
                                            .on_progress = on_progress,
                                            .context = engine,
                                        },
                                        &why);
    if (engine->work.prefill_checked)
        remember_check(engine, request);
    bool has_roofline = request->wants_roofline && !request->without_cache;
    if (end == GENERATE_DONE && has_roofline)
        measure_roofline(engine);
    finish(engine, end, true, why.text);
}

static void on_points(void *context, const struct sweep *sweep, int done, int total) {
    struct engine *engine = context;
    struct exchange *x = engine->exchange;
    pthread_mutex_lock(&x->lock);
    x->sweep = *sweep;
    pthread_mutex_unlock(&x->lock);
    set_status(engine, ENGINE_SWEEP, done, total);
}

static void work_on_sweep(struct engine *engine, const struct engine_request *request,
                          int shortest) {
    struct why why = {0};
    struct generate generate = request_of(engine, request);
    enum generate_end end = GENERATE_FAILED;
    if (sweep_work_begin(&engine->sweep, request->prompt, request->prompt_count, shortest,
                         engine->context, &why))
        end = sweep_measure(&engine->sweep,
                            &(struct sweep_plan){
                                .generate = &generate,
                                .repeats = request->repeats,
                                .budget_ns = request->budget_ns,
                                .pause_ns = request->pause_ns,
                                .on_points = on_points,
                                .context = engine,
                            },
                            &why);
    finish(engine, end, false, why.text);
}

// A request posted before the device was known to be lost fails as it would have failed
// in engine_start.
static bool is_lost(const struct engine *engine, struct why *why) {
    struct exchange *x = engine->exchange;
    pthread_mutex_lock(&x->lock);
    bool is = x->lost.text[0] != '\0';
    if (is)
        why_set(why, "%s", x->lost.text);
    pthread_mutex_unlock(&x->lock);
    return is;
}

// Waits for a request and moves it out. False: the engine is closing.
static bool take_request(struct engine *engine, struct engine_request *out, int *sweep_from,
                         struct measure_result *dropped) {
    struct exchange *x = engine->exchange;
    pthread_mutex_lock(&x->lock);
    while (!x->has_request && !x->is_closing)
        pthread_cond_wait(&x->changed, &x->lock);
    bool is_there = !x->is_closing;
    memset(dropped, 0, sizeof *dropped);
    if (is_there) {
        *out = x->request;
        *sweep_from = x->sweep_from;
        x->has_request = false;
        engine->working_on = x->status.request;
        atomic_store(&x->stop, false);
        if (x->has_result)
            *dropped = x->result;
        x->has_result = false;
    }
    pthread_mutex_unlock(&x->lock);
    return is_there;
}

void *engine_work(void *context) {
    struct engine *engine = context;
    struct engine_request request;
    struct measure_result dropped;
    struct why why;
    int sweep_from;
    while (take_request(engine, &request, &sweep_from, &dropped)) {
        measure_clear(&dropped);
        if (is_lost(engine, &why))
            finish(engine, GENERATE_FAILED, false, why.text);
        else if (sweep_from > 0)
            work_on_sweep(engine, &request, sweep_from);
        else
            work_on(engine, &request);
        free((void *)(uintptr_t)request.prompt); // owned by the exchange, see engine_start
    }
    return NULL;
}

// --- What the owner asks ---

const struct tokenizer *engine_tokenizer(const struct engine *engine) {
    return engine->tokenizer;
}

int engine_context(const struct engine *engine) {
    return engine->context;
}

const struct model_shape *engine_shape(const struct engine *engine) {
    return &engine->model->shape;
}

void engine_fill_info(const struct engine *engine, struct run_info *info) {
    *info = engine->info;
}

void engine_on_change(struct engine *engine, void (*wake)(void *context), void *context) {
    engine->wake = wake;
    engine->wake_context = context;
}

static bool check_request(const struct engine *engine, const struct engine_request *request,
                          struct why *why) {
    if (request->repeats < 1 || request->repeats > MEASURE_MAX_REPEATS)
        return why_set(why, "%d repeats were asked for, expected 1 to %d", request->repeats,
                       MEASURE_MAX_REPEATS);
    if (request->budget_ns < 0 || request->pause_ns < 0 || request->settle_ns < 0)
        return why_set(why, "a measurement's budget and pauses cannot be negative");
    struct generate generate = request_of(engine, request);
    return generate_check(&generate, why);
}

// Hands a checked request to the worker.
static bool post(struct engine *engine, const struct engine_request *request, int sweep_from,
                 struct why *why) {
    struct engine_request mine = *request;
    size_t bytes = (size_t)request->prompt_count * sizeof *request->prompt;
    int32_t *prompt = malloc(bytes);
    if (!prompt)
        return why_set(why, "no memory for a prompt of %d tokens", request->prompt_count);
    memcpy(prompt, request->prompt, bytes);
    mine.prompt = prompt;
    engine->is_taken = false;
    engine->requested++;

    struct exchange *x = engine->exchange;
    pthread_mutex_lock(&x->lock);
    const int32_t *overtaken = x->has_request ? x->request.prompt : NULL;
    x->request = mine;
    x->sweep_from = sweep_from;
    x->has_request = true;
    x->status = (struct engine_status){.stage = sweep_from > 0 ? ENGINE_SWEEP : ENGINE_COLD,
                                       .total = sweep_from > 0 ? 0 : 1,
                                       .request = engine->requested};
    atomic_store(&x->stop, true); // until the worker takes this one
    pthread_cond_signal(&x->changed);
    pthread_mutex_unlock(&x->lock);
    free((void *)(uintptr_t)overtaken);
    return true;
}

bool engine_start(struct engine *engine, const struct engine_request *request, struct why *why) {
    return check_request(engine, request, why) && !is_lost(engine, why) &&
           post(engine, request, 0, why);
}

bool engine_start_sweep(struct engine *engine, const struct engine_sweep_request *request,
                        struct why *why) {
    struct engine_request as_run = {
        .prompt = request->prompt,
        .prompt_count = request->prompt_count,
        .answer_limit = 1,
        .repeats = request->repeats,
        .budget_ns = request->budget_ns,
        .pause_ns = request->pause_ns,
    };
    if (request->shortest < 0 || request->shortest > request->prompt_count)
        return why_set(why, "a sweep from %d tokens on was asked for, expected 1 to %d",
                       request->shortest, request->prompt_count);
    return check_request(engine, &as_run, why) && !is_lost(engine, why) &&
           post(engine, &as_run, request->shortest > 0 ? request->shortest : 1, why);
}

bool engine_sweep_points(const struct engine *engine, struct sweep *out) {
    struct exchange *x = engine->exchange;
    pthread_mutex_lock(&x->lock);
    *out = x->sweep;
    pthread_mutex_unlock(&x->lock);
    return out->prefill_count > 0;
}

void engine_stop(struct engine *engine) {
    struct exchange *x = engine->exchange;
    pthread_mutex_lock(&x->lock);
    const int32_t *forgotten = x->has_request ? x->request.prompt : NULL;
    if (x->has_request) {
        x->has_request = false;
        x->status.stage = ENGINE_IDLE;
    }
    atomic_store(&x->stop, true);
    pthread_mutex_unlock(&x->lock);
    free((void *)(uintptr_t)forgotten);
}

void engine_poll(const struct engine *engine, struct engine_status *out) {
    struct exchange *x = engine->exchange;
    pthread_mutex_lock(&x->lock);
    *out = x->status;
    pthread_mutex_unlock(&x->lock);
}

bool engine_live(const struct engine *engine, struct run *out) {
    const struct exchange *x = engine->exchange;
    // An older request's cold run may be freed at any moment now.
    if (engine->is_taken || engine->requested == 0 ||
        atomic_load(&x->live_request) != engine->requested)
        return false;
    return publish_prefix(&x->publish, out, NULL);
}

bool engine_is_busy(const struct engine *engine) {
    return atomic_load_explicit(&engine->exchange->busy, memory_order_relaxed);
}

bool engine_take(struct engine *engine, struct measure_result *out) {
    struct exchange *x = engine->exchange;
    pthread_mutex_lock(&x->lock);
    bool is_there = x->has_result && !x->has_request;
    if (is_there) {
        *out = x->result;
        x->has_result = false;
    }
    pthread_mutex_unlock(&x->lock);
    if (is_there)
        engine->is_taken = true;
    return is_there;
}
