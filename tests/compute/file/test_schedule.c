// Tests of schedule.h: the two schedules that come with the program give their
// exact figures in both countings, texts fill any length by the written rule, and
// every wrong file is refused by line and column or by the name of the field.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "compute/file/schedule.h"
#include "compute/run/moment.h"
#include "compute/run/recount.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIGITS_64 "0123456789012345678901234567890123456789012345678901234567890123"

enum { MS = 1000000 };

static struct why why;

static struct schedule load(const char *name) {
    char path[512];
    snprintf(path, sizeof(path), "%s/assets/schedules/%s.json", TOKENDRIP_SOURCE_DIR, name);
    struct schedule schedule;
    if (!schedule_load(&schedule, path, &why))
        fail_msg("%s", why.text);
    return schedule;
}

static struct run *make(const struct schedule *schedule, enum run_counting counting, int prompt,
                        int answer) {
    struct run *run = NULL;
    if (!schedule_run(&run, schedule, counting, prompt, answer, &why))
        fail_msg("%s", why.text);
    assert_true(run_validate(run, &why));
    assert_int_equal(run->state, RUN_COMPLETE);
    return run;
}

static struct schedule parse(const char *json) {
    struct schedule schedule;
    if (!schedule_parse(&schedule, "test.json", json, strlen(json), &why))
        fail_msg("%s", why.text);
    return schedule;
}

// --- Exact figures ---

static void module_7_charged_gives_72_97_and_247_units(void **state) {
    (void)state;
    struct schedule schedule = load("module-7");
    struct run *run = make(&schedule, RUN_CHARGED, 0, 0);
    assert_int_equal(schedule.unit_ns, MS);
    assert_string_equal(run->info.unit, "units");
    assert_string_equal(run->info.model, "module-7");
    assert_int_equal(run->info.origin, RUN_LESSON);
    assert_int_equal(run->info.layers, 8);
    assert_int_equal(run->prompt_count, 18);
    assert_int_equal(run_answers_seen(run), 7);
    assert_int_equal(run_prefill_ns(run), 72 * MS);
    for (int i = 0; i < 7; i++)
        assert_int_equal(run_answer_ns(run, i), (97 + 25 * i) * MS);
    assert_int_equal(run_e2e_ns(run), 247 * MS);
    assert_int_equal(run_tpot_ns(run), 25 * MS);
    assert_int_equal(run_events(run), 9);
    assert_int_equal(run_moment_at(run, 72 * MS - 1).cache_entries, 0);
    assert_int_equal(run_moment_at(run, 72 * MS).cache_entries, 18);
    for (int i = 0; i < 7; i++) // the charged step adds nothing, then one each
        assert_int_equal(run_moment_at(run, (97 + 25 * i) * MS).cache_entries, 18 + i);
    assert_int_equal(run->passes[1].column_count, 0);
    assert_int_equal(run->passes[1].first_column, 18);
    assert_true(run_stages_match_wall(run));
    run_destroy(run);
    schedule_clear(&schedule);
}

static void module_7_in_engine_counting_gives_72_and_222_units(void **state) {
    (void)state;
    struct schedule schedule = load("module-7");
    struct run *run = make(&schedule, RUN_ENGINE, 0, 0);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(run_answer_ns(run, i), (72 + 25 * i) * MS);
        assert_int_equal(run_moment_at(run, (72 + 25 * i) * MS).cache_entries, 18 + i);
    }
    assert_int_equal(run_ttft_ns(run), run_prefill_ns(run));
    assert_int_equal(run_e2e_ns(run), 222 * MS);
    assert_int_equal(run_tpot_ns(run), 25 * MS);
    assert_int_equal(run_events(run), 8);
    run_destroy(run);
    schedule_clear(&schedule);
}

