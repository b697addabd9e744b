// Plots as data: what is added and counted, scales there and back, round ticks and their
// texts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/data/plot.h"
#include "tests/render/render_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct plot plot;

static double random_share(void) {
    return random_between(0, 1000000) / 1e6;
}

// --- filling ---

static void points_belong_to_the_series_added_last(void **state) {
    (void)state;
    plot_clear(&plot);
    plot_add_point(&plot, (struct plot_point){1, 2, 2, 2}); // no series yet
    assert_int_equal(plot.dropped, 1);
    for (int s = 0; s < 3; s++) {
        plot_add_series(&plot, &(struct plot_series){.look = PLOT_LINE, .first = 99, .count = 99});
        for (int i = 0; i <= s; i++)
            plot_add_point(&plot, (struct plot_point){s, i, i, i});
    }
    static const int firsts[] = {0, 1, 3};
    for (int s = 0; s < 3; s++) {
        assert_int_equal(plot.series[s].first, firsts[s]);
        assert_int_equal(plot.series[s].count, s + 1);
    }
    assert_int_equal(plot.point_count, 6);
}

static void what_finds_no_room_or_is_no_number_is_counted(void **state) {
    (void)state;
    plot_clear(&plot);
    for (int i = 0; i < PLOT_MAX_SERIES + 2; i++)
        plot_add_series(&plot, &(struct plot_series){0});
    assert_int_equal(plot.dropped, 2);
    for (int i = 0; i < PLOT_MAX_POINTS + 3; i++)
        plot_add_point(&plot, (struct plot_point){i, i, i, i});
    assert_int_equal(plot.dropped, 5);
    for (int i = 0; i < PLOT_MAX_PINS + 1; i++)
        plot_add_pin(&plot, &(struct plot_pin){.x = i});
    assert_int_equal(plot.dropped, 6);
    plot_clear(&plot);
    plot_add_series(&plot, &(struct plot_series){0});
    plot_add_point(&plot, (struct plot_point){NAN, 1, 1, 1});
    plot_add_point(&plot, (struct plot_point){1, INFINITY, 1, 1});
    plot_add_point(&plot, (struct plot_point){1, 1, -INFINITY, 1});
    plot_add_point(&plot, (struct plot_point){1, 1, 1, NAN});
    plot_add_pin(&plot, &(struct plot_pin){.y = NAN});
    assert_int_equal(plot.dropped, 5);
    assert_int_equal(plot.point_count + plot.pin_count, 0);
}

// --- scales ---

static struct plot_axis random_axis(void) {
    struct plot_axis axis = {.is_log = random_between(0, 1)};
    double size = pow(10, random_between(-6, 14));
    axis.from = axis.is_log ? size * (random_share() + 1e-3) : size * (random_share() - 0.5);
    axis.to = axis.is_log ? axis.from * pow(10, 0.05 + 7 * random_share())
                          : axis.from + size * (random_share() + 1e-3);
    return axis;
}

static void scales_lead_there_and_back(void **state) {
    (void)state;
    for (int round = 0; round < 5000; round++) {
        struct plot_axis axis = random_axis();
        double share = random_share() * 1.4 - 0.2;
        double back = plot_share(&axis, plot_value(&axis, share));
        if (fabs(back - share) > 1e-6)
            fail_msg("%g .. %g log %d: %g became %g", axis.from, axis.to, axis.is_log, share, back);
        assert_true(fabs(plot_share(&axis, axis.from)) < 1e-9);
        assert_true(fabs(plot_share(&axis, axis.to) - 1) < 1e-9);
    }
    struct plot_axis decades = {.from = 1, .to = 1000, .is_log = true};
    assert_true(fabs(plot_share(&decades, 10) - 1 / 3.0) < 1e-12);
    assert_true(plot_share(&decades, 0) < -1000);
    assert_true(plot_share(&decades, -5) < -1000);
}

static void an_axis_that_spans_nothing_has_no_ticks(void **state) {
    (void)state;
    const struct plot_axis bad[] = {
        {.from = 1, .to = 1},
        {.from = 2, .to = 1},
        {.from = 0, .to = 10, .is_log = true},
        {.from = -3, .to = 10, .is_log = true},
        {.from = NAN, .to = 1},
        {.from = 0, .to = INFINITY},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct plot_ticks ticks = {.count = 3};
        assert_false(plot_ticks_make(&ticks, &bad[i], 0));
        assert_int_equal(ticks.count, 0);
        assert_true(plot_share(&bad[i], 5) == 0);
    }
}

// --- ticks ---

static bool is_1_2_5(double value) {
    if (value == 0)
        return true;
    double mantissa = fabs(value) / pow(10, floor(log10(fabs(value)) + 1e-9));
    for (int i = 0; i < 3; i++)
        if (fabs(mantissa - (const int[]){1, 2, 5}[i]) < 1e-6)
            return true;
    return false;
}

// On a linear axis the distances are 1-2-5, on a logarithmic one the values.
static void check_ticks(const struct plot_axis *axis, const struct plot_ticks *ticks) {
    bool are_values = true, are_steps = true;
    assert_in_range(ticks->count, 2, PLOT_MAX_TICKS);
    double step = ticks->at[1] - ticks->at[0];
    for (int i = 0; i < ticks->count; i++) {
        assert_true(ticks->at[i] >= axis->from && ticks->at[i] <= axis->to);
        are_values = are_values && is_1_2_5(ticks->at[i]);
        if (i == 0)
            continue;
        assert_true(ticks->at[i] > ticks->at[i - 1]);
        are_steps = are_steps && fabs(ticks->at[i] - ticks->at[i - 1] - step) < 1e-6 * step;
    }
    if (!(axis->is_log && are_values) && !(are_steps && is_1_2_5(step)))
        fail_msg("%.9g .. %.9g log %d: %d ticks from %.9g by %.9g", axis->from, axis->to,
                 axis->is_log, ticks->count, ticks->at[0], step);
}

