// SDL events to actions, by table: the only reader of SDL_Event. Named keys and
// letters go by key code (letters fall back to their place on the keyboard when the
// layout has no Latin ones); signs go by the character typed, so that every layout
// finds its own "?" and "+". Keeps what must be known between two events.
#ifndef APP_WINDOW_INPUT_H
#define APP_WINDOW_INPUT_H

#include "app/state/actions.h"

enum { INPUT_TEXT_BYTES = 4096 };

struct input {
    bool text_stopped; // an input method took over: signs come no more
    bool is_editing;   // a text is being typed: keys and characters are edits, see input_edit
    bool is_fresh;     // the key that began the editing is not part of the text
    bool is_dragging;  // the left button went down and has not come up
    char text[INPUT_TEXT_BYTES]; // of the last INPUT_TYPED
};

// What one event means for the window itself.
enum input_kind {
    INPUT_NONE,
    INPUT_ACTION,
    INPUT_RESIZED, // size, display or scale changed
    INPUT_EXPOSED, // redraw, nothing changed
    INPUT_HIDDEN,  // minimised or hidden
    INPUT_SHOWN,
    INPUT_POINTER, // the mouse moved to x, y (window coordinates)
    INPUT_LEFT,    // the mouse left
    INPUT_PRESS,   // the left button went down at x, y
    INPUT_DRAG,    // the mouse moved to x, y with it held
    INPUT_RELEASE,
    INPUT_WHEEL, // turned at x, y; `turn` > 0 is away from the user
    INPUT_TYPED, // characters or a paste: `text`
    INPUT_EDIT,  // an editing key: `edit`
    INPUT_WOKEN, // the worker has news
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
    const char *text; // INPUT_TYPED: UTF-8, valid until the next input_wait
};

// Waits until an event comes or `timeout_ms` is over (-1 = no limit, 0 = no wait).
// False: nothing there.
bool input_wait(struct input *input, struct input_event *out, int timeout_ms);

// From now on keys type a text, or they act again.
void input_edit(struct input *input, bool on);

// Any thread: makes a waiting input_wait return INPUT_WOKEN. At most one is pending.
void input_wake(void *unused);

#endif
