// The plots of a lesson run: nothing of it was measured, but its rule gives every length.
// Each line and cell is that rule worked out, in the rule's units, and says "lesson units".
#include "app/picture/lab/parts.h"

#include <math.h>

struct rule {
    const struct lab_seen *seen;
    const struct run_info *info;
    struct run_rule of;
    int prompt, answers; // shown
};

// False, with the reason as the plot's message: the run's rule is not known.
static bool see(struct rule *out, struct plot *plot, const struct lab_seen *seen) {
    const struct run_info *info = &seen->at->run->info;
    *out = (struct rule){seen, info, info->rule, seen->prompt, seen->answer};
    if (info->rule.step_ns > 0) {
        WORDS_SAY(plot->origin, "lab.lesson");
        plot->origin_tone = TONE_QUIET;
        return true;
    }
    WORDS_SAY(plot->message, "lab.rule.unknown");
    return false;
}

static double prefill_ns(const struct rule *rule, double prompt) {
    return (double)rule->of.pass_ns + (double)rule->of.token_ns * prompt;
}

static double steps_ns(const struct rule *rule, int answers) {
    bool is_charged = rule->info->counting == RUN_CHARGED;
    return (double)rule->of.step_ns * (answers - !is_charged);
}

// What stands on an axis of times: units that are no time are plain numbers.
static double on_axis(const struct rule *rule, double ns) {
    return run_counts_units(rule->info) ? ns / (double)rule->info->unit_ns : ns;
}

static void time_axis(struct plot_axis *axis, const struct rule *rule, const char *label_key,
                      bool is_log) {
    bool is_number = run_counts_units(rule->info);
    char label[sizeof axis->label];
    WORDS_SAY(label, label_key, "unit", is_number ? rule->info->unit : word("lab.rule.time"));
    lab_axis(axis, label, is_number ? PLOT_NUMBER : PLOT_TIME, is_log);
}

static struct figure time_of(const struct rule *rule, int64_t ns) {
    return lab_run_time(rule->info, ns);
}

// --- Prefill by prompt length ---

static void say_prefill(struct plot *plot, const struct rule *rule) {
    const char *key = rule->of.pass_ns == 0    ? "lab.rule.each_token"
                      : rule->of.token_ns == 0 ? "lab.rule.one_pass"
                                               : "lab.rule.pass_and_token";
    WORDS_SAY(plot->caption, key, "pass", time_of(rule, rule->of.pass_ns).text, "token",
              time_of(rule, rule->of.token_ns).text);
}

// A rule of one pass alone is a flat line, and its axis needs room on both sides of it.
void lab_put_rule_knee(struct plot *plot, const struct lab_seen *seen) {
    struct rule rule;
    if (!see(&rule, plot, seen))
        return;
    double longest = fmax(fmax(seen->at->longest_prompt, rule.prompt), 2);
    struct lab_range x = lab_range_empty(), y = lab_range_empty();
    lab_range_add(&x, 1);
    lab_range_add(&x, longest);
    lab_range_add(&y, on_axis(&rule, prefill_ns(&rule, 1)));
    lab_range_add(&y, on_axis(&rule, prefill_ns(&rule, longest)));
    if (y.to < 10 * y.from) {
        lab_range_add(&y, y.from / 3);
        lab_range_add(&y, y.to * 3);
    }
    lab_axis(&plot->x, word("lab.prompt_tokens"), PLOT_NUMBER, true);
    time_axis(&plot->y, &rule, "lab.rule.prefill", true);
    lab_range_put(&plot->x, x);
    lab_range_put(&plot->y, y);
    lab_series(plot, PLOT_LINE, TONE_PREFILL, word("lab.rule.line"));
    lab_point(plot, 1, on_axis(&rule, prefill_ns(&rule, 1)));
    lab_point(plot, longest, on_axis(&rule, prefill_ns(&rule, longest)));
    lab_series(plot, PLOT_RING, TONE_INK, word("lab.this_run"));
    lab_point(plot, rule.prompt, on_axis(&rule, prefill_ns(&rule, rule.prompt)));
    say_prefill(plot, &rule);
}

// --- A step by the tokens in the cache ---

