// See sweep_measure.h. A visit is one sample of one length: prefill from an empty cache,
// then the same step several times over, always at the same place in the cache, so that
// its context is exactly the length. The times are those of a run's passes: from right
// before the first pass to the chosen token.
#include "compute/measure/sweep_measure.h"

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/measure/measure.h"

#include <stdlib.h>
#include <string.h>

enum {
    OWN_WARM_UP_NS = 1000000000, // a pass this long needs no other before it
    MAX_STEPS = SWEEP_STEPS * MEASURE_MAX_REPEATS,
};

struct sweep_samples {
    int prefill_count, step_count;
    int64_t prefill_ns[MEASURE_MAX_REPEATS];
    int64_t step_ns[MAX_STEPS];
};

// --- The lengths and their order ---

// Ends first, then the middle of every gap, then the middles of those.
static void order_visits(struct sweep_work *work) {
    bool is_in[SWEEP_MAX_POINTS] = {false};
    int placed = 0, gap = 1;
    while (gap < work->count - 1)
        gap *= 2;
    for (; gap >= 1; gap /= 2) {
        for (int at = 0; at < work->count - 1 + gap; at += gap) {
            int index = at < work->count ? at : work->count - 1;
            if (is_in[index])
                continue;
            is_in[index] = true;
            work->order[placed++] = index;
        }
    }
}

static bool is_same(const struct sweep_work *work, const int32_t *prompt, int longest, int shortest,
                    int context) {
    return work->samples && !work->is_whole && work->longest == longest &&
           work->context == context && work->lengths[0] == shortest &&
           memcmp(work->prompt, prompt, (size_t)longest * sizeof *prompt) == 0;
}

bool sweep_work_begin(struct sweep_work *work, const int32_t *prompt, int longest, int shortest,
                      int context, struct why *why) {
    int lengths[SWEEP_MAX_POINTS];
    int all = sweep_lengths(lengths, longest), skipped = 0;
    while (skipped < all - 1 && lengths[skipped] < shortest)
        skipped++;
    if (all > 0 && is_same(work, prompt, longest, lengths[skipped], context))
        return true;
    sweep_work_clear(work);
    work->count = all - skipped;
    work->longest = longest;
    work->context = context;
    memcpy(work->lengths, lengths + skipped, (size_t)work->count * sizeof(int));
    order_visits(work);
    work->prompt = malloc((size_t)longest * sizeof *prompt);
    work->samples = calloc((size_t)work->count, sizeof *work->samples);
    if (!work->prompt || !work->samples) {
        sweep_work_clear(work);
        return why_set(why, "no memory for a sweep up to %d tokens", longest);
    }
    memcpy(work->prompt, prompt, (size_t)longest * sizeof *prompt);
    return true;
}

void sweep_work_clear(struct sweep_work *work) {
    free(work->prompt);
    free(work->samples);
    memset(work, 0, sizeof *work);
}

// --- One visit ---

static void ignore_mark(void *context, int stage, int64_t end_ns) {
    (void)context;
    (void)stage;
    (void)end_ns;
}

static bool is_stopped(void *context) {
    return generate_is_stopped(context);
}

// Passes `count` tokens after the first `from`, as a run does, and checks the token they
// yield; *ns is how long it took.
static enum generate_end timed(const struct generate *g, const int32_t *tokens, int count, int from,
                               int64_t *ns, struct why *why) {
    int64_t start_ns = stopwatch_now_ns();
    int32_t id = -1;
    for (int at = 0; at < count;) {
        bool is_last = count - at <= BACKEND_PREFILL_CHUNK;
        struct backend_pass pass = {
            .tokens = tokens + at,
            .count = is_last ? count - at : BACKEND_PREFILL_CHUNK,
            .first_position = from + at,
            .greedy_id = is_last ? &id : NULL,
            .on_mark = ignore_mark,
            .is_stopped = is_stopped,
            .context = (void *)(uintptr_t)g, // only read
        };
        enum generate_end end = generate_pass(g, &pass, why);
        if (end != GENERATE_DONE)
            return end;
        at += pass.count;
    }
    *ns = stopwatch_now_ns() - start_ns;
    if (id >= 0)
        return GENERATE_DONE;
    why_set(why, "the scores after %d tokens are not numbers: the weights are damaged", count);
    return GENERATE_FAILED;
}

