// See paint.h. Every painter reads the same three values (view, layout, theme) and
// appends commands; none keeps state between frames.
#include "render/paint/parts.h"

void paint_scene(struct cmdlist *out, const struct paint *paint) {
    struct rect all = {0, 0, paint->layout->input.width_px, paint->layout->input.height_px};
    cmdlist_fill(out, all, paint_color(paint, COLOR_GROUND));
    struct paint_flow flow;
    paint_flow_make(&flow, paint);
    paint_frame(out, paint);
    paint_grid(out, paint);
    paint_drip(out, paint, &flow); // before the answer: a drop passes behind its tiles
    paint_answer(out, paint, &flow);
    paint_clock(out, paint);
    paint_readouts(out, paint);
}
