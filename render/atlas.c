// See atlas.h. Coverage is the area of the shape inside each pixel: closed form for
// circles and diagonals; for drops exact along x and summed over 64 lines a pixel
// along y. Pages are filled in shelves: rows of sprites of about the same height.
#include "render/pixel/atlas.h"

#include "compute/base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS = 4096, // of the hash table; a power of two, over 4/3 of ATLAS_MAX_SPRITES
    MAX_SHELVES = 128,
    DROP_LINES = 64,     // sample lines a pixel
    DROP_SEGMENTS = 256, // of a flattened side
};

struct shelf {
    int y, height, used_px;
};

struct page {
    uint8_t *coverage; // ATLAS_PAGE_PX x ATLAS_PAGE_PX
    struct rect dirty;
    struct shelf shelves[MAX_SHELVES];
    int shelf_count;
    int used_px; // height of all shelves
};

struct slot {
    bool used;
    struct atlas_key key;
    struct atlas_sprite sprite;
};

struct atlas {
    struct page pages[ATLAS_MAX_PAGES];
    int page_count;
    int sprite_count;
    struct slot slots[SLOTS];
};

// ---- coverage ----

static uint8_t to_byte(double coverage) {
    double scaled = coverage * 255 + 0.5;
    return scaled <= 0 ? 0 : scaled >= 255 ? 255 : (uint8_t)scaled;
}

// The integral of sqrt(r^2 - x^2) from 0 to x.
static double circle_integral(double r, double x) {
    double t = clamp_double(x, 0, r);
    return 0.5 * (t * sqrt(r * r - t * t) + r * r * asin(t / r));
}

// Area of the pixel [i, i+1] x [j, j+1] inside the circle around 0; i, j >= 0.
// Up to x_full the arc is above the pixel, up to x_end inside it.
static double disc_area(double r, int i, int j) {
    if (r <= j)
        return 0;
    double below = r * r - (double)j * j, above = r * r - (double)(j + 1) * (j + 1);
    double x_full = clamp_double(above > 0 ? sqrt(above) : 0, i, i + 1);
    double x_end = clamp_double(sqrt(below), i, i + 1);
    double under_arc = circle_integral(r, x_end) - circle_integral(r, x_full);
    return x_full - i + under_arc - j * (x_end - x_full);
}

// A ring from inner to outer radius; inner = 0: a disc. One quarter, mirrored.
static void rasterise_ring(uint8_t *coverage, int pitch, int outer, int inner) {
    for (int j = 0; j < outer; j++)
        for (int i = 0; i < outer; i++) {
            double area = disc_area(outer, i, j);
            if (inner > 0)
                area -= disc_area(inner, i, j);
            uint8_t value = to_byte(area);
            uint8_t *up = coverage + (outer - 1 - j) * pitch + outer;
            uint8_t *down = coverage + (outer + j) * pitch + outer;
            up[i] = up[-1 - i] = down[i] = down[-1 - i] = value;
        }
}

// A pixel's x + y runs from u to u + 2 with its weight highest in the middle, so a
// stripe's edge, always on a whole u, halves exactly one pixel in each row.
static void rasterise_stripes(uint8_t *coverage, int pitch, int stroke, bool mirrored) {
    int w, h;
    atlas_measure(&w, &h, (struct atlas_key){ATLAS_STRIPES, (uint16_t)stroke, mirrored, 0});
    int period = 2 * stroke;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int u = (mirrored ? w - 1 - x + y : x + y) % period;
            bool is_edge = u == stroke - 1 || u == period - 1;
            coverage[y * pitch + x] = is_edge ? 128 : u < stroke ? 255 : 0;
        }
}

// Half the width of a drop at `depth` below the tip, for width 1 and height 1.35: a
// cubic side, hollow towards the tip and upright where it meets the round belly.
struct side {
    double depth[DROP_SEGMENTS + 1], half[DROP_SEGMENTS + 1];
    int at; // asked from top to bottom only
};

#define DROP_HEIGHT 1.35
#define BELLY_DEPTH (DROP_HEIGHT - 0.5)

static void side_init(struct side *side) {
    // End points (0, 0) and (0.5, BELLY_DEPTH); the last handle is upright above the
    // end, as long as gives it the curvature of the belly there (2).
    const double x1 = 0.13, y1 = 0.34, x2 = 0.5, y2 = 0.499;
    for (int i = 0; i <= DROP_SEGMENTS; i++) {
        double t = (double)i / DROP_SEGMENTS, s = 1 - t;
        double b1 = 3 * s * s * t, b2 = 3 * s * t * t, b3 = t * t * t;
        side->half[i] = b1 * x1 + b2 * x2 + b3 * 0.5;
        side->depth[i] = b1 * y1 + b2 * y2 + b3 * BELLY_DEPTH;
    }
    side->at = 0;
}

static double side_half(struct side *side, double depth) {
    if (depth <= 0 || depth >= DROP_HEIGHT)
        return 0;
    if (depth >= BELLY_DEPTH)
        return sqrt(0.25 - (depth - BELLY_DEPTH) * (depth - BELLY_DEPTH));
    while (side->at < DROP_SEGMENTS - 1 && side->depth[side->at + 1] < depth)
        side->at++;
    const double *d = side->depth + side->at, *half = side->half + side->at;
    return half[0] + (half[1] - half[0]) * (depth - d[0]) / (d[1] - d[0]);
}

