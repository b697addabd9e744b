// Whole pictures, drawn by the software target and compared with stored references
// (tests/golden/*.png) within a stated tolerance: fonts may be rasterised slightly
// otherwise elsewhere. A picture must also be the same twice, have no text outside
// the target and no two texts that touch. TOKENDRIP_UPDATE_GOLDEN=1 writes the
// references anew; look at them before they are committed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/picture/frame.h"
#include "app/picture/scene/scene.h"
#include "compute/base/why.h"
#include "compute/file/runfile.h"
#include "compute/run/recount.h"
#include "render/paint/layout.h"
#include "render/paint/paint.h"
#include "render/pixel/surface.h"
#include "tests/app/lesson/lesson_fixture.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// At most this share of pixels may differ by more than CHANNEL_TOLERANCE. Where the drops
// fall there is no text, and the share is such that one drop more or less is too much: it
// is a thousandth of the picture, but a hundredth of this part.
enum { DIFFERENT_PER_10000 = 60, DRIP_DIFFERENT_PER_10000 = 40, CHANNEL_TOLERANCE = 24 };

static const struct {
    int width_px, height_px;
} sizes[] = {{1024, 768}, {1920, 1080}, {3840, 2160}};
static const enum theme_id themes[] = {THEME_DARK, THEME_PROJECTOR};
static const struct {
    const char *name;
    int64_t t_units_x10; // tenths of a lesson unit
    enum layout_mode mode;
    bool is_lab; // of the saved run, see paint_lab_page
} moments[] = {
    {"prefill", 400, LAYOUT_FILM, false},
    {"decode", 1350, LAYOUT_SHOW, false},
    // The drop of the token of 122 units falls from 120.1 on, the last 3/5 of the output stage.
    {"falling", 1213, LAYOUT_STAGE, false},
    {"lab", 0, LAYOUT_STAGE, true},
};
enum {
    SIZES = sizeof sizes / sizeof sizes[0],
    THEMES = sizeof themes / sizeof themes[0],
    MOMENTS = sizeof moments / sizeof moments[0],
};

static struct text *text;
static struct run *run;                // the lesson's
static struct run *measured, *charged; // a saved one, and the same under the other counting
static struct runfile_extras extras;   // its sweep and its roofs
static struct view view;
static struct layout layout;
static struct frame frame;
static struct cmdlist list, again;

static int open_all(void **state) {
    (void)state;
    struct why why = {0};
    run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    if (!text_create(&text, &why) ||
        !runfile_load(&measured, &extras,
                      TOKENDRIP_SOURCE_DIR "/assets/runs/cpu-amd-epyc-2-cores.json", &why) ||
        !run_recount(&charged, measured, RUN_CHARGED, &why)) {
        fprintf(stderr, "%s\n", why.text);
        return -1;
    }
    return 0;
}

static int close_all(void **state) {
    (void)state;
    run_destroy(run);
    run_destroy(measured);
    run_destroy(charged);
    text_destroy(text);
    return 0;
}

// Lab's first page, knee and roofs, at 85 % of the run, with another one kept to compare.
// All of it was measured long ago: nothing here asks for a device.
static void paint_lab_page(struct cmdlist *out, int size, int theme) {
    struct stage_state stage = {
        .playhead = {.rate = playhead_rate_for(run_end_ns(measured))},
        .landed_ns = INT64_MIN,
        .mode = MODE_LAB,
        .theme = themes[theme],
        .focus = -1,
        .list_focus = -1,
        .guess = guess_new(),
    };
    int longest = extras.sweep.prefill[extras.sweep.prefill_count - 1].tokens;
    struct at_hand at = {
        .run = measured,
        .t_ns = run_end_ns(measured) * 85 / 100,
        .has_engine = true,
        .can_move = true,
        .longest_prompt = longest,
        .longest_answer = 256,
        .sweep = &extras.sweep,
        .longest_sweep = longest,
        .roofline = &extras.roofline,
        .kept = charged,
        .kept_name = "kept",
    };
    struct frame_target target = {sizes[size].width_px, sizes[size].height_px, false, text};
    frame_compose(&frame, &at, &stage, &target);
    *out = frame.scene;
}

