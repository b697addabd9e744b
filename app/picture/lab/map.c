// Who takes the time: every pair of prompt and answer length, coloured by decode's share.
// Modelled from the sweep, cell by cell, and only within the lengths that it measured. So
// "decode always dominates" becomes a question of where.
#include "app/picture/lab/parts.h"

#include <math.h>

enum { COLUMNS = 36, ROWS = 24 };

// Typical uses as examples, not statistics: the label gives their sizes, the caption calls
// them examples.
static const struct {
    const char *name;
    int prompt, answer;
} uses[] = {
    {"chat", 150, 250},     // a question and some turns before it
    {"summary", 3000, 200}, // an article, then a paragraph
    {"agent", 8000, 150},   // instructions, tools and history, then one call
};
enum { USES = sizeof uses / sizeof uses[0] };

static double on_axis(const struct plot_axis *axis, int cell, int cells) {
    return axis->from * pow(axis->to / axis->from, (cell + 0.5) / cells);
}

static void put_axes(struct plot *plot, const struct lab_seen *seen) {
    const struct sweep *sweep = seen->at->sweep;
    double longest_step = sweep->step[sweep->step_count - 1].tokens;
    double longest =
        seen->at->longest_answer > 1 ? fmin(seen->at->longest_answer, longest_step) : longest_step;
    lab_axis(&plot->x, "prompt tokens", PLOT_NUMBER, true);
    lab_axis(&plot->y, "answer tokens", PLOT_NUMBER, true);
    plot->x.from = sweep->prefill[0].tokens;
    plot->x.to = sweep->prefill[sweep->prefill_count - 1].tokens;
    plot->y.from = 1;
    plot->y.to = longest;
}

// False if the sweep has no share for some cell because its times there are zero.
static bool put_cells(struct plot *plot, const struct sweep *sweep) {
    bool is_whole = true;
    for (int row = 0; row < ROWS; row++) {
        int answer = (int)lround(on_axis(&plot->y, row, ROWS));
        for (int column = 0; column < COLUMNS; column++) {
            int prompt = (int)lround(on_axis(&plot->x, column, COLUMNS));
            plot->cells_ppm[row][column] = sweep_decode_ppm(sweep, prompt, answer);
            is_whole = is_whole && plot->cells_ppm[row][column] >= 0;
        }
    }
    plot->columns = is_whole ? COLUMNS : 0;
    plot->rows = is_whole ? ROWS : 0;
    return is_whole;
}

static void put_pins(struct plot *plot) {
    for (int i = 0; i < USES; i++) {
        struct plot_pin pin = {.x = uses[i].prompt, .y = uses[i].answer};
        if (!lab_range_holds(&plot->x, pin.x) || !lab_range_holds(&plot->y, pin.y))
            continue;
        lab_say(pin.label, sizeof pin.label, "%s %s + %s", uses[i].name,
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

static void put_here(struct plot *plot, const struct lab_seen *seen) {
    int prompt = seen->prompt, answer = seen->answer;
    const char *pins = plot->pin_count > 0 ? " The pins are examples." : "";
    size_t bytes = sizeof plot->caption;
    if (prompt < 1 || answer < 1) {
        lab_say(plot->caption, bytes, "The line is where prefill and decode take the same.%s",
                pins);
        return;
    }
    if (!lab_range_holds(&plot->x, prompt) || !lab_range_holds(&plot->y, answer)) {
        lab_say(plot->caption, bytes, "%s + %s lie outside of what was measured.%s",
                figure_count(prompt, true).text, lab_tokens(answer).text, pins);
        return;
    }
    double measured = own_share(seen, prompt, answer);
    int ppm = sweep_decode_ppm(seen->at->sweep, prompt, answer);
    lab_series(plot, PLOT_RING, TONE_INK, "");
    lab_point(plot, prompt, answer);
    if (measured >= 0)
        lab_say(plot->caption, bytes, "Decode takes %s here: measured, %s + %s.%s",
                figure_share(measured).text, figure_count(prompt, true).text,
                lab_tokens(answer).text, pins);
    else if (ppm >= 0)
        lab_say(plot->caption, bytes, "Decode takes %s here: modelled, %s + %s.%s",
                figure_share((double)ppm / VIEW_PPM).text, figure_count(prompt, true).text,
                lab_tokens(answer).text, pins);
}

void lab_put_map(struct plot *plot, const struct lab_seen *seen) {
    const struct sweep *sweep = seen->at->sweep;
    bool has_both = sweep && sweep->prefill_count > 0 && sweep->step_count > 0;
    lab_say(plot->title, sizeof plot->title, "Who takes the time?");
    if (lab_put_missing(plot, seen, has_both))
        return;
    put_axes(plot, seen);
    bool has_span = plot->x.from < plot->x.to && plot->y.from < plot->y.to;
    if (!has_span || !put_cells(plot, sweep)) {
        lab_say(plot->message, sizeof plot->message, "%s",
                seen->at->is_sweeping ? "measuring more lengths" : "too few lengths were measured");
        return;
    }
    lab_say(plot->origin, sizeof plot->origin, "modelled from measured lengths");
    plot->origin_tone = TONE_QUIET;
    put_pins(plot);
    put_here(plot, seen);
}
