// One complete run, whatever it comes from: lessons with their exact figures, a
// saved run, a real measurement of the bundled model; and one clear line for
// everything that cannot become one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/runs/source.h"
#include "compute/base/why.h"
#include "compute/file/runfile.h"
#include "compute/run/moment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/tokendrip-source-XXXXXX";

static struct run_request defaults(void) {
    return (struct run_request){
        .device = "auto", .schedule = "module-7", .seed = 1, .top_p_unit = 1.0f, .repeats = 3};
}

static struct run *run_of(const struct run_request *request) {
    struct run *run = NULL;
    struct why why;
    if (!source_run(&run, NULL, request, NULL, &why))
        fail_msg("%s", why.text);
    assert_int_equal(run->state, RUN_COMPLETE);
    assert_true(run_validate(run, &why));
    // A picture leaves no room for tokens that never come.
    assert_int_equal(run->info.answer_limit, run->answer_count);
    return run;
}

static void assert_refused(const struct run_request *request, const char *says) {
    struct run *run = NULL;
    struct why why = {0};
    assert_false(source_run(&run, NULL, request, NULL, &why));
    assert_null(run);
    if (!strstr(why.text, says) || strchr(why.text, '\n'))
        fail_msg("\"%s\" does not say \"%s\"", why.text, says);
}

static void lessons_have_their_exact_figures_under_either_counting(void **state) {
    static const struct {
        const char *schedule;
        enum counting_choice counting;
        int64_t prefill_ms, ttft_ms, e2e_ms;
        int answers, events;
    } cases[] = {
        {"module-7", COUNTING_DEFAULT, 72, 97, 247, 7, 9},
        {"module-7", COUNTING_LESSON, 72, 97, 247, 7, 9},
        {"module-7", COUNTING_ENGINE, 72, 72, 222, 7, 8},
        {"stage-0", COUNTING_DEFAULT, 100, 120, 4100, 200, 202},
        {"stage-0", COUNTING_ENGINE, 100, 100, 4080, 200, 201},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run_request request = defaults();
        request.clock = CLOCK_LESSON;
        request.schedule = cases[i].schedule;
        request.counting = cases[i].counting;
        struct run *run = run_of(&request);
        assert_int_equal(run->info.origin, RUN_LESSON);
        assert_int_equal(run_prefill_ns(run), cases[i].prefill_ms * 1000000);
        assert_int_equal(run_ttft_ns(run), cases[i].ttft_ms * 1000000);
        assert_int_equal(run_e2e_ns(run), cases[i].e2e_ms * 1000000);
        assert_int_equal(run->answer_count, cases[i].answers);
        assert_int_equal(run_events(run), cases[i].events);
        run_destroy(run);
        // The window takes a lesson straight under the counting it shows.
        struct why why;
        assert_true(source_lesson(&run, &request, cases[i].counting, &why));
        assert_int_equal(run_ttft_ns(run), cases[i].ttft_ms * 1000000);
        run_destroy(run);
    }
}

static void a_lesson_stretches_to_other_counts(void **state) {
    (void)state;
    struct run_request request = defaults();
    request.clock = CLOCK_LESSON;
    request.prompt_tokens = 100;
    request.answer_tokens = 3;
    struct run *run = run_of(&request);
    assert_int_equal(run_prefill_ns(run), 400 * INT64_C(1000000));
    assert_int_equal(run_e2e_ns(run), 475 * INT64_C(1000000));
    run_destroy(run);
}

static void a_schedule_may_be_a_file_and_a_wrong_name_is_told(void **state) {
    (void)state;
    struct run_request request = defaults();
    request.clock = CLOCK_LESSON;
    request.schedule = TOKENDRIP_SOURCE_DIR "/assets/schedules/module-7.json";
    run_destroy(run_of(&request));
    request.schedule = "module-8";
    assert_refused(&request, "no schedule \"module-8\". Take module-7, stage-0");
    request.schedule = "missing.json";
    assert_refused(&request, "missing.json");
    request.schedule = TOKENDRIP_SOURCE_DIR "/LICENSE";
    assert_refused(&request, "LICENSE");
}

static void a_measurement_gives_the_models_own_answer(void **state) {
    (void)state;
    struct run_request request = defaults();
    struct run *run = run_of(&request);
    assert_int_equal(run->info.origin, RUN_MEASURED);
    assert_string_equal(run->info.weights, "bundled");
    assert_string_equal(run->info.device, "cpu");
    assert_false(run->info.cold);
    assert_int_equal(run->info.prompt_tokens, 18);
    assert_int_equal(run->answer_count, 7);
    assert_int_equal(run->tokens[18 + 6].kind, RUN_CONTROL);
    assert_int_equal(run_moment_at(run, run_end_ns(run)).cache_entries, 18 + 7 - 1);
    assert_true(run_stages_match_wall(run));
    run_destroy(run);
}

static void a_length_asked_for_is_kept_exactly(void **state) {
    (void)state;
    struct run_request request = defaults();
    request.prompt_tokens = 30;
    request.answer_tokens = 12;
    struct run *run = run_of(&request);
    assert_int_equal(run->info.prompt_tokens, 30);
    assert_int_equal(run->answer_count, 12);
    run_destroy(run);
    request.answer_tokens = 1;
    run = run_of(&request);
    assert_int_equal(run->answer_count, 1);
    assert_int_equal(run_tpot_ns(run), -1);
    run_destroy(run);
}

