// Tests of run.h. Exact figures on runs small enough to check by hand; then laws
// over random runs: every figure against a recomputation that walks the arrays
// one by one, and every prefix against a run that really ended there.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "compute/run/moment.h"
#include "compute/run/recount.h"
#include "tests/compute/run/random_run.h"

#include <stdlib.h>
#include <string.h>

enum { LAYERS = 2, STAGES = LAYERS + 2 };

static struct why why;

static struct run_info small_info(void) {
    return (struct run_info){.origin = RUN_MEASURED,
                             .layers = LAYERS,
                             .kv_heads = 2,
                             .head_dim = 8,
                             .kv_value_bytes = 2,
                             .prompt_tokens = 3,
                             .answer_limit = 3};
}

static struct run *new_run(enum run_counting counting, int chunks) {
    struct run_info info = small_info();
    info.counting = counting;
    struct run *run = NULL;
    assert_true(run_create(&run, &info, chunks, &why));
    return run;
}

static void add_prompt(struct run *run) {
    static const char *texts[] = {"<s>", " my", " parcel"};
    for (int i = 0; i < 3; i++)
        assert_true(run_add_prompt_token(run, i, texts[i], strlen(texts[i]), i == 0, &why));
}

// A pass whose stages end at start + 10, + 20, ...
static void add_pass(struct run *run, struct run_pass pass, const char *answer) {
    assert_true(run_begin_pass(run, &pass, &why));
    if (pass.yields >= 0)
        assert_true(run_add_answer_token(run, 7, answer, strlen(answer), false, &why));
    for (int stage = 1; stage <= STAGES; stage++)
        assert_true(run_add_mark(run, pass.start_ns + 10 * stage, &why));
}

// Prefill 5 .. 45, then steps 50 .. 90 and 95 .. 135.
static struct run *engine_run(void) {
    struct run *run = new_run(RUN_ENGINE, 1);
    add_prompt(run);
    add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 5}, "a");
    add_pass(run, (struct run_pass){RUN_DECODE, 3, 1, 1, 50}, "b");
    add_pass(run, (struct run_pass){RUN_DECODE, 4, 1, 2, 95}, "c");
    return run;
}

// --- Figures ---

static void an_engine_run_gives_the_definitions_of_the_field(void **state) {
    (void)state;
    struct run *run = engine_run();
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
    assert_int_equal(run_cache_entry_bytes(run), 2 * LAYERS * 2 * 8 * 2);
    assert_int_equal(run_stage_start_ns(run, 0), 5);
    assert_int_equal(run_stage_start_ns(run, 1), 15);
    assert_int_equal(run_stage_start_ns(run, STAGES), 50);
    assert_int_equal(run_marks_at(run, 14), 0);
    assert_int_equal(run_marks_at(run, 15), 1);
    assert_int_equal(run_marks_at(run, INT64_MAX), 3 * STAGES);
    assert_int_equal(run_marks_at(run, INT64_MIN), 0);
    run_destroy(run);
}

static void what_cannot_be_seen_is_minus_one_and_empty_text(void **state) {
    (void)state;
    struct run *run = new_run(RUN_ENGINE, 1);
    size_t bytes = 9;
    assert_string_equal(run_token_text(run, 0, &bytes), "");
    assert_int_equal(bytes, 0);
    add_prompt(run);
    assert_int_equal(run_prefill_ns(run), -1);
    assert_int_equal(run_ttft_ns(run), -1);
    assert_int_equal(run_e2e_ns(run), -1);
    assert_int_equal(run_decode_ns(run), -1);
    assert_int_equal(run_tpot_ns(run), -1);
    assert_int_equal(run_end_ns(run), 0);
    assert_int_equal(run_events(run), 1);
    add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 0}, "a");
    assert_int_equal(run_tpot_ns(run), -1); // one token has no TPOT
    assert_int_equal(run_answer_ns(run, -1), -1);
    assert_int_equal(run_answer_ns(run, 1), -1);
    assert_int_equal(run_pass_end_ns(run, -1), -1);
    assert_int_equal(run_pass_end_ns(run, 1), -1);
    assert_int_equal(run_stage_start_ns(run, -1), -1);
    assert_int_equal(run_stage_start_ns(run, STAGES), -1);
    assert_int_equal(run_event_ns(run, 2), -1);
    assert_int_equal(run_event_ns(run, -1), -1);
    assert_string_equal(run_token_text(run, 4, &bytes), "");
    assert_string_equal(run_token_text(run, -1, &bytes), "");
    run_destroy(run);
}

