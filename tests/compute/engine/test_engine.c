// Tests of the engine with a real model (the bundled one, else stories260K from the
// test data): its worker measures while this thread polls and reads. Run also under
// the thread sanitizer; that is what proves the hand-over. The prefix law is tested
// on snapshots taken while the cold run grows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/engine/engine.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SNAPSHOTS = 200 };

// Only a hang takes longer: a sanitizer on a machine that others keep busy needs minutes.
static const int64_t patience_ns = (int64_t)600e9;

static bool is_bundled;

// NULL: there is no model here.
static const char *model_path(void) {
    static char path[512];
    snprintf(path, sizeof(path), "%s/assets/model/tokendrip.gguf", TOKENDRIP_SOURCE_DIR);
    is_bundled = access(path, R_OK) == 0;
    if (is_bundled)
        return path;
    const char *folder = getenv("TOKENDRIP_TESTDATA");
#ifdef TOKENDRIP_TESTDATA
    folder = folder ? folder : TOKENDRIP_TESTDATA;
#endif
    snprintf(path, sizeof(path), "%s/stories260K/stories260K.f32.gguf", folder ? folder : "");
    return access(path, R_OK) == 0 ? path : NULL;
}

static struct engine *open_engine(int threads) {
    const char *path = model_path();
    if (!path) {
        print_message("no assets/model/tokendrip.gguf and no stories260K in the test data\n");
        skip();
    }
    struct why why = {0};
    struct engine *engine;
    struct engine_opts opts = {.model_path = path, .bundled = is_bundled, .threads = threads};
    if (!engine_open(&engine, &opts, &why))
        fail_msg("%s", why.text);
    return engine;
}

// A prompt of the tokens that `text` has.
static int prompt_of(const struct engine *engine, int32_t *out, int capacity, const char *text) {
    struct why why = {0};
    int count =
        tokenizer_encode(engine_tokenizer(engine), out, capacity, text, strlen(text), true, &why);
    if (count < 1)
        fail_msg("%s", why.text);
    return count;
}

static const char question[] =
    "You are a support agent. Answer from the policy. Where is my parcel?";

static struct engine_request request_for(const int32_t *prompt, int count) {
    return (struct engine_request){
        .prompt = prompt,
        .prompt_count = count,
        .answer_limit = 32,
        .repeats = 3,
        .budget_ns = 50000000,
    };
}

static void start(struct engine *engine, const struct engine_request *request) {
    struct why why = {0};
    if (!engine_start(engine, request, &why))
        fail_msg("%s", why.text);
}

static enum engine_stage wait_for_end(const struct engine *engine) {
    int64_t end_ns = stopwatch_now_ns() + patience_ns;
    struct engine_status status;
    do {
        engine_poll(engine, &status);
        if (status.stage == ENGINE_DONE || status.stage == ENGINE_FAILED ||
            status.stage == ENGINE_IDLE)
            return status.stage;
        usleep(500);
    } while (stopwatch_now_ns() < end_ns);
    fail_msg("stage %d after ten minutes", (int)status.stage);
    return ENGINE_FAILED;
}

static struct measure_result finish(struct engine *engine) {
    struct measure_result result = {0};
    struct engine_status status;
    enum engine_stage stage = wait_for_end(engine);
    engine_poll(engine, &status);
    if (stage != ENGINE_DONE)
        fail_msg("stage %d: %s", (int)stage, status.why);
    assert_true(engine_take(engine, &result));
    return result;
}

// --- One measurement ---

static void a_measurement_comes_out_whole_and_labelled(void **state) {
    (void)state;
    struct engine *engine = open_engine(0);
    struct engine_status status;
    engine_poll(engine, &status);
    assert_int_equal(status.stage, ENGINE_IDLE);
    int32_t prompt[64];
    struct engine_request request = request_for(prompt, prompt_of(engine, prompt, 64, question));
    start(engine, &request);
    memset(prompt, 0xff, sizeof(prompt)); // the engine has its own copy
    struct measure_result result = finish(engine);
    struct why why = {0};
    assert_true(run_validate(result.shown, &why) && run_validate(result.cold, &why));
    assert_int_equal(result.repeats + result.mismatched, 3);
    assert_true(result.prefill_checked && result.stages_match);
    assert_true(result.cold->info.cold && !result.shown->info.cold);
    assert_int_equal(result.shown->state, RUN_COMPLETE);
    assert_int_equal(result.shown->info.prompt_tokens, request.prompt_count);
    // The run nearest to the medians of TTFT and E2E: of an even kind, but not the median itself.
    int64_t shown_ns = run_e2e_ns(result.shown);
    assert_true(shown_ns >= result.e2e.p10_ns && shown_ns <= result.e2e.p90_ns);
    assert_int_equal(result.step.count, result.repeats * (result.shown->answer_count - 1));

    struct run_info info;
    engine_fill_info(engine, &info);
    assert_string_equal(info.device, "cpu");
    assert_string_equal(info.clock, "CLOCK_MONOTONIC");
    assert_string_equal(info.weights, is_bundled ? "bundled" : "file");
    assert_true(info.device_name[0] && info.model[0] && info.weight_type[0]);
    assert_true(info.threads >= 1 && info.weight_bytes > 0 && info.kv_value_bytes == 4);
    assert_string_equal(result.shown->info.model, info.model);
    assert_int_equal(strlen(result.shown->info.date), 20);
    assert_int_equal(result.shown->info.threads, info.threads);
    measure_clear(&result);
    engine_close(engine);
}

