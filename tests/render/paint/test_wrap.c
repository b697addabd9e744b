// Running text: no line wider than its room, nothing lost or doubled, the same breaks
// whatever the digits are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/data/panel.h"
#include "render/paint/wrap.h"
#include "tests/render/render_fixture.h"

#include <string.h>

static const char *const WORDS[] = {
    "a",
    "token",
    "goes",
    "through",
    "every",
    "layer",
    "17",
    "0.73",
    "ms",
    "1,024",
    "prefill",
    "internationalisation",
    "\xE2\x86\x92",
    "na\xC3\xAFve",
    "side-by-side",
    "\x0EKV cache\x0F",
    "Donaudampfschifffahrtsgesellschaftskapit\xC3\xA4n",
    "\n",
    "\n\n",
    "  ",
    "e\xCC\x81t\xC3\xA9",
    "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x81\xAE\xE6\x96\x87\xE7\xAB\xA0",
    "-",
    ".",
};
enum { WORD_COUNT = sizeof WORDS / sizeof WORDS[0] };

static void random_text(char *out, size_t bytes) {
    out[0] = '\0';
    for (int i = random_between(0, 60); i > 0; i--) {
        const char *word = WORDS[random_between(0, WORD_COUNT - 1)];
        if (strlen(out) + strlen(word) + 2 > bytes)
            return;
        strcat(out, word);
        if (random_between(0, 5))
            strcat(out, " ");
    }
}

static struct wrap_style random_style(void) {
    return (struct wrap_style){random_between(0, 1) ? FACE_WORDS : FACE_STRONG,
                               16 + 6 * random_between(0, 1), random_between(60, 500)};
}

static void no_line_is_wider_than_its_room_and_nothing_is_lost(void **state) {
    (void)state;
    char words[600];
    for (int round = 0; round < 1500; round++) {
        struct wrap_style style = random_style();
        random_text(words, sizeof words);
        struct wrap_line line;
        int at = 0, lines = 0;
        while (wrap_next(&line, text, &style, words, at)) {
            lines++;
            assert_int_equal(line.from, at);
            assert_true(line.next > at && line.bytes >= 0 && line.from + line.bytes <= line.next);
            int width = wrap_width_px(text, &style, words, at, at + line.bytes);
            // What shaping adds between two zeros' and two other digits' widths.
            if (width > style.width_px + style.px / 8)
                fail_msg("%d px in %d: \"%.*s\"", width, style.width_px, line.bytes, words + at);
            for (int i = at + line.bytes; i < line.next; i++)
                if (words[i] != ' ' && words[i] != '\n')
                    fail_msg("lost \"%c\" of \"%s\"", words[i], words);
            // Never inside a character.
            assert_true(((unsigned char)words[line.next] & 0xC0) != 0x80);
            at = line.next;
        }
        assert_int_equal(words[at], '\0');
        assert_int_equal(wrap_count(text, &style, words, 1000), lines);
    }
}

static void digits_do_not_move_the_breaks(void **state) {
    (void)state;
    char words[600], other[600];
    for (int round = 0; round < 500; round++) {
        struct wrap_style style = random_style();
        random_text(words, sizeof words);
        strcpy(other, words);
        for (char *c = other; *c; c++)
            if (*c >= '0' && *c <= '9')
                *c = (char)('0' + random_between(0, 9));
        struct wrap_line a, b;
        for (int at = 0; wrap_next(&a, text, &style, words, at); at = a.next) {
            assert_true(wrap_next(&b, text, &style, other, at));
            assert_int_equal(a.next, b.next);
            assert_int_equal(a.bytes, b.bytes);
        }
    }
}

