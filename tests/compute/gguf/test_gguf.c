// Tests of gguf.h. Good files are read back value by value; evil ones (the cases
// of llama.cpp's own test of its reader, and some more) must be refused with a line
// that names the fault; every truncation of the good ones is tried. All bytes lie
// in memory of their exact size, so that a sanitizer sees a read past the end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/gguf/gguf.h"
#include "tests/compute/gguf/gguf_builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct why why;

typedef void build_fn(struct gguf_builder *builder);

// --- Helpers ---

static bool parse_builder(struct gguf **out, const struct gguf_builder *builder,
                          uint8_t **bytes_out) {
    size_t bytes;
    *bytes_out = gguf_builder_finish(builder, &bytes);
    why.text[0] = '\0';
    return gguf_parse(out, "test.gguf", *bytes_out, bytes, &why);
}

static bool is_one_clean_line(const char *text) {
    if (text[0] == '\0')
        return false;
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    }
    return true;
}

// Reads whatever a parsed file lets one reach.
static uint64_t touch_everything(const struct gguf *gguf) {
    uint64_t sum = 0;
    for (int i = 0; i < gguf_key_count(gguf); i++) {
        char line[200];
        gguf_describe_key(gguf, i, line, sizeof line);
        assert_true(is_one_clean_line(line));
        sum += strlen(line);
    }
    for (int i = 0; i < gguf_tensor_count(gguf); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(gguf, i);
        const uint8_t *data = tensor->data;
        for (size_t j = 0; j < tensor->bytes; j++)
            sum += data[j];
    }
    return sum;
}

static void expect_refusal(const struct gguf_builder *builder, const char *name,
                           const char *wanted) {
    struct gguf *gguf = NULL;
    uint8_t *bytes;
    bool ok = parse_builder(&gguf, builder, &bytes);
    if (ok || !strstr(why.text, wanted) || !is_one_clean_line(why.text))
        fail_msg("%s: wanted '%s', got %s", name, wanted, ok ? "a parsed file" : why.text);
    assert_null(gguf);
    free(bytes);
}

// --- Good files ---

static void put_good_keys(struct gguf_builder *builder) {
    struct gguf_buffer *keys = &builder->keys;
    gguf_builder_key(builder, "u8", GGUF_U8);
    gguf_buffer_put(keys, "\xfe", 1);
    gguf_builder_key(builder, "i8", GGUF_I8);
    gguf_buffer_put(keys, "\xfe", 1);
    gguf_builder_key(builder, "u16", GGUF_U16);
    gguf_buffer_put(keys, "\x02\xff", 2);
    gguf_builder_key(builder, "i16", GGUF_I16);
    gguf_buffer_put(keys, "\x02\xff", 2);
    gguf_builder_u32(builder, "u32", 0xfffffffe);
    gguf_builder_key(builder, "i32", GGUF_I32);
    gguf_buffer_u32(keys, 0xfffffffe);
    gguf_builder_f32(builder, "f32", 0.1F);
    gguf_builder_bool(builder, "true", true);
    gguf_builder_bool(builder, "false", false);
    gguf_builder_text(builder, "text", "drip \"drop\"");
    gguf_builder_text(builder, "empty", "");
    gguf_builder_key(builder, "u64", GGUF_U64);
    gguf_buffer_u64(keys, UINT64_MAX);
    gguf_builder_key(builder, "i64", GGUF_I64);
    gguf_buffer_u64(keys, (uint64_t)INT64_MIN);
    gguf_builder_key(builder, "f64", GGUF_F64);
    gguf_buffer_u64(keys, 0x3fb999999999999a); // 0.1
}

static void put_good_arrays(struct gguf_builder *builder) {
    static const char *const texts[] = {"one", "", "three", "four", "five"};
    static const int16_t numbers[] = {-3, 0, 300};
    gguf_builder_texts(builder, "texts", 5, texts);
    gguf_builder_texts(builder, "no texts", 0, NULL);
    gguf_builder_numbers(builder, "numbers", GGUF_I16, 2, 3, numbers);
    gguf_builder_numbers(builder, "no numbers", GGUF_F64, 8, 0, NULL);
    gguf_builder_numbers(builder, "bools", GGUF_BOOL, 1, 3, "\1\0\1");
    gguf_builder_numbers(builder, "floats", GGUF_F32, 4, 1, "\0\0\x80\x3f");
}

static void build_keys(struct gguf_builder *builder) {
    put_good_keys(builder);
    put_good_arrays(builder);
}

static void build_tensors(struct gguf_builder *builder) {
    static const float values[] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F};
    build_keys(builder);
    gguf_builder_tensor(builder, "a", 0, 2, 3, values);
    gguf_builder_tensor(builder, "b", 1, 0, 5, values);
    gguf_builder_tensor(builder, "c", 0, 1, 1, values);
}

static void every_kind_of_value_reads_back(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    build_keys(&builder);
    struct gguf *gguf;
    uint8_t *bytes;
    assert_true(parse_builder(&gguf, &builder, &bytes));

    static const struct {
        const char *key;
        int64_t value;
    } ints[] = {{"u8", 254},         {"i8", -2},  {"u16", 65282},    {"i16", -254},
                {"u32", 4294967294}, {"i32", -2}, {"i64", INT64_MIN}};
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++) {
        int64_t value = 0;
        assert_true(gguf_int(gguf, ints[i].key, &value));
        assert_true(value == ints[i].value);
    }
    double real = 0;
    assert_true(gguf_float(gguf, "f32", &real) && real == (double)0.1F);
    assert_true(gguf_float(gguf, "f64", &real) && real == 0.1);
    bool yes = false, no = true;
    assert_true(gguf_bool(gguf, "true", &yes) && yes);
    assert_true(gguf_bool(gguf, "false", &no) && !no);
    struct gguf_string text;
    assert_true(gguf_string(gguf, "text", &text));
    assert_int_equal(text.bytes, 11);
    assert_memory_equal(text.data, "drip \"drop\"", 11);
    assert_true(gguf_string(gguf, "empty", &text) && text.bytes == 0);
    assert_int_equal(gguf_version(gguf), 3);
    assert_int_equal(gguf_key_count(gguf), 20);
    assert_int_equal(gguf_tensor_count(gguf), 0);
    gguf_close(gguf);
    free(bytes);
    gguf_builder_clear(&builder);
}

