// See keys.h.
#include "app/window/keys.h"

#include "compute/base/figures.h"
#include "compute/base/utf8.h"
#include "compute/base/words.h"

#include <SDL.h>

#include <stdio.h>
#include <string.h>

enum {
    TYPED = -1, // in place of modifiers: `key` is the code point of a typed character
    ONCE = false,
    REPEATS = true, // while the key is held
};

// `does`, `hint` and names that are no signs are keys of words. A row that does something
// begins a line of the help. The rows below it are other keys of the same line, named there
// only if they have a name.
static const struct {
    int32_t key;
    int mods;
    enum action action;
    bool repeats;
    const char *shown, *does, *hint;
} rows[] = {
    {SDLK_SPACE, 0, ACTION_PLAY_PAUSE, ONCE, "name.space", "key.play_pause", "hint.play_pause"},
    {SDLK_AUDIOPLAY, 0, .action = ACTION_PLAY_PAUSE},
    {SDLK_RIGHT, 0, ACTION_EVENT_NEXT, REPEATS, SIGN_LEFT " " SIGN_RIGHT, "key.event_next",
     "hint.event_next"},
    {SDLK_LEFT, 0, .action = ACTION_EVENT_BACK, .repeats = REPEATS},
    {SDLK_PAGEDOWN, 0, ACTION_PAGE_NEXT, REPEATS, "name.pages", "key.page_next", "hint.page_next"},
    {SDLK_PAGEUP, 0, .action = ACTION_PAGE_BACK, .repeats = REPEATS},
    {SDLK_RIGHT, KMOD_SHIFT, ACTION_CHAPTER_NEXT, ONCE, "name.shift_arrows", "key.chapter_next",
     NULL},
    {SDLK_LEFT, KMOD_SHIFT, .action = ACTION_CHAPTER_BACK},
    {SDLK_HOME, 0, ACTION_START, ONCE, "name.home_end", "key.start", NULL},
    {SDLK_END, 0, .action = ACTION_END},
    {',', TYPED, ACTION_FRAME_BACK, ONCE, ", .", "key.frame_back", NULL},
    {'.', TYPED, .action = ACTION_PERIOD},
    {'+', TYPED, ACTION_FASTER, ONCE, "+ " SIGN_MINUS, "key.faster", "hint.faster"},
    {'-', TYPED, .action = ACTION_SLOWER},
    {0x2212, TYPED, .action = ACTION_SLOWER},
    {'=', TYPED, ACTION_REAL_TIME, ONCE, "=", "key.real_time", NULL},
    {SDLK_r, 0, ACTION_RESTART, ONCE, "R", "key.restart", NULL},
    {SDLK_TAB, 0, ACTION_MODE, ONCE, "name.tab", "key.mode", "hint.mode"},
    {SDLK_DOWN, 0, ACTION_DOWN, REPEATS, SIGN_UP " " SIGN_DOWN, "key.down", NULL},
    {SDLK_UP, 0, .action = ACTION_UP, .repeats = REPEATS},
    {SDLK_UP, KMOD_CTRL, .action = ACTION_SCROLL_UP, .repeats = REPEATS},
    {SDLK_DOWN, KMOD_CTRL, .action = ACTION_SCROLL_DOWN, .repeats = REPEATS},
    {SDLK_RETURN, 0, ACTION_ENTER, ONCE, "name.enter", "key.enter", NULL},
    {SDLK_l, 0, ACTION_LOG, ONCE, "L", "key.log", "hint.log"},
    {SDLK_g, 0, ACTION_GLOSSARY, ONCE, "G", "key.glossary", "hint.glossary"},
    {SDLK_w, 0, ACTION_WHY, ONCE, "W", "key.why", "hint.why"},
    {SDLK_p, 0, ACTION_PREDICT, ONCE, "P", "key.predict", "hint.predict"},
    {SDLK_i, 0, ACTION_SIMPLE, ONCE, "I", "key.simple", NULL},
    {SDLK_e, 0, ACTION_EDIT, ONCE, "E", "key.edit", NULL},
    {SDLK_o, 0, ACTION_MODELS, ONCE, "O", "key.models", NULL},
    {SDLK_k, 0, ACTION_KEEP, ONCE, "K", "key.keep", "hint.keep"},
    {SDLK_r, KMOD_SHIFT, ACTION_MEASURE, ONCE, "name.shift_r", "key.measure", "hint.measure"},
    {']', TYPED, ACTION_PROMPT_LONGER, ONCE, "[ ]", "key.prompt_longer", "hint.prompt_longer"},
    {'[', TYPED, .action = ACTION_PROMPT_SHORTER},
    {'}', TYPED, ACTION_ANSWER_LONGER, ONCE, "{ }", "key.answer_longer", "hint.answer_longer"},
    {'{', TYPED, .action = ACTION_ANSWER_SHORTER},
    {SDLK_u, 0, ACTION_CLOCK, ONCE, "U", "key.clock", "hint.clock"},
    {SDLK_c, 0, ACTION_COUNTING, ONCE, "C", "key.counting", "hint.counting"},
    {SDLK_t, 0, ACTION_THEME, ONCE, "T", "key.theme", NULL},
    {SDLK_F3, 0, .action = ACTION_THEME},
    {SDLK_m, 0, ACTION_CALM, ONCE, "M", "key.calm", NULL},
    {SDLK_PLUS, KMOD_CTRL, ACTION_TEXT_LARGER, REPEATS, "name.ctrl_sizes", "key.text_larger", NULL},
    {SDLK_PLUS, KMOD_CTRL | KMOD_SHIFT, .action = ACTION_TEXT_LARGER, .repeats = REPEATS},
    {SDLK_EQUALS, KMOD_CTRL, .action = ACTION_TEXT_LARGER, .repeats = REPEATS},
    {SDLK_EQUALS, KMOD_CTRL | KMOD_SHIFT, .action = ACTION_TEXT_LARGER, .repeats = REPEATS},
    {SDLK_KP_PLUS, KMOD_CTRL, .action = ACTION_TEXT_LARGER, .repeats = REPEATS},
    {SDLK_MINUS, KMOD_CTRL, .action = ACTION_TEXT_SMALLER, .repeats = REPEATS},
    {SDLK_KP_MINUS, KMOD_CTRL, .action = ACTION_TEXT_SMALLER, .repeats = REPEATS},
    {SDLK_0, KMOD_CTRL, .action = ACTION_TEXT_NORMAL},
    {SDLK_KP_0, KMOD_CTRL, .action = ACTION_TEXT_NORMAL},
    {SDLK_f, 0, ACTION_FULLSCREEN, ONCE, "F", "key.fullscreen", NULL},
    {SDLK_F11, 0, .action = ACTION_FULLSCREEN, .shown = "F11"},
    {SDLK_RETURN, KMOD_ALT, .action = ACTION_FULLSCREEN},
    {SDLK_F5, 0, ACTION_PRESENT, ONCE, "F5", "key.present", NULL},
    {SDLK_F11, KMOD_SHIFT, ACTION_NEXT_DISPLAY, ONCE, "name.shift_f11", "key.next_display", NULL},
    {SDLK_b, 0, ACTION_BLANK, ONCE, "B", "key.blank", NULL},
    {SDLK_s, 0, ACTION_STILL, ONCE, "S", "key.still", NULL},
    {SDLK_F12, 0, .action = ACTION_STILL, .shown = "F12"},
    {'?', TYPED, ACTION_HELP, ONCE, "?", "key.help", "hint.help"},
    {SDLK_F1, 0, .action = ACTION_HELP, .shown = "F1"},
    {SDLK_h, 0, .action = ACTION_HELP},
    {SDLK_q, KMOD_CTRL, ACTION_QUIT, ONCE, "name.ctrl_q", "key.quit", NULL},
    {SDLK_ESCAPE, 0, ACTION_CLOSE, ONCE, "name.esc", "key.close", NULL},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

enum action keys_pressed(int32_t key, int mods, bool is_repeat) {
    for (int i = 0; i < ROWS; i++)
        if (rows[i].key == key && rows[i].mods == mods)
            return is_repeat && !rows[i].repeats ? ACTION_NONE : rows[i].action;
    return ACTION_NONE;
}

enum action keys_typed(const char *text) {
    uint32_t code = 0;
    size_t bytes = strlen(text);
    if (bytes == 0 || utf8_next(text, bytes, &code) != bytes)
        return ACTION_NONE;
    return keys_pressed((int32_t)code, TYPED, false);
}

bool keys_line(struct keys_line *out, int line) {
    int at = 0;
    for (; at < ROWS; at++)
        if (rows[at].does && line-- == 0)
            break;
    if (at == ROWS)
        return false;
    snprintf(out->keys, sizeof out->keys, "%s", word(rows[at].shown));
    out->does = word(rows[at].does);
    for (int i = at + 1; i < ROWS && !rows[i].does; i++) {
        size_t used = strlen(out->keys);
        if (rows[i].shown)
            snprintf(out->keys + used, sizeof out->keys - used, " / %s", word(rows[i].shown));
    }
    return true;
}

struct paint_key keys_hint(enum action action) {
    for (int i = 0; i < ROWS; i++)
        if (rows[i].action == action && rows[i].hint)
            return (struct paint_key){word(rows[i].shown), word(rows[i].hint)};
    return (struct paint_key){"", ""};
}
