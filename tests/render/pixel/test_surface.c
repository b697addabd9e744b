// Pictures in memory: sizes, opaque pixels, the same bytes every time, PNG.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "render/pixel/surface.h"
#include "tests/render/render_fixture.h"

#include <libpng16/png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct cmdlist list;

static void add_scene(int w, int h) {
    const struct cmd words = {
        .face = FACE_WORDS, .stroke = 20, .color = 0xEAF0F6FF, .rect = {10, h / 2, 0, 0}};
    cmdlist_clear(&list);
    cmdlist_fill(&list, (struct rect){0, 0, w, h}, 0x0E1116FF);
    cmdlist_round(&list, (struct rect){5, 5, w / 2, h / 2}, 9, 0x56B4E977);
    cmdlist_drop(&list, (struct rect){20, 20, 31, 42}, 2, 0xF0A830FF);
    cmdlist_text(&list, &words, "Where is my parcel?");
}

static void sizes_out_of_range_are_refused(void **state) {
    (void)state;
    static const int sizes[][2] = {{15, 100},   {100, 15}, {8193, 100},
                                   {100, 8193}, {-4, 100}, {0, 0}};
    for (int i = 0; i < 6; i++) {
        struct surface *surface = (void *)1;
        struct why why = {0};
        assert_false(surface_create(&surface, sizes[i][0], sizes[i][1], text, &why));
        assert_null(surface);
        assert_non_null(strstr(why.text, "16 to 8192"));
    }
    surface_destroy(NULL);
}

static void it_begins_black_and_stays_opaque(void **state) {
    (void)state;
    struct surface *surface;
    struct why why;
    int pitch_bytes;
    assert_true(surface_create(&surface, 200, 100, text, &why));
    const uint8_t *bgra = surface_pixels(surface, &pitch_bytes);
    assert_true(pitch_bytes >= 200 * 4);
    for (int i = 0; i < 200 * 4; i++)
        assert_int_equal(bgra[99 * pitch_bytes + i], i % 4 == 3 ? 255 : 0);
    add_scene(200, 100);
    surface_draw(surface, &list);
    bgra = surface_pixels(surface, &pitch_bytes);
    assert_int_equal(bgra[0], 0x16); // B G R A of the ground
    assert_int_equal(bgra[1], 0x11);
    assert_int_equal(bgra[2], 0x0E);
    for (int y = 0; y < 100; y++)
        for (int x = 0; x < 200; x++)
            assert_int_equal(bgra[y * pitch_bytes + x * 4 + 3], 255);
    surface_destroy(surface);
}

static void two_surfaces_hold_the_same_bytes(void **state) {
    (void)state;
    struct surface *surfaces[2];
    const uint8_t *bgra[2];
    struct why why;
    int pitch_bytes;
    for (int i = 0; i < 2; i++) {
        assert_true(surface_create(&surfaces[i], 640, 480, text, &why));
        add_scene(640, 480);
        for (int times = 0; times <= i * 5; times++) // again and again: still the same
            surface_draw(surfaces[i], &list);
        bgra[i] = surface_pixels(surfaces[i], &pitch_bytes);
    }
    assert_memory_equal(bgra[0], bgra[1], (size_t)pitch_bytes * 480);
    surface_destroy(surfaces[0]);
    surface_destroy(surfaces[1]);
}

static void a_png_holds_the_pixels(void **state) {
    (void)state;
    struct surface *surface;
    char folder[] = "/tmp/test_surface.XXXXXX", path[64];
    struct why why;
    int pitch_bytes;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/still.png", folder);
    assert_true(surface_create(&surface, 321, 123, text, &why));
    add_scene(321, 123);
    surface_draw(surface, &list);
    for (int i = 0; i < 2; i++) // the second replaces the first
        assert_true(surface_save_png(surface, path, true, &why));
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    image.format = PNG_FORMAT_BGRA;
    uint8_t *back = malloc(PNG_IMAGE_SIZE(image));
    assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
    const uint8_t *bgra = surface_pixels(surface, &pitch_bytes);
    for (int y = 0; y < 123; y++)
        assert_memory_equal(back + y * 321 * 4, bgra + y * pitch_bytes, 321 * 4);
    free(back);
    unlink(path);
    rmdir(folder);
    assert_false(surface_save_png(surface, path, true, &why)); // the folder is gone
    surface_destroy(surface);
}

static void no_display_and_no_environment_are_needed(void **state) {
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        clearenv();
        struct text *own;
        struct surface *surface;
        struct why why;
        bool ok = text_create(&own, &why) && surface_create(&surface, 200, 100, own, &why);
        add_scene(200, 100);
        if (ok)
            surface_draw(surface, &list);
        int pitch_bytes;
        _exit(ok && surface_pixels(surface, &pitch_bytes)[0] == 0x16 ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_out_of_range_are_refused),
        cmocka_unit_test(it_begins_black_and_stays_opaque),
        cmocka_unit_test(two_surfaces_hold_the_same_bytes),
        cmocka_unit_test(a_png_holds_the_pixels),
        cmocka_unit_test(no_display_and_no_environment_are_needed),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
