// Lab mode's data: what each plot says in each region of a device's curve, that nothing
// stands outside its axes, that a growing run never shows its end, that lanes add up,
// and that what is missing is said and never made up.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/picture/lab/lab.h"
#include "app/state/lengths.h"
#include "compute/analysis/roofline.h"
#include "compute/analysis/sweep.h"
#include "compute/base/why.h"
#include "tests/compute/base/text_fault.h"
#include "tests/compute/run/plain_run.h"
#include "tests/compute/run/random_run.h"
#include "tests/render/data/alike.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096, KNEE = 0, ROOFS = 1, STEP = 0, MAP = 1, CACHE = 0, PAIR = 1 };

static struct lab lab_a, lab_b;

// --- Things to show ---

// ns(T) = max(floor, offset + slope T) + square T^2.
struct curve {
    double floor, offset, slope, square;
};

static struct sweep_point point_at(int tokens, double ns, double spread) {
    return (struct sweep_point){.tokens = tokens,
                                .median_ns = llround(ns),
                                .p10_ns = llround(ns * (1 - spread)),
                                .p90_ns = llround(ns * (1 + spread)),
                                .count = 9};
}

// Medians a little off the curve, by less than their spread.
static struct sweep sweep_of(const struct curve *prefill, double step_base, double step_slope,
                             int longest) {
    static const double off[] = {0.3, -0.4, 0.1, 0.5, -0.2, -0.5, 0.4, 0.0, -0.1, 0.2};
    const double spread = 0.01;
    struct sweep sweep = {0};
    int lengths[SWEEP_MAX_POINTS];
    int count = sweep_lengths(lengths, longest);
    for (int i = 0; i < count; i++) {
        double t = lengths[i], wobble = 1 + spread * off[i % 10];
        double ns = fmax(prefill->floor, prefill->offset + prefill->slope * t);
        ns += prefill->square * t * t;
        sweep.prefill[sweep.prefill_count++] = point_at(lengths[i], ns * wobble, spread);
        ns = step_base + step_slope * t;
        sweep.step[sweep.step_count++] = point_at(lengths[i], ns * wobble, spread);
    }
    return sweep;
}

static const struct curve flat_then_linear = {1e6, 2e5, 4e3, 0}; // knee at 200 tokens
static const struct curve pure_line = {0, 1e4, 1e5, 0};
static const struct curve constant = {2e6, 0, 0, 0};
static const struct curve bent = {1e6, 2e5, 4e3, 1.5};

static struct sweep good_sweep(void) {
    return sweep_of(&flat_then_linear, 8e5, 100, LONGEST);
}

// A run of `origin` with a prefill and steps as long as asked, each answer token with an
// id of its own.
static struct run *run_of(enum run_origin origin, int prompt, int answers, int64_t prefill_ns,
                          int64_t step_ns) {
    struct plain_run plain = {.info = {.origin = origin,
                                       .threads = 2,
                                       .unit_ns = 1000000,
                                       .layers = 2,
                                       .prompt_tokens = prompt,
                                       .answer_limit = answers},
                              .prefill_ns = prefill_ns,
                              .step_ns = step_ns};
    bool is_lesson = origin == RUN_LESSON;
    strcpy(plain.info.device, is_lesson ? "lesson" : "cpu");
    strcpy(plain.info.weights, is_lesson ? "none" : "bundled");
    strcpy(plain.info.model, is_lesson ? "module-7" : "support-4m");
    strcpy(plain.info.unit, is_lesson ? "units" : "");
    return plain_run(&plain);
}

static struct run *measured_run(int prompt, int answers) {
    return run_of(RUN_MEASURED, prompt, answers, 730000, 80000);
}

static const struct roofline some_roofline = {
    .is_measured = true,
    .rates = {.read_bytes_s = 20e9, .matrix_flop_s = 80e9},
    .prefill = {.bytes = 8e6, .flop = 4e8, .bound_ns = 5000000, .share = 0.8},
    .decode = {.bytes = 8e6, .flop = 8e6, .bound_ns = 400000, .share = 0.7, .is_read = true},
};

// What a lab is filled from.
struct showing {
    struct at_hand at;
    struct stage_state stage;
};

static struct showing source_of(const struct run *run, const struct sweep *sweep) {
    return (struct showing){
        .at = {.run = run,
               .t_ns = run ? run_end_ns(run) : 0,
               .has_engine = true,
               .can_move = true,
               .longest_prompt = LONGEST,
               .longest_answer = LONGEST,
               .sweep = sweep},
        .stage = {.focus = -1},
    };
}

static const struct plot *plot_of(const struct showing *source, int page, int plot) {
    struct stage_state stage = source->stage;
    stage.page = page;
    lab_fill(&lab_a, &source->at, &stage);
    return &lab_a.plots[plot];
}

// With plain spaces where no line may end.
static const char *plain(const char *text) {
    static char out[256];
    size_t used = 0;
    for (; *text && used + 1 < sizeof out; text++) {
        bool is_fixed = (unsigned char)text[0] == 0xC2 && (unsigned char)text[1] == 0xA0;
        out[used++] = is_fixed ? ' ' : *text;
        text += is_fixed;
    }
    out[used] = '\0';
    return out;
}

static void assert_says(const char *text, const char *part) {
    if (!strstr(plain(text), part))
        fail_msg("\"%s\" does not say \"%s\"", text, part);
}

static void assert_reads(const char *text, const char *expected) {
    assert_string_equal(plain(text), expected);
}

static void check_near(double value, double expected, double slip) {
    if (!(fabs(value - expected) <= slip))
        fail_msg("%.17g is not %.17g", value, expected);
}

static const struct plot_series *series_with(const struct plot *plot, const char *label) {
    for (int i = 0; i < plot->series_count; i++) {
        if (strstr(plain(plot->series[i].label), label))
            return &plot->series[i];
    }
    fail_msg("no series is labelled \"%s\"", label);
    return NULL;
}

static bool has_label(const struct plot *plot, const char *label) {
    for (int i = 0; i < plot->series_count; i++) {
        if (strstr(plain(plot->series[i].label), label))
            return true;
    }
    return false;
}

static const struct plot_point *ring_of(const struct plot *plot) {
    for (int i = 0; i < plot->series_count; i++) {
        if (plot->series[i].look == PLOT_RING && plot->series[i].count == 1)
            return &plot->points[plot->series[i].first];
    }
    return NULL;
}

// --- What must hold of every lab ---

static void check_text(const char *text, size_t bytes) {
    assert_non_null(memchr(text, '\0', bytes));
    assert_null(text_fault(text, ""));
}

static void check_axis(const struct plot_axis *axis) {
    check_text(axis->label, sizeof axis->label);
    assert_true(axis->label[0] != '\0');
    assert_true(isfinite(axis->from) && isfinite(axis->to) && axis->from < axis->to);
    assert_true(!axis->is_log || axis->from > 0);
}

static void check_within(const struct plot_axis *axis, double value) {
    if (!(value >= axis->from && value <= axis->to))
        fail_msg("%s: %.17g is outside of %.17g .. %.17g", axis->label, value, axis->from,
                 axis->to);
}