static void ticks_are_round_rising_within_and_at_least_two(void **state) {
    (void)state;
    for (int round = 0; round < 5000; round++) {
        struct plot_axis axis = random_axis();
        struct plot_ticks ticks;
        assert_true(plot_ticks_make(&ticks, &axis, 0));
        check_ticks(&axis, &ticks);
        int before = ticks.count;
        double step = ticks.at[1] - ticks.at[0];
        for (int level = 1; plot_ticks_make(&ticks, &axis, level); level++) {
            check_ticks(&axis, &ticks);
            double now = ticks.at[1] - ticks.at[0];
            assert_true(ticks.count <= before);
            assert_true(axis.is_log ? ticks.count < before || now > step : now > step * 1.5);
            assert_true(level < 12);
            before = ticks.count;
            step = now;
        }
    }
}

static void decades_have_2_and_5_between_and_then_stand_alone(void **state) {
    (void)state;
    const struct plot_axis axis = {.from = 1, .to = 1024, .is_log = true};
    struct plot_ticks ticks;
    assert_true(plot_ticks_make(&ticks, &axis, 0));
    static const double dense[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
    assert_int_equal(ticks.count, 10);
    for (int i = 0; i < 10; i++)
        assert_true(fabs(ticks.at[i] - dense[i]) < 1e-9 * dense[i]);
    assert_true(plot_ticks_make(&ticks, &axis, 1));
    assert_int_equal(ticks.count, 4);
    for (int i = 0; i < 4; i++)
        assert_true(fabs(ticks.at[i] - pow(10, i)) < 1e-9);
}

static void ticks_are_written_in_their_unit(void **state) {
    (void)state;
    static const struct {
        struct plot_axis axis;
        double value;
        const char *text;
    } cases[] = {
        {{"", 0, 2000, false, PLOT_NUMBER}, 1000, "1,000"},
        {{"", 1, 1e7, true, PLOT_NUMBER}, 1e6, "1,000,000"},
        {{"", 1, 1e7, true, PLOT_NUMBER}, 200, "200"},
        {{"", -2000, 0, false, PLOT_NUMBER}, -1500, "-1,500"},
        {{"", 0, 1, false, PLOT_NUMBER}, 0.3, "0.3"},
        {{"", 0.1, 100, true, PLOT_INTENSITY}, 0.5, "0.5"},
        {{"", 0, 1.2e9, false, PLOT_TIME}, 2e8, "0.2 s"},
        {{"", 0, 1.2e9, false, PLOT_TIME}, 0, "0"},
        {{"", 0, 9e6, false, PLOT_TIME}, 5e5, "0.5 ms"},
        {{"", 1e3, 1e10, true, PLOT_TIME}, 5e5, "500 \xC2\xB5s"},
        {{"", 1e3, 1e10, true, PLOT_TIME}, 1e6, "1 ms"},
        {{"", 1e3, 1e10, true, PLOT_TIME}, 2e9, "2 s"},
        {{"", 1e1, 1e10, true, PLOT_TIME}, 50, "50 ns"},
        {{"", 1e9, 1e12, true, PLOT_FLOP_RATE}, 2e10, "20 GFLOP/s"},
        {{"", 1e9, 1e15, true, PLOT_FLOP_RATE}, 5e13, "50 TFLOP/s"},
        {{"", 0, 1e12, false, PLOT_FLOP_RATE}, 2e11, "0.2 TFLOP/s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[32];
        plot_tick_text(out, &cases[i].axis, cases[i].value);
        assert_string_equal(out, cases[i].text);
    }
}

static void no_two_ticks_are_written_alike(void **state) {
    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct plot_axis axis = random_axis();
        axis.unit = (uint8_t)random_between(PLOT_NUMBER, PLOT_INTENSITY);
        if (axis.unit == PLOT_TIME || axis.unit == PLOT_FLOP_RATE)
            if (axis.to < 1)
                continue;
        // Six digits tell neighbours apart while the axis spans enough of its values.
        if (!axis.is_log && (axis.to - axis.from) < 1e-3 * fmax(fabs(axis.to), fabs(axis.from)))
            continue;
        struct plot_ticks ticks;
        char before[32] = "", out[32];
        if (!plot_ticks_make(&ticks, &axis, 0))
            fail_msg("no ticks");
        for (int i = 0; i < ticks.count; i++) {
            plot_tick_text(out, &axis, ticks.at[i]);
            if (strcmp(out, before) == 0)
                fail_msg("%g .. %g: two ticks are \"%s\"", axis.from, axis.to, out);
            memcpy(before, out, sizeof before);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_belong_to_the_series_added_last),
        cmocka_unit_test(what_finds_no_room_or_is_no_number_is_counted),
        cmocka_unit_test(scales_lead_there_and_back),
        cmocka_unit_test(an_axis_that_spans_nothing_has_no_ticks),
        cmocka_unit_test(ticks_are_round_rising_within_and_at_least_two),
        cmocka_unit_test(decades_have_2_and_5_between_and_then_stand_alone),
        cmocka_unit_test(ticks_are_written_in_their_unit),
        cmocka_unit_test(no_two_ticks_are_written_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
