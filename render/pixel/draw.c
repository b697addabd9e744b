// See draw.h. Every command becomes rectangles and 1:1 copies of masks at whole
// pixels, clipped here against the clip rectangle and the target before anything
// is drawn, so that no coordinate is ever out of range.
#include "render/pixel/draw.h"

#include "compute/base/num.h"
#include "compute/base/why.h"
#include "render/pixel/masks.h"
#include "render/pixel/sprite.h"
#include "render/pixel/stroke.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct draw {
    struct text *text; // the caller's
    struct masks *masks;

    // While a list is drawn:
    struct pixels pixels;
    struct rect target; // all of them
    struct rect clip;   // within the target; w = 0: nothing is visible
    rgba color;
};

bool draw_create(struct draw **out, struct text *text, struct why *why) {
    struct draw *draw = *out = calloc(1, sizeof *draw);
    if (draw && masks_create(&draw->masks)) {
        draw->text = text;
        return true;
    }
    draw_destroy(draw);
    *out = NULL;
    return why_set(why, "out of memory for the drawing caches");
}

void draw_destroy(struct draw *draw) {
    if (!draw)
        return;
    masks_destroy(draw->masks);
    free(draw);
}

// ---- rectangles ----

// The common part; w = 0: none. `b` lies within the target, so the result does.
static struct rect intersect(struct rect a, struct rect b) {
    int64_t a_right = (int64_t)a.x + a.w, a_bottom = (int64_t)a.y + a.h;
    if (a.w <= 0 || a.h <= 0 || b.w <= 0 || a.x >= b.x + b.w || a.y >= b.y + b.h ||
        a_right <= b.x || a_bottom <= b.y)
        return (struct rect){0};
    struct rect both = {.x = (int)max_i64(a.x, b.x), .y = (int)max_i64(a.y, b.y)};
    both.w = (int)min_i64(a_right, b.x + b.w) - both.x;
    both.h = (int)min_i64(a_bottom, b.y + b.h) - both.y;
    return both;
}

static void fill(struct draw *draw, struct rect rect) {
    struct rect seen = intersect(rect, draw->clip);
    if (seen.w > 0)
        pixels_fill(&draw->pixels, seen, draw->color);
}

// A rectangle given by its edges, which may lie beyond the range of int.
static void fill_edges(struct draw *draw, int64_t left, int64_t top, int64_t right,
                       int64_t bottom) {
    const struct rect clip = draw->clip;
    int64_t clip_right = clip.x + clip.w, clip_bottom = clip.y + clip.h;
    if (left >= clip_right || top >= clip_bottom)
        return;
    int x = (int)max_i64(left, clip.x), y = (int)max_i64(top, clip.y);
    if (right > x && bottom > y)
        fill(draw, (struct rect){x, y, (int)min_i64(right, clip_right) - x,
                                 (int)min_i64(bottom, clip_bottom) - y});
}

// Blends `part` of the mask over the target with its corner at (x, y).
static void copy(struct draw *draw, const struct mask *mask, struct rect part, int64_t x,
                 int64_t y) {
    if (!mask->coverage || x < -TEXT_MAX_IMAGE_PX || y < -TEXT_MAX_IMAGE_PX ||
        x >= draw->target.w || y >= draw->target.h)
        return;
    struct rect whole = {(int)x, (int)y, part.w, part.h};
    struct rect seen = intersect(whole, draw->clip);
    if (seen.w == 0)
        return;
    size_t from_x = (size_t)(part.x + seen.x - whole.x),
           from_y = (size_t)(part.y + seen.y - whole.y);
    pixels_mask(&draw->pixels, seen, mask->coverage + from_y * (size_t)mask->width_px + from_x,
                mask->width_px, draw->color);
}

static void copy_whole(struct draw *draw, const struct mask *mask, int64_t x, int64_t y) {
    copy(draw, mask, (struct rect){0, 0, mask->width_px, mask->height_px}, x + mask->left_px,
         y + mask->top_px);
}

// ---- sprites ----

static const struct mask *find_sprite(struct draw *draw, struct sprite_key sprite) {
    // A face that no text has.
    struct text_key key = text_key(FACE_COUNT + 1, 0, (const char *)&sprite, sizeof sprite);
    const struct mask *found = masks_find(draw->masks, key);
    if (found)
        return found;
    struct mask fresh = {0};
    fresh.coverage = sprite_raster(&fresh.width_px, &fresh.height_px, sprite);
    return masks_keep(draw->masks, key, fresh);
}