static void stage_0_gives_120_ms_and_4_seconds_of_decode(void **state) {
    (void)state;
    struct schedule schedule = load("stage-0");
    struct run *run = make(&schedule, RUN_CHARGED, 0, 0);
    assert_string_equal(run->info.unit, "ms");
    assert_int_equal(run_answers_seen(run), 200);
    assert_int_equal(run_prefill_ns(run), 100 * MS);
    assert_int_equal(run_ttft_ns(run), 120 * MS);
    assert_int_equal(run_decode_ns(run), (int64_t)4000 * MS);
    assert_int_equal(run_e2e_ns(run), (int64_t)4100 * MS);
    assert_int_equal(run_tpot_ns(run), 20 * MS);
    assert_int_equal((run_decode_ns(run) * 100 + run_e2e_ns(run) / 2) / run_e2e_ns(run), 98);
    run_destroy(run);

    run = make(&schedule, RUN_ENGINE, 0, 0);
    assert_int_equal(run_ttft_ns(run), 100 * MS);
    assert_int_equal(run_decode_ns(run), (int64_t)3980 * MS);
    assert_int_equal(run_tpot_ns(run), 20 * MS);
    run_destroy(run);
    schedule_clear(&schedule);
}

static void stage_0_prefills_in_100_ms_at_any_prompt_length(void **state) {
    static const int prompts[] = {1, 25, 1024};
    (void)state;
    struct schedule schedule = load("stage-0");
    for (int i = 0; i < 3; i++) {
        struct run *run = make(&schedule, RUN_CHARGED, prompts[i], 0);
        assert_int_equal(run_prefill_ns(run), 100 * MS);
        assert_int_equal(run_ttft_ns(run), 120 * MS);
        assert_int_equal(run_e2e_ns(run), (int64_t)4100 * MS);
        run_destroy(run);
    }
    schedule_clear(&schedule);
}

static void a_run_of_a_schedule_knows_its_rule(void **state) {
    (void)state;
    struct schedule module_7 = load("module-7"), stage_0 = load("stage-0");
    struct run *run = make(&module_7, RUN_ENGINE, 3, 2), *copy = NULL, *other = NULL;
    assert_int_equal(run->info.rule.pass_ns, 0);
    assert_int_equal(run->info.rule.token_ns, 4 * MS);
    assert_int_equal(run->info.rule.step_ns, 25 * MS);
    assert_true(run_copy(&copy, run, &why));
    assert_int_equal(copy->info.rule.step_ns, 25 * MS);
    assert_true(run_recount(&other, run, RUN_CHARGED, &why));
    assert_int_equal(other->info.rule.token_ns, 4 * MS);
    run_destroy(other);
    run_destroy(copy);
    run_destroy(run);
    run = make(&stage_0, RUN_CHARGED, 7, 1);
    assert_int_equal(run->info.rule.pass_ns, 100 * MS);
    assert_int_equal(run->info.rule.token_ns, 0);
    assert_int_equal(run->info.rule.step_ns, 20 * MS);
    run_destroy(run);
    schedule_clear(&module_7);
    schedule_clear(&stage_0);
}

static void recounting_a_schedule_equals_running_it_the_other_way(void **state) {
    (void)state;
    static const char *names[] = {"module-7", "stage-0"};
    for (int i = 0; i < 2; i++) {
        struct schedule schedule = load(names[i]);
        for (int from = RUN_ENGINE; from <= RUN_CHARGED; from++) {
            enum run_counting to = from == RUN_ENGINE ? RUN_CHARGED : RUN_ENGINE;
            struct run *run = make(&schedule, (enum run_counting)from, 0, 0), *other = NULL;
            struct run *expected = make(&schedule, to, 0, 0);
            assert_true(run_recount(&other, run, to, &why));
            assert_int_equal(other->info.origin, RUN_LESSON);
            assert_int_equal(other->mark_count, expected->mark_count);
            assert_memory_equal(other->mark_end_ns, expected->mark_end_ns,
                                (size_t)other->mark_count * sizeof(int64_t));
            run_destroy(other);
            run_destroy(expected);
            run_destroy(run);
        }
        schedule_clear(&schedule);
    }
}

