// The choice of at most 255 colours: exact where it can be, close where it can't.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/film/palette.h"

#include <stdlib.h>
#include <string.h>

static struct palette *make(void) {
    struct palette *palette = NULL;
    assert_true(palette_create(&palette));
    return palette;
}

static void count_color(struct palette *palette, uint32_t rgb, int pixels) {
    const uint8_t one[3] = {(uint8_t)(rgb >> 16), (uint8_t)(rgb >> 8), (uint8_t)rgb};
    for (int i = 0; i < pixels; i++)
        palette_count(palette, one, 1);
}

// What a colour becomes.
static uint32_t through(const struct palette *palette, uint32_t rgb) {
    const uint8_t one[3] = {(uint8_t)(rgb >> 16), (uint8_t)(rgb >> 8), (uint8_t)rgb};
    uint8_t index;
    palette_map(palette, &index, one, 1);
    assert_in_range(index, 0, PALETTE_COLORS - 1);
    return palette_color(palette, index);
}

static int distance(uint32_t a, uint32_t b) {
    int worst = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        int d = abs((int)(a >> shift & 255) - (int)(b >> shift & 255));
        worst = d > worst ? d : worst;
    }
    return worst;
}

// A different colour for each k of 0 .. 255.
static uint32_t some_color(int k) {
    return (uint32_t)k * 0x010307u & 0xffffff;
}

static void few_colors_keep_their_values(void **state) {
    (void)state;
    static const int counts[] = {1, 2, 100, 254, 255};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct palette *palette = make();
        for (int k = 0; k < counts[i]; k++)
            count_color(palette, some_color(k), 1 + k % 3);
        assert_int_equal(palette_build(palette), counts[i]);
        for (int k = 0; k < counts[i]; k++)
            assert_int_equal(through(palette, some_color(k)), some_color(k));
        palette_destroy(palette);
    }
}

static void nothing_counted_gives_one_color(void **state) {
    (void)state;
    struct palette *palette = make();
    assert_int_equal(palette_build(palette), 1);
    assert_int_equal(palette_color(palette, 0), 0);
    assert_int_equal(through(palette, 0x123456), 0); // not counted: the nearest there is
    palette_destroy(palette);
}

static uint32_t blend(uint32_t a, uint32_t b, int alpha) {
    uint32_t out = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        int value =
            ((int)(a >> shift & 255) * (255 - alpha) + (int)(b >> shift & 255) * alpha) / 255;
        out = out << 8 | (uint32_t)value;
    }
    return out;
}

static const uint32_t theme[] = {0x0E1116, 0x161C24, 0xEAF0F6, 0x9DA9B7,
                                 0x56B4E9, 0xF0A830, 0x2CC295};
enum {
    THEME_COLORS = sizeof theme / sizeof theme[0],
    FLAT_PIXELS = 400, // little beside the blends: the mean alone would drift
};

// A drawing: large flat areas in the theme's colours, every blend between each two
// on the edges. About 5000 colours.
static struct palette *count_drawing(void) {
    struct palette *palette = make();
    uint8_t row[3 * FLAT_PIXELS];
    for (int i = 0; i < THEME_COLORS; i++) {
        for (int x = 0; x < FLAT_PIXELS; x++)
            memcpy(row + 3 * x,
                   (uint8_t[3]){(uint8_t)(theme[i] >> 16), (uint8_t)(theme[i] >> 8),
                                (uint8_t)theme[i]},
                   3);
        palette_count(palette, row, FLAT_PIXELS);
    }
    for (int i = 0; i < THEME_COLORS; i++) {
        for (int k = 0; k < i; k++) {
            for (int alpha = 1; alpha < 255; alpha++)
                count_color(palette, blend(theme[i], theme[k], alpha), 3);
        }
    }
    return palette;
}

static void flat_areas_stay_exact_and_edges_close_when_colors_abound(void **state) {
    (void)state;
    struct palette *palette = count_drawing();
    assert_in_range(palette_build(palette), 200, PALETTE_COLORS);
    for (int i = 0; i < THEME_COLORS; i++)
        assert_int_equal(through(palette, theme[i]), theme[i]);
    int worst = 0;
    double sum = 0, count = 0;
    for (int i = 0; i < THEME_COLORS; i++) {
        for (int k = 0; k < i; k++) {
            for (int alpha = 1; alpha < 255; alpha++, count++) {
                uint32_t rgb = blend(theme[i], theme[k], alpha);
                int d = distance(rgb, through(palette, rgb));
                worst = d > worst ? d : worst;
                sum += d;
            }
        }
    }
    if (worst > 12 || sum / count > 4)
        fail_msg("edge colours are off by %d at most, %.2f on average", worst, sum / count);
    palette_destroy(palette);
}

static void equal_input_gives_equal_palettes(void **state) {
    (void)state;
    struct palette *a = count_drawing(), *b = count_drawing();
    assert_int_equal(palette_build(a), palette_build(b));
    for (int i = 0; i < PALETTE_COLORS; i++)
        assert_int_equal(palette_color(a, i), palette_color(b, i));
    palette_destroy(a);
    palette_destroy(b);
}

static void more_colors_than_the_table_holds_are_merged(void **state) {
    (void)state;
    struct palette *palette = make();
    // 68^3 = 314,432 different colours: more than the table has slots.
    for (int r = 0; r < 68; r++) {
        for (int g = 0; g < 68; g++) {
            for (int b = 0; b < 68; b++)
                count_color(palette, (uint32_t)r << 16 | (uint32_t)g << 8 | (uint32_t)b, 1);
        }
    }
    assert_in_range(palette_build(palette), 200, PALETTE_COLORS);
    // 255 colours over 68^3: cells of about 11 a side; the coarse counting adds 4.
    for (uint32_t v = 0; v < 68; v += 3)
        assert_in_range(distance(v * 0x010101u, through(palette, v * 0x010101u)), 0, 14);
    palette_destroy(palette);
}

static void rows_map_pixel_by_pixel(void **state) {
    (void)state;
    struct palette *palette = make();
    static const uint8_t row[] = {9, 9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 9};
    palette_count(palette, row, 4);
    assert_int_equal(palette_build(palette), 2);
    uint8_t out[5] = {[4] = 0xee};
    palette_map(palette, out, row, 4);
    assert_int_equal(palette_color(palette, out[0]), 0x090909);
    assert_int_equal(out[1], out[0]);
    assert_int_equal(palette_color(palette, out[2]), 0x010203);
    assert_int_equal(out[3], out[0]);
    assert_int_equal(out[4], 0xee);
    palette_destroy(palette);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_colors_keep_their_values),
        cmocka_unit_test(nothing_counted_gives_one_color),
        cmocka_unit_test(flat_areas_stay_exact_and_edges_close_when_colors_abound),
        cmocka_unit_test(equal_input_gives_equal_palettes),
        cmocka_unit_test(more_colors_than_the_table_holds_are_merged),
        cmocka_unit_test(rows_map_pixel_by_pixel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
