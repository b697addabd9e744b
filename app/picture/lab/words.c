// The lab's figures as words, and what its plots have in common: axes, series,
// messages. A figure has as many digits as its error lets stand.
#include "app/picture/lab/parts.h"

#include "app/picture/scene/scene.h"
#include "compute/base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char ELLIPSIS[] = "\xE2\x80\xA6";
// No line of a caption ends between a number and what belongs to it.
static const char SPACE[] = "\xC2\xA0";
static const char PLUS_MINUS[] = "\xC2\xA0\xC2\xB1\xC2\xA0";
static const char MINUS[] = "\xE2\x88\x92";

// --- Texts ---

// What cannot be drawn becomes a question mark: file names and reasons come from outside.
static void make_drawable(char *text) {
    for (size_t i = 0, left = strlen(text); left > 0;) {
        uint32_t code = 0;
        size_t length = utf8_next(text + i, left, &code);
        if (length == 0 || utf8_is_control(code)) {
            text[i] = '?';
            length = 1;
        }
        i += length;
        left -= length;
    }
}

void lab_say(char *out, size_t bytes, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int length = vsnprintf(out, bytes, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length >= bytes && bytes >= sizeof ELLIPSIS) {
        size_t cut = utf8_cut(out, bytes - 1, bytes - sizeof ELLIPSIS);
        memcpy(out + cut, ELLIPSIS, sizeof ELLIPSIS);
    }
    make_drawable(out);
}

struct lab_text lab_name(const struct lab_seen *seen) {
    enum { NAME_BYTES = 40 };
    struct lab_text out;
    lab_say(out.text, NAME_BYTES, "%s", seen->at->kept_name ? seen->at->kept_name : "kept");
    return out;
}

struct scale {
    double factor;
    const char *unit;
};

// The unit in which `ns` has one to three digits before the point. From 999.5 on the
// digits would round to the next unit's 1.
static struct scale time_scale(double ns) {
    static const struct scale scales[] = {{1, "ns"}, {1e3, "\xC2\xB5s"}, {1e6, "ms"}, {1e9, "s"}};
    int i = 0;
    while (i < 3 && fabs(ns) >= 999.5 * scales[i].factor)
        i++;
    return scales[i];
}

static int decimals_of(double value) {
    double size = fabs(value);
    return size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : 2;
}

// As many as show the error's first digit.
static int decimals_of_error(double value, double error) {
    if (!(error > 0))
        return decimals_of(value);
    int decimals = (int)ceil(-log10(error) - 1e-9);
    return decimals < 0 ? 0 : decimals > 4 ? 4 : decimals;
}

static const char *sign_of(double value) {
    return value < 0 ? MINUS : "";
}

struct lab_text lab_time(double ns) {
    struct lab_text out;
    struct scale scale = time_scale(ns);
    double value = ns / scale.factor;
    lab_say(out.text, sizeof out.text, "%s%.*f%s%s", sign_of(value), decimals_of(value),
            fabs(value), SPACE, scale.unit);
    return out;
}

struct lab_text lab_time_error(double ns, double error) {
    struct lab_text out;
    struct scale scale = time_scale(fmax(fabs(ns), error));
    double value = ns / scale.factor, spread = error / scale.factor;
    int decimals = decimals_of_error(value, spread);
    lab_say(out.text, sizeof out.text, "%s%.*f%s%.*f%s%s", sign_of(value), decimals, fabs(value),
            PLUS_MINUS, decimals, spread, SPACE, scale.unit);
    return out;
}

struct lab_text lab_count(double count) {
    struct lab_text out;
    long whole = count > 0 && count < 1e9 ? lround(count) : 0;
    if (whole >= 1000000)
        lab_say(out.text, sizeof out.text, "%ld,%03ld,%03ld", whole / 1000000, whole / 1000 % 1000,
                whole % 1000);
    else if (whole >= 1000)
        lab_say(out.text, sizeof out.text, "%ld,%03ld", whole / 1000, whole % 1000);
    else
        lab_say(out.text, sizeof out.text, "%ld", whole);
    return out;
}

struct lab_text lab_count_error(double count, double error) {
    struct lab_text out;
    if (error < 1 && count < 1000)
        lab_say(out.text, sizeof out.text, "%.1f%s%.1f", count, PLUS_MINUS, error);
    else
        lab_say(out.text, sizeof out.text, "%s%s%s", lab_count(count).text, PLUS_MINUS,
                lab_count(fmax(error, 1)).text);
    return out;
}

struct lab_text lab_tokens(double count) {
    struct lab_text out, number = lab_count(count);
    lab_say(out.text, sizeof out.text, "%s token%s", number.text,
            strcmp(number.text, "1") == 0 ? "" : "s");
    return out;
}

