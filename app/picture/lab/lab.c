// See lab.h. Picks the page and fills the two sliders; lanes.c fills the clock, each other
// file its plots. Only plots of the page shown are filled: the map alone asks the sweep
// almost a thousand times.
#include "app/picture/lab/lab.h"

#include "app/picture/lab/parts.h"
#include "app/state/lengths.h"
#include "compute/base/num.h"

// Marks the length of the run on the screen if it differs from the length asked for: the
// run of that length has not arrived yet.
static void put_mark(struct panel_control *control, int shown, int length, int longest,
                     const char *key) {
    control->mark_ppm = -1;
    if (shown < 1 || shown == length)
        return;
    control->mark_ppm = length_ppm(shown < longest ? shown : longest, longest);
    WORDS_SAY(control->mark_label, key, "count", figure_count(shown, true).text);
}

static void put_slider(struct panel_control *control, int length, int longest) {
    control->kind = CONTROL_SLIDER;
    lab_put(control->value, sizeof control->value,
            length > 0 ? lab_tokens(length).text : SIGN_DASH);
    if (longest < 1)
        return;
    int shown = length < longest ? length : longest;
    control->ppm = shown > 0 ? length_ppm(shown, longest) : 0;
}

static void put_sliders(struct lab *lab, const struct lab_seen *seen, int focus) {
    const struct run *run = seen->at->run;
    int shown_prompt = run ? run->info.prompt_tokens : 0;
    int shown_answer = run && run->state != RUN_OPEN ? run_answers_seen(run) : 0;
    // A lesson's rule gives runs of any length.
    bool can_move = lab_is_lesson(run) || seen->at->can_move;
    const char *mark = lab_is_measured(run) ? "lab.mark_measured" : "lab.mark_shown";
    struct panel_control *prompt = &lab->controls[0], *answer = &lab->controls[1];
    *prompt = (struct panel_control){
        .target = TARGET_PROMPT, .tone = TONE_PREFILL, .is_focused = focus == 0};
    *answer = (struct panel_control){
        .target = TARGET_ANSWER, .tone = TONE_DECODE, .is_focused = focus == 1};
    WORDS_SAY(prompt->label, "lab.prompt_length");
    WORDS_SAY(answer->label, "lab.answer_length");
    put_slider(prompt, seen->prompt, seen->at->longest_prompt);
    put_slider(answer, seen->answer, seen->at->longest_answer);
    put_mark(prompt, shown_prompt, seen->prompt, seen->at->longest_prompt, mark);
    put_mark(answer, shown_answer, seen->answer, seen->at->longest_answer, mark);
    prompt->is_off = !can_move || seen->at->longest_prompt < 2;
    answer->is_off = !can_move || seen->at->longest_answer < 2;
    lab->control_count = 2;
}

void lab_fill(struct lab *out, const struct at_hand *at, const struct stage_state *stage) {
    static void (*const pages[LAB_PAGES][LAB_PLOTS])(struct plot *, const struct lab_seen *) = {
        {lab_put_knee, lab_put_roofs},
        {lab_put_step, lab_put_map},
        {lab_put_cache, lab_put_pair},
    };
    const struct run *run = at->run;
    struct sweep clean;
    if (at->sweep)
        sweep_clean(&clean, at->sweep);
    struct lab_seen seen = {
        .at = at,
        .sweep = at->sweep ? &clean : NULL,
        .asked_prompt = stage->prompt_tokens,
        .asked_answer = stage->answer_tokens,
        .prompt = run ? run->info.prompt_tokens : 0,
        .answer = run ? lab_answers(run, at->t_ns) : 0,
    };
    if (seen.asked_prompt > 0)
        seen.prompt = seen.asked_prompt;
    if (seen.asked_answer > 0)
        seen.answer = seen.asked_answer;
    lab_clear(out);
    out->page = clamp_int(stage->page, 0, LAB_PAGES - 1);
    out->pages = LAB_PAGES;
    lab_put_lanes(out, &seen);
    put_sliders(out, &seen, stage->focus);
    for (int i = 0; i < LAB_PLOTS; i++)
        pages[out->page][i](&out->plots[i], &seen);
}
