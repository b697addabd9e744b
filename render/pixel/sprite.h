// The shapes of the picture as masks with exact coverage: discs, rings, stripes and
// drops, rasterised at whole pixels. Knows nothing of what becomes of them.
#ifndef RENDER_PIXEL_SPRITE_H
#define RENDER_PIXEL_SPRITE_H

#include "render/data/cmdlist.h"

enum {
    SPRITE_MAX_DROP_HEIGHT_PX = CMD_MAX_DROP_PX * 3 / 2,
    SPRITE_STRIPES_MIN_WIDTH_PX = 192,
    SPRITE_STRIPES_MIN_HEIGHT_PX = 48,
};

enum sprite_kind {
    SPRITE_DISC,    // a = radius; 2a x 2a px, its quarters are rounded corners
    SPRITE_RING,    // a = outer radius, b = stroke < a; 2a x 2a px
    SPRITE_STRIPES, // a = stroke, b = 1: mirrored; a tile, repeats every 2a px both ways
    SPRITE_DROP,    // a = width, b = height, c = phase; a x (b + 1) px, tip at the top
};

struct sprite_key {
    uint16_t kind; // enum sprite_kind
    uint16_t a, b, c;
};

// Coverage of the sprite, one byte a pixel, rows of *w bytes. Owner: the caller, free().
// NULL: the key is out of range (CMD_MAX_*), or out of memory.
uint8_t *sprite_raster(int *w, int *h, struct sprite_key key);

#endif
