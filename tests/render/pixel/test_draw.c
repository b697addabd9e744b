// Command lists to pixels: exact corners, no seams, nothing outside the clip, no
// coordinate too large.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "render/pixel/draw.h"
#include "render/pixel/masks.h"
#include "render/pixel/sprite.h"
#include "render/pixel/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { W = 320, H = 240 };

// Masks rasterised so far: every one goes into the cache.
static int rasterised;

const struct mask *__real_masks_keep(struct masks *masks, struct text_key key, struct mask fresh);
const struct mask *__wrap_masks_keep(struct masks *masks, struct text_key key, struct mask fresh);
const struct mask *__wrap_masks_keep(struct masks *masks, struct text_key key, struct mask fresh) {
    rasterised++;
    return __real_masks_keep(masks, key, fresh);
}

static struct text *text;
static struct draw *draw;
static struct cmdlist list;
static uint32_t words[W * H];
static const struct pixels target = {words, W, H, W};

static int open_all(void **state) {
    (void)state;
    struct why why;
    if (text_create(&text, &why) && draw_create(&draw, text, &why))
        return 0;
    print_error("%s\n", why.text);
    return -1;
}

static int close_all(void **state) {
    (void)state;
    draw_destroy(draw);
    text_destroy(text);
    return 0;
}

// Begins a list over a ground.
static void begin(rgba ground) {
    cmdlist_clear(&list);
    cmdlist_fill(&list, (struct rect){0, 0, W, H}, ground);
}

static void add_text(enum text_face face, int px, int x, int baseline, const char *utf8) {
    const struct cmd cmd = {.face = (uint8_t)face,
                            .stroke = (uint16_t)px,
                            .color = 0xFFFFFFFF,
                            .rect = {x, baseline, 0, 0}};
    cmdlist_text(&list, &cmd, utf8);
}

static void add_line(int x0, int y0, int x1, int y1, int stroke, bool is_continued, rgba color) {
    cmdlist_line(&list, &(struct cmd_line){x0, y0, x1, y1, stroke, is_continued}, color);
}

static uint32_t at(int x, int y) {
    return words[y * W + x];
}

static int count_not(uint32_t pixel) {
    int count = 0;
    for (int i = 0; i < W * H; i++)
        count += words[i] != pixel;
    return count;
}

// ---- shapes ----

static void a_fill_covers_its_rectangle_exactly(void **state) {
    (void)state;
    begin(0x000000FF);
    cmdlist_fill(&list, (struct rect){10, 20, 30, 40}, 0x2CC295FF);
    draw_list(draw, &target, &list);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            bool inside = x >= 10 && x < 40 && y >= 20 && y < 60;
            assert_int_equal(at(x, y), inside ? 0xFF2CC295 : 0xFF000000);
        }
}

// White at 50 % on black: 0x80 wherever the shape covers a pixel once, more where
// pieces overlap, less in a seam.
static void translucent_shapes_have_neither_seams_nor_overlaps(void **state) {
    (void)state;
    for (int w = 2; w < 60; w += 3)
        for (int radius = 0; radius <= 30; radius += 2) {
            struct rect rect = {7, 5, w, 70 - w};
            begin(0x000000FF);
            cmdlist_round(&list, rect, radius, 0xFFFFFF80);
            draw_list(draw, &target, &list);
            int r = list.cmds[1].radius;
            for (int y = 0; y < rect.h; y++)
                for (int x = 0; x < rect.w; x++) {
                    bool corner = (x < r || x >= w - r) && (y < r || y >= rect.h - r);
                    uint32_t pixel = at(7 + x, 5 + y);
                    if (!corner && pixel != 0xFF808080)
                        fail_msg("%d wide, radius %d: %08X at %d, %d", w, r, pixel, x, y);
                    assert_true((pixel & 0xFF) <= 0x80);
                }
            for (int y = 0; y < 90; y++) {
                assert_int_equal(at(6, y), 0xFF000000);
                assert_int_equal(at(7 + w, y), 0xFF000000);
            }
        }
}

