// What `measure` prints: every figure where it belongs, and nothing in the place
// of a figure that was not measured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/command/measure.h"
#include "compute/base/why.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct spread spread(int64_t median_ns) {
    return (struct spread){median_ns, median_ns - 100003, median_ns + 200001, 20};
}

static const struct spread no_spread = {-1, -1, -1, 0};

static void add_pass(struct run *run, int first, int columns, int64_t start_ns, int64_t step_ns) {
    struct run_pass pass = {.phase = first ? RUN_DECODE : RUN_PREFILL,
                            .first_column = first,
                            .column_count = columns,
                            .yields = run->answer_count,
                            .start_ns = start_ns};
    static const char *const words[] = {" Yes", " it", "\xE2\x80", "\x99", "s here", "</s>"};
    struct why why;
    int word = run->answer_count;
    assert_true(run_begin_pass(run, &pass, &why));
    assert_true(
        run_add_answer_token(run, 10 + word, words[word], strlen(words[word]), word == 5, &why));
    for (int mark = 1; mark <= 4; mark++)
        assert_true(run_add_mark(run, start_ns + mark * step_ns, &why));
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
    struct why why;
    assert_true(run_create(&run, &info, 1, &why));
    assert_true(run_add_prompt_token(run, 1, "<s>", 3, true, &why));
    assert_true(run_add_prompt_token(run, 2, " Is", 3, false, &why));
    add_pass(run, 0, 2, 0, 1000000);
    for (int i = 1; i < answers; i++)
        add_pass(run, 1 + i, 1, 4000000 + (i - 1) * 2000000, 500000);
    run_close(run, RUN_COMPLETE);
    return run;
}

static struct measured make_result(int answers) {
    struct measured all = {0};
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
        .disturbance = {.switches = 3, .threads = 2, .measured_ns = 1000000000},
    };
    result.cold = make_run(answers);
    result.shown = make_run(answers);
    all.result = result;
    return all;
}

static char *printed(void (*print)(FILE *, const struct measured *),
                     const struct measured *result) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    print(out, result);
    fclose(out);
    return text;
}

static void print_json(FILE *out, const struct measured *result) {
    assert_true(measure_print_json(out, result));
}

static void print_answer(FILE *out, const struct measured *result) {
    measure_print_answer(out, result->result.shown);
}

static void assert_spread(const json_t *object, const char *name, const struct spread *expected) {
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
    struct measured all = make_result(6);
    char *text = printed(print_json, &all);
    json_error_t error;
    json_t *object = json_loads(text, 0, &error);
    assert_non_null(object);
    assert_int_equal(json_object_size(object), 6);
    const json_t *run = json_object_get(object, "run");
    assert_int_equal(json_object_size(run), 12);
    assert_true(json_is_false(json_object_get(run, "disturbed")));
    assert_int_equal(json_array_size(json_object_get(run, "disturbed_by")), 0);
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
    assert_spread(object, "prefill_ms", &all.result.prefill);
    assert_spread(object, "step_ms", &all.result.step);
    assert_spread(object, "ttft_ms", &all.result.ttft);
    assert_spread(object, "tpot_ms", &all.result.tpot);
    assert_spread(object, "e2e_ms", &all.result.e2e);
    // A number as people write it.
    assert_non_null(strstr(text, "\"median\": 9.600123,"));
    json_decref(object);
    free(text);
    measure_clear(&all.result);
}

