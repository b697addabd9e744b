// See sample_lab.h.
#include "tests/render/data/sample_lab.h"

#include <math.h>
#include <stdio.h>

static const double FLOOR_NS = 4e5, TOKEN_NS = 4e3, STEP_NS = 9e5, STEP_TOKEN_NS = 350;

static double prefill_ns(double tokens) {
    double work = TOKEN_NS * tokens;
    return pow(pow(FLOOR_NS, 4) + pow(work, 4), 0.25);
}

static double decode_ns(double prompt, double answer) {
    return (answer - 1) * (STEP_NS + STEP_TOKEN_NS * (prompt + answer / 2));
}

static void point(struct plot *plot, double x, double y, double spread) {
    plot_add_point(plot, (struct plot_point){x, y, y * (1 - spread), y * (1 + 2 * spread)});
}

static void knee(struct plot *plot, int prompt_tokens) {
    snprintf(plot->title, sizeof plot->title, "Does a longer prompt cost more?");
    snprintf(plot->origin, sizeof plot->origin, "measured here");
    plot->origin_tone = TONE_READ;
    snprintf(plot->caption, sizeof plot->caption,
             "Up to some 100 tokens the pass costs the same; from there on, each token adds "
             "4.0 \xC2\xB5s \xC2\xB1 3 %%.");
    plot->x = (struct plot_axis){"prompt tokens", 1, 1024, true, PLOT_NUMBER};
    plot->y = (struct plot_axis){"prefill time", 0, 4.6e6, false, PLOT_TIME};
    plot_add_series(
        plot, &(struct plot_series){PLOT_DOTTED, TONE_QUIET, 0, 0, "lesson 1: every token costs"});
    point(plot, 1, TOKEN_NS * 1.1, 0);
    point(plot, 1024, TOKEN_NS * 1.1 * 1024, 0);
    plot_add_series(plot, &(struct plot_series){PLOT_DASHES, TONE_QUIET, 0, 0,
                                                "lesson 2: one pass, so it stays fast"});
    point(plot, 1, FLOOR_NS, 0);
    point(plot, 1024, FLOOR_NS, 0);
    plot_add_series(plot, &(struct plot_series){PLOT_DOTS, TONE_PREFILL, 0, 0, "measured"});
    for (int tokens = 1, i = 0; tokens <= 1024; tokens *= 2, i++)
        point(plot, tokens, prefill_ns(tokens) * (1 + 0.04 * ((i * 7) % 3 - 1)), 0.03);
    plot_add_series(plot, &(struct plot_series){PLOT_RING, TONE_INK, 0, 0, "now"});
    point(plot, prompt_tokens, prefill_ns(prompt_tokens), 0);
}

static void roof(struct plot *plot) {
    snprintf(plot->title, sizeof plot->title, "Why: work per byte moved");
    snprintf(plot->origin, sizeof plot->origin, "measured roofs");
    plot->origin_tone = TONE_READ;
    snprintf(plot->caption, sizeof plot->caption,
             "Decode reads every weight for one token: memory holds it back. Prefill shares "
             "each read among all tokens.");
    plot->x = (struct plot_axis){"FLOP per byte", 0.25, 512, true, PLOT_INTENSITY};
    plot->y = (struct plot_axis){"rate", 5e9, 1e12, true, PLOT_FLOP_RATE};
    plot_add_series(plot, &(struct plot_series){PLOT_LINE, TONE_QUIET, 0, 0, "the roof"});
    point(plot, 0.25, 6e9, 0);
    point(plot, 400e9 / 24e9, 400e9, 0);
    point(plot, 512, 400e9, 0);
    plot_add_series(plot, &(struct plot_series){PLOT_DOTS, TONE_PREFILL, 0, 0,
                                                "prefill: limited by arithmetic"});
    point(plot, 90, 310e9, 0);
    plot_add_series(
        plot, &(struct plot_series){PLOT_SQUARE, TONE_DECODE, 0, 0, "decode: waits on memory"});
    point(plot, 1, 20e9, 0);
}

static void steps(struct plot *plot, int context) {
    snprintf(plot->title, sizeof plot->title, "Does a step cost more later on?");
    snprintf(plot->origin, sizeof plot->origin, "measured here");
    plot->origin_tone = TONE_READ;
    snprintf(plot->caption, sizeof plot->caption,
             "Each 100 tokens of context add 35 \xC2\xB5s \xC2\xB1 4 to a step.");
    plot->x = (struct plot_axis){"context tokens", 0, 1024, false, PLOT_NUMBER};
    plot->y = (struct plot_axis){"step time", 0, 1.6e6, false, PLOT_TIME};
    plot_add_series(plot, &(struct plot_series){PLOT_DASHES, TONE_QUIET, 0, 0, "fit"});
    point(plot, 0, STEP_NS, 0);
    point(plot, 1024, STEP_NS + 1024 * STEP_TOKEN_NS, 0);
    plot_add_series(plot, &(struct plot_series){PLOT_DOTS, TONE_DECODE, 0, 0, "measured steps"});
    for (int i = 0; i <= 8; i++)
        point(plot, i * 125 + 12,
              (STEP_NS + (i * 125 + 12) * STEP_TOKEN_NS) * (1 + 0.02 * (i % 3 - 1)), 0.03);
    plot_add_series(plot, &(struct plot_series){PLOT_RING, TONE_INK, 0, 0, "now"});
    point(plot, context, STEP_NS + context * STEP_TOKEN_NS, 0);
}