static void check_drawn(const struct plot *plot) {
    check_axis(&plot->x);
    check_axis(&plot->y);
    assert_true(plot->origin[0] != '\0');
    assert_true(plot->caption[0] != '\0');
    for (int i = 0; i < plot->point_count; i++) {
        check_within(&plot->x, plot->points[i].x);
        check_within(&plot->y, plot->points[i].y);
        check_within(&plot->y, plot->points[i].low);
        check_within(&plot->y, plot->points[i].high);
        assert_true(plot->points[i].low <= plot->points[i].y);
        assert_true(plot->points[i].high >= plot->points[i].y);
    }
    for (int i = 0; i < plot->pin_count; i++) {
        check_text(plot->pins[i].label, sizeof plot->pins[i].label);
        check_within(&plot->x, plot->pins[i].x);
        check_within(&plot->y, plot->pins[i].y);
    }
    for (int row = 0; row < plot->rows; row++) {
        for (int column = 0; column < plot->columns; column++)
            assert_in_range(plot->cells_ppm[row][column], 0, VIEW_PPM);
    }
}

static void check_plot(const struct plot *plot) {
    check_text(plot->title, sizeof plot->title);
    check_text(plot->origin, sizeof plot->origin);
    check_text(plot->caption, sizeof plot->caption);
    check_text(plot->message, sizeof plot->message);
    assert_true(plot->title[0] != '\0');
    assert_int_equal(plot->dropped, 0);
    for (int i = 0; i < plot->series_count; i++)
        check_text(plot->series[i].label, sizeof plot->series[i].label);
    if (plot->message[0] == '\0') {
        check_drawn(plot);
        return;
    }
    // A message stands alone: nothing made up behind it.
    assert_int_equal(plot->point_count + plot->series_count + plot->pin_count, 0);
    assert_int_equal(plot->rows + plot->columns, 0);
    assert_reads(plot->caption, "");
    assert_reads(plot->origin, "");
}

static void check_lane(const struct lab_lane *lane) {
    check_text(lane->label, sizeof lane->label);
    check_text(lane->value, sizeof lane->value);
    assert_in_range(lane->span_count, 0, LAB_MAX_SPANS);
    int at = 0;
    for (int i = 0; i < lane->span_count; i++) {
        assert_in_range(lane->spans[i].from_ppm, at, VIEW_PPM);
        assert_in_range(lane->spans[i].to_ppm, lane->spans[i].from_ppm, VIEW_PPM);
        at = lane->spans[i].to_ppm;
    }
}

static int end_of(const struct lab_lane *lane) {
    return lane->span_count > 0 ? lane->spans[lane->span_count - 1].to_ppm : 0;
}

static void check_lab(const struct lab *lab) {
    assert_in_range(lab->lane_count, 0, LAB_MAX_LANES);
    for (int i = 0; i < lab->lane_count; i++)
        check_lane(&lab->lanes[i]);
    assert_in_range(lab->playhead_ppm, 0, VIEW_PPM);
    check_text(lab->scale_label, sizeof lab->scale_label);
    check_text(lab->clock_note, sizeof lab->clock_note);
    assert_true(lab->clock_note[0] != '\0');
    assert_int_equal(lab->control_count, 2);
    for (int i = 0; i < lab->control_count; i++) {
        check_text(lab->controls[i].value, sizeof lab->controls[i].value);
        check_text(lab->controls[i].mark_label, sizeof lab->controls[i].mark_label);
        assert_in_range(lab->controls[i].ppm, 0, VIEW_PPM);
        assert_in_range(lab->controls[i].mark_ppm + 1, 0, VIEW_PPM + 1);
    }
    for (int i = 0; i < LAB_PLOTS; i++)
        check_plot(&lab->plots[i]);
}

// --- The knee ---

