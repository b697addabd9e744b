// See input.h.
#include "app/window/input.h"

#include "app/window/keys.h"

#include <SDL.h>

#include <stdatomic.h>

// While a text is being typed.
static const struct {
    SDL_Keycode key;
    Uint16 mods;
    enum input_edit edit;
} edit_rows[] = {
    {SDLK_LEFT, 0, EDIT_LEFT},
    {SDLK_RIGHT, 0, EDIT_RIGHT},
    {SDLK_LEFT, KMOD_CTRL, EDIT_WORD_LEFT},
    {SDLK_RIGHT, KMOD_CTRL, EDIT_WORD_RIGHT},
    {SDLK_HOME, 0, EDIT_HOME},
    {SDLK_UP, 0, EDIT_HOME},
    {SDLK_END, 0, EDIT_END},
    {SDLK_DOWN, 0, EDIT_END},
    {SDLK_BACKSPACE, 0, EDIT_ERASE_LEFT},
    {SDLK_BACKSPACE, KMOD_SHIFT, EDIT_ERASE_LEFT},
    {SDLK_BACKSPACE, KMOD_CTRL, EDIT_ERASE_WORD},
    {SDLK_w, KMOD_CTRL, EDIT_ERASE_WORD},
    {SDLK_DELETE, 0, EDIT_ERASE_RIGHT},
    {SDLK_u, KMOD_CTRL, EDIT_CLEAR},
    {SDLK_z, KMOD_CTRL, EDIT_UNDO},
    {SDLK_RETURN, 0, EDIT_DONE},
    {SDLK_ESCAPE, 0, EDIT_CLOSE},
};

static atomic_bool wake_pending;

void input_wake(void *unused) {
    (void)unused;
    if (atomic_exchange(&wake_pending, true))
        return;
    SDL_Event event = {.type = SDL_USEREVENT};
    if (SDL_PushEvent(&event) <= 0)
        atomic_store(&wake_pending, false);
}

void input_end(void) {
    atomic_store(&wake_pending, true); // and no event is left to say otherwise
}

// The letter of a key: by layout if that has Latin letters, else by place.
static SDL_Keycode latin_key(SDL_Keysym sym) {
    if (sym.sym < 0x80 || (sym.sym & SDLK_SCANCODE_MASK))
        return sym.sym;
    if (sym.scancode >= SDL_SCANCODE_A && sym.scancode <= SDL_SCANCODE_Z)
        return SDLK_a + (SDL_Keycode)(sym.scancode - SDL_SCANCODE_A);
    return sym.sym;
}

// What a key of the keypad is with Num Lock off.
static SDL_Keycode keypad_twin(SDL_Keycode key) {
    static const SDL_Keycode twins[][2] = {
        {SDLK_KP_7, SDLK_HOME},        {SDLK_KP_8, SDLK_UP},       {SDLK_KP_9, SDLK_PAGEUP},
        {SDLK_KP_4, SDLK_LEFT},        {SDLK_KP_6, SDLK_RIGHT},    {SDLK_KP_1, SDLK_END},
        {SDLK_KP_2, SDLK_DOWN},        {SDLK_KP_3, SDLK_PAGEDOWN}, {SDLK_KP_0, SDLK_INSERT},
        {SDLK_KP_PERIOD, SDLK_DELETE},
    };
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++)
        if (twins[i][0] == key)
            return twins[i][1];
    return key;
}

static SDL_Keycode key_of(SDL_Keysym sym) {
    SDL_Keycode key = sym.sym == SDLK_KP_ENTER ? SDLK_RETURN : latin_key(sym);
    return sym.mod & KMOD_NUM ? key : keypad_twin(key);
}

// Those that make a chord; the right Alt key is AltGr where there is one, and a chord too.
static Uint16 held_mods(Uint16 mods) {
    Uint16 held = 0;
    held = (Uint16)(held | (mods & KMOD_SHIFT ? KMOD_SHIFT : 0));
    held = (Uint16)(held | (mods & KMOD_CTRL ? KMOD_CTRL : 0));
    held = (Uint16)(held | (mods & KMOD_GUI ? KMOD_GUI : 0));
    return (Uint16)(held | (mods & (KMOD_ALT | KMOD_MODE) ? KMOD_ALT : 0));
}