static void the_bundled_model_answers_in_its_own_words(void **state) {
    (void)state;
    struct engine *engine = open_engine(0);
    if (!is_bundled) {
        engine_close(engine);
        skip();
    }
    int32_t prompt[64];
    struct engine_request request = request_for(prompt, prompt_of(engine, prompt, 64, question));
    assert_int_equal(request.prompt_count, 18);
    start(engine, &request);
    struct measure_result result = finish(engine);
    const struct run *run = result.shown;
    char text[512] = "";
    for (int n = 0; n + 1 < run->answer_count; n++) {
        size_t bytes;
        const char *token = run_token_text(run, run->prompt_count + n, &bytes);
        strncat(text, token, bytes);
    }
    assert_int_equal(run->answer_count, 7); // the end token counts
    assert_int_equal(run->tokens[18 + 6].kind, RUN_CONTROL);
    assert_true(text[0] == ' ' || (text[0] >= 'A' && text[0] <= 'Z'));
    assert_int_equal(text[strlen(text) - 1], '.');
    measure_clear(&result);
    engine_close(engine);
}

// --- A model made from a shape ---

static struct engine *open_made(const char *shape, enum gguf_tensor_type type, const char *script) {
    struct why why = {0};
    struct engine *engine;
    const char *path = model_path();
    if (!path)
        skip();
    struct engine_opts opts = {.model_path = path,
                               .shape = shape,
                               .shape_type = type,
                               .shape_seed = 1,
                               .script = script,
                               .threads = 2,
                               .context = 64};
    if (!engine_open(&engine, &opts, &why))
        fail_msg("%s", why.text);
    return engine;
}

// The words alone; its own ids are what was computed with.
static void assert_script(const struct run *run, const char *script) {
    char text[1024] = "";
    for (int n = 0; n < run->answer_count; n++) {
        size_t bytes;
        const char *token = run_token_text(run, run->prompt_count + n, &bytes);
        if (run->tokens[run->prompt_count + n].kind != RUN_CONTROL)
            strncat(text, token, bytes);
    }
    if (strcmp(text[0] == ' ' ? text + 1 : text, script) != 0)
        fail_msg("answered \"%s\"", text);
}

static void a_shape_speaks_its_script_and_is_measured_as_any_model(void **state) {
    (void)state;
    static const char script[] = "Answer the policy.";
    struct engine *engine = open_made("stories-110m", GGUF_TENSOR_Q4_0, script);
    int32_t prompt[64];
    struct engine_request request = request_for(prompt, prompt_of(engine, prompt, 64, "Where?"));
    request.repeats = 1;
    request.budget_ns = 0;
    request.wants_roofline = true;
    start(engine, &request);
    struct measure_result result = finish(engine);
    const struct run *run = result.shown;
    assert_script(run, script);
    assert_string_equal(run->info.model, "stories-110m");
    assert_string_equal(run->info.weights, "synthetic");
    assert_string_equal(run->info.weight_type, "Q4_0");
    assert_int_equal(run->info.layers, 12);
    assert_false(run->info.forced_length);
    assert_int_equal(run->tokens[run->prompt_count + run->answer_count - 1].kind, RUN_CONTROL);
    assert_true(result.prefill_checked);
    // 110 million numbers of 4.5 bits, and what a step reads is all of them.
    assert_true(run->info.weight_bytes > 61000000 && run->info.weight_bytes < 63000000);
    assert_true(result.roofline.is_measured);
    assert_true(result.roofline.rates.read_bytes_s > 0 && result.roofline.rates.matrix_flop_s > 0);
    assert_true(result.roofline.prefill.share > 0 && result.roofline.decode.share > 0);
    int length = run->answer_count;
    measure_clear(&result);

    // Longer than the script: it begins again. The length is no token passed over.
    request.answer_tokens = length + 3;
    request.wants_roofline = false;
    start(engine, &request);
    result = finish(engine);
    assert_int_equal(result.shown->answer_count, length + 3);
    assert_false(result.shown->info.forced_length);
    assert_false(result.roofline.is_measured);
    size_t bytes, again_bytes;
    const char *first = run_token_text(result.shown, result.shown->prompt_count, &bytes);
    const char *again =
        run_token_text(result.shown, result.shown->prompt_count + length, &again_bytes);
    assert_int_equal(bytes, again_bytes);
    assert_memory_equal(first, again, bytes);
    measure_clear(&result);
    engine_close(engine);
}