static void the_knee_plots_caption_follows_the_region(void **state) {
    static const struct {
        const struct curve *curve;
        int prompt;
        const char *says, *says_not;
    } cases[] = {
        {&flat_then_linear, 16, "Left of the knee (", "lesson 1"},
        {&flat_then_linear, 16, "lesson 2 is right: any pass takes 1.0", "weights"},
        {&flat_then_linear, 200, "At the knee (", "is right"},
        {&flat_then_linear, 2000, "Right of the knee (", "lesson 2"},
        {&flat_then_linear, 2000, "lesson 1 is right: a token adds 4", "flat"},
        {&pure_line, 100, "No flat part on this device, lesson 1 is right: a token adds 1", "knee"},
        {&constant, 100, "Up to 4,096 tokens, noise hides whether", "knee"},
        {&constant, 100, "noise hides whether a longer prompt takes longer.", "lesson"},
        {&bent, 4096, "Steeper than lesson 1: ", "Right of the knee"},
        {&bent, 16, "Left of the knee (", "Steeper"},
        {&flat_then_linear, 9000, "Beyond the longest prompt measured (4,096 tokens)", "lesson"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sweep sweep = sweep_of(cases[i].curve, 8e5, 100, LONGEST);
        struct showing source = source_of(NULL, &sweep);
        source.stage.prompt_tokens = cases[i].prompt;
        const struct plot *plot = plot_of(&source, 0, KNEE);
        check_plot(plot);
        assert_says(plot->caption, cases[i].says);
        if (strstr(plot->caption, cases[i].says_not))
            fail_msg("\"%s\" says \"%s\"", plot->caption, cases[i].says_not);
        assert_reads(plot->origin, "measured here");
    }
}

static void a_line_that_begins_high_says_what_a_pass_takes_anyway(void **state) {
    static const struct curve high_line = {0, 3e6, 2e3, 0};
    (void)state;
    struct sweep sweep = sweep_of(&high_line, 8e5, 100, LONGEST);
    struct showing source = source_of(NULL, &sweep);
    source.stage.prompt_tokens = 64;
    const struct plot *plot = plot_of(&source, 0, KNEE);
    struct sweep_prefill_fit fit;
    sweep_fit_prefill(&fit, &sweep);
    assert_true(fit.has_slope && !fit.has_flat);
    assert_says(plot->caption, "No flat part on this device: a token adds 1.999 \xC2\xB1 0.007 ");
    assert_says(plot->caption, "ms of any pass.");
}

static void weights_are_the_reason_only_where_the_roofs_show_it(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    struct showing source = source_of(NULL, &sweep);
    struct roofline roofline = some_roofline;
    source.stage.prompt_tokens = 16;
    source.at.roofline = &roofline;
    assert_says(plot_of(&source, 0, KNEE)->caption,
                "any pass takes 1.000 \xC2\xB1 0.001 ms, mostly to read all weights.");
    roofline.decode.share = 0.2;
    assert_null(strstr(plot_of(&source, 0, KNEE)->caption, "weights"));
    roofline = some_roofline;
    roofline.decode.is_read = false;
    assert_null(strstr(plot_of(&source, 0, KNEE)->caption, "weights"));
}

static void while_points_come_only_their_number_is_told(void **state) {
    (void)state;
    struct sweep whole = good_sweep();
    for (int count = 1; count <= whole.prefill_count; count++) {
        struct sweep sweep = whole;
        sweep.prefill_count = count;
        struct showing source = source_of(NULL, &sweep);
        source.at.is_sweeping = true;
        source.stage.prompt_tokens = 2000;
        const struct plot *plot = plot_of(&source, 0, KNEE);
        char expected[64];
        snprintf(expected, sizeof expected, "Measuring: %d of 13 lengths.", count);
        check_plot(plot);
        bool is_whole = count == whole.prefill_count;
        assert_int_equal(strcmp(plot->caption, expected) == 0, !is_whole);
        assert_int_equal(has_label(plot, "a token"), is_whole);
        assert_int_equal(has_label(plot, "lesson"), is_whole);
        // Where no point is near, there is no time to put the ring at.
        assert_int_equal(ring_of(plot) != NULL, sweep.prefill[count - 1].tokens >= 2000);
        source.at.longest_sweep = 1 << 20;
        assert_says(plot_of(&source, 0, KNEE)->caption, "Measuring: ");
        source.at.longest_sweep = source.at.longest_prompt = 0;
        assert_says(plot_of(&source, 0, KNEE)->caption, "so far.");
    }
}

static void nothing_is_concluded_from_a_disturbed_sweep(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    // 13 lengths: three may be left out, four are more than a quarter.
    for (int disturbed = 3; disturbed <= 4; disturbed++) {
        for (int i = 0; i < disturbed; i++) {
            struct sweep_point *p = &sweep.prefill[3 * i], *s = &sweep.step[3 * i];
            p->median_ns = p->p90_ns = p->p10_ns * 8 / 5;
            s->median_ns = s->p90_ns = s->p10_ns * 8 / 5;
        }
        struct showing source = source_of(NULL, &sweep);
        source.stage.prompt_tokens = 16;
        bool is_told = disturbed == 4;
        for (int at = 0; at < 2; at++) {
            const struct plot *plot = plot_of(&source, at, at ? STEP : KNEE);
            int fits = 0;
            check_plot(plot);
            for (int i = 0; i < plot->series_count; i++)
                fits += plot->series[i].look == PLOT_DASHES || plot->series[i].look == PLOT_DOTTED;
            bool is_said = strstr(plot->caption, "Disturbed: 4 of 13 lengths were measured beside");
            assert_int_equal(is_said, is_told);
            assert_int_equal(fits > 0, !is_told);
        }
    }
}

static void few_points_are_called_few(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    sweep.prefill_count = 2;
    sweep.step_count = 2;
    struct showing source = source_of(NULL, &sweep);
    source.stage.prompt_tokens = 1;
    assert_reads(plot_of(&source, 0, KNEE)->caption, "Too few lengths measured to say more.");
    assert_reads(plot_of(&source, 1, STEP)->caption, "Too few lengths measured to say more.");
}

static void the_lessons_lines_hold_the_dots_from_below(void **state) {
    static const struct curve *const curves[] = {&flat_then_linear, &pure_line, &constant, &bent};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct sweep sweep = sweep_of(curves[i], 8e5, 100, LONGEST);
        struct showing source = source_of(NULL, &sweep);
        const struct plot *plot = plot_of(&source, 0, KNEE);
        const struct plot_series *flat = series_with(plot, "lesson 2");
        const struct plot_series *through_0 = series_with(plot, "lesson 1");
        assert_int_equal(flat->look, PLOT_DOTTED);
        assert_int_equal(through_0->look, PLOT_DOTTED);
        for (int end = 0; end < 2; end++)
            check_near(plot->points[flat->first + end].y, (double)sweep.prefill[0].median_ns, 0);
        const struct plot_point *right = &plot->points[through_0->first], *left = right + 1;
        assert_true(left->x < right->x);
        double cost = right->y / right->x;
        check_near(left->y / left->x, cost, cost * 1e-9);
        int touched = 0;
        for (int k = 0; k < sweep.prefill_count; k++) {
            double ns = (double)sweep.prefill[k].median_ns, line = cost * sweep.prefill[k].tokens;
            assert_true(line <= ns * (1 + 1e-9));
            touched += line >= ns * (1 - 1e-9);
        }
        assert_true(touched >= 1);
    }
}

static void the_ring_is_measured_only_by_a_run_of_that_length(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    struct run *run = measured_run(100, 5);
    struct showing source = source_of(run, &sweep);
    const struct plot *plot = plot_of(&source, 0, KNEE);
    check_near(ring_of(plot)->x, 100, 0);
    check_near(ring_of(plot)->y, 730000, 0);
    assert_true(has_label(plot, "this run"));
    source.stage.prompt_tokens = 101; // the hand has moved on
    plot = plot_of(&source, 0, KNEE);
    check_near(ring_of(plot)->x, 101, 0);
    check_near(ring_of(plot)->y, (double)sweep_prefill_ns(&sweep, 101), 0);
    assert_true(has_label(plot, "modelled"));
    source.stage.prompt_tokens = 100;
    run->info.cold = true; // not fit to stand among the warm ones
    assert_true(!has_label(plot_of(&source, 0, KNEE), "this run"));
    run->info.cold = false;
    run->info.origin = RUN_MODELLED;
    assert_true(!has_label(plot_of(&source, 0, KNEE), "this run"));
    run_destroy(run);
}

static void the_fits_lines_lie_on_the_fit(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    struct showing source = source_of(NULL, &sweep);
    struct sweep_prefill_fit fit;
    sweep_fit_prefill(&fit, &sweep);
    assert_true(fit.has_flat);
    const struct plot *plot = plot_of(&source, 0, KNEE);
    const struct plot_series *line = series_with(plot, "a token");
    assert_int_equal(line->look, PLOT_DASHES);
    assert_int_equal(line->count, 2);
    for (int i = 0; i < 2; i++) {
        const struct plot_point *point = &plot->points[line->first + i];
        check_near(point->y, fit.offset_ns + fit.slope_ns * point->x, point->y * 1e-9);
    }
    check_near(plot->points[line->first].x, fit.knee_tokens, 1e-6);
    const struct plot_series *floor = series_with(plot, "a token") - 1;
    check_near(plot->points[floor->first].y, fit.floor_ns, 0);
    check_near(plot->points[floor->first + 1].x, fit.knee_tokens, 0);
    assert_says(line->label, "\xC2\xB1"); // with its error
}

// --- Roofs ---

static void a_dot_lies_at_its_share_of_the_roof(void **state) {
    (void)state;
    struct roofline roofline = some_roofline;
    struct showing source = source_of(NULL, NULL);
    source.at.roofline = &roofline;
    const struct plot *plot = plot_of(&source, 0, ROOFS);
    check_plot(plot);
    const struct plot_point *prefill = &plot->points[series_with(plot, "prefill: ")->first];
    const struct plot_point *decode = &plot->points[series_with(plot, "decode: ")->first];
    check_near(prefill->x, 50, 1e-9);
    check_near(prefill->y, 0.8 * 80e9, 1);
    check_near(decode->x, 1, 1e-9);
    check_near(decode->y, 0.7 * 20e9, 1);
    assert_true(has_label(plot, "prefill: limited by arithmetic"));
    assert_true(has_label(plot, "decode: limited by reading"));
    assert_true(has_label(plot, "reading: 20.0 GB/s"));
    assert_true(has_label(plot, "arithmetic: 80.0 GFLOP/s"));
    assert_reads(plot->caption,
                 "Prefill: 80 % of the arithmetic roof. Decode: 70 % of the reading roof.");
    assert_reads(plot->origin, "measured roofs");
}

