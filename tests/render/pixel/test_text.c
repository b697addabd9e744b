// Strings: what is measured is what is drawn, whatever the bytes; the baseline
// stands still; numbers don't jitter; missing fonts and missing glyphs are survived.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "render/pixel/cluster.h"
#include "render/pixel/text.h"
#include "tests/render/render_fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// A copy of an image around the baseline, so that two can be compared.
enum { ABOVE = 160, BELOW = 100, WIDE = 900, PEN = 40 };
static uint8_t canvases[2][ABOVE + BELOW][WIDE];

// Puts the string on canvas `which` with its pen at column PEN, its baseline at row
// ABOVE; false when there is nothing to draw.
static bool put(int which, enum text_face face, int px, const char *utf8) {
    struct text_image image;
    memset(canvases[which], 0, sizeof canvases[which]);
    if (!text_raster(text, &image, face, px, utf8, strlen(utf8)))
        return false;
    for (int y = 0; y < image.height_px; y++)
        for (int x = 0; x < image.width_px; x++) {
            int row = ABOVE + image.top_px + y, column = PEN + image.left_px + x;
            if (row >= 0 && row < ABOVE + BELOW && column >= 0 && column < WIDE)
                canvases[which][row][column] = image.coverage[y * image.pitch_bytes + x];
        }
    return true;
}

static bool canvases_agree(int from_column, int to_column) {
    for (int y = 0; y < ABOVE + BELOW; y++)
        if (memcmp(&canvases[0][y][from_column], &canvases[1][y][from_column],
                   (size_t)(to_column - from_column)) != 0)
            return false;
    return true;
}

static void invisible_strings_have_no_width_and_no_image(void **state) {
    (void)state;
    static const char *const strings[] = {"", "\xE2\x80\x8B", "\xEF\xBB\xBF\xE2\x80\x8E",
                                          "\xE2\x80\xAE"};
    struct text_image image;
    for (enum text_face face = 0; face < FACE_COUNT; face++)
        for (int i = 0; i < 4; i++) {
            assert_int_equal(text_width_px(text, face, 24, strings[i]), 0);
            assert_false(text_raster(text, &image, face, 24, strings[i], strlen(strings[i])));
        }
    // Spaces have a width but nothing to draw.
    assert_true(text_width_px(text, FACE_WORDS, 24, "   ") > 0);
    assert_false(text_raster(text, &image, FACE_WORDS, 24, "   ", 3));
}

static void control_characters_are_visible(void **state) {
    (void)state;
    struct text_image image;
    for (enum text_face face = 0; face < FACE_COUNT; face++)
        for (int px = TEXT_MIN_PX; px <= 60; px += 13)
            for (int control = 0; control < 0x20; control++) {
                char byte = (char)control;
                if (!text_raster(text, &image, face, px, &byte, 1))
                    fail_msg("control %d at %d px shows nothing", control, px);
                if (control > 0)
                    assert_true(text_width_px(text, face, px, (char[]){byte, 0}) > 0);
            }
}

// Left edge and right edge of the image against the width, for strings that end in ink.
static void what_is_measured_is_what_is_drawn(void **state) {
    (void)state;
    static const char *const strings[] = {
        "Two stages of an answer",
        "AVATAR fjord Waffle",
        "x",
        "jfj",
        "18.4 ms",
        "e\xCC\x81t\xC3\xA9",
        "\xE2\x90\xA3parcel \xE2\x86\x92 \xE2\x8F\x8E",
        "a\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D \xD7\xA2\xD7\x95\xD7\x9C\xD7\x9D z",
        "\xE6\x97\xA5\xE6\x9C\xAC mixed \xD0\x96 \xCE\xA9 \xF0\x9F\x98\x80",
        "\xFF\xFE broken \xC3",
        "\x01\x1B control",
    };
    for (enum text_face face = 0; face < FACE_COUNT; face++)
        for (int px = 9; px < 100; px = px * 7 / 4)
            for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
                struct text_image image;
                int width = text_width_px(text, face, px, strings[i]);
                assert_true(text_raster(text, &image, face, px, strings[i], strlen(strings[i])));
                int out = text_is_in_cells(face) ? 1 + px / 16 : 0; // a glyph may stick out
                int right = image.left_px + image.width_px;
                if (image.left_px < -out || right > width + out || right < width - px / 2 - 2)
                    fail_msg("face %d, %d px, '%s': drawn from %d to %d, measured %d", face, px,
                             strings[i], image.left_px, right, width);
                assert_true(image.top_px < 0 && image.top_px + image.height_px <= px);
            }
}

