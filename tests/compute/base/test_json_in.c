// Tests of json_in.h: files and pipes up to a bound, syntax errors with their
// place, fields of the wrong type or range refused in one line. The formats that
// are read through it have tests of their own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/json_in.h"
#include "compute/base/why.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct why why;
static char folder[64];

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/tokendrip-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static struct {
    char path[128];
    int blocks; // of 1,000 bytes
} feed;

static void *fill_pipe(void *context) {
    (void)context;
    static char block[1000];
    int file = open(feed.path, O_WRONLY);
    memset(block, 'x', sizeof(block));
    for (int i = 0; i < feed.blocks; i++) {
        if (write(file, block, sizeof(block)) < 0)
            break;
    }
    close(file);
    return NULL;
}

static void a_pipe_is_read_to_its_end_but_not_past_the_bound(void **state) {
    (void)state;
    static const struct {
        int blocks;
        size_t max_bytes;
        bool fits;
    } rows[] = {
        {0, 100, true}, {3, 5000, true}, {300, 300000, true}, {300, 299999, false}, {70, 5, false}};
    signal(SIGPIPE, SIG_IGN);
    strcpy(feed.path, path_of("pipe"));
    assert_int_equal(mkfifo(feed.path, 0600), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pthread_t writer;
        feed.blocks = rows[i].blocks;
        assert_int_equal(pthread_create(&writer, NULL, fill_pipe, NULL), 0);
        char *text = NULL;
        size_t bytes = 0;
        bool done = jsonin_read(&text, &bytes, feed.path, rows[i].max_bytes, &why);
        pthread_join(writer, NULL);
        assert_int_equal(done, rows[i].fits);
        if (rows[i].fits) {
            assert_int_equal(bytes, 1000 * feed.blocks);
            assert_true(bytes == 0 || (text[0] == 'x' && text[bytes - 1] == 'x'));
        } else {
            assert_null(text);
            assert_non_null(strstr(why.text, "larger than"));
        }
        free(text);
    }
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(unlink(feed.path), 0);
}

static void a_file_of_just_the_bound_is_read(void **state) {
    (void)state;
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = fopen(path_of("x"), "w");
    fputs("12345", file);
    fclose(file);
    assert_true(jsonin_read(&text, &bytes, path_of("x"), 5, &why));
    assert_int_equal(bytes, 5);
    assert_memory_equal(text, "12345", 5);
    free(text);
    assert_false(jsonin_read(&text, &bytes, path_of("x"), 4, &why));
    assert_null(text);
    assert_int_equal(unlink(path_of("x")), 0);
}

static void a_byte_order_mark_is_taken_off_a_file_and_utf_16_is_refused(void **state) {
    (void)state;
    static const char marked[] = "\xEF\xBB\xBF[1]", wide[] = {'[', 0, '1', 0, ']', 0};
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = fopen(path_of("x"), "wb");
    fwrite(marked, 1, sizeof marked - 1, file);
    fclose(file);
    assert_true(jsonin_read(&text, &bytes, path_of("x"), 100, &why));
    assert_int_equal(bytes, 3);
    assert_memory_equal(text, "[1]", 3);
    free(text);
    file = fopen(path_of("x"), "wb");
    fwrite(wide, 1, sizeof wide, file);
    fclose(file);
    assert_false(jsonin_read(&text, &bytes, path_of("x"), 100, &why));
    assert_null(text);
    assert_non_null(strstr(why.text, "x: is UTF-16 text: save it as UTF-8"));
    assert_int_equal(unlink(path_of("x")), 0);
}

