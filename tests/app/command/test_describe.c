// The walk as text: the lesson's exact figures, event by event, and token texts
// that no terminal can trip over.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/command/describe.h"
#include "app/lesson/load/load.h"
#include "app/runs/source.h"
#include "compute/base/why.h"
#include "compute/base/words.h"

#include <stdlib.h>
#include <string.h>

static struct run *source_of(const char *schedule, enum counting_choice counting) {
    struct run_request request = {
        .schedule = schedule, .clock = CLOCK_LESSON, .counting = counting};
    struct run *run = NULL;
    struct why why;
    if (!source_run(&run, NULL, &request, NULL, &why))
        fail_msg("%s", why.text);
    return run;
}

static char *text_of_block(const struct lesson *words, const struct run *run, int event) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    describe_block(out, words, run, event);
    fclose(out);
    return text;
}

static char *text_of_run(const struct run *run) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    describe_run(out, NULL, run);
    fclose(out);
    return text;
}

static char *text_of_step(const struct lesson *words, const struct run *run, int event) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    describe_step(out, words, run, event);
    fclose(out);
    return text;
}

static struct lesson *words(const char *language) {
    struct lesson *lesson = NULL;
    struct why why = {0};
    if (!words_choose(language, &why) || !lesson_load_own(&lesson, &why))
        fail_msg("%s", why.text);
    return lesson;
}

static void module_7_has_its_exact_figures_in_nine_blocks(void **state) {
    static const struct {
        const char *line; // how the block begins
        const char *cache, *answer;
    } blocks[] = {
        {"1. 0 units, prompt: 18 tokens, waiting.\n", "KV cache: 0 tokens",
         "Answer: nothing yet\n"},
        {"2. 72 units, prefill: one pass of 72 units over all 18 prompt tokens side by side, "
         "through 8 layers one after another; no answer token yet.\n",
         "KV cache: 18 tokens", "Answer: nothing yet\n"},
        {"3. 97 units, decode step 1: 25 units charged before the first token, as the lesson "
         "counts; it saves nothing; answer token 1 is \"Your\".\n",
         "KV cache: 18 tokens", "Answer: Your (1 token)\n"},
        {"4. 122 units, decode step 2: one pass of 25 units over \"Your\" alone, reading all "
         "weights and 18 saved tokens; answer token 2 is \"par\".\n",
         "KV cache: 19 tokens", "Answer: Your par (2 tokens)\n"},
        {"5. 147 units, decode step 3: one pass of 25 units over \"par\" alone, reading all "
         "weights and 19 saved tokens; answer token 3 is \"cel\".\n",
         "KV cache: 20 tokens", "Answer: Your parcel (3 tokens)\n"},
        {"6. 172 units, decode step 4: one pass of 25 units over \"cel\" alone, reading all "
         "weights and 20 saved tokens; answer token 4 is \"arrives\".\n",
         "KV cache: 21 tokens", "Answer: Your parcel arrives (4 tokens)\n"},
        {"7. 197 units, decode step 5: one pass of 25 units over \"arrives\" alone, reading all "
         "weights and 21 saved tokens; answer token 5 is \"today\".\n",
         "KV cache: 22 tokens", "Answer: Your parcel arrives today (5 tokens)\n"},
        {"8. 222 units, decode step 6: one pass of 25 units over \"today\" alone, reading all "
         "weights and 22 saved tokens; answer token 6 is \".\".\n",
         "KV cache: 23 tokens", "Answer: Your parcel arrives today. (6 tokens)\n"},
        {"9. 247 units, decode step 7: one pass of 25 units over \".\" alone, reading all weights "
         "and 23 saved tokens; answer token 7 is </s>, the end of the text.\n",
         "KV cache: 24 tokens", "Answer: Your parcel arrives today. (7 tokens)\n"},
    };
    enum { BLOCKS = sizeof blocks / sizeof blocks[0] };
    (void)state;
    struct run *run = source_of("module-7", COUNTING_DEFAULT);
    assert_int_equal(run_events(run), BLOCKS);
    for (int i = 0; i < BLOCKS; i++) {
        char *text = text_of_block(NULL, run, i);
        if (strncmp(text, blocks[i].line, strlen(blocks[i].line)) != 0)
            fail_msg("block %d is\n%sinstead of\n%s", i + 1, text, blocks[i].line);
        const char *cache = strstr(text, blocks[i].cache);
        assert_non_null(cache);
        // "2 tokens" must not pass for "22 tokens".
        assert_memory_equal(cache + strlen(blocks[i].cache), " (no bytes", 10);
        assert_non_null(strstr(text, blocks[i].answer));
        free(text);
    }
    run_destroy(run);
}

