// Tests of reading a run (run.h). Exact figures on runs small enough to check by hand; then
// laws over random runs: every figure against a recomputation that walks the arrays one by
// one, and every prefix against a run that really ended there.
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

#include <string.h>

static struct why why;

// --- Figures ---

static void an_engine_run_gives_the_definitions_of_the_field(void **state) {
    (void)state;
    struct run *run = small_run();
    run_close(run, RUN_COMPLETE);
    assert_true(run_validate(run, &why));
    assert_int_equal(run->state, RUN_COMPLETE);
    assert_int_equal(run_prefill_ns(run), 45);
    assert_int_equal(run_ttft_ns(run), 45);
    assert_int_equal(run_e2e_ns(run), 135);
    assert_int_equal(run_decode_ns(run), 90);
    assert_int_equal(run_tpot_ns(run), 45);
    assert_int_equal(run_events(run), 4);
    assert_int_equal(run_event_ns(run, 0), 0);
    assert_int_equal(run_event_ns(run, 1), 45);
    assert_int_equal(run_event_ns(run, 3), 135);
    assert_int_equal(run_event_at(run, -1), -1);
    assert_int_equal(run_event_at(run, 44), 0);
    assert_int_equal(run_event_at(run, 45), 1);
    assert_int_equal(run_moment_at(run, 44).cache_entries, 0);
    assert_int_equal(run_moment_at(run, 45).cache_entries, 3);
    assert_int_equal(run_moment_at(run, 135).cache_entries, 5);
    assert_int_equal(run_cache_entry_bytes(run), 2 * SMALL_LAYERS * 2 * 8 * 2);
    assert_int_equal(run_stage_start_ns(run, 0), 5);
    assert_int_equal(run_stage_start_ns(run, 1), 15);
    assert_int_equal(run_stage_start_ns(run, SMALL_STAGES), 50);
    assert_int_equal(run_marks_at(run, 14), 0);
    assert_int_equal(run_marks_at(run, 15), 1);
    assert_int_equal(run_marks_at(run, INT64_MAX), 3 * SMALL_STAGES);
    assert_int_equal(run_marks_at(run, INT64_MIN), 0);
    run_destroy(run);
}

static void a_window_bounds_what_its_layers_keep(void **state) {
    (void)state;
    struct run run = {.info = {.layers = 3,
                               .kv_heads = 2,
                               .head_dim = 8,
                               .kv_value_bytes = 2,
                               .window_layers = 2,
                               .window = 10}};
    int64_t cell = 2 * 2 * 8 * 2;
    assert_int_equal(run_cache_bytes(&run, 10), cell * 3 * 10);
    assert_int_equal(run_cache_bytes(&run, 25), cell * (25 + 2 * 10));
    run.info.window = run.info.window_layers = 0;
    assert_int_equal(run_cache_bytes(&run, 25), cell * 3 * 25);
}

static void what_cannot_be_seen_is_minus_one_and_empty_text(void **state) {
    (void)state;
    struct run *run = small_run_new(RUN_ENGINE, 1);
    size_t bytes = 9;
    assert_string_equal(run_token_text(run, 0, &bytes), "");
    assert_int_equal(bytes, 0);
    small_run_add_prompt(run);
    assert_int_equal(run_prefill_ns(run), -1);
    assert_int_equal(run_ttft_ns(run), -1);
    assert_int_equal(run_e2e_ns(run), -1);
    assert_int_equal(run_decode_ns(run), -1);
    assert_int_equal(run_tpot_ns(run), -1);
    assert_int_equal(run_end_ns(run), 0);
    assert_int_equal(run_events(run), 1);
    small_run_add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 0}, "a");
    assert_int_equal(run_tpot_ns(run), -1); // one token has no TPOT
    assert_int_equal(run_answer_ns(run, -1), -1);
    assert_int_equal(run_answer_ns(run, 1), -1);
    assert_int_equal(run_pass_end_ns(run, -1), -1);
    assert_int_equal(run_pass_end_ns(run, 1), -1);
    assert_int_equal(run_stage_start_ns(run, -1), -1);
    assert_int_equal(run_stage_start_ns(run, SMALL_STAGES), -1);
    assert_int_equal(run_event_ns(run, 2), -1);
    assert_int_equal(run_event_ns(run, -1), -1);
    assert_string_equal(run_token_text(run, 4, &bytes), "");
    assert_string_equal(run_token_text(run, -1, &bytes), "");
    run_destroy(run);
}

