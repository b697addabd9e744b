// Coverage against a 64 x 64 times supersampled reference written from the shapes'
// definitions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/pixel/sprite.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 64, TOLERANCE = 3 };

// ---- the shapes, point by point, in the sprite's pixels ----

static bool in_disc(double x, double y, struct sprite_key key) {
    return hypot(x - key.a, y - key.a) <= key.a;
}

static bool in_ring(double x, double y, struct sprite_key key) {
    double r = hypot(x - key.a, y - key.a);
    return r <= key.a && r > key.a - key.b;
}

static bool in_stripes(double x, double y, struct sprite_key key) {
    double u = fmod(key.b ? y - x : x + y, 2.0 * key.a);
    return (u < 0 ? u + 2.0 * key.a : u) < key.a;
}

// The side of a drop of width 1 and height 1.35 is the cubic (0, 0) (0.13, 0.34)
// (0.5, 0.499) (0.5, 0.85), its belly a circle; depth is monotone along the cubic.
static double half_width(double depth) {
    if (depth <= 0 || depth >= 1.35)
        return 0;
    if (depth >= 0.85)
        return sqrt(0.25 - (depth - 0.85) * (depth - 0.85));
    double low = 0, high = 1;
    for (int i = 0; i < 40; i++) {
        double t = (low + high) / 2, s = 1 - t;
        double at = 3 * s * s * t * 0.34 + 3 * s * t * t * 0.499 + t * t * t * 0.85;
        *(at < depth ? &low : &high) = t;
    }
    double t = low, s = 1 - t;
    return 3 * s * s * t * 0.13 + 3 * s * t * t * 0.5 + t * t * t * 0.5;
}

static bool in_drop(double x, double y, struct sprite_key key) {
    // Samples go row by row: the half width of the last one is asked again.
    static double last_depth = -1, last_half;
    double depth = (y - key.c / 4.0) / key.b * 1.35;
    if (depth != last_depth)
        last_half = half_width(depth);
    last_depth = depth;
    return fabs(x / key.a - 0.5) <= last_half && last_half > 0;
}

static bool inside(double x, double y, struct sprite_key key) {
    switch ((enum sprite_kind)key.kind) {
    case SPRITE_DISC:
        return in_disc(x, y, key);
    case SPRITE_RING:
        return in_ring(x, y, key);
    case SPRITE_STRIPES:
        return in_stripes(x, y, key);
    case SPRITE_DROP:
        return in_drop(x, y, key);
    }
    return false;
}

static int sampled(int px, int py, struct sprite_key key) {
    int hits = 0;
    for (int j = 0; j < SAMPLES; j++)
        for (int i = 0; i < SAMPLES; i++)
            hits += inside(px + (i + 0.5) / SAMPLES, py + (j + 0.5) / SAMPLES, key);
    return (hits * 255 + SAMPLES * SAMPLES / 2) / (SAMPLES * SAMPLES);
}

static const struct sprite_key SHAPES[] = {
    {SPRITE_DISC, 1, 0, 0},    {SPRITE_DISC, 2, 0, 0},     {SPRITE_DISC, 3, 0, 0},
    {SPRITE_DISC, 7, 0, 0},    {SPRITE_DISC, 16, 0, 0},    {SPRITE_RING, 2, 1, 0},
    {SPRITE_RING, 6, 1, 0},    {SPRITE_RING, 8, 3, 0},     {SPRITE_RING, 14, 2, 0},
    {SPRITE_STRIPES, 1, 0, 0}, {SPRITE_STRIPES, 2, 1, 0},  {SPRITE_STRIPES, 5, 0, 0},
    {SPRITE_STRIPES, 7, 1, 0}, {SPRITE_STRIPES, 24, 0, 0}, {SPRITE_DROP, 1, 1, 0},
    {SPRITE_DROP, 3, 4, 1},    {SPRITE_DROP, 8, 11, 0},    {SPRITE_DROP, 9, 12, 2},
    {SPRITE_DROP, 16, 22, 3},  {SPRITE_DROP, 24, 32, 1},   {SPRITE_DROP, 20, 40, 0},
};

static void coverage_is_the_area_of_the_shape_in_each_pixel(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        int w, h;
        uint8_t *coverage = sprite_raster(&w, &h, SHAPES[i]);
        // A tile repeats: a corner of it and its last pixel say all.
        int columns = w < 50 ? w : 50, rows = h < 50 ? h : 50;
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < columns; x++) {
                int want = sampled(x, y, SHAPES[i]), got = coverage[y * w + x];
                if (abs(want - got) > TOLERANCE)
                    fail_msg("shape %d at %d, %d: %d, not %d", (int)i, x, y, got, want);
            }
        free(coverage);
    }
}

