// The drops. One grows below the newest column while the output stage runs, lets
// go when its token is measured out, falls faster and faster, glides over its place
// in the answer line and turns into a tile there. Every position follows from the
// drop's progress alone. What is too much for the eye becomes a stream of small
// still drops on the same path: the more are in the air, the denser.
#include "render/paint/parts.h"

#include "compute/base/num.h"

enum {
    TOUCH_PPM = 860000, // the drop is over its place; the rest of the fall it turns
    TURN_PPM = 800000,  // into a tile, beginning here
    STREAM_MAX = 48,
};

// sqrt in millionths: a drop's area grows evenly with time, as at a steady tap.
static int root_ppm(int ppm) {
    int64_t square = (int64_t)clamp_ppm(ppm) * VIEW_PPM;
    int64_t low = 0, high = VIEW_PPM;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (middle * middle <= square)
            low = middle;
        else
            high = middle - 1;
    }
    return (int)low;
}

// A full drop's width; its height is 1.35 times that.
static int full_width_px(const struct layout *layout) {
    int by_unit = layout->unit_px * 44 / 10;
    int by_height = layout->drip.h * 62 / 135;
    int width = by_unit < by_height ? by_unit : by_height;
    return clamp_int(width, 6, CMD_MAX_DROP_PX * 100 / 135);
}

static int height_of(int width_px) {
    return width_px * 27 / 20;
}

// The middle of a drop, kept so that all of it stays between the margins.
static int keep_inside(const struct layout *layout, int middle_x) {
    int half = (full_width_px(layout) + 1) / 2;
    return clamp_int(middle_x, layout->drip.x + half, layout->drip.x + layout->drip.w - half);
}

// Middle of the tip of a drop that hangs under a column.
static int hang_x(const struct layout *layout, int column) {
    int columns = layout->input.columns;
    struct rect cell = paint_output_cell(layout, clamp_int(column, 0, columns - 1));
    return keep_inside(layout, cell.x + cell.w / 2);
}

int paint_landing_ppm(int fall_ppm) {
    int64_t turned = (int64_t)(fall_ppm - TURN_PPM) * VIEW_PPM / (VIEW_PPM - TURN_PPM);
    return paint_smooth_ppm(clamp_ppm(turned));
}

// Where the drop's middle and top are at a moment of the fall, in quarters of a
// pixel for the top.
struct fall {
    int middle_x;
    int64_t top_quarters;
};

static struct fall fall_at(const struct layout *layout, int column, struct rect place,
                           int fall_ppm) {
    int64_t way = clamp_ppm((int64_t)fall_ppm * VIEW_PPM / TOUCH_PPM);
    int down_ppm = (int)(way * way / VIEW_PPM);
    int tall = height_of(full_width_px(layout));
    int from_y = layout->drip.y, to_y = place.y + place.h / 2 - tall / 2;
    int from_x = hang_x(layout, column), to_x = keep_inside(layout, place.x + place.w / 2);
    return (struct fall){
        .middle_x = paint_between(from_x, to_x, paint_smooth_ppm((int)way)),
        .top_quarters = (int64_t)from_y * 4 + (int64_t)(to_y - from_y) * 4 * down_ppm / VIEW_PPM,
    };
}

static void put_drop(struct cmdlist *out, const struct fall *fall, int width_px, rgba color) {
    int top = (int)(fall->top_quarters / 4), phase = (int)(fall->top_quarters % 4);
    struct rect rect = {fall->middle_x - width_px / 2, top, width_px, height_of(width_px)};
    cmdlist_drop(out, rect, phase, color);
}

static rgba color_of(const struct paint *paint, const struct view_drop *drop) {
    return paint_color(paint, drop->is_prefill ? COLOR_PREFILL : COLOR_DECODE);
}

static void paint_growing(struct cmdlist *out, const struct paint *paint,
                          const struct view_drop *drop) {
    const struct layout *layout = paint->layout;
    int width = paint_between(0, full_width_px(layout), root_ppm(drop->progress_ppm));
    struct fall hanging = {hang_x(layout, drop->column), (int64_t)layout->drip.y * 4};
    put_drop(out, &hanging, width, color_of(paint, drop));
}

// The place a token in the air will get.
static struct rect place_of(const struct paint *paint, const struct paint_flow *flow, int answer) {
    int i = answer - paint->view->landed;
    if (flow->air_count == 0)
        return paint->layout->answer;
    return flow->air[clamp_int(i, 0, flow->air_count - 1)];
}

static void paint_falling(struct cmdlist *out, const struct paint *paint,
                          const struct paint_flow *flow, const struct view_drop *drop) {
    const struct layout *layout = paint->layout;
    struct rect place = place_of(paint, flow, drop->answer);
    struct fall fall = fall_at(layout, drop->column, place, drop->progress_ppm);
    int left_ppm = VIEW_PPM - paint_landing_ppm(drop->progress_ppm);
    put_drop(out, &fall, full_width_px(layout), theme_fade(color_of(paint, drop), left_ppm));
}

// Small drops at fixed parts of the way from the newest column to its place.
static void paint_stream(struct cmdlist *out, const struct paint *paint,
                         const struct paint_flow *flow) {
    const struct view *view = paint->view;
    const struct layout *layout = paint->layout;
    int count = clamp_int(view->stream, 0, STREAM_MAX);
    struct rect place = place_of(paint, flow, view->landed);
    int width = clamp_int(full_width_px(layout) / 4, 4, CMD_MAX_DROP_PX);
    rgba color = theme_fade(paint_color(paint, COLOR_DECODE), VIEW_PPM * 6 / 10);
    for (int i = 0; i < count; i++) {
        int way = (int)((2 * (int64_t)i + 1) * TURN_PPM / (2 * count));
        struct fall fall =
            fall_at(layout, clamp_int(view->headers - 1, 0, view->headers), place, way);
        put_drop(out, &fall, width, color);
    }
}

void paint_drip(struct cmdlist *out, const struct paint *paint, const struct paint_flow *flow) {
    const struct view *view = paint->view;
    paint_stream(out, paint, flow);
    for (int i = 0; i < view->drop_count; i++) {
        if (view->drops[i].is_falling)
            paint_falling(out, paint, flow, &view->drops[i]);
        else
            paint_growing(out, paint, &view->drops[i]);
    }
}
