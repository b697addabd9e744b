// See measure_sweep.h. Both curves have the same kind of points and share their table; only
// the words for their fits differ.
#include "app/command/measure_sweep.h"

#include "compute/base/figures.h"
#include "compute/base/num.h"
#include "compute/base/why.h"

#include <math.h>

static double ms_of(double ns) {
    return ns / 1e6;
}

// --- Measuring ---

bool measure_sweep(struct sweep *out, struct source *source, int repeats, struct why *why) {
    // The step at the longest length needs a place of its own in the context.
    int room = engine_context(source->engine) - 1;
    int longest = min_int(room, max_int(source->prompt.count, MEASURE_SWEEP_LONGEST));
    return source_start_sweep(source, max_int(longest, 1),
                              repeats > 0 ? repeats : MEASURE_SWEEP_REPEATS, why) &&
           source_wait(source, NULL, why) &&
           (engine_sweep_points(source->engine, out) ||
            why_set(why, "the sweep ended without a point. Run it again."));
}

// --- For people ---

static void print_points(FILE *out, const char *name, const char *of,
                         const struct sweep_point *points, int count) {
    fprintf(out, "%s\n%-8s%11s%11s%11s%8s\n", name, of, "median ms", "p10", "p90", "count");
    for (int i = 0; i < count; i++)
        fprintf(out, "%-8d%11.3f%11.3f%11.3f%8d\n", points[i].tokens,
                ms_of((double)points[i].median_ns), ms_of((double)points[i].p10_ns),
                ms_of((double)points[i].p90_ns), points[i].count);
}

static void print_slope(FILE *out, double slope_ns, double error_ns) {
    fprintf(out, "%s us a token", figure_with_error(slope_ns / 1e3, error_ns / 1e3).text);
}

// Without a slope. That time is flat is a finding only where the slope can, by twice its
// error, add no more than 5 % up to the longest length; else noise hides it.
static void print_flat(FILE *out, const char *what, double base_ns, double base_error_ns,
                       double slope_ns, double slope_error_ns, int longest_tokens) {
    double most_ns = (fmax(slope_ns, 0) + 2 * slope_error_ns) * longest_tokens;
    bool is_found = most_ns <= base_ns / 20;
    fprintf(out, "%s%s ms%s%s up to %d tokens\n", is_found ? "flat within 5 % at " : "",
            figure_with_error(ms_of(base_ns), ms_of(base_error_ns)).text,
            is_found ? "" : "; noise hides what a token ", is_found ? "" : what, longest_tokens);
}

// True, and said, if too many of the points were disturbed to conclude anything.
static bool print_disturbed(FILE *out, const struct sweep_point *points, int count) {
    int disturbed = sweep_disturbed(points, count);
    if (disturbed)
        fprintf(out, "disturbed at %d of %d lengths: nothing is concluded, measure again\n",
                disturbed, count);
    return disturbed;
}

static void print_prefill_fit(FILE *out, const struct sweep *sweep) {
    struct sweep_prefill_fit fit;
    if (print_disturbed(out, sweep->prefill, sweep->prefill_count))
        return;
    sweep_fit_prefill(&fit, sweep);
    if (!fit.is_there) {
        fprintf(out, "too few lengths for a fit\n");
        return;
    }
    if (!fit.has_slope) {
        print_flat(out, "of the prompt adds", fit.floor_ns, fit.floor_error_ns, fit.slope_ns,
                   fit.slope_error_ns, fit.longest_tokens);
    } else {
        if (fit.has_flat)
            fprintf(out, "flat at %s ms up to %s tokens, then ",
                    figure_with_error(ms_of(fit.floor_ns), ms_of(fit.floor_error_ns)).text,
                    figure_with_error(fit.knee_tokens, fit.knee_error_tokens).text);
        else
            fprintf(out, "no flat part on this device: ");
        print_slope(out, fit.slope_ns, fit.slope_error_ns);
        fputc('\n', out);
    }
    if (fit.longest_tokens < sweep->prefill[sweep->prefill_count - 1].tokens)
        fprintf(out, "longer prompts than %d tokens take more than that: they bend upward\n",
                fit.longest_tokens);
}