static void paint_moment(struct cmdlist *out, int size, int theme, int moment) {
    if (moments[moment].is_lab) {
        paint_lab_page(out, size, theme);
        assert_int_equal(out->dropped, 0);
        return;
    }
    int64_t t_ns = moments[moment].t_units_x10 * run->info.unit_ns / 10;
    struct scene_options options = scene_options_for(run, playhead_rate_for(run_end_ns(run)));
    scene_at(&view, run, t_ns, &options);
    struct layout_input input = {
        .width_px = sizes[size].width_px,
        .height_px = sizes[size].height_px,
        .mode = moments[moment].mode,
        .layers = view.layers,
        .prompt_tokens = view.prompt_tokens,
        .columns = view.columns,
        .answer_limit = view.answer_limit,
        .readouts = view.readout_count,
    };
    assert_true(layout_make(&layout, &input));
    struct paint paint = {&view, &layout, theme_find(themes[theme]), text};
    cmdlist_clear(out);
    paint_scene(out, &paint);
    assert_int_equal(out->dropped, 0);
}

static void for_all_pictures(void (*check)(int size, int theme, int moment)) {
    for (int size = 0; size < SIZES; size++)
        for (int theme = 0; theme < THEMES; theme++)
            for (int moment = 0; moment < MOMENTS; moment++)
                check(size, theme, moment);
}

static void reference_path(char *out, size_t bytes, int size, int theme, int moment) {
    snprintf(out, bytes, "%s/tests/golden/%s-%s-%dx%d.png", TOKENDRIP_SOURCE_DIR,
             moments[moment].name, theme_find(themes[theme])->name, sizes[size].width_px,
             sizes[size].height_px);
}

// BGRA pixels of a reference. Owner: the caller, free().
static uint8_t *load_reference(const char *path, int size) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path))
        fail_msg("%s: %s", path, image.message);
    image.format = PNG_FORMAT_BGRA;
    assert_int_equal(image.width, sizes[size].width_px);
    assert_int_equal(image.height, sizes[size].height_px);
    uint8_t *pixels = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(pixels);
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    return pixels;
}

static bool differs(const uint8_t *a, const uint8_t *b) {
    for (int channel = 0; channel < 3; channel++)
        if (abs(a[channel] - b[channel]) > CHANNEL_TOLERANCE)
            return true;
    return false;
}

static void compare(const char *path, const char *what, struct rect part, int most_per_10000,
                    const uint8_t *pixels, int pitch_bytes, const uint8_t *reference, int width) {
    int different = 0;
    for (int y = part.y; y < part.y + part.h; y++)
        for (int x = part.x; x < part.x + part.w; x++)
            different += differs(pixels + (size_t)y * (size_t)pitch_bytes + x * 4,
                                 reference + ((size_t)y * (size_t)width + (size_t)x) * 4);
    if ((int64_t)different * 10000 > (int64_t)part.w * part.h * most_per_10000)
        fail_msg("%s, %s: %d of %d pixels differ", path, what, different, part.w * part.h);
}

static void check_reference(int size, int theme, int moment) {
    char path[512];
    struct why why;
    struct surface *surface = NULL;
    int width = sizes[size].width_px, height = sizes[size].height_px, pitch_bytes = 0;
    assert_true(surface_create(&surface, width, height, text, &why));
    paint_moment(&list, size, theme, moment);
    surface_draw(surface, &list);
    reference_path(path, sizeof path, size, theme, moment);
    if (getenv("TOKENDRIP_UPDATE_GOLDEN")) {
        remove(path);
        assert_true(surface_save_png(surface, path, true, &why));
    }
    const uint8_t *pixels = surface_pixels(surface, &pitch_bytes);
    uint8_t *reference = load_reference(path, size);
    struct rect whole = {0, 0, width, height};
    compare(path, "all of it", whole, DIFFERENT_PER_10000, pixels, pitch_bytes, reference, width);
    if (!moments[moment].is_lab)
        compare(path, "the drops", layout.drip, DRIP_DIFFERENT_PER_10000, pixels, pitch_bytes,
                reference, width);
    free(reference);
    surface_destroy(surface);
}

static void pictures_are_those_stored(void **state) {
    (void)state;
    for_all_pictures(check_reference);
}

