// See plot.h. Fills a plot and computes its scales: the place of a value, which values get
// a tick, how a tick is written. Doubles only, since values range from shares to FLOP/s.
#include "render/data/plot.h"

#include "compute/base/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void plot_clear(struct plot *plot) {
    memset(plot, 0, sizeof *plot);
    plot->x.to = plot->y.to = 1;
}

void plot_add_series(struct plot *plot, const struct plot_series *series) {
    if (plot->series_count == PLOT_MAX_SERIES) {
        plot->dropped++;
        return;
    }
    struct plot_series *to = &plot->series[plot->series_count++];
    *to = *series;
    to->first = plot->point_count;
    to->count = 0;
}

void plot_add_point(struct plot *plot, struct plot_point point) {
    bool is_finite =
        isfinite(point.x) && isfinite(point.y) && isfinite(point.low) && isfinite(point.high);
    if (plot->series_count == 0 || plot->point_count == PLOT_MAX_POINTS || !is_finite) {
        plot->dropped++;
        return;
    }
    plot->points[plot->point_count++] = point;
    plot->series[plot->series_count - 1].count++;
}

void plot_add_pin(struct plot *plot, const struct plot_pin *pin) {
    if (plot->pin_count < PLOT_MAX_PINS && isfinite(pin->x) && isfinite(pin->y))
        plot->pins[plot->pin_count++] = *pin;
    else
        plot->dropped++;
}

// --- scales ---

static bool is_valid(const struct plot_axis *axis) {
    return isfinite(axis->from) && isfinite(axis->to) && axis->from < axis->to &&
           (!axis->is_log || axis->from > 0);
}

double plot_share(const struct plot_axis *axis, double value) {
    const double far_below = -1e6;
    if (!is_valid(axis))
        return 0;
    if (!axis->is_log)
        return (value - axis->from) / (axis->to - axis->from);
    return value > 0 ? log(value / axis->from) / log(axis->to / axis->from) : far_below;
}

double plot_value(const struct plot_axis *axis, double share) {
    if (!is_valid(axis))
        return axis->from;
    if (!axis->is_log)
        return axis->from + share * (axis->to - axis->from);
    return axis->from * pow(axis->to / axis->from, share);
}

// --- ticks ---

// 1, 2 or 5 times a power of ten, by its place in the row 1, 2, 5, 10, 20, ...
static double round_value(int place) {
    static const double FACTORS[] = {1, 2, 5};
    int power = place >= 0 ? place / 3 : -((2 - place) / 3);
    double factor = FACTORS[place - 3 * power];
    return power >= 0 ? factor * pow(10, power) : factor / pow(10, -power);
}

// The multiples of the step within the axis; more than PLOT_MAX_TICKS are counted only.
static void fill_linear(struct plot_ticks *out, const struct plot_axis *axis, double step) {
    const double slip = 1e-9;
    double first = ceil(axis->from / step - slip), last = floor(axis->to / step + slip);
    out->count = last - first > 1000 ? 1000 : (int)(last - first) + 1;
    for (int i = 0; i < out->count && i < PLOT_MAX_TICKS; i++) {
        double at = (first + i) * step;
        at = step < 1 ? (first + i) / round(1 / step) : at; // 0.3, not 0.30000000000000004
        out->at[i] = fmin(fmax(at, axis->from), axis->to);
        if (first + i == 0)
            out->at[i] = 0;
    }
}

// Decades, every `stride`-th of them; stride 0: with 2 and 5 between.
static void fill_log(struct plot_ticks *out, const struct plot_axis *axis, int stride) {
    const double slip = 1 + 1e-9;
    int first = (int)floor(log10(axis->from)) - 1, last = (int)ceil(log10(axis->to)) + 1;
    out->count = 0;
    for (int place = 3 * first; place <= 3 * last; place += stride == 0 ? 1 : 3) {
        double at = round_value(place);
        bool is_skipped = stride > 1 && (place / 3) % stride != 0;
        if (is_skipped || at * slip < axis->from || at > axis->to * slip)
            continue;
        if (out->count < PLOT_MAX_TICKS)
            out->at[out->count] = fmin(fmax(at, axis->from), axis->to);
        out->count++;
    }
}

// Tries one density after another, from dense to sparse, until it has passed `level`
// that can be used. `place` of the step of a linear axis begins so that there are many.
static bool find_linear(struct plot_ticks *out, const struct plot_axis *axis, int level) {
    int place = 3 * (int)floor(log10((axis->to - axis->from) / PLOT_MAX_TICKS));
    for (int tries = 0; tries < 12; tries++, place++) {
        fill_linear(out, axis, round_value(place));
        if (out->count >= 2 && out->count <= PLOT_MAX_TICKS / 2 && level-- == 0)
            return true;
    }
    out->count = 0;
    return false;
}

static bool find_log(struct plot_ticks *out, const struct plot_axis *axis, int level) {
    static const int STRIDES[] = {0, 1, 2, 3, 6, 12, 24, 48, 96, 200};
    for (size_t i = 0; i < sizeof STRIDES / sizeof STRIDES[0]; i++) {
        fill_log(out, axis, STRIDES[i]);
        if (out->count >= 2 && out->count <= PLOT_MAX_TICKS && level-- == 0)
            return true;
    }
    out->count = 0;
    return false;
}

bool plot_ticks_make(struct plot_ticks *out, const struct plot_axis *axis, int level) {
    out->count = 0;
    if (!is_valid(axis) || level < 0)
        return false;
    struct plot_ticks densest;
    // A piece of a decade has no two of its ticks: it is nearly linear.
    bool is_log = axis->is_log && find_log(&densest, axis, 0);
    return is_log ? find_log(out, axis, level) : find_linear(out, axis, level);
}

// --- texts of ticks ---

struct unit {
    double size;
    const char *name;
};
static const struct unit TIMES[] = {
    {1e9, " s"}, {1e6, " ms"}, {1e3, " " SIGN_MICRO "s"}, {1, " ns"}};
static const struct unit RATES[] = {
    {1e12, " TFLOP/s"}, {1e9, " GFLOP/s"}, {1e6, " MFLOP/s"}, {1, " FLOP/s"}};

static void write_scaled(char out[32], const struct unit units[4], double like, double value) {
    const double slip = 1 + 1e-9;
    int i = 0;
    while (i < 3 && fabs(like) * slip < units[i].size)
        i++;
    snprintf(out, 32, "%s%s", figure_number(value / units[i].size).text,
             value == 0 ? "" : units[i].name);
}

void plot_tick_text(char out[32], const struct plot_axis *axis, double value) {
    double like = axis->is_log ? value : fmax(fabs(axis->from), fabs(axis->to));
    switch ((enum plot_unit)axis->unit) {
    case PLOT_TIME:
        write_scaled(out, TIMES, like, value);
        return;
    case PLOT_FLOP_RATE:
        write_scaled(out, RATES, like, value);
        return;
    case PLOT_NUMBER:
    case PLOT_INTENSITY:
        break;
    }
    snprintf(out, 32, "%s", figure_number(value).text);
}
