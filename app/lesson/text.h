// Texts with places: {value}, {count|one|many} (the count, a space and the form for that
// count), [word] and [shown|word] of the glossary; {{ }} [[ ]] are the characters
// themselves. Pure.
#ifndef APP_LESSON_TEXT_H
#define APP_LESSON_TEXT_H

#include "app/lesson/lesson.h"

// Fills `text`, which lesson_text_check has accepted. What does not fit is cut between
// characters and ends in an ellipsis. With `has_marks`, words of the glossary are put
// between marks, which are always closed.
void lesson_text_fill(char *out, size_t bytes, const char *text, const struct lesson_facts *facts,
                      bool has_marks);

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