static void corners_are_the_disc_to_the_pixel(void **state) {
    (void)state;
    static const int radii[] = {1, 2, 5, 12, 40};
    for (int i = 0; i < 5; i++) {
        int r = radii[i], w, h;
        uint8_t *disc = sprite_raster(&w, &h, (struct sprite_key){SPRITE_DISC, (uint16_t)r, 0, 0});
        begin(0x000000FF);
        cmdlist_round(&list, (struct rect){20, 30, 101, 97}, r, 0xFFFFFFFF);
        draw_list(draw, &target, &list);
        for (int y = 0; y < r; y++)
            for (int x = 0; x < r; x++) {
                assert_int_equal(at(20 + x, 30 + y) & 0xFF, disc[y * w + x]);
                assert_int_equal(at(120 - x, 30 + y) & 0xFF, disc[y * w + w - 1 - x]);
                assert_int_equal(at(20 + x, 126 - y) & 0xFF, disc[(h - 1 - y) * w + x]);
                assert_int_equal(at(120 - x, 126 - y) & 0xFF, disc[(h - 1 - y) * w + w - 1 - x]);
            }
        free(disc);
    }
}

// A ring and the shape inside it fill the outer shape: same edges, no gap.
static void a_ring_is_its_outer_shape_without_the_inner(void **state) {
    (void)state;
    static const struct {
        int radius, stroke;
    } cases[] = {{0, 1}, {0, 5}, {6, 1}, {6, 2}, {6, 5}, {6, 6}, {6, 9}, {20, 3}, {3, 24}};
    static uint32_t outer[W * H];
    for (int i = 0; i < 9; i++) {
        int s = cases[i].stroke, inner = cases[i].radius > s ? cases[i].radius - s : 0;
        struct rect rect = {20, 30, 101, 97};
        begin(0x000000FF);
        cmdlist_round(&list, rect, cases[i].radius, 0xFFFFFFFF);
        draw_list(draw, &target, &list);
        memcpy(outer, words, sizeof outer);
        begin(0x000000FF);
        cmdlist_ring(&list, rect, cases[i].radius, s, 0xFFFFFFFF);
        draw_list(draw, &target, &list);
        static uint32_t ring[W * H];
        memcpy(ring, words, sizeof ring);
        begin(0x000000FF);
        cmdlist_round(&list, (struct rect){rect.x + s, rect.y + s, rect.w - 2 * s, rect.h - 2 * s},
                      inner, 0xFFFFFFFF);
        draw_list(draw, &target, &list);
        for (int p = 0; p < W * H; p++) {
            int sum = (int)(ring[p] & 0xFF) + (int)(words[p] & 0xFF);
            if (abs(sum - (int)(outer[p] & 0xFF)) > 2)
                fail_msg("case %d at %d, %d: %d, not %d", i, p % W, p / W, sum,
                         (int)(outer[p] & 0xFF));
        }
    }
}

static void a_ring_as_thick_as_its_half_is_the_whole_shape(void **state) {
    (void)state;
    static uint32_t whole[W * H];
    struct rect rect = {20, 30, 40, 97};
    begin(0x000000FF);
    cmdlist_round(&list, rect, 9, 0xFFFFFFFF);
    draw_list(draw, &target, &list);
    memcpy(whole, words, sizeof whole);
    begin(0x000000FF);
    cmdlist_ring(&list, rect, 9, 20, 0xFFFFFFFF);
    draw_list(draw, &target, &list);
    assert_memory_equal(words, whole, sizeof whole);
}

static void a_translucent_ring_is_even(void **state) {
    (void)state;
    for (int stroke = 1; stroke <= 12; stroke++) {
        begin(0x000000FF);
        cmdlist_ring(&list, (struct rect){20, 30, 101, 97}, 8, stroke, 0xFFFFFF80);
        draw_list(draw, &target, &list);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                assert_true((at(x, y) & 0xFF) <= 0x80);
        for (int k = 0; k < stroke; k++)
            for (int x = 40; x < 100; x++) {
                assert_int_equal(at(x, 30 + k), 0xFF808080);
                assert_int_equal(at(x, 126 - k), 0xFF808080);
                assert_int_equal(at(20 + k, x), 0xFF808080);
                assert_int_equal(at(120 - k, x), 0xFF808080);
            }
        assert_int_equal(at(60, 30 + stroke), 0xFF000000);
    }
}

