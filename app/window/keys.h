// The keys of the window: what each does, its name, and that in words. One table serves the
// translation of input, the help overlay, the hints and the README.
#ifndef APP_WINDOW_KEYS_H
#define APP_WINDOW_KEYS_H

#include "app/state/actions.h"
#include "render/paint/paint.h"

// `key`: an SDL_Keycode. `mods`: exactly those held, of KMOD_SHIFT, KMOD_CTRL and KMOD_ALT.
// ACTION_NONE: the key does nothing, or does not repeat.
enum action keys_pressed(int32_t key, int mods, bool is_repeat);
// For signs, which lie elsewhere on every keyboard: by the character typed (UTF-8).
enum action keys_typed(const char *text);

// A line of the help.
struct keys_line {
    char keys[24];    // "Shift R"
    const char *does; // "measure again"
};
// False: no such line. The last one says how to close the help.
bool keys_line(struct keys_line *out, int line);

// The name of an action's key and a word or two for it; "" for an action without a hint.
struct paint_key keys_hint(enum action action);

#endif