static void arrays_read_back_by_index(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    build_keys(&builder);
    struct gguf *gguf;
    uint8_t *bytes;
    assert_true(parse_builder(&gguf, &builder, &bytes));

    enum gguf_value_type type;
    size_t count;
    assert_true(gguf_array(gguf, "texts", &type, &count));
    assert_true(type == GGUF_STRING && count == 5);
    struct gguf_string text;
    assert_true(gguf_array_string(gguf, "texts", 2, &text) && text.bytes == 5);
    assert_memory_equal(text.data, "three", 5);
    assert_false(gguf_array_string(gguf, "texts", 5, &text));
    assert_false(gguf_array_string(gguf, "texts", SIZE_MAX, &text));
    assert_true(gguf_array(gguf, "no texts", &type, &count) && count == 0);
    assert_false(gguf_array_string(gguf, "no texts", 0, &text));

    int64_t whole;
    assert_true(gguf_array_int(gguf, "numbers", 0, &whole) && whole == -3);
    assert_true(gguf_array_int(gguf, "numbers", 2, &whole) && whole == 300);
    assert_false(gguf_array_int(gguf, "numbers", 3, &whole));
    assert_false(gguf_array_int(gguf, "floats", 0, &whole));
    assert_false(gguf_array_int(gguf, "texts", 0, &whole));
    double real;
    assert_true(gguf_array_float(gguf, "floats", 0, &real) && real == 1.0);
    assert_false(gguf_array_float(gguf, "floats", 1, &real));
    assert_false(gguf_array_float(gguf, "numbers", 0, &real));
    assert_false(gguf_array_string(gguf, "numbers", 0, &text));
    gguf_close(gguf);
    free(bytes);
    gguf_builder_clear(&builder);
}

static void look_ups_fail_on_absent_keys_and_other_types(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    build_keys(&builder);
    struct gguf *gguf;
    uint8_t *bytes;
    assert_true(parse_builder(&gguf, &builder, &bytes));
    int64_t whole = 77;
    double real = 77;
    bool flag = true;
    struct gguf_string text = {NULL, 77};
    enum gguf_value_type type;
    size_t count;
    assert_false(gguf_int(gguf, "u64", &whole)); // above every int64
    static const char *const keys[] = {"absent",  "",      "tex",    "text2",
                                       "numbers", "texts", "floats", "bools"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_false(gguf_int(gguf, keys[i], &whole));
        assert_false(gguf_float(gguf, keys[i], &real));
        assert_false(gguf_bool(gguf, keys[i], &flag));
        assert_false(gguf_string(gguf, keys[i], &text));
        assert_int_equal(gguf_has(gguf, keys[i]), i >= 4);
    }
    assert_false(gguf_int(gguf, "f32", &whole));
    assert_false(gguf_int(gguf, "true", &whole));
    assert_false(gguf_float(gguf, "u32", &real));
    assert_false(gguf_bool(gguf, "u8", &flag));
    assert_false(gguf_string(gguf, "u8", &text));
    assert_false(gguf_array(gguf, "text", &type, &count));
    assert_true(whole == 77 && real == 77 && flag && text.bytes == 77); // untouched
    gguf_close(gguf);
    free(bytes);
    gguf_builder_clear(&builder);
}

static void tensors_read_back_with_their_data(void **state) {
    (void)state;
    for (uint32_t version = 2; version <= 3; version++) {
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        builder.version = version;
        build_tensors(&builder);
        struct gguf *gguf;
        uint8_t *bytes;
        assert_true(parse_builder(&gguf, &builder, &bytes));
        assert_int_equal(gguf_version(gguf), version);
        assert_int_equal(gguf_tensor_count(gguf), 3);

        const struct gguf_tensor *a = gguf_tensor_find(gguf, "a");
        assert_ptr_equal(a, gguf_tensor_at(gguf, 0));
        assert_true(a->type == GGUF_TENSOR_F32 && a->dim_count == 2 && a->bytes == 24);
        assert_true(a->dims[0] == 3 && a->dims[1] == 2 && a->dims[2] == 1 && a->dims[3] == 1);
        float values[6];
        memcpy(values, a->data, sizeof values);
        assert_true(values[0] == 1.0F && values[5] == 6.0F);
        const struct gguf_tensor *b = gguf_tensor_find(gguf, "b");
        assert_true(b->type == GGUF_TENSOR_F16 && b->dim_count == 1 && b->bytes == 10);
        assert_memory_equal(b->data, "\0\x3c\0\x40", 4);
        assert_null(gguf_tensor_find(gguf, "d"));
        assert_null(gguf_tensor_at(gguf, 3));
        assert_null(gguf_tensor_at(gguf, -1));
        gguf_close(gguf);
        free(bytes);
        gguf_builder_clear(&builder);
    }
}

// --- Evil files ---

