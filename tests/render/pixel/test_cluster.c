// UTF-8 to clusters: valid text comes through, broken text becomes U+FFFD, nothing
// ever reads past the end or stands still.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/utf8.h"
#include "render/pixel/cluster.h"

#include <stdlib.h>
#include <string.h>

// The characters of all clusters in a row; returns their count.
static int read_all(uint32_t *chars, int *clusters, const char *bytes, size_t count) {
    struct cluster cluster;
    int length = 0;
    *clusters = 0;
    for (size_t used; (used = cluster_next(&cluster, bytes, count)) > 0;) {
        assert_true(used <= count);
        bytes += used;
        count -= used;
        for (int i = 0; i < cluster.count; i++)
            chars[length++] = cluster.chars[i];
        *clusters += cluster.count > 0;
    }
    return length;
}

static void texts_come_out_as_the_characters_to_draw(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        int clusters, length;
        uint32_t chars[6];
    } cases[] = {
        {"", 0, 0, {0}},
        {"ab", 2, 2, {'a', 'b'}},
        {"\xC3\x96\xE2\x82\xAC\xF0\x9F\x98\x80", 3, 3, {0xD6, 0x20AC, 0x1F600}},
        {"e\xCC\x81x", 2, 3, {'e', 0x301, 'x'}},  // a mark joins its letter
        {"\xCC\x81", 1, 1, {0x301}},              // or stands alone
        {"\n\t\r", 3, 3, {0x23CE, 0x21E5, '\r'}}, // signs, and a control for its box
        {"a\xE2\x80\x8Bz", 2, 2, {'a', 'z'}},     // zero-width space: nothing
        {"\xE2\x80\xAE"
         "b\xEF\xBB\xBF",
         1,
         1,
         {'b'}},                  // direction override, BOM: nothing
        {"\x80", 1, 1, {0xFFFD}}, // stray continuation
        {"\xC3", 1, 1, {0xFFFD}}, // cut
        {"\xC3(", 2, 2, {0xFFFD, '('}},
        {"\xE2\x82", 2, 2, {0xFFFD, 0xFFFD}},
        {"\xC0\xAF", 2, 2, {0xFFFD, 0xFFFD}},                         // overlong
        {"\xE0\x80\xAF", 3, 3, {0xFFFD, 0xFFFD, 0xFFFD}},             // overlong
        {"\xED\xA0\x80", 3, 3, {0xFFFD, 0xFFFD, 0xFFFD}},             // surrogate
        {"\xF4\x90\x80\x80", 4, 4, {0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD}}, // past the end
        {"\xFF\xFE", 2, 2, {0xFFFD, 0xFFFD}},
        {"\xE2\x80\xA8", 1, 1, {0x23CE}},      // line separator
        {"\r\n", 2, 2, {'\r', 0x23CE}},        // two signs, though one character for Unicode
        {"\n\xCC\x81", 2, 2, {0x23CE, 0x301}}, // no mark on a line end
        {"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", 1, 3, {0x1112, 0x1161, 0x11AB}}, // syllable
        {"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA", 1, 2, {0x1F1E9, 0x1F1EA}},           // flag
        {"\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x94\xAC", 1, 3, {0x1F469, 0x200D, 0x1F52C}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t chars[32];
        int clusters, length = read_all(chars, &clusters, cases[i].bytes, strlen(cases[i].bytes));
        if (clusters != cases[i].clusters || length != cases[i].length ||
            memcmp(chars, cases[i].chars, sizeof *chars * (size_t)length) != 0)
            fail_msg("case %d: %d clusters, %d characters", (int)i, clusters, length);
    }
}

static void a_zero_byte_is_a_control_not_an_end(void **state) {
    (void)state;
    uint32_t chars[4];
    int clusters;
    assert_int_equal(read_all(chars, &clusters, "a\0b", 3), 3);
    assert_int_equal(chars[1], 0);
}

static void every_character_survives_encoding_and_decoding(void **state) {
    (void)state;
    for (uint32_t character = 0x20; character <= 0x10FFFF; character++) {
        if (character >= 0xD800 && character <= 0xDFFF)
            continue;
        char bytes[4];
        struct cluster cluster;
        size_t count = utf8_encode(bytes, character);
        if (cluster_next(&cluster, bytes, count) != count)
            fail_msg("U+%04X takes another number of bytes", character);
        if (cluster.count == 1 && cluster.chars[0] != character && cluster.chars[0] != 0x23CE)
            fail_msg("U+%04X became U+%04X", character, cluster.chars[0]);
    }
}

static void more_marks_than_fit_begin_a_new_cluster(void **state) {
    (void)state;
    char zalgo[1 + 2 * 20 + 1] = "Z";
    for (int i = 0; i < 20; i++)
        memcpy(zalgo + 1 + 2 * i, "\xCC\x81", 2);
    uint32_t chars[32];
    int clusters;
    assert_int_equal(read_all(chars, &clusters, zalgo, 41), 21);
    assert_int_equal(clusters, 3);
}

static void random_bytes_are_read_to_their_end(void **state) {
    (void)state;
    unsigned seed = 7;
    for (int round = 0; round < 20000; round++) {
        // The exact size on the heap: the sanitizer sees one byte too many.
        size_t count = (size_t)(rand_r(&seed) % 24);
        char *bytes = malloc(count + 1);
        char *end = bytes + count;
        for (size_t i = 0; i < count; i++)
            bytes[i] = (char)(rand_r(&seed) >> 7);
        bytes = realloc(bytes, count ? count : 1);
        end = bytes + count;
        uint32_t chars[32];
        int clusters;
        int length = read_all(chars, &clusters, end - count, count);
        assert_true(length <= (int)count);
        free(bytes);
    }
}

static void scripts_that_need_shaping_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *tag;
        bool is_rtl;
    } cases[] = {
        {"\xD7\xA9", "Hebr", true},
        {"\xD9\x85", "Arab", true},
        {"\xE0\xA4\xA8", "Deva", false},
        {"\xE0\xB8\x81", "Thai", false},
    };
    struct cluster cluster;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cluster_next(&cluster, cases[i].text, strlen(cases[i].text));
        assert_string_equal(cluster_script(cluster.script)->tag, cases[i].tag);
        assert_int_equal(cluster_script(cluster.script)->is_rtl, cases[i].is_rtl);
    }
    cluster_next(&cluster, "a", 1);
    assert_int_equal(cluster.script, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_out_as_the_characters_to_draw),
        cmocka_unit_test(a_zero_byte_is_a_control_not_an_end),
        cmocka_unit_test(every_character_survives_encoding_and_decoding),
        cmocka_unit_test(more_marks_than_fit_begin_a_new_cluster),
        cmocka_unit_test(random_bytes_are_read_to_their_end),
        cmocka_unit_test(scripts_that_need_shaping_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
