// See sweep.h, "Noise". Points are looked at from the long end, where time is largest and
// noise weighs least; then each is held against the fit through all others.
#include "compute/analysis/sweep_parts.h"

#include "compute/analysis/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// How far above what the rest says a point must lie to be left out. Below that it may be
// the device: its own way with two tokens, or a bend. Noise of the kind meant here is a
// neighbour's burst, which doubles a time and more.
static const double out_times = 1.3;
// How many usual spreads the samples' median may lie above their p10.
static const double most_spreads = 4;

// (median - p10) over p10, as it is usual for these points: its median over them.
static double usual_rise(const struct sweep_point *points, int count) {
    double rises[SWEEP_MAX_POINTS];
    for (int i = 0; i < count; i++)
        rises[i] =
            points[i].p10_ns > 0 ? (double)points[i].median_ns / (double)points[i].p10_ns - 1 : 0;
    qsort(rises, (size_t)count, sizeof *rises, sweep_compare);
    return rises[(count - 1) / 2];
}

// Where more than half of a point's samples were disturbed, its median tells of the
// disturbance: it is brought down to what is usual above its p10.
static void lower_medians(struct sweep_point *points, int count) {
    double most = 1 + fmax(most_spreads * usual_rise(points, count), 0.05);
    for (int i = 0; i < count; i++) {
        double limit = (double)points[i].p10_ns * most;
        if ((double)points[i].median_ns > limit)
            points[i].median_ns = llround(limit);
    }
}

static void take_out(struct sweep_point *points, int *count, int index) {
    memmove(&points[index], &points[index + 1], (size_t)(*count - index - 1) * sizeof *points);
    --*count;
}

// More tokens never take less: a point above a longer one was disturbed.
static void take_out_hills(struct sweep_point *points, int *count) {
    for (int i = *count - 2; i >= 0; i--) {
        double least = (double)points[i + 1].median_ns;
        if ((double)points[i].median_ns > out_times * least)
            take_out(points, count, i);
    }
}

static double fitted_ns(const struct sweep *sweep, bool is_step, int tokens) {
    return is_step ? sweep_fitted_step_ns(sweep, tokens) : sweep_fitted_prefill_ns(sweep, tokens);
}

// How many times the fit through all others a point takes; 0: less than it, or unknown. The
// last point has nothing behind it to be held against. Beside a knee that fit is uncertain,
// so the fit through all must say the same by a little.
static double times_of_others(const struct sweep *sweep, bool is_step, int index) {
    static const double a_little = 1.1;
    struct sweep others = *sweep;
    const struct sweep_point *point = is_step ? &sweep->step[index] : &sweep->prefill[index];
    take_out(is_step ? others.step : others.prefill,
             is_step ? &others.step_count : &others.prefill_count, index);
    double ns = fitted_ns(&others, is_step, point->tokens);
    double all_ns = fitted_ns(sweep, is_step, point->tokens);
    if (ns <= 0 || (all_ns > 0 && (double)point->median_ns < a_little * all_ns))
        return 0;
    return (double)point->median_ns / ns;
}

static void take_out_outliers(struct sweep *sweep, bool is_step) {
    struct sweep_point *points = is_step ? sweep->step : sweep->prefill;
    int *count = is_step ? &sweep->step_count : &sweep->prefill_count;
    // A fit through all others needs some; more than a quarter of the points is no outlier.
    for (int most = *count / 4; most > 0 && *count > 5; most--) {
        int worst = 0;
        double most_times = 0;
        for (int i = 0; i + 1 < *count; i++) {
            double times = times_of_others(sweep, is_step, i);
            if (times > most_times) {
                most_times = times;
                worst = i;
            }
        }
        if (most_times < out_times)
            return;
        take_out(points, count, worst);
    }
}

int sweep_disturbed(const struct sweep_point *points, int count) {
    int disturbed = 0;
    for (int i = 0; i < count; i++)
        disturbed += (double)points[i].median_ns > SPREAD_DISTURBED * (double)points[i].p10_ns;
    return 4 * disturbed > count ? disturbed : 0;
}

void sweep_clean(struct sweep *out, const struct sweep *sweep) {
    *out = *sweep;
    if (sweep->is_clean || !sweep_is_ascending(sweep->prefill, sweep->prefill_count) ||
        !sweep_is_ascending(sweep->step, sweep->step_count))
        return;
    for (int is_step = 0; is_step < 2; is_step++) {
        struct sweep_point *points = is_step ? out->step : out->prefill;
        int *count = is_step ? &out->step_count : &out->prefill_count;
        if (*count > 0)
            lower_medians(points, *count);
        take_out_hills(points, count);
    }
    out->is_clean = true; // for the fits that the points are held against
    take_out_outliers(out, false);
    take_out_outliers(out, true);
}
