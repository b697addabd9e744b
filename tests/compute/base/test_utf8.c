// UTF-8: whole sequences and bad bytes, cutting without halves, what may be printed,
// classes of characters, and the boundaries of UAX #29 rule by rule.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/utf8.h"

#include <inttypes.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// --- Decoding and encoding ---

static void sequences_are_told_from_bad_bytes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t bytes, length;
        uint32_t code;
    } cases[] = {
        {"a", 1, 1, 'a'},
        {"", 0, 0, 0},
        {"\xc2\x80", 2, 2, 0x80},
        {"\xdf\xbf", 2, 2, 0x7ff},
        {"\xe0\xa0\x80", 3, 3, 0x800},
        {"\xef\xbf\xbf", 3, 3, 0xffff},
        {"\xf0\x90\x80\x80", 4, 4, 0x10000},
        {"\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff},
        {"\xf4\x90\x80\x80", 4, 0, 0}, // above the last
        {"\xc1\xbf", 2, 0, 0},         // overlong
        {"\xe0\x9f\xbf", 3, 0, 0},     // overlong
        {"\xf0\x8f\xbf\xbf", 4, 0, 0}, // overlong
        {"\xed\xa0\x80", 3, 0, 0},     // surrogates
        {"\xed\xbf\xbf", 3, 0, 0},
        {"\xee\x80\x80", 3, 3, 0xe000},
        {"\x80", 1, 0, 0},
        {"\xff", 1, 0, 0},
        {"\xe2\x82", 2, 0, 0},     // cut
        {"\xe2\x82\x41", 3, 0, 0}, // broken off
        {"\xc3(", 2, 0, 0},
        {"\0", 1, 1, 0},
        {"\x7f", 1, 1, 0x7f},
        {"\xed\x9f\xbf", 3, 3, 0xd7ff},
        {"\xe2\x96\x81", 2, 0, 0}, // cut by bytes
        {"\xf5\x80\x80\x80", 4, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t code = 0;
        char *text = malloc(cases[i].bytes + 1);
        assert_non_null(text);
        memcpy(text, cases[i].text, cases[i].bytes);
        text[cases[i].bytes] = (char)0x80; // must not be looked at
        size_t length = utf8_next(text, cases[i].bytes, &code);
        if (length != cases[i].length || code != cases[i].code ||
            utf8_length(text, cases[i].bytes) != length)
            fail_msg("case %zu: %zu bytes, code %" PRIx32, i, length, code);
        free(text);
    }
}

static void every_code_point_survives_encoding_and_decoding(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        char bytes[4];
        uint32_t back = 0;
        size_t count = utf8_encode(bytes, code);
        bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
        if (utf8_next(bytes, count, &back) != (is_surrogate ? 0 : count))
            fail_msg("U+%04" PRIX32 " has another length", code);
        if (!is_surrogate && back != code)
            fail_msg("U+%04" PRIX32 " became U+%04" PRIX32, code, back);
    }
}

static void a_text_is_valid_when_every_sequence_is(void **state) {
    (void)state;
    assert_true(utf8_is_valid("", 0));
    assert_true(utf8_is_valid("a\0b", 3));
    assert_true(utf8_is_valid("a\xC3\x96\xF0\x9F\x98\x80", 7));
    assert_false(utf8_is_valid("a\xC3\x96\xF0\x9F\x98\x80", 6));
    assert_false(utf8_is_valid("a\x96z", 3));
    assert_int_equal(utf8_count(""), 0);
    assert_int_equal(utf8_count("a\xC3\x96\xE2\x82\xAC\xF0\x9F\x98\x80"), 4);
}

// --- Cutting and stepping ---

