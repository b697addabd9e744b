// The user's own prompt while it is typed: the editor, the tokens of its text as the
// model would read them, and why it cannot be measured. Owns no window and no run.
#ifndef APP_WINDOW_DESK_H
#define APP_WINDOW_DESK_H

#include "app/state/editor.h"
#include "app/window/input.h"
#include "compute/model/tokenizer.h"
#include "compute/run/run.h"
#include "render/data/panel.h"

struct desk {
    struct editor editor;
    struct view_token tiles[PANEL_MAX_TILES]; // the newest
    int tile_count, prompt_count;
    char message[128]; // "" = it can be measured
};

// Begins with the prompt of this run (NULL: with nothing). `longest`: tokens that a
// prompt may have.
void desk_open(struct desk *desk, const struct run *run, const struct tokenizer *tokenizer,
               int longest);

// Takes an edit or typed characters; says whether the text changed and tokenises it anew.
void desk_type(struct desk *desk, const struct input_event *event,
               const struct tokenizer *tokenizer, int longest);

#endif
