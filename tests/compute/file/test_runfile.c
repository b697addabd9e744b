// Tests of runfile.h: what is saved comes back to the nanosecond and is saved
// again byte for byte; the events say the same as the run; files that were cut,
// changed or made up are refused in one line; a failed save leaves no trace.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "compute/file/runfile.h"
#include "tests/compute/run/random_run.h"

#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIGITS_64 "0123456789012345678901234567890123456789012345678901234567890123"

static struct why why;

static char *print(const struct run *run, size_t *bytes) {
    char *text = runfile_print(run, NULL, bytes, &why);
    if (!text)
        fail_msg("%s", why.text);
    return text;
}

static struct run *parse(const char *json, size_t bytes) {
    struct run *run = NULL;
    if (!runfile_parse(&run, NULL, "test.json", json, bytes, &why))
        fail_msg("%s", why.text);
    assert_true(run_validate(run, &why));
    return run;
}

static void check_equal(const struct run *a, const struct run *b) {
    assert_memory_equal(&a->info, &b->info, sizeof(a->info));
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->prompt_count, b->prompt_count);
    assert_int_equal(a->mark_count, b->mark_count);
    assert_int_equal(a->pass_count, b->pass_count);
    assert_int_equal(a->answer_count, b->answer_count);
    assert_int_equal(a->text_used, b->text_used);
    assert_memory_equal(a->mark_end_ns, b->mark_end_ns, (size_t)a->mark_count * sizeof(int64_t));
    assert_memory_equal(a->text, b->text, a->text_used);
    assert_memory_equal(a->tokens, b->tokens,
                        (size_t)(a->prompt_count + a->answer_count) * sizeof(*a->tokens));
    for (int i = 0; i < a->pass_count; i++) {
        const struct run_pass *p = &a->passes[i], *q = &b->passes[i];
        assert_int_equal(p->phase, q->phase);
        assert_int_equal(p->first_column, q->first_column);
        assert_int_equal(p->column_count, q->column_count);
        assert_int_equal(p->yields, q->yields);
        assert_int_equal(p->start_ns, q->start_ns);
    }
}

// A run small enough to read, with every kind of token text.
static struct run *small_run(void) {
    struct run_info info = {.origin = RUN_MEASURED,
                            .cold = true,
                            .device = "cpu",
                            .device_name = "A \"fast\" CPU",
                            .model = "support-4m",
                            .weights = "bundled",
                            .weight_type = "F16",
                            .clock = "CLOCK_MONOTONIC",
                            .date = "2026-12-01T09:30:00Z",
                            .threads = 2,
                            .layers = 1,
                            .heads = 4,
                            .kv_heads = 2,
                            .head_dim = 8,
                            .kv_value_bytes = 2,
                            .weight_bytes = 1000,
                            .seed = UINT64_MAX,
                            .prompt_tokens = 2,
                            .answer_limit = 5};
    struct run *run = NULL;
    assert_true(run_create(&run, &info, 1, &why));
    assert_true(run_add_prompt_token(run, 1, "<s>", 3, true, &why));
    assert_true(run_add_prompt_token(run, 2, "\xe2\x96\x81\"a\"\n\x7f", 8, false, &why));
    assert_true(run_begin_pass(run, &(struct run_pass){RUN_PREFILL, 0, 2, 0, 7}, &why));
    assert_true(run_add_answer_token(run, 3, "\xc3", 1, false, &why));
    for (int i = 1; i <= 3; i++)
        assert_true(run_add_mark(run, 1000 * i + i, &why));
    assert_true(run_begin_pass(run, &(struct run_pass){RUN_DECODE, 2, 1, 1, 3500}, &why));
    assert_true(run_add_answer_token(run, 4, "", 0, false, &why));
    for (int i = 1; i <= 3; i++)
        assert_true(run_add_mark(run, 3500 + i, &why));
    run_close(run, RUN_COMPLETE);
    return run;
}

static const char small_text[] =
    "{\"displayTimeUnit\":\"ns\",\n"
    "\"traceEvents\":[\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\","
    "\"args\":{\"name\":\"tokendrip: support-4m, cpu, measured\"}},\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"passes\"}},\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":1}},"
    "\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"stages\"}},\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":2}},"
    "\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":3,\"name\":\"thread_name\",\"args\":{\"name\":\"tokens\"}},\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":3,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":3}},"
    "\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"prefill\",\"ts\":0.007,\"dur\":2.996,"
    "\"args\":{\"first_column\":0,\"columns\":2,\"kv_read_bytes\":0,\"kv_written_bytes\":128}},\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"embedding\",\"ts\":0.007,\"dur\":0.994,"
    "\"args\":{\"columns\":2}},\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"layer 1\",\"ts\":1.001,\"dur\":1.001,"
    "\"args\":{\"columns\":2,\"kv_written_bytes\":128}},\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"output\",\"ts\":2.002,\"dur\":1.001,\"args\":{}},"
    "\n"
    "{\"ph\":\"i\",\"pid\":1,\"tid\":3,\"name\":\"0xc3\",\"ts\":3.003,\"s\":\"t\","
    "\"args\":{\"answer\":0,\"id\":3}},\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"decode 1\",\"ts\":3.500,\"dur\":0.003,"
    "\"args\":{\"first_column\":2,\"columns\":1,\"kv_read_bytes\":128,\"kv_written_bytes\":64,"
    "\"weight_bytes\":1000}},\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"embedding\",\"ts\":3.500,\"dur\":0.001,"
    "\"args\":{\"columns\":1}},\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"layer 1\",\"ts\":3.501,\"dur\":0.001,"
    "\"args\":{\"columns\":1,\"kv_written_bytes\":64}},\n"
    "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"output\",\"ts\":3.502,\"dur\":0.001,\"args\":{}},"
    "\n"
    "{\"ph\":\"i\",\"pid\":1,\"tid\":3,\"name\":\"token 1\",\"ts\":3.503,\"s\":\"t\","
    "\"args\":{\"answer\":1,\"id\":4}}],\n"
    "\"tokendrip\":{\"version\":1,\"state\":\"complete\",\n"
    "\"info\":{\"origin\":\"measured\",\"counting\":\"engine\",\"cold\":true,"
    "\"forced_length\":false,\"device\":\"cpu\",\"device_name\":\"A \\\"fast\\\" CPU\","
    "\"driver\":\"\",\"model\":\"support-4m\",\"weights\":\"bundled\",\"weight_type\":\"F16\","
    "\"clock\":\"CLOCK_MONOTONIC\",\"date\":\"2026-12-01T09:30:00Z\",\"unit\":\"\",\"unit_ns\":0,"
    "\"threads\":2,\"layers\":1,\"heads\":4,\"kv_heads\":2,\"head_dim\":8,\"kv_value_bytes\":2,"
    "\"weight_bytes\":1000,\"seed\":\"18446744073709551615\",\"prompt_tokens\":2,"
    "\"answer_limit\":5},\n"
    "\"prompt\":[\n"
    "{\"id\":1,\"text\":\"<s>\",\"control\":true},\n"
    "{\"id\":2,\"text\":\"\xe2\x96\x81\\\"a\\\"\\n\\u007f\"}],\n"
    "\"answer\":[\n"
    "{\"id\":3,\"hex\":\"c3\"},\n"
    "{\"id\":4,\"text\":\"\"}],\n"
    "\"passes\":[\n"
    "{\"phase\":\"prefill\",\"first_column\":0,\"column_count\":2,\"yields\":0,\"start_ns\":7,"
    "\"marks_ns\":[1001,2002,3003]},\n"
    "{\"phase\":\"decode\",\"first_column\":2,\"column_count\":1,\"yields\":1,\"start_ns\":3500,"
    "\"marks_ns\":[3501,3502,3503]}]}}\n";

