// A plot's series: lines cut to the area and walked for dashes and dots, points with
// their spread, the ring of the current setting; then a label beside each. Whatever is
// drawn is also taken, so that labels keep away from it.
#include "render/paint/lab/parts.h"

#include "compute/base/num.h"

#include <math.h>

static bool is_line(const struct plot_series *series) {
    return series->look == PLOT_LINE || series->look == PLOT_DASHES || series->look == PLOT_DOTTED;
}

static rgba color_of(const struct plot_canvas *canvas, const struct plot_series *series) {
    return paint_tone(canvas->paint, series->tone);
}

// --- lines ---

// Cuts the piece to the area (Liang and Barsky). False: nothing is left.
static bool cut(struct plot_segment *s, struct rect area) {
    double x0 = s->x0, y0 = s->y0, dx = s->x1 - s->x0, dy = s->y1 - s->y0;
    double left = area.x * CMD_LINE_UNIT, top = area.y * CMD_LINE_UNIT;
    double right = left + area.w * CMD_LINE_UNIT, bottom = top + area.h * CMD_LINE_UNIT;
    const double way[] = {-dx, dx, -dy, dy},
                 room[] = {x0 - left, right - x0, y0 - top, bottom - y0};
    double from = 0, to = 1;
    for (int i = 0; i < 4; i++) {
        if (way[i] == 0 && room[i] < 0)
            return false;
        if (way[i] < 0)
            from = fmax(from, room[i] / way[i]);
        else if (way[i] > 0)
            to = fmin(to, room[i] / way[i]);
    }
    if (from > to)
        return false;
    if (to < 1) {
        s->x1 = (int)lround(x0 + to * dx);
        s->y1 = (int)lround(y0 + to * dy);
    }
    if (from > 0) {
        s->x0 = (int)lround(x0 + from * dx);
        s->y0 = (int)lround(y0 + from * dy);
    }
    return true;
}

static void add_segment(struct plot_canvas *canvas, struct plot_segment segment) {
    if (canvas->segment_count < PLOT_MAX_SEGMENTS && cut(&segment, canvas->data))
        canvas->segments[canvas->segment_count++] = segment;
}

// From one point to the next, straight in values: where an axis is logarithmic by as
// many short pieces as the eye needs.
static void add_pieces(struct plot_canvas *canvas, const struct plot_point *a,
                       const struct plot_point *b, int most) {
    const struct plot *plot = canvas->plot;
    double from = plot_share(&plot->x, a->x), to = plot_share(&plot->x, b->x);
    int x = paint_plot_x16(canvas, a->x), y = paint_plot_y16(canvas, a->y);
    int pieces = 1;
    if ((plot->x.is_log || plot->y.is_log) && a->x != b->x && fabs(from) < 5 && fabs(to) < 5) {
        const int piece_px = 8;
        pieces = (int)(fabs(to - from) * canvas->data.w / piece_px) + 1;
        pieces = min_int(pieces, most);
    }
    for (int i = 1; i <= pieces; i++) {
        double at = i == pieces ? b->x : plot_value(&plot->x, from + (to - from) * i / pieces);
        double value = i == pieces ? b->y : a->y + (b->y - a->y) * (at - a->x) / (b->x - a->x);
        int next_x = paint_plot_x16(canvas, at), next_y = paint_plot_y16(canvas, value);
        add_segment(canvas, (struct plot_segment){x, y, next_x, next_y});
        x = next_x;
        y = next_y;
    }
}

static void add_path(struct plot_canvas *canvas, const struct plot_series *series) {
    const struct plot_point *points = &canvas->plot->points[series->first];
    int most =
        max_int(1, min_int(400, PLOT_MAX_SEGMENTS / PLOT_MAX_SERIES / max_int(1, series->count)));
    for (int i = 0; i + 1 < series->count; i++)
        add_pieces(canvas, &points[i], &points[i + 1], most);
}

// A pattern walked along a path: `on` drawn, `off` not, in 1/16 px.
struct walk {
    struct cmdlist *out;
    rgba color;
    int stroke;
    double on, off; // on = 0: dots
    double at;      // of on + off
    bool has_drawn;
};

