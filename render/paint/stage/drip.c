// The drop. It grows below the newest column while the output stage runs, lets go and
// falls, faster and faster, to the empty place in the answer line, where its token's tile
// stands when it is measured out. Every position follows from the drop's progress alone.
// The stage may be over in two frames: then the trail that the fall leaves, small still
// drops on the same path, tells where the token came from.
#include "render/paint/parts.h"

#include "compute/base/num.h"

enum { TRAIL_DROPS = 10 };

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

// Where the drop's middle and top are at a moment of the fall, in quarters of a
// pixel for the top.
struct fall {
    int middle_x;
    int64_t top_quarters;
};

static struct fall fall_at(const struct layout *layout, int column, struct rect place,
                           int fall_ppm) {
    int64_t way = clamp_ppm(fall_ppm);
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

static rgba color_of(const struct paint *paint, bool is_prefill) {
    return paint_color(paint, is_prefill ? COLOR_PREFILL : COLOR_DECODE);
}

static void paint_one(struct cmdlist *out, const struct paint *paint, struct rect place) {
    const struct view_drop *drop = &paint->view->drop;
    int width = paint_between(0, full_width_px(paint->layout), root_ppm(drop->grown_ppm));
    struct fall fall = fall_at(paint->layout, drop->column, place, drop->fallen_ppm);
    int light_ppm = VIEW_PPM - clamp_ppm(paint->view->pass.calm_ppm);
    put_drop(out, &fall, width, theme_fade(color_of(paint, drop->is_prefill), light_ppm));
}

// Small drops at fixed parts of the way from the column to the place. The calmer the picture
// must be the more steeply they fall: a place that moves fast pulls none from side to side.
static void paint_trail(struct cmdlist *out, const struct paint *paint, struct rect place) {
    const struct view_trail *trail = &paint->view->trail;
    const struct layout *layout = paint->layout;
    int width = clamp_int(full_width_px(layout) / 4, 4, CMD_MAX_DROP_PX);
    rgba color = theme_fade(color_of(paint, trail->is_prefill), trail->light_ppm);
    int below = hang_x(layout, trail->column) - place.w / 2;
    place.x = paint_between(place.x, below, clamp_ppm(paint->view->pass.calm_ppm));
    for (int i = 0; i < TRAIL_DROPS; i++) {
        int way = (2 * i + 1) * (VIEW_PPM / (2 * TRAIL_DROPS));
        struct fall fall = fall_at(layout, trail->column, place, way);
        put_drop(out, &fall, width, color);
    }
}

void paint_drip(struct cmdlist *out, const struct paint *paint, const struct paint_flow *flow) {
    if (paint->view->trail.light_ppm > 0)
        paint_trail(out, paint, flow->last);
    if (paint->view->drop.grown_ppm > 0)
        paint_one(out, paint, flow->next);
}
