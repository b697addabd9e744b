// The user's own prompt while it is typed: the editor, the tokens the model would read, and
// why the prompt cannot be measured.
#ifndef APP_WINDOW_DESK_H
#define APP_WINDOW_DESK_H

#include "app/runs/request.h"
#include "app/state/editor.h"
#include "app/window/input.h"
#include "compute/run/run.h"
#include "compute/tokenizer/tokenizer.h"
#include "render/data/panel.h"

// What turns the text into tokens: of the session.
struct desk_reader {
    const struct tokenizer *tokenizer;
    const struct run_request *request;
    int longest; // most tokens of a prompt
};

struct desk {
    struct editor editor;
    char composed[512];                       // by an input method at the cursor, not typed yet
    struct view_token tiles[PANEL_MAX_TILES]; // the last ones
    int tile_count, prompt_count;
    char message[128]; // "" = it can be measured
};

// Starts with the prompt of this run (NULL: empty), without what a chat format added.
void desk_open(struct desk *desk, const struct run *run, const struct desk_reader *reader);

// Applies INPUT_EDIT, INPUT_TYPED or INPUT_COMPOSED; a changed text is tokenised again.
void desk_type(struct desk *desk, const struct input_event *event,
               const struct desk_reader *reader);

#endif
