// The panel beside the stage: panel + layout + theme -> commands, and what the mouse
// points at. Drawing and hit test use the same plan, so they always agree. Pure as
// paint.h is.
#ifndef RENDER_PAINT_PANEL_PANEL_H
#define RENDER_PAINT_PANEL_PANEL_H

#include "render/data/panel.h"
#include "render/paint/paint.h"

// Draws in layout->panel, or nothing where the layout has none. Returns how many things
// were cut or left out for lack of room (lines of a list don't count: it scrolls).
// `paint->view` is not read and may be NULL.
int paint_panel(struct cmdlist *out, const struct paint *paint, const struct panel *panel);

enum panel_part {
    PANEL_NOTHING,
    PANEL_CONTROL, // index; ppm along its track, of a switch 0 or VIEW_PPM
    PANEL_LINE,    // index of a line of the list
    PANEL_TERM,    // term: the underlined word as it is written
};
struct panel_hit {
    enum panel_part part;
    int index;
    int ppm;
    char term[40];
};

struct panel_hit paint_panel_hit(const struct paint *paint, const struct panel *panel, int x_px,
                                 int y_px);

// For a drag that has left the control: the nearest place on its track. 0 for a control
// that isn't shown.
int paint_panel_drag_ppm(const struct paint *paint, const struct panel *panel, int control,
                         int x_px);

// The largest useful panel->block_scroll; 0: the blocks are shown whole.
int paint_panel_scroll_most(const struct paint *paint, const struct panel *panel);

#endif
