// Steps and chapters of the lesson, pages of Lab, and what a change of mode brings with
// it. In a chapter that follows the run a step of the lesson is an event of the run, so
// the place in it is not remembered but found from the moment shown.
#include "app/state/actions_parts.h"

static int64_t now_of(const struct stage_state *state, const struct actions_context *context) {
    int64_t now_ns = playhead_at(&state->playhead, context->wall_ns);
    return now_ns < 0 ? 0 : now_ns;
}

static struct stage_state at_place(struct stage_state state, struct lesson_place place,
                                   const struct actions_context *context) {
    bool is_elsewhere = place.chapter != state.place.chapter || place.step != state.place.step;
    state.place = place;
    if (is_elsewhere) {
        state.guess.is_split_set = false;
        state.focus = -1;
    }
    state.scroll = 0;
    return actions_stopped_at(state, context->wall_ns,
                              lesson_step_ns(context->lesson, place, context->run));
}

static struct stage_state by_step(struct stage_state state, int direction,
                                  const struct actions_context *context) {
    const struct lesson *lesson = context->lesson;
    int64_t now_ns = now_of(&state, context);
    struct lesson_place here = lesson_clamp(lesson, state.place, context->run);
    struct lesson_place next = here = lesson_place_at(lesson, here, context->run, now_ns);
    bool follows = lesson_follows_run(lesson, here.chapter);
    bool is_under_way = follows && now_ns < lesson_step_ns(lesson, here, context->run);
    // On: first to the end of the step under way. Back from its middle: to where it began.
    if (is_under_way && direction > 0)
        return at_place(state, here, context);
    bool has_moved = lesson_move(lesson, &next, direction, context->run);
    // Events at one and the same moment are one step.
    while (has_moved && follows && next.chapter == here.chapter &&
           lesson_step_ns(lesson, next, context->run) == lesson_step_ns(lesson, here, context->run))
        has_moved = lesson_move(lesson, &next, direction, context->run);
    // A run that is still being measured has more steps than it shows.
    if (context->run->state == RUN_OPEN && direction > 0 && next.chapter != here.chapter)
        return actions_toasted(state, TOAST_STILL_MEASURING);
    if (!has_moved) {
        state = at_place(state, here, context);
        return actions_toasted(state, direction > 0 ? TOAST_LAST_STEP : TOAST_AT_START);
    }
    return at_place(state, next, context);
}

static struct stage_state by_chapter(struct stage_state state, int direction,
                                     const struct actions_context *context) {
    const struct lesson *lesson = context->lesson;
    struct lesson_place here = lesson_clamp(lesson, state.place, context->run);
    here = lesson_place_at(lesson, here, context->run, now_of(&state, context));
    struct lesson_place next = {.chapter = here.chapter + direction};
    if (direction < 0 && here.step > 0)
        next.chapter = here.chapter;
    if (next.chapter < 0 || next.chapter >= lesson_chapters(lesson))
        return actions_toasted(state, direction > 0 ? TOAST_LAST_STEP : TOAST_AT_START);
    return at_place(state, next, context);
}

static struct stage_state to_end(struct stage_state state, bool is_last,
                                 const struct actions_context *context) {
    struct lesson_place place = {0};
    if (is_last) {
        place.chapter = lesson_chapters(context->lesson) - 1;
        place.step = lesson_steps(context->lesson, place.chapter, context->run) - 1;
    }
    return at_place(state, place, context);
}

static bool by_page(struct stage_state *state, enum action action,
                    const struct actions_context *context) {
    int direction = action == ACTION_PAGE_NEXT ? 1 : action == ACTION_PAGE_BACK ? -1 : 0;
    if (direction == 0)
        return false;
    int page = state->page + direction;
    if (page < 0 || page >= context->page_count)
        *state = actions_toasted(*state, direction > 0 ? TOAST_AT_END : TOAST_AT_START);
    else
        state->page = page;
    return true;
}

bool actions_by_lesson(struct stage_state *state, enum action action,
                       const struct actions_context *context) {
    if (state->mode == MODE_LAB)
        return by_page(state, action, context);
    if (state->mode != MODE_LESSON || !context->lesson)
        return false;
    switch (action) {
    case ACTION_PAGE_NEXT:
        // With a clicker alone the answer to a question is asked for by going on.
        if (context->has_question)
            state->guess.is_split_set = true;
        else
            *state = by_step(*state, 1, context);
        return true;
    case ACTION_EVENT_NEXT:
        *state = by_step(*state, 1, context);
        return true;
    case ACTION_EVENT_BACK:
    case ACTION_PAGE_BACK:
        *state = by_step(*state, -1, context);
        return true;
    case ACTION_CHAPTER_NEXT:
        *state = by_chapter(*state, 1, context);
        return true;
    case ACTION_CHAPTER_BACK:
        *state = by_chapter(*state, -1, context);
        return true;
    case ACTION_START:
        *state = to_end(*state, false, context);
        return true;
    case ACTION_END:
        *state = to_end(*state, true, context);
        return true;
    default:
        return false;
    }
}

struct stage_state actions_rest(struct stage_state state, const struct actions_context *context) {
    if (state.mode == MODE_LAB)
        return actions_stopped_at(state, context->wall_ns, run_end_ns(context->run));
    if (state.mode != MODE_LESSON || !context->lesson || run_events(context->run) == 0)
        return state;
    return at_place(state, lesson_clamp(context->lesson, state.place, context->run), context);
}

struct stage_state actions_enter_mode(struct stage_state state, enum mode_choice mode,
                                      const struct actions_context *context) {
    if (mode == MODE_LESSON && !context->lesson) {
        state.mode = mode;
        state.focus = -1;
        return actions_toasted(state, TOAST_NO_LESSON);
    }
    state.mode = mode;
    state.focus = -1;
    if (mode == MODE_LAB)
        state.side = SIDE_NONE;
    if (mode == MODE_LESSON)
        state = actions_rest(state, context);
    return actions_toasted(state, TOAST_MODE);
}
