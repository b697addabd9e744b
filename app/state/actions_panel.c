// What is open beside the stage, where the keyboard's focus is, and what the focus
// moves: lengths, the counting, the guesses. A mouse sets the same targets by their
// share of the way, so keyboard and mouse cannot disagree.
#include "app/picture/panel/panel.h"
#include "app/state/actions_parts.h"
#include "compute/base/num.h"

enum {
    NUDGE_PPM = 10000, // of a guess: 1 %
};

// --- Lengths ---

// The next length up or down a ladder of about 1.5; 0 stands for "natural" and is
// below the first rung.
static int next_length(int length, int direction, int longest) {
    static const int rungs[] = {1,  2,  4,   8,   12,  18,  24,  32,  48,
                                64, 96, 128, 192, 256, 384, 512, 768, 1024};
    enum { RUNGS = sizeof rungs / sizeof rungs[0] };
    if (direction > 0) {
        for (int i = 0; i < RUNGS; i++)
            if (rungs[i] > length)
                return rungs[i] < longest ? rungs[i] : longest;
        return longest;
    }
    for (int i = RUNGS - 1; i >= 0; i--)
        if (rungs[i] < length)
            return rungs[i];
    return 0;
}

static bool has_lengths(const struct stage_state *state) {
    return state->clock == CLOCK_LESSON ? state->can_schedule
                                        : state->can_measure || state->can_model;
}

static int prompt_of(const struct stage_state *state, const struct actions_context *context) {
    return state->prompt_tokens ? state->prompt_tokens : context->run->info.prompt_tokens;
}

static int answer_of(const struct stage_state *state, const struct actions_context *context) {
    return state->answer_tokens ? state->answer_tokens : run_answers_seen(context->run);
}

struct stage_state actions_with_lengths(struct stage_state state, enum action action,
                                        const struct actions_context *context) {
    if (!has_lengths(&state))
        return actions_toasted(state, TOAST_NO_LENGTHS);
    if (action == ACTION_PROMPT_LONGER || action == ACTION_PROMPT_SHORTER) {
        int direction = action == ACTION_PROMPT_LONGER ? 1 : -1;
        int length = next_length(prompt_of(&state, context), direction, context->longest_prompt);
        state.prompt_tokens = length < 1 ? 1 : length;
    } else {
        int direction = action == ACTION_ANSWER_LONGER ? 1 : -1;
        state.answer_tokens = next_length(state.answer_tokens, direction, context->longest_answer);
    }
    state.requests |= REQUEST_MEASURE;
    return actions_toasted(state, TOAST_LENGTHS);
}

// --- Targets ---

static struct stage_state with_prompt(struct stage_state state, int tokens) {
    state.requests |= tokens != state.prompt_tokens ? REQUEST_MEASURE_SOON : 0u;
    state.prompt_tokens = tokens;
    return state;
}

static struct stage_state with_answer(struct stage_state state, int tokens) {
    state.requests |= tokens != state.answer_tokens ? REQUEST_MEASURE_SOON : 0u;
    state.answer_tokens = tokens;
    return state;
}

static struct stage_state with_counting(struct stage_state state, enum run_counting counting) {
    if (state.counting[state.clock] == counting)
        return state;
    state.counting[state.clock] = counting;
    return actions_toasted(state, TOAST_COUNTING);
}

static bool is_guessing(const struct stage_state *state) {
    return state->side == SIDE_PREDICT &&
           (state->guess.stage == GUESS_TTFT || state->guess.stage == GUESS_DECODE);
}

struct stage_state actions_set(struct stage_state state, enum panel_target target, int ppm,
                               const struct actions_context *context) {
    bool is_length = target == TARGET_PROMPT || target == TARGET_ANSWER;
    ppm = clamp_ppm(ppm);
    if (is_length && !has_lengths(&state))
        return actions_toasted(state, TOAST_NO_LENGTHS);
    switch (target) {
    case TARGET_PROMPT:
        return with_prompt(state, panel_length_of(ppm, context->longest_prompt));
    case TARGET_ANSWER:
        return with_answer(state, panel_length_of(ppm, context->longest_answer));
    case TARGET_COUNTING:
        return with_counting(state, ppm < 500000 ? RUN_ENGINE : RUN_CHARGED);
    case TARGET_SPLIT:
        if (!state.guess.is_split_set)
            state.guess.split_ppm = ppm;
        return state;
    case TARGET_TTFT:
        if (is_guessing(&state))
            state.guess.ttft_ppm = ppm;
        return state;
    case TARGET_DECODE:
        if (is_guessing(&state))
            state.guess.decode_ppm = ppm;
        return state;
    default:
        return state;
    }
}

