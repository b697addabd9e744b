// The software target: fills and tinted masks on plain 32-bit pixels in memory, each
// channel rounded to the nearest. SDL's own software renderer does the same several
// times slower (streaming stores for small fills, 4-byte masks), and the recorder
// draws every frame of a film this way. Knows no SDL.
#ifndef RENDER_PIXEL_PIXELS_H
#define RENDER_PIXEL_PIXELS_H

#include "render/data/cmdlist.h"

// Opaque pixels as 0xAARRGGBB words, A = 255; owner: whoever made them.
struct pixels {
    uint32_t *words;
    int width_px, height_px, pitch_px;
};

// Blends the colour over the rectangle, which must lie within the pixels.
void pixels_fill(const struct pixels *target, struct rect rect, rgba color);

// Blends the colour over the rectangle by a mask of one byte a pixel, rows
// `mask_pitch_bytes` apart; the rectangle must lie within the pixels.
void pixels_mask(const struct pixels *target, struct rect rect, const uint8_t *mask,
                 int mask_pitch_bytes, rgba color);

#endif
