// Files that are whole or not there: names of parts, targets that are refused, the
// last step, and what a full disk says.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/partfile.h"
#include "compute/base/why.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A folder for one test, and the last two paths made in it.
static char folder[64];
static char paths[2][128];
static int next_path;

static const char *path_of(const char *name) {
    char *out = paths[next_path++ % 2];
    snprintf(out, sizeof paths[0], "%s/%s", folder, name);
    return out;
}

static bool is_there(const char *name) {
    return access(path_of(name), F_OK) == 0;
}

static void put_file(const char *name, const char *text) {
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void assert_file_holds(const char *name, const char *expected) {
    char text[64] = "";
    FILE *file = fopen(path_of(name), "rb");
    assert_non_null(file);
    size_t bytes = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[bytes] = '\0';
    assert_string_equal(text, expected);
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tokendrip-partfile-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

// Fails, and the test with it, when the test left something behind.
static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static void parts_never_share_a_name(void **state) {
    (void)state;
    char target[128];
    struct why why;
    snprintf(target, sizeof target, "%s", path_of("film.v2.mp4"));
    struct partfile parts[3];
    for (int i = 0; i < 3; i++)
        assert_true(
            partfile_create(&parts[i], target, (struct partfile_name){"part", ".mp4"}, &why));
    assert_true(is_there("film.v2.part.mp4"));
    assert_true(is_there("film.v2.part2.mp4"));
    assert_true(is_there("film.v2.part3.mp4"));
    partfile_discard(&parts[1]);
    assert_false(is_there("film.v2.part2.mp4"));
    partfile_keep(&parts[0]);
    assert_true(is_there("film.v2.part.mp4"));
    assert_int_equal(unlink(parts[0].path), 0);
    partfile_discard(&parts[2]);
}

static void folders_in_the_making_never_share_a_name(void **state) {
    (void)state;
    char target[128];
    struct why why;
    snprintf(target, sizeof target, "%s", path_of("stills"));
    struct partfile parts[2];
    for (int i = 0; i < 2; i++)
        assert_true(partfile_create_folder(&parts[i], target, "part", &why));
    assert_string_equal(parts[0].path, path_of("stills.part"));
    assert_string_equal(parts[1].path, path_of("stills.part2"));
    assert_int_equal(rmdir(parts[1].path), 0);
    assert_true(partfile_rename(parts[0].path, target, false, &why));
    assert_int_equal(rmdir(target), 0);
}

static void publishing_never_replaces_what_appeared_meanwhile(void **state) {
    (void)state;
    for (int overwrite = 0; overwrite < 2; overwrite++) {
        char target[128];
        struct why why;
        struct partfile part;
        snprintf(target, sizeof target, "%s", path_of("a.y4m"));
        assert_true(partfile_create(&part, target, (struct partfile_name){"part", ".y4m"}, &why));
        assert_true(partfile_write(&part, "new", 3, &why));
        put_file("a.y4m", "old");
        assert_int_equal(partfile_publish(&part, target, overwrite == 1, &why), overwrite == 1);
        assert_file_holds("a.y4m", overwrite ? "new" : "old");
        if (!overwrite) {
            assert_non_null(strstr(why.text, "a.part.y4m")); // where the new one is
            assert_int_equal(unlink(part.path), 0);
        }
    }
    assert_int_equal(unlink(path_of("a.y4m")), 0);
}

static void a_target_that_cannot_become_a_file_is_refused_with_the_reason(void **state) {
    (void)state;
    char longest[PARTFILE_PATH_BYTES];
    struct why why;
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    put_file("there.png", "");
    assert_int_equal(symlink("nothing", path_of("link.png")), 0);

    assert_true(partfile_check_target(path_of("free.png"), false, NULL, &why));
    assert_true(partfile_check_target(path_of("there.png"), true, NULL, &why));
    assert_false(partfile_check_target(path_of("there.png"), false, NULL, &why));
    assert_non_null(strstr(why.text, "exists"));
    assert_false(partfile_check_target(path_of("link.png"), true, NULL, &why));
    assert_non_null(strstr(why.text, "link to nothing"));
    assert_false(partfile_check_target(folder, true, NULL, &why));
    assert_non_null(strstr(why.text, "no plain file"));
    assert_false(partfile_check_target(path_of("missing/a.png"), true, NULL, &why));
    assert_non_null(strstr(why.text, "there is no folder"));
    assert_false(partfile_check_target(longest, true, NULL, &why));
    assert_non_null(strstr(why.text, "too long"));

    assert_int_equal(unlink(path_of("there.png")), 0);
    assert_int_equal(unlink(path_of("link.png")), 0);
}

static void a_write_error_says_what_the_system_said(void **state) {
    (void)state;
    struct partfile full = {.fd = open("/dev/full", O_WRONLY), .path = "film.part.mp4"};
    if (full.fd < 0)
        skip();
    struct why why;
    assert_false(partfile_write(&full, "x", 1, &why));
    assert_non_null(strstr(why.text, strerror(ENOSPC)));
    assert_non_null(strstr(why.text, "film.part.mp4"));
    partfile_keep(&full);
}

static void an_output_is_no_other_file_of_the_command_by_any_name(void **state) {
    (void)state;
    struct why why;
    char input[128], other[160], link_name[128], hard[128], free_name[128];
    snprintf(input, sizeof input, "%s", path_of("model.gguf"));
    snprintf(other, sizeof other, "%s", path_of(".//model.gguf"));
    snprintf(link_name, sizeof link_name, "%s", path_of("link.gguf"));
    snprintf(hard, sizeof hard, "%s", path_of("hard.gguf"));
    snprintf(free_name, sizeof free_name, "%s", path_of("figures.json"));
    put_file("model.gguf", "weights");
    assert_int_equal(symlink(input, link_name), 0);
    assert_int_equal(link(input, hard), 0);
    const char *const taken[] = {"absent/model.gguf", input, free_name, NULL};
    const char *const same[] = {input, other, link_name, hard};
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_false(partfile_check_target(same[i], true, taken, &why));
        assert_non_null(strstr(why.text, "same file"));
        const char *const by_that_name[] = {same[i], NULL};
        assert_false(partfile_check_target(input, true, by_that_name, &why));
        assert_true(partfile_check_target(free_name, false, by_that_name, &why));
    }
    // Neither is there yet.
    assert_false(partfile_check_target(path_of("./figures.json"), false, taken, &why));
    assert_true(partfile_check_target(path_of("figures.csv"), false, taken, &why));
    assert_int_equal(unlink(hard), 0);
    assert_int_equal(unlink(link_name), 0);
    assert_int_equal(unlink(input), 0);
}

static void saving_replaces_a_file_only_if_it_may_and_no_other(void **state) {
    (void)state;
    struct why why;
    char target[128];
    snprintf(target, sizeof target, "%s", path_of("run.json"));
    put_file("run.json", "old and longer");
    put_file("run.part", "somebody else's");
    assert_false(partfile_save(target, "new", 3, false, &why));
    assert_file_holds("run.json", "old and longer");
    assert_true(partfile_save(target, "new", 3, true, &why));
    assert_file_holds("run.json", "new");
    assert_file_holds("run.part", "somebody else's");
    assert_false(is_there("run.part2"));
    assert_int_equal(unlink(path_of("run.part")), 0);
    assert_int_equal(unlink(target), 0);
}

static void a_save_that_fails_says_why_and_leaves_what_was_there(void **state) {
    (void)state;
    struct why why;
    char longest[PARTFILE_PATH_BYTES];
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_false(partfile_save(longest, "new", 3, true, &why));
    assert_non_null(strstr(why.text, "too long"));
    assert_false(partfile_save(path_of("missing/run.json"), "new", 3, true, &why));
    assert_non_null(strstr(why.text, "create it first"));
    char target[128];
    snprintf(target, sizeof target, "%s", path_of("taken"));
    assert_int_equal(mkdir(target, 0700), 0);
    assert_false(partfile_save(target, "new", 3, true, &why));
    assert_false(is_there("taken.part"));
    assert_int_equal(rmdir(target), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_never_share_a_name, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(folders_in_the_making_never_share_a_name, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(publishing_never_replaces_what_appeared_meanwhile,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(
            a_target_that_cannot_become_a_file_is_refused_with_the_reason, make_folder,
            remove_folder),
        cmocka_unit_test(a_write_error_says_what_the_system_said),
        cmocka_unit_test_setup_teardown(an_output_is_no_other_file_of_the_command_by_any_name,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(saving_replaces_a_file_only_if_it_may_and_no_other,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_save_that_fails_says_why_and_leaves_what_was_there,
                                        make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
