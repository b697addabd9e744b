// See run.h. Two halves that share nothing but the struct: writing checks order
// and time and moves the writer's counts; reading derives everything from
// mark_count, because another thread may hold a prefix. Only expected_pass knows
// which pass may follow which.
#include "compute/run/run.h"

#include "compute/base/figures.h"
#include "compute/base/spoken.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RUN_MAX_HEADS = 1 << 16, RUN_MAX_VALUE_BYTES = 16, RUN_MAX_THREADS = 1 << 16 };

// The texts of run_info, which are all checked alike.
static const struct info_text {
    const char *name;
    size_t offset, bytes;
} info_texts[] = {
#define INFO_TEXT(field)                                                                           \
    { #field, offsetof(struct run_info, field), sizeof(((struct run_info *)0)->field) }
    INFO_TEXT(device),
    INFO_TEXT(device_name),
    INFO_TEXT(driver),
    INFO_TEXT(model),
    INFO_TEXT(weights),
    INFO_TEXT(weight_type),
    INFO_TEXT(clock),
    INFO_TEXT(date),
    INFO_TEXT(unit),
#undef INFO_TEXT
    {"chat", offsetof(struct run_info, chat.name), sizeof(((struct run_chat *)0)->name)},
};
enum { INFO_TEXTS = sizeof(info_texts) / sizeof(info_texts[0]) };

// --- Text ---

// How much of the start of `text` is printable UTF-8.
static size_t printable_bytes(const char *text, size_t bytes) {
    size_t at = 0;
    for (;;) {
        uint32_t code;
        size_t length = utf8_next(text + at, bytes - at, &code);
        if (length == 0 || utf8_is_control(code))
            return at;
        at += length;
    }
}

static void repair_texts(struct run_info *info) {
    for (int i = 0; i < INFO_TEXTS; i++) {
        char *text = (char *)info + info_texts[i].offset;
        text[info_texts[i].bytes - 1] = '\0';
        size_t bytes = strlen(text);
        for (size_t at; (at = printable_bytes(text, bytes)) < bytes;)
            text[at] = '?';
        // Infos with the same texts are then equal byte for byte.
        memset(text + bytes, 0, info_texts[i].bytes - bytes);
    }
}

static bool check_texts(const struct run_info *info, struct why *why) {
    for (int i = 0; i < INFO_TEXTS; i++) {
        const char *text = (const char *)info + info_texts[i].offset;
        size_t bytes = strnlen(text, info_texts[i].bytes), good = printable_bytes(text, bytes);
        if (bytes == info_texts[i].bytes)
            return why_set(why, "run: %s has no end within its %zu bytes", info_texts[i].name,
                           bytes);
        if (good < bytes)
            return why_set(why, "run: %s is not printable UTF-8 at byte %zu", info_texts[i].name,
                           good);
    }
    return true;
}

// --- Creation ---

static bool check_info(const struct run_info *info, struct why *why) {
    const struct {
        const char *name;
        int64_t value, least, most;
    } rows[] = {
        {"origin", (int64_t)info->origin, RUN_MEASURED, RUN_LESSON},
        {"counting", (int64_t)info->counting, RUN_ENGINE, RUN_CHARGED},
        {"unit_ns", info->unit_ns, info->origin == RUN_LESSON, RUN_MAX_NS},
        {"threads", info->threads, 0, RUN_MAX_THREADS},
        {"layers", info->layers, 1, RUN_MAX_LAYERS},
        {"heads", info->heads, 0, RUN_MAX_HEADS},
        {"kv_heads", info->kv_heads, 0, RUN_MAX_HEADS},
        {"head_dim", info->head_dim, 0, RUN_MAX_HEADS},
        {"kv_value_bytes", info->kv_value_bytes, 0, RUN_MAX_VALUE_BYTES},
        {"weight_bytes", info->weight_bytes, 0, INT64_MAX},
        {"window", info->window, 0, INT32_MAX},
        {"window_layers", info->window_layers, 0, info->window > 0 ? info->layers : 0},
        {"system_first", info->chat.system_first, 0, info->prompt_tokens},
        {"system_tokens", info->chat.system_tokens, 0,
         (int64_t)info->prompt_tokens - info->chat.system_first},
        {"question_first", info->chat.question_first, 0, info->prompt_tokens},
        {"question_tokens", info->chat.question_tokens, 0,
         (int64_t)info->prompt_tokens - info->chat.question_first},
        {"prompt_tokens", info->prompt_tokens, 1, RUN_MAX_TOKENS - 1},
        {"answer_limit", info->answer_limit, 1, RUN_MAX_TOKENS - 1},
        {"ttft_p90_ns", info->ttft.p90_ns, info->ttft.p10_ns, RUN_MAX_NS},
        {"tpot_p90_ns", info->tpot.p90_ns, info->tpot.p10_ns, RUN_MAX_NS},
        {"e2e_p90_ns", info->e2e.p90_ns, info->e2e.p10_ns, RUN_MAX_NS},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return why_set(why, "run: %s is %" PRId64 ", expected %" PRId64 " to %" PRId64,
                           rows[i].name, rows[i].value, rows[i].least, rows[i].most);
    }
    if (info->prompt_tokens > RUN_MAX_TOKENS - info->answer_limit)
        return why_set(why, "run: %d prompt and %d answer tokens are more than %d: ask for fewer",
                       info->prompt_tokens, info->answer_limit, RUN_MAX_TOKENS);
    return true;
}

// Zeroed memory with every page touched: a page fault inside a pass would be measured
// as model time.
static void *take_touched(size_t count, size_t item_bytes) {
    char *memory = calloc(count, item_bytes); // checks the product
    for (size_t at = 0; memory && at < count * item_bytes; at += 4096)
        *(volatile char *)(memory + at) = 0;
    return memory;
}

static bool create_sized(struct run **out, const struct run_info *info, int token_capacity,
                         int pass_capacity, struct why *why) {
    *out = NULL;
    struct run *run = calloc(1, sizeof(*run));
    if (!run)
        return why_set(why, "run: out of memory");
    run->info = *info;
    repair_texts(&run->info);
    run->token_capacity = token_capacity;
    run->pass_capacity = pass_capacity;
    run->text_capacity = (size_t)token_capacity * RUN_TOKEN_BYTES;
    size_t marks = (size_t)pass_capacity * (size_t)run_stages(run);
    run->tokens = take_touched((size_t)token_capacity, sizeof(*run->tokens));
    run->passes = take_touched((size_t)pass_capacity, sizeof(*run->passes));
    run->mark_end_ns = take_touched(marks, sizeof(*run->mark_end_ns));
    run->text = take_touched(run->text_capacity, 1);
    if (!run->tokens || !run->passes || !run->mark_end_ns || !run->text) {
        run_destroy(run);
        return why_set(why, "run: no memory for %zu marks: ask for fewer answer tokens", marks);
    }
    *out = run;
    return true;
}

bool run_create(struct run **out, const struct run_info *info, int prefill_passes,
                struct why *why) {
    *out = NULL;
    if (!check_info(info, why))
        return false;
    if (prefill_passes < 1 || prefill_passes > info->prompt_tokens)
        return why_set(why, "run: %d prefill passes for %d prompt tokens, expected 1 to %d",
                       prefill_passes, info->prompt_tokens, info->prompt_tokens);
    // Both counts are at most RUN_MAX_TOKENS, so no sum or product here overflows.
    return create_sized(out, info, info->prompt_tokens + info->answer_limit,
                        prefill_passes + info->answer_limit, why);
}

void run_destroy(struct run *run) {
    if (!run)
        return;
    free(run->tokens);
    free(run->passes);
    free(run->mark_end_ns);
    free(run->text);
    free(run);
}

// --- Writing ---

static bool check_open(const struct run *run, struct why *why) {
    return run->state == RUN_OPEN || why_set(why, "run: it has ended, nothing can be added");
}

// The pass begun last still lacks marks.
static bool is_in_pass(const struct run *run) {
    return run->mark_count < run->pass_count * run_stages(run);
}

static bool check_time(const char *what, int64_t value_ns, int64_t least_ns, struct why *why) {
    if (value_ns >= least_ns && value_ns <= RUN_MAX_NS)
        return true;
    return why_set(why, "run: %s at %" PRId64 " ns, expected %" PRId64 " to %" PRId64,
                   why_spoken(what), value_ns, least_ns, RUN_MAX_NS);
}

static bool append_token(struct run *run, int32_t id, const char *text, size_t bytes,
                         enum run_token_kind kind, struct why *why) {
    int index = run->prompt_count + run->answer_count;
    size_t kept = text ? utf8_cut(text, bytes, RUN_TOKEN_BYTES) : 0;
    if (!text && bytes > 0)
        return why_set(why, "run: token %d has %zu bytes of text but no text", index, bytes);
    if (index >= run->token_capacity || kept > run->text_capacity - run->text_used)
        return why_set(why, "run: no room for token %d of %d", index, run->token_capacity);
    if (kept > 0)
        memcpy(run->text + run->text_used, text, kept);
    run->tokens[index] = (struct run_token){
        .id = id,
        .text_offset = (uint32_t)run->text_used,
        .text_bytes = (uint32_t)kept,
        .kind = kind,
    };
    run->text_used += kept;
    return true;
}

bool run_add_prompt_token(struct run *run, int32_t id, const char *text, size_t bytes,
                          enum run_token_kind kind, struct why *why) {
    if (!check_open(run, why))
        return false;
    if (run->prompt_count >= run->info.prompt_tokens)
        return why_set(why, "run: all %d prompt tokens are there already", run->prompt_count);
    if (!append_token(run, id, text, bytes, kind, why))
        return false;
    run->prompt_count++;
    return true;
}

bool run_add_answer_token(struct run *run, int32_t id, const char *text, size_t bytes,
                          enum run_token_kind kind, struct why *why) {
    if (!check_open(run, why))
        return false;
    if (!is_in_pass(run))
        return why_set(why, "run: an answer token outside a pass");
    int yields = run->passes[run->pass_count - 1].yields;
    if (yields != run->answer_count)
        return why_set(why, "run: pass %d yields %s answer token", run->pass_count - 1,
                       yields < 0 ? why_spoken("no") : why_spoken("no second"));
    if (!append_token(run, id, text, bytes, kind, why))
        return false;
    run->answer_count++;
    return true;
}

// What pass `index` must look like after the passes before it. Only a prefill pass may
// choose its column_count; it is taken from `pass`.
static struct run_pass expected_pass(const struct run *run, int index,
                                     const struct run_pass *pass) {
    const struct run_pass *before = index > 0 ? &run->passes[index - 1] : NULL;
    int column = before ? before->first_column + before->column_count : 0;
    int yielded = before ? before->yields : -1;
    int left = run->info.prompt_tokens - column;
    bool is_charging = run->info.counting == RUN_CHARGED;
    struct run_pass expected = {.first_column = column, .start_ns = pass->start_ns};
    if (left > 0) {
        int count = pass->column_count;
        expected.phase = RUN_PREFILL;
        expected.column_count = count < 1 || count > left ? left : count;
        expected.yields = expected.column_count == left && !is_charging ? 0 : -1;
        return expected;
    }
    expected.phase = RUN_DECODE;
    expected.column_count = is_charging && yielded < 0 ? 0 : 1;
    expected.yields = yielded + 1;
    if (run->info.recomputes && expected.column_count > 0) {
        expected.first_column = 0;
        expected.column_count = run->info.prompt_tokens + yielded + 1;
    }
    return expected;
}

static bool check_pass(const struct run *run, int index, const struct run_pass *pass,
                       struct why *why) {
    struct run_pass expected = expected_pass(run, index, pass);
    if (pass->phase != expected.phase || pass->first_column != expected.first_column ||
        pass->column_count != expected.column_count || pass->yields != expected.yields)
        return why_set(why,
                       "run: pass %d is %s over columns %d +%d yielding %d, expected %s over "
                       "%d +%d yielding %d",
                       index, pass->phase == RUN_PREFILL ? "prefill" : "decode", pass->first_column,
                       pass->column_count, pass->yields,
                       expected.phase == RUN_PREFILL ? "prefill" : "decode", expected.first_column,
                       expected.column_count, expected.yields);
    if (pass->yields >= run->info.answer_limit)
        return why_set(why, "run: pass %d goes past the limit of %d answer tokens", index,
                       run->info.answer_limit);
    return true;
}

bool run_begin_pass(struct run *run, const struct run_pass *pass, struct why *why) {
    if (!check_open(run, why))
        return false;
    if (run->prompt_count < run->info.prompt_tokens)
        return why_set(why, "run: a pass before prompt token %d of %d was added", run->prompt_count,
                       run->info.prompt_tokens);
    if (is_in_pass(run))
        return why_set(why, "run: a pass begins before pass %d has all its marks",
                       run->pass_count - 1);
    if (run->pass_count >= run->pass_capacity)
        return why_set(why, "run: no room for more than %d passes", run->pass_capacity);
    if (!check_pass(run, run->pass_count, pass, why) ||
        !check_time("a pass starts", pass->start_ns, run_end_ns(run), why))
        return false;
    run->passes[run->pass_count++] = *pass;
    return true;
}

bool run_add_mark(struct run *run, int64_t end_ns, struct why *why) {
    if (!check_open(run, why))
        return false;
    if (!is_in_pass(run))
        return why_set(why, "run: a mark outside a pass");
    const struct run_pass *pass = &run->passes[run->pass_count - 1];
    int stage = run->mark_count % run_stages(run);
    if (stage == run_stages(run) - 1 && pass->yields >= run->answer_count)
        return why_set(why, "run: the output mark of pass %d comes before its answer token",
                       run->pass_count - 1);
    if (!check_time("a stage ends", end_ns, stage == 0 ? pass->start_ns : run_end_ns(run), why))
        return false;
    run->mark_end_ns[run->mark_count++] = end_ns;
    return true;
}

// Sets the writer's counts to what mark_count covers.
static void drop_unseen(struct run *run) {
    run->pass_count = run_passes_seen(run);
    run->answer_count = run_answers_seen(run);
    int last = run->prompt_count + run->answer_count - 1;
    run->text_used = last < 0 ? 0 : run->tokens[last].text_offset + run->tokens[last].text_bytes;
}

static bool is_whole(const struct run *run) {
    return run_answers_seen(run) > 0 && run->mark_count % run_stages(run) == 0;
}

void run_close(struct run *run, enum run_state state) {
    if (run->state != RUN_OPEN || state == RUN_OPEN)
        return;
    drop_unseen(run);
    run->state = state == RUN_COMPLETE && is_whole(run) ? RUN_COMPLETE : RUN_FAILED;
}

void run_rewind(struct run *run) {
    run->mark_count = 0;
    run->state = RUN_OPEN;
    drop_unseen(run);
}

// --- Checking ---

static bool check_counts(const struct run *run, struct why *why) {
    if (!run->tokens || !run->passes || !run->mark_end_ns || !run->text)
        return why_set(why, "run: it has no arrays");
    if (run->token_capacity < 1 || run->token_capacity > RUN_MAX_TOKENS || run->pass_capacity < 1 ||
        run->pass_capacity > 2 * RUN_MAX_TOKENS)
        return why_set(why, "run: room for %d tokens and %d passes is out of range",
                       run->token_capacity, run->pass_capacity);
    if (run->mark_count < 0 || run->mark_count > run->pass_capacity * run_stages(run))
        return why_set(why, "run: %d marks in room for %d passes", run->mark_count,
                       run->pass_capacity);
    if (run->state < RUN_OPEN || run->state > RUN_FAILED)
        return why_set(why, "run: state %d is unknown", (int)run->state);
    bool may_be_short = run->state == RUN_OPEN && run->mark_count == 0;
    if (run->prompt_count < 0 || run->prompt_count > run->info.prompt_tokens ||
        (run->prompt_count < run->info.prompt_tokens && !may_be_short))
        return why_set(why, "run: %d prompt tokens, expected %d", run->prompt_count,
                       run->info.prompt_tokens);
    return true;
}

static bool check_passes(const struct run *run, struct why *why) {
    int stages = run_stages(run);
    int64_t last_ns = 0;
    for (int i = 0; i < run_passes_seen(run); i++) {
        const struct run_pass *pass = &run->passes[i];
        if (!check_pass(run, i, pass, why) ||
            !check_time("a pass starts", pass->start_ns, last_ns, why))
            return false;
        last_ns = pass->start_ns;
        for (int m = i * stages; m < (i + 1) * stages && m < run->mark_count; m++) {
            if (!check_time("a stage ends", run->mark_end_ns[m], last_ns, why))
                return false;
            last_ns = run->mark_end_ns[m];
        }
    }
    return true;
}

static bool check_tokens(const struct run *run, struct why *why) {
    int count = run->prompt_count + run_answers_seen(run);
    size_t offset = 0;
    if (count > run->token_capacity)
        return why_set(why, "run: %d tokens in room for %d", count, run->token_capacity);
    for (int i = 0; i < count; i++) {
        const struct run_token *token = &run->tokens[i];
        if (token->text_offset != offset || token->text_bytes > RUN_TOKEN_BYTES ||
            token->text_bytes > run->text_capacity - offset || token->kind > RUN_BYTE)
            return why_set(why, "run: token %d has %u bytes of text at %u, expected them at %zu", i,
                           token->text_bytes, token->text_offset, offset);
        offset += token->text_bytes;
    }
    return true;
}

bool run_validate(const struct run *run, struct why *why) {
    if (!run)
        return why_set(why, "run: there is none");
    if (!check_info(&run->info, why) || !check_texts(&run->info, why) || !check_counts(run, why) ||
        !check_passes(run, why) || !check_tokens(run, why))
        return false;
    if (run->state == RUN_COMPLETE && !is_whole(run))
        return why_set(why, "run: called complete, but it stops inside a pass or has no answer");
    bool has_unseen =
        run->pass_count != run_passes_seen(run) || run->answer_count != run_answers_seen(run);
    if (run->state != RUN_OPEN && has_unseen)
        return why_set(why,
                       "run: it has ended with %d passes and %d answer tokens begun, but "
                       "%d and %d seen",
                       run->pass_count, run->answer_count, run_passes_seen(run),
                       run_answers_seen(run));
    return true;
}

bool run_stages_match_wall(const struct run *run) {
    int64_t sum_ns = 0;
    for (int i = 0; i < run_passes_seen(run); i++)
        sum_ns += run_pass_end_ns(run, i) - run->passes[i].start_ns;
    int64_t wall_ns = run_end_ns(run); // never less than the sum
    return (wall_ns - sum_ns) * 20 <= wall_ns;
}

// --- Copies ---

bool run_copy(struct run **out, const struct run *run, struct why *why) {
    if (!create_sized(out, &run->info, run->token_capacity, run->pass_capacity, why))
        return false;
    struct run *copy = *out;
    copy->prompt_count = run->prompt_count;
    copy->mark_count = run->mark_count;
    copy->state = run->state;
    size_t passes = (size_t)run_passes_seen(run);
    memcpy(copy->passes, run->passes, passes * sizeof(*copy->passes));
    memcpy(copy->mark_end_ns, run->mark_end_ns, (size_t)run->mark_count * sizeof(int64_t));
    size_t tokens = (size_t)(run->prompt_count + run_answers_seen(run));
    memcpy(copy->tokens, run->tokens, tokens * sizeof(*copy->tokens));
    drop_unseen(copy);
    memcpy(copy->text, run->text, copy->text_used);
    return true;
}

void run_prefix(struct run *out, const struct run *run, int mark_count) {
    // Field by field: the writer's counts may be changing right now.
    *out = (struct run){
        .info = run->info,
        .tokens = run->tokens,
        .passes = run->passes,
        .mark_end_ns = run->mark_end_ns,
        .text = run->text,
        .token_capacity = run->token_capacity,
        .pass_capacity = run->pass_capacity,
        .text_capacity = run->text_capacity,
        .prompt_count = run->prompt_count,
        .mark_count = mark_count,
        .state = RUN_OPEN,
    };
    drop_unseen(out);
}

// --- Reading: nothing below may look at pass_count, answer_count, text_used or state,
// because a prefix must give the same as a run that ended there. ---

int run_stages(const struct run *run) {
    return run->info.layers + 2;
}

int run_passes_seen(const struct run *run) {
    return (run->mark_count + run_stages(run) - 1) / run_stages(run);
}

// Answer tokens yielded by the first `passes` passes, all of them whole.
static int answers_of(const struct run *run, int passes) {
    return passes > 0 ? run->passes[passes - 1].yields + 1 : 0;
}

int run_answers_seen(const struct run *run) {
    return answers_of(run, run->mark_count / run_stages(run));
}

int run_marks_at(const struct run *run, int64_t t_ns) {
    int low = 0, high = run->mark_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (run->mark_end_ns[middle] <= t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Passes whose output mark is <= t.
static int whole_passes_at(const struct run *run, int64_t t_ns) {
    return run_marks_at(run, t_ns) / run_stages(run);
}

int64_t run_end_ns(const struct run *run) {
    return run->mark_count > 0 ? run->mark_end_ns[run->mark_count - 1] : 0;
}

int64_t run_stage_start_ns(const struct run *run, int mark) {
    if (mark < 0 || mark >= run->mark_count)
        return -1;
    int stages = run_stages(run);
    return mark % stages == 0 ? run->passes[mark / stages].start_ns : run->mark_end_ns[mark - 1];
}

int64_t run_pass_end_ns(const struct run *run, int pass) {
    if (pass < 0 || pass >= run_passes_seen(run))
        return -1;
    int last = (pass + 1) * run_stages(run) - 1;
    return run->mark_end_ns[last < run->mark_count ? last : run->mark_count - 1];
}

int64_t run_answer_ns(const struct run *run, int answer) {
    int passes = run->mark_count / run_stages(run);
    int answers = answers_of(run, passes);
    if (answer < 0 || answer >= answers)
        return -1;
    // From the first answer token on, every pass yields one.
    return run_pass_end_ns(run, passes - answers + answer);
}

int run_answers_at(const struct run *run, int64_t t_ns) {
    return answers_of(run, whole_passes_at(run, t_ns));
}

int64_t run_cache_entry_bytes(const struct run *run) {
    const struct run_info *info = &run->info;
    return (int64_t)2 * info->layers * info->kv_heads * info->head_dim * info->kv_value_bytes;
}

int64_t run_cache_bytes(const struct run *run, int64_t tokens) {
    const struct run_info *info = &run->info;
    int64_t kept = info->window > 0 && tokens > info->window ? info->window : tokens;
    int64_t cells = (info->layers - info->window_layers) * tokens + info->window_layers * kept;
    return run_cache_entry_bytes(run) / info->layers * cells;
}

const char *run_token_text(const struct run *run, int token, size_t *bytes) {
    *bytes = 0;
    if (token < 0 || token >= run->prompt_count + run_answers_seen(run))
        return "";
    *bytes = run->tokens[token].text_bytes;
    return run->text + run->tokens[token].text_offset;
}

bool run_token_is_framing(const struct run *run, int token) {
    const struct run_chat *chat = &run->info.chat;
    return chat->name[0] && token >= 0 && token < run->info.prompt_tokens &&
           (token < chat->system_first || token >= chat->system_first + chat->system_tokens) &&
           (token < chat->question_first || token >= chat->question_first + chat->question_tokens);
}

size_t run_token_words(char out[RUN_TOKEN_BYTES], const struct run *run, int token) {
    static const char mark[] = SIGN_WORD_SPACE;
    enum { MARK_BYTES = sizeof mark - 1 };
    size_t bytes = 0, used = 0;
    const char *text = run_token_text(run, token, &bytes);
    if (bytes > MARK_BYTES && memcmp(text, mark, MARK_BYTES) == 0) {
        out[used++] = ' ';
        text += MARK_BYTES;
        bytes -= MARK_BYTES;
    }
    memcpy(out + used, text, bytes);
    return used + bytes;
}

void run_token_printable(char *out, size_t out_bytes, const struct run *run, int token) {
    char words[RUN_TOKEN_BYTES];
    size_t bytes = run_token_words(words, run, token);
    size_t skip = bytes > 1 && words[0] == ' ';
    utf8_printable(out, out_bytes, words + skip, bytes - skip);
}

int64_t run_prefill_ns(const struct run *run) {
    int passes = run->mark_count / run_stages(run), low = 0, high = passes;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const struct run_pass *pass = &run->passes[middle];
        if (pass->first_column + pass->column_count >= run->info.prompt_tokens)
            high = middle;
        else
            low = middle + 1;
    }
    return low < passes ? run_pass_end_ns(run, low) : -1;
}

int64_t run_ttft_ns(const struct run *run) {
    return run_answer_ns(run, 0);
}

int64_t run_e2e_ns(const struct run *run) {
    return run_answer_ns(run, run_answers_seen(run) - 1);
}

int64_t run_decode_ns(const struct run *run) {
    int64_t e2e_ns = run_e2e_ns(run);
    return e2e_ns < 0 ? -1 : e2e_ns - run_prefill_ns(run);
}

int64_t run_tpot_ns(const struct run *run) {
    int64_t gaps = run_answers_seen(run) - 1;
    return gaps < 1 ? -1 : (run_e2e_ns(run) - run_ttft_ns(run) + gaps / 2) / gaps;
}

int run_events(const struct run *run) {
    return 1 + run->mark_count / run_stages(run);
}

int64_t run_event_ns(const struct run *run, int event) {
    if (event >= run_events(run)) // also the end of a pass that is not whole
        return -1;
    return event == 0 ? 0 : run_pass_end_ns(run, event - 1);
}

int run_event_at(const struct run *run, int64_t t_ns) {
    return t_ns < 0 ? -1 : whole_passes_at(run, t_ns);
}
