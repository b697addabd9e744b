// Lab mode judged by its commands: nothing outside its place, no text on another, on a
// dot or on a line, however full the plots are; the line at the half where the field
// has it; texts that can be read on their ground; and the mouse finds what is drawn.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/paint/lab/lab.h"
#include "render/paint/lab/parts.h"
#include "render/pixel/stroke.h"
#include "tests/render/data/sample_lab.h"
#include "tests/render/data/sample_view.h"
#include "tests/render/render_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct view view;
static struct cmdlist list, other;
static struct layout layout;
static struct lab_layout places;
static struct lab lab;
static enum theme_id theme;
static char where[128];

static const int SIZES[][2] = {
    {640, 480},   {800, 600},   {1024, 768}, {1280, 720},  {1280, 800},
    {1920, 1080}, {3840, 2160}, {2560, 720}, {1080, 1920}, {1000, 1000},
};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0], BLOCK = 12, PICTURES = 2 * SIZE_COUNT * BLOCK };

static struct paint paint_now(void) {
    return (struct paint){&view, &layout, theme_find(theme), text};
}

static void lay_out(int width_px, int height_px, int step, int lanes) {
    struct sample sample = {
        .layers = 8, .prompt_tokens = 18, .answer_limit = 7, .answers = 7, .is_complete = true};
    sample_view(&view, &sample);
    struct layout_input in = sample_input(&sample, width_px, height_px, LAYOUT_STAGE);
    in.text_step = step;
    assert_true(layout_make(&layout, &in));
    layout_lab_make(&places, &layout, lanes);
}

static void paint_into(struct cmdlist *out) {
    struct paint paint = paint_now();
    cmdlist_clear(out);
    paint_lab(out, &paint, &lab, &places);
}

// --- full plots ---

static double random_on(const struct plot_axis *axis) {
    return plot_value(axis, random_between(-200000, 1200000) / 1e6); // some lie outside
}

static struct plot_axis random_axis(const char *label) {
    struct plot_axis axis = {.is_log = random_between(0, 1),
                             .unit = (uint8_t)random_between(PLOT_NUMBER, PLOT_INTENSITY)};
    snprintf(axis.label, sizeof axis.label, "%s", label);
    double size = pow(10, random_between(-1, 12));
    axis.from = axis.is_log || random_between(0, 1) ? size : 0;
    axis.to = axis.from + size * pow(10, random_between(0, 4));
    return axis;
}

static void random_plot(struct plot *plot) {
    static const char *const LABELS[] = {"", "now", "measured", "lesson 1: every token costs",
                                         "a label that is a good deal longer than the others"};
    plot_clear(plot);
    snprintf(plot->title, sizeof plot->title, "%s",
             random_between(0, 1) ? "Why: work per byte moved"
                                  : "A title that hardly fits into a plot of a small window");
    snprintf(plot->origin, sizeof plot->origin, "%s",
             random_between(0, 2) ? "measured here" : "modelled from points of another device");
    plot->origin_tone = (uint8_t)random_between(TONE_INK, TONE_READ);
    if (random_between(0, 3))
        snprintf(
            plot->caption, sizeof plot->caption, "%.*s", random_between(0, 190),
            "A caption with up to one hundred and ninety signs that says what the plot says "
            "here and now, for this device and these lengths, and that is cut when it finds no "
            "room even when it is set small.");
    plot->x = random_axis("prompt tokens");
    plot->y = random_axis(random_between(0, 2) ? "prefill time" : "");
    if (random_between(0, 2) == 0) {
        plot->columns = random_between(1, PLOT_MAX_COLUMNS);
        plot->rows = random_between(1, PLOT_MAX_ROWS);
        bool is_noise = random_between(0, 2) == 0;
        for (int row = 0; row < plot->rows; row++)
            for (int column = 0; column < plot->columns; column++)
                plot->cells_ppm[row][column] =
                    is_noise
                        ? random_between(0, VIEW_PPM)
                        : (int)((int64_t)VIEW_PPM * (row + column) / (plot->rows + plot->columns));
    }
    int series_count = random_between(0, PLOT_MAX_SERIES);
    for (int i = 0; i < series_count; i++) {
        struct plot_series series = {.look = (uint8_t)random_between(PLOT_DOTS, PLOT_SQUARE),
                                     .tone = (uint8_t)random_between(TONE_INK, TONE_READ)};
        snprintf(series.label, sizeof series.label, "%s", LABELS[random_between(0, 4)]);
        plot_add_series(plot, &series);
        int count = random_between(0, 2) ? random_between(0, 6) : random_between(0, 40);
        for (int k = 0; k < count; k++) {
            double x = random_on(&plot->x), y = random_on(&plot->y);
            bool has_spread = random_between(0, 1);
            plot_add_point(plot, (struct plot_point){x, y, has_spread ? y * 0.8 : y,
                                                     has_spread ? y * 1.3 : y});
        }
    }
    for (int i = random_between(0, 4); i > 0; i--)
        plot_add_pin(plot, &(struct plot_pin){random_on(&plot->x), random_on(&plot->y), "summary"});
    if (random_between(0, 7) == 0)
        snprintf(plot->message, sizeof plot->message,
                 "measuring prompts of 1, 2, 4 and more tokens; this takes some seconds");
}