static void a_shape_that_is_not_there_is_refused(void **state) {
    (void)state;
    struct why why = {0};
    struct engine *engine = (void *)1;
    const char *path = model_path();
    if (!path)
        skip();
    struct engine_opts opts = {.model_path = path, .shape = "llama-4", .script = "words"};
    assert_false(engine_open(&engine, &opts, &why));
    assert_null(engine);
    assert_non_null(strstr(why.text, "no shape \"llama-4\""));
    opts.shape = "stories-110m";
    opts.script = "";
    opts.model_path = "/nonexistent.gguf";
    assert_false(engine_open(&engine, &opts, &why));
    assert_non_null(strstr(why.text, "nonexistent.gguf"));
}

// --- The growing run ---

static void assert_is_prefix(const struct run *prefix, const struct run *whole) {
    assert_true(prefix->mark_count <= whole->mark_count);
    assert_memory_equal(prefix->mark_end_ns, whole->mark_end_ns,
                        (size_t)prefix->mark_count * sizeof(int64_t));
    assert_memory_equal(prefix->passes, whole->passes,
                        (size_t)run_passes_seen(prefix) * sizeof(struct run_pass));
    assert_memory_equal(prefix->tokens, whole->tokens,
                        (size_t)(prefix->prompt_count + run_answers_seen(prefix)) *
                            sizeof(struct run_token));
}

// The snapshots are copied as they are seen, and compared with the finished run.
static void what_is_seen_while_it_grows_is_a_prefix_of_the_cold_run(void **state) {
    (void)state;
    struct engine *engine = open_engine(0);
    struct run *seen[SNAPSHOTS];
    struct run live;
    int32_t prompt[64];
    int count = 0, growing = 0;
    assert_false(engine_live(engine, &live));
    struct engine_request request = request_for(prompt, prompt_of(engine, prompt, 64, question));
    request.answer_tokens = 200;
    start(engine, &request);
    struct engine_status status;
    int last = -1;
    do {
        engine_poll(engine, &status);
        struct why why = {0};
        if (!engine_live(engine, &live) || count == SNAPSHOTS)
            continue;
        // 200 passes of 10 marks: every 20th mark and the end.
        if (last >= 0 &&
            (live.mark_count == last || (live.state == RUN_OPEN && live.mark_count < last + 20)))
            continue;
        last = live.mark_count;
        growing += live.state == RUN_OPEN;
        assert_true(run_validate(&live, &why));
        assert_true(run_copy(&seen[count++], &live, &why));
    } while (status.stage == ENGINE_COLD || status.stage == ENGINE_WARM);
    struct measure_result result = finish(engine);
    assert_false(engine_live(engine, &live)); // it has been taken
    assert_true(count > 0);
    print_message("%d snapshots, %d of them while it grew\n", count, growing);
    for (int i = 0; i < count; i++) {
        assert_is_prefix(seen[i], result.cold);
        assert_true(i == 0 || seen[i]->mark_count > seen[i - 1]->mark_count);
    }
    for (int i = 0; i < count; i++)
        run_destroy(seen[i]);
    measure_clear(&result);
    engine_close(engine);
}

// --- Stopping, starting anew, closing ---

// Well below the pause between two runs, which a stop must not wait for, and above what a busy
// machine may need.
#define PROMPT_NS INT64_C(60000000000)

// A request that would take minutes.
static struct engine_request long_request(const int32_t *prompt, int count) {
    struct engine_request request = request_for(prompt, count);
    request.answer_tokens = 300;
    request.repeats = MEASURE_MAX_REPEATS;
    request.budget_ns = (int64_t)600e9;
    request.pause_ns = 2 * PROMPT_NS;
    return request;
}

