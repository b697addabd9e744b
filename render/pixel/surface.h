// A picture in memory: pixels and the draw state for them. The recorder, the stills
// and the tests draw here; no display and no SDL video are needed. Main thread only.
#ifndef RENDER_PIXEL_SURFACE_H
#define RENDER_PIXEL_SURFACE_H

#include "compute/base/why.h"

#include "render/data/cmdlist.h"
#include "render/pixel/text.h"

struct surface;

// 16 <= width, height <= 8192. Begins black. `text` must outlive it.
bool surface_create(struct surface **out, int width_px, int height_px, struct text *text,
                    struct why *why);
void surface_destroy(struct surface *surface);

// Draws over what is there; a frame begins with a fill of its ground.
void surface_draw(struct surface *surface, const struct cmdlist *list);

// Bytes B G R A (A = 255), rows `*pitch_bytes` apart; valid until the next draw.
const uint8_t *surface_pixels(const struct surface *surface, int *pitch_bytes);

// The pixels as a PNG file; see png_write.
bool surface_save_png(const struct surface *surface, const char *path, bool overwrite,
                      struct why *why);

#endif