static const char *const small_extras_text =
    ",\n\"sweep\":{\"prefill\":[\n"
    "{\"tokens\":1,\"median_ns\":900,\"p10_ns\":890,\"p90_ns\":1000,\"count\":5},\n"
    "{\"tokens\":64,\"median_ns\":1900,\"p10_ns\":1900,\"p90_ns\":1900,\"count\":1}],\n"
    "\"step\":[\n"
    "{\"tokens\":1,\"median_ns\":700,\"p10_ns\":690,\"p90_ns\":710,\"count\":15}]},\n"
    "\"floors\":{\"read_bytes_s\":21500000000,\"matrix_flop_s\":100250000000,"
    "\"is_cached\":true,\n"
    "\"prefill\":{\"bytes\":5500000,\"flop\":93500000,\"floor_ns\":932000,"
    "\"share_ppm\":512345,\"is_read\":false},\n"
    "\"decode\":{\"bytes\":5750000,\"flop\":5250000,\"floor_ns\":267000,"
    "\"share_ppm\":-1,\"is_read\":true}}}}\n";

static struct runfile_extras small_extras(void) {
    return (struct runfile_extras){
        .sweep = {.prefill_count = 2,
                  .step_count = 1,
                  .prefill = {{1, 900, 890, 1000, 5}, {64, 1900, 1900, 1900, 1}},
                  .step = {{1, 700, 690, 710, 15}}},
        .roofline = {.is_measured = true,
                     .rates = {21.5e9, 100.25e9, true},
                     .prefill = {5.5e6, 93.5e6, 932000, 0.512345, false},
                     .decode = {5.75e6, 5.25e6, 267000, -1, true}},
    };
}

// small_text with the extras behind the run. Owner: the caller.
static char *small_with_extras(size_t *bytes) {
    struct run *run = small_run();
    struct runfile_extras extras = small_extras();
    char *text = runfile_print(run, &extras, bytes, &why);
    if (!text)
        fail_msg("%s", why.text);
    run_destroy(run);
    return text;
}

// --- Round trips ---

// What older files do not have is written of a disturbed run alone, and comes back.
static void a_disturbed_run_keeps_its_ranges(void **state) {
    (void)state;
    struct run *run = small_run(), *back = NULL;
    run->info.is_disturbed = true;
    run->info.ttft = (struct run_range){1, 2};
    run->info.tpot = (struct run_range){3, 4};
    run->info.e2e = (struct run_range){5, RUN_MAX_NS};
    size_t bytes = 0;
    char *text = runfile_print(run, NULL, &bytes, &why);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"disturbed\":true,\"ttft_p10_ns\":1,\"ttft_p90_ns\":2,"));
    assert_true(runfile_parse(&back, NULL, "a.json", text, bytes, &why));
    assert_true(back->info.is_disturbed);
    assert_int_equal(back->info.ttft.p90_ns, 2);
    assert_int_equal(back->info.tpot.p10_ns, 3);
    assert_int_equal(back->info.e2e.p90_ns, RUN_MAX_NS);
    free(text);
    run_destroy(back);
    run_destroy(run);
}

static void a_small_run_is_printed_exactly_so(void **state) {
    (void)state;
    struct run *run = small_run();
    size_t bytes = 0;
    char *text = print(run, &bytes);
    assert_string_equal(text, small_text);
    assert_int_equal(bytes, sizeof(small_text) - 1);
    struct run *back = parse(text, bytes);
    check_equal(run, back);
    run_destroy(back);
    free(text);
    run_destroy(run);
}

static void a_sweep_and_a_roofline_bound_are_kept_beside_the_run(void **state) {
    (void)state;
    struct runfile_extras extras = small_extras(), back, none;
    struct run *run = NULL;
    size_t bytes = 0, bytes_again = 0;
    char *text = small_with_extras(&bytes);
    size_t before = sizeof(small_text) - 1 - strlen("}}\n");
    assert_memory_equal(text, small_text, before);
    assert_string_equal(text + before, small_extras_text);
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root); // still one object that a trace viewer reads
    assert_true(json_is_array(json_object_get(root, "traceEvents")));
    json_decref(root);
    assert_true(runfile_parse(&run, &back, "test.json", text, bytes, &why));
    assert_memory_equal(&back.sweep, &extras.sweep, sizeof(extras.sweep));
    assert_true(back.roofline.is_measured && back.roofline.rates.is_cached);
    assert_true(back.roofline.rates.read_bytes_s == 21.5e9 && back.roofline.decode.share == -1);
    assert_true(back.roofline.prefill.share == 0.512345 && !back.roofline.prefill.is_read);
    assert_true(back.roofline.decode.bytes == 5.75e6 && back.roofline.decode.flop == 5.25e6);
    assert_int_equal(back.roofline.decode.bound_ns, 267000);
    char *again = runfile_print(run, &back, &bytes_again, &why);
    assert_string_equal(again, text);
    free(again);
    run_destroy(run);
    // Who does not ask for them gets the run; a file without any gives none.
    run = parse(text, bytes);
    again = print(run, &bytes_again);
    assert_string_equal(again, small_text);
    run_destroy(run);
    assert_true(runfile_parse(&run, &none, "test.json", again, bytes_again, &why));
    assert_int_equal(none.sweep.prefill_count + none.sweep.step_count, 0);
    assert_false(none.roofline.is_measured);
    run_destroy(run);
    free(again);
    free(text);
}

