// What is remembered: a round trip for every value, any damage is as if nothing were
// there, and a failed save leaves the old file as it was. (test_memory is the machine's
// memory, in compute.)
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/state/actions.h"
#include "app/window/memory.h"
#include "compute/base/why.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64]; // of the test under way

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/tokendrip-memory-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -r %s", folder, folder);
    return system(command);
}

static const char *in_folder(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *path, const char *text, size_t bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
}

static char *read_file(const char *path) {
    static char text[4096];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static int files_in(const char *path) {
    DIR *dir = opendir(path);
    int count = 0;
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2; // "." and ".."
}

static void assert_same(const struct memory *a, const struct memory *b) {
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->theme, b->theme);
    assert_int_equal(a->text_step, b->text_step);
    assert_int_equal(a->clock, b->clock);
    assert_int_equal(a->place.chapter, b->place.chapter);
    assert_int_equal(a->place.step, b->place.step);
    assert_int_equal(a->width_px, b->width_px);
    assert_int_equal(a->height_px, b->height_px);
    assert_int_equal(a->is_calm, b->is_calm);
}

static const struct memory defaults;
// Nothing in it is a default.
static const struct memory other = {
    .mode = MODE_LAB,
    .theme = THEME_CONTRAST,
    .text_step = -3,
    .clock = CLOCK_LESSON,
    .place = {3, 11},
    .width_px = 1280,
    .height_px = 720,
    .is_calm = true,
};

// --- The text ---

// Parses a copy that ends where its memory ends.
static bool parse(struct memory *out, const char *text, size_t bytes) {
    char *copy = malloc(bytes ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, text, bytes);
    bool ok = memory_parse(out, copy, bytes);
    free(copy);
    return ok;
}

static void assert_round_trip(const struct memory *memory) {
    struct why why = {0};
    size_t bytes = 0;
    struct memory again;
    memset(&again, 0x5A, sizeof again);
    char *text = memory_print(memory, &bytes, &why);
    assert_non_null(text);
    assert_true(parse(&again, text, bytes));
    assert_same(&again, memory);
    free(text);
}

static void every_value_comes_back(void **state) {
    (void)state;
    assert_round_trip(&defaults);
    assert_round_trip(&other);
    struct memory memory = other;
    for (int mode = MODE_STAGE; mode <= MODE_LAB; mode++) {
        memory.mode = (enum mode_choice)mode;
        assert_round_trip(&memory);
    }
    for (int theme = 0; theme < THEME_COUNT; theme++) {
        memory.theme = (enum theme_id)theme;
        assert_round_trip(&memory);
    }
    for (int step = TEXT_STEP_MIN; step <= TEXT_STEP_MAX; step++) {
        memory.text_step = step;
        assert_round_trip(&memory);
    }
    memory.place = (struct lesson_place){LESSON_MAX_CHAPTERS - 1, RUN_MAX_TOKENS};
    memory.width_px = 8192;
    memory.height_px = 64;
    assert_round_trip(&memory);
}

static void a_text_cut_anywhere_is_no_memory(void **state) {
    (void)state;
    struct why why;
    size_t bytes = 0;
    char *text = memory_print(&other, &bytes, &why);
    assert_non_null(text);
    assert_int_equal(text[bytes - 1], '\n');
    for (size_t cut = 0; cut + 1 < bytes; cut++) {
        struct memory memory = other;
        if (parse(&memory, text, cut))
            fail_msg("%zu of %zu bytes were taken", cut, bytes);
        assert_same(&memory, &other);
    }
    free(text);
}

static void what_is_no_object_is_no_memory(void **state) {
    static const char *const texts[] = {"",
                                        "null",
                                        "[]",
                                        "7",
                                        "\"x\"",
                                        "true",
                                        "{}{}",
                                        "{\"a\":}",
                                        "{'mode':'lab'}",
                                        "\xFF\xFE{}",
                                        "{\"mode\":\"\xFF\"}",
                                        "{\"mode\":\"lab\",\"mode\":\"show\"}",
                                        "{\"step\":99999999999999999999}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct memory memory = other;
        if (parse(&memory, texts[i], strlen(texts[i])))
            fail_msg("taken: %s", texts[i]);
        assert_same(&memory, &other);
    }
    char deep[5000];
    memset(deep, '[', sizeof deep);
    struct memory memory;
    assert_false(parse(&memory, deep, sizeof deep));
}

