// The editor: valid UTF-8 and a cursor between characters whatever comes in, undo to
// the byte, and the moves a user knows from other editors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/state/editor.h"
#include "compute/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct editor editor;

// --- Laws that hold at any time ---

static bool is_boundary(const char *text, int at) {
    return ((unsigned char)text[at] & 0xC0) != 0x80;
}

static void assert_sound(const struct editor *e) {
    assert_in_range(e->length, 0, EDITOR_BYTES - 1);
    assert_int_equal(strlen(e->text), e->length);
    assert_in_range(e->cursor, 0, e->length);
    assert_true(is_boundary(e->text, e->cursor));
    assert_in_range(e->undo_count, 0, EDITOR_UNDO);
    for (size_t at = 0; at < (size_t)e->length;) {
        size_t bytes = utf8_length(e->text + at, (size_t)e->length - at);
        if (bytes == 0)
            fail_msg("bad byte %02x at %zu", (unsigned char)e->text[at], at);
        assert_true(bytes > 1 || (unsigned char)e->text[at] >= 0x20);
        assert_int_not_equal(e->text[at], 0x7F);
        at += bytes;
    }
}

static void set(const char *text) {
    editor_set(&editor, text);
    assert_sound(&editor);
}

static void insert(const char *text) {
    editor_insert(&editor, text, strlen(text));
    assert_sound(&editor);
}

// The text with "|" where the cursor is.
static void assert_line(const char *expected) {
    char shown[EDITOR_BYTES + 1];
    snprintf(shown, sizeof shown, "%.*s|%s", editor.cursor, editor.text,
             editor.text + editor.cursor);
    assert_string_equal(shown, expected);
    assert_sound(&editor);
}

// --- Text that comes in ---