static void a_pass_is_cut_into_a_sixteenth_an_eighth_and_equal_layers(void **state) {
    (void)state;
    const struct {
        int64_t step;
        int layers;
    } rows[] = {{25, 8}, {1, 160}, {16, 1}, {1000000007, 3}, {1 << 20, 7}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct schedule schedule = {.name = "x",
                                    .unit = "u",
                                    .unit_ns = 1,
                                    .layers = rows[i].layers,
                                    .prefill_fixed = 3,
                                    .step = rows[i].step};
        struct run *run = make(&schedule, RUN_ENGINE, 2, 2);
        int first = run_stages(run), output = 2 * run_stages(run) - 1;
        int64_t step = rows[i].step, layers_ns = step - step / 16 - step / 8;
        assert_int_equal(run->mark_end_ns[first], 3 + step / 16);
        assert_int_equal(run->mark_end_ns[output] - run->mark_end_ns[output - 1], step / 8);
        for (int m = first + 1; m < output; m++) {
            int64_t layer_ns = run->mark_end_ns[m] - run->mark_end_ns[m - 1];
            assert_in_range(layer_ns, layers_ns / rows[i].layers, layers_ns / rows[i].layers + 1);
        }
        assert_int_equal(run_e2e_ns(run), 3 + step);
        run_destroy(run);
    }
}

// --- Texts ---

static void check_token(const struct run *run, int token, const char *text, bool is_control) {
    size_t bytes = 0;
    const char *got = run_token_text(run, token, &bytes);
    if (bytes != strlen(text) || memcmp(got, text, bytes) != 0)
        fail_msg("token %d is \"%.*s\", expected \"%s\"", token, (int)bytes, got, text);
    assert_int_equal(run->tokens[token].kind == RUN_CONTROL, is_control);
}

static void the_schedules_hold_pieces_as_the_tokenizer_cuts_them(void **state) {
    (void)state;
    static const char *texts[] = {
        "<s>",   "▁You",    "▁are", "▁a",       "▁support", "▁agent", ".",    "▁Answer", "▁from",
        "▁the",  "▁policy", ".",    "▁Where",   "▁is",      "▁my",    "▁par", "cel",     "?",
        "▁Your", "▁par",    "cel",  "▁arrives", "▁today",   ".",      "</s>"};
    struct schedule schedule = load("module-7");
    struct run *run = make(&schedule, RUN_CHARGED, 0, 0);
    for (int i = 0; i < 25; i++)
        check_token(run, i, texts[i], i == 0 || i == 24);
    run_destroy(run);
    schedule_clear(&schedule);
    schedule = load("stage-0");
    assert_int_equal(schedule.answer_texts, 200); // no text is repeated
    assert_int_equal(schedule.prompt_texts, schedule.prompt_tokens);
    run = make(&schedule, RUN_CHARGED, 0, 0);
    check_token(run, 0, "<s>", true);
    check_token(run, run->prompt_count + 199, "</s>", true);
    run_destroy(run);
    schedule_clear(&schedule);
}

