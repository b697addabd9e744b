// See lab.h. This file turns the page and fills what stands under the hand: the two
// sliders. The clock is lab_lanes.c, the plots lab_knee.c, lab_roofs.c, lab_step.c,
// lab_map.c and lab_tokens.c; only those of the page shown are filled, since the map
// alone asks the sweep a thousand times.
#include "app/picture/lab/lab.h"

#include "app/picture/lab/parts.h"
#include "app/picture/panel/panel.h"

static bool has_points(const struct sweep *sweep) {
    return sweep && sweep->prefill_count > 0 && sweep->step_count > 0;
}

// Where the run on the screen stands, if it is not where the hand is: a new one is on
// its way.
static void put_mark(struct panel_control *control, int shown, int length, int longest,
                     const char *word) {
    control->mark_ppm = -1;
    if (shown < 1 || shown == length)
        return;
    control->mark_ppm = panel_ppm_of(shown < longest ? shown : longest, longest);
    lab_say(control->mark_label, sizeof control->mark_label, "%s: %s", word, lab_count(shown).text);
}

static void put_slider(struct panel_control *control, int length, int longest) {
    control->kind = CONTROL_SLIDER;
    lab_say(control->value, sizeof control->value, "%s",
            length > 0 ? lab_tokens(length).text : "\xE2\x80\x94");
    if (longest < 1)
        return;
    int shown = length < longest ? length : longest;
    control->ppm = shown > 0 ? panel_ppm_of(shown, longest) : 0;
}

static void put_sliders(struct lab *lab, const struct lab_source *source) {
    const struct run *run = source->run;
    int shown_prompt = run ? run->info.prompt_tokens : 0;
    int shown_answer = run && run->state != RUN_OPEN ? run_answers_seen(run) : 0;
    // A lesson's rule has an answer for any lengths.
    bool has_rule = lab_is_lesson(run) || !source->is_modelled || has_points(source->sweep);
    const char *word = lab_is_measured(run) ? "measured" : "shown";
    struct panel_control *prompt = &lab->controls[0], *answer = &lab->controls[1];
    *prompt = (struct panel_control){.tone = TONE_PREFILL, .is_focused = source->focus == 0};
    *answer = (struct panel_control){.tone = TONE_DECODE, .is_focused = source->focus == 1};
    lab_say(prompt->label, sizeof prompt->label, "Prompt length");
    lab_say(answer->label, sizeof answer->label, "Answer length");
    put_slider(prompt, lab_prompt(source), source->longest_prompt);
    put_slider(answer, lab_answer(source), source->longest_answer);
    put_mark(prompt, shown_prompt, lab_prompt(source), source->longest_prompt, word);
    put_mark(answer, shown_answer, lab_answer(source), source->longest_answer, word);
    prompt->is_off = !has_rule || source->longest_prompt < 2;
    answer->is_off = !has_rule || source->longest_answer < 2;
    lab->control_count = 2;
}

typedef void put_plot_fn(struct plot *plot, const struct lab_source *source);

void lab_fill(struct lab *out, const struct lab_source *source) {
    static put_plot_fn *const pages[LAB_PAGES][LAB_PLOTS] = {
        {lab_put_knee, lab_put_roofs},
        {lab_put_step, lab_put_map},
        {lab_put_cache, lab_put_pair},
    };
    lab_clear(out);
    out->page = source->page < 0 ? 0 : source->page >= LAB_PAGES ? LAB_PAGES - 1 : source->page;
    out->pages = LAB_PAGES;
    out->plot_focus =
        source->plot_focus >= 0 && source->plot_focus < LAB_PLOTS ? source->plot_focus : -1;
    lab_put_lanes(out, source);
    put_sliders(out, source);
    for (int i = 0; i < LAB_PLOTS; i++)
        pages[out->page][i](&out->plots[i], source);
}
