// Two plots of when each token came: the same answer with and without a KV cache, and
// the run shown against the one it is compared with. Both runs of a plot were measured
// (or both are of one lesson), and both share a linear scale from 0. A growing run shows
// only the tokens measured by the moment.
#include "app/picture/lab/parts.h"

#include <math.h>

struct answer {
    const struct run *run;
    int count;
};

// What a time of the run is divided by: lessons count in units of their own.
static double unit_ns(const struct run *run) {
    return lab_is_lesson(run) ? (double)run->info.unit_ns : 1;
}

static double token_ns(const struct answer *answer, int token) {
    return (double)run_answer_ns(answer->run, token);
}

static void put_axes(struct plot *plot, const struct answer *a, const struct answer *b) {
    double unit = unit_ns(a->run);
    struct lab_range x = lab_range_empty(), y = lab_range_empty();
    lab_range_add(&x, a->count > b->count ? a->count : b->count);
    lab_range_add(&y, token_ns(a, a->count - 1) / unit);
    lab_range_add(&y, token_ns(b, b->count - 1) / unit);
    lab_axis(&plot->x, word("lab.answer_token"), PLOT_NUMBER, false);
    if (lab_is_lesson(a->run))
        lab_axis(&plot->y, a->run->info.unit, PLOT_NUMBER, false);
    else
        lab_axis(&plot->y, word("readout.time_is"), PLOT_TIME, false);
    lab_range_put(&plot->x, x);
    lab_range_put(&plot->y, y);
}

static void put_times(struct plot *plot, const struct answer *answer, enum plot_look look,
                      const char *label) {
    int stride = (answer->count + LAB_SERIES_POINTS - 1) / LAB_SERIES_POINTS;
    double unit = unit_ns(answer->run);
    enum view_tone tone = look == PLOT_DOTS ? TONE_DECODE : TONE_INK;
    lab_series(plot, look, tone, label);
    for (int i = 0; i + 1 < answer->count; i += stride)
        lab_point(plot, i + 1, token_ns(answer, i) / unit);
    lab_point(plot, answer->count, token_ns(answer, answer->count - 1) / unit);
}

// --- With and without a cache ---

static int first_difference(const struct answer *a, const struct answer *b, int count) {
    for (int i = 0; i < count; i++) {
        if (a->run->tokens[a->run->info.prompt_tokens + i].id !=
            b->run->tokens[b->run->info.prompt_tokens + i].id)
            return i;
    }
    return -1;
}

// True if every recomputed pass is left of the knee, where a longer pass costs no more.
static bool is_all_flat(const struct lab_seen *seen, int context) {
    struct sweep_prefill_fit fit;
    if (!seen->sweep || seen->at->is_sweeping ||
        sweep_disturbed(seen->at->sweep->prefill, seen->at->sweep->prefill_count))
        return false;
    sweep_fit_prefill(&fit, seen->sweep);
    return fit.is_there && fit.has_flat && context <= fit.knee_tokens - fit.knee_error_tokens;
}

// Key of a sentence that says why both take the same, NULL if they do not.
static const char *why_alike(const struct lab_seen *seen, double ratio, int context) {
    static const double alike = 1.1; // closer ratios look equal on the plot
    if (ratio >= alike || ratio <= 1 / alike)
        return NULL;
    return is_all_flat(seen, context) ? "lab.alike_flat" : "lab.alike";
}

static void say_cache(struct plot *plot, const struct lab_seen *seen, const struct answer *with,
                      const struct answer *without) {
    int count = with->count < without->count ? with->count : without->count;
    double with_ns = token_ns(with, count - 1), without_ns = token_ns(without, count - 1);
    double ratio = with_ns > 0 ? without_ns / with_ns : 0;
    int different = first_difference(with, without, count);
    struct figure times = figure_number(ratio < 10 ? round(10 * ratio) / 10 : round(ratio));
    const char *alike = why_alike(seen, ratio, with->run->info.prompt_tokens + count);
    char text[sizeof plot->caption];
    WORDS_SAY(text, different < 0 ? "lab.cache_same" : "lab.cache_other", "count",
              figure_count(count, true).text, "with", figure_estimate(with_ns, -1).text, "without",
              figure_estimate(without_ns, -1).text, "times", times.text, "number",
              figure_count(different + 1, true).text);
    if (alike)
        WORDS_SAY(plot->caption, alike, "caption", text);
    else
        lab_put(plot->caption, sizeof plot->caption, text);
}

// A disturbed run's times stay on the plot, and nothing is said of how they compare.
static void say_disturbed(struct plot *plot, const struct answer *a, const struct answer *b) {
    if (a->run->info.is_disturbed || b->run->info.is_disturbed)
        WORDS_SAY(plot->caption, "lab.disturbed");
}

