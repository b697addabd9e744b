// See text.h. A string is laid out as runs: clusters of one font and script, each
// shaped as a whole by SDL_ttf. Measuring adds the runs' widths; rasterising draws
// them into one buffer around a common baseline and crops it to the ink.
#include "render/pixel/text.h"

#include "compute/base/figures.h"
#include "compute/base/num.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "render/pixel/cluster.h"
#include "render/pixel/fonts.h"

#include <SDL.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH_SETS = 1024, // of 4 entries: the cache of widths; a power of two
    WIDTH_WAYS = 4,
    RUN_UTF8_BYTES = 4 * TEXT_MAX_BYTES + 1,
};

struct run {
    int file;       // of fonts; -1: a box with the number of chars[first]
    uint8_t script; // of cluster.h
    int first, count;
    int width_px;
};

struct width_entry {
    struct text_key key;
    int width_px;
    uint32_t used;
};

struct text {
    struct fonts *fonts;
    struct width_entry widths[WIDTH_SETS][WIDTH_WAYS];
    uint32_t tick;
    uint8_t *coverage; // the last image
    size_t coverage_bytes;

    // The string last laid out. A byte makes at most one character and one run.
    uint32_t chars[TEXT_MAX_BYTES];
    int char_count;
    struct run runs[TEXT_MAX_BYTES];
    int run_count;
    char run_utf8[RUN_UTF8_BYTES];
};

// Where a run's pixels go in the image under construction.
struct canvas {
    uint8_t *coverage;
    int width_px, height_px;
    int baseline_px; // row of the baseline
    bool in_cells;
};

bool text_create(struct text **out, struct why *why) {
    struct text *text = *out = calloc(1, sizeof *text);
    if (!text)
        return why_set(why, "out of memory for the texts");
    if (fonts_create(&text->fonts, why))
        return true;
    text_destroy(text);
    *out = NULL;
    return false;
}

void text_destroy(struct text *text) {
    if (!text)
        return;
    fonts_destroy(text->fonts);
    free(text->coverage);
    free(text);
}

const char *text_note(const struct text *text) {
    return fonts_note(text->fonts);
}

static enum text_face valid_face(enum text_face face) {
    return (unsigned)face < FACE_COUNT ? face : FACE_TOKEN;
}

static int valid_px(int px) {
    return clamp_int(px, TEXT_MIN_PX, TEXT_MAX_PX);
}

bool text_is_in_cells(enum text_face face) {
    return face == FACE_DIGITS || face == FACE_MONO;
}

struct text_key text_key(enum text_face face, int px, const char *utf8, size_t bytes) {
    uint64_t seed = (uint64_t)face << 32 | (uint32_t)px;
    struct text_key key = {seed ^ 0xCBF29CE484222325u, ~seed * 0x9E3779B97F4A7C15u};
    for (size_t i = 0; i < bytes; i++) {
        key.high = (key.high ^ (unsigned char)utf8[i]) * 0x100000001B3u;
        key.low = (key.low ^ (unsigned char)utf8[i]) * 0xFF51AFD7ED558CCDu;
        key.low ^= key.low >> 29;
    }
    return key;
}

// ---- metrics of a face ----

static TTF_Font *primary_font(struct text *text, enum text_face face, int px) {
    return fonts_open(text->fonts, fonts_primary(text->fonts, valid_face(face)), valid_px(px));
}

int text_ascent_px(struct text *text, enum text_face face, int px) {
    TTF_Font *font = primary_font(text, face, px);
    return font ? TTF_FontAscent(font) : valid_px(px);
}

int text_cap_px(struct text *text, enum text_face face, int px) {
    TTF_Font *font = primary_font(text, face, px);
    int top = 0;
    if (font && TTF_GlyphMetrics32(font, 'H', NULL, NULL, NULL, &top, NULL) == 0 && top > 0)
        return top;
    return valid_px(px) * 3 / 4;
}

// ---- the box for what no font has ----

// Hexadecimal digits, 3 x 5 pixels, rows from the top, leftmost pixel highest.
static const uint16_t hex_digits[16] = {
    0x7B6F, 0x2C97, 0x73E7, 0x72CF, 0x5BC9, 0x79CF, 0x79EF, 0x7292,
    0x7BEF, 0x7BCF, 0x7BED, 0x6BAE, 0x7927, 0x6B6E, 0x79A7, 0x79A4,
};