static void disturb_clock(void) {
    if (random_between(0, 2) == 0)
        snprintf(lab.lanes[0].label, sizeof lab.lanes[0].label,
                 "kept: NVIDIA H200 \xC2\xB7 a-model-with-a-long-name-8b, synthetic weights, warm");
    if (random_between(0, 2) == 0)
        snprintf(lab.lanes[0].value, sizeof lab.lanes[0].value,
                 "TTFT 1234.56 ms \xC2\xB7 decode 12345.67 ms \xC2\xB7 total 2.1 min");
    if (random_between(0, 2) == 0)
        snprintf(lab.clock_note, sizeof lab.clock_note,
                 "measuring this length; what is shown is the run before it, until then");
    if (random_between(0, 3) == 0)
        snprintf(lab.controls[1].value, sizeof lab.controls[1].value, "1,048,576 tokens");
    lab.controls[0].mark_ppm = random_between(-1, VIEW_PPM);
    lab.controls[1].is_off = random_between(0, 1);
}

// Pictures come in blocks of one size and type, so that few fonts are opened.
static void random_picture(int round) {
    static int step;
    const int *size = SIZES[round / BLOCK % SIZE_COUNT];
    if (round % BLOCK == 0)
        step = random_between(0, 2) ? 0 : random_between(-4, 8);
    struct sample_lab sample = {random_between(0, 2), random_between(1, 2), random_between(1, 1024),
                                random_between(1, 256), random_between(0, VIEW_PPM)};
    lay_out(size[0], size[1], step, sample.lanes);
    sample_lab(&lab, &sample);
    disturb_clock();
    for (int i = 0; i < LAB_PLOTS; i++)
        if (random_between(0, 2))
            random_plot(&lab.plots[i]);
    theme = (enum theme_id)random_between(0, THEME_COUNT - 1);
    paint_into(&list);
    snprintf(where, sizeof where, "round %d: %dx%d step %d, %d lanes, page %d", round, size[0],
             size[1], step, sample.lanes, sample.page);
}

// --- boxes ---

static struct rect target(void) {
    return (struct rect){0, 0, layout.input.width_px, layout.input.height_px};
}

static int collect_texts(const struct cmd *out[512]) {
    int count = 0;
    for (int i = 0; i < list.count && count < 512; i++)
        if (list.cmds[i].kind == CMD_TEXT)
            out[count++] = &list.cmds[i];
    return count;
}

static bool is_shown(const char *words) {
    for (int i = 0; i < list.count; i++)
        if (list.cmds[i].kind == CMD_TEXT && strcmp(text_of(&list, &list.cmds[i]), words) == 0)
            return true;
    return false;
}

// --- overlaps ---

static void nothing_reaches_out_and_nothing_is_dropped(void **state) {
    (void)state;
    for (int round = 0; round < PICTURES; round++) {
        random_picture(round);
        assert_int_equal(list.dropped, 0);
        for (int i = 0; i < list.count; i++) {
            const struct cmd *cmd = &list.cmds[i];
            struct rect rect = cmd->kind == CMD_TEXT   ? text_box(cmd)
                               : cmd->kind == CMD_LINE ? stroke_bounds(cmd, 1)
                                                       : cmd->rect;
            if (!is_inside(rect, target()))
                fail_msg("%s: command %d kind %d at %d,%d %dx%d", where, i, cmd->kind, rect.x,
                         rect.y, rect.w, rect.h);
        }
        if (list.count > 12000)
            fail_msg("%s: %d commands", where, list.count);
    }
}