static void bad_magic(struct gguf_builder *builder) {
    builder->magic[3] = 'X';
}
static void version_0(struct gguf_builder *builder) {
    builder->version = 0;
}
static void version_1(struct gguf_builder *builder) {
    builder->version = 1;
}
static void version_4(struct gguf_builder *builder) {
    builder->version = 4;
}
static void big_endian(struct gguf_builder *builder) {
    builder->version = 0x03000000;
}
static void tensor_count_minus_1(struct gguf_builder *builder) {
    builder->tensor_count = UINT64_MAX;
}
static void key_count_minus_1(struct gguf_builder *builder) {
    builder->key_count = UINT64_MAX;
}
static void one_key_too_many(struct gguf_builder *builder) {
    gguf_builder_text(builder, "text", "long enough for one more key to fit into it");
    builder->key_count++;
}
static void key_length(struct gguf_builder *builder, uint64_t length) {
    builder->key_count = 1;
    gguf_buffer_u64(&builder->keys, length);
    gguf_buffer_put(&builder->keys, "some bytes that could be a name", 31);
}
static void key_length_minus_1(struct gguf_builder *builder) {
    key_length(builder, UINT64_MAX);
}
static void key_length_one_too_many(struct gguf_builder *builder) {
    key_length(builder, 32);
}
static void empty_key(struct gguf_builder *builder) {
    gguf_builder_u32(builder, "", 1);
}
static void key_too_long(struct gguf_builder *builder) {
    static char name[65537];
    memset(name, 'k', 65536);
    gguf_builder_u32(builder, name, 1);
}
static void bad_value_type(struct gguf_builder *builder) {
    gguf_builder_key(builder, "dict", 13);
    gguf_buffer_u64(&builder->keys, 0);
}
static void bad_element_type(struct gguf_builder *builder) {
    gguf_builder_numbers(builder, "array", 13, 1, 16, "0123456789abcdef");
}
static void nested_array(struct gguf_builder *builder) {
    gguf_builder_numbers(builder, "array", GGUF_ARRAY, 1, 16, "0123456789abcdef");
}
static void array_count(struct gguf_builder *builder, uint32_t type, uint64_t count) {
    gguf_builder_key(builder, "array", GGUF_ARRAY);
    gguf_buffer_u32(&builder->keys, type);
    gguf_buffer_u64(&builder->keys, count);
    gguf_buffer_put(&builder->keys, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}
static void array_count_minus_1(struct gguf_builder *builder) {
    array_count(builder, GGUF_U8, UINT64_MAX);
}
static void array_count_that_wraps(struct gguf_builder *builder) {
    array_count(builder, GGUF_U64, UINT64_C(1) << 61); // times 8 is 0
}
static void array_count_one_too_many(struct gguf_builder *builder) {
    array_count(builder, GGUF_U32, 5);
}
static void string_array_count_one_too_many(struct gguf_builder *builder) {
    array_count(builder, GGUF_STRING, 3);
}
static void string_in_array_too_long(struct gguf_builder *builder) {
    gguf_builder_key(builder, "array", GGUF_ARRAY);
    gguf_buffer_u32(&builder->keys, GGUF_STRING);
    gguf_buffer_u64(&builder->keys, 1);
    gguf_buffer_u64(&builder->keys, UINT64_MAX - 7);
}
static void string_too_long(struct gguf_builder *builder) {
    gguf_builder_key(builder, "text", GGUF_STRING);
    gguf_buffer_u64(&builder->keys, 1);
}
static void bool_of_2(struct gguf_builder *builder) {
    gguf_builder_key(builder, "flag", GGUF_BOOL);
    gguf_buffer_put(&builder->keys, "\2", 1);
}
static void bool_of_2_in_an_array(struct gguf_builder *builder) {
    gguf_builder_numbers(builder, "flags", GGUF_BOOL, 1, 3, "\1\0\2");
}
static void duplicate_key(struct gguf_builder *builder) {
    gguf_builder_u32(builder, "key", 1);
    gguf_builder_u32(builder, "other", 1);
    gguf_builder_f32(builder, "key", 1.0F);
}
static void alignment_13(struct gguf_builder *builder) {
    gguf_builder_u32(builder, "general.alignment", 13);
}
static void alignment_0(struct gguf_builder *builder) {
    gguf_builder_u32(builder, "general.alignment", 0);
}
static void alignment_4(struct gguf_builder *builder) {
    gguf_builder_u32(builder, "general.alignment", 4);
}
static void alignment_as_text(struct gguf_builder *builder) {
    gguf_builder_text(builder, "general.alignment", "32");
}
static void alignment_larger_than_the_file(struct gguf_builder *builder) {
    gguf_builder_u32(builder, "general.alignment", 1u << 31);
    gguf_builder_tensor(builder, "a", 0, 0, 8, NULL);
}

static void tensor_name_too_long(struct gguf_builder *builder) {
    static char name[66];
    memset(name, 'n', 65);
    gguf_builder_tensor(builder, name, 0, 0, 8, NULL);
}
static void tensor_without_name(struct gguf_builder *builder) {
    gguf_builder_tensor(builder, "", 0, 0, 8, NULL);
}

// One tensor of these dims, type and offset over 64 bytes of data.
static void one_tensor(struct gguf_builder *builder, uint32_t dim_count, const uint64_t *dims,
                       uint32_t type, uint64_t offset) {
    gguf_builder_info(builder, "a", dim_count, dims, type, offset);
    gguf_buffer_put(&builder->data, (const uint8_t[64]){0}, 64);
}
static void dims_5(struct gguf_builder *builder) {
    one_tensor(builder, 5, (const uint64_t[5]){1, 1, 1, 1, 1}, 0, 0);
}
static void dims_0(struct gguf_builder *builder) {
    one_tensor(builder, 0, NULL, 0, 0);
}
static void dim_minus_1(struct gguf_builder *builder) {
    one_tensor(builder, 2, (const uint64_t[2]){4, UINT64_MAX}, 0, 0);
}
static void too_many_values(struct gguf_builder *builder) {
    one_tensor(builder, 2, (const uint64_t[2]){UINT64_C(1) << 32, UINT64_C(1) << 31}, 0, 0);
}
static void too_many_bytes(struct gguf_builder *builder) {
    one_tensor(builder, 1, (const uint64_t[1]){(uint64_t)INT64_MAX - 1}, 0, 0);
}
static void too_many_bytes_for_the_file(struct gguf_builder *builder) {
    one_tensor(builder, 1, (const uint64_t[1]){17}, 0, 0);
}
static void unknown_type(struct gguf_builder *builder) {
    one_tensor(builder, 1, (const uint64_t[1]){4}, 43, 0);
}
static void huge_type(struct gguf_builder *builder) {
    one_tensor(builder, 1, (const uint64_t[1]){4}, UINT32_MAX, 0);
}
static void removed_type(struct gguf_builder *builder) {
    one_tensor(builder, 1, (const uint64_t[1]){32}, 31, 0);
}
static void part_of_a_block(struct gguf_builder *builder) {
    one_tensor(builder, 1, (const uint64_t[1]){33}, GGUF_TENSOR_Q8_0, 0);
}
static void offset_minus_1(struct gguf_builder *builder) {
    one_tensor(builder, 1, (const uint64_t[1]){4}, 0, UINT64_MAX);
}
static void offset_that_wraps(struct gguf_builder *builder) {
    one_tensor(builder, 1, (const uint64_t[1]){8}, 0, UINT64_MAX - 31); // + 32 bytes is 0
}
static void offset_past_the_end(struct gguf_builder *builder) {
    one_tensor(builder, 1, (const uint64_t[1]){4}, 0, 64);
}
static void offset_between(struct gguf_builder *builder) {
    one_tensor(builder, 1, (const uint64_t[1]){4}, 0, 16);
}
static void offset_for_another_alignment(struct gguf_builder *builder) {
    gguf_builder_u32(builder, "general.alignment", 64);
    builder->alignment = 64;
    one_tensor(builder, 1, (const uint64_t[1]){4}, 0, 32);
}
static void duplicate_tensor(struct gguf_builder *builder) {
    gguf_builder_tensor(builder, "a", 0, 0, 8, NULL);
    gguf_builder_tensor(builder, "b", 0, 0, 8, NULL);
    gguf_builder_tensor(builder, "a", 0, 0, 8, NULL);
}
static void overlapping_tensors(struct gguf_builder *builder) {
    gguf_builder_info(builder, "late", 1, (const uint64_t[1]){8}, 0, 32);
    one_tensor(builder, 1, (const uint64_t[1]){9}, 0, 0);
}
static void same_place(struct gguf_builder *builder) {
    gguf_builder_info(builder, "b", 1, (const uint64_t[1]){1}, 0, 0);
    one_tensor(builder, 1, (const uint64_t[1]){1}, 0, 0);
}
static void one_byte_short(struct gguf_builder *builder) {
    gguf_builder_tensor(builder, "a", 0, 0, 16, NULL);
    builder->data.bytes--;
}
static void sum_of_sizes_that_wraps(struct gguf_builder *builder) {
    static const uint64_t half[2] = {UINT64_C(1) << 30, UINT64_C(1) << 31}; // 2^63 bytes
    gguf_builder_info(builder, "c", 2, half, 0, 0);
    gguf_builder_info(builder, "b", 2, half, 0, UINT64_C(1) << 63);
    one_tensor(builder, 1, (const uint64_t[1]){4}, 0, 0);
}
static void name_with_control_bytes(struct gguf_builder *builder) {
    gguf_builder_u32(builder, "bad\n\x1b[31m\xff", 1);
    gguf_builder_u32(builder, "bad\n\x1b[31m\xff", 1);
}

static const struct {
    const char *name;
    build_fn *build;
    const char *wanted;
} evil[] = {
    {"bad magic", bad_magic, "is not a GGUF file"},
    {"version 0", version_0, "version 0; only 2 and 3"},
    {"version 1", version_1, "version 1, whose counts have 32 bits"},
    {"version 4", version_4, "version 4; only 2 and 3"},
    {"big endian", big_endian, "big-endian"},
    {"tensor count -1", tensor_count_minus_1, "18446744073709551615 tensors"},
    {"key count -1", key_count_minus_1, "18446744073709551615 keys"},
    {"one key too many", one_key_too_many, "key 2 of 2 goes past the end"},
    {"key length -1", key_length_minus_1, "key 1 of 1 goes past the end"},
    {"key length 1 too many", key_length_one_too_many, "key 1 of 1 goes past the end"},
    {"empty key", empty_key, "key 1 of 1 has an empty name"},
    {"key too long", key_too_long, "a name of 65536 bytes"},
    {"bad value type", bad_value_type, "key 'dict' has value type 13"},
    {"bad element type", bad_element_type, "key 'array' has value type 13"},
    {"nested array", nested_array, "array of arrays"},
    {"array count -1", array_count_minus_1, "key 1 of 1 goes past the end"},
    {"array count wraps", array_count_that_wraps, "key 1 of 1 goes past the end"},
    {"array count + 1", array_count_one_too_many, "key 1 of 1 goes past the end"},
    {"texts + 1", string_array_count_one_too_many, "key 1 of 1 goes past the end"},
    {"text in array too long", string_in_array_too_long, "key 1 of 1 goes past the end"},
    {"text too long", string_too_long, "key 1 of 1 goes past the end"},
    {"bool of 2", bool_of_2, "key 'flag' has a bool that is neither"},
    {"bool of 2 in array", bool_of_2_in_an_array, "key 'flags' has a bool that is neither"},
    {"duplicate key", duplicate_key, "key 'key' is there twice"},
    {"alignment 13", alignment_13, "'general.alignment' is 13"},
    {"alignment 0", alignment_0, "'general.alignment' is 0"},
    {"alignment 4", alignment_4, "'general.alignment' is 4"},
    {"alignment as text", alignment_as_text, "'general.alignment' is not a u32"},
    {"alignment past the file", alignment_larger_than_the_file, "the start of the tensors' data"},
    {"tensor name too long", tensor_name_too_long, "tensor 1 of 1 has a name of 65 bytes"},
    {"tensor without name", tensor_without_name, "tensor 1 of 1 has an empty name"},
    {"5 dims", dims_5, "tensor 'a' has 5 dimensions"},
    {"0 dims", dims_0, "tensor 'a' has 0 dimensions"},
    {"dim -1", dim_minus_1, "impossible dimensions: 18446744073709551615 in place 2"},
    {"too many values", too_many_values, "impossible dimensions: 2147483648 in place 2"},
    {"too many bytes", too_many_bytes, "more bytes than can be counted"},
    {"too many bytes for file", too_many_bytes_for_the_file, "'a' (68 bytes at 0) goes past"},
    {"unknown type", unknown_type, "'a' has the unknown type 43"},
    {"huge type", huge_type, "'a' has the unknown type 4294967295"},
    {"removed type", removed_type, "'a' has type Q4_0_4_4, which GGUF no longer has"},
    {"part of a block", part_of_a_block, "rows of 33 values, but Q8_0 needs blocks of 32"},
    {"offset -1", offset_minus_1, "'a' starts at 18446744073709551615, not a multiple of 32"},
    {"offset wraps", offset_that_wraps, "(32 bytes at 18446744073709551584) goes past"},
    {"offset past end", offset_past_the_end, "(16 bytes at 64) goes past"},
    {"offset between", offset_between, "'a' starts at 16, not a multiple of 32"},
    {"offset of 32 for 64", offset_for_another_alignment, "'a' starts at 32, not a multiple of 64"},
    {"duplicate tensor", duplicate_tensor, "tensor 'a' is there twice"},
    {"overlap", overlapping_tensors, "tensor 'late' lies inside another"},
    {"same place", same_place, "lies inside another"},
    {"one byte short", one_byte_short, "(64 bytes at 0) goes past the end of the data (63 bytes)"},
    {"sum wraps", sum_of_sizes_that_wraps, "goes past the end"},
    {"control bytes", name_with_control_bytes, "key 'bad\\x0a\\x1b[31m\\xff' is there twice"},
};

static void evil_files_are_refused_by_what_is_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof evil / sizeof evil[0]; i++) {
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        evil[i].build(&builder);
        expect_refusal(&builder, evil[i].name, evil[i].wanted);
        gguf_builder_clear(&builder);
    }
}

