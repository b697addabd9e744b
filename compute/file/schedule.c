// See schedule.h. Reading checks one field after the other against a table of
// keys; making a run is plain arithmetic in integers, so that a lesson's figures
// come out exact.
#include "compute/file/schedule.h"

#include "compute/base/json_in.h"
#include "compute/base/why.h"
#include "compute/run/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct jsonin_range any_units = {0, RUN_MAX_NS};

// --- Reading ---

static bool refuse_unknown(const struct jsonin *at, const char *const *known, int count) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)at->json, key, value) {
        int i = 0;
        while (i < count && strcmp(known[i], key) != 0)
            i++;
        if (i == count)
            return jsonin_fail(at, "\"%.40s\" is no field of a schedule: check its spelling", key);
    }
    return true;
}

static bool read_line(const struct jsonin *at, const char *key, char *out, size_t out_bytes) {
    if (!jsonin_text(at, key, out, out_bytes))
        return false;
    return out[0] || jsonin_fail(at, "\"%s\" is empty", key);
}

static bool read_times(struct schedule *out, const struct jsonin *at) {
    static const char *const known[] = {"fixed", "per_token"};
    struct jsonin prefill;
    if (!jsonin_int(at, "unit_ns", (struct jsonin_range){1, RUN_MAX_NS}, &out->unit_ns) ||
        !jsonin_int(at, "step", (struct jsonin_range){1, RUN_MAX_NS}, &out->step) ||
        !jsonin_enter(&prefill, at, "prefill") || !refuse_unknown(&prefill, known, 2) ||
        !jsonin_int(&prefill, "fixed", any_units, &out->prefill_fixed) ||
        !jsonin_int(&prefill, "per_token", any_units, &out->prefill_per_token))
        return false;
    return out->prefill_fixed > 0 || out->prefill_per_token > 0 ||
           jsonin_fail(&prefill, "\"fixed\" and \"per_token\" are both 0: prefill takes time");
}

static bool read_texts(const struct jsonin *at, const char *key, char ***texts, int *count) {
    const json_t *array = NULL;
    if (!json_object_get(at->json, key))
        return true;
    if (!jsonin_array(at, key, (struct jsonin_range){1, RUN_MAX_TOKENS - 1}, &array))
        return false;
    *texts = calloc(json_array_size(array), sizeof **texts);
    if (!*texts)
        return jsonin_fail(at, "out of memory");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *text = json_array_get(array, i);
        if (!json_is_string(text) || json_string_length(text) > RUN_TOKEN_BYTES)
            return jsonin_fail(at, "\"%s\"[%zu] is no text of at most %d bytes", key, i,
                               RUN_TOKEN_BYTES);
        (*texts)[i] = strdup(json_string_value(text));
        if (!(*texts)[i])
            return jsonin_fail(at, "out of memory");
        *count = (int)i + 1;
    }
    return true;
}

static bool read_count(const struct jsonin *at, const char *key, int texts, int *out) {
    int64_t count = texts;
    if ((texts == 0 || json_object_get(at->json, key)) &&
        !jsonin_int(at, key, (struct jsonin_range){1, RUN_MAX_TOKENS - 1}, &count))
        return false;
    *out = (int)count;
    return true;
}

// Nanoseconds of prefill and of all steps; false if a run cannot hold them.
static bool is_in_range(const struct schedule *schedule, int prompt_tokens, int answer_tokens,
                        struct why *why) {
    int64_t per_token = 0, steps = 0, units = 0, ns = 0;
    if (__builtin_mul_overflow(schedule->prefill_per_token, prompt_tokens, &per_token) ||
        __builtin_mul_overflow(schedule->step, answer_tokens, &steps) ||
        __builtin_add_overflow(per_token, steps, &units) ||
        __builtin_add_overflow(units, schedule->prefill_fixed, &units) ||
        __builtin_mul_overflow(units, schedule->unit_ns, &ns) || ns > RUN_MAX_NS)
        return why_set(why,
                       "schedule %s: %d prompt and %d answer tokens last longer than the %" PRId64
                       " days a run may have: make \"unit_ns\" smaller",
                       schedule->name, prompt_tokens, answer_tokens,
                       RUN_MAX_NS / 1000000000 / 86400);
    return true;
}

