// See sweep.h. Everything is a polynomial of degree 0, 1 or 2 through a stretch of the
// points by weighted least squares; the knee is found by trying every place between two
// points, a mean to its left and a line to its right. One test decides everywhere whether
// one more parameter is worth it (is_worth). Tokens are scaled to 0 .. 1, so that
// the equations stay solvable in double.
#include "compute/analysis/sweep_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 3, LEAST_POINTS = 3, LEAST_AFTER_BEND = 5, LEAST_FLOOR = 3, LEAST_SIDE = 2 };

static const double bend_unit = 0.05;  // of the time at the end: less is no bend
static const double guess_unit = 0.01; // relative error where no point has a spread

// The points of one curve, ready to be fitted.
struct weighed {
    int count;
    double x[SWEEP_MAX_POINTS]; // tokens over `unit`
    double y[SWEEP_MAX_POINTS]; // ns
    double sigma[SWEEP_MAX_POINTS];
    double unit;
    bool is_guessed; // no point has a spread: only the weights' ratios are known
};

struct polynomial {
    int terms;
    double c[TERMS];
    double covariance[TERMS][TERMS]; // for the sigmas as they are
    double chi2;
};

// --- The error of each point ---

// Expected range of n samples of a normal distribution, in standard deviations: d2 of
// the control charts. spread_of_samples's p10 and p90 of up to 9 samples are the least
// and the greatest.
static double range_of(int count) {
    static const double ranges[] = {0, 0, 1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.970};
    return count < 10 ? ranges[count] : 2.563; // p90 - p10
}

// Standard error of a median, relative to it; 0 if there is only one sample.
static double relative_error(const struct sweep_point *p) {
    if (p->count < 2 || p->median_ns <= 0)
        return 0;
    // Bursts of other programs stretch the upper half alone: it counts as far as three
    // times the lower one, which few samples make too small by chance.
    double low = (double)p->median_ns - (double)p->p10_ns;
    double whole = (double)p->p90_ns - (double)p->p10_ns;
    double spread = fmin(whole, 6 * low) / range_of(p->count);
    return 1.2533 * spread / sqrt(p->count) / (double)p->median_ns; // sqrt(pi / 2)
}

int sweep_compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// The usual error: the median, or the mean if most points have no spread.
static double usual_error(const double *errors, int count) {
    double sorted[SWEEP_MAX_POINTS], sum = 0;
    memcpy(sorted, errors, (size_t)count * sizeof *errors);
    qsort(sorted, (size_t)count, sizeof *sorted, sweep_compare);
    for (int i = 0; i < count; i++)
        sum += errors[i];
    return sorted[count / 2] > 0 ? sorted[count / 2] : sum / count;
}

bool sweep_is_ascending(const struct sweep_point *points, int count) {
    if (count < 0 || count > SWEEP_MAX_POINTS)
        return false;
    for (int i = 0; i < count; i++) {
        if (points[i].tokens < 1 || (i > 0 && points[i].tokens <= points[i - 1].tokens))
            return false;
    }
    return true;
}

// A spread of few samples is itself uncertain: it is mixed with those of the points beside
// it, by the samples each was made of, and in logarithms, so that a quiet point stays a
// quiet one.
static double mixed_error(const double *errors, const struct sweep_point *points, int count, int at,
                          double least) {
    enum { REACH = 2 };
    double logs = 0, weights = 0;
    for (int i = at - REACH; i <= at + REACH; i++) {
        if (i < 0 || i >= count)
            continue;
        double weight = i == at ? 2.0 * points[i].count : points[i].count;
        logs += weight * log(fmax(errors[i], least));
        weights += weight;
    }
    return exp(logs / weights);
}