static void draw_piece(struct walk *walk, double x0, double y0, double x1, double y1) {
    struct cmd_line line = {(int)lround(x0), (int)lround(y0), (int)lround(x1),
                            (int)lround(y1), walk->stroke,    walk->has_drawn};
    cmdlist_line(walk->out, &line, walk->color);
    walk->has_drawn = true;
}

static void walk_segment(struct walk *walk, const struct plot_segment *s) {
    double dx = s->x1 - s->x0, dy = s->y1 - s->y0, length = hypot(dx, dy), done = 0;
    const double least = 1e-3;
    double period = walk->on + walk->off;
    while (done < length) {
        bool is_on = walk->at < walk->on || (walk->on == 0 && walk->at == 0);
        double rest = (is_on ? walk->on : period) - walk->at;
        double end = fmin(length, done + rest);
        if (is_on)
            draw_piece(walk, s->x0 + dx * done / length, s->y0 + dy * done / length,
                       s->x0 + dx * end / length, s->y0 + dy * end / length);
        if (is_on && walk->on == 0) { // a dot has no length: go on to the next
            end = fmin(length, done + period);
            rest = period;
        }
        walk->at += end - done;
        // Never a rest too small to move on by.
        if (walk->at < walk->on && walk->at > walk->on - least)
            walk->at = walk->on;
        if (walk->at > period - least)
            walk->at = 0;
        done = end;
    }
}

static void paint_line(struct plot_canvas *canvas, const struct plot_series *series, int first,
                       int end) {
    int stroke = canvas->paint->layout->stroke_px * CMD_LINE_UNIT;
    struct walk walk = {.out = canvas->out, .color = color_of(canvas, series), .stroke = stroke};
    if (series->look == PLOT_DASHES) {
        walk.on = 3.5 * stroke;
        walk.off = 3 * stroke;
    } else if (series->look == PLOT_DOTTED) {
        walk.stroke = stroke * 5 / 4;
        walk.off = 3 * stroke;
    }
    for (int i = first; i < end; i++) {
        const struct plot_segment *s = &canvas->segments[i];
        if (series->look == PLOT_LINE)
            draw_piece(&walk, s->x0, s->y0, s->x1, s->y1);
        else
            walk_segment(&walk, s);
    }
}

// --- points ---

static bool is_inside(const struct plot_canvas *canvas, int x16, int y16) {
    struct rect area = canvas->data;
    return x16 >= area.x * CMD_LINE_UNIT && x16 <= (area.x + area.w) * CMD_LINE_UNIT &&
           y16 >= area.y * CMD_LINE_UNIT && y16 <= (area.y + area.h) * CMD_LINE_UNIT;
}

// From low to high, where that reaches out of the dot.
static void paint_spread(struct plot_canvas *canvas, const struct plot_point *point, int x16,
                         int y16, rgba color) {
    struct rect area = canvas->area;
    if (!(point->low < point->high))
        return;
    int top =
        clamp_int(paint_plot_y16(canvas, point->high) / CMD_LINE_UNIT, area.y, area.y + area.h);
    int bottom =
        clamp_int(paint_plot_y16(canvas, point->low) / CMD_LINE_UNIT, area.y, area.y + area.h);
    int width = max_int(1, canvas->paint->layout->stroke_px / 2),
        half = paint_plot_dot_px(canvas) / 2;
    int y = y16 / CMD_LINE_UNIT, x = x16 / CMD_LINE_UNIT;
    if (top > y - half - width && bottom < y + half + width)
        return;
    struct rect stem = {x - width / 2, top, width, max_int(1, bottom - top)};
    cmdlist_fill(canvas->out, stem, color);
    for (int end = 0; end < 2; end++)
        cmdlist_fill(canvas->out,
                     (struct rect){x - half / 2, end ? bottom - width : top, half, width}, color);
    paint_plot_take(canvas, (struct rect){x - half / 2, top, half, max_int(1, bottom - top)});
}