static enum generate_end prefill(const struct sweep_work *work, const struct generate *g,
                                 int length, bool is_first, int64_t *ns, struct why *why) {
    enum generate_end end = timed(g, work->prompt, length, 0, ns, why);
    if (end != GENERATE_DONE || !is_first || *ns >= OWN_WARM_UP_NS)
        return end;
    return timed(g, work->prompt, length, 0, ns, why);
}

// The first step after a prefill is dropped: it finds other data in the caches.
static enum generate_end steps(const struct sweep_work *work, const struct generate *g, int length,
                               int64_t ns[SWEEP_STEPS], struct why *why) {
    enum generate_end end = GENERATE_DONE;
    for (int i = -1; i < SWEEP_STEPS && end == GENERATE_DONE; i++) {
        int64_t step_ns = 0;
        end = timed(g, work->prompt, 1, length, &step_ns, why);
        if (i >= 0)
            ns[i] = step_ns;
    }
    return end;
}

// Adds its samples only if the whole visit succeeded.
static enum generate_end visit(struct sweep_work *work, const struct generate *g, int index,
                               struct why *why) {
    struct sweep_samples *s = &work->samples[index];
    int length = work->lengths[index];
    int64_t prefill_ns = 0, step_ns[SWEEP_STEPS];
    bool has_steps = length < work->context;
    enum generate_end end = prefill(work, g, length, s->prefill_count == 0, &prefill_ns, why);
    if (end == GENERATE_DONE && has_steps)
        end = steps(work, g, length, step_ns, why);
    if (end != GENERATE_DONE)
        return end;
    s->prefill_ns[s->prefill_count++] = prefill_ns;
    for (int i = 0; i < SWEEP_STEPS && has_steps; i++)
        s->step_ns[s->step_count++] = step_ns[i];
    return GENERATE_DONE;
}

// --- The points ---

static void add_point(struct sweep_point *points, int *count, int tokens, int64_t *samples_ns,
                      int samples) {
    if (samples < 1)
        return;
    struct spread spread = spread_of_samples(samples_ns, samples);
    points[(*count)++] =
        (struct sweep_point){tokens, spread.median_ns, spread.p10_ns, spread.p90_ns, spread.count};
}

static void collect(struct sweep *out, const struct sweep_work *work) {
    memset(out, 0, sizeof *out);
    for (int i = 0; i < work->count; i++) {
        struct sweep_samples *s = &work->samples[i];
        add_point(out->prefill, &out->prefill_count, work->lengths[i], s->prefill_ns,
                  s->prefill_count);
        add_point(out->step, &out->step_count, work->lengths[i], s->step_ns, s->step_count);
    }
}

static void tell(const struct sweep_work *work, const struct sweep_plan *plan) {
    struct sweep sweep;
    if (!plan->on_points)
        return;
    collect(&sweep, work);
    plan->on_points(plan->context, &sweep, work->visits, work->count * plan->repeats);
}

enum generate_end sweep_measure(struct sweep_work *work, const struct sweep_plan *plan,
                                struct why *why) {
    const struct generate *g = plan->generate;
    int64_t start_ns = stopwatch_now_ns();
    int total = work->count * plan->repeats;
    tell(work, plan);
    while (work->visits < total) {
        bool is_spent = stopwatch_now_ns() - start_ns >= plan->budget_ns;
        if (is_spent && work->visits >= SWEEP_LEAST_VISITS)
            break;
        measure_rest(g, plan->pause_ns);
        if (generate_is_stopped(g))
            return generate_stopped(why);
        generate_set_busy(g, true);
        enum generate_end end = visit(work, g, work->order[work->visits % work->count], why);
        generate_set_busy(g, false);
        if (end != GENERATE_DONE)
            return end;
        work->visits++;
        tell(work, plan);
    }
    work->is_whole = true;
    return GENERATE_DONE;
}
