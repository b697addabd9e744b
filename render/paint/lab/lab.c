// See lab.h. The stage's own painters draw the top and the read-outs; a lane is the
// clock's bar, one for each run, all on one scale.
#include "render/paint/lab/lab.h"

#include "compute/base/figures.h"
#include "compute/base/num.h"
#include "compute/base/words.h"
#include "render/paint/bar.h"
#include "render/paint/lab/plot.h"
#include "render/paint/parts.h"
#include "render/paint/slider.h"

#include <stdio.h>

struct scene {
    struct cmdlist *out;
    const struct paint *paint;
    const struct lab *lab;
    const struct lab_layout *layout;
};

// --- texts ---

// Two texts in one row, left and right, a gap between. The left one gives way.
static void put_pair(const struct scene *s, struct rect row, const struct paint_label *left,
                     const char *left_utf8, const struct paint_label *right,
                     const char *right_utf8) {
    struct paint_label label = *right;
    int want = text_width_px(s->paint->text, label.face, label.px, right_utf8);
    label.rect = row;
    label.rect.w = min_int(want, left_utf8[0] != '\0' ? row.w * 2 / 3 : row.w);
    label.rect.x = row.x + row.w - label.rect.w;
    label.align = ALIGN_RIGHT;
    paint_put(s->out, s->paint, label, right_utf8);
    int used = want > 0 ? label.rect.w + label.px : 0;
    label = *left;
    label.rect = row;
    label.rect.w = row.w - used;
    paint_put(s->out, s->paint, label, left_utf8);
}

// --- lanes ---

static void paint_lane(const struct scene *s, int i) {
    const struct lab_lane *lane = &s->lab->lanes[i];
    const struct paint *paint = s->paint;
    struct rect rect = s->layout->lane_bars[i];
    int over = s->layout->overhang_px;
    const struct paint_bar bar = {
        rect,        rect.y - over, rect.h + 2 * over,
        COLOR_PANEL, COLOR_GROUND,  max_int(4, 4 * paint->layout->hair_px)};
    paint_bar_spans(s->out, paint, &bar, lane->spans, min_int(lane->span_count, LAB_MAX_SPANS));
    paint_bar_playhead(s->out, paint, &bar, s->lab->playhead_ppm);
    struct paint_label left = {.face = i == 0 ? FACE_STRONG : FACE_WORDS,
                               .px = s->layout->text_px,
                               .color = paint_color(paint, COLOR_QUIET)};
    struct paint_label right = left;
    right.face = FACE_WORDS;
    right.color = paint_color(paint, COLOR_INK);
    put_pair(s, s->layout->lane_labels[i], &left, lane->label, &right, lane->value);
}

// --- sliders ---

struct control_place {
    struct rect label, value;
    struct paint_slider slider;
    int middle_y; // of knob and mark
};

// Label left, value right, the track between; tracks of both sliders begin and end
// alike when they stand one above the other.
static struct control_place place_control(const struct paint *paint, const struct lab *lab,
                                          const struct lab_layout *layout, int i) {
    struct rect all = layout->controls[i];
    int px = layout->text_px, gap = px, label_w = 0, value_w = 0;
    int count = min_int(lab->control_count, 2);
    for (int k = 0; k < count; k++) {
        if (k != i && !layout->are_controls_stacked)
            continue;
        const struct panel_control *control = &lab->controls[k];
        label_w = max_int(label_w, text_width_px(paint->text, FACE_WORDS, px, control->label));
        value_w = max_int(value_w, text_width_px(paint->text, FACE_STRONG, px, control->value));
    }
    // Room for the widest value, so that the track stays where it is.
    char widest[40];
    WORDS_SAY(widest, "stage.tokens", "count", figure_count(8888, true).text);
    value_w = max_int(value_w, text_width_px(paint->text, FACE_STRONG, px, widest));
    label_w = min_int(label_w, all.w * 2 / 5);
    value_w = min_int(value_w, all.w * 2 / 5);
    int thick = max_int(2, paint->layout->unit_px * 6 / 10), y = all.y + (all.h - thick) / 2;
    int from = all.x + label_w + gap, to = all.x + all.w - value_w - gap;
    return (struct control_place){
        .label = {all.x, all.y, label_w, all.h},
        .value = {all.x + all.w - value_w, all.y, value_w, all.h},
        .slider = {{from, y, max_int(1, to - from), thick}, clamp_int(px * 5 / 4, 8, all.h) & ~1},
        .middle_y = y + thick / 2,
    };
}

static void paint_control(const struct scene *s, int i) {
    const struct panel_control *control = &s->lab->controls[i];
    const struct paint *paint = s->paint;
    struct control_place place = place_control(paint, s->lab, s->layout, i);
    int size = place.slider.knob_px, stroke = max_int(2, paint->layout->stroke_px);
    uint8_t tone = control->is_off ? (uint8_t)TONE_QUIET : control->tone;
    rgba color = paint_tone(paint, tone), ink = paint_color(paint, COLOR_INK);
    paint_slider_rail(s->out, paint, &place.slider, control->ppm, color);
    if (control->mark_ppm >= 0) { // what was measured, hollow
        int at = paint_slider_x(&place.slider, control->mark_ppm), mark = size / 2 + size / 4;
        cmdlist_ring(s->out, rect_around(at, place.middle_y, mark), mark / 2, stroke, ink);
    }
    int x = paint_slider_x(&place.slider, control->ppm);
    cmdlist_round(s->out, rect_around(x, place.middle_y, size), size / 2, color);
    if (control->is_focused)
        cmdlist_ring(s->out, rect_around(x, place.middle_y, size + 4 * stroke),
                     size / 2 + 2 * stroke, stroke, ink);
    struct paint_label label = {place.label, ALIGN_LEFT, FACE_WORDS, s->layout->text_px,
                                control->is_off ? paint_color(paint, COLOR_QUIET) : ink};
    paint_put(s->out, paint, label, control->label);
    label.rect = place.value;
    label.align = ALIGN_RIGHT;
    label.face = FACE_STRONG;
    label.color = paint_plot_tone(paint, tone);
    paint_put(s->out, paint, label, control->value);
}

