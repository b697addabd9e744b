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
    {SDLK_KP_ENTER, 0, EDIT_DONE},
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

// The letter of a key: by layout if that has Latin letters, else by place.
static SDL_Keycode latin_key(SDL_Keysym sym) {
    if (sym.sym < 0x80 || (sym.sym & SDLK_SCANCODE_MASK))
        return sym.sym;
    if (sym.scancode >= SDL_SCANCODE_A && sym.scancode <= SDL_SCANCODE_Z)
        return SDLK_a + (SDL_Keycode)(sym.scancode - SDL_SCANCODE_A);
    return sym.sym;
}

static Uint16 held_mods(Uint16 mods) {
    Uint16 held = 0;
    held = (Uint16)(held | (mods & KMOD_SHIFT ? KMOD_SHIFT : 0));
    held = (Uint16)(held | (mods & KMOD_CTRL ? KMOD_CTRL : 0));
    return (Uint16)(held | (mods & KMOD_LALT ? KMOD_ALT : 0));
}

static enum action key_action(const SDL_KeyboardEvent *event) {
    return keys_pressed(latin_key(event->keysym), held_mods(event->keysym.mod), event->repeat);
}

static enum input_kind window_kind(Uint8 event) {
    switch (event) {
    case SDL_WINDOWEVENT_SIZE_CHANGED:
    case SDL_WINDOWEVENT_DISPLAY_CHANGED:
        return INPUT_RESIZED;
    case SDL_WINDOWEVENT_EXPOSED:
        return INPUT_EXPOSED;
    case SDL_WINDOWEVENT_MINIMIZED:
    case SDL_WINDOWEVENT_HIDDEN:
        return INPUT_HIDDEN;
    case SDL_WINDOWEVENT_RESTORED:
    case SDL_WINDOWEVENT_MAXIMIZED:
    case SDL_WINDOWEVENT_SHOWN:
        return INPUT_SHOWN;
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

// A key while a text is typed: an edit, or one of the few that remain actions.
static struct input_event editing_key(struct input *input, const SDL_KeyboardEvent *key) {
    SDL_Keycode sym = latin_key(key->keysym);
    Uint16 held = held_mods(key->keysym.mod);
    bool is_paste =
        (sym == SDLK_v && held == KMOD_CTRL) || (sym == SDLK_INSERT && held == KMOD_SHIFT);
    if (is_paste)
        return pasted(input);
    for (size_t i = 0; i < sizeof edit_rows / sizeof edit_rows[0]; i++)
        if (edit_rows[i].key == sym && edit_rows[i].mods == held)
            return edit_event(edit_rows[i].edit);
    bool still_acts = (held & KMOD_CTRL) || (sym >= SDLK_F1 && sym <= SDLK_F12);
    return action_event(still_acts ? key_action(key) : ACTION_NONE);
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

// While no text is typed, an input method would swallow the keys.
static struct input_event composing(struct input *input, const SDL_TextEditingEvent *edit) {
    if (edit->text[0] && !input->text_stopped && !input->is_editing) {
        SDL_StopTextInput();
        input->text_stopped = true;
    }
    return action_event(ACTION_NONE);
}

static struct input_event translate(struct input *input, const SDL_Event *event) {
    bool is_key = event->type == SDL_KEYDOWN || event->type == SDL_KEYUP;
    if (is_key && !event->key.repeat)
        input->is_fresh = false;
    switch (event->type) {
    case SDL_QUIT:
        return action_event(ACTION_QUIT);
    case SDL_KEYDOWN:
        return input->is_editing ? editing_key(input, &event->key)
                                 : action_event(key_action(&event->key));
    case SDL_TEXTINPUT:
        if (input->is_fresh)
            return action_event(ACTION_NONE);
        return input->is_editing ? typed_event(input, event->text.text)
                                 : action_event(keys_typed(event->text.text));
    case SDL_TEXTEDITING:
        return composing(input, &event->edit);
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP:
        return pressed(input, &event->button);
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