// More bytes behind the end must neither heal nor hide a fault of the header.
static void evil_files_stay_evil_with_bytes_behind_them(void **state) {
    (void)state;
    static const char *const healed[] = {
        // These lack bytes, and the added ones are as good as any.
        "one key too many", "key length 1 too many",   "array count + 1", "texts + 1",
        "text too long",    "too many bytes for file", "offset past end", "one byte short",
    };
    for (size_t i = 0; i < sizeof evil / sizeof evil[0]; i++) {
        bool skip = false;
        for (size_t j = 0; j < sizeof healed / sizeof healed[0]; j++)
            skip = skip || strcmp(healed[j], evil[i].name) == 0;
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        evil[i].build(&builder);
        size_t bytes;
        uint8_t *data = gguf_builder_finish(&builder, &bytes);
        data = realloc(data, bytes + 1000);
        assert_non_null(data);
        memset(data + bytes, 0, 1000);
        struct gguf *gguf;
        bool ok = gguf_parse(&gguf, "test.gguf", data, bytes + 1000, &why);
        if (ok && !skip)
            fail_msg("%s was accepted", evil[i].name);
        if (ok)
            touch_everything(gguf);
        gguf_close(gguf);
        free(data);
        gguf_builder_clear(&builder);
    }
}

static void unusual_files(struct gguf_builder *builder, int which) {
    static const uint64_t zero[2] = {0, 5};
    switch (which) {
    case 0: // nothing at all
        break;
    case 1: // a dimension of zero: no bytes, may lie anywhere
        gguf_builder_tensor(builder, "a", 0, 0, 8, NULL);
        gguf_builder_info(builder, "z", 2, zero, 0, 0);
        break;
    case 2: // another alignment
        gguf_builder_u32(builder, "general.alignment", 16);
        builder->alignment = 16;
        gguf_builder_tensor(builder, "a", 0, 0, 1, NULL);
        gguf_builder_tensor(builder, "b", 0, 0, 1, NULL);
        break;
    case 3: // tensors out of order in the table, and a gap between them
        gguf_builder_info(builder, "late", 1, (const uint64_t[1]){1}, 0, 96);
        gguf_builder_info(builder, "early", 1, (const uint64_t[1]){8}, 0, 0);
        gguf_buffer_put(&builder->data, (const uint8_t[100]){0}, 100);
        break;
    case 4: // blocks
        gguf_builder_info(builder, "q", 2, (const uint64_t[2]){64, 2}, GGUF_TENSOR_Q4_0, 0);
        gguf_buffer_put(&builder->data, (const uint8_t[72]){0}, 72);
        break;
    case 5: // the longest name
        gguf_builder_tensor(builder,
                            "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 0,
                            0, 1, NULL);
        break;
    default: // names that differ only behind a NUL, and in length
        gguf_buffer_u64(&builder->keys, 3);
        gguf_buffer_put(&builder->keys, "k\0a\x07\0\0\0\1", 8);
        gguf_buffer_u64(&builder->keys, 3);
        gguf_buffer_put(&builder->keys, "k\0b\x07\0\0\0\1", 8);
        builder->key_count += 2;
        gguf_builder_bool(builder, "k", true);
    }
}

