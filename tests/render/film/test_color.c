// The conversion to 4:2:0 against the formulas of BT.709 and BT.601 in double arithmetic.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/film/color.h"
#include "tests/render/film/sink_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct planes {
    struct color_planes planes;
    uint8_t *memory;
    int width_px, height_px;
};

enum { PAD = 5, UNTOUCHED = 0x5a }; // bytes behind each row that must stay

static struct planes convert(const struct picture *picture, enum color_matrix matrix) {
    int w = picture->width_px, h = picture->height_px;
    int y_pitch = w + PAD, c_pitch = w / 2 + PAD;
    size_t bytes = (size_t)(y_pitch * h + 2 * c_pitch * (h / 2));
    uint8_t *memory = malloc(bytes);
    assert_non_null(memory);
    memset(memory, UNTOUCHED, bytes);
    struct planes out = {
        .planes = {.y = memory,
                   .cb = memory + y_pitch * h,
                   .cr = memory + y_pitch * h + c_pitch * (h / 2),
                   .y_pitch_bytes = y_pitch,
                   .cb_pitch_bytes = c_pitch,
                   .cr_pitch_bytes = c_pitch},
        .memory = memory,
        .width_px = w,
        .height_px = h,
    };
    color_to_yuv420(&out.planes, matrix, picture->bgra, picture->pitch_bytes, w, h);
    return out;
}

static const uint8_t *pixel(const struct picture *picture, int x, int y) {
    if (x < 0)
        x = 0;
    return picture->bgra + (size_t)y * (size_t)picture->pitch_bytes + (size_t)x * 4;
}

// R, G, B in 0 .. 255 to Y, Cb, Cr in limited range, unrounded.
static void exact(double out[3], const double rgb[3], enum color_matrix matrix) {
    double red = matrix == COLOR_BT709 ? 0.2126 : 0.299;
    double blue = matrix == COLOR_BT709 ? 0.0722 : 0.114;
    double luma = red * rgb[0] + (1 - red - blue) * rgb[1] + blue * rgb[2];
    out[0] = 16 + luma * 219 / 255;
    out[1] = 128 + (rgb[2] - luma) / (2 - 2 * blue) * 224 / 255;
    out[2] = 128 + (rgb[0] - luma) / (2 - 2 * red) * 224 / 255;
}

static void exact_at(double out[3], const struct picture *picture, int x, int y,
                     enum color_matrix matrix) {
    const uint8_t *p = pixel(picture, x, y);
    exact(out, (double[3]){p[2], p[1], p[0]}, matrix);
}

// Left-sited chroma: 1-2-1 around an even column, the mean of two rows.
static void exact_chroma(double out[3], const struct picture *picture, int cx, int cy,
                         enum color_matrix matrix) {
    static const double weights[3] = {0.25, 0.5, 0.25};
    double rgb[3] = {0};
    for (int dy = 0; dy < 2; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            const uint8_t *p = pixel(picture, 2 * cx + dx, 2 * cy + dy);
            for (int c = 0; c < 3; c++)
                rgb[c] += p[2 - c] * weights[dx + 1] / 2;
        }
    }
    exact(out, rgb, matrix);
}

static void expect_near(uint8_t got, double want) {
    if (fabs(got - want) > 0.51) // the nearest value, but for ties
        fail_msg("sample is %d, exactly it is %.3f", got, want);
}

static void every_sample_is_the_nearest_to_the_exact_value(void **state) {
    (void)state;
    // 514 and 1030 cross the edge of a filter tile, 66 leaves a remainder of any vector.
    static const int sizes[][2] = {{64, 64}, {66, 70}, {514, 8}, {1030, 6}, {2, 2}};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        enum color_matrix matrix = i % 2 ? COLOR_BT601 : COLOR_BT709;
        struct picture picture = picture_make(sizes[i / 2][0], sizes[i / 2][1], 0);
        picture_noise(&picture, (uint32_t)i + 1);
        struct planes got = convert(&picture, matrix);
        double want[3];
        for (int y = 0; y < picture.height_px; y++) {
            for (int x = 0; x < picture.width_px; x++) {
                exact_at(want, &picture, x, y, matrix);
                expect_near(got.planes.y[y * got.planes.y_pitch_bytes + x], want[0]);
            }
        }
        for (int y = 0; y < picture.height_px / 2; y++) {
            for (int x = 0; x < picture.width_px / 2; x++) {
                exact_chroma(want, &picture, x, y, matrix);
                expect_near(got.planes.cb[y * got.planes.cb_pitch_bytes + x], want[1]);
                expect_near(got.planes.cr[y * got.planes.cr_pitch_bytes + x], want[2]);
            }
        }
        free(got.memory);
        free(picture.bgra);
    }
}

