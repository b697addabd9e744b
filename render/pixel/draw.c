// See draw.h. Every command becomes rectangles and 1:1 copies of masks at whole
// pixels, clipped here against the clip rectangle and the target before anything
// else sees them: no renderer state changes for a clip, and no coordinate is ever
// out of range. For a renderer, plain rectangles of one colour are collected and
// filled together; that may put them after copies of the same colour, which looks
// the same. For pixels everything is done at once and in order.
#include "render/pixel/draw.h"

#include "render/pixel/atlas.h"
#include "render/pixel/stroke.h"

#include <SDL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STRING_BUCKETS = 8192,     // a power of two
    STRINGS_MAX_PX = 24 << 20, // of all string textures: 96 MB, three 4K frames
    FILLS_MAX = 512,
};

// What is copied: a renderer's texture or a mask in memory.
struct image {
    SDL_Texture *texture;
    const uint8_t *mask;
    int mask_pitch_bytes;
};

// A string's image, or that of a shape of lines. Lives in a bucket's chain and in the list of uses; indices into
// draw.strings, 0 = none.
struct string {
    struct text_key key;
    SDL_Texture *texture; // NULL: nothing to draw, or a mask
    uint8_t *mask;        // width_px bytes a row
    int left_px, top_px, width_px, height_px;
    uint16_t next_in_bucket;
    uint16_t newer, older;
};

struct draw {
    SDL_Renderer *renderer; // the caller's; NULL: draws on pixels
    struct pixels pixels;
    struct text *text; // the caller's
    struct atlas *atlas;
    SDL_Texture *pages[ATLAS_MAX_PAGES];
    int max_texture_px;

    struct string strings[DRAW_MAX_STRINGS + 1]; // [0]: head of the list of uses
    uint16_t buckets[STRING_BUCKETS];
    int string_count;
    int64_t strings_px;
    uint32_t *scratch; // a texture's contents on their way
    size_t scratch_bytes;
    int raster_count;

    struct rect clip; // within the target; w = 0: nothing is visible
    struct rect target;
    rgba color;
    SDL_Rect fills[FILLS_MAX];
    int fill_count;
};

static bool create(struct draw **out, struct text *text, char why[256]) {
    struct draw *draw = *out = calloc(1, sizeof *draw);
    if (draw && atlas_create(&draw->atlas, why)) {
        draw->text = text;
        draw->max_texture_px = TEXT_MAX_IMAGE_PX;
        return true;
    }
    draw_destroy(draw);
    *out = NULL;
    snprintf(why, 256, "out of memory for the drawing caches");
    return false;
}

bool draw_create(struct draw **out, SDL_Renderer *renderer, struct text *text, char why[256]) {
    SDL_RendererInfo info = {0};
    SDL_GetRendererInfo(renderer, &info);
    int max_px = info.max_texture_width; // software says 0 for "no limit"
    *out = NULL;
    if (max_px > 0 && max_px < ATLAS_PAGE_PX) {
        snprintf(why, 256, "the renderer %.60s takes textures of %d px only, %d are needed",
                 info.name ? info.name : "?", max_px, ATLAS_PAGE_PX);
        return false;
    }
    if (!create(out, text, why))
        return false;
    (*out)->renderer = renderer;
    if (max_px > 0 && max_px < TEXT_MAX_IMAGE_PX)
        (*out)->max_texture_px = max_px;
    return true;
}

bool draw_create_for_pixels(struct draw **out, const struct pixels *target, struct text *text,
                            char why[256]) {
    if (!create(out, text, why))
        return false;
    (*out)->pixels = *target;
    return true;
}

void draw_retarget(struct draw *draw, const struct pixels *target) {
    draw->pixels = *target;
}

// ---- rectangles ----

static int min64(int64_t a, int64_t b) {
    return (int)(a < b ? a : b);
}

static int max64(int64_t a, int64_t b) {
    return (int)(a > b ? a : b);
}