static void a_lesson_says_it_is_no_measurement_and_sums_up(void **state) {
    (void)state;
    struct run *run = source_of("module-7", COUNTING_DEFAULT);
    char *text = text_of_run(run);
    assert_int_equal(strncmp(text, "lesson units, not measured", 26), 0);
    assert_non_null(strstr(text, "18 prompt tokens, 7 answer tokens, 8 layers, 9 events\n"));
    assert_non_null(strstr(text, "Prompt: <s> \"You\" \"are\" \"a\" \"support\""));
    assert_non_null(strstr(text, "Total: prefill 72 units, TTFT 97 units, TPOT 25 units, decode "
                                 "175 units, E2E 247 units, decode share 71 %\n"));
    assert_null(strstr(text, "measured on"));
    free(text);
    run_destroy(run);
}

static void engine_counting_takes_the_first_token_from_prefill(void **state) {
    (void)state;
    struct run *run = source_of("module-7", COUNTING_ENGINE);
    char *text = text_of_run(run);
    assert_int_equal(run_events(run), 8);
    assert_non_null(strstr(text, "2. 72 units, prefill"));
    assert_non_null(strstr(text, "one after another; answer token 1 is \"Your\".\n"));
    assert_null(strstr(text, "charged"));
    assert_non_null(strstr(text, "TTFT 72 units, TPOT 25 units, decode 150 units, E2E 222 units"));
    free(text);
    run_destroy(run);
}

static void stage_0_has_the_lessons_totals(void **state) {
    (void)state;
    struct run *run = source_of("stage-0", COUNTING_DEFAULT);
    char *text = text_of_run(run);
    assert_int_equal(run_events(run), 202);
    assert_non_null(strstr(text, "Total: prefill 100 ms, TTFT 120 ms, TPOT 20.0 ms, decode 4.00 s, "
                                 "E2E 4.10 s, decode share 98 %\n"));
    free(text);
    run_destroy(run);
}

// A measured run of a 1-token prompt and one answer token with the text given.
static struct run *measured(const char *answer, size_t bytes) {
    struct run_info info = {.origin = RUN_MEASURED, .unit_ns = 1, .layers = 2, .heads = 1};
    struct run *run = NULL;
    struct why why;
    info.kv_heads = 1;
    info.head_dim = 64;
    info.kv_value_bytes = 2;
    info.prompt_tokens = 1;
    info.answer_limit = 1;
    snprintf(info.device, sizeof info.device, "cpu");
    assert_true(run_create(&run, &info, 1, &why));
    assert_true(run_add_prompt_token(run, 1, "<s>", 3, true, &why));
    struct run_pass pass = {.phase = RUN_PREFILL, .column_count = 1};
    assert_true(run_begin_pass(run, &pass, &why));
    assert_true(run_add_answer_token(run, 2, answer, bytes, false, &why));
    for (int i = 1; i <= 4; i++)
        assert_true(run_add_mark(run, i * 500000, &why));
    run_close(run, RUN_COMPLETE);
    return run;
}

static void a_single_token_has_no_tpot_and_real_bytes(void **state) {
    (void)state;
    struct run *run = measured(" Yes", 4);
    char *text = text_of_run(run);
    assert_non_null(strstr(text, "measured"));
    assert_non_null(strstr(text, "KV cache: 0 tokens, 0 B\n"));
    assert_non_null(strstr(text, "KV cache: 1 token, 512 B\n"));
    assert_non_null(strstr(text, "Answer: Yes (1 token)\n"));
    assert_non_null(strstr(text, "TPOT not measured"));
    free(text);
    run_destroy(run);
}

static void the_part_of_a_prompt_that_a_chat_format_added_is_named(void **state) {
    (void)state;
    struct run *run = measured(" Yes", 4);
    run->info.chat = (struct run_chat){.name = "llama3"};
    char *text = text_of_run(run);
    assert_non_null(strstr(text, "1 token of it, quiet in the picture, belong to the chat format "
                                 "llama3; 0 are your own.\n"));
    free(text);
    run_destroy(run);
}

static void token_texts_cannot_move_a_terminals_cursor(void **state) {
    static const char bad[] = " a\x1b[2J\n\x07\xff\xc2\x9b";
    (void)state;
    struct run *run = measured(bad, sizeof bad - 1);
    char *text = text_of_run(run);
    for (const char *c = text; *c; c++)
        assert_true(*c == '\n' || (unsigned char)*c >= 0x20);
    assert_null(strchr(text, '\x1b'));
    assert_null(strchr(text, '\xff'));
    assert_null(strstr(text, "\xc2\x9b"));
    assert_non_null(strstr(text, "a\\x1b[2J\\x0a\\x07\\xff"));
    free(text);
    run_destroy(run);
}

