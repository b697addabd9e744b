// The numbers of a run by name: the lessons' exact figures at every event, definitions
// against the run's own, nothing from beyond the moment, and texts that no token breaks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/lesson/text.h"
#include "app/lesson/values.h"
#include "app/picture/scene/scene.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/compute/base/text_fault.h"
#include "tests/compute/run/plain_run.h"
#include "tests/compute/run/random_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 600 };

static void expect(const struct run *run, int64_t t_ns, const char *name, const char *value) {
    char out[BYTES];
    assert_true(lesson_value(out, sizeof out, name, run, t_ns));
    if (strcmp(out, value) != 0)
        fail_msg("{%s} is \"%s\" instead of \"%s\"", name, out, value);
}

#define DASH "\xE2\x80\x94"

static void module_7_charged_has_its_figures_at_every_event(void **state) {
    static const struct {
        const char *time, *clock, *before, *now, *answers, *step, *number, *token, *fed;
        const char *step_time, *answer, *left;
    } events[] = {
        {"0 units", "0 / 247 units", "0", "0", "0", DASH, DASH, DASH, DASH, DASH, "nothing yet",
         "247 units"},
        {"72 units", "72 / 247 units", "0", "18", "0", DASH, DASH, DASH, DASH, "72 units",
         "nothing yet", "175 units"},
        {"97 units", "97 / 247 units", "18", "18", "1", "1", "1", "Your", DASH, "25 units", "Your",
         "150 units"},
        {"122 units", "122 / 247 units", "18", "19", "2", "2", "2", "par", "Your", "25 units",
         "Your par", "125 units"},
        {"147 units", "147 / 247 units", "19", "20", "3", "3", "3", "cel", "par", "25 units",
         "Your parcel", "100 units"},
        {"172 units", "172 / 247 units", "20", "21", "4", "4", "4", "arrives", "cel", "25 units",
         "Your parcel arrives", "75 units"},
        {"197 units", "197 / 247 units", "21", "22", "5", "5", "5", "today", "arrives", "25 units",
         "Your parcel arrives today", "50 units"},
        {"222 units", "222 / 247 units", "22", "23", "6", "6", "6", ".", "today", "25 units",
         "Your parcel arrives today.", "25 units"},
        {"247 units", "247 / 247 units", "23", "24", "7", "7", "7", "</s>", ".", "25 units",
         "Your parcel arrives today.", "0 units"},
    };
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    assert_int_equal(run_events(run), sizeof events / sizeof events[0]);
    for (int i = 0; i < run_events(run); i++) {
        int64_t t_ns = run_event_ns(run, i);
        expect(run, t_ns, "time", events[i].time);
        expect(run, t_ns, "clock", events[i].clock);
        expect(run, t_ns, "cache_before", events[i].before);
        expect(run, t_ns, "cache_now", events[i].now);
        expect(run, t_ns, "answer_now", events[i].answers);
        expect(run, t_ns, "step", events[i].step);
        expect(run, t_ns, "number", events[i].number);
        expect(run, t_ns, "token", events[i].token);
        expect(run, t_ns, "fed", events[i].fed);
        expect(run, t_ns, "step_time", events[i].step_time);
        expect(run, t_ns, "answer", events[i].answer);
        expect(run, t_ns, "time_left", events[i].left);
        expect(run, t_ns, "run_total", "247 units");
    }
    run_destroy(run);
}

