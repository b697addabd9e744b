// See load.h: where a lesson comes from; read.c reads it.
#include "app/lesson/load/load.h"

#include "compute/base/json_in.h"
#include "compute/base/why.h"
#include "compute/base/words.h"

#include <stdlib.h>

enum { LESSON_MAX_BYTES = 1 << 19 }; // of a file

bool lesson_load(struct lesson **out, const char *path, struct why *why) {
    char *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    if (jsonin_read(&text, &bytes, path, LESSON_MAX_BYTES, why))
        *out = lesson_parse(path, text, bytes, why);
    free(text);
    return *out;
}

bool lesson_load_own(struct lesson **out, struct why *why) {
    const char *path;
    const json_t *json = words_lesson(&path);
    *out = NULL;
    if (!json)
        return why_set(why, "%s: \"lesson\" is missing: install the program again",
                       jsonin_short(path));
    *out = lesson_read(path, json_incref((json_t *)json), why);
    return *out;
}

struct lesson *lesson_parse(const char *name, const char *json, size_t bytes, struct why *why) {
    json_t *value = jsonin_parse(name, json, bytes, 1, why);
    return value ? lesson_read(name, value, why) : NULL;
}
