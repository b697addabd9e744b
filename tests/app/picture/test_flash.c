// Nothing flashes: films of many speeds, lengths and themes are drawn, and in every place of
// the picture the flashes are counted (flash.h). WCAG lets small areas flash; here a place is a
// square of 1/48 of the shorter side, since what blinks in a corner disturbs a lecture, too.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/picture/frame.h"
#include "compute/base/why.h"
#include "render/pixel/surface.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/app/picture/flash.h"

#include <math.h>
#include <stdlib.h>

enum {
    WIDTH = 640,
    HEIGHT = 480,
    PLACE = HEIGHT / 48,
    ACROSS = WIDTH / PLACE,
    PLACES = ACROSS * (HEIGHT / PLACE),
    FPS = 60,
    SECONDS = 2, // of a film that are looked at
};

static struct text *text;
static struct lesson *lesson;
static struct frame frame;
static struct surface *surface;
static float linear[256];
static int flashing; // films with a place that does

static int open_all(void **state) {
    (void)state;
    struct why why;
    for (int i = 0; i < 256; i++)
        linear[i] = (float)(i <= 10 ? i / 255.0 / 12.92 : pow((i / 255.0 + 0.055) / 1.055, 2.4));
    lesson = lesson_in("en");
    return text_create(&text, &why) && surface_create(&surface, WIDTH, HEIGHT, text, &why) ? 0 : -1;
}

static int close_all(void **state) {
    (void)state;
    surface_destroy(surface);
    text_destroy(text);
    lesson_destroy(lesson);
    return 0;
}

// Of the picture drawn last: mean relative luminance of a place.
static float luminance_of(int place) {
    int pitch_bytes = 0;
    const uint8_t *pixels = surface_pixels(surface, &pitch_bytes);
    pixels += place / ACROSS * PLACE * pitch_bytes + place % ACROSS * PLACE * 4;
    float sum = 0;
    for (int y = 0; y < PLACE; y++, pixels += pitch_bytes)
        for (int x = 0; x < PLACE; x++)
            sum += 0.0722f * linear[pixels[x * 4]] + 0.7152f * linear[pixels[x * 4 + 1]] +
                   0.2126f * linear[pixels[x * 4 + 2]];
    return sum / (PLACE * PLACE);
}

static void draw(const struct run *run, int64_t t_ns, const struct stage_state *stage) {
    struct at_hand at = {.run = run, .t_ns = t_ns, .lesson = lesson};
    struct frame_target target = {WIDTH, HEIGHT, true, text};
    frame_compose(&frame, &at, stage, &target);
    surface_draw(surface, &frame.scene);
}

// The film of the run at the rate, or three seconds in its middle.
static void check_film(const struct run *run, struct playhead_rate rate, enum mode_choice mode,
                       enum theme_id theme) {
    static struct flash places[PLACES];
    struct stage_state stage = {
        .playhead = {.rate = rate},
        .landed_ns = INT64_MIN,
        .mode = mode,
        .theme = theme,
        .focus = -1,
        .list_focus = -1,
        .guess = guess_new(),
    };
    int64_t first_ns = -playhead_run_ns(rate, 200000000);
    int64_t middle_ns =
        (run_end_ns(run) - playhead_run_ns(rate, SECONDS * INT64_C(1000000000))) / 2;
    first_ns = middle_ns > first_ns ? middle_ns : first_ns;
    int worst = 0, worst_place = 0;
    for (int i = 0; i < SECONDS * FPS; i++) {
        draw(run, playhead_frame_ns(rate, first_ns, i, FPS, 1), &stage);
        for (int p = 0; p < PLACES; p++) {
            float now = luminance_of(p);
            if (i == 0)
                places[p] = flash_begin(now);
            int changes = flash_look(&places[p], now, i, FPS);
            if (changes > worst) {
                worst = changes;
                worst_place = p;
            }
        }
    }
    if (worst <= FLASH_MOST_CHANGES)
        return;
    print_error("%d + %d tokens at %d/%d, mode %d, %s: a place flashes at %d, %d\n",
                run->info.prompt_tokens, run->answer_count, rate.num, rate.den, (int)mode,
                theme_find(theme)->name, worst_place % ACROSS * PLACE,
                worst_place / ACROSS * PLACE);
    flashing++;
}

static void a_flash_is_a_pair_of_opposing_changes(void **state) {
    (void)state;
    static const struct {
        float light[12]; // shown one after another, one a frame at 12 frames a second
        int changes;
    } cases[] = {
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0},
        {{0, .05f, .1f, .15f, .2f, .3f, .4f, .5f, .6f, .7f, .8f, .9f}, 1}, // one way
        {{0, .5f, 0, .5f, 0, .5f, 0, 0, 0, 0, 0, 0}, 6},
        {{0, .5f, 0, .5f, 0, .5f, 0, .5f, 0, .5f, 0, .5f}, 7}, // at most one too many
        {{.5f, .55f, .5f, .58f, .5f, .55f, .5f, .55f, .5f, .55f, .5f, .55f}, 0}, // too slight
        {{1, .85f, 1, .85f, 1, .85f, 1, .85f, 1, .85f, 1, .85f}, 0},             // too bright
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct flash flash = flash_begin(cases[i].light[0]);
        int changes = 0;
        for (int at = 1; at < 12; at++)
            changes = flash_look(&flash, cases[i].light[at], at, 12);
        assert_int_equal(changes, cases[i].changes);
    }
    struct flash flash = flash_begin(0);
    for (int at = 1; at < 90; at++) // a change every third of a second
        assert_true(flash_look(&flash, at / 20 % 2 ? 1.0f : 0.0f, at, 60) <= 3);
}

static void no_place_flashes_at_any_speed_length_or_theme(void **state) {
    (void)state;
    static const struct {
        int prompt, answers;
    } lengths[] = {{18, 7}, {18, 60}, {18, 512}, {1024, 256}};
    static const int step_ms[] = {700, 400, 250, 120, 60, 33, 10, 2};
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        struct run *run = lesson_run("stage-0", l % 2 ? RUN_ENGINE : RUN_CHARGED, lengths[l].prompt,
                                     lengths[l].answers);
        for (size_t s = 0; s < sizeof step_ms / sizeof step_ms[0]; s++) {
            struct playhead_rate rate = {20, step_ms[s]}; // a step of stage-0 is 20 ms
            check_film(run, rate, MODE_STAGE, l % 2 ? THEME_DARK : THEME_PROJECTOR);
            check_film(run, rate, MODE_STAGE, l % 2 ? THEME_PROJECTOR : THEME_DARK);
            check_film(run, rate, MODE_LESSON, THEME_DARK);
        }
        run_destroy(run);
    }
    assert_int_equal(flashing, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flash_is_a_pair_of_opposing_changes),
        cmocka_unit_test(no_place_flashes_at_any_speed_length_or_theme),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