static void a_disturbed_measurement_says_so_in_every_form(void **state) {
    (void)state;
    struct measured all = make_result(6);
    char *table = printed(measure_print_table, &all);
    assert_null(strstr(table, "DISTURBED"));
    free(table);
    all.result.shown->info.is_disturbed = true;
    all.result.disturbance.step_ratio = 2;
    all.result.disturbance.switches = 500;
    table = printed(measure_print_table, &all);
    assert_non_null(strstr(table, "DISTURBED by other work (spread, switches): measure again."));
    free(table);
    char *csv = printed(measure_print_csv, &all);
    assert_non_null(strstr(csv, ",type,date,disturbed\n"));
    assert_non_null(strstr(csv, "T09:30:00Z,1\n"));
    assert_null(strstr(csv, "T09:30:00Z,0\n"));
    free(csv);
    char *text = printed(print_json, &all);
    json_t *object = json_loads(text, 0, NULL);
    const json_t *run = json_object_get(object, "run");
    const json_t *signs = json_object_get(run, "disturbed_by");
    assert_true(json_is_true(json_object_get(run, "disturbed")));
    assert_int_equal(json_array_size(signs), 2);
    assert_string_equal(json_string_value(json_array_get(signs, 1)), "switches");
    json_decref(object);
    free(text);
    measure_clear(&all.result);
}

static struct roofline some_roofline(void) {
    return (struct roofline){
        .is_measured = true,
        .rates = {.read_bytes_s = 21.5e9, .matrix_flop_s = 100.25e9},
        .prefill = {.bytes = 5.5e6, .flop = 93.5e6, .bound_ns = 932000, .share = 0.5},
        .decode = {
            .bytes = 5.75e6, .flop = 5.25e6, .bound_ns = 267000, .share = 0.75, .is_read = true}};
}

static void the_roofline_bound_is_shown_where_it_was_measured(void **state) {
    (void)state;
    struct measured all = make_result(6);
    char *table = printed(measure_print_table, &all);
    assert_null(strstr(table, "floor"));
    free(table);
    all.result.roofline = some_roofline();
    table = printed(measure_print_table, &all);
    static const char *const says[] = {
        "prefill       0.932                5.50      93.50  multiplying\n",
        "step          0.267                5.75       5.25  reading\n",
        "the floor's share of the time: prefill 50 %, step 75 %\n",
        "reads 21.5 GB/s from memory, multiplies at 100.2 GFLOP/s\n",
    };
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        if (!strstr(table, says[i]))
            fail_msg("no \"%s\" in\n%s", says[i], table);
    }
    free(table);
    all.result.roofline.rates.is_cached = true;
    table = printed(measure_print_table, &all);
    assert_non_null(strstr(table, "from its cache"));
    free(table);
    measure_clear(&all.result);
}

static void the_json_has_the_roofline_bound_where_it_was_measured(void **state) {
    (void)state;
    struct measured all = make_result(6);
    all.result.roofline = some_roofline();
    all.result.roofline.decode.share = -1; // one answer token has no step
    char *text = printed(print_json, &all);
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
    measure_clear(&all.result);
}

// --- The sweep ---

// Flat at 5 ms up to 250 tokens, then 20 us a token; steps of 4 ms and 1 us a token.
static struct sweep some_sweep(void) {
    struct sweep sweep = {0};
    for (int tokens = 1; tokens <= 1024; tokens *= 2) {
        int64_t prefill_ns = tokens < 250 ? 5000000 : 20000 * tokens;
        int64_t step_ns = 4000000 + 1000 * tokens;
        sweep.prefill[sweep.prefill_count++] = (struct sweep_point){
            tokens, prefill_ns, prefill_ns * 99 / 100, prefill_ns * 101 / 100, 5};
        sweep.step[sweep.step_count++] = (struct sweep_point){
            tokens, step_ns, step_ns - step_ns / 1000, step_ns + step_ns / 1000, 15};
    }
    return sweep;
}

// The figures above are not what these tests are about; a message holds 1 KiB.
static void assert_says(const char *table, const char *says) {
    const char *text = strstr(table, "warm runs\n");
    text = text ? text : table;
    if (!strstr(text, says))
        fail_msg("no \"%s\" in\n%s", says, strlen(text) > 900 ? text + strlen(text) - 900 : text);
}