struct lab_text lab_rate(double per_second, const char *unit) {
    static const struct scale scales[] = {{1, ""},    {1e3, "k"},  {1e6, "M"},
                                          {1e9, "G"}, {1e12, "T"}, {1e15, "P"}};
    struct lab_text out;
    int i = 0;
    while (i < 5 && per_second >= 999.5 * scales[i].factor)
        i++;
    double value = per_second / scales[i].factor;
    lab_say(out.text, sizeof out.text, "%.*f %s%s/s", decimals_of(value), value, scales[i].unit,
            unit);
    return out;
}

struct lab_text lab_run_time(const struct run_info *info, int64_t ns) {
    struct lab_text out, plain;
    scene_format_time(plain.text, sizeof plain.text, info, ns, ns);
    const char *unit = strchr(plain.text, ' ');
    if (!unit)
        return plain;
    lab_say(out.text, sizeof out.text, "%.*s%s%s", (int)(unit - plain.text), plain.text, SPACE,
            unit + 1);
    return out;
}

struct lab_text lab_percent(double share) {
    struct lab_text out;
    if (share > 0 && share < 0.005)
        lab_say(out.text, sizeof out.text, "less than 1%s%%", SPACE);
    else if (share < 1 && share >= 0.995)
        lab_say(out.text, sizeof out.text, "more than 99%s%%", SPACE);
    else
        lab_say(out.text, sizeof out.text, "%.0f%s%%", 100 * share, SPACE);
    return out;
}

// --- What the runs say ---

int lab_answers(const struct run *run, int64_t t_ns) {
    return run->state == RUN_OPEN ? run_answers_at(run, t_ns) : run_answers_seen(run);
}

bool lab_is_lesson(const struct run *run) {
    return run && run->info.origin == RUN_LESSON;
}

bool lab_is_measured(const struct run *run) {
    return run && run->info.origin == RUN_MEASURED;
}

bool lab_is_warm(const struct run *run) {
    return lab_is_measured(run) && !run->info.cold;
}

bool lab_has_one_clock(const struct run *a, const struct run *b) {
    if (lab_is_lesson(a) != lab_is_lesson(b))
        return false;
    return !lab_is_lesson(a) ||
           (strcmp(a->info.unit, b->info.unit) == 0 && a->info.unit_ns == b->info.unit_ns);
}

bool lab_put_missing(struct plot *plot, const struct lab_seen *seen, int points) {
    size_t bytes = sizeof plot->message;
    if (lab_is_lesson(seen->at->run))
        lab_say(plot->message, bytes, "switch to the measured clock (U) to see measured points");
    else if (points > 0)
        return false;
    else if (seen->at->is_sweeping)
        lab_say(plot->message, bytes, "measuring the first point");
    else if (seen->at->trouble)
        lab_say(plot->message, bytes, "%s", seen->at->trouble);
    else
        lab_say(plot->message, bytes, "no lengths have been measured yet");
    return true;
}

void lab_put_sweep_origin(struct plot *plot, const struct lab_seen *seen) {
    lab_say(plot->origin, sizeof plot->origin, "%s",
            !seen->at->has_engine ? "measured, from a file" : "measured here");
    plot->origin_tone = TONE_READ;
}

// --- Parts of a plot ---

void lab_axis(struct plot_axis *axis, const char *label, enum plot_unit unit, bool is_log) {
    lab_say(axis->label, sizeof axis->label, "%s%s", label, is_log ? ", log scale" : "");
    axis->unit = (uint8_t)unit;
    axis->is_log = is_log;
}

void lab_series(struct plot *plot, enum plot_look look, enum view_tone tone, const char *label) {
    struct plot_series series = {.look = (uint8_t)look, .tone = (uint8_t)tone};
    lab_say(series.label, sizeof series.label, "%s", label);
    plot_add_series(plot, &series);
}

void lab_point(struct plot *plot, double x, double y) {
    plot_add_point(plot, (struct plot_point){.x = x, .y = y, .low = y, .high = y});
}

struct lab_range lab_range_empty(void) {
    return (struct lab_range){.from = HUGE_VAL, .to = -HUGE_VAL};
}

void lab_range_add(struct lab_range *range, double value) {
    range->from = fmin(range->from, value);
    range->to = fmax(range->to, value);
}

bool lab_range_holds(const struct plot_axis *axis, double value) {
    return value >= axis->from && value <= axis->to;
}

void lab_range_put(struct plot_axis *axis, struct lab_range range) {
    static const double log_room = 1.25, room = 1.05;
    if (axis->is_log) {
        axis->from = range.from / log_room;
        axis->to = range.to * log_room;
    } else {
        axis->from = 0;
        axis->to = range.to > 0 ? range.to * room : 1;
    }
}
