// Coverage against a 64 x 64 times supersampled reference written from the shapes'
// definitions, and the packing of sprites on pages.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/pixel/atlas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 64, TOLERANCE = 3 };

// ---- the shapes, point by point, in the sprite's pixels ----

static bool in_disc(double x, double y, struct atlas_key key) {
    return hypot(x - key.a, y - key.a) <= key.a;
}

static bool in_ring(double x, double y, struct atlas_key key) {
    double r = hypot(x - key.a, y - key.a);
    return r <= key.a && r > key.a - key.b;
}

static bool in_stripes(double x, double y, struct atlas_key key) {
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

static bool in_drop(double x, double y, struct atlas_key key) {
    // Samples go row by row: the half width of the last one is asked again.
    static double last_depth = -1, last_half;
    double depth = (y - key.c / 4.0) / key.b * 1.35;
    if (depth != last_depth)
        last_half = half_width(depth);
    last_depth = depth;
    return fabs(x / key.a - 0.5) <= last_half && last_half > 0;
}

static bool inside(double x, double y, struct atlas_key key) {
    switch ((enum atlas_kind)key.kind) {
    case ATLAS_DISC:
        return in_disc(x, y, key);
    case ATLAS_RING:
        return in_ring(x, y, key);
    case ATLAS_STRIPES:
        return in_stripes(x, y, key);
    case ATLAS_DROP:
        return in_drop(x, y, key);
    }
    return false;
}

static int sampled(int px, int py, struct atlas_key key) {
    int hits = 0;
    for (int j = 0; j < SAMPLES; j++)
        for (int i = 0; i < SAMPLES; i++)
            hits += inside(px + (i + 0.5) / SAMPLES, py + (j + 0.5) / SAMPLES, key);
    return (hits * 255 + SAMPLES * SAMPLES / 2) / (SAMPLES * SAMPLES);
}

static const struct atlas_key SHAPES[] = {
    {ATLAS_DISC, 1, 0, 0},    {ATLAS_DISC, 2, 0, 0},     {ATLAS_DISC, 3, 0, 0},
    {ATLAS_DISC, 7, 0, 0},    {ATLAS_DISC, 16, 0, 0},    {ATLAS_RING, 2, 1, 0},
    {ATLAS_RING, 6, 1, 0},    {ATLAS_RING, 8, 3, 0},     {ATLAS_RING, 14, 2, 0},
    {ATLAS_STRIPES, 1, 0, 0}, {ATLAS_STRIPES, 2, 1, 0},  {ATLAS_STRIPES, 5, 0, 0},
    {ATLAS_STRIPES, 7, 1, 0}, {ATLAS_STRIPES, 24, 0, 0}, {ATLAS_DROP, 1, 1, 0},
    {ATLAS_DROP, 3, 4, 1},    {ATLAS_DROP, 8, 11, 0},    {ATLAS_DROP, 9, 12, 2},
    {ATLAS_DROP, 16, 22, 3},  {ATLAS_DROP, 24, 32, 1},   {ATLAS_DROP, 20, 40, 0},
};

static void coverage_is_the_area_of_the_shape_in_each_pixel(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++) {
        int w, h;
        atlas_measure(&w, &h, SHAPES[i]);
        uint8_t *coverage = malloc((size_t)(w * h));
        atlas_rasterise(coverage, w, SHAPES[i]);
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
    static const struct atlas_key keys[] = {{ATLAS_DISC, CMD_MAX_RADIUS_PX, 0, 0},
                                            {ATLAS_RING, CMD_MAX_RADIUS_PX, 24, 0},
                                            {ATLAS_DROP, 200, 270, 3},
                                            {ATLAS_DROP, CMD_MAX_DROP_PX, 691, 0}};
    for (int i = 0; i < 4; i++) {
        int w, h;
        atlas_measure(&w, &h, keys[i]);
        uint8_t *coverage = malloc((size_t)(w * h));
        atlas_rasterise(coverage, w, keys[i]);
        double sum = 0, area = 0;
        for (int p = 0; p < w * h; p++)
            sum += coverage[p] / 255.0;
        if (keys[i].kind == ATLAS_DROP)
            for (int line = 0; line < 20000; line++)
                area += 2 * half_width((line + 0.5) / 20000 * 1.35) * keys[i].a * keys[i].b / 20000;
        double r = keys[i].a, inner = keys[i].kind == ATLAS_RING ? r - keys[i].b : 0;
        if (keys[i].kind != ATLAS_DROP)
            area = acos(-1) * (r * r - inner * inner);
        if (fabs(sum - area) > area * 0.0005)
            fail_msg("shape %d: area %.1f, not %.1f", i, sum, area);
        free(coverage);
    }
}

static void round_shapes_are_symmetric(void **state) {
    (void)state;
    uint8_t coverage[80 * 80];
    static const struct atlas_key keys[] = {{ATLAS_DISC, 13, 0, 0}, {ATLAS_RING, 13, 2, 0}};
    for (int i = 0; i < 2; i++) {
        atlas_rasterise(coverage, 80, keys[i]);
        for (int y = 0; y < 26; y++)
            for (int x = 0; x < 26; x++) {
                assert_int_equal(coverage[y * 80 + x], coverage[y * 80 + 25 - x]);
                assert_int_equal(coverage[y * 80 + x], coverage[(25 - y) * 80 + x]);
                assert_int_equal(coverage[y * 80 + x], coverage[x * 80 + y]);
            }
    }
}

static double centre_of_mass_y(struct atlas_key key) {
    static uint8_t coverage[64 * 100];
    double sum = 0, moment = 0;
    atlas_rasterise(coverage, 64, key);
    for (int y = 0; y < key.b + 1; y++)
        for (int x = 0; x < key.a; x++) {
            sum += coverage[y * 64 + x];
            moment += coverage[y * 64 + x] * (y + 0.5);
        }
    return moment / sum;
}

static void a_phase_moves_a_drop_down_by_a_quarter_pixel(void **state) {
    (void)state;
    for (uint16_t w = 4; w <= 60; w = (uint16_t)(w + 7)) {
        uint16_t h = (uint16_t)(w * 27 / 20);
        double first = centre_of_mass_y((struct atlas_key){ATLAS_DROP, w, h, 0});
        for (uint16_t phase = 1; phase < CMD_DROP_PHASES; phase++) {
            double moved = centre_of_mass_y((struct atlas_key){ATLAS_DROP, w, h, phase}) - first;
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
            atlas_measure(&w, &h, (struct atlas_key){ATLAS_STRIPES, stroke, mirrored, 0});
            assert_true(w >= ATLAS_STRIPES_MIN_WIDTH_PX && h >= ATLAS_STRIPES_MIN_HEIGHT_PX);
            assert_int_equal(w % period, 0);
            assert_int_equal(h % period, 0);
            uint8_t *tile = malloc((size_t)(w * h));
            atlas_rasterise(tile, w, (struct atlas_key){ATLAS_STRIPES, stroke, mirrored, 0});
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

// ---- pages ----

static struct atlas *new_atlas(void) {
    struct atlas *atlas;
    char why[256];
    assert_true(atlas_create(&atlas, why));
    return atlas;
}

static void assert_sprite_holds(const struct atlas *atlas, struct atlas_sprite sprite,
                                struct atlas_key key) {
    int w, h;
    atlas_measure(&w, &h, key);
    assert_int_equal(sprite.rect.w, w);
    assert_int_equal(sprite.rect.h, h);
    uint8_t *coverage = malloc((size_t)(w * h));
    atlas_rasterise(coverage, w, key);
    for (int y = 0; y < h; y++)
        assert_memory_equal(coverage + y * w,
                            atlas_page(atlas, sprite.page) + (sprite.rect.y + y) * ATLAS_PAGE_PX +
                                sprite.rect.x,
                            (size_t)w);
    free(coverage);
}

static struct atlas_key some_key(int i) {
    switch (i % 4) {
    case 0:
        return (struct atlas_key){ATLAS_DISC, (uint16_t)(1 + i / 4 % 96), 0, 0};
    case 1:
        return (struct atlas_key){ATLAS_RING, (uint16_t)(30 + i / 4 % 60), (uint16_t)(1 + i % 20),
                                  0};
    case 2:
        return (struct atlas_key){ATLAS_STRIPES, (uint16_t)(1 + i / 4 % 24), (uint16_t)(i / 4 % 2),
                                  0};
    default:
        return (struct atlas_key){ATLAS_DROP, (uint16_t)(1 + i / 4 % 80),
                                  (uint16_t)(2 + i / 4 % 110), (uint16_t)(i / 4 % 4)};
    }
}

static void the_same_key_is_made_once(void **state) {
    (void)state;
    struct atlas *atlas = new_atlas();
    struct atlas_key key = {ATLAS_DROP, 40, 54, 2};
    struct atlas_sprite first = atlas_find(atlas, key);
    atlas_find(atlas, (struct atlas_key){ATLAS_DROP, 40, 54, 3});
    struct atlas_sprite again = atlas_find(atlas, key);
    assert_memory_equal(&first, &again, sizeof first);
    assert_int_equal(atlas_sprite_count(atlas), 2);
    atlas_destroy(atlas);
}

static void sprites_keep_their_gutters(void **state) {
    (void)state;
    enum { COUNT = 400 };
    struct atlas *atlas = new_atlas();
    static uint8_t owner[ATLAS_MAX_PAGES][ATLAS_PAGE_PX * ATLAS_PAGE_PX];
    memset(owner, 0, sizeof owner);
    int before = 0;
    for (int i = 0; i < COUNT; i++) {
        struct atlas_sprite sprite = atlas_find(atlas, some_key(i));
        if (atlas_sprite_count(atlas) == before)
            continue; // seen already
        before = atlas_sprite_count(atlas);
        struct rect r = sprite.rect;
        assert_true(r.w > 0 && r.x >= ATLAS_GUTTER_PX && r.y >= ATLAS_GUTTER_PX);
        assert_true(r.x + r.w + ATLAS_GUTTER_PX <= ATLAS_PAGE_PX);
        assert_true(r.y + r.h + ATLAS_GUTTER_PX <= ATLAS_PAGE_PX);
        for (int y = r.y - 1; y < r.y + r.h + 1; y++)
            for (int x = r.x - 1; x < r.x + r.w + 1; x++)
                assert_int_equal(owner[sprite.page][y * ATLAS_PAGE_PX + x]++, 0);
    }
    assert_true(before > 200);
    for (int i = 0; i < COUNT; i++)
        assert_sprite_holds(atlas, atlas_find(atlas, some_key(i)), some_key(i));
    for (int page = 0; page < atlas_page_count(atlas); page++)
        for (int p = 0; p < ATLAS_PAGE_PX * ATLAS_PAGE_PX; p++)
            if (!owner[page][p] && atlas_page(atlas, page)[p])
                fail_msg("ink between the sprites");
    atlas_destroy(atlas);
}

static void a_full_atlas_begins_anew(void **state) {
    (void)state;
    struct atlas *atlas = new_atlas();
    int made = 0, was = 0, beginnings = 0;
    // Wide drops fill the pages within a few dozen sprites.
    for (int i = 0; i < 60; i++) {
        struct atlas_key key = {ATLAS_DROP, (uint16_t)(480 - i), 640, 0};
        struct atlas_sprite sprite = atlas_find(atlas, key);
        assert_sprite_holds(atlas, sprite, key);
        made = atlas_sprite_count(atlas);
        beginnings += made < was;
        was = made;
        assert_true(atlas_page_count(atlas) <= ATLAS_MAX_PAGES);
    }
    assert_true(beginnings >= 1);
    atlas_destroy(atlas);
}

static void more_small_sprites_than_slots_begin_anew_too(void **state) {
    (void)state;
    struct atlas *atlas = new_atlas();
    for (int i = 0; i < ATLAS_MAX_SPRITES + 10; i++) {
        struct atlas_key key = {ATLAS_DROP, (uint16_t)(1 + i % 8), (uint16_t)(1 + i / 32),
                                (uint16_t)(i / 8 % 4)};
        assert_true(atlas_find(atlas, key).rect.w > 0);
    }
    assert_int_equal(atlas_sprite_count(atlas), 10);
    atlas_destroy(atlas);
}

static void what_changed_is_told_once(void **state) {
    (void)state;
    struct atlas *atlas = new_atlas();
    atlas_find(atlas, (struct atlas_key){ATLAS_DISC, 10, 0, 0});
    assert_int_equal(atlas_take_dirty(atlas, 0).w, ATLAS_PAGE_PX); // a new page is all new
    assert_int_equal(atlas_take_dirty(atlas, 0).w, 0);
    struct rect a = atlas_find(atlas, (struct atlas_key){ATLAS_DISC, 8, 0, 0}).rect;
    struct rect b = atlas_find(atlas, (struct atlas_key){ATLAS_DROP, 40, 54, 0}).rect;
    struct rect dirty = atlas_take_dirty(atlas, 0);
    assert_true(dirty.x <= a.x && dirty.y <= a.y && dirty.x <= b.x && dirty.y <= b.y);
    assert_true(dirty.x + dirty.w >= a.x + a.w && dirty.y + dirty.h >= b.y + b.h);
    assert_true(dirty.w < ATLAS_PAGE_PX);
    atlas_touch(atlas);
    assert_int_equal(atlas_take_dirty(atlas, 0).h, ATLAS_PAGE_PX);
    atlas_destroy(atlas);
}

static void keys_out_of_range_give_no_sprite(void **state) {
    (void)state;
    static const struct atlas_key bad[] = {
        {ATLAS_DISC, 0, 0, 0},     {ATLAS_DISC, CMD_MAX_RADIUS_PX + 1, 0, 0},
        {ATLAS_RING, 5, 0, 0},     {ATLAS_RING, 5, 5, 0},
        {ATLAS_STRIPES, 0, 0, 0},  {ATLAS_STRIPES, CMD_MAX_STROKE_PX + 1, 0, 0},
        {ATLAS_STRIPES, 5, 2, 0},  {ATLAS_DROP, 0, 5, 0},
        {ATLAS_DROP, 5, 0, 0},     {ATLAS_DROP, CMD_MAX_DROP_PX + 1, 5, 0},
        {ATLAS_DROP, 5, 60000, 0}, {ATLAS_DROP, 5, 5, CMD_DROP_PHASES},
        {ATLAS_DROP + 1, 5, 5, 0},
    };
    struct atlas *atlas = new_atlas();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(atlas_find(atlas, bad[i]).rect.w, 0);
    assert_int_equal(atlas_sprite_count(atlas), 0);
    atlas_destroy(atlas);
    atlas_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coverage_is_the_area_of_the_shape_in_each_pixel),
        cmocka_unit_test(large_shapes_have_the_right_area),
        cmocka_unit_test(round_shapes_are_symmetric),
        cmocka_unit_test(a_phase_moves_a_drop_down_by_a_quarter_pixel),
        cmocka_unit_test(stripes_repeat_at_the_edges_of_their_tile),
        cmocka_unit_test(the_same_key_is_made_once),
        cmocka_unit_test(sprites_keep_their_gutters),
        cmocka_unit_test(a_full_atlas_begins_anew),
        cmocka_unit_test(more_small_sprites_than_slots_begin_anew_too),
        cmocka_unit_test(what_changed_is_told_once),
        cmocka_unit_test(keys_out_of_range_give_no_sprite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