// "|" before the token that must be a control token.
static const struct fill {
    const char *texts; // JSON
    int prompt, answer;
    const char *expected[16];
} fills[] = {
    {"\"prompt\":[\"<s>\",\"a\",\"b\"],\"answer\":[\"x\",\"y\",\"</s>\"]",
     3,
     3,
     {"|<s>", "a", "b", "x", "y", "|</s>"}},
    {"\"prompt\":[\"<s>\",\"a\",\"b\"],\"answer\":[\"x\",\"y\",\"</s>\"]",
     6,
     6,
     {"|<s>", "a", "b", "a", "b", "a", "x", "y", "x", "y", "x", "|</s>"}},
    {"\"prompt\":[\"<s>\",\"a\",\"b\"],\"answer\":[\"x\",\"y\",\"</s>\"]",
     2,
     2,
     {"|<s>", "a", "x", "y"}},
    {"\"prompt\":[\"a\",\"b\"],\"answer\":[\"x\",\"y\"]", 3, 3, {"a", "b", "a", "x", "y", "x"}},
    {"\"prompt\":[\"<s>\"],\"answer\":[\"</s>\"]", 3, 3, {"|<s>", "▁2", "▁3", "▁1", "▁2", "|</s>"}},
    {"\"prompt\":[\"a\",\"<s>\",\"<>\"],\"answer\":[\"<x>\",\"<y\",\"y>\"]",
     3,
     3,
     {"a", "<s>", "<>", "<x>", "<y", "y>"}},
    {"\"prompt\":[\"<s>\",\"a\",\"b\",\"c\"],\"answer\":[\"x\"]",
     6,
     1,
     {"|<s>", "a", "b", "c", "a", "b", "x"}},
    {"\"prompt\":[\"<a\",\"b\"],\"answer\":[\"x\",\"y>\"]", 2, 2, {"<a", "b", "x", "y>"}},
    {"\"prompt_tokens\":1,\"answer_tokens\":2", 2, 3, {"▁1", "▁2", "▁1", "▁2", "▁3"}},
};

static void texts_are_repeated_between_control_tokens_cut_or_numbered(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
        const struct fill *row = &fills[i];
        char json[512];
        snprintf(json, sizeof(json),
                 "{\"name\":\"n\",\"unit\":\"u\",\"unit_ns\":1,\"layers\":1,"
                 "\"prefill\":{\"fixed\":1,\"per_token\":0},\"step\":1,%s}",
                 row->texts);
        struct schedule schedule = parse(json);
        struct run *run = make(&schedule, RUN_CHARGED, row->prompt, row->answer);
        for (int t = 0; t < row->prompt + row->answer; t++) {
            bool is_control = row->expected[t][0] == '|';
            check_token(run, t, row->expected[t] + is_control, is_control);
        }
        run_destroy(run);
        schedule_clear(&schedule);
    }
}

static void counts_left_out_are_the_number_of_texts(void **state) {
    (void)state;
    struct schedule schedule =
        parse("{\"comment\":\"c\",\"name\":\"n\",\"unit\":\"u\",\"unit_ns\":1,\"layers\":1,"
              "\"prefill\":{\"fixed\":1,\"per_token\":0},\"step\":1,"
              "\"prompt\":[\"a\",\"b\"],\"answer\":[\"x\"],\"answer_tokens\":9}");
    assert_int_equal(schedule.prompt_tokens, 2);
    assert_int_equal(schedule.answer_tokens, 9);
    schedule_clear(&schedule);
    schedule_clear(&schedule); // again is fine
    schedule = parse("{\"name\":\"n\",\"unit\":\"u\",\"unit_ns\":1,\"layers\":1,"
                     "\"prefill\":{\"fixed\":1,\"per_token\":0},\"step\":1,\"answer_tokens\":1,"
                     "\"prompt\":["
                     "\"" DIGITS_64 DIGITS_64 "\"]}");
    assert_int_equal(strlen(schedule.prompt[0]), RUN_TOKEN_BYTES);
    schedule_clear(&schedule);
}

// --- Wrong files ---

// A whole schedule in which `from` is replaced by `to`.
static const char whole[] = "{\"name\":\"n\",\"unit\":\"u\",\"unit_ns\":10,\"layers\":2,\n"
                            "\"prefill\":{\"fixed\":1,\"per_token\":4},\"step\":25,\n"
                            "\"prompt\":[\"a\"],\"answer\":[\"b\"],\"prompt_tokens\":3,"
                            "\"answer_tokens\":4}";

