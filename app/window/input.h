// Translates SDL events to actions (keys.h has the table); nothing else reads SDL_Event.
// Named keys and letters are found by key code (on a layout without Latin letters by their
// place on the keyboard), signs by the character typed.
#ifndef APP_WINDOW_INPUT_H
#define APP_WINDOW_INPUT_H

#include "app/state/actions.h"
#include "app/state/editor.h"

enum { INPUT_TEXT_BYTES = EDITOR_BYTES + 4 }; // what is too long for it is seen to be

struct input {
    bool text_stopped;           // an input method took over, so signs no longer arrive
    int held, key;               // modifiers (KMOD_) and key code of the last key event
    bool is_editing;             // keys and characters edit a text, see input_edit
    bool is_fresh;               // ignore the character of the key that started the editing
    bool is_dragging;            // the left button is held
    char text[INPUT_TEXT_BYTES]; // of the last event that has one
};

// What one event means for the window itself.
enum input_kind {
    INPUT_NONE,
    INPUT_ACTION,
    INPUT_RESIZED, // size, display or scale changed
    INPUT_EXPOSED, // redraw, nothing changed
    INPUT_POINTER, // the mouse moved to x, y (window coordinates)
    INPUT_LEFT,    // the mouse left
    INPUT_PRESS,   // the left button went down at x, y
    INPUT_DRAG,    // the mouse moved to x, y with it held
    INPUT_RELEASE,
    INPUT_WHEEL,    // turned at x, y; `turn` > 0 is away from the user
    INPUT_TYPED,    // characters or a paste: `text`
    INPUT_COMPOSED, // an input method shows `text` that is not typed yet; "" = no more
    INPUT_DROPPED,  // a file was dropped on the window: `text` is its path
    INPUT_EDIT,     // an editing key: `edit`
    INPUT_WOKEN,    // by input_wake
};

enum input_edit {
    EDIT_LEFT,
    EDIT_RIGHT,
    EDIT_WORD_LEFT,
    EDIT_WORD_RIGHT,
    EDIT_HOME,
    EDIT_END,
    EDIT_ERASE_LEFT, // Backspace
    EDIT_ERASE_RIGHT,
    EDIT_ERASE_WORD,
    EDIT_CLEAR,
    EDIT_UNDO,
    EDIT_DONE, // Enter
    EDIT_CLOSE // Esc
};

struct input_event {
    enum input_kind kind;
    enum action action;
    enum input_edit edit;
    int x, y, turn;
    // INPUT_TYPED, INPUT_COMPOSED, INPUT_DROPPED: UTF-8, valid until the next input_wait
    const char *text;
};

// Waits for an event, at most `timeout_ms` (-1 = no limit, 0 = do not wait). False: none.
bool input_wait(struct input *input, struct input_event *out, int timeout_ms);

// on: keys edit a text from now on. Off: they are actions again.
void input_edit(struct input *input, bool on);

// Any thread: makes a waiting input_wait return INPUT_WOKEN. At most one is pending.
void input_wake(void *unused);

// Before the window is closed: from now on input_wake does nothing.
void input_end(void);

#endif
