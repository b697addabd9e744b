// Texts with places: every kind of piece, every way to break one, and every length of room.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/places.h"
#include "compute/base/utf8.h"

#include <stdio.h>
#include <string.h>

// {one} is "1", {two} is "2", {name} is "Ünïcode"; no other value is known.
static bool value(char *out, size_t bytes, const char *name, const void *context) {
    static const char *const values[][2] = {{"one", "1"}, {"two", "2"}, {"name", "Ünïcode"}};
    (void)context;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (strcmp(values[i][0], name) == 0) {
            snprintf(out, bytes, "%s", values[i][1]);
            return true;
        }
    }
    return false;
}

static const char *filled(const char *text, char begin, char end) {
    static char out[256];
    struct place_filler filler = {.value = value, .term_begin = begin, .term_end = end};
    places_fill(out, sizeof out, text, &filler);
    return out;
}

static void values_and_forms_are_filled(void **state) {
    (void)state;
    assert_string_equal(filled("{one|token|tokens}, {two|token|tokens}", 0, 0),
                        "1 token, 2 tokens");
    assert_string_equal(filled("<{name}>", 0, 0), "<Ünïcode>");
    assert_string_equal(filled("a {nobody} b", 0, 0), "a \xE2\x80\x94 b");
}

static void doubled_brackets_are_the_signs(void **state) {
    (void)state;
    assert_string_equal(filled("{{one}} [[x]]", 0, 0), "{one} [x]");
}

static void glossary_words_get_their_marks(void **state) {
    (void)state;
    assert_string_equal(filled("the [KV cache], [tokens|token]", '<', '>'),
                        "the <KV cache>, <tokens>");
    assert_string_equal(filled("the [KV cache]", 0, 0), "the KV cache");
}

static void a_broken_place_ends_the_text(void **state) {
    (void)state;
    static const char *const broken[] = {"ab{one", "ab}", "ab]", "ab[x", "ab{a|b|c|d}", "ab{a{b}}"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        const char *text = broken[i];
        struct place place;
        bool is_broken = false;
        assert_string_equal(filled(text, 0, 0), "ab");
        while (!is_broken && place_next(&place, &text))
            is_broken = place.kind == PLACE_BROKEN;
        assert_true(is_broken);
        assert_non_null(place.problem);
    }
}

// Room of every size: never past the end, whole characters, and each mark closed.
static void what_does_not_fit_is_cut_between_characters(void **state) {
    (void)state;
    char out[64];
    struct place_filler filler = {.value = value, .term_begin = '<', .term_end = '>'};
    for (size_t room = 1; room < 48; room++) {
        memset(out, '#', sizeof out);
        places_fill(out, room, "ö{name} [Ünïcode] end {two|form|forms}", &filler);
        size_t length = strlen(out);
        assert_true(length < room);
        assert_int_equal(out[room], '#');
        assert_true(utf8_is_valid(out, length));
        const char *open = strchr(out, '<');
        assert_true(!open || strchr(open, '>'));
    }
    assert_string_equal(filled("x", 0, 0), "x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_forms_are_filled),
        cmocka_unit_test(doubled_brackets_are_the_signs),
        cmocka_unit_test(glossary_words_get_their_marks),
        cmocka_unit_test(a_broken_place_ends_the_text),
        cmocka_unit_test(what_does_not_fit_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