// The worker, still busy with the first request, never sees the second one.
static void a_request_stopped_before_its_turn_leaves_the_engine_idle(void **state) {
    (void)state;
    struct engine *engine = open_engine(2);
    int32_t prompt[64];
    struct engine_request request = long_request(prompt, prompt_of(engine, prompt, 64, question));
    for (int i = 0; i < 8; i++) {
        start(engine, &request);
        usleep(20000);
        start(engine, &request);
        engine_stop(engine);
        assert_int_equal(wait_for_end(engine), ENGINE_IDLE);
    }
    engine_close(engine);
}

static void stopping_is_prompt_and_keeps_the_engine(void **state) {
    (void)state;
    struct engine *engine = open_engine(2);
    int32_t prompt[64];
    int count = prompt_of(engine, prompt, 64, question);
    struct engine_request request = long_request(prompt, count);
    static const int waits_us[] = {0, 300, 3000, 60000};
    for (int i = 0; i < 4; i++) {
        start(engine, &request);
        usleep((useconds_t)waits_us[i]);
        int64_t start_ns = stopwatch_now_ns();
        engine_stop(engine);
        assert_int_equal(wait_for_end(engine), ENGINE_IDLE);
        assert_true(stopwatch_now_ns() - start_ns < PROMPT_NS);
        struct measure_result none;
        assert_false(engine_take(engine, &none));
    }
    request = request_for(prompt, count);
    start(engine, &request);
    struct measure_result result = finish(engine);
    assert_int_equal(result.repeats + result.mismatched, 3);
    measure_clear(&result);
    engine_close(engine);
}

static void a_new_request_overtakes_the_old_one(void **state) {
    (void)state;
    struct engine *engine = open_engine(0);
    int32_t prompt[64];
    int count = prompt_of(engine, prompt, 64, question);
    struct engine_request slow = long_request(prompt, count);
    struct run live;
    for (int i = 0; i < 5; i++) {
        start(engine, &slow);
        usleep((useconds_t)(i * 2000));
    }
    struct engine_request quick = request_for(prompt, count);
    quick.answer_tokens = 3;
    start(engine, &quick);
    struct engine_status status;
    engine_poll(engine, &status);
    assert_int_equal(status.stage, ENGINE_COLD);
    assert_int_equal(status.request, 6);
    // Whatever is live now belongs to the new request.
    for (int64_t end_ns = stopwatch_now_ns() + patience_ns; stopwatch_now_ns() < end_ns;) {
        if (engine_live(engine, &live)) {
            assert_int_equal(live.info.answer_limit, 3);
            break;
        }
    }
    struct measure_result result = finish(engine);
    assert_int_equal(result.shown->answer_count, 3);
    // Dropped when nobody takes it before the next request.
    measure_clear(&result);
    start(engine, &quick);
    assert_int_equal(wait_for_end(engine), ENGINE_DONE);
    start(engine, &quick);
    result = finish(engine);
    assert_false(engine_take(engine, &result)); // only once
    measure_clear(&result);
    engine_close(engine);
}

static void closing_during_a_measurement_is_prompt(void **state) {
    (void)state;
    static const int waits_us[] = {0, 500, 5000, 50000};
    for (int i = 0; i < 4; i++) {
        struct engine *engine = open_engine(2);
        int32_t prompt[64];
        struct engine_request request =
            long_request(prompt, prompt_of(engine, prompt, 64, question));
        start(engine, &request);
        usleep((useconds_t)waits_us[i]);
        int64_t start_ns = stopwatch_now_ns();
        engine_close(engine);
        assert_true(stopwatch_now_ns() - start_ns < PROMPT_NS);
    }
    engine_close(NULL);
}

static void runs_rest_between_each_other(void **state) {
    (void)state;
    struct engine *engine = open_engine(0);
    int32_t prompt[64];
    struct engine_request request = request_for(prompt, prompt_of(engine, prompt, 64, question));
    request.pause_ns = 15000000;
    int64_t start_ns = stopwatch_now_ns();
    start(engine, &request);
    struct measure_result result = finish(engine);
    assert_true(stopwatch_now_ns() - start_ns >= (result.warmups + 3) * request.pause_ns);
    measure_clear(&result);
    engine_close(engine);
}

// --- Without a cache ---

// A model of the test data by its name there; NULL: it is not here.
static struct engine *open_stories(void) {
    static char path[512];
    struct why why = {0};
    struct engine *engine = NULL;
    const char *folder = getenv("TOKENDRIP_TESTDATA");
#ifdef TOKENDRIP_TESTDATA
    folder = folder ? folder : TOKENDRIP_TESTDATA;
#endif
    snprintf(path, sizeof(path), "%s/stories260K/stories260K.f32.gguf", folder ? folder : "");
    struct engine_opts opts = {.model_path = path, .device = "cpu", .threads = 2};
    return access(path, R_OK) == 0 && engine_open(&engine, &opts, &why) ? engine : NULL;
}

