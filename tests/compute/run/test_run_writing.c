// Tests of writing a run (run.h): the order of the calls, what run_create takes, and what
// run_validate refuses.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "compute/run/moment.h"
#include "tests/compute/run/small_run.h"

#include <string.h>

static struct why why;

// --- Order of writing ---

enum verb { END, PROMPT, BEGIN, ANSWER, MARK, CLOSE };

struct call {
    enum verb verb;
    struct run_pass pass; // BEGIN
    int64_t end_ns;       // MARK
};

static bool make_call(struct run *run, const struct call *call) {
    switch (call->verb) {
    case END:
        break;
    case PROMPT:
        return run_add_prompt_token(run, 1, "x", 1, false, &why);
    case BEGIN:
        return run_begin_pass(run, &call->pass, &why);
    case ANSWER:
        return run_add_answer_token(run, 1, "x", 1, false, &why);
    case MARK:
        return run_add_mark(run, call->end_ns, &why);
    case CLOSE:
        run_close(run, RUN_COMPLETE);
        return true;
    }
    return false;
}

#define P                                                                                          \
    { PROMPT, {0}, 0 }
#define A                                                                                          \
    { ANSWER, {0}, 0 }
#define M(ns)                                                                                      \
    { MARK, {0}, ns }
#define B(...)                                                                                     \
    { BEGIN, {__VA_ARGS__}, 0 }
#define PREFILL B(RUN_PREFILL, 0, 3, 0, 0), A, M(1), M(1), M(2), M(9)
#define CHARGED_PREFILL B(RUN_PREFILL, 0, 3, -1, 0), M(1), M(1), M(2), M(9)

