// The layout over thousands of random sizes and runs: everything inside the
// target, nothing on top of anything else, columns and rows without hole or
// overlap, no text below the floor.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/paint/layout.h"
#include "tests/render/render_fixture.h"

#include <stdio.h>
#include <string.h>

static const int SIZES[][2] = {
    {640, 480},   {800, 600},   {1024, 768}, {1280, 720},  {1280, 800},  {1366, 768},
    {1920, 1080}, {1920, 1200}, {2560, 720}, {2560, 1440}, {3840, 2160}, {1080, 1920},
    {3440, 1440}, {640, 2160},  {3840, 480}, {1000, 1000}, {7680, 4320},
};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0], ROUNDS = 20000 };

static struct layout_input random_input(void) {
    struct layout_input in = {0};
    if (random_between(0, 2) > 0) {
        const int *size = SIZES[random_between(0, SIZE_COUNT - 1)];
        in.width_px = size[0];
        in.height_px = size[1];
    } else {
        in.width_px = random_between(640, 3840);
        in.height_px = random_between(480, 2160);
    }
    in.text_step = random_between(0, 3) ? 0 : random_between(-4, 8);
    in.mode = (enum layout_mode)random_between(LAYOUT_STAGE, LAYOUT_FILM);
    in.layers = random_between(0, 1) ? random_between(1, 12) : random_between(1, 160);
    in.prompt_tokens = random_between(0, 1) ? random_between(1, 40) : random_between(1, 1024);
    in.answer_limit = random_between(0, 1) ? random_between(1, 20) : random_between(1, 256);
    in.columns = in.prompt_tokens + in.answer_limit - 1;
    in.readouts = random_between(0, LAYOUT_MAX_READOUTS);
    in.has_panel = random_between(0, 2) == 0;
    in.has_guess = random_between(0, 3) == 0;
    return in;
}

struct named {
    const char *name;
    struct rect rect;
};

// Every rectangle of a layout that is there to be filled.
static int list_rects(const struct layout *l, struct named out[40]) {
    int n = 0;
    out[n++] = (struct named){"title", l->title};
    for (int i = 0; i < 4 && l->pills[i].w > 0; i++)
        out[n++] = (struct named){"pill", l->pills[i]};
    out[n++] = (struct named){"origin", l->origin};
    out[n++] = (struct named){"rate", l->rate};
    out[n++] = (struct named){"caption", l->caption};
    out[n++] = (struct named){"header", l->header};
    out[n++] = (struct named){"labels", l->labels};
    out[n++] = (struct named){"grid", l->grid};
    out[n++] = (struct named){"output", l->output};
    out[n++] = (struct named){"output label", l->output_label};
    out[n++] = (struct named){"drip", l->drip};
    out[n++] = (struct named){"answer label", l->answer_label};
    out[n++] = (struct named){"answer", l->answer};
    if (l->input.has_panel)
        out[n++] = (struct named){"panel", l->panel};
    if (l->input.has_guess)
        out[n++] = (struct named){"guess", l->guess};
    out[n++] = (struct named){"clock", l->clock};
    out[n++] = (struct named){"clock labels", l->clock_labels};
    for (int i = 0; i < l->readout_count; i++)
        out[n++] = (struct named){"readout", l->readouts[i]};
    if (l->footer.h > 0)
        out[n++] = (struct named){"footer", l->footer};
    return n;
}

static void say(char out[200], const struct layout_input *in) {
    snprintf(out, 200, "%dx%d step %d mode %d L %d P %d C %d N %d R %d panel %d guess %d",
             in->width_px, in->height_px, in->text_step, (int)in->mode, in->layers,
             in->prompt_tokens, in->columns, in->answer_limit, in->readouts, in->has_panel,
             in->has_guess);
}

static void everything_is_inside_the_target_and_apart(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct layout_input in = random_input();
        struct layout l;
        struct named rects[40];
        char what[200];
        assert_true(layout_make(&l, &in));
        int count = list_rects(&l, rects);
        say(what, &in);
        for (int i = 0; i < count; i++) {
            struct rect r = rects[i].rect;
            // The grid and its header reach past the margin by the last cell's gap.
            int slack = r.x == l.grid.x && r.w == l.grid.w ? l.answer_gap_px + l.prompt_gap_px : 0;
            if (r.w <= 0 || r.h <= 0 || r.x < l.margin_px ||
                r.x + r.w > in.width_px - l.margin_px + slack || r.y < 0 ||
                r.y + r.h > in.height_px)
                fail_msg("%s: %s is %d,%d %dx%d", what, rects[i].name, r.x, r.y, r.w, r.h);
            for (int k = 0; k < i; k++)
                if (overlap(r, rects[k].rect))
                    fail_msg("%s: %s on %s", what, rects[i].name, rects[k].name);
        }
    }
}