// The four quarters of a round sprite at the corners of the rectangle.
static void copy_corners(struct draw *draw, struct sprite_key key, struct rect rect) {
    const struct mask *sprite = find_sprite(draw, key);
    int r = sprite->width_px / 2;
    for (int i = 0; i < 4; i++) {
        bool right = i & 1, bottom = i & 2;
        struct rect quarter = {right ? r : 0, bottom ? r : 0, r, r};
        copy(draw, sprite, quarter, (int64_t)rect.x + (right ? rect.w - r : 0),
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
        copy_corners(draw, (struct sprite_key){SPRITE_DISC, (uint16_t)r, 0, 0}, cmd->rect);
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
    struct sprite_key key = {thin ? SPRITE_RING : SPRITE_DISC, (uint16_t)r, thin ? (uint16_t)s : 0,
                             0};
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
    if (area.w == 0)
        return;
    const struct mask *tile =
        find_sprite(draw, (struct sprite_key){SPRITE_STRIPES, cmd->stroke, cmd->mirrored != 0, 0});
    if (!tile->coverage)
        return;
    int right = area.x + area.w, bottom = area.y + area.h;
    for (int y = area.y, h; y < bottom; y += h) {
        int from_y = y % tile->height_px;
        h = (int)min_i64(tile->height_px - from_y, bottom - y);
        for (int x = area.x, w; x < right; x += w) {
            int from_x = x % tile->width_px;
            w = (int)min_i64(tile->width_px - from_x, right - x);
            copy(draw, tile, (struct rect){from_x, from_y, w, h}, x, y);
        }
    }
}

static void draw_drop(struct draw *draw, const struct cmd *cmd) {
    int w = (int)min_i64(cmd->rect.w, CMD_MAX_DROP_PX);
    int h = (int)min_i64(cmd->rect.h, SPRITE_MAX_DROP_HEIGHT_PX);
    struct sprite_key key = {SPRITE_DROP, (uint16_t)w, (uint16_t)h, cmd->phase};
    copy_whole(draw, find_sprite(draw, key), (int64_t)cmd->rect.x + (cmd->rect.w - w) / 2,
               cmd->rect.y);
}

// ---- text ----

static struct mask rasterise(struct draw *draw, const struct cmd *font, const char *utf8,
                             size_t bytes) {
    struct text_image image;
    if (!text_raster(draw->text, &image, font->face, font->stroke, utf8, bytes))
        return (struct mask){0};
    size_t width = (size_t)image.width_px, height = (size_t)image.height_px;
    struct mask mask = {malloc(width * height), image.left_px, image.top_px, image.width_px,
                        image.height_px};
    for (size_t y = 0; mask.coverage && y < height; y++)
        memcpy(mask.coverage + y * width, image.coverage + y * (size_t)image.pitch_bytes, width);
    return mask;
}

static const struct mask *find_string(struct draw *draw, const struct cmd *font, const char *utf8,
                                      size_t bytes) {
    struct text_key key = text_key(font->face, font->stroke, utf8, bytes);
    const struct mask *found = masks_find(draw->masks, key);
    return found ? found : masks_keep(draw->masks, key, rasterise(draw, font, utf8, bytes));
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
        copy_whole(draw, find_string(draw, cmd, utf8, cmd->text_bytes), cmd->rect.x, cmd->rect.y);
        return;
    }
    int64_t x = cmd->rect.x;
    for (struct text_cell cell; bytes > 0; bytes -= cell.bytes, utf8 += cell.bytes) {
        cell = text_next_cell(draw->text, cmd->face, cmd->stroke, utf8, bytes);
        if (*utf8 != ' ')
            copy_whole(draw, find_string(draw, cmd, utf8, cell.bytes), x, cmd->rect.y);
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

static void draw_lines(struct draw *draw, const struct cmd *lines, int count) {
    struct rect area = intersect(stroke_bounds(lines, count), draw->clip);
    if (area.w == 0)
        return;
    struct text_key key = lines_key(lines, count, area);
    const struct mask *mask = masks_find(draw->masks, key);
    if (!mask)
        mask = masks_keep(draw->masks, key,
                          (struct mask){stroke_raster(lines, count, area), 0, 0, area.w, area.h});
    copy_whole(draw, mask, area.x, area.y);
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
    draw->color = cmd->color;
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

void draw_list(struct draw *draw, const struct pixels *target, const struct cmdlist *list) {
    draw->pixels = *target;
    draw->target = (struct rect){0, 0, target->width_px, target->height_px};
    draw->clip = draw->target;
    for (int i = 0; i < list->count; i++)
        if (list->cmds[i].kind != CMD_LINE || !list->cmds[i].phase) // drawn with its first
            draw_cmd(draw, list, &list->cmds[i]);
}
