// Lines of any slope to coverage: what CMD_LINE commands of one shape cover of each
// pixel, one byte a pixel. The area of the outline inside the pixel, computed in
// whole numbers: the same bytes on every machine, and no seam where a line goes on.
#ifndef RENDER_PIXEL_STROKE_H
#define RENDER_PIXEL_STROKE_H

#include "render/data/cmdlist.h"

// The pixels that the lines can touch; count > 0.
struct rect stroke_bounds(const struct cmd *lines, int count);

// Coverage of the area, rows of area.w bytes; area.w, area.h > 0. Owner: the caller,
// free(). NULL: out of memory.
uint8_t *stroke_raster(const struct cmd *lines, int count, struct rect area);

#endif
