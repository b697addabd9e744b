// From a lossless film to an animated GIF: one palette for all frames, no dither,
// only the rectangle that changed, looping for ever. Two passes over the film: the
// first counts colours, the second writes. FFmpeg does both.
#ifndef RENDER_FILM_GIF_H
#define RENDER_FILM_GIF_H

#include "compute/base/why.h"

#include <stdbool.h>

#include "render/film/sink.h"

struct partfile;

// True if this FFmpeg can write GIFs.
bool gif_is_possible(void);

// GIF counts time in whole 1/100 s, so only some rates are exact: 50, 25, 20 and 10
// frames a second. Refuses others with a line that names these.
bool gif_check_rate(const struct sink_opts *opts, struct why *why);

// Reads the film at `path` (film_rgb pictures), writes into `out`.
bool gif_from_film(struct partfile *out, const char *path, const struct sink_opts *opts,
                   struct why *why);

#endif