static void a_saved_run_comes_back_and_counts_as_asked(void **state) {
    (void)state;
    struct run_request request = defaults();
    struct run *run = run_of(&request), *again = NULL;
    char path[64];
    struct why why;
    snprintf(path, sizeof path, "%s/run.json", folder);
    assert_true(runfile_save(path, run, NULL, true, &why));
    request.run_path = path;
    again = run_of(&request);
    assert_int_equal(again->mark_count, run->mark_count);
    assert_memory_equal(again->mark_end_ns, run->mark_end_ns,
                        sizeof run->mark_end_ns[0] * (size_t)run->mark_count);
    run_destroy(again);
    request.counting = COUNTING_ENGINE;
    again = run_of(&request);
    assert_int_equal(again->info.origin, RUN_MEASURED);
    run_destroy(again);
    // One decode step is charged before everything after prefill.
    request.counting = COUNTING_LESSON;
    again = run_of(&request);
    int64_t step_ns = run_pass_end_ns(run, 1) - run->passes[1].start_ns;
    assert_int_equal(again->info.origin, RUN_MODELLED);
    assert_int_equal(run_events(again), run_events(run) + 1);
    assert_int_equal(run_ttft_ns(again), run_prefill_ns(run) + step_ns);
    assert_int_equal(run_e2e_ns(again), run_e2e_ns(run) + step_ns);
    run_destroy(again);
    run_destroy(run);
    unlink(path);
}

static void a_run_file_without_an_answer_is_refused(void **state) {
    struct run_info info = {.origin = RUN_MEASURED, .unit_ns = 1, .layers = 1, .heads = 1};
    struct run *run = NULL;
    char path[64];
    struct why why;
    (void)state;
    info.kv_heads = info.head_dim = info.kv_value_bytes = 1;
    info.prompt_tokens = 1;
    info.answer_limit = 4;
    assert_true(run_create(&run, &info, 1, &why));
    assert_true(run_add_prompt_token(run, 1, "a", 1, false, &why));
    run_close(run, RUN_FAILED);
    snprintf(path, sizeof path, "%s/empty.json", folder);
    assert_true(runfile_save(path, run, NULL, true, &why));
    run_destroy(run);
    struct run_request request = defaults();
    request.run_path = path;
    assert_refused(&request, "no finished answer");
    unlink(path);
}

static void what_cannot_be_measured_says_why_in_one_line(void **state) {
    (void)state;
    struct run_request request = defaults();
    request.device = "cuda:63";
    assert_refused(&request, "cuda:63");

    request = defaults();
    request.model_path = "/nonexistent/model.gguf";
    assert_refused(&request, "model.gguf: cannot be opened");
    request.model_path = TOKENDRIP_SOURCE_DIR "/LICENSE";
    assert_refused(&request, "LICENSE");

    request = defaults();
    request.run_path = "/nonexistent/run.json";
    assert_refused(&request, "run.json");

    request = defaults();
    request.answer_tokens = 100000;
    assert_refused(&request, "limit of 1280. Take --answer-tokens 1262 or fewer");
    request = defaults();
    request.prompt_tokens = 1281;
    assert_refused(&request, "leaves no room for an answer within the model's limit of 1280");

    request = defaults();
    setenv("TOKENDRIP_ASSETS", "/nonexistent", 1);
    assert_refused(&request, "model/tokendrip.gguf");
    setenv("TOKENDRIP_ASSETS", TOKENDRIP_SOURCE_DIR "/assets", 1);
}

static const struct source_opts all = {.marks = BACKEND_MARKS_ALL};

static void the_answer_may_fill_the_context_to_its_end(void **state) {
    struct source source;
    struct why why;
    (void)state;
    struct run_request request = defaults();
    request.prompt_tokens = 1270;
    assert_true(source_open(&source, &request, &all, &why));
    assert_int_equal(source.prompt.count, 1270);
    assert_int_equal(source.answer_limit, engine_context(source.engine) - 1270);
    source_close(&source);
    source_close(&source);
    request.prompt_tokens = 18;
    assert_true(source_open(&source, &request, &all, &why));
    assert_int_equal(source.answer_limit, SOURCE_ANSWER_LIMIT);
    source_close(&source);
}

static void another_prompt_takes_the_place_of_the_old_one_only_if_it_fits(void **state) {
    struct source source;
    struct why why = {0};
    (void)state;
    struct run_request request = defaults();
    assert_true(source_open(&source, &request, &all, &why));
    request.prompt_tokens = 64;
    request.answer_tokens = 5;
    assert_true(source_change_prompt(&source, &request, &why));
    assert_int_equal(source.prompt.count, 64);
    assert_int_equal(source.answer_limit, 5);
    request.prompt_tokens = engine_context(source.engine) - 4;
    assert_false(source_change_prompt(&source, &request, &why));
    assert_non_null(strstr(why.text, "limit"));
    assert_int_equal(source.prompt.count, 64);
    assert_int_equal(source.answer_limit, 5);
    request.answer_tokens = 4;
    assert_true(source_change_prompt(&source, &request, &why));
    source_close(&source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lessons_have_their_exact_figures_under_either_counting),
        cmocka_unit_test(a_lesson_stretches_to_other_counts),
        cmocka_unit_test(a_schedule_may_be_a_file_and_a_wrong_name_is_told),
        cmocka_unit_test(a_measurement_gives_the_models_own_answer),
        cmocka_unit_test(a_length_asked_for_is_kept_exactly),
        cmocka_unit_test(a_saved_run_comes_back_and_counts_as_asked),
        cmocka_unit_test(a_run_file_without_an_answer_is_refused),
        cmocka_unit_test(what_cannot_be_measured_says_why_in_one_line),
        cmocka_unit_test(the_answer_may_fill_the_context_to_its_end),
        cmocka_unit_test(another_prompt_takes_the_place_of_the_old_one_only_if_it_fits),
    };
    setenv("TOKENDRIP_ASSETS", TOKENDRIP_SOURCE_DIR "/assets", 1);
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
