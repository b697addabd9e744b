// Texts with places: {value}, {count|one|many} (the count, a space and the form that
// fits it), [word] and [shown|word] of the glossary, {{ }} [[ ]] for the signs
// themselves. Pure.
#ifndef APP_LESSON_TEXT_H
#define APP_LESSON_TEXT_H

#include "app/lesson/lesson.h"

// What a text's places are filled from.
struct lesson_fill {
    const struct run *run; // NULL: every value is an em dash
    int64_t t_ns;
    const char *const *extra; // name, value, ..., NULL: looked at first; NULL = none
    bool has_marks;           // false: words of the glossary stay plain
};

// Fills `text`, which lesson_text_check has passed. What does not fit is cut between
// characters and ends in an ellipsis; a mark is always closed.
void lesson_text_fill(char *out, size_t bytes, const char *text, const struct lesson_fill *fill);

// What a text may hold.
struct lesson_text_rule {
    int most_chars;    // as written; a place counts for a few
    const char *extra; // names beside the run's values, parted by spaces
    bool has_terms, has_values, has_lines;
    bool (*knows_word)(const void *glossary, const char *word); // with has_terms
    const void *glossary;
};

// False with what is wrong and what to do, in `problem`.
bool lesson_text_check(const char *text, const struct lesson_text_rule *rule, char problem[160]);

#endif