static void a_show_keeps_a_margin_of_5_percent(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS / 4; round++) {
        struct layout_input in = random_input();
        struct layout l;
        struct named rects[40];
        if (round % 2 == 0)
            in.mode = LAYOUT_SHOW;
        in.is_presented = round % 2 == 1; // in any mode
        layout_make(&l, &in);
        int count = list_rects(&l, rects);
        assert_true(l.margin_px >= in.width_px / 20);
        for (int i = 0; i < count; i++) {
            assert_true(rects[i].rect.y >= in.height_px / 20);
            assert_true(rects[i].rect.y + rects[i].rect.h <= in.height_px - in.height_px / 20);
        }
        if (in.mode != LAYOUT_SHOW)
            continue;
        assert_int_equal(l.pills[0].w, 0);
        assert_int_equal(l.footer.h, 0);
    }
}

static void columns_and_rows_tile_the_grid_exactly(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS / 10; round++) {
        struct layout_input in = random_input();
        struct layout l;
        layout_make(&l, &in);
        assert_int_equal(layout_column_x(&l, 0), l.grid.x);
        assert_int_equal(layout_column_x(&l, in.columns), l.grid.x + l.grid.w);
        assert_int_equal(layout_column_x(&l, in.prompt_tokens), l.grid.x + l.prompt_width_px);
        for (int i = 0; i < in.columns; i++) {
            int w = layout_column_x(&l, i + 1) - layout_column_x(&l, i);
            assert_true(w >= 0);
            struct rect cell = layout_cell(&l, i, 0);
            assert_true(cell.w >= 0 && cell.w <= w);
        }
        assert_int_equal(layout_layer_y(&l, 0), l.grid.y);
        assert_int_equal(layout_layer_y(&l, in.layers), l.grid.y + l.grid.h);
        for (int i = 0; i < in.layers; i++)
            assert_int_equal(layout_layer_y(&l, i + 1) - layout_layer_y(&l, i), l.row_px);
        assert_true(l.row_px >= 1);
    }
}

static void columns_of_one_part_are_equal_to_a_pixel(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS / 10; round++) {
        struct layout_input in = random_input();
        struct layout l;
        layout_make(&l, &in);
        int low = 1 << 20, high = 0;
        for (int i = 0; i < in.columns; i++) {
            int w = layout_column_x(&l, i + 1) - layout_column_x(&l, i);
            if (i == in.prompt_tokens) {
                assert_true(high - low <= 1);
                low = 1 << 20, high = 0;
            }
            low = w < low ? w : low;
            high = w > high ? w : high;
        }
        assert_true(high - low <= 1);
    }
}

// The prompt gives way to the answer, never the other way round, and columns stay
// equal while all of them can be read.
static void answer_columns_are_never_narrower_than_the_prompts(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS / 4; round++) {
        struct layout_input in = random_input();
        struct layout l;
        layout_make(&l, &in);
        int answers = in.columns - in.prompt_tokens;
        if (answers == 0)
            continue;
        int64_t prompt_w = l.prompt_width_px, answer_w = l.grid.w - prompt_w;
        assert_true(answer_w * in.prompt_tokens + in.prompt_tokens * (int64_t)answers >=
                    prompt_w * answers);
        if (l.headers == HEADERS_TEXT)
            assert_true(answer_w * in.prompt_tokens <=
                        prompt_w * answers + (int64_t)in.columns * in.columns);
        assert_true(l.answer_headers <= l.headers);
    }
}