static void weigh(struct weighed *out, const struct sweep_point *points, int count) {
    double errors[SWEEP_MAX_POINTS];
    memset(out, 0, sizeof *out);
    if (count < 1 || !sweep_is_ascending(points, count))
        return;
    for (int i = 0; i < count; i++)
        errors[i] = relative_error(&points[i]);
    double usual = usual_error(errors, count);
    out->count = count;
    out->unit = points[count - 1].tokens;
    out->is_guessed = usual <= 0;
    for (int i = 0; i < count; i++) {
        double ns = (double)points[i].median_ns;
        double error =
            out->is_guessed ? guess_unit : mixed_error(errors, points, count, i, usual / 5);
        out->x[i] = points[i].tokens / out->unit;
        out->y[i] = ns;
        out->sigma[i] = hypot(error * ns, 0.5); // and the rounding to nanoseconds
    }
}

// --- Least squares ---

// Inverts a symmetric positive matrix in place, by Gauss and Jordan. False: singular.
static bool invert(double a[TERMS][TERMS], int n) {
    double inverse[TERMS][TERMS] = {{0}};
    double largest = 0;
    for (int i = 0; i < n; i++) {
        inverse[i][i] = 1;
        largest = fmax(largest, a[i][i]);
    }
    for (int i = 0; i < n; i++) {
        double pivot = a[i][i];
        if (!(pivot > 1e-13 * largest))
            return false;
        for (int k = 0; k < n; k++) {
            a[i][k] /= pivot;
            inverse[i][k] /= pivot;
        }
        for (int row = 0; row < n; row++) {
            double factor = a[row][i];
            for (int k = 0; k < n && row != i; k++) {
                a[row][k] -= factor * a[i][k];
                inverse[row][k] -= factor * inverse[i][k];
            }
        }
    }
    memcpy(a, inverse, sizeof inverse);
    return true;
}

static double value_at(const struct polynomial *p, double x) {
    double value = 0;
    for (int i = p->terms - 1; i >= 0; i--)
        value = value * x + p->c[i];
    return value;
}

// c0 + c1 x + ... through points first .. end - 1. False: too few, or all at one place.
static bool fit(struct polynomial *out, const struct weighed *w, int first, int end, int terms) {
    double right[TERMS] = {0};
    memset(out, 0, sizeof *out);
    out->terms = terms;
    for (int i = first; i < end; i++) {
        double powers[TERMS] = {1, w->x[i], w->x[i] * w->x[i]};
        double weight = 1 / (w->sigma[i] * w->sigma[i]);
        for (int r = 0; r < terms; r++) {
            right[r] += weight * powers[r] * w->y[i];
            for (int k = 0; k < terms; k++)
                out->covariance[r][k] += weight * powers[r] * powers[k];
        }
    }
    if (end - first < terms || !invert(out->covariance, terms))
        return false;
    for (int r = 0; r < terms; r++) {
        for (int k = 0; k < terms; k++)
            out->c[r] += out->covariance[r][k] * right[k];
    }
    for (int i = first; i < end; i++) {
        double off = (w->y[i] - value_at(out, w->x[i])) / w->sigma[i];
        out->chi2 += off * off;
    }
    return true;
}

// Factor for variances: more than 1 if the points are further from the fit than their
// spread says; without any spread, from their distance alone. The last factor approximates
// Student's distribution for so few points.
static double variance_scale(const struct weighed *w, double chi2, int freedom) {
    if (freedom < 1)
        return 1;
    double found = chi2 / freedom;
    return (w->is_guessed || found > 1 ? found : 1) * (1 + 1.0 / freedom);
}

// Whether one parameter more, which left `freedom` free, has made the fit better by more
// than chance: the F test at about 1 in 1,000.
static bool is_worth(const struct weighed *w, double before, double after, int freedom) {
    if (freedom < 1)
        return false;
    double scale = fmax(variance_scale(w, after, freedom), 1e-12);
    return (before - after) / scale > 12 * (1 + 8.0 / freedom);
}

// --- Floor and line ---

struct two_part {
    int from;                // points before this one are on the floor; 0 = there is none
    int end;                 // points used
    struct polynomial floor; // its mean
    struct polynomial line;
    double chi2;
};