enum { UNUSUAL = 7 };

static void unusual_but_valid_files_are_read(void **state) {
    (void)state;
    for (int which = 0; which < UNUSUAL; which++) {
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        unusual_files(&builder, which);
        struct gguf *gguf;
        uint8_t *bytes;
        if (!parse_builder(&gguf, &builder, &bytes))
            fail_msg("file %d: %s", which, why.text);
        touch_everything(gguf);
        if (which == 6) {
            bool flag = false;
            assert_true(gguf_bool(gguf, "k", &flag) && flag);
        }
        gguf_close(gguf);
        free(bytes);
        gguf_builder_clear(&builder);
    }
}

// Nothing but the smallest keys or tensors: the most that fit into so many bytes.
static void the_smallest_possible_tensors_and_keys_are_counted(void **state) {
    (void)state;
    enum { COUNT = 200 };
    for (int part = 0; part < 2; part++) {
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        for (int i = 1; i <= COUNT; i++) {
            char name[2] = {(char)i, '\0'};
            if (part == 0)
                gguf_builder_bool(&builder, name, true);
            else
                gguf_builder_info(&builder, name, 1, (const uint64_t[1]){0}, 24, 0);
        }
        if (part == 1) // no tensor has bytes, but their section must begin
            gguf_buffer_put(&builder.data, "", 1);
        struct gguf *gguf;
        uint8_t *bytes;
        if (!parse_builder(&gguf, &builder, &bytes))
            fail_msg("%s", why.text);
        assert_int_equal(gguf_key_count(gguf), part == 0 ? COUNT : 0);
        assert_int_equal(gguf_tensor_count(gguf), part == 1 ? COUNT : 0);
        gguf_close(gguf);
        free(bytes);
        gguf_builder_clear(&builder);
    }
}

