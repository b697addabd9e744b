// The table of keys: that every action can be reached, and that the README says the same.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/window/keys.h"
#include "compute/base/words.h"
#include "compute/run/words.h"

#include <SDL.h>

#include <stdio.h>
#include <string.h>

static void every_action_has_a_key(void **state) {
    (void)state;
    bool has_key[ACTION_COUNT] = {[ACTION_NONE] = true};
    // What other keys mean in their place.
    has_key[ACTION_LESS] = has_key[ACTION_MORE] = has_key[ACTION_SCROLL_PAGE] = true;
    has_key[ACTION_FRAME_NEXT] = true;
    for (int mods = 0; mods < 8; mods++) {
        int held =
            (mods & 1 ? KMOD_SHIFT : 0) | (mods & 2 ? KMOD_CTRL : 0) | (mods & 4 ? KMOD_ALT : 0);
        for (int key = 0; key < 128; key++)
            has_key[keys_pressed(key, held, false)] = true;
        for (int code = 0; code < SDL_NUM_SCANCODES; code++)
            has_key[keys_pressed(SDL_SCANCODE_TO_KEYCODE(code), held, false)] = true;
    }
    for (char sign = ' '; sign < 127; sign++)
        has_key[keys_typed((char[]){sign, '\0'})] = true;
    for (int action = 0; action < ACTION_COUNT; action++) {
        if (!has_key[action])
            fail_msg("action %d has no key", action);
    }
}

static void a_held_key_repeats_only_where_that_makes_sense(void **state) {
    (void)state;
    assert_int_equal(keys_pressed(SDLK_SPACE, 0, false), ACTION_PLAY_PAUSE);
    assert_int_equal(keys_pressed(SDLK_SPACE, 0, true), ACTION_NONE);
    assert_int_equal(keys_pressed(SDLK_RIGHT, 0, true), ACTION_EVENT_NEXT);
    assert_int_equal(keys_pressed(SDLK_RIGHT, KMOD_SHIFT, true), ACTION_NONE);
    assert_int_equal(keys_pressed(SDLK_RIGHT, KMOD_ALT, false), ACTION_NONE);
}

static void a_sign_is_one_whole_character(void **state) {
    (void)state;
    assert_int_equal(keys_typed("+"), ACTION_FASTER);
    assert_int_equal(keys_typed("-"), ACTION_SLOWER);
    assert_int_equal(keys_typed("\xE2\x88\x92"), ACTION_SLOWER);
    static const char *const others[] = {"", "++", "+ ", "\xE2\x88", "\xFF", "r", "\r", "\x1B"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(keys_typed(others[i]), ACTION_NONE);
    // A sign is typed, not pressed: where its key lies differs.
    assert_int_equal(keys_pressed('+', 0, false), ACTION_NONE);
    assert_int_equal(keys_pressed('[', 0, false), ACTION_NONE);
}

static void hints_are_short_and_named_as_in_the_help(void **state) {
    (void)state;
    struct paint_key hint = keys_hint(ACTION_HELP);
    assert_string_equal(hint.key, "?");
    assert_string_equal(hint.does, "keys");
    assert_string_equal(keys_hint(ACTION_QUIT).does, "");
}

// What a picture asks for is done by the key that it names.
static void the_key_that_measures_again_is_the_one_a_disturbed_run_names(void **state) {
    (void)state;
    struct run_info info = {.is_disturbed = true};
    struct keys_line line;
    int at = 0;
    while (keys_line(&line, at) && strcmp(line.does, word("key.measure")) != 0)
        at++;
    assert_true(keys_line(&line, at));
    assert_non_null(strstr(run_disturbed(&info).text, line.keys));
    assert_int_equal(keys_pressed(SDLK_r, KMOD_SHIFT, false), ACTION_MEASURE);
    assert_int_equal(keys_pressed(SDLK_r, 0, false), ACTION_RESTART);
}

// --- The README ---

// The cell of a Markdown row that begins at this "|", without the spaces around it.
static const char *take_cell(const char *row, char *out, size_t bytes) {
    const char *begin = row + 1 + strspn(row + 1, " "), *end = strchr(begin, '|');
    assert_non_null(end);
    int length = (int)(end - begin);
    while (length > 0 && begin[length - 1] == ' ')
        length--;
    snprintf(out, bytes, "%.*s", length, begin);
    return end;
}

// Both columns of the table, the left one first.
static int readme_lines(struct keys_line *lines, char words[][64], int most) {
    FILE *file = fopen(TOKENDRIP_SOURCE_DIR "/README.md", "r");
    assert_non_null(file);
    char row[512];
    bool is_there = false;
    int count = 0;
    for (int column = 0; column < 2; column++) {
        rewind(file);
        is_there = false;
        while (fgets(row, sizeof row, file)) {
            if (row[0] == '#')
                is_there = strcmp(row, "## Keys\n") == 0;
            if (!is_there || row[0] != '|' || strstr(row, "---") || strstr(row, "| key |"))
                continue;
            char cells[4][64];
            const char *at = row;
            for (int i = 0; i < 4; i++)
                at = take_cell(at, cells[i], sizeof cells[i]);
            if (!cells[2 * column][0])
                continue;
            assert_true(count < most);
            snprintf(lines[count].keys, sizeof lines[count].keys, "%s", cells[2 * column]);
            snprintf(words[count], 64, "%s", cells[2 * column + 1]);
            count++;
        }
    }
    fclose(file);
    return count;
}

static void the_readme_lists_the_keys_of_the_help(void **state) {
    (void)state;
    static struct keys_line lines[64];
    static char words[64][64];
    int count = readme_lines(lines, words, 64);
    struct keys_line line;
    for (int i = 0; keys_line(&line, i); i++) {
        assert_true(i < count);
        assert_string_equal(lines[i].keys, line.keys);
        assert_string_equal(words[i], line.does);
        assert_true(strlen(line.does) < 32); // a column of the help holds no more
    }
    assert_true(count > 20);
    assert_false(keys_line(&line, count));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_action_has_a_key),
        cmocka_unit_test(a_held_key_repeats_only_where_that_makes_sense),
        cmocka_unit_test(a_sign_is_one_whole_character),
        cmocka_unit_test(hints_are_short_and_named_as_in_the_help),
        cmocka_unit_test(the_key_that_measures_again_is_the_one_a_disturbed_run_names),
        cmocka_unit_test(the_readme_lists_the_keys_of_the_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
