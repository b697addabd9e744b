// From the renderer's BGRA to the pictures that encoders take; films and the Y4M stream
// share this one conversion, each with the matrix that its readers take. Integer
// arithmetic only: the same bytes on every machine. Knows no encoder.
#ifndef RENDER_FILM_COLOR_H
#define RENDER_FILM_COLOR_H

#include <stdint.h>

// Three planes of 4:2:0: chroma is half as wide and half as high as luma.
struct color_planes {
    uint8_t *y, *cb, *cr;
    int y_pitch_bytes, cb_pitch_bytes, cr_pitch_bytes;
};

// ITU-R BT.709 or BT.601: how much red, green and blue weigh in luma and chroma.
enum color_matrix { COLOR_BT709, COLOR_BT601 };

// Limited range (16 .. 235, 16 .. 240). Whoever writes the samples also says so in the
// file where it has a place for that: range tv, the matrix, primaries and transfer bt709,
// chroma sited left. Chroma is filtered 1-2-1 across and 1-1 down, which puts it where
// H.264 and C420mpeg2 expect it. Within 1 of the exact value.
//
// Units: both sizes even and positive; alpha is ignored.
// Cost: about 1 ms for 1920x1080 on one core, no allocation.
void color_to_yuv420(const struct color_planes *out, enum color_matrix matrix, const uint8_t *bgra,
                     int pitch_bytes, int width_px, int height_px);

// Bytes R G B, rows out_pitch_bytes apart. `width_px` pixels of one row.
void color_row_to_rgb24(uint8_t *out, const uint8_t *bgra, int width_px);

#endif