static void a_sweep_that_is_wrong_is_not_saved(void **state) {
    (void)state;
    struct run *run = small_run();
    size_t bytes = 0;
    struct runfile_extras extras = small_extras();
    extras.sweep.prefill[1].tokens = 1;
    assert_null(runfile_print(run, &extras, &bytes, &why));
    assert_non_null(strstr(why.text, "prefill point 1"));
    extras = small_extras();
    extras.roofline.rates.matrix_flop_s = 0.0 / 0.0;
    assert_null(runfile_print(run, &extras, &bytes, &why));
    extras = small_extras();
    extras.roofline.decode.bytes = 1e30;
    assert_null(runfile_print(run, &extras, &bytes, &why));
    assert_non_null(strstr(why.text, "out of range"));
    run_destroy(run);
}

static void a_run_comes_back_whole_and_is_printed_alike_again(void **state) {
    (void)state;
    struct random_run_limits limits = {.max_layers = 10,
                                       .max_prompt = 100,
                                       .max_answers = 30,
                                       .may_fail = true,
                                       .may_recompute = true};
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct run *run = random_run(seed, &limits);
        size_t bytes = 0, bytes_again = 0;
        char *text = print(run, &bytes);
        struct run *back = parse(text, bytes);
        check_equal(run, back);
        char *again = print(back, &bytes_again);
        assert_int_equal(bytes, bytes_again);
        assert_memory_equal(text, again, bytes);
        free(again);
        run_destroy(back);
        free(text);
        run_destroy(run);
    }
}

static void nanoseconds_are_exact_over_the_whole_range(void **state) {
    (void)state;
    struct random_run_limits limits = {.max_layers = 4, .max_prompt = 10, .max_answers = 10};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct run *run = random_run(seed, &limits);
        uint64_t random = seed;
        // Everything from some mark on moves to the far end of the range.
        int64_t shift_ns = RUN_MAX_NS - run_end_ns(run);
        int from = (int)random_between(&random, 0, run->mark_count - 1);
        for (int m = from; m < run->mark_count; m++)
            run->mark_end_ns[m] += shift_ns;
        for (int p = from / run_stages(run) + 1; p < run->pass_count; p++)
            run->passes[p].start_ns += shift_ns;
        assert_true(run_validate(run, &why));
        assert_int_equal(run_end_ns(run), RUN_MAX_NS);
        size_t bytes = 0;
        char *text = print(run, &bytes);
        struct run *back = parse(text, bytes);
        check_equal(run, back);
        run_destroy(back);
        free(text);
        run_destroy(run);
    }
}

static void every_byte_of_a_token_comes_back(void **state) {
    (void)state;
    struct run_info info = {.layers = 1, .prompt_tokens = 512, .answer_limit = 1};
    struct run *run = NULL;
    assert_true(run_create(&run, &info, 1, &why));
    for (int i = 0; i < 512; i++) { // alone, and before a letter
        char text[2] = {(char)(i & 255), 'a'};
        assert_true(run_add_prompt_token(run, i, text, i < 256 ? 1 : 2, false, &why));
    }
    run_close(run, RUN_FAILED);
    size_t bytes = 0;
    char *text = print(run, &bytes);
    struct run *back = parse(text, bytes);
    check_equal(run, back);
    run_destroy(back);
    free(text);
    run_destroy(run);
}

static void only_runs_that_have_ended_are_printed(void **state) {
    (void)state;
    struct run *run = small_run();
    size_t bytes = 9;
    run->state = RUN_OPEN;
    assert_null(runfile_print(run, NULL, &bytes, &why));
    assert_int_equal(bytes, 0);
    assert_non_null(strstr(why.text, "still growing"));
    run->state = RUN_COMPLETE;
    run->mark_end_ns[0] = -1;
    assert_null(runfile_print(run, NULL, &bytes, &why));
    run_destroy(run);
}

static void a_run_too_large_for_a_file_is_refused(void **state) {
    (void)state;
    struct run_info info = {.layers = RUN_MAX_LAYERS, .prompt_tokens = 1, .answer_limit = 13000};
    struct run *run = NULL;
    assert_true(run_create(&run, &info, 1, &why));
    assert_true(run_add_prompt_token(run, 1, "a", 1, false, &why));
    for (int i = 0; i < 13000; i++) {
        struct run_pass pass = {i ? RUN_DECODE : RUN_PREFILL, i, 1, i, 0};
        assert_true(run_begin_pass(run, &pass, &why));
        assert_true(run_add_answer_token(run, 1, "a", 1, false, &why));
        for (int stage = 0; stage < RUN_MAX_LAYERS + 2; stage++)
            run_add_mark(run, 0, &why);
    }
    run_close(run, RUN_COMPLETE);
    size_t bytes = 0;
    assert_null(runfile_print(run, NULL, &bytes, &why));
    assert_non_null(strstr(why.text, "2106000 marks, too many"));
    run_destroy(run);
}

// --- The events ---

// Nanoseconds of a "ts" or "dur"; the small sums in these tests are exact.
static int64_t event_ns(const json_t *event, const char *key) {
    return (int64_t)(json_number_value(json_object_get(event, key)) * 1000 + 0.5);
}

static const char *event_text(const json_t *event, const char *key) {
    return json_string_value(json_object_get(event, key));
}

struct track_sums {
    int count[4]; // by tid
    int64_t sum_ns[4], end_ns[4];
};

static void check_event(struct track_sums *sums, const json_t *event, const struct run *run) {
    int track = (int)json_integer_value(json_object_get(event, "tid"));
    const char *phase = event_text(event, "ph");
    assert_int_equal(json_integer_value(json_object_get(event, "pid")), 1);
    assert_non_null(event_text(event, "name"));
    if (strcmp(phase, "M") == 0)
        return;
    int64_t start_ns = event_ns(event, "ts"), end_ns = start_ns;
    assert_in_range(track, 1, 3);
    if (strcmp(phase, "X") == 0)
        end_ns += event_ns(event, "dur");
    else
        assert_string_equal(phase, "i");
    assert_int_equal(track == 3, strcmp(phase, "i") == 0);
    assert_true(start_ns >= sums->end_ns[track]); // one after the other
    if (track == 2) {                             // within the pass printed last
        assert_true(end_ns <= sums->end_ns[1]);
        const json_t *args = json_object_get(event, "args");
        int64_t columns = json_integer_value(json_object_get(args, "columns"));
        int mark = sums->count[2], stage = mark % run_stages(run);
        assert_int_equal(end_ns, run->mark_end_ns[mark]);
        if (stage < run_stages(run) - 1)
            assert_int_equal(columns, run->passes[mark / run_stages(run)].column_count);
    }
    sums->count[track]++;
    sums->sum_ns[track] += end_ns - start_ns;
    sums->end_ns[track] = end_ns;
}

