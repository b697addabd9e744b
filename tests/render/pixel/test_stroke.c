// Lines to coverage: against a count of sample points, in pieces as whole, cut as
// whole, and to the sixteenth of a pixel where that can be said exactly.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/pixel/stroke.h"
#include "tests/render/render_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { W = 48, H = 40, SIDE = 24 };

static const struct rect AREA = {0, 0, W, H};

static struct cmd line(int x0, int y0, int x1, int y1, int stroke) {
    return (struct cmd){.kind = CMD_LINE,
                        .stroke = (uint16_t)stroke,
                        .rect = {x0, y0, x1 - x0, y1 - y0},
                        .color = 0xFFFFFFFF};
}

static void raster(uint8_t *out, const struct cmd *lines, int count, struct rect area) {
    uint8_t *coverage = stroke_raster(lines, count, area);
    assert_non_null(coverage);
    memcpy(out, coverage, (size_t)area.w * (size_t)area.h);
    free(coverage);
}

// Distance of a place from a line, all in 1/16 px.
static double distance(const struct cmd *l, double x, double y) {
    double dx = l->rect.w, dy = l->rect.h, square = dx * dx + dy * dy;
    double t = square > 0 ? ((x - l->rect.x) * dx + (y - l->rect.y) * dy) / square : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(x - l->rect.x - t * dx, y - l->rect.y - t * dy);
}

static double sampled(const struct cmd *lines, int count, int px, int py) {
    int inside = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        double x = (px + (i % SIDE + 0.5) / SIDE) * 16, y = (py + (i / SIDE + 0.5) / SIDE) * 16;
        bool is_in = false;
        for (int k = 0; k < count && !is_in; k++)
            is_in = distance(&lines[k], x, y) <= lines[k].stroke / 2.0;
        inside += is_in;
    }
    return 255.0 * inside / (SIDE * SIDE);
}

static struct cmd random_line(void) {
    return line(random_between(-100, W * 16 + 100), random_between(-100, H * 16 + 100),
                random_between(-100, W * 16 + 100), random_between(-100, H * 16 + 100),
                random_between(8, 160));
}

static void coverage_is_the_area_of_the_line_in_the_pixel(void **state) {
    (void)state;
    uint8_t got[W * H];
    for (int round = 0; round < 60; round++) {
        struct cmd one = random_line();
        if (round % 10 == 0)
            one.rect.w = one.rect.h = 0; // a dot
        raster(got, &one, 1, AREA);
        double off = 0;
        for (int i = 0; i < W * H; i++) {
            double want = sampled(&one, 1, i % W, i / W), d = fabs(got[i] - want);
            off += d;
            if (d > 10) // what that many samples can tell
                fail_msg("round %d at %d, %d: %d, not %.1f", round, i % W, i / W, got[i], want);
        }
        assert_true(off / (W * H) < 0.35);
    }
}

static void a_bend_is_filled_and_round(void **state) {
    (void)state;
    uint8_t got[W * H];
    for (int round = 0; round < 40; round++) {
        struct cmd path[2] = {random_line(), random_line()};
        path[1].stroke = path[0].stroke;
        path[1].rect.x = path[0].rect.x + path[0].rect.w;
        path[1].rect.y = path[0].rect.y + path[0].rect.h;
        raster(got, path, 2, AREA);
        for (int i = 0; i < W * H; i++) {
            double want = sampled(path, 2, i % W, i / W);
            // Where the edges of both lines pass through one pixel it may be fuller.
            if (got[i] < want - 10 || (want < 1 && got[i] > 3))
                fail_msg("round %d at %d, %d: %d, not %.1f", round, i % W, i / W, got[i], want);
        }
    }
}

static void a_line_in_pieces_is_the_whole_line(void **state) {
    (void)state;
    uint8_t whole[W * H], pieces[W * H];
    for (int round = 0; round < 200; round++) {
        int count = random_between(2, 8), dx = random_between(-60, 60);
        int dy = random_between(-60, 60), stroke = random_between(4, 100);
        int x = random_between(0, W * 16), y = random_between(0, H * 16);
        struct cmd path[8], one = line(x, y, x + count * dx, y + count * dy, stroke);
        if (dx == 0 && dy == 0)
            continue;
        for (int i = 0; i < count; i++)
            path[i] = line(x + i * dx, y + i * dy, x + (i + 1) * dx, y + (i + 1) * dy, stroke);
        raster(whole, &one, 1, AREA);
        raster(pieces, path, count, AREA);
        for (int i = 0; i < W * H; i++)
            if (abs(whole[i] - pieces[i]) > 1)
                fail_msg("round %d at %d, %d: %d, not %d", round, i % W, i / W, pieces[i],
                         whole[i]);
    }
}

