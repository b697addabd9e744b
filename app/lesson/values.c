// See values.h. All numbers are worked out at once from a moment; the table gives each
// its name and its form.
#include "app/lesson/values.h"

#include "compute/base/num.h"
#include "compute/base/utf8.h"
#include "compute/base/words.h"
#include "compute/run/moment.h"
#include "compute/run/words.h"

#include <stdio.h>
#include <string.h>

// --- This pass ---

struct now {
    struct run_moment at;
    bool is_ended;    // the current pass has ended
    bool is_complete; // the run is complete, and this is its end
    int yields;       // answer token of this pass, -1 = none
    int step;         // number of this decode step, -1 = it is none
    int fed;          // token that this decode step feeds in, -1 = none
    int before;       // cache entries when this pass began
};

static struct now now_of(const struct run *run, int64_t t_ns) {
    struct run_moment at = run_moment_at(run, max_i64(t_ns, 0));
    struct now now = {
        .at = at,
        .is_ended = at.current >= 0 && at.current < at.passes_done,
        .is_complete = at.at_end && run->state == RUN_COMPLETE,
        .yields = -1,
        .step = -1,
        .fed = -1,
        .before = at.cache_entries,
    };
    if (at.current < 0)
        return now;
    bool is_step = now.is_ended ? at.steps_done > 0 : at.prefill_done;
    int answers = at.answers; // before this pass
    if (now.is_ended) {
        const struct run_pass *pass = &run->passes[at.current];
        now.yields = pass->yields;
        now.before = run->info.recomputes ? 0 : at.cache_entries - pass->column_count;
        answers = max_int(answers - 1, 0);
    } else if (is_step || run->info.counting == RUN_ENGINE) {
        now.yields = answers;
    }
    if (is_step) {
        now.step = at.steps_done + !now.is_ended;
        now.fed = answers > 0 ? run->info.prompt_tokens + answers - 1 : -1;
    }
    return now;
}

// --- Numbers ---

// -1 = not known (yet), shown as a dash. 0 bytes count as unknown, too: a lesson has none.
struct numbers {
    int64_t prompt_tokens, answer_now, answer_tokens, fed_count, steps, number, step, layers;
    int64_t cache_before, cache_now, cache_bytes, cache_read_bytes, weight_bytes, step_bytes;
    int64_t entry_bytes, entry_numbers, cell_numbers;
    int64_t time, step_time, run_total, time_left, prefill, ttft, tpot, step_average, total;
    int64_t whole_answer, recomputed, rule_token, rule_pass;
};

static void set_lengths(struct numbers *out, const struct now *now) {
    const struct run_moment *at = &now->at;
    const struct run_info *info = &at->run->info;
    out->prompt_tokens = info->prompt_tokens;
    out->answer_now = at->answers;
    out->answer_tokens = now->is_complete ? at->answers : -1;
    out->fed_count =
        at->prefill_done && !info->recomputes ? at->cache_entries - info->prompt_tokens : -1;
    out->steps = at->steps_done;
    out->number = now->yields >= 0 ? now->yields + 1 : -1;
    out->step = now->step;
    out->layers = info->layers;
    bool is_whole = at->run->state == RUN_COMPLETE;
    int64_t whole = is_whole ? run_answers_seen(at->run) : -1;
    out->whole_answer = whole;
    // The prompt, then each pass over all tokens so far: P + (P + 1) + ... + (P + N - 1).
    out->recomputed = is_whole ? whole * info->prompt_tokens + whole * (whole - 1) / 2 : -1;
    out->cache_before = now->before;
    out->cache_now = at->cache_entries;
}

