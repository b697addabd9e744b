// Font files and open fonts: which file serves which face, which one has a
// character that the face's own font lacks, and one open font a file and pixel
// size. Files are found through fontconfig; nothing is opened before it is needed.
#ifndef RENDER_PIXEL_FONTS_H
#define RENDER_PIXEL_FONTS_H

#include "compute/base/why.h"

#include "render/data/cmdlist.h"
#include "render/pixel/cluster.h"

#include <SDL_ttf.h>

enum {
    FONTS_MAX_OPEN = 64, // the one not used for longest is closed for a new one
    FONTS_MAX_FILES = 64,
};

struct fonts;

// Finds a file for each face. Errors: no font with Latin letters; `why` names the
// folders searched and the packages. Owner: fonts_destroy. Main thread only, like all of this.
bool fonts_create(struct fonts **out, struct why *why);
void fonts_destroy(struct fonts *fonts); // NULL is fine

const char *fonts_note(const struct fonts *fonts); // "" or which font replaces which

// The file of the face itself.
int fonts_primary(const struct fonts *fonts, enum text_face face);

// The file that draws the cluster: the face's own, DejaVu Sans, or whatever
// fontconfig knows to have the character. -1: none has.
int fonts_pick(struct fonts *fonts, enum text_face face, int px, const struct cluster *cluster);

bool fonts_has(struct fonts *fonts, int file, int px, uint32_t character);

// The open font. NULL: the file can't be read; it is then never picked again.
// Owner: `fonts`; valid until FONTS_MAX_OPEN others have been asked for.
TTF_Font *fonts_open(struct fonts *fonts, int file, int px);

#endif
