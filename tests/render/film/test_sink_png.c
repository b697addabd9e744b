// Stills: the names in a folder, single files, and that nothing that was there
// before is lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "render/film/sink.h"
#include "tests/render/film/sink_fixture.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WIDTH = 75, HEIGHT = 65 }; // stills may be odd

static const struct sink_opts opts = {.width_px = WIDTH, .height_px = HEIGHT};

static int set_up(void **state) {
    struct fixture *fixture = malloc(sizeof *fixture);
    assert_non_null(fixture);
    fixture_open(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    fixture_close(*state);
    free(*state);
    return 0;
}

static uint32_t color_of(int64_t n) {
    return 0x102030u + (uint32_t)n * 0x050301u;
}

static bool put(struct sink *sink, int64_t n, const char *name, struct why *why) {
    struct picture picture = picture_make(WIDTH, HEIGHT, color_of(n));
    const struct sink_frame frame = {
        .bgra = picture.bgra, .pitch_bytes = picture.pitch_bytes, .index = n, .name = name};
    bool ok = sink_put(sink, &frame, why);
    free(picture.bgra);
    return ok;
}

// Stills of these names into `path`.
static void record(const char *path, const char *const *names, int count, bool overwrite) {
    struct sink *sink = NULL;
    struct why why;
    struct sink_opts some = opts;
    some.overwrite = overwrite;
    if (!sink_open(&sink, path, &some, &why))
        fail_msg("%s", why.text);
    for (int n = 0; n < count; n++) {
        if (!put(sink, n, names[n], &why))
            fail_msg("%s", why.text);
    }
    if (!sink_close(sink, true, &why))
        fail_msg("%s", why.text);
}

static void expect_still(const char *path, uint32_t rgb) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path))
        fail_msg("%s: %s", path, image.message);
    image.format = PNG_FORMAT_RGB;
    assert_int_equal(image.width, WIDTH);
    assert_int_equal(image.height, HEIGHT);
    uint8_t *pixels = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(pixels);
    assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        uint32_t got = (uint32_t)pixels[3 * i] << 16 | (uint32_t)pixels[3 * i + 1] << 8 |
                       (uint32_t)pixels[3 * i + 2];
        assert_int_equal(got, rgb);
    }
    free(pixels);
}

static int entries(struct fixture *fixture, const char *name) {
    struct fixture inside = *fixture;
    snprintf(inside.folder, sizeof inside.folder, "%s", fixture_path(fixture, name));
    return fixture_count(&inside);
}

static void a_new_folder_holds_numbered_stills(void **state) {
    struct fixture *fixture = *state;
    static const char *const names[] = {"prompt", "Prefill, layer 2!", NULL, "../etc/passwd",
                                        "a name of more bytes than are good for a file's name"};
    static const char *const files[] = {"stills/0001-prompt.png", "stills/0002-prefill-layer-2.png",
                                        "stills/0003.png", "stills/0004-etc-passwd.png",
                                        "stills/0005-a-name-of-more-bytes-than-are-good-for.png"};
    record(fixture_path(fixture, "stills/"), names, 5, false);
    for (int n = 0; n < 5; n++)
        expect_still(fixture_path(fixture, files[n]), color_of(n));
    assert_int_equal(entries(fixture, "stills"), 5);
    assert_int_equal(fixture_count(fixture), 1);
}

static void the_folder_has_its_name_only_when_it_is_whole(void **state) {
    struct fixture *fixture = *state;
    struct sink *sink = NULL;
    struct why why;
    assert_true(sink_open(&sink, fixture_path(fixture, "stills"), &opts, &why));
    assert_true(put(sink, 0, "a", &why));
    assert_false(fixture_has(fixture, "stills"));
    assert_true(fixture_has(fixture, "stills.part/0001-a.png"));
    assert_true(sink_close(sink, true, &why));
    assert_true(fixture_has(fixture, "stills/0001-a.png"));
    assert_int_equal(fixture_count(fixture), 1);
}

static void an_existing_folder_keeps_what_it_held(void **state) {
    struct fixture *fixture = *state;
    assert_int_equal(mkdir(fixture_path(fixture, "mine"), 0777), 0);
    fixture_write(fixture_path(fixture, "mine/notes.txt"), "notes");
    fixture_write(fixture_path(fixture, "mine/12-picture.png"), "not ours: two digits");
    static const char *const names[] = {"a", "b"};
    record(fixture_path(fixture, "mine"), names, 2, false);
    expect_still(fixture_path(fixture, "mine/0001-a.png"), color_of(0));
    expect_still(fixture_path(fixture, "mine/0002-b.png"), color_of(1));
    assert_true(fixture_has(fixture, "mine/notes.txt"));
    assert_true(fixture_has(fixture, "mine/12-picture.png"));
    assert_int_equal(entries(fixture, "mine"), 4);

    struct sink *sink = NULL;
    struct why why;
    assert_false(sink_open(&sink, fixture_path(fixture, "mine/"), &opts, &why));
    assert_non_null(strstr(why.text, "0001-a.png"));
    assert_non_null(strstr(why.text, "--overwrite"));

    // A shorter set leaves none of the older one, and leaves the user's own picture alone.
    fixture_write(fixture_path(fixture, "mine/2024-holiday.png"), "a still only by its name");
    static const char *const again[] = {"c"};
    record(fixture_path(fixture, "mine"), again, 1, true);
    assert_true(fixture_has(fixture, "mine/0001-c.png"));
    assert_false(fixture_has(fixture, "mine/0001-a.png"));
    assert_false(fixture_has(fixture, "mine/0002-b.png"));
    assert_true(fixture_has(fixture, "mine/2024-holiday.png"));
    assert_int_equal(entries(fixture, "mine"), 4);
}

