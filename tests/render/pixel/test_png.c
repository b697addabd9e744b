// PNG files: the pixels come back, the file is whole or not there, and nothing that
// was there is lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "render/pixel/png.h"

#include <dirent.h>
#include <libpng16/png.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { W = 61, H = 37, PITCH = 64 * 4 };

static char folder[64], path[96];
static uint8_t picture[H * PITCH];

static int setup(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_png.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/still.png", folder);
    for (int i = 0; i < H * PITCH; i++)
        picture[i] = (uint8_t)(i * 7 + i / PITCH * 13);
    return 0;
}

static int files_in_folder(void) {
    DIR *dir = opendir(folder);
    int count = 0;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2;
}

static int teardown(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void the_pixels_come_back(void **state) {
    (void)state;
    struct why why = {0};
    assert_true(png_write(path, picture, PITCH, W, H, false, &why));
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_int_equal(image.width, W);
    assert_int_equal(image.height, H);
    assert_int_equal(image.format, PNG_FORMAT_RGB); // opaque, 8 bit
    image.format = PNG_FORMAT_BGRA;
    uint8_t back[W * H * 4];
    assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            assert_memory_equal(back + (y * W + x) * 4, picture + y * PITCH + x * 4, 3);
    assert_int_equal(files_in_folder(), 1);
}

static void the_file_says_srgb(void **state) {
    (void)state;
    char head[64] = "";
    struct why why;
    assert_true(png_write(path, picture, PITCH, W, H, false, &why));
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    assert_non_null(memmem(head, sizeof head, "sRGB", 4));
}

static void an_existing_file_is_replaced_only_on_request(void **state) {
    (void)state;
    char text[8] = "";
    struct why why = {0};
    FILE *file = fopen(path, "w");
    fputs("mine", file);
    fclose(file);
    assert_false(png_write(path, picture, PITCH, W, H, false, &why));
    assert_non_null(strstr(why.text, "still.png"));
    file = fopen(path, "r");
    assert_int_equal(fread(text, 1, sizeof text, file), 4);
    fclose(file);
    assert_string_equal(text, "mine");
    assert_true(png_write(path, picture, PITCH, W, H, true, &why));
    assert_int_equal(files_in_folder(), 1);
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    png_image_free(&image);
}

static void a_full_disk_leaves_nothing_behind(void **state) {
    (void)state;
    // The kernel's limit on a file's size stands for a full disk.
    struct rlimit limit, small;
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 1000;
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    struct why why = {0};
    bool written = png_write(path, picture, PITCH, W, H, false, &why);
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, before);
    assert_false(written);
    assert_non_null(strstr(why.text, "too large"));
    assert_int_equal(files_in_folder(), 0);
}

static void what_cannot_be_written_is_refused_with_a_reason(void **state) {
    (void)state;
    char missing[128];
    struct why why = {0};
    snprintf(missing, sizeof missing, "%s/none/still.png", folder);
    assert_false(png_write(missing, picture, PITCH, W, H, true, &why));
    assert_non_null(strstr(why.text, "none"));
    assert_false(png_write(folder, picture, PITCH, W, H, true, &why)); // a folder
    static const struct {
        int pitch, w, h;
    } sizes[] = {{PITCH, 0, H}, {PITCH, W, 0}, {PITCH, -1, H}, {PITCH, 65, H}, {PITCH, W, 40000}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        why.text[0] = '\0';
        assert_false(png_write(path, picture, sizes[i].pitch, sizes[i].w, sizes[i].h, true, &why));
        assert_true(strlen(why.text) > 10);
    }
    assert_int_equal(files_in_folder(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_pixels_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(the_file_says_srgb, setup, teardown),
        cmocka_unit_test_setup_teardown(an_existing_file_is_replaced_only_on_request, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing_behind, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_refused_with_a_reason, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
