// Executes command lists on pixels in memory: the window's, a film's and a still's are
// drawn by the same code. Shapes have exact coverage and are placed at whole pixels;
// masks of strings, shapes and lines are kept from frame to frame. Main thread only.
#ifndef RENDER_PIXEL_DRAW_H
#define RENDER_PIXEL_DRAW_H

#include "compute/base/why.h"

#include "render/data/cmdlist.h"
#include "render/pixel/pixels.h"
#include "render/pixel/text.h"

struct draw;

// What is kept between lists. `text` must outlive it. Errors: out of memory.
bool draw_create(struct draw **out, struct text *text, struct why *why);
void draw_destroy(struct draw *draw); // NULL is fine

// Draws the list over whatever the target holds. Clips to the target.
void draw_list(struct draw *draw, const struct pixels *target, const struct cmdlist *list);

#endif
