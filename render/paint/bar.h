// A run's time as one bar, on the stage and in Lab: prefill solid, decode striped, a
// charged step hollow and named, a gap between steps while that can be seen.
#ifndef RENDER_PAINT_BAR_H
#define RENDER_PAINT_BAR_H

#include "render/paint/paint.h"

struct paint_bar {
    struct rect rect;
    int playhead_y, playhead_h; // px; the playhead reaches over both edges of the bar
    enum theme_color ground;    // what is around the bar; gaps between steps show it
    enum theme_color groove;    // the bar where there is no time yet
    int least_step_px;          // narrower steps have no gaps
};

// The pixel that a place of the scale is in.
int paint_bar_x(const struct paint_bar *bar, int ppm);

// The groove, the spans in it, and the outline.
void paint_bar_spans(struct cmdlist *out, const struct paint *paint, const struct paint_bar *bar,
                     const struct view_span *spans, int count);

// A line through the bar, placed to the fraction of a pixel.
void paint_bar_playhead(struct cmdlist *out, const struct paint *paint, const struct paint_bar *bar,
                        int ppm);

#endif