static void a_sweep_is_two_tables_and_its_fits_in_words(void **state) {
    (void)state;
    struct measured all = make_result(6);
    char *table = printed(measure_print_table, &all);
    assert_null(strstr(table, "by prompt length"));
    free(table);
    all.sweep = some_sweep();
    table = printed(measure_print_table, &all);
    assert_says(table, "\nprefill by prompt length\ntokens    median ms        p10        p90   "
                       "count\n1             5.000      4.950      5.050       5\n");
    assert_says(table,
                "\n1024         20.480     20.275     20.685       5\nflat at 5.0000 +- 0.00");
    assert_says(table, " ms up to 250.0 +- ");
    assert_says(table, " tokens, then 20.00 +- 0.");
    assert_says(table, "\nstep by tokens in the KV cache\n");
    assert_says(table, "\n4.00000 +- 0.000");
    assert_says(table, " ms and 1.0000 +- 0.00");
    assert_says(table, " us a token of context\n");
    assert_null(strstr(table, "bend upward"));
    free(table);
    measure_clear(&all.result);
}

static void what_a_sweep_cannot_tell_is_said(void **state) {
    (void)state;
    struct measured all = make_result(6);
    all.sweep = some_sweep();
    for (int i = 0; i < all.sweep.prefill_count; i++) { // a line, and steps all alike
        struct sweep_point *p = &all.sweep.prefill[i], *s = &all.sweep.step[i];
        *p = (struct sweep_point){p->tokens, 20000 * p->tokens, 19800 * p->tokens,
                                  20200 * p->tokens, 5};
        *s = (struct sweep_point){s->tokens, 4000000, 3990000, 4010000, 15};
    }
    char *table = printed(measure_print_table, &all);
    assert_says(table, "\nno flat part on this device: 20.000 +- 0.0");
    assert_says(table, "\nflat within 5 % at 4.000");
    assert_says(table, " ms up to 1024 tokens\n");
    free(table);
    char *text = printed(print_json, &all);
    json_t *object = json_loads(text, 0, NULL), *fits = json_object_get(object, "fits");
    const json_t *prefill = json_object_get(fits, "prefill"), *step = json_object_get(fits, "step");
    assert_true(json_is_null(json_object_get(prefill, "floor_ms")));
    assert_true(json_is_null(json_object_get(prefill, "knee_tokens")));
    assert_true(json_is_null(json_object_get(step, "slope_ms_per_token")));
    assert_true(json_is_real(json_object_get(step, "base_ms")));
    json_decref(object);
    free(text);
    for (int i = 0; i < all.sweep.prefill_count; i++)
        all.sweep.prefill[i] = (struct sweep_point){1 << i, 4000000, 3990000, 4010000, 15};
    table = printed(measure_print_table, &all);
    assert_says(table, "\nflat within 5 % at 4.000");
    assert_null(strstr(table, "noise"));
    free(table);
    for (int i = 0; i < all.sweep.prefill_count; i++) { // noise of a fifth of the time
        struct sweep_point *p = &all.sweep.prefill[i], *s = &all.sweep.step[i];
        int64_t ns = i % 3 == 1 ? 3600000 : i % 3 ? 4400000 : 4000000;
        *p = *s = (struct sweep_point){1 << i, ns, ns * 9 / 10, ns * 11 / 10, 15};
    }
    table = printed(measure_print_table, &all);
    assert_says(table, " ms; noise hides what a token of the prompt adds up to 1024 tokens\n");
    assert_says(table, " ms; noise hides what a token of context adds up to 1024 tokens\n");
    assert_null(strstr(table, "flat"));
    free(table);
    for (int i = 0; i < all.sweep.prefill_count; i++) { // a bend: 100 ns more a token squared
        int64_t ns = 20000 * (1 << i) + 100 * ((int64_t)1 << 2 * i);
        all.sweep.prefill[i] = (struct sweep_point){1 << i, ns, ns * 99 / 100, ns * 101 / 100, 5};
    }
    table = printed(measure_print_table, &all);
    assert_says(table, " tokens take more than that: they bend upward\n");
    free(table);
    all.sweep.prefill_count = 2;
    all.sweep.step_count = 2;
    table = printed(measure_print_table, &all);
    assert_says(table, "\ntoo few lengths for a fit\n");
    free(table);
    text = printed(print_json, &all);
    object = json_loads(text, 0, NULL);
    assert_true(json_is_null(json_object_get(json_object_get(object, "fits"), "prefill")));
    assert_true(json_is_null(json_object_get(json_object_get(object, "fits"), "step")));
    json_decref(object);
    free(text);
    measure_clear(&all.result);
}

