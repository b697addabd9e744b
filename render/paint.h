// view + layout + theme -> commands. Pure but for the fonts' measurements: no
// SDL, no clock, no allocation. One paint_*.c a picture: grid, drip, answer,
// clock, readouts, frame (title, pills, badges, footer). paint.c calls them in
// order of depth.
#ifndef RENDER_PAINT_H
#define RENDER_PAINT_H

#include "cmdlist.h"
#include "layout.h"
#include "text.h"
#include "theme.h"
#include "view.h"

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

// The scene: what the recorder films.
void paint_scene(struct cmdlist *out, const struct paint *paint);

// Key hints in the footer; part of the window's own list, never of a film.
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
    rgba color;
};
// Baseline so that capitals stand in the middle of the rectangle. Returns the
// width drawn in px.
int paint_text(struct cmdlist *out, struct text *text, const struct paint_label *label,
               const char *utf8);

#endif