static void an_answer_token_appears_with_its_output_mark(void **state) {
    (void)state;
    struct run *run = new_run(RUN_ENGINE, 1);
    add_prompt(run);
    struct run_pass pass = {RUN_PREFILL, 0, 3, 0, 0};
    assert_true(run_begin_pass(run, &pass, &why));
    assert_int_equal(run_passes_seen(run), 0);
    assert_true(run_add_answer_token(run, 7, "a", 1, false, &why));
    size_t bytes = 9;
    for (int stage = 1; stage < STAGES; stage++) {
        assert_true(run_add_mark(run, stage, &why));
        assert_int_equal(run_passes_seen(run), 1);
        assert_int_equal(run_answers_seen(run), 0);
        assert_int_equal(run_pass_end_ns(run, 0), stage);
        assert_string_equal(run_token_text(run, 3, &bytes), "");
    }
    assert_true(run_add_mark(run, STAGES, &why));
    assert_int_equal(run_answers_seen(run), 1);
    assert_memory_equal(run_token_text(run, 3, &bytes), "a", 1);
    assert_int_equal(bytes, 1);
    run_destroy(run);
}

static void tpot_is_rounded_to_the_nearest_nanosecond(void **state) {
    (void)state;
    struct run *run = new_run(RUN_ENGINE, 1);
    add_prompt(run);
    add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 0}, "a"); // 40
    add_pass(run, (struct run_pass){RUN_DECODE, 3, 1, 1, 40}, "b"); // 80
    add_pass(run, (struct run_pass){RUN_DECODE, 4, 1, 2, 81}, "c"); // 121: 81 / 2
    assert_int_equal(run_tpot_ns(run), 41);
    run_destroy(run);
}

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
        struct run *run = new_run(row->counting, 2);
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
    struct run *run = engine_run();
    assert_false(run_begin_pass(run, &(struct run_pass){RUN_DECODE, 5, 1, 3, 200}, &why));
    assert_non_null(strstr(why.text, "limit of 3 answer tokens"));
    run_destroy(run);

    struct run_info info = small_info();
    info.prompt_tokens = 6;
    info.answer_limit = 1;
    assert_true(run_create(&run, &info, 1, &why)); // room for 1 + 1 passes
    for (int i = 0; i < 6; i++)
        assert_true(run_add_prompt_token(run, i, "x", 1, false, &why));
    for (int i = 0; i < 2; i++)
        add_pass(run, (struct run_pass){RUN_PREFILL, i, 1, -1, 100 * i}, NULL);
    assert_false(run_begin_pass(run, &(struct run_pass){RUN_PREFILL, 2, 1, -1, 200}, &why));
    assert_non_null(strstr(why.text, "no room for more than 2 passes"));
    run_destroy(run);
}

static void arrays_that_are_full_take_nothing_more(void **state) {
    (void)state;
    struct run *run = new_run(RUN_ENGINE, 1);
    add_prompt(run);
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
    struct run *run = new_run(RUN_ENGINE, 1);
    add_prompt(run);
    run_close(run, RUN_COMPLETE);
    assert_int_equal(run->state, RUN_FAILED);
    assert_true(run_validate(run, &why));
    run->prompt_count = 2; // a run that ended without its whole prompt is none
    assert_false(run_validate(run, &why));
    run_destroy(run);
}

