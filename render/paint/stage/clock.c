// The clock: one bar on one linear scale for prefill and decode. Numbers are below the
// bar, never in it and never on each other.
#include "compute/base/num.h"
#include "render/paint/bar.h"
#include "render/paint/parts.h"

struct clock {
    struct cmdlist *out;
    const struct paint *paint;
    struct paint_bar bar;
};

static int label_width(const struct clock *c, const char *text) {
    return text_width_px(c->paint->text, FACE_WORDS, c->paint->layout->small_px, text);
}

static void put_label(const struct clock *c, struct rect rect, enum theme_color color,
                      const char *text) {
    struct paint_label label = {rect, ALIGN_LEFT, FACE_WORDS, c->paint->layout->small_px,
                                paint_color(c->paint, color)};
    paint_put(c->out, c->paint, label, text);
}

// A hollow pennant on a thin mast that goes down through the bar: nothing solid, since
// it is not a measurement. The label is right of the pennant or, near the right end, left
// of it. A layout without room for the pennant shows a short mast alone.
static void paint_guess(const struct clock *c) {
    const struct view *view = c->paint->view;
    const struct layout *layout = c->paint->layout;
    struct rect row = layout->guess;
    if (view->guess_ppm < 0)
        return;
    rgba ink = paint_color(c->paint, COLOR_INK);
    int hair = 2 * layout->hair_px, x = paint_bar_x(&c->bar, view->guess_ppm);
    x = clamp_int(x, c->bar.rect.x, c->bar.rect.x + c->bar.rect.w - hair);
    int top = row.h > 0 ? row.y : layout->clock.y;
    int bottom = c->bar.rect.y + c->bar.rect.h;
    cmdlist_fill(c->out, (struct rect){x - hair / 2, c->bar.rect.y, 2 * hair, c->bar.rect.h},
                 paint_color(c->paint, COLOR_GROUND));
    cmdlist_fill(c->out, (struct rect){x, top, hair, bottom - top}, ink);
    if (row.h <= 0)
        return;
    int height = row.h * 7 / 10, width = height * 3 / 2, gap = layout->unit_px;
    int words_w = label_width(c, view->guess_label);
    bool is_left = x + width + gap + words_w > row.x + row.w;
    struct rect pennant = {is_left ? x + hair - width : x, row.y, width, height};
    cmdlist_ring(c->out, pennant, 0, hair, ink);
    int room = is_left ? pennant.x - gap - row.x : row.x + row.w - pennant.x - width - gap;
    words_w = words_w < room ? words_w : room;
    int words_x = is_left ? pennant.x - gap - words_w : pennant.x + width + gap;
    put_label(c, (struct rect){words_x, row.y, words_w, row.h}, COLOR_INK, view->guess_label);
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
        int x = paint_bar_x(&c->bar, view->decode_label_ppm);
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
    enum { LEAST_STEP_PX = 4 };
    const struct layout *layout = paint->layout;
    const struct clock clock = {
        out,
        paint,
        {layout->clock_bar, layout->clock.y, layout->clock.h, COLOR_GROUND, COLOR_PANEL,
         LEAST_STEP_PX},
    };
    paint_bar_spans(out, paint, &clock.bar, paint->view->spans, paint->view->span_count);
    paint_guess(&clock);
    paint_bar_playhead(out, paint, &clock.bar, paint->view->playhead_ppm);
    paint_labels(&clock);
}