static bool put_cache_missing(struct plot *plot, const struct lab_seen *seen,
                              const struct answer *with, const struct answer *without) {
    const char *message = NULL;
    if (lab_is_lesson(seen->at->run))
        message = "lab.rule.no_cache";
    else if (with->count == 0)
        message = seen->at->is_measuring || (with->run && with->run->state == RUN_OPEN)
                      ? "note.measuring"
                      : "lab.none_measured";
    else if (!lab_is_measured(with->run))
        message = "lab.cache_modelled";
    else if (without->count == 0)
        message = "lab.cache_not_yet";
    else if (!lab_is_measured(without->run) ||
             without->run->info.prompt_tokens != with->run->info.prompt_tokens)
        message = "lab.cache_lengths";
    if (message)
        WORDS_SAY(plot->message, message);
    return message;
}

static struct answer answer_of(const struct run *run, int64_t t_ns) {
    return (struct answer){.run = run, .count = run ? lab_answers(run, t_ns) : 0};
}

void lab_put_cache(struct plot *plot, const struct lab_seen *seen) {
    struct answer with = answer_of(seen->at->run, seen->at->t_ns);
    struct answer without = answer_of(seen->at->uncached, INT64_MAX);
    WORDS_SAY(plot->title, "lab.cache_title");
    if (put_cache_missing(plot, seen, &with, &without))
        return;
    WORDS_SAY(plot->origin, "lab.both_measured");
    plot->origin_tone = TONE_READ;
    put_axes(plot, &with, &without);
    put_times(plot, &with, PLOT_DOTS,
              word(with.run->info.cold ? "lab.with_cache_cold" : "lab.with_cache"));
    put_times(plot, &without, PLOT_SQUARE, word("lab.without_cache"));
    say_cache(plot, seen, &with, &without);
    say_disturbed(plot, &with, &without);
}

// --- The run shown and the one it is compared with ---

static void say_pair(struct plot *plot, const struct answer *a, const struct answer *b,
                     const char *name) {
    const struct run_info *info = &a->run->info;
    int count = a->count < b->count ? a->count : b->count;
    int64_t first_ns = run_ttft_ns(a->run), other_first_ns = run_ttft_ns(b->run);
    int64_t last_ns = run_answer_ns(a->run, count - 1);
    int64_t other_ns = run_answer_ns(b->run, count - 1);
    WORDS_SAY(plot->caption, "lab.pair", "first", lab_run_time(info, first_ns).text, "name", name,
              "other_first", lab_run_time(info, other_first_ns).text, "count",
              figure_count(count, true).text, "last", lab_run_time(info, last_ns).text,
              "other_last", lab_run_time(info, other_ns).text);
}

static void put_pair_origin(struct plot *plot, const struct run *a, const struct run *b) {
    bool is_both = lab_is_measured(a) && lab_is_measured(b);
    WORDS_SAY(plot->origin, lab_is_lesson(a)                           ? "lab.lesson"
                            : is_both                                  ? "lab.both_measured"
                            : lab_is_measured(a) || lab_is_measured(b) ? "lab.one_modelled"
                                                                       : "lab.modelled");
    plot->origin_tone = is_both ? TONE_READ : TONE_QUIET;
}

static bool put_pair_missing(struct plot *plot, const struct lab_seen *seen, const struct answer *a,
                             const struct answer *b) {
    const char *message = NULL;
    if (!seen->at->kept)
        message = seen->at->run ? "lab.pair_keep" : "lab.pair_none";
    else if (b->count == 0)
        message = "lab.pair_empty";
    else if (a->count == 0)
        message = seen->at->is_measuring || (a->run && a->run->state == RUN_OPEN) ? "note.measuring"
                                                                                  : "lab.pair_none";
    else if (!lab_has_one_clock(a->run, b->run))
        message = "lab.pair_scale";
    if (message)
        WORDS_SAY(plot->message, message);
    return message;
}

void lab_put_pair(struct plot *plot, const struct lab_seen *seen) {
    struct answer shown = answer_of(seen->at->run, seen->at->t_ns);
    struct answer kept = answer_of(seen->at->kept, INT64_MAX);
    struct figure name = lab_name(seen);
    WORDS_SAY(plot->title, "lab.pair_title");
    if (!seen->at->kept && lab_is_lesson(seen->at->run)) {
        lab_put_rule_pair(plot, seen);
        return;
    }
    if (put_pair_missing(plot, seen, &shown, &kept))
        return;
    put_pair_origin(plot, shown.run, kept.run);
    put_axes(plot, &shown, &kept);
    put_times(plot, &shown, PLOT_DOTS, word("lab.this_run"));
    put_times(plot, &kept, PLOT_SQUARE, name.text);
    say_pair(plot, &shown, &kept, name.text);
    say_disturbed(plot, &shown, &kept);
}
