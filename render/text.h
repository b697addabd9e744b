// Fonts: finding them through fontconfig, measuring, and rasterising whole
// strings to coverage. One font object a face and pixel size, opened once.
// Knows no renderer; draw.c turns the coverage into textures. Main thread only.
#ifndef RENDER_TEXT_H
#define RENDER_TEXT_H

#include "cmdlist.h"

enum { TEXT_MIN_PX = 8, TEXT_MAX_PX = 400, TEXT_MAX_BYTES = 1024 };

struct text;

// Opens the font chain. Inter missing: DejaVu Sans stands in for it (text_note
// says so). DejaVu missing: any sans font with Latin letters; none: false, with the
// package to install. Owner: text_destroy.
bool text_create(struct text **out, char why[256]);
void text_destroy(struct text *text);           // NULL is fine
const char *text_note(const struct text *text); // "" or what stands in for what

// Width in px of the whole string as it will be drawn (shaping and kerning
// included); 0 for "". Cached: the same string costs a look-up.
int text_width_px(struct text *text, enum text_face face, int px, const char *utf8);
int text_ascent_px(struct text *text, enum text_face face, int px);
int text_cap_px(struct text *text, enum text_face face, int px); // height of "H"
int text_line_px(struct text *text, enum text_face face, int px);

// The longest prefix of utf8 that fits, with an ellipsis when cut, into `out`.
// Returns its width in px.
int text_fit(struct text *text, char *out, size_t out_bytes, enum text_face face, int px,
             const char *utf8, int width_px);

// Coverage of the string, one byte a pixel, in a buffer owned by `text` and valid
// until the next call. `left` and `top` are where its first pixel lies relative to
// the left end and the baseline. False: nothing to draw.
struct text_image {
    const uint8_t *coverage;
    int width_px, height_px, pitch_bytes;
    int left_px, top_px;
};
bool text_raster(struct text *text, struct text_image *out, enum text_face face, int px,
                 const char *utf8, size_t bytes);

#endif
