// The lab's texts and what its plots share: messages, axes, series.
#include "app/picture/lab/parts.h"

#include "compute/base/utf8.h"
#include "compute/base/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --- Texts ---

// Bytes that cannot be drawn become question marks: file names and reasons may hold any.
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

void lab_put(char *out, size_t bytes, const char *text) {
    int length = snprintf(out, bytes, "%s", text);
    if (length >= 0 && (size_t)length >= bytes && bytes >= sizeof SIGN_ELLIPSIS) {
        size_t cut = utf8_cut(out, bytes - 1, bytes - sizeof SIGN_ELLIPSIS);
        memcpy(out + cut, SIGN_ELLIPSIS, sizeof SIGN_ELLIPSIS);
    }
    make_drawable(out);
}

struct figure lab_name(const struct lab_seen *seen) {
    enum { NAME_BYTES = 40 };
    struct figure out;
    lab_put(out.text, NAME_BYTES, seen->at->kept_name ? seen->at->kept_name : word("lab.kept"));
    return out;
}

struct figure lab_tokens(int64_t count) {
    struct figure out;
    WORDS_SAY(out.text, "stage.tokens", "count", figure_count(count, true).text);
    return out;
}

struct figure lab_run_time(const struct run_info *info, int64_t ns) {
    return figure_held(run_time(info, ns));
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
    if (points > 0)
        return false;
    if (seen->at->is_sweeping)
        WORDS_SAY(plot->message, "lab.first_point");
    else if (seen->at->trouble)
        lab_put(plot->message, sizeof plot->message, seen->at->trouble);
    else
        WORDS_SAY(plot->message, "lab.no_lengths");
    return true;
}

void lab_put_sweep_origin(struct plot *plot, const struct lab_seen *seen) {
    WORDS_SAY(plot->origin, seen->at->has_engine ? "lab.measured_here" : "lab.measured_file");
    plot->origin_tone = TONE_READ;
}

// --- Parts of a plot ---

void lab_axis(struct plot_axis *axis, const char *label, enum plot_unit unit, bool is_log) {
    if (is_log)
        WORDS_SAY(axis->label, "lab.log_axis", "name", label);
    else
        lab_put(axis->label, sizeof axis->label, label);
    axis->unit = (uint8_t)unit;
    axis->is_log = is_log;
}

void lab_series(struct plot *plot, enum plot_look look, enum view_tone tone, const char *label) {
    struct plot_series series = {.look = (uint8_t)look, .tone = (uint8_t)tone};
    lab_put(series.label, sizeof series.label, label);
    plot_add_series(plot, &series);
}

void lab_point(struct plot *plot, double x, double y) {
    plot_add_point(plot, (struct plot_point){.x = x, .y = y, .low = y, .high = y});
}

void lab_dots(struct plot *plot, enum view_tone tone, const struct sweep_point *points, int count,
              double lowest_ns) {
    lab_series(plot, PLOT_DOTS, tone, "");
    for (int i = 0; i < count; i++)
        plot_add_point(plot, (struct plot_point){
                                 .x = points[i].tokens,
                                 .y = fmax((double)points[i].median_ns, lowest_ns),
                                 .low = fmax((double)points[i].p10_ns, lowest_ns),
                                 .high = fmax((double)points[i].p90_ns, lowest_ns),
                             });
}

void lab_ring(struct plot *plot, double x, double y, bool is_measured) {
    lab_series(plot, PLOT_RING, TONE_INK, word(is_measured ? "lab.this_run" : "lab.modelled"));
    lab_point(plot, x, y);
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
