// See json_in.h. jansson parses; this file limits sizes before it and says after it what
// was wrong.
#include "compute/base/json_in.h"

#include "compute/base/spoken.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHORT_NAME_BYTES = 100, FIRST_READ_BYTES = 1 << 16 };

const char *jsonin_short(const char *name) {
    size_t bytes = strlen(name);
    return bytes <= SHORT_NAME_BYTES ? name : name + bytes - SHORT_NAME_BYTES;
}

// --- Bytes ---

// Twice as much room, up to one byte more than may be kept: that one shows that
// a file is too large.
static bool make_room(char **text, size_t *capacity, size_t max_bytes) {
    size_t wanted = *capacity > max_bytes / 2 ? max_bytes + 1 : *capacity * 2;
    char *larger = realloc(*text, wanted);
    if (!larger)
        return false;
    *text = larger;
    *capacity = wanted;
    return true;
}

// Bytes that a regular file has now; -1 for a pipe, which has no size.
static int64_t size_of(int file) {
    struct stat info;
    return fstat(file, &info) == 0 && S_ISREG(info.st_mode) ? (int64_t)info.st_size : -1;
}

static bool read_all(int file, char **text, size_t *bytes, size_t max_bytes) {
    int64_t expected = size_of(file);
    size_t capacity = max_bytes < FIRST_READ_BYTES ? max_bytes + 1 : FIRST_READ_BYTES;
    *bytes = 0;
    if (expected > (int64_t)max_bytes) {
        errno = EFBIG;
        return false;
    }
    if (expected >= 0)
        capacity = (size_t)expected + 1;
    *text = malloc(capacity);
    while (*text) {
        if (*bytes == capacity && !make_room(text, &capacity, max_bytes))
            break;
        ssize_t got = read(file, *text + *bytes, capacity - *bytes);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        *bytes += got > 0 ? (size_t)got : 0;
        if (*bytes > max_bytes) {
            errno = EFBIG;
            return false;
        }
    }
    errno = ENOMEM;
    return false;
}

bool jsonin_read(char **text, size_t *bytes, const char *path, size_t max_bytes, struct why *why) {
    *text = NULL;
    *bytes = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return why_set(why, "%s: cannot be opened: %s", jsonin_short(path), strerror(errno));
    bool done = read_all(file, text, bytes, max_bytes);
    int reason = errno;
    close(file);
    const char *start = *text;
    const char *encoding = done ? utf8_open(&start, bytes) : NULL;
    if (done && !encoding) {
        memmove(*text, start, *bytes);
        return true;
    }
    free(*text);
    *text = NULL;
    if (encoding)
        return why_set(why, "%s: is %s text: save it as UTF-8", jsonin_short(path), encoding);
    if (reason == EFBIG)
        return why_set(why, "%s: larger than the %zu KiB that such a file may have",
                       jsonin_short(path), max_bytes / 1024);
    return why_set(why, "%s: cannot be read: %s", jsonin_short(path), strerror(reason));
}

// --- Values ---

// A reason is one line, also where it quotes the file.
static void make_one_line(char *text) {
    for (char *c = text; *c; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c;
}

json_t *jsonin_parse(const char *name, const char *json, size_t bytes, int first_line,
                     struct why *why) {
    json_error_t error;
    json_t *root = json_loadb(json, bytes, JSON_REJECT_DUPLICATES, &error);
    if (root)
        return root;
    make_one_line(error.text);
    int line = error.line > 0 ? error.line + first_line - 1 : first_line;
    why_set(why, "%s:%d:%d: not valid JSON: %s", jsonin_short(name), line,
            error.column > 0 ? error.column : 1, error.text);
    return NULL;
}

bool jsonin_fail(const struct jsonin *at, const char *format, ...) {
    char text[WHY_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), why_spoken(format), args);
    va_end(args);
    make_one_line(text);
    return why_set(at->why, "%s: %s%s%s", jsonin_short(at->name), at->where,
                   at->where[0] ? ": " : "", text);
}