static void cutting_never_halves_a_character(void **state) {
    (void)state;
    const char *text = "a\xC3\x96\xE2\x82\xAC\xF0\x9F\x98\x80z"; // 1 2 3 4 1 bytes
    static const size_t whole[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (size_t limit = 0; limit <= 12; limit++)
        assert_int_equal(utf8_cut(text, 11, limit), whole[limit]);
    // Continuation bytes without end are no character: nothing is lost for them.
    assert_int_equal(utf8_cut("\x80\x80\x80\x80\x80\x80\x80\x80", 8, 6), 6);
}

static void a_step_back_goes_to_the_start_of_the_character_before(void **state) {
    (void)state;
    const char *text = "a\xC3\x96\xE2\x82\xAC\xF0\x9F\x98\x80z";
    static const size_t starts[] = {10, 6, 3, 1, 0, 0};
    size_t at = 11;
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        at = utf8_before(text, at);
        assert_int_equal(at, starts[i]);
    }
    assert_int_equal(utf8_before("\xC3\x96", 2), 0);
}

// --- Printing ---

static void printable_texts_are_escaped_and_cut_between_signs(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t text_bytes, out_bytes;
        const char *wanted;
    } cases[] = {
        {"plain", 5, 20, "plain"},
        {"plain", 5, 6, "plain"},
        {"plain", 5, 5, "p..."},
        {"a\nb\x7f", 4, 40, "a\\x0ab\\x7f"},
        {"nul\0x", 5, 40, "nul\\x00x"},
        {"back\\slash", 10, 40, "back\\x5cslash"},
        {"\xc3\xa9t\xc3\xa9", 5, 40, "\xc3\xa9t\xc3\xa9"},
        {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 8, 8, "\xc3\xa9\xc3\xa9..."},
        {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 8, 7, "\xc3\xa9..."},
        {"\xc3", 1, 40, "\\xc3"},
        {"\xe2\x80\xae", 3, 40, "\\xe2\\x80\\xae"}, // turns the text around
        {"\xc2\x9b", 2, 40, "\\xc2\\x9b"},          // a terminal's control sign
        {"\xe2\x80\xa8", 3, 40, "\\xe2\\x80\\xa8"}, // ends the line
        {"\xc2\xad", 2, 40, "\\xc2\\xad"},          // soft hyphen: shows nothing
        {"\xe2\x80\x8d", 3, 40, "\\xe2\\x80\\x8d"}, // nor does a joiner
        {"e\xcc\x81", 3, 40, "e\xcc\x81"},          // a mark shows
        {"\xed\xa0\x80", 3, 40, "\\xed\\xa0\\x80"}, // half of a surrogate pair
        {"\n\n\n\n", 4, 10, "\\x0a..."},
        {"\n", 1, 4, "..."},
        {"ab", 2, 2, "."},
        {"", 0, 1, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *out = malloc(cases[i].out_bytes);
        assert_non_null(out);
        utf8_printable(out, cases[i].out_bytes, cases[i].text, cases[i].text_bytes);
        if (strcmp(out, cases[i].wanted) != 0)
            fail_msg("case %zu: wanted '%s', got '%s'", i, cases[i].wanted, out);
        free(out);
    }
}

// --- Classes ---

