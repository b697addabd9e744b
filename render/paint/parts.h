// What the painters share; nobody else needs it.
#ifndef RENDER_PAINT_PARTS_H
#define RENDER_PAINT_PARTS_H

#include "render/paint/paint.h"

rgba paint_color(const struct paint *paint, enum theme_color color);
rgba paint_tone(const struct paint *paint, uint8_t tone);

// As paint_text; the text may shrink down to the layout's floor.
int paint_put(struct cmdlist *out, const struct paint *paint, struct paint_label label,
              const char *utf8);

// Positions in millionths, 0 .. VIEW_PPM. Smooth: 3t^2 - 2t^3.
int paint_smooth_ppm(int ppm);
int paint_between(int from, int to, int ppm); // rounded

// A token's name, centred, with a mark like an open box where it begins with a space. The label's
// face does not matter; it shrinks down to the layout's floor before it is cut.
int paint_token_width(const struct paint *paint, const struct view_token *token, int px);
void paint_token(struct cmdlist *out, const struct paint *paint, struct paint_label label,
                 const struct view_token *token);

// A moving edge inside a rectangle, with the part of a pixel it has entered.
struct paint_edge {
    int whole_px;
    int part_ppm; // of the next pixel
};
struct paint_edge paint_edge_at(int length_px, int ppm);

// Where answer tokens lie.
struct paint_flow {
    int first_line;   // line of the answer shown on top
    bool has_next;    // there can be one more
    struct rect next; // the empty place for it
    struct rect last; // of the newest one
};
void paint_flow_make(struct paint_flow *flow, const struct paint *paint);

// Column under which a pass's drop hangs, and the slim cell of its output.
struct rect paint_output_cell(const struct layout *layout, int column);

void paint_frame(struct cmdlist *out, const struct paint *paint);
void paint_grid(struct cmdlist *out, const struct paint *paint);
void paint_headers(struct cmdlist *out, const struct paint *paint); // called by paint_grid
void paint_drip(struct cmdlist *out, const struct paint *paint, const struct paint_flow *flow);
void paint_answer(struct cmdlist *out, const struct paint *paint, const struct paint_flow *flow);
void paint_clock(struct cmdlist *out, const struct paint *paint);
void paint_readouts(struct cmdlist *out, const struct paint *paint);

#endif
