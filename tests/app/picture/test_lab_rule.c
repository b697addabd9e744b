// The plots of Lab under lesson units: each is its schedule's rule worked out, exactly, and
// says that it is; where a rule has nothing to say, a sentence says that.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/picture/lab/lab.h"
#include "compute/base/words.h"
#include "tests/app/lesson/lesson_fixture.h"

#include <math.h>
#include <string.h>

enum { LONGEST_PROMPT = 1024, LONGEST_ANSWER = 512, MS = 1000000 };

static struct lab lab;

static const struct plot *plot_of(const struct run *run, int page, int plot) {
    struct at_hand at = {.run = run,
                         .t_ns = run_end_ns(run),
                         .can_move = true,
                         .longest_prompt = LONGEST_PROMPT,
                         .longest_answer = LONGEST_ANSWER};
    struct stage_state stage = {.focus = -1, .page = page};
    lab_fill(&lab, &at, &stage);
    return &lab.plots[plot];
}

static const struct plot_series *series_of(const struct plot *plot, enum plot_look look) {
    for (int i = 0; i < plot->series_count; i++)
        if (plot->series[i].look == look)
            return &plot->series[i];
    fail_msg("no such series on \"%s\"", plot->title);
    return NULL;
}

static struct plot_point point_of(const struct plot *plot, enum plot_look look, int index) {
    const struct plot_series *series = series_of(plot, look);
    assert_in_range(index, 0, series->count - 1);
    return plot->points[series->first + index];
}

static void expect_point(struct plot_point point, double x, double y) {
    assert_true(fabs(point.x - x) < 1e-9);
    assert_true(fabs(point.y - y) <= y * 1e-12);
}

static void expect_points_within_axes(const struct plot *plot) {
    for (int i = 0; i < plot->series_count; i++) {
        for (int k = 0; k < plot->series[i].count; k++) {
            struct plot_point point = plot->points[plot->series[i].first + k];
            assert_true(point.x >= plot->x.from && point.x <= plot->x.to);
            assert_true(point.y >= plot->y.from && point.y <= plot->y.to);
        }
    }
}

static void every_plot_says_lesson_units_or_why_not(void **state) {
    static const char *const names[] = {"module-7", "stage-0"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct run *run = lesson_run(names[i], RUN_CHARGED, 0, 0);
        for (int page = 0; page < LAB_PAGES; page++) {
            for (int k = 0; k < LAB_PLOTS; k++) {
                const struct plot *plot = plot_of(run, page, k);
                bool has_rule = plot->series_count > 0;
                assert_string_equal(plot->origin, has_rule ? word("origin.lesson") : "");
                assert_int_equal(plot->message[0] != '\0', !has_rule);
                assert_int_equal(plot->caption[0] != '\0', has_rule);
                assert_int_equal(plot->dropped, 0);
                expect_points_within_axes(plot);
            }
        }
        assert_string_equal(plot_of(run, 0, 1)->message, word("lab.rule.no_roof"));
        assert_string_equal(plot_of(run, 2, 0)->message, word("lab.rule.no_cache"));
        run_destroy(run);
    }
}

static void prefill_by_length_is_a_line_through_the_rule_and_the_run(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    const struct plot *plot = plot_of(run, 0, 0);
    expect_point(point_of(plot, PLOT_LINE, 0), 1, 4);
    expect_point(point_of(plot, PLOT_LINE, 1), LONGEST_PROMPT, 4 * LONGEST_PROMPT);
    expect_point(point_of(plot, PLOT_RING, 0), 18, 72);
    assert_non_null(strstr(plot->caption, "4\xC2\xA0units for each prompt token"));
    run_destroy(run);
    run = lesson_run("stage-0", RUN_CHARGED, 300, 0);
    plot = plot_of(run, 0, 0);
    expect_point(point_of(plot, PLOT_LINE, 0), 1, 100.0 * MS);
    expect_point(point_of(plot, PLOT_LINE, 1), LONGEST_PROMPT, 100.0 * MS);
    expect_point(point_of(plot, PLOT_RING, 0), 300, 100.0 * MS);
    assert_non_null(strstr(plot->caption, "100\xC2\xA0ms at any length"));
    run_destroy(run);
}

