// Strings: measuring and rasterising them whole to coverage, whatever bytes they
// hold: each cluster is drawn by the first font that has it, runs of several fonts
// share one baseline, and what no font has becomes a box with its number. Broken
// UTF-8 becomes U+FFFD, controls a sign or a box, invisible characters nothing.
// Draws nothing; draw.c keeps the coverage. Main thread only.
//
// FACE_DIGITS and FACE_MONO are set in cells: every character keeps its whole-pixel
// advance whatever its neighbours are, so a number that changes moves nothing else
// and draw.c can keep single characters. The other faces are shaped and kerned.
//
// Every function takes px outside TEXT_MIN_PX .. TEXT_MAX_PX as the nearest of
// these, an unknown face as FACE_TOKEN, and reads TEXT_MAX_BYTES of a string at most.
#ifndef RENDER_PIXEL_TEXT_H
#define RENDER_PIXEL_TEXT_H

#include "compute/base/why.h"

#include "render/data/cmdlist.h"

enum {
    TEXT_MIN_PX = 8,
    TEXT_MAX_PX = 400,
    TEXT_MAX_BYTES = 1024,
    TEXT_MAX_IMAGE_PX = 8192, // images are cut at this width
};

struct text;

// Finds the fonts. Without Inter, DejaVu Sans replaces it; without DejaVu, any sans font
// with Latin letters does; text_note says so. Errors: no such font; `why` names the package
// to install. Owner: text_destroy.
bool text_create(struct text **out, struct why *why);
void text_destroy(struct text *text); // NULL is fine
const char *
text_note(const struct text *text); // "" or a line for the user: which font replaces which

// Width in px of the whole string as it will be drawn (shaping, kerning and
// trailing spaces included); 0 for "". Cached: the same string costs a look-up.
int text_width_px(struct text *text, enum text_face face, int px, const char *utf8);
int text_ascent_px(struct text *text, enum text_face face, int px);
int text_cap_px(struct text *text, enum text_face face, int px); // height of "H"

// The longest prefix of utf8 that fits, with an ellipsis when cut, into `out`; ""
// when not even the ellipsis fits. Cuts between clusters only, and takes spaces
// before the ellipsis away. Returns its width in px.
int text_fit(struct text *text, char *out, size_t out_bytes, enum text_face face, int px,
             const char *utf8, int width_px);

// Coverage of the string, one byte a pixel, in a buffer owned by `text` and valid
// until the next call. `left` and `top` are where its first pixel lies relative to
// the left end and the baseline; left_px + width_px is at most the string's width
// (in cells, a glyph may stick out by a pixel or two). False: nothing to draw.
struct text_image {
    const uint8_t *coverage;
    int width_px, height_px, pitch_bytes;
    int left_px, top_px;
};
bool text_raster(struct text *text, struct text_image *out, enum text_face face, int px,
                 const char *utf8, size_t bytes);

bool text_is_in_cells(enum text_face face);

// The next cell of a string in cells; bytes = 0 at its end.
struct text_cell {
    size_t bytes;
    int advance_px;
};
struct text_cell text_next_cell(struct text *text, enum text_face face, int px, const char *utf8,
                                size_t bytes);

// The key of a cache of strings: a 128-bit hash of face, size and bytes. Different strings
// are assumed never to share one.
struct text_key {
    uint64_t high, low;
};
struct text_key text_key(enum text_face face, int px, const char *utf8, size_t bytes);

#endif
