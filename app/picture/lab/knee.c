// Does a longer prompt cost more? Prefill's measured time by prompt length, on
// logarithmic axes, so that a flat part, a cost a token and the knee between them are
// three straight things. Dashed: the sweep's fit, which says "modelled". Dotted: what
// the two lessons say of prefill.
//
// The lessons' own figures are made up, so only the shape of each can be held against
// a device. Lesson 2, "one pass, so it stays fast", is flat: at the time of the
// shortest prompt measured. Lesson 1, "every token costs", goes through zero: at the
// lowest cost a token of any prompt measured, where it touches the dots from below.
// Each lesson is then right where the dots lie on its line; above both, neither is.
//
// Until all points are measured the caption gives only their number.
#include "app/picture/lab/parts.h"

#include <math.h>

struct knee {
    const struct lab_seen *seen;
    const struct sweep *sweep;
    const struct sweep_point *points;
    int count, total;
    bool is_whole; // no more points are coming
    int disturbed; // points, if they are too many to conclude anything from any
    struct sweep_prefill_fit fit;
    double prompt, prompt_ns; // the ring; prompt 0 = none
    bool is_measured;         // its time is the run's own
    int cheapest;             // point with the lowest cost a token
};

static double token_cost(const struct sweep_point *point) {
    return (double)point->median_ns / point->tokens;
}

static int cheapest_of(const struct knee *knee) {
    const struct sweep_point *points = knee->sweep->prefill;
    int best = 0;
    for (int i = 1; i < knee->sweep->prefill_count; i++) {
        if (token_cost(&points[i]) < token_cost(&points[best]))
            best = i;
    }
    return best;
}

// The run's own prefill time if it is complete and has the prompt length asked for, or -1.
static int64_t own_prefill_ns(const struct lab_seen *seen) {
    const struct run *run = seen->at->run;
    if (!lab_is_warm(run) || run->info.prompt_tokens != seen->prompt)
        return -1;
    int64_t prefill_ns = run_prefill_ns(run);
    return run->state == RUN_OPEN && prefill_ns > seen->at->t_ns ? -1 : prefill_ns;
}

static bool is_within(const struct knee *knee, double tokens) {
    return tokens >= knee->points[0].tokens && tokens <= knee->points[knee->count - 1].tokens;
}

static void find_prompt(struct knee *knee) {
    int64_t own_ns = own_prefill_ns(knee->seen);
    double prompt = knee->seen->prompt;
    knee->is_measured = own_ns > 0;
    // Beyond the points only the fit gives a time, and it needs all of them.
    bool is_known = knee->is_measured || knee->is_whole || is_within(knee, prompt);
    if (prompt < 1 || !is_known)
        return;
    double ns = knee->is_measured ? (double)own_ns : (double)sweep_prefill_ns(knee->sweep, prompt);
    if (ns < 1)
        return;
    knee->prompt = prompt;
    knee->prompt_ns = ns;
}

static struct knee see(const struct lab_seen *seen) {
    int lengths[SWEEP_MAX_POINTS];
    int longest = seen->at->longest_sweep > 0 ? seen->at->longest_sweep : seen->at->longest_prompt;
    struct knee knee = {
        .seen = seen,
        .sweep = seen->sweep,
        .points = seen->at->sweep->prefill,
        .count = seen->at->sweep->prefill_count,
        .total = longest > 0 ? sweep_lengths(lengths, longest) : 0,
    };
    knee.is_whole = !seen->at->is_sweeping || (knee.total > 0 && knee.count >= knee.total);
    knee.disturbed = sweep_disturbed(knee.points, knee.count);
    if (knee.is_whole && !knee.disturbed)
        sweep_fit_prefill(&knee.fit, knee.sweep);
    knee.cheapest = cheapest_of(&knee);
    find_prompt(&knee);
    return knee;
}

// --- Points and lines ---

static double line_ns(const struct sweep_prefill_fit *fit, double tokens) {
    return fit->offset_ns + fit->slope_ns * tokens;
}

// A nanosecond: logarithmic axes have no 0.
static const double LOWEST_NS = 1;

