// See lesson_values.h. One small function a name, over a moment worked out once.
#include "app/lesson/values.h"

#include "compute/base/utf8.h"
#include "compute/run/moment.h"
#include "compute/run/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// What fits into a narrow panel's block beside other words.
enum { PROMPT_CHARS = 80, ANSWER_CHARS = 64 };

struct moment {
    const struct run *run;
    int64_t t_ns;     // 0 .. the run's end
    int done;         // whole passes by then
    int pass;         // this pass, -1 = the request
    bool is_ended;    // this pass has ended
    bool is_over;     // the run is complete and this is its end
    int prefills;     // prefill passes among the done ones
    int answers;      // measured out
    int entries;      // in the cache
    int before;       // in the cache when this pass began
    int yields;       // answer token of this pass, -1 = none
    int step;         // number of this decode step, 0 = it is none
    bool is_read;     // prefill is done
    int first_column; // what this decode step feeds in, -1 = nothing
};

// --- The moment ---

static void find_step(struct moment *at) {
    const struct run *run = at->run;
    bool is_prefill = at->is_ended ? at->pass < at->prefills : !at->is_read;
    int count = at->answers - (at->is_ended && at->answers > 0);
    at->yields = -1;
    at->first_column = -1;
    at->before = at->entries;
    if (at->pass < 0)
        return;
    if (at->is_ended) {
        const struct run_pass *pass = &run->passes[at->pass];
        at->yields = pass->yields;
        at->before = run->info.recomputes ? 0 : at->entries - pass->column_count;
    } else if (!is_prefill || run->info.counting == RUN_ENGINE) {
        at->yields = at->answers;
    }
    if (is_prefill)
        return;
    at->step = at->pass - at->prefills + 1;
    if (count > 0)
        at->first_column = run->info.prompt_tokens + count - 1;
}

static struct moment moment_of(const struct run *run, int64_t t_ns) {
    struct run_moment now = run_moment_at(run, t_ns < 0 ? 0 : t_ns);
    struct moment at = {
        .run = run,
        .t_ns = now.shown_ns,
        .done = now.passes_done,
        .pass = now.current,
        .is_ended = now.current >= 0 && now.current < now.passes_done,
        .is_over = now.at_end && run->state == RUN_COMPLETE,
        .prefills = now.passes_done - now.steps_done,
        .answers = now.answers,
        .entries = now.cache_entries,
        .is_read = now.prefill_done,
    };
    find_step(&at);
    return at;
}

// --- Forms ---

static void put_dash(char *out, size_t bytes) {
    snprintf(out, bytes, SIGN_DASH);
}

static void put_count(char *out, size_t bytes, int64_t count) {
    snprintf(out, bytes, "%" PRId64, count);
}

static void put_time(char *out, size_t bytes, const struct moment *at, int64_t value_ns) {
    snprintf(out, bytes, "%s", run_time(&at->run->info, value_ns).text);
}

static void put_bytes(char *out, size_t bytes, const struct moment *at, int64_t value) {
    if (value <= 0 || at->run->info.origin == RUN_LESSON)
        put_dash(out, bytes);
    else
        snprintf(out, bytes, "%s", figure_bytes(value).text);
}

// --- Token texts ---

// The start of what may be kept of `text` when only its last `most` bytes may be.
static size_t tail_of(const char *text, size_t length, size_t most) {
    size_t from = length > most ? length - most : 0;
    while (from > 0 && from < length && utf8_continues(text[from]))
        from++;
    return from;
}

// Tokens [first, first + count) as they read in a sentence, cut at one end.
static void put_sentence(char *out, size_t bytes, const struct moment *at, int first, int count,
                         size_t most, bool keep_end) {
    char raw[ANSWER_CHARS + PROMPT_CHARS + RUN_TOKEN_BYTES] = "";
    size_t used = 0;
    bool is_cut = false;
    for (int i = 0; i < count; i++) {
        int token = first + i;
        if (at->run->tokens[token].is_control)
            continue;
        if (used + RUN_TOKEN_BYTES > sizeof raw) {
            if (!keep_end)
                break;
            size_t from = tail_of(raw, used, most);
            memmove(raw, raw + from, used - from);
            used -= from;
            is_cut = true;
        }
        used += run_token_words(raw + used, at->run, token);
    }
    size_t from = keep_end ? tail_of(raw, used, most) : 0;
    size_t until = keep_end ? used : utf8_cut(raw, used, most);
    is_cut = is_cut || used > most;
    while (from < until && raw[from] == ' ')
        from++;
    char safe[4 * sizeof raw];
    utf8_printable(safe, sizeof safe, raw + from, until - from);
    snprintf(out, bytes, "%s%s%s", is_cut && keep_end ? SIGN_ELLIPSIS : "", safe,
             is_cut && !keep_end ? SIGN_ELLIPSIS : "");
}