static void far_below_the_roofs_no_cause_is_named(void **state) {
    (void)state;
    struct roofline roofline = some_roofline;
    struct showing source = source_of(NULL, NULL);
    source.at.roofline = &roofline;
    roofline.decode.share = 0.12;
    roofline.rates.is_cached = true;
    const struct plot *plot = plot_of(&source, 0, ROOFS);
    assert_true(has_label(plot, "decode: 12 % of its roof"));
    assert_true(has_label(plot, "reading, from cache"));
    assert_says(plot->caption, "Decode: 12 % of the reading roof, no cause is named.");
    roofline.prefill.share = -1; // never timed
    plot = plot_of(&source, 0, ROOFS);
    assert_false(has_label(plot, "prefill"));
    assert_says(plot->caption, "Prefill: not timed.");
    roofline.decode.share = -1;
    plot = plot_of(&source, 0, ROOFS);
    check_plot(plot);
    assert_reads(plot->caption, "Prefill: not timed. Decode: not timed.");
}

static void roofs_that_were_not_measured_are_not_drawn(void **state) {
    static const struct roofline none[] = {
        {.is_measured = false, .rates = {.read_bytes_s = 1e9, .matrix_flop_s = 1e9}},
        {.is_measured = true, .rates = {.read_bytes_s = 0, .matrix_flop_s = 1e9}},
        {.is_measured = true, .rates = {.read_bytes_s = 1e9, .matrix_flop_s = 0}},
    };
    (void)state;
    for (int i = -1; i < 3; i++) {
        struct showing source = source_of(NULL, NULL);
        source.at.roofline = i < 0 ? NULL : &none[i];
        const struct plot *plot = plot_of(&source, 0, ROOFS);
        check_plot(plot);
        assert_reads(plot->message, "roofs not measured");
    }
}

// --- Step ---

