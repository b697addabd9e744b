// See random_run.h. Sizes first, then the run through its own writing functions
// in the order that run.h asks for, so that a generated run is also a test of
// them. Nothing is retried: each draw is used.
#include "tests/compute/run/random_run.h"

#include "compute/base/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int64_t random_between(uint64_t *state, int64_t least, int64_t most) {
    return least + (int64_t)(random_next(state) % (uint64_t)(most - least + 1));
}

// 1 .. most, with a logarithm that is about uniform.
static int random_size(uint64_t *state, int64_t most) {
    int bits = 0;
    while ((most >> bits) > 1)
        bits++;
    int64_t top = (int64_t)2 << random_between(state, 0, bits);
    int64_t size = random_between(state, top / 2, top - 1);
    return (int)(size < most ? size : most);
}

static void must(bool done, const char *why) {
    if (done)
        return;
    fprintf(stderr, "random_run: %s\n", why);
    abort();
}

struct token_pick {
    const char *text;
    size_t bytes;
};

static struct token_pick random_text(uint64_t *state, bool is_plain) {
    static const struct token_pick texts[] = {
        // plain
        {"\xe2\x96\x81parcel", 9},
        {"\xe2\x96\x81my", 5},
        {".", 1},
        {"ing", 3},
        {"\xe2\x96\x81", 3},
        {"gr\xc3\xb6\xc3\x9f"
         "er",
         8},
        {"\xe6\x97\xa5\xe6\x9c\xac", 6},
        {"\xf0\x9f\x93\xa6", 4},
        {"internationalisation", 20},
        // not plain
        {"", 0},
        {"\xc3", 1},
        {"\xb6", 1},
        {"\xf0\x9f", 2},
        {"\n", 1},
        {"\"\\/\x01", 4},
        {"a\0b", 3},
        {"\xff\xfe", 2},
        {"01234567890123456789012345678901234567890123456789012345678901234567890123456789"
         "01234567890123456789012345678901234567890123456789012345678901234567890123456789",
         160},
    };
    enum { PLAIN = 9, ALL = sizeof(texts) / sizeof(texts[0]) };
    return texts[random_between(state, 0, is_plain ? PLAIN - 1 : ALL - 1)];
}

static struct run_info random_info(uint64_t *state, const struct random_run_limits *limits) {
    static const char *devices[] = {"cpu", "cuda:0", "lesson"};
    struct run_info info = {
        .origin = (enum run_origin)random_between(state, RUN_MEASURED, RUN_LESSON),
        .counting = (enum run_counting)random_between(state, RUN_ENGINE, RUN_CHARGED),
        .cold = random_between(state, 0, 1),
        .forced_length = random_between(state, 0, 1),
        .unit_ns = random_between(state, 1, 1000000000),
        .threads = (int)random_between(state, 0, 128),
        .layers = random_size(state, limits->max_layers ? limits->max_layers : 80),
        .heads = (int)random_between(state, 1, 64),
        .kv_heads = (int)random_between(state, 1, 16),
        .head_dim = (int)random_between(state, 1, 128),
        .kv_value_bytes = (int)random_between(state, 1, 4),
        .weight_bytes = random_between(state, 0, (int64_t)1 << 40),
        .seed = random_next(state),
        .prompt_tokens = random_size(state, limits->max_prompt ? limits->max_prompt : 1024),
        .answer_limit = random_size(state, limits->max_answers ? limits->max_answers : 300),
    };
    if (limits->counting == RANDOM_RUN_ONLY_ENGINE)
        info.counting = RUN_ENGINE;
    if (limits->counting == RANDOM_RUN_ONLY_CHARGED)
        info.counting = RUN_CHARGED;
    // Only drawn where it is asked for: the other runs of a seed stay what they were.
    info.recomputes = limits->may_recompute && random_between(state, 0, 1);
    // From the seed alone, without drawing: half of all runs have a chat.
    if (info.seed & 1) {
        int first = (int)(info.seed >> 8) % info.prompt_tokens;
        first = first < 0 ? -first : first;
        info.chat = (struct run_chat){"chatml", first / 2, first - first / 2, first,
                                      info.prompt_tokens - first};
    }
    strcpy(info.device, devices[random_between(state, 0, 2)]);
    strcpy(info.device_name, "A processor \"with quotes\" \xc3\xa9");
    strcpy(info.model, random_between(state, 0, 1) ? "support-4m" : "");
    strcpy(info.weights, "synthetic");
    strcpy(info.weight_type, "F16");
    strcpy(info.date, "2026-12-01T09:30:00Z");
    strcpy(info.unit, info.origin == RUN_LESSON ? "units" : "");
    return info;
}

