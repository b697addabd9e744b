// A plot's axes: which ticks have room, their texts, fine lines across for the eye,
// and the axes' own names. A tick's text is set only where no other is.
#include "render/paint/lab/parts.h"

#include "compute/base/num.h"

static int tick_width(const struct plot_canvas *canvas, const struct plot_axis *axis,
                      double value) {
    char text[32];
    plot_tick_text(text, axis, value);
    return text_width_px(canvas->paint->text, FACE_WORDS, canvas->tick_px, text);
}

// --- which ---

// Takes the densest level whose texts do not touch. If there is none: the first tick and
// the last, or the first alone.
static void pick(struct plot_canvas *canvas, struct plot_ticks *out, const struct plot_axis *axis,
                 bool (*has_room)(const struct plot_canvas *, const struct plot_ticks *)) {
    struct plot_ticks ticks = {.count = 0};
    out->count = 0;
    for (int level = 0; plot_ticks_make(out, axis, level); level++) {
        if (has_room(canvas, out))
            return;
        ticks = *out;
    }
    if (ticks.count == 0)
        return;
    ticks.at[1] = ticks.at[ticks.count - 1];
    ticks.count = 2;
    *out = ticks;
    if (!has_room(canvas, out))
        out->count = 1;
}

static bool has_room_y(const struct plot_canvas *canvas, const struct plot_ticks *ticks) {
    int row = layout_line_px(canvas->tick_px), before = 0;
    for (int i = 0; i < ticks->count; i++) {
        int y = paint_plot_y16(canvas, ticks->at[i]) / CMD_LINE_UNIT;
        if (i > 0 && before - y < row * 5 / 4)
            return false;
        before = y;
    }
    return true;
}

// Where the text of an x tick goes: under its tick, within the panel.
static int text_x(const struct plot_canvas *canvas, double value, int width) {
    int x = paint_plot_x16(canvas, value) / CMD_LINE_UNIT - width / 2;
    int right = canvas->inner.x + canvas->inner.w - width;
    return max_int(canvas->inner.x, min_int(x, right));
}

static bool has_room_x(const struct plot_canvas *canvas, const struct plot_ticks *ticks) {
    int end = canvas->inner.x, apart = canvas->tick_px * 2 / 3;
    for (int i = 0; i < ticks->count; i++) {
        int width = tick_width(canvas, &canvas->plot->x, ticks->at[i]);
        int x = text_x(canvas, ticks->at[i], width);
        if (i > 0 && x < end + apart)
            return false;
        end = x + width;
    }
    return true;
}

int paint_plot_gutter(struct plot_canvas *canvas) {
    struct plot_ticks ticks;
    pick(canvas, &ticks, &canvas->plot->y, has_room_y);
    int widest = 0;
    for (int i = 0; i < ticks.count; i++)
        widest = max_int(widest, tick_width(canvas, &canvas->plot->y, ticks.at[i]));
    int gutter = widest > 0 ? widest + canvas->tick_px / 2 : 0;
    return min_int(gutter, canvas->inner.w / 2);
}

void paint_plot_pick_ticks(struct plot_canvas *canvas) {
    pick(canvas, &canvas->y_ticks, &canvas->plot->y, has_room_y);
    pick(canvas, &canvas->x_ticks, &canvas->plot->x, has_room_x);
}

// --- drawing ---

static struct paint_label label_in(const struct plot_canvas *canvas, struct rect rect,
                                   enum paint_align align) {
    return (struct paint_label){rect, align, FACE_WORDS, canvas->tick_px,
                                paint_color(canvas->paint, COLOR_QUIET)};
}

static void paint_y_ticks(struct plot_canvas *canvas) {
    const struct plot *plot = canvas->plot;
    const struct layout *layout = canvas->paint->layout;
    int row = layout_line_px(canvas->tick_px), hair = layout->hair_px;
    struct rect area = canvas->area;
    rgba fine = theme_fade(paint_color(canvas->paint, COLOR_LINE), 600000);
    for (int i = 0; i < canvas->y_ticks.count; i++) {
        char text[32];
        double value = canvas->y_ticks.at[i];
        int y = paint_plot_y16(canvas, value) / CMD_LINE_UNIT;
        plot_tick_text(text, &plot->y, value);
        if (plot->columns == 0 && y < area.y + area.h - hair)
            cmdlist_fill(canvas->out, (struct rect){area.x, y - hair / 2, area.w, hair}, fine);
        struct rect rect = {canvas->inner.x, y - row / 2,
                            area.x - canvas->tick_px / 2 - canvas->inner.x, row};
        struct paint_label label = label_in(canvas, rect, ALIGN_RIGHT);
        paint_text(canvas->out, canvas->paint->text, &label, text);
    }
}

// Where the axis's name is in the same row, ticks are only drawn left of it.
static void paint_x_ticks(struct plot_canvas *canvas) {
    const struct plot *plot = canvas->plot;
    struct rect row = canvas->tick_row, area = canvas->area;
    int hair = canvas->paint->layout->hair_px, mark = max_int(2, canvas->tick_px / 4);
    int right = row.x + row.w;
    if (canvas->x_label.w > 0 && canvas->x_label.y == row.y)
        right -= canvas->x_label.w + canvas->tick_px;
    for (int i = 0; i < canvas->x_ticks.count; i++) {
        char text[32];
        double value = canvas->x_ticks.at[i];
        int width = tick_width(canvas, &plot->x, value), x = text_x(canvas, value, width);
        int at = paint_plot_x16(canvas, value) / CMD_LINE_UNIT;
        cmdlist_fill(canvas->out, (struct rect){at - hair / 2, area.y + area.h, hair, mark},
                     paint_color(canvas->paint, COLOR_LINE));
        if (x + width > right)
            continue;
        plot_tick_text(text, &plot->x, value);
        struct paint_label label =
            label_in(canvas, (struct rect){x, row.y, width, row.h}, ALIGN_LEFT);
        paint_text(canvas->out, canvas->paint->text, &label, text);
    }
}

void paint_plot_axes(struct plot_canvas *canvas) {
    const struct plot *plot = canvas->plot;
    struct text *text = canvas->paint->text;
    struct rect area = canvas->area;
    int hair = canvas->paint->layout->hair_px;
    rgba line = paint_color(canvas->paint, COLOR_LINE);
    int width = text_width_px(text, FACE_WORDS, canvas->tick_px, plot->x.label);
    if (canvas->x_label.w > 0) { // at the right end of its row
        width = min_int(width, canvas->x_label.w * 2 / 3);
        canvas->x_label.x += canvas->x_label.w - width;
        canvas->x_label.w = width;
    }
    paint_y_ticks(canvas);
    paint_x_ticks(canvas);
    cmdlist_fill(canvas->out, (struct rect){area.x - hair, area.y, hair, area.h + hair}, line);
    cmdlist_fill(canvas->out, (struct rect){area.x, area.y + area.h, area.w, hair}, line);
    struct paint_label label = label_in(canvas, canvas->x_label, ALIGN_RIGHT);
    paint_text(canvas->out, text, &label, plot->x.label);
    label = label_in(canvas, canvas->y_label, ALIGN_LEFT);
    paint_text(canvas->out, text, &label, plot->y.label);
}
