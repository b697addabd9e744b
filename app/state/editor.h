// A line of UTF-8 being edited: the user's own prompt. The text is always valid UTF-8 and
// the cursor always between two characters: invalid bytes are inserted as U+FFFD, control
// characters and line ends as a space.
#ifndef APP_STATE_EDITOR_H
#define APP_STATE_EDITOR_H

#include <stdbool.h>
#include <stddef.h>

enum { EDITOR_BYTES = (64 << 10) + 1, EDITOR_UNDO = 16 };

// The last change, so that the next of its kind joins its undo step.
enum editor_change {
    EDITOR_NOTHING, // a move, or a change with an undo step of its own
    EDITOR_TYPING,  // one character was inserted
    EDITOR_ERASING, // one character was deleted
};

// Zero-initialised it is empty.
struct editor {
    char text[EDITOR_BYTES]; // NUL-terminated
    int length, cursor;      // bytes
    bool is_full;            // the last insertion was cut
    // Oldest first; when full, the oldest is dropped.
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
// Inserts at the cursor. Text beyond the capacity is cut between two characters.
void editor_insert(struct editor *editor, const char *text, size_t bytes);
void editor_move(struct editor *editor, enum editor_move move);
void editor_delete(struct editor *editor,
                   enum editor_move towards); // from the cursor to where that move leads
void editor_clear(struct editor *editor);     // one undo step
bool editor_undo(struct editor *editor);      // false: nothing left

#endif