static void the_events_say_the_same_as_the_run(void **state) {
    (void)state;
    struct random_run_limits limits = {.max_layers = 10,
                                       .max_prompt = 30,
                                       .max_answers = 20,
                                       .max_stage_ns = 5000000,
                                       .may_fail = true};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct run *run = random_run(seed, &limits);
        size_t bytes = 0, index = 0;
        char *text = print(run, &bytes);
        json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL), *event = NULL;
        assert_non_null(root); // the whole file is JSON, not only what is read back
        assert_string_equal(event_text(root, "displayTimeUnit"), "ns");
        struct track_sums sums = {0};
        json_array_foreach(json_object_get(root, "traceEvents"), index, event) {
            check_event(&sums, event, run);
        }
        int64_t sum_ns = 0;
        for (int i = 0; i < run_passes_seen(run); i++)
            sum_ns += run_pass_end_ns(run, i) - run->passes[i].start_ns;
        assert_int_equal(sums.count[1], run_passes_seen(run));
        assert_int_equal(sums.count[2], run->mark_count);
        assert_int_equal(sums.count[3], run_answers_seen(run));
        assert_int_equal(sums.sum_ns[1], sum_ns);
        assert_int_equal(sums.sum_ns[2], sum_ns);
        json_decref(root);
        free(text);
        run_destroy(run);
    }
}

static void what_is_unknown_is_left_out_of_the_events(void **state) {
    (void)state;
    struct run *run = small_run();
    run->info.origin = RUN_LESSON;
    run->info.unit_ns = 1;
    run->info.kv_heads = 0;
    run->info.weight_bytes = 0;
    size_t bytes = 0;
    char *text = print(run, &bytes);
    *strstr(text, "\"tokendrip\":") = '\0';
    assert_non_null(strstr(text, "\"tokendrip: support-4m, lesson\"")); // no device ran it
    assert_null(strstr(text, "kv_"));
    assert_null(strstr(text, "weight_bytes"));
    free(text);
    run->info.origin = RUN_MODELLED;
    run->info.model[0] = run->info.device[0] = '\0';
    text = print(run, &bytes);
    assert_non_null(strstr(text, "\"tokendrip: modelled\""));
    free(text);
    run_destroy(run);
}

// --- Files that must be refused ---

// Parses a copy in memory of just that size, so that ASan sees a byte too far.
static bool parse_exact(struct run **out, const char *json, size_t bytes) {
    char *copy = malloc(bytes + !bytes);
    assert_non_null(copy);
    if (bytes > 0)
        memcpy(copy, json, bytes);
    bool done = runfile_parse(out, NULL, "bad.json", copy, bytes, &why);
    free(copy);
    return done;
}

static void a_file_cut_anywhere_is_refused(void **state) {
    (void)state;
    size_t whole = sizeof(small_text) - 2; // without the last line end
    for (size_t bytes = 0; bytes < whole; bytes++) {
        struct run *run = NULL;
        if (parse_exact(&run, small_text, bytes))
            fail_msg("cut to %zu bytes it was accepted", bytes);
        assert_null(run);
        assert_non_null(strstr(why.text, "bad.json:"));
        assert_non_null(strstr(why.text, "in the middle"));
    }
    struct run *run = NULL;
    assert_true(parse_exact(&run, small_text, whole));
    run_destroy(run);
}

static void extras_cut_anywhere_are_refused(void **state) {
    (void)state;
    size_t whole = 0;
    char *text = small_with_extras(&whole);
    for (size_t bytes = sizeof(small_text) - 10; bytes < whole - 1; bytes++) {
        struct run *run = NULL;
        if (parse_exact(&run, text, bytes))
            fail_msg("cut to %zu bytes it was accepted", bytes);
        assert_non_null(strstr(why.text, "in the middle"));
    }
    // Any byte of them gone or another one: refused, or a sweep that is valid.
    size_t from = sizeof(small_text) - 4;
    int accepted = 0, refused = 0;
    for (size_t at = from; at < whole; at++) {
        for (int change = 0; change < 6; change++) {
            char kept = text[at];
            struct runfile_extras extras;
            struct run *run = NULL;
            text[at] = " -9\"{,"[change];
            if (runfile_parse(&run, &extras, "bad.json", text, whole, &why)) {
                assert_true(sweep_validate(&extras.sweep, &why));
                accepted++;
            } else {
                assert_null(run);
                assert_null(strchr(why.text, '\n'));
                refused++;
            }
            run_destroy(run);
            text[at] = kept;
        }
    }
    assert_true(accepted > 50 && refused > 500);
    free(text);
}

// Byte `at` of small_text gone (change 0), doubled (1) or another one (2 ..).
static size_t change_byte(char *out, size_t at, int change) {
    size_t bytes = sizeof(small_text) - 1, rest = at + (change != 1), to = at + (change != 0);
    memcpy(out, small_text, at);
    out[at] = change < 2 ? small_text[at] : "9-\"{"[change - 2];
    memcpy(out + to, small_text + rest, bytes - rest);
    return to + bytes - rest;
}

static void any_byte_changed_is_refused_or_harmless(void **state) {
    (void)state;
    size_t from = (size_t)(strstr(small_text, "\"tokendrip\"") - small_text);
    static char text[sizeof(small_text) + 1];
    int accepted = 0, refused = 0;
    for (size_t at = from; at < sizeof(small_text) - 1; at++) {
        for (int change = 0; change < 6; change++) {
            size_t bytes = change_byte(text, at, change);
            struct run *run = NULL;
            if (parse_exact(&run, text, bytes)) {
                assert_true(run_validate(run, &why));
                accepted++;
            } else {
                assert_null(run);
                assert_null(strchr(why.text, '\n'));
                refused++;
            }
            run_destroy(run);
        }
    }
    assert_true(accepted > 100); // a letter of a text, a digit of a number
    assert_true(refused > 1000);
}

