// Guesses: the knob's logarithmic way, what the run answers, verdict and nearness at
// their borders, over the lesson schedules and over random runs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/state/guess.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/compute/run/random_run.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 400, WHOLE = 1000000 };

static void a_new_guess_is_off_with_its_knobs_in_the_middle(void **state) {
    (void)state;
    struct guess guess = guess_new();
    assert_int_equal(guess.stage, GUESS_OFF);
    assert_int_equal(guess.ttft_ppm, WHOLE / 2);
    assert_int_equal(guess.decode_ppm, WHOLE / 2);
    assert_int_equal(guess.split_ppm, WHOLE / 2);
    assert_false(guess.is_split_set);
}

static void the_knobs_way_is_three_decades_below_a_power_of_ten(void **state) {
    (void)state;
    // 247 units of 1 ms each: the way goes from 1 to 1,000 units.
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    static const struct {
        int ppm;
        int64_t units_ns;
    } rows[] = {{-5, 1000000},        {0, 1000000},        {333333, 9999977},
                {666667, 100000230},  {WHOLE, 1000000000}, {WHOLE + 5, 1000000000},
                {WHOLE / 2, 31622777}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct guess guess = {.ttft_ppm = rows[i].ppm};
        assert_int_equal(guess_ttft_ns(&guess, run), rows[i].units_ns);
    }
    run_destroy(run);
}

static void what_the_way_shows_is_the_same_for_every_run_of_that_decade(void **state) {
    (void)state;
    struct guess guess = guess_new();
    struct run *shorter = lesson_run("module-7", RUN_CHARGED, 25, 40); // 1,100 units
    struct run *longer = lesson_run("module-7", RUN_CHARGED, 500, 200);
    assert_true(run_ttft_ns(shorter) * 10 < run_ttft_ns(longer));
    assert_int_equal(guess_ttft_ns(&guess, shorter), guess_ttft_ns(&guess, longer));
    run_destroy(shorter);
    run_destroy(longer);
}

static void a_knob_goes_where_its_time_is_and_back(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct run *run = random_run(seed, NULL);
        uint64_t random = seed;
        struct guess guess = {.ttft_ppm = (int)random_between(&random, 0, WHOLE)};
        int64_t ttft_ns = guess_ttft_ns(&guess, run);
        assert_true(ttft_ns >= 1);
        // Below a microsecond a step of a nanosecond is many steps of the knob.
        if (ttft_ns >= 1000000)
            assert_in_range(guess_ttft_ppm_of(ttft_ns, run) - guess.ttft_ppm + 1, 0, 2);
        struct guess further = {.ttft_ppm = guess.ttft_ppm + 1000};
        assert_true(guess_ttft_ns(&further, run) >= ttft_ns);
        assert_in_range(guess_ttft_ppm_of(run_ttft_ns(run), run), 0, WHOLE);
        run_destroy(run);
    }
}

static void every_first_token_up_to_three_decades_down_has_its_place(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct run *run = random_run(seed, NULL);
        int64_t ttft_ns = run_ttft_ns(run);
        struct guess guess = {.ttft_ppm = guess_ttft_ppm_of(ttft_ns, run)};
        if (ttft_ns > 1000000 && guess.ttft_ppm > 0)
            assert_true(llabs(guess_ttft_ns(&guess, run) - ttft_ns) <= ttft_ns / 100000);
        run_destroy(run);
    }
}

static void a_time_of_nothing_stands_at_the_ways_begin(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_ENGINE, 0, 0);
    assert_int_equal(guess_ttft_ppm_of(0, run), 0);
    assert_int_equal(guess_ttft_ppm_of(-1, run), 0);
    assert_int_equal(guess_ttft_ppm_of(1, run), 0);
    assert_int_equal(guess_ttft_ppm_of(RUN_MAX_NS, run), WHOLE);
    run_destroy(run);
}

static void a_run_that_has_not_begun_gives_a_way_and_no_answer(void **state) {
    (void)state;
    struct run *whole = lesson_run("module-7", RUN_ENGINE, 0, 0);
    struct run open;
    run_prefix(&open, whole, 0);
    struct guess guess = {.ttft_ppm = WHOLE};
    assert_int_equal(guess_ttft_ns(&guess, &open), 1000000000); // 1,000 units
    assert_int_equal(guess_true_decode_ppm(&open), -1);
    assert_int_equal(guess_verdict_of(&open), VERDICT_EVEN);
    open.info.origin = RUN_MEASURED;
    assert_int_equal(guess_ttft_ns(&guess, &open), 1000000000); // 1 s
    run_destroy(whole);
}

