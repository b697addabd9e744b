// Executes command lists, on an SDL_Renderer (a window's; the only caller of its
// drawing functions) or on plain pixels (a film's, a still's, a software window's).
// Sprites come from an alpha atlas rasterised on the CPU with exact coverage and
// placed at whole pixels, so that all targets agree. Strings are cached, the least
// recently used go first. Main thread only.
#ifndef RENDER_PIXEL_DRAW_H
#define RENDER_PIXEL_DRAW_H

#include "render/data/cmdlist.h"
#include "render/pixel/pixels.h"
#include "render/pixel/text.h"

enum { DRAW_MAX_STRINGS = 4096 }; // kept; fewer when they are very large

struct SDL_Renderer;
struct draw;

// For a renderer. Errors: it takes no textures of the size needed.
bool draw_create(struct draw **out, struct SDL_Renderer *renderer, struct text *text,
                 char why[256]);

// For pixels. The struct is copied, the pixels stay the caller's; draw_retarget
// gives other ones, keeping all caches.
bool draw_create_for_pixels(struct draw **out, const struct pixels *target, struct text *text,
                            char why[256]);
void draw_retarget(struct draw *draw, const struct pixels *target);

void draw_destroy(struct draw *draw); // before its renderer; NULL is fine

// Draws the list over whatever the target holds. Clips to the target.
void draw_list(struct draw *draw, const struct cmdlist *list);

// The renderer lost its textures (SDL_RENDER_DEVICE_RESET): make them anew.
void draw_reset(struct draw *draw);

// Strings and shapes of lines rasterised so far: flat while the same frame is drawn again.
int draw_raster_count(const struct draw *draw);

#endif
