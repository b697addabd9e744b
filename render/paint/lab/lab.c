// See paint_lab.h. The stage's own painters draw the top and the read-outs; lanes are
// the clock's bar once more, one a run, all on one scale. A lane is striped where it
// decodes, and its steps stand apart while there is room for the gaps.
#include "render/paint/lab/lab.h"

#include "compute/base/num.h"
#include "render/paint/lab/plot.h"

#include <stdio.h>

enum { LEAST_STEP_PX = 4 }; // narrower steps have no gaps

struct scene {
    struct cmdlist *out;
    const struct paint *paint;
    const struct lab *lab;
    const struct lab_layout *layout;
};

// --- texts ---

static int width_of(const struct scene *s, enum text_face face, int px, const char *utf8) {
    return text_width_px(s->paint->text, face, px, utf8);
}

static int put(const struct scene *s, struct paint_label label, const char *utf8) {
    label.least_px = s->paint->layout->floor_px;
    return paint_text(s->out, s->paint->text, &label, utf8);
}

// Two texts in one row, left and right, a gap between. The left one gives way.
static void put_pair(const struct scene *s, struct rect row, const struct paint_label *left,
                     const char *left_utf8, const struct paint_label *right,
                     const char *right_utf8) {
    struct paint_label label = *right;
    int want = width_of(s, label.face, label.px, right_utf8);
    label.rect = row;
    label.rect.w = min_int(want, left_utf8[0] != '\0' ? row.w * 2 / 3 : row.w);
    label.rect.x = row.x + row.w - label.rect.w;
    label.align = ALIGN_RIGHT;
    put(s, label, right_utf8);
    int used = want > 0 ? label.rect.w + label.px : 0;
    label = *left;
    label.rect = row;
    label.rect.w = row.w - used;
    put(s, label, left_utf8);
}

// --- lanes ---

struct lane {
    const struct scene *s;
    const struct lab_lane *data;
    struct rect bar;
    int radius_px;
};

static int x_at(const struct lane *lane, int ppm) {
    return lane->bar.x + paint_edge_at(lane->bar.w, ppm).whole_px;
}

// From a pixel to a place of the scale in one colour, with the bar's own round ends
// and the part of a pixel where it ends.
static void fill_part(const struct lane *lane, int from_x, int to_ppm, rgba color) {
    struct cmdlist *out = lane->s->out;
    struct paint_edge edge = paint_edge_at(lane->bar.w, to_ppm);
    int to_x = lane->bar.x + edge.whole_px;
    if (to_x > from_x) {
        cmdlist_clip(out, (struct rect){from_x, lane->bar.y, to_x - from_x, lane->bar.h});
        cmdlist_round(out, lane->bar, lane->radius_px, color);
    }
    if (edge.part_ppm > 0 && to_x >= from_x && to_x < lane->bar.x + lane->bar.w) {
        cmdlist_clip(out, (struct rect){to_x, lane->bar.y, 1, lane->bar.h});
        cmdlist_round(out, lane->bar, lane->radius_px, theme_fade(color, edge.part_ppm));
    }
    cmdlist_clip(out, (struct rect){0});
}

static int span_count(const struct lane *lane) {
    return min_int(lane->data->span_count, LAB_MAX_SPANS);
}

static bool is_same_kind(const struct view_span *a, const struct view_span *b) {
    return a->is_prefill == b->is_prefill && a->is_charged == b->is_charged;
}

// Spans [i, end) are of one kind: one fill, stripes, then gaps.
static void paint_run(const struct lane *lane, int first, int end) {
    const struct scene *s = lane->s;
    const struct view_span *spans = lane->data->spans;
    int from_x = x_at(lane, spans[first].from_ppm), to_ppm = spans[end - 1].to_ppm;
    int to_x = x_at(lane, to_ppm), unit = s->paint->layout->unit_px;
    rgba apart = paint_color(s->paint, COLOR_PANEL);
    fill_part(lane, from_x, to_ppm,
              paint_color(s->paint, spans[first].is_prefill ? COLOR_PREFILL : COLOR_DECODE));
    if (!spans[first].is_prefill)
        cmdlist_stripes(s->out, (struct rect){from_x, lane->bar.y, to_x - from_x, lane->bar.h},
                        clamp_int(unit * 8 / 10, 2, CMD_MAX_STROKE_PX), spans[first].is_charged,
                        theme_fade(paint_color(s->paint, COLOR_GROUND), 260000));
    int hair = 2 * s->paint->layout->hair_px;
    int last_x = first == 0 ? lane->bar.x : from_x - LEAST_STEP_PX;
    for (int i = first; i < end; i++) {
        int x = x_at(lane, spans[i].from_ppm);
        if (x - last_x < max_int(LEAST_STEP_PX, 2 * hair) || x <= lane->bar.x)
            continue;
        cmdlist_fill(s->out, (struct rect){x - hair / 2, lane->bar.y, hair, lane->bar.h}, apart);
        last_x = x;
    }
}