static void characters_are_told_apart_by_what_they_do_to_a_line(void **state) {
    (void)state;
    static const struct {
        uint32_t code;
        bool is_control, is_line_end, is_space, is_invisible;
    } cases[] = {
        {0, true, false, false, false},       {0x1F, true, false, false, false},
        {' ', false, false, true, false},     {'a', false, false, false, false},
        {0x7F, true, false, false, false},    {0x9F, true, false, false, false},
        {0xA0, false, false, true, false},    {0xAD, false, false, false, true},
        {0x301, false, false, false, false},  {0x600, false, false, false, false},
        {0x61C, false, false, false, true},   {0x1680, false, false, true, false},
        {0x180E, false, false, false, true},  {0x2007, false, false, true, false},
        {0x200B, false, false, false, true},  {0x200C, false, false, false, false},
        {0x200D, false, false, false, false}, {0x200E, false, false, false, true},
        {0x2028, false, true, false, false},  {0x2029, false, true, false, false},
        {0x202E, false, false, false, true},  {0x202F, false, false, true, false},
        {0x2060, false, false, false, true},  {0x2064, false, false, false, true},
        {0x2069, false, false, false, true},  {0x3000, false, false, true, false},
        {0xFE0F, false, false, false, false}, {0xFEFF, false, false, false, true},
        {0xFFFB, false, false, false, true},  {0xFFFD, false, false, false, false},
        {0xE0001, false, false, false, true}, {0xE0061, false, false, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t code = cases[i].code;
        if (utf8_is_control(code) != cases[i].is_control ||
            utf8_is_line_end(code) != cases[i].is_line_end ||
            utf8_is_space(code) != cases[i].is_space ||
            utf8_is_invisible(code) != cases[i].is_invisible)
            fail_msg("U+%04" PRIX32, code);
    }
}

static void characters_of_a_reader_end_where_uax_29_says(void **state) {
    (void)state;
    // Each row is one character for a reader, but where `ends` says what is the first.
    static const struct {
        const char *rule;
        uint32_t codes[8];
        int count, ends;
    } cases[] = {
        {"letters", {'a', 'b'}, 2, 1},
        {"CR LF are two, unlike GB3", {'\r', '\n'}, 2, 1},
        {"GB4: no mark on a control", {'\n', 0x301}, 2, 1},
        {"GB5: a control ends it", {'e', 0x301, '\n'}, 3, 2},
        {"GB6, GB7: syllable", {0x1100, 0x1161, 0x11A8}, 3, 3},
        {"GB8: LVT T", {0xAC01, 0x11A8}, 2, 2},
        {"T L begin anew", {0x11A8, 0x1100}, 2, 1},
        {"GB9: marks", {'e', 0x301, 0x20DD}, 3, 3},
        {"GB9: joiner", {'a', 0x200D}, 2, 2},
        {"joiner between letters", {'a', 0x200D, 'b'}, 3, 2},
        {"GB9: skin", {0x1F44B, 0x1F3FD}, 2, 2},
        {"GB9a: vowel sign", {0x0915, 0x093F}, 2, 2},
        {"GB9a: Thai AM", {0x0E01, 0x0E33}, 2, 2},
        {"not GB9a: Myanmar visarga", {0x1000, 0x1038}, 2, 1},
        {"GB9b: Arabic number sign", {0x0600, '1'}, 2, 2},
        {"GB11: family", {0x1F469, 0x200D, 0x1F469, 0x200D, 0x1F467}, 5, 5},
        {"GB11: with a skin", {0x1F469, 0x1F3FD, 0x200D, 0x1F52C}, 4, 4},
        {"two pictures", {0x1F469, 0x1F469}, 2, 1},
        {"GB12: flag", {0x1F1E9, 0x1F1EA}, 2, 2},
        {"GB12: flags go in pairs", {0x1F1E9, 0x1F1EA, 0x1F1EB, 0x1F1F7}, 4, 2},
        {"flag by tags", {0x1F3F4, 0xE0067, 0xE0062, 0xE007F}, 4, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t joining = 0;
        int end = 1;
        while (end < cases[i].count &&
               utf8_joins(cases[i].codes[end - 1], cases[i].codes[end], &joining))
            end++;
        if (end != cases[i].ends)
            fail_msg("%s: ends after %d", cases[i].rule, end);
    }
}

static void a_byte_order_mark_is_taken_off_and_other_encodings_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
        const char *encoding; // NULL = UTF-8
        size_t left;
    } cases[] = {
        {"abc", 3, NULL, 3},
        {"", 0, NULL, 0},
        {"\xEF\xBB\xBF", 3, NULL, 0},
        {"\xEF\xBB\xBF"
         "abc",
         6, NULL, 3},
        {"\xEF\xBB\xBF\xEF\xBB\xBF", 6, NULL, 3}, // the second is a character
        {"\xEF\xBB", 2, NULL, 2},
        {"a\0b", 3, NULL, 3}, // no text at all, but that is for others to say
        {"abc\0", 4, NULL, 4},
        {"ab\0d", 4, NULL, 4},
        {"abcdef\0h", 8, NULL, 8},
        {"\xFF\xFE"
         "a\0",
         4, "UTF-16", 4},
        {"\xFE\xFF\0a", 4, "UTF-16", 4},
        {"\xFF\xFE", 2, "UTF-16", 2},
        {"a\0b\0", 4, "UTF-16", 4},
        {"\0a\0b", 4, "UTF-16", 4},
        {"W\0o\0?\0\x0A\x26", 8, "UTF-16", 8},
        {"\xFF\xFE\0\0a\0\0\0", 8, "UTF-32", 8},
        {"\0\0\xFE\xFF\0\0\0a", 8, "UTF-32", 8},
        {"a\0\0\0", 4, "UTF-32", 4},
        {"\0\0\0a", 4, "UTF-32", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *text = cases[i].text;
        size_t bytes = cases[i].bytes;
        const char *encoding = utf8_open(&text, &bytes);
        if (!encoding != !cases[i].encoding || (encoding && strcmp(encoding, cases[i].encoding)) ||
            bytes != cases[i].left || text + bytes != cases[i].text + cases[i].bytes)
            fail_msg("row %zu: %s, %zu bytes left", i, encoding ? encoding : "UTF-8", bytes);
    }
}

static const char foreign[] = "a\x1b[31m\tb\n\xE2\x80\xAE"
                              "c\xFF\\ \xC3\xA4\xC2\x9B\r";

static void only_a_terminal_gets_foreign_text_escaped(void **state) {
    (void)state;
    int main_end = -1, terminal = -1, ends[2];
    char got[128] = "";
    assert_int_equal(openpty(&main_end, &terminal, NULL, NULL, NULL), 0);
    FILE *out = fdopen(terminal, "w");
    utf8_print(out, foreign, sizeof foreign - 1);
    fflush(out);
    static const char wanted[] = "a\\x1b[31m\tb\r\n\\xe2\\x80\\xaec\\xff\\ \xC3\xA4\\xc2\\x9b\\x0d";
    // The terminal passes on what it has so far.
    for (size_t used = 0; used < sizeof wanted - 1;) {
        ssize_t bytes = read(main_end, got + used, sizeof got - 1 - used);
        assert_true(bytes > 0);
        used += (size_t)bytes;
    }
    fclose(out);
    close(main_end);
    // The terminal itself puts a carriage return before the line feed.
    assert_string_equal(got, wanted);

    assert_int_equal(pipe(ends), 0);
    out = fdopen(ends[1], "w");
    utf8_print(out, foreign, sizeof foreign - 1);
    fclose(out);
    memset(got, 0, sizeof got);
    assert_int_equal(read(ends[0], got, sizeof got), sizeof foreign - 1);
    assert_memory_equal(got, foreign, sizeof foreign - 1);
    close(ends[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_are_told_from_bad_bytes),
        cmocka_unit_test(every_code_point_survives_encoding_and_decoding),
        cmocka_unit_test(a_text_is_valid_when_every_sequence_is),
        cmocka_unit_test(cutting_never_halves_a_character),
        cmocka_unit_test(a_step_back_goes_to_the_start_of_the_character_before),
        cmocka_unit_test(printable_texts_are_escaped_and_cut_between_signs),
        cmocka_unit_test(characters_are_told_apart_by_what_they_do_to_a_line),
        cmocka_unit_test(a_byte_order_mark_is_taken_off_and_other_encodings_are_named),
        cmocka_unit_test(only_a_terminal_gets_foreign_text_escaped),
        cmocka_unit_test(characters_of_a_reader_end_where_uax_29_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
