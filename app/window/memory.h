// What is remembered from one start to the next: $XDG_STATE_HOME/tokendrip/state.json
// (~/.local/state by default; a variable that is no absolute path counts as unset).
// Never an error for the user: what cannot be read is as if it were not there, what is
// out of range keeps its default. Written whole and renamed into place. Options given on
// the command line win over it (options.h tells which were).
//
// Format: one JSON object. Keys that are not known are passed over, also those of a
// later version of the program, so that both can be used in turn.
#ifndef APP_WINDOW_MEMORY_H
#define APP_WINDOW_MEMORY_H

#include "app/lesson/lesson.h"
#include "app/options/options.h"

// Zero is the default of every field.
struct memory {
    enum mode_choice mode;
    enum theme_id theme;
    int text_step;
    enum clock_choice clock;
    struct lesson_place place; // of some lesson: lesson_clamp it to the one at hand
    int width_px, height_px;   // of the window, 0 = default; both or none
    bool is_calm;
};

// False: there is none (or none that can be read); `out` is then untouched. True: all of
// `out` is set.
bool memory_load(struct memory *out);
// False with `why`: a full disk, no home. Makes the folder (mode 0700).
bool memory_save(const struct memory *memory, char why[256]);
// The same with a path, for tests.
bool memory_load_from(struct memory *out, const char *path);
bool memory_save_to(const struct memory *memory, const char *path, char why[256]);

// The text in the file, and back. Owner of the print: the caller, free(); NULL with
// `why`: no memory.
bool memory_parse(struct memory *out, const char *json, size_t bytes);
char *memory_print(const struct memory *memory, size_t *bytes, char why[256]);

#endif
