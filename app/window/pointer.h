// Turns press, drag and wheel on a frame into changes of the state, as keys do. Pure;
// positions are px of the frame.
#ifndef APP_WINDOW_POINTER_H
#define APP_WINDOW_POINTER_H

#include "app/picture/frame.h"
#include "app/window/input.h"

// What the left button holds.
struct pointer {
    enum frame_part held;
    enum panel_target target;
    int control;
};

// For INPUT_PRESS, INPUT_DRAG, INPUT_RELEASE and INPUT_WHEEL. The caller then applies
// `action`, if it is not ACTION_NONE.
struct stage_state pointer_apply(struct stage_state state, struct pointer *pointer,
                                 enum action *action, const struct input_event *event,
                                 const struct frame *frame, const struct actions_context *context);

#endif