static void marks_of_terms_take_no_room(void **state) {
    (void)state;
    struct wrap_style style = {FACE_WORDS, 16, 150};
    const char *plain = "each layer reads what earlier tokens saved in the cache";
    const char *marked = "each \x0Elayer\x0F reads what \x0E"
                         "earlier tokens\x0F saved in the \x0E"
                         "cache\x0F";
    struct wrap_line a, b;
    int at = 0;
    for (int from = 0; wrap_next(&a, text, &style, plain, from); from = a.next) {
        char left[WRAP_LINE_BYTES + 1], right[WRAP_LINE_BYTES + 1];
        assert_true(wrap_next(&b, text, &style, marked, at));
        wrap_copy(left, plain, a.from, a.from + a.bytes);
        wrap_copy(right, marked, b.from, b.from + b.bytes);
        assert_string_equal(left, right);
        at = b.next;
    }
    assert_int_equal(marked[at], '\0');
}

static void lines_end_where_the_text_says(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int lines;
    } CASES[] = {{"", 0},   {"a", 1},   {"a\nb", 2}, {"a\n\nb", 3}, {"a \nb", 2},
                 {"\n", 1}, {"\na", 2}, {" ", 1},    {"a\n", 1},    {"one two", 1}};
    struct wrap_style style = {FACE_WORDS, 16, 400};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        assert_int_equal(wrap_count(text, &style, CASES[i].text, 99), CASES[i].lines);
    assert_int_equal(wrap_count(text, &style, "a\nb\nc", 2), 2);
}

static void a_number_never_parts_from_what_it_counts(void **state) {
    (void)state;
    static const char words[] = "it took 65 % of 1.25 ms and 4 KiB, (tokens \xE2\x88\x92 1) of "
                                "2.8 million, 18 tokens, 3 \xC3\x97 4 \xC3\xB7 2";
    for (int width_px = 120; width_px < 600; width_px += 7) {
        struct wrap_style style = {FACE_WORDS, 20, width_px};
        struct wrap_line line;
        for (int at = 0; wrap_next(&line, text, &style, words, at); at = line.next) {
            char last = words[line.from + line.bytes - 1], next = words[line.next];
            bool is_digit = last >= '0' && last <= '9';
            if (is_digit && next != '\0')
                assert_true((unsigned char)next >= 0x80); // an operator, not a unit
            assert_true((unsigned char)last < 0x80);      // and no operator ends a line
        }
    }
}

static void a_word_is_broken_only_when_it_is_longer_than_a_line(void **state) {
    (void)state;
    struct wrap_line line;
    struct wrap_style style = {FACE_WORDS, 16, 0};
    const char *words = "the internationalisation";
    style.width_px = text_width_px(text, FACE_WORDS, 16, "internationalisation") + 2;
    assert_true(wrap_next(&line, text, &style, words, 0));
    assert_int_equal(line.bytes, 3);
    assert_true(wrap_next(&line, text, &style, words, line.next));
    assert_int_equal(line.bytes, 20);
    style.width_px /= 2;
    assert_true(wrap_next(&line, text, &style, words, 4));
    assert_true(line.bytes > 5 && line.bytes < 15);
    // After a hyphen it may be broken anyway.
    style.width_px = text_width_px(text, FACE_WORDS, 16, "side-by-s");
    assert_true(wrap_next(&line, text, &style, "side-by-side", 0));
    assert_int_equal(line.bytes, 8);
}

static void a_line_holds_a_character_however_narrow(void **state) {
    (void)state;
    struct wrap_style style = {FACE_WORDS, 16, 1};
    assert_int_equal(wrap_count(text, &style, "e\xCC\x81t\xC3\xA9", 99), 3);
    char giant[4000];
    memset(giant, 'x', sizeof giant - 1);
    giant[sizeof giant - 1] = '\0';
    assert_int_equal(wrap_count(text, &style, giant, 9999), 3999);
    style.width_px = 1000000;
    assert_in_range(wrap_count(text, &style, giant, 9999), 8, 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_line_is_wider_than_its_room_and_nothing_is_lost),
        cmocka_unit_test(digits_do_not_move_the_breaks),
        cmocka_unit_test(marks_of_terms_take_no_room),
        cmocka_unit_test(lines_end_where_the_text_says),
        cmocka_unit_test(a_number_never_parts_from_what_it_counts),
        cmocka_unit_test(a_word_is_broken_only_when_it_is_longer_than_a_line),
        cmocka_unit_test(a_line_holds_a_character_however_narrow),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
