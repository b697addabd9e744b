// How prefill time depends on the prompt's length and step time on the context, on this
// device: measured points, and a fit with errors. The fit claims only what the points
// support: a slope, a floor or a knee that cannot be told from noise is "none".
//
// Prefill is fitted by a floor and a line, ns(T) = max(floor, offset + slope * T); the
// knee is where the line leaves the floor, T = (floor - offset) / slope. There is a
// flat part only if at least three points lie on it (of two, a bad one would make a flat
// part by itself) and two beyond, and if the two-part fit is better than a plain line by
// more than its extra parameter is worth (about one in a thousand by chance), and no worse
// than a line that bends. A step is fitted by base + slope * context.
//
// Weights. The error of each median follows from its own p10 and p90 and from what is
// usual for all points, both taken relative to the time: a prompt of 4 tokens counts as
// much as one of 1,024. Where the points lie further from the fit than that (or there
// is one sample a point), errors grow with their real distance. Long prompts bend upward
// (attention): points are left out from the long end while the bend there is certain
// and more than 5 % of the time; `longest_tokens` says how far the fit goes.
//
// Noise. Other programs only ever add time, so all that is made from a sweep (fits,
// modelled times, marks) rests on its lower side, and a disturbed point changes nothing
// (sweep_clean): a median far above its own p10 is brought down to it (for the lower
// quantile as the estimator where noise is one-sided: J. Chen, J. Revels, "Robust
// benchmarking in noisy environments", 2016, arXiv:1608.04295); a point above a longer one
// is left out, since more tokens never take less; and so is one that lies far above the
// fit through all others, the worst first, at most a quarter of them (least trimmed
// squares: P. J. Rousseeuw, JASA 79, 1984). A point's error, too, does not follow its upper
// half alone.
#ifndef COMPUTE_ANALYSIS_SWEEP_H
#define COMPUTE_ANALYSIS_SWEEP_H

#include "compute/base/why.h"

#include "compute/run/run.h"

enum { SWEEP_MAX_POINTS = 32 };

struct sweep_point {
    int tokens; // prompt tokens, or tokens in the KV cache before the step; >= 1
    int64_t median_ns, p10_ns, p90_ns;
    int count; // samples, >= 1
};

struct sweep {
    int prefill_count, step_count;
    struct sweep_point prefill[SWEEP_MAX_POINTS]; // ascending tokens
    struct sweep_point step[SWEEP_MAX_POINTS];    // ascending tokens
    bool is_clean;                                // made by sweep_clean
};

// The points that undisturbed measuring would have given, as above: some are lower, some
// are left out. All functions below do this by themselves; who asks many of them does it
// once.
void sweep_clean(struct sweep *out, const struct sweep *sweep);

// How many points were disturbed so that no estimator helps, since most of their samples were
// (median more than SPREAD_DISTURBED times p10), if that is more than a quarter of the points,
// which is more than may be left out: then nothing is concluded from any of them. 0: fewer.
int sweep_disturbed(const struct sweep_point *points, int count);

struct sweep_prefill_fit {
    bool is_there;  // at least three points
    bool has_flat;  // there is a floor and a knee
    bool has_slope; // it is above 0 by more than twice its error; without it all is flat
    // With has_flat, or if all is flat (then the mean of all); otherwise 0.
    double floor_ns, floor_error_ns;
    double slope_ns, slope_error_ns; // a token, right of the knee (of all, without one)
    double offset_ns;                // of the line at 0 tokens
    double knee_tokens, knee_error_tokens;
    int longest_tokens; // of the points that the fit goes through
};

struct sweep_step_fit {
    bool is_there;
    bool has_slope; // it is above 0 by more than twice its error
    double base_ns, base_error_ns;
    double slope_ns, slope_error_ns; // a token of context
    int longest_tokens;              // of the points: "too small to see below N tokens"
};

void sweep_fit_prefill(struct sweep_prefill_fit *out, const struct sweep *sweep);
void sweep_fit_step(struct sweep_step_fit *out, const struct sweep *sweep);

// Modelled times: straight lines between neighbouring points, which is exact where time is
// flat or linear; beyond the ends, on with the slope of the fit. -1: no points.
int64_t sweep_prefill_ns(const struct sweep *sweep, double prompt_tokens);
int64_t sweep_step_ns(const struct sweep *sweep, double context_tokens);

// Modelled share of decode in an answer, in parts per million; -1 = no points.
int sweep_decode_ppm(const struct sweep *sweep, int prompt_tokens, int answer_tokens);

// A run of these lengths made from the sweep, origin RUN_MODELLED, under RUN_ENGINE:
// prefill and every step as above, stages in equal parts, the texts of `like` repeated if
// it has any. Owner: run_destroy. Errors: no points, lengths out of range.
bool sweep_run(struct run **out, const struct sweep *sweep, const struct run *like,
               int prompt_tokens, int answer_tokens, struct why *why);

// The lengths to measure: 1, 2, 4 ... and `longest` itself, at most RUN_MAX_TOKENS.
// Returns their count.
int sweep_lengths(int out[SWEEP_MAX_POINTS], int longest);

// Checks a sweep read from a file.
bool sweep_validate(const struct sweep *sweep, struct why *why);

#endif