static struct stage_state nudged(struct stage_state state, int direction,
                                 const struct actions_context *context) {
    int step_ppm = direction * NUDGE_PPM;
    bool is_length = context->target == TARGET_PROMPT || context->target == TARGET_ANSWER;
    if (is_length && !has_lengths(&state))
        return actions_toasted(state, TOAST_NO_LENGTHS);
    switch (context->target) {
    case TARGET_PROMPT:
        return with_prompt(state, panel_length_step(prompt_of(&state, context), direction,
                                                    context->longest_prompt));
    case TARGET_ANSWER:
        return with_answer(state, panel_length_step(answer_of(&state, context), direction,
                                                    context->longest_answer));
    case TARGET_COUNTING:
        return with_counting(state, direction < 0 ? RUN_ENGINE : RUN_CHARGED);
    case TARGET_SPLIT:
        return actions_set(state, TARGET_SPLIT, state.guess.split_ppm + step_ppm, context);
    case TARGET_TTFT:
        return actions_set(state, TARGET_TTFT, state.guess.ttft_ppm + step_ppm, context);
    case TARGET_DECODE:
        return actions_set(state, TARGET_DECODE, state.guess.decode_ppm + step_ppm, context);
    default:
        return state;
    }
}

// --- Predict first ---

static struct stage_state guess_on(struct stage_state state,
                                   const struct actions_context *context) {
    if (state.guess.stage == GUESS_TTFT && context->target != TARGET_GUESS_DONE) {
        state.guess.stage = GUESS_DECODE;
        state.focus = 1;
        return state;
    }
    state.guess.stage = GUESS_SET;
    state.focus = -1;
    return actions_restarted(state, context->wall_ns);
}

static struct stage_state predicting(struct stage_state state,
                                     const struct actions_context *context) {
    state.guess = guess_new();
    state.guess.stage = GUESS_TTFT;
    state.side = SIDE_PREDICT;
    state.focus = 0;
    return actions_stopped_at(state, context->wall_ns, state.playhead.first_ns);
}

static struct stage_state side_closed(struct stage_state state) {
    if (is_guessing(&state))
        state.guess.stage = GUESS_OFF;
    state.side = SIDE_NONE;
    state.focus = -1;
    state.scroll = 0;
    return state;
}

// --- Focus ---

static struct stage_state entered(struct stage_state state, const struct actions_context *context) {
    if (is_guessing(&state))
        return guess_on(state, context);
    if (state.side == SIDE_LOG) {
        int64_t now_ns = playhead_at(&state.playhead, context->wall_ns);
        int line = state.list_focus;
        if (line < 0)
            line = run_event_at(context->run, now_ns);
        return line < 0 ? state : actions_seek(state, run_event_ns(context->run, line), context);
    }
    if (context->target == TARGET_GUESS_DONE)
        return predicting(state, context); // again
    if (context->target == TARGET_COUNTING)
        return with_counting(state,
                             state.counting[state.clock] == RUN_ENGINE ? RUN_CHARGED : RUN_ENGINE);
    if (context->target == TARGET_SPLIT_DONE || context->target == TARGET_SPLIT)
        state.guess.is_split_set = true;
    return state;
}

static struct stage_state focus_moved(struct stage_state state, int direction,
                                      const struct actions_context *context) {
    if (context->line_count > 0) {
        int64_t now_ns = playhead_at(&state.playhead, context->wall_ns);
        int at = state.list_focus;
        if (at < 0)
            at = state.side == SIDE_LOG ? run_event_at(context->run, now_ns) : 0;
        at += direction;
        state.list_focus = at < 0 ? 0 : at < context->line_count ? at : context->line_count - 1;
        return state;
    }
    int focus = state.focus + direction;
    int least = is_guessing(&state) ? 0 : -1;
    state.focus = focus < least                    ? least
                  : focus < context->control_count ? focus
                                                   : context->control_count - 1;
    if (is_guessing(&state) && state.focus < 2)
        state.guess.stage = state.focus == 0 ? GUESS_TTFT : GUESS_DECODE;
    return state;
}

