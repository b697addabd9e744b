// Writing a run file, see runfile.h.
#include "compute/file/runfile_parts.h"

#include "compute/base/partfile.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TRACK_PASSES = 1, TRACK_STAGES, TRACK_TOKENS };

const char *const runfile_origins[3] = {"measured", "modelled", "lesson"};
const char *const runfile_countings[2] = {"engine", "charged"};
const char *const runfile_phases[2] = {"prefill", "decode"};
const char *const runfile_states[3] = {NULL, "complete", "failed"};

const struct runfile_field runfile_fields[RUNFILE_FIELDS] = {
#define FIELD(kind, name)                                                                          \
    { #name, FIELD_##kind, offsetof(struct run_info, name), sizeof(((struct run_info *)0)->name) }
    FIELD(ORIGIN, origin),
    FIELD(COUNTING, counting),
    FIELD(BOOL, cold),
    FIELD(BOOL, forced_length),
    FIELD(TEXT, device),
    FIELD(TEXT, device_name),
    FIELD(TEXT, driver),
    FIELD(TEXT, model),
    FIELD(TEXT, weights),
    FIELD(TEXT, weight_type),
    FIELD(TEXT, clock),
    FIELD(TEXT, date),
    FIELD(TEXT, unit),
    FIELD(INT64, unit_ns),
    FIELD(INT, threads),
    FIELD(INT, layers),
    FIELD(INT, heads),
    FIELD(INT, kv_heads),
    FIELD(INT, head_dim),
    FIELD(INT, kv_value_bytes),
    FIELD(INT64, weight_bytes),
    FIELD(UINT64, seed),
    FIELD(INT, prompt_tokens),
    FIELD(INT, answer_limit),
    FIELD(RARE, recomputes),
    FIELD(RARE_INT, window_layers),
    FIELD(RARE_INT, window),
#undef FIELD
#define FIELD(kind, key, name)                                                                     \
    { key, FIELD_##kind, offsetof(struct run_info, name), sizeof(((struct run_info *)0)->name) }
    FIELD(RARE, "disturbed", is_disturbed),
    FIELD(RARE_INT64, "ttft_p10_ns", ttft.p10_ns),
    FIELD(RARE_INT64, "ttft_p90_ns", ttft.p90_ns),
    FIELD(RARE_INT64, "tpot_p10_ns", tpot.p10_ns),
    FIELD(RARE_INT64, "tpot_p90_ns", tpot.p90_ns),
    FIELD(RARE_INT64, "e2e_p10_ns", e2e.p10_ns),
    FIELD(RARE_INT64, "e2e_p90_ns", e2e.p90_ns),
#undef FIELD
#define FIELD(kind, key, name)                                                                     \
    {                                                                                              \
        key, FIELD_##kind, offsetof(struct run_info, chat) + offsetof(struct run_chat, name),      \
            sizeof(((struct run_chat *)0)->name)                                                   \
    }
    FIELD(RARE_TEXT, "chat", name),
    FIELD(RARE_INT, "system_first", system_first),
    FIELD(RARE_INT, "system_tokens", system_tokens),
    FIELD(RARE_INT, "question_first", question_first),
    FIELD(RARE_INT, "question_tokens", question_tokens),
#undef FIELD
};
// --- Printing: the events ---

static void text_field(struct jsonout *out, const char *key, const char *text) {
    jsonout_text(out, key, text, strlen(text));
}

static void open_event(struct jsonout *out, const char *phase, int track, const char *name) {
    jsonout_line(out);
    jsonout_open(out, NULL, '{');
    text_field(out, "ph", phase);
    jsonout_int(out, "pid", 1);
    jsonout_int(out, "tid", track);
    text_field(out, "name", name);
}

static void open_span(struct jsonout *out, int track, const char *name, int64_t start_ns,
                      int64_t end_ns) {
    open_event(out, "X", track, name);
    jsonout_us(out, "ts", start_ns);
    jsonout_us(out, "dur", end_ns - start_ns);
    jsonout_open(out, "args", '{');
}

static void close_event(struct jsonout *out) {
    jsonout_close(out, '}'); // args
    jsonout_close(out, '}');
}

static void print_names(struct jsonout *out, const struct run *run) {
    static const char *const tracks[] = {
        [TRACK_PASSES] = "passes", [TRACK_STAGES] = "stages", [TRACK_TOKENS] = "tokens"};
    const struct run_info *info = &run->info;
    bool has_device = info->origin != RUN_LESSON && info->device[0];
    char process[256];
    snprintf(process, sizeof process, "tokendrip: %s%s%s%s%s", info->model,
             info->model[0] ? ", " : "", has_device ? info->device : "", has_device ? ", " : "",
             runfile_origins[info->origin]);
    open_event(out, "M", 0, "process_name");
    jsonout_open(out, "args", '{');
    text_field(out, "name", process);
    close_event(out);
    for (int track = TRACK_PASSES; track <= TRACK_TOKENS; track++) {
        open_event(out, "M", track, "thread_name");
        jsonout_open(out, "args", '{');
        text_field(out, "name", tracks[track]);
        close_event(out);
        open_event(out, "M", track, "thread_sort_index");
        jsonout_open(out, "args", '{');
        jsonout_int(out, "sort_index", track);
        close_event(out);
    }
}

static void print_pass_event(struct jsonout *out, const struct run *run, int index) {
    const struct run_pass *pass = &run->passes[index];
    int64_t entry_bytes = run_cache_entry_bytes(run);
    char name[32] = "prefill";
    if (pass->phase == RUN_DECODE)
        snprintf(name, sizeof name, pass->column_count ? "decode %d" : "charged step",
                 pass->yields);
    open_span(out, TRACK_PASSES, name, pass->start_ns, run_pass_end_ns(run, index));
    jsonout_int(out, "first_column", pass->first_column);
    jsonout_int(out, "columns", pass->column_count);
    if (entry_bytes > 0) {
        jsonout_int(out, "kv_read_bytes", run_cache_bytes(run, pass->first_column));
        jsonout_int(out, "kv_written_bytes", entry_bytes * pass->column_count);
    }
    if (run->info.weight_bytes > 0 && pass->phase == RUN_DECODE)
        jsonout_int(out, "weight_bytes", run->info.weight_bytes);
    close_event(out);
}

static void print_stage_events(struct jsonout *out, const struct run *run, int index) {
    int stages = run_stages(run), columns = run->passes[index].column_count;
    int64_t layer_bytes = run_cache_entry_bytes(run) / run->info.layers;
    for (int stage = 0; stage < stages && index * stages + stage < run->mark_count; stage++) {
        int mark = index * stages + stage;
        bool is_layer = stage > 0 && stage < stages - 1;
        char name[32];
        snprintf(name, sizeof name, is_layer ? "layer %d" : stage ? "output" : "embedding", stage);
        open_span(out, TRACK_STAGES, name, run_stage_start_ns(run, mark), run->mark_end_ns[mark]);
        if (stage < stages - 1) // the output is made of the last column alone
            jsonout_int(out, "columns", columns);
        if (is_layer && layer_bytes > 0)
            jsonout_int(out, "kv_written_bytes", layer_bytes * columns);
        close_event(out);
    }
}

static bool is_text(const char *text, size_t bytes) {
    return utf8_is_valid(text, bytes) && !memchr(text, '\0', bytes);
}

static void to_hex(char *out, const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        snprintf(out + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
}

static void print_token_event(struct jsonout *out, const struct run *run, int answer) {
    int token = run->prompt_count + answer;
    size_t bytes = 0;
    const char *text = run_token_text(run, token, &bytes);
    char name[2 * RUN_TOKEN_BYTES + 16];
    if (bytes == 0)
        snprintf(name, sizeof name, "token %d", answer);
    else if (is_text(text, bytes))
        snprintf(name, sizeof name, "%.*s", (int)bytes, text);
    else
        to_hex(name + snprintf(name, sizeof name, "0x"), text, bytes);
    open_event(out, "i", TRACK_TOKENS, name);
    jsonout_us(out, "ts", run_answer_ns(run, answer));
    text_field(out, "s", "t");
    jsonout_open(out, "args", '{');
    jsonout_int(out, "answer", answer);
    jsonout_int(out, "id", run->tokens[token].id);
    close_event(out);
}

// In the order of time: a pass, its stages, its token.
static void print_events(struct jsonout *out, const struct run *run) {
    jsonout_open(out, "traceEvents", '[');
    print_names(out, run);
    for (int i = 0; i < run_passes_seen(run); i++) {
        print_pass_event(out, run, i);
        print_stage_events(out, run, i);
        int answer = run->passes[i].yields;
        if (answer >= 0 && answer < run_answers_seen(run))
            print_token_event(out, run, answer);
    }
    jsonout_close(out, ']');
}

// --- Printing: what is read back ---

static void print_info_field(struct jsonout *out, const struct run_info *info,
                             const struct runfile_field *field) {
    const char *at = (const char *)info + field->offset;
    char number[24];
    switch (field->kind) {
    case FIELD_TEXT:
        text_field(out, field->key, at);
        break;
    case FIELD_INT:
        jsonout_int(out, field->key, *(const int *)(const void *)at);
        break;
    case FIELD_INT64:
        jsonout_int(out, field->key, *(const int64_t *)(const void *)at);
        break;
    case FIELD_UINT64:
        snprintf(number, sizeof number, "%" PRIu64, *(const uint64_t *)(const void *)at);
        text_field(out, field->key, number);
        break;
    case FIELD_BOOL:
        jsonout_bool(out, field->key, *(const bool *)(const void *)at);
        break;
    case FIELD_RARE_TEXT:
        if (at[0])
            text_field(out, field->key, at);
        break;
    case FIELD_RARE_INT:
        if (*(const int *)(const void *)at)
            jsonout_int(out, field->key, *(const int *)(const void *)at);
        break;
    case FIELD_RARE_INT64:
        if (*(const int64_t *)(const void *)at)
            jsonout_int(out, field->key, *(const int64_t *)(const void *)at);
        break;
    case FIELD_RARE:
        if (*(const bool *)(const void *)at)
            jsonout_bool(out, field->key, true);
        break;
    case FIELD_ORIGIN:
        text_field(out, field->key, runfile_origins[info->origin]);
        break;
    case FIELD_COUNTING:
        text_field(out, field->key, runfile_countings[info->counting]);
        break;
    }
}

static void print_tokens(struct jsonout *out, const struct run *run, int first, int count) {
    for (int i = first; i < first + count; i++) {
        char hex[2 * RUN_TOKEN_BYTES + 1] = "";
        size_t bytes = 0;
        const char *text = run_token_text(run, i, &bytes);
        jsonout_line(out);
        jsonout_open(out, NULL, '{');
        jsonout_int(out, "id", run->tokens[i].id);
        if (is_text(text, bytes)) {
            jsonout_text(out, "text", text, bytes);
        } else {
            to_hex(hex, text, bytes);
            text_field(out, "hex", hex);
        }
        if (run->tokens[i].kind != RUN_PIECE)
            jsonout_bool(out, run->tokens[i].kind == RUN_BYTE ? "byte" : "control", true);
        jsonout_close(out, '}');
    }
}

static void print_pass(struct jsonout *out, const struct run *run, int index) {
    const struct run_pass *pass = &run->passes[index];
    int stages = run_stages(run);
    jsonout_line(out);
    jsonout_open(out, NULL, '{');
    text_field(out, "phase", runfile_phases[pass->phase]);
    jsonout_int(out, "first_column", pass->first_column);
    jsonout_int(out, "column_count", pass->column_count);
    jsonout_int(out, "yields", pass->yields);
    jsonout_int(out, "start_ns", pass->start_ns);
    jsonout_open(out, "marks_ns", '[');
    for (int m = index * stages; m < (index + 1) * stages && m < run->mark_count; m++)
        jsonout_int(out, NULL, run->mark_end_ns[m]);
    jsonout_close(out, ']');
    jsonout_close(out, '}');
}

static void print_run(struct jsonout *out, const struct run *run,
                      const struct runfile_extras *extras) {
    jsonout_open(out, "tokendrip", '{');
    jsonout_int(out, "version", RUNFILE_VERSION);
    text_field(out, "state", runfile_states[run->state]);
    jsonout_line(out);
    jsonout_open(out, "info", '{');
    for (int i = 0; i < RUNFILE_FIELDS; i++)
        print_info_field(out, &run->info, &runfile_fields[i]);
    jsonout_close(out, '}');
    jsonout_line(out);
    jsonout_open(out, "prompt", '[');
    print_tokens(out, run, 0, run->prompt_count);
    jsonout_close(out, ']');
    jsonout_line(out);
    jsonout_open(out, "answer", '[');
    print_tokens(out, run, run->prompt_count, run_answers_seen(run));
    jsonout_close(out, ']');
    jsonout_line(out);
    jsonout_open(out, "passes", '[');
    for (int i = 0; i < run_passes_seen(run); i++)
        print_pass(out, run, i);
    jsonout_close(out, ']');
    runfile_extras_print(out, extras);
    jsonout_close(out, '}');
}

static bool can_be_saved(const struct run *run, struct why *why) {
    if (!run_validate(run, why))
        return false;
    if (run->state == RUN_OPEN)
        return why_set(why, "the run is still growing: save it when it has ended");
    int64_t values = (int64_t)run->mark_count + 16 * (int64_t)run_passes_seen(run) +
                     8 * (int64_t)(run->prompt_count + run_answers_seen(run));
    return values <= RUNFILE_MAX_VALUES - 1024 ||
           why_set(why, "the run has %d marks, too many for a file: ask for fewer tokens",
                   run->mark_count);
}

char *runfile_print(const struct run *run, const struct runfile_extras *extras, size_t *bytes,
                    struct why *why) {
    *bytes = 0;
    if (!can_be_saved(run, why) || !runfile_extras_check(extras, why))
        return NULL;
    struct jsonout out = {.max_bytes = RUNFILE_MAX_BYTES};
    jsonout_open(&out, NULL, '{');
    text_field(&out, "displayTimeUnit", "ns");
    jsonout_line(&out);
    print_events(&out, run);
    jsonout_line(&out);
    print_run(&out, run, extras);
    jsonout_close(&out, '}');
    jsonout_line(&out);
    return jsonout_take(&out, bytes, why);
}

// --- Saving ---

bool runfile_save(const char *path, const struct run *run, const struct runfile_extras *extras,
                  bool overwrite, struct why *why) {
    size_t bytes = 0;
    struct why reason;
    char *text = runfile_print(run, extras, &bytes, &reason);
    if (!text)
        return why_set(why, "%s: not saved: %.120s", jsonin_short(path), reason.text);
    bool done = partfile_save(path, text, bytes, overwrite, why);
    free(text);
    return done;
}