static void no_text_lies_on_another(void **state) {
    (void)state;
    const struct cmd *texts[512];
    for (int round = 0; round < PICTURES; round++) {
        random_picture(round);
        int count = collect_texts(texts);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < i; k++)
                if (overlap(text_box(texts[i]), text_box(texts[k])))
                    fail_msg("%s: \"%s\" on \"%s\"", where, text_of(&list, texts[i]),
                             text_of(&list, texts[k]));
    }
}

static void every_text_lies_in_its_place_and_not_below_the_floor(void **state) {
    (void)state;
    const struct cmd *texts[512];
    for (int round = 0; round < PICTURES; round++) {
        random_picture(round);
        struct rect all[24] = {layout.title,    layout.origin,   layout.rate,     layout.pills[0],
                               layout.pills[1], layout.pills[2], layout.pills[3], places.clock,
                               places.plots[0], places.plots[1], places.pages};
        int place_count = 11, count = collect_texts(texts);
        for (int i = 0; i < layout.readout_count; i++)
            all[place_count++] = layout.readouts[i];
        for (int i = 0; i < count; i++) {
            bool is_placed = false;
            for (int p = 0; p < place_count && !is_placed; p++)
                is_placed = is_inside(text_box(texts[i]), all[p]);
            if (!is_placed)
                fail_msg("%s: \"%s\" is in no place", where, text_of(&list, texts[i]));
            if (texts[i]->stroke < layout.floor_px)
                fail_msg("%s: \"%s\" is %d px", where, text_of(&list, texts[i]), texts[i]->stroke);
        }
    }
}

// Whether a line's body meets the box: sampled along it, exact enough at half a pixel.
static bool is_met(struct rect box, const struct cmd *line) {
    double length = hypot(line->rect.w, line->rect.h), radius = line->stroke / 2.0;
    int steps = (int)(length / 8) + 1;
    for (int i = 0; i <= steps; i++) {
        double x = line->rect.x + (double)line->rect.w * i / steps;
        double y = line->rect.y + (double)line->rect.h * i / steps;
        double dx = fmax(0, fmax(box.x * 16 - x, x - (box.x + box.w) * 16));
        double dy = fmax(0, fmax(box.y * 16 - y, y - (box.y + box.h) * 16));
        if (hypot(dx, dy) < radius - 8)
            return true;
    }
    return false;
}

// Where the plot's data are drawn; an empty rectangle while it has only a message.
static struct rect data_of(const struct paint *paint, const struct plot *plot,
                           const struct plot_place *place) {
    static struct plot_canvas canvas;
    paint_plot_plan(&canvas, paint, plot, place);
    return plot->message[0] != '\0' ? (struct rect){0} : canvas.data;
}

static bool is_on_map(struct rect box) {
    struct paint paint = paint_now();
    for (int i = 0; i < LAB_PLOTS; i++) {
        struct plot_place place = {places.plots[i], places.text_px, places.pad_px,
                                   places.radius_px};
        if (overlap(box, data_of(&paint, &lab.plots[i], &place)))
            return true;
    }
    return false;
}

static void no_text_lies_on_a_line_a_dot_a_square_or_a_ring(void **state) {
    (void)state;
    const struct cmd *texts[512];
    for (int round = 0; round < PICTURES; round++) {
        random_picture(round);
        int count = collect_texts(texts);
        bool is_clipped = false; // marks on a map end at its edge, where no text is
        for (int i = 0; i < list.count; i++) {
            const struct cmd *cmd = &list.cmds[i];
            if (cmd->kind == CMD_CLIP)
                is_clipped = cmd->rect.w > 0;
            struct rect plot = cmd->kind == CMD_LINE ? stroke_bounds(cmd, 1) : cmd->rect;
            bool is_round = cmd->kind == CMD_RING && 2 * cmd->radius >= cmd->rect.w - 1;
            if (cmd->kind != CMD_LINE && !is_round)
                continue;
            if (!is_inside(plot, places.plots[0]) && !is_inside(plot, places.plots[1]))
                continue;
            for (int k = 0; k < count; k++) {
                struct rect box = text_box(texts[k]);
                bool is_on = cmd->kind == CMD_LINE ? is_met(box, cmd) : overlap(box, cmd->rect);
                if (is_on && !(is_clipped && !is_on_map(box)))
                    fail_msg("%s: \"%s\" lies on command %d", where, text_of(&list, texts[k]), i);
            }
        }
    }
}