static void the_step_plot_says_what_the_context_adds(void **state) {
    static const struct {
        double base, slope;
        bool is_sweeping;
        const char *says;
    } cases[] = {
        {8e5, 100, false, " and 99.9 \xC2\xB1 0.9 \xC2\xB5s more"},
        {8e5, 100, false, "A step takes 80"},
        {8e5, 0, false, "up to 4,096 tokens, noise hides what"},
        {8e5, 100, true, "Measuring: 13 lengths so far."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sweep sweep = sweep_of(&flat_then_linear, cases[i].base, cases[i].slope, LONGEST);
        struct showing source = source_of(NULL, &sweep);
        source.at.is_sweeping = cases[i].is_sweeping;
        const struct plot *plot = plot_of(&source, 1, STEP);
        check_plot(plot);
        assert_says(plot->caption, cases[i].says);
        check_near(plot->y.from, 0, 0);
        assert_false(plot->x.is_log || plot->y.is_log);
        assert_int_equal(has_label(plot, "modelled"), !cases[i].is_sweeping);
    }
}

static void the_step_plots_ring_is_the_answer_shown(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    struct run *run = measured_run(100, 9);
    struct showing source = source_of(run, &sweep);
    const struct plot *plot = plot_of(&source, 1, STEP);
    // Eight steps, the first with 100 tokens in the cache, the last with 107.
    check_near(ring_of(plot)->x, 103.5, 0);
    check_near(ring_of(plot)->y, 80000, 0);
    assert_true(has_label(plot, "this run"));
    source.stage.answer_tokens = 3;
    plot = plot_of(&source, 1, STEP);
    check_near(ring_of(plot)->x, 100.5, 0);
    check_near(ring_of(plot)->y, (double)sweep_step_ns(&sweep, 100.5), 0);
    source.stage.answer_tokens = 1; // no step at all
    assert_null(ring_of(plot_of(&source, 1, STEP)));
    run_destroy(run);
}

// --- Map ---

static void the_maps_cells_are_the_sweeps_shares(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    struct showing source = source_of(NULL, &sweep);
    const struct plot *plot = plot_of(&source, 1, MAP);
    check_plot(plot);
    assert_true(plot->columns > 20 && plot->rows > 15);
    for (int row = 0; row < plot->rows; row++) {
        int answer = (int)lround(plot_value(&plot->y, (row + 0.5) / plot->rows));
        for (int column = 0; column < plot->columns; column++) {
            int prompt = (int)lround(plot_value(&plot->x, (column + 0.5) / plot->columns));
            assert_int_equal(plot->cells_ppm[row][column],
                             sweep_decode_ppm(&sweep, prompt, answer));
        }
    }
    assert_says(plot->origin, "modelled");
    check_near(plot->x.to, LONGEST, 0);
    assert_true(plot->y.to <= LONGEST);
}

static void the_map_names_the_share_at_the_setting_and_its_origin(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    struct run *run = run_of(RUN_MEASURED, 100, 11, 1000000, 900000);
    struct showing source = source_of(run, &sweep);
    const struct plot *plot = plot_of(&source, 1, MAP);
    assert_says(plot->caption, "Decode takes 90 % here: measured, 100 + 11 tokens.");
    check_near(ring_of(plot)->x, 100, 0);
    check_near(ring_of(plot)->y, 11, 0);
    source.stage.answer_tokens = 12;
    plot = plot_of(&source, 1, MAP);
    char expected[80];
    snprintf(expected, sizeof expected, "Decode takes %.0f %% here: modelled, 100 + 12 tokens.",
             sweep_decode_ppm(&sweep, 100, 12) / 1e4);
    assert_says(plot->caption, expected);
    source.stage.prompt_tokens = 2 * LONGEST;
    plot = plot_of(&source, 1, MAP);
    assert_null(ring_of(plot));
    assert_says(plot->caption, "8,192 + 12 tokens lie outside of what was measured.");
    run_destroy(run);
}

static void pins_stand_only_within_what_was_measured(void **state) {
    static const struct {
        int longest, pins;
    } cases[] = {{64, 0}, {1024, 1}, {4096, 2}, {16384, 3}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct sweep sweep = sweep_of(&flat_then_linear, 8e5, 100, cases[i].longest);
        struct showing source = source_of(NULL, &sweep);
        const struct plot *plot = plot_of(&source, 1, MAP);
        check_plot(plot);
        assert_int_equal(plot->pin_count, cases[i].pins);
        bool is_said = strstr(plot->caption, "The pins are examples.") != NULL;
        assert_int_equal(is_said, cases[i].pins > 0);
    }
    assert_reads(lab_a.plots[MAP].pins[0].label, "chat 150 + 250");
}

// --- With and without a cache, two runs ---

static void with_and_without_a_cache_show_each_tokens_time(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    struct run *with = measured_run(100, 9);
    struct run *without = run_of(RUN_MEASURED, 100, 9, 740000, 800000);
    struct showing source = source_of(with, &sweep);
    source.at.uncached = without;
    const struct plot *plot = plot_of(&source, 2, CACHE);
    check_plot(plot);
    assert_int_equal(plot->series_count, 2);
    assert_int_equal(plot->series[0].look, PLOT_DOTS);
    assert_int_equal(plot->series[1].look, PLOT_SQUARE);
    for (int i = 0; i < 9; i++) {
        check_near(plot->points[i].x, i + 1, 0);
        check_near(plot->points[i].y, (double)run_answer_ns(with, i), 0);
        check_near(plot->points[9 + i].y, (double)run_answer_ns(without, i), 0);
    }
    assert_reads(plot->caption, "9 tokens: 1.37 ms with the cache, 7.14 ms without "
                                "(5.2\xC3\x97), the same tokens.");
    assert_reads(plot->origin, "both measured");
    without->tokens[100 + 3].id = 7;
    assert_says(plot_of(&source, 2, CACHE)->caption, "other tokens from number 4 on.");
    run_destroy(with);
    run_destroy(without);
}

static void a_cache_that_saves_nothing_is_said_to(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    struct run *with = measured_run(100, 9);
    struct showing source = source_of(with, &sweep);
    source.at.uncached = with;
    assert_says(plot_of(&source, 2, CACHE)->caption,
                "Left of the knee a longer pass is no slower.");
    struct run *beyond = measured_run(190, 20); // its end lies right of the knee
    source.at.run = source.at.uncached = beyond;
    assert_says(plot_of(&source, 2, CACHE)->caption, "Hardly a difference at this length.");
    source.at.run = source.at.uncached = with;
    source.at.is_sweeping = true; // the knee is not known yet
    assert_says(plot_of(&source, 2, CACHE)->caption, "Hardly a difference at this length.");
    source.at.is_sweeping = false;
    source.at.sweep = NULL;
    assert_says(plot_of(&source, 2, CACHE)->caption, "Hardly a difference at this length.");
    run_destroy(beyond);
    run_destroy(with);
}

static void runs_that_cannot_be_compared_are_not(void **state) {
    (void)state;
    struct run *run = measured_run(100, 9), *other = measured_run(101, 9);
    struct run *modelled = run_of(RUN_MODELLED, 100, 9, 1000, 1000);
    struct run *lesson = run_of(RUN_LESSON, 18, 7, 72000000, 25000000);
    struct showing source = source_of(run, NULL);
    assert_says(plot_of(&source, 2, CACHE)->message, "not been measured yet");
    source.at.uncached = other;
    assert_says(plot_of(&source, 2, CACHE)->message, "these lengths have not been measured");
    source.at.uncached = modelled;
    assert_says(plot_of(&source, 2, CACHE)->message, "these lengths have not been measured");
    assert_reads(plot_of(&source, 2, PAIR)->message, "K keeps this run for comparison");
    source.at.kept = lesson;
    assert_says(plot_of(&source, 2, PAIR)->message, "there is no common scale");
    assert_int_equal(lab_a.lane_count, 1);
    source.at.kept = modelled;
    assert_reads(plot_of(&source, 2, PAIR)->origin, "measured and modelled");
    assert_int_equal(lab_a.lane_count, 2);
    source.at.run = modelled;
    source.at.uncached = run;
    assert_says(plot_of(&source, 2, CACHE)->message, "this run is modelled");
    source.at.run = lesson;
    source.at.kept = lesson;
    const struct plot *plot = plot_of(&source, 2, PAIR);
    assert_reads(plot->origin, "lesson units");
    assert_reads(plot->y.label, "units");
    assert_int_equal(plot->y.unit, PLOT_NUMBER);
    check_near(plot->points[6].y, 72 + 6 * 25, 1e-9);
    run_destroy(run);
    run_destroy(other);
    run_destroy(modelled);
    run_destroy(lesson);
}

static void two_runs_stand_on_one_scale(void **state) {
    (void)state;
    struct run *run = measured_run(100, 9), *slow = run_of(RUN_MEASURED, 100, 9, 2000000, 400000);
    struct showing source = source_of(run, NULL);
    source.at.kept = slow;
    source.at.kept_name = "laptop.json";
    const struct plot *plot = plot_of(&source, 2, PAIR);
    check_lab(&lab_a);
    assert_int_equal(end_of(&lab_a.lanes[1]), VIEW_PPM);
    double share = (double)run_end_ns(run) / (double)run_end_ns(slow);
    assert_true(abs(end_of(&lab_a.lanes[0]) - (int)(share * VIEW_PPM)) <= 1);
    assert_reads(lab_a.scale_label, "5.20 ms");
    assert_says(lab_a.lanes[0].label, "this run \xC2\xB7 100 + 9 tokens \xC2\xB7 CPU, 2 threads");
    assert_says(lab_a.lanes[1].label, "laptop.json \xC2\xB7 100 + 9 tokens");
    assert_reads(lab_a.lanes[0].value, "TTFT 730 \xC2\xB5s \xC2\xB7 total 1.37 ms");
    assert_reads(plot->caption, "First token: this run 730 \xC2\xB5s, laptop.json 2.00 ms. "
                                "Token 9: 1.37 ms and 5.20 ms.");
    // Of a disturbed run nothing is concluded.
    slow->info.is_disturbed = slow->info.is_loaded = true;
    assert_says(plot_of(&source, 2, PAIR)->caption, "A run was disturbed.");
    assert_says(lab_a.lanes[1].label, "laptop.json \xC2\xB7 100 + 9 tokens \xC2\xB7 disturbed");
    run->info.is_disturbed = true;
    run->info.e2e = (struct run_range){1000000, 2000000};
    slow->info.is_disturbed = false;
    assert_says(plot_of(&source, 2, PAIR)->caption, "A run was disturbed.");
    assert_says(lab_a.clock_note, "E2E p10\xE2\x80\x93p90: 1.00\xE2\x80\x93"
                                  "2.00 ms \xC2\xB7 disturbed; Shift R measures again");
    run_destroy(run);
    run_destroy(slow);
}

static void long_answers_keep_their_first_and_last_token(void **state) {
    (void)state;
    struct run *run = measured_run(3, 5000);
    struct showing source = source_of(run, NULL);
    source.at.kept = run;
    const struct plot *plot = plot_of(&source, 2, PAIR);
    check_lab(&lab_a);
    for (int i = 0; i < 2; i++) {
        const struct plot_series *series = &plot->series[i];
        assert_in_range(series->count, 100, 125);
        check_near(plot->points[series->first].x, 1, 0);
        check_near(plot->points[series->first + series->count - 1].x, 5000, 0);
    }
    assert_true(lab_a.lanes[0].span_count > 400);
    run_destroy(run);
}

// --- Clock ---

static void the_clocks_note_is_the_runs_own_sum(void **state) {
    static const struct {
        enum run_origin origin;
        int answers;
        bool is_measuring, is_modelled, is_cold, is_open, is_failed, is_recount;
        const char *note;
    } cases[] = {
        {RUN_MEASURED, 7, false, false, false, false, false, false,
         "TTFT 730 \xC2\xB5s + 6 \xC3\x97 80.0 \xC2\xB5s"},
        {RUN_MEASURED, 7, true, false, false, false, false, false,
         "measuring; the run before: TTFT 730 \xC2\xB5s + 6 \xC3\x97 80.0 \xC2\xB5s"},
        {RUN_MEASURED, 1, false, false, true, false, false, false,
         "cold run: TTFT 730 \xC2\xB5s, no step after it"},
        {RUN_MODELLED, 2, false, true, false, false, false, false,
         "modelled from the sweep: TTFT 730 \xC2\xB5s + 1 \xC3\x97 80.0 \xC2\xB5s"},
        {RUN_MODELLED, 2, false, false, false, false, false, false,
         "modelled from a measured run: TTFT 730 \xC2\xB5s + 1 \xC3\x97 80.0 \xC2\xB5s"},
        {RUN_MODELLED, 2, false, true, false, false, false, true,
         "modelled from a measured run: TTFT 730 \xC2\xB5s + 1 \xC3\x97 80.0 \xC2\xB5s"},
        {RUN_MEASURED, 7, false, false, false, true, false, false, "measuring"},
        {RUN_MEASURED, 7, false, false, false, false, true, false, "the measurement ended early"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run *run = run_of(cases[i].origin, 18, cases[i].answers, 730000, 80000);
        struct showing source = source_of(run, NULL);
        source.at.is_measuring = cases[i].is_measuring;
        source.at.has_engine = !cases[i].is_modelled;
        run->info.counting = cases[i].is_recount ? RUN_CHARGED : RUN_ENGINE;
        run->info.cold = cases[i].is_cold;
        run->state = cases[i].is_open ? RUN_OPEN : cases[i].is_failed ? RUN_FAILED : RUN_COMPLETE;
        lab_fill(&lab_a, &source.at, &source.stage);
        assert_reads(lab_a.clock_note, cases[i].note);
        run_destroy(run);
    }
    struct showing source = source_of(NULL, NULL);
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_reads(lab_a.clock_note, "no run yet");
    assert_int_equal(lab_a.lane_count, 0);
    assert_reads(lab_a.scale_label, "");
    source.at.is_measuring = true;
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_reads(lab_a.clock_note, "measuring");
}

static void a_lesson_has_its_lanes_and_no_measured_points(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    struct run *lesson = run_of(RUN_LESSON, 18, 7, 97000000, 25000000);
    struct showing source = source_of(lesson, &sweep);
    source.at.roofline = &some_roofline;
    source.at.uncached = lesson;
    for (int page = 0; page < LAB_PAGES; page++) {
        source.stage.page = page;
        lab_fill(&lab_a, &source.at, &source.stage);
        check_lab(&lab_a);
        assert_reads(lab_a.clock_note, "lesson units: TTFT 97 units + 6 \xC3\x97 25 units");
        assert_int_equal(lab_a.lane_count, 1);
        assert_says(lab_a.lanes[0].label, "lesson units");
        assert_int_equal(lab_a.lanes[0].span_count, 7);
        for (int i = 0; i < LAB_PLOTS; i++) {
            // A run of a rule that is not known: test_lab_rule has those with one.
            assert_true(lab_a.plots[i].message[0]);
            assert_int_equal(lab_a.plots[i].point_count, 0);
        }
    }
    run_destroy(lesson);
}

static const struct random_run_limits small = {
    .max_layers = 12, .max_prompt = 200, .max_answers = 900, .may_fail = true};

// Sums over a whole lane: as long as the run's passes, each end off by 1 ppm at most.
static void a_lanes_spans_add_up_to_the_run(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct run *run = random_run(seed, &small), *kept = random_run(seed + 5000, &small);
        run->info.origin = kept->info.origin = RUN_MEASURED;
        struct showing source = source_of(run, NULL);
        source.at.kept = kept;
        source.at.t_ns = INT64_MAX;
        lab_fill(&lab_a, &source.at, &source.stage);
        check_lab(&lab_a);
        int64_t scale_ns = run_end_ns(run) > run_end_ns(kept) ? run_end_ns(run) : run_end_ns(kept);
        const struct run *runs[] = {run, kept};
        for (int lane = 0; lane < lab_a.lane_count && scale_ns > 0; lane++) {
            const struct lab_lane *at = &lab_a.lanes[lane];
            const struct run *of = runs[lane];
            double whole = (double)run_end_ns(of), idle = 0, shown = 0;
            bool is_merged = run_passes_seen(of) > LAB_MAX_SPANS - 4;
            for (int p = 0; p < run_passes_seen(of); p++)
                idle += (double)(of->passes[p].start_ns - (p ? run_pass_end_ns(of, p - 1) : 0));
            for (int i = 0; i < at->span_count; i++)
                shown += at->spans[i].to_ppm - at->spans[i].from_ppm;
            double most = whole / (double)scale_ns * VIEW_PPM;
            double least = (whole - idle) / (double)scale_ns * VIEW_PPM;
            assert_true(shown <= most + at->span_count + 1);
            assert_true(shown >= least - at->span_count - 1);
            if (!is_merged)
                assert_true(fabs(shown - least) <= at->span_count + 1);
        }
        run_destroy(run);
        run_destroy(kept);
    }
}

// What a reader of a growing run sees at a moment does not depend on how much more of
// the run there is by then.
static void a_growing_run_never_shows_its_end(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct run *run = random_run(seed, &small), *kept = random_run(seed + 5000, &small);
        uint64_t random = seed * 77;
        run->info.origin = (enum run_origin)random_between(&random, RUN_MEASURED, RUN_LESSON);
        run->state = RUN_OPEN;
        struct showing source = source_of(run, seed % 3 ? &sweep : NULL);
        source.at.kept = seed % 2 ? kept : NULL;
        source.at.uncached = seed % 5 ? NULL : kept;
        source.at.is_measuring = true;
        source.stage.prompt_tokens = run->info.prompt_tokens;
        source.stage.answer_tokens = seed % 4 ? run->info.answer_limit : 0;
        for (int i = 0; i < 12; i++) {
            source.at.t_ns = random_between(&random, 0, run_end_ns(run));
            source.stage.page = i % LAB_PAGES;
            source.at.run = run;
            lab_fill(&lab_a, &source.at, &source.stage);
            check_lab(&lab_a);
            int marks = run_marks_at(run, source.at.t_ns);
            int least =
                source.at.t_ns > (marks ? run->mark_end_ns[marks - 1] : 0) ? marks + 1 : marks;
            for (int count = least; count <= run->mark_count;
                 count += 1 + (run->mark_count - count) / 3) {
                struct run prefix;
                run_prefix(&prefix, run, count);
                source.at.run = &prefix;
                lab_fill(&lab_b, &source.at, &source.stage);
                assert_true(alike_labs(&lab_a, &lab_b));
            }
        }
        run_destroy(run);
        run_destroy(kept);
    }
}

