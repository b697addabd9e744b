// Tests of json_out.h: commas, escapes and decimals to the byte, and that every
// text written is read back by jansson as it was; the bound holds to the byte.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/json_out.h"
#include "compute/base/why.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct why why;

static void write_everything(struct jsonout *out) {
    jsonout_open(out, NULL, '{');
    jsonout_int(out, "i", INT64_MIN);
    jsonout_line(out);
    jsonout_open(out, "a", '[');
    jsonout_int(out, NULL, 1);
    jsonout_int(out, NULL, 2);
    jsonout_open(out, NULL, '{');
    jsonout_close(out, '}');
    jsonout_line(out);
    jsonout_bool(out, NULL, true);
    jsonout_close(out, ']');
    jsonout_bool(out, "b", false);
    jsonout_text(out, "t", "{[", 2); // brackets in a text ask for a comma, too
    jsonout_text(out, "e", "", 0);
    jsonout_us(out, "u", 72000);
    jsonout_us(out, "v", 7);
    jsonout_us(out, "w", 9007199254740992);
    jsonout_close(out, '}');
}

static const char everything[] =
    "{\"i\":-9223372036854775808,\n\"a\":[1,2,{},\ntrue],\"b\":false,\"t\":\"{[\",\"e\":\"\","
    "\"u\":72.000,\"v\":0.007,\"w\":9007199254740.992}";

static void commas_lines_and_decimals_are_where_they_belong(void **state) {
    (void)state;
    struct jsonout out = {.max_bytes = 1000};
    size_t bytes = 0;
    write_everything(&out);
    char *text = jsonout_take(&out, &bytes, &why);
    assert_string_equal(text, everything);
    assert_int_equal(bytes, sizeof(everything) - 1);
    free(text);
}

static void a_text_is_refused_by_one_byte_and_fits_by_none(void **state) {
    (void)state;
    for (size_t max = 0; max < sizeof(everything); max++) {
        struct jsonout out = {.max_bytes = max};
        size_t bytes = 7;
        write_everything(&out);
        char *text = jsonout_take(&out, &bytes, &why);
        assert_int_equal(text != NULL, max >= sizeof(everything) - 1);
        assert_int_equal(bytes, text ? sizeof(everything) - 1 : 0);
        if (!text)
            assert_non_null(strstr(why.text, "larger than"));
        free(text);
    }
}

static void large_texts_grow_without_a_gap(void **state) {
    (void)state;
    struct jsonout out = {.max_bytes = 1 << 20};
    size_t bytes = 0;
    jsonout_open(&out, NULL, '[');
    for (int i = 0; i < 50000; i++)
        jsonout_int(&out, NULL, i);
    jsonout_close(&out, ']');
    char *text = jsonout_take(&out, &bytes, &why);
    json_t *root = json_loadb(text, bytes, 0, NULL);
    assert_int_equal(json_array_size(root), 50000);
    for (size_t i = 0; i < 50000; i++)
        assert_int_equal(json_integer_value(json_array_get(root, i)), i);
    json_decref(root);
    free(text);
}

static void the_end_has_room_at_every_length(void **state) {
    (void)state;
    static char letters[1 << 15];
    memset(letters, 'x', sizeof(letters));
    for (size_t count = (1 << 14) - 8; count < (1 << 14) + 8; count++) {
        struct jsonout out = {.max_bytes = 1 << 20};
        size_t bytes = 0;
        jsonout_text(&out, NULL, letters, count);
        char *text = jsonout_take(&out, &bytes, &why);
        assert_int_equal(bytes, count + 2);
        assert_int_equal(strlen(text), bytes); // ASan: its NUL lies inside, too
        free(text);
    }
}

static void every_character_is_read_back_as_it_was(void **state) {
    (void)state;
    char all[140];
    size_t count = 0;
    for (int c = 0; c < 128; c++)
        all[count++] = (char)c;
    memcpy(all + count, "\xe2\x96\x81\xf0\x9f\x93\xa6", 7);
    count += 7;
    struct jsonout out = {.max_bytes = 4000};
    size_t bytes = 0;
    jsonout_open(&out, NULL, '[');
    jsonout_text(&out, NULL, all, count);
    jsonout_close(&out, ']');
    char *text = jsonout_take(&out, &bytes, &why);
    assert_non_null(strstr(text, "\\u0000\\u0001"));
    assert_non_null(strstr(text, "\\t\\n\\u000b"));
    assert_non_null(strstr(text, " !\\\"#"));
    assert_non_null(strstr(text, "[\\\\]"));
    assert_non_null(strstr(text, "~\\u007f\xe2\x96\x81"));
    json_t *root = json_loadb(text, bytes, JSON_ALLOW_NUL, NULL);
    assert_int_equal(json_string_length(json_array_get(root, 0)), count);
    assert_memory_equal(json_string_value(json_array_get(root, 0)), all, count);
    json_decref(root);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_lines_and_decimals_are_where_they_belong),
        cmocka_unit_test(a_text_is_refused_by_one_byte_and_fits_by_none),
        cmocka_unit_test(large_texts_grow_without_a_gap),
        cmocka_unit_test(the_end_has_room_at_every_length),
        cmocka_unit_test(every_character_is_read_back_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