// --- Values: lengths, this pass ---

static void put_prompt_tokens(char *out, size_t bytes, const struct moment *at) {
    put_count(out, bytes, at->run->info.prompt_tokens);
}

static void put_answer_now(char *out, size_t bytes, const struct moment *at) {
    put_count(out, bytes, at->answers);
}

static void put_answer_tokens(char *out, size_t bytes, const struct moment *at) {
    at->is_over ? put_count(out, bytes, at->answers) : put_dash(out, bytes);
}

static void put_fed_count(char *out, size_t bytes, const struct moment *at) {
    bool is_there = at->is_read && !at->run->info.recomputes;
    is_there ? put_count(out, bytes, at->entries - at->run->info.prompt_tokens)
             : put_dash(out, bytes);
}

static void put_steps(char *out, size_t bytes, const struct moment *at) {
    put_count(out, bytes, at->done - at->prefills);
}

static void put_number(char *out, size_t bytes, const struct moment *at) {
    at->yields >= 0 ? put_count(out, bytes, at->yields + 1) : put_dash(out, bytes);
}

static void put_yielded(char *out, size_t bytes, const struct moment *at) {
    bool is_out = at->yields >= 0 && at->yields < at->answers;
    is_out ? run_token_printable(out, bytes, at->run, at->run->info.prompt_tokens + at->yields)
           : put_dash(out, bytes);
}

static void put_fed(char *out, size_t bytes, const struct moment *at) {
    at->first_column >= 0 ? run_token_printable(out, bytes, at->run, at->first_column)
                          : put_dash(out, bytes);
}

static void put_step(char *out, size_t bytes, const struct moment *at) {
    at->step > 0 ? put_count(out, bytes, at->step) : put_dash(out, bytes);
}

static void put_step_time(char *out, size_t bytes, const struct moment *at) {
    if (at->is_ended)
        put_time(out, bytes, at,
                 run_pass_end_ns(at->run, at->pass) - at->run->passes[at->pass].start_ns);
    else
        put_dash(out, bytes);
}

// --- Values: cache and bytes ---

static void put_layers(char *out, size_t bytes, const struct moment *at) {
    put_count(out, bytes, at->run->info.layers);
}

static void put_cache_before(char *out, size_t bytes, const struct moment *at) {
    put_count(out, bytes, at->before);
}

static void put_cache_now(char *out, size_t bytes, const struct moment *at) {
    put_count(out, bytes, at->entries);
}

static void put_cache_bytes(char *out, size_t bytes, const struct moment *at) {
    put_bytes(out, bytes, at, run_cache_entry_bytes(at->run) * at->entries);
}

static void put_cache_note(char *out, size_t bytes, const struct moment *at) {
    char size[32];
    int64_t value = run_cache_entry_bytes(at->run) * at->entries;
    put_bytes(size, sizeof size, at, value);
    bool is_known = value > 0 && at->run->info.origin != RUN_LESSON;
    snprintf(out, bytes, "%s%s", is_known ? ", " : "", is_known ? size : "");
}

static void put_cache_read_bytes(char *out, size_t bytes, const struct moment *at) {
    put_bytes(out, bytes, at, run_cache_entry_bytes(at->run) * at->before);
}

static void put_weight_bytes(char *out, size_t bytes, const struct moment *at) {
    put_bytes(out, bytes, at, at->run->info.weight_bytes);
}

static void put_step_bytes(char *out, size_t bytes, const struct moment *at) {
    int64_t weights = at->run->info.weight_bytes, entry = run_cache_entry_bytes(at->run);
    put_bytes(out, bytes, at, weights > 0 && entry > 0 ? weights + entry * at->before : 0);
}