static void data_is_found_behind_a_header_of_any_length(void **state) {
    (void)state;
    static const float values[] = {7.0F};
    for (size_t length = 0; length <= 32; length++) {
        char text[33] = {0};
        memset(text, 'x', length);
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        gguf_builder_text(&builder, "text", text);
        gguf_builder_tensor(&builder, "a", 0, 0, 1, values);
        struct gguf *gguf;
        uint8_t *bytes;
        if (!parse_builder(&gguf, &builder, &bytes))
            fail_msg("%zu: %s", length, why.text);
        assert_memory_equal(gguf_tensor_at(gguf, 0)->data, "\0\0\xe0\x40", 4);
        gguf_close(gguf);
        free(bytes);
        gguf_builder_clear(&builder);
    }
}

// A file cut anywhere before its last tensor byte is refused; cut in what follows, it
// is whole.
static void every_truncation_is_refused(void **state) {
    (void)state;
    build_fn *const good[] = {build_keys, build_tensors};
    for (size_t g = 0; g < sizeof good / sizeof good[0]; g++) {
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        good[g](&builder);
        size_t bytes;
        uint8_t *whole = gguf_builder_finish(&builder, &bytes);
        for (size_t cut = 0; cut <= bytes; cut++) {
            uint8_t *part = malloc(cut ? cut : 1);
            assert_non_null(part);
            memcpy(part, whole, cut);
            struct gguf *gguf;
            bool ok = gguf_parse(&gguf, "cut.gguf", part, cut, &why);
            if (ok != (cut == bytes) || (!ok && !is_one_clean_line(why.text)))
                fail_msg("cut at %zu of %zu: %s", cut, bytes, ok ? "accepted" : why.text);
            if (ok)
                touch_everything(gguf);
            gguf_close(gguf);
            free(part);
        }
        free(whole);
        gguf_builder_clear(&builder);
    }
}

// Any one byte changed: refused or read, but never a fault.
static void every_changed_byte_is_survived(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    build_tensors(&builder);
    size_t bytes;
    uint8_t *data = gguf_builder_finish(&builder, &bytes);
    static const uint8_t masks[] = {0x01, 0x80, 0xff};
    int refused = 0;
    for (size_t at = 0; at < bytes; at++) {
        for (size_t m = 0; m < sizeof masks; m++) {
            data[at] ^= masks[m];
            struct gguf *gguf;
            if (gguf_parse(&gguf, "changed.gguf", data, bytes, &why))
                touch_everything(gguf);
            else
                refused++;
            gguf_close(gguf);
            data[at] ^= masks[m];
        }
    }
    assert_true(refused > 100);
    free(data);
    gguf_builder_clear(&builder);
}