static void a_wrong_field_keeps_its_default_and_leaves_the_others(void **state) {
    static const char *const wrong[] = {
        "\"theme\":\"pink\"",
        "\"theme\":2",
        "\"theme\":null",
        "\"theme\":\"\"",
        "\"theme\":\"darkdarkdarkdarkdarkdarkdarkdarkdarkdarkdark\"",
        "\"theme\":[\"contrast\"]",
        "\"clock\":\"wall\"",
        "\"clock\":{}",
        "\"text_step\":9",
        "\"text_step\":-5",
        "\"text_step\":2.5",
        "\"text_step\":\"2\"",
        "\"text_step\":9223372036854775807",
        "\"chapter\":16",
        "\"chapter\":-1",
        "\"step\":-1",
        "\"step\":4294967297",
        "\"step\":true",
        "\"width_px\":0,\"height_px\":0",
        "\"width_px\":63,\"height_px\":720",
        "\"width_px\":1280,\"height_px\":8193",
        "\"width_px\":-1280,\"height_px\":-720",
        "\"width_px\":1280",
        "\"height_px\":720",
        "\"is_calm\":1",
        "\"is_calm\":\"true\"",
        "\"is_calm\":null",
        "\"unknown\":{\"a\":[1,2,3]}",
        "\"version\":\"x\"",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char text[256];
        struct memory memory, expected = {.mode = MODE_LESSON};
        memset(&memory, 0x5A, sizeof memory);
        snprintf(text, sizeof text, "{\"mode\":\"lesson\",%s}", wrong[i]);
        if (!parse(&memory, text, strlen(text)))
            fail_msg("refused: %s", text);
        assert_same(&memory, &expected);
    }
}

static void a_later_versions_file_is_read_as_far_as_it_is_known(void **state) {
    static const char text[] =
        "{\"version\":99,\"mode\":\"lab\",\"theme\":\"contrast\",\"text_step\":-3,"
        "\"clock\":\"lesson\",\"chapter\":3,\"step\":11,\"width_px\":1280,\"height_px\":720,"
        "\"is_calm\":true,\"voice\":{\"speed\":2},\"mode_2\":\"x\"}";
    struct memory memory;
    (void)state;
    assert_true(parse(&memory, text, sizeof text - 1));
    assert_same(&memory, &other);
    assert_true(parse(&memory, "{}", 2));
    assert_same(&memory, &defaults);
}

// --- Files ---

static void a_saved_file_comes_back_and_is_replaced_whole(void **state) {
    (void)state;
    const char *path = in_folder("state.json");
    struct why why = {0};
    struct memory memory = {.text_step = 8};
    assert_true(memory_save(&other, path, &why));
    assert_true(memory_load(&memory, path));
    assert_same(&memory, &other);
    assert_true(memory_save(&defaults, path, &why));
    assert_true(memory_load(&memory, path));
    assert_same(&memory, &defaults);
    assert_int_equal(files_in(folder), 1);
}

static void missing_folders_are_made_for_the_user_alone(void **state) {
    (void)state;
    struct stat st;
    struct why why = {0};
    assert_int_equal(chmod(folder, 0755), 0);
    assert_true(memory_save(&other, in_folder("a/b/tokendrip/state.json"), &why));
    static const char *const made[] = {"a", "a/b", "a/b/tokendrip"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stat(in_folder(made[i]), &st), 0);
        assert_int_equal(st.st_mode & 0777, 0700);
    }
    // One that was there stays as it was.
    assert_int_equal(stat(folder, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0755);
}

static void what_cannot_be_read_is_as_if_it_were_not_there(void **state) {
    (void)state;
    struct memory memory = other;
    assert_false(memory_load(&memory, in_folder("absent.json")));
    assert_false(memory_load(&memory, folder));
    assert_false(memory_load(&memory, in_folder("absent/state.json")));
    assert_false(memory_load(&memory, "/dev/zero"));
    // Nobody writes into it: reading would wait for ever.
    assert_int_equal(mkfifo(in_folder("pipe.json"), 0600), 0);
    assert_false(memory_load(&memory, in_folder("pipe.json")));
    // Valid, and larger than such a file can be.
    char *huge = malloc(200000);
    assert_non_null(huge);
    memset(huge, ' ', 200000);
    huge[0] = '{';
    huge[199999] = '}';
    write_file(in_folder("huge.json"), huge, 200000);
    assert_false(memory_load(&memory, in_folder("huge.json")));
    write_file(in_folder("small.json"), huge, 0);
    assert_false(memory_load(&memory, in_folder("small.json")));
    free(huge);
    assert_same(&memory, &other);
    if (geteuid() == 0)
        return; // may read anything
    write_file(in_folder("secret.json"), "{}", 2);
    assert_int_equal(chmod(in_folder("secret.json"), 0), 0);
    assert_false(memory_load(&memory, in_folder("secret.json")));
}

static void assert_not_saved(const char *path, const char *says) {
    struct why why = {0};
    if (memory_save(&other, path, &why))
        fail_msg("saved to %s", path);
    if (!strstr(why.text, says) || strchr(why.text, '\n'))
        fail_msg("%s: \"%s\" does not say %s", path, why.text, says);
}