static void map(struct plot *plot, int prompt_tokens, int answer_tokens) {
    static const struct plot_pin PINS[] = {
        {60, 90, "chat"}, {700, 40, "summary"}, {500, 12, "agent"}};
    snprintf(plot->title, sizeof plot->title, "Who takes the time?");
    snprintf(plot->origin, sizeof plot->origin, "modelled");
    plot->origin_tone = TONE_INK;
    snprintf(plot->caption, sizeof plot->caption,
             "On this device decode takes more than half of nearly every answer.");
    plot->x = (struct plot_axis){"prompt tokens", 1, 4096, true, PLOT_NUMBER};
    plot->y = (struct plot_axis){"answer tokens", 1, 256, true, PLOT_NUMBER};
    plot->columns = 32;
    plot->rows = 20;
    for (int row = 0; row < plot->rows; row++)
        for (int column = 0; column < plot->columns; column++) {
            double prompt = plot_value(&plot->x, (column + 0.5) / plot->columns);
            double answer = plot_value(&plot->y, (row + 0.5) / plot->rows);
            double decode = decode_ns(prompt, answer), prefill = prefill_ns(prompt);
            plot->cells_ppm[row][column] = (int)(VIEW_PPM * decode / (decode + prefill));
        }
    for (int i = 0; i < 3; i++)
        plot_add_pin(plot, &PINS[i]);
    plot_add_series(plot, &(struct plot_series){PLOT_RING, TONE_INK, 0, 0, "now"});
    point(plot, prompt_tokens, answer_tokens, 0);
}

static void lane(struct lab_lane *lane, double prefill, double decode, int steps_count,
                 double scale) {
    lane->span_count = 0;
    double at = 0;
    for (int i = 0; i <= steps_count && i < LAB_MAX_SPANS; i++) {
        double end = i == 0 ? prefill : at + decode / steps_count;
        lane->spans[lane->span_count++] = (struct view_span){
            (int)(at / scale * VIEW_PPM), (int)(end / scale * VIEW_PPM), i == 0, 0};
        at = end;
    }
}

static void control(struct panel_control *control, const char *label, uint8_t tone, int tokens,
                    double most) {
    *control = (struct panel_control){.kind = CONTROL_SLIDER, .tone = tone, .mark_ppm = -1};
    control->ppm = (int)(VIEW_PPM * log(tokens) / log(most));
    snprintf(control->label, sizeof control->label, "%s", label);
    snprintf(control->value, sizeof control->value, "%d tokens", tokens);
}

void sample_lab(struct lab *lab, const struct sample_lab *sample) {
    lab_clear(lab);
    int prompt = sample->prompt_tokens, answer = sample->answer_tokens;
    double prefill = prefill_ns(prompt), decode = decode_ns(prompt, answer);
    double scale = 1.05 * (prefill + decode) * (sample->lanes > 1 ? 1.5 : 1);
    lab->lane_count = sample->lanes;
    lane(&lab->lanes[0], prefill, decode, answer - 1, scale);
    snprintf(lab->lanes[0].label, sizeof lab->lanes[0].label, "The clock");
    snprintf(lab->lanes[0].value, sizeof lab->lanes[0].value,
             "prefill %.2f ms \xC2\xB7 decode %.1f ms", prefill / 1e6, decode / 1e6);
    if (sample->lanes > 1) {
        lane(&lab->lanes[1], 1.8 * prefill, 1.5 * decode, answer - 1, scale);
        snprintf(lab->lanes[1].label, sizeof lab->lanes[1].label,
                 "kept: CPU, 2 threads \xC2\xB7 bundled model");
        snprintf(lab->lanes[1].value, sizeof lab->lanes[1].value,
                 "prefill %.2f ms \xC2\xB7 decode %.1f ms", 1.8 * prefill / 1e6,
                 1.5 * decode / 1e6);
    }
    lab->playhead_ppm = sample->playhead_ppm;
    snprintf(lab->scale_label, sizeof lab->scale_label, "%.0f ms", scale / 1e6);
    snprintf(lab->clock_note, sizeof lab->clock_note, "%.2f ms + %d \xC3\x97 %.2f ms",
             prefill / 1e6, answer - 1, answer > 1 ? decode / 1e6 / (answer - 1) : 0);
    lab->control_count = 2;
    control(&lab->controls[0], "Prompt length", TONE_PREFILL, prompt, 1024);
    control(&lab->controls[1], "Answer length", TONE_DECODE, answer, 256);
    lab->controls[0].is_focused = true;
    lab->page = sample->page;
    lab->pages = 3;
    if (sample->page == 0) {
        knee(&lab->plots[0], prompt);
        roof(&lab->plots[1]);
    } else if (sample->page == 1) {
        steps(&lab->plots[0], prompt + answer / 2);
        map(&lab->plots[1], prompt, answer);
    } else {
        snprintf(lab->plots[0].title, sizeof lab->plots[0].title, "With and without a cache");
        snprintf(lab->plots[0].message, sizeof lab->plots[0].message,
                 "measuring the same answer without its KV cache");
        snprintf(lab->plots[1].title, sizeof lab->plots[1].title, "Two runs");
        snprintf(lab->plots[1].message, sizeof lab->plots[1].message,
                 "Press K to keep this run and compare the next one with it.");
    }
}