// The common part; w = 0: none. `b` lies within the target, so the result does.
static struct rect intersect(struct rect a, struct rect b) {
    int64_t a_right = (int64_t)a.x + a.w, a_bottom = (int64_t)a.y + a.h;
    if (a.w <= 0 || a.h <= 0 || b.w <= 0 || a.x >= b.x + b.w || a.y >= b.y + b.h ||
        a_right <= b.x || a_bottom <= b.y)
        return (struct rect){0};
    struct rect both = {.x = max64(a.x, b.x), .y = max64(a.y, b.y)};
    both.w = min64(a_right, b.x + b.w) - both.x;
    both.h = min64(a_bottom, b.y + b.h) - both.y;
    return both;
}

static uint8_t channel(rgba color, int shift) {
    return (uint8_t)(color >> shift & 0xFF);
}

static void flush_fills(struct draw *draw) {
    if (draw->fill_count == 0)
        return;
    rgba color = draw->color;
    uint8_t alpha = channel(color, 0);
    // NONE and BLEND agree at full alpha, but NONE is a plain fill in software.
    SDL_SetRenderDrawBlendMode(draw->renderer,
                               alpha == 255 ? SDL_BLENDMODE_NONE : SDL_BLENDMODE_BLEND);
    SDL_SetRenderDrawColor(draw->renderer, channel(color, 24), channel(color, 16),
                           channel(color, 8), alpha);
    SDL_RenderFillRects(draw->renderer, draw->fills, draw->fill_count);
    draw->fill_count = 0;
}

static void set_color(struct draw *draw, rgba color) {
    if (color != draw->color)
        flush_fills(draw);
    draw->color = color;
}

static void fill(struct draw *draw, struct rect rect) {
    struct rect seen = intersect(rect, draw->clip);
    if (seen.w == 0)
        return;
    if (!draw->renderer) {
        pixels_fill(&draw->pixels, seen, draw->color);
        return;
    }
    if (draw->fill_count == FILLS_MAX)
        flush_fills(draw);
    draw->fills[draw->fill_count++] = (SDL_Rect){seen.x, seen.y, seen.w, seen.h};
}

// A rectangle given by its edges, which may lie beyond the range of int.
static void fill_edges(struct draw *draw, int64_t left, int64_t top, int64_t right,
                       int64_t bottom) {
    const struct rect clip = draw->clip;
    int64_t clip_right = clip.x + clip.w, clip_bottom = clip.y + clip.h;
    if (left >= clip_right || top >= clip_bottom)
        return;
    int x = max64(left, clip.x), y = max64(top, clip.y);
    if (right > x && bottom > y)
        fill(draw,
             (struct rect){x, y, min64(right, clip_right) - x, min64(bottom, clip_bottom) - y});
}

// ---- sprites ----

static SDL_Texture *make_texture(struct draw *draw, int w, int h) {
    SDL_Texture *texture =
        SDL_CreateTexture(draw->renderer, SDL_PIXELFORMAT_ARGB8888, SDL_TEXTUREACCESS_STATIC, w, h);
    if (!texture)
        return NULL;
    SDL_SetTextureBlendMode(texture, SDL_BLENDMODE_BLEND);
    SDL_SetTextureScaleMode(texture, SDL_ScaleModeNearest);
    return texture;
}

// White pixels with the mask as alpha, into a part of the texture.
static void upload(struct draw *draw, SDL_Texture *texture, struct rect part, const uint8_t *mask,
                   int mask_pitch_bytes) {
    size_t bytes = sizeof(uint32_t) * (size_t)part.w * (size_t)part.h;
    if (bytes > draw->scratch_bytes) {
        uint32_t *more = realloc(draw->scratch, bytes);
        if (!more)
            return;
        draw->scratch = more;
        draw->scratch_bytes = bytes;
    }
    for (int y = 0; y < part.h; y++) {
        const uint8_t *from = mask + (size_t)y * (size_t)mask_pitch_bytes;
        uint32_t *to = draw->scratch + (size_t)y * (size_t)part.w;
        for (int x = 0; x < part.w; x++)
            to[x] = (uint32_t)from[x] << 24 | 0xFFFFFF;
    }
    SDL_UpdateTexture(texture, &(SDL_Rect){part.x, part.y, part.w, part.h}, draw->scratch,
                      part.w * 4);
}