// `from` in small_text replaced by `to`.
static const struct wrong {
    const char *from, *to, *says;
} wrongs[] = {
    // the outside
    {"{\"displayTimeUnit\"", "[\"displayTimeUnit\"",
     "bad.json:1: not valid JSON: expected an object"},
    {"\"tokendrip\"", "\"tokendrop\"", "there is no \"tokendrip\" in it"},
    {"\"displayTimeUnit\":\"ns\"", "\"tokendrip\":{}", "a second \"tokendrip\""},
    {"3503]}]}}\n", "3503]}]}} x", "expected nothing more"},
    {"3503]}]}}", "3503}]]}}", "bad.json:30:"},
    {"3501,3502", "3501 3502", "bad.json:30:"},
    // version and state
    {"\"version\":1,", "", "\"version\" is missing"},
    {"\"version\":1", "\"version\":2", "version 2 of the run file is newer than version 1"},
    {"\"version\":1", "\"version\":9223372036854775807", "newer than version 1"},
    {"\"version\":1", "\"version\":0", "\"version\" is 0"},
    {"\"version\":1", "\"version\":\"1\"", "\"version\" is a string"},
    {"\"complete\"", "\"open\"", "\"state\" is \"open\", expected \"complete\" or \"failed\""},
    {"\"complete\"", "null", "\"state\" is null, expected a string"},
    // info
    {"\"info\":{", "\"info\":[],\"x\":{", "\"info\" is an array, expected an object"},
    {"\"info\":{", "\"inf\":{", "\"info\" is missing"},
    {"\"origin\":\"measured\"", "\"origin\":\"guessed\"",
     "info: \"origin\" is \"guessed\", expected \"measured\" or \"modelled\" or \"lesson\""},
    {"\"counting\":\"engine\"", "\"counting\":0", "info: \"counting\" is an integer"},
    {"\"counting\":\"engine\"", "\"counting\":\"charged\"", "passes[0]: run: pass 0"},
    {"\"cold\":true", "\"cold\":1", "info: \"cold\" is an integer, expected true or false"},
    {"\"cold\":true,", "", "info: \"cold\" is missing"},
    {"\"cold\":true,", "\"cold\":true,\"chat\":1,", "info: \"chat\" is an integer"},
    {"\"cold\":true,", "\"cold\":true,\"question_first\":3,", "run: question_first is 3"},
    {"\"cold\":true,", "\"cold\":true,\"question_first\":1,\"question_tokens\":2,",
     "run: question_tokens is 2, expected 0 to 1"},
    {"\"cold\":true,", "\"cold\":true,\"system_tokens\":-2147483648,",
     "run: system_tokens is -2147483648"},
    {"\"cold\":true,", "\"cold\":true,\"disturbed\":1,", "info: \"disturbed\" is an integer"},
    {"\"cold\":true,", "\"cold\":true,\"ttft_p10_ns\":-1,", "\"ttft_p10_ns\" is -1, expected"},
    {"\"cold\":true,", "\"cold\":true,\"e2e_p10_ns\":5,\"e2e_p90_ns\":4,",
     "run: e2e_p90_ns is 4, expected 5 to"},
    {"\"cold\":true,", "\"cold\":true,\"recomputes\":1,", "info: \"recomputes\" is an integer"},
    {"\"cold\":true,", "\"cold\":true,\"recomputes\":true,", "passes[1]: run: pass 1"},
    {"\"cpu\"", "\"0123456789abcdef\"", "info: \"device\" has 16 bytes, expected at most 15"},
    {"\"cpu\"", "\"a\\u0000b\"", "bad.json"},
    {"\"cpu\"", "\"\xff\"", "bad.json"},
    {"\"threads\":2", "\"threads\":2.0", "info: \"threads\" is a number with a fraction"},
    {"\"threads\":2", "\"threads\":-1", "threads is -1"},
    {"\"threads\":2", "\"threads\":4294967296", "\"threads\" is 4294967296, expected"},
    {"\"layers\":1", "\"layers\":1000000", "layers is 1000000, expected 1 to 160"},
    {"\"layers\":1", "\"layers\":0", "layers is 0"},
    {"\"layers\":1", "\"layers\":2", "passes[1]"},
    {"\"heads\":4", "\"heads\":2147483647", "heads is 2147483647"},
    {"\"unit_ns\":0", "\"unit_ns\":-1", "unit_ns is -1"},
    {"\"weight_bytes\":1000,\"seed\"", "\"weight_bytes\":-1,\"seed\"", "weight_bytes is -1"},
    {"\"18446744073709551615\"", "\"18446744073709551616\"", "\"seed\" is"},
    {"\"18446744073709551615\"", "\"-1\"", "\"seed\" is \"-1\", expected the digits"},
    {"\"18446744073709551615\"", "\"\"", "\"seed\" is \"\""},
    {"\"18446744073709551615\"", "1", "\"seed\" is an integer, expected a string"},
    {"\"prompt_tokens\":2", "\"prompt_tokens\":3", "\"prompt\" has 2 items, expected 3 to 3"},
    {"\"prompt_tokens\":2", "\"prompt_tokens\":2000000000", "\"prompt\" has 2 items"},
    {"\"prompt_tokens\":2", "\"prompt_tokens\":-1", "\"prompt\" has 2 items"},
    {"\"answer_limit\":5", "\"answer_limit\":1", "\"answer\" has 2 items, expected 0 to 1"},
    {"\"answer_limit\":5", "\"answer_limit\":0", "\"answer\" has 2 items"},
    // tokens
    {"\"prompt\":[", "\"prompt\":7,\"x\":[", "\"prompt\" is an integer, expected an array"},
    {"{\"id\":1,", "{", "prompt[0]: \"id\" is missing"},
    {"{\"id\":1,", "{\"id\":2147483648,", "prompt[0]: \"id\" is 2147483648"},
    {"{\"id\":1,\"text\":\"<s>\",\"control\":true}", "[]", "prompt[0]: it is an array"},
    {"\"control\":true", "\"control\":\"yes\"", "prompt[0]: \"control\" is a string"},
    {"\"text\":\"<s>\"", "\"text\":5", "prompt[0]: \"text\" is an integer"},
    {"\"text\":\"<s>\",", "", "prompt[0]: \"text\" is missing"},
    {"\"<s>\"", "\"" DIGITS_64 DIGITS_64 "4\"", "prompt[0]: \"text\" has 129 bytes"},
    {"\"hex\":\"c3\"", "\"hex\":\"c\"", "answer[0]: \"hex\" is no even number of digits"},
    {"\"hex\":\"c3\"", "\"hex\":\"C3\"", "answer[0]: \"hex\""},
    {"\"hex\":\"c3\"", "\"hex\":\"c3zz\"", "answer[0]: \"hex\""},
    {"\"hex\":\"c3\"", "\"hex\":3", "answer[0]: \"hex\" is an integer"},
    {"{\"id\":3,\"hex\":\"c3\"},\n", "", "answer[1]: it is missing"},
    {"{\"id\":4,\"text\":\"\"}", "{\"id\":4,\"text\":\"\"},{\"id\":4,\"text\":\"\"}",
     "\"answer\" has 3 tokens, but the passes yield 2"},
    // passes
    {"\"passes\":[", "\"passes\":{},\"x\":[", "\"passes\" is an object, expected an array"},
    {"\"phase\":\"prefill\"", "\"phase\":\"preload\"",
     "passes[0]: \"phase\" is \"preload\", expected \"prefill\" or \"decode\""},
    {"\"phase\":\"prefill\"", "\"phase\":\"decode\"", "passes[0]: run: pass 0 is decode"},
    {"\"phase\":\"decode\"", "\"phase\":[]", "passes[1]: \"phase\" is an array"},
    {"\"first_column\":2", "\"first_column\":1", "passes[1]: run: pass 1"},
    {"\"first_column\":2", "\"first_column\":4294967298", "passes[1]: \"first_column\""},
    {"\"column_count\":2", "\"column_count\":3", "passes[0]: run: pass 0"},
    {"\"column_count\":2,", "", "passes[0]: \"column_count\" is missing"},
    {"\"yields\":1", "\"yields\":2", "passes[1]: run: pass 1"},
    {"\"start_ns\":3500", "\"start_ns\":3000", "passes[1]: run: a pass starts at 3000"},
    {"\"start_ns\":3500", "\"start_ns\":-1", "passes[1]: \"start_ns\" is -1"},
    {"\"start_ns\":3500", "\"start_ns\":3500.5", "passes[1]: \"start_ns\" is a number with"},
    {"\"start_ns\":3500", "\"start_ns\":99999999999999999999", "bad.json:30:"},
    {"[3501,3502,3503]", "[]", "passes[1]: \"marks_ns\" has 0 items, expected 1 to 3"},
    {"[3501,3502,3503]", "[3501,3502,3503,3504]", "passes[1]: \"marks_ns\" has 4 items"},
    {"[3501,3502,3503]", "[3501,3502]", "\"answer\" has 2 tokens, but the passes yield 1"},
    {"[1001,2002,3003]", "[1001,2002]", "passes[1]: run: a pass begins before"},
    {"[3501,3502,3503]", "[3501,3500,3503]", "passes[1]: run: a stage ends at 3500"},
    {"[3501,3502,3503]", "[3501,3502,9007199254740993]",
     "passes[1]: \"marks_ns\" is 9007199254740993"},
    {"[3501,3502,3503]", "[3501,true,3503]", "passes[1]: \"marks_ns\" is true"},
    {"[3501,3502,3503]", "7", "passes[1]: \"marks_ns\" is an integer, expected an array"},
    {"\"cold\":true", "\"cold\":true,\"cold\":true", "duplicate"},
};

