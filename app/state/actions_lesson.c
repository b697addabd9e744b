// Steps and chapters of the lesson, and a change of mode. In a chapter that follows the
// run, a step of the lesson is an event of the run: its place is not remembered but found
// from the moment shown.
#include "app/state/actions_parts.h"

#include "compute/base/num.h"

bool stage_in_lesson(const struct stage_state *state, const struct actions_context *context) {
    return state->mode == MODE_LESSON && context->lesson;
}

static int64_t now_of(const struct stage_state *state, const struct actions_context *context) {
    return max_i64(playhead_at(&state->playhead, context->wall_ns), 0);
}

static void go_to(struct stage_state *state, struct lesson_place place,
                  const struct actions_context *context) {
    if (place.chapter != state->place.chapter || place.step != state->place.step) {
        state->guess.is_split_set = false;
        state->focus = -1;
    }
    state->place = place;
    state->scroll = 0;
    stage_stop_at(state, context->wall_ns, lesson_step_ns(context->lesson, place, context->run));
}

// The step shown: where the lesson was left, or in a chapter that follows the run the
// step of the moment.
static struct lesson_place place_now(const struct stage_state *state,
                                     const struct actions_context *context) {
    struct lesson_place place = lesson_clamp(context->lesson, state->place, context->run);
    return lesson_place_at(context->lesson, place, context->run, now_of(state, context));
}

void lesson_to_step(struct stage_state *state, const struct actions_context *context,
                    int direction) {
    const struct lesson *lesson = context->lesson;
    const struct run *run = context->run;
    struct lesson_place here = place_now(state, context), next = here;
    int64_t here_ns = lesson_step_ns(lesson, here, run);
    bool follows = lesson_follows_run(lesson, here.chapter);
    // A step under way is first finished.
    if (follows && direction > 0 && now_of(state, context) < here_ns) {
        go_to(state, here, context);
        return;
    }
    bool has_moved = lesson_move(lesson, &next, direction, run);
    // Events at the same moment are one step.
    while (has_moved && follows && next.chapter == here.chapter &&
           lesson_step_ns(lesson, next, run) == here_ns)
        has_moved = lesson_move(lesson, &next, direction, run);
    // A run that is still being measured will have more steps than it has now.
    if (run->state == RUN_OPEN && direction > 0 && next.chapter != here.chapter) {
        stage_toast(state, TOAST_STILL_MEASURING);
        return;
    }
    if (!has_moved)
        stage_toast(state, direction > 0 ? TOAST_LAST_STEP : TOAST_AT_START);
    go_to(state, has_moved ? next : here, context);
}

void lesson_to_chapter(struct stage_state *state, const struct actions_context *context,
                       int direction) {
    struct lesson_place here = place_now(state, context);
    bool is_inside = direction < 0 && here.step > 0;
    struct lesson_place next = {.chapter = is_inside ? here.chapter : here.chapter + direction};
    if (next.chapter < 0 || next.chapter >= lesson_chapters(context->lesson))
        stage_toast(state, direction > 0 ? TOAST_LAST_STEP : TOAST_AT_START);
    else
        go_to(state, next, context);
}

void lesson_to_edge(struct stage_state *state, const struct actions_context *context,
                    int direction) {
    struct lesson_place place = {0};
    if (direction > 0) {
        place.chapter = lesson_chapters(context->lesson) - 1;
        place.step = lesson_steps(context->lesson, place.chapter, context->run) - 1;
    }
    go_to(state, place, context);
}

struct stage_state actions_rest(struct stage_state state, const struct actions_context *context) {
    if (state.mode == MODE_LAB)
        stage_stop_at(&state, context->wall_ns, run_end_ns(context->run));
    else if (stage_in_lesson(&state, context) && run_events(context->run) > 0)
        go_to(&state, lesson_clamp(context->lesson, state.place, context->run), context);
    return state;
}

void action_mode(struct stage_state *state, const struct actions_context *context, int which) {
    (void)which;
    static const enum mode_choice next[] = {
        [MODE_STAGE] = MODE_LESSON,
        [MODE_LESSON] = MODE_LAB,
        [MODE_LAB] = MODE_SHOW,
        [MODE_SHOW] = MODE_STAGE,
    };
    state->mode = next[state->mode];
    state->focus = -1;
    if (state->mode == MODE_LAB)
        state->side = SIDE_NONE;
    if (state->mode == MODE_LESSON)
        *state = actions_rest(*state, context);
    stage_toast(state,
                state->mode == MODE_LESSON && !context->lesson ? TOAST_NO_LESSON : TOAST_MODE);
}