static void syntax_errors_name_file_line_and_column_in_one_line(void **state) {
    (void)state;
    static const struct {
        const char *json, *says;
        int first_line;
    } rows[] = {
        {"", "f.json:1:", 1},
        {"{\n\"a\": 1,\n}", "f.json:3:1: not valid JSON:", 1},
        {"{\n\"a\": 1,\n}", "f.json:12:1: not valid JSON:", 10},
        {"{\"a\": \"\n\"}", "f.json:1:", 1},
        {"{\"a\":1,\"a\":2}", "duplicate", 1},
        {"{} {}", "f.json:1:", 1},
        {"\xff", "f.json:1:", 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *root =
            jsonin_parse("f.json", rows[i].json, strlen(rows[i].json), rows[i].first_line, &why);
        assert_null(root);
        if (!strstr(why.text, rows[i].says) || strchr(why.text, '\n'))
            fail_msg("row %zu says \"%s\"", i, why.text);
    }
}

static void a_reason_keeps_its_end_when_names_and_values_are_long(void **state) {
    (void)state;
    char name[400] = "";
    memset(name, 'd', sizeof(name) - 1);
    strcpy(name + 380, "/run.json");
    struct jsonin at = {.name = name, .why = &why, .where = "passes[3]"};
    assert_false(jsonin_fail(&at, "\"%s\" is wrong", "a\nb\x7f"));
    assert_non_null(strstr(why.text, "/run.json: passes[3]: \"a b \" is wrong"));
    assert_string_equal(jsonin_short("x.json"), "x.json");
    assert_int_equal(strlen(jsonin_short(name)), 100);
}

static void fields_are_taken_only_in_their_type_and_range(void **state) {
    (void)state;
    static const char json[] = "{\"i\":-5,\"r\":1.0,\"t\":true,\"n\":null,\"s\":\"abc\","
                               "\"a\":[1,2],\"o\":{\"x\":1},\"big\":9223372036854775807}";
    json_t *root = jsonin_parse("f.json", json, strlen(json), 1, &why);
    assert_non_null(root);
    struct jsonin at = {.name = "f.json", .json = root, .why = &why}, inner;
    int64_t number = 0;
    bool flag = false;
    char text[4];
    const json_t *array = NULL;
    assert_true(jsonin_int(&at, "i", (struct jsonin_range){-5, -5}, &number));
    assert_int_equal(number, -5);
    assert_true(jsonin_int(&at, "big", (struct jsonin_range){0, INT64_MAX}, &number));
    assert_int_equal(number, INT64_MAX);
    assert_false(jsonin_int(&at, "i", (struct jsonin_range){-4, 0}, &number));
    assert_string_equal(why.text, "f.json: \"i\" is -5, expected -4 to 0");
    assert_false(jsonin_int(&at, "i", (struct jsonin_range){-9, -6}, &number));
    assert_false(jsonin_int(&at, "r", (struct jsonin_range){0, 9}, &number));
    assert_false(jsonin_int(&at, "none", (struct jsonin_range){0, 9}, &number));
    assert_string_equal(why.text, "f.json: \"none\" is missing");
    assert_int_equal(number, INT64_MAX); // untouched by a refusal
    assert_true(jsonin_bool(&at, "t", &flag) && flag);
    assert_false(jsonin_bool(&at, "n", &flag));
    assert_false(jsonin_bool(&at, "none", &flag));
    assert_true(jsonin_text(&at, "s", text, 4));
    assert_string_equal(text, "abc");
    assert_false(jsonin_text(&at, "s", text, 3));
    assert_false(jsonin_text(&at, "i", text, 4));
    assert_true(jsonin_array(&at, "a", (struct jsonin_range){2, 2}, &array));
    assert_false(jsonin_array(&at, "a", (struct jsonin_range){3, 9}, &array));
    assert_false(jsonin_array(&at, "a", (struct jsonin_range){0, 1}, &array));
    assert_false(jsonin_array(&at, "o", (struct jsonin_range){0, 9}, &array));
    assert_true(jsonin_enter(&inner, &at, "o"));
    assert_false(jsonin_int(&inner, "x", (struct jsonin_range){2, 3}, &number));
    assert_string_equal(why.text, "f.json: o: \"x\" is 1, expected 2 to 3");
    assert_false(jsonin_enter(&inner, &at, "a"));
    assert_false(jsonin_enter_item(&inner, &at, "a", array, 1));
    assert_string_equal(why.text, "f.json: a[1]: it is an integer, expected an object");
    assert_false(jsonin_enter_item(&inner, &at, "a", array, 2));
    assert_string_equal(why.text, "f.json: a[2]: it is missing, expected an object");
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_pipe_is_read_to_its_end_but_not_past_the_bound,
                                        make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_file_of_just_the_bound_is_read, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(a_byte_order_mark_is_taken_off_a_file_and_utf_16_is_refused,
                                        make_folder, remove_folder),
        cmocka_unit_test(syntax_errors_name_file_line_and_column_in_one_line),
        cmocka_unit_test(a_reason_keeps_its_end_when_names_and_values_are_long),
        cmocka_unit_test(fields_are_taken_only_in_their_type_and_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