static void every_wrong_field_is_refused_by_its_name(void **state) {
    (void)state;
    static char text[2 * sizeof(small_text)];
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        const struct wrong *row = &wrongs[i];
        const char *inside = strstr(small_text, "\"tokendrip\"");
        const char *at = strstr(inside, row->from);
        at = at ? at : strstr(small_text, row->from);
        if (!at)
            fail_msg("row %zu: %s is not there", i, row->from);
        int bytes = snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - small_text), small_text,
                             row->to, at + strlen(row->from));
        struct run *run = NULL;
        if (parse_exact(&run, text, (size_t)bytes))
            fail_msg("row %zu: %s was accepted", i, row->to);
        assert_null(run);
        if (!strstr(why.text, row->says) || strchr(why.text, '\n') ||
            strncmp(why.text, "bad.json", 8) != 0)
            fail_msg("row %zu: %s: says \"%s\"", i, row->to, why.text);
    }
}

static void every_wrong_field_of_the_extras_is_refused_by_its_name(void **state) {
    static const struct wrong rows[] = {
        {"\"sweep\":{", "\"sweep\":7,\"x\":{", "\"sweep\" is an integer"},
        {"\"prefill\":[", "\"prefil\":[", "sweep: \"prefill\" is missing"},
        {"\"step\":[", "\"step\":{},\"x\":[", "sweep: \"step\" is an object"},
        {"\"tokens\":1", "\"tokens\":0", "prefill[0]: \"tokens\" is 0"},
        {"\"tokens\":64", "\"tokens\":1", "prefill point 1 is at 1 tokens"},
        {"\"tokens\":64", "\"tokens\":1000000", "prefill point 1 is at 1000000"},
        {"\"median_ns\":900", "\"median_ns\":9000", "prefill point 0 has p10"},
        {"\"p10_ns\":890", "\"p10_ns\":-1", "prefill[0]: \"p10_ns\" is -1"},
        {"\"p90_ns\":1000,", "", "prefill[0]: \"p90_ns\" is missing"},
        {"\"count\":15", "\"count\":0", "step[0]: \"count\" is 0"},
        {"\"floors\":{", "\"floors\":[],\"x\":{", "\"floors\" is an array"},
        {"21500000000", "-1", "floors: \"read_bytes_s\" is -1"},
        {"\"is_cached\":true", "\"is_cached\":1", "floors: \"is_cached\" is an integer"},
        {"\"share_ppm\":512345", "\"share_ppm\":-2", "prefill: \"share_ppm\" is -2"},
        {"\"decode\":{\"bytes\"", "\"decod\":{\"bytes\"", "floors: \"decode\" is missing"},
        {"\"floor_ns\":267000", "\"floor_ns\":1.5", "decode: \"floor_ns\" is a number with"},
    };
    (void)state;
    size_t bytes = 0;
    char *good = small_with_extras(&bytes);
    const char *inside = good + sizeof(small_text) - 4;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *at = strstr(inside, rows[i].from);
        if (!at)
            fail_msg("row %zu: %s is not there", i, rows[i].from);
        char *text = malloc(bytes + 100);
        assert_non_null(text);
        int length = snprintf(text, bytes + 100, "%.*s%s%s", (int)(at - good), good, rows[i].to,
                              at + strlen(rows[i].from));
        struct run *run = NULL;
        if (parse_exact(&run, text, (size_t)length))
            fail_msg("row %zu: %s was accepted", i, rows[i].to);
        if (!strstr(why.text, rows[i].says))
            fail_msg("row %zu: says \"%s\"", i, why.text);
        free(text);
    }
    free(good);
}

static void a_complete_run_must_have_an_answer(void **state) {
    (void)state;
    struct run *run = small_run();
    run_rewind(run);
    run_close(run, RUN_FAILED); // nothing was measured: true, and can be kept
    size_t bytes = 0;
    char *text = print(run, &bytes), *at = strstr(text, "\"failed\"");
    struct run *back = parse(text, bytes);
    check_equal(run, back);
    run_destroy(back);
    memcpy(at, "\"complete\"", 8);
    char *wrong = malloc(bytes + 8);
    int length = snprintf(wrong, bytes + 8, "%.*s\"complete\"%s", (int)(at - text), text, at + 8);
    back = NULL;
    assert_false(parse_exact(&back, wrong, (size_t)length));
    assert_non_null(strstr(why.text, "ends inside a pass or has no answer"));
    free(wrong);
    free(text);
    run_destroy(run);
}

