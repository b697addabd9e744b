// Executes command lists on an SDL_Renderer: the only caller of SDL_Render*.
// Sprites come from an alpha atlas rasterised on the CPU with exact coverage and
// placed at whole pixels, so that the software renderer and OpenGL agree.
// Strings are cached as textures (least recently used go first). Main thread only.
#ifndef RENDER_DRAW_H
#define RENDER_DRAW_H

#include "cmdlist.h"
#include "text.h"

struct SDL_Renderer;
struct draw;

bool draw_create(struct draw **out, struct SDL_Renderer *renderer, struct text *text,
                 char why[256]);
void draw_destroy(struct draw *draw); // before its renderer; NULL is fine

// Draws the list over whatever the target holds. Clips to the target.
void draw_list(struct draw *draw, const struct cmdlist *list);

// The renderer lost its textures (SDL_RENDER_DEVICE_RESET): make them anew.
void draw_reset(struct draw *draw);

// Strings rasterised so far: flat while the same frame is drawn again.
int draw_raster_count(const struct draw *draw);

#endif
