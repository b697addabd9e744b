// See surface.h. Nothing but memory: the pixels begin opaque and stay so under fills
// and masks, so the alpha byte can be promised.
#include "render/pixel/surface.h"

#include "compute/base/why.h"
#include "render/pixel/draw.h"
#include "render/pixel/png.h"

#include <stdio.h>
#include <stdlib.h>

enum { SURFACE_MIN_PX = 16, SURFACE_MAX_PX = 8192 };

struct surface {
    struct pixels pixels;
    struct draw *draw;
};

// Black pixels of the size.
static bool make_pixels(struct pixels *out, int width_px, int height_px, struct why *why) {
    *out = (struct pixels){NULL, width_px, height_px, width_px};
    if (width_px < SURFACE_MIN_PX || height_px < SURFACE_MIN_PX || width_px > SURFACE_MAX_PX ||
        height_px > SURFACE_MAX_PX)
        return why_set(why, "a picture of %d x %d px is out of range; use %d to %d px a side",
                       width_px, height_px, SURFACE_MIN_PX, SURFACE_MAX_PX);
    out->words = malloc(sizeof(uint32_t) * (size_t)width_px * (size_t)height_px);
    if (!out->words)
        return why_set(why, "out of memory for a picture of %d x %d px", width_px, height_px);
    pixels_fill(out, (struct rect){0, 0, width_px, height_px}, 0x000000FF);
    return true;
}

bool surface_create(struct surface **out, int width_px, int height_px, struct text *text,
                    struct why *why) {
    *out = NULL;
    struct surface *surface = calloc(1, sizeof *surface);
    if (!surface)
        return why_set(why, "out of memory for a picture");
    if (make_pixels(&surface->pixels, width_px, height_px, why) &&
        draw_create(&surface->draw, text, why)) {
        *out = surface;
        return true;
    }
    surface_destroy(surface);
    return false;
}

void surface_destroy(struct surface *surface) {
    if (!surface)
        return;
    draw_destroy(surface->draw);
    free(surface->pixels.words);
    free(surface);
}

void surface_draw(struct surface *surface, const struct cmdlist *list) {
    draw_list(surface->draw, &surface->pixels, list);
}

const uint8_t *surface_pixels(const struct surface *surface, int *pitch_bytes) {
    *pitch_bytes = surface->pixels.pitch_px * 4;
    return (const uint8_t *)surface->pixels.words;
}

bool surface_save_png(const struct surface *surface, const char *path, bool overwrite,
                      struct why *why) {
    int pitch_bytes;
    const uint8_t *bgra = surface_pixels(surface, &pitch_bytes);
    return png_write(path, bgra, pitch_bytes, surface->pixels.width_px, surface->pixels.height_px,
                     overwrite, why);
}
