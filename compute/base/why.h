// One line that says what went wrong and what to do about it. Functions that can fail
// return false (or NULL) and fill the caller's `struct why`; nothing in compute/ prints.
// The text names what, which, expected, got and a hint, has no newline and no "error:"
// prefix: app/ adds those, once.
#ifndef COMPUTE_BASE_WHY_H
#define COMPUTE_BASE_WHY_H

#include <stdarg.h>
#include <stdbool.h>

enum { WHY_BYTES = 512 };

struct why {
    char text[WHY_BYTES]; // always ends in '\0'; "" = no reason yet
};

// Writes a printf-style reason (cut at WHY_BYTES) and returns false, so that a failing
// function can end with `return why_set(why, ...)`.
// NULL: `why` may be NULL; then only the false is delivered.
bool why_set(struct why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The same with "name: " before the reason, and with the arguments as a list.
bool why_about(struct why *why, const char *name, const char *format, va_list args);

// Has every reason written in another language: `reason` gives the format for an English
// one, with the same conversions. NULL: English. words_choose calls it.
// Thread: before any other thread is started.
void why_speak(const char *(*reason)(const char *english));

#endif