// Adds the span [from, to] to a row: its two end pixels by part, and what lies
// between as a step up and a step down in `steps`, summed up when the row is done.
static void add_span(float *parts, float *steps, double from, double to) {
    int first = (int)from, last = (int)to;
    if (first == last) {
        parts[first] += (float)(to - from);
        return;
    }
    parts[first] += (float)(first + 1 - from);
    parts[last] += (float)(to - last);
    steps[first + 1] += 1;
    steps[last] -= 1;
}

static void rasterise_drop(uint8_t *coverage, int pitch, struct atlas_key key) {
    int w = key.a, h = key.b;
    struct side side;
    side_init(&side);
    double top = (double)key.c / CMD_DROP_PHASES, scale = DROP_HEIGHT / h;
    for (int y = 0; y < h + 1; y++) {
        float parts[CMD_MAX_DROP_PX + 2] = {0}, steps[CMD_MAX_DROP_PX + 2] = {0};
        for (int line = 0; line < DROP_LINES; line++) {
            double depth = (y + (line + 0.5) / DROP_LINES - top) * scale;
            double half = side_half(&side, depth) * w;
            if (half > 0)
                add_span(parts, steps, w * 0.5 - half, w * 0.5 + half);
        }
        float inside = 0;
        for (int x = 0; x < w; x++) {
            inside += steps[x];
            coverage[y * pitch + x] = to_byte((inside + parts[x]) / DROP_LINES);
        }
    }
}

static int round_up(int value, int step) {
    return (value + step - 1) / step * step;
}

void atlas_measure(int *w, int *h, struct atlas_key key) {
    *w = *h = 2 * key.a;
    if (key.kind == ATLAS_STRIPES) {
        *w = round_up(ATLAS_STRIPES_MIN_WIDTH_PX, 2 * key.a);
        *h = round_up(ATLAS_STRIPES_MIN_HEIGHT_PX, 2 * key.a);
    } else if (key.kind == ATLAS_DROP) {
        *w = key.a;
        *h = key.b + 1; // a phase reaches into one more row
    }
}

void atlas_rasterise(uint8_t *coverage, int pitch_bytes, struct atlas_key key) {
    switch ((enum atlas_kind)key.kind) {
    case ATLAS_DISC:
        rasterise_ring(coverage, pitch_bytes, key.a, 0);
        break;
    case ATLAS_RING:
        rasterise_ring(coverage, pitch_bytes, key.a, key.a - key.b);
        break;
    case ATLAS_STRIPES:
        rasterise_stripes(coverage, pitch_bytes, key.a, key.b != 0);
        break;
    case ATLAS_DROP:
        rasterise_drop(coverage, pitch_bytes, key);
        break;
    }
}

// ---- pages ----

static bool key_in_range(struct atlas_key key) {
    switch ((enum atlas_kind)key.kind) {
    case ATLAS_DISC:
        return key.a >= 1 && key.a <= CMD_MAX_RADIUS_PX;
    case ATLAS_RING:
        return key.b >= 1 && key.b < key.a && key.a <= CMD_MAX_RADIUS_PX;
    case ATLAS_STRIPES:
        return key.a >= 1 && key.a <= CMD_MAX_STROKE_PX && key.b <= 1;
    case ATLAS_DROP:
        return key.a >= 1 && key.b >= 1 && key.a <= CMD_MAX_DROP_PX &&
               key.b <= ATLAS_PAGE_PX * 3 / 4 && key.c < CMD_DROP_PHASES;
    }
    return false;
}

static void clear_page(struct page *page) {
    memset(page->coverage, 0, ATLAS_PAGE_PX * ATLAS_PAGE_PX);
    page->dirty = (struct rect){0, 0, ATLAS_PAGE_PX, ATLAS_PAGE_PX};
    page->shelf_count = page->used_px = 0;
}

static bool add_page(struct atlas *atlas) {
    if (atlas->page_count == ATLAS_MAX_PAGES)
        return false;
    struct page *page = &atlas->pages[atlas->page_count];
    page->coverage = malloc(ATLAS_PAGE_PX * ATLAS_PAGE_PX);
    if (!page->coverage)
        return false;
    clear_page(page);
    atlas->page_count++;
    return true;
}

// The height of the shelf for a sprite: a few classes up to each power of two, so
// that a drop that grows by a pixel at a time doesn't begin a shelf with each one.
static int shelf_height(int h) {
    int step = 4;
    while (step * 8 < h)
        step *= 2;
    int height = round_up(h, step);
    return height < ATLAS_PAGE_PX ? height : ATLAS_PAGE_PX;
}