// The page with everything in it that the atlas has.
static struct image page_image(struct draw *draw, int page) {
    const uint8_t *mask = atlas_page(draw->atlas, page);
    if (!draw->renderer)
        return (struct image){.mask = mask, .mask_pitch_bytes = ATLAS_PAGE_PX};
    if (!draw->pages[page])
        draw->pages[page] = make_texture(draw, ATLAS_PAGE_PX, ATLAS_PAGE_PX);
    SDL_Texture *texture = draw->pages[page];
    struct rect dirty = texture ? atlas_take_dirty(draw->atlas, page) : (struct rect){0};
    if (dirty.w > 0)
        upload(draw, texture, dirty, mask + dirty.y * ATLAS_PAGE_PX + dirty.x, ATLAS_PAGE_PX);
    return (struct image){.texture = texture};
}

static void copy_texture(struct draw *draw, SDL_Texture *texture, struct rect from,
                         struct rect to) {
    rgba color = draw->color;
    SDL_SetTextureColorMod(texture, channel(color, 24), channel(color, 16), channel(color, 8));
    SDL_SetTextureAlphaMod(texture, channel(color, 0));
    SDL_RenderCopy(draw->renderer, texture, &(SDL_Rect){from.x, from.y, to.w, to.h},
                   &(SDL_Rect){to.x, to.y, to.w, to.h});
}

// Copies `from` of the image to (x, y) in the current colour.
static void copy(struct draw *draw, struct image image, struct rect from, int64_t x, int64_t y) {
    if (x < -TEXT_MAX_IMAGE_PX || y < -TEXT_MAX_IMAGE_PX || x >= draw->target.w ||
        y >= draw->target.h)
        return;
    struct rect whole = {(int)x, (int)y, from.w, from.h};
    struct rect seen = intersect(whole, draw->clip);
    if (seen.w == 0)
        return;
    from.x += seen.x - whole.x;
    from.y += seen.y - whole.y;
    if (image.texture)
        copy_texture(draw, image.texture, from, seen);
    else if (image.mask)
        pixels_mask(&draw->pixels, seen,
                    image.mask + (size_t)from.y * (size_t)image.mask_pitch_bytes + from.x,
                    image.mask_pitch_bytes, draw->color);
}

// The four quarters of a round sprite at the corners of the rectangle.
static void copy_corners(struct draw *draw, struct atlas_key key, struct rect rect) {
    struct atlas_sprite sprite = atlas_find(draw->atlas, key);
    if (sprite.rect.w == 0)
        return;
    struct image image = page_image(draw, sprite.page);
    int r = sprite.rect.w / 2;
    for (int i = 0; i < 4; i++) {
        bool right = i & 1, bottom = i & 2;
        struct rect from = {sprite.rect.x + (right ? r : 0), sprite.rect.y + (bottom ? r : 0), r,
                            r};
        copy(draw, image, from, (int64_t)rect.x + (right ? rect.w - r : 0),
             (int64_t)rect.y + (bottom ? rect.h - r : 0));
    }
}

static int corner_radius(const struct cmd *cmd) {
    int half = (cmd->rect.w < cmd->rect.h ? cmd->rect.w : cmd->rect.h) / 2;
    int radius = cmd->radius < CMD_MAX_RADIUS_PX ? cmd->radius : CMD_MAX_RADIUS_PX;
    return radius < half ? radius : half;
}