// All calls but the last one are accepted; the last is refused with a message
// that holds `says`, and changes nothing.
static const struct bad_order {
    const char *name, *says;
    enum run_counting counting;
    struct call calls[24];
} bad_orders[] = {
    {"mark first", "outside a pass", RUN_ENGINE, {M(1)}},
    {"answer first", "outside a pass", RUN_ENGINE, {P, P, P, A}},
    {"pass before the prompt",
     "prompt token 2 of 3",
     RUN_ENGINE,
     {P, P, B(RUN_PREFILL, 0, 3, 0, 0)}},
    {"a fourth prompt token", "all 3 prompt tokens", RUN_ENGINE, {P, P, P, P}},
    {"decode first", "expected prefill", RUN_ENGINE, {P, P, P, B(RUN_DECODE, 3, 1, 0, 0)}},
    {"empty prefill", "expected prefill", RUN_ENGINE, {P, P, P, B(RUN_PREFILL, 0, 0, -1, 0)}},
    {"prefill too wide", "expected prefill", RUN_ENGINE, {P, P, P, B(RUN_PREFILL, 0, 4, 0, 0)}},
    {"prefill not at the front",
     "expected prefill",
     RUN_ENGINE,
     {P, P, P, B(RUN_PREFILL, 1, 2, 0, 0)}},
    {"a chunk that yields", "yielding -1", RUN_ENGINE, {P, P, P, B(RUN_PREFILL, 0, 2, 0, 0)}},
    {"last chunk that yields nothing",
     "yielding 0",
     RUN_ENGINE,
     {P, P, P, B(RUN_PREFILL, 0, 3, -1, 0)}},
    {"charged prefill that yields",
     "yielding -1",
     RUN_CHARGED,
     {P, P, P, B(RUN_PREFILL, 0, 3, 0, 0)}},
    {"negative start", "starts at -1", RUN_ENGINE, {P, P, P, B(RUN_PREFILL, 0, 3, 0, -1)}},
    {"start past the range",
     "starts at",
     RUN_ENGINE,
     {P, P, P, B(RUN_PREFILL, 0, 3, 0, RUN_MAX_NS + 1)}},
    {"mark before its start", "ends at 4", RUN_ENGINE, {P, P, P, B(RUN_PREFILL, 0, 3, 0, 5), M(4)}},
    {"mark that goes back",
     "ends at 6",
     RUN_ENGINE,
     {P, P, P, B(RUN_PREFILL, 0, 3, 0, 5), M(7), M(6)}},
    {"mark past the range",
     "ends at",
     RUN_ENGINE,
     {P, P, P, B(RUN_PREFILL, 0, 3, 0, 5), M(RUN_MAX_NS + 1)}},
    {"output before its token",
     "before its answer token",
     RUN_ENGINE,
     {P, P, P, B(RUN_PREFILL, 0, 3, 0, 0), M(1), M(2), M(3), M(4)}},
    {"a mark too many", "outside a pass", RUN_ENGINE, {P, P, P, PREFILL, M(9)}},
    {"a second token", "no second", RUN_ENGINE, {P, P, P, B(RUN_PREFILL, 0, 3, 0, 0), A, A}},
    {"a token from a chunk",
     "yields no answer",
     RUN_ENGINE,
     {P, P, P, B(RUN_PREFILL, 0, 2, -1, 0), A}},
    {"pass inside a pass",
     "pass 0 has all its marks",
     RUN_ENGINE,
     {P, P, P, B(RUN_PREFILL, 0, 3, 0, 0), A, M(1), M(1), M(2), B(RUN_DECODE, 3, 1, 1, 2)}},
    {"pass right after a pass",
     "pass 0 has all its marks",
     RUN_ENGINE,
     {P, P, P, B(RUN_PREFILL, 0, 3, 0, 0), B(RUN_DECODE, 3, 1, 1, 2)}},
    {"start before the last end",
     "starts at 8",
     RUN_ENGINE,
     {P, P, P, PREFILL, B(RUN_DECODE, 3, 1, 1, 8)}},
    {"prefill again",
     "expected decode",
     RUN_ENGINE,
     {P, P, P, PREFILL, B(RUN_PREFILL, 0, 3, 0, 9)}},
    {"decode of the wrong column",
     "expected decode",
     RUN_ENGINE,
     {P, P, P, PREFILL, B(RUN_DECODE, 4, 1, 1, 9)}},
    {"decode of two columns",
     "expected decode",
     RUN_ENGINE,
     {P, P, P, PREFILL, B(RUN_DECODE, 3, 2, 1, 9)}},
    {"decode that skips a token",
     "expected decode",
     RUN_ENGINE,
     {P, P, P, PREFILL, B(RUN_DECODE, 3, 1, 2, 9)}},
    {"decode that yields nothing",
     "expected decode",
     RUN_ENGINE,
     {P, P, P, PREFILL, B(RUN_DECODE, 3, 1, -1, 9)}},
    {"a charged step in engine counting",
     "expected decode",
     RUN_ENGINE,
     {P, P, P, PREFILL, B(RUN_DECODE, 3, 0, 1, 9)}},
    {"no charged step",
     "expected decode over 3 +0",
     RUN_CHARGED,
     {P, P, P, CHARGED_PREFILL, B(RUN_DECODE, 3, 1, 0, 9)}},
    {"two charged steps",
     "expected decode over 3 +1",
     RUN_CHARGED,
     {P, P, P, CHARGED_PREFILL, B(RUN_DECODE, 3, 0, 0, 9), A, M(9), M(9), M(9), M(9),
      B(RUN_DECODE, 3, 0, 1, 9)}},
    {"mark after the end",
     "has ended",
     RUN_ENGINE,
     {P, P, P, B(RUN_PREFILL, 0, 3, 0, 0), M(1), {CLOSE, {0}, 0}, M(1)}},
    {"pass after the end",
     "has ended",
     RUN_ENGINE,
     {P, P, P, PREFILL, {CLOSE, {0}, 0}, B(RUN_DECODE, 3, 1, 1, 9)}},
    {"prompt after the end", "has ended", RUN_ENGINE, {P, {CLOSE, {0}, 0}, P}},
    {"answer after the end",
     "has ended",
     RUN_ENGINE,
     {P, P, P, B(RUN_PREFILL, 0, 3, 0, 0), M(1), {CLOSE, {0}, 0}, A}},
};