static void striped_neighbours_continue_each_other(void **state) {
    (void)state;
    static uint32_t whole[W * H];
    for (int stroke = 1; stroke <= 24; stroke += 3)
        for (int mirrored = 0; mirrored < 2; mirrored++) {
            begin(0x000000FF);
            cmdlist_stripes(&list, (struct rect){3, 5, 300, 200}, stroke, mirrored, 0xFFFFFFFF);
            draw_list(draw, &target, &list);
            memcpy(whole, words, sizeof whole);
            assert_true(count_not(0xFF000000) > 300 * 200 / 3);
            begin(0x000000FF);
            cmdlist_stripes(&list, (struct rect){3, 5, 101, 200}, stroke, mirrored, 0xFFFFFFFF);
            cmdlist_stripes(&list, (struct rect){104, 5, 199, 77}, stroke, mirrored, 0xFFFFFFFF);
            cmdlist_stripes(&list, (struct rect){104, 82, 199, 123}, stroke, mirrored, 0xFFFFFFFF);
            draw_list(draw, &target, &list);
            assert_memory_equal(words, whole, sizeof whole);
        }
}

static void stripes_lean_like_a_slash_or_when_mirrored_a_backslash(void **state) {
    (void)state;
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        begin(0x000000FF);
        cmdlist_stripes(&list, (struct rect){0, 0, W, H}, 8, mirrored, 0xFFFFFFFF);
        draw_list(draw, &target, &list);
        for (int y = 0; y + 1 < H; y++)
            for (int x = 1; x + 1 < W; x++)
                assert_int_equal(at(x, y), at(mirrored ? x + 1 : x - 1, y + 1));
        assert_int_not_equal(at(3, 0), at(11, 0)); // one stroke further: the other colour
    }
}

static void a_drop_has_its_tip_on_top_in_the_middle_of_its_rectangle(void **state) {
    (void)state;
    begin(0x000000FF);
    cmdlist_drop(&list, (struct rect){100, 50, 40, 54}, 0, 0xFFFFFFFF);
    draw_list(draw, &target, &list);
    int top = 0, widest = 0, widest_row = 0;
    for (int y = 0; y < H; y++) {
        int width = 0;
        for (int x = 0; x < W; x++) {
            if (at(x, y) != 0xFF000000) {
                assert_true(x >= 100 && x < 140 && y >= 50 && y < 104);
                width++;
                top = top ? top : y;
            }
            assert_int_equal(at(x, y), at(239 - x < 0 || 239 - x >= W ? x : 239 - x, y));
        }
        if (width > widest) {
            widest = width;
            widest_row = y;
        }
    }
    assert_int_equal(top, 50);
    assert_int_equal(widest, 40);
    assert_true(widest_row > 50 + 54 / 2);
}

// ---- clips and coordinates ----

static void nothing_is_drawn_outside_the_clip(void **state) {
    (void)state;
    begin(0x000000FF);
    cmdlist_clip(&list, (struct rect){50, 40, 33, 21});
    cmdlist_fill(&list, (struct rect){0, 0, 60, H}, 0xFFFFFFFF);
    cmdlist_round(&list, (struct rect){45, 35, 80, 80}, 9, 0xFF0000FF);
    cmdlist_ring(&list, (struct rect){20, 20, 60, 60}, 9, 3, 0x00FF00FF);
    cmdlist_stripes(&list, (struct rect){0, 0, W, H}, 4, false, 0x0000FF80);
    cmdlist_drop(&list, (struct rect){60, 30, 60, 81}, 1, 0x00FFFFFF);
    add_text(FACE_WORDS, 40, 20, 60, "clipped away");
    add_text(FACE_DIGITS, 40, 20, 60, "0123456789");
    add_line(0, 0, W * 16, H * 16, 90, false, 0xFFFFFFFF);
    draw_list(draw, &target, &list);
    int inside = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            bool in_clip = x >= 50 && x < 83 && y >= 40 && y < 61;
            if (!in_clip)
                assert_int_equal(at(x, y), 0xFF000000);
            inside += in_clip && at(x, y) != 0xFF000000;
        }
    assert_true(inside > 33 * 21 / 2);
}

static void a_clip_shows_what_would_be_there_without_it(void **state) {
    (void)state;
    static uint32_t whole[W * H];
    for (int pass = 0; pass < 2; pass++) {
        begin(0x0E1116FF);
        if (pass == 1)
            cmdlist_clip(&list, (struct rect){37, 29, 111, 83});
        cmdlist_round(&list, (struct rect){20, 20, 100, 80}, 17, 0x56B4E980);
        cmdlist_ring(&list, (struct rect){30, 25, 90, 70}, 12, 4, 0x2CC295FF);
        cmdlist_stripes(&list, (struct rect){60, 50, 80, 50}, 7, true, 0xF0A830FF);
        cmdlist_drop(&list, (struct rect){25, 26, 40, 54}, 2, 0xF0A830C0);
        add_text(FACE_WORDS, 30, 26, 100, "Where is my parcel?");
        add_text(FACE_MONO, 30, 26, 50, "Where is my parcel?");
        add_line(100, 100, 3000, 2000, 50, false, 0xEAF0F6C0);
        add_line(3000, 2000, 50, 1500, 50, true, 0xEAF0F6C0);
        draw_list(draw, &target, &list);
        if (pass == 0)
            memcpy(whole, words, sizeof whole);
    }
    for (int y = 29; y < 29 + 83; y++)
        assert_memory_equal(&words[y * W + 37], &whole[y * W + 37], 111 * 4);
}

