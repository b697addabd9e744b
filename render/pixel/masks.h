// A cache of masks: what was rasterised once is drawn again with a look-up. Holds the
// coverage of strings, sprites and lines alike; when it is full, the mask used longest
// ago goes first. Main thread only.
#ifndef RENDER_PIXEL_MASKS_H
#define RENDER_PIXEL_MASKS_H

#include "render/pixel/text.h"

enum {
    MASKS_MAX = 4096,        // kept; fewer when they are very large:
    MASKS_MAX_PX = 24 << 20, // of all masks together, one byte a pixel
};

// Coverage, one byte a pixel, rows of width_px bytes. `left_px` and `top_px` are where
// its first pixel lies relative to the place the mask is drawn at.
struct mask {
    uint8_t *coverage; // NULL: nothing to draw
    int left_px, top_px, width_px, height_px;
};

struct masks;

bool masks_create(struct masks **out);   // false: out of memory
void masks_destroy(struct masks *masks); // NULL is fine

// The mask kept under the key, which is now the one used last; NULL: there is none.
// Valid until the next masks_keep.
const struct mask *masks_find(struct masks *masks, struct text_key key);

// Keeps a mask under a key that has none. `coverage` came from malloc and is freed by
// the cache. Returns what masks_find would.
const struct mask *masks_keep(struct masks *masks, struct text_key key, struct mask fresh);

#endif