// A line through the bar, to the fraction of a pixel.
static void paint_playhead(const struct lane *lane, rgba color, int ppm) {
    const struct scene *s = lane->s;
    struct paint_edge edge = paint_edge_at(lane->bar.w, ppm);
    int over = s->layout->overhang_px;
    int width = clamp_int(s->paint->layout->unit_px * 35 / 100, 2, 24);
    int x = lane->bar.x + edge.whole_px - width / 2;
    int y = lane->bar.y - over, h = lane->bar.h + 2 * over;
    cmdlist_fill(s->out, (struct rect){x, y, 1, h}, theme_fade(color, VIEW_PPM - edge.part_ppm));
    cmdlist_fill(s->out, (struct rect){x + 1, y, width - 1, h}, color);
    cmdlist_fill(s->out, (struct rect){x + width, y, 1, h}, theme_fade(color, edge.part_ppm));
}

static void paint_lane(const struct scene *s, int i) {
    const struct lab_lane *data = &s->lab->lanes[i];
    struct rect bar = s->layout->lane_bars[i];
    struct lane lane = {s, data, bar, clamp_int(bar.h / 6, 2, s->paint->layout->unit_px)};
    cmdlist_round(s->out, bar, lane.radius_px, paint_color(s->paint, COLOR_GROUND));
    for (int first = 0, end; first < span_count(&lane); first = end) {
        for (end = first + 1;
             end < span_count(&lane) && is_same_kind(&data->spans[first], &data->spans[end]);)
            end++;
        paint_run(&lane, first, end);
    }
    cmdlist_ring(s->out, bar, lane.radius_px, s->paint->layout->hair_px,
                 paint_color(s->paint, COLOR_LINE));
    paint_playhead(&lane, paint_color(s->paint, COLOR_INK), s->lab->playhead_ppm);
    struct paint_label left = {.face = i == 0 ? FACE_STRONG : FACE_WORDS,
                               .px = s->layout->text_px,
                               .color = paint_color(s->paint, COLOR_QUIET)};
    struct paint_label right = left;
    right.face = FACE_WORDS;
    right.color = paint_color(s->paint, COLOR_INK);
    put_pair(s, s->layout->lane_labels[i], &left, data->label, &right, data->value);
}

// --- sliders ---

struct slider {
    struct rect label, value, track;
    int knob_px; // diameter
};

// Label left, value right, the track between; tracks of both sliders begin and end
// alike when they stand one above the other.
static struct slider place_slider(const struct paint *paint, const struct lab *lab,
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
    value_w = max_int(value_w, text_width_px(paint->text, FACE_STRONG, px, "0,000 tokens"));
    label_w = min_int(label_w, all.w * 2 / 5);
    value_w = min_int(value_w, all.w * 2 / 5);
    struct slider slider = {.knob_px = clamp_int(px * 5 / 4, 8, all.h) & ~1};
    slider.label = (struct rect){all.x, all.y, label_w, all.h};
    slider.value = (struct rect){all.x + all.w - value_w, all.y, value_w, all.h};
    int thick = max_int(2, paint->layout->unit_px * 6 / 10);
    int from = all.x + label_w + gap, to = all.x + all.w - value_w - gap;
    slider.track = (struct rect){from, all.y + (all.h - thick) / 2, max_int(1, to - from), thick};
    return slider;
}

static int knob_x(const struct slider *slider, int ppm) {
    int way = max_int(0, slider->track.w - slider->knob_px);
    return slider->track.x + slider->knob_px / 2 + paint_between(0, way, clamp_ppm(ppm));
}