static void figures_come_when_they_are_known_and_not_before(void **state) {
    static const struct {
        int event;
        const char *name, *value;
    } figures[] = {
        {0, "prefill", DASH},
        {1, "prefill", "72 units"},
        {1, "ttft", DASH},
        {2, "ttft", "97 units"},
        {2, "tpot", DASH},
        {3, "tpot", "25 units"},
        {0, "prefill_share", DASH},
        {0, "decode", DASH},
        {1, "decode", "0 units"},
        {8, "decode", "175 units"},
        {0, "decode_share", DASH},
        {1, "decode_share", "0 %"},
        {8, "decode_share", "71 %"},
        {8, "prefill_share", "29 %"},
        {7, "total", DASH},
        {8, "total", "247 units"},
        {7, "answer_tokens", DASH},
        {8, "answer_tokens", "7"},
        {0, "fed_count", DASH},
        {1, "fed_count", "0"},
        {8, "fed_count", "6"},
        {1, "steps", "0"},
        {8, "steps", "7"},
        {1, "step_average", DASH},
        {8, "step_average", "25 units"},
        {0, "prompt_tokens", "18"},
        {0, "layers", "8"},
        {0, "model", "module-7"},
        {0, "unit", "units"},
        {0, "device", DASH},
        {8, "cache_bytes", DASH},
        {8, "cache_note", ""},
        {8, "entry_numbers", DASH},
        {8, "entry_formula", DASH},
        {8, "weight_bytes", DASH},
    };
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        expect(run, run_event_ns(run, figures[i].event), figures[i].name, figures[i].value);
    expect(run, 0, "prompt",
           "You are a support agent. Answer from the policy. Where is my parcel?");
    run_destroy(run);
}

static void engine_counting_has_token_1_at_the_end_of_prefill_and_a_step_less(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_ENGINE, 0, 0);
    int64_t prefill_ns = run_event_ns(run, 1), end_ns = run_end_ns(run);
    expect(run, prefill_ns, "ttft", "72 units");
    expect(run, prefill_ns, "number", "1");
    expect(run, prefill_ns, "token", "Your");
    expect(run, prefill_ns, "cache_now", "18");
    expect(run, run_event_ns(run, 2), "step", "1");
    expect(run, run_event_ns(run, 2), "fed", "Your");
    expect(run, run_event_ns(run, 2), "cache_now", "19");
    expect(run, end_ns, "steps", "6");
    expect(run, end_ns, "total", "222 units");
    expect(run, end_ns, "cache_now", "24");
    expect(run, end_ns, "decode_share", "68 %");
    run_destroy(run);
}

static void stage_0_has_the_lessons_figures(void **state) {
    (void)state;
    struct run *run = lesson_run("stage-0", RUN_CHARGED, 0, 0);
    int64_t end_ns = run_end_ns(run);
    expect(run, end_ns, "prefill", "100 ms");
    expect(run, end_ns, "ttft", "120 ms");
    expect(run, end_ns, "tpot", "20.0 ms");
    expect(run, end_ns, "decode", "4.00 s");
    expect(run, end_ns, "total", "4.10 s");
    expect(run, end_ns, "decode_share", "98 %");
    expect(run, end_ns, "prefill_share", "2 %");
    expect(run, end_ns, "steps", "200");
    expect(run, end_ns, "cache_now", "224");
    expect(run, run_event_ns(run, 2), "clock", "0.12 / 4.10 s");
    run_destroy(run);
}

// Halfway through a pass it is that pass one speaks of, and its result is not known.
static void under_way_a_pass_has_its_number_but_no_result(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    int64_t t_ns = (run_event_ns(run, 3) + run_event_ns(run, 4)) / 2;
    expect(run, t_ns, "step", "3");
    expect(run, t_ns, "number", "3");
    expect(run, t_ns, "fed", "par");
    expect(run, t_ns, "token", DASH);
    expect(run, t_ns, "step_time", DASH);
    expect(run, t_ns, "cache_before", "19");
    expect(run, t_ns, "cache_now", "19");
    expect(run, (run_event_ns(run, 1) + run_event_ns(run, 2)) / 2, "step", "1");
    expect(run, (run_event_ns(run, 1) + run_event_ns(run, 2)) / 2, "fed", DASH);
    expect(run, run_event_ns(run, 1) / 2, "step", DASH);
    expect(run, run_event_ns(run, 1) / 2, "number", DASH);
    run_destroy(run);
}

