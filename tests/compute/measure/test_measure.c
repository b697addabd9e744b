// Tests of one measured answer (generate.h) and of a measurement (measure.h) on a
// made-up device and a made-up clock: this program has its own stopwatch, which
// moves only when the device works, so every figure is known to the nanosecond.
// The device's "model" answers with token `position % 7 + 3` after any token.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/measure/measure.h"
#include "compute/run/moment.h"
#include "tests/compute/gguf/gguf_builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAYERS = 3, VOCAB = 16, CONTEXT = 64, END = 2, STAGE_NS = 1000, OUTPUT_NS = 500 };

// --- The clock: replaces compute/base/stopwatch.c in this program ---

static int64_t clock_ns;
static int64_t gap_ns;       // let pass between two passes
static int stamps_until_gap; // the next pass's start is so many readings away

int64_t stopwatch_now_ns(void) {
    if (stamps_until_gap > 0 && --stamps_until_gap == 0)
        clock_ns += gap_ns;
    return clock_ns;
}

static int64_t clock_step_ns = 1;

int64_t stopwatch_step_ns(void) {
    return clock_step_ns;
}

void stopwatch_utc_date(char out[32]) {
    memcpy(out, "2026-01-02T03:04:05Z", 21);
}

// --- The device ---

struct backend_state {
    int passes;                 // done so far
    int answers;                // passes with logits wanted, or a choice
    int chosen;                 // of them those with a choice alone
    int32_t last_fed;           // the last token of the last pass
    int fail_after;             // passes, -1 = never
    int stop_after;             // sets `stop` after so many passes, -1 = never
    int wavering_after;         // answers differently after so many passes, -1 = never
    int end_at;                 // position whose answer is the end token, -1 = none
    bool wrong_prefill;         // its logits differ from single steps
    const float *broken_logits; // all logits are this, NULL = they are good
    int runs;                   // passes at position 0
    const int *speeds;          // percent of the usual time, a run; NULL = all 100
    const int *prefill_speeds;  // the same of the prefills alone
    int64_t switches;           // grow by one a pass
    _Atomic bool stop, busy;
    int seen_busy;
    int back_after;   // passes after which the clock steps back within one, -1 = never
    int gap_from_run; // runs from this one on have gaps, -1 = none
};

static struct backend_state device;

static int percent_of_run(const struct backend_state *d, const struct backend_pass *pass) {
    int of_run = d->speeds ? d->speeds[d->runs - 1] : 100;
    bool is_prefill = pass->first_position == 0 && d->prefill_speeds;
    return is_prefill ? of_run * d->prefill_speeds[d->runs - 1] / 100 : of_run;
}

static void fill_logits(struct backend_state *d, const struct backend_pass *pass) {
    int last = pass->first_position + pass->count - 1;
    float own[VOCAB], *logits = pass->logits ? pass->logits : own;
    d->answers++;
    for (int i = 0; i < VOCAB; i++)
        logits[i] = d->broken_logits ? *d->broken_logits : (float)(i % 3);
    if (!d->broken_logits) {
        logits[last % 7 + 3] = 10;
        if (d->end_at == last)
            logits[END] = 20;
        if (d->wavering_after >= 0 && d->passes > d->wavering_after)
            logits[9 - last % 7] = 30;
        if (d->wrong_prefill && pass->count > 1)
            logits[0] += 0.05f;
    }
    if (!pass->greedy_id)
        return;
    d->chosen += !pass->logits;
    int best = 0;
    for (int i = 1; i < VOCAB; i++)
        best = logits[i] > logits[best] ? i : best;
    *pass->greedy_id = isfinite(logits[best]) ? best : -1;
}

static bool device_pass(struct backend_state *d, const struct backend_pass *pass, struct why *why) {
    d->passes++;
    d->switches++;
    d->last_fed = pass->tokens[pass->count - 1];
    d->runs += pass->first_position == 0 && pass->on_mark;
    d->seen_busy += pass->on_mark && atomic_load(&d->busy);
    if (d->fail_after >= 0 && d->passes > d->fail_after)
        return why_set(why, "the device was unplugged");
    // The passes of a check take no time.
    for (int stage = 0; stage <= LAYERS && pass->is_stopped; stage++) {
        clock_ns += (int64_t)STAGE_NS * pass->count * percent_of_run(d, pass) / 100;
        if (stage == 1 && d->back_after >= 0 && d->passes > d->back_after)
            clock_ns += gap_ns;
        if (pass->on_mark)
            pass->on_mark(pass->context, stage, clock_ns);
    }
    if (d->stop_after >= 0 && d->passes > d->stop_after)
        atomic_store(&d->stop, true);
    if (pass->on_mark && pass->is_stopped(pass->context))
        return why_set(why, "stopped");
    if (pass->logits || pass->greedy_id)
        fill_logits(d, pass);
    if (pass->on_mark) {
        clock_ns += OUTPUT_NS * percent_of_run(d, pass) / 100; // "sampling"
        bool has_gap = d->gap_from_run >= 0 && d->runs > d->gap_from_run;
        stamps_until_gap = has_gap ? 2 : 0; // after the output mark
    }
    return true;
}