static int call_count(const struct bad_order *row) {
    int count = 0;
    while (row->calls[count].verb != END)
        count++;
    return count;
}

static void every_broken_order_is_refused_and_changes_nothing(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(bad_orders) / sizeof(bad_orders[0]); i++) {
        const struct bad_order *row = &bad_orders[i];
        struct run *run = small_run_new(row->counting, 2);
        int count = call_count(row);
        for (int c = 0; c < count - 1; c++) {
            if (!make_call(run, &row->calls[c]))
                fail_msg("%s: call %d refused: %s", row->name, c, why.text);
        }
        struct run before = *run;
        if (make_call(run, &row->calls[count - 1]))
            fail_msg("%s: accepted", row->name);
        if (!strstr(why.text, row->says))
            fail_msg("%s: says \"%s\"", row->name, why.text);
        assert_memory_equal(&before, run, sizeof(before));
        run_destroy(run);
    }
}

static void the_answer_limit_and_the_room_for_chunks_hold(void **state) {
    (void)state;
    struct run *run = small_run();
    assert_false(run_begin_pass(run, &(struct run_pass){RUN_DECODE, 5, 1, 3, 200}, &why));
    assert_non_null(strstr(why.text, "limit of 3 answer tokens"));
    run_destroy(run);

    struct run_info info = small_run_info();
    info.prompt_tokens = 6;
    info.answer_limit = 1;
    assert_true(run_create(&run, &info, 1, &why)); // room for 1 + 1 passes
    for (int i = 0; i < 6; i++)
        assert_true(run_add_prompt_token(run, i, "x", 1, false, &why));
    for (int i = 0; i < 2; i++)
        small_run_add_pass(run, (struct run_pass){RUN_PREFILL, i, 1, -1, 100 * i}, NULL);
    assert_false(run_begin_pass(run, &(struct run_pass){RUN_PREFILL, 2, 1, -1, 200}, &why));
    assert_non_null(strstr(why.text, "no room for more than 2 passes"));
    run_destroy(run);
}

static void arrays_that_are_full_take_nothing_more(void **state) {
    (void)state;
    struct run *run = small_run_new(RUN_ENGINE, 1);
    small_run_add_prompt(run);
    assert_true(run_begin_pass(run, &(struct run_pass){RUN_PREFILL, 0, 3, 0, 0}, &why));
    struct run kept = *run;
    run->token_capacity = 3;
    assert_false(run_add_answer_token(run, 1, "a", 1, false, &why));
    assert_non_null(strstr(why.text, "no room for token 3 of 3"));
    run->token_capacity = 4;
    run->text_capacity = run->text_used + 4;
    assert_false(run_add_answer_token(run, 1, "12345", 5, false, &why));
    assert_int_equal(run->answer_count, 0);
    assert_int_equal(run->text_used, kept.text_used);
    assert_true(run_add_answer_token(run, 1, "1234", 4, false, &why));
    run_destroy(run);
}

static void closing_before_anything_was_answered_makes_a_failed_run(void **state) {
    (void)state;
    struct run *run = small_run_new(RUN_ENGINE, 1);
    small_run_add_prompt(run);
    run_close(run, RUN_COMPLETE);
    assert_int_equal(run->state, RUN_FAILED);
    assert_true(run_validate(run, &why));
    run->prompt_count = 2; // a run that ended without its whole prompt is none
    assert_false(run_validate(run, &why));
    run_destroy(run);
}

static void closing_inside_a_pass_makes_a_failed_run(void **state) {
    (void)state;
    struct run *run = small_run();
    run->answer_count = 3;
    run_close(run, RUN_OPEN);
    assert_int_equal(run->state, RUN_OPEN);
    run_close(run, RUN_FAILED);
    assert_int_equal(run->state, RUN_FAILED);
    run_close(run, RUN_COMPLETE); // the first close stays
    assert_int_equal(run->state, RUN_FAILED);

    run_rewind(run);
    small_run_add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 0}, "a");
    assert_true(run_begin_pass(run, &(struct run_pass){RUN_DECODE, 3, 1, 1, 40}, &why));
    assert_true(run_add_answer_token(run, 7, "lost", 4, false, &why));
    assert_true(run_add_mark(run, 50, &why));
    run_close(run, RUN_COMPLETE);
    assert_int_equal(run->state, RUN_FAILED);
    assert_int_equal(run->pass_count, 2);
    assert_int_equal(run->answer_count, 1); // the token without its mark is dropped
    assert_int_equal(run_events(run), 2);
    assert_int_equal(run_event_ns(run, 2), -1);
    assert_int_equal(run_pass_end_ns(run, 1), 50);
    assert_true(run_validate(run, &why));
    run_destroy(run);
}

