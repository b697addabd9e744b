// The words of the panel that every lesson file must have: their keys, how long each may
// be where it is drawn, and which {names} it may contain besides those of values.h. The
// texts themselves are in assets/lessons/.
#ifndef APP_LESSON_WORDS_H
#define APP_LESSON_WORDS_H

#include <stdbool.h>

enum { LESSON_MAX_WORDS = 160 };

struct lesson_word_rule {
    const char *key;
    int most_chars;    // of the text as written, including its {names}
    const char *extra; // names that the caller of lesson_say adds: "count longest", or ""
    bool has_terms;    // may contain [words] of the glossary
};

// All of them, in the order in which a file should list them.
const struct lesson_word_rule *lesson_word_rules(int *count);
int lesson_word_index(const char *key); // -1: no such key

#endif