// How stages last in one run: all alike, all zero, or wild.
struct pace {
    int64_t max_stage_ns, max_gap_ns;
    int zero_one_in; // 0 = never
};

static struct pace random_pace(uint64_t *state, const struct random_run_limits *limits) {
    static const int zeros[] = {0, 50, 5, 1};
    int64_t max = limits->max_stage_ns ? limits->max_stage_ns : random_size(state, 20000000);
    return (struct pace){
        .max_stage_ns = max,
        .max_gap_ns = random_between(state, 0, 2) ? 0 : random_between(state, 0, 4 * max),
        .zero_one_in = zeros[random_between(state, 0, 9) % 4],
    };
}

static int64_t random_stage_ns(uint64_t *state, const struct pace *pace) {
    if (pace->zero_one_in && random_between(state, 1, pace->zero_one_in) == 1)
        return 0;
    return random_between(state, (pace->max_stage_ns + 1) / 2, pace->max_stage_ns);
}

// One pass; false when `marks_left` (NULL = no end) ran out inside it.
static bool add_pass(struct run *run, uint64_t *state, const struct random_run_limits *limits,
                     const struct pace *pace, int *marks_left) {
    struct why why;
    int index = run->pass_count, column = 0, yielded = -1;
    if (index > 0) {
        column = run->passes[index - 1].first_column + run->passes[index - 1].column_count;
        yielded = run->passes[index - 1].yields;
    }
    int left = run->info.prompt_tokens - column;
    bool is_charging = run->info.counting == RUN_CHARGED;
    struct run_pass pass = {.phase = RUN_DECODE, .first_column = column, .yields = yielded + 1};
    pass.column_count = is_charging && yielded < 0 ? 0 : 1;
    if (left > 0) {
        bool is_last =
            limits->only_one_prefill || index + 1 + run->info.answer_limit >= run->pass_capacity;
        pass.phase = RUN_PREFILL;
        pass.column_count = is_last ? left : (int)random_between(state, (left + 3) / 4, left);
        pass.yields = pass.column_count == left && !is_charging ? 0 : -1;
    }
    if (run->info.recomputes && pass.phase == RUN_DECODE && pass.column_count > 0) {
        pass.first_column = 0;
        pass.column_count = run->info.prompt_tokens + yielded + 1;
    }
    int64_t now_ns = run_end_ns(run) + random_between(state, 0, pace->max_gap_ns);
    pass.start_ns = now_ns;
    must(run_begin_pass(run, &pass, &why), why.text);
    for (int stage = 0; stage < run_stages(run); stage++) {
        if (marks_left && (*marks_left)-- == 0)
            return false;
        if (stage == run_stages(run) - 1 && pass.yields >= 0) {
            struct token_pick pick = random_text(state, limits->only_plain_text);
            must(run_add_answer_token(run, (int32_t)random_between(state, -1, 200000), pick.text,
                                      pick.bytes, random_between(state, 0, 30) == 0, &why),
                 why.text);
        }
        now_ns += random_stage_ns(state, pace);
        must(run_add_mark(run, now_ns, &why), why.text);
    }
    return true;
}

struct run *random_run(uint64_t seed, const struct random_run_limits *limits) {
    static const struct random_run_limits none;
    if (!limits)
        limits = &none;
    struct why why;
    uint64_t state = seed;
    struct run_info info = random_info(&state, limits);
    int most_chunks = limits->only_one_prefill || info.prompt_tokens < 4 ? 1 : 4;
    struct run *run = NULL;
    must(run_create(&run, &info, (int)random_between(&state, 1, most_chunks), &why), why.text);
    for (int i = 0; i < info.prompt_tokens; i++) {
        struct token_pick pick = random_text(&state, limits->only_plain_text);
        must(run_add_prompt_token(run, (int32_t)random_between(&state, -1, 200000), pick.text,
                                  pick.bytes, i == 0, &why),
             why.text);
    }
    struct pace pace = random_pace(&state, limits);
    int answers = (int)random_between(&state, 1, info.answer_limit);
    int64_t most_marks = (int64_t)run->pass_capacity * run_stages(run);
    int marks_left = (int)random_between(&state, 0, most_marks);
    bool fails = limits->may_fail && random_between(&state, 0, 2) == 0;
    while (run_answers_seen(run) < answers &&
           add_pass(run, &state, limits, &pace, fails ? &marks_left : NULL))
        continue;
    run_close(run, run_answers_seen(run) < answers ? RUN_FAILED : RUN_COMPLETE);
    return run;
}
