// See words.h.
#include "compute/base/words.h"

#include "compute/base/assets.h"
#include "compute/base/figures.h"
#include "compute/base/json_in.h"
#include "compute/base/places.h"

#include <dirent.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_BYTES = 1 << 20, CODE_BYTES = 16, SIGN_BYTES = 8, MOST_PAIRS = 12 };

// One language's file. `json` owns the rest.
struct language {
    char path[ASSETS_PATH_BYTES];
    json_t *json;
    const json_t *words, *reasons, *lesson;
    const char *decimal, *thousands;
};

static struct language chosen, english;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// --- Files ---

// Letters, digits and signs between them: never a path.
static bool is_code(const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t length = strlen(text);
    return length > 0 && length < CODE_BYTES && strspn(text, plain) == length;
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

// "de, en", sorted: the names of the files in the folder of languages.
static void list_languages(char *out, size_t bytes) {
    enum { MOST = 24 };
    char names[MOST][CODE_BYTES], folder[ASSETS_PATH_BYTES];
    int count = 0;
    DIR *files = assets_find(folder, "languages", NULL) ? opendir(folder) : NULL;
    for (struct dirent *file; files && count < MOST && (file = readdir(files));) {
        const char *end = strstr(file->d_name, ".json");
        size_t length = end ? (size_t)(end - file->d_name) : 0;
        if (length == 0 || length >= CODE_BYTES || end[5] || strstr(file->d_name, "schema"))
            continue;
        snprintf(names[count++], CODE_BYTES, "%.*s", (int)length, file->d_name);
    }
    if (files)
        closedir(files);
    qsort(names, (size_t)count, sizeof names[0], by_name);
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < count && used + CODE_BYTES + 3 < bytes; i++)
        used += (size_t)snprintf(out + used, bytes - used, "%s%s", i ? ", " : "", names[i]);
}

// A member that has to be an object of texts.
static bool read_texts(const json_t **out, const struct language *language, const char *member,
                       struct why *why) {
    const char *key;
    json_t *text;
    *out = json_object_get(language->json, member);
    if (!json_is_object(*out))
        return why_set(why, "%s: %s: missing or no object: write {...}",
                       jsonin_short(language->path), member);
    json_object_foreach((json_t *)*out, key, text) {
        if (!json_is_string(text))
            return why_set(why, "%s: %s: %.60s: must be a text: write \"...\"",
                           jsonin_short(language->path), member, key);
    }
    return true;
}

static bool read_numbers(struct language *out, struct why *why) {
    const json_t *numbers;
    if (!read_texts(&numbers, out, "numbers", why))
        return false;
    out->decimal = json_string_value(json_object_get(numbers, "decimal"));
    out->thousands = json_string_value(json_object_get(numbers, "thousands"));
    if (out->decimal && out->thousands && strlen(out->decimal) < SIGN_BYTES &&
        strlen(out->thousands) < SIGN_BYTES)
        return true;
    return why_set(why, "%s: numbers: needs \"decimal\" and \"thousands\", one sign each",
                   jsonin_short(out->path));
}

static bool load(struct language *out, const char *code, struct why *why) {
    char name[64], *text = NULL;
    size_t bytes = 0;
    snprintf(name, sizeof name, "languages/%.15s.json", code);
    if (!assets_find(out->path, name, why) ||
        !jsonin_read(&text, &bytes, out->path, FILE_MAX_BYTES, why))
        return false;
    out->json = jsonin_parse(out->path, text, bytes, 1, why);
    free(text);
    if (!out->json)
        return false;
    out->lesson = json_object_get(out->json, "lesson");
    return read_texts(&out->words, out, "words", why) &&
           read_texts(&out->reasons, out, "reasons", why) && read_numbers(out, why);
}