static void a_disturbed_sweep_has_its_points_and_no_fit(void **state) {
    (void)state;
    struct measured all = make_result(6);
    all.sweep = some_sweep();
    for (int i = 0; i < 3; i++) // of 11 lengths
        all.sweep.prefill[i].median_ns = all.sweep.prefill[i].p90_ns =
            all.sweep.prefill[i].p10_ns * 8 / 5;
    char *table = printed(measure_print_table, &all);
    assert_says(table, "\ndisturbed at 3 of 11 lengths: nothing is concluded, measure again\n");
    assert_null(strstr(table, "flat at"));
    assert_says(table, " us a token of context\n");
    free(table);
    char *text = printed(print_json, &all);
    json_t *object = json_loads(text, 0, NULL), *fits = json_object_get(object, "fits");
    const json_t *disturbed = json_object_get(object, "disturbed_lengths");
    assert_int_equal(json_integer_value(json_object_get(disturbed, "prefill")), 3);
    assert_int_equal(json_integer_value(json_object_get(disturbed, "step")), 0);
    assert_true(json_is_null(json_object_get(fits, "prefill")));
    assert_true(json_is_object(json_object_get(fits, "step")));
    json_decref(object);
    free(text);
    measure_clear(&all.result);
}

static void the_json_of_a_sweep_has_its_points_and_fits(void **state) {
    (void)state;
    struct measured all = make_result(6);
    all.sweep = some_sweep();
    char *text = printed(print_json, &all);
    json_t *object = json_loads(text, 0, NULL);
    assert_int_equal(json_object_size(object), 10);
    static const char *const lists[] = {"prefill_by_length", "step_by_context"};
    for (int i = 0; i < 2; i++) {
        const json_t *list = json_object_get(object, lists[i]);
        const struct sweep_point *points = i ? all.sweep.step : all.sweep.prefill;
        assert_int_equal(json_array_size(list), 11);
        for (size_t k = 0; k < 11; k++) {
            const json_t *point = json_array_get(list, k);
            assert_int_equal(json_object_size(point), 4);
            assert_int_equal(json_integer_value(json_object_get(point, "tokens")), 1 << k);
            assert_int_equal(llround(json_real_value(json_object_get(point, "median")) * 1e6),
                             points[k].median_ns);
            assert_int_equal(llround(json_real_value(json_object_get(point, "p10")) * 1e6),
                             points[k].p10_ns);
            assert_int_equal(llround(json_real_value(json_object_get(point, "p90")) * 1e6),
                             points[k].p90_ns);
        }
    }
    const json_t *fits = json_object_get(object, "fits");
    const json_t *prefill = json_object_get(fits, "prefill"), *step = json_object_get(fits, "step");
    assert_int_equal(json_object_size(prefill), 8);
    assert_int_equal(json_object_size(step), 5);
    const struct {
        const json_t *fit;
        const char *key;
        double value;
    } rows[] = {
        {prefill, "floor_ms", 5},  {prefill, "slope_ms_per_token", 0.02},
        {prefill, "offset_ms", 0}, {prefill, "knee_tokens", 250},
        {step, "base_ms", 4},      {step, "slope_ms_per_token", 0.001},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double found = json_real_value(json_object_get(rows[i].fit, rows[i].key));
        if (fabs(found - rows[i].value) > 1e-3 * rows[i].value + 1e-6)
            fail_msg("%s is %g", rows[i].key, found);
    }
    assert_int_equal(json_integer_value(json_object_get(prefill, "longest_tokens")), 1024);
    json_decref(object);
    free(text);
    measure_clear(&all.result);
}

