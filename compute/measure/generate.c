// See generate.h. The loop is: begin a pass, compute it, choose a token, mark it,
// publish. Between two stamps it does only what the measured stage needs, and
// never anything that can block.
#include "compute/measure/generate.h"

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// An answer being generated.
struct answer {
    const struct generate *generate;
    struct run *run;
    struct publish *publish;
    struct sampler sampler;
    int32_t *all;      // owned, without a cache: [context] prompt and answer so far
    int32_t greedy_id; // what the last pass yields, where the backend chooses
    int64_t origin_ns; // of the run's clock
    int64_t last_ns;   // the latest stamp
    int64_t woke_ns;   // when on_grown was called last, run time
    bool is_broken;    // a mark was refused; `why` is set
    struct why *why;
};

// --- Setting up ---

static int count_ends(const struct tokenizer *tokenizer, int vocab, int32_t *out) {
    int count = 0;
    for (int32_t id = 0; id < vocab; id++) {
        if (!tokenizer_is_end(tokenizer, id))
            continue;
        if (out)
            out[count] = id;
        count++;
    }
    return count;
}

bool generate_scratch_create(struct generate_scratch *out, const struct tokenizer *tokenizer,
                             int vocab, struct why *why) {
    size_t count = (size_t)vocab;
    int end_count = count_ends(tokenizer, vocab, NULL);
    *out = (struct generate_scratch){
        .logits = calloc(count, sizeof(float)),
        .sorted = calloc(count, sizeof(float)),
        .order = calloc(count, sizeof(int32_t)),
        .ends = calloc((size_t)end_count + 1, sizeof(int32_t)),
        .end_count = end_count,
    };
    if (!out->logits || !out->sorted || !out->order || !out->ends) {
        generate_scratch_clear(out);
        return why_set(why, "no memory for the scores of %d tokens", vocab);
    }
    // Touches every page before the first measurement.
    memset(out->logits, 0, count * sizeof(float));
    memset(out->sorted, 0, count * sizeof(float));
    memset(out->order, 0, count * sizeof(int32_t));
    count_ends(tokenizer, vocab, out->ends);
    return true;
}

void generate_scratch_clear(struct generate_scratch *scratch) {
    free(scratch->logits);
    free(scratch->sorted);
    free(scratch->order);
    free(scratch->ends);
    memset(scratch, 0, sizeof *scratch);
}

// --- The request ---

// The newest token is never fed back, so the last answer token needs no room.
static int most_answers(const struct generate *g) {
    return g->context - g->prompt_count + 1;
}

static bool check_length(const struct generate *g, struct why *why) {
    if (!g->prompt || g->prompt_count < 1)
        return why_set(why, "the prompt is empty: give it at least one token");
    if (g->prompt_count > g->context)
        return why_set(why, "the prompt has %d tokens and the context holds %d: shorten the prompt",
                       g->prompt_count, g->context);
    if (g->answer_tokens < 0 || (g->answer_tokens == 0 && g->answer_limit < 1))
        return why_set(why, "an answer of %d tokens was asked for, expected at least 1",
                       g->answer_tokens < 0 ? g->answer_tokens : g->answer_limit);
    if (g->answer_tokens > most_answers(g))
        return why_set(why,
                       "%d prompt and %d answer tokens do not fit into a context of %d: ask for "
                       "at most %d answer tokens",
                       g->prompt_count, g->answer_tokens, g->context, most_answers(g));
    return true;
}

static bool check_sampling(const struct sampler *sampler, struct why *why) {
    const float hottest = SAMPLER_MAX_TEMPERATURE_MILLI / 1000.0f;
    const float least = SAMPLER_MIN_TOP_P_MILLI / 1000.0f;
    if (!(sampler->temperature >= 0 && sampler->temperature <= hottest))
        return why_set(why, "a temperature of %g was asked for, expected 0 to %g",
                       (double)sampler->temperature, (double)hottest);
    if (sampler->temperature > 0 && !(sampler->top_p_unit >= least && sampler->top_p_unit <= 1))
        return why_set(why, "a top-p of %g was asked for, expected %g to 1",
                       (double)sampler->top_p_unit, (double)least);
    return true;
}

bool generate_check(const struct generate *g, struct why *why) {
    if (!check_length(g, why) || !check_sampling(&g->sampler, why))
        return false;
    for (int i = 0; i < g->prompt_count; i++) {
        if (g->prompt[i] < 0 || g->prompt[i] >= g->vocab)
            return why_set(why, "prompt token %d has id %d, this model knows ids 0 to %d", i,
                           (int)g->prompt[i], g->vocab - 1);
    }
    return true;
}

static bool is_forced(const struct generate *g) {
    return g->answer_tokens > 0 && g->script.count == 0;
}