static bool read_schedule(struct schedule *out, const struct jsonin *at) {
    static const char *const known[] = {"name",    "unit",          "unit_ns",      "layers",
                                        "prefill", "step",          "prompt",       "answer",
                                        "comment", "prompt_tokens", "answer_tokens"};
    int64_t layers = 0;
    if (!json_is_object(at->json))
        return jsonin_fail(at, "a schedule is an object, {...}");
    if (!refuse_unknown(at, known, sizeof known / sizeof known[0]) ||
        !read_line(at, "name", out->name, sizeof out->name) ||
        !read_line(at, "unit", out->unit, sizeof out->unit) ||
        !jsonin_int(at, "layers", (struct jsonin_range){1, RUN_MAX_LAYERS}, &layers) ||
        !read_times(out, at) || !read_texts(at, "prompt", &out->prompt, &out->prompt_texts) ||
        !read_texts(at, "answer", &out->answer, &out->answer_texts) ||
        !read_count(at, "prompt_tokens", out->prompt_texts, &out->prompt_tokens) ||
        !read_count(at, "answer_tokens", out->answer_texts, &out->answer_tokens))
        return false;
    out->layers = (int)layers;
    if (out->prompt_tokens > RUN_MAX_TOKENS - out->answer_tokens)
        return jsonin_fail(at, "\"prompt_tokens\" and \"answer_tokens\" are together more than %d",
                           RUN_MAX_TOKENS);
    return is_in_range(out, out->prompt_tokens, out->answer_tokens, at->why);
}

bool schedule_parse(struct schedule *out, const char *name, const char *json, size_t bytes,
                    struct why *why) {
    *out = (struct schedule){0};
    json_t *root = jsonin_parse(name, json, bytes, 1, why);
    if (!root)
        return false;
    struct jsonin at = {.name = name, .json = root, .why = why};
    bool done = read_schedule(out, &at);
    json_decref(root);
    if (!done)
        schedule_clear(out);
    return done;
}

bool schedule_load(struct schedule *out, const char *path, struct why *why) {
    char *text = NULL;
    size_t bytes = 0;
    *out = (struct schedule){0};
    if (!jsonin_read(&text, &bytes, path, SCHEDULE_MAX_BYTES, why))
        return false;
    bool done = schedule_parse(out, path, text, bytes, why);
    free(text);
    return done;
}

