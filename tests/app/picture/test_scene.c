// The laws of scene_at over thousands of random runs and moments: same input same
// view, a prefix shows what the whole run shows, the order of moments does not
// matter, fill only grows, nothing appears before it was measured, and what is
// shown adds up to what is in the run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/lesson/values.h"
#include "app/picture/scene/scene.h"
#include "compute/base/figures.h"
#include "compute/base/why.h"
#include "compute/tokenizer/tokenizer.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/compute/run/random_run.h"
#include "tests/render/data/alike.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 600, MOMENTS = 24 };

static struct view view_a, view_b;

static const struct random_run_limits small = {
    .max_layers = 40, .max_prompt = 300, .max_answers = 120};

static struct playhead_rate any_rate(uint64_t *random) {
    return (struct playhead_rate){1, (int32_t)random_between(random, 1, 100000)};
}

// Any moment: inside, at a mark, outside, far outside.
static int64_t any_moment(const struct run *run, uint64_t *random) {
    int64_t end_ns = run_end_ns(run);
    switch (random_between(random, 0, 9)) {
    case 0:
        return INT64_MIN;
    case 1:
        return INT64_MAX;
    case 2:
        return -random_between(random, 0, 1000000);
    case 3:
        return end_ns + random_between(random, 0, 1000000000);
    case 4:
    case 5:
        return run->mark_end_ns[random_between(random, 0, run->mark_count - 1)];
    default:
        return random_between(random, 0, end_ns);
    }
}

static int64_t cells_filled(const struct view *view) {
    int64_t cells = (int64_t)view->full_columns * view->layers * VIEW_PPM;
    if (!view->pass.active)
        return cells;
    int64_t layers_done = view->pass.stage > 0 ? view->pass.stage - 1 : 0;
    int64_t in_layer =
        view->pass.stage >= 1 && view->pass.stage <= view->layers ? view->pass.progress_ppm : 0;
    return cells + view->pass.column_count * (layers_done * VIEW_PPM + in_layer);
}

static void for_random_moments(void (*check)(const struct run *, int64_t, struct scene_options)) {
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct run *run = random_run(seed, &small);
        uint64_t random = seed * 77;
        struct scene_options options = scene_options_for(run, any_rate(&random));
        for (int i = 0; i < MOMENTS; i++) {
            options.is_moving = i % 2;
            check(run, any_moment(run, &random), options);
        }
        run_destroy(run);
    }
}

static void check_same_input(const struct run *run, int64_t t_ns, struct scene_options options) {
    memset(&view_a, 0x5A, sizeof view_a);
    scene_at(&view_a, run, t_ns, &options);
    memset(&view_b, 0xC3, sizeof view_b);
    scene_at(&view_b, run, t_ns, &options);
    assert_true(alike_views(&view_a, &view_b));
}

static void the_same_moment_gives_the_same_view_whatever_was_before(void **state) {
    (void)state;
    for_random_moments(check_same_input);
}

static void check_order(const struct run *run, int64_t t_ns, struct scene_options options) {
    static int64_t other_ns;
    scene_at(&view_b, run, t_ns, &options);
    scene_at(&view_a, run, other_ns, &options);
    scene_at(&view_a, run, t_ns, &options);
    assert_true(alike_views(&view_a, &view_b));
    other_ns = t_ns;
}

static void going_back_equals_never_having_gone_forward(void **state) {
    (void)state;
    for_random_moments(check_order);
}

// The prefix law: what a reader of a growing run sees at any moment up to the last
// finished stage is what the whole run shows there.
static void check_prefix(const struct run *run, int64_t t_ns, struct scene_options options) {
    int marks = run_marks_at(run, t_ns);
    if (marks >= run->mark_count)
        return;
    struct run prefix = *run;
    prefix.state = RUN_OPEN;
    scene_at(&view_a, run, t_ns, &options);
    int least = t_ns > (marks ? run->mark_end_ns[marks - 1] : 0) ? marks + 1 : marks;
    for (int count = least; count <= run->mark_count; count += 1 + (run->mark_count - count) / 3) {
        prefix.mark_count = count;
        scene_at(&view_b, &prefix, t_ns, &options);
        assert_true(alike_views(&view_a, &view_b));
    }
}

static void live_equals_replay(void **state) {
    (void)state;
    for_random_moments(check_prefix);
}

// Of a run that is watched as it plays: the moments shown never go back, and where they change
// between passes too quick for the eye, they do so no sooner than after the dwell.
static void what_is_too_quick_for_the_eye_is_held(void **state) {
    (void)state;
    const struct scene_hold hold = SCENE_HOLD_PICTURE;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct run *run = random_run(seed, &small);
        uint64_t random = seed;
        struct playhead_rate rate = any_rate(&random);
        int64_t end_ns = run_end_ns(run), before_ns = 0, held_from_ns = -1;
        for (int i = 0; i <= 2000; i++) {
            int64_t t_ns = end_ns / 2000 * i;
            int64_t shown_ns = scene_hold_ns(run, t_ns, hold, rate);
            assert_true(shown_ns >= before_ns && shown_ns <= t_ns);
            bool is_next = held_from_ns >= 0 && shown_ns < t_ns && shown_ns != held_from_ns;
            if (is_next)
                assert_true(shown_ns - held_from_ns >= playhead_run_ns(rate, hold.dwell_screen_ns));
            held_from_ns = shown_ns < t_ns ? shown_ns : -1;
            before_ns = shown_ns;
        }
        assert_int_equal(scene_hold_ns(run, end_ns, hold, rate), end_ns);
        run_destroy(run);
    }
}

