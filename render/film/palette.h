// At most 255 colours that stand for all colours of a film. One palette for the
// whole film and no dither, so that a still area keeps one colour in every frame.
// Colours are counted exactly first; where there are few, each keeps its own value.
// Integer pixels in, integer pixels out; the same input gives the same palette.
#ifndef RENDER_FILM_PALETTE_H
#define RENDER_FILM_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

// The 256th is left for "as before", which GIF writers need.
enum { PALETTE_COLORS = 255 };

struct palette;

bool palette_create(struct palette **out);     // false: no memory
void palette_destroy(struct palette *palette); // NULL is fine

// Counts a row of pixels, bytes R G B. Any number of rows, before palette_build.
void palette_count(struct palette *palette, const uint8_t *rgb, int width_px);

// Chooses the colours. Returns how many, 1 .. PALETTE_COLORS; 0: no memory.
int palette_build(struct palette *palette);

// 0xRRGGBB of a colour; 0 beyond the last.
uint32_t palette_color(const struct palette *palette, int index);

// The nearest colour's index for each pixel of a row that was counted before.
void palette_map(const struct palette *palette, uint8_t *out, const uint8_t *rgb, int width_px);

#endif