static void a_growing_run_takes_the_scale_it_can_know(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    struct run *run = measured_run(100, 9), *kept = run_of(RUN_MEASURED, 5, 2, 90000000, 10000000);
    run->state = RUN_OPEN;
    struct showing source = source_of(run, NULL);
    source.stage.prompt_tokens = 100;
    source.stage.answer_tokens = 9;
    source.at.t_ns = 700000;
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_reads(lab_a.scale_label, "1.00 ms"); // the next of 1, 2, 5, ...
    source.at.t_ns = INT64_MAX;                 // all there is yet: 1.37 ms
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_reads(lab_a.scale_label, "2.00 ms");
    source.at.sweep = &sweep; // prefill 1 ms, eight steps of 0.81 ms
    lab_fill(&lab_a, &source.at, &source.stage);
    double expected =
        (double)sweep_prefill_ns(&sweep, 100) + 8 * (double)sweep_step_ns(&sweep, 104);
    check_near(lab_a.playhead_ppm, 1370000 / expected * 1e6, 2);
    source.at.kept = kept;
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_reads(lab_a.scale_label, "100 ms");
    assert_says(lab_a.lanes[0].value, "total \xE2\x80\x94");
    source.at.t_ns = 100;
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_says(lab_a.lanes[0].value, "TTFT \xE2\x80\x94");
    run_destroy(run);
    run_destroy(kept);
}

