// See measure.h. All runs of a measurement are the same request with the same seed,
// so they must give the same tokens; that is checked, since a device that answers
// differently each time measures nothing. Whatever needs memory or time of its own
// happens between two runs.
#include "compute/measure/measure.h"

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BATCH = 3, // warm-up runs that give one median
    MOST_BATCHES = 10,
    SETTLED_PERCENT = 2,
    NAP_NS = 10000000, // a pause looks at the stop flag this often
};

// A running measurement.
struct session {
    const struct measure_plan *plan;
    struct measure_result *out;
    struct run *runs[MEASURE_MAX_REPEATS]; // owned: the repeats that count
    struct run *spare;                     // owned: of the warm-up
    int64_t start_ns;                      // of the budget
    struct why *why;
};

// --- Between runs ---

static void tell(const struct session *s, enum measure_stage stage, int done, int total) {
    if (s->plan->on_progress)
        s->plan->on_progress(s->plan->context, stage, done, total);
}

void measure_rest(const struct generate *generate, int64_t rest_ns) {
    int64_t end_ns = stopwatch_now_ns() + rest_ns;
    while (!generate_is_stopped(generate)) {
        int64_t left_ns = end_ns - stopwatch_now_ns();
        if (left_ns <= 0)
            return;
        nanosleep(&(struct timespec){.tv_nsec = (long)(left_ns < NAP_NS ? left_ns : NAP_NS)}, NULL);
    }
}

static int64_t spent_ns(const struct session *s) {
    return stopwatch_now_ns() - s->start_ns;
}

static bool same_answer(const struct run *a, const struct run *b) {
    if (a->answer_count != b->answer_count)
        return false;
    for (int i = 0; i < a->answer_count; i++) {
        if (a->tokens[a->prompt_count + i].id != b->tokens[b->prompt_count + i].id)
            return false;
    }
    return true;
}

// --- The prefill check ---

static enum generate_end step_by_step(const struct generate *g, int count, float *logits,
                                      struct why *why) {
    enum generate_end end = GENERATE_DONE;
    for (int i = 0; i < count && end == GENERATE_DONE; i++) {
        if (generate_is_stopped(g))
            return generate_stopped(why);
        struct backend_pass pass = {
            .tokens = g->prompt + i,
            .count = 1,
            .first_position = i,
            .logits = i == count - 1 ? logits : NULL,
        };
        end = generate_pass(g, &pass, why);
    }
    return end;
}

static bool agree(const float *whole, const float *steps, int count, double error,
                  struct why *why) {
    double largest = 0, apart = 0;
    for (int i = 0; i < count; i++) {
        double difference = fabs((double)whole[i] - (double)steps[i]);
        if (!isfinite(difference))
            return why_set(why, "the scores after the prompt are not numbers: the weights are "
                                "damaged");
        apart = difference > apart ? difference : apart;
        largest = fabs((double)steps[i]) > largest ? fabs((double)steps[i]) : largest;
    }
    if (apart <= (error > 0 ? error : 1e-3) * largest)
        return true;
    return why_set(why,
                   "prefill and token by token differ by %.3g (scores up to %.3g): this device's "
                   "figures cannot be trusted, use another one",
                   apart, largest);
}

enum generate_end measure_check_prefill(const struct generate *g, struct why *why) {
    int count = g->prompt_count < MEASURE_CHECK_TOKENS ? g->prompt_count : MEASURE_CHECK_TOKENS;
    struct backend_pass pass = {.tokens = g->prompt, .count = count, .logits = g->scratch->logits};
    enum generate_end end = generate_pass(g, &pass, why);
    if (end == GENERATE_DONE) // the sampler's buffer is free between runs
        end = step_by_step(g, count, g->scratch->sorted, why);
    if (end != GENERATE_DONE)
        return end;
    return agree(g->scratch->logits, g->scratch->sorted, g->vocab, g->backend->prefill_error, why)
               ? GENERATE_DONE
               : GENERATE_FAILED;
}

// --- The three stages ---

static enum generate_end run_cold(struct session *s) {
    const struct measure_plan *plan = s->plan;
    struct run_info info = *plan->info;
    info.cold = true;
    tell(s, MEASURE_COLD, 0, 1);
    if (!generate_prepare(&s->out->cold, plan->generate, &info, s->why))
        return GENERATE_FAILED;
    if (plan->publish)
        publish_begin(plan->publish, s->out->cold);
    if (plan->on_cold)
        plan->on_cold(plan->context);
    enum generate_end end = generate_answer(s->out->cold, plan->generate, plan->publish, s->why);
    if (end == GENERATE_DONE && !plan->is_checked)
        end = measure_check_prefill(plan->generate, s->why);
    s->out->prefill_checked = end == GENERATE_DONE;
    if (end == GENERATE_DONE)
        tell(s, MEASURE_COLD, 1, 1);
    return end;
}