// A character belongs to a chord, not to a text, if Ctrl, Alt or the logo key is held; AltGr
// types characters that its key alone does not give.
static bool is_of_chord(const struct input *input, const char *text) {
    if (input->held & (KMOD_RALT | KMOD_MODE))
        return text[1] == '\0' && text[0] == input->key;
    return (input->held & (KMOD_CTRL | KMOD_ALT | KMOD_GUI)) != 0;
}

static enum action key_action(const struct input *input, const SDL_KeyboardEvent *event) {
    SDL_Keycode key = key_of(event->keysym);
    int held = held_mods(event->keysym.mod);
    enum action action = keys_pressed(latin_key(event->keysym), held, event->repeat);
    if (action == ACTION_NONE)
        action = keys_pressed(key, held, event->repeat);
    // Characters do not arrive, so signs are taken by the key that has them.
    bool is_sign = input->text_stopped && held == 0 && key > ' ' && key < 0x7F && !event->repeat;
    if (action == ACTION_NONE && is_sign)
        action = keys_typed((char[]){(char)key, '\0'});
    return action;
}

static enum input_kind window_kind(Uint8 event) {
    switch (event) {
    case SDL_WINDOWEVENT_SIZE_CHANGED:
    case SDL_WINDOWEVENT_DISPLAY_CHANGED:
        return INPUT_RESIZED;
    case SDL_WINDOWEVENT_EXPOSED:
    case SDL_WINDOWEVENT_RESTORED:
    case SDL_WINDOWEVENT_MAXIMIZED:
    case SDL_WINDOWEVENT_SHOWN:
        return INPUT_EXPOSED;
    case SDL_WINDOWEVENT_LEAVE:
        return INPUT_LEFT;
    default:
        return INPUT_NONE;
    }
}

static struct input_event action_event(enum action action) {
    return (struct input_event){
        .kind = action == ACTION_NONE ? INPUT_NONE : INPUT_ACTION,
        .action = action,
    };
}

static struct input_event edit_event(enum input_edit edit) {
    return (struct input_event){.kind = INPUT_EDIT, .edit = edit};
}

static struct input_event typed_event(struct input *input, const char *text) {
    SDL_utf8strlcpy(input->text, text ? text : "", sizeof input->text);
    return (struct input_event){.kind = input->text[0] ? INPUT_TYPED : INPUT_NONE,
                                .text = input->text};
}

static struct input_event pasted(struct input *input) {
    char *text = SDL_GetClipboardText();
    struct input_event event = typed_event(input, text);
    SDL_free(text);
    return event;
}

static struct input_event dropped(struct input *input, char *path) {
    struct input_event event = typed_event(input, path);
    if (event.kind == INPUT_TYPED)
        event.kind = INPUT_DROPPED;
    SDL_free(path);
    return event;
}

// A key while a text is typed: an edit, or one of the few that remain actions.
static struct input_event editing_key(struct input *input, const SDL_KeyboardEvent *key) {
    SDL_Keycode sym = key_of(key->keysym);
    Uint16 held = held_mods(key->keysym.mod);
    bool is_paste =
        (sym == SDLK_v && held == KMOD_CTRL) || (sym == SDLK_INSERT && held == KMOD_SHIFT);
    if (is_paste)
        return pasted(input);
    for (size_t i = 0; i < sizeof edit_rows / sizeof edit_rows[0]; i++)
        if (edit_rows[i].key == sym && edit_rows[i].mods == held)
            return edit_event(edit_rows[i].edit);
    bool still_acts = (held & KMOD_CTRL) || (sym >= SDLK_F1 && sym <= SDLK_F12);
    return action_event(still_acts ? key_action(input, key) : ACTION_NONE);
}