static void free_texts(char **texts, int count) {
    for (int i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

void schedule_clear(struct schedule *schedule) {
    free_texts(schedule->prompt, schedule->prompt_texts);
    free_texts(schedule->answer, schedule->answer_texts);
    *schedule = (struct schedule){0};
}

// --- Making a run ---

static bool is_control_form(const char *text) {
    size_t bytes = strlen(text);
    return bytes >= 3 && text[0] == '<' && text[bytes - 1] == '>';
}

// A list of texts; none: tokens are numbered.
struct texts {
    char **texts;
    struct script script;
};

static struct texts prompt_texts(const struct schedule *schedule) {
    int count = schedule->prompt_texts;
    bool has_control = count > 0 && is_control_form(schedule->prompt[0]);
    return (struct texts){schedule->prompt, {.count = count, .front = has_control}};
}

static struct texts answer_texts(const struct schedule *schedule) {
    int count = schedule->answer_texts;
    bool has_control = count > 0 && is_control_form(schedule->answer[count - 1]);
    return (struct texts){schedule->answer, {.count = count, .back = has_control}};
}

typedef bool add_token_fn(struct run *run, int32_t id, const char *text, size_t bytes,
                          enum run_token_kind kind, struct why *why);

// Token `index` of `wanted`.
static bool add_token(struct run *run, add_token_fn *add, const struct texts *texts, int index,
                      int wanted, struct why *why) {
    int at = script_pick(&texts->script, index, wanted);
    bool is_control =
        at >= 0 && (at < texts->script.front || at >= texts->script.count - texts->script.back);
    char number[16];
    snprintf(number, sizeof number, "\xe2\x96\x81%d", index + 1);
    const char *text = at >= 0 ? texts->texts[at] : number;
    return add(run, -1, text, strlen(text), is_control ? RUN_CONTROL : RUN_PIECE, why);
}

static bool add_prompt(struct run *run, const struct schedule *schedule, struct why *why) {
    struct texts texts = prompt_texts(schedule);
    for (int i = 0; i < run->info.prompt_tokens; i++) {
        if (!add_token(run, run_add_prompt_token, &texts, i, run->info.prompt_tokens, why))
            return false;
    }
    return true;
}

// A pass right after the one before it. No product overflows: a pass is at most
// RUN_MAX_NS long, 2^53, and has at most RUN_MAX_LAYERS layers, below 2^8.
static bool add_pass(struct run *run, struct run_pass pass, const struct texts *answer,
                     int64_t duration_ns, struct why *why) {
    int layers = run->info.layers;
    int64_t embedding_ns = duration_ns / 16, output_ns = duration_ns / 8;
    int64_t layers_ns = duration_ns - embedding_ns - output_ns;
    pass.start_ns = run_end_ns(run);
    if (!run_begin_pass(run, &pass, why))
        return false;
    for (int layer = 0; layer <= layers; layer++) {
        int64_t end_ns = pass.start_ns + embedding_ns + layers_ns * layer / layers;
        if (!run_add_mark(run, end_ns, why))
            return false;
    }
    if (pass.yields >= 0 &&
        !add_token(run, run_add_answer_token, answer, pass.yields, run->info.answer_limit, why))
        return false;
    return run_add_mark(run, pass.start_ns + duration_ns, why);
}

static bool add_passes(struct run *run, const struct schedule *schedule, struct why *why) {
    struct texts texts = answer_texts(schedule);
    int prompt = run->info.prompt_tokens, answers = run->info.answer_limit;
    bool is_charged = run->info.counting == RUN_CHARGED;
    const struct run_rule *rule = &run->info.rule;
    int64_t prefill_ns = rule->pass_ns + rule->token_ns * prompt;
    struct run_pass prefill = {
        .phase = RUN_PREFILL, .column_count = prompt, .yields = is_charged ? -1 : 0};
    if (!add_pass(run, prefill, &texts, prefill_ns, why))
        return false;
    for (int i = is_charged ? 0 : 1; i < answers; i++) {
        struct run_pass step = {.phase = RUN_DECODE,
                                .first_column = i == 0 ? prompt : prompt + i - 1,
                                .column_count = i == 0 ? 0 : 1,
                                .yields = i};
        if (!add_pass(run, step, &texts, rule->step_ns, why))
            return false;
    }
    return true;
}

// Products that a run cannot hold do not matter: is_in_range refuses such a run.
static struct run_rule rule_of(const struct schedule *schedule) {
    struct run_rule rule = {0};
    bool is_beyond =
        __builtin_mul_overflow(schedule->prefill_fixed, schedule->unit_ns, &rule.pass_ns) ||
        __builtin_mul_overflow(schedule->prefill_per_token, schedule->unit_ns, &rule.token_ns) ||
        __builtin_mul_overflow(schedule->step, schedule->unit_ns, &rule.step_ns);
    return is_beyond ? (struct run_rule){0} : rule;
}

bool schedule_run(struct run **out, const struct schedule *schedule, enum run_counting counting,
                  int prompt_tokens, int answer_tokens, struct why *why) {
    *out = NULL;
    struct run_info info = {
        .origin = RUN_LESSON,
        .counting = counting,
        .device = "lesson",
        .weights = "none",
        .unit_ns = schedule->unit_ns,
        .rule = rule_of(schedule),
        .layers = schedule->layers,
        .prompt_tokens = prompt_tokens ? prompt_tokens : schedule->prompt_tokens,
        .answer_limit = answer_tokens ? answer_tokens : schedule->answer_tokens,
    };
    snprintf(info.model, sizeof info.model, "%s", schedule->name);
    snprintf(info.unit, sizeof info.unit, "%s", schedule->unit);
    struct run *run = NULL;
    if (!run_create(&run, &info, 1, why))
        return false;
    if (!is_in_range(schedule, info.prompt_tokens, info.answer_limit, why) ||
        !add_prompt(run, schedule, why) || !add_passes(run, schedule, why)) {
        run_destroy(run);
        return false;
    }
    run_close(run, RUN_COMPLETE);
    *out = run;
    return true;
}