static double above_zero(double ns) {
    return fmax(ns, LOWEST_NS);
}

static void put_axes(struct plot *plot, const struct knee *knee) {
    struct lab_range x = lab_range_empty(), y = lab_range_empty();
    for (int i = 0; i < knee->count; i++) {
        lab_range_add(&x, knee->points[i].tokens);
        lab_range_add(&y, above_zero((double)knee->points[i].p10_ns));
        lab_range_add(&y, above_zero((double)knee->points[i].median_ns));
        lab_range_add(&y, above_zero((double)knee->points[i].p90_ns));
    }
    if (knee->prompt > 0) {
        lab_range_add(&x, knee->prompt);
        lab_range_add(&y, knee->prompt_ns);
    }
    // Leaves room for the label below the flat line.
    lab_range_add(&y, y.from / pow(y.to / y.from, 0.2));
    lab_axis(&plot->x, word("lab.prompt_tokens"), PLOT_NUMBER, true);
    lab_axis(&plot->y, word("lab.prefill_time"), PLOT_TIME, true);
    lab_range_put(&plot->x, x);
    lab_range_put(&plot->y, y);
}

static void put_lessons(struct plot *plot, const struct knee *knee) {
    double flat_ns = above_zero((double)knee->sweep->prefill[0].median_ns);
    double cost_ns = token_cost(&knee->sweep->prefill[knee->cheapest]);
    lab_series(plot, PLOT_DOTTED, TONE_QUIET, word("lab.lesson_2"));
    lab_point(plot, plot->x.from, flat_ns);
    lab_point(plot, plot->x.to, flat_ns);
    if (cost_ns <= 0)
        return;
    double from = fmax(plot->x.from, plot->y.from / cost_ns);
    double to = fmin(plot->x.to, plot->y.to / cost_ns);
    lab_series(plot, PLOT_DOTTED, TONE_QUIET, word("lab.lesson_1"));
    // Drawn from the right: the label is at the last point, away from the fit's label.
    lab_point(plot, to, fmin(to * cost_ns, plot->y.to));
    lab_point(plot, from, fmax(from * cost_ns, plot->y.from));
}

// The fitted line from a length to the longest that it was fitted to, cut at the axes.
static void put_line(struct plot *plot, const struct sweep_prefill_fit *fit, double from) {
    double lowest = (plot->y.from - fit->offset_ns) / fit->slope_ns;
    double highest = (plot->y.to - fit->offset_ns) / fit->slope_ns;
    double begin = fmax(from, lowest), end = fmin(fit->longest_tokens, highest);
    if (begin >= end)
        return;
    lab_point(plot, begin, fmax(line_ns(fit, begin), plot->y.from));
    lab_point(plot, end, fmin(line_ns(fit, end), plot->y.to));
}

static void put_floor(struct plot *plot, const struct sweep_prefill_fit *fit, double to) {
    // If a slope is drawn, its label covers the floor too.
    lab_series(plot, PLOT_DASHES, TONE_PREFILL, fit->has_slope ? "" : word("lab.modelled"));
    lab_point(plot, plot->x.from, fit->floor_ns);
    lab_point(plot, to, fit->floor_ns);
}

static void put_fit(struct plot *plot, const struct knee *knee) {
    const struct sweep_prefill_fit *fit = &knee->fit;
    char label[64];
    bool is_floor_seen = lab_range_holds(&plot->y, fit->floor_ns);
    if (!fit->is_there)
        return;
    if (fit->has_flat && is_floor_seen)
        put_floor(plot, fit, fit->knee_tokens);
    else if (!fit->has_slope && is_floor_seen)
        put_floor(plot, fit, plot->x.to);
    if (!fit->has_slope)
        return;
    WORDS_SAY(label, "lab.modelled_slope", "slope",
              figure_estimate(fit->slope_ns, fit->slope_error_ns).text);
    lab_series(plot, PLOT_DASHES, TONE_PREFILL, label);
    put_line(plot, fit, fit->has_flat ? fit->knee_tokens : knee->points[0].tokens);
}

// --- What it says here ---