static void check_same_answer(struct engine *engine, const char *text, int answer_limit) {
    int32_t prompt[64];
    struct why why = {0};
    struct engine_request request = request_for(prompt, prompt_of(engine, prompt, 64, text));
    request.answer_limit = answer_limit;
    start(engine, &request);
    struct measure_result cached = finish(engine);
    request.without_cache = true;
    request.repeats = 1;
    request.wants_roofline = true; // not of these
    start(engine, &request);
    struct measure_result result = finish(engine);
    const struct run *run = result.shown;
    assert_true(run_validate(run, &why));
    assert_true(run->info.recomputes && !cached.shown->info.recomputes);
    assert_false(result.roofline.is_measured);
    assert_int_equal(run->answer_count, cached.shown->answer_count);
    assert_true(run->answer_count > 3);
    for (int i = 0; i < run->prompt_count + run->answer_count; i++)
        assert_int_equal(run->tokens[i].id, cached.shown->tokens[i].id);
    int last = run->pass_count - 1;
    assert_int_equal(run->passes[last].first_column, 0);
    assert_int_equal(run->passes[last].column_count, run->prompt_count + last);
    print_message("step %.3f ms with a cache, %.3f ms without\n",
                  (double)cached.step.median_ns / 1e6, (double)result.step.median_ns / 1e6);
    measure_clear(&result);
    measure_clear(&cached);
}

static void without_a_cache_the_answer_is_the_same(void **state) {
    (void)state;
    struct engine *engine = open_engine(0), *stories = open_stories();
    if (is_bundled)
        check_same_answer(engine, question, 32);
    engine_close(engine);
    if (stories)
        check_same_answer(stories, "Once upon a time", 60);
    engine_close(stories);
    if (!is_bundled && !stories)
        skip();
}

// --- Sweeps ---

static struct engine_sweep_request sweep_for(const int32_t *prompt, int count) {
    return (struct engine_sweep_request){
        .prompt = prompt, .prompt_count = count, .repeats = 3, .budget_ns = (int64_t)60e9};
}

static void start_sweep(struct engine *engine, const struct engine_sweep_request *request) {
    struct why why = {0};
    if (!engine_start_sweep(engine, request, &why))
        fail_msg("%s", why.text);
}

static void a_sweep_grows_point_by_point_to_its_end(void **state) {
    (void)state;
    struct engine *engine = open_engine(2);
    struct engine_status status;
    struct sweep sweep, before = {0};
    int32_t prompt[64];
    int count = prompt_of(engine, prompt, 64, question), most = 0;
    struct engine_sweep_request request = sweep_for(prompt, count);
    assert_false(engine_sweep_points(engine, &sweep));
    start_sweep(engine, &request);
    memset(prompt, 0xff, sizeof(prompt)); // the engine has its own copy
    do {
        struct why why = {0};
        engine_poll(engine, &status);
        assert_true(status.total == 0 || status.done <= status.total);
        if (status.stage == ENGINE_SWEEP) {
            assert_true(status.done >= most);
            most = status.done;
        }
        usleep(100);
        if (!engine_sweep_points(engine, &sweep))
            continue;
        assert_true(sweep_validate(&sweep, &why));
        assert_true(sweep.prefill_count >= before.prefill_count);
        before = sweep;
    } while (status.stage == ENGINE_SWEEP);
    assert_int_equal(status.stage, ENGINE_DONE);
    assert_true(engine_sweep_points(engine, &sweep));
    int lengths[SWEEP_MAX_POINTS], expected = sweep_lengths(lengths, count);
    assert_int_equal(sweep.prefill_count, expected);
    assert_int_equal(sweep.step_count, expected);
    for (int i = 0; i < expected; i++) {
        assert_int_equal(sweep.prefill[i].tokens, lengths[i]);
        assert_int_equal(sweep.prefill[i].count, 3);
        assert_true(sweep.prefill[i].median_ns > 0 && sweep.step[i].median_ns > 0);
    }
    struct measure_result none;
    struct run live;
    assert_false(engine_take(engine, &none)); // there are only points
    assert_false(engine_live(engine, &live));
    assert_false(engine_is_busy(engine));
    engine_close(engine);
}

