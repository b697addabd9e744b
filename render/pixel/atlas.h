// The shapes of the picture as alpha masks with exact coverage: discs, rings,
// drops and stripes, rasterised on the CPU when first asked for, kept, and packed
// on pages of one byte a pixel. Knows no renderer: draw.c makes textures of the pages.
#ifndef RENDER_PIXEL_ATLAS_H
#define RENDER_PIXEL_ATLAS_H

#include "render/data/cmdlist.h"

enum {
    ATLAS_PAGE_PX = 1024, // every renderer takes textures of this size
    ATLAS_MAX_PAGES = 8,
    ATLAS_MAX_SPRITES = 3072,
    ATLAS_GUTTER_PX = 2, // clear pixels around each sprite
    ATLAS_STRIPES_MIN_WIDTH_PX = 192,
    ATLAS_STRIPES_MIN_HEIGHT_PX = 48,
};

enum atlas_kind {
    ATLAS_DISC,    // a = radius; 2a x 2a px, its quarters are rounded corners
    ATLAS_RING,    // a = outer radius, b = stroke < a; 2a x 2a px
    ATLAS_STRIPES, // a = stroke, b = 1: mirrored; a tile, repeats every 2a px both ways
    ATLAS_DROP,    // a = width, b = height, c = phase; a x (b + 1) px, tip at the top
};

struct atlas_key {
    uint16_t kind; // enum atlas_kind
    uint16_t a, b, c;
};

struct atlas_sprite {
    int page;
    struct rect rect; // on the page; w = 0: there is none
};

struct atlas;

bool atlas_create(struct atlas **out, char why[256]);
void atlas_destroy(struct atlas *atlas); // NULL is fine

// The sprite for the key, made when it isn't there yet. When all pages are full,
// everything is forgotten and begun anew: use a sprite before asking for the next.
// w = 0 for a key out of range (CMD_MAX_*) or without memory for a page.
struct atlas_sprite atlas_find(struct atlas *atlas, struct atlas_key key);

int atlas_page_count(const struct atlas *atlas);
int atlas_sprite_count(const struct atlas *atlas); // made since the last beginning

// Coverage of a page, rows ATLAS_PAGE_PX bytes apart. Owner: the atlas.
const uint8_t *atlas_page(const struct atlas *atlas, int page);

// The part of the page that changed since the last call; w = 0: nothing.
struct rect atlas_take_dirty(struct atlas *atlas, int page);

// Marks all pages as changed: the renderer lost its textures.
void atlas_touch(struct atlas *atlas);

// Size and coverage of a key without any atlas; the key must be in range.
void atlas_measure(int *w, int *h, struct atlas_key key);
void atlas_rasterise(uint8_t *coverage, int pitch_bytes, struct atlas_key key);

#endif