static void draw_round(struct draw *draw, const struct cmd *cmd) {
    int64_t left = cmd->rect.x, top = cmd->rect.y;
    int64_t right = left + cmd->rect.w, bottom = top + cmd->rect.h;
    int r = corner_radius(cmd);
    if (r > 0)
        copy_corners(draw, (struct atlas_key){ATLAS_DISC, (uint16_t)r, 0, 0}, cmd->rect);
    fill_edges(draw, left + r, top, right - r, top + r);
    fill_edges(draw, left, top + r, right, bottom - r);
    fill_edges(draw, left + r, bottom - r, right - r, bottom);
}

// Thin: a ring sprite's quarters and four bars between them. Thicker than its
// radius: the corners are those of a disc, filled up to the stroke by the bars.
static void draw_ring(struct draw *draw, const struct cmd *cmd) {
    int r = corner_radius(cmd), s = cmd->stroke;
    if (2 * s >= cmd->rect.w || 2 * s >= cmd->rect.h) {
        draw_round(draw, cmd);
        return;
    }
    int64_t left = cmd->rect.x, top = cmd->rect.y;
    int64_t right = left + cmd->rect.w, bottom = top + cmd->rect.h;
    bool thin = s < r;
    struct atlas_key key = {thin ? ATLAS_RING : ATLAS_DISC, (uint16_t)r, thin ? (uint16_t)s : 0, 0};
    if (r > 0)
        copy_corners(draw, key, cmd->rect);
    int side_top = thin ? r : s;
    fill_edges(draw, left + r, top, right - r, thin ? top + s : top + r);
    fill_edges(draw, left + r, thin ? bottom - s : bottom - r, right - r, bottom);
    if (!thin) {
        fill_edges(draw, left, top + r, right, top + s);
        fill_edges(draw, left, bottom - s, right, bottom - r);
    }
    fill_edges(draw, left, top + side_top, left + s, bottom - side_top);
    fill_edges(draw, right - s, top + side_top, right, bottom - side_top);
}

// Tiles from the target's corner on; the first tile of a row or column is cut.
static void draw_stripes(struct draw *draw, const struct cmd *cmd) {
    struct rect area = intersect(cmd->rect, draw->clip);
    struct atlas_key key = {ATLAS_STRIPES, cmd->stroke, cmd->mirrored != 0, 0};
    struct atlas_sprite tile = atlas_find(draw->atlas, key);
    if (area.w == 0 || tile.rect.w == 0)
        return;
    struct image image = page_image(draw, tile.page);
    int right = area.x + area.w, bottom = area.y + area.h;
    for (int y = area.y, h; y < bottom; y += h) {
        int from_y = y % tile.rect.h;
        h = min64(tile.rect.h - from_y, bottom - y);
        for (int x = area.x, w; x < right; x += w) {
            int from_x = x % tile.rect.w;
            w = min64(tile.rect.w - from_x, right - x);
            copy(draw, image, (struct rect){tile.rect.x + from_x, tile.rect.y + from_y, w, h}, x,
                 y);
        }
    }
}

static void draw_drop(struct draw *draw, const struct cmd *cmd) {
    int w = min64(cmd->rect.w, CMD_MAX_DROP_PX), h = min64(cmd->rect.h, CMD_MAX_DROP_PX * 3 / 2);
    struct atlas_key key = {ATLAS_DROP, (uint16_t)w, (uint16_t)h, cmd->phase};
    struct atlas_sprite sprite = atlas_find(draw->atlas, key);
    if (sprite.rect.w > 0)
        copy(draw, page_image(draw, sprite.page), sprite.rect,
             (int64_t)cmd->rect.x + (cmd->rect.w - w) / 2, cmd->rect.y);
}

// ---- strings ----

static uint16_t *bucket_of(struct draw *draw, struct text_key key) {
    return &draw->buckets[(key.high ^ key.high >> 32) % STRING_BUCKETS];
}

static void unlink_use(struct draw *draw, uint16_t index) {
    struct string *string = &draw->strings[index];
    draw->strings[string->newer].older = string->older;
    draw->strings[string->older].newer = string->newer;
}

