// See slider.h.
#include "render/paint/slider.h"

#include "compute/base/num.h"
#include "render/paint/parts.h"

static int way_px(const struct paint_slider *slider) {
    return max_int(1, slider->rail.w - slider->knob_px);
}

int paint_slider_x(const struct paint_slider *slider, int ppm) {
    return slider->rail.x + slider->knob_px / 2 + paint_between(0, way_px(slider), ppm);
}

int paint_slider_ppm(const struct paint_slider *slider, int x_px) {
    int from_px = x_px - slider->rail.x - slider->knob_px / 2;
    return ppm_of(from_px, way_px(slider));
}

void paint_slider_rail(struct cmdlist *out, const struct paint *paint,
                       const struct paint_slider *slider, int ppm, rgba color) {
    struct rect rail = slider->rail;
    cmdlist_round(out, rail, rail.h / 2, paint_color(paint, COLOR_LINE));
    rail.w = paint_slider_x(slider, ppm) - rail.x;
    cmdlist_round(out, rail, rail.h / 2, color);
}
