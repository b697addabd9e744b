// Loads lessons from JSON files; form: assets/lessons/lesson.schema.json. What is loaded
// is read by the pure functions of lesson.h.
#ifndef APP_LESSON_LOAD_LOAD_H
#define APP_LESSON_LOAD_LOAD_H

#include "compute/base/why.h"

#include "app/lesson/lesson.h"

// From a file. A reason names the path to the wrong value; line and column only where
// the file is no valid JSON. Owner: lesson_destroy.
bool lesson_load(struct lesson **out, const char *path, struct why *why);
// The program's own lesson in a language ("en", "de"). The reason for an unknown one
// lists the languages there are. Owner: lesson_destroy.
bool lesson_load_named(struct lesson **out, const char *language, struct why *why);
// From the text of a file called `name`; NULL with `why`. Owner: lesson_destroy.
struct lesson *lesson_parse(const char *name, const char *json, size_t bytes, struct why *why);
void lesson_destroy(struct lesson *lesson); // NULL is fine

#endif