static void a_request_stops_a_sweep_and_its_points_stay(void **state) {
    (void)state;
    struct engine *engine = open_engine(2);
    struct engine_status status;
    struct sweep sweep, after;
    int32_t prompt[64];
    int count = prompt_of(engine, prompt, 64, question);
    struct engine_sweep_request slow = sweep_for(prompt, count);
    struct engine_request quick = request_for(prompt, count);
    slow.repeats = 5;
    slow.pause_ns = 5000000;
    start_sweep(engine, &slow);
    for (int64_t end_ns = stopwatch_now_ns() + patience_ns; stopwatch_now_ns() < end_ns;) {
        engine_poll(engine, &status);
        if (status.done > 3)
            break;
    }
    start(engine, &quick);
    struct measure_result result = finish(engine);
    assert_true(result.repeats > 0);
    measure_clear(&result);
    assert_true(engine_sweep_points(engine, &sweep));
    assert_true(sweep.prefill_count > 1);
    // And it goes on: as many samples at the end as without the stop.
    start_sweep(engine, &slow);
    engine_poll(engine, &status);
    assert_int_equal(status.stage, ENGINE_SWEEP);
    assert_int_equal(wait_for_end(engine), ENGINE_DONE);
    assert_true(engine_sweep_points(engine, &after));
    for (int i = 0; i < after.prefill_count; i++)
        assert_int_equal(after.prefill[i].count, 5);
    // Stopping it by itself.
    slow.pause_ns = 2 * PROMPT_NS;
    start_sweep(engine, &slow);
    usleep(2000);
    int64_t start_ns = stopwatch_now_ns();
    engine_stop(engine);
    assert_int_equal(wait_for_end(engine), ENGINE_IDLE);
    assert_true(stopwatch_now_ns() - start_ns < PROMPT_NS);
    engine_close(engine);
}

static void sweeps_that_cannot_be_met_are_refused(void **state) {
    (void)state;
    struct engine *engine = open_engine(2);
    int32_t prompt[64];
    int count = prompt_of(engine, prompt, 64, question);
    struct engine_sweep_request rows[5];
    static const char *const whys[5] = {"0 repeats", "negative", "the prompt is empty",
                                        "from 19 tokens on", "prompt token 3 has id"};
    for (int i = 0; i < 5; i++)
        rows[i] = sweep_for(prompt, count);
    int32_t bad[64];
    memcpy(bad, prompt, sizeof(bad));
    bad[3] = INT32_MAX;
    rows[0].repeats = 0;
    rows[1].pause_ns = -1;
    rows[2].prompt_count = 0;
    rows[3].shortest = count + 1;
    rows[4].prompt = bad;
    for (int i = is_bundled ? 0 : 4; i < 5; i++) {
        struct why why = {0};
        assert_false(engine_start_sweep(engine, &rows[i], &why));
        if (!strstr(why.text, whys[i]))
            fail_msg("row %d: %s", i, why.text);
    }
    engine_close(engine);
}

// --- Rates that cannot be measured ---

static bool no_rates(struct backend_state *backend, size_t working_set_bytes,
                     struct device_rates *out, struct why *why) {
    (void)backend;
    (void)out;
    return why_set(why, "no room to read %zu bytes", working_set_bytes);
}

static void a_measurement_is_kept_when_only_the_rates_fail(void **state) {
    (void)state;
    struct why why = {0};
    struct engine *engine;
    struct backend poor = backend_cpu;
    const char *path = model_path();
    if (!path)
        skip();
    poor.measure_rates = no_rates;
    struct engine_opts opts = {.model_path = path, .device = "cpu", .threads = 2, .backend = &poor};
    if (!engine_open(&engine, &opts, &why))
        fail_msg("%s", why.text);
    int32_t prompt[64];
    struct engine_request request = request_for(prompt, prompt_of(engine, prompt, 64, question));
    request.wants_roofline = true;
    start(engine, &request);
    struct measure_result result = finish(engine);
    assert_int_equal(result.shown->state, RUN_COMPLETE);
    assert_false(result.roofline.is_measured);
    assert_non_null(strstr(result.no_roofline.text, "no room to read"));
    measure_clear(&result);
    engine_close(engine);
}

// --- A device that is lost ---

static _Atomic int passes_left; // until it is gone
static _Atomic bool is_falling; // it waits in its last pass
static _Atomic bool is_held;    // until this is false

static bool losing_pass(struct backend_state *backend, const struct backend_pass *pass,
                        struct why *why) {
    if (atomic_fetch_sub(&passes_left, 1) <= 0) {
        atomic_store(&is_falling, true);
        while (atomic_load(&is_held))
            usleep(100);
        return why_set(why, "the device fell off the bus (%d)", atomic_load(&passes_left));
    }
    return backend_cpu.pass(backend, pass, why);
}