static void an_area_cut_out_shows_the_same_bytes(void **state) {
    (void)state;
    uint8_t whole[W * H], part[W * H];
    for (int round = 0; round < 200; round++) {
        struct cmd path[3] = {random_line(), random_line(), random_line()};
        int x = random_between(0, W - 1), y = random_between(0, H - 1);
        struct rect area = {x, y, random_between(1, W - x), random_between(1, H - y)};
        path[1].rect.x = path[0].rect.x + path[0].rect.w;
        path[1].rect.y = path[0].rect.y + path[0].rect.h;
        raster(whole, path, 3, AREA);
        raster(part, path, 3, area);
        for (int row = 0; row < area.h; row++)
            assert_memory_equal(part + row * area.w, whole + (y + row) * W + x, (size_t)area.w);
    }
}

static void upright_edges_are_exact_to_the_sixteenth(void **state) {
    (void)state;
    uint8_t got[W * H];
    for (int shift = 0; shift < 16; shift++) {
        struct cmd one = line(-200, 10 * 16 + shift, W * 16 + 200, 10 * 16 + shift, 32);
        raster(got, &one, 1, AREA);
        for (int x = 0; x < W; x++) {
            assert_int_equal(got[8 * W + x], 0);
            assert_int_equal(got[9 * W + x], ((16 - shift) * 255 + 8) / 16);
            assert_int_equal(got[10 * W + x], 255);
            assert_int_equal(got[11 * W + x], (shift * 255 + 8) / 16);
            assert_int_equal(got[12 * W + x], 0);
        }
    }
}

static void nothing_lies_outside_the_bounds_and_they_are_tight(void **state) {
    (void)state;
    uint8_t got[W * H];
    for (int round = 0; round < 200; round++) {
        struct cmd path[2] = {random_line(), random_line()};
        struct rect in = stroke_bounds(path, 2);
        raster(got, path, 2, AREA);
        for (int i = 0; i < W * H; i++) {
            int x = i % W, y = i / W;
            bool inside = x >= in.x && x < in.x + in.w && y >= in.y && y < in.y + in.h;
            assert_true(inside || got[i] == 0);
        }
        struct cmd one = line(160, 160, 480, 320, 32);
        struct rect tight = stroke_bounds(&one, 1);
        assert_in_range(tight.x, 8, 9);
        assert_in_range(tight.x + tight.w, 31, 32);
    }
}

static void a_doubled_line_is_not_darker_where_it_is_full(void **state) {
    (void)state;
    uint8_t got[W * H];
    const struct cmd twice[2] = {line(160, 160, 480, 320, 64), line(160, 160, 480, 320, 64)};
    raster(got, twice, 2, AREA);
    assert_int_equal(got[15 * W + 20], 255);
    assert_int_equal(got[0], 0);
}

static void far_ends_change_nothing_near(void **state) {
    (void)state;
    uint8_t near_[W * H], far_[W * H];
    struct cmd one = line(-1600, -1600, 1600, 1600, 40);
    raster(near_, &one, 1, AREA);
    one = line(-(1 << 24), -(1 << 24), 1 << 24, 1 << 24, 40);
    raster(far_, &one, 1, AREA);
    for (int i = 0; i < W * H; i++)
        assert_true(abs(near_[i] - far_[i]) <= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coverage_is_the_area_of_the_line_in_the_pixel),
        cmocka_unit_test(a_bend_is_filled_and_round),
        cmocka_unit_test(a_line_in_pieces_is_the_whole_line),
        cmocka_unit_test(an_area_cut_out_shows_the_same_bytes),
        cmocka_unit_test(upright_edges_are_exact_to_the_sixteenth),
        cmocka_unit_test(nothing_lies_outside_the_bounds_and_they_are_tight),
        cmocka_unit_test(a_doubled_line_is_not_darker_where_it_is_full),
        cmocka_unit_test(far_ends_change_nothing_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
