// See sweep.h. Between the points time is a chain of straight lines; before the first and
// after the last point it continues with a slope from the fit. That chain (curve) is made
// once and evaluated for every step of a run; a sum over steps is closed form, piece by
// piece, since a picture needs hundreds of them.
#include "compute/analysis/sweep.h"

#include "compute/base/why.h"
#include "compute/run/script.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct curve {
    const struct sweep_point *points;
    int count;
    double head_slope, tail_slope; // ns a token, before the first and after the last
};

// --- The chain ---

// Between the last two points, for when no fit reaches the last one.
static double last_slope(const struct sweep_point *points, int count) {
    if (count < 2)
        return 0;
    const struct sweep_point *a = &points[count - 2], *b = &points[count - 1];
    return fmax(0, (double)(b->median_ns - a->median_ns) / (b->tokens - a->tokens));
}

static bool reaches_out(const struct sweep_point *points, int count, double least, double most) {
    return count > 0 && (least < points[0].tokens || most > points[count - 1].tokens);
}

// Of a clean sweep. Valid for least .. most tokens; fits only if they leave the range of the
// points.
static struct curve prefill_curve(const struct sweep *sweep, double least, double most) {
    int count = sweep->prefill_count;
    struct curve curve = {.points = sweep->prefill, .count = count};
    struct sweep_prefill_fit fit;
    if (!reaches_out(sweep->prefill, count, least, most))
        return curve;
    sweep_fit_prefill(&fit, sweep);
    bool is_to_the_end = fit.is_there && fit.longest_tokens == sweep->prefill[count - 1].tokens;
    double slope = fit.has_slope ? fit.slope_ns : 0;
    curve.head_slope = fit.has_flat ? 0 : slope;
    curve.tail_slope = is_to_the_end ? slope : last_slope(sweep->prefill, count);
    return curve;
}

static struct curve step_curve(const struct sweep *sweep, double least, double most) {
    struct curve curve = {.points = sweep->step, .count = sweep->step_count};
    struct sweep_step_fit fit;
    if (!reaches_out(sweep->step, sweep->step_count, least, most))
        return curve;
    sweep_fit_step(&fit, sweep);
    curve.head_slope = curve.tail_slope = fit.is_there && fit.has_slope ? fit.slope_ns : 0;
    if (!fit.is_there)
        curve.tail_slope = last_slope(sweep->step, sweep->step_count);
    return curve;
}

static double chain_ns(const struct curve *curve, double tokens) {
    const struct sweep_point *p = curve->points;
    int last = curve->count - 1;
    if (tokens <= p[0].tokens)
        return fmax(0, (double)p[0].median_ns - curve->head_slope * (p[0].tokens - tokens));
    if (tokens >= p[last].tokens)
        return (double)p[last].median_ns + curve->tail_slope * (tokens - p[last].tokens);
    int i = 1;
    while (p[i].tokens < tokens)
        i++;
    double part = (tokens - p[i - 1].tokens) / (p[i].tokens - p[i - 1].tokens);
    return (double)p[i - 1].median_ns +
           part * ((double)p[i].median_ns - (double)p[i - 1].median_ns);
}

static int64_t rounded_ns(double ns) {
    return ns < (double)RUN_MAX_NS ? llround(ns) : RUN_MAX_NS;
}

int64_t sweep_prefill_ns(const struct sweep *sweep, double prompt_tokens) {
    struct sweep clean;
    sweep_clean(&clean, sweep);
    struct curve curve = prefill_curve(&clean, prompt_tokens, prompt_tokens);
    return curve.count > 0 ? rounded_ns(chain_ns(&curve, prompt_tokens)) : -1;
}

int64_t sweep_step_ns(const struct sweep *sweep, double context_tokens) {
    struct sweep clean;
    sweep_clean(&clean, sweep);
    struct curve curve = step_curve(&clean, context_tokens, context_tokens);
    return curve.count > 0 ? rounded_ns(chain_ns(&curve, context_tokens)) : -1;
}

// --- Sums ---

