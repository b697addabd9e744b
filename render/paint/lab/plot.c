// See plot.h. Plans the panel's rows with height for the data first, draws the parts from
// back to front, and finds free places for the labels.
#include "render/paint/lab/parts.h"

#include "compute/base/num.h"
#include "render/paint/wrap.h"

#include <math.h>
#include <string.h>

rgba paint_plot_tone(const struct paint *paint, uint8_t tone) {
    const int least_contrast = 450;
    rgba color = paint_tone(paint, tone), ink = paint_color(paint, COLOR_INK);
    rgba panel = paint_color(paint, COLOR_PANEL), legible = color;
    for (int alpha = 15; theme_contrast_x100(legible, panel) < least_contrast && alpha <= 255;
         alpha += 15)
        legible = theme_blend(ink, (uint8_t)alpha, color);
    return legible;
}

// --- places ---

static int place_16(int from_px, int length_px, double share) {
    const double outside = 4;
    share = share < -outside ? -outside : share > 1 + outside ? 1 + outside : share;
    return from_px * CMD_LINE_UNIT + (int)lround(share * length_px * CMD_LINE_UNIT);
}

int paint_plot_x16(const struct plot_canvas *canvas, double value) {
    return place_16(canvas->data.x, canvas->data.w, plot_share(&canvas->plot->x, value));
}

int paint_plot_y16(const struct plot_canvas *canvas, double value) {
    return place_16(canvas->data.y, canvas->data.h, 1 - plot_share(&canvas->plot->y, value));
}

void paint_plot_take(struct plot_canvas *canvas, struct rect rect) {
    if (canvas->taken_count < PLOT_MAX_TAKEN)
        canvas->taken[canvas->taken_count++] = rect;
}