static void link_as_newest(struct draw *draw, uint16_t index) {
    struct string *head = &draw->strings[0], *string = &draw->strings[index];
    string->newer = 0;
    string->older = head->older;
    draw->strings[head->older].newer = index;
    head->older = index;
}

static void release(struct string *string) {
    if (string->texture)
        SDL_DestroyTexture(string->texture);
    free(string->mask);
}

// Takes the string used longest ago out.
static void drop_oldest(struct draw *draw) {
    uint16_t index = draw->strings[0].newer;
    struct string *string = &draw->strings[index];
    uint16_t *at = bucket_of(draw, string->key);
    while (*at != index)
        at = &draw->strings[*at].next_in_bucket;
    *at = string->next_in_bucket;
    unlink_use(draw, index);
    release(string);
    draw->strings_px -= (int64_t)string->width_px * string->height_px;
    // The last place moves into the gap, so that places in use stay together.
    uint16_t last = (uint16_t)draw->string_count--;
    if (last == index)
        return;
    at = bucket_of(draw, draw->strings[last].key);
    while (*at != last)
        at = &draw->strings[*at].next_in_bucket;
    *at = index;
    draw->strings[index] = draw->strings[last];
    draw->strings[draw->strings[index].newer].older = index;
    draw->strings[draw->strings[index].older].newer = index;
}

static void drop_all_strings(struct draw *draw) {
    for (int i = 1; i <= draw->string_count; i++)
        release(&draw->strings[i]);
    memset(draw->strings, 0, sizeof draw->strings);
    memset(draw->buckets, 0, sizeof draw->buckets);
    draw->string_count = 0;
    draw->strings_px = 0;
}

static uint8_t *mask_of(const struct text_image *image) {
    uint8_t *mask = malloc((size_t)image->width_px * (size_t)image->height_px);
    for (int y = 0; mask && y < image->height_px; y++)
        memcpy(mask + (size_t)y * (size_t)image->width_px,
               image->coverage + (size_t)y * (size_t)image->pitch_bytes, (size_t)image->width_px);
    return mask;
}

static SDL_Texture *texture_of(struct draw *draw, const struct text_image *image) {
    SDL_Texture *texture = make_texture(draw, image->width_px, image->height_px);
    if (texture)
        upload(draw, texture, (struct rect){0, 0, image->width_px, image->height_px},
               image->coverage, image->pitch_bytes);
    return texture;
}

static void rasterise(struct draw *draw, struct string *string, const struct cmd *font,
                      const char *utf8, size_t bytes) {
    struct text_image image;
    draw->raster_count++;
    if (!text_raster(draw->text, &image, font->face, font->stroke, utf8, bytes))
        return;
    image.width_px = min64(image.width_px, draw->max_texture_px);
    image.height_px = min64(image.height_px, draw->max_texture_px);
    if (draw->renderer)
        string->texture = texture_of(draw, &image);
    else
        string->mask = mask_of(&image);
    string->left_px = image.left_px;
    string->top_px = image.top_px;
    string->width_px = image.width_px;
    string->height_px = image.height_px;
}

// The image kept under the key, now the newest; NULL: none.
static const struct string *find_kept(struct draw *draw, struct text_key key) {
    uint16_t index = *bucket_of(draw, key);
    while (index &&
           (draw->strings[index].key.high != key.high || draw->strings[index].key.low != key.low))
        index = draw->strings[index].next_in_bucket;
    if (!index)
        return NULL;
    unlink_use(draw, index);
    link_as_newest(draw, index);
    return &draw->strings[index];
}