// A measured run of a known shape: 3 prompt tokens, 2 answer tokens, engine counting.
static struct run *measured(void) {
    static const char *const prompt[] = {"<s>", " {my}", " [box]", NULL};
    static const char *const answer[] = {"\n\x0E", NULL};
    return plain_run(&(struct plain_run){.info = {.origin = RUN_MEASURED,
                                                  .device = "cpu",
                                                  .device_name = "Some Processor",
                                                  .model = "support-4m",
                                                  .weights = "bundled",
                                                  .layers = 4,
                                                  .heads = 8,
                                                  .kv_heads = 2,
                                                  .head_dim = 32,
                                                  .kv_value_bytes = 2,
                                                  .weight_bytes = 3 << 20,
                                                  .prompt_tokens = 3,
                                                  .answer_limit = 2},
                                         .prefill_ns = 600000,
                                         .step_ns = 600000,
                                         .gap_ns = 600000,
                                         .prompt = prompt,
                                         .answer = answer});
}

static void a_measured_run_has_bytes_and_a_device(void **state) {
    (void)state;
    struct run *run = measured();
    int64_t end_ns = run_end_ns(run);
    expect(run, end_ns, "device", "Some Processor");
    expect(run, end_ns, "model", "support-4m");
    expect(run, end_ns, "entry_formula", "2 \xC3\x97 4 \xC3\x97 2 \xC3\x97 32");
    expect(run, end_ns, "entry_numbers", "512");
    expect(run, end_ns, "cell_numbers", "128");
    expect(run, end_ns, "entry_bytes", "1 KiB");
    expect(run, end_ns, "cache_bytes", "4 KiB");
    expect(run, end_ns, "cache_note", ", 4 KiB");
    expect(run, end_ns, "cache_read_bytes", "3 KiB");
    expect(run, end_ns, "weight_bytes", "3 MiB");
    expect(run, end_ns, "step_bytes", "3 MiB");
    expect(run, end_ns, "step_time", "600 \xC2\xB5s");
    expect(run, end_ns, "total", "1.80 ms");
    expect(run, 0, "time", "0 ms");
    expect(run, -5, "time", "0 ms");
    expect(run, INT64_MAX, "time", "1.80 ms");
    run_destroy(run);
}

// Small enough for a whole number of bytes: 100 of weights, 2 x 1 x 1 x 1 numbers of
// 2 bytes an entry. A pass is 600 ns long.
static struct run *run_of_few_bytes(int prompt, int answers) {
    return plain_run(&(struct plain_run){.info = {.origin = RUN_MEASURED,
                                                  .layers = 1,
                                                  .heads = 1,
                                                  .kv_heads = 1,
                                                  .head_dim = 1,
                                                  .kv_value_bytes = 2,
                                                  .weight_bytes = 100,
                                                  .prompt_tokens = prompt,
                                                  .answer_limit = answers},
                                         .prefill_ns = 600,
                                         .step_ns = 600});
}

// A step reads the entries there were before it; its own is written, not read.
static void a_step_reads_the_weights_and_the_cache_it_found(void **state) {
    (void)state;
    static const int prompts[] = {1, 5, 18, 200};
    for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++) {
        struct run *run = run_of_few_bytes(prompts[i], 5);
        expect(run, 0, "step_bytes", "100 B");
        expect(run, 300, "step_bytes", "100 B"); // prefill finds nothing
        expect(run, 600, "step_bytes", "100 B");
        for (int step = 1; step < 5; step++) {
            char read[32], cache[32];
            int found = prompts[i] + step - 1;
            snprintf(read, sizeof read, "%d B", 100 + 4 * found);
            snprintf(cache, sizeof cache, "%d B", 4 * found);
            expect(run, step * 600 + 300, "step_bytes", read);
            expect(run, step * 600 + 600, "step_bytes", read);
            expect(run, step * 600 + 600, "cache_read_bytes", cache);
        }
        run->info.weight_bytes = 0; // unknown: half of the sum would be wrong
        expect(run, 1500, "weight_bytes", DASH);
        expect(run, 1500, "step_bytes", DASH);
        run_destroy(run);
    }
}

static void token_texts_come_without_control_characters(void **state) {
    (void)state;
    struct run *run = measured();
    expect(run, 0, "prompt", "{my} [box]");
    expect(run, run_end_ns(run), "token", "\\x0a\\x0e");
    expect(run, run_end_ns(run), "answer", "\\x0a\\x0e\\x0a\\x0e");
    run_destroy(run);
}

