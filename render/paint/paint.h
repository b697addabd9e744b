// The stage's picture: view + layout + theme -> commands. Pure except for measuring
// text: no SDL, no clock, no allocation. Each part of the picture has its painter in
// stage/; paint.c calls them from back to front.
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

// A line of text aligned in a rectangle, cut with an ellipsis when it is too long.
enum paint_align { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };
struct paint_label {
    struct rect rect;
    enum paint_align align;
    enum text_face face;
    int px;
    rgba color;
};
// Capitals are centred vertically in the rectangle. Returns the width drawn in px.
int paint_text(struct cmdlist *out, struct text *text, const struct paint_label *label,
               const char *utf8);

#endif
