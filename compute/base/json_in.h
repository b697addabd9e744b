// Reads untrusted JSON for schedules, lessons and run files: files of bounded size,
// syntax errors with file, line and column, and typed fields with a range. Every reason
// names the file, the place and the field, and says what was expected. The formats
// themselves are defined elsewhere.
#ifndef COMPUTE_BASE_JSON_IN_H
#define COMPUTE_BASE_JSON_IN_H

#include "compute/base/why.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The object being read and its name in error messages.
struct jsonin {
    const char *name;   // the file, for messages
    char where[32];     // "info", "passes[3]"; empty at the top
    const json_t *json; // the object; borrowed
    struct why *why;
};

struct jsonin_range {
    int64_t least, most; // both included
};

// Reads a whole file or pipe of at most `max_bytes`, without a byte order mark; UTF-16 is
// refused. Owner: the caller, free().
bool jsonin_read(char **text, size_t *bytes, const char *path, size_t max_bytes, struct why *why);

// The value in `bytes` bytes at `json`; `first_line` is the line they begin at (1
// for a whole file). Duplicate keys and anything after the value are errors.
// Owner: the caller, json_decref. NULL with `why` on failure.
json_t *jsonin_parse(const char *name, const char *json, size_t bytes, int first_line,
                     struct why *why);

// The end of a long file name, which leaves room for the reason after it.
const char *jsonin_short(const char *name);

// A field of `at`: false with `why` when it is missing, of another type or out of
// range. Texts are NUL-terminated into `out`. The object or array is borrowed.
bool jsonin_int(const struct jsonin *at, const char *key, struct jsonin_range range, int64_t *out);
bool jsonin_bool(const struct jsonin *at, const char *key, bool *out);
bool jsonin_text(const struct jsonin *at, const char *key, char *out, size_t out_bytes);
bool jsonin_array(const struct jsonin *at, const char *key, struct jsonin_range count,
                  const json_t **out);

// One value against a range; `what` names it in the reason.
bool jsonin_value(const struct jsonin *at, const char *what, const json_t *value,
                  struct jsonin_range range, int64_t *out);

// Enters the object at `key`, or into item `index` of `array` called `name`.
bool jsonin_enter(struct jsonin *out, const struct jsonin *at, const char *key);
bool jsonin_enter_item(struct jsonin *out, const struct jsonin *at, const char *name,
                       const json_t *array, size_t index);

// False with `why`, which begins with the file and the place.
bool jsonin_fail(const struct jsonin *at, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