static void unknown_keys_and_other_spacing_are_ignored(void **state) {
    (void)state;
    json_t *root = json_loads(small_text, 0, NULL);
    assert_non_null(root);
    json_t *inside = json_object_get(root, "tokendrip");
    json_object_set_new(root, "otherData", json_pack("{s:[i,n,{s:s}]}", "x", 1, "y", "]}\"\\"));
    // Neither a text nor a key further in is the run.
    json_object_set_new(root, "moreData", json_pack("[s,{s:i}]", "tokendrip", "tokendrip", 1));
    json_object_set_new(inside, "colour", json_string("blue"));
    json_object_set_new(json_object_get(inside, "info"), "mood", json_null());
    json_object_set_new(json_array_get(json_object_get(inside, "passes"), 0), "n", json_real(1.5));
    json_object_del(root, "traceEvents");
    char *text = json_dumps(root, JSON_INDENT(3) | JSON_ENSURE_ASCII);
    struct run *back = parse(text, strlen(text)), *run = small_run();
    check_equal(run, back);
    run_destroy(back);
    // Spaces of all four kinds, wherever they may be at the top.
    char spaced[sizeof(small_text) + 64];
    const char *inner = strstr(small_text, "{\"version\"");
    int bytes = snprintf(spaced, sizeof(spaced),
                         "\r\n\t {\t\"x\"\r\n: 1\t,\r \"tokendrip\"\t:\r%.*s\t}\r\n",
                         (int)(strlen(inner) - 2), inner);
    back = parse(spaced, (size_t)bytes);
    check_equal(run, back);
    run_destroy(back);
    run_destroy(run);
    free(text);
    json_decref(root);
}

// A file that asks for a lot: `head`, then `item` `count` times, then `tail`.
static bool parse_repeated(const char *head, const char *item, size_t count, const char *tail) {
    size_t item_bytes = strlen(item), head_bytes = strlen(head), tail_bytes = strlen(tail);
    size_t bytes = head_bytes + count * item_bytes + tail_bytes;
    char *text = malloc(bytes), *at = text + head_bytes;
    assert_non_null(text);
    memcpy(text, head, head_bytes);
    for (size_t i = 0; i < count; i++, at += item_bytes)
        memcpy(at, item, item_bytes);
    memcpy(at, tail, tail_bytes);
    struct run *run = NULL;
    bool done = runfile_parse(&run, NULL, "bad.json", text, bytes, &why);
    free(text);
    run_destroy(run);
    return done;
}

static void huge_counts_are_refused_before_memory_is_taken(void **state) {
    (void)state;
    assert_false(parse_repeated("{\"tokendrip\":[", "0,", 3000000, "0]}"));
    assert_non_null(strstr(why.text, "more than any run file"));
    assert_false(parse_repeated("{\"tokendrip\":", "[", 1000000, ""));
    assert_non_null(strstr(why.text, "in the middle"));
    assert_false(parse_repeated("{\"tokendrip\":[", "[],", 800000, "0]}"));
    assert_non_null(strstr(why.text, "more than any run file"));
    // As deep as jansson goes, and deeper.
    assert_false(parse_repeated("{\"tokendrip\":[[[[", "[", 100000, "]"));
    assert_false(parse_repeated("{\"a\":0", " ", 100, "}"));
    assert_non_null(strstr(why.text, "there is no \"tokendrip\""));
    struct run *run = NULL;
    assert_false(runfile_parse(&run, NULL, "bad.json", "", (size_t)RUNFILE_MAX_BYTES + 1, &why));
    assert_non_null(strstr(why.text, "larger than 256 MiB"));
}

static void nesting_too_deep_is_an_error_not_a_crash(void **state) {
    (void)state;
    char text[2 * 5000 + 32];
    int bytes = snprintf(text, sizeof(text), "{\"tokendrip\":");
    memset(text + bytes, '[', 5000);
    memset(text + bytes + 5000, ']', 5000);
    text[bytes + 10000] = '}';
    struct run *run = NULL;
    assert_false(runfile_parse(&run, NULL, "bad.json", text, (size_t)bytes + 10001, &why));
    assert_non_null(strstr(why.text, "bad.json:1:"));
}

// A long answer_limit must not make a small file take much memory.
static void memory_follows_what_is_there_not_what_is_promised(void **state) {
    (void)state;
    static char text[sizeof(small_text) + 16];
    const char *at = strstr(small_text, "\"answer_limit\":5");
    int bytes = snprintf(text, sizeof(text), "%.*s\"answer_limit\":131070%s",
                         (int)(at - small_text), small_text, at + 16);
    struct run *run = parse(text, (size_t)bytes);
    assert_int_equal(run->info.answer_limit, 131070);
    assert_true(run->pass_capacity < 10);
    struct run *copy = NULL;
    assert_true(run_copy(&copy, run, &why));
    assert_true(run_validate(copy, &why));
    run_destroy(copy);
    run_destroy(run);
}

// --- Saving ---

static char folder[64];

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void check_file(const char *path, const char *text) {
    static char found[2 * sizeof(small_text)];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    found[fread(found, 1, sizeof(found) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, text);
}

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/tokendrip-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder); // fails, and the test with it, if a part was left there
}

static void a_saved_run_loads_again_and_replaces_what_was_there(void **state) {
    (void)state;
    struct run *run = small_run(), *back = NULL;
    struct runfile_extras extras = small_extras(), extras_back;
    assert_true(runfile_save(path_of("run.json"), run, &extras, true, &why));
    assert_true(runfile_load(&back, &extras_back, path_of("run.json"), &why));
    assert_memory_equal(&extras_back.sweep, &extras.sweep, sizeof(extras.sweep));
    run_destroy(back);
    write_file(path_of("run.json"), "old");
    assert_false(runfile_save(path_of("run.json"), run, NULL, false, &why));
    check_file(path_of("run.json"), "old");
    assert_true(runfile_save(path_of("run.json"), run, NULL, true, &why));
    check_file(path_of("run.json"), small_text);
    assert_true(runfile_load(&back, NULL, path_of("run.json"), &why));
    assert_true(back->info.is_loaded);
    back->info.is_loaded = false; // the one thing that is not in the file
    check_equal(run, back);
    run_destroy(back);
    run_destroy(run);
    assert_int_equal(unlink(path_of("run.json")), 0);
}

