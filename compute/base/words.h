// Every word that a user sees in the picture, by key ("caption.prefill"), in the language
// chosen at the start. A language is one file, assets/languages/<code>.json, and nothing
// else:
//
//   name     what the language calls itself
//   numbers  "decimal" and "thousands": the signs in numbers
//   words    key -> text with places (places.h)
//   reasons  English reason (why.h), as its printf format -> the same in this language
//   lesson   the program's own lesson (app/lesson/lesson.h)
//
// A key or reason that a language lacks appears in English. English is the reference:
// tests compare every other file with it, key by key and place by place.
#ifndef COMPUTE_BASE_WORDS_H
#define COMPUTE_BASE_WORDS_H

#include "compute/base/why.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

// Chooses the language of the process by its code ("en"). The reason for an unknown one
// lists the languages there are.
// Thread: before any thread is started that uses words, and before anything below is called;
// without it, the first call chooses "en".
bool words_choose(const char *language, struct why *why);

// The text of a key, its places as written; the key itself if there is none, so that a
// mistake is seen. Valid until the process ends.
const char *word(const char *key);

// Writes the text of a key with its places filled from pairs of name and value, which end
// with NULL: words_say(out, sizeof out, "caption.columns", "count", "18", NULL). What does
// not fit is cut and ends in an ellipsis. Returns `out`.
const char *words_say(char *out, size_t bytes, const char *key, ...) __attribute__((sentinel));

// The same into an array: WORDS_SAY(view->caption, "caption.columns", "count", "18").
#define WORDS_SAY(array, ...) words_say(array, sizeof(array), __VA_ARGS__, NULL)

// Writes the parts that are not empty, up to a NULL, as one line with SIGN_DOT between
// them. Returns `out`.
char *words_join(char *out, size_t bytes, const char *const *parts);

// A printf format of an English reason in the language chosen; `english` itself if there
// is none, or if its conversions differ.
const char *words_reason(const char *english);

// Signs for numbers: "," and "." in German.
const char *words_decimal(void);
const char *words_thousands(void);

// The "lesson" of a language's file: borrowed, valid until the process ends. NULL if the
// file has none. `path` gets the file's path, for messages.
const json_t *words_lesson(const char **path);

#endif