static int answer_limit(const struct generate *g) {
    int wanted = g->answer_tokens > 0 ? g->answer_tokens : g->answer_limit;
    if (g->script.count > 0 && g->answer_tokens == 0 && g->script.count < wanted)
        wanted = g->script.count;
    return wanted < most_answers(g) ? wanted : most_answers(g);
}

bool generate_prepare(struct run **out, const struct generate *g, const struct run_info *info,
                      struct why *why) {
    struct run_info full = *info;
    full.origin = RUN_MEASURED;
    full.counting = RUN_ENGINE;
    full.prompt_tokens = g->prompt_count;
    full.answer_limit = answer_limit(g);
    full.forced_length = is_forced(g);
    full.recomputes = g->without_cache;
    full.seed = g->sampler.seed;
    int chunks = (g->prompt_count + BACKEND_PREFILL_CHUNK - 1) / BACKEND_PREFILL_CHUNK;
    if (!run_create(out, &full, chunks, why))
        return false;
    for (int i = 0; i < g->prompt_count; i++) {
        size_t bytes;
        const char *text = tokenizer_text(g->tokenizer, g->prompt[i], &bytes);
        enum run_token_kind kind = tokenizer_kind(g->tokenizer, g->prompt[i]);
        if (!run_add_prompt_token(*out, g->prompt[i], text, bytes, kind, why)) {
            run_destroy(*out);
            *out = NULL;
            return false;
        }
    }
    return true;
}

// --- Stop and busy ---

bool generate_is_stopped(const struct generate *g) {
    return g->stop && atomic_load_explicit(g->stop, memory_order_relaxed);
}

enum generate_end generate_stopped(struct why *why) {
    why_set(why, "stopped");
    return GENERATE_STOPPED;
}

void generate_set_busy(const struct generate *g, bool is_busy) {
    if (g->busy)
        atomic_store_explicit(g->busy, is_busy, memory_order_relaxed);
}

// --- One answer ---

static void wake(struct answer *a, int64_t now_ns) {
    if (!a->generate->on_grown || now_ns - a->woke_ns < GENERATE_WAKE_NS)
        return;
    a->woke_ns = now_ns;
    a->generate->on_grown(a->generate->watcher);
}

static bool take_stamp(struct answer *a, int64_t now_ns) {
    if (a->origin_ns < 0)
        a->origin_ns = now_ns;
    else if (now_ns < a->last_ns)
        return why_set(a->why, "the clock of this machine stepped back while it measured: "
                               "measure again");
    a->last_ns = now_ns;
    return true;
}

static void add_mark(struct answer *a, int64_t end_ns) {
    if (a->is_broken)
        return;
    if (!take_stamp(a, end_ns) || !run_add_mark(a->run, end_ns - a->origin_ns, a->why)) {
        a->is_broken = true;
        return;
    }
    if (!a->publish)
        return;
    publish_marks(a->publish, a->run);
    wake(a, end_ns - a->origin_ns);
}

static void on_mark(void *context, int stage, int64_t end_ns) {
    (void)stage; // the run counts for itself
    add_mark(context, end_ns);
}

static bool is_stopped(void *context) {
    return generate_is_stopped(((const struct answer *)context)->generate);
}

// If so, the backend chooses, and a device need not copy all scores to the host.
static bool is_greedy(const struct generate *g) {
    return !(g->sampler.temperature > 0) && !is_forced(g);
}

static int32_t sample(struct answer *a) {
    const struct generate *g = a->generate;
    const struct generate_scratch *s = g->scratch;
    int32_t id = sampler_next(&a->sampler, s->logits, g->vocab, s->sorted, s->order,
                              is_forced(g) ? s->ends : NULL, is_forced(g) ? s->end_count : 0);
    return id >= 0 && isfinite(s->logits[id]) ? id : -1;
}

// The token that the logits give, into the run; -1 with `why` when they are not
// numbers.
static int32_t choose(struct answer *a) {
    const struct generate *g = a->generate;
    int32_t id = is_greedy(g) ? a->greedy_id : sample(a);
    if (id < 0 || id >= g->vocab) {
        why_set(a->why, "the scores of answer token %d are not numbers: the weights are damaged",
                a->run->answer_count + 1);
        return -1;
    }
    size_t bytes;
    int32_t word = g->script.count > 0 ? g->script.ids[a->run->answer_count % g->script.count] : id;
    const char *text = tokenizer_text(g->tokenizer, word, &bytes);
    enum run_token_kind kind = tokenizer_kind(g->tokenizer, word);
    return run_add_answer_token(a->run, id, text, bytes, kind, a->why) ? id : -1;
}

enum generate_end generate_pass(const struct generate *g, const struct backend_pass *pass,
                                struct why *why) {
    if (g->backend->pass(g->state, pass, why))
        return GENERATE_DONE;
    return strcmp(why->text, "stopped") == 0 ? GENERATE_STOPPED : GENERATE_LOST;
}