// The steps at contexts first .. end - 1, which lie within one straight piece.
static double piece_ns(const struct curve *curve, int first, int end) {
    return (end - first) * (chain_ns(curve, first) + chain_ns(curve, end - 1)) / 2;
}

static double steps_ns(const struct curve *curve, int first, int end) {
    double sum = 0;
    int at = first;
    for (int i = 0; i < curve->count && at < end; i++) {
        int stop = curve->points[i].tokens < end ? curve->points[i].tokens : end;
        if (stop > at) {
            sum += piece_ns(curve, at, stop);
            at = stop;
        }
    }
    return at < end ? sum + piece_ns(curve, at, end) : sum;
}

// The first token comes out of prefill: N tokens are N - 1 steps.
int sweep_decode_ppm(const struct sweep *sweep, int prompt_tokens, int answer_tokens) {
    if (sweep->prefill_count < 1 || prompt_tokens < 1 || answer_tokens < 1)
        return -1;
    if (answer_tokens > 1 && sweep->step_count < 1)
        return -1;
    double end = (double)prompt_tokens + answer_tokens - 1;
    if (end > INT32_MAX)
        return -1;
    struct sweep clean;
    sweep_clean(&clean, sweep);
    struct curve prefill = prefill_curve(&clean, prompt_tokens, prompt_tokens);
    struct curve step = step_curve(&clean, prompt_tokens, end);
    double prefill_ns = chain_ns(&prefill, prompt_tokens);
    double decode_ns = answer_tokens > 1 ? steps_ns(&step, prompt_tokens, (int)end) : 0;
    double all_ns = prefill_ns + decode_ns;
    return all_ns > 0 ? (int)lround(1e6 * decode_ns / all_ns) : -1;
}

// --- A run ---

// Tokens of a run to take texts from.
struct texts {
    const struct run *run;
    int first;
    struct script script;
};

static struct texts texts_of(const struct run *run, int first, int count) {
    struct texts texts = {.run = run, .first = first, .script.count = count};
    texts.script.front = count > 0 && run->tokens[first].kind == RUN_CONTROL;
    texts.script.back = count > 1 && run->tokens[first + count - 1].kind == RUN_CONTROL;
    return texts;
}

typedef bool add_token_fn(struct run *run, int32_t id, const char *text, size_t bytes,
                          enum run_token_kind kind, struct why *why);

// Token `index` of `wanted`.
static bool add_token(struct run *to, add_token_fn *add, const struct texts *texts, int index,
                      int wanted, struct why *why) {
    size_t bytes = 0;
    int from = script_pick(&texts->script, index, wanted);
    if (from < 0)
        return add(to, -1, "", 0, RUN_PIECE, why);
    from += texts->first;
    const struct run_token *token = &texts->run->tokens[from];
    const char *text = run_token_text(texts->run, from, &bytes);
    return add(to, token->id, text, bytes, token->kind, why);
}

// The sweep says nothing about the inside of a pass: its stages get equal parts.
static bool add_pass(struct run *run, struct run_pass pass, const struct texts *texts,
                     double duration_ns, struct why *why) {
    int64_t length_ns = rounded_ns(duration_ns);
    int stages = run_stages(run);
    pass.start_ns = run_end_ns(run);
    if (!run_begin_pass(run, &pass, why) ||
        !add_token(run, run_add_answer_token, texts, pass.yields, run->info.answer_limit, why))
        return false;
    for (int stage = 1; stage <= stages; stage++) {
        // Quotient and remainder apart: the product would overflow 64 bits.
        int64_t end_ns = length_ns / stages * stage + length_ns % stages * stage / stages;
        if (!run_add_mark(run, pass.start_ns + end_ns, why))
            return false;
    }
    return true;
}