static void clips_end_and_may_be_empty(void **state) {
    (void)state;
    static const struct rect nowhere[] = {
        {-50, 0, 50, 50}, {W, 0, 5, 5}, {5, 5, -1, 5}, {5, 5, 9, 0}};
    for (int i = 0; i < 4; i++) {
        begin(0x000000FF);
        cmdlist_clip(&list, nowhere[i]);
        cmdlist_fill(&list, (struct rect){0, 0, W, H}, 0xFFFFFFFF);
        add_text(FACE_WORDS, 40, 20, 60, "nothing");
        draw_list(draw, &target, &list);
        assert_int_equal(count_not(0xFF000000), 0);
        cmdlist_clip(&list, (struct rect){0});
        cmdlist_fill(&list, (struct rect){0, 0, W, H}, 0xFFFFFFFF);
        draw_list(draw, &target, &list);
        assert_int_equal(count_not(0xFFFFFFFF), 0);
    }
}

static long resident_kb(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void add_everything(struct rect rect) {
    cmdlist_fill(&list, rect, 0x112233FF);
    cmdlist_fill(&list, rect, 0x11223380);
    cmdlist_round(&list, rect, 90, 0x44556680);
    cmdlist_ring(&list, rect, 60, 20, 0x778899FF);
    cmdlist_ring(&list, rect, 5, 20, 0x778899FF);
    cmdlist_stripes(&list, rect, 9, false, 0xAABBCCFF);
    cmdlist_stripes(&list, rect, 9, true, 0xAABBCCFF);
    cmdlist_drop(&list, rect, 3, 0xDDEEFFFF);
    add_text(FACE_WORDS, 30, rect.x, rect.y, "far away");
    add_text(FACE_DIGITS, 30, rect.x, rect.y, "12345");
    add_line(rect.x, rect.y, rect.w, rect.h, 40, false, 0x998877FF);
    add_line(rect.x, rect.h, rect.w, rect.y, 40, true, 0x998877FF);
    cmdlist_clip(&list, rect);
}

static void huge_coordinates_cost_neither_memory_nor_a_crash(void **state) {
    (void)state;
    static const int places[] = {INT_MIN, -1000000000, -40000, -1, 0, 100, 1000000000, INT_MAX};
    static const int sizes[] = {1, 50, 70000, 1000000000, INT_MAX};
    begin(0x000000FF);
    add_everything((struct rect){0, 0, 900, 900});
    draw_list(draw, &target, &list);
    long before = resident_kb();
    for (int x = 0; x < 8; x++)
        for (int y = 0; y < 8; y++)
            for (int s = 0; s < 5; s++) {
                begin(0x000000FF);
                add_everything((struct rect){places[x], places[y], sizes[s], sizes[4 - s]});
                add_everything((struct rect){places[x], places[y], sizes[s], sizes[s]});
                draw_list(draw, &target, &list);
            }
    assert_true(resident_kb() - before < 40 * 1024);
}

// White at 50 %: a path that bends and crosses itself is nowhere drawn twice, whether
// its lines are long or in pieces.
static void translucent_lines_of_one_shape_have_neither_seams_nor_overlaps(void **state) {
    (void)state;
    static uint32_t whole[W * H];
    for (int pieces = 1; pieces <= 8; pieces *= 2) {
        begin(0x000000FF);
        static const int path[][2] = {{320, 320}, {4480, 2880}, {4480, 640}, {640, 3200}};
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < pieces; k++) {
                int dx = (path[i + 1][0] - path[i][0]) / pieces;
                int dy = (path[i + 1][1] - path[i][1]) / pieces;
                add_line(path[i][0] + k * dx, path[i][1] + k * dy, path[i][0] + (k + 1) * dx,
                         path[i][1] + (k + 1) * dy, 72, i + k > 0, 0xFFFFFF80);
            }
        draw_list(draw, &target, &list);
        int full = 0;
        for (int i = 0; i < W * H; i++) {
            assert_true((words[i] & 0xFF) <= 0x80);
            full += (words[i] & 0xFF) == 0x80;
            if (pieces > 1)
                assert_true(abs((int)(words[i] & 0xFF) - (int)(whole[i] & 0xFF)) <= 1);
        }
        assert_true(full > 2000);
        if (pieces == 1)
            memcpy(whole, words, sizeof whole);
    }
}