static void many_keys_and_tensors_do_not_take_quadratic_time(void **state) {
    (void)state;
    enum { MANY = 100000 };
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof name, "the.same.start.%08d", i);
        gguf_builder_bool(&builder, name, true);
        gguf_builder_info(&builder, name, 1, (const uint64_t[1]){1}, 24, (uint64_t)i * 32);
    }
    gguf_buffer_put(&builder.data, "", 1);
    uint8_t *data;
    size_t bytes;
    uint8_t *header = gguf_builder_finish(&builder, &bytes);
    data = calloc(1, bytes + (size_t)MANY * 32);
    assert_non_null(data);
    memcpy(data, header, bytes);
    struct gguf *gguf;
    int64_t start_ns = stopwatch_now_ns();
    assert_true(gguf_parse(&gguf, "many.gguf", data, bytes + (size_t)MANY * 32, &why));
    assert_non_null(gguf_tensor_find(gguf, "the.same.start.00099999"));
    // Sorting takes well under a second even with sanitizers; n squared, minutes.
    assert_true(stopwatch_now_ns() - start_ns < INT64_C(100000000000));
    gguf_close(gguf);
    free(data);
    free(header);
    gguf_builder_clear(&builder);
}

// --- Files on disk ---

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/tokendrip-gguf-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