static void an_answer_token_appears_with_its_output_mark(void **state) {
    (void)state;
    struct run *run = small_run_new(RUN_ENGINE, 1);
    small_run_add_prompt(run);
    struct run_pass pass = {RUN_PREFILL, 0, 3, 0, 0};
    assert_true(run_begin_pass(run, &pass, &why));
    assert_int_equal(run_passes_seen(run), 0);
    assert_true(run_add_answer_token(run, 7, "a", 1, false, &why));
    size_t bytes = 9;
    for (int stage = 1; stage < SMALL_STAGES; stage++) {
        assert_true(run_add_mark(run, stage, &why));
        assert_int_equal(run_passes_seen(run), 1);
        assert_int_equal(run_answers_seen(run), 0);
        assert_int_equal(run_pass_end_ns(run, 0), stage);
        assert_string_equal(run_token_text(run, 3, &bytes), "");
    }
    assert_true(run_add_mark(run, SMALL_STAGES, &why));
    assert_int_equal(run_answers_seen(run), 1);
    assert_memory_equal(run_token_text(run, 3, &bytes), "a", 1);
    assert_int_equal(bytes, 1);
    run_destroy(run);
}

static void tpot_is_rounded_to_the_nearest_nanosecond(void **state) {
    (void)state;
    struct run *run = small_run_new(RUN_ENGINE, 1);
    small_run_add_prompt(run);
    small_run_add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 0}, "a"); // 40
    small_run_add_pass(run, (struct run_pass){RUN_DECODE, 3, 1, 1, 40}, "b"); // 80
    small_run_add_pass(run, (struct run_pass){RUN_DECODE, 4, 1, 2, 81}, "c"); // 121: 81 / 2
    assert_int_equal(run_tpot_ns(run), 41);
    run_destroy(run);
}

static void stages_match_the_wall_within_five_percent(void **state) {
    (void)state;
    const struct {
        int64_t start_ns, end_ns;
        bool matches;
    } rows[] = {{0, 100, true}, {5, 100, true}, {6, 100, false}, {0, 0, true}, {1, 1, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run *run = small_run_new(RUN_ENGINE, 1);
        assert_true(run_stages_match_wall(run));
        small_run_add_prompt(run);
        struct run_pass pass = {RUN_PREFILL, 0, 3, 0, rows[i].start_ns};
        assert_true(run_begin_pass(run, &pass, &why));
        assert_true(run_add_answer_token(run, 1, "a", 1, false, &why));
        for (int stage = 0; stage < SMALL_STAGES; stage++)
            assert_true(run_add_mark(run, rows[i].end_ns, &why));
        assert_int_equal(run_stages_match_wall(run), rows[i].matches);
        run_destroy(run);
    }
}

// --- Laws over random runs ---

// Everything there is to read at a time, recomputed by walking.
struct figures {
    int marks, passes, answers, answers_at, entries, events, event_at;
    int64_t prefill_ns, ttft_ns, e2e_ns, sum_ns;
};

static struct figures walk(const struct run *run, int64_t t_ns) {
    struct figures f = {.prefill_ns = -1, .ttft_ns = -1, .e2e_ns = -1, .events = 1};
    int mark = 0, columns = 0;
    f.event_at = t_ns >= 0 ? 0 : -1;
    for (int pass = 0; mark < run->mark_count; pass++) {
        const struct run_pass *p = &run->passes[pass];
        int64_t from_ns = p->start_ns;
        f.passes++;
        for (int stage = 0; stage < run->info.layers + 2 && mark < run->mark_count; stage++) {
            int64_t end_ns = run->mark_end_ns[mark];
            assert_int_equal(run_stage_start_ns(run, mark), from_ns);
            f.sum_ns += end_ns - from_ns;
            f.marks += end_ns <= t_ns;
            from_ns = end_ns;
            mark++;
            if (stage < run->info.layers + 1)
                continue;
            columns += p->column_count;
            f.events++;
            f.event_at += end_ns <= t_ns;
            f.entries += end_ns <= t_ns ? p->column_count : 0;
            if (p->phase == RUN_PREFILL && columns == run->info.prompt_tokens)
                f.prefill_ns = end_ns;
            if (p->yields < 0)
                continue;
            assert_int_equal(run_answer_ns(run, f.answers), end_ns);
            f.ttft_ns = f.answers == 0 ? end_ns : f.ttft_ns;
            f.e2e_ns = end_ns;
            f.answers++;
            f.answers_at += end_ns <= t_ns;
        }
        assert_int_equal(run_pass_end_ns(run, pass), run->mark_end_ns[mark - 1]);
    }
    f.entries = run->info.recomputes ? 0 : f.entries;
    return f;
}

static void check_against_walk(const struct run *run, int64_t t_ns) {
    struct figures f = walk(run, t_ns);
    assert_int_equal(run_marks_at(run, t_ns), f.marks);
    assert_int_equal(run_passes_seen(run), f.passes);
    assert_int_equal(run_answers_seen(run), f.answers);
    assert_int_equal(run_answers_at(run, t_ns), f.answers_at);
    assert_int_equal(run_moment_at(run, t_ns).cache_entries, f.entries);
    assert_int_equal(run_events(run), f.events);
    assert_int_equal(run_event_at(run, t_ns), f.event_at);
    assert_int_equal(run_prefill_ns(run), f.prefill_ns);
    assert_int_equal(run_ttft_ns(run), f.ttft_ns);
    assert_int_equal(run_e2e_ns(run), f.e2e_ns);
    assert_int_equal(run_decode_ns(run), f.answers ? f.e2e_ns - f.prefill_ns : -1);
    double tpot = f.answers > 1 ? (double)(f.e2e_ns - f.ttft_ns) / (f.answers - 1) : -1;
    assert_true(tpot < 0 ? run_tpot_ns(run) == -1
                         : (double)run_tpot_ns(run) - tpot <= 0.500001 &&
                               (double)run_tpot_ns(run) - tpot >= -0.500001);
    assert_int_equal(run_stages_match_wall(run),
                     (double)f.sum_ns >= 0.95 * (double)run_end_ns(run));
}

static void every_figure_equals_a_walk_over_the_arrays(void **state) {
    (void)state;
    struct random_run_limits limits = {.max_layers = 12, .max_answers = 60, .may_fail = true};
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        struct run *run = random_run(seed, &limits);
        assert_true(run_validate(run, &why));
        uint64_t random = seed;
        struct run prefix;
        for (int i = 0; i < 4; i++) {
            run_prefix(&prefix, run, (int)random_between(&random, 0, run->mark_count));
            if (!run_validate(&prefix, &why))
                fail_msg("seed %llu: %s", (unsigned long long)seed, why.text);
            check_against_walk(i == 0 ? run : &prefix,
                               random_between(&random, -2, run_end_ns(run) + 2));
        }
        run_destroy(run);
    }
}

