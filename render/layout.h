// From the size of the output and what is known at the start of a run to
// rectangles. Pure integers: same input, same layout. Nothing here depends on
// how far the answer has come, so nothing jumps.
#ifndef RENDER_LAYOUT_H
#define RENDER_LAYOUT_H

#include "cmdlist.h"

enum {
    LAYOUT_MIN_WIDTH_PX = 640,
    LAYOUT_MIN_HEIGHT_PX = 480,
    LAYOUT_MAX_LINES = 8,
    LAYOUT_MAX_READOUTS = 8,
};

enum layout_mode {
    LAYOUT_STAGE, // the stage with key hints below
    LAYOUT_SHOW,  // the stage alone, big type, safe margin
};

struct layout_input {
    int width_px, height_px;
    int text_step; // -4 .. 8, each step 8 % of text size
    enum layout_mode mode;
    int layers;
    int prompt_tokens;
    int columns;
    int answer_limit;
    int readouts;
};

// How much of a column's header there is room for.
enum layout_headers {
    HEADERS_TEXT,      // every header bears its token
    HEADERS_STAGGERED, // on two lines in turn
    HEADERS_NEWEST,    // only the newest ones
};

struct layout {
    struct layout_input input;
    int unit_px; // min(height, 0.75 * width) / 100, at least 1
    int margin_px;
    int body_px, label_px, title_px, value_px, small_px, token_px; // font sizes

    struct rect title, pills[4], origin, rate;
    struct rect grid;   // the cells of all columns and layers
    struct rect header; // the row of headers above it
    enum layout_headers headers;
    struct rect labels;  // the column of layer labels
    int label_every;     // a label every so many layers
    struct rect output;  // the slim output row under the last layer
    int prompt_width_px; // width of the prompt's part of grid; the answer's is the rest
    struct rect caption;
    struct rect drip; // where drops hang and fall, from output to answer
    struct rect answer_label, answer;
    int answer_lines, answer_line_px;
    struct rect clock, clock_labels;
    struct rect readouts[LAYOUT_MAX_READOUTS];
    struct rect note;
    struct rect footer; // key hints; h = 0 when there is none
};

// False: too small (LAYOUT_MIN_*); `out` then holds a layout for the minimum.
bool layout_make(struct layout *out, const struct layout_input *input);

// Columns and rows tile the grid exactly: x of column i is layout_column_x(i), its
// width the distance to the next; 0 <= i <= columns. May be 0 px wide when there
// are more columns than pixels.
int layout_column_x(const struct layout *layout, int column);
int layout_layer_y(const struct layout *layout, int layer); // 0 <= layer <= layers

#endif