static int64_t device_switches(struct backend_state *d) {
    return d->switches;
}

static int64_t device_lost_ns(struct backend_state *d) {
    return 10 * d->switches;
}

static const struct backend fake = {.lost_ns = device_lost_ns,
                                    .abi = BACKEND_ABI,
                                    .name = "fake",
                                    .pass = device_pass,
                                    .switches = device_switches};

// --- Everything together ---

struct bench {
    struct tokenizer *tokenizer;
    struct generate_scratch scratch;
    struct generate generate;
    struct run_info info;
    struct publish publish;
    int32_t prompt[CONTEXT];
};

static struct tokenizer *make_tokenizer(void) {
    static const char *const texts[VOCAB] = {"<unk>", "<s>", "</s>", "a", "b", "c", "d", "e",
                                             "f",     "g",   "h",    "i", "j", "k", "l", "m"};
    static const int32_t types[VOCAB] = {2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const float scores[VOCAB];
    struct why why = {0};
    struct gguf_builder builder;
    struct tokenizer *tokenizer = NULL;
    struct gguf *file;
    size_t bytes;
    gguf_builder_init(&builder);
    gguf_builder_text(&builder, "tokenizer.ggml.model", "llama");
    gguf_builder_texts(&builder, "tokenizer.ggml.tokens", VOCAB, texts);
    gguf_builder_numbers(&builder, "tokenizer.ggml.scores", 6, 4, VOCAB, scores);
    gguf_builder_numbers(&builder, "tokenizer.ggml.token_type", 5, 4, VOCAB, types);
    gguf_builder_u32(&builder, "tokenizer.ggml.bos_token_id", 1);
    gguf_builder_u32(&builder, "tokenizer.ggml.eos_token_id", END);
    uint8_t *data = gguf_builder_finish(&builder, &bytes);
    gguf_builder_clear(&builder);
    if (!gguf_parse(&file, "test", data, bytes, &why) || !tokenizer_open(&tokenizer, file, &why))
        fail_msg("%s", why.text);
    gguf_close(file);
    free(data);
    return tokenizer;
}

static int set_up(void **state) {
    static struct bench bench;
    struct why why = {0};
    memset(&bench, 0, sizeof(bench));
    device = (struct backend_state){.fail_after = -1,
                                    .back_after = -1,
                                    .stop_after = -1,
                                    .wavering_after = -1,
                                    .end_at = -1,
                                    .gap_from_run = -1};
    clock_ns = 1000000;
    gap_ns = stamps_until_gap = 0;
    bench.tokenizer = make_tokenizer();
    if (!generate_scratch_create(&bench.scratch, bench.tokenizer, VOCAB, &why))
        return -1;
    for (int i = 0; i < CONTEXT; i++)
        bench.prompt[i] = i == 0 ? 1 : 3 + i % 13;
    bench.info = (struct run_info){
        .layers = LAYERS, .heads = 1, .kv_heads = 1, .head_dim = 4, .kv_value_bytes = 4};
    bench.generate = (struct generate){
        .backend = &fake,
        .state = &device,
        .tokenizer = bench.tokenizer,
        .scratch = &bench.scratch,
        .vocab = VOCAB,
        .context = CONTEXT,
        .prompt = bench.prompt,
        .prompt_count = 5,
        .answer_limit = 4,
        .stop = &device.stop,
        .busy = &device.busy,
    };
    *state = &bench;
    return 0;
}

static int tear_down(void **state) {
    struct bench *bench = *state;
    generate_scratch_clear(&bench->scratch);
    tokenizer_close(bench->tokenizer);
    return 0;
}

// One answer; must end as expected. Owner: the caller.
static struct run *answer(struct bench *bench, enum generate_end wanted, struct why *why) {
    struct run *run = NULL;
    if (!generate_check(&bench->generate, why) ||
        !generate_prepare(&run, &bench->generate, &bench->info, why))
        fail_msg("%s", why->text);
    assert_int_equal(generate_answer(run, &bench->generate, NULL, why), wanted);
    return run;
}

static int32_t answer_id(const struct run *run, int n) {
    return run->tokens[run->prompt_count + n].id;
}

// --- One answer ---

static void a_clock_that_stepped_back_is_told_in_plain_words(void **state) {
    for (int within = 0; within < 2; within++) { // between two passes, within one
        struct why why = {0};
        device.gap_from_run = within ? -1 : 0;
        device.back_after = within ? 2 : -1;
        gap_ns = -5 * STAGE_NS;
        run_destroy(answer(*state, GENERATE_FAILED, &why));
        assert_string_equal(why.text, "the clock of this machine stepped back while it measured: "
                                      "measure again");
        device.passes = 0;
    }
}

static void every_stage_of_every_pass_is_in_the_run(void **state) {
    struct why why = {0};
    struct run *run = answer(*state, GENERATE_DONE, &why);
    assert_true(run_validate(run, &why));
    assert_int_equal(run->state, RUN_COMPLETE);
    assert_int_equal(run->prompt_count, 5);
    assert_int_equal(run->answer_count, 4);
    assert_int_equal(run->pass_count, 4);
    assert_int_equal(run->mark_count, 4 * (LAYERS + 2));
    assert_int_equal(run->passes[0].start_ns, 0);
    // Prefill: 4 stages of 5 tokens and the output; steps: 4 stages of 1.
    assert_int_equal(run_prefill_ns(run), 4 * 5 * STAGE_NS + OUTPUT_NS);
    assert_int_equal(run_ttft_ns(run), 4 * 5 * STAGE_NS + OUTPUT_NS);
    assert_int_equal(run_tpot_ns(run), 4 * STAGE_NS + OUTPUT_NS);
    assert_int_equal(run_moment_at(run, run_end_ns(run)).cache_entries, 5 + 4 - 1);
    for (int n = 0; n < 4; n++)
        assert_int_equal(answer_id(run, n), (4 + n) % 7 + 3);
    size_t bytes;
    assert_memory_equal(run_token_text(run, 5, &bytes), "e", 1); // id 7
    assert_int_equal(device.seen_busy, 4);
    assert_false(atomic_load(&device.busy));
    run_destroy(run);
}

static void an_end_token_ends_the_answer_and_counts(void **state) {
    struct why why = {0};
    device.end_at = 5; // what comes after the first answer token
    struct run *run = answer(*state, GENERATE_DONE, &why);
    assert_int_equal(run->state, RUN_COMPLETE);
    assert_int_equal(run->answer_count, 2);
    assert_int_equal(answer_id(run, 1), END);
    assert_int_equal(run->tokens[6].kind, RUN_CONTROL);
    assert_false(run->info.forced_length);
    assert_int_equal(run->pass_count, 2);
    run_destroy(run);
}

static void a_forced_length_passes_the_end_token_over(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    device.end_at = 5;
    bench->generate.answer_tokens = 6;
    struct run *run = answer(bench, GENERATE_DONE, &why);
    assert_int_equal(run->answer_count, 6);
    assert_true(run->info.forced_length);
    for (int n = 0; n < 6; n++)
        assert_int_equal(answer_id(run, n), (4 + n) % 7 + 3);
    run_destroy(run);
}

// At this temperature all of the device's logits are nearly alike.
static void a_seed_gives_its_own_answer_every_time(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    struct run *runs[3];
    bench->generate.answer_tokens = 20;
    bench->generate.sampler = (struct sampler){.temperature = 10, .top_p_unit = 1};
    for (int i = 0; i < 3; i++) {
        bench->generate.sampler.seed = i < 2 ? 5 : 6;
        runs[i] = answer(bench, GENERATE_DONE, &why);
        assert_int_equal(runs[i]->info.seed, bench->generate.sampler.seed);
    }
    int same = 0, other = 0;
    for (int n = 0; n < 20; n++) {
        same += answer_id(runs[0], n) == answer_id(runs[1], n);
        other += answer_id(runs[0], n) == answer_id(runs[2], n);
    }
    assert_int_equal(same, 20);
    assert_true(other < 20);
    for (int i = 0; i < 3; i++)
        run_destroy(runs[i]);
}

static void an_answer_ends_where_the_cache_is_full(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    bench->generate.prompt_count = CONTEXT - 2;
    bench->generate.answer_limit = 100;
    struct run *run = answer(bench, GENERATE_DONE, &why);
    assert_int_equal(run->state, RUN_COMPLETE);
    assert_int_equal(run->info.answer_limit, 3); // the last one needs no entry
    assert_int_equal(run->answer_count, 3);
    assert_int_equal(run_moment_at(run, run_end_ns(run)).cache_entries, CONTEXT);
    run_destroy(run);
    // A prompt that fills the context still yields one token.
    bench->generate.prompt_count = CONTEXT;
    run = answer(bench, GENERATE_DONE, &why);
    assert_int_equal(run->answer_count, 1);
    run_destroy(run);
}

static void requests_that_cannot_be_met_are_refused(void **state) {
    struct bench *bench = *state;
    const struct generate good = bench->generate;
    int32_t bad[] = {1, VOCAB}, worse[] = {-1};
    struct generate rows[10];
    static const char *const whys[10] = {
        "the prompt is empty",
        "the prompt is empty",
        "65 tokens",
        "at most 60 answer",
        "an answer of 0 tokens",
        "an answer of -1 tokens",
        "prompt token 1 has id 16",
        "prompt token 0 has id -1",
        "a temperature of -1",
        "a top-p of 0",
    };
    for (int i = 0; i < 10; i++)
        rows[i] = good;
    rows[0].prompt = NULL;
    rows[1].prompt_count = 0;
    rows[2].prompt_count = CONTEXT + 1;
    rows[3].answer_tokens = 61;
    rows[4].answer_limit = 0;
    rows[5].answer_tokens = -1;
    rows[6].prompt = bad, rows[6].prompt_count = 2;
    rows[7].prompt = worse, rows[7].prompt_count = 1;
    rows[8].sampler.temperature = -1;
    rows[9].sampler.temperature = 1;
    for (int i = 0; i < 10; i++) {
        struct why why = {0};
        assert_false(generate_check(&rows[i], &why));
        if (!strstr(why.text, whys[i]))
            fail_msg("row %d: %s", i, why.text);
    }
    struct why why = {0};
    bench->generate.answer_tokens = 60; // exactly full
    assert_true(generate_check(&bench->generate, &why));
}

static void a_failing_device_leaves_what_was_measured(void **state) {
    struct why why = {0};
    device.fail_after = 2;
    struct run *run = answer(*state, GENERATE_LOST, &why);
    assert_string_equal(why.text, "the device was unplugged");
    assert_int_equal(run->state, RUN_FAILED);
    assert_int_equal(run->answer_count, 2);
    assert_true(run_validate(run, &why));
    assert_false(atomic_load(&device.busy));
    run_destroy(run);
}

static void a_stop_ends_the_answer_within_a_pass(void **state) {
    struct why why = {0};
    device.stop_after = 2;
    struct run *run = answer(*state, GENERATE_STOPPED, &why);
    assert_string_equal(why.text, "stopped");
    assert_int_equal(run->state, RUN_FAILED);
    assert_int_equal(run->answer_count, 2);
    assert_int_equal(device.passes, 3);
    run_destroy(run);
}

static void logits_that_are_no_numbers_are_a_failure(void **state) {
    static const float values[] = {NAN, -INFINITY, INFINITY};
    for (int i = 0; i < 3; i++) {
        struct why why = {0};
        device.broken_logits = &values[i];
        struct run *run = answer(*state, GENERATE_FAILED, &why);
        assert_non_null(strstr(why.text, "answer token 1 are not numbers"));
        assert_int_equal(run->state, RUN_FAILED);
        run_destroy(run);
    }
}

struct watcher {
    const struct publish *publish;
    int calls;
    int marks[64];
};

static void watch(void *context) {
    struct watcher *watcher = context;
    struct run prefix;
    assert_true(publish_prefix(watcher->publish, &prefix, NULL));
    watcher->marks[watcher->calls++] = prefix.mark_count;
}

// Each step takes 4.5 us; a call is due after 33 ms.
static void a_watcher_is_called_now_and_then_with_the_marks_there(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    struct watcher watcher = {.publish = &bench->publish};
    struct run *run, prefix;
    static const int slow[] = {660000}; // percent: a stage of one token takes 6.6 ms
    device.speeds = slow;
    bench->generate.on_grown = watch;
    bench->generate.watcher = &watcher;
    assert_true(generate_prepare(&run, &bench->generate, &bench->info, &why));
    publish_begin(&bench->publish, run);
    assert_int_equal(generate_answer(run, &bench->generate, &bench->publish, &why), GENERATE_DONE);
    // Prefill: 33 ms a stage, four of them; then 30 ms a step, so about one call each.
    assert_in_range(watcher.calls, 6, 7);
    for (int i = 0; i < 4; i++)
        assert_int_equal(watcher.marks[i], i + 1);
    for (int i = 1; i < watcher.calls; i++)
        assert_true(watcher.marks[i] > watcher.marks[i - 1]);
    assert_true(publish_prefix(&bench->publish, &prefix, NULL));
    assert_int_equal(prefix.mark_count, run->mark_count);
    assert_int_equal(prefix.state, RUN_COMPLETE);
    run_destroy(run);
}

// --- Without a cache ---

static void without_a_cache_every_step_goes_through_all_tokens(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    struct run *cached = answer(bench, GENERATE_DONE, &why);
    bench->generate.without_cache = true;
    struct run *run = answer(bench, GENERATE_DONE, &why);
    assert_true(run_validate(run, &why));
    assert_true(run->info.recomputes && !cached->info.recomputes);
    assert_int_equal(run->pass_count, 4);
    for (int n = 0; n < 4; n++) {
        assert_int_equal(run->passes[n].first_column, 0);
        assert_int_equal(run->passes[n].column_count, 5 + n);
        assert_int_equal(run->passes[n].phase, n ? RUN_DECODE : RUN_PREFILL);
        assert_int_equal(run_pass_end_ns(run, n) - run->passes[n].start_ns,
                         4 * (5 + n) * STAGE_NS + OUTPUT_NS);
        assert_int_equal(answer_id(run, n), answer_id(cached, n));
    }
    assert_int_equal(run_moment_at(run, run_end_ns(run)).cache_entries, 0);
    // The answer so far is what is fed: a device that looks at it would notice.
    assert_int_equal(device.last_fed, answer_id(run, 2));
    run_destroy(run);
    run_destroy(cached);
}

static void without_a_cache_long_passes_are_computed_in_chunks(void **state) {
    enum { LONG = BACKEND_PREFILL_CHUNK - 1 };
    struct why why = {0};
    struct bench *bench = *state;
    int32_t *prompt = calloc(LONG, sizeof(*prompt));
    for (int i = 0; i < LONG; i++)
        prompt[i] = 3 + i % 13;
    bench->generate.prompt = prompt;
    bench->generate.prompt_count = LONG;
    bench->generate.context = LONG + 8;
    bench->generate.without_cache = true;
    struct run *run = answer(bench, GENERATE_DONE, &why);
    assert_true(run_validate(run, &why));
    assert_int_equal(run->pass_count, 4);
    assert_int_equal(run->mark_count, 4 * (LAYERS + 2));
    assert_int_equal(device.passes, 1 + 1 + 2 + 2); // 2047, 2048, 2049 and 2050 tokens
    for (int n = 0; n < 4; n++)
        assert_int_equal(run_pass_end_ns(run, n) - run->passes[n].start_ns,
                         (int64_t)4 * (LONG + n) * STAGE_NS + OUTPUT_NS);
    // The whole first chunk lies before the embedding of the last one is done.
    int64_t embedding_ns = run->mark_end_ns[2 * (LAYERS + 2)] - run->passes[2].start_ns;
    assert_int_equal(embedding_ns, (int64_t)4 * BACKEND_PREFILL_CHUNK * STAGE_NS + STAGE_NS);
    run_destroy(run);
    free(prompt);
}

static void without_a_cache_one_repeat_is_enough(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    struct measure_result result;
    bench->generate.without_cache = true;
    struct measure_plan plan = {
        .generate = &bench->generate, .info = &bench->info, .repeats = 5, .budget_ns = 1};
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    assert_int_equal(result.repeats, 1);
    assert_int_equal(result.warmups, 0); // the cold run took longer than all the budget
    assert_int_equal(result.step.count, 3);
    assert_int_equal(result.step.median_ns, 4 * 7 * STAGE_NS + OUTPUT_NS);
    measure_clear(&result);
    plan.budget_ns = (int64_t)1e12;
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    assert_int_equal(result.repeats, 5);
    assert_int_equal(result.warmups, 6);
    measure_clear(&result);
}

// --- A lost device ---

// The reason tells, not the stop flag.
static void a_device_lost_while_a_stop_is_on_its_way_is_lost(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    struct measure_result result;
    struct measure_plan plan = {
        .generate = &bench->generate, .info = &bench->info, .repeats = 5, .budget_ns = 1};
    device.fail_after = 2;
    struct run *run = answer(bench, GENERATE_LOST, &why);
    run_destroy(run);
    device.passes = 0;
    atomic_store(&device.stop, true);
    struct backend_pass pass = {.tokens = bench->prompt, .count = 1};
    device.fail_after = 0;
    assert_int_equal(generate_pass(&bench->generate, &pass, &why), GENERATE_LOST);
    // In a measurement: in the cold run, in the check after it, in the warm-up, in a repeat.
    static const int passes[] = {1, 6, 12, 17};
    atomic_store(&device.stop, false);
    for (int i = 0; i < 4; i++) {
        device.passes = 0;
        device.fail_after = passes[i];
        assert_int_equal(measure_run(&result, &plan, &why), GENERATE_LOST);
        assert_string_equal(why.text, "the device was unplugged");
        assert_null(result.shown);
        measure_clear(&result);
    }
}

static void a_temperature_close_to_0_answers_as_0_does(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    struct run *greedy = answer(bench, GENERATE_DONE, &why);
    assert_int_equal(device.chosen, 4); // by the device itself, without its scores
    bench->generate.sampler = (struct sampler){.temperature = 0.001f, .top_p_unit = 0.5f};
    struct run *drawn = answer(bench, GENERATE_DONE, &why);
    assert_int_equal(device.chosen, 4);
    for (int n = 0; n < 4; n++)
        assert_int_equal(answer_id(greedy, n), answer_id(drawn, n));
    run_destroy(greedy);
    run_destroy(drawn);
    bench->generate.sampler = (struct sampler){0};
    bench->generate.answer_tokens = 4; // end tokens are passed over: that needs the scores
    run_destroy(answer(bench, GENERATE_DONE, &why));
    assert_int_equal(device.chosen, 4);
}

// --- Order statistics ---

static void order_statistics_are_by_nearest_rank(void **state) {
    (void)state;
    static const struct {
        int count;
        int64_t samples[12], median, p10, p90;
    } rows[] = {
        {1, {7}, 7, 7, 7},
        {2, {9, 1}, 1, 1, 9},
        {3, {3, 1, 2}, 2, 1, 3},
        {4, {4, 3, 2, 1}, 2, 1, 4},
        {10, {10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 5, 1, 9},
        {11, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 6, 2, 10},
        {4, {5, 5, 5, 5}, 5, 5, 5},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t samples[12];
        memcpy(samples, rows[i].samples, sizeof(samples));
        int median = spread_median_index(samples, rows[i].count);
        assert_int_equal(samples[median], rows[i].median);
        struct spread spread = spread_of_samples(samples, rows[i].count);
        assert_int_equal(spread.count, rows[i].count);
        assert_int_equal(spread.median_ns, rows[i].median);
        assert_int_equal(spread.p10_ns, rows[i].p10);
        assert_int_equal(spread.p90_ns, rows[i].p90);
    }
    struct spread none = spread_of_samples(NULL, 0);
    assert_int_equal(none.count, 0);
    assert_int_equal(none.median_ns, -1);
}

// --- A measurement ---

struct progress {
    int calls, colds;
    enum measure_stage stage[64];
    int done[64], total[64];
};

static void note_progress(void *context, enum measure_stage stage, int done, int total) {
    struct progress *progress = context;
    progress->stage[progress->calls] = stage;
    progress->done[progress->calls] = done;
    progress->total[progress->calls++] = total;
}

static void note_cold(void *context) {
    ((struct progress *)context)->colds++;
}

static struct measure_plan plan_of(struct bench *bench, struct progress *progress) {
    return (struct measure_plan){
        .generate = &bench->generate,
        .info = &bench->info,
        .repeats = 5,
        .budget_ns = (int64_t)1e12,
        .publish = &bench->publish,
        .on_cold = note_cold,
        .on_progress = note_progress,
        .context = progress,
    };
}

static void the_shown_run_is_the_repeat_nearest_the_medians(void **state) {
    // Runs: cold, six warm (settled: both medians 100), then the repeats.
    static const int speeds[] = {300, 150, 100, 100, 100, 101, 99, 120, 80, 110, 90, 100};
    struct why why = {0};
    struct progress progress = {0};
    struct measure_result result;
    device.speeds = speeds;
    struct measure_plan plan = plan_of(*state, &progress);
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    assert_true(result.settled);
    assert_true(result.prefill_checked);
    assert_true(result.stages_match);
    assert_int_equal(result.warmups, 6);
    assert_int_equal(result.repeats, 5);
    assert_int_equal(result.mismatched, 0);
    int64_t prefill_ns = 4 * 5 * STAGE_NS + OUTPUT_NS, step_ns = 4 * STAGE_NS + OUTPUT_NS;
    assert_int_equal(result.prefill.median_ns, prefill_ns);
    assert_int_equal(result.prefill.p10_ns, prefill_ns * 80 / 100);
    assert_int_equal(result.prefill.p90_ns, prefill_ns * 120 / 100);
    assert_int_equal(result.prefill.count, 5);
    assert_int_equal(result.ttft.median_ns, prefill_ns);
    assert_int_equal(result.step.count, 5 * 3); // every step of every repeat
    assert_int_equal(result.step.median_ns, step_ns);
    assert_int_equal(result.step.p90_ns, step_ns * 120 / 100);
    assert_int_equal(result.tpot.median_ns, step_ns);
    assert_int_equal(result.e2e.median_ns, prefill_ns + 3 * step_ns);
    assert_int_equal(run_e2e_ns(result.shown), prefill_ns + 3 * step_ns);
    assert_int_equal(run_e2e_ns(result.cold), 3 * (prefill_ns + 3 * step_ns));
    assert_true(result.cold->info.cold);
    assert_false(result.shown->info.cold);
    assert_true(run_validate(result.shown, &why));
    assert_int_equal(progress.colds, 1);
    measure_clear(&result);
    measure_clear(&result);
}

// The repeat with the median E2E has a TTFT that no other has; its neighbour has neither.
static void a_run_with_a_strange_first_token_is_not_shown(void **state) {
    static const int speeds[] = {100, 100, 100, 100, 100, 100, 100, 106, 110, 40, 115, 120};
    static const int prefills[] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 400, 100, 100};
    struct why why = {0};
    struct progress progress = {0};
    struct measure_result result;
    device.speeds = speeds;
    device.prefill_speeds = prefills;
    struct measure_plan plan = plan_of(*state, &progress);
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    int64_t prefill_ns = 4 * 5 * STAGE_NS + OUTPUT_NS, step_ns = 4 * STAGE_NS + OUTPUT_NS;
    int64_t strange_ns = prefill_ns * 160 / 100 + 3 * (step_ns * 40 / 100);
    assert_int_equal(result.e2e.median_ns, strange_ns);
    assert_int_equal(run_ttft_ns(result.shown), prefill_ns * 115 / 100);
    measure_clear(&result);
}

static void a_disturbed_measurement_is_marked_with_its_ranges(void **state) {
    static const int speeds[] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 200, 300};
    struct why why = {0};
    struct progress progress = {0};
    struct measure_result result;
    struct measure_plan plan = plan_of(*state, &progress);
    device.speeds = speeds;
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    assert_true(disturbance_signs(&result.disturbance) & DISTURBED_SPREAD);
    // The passes of the repeats: five times a prefill and three steps.
    assert_int_equal(result.disturbance.switches, 5 * 4);
    assert_int_equal(result.disturbance.lost_ns, 10 * 5 * 4);
    assert_int_equal(result.disturbance.measured_ns,
                     run_e2e_ns(result.shown) * (100 + 100 + 100 + 200 + 300) / 100);
    const struct run_info *info = &result.shown->info;
    assert_true(info->is_disturbed);
    assert_int_equal(info->ttft.p10_ns, result.ttft.p10_ns);
    assert_int_equal(info->ttft.p90_ns, 3 * result.ttft.p10_ns);
    assert_int_equal(info->tpot.p90_ns, 3 * result.tpot.p10_ns);
    assert_int_equal(info->e2e.p90_ns, 3 * result.e2e.p10_ns);
    measure_clear(&result);
}