static void long_texts_are_cut_between_characters(void **state) {
    (void)state;
    struct run *run = lesson_run("stage-0", RUN_CHARGED, 400, 0);
    char prompt[BYTES], answer[BYTES];
    assert_true(lesson_value(prompt, sizeof prompt, "prompt", run, 0));
    assert_true(lesson_value(answer, sizeof answer, "answer", run, run_end_ns(run)));
    assert_int_equal(strncmp(prompt, "You are a support agent.", 24), 0);
    assert_string_equal(prompt + strlen(prompt) - 3, "\xE2\x80\xA6");
    assert_in_range(strlen(prompt), 70, 90);
    assert_int_equal(strncmp(answer, "\xE2\x80\xA6", 3), 0);
    assert_string_equal(answer + strlen(answer) - 14, "anything else?");
    assert_in_range(strlen(answer), 55, 75);
    run_destroy(run);
}

// A cut inside a character would show as \xNN.
static void a_cut_never_goes_through_a_character(void **state) {
    static const char *const texts[] = {"\xE6\x97\xA5", "gr\xC3\xB6\xC3\x9F", "\xF0\x9F\x93\xA6",
                                        NULL};
    enum { TEXTS = 3, PROMPT = 60, ANSWERS = 60 };
    (void)state;
    for (int shift = 0; shift < 4; shift++) {
        const char *prompt[PROMPT + 1] = {NULL};
        char out[BYTES];
        for (int i = 0; i < PROMPT; i++)
            prompt[i] = i < shift ? "a" : texts[i % TEXTS];
        struct run *run = plain_run(&(struct plain_run){
            .info = {.layers = 1, .prompt_tokens = PROMPT, .answer_limit = ANSWERS},
            .prefill_ns = 3,
            .step_ns = 3,
            .prompt = prompt,
            .answer = texts});
        for (int event = 1; event < run_events(run); event++) {
            assert_true(lesson_value(out, sizeof out, "answer", run, run_event_ns(run, event)));
            assert_null(strchr(out, '\\'));
        }
        assert_true(lesson_value(out, sizeof out, "prompt", run, 0));
        assert_null(strchr(out, '\\'));
        run_destroy(run);
    }
}

// --- Properties over random runs ---

static bool is_about_the_whole(const char *name) {
    return lesson_text_lists("clock run_total time_left whole_answer recomputed", name);
}

static void check_moment(const struct run *run, int64_t t_ns, uint64_t seed) {
    struct run prefix;
    const char *name;
    run_prefix(&prefix, run, run_marks_at(run, t_ns));
    for (int i = 0; (name = lesson_value_name(i)); i++) {
        char whole[BYTES] = "", part[BYTES] = "";
        assert_true(lesson_value(whole, sizeof whole, name, run, t_ns));
        assert_true(lesson_value(part, sizeof part, name, &prefix, t_ns));
        bool may_be_empty = lesson_text_lists("cache_note token fed prompt", name);
        if (text_fault(whole, "") || (!whole[0] && !may_be_empty))
            fail_msg("seed %llu: {%s} is \"%s\"", (unsigned long long)seed, name, whole);
        if (t_ns < run_end_ns(run) && !is_about_the_whole(name) && strcmp(whole, part) != 0)
            fail_msg("seed %llu at %lld: {%s} is \"%s\" of the whole run, \"%s\" of what was there",
                     (unsigned long long)seed, (long long)t_ns, name, whole, part);
    }
}

static void no_value_looks_past_its_moment(void **state) {
    static const struct random_run_limits limits = {
        .max_prompt = 60, .max_answers = 20, .max_layers = 6, .may_fail = true};
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct run *run = random_run(seed, &limits);
        for (int i = 0; i < 12 && run->mark_count > 0; i++) {
            uint64_t dice = seed * 1000 + (uint64_t)i;
            int mark = (int)random_between(&dice, 0, run->mark_count - 1);
            check_moment(run, run->mark_end_ns[mark], seed);
        }
        for (int event = 0; event < run_events(run) && event < 12; event++)
            check_moment(run, run_event_ns(run, event), seed);
        run_destroy(run);
    }
}

