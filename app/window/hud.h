// What is drawn over the scene and never filmed: toasts, help, the message while a model
// opens, the lens over narrow columns. It is a command list of its own.
#ifndef APP_WINDOW_HUD_H
#define APP_WINDOW_HUD_H

#include "app/state/actions.h"
#include "render/paint/paint.h"

struct hud {
    const char *toast;   // NULL or "" = none
    const char *message; // shown instead of a scene; NULL = none
    int loaded_permille; // shown below it as a bar; -1 = nothing is being loaded
    bool is_help;
    bool is_blank;                // everything black
    bool has_lens;                // the screen shows columns
    const char *term, *term_text; // the glossary's word under the pointer; NULL = none
    int pointer_x, pointer_y;     // px of the frame, -1 = outside
};

// `paint->view` may be unfilled when there is a message. Appends to `out`.
void hud_paint(struct cmdlist *out, const struct hud *hud, const struct paint *paint);

// Writes the words of the state's toast.
void hud_toast_text(char *out, size_t bytes, const struct stage_state *state,
                    const struct run *run);

#endif