// A prefill of 20,500 ns, steps of 4,500.
static void a_time_not_above_the_clocks_own_step_is_refused(void **state) {
    for (int is_equal = 0; is_equal < 2; is_equal++) {
        struct why why = {0};
        struct progress progress = {0};
        struct measure_result result;
        struct measure_plan plan = plan_of(*state, &progress);
        clock_step_ns = 4 * STAGE_NS + OUTPUT_NS - 1 + is_equal;
        enum generate_end end = measure_run(&result, &plan, &why);
        clock_step_ns = 1;
        assert_int_equal(end, is_equal ? GENERATE_FAILED : GENERATE_DONE);
        if (is_equal)
            assert_string_equal(why.text, "a pass of 4500 ns is too short for this clock, whose "
                                          "step is 4500 ns: take a larger model");
        measure_clear(&result);
    }
}

static void progress_is_told_run_by_run(void **state) {
    struct why why = {0};
    struct progress progress = {0};
    struct measure_result result;
    struct measure_plan plan = plan_of(*state, &progress);
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    // 2 of cold, 7 of warm-up (0 .. 6), 6 of repeats (0 .. 5)
    assert_int_equal(progress.calls, 2 + 7 + 6);
    for (int i = 0; i < progress.calls; i++) {
        enum measure_stage stage = i < 2 ? MEASURE_COLD : i < 9 ? MEASURE_WARM : MEASURE_REPEAT;
        assert_int_equal(progress.stage[i], stage);
        assert_int_equal(progress.done[i], i < 2 ? i : i < 9 ? i - 2 : i - 9);
        assert_int_equal(progress.total[i], i < 2 ? 1 : i < 9 ? 0 : 5);
    }
    measure_clear(&result);
}