static double knee_of(const struct two_part *p) {
    return (p->floor.c[0] - p->line.c[0]) / p->line.c[1];
}

// With the first `from` points on the floor; chi2 is that of max(floor, line).
static bool split_at(struct two_part *out, const struct weighed *w, int from, int end) {
    *out = (struct two_part){.from = from, .end = end};
    if (!fit(&out->floor, w, 0, from, 1) || !fit(&out->line, w, from, end, 2) ||
        out->line.c[1] <= 0)
        return false;
    for (int i = 0; i < end; i++) {
        double ns = fmax(out->floor.c[0], value_at(&out->line, w->x[i]));
        double off = (w->y[i] - ns) / w->sigma[i];
        out->chi2 += off * off;
    }
    double knee = knee_of(out);
    return knee >= w->x[LEAST_FLOOR - 1] && knee <= w->x[end - LEAST_SIDE];
}

// A floor and a line if the points ask for them, otherwise one line. False: no line.
static bool find_parts(struct two_part *out, const struct weighed *w, int end) {
    struct polynomial bent;
    struct two_part best = {0}, tried;
    *out = (struct two_part){.end = end};
    if (!fit(&out->line, w, 0, end, 2))
        return false;
    out->chi2 = out->line.chi2;
    for (int from = LEAST_FLOOR; from <= end - LEAST_SIDE; from++) {
        if (split_at(&tried, w, from, end) && (best.from == 0 || tried.chi2 < best.chi2))
            best = tried;
    }
    if (best.from == 0 || !is_worth(w, out->chi2, best.chi2, end - 3) ||
        (fit(&bent, w, 0, end, 3) && bent.chi2 < best.chi2))
        return true;
    *out = best;
    return true;
}

// Whether the line part bends upward, by enough to matter at its end.
static bool is_bent(const struct weighed *w, const struct two_part *parts) {
    struct polynomial bent;
    int end = parts->end, left = end - parts->from;
    if (left < LEAST_SIDE + 2 || !fit(&bent, w, parts->from, end, 3))
        return false;
    double length = w->x[end - 1] - w->x[parts->from];
    return is_worth(w, parts->line.chi2, bent.chi2, left - 3) &&
           bent.c[2] * length * length > bend_unit * w->y[end - 1];
}

static double error_of(const struct polynomial *p, int term, double scale) {
    return sqrt(fmax(p->covariance[term][term], 0) * scale);
}

// Few points without a spread know their own error badly (Student's distribution).
static bool is_above_0(double value, double error, const struct weighed *w, int freedom) {
    double errors = w->is_guessed && freedom > 0 ? 2 + 4.0 / freedom : 2;
    return value > errors * error && value > 1e-9 * w->y[0];
}

// By propagation; floor and line come from different points. In units of w->unit.
static double knee_variance(const struct two_part *p, double scale) {
    double knee = knee_of(p), slope = p->line.c[1];
    double variance = p->floor.covariance[0][0] + p->line.covariance[0][0] +
                      knee * knee * p->line.covariance[1][1] + 2 * knee * p->line.covariance[0][1];
    return fmax(variance, 0) * scale / (slope * slope);
}

static bool is_between_sides(const struct two_part *p, const struct weighed *w, double error) {
    return knee_of(p) + error >= w->x[p->from - 1] && knee_of(p) - error <= w->x[p->from];
}

// A point beside the knee may belong to either side. Every splitting of the points that
// agrees with its own knee adds that knee, by how likely it is beside the best one.
static double knee_error(const struct weighed *w, const struct two_part *best, double scale) {
    double sum = knee_variance(best, scale), weights = 1;
    struct two_part p;
    for (int from = LEAST_FLOOR; from <= best->end - LEAST_SIDE; from++) {
        if (from == best->from || !split_at(&p, w, from, best->end))
            continue;
        double variance = knee_variance(&p, scale), off = knee_of(&p) - knee_of(best);
        if (!is_between_sides(&p, w, sqrt(variance)))
            continue;
        double weight = exp((best->chi2 - p.chi2) / (2 * fmax(scale, 1e-12)));
        sum += weight * (variance + off * off);
        weights += weight;
    }
    return sqrt(sum / weights);
}

