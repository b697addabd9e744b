// A plot in its panel: title and origin, axes with round ticks, cells with the line at
// the half, series each in its look with its label beside it, pins, a caption. Labels
// are placed where nothing else is; one that has no place is left out, never drawn over
// something. Pure as paint.h is.
#ifndef RENDER_PAINT_LAB_PLOT_H
#define RENDER_PAINT_LAB_PLOT_H

#include "render/data/plot.h"
#include "render/paint/paint.h"

struct plot_place {
    struct rect rect; // the panel
    int text_px;      // title, labels, caption; ticks are set at the layout's floor
    int pad_px, radius_px;
};

// `paint->view` is not read and may be NULL.
void paint_plot(struct cmdlist *out, const struct paint *paint, const struct plot *plot,
                const struct plot_place *place);

// An accent as text on PANEL: as it is, or moved towards the ink until it can be read.
rgba paint_plot_tone(const struct paint *paint, uint8_t tone);

#endif
