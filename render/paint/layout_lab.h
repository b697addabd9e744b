// Lab mode's rectangles, in what a stage's layout leaves between its top (title, pills,
// origin, rate) and its read-outs: one clock with a lane a run and the sliders below,
// two plots, the page dots. Pure integers: same input, same layout. All rectangles lie
// inside `middle` and are disjoint but for those named as parts of another.
#ifndef RENDER_PAINT_LAYOUT_LAB_H
#define RENDER_PAINT_LAYOUT_LAB_H

#include "render/data/lab.h"
#include "render/paint/layout.h"

struct lab_layout {
    struct rect middle;
    int lanes;     // 1 .. LAB_MAX_LANES
    int text_px;   // of labels, values and titles; not below the layout's floor_px
    int pad_px;    // between a panel's outline and what it holds
    int radius_px; // of panels
    bool are_controls_stacked, are_plots_stacked;

    struct rect clock;                      // the panel
    struct rect lane_labels[LAB_MAX_LANES]; // inside it, above its bar; empty: no room
    struct rect lane_bars[LAB_MAX_LANES];
    int overhang_px;         // the playhead's, above and below a bar
    struct rect notes;       // below the bars; empty: no room
    struct rect controls[2]; // sliders, inside the panel
    struct rect plots[LAB_PLOTS];
    struct rect pages; // dots and "1 of 3"
};

// Fills what `layout` leaves. `lanes` is brought into 1 .. LAB_MAX_LANES. The clock
// gives way to the plots: they have at least half of the height wherever text allows.
void layout_lab_make(struct lab_layout *out, const struct layout *layout, int lanes);

#endif