static void warm_up_goes_on_until_medians_agree(void **state) {
    // Medians of threes: 130, 110, 100, 99: the last two agree within 2 %.
    static const int speeds[] = {300, 130, 130, 130, 110, 110, 110, 100, 100,
                                 100, 99,  99,  99,  100, 100, 100, 100, 100};
    struct why why = {0};
    struct progress progress = {0};
    struct measure_result result;
    device.speeds = speeds;
    struct measure_plan plan = plan_of(*state, &progress);
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    assert_true(result.settled);
    assert_int_equal(result.warmups, 12);
    measure_clear(&result);
}

static void a_spent_budget_shortens_the_measurement_and_is_said(void **state) {
    struct why why = {0};
    struct progress progress = {0};
    struct measure_result result;
    struct measure_plan plan = plan_of(*state, &progress);
    plan.budget_ns = 1; // less than one run takes
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    assert_false(result.settled);
    assert_int_equal(result.warmups, 1);
    assert_int_equal(result.repeats, MEASURE_MIN_REPEATS);
    measure_clear(&result);

    plan.repeats = 2; // fewer than the least were asked for
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    assert_int_equal(result.repeats, 2);
    measure_clear(&result);

    // Ten runs' worth: half for warm-up, then repeats up to the end of it.
    plan.repeats = 50;
    plan.budget_ns = 10 * (4 * 5 * STAGE_NS + OUTPUT_NS + 3 * (4 * STAGE_NS + OUTPUT_NS));
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    assert_int_equal(result.warmups, 5);
    assert_int_equal(result.repeats, 5);
    measure_clear(&result);
}

