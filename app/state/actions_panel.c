// What is open beside the stage, where the keyboard's focus is, and what the focus moves:
// lengths, the counting, the guesses. A mouse sets the same targets by ppm of their way,
// so keyboard and mouse cannot disagree.
#include "app/state/actions_parts.h"
#include "app/state/lengths.h"
#include "compute/base/num.h"

enum { NUDGE_PPM = 10000 }; // of a guess: 1 %

// --- Lengths ---

static bool has_lengths(const struct stage_state *state, const struct actions_context *context) {
    return state->clock == CLOCK_LESSON ? context->can_schedule
                                        : context->can_measure || context->can_model;
}

static int prompt_of(const struct stage_state *state, const struct actions_context *context) {
    return state->prompt_tokens ? state->prompt_tokens : context->run->info.prompt_tokens;
}

static void ask_for_lengths(struct stage_state *state) {
    state->requests |= REQUEST_MEASURE;
    stage_toast(state, TOAST_LENGTHS);
}

void action_prompt(struct stage_state *state, const struct actions_context *context,
                   int direction) {
    if (!has_lengths(state, context)) {
        stage_toast(state, TOAST_NO_LENGTHS);
        return;
    }
    state->prompt_tokens =
        length_step(prompt_of(state, context), direction, context->longest_prompt);
    ask_for_lengths(state);
}

// Below one token the answer runs to its end token again.
void action_answer(struct stage_state *state, const struct actions_context *context,
                   int direction) {
    if (!has_lengths(state, context)) {
        stage_toast(state, TOAST_NO_LENGTHS);
        return;
    }
    int tokens = state->answer_tokens;
    bool is_lowest = tokens + direction <= 1; // 0 and 1 have no rung between them
    state->answer_tokens = is_lowest ? max_int(tokens + direction, 0)
                                     : length_step(tokens, direction, context->longest_answer);
    ask_for_lengths(state);
}

// --- Targets ---

// The slider may still move: the new length is measured once it rests.
static void set_length(struct stage_state *state, int *wish, int tokens) {
    if (*wish != tokens)
        state->requests |= REQUEST_MEASURE_SOON;
    *wish = tokens;
}

static void set_counting(struct stage_state *state, enum run_counting counting) {
    if (state->counting[state->clock] == counting)
        return;
    state->counting[state->clock] = counting;
    stage_toast(state, TOAST_COUNTING);
}

void action_counting(struct stage_state *state, const struct actions_context *context, int which) {
    (void)context, (void)which;
    set_counting(state, state->counting[state->clock] == RUN_ENGINE ? RUN_CHARGED : RUN_ENGINE);
}

bool stage_is_guessing(const struct stage_state *state) {
    return state->side == SIDE_PREDICT &&
           (state->guess.stage == GUESS_TTFT || state->guess.stage == GUESS_DECODE);
}

static bool is_length(enum panel_target target) {
    return target == TARGET_PROMPT || target == TARGET_ANSWER;
}

// The share that a guess's knob sets; NULL: the target is no guess, or it is given already.
static int *guess_ppm(struct stage_state *state, enum panel_target target) {
    struct guess *guess = &state->guess;
    if (target == TARGET_SPLIT || target == TARGET_SPLIT_DONE)
        return guess->is_split_set ? NULL : &guess->split_ppm;
    if (!stage_is_guessing(state))
        return NULL;
    return target == TARGET_TTFT     ? &guess->ttft_ppm
           : target == TARGET_DECODE ? &guess->decode_ppm
                                     : NULL;
}

struct stage_state actions_set(struct stage_state state, enum panel_target target, int ppm,
                               const struct actions_context *context) {
    int *guess = guess_ppm(&state, target);
    ppm = clamp_ppm(ppm);
    if (is_length(target) && !has_lengths(&state, context))
        stage_toast(&state, TOAST_NO_LENGTHS);
    else if (target == TARGET_PROMPT)
        set_length(&state, &state.prompt_tokens, length_of_ppm(ppm, context->longest_prompt));
    else if (target == TARGET_ANSWER)
        set_length(&state, &state.answer_tokens, length_of_ppm(ppm, context->longest_answer));
    else if (target == TARGET_COUNTING)
        set_counting(&state, ppm < WHOLE_PPM / 2 ? RUN_ENGINE : RUN_CHARGED);
    else if (guess)
        *guess = ppm;
    return state;
}

