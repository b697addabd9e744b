// See json_out.h. Whether a comma is due is read off the last byte written: none
// after an opening bracket, a colon or the very start.
#include "compute/base/json_out.h"

#include "compute/base/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 1 << 14 };

static bool make_room(struct jsonout *out, size_t more) {
    if (out->state != JSONOUT_FINE)
        return false;
    if (more > out->max_bytes || out->bytes > out->max_bytes - more) {
        out->state = JSONOUT_TOO_LARGE;
        return false;
    }
    size_t needed = out->bytes + more + 1; // and a NUL
    if (needed <= out->capacity)
        return true;
    size_t capacity = out->capacity ? out->capacity : FIRST_BYTES;
    while (capacity < needed)
        capacity *= 2;
    char *text = realloc(out->text, capacity);
    if (!text) {
        out->state = JSONOUT_NO_MEMORY;
        return false;
    }
    out->text = text;
    out->capacity = capacity;
    return true;
}

static void append(struct jsonout *out, const char *text, size_t bytes) {
    if (bytes == 0 || !make_room(out, bytes))
        return;
    memcpy(out->text + out->bytes, text, bytes);
    out->bytes += bytes;
}

static void append_key(struct jsonout *out, const char *key) {
    size_t last = out->bytes;
    while (last > 0 && out->text[last - 1] == '\n')
        last--;
    if (last > 0 && out->text[last - 1] != '{' && out->text[last - 1] != '[') {
        // The comma stays on the line of what it follows.
        bool has_line = last < out->bytes;
        out->bytes = last;
        append(out, ",\n", has_line ? 2 : 1);
    }
    if (!key)
        return;
    append(out, "\"", 1);
    append(out, key, strlen(key));
    append(out, "\":", 2);
}

void jsonout_open(struct jsonout *out, const char *key, char bracket) {
    append_key(out, key);
    append(out, &bracket, 1);
}

void jsonout_close(struct jsonout *out, char bracket) {
    append(out, &bracket, 1);
}

void jsonout_int(struct jsonout *out, const char *key, int64_t value) {
    char number[24];
    append_key(out, key);
    append(out, number, (size_t)snprintf(number, sizeof(number), "%" PRId64, value));
}

void jsonout_bool(struct jsonout *out, const char *key, bool value) {
    append_key(out, key);
    append(out, value ? "true" : "false", value ? 4 : 5);
}

void jsonout_us(struct jsonout *out, const char *key, int64_t value_ns) {
    char number[32];
    append_key(out, key);
    append(out, number,
           (size_t)snprintf(number, sizeof(number), "%" PRId64 ".%03d", value_ns / 1000,
                            (int)(value_ns % 1000)));
}

static void append_escaped(struct jsonout *out, unsigned char c) {
    char escape[8];
    if (c == '"' || c == '\\')
        append(out, escape, (size_t)snprintf(escape, sizeof(escape), "\\%c", c));
    else if (c == '\n')
        append(out, "\\n", 2);
    else if (c == '\t')
        append(out, "\\t", 2);
    else
        append(out, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x", c));
}

void jsonout_text(struct jsonout *out, const char *key, const char *text, size_t bytes) {
    append_key(out, key);
    append(out, "\"", 1);
    size_t plain = 0; // start of what needs no escape
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        append(out, text + plain, i - plain);
        append_escaped(out, c);
        plain = i + 1;
    }
    append(out, text + plain, bytes - plain);
    append(out, "\"", 1);
}

void jsonout_line(struct jsonout *out) {
    append(out, "\n", 1);
}

char *jsonout_take(struct jsonout *out, size_t *bytes, struct why *why) {
    *bytes = 0;
    if (make_room(out, 0)) {
        char *text = out->text;
        *bytes = out->bytes;
        text[out->bytes] = '\0';
        *out = (struct jsonout){.max_bytes = out->max_bytes};
        return text;
    }
    free(out->text);
    if (out->state == JSONOUT_TOO_LARGE)
        why_set(why, "the text would be larger than %zu KiB", out->max_bytes / 1024);
    else
        why_set(why, "out of memory for %zu KiB of text", out->bytes / 1024);
    *out = (struct jsonout){.max_bytes = out->max_bytes};
    return NULL;
}
