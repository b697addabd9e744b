// Loads lessons from JSON; form: assets/languages/lesson.schema.json. What is loaded is
// read by the pure functions of lesson.h. A lesson's own words are checked against those
// of the language chosen (compute/base/words.h).
#ifndef APP_LESSON_LOAD_LOAD_H
#define APP_LESSON_LOAD_LOAD_H

#include "compute/base/why.h"

#include "app/lesson/lesson.h"

#include <jansson.h>

// From a file. A reason names the path to the wrong value; line and column only where
// the file is no valid JSON. Owner: lesson_destroy.
bool lesson_load(struct lesson **out, const char *path, struct why *why);
// The program's own lesson in the language chosen. Owner: lesson_destroy.
bool lesson_load_own(struct lesson **out, struct why *why);
// From the text of a file called `name`; NULL with `why`. Owner: lesson_destroy.
struct lesson *lesson_parse(const char *name, const char *json, size_t bytes, struct why *why);
// From a JSON value, which it takes over in any case; `name` is for reasons. NULL with
// `why`. Owner: lesson_destroy.
struct lesson *lesson_read(const char *name, json_t *json, struct why *why);
void lesson_destroy(struct lesson *lesson); // NULL is fine

#endif