// A shelf of the sprite's class, a new one, or where the page is full, the lowest
// that is high enough. NULL: none.
static struct shelf *find_shelf(struct page *page, int w, int h) {
    struct shelf *best = NULL;
    int height = shelf_height(h);
    for (int i = 0; i < page->shelf_count; i++) {
        struct shelf *shelf = &page->shelves[i];
        bool fits = shelf->height >= h && shelf->used_px + w <= ATLAS_PAGE_PX;
        if (fits && (!best || shelf->height < best->height))
            best = shelf;
    }
    bool is_full = page->shelf_count == MAX_SHELVES || page->used_px + height > ATLAS_PAGE_PX;
    if (is_full || (best && best->height <= height))
        return best;
    best = &page->shelves[page->shelf_count++];
    *best = (struct shelf){.y = page->used_px, .height = height};
    page->used_px += height;
    return best;
}

static bool place(struct atlas *atlas, struct atlas_sprite *sprite, int w, int h) {
    int outer_w = w + 2 * ATLAS_GUTTER_PX, outer_h = h + 2 * ATLAS_GUTTER_PX;
    for (int i = 0; i < atlas->page_count || add_page(atlas); i++) {
        struct shelf *shelf = find_shelf(&atlas->pages[i], outer_w, outer_h);
        if (!shelf)
            continue;
        sprite->page = i;
        sprite->rect =
            (struct rect){shelf->used_px + ATLAS_GUTTER_PX, shelf->y + ATLAS_GUTTER_PX, w, h};
        shelf->used_px += outer_w;
        return true;
    }
    return false;
}

static void forget_all(struct atlas *atlas) {
    for (int i = 0; i < atlas->page_count; i++)
        clear_page(&atlas->pages[i]);
    memset(atlas->slots, 0, sizeof atlas->slots);
    atlas->sprite_count = 0;
}

static struct rect join(struct rect a, struct rect b) {
    if (a.w == 0)
        return b;
    int x = a.x < b.x ? a.x : b.x, y = a.y < b.y ? a.y : b.y;
    int right = a.x + a.w > b.x + b.w ? a.x + a.w : b.x + b.w;
    int bottom = a.y + a.h > b.y + b.h ? a.y + a.h : b.y + b.h;
    return (struct rect){x, y, right - x, bottom - y};
}

// Rasterises the key into its place.
static void paint(struct atlas *atlas, const struct atlas_sprite *sprite, struct atlas_key key) {
    struct page *page = &atlas->pages[sprite->page];
    uint8_t *place = page->coverage + sprite->rect.y * ATLAS_PAGE_PX + sprite->rect.x;
    atlas_rasterise(place, ATLAS_PAGE_PX, key);
    page->dirty = join(page->dirty, sprite->rect);
}

static struct slot *find_slot(struct atlas *atlas, struct atlas_key key) {
    uint32_t hash = (uint32_t)key.kind << 30 ^ (uint32_t)key.a << 16 ^ (uint32_t)key.b << 3 ^ key.c;
    hash = (hash ^ hash >> 15) * 0x9E3779B1u;
    for (uint32_t i = hash >> 16;; i++) {
        struct slot *slot = &atlas->slots[i % SLOTS];
        if (!slot->used || memcmp(&slot->key, &key, sizeof key) == 0)
            return slot;
    }
}

struct atlas_sprite atlas_find(struct atlas *atlas, struct atlas_key key) {
    if (!key_in_range(key))
        return (struct atlas_sprite){0};
    struct slot *slot = find_slot(atlas, key);
    if (slot->used)
        return slot->sprite;

    int w, h;
    atlas_measure(&w, &h, key);
    struct atlas_sprite sprite = {0};
    bool placed = atlas->sprite_count < ATLAS_MAX_SPRITES && place(atlas, &sprite, w, h);
    if (!placed) {
        forget_all(atlas);
        slot = find_slot(atlas, key);
        if (!place(atlas, &sprite, w, h))
            return (struct atlas_sprite){0};
    }
    paint(atlas, &sprite, key);
    *slot = (struct slot){true, key, sprite};
    atlas->sprite_count++;
    return sprite;
}

// ---- the rest ----

bool atlas_create(struct atlas **out, char why[256]) {
    *out = calloc(1, sizeof **out);
    if (*out)
        return true;
    snprintf(why, 256, "out of memory for the sprite atlas");
    return false;
}

void atlas_destroy(struct atlas *atlas) {
    if (!atlas)
        return;
    for (int i = 0; i < atlas->page_count; i++)
        free(atlas->pages[i].coverage);
    free(atlas);
}

int atlas_page_count(const struct atlas *atlas) {
    return atlas->page_count;
}

int atlas_sprite_count(const struct atlas *atlas) {
    return atlas->sprite_count;
}

const uint8_t *atlas_page(const struct atlas *atlas, int page) {
    return atlas->pages[page].coverage;
}

struct rect atlas_take_dirty(struct atlas *atlas, int page) {
    struct rect dirty = atlas->pages[page].dirty;
    atlas->pages[page].dirty = (struct rect){0};
    return dirty;
}

void atlas_touch(struct atlas *atlas) {
    for (int i = 0; i < atlas->page_count; i++)
        atlas->pages[i].dirty = (struct rect){0, 0, ATLAS_PAGE_PX, ATLAS_PAGE_PX};
}
