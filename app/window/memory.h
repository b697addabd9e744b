// The settings remembered between two starts: $XDG_STATE_HOME/tokendrip/state.json (default
// ~/.local/state; a variable without an absolute path counts as unset). An unreadable file
// is ignored, a value out of range gets its default. The file is written whole and renamed
// into place. Options of the command line take precedence.
//
// Format: one JSON object. Unknown keys are ignored, so versions can be used in turn.
#ifndef APP_WINDOW_MEMORY_H
#define APP_WINDOW_MEMORY_H

#include "compute/base/why.h"

#include "app/lesson/lesson.h"
#include "app/options/options.h"
#include "compute/base/partfile.h"

// Zero is the default of every field.
struct memory {
    enum mode_choice mode;
    enum theme_id theme;
    int text_step;
    enum clock_choice clock;
    struct lesson_place place; // may be of another lesson: needs lesson_clamp
    int width_px, height_px;   // of the window; both 0 = default
    bool is_calm;
};

// The file's path. False: no home, or the path is too long.
bool memory_path(char out[PARTFILE_PATH_BYTES]);
// False: there is no readable file; `out` is unchanged.
bool memory_load(struct memory *out, const char *path);
// Makes the folder (mode 0700) where it is missing. False with `why`.
bool memory_save(const struct memory *memory, const char *path, struct why *why);

// The file's text, and back. The caller frees what memory_print returns; NULL with `why`:
// out of memory.
bool memory_parse(struct memory *out, const char *json, size_t bytes);
char *memory_print(const struct memory *memory, size_t *bytes, struct why *why);

#endif
