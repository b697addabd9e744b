// Keys as SDL tells them, up to what they mean: the keypad, chords, an input method.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/window/input.h"

#include <SDL.h>

#include <stdio.h>

static int start_events(void **state) {
    (void)state;
    return SDL_Init(SDL_INIT_EVENTS);
}

static int end_events(void **state) {
    (void)state;
    SDL_Quit();
    return 0;
}

// What the events that wait mean: the actions among them, as many as `most`.
static int take(struct input *input, struct input_event *out, int most) {
    struct input_event event;
    int count = 0;
    while (input_wait(input, &event, 0))
        if (event.kind != INPUT_NONE && count < most)
            out[count++] = event;
    return count;
}

// Presses a key and, if it types one, sends its character; lets it go.
static void push_key(SDL_Keycode key, int mods, const char *typed) {
    SDL_Event event = {
        .key = {
            .type = SDL_KEYDOWN,
            .keysym = {.sym = key, .scancode = SDL_GetScancodeFromKey(key), .mod = (Uint16)mods}}};
    SDL_PushEvent(&event);
    SDL_Event text = {.text = {.type = SDL_TEXTINPUT}};
    snprintf(text.text.text, sizeof text.text.text, "%s", typed);
    if (typed[0])
        SDL_PushEvent(&text);
    event.type = SDL_KEYUP;
    SDL_PushEvent(&event);
}

static enum action press(struct input *input, SDL_Keycode key, int mods, const char *typed) {
    struct input_event events[4];
    push_key(key, mods, typed);
    int count = take(input, events, 4);
    if (count > 1)
        fail_msg("one key did %d things", count);
    return count == 0 ? ACTION_NONE : events[0].action;
}

static void the_keypad_without_num_lock_is_its_twins(void **state) {
    (void)state;
    static const SDL_Keycode twins[][2] = {
        {SDLK_KP_4, SDLK_LEFT},   {SDLK_KP_6, SDLK_RIGHT},    {SDLK_KP_8, SDLK_UP},
        {SDLK_KP_2, SDLK_DOWN},   {SDLK_KP_7, SDLK_HOME},     {SDLK_KP_1, SDLK_END},
        {SDLK_KP_9, SDLK_PAGEUP}, {SDLK_KP_3, SDLK_PAGEDOWN}, {SDLK_KP_ENTER, SDLK_RETURN},
    };
    static const int mods[] = {0, KMOD_LSHIFT, KMOD_LCTRL, KMOD_LALT};
    struct input input = {0};
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++) {
        for (size_t k = 0; k < sizeof mods / sizeof mods[0]; k++)
            assert_int_equal(press(&input, twins[i][0], mods[k], ""),
                             press(&input, twins[i][1], mods[k], ""));
        assert_int_not_equal(press(&input, twins[i][0], 0, ""), ACTION_NONE);
    }
    // With Num Lock on they type digits, which mean nothing.
    assert_int_equal(press(&input, SDLK_KP_4, KMOD_NUM, "4"), ACTION_NONE);
    assert_int_equal(press(&input, SDLK_KP_ENTER, KMOD_NUM, ""), ACTION_ENTER);
    // Their own chord stays.
    assert_int_equal(press(&input, SDLK_KP_0, KMOD_LCTRL, ""), ACTION_TEXT_NORMAL);
}