static void check_twice(int size, int theme, int moment) {
    struct surface *a = NULL, *b = NULL;
    struct why why;
    int pitch_a = 0, pitch_b = 0;
    assert_true(surface_create(&a, sizes[size].width_px, sizes[size].height_px, text, &why));
    assert_true(surface_create(&b, sizes[size].width_px, sizes[size].height_px, text, &why));
    paint_moment(&list, size, theme, moment);
    paint_moment(&again, size, theme, moment);
    assert_true(cmdlist_hash(&list) == cmdlist_hash(&again));
    surface_draw(a, &list);
    surface_draw(b, &again);
    surface_draw(b, &again); // over itself, as a paused window that was exposed
    const uint8_t *pixels_a = surface_pixels(a, &pitch_a), *pixels_b = surface_pixels(b, &pitch_b);
    for (int y = 0; y < sizes[size].height_px; y++)
        assert_memory_equal(pixels_a + y * pitch_a, pixels_b + y * pitch_b,
                            (size_t)sizes[size].width_px * 4);
    surface_destroy(a);
    surface_destroy(b);
}

static void the_same_moment_is_the_same_picture_bit_for_bit(void **state) {
    (void)state;
    for_all_pictures(check_twice);
}

static bool touch(struct rect a, struct rect b) {
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

// A text command's box: from its baseline up by its ascent.
static struct rect text_box(const struct cmd *cmd) {
    return (struct rect){cmd->rect.x, cmd->rect.y - cmd->rect.h, cmd->rect.w, cmd->rect.h};
}

// A text on a moving edge is drawn twice, in the colour of either side.
static bool is_one_text(const struct cmd *a, const struct cmd *b) {
    return memcmp(&a->rect, &b->rect, sizeof a->rect) == 0 && a->color != b->color;
}

static void check_texts(int size, int theme, int moment) {
    paint_moment(&list, size, theme, moment);
    int texts = 0;
    for (int i = 0; i < list.count; i++) {
        if (list.cmds[i].kind != CMD_TEXT)
            continue;
        texts++;
        struct rect a = text_box(&list.cmds[i]);
        assert_true(a.x >= 0 && a.y >= 0 && a.x + a.w <= sizes[size].width_px &&
                    list.cmds[i].rect.y < sizes[size].height_px);
        assert_true(list.cmds[i].stroke * 50 >= sizes[size].height_px * 3 / 4);
        for (int j = i + 1; j < list.count; j++)
            if (list.cmds[j].kind == CMD_TEXT && touch(a, text_box(&list.cmds[j])) &&
                !is_one_text(&list.cmds[i], &list.cmds[j]))
                fail_msg("texts touch: \"%.*s\" and \"%.*s\" at %dx%d",
                         (int)list.cmds[i].text_bytes, list.text + list.cmds[i].text_offset,
                         (int)list.cmds[j].text_bytes, list.text + list.cmds[j].text_offset,
                         sizes[size].width_px, sizes[size].height_px);
    }
    assert_true(texts > 20);
}

static void no_text_is_cut_too_small_or_touches_another(void **state) {
    (void)state;
    for_all_pictures(check_texts);
}

// So few pixels are a drop or a plot's dots that the references alone might not miss them.
static void check_what_is_in_it(int size, int theme, int moment) {
    paint_moment(&list, size, theme, moment);
    int drops = 0;
    for (int i = 0; i < list.count; i++) {
        struct rect drip = layout.drip, drop = list.cmds[i].rect;
        if (list.cmds[i].kind != CMD_DROP)
            continue;
        drops++;
        assert_true(drop.y > drip.y + drip.h / 8 && drop.y + drop.h < drip.y + drip.h * 9 / 8);
    }
    assert_int_equal(drops, strcmp(moments[moment].name, "falling") == 0);
    if (!moments[moment].is_lab)
        return;
    const struct plot *knee = &frame.lab.plots[0], *roofs = &frame.lab.plots[1];
    assert_string_equal(knee->message, "");
    assert_string_equal(roofs->message, "");
    assert_int_equal(knee->series[0].look, PLOT_DOTS);
    assert_int_equal(knee->series[0].count, extras.sweep.prefill_count);
    assert_true(knee->series_count > 3 && roofs->series_count > 1);
    assert_int_equal(frame.lab.lane_count, 2);
}

static void a_drop_is_in_the_air_and_the_plots_have_their_dots(void **state) {
    (void)state;
    for_all_pictures(check_what_is_in_it);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_those_stored),
        cmocka_unit_test(the_same_moment_is_the_same_picture_bit_for_bit),
        cmocka_unit_test(no_text_is_cut_too_small_or_touches_another),
        cmocka_unit_test(a_drop_is_in_the_air_and_the_plots_have_their_dots),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