static void a_line_longer_than_its_buffer_is_cut(void **state) {
    (void)state;
    struct run *run = source_of("module-7", COUNTING_DEFAULT);
    char line[16];
    for (int event = 0; event < run_events(run); event++) {
        memset(line, 'x', sizeof line);
        describe_event(line, sizeof line, run, event);
        assert_true(memchr(line, '\0', sizeof line) != NULL);
    }
    run_destroy(run);
}

// The summary of the chapter that follows the run, for the same event.
static void assert_summary(const struct lesson *lesson, const struct run *run, int event) {
    struct lesson_page page;
    char expected[400];
    assert_true(lesson_follows_run(lesson, 1));
    lesson_page(&page, lesson, (struct lesson_place){1, event}, run, run_event_ns(run, event));
    assert_true(page.summary[0] != '\0');
    char *block = text_of_block(lesson, run, event), *bare = text_of_block(NULL, run, event);
    snprintf(expected, sizeof expected, "\n   In short: %s\n   ", page.summary);
    assert_non_null(strstr(block, expected));
    assert_int_equal(strlen(block), strlen(bare) + strlen(expected) - 4);
    free(block);
    free(bare);
    // A step is that line and no more.
    char *step = text_of_step(lesson, run, event);
    snprintf(expected, sizeof expected, "%s\n", page.summary);
    assert_string_equal(step, expected);
    free(step);
}

static void with_a_lesson_every_event_has_its_line_too(void **state) {
    static const char *const schedules[] = {"module-7", "stage-0"};
    (void)state;
    struct lesson *lesson = words("en");
    for (int i = 0; i < 2; i++) {
        struct run *run = source_of(schedules[i], COUNTING_DEFAULT);
        for (int event = 0; event < run_events(run); event++)
            assert_summary(lesson, run, event);
        run_destroy(run);
    }
    struct run *run = source_of("module-7", COUNTING_DEFAULT);
    char *step = text_of_step(lesson, run, 3);
    assert_non_null(strstr(step, "122 units"));
    assert_non_null(strstr(step, "19 tokens"));
    free(step);
    run_destroy(run);
    lesson_destroy(lesson);
}

static void without_a_lesson_a_step_is_the_events_line(void **state) {
    (void)state;
    struct run *run = source_of("module-7", COUNTING_DEFAULT);
    for (int event = 0; event < run_events(run); event++) {
        char line[DESCRIBE_LINE_BYTES], expected[DESCRIBE_LINE_BYTES + 2];
        describe_event(line, sizeof line, run, event);
        snprintf(expected, sizeof expected, "%s.\n", line);
        char *step = text_of_step(NULL, run, event);
        assert_string_equal(step, expected);
        free(step);
    }
    run_destroy(run);
}

static void a_step_is_on_its_way_at_once_and_one_line_whatever_the_token(void **state) {
    static const char bad[] = " a\x1b[2J\n\x07\xff\xc2\x9b";
    (void)state;
    struct lesson *lesson = words("en");
    struct run *run = measured(bad, sizeof bad - 1);
    for (int with = 0; with < 2; with++) {
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);
        describe_step(out, with ? lesson : NULL, run, 1);
        // Before the stream is closed.
        assert_true(bytes > 10);
        assert_ptr_equal(strchr(text, '\n'), text + bytes - 1);
        assert_null(strchr(text, '\x1b'));
        assert_non_null(strstr(text, "a\\x1b[2J"));
        fclose(out);
        free(text);
    }
    run_destroy(run);
    lesson_destroy(lesson);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(module_7_has_its_exact_figures_in_nine_blocks),
        cmocka_unit_test(a_lesson_says_it_is_no_measurement_and_sums_up),
        cmocka_unit_test(engine_counting_takes_the_first_token_from_prefill),
        cmocka_unit_test(stage_0_has_the_lessons_totals),
        cmocka_unit_test(a_single_token_has_no_tpot_and_real_bytes),
        cmocka_unit_test(the_part_of_a_prompt_that_a_chat_format_added_is_named),
        cmocka_unit_test(token_texts_cannot_move_a_terminals_cursor),
        cmocka_unit_test(with_a_lesson_every_event_has_its_line_too),
        cmocka_unit_test(without_a_lesson_a_step_is_the_events_line),
        cmocka_unit_test(a_step_is_on_its_way_at_once_and_one_line_whatever_the_token),
        cmocka_unit_test(a_line_longer_than_its_buffer_is_cut),
    };
    setenv("TOKENDRIP_ASSETS", TOKENDRIP_SOURCE_DIR "/assets", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