static void the_law_holds_on_large_runs_too(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct run *run = random_run(seed, NULL);
        check_against_walk(run, run_end_ns(run) / 2);
        run_destroy(run);
    }
}

static void reading_never_looks_at_the_writers_counts(void **state) {
    (void)state;
    struct random_run_limits limits = {.max_layers = 8, .max_answers = 40};
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct run *run = random_run(seed, &limits);
        uint64_t random = seed;
        // A shallow copy of the whole with fewer marks, and nonsense elsewhere.
        struct run prefix = *run;
        prefix.mark_count = (int)random_between(&random, 0, run->mark_count);
        prefix.state = RUN_OPEN;
        prefix.pass_count = 1 << 20;
        prefix.answer_count = -77;
        prefix.text_used = SIZE_MAX;
        check_against_walk(&prefix, random_between(&random, -2, run_end_ns(run) + 2));
        struct run *copy = NULL, own;
        assert_true(run_copy(&copy, &prefix, &why));
        run_prefix(&own, run, prefix.mark_count);
        assert_true(has_same_body(copy, &own));
        assert_true(run_validate(copy, &why));
        assert_int_equal(copy->text_used, own.text_used);
        run_destroy(copy);
        run_destroy(run);
    }
}

static void figures_never_go_back_as_time_goes_on(void **state) {
    (void)state;
    struct random_run_limits limits = {.max_layers = 8, .max_answers = 40};
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct run *run = random_run(seed, &limits);
        int marks = 0, answers = 0, entries = 0, event = -1;
        for (int i = -1; i <= run->mark_count; i++) {
            int64_t t_ns = i < 0 ? -1 : i == run->mark_count ? INT64_MAX : run->mark_end_ns[i];
            assert_true(run_marks_at(run, t_ns) >= marks);
            assert_true(run_answers_at(run, t_ns) >= answers);
            assert_true(run_moment_at(run, t_ns).cache_entries >= entries);
            assert_true(run_event_at(run, t_ns) >= event);
            marks = run_marks_at(run, t_ns);
            answers = run_answers_at(run, t_ns);
            entries = run_moment_at(run, t_ns).cache_entries;
            event = run_event_at(run, t_ns);
            if (answers > 0) // the newest token stands outside the cache
                assert_int_equal(entries, run->prompt_count + answers - 1);
        }
        assert_int_equal(event, run_events(run) - 1);
        for (int e = 1; e < run_events(run); e++) {
            assert_true(run_event_ns(run, e) >= run_event_ns(run, e - 1));
            assert_true(run_event_at(run, run_event_ns(run, e)) >= e);
        }
        run_destroy(run);
    }
}