static void closing_inside_a_pass_makes_a_failed_run(void **state) {
    (void)state;
    struct run *run = engine_run();
    run->answer_count = 3;
    run_close(run, RUN_OPEN);
    assert_int_equal(run->state, RUN_OPEN);
    run_close(run, RUN_FAILED);
    assert_int_equal(run->state, RUN_FAILED);
    run_close(run, RUN_COMPLETE); // the first close stays
    assert_int_equal(run->state, RUN_FAILED);

    run_rewind(run);
    add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 0}, "a");
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
    struct run *run = engine_run();
    size_t text_used = run->text_used;
    run_close(run, RUN_COMPLETE);
    run_rewind(run);
    assert_int_equal(run->mark_count, 0);
    assert_int_equal(run->prompt_count, 3);
    assert_true(run_validate(run, &why));
    add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 5}, "a");
    add_pass(run, (struct run_pass){RUN_DECODE, 3, 1, 1, 50}, "b");
    add_pass(run, (struct run_pass){RUN_DECODE, 4, 1, 2, 95}, "c");
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
        struct run_info info = small_info();
        memcpy((char *)&info + rows[i].offset, &rows[i].value, sizeof(int));
        struct run *run = (struct run *)&info;
        assert_false(run_create(&run, &info, 1, &why));
        assert_null(run);
        if (!strstr(why.text, rows[i].says))
            fail_msg("\"%s\" does not say \"%s\"", why.text, rows[i].says);
    }
    struct run_info info = small_info();
    struct run *run = NULL;
    info.prompt_tokens = RUN_MAX_TOKENS - 1;
    info.answer_limit = 1;
    assert_true(run_create(&run, &info, 1, &why));
    run_destroy(run);
    info = small_info();
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
        struct run_info info = small_info();
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
        const char *tail; // after 62 letters
        size_t kept;
    } rows[] = {
        {"", 62},
        {"yz", 64},
        {"yz1", 64},
        {"y\xc3\xa9", 63},            // the character would end at byte 65
        {"\xe2\x96\x81", 62},         // ... at 65, begun at 62
        {"yz\xe2\x96\x81", 64},       // begins right at the cut
        {"\xf0\x9f\x93\xa6", 62},     // four bytes
        {"\x81\x81\x81\x81\x81", 64}, // no UTF-8 at all: bytes are kept
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[80];
        memset(text, 'x', 62);
        strcpy(text + 62, rows[i].tail);
        if (rows[i].tail[0] == '\x81')
            memset(text, '\x81', 62);
        struct run *run = new_run(RUN_ENGINE, 1);
        assert_true(run_add_prompt_token(run, 1, text, strlen(text), false, &why));
        size_t bytes = 0;
        assert_memory_equal(run_token_text(run, 0, &bytes), text, rows[i].kept);
        assert_int_equal(bytes, rows[i].kept);
        assert_false(run_add_prompt_token(run, 1, NULL, 2, false, &why));
        assert_true(run_add_prompt_token(run, 1, NULL, 0, false, &why));
        run_destroy(run);
    }
}

// One field of an engine_run and a value that it must not have. What lies in an
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
    FIELD(IN_TOKEN_2, run_token, is_control, 2),
    FIELD(IN_RUN, run, mark_count, 3 * STAGES - 1),
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
    struct run *run = engine_run();
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
    struct run_info info = small_info();
    info.recomputes = true;
    struct run *run = NULL;
    assert_true(run_create(&run, &info, 1, &why));
    add_prompt(run);
    add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 5}, "a");
    static const struct run_pass wrongs[] = {
        {RUN_DECODE, 3, 1, 1, 50}, {RUN_DECODE, 0, 3, 1, 50}, {RUN_DECODE, 0, 5, 1, 50}};
    for (int i = 0; i < 3; i++)
        assert_false(run_begin_pass(run, &wrongs[i], &why));
    assert_non_null(strstr(why.text, "expected decode over 0 +4 yielding 1"));
    add_pass(run, (struct run_pass){RUN_DECODE, 0, 4, 1, 50}, "b");
    add_pass(run, (struct run_pass){RUN_DECODE, 0, 5, 2, 95}, "c");
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

static void stages_match_the_wall_within_five_percent(void **state) {
    (void)state;
    const struct {
        int64_t start_ns, end_ns;
        bool matches;
    } rows[] = {{0, 100, true}, {5, 100, true}, {6, 100, false}, {0, 0, true}, {1, 1, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run *run = new_run(RUN_ENGINE, 1);
        assert_true(run_stages_match_wall(run));
        add_prompt(run);
        struct run_pass pass = {RUN_PREFILL, 0, 3, 0, rows[i].start_ns};
        assert_true(run_begin_pass(run, &pass, &why));
        assert_true(run_add_answer_token(run, 1, "a", 1, false, &why));
        for (int stage = 0; stage < STAGES; stage++)
            assert_true(run_add_mark(run, rows[i].end_ns, &why));
        assert_int_equal(run_stages_match_wall(run), rows[i].matches);
        run_destroy(run);
    }
}

// --- Recounting ---

static void a_charged_step_as_long_as_the_first_step_is_put_in(void **state) {
    (void)state;
    struct run *run = engine_run();
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
    assert_int_equal(charged->mark_end_ns[STAGES + 1], 65);
    assert_int_equal(charged->passes[2].start_ns, 90); // the gap stays
    run_destroy(charged);
    run_destroy(run);
}

static void without_a_step_one_column_of_prefill_is_charged(void **state) {
    (void)state;
    struct run *run = new_run(RUN_ENGINE, 1);
    add_prompt(run);
    add_pass(run, (struct run_pass){RUN_PREFILL, 0, 3, 0, 5}, "a"); // 40 ns, 3 columns
    run_close(run, RUN_COMPLETE);
    struct run *charged = NULL;
    assert_true(run_recount(&charged, run, RUN_CHARGED, &why));
    assert_int_equal(run_ttft_ns(charged), 45 + 13);
    assert_int_equal(run_e2e_ns(charged), 45 + 13);
    assert_int_equal(charged->mark_end_ns[STAGES], 45 + 3);     // 10 / 3
    assert_int_equal(charged->mark_end_ns[STAGES + 1], 45 + 7); // 20 / 3
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
        struct run *run = new_run(RUN_ENGINE, 1), *charged = NULL;
        add_prompt(run);
        for (int pass = 0; pass < 3 && rows[i][pass] > 0; pass++) {
            struct run_pass next = {RUN_DECODE, 2 + pass, 1, pass, run_end_ns(run)};
            if (pass == 0)
                next = (struct run_pass){RUN_PREFILL, 0, 3, 0, 0};
            if (pass == 2)
                next.start_ns = rows[i][pass];
            assert_true(run_begin_pass(run, &next, &why));
            assert_true(run_add_answer_token(run, 1, "a", 1, false, &why));
            for (int stage = 0; stage < STAGES; stage++)
                assert_true(run_add_mark(run, rows[i][pass], &why));
        }
        run_close(run, RUN_COMPLETE);
        assert_true(run_validate(run, &why));
        assert_false(run_recount(&charged, run, RUN_CHARGED, &why));
        assert_null(charged);
        run_destroy(run);
    }
}