static void text_on_panels_can_be_read_in_every_theme(void **state) {
    (void)state;
    const struct cmd *texts[512];
    for (int round = 0; round < 120; round++) {
        random_picture(round * 3);
        rgba panel = theme_find(theme)->colors[COLOR_PANEL];
        int count = collect_texts(texts);
        for (int i = 0; i < count; i++)
            if (is_inside(text_box(texts[i]), places.middle) &&
                !overlap(text_box(texts[i]), places.pages) &&
                theme_contrast_x100(texts[i]->color, panel) < 450)
                fail_msg("%s: \"%s\" has contrast %d", where, text_of(&list, texts[i]),
                         theme_contrast_x100(texts[i]->color, panel));
    }
}

// --- what is said ---

static void show(int page, int lanes, int width_px, int height_px) {
    struct sample_lab sample = {page, lanes, 300, 60, 500000};
    lay_out(width_px, height_px, 0, lanes);
    sample_lab(&lab, &sample);
    theme = THEME_DARK;
    paint_into(&list);
}

static void a_real_lab_says_all_it_has_to_say(void **state) {
    (void)state;
    static const char *const KNEE[] = {"Does a longer prompt cost more?",
                                       "measured here",
                                       "now",
                                       "prompt tokens",
                                       "prefill time",
                                       "1,000",
                                       "4 ms",
                                       "lesson 1: every token costs",
                                       "lesson 2: one pass, so it stays fast",
                                       "measured",
                                       "prefill: limited by arithmetic",
                                       "decode: waits on memory",
                                       "the roof",
                                       "100 GFLOP/s",
                                       "1 of 3",
                                       "The clock",
                                       "Prompt length",
                                       "300 tokens",
                                       "60 tokens"};
    static const char *const MAP[] = {
        "Who takes the time?", "modelled", "chat",           "summary", "agent", "now", "50 %",
        "decode takes more",   "2 of 3",   "measured steps", "fit"};
    static const int sizes[][2] = {{1920, 1080}, {3840, 2160}};
    for (int i = 0; i < 2; i++) {
        show(0, 1, sizes[i][0], sizes[i][1]);
        for (size_t k = 0; k < sizeof KNEE / sizeof KNEE[0]; k++)
            if (!is_shown(KNEE[k]))
                fail_msg("%d px: \"%s\" is missing", sizes[i][0], KNEE[k]);
        show(1, 2, sizes[i][0], sizes[i][1]);
        for (size_t k = 0; k < sizeof MAP / sizeof MAP[0]; k++)
            if (!is_shown(MAP[k]))
                fail_msg("%d px: \"%s\" is missing", sizes[i][0], MAP[k]);
    }
}

static void a_plot_with_a_message_shows_it_and_no_axes(void **state) {
    (void)state;
    show(0, 1, 1280, 720);
    for (int i = 0; i < 2; i++)
        snprintf(lab.plots[i].message, sizeof lab.plots[i].message, "being measured");
    paint_into(&list);
    assert_true(is_shown("being measured"));
    assert_true(is_shown("Why: work per byte moved"));
    assert_false(is_shown("prompt tokens"));
    assert_false(is_shown("4 ms"));
    for (int i = 0; i < list.count; i++)
        assert_int_not_equal(list.cmds[i].kind, CMD_LINE);
}

static void the_stage_keeps_its_top_and_its_readouts(void **state) {
    (void)state;
    show(0, 1, 1280, 720);
    snprintf(view.caption, sizeof view.caption, "belongs to the grid");
    snprintf(view.note, sizeof view.note, "so does this");
    paint_into(&list);
    assert_true(is_shown(view.title));
    assert_true(is_shown(view.rate));
    assert_true(is_shown("TTFT"));
    assert_false(is_shown("belongs to the grid"));
    assert_false(is_shown("so does this"));
}