static void report_knee(struct sweep_prefill_fit *out, const struct weighed *w,
                        const struct two_part *p, double scale) {
    out->has_flat = true;
    out->floor_ns = p->floor.c[0];
    out->floor_error_ns = error_of(&p->floor, 0, scale);
    out->knee_tokens = knee_of(p) * w->unit;
    out->knee_error_tokens = knee_error(w, p, scale) * w->unit;
}

static void report_mean(struct sweep_prefill_fit *out, const struct weighed *w, int end) {
    struct polynomial mean;
    if (!fit(&mean, w, 0, end, 1))
        return;
    out->floor_ns = mean.c[0];
    out->floor_error_ns = error_of(&mean, 0, variance_scale(w, mean.chi2, end - 1));
}

void sweep_fit_prefill(struct sweep_prefill_fit *out, const struct sweep *sweep) {
    struct sweep clean;
    struct weighed w;
    struct two_part parts;
    sweep_clean(&clean, sweep);
    memset(out, 0, sizeof *out);
    weigh(&w, clean.prefill, clean.prefill_count);
    if (w.count < LEAST_POINTS || !find_parts(&parts, &w, w.count))
        return;
    while (parts.end > LEAST_AFTER_BEND && is_bent(&w, &parts)) {
        if (!find_parts(&parts, &w, parts.end - 1))
            return;
    }
    int freedom = parts.end - (parts.from > 0 ? 3 : 2);
    double scale = variance_scale(&w, parts.chi2, freedom);
    out->is_there = true;
    out->longest_tokens = clean.prefill[parts.end - 1].tokens;
    out->offset_ns = parts.line.c[0];
    out->slope_ns = parts.line.c[1] / w.unit;
    out->slope_error_ns = error_of(&parts.line, 1, scale) / w.unit;
    out->has_slope = is_above_0(parts.line.c[1], error_of(&parts.line, 1, scale), &w, freedom);
    if (parts.from > 0 && out->has_slope)
        report_knee(out, &w, &parts, scale);
    else if (!out->has_slope)
        report_mean(out, &w, parts.end);
}

double sweep_fitted_prefill_ns(const struct sweep *sweep, double prompt_tokens) {
    struct sweep_prefill_fit fit;
    sweep_fit_prefill(&fit, sweep);
    double line_ns = fit.offset_ns + fit.slope_ns * prompt_tokens;
    if (!fit.is_there || prompt_tokens > fit.longest_tokens)
        return -1;
    return fit.has_slope ? fmax(fit.floor_ns, line_ns) : fit.floor_ns;
}

double sweep_fitted_step_ns(const struct sweep *sweep, double context_tokens) {
    struct sweep_step_fit fit;
    sweep_fit_step(&fit, sweep);
    bool is_known = fit.is_there && context_tokens <= fit.longest_tokens;
    return is_known ? fit.base_ns + fit.slope_ns * context_tokens : -1;
}

void sweep_fit_step(struct sweep_step_fit *out, const struct sweep *sweep) {
    struct sweep clean;
    struct weighed w;
    struct polynomial line;
    sweep_clean(&clean, sweep);
    memset(out, 0, sizeof *out);
    weigh(&w, clean.step, clean.step_count);
    if (w.count < LEAST_POINTS || !fit(&line, &w, 0, w.count, 2))
        return;
    double scale = variance_scale(&w, line.chi2, w.count - 2);
    out->is_there = true;
    out->base_ns = line.c[0];
    out->base_error_ns = error_of(&line, 0, scale);
    out->slope_ns = line.c[1] / w.unit;
    out->slope_error_ns = error_of(&line, 1, scale) / w.unit;
    out->has_slope = is_above_0(line.c[1], error_of(&line, 1, scale), &w, w.count - 2);
    out->longest_tokens = clean.step[w.count - 1].tokens;
}