static struct input_event pressed(struct input *input, const SDL_MouseButtonEvent *button) {
    if (button->button != SDL_BUTTON_LEFT)
        return action_event(ACTION_NONE);
    input->is_dragging = button->type == SDL_MOUSEBUTTONDOWN;
    return (struct input_event){
        .kind = input->is_dragging ? INPUT_PRESS : INPUT_RELEASE,
        .x = button->x,
        .y = button->y,
        .turn = button->clicks,
    };
}

static struct input_event turned(const SDL_MouseWheelEvent *wheel) {
    struct input_event event = {.kind = INPUT_WHEEL};
    event.turn = wheel->direction == SDL_MOUSEWHEEL_FLIPPED ? -wheel->y : wheel->y;
    SDL_GetMouseState(&event.x, &event.y);
    return event;
}

// While no text is edited, an input method would swallow the keys.
static struct input_event composing(struct input *input, const char *text) {
    if (text[0] && !input->text_stopped && !input->is_editing) {
        SDL_StopTextInput();
        input->text_stopped = true;
    }
    if (!input->is_editing)
        return action_event(ACTION_NONE);
    SDL_utf8strlcpy(input->text, text, sizeof input->text);
    return (struct input_event){.kind = INPUT_COMPOSED, .text = input->text};
}

// More than the 31 bytes that an event holds (SDL_HINT_IME_SUPPORT_EXTENDED_TEXT).
static struct input_event composing_long(struct input *input, char *text) {
    struct input_event event = composing(input, text ? text : "");
    SDL_free(text);
    return event;
}

static struct input_event translate(struct input *input, const SDL_Event *event) {
    bool is_key = event->type == SDL_KEYDOWN || event->type == SDL_KEYUP;
    if (is_key && !event->key.repeat)
        input->is_fresh = false;
    if (is_key) {
        input->held = event->key.keysym.mod;
        input->key = event->key.keysym.sym;
    }
    switch (event->type) {
    case SDL_QUIT:
        return action_event(ACTION_QUIT);
    case SDL_KEYDOWN:
        return input->is_editing ? editing_key(input, &event->key)
                                 : action_event(key_action(input, &event->key));
    case SDL_TEXTINPUT:
        if (input->is_fresh || is_of_chord(input, event->text.text))
            return action_event(ACTION_NONE);
        return input->is_editing ? typed_event(input, event->text.text)
                                 : action_event(keys_typed(event->text.text));
    case SDL_TEXTEDITING:
        return composing(input, event->edit.text);
    case SDL_TEXTEDITING_EXT:
        return composing_long(input, event->editExt.text);
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
        return pressed(input, &event->button);
    case SDL_DROPFILE:
        return dropped(input, event->drop.file);
    case SDL_MOUSEWHEEL:
        return turned(&event->wheel);
    case SDL_MOUSEMOTION:
        return (struct input_event){.kind = input->is_dragging ? INPUT_DRAG : INPUT_POINTER,
                                    .x = event->motion.x,
                                    .y = event->motion.y};
    case SDL_WINDOWEVENT:
        return (struct input_event){.kind = window_kind(event->window.event)};
    case SDL_DISPLAYEVENT:
        return (struct input_event){.kind = INPUT_RESIZED};
    case SDL_USEREVENT:
        atomic_store(&wake_pending, false);
        return (struct input_event){.kind = INPUT_WOKEN};
    default:
        return action_event(ACTION_NONE);
    }
}

void input_edit(struct input *input, bool on) {
    input->is_fresh = on;
    input->is_editing = on;
    if (on && input->text_stopped) {
        SDL_StartTextInput();
        input->text_stopped = false;
    }
}

bool input_wait(struct input *input, struct input_event *out, int timeout_ms) {
    SDL_Event event;
    int got = timeout_ms < 0    ? SDL_WaitEvent(&event)
              : timeout_ms == 0 ? SDL_PollEvent(&event)
                                : SDL_WaitEventTimeout(&event, timeout_ms);
    if (!got)
        return false;
    *out = translate(input, &event);
    return true;
}