static void large_shapes_have_the_right_area(void **state) {
    (void)state;
    static const struct sprite_key keys[] = {{SPRITE_DISC, CMD_MAX_RADIUS_PX, 0, 0},
                                             {SPRITE_RING, CMD_MAX_RADIUS_PX, 24, 0},
                                             {SPRITE_DROP, 200, 270, 3},
                                             {SPRITE_DROP, CMD_MAX_DROP_PX, 691, 0}};
    for (int i = 0; i < 4; i++) {
        int w, h;
        uint8_t *coverage = sprite_raster(&w, &h, keys[i]);
        double sum = 0, area = 0;
        for (int p = 0; p < w * h; p++)
            sum += coverage[p] / 255.0;
        if (keys[i].kind == SPRITE_DROP)
            for (int line = 0; line < 20000; line++)
                area += 2 * half_width((line + 0.5) / 20000 * 1.35) * keys[i].a * keys[i].b / 20000;
        double r = keys[i].a, inner = keys[i].kind == SPRITE_RING ? r - keys[i].b : 0;
        if (keys[i].kind != SPRITE_DROP)
            area = acos(-1) * (r * r - inner * inner);
        if (fabs(sum - area) > area * 0.0005)
            fail_msg("shape %d: area %.1f, not %.1f", i, sum, area);
        free(coverage);
    }
}

static void round_shapes_are_symmetric(void **state) {
    (void)state;
    static const struct sprite_key keys[] = {{SPRITE_DISC, 13, 0, 0}, {SPRITE_RING, 13, 2, 0}};
    for (int i = 0; i < 2; i++) {
        int w, h;
        uint8_t *coverage = sprite_raster(&w, &h, keys[i]);
        assert_int_equal(w, 26);
        assert_int_equal(h, 26);
        for (int y = 0; y < 26; y++)
            for (int x = 0; x < 26; x++) {
                assert_int_equal(coverage[y * 26 + x], coverage[y * 26 + 25 - x]);
                assert_int_equal(coverage[y * 26 + x], coverage[(25 - y) * 26 + x]);
                assert_int_equal(coverage[y * 26 + x], coverage[x * 26 + y]);
            }
        free(coverage);
    }
}

static double centre_of_mass_y(struct sprite_key key) {
    int w, h;
    double sum = 0, moment = 0;
    uint8_t *coverage = sprite_raster(&w, &h, key);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            sum += coverage[y * w + x];
            moment += coverage[y * w + x] * (y + 0.5);
        }
    free(coverage);
    return moment / sum;
}

static void a_phase_moves_a_drop_down_by_a_quarter_pixel(void **state) {
    (void)state;
    for (uint16_t w = 4; w <= 60; w = (uint16_t)(w + 7)) {
        uint16_t h = (uint16_t)(w * 27 / 20);
        double first = centre_of_mass_y((struct sprite_key){SPRITE_DROP, w, h, 0});
        for (uint16_t phase = 1; phase < CMD_DROP_PHASES; phase++) {
            double moved = centre_of_mass_y((struct sprite_key){SPRITE_DROP, w, h, phase}) - first;
            if (fabs(moved - phase * 0.25) > 0.01)
                fail_msg("width %d phase %d: moved by %.3f", w, phase, moved);
        }
    }
}

static void stripes_repeat_at_the_edges_of_their_tile(void **state) {
    (void)state;
    for (uint16_t stroke = 1; stroke <= CMD_MAX_STROKE_PX; stroke++)
        for (uint16_t mirrored = 0; mirrored < 2; mirrored++) {
            int w, h, period = 2 * stroke;
            uint8_t *tile =
                sprite_raster(&w, &h, (struct sprite_key){SPRITE_STRIPES, stroke, mirrored, 0});
            assert_true(w >= SPRITE_STRIPES_MIN_WIDTH_PX && h >= SPRITE_STRIPES_MIN_HEIGHT_PX);
            assert_int_equal(w % period, 0);
            assert_int_equal(h % period, 0);
            int sum = 0;
            for (int x = 0; x < w; x++) {
                sum += tile[x];
                // One row on, the pattern has moved by one pixel, around the edge too.
                int from = mirrored ? (x + w - 1) % w : (x + 1) % w;
                assert_int_equal(tile[w + x], tile[from]);
            }
            assert_true(abs(sum - 255 * w / 2) <= w / 2); // half of it is striped
            free(tile);
        }
}

static void keys_out_of_range_give_no_sprite(void **state) {
    (void)state;
    static const struct sprite_key bad[] = {
        {SPRITE_DISC, 0, 0, 0},     {SPRITE_DISC, CMD_MAX_RADIUS_PX + 1, 0, 0},
        {SPRITE_RING, 5, 0, 0},     {SPRITE_RING, 5, 5, 0},
        {SPRITE_STRIPES, 0, 0, 0},  {SPRITE_STRIPES, CMD_MAX_STROKE_PX + 1, 0, 0},
        {SPRITE_STRIPES, 5, 2, 0},  {SPRITE_DROP, 0, 5, 0},
        {SPRITE_DROP, 5, 0, 0},     {SPRITE_DROP, CMD_MAX_DROP_PX + 1, 5, 0},
        {SPRITE_DROP, 5, 60000, 0}, {SPRITE_DROP, 5, 5, CMD_DROP_PHASES},
        {SPRITE_DROP + 1, 5, 5, 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int w = 1, h = 1;
        assert_null(sprite_raster(&w, &h, bad[i]));
        assert_true(w == 0 && h == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coverage_is_the_area_of_the_shape_in_each_pixel),
        cmocka_unit_test(large_shapes_have_the_right_area),
        cmocka_unit_test(round_shapes_are_symmetric),
        cmocka_unit_test(a_phase_moves_a_drop_down_by_a_quarter_pixel),
        cmocka_unit_test(stripes_repeat_at_the_edges_of_their_tile),
        cmocka_unit_test(keys_out_of_range_give_no_sprite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