static const char *file_path(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *path, const void *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void a_file_on_disk_is_mapped(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    gguf_builder_u32(&builder, "general.alignment", 64);
    builder.alignment = 64;
    gguf_builder_tensor(&builder, "a", 0, 0, 3, NULL);
    gguf_builder_tensor(&builder, "large", 0, 1000, 1000, NULL); // enough for huge pages
    size_t bytes;
    uint8_t *data = gguf_builder_finish(&builder, &bytes);
    const char *path = file_path("good.gguf");
    write_file(path, data, bytes);

    struct gguf *gguf;
    assert_true(gguf_open(&gguf, path, &why));
    assert_string_equal(gguf_name(gguf), "good.gguf");
    assert_int_equal(gguf_bytes(gguf), bytes);
    assert_true(gguf_touch(gguf, NULL, NULL));
    unlink(path); // its bytes stay as long as they are needed
    const struct gguf_tensor *large = gguf_tensor_find(gguf, "large");
    assert_int_equal((uintptr_t)gguf_tensor_find(gguf, "a")->data % 64, 0);
    assert_int_equal((uintptr_t)large->data % 64, 0);
    assert_memory_equal(large->data, data + bytes - large->bytes, large->bytes);
    gguf_close(gguf);
    free(data);
    gguf_builder_clear(&builder);
}

static void expect_open_refusal(const char *path, const char *wanted) {
    struct gguf *gguf;
    bool ok = gguf_open(&gguf, path, &why);
    if (ok || !strstr(why.text, wanted) || !is_one_clean_line(why.text))
        fail_msg("wanted '%s', got %s", wanted, ok ? "an open file" : why.text);
    assert_null(gguf);
}

static void what_is_no_regular_file_is_refused_without_waiting(void **state) {
    (void)state;
    expect_open_refusal(folder, "is a folder");
    const char *path = file_path("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_open_refusal(path, "is a pipe");
    unlink(path);
    expect_open_refusal("/dev/null", "is not a regular file");
    expect_open_refusal(file_path("absent.gguf"), "absent.gguf: cannot be opened: No such file");
    expect_open_refusal("", "cannot be opened");
    path = file_path("empty.gguf");
    write_file(path, "", 0);
    expect_open_refusal(path, "empty.gguf: is empty");
    unlink(path);
}

static void other_kinds_of_files_are_named(void **state) {
    (void)state;
    static const struct {
        const char *start, *wanted;
    } cases[] = {
        {"version https://git-lfs.github.com/spec/v1\noid sha256:1", "a Git LFS pointer"},
        {"ggjt\1\0\0\0", "an old GGML file"},
        {"PK\x03\x04 archive/data.pkl", "PyTorch checkpoint"},
        {"<!DOCTYPE html>", "a web page"},
        {"{\"error\":1}", "JSON"},
        {"\x40\1\1\1\1\1\1\1{\"__metadata__\"", "safetensors"},
        {"FUGG\0\0\0\3", "big-endian"},
        {"GGU", "is not a GGUF file"},
        {"GGUF", "the header goes past the end"},
        {"GGUF\3", "the header goes past the end"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = file_path("other");
        write_file(path, cases[i].start, strlen(cases[i].start));
        expect_open_refusal(path, cases[i].wanted);
        unlink(path);
    }
}

static void of_a_file_larger_than_the_memory_the_header_alone_is_read(void **state) {
    (void)state;
    const char *path = file_path("huge.gguf");
    struct gguf *gguf;
    write_file(path, "GGUF\3\0\0\0", 8);
    if (truncate(path, INT64_C(1) << 43) != 0) { // 8 TiB of hole
        unlink(path);
        print_message("this file system has no files of 8 TiB\n");
        skip();
    }
    assert_true(gguf_open(&gguf, path, &why));
    assert_true(gguf_bytes(gguf) == (size_t)1 << 43);
    gguf_close(gguf);

    struct rlimit before, limit;
    getrlimit(RLIMIT_AS, &before);
    limit = (struct rlimit){(rlim_t)1 << 42, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    expect_open_refusal(path, "has 8388608 MiB, more than this process may address");
    setrlimit(RLIMIT_AS, &before);
    unlink(path);
}

static void keys_are_described_in_one_line(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    build_keys(&builder);
    gguf_builder_text(&builder, "line\nbreak", "\xc3\xa9\n");
    struct gguf *gguf;
    uint8_t *bytes;
    assert_true(parse_builder(&gguf, &builder, &bytes));
    static const char *const wanted[] = {
        "u8 u8 254",
        "i8 i8 -2",
        "u16 u16 65282",
        "i16 i16 -254",
        "u32 u32 4294967294",
        "i32 i32 -2",
        "f32 f32 0.1",
        "true bool true",
        "false bool false",
        "text string \"drip \"drop\"\"",
        "empty string \"\"",
        "u64 u64 18446744073709551615",
        "i64 i64 -9223372036854775808",
        "f64 f64 0.1",
        "texts string[5] \"one\", \"\", \"three\", \"four\", ...",
        "no texts string[0]",
        "numbers i16[3] -3, 0, 300",
        "no numbers f64[0]",
        "bools bool[3] true, false, true",
        "floats f32[1] 1",
        "line\\x0abreak string \"\xc3\xa9\\x0a\"",
    };
    char line[200];
    assert_int_equal(gguf_key_count(gguf), sizeof wanted / sizeof wanted[0]);
    for (int i = 0; i < gguf_key_count(gguf); i++) {
        gguf_describe_key(gguf, i, line, sizeof line);
        assert_string_equal(line, wanted[i]);
    }
    gguf_describe_key(gguf, 20, line, 25); // never half of a sign
    assert_string_equal(line, "line\\x0abreak string \"\xc3\xa9");
    gguf_describe_key(gguf, 20, line, 24);
    assert_string_equal(line, "line\\x0abreak string \"");
    gguf_describe_key(gguf, 21, line, sizeof line);
    assert_string_equal(line, "");
    gguf_describe_key(gguf, -1, line, sizeof line);
    assert_string_equal(line, "");
    gguf_close(gguf);
    free(bytes);
    gguf_builder_clear(&builder);
}

static void tensor_types_have_names(void **state) {
    (void)state;
    assert_string_equal(gguf_tensor_type_name(GGUF_TENSOR_F32), "F32");
    assert_string_equal(gguf_tensor_type_name(GGUF_TENSOR_BF16), "BF16");
    assert_string_equal(gguf_tensor_type_name((enum gguf_tensor_type)14), "Q6_K");
    assert_string_equal(gguf_tensor_type_name((enum gguf_tensor_type)43), "?");
}

// --- Files by others ---

static const char *testdata_path(const char *name) {
    static char path[512];
    const char *root = getenv("TOKENDRIP_TESTDATA");
#ifdef TOKENDRIP_TESTDATA
    if (!root)
        root = TOKENDRIP_TESTDATA;
#endif
    snprintf(path, sizeof path, "%s/%s", root ? root : "", name);
    if (!root || access(path, R_OK) != 0) {
        print_message("TOKENDRIP_TESTDATA has no %s\n", name);
        skip();
    }
    return path;
}

static void files_by_others_are_read_or_refused_as_they_should_be(void **state) {
    (void)state;
    static const struct {
        const char *name, *refusal; // NULL = read
        int version, keys, tensors;
    } cases[] = {
        {"gguf/llama-2-tiny-random.gguf", NULL, 3, 18, 12},
        {"gguf/gguf-v2-f32.gguf", NULL, 2, 0, 1},
        {"gguf/gguf-v3-q4-0.gguf", NULL, 3, 0, 1},
        {"gguf/gguf-unknown-type.gguf", "unknown type 43", 0, 0, 0},
        {"gguf/gguf-unsupported-version.gguf", "version 4", 0, 0, 0},
        {"gguf/test_writer.gguf", "key 'dict1' has value type 13", 0, 0, 0},
        {"vocab/ggml-vocab-llama-spm.gguf", NULL, 3, 22, 0},
        {"vocab/ggml-vocab-gpt-2.gguf", NULL, 3, -1, 0},
        {"vocab/ggml-vocab-phi-3.gguf", NULL, 3, 26, 0},
        {"stories260K/stories260K.f32.gguf", NULL, 3, 24, 47},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gguf *gguf;
        const char *path = testdata_path(cases[i].name);
        if (cases[i].refusal) {
            expect_open_refusal(path, cases[i].refusal);
            continue;
        }
        if (!gguf_open(&gguf, path, &why))
            fail_msg("%s", why.text);
        assert_int_equal(gguf_version(gguf), cases[i].version);
        assert_int_equal(gguf_tensor_count(gguf), cases[i].tensors);
        if (cases[i].keys >= 0 && cases[i].name[0] != 'g')
            assert_int_equal(gguf_key_count(gguf), cases[i].keys);
        touch_everything(gguf);
        gguf_close(gguf);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_value_reads_back),
        cmocka_unit_test(arrays_read_back_by_index),
        cmocka_unit_test(look_ups_fail_on_absent_keys_and_other_types),
        cmocka_unit_test(tensors_read_back_with_their_data),
        cmocka_unit_test(evil_files_are_refused_by_what_is_wrong),
        cmocka_unit_test(evil_files_stay_evil_with_bytes_behind_them),
        cmocka_unit_test(unusual_but_valid_files_are_read),
        cmocka_unit_test(the_smallest_possible_tensors_and_keys_are_counted),
        cmocka_unit_test(data_is_found_behind_a_header_of_any_length),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_changed_byte_is_survived),
        cmocka_unit_test(many_keys_and_tensors_do_not_take_quadratic_time),
        cmocka_unit_test(a_file_on_disk_is_mapped),
        cmocka_unit_test(what_is_no_regular_file_is_refused_without_waiting),
        cmocka_unit_test(other_kinds_of_files_are_named),
        cmocka_unit_test(of_a_file_larger_than_the_memory_the_header_alone_is_read),
        cmocka_unit_test(keys_are_described_in_one_line),
        cmocka_unit_test(tensor_types_have_names),
        cmocka_unit_test(files_by_others_are_read_or_refused_as_they_should_be),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