static struct engine *open_losing(struct backend *losing, int passes) {
    struct why why = {0};
    struct engine *engine;
    const char *path = model_path();
    if (!path)
        skip();
    *losing = backend_cpu;
    losing->pass = losing_pass;
    atomic_store(&passes_left, passes);
    struct engine_opts opts = {
        .model_path = path, .device = "cpu", .threads = 2, .backend = losing};
    if (!engine_open(&engine, &opts, &why))
        fail_msg("%s", why.text);
    return engine;
}

static void a_lost_device_is_asked_no_more_and_its_first_reason_stays(void **state) {
    static const char first[] = "the device fell off the bus (-1)";
    (void)state;
    struct backend losing;
    struct engine *engine = open_losing(&losing, 1000000);
    struct engine_status status;
    int32_t prompt[64];
    struct why why = {0};
    int count = prompt_of(engine, prompt, 64, question);
    struct engine_request request = request_for(prompt, count);
    struct engine_sweep_request sweep = sweep_for(prompt, count);
    start(engine, &request);
    struct measure_result taken = finish(engine);
    atomic_store(&passes_left, 9); // of the next request
    start(engine, &request);
    assert_int_equal(wait_for_end(engine), ENGINE_FAILED);
    engine_poll(engine, &status);
    assert_string_equal(status.why.text, first);
    assert_int_equal(atomic_load(&passes_left), -1);
    for (int i = 0; i < 3; i++) {
        assert_false(engine_start(engine, &request, &why));
        assert_string_equal(why.text, first);
        assert_false(engine_start_sweep(engine, &sweep, &why));
        assert_string_equal(why.text, first);
    }
    usleep(20000);
    assert_int_equal(atomic_load(&passes_left), -1); // nobody asked it again
    engine_poll(engine, &status);
    assert_int_equal(status.stage, ENGINE_FAILED);
    assert_true(run_validate(taken.shown, &why)); // what was measured before is still true
    assert_int_equal(taken.shown->state, RUN_COMPLETE);
    measure_clear(&taken);
    engine_close(engine);
}

// The loss belongs to a request that has been overtaken: the new one hears of it, and the
// device is not asked again.
static void a_request_that_follows_a_loss_fails_with_it(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct backend losing;
        struct engine *engine = open_losing(&losing, 5);
        struct engine_status status;
        int32_t prompt[64];
        struct why why = {0};
        struct engine_request request =
            request_for(prompt, prompt_of(engine, prompt, 64, question));
        struct engine_sweep_request sweep = sweep_for(prompt, request.prompt_count);
        atomic_store(&is_falling, false);
        atomic_store(&is_held, true);
        start(engine, &request);
        while (!atomic_load(&is_falling))
            usleep(100);
        bool ok =
            i ? engine_start(engine, &request, &why) : engine_start_sweep(engine, &sweep, &why);
        atomic_store(&is_held, false);
        assert_true(ok); // nobody knew it yet
        assert_int_equal(wait_for_end(engine), ENGINE_FAILED);
        engine_poll(engine, &status);
        assert_int_equal(status.request, 2);
        assert_string_equal(status.why.text, "the device fell off the bus (-1)");
        assert_int_equal(atomic_load(&passes_left), -1);
        engine_close(engine);
    }
}

// --- Waking and signals ---

static void count_wake(void *context) {
    atomic_fetch_add((_Atomic int *)context, 1);
}

static void changes_wake_whoever_asked(void **state) {
    (void)state;
    struct engine *engine = open_engine(0);
    _Atomic int wakes = 0;
    int32_t prompt[64];
    struct engine_request request = request_for(prompt, prompt_of(engine, prompt, 64, question));
    engine_on_change(engine, count_wake, (void *)&wakes);
    start(engine, &request);
    struct measure_result result = finish(engine);
    int stages = 4; // cold, warm-up, repeats, done; more runs of one stage wake seldom
    for (int i = 0; i < 2000 && atomic_load(&wakes) < stages; i++)
        usleep(1000); // the last one comes after the status
    assert_true(atomic_load(&wakes) >= stages);
    assert_in_range(atomic_load(&wakes), stages, stages + 20);
    assert_false(engine_is_busy(engine));
    measure_clear(&result);
    engine_close(engine);
}