static void the_same_lines_are_rasterised_once_and_others_anew(void **state) {
    (void)state;
    for (int round = 0; round < 3; round++) {
        int before = rasterised;
        begin(0x000000FF);
        add_line(333, 444, 2222, 1111 + 16 * (round / 2), 37, false, 0xFFFFFFFF);
        add_line(333, 444, 2222, 1777, 37, true, 0xFFFFFFFF);
        draw_list(draw, &target, &list);
        assert_int_equal(rasterised - before, round != 1);
    }
}

static void a_shape_larger_than_the_target_covers_it(void **state) {
    (void)state;
    begin(0x000000FF);
    cmdlist_round(&list, (struct rect){-1000000000, -1000000000, 2000000000, 2000000000}, 50,
                  0x2CC295FF);
    draw_list(draw, &target, &list);
    assert_int_equal(count_not(0xFF2CC295), 0);
}

// ---- text ----

static void white_text_is_grey_and_ends_at_white(void **state) {
    (void)state;
    begin(0x000000FF);
    add_text(FACE_WORDS, 40, 10, 60, "Where is my parcel?");
    add_text(FACE_DIGITS, 40, 10, 110, "9.6 ms");
    draw_list(draw, &target, &list);
    int whites = 0;
    for (int i = 0; i < W * H; i++) {
        unsigned r = words[i] >> 16 & 0xFF, g = words[i] >> 8 & 0xFF, b = words[i] & 0xFF;
        assert_true(r == g && g == b);
        whites += r == 255;
    }
    assert_true(whites > 500);
}

static void text_stands_where_it_was_measured(void **state) {
    (void)state;
    static const enum text_face faces[] = {FACE_WORDS, FACE_MONO};
    for (int f = 0; f < 2; f++) {
        struct text_image image;
        const char *word = "Hamburg";
        assert_true(text_raster(text, &image, faces[f], 33, word, 7));
        begin(0x000000FF);
        add_text(faces[f], 33, 20, 100, word);
        draw_list(draw, &target, &list);
        int left = W, right = 0, top = H, bottom = 0;
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                if (at(x, y) != 0xFF000000) {
                    left = x < left ? x : left;
                    right = x > right ? x : right;
                    top = y < top ? y : top;
                    bottom = y > bottom ? y : bottom;
                }
        assert_int_equal(left, 20 + image.left_px);
        assert_int_equal(top, 100 + image.top_px);
        assert_int_equal(right - left + 1, image.width_px);
        assert_int_equal(bottom - top + 1, image.height_px);
    }
}

static void the_same_frame_rasterises_nothing_anew(void **state) {
    (void)state;
    char number[32];
    begin(0x000000FF);
    for (int i = 0; i < 100; i++) {
        snprintf(number, sizeof number, "token %d", i);
        add_text((enum text_face)(i % FACE_COUNT), 15, 5, 10 + i, number);
    }
    draw_list(draw, &target, &list);
    int before = rasterised;
    assert_true(before > 0);
    for (int frame = 0; frame < 300; frame++)
        draw_list(draw, &target, &list);
    assert_int_equal(rasterised, before);
}

static void counting_numbers_rasterise_ten_digits_only(void **state) {
    (void)state;
    char number[32];
    int before = rasterised;
    for (int frame = 0; frame < 3000; frame++) {
        snprintf(number, sizeof number, "%d", frame * 7919);
        begin(0x000000FF);
        add_text(FACE_DIGITS, 37, 5, 100, number);
        draw_list(draw, &target, &list);
    }
    assert_true(rasterised - before <= 10);
}