// One row of digits, more than half as high as a capital: as far as can be read.
struct box {
    int digits, scale;
    int width_px, height_px;
};

static struct box box_measure(uint32_t character, int px) {
    struct box box = {.digits = character > 0xFFFFF  ? 6
                                : character > 0xFFFF ? 5
                                : character > 0xFF   ? 4
                                                     : 2};
    int cap_px = px * 3 / 4;
    // Frame and gaps are one unit each, a digit 3 x 5.
    box.scale = max_int((cap_px + 3) / 9, 1);
    box.width_px = (4 * box.digits + 3) * box.scale;
    box.height_px = 9 * box.scale;
    return box;
}

static int box_advance(uint32_t character, int px) {
    int gap_px = px / 16 + 1; // on both sides
    return box_measure(character, px).width_px + 2 * gap_px;
}

static void canvas_fill(struct canvas *canvas, struct rect rect) {
    for (int y = rect.y < 0 ? 0 : rect.y; y < rect.y + rect.h && y < canvas->height_px; y++)
        for (int x = rect.x < 0 ? 0 : rect.x; x < rect.x + rect.w && x < canvas->width_px; x++)
            canvas->coverage[(size_t)y * (size_t)canvas->width_px + (size_t)x] = 255;
}

static void draw_digit(struct canvas *canvas, int x, int y, int scale, unsigned digit) {
    for (int i = 0; i < 15; i++)
        if (hex_digits[digit] >> (14 - i) & 1)
            canvas_fill(canvas, (struct rect){x + i % 3 * scale, y + i / 3 * scale, scale, scale});
}

static void draw_box(struct canvas *canvas, int x, uint32_t character, int px) {
    struct box box = box_measure(character, px);
    int left = x + px / 16 + 1, top = canvas->baseline_px - box.height_px;
    int line = box.scale;
    canvas_fill(canvas, (struct rect){left, top, box.width_px, line});
    canvas_fill(canvas, (struct rect){left, canvas->baseline_px - line, box.width_px, line});
    canvas_fill(canvas, (struct rect){left, top, line, box.height_px});
    canvas_fill(canvas, (struct rect){left + box.width_px - line, top, line, box.height_px});
    for (int i = 0; i < box.digits; i++)
        draw_digit(canvas, left + (2 + 4 * i) * line, top + 2 * line, line,
                   character >> 4 * (box.digits - 1 - i) & 15);
}

// ---- laying out ----

// Appends the cluster to the last run if it goes on in its font and script.
static void add_cluster(struct text *text, const struct cluster *cluster, int file, bool in_cells) {
    struct run *last = text->run_count ? &text->runs[text->run_count - 1] : NULL;
    if (in_cells || file < 0 || !last || last->file != file || last->script != cluster->script) {
        last = &text->runs[text->run_count++];
        *last = (struct run){.file = file, .script = cluster->script, .first = text->char_count};
    }
    for (int i = 0; i < cluster->count; i++)
        text->chars[text->char_count++] = cluster->chars[i];
    last->count += cluster->count;
}

// Drops the marks that the font lacks: a letter must not carry empty boxes.
static void keep_known(struct text *text, struct cluster *cluster, int file, int px) {
    int kept = 1;
    for (int i = 1; i < cluster->count; i++)
        if (cluster_is_joiner(cluster->chars[i]) ||
            (file >= 0 && fonts_has(text->fonts, file, px, cluster->chars[i])))
            cluster->chars[kept++] = cluster->chars[i];
    cluster->count = kept;
}

// A space between two words of one right-to-left script belongs to their run, so that the
// words change places as they should.
static uint8_t space_script(uint8_t before, const char *utf8, size_t bytes) {
    struct cluster next;
    if (!before || !cluster_script(before)->is_rtl)
        return 0;
    cluster_next(&next, utf8, bytes);
    return next.script == before ? before : 0;
}

static void lay_out(struct text *text, enum text_face face, int px, const char *utf8,
                    size_t bytes) {
    bytes = utf8_cut(utf8, bytes, TEXT_MAX_BYTES);
    text->char_count = text->run_count = 0;
    bool in_cells = text_is_in_cells(face);
    uint8_t script = 0;
    struct cluster cluster;
    for (size_t used; (used = cluster_next(&cluster, utf8, bytes)) > 0;) {
        utf8 += used;
        bytes -= used;
        if (cluster.count == 0)
            continue;
        if (cluster.chars[0] == ' ')
            cluster.script = space_script(script, utf8, bytes);
        script = cluster.script;
        int file = fonts_pick(text->fonts, face, px, &cluster);
        keep_known(text, &cluster, file, px);
        add_cluster(text, &cluster, file, in_cells);
    }
}