static void put_entry_bytes(char *out, size_t bytes, const struct moment *at) {
    put_bytes(out, bytes, at, run_cache_entry_bytes(at->run));
}

static int64_t cell_numbers(const struct run_info *info) {
    return info->origin == RUN_LESSON ? 0 : INT64_C(2) * info->kv_heads * info->head_dim;
}

static void put_cell_numbers(char *out, size_t bytes, const struct moment *at) {
    int64_t count = cell_numbers(&at->run->info);
    count > 0 ? put_count(out, bytes, count) : put_dash(out, bytes);
}

static void put_entry_numbers(char *out, size_t bytes, const struct moment *at) {
    int64_t count = cell_numbers(&at->run->info) * at->run->info.layers;
    count > 0 ? put_count(out, bytes, count) : put_dash(out, bytes);
}

static void put_entry_formula(char *out, size_t bytes, const struct moment *at) {
    const struct run_info *info = &at->run->info;
    if (cell_numbers(info) > 0)
        snprintf(out, bytes, "2 " SIGN_TIMES " %d " SIGN_TIMES " %d " SIGN_TIMES " %d",
                 info->layers, info->kv_heads, info->head_dim);
    else
        put_dash(out, bytes);
}

// --- Values: times ---

static int64_t total_ns(const struct run *run) {
    return run->state == RUN_COMPLETE ? run_end_ns(run) : -1;
}

static void put_now(char *out, size_t bytes, const struct moment *at) {
    put_time(out, bytes, at, at->t_ns);
}

// "122 / 247 units": the unit once, both being written in the same.
static void put_clock(char *out, size_t bytes, const struct moment *at) {
    int64_t end_ns = total_ns(at->run);
    if (end_ns < 0) {
        put_time(out, bytes, at, at->t_ns);
        return;
    }
    struct figure now = run_time_on(&at->run->info, at->t_ns, end_ns);
    struct figure total = run_time_on(&at->run->info, end_ns, end_ns);
    char *unit = strchr(now.text, ' '), *same = strchr(total.text, ' ');
    if (unit && same && strcmp(unit, same) == 0)
        *unit = '\0';
    snprintf(out, bytes, "%s / %s", now.text, total.text);
}

static void put_run_total(char *out, size_t bytes, const struct moment *at) {
    put_time(out, bytes, at, total_ns(at->run));
}

static void put_time_left(char *out, size_t bytes, const struct moment *at) {
    int64_t end_ns = total_ns(at->run);
    put_time(out, bytes, at, end_ns < 0 ? -1 : end_ns - at->t_ns);
}

static void put_prefill(char *out, size_t bytes, const struct moment *at) {
    put_time(out, bytes, at, at->is_read ? run_prefill_ns(at->run) : -1);
}

static void put_ttft(char *out, size_t bytes, const struct moment *at) {
    put_time(out, bytes, at, at->answers > 0 ? run_ttft_ns(at->run) : -1);
}

static void put_tpot(char *out, size_t bytes, const struct moment *at) {
    int gaps = at->answers - 1;
    if (gaps < 1) {
        put_dash(out, bytes);
        return;
    }
    int64_t gaps_ns = run_answer_ns(at->run, at->answers - 1) - run_ttft_ns(at->run);
    put_time(out, bytes, at, (gaps_ns + gaps / 2) / gaps);
}

static int64_t decode_ns(const struct moment *at) {
    return at->is_read ? at->t_ns - run_prefill_ns(at->run) : -1;
}

static void put_decode(char *out, size_t bytes, const struct moment *at) {
    put_time(out, bytes, at, decode_ns(at));
}

static void put_step_average(char *out, size_t bytes, const struct moment *at) {
    int steps = at->done - at->prefills;
    int64_t steps_ns = steps > 0 ? run_event_ns(at->run, at->done) - run_prefill_ns(at->run) : -1;
    put_time(out, bytes, at, steps > 0 ? (steps_ns + steps / 2) / steps : -1);
}

static void put_total(char *out, size_t bytes, const struct moment *at) {
    put_time(out, bytes, at, at->is_over ? at->t_ns : -1);
}

// Whole per cent of decode in the time so far, -1 = not to be told.
static int decode_percent(const struct moment *at) {
    int64_t part_ns = decode_ns(at);
    return part_ns < 0 || at->t_ns == 0 ? -1
                                        : (int)(100 * (double)part_ns / (double)at->t_ns + 0.5);
}

