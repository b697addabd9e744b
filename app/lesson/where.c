// See lesson_where.h. It reads text that a parser has accepted, yet every step is
// bounded: whatever comes, it ends with some place in the text.
#include "app/lesson/where.h"

#include "compute/base/utf8.h"

#include <stdbool.h>
#include <string.h>

struct text {
    const char *at, *end;
};

static void skip_space(struct text *text) {
    while (text->at < text->end && strchr(" \t\r\n", *text->at) && *text->at)
        text->at++;
}

static bool take(struct text *text, char sign) {
    skip_space(text);
    if (text->at >= text->end || *text->at != sign)
        return false;
    text->at++;
    return true;
}

// From an opening quote to after the closing one.
static void skip_string(struct text *text) {
    for (text->at++; text->at < text->end && *text->at != '"'; text->at++)
        if (*text->at == '\\' && text->at + 1 < text->end)
            text->at++;
    if (text->at < text->end)
        text->at++;
}

static void skip_value(struct text *text) {
    int depth = 0;
    skip_space(text);
    do {
        if (text->at >= text->end)
            return;
        char sign = *text->at;
        if (sign == '"') {
            skip_string(text);
        } else {
            depth += (sign == '{' || sign == '[') - (sign == '}' || sign == ']');
            text->at++;
        }
        // A number or a word ends where something else begins.
        if (depth == 0 && sign != '"' && sign != '}' && sign != ']')
            while (text->at < text->end && !strchr(",]} \t\r\n", *text->at))
                text->at++;
    } while (depth > 0);
}

// To the member `key` of the object here: text->at on its value, *found on its key.
static bool enter_member(struct text *text, const char *key, const char **found) {
    size_t length = strlen(key);
    if (!take(text, '{'))
        return false;
    do {
        skip_space(text);
        const char *start = text->at;
        if (start >= text->end || *start != '"')
            return false;
        skip_string(text);
        bool is_it = (size_t)(text->at - start) == length + 2 && !memcmp(start + 1, key, length);
        if (!take(text, ':'))
            return false;
        if (is_it) {
            *found = start;
            return true;
        }
        skip_value(text);
    } while (take(text, ','));
    return false;
}

static bool enter_item(struct text *text, int index, const char **found) {
    if (!take(text, '['))
        return false;
    for (int i = 0; i < index; i++) {
        skip_value(text);
        if (!take(text, ','))
            return false;
    }
    skip_space(text);
    *found = text->at;
    return text->at < text->end;
}

static struct lesson_where count_to(const char *json, const char *at) {
    struct lesson_where out = {1, 1};
    for (; json < at; json++) {
        if (*json == '\n')
            out = (struct lesson_where){out.line + 1, 1};
        else
            out.column += !utf8_continues(*json);
    }
    return out;
}

struct lesson_where lesson_where_is(const char *json, size_t bytes, const struct lesson_way *way) {
    struct text text = {json, json + bytes};
    skip_space(&text);
    const char *found = text.at;
    for (int i = 0; i < way->depth; i++) {
        const char *key = way->steps[i].key;
        if (!(key ? enter_member(&text, key, &found)
                  : enter_item(&text, way->steps[i].index, &found)))
            break;
    }
    return count_to(json, found);
}