// The run's font, set for its script; its characters, as UTF-8, are in run_utf8.
static TTF_Font *prepare_run(struct text *text, const struct run *run, int px) {
    TTF_Font *font = fonts_open(text->fonts, run->file, px);
    if (!font)
        return NULL;
    const struct cluster_script *script = cluster_script(run->script);
    TTF_SetFontScriptName(font, script->tag);
    TTF_SetFontDirection(font, script->is_rtl ? TTF_DIRECTION_RTL : TTF_DIRECTION_LTR);
    size_t bytes = 0;
    for (int i = 0; i < run->count; i++)
        bytes += utf8_encode(text->run_utf8 + bytes, text->chars[run->first + i]);
    text->run_utf8[bytes] = '\0';
    return font;
}

static int measure_run(struct text *text, const struct run *run, int px, bool in_cells) {
    if (run->file < 0)
        return box_advance(text->chars[run->first], px);
    TTF_Font *font = prepare_run(text, run, px);
    int width = 0;
    if (!font)
        return 0;
    if (in_cells && run->count == 1)
        TTF_GlyphMetrics32(font, text->chars[run->first], NULL, NULL, NULL, NULL, &width);
    else
        TTF_SizeUTF8(font, text->run_utf8, &width, NULL);
    return width > 0 ? width : 0;
}

static int lay_out_and_measure(struct text *text, enum text_face face, int px, const char *utf8,
                               size_t bytes) {
    lay_out(text, face, px, utf8, bytes);
    int width_px = 0;
    for (int i = 0; i < text->run_count; i++) {
        text->runs[i].width_px = measure_run(text, &text->runs[i], px, text_is_in_cells(face));
        width_px += text->runs[i].width_px;
    }
    return width_px;
}

// ---- measuring ----

static int width_of(struct text *text, enum text_face face, int px, const char *utf8,
                    size_t bytes) {
    struct text_key key = text_key(face, px, utf8, bytes);
    struct width_entry *set = text->widths[key.high % WIDTH_SETS], *oldest = set;
    for (int i = 0; i < WIDTH_WAYS; i++) {
        if (set[i].used && set[i].key.high == key.high && set[i].key.low == key.low) {
            set[i].used = ++text->tick;
            return set[i].width_px;
        }
        if (set[i].used < oldest->used)
            oldest = &set[i];
    }
    int width_px = lay_out_and_measure(text, face, px, utf8, bytes);
    *oldest = (struct width_entry){key, width_px, ++text->tick};
    return width_px;
}

struct text_cell text_next_cell(struct text *text, enum text_face face, int px, const char *utf8,
                                size_t bytes) {
    struct cluster cluster;
    size_t used = cluster_next(&cluster, utf8, bytes);
    int advance_px = used ? width_of(text, valid_face(face), valid_px(px), utf8, used) : 0;
    return (struct text_cell){used, advance_px};
}

int text_width_px(struct text *text, enum text_face face, int px, const char *utf8) {
    face = valid_face(face);
    px = valid_px(px);
    size_t bytes = utf8_cut(utf8, strlen(utf8), TEXT_MAX_BYTES);
    if (!text_is_in_cells(face))
        return width_of(text, face, px, utf8, bytes);
    // The sum of cells that are nearly always known: a number that changes with
    // every frame needs no font and fills no cache.
    int width_px = 0;
    for (struct text_cell cell; (cell = text_next_cell(text, face, px, utf8, bytes)).bytes > 0;) {
        width_px += cell.advance_px;
        utf8 += cell.bytes;
        bytes -= cell.bytes;
    }
    return width_px;
}

// ---- cutting ----

// The first `bytes` of utf8 without trailing spaces, and an ellipsis.
static void write_cut(char *out, const char *utf8, size_t bytes) {
    while (bytes > 0 && utf8[bytes - 1] == ' ')
        bytes--;
    memcpy(out, utf8, bytes);
    memcpy(out + bytes, SIGN_ELLIPSIS, sizeof SIGN_ELLIPSIS);
}