static void text_keeps_its_share_of_the_picture(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct layout_input in = random_input();
        struct layout l;
        layout_make(&l, &in);
        int reference = in.width_px * 3 / 4 < in.height_px ? in.width_px * 3 / 4 : in.height_px;
        const int sizes[] = {l.small_px, l.label_px, l.body_px,   l.matter_px, l.title_px,
                             l.value_px, l.token_px, l.answer_px, l.floor_px};
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            assert_true(sizes[i] >= l.floor_px);
        int shorter = in.width_px < in.height_px ? in.width_px : in.height_px;
        assert_true(l.floor_px * 50 >= shorter && l.header_floor_px * 50 >= reference);
        if (l.input.text_step < 0)
            continue;
        // 1/45 for everything, 1/36 for what matters; rounding to whole pixels.
        assert_true((l.small_px + 1) * 45 >= reference && (l.body_px + 1) * 45 >= reference);
        assert_true((l.matter_px + 1) * 36 >= reference && (l.title_px + 1) * 36 >= reference);
        assert_true((l.value_px + 1) * 36 >= reference && (l.answer_px + 1) * 36 >= reference);
        assert_true(l.matter_px >= l.label_px);
    }
}

static void the_default_picture_keeps_its_text_size_at_every_size(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        for (int mode = 0; mode < 2; mode++) {
            struct layout_input in = {.width_px = SIZES[i][0],
                                      .height_px = SIZES[i][1],
                                      .mode = (enum layout_mode)mode,
                                      .layers = 8,
                                      .prompt_tokens = 18,
                                      .columns = 24,
                                      .answer_limit = 7,
                                      .readouts = 6};
            struct layout l;
            assert_true(layout_make(&l, &in));
            assert_int_equal(l.input.text_step, 0);
            assert_int_not_equal(l.headers, HEADERS_NEWEST);
            // Every layer is named, but in the largest type on the smallest window.
            if (SIZES[i][1] > 480 || mode == 0)
                assert_int_equal(l.label_every, 1);
        }
    }
}

static void text_that_would_starve_the_grid_is_made_smaller(void **state) {
    (void)state;
    struct layout_input in = {.width_px = 1024,
                              .height_px = 768,
                              .text_step = 8,
                              .layers = 8,
                              .prompt_tokens = 18,
                              .columns = 24,
                              .answer_limit = 7,
                              .readouts = 6};
    struct layout large, normal;
    layout_make(&large, &in);
    in.text_step = 0;
    layout_make(&normal, &in);
    assert_in_range(large.input.text_step, 1, 7);
    assert_true(large.body_px > normal.body_px);
    assert_true(large.grid.h * 100 >= 768 * 12);
}

static void few_cells_are_not_blown_up(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        struct layout_input in = {.width_px = SIZES[i][0],
                                  .height_px = SIZES[i][1],
                                  .layers = 1,
                                  .prompt_tokens = 1,
                                  .columns = 1,
                                  .answer_limit = 1,
                                  .readouts = 6};
        struct layout l;
        layout_make(&l, &in);
        assert_true(l.row_px <= 21 * l.unit_px);
        assert_true(l.grid.w <= 14 * l.unit_px);
    }
}

static void layer_labels_do_not_touch(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS / 4; round++) {
        struct layout_input in = random_input();
        struct layout l;
        layout_make(&l, &in);
        int line = l.label_every == 1 ? l.floor_px * 5 / 4 : l.small_px * 5 / 4;
        assert_true(l.label_every * l.row_px >= line);
        assert_true(l.label_every == 1 || l.label_every % 4 == 0);
    }
}

static void rows_thinner_than_3_px_have_no_gap(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS / 4; round++) {
        struct layout_input in = random_input();
        struct layout l;
        layout_make(&l, &in);
        if (l.row_px < 3)
            assert_int_equal(l.row_gap_px, 0);
        assert_true(l.row_gap_px * 4 <= l.row_px);
        if (l.row_px >= 8)
            assert_true(l.row_gap_px >= 1);
    }
}