static void digits_are_of_equal_width(void **state) {
    (void)state;
    static const enum text_face faces[] = {FACE_DIGITS, FACE_MONO};
    for (int f = 0; f < 2; f++)
        for (int px = TEXT_MIN_PX; px <= 120; px++) {
            int zero = text_width_px(text, faces[f], px, "0");
            for (char digit = '1'; digit <= '9'; digit++)
                assert_int_equal(text_width_px(text, faces[f], px, (char[]){digit, 0}), zero);
            assert_int_equal(text_width_px(text, faces[f], px, "1741"), 4 * zero);
        }
}

static void a_changing_digit_moves_nothing_else(void **state) {
    (void)state;
    int before = text_width_px(text, FACE_DIGITS, 44, "11.");
    int digit = text_width_px(text, FACE_DIGITS, 44, "0");
    for (char c = '0'; c <= '9'; c++) {
        char number[] = "11.1 ms";
        number[3] = c;
        assert_true(put(0, FACE_DIGITS, 44, "11.1 ms"));
        assert_true(put(1, FACE_DIGITS, 44, number));
        assert_true(canvases_agree(0, PEN + before));
        assert_true(canvases_agree(PEN + before + digit, WIDE));
    }
}

// In cells the pen stands at the left end: a glyph with ink before its pen keeps it
// there, beside whatever cell comes first.
static void ink_before_the_pen_stays_there(void **state) {
    (void)state;
    int checked = 0;
    for (char c = '!'; c <= '~'; c++) {
        struct text_image image;
        const char one[] = {c, 0}, two[] = {'0', c, 0};
        assert_true(text_raster(text, &image, FACE_DIGITS, 100, one, 1));
        if (image.left_px >= 0)
            continue;
        checked++;
        assert_true(put(0, FACE_DIGITS, 100, one));
        assert_true(put(1, FACE_DIGITS, 100, two));
        int pen = text_width_px(text, FACE_DIGITS, 100, "0");
        for (int y = 0; y < ABOVE + BELOW; y++) // from the pen on, nothing of the digit
            assert_memory_equal(&canvases[0][y][PEN], &canvases[1][y][PEN + pen], 60);
    }
    assert_true(checked > 0);
}

static void shaped_faces_are_kerned(void **state) {
    (void)state;
    // Kerning by pair tables only whole strings get (the font has no old kern table).
    int apart =
        text_width_px(text, FACE_WORDS, 100, "A") + text_width_px(text, FACE_WORDS, 100, "V");
    assert_true(text_width_px(text, FACE_WORDS, 100, "AV") < apart);
}

static void the_baseline_stands_still_whatever_stands_beside(void **state) {
    (void)state;
    static const char *const beside[] = {
        "x\xC3\x96",                                          // accent
        "xgy",                                                // descenders
        "x\xE1\xBA\xA4",                                      // two accents
        "xZ\xCC\x8D\xCC\x8D\xCC\x8D\xCC\x8D\xCC\x8D\xCC\x8D", // a tower above
        "xZ\xCC\xA3\xCC\xA3\xCC\xA3\xCC\xA3\xCC\xA3\xCC\xA3", // one below
        "x\xE6\x97\xA5",                                      // another font
        "x\xD7\xA9",
        "x|\xE2\x94\x82\xE2\x96\x88", // box drawing: full height
        "x\x01",                      // a box of ours
    };
    for (enum text_face face = 0; face < FACE_COUNT; face++)
        for (int px = 12; px <= 60; px += 12) {
            assert_true(put(0, face, px, "x"));
            int width = text_width_px(text, face, px, "x");
            for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
                assert_true(put(1, face, px, beside[i]));
                // The neighbour may be kerned or stick out into the last pixels.
                if (!canvases_agree(0, PEN + width - 1 - px / 8))
                    fail_msg("face %d, %d px, case %d", face, px, (int)i);
            }
        }
}

