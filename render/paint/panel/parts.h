// What the painters of the panel share; nobody else needs it. The plan holds the place of
// everything. It is made anew for every frame and every hit test, and points into the
// panel it was made for.
#ifndef RENDER_PAINT_PANEL_PARTS_H
#define RENDER_PAINT_PANEL_PARTS_H

#include "render/paint/panel/panel.h"
#include "render/paint/parts.h"
#include "render/paint/slider.h"
#include "render/paint/wrap.h"

enum { PLAN_MAX_TEXTS = 160, PLAN_MAX_FIELD_LINES = 24, PLAN_MAX_TILES = PANEL_MAX_TILES };

// From top to bottom.
enum panel_section {
    SECTION_TITLE,
    SECTION_PARTIES,
    SECTION_BLOCKS,
    SECTION_BARS,
    SECTION_FIELD,
    SECTION_CONTROLS,
    SECTION_LIST,
    SECTION_FOOT,
    SECTION_COUNT
};

// Sizes at one fit of the text; the plan tries several.
struct panel_type {
    int px;         // running text, labels, values
    int line_px;    // height of a line of it
    int gap_px;     // between sections and blocks
    int pad_px;     // inside cards, and around a control for its ring
    bool is_run_in; // headings begin the first line of their text
    bool is_inline; // words of bars and tracks share their line, where all have room
};

// One line of running text.
struct panel_row {
    const char *utf8; // the whole text
    struct wrap_line line;
    struct rect rect;
    enum text_face face;
    int px;
    rgba color;
    bool is_in_term; // begins inside a term of the line before
    bool is_cut;     // more text follows, for which there is no room
};

// A note of how many lines of the blocks or the list are out of sight.
struct panel_more {
    struct rect rect;
    int count; // 0: not drawn
};

struct panel_card {
    struct rect rect, sign;
};

// `all` takes the mouse. A slider and a split have label, value, track and mark, a switch
// its halves within the track.
struct panel_box {
    struct rect all, label, value, track, mark;
    struct rect halves[2];
    struct paint_slider slider; // along the track
    bool is_shown;
};

struct panel_bar_box {
    struct rect label, value, note, bar;
    bool is_shown;
};

struct panel_list_box {
    int px, row_px;
    int first, count;               // lines shown
    int time_px;                    // width of the column of times
    int sign_px;                    // width of the column of signs
    struct panel_more above, below; // their rows stay free when the list is long
    struct rect rows;
};

struct panel_field_box {
    int px, line_px;
    struct rect box, inner, label;
    int count, cursor_row;
    struct wrap_line lines[PLAN_MAX_FIELD_LINES];
    int tile_first; // tiles[tile_first ..] are shown
    int tile_shown;
    struct rect tiles[PLAN_MAX_TILES];
};

struct panel_plan {
    const struct paint *paint;
    const struct panel *panel;
    struct cmdlist *out; // NULL: placing only
    struct panel_type type;
    bool leaves_out;   // optional blocks are left out
    struct rect inner; // within the border
    struct rect sections[SECTION_COUNT];
    int row_count;
    struct panel_row rows[PLAN_MAX_TEXTS];
    int scroll_most; // of the blocks, in lines
    struct panel_more above, below;
    struct panel_card cards[PANEL_MAX_PARTIES];
    struct panel_bar_box bars[PANEL_MAX_BARS];
    struct panel_box boxes[PANEL_MAX_CONTROLS];
    struct panel_list_box list;
    struct panel_field_box field;
    int cut;
};

// False: there is no panel in this layout.
bool paint_panel_plan(struct panel_plan *plan, const struct paint *paint,
                      const struct panel *panel);

// --- running text ---

struct panel_words {
    const char *utf8;
    enum text_face face;
    rgba color;
    int indent_px; // of the first line
};
// Lines that the words need at this width, at most `most`.
int paint_panel_lines(const struct panel_plan *plan, const struct panel_words *words, int width_px,
                      int most);
// Whether the words can begin on a line with only that much room left: with a whole word,
// or with the whole first line of a list, since a broken one reads as two.
bool paint_panel_can_begin(const struct panel_plan *plan, const struct panel_words *words,
                           int room_px);
// Places as many lines as the room has height for; returns the height taken in px.
int paint_panel_place(struct panel_plan *plan, const struct panel_words *words, struct rect room);
void paint_panel_draw_row(const struct panel_plan *plan, const struct panel_row *row);
void paint_panel_draw_rows(const struct panel_plan *plan);
// The next underlined word of a row at or after byte `from`. False: there are no more.
struct panel_term_box {
    struct rect rect;
    int begin; // byte of the text behind the mark
    int next;  // where to look further
};
bool paint_panel_term(struct panel_term_box *out, const struct panel_plan *plan,
                      const struct panel_row *row, int from);

// A single line, shrunk down to the floor; beyond that it is cut and counted.
void paint_panel_put(struct panel_plan *plan, struct paint_label label, const char *utf8);

void paint_panel_put_more(struct panel_plan *plan, struct panel_more more, bool is_above);

// --- sections: the height each wants at the plan's type, its placing, its drawing ---

int paint_panel_want_parties(const struct panel_plan *plan);
void paint_panel_place_parties(struct panel_plan *plan, struct rect room);
void paint_panel_draw_parties(struct panel_plan *plan);

int paint_panel_want_bars(const struct panel_plan *plan);
void paint_panel_place_bars(struct panel_plan *plan, struct rect room);
void paint_panel_draw_bars(struct panel_plan *plan);

int paint_panel_want_controls(const struct panel_plan *plan);
void paint_panel_place_controls(struct panel_plan *plan, struct rect room);
void paint_panel_draw_controls(struct panel_plan *plan);
int paint_panel_way_ppm(const struct panel_plan *plan, int control, int x_px, int y_px);

int paint_panel_want_list(const struct panel_plan *plan, int lines);
void paint_panel_place_list(struct panel_plan *plan, struct rect room);
void paint_panel_draw_list(struct panel_plan *plan);
struct panel_row paint_panel_list_row(const struct panel_plan *plan, int line); // shown

int paint_panel_want_field(const struct panel_plan *plan, int lines, int tile_rows);
void paint_panel_place_field(struct panel_plan *plan, struct rect room);
void paint_panel_draw_field(struct panel_plan *plan);

#endif