static const struct wrong {
    const char *from, *to, *says;
} wrongs[] = {
    {"\"layers\":2,", "\"layers\":2", "bad.json:2:"},
    {"\"step\":25", "\"step\":025", "bad.json:2:"},
    {"\"answer_tokens\":4}", "\"answer_tokens\":4}}", "bad.json:3:"},
    {"{\"name\"", "[\"name\"", "bad.json:1:"},
    {"\"unit\":\"u\"", "\"name\":\"u\"", "duplicate"},
    {"\"name\":\"n\",", "", "\"name\" is missing"},
    {"\"n\"", "7", "\"name\" is an integer, expected a string"},
    {"\"n\"", "\"\"", "\"name\" is empty"},
    {"\"n\"", "\"0123456789012345678901234567890123456789012345678901234567890123\"",
     "\"name\" has 64 bytes, expected at most 63"},
    {"\"u\"", "\"0123456789abcdef\"", "\"unit\" has 16 bytes"},
    {"10", "0", "\"unit_ns\" is 0, expected 1 to"},
    {"10", "-3", "\"unit_ns\" is -3"},
    {"10", "1.5", "\"unit_ns\" is a number with a fraction, expected an integer"},
    {"10", "9999999999999999", "\"unit_ns\" is 9999999999999999, expected 1 to 9007199254740992"},
    {"10", "99999999999999999999", "bad.json:1:"},
    {"10", "4503599627370496", "last longer than the 104 days"},
    {"\"layers\":2", "\"layers\":0", "\"layers\" is 0, expected 1 to 160"},
    {"\"layers\":2", "\"layers\":161", "\"layers\" is 161"},
    {"\"layers\":2", "\"layers\":true", "\"layers\" is true"},
    {"\"layers\":2", "\"layers\":null", "\"layers\" is null"},
    {"{\"fixed\":1,\"per_token\":4}", "4", "\"prefill\" is an integer, expected an object"},
    {"{\"fixed\":1,\"per_token\":4}", "{\"fixed\":1}", "prefill: \"per_token\" is missing"},
    {"\"fixed\":1", "\"fixed\":-1", "prefill: \"fixed\" is -1, expected 0 to"},
    {"\"fixed\":1,\"per_token\":4", "\"fixed\":0,\"per_token\":0", "prefill takes time"},
    {"\"fixed\":1", "\"fixes\":1", "\"fixes\" is no field"},
    {"25", "0", "\"step\" is 0, expected 1 to"},
    {"25", "\"25\"", "\"step\" is a string"},
    {"\"step\"", "\"steps\"", "\"steps\" is no field of a schedule"},
    {"[\"a\"]", "\"a\"", "\"prompt\" is a string, expected an array"},
    {"[\"a\"]", "[]", "\"prompt\" has 0 items"},
    {"[\"a\"]", "[\"a\",3]", "\"prompt\"[1] is no text"},
    {"[\"b\"]", "[\"" DIGITS_64 DIGITS_64 "4\"]", "\"answer\"[0] is no text of at most 128 bytes"},
    {"[\"b\"]", "[\"\\u0000\"]", "bad.json:3:"},
    {"\"prompt_tokens\":3", "\"prompt_tokens\":0", "\"prompt_tokens\" is 0"},
    {"\"answer_tokens\":4", "\"answer_tokens\":131072", "\"answer_tokens\" is 131072"},
    {"\"answer_tokens\":4", "\"answer_tokens\":131071", "together more than 131072"},
};

static void every_wrong_file_is_refused_by_place_or_field(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
        const struct wrong *row = &wrongs[i];
        char json[1024];
        const char *at = strstr(whole, row->from);
        assert_non_null(at);
        snprintf(json, sizeof(json), "%.*s%s%s", (int)(at - whole), whole, row->to,
                 at + strlen(row->from));
        struct schedule schedule;
        if (schedule_parse(&schedule, "bad.json", json, strlen(json), &why))
            fail_msg("\"%s\" was accepted", row->to);
        if (!strstr(why.text, row->says) || strchr(why.text, '\n'))
            fail_msg("\"%s\": says \"%s\"", row->to, why.text);
        static const struct schedule cleared;
        assert_memory_equal(&schedule, &cleared, sizeof(cleared));
    }
    struct schedule schedule = parse(whole);
    assert_int_equal(schedule.prompt_tokens, 3);
    schedule_clear(&schedule);
    assert_false(schedule_parse(&schedule, "bad.json", "7", 1, &why));
    assert_false(schedule_parse(&schedule, "bad.json", "[]", 2, &why));
    assert_non_null(strstr(why.text, "is an object"));
}