static void what_marks_cost_is_a_ratio_within_each_turn(void **state) {
    (void)state;
    struct measured all = make_result(6);
    // The device becomes slower and slower; the ratio of each turn is the same.
    int64_t steps_ns[OVERHEAD_KINDS][OVERHEAD_TURNS];
    for (int turn = 0; turn < OVERHEAD_TURNS; turn++) {
        steps_ns[0][turn] = 1000000 * (turn + 1);
        steps_ns[1][turn] = 1010000 * (turn + 1);
        steps_ns[2][turn] = (turn == 3 ? 2000000 : 1030000) * (turn + 1);
    }
    overhead_sum_up(&all.overhead, steps_ns, OVERHEAD_TURNS, 8);
    static const int marks[] = {0, 2, 9};
    static const double ratios[] = {1, 1.01, 1.03};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(all.overhead.kinds[i].marks, marks[i]);
        assert_true(fabs(all.overhead.kinds[i].ratio - ratios[i]) < 1e-9);
        assert_true(fabs(all.overhead.kinds[i].ratio_p10 - ratios[i]) < 1e-9);
    }
    assert_true(fabs(all.overhead.kinds[2].ratio_p90 - 2) < 1e-9);
    char *table = printed(measure_print_table, &all);
    assert_says(table, "\n9             6.180      1.030      1.030      2.000\n");
    assert_says(table, "without marks of the same turn, 9 turns\n");
    free(table);
    char *text = printed(print_json, &all);
    json_t *object = json_loads(text, 0, NULL);
    const json_t *list = json_object_get(object, "observer");
    assert_int_equal(json_array_size(list), 3);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 1), "marks")), 2);
    assert_true(fabs(json_real_value(json_object_get(json_array_get(list, 1), "ratio")) - 1.01) <
                1e-9);
    json_decref(object);
    free(text);
    measure_clear(&all.result);
}