static void capitals_stand_on_the_baseline_as_high_as_told(void **state) {
    (void)state;
    for (enum text_face face = 0; face < FACE_COUNT; face++)
        for (int px = 10; px <= 120; px += 11) {
            struct text_image image;
            assert_true(text_raster(text, &image, face, px, "H", 1));
            assert_int_equal(-image.top_px, text_cap_px(text, face, px));
            // A hinter may leave a faint row below.
            assert_in_range(image.height_px - text_cap_px(text, face, px), 0, 1);
            assert_true(text_cap_px(text, face, px) < text_ascent_px(text, face, px));
        }
}

static void a_character_missing_in_one_font_comes_from_another(void **state) {
    (void)state;
    // Inter has no Hebrew, DejaVu Sans has: the same image, no box.
    assert_true(put(0, FACE_WORDS, 40, "\xD7\xA9"));
    assert_true(put(1, FACE_TOKEN, 40, "\xD7\xA9"));
    assert_true(canvases_agree(0, WIDE));
    assert_int_equal(text_width_px(text, FACE_WORDS, 40, "\xD7\xA9"),
                     text_width_px(text, FACE_TOKEN, 40, "\xD7\xA9"));
}

static void what_no_font_has_is_a_box_with_its_number(void **state) {
    (void)state;
    struct text_image image;
    // U+10FFFE and U+10FFFF are no characters and never will be.
    assert_true(text_raster(text, &image, FACE_WORDS, 40, "\xF4\x8F\xBF\xBE", 4));
    int w = image.width_px, h = image.height_px;
    for (int y = 0; y < h; y++) {
        assert_int_equal(image.coverage[y * image.pitch_bytes], 255);
        assert_int_equal(image.coverage[y * image.pitch_bytes + w - 1], 255);
    }
    for (int x = 0; x < w; x++)
        assert_int_equal(image.coverage[x], 255);
    assert_int_equal(image.top_px + h, 0);
    assert_true(put(0, FACE_WORDS, 40, "\xF4\x8F\xBF\xBE"));
    assert_true(put(1, FACE_WORDS, 40, "\xF4\x8F\xBF\xBF"));
    assert_false(canvases_agree(0, WIDE)); // another number
}

static void the_number_in_a_box_is_read_at_every_size(void **state) {
    (void)state;
    for (int px = TEXT_MIN_PX; px < 80; px++) {
        struct text_image image;
        assert_true(text_raster(text, &image, FACE_WORDS, px, "\xF4\x8F\xBF\xBE", 4));
        // Frame, gap, digits of five ninths, gap, frame.
        assert_true(image.height_px >= 9);
        assert_true(5 * image.height_px / 9 * 4 >= px);
        assert_true(put(0, FACE_WORDS, px, "\xF4\x8F\xBF\xBE"));
        assert_true(put(1, FACE_WORDS, px, "\xF4\x8F\xBF\xBF"));
        assert_false(canvases_agree(0, WIDE));
    }
}

static void every_sign_for_what_is_invisible_is_in_a_font(void **state) {
    (void)state;
    static const char *const signs[] = {"␣", "⏎", "⇤", "⇥", "⍽", "∅", "⟦", "⟧", "⟨", "⟩", "⋯", "◌"};
    static const enum text_face faces[] = {FACE_TOKEN, FACE_WORDS};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        for (int f = 0; f < 2; f++) {
            struct text_image image;
            assert_true(text_raster(text, &image, faces[f], 40, signs[i], strlen(signs[i])));
            int solid = 0; // a box with a number has a frame all round
            for (int x = 0; x < image.width_px; x++)
                solid += image.coverage[x] == 255;
            for (int y = 0; y < image.height_px; y++)
                solid += image.coverage[y * image.pitch_bytes] == 255;
            assert_true(solid < image.width_px + image.height_px);
        }
}

static void a_mark_takes_no_room_of_its_own(void **state) {
    (void)state;
    static const enum text_face faces[] = {FACE_MONO, FACE_DIGITS, FACE_TOKEN, FACE_WORDS};
    for (int f = 0; f < 4; f++)
        assert_int_equal(text_width_px(text, faces[f], 30, "e\xCC\x81"),
                         text_width_px(text, faces[f], 30, "e"));
    // In cells too, the accent is over its letter, not beside it.
    struct text_image image;
    assert_true(text_raster(text, &image, FACE_MONO, 30, "e\xCC\x81", 3));
    assert_true(-image.top_px > text_cap_px(text, FACE_MONO, 30));
}