// Where they don't fit side by side they stand one above the other, whole.
static void a_long_title_and_a_long_origin_both_stand_whole(void **state) {
    (void)state;
    static const char TITLE[] = "A title that asks at some length what a longer prompt costs";
    static const char ORIGIN[] = "modelled from a run on another device";
    show(0, 1, 1280, 800);
    snprintf(lab.plots[0].title, sizeof lab.plots[0].title, "%s", TITLE);
    snprintf(lab.plots[0].origin, sizeof lab.plots[0].origin, "%s", ORIGIN);
    paint_into(&list);
    assert_true(is_shown(TITLE));
    assert_true(is_shown(ORIGIN));
}

// --- looks ---

static void plot_alone(struct plot *plot) {
    struct paint paint = paint_now();
    struct plot_place place = {{100, 100, 800, 500}, layout.small_px, 16, 10};
    cmdlist_clear(&list);
    paint_plot(&list, &paint, plot, &place);
}

static struct rect area_alone(const struct plot *plot) {
    struct paint paint = paint_now();
    struct plot_place place = {{100, 100, 800, 500}, layout.small_px, 16, 10};
    return data_of(&paint, plot, &place);
}

static void two_points(struct plot *plot, uint8_t look) {
    plot_clear(plot);
    plot->x = (struct plot_axis){"", 0, 10, false, PLOT_NUMBER};
    plot->y = (struct plot_axis){"", 0, 10, false, PLOT_NUMBER};
    plot_add_series(plot, &(struct plot_series){look, TONE_PREFILL, 0, 0, ""});
    plot_add_point(plot, (struct plot_point){2, 1, 1, 1});
    plot_add_point(plot, (struct plot_point){8, 9, 9, 9});
}

static int count_kind(uint8_t kind) {
    int count = 0;
    for (int i = 0; i < list.count; i++)
        count += list.cmds[i].kind == kind;
    return count;
}

static void series_differ_by_shape_not_by_colour_alone(void **state) {
    (void)state;
    static struct plot plot;
    lay_out(1280, 720, 0, 1);
    theme = THEME_DARK;
    uint64_t seen[6];
    for (uint8_t look = PLOT_DOTS; look <= PLOT_SQUARE; look++) {
        two_points(&plot, look);
        plot_alone(&plot);
        seen[look] = cmdlist_hash(&list);
        int lines = count_kind(CMD_LINE);
        static const int least[] = {2, 1, 8, 30, 0, 0}, most[] = {2, 1, 80, 200, 0, 0};
        if (lines < least[look] || lines > most[look])
            fail_msg("look %d has %d lines", look, lines);
        for (int k = 0; k < look; k++)
            assert_true(seen[k] != seen[look]);
    }
}

// A dash begins where the pattern says, bends with the line, and never leaves it.
static void dashes_and_dots_lie_on_their_line(void **state) {
    (void)state;
    static struct plot plot;
    for (uint8_t look = PLOT_LINE; look <= PLOT_DOTTED; look++) {
        two_points(&plot, look);
        plot_add_point(&plot, (struct plot_point){9, 2, 2, 2});
        plot_alone(&plot);
        struct rect area = area_alone(&plot);
        double x[3], y[3], drawn = 0;
        for (int i = 0; i < 3; i++) {
            x[i] = (area.x + area.w * plot.points[i].x / 10) * 16;
            y[i] = (area.y + area.h - area.h * plot.points[i].y / 10) * 16;
        }
        for (int i = 0; i < list.count; i++) {
            const struct cmd *cmd = &list.cmds[i];
            if (cmd->kind != CMD_LINE)
                continue;
            drawn += hypot(cmd->rect.w, cmd->rect.h);
            double nearest = 1e9;
            for (int k = 0; k < 2; k++) {
                double dx = x[k + 1] - x[k], dy = y[k + 1] - y[k];
                double cross = fabs(dx * (cmd->rect.y - y[k]) - dy * (cmd->rect.x - x[k]));
                nearest = fmin(nearest, cross / hypot(dx, dy));
            }
            assert_true(nearest < 2); // an eighth of a pixel
        }
        double whole = hypot(x[1] - x[0], y[1] - y[0]) + hypot(x[2] - x[1], y[2] - y[1]);
        double share = drawn / whole;
        assert_true(look == PLOT_LINE     ? fabs(share - 1) < 0.01
                    : look == PLOT_DASHES ? share > 0.4 && share < 0.7
                                          : share == 0);
    }
}

