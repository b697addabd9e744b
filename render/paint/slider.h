// The way of a knob or handle along its track, in the panel and in Lab: where it is drawn
// and which value a click or drag means follow from the same two numbers.
#ifndef RENDER_PAINT_SLIDER_H
#define RENDER_PAINT_SLIDER_H

#include "render/paint/paint.h"

struct paint_slider {
    struct rect rail; // the thin line under the knob
    int knob_px;      // diameter, even; the knob stays within the rail's ends
};

int paint_slider_x(const struct paint_slider *slider, int ppm);    // the knob's middle
int paint_slider_ppm(const struct paint_slider *slider, int x_px); // the nearest place

// The rail, filled up to the knob at `ppm`.
void paint_slider_rail(struct cmdlist *out, const struct paint *paint,
                       const struct paint_slider *slider, int ppm, rgba color);

#endif