static void check_conservation(const struct run *run, int64_t t_ns, struct scene_options options) {
    scene_at(&view_a, run, t_ns, &options);
    int answers = run_answers_at(run, t_ns);
    assert_int_equal(view_a.token_count, run->info.prompt_tokens + answers);
    assert_in_range(view_a.headers, view_a.prompt_tokens, view_a.columns);
    assert_true(view_a.full_columns <= view_a.headers);
    assert_true(view_a.headers <= view_a.token_count);
    assert_int_equal(view_a.dropped, 0);
    assert_in_range(view_a.playhead_ppm, 0, VIEW_PPM);
    if (view_a.pass.active) {
        int pass = run_marks_at(run, t_ns) / run_stages(run);
        assert_int_equal(view_a.span_count, pass + 1);
        assert_int_equal(view_a.spans[pass].to_ppm, view_a.playhead_ppm);
        assert_int_equal(view_a.spans[pass].is_prefill, view_a.pass.is_prefill);
    }
    assert_int_equal(view_a.is_finished, t_ns >= run_end_ns(run));
    // What is fed back lies in the answer.
    assert_true(view_a.headers - view_a.prompt_tokens <= answers);
    bool is_output = view_a.pass.active && view_a.pass.stage == view_a.layers + 1;
    if (!is_output || run->passes[view_a.span_count - 1].yields < 0)
        assert_int_equal(view_a.drop.grown_ppm, 0);
    else
        assert_true(view_a.drop.grown_ppm >= view_a.pass.progress_ppm);
    assert_true(view_a.drop.fallen_ppm == 0 || view_a.drop.grown_ppm == VIEW_PPM);
    for (int i = 0; i < view_a.token_count; i++)
        assert_int_equal(view_a.tokens[i].is_prefill,
                         i == run->info.prompt_tokens && run->info.counting == RUN_ENGINE);
    for (int i = 1; i < view_a.span_count; i++)
        assert_true(view_a.spans[i].from_ppm >= view_a.spans[i - 1].to_ppm - 1);
}

static void what_is_shown_adds_up_to_what_was_measured_by_then(void **state) {
    (void)state;
    for_random_moments(check_conservation);
}

static void fill_only_grows_and_ends_at_prompt_plus_answers_less_one(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct run *run = random_run(seed, &small);
        struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 100});
        int64_t cells = 0, end_ns = run_end_ns(run);
        int tokens = 0, playhead_ppm = 0;
        for (int i = 0; i <= 60; i++) {
            int64_t t_ns = (int64_t)((double)end_ns * i / 60.0);
            scene_at(&view_a, run, t_ns, &options);
            assert_true(cells_filled(&view_a) >= cells);
            assert_true(view_a.token_count >= tokens);
            assert_true(view_a.playhead_ppm >= playhead_ppm);
            cells = cells_filled(&view_a);
            tokens = view_a.token_count;
            playhead_ppm = view_a.playhead_ppm;
        }
        scene_at(&view_a, run, end_ns, &options);
        int answers = run_answers_seen(run);
        assert_true(view_a.is_finished);
        assert_int_equal(view_a.token_count, run->info.prompt_tokens + answers);
        assert_int_equal(view_a.full_columns, run->info.prompt_tokens + answers - 1);
        assert_int_equal(view_a.headers, view_a.full_columns);
        assert_false(view_a.pass.active);
        run_destroy(run);
    }
}

// A stage's fill moves by no more than the time that passed: nothing jumps.
static void between_marks_nothing_moves_faster_than_its_stage(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct run *run = random_run(seed, &small);
        uint64_t random = seed;
        struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 100});
        int mark = (int)random_between(&random, 0, run->mark_count - 1);
        int64_t start_ns = run_stage_start_ns(run, mark), end_ns = run->mark_end_ns[mark];
        if (end_ns - start_ns > 100) {
            int64_t step_ns = (end_ns - start_ns) / 50;
            int last_ppm = 0;
            for (int64_t t_ns = start_ns + 1; t_ns < end_ns; t_ns += step_ns) {
                scene_at(&view_a, run, t_ns, &options);
                assert_true(view_a.pass.active);
                assert_int_equal(view_a.pass.stage, mark % run_stages(run));
                assert_in_range(view_a.pass.progress_ppm - last_ppm, 0, VIEW_PPM / 49 + 2);
                last_ppm = view_a.pass.progress_ppm;
            }
        }
        run_destroy(run);
    }
}