static void a_line_is_straight_in_values_on_a_logarithmic_axis(void **state) {
    (void)state;
    static struct plot plot;
    plot_clear(&plot);
    plot.x = (struct plot_axis){"", 1, 1000, true, PLOT_NUMBER};
    plot.y = (struct plot_axis){"", 0, 1000, false, PLOT_NUMBER};
    plot_add_series(&plot, &(struct plot_series){PLOT_LINE, TONE_INK, 0, 0, ""});
    plot_add_point(&plot, (struct plot_point){1, 1, 1, 1});
    plot_add_point(&plot, (struct plot_point){1000, 1000, 1000, 1000});
    plot_alone(&plot);
    struct rect area = area_alone(&plot);
    int count = 0;
    for (int i = 0; i < list.count; i++) {
        const struct cmd *cmd = &list.cmds[i];
        if (cmd->kind != CMD_LINE)
            continue;
        double share = (cmd->rect.x / 16.0 - area.x) / area.w;
        double want = area.y + area.h - area.h * plot_value(&plot.x, share) / 1000;
        assert_true(fabs(cmd->rect.y / 16.0 - want) < 1);
        count++;
    }
    assert_true(count > 20);
}

static void what_lies_outside_the_axes_is_not_drawn(void **state) {
    (void)state;
    static struct plot plot;
    for (uint8_t look = PLOT_DOTS; look <= PLOT_SQUARE; look++) {
        two_points(&plot, look);
        plot_add_point(&plot, (struct plot_point){30, -40, -90, 90});
        plot_add_point(&plot, (struct plot_point){-1e30, 1e30, 1e30, 1e30});
        plot_alone(&plot);
        struct rect area = area_alone(&plot);
        struct rect wide = {area.x - 40, area.y - 40, area.w + 80, area.h + 80};
        for (int i = 0; i < list.count; i++)
            if (list.cmds[i].kind == CMD_LINE)
                assert_true(is_inside(stroke_bounds(&list.cmds[i], 1), wide));
    }
}

// --- the line at the half ---

// A field that rises along x or y, or both: where it is a half is known.
static void the_line_at_the_half_lies_where_the_field_has_it(void **state) {
    (void)state;
    static struct plot plot;
    for (int slant = 0; slant < 3; slant++) {
        plot_clear(&plot);
        plot.x = (struct plot_axis){"", 0, 1, false, PLOT_NUMBER};
        plot.y = (struct plot_axis){"", 0, 1, false, PLOT_NUMBER};
        plot.columns = 40;
        plot.rows = 30;
        for (int row = 0; row < 30; row++)
            for (int column = 0; column < 40; column++) {
                double x = (column + 0.5) / 40, y = (row + 0.5) / 30;
                double field = slant == 0 ? x + 0.2 : slant == 1 ? y - 0.1 : (x + y) / 2;
                plot.cells_ppm[row][column] = (int)(VIEW_PPM * fmax(0, fmin(1, field)));
            }
        plot_alone(&plot);
        struct rect area = area_alone(&plot);
        int count = 0;
        double length = 0;
        for (int i = 0; i < list.count; i++) {
            const struct cmd *cmd = &list.cmds[i];
            if (cmd->kind != CMD_LINE)
                continue;
            double x = (cmd->rect.x / 16.0 - area.x) / area.w;
            double y = (area.y + area.h - cmd->rect.y / 16.0) / area.h;
            double off = slant == 0 ? x - 0.3 : slant == 1 ? y - 0.6 : (x + y) / 2 - 0.5;
            // At the very edge the nearest cell's value goes on.
            bool is_edge = fmin(fmin(x, 1 - x), fmin(y, 1 - y)) < 0.02;
            if (fabs(off) > (is_edge ? 0.02 : 0.003))
                fail_msg("slant %d: %.4f off at %.3f, %.3f", slant, off, x, y);
            length += hypot(cmd->rect.w, cmd->rect.h) / 16;
            count++;
        }
        double want = slant == 0 ? area.h : slant == 1 ? area.w : hypot(area.w, area.h);
        assert_true(fabs(length / 2 / want - 1) < 0.02); // drawn twice: the halo
        assert_true(count > 20);
    }
}

