// Who takes the time: every pair of prompt and answer length, coloured by decode's share.
// Modelled from the sweep, cell by cell, and only within the lengths that it measured. So
// "decode always dominates" becomes a question of where.
#include "app/picture/lab/parts.h"

#include <math.h>

enum { COLUMNS = 36, ROWS = 24 };

// Typical uses as examples, not statistics: the label gives their sizes, the caption calls
// them examples.
static const struct {
    const char *key;
    int prompt, answer;
} uses[] = {
    {"lab.use_chat", 150, 250},     // a question and some turns before it
    {"lab.use_summary", 3000, 200}, // an article, then a paragraph
    {"lab.use_agent", 8000, 150},   // instructions, tools and history, then one call
};
enum { USES = sizeof uses / sizeof uses[0] };

static double on_axis(const struct plot_axis *axis, int cell, int cells) {
    return axis->from * pow(axis->to / axis->from, (cell + 0.5) / cells);
}

static void put_axes(struct plot *plot, const struct lab_seen *seen) {
    const struct sweep *sweep = seen->sweep;
    double longest_step = sweep->step[sweep->step_count - 1].tokens;
    double longest =
        seen->at->longest_answer > 1 ? fmin(seen->at->longest_answer, longest_step) : longest_step;
    lab_axis(&plot->x, word("lab.prompt_tokens"), PLOT_NUMBER, true);
    lab_axis(&plot->y, word("lab.answer_tokens"), PLOT_NUMBER, true);
    plot->x.from = sweep->prefill[0].tokens;
    plot->x.to = sweep->prefill[sweep->prefill_count - 1].tokens;
    plot->y.from = 1;
    plot->y.to = longest;
}

bool lab_put_cells(struct plot *plot, lab_share_fn *share, const void *context) {
    bool is_whole = true;
    for (int row = 0; row < ROWS; row++) {
        int answer = (int)lround(on_axis(&plot->y, row, ROWS));
        for (int column = 0; column < COLUMNS; column++) {
            int prompt = (int)lround(on_axis(&plot->x, column, COLUMNS));
            double decode = share(context, prompt, answer);
            plot->cells_ppm[row][column] = (int)lround(decode * VIEW_PPM);
            is_whole = is_whole && decode >= 0;
        }
    }
    plot->columns = is_whole ? COLUMNS : 0;
    plot->rows = is_whole ? ROWS : 0;
    return is_whole;
}

// Unknown where the sweep's times are zero.
static double measured_share(const void *sweep, int prompt, int answers) {
    return (double)sweep_decode_ppm(sweep, prompt, answers) / VIEW_PPM;
}

static void put_pins(struct plot *plot) {
    for (int i = 0; i < USES; i++) {
        struct plot_pin pin = {.x = uses[i].prompt, .y = uses[i].answer};
        if (!lab_range_holds(&plot->x, pin.x) || !lab_range_holds(&plot->y, pin.y))
            continue;
        snprintf(pin.label, sizeof pin.label, "%s %s + %s", word(uses[i].key),
                 figure_count(uses[i].prompt, true).text, figure_count(uses[i].answer, true).text);
        plot_add_pin(plot, &pin);
    }
}

// The run's own decode share if it has these lengths, else -1: measured beats modelled.
static double own_share(const struct lab_seen *seen, int prompt, int answer) {
    const struct run *run = seen->at->run;
    if (!lab_is_warm(run) || run->state != RUN_COMPLETE || run->info.prompt_tokens != prompt ||
        run_answers_seen(run) != answer || run_e2e_ns(run) <= 0)
        return -1;
    return (double)run_decode_ns(run) / (double)run_e2e_ns(run);
}

static void say_here(struct plot *plot, const char *key, const struct lab_seen *seen,
                     double share) {
    char text[sizeof plot->caption];
    WORDS_SAY(text, key, "share", figure_share(share).text, "prompt",
              figure_count(seen->prompt, true).text, "answer",
              figure_count(seen->answer, true).text);
    if (plot->pin_count > 0)
        WORDS_SAY(plot->caption, "lab.map_pins", "caption", text);
    else
        lab_put(plot->caption, sizeof plot->caption, text);
}

static void put_here(struct plot *plot, const struct lab_seen *seen) {
    int prompt = seen->prompt, answer = seen->answer;
    if (prompt < 1 || answer < 1) {
        say_here(plot, "lab.map_line", seen, 0);
        return;
    }
    if (!lab_range_holds(&plot->x, prompt) || !lab_range_holds(&plot->y, answer)) {
        say_here(plot, "lab.map_outside", seen, 0);
        return;
    }
    double measured = own_share(seen, prompt, answer);
    int ppm = sweep_decode_ppm(seen->sweep, prompt, answer);
    lab_series(plot, PLOT_RING, TONE_INK, "");
    lab_point(plot, prompt, answer);
    if (measured >= 0)
        say_here(plot, "lab.map_measured", seen, measured);
    else if (ppm >= 0)
        say_here(plot, "lab.map_modelled", seen, (double)ppm / VIEW_PPM);
}

void lab_put_map(struct plot *plot, const struct lab_seen *seen) {
    const struct sweep *sweep = seen->sweep;
    bool has_both = sweep && sweep->prefill_count > 0 && sweep->step_count > 0;
    WORDS_SAY(plot->title, "lab.map_title");
    if (lab_is_lesson(seen->at->run)) {
        lab_put_rule_map(plot, seen);
        return;
    }
    if (lab_put_missing(plot, seen, has_both))
        return;
    put_axes(plot, seen);
    bool has_span = plot->x.from < plot->x.to && plot->y.from < plot->y.to;
    if (!has_span || !lab_put_cells(plot, measured_share, sweep)) {
        WORDS_SAY(plot->message, seen->at->is_sweeping ? "lab.map_measuring" : "lab.map_few");
        return;
    }
    WORDS_SAY(plot->origin, "lab.map_origin");
    plot->origin_tone = TONE_QUIET;
    put_pins(plot);
    put_here(plot, seen);
}
