// What `measure` prints: every figure where it belongs, and nothing in the place
// of a figure that was not measured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/measure_cmd.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct measure_spread spread(int64_t median_ns) {
    return (struct measure_spread){median_ns, median_ns - 100003, median_ns + 200001, 20};
}

static const struct measure_spread no_spread = {-1, -1, -1, 0};

static void add_pass(struct run *run, int first, int columns, int64_t start_ns, int64_t step_ns) {
    struct run_pass pass = {.phase = first ? RUN_DECODE : RUN_PREFILL,
                            .first_column = first,
                            .column_count = columns,
                            .yields = run->answer_count,
                            .start_ns = start_ns};
    static const char *const words[] = {" Yes", " it", "\xE2\x80", "\x99", "s here", "</s>"};
    char why[256];
    int word = run->answer_count;
    assert_true(run_begin_pass(run, &pass, why));
    assert_true(
        run_add_answer_token(run, 10 + word, words[word], strlen(words[word]), word == 5, why));
    for (int mark = 1; mark <= 4; mark++)
        assert_true(run_add_mark(run, start_ns + mark * step_ns, why));
}

// Two prompt tokens, `answers` answer tokens of the words above.
static struct run *make_run(int answers) {
    struct run_info info = {.origin = RUN_MEASURED,
                            .device = "cpu",
                            .device_name = "Some \"Fast\" CPU, 2 GHz",
                            .model = "support-desk",
                            .weights = "bundled",
                            .weight_type = "F16",
                            .date = "2026-12-01T09:30:00Z",
                            .unit_ns = 1,
                            .threads = 2,
                            .layers = 2,
                            .heads = 1,
                            .kv_heads = 1,
                            .head_dim = 4,
                            .kv_value_bytes = 4,
                            .prompt_tokens = 2,
                            .answer_limit = 6};
    struct run *run = NULL;
    char why[256];
    assert_true(run_create(&run, &info, 1, why));
    assert_true(run_add_prompt_token(run, 1, "<s>", 3, true, why));
    assert_true(run_add_prompt_token(run, 2, " Is", 3, false, why));
    add_pass(run, 0, 2, 0, 1000000);
    for (int i = 1; i < answers; i++)
        add_pass(run, 1 + i, 1, 4000000 + (i - 1) * 2000000, 500000);
    run_close(run, RUN_COMPLETE);
    return run;
}

static struct measure_result make_result(int answers) {
    struct measure_result result = {
        .prefill = spread(9600123),
        .step = answers > 1 ? spread(3000000) : no_spread,
        .ttft = spread(9700000),
        .tpot = answers > 1 ? spread(3300456) : no_spread,
        .e2e = spread(29500000),
        .repeats = 20,
        .warmups = 6,
        .settled = true,
        .stages_match = true,
        .prefill_checked = true,
        .involuntary_switches = 3,
    };
    result.cold = make_run(answers);
    result.shown = make_run(answers);
    return result;
}

static char *printed(void (*print)(FILE *, const struct measure_result *),
                     const struct measure_result *result) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    print(out, result);
    fclose(out);
    return text;
}

static void print_json(FILE *out, const struct measure_result *result) {
    assert_true(measure_print_json(out, result));
}

static void print_answer(FILE *out, const struct measure_result *result) {
    measure_print_answer(out, result->shown);
}

static void assert_spread(const json_t *object, const char *name,
                          const struct measure_spread *expected) {
    const json_t *found = json_object_get(object, name);
    const struct {
        const char *key;
        int64_t ns;
    } parts[] = {
        {"median", expected->median_ns}, {"p10", expected->p10_ns}, {"p90", expected->p90_ns}};
    assert_int_equal(json_object_size(found), 3);
    for (int i = 0; i < 3; i++) {
        const json_t *part = json_object_get(found, parts[i].key);
        if (expected->count == 0) {
            assert_true(json_is_null(part));
            continue;
        }
        assert_true(json_is_real(part));
        // To the nanosecond.
        assert_int_equal(llround(json_real_value(part) * 1e6), parts[i].ns);
    }
}