static bool add_passes(struct run *run, const struct sweep *sweep, const struct run *like,
                       struct why *why) {
    int prompt = run->info.prompt_tokens, answers = run->info.answer_limit;
    struct texts texts = texts_of(like, like->prompt_count, run_answers_seen(like));
    struct sweep clean;
    sweep_clean(&clean, sweep);
    struct curve prefill = prefill_curve(&clean, prompt, prompt);
    struct curve step = step_curve(&clean, prompt, (double)prompt + answers);
    struct run_pass pass = {.phase = RUN_PREFILL, .column_count = prompt};
    if (!add_pass(run, pass, &texts, chain_ns(&prefill, prompt), why))
        return false;
    for (int n = 1; n < answers; n++) {
        int context = prompt + n - 1;
        pass = (struct run_pass){
            .phase = RUN_DECODE, .first_column = context, .column_count = 1, .yields = n};
        if (!add_pass(run, pass, &texts, chain_ns(&step, context), why))
            return false;
    }
    return true;
}

static bool fill(struct run *run, const struct sweep *sweep, const struct run *like,
                 struct why *why) {
    struct texts texts = texts_of(like, 0, like->prompt_count);
    for (int i = 0; i < run->info.prompt_tokens; i++) {
        if (!add_token(run, run_add_prompt_token, &texts, i, run->info.prompt_tokens, why))
            return false;
    }
    return add_passes(run, sweep, like, why);
}

bool sweep_run(struct run **out, const struct sweep *sweep, const struct run *like,
               int prompt_tokens, int answer_tokens, struct why *why) {
    *out = NULL;
    if (sweep->prefill_count < 1 || (answer_tokens > 1 && sweep->step_count < 1))
        return why_set(why, "the sweep has no points to take times from: measure one first");
    struct run_info info = like->info;
    if (prompt_tokens != info.prompt_tokens)
        info.chat = (struct run_chat){0}; // it frames a prompt of that length alone
    info.origin = RUN_MODELLED;
    info.counting = RUN_ENGINE;
    info.cold = info.forced_length = info.recomputes = false;
    info.is_disturbed = false; // the sweep's times, not that run's
    info.ttft = info.tpot = info.e2e = (struct run_range){0};
    info.prompt_tokens = prompt_tokens;
    info.answer_limit = answer_tokens;
    struct run *run = NULL;
    if (!run_create(&run, &info, 1, why))
        return false;
    if (!fill(run, sweep, like, why)) {
        run_destroy(run);
        return false;
    }
    run_close(run, RUN_COMPLETE);
    *out = run;
    return true;
}

// --- Lengths and checks ---

int sweep_lengths(int out[SWEEP_MAX_POINTS], int longest) {
    int count = 0;
    if (longest > RUN_MAX_TOKENS)
        longest = RUN_MAX_TOKENS;
    for (int tokens = 1; tokens < longest; tokens *= 2)
        out[count++] = tokens;
    if (longest >= 1)
        out[count++] = longest;
    return count;
}

static bool check_points(const struct sweep_point *points, int count, const char *name,
                         struct why *why) {
    if (count < 0 || count > SWEEP_MAX_POINTS)
        return why_set(why, "sweep: %d %s points, expected 0 to %d", count, name, SWEEP_MAX_POINTS);
    for (int i = 0; i < count; i++) {
        const struct sweep_point *p = &points[i];
        int least = i > 0 ? points[i - 1].tokens + 1 : 1;
        if (p->tokens < least || p->tokens > RUN_MAX_TOKENS)
            return why_set(why, "sweep: %s point %d is at %d tokens, expected %d to %d", name, i,
                           p->tokens, least, RUN_MAX_TOKENS);
        if (p->count < 1)
            return why_set(why, "sweep: %s point %d has %d samples, expected at least 1", name, i,
                           p->count);
        if (p->p10_ns < 0 || p->p10_ns > p->median_ns || p->median_ns > p->p90_ns ||
            p->p90_ns > RUN_MAX_NS)
            return why_set(why,
                           "sweep: %s point %d has p10 %" PRId64 ", median %" PRId64
                           ", p90 %" PRId64 " ns, expected them ascending from 0",
                           name, i, p->p10_ns, p->median_ns, p->p90_ns);
    }
    return true;
}

bool sweep_validate(const struct sweep *sweep, struct why *why) {
    return check_points(sweep->prefill, sweep->prefill_count, "prefill", why) &&
           check_points(sweep->step, sweep->step_count, "step", why);
}