static int number_of(const struct run *run, int64_t t_ns, const char *name) {
    char out[BYTES];
    assert_true(lesson_value(out, sizeof out, name, run, t_ns));
    return atoi(out);
}

static void the_counts_hold_in_any_run(void **state) {
    static const struct random_run_limits limits = {.max_prompt = 200, .max_answers = 40};
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct run *run = random_run(seed, &limits);
        int64_t end_ns = run_end_ns(run);
        int prompt = run->info.prompt_tokens, answers = run->answer_count;
        assert_int_equal(number_of(run, end_ns, "cache_now"), prompt + answers - 1);
        assert_int_equal(number_of(run, end_ns, "fed_count"), answers - 1);
        assert_int_equal(number_of(run, end_ns, "answer_tokens"), answers);
        assert_int_equal(number_of(run, end_ns, "steps"),
                         answers - (run->info.counting == RUN_ENGINE));
        double share = (double)run_decode_ns(run) / (double)run_e2e_ns(run);
        if (run_e2e_ns(run) > 0 && share > 0.005 && share < 0.995)
            assert_int_equal(number_of(run, end_ns, "decode_share") +
                                 number_of(run, end_ns, "prefill_share"),
                             100);
        run_destroy(run);
    }
}

static void every_listed_name_is_there_and_no_other(void **state) {
    (void)state;
    int count = 0;
    char out[BYTES];
    const char *name;
    struct run *run = measured();
    for (; (name = lesson_value_name(count)); count++) {
        assert_true(lesson_value(out, sizeof out, name, run, 0));
        for (int other = 0; other < count; other++)
            assert_string_not_equal(name, lesson_value_name(other));
    }
    assert_true(count > 30);
    assert_false(lesson_value(out, sizeof out, "speed", run, 0));
    assert_false(lesson_value(out, sizeof out, "", run, 0));
    run_destroy(run);
}

// 1.254 + 2.349 = 3.603 would read 1.25 + 2.35 = 3.60, and 1.254 + 2.344 = 3.598 read
// 1.25 + 2.34 = 3.60.
static void prefill_and_decode_add_up_as_they_are_written(void **state) {
    (void)state;
    for (int64_t more_ns = 0; more_ns < 10000; more_ns += 500) {
        struct run *run = plain_run(&(struct plain_run){
            .info = {.origin = RUN_MEASURED, .layers = 2, .prompt_tokens = 3, .answer_limit = 2},
            .prefill_ns = 1254000,
            .step_ns = 2340000 + more_ns});
        char prefill[BYTES], decode[BYTES], total[BYTES];
        int64_t end_ns = run_end_ns(run);
        assert_true(lesson_value(prefill, sizeof prefill, "prefill", run, end_ns));
        assert_true(lesson_value(decode, sizeof decode, "decode", run, end_ns));
        assert_true(lesson_value(total, sizeof total, "total", run, end_ns));
        double off = strtod(prefill, NULL) + strtod(decode, NULL) - strtod(total, NULL);
        assert_true(off < 0.001 && off > -0.001);
        run_destroy(run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefill_and_decode_add_up_as_they_are_written),
        cmocka_unit_test(module_7_charged_has_its_figures_at_every_event),
        cmocka_unit_test(figures_come_when_they_are_known_and_not_before),
        cmocka_unit_test(engine_counting_has_token_1_at_the_end_of_prefill_and_a_step_less),
        cmocka_unit_test(stage_0_has_the_lessons_figures),
        cmocka_unit_test(under_way_a_pass_has_its_number_but_no_result),
        cmocka_unit_test(a_measured_run_has_bytes_and_a_device),
        cmocka_unit_test(a_step_reads_the_weights_and_the_cache_it_found),
        cmocka_unit_test(token_texts_come_without_control_characters),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(a_cut_never_goes_through_a_character),
        cmocka_unit_test(no_value_looks_past_its_moment),
        cmocka_unit_test(the_counts_hold_in_any_run),
        cmocka_unit_test(every_listed_name_is_there_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