static void a_settled_event_has_no_drop_and_no_trail(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct run *run = random_run(seed, &small);
        struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 1000});
        uint64_t random = seed;
        int event = (int)random_between(&random, 0, run_events(run) - 1);
        int64_t t_ns = run_event_ns(run, event);
        options.landed_ns = t_ns;
        scene_at(&view_a, run, t_ns, &options);
        if (!view_a.pass.active) { // else a pass of no length follows at once
            assert_int_equal(view_a.drop.grown_ppm, 0);
            assert_int_equal(view_a.trail.light_ppm, 0);
        }
        run_destroy(run);
    }
}

// A run of 1 layer, whose passes are `pass_ns` long and follow one another at once:
// prefill of `chunks` columns in as many passes, then one answer token a pass.
static struct run *run_of_passes(enum run_counting counting, int chunks, int answers,
                                 int64_t pass_ns) {
    struct run_info info = {.counting = counting,
                            .layers = 1,
                            .unit_ns = 1,
                            .prompt_tokens = chunks,
                            .answer_limit = answers};
    struct run *run = NULL;
    struct why why;
    assert_true(run_create(&run, &info, chunks, &why));
    for (int i = 0; i < chunks; i++)
        assert_true(run_add_prompt_token(run, i, "p", 1, false, &why));
    bool is_charging = counting == RUN_CHARGED;
    for (int column = 0, yielded = 0; yielded < answers;) {
        bool is_prefill = column < chunks, is_free = is_charging && yielded == 0;
        struct run_pass pass = {.phase = is_prefill ? RUN_PREFILL : RUN_DECODE,
                                .first_column = column,
                                .column_count = is_prefill || !is_free ? 1 : 0,
                                .yields = yielded,
                                .start_ns = run_end_ns(run)};
        if (is_prefill && (is_charging || column + 1 < chunks))
            pass.yields = -1;
        assert_true(run_begin_pass(run, &pass, &why));
        if (pass.yields >= 0)
            assert_true(run_add_answer_token(run, yielded++, "a", 1, false, &why));
        for (int mark = 1; mark <= 3; mark++)
            assert_true(run_add_mark(run, pass.start_ns + pass_ns * mark / 3, &why));
        column += pass.column_count;
    }
    run_close(run, RUN_COMPLETE);
    return run;
}

// With `passes` passes done the spans hold `merge` passes each, but never such of two
// kinds, nor the charged step with others; they leave out none.
static void check_spans(const struct run *run, int passes, int merge) {
    enum { CHUNKS = 5, PASS_NS = 3000 };
    struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 1});
    options.scale_ns = (int64_t)VIEW_PPM * PASS_NS / 100; // 100 ppm of the clock a pass
    scene_at(&view_a, run, (int64_t)passes * PASS_NS, &options);
    assert_int_equal(view_a.dropped, 0);
    int pass = 0, span = 0;
    while (pass < passes) {
        bool is_prefill = pass < CHUNKS, is_charged = pass == CHUNKS;
        int end = is_charged ? pass + 1 : pass + merge;
        if (is_prefill && end > CHUNKS)
            end = CHUNKS;
        if (end > passes || span == VIEW_MAX_SPANS - 1)
            end = passes; // the last span there is room for takes what is left over
        assert_true(span < view_a.span_count);
        assert_int_equal(view_a.spans[span].from_ppm, pass * 100);
        assert_int_equal(view_a.spans[span].to_ppm, end * 100);
        assert_int_equal(view_a.spans[span].is_prefill, is_prefill);
        assert_int_equal(view_a.spans[span].is_charged, is_charged);
        pass = end;
        span++;
    }
    assert_int_equal(view_a.span_count, span);
    assert_int_equal(view_a.decode_label_ppm, passes > CHUNKS ? CHUNKS * 100 : -1);
}

static void the_clock_merges_passes_when_they_are_more_than_its_spans(void **state) {
    (void)state;
    // Five chunks of prefill, the charged step, 2,494 steps of decode.
    struct run *run = run_of_passes(RUN_CHARGED, 5, 2495, 3000);
    static const struct {
        int passes, merge;
    } rows[] = {{1, 1}, {6, 1}, {1023, 1}, {1024, 2}, {1025, 2}, {2047, 2}, {2048, 3}, {2500, 3}};
    assert_int_equal(run_passes_seen(run), 2500);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_spans(run, rows[i].passes, rows[i].merge);
    run_destroy(run);
}

// --- Falling ---