// With a clicker alone the rest of a long text comes before the next step.
static bool by_scroll(struct stage_state *state, enum action action,
                      const struct actions_context *context) {
    enum { LINES = 3, PAGE = 8 };
    int most = context->scroll_most;
    int lines = action == ACTION_SCROLL_UP     ? -LINES
                : action == ACTION_SCROLL_DOWN ? LINES
                : action == ACTION_PAGE_NEXT   ? PAGE
                                               : 0;
    bool is_more = state->scroll < most;
    if (lines == 0 || (action == ACTION_PAGE_NEXT && !is_more))
        return false;
    state->scroll = clamp_int(state->scroll + lines, 0, most);
    return true;
}

bool actions_by_focus(struct stage_state *state, enum action action,
                      const struct actions_context *context) {
    bool has_focus = state->focus >= 0 && state->focus < context->control_count;
    if (by_scroll(state, action, context))
        return true;
    switch (action) {
    case ACTION_UP:
    case ACTION_DOWN:
        if (context->line_count == 0 && context->control_count == 0)
            return false;
        *state = focus_moved(*state, action == ACTION_DOWN ? 1 : -1, context);
        return true;
    case ACTION_ENTER:
        *state = entered(*state, context);
        return true;
    case ACTION_EVENT_NEXT:
    case ACTION_EVENT_BACK:
        if (!has_focus)
            break;
        *state = nudged(*state, action == ACTION_EVENT_NEXT ? 1 : -1, context);
        return true;
    default:
        break;
    }
    if (!is_guessing(state))
        return false;
    // The run waits for the guess.
    if (action == ACTION_PAGE_NEXT) {
        *state = guess_on(*state, context);
        return true;
    }
    bool would_reveal = (action >= ACTION_PLAY_PAUSE && action <= ACTION_PERIOD) ||
                        action == ACTION_MODE || action == ACTION_RESTART;
    if (would_reveal)
        *state = actions_toasted(*state, TOAST_GUESS_FIRST);
    return would_reveal;
}

// --- What is open ---

static struct stage_state opened(struct stage_state state, enum side side,
                                 const struct actions_context *context) {
    state = side_closed(state);
    if (state.mode == MODE_LAB)
        state.mode = MODE_STAGE; // Lab has no panel; Tab leads back
    state.side = side;
    state.scroll = 0;
    state.list_focus = side == SIDE_GLOSSARY ? context->first_term : -1;
    return state;
}

bool actions_by_side(struct stage_state *state, enum action action,
                     const struct actions_context *context) {
    static const struct {
        enum action action;
        enum side side;
    } rows[] = {
        {ACTION_LOG, SIDE_LOG},       {ACTION_GLOSSARY, SIDE_GLOSSARY},
        {ACTION_WHY, SIDE_WHY},       {ACTION_EDIT, SIDE_PROMPT},
        {ACTION_SIMPLE, SIDE_SIMPLE}, {ACTION_PREDICT, SIDE_PREDICT},
    };
    if (action == ACTION_CLOSE && !state->is_help && !state->is_blank) {
        bool is_open = state->side != SIDE_NONE || state->focus >= 0;
        if (is_open)
            *state = side_closed(*state);
        return is_open;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].action != action)
            continue;
        bool was_open = state->side == rows[i].side;
        if (was_open) {
            *state = side_closed(*state);
        } else if (!context->lesson) {
            *state = actions_toasted(*state, TOAST_NO_LESSON);
        } else if (action == ACTION_EDIT && !(state->can_measure)) {
            *state = actions_toasted(*state, TOAST_NO_PROMPT);
        } else {
            *state = opened(*state, rows[i].side, context);
            if (action == ACTION_PREDICT)
                *state = predicting(*state, context);
            if (action == ACTION_EDIT)
                state->requests |= REQUEST_EDIT;
        }
        return true;
    }
    if (action == ACTION_KEEP) {
        state->requests |= REQUEST_KEEP;
        return true;
    }
    return false;
}