static void rewinding_gives_the_same_run_again(void **state) {
    (void)state;
    struct run *run = small_run();
    size_t text_used = run->text_used;
    run_close(run, RUN_COMPLETE);
    run_rewind(run);
    assert_int_equal(run->mark_count, 0);
    assert_int_equal(run->prompt_count, 3);
    assert_true(run_validate(run, &why));
    small_run_add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 5}, "a");
    small_run_add_pass(run, (struct run_pass){RUN_DECODE, 3, 1, 1, 50}, "b");
    small_run_add_pass(run, (struct run_pass){RUN_DECODE, 4, 1, 2, 95}, "c");
    assert_int_equal(run->text_used, text_used);
    run_close(run, RUN_COMPLETE);
    assert_int_equal(run_e2e_ns(run), 135);
    run_destroy(run);
}

// --- Creation and checking ---

static void a_wrong_info_is_refused_by_the_name_of_its_field(void **state) {
    (void)state;
    const struct {
        const char *says;
        size_t offset;
        int value;
    } rows[] = {
        {"layers is 0", offsetof(struct run_info, layers), 0},
        {"layers is 161", offsetof(struct run_info, layers), 161},
        {"prompt_tokens is 0", offsetof(struct run_info, prompt_tokens), 0},
        {"answer_limit is 0", offsetof(struct run_info, answer_limit), 0},
        {"answer_limit is -5", offsetof(struct run_info, answer_limit), -5},
        {"more than 131072", offsetof(struct run_info, answer_limit), 131070},
        {"threads is -1", offsetof(struct run_info, threads), -1},
        {"heads is 65537", offsetof(struct run_info, heads), 65537},
        {"kv_heads is -1", offsetof(struct run_info, kv_heads), -1},
        {"head_dim is 65537", offsetof(struct run_info, head_dim), 65537},
        {"kv_value_bytes is 17", offsetof(struct run_info, kv_value_bytes), 17},
        {"origin is 3", offsetof(struct run_info, origin), 3},
        {"counting is 2", offsetof(struct run_info, counting), 2},
        {"unit_ns is 0", offsetof(struct run_info, origin), RUN_LESSON},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run_info info = small_run_info();
        memcpy((char *)&info + rows[i].offset, &rows[i].value, sizeof(int));
        struct run *run = (struct run *)&info;
        assert_false(run_create(&run, &info, 1, &why));
        assert_null(run);
        if (!strstr(why.text, rows[i].says))
            fail_msg("\"%s\" does not say \"%s\"", why.text, rows[i].says);
    }
    struct run_info info = small_run_info();
    struct run *run = NULL;
    info.prompt_tokens = RUN_MAX_TOKENS - 1;
    info.answer_limit = 1;
    assert_true(run_create(&run, &info, 1, &why));
    run_destroy(run);
    info = small_run_info();
    assert_false(run_create(&run, &info, 0, &why));
    assert_false(run_create(&run, &info, 4, &why));
    assert_non_null(strstr(why.text, "4 prefill passes"));
}

