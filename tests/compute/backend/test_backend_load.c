// Tests of finding the CUDA plugin: where it is looked for, and one exact line for
// each way in which it cannot be used. The plugins are tests/compute/backend/backend_plugin.c,
// built as TOKENDRIP_TEST_PLUGINS "/plugin_<kind>.so".
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/backend/load.h"
#include "compute/base/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Every process has it.
#define ANY_LIBRARY "libc.so.6"

static void assert_says(const char *why, const char *part) {
    if (!strstr(why, part))
        fail_msg("\"%s\" does not say \"%s\"", why, part);
    assert_null(strchr(why, '\n'));
}

static const char *plugin(const char *kind) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/plugin_%s.so", TOKENDRIP_TEST_PLUGINS, kind);
    return path;
}

static void a_good_plugin_gives_its_table(void **state) {
    (void)state;
    struct why why = {0};
    const struct backend *backend = backend_load_file(plugin("good"), ANY_LIBRARY, &why);
    if (!backend)
        fail_msg("%s", why.text);
    assert_string_equal(backend->name, "test");
    assert_ptr_equal(backend_load_file(plugin("good"), NULL, &why), backend);
    assert_string_equal(why.text, "");
}

static void every_way_to_fail_has_its_own_line(void **state) {
    (void)state;
    static const struct {
        const char *kind, *driver, *says;
    } cases[] = {
        {"absent", ANY_LIBRARY, "plugin_absent.so is missing"},
        {"good", "libtokendrip-no-such-driver.so.1",
         "no NVIDIA driver is installed (libtokendrip-no-such-driver.so.1 is missing)"},
        {"old", ANY_LIBRARY, "has interface version 0, this program needs"},
        {"other", ANY_LIBRARY, "is no plugin of this program"},
        {"alone", ANY_LIBRARY, "there is no card"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct why why = {0};
        assert_null(backend_load_file(plugin(cases[i].kind), cases[i].driver, &why));
        assert_says(why.text, cases[i].says);
    }
}

static void a_missing_driver_is_told_before_the_plugin_is_opened(void **state) {
    (void)state;
    struct why why = {0};
    assert_null(backend_load_file(plugin("old"), "libtokendrip-no-such-driver.so.1", &why));
    assert_says(why.text, "no NVIDIA driver");
}

static void a_file_that_is_no_library_is_told_with_the_loaders_reason(void **state) {
    (void)state;
    char folder[] = "/tmp/tokendrip-load-XXXXXX", path[64];
    struct why why = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/" BACKEND_LOAD_FILE, folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("no library", file);
    fclose(file);
    assert_null(backend_load_file(path, NULL, &why));
    assert_says(why.text, "the CUDA plugin cannot be loaded");
    assert_says(why.text, path);
    unlink(path);
    rmdir(folder);
}

static void touch(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void it_lies_beside_the_program_or_in_the_librarys_folder(void **state) {
    (void)state;
    char root[] = "/tmp/tokendrip-load-XXXXXX", program[64], beside[64], path[256];
    char lib[64], folder[64], installed[96], bin[64];
    assert_non_null(mkdtemp(root));
    snprintf(bin, sizeof bin, "%s/bin", root);
    snprintf(lib, sizeof lib, "%s/lib", root);
    snprintf(folder, sizeof folder, "%s/lib/tokendrip", root);
    snprintf(program, sizeof program, "%s/bin/tokendrip", root);
    snprintf(beside, sizeof beside, "%s/bin/" BACKEND_LOAD_FILE, root);
    snprintf(installed, sizeof installed, "%s/lib/tokendrip/" BACKEND_LOAD_FILE, root);
    assert_int_equal(mkdir(bin, 0700) | mkdir(lib, 0700) | mkdir(folder, 0700), 0);

    assert_true(backend_load_place(path, sizeof path, program));
    assert_string_equal(path, beside); // none is there: the first place is named
    touch(installed);
    assert_true(backend_load_place(path, sizeof path, program));
    assert_non_null(strstr(path, "/bin/../lib/tokendrip/" BACKEND_LOAD_FILE));
    touch(beside);
    assert_true(backend_load_place(path, sizeof path, program));
    assert_string_equal(path, beside);
    assert_false(backend_load_place(path, strlen(beside), program));

    unlink(beside);
    unlink(installed);
    rmdir(folder);
    rmdir(lib);
    rmdir(bin);
    rmdir(root);
}

// There is no plugin beside a test program.
static void the_programs_own_answer_is_kept(void **state) {
    (void)state;
    struct why why = {0};
    struct why again = {0};
    assert_null(backend_load_cuda(&why));
    assert_says(why.text, BACKEND_LOAD_FILE " is missing");
    assert_null(backend_load_cuda(&again));
    assert_string_equal(again.text, why.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_plugin_gives_its_table),
        cmocka_unit_test(every_way_to_fail_has_its_own_line),
        cmocka_unit_test(a_missing_driver_is_told_before_the_plugin_is_opened),
        cmocka_unit_test(a_file_that_is_no_library_is_told_with_the_loaders_reason),
        cmocka_unit_test(it_lies_beside_the_program_or_in_the_librarys_folder),
        cmocka_unit_test(the_programs_own_answer_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
