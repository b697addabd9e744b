// The mouse on what a frame shows: press, drag and wheel become the same changes of
// state that keys make. Pure; positions are px of the frame.
#ifndef APP_WINDOW_POINTER_H
#define APP_WINDOW_POINTER_H

#include "app/picture/frame.h"
#include "app/window/input.h"

// What is held since the press.
struct pointer {
    enum frame_part held;
    enum panel_target target;
    int control;
};

// INPUT_PRESS, INPUT_DRAG, INPUT_RELEASE and INPUT_WHEEL; `action` is what remains to be
// applied by actions_apply after it (full screen for a double click on nothing), else
// ACTION_NONE.
struct stage_state pointer_apply(struct stage_state state, struct pointer *pointer,
                                 enum action *action, const struct input_event *event,
                                 const struct frame *frame, const struct actions_context *context);

#endif