static void hebrew_runs_from_right_to_left(void **state) {
    (void)state;
    const char *alef_bet = "\xD7\x90\xD7\x91", *bet = "\xD7\x91";
    assert_true(put(0, FACE_TOKEN, 60, alef_bet));
    assert_true(put(1, FACE_TOKEN, 60, bet));
    int width = text_width_px(text, FACE_TOKEN, 60, bet);
    assert_true(canvases_agree(0, PEN + width - 4)); // the second letter comes first
    // Two words change places, with the space between them.
    assert_true(put(0, FACE_TOKEN, 60, "\xD7\x90 \xD7\x91"));
    assert_true(canvases_agree(0, PEN + width - 4));
}

static void random_bytes_never_crash(void **state) {
    (void)state;
    unsigned seed = 11;
    for (int round = 0; round < 150; round++) {
        size_t count = (size_t)(rand_r(&seed) % 40);
        char bytes[64];
        for (size_t i = 0; i < count; i++)
            bytes[i] = (char)(rand_r(&seed) >> 5);
        bytes[count] = '\0';
        enum text_face face = (enum text_face)(round % FACE_COUNT);
        struct text_image image;
        bool drawn = text_raster(text, &image, face, 8 + round % 30, bytes, count);
        int width = text_width_px(text, face, 8 + round % 30, bytes);
        assert_true(width >= 0 && width < 40 * 120);
        assert_true(!drawn || (image.width_px > 0 && image.height_px > 0));
    }
}

static void a_huge_string_is_cut(void **state) {
    (void)state;
    enum { COUNT = 100000 };
    char *huge = malloc(COUNT + 1), first[TEXT_MAX_BYTES + 1];
    for (int i = 0; i < COUNT; i++)
        huge[i] = (char)('a' + i % 26);
    huge[COUNT] = '\0';
    memcpy(first, huge, TEXT_MAX_BYTES);
    first[TEXT_MAX_BYTES] = '\0';
    for (enum text_face face = 0; face < FACE_COUNT; face++) {
        struct text_image image;
        assert_int_equal(text_width_px(text, face, TEXT_MAX_PX, huge),
                         text_width_px(text, face, TEXT_MAX_PX, first));
        assert_true(text_raster(text, &image, face, TEXT_MAX_PX, huge, COUNT));
        assert_true(image.width_px <= TEXT_MAX_IMAGE_PX);
        assert_true(image.width_px > TEXT_MAX_IMAGE_PX - TEXT_MAX_PX);
    }
    char cut[COUNT / 10];
    assert_true(text_fit(text, cut, sizeof cut, FACE_WORDS, 20, huge, 1 << 30) > 0);
    assert_true(strlen(cut) <= TEXT_MAX_BYTES);
    assert_string_equal(cut + strlen(cut) - 3, "\xE2\x80\xA6");
    free(huge);
}

static void sizes_and_faces_out_of_range_are_the_nearest(void **state) {
    (void)state;
    static const int sizes[][2] = {
        {-5, TEXT_MIN_PX}, {0, TEXT_MIN_PX}, {1, TEXT_MIN_PX}, {100000, TEXT_MAX_PX}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(text_width_px(text, FACE_WORDS, sizes[i][0], "parcel"),
                         text_width_px(text, FACE_WORDS, sizes[i][1], "parcel"));
        assert_int_equal(text_ascent_px(text, FACE_WORDS, sizes[i][0]),
                         text_ascent_px(text, FACE_WORDS, sizes[i][1]));
    }
    assert_int_equal(text_width_px(text, (enum text_face)77, 20, "parcel"),
                     text_width_px(text, FACE_TOKEN, 20, "parcel"));
}

// ---- fitting ----

static bool is_whole_utf8(const char *bytes) {
    struct cluster cluster;
    for (size_t rest = strlen(bytes), used; (used = cluster_next(&cluster, bytes, rest)) > 0;) {
        for (int i = 0; i < cluster.count; i++)
            if (cluster.chars[i] == 0xFFFD)
                return false;
        bytes += used;
        rest -= used;
    }
    return true;
}