// Whatever the field, each crossing of neighbours is passed once: lines end at the
// area's edge or close.
static void lines_at_the_half_close_or_end_at_the_edge(void **state) {
    (void)state;
    static struct plot plot;
    for (int round = 0; round < 60; round++) {
        plot_clear(&plot);
        plot.columns = random_between(1, PLOT_MAX_COLUMNS);
        plot.rows = random_between(1, PLOT_MAX_ROWS);
        int most = random_between(1, 9);
        for (int i = 0; i < plot.rows * plot.columns; i++)
            plot.cells_ppm[i / plot.columns][i % plot.columns] =
                random_between(0, 9) < most ? random_between(0, 499999) : VIEW_PPM;
        plot_alone(&plot);
        struct rect area = area_alone(&plot);
        int starts = 0;
        struct {
            int x, y;
        } open = {0, 0}, last = {0, 0};
        for (int i = 0; i <= list.count; i++) {
            const struct cmd *cmd = i < list.count ? &list.cmds[i] : NULL;
            if (cmd && cmd->kind != CMD_LINE && starts == 0)
                continue;
            bool goes_on = cmd && cmd->kind == CMD_LINE && starts > 0 && cmd->rect.x == last.x &&
                           cmd->rect.y == last.y;
            if (!goes_on && starts > 0) {
                bool is_closed = open.x == last.x && open.y == last.y;
                bool at_edge = last.x == area.x * 16 || last.x == (area.x + area.w) * 16 ||
                               last.y == area.y * 16 || last.y == (area.y + area.h) * 16;
                if (!is_closed && !at_edge)
                    fail_msg("round %d: a line ends at %d, %d", round, last.x, last.y);
            }
            if (!cmd || cmd->kind != CMD_LINE)
                break;
            if (!goes_on) {
                open.x = cmd->rect.x;
                open.y = cmd->rect.y;
            }
            starts++;
            last.x = cmd->rect.x + cmd->rect.w;
            last.y = cmd->rect.y + cmd->rect.h;
        }
    }
}

// Two cells of decode across from each other: the line keeps them apart.
static void a_saddle_of_the_field_is_cut_between_its_peaks(void **state) {
    (void)state;
    static struct plot plot;
    for (int rising = 0; rising < 2; rising++) {
        plot_clear(&plot);
        plot.columns = plot.rows = 2;
        for (int i = 0; i < 4; i++)
            plot.cells_ppm[i / 2][i % 2] = (i / 2 == i % 2) == (rising == 1) ? VIEW_PPM : 0;
        plot_alone(&plot);
        struct rect area = area_alone(&plot);
        int slanted = 0;
        for (int i = 0; i < list.count; i++) {
            const struct cmd *cmd = &list.cmds[i];
            if (cmd->kind != CMD_LINE || cmd->rect.w == 0 || cmd->rect.h == 0)
                continue;
            // Around a lower left peak it falls to the right: y grows downwards.
            assert_int_equal((cmd->rect.w > 0) == (cmd->rect.h > 0), rising);
            slanted++;
        }
        assert_int_equal(slanted, 4); // two, each with its halo
        assert_true(area.w > 0);
    }
}

// --- the same again, and the mouse ---

static void equal_labs_give_equal_commands(void **state) {
    (void)state;
    for (int round = 0; round < 60; round++) {
        random_picture(round * 7);
        memset(&other, 0x5A, sizeof other);
        paint_into(&other);
        assert_true(cmdlist_hash(&list) == cmdlist_hash(&other));
    }
}

static struct lab_hit hit(int x, int y) {
    struct paint paint = paint_now();
    return paint_lab_hit(&paint, &lab, &places, x, y);
}

