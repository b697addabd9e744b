// The guess on the clock: a hollow pennant at its place, its words apart from all
// other texts, and nothing at all without a guess.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/paint/parts.h"
#include "tests/render/data/sample_view.h"
#include "tests/render/render_fixture.h"

#include <stdio.h>
#include <string.h>

static struct view view;
static struct cmdlist list, other;
static struct layout layout;

static const int SIZES[][2] = {{640, 480},   {1024, 768},  {1280, 720}, {1920, 1080},
                               {3840, 2160}, {1080, 1920}, {2560, 720}};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

static void paint_guessed(struct cmdlist *out, int guess_ppm, const char *label) {
    struct paint paint = {&view, &layout, theme_find(THEME_DARK), text};
    view.guess_ppm = guess_ppm;
    snprintf(view.guess_label, sizeof view.guess_label, "%s", label);
    cmdlist_clear(out);
    paint_clock(out, &paint);
}

static void lay_out(int i, enum layout_mode mode, bool has_guess) {
    struct sample sample = {.layers = 6,
                            .prompt_tokens = 18,
                            .answer_limit = 7,
                            .answers = 7,
                            .moment = {.pass = 3, .stage = 4, .progress_ppm = 400000}};
    struct layout_input in = sample_input(&sample, SIZES[i][0], SIZES[i][1], mode);
    in.has_guess = has_guess;
    assert_true(layout_make(&layout, &in));
    sample_view(&view, &sample);
}

// The pennant is the only outline in the guess's row.
static struct rect pennant_of(const struct cmdlist *in) {
    struct rect found = {0};
    for (int i = 0; i < in->count; i++)
        if (in->cmds[i].kind == CMD_RING && overlap(in->cmds[i].rect, layout.guess))
            found = in->cmds[i].rect;
    return found;
}

static void without_a_guess_nothing_is_drawn(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(i, LAYOUT_STAGE, true);
        paint_guessed(&list, -1, "a label that no guess has");
        for (int k = 0; k < list.count; k++) {
            bool is_drawn = list.cmds[k].kind != CMD_CLIP;
            assert_false(is_drawn && overlap(list.cmds[k].rect, layout.guess));
        }
    }
}

static void the_pennant_stands_at_the_guess(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(i, LAYOUT_STAGE, true);
        int last = -1;
        for (int ppm = 0; ppm <= VIEW_PPM; ppm += VIEW_PPM / 50) {
            paint_guessed(&list, ppm, "your guess: 12 ms");
            struct rect pennant = pennant_of(&list), bar = layout.clock_bar;
            int x = bar.x + (int)((int64_t)bar.w * ppm / VIEW_PPM), width = 3 * layout.unit_px;
            assert_true(is_inside(pennant, layout.guess));
            bool is_right = pennant.x >= x - width / 2 && pennant.x <= x;
            bool is_left = pennant.x + pennant.w <= x + width / 2 && pennant.x + pennant.w >= x;
            assert_true(is_right || is_left);
            assert_true(pennant.x >= last - 2 * pennant.w);
            last = pennant.x;
        }
    }
}

static void its_words_touch_nothing(void **state) {
    (void)state;
    static const char *const LABELS[] = {"", "your guess: 12 ms",
                                         "a guess as long as the label can ever be made."};
    for (int i = 0; i < SIZE_COUNT; i++) {
        for (int l = 0; l < 3; l++) {
            lay_out(i, (enum layout_mode)(i % 2), true);
            for (int ppm = 0; ppm <= VIEW_PPM; ppm += VIEW_PPM / 40) {
                view.playhead_ppm = ppm / 2 + VIEW_PPM / 4;
                paint_guessed(&list, ppm, LABELS[l]);
                int words = 0;
                for (int k = 0; k < list.count; k++) {
                    if (list.cmds[k].kind != CMD_TEXT ||
                        !overlap(text_box(&list.cmds[k]), layout.guess))
                        continue;
                    words++;
                    assert_true(is_inside(text_box(&list.cmds[k]), layout.guess));
                    for (int s = 0; s < list.count; s++)
                        if (s != k && list.cmds[s].kind != CMD_CLIP)
                            assert_false(overlap(text_box(&list.cmds[k]), list.cmds[s].rect));
                }
                assert_int_equal(words, l == 0 ? 0 : 1);
            }
        }
    }
}

static void a_layout_without_its_place_shows_a_mast_alone(void **state) {
    (void)state;
    lay_out(2, LAYOUT_STAGE, false);
    paint_guessed(&list, -1, "");
    paint_guessed(&other, 600000, "your guess: 12 ms");
    assert_int_equal(other.count, list.count + 2);
    for (int k = 0; k < other.count; k++)
        if (other.cmds[k].kind == CMD_FILL)
            assert_true(is_inside(other.cmds[k].rect, layout.clock));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_guess_nothing_is_drawn),
        cmocka_unit_test(the_pennant_stands_at_the_guess),
        cmocka_unit_test(its_words_touch_nothing),
        cmocka_unit_test(a_layout_without_its_place_shows_a_mast_alone),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
