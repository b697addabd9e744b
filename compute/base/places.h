// Texts with places for values: {name}, or {name|one|many} for a count, a space and the
// word in the form for that count (one for "1"). [word] and [shown|word] name a word of a
// glossary. {{ }} [[ ]] are the characters themselves. Pure.
#ifndef COMPUTE_BASE_PLACES_H
#define COMPUTE_BASE_PLACES_H

#include <stdbool.h>
#include <stddef.h>

enum { PLACE_PART_BYTES = 96 };

enum place_kind {
    PLACE_SIGN,   // one character
    PLACE_VALUE,  // {...}
    PLACE_TERM,   // [...]
    PLACE_BROKEN, // `problem` says what is wrong; nothing after it is read
};

// One piece of a text.
struct place {
    enum place_kind kind;
    const char *sign; // PLACE_SIGN: sign_bytes of the text
    size_t sign_bytes;
    int part_count; // of what stands between the brackets, split at '|'
    char parts[3][PLACE_PART_BYTES];
    const char *problem;
};

// Reads the piece at *text and moves past it. False at the end.
bool place_next(struct place *out, const char **text);

// What fills the places.
struct place_filler {
    // Writes the value called `name`. False if there is none: an em dash takes its place.
    bool (*value)(char *out, size_t bytes, const char *name, const void *context);
    // False if the glossary has no such word, which then gets no marks. NULL: it has all.
    bool (*has_term)(const char *name, const void *context);
    const void *context;
    char term_begin, term_end; // the marks around a glossary word; 0: none
};

// Writes `text` with its places filled, up to the first piece that is broken. What does
// not fit is cut between characters and ends in an ellipsis; a glossary word that is cut
// still gets its end mark.
void places_fill(char *out, size_t bytes, const char *text, const struct place_filler *filler);

#endif
