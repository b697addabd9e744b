// See recount.h. Passes are copied one by one through run.h's writing functions, which
// check order and time.
#include "compute/run/recount.h"

#include "compute/base/why.h"

static bool append_token(struct run *to, const struct run *from, int token, struct why *why) {
    size_t bytes = 0;
    const char *text = run_token_text(from, token, &bytes);
    enum run_token_kind kind = from->tokens[token].kind;
    int32_t id = from->tokens[token].id;
    return token < from->prompt_count ? run_add_prompt_token(to, id, text, bytes, kind, why)
                                      : run_add_answer_token(to, id, text, bytes, kind, why);
}

// Adds `pass` with the stages of pass `model` of `from`, counted from its own start and,
// for divide > 1, that many times shorter.
static bool append_like(struct run *to, const struct run_pass *pass, const struct run *from,
                        int model, int divide, struct why *why) {
    if (!run_begin_pass(to, pass, why))
        return false;
    if (pass->yields >= 0 && !append_token(to, from, from->prompt_count + pass->yields, why))
        return false;
    int first = model * run_stages(from);
    for (int stage = 0; stage < run_stages(from); stage++) {
        int64_t since_ns = from->mark_end_ns[first + stage] - from->passes[model].start_ns;
        if (!run_add_mark(to, pass->start_ns + (since_ns + divide / 2) / divide, why))
            return false;
    }
    return true;
}

// The charged step, right behind prefill, whose last pass in `from` is `prefill`.
static bool append_charged(struct run *to, const struct run *from, int prefill, struct why *why) {
    bool has_step = from->pass_count > prefill + 1;
    struct run_pass charged = {
        .phase = RUN_DECODE, .first_column = from->info.prompt_tokens, .start_ns = run_end_ns(to)};
    return append_like(to, &charged, from, has_step ? prefill + 1 : prefill,
                       has_step ? 1 : from->passes[prefill].column_count, why);
}

static bool append_recounted(struct run *to, const struct run *from, int prefills,
                             struct why *why) {
    bool is_charging = to->info.counting == RUN_CHARGED;
    int64_t shift_ns = 0;
    for (int i = 0; i < from->pass_count; i++) {
        struct run_pass pass = from->passes[i];
        bool is_prefilled = i == prefills - 1;
        if (pass.column_count == 0) {
            shift_ns = pass.start_ns - run_pass_end_ns(from, i);
            continue;
        }
        pass.start_ns += shift_ns;
        if (is_prefilled)
            pass.yields = is_charging ? -1 : 0;
        if (!append_like(to, &pass, from, i, 1, why))
            return false;
        if (!is_prefilled || !is_charging)
            continue;
        int64_t start_ns = run_end_ns(to);
        if (!append_charged(to, from, i, why))
            return false;
        shift_ns = run_end_ns(to) - start_ns;
    }
    return true;
}

bool run_recount(struct run **out, const struct run *run, enum run_counting counting,
                 struct why *why) {
    *out = NULL;
    if (run->state != RUN_COMPLETE)
        return why_set(why, "run: only a complete run can be counted another way");
    if (run->info.counting == counting)
        return run_copy(out, run, why);
    struct run_info info = run->info;
    info.counting = counting;
    if (info.origin == RUN_MEASURED)
        info.origin = RUN_MODELLED; // its times are no longer all measured
    info.ttft = info.tpot = info.e2e = (struct run_range){0}; // of the other counting
    int prefills = 0;
    while (prefills < run->pass_count && run->passes[prefills].phase == RUN_PREFILL)
        prefills++;
    struct run *to = NULL;
    bool done = run_create(&to, &info, prefills, why);
    for (int i = 0; done && i < run->prompt_count; i++)
        done = append_token(to, run, i, why);
    if (!done || !append_recounted(to, run, prefills, why)) {
        run_destroy(to);
        return false;
    }
    run_close(to, RUN_COMPLETE);
    *out = to;
    return true;
}
