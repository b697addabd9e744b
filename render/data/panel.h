// What the panel beside the stage shows, as plain data: the explanation of a step,
// the log, the glossary, the prompt being edited, a question. The app fills it,
// paint/panel/ draws it from top to bottom in the order of the fields. Like struct view
// it has no pointers and no pixels, and equal panels give equal pictures.
//
// Texts are UTF-8, NUL-terminated, without control characters except for one pair:
// PANEL_TERM_BEGIN and PANEL_TERM_END enclose a word that the glossary explains; it is
// drawn underlined. A term always ends within its text.
#ifndef RENDER_DATA_PANEL_H
#define RENDER_DATA_PANEL_H

#include "render/data/view.h"

#include <string.h>

#define PANEL_TERM_BEGIN '\x0E'
#define PANEL_TERM_END '\x0F'

enum {
    PANEL_MAX_PARTIES = 2,
    PANEL_MAX_BLOCKS = 6,
    PANEL_MAX_BARS = 4,
    PANEL_MAX_CONTROLS = 4,
    PANEL_MAX_LINES = 512,
    PANEL_MAX_TILES = 160,
    PANEL_TEXT_BYTES = 640,
    PANEL_FIELD_BYTES = 4096,
};

// The two sides of the story: the application, and the model on its device.
struct panel_party {
    char name[64];  // "Application"
    char state[64]; // "waits for the first token"
    bool acts;      // working now: drawn with a strong outline
    bool is_well;   // false: drawn with a warning sign; the state says what is wrong
    uint8_t tone;   // enum view_tone
};

struct panel_block {
    char heading[40];            // "What happens"; "" = none
    char text[PANEL_TEXT_BYTES]; // wraps; "\n" begins a new line
    bool is_optional; // left out, without counting as cut, where text would get too dense
};

// A time or a number of bytes in two parts; all bars share one scale.
struct panel_bar {
    char label[32];            // "wait (TTFT)"
    char value[32];            // "0.73 ms"
    char note[48];             // "+12 %", "weights read"; "" = none
    int first_ppm, second_ppm; // of the bar's width: the solid and the striped part
    int before_ppm;            // where the bar ended before the last change, -1 = nowhere
    uint8_t tone;              // of the first part; the second is drawn as decode
};

enum panel_control_kind {
    CONTROL_SLIDER, // a knob on a track
    CONTROL_SPLIT,  // a bar divided in two by a handle: prefill solid, decode striped
    CONTROL_SWITCH, // two choices side by side, ppm 0 or VIEW_PPM
    CONTROL_BUTTON, // a word to press
};
struct panel_control {
    uint8_t kind;        // enum panel_control_kind
    uint8_t target;      // what it moves: a number of whoever filled it
    uint8_t tone;        // enum view_tone
    bool is_focused;     // the keyboard is on it: a ring around it
    bool is_off;         // can't be moved now: drawn quiet
    char label[48];      // "Prompt length", of a switch "engine / lesson"
    char value[40];      // "512 tokens"; of a switch the other choice's label
    int ppm;             // place of the knob or handle, 0 .. VIEW_PPM
    int mark_ppm;        // a second, hollow mark: what was measured; -1 = none
    char mark_label[40]; // "measured: 98 %"
};

// A line of the log or the glossary. When the list is longer than its room, the part
// around the focus is drawn with the number of lines above and below.
struct panel_line {
    char time[24]; // in cells of equal width, right-aligned; "" = none
    char text[96]; // one line, cut with an ellipsis; may hold a term's marks
    uint8_t tone;  // of the time
    bool is_past;  // has happened by now; the others are drawn quiet
};

struct panel {
    char chapter[80];   // above the title, quiet; "" = none
    char title[80];     // "Step 5 of 9 · decode"; drawn bold instead of in capitals
    uint8_t title_tone; // also of the panel's outline
    int party_count;
    struct panel_party parties[PANEL_MAX_PARTIES];
    int block_count;
    struct panel_block blocks[PANEL_MAX_BLOCKS];
    int block_scroll; // lines of the blocks scrolled past, if they need more than their room
    int bar_count;
    struct panel_bar bars[PANEL_MAX_BARS];
    int control_count;
    struct panel_control controls[PANEL_MAX_CONTROLS];
    // A text being edited, with its tokens below it. Scrolls to keep the cursor visible.
    bool has_field;
    char field[PANEL_FIELD_BYTES];
    int field_cursor; // byte
    int field_mark;   // bytes before the cursor that an input method composes: underlined
    int tile_count;   // the newest tiles when there are more tokens than that
    struct view_token tiles[PANEL_MAX_TILES];
    char tiles_label[64]; // "18 tokens of at most 1,024"
    int line_count;
    struct panel_line lines[PANEL_MAX_LINES];
    int line_first; // which line of the whole list lines[0] is
    int line_focus; // -1 = none; drawn as a filled row
    char foot[160]; // the takeaway, or what the next key does; drawn at the bottom
};

static inline void panel_clear(struct panel *panel) {
    memset(panel, 0, sizeof *panel);
    panel->line_focus = -1;
}

#endif
