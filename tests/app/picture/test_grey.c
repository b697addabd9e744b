// In a room with light on the wall, and without colour, the states of a cell are still told from
// one another: pictures in every theme are drawn, and the relative luminance of cells is compared
// with a quarter of white added to both.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/picture/frame.h"
#include "compute/base/why.h"
#include "render/pixel/surface.h"
#include "tests/app/lesson/lesson_fixture.h"

#include <math.h>

enum { WIDTH = 1024, HEIGHT = 768, LAYERS = 8, READ_LAYER = 3 };

static struct text *text;
static struct frame frame;
static struct surface *surface;

static int open_all(void **state) {
    (void)state;
    struct why why;
    return text_create(&text, &why) && surface_create(&surface, WIDTH, HEIGHT, text, &why) ? 0 : -1;
}

static int close_all(void **state) {
    (void)state;
    surface_destroy(surface);
    text_destroy(text);
    return 0;
}

// The last decode step but one, at a percentage of a layer or, with LAYERS, of the output.
static void draw(const struct run *run, enum theme_id theme, int layer, int percent) {
    int pass = run->pass_count - 2;
    int mark = pass * (LAYERS + 2) + 1 + layer;
    int64_t from_ns = run->mark_end_ns[mark - 1], to_ns = run->mark_end_ns[mark];
    struct at_hand at = {.run = run, .t_ns = from_ns + (to_ns - from_ns) * percent / 100};
    struct stage_state stage = {
        .playhead = {.rate = {1, 1000}, .is_paused = true},
        .landed_ns = INT64_MIN,
        .theme = theme,
        .focus = -1,
        .list_focus = -1,
        .guess = guess_new(),
    };
    struct frame_target target = {WIDTH, HEIGHT, true, text};
    frame_compose(&frame, &at, &stage, &target);
    surface_draw(surface, &frame.scene);
}

static double linear(int channel) {
    double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

struct light {
    double least, most; // relative luminance, without the outer fifth of the cells' height
};

// Of a layer's cells in columns [from, to), gaps between them included.
static struct light light_of(int layer, int from, int to) {
    int pitch_bytes = 0;
    const uint8_t *pixels = surface_pixels(surface, &pitch_bytes);
    struct rect first = layout_cell(&frame.layout, from, layer);
    struct rect last = layout_cell(&frame.layout, to - 1, layer);
    struct light light = {1, 0};
    for (int y = first.y + first.h / 5 + 1; y < first.y + first.h * 4 / 5; y++) {
        for (int x = first.x + first.w / 5; x < last.x + (last.w * 4 + 4) / 5; x++) {
            const uint8_t *p = pixels + y * pitch_bytes + 4 * x;
            double l = 0.0722 * linear(p[0]) + 0.7152 * linear(p[1]) + 0.2126 * linear(p[2]);
            light.least = fmin(light.least, l);
            light.most = fmax(light.most, l);
        }
    }
    return light;
}

static double contrast(double a, double b) {
    const double flare = 0.25 + 0.05; // and WCAG's own
    return (fmax(a, b) + flare) / (fmin(a, b) + flare);
}

// Two plain areas. Lines and stripes are darker or lighter than what they lie on.
static void expect_apart(struct light a, struct light b, double least, const char *what) {
    double both = fmax(contrast(a.most, b.most), contrast(a.least, b.least));
    if (both < least)
        fail_msg("%s: %.2f", what, both);
}

static void check_states(enum theme_id theme, int prompt, int answers) {
    struct run *run = lesson_run("stage-0", RUN_ENGINE, prompt, answers);
    draw(run, theme, READ_LAYER, 50);
    int newest = prompt + answers - 3, few = answers / 2, one = 1 + prompt / 100;
    struct light saved_prompt = light_of(6, 1, 1 + one),
                 saved_answer = light_of(6, prompt, prompt + few);
    struct light read_prompt = light_of(READ_LAYER, 1, 1 + one);
    struct light read_answer = light_of(READ_LAYER, prompt, prompt + few);
    struct light done = light_of(1, newest, newest + 1), empty = light_of(6, newest, newest + 1);
    struct light filling = light_of(READ_LAYER, newest, newest + 1);
    expect_apart(saved_prompt, empty, 1.1, "saved prompt, empty");
    expect_apart(saved_answer, empty, 1.1, "saved answer, empty");
    expect_apart(saved_prompt, read_prompt, 1.2, "saved prompt, read");
    expect_apart(saved_answer, read_answer, 1.2, "saved answer, read");
    expect_apart(saved_answer, done, 1.2, "saved answer, done");
    expect_apart(empty, done, 1.2, "empty, done");
    // The prompt's cells are plain, saved cells of the answer striped, done ones not; that
    // which is being filled has an edge.
    assert_true(contrast(saved_prompt.least, saved_prompt.most) < 1.02);
    assert_true(contrast(done.least, done.most) < 1.02);
    if (contrast(saved_answer.least, saved_answer.most) < 1.08)
        fail_msg("stripes: %.2f", contrast(saved_answer.least, saved_answer.most));
    assert_true(contrast(read_answer.least, read_answer.most) > 1.2);
    assert_true(contrast(filling.least, filling.most) > 1.2);
    draw(run, theme, LAYERS, 95); // stripes come before the step ends: none jumps in
    for (int layer = 0; layer < LAYERS && prompt < 1000; layer++)
        assert_true(contrast(light_of(layer, newest, newest + 1).least,
                             light_of(layer, newest, newest + 1).most) > 1.05);
    run_destroy(run);
}

static void in_grey_and_with_flare_every_state_of_a_cell_is_told_from_the_others(void **state) {
    (void)state;
    for (int theme = 0; theme < THEME_COUNT; theme++) {
        check_states((enum theme_id)theme, 18, 12);
        check_states((enum theme_id)theme, 18, 60);
        check_states((enum theme_id)theme, 60, 256);
        check_states((enum theme_id)theme, 1024, 256);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_grey_and_with_flare_every_state_of_a_cell_is_told_from_the_others),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
