// The texts of a lesson: their places (compute/base/places.h) filled with a run's values,
// and checked. Pure.
#ifndef APP_LESSON_TEXT_H
#define APP_LESSON_TEXT_H

#include "app/lesson/lesson.h"

// Fills `text`, which lesson_text_check has accepted, as places_fill does. With a
// `glossary`, its words are put between marks; NULL: no marks.
void lesson_text_fill(char *out, size_t bytes, const char *text, const struct lesson_facts *facts,
                      const struct lesson *glossary);

// What a text may contain.
struct lesson_text_rule {
    int most_chars;                // as written; a place counts as six
    const char *extra;             // names besides the run's values, separated by spaces;
                                   // NULL: no values at all
    const struct lesson *glossary; // NULL: no words of the glossary, and only one line
};

// False with `problem`: what is wrong and what to do about it.
bool lesson_text_check(const char *text, const struct lesson_text_rule *rule, char problem[160]);

// True if `name` is one of a list's names, which are separated by spaces.
bool lesson_text_lists(const char *list, const char *name);

#endif