static void paint_mark(struct plot_canvas *canvas, const struct plot_series *series, int x16,
                       int y16, bool is_continued) {
    int size = paint_plot_dot_px(canvas), x = (x16 + 8) / CMD_LINE_UNIT,
        y = (y16 + 8) / CMD_LINE_UNIT;
    rgba color = color_of(canvas, series);
    struct rect box = rect_around(x, y, size);
    if (series->look == PLOT_DOTS) {
        struct cmd_line dot = {x16, y16, x16, y16, size * CMD_LINE_UNIT, is_continued};
        cmdlist_line(canvas->out, &dot, color);
    } else if (series->look == PLOT_SQUARE) {
        cmdlist_fill(canvas->out, box, color);
    } else {
        int out = size * 9 / 5, stroke = max_int(2, canvas->paint->layout->stroke_px);
        box = rect_around(x, y, out);
        cmdlist_ring(canvas->out, rect_inset(box, -1, -1), out / 2 + 1, stroke + 2,
                     paint_color(canvas->paint, COLOR_GROUND));
        cmdlist_ring(canvas->out, box, out / 2, stroke, color);
    }
    paint_plot_take(canvas, box);
}

static void paint_points(struct plot_canvas *canvas, const struct plot_series *series) {
    bool has_drawn = false;
    for (int pass = 0; pass < 2; pass++) // all spreads first: the dots are one shape
        for (int i = 0; i < series->count; i++) {
            const struct plot_point *point = &canvas->plot->points[series->first + i];
            int x = paint_plot_x16(canvas, point->x), y = paint_plot_y16(canvas, point->y);
            if (!is_inside(canvas, x, y))
                continue;
            if (pass == 0) {
                paint_spread(canvas, point, x, y, color_of(canvas, series));
                continue;
            }
            paint_mark(canvas, series, x, y, has_drawn);
            has_drawn = true;
        }
}

void paint_plot_series(struct plot_canvas *canvas) {
    const struct plot *plot = canvas->plot;
    for (int i = 0; i < plot->series_count; i++) {
        canvas->series_segments[i] = canvas->segment_count;
        if (is_line(&plot->series[i]))
            add_path(canvas, &plot->series[i]);
        canvas->series_segments[i + 1] = canvas->segment_count;
    }
    for (int i = 0; i < plot->series_count; i++)
        if (is_line(&plot->series[i]))
            paint_line(canvas, &plot->series[i], canvas->series_segments[i],
                       canvas->series_segments[i + 1]);
    for (int ring = 0; ring < 2; ring++) // the current setting on top of all
        for (int i = 0; i < plot->series_count; i++)
            if (!is_line(&plot->series[i]) && (plot->series[i].look == PLOT_RING) == ring)
                paint_points(canvas, &plot->series[i]);
}

// --- labels ---

enum { TRIES = 16 }; // places along a series

static bool label_points(struct plot_canvas *canvas, const struct plot_series *series,
                         const struct plot_label *label, bool may_be_cut_off) {
    int reach =
        series->look == PLOT_RING ? paint_plot_dot_px(canvas) : paint_plot_dot_px(canvas) / 2;
    int last = max_int(0, series->count - TRIES);
    for (int i = series->count - 1; i >= last; i--) {
        const struct plot_point *point = &canvas->plot->points[series->first + i];
        int x = paint_plot_x16(canvas, point->x), y = paint_plot_y16(canvas, point->y);
        const struct plot_spot spot = {x / CMD_LINE_UNIT, y / CMD_LINE_UNIT, reach, false};
        if (is_inside(canvas, x, y) && paint_plot_label(canvas, label, &spot, may_be_cut_off))
            return true;
    }
    return false;
}

bool paint_plot_label_path(struct plot_canvas *canvas, int first, int end,
                           const struct plot_label *label, bool may_be_cut_off) {
    double length = 0;
    for (int i = first; i < end; i++) {
        const struct plot_segment *s = &canvas->segments[i];
        length += hypot(s->x1 - s->x0, s->y1 - s->y0);
    }
    int reach = canvas->paint->layout->stroke_px;
    for (int try = TRIES; try >= 0 && end > first; try--) {
        double want = length * try / TRIES, done = 0;
        int i = first;
        double piece = 0;
        for (; i < end; i++) {
            const struct plot_segment *s = &canvas->segments[i];
            piece = hypot(s->x1 - s->x0, s->y1 - s->y0);
            if (done + piece >= want || i == end - 1)
                break;
            done += piece;
        }
        const struct plot_segment *s = &canvas->segments[i];
        double t = piece > 0 ? (want - done) / piece : 0;
        int x = (int)((s->x0 + (s->x1 - s->x0) * t) / CMD_LINE_UNIT);
        int y = (int)((s->y0 + (s->y1 - s->y0) * t) / CMD_LINE_UNIT);
        if (paint_plot_label(canvas, label, &(struct plot_spot){x, y, reach, true}, may_be_cut_off))
            return true;
    }
    return false;
}