// Lesson units have no bytes.
static void set_bytes(struct numbers *out, const struct now *now) {
    const struct run *run = now->at.run;
    const struct run_info *info = &run->info;
    bool is_lesson = info->origin == RUN_LESSON;
    int64_t entry = is_lesson ? 0 : run_cache_entry_bytes(run);
    int64_t weights = is_lesson ? 0 : info->weight_bytes;
    int64_t cell = is_lesson ? 0 : INT64_C(2) * info->kv_heads * info->head_dim;
    out->cache_bytes = is_lesson ? 0 : run_cache_bytes(run, now->at.cache_entries);
    out->cache_read_bytes = is_lesson ? 0 : run_cache_bytes(run, now->before);
    out->weight_bytes = weights;
    out->step_bytes = weights > 0 && entry > 0 ? weights + out->cache_read_bytes : -1;
    out->entry_bytes = entry;
    out->cell_numbers = cell > 0 ? cell : -1;
    out->entry_numbers = cell > 0 && info->layers > 0 ? cell * info->layers : -1;
}

static void set_times(struct numbers *out, const struct now *now) {
    const struct run_moment *at = &now->at;
    const struct run *run = at->run;
    int64_t t_ns = at->shown_ns;
    out->time = t_ns;
    out->step_time =
        now->is_ended ? run_pass_end_ns(run, at->current) - run->passes[at->current].start_ns : -1;
    out->run_total = run->state == RUN_COMPLETE ? run_end_ns(run) : -1;
    out->time_left = out->run_total < 0 ? -1 : out->run_total - t_ns;
    out->total = now->is_complete ? t_ns : -1;
    out->prefill = at->prefill_ns;
    out->ttft = at->ttft_ns;
    out->tpot = at->tpot_ns;
    out->step_average = at->step_ns;
    out->rule_token = run->info.rule.token_ns > 0 ? run->info.rule.token_ns : -1;
    out->rule_pass = run->info.rule.pass_ns > 0 ? run->info.rule.pass_ns : -1;
}

// --- Texts of tokens ---

// What fits into a narrow panel's block beside other words.
enum { PROMPT_BYTES = 80, ANSWER_BYTES = 64 };

// Where the last `most` bytes of a text begin, without half a character.
static size_t tail_of(const char *text, size_t length, size_t most) {
    size_t from = length > most ? length - most : 0;
    while (from > 0 && from < length && utf8_continues(text[from]))
        from++;
    return from;
}

// Some tokens as they read in a sentence: at most so many bytes of their beginning or,
// with `is_end`, of their end.
struct excerpt {
    int first, count;
    size_t most;
    bool is_end;
};

static void put_excerpt(char *out, size_t bytes, const struct run *run, struct excerpt of) {
    char raw[ANSWER_BYTES + PROMPT_BYTES + RUN_TOKEN_BYTES] = "";
    size_t used = 0;
    bool is_cut = false;
    for (int token = of.first; token < of.first + of.count; token++) {
        if (run->tokens[token].kind == RUN_CONTROL)
            continue;
        if (used + RUN_TOKEN_BYTES > sizeof raw) {
            if (!of.is_end)
                break;
            size_t from = tail_of(raw, used, of.most);
            memmove(raw, raw + from, used - from);
            used -= from;
            is_cut = true;
        }
        used += run_token_words(raw + used, run, token);
    }
    size_t from = of.is_end ? tail_of(raw, used, of.most) : 0;
    size_t until = of.is_end ? used : utf8_cut(raw, used, of.most);
    is_cut = is_cut || used > of.most;
    while (from < until && raw[from] == ' ')
        from++;
    char safe[4 * sizeof raw];
    utf8_printable(safe, sizeof safe, raw + from, until - from);
    const char *text = safe[0] || is_cut ? safe : SIGN_DASH;
    snprintf(out, bytes, "%s%s%s", is_cut && of.is_end ? SIGN_ELLIPSIS : "", text,
             is_cut && !of.is_end ? SIGN_ELLIPSIS : "");
}

// --- Values that are texts ---