// One more run of the same request.
static enum generate_end run_again(const struct session *s, struct run *run) {
    const struct generate *g = s->plan->generate;
    measure_rest(g, s->plan->pause_ns);
    if (generate_is_stopped(g))
        return generate_stopped(s->why);
    enum generate_end end = generate_answer(run, g, NULL, s->why);
    if (end == GENERATE_DONE && !same_answer(run, s->out->cold)) {
        why_set(s->why, "two runs of the same request gave different answers: this device's "
                        "figures cannot be trusted, use another one");
        return GENERATE_FAILED;
    }
    return end;
}

static bool is_settled(int64_t before_ns, int64_t now_ns) {
    return before_ns >= 0 && llabs(now_ns - before_ns) * 100 <= before_ns * SETTLED_PERCENT;
}

// Half the budget is for warming up, with at least one run; for a long answer without a
// cache the cold run was enough.
static bool is_warm_enough(const struct session *s) {
    int64_t half_ns = s->plan->budget_ns / 2;
    if (s->out->warmups == 0)
        return s->plan->generate->without_cache && run_e2e_ns(s->out->cold) >= half_ns;
    return spent_ns(s) >= half_ns;
}

static enum generate_end warm_up(struct session *s) {
    if (!generate_prepare(&s->spare, s->plan->generate, s->plan->info, s->why))
        return GENERATE_FAILED;
    s->start_ns = stopwatch_now_ns();
    int64_t before_ns = -1;
    tell(s, MEASURE_WARM, 0, 0);
    for (int batch = 0; batch < MOST_BATCHES; batch++) {
        int64_t e2e_ns[BATCH];
        for (int i = 0; i < BATCH; i++) {
            if (is_warm_enough(s))
                return GENERATE_DONE;
            run_rewind(s->spare);
            enum generate_end end = run_again(s, s->spare);
            if (end != GENERATE_DONE)
                return end;
            e2e_ns[i] = run_e2e_ns(s->spare);
            tell(s, MEASURE_WARM, ++s->out->warmups, 0);
        }
        int64_t now_ns = spread_of_samples(e2e_ns, BATCH).median_ns;
        s->out->settled = is_settled(before_ns, now_ns);
        if (s->out->settled)
            return GENERATE_DONE;
        before_ns = now_ns;
    }
    return GENERATE_DONE;
}

static enum generate_end repeat_all(struct session *s) {
    const struct measure_plan *plan = s->plan;
    int least = plan->generate->without_cache ? 1 : MEASURE_MIN_REPEATS;
    tell(s, MEASURE_REPEAT, 0, plan->repeats);
    for (int i = 0; i < plan->repeats; i++) {
        if (i >= least && spent_ns(s) >= plan->budget_ns)
            break;
        struct run **run = &s->runs[s->out->repeats];
        if (!*run && !generate_prepare(run, plan->generate, plan->info, s->why))
            return GENERATE_FAILED;
        run_rewind(*run); // a mismatched repeat may be in it
        enum generate_end end = run_again(s, *run);
        if (end != GENERATE_DONE)
            return end;
        if (run_stages_match_wall(*run))
            s->out->repeats++;
        else
            s->out->mismatched++;
        tell(s, MEASURE_REPEAT, i + 1, plan->repeats);
    }
    if (s->out->repeats > 0)
        return GENERATE_DONE;
    why_set(s->why,
            "in none of %d repeats do the stages add up to the whole within 5 %%: other programs "
            "keep this machine busy, close them and measure again",
            s->out->mismatched);
    return GENERATE_FAILED;
}

static int64_t switches_now(const struct generate *g) {
    return g->backend->switches ? g->backend->switches(g->state) : -1;
}

static int64_t lost_now_ns(const struct generate *g) {
    return g->backend->lost_ns ? g->backend->lost_ns(g->state) : 0;
}

static enum generate_end repeat(struct session *s) {
    const struct generate *g = s->plan->generate;
    struct disturbance *d = &s->out->disturbance;
    struct disturbance_ticks before = disturbance_ticks_now();
    int64_t switches = switches_now(g), lost_ns = lost_now_ns(g);
    enum generate_end end = repeat_all(s);
    if (end == GENERATE_LOST) // no more calls
        return end;
    struct disturbance_ticks after = disturbance_ticks_now();
    int64_t wanted = after.wanted - before.wanted;
    d->switches = switches < 0 ? -1 : switches_now(g) - switches;
    d->lost_ns = lost_now_ns(g) - lost_ns;
    d->threads = s->plan->info->threads > 0 ? s->plan->info->threads : 1;
    d->stolen_ticks = after.stolen - before.stolen;
    d->stolen_share = wanted > 0 ? (double)d->stolen_ticks / (double)wanted : 0;
    for (int i = 0; i < s->out->repeats; i++)
        d->measured_ns += run_e2e_ns(s->runs[i]);
    return end;
}

// --- The figures ---

static struct spread spread_over(const struct session *s,
                                 int64_t (*figure_ns)(const struct run *run)) {
    int64_t samples_ns[MEASURE_MAX_REPEATS];
    int count = 0;
    for (int i = 0; i < s->out->repeats; i++) {
        int64_t ns = figure_ns(s->runs[i]);
        if (ns >= 0) // one token has no TPOT
            samples_ns[count++] = ns;
    }
    return spread_of_samples(samples_ns, count);
}