static void a_folder_that_cannot_be_made_or_written_gives_a_reason(void **state) {
    (void)state;
    write_file(in_folder("file"), "x", 1);
    assert_not_saved(in_folder("file/tokendrip/state.json"), "not remembered");
    assert_int_equal(mkdir(in_folder("state.json"), 0700), 0);
    assert_not_saved(in_folder("state.json"), "state.json");
    assert_int_equal(files_in(in_folder("state.json")), 0);
    assert_int_equal(files_in(folder), 2); // no part is left
    char longest[6000];
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    assert_not_saved(longest, "too long");
    if (geteuid() == 0)
        return; // may write anywhere
    assert_int_equal(mkdir(in_folder("closed"), 0500), 0);
    assert_not_saved(in_folder("closed/state.json"), "ermission");
    assert_not_saved(in_folder("closed/tokendrip/state.json"), "ermission");
}

// A disk that is full in the middle of the file: no file of the process may grow beyond
// so many bytes.
static void a_full_disk_gives_a_reason_and_leaves_the_old_file(void **state) {
    (void)state;
    const char *path = in_folder("state.json");
    struct why why = {0};
    assert_true(memory_save(&other, path, &why));
    struct rlimit before, full;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    full = before;
    full.rlim_cur = 40;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    bool ok = memory_save(&defaults, path, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_false(ok);
    assert_non_null(strstr(why.text, "not remembered"));
    assert_non_null(strstr(why.text, strerror(EFBIG)));
    struct memory memory;
    assert_true(memory_load(&memory, path));
    assert_same(&memory, &other);
    assert_int_equal(files_in(folder), 1);
}

// --- Where ---

static void set_places(const char *state_home, const char *home) {
    assert_int_equal(
        state_home ? setenv("XDG_STATE_HOME", state_home, 1) : unsetenv("XDG_STATE_HOME"), 0);
    assert_int_equal(home ? setenv("HOME", home, 1) : unsetenv("HOME"), 0);
}

static bool load(struct memory *memory) {
    char path[PARTFILE_PATH_BYTES];
    return memory_path(path) && memory_load(memory, path);
}

static bool save(const struct memory *memory) {
    char path[PARTFILE_PATH_BYTES];
    struct why why;
    return memory_path(path) && memory_save(memory, path, &why);
}

static void it_lies_where_xdg_says(void **state) {
    (void)state;
    char home[80], state_home[80];
    struct memory memory;
    snprintf(home, sizeof home, "%s/home", folder);
    snprintf(state_home, sizeof state_home, "%s/state", folder);
    assert_int_equal(chdir(folder), 0); // where a relative path would go
    set_places(state_home, home);
    assert_false(load(&memory));
    assert_true(save(&other));
    assert_non_null(strstr(read_file(in_folder("state/tokendrip/state.json")), "\"lab\""));
    assert_true(load(&memory));
    assert_same(&memory, &other);
    assert_int_equal(access(home, F_OK), -1);

    // Unset, empty and relative ones do not count.
    static const char *const no_places[] = {NULL, "", "relative", "./state"};
    for (size_t i = 0; i < sizeof no_places / sizeof no_places[0]; i++) {
        set_places(no_places[i], home);
        assert_int_equal(load(&memory), i > 0);
        struct memory saved = {.text_step = (int)i};
        assert_true(save(&saved));
        assert_non_null(read_file(in_folder("home/.local/state/tokendrip/state.json")));
        assert_true(load(&memory));
        assert_same(&memory, &saved);
    }
    assert_int_equal(files_in(folder), 2);
    assert_int_equal(chdir("/"), 0);
}

static void without_a_home_nothing_is_remembered(void **state) {
    (void)state;
    static const char *const no_homes[] = {NULL, "", "home"};
    for (size_t i = 0; i < sizeof no_homes / sizeof no_homes[0]; i++) {
        struct memory memory = other;
        set_places(NULL, no_homes[i]);
        assert_false(load(&memory));
        assert_same(&memory, &other);
        assert_false(save(&other));
    }
    char longest[6000];
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    struct memory memory;
    set_places(longest, NULL);
    assert_false(load(&memory));
    assert_false(save(&other));
}

#define MEMORY_TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_comes_back),
        cmocka_unit_test(a_text_cut_anywhere_is_no_memory),
        cmocka_unit_test(what_is_no_object_is_no_memory),
        cmocka_unit_test(a_wrong_field_keeps_its_default_and_leaves_the_others),
        cmocka_unit_test(a_later_versions_file_is_read_as_far_as_it_is_known),
        MEMORY_TEST(a_saved_file_comes_back_and_is_replaced_whole),
        MEMORY_TEST(missing_folders_are_made_for_the_user_alone),
        MEMORY_TEST(what_cannot_be_read_is_as_if_it_were_not_there),
        MEMORY_TEST(a_folder_that_cannot_be_made_or_written_gives_a_reason),
        MEMORY_TEST(a_full_disk_gives_a_reason_and_leaves_the_old_file),
        MEMORY_TEST(it_lies_where_xdg_says),
        MEMORY_TEST(without_a_home_nothing_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
