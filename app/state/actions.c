// See actions.h. One table says what each action does; keys whose meaning depends on what
// is shown are first replaced by the action they mean here.
#include "app/state/actions_parts.h"

#include "compute/base/num.h"

void stage_toast(struct stage_state *state, enum toast toast) {
    state->toast = toast;
    state->toast_count++;
}

// --- Choices ---

static void swap_clock(struct stage_state *state, const struct actions_context *context,
                       int which) {
    (void)which;
    if (!context->can_swap_clock) {
        stage_toast(state, TOAST_ONE_CLOCK);
        return;
    }
    state->clock = state->clock == CLOCK_MEASURED ? CLOCK_LESSON : CLOCK_MEASURED;
    state->is_rate_chosen = false;
    stage_toast(state, TOAST_CLOCK);
}

static void next_theme(struct stage_state *state, const struct actions_context *context,
                       int which) {
    (void)context, (void)which;
    state->theme = (enum theme_id)((state->theme + 1) % THEME_COUNT);
    stage_toast(state, TOAST_THEME);
}

static void toggle_calm(struct stage_state *state, const struct actions_context *context,
                        int which) {
    (void)context, (void)which;
    state->is_calm = !state->is_calm;
    stage_toast(state, TOAST_CALM);
}

// Direction 0: back to the normal size.
static void resize_text(struct stage_state *state, const struct actions_context *context,
                        int direction) {
    (void)context;
    int step = direction == 0 ? 0 : state->text_step + direction;
    state->text_step = clamp_int(step, TEXT_STEP_MIN, TEXT_STEP_MAX);
    stage_toast(state, TOAST_TEXT);
}

// --- The window ---

static void toggle_fullscreen(struct stage_state *state, const struct actions_context *context,
                              int which) {
    (void)context, (void)which;
    state->is_fullscreen = !state->is_fullscreen;
    state->is_presenting = state->is_presenting && state->is_fullscreen;
}

// Never ends it: a clicker sends its start key more than once.
static void present(struct stage_state *state, const struct actions_context *context, int which) {
    (void)context, (void)which;
    if (!state->is_presenting && state->mode != MODE_SHOW)
        state->mode_before = state->mode;
    state->is_presenting = state->is_fullscreen = true;
    state->mode = MODE_SHOW;
}

static void end_presenting(struct stage_state *state) {
    state->is_presenting = state->is_fullscreen = false;
    state->mode = state->mode_before;
}

static void toggle_blank(struct stage_state *state, const struct actions_context *context,
                         int which) {
    (void)context, (void)which;
    state->is_blank = !state->is_blank;
}

static void toggle_help(struct stage_state *state, const struct actions_context *context,
                        int which) {
    (void)context, (void)which;
    state->is_help = !state->is_help;
}

// The topmost thing that is open, one at a time.
static void close_one(struct stage_state *state, const struct actions_context *context, int which) {
    (void)context, (void)which;
    if (state->is_help)
        state->is_help = false;
    else if (state->is_blank)
        state->is_blank = false;
    else if (state->side != SIDE_NONE || state->focus >= 0)
        stage_close_side(state);
    else if (state->is_presenting)
        end_presenting(state);
    else
        state->is_fullscreen = false;
}

static void request(struct stage_state *state, const struct actions_context *context, int which) {
    (void)context;
    state->requests |= (unsigned)which;
}

static void measure(struct stage_state *state, const struct actions_context *context, int which) {
    if (!context->can_measure) {
        stage_toast(state, TOAST_NO_LENGTHS);
        return;
    }
    request(state, context, which);
    state->clock = CLOCK_MEASURED;
    stage_toast(state, TOAST_MEASURING);
}

// --- The table ---

enum { LINES = 3, PAGE_LINES = 8 };

enum kind {
    PLAIN,
    REVEALS, // refused while the run waits for a guess
    STEPS,   // refused then, too; on a blank screen it only brings the picture back
};