static bool label_series(struct plot_canvas *canvas, int i, const struct plot_label *label,
                         bool may_be_cut_off) {
    const struct plot_series *series = &canvas->plot->series[i];
    if (!is_line(series))
        return label_points(canvas, series, label, may_be_cut_off);
    return paint_plot_label_path(canvas, canvas->series_segments[i], canvas->series_segments[i + 1],
                                 label, may_be_cut_off);
}

// Large, small; then so again with a line between.
static void put_series_label(struct plot_canvas *canvas, int i) {
    const struct plot_series *series = &canvas->plot->series[i];
    struct plot_label label = {.utf8 = series->label,
                               .face = FACE_WORDS,
                               .color = paint_plot_tone(canvas->paint, series->tone),
                               .on_chip = canvas->plot->columns > 0};
    int px = canvas->place.text_px;
    bool is_small = label.on_chip || canvas->area.h < 13 * layout_line_px(px) / 2;
    for (int round = 0; round < 4; round++) {
        label.px = is_small || round % 2 ? canvas->tick_px : px;
        if (label_series(canvas, i, &label, round >= 2))
            return;
    }
}

void paint_plot_series_labels(struct plot_canvas *canvas, enum plot_turn turn) {
    const struct plot *plot = canvas->plot;
    for (int i = 0; i < plot->series_count; i++) {
        const struct plot_series *series = &plot->series[i];
        enum plot_turn own = series->look == PLOT_RING ? TURN_RINGS
                             : is_line(series)         ? TURN_LINES
                                                       : TURN_POINTS;
        if (own == turn && series->label[0] != '\0')
            put_series_label(canvas, i);
    }
}

void paint_plot_pins(struct plot_canvas *canvas) {
    const struct plot *plot = canvas->plot;
    const struct paint *paint = canvas->paint;
    int size = paint_plot_dot_px(canvas), edge = max_int(1, paint->layout->stroke_px / 2);
    for (int i = 0; i < plot->pin_count; i++) {
        int x16 = paint_plot_x16(canvas, plot->pins[i].x),
            y16 = paint_plot_y16(canvas, plot->pins[i].y);
        if (!is_inside(canvas, x16, y16))
            continue;
        struct cmd_line dot = {x16, y16, x16, y16, (size + 2 * edge) * CMD_LINE_UNIT, false};
        cmdlist_line(canvas->out, &dot, paint_color(paint, COLOR_GROUND));
        dot.stroke = size * CMD_LINE_UNIT;
        cmdlist_line(canvas->out, &dot, paint_color(paint, COLOR_INK));
        int half = size / 2 + edge;
        paint_plot_take(canvas,
                        rect_around(x16 / CMD_LINE_UNIT, y16 / CMD_LINE_UNIT, 2 * half + 1));
    }
}

void paint_plot_pin_labels(struct plot_canvas *canvas) {
    const struct plot *plot = canvas->plot;
    int size = paint_plot_dot_px(canvas);
    for (int i = 0; i < plot->pin_count; i++) {
        int x16 = paint_plot_x16(canvas, plot->pins[i].x),
            y16 = paint_plot_y16(canvas, plot->pins[i].y);
        struct plot_label label = {.utf8 = plot->pins[i].label,
                                   .face = FACE_WORDS,
                                   .px = canvas->tick_px,
                                   .color = paint_color(canvas->paint, COLOR_INK),
                                   .on_chip = plot->columns > 0};
        const struct plot_spot spot = {x16 / CMD_LINE_UNIT, y16 / CMD_LINE_UNIT, size / 2, false};
        if (is_inside(canvas, x16, y16) && label.utf8[0] != '\0')
            paint_plot_label(canvas, &label, &spot, true);
    }
}