static void one_token_has_no_tpot_and_no_steps(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    struct progress progress = {0};
    struct measure_result result;
    bench->generate.answer_tokens = 1;
    struct measure_plan plan = plan_of(bench, &progress);
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    assert_int_equal(result.tpot.count, 0);
    assert_int_equal(result.tpot.median_ns, -1);
    assert_int_equal(result.step.count, 0);
    assert_int_equal(result.e2e.count, 5);
    measure_clear(&result);
}

// A run's stages take 34,000 ns; gaps of 1,000 ns before three steps are 8 % of it.
static void repeats_with_time_outside_their_stages_do_not_count(void **state) {
    struct why why = {0};
    struct progress progress = {0};
    struct measure_result result;
    struct measure_plan plan = plan_of(*state, &progress);
    device.gap_from_run = 7 + 2; // cold, six warm-ups, two good repeats
    gap_ns = 1000;
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    assert_int_equal(result.repeats, 2);
    assert_int_equal(result.mismatched, 3);
    assert_int_equal(result.e2e.count, 2);
    assert_true(run_stages_match_wall(result.shown));
    assert_true(result.stages_match);
    measure_clear(&result);
}

static void a_measurement_without_one_good_repeat_fails_and_says_why(void **state) {
    struct why why = {0};
    struct progress progress = {0};
    struct measure_result result;
    struct measure_plan plan = plan_of(*state, &progress);
    device.gap_from_run = 0;
    gap_ns = 1000;
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_FAILED);
    assert_non_null(strstr(why.text, "in none of 5 repeats"));
    assert_null(result.shown);
    assert_non_null(result.cold);
    measure_clear(&result);
}