static const struct {
    action_handler *act;
    int which;
    enum kind kind;
} rows[ACTION_COUNT] = {
    [ACTION_PLAY_PAUSE] = {action_play, 0, STEPS},
    [ACTION_EVENT_NEXT] = {action_event, 1, STEPS},
    [ACTION_EVENT_BACK] = {action_event, -1, STEPS},
    [ACTION_PAGE_NEXT] = {action_page, 1, STEPS},
    [ACTION_PAGE_BACK] = {action_page, -1, STEPS},
    [ACTION_CHAPTER_NEXT] = {action_chapter, 1, STEPS},
    [ACTION_CHAPTER_BACK] = {action_chapter, -1, STEPS},
    [ACTION_START] = {action_edge, -1, STEPS},
    [ACTION_END] = {action_edge, 1, STEPS},
    [ACTION_FRAME_NEXT] = {action_frame, 1, STEPS},
    [ACTION_FRAME_BACK] = {action_frame, -1, STEPS},
    [ACTION_PERIOD] = {NULL, 0, STEPS}, // see meant
    [ACTION_UP] = {action_focus, -1, PLAIN},
    [ACTION_DOWN] = {action_focus, 1, PLAIN},
    [ACTION_LESS] = {action_nudge, -1, PLAIN},
    [ACTION_MORE] = {action_nudge, 1, PLAIN},
    [ACTION_ENTER] = {action_enter, 0, PLAIN},
    [ACTION_SCROLL_UP] = {action_scroll, -LINES, PLAIN},
    [ACTION_SCROLL_DOWN] = {action_scroll, LINES, PLAIN},
    [ACTION_SCROLL_PAGE] = {action_scroll, PAGE_LINES, PLAIN},
    [ACTION_FASTER] = {action_rate, 1, PLAIN},
    [ACTION_SLOWER] = {action_rate, -1, PLAIN},
    [ACTION_REAL_TIME] = {action_rate, 0, PLAIN},
    [ACTION_CLOCK] = {swap_clock, 0, PLAIN},
    [ACTION_COUNTING] = {action_counting, 0, PLAIN},
    [ACTION_MODE] = {action_mode, 0, REVEALS},
    [ACTION_THEME] = {next_theme, 0, PLAIN},
    [ACTION_TEXT_LARGER] = {resize_text, 1, PLAIN},
    [ACTION_TEXT_SMALLER] = {resize_text, -1, PLAIN},
    [ACTION_TEXT_NORMAL] = {resize_text, 0, PLAIN},
    [ACTION_FULLSCREEN] = {toggle_fullscreen, 0, PLAIN},
    [ACTION_PRESENT] = {present, 0, PLAIN},
    [ACTION_NEXT_DISPLAY] = {request, REQUEST_NEXT_DISPLAY, PLAIN},
    [ACTION_BLANK] = {toggle_blank, 0, PLAIN},
    [ACTION_HELP] = {toggle_help, 0, PLAIN},
    [ACTION_LOG] = {action_side, SIDE_LOG, PLAIN},
    [ACTION_GLOSSARY] = {action_side, SIDE_GLOSSARY, PLAIN},
    [ACTION_WHY] = {action_side, SIDE_WHY, PLAIN},
    [ACTION_PREDICT] = {action_side, SIDE_PREDICT, PLAIN},
    [ACTION_EDIT] = {action_side, SIDE_PROMPT, PLAIN},
    [ACTION_SIMPLE] = {action_side, SIDE_SIMPLE, PLAIN},
    [ACTION_MODELS] = {action_side, SIDE_MODELS, PLAIN},
    [ACTION_KEEP] = {request, REQUEST_KEEP, PLAIN},
    [ACTION_CALM] = {toggle_calm, 0, PLAIN},
    [ACTION_CLOSE] = {close_one, 0, PLAIN},
    [ACTION_RESTART] = {action_restart, 0, REVEALS},
    [ACTION_MEASURE] = {measure, REQUEST_MEASURE, PLAIN},
    [ACTION_PROMPT_SHORTER] = {action_prompt, -1, PLAIN},
    [ACTION_PROMPT_LONGER] = {action_prompt, 1, PLAIN},
    [ACTION_ANSWER_SHORTER] = {action_answer, -1, PLAIN},
    [ACTION_ANSWER_LONGER] = {action_answer, 1, PLAIN},
    [ACTION_STILL] = {request, REQUEST_STILL, PLAIN},
    [ACTION_QUIT] = {request, REQUEST_QUIT, PLAIN},
};

// What a key with several meanings means here.
static enum action meant(enum action action, const struct stage_state *state,
                         const struct actions_context *context) {
    bool has_focus = state->focus >= 0 && state->focus < context->control_count;
    bool can_focus = context->line_count > 0 || context->control_count > 0;
    switch (action) {
    case ACTION_PERIOD:
        return state->mode == MODE_SHOW || state->is_presenting ? ACTION_BLANK : ACTION_FRAME_NEXT;
    case ACTION_UP:
        return can_focus ? action : ACTION_FASTER;
    case ACTION_DOWN:
        return can_focus ? action : ACTION_SLOWER;
    case ACTION_EVENT_NEXT:
        return has_focus || context->has_question ? ACTION_MORE : action;
    case ACTION_EVENT_BACK:
        return has_focus || context->has_question ? ACTION_LESS : action;
    case ACTION_PAGE_NEXT:
        // A clicker alone reads a long text to its end, and takes the guesses.
        if (state->scroll < context->scroll_most)
            return ACTION_SCROLL_PAGE;
        return stage_is_guessing(state) ? ACTION_ENTER : action;
    default:
        return action;
    }
}

struct stage_state actions_apply(struct stage_state state, enum action action,
                                 const struct actions_context *context) {
    if (state.is_blank && rows[action].kind == STEPS) {
        state.is_blank = false;
        return state;
    }
    action = meant(action, &state, context);
    if (rows[action].kind != PLAIN && stage_is_guessing(&state))
        stage_toast(&state, TOAST_GUESS_FIRST);
    else if (rows[action].act)
        rows[action].act(&state, context, rows[action].which);
    return state;
}
