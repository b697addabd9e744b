// Writes JSON text into memory: commas, escapes and numbers are right by
// construction, sizes are bounded, and a failure is reported at the end, so that
// the calls in between need no checks. Written here because jansson cannot write
// a number with exactly three decimals.
#ifndef COMPUTE_BASE_JSON_OUT_H
#define COMPUTE_BASE_JSON_OUT_H

#include "compute/base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Zero-initialise and set max_bytes.
struct jsonout {
    size_t max_bytes; // of the finished text
    char *text;
    size_t bytes, capacity;
    enum { JSONOUT_FINE, JSONOUT_TOO_LARGE, JSONOUT_NO_MEMORY } state;
};

// `key` is NULL inside an array and at the top. Keys are plain ASCII.
void jsonout_open(struct jsonout *out, const char *key, char bracket); // '{' or '['
void jsonout_close(struct jsonout *out, char bracket);                 // '}' or ']'
void jsonout_int(struct jsonout *out, const char *key, int64_t value);
void jsonout_bool(struct jsonout *out, const char *key, bool value);
// Valid UTF-8, control characters and NUL are escaped.
void jsonout_text(struct jsonout *out, const char *key, const char *text, size_t bytes);
// Nanoseconds >= 0 as microseconds with three decimals: 72000 gives 72.000.
void jsonout_us(struct jsonout *out, const char *key, int64_t value_ns);
void jsonout_line(struct jsonout *out); // a line end, for people

// The text, NUL-terminated after `bytes` bytes. Owner: the caller, free(). NULL
// with `why` if any call failed; then there is nothing to free.
char *jsonout_take(struct jsonout *out, size_t *bytes, struct why *why);

#endif
