// See runfile.h. Three parts: printing, saving, reading. Reading first finds the
// extent of "tokendrip" by skipping over everything else, and only that part is
// given to jansson: the events are by far the larger part of a file, and a parsed
// number takes ten times the memory of its digits.
#include "compute/file/runfile.h"

#include "compute/base/json_in.h"
#include "compute/base/json_out.h"
#include "compute/base/partfile.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/file/runfile_extras.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TRACK_PASSES = 1,
    TRACK_STAGES,
    TRACK_TOKENS,
    // Objects and arrays in "tokendrip": one a token, two a pass, with room to spare.
    MAX_CONTAINERS = 6 * RUN_MAX_TOKENS,
    MAX_PASSES = 2 * RUN_MAX_TOKENS,
};

static const char *const origin_names[] = {"measured", "modelled", "lesson"};
static const char *const counting_names[] = {"engine", "charged"};
static const char *const phase_names[] = {"prefill", "decode"};
static const char *const state_names[] = {NULL, "complete", "failed"};

// The fields of run_info, for printing and reading alike.
static const struct info_field {
    const char *key;
    // RARE: a boolean that is left out when false, as in files before it was there.
    enum { TEXT, INT, INT64, UINT64, BOOL, RARE, ORIGIN, COUNTING } kind;
    size_t offset, bytes;
} info_fields[] = {
#define FIELD(kind, name)                                                                          \
    { #name, kind, offsetof(struct run_info, name), sizeof(((struct run_info *)0)->name) }
    FIELD(ORIGIN, origin),      FIELD(COUNTING, counting),  FIELD(BOOL, cold),
    FIELD(BOOL, forced_length), FIELD(TEXT, device),        FIELD(TEXT, device_name),
    FIELD(TEXT, driver),        FIELD(TEXT, model),         FIELD(TEXT, weights),
    FIELD(TEXT, weight_type),   FIELD(TEXT, clock),         FIELD(TEXT, date),
    FIELD(TEXT, unit),          FIELD(INT64, unit_ns),      FIELD(INT, threads),
    FIELD(INT, layers),         FIELD(INT, heads),          FIELD(INT, kv_heads),
    FIELD(INT, head_dim),       FIELD(INT, kv_value_bytes), FIELD(INT64, weight_bytes),
    FIELD(UINT64, seed),        FIELD(INT, prompt_tokens),  FIELD(INT, answer_limit),
    FIELD(RARE, recomputes),
#undef FIELD
};
enum { INFO_FIELDS = sizeof(info_fields) / sizeof(info_fields[0]) };

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
    snprintf(process, sizeof(process), "tokendrip: %s%s%s%s%s", info->model,
             info->model[0] ? ", " : "", has_device ? info->device : "", has_device ? ", " : "",
             origin_names[info->origin]);
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
        snprintf(name, sizeof(name), pass->column_count ? "decode %d" : "charged step",
                 pass->yields);
    open_span(out, TRACK_PASSES, name, pass->start_ns, run_pass_end_ns(run, index));
    jsonout_int(out, "first_column", pass->first_column);
    jsonout_int(out, "columns", pass->column_count);
    if (entry_bytes > 0) {
        jsonout_int(out, "kv_read_bytes", entry_bytes * pass->first_column);
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
        snprintf(name, sizeof(name), is_layer ? "layer %d" : stage ? "output" : "embedding", stage);
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
        snprintf(name, sizeof(name), "token %d", answer);
    else if (is_text(text, bytes))
        snprintf(name, sizeof(name), "%.*s", (int)bytes, text);
    else
        to_hex(name + snprintf(name, sizeof(name), "0x"), text, bytes);
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
                             const struct info_field *field) {
    const char *at = (const char *)info + field->offset;
    char number[24];
    switch (field->kind) {
    case TEXT:
        text_field(out, field->key, at);
        break;
    case INT:
        jsonout_int(out, field->key, *(const int *)(const void *)at);
        break;
    case INT64:
        jsonout_int(out, field->key, *(const int64_t *)(const void *)at);
        break;
    case UINT64:
        snprintf(number, sizeof(number), "%" PRIu64, *(const uint64_t *)(const void *)at);
        text_field(out, field->key, number);
        break;
    case BOOL:
        jsonout_bool(out, field->key, *(const bool *)(const void *)at);
        break;
    case RARE:
        if (*(const bool *)(const void *)at)
            jsonout_bool(out, field->key, true);
        break;
    case ORIGIN:
        text_field(out, field->key, origin_names[info->origin]);
        break;
    case COUNTING:
        text_field(out, field->key, counting_names[info->counting]);
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
        if (run->tokens[i].is_control)
            jsonout_bool(out, "control", true);
        jsonout_close(out, '}');
    }
}

static void print_pass(struct jsonout *out, const struct run *run, int index) {
    const struct run_pass *pass = &run->passes[index];
    int stages = run_stages(run);
    jsonout_line(out);
    jsonout_open(out, NULL, '{');
    text_field(out, "phase", phase_names[pass->phase]);
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
    text_field(out, "state", state_names[run->state]);
    jsonout_line(out);
    jsonout_open(out, "info", '{');
    for (int i = 0; i < INFO_FIELDS; i++)
        print_info_field(out, &run->info, &info_fields[i]);
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

static bool can_be_saved(const struct run *run, char *why) {
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

char *runfile_print_with(const struct run *run, const struct runfile_extras *extras, size_t *bytes,
                         char *why) {
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

char *runfile_print(const struct run *run, size_t *bytes, char *why) {
    return runfile_print_with(run, NULL, bytes, why);
}

// --- Saving ---

static bool replace(const char *path, const char *text, size_t bytes, char *why) {
    struct stat there;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return why_set(why, "%s: is no regular file: give another name", jsonin_short(path));
    int error = partfile_save(path, text, bytes);
    return error == 0 ||
           why_set(why, "%s: cannot be written: %s", jsonin_short(path), strerror(error));
}

bool runfile_save(const char *path, const struct run *run, char *why) {
    return runfile_save_with(path, run, NULL, why);
}

bool runfile_save_with(const char *path, const struct run *run, const struct runfile_extras *extras,
                       char *why) {
    size_t bytes = 0;
    char reason[WHY_BYTES];
    char *text = runfile_print_with(run, extras, &bytes, reason);
    if (!text)
        return why_set(why, "%s: not saved: %.120s", jsonin_short(path), reason);
    bool done = replace(path, text, bytes, why);
    free(text);
    return done;
}

// --- Reading: finding "tokendrip" ---

struct scan {
    const char *name, *start, *at, *end;
    char *why;
    // What the values skipped so far hold.
    int64_t containers, commas;
};

static int line_of(const struct scan *scan, const char *at) {
    int line = 1;
    for (const char *c = scan->start; c < at; c++)
        line += *c == '\n';
    return line;
}

static bool scan_fail(const struct scan *scan, const char *expected) {
    if (scan->at >= scan->end)
        return why_set(scan->why, "%s:%d: not valid JSON: it ends in the middle",
                       jsonin_short(scan->name), line_of(scan, scan->end));
    return why_set(scan->why, "%s:%d: not valid JSON: expected %s", jsonin_short(scan->name),
                   line_of(scan, scan->at), expected);
}

static void skip_space(struct scan *scan) {
    while (scan->at < scan->end &&
           (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\t' || *scan->at == '\r'))
        scan->at++;
}

static bool take(struct scan *scan, char expected) {
    skip_space(scan);
    if (scan->at >= scan->end || *scan->at != expected)
        return false;
    scan->at++;
    return true;
}

// From an opening quote to behind the closing one.
static bool skip_string(struct scan *scan) {
    if (!take(scan, '"'))
        return scan_fail(scan, "a text in quotes");
    while (scan->at < scan->end && *scan->at != '"')
        scan->at += *scan->at == '\\' && scan->end - scan->at > 1 ? 2 : 1;
    if (scan->at >= scan->end)
        return scan_fail(scan, "a quote");
    scan->at++;
    return true;
}

// Behind the value that begins here. Brackets are only counted, not matched, and
// what is between them is not looked at.
static bool skip_value(struct scan *scan) {
    int64_t depth = 0;
    skip_space(scan);
    const char *start = scan->at;
    while (scan->at < scan->end) {
        char c = *scan->at;
        if (depth == 0 && (c == ',' || c == '}' || c == ']' || c == ':'))
            break;
        if (c == '"') {
            if (!skip_string(scan))
                return false;
            continue;
        }
        bool is_opening = c == '{' || c == '[', is_closing = c == '}' || c == ']';
        depth += is_opening - is_closing;
        scan->containers += is_opening;
        scan->commas += c == ',';
        scan->at++;
        if (is_closing && depth == 0)
            break;
    }
    return (depth == 0 && scan->at > start) || scan_fail(scan, "a value");
}

struct slice {
    const char *start;
    size_t bytes;
};

// One key and its value; *out is set if the key is "tokendrip".
static bool scan_pair(struct scan *scan, struct slice *out) {
    static const char wanted[] = "\"tokendrip\"";
    skip_space(scan);
    const char *key = scan->at;
    if (!skip_string(scan))
        return false;
    bool is_wanted =
        (size_t)(scan->at - key) == sizeof(wanted) - 1 && !memcmp(key, wanted, sizeof(wanted) - 1);
    if (!take(scan, ':'))
        return scan_fail(scan, "a colon");
    skip_space(scan);
    const char *value = scan->at;
    scan->containers = scan->commas = 0;
    if (!skip_value(scan))
        return false;
    if (!is_wanted)
        return true;
    if (out->start)
        return why_set(scan->why, "%s:%d: a second \"tokendrip\"", jsonin_short(scan->name),
                       line_of(scan, key));
    if (scan->containers > MAX_CONTAINERS || scan->commas > RUNFILE_MAX_VALUES)
        return why_set(scan->why, "%s: \"tokendrip\" holds more than any run file",
                       jsonin_short(scan->name));
    *out = (struct slice){value, (size_t)(scan->at - value)};
    return true;
}

static bool find_run(struct scan *scan, struct slice *out) {
    if (!take(scan, '{'))
        return scan_fail(scan, "an object: this is no run file");
    do {
        if (!scan_pair(scan, out))
            return false;
    } while (take(scan, ','));
    if (!take(scan, '}'))
        return scan_fail(scan, "a comma or }");
    skip_space(scan);
    if (scan->at < scan->end)
        return scan_fail(scan, "nothing more");
    return out->start ||
           why_set(scan->why, "%s: there is no \"tokendrip\" in it: a trace of another program?",
                   jsonin_short(scan->name));
}

// --- Reading: what is in it ---

static bool read_name(const struct jsonin *at, const char *key, const char *const *names, int count,
                      int *out) {
    char text[16], list[64] = "";
    if (!jsonin_text(at, key, text, sizeof(text)))
        return false;
    for (int i = 0; i < count; i++) {
        if (!names[i])
            continue;
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return true;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof(list) - used, "%s\"%s\"", used ? " or " : "", names[i]);
    }
    return jsonin_fail(at, "\"%s\" is \"%s\", expected %s", key, text, list);
}

static bool read_uint64(const struct jsonin *at, const char *key, uint64_t *out) {
    char text[24];
    if (!jsonin_text(at, key, text, sizeof(text)))
        return false;
    bool is_number = text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
    errno = 0;
    unsigned long long value = is_number ? strtoull(text, NULL, 10) : 0;
    if (!is_number || errno != 0)
        return jsonin_fail(at, "\"%s\" is \"%s\", expected the digits of a 64-bit number", key,
                           text);
    *out = value;
    return true;
}

static bool read_info_field(const struct jsonin *at, struct run_info *info,
                            const struct info_field *field) {
    char *to = (char *)info + field->offset;
    int64_t number = 0;
    int index = 0;
    bool done = false;
    switch (field->kind) {
    case TEXT:
        return jsonin_text(at, field->key, to, field->bytes);
    case INT:
        done = jsonin_int(at, field->key, (struct jsonin_range){INT32_MIN, INT32_MAX}, &number);
        *(int *)(void *)to = (int)number;
        return done;
    case INT64:
        return jsonin_int(at, field->key, (struct jsonin_range){INT64_MIN, INT64_MAX},
                          (int64_t *)(void *)to);
    case UINT64:
        return read_uint64(at, field->key, (uint64_t *)(void *)to);
    case BOOL:
        return jsonin_bool(at, field->key, (bool *)(void *)to);
    case RARE:
        return !json_object_get(at->json, field->key) ||
               jsonin_bool(at, field->key, (bool *)(void *)to);
    case ORIGIN:
        done = read_name(at, field->key, origin_names, 3, &index);
        info->origin = (enum run_origin)index;
        return done;
    case COUNTING:
        done = read_name(at, field->key, counting_names, 2, &index);
        info->counting = (enum run_counting)index;
        return done;
    }
    return false;
}

static bool read_info(const struct jsonin *at, struct run_info *out) {
    struct jsonin info;
    *out = (struct run_info){0};
    if (!jsonin_enter(&info, at, "info"))
        return false;
    for (int i = 0; i < INFO_FIELDS; i++) {
        if (!read_info_field(&info, out, &info_fields[i]))
            return false;
    }
    return true;
}

// A token as read; `data` holds its bytes.
struct token {
    int64_t id;
    char data[2 * RUN_TOKEN_BYTES + 1];
    size_t bytes;
    bool is_control;
};

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const struct jsonin *at, struct token *out) {
    if (!jsonin_text(at, "hex", out->data, sizeof(out->data)))
        return false;
    size_t digits = strlen(out->data);
    for (size_t i = 0; i < digits; i += 2) {
        int high = hex_digit(out->data[i]), low = hex_digit(out->data[i + 1]);
        if (high < 0 || low < 0)
            return jsonin_fail(at, "\"hex\" is no even number of digits 0-9, a-f");
        out->data[i / 2] = (char)(high * 16 + low);
    }
    out->bytes = digits / 2;
    return true;
}

static bool read_token(const struct jsonin *at, struct token *out) {
    *out = (struct token){0};
    if (!jsonin_int(at, "id", (struct jsonin_range){INT32_MIN, INT32_MAX}, &out->id))
        return false;
    if (json_object_get(at->json, "control") && !jsonin_bool(at, "control", &out->is_control))
        return false;
    if (json_object_get(at->json, "hex"))
        return read_hex(at, out);
    if (!jsonin_text(at, "text", out->data, RUN_TOKEN_BYTES + 1))
        return false;
    out->bytes = strlen(out->data);
    return true;
}

// What is read of a file, before and while the run is built from it.
struct reading {
    struct jsonin at;
    struct run_info info;
    const json_t *prompt, *answer, *passes;
    int state;
    struct run *run;
    struct runfile_extras extras;
    char reason[WHY_BYTES]; // of run.c, which knows no file names
};

static bool refuse(struct reading *reading, const struct jsonin *at) {
    return jsonin_fail(at, "%.140s", reading->reason);
}

static bool read_outline(struct reading *reading) {
    const struct jsonin *at = &reading->at;
    int64_t version = 0;
    if (!json_is_object(at->json))
        return jsonin_fail(at, "\"tokendrip\" is no object");
    if (!jsonin_int(at, "version", (struct jsonin_range){1, INT64_MAX}, &version))
        return false;
    if (version > RUNFILE_VERSION)
        return jsonin_fail(at,
                           "version %" PRId64 " of the run file is newer than version %d, the "
                           "last that this tokendrip knows: update tokendrip",
                           version, RUNFILE_VERSION);
    if (!read_name(at, "state", state_names, 3, &reading->state) || !read_info(at, &reading->info))
        return false;
    int64_t prompt = reading->info.prompt_tokens, limit = reading->info.answer_limit;
    return jsonin_array(at, "prompt", (struct jsonin_range){prompt, prompt}, &reading->prompt) &&
           jsonin_array(at, "answer", (struct jsonin_range){0, limit}, &reading->answer) &&
           jsonin_array(at, "passes", (struct jsonin_range){0, MAX_PASSES}, &reading->passes);
}

// Takes memory for what is there, not for what answer_limit promises: that would
// let a small file ask for a lot.
static bool create_run(struct reading *reading) {
    struct run_info info = reading->info;
    int prefills = 0, answers = (int)json_array_size(reading->answer);
    for (size_t i = 0; i < json_array_size(reading->passes); i++) {
        const json_t *phase = json_object_get(json_array_get(reading->passes, i), "phase");
        prefills += json_is_string(phase) && !strcmp(json_string_value(phase), phase_names[0]);
    }
    if (prefills > info.prompt_tokens)
        return jsonin_fail(&reading->at, "%d prefill passes for %d prompt tokens", prefills,
                           info.prompt_tokens);
    // One more answer than there are: a failed run may have died on it.
    if (info.answer_limit > answers + 1)
        info.answer_limit = answers + 1;
    if (!run_create(&reading->run, &info, prefills > 0 ? prefills : 1, reading->reason))
        return refuse(reading, &reading->at);
    reading->run->info.answer_limit = reading->info.answer_limit;
    return true;
}

static bool add_prompt(struct reading *reading) {
    for (size_t i = 0; i < json_array_size(reading->prompt); i++) {
        struct jsonin at;
        struct token token;
        if (!jsonin_enter_item(&at, &reading->at, "prompt", reading->prompt, i) ||
            !read_token(&at, &token))
            return false;
        if (!run_add_prompt_token(reading->run, (int32_t)token.id, token.data, token.bytes,
                                  token.is_control, reading->reason))
            return refuse(reading, &at);
    }
    return true;
}

static bool add_answer(struct reading *reading, int answer) {
    struct jsonin at;
    struct token token;
    if (!jsonin_enter_item(&at, &reading->at, "answer", reading->answer, (size_t)answer) ||
        !read_token(&at, &token))
        return false;
    return run_add_answer_token(reading->run, (int32_t)token.id, token.data, token.bytes,
                                token.is_control, reading->reason) ||
           refuse(reading, &at);
}

static bool add_marks(struct reading *reading, const struct jsonin *at, int yields) {
    struct run *run = reading->run;
    const json_t *marks = NULL;
    size_t stages = (size_t)run_stages(run);
    if (!jsonin_array(at, "marks_ns", (struct jsonin_range){1, (int64_t)stages}, &marks))
        return false;
    for (size_t i = 0; i < json_array_size(marks); i++) {
        int64_t end_ns = 0;
        if (!jsonin_value(at, "marks_ns", json_array_get(marks, i),
                          (struct jsonin_range){0, RUN_MAX_NS}, &end_ns))
            return false;
        if (i == stages - 1 && yields >= 0 && !add_answer(reading, yields))
            return false;
        if (!run_add_mark(run, end_ns, reading->reason))
            return refuse(reading, at);
    }
    return true;
}

static bool add_pass(struct reading *reading, size_t index) {
    static const struct jsonin_range any = {INT32_MIN, INT32_MAX};
    struct jsonin at;
    int phase = 0;
    int64_t first = 0, count = 0, yields = 0, start_ns = 0;
    if (!jsonin_enter_item(&at, &reading->at, "passes", reading->passes, index) ||
        !read_name(&at, "phase", phase_names, 2, &phase) ||
        !jsonin_int(&at, "first_column", any, &first) ||
        !jsonin_int(&at, "column_count", any, &count) || !jsonin_int(&at, "yields", any, &yields) ||
        !jsonin_int(&at, "start_ns", (struct jsonin_range){0, RUN_MAX_NS}, &start_ns))
        return false;
    struct run_pass pass = {.phase = (enum run_phase)phase,
                            .first_column = (int)first,
                            .column_count = (int)count,
                            .yields = (int)yields,
                            .start_ns = start_ns};
    if (!run_begin_pass(reading->run, &pass, reading->reason))
        return refuse(reading, &at);
    return add_marks(reading, &at, pass.yields);
}

static bool finish(struct reading *reading) {
    struct run *run = reading->run;
    if (run_answers_seen(run) != (int)json_array_size(reading->answer))
        return jsonin_fail(&reading->at, "\"answer\" has %zu tokens, but the passes yield %d",
                           json_array_size(reading->answer), run_answers_seen(run));
    run_close(run, (enum run_state)reading->state);
    if (run->state != (enum run_state)reading->state)
        return jsonin_fail(&reading->at,
                           "\"state\" is \"complete\", but it ends inside a pass or has no answer");
    return run_validate(run, reading->reason) || refuse(reading, &reading->at);
}

static bool read_run(struct reading *reading) {
    if (!read_outline(reading) || !create_run(reading) || !add_prompt(reading))
        return false;
    for (size_t i = 0; i < json_array_size(reading->passes); i++) {
        if (!add_pass(reading, i))
            return false;
    }
    return finish(reading) && runfile_extras_read(&reading->extras, &reading->at);
}

bool runfile_parse_with(struct run **out, struct runfile_extras *extras, const char *name,
                        const char *json, size_t bytes, char *why) {
    struct scan scan = {.name = name, .start = json, .at = json, .end = json + bytes, .why = why};
    struct slice slice = {0};
    *out = NULL;
    if (extras)
        *extras = (struct runfile_extras){0};
    if (bytes > RUNFILE_MAX_BYTES)
        return why_set(why, "%s: larger than %d MiB", jsonin_short(name), RUNFILE_MAX_BYTES >> 20);
    if (!find_run(&scan, &slice))
        return false;
    json_t *root = jsonin_parse(name, slice.start, slice.bytes, line_of(&scan, slice.start), why);
    if (!root)
        return false;
    struct reading reading = {.at = {.name = name, .json = root, .why = why}};
    bool done = read_run(&reading);
    json_decref(root);
    if (!done) {
        run_destroy(reading.run);
        return false;
    }
    *out = reading.run;
    if (extras)
        *extras = reading.extras;
    return true;
}

bool runfile_parse(struct run **out, const char *name, const char *json, size_t bytes, char *why) {
    return runfile_parse_with(out, NULL, name, json, bytes, why);
}

bool runfile_load_with(struct run **out, struct runfile_extras *extras, const char *path,
                       char *why) {
    char *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    if (extras)
        *extras = (struct runfile_extras){0};
    if (!jsonin_read(&text, &bytes, path, RUNFILE_MAX_BYTES, why))
        return false;
    bool done = runfile_parse_with(out, extras, path, text, bytes, why);
    free(text);
    return done;
}

bool runfile_load(struct run **out, const char *path, char *why) {
    return runfile_load_with(out, NULL, path, why);
}
