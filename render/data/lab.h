// What Lab mode shows besides the stage's title, pills, origin and read-outs (those
// come from struct view): one clock with a lane for each run, two sliders, two plots.
#ifndef RENDER_DATA_LAB_H
#define RENDER_DATA_LAB_H

#include "render/data/panel.h"
#include "render/data/plot.h"

enum { LAB_MAX_LANES = 2, LAB_PLOTS = 2, LAB_MAX_SPANS = 512 };

// One run on the lab's clock. All lanes share one linear scale.
struct lab_lane {
    char label[96]; // whose run: "this run", "kept: CPU, 2 threads · bundled model"
    char value[64]; // "TTFT 0.73 ms · total 1.2 ms"
    int span_count;
    struct view_span spans[LAB_MAX_SPANS];
};

struct lab {
    int lane_count;
    struct lab_lane lanes[LAB_MAX_LANES];
    int playhead_ppm;     // of the scale
    int64_t scale_ns;     // what the full width stands for, 0 = nothing yet; not drawn
    char scale_label[32]; // what the full width stands for
    char clock_note[192]; // "120 ms + 59 × 20 ms", or what is going on: "measuring"
    int control_count;
    struct panel_control controls[2]; // prompt and answer length
    int page, pages;                  // plots are turned by pages, from 0
    struct plot plots[LAB_PLOTS];
};

// No lanes, no controls, one page of empty plots.
static inline void lab_clear(struct lab *lab) {
    memset(lab, 0, sizeof *lab);
    lab->pages = 1;
    for (int i = 0; i < LAB_PLOTS; i++)
        plot_clear(&lab->plots[i]);
}

#endif