static void text_is_cut_to_the_width_it_may_have(void **state) {
    (void)state;
    static const char *const strings[] = {"Answer from the policy",
                                          "\xC3\x96l \xE6\x97\xA5\xE6\x9C\xAC "
                                          "e\xCC\x81t\xC3\xA9 \xF0\x9F\x98\x80 end"};
    for (enum text_face face = 0; face < FACE_COUNT; face++)
        for (int i = 0; i < 2; i++) {
            int whole = text_width_px(text, face, 20, strings[i]), last = 0;
            for (int width = 0; width <= whole; width += 3) {
                char out[128];
                int got = text_fit(text, out, sizeof out, face, 20, strings[i], width);
                assert_true(got <= width);
                assert_int_equal(got, text_width_px(text, face, 20, out));
                assert_true(is_whole_utf8(out));
                assert_true(width < whole ? strcmp(out, strings[i]) != 0 : true);
                if (got > 0 && width < whole)
                    assert_string_equal(out + strlen(out) - 3, "\xE2\x80\xA6");
                if (width < whole) // more room, not less text
                    assert_true((int)strlen(out) >= last);
                last = (int)strlen(out);
            }
            char out[128];
            assert_int_equal(text_fit(text, out, sizeof out, face, 20, strings[i], whole), whole);
            assert_string_equal(out, strings[i]);
        }
}

static void spaces_before_the_ellipsis_go(void **state) {
    (void)state;
    char out[64];
    int width = text_width_px(text, FACE_WORDS, 20, "from  \xE2\x80\xA6");
    text_fit(text, out, sizeof out, FACE_WORDS, 20, "from     policies", width);
    assert_string_equal(out, "from\xE2\x80\xA6");
}

static void a_small_buffer_is_never_overrun(void **state) {
    (void)state;
    for (size_t bytes = 0; bytes < 20; bytes++) {
        char *out = malloc(bytes ? bytes : 1); // exact, for the sanitizer
        text_fit(text, out, bytes, FACE_WORDS, 20, "na\xC3\xAFve parcels", 10000);
        if (bytes > 0)
            assert_true(strlen(out) < bytes);
        free(out);
    }
}

// ---- caches ----

static void more_strings_than_the_cache_holds_keep_their_widths(void **state) {
    (void)state;
    enum { COUNT = 12000 };
    static int widths[COUNT];
    char number[16];
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < COUNT; i++) {
            snprintf(number, sizeof number, "n%d", i * 7919);
            int width = text_width_px(text, FACE_WORDS, 16, number);
            if (pass == 0)
                widths[i] = width;
            else
                assert_int_equal(width, widths[i]);
        }
}

