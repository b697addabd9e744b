// A software target without any display: an SDL surface with a software renderer
// and the draw state for it. The recorder, the stills and the tests draw here;
// no SDL video is initialised. Main thread only.
#ifndef RENDER_SURFACE_H
#define RENDER_SURFACE_H

#include "cmdlist.h"
#include "text.h"

struct surface;

// 16 <= width, height <= 8192.
bool surface_create(struct surface **out, int width_px, int height_px, struct text *text,
                    char why[256]);
void surface_destroy(struct surface *surface);

void surface_draw(struct surface *surface, const struct cmdlist *list);

// Bytes B G R A (A = 255), rows `*pitch_bytes` apart; valid until the next draw.
const uint8_t *surface_pixels(const struct surface *surface, int *pitch_bytes);
int surface_width_px(const struct surface *surface);
int surface_height_px(const struct surface *surface);

// The pixels as a PNG file (written to a part file and renamed).
bool surface_save_png(const struct surface *surface, const char *path, char why[256]);

#endif
