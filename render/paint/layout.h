// From the size of the output and what is known at the start of a run to
// rectangles. Pure integers: same input, same layout. Nothing here depends on
// how far the answer has come, so nothing jumps. Everything is a fraction of the
// reference min(height, 0.75 * width), so text keeps its share of the picture
// from 4:3 to any wider shape; width only decides how much fits side by side.
//
// All rectangles lie inside the target, within the margins, and are disjoint:
// the picture never has to be clipped to stay apart.
#ifndef RENDER_PAINT_LAYOUT_H
#define RENDER_PAINT_LAYOUT_H

#include "render/data/cmdlist.h"

enum {
    LAYOUT_MIN_WIDTH_PX = 640,
    LAYOUT_MIN_HEIGHT_PX = 480,
    LAYOUT_MAX_LINES = 8,
    LAYOUT_MAX_READOUTS = 8,
    LAYOUT_MAX_LAYERS = 160,
    LAYOUT_MAX_HEADERS = 512, // columns that can have a header each
};

enum layout_mode {
    LAYOUT_STAGE, // the stage with key hints below
    LAYOUT_SHOW,  // the stage alone, big type, safe margin of 5 %
    LAYOUT_FILM,  // as LAYOUT_STAGE, without key hints: for films and stills
};

struct layout_input {
    int width_px, height_px;
    int text_step; // -4 .. 8, each step 8 % of text size; text never goes below 1/50
    enum layout_mode mode;
    int layers;        // 1 .. LAYOUT_MAX_LAYERS
    int prompt_tokens; // 1 ..
    int columns;       // prompt_tokens ..
    int answer_limit;  // 1 ..
    int readouts;      // 0 .. LAYOUT_MAX_READOUTS
    bool has_panel;    // an explanation is shown beside the stage, in any mode
    bool is_presented; // with the safe margin of 5 % in any mode
    bool has_guess;    // a guess is on the clock: room for its pennant above the bar
};

// How much of a column's header there is room for.
enum layout_headers {
    HEADERS_TEXT,      // every header shows its token
    HEADERS_STAGGERED, // on two lines in turn
    HEADERS_NEWEST,    // only the newest one; the prompt's are one band
};

struct layout {
    struct layout_input input; // as used: within its ranges, with the text_step that fits
    int unit_px;               // 1/100 of the reference, at least 1
    int margin_px;             // left and right
    int margin_y_px;           // above and below
    int floor_px;              // no text is smaller: 1/50 of the shorter side
    int header_floor_px;       // but names of tokens, rather than be cut
    // Font sizes.
    int small_px;  // labels of layers and read-outs, notes, keys
    int label_px;  // the stamp, the pills
    int body_px;   // the caption
    int matter_px; // what must be read from the back row: 1/36
    int title_px;
    int value_px;  // read-outs, at most
    int token_px;  // headers of columns, at most
    int answer_px; // tiles of the answer
    int stroke_px; // outlines that carry meaning
    int hair_px;   // outlines that only part things

    struct rect title, pills[4], origin, rate; // pills are empty in LAYOUT_SHOW
    struct rect panel;                         // right of the stage; empty without has_panel
    struct rect caption;                       // one row: caption left, the view's note right
    struct rect header;                        // the row of headers above the grid
    enum layout_headers headers;               // the prompt's; the answer's never show less
    enum layout_headers answer_headers;
    int header_line_px; // height of one line of headers; the lower one ends at the grid
    struct rect grid;   // the cells of all columns and layers, with the last one's gap
    int prompt_gap_px, answer_gap_px, row_gap_px; // between cells; 0 when they are thin
    struct rect labels;                           // the column of layer labels left of it
    int label_every;                              // a label every so many layers
    int row_px;          // height of a layer's row; grid.h = layers * row_px
    int prompt_width_px; // width of the prompt's part of grid; the answer's is the rest
    struct rect output, output_label; // the slim output row under the last layer
    struct rect drip; // where drops hang and start to fall; it ends where the answer begins
    struct rect answer_label, answer;
    int answer_lines, answer_line_px; // line i begins at answer.y + i * answer_line_px
    int answer_tile_px;               // height of a tile
    struct rect guess;                // above the clock, for the pennant; empty without has_guess
    struct rect clock;                // with room for the playhead above and below the bar
    struct rect clock_bar;            // inside clock
    struct rect clock_labels;
    struct rect readouts[LAYOUT_MAX_READOUTS];
    int readout_count;   // of them; a narrow LAYOUT_SHOW leaves out the last ones
    bool is_note_beside; // a read-out's note is beside its label, not below its value
    struct rect footer;  // key hints; empty in LAYOUT_SHOW
};

// False: too small (LAYOUT_MIN_*); `out` then holds a layout for the minimum, to be
// drawn clipped. Numbers out of range are brought into it.
bool layout_make(struct layout *out, const struct layout_input *input);

// Columns and rows tile the grid exactly: x of column i is layout_column_x(i), its
// width the distance to the next; 0 <= i <= columns. May be 0 px wide when there
// are more columns than pixels.
int layout_column_x(const struct layout *layout, int column);
int layout_layer_y(const struct layout *layout, int layer); // 0 <= layer <= layers

// Height that holds ascenders and descenders of any of our faces at that size.
int layout_line_px(int font_px);

// Between the panel's border and its texts.
int layout_panel_pad_px(const struct layout *layout);

// The cell of a column and a layer: its tile less the gap at its right and bottom.
struct rect layout_cell(const struct layout *layout, int column, int layer);

#endif