// For the gaps of another language, or where none was chosen.
static void load_english(void) {
    struct why why = {""};
    if (!english.json && !load(&english, "en", &why)) {
        fprintf(stderr, "tokendrip: %s\n", why.text);
        json_decref(english.json);
        english = (struct language){.json = NULL};
    }
    if (!chosen.json)
        chosen = english;
}

bool words_choose(const char *code, struct why *why) {
    char path[ASSETS_PATH_BYTES], name[64], languages[160];
    bool is_english = strcmp(code, "en") == 0;
    struct language found = {.json = NULL};
    snprintf(name, sizeof name, "languages/%.15s.json", code);
    if (!is_code(code) || !assets_find(path, name, NULL)) {
        list_languages(languages, sizeof languages);
        if (languages[0])
            return why_set(why, "no language \"%.40s\": there are %s", code, languages);
        return assets_find(path, "languages/en.json", why);
    }
    if (is_english && english.json) {
        found = english;
    } else if (!load(&found, code, why)) {
        json_decref(found.json);
        return false;
    }
    if (is_english)
        english = found;
    if (chosen.json != english.json)
        json_decref(chosen.json);
    chosen = found;
    why_speak(json_object_size(chosen.reasons) > 0 ? words_reason : NULL);
    return true;
}

// --- Words ---

static const struct language *now(void) {
    pthread_once(&once, load_english);
    return &chosen;
}

const char *word(const char *key) {
    const json_t *text = json_object_get(now()->words, key);
    if (!text)
        text = json_object_get(english.words, key);
    return text ? json_string_value(text) : key;
}

struct pairs {
    int count;
    const char *names[MOST_PAIRS], *values[MOST_PAIRS];
};

static bool value_of(char *out, size_t bytes, const char *name, const void *context) {
    const struct pairs *pairs = context;
    for (int i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->names[i], name) == 0) {
            snprintf(out, bytes, "%s", pairs->values[i]);
            return true;
        }
    }
    return false;
}

const char *words_say(char *out, size_t bytes, const char *key, ...) {
    struct pairs pairs = {.count = 0};
    va_list args;
    va_start(args, key);
    for (const char *name; pairs.count < MOST_PAIRS && (name = va_arg(args, const char *));) {
        pairs.names[pairs.count] = name;
        pairs.values[pairs.count++] = va_arg(args, const char *);
    }
    va_end(args);
    places_fill(out, bytes, word(key),
                &(struct place_filler){.value = value_of, .context = &pairs});
    return out;
}

char *words_join(char *out, size_t bytes, const char *const *parts) {
    size_t used = 0;
    out[0] = '\0';
    for (; *parts && used < bytes; parts++)
        if (**parts)
            used +=
                (size_t)snprintf(out + used, bytes - used, "%s%s", used ? SIGN_DOT : "", *parts);
    return out;
}

const char *words_decimal(void) {
    return now()->decimal ? now()->decimal : ".";
}

const char *words_thousands(void) {
    return now()->thousands ? now()->thousands : ",";
}

const json_t *words_lesson(const char **path) {
    const struct language *language = now()->lesson ? now() : &english;
    *path = language->path;
    return language->lesson;
}

// --- Reasons ---

// The conversions of a printf format, one after another: "%s%d"; false if they are too
// long, or if it numbers them.
static bool conversions_of(char out[64], const char *format) {
    size_t used = 0;
    for (const char *at = format; (at = strchr(at, '%')); at++) {
        size_t length = 1 + strspn(at + 1, "-+ #0123456789.*lzhjt");
        if (at[length] == '\0' || used + length + 2 > 64)
            return false;
        memcpy(out + used, at, length + 1);
        used += length + 1;
        at += length;
    }
    out[used] = '\0';
    return true;
}

const char *words_reason(const char *reason) {
    char of_english[64], of_text[64];
    const char *text = json_string_value(json_object_get(now()->reasons, reason));
    if (text && conversions_of(of_english, reason) && conversions_of(of_text, text) &&
        strcmp(of_english, of_text) == 0)
        return text;
    return reason;
}
