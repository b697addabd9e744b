// Pixels into a PNG file: opaque 8-bit RGB, tagged sRGB. One writer for stills and
// surfaces. The file is written under a part name beside the final one, flushed to
// the disk and renamed, so a half-written file never has the final name.
#ifndef RENDER_PIXEL_PNG_H
#define RENDER_PIXEL_PNG_H

#include "compute/base/why.h"

#include <stdbool.h>
#include <stdint.h>

// Writes rows of B G R A bytes, `pitch_bytes` apart; alpha is ignored. The part
// ("still.part.png" for "still.png", see partfile.h) is gone again after a failure.
// Range: 1 <= width, height <= 32767. `overwrite` false: an existing `path` is an
// error and stays as it was, even when it appears during the writing.
// Thread: any.
bool png_write(const char *path, const uint8_t *bgra, int pitch_bytes, int width_px, int height_px,
               bool overwrite, struct why *why);

// True if the file says that this program wrote it. False also if it can't be read.
bool png_is_ours(const char *path);

#endif
