// What a run file keeps beside its run: the sweep and the roofline bound. Doubles are
// stored as integers of a fine unit: a byte, an operation, a millionth.
#include "compute/file/runfile_parts.h"

#include "compute/base/why.h"

#include <math.h>
#include <string.h>

static const char *const curve_names[] = {"prefill", "step"};

// 2^62: far above the rates and sums of any device or model.
static const double most_real = 4611686018427387904.0;

// --- What can be written ---

static bool is_kept(double value) {
    return value >= 0 && value < most_real; // false for NaN
}

static bool check_phase(const struct roofline_phase *phase, struct why *why) {
    if (is_kept(phase->bytes) && is_kept(phase->flop) && phase->bound_ns >= 0 &&
        phase->bound_ns <= RUN_MAX_NS && phase->share >= -1 && phase->share <= 1000)
        return true;
    return why_set(why, "floors: %g bytes, %g operations, a share of %g: out of range",
                   phase->bytes, phase->flop, phase->share);
}

bool runfile_extras_check(const struct runfile_extras *extras, struct why *why) {
    if (!extras)
        return true;
    const struct roofline *roofline = &extras->roofline;
    if (!sweep_validate(&extras->sweep, why))
        return false;
    if (!roofline->is_measured)
        return true;
    if (!is_kept(roofline->rates.read_bytes_s) || !is_kept(roofline->rates.matrix_flop_s))
        return why_set(why, "floors: rates of %g and %g are out of range",
                       roofline->rates.read_bytes_s, roofline->rates.matrix_flop_s);
    return check_phase(&roofline->prefill, why) && check_phase(&roofline->decode, why);
}

// --- Printing ---

static void print_points(struct jsonout *out, const char *key, const struct sweep_point *points,
                         int count) {
    jsonout_open(out, key, '[');
    for (int i = 0; i < count; i++) {
        jsonout_line(out);
        jsonout_open(out, NULL, '{');
        jsonout_int(out, "tokens", points[i].tokens);
        jsonout_int(out, "median_ns", points[i].median_ns);
        jsonout_int(out, "p10_ns", points[i].p10_ns);
        jsonout_int(out, "p90_ns", points[i].p90_ns);
        jsonout_int(out, "count", points[i].count);
        jsonout_close(out, '}');
    }
    jsonout_close(out, ']');
}

static void print_phase(struct jsonout *out, const char *key, const struct roofline_phase *phase) {
    jsonout_line(out);
    jsonout_open(out, key, '{');
    jsonout_int(out, "bytes", llround(phase->bytes));
    jsonout_int(out, "flop", llround(phase->flop));
    jsonout_int(out, "floor_ns", phase->bound_ns);
    jsonout_int(out, "share_ppm", phase->share < 0 ? -1 : llround(phase->share * 1e6));
    jsonout_bool(out, "is_read", phase->is_read);
    jsonout_close(out, '}');
}

void runfile_extras_print(struct jsonout *out, const struct runfile_extras *extras) {
    if (!extras)
        return;
    const struct sweep *sweep = &extras->sweep;
    const struct roofline *roofline = &extras->roofline;
    if (sweep->prefill_count > 0 || sweep->step_count > 0) {
        jsonout_line(out);
        jsonout_open(out, "sweep", '{');
        print_points(out, curve_names[0], sweep->prefill, sweep->prefill_count);
        jsonout_line(out);
        print_points(out, curve_names[1], sweep->step, sweep->step_count);
        jsonout_close(out, '}');
    }
    if (!roofline->is_measured)
        return;
    jsonout_line(out);
    jsonout_open(out, "floors", '{');
    jsonout_int(out, "read_bytes_s", llround(roofline->rates.read_bytes_s));
    jsonout_int(out, "matrix_flop_s", llround(roofline->rates.matrix_flop_s));
    jsonout_bool(out, "is_cached", roofline->rates.is_cached);
    print_phase(out, runfile_phases[0], &roofline->prefill);
    print_phase(out, runfile_phases[1], &roofline->decode);
    jsonout_close(out, '}');
}

// --- Reading ---

static bool read_point(struct sweep_point *out, const struct jsonin *at) {
    static const struct jsonin_range counts = {1, INT32_MAX}, times = {0, RUN_MAX_NS};
    int64_t tokens = 0, count = 0;
    if (!jsonin_int(at, "tokens", counts, &tokens) ||
        !jsonin_int(at, "median_ns", times, &out->median_ns) ||
        !jsonin_int(at, "p10_ns", times, &out->p10_ns) ||
        !jsonin_int(at, "p90_ns", times, &out->p90_ns) || !jsonin_int(at, "count", counts, &count))
        return false;
    out->tokens = (int)tokens;
    out->count = (int)count;
    return true;
}

static bool read_points(struct sweep_point *out, int *count, const struct jsonin *at,
                        const char *key) {
    const json_t *points = NULL;
    if (!jsonin_array(at, key, (struct jsonin_range){0, SWEEP_MAX_POINTS}, &points))
        return false;
    *count = (int)json_array_size(points);
    for (int i = 0; i < *count; i++) {
        struct jsonin item;
        if (!jsonin_enter_item(&item, at, key, points, (size_t)i) || !read_point(&out[i], &item))
            return false;
    }
    return true;
}

static bool read_sweep(struct sweep *out, const struct jsonin *at) {
    struct jsonin inside;
    struct why reason;
    if (!jsonin_enter(&inside, at, "sweep") ||
        !read_points(out->prefill, &out->prefill_count, &inside, curve_names[0]) ||
        !read_points(out->step, &out->step_count, &inside, curve_names[1]))
        return false;
    return sweep_validate(out, &reason) || jsonin_fail(&inside, "%.140s", reason.text);
}

static bool read_real(const struct jsonin *at, const char *key, double *out) {
    int64_t value = 0;
    if (!jsonin_int(at, key, (struct jsonin_range){0, (int64_t)1 << 61}, &value))
        return false;
    *out = (double)value;
    return true;
}

static bool read_phase(struct roofline_phase *out, const struct jsonin *at, const char *key) {
    struct jsonin inside;
    int64_t ppm = 0;
    if (!jsonin_enter(&inside, at, key) || !read_real(&inside, "bytes", &out->bytes) ||
        !read_real(&inside, "flop", &out->flop) ||
        !jsonin_int(&inside, "floor_ns", (struct jsonin_range){0, RUN_MAX_NS}, &out->bound_ns) ||
        !jsonin_int(&inside, "share_ppm", (struct jsonin_range){-1, 1000000000}, &ppm) ||
        !jsonin_bool(&inside, "is_read", &out->is_read))
        return false;
    out->share = ppm < 0 ? -1 : (double)ppm / 1e6;
    return true;
}

static bool read_roofline(struct roofline *out, const struct jsonin *at) {
    struct jsonin inside;
    out->is_measured = true;
    return jsonin_enter(&inside, at, "floors") &&
           read_real(&inside, "read_bytes_s", &out->rates.read_bytes_s) &&
           read_real(&inside, "matrix_flop_s", &out->rates.matrix_flop_s) &&
           jsonin_bool(&inside, "is_cached", &out->rates.is_cached) &&
           read_phase(&out->prefill, &inside, runfile_phases[0]) &&
           read_phase(&out->decode, &inside, runfile_phases[1]);
}

bool runfile_extras_read(struct runfile_extras *out, const struct jsonin *at) {
    memset(out, 0, sizeof *out);
    if (json_object_get(at->json, "sweep") && !read_sweep(&out->sweep, at))
        return false;
    return !json_object_get(at->json, "floors") || read_roofline(&out->roofline, at);
}
