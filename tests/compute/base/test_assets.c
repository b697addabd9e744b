// Where the program looks for its own files, in which order, and what it says
// when they are nowhere.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/assets.h"
#include "compute/base/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/tokendrip-assets-XXXXXX";

// The folders of a built tree and of an installed one.
static const char *const folders[] = {"bin",   "bin/assets",      "assets",
                                      "share", "share/tokendrip", "other"};
enum { FOLDERS = sizeof folders / sizeof folders[0] };

static void path_of(char out[256], const char *name) {
    snprintf(out, 256, "%s/%s", root, name);
}

static void put_file(const char *name) {
    char path[256];
    path_of(path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fclose(file);
}

static void remove_file(const char *name) {
    char path[256];
    path_of(path, name);
    unlink(path);
}

static int make_tree(void **state) {
    (void)state;
    if (!mkdtemp(root))
        return -1;
    for (int i = 0; i < FOLDERS; i++) {
        char path[256];
        path_of(path, folders[i]);
        if (mkdir(path, 0777) != 0)
            return -1;
    }
    return 0;
}

static int remove_tree(void **state) {
    (void)state;
    for (int i = FOLDERS - 1; i >= 0; i--) {
        char path[256];
        path_of(path, folders[i]);
        rmdir(path);
    }
    return rmdir(root);
}

static void the_nearest_folder_wins(void **state) {
    // From the farthest to the nearest: each new one takes over.
    static const char *const places[] = {"share/tokendrip/rare.file", "assets/rare.file",
                                         "bin/assets/rare.file"};
    static const char *const found[] = {"bin/../share/tokendrip/rare.file",
                                        "bin/../assets/rare.file", "bin/assets/rare.file"};
    (void)state;
    char bin[256], out[ASSETS_PATH_BYTES], expected[256];
    struct why why;
    path_of(bin, "bin");
    for (int i = 0; i < 3; i++) {
        put_file(places[i]);
        path_of(expected, found[i]);
        assert_true(assets_find_in(out, "rare.file", NULL, bin, &why));
        assert_string_equal(out, expected);
        assert_true(assets_find_in(out, "rare.file", "", bin, &why));
        assert_string_equal(out, expected);
    }
    for (int i = 0; i < 3; i++)
        remove_file(places[i]);
}

static void the_environment_wins_and_then_nothing_else_is_tried(void **state) {
    (void)state;
    char bin[256], other[256], out[ASSETS_PATH_BYTES], expected[256];
    struct why why;
    path_of(bin, "bin");
    path_of(other, "other");
    put_file("bin/assets/rare.file");
    assert_false(assets_find_in(out, "rare.file", other, bin, &why));
    assert_non_null(strstr(why.text, "TOKENDRIP_ASSETS"));
    assert_non_null(strstr(why.text, other));
    put_file("other/rare.file");
    path_of(expected, "other/rare.file");
    assert_true(assets_find_in(out, "rare.file", other, bin, &why));
    assert_string_equal(out, expected);
    remove_file("bin/assets/rare.file");
    remove_file("other/rare.file");
}

static void what_is_nowhere_is_told_with_every_folder_tried(void **state) {
    (void)state;
    char bin[256], out[ASSETS_PATH_BYTES];
    struct why why;
    path_of(bin, "bin");
    assert_false(assets_find_in(out, "rare.file", NULL, bin, &why));
    assert_non_null(strstr(why.text, "no rare.file"));
    assert_non_null(strstr(why.text, "set TOKENDRIP_ASSETS"));
    assert_non_null(strstr(why.text, "/bin/assets"));
    assert_non_null(strstr(why.text, "/bin/../assets"));
    assert_non_null(strstr(why.text, "/bin/../share/tokendrip"));
    assert_null(strchr(why.text, '\n'));
}

static void paths_too_long_are_not_found_and_not_overrun(void **state) {
    (void)state;
    char out[ASSETS_PATH_BYTES];
    struct why why;
    char *folder = malloc(2 * ASSETS_PATH_BYTES);
    memset(folder, 'a', 2 * ASSETS_PATH_BYTES);
    folder[2 * ASSETS_PATH_BYTES - 1] = '\0';
    assert_false(assets_find_in(out, "rare.file", folder, NULL, &why));
    assert_false(assets_find_in(out, "rare.file", NULL, folder, &why));
    assert_true(strlen(why.text) < sizeof why.text);
    free(folder);
}

static void the_programs_own_assets_are_found_through_the_environment(void **state) {
    (void)state;
    char out[ASSETS_PATH_BYTES];
    struct why why;
    setenv("TOKENDRIP_ASSETS", TOKENDRIP_SOURCE_DIR "/assets", 1);
    assert_true(assets_find(out, "model/tokendrip.gguf", &why));
    assert_true(assets_find(out, "model/policy.txt", &why));
    assert_true(assets_find(out, "schedules/module-7.json", &why));
    assert_true(assets_find(out, "schedules/stage-0.json", &why));
}

static void a_run_may_be_named_without_saying_where_it_is(void **state) {
    (void)state;
    char path[ASSETS_PATH_BYTES];
    setenv("TOKENDRIP_ASSETS", TOKENDRIP_SOURCE_DIR "/assets", 1);
    const char *found = assets_run(path, "cpu-amd-epyc-2-cores");
    assert_string_equal(found, TOKENDRIP_SOURCE_DIR "/assets/runs/cpu-amd-epyc-2-cores.json");
    // A file of the user's goes first, and what is nowhere keeps its name for the message.
    assert_string_equal(assets_run(path, "/etc/passwd"), "/etc/passwd");
    assert_string_equal(assets_run(path, "no-such-run"), "no-such-run");
    assert_null(assets_run(path, NULL));
    unsetenv("TOKENDRIP_ASSETS");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_may_be_named_without_saying_where_it_is),
        cmocka_unit_test(the_nearest_folder_wins),
        cmocka_unit_test(the_environment_wins_and_then_nothing_else_is_tried),
        cmocka_unit_test(what_is_nowhere_is_told_with_every_folder_tried),
        cmocka_unit_test(paths_too_long_are_not_found_and_not_overrun),
        cmocka_unit_test(the_programs_own_assets_are_found_through_the_environment),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