static void info_texts_are_made_printable(void **state) {
    (void)state;
    const struct {
        const char *given, *kept;
    } rows[] = {
        {"Xeon \xc2\xae", "Xeon \xc2\xae"},
        {"cut \xe2\x96", "cut ??"},
        {"a\nb\x7f", "a?b?"},
        {"\xc0\xaf", "??"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run_info info = small_run_info();
        strcpy(info.device_name, rows[i].given);
        memset(info.clock, 'x', sizeof(info.clock)); // no end
        struct run *run = NULL;
        assert_true(run_create(&run, &info, 1, &why));
        assert_string_equal(run->info.device_name, rows[i].kept);
        assert_int_equal(strlen(run->info.clock), sizeof(info.clock) - 1);
        assert_true(run_validate(run, &why));
        memset(run->info.clock, 'x', sizeof(run->info.clock));
        assert_false(run_validate(run, &why));
        assert_non_null(strstr(why.text, "clock has no end"));
        run_destroy(run);
    }
}

static void token_texts_are_cut_at_64_bytes_between_characters(void **state) {
    (void)state;
    const struct {
        const char *tail; // after 126 letters
        size_t kept;
    } rows[] = {
        {"", 126},
        {"yz", 128},
        {"yz1", 128},
        {"y\xc3\xa9", 127},            // the character would end at byte 129
        {"\xe2\x96\x81", 126},         // ... at 129, begun at 126
        {"yz\xe2\x96\x81", 128},       // begins right at the cut
        {"\xf0\x9f\x93\xa6", 126},     // four bytes
        {"\x81\x81\x81\x81\x81", 128}, // no UTF-8 at all: bytes are kept
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[144];
        memset(text, 'x', 126);
        strcpy(text + 126, rows[i].tail);
        if (rows[i].tail[0] == '\x81')
            memset(text, '\x81', 126);
        struct run *run = small_run_new(RUN_ENGINE, 1);
        assert_true(run_add_prompt_token(run, 1, text, strlen(text), false, &why));
        size_t bytes = 0;
        assert_memory_equal(run_token_text(run, 0, &bytes), text, rows[i].kept);
        assert_int_equal(bytes, rows[i].kept);
        assert_false(run_add_prompt_token(run, 1, NULL, 2, false, &why));
        assert_true(run_add_prompt_token(run, 1, NULL, 0, false, &why));
        run_destroy(run);
    }
}

// One field of an small_run and a value that it must not have. What lies in an
// array is named by the array's item.
static const struct wrong_field {
    const char *name;
    enum { IN_RUN, IN_PASS_1, IN_MARK_5, IN_TOKEN_2 } place;
    size_t offset, bytes;
    int64_t value;
} wrong_fields[] = {
#define FIELD(place, type, field, value)                                                           \
    { #field, place, offsetof(struct type, field), sizeof(((struct type *)0)->field), value }
    FIELD(IN_PASS_1, run_pass, phase, RUN_PREFILL),
    FIELD(IN_PASS_1, run_pass, first_column, 2),
    FIELD(IN_PASS_1, run_pass, column_count, 2),
    FIELD(IN_PASS_1, run_pass, yields, 2),
    FIELD(IN_PASS_1, run_pass, start_ns, 44),
    {"a mark that goes back", IN_MARK_5, 0, sizeof(int64_t), 49},
    {"a mark after the next", IN_MARK_5, 0, sizeof(int64_t), 1000},
    FIELD(IN_TOKEN_2, run_token, text_offset, 1),
    FIELD(IN_TOKEN_2, run_token, text_bytes, RUN_TOKEN_BYTES + 1),
    FIELD(IN_TOKEN_2, run_token, kind, 3),
    FIELD(IN_RUN, run, mark_count, 3 * SMALL_STAGES - 1),
    FIELD(IN_RUN, run, mark_count, 0),
    FIELD(IN_RUN, run, mark_count, -1),
    FIELD(IN_RUN, run, mark_count, 1000),
    FIELD(IN_RUN, run, prompt_count, 2),
    FIELD(IN_RUN, run, pass_count, 2),
    FIELD(IN_RUN, run, answer_count, 2),
    FIELD(IN_RUN, run, token_capacity, 4),
    FIELD(IN_RUN, run, token_capacity, 0),
    FIELD(IN_RUN, run, token_capacity, RUN_MAX_TOKENS + 1),
    FIELD(IN_RUN, run, pass_capacity, 2),
    FIELD(IN_RUN, run, pass_capacity, 0),
    FIELD(IN_RUN, run, pass_capacity, 2 * RUN_MAX_TOKENS + 1),
    FIELD(IN_RUN, run, text_capacity, 3),
    FIELD(IN_RUN, run, state, 7),
    FIELD(IN_RUN, run, info.layers, 0),
    FIELD(IN_RUN, run, info.answer_limit, 2),
    FIELD(IN_RUN, run, passes, 0),
#undef FIELD
};

static void a_run_with_one_wrong_field_is_refused(void **state) {
    (void)state;
    struct run *run = small_run();
    run_close(run, RUN_COMPLETE);
    char *places[] = {(char *)run, (char *)&run->passes[1], (char *)&run->mark_end_ns[5],
                      (char *)&run->tokens[2]};
    for (size_t i = 0; i < sizeof(wrong_fields) / sizeof(wrong_fields[0]); i++) {
        const struct wrong_field *row = &wrong_fields[i];
        char *at = places[row->place] + row->offset, kept[8];
        assert_true(run_validate(run, &why));
        memcpy(kept, at, row->bytes);
        memcpy(at, &row->value, row->bytes); // little-endian, like all we run on
        if (run_validate(run, &why))
            fail_msg("%s = %lld was accepted", row->name, (long long)row->value);
        memcpy(at, kept, row->bytes);
    }
    run->text_capacity = run->text_used; // just enough is enough
    run->token_capacity = 6;
    assert_true(run_validate(run, &why));
    run_destroy(run);
    assert_false(run_validate(NULL, &why));
}

// Every step goes through the prompt and the answer so far, from column 0 on.
static void a_run_without_a_cache_begins_every_pass_at_column_0(void **state) {
    (void)state;
    struct run_info info = small_run_info();
    info.recomputes = true;
    struct run *run = NULL;
    assert_true(run_create(&run, &info, 1, &why));
    small_run_add_prompt(run);
    small_run_add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 5}, "a");
    static const struct run_pass wrongs[] = {
        {RUN_DECODE, 3, 1, 1, 50}, {RUN_DECODE, 0, 3, 1, 50}, {RUN_DECODE, 0, 5, 1, 50}};
    for (int i = 0; i < 3; i++)
        assert_false(run_begin_pass(run, &wrongs[i], &why));
    assert_non_null(strstr(why.text, "expected decode over 0 +4 yielding 1"));
    small_run_add_pass(run, (struct run_pass){RUN_DECODE, 0, 4, 1, 50}, "b");
    small_run_add_pass(run, (struct run_pass){RUN_DECODE, 0, 5, 2, 95}, "c");
    run_close(run, RUN_COMPLETE);
    assert_true(run_validate(run, &why));
    assert_int_equal(run_prefill_ns(run), 45);
    assert_int_equal(run_ttft_ns(run), 45);
    assert_int_equal(run_tpot_ns(run), 45);
    assert_int_equal(run_answers_at(run, 100), 2);
    for (int64_t t_ns = 0; t_ns < 140; t_ns++)
        assert_int_equal(run_moment_at(run, t_ns).cache_entries, 0);
    run->info.recomputes = false; // the same passes with a cache are no run
    assert_false(run_validate(run, &why));
    run_destroy(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_broken_order_is_refused_and_changes_nothing),
        cmocka_unit_test(the_answer_limit_and_the_room_for_chunks_hold),
        cmocka_unit_test(arrays_that_are_full_take_nothing_more),
        cmocka_unit_test(closing_before_anything_was_answered_makes_a_failed_run),
        cmocka_unit_test(closing_inside_a_pass_makes_a_failed_run),
        cmocka_unit_test(rewinding_gives_the_same_run_again),
        cmocka_unit_test(a_wrong_info_is_refused_by_the_name_of_its_field),
        cmocka_unit_test(info_texts_are_made_printable),
        cmocka_unit_test(token_texts_are_cut_at_64_bytes_between_characters),
        cmocka_unit_test(a_run_with_one_wrong_field_is_refused),
        cmocka_unit_test(a_run_without_a_cache_begins_every_pass_at_column_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
