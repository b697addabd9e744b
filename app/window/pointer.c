// See pointer.h.
#include "app/window/pointer.h"

static bool is_button(enum panel_target target) {
    return target == TARGET_SPLIT_DONE || target == TARGET_GUESS_DONE;
}

static struct stage_state on_control(struct stage_state state, struct pointer *pointer,
                                     enum action *action, const struct frame_hit *hit,
                                     const struct actions_context *context) {
    state.focus = hit->index;
    pointer->target = hit->target;
    pointer->control = hit->index;
    if (is_button(hit->target)) {
        pointer->held = FRAME_NOTHING;
        *action = ACTION_ENTER;
        return state;
    }
    if (hit->target == TARGET_COUNTING)
        pointer->held = FRAME_NOTHING;
    return actions_set(state, hit->target, hit->ppm, context);
}

static struct stage_state to_term(struct stage_state state, const char *term,
                                  const struct actions_context *context) {
    int index = context->lesson ? lesson_find_term(context->lesson, term) : -1;
    if (index < 0)
        return state;
    state.side = SIDE_GLOSSARY;
    state.list_focus = index;
    state.focus = -1;
    return state;
}

static struct stage_state pressed(struct stage_state state, struct pointer *pointer,
                                  enum action *action, const struct input_event *event,
                                  const struct frame *frame,
                                  const struct actions_context *context) {
    struct frame_hit hit = frame_hit(frame, event->x, event->y);
    *pointer = (struct pointer){.held = hit.part};
    switch (hit.part) {
    case FRAME_CONTROL:
        return on_control(state, pointer, action, &hit, context);
    case FRAME_LINE:
        state.list_focus = hit.index;
        *action = ACTION_ENTER;
        return state;
    case FRAME_TERM:
        return to_term(state, hit.term, context);
    case FRAME_CLOCK:
        return actions_seek(state, hit.t_ns, context);
    case FRAME_PAGE:
        state.page = hit.index;
        return state;
    default:
        if (event->turn == 2)
            *action = ACTION_FULLSCREEN;
        return state;
    }
}

static struct stage_state dragged(struct stage_state state, const struct pointer *pointer,
                                  const struct input_event *event, const struct frame *frame,
                                  const struct actions_context *context) {
    if (pointer->held == FRAME_CONTROL)
        return actions_set(state, pointer->target,
                           frame_drag_ppm(frame, pointer->control, event->x), context);
    if (pointer->held == FRAME_CLOCK)
        return actions_seek(state, frame_clock_ns(frame, event->x), context);
    return state;
}

// A notch of the wheel equals an arrow key pressed on what is under the pointer.
static struct stage_state turned(struct stage_state state, enum action *action,
                                 const struct input_event *event, const struct frame *frame,
                                 const struct actions_context *context) {
    struct frame_hit hit = frame_hit(frame, event->x, event->y);
    bool is_away = event->turn > 0;
    if (event->turn == 0)
        return state;
    if (hit.part == FRAME_CONTROL) {
        state.focus = hit.index;
        *action = is_away ? ACTION_EVENT_NEXT : ACTION_EVENT_BACK;
    } else if (frame->has_panel && frame->panel.line_count > 0) {
        *action = is_away ? ACTION_UP : ACTION_DOWN;
    } else if (context->scroll_most > 0) {
        *action = is_away ? ACTION_SCROLL_UP : ACTION_SCROLL_DOWN;
    } else {
        *action = is_away ? ACTION_PAGE_BACK : ACTION_PAGE_NEXT;
    }
    return state;
}

struct stage_state pointer_apply(struct stage_state state, struct pointer *pointer,
                                 enum action *action, const struct input_event *event,
                                 const struct frame *frame, const struct actions_context *context) {
    *action = ACTION_NONE;
    switch (event->kind) {
    case INPUT_PRESS:
        return pressed(state, pointer, action, event, frame, context);
    case INPUT_DRAG:
        return dragged(state, pointer, event, frame, context);
    case INPUT_WHEEL:
        return turned(state, action, event, frame, context);
    default:
        *pointer = (struct pointer){0};
        return state;
    }
}
