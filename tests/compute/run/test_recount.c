// Tests of recount.h: exact figures on a small run, then there and back over random runs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "compute/run/moment.h"
#include "compute/run/recount.h"
#include "tests/compute/run/random_run.h"
#include "tests/compute/run/small_run.h"

static struct why why;

static void a_charged_step_as_long_as_the_first_step_is_put_in(void **state) {
    (void)state;
    struct run *run = small_run();
    struct run *charged = NULL;
    assert_false(run_recount(&charged, run, RUN_CHARGED, &why)); // still open
    assert_null(charged);
    run_close(run, RUN_COMPLETE);
    assert_true(run_recount(&charged, run, RUN_CHARGED, &why));
    assert_true(run_validate(charged, &why));
    assert_int_equal(charged->info.origin, RUN_MODELLED);
    assert_int_equal(charged->info.counting, RUN_CHARGED);
    assert_int_equal(run_prefill_ns(charged), 45);
    assert_int_equal(run_ttft_ns(charged), 85);
    assert_int_equal(run_e2e_ns(charged), 175);
    assert_int_equal(run_events(charged), 5);
    assert_int_equal(run_moment_at(charged, 45).cache_entries, 3);
    assert_int_equal(run_moment_at(charged, 85).cache_entries, 3); // writes no entry
    assert_int_equal(run_moment_at(charged, 175).cache_entries, 5);
    assert_int_equal(charged->passes[1].column_count, 0);
    assert_int_equal(charged->passes[1].first_column, 3);
    assert_int_equal(charged->mark_end_ns[SMALL_STAGES + 1], 65);
    assert_int_equal(charged->passes[2].start_ns, 90); // the gap stays
    run_destroy(charged);
    run_destroy(run);
}

static void without_a_step_one_column_of_prefill_is_charged(void **state) {
    (void)state;
    struct run *run = small_run_new(RUN_ENGINE, 1);
    small_run_add_prompt(run);
    small_run_add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 5}, "a"); // 40 ns, 3 columns
    run_close(run, RUN_COMPLETE);
    struct run *charged = NULL;
    assert_true(run_recount(&charged, run, RUN_CHARGED, &why));
    assert_int_equal(run_ttft_ns(charged), 45 + 13);
    assert_int_equal(run_e2e_ns(charged), 45 + 13);
    assert_int_equal(charged->mark_end_ns[SMALL_STAGES], 45 + 3);     // 10 / 3
    assert_int_equal(charged->mark_end_ns[SMALL_STAGES + 1], 45 + 7); // 20 / 3
    run_destroy(charged);
    run_destroy(run);
}

static void recounting_past_the_time_range_fails_cleanly(void **state) {
    (void)state;
    // When the prefill and the two steps end.
    static const int64_t rows[][3] = {
        {RUN_MAX_NS, 0, 0},                       // no room for one more column
        {40, RUN_MAX_NS, 0},                      // none for the step moved back
        {40, RUN_MAX_NS / 2 + 50, RUN_MAX_NS - 1} // none for where the last one starts
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run *run = small_run_new(RUN_ENGINE, 1), *charged = NULL;
        small_run_add_prompt(run);
        for (int pass = 0; pass < 3 && rows[i][pass] > 0; pass++) {
            struct run_pass next = {RUN_DECODE, 2 + pass, 1, pass, run_end_ns(run)};
            if (pass == 0)
                next = (struct run_pass){RUN_PREFILL, 0, 3, 0, 0};
            if (pass == 2)
                next.start_ns = rows[i][pass];
            assert_true(run_begin_pass(run, &next, &why));
            assert_true(run_add_answer_token(run, 1, "a", 1, false, &why));
            for (int stage = 0; stage < SMALL_STAGES; stage++)
                assert_true(run_add_mark(run, rows[i][pass], &why));
        }
        run_close(run, RUN_COMPLETE);
        assert_true(run_validate(run, &why));
        assert_false(run_recount(&charged, run, RUN_CHARGED, &why));
        assert_null(charged);
        run_destroy(run);
    }
}

static void recounting_there_and_back_gives_the_same_run(void **state) {
    (void)state;
    struct random_run_limits limits = {
        .max_layers = 8, .max_answers = 40, .counting = RANDOM_RUN_ONLY_ENGINE};
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct run *run = random_run(seed, &limits), *charged = NULL, *back = NULL;
        assert_true(run_recount(&charged, run, RUN_CHARGED, &why));
        assert_true(run_validate(charged, &why));
        int64_t step_ns = run_ttft_ns(charged) - run_ttft_ns(run);
        assert_int_equal(run_prefill_ns(charged), run_prefill_ns(run));
        assert_int_equal(run_e2e_ns(charged), run_e2e_ns(run) + step_ns);
        assert_int_equal(run_events(charged), run_events(run) + 1);
        assert_int_equal(run_answers_seen(charged), run_answers_seen(run));
        assert_int_equal(run_moment_at(charged, INT64_MAX).cache_entries,
                         run_moment_at(run, INT64_MAX).cache_entries);
        if (run->info.origin == RUN_LESSON)
            assert_int_equal(charged->info.origin, RUN_LESSON);
        assert_true(run_recount(&back, charged, RUN_ENGINE, &why));
        assert_true(run_validate(back, &why));
        assert_true(has_same_body(run, back));
        run_destroy(back);
        assert_true(run_recount(&back, run, RUN_ENGINE, &why)); // its own counting: a copy
        assert_int_equal(back->info.origin, run->info.origin);
        assert_true(has_same_body(run, back));
        run_destroy(back);
        run_destroy(charged);
        run_destroy(run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_charged_step_as_long_as_the_first_step_is_put_in),
        cmocka_unit_test(without_a_step_one_column_of_prefill_is_charged),
        cmocka_unit_test(recounting_past_the_time_range_fails_cleanly),
        cmocka_unit_test(recounting_there_and_back_gives_the_same_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