static void what_comes_in_is_cleaned(void **state) {
    static const struct {
        const char *bytes;
        size_t count;
        const char *text;
    } cases[] = {
        {"plain", 5, "plain"},
        {"", 0, ""},
        {"a\nb\tc\x7f"
         "d\x1b[2J",
         11, "a b c d [2J"},
        {"one\r\ntwo\rthree", 14, "one two three"},
        {"\r\n\r\n", 4, "  "},
        {"end\r", 4, "end "},
        {"nul\0in", 6, "nul in"},
        {"gr\xC3\xBC\xC3\x9F"
         "e",
         7,
         "gr\xC3\xBC\xC3\x9F"
         "e"},
        {"\xF0\x9F\x93\xA6", 4, "\xF0\x9F\x93\xA6"},
        // A byte alone, a sequence cut short, an overlong form, a surrogate, too large.
        {"\xFF", 1, "\xEF\xBF\xBD"},
        {"\x80", 1, "\xEF\xBF\xBD"},
        {"\xE2\x82", 2, "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xC0\xAF", 2, "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xED\xA0\x80", 3, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xF4\x90\x80\x80", 4, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"a\xC3(b", 4, "a\xEF\xBF\xBD(b"},
        // Controls and line ends beyond ASCII.
        {"a\xC2\x85"
         "b\xC2\x9B"
         "c\xE2\x80\xA8"
         "d\xE2\x80\xA9"
         "e",
         15, "a b c d e"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        // A copy that ends where its memory ends.
        char *copy = malloc(cases[i].count + 1);
        assert_non_null(copy);
        char *bytes = copy + 1;
        memcpy(bytes, cases[i].bytes, cases[i].count);
        set("");
        editor_insert(&editor, bytes, cases[i].count);
        free(copy);
        assert_sound(&editor);
        if (strcmp(editor.text, cases[i].text) != 0)
            fail_msg("case %zu gives \"%s\"", i, editor.text);
        assert_int_equal(editor.cursor, editor.length);
        assert_false(editor.is_full);
    }
    set("a\nb\xFF");
    assert_line("a b\xEF\xBF\xBD|");
}

static void an_insertion_goes_to_the_cursor(void **state) {
    (void)state;
    set("Where my parcel?");
    for (int i = 0; i < 10; i++)
        editor_move(&editor, EDITOR_LEFT);
    insert("is ");
    assert_line("Where is |my parcel?");
}

// `count` times `character` is what is there when the line is full.
static void assert_cut(const char *character, const char *before) {
    static char many[2 * EDITOR_BYTES];
    size_t bytes = strlen(character), used = 0;
    while (used + bytes < sizeof many) {
        memcpy(many + used, character, bytes);
        used += bytes;
    }
    set(before);
    editor_insert(&editor, many, used);
    assert_sound(&editor);
    assert_true(editor.is_full);
    size_t room = EDITOR_BYTES - 1 - strlen(before);
    assert_int_equal(editor.length, strlen(before) + room / bytes * bytes);
    // The next one finds no room, changes nothing and says so.
    int undo = editor.undo_count;
    insert(character);
    assert_true(editor.is_full);
    assert_int_equal(editor.undo_count, undo);
    assert_true(editor_undo(&editor));
    assert_string_equal(editor.text, before);
    assert_false(editor.is_full);
}

static void a_paste_is_cut_at_the_capacity_between_characters(void **state) {
    static const char *const characters[] = {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x93\xA6"};
    static const char *const before[] = {"", "a", "ab", "abc"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++)
            assert_cut(characters[i], before[j]);
    }
    // Bad bytes grow to three each: the cut counts what gets in.
    static char bad[EDITOR_BYTES];
    memset(bad, 0xFF, sizeof bad);
    set("");
    editor_insert(&editor, bad, sizeof bad);
    assert_sound(&editor);
    assert_true(editor.is_full);
    assert_int_equal(editor.length, (EDITOR_BYTES - 1) / 3 * 3);
}

static void a_line_that_is_just_full_was_not_cut(void **state) {
    static char exact[EDITOR_BYTES];
    (void)state;
    memset(exact, 'x', sizeof exact - 1);
    set(exact);
    assert_int_equal(editor.length, EDITOR_BYTES - 1);
    assert_false(editor.is_full);
    set("");
    insert(exact);
    assert_false(editor.is_full);
    insert("y");
    assert_true(editor.is_full);
    editor_delete(&editor, EDITOR_LEFT);
    assert_false(editor.is_full);
    insert("y");
    assert_false(editor.is_full);
    assert_int_equal(editor.text[EDITOR_BYTES - 2], 'y');
}

// --- Moves and deletions ---

static void moves_step_over_whole_characters_and_stop_at_the_ends(void **state) {
    (void)state;
    // A letter, two bytes, three, four, and an accent of its own.
    set("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x93\xA6"
        "e\xCC\x81");
    static const int stops[] = {0, 1, 3, 6, 10, 11, 13};
    editor_move(&editor, EDITOR_HOME);
    editor_move(&editor, EDITOR_LEFT);
    for (int i = 0; i < 7; i++) {
        assert_int_equal(editor.cursor, stops[i]);
        editor_move(&editor, EDITOR_RIGHT);
    }
    assert_int_equal(editor.cursor, 13);
    for (int i = 6; i >= 0; i--) {
        assert_int_equal(editor.cursor, stops[i]);
        editor_move(&editor, EDITOR_LEFT);
    }
    editor_move(&editor, EDITOR_END);
    assert_int_equal(editor.cursor, 13);
}

static void word_moves_stop_at_words_in_any_script(void **state) {
    (void)state;
    set("Wo ist, bitte:  mein P\xC3\xA4"
        "ckchen_2\xC2\xA0\xE8\xAF\xB7?!");
    static const char *const left[] = {
        "Wo ist, bitte:  mein P\xC3\xA4"
        "ckchen_2\xC2\xA0|\xE8\xAF\xB7?!",
        "Wo ist, bitte:  mein |P\xC3\xA4"
        "ckchen_2\xC2\xA0\xE8\xAF\xB7?!",
        "Wo ist, bitte:  |mein P\xC3\xA4"
        "ckchen_2\xC2\xA0\xE8\xAF\xB7?!",
        "Wo ist, |bitte:  mein P\xC3\xA4"
        "ckchen_2\xC2\xA0\xE8\xAF\xB7?!",
        "Wo |ist, bitte:  mein P\xC3\xA4"
        "ckchen_2\xC2\xA0\xE8\xAF\xB7?!",
        "|Wo ist, bitte:  mein P\xC3\xA4"
        "ckchen_2\xC2\xA0\xE8\xAF\xB7?!",
        "|Wo ist, bitte:  mein P\xC3\xA4"
        "ckchen_2\xC2\xA0\xE8\xAF\xB7?!",
    };
    static const int right[] = {2, 6, 13, 20, 32, 37, 39, 39};
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
        editor_move(&editor, EDITOR_WORD_LEFT);
        assert_line(left[i]);
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        editor_move(&editor, EDITOR_WORD_RIGHT);
        assert_int_equal(editor.cursor, right[i]);
    }
}

static void a_deletion_goes_as_far_as_the_move(void **state) {
    static const struct {
        enum editor_move move;
        const char *left_over;
    } cases[] = {
        {EDITOR_LEFT, "one tw| three"},    {EDITOR_RIGHT, "one two|three"},
        {EDITOR_WORD_LEFT, "one | three"}, {EDITOR_WORD_RIGHT, "one two|"},
        {EDITOR_HOME, "| three"},          {EDITOR_END, "one two|"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        set("one two three");
        for (int left = 0; left < 6; left++)
            editor_move(&editor, EDITOR_LEFT);
        assert_line("one two| three");
        editor_delete(&editor, cases[i].move);
        assert_line(cases[i].left_over);
        assert_true(editor_undo(&editor));
        assert_line("one two| three");
    }
    // Nothing to delete is no step.
    set("x");
    editor_delete(&editor, EDITOR_RIGHT);
    editor_delete(&editor, EDITOR_END);
    assert_int_equal(editor.undo_count, 0);
    set("");
    editor_clear(&editor);
    assert_int_equal(editor.undo_count, 0);
}

// --- Undo ---

static void typing_is_one_undo_step_until_something_else_happens(void **state) {
    (void)state;
    set("");
    insert("a");
    insert("b");
    insert("\xC3\xA9");
    assert_int_equal(editor.undo_count, 1);
    editor_move(&editor, EDITOR_LEFT); // a move parts two steps
    insert("c");
    assert_line("abc|\xC3\xA9");
    insert("pasted");
    insert("d");
    assert_line("abcpastedd|\xC3\xA9");
    assert_true(editor_undo(&editor));
    assert_line("abcpasted|\xC3\xA9");
    assert_true(editor_undo(&editor));
    assert_line("abc|\xC3\xA9");
    insert("x"); // after an undo a step of its own
    assert_true(editor_undo(&editor));
    assert_line("abc|\xC3\xA9");
    assert_true(editor_undo(&editor));
    assert_line("ab|\xC3\xA9");
    assert_true(editor_undo(&editor));
    assert_line("|");
    assert_false(editor_undo(&editor));
    assert_line("|");
}

static void erasing_is_one_undo_step_and_clearing_another(void **state) {
    (void)state;
    set("one two three");
    for (int i = 0; i < 5; i++)
        editor_delete(&editor, EDITOR_LEFT);
    assert_int_equal(editor.undo_count, 1);
    editor_delete(&editor, EDITOR_WORD_LEFT);
    assert_line("one |");
    editor_clear(&editor);
    assert_line("|");
    assert_true(editor_undo(&editor));
    assert_line("one |");
    assert_true(editor_undo(&editor));
    assert_line("one two |");
    assert_true(editor_undo(&editor));
    assert_line("one two three|");
    assert_false(editor_undo(&editor));
}

static void undo_forgets_the_oldest_steps_first(void **state) {
    (void)state;
    set("");
    for (int i = 0; i < EDITOR_UNDO + 3; i++)
        insert("ab");
    for (int i = 0; i < EDITOR_UNDO; i++)
        assert_true(editor_undo(&editor));
    assert_line("ababab|");
    assert_false(editor_undo(&editor));
    insert("ab");
    editor_set(&editor, "new");
    assert_false(editor_undo(&editor));
    assert_line("new|");
}

// --- Random edits ---

static uint64_t seed;

static unsigned random_below(unsigned limit) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % limit;
}

// Whole characters of every length, control characters, and bytes that are none.
static size_t random_bytes(char *out, size_t most) {
    static const char *const pieces[] = {"a",        "B9", " ",  ", ",           "\xC3\xA9",
                                         "\n",       "\r", "_x", "\xE2\x82\xAC", "\xF0\x9F\x93\xA6",
                                         "e\xCC\x81"};
    size_t used = 0;
    for (unsigned count = random_below(random_below(20) == 0 ? 1500 : 4); count > 0; count--) {
        const char *piece = pieces[random_below(sizeof pieces / sizeof pieces[0])];
        size_t bytes = strlen(piece);
        if (used + bytes + 1 > most)
            break;
        memcpy(out + used, piece, bytes);
        used += bytes;
        if (random_below(4) == 0)
            out[used++] = (char)random_below(256);
    }
    return used;
}

enum { HISTORY = 4000 };
struct snapshot {
    char text[EDITOR_BYTES];
    int cursor;
};
static struct snapshot history[HISTORY];

static void random_edit(void) {
    char bytes[8192];
    switch (random_below(8)) {
    case 0:
    case 1:
    case 2:
        editor_insert(&editor, bytes, random_bytes(bytes, sizeof bytes));
        break;
    case 3:
    case 4:
        editor_move(&editor, (enum editor_move)random_below(EDITOR_END + 1));
        break;
    case 5:
    case 6:
        editor_delete(&editor, (enum editor_move)random_below(EDITOR_END + 1));
        break;
    default:
        if (random_below(30) == 0)
            editor_clear(&editor);
        break;
    }
}

static bool is_snapshot(int index) {
    return history[index].cursor == editor.cursor && strcmp(history[index].text, editor.text) == 0;
}

static void random_edits_keep_the_text_whole_and_undo_returns_to_the_byte(void **state) {
    (void)state;
    for (uint64_t round = 1; round <= 30; round++) {
        seed = round * 0x9E3779B97F4A7C15u;
        set("Where is my parcel?");
        int count = 0, undone = 0;
        while (count < HISTORY / 10) {
            memcpy(history[count].text, editor.text, sizeof editor.text);
            history[count++].cursor = editor.cursor;
            random_edit();
            assert_sound(&editor);
        }
        // Every undo goes back to a state that was there, and never forward.
        int at = count, steps = editor.undo_count;
        while (editor_undo(&editor)) {
            assert_sound(&editor);
            at--;
            while (at >= 0 && !is_snapshot(at))
                at--;
            if (at < 0)
                fail_msg("round %d: undo %d gives a text that never was", (int)round, undone);
            undone++;
        }
        assert_int_equal(undone, steps);
        assert_int_equal(steps, EDITOR_UNDO);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_in_is_cleaned),
        cmocka_unit_test(an_insertion_goes_to_the_cursor),
        cmocka_unit_test(a_paste_is_cut_at_the_capacity_between_characters),
        cmocka_unit_test(a_line_that_is_just_full_was_not_cut),
        cmocka_unit_test(moves_step_over_whole_characters_and_stop_at_the_ends),
        cmocka_unit_test(word_moves_stop_at_words_in_any_script),
        cmocka_unit_test(a_deletion_goes_as_far_as_the_move),
        cmocka_unit_test(typing_is_one_undo_step_until_something_else_happens),
        cmocka_unit_test(erasing_is_one_undo_step_and_clearing_another),
        cmocka_unit_test(undo_forgets_the_oldest_steps_first),
        cmocka_unit_test(random_edits_keep_the_text_whole_and_undo_returns_to_the_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