static void more_strings_than_the_cache_holds_are_still_right(void **state) {
    (void)state;
    static uint32_t first[W * H];
    char number[32];
    for (int pass = 0; pass < 2; pass++) {
        begin(0x000000FF);
        add_text(FACE_WORDS, 20, 5, 100, "kept or made anew");
        draw_list(draw, &target, &list);
        if (pass == 0)
            memcpy(first, words, sizeof first);
        for (int i = 0; pass == 0 && i < 9000; i++) {
            begin(0x000000FF);
            snprintf(number, sizeof number, "n%d", i);
            add_text(FACE_WORDS, 8, 5, 100, number);
            draw_list(draw, &target, &list);
        }
    }
    assert_memory_equal(words, first, sizeof first);
}

static void huge_texts_are_drawn_as_far_as_they_are_seen(void **state) {
    (void)state;
    static char huge[100001];
    memset(huge, 'm', sizeof huge - 1);
    begin(0x000000FF);
    add_text(FACE_WORDS, 30, 5, 60, huge);
    add_text(FACE_MONO, 30, 5, 120, huge);
    assert_int_equal(list.count, 3);
    draw_list(draw, &target, &list);
    for (int row = 45; row <= 105; row += 60) {
        int ink = 0;
        for (int x = W - 40; x < W; x++)
            for (int y = row; y < row + 16; y++)
                ink += at(x, y) != 0xFF000000;
        assert_true(ink > 30); // up to the right edge
    }
}

static void another_target_keeps_what_was_rasterised(void **state) {
    (void)state;
    static uint32_t other_words[100 * 80];
    const struct pixels other = {other_words, 100, 80, 100};
    begin(0x000000FF);
    add_text(FACE_WORDS, 20, 5, 50, "another target");
    draw_list(draw, &target, &list);
    int before = rasterised;
    draw_list(draw, &other, &list);
    for (int y = 0; y < 80; y++)
        assert_memory_equal(&other_words[y * 100], &words[y * W], 100 * 4);
    assert_int_equal(rasterised, before);
}

static void white_on_white_stays_white(void **state) {
    (void)state;
    begin(0xFFFFFFFF);
    add_text(FACE_WORDS, 30, 5, 60, "white on white");
    add_text(FACE_DIGITS, 30, 5, 90, "0123");
    cmdlist_drop(&list, (struct rect){60, 30, 60, 81}, 1, 0xFFFFFFFF);
    cmdlist_round(&list, (struct rect){9, 9, 80, 80}, 20, 0xFFFFFF80);
    cmdlist_stripes(&list, (struct rect){0, 0, W, H}, 5, false, 0xFFFFFF33);
    add_line(100, 100, 3000, 2000, 50, false, 0xFFFFFFFF);
    draw_list(draw, &target, &list);
    assert_int_equal(count_not(0xFFFFFFFF), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fill_covers_its_rectangle_exactly),
        cmocka_unit_test(translucent_shapes_have_neither_seams_nor_overlaps),
        cmocka_unit_test(corners_are_the_disc_to_the_pixel),
        cmocka_unit_test(a_ring_is_its_outer_shape_without_the_inner),
        cmocka_unit_test(a_ring_as_thick_as_its_half_is_the_whole_shape),
        cmocka_unit_test(a_translucent_ring_is_even),
        cmocka_unit_test(striped_neighbours_continue_each_other),
        cmocka_unit_test(stripes_lean_like_a_slash_or_when_mirrored_a_backslash),
        cmocka_unit_test(a_drop_has_its_tip_on_top_in_the_middle_of_its_rectangle),
        cmocka_unit_test(nothing_is_drawn_outside_the_clip),
        cmocka_unit_test(a_clip_shows_what_would_be_there_without_it),
        cmocka_unit_test(clips_end_and_may_be_empty),
        cmocka_unit_test(huge_coordinates_cost_neither_memory_nor_a_crash),
        cmocka_unit_test(translucent_lines_of_one_shape_have_neither_seams_nor_overlaps),
        cmocka_unit_test(the_same_lines_are_rasterised_once_and_others_anew),
        cmocka_unit_test(a_shape_larger_than_the_target_covers_it),
        cmocka_unit_test(white_text_is_grey_and_ends_at_white),
        cmocka_unit_test(text_stands_where_it_was_measured),
        cmocka_unit_test(the_same_frame_rasterises_nothing_anew),
        cmocka_unit_test(counting_numbers_rasterise_ten_digits_only),
        cmocka_unit_test(more_strings_than_the_cache_holds_are_still_right),
        cmocka_unit_test(huge_texts_are_drawn_as_far_as_they_are_seen),
        cmocka_unit_test(another_target_keeps_what_was_rasterised),
        cmocka_unit_test(white_on_white_stays_white),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