static void every_step_takes_the_same_at_any_context(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    const struct plot *plot = plot_of(run, 1, 0);
    expect_point(point_of(plot, PLOT_LINE, 0), 1, 25);
    expect_point(point_of(plot, PLOT_LINE, 1), LONGEST_PROMPT + LONGEST_ANSWER, 25);
    expect_point(point_of(plot, PLOT_RING, 0), 20.5, 25);
    run_destroy(run);
}

// In either counting the ring has the share of the run, to the digit.
static void the_map_is_the_rule_for_every_pair_of_lengths(void **state) {
    (void)state;
    for (int counting = RUN_ENGINE; counting <= RUN_CHARGED; counting++) {
        struct run *run = lesson_run("module-7", (enum run_counting)counting, 0, 0);
        const struct plot *plot = plot_of(run, 1, 1);
        expect_point(point_of(plot, PLOT_RING, 0), 18, 7);
        assert_non_null(strstr(plot->caption, counting == RUN_CHARGED ? "71 %" : "68 %"));
        assert_true(plot->columns > 20 && plot->rows > 10);
        // One token by engine counting is prefill alone; the charged step is decode.
        double prefill = 4, step = counting == RUN_CHARGED ? 25 : 0;
        assert_int_equal(plot->cells_ppm[0][0], (int)(step / (prefill + step) * VIEW_PPM + 0.5));
        for (int row = 1; row < plot->rows; row++)
            for (int column = 1; column < plot->columns; column++) {
                assert_true(plot->cells_ppm[row][column] >= plot->cells_ppm[row - 1][column]);
                assert_true(plot->cells_ppm[row][column] <= plot->cells_ppm[row][column - 1]);
            }
        run_destroy(run);
    }
}

static void twice_the_prompt_moves_every_token_or_none(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_ENGINE, 0, 0);
    const struct plot *plot = plot_of(run, 2, 1);
    for (int i = 0; i < 7; i++) {
        expect_point(point_of(plot, PLOT_DOTS, i), i + 1, 72 + 25 * i);
        expect_point(point_of(plot, PLOT_LINE, i), i + 1, 144 + 25 * i);
    }
    assert_non_null(strstr(plot->caption, "72\xC2\xA0units later"));
    run_destroy(run);
    run = lesson_run("stage-0", RUN_CHARGED, 0, 0);
    plot = plot_of(run, 2, 1);
    int last = series_of(plot, PLOT_DOTS)->count - 1;
    expect_point(point_of(plot, PLOT_DOTS, 0), 1, 120.0 * MS);
    expect_point(point_of(plot, PLOT_LINE, 0), 1, 120.0 * MS);
    expect_point(point_of(plot, PLOT_DOTS, last), 200, 4100.0 * MS);
    expect_point(point_of(plot, PLOT_LINE, last), 200, 4100.0 * MS);
    run_destroy(run);
}

// Every answer token of the picture is where the run has it.
static void the_dots_are_the_runs_own_tokens(void **state) {
    (void)state;
    for (int answers = 1; answers <= LONGEST_ANSWER; answers += 73) {
        struct run *run = lesson_run("module-7", RUN_CHARGED, 5, answers);
        const struct plot *plot = plot_of(run, 2, 1);
        const struct plot_series *dots = series_of(plot, PLOT_DOTS);
        for (int i = 0; i < dots->count; i++) {
            struct plot_point point = point_of(plot, PLOT_DOTS, i);
            int64_t ns = run_answer_ns(run, (int)point.x - 1);
            assert_true(fabs(point.y - (double)ns / (double)run->info.unit_ns) < 1e-9);
        }
        assert_int_equal((int)point_of(plot, PLOT_DOTS, dots->count - 1).x, answers);
        run_destroy(run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_plot_says_lesson_units_or_why_not),
        cmocka_unit_test(prefill_by_length_is_a_line_through_the_rule_and_the_run),
        cmocka_unit_test(every_step_takes_the_same_at_any_context),
        cmocka_unit_test(the_map_is_the_rule_for_every_pair_of_lengths),
        cmocka_unit_test(twice_the_prompt_moves_every_token_or_none),
        cmocka_unit_test(the_dots_are_the_runs_own_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
