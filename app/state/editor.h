// A line of UTF-8 being edited: the user's own prompt. A value and pure functions; a
// cursor never stands inside a character, what is typed or pasted is valid UTF-8 when
// it gets in (bad bytes become U+FFFD, control characters and line ends a space).
#ifndef APP_STATE_EDITOR_H
#define APP_STATE_EDITOR_H

#include <stdbool.h>
#include <stddef.h>

enum { EDITOR_BYTES = 4096, EDITOR_UNDO = 16 };

// The last change, so that the next of its kind joins its undo step.
enum editor_change {
    EDITOR_NOTHING, // a move, or a change that stands for itself
    EDITOR_TYPING,  // one character went in
    EDITOR_ERASING, // one character went out
};

// A zeroed one is empty.
struct editor {
    char text[EDITOR_BYTES]; // NUL-terminated
    int length, cursor;      // bytes
    bool is_full;            // the last insertion was cut
    // Undo of one's own steps, the oldest first; the oldest is forgotten.
    int undo_count;
    struct {
        char text[EDITOR_BYTES];
        int length, cursor;
    } undo[EDITOR_UNDO];
    enum editor_change change;
};

enum editor_move {
    EDITOR_LEFT, // one code point: a combining mark is a stop of its own
    EDITOR_RIGHT,
    EDITOR_WORD_LEFT,  // to where a word begins
    EDITOR_WORD_RIGHT, // to where a word ends
    EDITOR_HOME,
    EDITOR_END
};

void editor_set(struct editor *editor, const char *text); // cursor at the end, no undo
// At the cursor. What passes the capacity is cut at a character's end.
void editor_insert(struct editor *editor, const char *text, size_t bytes);
void editor_move(struct editor *editor, enum editor_move move);
void editor_delete(struct editor *editor, enum editor_move towards); // up to where that move goes
void editor_clear(struct editor *editor);                            // one undo step
bool editor_undo(struct editor *editor);                             // false: nothing left

#endif