static void a_schedule_cut_anywhere_is_refused(void **state) {
    (void)state;
    for (size_t bytes = 0; bytes < sizeof(whole) - 1; bytes++) {
        char *cut = malloc(bytes + !bytes); // exact, so that ASan sees one byte too far
        memcpy(cut, whole, bytes);
        struct schedule schedule;
        assert_false(schedule_parse(&schedule, "cut.json", cut, bytes, &why));
        assert_non_null(strstr(why.text, "cut.json"));
        free(cut);
    }
}

static void lengths_that_do_not_fit_are_refused_when_a_run_is_made(void **state) {
    (void)state;
    struct schedule schedule = load("module-7");
    struct run *run = NULL;
    assert_false(schedule_run(&run, &schedule, RUN_ENGINE, -1, 0, &why));
    assert_null(run);
    assert_false(schedule_run(&run, &schedule, RUN_ENGINE, 131072, 0, &why));
    assert_false(schedule_run(&run, &schedule, RUN_ENGINE, 131000, 100, &why));
    schedule.unit_ns = RUN_MAX_NS / 250;
    assert_false(schedule_run(&run, &schedule, RUN_ENGINE, 0, 9, &why));
    assert_non_null(strstr(why.text, "last longer"));
    assert_null(run);
    schedule_clear(&schedule);
}

static void a_file_that_is_not_there_or_too_large_is_named(void **state) {
    (void)state;
    char folder[] = "/tmp/tokendrip-XXXXXX", path[64];
    struct schedule schedule;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/x.json", folder);
    assert_false(schedule_load(&schedule, path, &why));
    assert_non_null(strstr(why.text, path));
    assert_non_null(strstr(why.text, "No such file"));
    assert_false(schedule_load(&schedule, folder, &why));
    assert_non_null(strstr(why.text, "cannot be read"));
    FILE *file = fopen(path, "w");
    assert_int_equal(ftruncate(fileno(file), SCHEDULE_MAX_BYTES + 1), 0);
    fclose(file);
    assert_false(schedule_load(&schedule, path, &why));
    assert_non_null(strstr(why.text, "larger than the 1024 KiB"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(module_7_charged_gives_72_97_and_247_units),
        cmocka_unit_test(module_7_in_engine_counting_gives_72_and_222_units),
        cmocka_unit_test(stage_0_gives_120_ms_and_4_seconds_of_decode),
        cmocka_unit_test(stage_0_prefills_in_100_ms_at_any_prompt_length),
        cmocka_unit_test(a_run_of_a_schedule_knows_its_rule),
        cmocka_unit_test(recounting_a_schedule_equals_running_it_the_other_way),
        cmocka_unit_test(a_pass_is_cut_into_a_sixteenth_an_eighth_and_equal_layers),
        cmocka_unit_test(the_schedules_hold_pieces_as_the_tokenizer_cuts_them),
        cmocka_unit_test(texts_are_repeated_between_control_tokens_cut_or_numbered),
        cmocka_unit_test(counts_left_out_are_the_number_of_texts),
        cmocka_unit_test(every_wrong_file_is_refused_by_place_or_field),
        cmocka_unit_test(a_schedule_cut_anywhere_is_refused),
        cmocka_unit_test(lengths_that_do_not_fit_are_refused_when_a_run_is_made),
        cmocka_unit_test(a_file_that_is_not_there_or_too_large_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
