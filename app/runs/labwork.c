// See labwork.h.
#include "app/runs/labwork.h"

#include "compute/base/num.h"
#include "compute/base/why.h"
#include "compute/file/runfile.h"

#include <stdio.h>
#include <string.h>

enum { SWEEP_REPEATS = 5, UNCACHED_REPEATS = 3 };
#define UNCACHED_BUDGET_NS INT64_C(3000000000)
#define ROOFLINE_BUDGET_NS INT64_C(200000000)

void labwork_clear(struct labwork *work) {
    run_destroy(work->uncached);
    run_destroy(work->kept);
    *work = (struct labwork){0};
}

static void put_kept(struct labwork *work, struct run *run, const char *name) {
    run_destroy(work->kept);
    work->kept = run;
    snprintf(work->kept_name, sizeof work->kept_name, "%s", name);
}

bool labwork_load_kept(struct labwork *work, const char *path, struct why *why) {
    struct run *run = NULL;
    if (!runfile_load(&run, NULL, path, why))
        return false;
    if (run->state != RUN_COMPLETE) {
        run_destroy(run);
        return why_set(why, "%.160s holds no finished answer to compare with", path);
    }
    const char *slash = strrchr(path, '/');
    put_kept(work, run, slash ? slash + 1 : path);
    return true;
}

bool labwork_keep(struct labwork *work, const struct run *run, struct why *why) {
    struct run *copy = NULL;
    if (run->state != RUN_COMPLETE)
        return why_set(why, "only a finished run can be kept");
    if (!run_copy(&copy, run, why))
        return false;
    put_kept(work, copy, "kept");
    return true;
}

void labwork_take(struct labwork *work, const struct runfile_extras *extras) {
    const struct sweep *sweep = &extras->sweep;
    work->sweep = *sweep;
    work->roofline = extras->roofline;
    work->is_sweep_whole = sweep->prefill_count > 0;
    if (work->is_sweep_whole)
        work->longest = sweep->prefill[sweep->prefill_count - 1].tokens;
}

unsigned labwork_wants(int page) {
    static const unsigned pages[] = {LABWORK_ROOFLINE | LABWORK_SWEEP, LABWORK_SWEEP,
                                     LABWORK_UNCACHED | LABWORK_SWEEP};
    return page >= 0 && page < (int)(sizeof pages / sizeof pages[0]) ? pages[page] : 0;
}

// The longest prompt that a sweep goes to: what the context holds beside a short answer.
static int longest_prompt(const struct source *source) {
    enum { STEPS = 8 };
    return min_int(engine_context(source->engine) - STEPS, 1024);
}

// Starts one job: the sweep, or the same answer again, for the device's rates or without a
// KV cache.
static bool start(struct labwork *work, struct source *source, const struct run_request *request,
                  unsigned bit) {
    if (bit == LABWORK_SWEEP) {
        work->longest = longest_prompt(source);
        return source_start_sweep(source, work->longest, SWEEP_REPEATS, &work->trouble);
    }
    bool is_roofline = bit == LABWORK_ROOFLINE;
    struct engine_request wanted =
        source_request(source, request, is_roofline ? MEASURE_MIN_REPEATS : UNCACHED_REPEATS);
    wanted.budget_ns = is_roofline ? ROOFLINE_BUDGET_NS : UNCACHED_BUDGET_NS;
    wanted.wants_roofline = is_roofline;
    wanted.without_cache = !is_roofline;
    return engine_start(source->engine, &wanted, &work->trouble);
}

static unsigned missing(const struct labwork *work) {
    unsigned bits = 0;
    bits |= work->is_sweep_whole ? 0u : LABWORK_SWEEP;
    bits |= work->roofline.is_measured ? 0u : LABWORK_ROOFLINE;
    bits |= work->uncached ? 0u : LABWORK_UNCACHED;
    return bits & ~work->given_up;
}

bool labwork_start(struct labwork *work, struct source *source, const struct run_request *request,
                   unsigned wants) {
    static const unsigned order[] = {LABWORK_ROOFLINE, LABWORK_UNCACHED, LABWORK_SWEEP};
    wants &= missing(work);
    bool has_news = wants != 0; // a start, or a failure to tell
    for (size_t i = 0; i < sizeof order / sizeof order[0] && !work->doing; i++) {
        if (!(wants & order[i]))
            continue;
        if (start(work, source, request, order[i]))
            work->doing = order[i];
        else
            work->given_up |= order[i];
    }
    return has_news;
}

static void take_measured(struct labwork *work, struct source *source) {
    struct measure_result result;
    if (!engine_take(source->engine, &result))
        return;
    if (work->doing == LABWORK_ROOFLINE)
        work->roofline = result.roofline;
    if (work->doing == LABWORK_ROOFLINE && !result.roofline.is_measured)
        work->given_up |= LABWORK_ROOFLINE;
    if (work->doing == LABWORK_UNCACHED) {
        run_destroy(work->uncached);
        work->uncached = result.shown;
        result.shown = NULL;
        if (!work->uncached)
            work->given_up |= LABWORK_UNCACHED;
    }
    measure_clear(&result);
}

bool labwork_poll(struct labwork *work, struct source *source) {
    struct engine_status status;
    if (!work->doing)
        return false;
    engine_poll(source->engine, &status);
    bool has_moved = status.done != work->done || status.total != work->total;
    work->done = status.done;
    work->total = status.total;
    if (work->doing == LABWORK_SWEEP)
        engine_sweep_points(source->engine, &work->sweep);
    if (status.stage == ENGINE_FAILED) {
        why_set(&work->trouble, "%s", status.why.text);
        work->given_up |= work->doing;
    } else if (status.stage != ENGINE_DONE) {
        return has_moved;
    } else if (work->doing == LABWORK_SWEEP) {
        work->is_sweep_whole = true;
    } else {
        take_measured(work, source);
    }
    work->doing = 0;
    return true;
}

void labwork_fit(struct labwork *work, const struct model_shape *shape, const struct run *run) {
    struct device_rates rates = work->roofline.rates;
    if (!work->roofline.is_measured || !shape)
        return;
    roofline_of(&work->roofline, shape, run, &rates, run_prefill_ns(run), run_tpot_ns(run));
}

struct at_hand labwork_at_hand(const struct labwork *work, const struct run *run,
                               const struct lesson *lesson, bool has_engine) {
    bool has_clock = run && run->info.origin != RUN_LESSON;
    // Rates read from a file belong to that file's measured run; an engine's fit any run.
    bool has_roofline =
        work->roofline.is_measured && run && (has_engine || run->info.origin == RUN_MEASURED);
    bool is_open = !work->is_sweep_whole && !(work->given_up & LABWORK_SWEEP);
    return (struct at_hand){
        .run = run,
        .lesson = lesson,
        .has_engine = has_engine,
        .sweep = &work->sweep,
        .is_sweeping = has_clock && has_engine && is_open,
        .longest_sweep = work->longest,
        .trouble = work->trouble.text[0] ? work->trouble.text : NULL,
        .roofline = has_roofline ? &work->roofline : NULL,
        .uncached = has_clock ? work->uncached : NULL,
        .kept = work->kept,
        .kept_name = work->kept_name,
    };
}

void labwork_forget_run(struct labwork *work) {
    run_destroy(work->uncached);
    work->uncached = NULL;
    work->given_up &= ~(unsigned)LABWORK_UNCACHED;
}

void labwork_forget_model(struct labwork *work) {
    struct labwork kept = {.kept = work->kept};
    memcpy(kept.kept_name, work->kept_name, sizeof kept.kept_name);
    run_destroy(work->uncached);
    *work = kept;
}