static void what_was_not_measured_is_null_empty_or_words_but_never_0(void **state) {
    (void)state;
    struct measured all = make_result(1);
    all.result.shown->info.threads = 0;
    char *text = printed(print_json, &all);
    json_t *object = json_loads(text, 0, NULL);
    assert_spread(object, "tpot_ms", &no_spread);
    assert_spread(object, "step_ms", &no_spread);
    assert_true(json_is_null(json_object_get(json_object_get(object, "run"), "threads")));
    json_decref(object);
    free(text);

    char *csv = printed(measure_print_csv, &all);
    assert_non_null(strstr(csv, "\ntpot_ms,,,,0,"));
    free(csv);

    char *table = printed(measure_print_table, &all);
    const char *row = strstr(table, "\nTPOT ");
    assert_non_null(row);
    char figures[48]; // of the line, without what it means
    snprintf(figures, sizeof figures, "%s", row + 1);
    assert_non_null(strstr(figures, "not measured"));
    assert_null(strpbrk(figures, "0123456789"));
    assert_non_null(strstr(table, "TPOT not measured, E2E 4.000 ms"));
    free(table);
    measure_clear(&all.result);
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
    struct measured all = make_result(6);
    char *table = printed(measure_print_table, &all);
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        if (!strstr(table, says[i]))
            fail_msg("no \"%s\" in\n%s", says[i], table);
    }
    free(table);
    all.result.settled = all.result.stages_match = all.result.prefill_checked = false;
    table = printed(measure_print_table, &all);
    assert_non_null(strstr(table, "ended before two medians agreed"));
    assert_non_null(strstr(table, "stages: INVALID"));
    assert_non_null(strstr(table, "prefill check: not made"));
    free(table);
    all.result.shown->info.prompt_tokens = all.result.repeats = all.result.warmups = 1;
    table = printed(measure_print_table, &all);
    assert_non_null(strstr(table, "\n1 prompt token, "));
    assert_non_null(strstr(table, "\n1 warm run after 1 warm-up, "));
    free(table);
    measure_clear(&all.result);
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
    struct measured all = make_result(6);
    char *csv = printed(measure_print_csv, &all);
    const char *line = csv;
    int columns = count_fields(csv);
    assert_int_equal(columns, 16);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(strncmp(line, names[i], strlen(names[i])), 0);
        assert_int_equal(count_fields(line), columns);
        line = strchr(line, '\n') + 1;
    }
    assert_string_equal(line, "");
    assert_non_null(strstr(csv, "prefill_ms,9.600123,9.500120,9.800124,20,2,6,20,2,cpu,"
                                "\"Some \"\"Fast\"\" CPU, 2 GHz\",support-desk,bundled,F16,"
                                "2026-12-01T09:30:00Z,0\n"));
    free(csv);
    all.sweep = some_sweep();
    csv = printed(measure_print_csv, &all);
    int lines = 0;
    for (line = csv; *line; line = strchr(line, '\n') + 1) {
        assert_int_equal(count_fields(line), columns);
        lines++;
    }
    assert_int_equal(lines, 6 + 2 * 11);
    assert_non_null(strstr(csv, "\nprefill_by_length_ms,20.480000,20.275200,20.684800,5,1024,,5,2,"
                                "cpu,\"Some \"\"Fast\"\" CPU, 2 GHz\",support-desk,"));
    assert_non_null(strstr(csv, "\nstep_by_context_ms,4.001000,3.996999,4.005001,15,1,,15,2,cpu,"));
    free(csv);
    measure_clear(&all.result);
}

static void the_answer_alone_reads_as_a_sentence(void **state) {
    (void)state;
    struct measured all = make_result(6);
    char *text = printed(print_answer, &all);
    // No space before it, the split character whole, no end token.
    assert_string_equal(text, "Yes it\xE2\x80\x99s here\n");
    free(text);
    measure_clear(&all.result);
}

static void a_file_that_cannot_be_written_is_refused_before_anything_is_measured(void **state) {
    (void)state;
    struct options options = {.json_path = "/nonexistent-folder/a.json", .is_quiet = true};
    struct why why = {0};
    // There is no model to open either: its complaint would come later.
    setenv("TOKENDRIP_ASSETS", "/nonexistent-folder", 1);
    assert_int_equal(measure_command(&options, &why), EXIT_FAILED);
    assert_non_null(strstr(why.text, "there is no folder"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_json_has_the_documented_keys_and_nothing_else),
        cmocka_unit_test(the_roofline_bound_is_shown_where_it_was_measured),
        cmocka_unit_test(the_json_has_the_roofline_bound_where_it_was_measured),
        cmocka_unit_test(a_sweep_is_two_tables_and_its_fits_in_words),
        cmocka_unit_test(what_a_sweep_cannot_tell_is_said),
        cmocka_unit_test(a_disturbed_sweep_has_its_points_and_no_fit),
        cmocka_unit_test(the_json_of_a_sweep_has_its_points_and_fits),
        cmocka_unit_test(what_marks_cost_is_a_ratio_within_each_turn),
        cmocka_unit_test(what_was_not_measured_is_null_empty_or_words_but_never_0),
        cmocka_unit_test(the_table_says_what_ran_how_often_and_how_sure_it_is),
        cmocka_unit_test(a_disturbed_measurement_says_so_in_every_form),
        cmocka_unit_test(the_csv_has_a_line_a_figure_with_all_its_columns),
        cmocka_unit_test(the_answer_alone_reads_as_a_sentence),
        cmocka_unit_test(a_file_that_cannot_be_written_is_refused_before_anything_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