static void put_yielded(char *out, size_t bytes, const struct now *now) {
    const struct run *run = now->at.run;
    if (now->yields >= 0 && now->yields < now->at.answers)
        run_token_printable(out, bytes, run, run->info.prompt_tokens + now->yields);
    else
        snprintf(out, bytes, SIGN_DASH);
}

static void put_fed(char *out, size_t bytes, const struct now *now) {
    if (now->fed >= 0)
        run_token_printable(out, bytes, now->at.run, now->fed);
    else
        snprintf(out, bytes, SIGN_DASH);
}

static void put_cache_note(char *out, size_t bytes, const struct now *now) {
    struct numbers numbers;
    set_bytes(&numbers, now);
    bool is_known = numbers.cache_bytes > 0;
    snprintf(out, bytes, "%s%s", is_known ? ", " : "",
             is_known ? figure_bytes(numbers.cache_bytes).text : "");
}

static void put_entry_formula(char *out, size_t bytes, const struct now *now) {
    const struct run_info *info = &now->at.run->info;
    if (info->origin != RUN_LESSON && info->kv_heads > 0 && info->head_dim > 0)
        snprintf(out, bytes, "2 " SIGN_TIMES " %d " SIGN_TIMES " %d " SIGN_TIMES " %d",
                 info->layers, info->kv_heads, info->head_dim);
    else
        snprintf(out, bytes, SIGN_DASH);
}

// "122 / 247 units": the unit once if it is the same.
static void put_clock(char *out, size_t bytes, const struct now *now) {
    const struct run *run = now->at.run;
    int64_t t_ns = now->at.shown_ns, end_ns = run_end_ns(run);
    if (run->state != RUN_COMPLETE) {
        snprintf(out, bytes, "%s", run_time(&run->info, t_ns).text);
        return;
    }
    struct figure part = run_time_on(&run->info, t_ns, end_ns);
    struct figure total = run_time(&run->info, end_ns);
    char *unit = strchr(part.text, ' '), *same = strchr(total.text, ' ');
    if (unit && same && strcmp(unit, same) == 0)
        *unit = '\0';
    snprintf(out, bytes, "%s / %s", part.text, total.text);
}

static void put_decode(char *out, size_t bytes, const struct now *now) {
    const struct run_moment *at = &now->at;
    snprintf(out, bytes, "%s", run_decode_time(&at->run->info, at->prefill_ns, at->shown_ns).text);
}

static void put_decode_share(char *out, size_t bytes, const struct now *now) {
    snprintf(out, bytes, "%s", run_decode_share(now->at.prefill_ns, now->at.shown_ns).text);
}

static void put_prefill_share(char *out, size_t bytes, const struct now *now) {
    snprintf(out, bytes, "%s", run_prefill_share(now->at.prefill_ns, now->at.shown_ns).text);
}

static void put_prompt(char *out, size_t bytes, const struct now *now) {
    const struct run *run = now->at.run;
    put_excerpt(out, bytes, run,
                (struct excerpt){.count = run->info.prompt_tokens, .most = PROMPT_BYTES});
}

static void put_answer(char *out, size_t bytes, const struct now *now) {
    const struct run *run = now->at.run;
    if (now->at.answers == 0) {
        snprintf(out, bytes, "%s", word("answer.none"));
        return;
    }
    put_excerpt(out, bytes, run,
                (struct excerpt){.first = run->info.prompt_tokens,
                                 .count = now->at.answers,
                                 .most = ANSWER_BYTES,
                                 .is_end = true});
}

static void put_device(char *out, size_t bytes, const struct now *now) {
    struct run_device device = run_device(&now->at.run->info, false);
    bool is_known = now->at.run->info.origin != RUN_LESSON && device.text[0];
    snprintf(out, bytes, "%s", is_known ? device.text : SIGN_DASH);
}

static void put_model(char *out, size_t bytes, const struct now *now) {
    const char *model = now->at.run->info.model;
    snprintf(out, bytes, "%s", model[0] ? model : SIGN_DASH);
}