// The tokens of one pass of the run, in as many backend passes as they need.
static enum generate_end compute(struct answer *a, const struct run_pass *pass,
                                 const int32_t *tokens) {
    enum generate_end end = GENERATE_DONE;
    bool has_greedy = is_greedy(a->generate);
    a->greedy_id = -1;
    for (int at = 0; at < pass->column_count && end == GENERATE_DONE;) {
        int left = pass->column_count - at;
        bool is_last = left <= BACKEND_PREFILL_CHUNK, yields = is_last && pass->yields >= 0;
        struct backend_pass part = {
            .tokens = tokens + at,
            .count = is_last ? left : BACKEND_PREFILL_CHUNK,
            .first_position = pass->first_column + at,
            .logits = yields && !has_greedy ? a->generate->scratch->logits : NULL,
            .greedy_id = yields && has_greedy ? &a->greedy_id : NULL,
            .on_mark = is_last ? on_mark : NULL,
            .is_stopped = is_stopped,
            .context = a,
        };
        end = generate_pass(a->generate, &part, a->why);
        at += part.count;
    }
    return end;
}

// One pass of the run, from its start to its output mark. *id: the token it yields,
// when it yields one.
static enum generate_end do_pass(struct answer *a, const struct run_pass *pass,
                                 const int32_t *tokens, int32_t *id) {
    struct run_pass begun = *pass;
    int64_t now_ns = stopwatch_now_ns();
    if (!take_stamp(a, now_ns))
        return GENERATE_FAILED;
    begun.start_ns = now_ns - a->origin_ns;
    if (!run_begin_pass(a->run, &begun, a->why))
        return GENERATE_FAILED;
    enum generate_end end = compute(a, pass, tokens);
    if (end != GENERATE_DONE)
        return end;
    if (pass->yields >= 0) {
        *id = choose(a);
        if (*id < 0)
            return GENERATE_FAILED;
    }
    add_mark(a, stopwatch_now_ns());
    return a->is_broken ? GENERATE_FAILED : GENERATE_DONE;
}

static enum generate_end prefill(struct answer *a, int32_t *id) {
    const struct generate *g = a->generate;
    for (int first = 0; first < g->prompt_count; first += BACKEND_PREFILL_CHUNK) {
        int left = g->prompt_count - first;
        bool is_last = left <= BACKEND_PREFILL_CHUNK;
        struct run_pass pass = {
            .phase = RUN_PREFILL,
            .first_column = first,
            .column_count = is_last ? left : BACKEND_PREFILL_CHUNK,
            .yields = is_last ? 0 : -1,
        };
        enum generate_end end = do_pass(a, &pass, g->prompt + first, id);
        if (end != GENERATE_DONE)
            return end;
    }
    return GENERATE_DONE;
}

// A scripted answer ends by its limit alone: the model's ids mean nothing.
static bool is_end(const struct generate *g, int32_t id) {
    return g->answer_tokens == 0 && g->script.count == 0 && tokenizer_is_end(g->tokenizer, id);
}

static enum generate_end decode(struct answer *a, int32_t id) {
    const struct generate *g = a->generate;
    for (int n = 1; n < a->run->info.answer_limit; n++) {
        if (is_end(g, id))
            return GENERATE_DONE;
        if (generate_is_stopped(g))
            return generate_stopped(a->why);
        int column = g->prompt_count + n - 1;
        struct run_pass pass = {
            .phase = RUN_DECODE,
            .first_column = a->all ? 0 : column,
            .column_count = a->all ? column + 1 : 1,
            .yields = n,
        };
        int32_t fed = id;
        if (a->all)
            a->all[column] = id;
        enum generate_end end = do_pass(a, &pass, a->all ? a->all : &fed, &id);
        if (end != GENERATE_DONE)
            return end;
    }
    return GENERATE_DONE;
}

// Allocated before the clock starts.
static bool take_tokens(struct answer *a) {
    const struct generate *g = a->generate;
    if (!g->without_cache)
        return true;
    a->all = calloc((size_t)g->context, sizeof *a->all);
    if (!a->all)
        return why_set(a->why, "no memory for %d tokens", g->context);
    memcpy(a->all, g->prompt, (size_t)g->prompt_count * sizeof *a->all);
    return true;
}

enum generate_end generate_answer(struct run *run, const struct generate *g,
                                  struct publish *publish, struct why *why) {
    struct answer a = {
        .generate = g,
        .run = run,
        .publish = publish,
        .sampler = g->sampler,
        .origin_ns = -1,
        .why = why,
    };
    sampler_reset(&a.sampler);
    generate_set_busy(g, true);
    int32_t id = -1;
    enum generate_end end = take_tokens(&a) ? prefill(&a, &id) : GENERATE_FAILED;
    if (end == GENERATE_DONE)
        end = decode(&a, id);
    generate_set_busy(g, false);
    free(a.all);
    run_close(run, end == GENERATE_DONE ? RUN_COMPLETE : RUN_FAILED);
    if (publish)
        publish_end(publish, run);
    return end;
}
