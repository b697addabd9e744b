// The clock: one bar, one linear scale for prefill and decode. Prefill is solid,
// decode striped, a charged step striped the other way; every step has its own
// width and a thin separator while that can be seen. Numbers stand below the bar,
// never in it and never on each other. The moving end is drawn to the fraction of a
// pixel.
#include "render/paint/paint.h"

#include "compute/base/num.h"

enum { LEAST_STEP_PX = 4 }; // narrower steps have no separators

struct clock {
    struct cmdlist *out;
    const struct paint *paint;
    struct rect bar;
    int radius_px;
};

static int x_at(const struct clock *c, int ppm) {
    return c->bar.x + paint_edge_at(c->bar.w, ppm).whole_px;
}

static rgba color_of(const struct clock *c, const struct view_span *span) {
    return paint_color(c->paint, span->is_prefill ? COLOR_PREFILL : COLOR_DECODE);
}

// The part of the bar between two places in one colour, with the bar's own round
// ends. `to_ppm` may end inside a pixel.
static void fill_part(const struct clock *c, int from_x, int to_ppm, rgba color) {
    struct paint_edge edge = paint_edge_at(c->bar.w, to_ppm);
    int to_x = c->bar.x + edge.whole_px;
    if (to_x > from_x) {
        cmdlist_clip(c->out, (struct rect){from_x, c->bar.y, to_x - from_x, c->bar.h});
        cmdlist_round(c->out, c->bar, c->radius_px, color);
    }
    if (edge.part_ppm > 0 && to_x >= from_x && to_x < c->bar.x + c->bar.w) {
        cmdlist_clip(c->out, (struct rect){to_x, c->bar.y, 1, c->bar.h});
        cmdlist_round(c->out, c->bar, c->radius_px, theme_fade(color, edge.part_ppm));
    }
    cmdlist_clip(c->out, (struct rect){0});
}

static bool is_same_kind(const struct view_span *a, const struct view_span *b) {
    return a->is_prefill == b->is_prefill && a->is_charged == b->is_charged;
}

// Spans [i, end) are of one kind and follow each other.
static int run_end(const struct view *view, int i) {
    int end = i + 1;
    while (end < view->span_count && is_same_kind(&view->spans[i], &view->spans[end]))
        end++;
    return end;
}

// A run of spans as one shape: fill, stripes, then separators.
static void paint_run(const struct clock *c, int first, int end) {
    const struct view *view = c->paint->view;
    const struct view_span *span = &view->spans[first];
    int from_x = x_at(c, span->from_ppm), to_ppm = view->spans[end - 1].to_ppm;
    int to_x = x_at(c, to_ppm);
    rgba ground = paint_color(c->paint, COLOR_GROUND);
    int unit = c->paint->layout->unit_px;
    fill_part(c, from_x, to_ppm, color_of(c, span));
    if (!span->is_prefill) {
        struct rect part = {from_x, c->bar.y, to_x - from_x, c->bar.h};
        cmdlist_stripes(c->out, part, clamp_int(unit * 8 / 10, 2, CMD_MAX_STROKE_PX),
                        span->is_charged, theme_fade(ground, 260000));
    }
    int hair = 2 * c->paint->layout->hair_px,
        last_x = first == 0 ? c->bar.x : from_x - LEAST_STEP_PX;
    for (int i = first; i < end; i++) {
        int x = x_at(c, view->spans[i].from_ppm);
        if (x - last_x < LEAST_STEP_PX || x <= c->bar.x)
            continue;
        cmdlist_fill(c->out, (struct rect){x - hair / 2, c->bar.y, hair, c->bar.h}, ground);
        last_x = x;
    }
}

// A line through the bar, to the fraction of a pixel.
static void paint_playhead(const struct clock *c) {
    struct rect all = c->paint->layout->clock;
    int ppm = c->paint->view->playhead_ppm;
    struct paint_edge edge = paint_edge_at(c->bar.w, ppm);
    int width = clamp_int(c->paint->layout->unit_px * 35 / 100, 2, 24);
    int x = clamp_int(c->bar.x + edge.whole_px - width / 2, 0,
                      c->paint->layout->input.width_px - width - 1);
    rgba ink = paint_color(c->paint, COLOR_INK);
    cmdlist_fill(c->out, (struct rect){x, all.y, 1, all.h},
                 theme_fade(ink, VIEW_PPM - edge.part_ppm));
    cmdlist_fill(c->out, (struct rect){x + 1, all.y, width - 1, all.h}, ink);
    cmdlist_fill(c->out, (struct rect){x + width, all.y, 1, all.h}, theme_fade(ink, edge.part_ppm));
}

