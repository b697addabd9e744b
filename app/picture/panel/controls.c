// Which controls a panel has and what they show. Their order is the keyboard's.
#include "app/picture/panel/parts.h"
#include "app/state/lengths.h"

#include <stdio.h>

// --- Which ---

static int targets_of(enum panel_target out[PANEL_MAX_CONTROLS], const struct panel_seen *seen) {
    static const struct {
        unsigned flag;
        enum panel_target first, second; // a question comes with its button, or not at all
    } rows[] = {
        {LESSON_SPLIT, TARGET_SPLIT, TARGET_SPLIT_DONE},
        {LESSON_PROMPT, TARGET_PROMPT, TARGET_NONE},
        {LESSON_ANSWER, TARGET_ANSWER, TARGET_NONE},
        {LESSON_COUNTING, TARGET_COUNTING, TARGET_NONE},
    };
    int count = 0;
    if (seen->stage->side == SIDE_PREDICT) {
        out[count++] = TARGET_TTFT;
        out[count++] = TARGET_DECODE;
        out[count++] = TARGET_GUESS_DONE;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int needs = rows[i].second == TARGET_NONE ? 1 : 2;
        if (!(seen->page.shows & rows[i].flag) || count + needs > PANEL_MAX_CONTROLS)
            continue;
        out[count++] = rows[i].first;
        if (needs == 2)
            out[count++] = rows[i].second;
    }
    return count;
}

// --- Lengths ---

// The knob shows the length asked for; a hollow mark shows the run's own while a run of the
// new length is being measured.
static void put_length(struct panel_control *out, const struct panel_seen *seen, int asked,
                       int on_screen, int longest) {
    bool is_chosen = asked > 0;
    int length = is_chosen ? asked : on_screen;
    out->kind = CONTROL_SLIDER;
    out->is_off = !seen->at->can_move;
    out->ppm = length_ppm(length, longest);
    bool is_coming = seen->at->is_measuring || seen->at->is_asked;
    const char *key = is_coming && length != on_screen ? "slider.measuring"
                      : seen->run->info.origin == RUN_MODELLED && length == on_screen
                          ? "slider.modelled"
                          : "slider.tokens";
    PANEL_SAY(out->value, seen, key, "count", figure_count(length, false).text);
    if (length == on_screen)
        return;
    out->mark_ppm = length_ppm(on_screen, longest);
    PANEL_SAY(out->mark_label, seen, "slider.shown", "count", figure_count(on_screen, false).text);
}

static void put_prompt(struct panel_control *out, const struct panel_seen *seen) {
    out->tone = TONE_PREFILL;
    PANEL_SAY(out->label, seen, "slider.prompt");
    put_length(out, seen, seen->stage->prompt_tokens, seen->run->info.prompt_tokens,
               seen->at->longest_prompt);
}

// The answer may still come to its end token, or has ended with it; not one that stopped at its
// limit, as a saved run's may.
static bool is_to_end(const struct run *run) {
    int answers = run_answers_seen(run);
    return run->state == RUN_OPEN || answers == 0 ||
           run->tokens[run->info.prompt_tokens + answers - 1].kind == RUN_CONTROL;
}

// An answer that goes on to its end token has no length of its own yet: the knob shows the
// most tokens that it may have.
static void put_answer(struct panel_control *out, const struct panel_seen *seen) {
    out->tone = TONE_DECODE;
    PANEL_SAY(out->label, seen, "slider.answer");
    put_length(out, seen, seen->stage->answer_tokens, seen->run->info.answer_limit,
               seen->at->longest_answer);
    bool is_fixed = seen->run->info.forced_length || !seen->at->can_move || !is_to_end(seen->run);
    if (seen->stage->answer_tokens <= 0 && seen->run->info.origin != RUN_LESSON && !is_fixed)
        PANEL_SAY(out->value, seen, "slider.to_end");
}

// --- The others ---

static void put_counting(struct panel_control *out, const struct panel_seen *seen) {
    out->kind = CONTROL_SWITCH;
    out->tone = TONE_PREFILL;
    out->ppm = seen->run->info.counting == RUN_CHARGED ? VIEW_PPM : 0;
    PANEL_SAY(out->label, seen, "switch.engine");
    PANEL_SAY(out->value, seen, "switch.lesson");
}

static void put_button(struct panel_control *out, const struct panel_seen *seen, const char *key) {
    out->kind = CONTROL_BUTTON;
    out->tone = TONE_INK;
    PANEL_SAY(out->label, seen, key);
}

static void put_split_done(struct panel_control *out, const struct panel_seen *seen) {
    put_button(out, seen, seen->stage->guess.is_split_set ? "split.again" : "split.button");
}

static void put_guess_done(struct panel_control *out, const struct panel_seen *seen) {
    bool is_set = seen->stage->guess.stage == GUESS_SET;
    put_button(out, seen, is_set ? "predict.again" : "predict.button");
}

// An open question has the arrow keys from the start.
static bool is_focused(const struct panel_seen *seen, int control, enum panel_target target) {
    bool is_asked = seen->stage->side == SIDE_NONE && !seen->stage->guess.is_split_set;
    return control == seen->stage->focus ||
           (seen->stage->focus < 0 && target == TARGET_SPLIT && is_asked);
}

void panel_put_controls(struct panel *out, const struct panel_seen *seen) {
    static void (*const put[])(struct panel_control *, const struct panel_seen *) = {
        [TARGET_PROMPT] = put_prompt,           [TARGET_ANSWER] = put_answer,
        [TARGET_COUNTING] = put_counting,       [TARGET_SPLIT] = panel_split_control,
        [TARGET_SPLIT_DONE] = put_split_done,   [TARGET_TTFT] = panel_ttft_control,
        [TARGET_DECODE] = panel_decode_control, [TARGET_GUESS_DONE] = put_guess_done,
    };
    enum panel_target targets[PANEL_MAX_CONTROLS];
    out->control_count = targets_of(targets, seen);
    for (int i = 0; i < out->control_count; i++) {
        struct panel_control *control = &out->controls[i];
        *control = (struct panel_control){.target = (uint8_t)targets[i],
                                          .is_focused = is_focused(seen, i, targets[i]),
                                          .mark_ppm = -1};
        put[targets[i]](control, seen);
    }
}