void action_nudge(struct stage_state *state, const struct actions_context *context, int direction) {
    enum panel_target target = context->target;
    int *guess = guess_ppm(state, target);
    int answer = state->answer_tokens ? state->answer_tokens : run_answers_seen(context->run);
    if (is_length(target) && !has_lengths(state, context))
        stage_toast(state, TOAST_NO_LENGTHS);
    else if (target == TARGET_PROMPT)
        set_length(state, &state->prompt_tokens,
                   length_step(prompt_of(state, context), direction, context->longest_prompt));
    else if (target == TARGET_ANSWER)
        set_length(state, &state->answer_tokens,
                   length_step(answer, direction, context->longest_answer));
    else if (target == TARGET_COUNTING)
        set_counting(state, direction < 0 ? RUN_ENGINE : RUN_CHARGED);
    else if (guess)
        *guess = clamp_ppm(*guess + direction * NUDGE_PPM);
}

// --- Predict first ---

// The next guess, or with both set the run.
static void guess_on(struct stage_state *state, const struct actions_context *context) {
    if (state->guess.stage == GUESS_TTFT && context->target != TARGET_GUESS_DONE) {
        state->guess.stage = GUESS_DECODE;
        state->focus = 1;
        return;
    }
    state->guess.stage = GUESS_SET;
    state->focus = -1;
    stage_restart(state, context->wall_ns);
}

static void predict(struct stage_state *state, const struct actions_context *context) {
    state->guess = guess_new();
    state->guess.stage = GUESS_TTFT;
    state->side = SIDE_PREDICT;
    state->focus = 0;
    stage_stop_at(state, context->wall_ns, state->playhead.first_ns);
}

// --- Focus ---

// The line of the list in focus; before any was chosen, of the log what happened last (-1:
// nothing yet).
static int line_of(const struct stage_state *state, const struct actions_context *context) {
    if (state->list_focus >= 0)
        return state->list_focus;
    int64_t now_ns = playhead_at(&state->playhead, context->wall_ns);
    return state->side == SIDE_LOG ? run_event_at(context->run, now_ns) : 0;
}

void action_enter(struct stage_state *state, const struct actions_context *context, int which) {
    (void)which;
    if (stage_is_guessing(state)) {
        guess_on(state, context);
    } else if (state->side == SIDE_LOG) {
        int line = line_of(state, context);
        if (line >= 0 && line < run_events(context->run))
            stage_stop_at(state, context->wall_ns, run_event_ns(context->run, line));
    } else if (state->side == SIDE_MODELS) {
        state->list_focus = line_of(state, context);
        state->requests |= REQUEST_OPEN;
    } else if (context->target == TARGET_GUESS_DONE) {
        predict(state, context); // again
    } else if (context->target == TARGET_COUNTING) {
        action_counting(state, context, 0);
    } else if (context->target == TARGET_SPLIT_DONE || context->target == TARGET_SPLIT) {
        // The arrows step on from an answer; the button opens the question again.
        state->guess.is_split_set = context->target == TARGET_SPLIT || !state->guess.is_split_set;
        state->focus = -1;
    }
}

void action_focus(struct stage_state *state, const struct actions_context *context, int direction) {
    if (context->line_count > 0) {
        state->list_focus =
            clamp_int(line_of(state, context) + direction, 0, context->line_count - 1);
        return;
    }
    bool is_guessing = stage_is_guessing(state);
    int least = is_guessing || context->has_question ? 0 : -1;
    state->focus =
        clamp_int(max_int(state->focus, least) + direction, least, context->control_count - 1);
    if (is_guessing && state->focus < 2)
        state->guess.stage = state->focus == 0 ? GUESS_TTFT : GUESS_DECODE;
}

void action_scroll(struct stage_state *state, const struct actions_context *context, int lines) {
    state->scroll = clamp_int(state->scroll + lines, 0, context->scroll_most);
}

// --- What is open ---

void stage_close_side(struct stage_state *state) {
    if (stage_is_guessing(state))
        state->guess.stage = GUESS_OFF;
    state->side = SIDE_NONE;
    state->focus = -1;
    state->scroll = 0;
}

static void open_side(struct stage_state *state, enum side side,
                      const struct actions_context *context) {
    stage_close_side(state);
    if (state->mode == MODE_LAB)
        state->mode = MODE_STAGE; // Lab has no panel
    state->side = side;
    state->list_focus = side == SIDE_GLOSSARY ? context->first_term : -1;
    if (side == SIDE_PREDICT)
        predict(state, context);
    if (side == SIDE_PROMPT)
        state->requests |= REQUEST_EDIT;
    if (side == SIDE_MODELS)
        state->requests |= REQUEST_MODELS;
}

void action_side(struct stage_state *state, const struct actions_context *context, int side) {
    if (state->side == (enum side)side)
        stage_close_side(state);
    else if (!context->lesson)
        stage_toast(state, TOAST_NO_LESSON);
    else if (side == SIDE_PROMPT && !context->can_measure)
        stage_toast(state, TOAST_NO_PROMPT);
    else
        open_side(state, (enum side)side, context);
}