static void the_run_says_who_takes_the_time(void **state) {
    (void)state;
    static const struct {
        const char *name;
        enum run_counting counting;
        int prompt, answers;
        int decode_ppm;
        enum guess_verdict verdict;
    } rows[] = {
        {"module-7", RUN_CHARGED, 0, 0, 708502, VERDICT_DECODE},   // 175 of 247
        {"module-7", RUN_ENGINE, 0, 0, 675676, VERDICT_DECODE},    // 150 of 222
        {"stage-0", RUN_CHARGED, 0, 0, 975610, VERDICT_DECODE},    // 4.00 of 4.10 s
        {"stage-0", RUN_ENGINE, 0, 4, 375000, VERDICT_PREFILL},    // 60 of 160 ms
        {"module-7", RUN_CHARGED, 25, 4, 500000, VERDICT_EVEN},    // 100 of 200
        {"module-7", RUN_CHARGED, 25, 6, 600000, VERDICT_EVEN},    // 150 of 250: still even
        {"module-7", RUN_CHARGED, 75, 8, 400000, VERDICT_EVEN},    // 200 of 500: still even
        {"module-7", RUN_CHARGED, 76, 8, 396825, VERDICT_PREFILL}, // 200 of 504
        {"module-7", RUN_CHARGED, 24, 6, 609756, VERDICT_DECODE},  // 150 of 246
        {"module-7", RUN_ENGINE, 18, 1, 0, VERDICT_PREFILL},       // no decode step at all
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct run *run =
            lesson_run(rows[i].name, rows[i].counting, rows[i].prompt, rows[i].answers);
        assert_int_equal(guess_true_decode_ppm(run), rows[i].decode_ppm);
        assert_int_equal(guess_verdict_of(run), rows[i].verdict);
        run_destroy(run);
    }
}

static void a_run_that_grows_or_failed_answers_nothing(void **state) {
    (void)state;
    struct random_run_limits limits = {.may_fail = true, .max_layers = 20};
    int failed = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct run *run = random_run(seed, &limits);
        if (run->state == RUN_FAILED) {
            failed++;
            assert_int_equal(guess_true_decode_ppm(run), -1);
        } else if (run_e2e_ns(run) > 0) {
            assert_in_range(guess_true_decode_ppm(run), 0, WHOLE);
            struct run open = *run;
            open.state = RUN_OPEN;
            assert_int_equal(guess_true_decode_ppm(&open), -1);
        }
        run_destroy(run);
    }
    assert_true(failed > 50);
}

static void nearness_has_its_borders_at_five_and_fifteen_points(void **state) {
    (void)state;
    static const struct {
        int guessed, truth;
        enum guess_nearness nearness;
    } rows[] = {
        {500000, 500000, GUESS_CLOSE}, {550000, 500000, GUESS_CLOSE}, {450000, 500000, GUESS_CLOSE},
        {550001, 500000, GUESS_NEAR},  {350000, 500000, GUESS_NEAR},  {650000, 500000, GUESS_NEAR},
        {349999, 500000, GUESS_FAR},   {0, WHOLE, GUESS_FAR},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(guess_nearness_of(rows[i].guessed, rows[i].truth), rows[i].nearness);
}

static void a_guessed_time_is_judged_by_its_factor(void **state) {
    (void)state;
    assert_int_equal(guess_nearness_of_time(97, 97), GUESS_CLOSE);
    assert_int_equal(guess_nearness_of_time(82, 97), GUESS_CLOSE);
    assert_int_equal(guess_nearness_of_time(140, 97), GUESS_NEAR);
    assert_int_equal(guess_nearness_of_time(48, 97), GUESS_FAR); // half
    assert_int_equal(guess_nearness_of_time(194, 97), GUESS_FAR);
    assert_int_equal(guess_nearness_of_time(0, 97), GUESS_FAR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guessed_time_is_judged_by_its_factor),
        cmocka_unit_test(a_new_guess_is_off_with_its_knobs_in_the_middle),
        cmocka_unit_test(the_knobs_way_is_three_decades_below_a_power_of_ten),
        cmocka_unit_test(what_the_way_shows_is_the_same_for_every_run_of_that_decade),
        cmocka_unit_test(a_knob_goes_where_its_time_is_and_back),
        cmocka_unit_test(every_first_token_up_to_three_decades_down_has_its_place),
        cmocka_unit_test(a_time_of_nothing_stands_at_the_ways_begin),
        cmocka_unit_test(a_run_that_has_not_begun_gives_a_way_and_no_answer),
        cmocka_unit_test(the_run_says_who_takes_the_time),
        cmocka_unit_test(a_run_that_grows_or_failed_answers_nothing),
        cmocka_unit_test(nearness_has_its_borders_at_five_and_fifteen_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
