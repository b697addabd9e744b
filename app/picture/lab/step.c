// Does a decode step get slower as the context grows? On linear axes from zero: reading the
// cache adds a straight line to the cost of reading the weights, and an axis that began
// higher would exaggerate it.
#include "app/picture/lab/parts.h"

struct ring {
    double context, step_ns; // step_ns <= 0: none
    bool is_measured;
};

// The answer asked for: its steps read prompt .. prompt + N - 2 tokens; on a straight line
// the middle step has the mean time.
static struct ring ring_of(const struct lab_seen *seen, bool is_whole) {
    const struct sweep *sweep = seen->sweep;
    const struct run *run = seen->at->run;
    int prompt = seen->prompt, answer = seen->answer;
    struct ring ring = {.context = prompt + (answer - 2) / 2.0};
    if (prompt < 1 || answer < 2)
        return ring;
    ring.is_measured = lab_is_warm(run) && run->state == RUN_COMPLETE &&
                       run->info.prompt_tokens == prompt && run_answers_seen(run) == answer;
    double longest = sweep->step[sweep->step_count - 1].tokens;
    if (ring.is_measured)
        ring.step_ns = (double)run_tpot_ns(run);
    else if (is_whole || (ring.context >= sweep->step[0].tokens && ring.context <= longest))
        ring.step_ns = (double)sweep_step_ns(sweep, ring.context);
    return ring;
}

static void put_axes(struct plot *plot, const struct sweep *sweep, const struct ring *ring) {
    struct lab_range x = lab_range_empty(), y = lab_range_empty();
    for (int i = 0; i < sweep->step_count; i++) {
        lab_range_add(&x, sweep->step[i].tokens);
        lab_range_add(&y, (double)sweep->step[i].median_ns);
        lab_range_add(&y, (double)sweep->step[i].p90_ns);
    }
    if (ring->step_ns > 0) {
        lab_range_add(&x, ring->context);
        lab_range_add(&y, ring->step_ns);
    }
    lab_axis(&plot->x, word("lab.cached_tokens"), PLOT_NUMBER, false);
    lab_axis(&plot->y, word("lab.step_time"), PLOT_TIME, false);
    lab_range_put(&plot->x, x);
    lab_range_put(&plot->y, y);
}

static void put_fit(struct plot *plot, const struct sweep_step_fit *fit) {
    double end_ns = fit->base_ns + fit->slope_ns * plot->x.to;
    if (!fit->is_there || !lab_range_holds(&plot->y, fit->base_ns))
        return;
    double to = plot->x.to;
    if (!lab_range_holds(&plot->y, end_ns)) {
        double edge_ns = end_ns > plot->y.to ? plot->y.to : plot->y.from;
        to = (edge_ns - fit->base_ns) / fit->slope_ns;
        end_ns = edge_ns;
    }
    lab_series(plot, PLOT_DASHES, TONE_DECODE, word("lab.modelled"));
    lab_point(plot, 0, fit->base_ns);
    lab_point(plot, to, end_ns);
}

static void put_caption(struct plot *plot, const struct sweep *sweep,
                        const struct sweep_step_fit *fit, bool is_whole) {
    int disturbed = sweep_disturbed(sweep->step, sweep->step_count);
    const char *key = fit->has_slope && fit->slope_ns > 0 ? "lab.step_rises"
                      : fit->has_slope                    ? "lab.step_falls"
                                                          : "lab.step_hidden";
    if (!is_whole)
        WORDS_SAY(plot->caption, "lab.so_far", "count",
                  figure_count(sweep->step_count, false).text);
    else if (disturbed)
        WORDS_SAY(plot->caption, "lab.sweep_disturbed", "count",
                  figure_count(sweep->step_count, false).text, "disturbed",
                  figure_count(disturbed, false).text);
    else if (!fit->is_there)
        WORDS_SAY(plot->caption, "lab.too_few");
    else
        WORDS_SAY(plot->caption, key, "time",
                  figure_estimate(fit->base_ns, fit->base_error_ns).text, "slope",
                  figure_estimate(1000 * fit->slope_ns, 1000 * fit->slope_error_ns).text, "tokens",
                  lab_tokens(fit->longest_tokens).text, "thousand", figure_count(1000, true).text);
}

void lab_put_step(struct plot *plot, const struct lab_seen *seen) {
    const struct sweep *sweep = seen->at->sweep;
    WORDS_SAY(plot->title, "lab.step_title");
    if (lab_is_lesson(seen->at->run)) {
        lab_put_rule_step(plot, seen);
        return;
    }
    if (lab_put_missing(plot, seen, sweep ? sweep->step_count : 0))
        return;
    bool is_whole = !seen->at->is_sweeping;
    struct sweep_step_fit fit = {0};
    if (is_whole && !sweep_disturbed(sweep->step, sweep->step_count))
        sweep_fit_step(&fit, seen->sweep);
    struct ring ring = ring_of(seen, is_whole);
    lab_put_sweep_origin(plot, seen);
    put_axes(plot, sweep, &ring);
    lab_dots(plot, TONE_DECODE, sweep->step, sweep->step_count, 0);
    put_fit(plot, &fit);
    if (ring.step_ns > 0)
        lab_ring(plot, ring.context, ring.step_ns, ring.is_measured);
    put_caption(plot, sweep, &fit, is_whole);
}