static void put_decode_share(char *out, size_t bytes, const struct moment *at) {
    int percent = decode_percent(at);
    percent >= 0 ? (void)snprintf(out, bytes, "%d %%", percent) : put_dash(out, bytes);
}

// The rest, so that the two always make 100.
static void put_prefill_share(char *out, size_t bytes, const struct moment *at) {
    int percent = decode_percent(at);
    percent >= 0 ? (void)snprintf(out, bytes, "%d %%", 100 - percent) : put_dash(out, bytes);
}

// --- Values: texts ---

static void put_prompt(char *out, size_t bytes, const struct moment *at) {
    put_sentence(out, bytes, at, 0, at->run->info.prompt_tokens, PROMPT_CHARS, false);
    if (!out[0])
        put_dash(out, bytes);
}

static void put_answer(char *out, size_t bytes, const struct moment *at) {
    put_sentence(out, bytes, at, at->run->info.prompt_tokens, at->answers, ANSWER_CHARS, true);
    if (!out[0])
        put_dash(out, bytes);
}

static void put_device(char *out, size_t bytes, const struct moment *at) {
    struct run_device device = run_device(&at->run->info, false);
    bool is_known = at->run->info.origin != RUN_LESSON && device.text[0];
    snprintf(out, bytes, "%s", is_known ? device.text : SIGN_DASH);
}

static void put_model(char *out, size_t bytes, const struct moment *at) {
    snprintf(out, bytes, "%s", at->run->info.model[0] ? at->run->info.model : SIGN_DASH);
}

static void put_unit(char *out, size_t bytes, const struct moment *at) {
    snprintf(out, bytes, "%s", at->run->info.unit[0] ? at->run->info.unit : SIGN_DASH);
}

// --- By name ---

// clang-format off
#define LESSON_VALUES(X) \
    X("prompt_tokens", put_prompt_tokens) \
    X("answer_now", put_answer_now) \
    X("answer_tokens", put_answer_tokens) \
    X("fed_count", put_fed_count) \
    X("steps", put_steps) \
    X("number", put_number) \
    X("token", put_yielded) \
    X("fed", put_fed) \
    X("step", put_step) \
    X("step_time", put_step_time) \
    X("layers", put_layers) \
    X("cache_before", put_cache_before) \
    X("cache_now", put_cache_now) \
    X("cache_note", put_cache_note) \
    X("cache_bytes", put_cache_bytes) \
    X("cache_read_bytes", put_cache_read_bytes) \
    X("weight_bytes", put_weight_bytes) \
    X("step_bytes", put_step_bytes) \
    X("entry_bytes", put_entry_bytes) \
    X("entry_numbers", put_entry_numbers) \
    X("entry_formula", put_entry_formula) \
    X("cell_numbers", put_cell_numbers) \
    X("time", put_now) \
    X("clock", put_clock) \
    X("run_total", put_run_total) \
    X("time_left", put_time_left) \
    X("prefill", put_prefill) \
    X("ttft", put_ttft) \
    X("tpot", put_tpot) \
    X("decode", put_decode) \
    X("step_average", put_step_average) \
    X("total", put_total) \
    X("decode_share", put_decode_share) \
    X("prefill_share", put_prefill_share) \
    X("prompt", put_prompt) \
    X("answer", put_answer) \
    X("device", put_device) \
    X("model", put_model) \
    X("unit", put_unit)
// clang-format on

#define VALUE(name, put) {name, put},
static const struct {
    const char *name;
    void (*put)(char *out, size_t bytes, const struct moment *at);
} values[] = {LESSON_VALUES(VALUE)};
enum { VALUES = sizeof values / sizeof values[0] };

bool lesson_value(char *out, size_t bytes, const char *name, const struct run *run, int64_t t_ns) {
    for (int i = 0; i < VALUES; i++) {
        if (strcmp(values[i].name, name) != 0)
            continue;
        struct moment at = moment_of(run, t_ns);
        values[i].put(out, bytes, &at);
        return true;
    }
    return false;
}

const char *lesson_value_name(int index) {
    return index < VALUES ? values[index].name : NULL;
}
