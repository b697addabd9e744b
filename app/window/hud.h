// What lies over the scene and is never filmed: toasts, help, the message while a
// model opens, the lens over narrow columns. A second command list, drawn after
// the recorder (or a still) took the scene's pixels.
#ifndef APP_WINDOW_HUD_H
#define APP_WINDOW_HUD_H

#include "app/state/actions.h"
#include "render/paint/paint.h"

struct hud {
    const char *toast;   // NULL or "" = none
    const char *message; // stands in the middle while there is no scene; NULL = none
    bool is_help;
    bool is_blank;                // everything black
    bool has_lens;                // there are columns on the screen
    const char *term, *term_text; // the glossary's word under the pointer; NULL = none
    int pointer_x, pointer_y;     // px of the output, -1 = away
};

// `paint->view` may be unfilled when there is a message. Appends to `out`.
void hud_paint(struct cmdlist *out, const struct hud *hud, const struct paint *paint);

// What a toast says in this state, into `out`.
void hud_toast_text(char *out, size_t bytes, const struct stage_state *state,
                    const struct run *run);

#endif