// Passes of 3000 ns in three stages; answer 0 is out at 3000, answer 1 at 6000. The fall takes
// 550 ns at this rate, and never more than three fifths of the output stage.
static void a_drop_arrives_when_its_token_is_measured_out(void **state) {
    (void)state;
    static const struct {
        int den;
        int64_t t_ns;
        int answers, grown_ppm, fallen_ppm, trail_ppm;
    } moments[] = {
        {1000000, 1999, 0, 0, 0, 0},        {1000000, 2225, 0, 500000, 0, 0},
        {1000000, 2450, 0, VIEW_PPM, 0, 0}, {1000000, 2725, 0, VIEW_PPM, 500000, 0},
        {1000000, 3000, 1, 0, 0, VIEW_PPM}, {1000000, 3090, 1, 0, 0, 800000},
        {1000000, 3450, 1, 0, 0, 0},        {1000000, 5725, 1, VIEW_PPM, 500000, 0},
        {1000000, 6000, 2, 0, 0, VIEW_PPM}, {1000000, 6450, 2, 0, 0, 0},
        {500000, 2400, 0, VIEW_PPM, 0, 0},  {500000, 2700, 0, VIEW_PPM, 500000, 0},
        {500000, 3090, 1, 0, 0, 900000},
    };
    struct run *run = run_of_passes(RUN_ENGINE, 1, 2, 3000);
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
        struct scene_options options =
            scene_options_for(run, (struct playhead_rate){1, moments[i].den});
        scene_at(&view_a, run, moments[i].t_ns, &options);
        assert_int_equal(view_a.token_count - 1, moments[i].answers);
        assert_int_equal(view_a.drop.grown_ppm, moments[i].grown_ppm);
        assert_int_equal(view_a.drop.fallen_ppm, moments[i].fallen_ppm);
        // Passes of 3 ms on the screen: from the second on they must be calm.
        if (moments[i].t_ns <= 3000)
            assert_int_equal(view_a.trail.light_ppm, moments[i].trail_ppm);
        if (view_a.drop.grown_ppm > 0)
            assert_int_equal(view_a.drop.column, moments[i].answers);
        if (view_a.drop.grown_ppm > 0)
            assert_int_equal(view_a.drop.is_prefill, moments[i].answers == 0);
    }
    run_destroy(run);
}

// Over all of an output stage, in small steps: it only grows, then only goes down.
static void every_drop_of_every_run_only_goes_down_and_arrives_in_time(void **state) {
    (void)state;
    enum { STEPS = 64 };
    for (uint64_t seed = 1; seed <= RUNS / 4; seed++) {
        struct run *run = random_run(seed, &small);
        uint64_t random = seed;
        struct scene_options options = scene_options_for(run, any_rate(&random));
        int answer = (int)random_between(&random, 0, run_answers_seen(run) - 1);
        int64_t end_ns = run_answer_ns(run, answer);
        int mark = run_marks_at(run, end_ns - 1);
        int64_t start_ns = run_stage_start_ns(run, mark);
        int grown_ppm = 0, fallen_ppm = 0;
        for (int i = 1; i < STEPS && end_ns - start_ns > STEPS; i++) {
            scene_at(&view_a, run, start_ns + (end_ns - start_ns) * i / STEPS, &options);
            assert_true(view_a.drop.grown_ppm >= grown_ppm);
            assert_true(view_a.drop.fallen_ppm >= fallen_ppm);
            grown_ppm = view_a.drop.grown_ppm;
            fallen_ppm = view_a.drop.fallen_ppm;
        }
        scene_at(&view_a, run, end_ns, &options);
        assert_true(view_a.token_count - run->info.prompt_tokens > answer);
        run_destroy(run);
    }
}

// A hand-made run of 1-byte and control tokens to see what is drawn.
static struct run *run_of_tokens(const char *const *texts, int count) {
    struct run_info info = {.layers = 1,
                            .heads = 1,
                            .kv_heads = 1,
                            .head_dim = 1,
                            .kv_value_bytes = 4,
                            .unit_ns = 1,
                            .prompt_tokens = count,
                            .answer_limit = 1};
    struct run *run = NULL;
    struct why why;
    assert_true(run_create(&run, &info, 1, &why));
    for (int i = 0; i < count; i++) {
        enum run_token_kind kind = texts[i][0] == '<' ? RUN_CONTROL : RUN_PIECE;
        assert_true(run_add_prompt_token(run, i, texts[i], strlen(texts[i]), kind, &why));
    }
    return run;
}