static int threads_with_signals_open(int *all) {
    int open_count = 0;
    *all = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char path[300], line[200];
        snprintf(path, sizeof(path), "/proc/self/task/%.200s/status", entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        while (file && fgets(line, sizeof(line), file)) {
            if (strncmp(line, "SigBlk:", 7) == 0) {
                open_count += (strtoull(line + 7, NULL, 16) & 0x4002) != 0x4002;
                (*all)++;
            }
        }
        if (file)
            fclose(file);
    }
    closedir(folder);
    return open_count;
}

static void signals_never_reach_the_worker(void **state) {
    (void)state;
    int before, after;
    int open_before = threads_with_signals_open(&before);
    struct engine *engine = open_engine(2);
    assert_int_equal(threads_with_signals_open(&after), open_before);
    assert_true(after >= before + 2); // the worker and its helper
    engine_close(engine);
}

// --- Refusals ---

static void what_cannot_be_opened_is_refused(void **state) {
    (void)state;
    const char *path = model_path();
    if (!path)
        skip();
    const struct {
        struct engine_opts opts;
        const char *why;
    } rows[] = {
        {{.model_path = path, .device = "tpu"}, "device 'tpu' is not known"},
        {{.model_path = "/nowhere/x.gguf"}, "x.gguf: cannot be opened"},
        {{.model_path = TOKENDRIP_SOURCE_DIR "/compute/engine/engine.c"}, "engine.c"},
        {{.model_path = path, .threads = -2}, "-2 threads"},
        {{.model_path = path, .context = 1 << 20}, "a context of 1048576"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct why why = {0};
        struct engine *engine = (void *)1;
        assert_false(engine_open(&engine, &rows[i].opts, &why));
        assert_null(engine);
        if (!strstr(why.text, rows[i].why))
            fail_msg("row %zu: %s", i, why.text);
    }
}

static void requests_that_cannot_be_met_leave_the_one_under_way(void **state) {
    (void)state;
    struct engine *engine = open_engine(0);
    int32_t prompt[64];
    int count = prompt_of(engine, prompt, 64, question);
    struct engine_request good = request_for(prompt, count);
    struct engine_request rows[6] = {good, good, good, good, good, good};
    static const char *const whys[6] = {"0 repeats",  "102 repeats",         "negative",
                                        "do not fit", "the prompt is empty", "an answer of 0"};
    rows[0].repeats = 0;
    rows[1].repeats = MEASURE_MAX_REPEATS + 1;
    rows[2].pause_ns = -1;
    rows[3].answer_tokens = engine_context(engine);
    rows[4].prompt_count = 0;
    rows[5].answer_limit = 0;
    start(engine, &good);
    for (int i = 0; i < 6; i++) {
        struct why why = {0};
        assert_false(engine_start(engine, &rows[i], &why));
        if (!strstr(why.text, whys[i]))
            fail_msg("row %d: %s", i, why.text);
    }
    struct measure_result result = finish(engine);
    assert_int_equal(result.repeats + result.mismatched, 3);
    measure_clear(&result);
    engine_close(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_measurement_comes_out_whole_and_labelled),
        cmocka_unit_test(the_bundled_model_answers_in_its_own_words),
        cmocka_unit_test(a_shape_speaks_its_script_and_is_measured_as_any_model),
        cmocka_unit_test(a_shape_that_is_not_there_is_refused),
        cmocka_unit_test(what_is_seen_while_it_grows_is_a_prefix_of_the_cold_run),
        cmocka_unit_test(stopping_is_prompt_and_keeps_the_engine),
        cmocka_unit_test(a_request_stopped_before_its_turn_leaves_the_engine_idle),
        cmocka_unit_test(a_new_request_overtakes_the_old_one),
        cmocka_unit_test(closing_during_a_measurement_is_prompt),
        cmocka_unit_test(runs_rest_between_each_other),
        cmocka_unit_test(without_a_cache_the_answer_is_the_same),
        cmocka_unit_test(a_sweep_grows_point_by_point_to_its_end),
        cmocka_unit_test(a_request_stops_a_sweep_and_its_points_stay),
        cmocka_unit_test(sweeps_that_cannot_be_met_are_refused),
        cmocka_unit_test(a_measurement_is_kept_when_only_the_rates_fail),
        cmocka_unit_test(a_lost_device_is_asked_no_more_and_its_first_reason_stays),
        cmocka_unit_test(a_request_that_follows_a_loss_fails_with_it),
        cmocka_unit_test(changes_wake_whoever_asked),
        cmocka_unit_test(signals_never_reach_the_worker),
        cmocka_unit_test(what_cannot_be_opened_is_refused),
        cmocka_unit_test(requests_that_cannot_be_met_leave_the_one_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
