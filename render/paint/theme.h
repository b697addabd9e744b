// Palettes and shapes as constant tables. Contrast is at least 4.5:1 for every
// text on every background it is used on; a test computes it. Text in PREFILL, DECODE
// and READ is used on GROUND, never on PANEL; INK and QUIET on both; ON_ACCENT on a
// shape filled with INK or one of the three accents.
#ifndef RENDER_PAINT_THEME_H
#define RENDER_PAINT_THEME_H

#include "render/data/cmdlist.h"

enum theme_id { THEME_DARK, THEME_PROJECTOR, THEME_CONTRAST, THEME_COUNT };

enum theme_color {
    COLOR_GROUND,
    COLOR_PANEL,
    COLOR_LINE,
    COLOR_INK,
    COLOR_QUIET,
    COLOR_PREFILL,
    COLOR_DECODE,
    COLOR_READ,
    COLOR_ON_ACCENT, // text on a shape filled with an accent
    COLOR_COUNT
};

struct theme {
    const char *name; // "dark", "projector", "contrast"
    rgba colors[COLOR_COUNT];
    uint8_t saved_alpha; // a saved cell's fill, over the ground
    uint8_t done_alpha;  // a cell filled in the pass under way
};

// An unknown id gives the dark palette; never NULL.
const struct theme *theme_find(enum theme_id id);

// WCAG 2 contrast ratio of two opaque colours, times 100.
int theme_contrast_x100(rgba a, rgba b);

// `over` at `alpha` (0 .. 255) on the opaque `under`, opaque.
rgba theme_blend(rgba over, uint8_t alpha, rgba under);

// The colour with its own alpha times `ppm` millionths.
rgba theme_fade(rgba color, int ppm);

#endif