static void every_token_text_becomes_drawable(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
        enum view_token_look look;
        int leading_space;
    } cases[] = {
        {"\xE2\x96\x81You", "You", TOKEN_WORD, 1},
        {"cel", "cel", TOKEN_WORD, 0},
        {" x", "x", TOKEN_WORD, 1},
        {"<s>", "\xE2\x9F\xA8s\xE2\x9F\xA9", TOKEN_CONTROL, 0},
        {"</s>",
         "\xE2\x9F\xA8"
         "end\xE2\x9F\xA9",
         TOKEN_CONTROL, 0},
        {"\xE2\x96\x81", "\xE2\x90\xA3", TOKEN_BLANK, 0},
        {"\n", "\xE2\x8F\x8E", TOKEN_BLANK, 0},
        {"a\tb",
         "a\xE2\x87\xA5"
         "b",
         TOKEN_WORD, 0},
        {"\xC3\xA9", "\xC3\xA9", TOKEN_WORD, 0},
        {"\x80", "0x80", TOKEN_BYTES, 0},
        {"a\xFF", "0x61 FF", TOKEN_BYTES, 0},
        {"x", "x", TOKEN_WORD, 0},
        {"\xE2", "0xE2", TOKEN_BYTES, 0},
        {"\x82", "0x82", TOKEN_BYTES, 0},
        {"\xAC", "⋯€", TOKEN_WORD, 0},
        {"\xE2\x82", "0xE2 82", TOKEN_BYTES, 0}, // as byte-level BPE splits them
        {"\xAC", "⋯€", TOKEN_WORD, 0},
        {" \xF0\x9F", "0x20 F0 9F", TOKEN_BYTES, 0},
        {"\x98\x80", "⋯␣😀", TOKEN_WORD, 0},
        {"\xF0", "0xF0", TOKEN_BYTES, 0},
        {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
         "abcdefghijklmnopqrstuvwxyzabcdefghijklmn…52", TOKEN_WORD, 0},
        {"\xC0", "0xC0", TOKEN_BYTES, 0},
        {"\xED\xA0\x80", "0xED A0 80", TOKEN_BYTES, 0},
        {"", "∅", TOKEN_BLANK, 0},
        {"\r", "⇤", TOKEN_BLANK, 0},
        {"\x1B[", "⟦ESC⟧[", TOKEN_WORD, 0},
        {"\xC2\xA0", "⍽", TOKEN_BLANK, 0},
        {"\xE2\x80\x8B", "⟦ZWSP⟧", TOKEN_BLANK, 0},
        {"\xE2\x80\x8D", "⟦ZWJ⟧", TOKEN_BLANK, 0},
        {"\xE3\x80\x80", "⟦U+3000⟧", TOKEN_BLANK, 0},
        {"\xE2\x9D\xA4\xEF\xB8\x8F", "❤⟦U+FE0F⟧", TOKEN_WORD, 0},
        {"\xCC\x81", "◌\xCC\x81", TOKEN_WORD, 0},
        {"e\xCC\x81", "e\xCC\x81", TOKEN_WORD, 0},
        {"␣", "⟦U+2423⟧", TOKEN_BLANK, 0}, // the sign itself
        {"  ", "␣␣", TOKEN_BLANK, 0},
        {"<|im_start|>", "⟨|im_start|⟩", TOKEN_CONTROL, 0},
        {"</tool>", "⟨/tool⟩", TOKEN_CONTROL, 0},
    };
    enum { COUNT = sizeof cases / sizeof cases[0] };
    const char *texts[COUNT];
    for (int i = 0; i < COUNT; i++)
        texts[i] = cases[i].in;
    struct run *run = run_of_tokens(texts, COUNT);
    struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 1});
    scene_at(&view_a, run, 0, &options);
    for (int i = 0; i < COUNT; i++) {
        assert_string_equal(view_a.tokens[i].text, cases[i].out);
        assert_int_equal(view_a.tokens[i].look, cases[i].look);
        assert_int_equal(view_a.tokens[i].leading_space, cases[i].leading_space);
    }
    run_destroy(run);
}

static int by_name(const void *a, const void *b) {
    const struct view_token *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : x->leading_space - y->leading_space;
}

static void no_two_tokens_of_the_vocabulary_have_one_name(void **state) {
    (void)state;
    static struct view_token names[1024];
    struct gguf *file = NULL;
    struct tokenizer *tokenizer = NULL;
    struct why why;
    assert_true(gguf_open(&file, TOKENDRIP_SOURCE_DIR "/assets/model/tokendrip.gguf", &why));
    assert_true(tokenizer_open(&tokenizer, file, &why));
    assert_int_equal(tokenizer_vocab(tokenizer), 1024);
    for (int id = 0; id < 1024; id++) {
        size_t bytes = 0;
        const char *text = tokenizer_text(tokenizer, id, &bytes);
        scene_token(&names[id], text, bytes, tokenizer_kind(tokenizer, id));
        // None is cut; one is this sign.
        assert_int_equal(strstr(names[id].text, SIGN_ELLIPSIS) != NULL, id == 1018);
    }
    qsort(names, 1024, sizeof names[0], by_name);
    for (int i = 1; i < 1024; i++)
        if (by_name(&names[i - 1], &names[i]) == 0)
            fail_msg("two tokens are called \"%s\"", names[i].text);
    tokenizer_close(tokenizer);
    gguf_close(file);
}

static void what_a_chat_format_adds_is_told_from_the_users_own(void **state) {
    (void)state;
    static const char *const texts[] = {"<|im_start|>", "user", "Hi", "you", "<|im_end|>"};
    struct run *run = run_of_tokens(texts, 5);
    struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 1});
    scene_at(&view_a, run, 0, &options);
    for (int i = 0; i < 5; i++)
        assert_false(view_a.tokens[i].is_framing);
    assert_string_equal(view_a.caption, "the prompt is ready: 5 tokens");
    run->info.chat = (struct run_chat){"chatml", 1, 1, 3, 1};
    scene_at(&view_a, run, 0, &options);
    for (int i = 0; i < 5; i++)
        assert_int_equal(view_a.tokens[i].is_framing, i != 1 && i != 3);
    assert_string_equal(view_a.caption, "the prompt is ready: 5 tokens, 2 of them your own, the "
                                        "others of the chat format chatml");
    assert_string_equal(view_a.tokens[0].text, "\xE2\x9F\xA8|im_start|\xE2\x9F\xA9");
    run_destroy(run);
}