static void equal_inputs_give_equal_layouts(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS / 20; round++) {
        struct layout_input in = random_input();
        struct layout a, b;
        memset(&a, 0, sizeof a);
        memset(&b, 0xEE, sizeof b);
        layout_make(&a, &in);
        layout_make(&b, &in);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void a_target_that_is_too_small_is_refused_with_a_layout_for_the_least(void **state) {
    (void)state;
    struct layout_input in = {.width_px = 639,
                              .height_px = 480,
                              .layers = 8,
                              .prompt_tokens = 18,
                              .columns = 24,
                              .answer_limit = 7,
                              .readouts = 6};
    struct layout l, least;
    assert_false(layout_make(&l, &in));
    in.width_px = 640;
    assert_true(layout_make(&least, &in));
    assert_memory_equal(&l, &least, sizeof l);
    in.height_px = 0;
    assert_false(layout_make(&l, &in));
    assert_memory_equal(&l, &least, sizeof l);
}

static void numbers_out_of_range_are_brought_into_it(void **state) {
    (void)state;
    struct layout_input in = {.width_px = 1920,
                              .height_px = 1080,
                              .text_step = 99,
                              .mode = (enum layout_mode)7,
                              .layers = 0,
                              .prompt_tokens = -3,
                              .columns = 0,
                              .answer_limit = -1,
                              .readouts = 100};
    struct layout l;
    assert_true(layout_make(&l, &in));
    assert_int_equal(l.input.layers, 1);
    assert_int_equal(l.input.prompt_tokens, 1);
    assert_int_equal(l.input.columns, 1);
    assert_int_equal(l.input.readouts, LAYOUT_MAX_READOUTS);
    assert_int_equal(l.input.mode, LAYOUT_STAGE);
    in.layers = in.prompt_tokens = in.columns = in.answer_limit = 2000000000;
    assert_true(layout_make(&l, &in));
    assert_int_equal(layout_column_x(&l, 2000000000), l.grid.x + l.grid.w);
}

// Average tiles are wider than one would think: one line for them all hides the first.
static void an_answer_of_24_tokens_has_room_for_all_of_it(void **state) {
    (void)state;
    static const int sizes[][2] = {{1024, 768}, {1280, 720}, {1920, 1080}, {3840, 2160}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct layout_input in = {
            .width_px = sizes[i][0],
            .height_px = sizes[i][1],
            .mode = LAYOUT_STAGE,
            .layers = 8,
            .prompt_tokens = 18,
            .columns = 41,
            .answer_limit = 24,
            .readouts = 6,
        };
        struct layout l;
        assert_true(layout_make(&l, &in));
        assert_true(l.answer_lines >= 2);
    }
}

// A tall picture has width to make up for: up to eight lines, where a wide one stops
// at three however long the answer is. As many as the answer needs at 4.8 em a token.
static void a_tall_picture_has_a_line_for_all_the_answer_needs(void **state) {
    (void)state;
    static const struct {
        int width_px, height_px, answer_limit, lines;
    } rows[] = {
        {1080, 1920, 7, 1},  {1080, 1920, 24, 4},  {1080, 1920, 32, 5}, {1080, 1920, 48, 7},
        {1080, 1920, 64, 8}, {1080, 1920, 200, 8}, {640, 2160, 48, 7},  {2160, 3840, 32, 5},
        {1080, 1081, 48, 7}, {1000, 1000, 48, 3},  {1920, 1080, 48, 3}, {1920, 1080, 200, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct layout_input in = {
            .width_px = rows[i].width_px,
            .height_px = rows[i].height_px,
            .layers = 8,
            .prompt_tokens = 18,
            .columns = 17 + rows[i].answer_limit,
            .answer_limit = rows[i].answer_limit,
            .readouts = 6,
        };
        struct layout l;
        assert_true(layout_make(&l, &in));
        assert_int_equal(l.answer_lines, rows[i].lines);
        assert_int_equal(l.answer.h, l.answer_lines * l.answer_line_px);
        // None is there for nothing, and all the answer fits unless there are eight.
        int64_t need = (int64_t)rows[i].answer_limit * (l.answer_px * 48 / 10);
        if (in.height_px <= in.width_px)
            continue;
        assert_true((l.answer_lines - 1) * (int64_t)l.answer.w < need);
        assert_true(l.answer_lines * (int64_t)l.answer.w >= need ||
                    l.answer_lines == LAYOUT_MAX_LINES);
    }
}

// Lines of 26 to 36 characters, as high as the stage; about a quarter of a wide window,
// a third of one narrower than 3:2.
static void a_panel_is_as_wide_as_its_text_needs(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS / 4; round++) {
        struct layout_input in = random_input();
        struct layout l;
        in.has_panel = true;
        layout_make(&l, &in);
        int text_px = l.panel.w - 2 * layout_panel_pad_px(&l);
        assert_true(text_px * 100 + 100 >= 26 * 53 * l.floor_px);
        assert_true((text_px - 1) * 100 <= 36 * 53 * l.body_px ||
                    text_px * 100 <= 27 * 53 * l.floor_px);
        bool is_wide = in.width_px * 16 >= in.height_px * 27;
        assert_in_range(l.panel.w * 1000 / in.width_px, 1, is_wide ? 292 : 322);
        if (in.width_px * 2 <= in.height_px * 3)
            assert_true(l.panel.w * 1000 >= 319 * in.width_px ||
                        text_px * 100 >= 35 * 53 * l.body_px);
        assert_int_equal(l.panel.x + l.panel.w, in.width_px - l.margin_px);
        assert_int_equal(l.panel.y, l.caption.y);
        assert_int_equal(l.panel.y + l.panel.h, l.answer.y + l.answer.h);
        assert_true(l.panel.h > l.grid.h);
        // Clock, read-outs and hints keep the full width.
        assert_int_equal(l.clock_bar.w, in.width_px - 2 * l.margin_px);
        if (l.footer.h > 0)
            assert_int_equal(l.footer.w, l.clock_bar.w);
    }
}

static void without_a_panel_and_a_guess_there_is_no_place_for_them(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS / 20; round++) {
        struct layout_input in = random_input();
        struct layout l;
        in.has_panel = in.has_guess = false;
        layout_make(&l, &in);
        assert_true(l.panel.w == 0 && l.panel.h == 0 && l.guess.w == 0 && l.guess.h == 0);
        assert_int_equal(l.caption.w, in.width_px - 2 * l.margin_px);
    }
}

