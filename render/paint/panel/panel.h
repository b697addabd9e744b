// The panel beside the stage: panel + layout + theme -> commands, and where the mouse
// is in it. Both come from one placing, so that what is drawn and what is hit are the
// same. Pure as paint.h is.
#ifndef RENDER_PAINT_PANEL_PANEL_H
#define RENDER_PAINT_PANEL_PANEL_H

#include "render/data/panel.h"
#include "render/paint/paint.h"

// Draws in layout->panel; nothing where the layout has none. Returns how many things
// were cut or left out for want of room (lines of a list are cut by design and don't
// count). `paint->view` is not read and may be NULL.
int paint_panel(struct cmdlist *out, const struct paint *paint, const struct panel *panel);

enum panel_part {
    PANEL_NOTHING,
    PANEL_CONTROL, // index; ppm along its way, of a switch 0 or VIEW_PPM
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

// For a drag that has left the control: the place along its way, clamped. 0 for a
// control that isn't shown.
int paint_panel_drag_ppm(const struct paint *paint, const struct panel *panel, int control,
                         int x_px);

// How far panel->block_scroll goes; 0: all of the blocks is shown.
int paint_panel_scroll_most(const struct paint *paint, const struct panel *panel);

#endif