int text_fit(struct text *text, char *out, size_t out_bytes, enum text_face face, int px,
             const char *utf8, int width_px) {
    size_t bytes = strlen(utf8);
    int whole_px = text_width_px(text, face, px, utf8);
    if (bytes < out_bytes && bytes <= TEXT_MAX_BYTES && whole_px <= width_px) {
        memcpy(out, utf8, bytes + 1);
        return whole_px;
    }
    if (out_bytes > 0)
        out[0] = '\0';
    if (out_bytes < sizeof SIGN_ELLIPSIS)
        return 0;

    // Ends of clusters that leave room for the ellipsis.
    uint16_t ends[TEXT_MAX_BYTES + 1] = {0};
    int count = 1;
    size_t room = out_bytes - sizeof SIGN_ELLIPSIS;
    bytes = utf8_cut(utf8, bytes, TEXT_MAX_BYTES - sizeof SIGN_ELLIPSIS);
    struct cluster cluster;
    for (size_t at = 0, used; (used = cluster_next(&cluster, utf8 + at, bytes - at)) > 0;) {
        at += used;
        if (at > room)
            break;
        ends[count++] = (uint16_t)at;
    }
    int low = 0, high = count; // low fits, or is 0; high doesn't
    while (high - low > 1) {
        int middle = (low + high) / 2;
        write_cut(out, utf8, ends[middle]);
        if (text_width_px(text, face, px, out) <= width_px)
            low = middle;
        else
            high = middle;
    }
    write_cut(out, utf8, ends[low]);
    int cut_px = text_width_px(text, face, px, out);
    if (cut_px <= width_px)
        return cut_px;
    out[0] = '\0';
    return 0;
}

// ---- rasterising ----

static bool last_row_has_ink(const SDL_Surface *surface) {
    const uint32_t *row =
        (const uint32_t *)((const uint8_t *)surface->pixels + (surface->h - 1) * surface->pitch);
    for (int x = 0; x < surface->w; x++)
        if (row[x] >> 24)
            return true;
    return false;
}

// SDL_ttf moves a line down when a glyph sticks out above the font's ascent, and
// makes the surface higher for what sticks out above or below, but tells neither
// (trap: the baseline then moves). What sticks out below has ink in the last row;
// then the glyphs' own tops say how much of the rest is above.
static int baseline_row(struct text *text, const SDL_Surface *surface, const struct run *run,
                        TTF_Font *font) {
    int ascent = TTF_FontAscent(font), over = surface->h - TTF_FontHeight(font);
    if (over <= 0)
        return ascent;
    if (!last_row_has_ink(surface))
        return ascent + over;
    int highest = 0;
    for (int i = 0; i < run->count; i++) {
        int top = 0;
        TTF_GlyphMetrics32(font, text->chars[run->first + i], NULL, NULL, NULL, &top, NULL);
        highest = top > highest ? top : highest;
    }
    int above = highest > ascent ? highest - ascent : 0;
    return ascent + (above < over ? above : over);
}

static void compose(struct canvas *canvas, const SDL_Surface *surface, int left, int top) {
    for (int y = 0; y < surface->h; y++) {
        if (top + y < 0 || top + y >= canvas->height_px)
            continue;
        const uint32_t *from =
            (const uint32_t *)((const uint8_t *)surface->pixels + y * surface->pitch);
        uint8_t *to = canvas->coverage + (size_t)(top + y) * (size_t)canvas->width_px;
        for (int x = 0; x < surface->w; x++) {
            int at = left + x;
            uint8_t alpha = (uint8_t)(from[x] >> 24);
            if (at >= 0 && at < canvas->width_px && alpha > to[at])
                to[at] = alpha;
        }
    }
}

// Ends run_utf8 where its width reaches the rest of the canvas: memory for text far
// beyond any screen would otherwise be asked for.
static void cut_run(struct text *text, TTF_Font *font, int rest_px) {
    int extent, count;
    if (TTF_MeasureUTF8(font, text->run_utf8, rest_px, &extent, &count) != 0)
        return;
    size_t at = 0, bytes = strlen(text->run_utf8);
    struct cluster cluster;
    for (int i = 0; i <= count && at < bytes; i++)
        at += cluster_next(&cluster, text->run_utf8 + at, bytes - at);
    text->run_utf8[at] = '\0';
}