// The prompt of the lesson beside its explanation: every token has its header and every
// layer its label.
static void a_small_grid_stays_readable_beside_the_panel(void **state) {
    (void)state;
    static const int sizes[][2] = {{1024, 768}, {1280, 720}, {1366, 768}, {1920, 1080}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct layout_input in = {.width_px = sizes[i][0],
                                  .height_px = sizes[i][1],
                                  .layers = 6,
                                  .prompt_tokens = 18,
                                  .columns = 24,
                                  .answer_limit = 7,
                                  .readouts = 6,
                                  .has_panel = true};
        struct layout l;
        assert_true(layout_make(&l, &in));
        assert_int_equal(l.input.text_step, 0);
        assert_int_not_equal(l.headers, HEADERS_NEWEST);
        assert_int_equal(l.label_every, 1);
        bool is_narrow = in.width_px * 2 < in.height_px * 3;
        assert_true(l.grid.w * 100 >= (is_narrow ? 53 : 56) * in.width_px);
        assert_true(l.labels.w >= l.floor_px * 4);
        in.has_guess = true;
        layout_make(&l, &in);
        assert_int_equal(l.label_every, 1);
    }
}

static void a_guess_has_its_place_right_above_the_clock(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS / 20; round++) {
        struct layout_input in = random_input();
        struct layout l;
        in.has_guess = true;
        layout_make(&l, &in);
        assert_int_equal(l.guess.y + l.guess.h, l.clock.y);
        assert_int_equal(l.guess.x, l.clock.x);
        assert_int_equal(l.guess.w, l.clock.w);
        assert_true(l.guess.h >= l.small_px * 5 / 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_inside_the_target_and_apart),
        cmocka_unit_test(a_show_keeps_a_margin_of_5_percent),
        cmocka_unit_test(columns_and_rows_tile_the_grid_exactly),
        cmocka_unit_test(columns_of_one_part_are_equal_to_a_pixel),
        cmocka_unit_test(answer_columns_are_never_narrower_than_the_prompts),
        cmocka_unit_test(text_keeps_its_share_of_the_picture),
        cmocka_unit_test(the_default_picture_keeps_its_text_size_at_every_size),
        cmocka_unit_test(text_that_would_starve_the_grid_is_made_smaller),
        cmocka_unit_test(few_cells_are_not_blown_up),
        cmocka_unit_test(layer_labels_do_not_touch),
        cmocka_unit_test(rows_thinner_than_3_px_have_no_gap),
        cmocka_unit_test(equal_inputs_give_equal_layouts),
        cmocka_unit_test(a_target_that_is_too_small_is_refused_with_a_layout_for_the_least),
        cmocka_unit_test(numbers_out_of_range_are_brought_into_it),
        cmocka_unit_test(an_answer_of_24_tokens_has_room_for_all_of_it),
        cmocka_unit_test(a_tall_picture_has_a_line_for_all_the_answer_needs),
        cmocka_unit_test(a_panel_is_as_wide_as_its_text_needs),
        cmocka_unit_test(without_a_panel_and_a_guess_there_is_no_place_for_them),
        cmocka_unit_test(a_small_grid_stays_readable_beside_the_panel),
        cmocka_unit_test(a_guess_has_its_place_right_above_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