static int open_files(void) {
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void many_sizes_do_not_keep_their_files_open(void **state) {
    (void)state;
    for (int px = TEXT_MIN_PX; px < 140; px++)
        for (enum text_face face = 0; face < FACE_COUNT; face++)
            assert_true(text_width_px(text, face, px, "parcel") > 0);
    assert_true(open_files() < 64 + 16);
}

static void keys_tell_strings_faces_and_sizes_apart(void **state) {
    (void)state;
    struct text_key keys[] = {
        text_key(FACE_WORDS, 20, "parcel", 6), text_key(FACE_WORDS, 20, "parcem", 6),
        text_key(FACE_WORDS, 20, "parce", 5),  text_key(FACE_WORDS, 21, "parcel", 6),
        text_key(FACE_MONO, 20, "parcel", 6),  text_key(FACE_WORDS, 20, "", 0),
        text_key(FACE_WORDS, 20, "\0", 1),
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(keys[i].high != keys[j].high && keys[i].low != keys[j].low);
    struct text_key again = text_key(FACE_WORDS, 20, "parcel", 6);
    assert_memory_equal(&again, &keys[0], sizeof again);
}

// ---- fonts that are not there ----

static void remove_folder(const char *folder) {
    char path[512];
    DIR *dir = opendir(folder);
    for (struct dirent *entry; (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path); // "." and ".." stay
    }
    closedir(dir);
    assert_int_equal(rmdir(folder), 0);
}

// Makes a font configuration with these folders, has it used, and opens a text.
static bool open_with_fonts(struct text **out, const char *folders, struct why *why) {
    char folder[] = "/tmp/test_text.XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/fonts.conf", folder);
    FILE *file = fopen(path, "w");
    fprintf(file,
            "<?xml version=\"1.0\"?><!DOCTYPE fontconfig SYSTEM \"fonts.dtd\"><fontconfig>%s"
            "<cachedir>%s</cachedir></fontconfig>",
            folders, folder);
    fclose(file);
    setenv("FONTCONFIG_FILE", path, 1);
    bool ok = text_create(out, why);
    unsetenv("FONTCONFIG_FILE");
    remove_folder(folder);
    return ok;
}

static void without_inter_dejavu_stands_in_and_it_is_said(void **state) {
    (void)state;
    struct text *other;
    struct why why = {0};
    if (access("/usr/share/fonts/truetype/dejavu", R_OK) != 0)
        skip();
    assert_true(open_with_fonts(&other, "<dir>/usr/share/fonts/truetype/dejavu</dir>", &why));
    assert_non_null(strstr(text_note(other), "Inter"));
    assert_non_null(strstr(text_note(other), "fonts-inter"));
    assert_int_equal(text_width_px(other, FACE_WORDS, 30, "parcel"),
                     text_width_px(text, FACE_TOKEN, 30, "parcel"));
    text_destroy(other);
}

static void without_any_font_the_places_searched_and_the_package_are_named(void **state) {
    (void)state;
    struct text *other;
    struct why why = {0};
    assert_false(open_with_fonts(&other, "<dir>/nonexistent</dir><dir>/empty/too</dir>", &why));
    assert_null(other);
    assert_non_null(strstr(why.text, "(/nonexistent, /empty/too)"));
    assert_non_null(strstr(why.text, "apt-get install fonts-dejavu-core"));
    assert_null(strchr(why.text, '\n'));

    // Of many places some are counted; the line still ends with what to do.
    char many[4096] = "";
    for (int i = 0; i < 40; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "<dir>/none/of/many/%d</dir>", i);
    assert_false(open_with_fonts(&other, many, &why));
    assert_non_null(strstr(why.text, "(/none/of/many/0, "));
    assert_non_null(strstr(why.text, ", +"));
    assert_non_null(strstr(why.text, "apt-get install fonts-dejavu-core fonts-inter"));
    assert_false(open_with_fonts(&other, "", &why));
    assert_non_null(strstr(why.text, "(-)"));
}

// Under an empty environment everything works and fontconfig keeps quiet.
static void an_empty_environment_prints_nothing(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        clearenv();
        struct text *other;
        struct why why;
        bool ok = text_create(&other, &why) && text_width_px(other, FACE_WORDS, 20, "a") > 0;
        _exit(ok ? 0 : 1);
    }
    close(ends[1]);
    char said[512];
    ssize_t count = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    said[count > 0 ? count : 0] = '\0';
    assert_string_equal(said, "");
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invisible_strings_have_no_width_and_no_image),
        cmocka_unit_test(control_characters_are_visible),
        cmocka_unit_test(what_is_measured_is_what_is_drawn),
        cmocka_unit_test(digits_are_of_equal_width),
        cmocka_unit_test(a_changing_digit_moves_nothing_else),
        cmocka_unit_test(ink_before_the_pen_stays_there),
        cmocka_unit_test(shaped_faces_are_kerned),
        cmocka_unit_test(the_baseline_stands_still_whatever_stands_beside),
        cmocka_unit_test(capitals_stand_on_the_baseline_as_high_as_told),
        cmocka_unit_test(a_character_missing_in_one_font_comes_from_another),
        cmocka_unit_test(what_no_font_has_is_a_box_with_its_number),
        cmocka_unit_test(the_number_in_a_box_is_read_at_every_size),
        cmocka_unit_test(every_sign_for_what_is_invisible_is_in_a_font),
        cmocka_unit_test(a_mark_takes_no_room_of_its_own),
        cmocka_unit_test(hebrew_runs_from_right_to_left),
        cmocka_unit_test(random_bytes_never_crash),
        cmocka_unit_test(a_huge_string_is_cut),
        cmocka_unit_test(sizes_and_faces_out_of_range_are_the_nearest),
        cmocka_unit_test(text_is_cut_to_the_width_it_may_have),
        cmocka_unit_test(spaces_before_the_ellipsis_go),
        cmocka_unit_test(a_small_buffer_is_never_overrun),
        cmocka_unit_test(more_strings_than_the_cache_holds_keep_their_widths),
        cmocka_unit_test(many_sizes_do_not_keep_their_files_open),
        cmocka_unit_test(keys_tell_strings_faces_and_sizes_apart),
        cmocka_unit_test(without_inter_dejavu_stands_in_and_it_is_said),
        cmocka_unit_test(without_any_font_the_places_searched_and_the_package_are_named),
        cmocka_unit_test(an_empty_environment_prints_nothing),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