// --- the clock ---

static void paint_clock_panel(const struct scene *s) {
    const struct lab_layout *layout = s->layout;
    const struct paint *paint = s->paint;
    cmdlist_round(s->out, layout->clock, layout->radius_px, paint_color(paint, COLOR_PANEL));
    cmdlist_ring(s->out, layout->clock, layout->radius_px, paint->layout->hair_px,
                 paint_color(paint, COLOR_LINE));
    for (int i = 0; i < min_int(s->lab->lane_count, layout->lanes); i++)
        paint_lane(s, i);
    struct paint_label note = {.face = FACE_WORDS,
                               .px = paint->layout->floor_px,
                               .color = paint_color(paint, COLOR_QUIET)};
    put_pair(s, layout->notes, &note, s->lab->clock_note, &note, s->lab->scale_label);
    for (int i = 0; i < min_int(s->lab->control_count, 2); i++)
        paint_control(s, i);
}

// --- pages ---

struct dots {
    struct rect all; // of the dots
    int step_px, size_px;
};

static struct dots place_dots(const struct lab *lab, const struct lab_layout *layout) {
    struct rect row = layout->pages;
    int size = max_int(4, row.h / 3), step = row.h, count = clamp_int(lab->pages, 1, 9);
    struct rect all = {row.x + (row.w - count * step) / 2, row.y, count * step, row.h};
    return (struct dots){all, step, size};
}

static void paint_pages(const struct scene *s) {
    char text[40];
    struct dots dots = place_dots(s->lab, s->layout);
    if (s->lab->pages < 2)
        return;
    for (int i = 0; i * dots.step_px < dots.all.w; i++) {
        struct rect dot = {dots.all.x + i * dots.step_px + (dots.step_px - dots.size_px) / 2,
                           dots.all.y + (dots.all.h - dots.size_px) / 2, dots.size_px,
                           dots.size_px};
        if (i == s->lab->page)
            cmdlist_round(s->out, dot, dot.h / 2, paint_color(s->paint, COLOR_INK));
        else
            cmdlist_ring(s->out, dot, dot.h / 2, max_int(1, s->paint->layout->stroke_px / 2),
                         paint_color(s->paint, COLOR_QUIET));
    }
    words_say(text, sizeof text, "lab.page", "page", figure_count(s->lab->page + 1, false).text,
              "pages", figure_count(s->lab->pages, false).text, NULL);
    int x = dots.all.x + dots.all.w + s->paint->layout->unit_px;
    struct rect row = s->layout->pages;
    row.w -= x - row.x;
    row.x = x;
    struct paint_label label = {row, ALIGN_LEFT, FACE_WORDS, s->paint->layout->floor_px,
                                paint_color(s->paint, COLOR_QUIET)};
    paint_put(s->out, s->paint, label, text);
}

// --- the picture ---

void paint_lab(struct cmdlist *out, const struct paint *paint, const struct lab *lab,
               const struct lab_layout *layout) {
    const struct scene s = {out, paint, lab, layout};
    struct rect all = {0, 0, paint->layout->input.width_px, paint->layout->input.height_px};
    cmdlist_fill(out, all, paint_color(paint, COLOR_GROUND));
    // The stage's caption has no place here.
    struct layout top = *paint->layout;
    top.caption = (struct rect){0};
    struct paint frame = *paint;
    frame.layout = &top;
    paint_frame(out, &frame);
    paint_clock_panel(&s);
    for (int i = 0; i < LAB_PLOTS; i++) {
        struct plot_place place = {layout->plots[i], layout->text_px, layout->pad_px,
                                   layout->radius_px};
        paint_plot(out, paint, &lab->plots[i], &place);
    }
    paint_pages(&s);
    paint_readouts(out, paint);
}

// --- the mouse ---

int paint_lab_drag_ppm(const struct paint *paint, const struct lab *lab,
                       const struct lab_layout *layout, int control, int x_px) {
    if (control < 0 || control >= min_int(lab->control_count, 2))
        return 0;
    struct control_place place = place_control(paint, lab, layout, control);
    return paint_slider_ppm(&place.slider, x_px);
}

struct lab_hit paint_lab_hit(const struct paint *paint, const struct lab *lab,
                             const struct lab_layout *layout, int x_px, int y_px) {
    for (int i = 0; i < min_int(lab->control_count, 2); i++)
        if (rect_has(layout->controls[i], x_px, y_px))
            return (struct lab_hit){LAB_CONTROL, i,
                                    paint_lab_drag_ppm(paint, lab, layout, i, x_px)};
    for (int i = 0; i < min_int(lab->lane_count, layout->lanes); i++) {
        struct rect bar = layout->lane_bars[i];
        if (rect_has(bar, x_px, y_px))
            return (struct lab_hit){LAB_CLOCK, i, ppm_of(x_px - bar.x, bar.w)};
    }
    struct dots dots = place_dots(lab, layout);
    if (lab->pages > 1 && rect_has(dots.all, x_px, y_px))
        return (struct lab_hit){LAB_PAGE, (x_px - dots.all.x) / dots.step_px, 0};
    return (struct lab_hit){LAB_NOTHING, -1, 0};
}
