// Reading a run file, see runfile.h. Only the extent of "tokendrip" is given to jansson:
// the events are by far the larger part of a file, and a parsed number takes ten times
// the memory of its digits.
#include "compute/file/runfile_parts.h"

#include "compute/base/why.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    // Objects and arrays in "tokendrip": one a token, two a pass, with room to spare.
    MAX_CONTAINERS = 6 * RUN_MAX_TOKENS,
    MAX_PASSES = 2 * RUN_MAX_TOKENS,
};

// --- Finding "tokendrip" ---

// The extent of the value of "tokendrip" in the text.
struct place {
    const char *start, *end;
    int found;
    int64_t containers, commas; // inside it
};

static int line_of(const char *json, const char *at) {
    int line = 1;
    for (const char *c = json; c < at; c++)
        line += *c == '\n';
    return line;
}

static const char *skip_space(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

// From an opening quote to behind the closing one.
static const char *skip_text(const char *at, const char *end) {
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\' && end - at > 1;
    return at < end ? at + 1 : end;
}

static bool is_wanted_key(const char *text, const char *behind, const char *end) {
    static const char wanted[] = "\"tokendrip\"";
    const char *next = skip_space(behind, end);
    return (size_t)(behind - text) == sizeof wanted - 1 &&
           !memcmp(text, wanted, sizeof wanted - 1) && next < end && *next == ':';
}

// `at` is the opening bracket of the outermost object. Returns the place after its closing
// bracket; NULL if that is missing. Looks at quotes and brackets only.
static const char *find_place(struct place *out, const char *at, const char *end) {
    int64_t depth = 0;
    bool is_inside = false;
    do {
        const char *token = at;
        at = *token == '"' ? skip_text(at, end) : at + 1;
        bool is_opening = *token == '{' || *token == '[';
        bool is_closing = *token == '}' || *token == ']';
        depth += is_opening - is_closing;
        if (depth == 1 && *token == '"' && is_wanted_key(token, at, end)) {
            at = skip_space(at, end) + 1;
            *out = (struct place){.start = at, .found = out->found + 1};
            is_inside = true;
        } else if (is_inside && (depth == 0 || (depth == 1 && *token == ','))) {
            out->end = token;
            is_inside = false;
        } else if (is_inside) {
            out->containers += is_opening;
            out->commas += *token == ',';
        }
    } while (depth > 0 && at < end);
    return depth == 0 ? at : NULL;
}

static bool find_run(struct place *out, const char *name, const char *json, size_t bytes,
                     struct why *why) {
    const char *end = json + bytes, *at = skip_space(json, end);
    const char *file = jsonin_short(name);
    *out = (struct place){0};
    if (at < end && *at != '{')
        return why_set(why, "%s:%d: not valid JSON: expected an object: this is no run file", file,
                       line_of(json, at));
    at = at < end ? find_place(out, at, end) : NULL;
    if (!at)
        return why_set(why, "%s:%d: not valid JSON: it ends in the middle", file,
                       line_of(json, end));
    at = skip_space(at, end);
    if (at < end)
        return why_set(why, "%s:%d: not valid JSON: expected nothing more", file,
                       line_of(json, at));
    if (out->found == 0)
        return why_set(why, "%s: there is no \"tokendrip\" in it: a trace of another program?",
                       file);
    if (out->found > 1)
        return why_set(why, "%s:%d: a second \"tokendrip\"", file, line_of(json, out->start));
    if (out->containers > MAX_CONTAINERS || out->commas > RUNFILE_MAX_VALUES)
        return why_set(why, "%s: \"tokendrip\" holds more than any run file", file);
    return true;
}

// --- What is in it ---

static bool read_name(const struct jsonin *at, const char *key, const char *const *names, int count,
                      int *out) {
    char text[16], list[64] = "";
    if (!jsonin_text(at, key, text, sizeof text))
        return false;
    for (int i = 0; i < count; i++) {
        if (!names[i])
            continue;
        if (strcmp(text, names[i]) == 0) {
            *out = i;
            return true;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s\"%s\"", used ? " or " : "", names[i]);
    }
    return jsonin_fail(at, "\"%s\" is \"%s\", expected %s", key, text, list);
}

static bool read_uint64(const struct jsonin *at, const char *key, uint64_t *out) {
    char text[24];
    if (!jsonin_text(at, key, text, sizeof text))
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
                            const struct runfile_field *field) {
    char *to = (char *)info + field->offset;
    int64_t number = 0;
    int index = 0;
    bool done = false;
    switch (field->kind) {
    case FIELD_RARE_TEXT:
        if (!json_object_get(at->json, field->key))
            return true;
        return jsonin_text(at, field->key, to, field->bytes);
    case FIELD_TEXT:
        return jsonin_text(at, field->key, to, field->bytes);
    case FIELD_RARE_INT:
        if (!json_object_get(at->json, field->key))
            return true;
        done = jsonin_int(at, field->key, (struct jsonin_range){INT32_MIN, INT32_MAX}, &number);
        *(int *)(void *)to = (int)number;
        return done;
    case FIELD_INT:
        done = jsonin_int(at, field->key, (struct jsonin_range){INT32_MIN, INT32_MAX}, &number);
        *(int *)(void *)to = (int)number;
        return done;
    case FIELD_RARE_INT64:
        if (!json_object_get(at->json, field->key))
            return true;
        return jsonin_int(at, field->key, (struct jsonin_range){0, RUN_MAX_NS},
                          (int64_t *)(void *)to);
    case FIELD_INT64:
        return jsonin_int(at, field->key, (struct jsonin_range){INT64_MIN, INT64_MAX},
                          (int64_t *)(void *)to);
    case FIELD_UINT64:
        return read_uint64(at, field->key, (uint64_t *)(void *)to);
    case FIELD_BOOL:
        return jsonin_bool(at, field->key, (bool *)(void *)to);
    case FIELD_RARE:
        return !json_object_get(at->json, field->key) ||
               jsonin_bool(at, field->key, (bool *)(void *)to);
    case FIELD_ORIGIN:
        done = read_name(at, field->key, runfile_origins, 3, &index);
        info->origin = (enum run_origin)index;
        return done;
    case FIELD_COUNTING:
        done = read_name(at, field->key, runfile_countings, 2, &index);
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
    for (int i = 0; i < RUNFILE_FIELDS; i++) {
        if (!read_info_field(&info, out, &runfile_fields[i]))
            return false;
    }
    return true;
}

// A token as read; `data` holds its bytes.
struct token {
    int64_t id;
    char data[2 * RUN_TOKEN_BYTES + 1];
    size_t bytes;
    bool is_control, is_byte;
};

static enum run_token_kind kind_of(const struct token *token) {
    return token->is_control ? RUN_CONTROL : token->is_byte ? RUN_BYTE : RUN_PIECE;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(const struct jsonin *at, struct token *out) {
    if (!jsonin_text(at, "hex", out->data, sizeof out->data))
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
    if (json_object_get(at->json, "byte") && !jsonin_bool(at, "byte", &out->is_byte))
        return false;
    if (json_object_get(at->json, "hex"))
        return read_hex(at, out);
    if (!jsonin_text(at, "text", out->data, RUN_TOKEN_BYTES + 1))
        return false;
    out->bytes = strlen(out->data);
    return true;
}

// What was read of a file, before and while the run is built from it.
struct reading {
    struct jsonin at;
    struct run_info info;
    const json_t *prompt, *answer, *passes;
    int state;
    struct run *run;
    struct runfile_extras extras;
    struct why reason; // of run.c, which knows no file names
};

static bool refuse(struct reading *reading, const struct jsonin *at) {
    return jsonin_fail(at, "%.140s", reading->reason.text);
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
    if (!read_name(at, "state", runfile_states, 3, &reading->state) ||
        !read_info(at, &reading->info))
        return false;
    int64_t prompt = reading->info.prompt_tokens, limit = reading->info.answer_limit;
    return jsonin_array(at, "prompt", (struct jsonin_range){prompt, prompt}, &reading->prompt) &&
           jsonin_array(at, "answer", (struct jsonin_range){0, limit}, &reading->answer) &&
           jsonin_array(at, "passes", (struct jsonin_range){0, MAX_PASSES}, &reading->passes);
}

// Takes memory for the tokens in the file, not for those that answer_limit promises:
// otherwise a small file could ask for a lot.
static bool create_run(struct reading *reading) {
    struct run_info info = reading->info;
    int prefills = 0, answers = (int)json_array_size(reading->answer);
    for (size_t i = 0; i < json_array_size(reading->passes); i++) {
        const json_t *phase = json_object_get(json_array_get(reading->passes, i), "phase");
        prefills += json_is_string(phase) && !strcmp(json_string_value(phase), runfile_phases[0]);
    }
    if (prefills > info.prompt_tokens)
        return jsonin_fail(&reading->at, "%d prefill passes for %d prompt tokens", prefills,
                           info.prompt_tokens);
    // One more answer than the file has: a failed run may have died on it.
    if (info.answer_limit > answers + 1)
        info.answer_limit = answers + 1;
    if (!run_create(&reading->run, &info, prefills > 0 ? prefills : 1, &reading->reason))
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
                                  kind_of(&token), &reading->reason))
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
                                kind_of(&token), &reading->reason) ||
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
        if (!run_add_mark(run, end_ns, &reading->reason))
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
        !read_name(&at, "phase", runfile_phases, 2, &phase) ||
        !jsonin_int(&at, "first_column", any, &first) ||
        !jsonin_int(&at, "column_count", any, &count) || !jsonin_int(&at, "yields", any, &yields) ||
        !jsonin_int(&at, "start_ns", (struct jsonin_range){0, RUN_MAX_NS}, &start_ns))
        return false;
    struct run_pass pass = {.phase = (enum run_phase)phase,
                            .first_column = (int)first,
                            .column_count = (int)count,
                            .yields = (int)yields,
                            .start_ns = start_ns};
    if (!run_begin_pass(reading->run, &pass, &reading->reason))
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
    return run_validate(run, &reading->reason) || refuse(reading, &reading->at);
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

bool runfile_parse(struct run **out, struct runfile_extras *extras, const char *name,
                   const char *json, size_t bytes, struct why *why) {
    struct place place;
    *out = NULL;
    if (extras)
        *extras = (struct runfile_extras){0};
    if (bytes > RUNFILE_MAX_BYTES)
        return why_set(why, "%s: larger than %d MiB", jsonin_short(name), RUNFILE_MAX_BYTES >> 20);
    if (!find_run(&place, name, json, bytes, why))
        return false;
    json_t *root = jsonin_parse(name, place.start, (size_t)(place.end - place.start),
                                line_of(json, place.start), why);
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

bool runfile_load(struct run **out, struct runfile_extras *extras, const char *path,
                  struct why *why) {
    char *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    if (extras)
        *extras = (struct runfile_extras){0};
    if (!jsonin_read(&text, &bytes, path, RUNFILE_MAX_BYTES, why))
        return false;
    bool done = runfile_parse(out, extras, path, text, bytes, why);
    if (done)
        (*out)->info.is_loaded = true;
    // Files exist whose bounds were never held against every pass.
    if (done && extras)
        roofline_prove(&extras->roofline, *out);
    free(text);
    return done;
}