static void prefill_that_disagrees_with_single_steps_fails(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    struct progress progress = {0};
    struct measure_result result;
    device.wrong_prefill = true; // by 0.05 where the largest logit is 10
    struct measure_plan plan = plan_of(bench, &progress);
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_FAILED);
    assert_non_null(strstr(why.text, "prefill and token by token differ by 0.05"));
    assert_false(result.prefill_checked);
    measure_clear(&result);
    plan.is_checked = true; // it was right before: not checked again
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_DONE);
    assert_true(result.prefill_checked);
    measure_clear(&result);
}

static void a_backend_with_rounded_activations_is_given_what_rounding_needs(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    struct backend rounding = fake;
    device.wrong_prefill = true; // by 5/1000 of the largest logit
    bench->generate.backend = &rounding;
    rounding.prefill_error = 0.006;
    assert_int_equal(measure_check_prefill(&bench->generate, &why), GENERATE_DONE);
    rounding.prefill_error = 0.004;
    assert_int_equal(measure_check_prefill(&bench->generate, &why), GENERATE_FAILED);
}

static void the_check_feeds_the_first_64_tokens_and_no_more(void **state) {
    struct why why = {0};
    struct bench *bench = *state;
    bench->generate.prompt_count = CONTEXT;
    assert_int_equal(measure_check_prefill(&bench->generate, &why), GENERATE_DONE);
    assert_int_equal(device.passes, 1 + MEASURE_CHECK_TOKENS);
    assert_int_equal(device.answers, 2); // logits were wanted twice
    bench->generate.prompt_count = 2;
    assert_int_equal(measure_check_prefill(&bench->generate, &why), GENERATE_DONE);
    assert_int_equal(device.passes, 1 + MEASURE_CHECK_TOKENS + 3);
}