static void the_run_compared_with_plays_along(void **state) {
    (void)state;
    struct run *run = measured_run(100, 9), *slow = run_of(RUN_MEASURED, 100, 9, 2000000, 400000);
    struct showing source = source_of(run, NULL);
    source.at.kept = slow;
    source.at.t_ns = 800000; // this run is at its second token, the other one in prefill
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_int_equal(lab_a.lanes[0].span_count, 2);
    assert_int_equal(lab_a.lanes[1].span_count, 1);
    assert_int_equal(lab_a.lanes[1].spans[0].to_ppm, lab_a.playhead_ppm);
    source.at.t_ns = run_end_ns(run);
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_int_equal(lab_a.lanes[1].span_count, 9);
    run_destroy(run);
    run_destroy(slow);
}

// --- Sliders ---

static void the_sliders_stand_where_the_hand_is(void **state) {
    (void)state;
    struct sweep sweep = good_sweep();
    struct run *run = measured_run(18, 7);
    struct showing source = source_of(run, &sweep);
    source.stage.focus = 1;
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_reads(lab_a.controls[0].value, "18 tokens");
    assert_reads(lab_a.controls[1].value, "7 tokens");
    assert_int_equal(lab_a.controls[0].mark_ppm, -1);
    assert_false(lab_a.controls[0].is_focused);
    assert_true(lab_a.controls[1].is_focused);
    source.stage.prompt_tokens = 1024;
    source.stage.answer_tokens = 1;
    source.at.is_measuring = true;
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_reads(lab_a.controls[0].value, "1,024 tokens");
    assert_reads(lab_a.controls[1].value, "1 token");
    assert_int_equal(lab_a.controls[0].ppm, length_ppm(1024, LONGEST));
    assert_int_equal(lab_a.controls[0].mark_ppm, length_ppm(18, LONGEST));
    assert_reads(lab_a.controls[0].mark_label, "measured: 18");
    assert_int_equal(lab_a.controls[1].mark_ppm, length_ppm(7, LONGEST));
    assert_false(lab_a.controls[0].is_off || lab_a.controls[1].is_off);
    source.at.has_engine = false; // but a file's sweep
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_false(lab_a.controls[0].is_off || lab_a.controls[1].is_off);
    assert_says(plot_of(&source, 0, KNEE)->origin, "from a file");
    source.at.can_move = false; // neither device nor sweep
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_true(lab_a.controls[0].is_off && lab_a.controls[1].is_off);
    run->info.origin = RUN_LESSON; // its rule holds for any lengths
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_false(lab_a.controls[0].is_off || lab_a.controls[1].is_off);
    source.at.longest_answer = 1;
    lab_fill(&lab_a, &source.at, &source.stage);
    assert_false(lab_a.controls[0].is_off);
    assert_true(lab_a.controls[1].is_off);
    run_destroy(run);
}