static void the_json_has_the_documented_keys_and_nothing_else(void **state) {
    (void)state;
    struct measure_result result = make_result(6);
    char *text = printed(print_json, &result);
    json_error_t error;
    json_t *object = json_loads(text, 0, &error);
    assert_non_null(object);
    assert_int_equal(json_object_size(object), 6);
    const json_t *run = json_object_get(object, "run");
    assert_int_equal(json_object_size(run), 10);
    static const struct {
        const char *key, *value;
    } texts[] = {{"device", "cpu"},         {"device_name", "Some \"Fast\" CPU, 2 GHz"},
                 {"model", "support-desk"}, {"weights", "bundled"},
                 {"type", "F16"},           {"date", "2026-12-01T09:30:00Z"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_string_equal(json_string_value(json_object_get(run, texts[i].key)), texts[i].value);
    assert_int_equal(json_integer_value(json_object_get(run, "threads")), 2);
    assert_int_equal(json_integer_value(json_object_get(run, "prompt_tokens")), 2);
    assert_int_equal(json_integer_value(json_object_get(run, "answer_tokens")), 6);
    assert_int_equal(json_integer_value(json_object_get(run, "repeats")), 20);
    assert_spread(object, "prefill_ms", &result.prefill);
    assert_spread(object, "step_ms", &result.step);
    assert_spread(object, "ttft_ms", &result.ttft);
    assert_spread(object, "tpot_ms", &result.tpot);
    assert_spread(object, "e2e_ms", &result.e2e);
    // A number as people write it.
    assert_non_null(strstr(text, "\"median\": 9.600123,"));
    json_decref(object);
    free(text);
    measure_clear(&result);
}

static struct floors some_floors(void) {
    return (struct floors){
        .is_measured = true,
        .rates = {.read_bytes_s = 21.5e9, .matrix_flop_s = 100.25e9},
        .prefill = {.bytes = 5.5e6, .flop = 93.5e6, .floor_ns = 932000, .share = 0.5},
        .decode = {
            .bytes = 5.75e6, .flop = 5.25e6, .floor_ns = 267000, .share = 0.75, .is_read = true}};
}

static void floors_are_shown_where_they_were_measured(void **state) {
    (void)state;
    struct measure_result result = make_result(6);
    char *table = printed(measure_print_table, &result);
    assert_null(strstr(table, "floor"));
    free(table);
    result.floors = some_floors();
    table = printed(measure_print_table, &result);
    static const char *const says[] = {
        "prefill       0.932                5.50      93.50  multiplying\n",
        "step          0.267                5.75       5.25  reading\n",
        "share of the floor reached: prefill 50 %, step 75 %\n",
        "reads 21.5 GB/s from memory, multiplies at 100.2 GFLOP/s\n",
    };
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        if (!strstr(table, says[i]))
            fail_msg("no \"%s\" in\n%s", says[i], table);
    }
    free(table);
    result.floors.rates.is_cached = true;
    table = printed(measure_print_table, &result);
    assert_non_null(strstr(table, "from its cache"));
    free(table);
    measure_clear(&result);
}

static void the_json_has_floors_where_they_were_measured(void **state) {
    (void)state;
    struct measure_result result = make_result(6);
    result.floors = some_floors();
    result.floors.decode.share = -1; // one answer token has no step
    char *text = printed(print_json, &result);
    json_t *object = json_loads(text, 0, NULL);
    assert_int_equal(json_object_size(object), 7);
    const json_t *floor = json_object_get(object, "floor");
    assert_int_equal(json_object_size(floor), 4);
    assert_true(json_real_value(json_object_get(floor, "read_gb_s")) == 21.5);
    assert_true(json_real_value(json_object_get(floor, "matrix_gflop_s")) == 100.25);
    assert_true(json_real_value(json_object_get(floor, "prefill_share")) == 0.5);
    assert_true(json_is_null(json_object_get(floor, "decode_share")));
    json_decref(object);
    free(text);
    measure_clear(&result);
}

static void what_was_not_measured_is_null_empty_or_words_but_never_0(void **state) {
    (void)state;
    struct measure_result result = make_result(1);
    result.shown->info.threads = 0;
    char *text = printed(print_json, &result);
    json_t *object = json_loads(text, 0, NULL);
    assert_spread(object, "tpot_ms", &no_spread);
    assert_spread(object, "step_ms", &no_spread);
    assert_true(json_is_null(json_object_get(json_object_get(object, "run"), "threads")));
    json_decref(object);
    free(text);

    char *csv = printed(measure_print_csv, &result);
    assert_non_null(strstr(csv, "\ntpot_ms,,,,0,"));
    free(csv);

    char *table = printed(measure_print_table, &result);
    const char *row = strstr(table, "\nTPOT ");
    assert_non_null(row);
    char figures[48]; // of the line, without what it means
    snprintf(figures, sizeof figures, "%s", row + 1);
    assert_non_null(strstr(figures, "not measured"));
    assert_null(strpbrk(figures, "0123456789"));
    assert_non_null(strstr(table, "TPOT not measured, E2E 4.000 ms"));
    free(table);
    measure_clear(&result);
}

static void the_table_says_what_ran_how_often_and_how_sure_it_is(void **state) {
    static const char *const says[] = {
        "support-desk (bundled), F16 weights\n",
        "cpu: Some \"Fast\" CPU, 2 GHz, 2 threads\n",
        "2 prompt tokens, 6 answer tokens\n",
        "20 warm runs after 6 warm-ups",
        "TTFT          9.700      9.600      9.900      20",
        "TPOT          3.300      3.200      3.500      20",
        "E2E          29.500     29.400     29.700      20",
        "prefill       9.600      9.500      9.800      20",
        "step          3.000      2.900      3.200      20",
        "cold run (the first one, not among them): TTFT 4.000 ms, TPOT 2.000 ms, E2E 14.000 ms\n",
        "warm-up: two medians agreed",
        "stages: the layers add up",
        "prefill check: same logits",
        "taken off a processor 3 times",
    };
    (void)state;
    struct measure_result result = make_result(6);
    char *table = printed(measure_print_table, &result);
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        if (!strstr(table, says[i]))
            fail_msg("no \"%s\" in\n%s", says[i], table);
    }
    free(table);
    result.settled = result.stages_match = result.prefill_checked = false;
    table = printed(measure_print_table, &result);
    assert_non_null(strstr(table, "ended before two medians agreed"));
    assert_non_null(strstr(table, "stages: INVALID"));
    assert_non_null(strstr(table, "prefill check: not made"));
    free(table);
    measure_clear(&result);
}