static void words_follow_the_run_and_do_not_flash_at_its_boundaries(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 60; seed++) {
        struct run *run = random_run(seed, &small);
        struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 50000});
        for (int p = 0; p + 1 < run_passes_seen(run); p++) {
            int64_t end_ns = run_pass_end_ns(run, p);
            bool is_instant = run_marks_at(run, end_ns) != (p + 1) * run_stages(run);
            if (is_instant || end_ns - run->passes[p].start_ns < 2)
                continue;
            scene_at(&view_a, run, end_ns - 1, &options);
            options.landed_ns = INT64_MIN;
            scene_at(&view_b, run, end_ns, &options);
            assert_string_equal(view_a.caption, view_b.caption);
        }
        options.scale_ns = 1000;
        scene_at(&view_a, run, 0, &options);
        if (run->info.origin != RUN_LESSON)
            assert_non_null(strstr(view_a.rate, "50,000"));
        run_destroy(run);
    }
}

// Of a read-out: the first whose label is this.
static const struct view_readout *readout_of(const char *label) {
    for (int i = 0; i < view_a.readout_count; i++) {
        if (strcmp(view_a.readouts[i].label, label) == 0)
            return &view_a.readouts[i];
    }
    fail_msg("no %s", label);
    return NULL;
}

static void a_disturbed_run_says_so_and_shows_its_ranges(void **state) {
    (void)state;
    struct run *run = run_of_passes(RUN_ENGINE, 1, 3, 1000000);
    int64_t end_ns = run_end_ns(run);
    scene_at(&view_a, run, end_ns, &(struct scene_options){.scale_ns = 1000, .rate = {1, 1}});
    assert_string_equal(view_a.note, "");
    assert_string_equal(readout_of("TTFT")->note, "");
    run->info.is_disturbed = true;
    run->info.ttft = (struct run_range){1000000, 7000000};
    run->info.tpot = (struct run_range){2000000, 3000000};
    run->info.e2e = (struct run_range){9000000, 9500000};
    scene_at(&view_a, run, end_ns, &(struct scene_options){.scale_ns = 1000, .rate = {1, 1}});
    assert_string_equal(view_a.note, "disturbed; Shift R measures again");
    assert_string_equal(view_a.note_short, "disturbed");
    assert_string_equal(readout_of("TIME")->note, "p10\xE2\x80\x93p90");
    assert_string_equal(readout_of("TTFT")->note, "1.00\xE2\x80\x93"
                                                  "7.00 ms");
    assert_string_equal(readout_of("TPOT")->note, "2.00\xE2\x80\x93"
                                                  "3.00 ms");
    run->info.is_loaded = run->info.forced_length = true;
    scene_at(&view_a, run, 0, &(struct scene_options){.scale_ns = 1000, .rate = {1, 1}});
    assert_string_equal(view_a.note, "disturbed \xC2\xB7 length forced");
    assert_string_equal(readout_of("TTFT")->note, ""); // it has no value yet
    run_destroy(run);
}

static void a_prompt_that_waits_claims_no_measurement(void **state) {
    (void)state;
    static const char *const texts[] = {"a", "b"};
    struct run *run = run_of_tokens(texts, 2);
    struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 1000000});
    options.is_measuring = true;
    scene_at(&view_a, run, 0, &options);
    assert_non_null(strstr(view_a.origin[0], "not measured yet"));
    assert_string_equal(view_a.rate, "");
    assert_string_equal(view_a.scale_label, "");
    assert_string_equal(view_a.note, "measuring");
    run_destroy(run);
    run = random_run(2, &small);
    options.scale_ns = 1000;
    scene_at(&view_a, run, 0, &options);
    if (run->info.origin != RUN_LESSON)
        assert_non_null(strstr(view_a.rate, "1,000,000\xC3\x97 slower"));
    run_destroy(run);
}

static void rows_stop_lighting_when_a_pass_is_too_quick_for_the_eye(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 200; seed++) {
        struct run *run = random_run(seed, &small);
        for (int p = 0; p < run_passes_seen(run); p++) {
            int64_t start_ns = run->passes[p].start_ns, end_ns = run_pass_end_ns(run, p);
            struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 1});
            scene_at(&view_a, run, start_ns + (end_ns - start_ns) / 2, &options);
            if (!view_a.pass.active || view_a.span_count != p + 1)
                continue;
            if (p == 0) {
                assert_int_equal(view_a.pass.calm_ppm, 0);
                continue;
            }
            int64_t before_ns = run_pass_end_ns(run, p - 1) - run->passes[p - 1].start_ns;
            if (before_ns < 667000000)
                assert_int_equal(view_a.pass.calm_ppm, VIEW_PPM);
            options.rate.den = 1000000;
            scene_at(&view_a, run, start_ns + (end_ns - start_ns) / 2, &options);
            if (before_ns > 1000)
                assert_int_equal(view_a.pass.calm_ppm, 0);
        }
        run_destroy(run);
    }
}