static const struct string *keep(struct draw *draw, const struct string *fresh) {
    int64_t px = (int64_t)fresh->width_px * fresh->height_px;
    while (draw->string_count > 0 &&
           (draw->string_count == DRAW_MAX_STRINGS || draw->strings_px + px > STRINGS_MAX_PX))
        drop_oldest(draw);
    uint16_t index = (uint16_t)++draw->string_count, *bucket = bucket_of(draw, fresh->key);
    draw->strings[index] = *fresh;
    draw->strings[index].next_in_bucket = *bucket;
    *bucket = index;
    draw->strings_px += px;
    link_as_newest(draw, index);
    return &draw->strings[index];
}

static const struct string *find_string(struct draw *draw, const struct cmd *font, const char *utf8,
                                        size_t bytes) {
    struct text_key key = text_key(font->face, font->stroke, utf8, bytes);
    const struct string *found = find_kept(draw, key);
    if (found)
        return found;
    struct string fresh = {.key = key};
    rasterise(draw, &fresh, font, utf8, bytes);
    return keep(draw, &fresh);
}

static void copy_string(struct draw *draw, const struct string *string, int64_t x, int64_t y) {
    struct image image = {string->texture, string->mask, string->width_px};
    copy(draw, image, (struct rect){0, 0, string->width_px, string->height_px}, x + string->left_px,
         y + string->top_px);
}

// Nothing of a line at this baseline can be seen. Marks may tower, but not that far.
static bool is_out_of_sight(const struct draw *draw, const struct cmd *cmd) {
    int64_t reach = 3 * (int64_t)(cmd->stroke < TEXT_MIN_PX ? TEXT_MIN_PX : cmd->stroke);
    const struct rect clip = draw->clip;
    return cmd->rect.y + reach < clip.y || cmd->rect.y - reach > clip.y + clip.h ||
           cmd->rect.x - reach > clip.x + clip.w;
}

static void draw_text(struct draw *draw, const struct cmd *cmd, const char *utf8) {
    size_t bytes = cmd->text_bytes < TEXT_MAX_BYTES ? cmd->text_bytes : TEXT_MAX_BYTES;
    if (is_out_of_sight(draw, cmd))
        return;
    if (!text_is_in_cells(cmd->face)) {
        copy_string(draw, find_string(draw, cmd, utf8, cmd->text_bytes), cmd->rect.x, cmd->rect.y);
        return;
    }
    int64_t x = cmd->rect.x;
    for (struct text_cell cell; bytes > 0; bytes -= cell.bytes, utf8 += cell.bytes) {
        cell = text_next_cell(draw->text, cmd->face, cmd->stroke, utf8, bytes);
        if (*utf8 != ' ')
            copy_string(draw, find_string(draw, cmd, utf8, cell.bytes), x, cmd->rect.y);
        x += cell.advance_px;
    }
}

// ---- lines ----

// Lines cmds[0 .. count) are one shape. Its image is kept like a string's, cut to
// what can be seen; what is asked for again is the same lines in the same cut.
static struct text_key lines_key(const struct cmd *lines, int count, struct rect area) {
    struct text_key key = {0x9E3779B97F4A7C15u, (uint64_t)(unsigned)count << 32 | lines->stroke};
    const int corner[] = {area.w, area.h};
    for (int i = -1; i < count; i++) {
        int place[4] = {corner[0], corner[1], 0, 0};
        if (i >= 0) {
            place[0] = lines[i].rect.x - area.x * CMD_LINE_UNIT;
            place[1] = lines[i].rect.y - area.y * CMD_LINE_UNIT;
            place[2] = lines[i].rect.w;
            place[3] = lines[i].rect.h;
        }
        struct text_key one = text_key(FACE_COUNT, 0, (const char *)place, sizeof place);
        key.high = (key.high ^ one.high) * 0x100000001B3u;
        key.low = (key.low ^ one.low) * 0xFF51AFD7ED558CCDu;
        key.low ^= key.low >> 29;
    }
    return key;
}