static void a_name_without_a_folder_is_saved_here(void **state) {
    (void)state;
    struct run *run = small_run();
    char here[4096];
    assert_non_null(getcwd(here, sizeof(here)));
    assert_int_equal(chdir(folder), 0);
    assert_true(runfile_save("run.json", run, NULL, true, &why));
    check_file("run.json", small_text);
    assert_int_equal(unlink("run.json"), 0);
    assert_int_equal(chdir(here), 0);
    run_destroy(run);
}

static void a_save_that_fails_leaves_the_old_file_and_no_part(void **state) {
    (void)state;
    struct run *run = small_run();
    struct rlimit kept, small;
    getrlimit(RLIMIT_FSIZE, &kept);
    write_file(path_of("run.json"), "old");
    signal(SIGXFSZ, SIG_IGN); // as a full disk: write() fails half-way
    small = (struct rlimit){1000, kept.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    bool done = runfile_save(path_of("run.json"), run, NULL, true, &why);
    setrlimit(RLIMIT_FSIZE, &kept);
    signal(SIGXFSZ, SIG_DFL);
    assert_false(done);
    assert_non_null(strstr(why.text, "run.part': File too large"));
    check_file(path_of("run.json"), "old");
    run->state = RUN_OPEN;
    assert_false(runfile_save(path_of("run.json"), run, NULL, true, &why));
    assert_non_null(strstr(why.text, "run.json: not saved: the run is still growing"));
    check_file(path_of("run.json"), "old");
    assert_int_equal(unlink(path_of("run.json")), 0);
    run_destroy(run);
}

static void a_full_disk_is_reported(void **state) {
    (void)state;
    if (mount("none", folder, "tmpfs", 0, "size=8k") != 0) {
        print_message("skipped: no tmpfs may be mounted here (%s)\n", strerror(errno));
        skip();
    }
    struct run *run = random_run(3, &(struct random_run_limits){.max_layers = 4});
    size_t bytes = 0;
    free(print(run, &bytes));
    bool done = runfile_save(path_of("run.json"), run, NULL, true, &why);
    bool is_clean = access(path_of("run.json"), F_OK) != 0;
    is_clean = is_clean && access(path_of("run.part"), F_OK) != 0;
    umount(folder);
    assert_true(bytes > 8192);
    assert_false(done);
    assert_true(is_clean);
    assert_non_null(strstr(why.text, "No space left on device"));
    run_destroy(run);
}

static void places_that_cannot_hold_a_file_are_named(void **state) {
    (void)state;
    struct run *run = small_run(), *back = NULL;
    assert_false(runfile_save(path_of("no/run.json"), run, NULL, true, &why));
    assert_non_null(strstr(why.text, "there is no folder '"));
    assert_false(runfile_save(folder, run, NULL, true, &why));
    assert_non_null(strstr(why.text, "is no plain file"));
    assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
    assert_false(runfile_save(path_of("pipe"), run, NULL, true, &why));
    assert_non_null(strstr(why.text, "is no plain file"));
    struct stat there;
    assert_int_equal(stat(path_of("pipe"), &there), 0);
    assert_true(S_ISFIFO(there.st_mode)); // a device must never be replaced
    assert_int_equal(unlink(path_of("pipe")), 0);
    assert_false(runfile_load(&back, NULL, path_of("none.json"), &why));
    assert_non_null(strstr(why.text, "none.json: cannot be opened: No such file or directory"));
    assert_false(runfile_load(&back, NULL, folder, &why));
    assert_null(back);
    write_file(path_of("large.json"), "{}");
    assert_int_equal(truncate(path_of("large.json"), (off_t)RUNFILE_MAX_BYTES + 1), 0);
    assert_false(runfile_load(&back, NULL, path_of("large.json"), &why));
    assert_non_null(strstr(why.text, "large.json: larger than the 262144 KiB"));
    assert_int_equal(unlink(path_of("large.json")), 0);
    run_destroy(run);
}

// What a classroom without the device replays must be what a device did.
static void the_runs_that_come_with_the_program_were_measured_on_a_device(void **state) {
    (void)state;
    glob_t found;
    assert_int_equal(glob(TOKENDRIP_SOURCE_DIR "/assets/runs/*.json", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 1);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct run *run = NULL;
        if (!runfile_load(&run, NULL, found.gl_pathv[i], &why))
            fail_msg("%s", why.text);
        assert_int_equal(run->info.origin, RUN_MEASURED);
        assert_int_equal(run->state, RUN_COMPLETE);
        assert_false(run->info.cold);
        assert_true(run->info.device_name[0] && run->info.driver[0] && run->info.date[0]);
        assert_true(run_stages_match_wall(run));
        run_destroy(run);
    }
    globfree(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_runs_that_come_with_the_program_were_measured_on_a_device),
        cmocka_unit_test(a_disturbed_run_keeps_its_ranges),
        cmocka_unit_test(a_small_run_is_printed_exactly_so),
        cmocka_unit_test(a_sweep_and_a_roofline_bound_are_kept_beside_the_run),
        cmocka_unit_test(a_sweep_that_is_wrong_is_not_saved),
        cmocka_unit_test(extras_cut_anywhere_are_refused),
        cmocka_unit_test(every_wrong_field_of_the_extras_is_refused_by_its_name),
        cmocka_unit_test(a_run_comes_back_whole_and_is_printed_alike_again),
        cmocka_unit_test(nanoseconds_are_exact_over_the_whole_range),
        cmocka_unit_test(every_byte_of_a_token_comes_back),
        cmocka_unit_test(only_runs_that_have_ended_are_printed),
        cmocka_unit_test(a_run_too_large_for_a_file_is_refused),
        cmocka_unit_test(the_events_say_the_same_as_the_run),
        cmocka_unit_test(what_is_unknown_is_left_out_of_the_events),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(any_byte_changed_is_refused_or_harmless),
        cmocka_unit_test(every_wrong_field_is_refused_by_its_name),
        cmocka_unit_test(a_complete_run_must_have_an_answer),
        cmocka_unit_test(unknown_keys_and_other_spacing_are_ignored),
        cmocka_unit_test(huge_counts_are_refused_before_memory_is_taken),
        cmocka_unit_test(nesting_too_deep_is_an_error_not_a_crash),
        cmocka_unit_test(memory_follows_what_is_there_not_what_is_promised),
        cmocka_unit_test_setup_teardown(a_saved_run_loads_again_and_replaces_what_was_there,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_name_without_a_folder_is_saved_here, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_save_that_fails_leaves_the_old_file_and_no_part,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(places_that_cannot_hold_a_file_are_named, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