// Fields of a CSV line, quotes respected.
static int count_fields(const char *line) {
    int fields = 1;
    bool quoted = false;
    for (; *line && *line != '\n'; line++) {
        quoted ^= *line == '"';
        fields += *line == ',' && !quoted;
    }
    return fields;
}

static void the_csv_has_a_line_a_figure_with_all_its_columns(void **state) {
    static const char *const names[] = {"figure,", "ttft_ms,",    "tpot_ms,",
                                        "e2e_ms,", "prefill_ms,", "step_ms,"};
    (void)state;
    struct measure_result result = make_result(6);
    char *csv = printed(measure_print_csv, &result);
    const char *line = csv;
    int columns = count_fields(csv);
    assert_int_equal(columns, 15);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(strncmp(line, names[i], strlen(names[i])), 0);
        assert_int_equal(count_fields(line), columns);
        line = strchr(line, '\n') + 1;
    }
    assert_string_equal(line, "");
    assert_non_null(strstr(csv, "prefill_ms,9.600123,9.500120,9.800124,20,2,6,20,2,cpu,"
                                "\"Some \"\"Fast\"\" CPU, 2 GHz\",support-desk,bundled,F16,"
                                "2026-12-01T09:30:00Z\n"));
    free(csv);
    measure_clear(&result);
}

static void the_answer_alone_reads_as_a_sentence(void **state) {
    (void)state;
    struct measure_result result = make_result(6);
    char *text = printed(print_answer, &result);
    // No space before it, the split character whole, no end token.
    assert_string_equal(text, "Yes it\xE2\x80\x99s here\n");
    free(text);
    measure_clear(&result);
}

static void a_file_that_cannot_be_written_is_refused_before_anything_is_measured(void **state) {
    (void)state;
    struct options options = {.json_path = "/nonexistent-folder/a.json", .is_quiet = true};
    char why[256] = "";
    // There is no model to open either: its complaint would come later.
    setenv("TOKENDRIP_ASSETS", "/nonexistent-folder", 1);
    assert_int_equal(measure_command(&options, why), EXIT_FAILED);
    assert_non_null(strstr(why, "there is no folder"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_json_has_the_documented_keys_and_nothing_else),
        cmocka_unit_test(floors_are_shown_where_they_were_measured),
        cmocka_unit_test(the_json_has_floors_where_they_were_measured),
        cmocka_unit_test(what_was_not_measured_is_null_empty_or_words_but_never_0),
        cmocka_unit_test(the_table_says_what_ran_how_often_and_how_sure_it_is),
        cmocka_unit_test(the_csv_has_a_line_a_figure_with_all_its_columns),
        cmocka_unit_test(the_answer_alone_reads_as_a_sentence),
        cmocka_unit_test(a_file_that_cannot_be_written_is_refused_before_anything_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