// The middle of the knob: the largest disc in the slider's row.
static int knob_x(int control) {
    int best = 0, x = 0;
    for (int i = 0; i < list.count; i++) {
        const struct cmd *cmd = &list.cmds[i];
        if (cmd->kind == CMD_ROUND && cmd->rect.w == cmd->rect.h && cmd->rect.h > best &&
            is_inside(cmd->rect, places.controls[control])) {
            best = cmd->rect.h;
            x = cmd->rect.x + cmd->rect.w / 2;
        }
    }
    assert_true(best > 0);
    return x;
}

static void a_sliders_knob_is_where_its_value_is_found(void **state) {
    (void)state;
    struct paint paint = paint_now();
    for (int i = 0; i < SIZE_COUNT; i++)
        for (int control = 0; control < 2; control++)
            for (int ppm = 0; ppm <= VIEW_PPM; ppm += 125000) {
                show(0, 1, SIZES[i][0], SIZES[i][1]);
                lab.controls[control].ppm = ppm;
                paint_into(&list);
                struct rect row = places.controls[control];
                int x = knob_x(control);
                struct lab_hit found = hit(x, row.y + row.h / 2);
                assert_int_equal(found.part, LAB_CONTROL);
                assert_int_equal(found.index, control);
                if (abs(found.ppm - ppm) > 20000)
                    fail_msg("%d px: %d instead of %d", SIZES[i][0], found.ppm, ppm);
                assert_int_equal(paint_lab_drag_ppm(&paint, &lab, &places, control, -9999), 0);
                assert_int_equal(paint_lab_drag_ppm(&paint, &lab, &places, control, 99999),
                                 VIEW_PPM);
            }
    assert_int_equal(paint_lab_drag_ppm(&paint, &lab, &places, 7, 100), 0);
}

static void the_mouse_finds_lanes_and_pages(void **state) {
    (void)state;
    show(0, 2, 1280, 720);
    for (int i = 0; i < 2; i++) {
        struct rect bar = places.lane_bars[i];
        struct lab_hit found = hit(bar.x + bar.w / 4, bar.y + bar.h / 2);
        assert_int_equal(found.part, LAB_CLOCK);
        assert_int_equal(found.index, i);
        assert_in_range(found.ppm, 249000, 251000);
        assert_int_equal(hit(places.plots[i].x + 2, places.plots[i].y + 2).part, LAB_NOTHING);
    }
    int seen = 0;
    for (int x = 0; x < 1280; x++) {
        struct lab_hit found = hit(x, places.pages.y + places.pages.h / 2);
        if (found.part == LAB_PAGE)
            seen |= 1 << found.index;
    }
    assert_int_equal(seen, 7);
    assert_int_equal(hit(2, 2).part, LAB_NOTHING);
    lab.pages = 1;
    paint_into(&list);
    assert_false(is_shown("1 of 1"));
    assert_int_equal(hit(640, places.pages.y + 2).part, LAB_NOTHING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_reaches_out_and_nothing_is_dropped),
        cmocka_unit_test(no_text_lies_on_another),
        cmocka_unit_test(every_text_lies_in_its_place_and_not_below_the_floor),
        cmocka_unit_test(no_text_lies_on_a_line_a_dot_a_square_or_a_ring),
        cmocka_unit_test(text_on_panels_can_be_read_in_every_theme),
        cmocka_unit_test(a_real_lab_says_all_it_has_to_say),
        cmocka_unit_test(a_plot_with_a_message_shows_it_and_no_axes),
        cmocka_unit_test(the_stage_keeps_its_top_and_its_readouts),
        cmocka_unit_test(a_long_title_and_a_long_origin_both_stand_whole),
        cmocka_unit_test(series_differ_by_shape_not_by_colour_alone),
        cmocka_unit_test(dashes_and_dots_lie_on_their_line),
        cmocka_unit_test(a_line_is_straight_in_values_on_a_logarithmic_axis),
        cmocka_unit_test(what_lies_outside_the_axes_is_not_drawn),
        cmocka_unit_test(the_line_at_the_half_lies_where_the_field_has_it),
        cmocka_unit_test(lines_at_the_half_close_or_end_at_the_edge),
        cmocka_unit_test(a_saddle_of_the_field_is_cut_between_its_peaks),
        cmocka_unit_test(equal_labs_give_equal_commands),
        cmocka_unit_test(a_sliders_knob_is_where_its_value_is_found),
        cmocka_unit_test(the_mouse_finds_lanes_and_pages),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