static void a_page_outside_of_the_book_is_its_nearest(void **state) {
    static const struct { int asked, shown; } cases[] = {{-5, 0}, {0, 0}, {2, 2}, {3, 2}, {99, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct showing source = source_of(NULL, NULL);
        source.stage.page = cases[i].asked;
        lab_fill(&lab_a, &source.at, &source.stage);
        assert_int_equal(lab_a.page, cases[i].shown);
        assert_int_equal(lab_a.pages, LAB_PAGES);
    }
}

// --- All of it at once ---

// Every combination of what may be there and what may not.
static void what_is_missing_is_said_and_nothing_is_made_up(void **state) {
    enum {
        HAS_RUN = 1,
        HAS_KEPT = 2,
        HAS_UNCACHED = 4,
        HAS_SWEEP = 8,
        HAS_ROOFLINE = 16,
        IS_MEASURING = 32,
        IS_SWEEPING = 64,
        IS_MODELLED = 128,
        HAS_TROUBLE = 256,
        HAS_HAND = 512,
        IS_EMPTY = 1024,
        ALL = 2048
    };
    (void)state;
    struct sweep sweep = good_sweep(), empty = {0};
    struct run *run = measured_run(100, 9);
    for (int bits = 0; bits < ALL; bits++) {
        struct showing source = {
            .at.run = bits & HAS_RUN ? run : NULL,
            .at.kept = bits & HAS_KEPT ? run : NULL,
            .at.uncached = bits & HAS_UNCACHED ? run : NULL,
            .at.sweep = bits & IS_EMPTY    ? &empty
                        : bits & HAS_SWEEP ? &sweep
                                           : NULL,
            .at.roofline = bits & HAS_ROOFLINE ? &some_roofline : NULL,
            .at.is_measuring = bits & IS_MEASURING,
            .at.is_sweeping = bits & IS_SWEEPING,
            .at.has_engine = !(bits & IS_MODELLED),
            .at.trouble = bits & HAS_TROUBLE ? "the device was lost" : NULL,
            .stage.prompt_tokens = bits & HAS_HAND ? 64 : 0,
            .stage.answer_tokens = bits & HAS_HAND ? 8 : 0,
            .at.longest_prompt = bits & HAS_HAND ? LONGEST : 0,
            .at.longest_answer = bits & HAS_HAND ? LONGEST : 0,
        };
        bool has_sweep = source.at.sweep == &sweep, has_run = source.at.run;
        bool needs[LAB_PAGES][LAB_PLOTS] = {
            {has_sweep, source.at.roofline != NULL},
            {has_sweep, has_sweep},
            {has_run && source.at.uncached, has_run && source.at.kept}};
        for (source.stage.page = 0; source.stage.page < LAB_PAGES; source.stage.page++) {
            lab_fill(&lab_a, &source.at, &source.stage);
            check_lab(&lab_a);
            for (int i = 0; i < LAB_PLOTS; i++) {
                const char *message = lab_a.plots[i].message;
                assert_int_equal(message[0] == '\0', needs[source.stage.page][i]);
                assert_null(strpbrk(message, "0123456789"));
            }
            if (source.stage.page < 2 && !has_sweep && source.stage.page + 1 > 1) {
                const char *expected = bits & IS_SWEEPING   ? "measuring the first point"
                                       : bits & HAS_TROUBLE ? "the device was lost"
                                                            : "no lengths have been measured yet";
                assert_reads(lab_a.plots[STEP].message, expected);
            }
            assert_int_equal(lab_a.lane_count, has_run + (source.at.kept != NULL));
            if (!has_run)
                assert_null(strpbrk(lab_a.clock_note, "0123456789"));
        }
    }
    run_destroy(run);
}

// Anything that sweep_validate lets through.
static struct sweep random_sweep(uint64_t *random) {
    struct sweep sweep = {0};
    for (int part = 0; part < 2; part++) {
        struct sweep_point *points = part ? sweep.step : sweep.prefill;
        int count = (int)random_between(random, 0, SWEEP_MAX_POINTS), tokens = 0;
        int64_t most_ns = (int64_t)1 << random_between(random, 0, 45);
        int wide = (int)random_between(random, 1, RUN_MAX_TOKENS / SWEEP_MAX_POINTS);
        for (int i = 0; i < count; i++) {
            tokens += (int)random_between(random, 1, wide);
            int64_t median_ns = random_between(random, 0, most_ns);
            points[i] = (struct sweep_point){
                .tokens = tokens,
                .median_ns = median_ns,
                .p10_ns = random_between(random, 0, median_ns),
                .p90_ns = random_between(random, median_ns, most_ns + median_ns),
                .count = (int)random_between(random, 1, 30),
            };
        }
        *(part ? &sweep.step_count : &sweep.prefill_count) = count;
    }
    struct why why;
    if (!sweep_validate(&sweep, &why))
        fail_msg("%s", why.text);
    return sweep;
}

static struct roofline_phase random_phase(uint64_t *random) {
    return (struct roofline_phase){
        .bytes = (double)random_between(random, 0, (int64_t)1 << 50),
        .flop = (double)random_between(random, 0, (int64_t)1 << 52),
        .bound_ns = random_between(random, 0, (int64_t)1 << random_between(random, 0, 50)),
        .share = (double)random_between(random, -1, 1500) / 1000,
        .is_read = random_between(random, 0, 1),
    };
}

static void any_source_gives_a_whole_lab_and_the_same_one_twice(void **state) {
    static const char *const names[] = {
        NULL, "", "kept",
        "\xC3\xA4\xC3\xB6\xC3\xBC-a-long-name-that-goes-on-and-on-and-on-and-on.json",
        "bad\xFF\x01 name\xC3"};
    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        uint64_t random = seed * 31;
        struct sweep sweep = random_sweep(&random);
        struct roofline roofline = {
            .is_measured = true,
            .rates = {.read_bytes_s = (double)random_between(&random, 0, 1 << 30) * 4000,
                      .matrix_flop_s = (double)random_between(&random, 0, 1 << 30) * 1e6},
            .prefill = random_phase(&random),
            .decode = random_phase(&random)};
        struct run *run = random_run(seed, &small), *kept = random_run(seed + 9000, &small);
        struct showing source = {
            .at.run = random_between(&random, 0, 9) ? run : NULL,
            .at.t_ns = random_between(&random, -1000, 2 * run_end_ns(run)),
            .at.kept = random_between(&random, 0, 2) ? kept : NULL,
            .at.kept_name = names[random_between(&random, 0, 4)],
            .at.uncached = random_between(&random, 0, 1) ? run : kept,
            .at.sweep = &sweep,
            .at.roofline = &roofline,
            .at.is_measuring = random_between(&random, 0, 1),
            .at.is_sweeping = random_between(&random, 0, 1),
            .at.has_engine = random_between(&random, 0, 1),
            .at.can_move = random_between(&random, 0, 1),
            .at.trouble = "no\xFFt \xC3\xA4 good reason",
            .stage.prompt_tokens =
                (int)random_between(&random, -1, 1 << random_between(&random, 0, 17)),
            .stage.answer_tokens =
                (int)random_between(&random, -1, 1 << random_between(&random, 0, 17)),
            .at.longest_prompt =
                (int)random_between(&random, -1, 1 << random_between(&random, 0, 17)),
            .at.longest_answer =
                (int)random_between(&random, -1, 1 << random_between(&random, 0, 17)),
            .stage.page = (int)random_between(&random, -2, 4),
            .stage.focus = (int)random_between(&random, -2, 3),
        };
        if (source.at.run && random_between(&random, 0, 2) == 0)
            run->state = RUN_OPEN;
        memset(&lab_a, 0x5A, sizeof lab_a);
        memset(&lab_b, 0xC3, sizeof lab_b);
        lab_fill(&lab_a, &source.at, &source.stage);
        lab_fill(&lab_b, &source.at, &source.stage);
        assert_true(alike_labs(&lab_a, &lab_b));
        check_lab(&lab_a);
        run_destroy(run);
        run_destroy(kept);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_knee_plots_caption_follows_the_region),
        cmocka_unit_test(a_line_that_begins_high_says_what_a_pass_takes_anyway),
        cmocka_unit_test(weights_are_the_reason_only_where_the_roofs_show_it),
        cmocka_unit_test(while_points_come_only_their_number_is_told),
        cmocka_unit_test(nothing_is_concluded_from_a_disturbed_sweep),
        cmocka_unit_test(few_points_are_called_few),
        cmocka_unit_test(the_lessons_lines_hold_the_dots_from_below),
        cmocka_unit_test(the_ring_is_measured_only_by_a_run_of_that_length),
        cmocka_unit_test(the_fits_lines_lie_on_the_fit),
        cmocka_unit_test(a_dot_lies_at_its_share_of_the_roof),
        cmocka_unit_test(far_below_the_roofs_no_cause_is_named),
        cmocka_unit_test(roofs_that_were_not_measured_are_not_drawn),
        cmocka_unit_test(the_step_plot_says_what_the_context_adds),
        cmocka_unit_test(the_step_plots_ring_is_the_answer_shown),
        cmocka_unit_test(the_maps_cells_are_the_sweeps_shares),
        cmocka_unit_test(the_map_names_the_share_at_the_setting_and_its_origin),
        cmocka_unit_test(pins_stand_only_within_what_was_measured),
        cmocka_unit_test(with_and_without_a_cache_show_each_tokens_time),
        cmocka_unit_test(a_cache_that_saves_nothing_is_said_to),
        cmocka_unit_test(runs_that_cannot_be_compared_are_not),
        cmocka_unit_test(two_runs_stand_on_one_scale),
        cmocka_unit_test(long_answers_keep_their_first_and_last_token),
        cmocka_unit_test(the_clocks_note_is_the_runs_own_sum),
        cmocka_unit_test(a_lesson_has_its_lanes_and_no_measured_points),
        cmocka_unit_test(a_lanes_spans_add_up_to_the_run),
        cmocka_unit_test(a_growing_run_never_shows_its_end),
        cmocka_unit_test(a_growing_run_takes_the_scale_it_can_know),
        cmocka_unit_test(the_run_compared_with_plays_along),
        cmocka_unit_test(the_sliders_stand_where_the_hand_is),
        cmocka_unit_test(a_page_outside_of_the_book_is_its_nearest),
        cmocka_unit_test(what_is_missing_is_said_and_nothing_is_made_up),
        cmocka_unit_test(any_source_gives_a_whole_lab_and_the_same_one_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
