// Lab mode's picture: the stage's top and read-outs, and between them the clock with a
// lane for each run, the sliders, two plots and the page dots; and what the mouse points
// at. Drawing and hit test use the same rectangles. Pure as paint.h is.
#ifndef RENDER_PAINT_LAB_LAB_H
#define RENDER_PAINT_LAB_LAB_H

#include "render/data/lab.h"
#include "render/paint/layout_lab.h"
#include "render/paint/paint.h"

// The whole picture, beginning with the ground. Of the view it reads title, stage,
// origin, rate and read-outs. `layout` was made from paint->layout.
void paint_lab(struct cmdlist *out, const struct paint *paint, const struct lab *lab,
               const struct lab_layout *layout);

enum lab_part {
    LAB_NOTHING,
    LAB_CONTROL, // index; ppm along its way
    LAB_CLOCK,   // index of the lane; ppm of the scale
    LAB_PAGE,    // index of the page
};
struct lab_hit {
    enum lab_part part;
    int index, ppm;
};
struct lab_hit paint_lab_hit(const struct paint *paint, const struct lab *lab,
                             const struct lab_layout *layout, int x_px, int y_px);

// For a drag that has left the control: the nearest place on its track. 0 for a control
// that isn't shown.
int paint_lab_drag_ppm(const struct paint *paint, const struct lab *lab,
                       const struct lab_layout *layout, int control, int x_px);

#endif