static void paint_slider(const struct scene *s, int i) {
    const struct panel_control *control = &s->lab->controls[i];
    const struct paint *paint = s->paint;
    struct slider slider = place_slider(paint, s->lab, s->layout, i);
    struct rect track = slider.track;
    int x = knob_x(&slider, control->ppm), half = slider.knob_px / 2,
        middle = track.y + track.h / 2;
    uint8_t tone = control->is_off ? (uint8_t)TONE_QUIET : control->tone;
    rgba color = paint_tone(paint, tone);
    int stroke = max_int(2, paint->layout->stroke_px);
    cmdlist_round(s->out, track, track.h / 2, paint_color(paint, COLOR_LINE));
    cmdlist_round(s->out, (struct rect){track.x, track.y, x - track.x, track.h}, track.h / 2,
                  color);
    if (control->mark_ppm >= 0) { // what was measured, hollow
        int at = knob_x(&slider, control->mark_ppm), size = half + half / 2;
        cmdlist_ring(s->out, (struct rect){at - size / 2, middle - size / 2, size, size}, size / 2,
                     stroke, paint_color(paint, COLOR_INK));
    }
    struct rect knob = {x - half, middle - half, 2 * half, 2 * half};
    cmdlist_round(s->out, knob, half, color);
    if (control->is_focused) {
        struct rect around = {knob.x - 2 * stroke, knob.y - 2 * stroke, knob.w + 4 * stroke,
                              knob.h + 4 * stroke};
        cmdlist_ring(s->out, around, around.h / 2, stroke, paint_color(paint, COLOR_INK));
    }
    put(s,
        (struct paint_label){.rect = slider.label,
                             .face = FACE_WORDS,
                             .px = s->layout->text_px,
                             .color =
                                 paint_color(paint, control->is_off ? COLOR_QUIET : COLOR_INK)},
        control->label);
    put(s,
        (struct paint_label){.rect = slider.value,
                             .align = ALIGN_RIGHT,
                             .face = FACE_STRONG,
                             .px = s->layout->text_px,
                             .color = paint_plot_tone(paint, tone)},
        control->value);
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
        paint_slider(s, i);
}

// --- pages ---

struct dots {
    struct rect all; // of the dots
    int step_px, size_px;
};

static struct dots place_dots(const struct lab *lab, const struct lab_layout *layout) {
    struct rect row = layout->pages;
    int size = max_int(4, row.h / 3), step = row.h, count = clamp_int(lab->pages, 1, 9);
    struct dots dots = {
        {row.x + (row.w - count * step) / 2, row.y, count * step, row.h}, step, size};
    return dots;
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
    snprintf(text, sizeof text, "%d of %d", s->lab->page + 1, s->lab->pages);
    int x = dots.all.x + dots.all.w + s->paint->layout->unit_px;
    struct rect row = s->layout->pages;
    put(s,
        (struct paint_label){.rect = {x, row.y, row.x + row.w - x, row.h},
                             .face = FACE_WORDS,
                             .px = s->paint->layout->floor_px,
                             .color = paint_color(s->paint, COLOR_QUIET)},
        text);
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

static int share_ppm(int from, int length, int x) {
    return length > 0 ? clamp_ppm((int64_t)(x - from) * VIEW_PPM / length) : 0;
}

int paint_lab_drag_ppm(const struct paint *paint, const struct lab *lab,
                       const struct lab_layout *layout, int control, int x_px) {
    if (control < 0 || control >= min_int(lab->control_count, 2))
        return 0;
    struct slider slider = place_slider(paint, lab, layout, control);
    int way = max_int(1, slider.track.w - slider.knob_px);
    return share_ppm(slider.track.x + slider.knob_px / 2, way, x_px);
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
            return (struct lab_hit){LAB_CLOCK, i, share_ppm(bar.x, bar.w, x_px)};
    }
    struct dots dots = place_dots(lab, layout);
    if (lab->pages > 1 && rect_has(dots.all, x_px, y_px))
        return (struct lab_hit){LAB_PAGE, (x_px - dots.all.x) / dots.step_px, 0};
    return (struct lab_hit){LAB_NOTHING, -1, 0};
}
