// What the painters of plots share; nobody else needs it.
#ifndef RENDER_PAINT_LAB_PARTS_H
#define RENDER_PAINT_LAB_PARTS_H

#include "render/paint/lab/plot.h"
#include "render/paint/parts.h"

enum { PLOT_MAX_TAKEN = 512, PLOT_MAX_SEGMENTS = 3072 };

// A piece of a line, in 1/16 px, within the area.
struct plot_segment {
    int x0, y0, x1, y1;
};

struct plot_canvas {
    struct cmdlist *out;
    const struct paint *paint;
    const struct plot *plot;
    struct plot_place place;
    int tick_px; // font of ticks and of the axes' labels
    struct rect title, origin, x_label, y_label, caption, inner;
    int caption_lines, caption_px;
    struct rect area;                   // between the axes
    struct rect data;                   // where values are drawn: a dot's radius within the area
    struct rect tick_row;               // texts of x ticks
    struct plot_ticks x_ticks, y_ticks; // as drawn
    int taken_count;                    // no label may cover these
    struct rect taken[PLOT_MAX_TAKEN];
    int segment_count; // nor these lines
    struct plot_segment segments[PLOT_MAX_SEGMENTS];
    int half_segments;                        // of these, the first: the line at the half
    int series_segments[PLOT_MAX_SERIES + 1]; // where a series' segments begin
};

// Finds places for everything but the labels beside the data.
void paint_plot_plan(struct plot_canvas *canvas, const struct paint *paint, const struct plot *plot,
                     const struct plot_place *place);

// Position of a value in 1/16 px. A value far outside of the axis is placed nearer to it, still
// outside.
int paint_plot_x16(const struct plot_canvas *canvas, double value);
int paint_plot_y16(const struct plot_canvas *canvas, double value);

// No label will cover the rectangle.
void paint_plot_take(struct plot_canvas *canvas, struct rect rect);

struct plot_label {
    const char *utf8;
    enum text_face face;
    int px;
    rgba color;
    bool on_chip; // on a small panel of its own
};
// The place a label belongs to, and the radius of what is drawn there.
struct plot_spot {
    int x_px, y_px, reach_px;
    bool is_line;
};
// Tries the eight sides of the spot in turn, first near, then further away, and takes the
// first place that is free and, unless the label `may_be_cut_off`, has no line between
// itself and the spot. False: no room.
bool paint_plot_label(struct plot_canvas *canvas, const struct plot_label *label,
                      const struct plot_spot *spot, bool may_be_cut_off);
// A label centred on the place, if that is free.
bool paint_plot_label_over(struct plot_canvas *canvas, const struct plot_label *label, int x_px,
                           int y_px);

// A label beside a line, segments [first, end), from its end towards its beginning.
bool paint_plot_label_path(struct plot_canvas *canvas, int first, int end,
                           const struct plot_label *label, bool may_be_cut_off);

// Diameter of a dot.
int paint_plot_dot_px(const struct plot_canvas *canvas);

int paint_plot_gutter(struct plot_canvas *canvas);      // width that the texts of y ticks need
void paint_plot_pick_ticks(struct plot_canvas *canvas); // both axes, in the data's rectangle
void paint_plot_axes(struct plot_canvas *canvas);
void paint_plot_cells(struct plot_canvas *canvas); // and the line at the half
void paint_plot_cell_labels(struct plot_canvas *canvas);
void paint_plot_series(struct plot_canvas *canvas);
// Labels that matter most and have the fewest places are put first.
enum plot_turn { TURN_RINGS, TURN_POINTS, TURN_LINES };
void paint_plot_series_labels(struct plot_canvas *canvas, enum plot_turn turn);
void paint_plot_pins(struct plot_canvas *canvas);
void paint_plot_pin_labels(struct plot_canvas *canvas);

#endif
