// view + layout + theme -> commands. Pure but for the fonts' measurements: no
// SDL, no clock, no allocation. One paint_*.c a picture: grid, drip, answer,
// clock, readouts, frame (title, pills, badges, footer). paint.c calls them in
// order of depth.
#ifndef RENDER_PAINT_PAINT_H
#define RENDER_PAINT_PAINT_H

#include "render/data/cmdlist.h"
#include "render/data/view.h"
#include "render/paint/layout.h"
#include "render/paint/theme.h"
#include "render/pixel/text.h"

struct paint {
    const struct view *view;
    const struct layout *layout;
    const struct theme *theme;
    struct text *text;
};

// A key and what it does, for the footer: {"Space", "pause"}.
struct paint_key {
    const char *key, *does;
};

// The scene: what the recorder films. View and layout must agree about layers,
// prompt_tokens and columns. Adds to `out`, beginning with the ground.
void paint_scene(struct cmdlist *out, const struct paint *paint);

// Key hints in the footer; part of the window's own list, never of a film. What
// doesn't fit is left out from the end.
void paint_keys(struct cmdlist *out, const struct paint *paint, const struct paint_key *keys,
                int key_count);

// Helpers for every painter (and the HUD): text aligned in a rectangle, cut with
// an ellipsis when too long.
enum paint_align { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };
struct paint_label {
    struct rect rect;
    enum paint_align align;
    enum text_face face;
    int px;
    int least_px; // shrinks down to this before it is cut; 0: never shrinks
    rgba color;
};
// Baseline so that capitals stand in the middle of the rectangle. Returns the
// width drawn in px.
int paint_text(struct cmdlist *out, struct text *text, const struct paint_label *label,
               const char *utf8);

// --- What the painters share; nobody else needs it. ---

rgba paint_color(const struct paint *paint, enum theme_color color);
rgba paint_tone(const struct paint *paint, uint8_t tone);

// Positions in millionths, 0 .. VIEW_PPM. Smooth: 3t^2 - 2t^3.
int paint_smooth_ppm(int ppm);
int paint_between(int from, int to, int ppm); // rounded

// The face a token's text is set in: words, or hex, or signs.
enum text_face paint_token_face(uint8_t look);

// Writes a number in digits; returns their count. `out` holds 12 bytes.
int paint_number(char *out, int number);

// A moving edge inside a rectangle, with the part of a pixel it has entered.
struct paint_edge {
    int whole_px;
    int part_ppm; // of the next pixel
};
struct paint_edge paint_edge_at(int length_px, int ppm);

// Where answer tokens lie: the landed ones, and places for those in the air.
struct paint_flow {
    int first_line;                     // line of the answer shown on top
    int air_count;                      // tiles in air[]
    struct rect air[VIEW_MAX_DROPS];    // for answers landed, landed + 1, ...
    bool is_air_joined[VIEW_MAX_DROPS]; // continues the word before it
    struct rect next;                   // place of the first unknown one
    bool has_next;                      // it is shown: there can be one, and none is in the air
};
// How far a falling drop has turned into its tile: 0 for most of the fall.
int paint_landing_ppm(int fall_ppm);
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