static const char *value_of(const char *label) {
    for (int i = 0; i < view_a.readout_count; i++)
        if (strcmp(view_a.readouts[i].label, label) == 0)
            return view_a.readouts[i].value;
    fail_msg("no read-out %s", label);
    return "";
}

// Each form names the device and says what was not measured; only the model may go.
static void the_stamp_of_a_loaded_run_names_its_device_and_the_file(void **state) {
    (void)state;
    static const struct random_run_limits limits = {
        .max_prompt = 9, .max_answers = 4, .max_layers = 3};
    static const char *const forms[VIEW_ORIGINS] = {
        "measured · AMD EPYC, 2 threads · from a file · stories-110m · synthetic weights",
        "measured · AMD EPYC, 2 threads · from a file · synthetic weights",
        "measured · AMD EPYC · from a file · synthetic weights",
        "measured · AMD EPYC · from a file · synthetic weights",
        "measured · AMD EPYC · from a file · synthetic weights",
    };
    struct run *run = random_run(3, &limits);
    run->info.origin = RUN_MEASURED;
    run->info.cold = false;
    run->info.is_loaded = true;
    run->info.threads = 2;
    strcpy(run->info.device, "cpu");
    strcpy(run->info.device_name, "AMD EPYC");
    strcpy(run->info.model, "stories-110m");
    strcpy(run->info.weights, "synthetic");
    struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 100});
    scene_at(&view_a, run, run_end_ns(run), &options);
    for (int i = 0; i < VIEW_ORIGINS; i++)
        assert_string_equal(view_a.origin[i], forms[i]);
    strcpy(run->info.device_name, "Intel Xeon Platinum 8481C");
    scene_at(&view_a, run, run_end_ns(run), &options);
    assert_non_null(strstr(view_a.origin[2], "· Intel Xeon Platinum 8481C ·"));
    assert_non_null(strstr(view_a.origin[3], "· Xeon Platinum 8481C ·"));
    assert_non_null(strstr(view_a.origin[4], "· Xeon Platinum ·"));
    strcpy(run->info.device_name, "AMD EPYC");
    run->info.is_loaded = false;
    strcpy(run->info.weights, "bundled");
    scene_at(&view_a, run, run_end_ns(run), &options);
    assert_string_equal(view_a.origin[0], "measured · AMD EPYC, 2 threads · bundled model");
    run_destroy(run);
}

// What is on the screen after every event of a schedule, settled.
static void check_schedule(const char *name, enum run_counting counting, int event,
                           const char *const values[7]) {
    static const char *const labels[7] = {"TIME",   "TTFT",  "TPOT", "KV CACHE",
                                          "DECODE", "SHARE", "TOTAL"};
    struct run *run = lesson_run(name, counting, 0, 0);
    struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 100});
    int64_t t_ns = run_event_ns(run, event < 0 ? run_events(run) - 1 : event);
    options.landed_ns = t_ns;
    scene_at(&view_a, run, t_ns, &options);
    for (int i = 0; i < 7; i++)
        assert_string_equal(value_of(labels[i]), values[i]);
    assert_non_null(strstr(view_a.origin[0], "not measured"));
    run_destroy(run);
}

#define NONE "\xE2\x80\x94"