static void known_colors_have_their_published_codes(void **state) {
    (void)state;
    static const struct {
        uint32_t rgb;
        int y, cb, cr;
    } cases[] = {
        {0x000000, 16, 128, 128}, {0xffffff, 235, 128, 128}, {0xff0000, 63, 102, 240},
        {0x00ff00, 173, 42, 26},  {0x0000ff, 32, 240, 118},  {0xffff00, 219, 16, 138},
        {0x00ffff, 188, 154, 16}, {0xff00ff, 78, 214, 230},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct picture picture = picture_make(64, 64, cases[i].rgb);
        struct planes got = convert(&picture, COLOR_BT709);
        assert_int_equal(got.planes.y[0], cases[i].y);
        assert_int_equal(got.planes.cb[0], cases[i].cb);
        assert_int_equal(got.planes.cr[0], cases[i].cr);
        free(got.memory);
        free(picture.bgra);
    }
}

static void greys_carry_no_color(void **state) {
    (void)state;
    struct picture picture = picture_make(512, 64, 0);
    for (int grey = 0; grey < 256; grey++)
        picture_fill(&picture, (int[4]){2 * grey, 0, 2, 64}, (uint32_t)grey * 0x010101u);
    for (int matrix = COLOR_BT709; matrix <= COLOR_BT601; matrix++) {
        struct planes got = convert(&picture, (enum color_matrix)matrix);
        for (int grey = 0; grey < 256; grey++) {
            assert_int_equal(got.planes.cb[grey], 128);
            assert_int_equal(got.planes.cr[grey], 128);
            assert_int_equal(got.planes.y[2 * grey], lround(16 + grey * 219.0 / 255));
        }
        free(got.memory);
    }
    free(picture.bgra);
}

static void chroma_sits_on_the_left_pixel_of_its_pair(void **state) {
    (void)state;
    // A red column on x = 10 gives chroma 5 half of its weight and no other any; on
    // x = 11, chroma 5 and 6 share it.
    static const struct {
        int column;
        double share[3]; // of chroma 4, 5, 6
    } cases[] = {{10, {0, 0.5, 0}}, {11, {0, 0.25, 0.25}}};
    for (size_t i = 0; i < 2; i++) {
        struct picture picture = picture_make(64, 64, 0);
        picture_fill(&picture, (int[4]){cases[i].column, 0, 1, 64}, 0xff0000);
        struct planes got = convert(&picture, COLOR_BT709);
        for (int k = 0; k < 3; k++)
            assert_int_equal(got.planes.cr[4 + k], lround(128 + 112 * cases[i].share[k]));
        free(got.memory);
        free(picture.bgra);
    }
}

static void alpha_is_ignored_and_bytes_behind_the_rows_stay(void **state) {
    (void)state;
    struct picture picture = picture_make(70, 64, 0);
    picture_noise(&picture, 7);
    struct planes opaque = convert(&picture, COLOR_BT709);
    for (int y = 0; y < 64; y++) {
        uint8_t *row = picture.bgra + (size_t)y * (size_t)picture.pitch_bytes;
        for (int x = 0; x < 70; x++)
            row[4 * x + 3] = (uint8_t)(x * 3);
        memset(row + 70 * 4, 0xee, 12);
    }
    struct planes clear = convert(&picture, COLOR_BT709);
    size_t bytes = (size_t)((70 + PAD) * 64 + 2 * (35 + PAD) * 32);
    assert_memory_equal(opaque.memory, clear.memory, bytes);
    for (int y = 0; y < 64; y++) {
        for (int i = 0; i < PAD; i++)
            assert_int_equal(clear.planes.y[y * (70 + PAD) + 70 + i], UNTOUCHED);
    }
    for (int y = 0; y < 32; y++) {
        for (int i = 0; i < PAD; i++) {
            assert_int_equal(clear.planes.cb[y * (35 + PAD) + 35 + i], UNTOUCHED);
            assert_int_equal(clear.planes.cr[y * (35 + PAD) + 35 + i], UNTOUCHED);
        }
    }
    free(opaque.memory);
    free(clear.memory);
    free(picture.bgra);
}

static void rgb_rows_keep_every_bit(void **state) {
    (void)state;
    static const uint8_t bgra[8] = {1, 2, 3, 99, 4, 5, 6, 99};
    static const uint8_t want[6] = {3, 2, 1, 6, 5, 4};
    uint8_t got[7] = {[6] = UNTOUCHED};
    color_row_to_rgb24(got, bgra, 2);
    assert_memory_equal(got, want, 6);
    assert_int_equal(got[6], UNTOUCHED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sample_is_the_nearest_to_the_exact_value),
        cmocka_unit_test(known_colors_have_their_published_codes),
        cmocka_unit_test(greys_carry_no_color),
        cmocka_unit_test(chroma_sits_on_the_left_pixel_of_its_pair),
        cmocka_unit_test(alpha_is_ignored_and_bytes_behind_the_rows_stay),
        cmocka_unit_test(rgb_rows_keep_every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