static const char *type_name(const json_t *value) {
    static const char *names[] = {
        [JSON_OBJECT] = "an object",
        [JSON_ARRAY] = "an array",
        [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer",
        [JSON_REAL] = "a number with a fraction",
        [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",
        [JSON_NULL] = "null",
    };
    return why_spoken(names[json_typeof(value)]);
}

static bool find(const struct jsonin *at, const char *key, json_type type, const json_t **out) {
    static const char *expected[] = {
        [JSON_OBJECT] = "an object",
        [JSON_ARRAY] = "an array",
        [JSON_STRING] = "a string",
    };
    const json_t *value = json_object_get(at->json, key);
    if (!value)
        return jsonin_fail(at, "\"%s\" is missing", key);
    if (json_typeof(value) != type)
        return jsonin_fail(at, "\"%s\" is %s, expected %s", key, type_name(value),
                           why_spoken(expected[type]));
    *out = value;
    return true;
}

bool jsonin_value(const struct jsonin *at, const char *what, const json_t *value,
                  struct jsonin_range range, int64_t *out) {
    if (!json_is_integer(value))
        return jsonin_fail(at, "\"%s\" is %s, expected an integer from %" PRId64 " to %" PRId64,
                           what, type_name(value), range.least, range.most);
    int64_t number = json_integer_value(value);
    if (number < range.least || number > range.most)
        return jsonin_fail(at, "\"%s\" is %" PRId64 ", expected %" PRId64 " to %" PRId64, what,
                           number, range.least, range.most);
    *out = number;
    return true;
}

bool jsonin_int(const struct jsonin *at, const char *key, struct jsonin_range range, int64_t *out) {
    const json_t *value = json_object_get(at->json, key);
    if (!value)
        return jsonin_fail(at, "\"%s\" is missing", key);
    return jsonin_value(at, key, value, range, out);
}

bool jsonin_bool(const struct jsonin *at, const char *key, bool *out) {
    const json_t *value = json_object_get(at->json, key);
    if (!value)
        return jsonin_fail(at, "\"%s\" is missing", key);
    if (!json_is_boolean(value))
        return jsonin_fail(at, "\"%s\" is %s, expected true or false", key, type_name(value));
    *out = json_is_true(value);
    return true;
}

bool jsonin_text(const struct jsonin *at, const char *key, char *out, size_t out_bytes) {
    const json_t *value = NULL;
    if (!find(at, key, JSON_STRING, &value))
        return false;
    size_t bytes = json_string_length(value);
    if (bytes >= out_bytes)
        return jsonin_fail(at, "\"%s\" has %zu bytes, expected at most %zu", key, bytes,
                           out_bytes - 1);
    memcpy(out, json_string_value(value), bytes + 1);
    return true;
}

bool jsonin_array(const struct jsonin *at, const char *key, struct jsonin_range count,
                  const json_t **out) {
    if (!find(at, key, JSON_ARRAY, out))
        return false;
    int64_t items = (int64_t)json_array_size(*out);
    if (items < count.least || items > count.most)
        return jsonin_fail(at, "\"%s\" has %" PRId64 " items, expected %" PRId64 " to %" PRId64,
                           key, items, count.least, count.most);
    return true;
}

bool jsonin_enter(struct jsonin *out, const struct jsonin *at, const char *key) {
    *out = *at;
    if (!find(at, key, JSON_OBJECT, &out->json))
        return false;
    snprintf(out->where, sizeof(out->where), "%s", key);
    return true;
}

bool jsonin_enter_item(struct jsonin *out, const struct jsonin *at, const char *name,
                       const json_t *array, size_t index) {
    *out = *at;
    out->json = json_array_get(array, index);
    snprintf(out->where, sizeof(out->where), "%s[%zu]", name, index);
    if (json_is_object(out->json))
        return true;
    return jsonin_fail(out, "it is %s, expected an object",
                       out->json ? type_name(out->json) : "missing");
}
