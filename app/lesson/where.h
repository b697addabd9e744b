// Where in a JSON text a value stands: its parser gives positions of syntax errors
// only, a reason about a value needs one, too. Pure.
#ifndef APP_LESSON_WHERE_H
#define APP_LESSON_WHERE_H

#include <stddef.h>

enum { LESSON_WHERE_DEPTH = 8 };

// The way to a value from the outermost one: keys, and indexes of arrays.
struct lesson_way {
    int depth;
    struct {
        const char *key; // NULL: an item of an array
        int index;
    } steps[LESSON_WHERE_DEPTH];
};

struct lesson_where {
    int line, column; // from 1; columns count characters
};

// The key (or the array item) that `way` leads to in the valid JSON at `json`; as far
// along it as it can be followed.
struct lesson_where lesson_where_is(const char *json, size_t bytes, const struct lesson_way *way);

#endif