static void print_step_fit(FILE *out, const struct sweep *sweep) {
    struct sweep_step_fit fit;
    if (print_disturbed(out, sweep->step, sweep->step_count))
        return;
    sweep_fit_step(&fit, sweep);
    if (!fit.is_there) {
        fprintf(out, "too few lengths for a fit\n");
        return;
    }
    if (!fit.has_slope) {
        print_flat(out, "of context adds", fit.base_ns, fit.base_error_ns, fit.slope_ns,
                   fit.slope_error_ns, fit.longest_tokens);
        return;
    }
    fprintf(out, "%s ms and ",
            figure_with_error(ms_of(fit.base_ns), ms_of(fit.base_error_ns)).text);
    print_slope(out, fit.slope_ns, fit.slope_error_ns);
    fprintf(out, " of context\n");
}

void measure_sweep_print(FILE *out, const struct sweep *sweep) {
    fputc('\n', out);
    print_points(out, "prefill by prompt length", "tokens", sweep->prefill, sweep->prefill_count);
    print_prefill_fit(out, sweep);
    fputc('\n', out);
    print_points(out, "step by tokens in the KV cache", "tokens", sweep->step, sweep->step_count);
    print_step_fit(out, sweep);
}

// --- For programs ---

static json_t *points_json(const struct sweep_point *points, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_t *point =
            json_pack("{s:i,s:f,s:f,s:f}", "tokens", points[i].tokens, "median",
                      ms_of((double)points[i].median_ns), "p10", ms_of((double)points[i].p10_ns),
                      "p90", ms_of((double)points[i].p90_ns));
        if (json_array_append_new(list, point) != 0) { // takes NULLs, with -1
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *real_or_null(bool is_there, double value) {
    return is_there ? json_real(value) : json_null();
}

static json_t *prefill_fit_json(const struct sweep *sweep) {
    struct sweep_prefill_fit fit;
    sweep_fit_prefill(&fit, sweep);
    if (!fit.is_there || sweep_disturbed(sweep->prefill, sweep->prefill_count))
        return json_null();
    bool has_floor = fit.has_flat || !fit.has_slope;
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:i}", "floor_ms",
                     real_or_null(has_floor, ms_of(fit.floor_ns)), "floor_error_ms",
                     real_or_null(has_floor, ms_of(fit.floor_error_ns)), "slope_ms_per_token",
                     real_or_null(fit.has_slope, ms_of(fit.slope_ns)), "slope_error_ms_per_token",
                     real_or_null(fit.has_slope, ms_of(fit.slope_error_ns)), "offset_ms",
                     real_or_null(fit.has_slope, ms_of(fit.offset_ns)), "knee_tokens",
                     real_or_null(fit.has_flat, fit.knee_tokens), "knee_error_tokens",
                     real_or_null(fit.has_flat, fit.knee_error_tokens), "longest_tokens",
                     fit.longest_tokens);
}

static json_t *step_fit_json(const struct sweep *sweep) {
    struct sweep_step_fit fit;
    sweep_fit_step(&fit, sweep);
    if (!fit.is_there || sweep_disturbed(sweep->step, sweep->step_count))
        return json_null();
    return json_pack("{s:f,s:f,s:o,s:o,s:i}", "base_ms", ms_of(fit.base_ns), "base_error_ms",
                     ms_of(fit.base_error_ns), "slope_ms_per_token",
                     real_or_null(fit.has_slope, ms_of(fit.slope_ns)), "slope_error_ms_per_token",
                     real_or_null(fit.has_slope, ms_of(fit.slope_error_ns)), "longest_tokens",
                     fit.longest_tokens);
}

bool measure_sweep_add_json(json_t *object, const struct sweep *sweep) {
    json_t *fits =
        json_pack("{s:o,s:o}", "prefill", prefill_fit_json(sweep), "step", step_fit_json(sweep));
    json_t *disturbed =
        json_pack("{s:i,s:i}", "prefill", sweep_disturbed(sweep->prefill, sweep->prefill_count),
                  "step", sweep_disturbed(sweep->step, sweep->step_count));
    return json_object_set_new(object, "disturbed_lengths", disturbed) == 0 &&
           json_object_set_new(object, "prefill_by_length",
                               points_json(sweep->prefill, sweep->prefill_count)) == 0 &&
           json_object_set_new(object, "step_by_context",
                               points_json(sweep->step, sweep->step_count)) == 0 &&
           json_object_set_new(object, "fits", fits) == 0;
}