static void without_a_cache_the_laws_hold_too(void **state) {
    (void)state;
    struct random_run_limits limits = {
        .max_layers = 8, .max_answers = 40, .may_fail = true, .may_recompute = true};
    int count = 0;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct run *run = random_run(seed, &limits), *other = NULL, *back = NULL;
        uint64_t random = seed;
        struct run prefix;
        count += run->info.recomputes;
        assert_true(run_validate(run, &why));
        run_prefix(&prefix, run, (int)random_between(&random, 0, run->mark_count));
        check_against_walk(run, random_between(&random, -2, run_end_ns(run) + 2));
        check_against_walk(&prefix, random_between(&random, -2, run_end_ns(run) + 2));
        if (run->state == RUN_COMPLETE) {
            enum run_counting counting = run->info.counting;
            assert_true(run_recount(&other, run, (enum run_counting)(1 - counting), &why));
            assert_true(run_validate(other, &why));
            assert_true(run_recount(&back, other, counting, &why));
            assert_true(counting == RUN_CHARGED || has_same_body(run, back));
        }
        run_destroy(back);
        run_destroy(other);
        run_destroy(run);
    }
    assert_in_range(count, 200, 400);
}

static void a_copy_is_equal_and_shares_nothing(void **state) {
    (void)state;
    struct random_run_limits limits = {.max_layers = 8, .max_answers = 40, .may_fail = true};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct run *run = random_run(seed, &limits), *copy = NULL;
        assert_true(run_copy(&copy, run, &why));
        assert_true(has_same_body(run, copy));
        assert_memory_equal(&copy->info, &run->info, sizeof(run->info));
        assert_int_equal(copy->state, run->state);
        assert_int_equal(copy->pass_count, run->pass_count);
        assert_int_equal(copy->answer_count, run->answer_count);
        run_destroy(run); // ASan sees a shared array
        assert_true(run_validate(copy, &why));
        run_destroy(copy);
    }
    run_destroy(NULL);
}

static void a_leading_sign_for_a_space_is_read_as_one_and_left_out_of_a_word(void **state) {
    (void)state;
    static const struct {
        const char *text, *words, *printable;
    } cases[] = {{"\xE2\x96\x81par", " par", "par"},
                 {"cel", "cel", "cel"},
                 {"\xE2\x96\x81", "\xE2\x96\x81", "\xE2\x96\x81"},
                 {"", "", ""},
                 {"a\xE2\x96\x81", "a\xE2\x96\x81", "a\xE2\x96\x81"},
                 {" ", " ", " "},
                 {" b\n", " b\n", "b\\x0a"}};
    enum { COUNT = sizeof cases / sizeof cases[0] };
    struct run_info info = {.origin = RUN_MEASURED,
                            .unit_ns = 1,
                            .layers = 1,
                            .prompt_tokens = COUNT,
                            .answer_limit = 1};
    struct run *run = NULL;
    struct why problem;
    assert_true(run_create(&run, &info, 1, &problem));
    for (int i = 0; i < COUNT; i++)
        assert_true(
            run_add_prompt_token(run, i, cases[i].text, strlen(cases[i].text), false, &problem));
    for (int i = 0; i < COUNT; i++) {
        char out[RUN_TOKEN_BYTES];
        size_t bytes = run_token_words(out, run, i);
        assert_int_equal(bytes, strlen(cases[i].words));
        assert_memory_equal(out, cases[i].words, bytes);
        char word[16];
        run_token_printable(word, sizeof word, run, i);
        assert_string_equal(word, cases[i].printable);
    }
    run_destroy(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_run_gives_the_definitions_of_the_field),
        cmocka_unit_test(a_window_bounds_what_its_layers_keep),
        cmocka_unit_test(what_cannot_be_seen_is_minus_one_and_empty_text),
        cmocka_unit_test(an_answer_token_appears_with_its_output_mark),
        cmocka_unit_test(tpot_is_rounded_to_the_nearest_nanosecond),
        cmocka_unit_test(stages_match_the_wall_within_five_percent),
        cmocka_unit_test(every_figure_equals_a_walk_over_the_arrays),
        cmocka_unit_test(the_law_holds_on_large_runs_too),
        cmocka_unit_test(reading_never_looks_at_the_writers_counts),
        cmocka_unit_test(figures_never_go_back_as_time_goes_on),
        cmocka_unit_test(without_a_cache_the_laws_hold_too),
        cmocka_unit_test(a_copy_is_equal_and_shares_nothing),
        cmocka_unit_test(a_leading_sign_for_a_space_is_read_as_one_and_left_out_of_a_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