static bool is_decode(const struct run *run, int pass) {
    return run->passes[pass].phase == RUN_DECODE;
}

static bool spread_of_steps(struct session *s) {
    size_t most = 1; // never an empty allocation
    for (int i = 0; i < s->out->repeats; i++)
        most += (size_t)s->runs[i]->pass_count;
    int64_t *samples_ns = calloc(most, sizeof *samples_ns);
    if (!samples_ns)
        return why_set(s->why, "no memory for %zu step times: ask for fewer repeats", most);
    int count = 0;
    for (int i = 0; i < s->out->repeats; i++) {
        const struct run *run = s->runs[i];
        for (int p = 0; p < run->pass_count; p++) {
            if (is_decode(run, p))
                samples_ns[count++] = run_pass_end_ns(run, p) - run->passes[p].start_ns;
        }
    }
    s->out->step = spread_of_samples(samples_ns, count);
    free(samples_ns);
    return true;
}

// How far a time is from the median, as a share of it.
static double distance(int64_t ns, const struct spread *spread) {
    return spread->median_ns > 0
               ? fabs((double)(ns - spread->median_ns)) / (double)spread->median_ns
               : 0;
}

// See the top of measure.h.
static int nearest_repeat(const struct session *s) {
    int nearest = 0;
    double least = INFINITY;
    for (int i = 0; i < s->out->repeats; i++) {
        double far = fmax(distance(run_ttft_ns(s->runs[i]), &s->out->ttft),
                          distance(run_e2e_ns(s->runs[i]), &s->out->e2e));
        if (far < least) {
            nearest = i;
            least = far;
        }
    }
    return nearest;
}

static struct run_range range_of(const struct spread *spread) {
    return spread->count > 0 ? (struct run_range){spread->p10_ns, spread->p90_ns}
                             : (struct run_range){0};
}

static void mark_disturbed(struct run_info *info, const struct measure_result *result) {
    info->is_disturbed = disturbance_signs(&result->disturbance) != 0;
    if (!info->is_disturbed)
        return;
    info->ttft = range_of(&result->ttft);
    info->tpot = range_of(&result->tpot);
    info->e2e = range_of(&result->e2e);
}

// The shorter of both kinds of pass is judged.
static bool is_above_clock(const struct session *s) {
    const struct spread *prefill = &s->out->prefill, *step = &s->out->step;
    int64_t pass_ns = prefill->median_ns, step_ns = stopwatch_step_ns();
    if (step->count > 0 && step->median_ns < pass_ns)
        pass_ns = step->median_ns;
    return pass_ns > step_ns ||
           why_set(s->why,
                   "a pass of %lld ns is too short for this clock, whose step is %lld ns: take a "
                   "larger model",
                   (long long)pass_ns, (long long)step_ns);
}

static enum generate_end sum_up(struct session *s) {
    struct measure_result *out = s->out;
    out->prefill = spread_over(s, run_prefill_ns);
    out->ttft = spread_over(s, run_ttft_ns);
    out->tpot = spread_over(s, run_tpot_ns);
    out->e2e = spread_over(s, run_e2e_ns);
    if (!spread_of_steps(s) || !is_above_clock(s))
        return GENERATE_FAILED;
    if (!disturbance_compare(&out->disturbance, s->runs, out->repeats)) {
        why_set(s->why, "no memory to compare %d repeats: ask for fewer", out->repeats);
        return GENERATE_FAILED;
    }
    int nearest = nearest_repeat(s);
    out->shown = s->runs[nearest];
    s->runs[nearest] = NULL;
    mark_disturbed(&out->shown->info, out);
    out->stages_match = run_stages_match_wall(out->shown);
    return GENERATE_DONE;
}

enum generate_end measure_run(struct measure_result *out, const struct measure_plan *plan,
                              struct why *why) {
    memset(out, 0, sizeof *out);
    struct session s = {.plan = plan, .out = out, .why = why};
    if (plan->repeats < 1 || plan->repeats > MEASURE_MAX_REPEATS) {
        why_set(why, "%d repeats were asked for, expected 1 to %d", plan->repeats,
                MEASURE_MAX_REPEATS);
        return GENERATE_FAILED;
    }
    measure_rest(plan->generate, plan->settle_ns);
    enum generate_end end = run_cold(&s);
    if (end == GENERATE_DONE)
        end = warm_up(&s);
    if (end == GENERATE_DONE)
        end = repeat(&s);
    if (end == GENERATE_DONE)
        end = sum_up(&s);
    run_destroy(s.spare);
    for (int i = 0; i < MEASURE_MAX_REPEATS; i++)
        run_destroy(s.runs[i]);
    return end;
}

void measure_clear(struct measure_result *result) {
    run_destroy(result->cold);
    run_destroy(result->shown);
    memset(result, 0, sizeof *result);
}
