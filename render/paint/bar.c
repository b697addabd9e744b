// See bar.h.
#include "render/paint/bar.h"

#include "compute/base/num.h"
#include "compute/base/words.h"
#include "render/paint/parts.h"

int paint_bar_x(const struct paint_bar *bar, int ppm) {
    return bar->rect.x + paint_edge_at(bar->rect.w, ppm).whole_px;
}

static int radius_of(const struct paint *paint, const struct paint_bar *bar) {
    return clamp_int(bar->rect.h / 6, 2, paint->layout->unit_px);
}

// One colour from a pixel to a place of the scale, with the bar's own round ends. The end
// may lie inside a pixel.
static void fill_part(struct cmdlist *out, const struct paint *paint, const struct paint_bar *bar,
                      int from_x, int to_ppm, rgba color) {
    struct rect rect = bar->rect;
    struct paint_edge edge = paint_edge_at(rect.w, to_ppm);
    int to_x = rect.x + edge.whole_px, radius = radius_of(paint, bar);
    if (to_x > from_x) {
        cmdlist_clip(out, (struct rect){from_x, rect.y, to_x - from_x, rect.h});
        cmdlist_round(out, rect, radius, color);
    }
    if (edge.part_ppm > 0 && to_x >= from_x && to_x < rect.x + rect.w) {
        cmdlist_clip(out, (struct rect){to_x, rect.y, 1, rect.h});
        cmdlist_round(out, rect, radius, theme_fade(color, edge.part_ppm));
    }
    cmdlist_clip(out, (struct rect){0});
}

// A charged step is no work: hollow, a thick outline with its name inside where it fits.
static void paint_hollow(struct cmdlist *out, const struct paint *paint,
                         const struct paint_bar *bar, int from_x, int to_ppm) {
    struct rect part = {from_x, bar->rect.y, paint_bar_x(bar, to_ppm) - from_x, bar->rect.h};
    int stroke = min_int(2 * paint->layout->stroke_px, CMD_MAX_STROKE_PX);
    const char *name = word("clock.charged");
    fill_part(out, paint, bar, from_x, to_ppm, paint_color(paint, COLOR_GROUND));
    if (part.w < 2 * stroke)
        return;
    cmdlist_ring(out, part, radius_of(paint, bar), stroke, paint_color(paint, COLOR_DECODE));
    struct paint_label label = {rect_inset(part, 2 * stroke, 0), ALIGN_CENTER, FACE_WORDS,
                                paint->layout->floor_px, paint_color(paint, COLOR_INK)};
    bool is_high = layout_line_px(label.px) <= part.h;
    if (is_high && text_width_px(paint->text, label.face, label.px, name) <= label.rect.w)
        paint_text(out, paint->text, &label, name);
}

// Spans [first, end), all of one kind, as one shape: fill, stripes, then gaps.
static void paint_run(struct cmdlist *out, const struct paint *paint, const struct paint_bar *bar,
                      const struct view_span *spans, int first, int end) {
    enum { FIRST_GAP_PX = 4 };
    struct rect rect = bar->rect;
    int from_x = paint_bar_x(bar, spans[first].from_ppm), to_ppm = spans[end - 1].to_ppm;
    if (spans[first].is_charged) {
        paint_hollow(out, paint, bar, from_x, to_ppm);
        return;
    }
    fill_part(out, paint, bar, from_x, to_ppm,
              paint_color(paint, spans[first].is_prefill ? COLOR_PREFILL : COLOR_DECODE));
    if (!spans[first].is_prefill) {
        struct rect part = {from_x, rect.y, paint_bar_x(bar, to_ppm) - from_x, rect.h};
        int stroke = clamp_int(paint->layout->unit_px * 8 / 10, 2, CMD_MAX_STROKE_PX);
        cmdlist_stripes(out, part, stroke, false,
                        theme_fade(paint_color(paint, COLOR_GROUND), 260000));
    }
    int gap = 2 * paint->layout->hair_px;
    int last_x = first == 0 ? rect.x : from_x - FIRST_GAP_PX;
    for (int i = first; i < end; i++) {
        int x = paint_bar_x(bar, spans[i].from_ppm);
        if (x - last_x < bar->least_step_px || x <= rect.x)
            continue;
        cmdlist_fill(out, (struct rect){x - gap / 2, rect.y, gap, rect.h},
                     paint_color(paint, bar->ground));
        last_x = x;
    }
}

void paint_bar_spans(struct cmdlist *out, const struct paint *paint, const struct paint_bar *bar,
                     const struct view_span *spans, int count) {
    int radius = radius_of(paint, bar);
    cmdlist_round(out, bar->rect, radius, paint_color(paint, bar->groove));
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && view_is_same_kind(&spans[first], &spans[end]);)
            end++;
        paint_run(out, paint, bar, spans, first, end);
    }
    cmdlist_ring(out, bar->rect, radius, paint->layout->hair_px, paint_color(paint, COLOR_LINE));
}

void paint_bar_playhead(struct cmdlist *out, const struct paint *paint, const struct paint_bar *bar,
                        int ppm) {
    struct paint_edge edge = paint_edge_at(bar->rect.w, ppm);
    int width = clamp_int(paint->layout->unit_px * 35 / 100, 2, 24);
    int x = clamp_int(bar->rect.x + edge.whole_px - width / 2, 0,
                      paint->layout->input.width_px - width - 1);
    int y = bar->playhead_y, h = bar->playhead_h;
    rgba ink = paint_color(paint, COLOR_INK);
    cmdlist_fill(out, (struct rect){x, y, 1, h}, theme_fade(ink, VIEW_PPM - edge.part_ppm));
    cmdlist_fill(out, (struct rect){x + 1, y, width - 1, h}, ink);
    cmdlist_fill(out, (struct rect){x + width, y, 1, h}, theme_fade(ink, edge.part_ppm));
}