static void a_set_of_stills_replaces_no_input(void **state) {
    struct fixture *fixture = *state;
    char input[512], again[512];
    struct sink *sink = NULL;
    struct why why;
    struct sink_opts over = opts;
    assert_int_equal(mkdir(fixture_path(fixture, "mine"), 0777), 0);
    snprintf(input, sizeof input, "%s", fixture_path(fixture, "mine/0002-run.png"));
    snprintf(again, sizeof again, "%s", fixture_path(fixture, "again.png"));
    fixture_write(input, "an input");
    assert_int_equal(link(input, again), 0);
    const char *const taken[] = {again, NULL};
    over.overwrite = true;
    over.taken = taken;
    assert_false(sink_open(&sink, fixture_path(fixture, "mine"), &over, &why));
    assert_non_null(strstr(why.text, "same file"));
    assert_false(sink_open(&sink, fixture_path(fixture, "mine/0002-run.png"), &over, &why));
    assert_non_null(strstr(why.text, "same file"));
    assert_int_equal(entries(fixture, "mine"), 1);
}

static void giving_up_leaves_everything_as_it_was(void **state) {
    struct fixture *fixture = *state;
    assert_int_equal(mkdir(fixture_path(fixture, "mine"), 0777), 0);
    fixture_write(fixture_path(fixture, "mine/0001-a.png"), "an old still");
    fixture_write(fixture_path(fixture, "still.png"), "an old still");
    static const char *const targets[] = {"mine", "new", "still.png"};
    for (int i = 0; i < 3; i++) {
        struct sink *sink = NULL;
        struct why why;
        struct sink_opts over = opts;
        over.overwrite = true;
        assert_true(sink_open(&sink, fixture_path(fixture, targets[i]), &over, &why));
        assert_true(put(sink, 0, "a", &why));
        assert_true(sink_close(sink, false, &why));
    }
    static const char *const files[] = {"mine/0001-a.png", "still.png"};
    for (int i = 0; i < 2; i++) {
        size_t bytes;
        uint8_t *data = fixture_read(fixture_path(fixture, files[i]), &bytes);
        assert_string_equal((char *)data, "an old still");
        free(data);
    }
    assert_int_equal(entries(fixture, "mine"), 1);
    assert_int_equal(fixture_count(fixture), 2);
}

static void a_still_that_appeared_meanwhile_is_not_replaced(void **state) {
    struct fixture *fixture = *state;
    assert_int_equal(mkdir(fixture_path(fixture, "mine"), 0777), 0);
    struct sink *sink = NULL;
    struct why why;
    assert_true(sink_open(&sink, fixture_path(fixture, "mine"), &opts, &why));
    assert_true(put(sink, 0, "a", &why));
    assert_true(put(sink, 1, "b", &why));
    fixture_write(fixture_path(fixture, "mine/0002-b.png"), "somebody else's");
    assert_false(sink_close(sink, true, &why));
    assert_non_null(strstr(why.text, "0002-b.png"));
    assert_true(fixture_has(fixture, "mine/stills.part/0001-a.png"));
    assert_false(fixture_has(fixture, "mine/0001-a.png"));
    size_t bytes;
    uint8_t *data = fixture_read(fixture_path(fixture, "mine/0002-b.png"), &bytes);
    assert_string_equal((char *)data, "somebody else's");
    free(data);
}

static void a_single_still_is_one_file_and_takes_one_frame(void **state) {
    struct fixture *fixture = *state;
    static const char *const names[] = {"ignored"};
    record(fixture_path(fixture, "still.png"), names, 1, false);
    expect_still(fixture_path(fixture, "still.png"), color_of(0));
    assert_int_equal(fixture_count(fixture), 1);

    struct sink *sink = NULL;
    struct why why;
    assert_true(sink_open(&sink, fixture_path(fixture, "two.png"), &opts, &why));
    assert_true(put(sink, 0, NULL, &why));
    assert_false(put(sink, 1, NULL, &why));
    assert_non_null(strstr(why.text, "name a folder"));
    assert_false(sink_close(sink, true, &why));
    assert_false(fixture_has(fixture, "two.png"));
    expect_still(fixture_path(fixture, "two.part.png"), color_of(0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_folder_holds_numbered_stills, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_folder_has_its_name_only_when_it_is_whole, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_existing_folder_keeps_what_it_held, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_set_of_stills_replaces_no_input, set_up, tear_down),
        cmocka_unit_test_setup_teardown(giving_up_leaves_everything_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_still_that_appeared_meanwhile_is_not_replaced, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_single_still_is_one_file_and_takes_one_frame, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