static void in_a_text_the_keypad_moves_the_cursor(void **state) {
    (void)state;
    struct input input = {0};
    struct input_event events[4];
    input_edit(&input, true);
    static const struct {
        SDL_Keycode key;
        enum input_edit edit;
    } rows[] = {{SDLK_KP_4, EDIT_LEFT},
                {SDLK_KP_7, EDIT_HOME},
                {SDLK_KP_PERIOD, EDIT_ERASE_RIGHT},
                {SDLK_KP_ENTER, EDIT_DONE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        push_key(rows[i].key, 0, "");
        assert_int_equal(take(&input, events, 4), 1);
        assert_int_equal(events[0].kind, INPUT_EDIT);
        assert_int_equal(events[0].edit, rows[i].edit);
    }
}

static void a_chord_does_one_thing(void **state) {
    (void)state;
    struct input input = {0};
    assert_int_equal(press(&input, SDLK_MINUS, KMOD_LCTRL, "-"), ACTION_TEXT_SMALLER);
    assert_int_equal(press(&input, SDLK_PLUS, KMOD_LCTRL, "+"), ACTION_TEXT_LARGER);
    static const int chords[] = {KMOD_LCTRL, KMOD_RCTRL, KMOD_LALT,
                                 KMOD_RALT,  KMOD_LGUI,  KMOD_LCTRL | KMOD_LSHIFT};
    for (size_t i = 0; i < sizeof chords / sizeof chords[0]; i++) {
        assert_int_equal(press(&input, SDLK_PERIOD, chords[i], "."), ACTION_NONE);
        assert_int_equal(press(&input, SDLK_COMMA, chords[i], ","), ACTION_NONE);
        assert_int_equal(press(&input, SDLK_b, chords[i], "b"), ACTION_NONE);
    }
    // AltGr types what its key alone does not give: [ on a German keyboard.
    assert_int_equal(press(&input, SDLK_8, KMOD_RALT, "["), ACTION_PROMPT_SHORTER);
    assert_int_equal(press(&input, SDLK_e, KMOD_RALT, "\xE2\x82\xAC"), ACTION_NONE);
    // Once it is let go, characters mean again what they are.
    assert_int_equal(press(&input, SDLK_PERIOD, 0, "."), ACTION_PERIOD);
}

static void after_an_input_method_a_sign_still_acts(void **state) {
    (void)state;
    struct input input = {.text_stopped = true}; // so no character arrives
    assert_int_equal(press(&input, SDLK_PERIOD, 0, ""), ACTION_PERIOD);
    assert_int_equal(press(&input, SDLK_b, 0, ""), ACTION_BLANK);
    assert_int_equal(press(&input, SDLK_x, 0, ""), ACTION_NONE);
}

static void push_composed(const char *composed, const char *committed) {
    SDL_Event edit = {.edit = {.type = SDL_TEXTEDITING}};
    snprintf(edit.edit.text, sizeof edit.edit.text, "%s", composed);
    SDL_PushEvent(&edit);
    SDL_Event text = {.text = {.type = SDL_TEXTINPUT}};
    snprintf(text.text.text, sizeof text.text.text, "%s", committed);
    if (committed[0])
        SDL_PushEvent(&text);
}

// SDL says "none" once between two rounds.
static bool next(struct input *input, struct input_event *event) {
    return input_wait(input, event, 0) || input_wait(input, event, 0);
}

static void what_an_input_method_composes_belongs_to_the_text(void **state) {
    (void)state;
    static struct input input;
    struct input_event event;
    input.is_editing = true;
    push_composed("ni", "你");
    assert_true(next(&input, &event));
    assert_int_equal(event.kind, INPUT_COMPOSED);
    assert_string_equal(event.text, "ni");
    assert_true(next(&input, &event));
    assert_int_equal(event.kind, INPUT_TYPED);
    assert_string_equal(event.text, "你");
    static const char sentence[] = "watashinonamaehanakanodesuyoroshiku"; // SDL's own event cuts it
    SDL_Event whole = {.editExt = {.type = SDL_TEXTEDITING_EXT, .text = SDL_strdup(sentence)}};
    SDL_PushEvent(&whole);
    assert_true(next(&input, &event));
    assert_int_equal(event.kind, INPUT_COMPOSED);
    assert_string_equal(event.text, sentence);
    push_composed("", ""); // it gave up
    assert_true(next(&input, &event));
    assert_int_equal(event.kind, INPUT_COMPOSED);
    assert_string_equal(event.text, "");
    assert_false(input.text_stopped);
    while (next(&input, &event))
        continue;
}

static void a_file_dropped_on_the_window_is_its_path(void **state) {
    (void)state;
    struct input input = {0};
    struct input_event events[4];
    for (int editing = 0; editing < 2; editing++) {
        input_edit(&input, editing);
        SDL_Event event = {
            .drop = {.type = SDL_DROPFILE, .file = SDL_strdup("/tmp/M\xC3\xB6.gguf")}};
        SDL_PushEvent(&event);
        assert_int_equal(take(&input, events, 4), 1);
        assert_int_equal(events[0].kind, INPUT_DROPPED);
        assert_string_equal(events[0].text, "/tmp/M\xC3\xB6.gguf");
    }
}

// Last: nothing wakes any more in this process.
static void after_the_end_nothing_wakes(void **state) {
    (void)state;
    struct input input = {0};
    struct input_event event;
    input_wake(NULL);
    assert_true(input_wait(&input, &event, 0));
    assert_int_equal(event.kind, INPUT_WOKEN);
    while (input_wait(&input, &event, 0))
        continue;
    input_end();
    input_wake(NULL);
    for (int i = 0; i < 2; i++) // SDL says "none" once between two rounds
        assert_false(input_wait(&input, &event, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_keypad_without_num_lock_is_its_twins),
        cmocka_unit_test(in_a_text_the_keypad_moves_the_cursor),
        cmocka_unit_test(a_chord_does_one_thing),
        cmocka_unit_test(after_an_input_method_a_sign_still_acts),
        cmocka_unit_test(a_file_dropped_on_the_window_is_its_path),
        cmocka_unit_test(what_an_input_method_composes_belongs_to_the_text),
        cmocka_unit_test(after_the_end_nothing_wakes),
    };
    return cmocka_run_group_tests(tests, start_events, end_events);
}