static void a_device_that_wavers_fails(void **state) {
    struct why why = {0};
    struct progress progress = {0};
    struct measure_result result;
    struct measure_plan plan = plan_of(*state, &progress);
    device.wavering_after = 30;
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_FAILED);
    assert_non_null(strstr(why.text, "different answers"));
    measure_clear(&result);
}

static void a_stop_ends_the_measurement_wherever_it_is(void **state) {
    for (int passes = 0; passes < 50; passes++) {
        struct why why = {0};
        struct progress progress = {0};
        struct measure_result result;
        struct measure_plan plan = plan_of(*state, &progress);
        device.passes = 0;
        device.stop_after = passes;
        atomic_store(&device.stop, false);
        assert_int_equal(measure_run(&result, &plan, &why), GENERATE_STOPPED);
        assert_string_equal(why.text, "stopped");
        assert_true(device.passes <= passes + 1);
        assert_null(result.shown);
        measure_clear(&result);
    }
}

static void impossible_numbers_of_repeats_are_refused(void **state) {
    struct why why = {0};
    struct progress progress = {0};
    struct measure_result result;
    struct measure_plan plan = plan_of(*state, &progress);
    plan.repeats = 0;
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_FAILED);
    plan.repeats = MEASURE_MAX_REPEATS + 1;
    assert_int_equal(measure_run(&result, &plan, &why), GENERATE_FAILED);
    assert_non_null(strstr(why.text, "expected 1 to 101"));
    assert_int_equal(device.passes, 0);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_BENCH(a_clock_that_stepped_back_is_told_in_plain_words),
        WITH_BENCH(every_stage_of_every_pass_is_in_the_run),
        WITH_BENCH(an_end_token_ends_the_answer_and_counts),
        WITH_BENCH(a_forced_length_passes_the_end_token_over),
        WITH_BENCH(a_seed_gives_its_own_answer_every_time),
        WITH_BENCH(an_answer_ends_where_the_cache_is_full),
        WITH_BENCH(requests_that_cannot_be_met_are_refused),
        WITH_BENCH(a_failing_device_leaves_what_was_measured),
        WITH_BENCH(a_stop_ends_the_answer_within_a_pass),
        WITH_BENCH(logits_that_are_no_numbers_are_a_failure),
        WITH_BENCH(a_watcher_is_called_now_and_then_with_the_marks_there),
        WITH_BENCH(without_a_cache_every_step_goes_through_all_tokens),
        WITH_BENCH(without_a_cache_long_passes_are_computed_in_chunks),
        WITH_BENCH(without_a_cache_one_repeat_is_enough),
        WITH_BENCH(a_device_lost_while_a_stop_is_on_its_way_is_lost),
        WITH_BENCH(a_temperature_close_to_0_answers_as_0_does),
        WITH_BENCH(order_statistics_are_by_nearest_rank),
        WITH_BENCH(the_shown_run_is_the_repeat_nearest_the_medians),
        WITH_BENCH(a_run_with_a_strange_first_token_is_not_shown),
        WITH_BENCH(a_disturbed_measurement_is_marked_with_its_ranges),
        WITH_BENCH(a_time_not_above_the_clocks_own_step_is_refused),
        WITH_BENCH(progress_is_told_run_by_run),
        WITH_BENCH(warm_up_goes_on_until_medians_agree),
        WITH_BENCH(a_spent_budget_shortens_the_measurement_and_is_said),
        WITH_BENCH(one_token_has_no_tpot_and_no_steps),
        WITH_BENCH(repeats_with_time_outside_their_stages_do_not_count),
        WITH_BENCH(a_measurement_without_one_good_repeat_fails_and_says_why),
        WITH_BENCH(prefill_that_disagrees_with_single_steps_fails),
        WITH_BENCH(a_backend_with_rounded_activations_is_given_what_rounding_needs),
        WITH_BENCH(the_check_feeds_the_first_64_tokens_and_no_more),
        WITH_BENCH(a_device_that_wavers_fails),
        WITH_BENCH(a_stop_ends_the_measurement_wherever_it_is),
        WITH_BENCH(impossible_numbers_of_repeats_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
