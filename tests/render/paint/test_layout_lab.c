// Lab mode's rectangles over every size, text step and shape of run: inside the middle
// that the stage leaves, apart from each other, parts within their panel, and the
// plots the greater part of it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/paint/layout_lab.h"
#include "tests/render/render_fixture.h"

#include <stdio.h>

static const int SIZES[][2] = {
    {640, 480},   {800, 600},   {1024, 768},  {1280, 720},  {1280, 800},
    {1920, 1080}, {1920, 1200}, {3840, 2160}, {2560, 720},  {1080, 1920},
    {3840, 480},  {1000, 1000}, {640, 1136},  {2160, 3840}, {801, 613},
};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

static struct layout stage;
static struct lab_layout lab;
static char where[96];

static void lay_out(const int size[2], int step, int readouts, int lanes) {
    struct layout_input in = {.width_px = size[0],
                              .height_px = size[1],
                              .text_step = step,
                              .layers = 8,
                              .prompt_tokens = 18,
                              .columns = 24,
                              .answer_limit = 7,
                              .readouts = readouts};
    assert_true(layout_make(&stage, &in));
    layout_lab_make(&lab, &stage, lanes);
    snprintf(where, sizeof where, "%dx%d step %d, %d read-outs, %d lanes", size[0], size[1], step,
             readouts, lanes);
}

static bool is_apart(struct rect a, struct rect b) {
    return a.w == 0 || b.w == 0 || a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y ||
           b.y + b.h <= a.y;
}

static void check_apart(const struct rect *rects, int count, struct rect in) {
    for (int i = 0; i < count; i++) {
        if (rects[i].w > 0 && !is_inside(rects[i], in))
            fail_msg("%s: rectangle %d reaches out", where, i);
        assert_true(rects[i].w >= 0 && rects[i].h >= 0);
        for (int k = 0; k < i; k++)
            if (!is_apart(rects[i], rects[k]))
                fail_msg("%s: rectangles %d and %d overlap", where, k, i);
    }
}

static void check_all(void) {
    struct rect target = {0, 0, stage.input.width_px, stage.input.height_px};
    assert_true(is_inside(lab.middle, target));
    const struct rect outer[] = {lab.clock, lab.plots[0], lab.plots[1], lab.pages};
    check_apart(outer, 4, lab.middle);
    struct rect inner[8] = {lab.notes, lab.controls[0], lab.controls[1]};
    int count = 3;
    for (int i = 0; i < lab.lanes; i++) {
        struct rect bar = lab.lane_bars[i]; // with its playhead
        assert_true(bar.w > 0 && bar.h > 0);
        bar.y -= lab.overhang_px;
        bar.h += 2 * lab.overhang_px;
        inner[count++] = bar;
        inner[count++] = lab.lane_labels[i];
    }
    check_apart(inner, count, lab.clock);
    const struct rect others[] = {stage.title,    stage.origin,   stage.rate,     stage.pills[0],
                                  stage.pills[1], stage.pills[2], stage.pills[3], stage.footer};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (!is_apart(others[i], lab.middle))
            fail_msg("%s: %zu of the stage lies in the middle", where, i);
    for (int i = 0; i < stage.readout_count; i++)
        assert_true(is_apart(stage.readouts[i], lab.middle));
}

static void rectangles_are_inside_and_apart_at_every_size_and_step(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++)
        for (int step = -4; step <= 8; step++)
            for (int readouts = 0; readouts <= LAYOUT_MAX_READOUTS; readouts += 4)
                for (int lanes = 0; lanes <= 3; lanes++) {
                    lay_out(SIZES[i], step, readouts, lanes);
                    check_all();
                    assert_in_range(lab.lanes, 1, LAB_MAX_LANES);
                }
}

static void the_plots_have_half_of_the_middle_or_more(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT * 9; i++)
        for (int lanes = 1; lanes <= 2; lanes++) {
            lay_out(SIZES[i / 9], i % 9 - 4, 5, lanes);
            int bottom = lab.plots[1].y + lab.plots[1].h;
            if (2 * (bottom - lab.plots[0].y) < lab.middle.h)
                fail_msg("%s: %d of %d px", where, bottom - lab.plots[0].y, lab.middle.h);
        }
}

static void no_text_is_below_the_floor_and_rows_hold_it(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++)
        for (int step = -4; step <= 8; step++) {
            lay_out(SIZES[i], step, 5, 2);
            assert_true(lab.text_px >= stage.floor_px);
            for (int lane = 0; lane < 2; lane++)
                assert_true(lab.lane_labels[lane].h == 0 ||
                            lab.lane_labels[lane].h >= lab.text_px * 5 / 4);
            assert_true(lab.controls[0].h >= lab.text_px * 5 / 4);
            assert_true(lab.pages.h >= stage.floor_px * 5 / 4);
        }
}

static void plots_stand_side_by_side_or_in_tall_windows_one_above_the_other(void **state) {
    (void)state;
    lay_out((const int[]){1920, 1080}, 0, 5, 1);
    assert_false(lab.are_plots_stacked);
    assert_int_equal(lab.plots[0].y, lab.plots[1].y);
    assert_int_equal(lab.plots[0].w, lab.plots[1].w);
    assert_int_equal(lab.plots[0].x, lab.clock.x);
    assert_int_equal(lab.plots[1].x + lab.plots[1].w, lab.clock.x + lab.clock.w);
    lay_out((const int[]){1080, 1920}, 0, 5, 1);
    assert_true(lab.are_plots_stacked);
    assert_int_equal(lab.plots[0].x, lab.plots[1].x);
    assert_int_equal(lab.plots[0].h, lab.plots[1].h);
}

static void lanes_share_one_scale(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(SIZES[i], 0, 5, 2);
        assert_int_equal(lab.lane_bars[0].x, lab.lane_bars[1].x);
        assert_int_equal(lab.lane_bars[0].w, lab.lane_bars[1].w);
        assert_int_equal(lab.lane_bars[0].h, lab.lane_bars[1].h);
    }
}

static void the_usual_sizes_leave_nothing_out(void **state) {
    (void)state;
    static const int usual[][2] = {{1024, 768}, {1280, 720}, {1920, 1080}, {3840, 2160}};
    for (int i = 0; i < 4; i++)
        for (int lanes = 1; lanes <= 2; lanes++) {
            lay_out(usual[i], 0, 5, lanes);
            if (lab.notes.w == 0 || lab.lane_labels[0].w == 0)
                fail_msg("%s: no notes or labels", where);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rectangles_are_inside_and_apart_at_every_size_and_step),
        cmocka_unit_test(the_plots_have_half_of_the_middle_or_more),
        cmocka_unit_test(no_text_is_below_the_floor_and_rows_hold_it),
        cmocka_unit_test(plots_stand_side_by_side_or_in_tall_windows_one_above_the_other),
        cmocka_unit_test(lanes_share_one_scale),
        cmocka_unit_test(the_usual_sizes_leave_nothing_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