// --- Laws over random runs ---

static bool is_same_body(const struct run *a, const struct run *b) {
    size_t bytes_a = 0, bytes_b = 0;
    if (a->mark_count != b->mark_count || a->prompt_count != b->prompt_count ||
        run_answers_seen(a) != run_answers_seen(b) ||
        memcmp(a->mark_end_ns, b->mark_end_ns, (size_t)a->mark_count * sizeof(int64_t)))
        return false;
    for (int i = 0; i < run_passes_seen(a); i++) {
        const struct run_pass *p = &a->passes[i], *q = &b->passes[i];
        if (p->phase != q->phase || p->first_column != q->first_column ||
            p->column_count != q->column_count || p->yields != q->yields ||
            p->start_ns != q->start_ns)
            return false;
    }
    for (int i = 0; i < a->prompt_count + run_answers_seen(a); i++) {
        const char *text_a = run_token_text(a, i, &bytes_a);
        const char *text_b = run_token_text(b, i, &bytes_b);
        if (bytes_a != bytes_b || memcmp(text_a, text_b, bytes_a) ||
            a->tokens[i].id != b->tokens[i].id ||
            a->tokens[i].is_control != b->tokens[i].is_control)
            return false;
    }
    return true;
}

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
        assert_true(is_same_body(copy, &own));
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
            assert_true(counting == RUN_CHARGED || is_same_body(run, back));
        }
        run_destroy(back);
        run_destroy(other);
        run_destroy(run);
    }
    assert_in_range(count, 200, 400);
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
        assert_true(is_same_body(run, back));
        run_destroy(back);
        assert_true(run_recount(&back, run, RUN_ENGINE, &why)); // its own counting: a copy
        assert_int_equal(back->info.origin, run->info.origin);
        assert_true(is_same_body(run, back));
        run_destroy(back);
        run_destroy(charged);
        run_destroy(run);
    }
}

static void a_copy_is_equal_and_shares_nothing(void **state) {
    (void)state;
    struct random_run_limits limits = {.max_layers = 8, .max_answers = 40, .may_fail = true};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct run *run = random_run(seed, &limits), *copy = NULL;
        assert_true(run_copy(&copy, run, &why));
        assert_true(is_same_body(run, copy));
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
        cmocka_unit_test(a_leading_sign_for_a_space_is_read_as_one_and_left_out_of_a_word),
        cmocka_unit_test(an_engine_run_gives_the_definitions_of_the_field),
        cmocka_unit_test(what_cannot_be_seen_is_minus_one_and_empty_text),
        cmocka_unit_test(an_answer_token_appears_with_its_output_mark),
        cmocka_unit_test(tpot_is_rounded_to_the_nearest_nanosecond),
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
        cmocka_unit_test(without_a_cache_the_laws_hold_too),
        cmocka_unit_test(stages_match_the_wall_within_five_percent),
        cmocka_unit_test(a_charged_step_as_long_as_the_first_step_is_put_in),
        cmocka_unit_test(without_a_step_one_column_of_prefill_is_charged),
        cmocka_unit_test(recounting_past_the_time_range_fails_cleanly),
        cmocka_unit_test(every_figure_equals_a_walk_over_the_arrays),
        cmocka_unit_test(the_law_holds_on_large_runs_too),
        cmocka_unit_test(reading_never_looks_at_the_writers_counts),
        cmocka_unit_test(figures_never_go_back_as_time_goes_on),
        cmocka_unit_test(recounting_there_and_back_gives_the_same_run),
        cmocka_unit_test(a_copy_is_equal_and_shares_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