void lab_put_rule_step(struct plot *plot, const struct lab_seen *seen) {
    struct rule rule;
    if (!see(&rule, plot, seen))
        return;
    double step = on_axis(&rule, (double)rule.of.step_ns);
    double longest =
        fmax(seen->at->longest_prompt, rule.prompt) + fmax(seen->at->longest_answer, rule.answers);
    struct lab_range x = lab_range_empty(), y = lab_range_empty();
    lab_range_add(&x, longest);
    lab_range_add(&y, 2 * step);
    lab_axis(&plot->x, word("lab.cached_tokens"), PLOT_NUMBER, false);
    time_axis(&plot->y, &rule, "lab.rule.step", false);
    lab_range_put(&plot->x, x);
    lab_range_put(&plot->y, y);
    lab_series(plot, PLOT_LINE, TONE_DECODE, word("lab.rule.line"));
    lab_point(plot, 1, step);
    lab_point(plot, longest, step);
    // The middle step of the answer; an answer of one token has none after it.
    if (rule.answers > 1) {
        lab_series(plot, PLOT_RING, TONE_INK, word("lab.this_run"));
        lab_point(plot, rule.prompt + (rule.answers - 2) / 2.0, step);
    }
    WORDS_SAY(plot->caption, "lab.rule.steps", "step", time_of(&rule, rule.of.step_ns).text);
}

// --- Who takes the time ---

static double share_of(const void *context, int prompt, int answers) {
    const struct rule *rule = context;
    double decode_ns = steps_ns(rule, answers);
    return decode_ns / (prefill_ns(rule, prompt) + decode_ns);
}

void lab_put_rule_map(struct plot *plot, const struct lab_seen *seen) {
    struct rule rule;
    if (!see(&rule, plot, seen))
        return;
    lab_axis(&plot->x, word("lab.prompt_tokens"), PLOT_NUMBER, true);
    lab_axis(&plot->y, word("lab.answer_tokens"), PLOT_NUMBER, true);
    plot->x.from = plot->y.from = 1;
    plot->x.to = fmax(fmax(seen->at->longest_prompt, rule.prompt), 2);
    plot->y.to = fmax(fmax(seen->at->longest_answer, rule.answers), 2);
    lab_put_cells(plot, share_of, &rule);
    if (rule.answers < 1)
        return;
    lab_series(plot, PLOT_RING, TONE_INK, "");
    lab_point(plot, rule.prompt, rule.answers);
    WORDS_SAY(plot->caption, "lab.rule.map", "share",
              figure_share(share_of(&rule, rule.prompt, rule.answers)).text, "prompt",
              figure_count(rule.prompt, true).text, "answer",
              figure_count(rule.answers, true).text);
}

// --- The answer token by token, and after a prompt twice as long ---

static void put_times(struct plot *plot, const struct rule *rule, int prompt, enum plot_look look,
                      const char *label_key) {
    lab_series(plot, look, look == PLOT_DOTS ? TONE_DECODE : TONE_INK, word(label_key));
    int stride = (rule->answers + LAB_SERIES_POINTS - 1) / LAB_SERIES_POINTS;
    for (int answer = 1; answer < rule->answers; answer += stride)
        lab_point(plot, answer, on_axis(rule, prefill_ns(rule, prompt) + steps_ns(rule, answer)));
    lab_point(plot, rule->answers,
              on_axis(rule, prefill_ns(rule, prompt) + steps_ns(rule, rule->answers)));
}

void lab_put_rule_pair(struct plot *plot, const struct lab_seen *seen) {
    struct rule rule;
    if (!see(&rule, plot, seen) || rule.answers < 1)
        return;
    struct lab_range x = lab_range_empty(), y = lab_range_empty();
    lab_range_add(&x, rule.answers);
    lab_range_add(
        &y, on_axis(&rule, prefill_ns(&rule, 2 * rule.prompt) + steps_ns(&rule, rule.answers)));
    lab_axis(&plot->x, word("lab.answer_token"), PLOT_NUMBER, false);
    time_axis(&plot->y, &rule, "lab.rule.since", false);
    lab_range_put(&plot->x, x);
    lab_range_put(&plot->y, y);
    put_times(plot, &rule, 2 * rule.prompt, PLOT_LINE, "lab.rule.twice");
    put_times(plot, &rule, rule.prompt, PLOT_DOTS, "lab.this_run");
    WORDS_SAY(plot->caption, rule.of.token_ns > 0 ? "lab.rule.later" : "lab.rule.as_soon", "later",
              time_of(&rule, rule.of.token_ns * rule.prompt).text, "step",
              time_of(&rule, rule.of.step_ns).text);
}
