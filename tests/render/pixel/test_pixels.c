// Fills and masks on plain pixels against the formula in floating point.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/pixel/pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { W = 64, H = 12 };

static uint32_t words[W * H];
static const struct pixels target = {words, W, H, W};

static void clear(uint32_t pixel) {
    for (int i = 0; i < W * H; i++)
        words[i] = pixel;
}

static uint32_t grey(unsigned value) {
    return 0xFF000000u | value << 16 | value << 8 | value;
}

static void blending_rounds_to_the_nearest(void **state) {
    (void)state;
    for (unsigned over = 0; over < 256; over += 5)
        for (unsigned alpha = 1; alpha < 256; alpha++)
            for (unsigned under = 0; under < 256; under += 5) {
                words[0] = grey(under);
                pixels_fill(&target, (struct rect){0, 0, 1, 1},
                            over << 24 | over << 16 | over << 8 | alpha);
                double exact = (over * alpha + under * (255.0 - alpha)) / 255;
                if (words[0] != grey((unsigned)floor(exact + 0.5)))
                    fail_msg("%u at %u over %u: %08X", over, alpha, under, words[0]);
            }
}

static void a_colour_over_itself_stays_at_every_alpha(void **state) {
    (void)state;
    for (unsigned value = 0; value < 256; value++)
        for (unsigned alpha = 0; alpha < 256; alpha++) {
            words[0] = grey(value);
            pixels_fill(&target, (struct rect){0, 0, 1, 1},
                        value << 24 | value << 16 | value << 8 | alpha);
            assert_int_equal(words[0], grey(value));
        }
}

static void channels_do_not_mix(void **state) {
    (void)state;
    words[0] = 0xFF102030;
    pixels_fill(&target, (struct rect){0, 0, 1, 1}, 0xFF804080); // R FF, G 80, B 40, A 80
    assert_int_equal(words[0] >> 24, 0xFF);
    assert_int_equal(words[0] >> 16 & 0xFF, (0xFF * 128 + 0x10 * 127 + 127) / 255);
    assert_int_equal(words[0] >> 8 & 0xFF, (0x80 * 128 + 0x20 * 127 + 127) / 255);
    assert_int_equal(words[0] & 0xFF, (0x40 * 128 + 0x30 * 127 + 127) / 255);
}

static void a_fill_touches_its_rectangle_alone(void **state) {
    (void)state;
    static const rgba colors[] = {0x336699FF, 0x33669980};
    for (int c = 0; c < 2; c++) {
        const struct rect rect = {5, 3, 17, 4};
        clear(0xFFFFFFFF);
        pixels_fill(&target, rect, colors[c]);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                bool inside = x >= 5 && x < 22 && y >= 3 && y < 7;
                assert_int_equal(words[y * W + x] != 0xFFFFFFFF, inside);
            }
    }
}

// Masks of every width and start, so that the eight-at-once path meets all edges;
// long empty and full stretches, so that it is taken.
static void a_mask_equals_a_fill_of_each_pixel(void **state) {
    (void)state;
    static const rgba colors[] = {0x2CC295FF, 0x2CC29573};
    uint8_t mask[H * W];
    unsigned seed = 3;
    for (int round = 0; round < 600; round++) {
        for (int i = 0; i < H * W; i++) {
            int kind = (i / 11 + round) % 3;
            mask[i] = kind == 0 ? 0 : kind == 1 ? 255 : (uint8_t)rand_r(&seed);
        }
        rgba color = colors[round & 1];
        const struct rect rect = {round % 19, round % 3, 1 + round % 45, 1 + round % 8};
        uint32_t want[W * H];
        clear(0xFF203040);
        for (int y = 0; y < rect.h; y++)
            for (int x = 0; x < rect.w; x++) {
                unsigned alpha = ((color & 0xFF) * mask[y * W + x] + 127) / 255;
                pixels_fill(&target, (struct rect){rect.x + x, rect.y + y, 1, 1},
                            (color & ~0xFFu) | alpha);
            }
        memcpy(want, words, sizeof want);
        clear(0xFF203040);
        pixels_mask(&target, rect, mask, W, color);
        assert_memory_equal(words, want, sizeof want);
    }
}

static void empty_rectangles_do_nothing(void **state) {
    (void)state;
    static const struct rect empty[] = {{0, 0, 0, 0}, {3, 3, 0, 4}, {3, 3, 4, 0}, {9, 9, -3, 4}};
    uint8_t mask[16] = {255};
    clear(0xFF000000);
    for (int i = 0; i < 4; i++) {
        pixels_fill(&target, empty[i], 0xFFFFFFFF);
        pixels_mask(&target, empty[i], mask, 4, 0xFFFFFFFF);
    }
    for (int i = 0; i < W * H; i++)
        assert_int_equal(words[i], 0xFF000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blending_rounds_to_the_nearest),
        cmocka_unit_test(a_colour_over_itself_stays_at_every_alpha),
        cmocka_unit_test(channels_do_not_mix),
        cmocka_unit_test(a_fill_touches_its_rectangle_alone),
        cmocka_unit_test(a_mask_equals_a_fill_of_each_pixel),
        cmocka_unit_test(empty_rectangles_do_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
