// One plot as plain data: two axes, series of points, a field of coloured cells, pins.
// Values are the thing itself (tokens, nanoseconds, FLOP per byte); axes say how they
// are written and whether the scale is logarithmic. Drawn by paint/lab/plot.c. Every plot
// shows its origin, and every series differs from its neighbours by shape, not by
// colour alone.
#ifndef RENDER_DATA_PLOT_H
#define RENDER_DATA_PLOT_H

#include "render/data/view.h"

enum {
    PLOT_MAX_POINTS = 256,
    PLOT_MAX_SERIES = 8,
    PLOT_MAX_PINS = 8,
    PLOT_MAX_COLUMNS = 48,
    PLOT_MAX_ROWS = 32,
    PLOT_MAX_TICKS = 24,
};

enum plot_unit {
    PLOT_NUMBER,    // 1,024
    PLOT_TIME,      // of nanoseconds: 0.5 ms, 2 s
    PLOT_FLOP_RATE, // of FLOP/s: 20 GFLOP/s
    PLOT_INTENSITY, // FLOP per byte
};

struct plot_axis {
    char label[48];  // "prompt tokens"
    double from, to; // from < to; logarithmic: from > 0
    bool is_log;
    uint8_t unit; // enum plot_unit
};

struct plot_point {
    double x, y;
    double low, high; // spread; low == high: none is drawn
};

// Lines join neighbouring points by what is straight in values: on an axis of its own
// scale that may be a curve. Points must come in the order of the line.
enum plot_look {
    PLOT_DOTS,   // filled dots with their spread
    PLOT_LINE,   // a solid line
    PLOT_DASHES, // a dashed line
    PLOT_DOTTED, // a dotted line
    PLOT_RING,   // one hollow ring: the current setting
    PLOT_SQUARE, // filled squares: the second thing to compare
};

struct plot_series {
    uint8_t look; // enum plot_look
    uint8_t tone; // enum view_tone
    int first, count;
    char label[64]; // drawn beside its last visible point, "" = none
};

// A named place on the plot.
struct plot_pin {
    double x, y;
    char label[32]; // "chat"
};

struct plot {
    char title[80];  // "Does a longer prompt cost more?"
    char origin[48]; // "measured here", "modelled"
    uint8_t origin_tone;
    char caption[200]; // one or two lines below: what it says here; never more
    char message[120]; // shown in the middle while there is nothing to draw; "" = drawn
    struct plot_axis x, y;
    int point_count;
    struct plot_point points[PLOT_MAX_POINTS];
    int series_count;
    struct plot_series series[PLOT_MAX_SERIES];
    // Cells from the lower left, rows upwards, of equal width on the axes as drawn:
    // 0 = all prefill .. VIEW_PPM = all decode. The line at the half is drawn.
    int columns, rows; // 0 = no cells
    int cells_ppm[PLOT_MAX_ROWS][PLOT_MAX_COLUMNS];
    int pin_count;
    struct plot_pin pins[PLOT_MAX_PINS];
    int dropped; // things for which there was no room
};

// Empties the plot: no texts, axes from 0 to 1.
void plot_clear(struct plot *plot);

// Adds a series; a point to the series added last; a pin. What has no room or is not
// finite is counted in `dropped`.
void plot_add_series(struct plot *plot, const struct plot_series *series); // first, count: set here
void plot_add_point(struct plot *plot, struct plot_point point);
void plot_add_pin(struct plot *plot, const struct plot_pin *pin);

// Place of a value on the axis: 0 at `from`, 1 at `to`, less or more outside; and back.
// On an axis that spans nothing everything is at 0. On a logarithmic axis zero and
// negative values are far below it.
double plot_share(const struct plot_axis *axis, double value);
double plot_value(const struct plot_axis *axis, double share);

// Round values within the axis: multiples of 1, 2 or 5 of a power of ten; on a
// logarithmic axis decades with 2 and 5 between, decades, or every few decades.
struct plot_ticks {
    int count;
    double at[PLOT_MAX_TICKS]; // rising
};
// Level 0 has the most, each further one fewer, two at least. False, none: no such level.
bool plot_ticks_make(struct plot_ticks *out, const struct plot_axis *axis, int level);

// The tick's text in the axis's unit: "1,024", "0.5 ms", "20 GFLOP/s". On a
// linear axis all are in one unit.
void plot_tick_text(char out[32], const struct plot_axis *axis, double value);

#endif
