// SDL events to actions, by table: the only reader of SDL_Event. Named keys and
// letters go by key code (letters fall back to their place on the keyboard when the
// layout has no Latin ones); signs go by the character typed, so that every layout
// finds its own "?" and "+". Keeps what must be known between two events.
#ifndef APP_INPUT_H
#define APP_INPUT_H

#include "actions.h"

struct input {
    bool text_stopped; // an input method took over: signs come no more
};

// What one event means for the window itself.
enum input_kind {
    INPUT_NONE,
    INPUT_ACTION,
    INPUT_RESIZED, // size, display or scale changed
    INPUT_EXPOSED, // redraw, nothing changed
    INPUT_HIDDEN,  // minimised or hidden
    INPUT_SHOWN,
    INPUT_RESET,     // the renderer lost its targets
    INPUT_RESET_ALL, // the renderer lost its textures
    INPUT_POINTER,   // the mouse moved to x, y (window coordinates)
    INPUT_LEFT,      // the mouse left
    INPUT_WOKEN,     // the worker has news
};

struct input_event {
    enum input_kind kind;
    enum action action;
    int x, y;
};

// Waits until an event comes or `timeout_ms` is over (-1 = no limit, 0 = no wait).
// False: nothing there.
bool input_wait(struct input *input, struct input_event *out, int timeout_ms);

// Any thread: makes a waiting input_wait return INPUT_WOKEN. At most one is pending.
void input_wake(void *unused);

#endif
