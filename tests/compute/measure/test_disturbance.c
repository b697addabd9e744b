// Tests of the one rule that calls a measurement disturbed, on made-up signs and made-up
// repeats.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "compute/measure/disturbance.h"

#include <math.h>
#include <string.h>

enum { REPEATS = 10, STEPS = 4 };

static void each_sign_is_enough_and_has_its_border(void **state) {
    (void)state;
    enum { second = 1000000000 };
    static const struct {
        struct disturbance with;
        unsigned signs;
    } rows[] = {
        {{.switches = -1}, 0},
        {{.prefill_ratio = 1.5, .step_ratio = 1.5}, 0},
        {{.prefill_ratio = 1.51, .step_ratio = 1}, DISTURBED_SPREAD},
        {{.prefill_ratio = 1, .step_ratio = 1.51}, DISTURBED_SPREAD},
        {{.stolen_ticks = 2, .stolen_share = 0.5}, 0}, // may be rounding
        {{.stolen_ticks = 3, .stolen_share = 0.06}, DISTURBED_STEAL},
        {{.stolen_ticks = 300, .stolen_share = 0.05}, 0},
        {{.switches = 200}, 0}, // 50 a second of each of 2 threads in 2 seconds
        {{.switches = 201}, DISTURBED_SWITCHES},
        {{.lost_ns = 2 * second / 10}, 0},
        {{.lost_ns = 2 * second / 10 + 1}, DISTURBED_WAITS},
        {{.switches = 900, .prefill_ratio = 9}, DISTURBED_SPREAD | DISTURBED_SWITCHES},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct disturbance d = rows[i].with;
        d.threads = 2;
        d.measured_ns = 2 * second;
        if (disturbance_signs(&d) != rows[i].signs)
            fail_msg("row %zu: signs %u", i, disturbance_signs(&d));
    }
    struct disturbance brief = {.switches = 2, .threads = 2, .measured_ns = second / 1000};
    assert_int_equal(disturbance_signs(&brief), 0); // one or two prove nothing
    brief.switches = 3;
    assert_int_equal(disturbance_signs(&brief), DISTURBED_SWITCHES);
}

// --- Repeats ---

// A prefill of 2 stages and steps of 2, of those lengths in all.
static struct run *run_with(int64_t prefill_ns, const int64_t step_ns[STEPS]) {
    struct run_info info = {.layers = 1, .prompt_tokens = 1, .answer_limit = STEPS + 1};
    struct run *run = NULL;
    struct why why;
    int64_t now_ns = 0;
    assert_true(run_create(&run, &info, 1, &why));
    assert_true(run_add_prompt_token(run, 1, "a", 1, false, &why));
    for (int i = 0; i <= STEPS; i++) {
        struct run_pass pass = {.phase = i == 0 ? RUN_PREFILL : RUN_DECODE,
                                .first_column = i,
                                .column_count = 1,
                                .yields = i,
                                .start_ns = now_ns};
        assert_true(run_begin_pass(run, &pass, &why));
        assert_true(run_add_answer_token(run, 2, "b", 1, false, &why));
        now_ns += i == 0 ? prefill_ns : step_ns[i - 1];
        for (int stage = 0; stage < run_stages(run); stage++)
            assert_true(run_add_mark(run, now_ns, &why));
    }
    run_close(run, RUN_COMPLETE);
    return run;
}

// The ratios of repeats whose n-th has `prefill[n]` and `factor[n]` percent of the steps.
static struct disturbance ratios_of(const int64_t *prefill, const int *factor, int count) {
    struct run *runs[REPEATS];
    struct disturbance out = {.switches = -1};
    for (int i = 0; i < count; i++) {
        int64_t steps[STEPS];
        for (int n = 0; n < STEPS; n++)
            steps[n] = (1000 + 1000 * n) * factor[i] / 100; // later ones take 4 times as long
        runs[i] = run_with(prefill[i], steps);
    }
    assert_true(disturbance_compare(&out, runs, count));
    for (int i = 0; i < count; i++)
        run_destroy(runs[i]);
    return out;
}

static void a_step_is_compared_with_the_same_step_of_other_repeats(void **state) {
    (void)state;
    static const int64_t even[REPEATS] = {500, 500, 500, 500, 500, 500, 500, 500, 500, 500};
    static const int same[REPEATS] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
    static const int uneven[REPEATS] = {100, 100, 100, 100, 100, 100, 100, 100, 200, 200};
    static const int one[REPEATS] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 10000};
    struct disturbance d = ratios_of(even, same, REPEATS);
    assert_true(d.prefill_ratio == 1 && d.step_ratio == 1);
    d = ratios_of(even, uneven, REPEATS);
    assert_true(fabs(d.step_ratio - 2) < 1e-9 && d.prefill_ratio == 1);
    d = ratios_of(even, one, REPEATS); // one bad repeat in ten is beyond p90
    assert_true(d.step_ratio == 1);
    assert_int_equal(disturbance_signs(&d), 0);
}

static void prefills_are_compared_and_two_repeats_have_no_spread(void **state) {
    (void)state;
    static const int64_t prefill[REPEATS] = {500, 500, 500, 500, 500, 500, 500, 500, 800, 800};
    static const int same[REPEATS] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
    struct disturbance d = ratios_of(prefill, same, REPEATS);
    assert_true(fabs(d.prefill_ratio - 1.6) < 1e-9 && d.step_ratio == 1);
    assert_int_equal(disturbance_signs(&d), DISTURBED_SPREAD);
    d = ratios_of(prefill + 7, same, 2); // 500 and 800
    assert_true(d.prefill_ratio == 0 && d.step_ratio == 0);
    assert_int_equal(disturbance_signs(&d), 0);
    d = ratios_of(prefill + 6, same, 3);
    assert_true(fabs(d.prefill_ratio - 1.6) < 1e-9);
}

// --- Ticks ---

static void stolen_time_is_the_eighth_column_of_the_whole_machine(void **state) {
    (void)state;
    struct disturbance_ticks ticks =
        disturbance_parse("cpu  100 20 30 99999 88888 4 5 60 7 8\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
    assert_int_equal(ticks.stolen, 60);
    assert_int_equal(ticks.wanted, 100 + 20 + 30 + 4 + 5 + 60); // neither idle nor waiting
    static const char *const bad[] = {"", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8 9", "cpu a b"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ticks = disturbance_parse(bad[i]);
        assert_int_equal(ticks.stolen + ticks.wanted, 0);
    }
    assert_true(disturbance_ticks_now().wanted > 0); // a machine that runs this has worked
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sign_is_enough_and_has_its_border),
        cmocka_unit_test(a_step_is_compared_with_the_same_step_of_other_repeats),
        cmocka_unit_test(prefills_are_compared_and_two_repeats_have_no_spread),
        cmocka_unit_test(stolen_time_is_the_eighth_column_of_the_whole_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