static void rasterise_lines(struct draw *draw, struct string *string, const struct cmd *lines,
                            int count, struct rect area) {
    uint8_t *coverage = stroke_raster(lines, count, area);
    draw->raster_count++;
    if (!coverage)
        return;
    struct text_image image = {coverage, area.w, area.h, area.w, 0, 0};
    string->width_px = area.w;
    string->height_px = area.h;
    if (!draw->renderer) {
        string->mask = coverage;
        return;
    }
    string->texture = texture_of(draw, &image);
    free(coverage);
}

static void draw_lines(struct draw *draw, const struct cmd *lines, int count) {
    struct rect area = intersect(stroke_bounds(lines, count), draw->clip);
    if (area.w == 0)
        return;
    area.w = min64(area.w, draw->max_texture_px);
    area.h = min64(area.h, draw->max_texture_px);
    struct text_key key = lines_key(lines, count, area);
    const struct string *found = find_kept(draw, key);
    if (!found) {
        struct string fresh = {.key = key};
        rasterise_lines(draw, &fresh, lines, count, area);
        found = keep(draw, &fresh);
    }
    copy_string(draw, found, area.x, area.y);
}

// ---- lists ----

static void set_clip(struct draw *draw, struct rect rect) {
    draw->clip = rect.w == 0 ? draw->target : intersect(rect, draw->target);
}

// The line and those that continue it.
static int lines_in_shape(const struct cmdlist *list, const struct cmd *first) {
    const struct cmd *end = list->cmds + list->count, *at = first + 1;
    while (at < end && at->kind == CMD_LINE && at->phase)
        at++;
    return (int)(at - first);
}

static void draw_cmd(struct draw *draw, const struct cmdlist *list, const struct cmd *cmd) {
    if (cmd->kind == CMD_CLIP) {
        set_clip(draw, cmd->rect);
        return;
    }
    if (draw->clip.w == 0)
        return;
    set_color(draw, cmd->color);
    switch ((enum cmd_kind)cmd->kind) {
    case CMD_CLIP:
        break;
    case CMD_FILL:
        fill(draw, cmd->rect);
        break;
    case CMD_ROUND:
        draw_round(draw, cmd);
        break;
    case CMD_RING:
        draw_ring(draw, cmd);
        break;
    case CMD_STRIPES:
        draw_stripes(draw, cmd);
        break;
    case CMD_DROP:
        draw_drop(draw, cmd);
        break;
    case CMD_LINE:
        draw_lines(draw, cmd, lines_in_shape(list, cmd));
        break;
    case CMD_TEXT:
        draw_text(draw, cmd, list->text + cmd->text_offset);
        break;
    }
}

static void find_target(struct draw *draw) {
    draw->target = (struct rect){0, 0, draw->pixels.width_px, draw->pixels.height_px};
    if (!draw->renderer)
        return;
    SDL_RenderSetViewport(draw->renderer, NULL);
    SDL_RenderSetClipRect(draw->renderer, NULL);
    SDL_GetRendererOutputSize(draw->renderer, &draw->target.w, &draw->target.h);
}

void draw_list(struct draw *draw, const struct cmdlist *list) {
    find_target(draw);
    set_clip(draw, (struct rect){0});
    draw->color = 0;
    for (int i = 0; i < list->count; i++)
        if (list->cmds[i].kind != CMD_LINE || !list->cmds[i].phase) // drawn with its first
            draw_cmd(draw, list, &list->cmds[i]);
    flush_fills(draw);
}

void draw_reset(struct draw *draw) {
    drop_all_strings(draw);
    for (int i = 0; i < ATLAS_MAX_PAGES; i++) {
        if (draw->pages[i])
            SDL_DestroyTexture(draw->pages[i]);
        draw->pages[i] = NULL;
    }
    atlas_touch(draw->atlas);
}

void draw_destroy(struct draw *draw) {
    if (!draw)
        return;
    if (draw->atlas)
        draw_reset(draw);
    atlas_destroy(draw->atlas);
    free(draw->scratch);
    free(draw);
}

int draw_raster_count(const struct draw *draw) {
    return draw->raster_count;
}