// A hollow pennant on a thin mast that goes down through the bar: nothing solid, since
// it is no measurement. The words stand behind the pennant or, near the right end,
// before it. A layout without a place for them has a short mast alone.
static void paint_guess(const struct clock *c) {
    const struct view *view = c->paint->view;
    const struct layout *layout = c->paint->layout;
    struct rect row = layout->guess;
    if (view->guess_ppm < 0)
        return;
    rgba ink = paint_color(c->paint, COLOR_INK);
    int hair = 2 * layout->hair_px, x = x_at(c, view->guess_ppm);
    x = clamp_int(x, c->bar.x, c->bar.x + c->bar.w - hair);
    int top = row.h > 0 ? row.y : layout->clock.y;
    int bottom = c->bar.y + c->bar.h;
    cmdlist_fill(c->out, (struct rect){x - hair / 2, c->bar.y, 2 * hair, c->bar.h},
                 paint_color(c->paint, COLOR_GROUND));
    cmdlist_fill(c->out, (struct rect){x, top, hair, bottom - top}, ink);
    if (row.h <= 0)
        return;
    int height = row.h * 7 / 10, width = height * 3 / 2, gap = layout->unit_px;
    int words_w = text_width_px(c->paint->text, FACE_WORDS, layout->small_px, view->guess_label);
    bool is_left = x + width + gap + words_w > row.x + row.w;
    struct rect pennant = {is_left ? x + hair - width : x, row.y, width, height};
    cmdlist_ring(c->out, pennant, 0, hair, ink);
    int room = is_left ? pennant.x - gap - row.x : row.x + row.w - pennant.x - width - gap;
    words_w = words_w < room ? words_w : room;
    struct paint_label label = {
        .rect = {is_left ? pennant.x - gap - words_w : pennant.x + width + gap, row.y, words_w,
                 row.h},
        .face = FACE_WORDS,
        .px = layout->small_px,
        .least_px = layout->floor_px,
        .color = ink,
    };
    paint_text(c->out, c->paint->text, &label, view->guess_label);
}

// --- numbers ---

static int label_width(const struct clock *c, const char *text) {
    return text_width_px(c->paint->text, FACE_WORDS, c->paint->layout->small_px, text);
}

static void put_label(const struct clock *c, struct rect rect, enum theme_color color,
                      const char *text) {
    struct paint_label label = {
        .rect = rect,
        .face = FACE_WORDS,
        .px = c->paint->layout->small_px,
        .least_px = c->paint->layout->floor_px,
        .color = paint_color(c->paint, color),
    };
    paint_text(c->out, c->paint->text, &label, text);
}

// Prefill left; decode where decode begins, moved aside when it would touch the
// first or leave the bar; the scale's label at the right end if there is room.
static void paint_labels(const struct clock *c) {
    const struct view *view = c->paint->view;
    struct rect row = c->paint->layout->clock_labels;
    int right = row.x + row.w, apart = 2 * c->paint->layout->unit_px;
    int prefill_w = label_width(c, view->prefill_label);
    prefill_w = prefill_w < row.w ? prefill_w : row.w;
    put_label(c, (struct rect){row.x, row.y, prefill_w, row.h}, COLOR_PREFILL, view->prefill_label);
    int free_x = row.x + (prefill_w > 0 ? prefill_w + apart : 0);
    if (view->decode_label_ppm >= 0 && view->decode_label[0] != '\0') {
        int width = label_width(c, view->decode_label);
        int x = x_at(c, view->decode_label_ppm);
        x = x > right - width ? right - width : x;
        x = x < free_x ? free_x : x;
        width = width < right - x ? width : right - x;
        put_label(c, (struct rect){x, row.y, width, row.h}, COLOR_DECODE, view->decode_label);
        free_x = x + width + apart;
    }
    int scale_w = label_width(c, view->scale_label);
    if (scale_w <= right - free_x)
        put_label(c, (struct rect){right - scale_w, row.y, scale_w, row.h}, COLOR_QUIET,
                  view->scale_label);
}

void paint_clock(struct cmdlist *out, const struct paint *paint) {
    const struct layout *layout = paint->layout;
    struct clock clock = {out, paint, layout->clock_bar,
                          clamp_int(layout->clock_bar.h / 6, 2, layout->unit_px)};
    cmdlist_round(out, clock.bar, clock.radius_px, paint_color(paint, COLOR_PANEL));
    for (int i = 0; i < paint->view->span_count;) {
        int end = run_end(paint->view, i);
        paint_run(&clock, i, end);
        i = end;
    }
    cmdlist_ring(out, clock.bar, clock.radius_px, layout->hair_px, paint_color(paint, COLOR_LINE));
    paint_guess(&clock);
    paint_playhead(&clock);
    paint_labels(&clock);
}