static bool is_common(struct rect a, struct rect b) {
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

// A segment passes through the rectangle: its box does, and the rectangle's corners
// are not all on one side of it.
static bool is_crossed(struct rect rect, const struct plot_segment *s) {
    int64_t left = rect.x * CMD_LINE_UNIT, top = rect.y * CMD_LINE_UNIT;
    int64_t right = left + rect.w * CMD_LINE_UNIT, bottom = top + rect.h * CMD_LINE_UNIT;
    if (max_int(s->x0, s->x1) < left || min_int(s->x0, s->x1) > right ||
        max_int(s->y0, s->y1) < top || min_int(s->y0, s->y1) > bottom)
        return false;
    const int64_t xs[] = {left, right, left, right}, ys[] = {top, top, bottom, bottom};
    bool has_left = false, has_right = false;
    for (int i = 0; i < 4; i++) {
        int64_t side =
            (int64_t)(s->x1 - s->x0) * (ys[i] - s->y0) - (int64_t)(s->y1 - s->y0) * (xs[i] - s->x0);
        has_left = has_left || side <= 0;
        has_right = has_right || side >= 0;
    }
    return has_left && has_right;
}

static bool is_free(const struct plot_canvas *canvas, struct rect rect) {
    struct rect area = canvas->area;
    int air = canvas->paint->layout->stroke_px;
    if (rect.x < area.x + air || rect.y < area.y || rect.x + rect.w > area.x + area.w ||
        rect.y + rect.h > area.y + area.h)
        return false;
    struct rect wide = rect_inset(rect, -air, -air);
    for (int i = 0; i < canvas->taken_count; i++)
        if (is_common(wide, canvas->taken[i]))
            return false;
    for (int i = 0; i < canvas->segment_count; i++)
        if (is_crossed(wide, &canvas->segments[i]))
            return false;
    return true;
}

static int64_t side_of(const struct plot_segment *s, int64_t x, int64_t y) {
    return (s->x1 - s->x0) * (y - s->y0) - (s->y1 - s->y0) * (x - s->x0);
}

// A line passes between the place and the label: the label would seem another's.
static bool is_cut_off(const struct plot_canvas *canvas, struct rect box,
                       const struct plot_spot *spot) {
    int x_px = spot->x_px, y_px = spot->y_px;
    int near_x = max_int(box.x, min_int(x_px, box.x + box.w)),
        near_y = max_int(box.y, min_int(y_px, box.y + box.h));
    int dx = near_x - x_px, dy = near_y - y_px,
        far = max_int(1, max_int(dx, -dx) + max_int(dy, -dy));
    const struct plot_segment way = {(x_px + dx * spot->reach_px / far) * CMD_LINE_UNIT,
                                     (y_px + dy * spot->reach_px / far) * CMD_LINE_UNIT,
                                     near_x * CMD_LINE_UNIT, near_y * CMD_LINE_UNIT};
    for (int i = 0; i < canvas->segment_count; i++) {
        const struct plot_segment *s = &canvas->segments[i];
        bool is_between = (side_of(&way, s->x0, s->y0) > 0) != (side_of(&way, s->x1, s->y1) > 0);
        if (is_between && (side_of(s, way.x0, way.y0) > 0) != (side_of(s, way.x1, way.y1) > 0))
            return true;
    }
    return false;
}

// --- labels ---

static struct rect label_box(const struct plot_canvas *canvas, const struct plot_label *label) {
    int width = text_width_px(canvas->paint->text, label->face, label->px, label->utf8);
    int pad = label->on_chip ? label->px / 2 : 0;
    return (struct rect){0, 0, width + 2 * pad, layout_line_px(label->px) + pad / 2};
}

static void put_label(struct plot_canvas *canvas, const struct plot_label *label, struct rect box) {
    const struct paint *paint = canvas->paint;
    if (label->on_chip) {
        cmdlist_round(canvas->out, box, box.h / 4, paint_color(paint, COLOR_PANEL));
        cmdlist_ring(canvas->out, box, box.h / 4, paint->layout->hair_px,
                     paint_color(paint, COLOR_LINE));
    } else { // the fine lines of the axes end beside it
        cmdlist_fill(canvas->out, box, paint_color(paint, COLOR_PANEL));
    }
    struct paint_label words = {box, ALIGN_CENTER, label->face, label->px, label->color};
    paint_text(canvas->out, paint->text, &words, label->utf8);
    paint_plot_take(canvas, box);
}

// Right, above, below, left, then the corners, in units of half the label and of its
// gap: the label's near edge lies at the place plus the gap.
static struct rect box_at(struct rect box, int side, int x_px, int y_px, int gap_px) {
    static const int8_t SIDES[][2] = {{1, 0},  {0, -1}, {0, 1},   {-1, 0},
                                      {1, -1}, {1, 1},  {-1, -1}, {-1, 1}};
    int dx = SIDES[side][0], dy = SIDES[side][1];
    box.x = x_px - box.w / 2 + dx * (box.w / 2 + (dy == 0 ? gap_px : gap_px / 2));
    box.y = y_px - box.h / 2 + dy * (box.h / 2 + gap_px);
    return box;
}
enum { SIDE_COUNT = 8 };

static bool try_sides(struct plot_canvas *canvas, const struct plot_label *label,
                      const struct plot_spot *spot, int gap_px, bool may_be_cut_off) {
    struct rect area = canvas->area, size = label_box(canvas, label);
    int air = canvas->paint->layout->stroke_px;
    for (int side = 0; side < SIDE_COUNT; side++) {
        struct rect box = box_at(size, side, spot->x_px, spot->y_px, gap_px);
        if (side != 0 && side != 3) // above and below it may move along
            box.x = max_int(area.x + air, min_int(box.x, area.x + area.w - box.w));
        if (!is_free(canvas, box) || (!may_be_cut_off && is_cut_off(canvas, box, spot)))
            continue;
        put_label(canvas, label, box);
        return true;
    }
    return false;
}

bool paint_plot_label(struct plot_canvas *canvas, const struct plot_label *label,
                      const struct plot_spot *spot, bool may_be_cut_off) {
    int gap = spot->reach_px + max_int(2, label->px * 3 / 10), further = paint_plot_dot_px(canvas);
    return try_sides(canvas, label, spot, gap, may_be_cut_off) ||
           try_sides(canvas, label, spot, gap + further, may_be_cut_off) ||
           (spot->is_line && try_sides(canvas, label, spot, gap + 3 * further, may_be_cut_off));
}

bool paint_plot_label_over(struct plot_canvas *canvas, const struct plot_label *label, int x_px,
                           int y_px) {
    struct rect box = label_box(canvas, label);
    box.x = x_px - box.w / 2;
    box.y = y_px - box.h / 2;
    if (!is_free(canvas, box))
        return false;
    put_label(canvas, label, box);
    return true;
}

// --- the plan ---

static int width_of(const struct plot_canvas *canvas, enum text_face face, int px,
                    const char *utf8) {
    return text_width_px(canvas->paint->text, face, px, utf8);
}

// Title left, origin right; one under the other when they don't fit side by side.
static int plan_title(struct plot_canvas *canvas) {
    struct rect inner = canvas->inner;
    int px = canvas->place.text_px, small = canvas->tick_px, row = layout_line_px(px);
    int title_w = width_of(canvas, FACE_STRONG, px, canvas->plot->title);
    int origin_w = min_int(inner.w, width_of(canvas, FACE_WORDS, small, canvas->plot->origin));
    canvas->title = canvas->origin = (struct rect){inner.x, inner.y, inner.w, row};
    if (origin_w == 0)
        return row;
    bool is_beside = title_w + px + origin_w <= inner.w;
    if (!is_beside && inner.h < 9 * row) { // no height to spare: the title is cut
        is_beside = true;
        origin_w = min_int(origin_w, inner.w / 2);
    }
    if (!is_beside) {
        canvas->origin.y += row;
        canvas->origin.h = layout_line_px(small);
        return row + canvas->origin.h;
    }
    canvas->title.w = inner.w - origin_w - px;
    canvas->origin.x += inner.w - origin_w;
    canvas->origin.w = origin_w;
    return row;
}

// What is given up, step by step, when the data would get too little height.
struct frugality {
    int caption_lines;
    bool has_x_row, has_y_row;
};
static const struct frugality STEPS[] = {
    {2, true, true}, {2, false, true}, {1, false, true}, {0, false, true}, {0, false, false}};
enum { STEP_COUNT = sizeof STEPS / sizeof STEPS[0] };

// Sets a long caption smaller before it is cut.
static void plan_caption(struct plot_canvas *canvas, int most) {
    struct wrap_style style = {FACE_WORDS, canvas->place.text_px, canvas->inner.w};
    struct text *text = canvas->paint->text;
    if (wrap_count(text, &style, canvas->plot->caption, most + 1) > most)
        style.px = canvas->tick_px;
    canvas->caption_px = style.px;
    canvas->caption_lines = wrap_count(text, &style, canvas->plot->caption, most);
}

// Rows above and below the data, and what is left between.
static void plan_rows(struct plot_canvas *canvas, int title_h, const struct frugality *step) {
    struct rect inner = canvas->inner;
    int tick = canvas->tick_px, row = layout_line_px(tick), unit = canvas->paint->layout->unit_px;
    int top = inner.y + title_h + unit / 2, bottom = inner.y + inner.h;
    plan_caption(canvas, step->caption_lines);
    if (canvas->caption_lines > 0) {
        int height = canvas->caption_lines * layout_line_px(canvas->caption_px);
        canvas->caption = (struct rect){inner.x, bottom - height, inner.w, height};
        bottom -= height + unit / 2;
    }
    bool has_y = step->has_y_row && canvas->plot->y.label[0] != '\0';
    bool has_x = canvas->plot->x.label[0] != '\0';
    canvas->y_label = (struct rect){inner.x, top, has_y ? inner.w : 0, row};
    top += has_y ? row + unit / 2 : row * 2 / 3;
    canvas->x_label = (struct rect){inner.x, bottom - row, has_x ? inner.w : 0, row};
    bottom -= step->has_x_row && has_x ? row : 0;
    canvas->tick_row = (struct rect){inner.x, bottom - row, inner.w, row};
    // Half of the lowest text of the y axis is below the axis.
    bottom -= row + tick * 6 / 10;
    canvas->area = canvas->data = (struct rect){inner.x, top, inner.w, max_int(1, bottom - top)};
}

int paint_plot_dot_px(const struct plot_canvas *canvas) {
    int unit = canvas->paint->layout->unit_px;
    return min_int(max_int(5, unit * 3 / 2), CMD_MAX_LINE_PX);
}

// Dots at an end of the axis are whole. Cells fill the area.
static void set_data(struct plot_canvas *canvas) {
    int reach = canvas->plot->columns > 0 ? 0 : paint_plot_dot_px(canvas);
    struct rect area = canvas->area;
    canvas->data = (struct rect){area.x + reach, area.y + reach, max_int(1, area.w - 2 * reach),
                                 max_int(1, area.h - reach)};
}

void paint_plot_plan(struct plot_canvas *canvas, const struct paint *paint, const struct plot *plot,
                     const struct plot_place *place) {
    canvas->paint = paint;
    canvas->plot = plot;
    canvas->place = *place;
    canvas->tick_px = paint->layout->floor_px;
    canvas->taken_count = canvas->segment_count = canvas->half_segments = 0;
    struct rect all = place->rect;
    int pad = place->pad_px;
    canvas->inner = (struct rect){all.x + pad, all.y + pad, max_int(1, all.w - 2 * pad),
                                  max_int(1, all.h - 2 * pad)};
    int title_h = plan_title(canvas);
    for (int i = 0; i < STEP_COUNT; i++) {
        plan_rows(canvas, title_h, &STEPS[i]);
        if (canvas->area.h * 100 >= all.h * 38)
            break;
    }
    set_data(canvas);
    int gutter = paint_plot_gutter(canvas);
    canvas->area.x += gutter;
    canvas->area.w = max_int(1, canvas->area.w - gutter);
    set_data(canvas);
    canvas->y_label.x = canvas->area.x;
    canvas->y_label.w = canvas->y_label.w > 0 ? canvas->area.w : 0;
    paint_plot_pick_ticks(canvas);
}

// --- frame ---

static void paint_panel_frame(struct plot_canvas *canvas) {
    const struct paint *paint = canvas->paint;
    const struct plot_place *place = &canvas->place;
    cmdlist_round(canvas->out, place->rect, place->radius_px, paint_color(paint, COLOR_PANEL));
    cmdlist_ring(canvas->out, place->rect, place->radius_px, paint->layout->hair_px,
                 paint_color(paint, COLOR_LINE));
    paint_put(canvas->out, paint,
              (struct paint_label){canvas->title, ALIGN_LEFT, FACE_STRONG, place->text_px,
                                   paint_color(paint, COLOR_QUIET)},
              canvas->plot->title);
    paint_put(canvas->out, paint,
              (struct paint_label){
                  canvas->origin, canvas->origin.y == canvas->title.y ? ALIGN_RIGHT : ALIGN_LEFT,
                  FACE_WORDS, canvas->tick_px, paint_plot_tone(paint, canvas->plot->origin_tone)},
              canvas->plot->origin);
}

// Lines of running text from the top of the rectangle; the last one that fits takes
// the rest and is cut.
static void paint_lines(struct plot_canvas *canvas, struct paint_label label, const char *utf8,
                        int lines) {
    struct wrap_style style = {label.face, label.px, label.rect.w};
    struct wrap_line line;
    char row[WRAP_LINE_BYTES + 1];
    label.rect.h /= max_int(1, lines);
    for (int i = 0, at = 0; i < lines; i++, at = line.next) {
        if (!wrap_next(&line, canvas->paint->text, &style, utf8, at))
            return;
        int end = i + 1 < lines ? line.from + line.bytes : (int)strlen(utf8);
        wrap_copy(row, utf8, line.from, min_int(end, line.from + WRAP_LINE_BYTES));
        paint_text(canvas->out, canvas->paint->text, &label, row);
        label.rect.y += label.rect.h;
    }
}

static void paint_caption_lines(struct plot_canvas *canvas) {
    paint_lines(canvas,
                (struct paint_label){canvas->caption, ALIGN_LEFT, FACE_WORDS, canvas->caption_px,
                                     paint_color(canvas->paint, COLOR_INK)},
                canvas->plot->caption, canvas->caption_lines);
}

static void paint_message(struct plot_canvas *canvas) {
    int px = canvas->place.text_px, row = layout_line_px(px);
    struct rect inner = canvas->inner;
    int top = canvas->origin.y + canvas->origin.h;
    int bottom = canvas->caption_lines > 0 ? canvas->caption.y : inner.y + inner.h;
    struct wrap_style style = {FACE_WORDS, px, inner.w * 4 / 5};
    int most = max_int(1, min_int(4, (bottom - top) / row));
    int lines = wrap_count(canvas->paint->text, &style, canvas->plot->message, most);
    struct rect rect = {inner.x + (inner.w - style.width_px) / 2,
                        top + (bottom - top - lines * row) / 2, style.width_px, lines * row};
    paint_lines(canvas,
                (struct paint_label){rect, ALIGN_CENTER, FACE_WORDS, px,
                                     paint_color(canvas->paint, COLOR_QUIET)},
                canvas->plot->message, lines);
}

void paint_plot(struct cmdlist *out, const struct paint *paint, const struct plot *plot,
                const struct plot_place *place) {
    struct plot_canvas canvas;
    canvas.out = out;
    paint_plot_plan(&canvas, paint, plot, place);
    paint_panel_frame(&canvas);
    paint_caption_lines(&canvas);
    if (plot->message[0] != '\0') {
        paint_message(&canvas);
        return;
    }
    paint_plot_axes(&canvas);
    paint_plot_cells(&canvas);
    bool is_map = plot->columns > 0; // its marks may stand on the edge
    if (is_map)
        cmdlist_clip(out, canvas.area);
    paint_plot_series(&canvas);
    paint_plot_pins(&canvas);
    if (is_map)
        cmdlist_clip(out, (struct rect){0});
    paint_plot_series_labels(&canvas, TURN_RINGS);
    paint_plot_pin_labels(&canvas);
    paint_plot_series_labels(&canvas, TURN_POINTS);
    paint_plot_series_labels(&canvas, TURN_LINES);
    paint_plot_cell_labels(&canvas);
}