static void put_unit(char *out, size_t bytes, const struct now *now) {
    const char *unit = now->at.run->info.unit;
    snprintf(out, bytes, "%s", unit[0] ? unit : SIGN_DASH);
}

// --- By name ---

enum form { COUNT, TIME, BYTES, TEXT };

#define NUMBER(name, form)                                                                         \
    { #name, form, offsetof(struct numbers, name), NULL }

static const struct value {
    const char *name;
    enum form form;
    size_t field;                                                // of struct numbers; not of a TEXT
    void (*put)(char *out, size_t bytes, const struct now *now); // of a TEXT
} values[] = {
    NUMBER(prompt_tokens, COUNT),
    NUMBER(answer_now, COUNT),
    NUMBER(answer_tokens, COUNT),
    NUMBER(fed_count, COUNT),
    NUMBER(steps, COUNT),
    NUMBER(number, COUNT),
    {"token", TEXT, 0, put_yielded},
    {"fed", TEXT, 0, put_fed},
    NUMBER(step, COUNT),
    NUMBER(step_time, TIME),
    NUMBER(layers, COUNT),
    NUMBER(cache_before, COUNT),
    NUMBER(cache_now, COUNT),
    {"cache_note", TEXT, 0, put_cache_note},
    NUMBER(cache_bytes, BYTES),
    NUMBER(cache_read_bytes, BYTES),
    NUMBER(weight_bytes, BYTES),
    NUMBER(step_bytes, BYTES),
    NUMBER(entry_bytes, BYTES),
    NUMBER(entry_numbers, COUNT),
    {"entry_formula", TEXT, 0, put_entry_formula},
    NUMBER(cell_numbers, COUNT),
    NUMBER(time, TIME),
    {"clock", TEXT, 0, put_clock},
    NUMBER(run_total, TIME),
    NUMBER(time_left, TIME),
    NUMBER(prefill, TIME),
    NUMBER(ttft, TIME),
    NUMBER(tpot, TIME),
    {"decode", TEXT, 0, put_decode},
    NUMBER(step_average, TIME),
    NUMBER(total, TIME),
    {"decode_share", TEXT, 0, put_decode_share},
    {"prefill_share", TEXT, 0, put_prefill_share},
    NUMBER(whole_answer, COUNT),
    NUMBER(recomputed, COUNT),
    NUMBER(rule_token, TIME),
    NUMBER(rule_pass, TIME),
    {"prompt", TEXT, 0, put_prompt},
    {"answer", TEXT, 0, put_answer},
    {"device", TEXT, 0, put_device},
    {"model", TEXT, 0, put_model},
    {"unit", TEXT, 0, put_unit},
};
enum { VALUES = sizeof values / sizeof values[0] };

static struct figure number_of(const struct value *value, const struct now *now) {
    struct numbers numbers;
    int64_t number;
    set_lengths(&numbers, now);
    set_bytes(&numbers, now);
    set_times(&numbers, now);
    memcpy(&number, (const char *)&numbers + value->field, sizeof number);
    if (number < 0 || (number == 0 && value->form == BYTES))
        return (struct figure){SIGN_DASH};
    if (value->form == TIME)
        return run_time(&now->at.run->info, number);
    return value->form == BYTES ? figure_bytes(number) : figure_count(number, false);
}

bool lesson_value(char *out, size_t bytes, const char *name, const struct run *run, int64_t t_ns) {
    int i = 0;
    while (i < VALUES && strcmp(values[i].name, name) != 0)
        i++;
    if (i == VALUES)
        return false;
    struct now now = now_of(run, t_ns);
    if (values[i].form == TEXT)
        values[i].put(out, bytes, &now);
    else
        snprintf(out, bytes, "%s", number_of(&values[i], &now).text);
    return true;
}

const char *lesson_value_name(int index) {
    return index < VALUES ? values[index].name : NULL;
}