// True if reading all weights is what a short prompt waits for: a pass over one token is
// a decode step, and the roofs give the share of it spent reading.
static bool is_reading(const struct lab_seen *seen) {
    const struct roofline *roofline = seen->at->roofline;
    return roofline && roofline->is_measured &&
           roofline_phase_cause(&roofline->decode) == ROOFLINE_READING;
}

// How far the ring is above the straight line, as a share, beyond the length up to which
// the line fits; 0 elsewhere.
static double bend_at(const struct knee *knee) {
    const struct sweep_prefill_fit *fit = &knee->fit;
    if (!fit->has_slope || knee->prompt <= fit->longest_tokens)
        return 0;
    return fmax(knee->prompt_ns / line_ns(fit, knee->prompt) - 1, 0);
}

static const char *side_key(const struct knee *knee) {
    const struct sweep_prefill_fit *fit = &knee->fit;
    if (knee->prompt <= 0)
        return "lab.knee_at";
    if (knee->prompt < fit->knee_tokens - fit->knee_error_tokens)
        return is_reading(knee->seen) ? "lab.knee_left_reading" : "lab.knee_left";
    return knee->prompt <= fit->knee_tokens + fit->knee_error_tokens ? "lab.knee_here"
                                                                     : "lab.knee_right";
}

static const char *no_flat_key(const struct knee *knee) {
    const struct sweep_prefill_fit *fit = &knee->fit;
    double shortest_ns = (double)knee->sweep->prefill[0].median_ns;
    return !fit->has_slope                    ? "lab.knee_hidden"
           : fit->offset_ns > shortest_ns / 2 ? "lab.knee_offset"
                                              : "lab.knee_none";
}

static const char *caption_key(const struct knee *knee) {
    const struct sweep_point *last = &knee->points[knee->count - 1];
    if (!knee->is_whole)
        return knee->total > 0 ? "lab.of_lengths" : "lab.so_far";
    if (knee->disturbed)
        return "lab.sweep_disturbed";
    if (!knee->fit.is_there)
        return "lab.too_few";
    if (knee->prompt > last->tokens && !knee->is_measured)
        return "lab.knee_beyond";
    if (bend_at(knee) > 0.005)
        return "lab.knee_bend";
    return knee->fit.has_flat ? side_key(knee) : no_flat_key(knee);
}

static void put_caption(struct plot *plot, const struct knee *knee) {
    const struct sweep_prefill_fit *fit = &knee->fit;
    WORDS_SAY(plot->caption, caption_key(knee), "count", figure_count(knee->count, false).text,
              "disturbed", figure_count(knee->disturbed, false).text, "total",
              figure_count(knee->total, false).text, "last",
              lab_tokens(knee->points[knee->count - 1].tokens).text, "bend",
              figure_percent(100 * bend_at(knee)).text, "longest",
              lab_tokens(fit->longest_tokens).text, "knee",
              figure_count_estimate(fit->knee_tokens, fit->knee_error_tokens).text, "floor",
              figure_estimate(fit->floor_ns, fit->floor_error_ns).text, "slope",
              figure_estimate(fit->slope_ns, fit->slope_error_ns).text, "offset",
              figure_estimate(fit->offset_ns, -1).text);
}

void lab_put_knee(struct plot *plot, const struct lab_seen *seen) {
    WORDS_SAY(plot->title, "lab.knee_title");
    if (lab_is_lesson(seen->at->run)) {
        lab_put_rule_knee(plot, seen);
        return;
    }
    if (lab_put_missing(plot, seen, seen->at->sweep ? seen->at->sweep->prefill_count : 0))
        return;
    struct knee knee = see(seen);
    lab_put_sweep_origin(plot, seen);
    put_axes(plot, &knee);
    lab_dots(plot, TONE_PREFILL, knee.points, knee.count, LOWEST_NS);
    if (knee.is_whole && !knee.disturbed) {
        put_lessons(plot, &knee); // first, so that their labels are placed first
        put_fit(plot, &knee);
    }
    if (knee.prompt > 0)
        lab_ring(plot, knee.prompt, knee.prompt_ns, knee.is_measured);
    put_caption(plot, &knee);
}