static void draw_run(struct text *text, struct canvas *canvas, const struct run *run, int x,
                     int px) {
    if (run->file < 0) {
        draw_box(canvas, x, text->chars[run->first], px);
        return;
    }
    TTF_Font *font = prepare_run(text, run, px);
    if (!font)
        return;
    if (run->width_px > canvas->width_px - x)
        cut_run(text, font, canvas->width_px - x);
    SDL_Surface *surface =
        TTF_RenderUTF8_Blended(font, text->run_utf8, (SDL_Color){255, 255, 255, 255});
    if (!surface)
        return; // nothing but marks without width
    // In a cell the pen, not the ink, is at x.
    int left = 0;
    if (canvas->in_cells && run->count == 1)
        TTF_GlyphMetrics32(font, text->chars[run->first], &left, NULL, NULL, NULL, NULL);
    compose(canvas, surface, x + (left < 0 ? left : 0),
            canvas->baseline_px - baseline_row(text, surface, run, font));
    SDL_FreeSurface(surface);
}

// The height above and below the baseline that the runs may need.
static void measure_height(struct text *text, int px, int *above_px, int *below_px) {
    *above_px = *below_px = 0;
    for (int i = 0; i < text->run_count; i++) {
        const struct run *run = &text->runs[i];
        int height = box_measure(0, px).height_px * 2, ascent = height, font_height = height;
        TTF_Font *font = run->file >= 0 ? prepare_run(text, run, px) : NULL;
        if (font) {
            ascent = TTF_FontAscent(font);
            height = font_height = TTF_FontHeight(font);
            TTF_SizeUTF8(font, text->run_utf8, NULL, &height);
        }
        int above = ascent + (height - font_height), below = height - ascent;
        *above_px = above > *above_px ? above : *above_px;
        *below_px = below > *below_px ? below : *below_px;
    }
}

static bool canvas_init(struct canvas *canvas, struct text *text) {
    size_t bytes = (size_t)canvas->width_px * (size_t)canvas->height_px;
    if (bytes > text->coverage_bytes) {
        uint8_t *more = realloc(text->coverage, bytes);
        if (!more)
            return false;
        text->coverage = more;
        text->coverage_bytes = bytes;
    }
    memset(text->coverage, 0, bytes);
    canvas->coverage = text->coverage;
    return true;
}

static bool column_is_clear(const struct text_image *image, int x) {
    for (int y = 0; y < image->height_px; y++)
        if (image->coverage[y * image->pitch_bytes + x])
            return false;
    return true;
}

static bool row_is_clear(const struct text_image *image, int y) {
    for (int x = 0; x < image->width_px; x++)
        if (image->coverage[y * image->pitch_bytes + x])
            return false;
    return true;
}

// Takes the clear margins away. False: nothing is left.
static bool crop(struct text_image *image) {
    while (image->height_px > 0 && row_is_clear(image, image->height_px - 1))
        image->height_px--;
    while (image->height_px > 0 && row_is_clear(image, 0)) {
        image->coverage += image->pitch_bytes;
        image->height_px--;
        image->top_px++;
    }
    if (image->height_px == 0)
        return false;
    while (column_is_clear(image, image->width_px - 1))
        image->width_px--;
    while (column_is_clear(image, 0)) {
        image->coverage++;
        image->width_px--;
        image->left_px++;
    }
    return true;
}

bool text_raster(struct text *text, struct text_image *out, enum text_face face, int px,
                 const char *utf8, size_t bytes) {
    face = valid_face(face);
    px = valid_px(px);
    int width_px = lay_out_and_measure(text, face, px, utf8, bytes);
    if (width_px <= 0)
        return false;
    // Cells may stick out a little on either side.
    int margin_px = text_is_in_cells(face) ? px / 2 : 0, below_px;
    struct canvas canvas = {.width_px = width_px + 2 * margin_px,
                            .in_cells = text_is_in_cells(face)};
    if (canvas.width_px > TEXT_MAX_IMAGE_PX)
        canvas.width_px = TEXT_MAX_IMAGE_PX;
    measure_height(text, px, &canvas.baseline_px, &below_px);
    canvas.height_px = canvas.baseline_px + below_px;
    if (canvas.height_px <= 0 || !canvas_init(&canvas, text))
        return false;

    int x = margin_px;
    for (int i = 0; i < text->run_count && x < canvas.width_px; i++) {
        draw_run(text, &canvas, &text->runs[i], x, px);
        x += text->runs[i].width_px;
    }
    *out = (struct text_image){.coverage = canvas.coverage,
                               .width_px = canvas.width_px,
                               .height_px = canvas.height_px,
                               .pitch_bytes = canvas.width_px,
                               .left_px = -margin_px,
                               .top_px = -canvas.baseline_px};
    return crop(out);
}