static void the_schedules_show_their_exact_figures(void **state) {
    (void)state;
    static const struct {
        const char *name;
        enum run_counting counting;
        int event; // -1 = the last
        const char *values[7];
    } cases[] = {
        {"module-7", RUN_CHARGED, 0, {"0 units", NONE, NONE, "0 tokens", NONE, NONE, NONE}},
        {"module-7", RUN_CHARGED, 1, {"72 units", NONE, NONE, "18 tokens", "0 units", "0 %", NONE}},
        {"module-7",
         RUN_CHARGED,
         2,
         {"97 units", "97 units", NONE, "18 tokens", "25 units", "26 %", NONE}},
        {"module-7",
         RUN_CHARGED,
         3,
         {"122 units", "97 units", "25 units", "19 tokens", "50 units", "41 %", NONE}},
        {"module-7",
         RUN_CHARGED,
         8,
         {"247 units", "97 units", "25 units", "24 tokens", "175 units", "71 %", "247 units"}},
        {"module-7",
         RUN_ENGINE,
         1,
         {"72 units", "72 units", NONE, "18 tokens", "0 units", "0 %", NONE}},
        {"module-7",
         RUN_ENGINE,
         -1,
         {"222 units", "72 units", "25 units", "24 tokens", "150 units", "68 %", "222 units"}},
        {"stage-0",
         RUN_CHARGED,
         -1,
         {"4.10 s", "120 ms", "20.0 ms", "224 tokens", "4.00 s", "98 %", "4.10 s"}},
        {"stage-0",
         RUN_ENGINE,
         -1,
         {"4.08 s", "100 ms", "20.0 ms", "224 tokens", "3.98 s", "98 %", "4.08 s"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_schedule(cases[i].name, cases[i].counting, cases[i].event, cases[i].values);
}

static void the_cache_counts_the_layers_that_prefill_has_filled(void **state) {
    (void)state;
    struct run *run = random_run(5, &small);
    struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 1});
    int layers = run->info.layers, first = run->passes[0].column_count;
    int64_t cell_bytes = run_cache_entry_bytes(run) / layers;
    for (int mark = 0; mark <= layers; mark++) {
        char layers_text[32];
        int64_t start_ns = run_stage_start_ns(run, mark), end_ns = run->mark_end_ns[mark];
        if (end_ns - start_ns < 2)
            continue;
        scene_at(&view_a, run, start_ns + (end_ns - start_ns) / 2, &options);
        int full = mark > 0 ? mark - 1 : 0;
        snprintf(layers_text, sizeof layers_text, "%d/%d layer%s", full, layers,
                 layers == 1 ? "" : "s");
        assert_string_equal(value_of("KV CACHE"), layers_text);
        for (int i = 0; i < view_a.readout_count; i++)
            if (strcmp(view_a.readouts[i].label, "KV CACHE") == 0 && view_a.readouts[i].note[0])
                assert_string_equal(view_a.readouts[i].note,
                                    figure_bytes(cell_bytes * full * first).text);
    }
    run_destroy(run);
}

// 62.5 % once was 62 % in the read-out and 63 % in the panel beside it.
static void a_share_is_one_text_wherever_it_is_written(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 15, 4);
    int64_t end_ns = run_end_ns(run);
    struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 100});
    char panel[64];
    scene_at(&view_a, run, end_ns, &options);
    assert_string_equal(value_of("SHARE"), "63 %");
    assert_true(lesson_value(panel, sizeof panel, "decode_share", run, end_ns));
    assert_string_equal(panel, "63 %");
    assert_true(lesson_value(panel, sizeof panel, "prefill_share", run, end_ns));
    assert_string_equal(panel, "37 %");
    run_destroy(run);
    run = lesson_run("module-7", RUN_CHARGED, 1, 512);
    scene_at(&view_a, run, run_end_ns(run), &options);
    assert_string_equal(value_of("SHARE"), "more than 99 %");
    run_destroy(run);
}

static void a_guess_stands_on_the_clock_where_it_was_made(void **state) {
    (void)state;
    struct run *run = random_run(5, &small);
    struct scene_options options = scene_options_for(run, (struct playhead_rate){1, 1});
    scene_at(&view_a, run, 0, &options);
    assert_int_equal(view_a.guess_ppm, -1);
    assert_string_equal(view_a.guess_label, "");
    options.guess_ns = options.scale_ns / 4;
    options.guess_decode_ppm = 620000;
    scene_at(&view_a, run, 0, &options);
    assert_in_range(view_a.guess_ppm, VIEW_PPM / 4 - 1000, VIEW_PPM / 4);
    assert_non_null(strstr(view_a.guess_label, "your guess: "));
    assert_non_null(strstr(view_a.guess_label, "decode 62 %"));
    options.guess_ns = options.scale_ns * 20; // off the scale: at its end
    scene_at(&view_a, run, 0, &options);
    assert_int_equal(view_a.guess_ppm, VIEW_PPM);
    run_destroy(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guess_stands_on_the_clock_where_it_was_made),
        cmocka_unit_test(the_cache_counts_the_layers_that_prefill_has_filled),
        cmocka_unit_test(a_share_is_one_text_wherever_it_is_written),
        cmocka_unit_test(the_same_moment_gives_the_same_view_whatever_was_before),
        cmocka_unit_test(going_back_equals_never_having_gone_forward),
        cmocka_unit_test(live_equals_replay),
        cmocka_unit_test(what_is_shown_adds_up_to_what_was_measured_by_then),
        cmocka_unit_test(fill_only_grows_and_ends_at_prompt_plus_answers_less_one),
        cmocka_unit_test(between_marks_nothing_moves_faster_than_its_stage),
        cmocka_unit_test(a_settled_event_has_no_drop_and_no_trail),
        cmocka_unit_test(the_clock_merges_passes_when_they_are_more_than_its_spans),
        cmocka_unit_test(a_drop_arrives_when_its_token_is_measured_out),
        cmocka_unit_test(every_drop_of_every_run_only_goes_down_and_arrives_in_time),
        cmocka_unit_test(every_token_text_becomes_drawable),
        cmocka_unit_test(no_two_tokens_of_the_vocabulary_have_one_name),
        cmocka_unit_test(what_a_chat_format_adds_is_told_from_the_users_own),
        cmocka_unit_test(words_follow_the_run_and_do_not_flash_at_its_boundaries),
        cmocka_unit_test(a_disturbed_run_says_so_and_shows_its_ranges),
        cmocka_unit_test(a_prompt_that_waits_claims_no_measurement),
        cmocka_unit_test(rows_stop_lighting_when_a_pass_is_too_quick_for_the_eye),
        cmocka_unit_test(what_is_too_quick_for_the_eye_is_held),
        cmocka_unit_test(the_schedules_show_their_exact_figures),
        cmocka_unit_test(the_stamp_of_a_loaded_run_names_its_device_and_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
