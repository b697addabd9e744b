// See gguf.h. One pass over the header fills two tables, keys and tensors; both
// get an index sorted by name, which finds duplicates in n log n and answers
// look-ups by halving. A hash would be quicker for an honest file, but a
// malicious one can make any known hash slow; sorting has no bad case.
//
// The rule for every number in the file: it is compared with the number of bytes left
// before anything is added, multiplied or allocated. A count can therefore never ask for
// more than a small multiple of the file's own size.
#include "compute/gguf/gguf.h"

#include "compute/base/mapfile.h"
#include "compute/base/spoken.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LABEL_BYTES = 64,       // a printable name in a message
    MAX_KEY_BYTES = 65535,  // of the format's description
    MIN_KEY_BYTES = 14,     // in a file: length, one byte, type, one byte
    MIN_TENSOR_BYTES = 33,  // length, one byte, dims, one dim, type, offset
    DEFAULT_ALIGNMENT = 32, // general.alignment when absent
    START_BYTES = 24,       // magic, version, two counts
};

struct key {
    struct gguf_string name;
    enum gguf_value_type type;
    enum gguf_value_type element; // of an array; else = type
    size_t count;                 // of an array; else 1
    const uint8_t *value;         // numbers: the first one; strings: unused
    struct gguf_string text;      // GGUF_STRING
    struct gguf_string *strings;  // array of strings: [count], owned
};

// One line of an index: a name and where it is in its table.
struct named {
    struct gguf_string name;
    int index;
};

struct gguf {
    char name[LABEL_BYTES];
    const uint8_t *bytes;
    size_t size;
    struct mapfile map; // of a file opened here
    int version;
    size_t alignment;
    int key_count, tensor_count;
    struct key *keys;            // [key_count]
    struct gguf_tensor *tensors; // [tensor_count]
    struct named *key_index;     // [key_count], by name
    struct named *tensor_index;  // [tensor_count], by name
};

// The parser's position.
struct cursor {
    struct gguf *gguf;
    size_t at;
    char part[48]; // what is being read, for "cut short" messages
    struct why *why;
};

// --- Little-endian numbers ---

static uint16_t load_u16(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t load_u32(const uint8_t *p) {
    return (uint32_t)load_u16(p) | (uint32_t)load_u16(p + 2) << 16;
}

static uint64_t load_u64(const uint8_t *p) {
    return (uint64_t)load_u32(p) | (uint64_t)load_u32(p + 4) << 32;
}

static double load_f32(const uint8_t *p) {
    uint32_t bits = load_u32(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double load_f64(const uint8_t *p) {
    uint64_t bits = load_u64(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// --- Reasons ---

static struct gguf_string string_of(const char *text) {
    return (struct gguf_string){text, strlen(text)};
}

static bool fail(const struct cursor *cursor, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(const struct cursor *cursor, const char *format, ...) {
    va_list args;
    va_start(args, format);
    why_about(cursor->why, cursor->gguf->name, format, args);
    va_end(args);
    return false;
}

static bool fail_memory(const struct cursor *cursor) {
    return fail(cursor, "not enough memory to read its header");
}

// --- Tensor types ---

struct type_row {
    const char *name;
    uint16_t block_values, block_bytes; // 0 = removed from ggml
};

// By ggml's number (ggml.h, enum ggml_type; sizes from ggml-common.h).
static const struct type_row type_rows[] = {
    [0] = {"F32", 1, 4},         [1] = {"F16", 1, 2},         [2] = {"Q4_0", 32, 18},
    [3] = {"Q4_1", 32, 20},      [4] = {"Q4_2", 0, 0},        [5] = {"Q4_3", 0, 0},
    [6] = {"Q5_0", 32, 22},      [7] = {"Q5_1", 32, 24},      [8] = {"Q8_0", 32, 34},
    [9] = {"Q8_1", 32, 36},      [10] = {"Q2_K", 256, 84},    [11] = {"Q3_K", 256, 110},
    [12] = {"Q4_K", 256, 144},   [13] = {"Q5_K", 256, 176},   [14] = {"Q6_K", 256, 210},
    [15] = {"Q8_K", 256, 292},   [16] = {"IQ2_XXS", 256, 66}, [17] = {"IQ2_XS", 256, 74},
    [18] = {"IQ3_XXS", 256, 98}, [19] = {"IQ1_S", 256, 50},   [20] = {"IQ4_NL", 32, 18},
    [21] = {"IQ3_S", 256, 110},  [22] = {"IQ2_S", 256, 82},   [23] = {"IQ4_XS", 256, 136},
    [24] = {"I8", 1, 1},         [25] = {"I16", 1, 2},        [26] = {"I32", 1, 4},
    [27] = {"I64", 1, 8},        [28] = {"F64", 1, 8},        [29] = {"IQ1_M", 256, 56},
    [30] = {"BF16", 1, 2},       [31] = {"Q4_0_4_4", 0, 0},   [32] = {"Q4_0_4_8", 0, 0},
    [33] = {"Q4_0_8_8", 0, 0},   [34] = {"TQ1_0", 256, 54},   [35] = {"TQ2_0", 256, 66},
    [36] = {"IQ4_NL_4_4", 0, 0}, [37] = {"IQ4_NL_4_8", 0, 0}, [38] = {"IQ4_NL_8_8", 0, 0},
    [39] = {"MXFP4", 32, 17},    [40] = {"NVFP4", 64, 36},
};

enum { TYPE_ROWS = sizeof type_rows / sizeof type_rows[0] };

const char *gguf_tensor_type_name(enum gguf_tensor_type type) {
    return (unsigned)type < TYPE_ROWS ? type_rows[type].name : "?";
}

// --- Value types ---

struct value_row {
    const char *name;
    size_t bytes; // of one number, 0 = not a number
};

static const struct value_row value_rows[] = {
    [GGUF_U8] = {"u8", 1},       [GGUF_I8] = {"i8", 1},     [GGUF_U16] = {"u16", 2},
    [GGUF_I16] = {"i16", 2},     [GGUF_U32] = {"u32", 4},   [GGUF_I32] = {"i32", 4},
    [GGUF_F32] = {"f32", 4},     [GGUF_BOOL] = {"bool", 1}, [GGUF_STRING] = {"string", 0},
    [GGUF_ARRAY] = {"array", 0}, [GGUF_U64] = {"u64", 8},   [GGUF_I64] = {"i64", 8},
    [GGUF_F64] = {"f64", 8},
};

enum { VALUE_ROWS = sizeof value_rows / sizeof value_rows[0] };

// --- Reading pieces of the header ---

static size_t bytes_left(const struct cursor *cursor) {
    return cursor->gguf->size - cursor->at;
}

static bool fail_cut(const struct cursor *cursor) {
    return fail(cursor, "cut short: %s goes past the end of the file (%zu bytes); get it again",
                cursor->part, cursor->gguf->size);
}

// The next `bytes` bytes, or NULL with `why`.
static const uint8_t *take(struct cursor *cursor, size_t bytes) {
    if (bytes > bytes_left(cursor)) {
        fail_cut(cursor);
        return NULL;
    }
    const uint8_t *start = cursor->gguf->bytes + cursor->at;
    cursor->at += bytes;
    return start;
}

static bool take_u32(struct cursor *cursor, uint32_t *out) {
    const uint8_t *p = take(cursor, 4);
    if (!p)
        return false;
    *out = load_u32(p);
    return true;
}

static bool take_u64(struct cursor *cursor, uint64_t *out) {
    const uint8_t *p = take(cursor, 8);
    if (!p)
        return false;
    *out = load_u64(p);
    return true;
}

static bool take_string(struct cursor *cursor, struct gguf_string *out) {
    uint64_t length;
    if (!take_u64(cursor, &length))
        return false;
    if (length > bytes_left(cursor)) // before it becomes a size_t
        return fail_cut(cursor);
    const uint8_t *p = take(cursor, (size_t)length);
    if (!p)
        return false;
    *out = (struct gguf_string){(const char *)p, (size_t)length};
    return true;
}

// The name of a key or a tensor.
static bool take_name(struct cursor *cursor, struct gguf_string *out, int most_bytes) {
    if (!take_string(cursor, out))
        return false;
    if (out->bytes == 0)
        return fail(cursor, "%s has an empty name", cursor->part);
    if (out->bytes > (size_t)most_bytes)
        return fail(cursor, "%s has a name of %zu bytes, more than %d", cursor->part, out->bytes,
                    most_bytes);
    return true;
}

// --- Keys ---

static bool fail_key(const struct cursor *cursor, const struct key *key, const char *what) {
    char label[LABEL_BYTES];
    utf8_printable(label, sizeof label, key->name.data, key->name.bytes);
    return fail(cursor, "key '%s' %s", label, why_spoken(what));
}

static bool take_value_type(struct cursor *cursor, const struct key *key,
                            enum gguf_value_type *out) {
    uint32_t number;
    if (!take_u32(cursor, &number))
        return false;
    if (number >= VALUE_ROWS) {
        char what[80];
        snprintf(what, sizeof what, "has value type %" PRIu32 ", but only 0 to 12 exist", number);
        return fail_key(cursor, key, what);
    }
    *out = (enum gguf_value_type)number;
    return true;
}

// key->count numbers of key->element.
static bool take_numbers(struct cursor *cursor, struct key *key) {
    size_t each = value_rows[key->element].bytes;
    if (key->count > bytes_left(cursor) / each)
        return fail_cut(cursor);
    key->value = take(cursor, key->count * each);
    if (!key->value)
        return false;
    if (key->element == GGUF_BOOL) {
        for (size_t i = 0; i < key->count; i++) {
            if (key->value[i] > 1)
                return fail_key(cursor, key, "has a bool that is neither 0 nor 1");
        }
    }
    return true;
}

// key->count strings, each found once so that look-ups need no walk.
static bool take_strings(struct cursor *cursor, struct key *key) {
    if (key->count > bytes_left(cursor) / 8)
        return fail_cut(cursor);
    key->strings = calloc(key->count ? key->count : 1, sizeof *key->strings);
    if (!key->strings)
        return fail_memory(cursor);
    for (size_t i = 0; i < key->count; i++) {
        if (!take_string(cursor, &key->strings[i]))
            return false;
    }
    return true;
}

static bool take_array(struct cursor *cursor, struct key *key) {
    uint64_t count;
    if (!take_value_type(cursor, key, &key->element))
        return false;
    if (key->element == GGUF_ARRAY)
        return fail_key(cursor, key, "is an array of arrays, which no reader takes");
    if (!take_u64(cursor, &count))
        return false;
    if (count > bytes_left(cursor))
        return fail_cut(cursor);
    key->count = (size_t)count;
    return key->element == GGUF_STRING ? take_strings(cursor, key) : take_numbers(cursor, key);
}

static bool take_key(struct cursor *cursor, struct key *key) {
    if (!take_name(cursor, &key->name, MAX_KEY_BYTES) || !take_value_type(cursor, key, &key->type))
        return false;
    key->element = key->type;
    key->count = 1;
    if (key->type == GGUF_ARRAY)
        return take_array(cursor, key);
    if (key->type == GGUF_STRING)
        return take_string(cursor, &key->text);
    return take_numbers(cursor, key);
}

// --- The sorted indexes ---

static int compare_strings(struct gguf_string a, struct gguf_string b) {
    size_t shared = a.bytes < b.bytes ? a.bytes : b.bytes;
    int order = shared ? memcmp(a.data, b.data, shared) : 0;
    if (order != 0)
        return order;
    return (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

static int compare_named(const void *a, const void *b) {
    return compare_strings(((const struct named *)a)->name, ((const struct named *)b)->name);
}

// Sorts `index` and refuses two equal names. `kind` for the message: "key", "tensor".
static bool sort_index(const struct cursor *cursor, struct named *index, int count,
                       const char *kind) {
    qsort(index, (size_t)count, sizeof *index, compare_named);
    for (int i = 1; i < count; i++) {
        if (compare_named(&index[i - 1], &index[i]) == 0) {
            char label[LABEL_BYTES];
            utf8_printable(label, sizeof label, index[i].name.data, index[i].name.bytes);
            return fail(cursor, "%s '%s' is there twice", why_spoken(kind), label);
        }
    }
    return true;
}

static int find_named(const struct named *index, int count, const char *name) {
    struct gguf_string wanted = string_of(name);
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = compare_strings(index[middle].name, wanted);
        if (order == 0)
            return index[middle].index;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static const struct key *find_key(const struct gguf *gguf, const char *key) {
    int index = find_named(gguf->key_index, gguf->key_count, key);
    return index < 0 ? NULL : &gguf->keys[index];
}

static bool take_keys(struct cursor *cursor) {
    struct gguf *gguf = cursor->gguf;
    size_t count = (size_t)gguf->key_count;
    gguf->keys = calloc(count + 1, sizeof *gguf->keys);
    gguf->key_index = calloc(count + 1, sizeof *gguf->key_index);
    if (!gguf->keys || !gguf->key_index)
        return fail_memory(cursor);
    for (int i = 0; i < gguf->key_count; i++) {
        snprintf(cursor->part, sizeof cursor->part, why_spoken("key %d of %d"), i + 1,
                 gguf->key_count);
        if (!take_key(cursor, &gguf->keys[i]))
            return false;
        gguf->key_index[i] = (struct named){gguf->keys[i].name, i};
    }
    return sort_index(cursor, gguf->key_index, gguf->key_count, "key");
}

static bool find_alignment(const struct cursor *cursor) {
    struct gguf *gguf = cursor->gguf;
    gguf->alignment = DEFAULT_ALIGNMENT;
    const struct key *key = find_key(gguf, "general.alignment");
    if (!key)
        return true;
    if (key->type != GGUF_U32)
        return fail_key(cursor, key, "is not a u32");
    uint32_t value = load_u32(key->value);
    if (value < 8 || (value & (value - 1)) != 0)
        return fail(cursor,
                    "key 'general.alignment' is %" PRIu32 ", which is not a power of two from 8 up",
                    value);
    gguf->alignment = value;
    return true;
}

// --- Tensors ---

static bool fail_tensor(const struct cursor *cursor, const struct gguf_tensor *tensor,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool fail_tensor(const struct cursor *cursor, const struct gguf_tensor *tensor,
                        const char *format, ...) {
    char label[LABEL_BYTES], what[WHY_BYTES];
    utf8_printable(label, sizeof label, tensor->name.data, tensor->name.bytes);
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, why_spoken(format), args);
    va_end(args);
    return fail(cursor, "tensor '%s' %s", label, what);
}

static bool take_dims(struct cursor *cursor, struct gguf_tensor *tensor, int64_t *values) {
    uint32_t count;
    if (!take_u32(cursor, &count))
        return false;
    if (count < 1 || count > GGUF_MAX_DIMS)
        return fail_tensor(cursor, tensor, "has %" PRIu32 " dimensions; 1 to %d are possible",
                           count, GGUF_MAX_DIMS);
    tensor->dim_count = (int)count;
    *values = 1;
    for (int i = 0; i < GGUF_MAX_DIMS; i++) {
        uint64_t dim = 1;
        if (i < tensor->dim_count && !take_u64(cursor, &dim))
            return false;
        if (dim > INT64_MAX || __builtin_mul_overflow(*values, (int64_t)dim, values))
            return fail_tensor(cursor, tensor, "has impossible dimensions: %" PRIu64 " in place %d",
                               dim, i + 1);
        tensor->dims[i] = (int64_t)dim;
    }
    return true;
}

static bool take_tensor_type(struct cursor *cursor, struct gguf_tensor *tensor, int64_t values) {
    uint32_t number;
    if (!take_u32(cursor, &number))
        return false;
    if (number >= TYPE_ROWS)
        return fail_tensor(cursor, tensor,
                           "has the unknown type %" PRIu32 "; use an F16 or F32 file", number);
    const struct type_row *row = &type_rows[number];
    if (row->block_values == 0)
        return fail_tensor(cursor, tensor,
                           "has type %s, which GGUF no longer has; use an F16 or F32 file",
                           row->name);
    if (tensor->dims[0] % row->block_values != 0)
        return fail_tensor(cursor, tensor,
                           "has rows of %" PRId64 " values, but %s needs blocks of %u",
                           tensor->dims[0], row->name, row->block_values);
    tensor->type = (enum gguf_tensor_type)number;
    uint64_t blocks = (uint64_t)values / row->block_values;
    if (__builtin_mul_overflow(blocks, row->block_bytes, &tensor->bytes))
        return fail_tensor(cursor, tensor, "has more bytes than can be counted");
    return true;
}

// One line of the tensor table; `offset` from the start of the data section.
static bool take_tensor(struct cursor *cursor, struct gguf_tensor *tensor, uint64_t *offset) {
    int64_t values = 0;
    if (!take_name(cursor, &tensor->name, GGUF_MAX_NAME) || !take_dims(cursor, tensor, &values) ||
        !take_tensor_type(cursor, tensor, values) || !take_u64(cursor, offset))
        return false;
    if (*offset % cursor->gguf->alignment != 0)
        return fail_tensor(cursor, tensor, "starts at %" PRIu64 ", not a multiple of %zu", *offset,
                           cursor->gguf->alignment);
    return true;
}

// The place of a tensor's bytes, for the overlap check.
struct extent {
    uint64_t offset;
    size_t bytes;
    int index;
};

static int compare_extents(const void *a, const void *b) {
    const struct extent *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool check_overlap(const struct cursor *cursor, struct extent *extents, int count) {
    qsort(extents, (size_t)count, sizeof *extents, compare_extents);
    for (int i = 1; i < count; i++) {
        const struct extent *before = &extents[i - 1];
        if (extents[i].offset - before->offset < before->bytes)
            return fail_tensor(cursor, &cursor->gguf->tensors[extents[i].index],
                               "lies inside another tensor's bytes");
    }
    return true;
}

// Checks that every tensor's bytes are inside the data section and overlap no other's.
static bool place_tensors(struct cursor *cursor, struct extent *extents) {
    struct gguf *gguf = cursor->gguf;
    size_t past = cursor->at % gguf->alignment;
    size_t padding = past ? gguf->alignment - past : 0;
    snprintf(cursor->part, sizeof cursor->part, "%s", why_spoken("the start of the tensors' data"));
    const uint8_t *start = take(cursor, padding);
    if (!start)
        return false;
    start += padding;
    size_t room = bytes_left(cursor);

    int filled = 0;
    for (int i = 0; i < gguf->tensor_count; i++) {
        struct gguf_tensor *tensor = &gguf->tensors[i];
        uint64_t offset = extents[i].offset;
        if (offset > room || tensor->bytes > room - offset)
            return fail_tensor(cursor, tensor,
                               "(%zu bytes at %" PRIu64 ") goes past the end of the data (%zu "
                               "bytes); get the file again",
                               tensor->bytes, offset, room);
        tensor->data = start + offset;
        if (tensor->bytes > 0) // an empty one may be anywhere
            extents[filled++] = (struct extent){offset, tensor->bytes, i};
    }
    return check_overlap(cursor, extents, filled);
}

static bool take_tensors(struct cursor *cursor) {
    struct gguf *gguf = cursor->gguf;
    size_t count = (size_t)gguf->tensor_count;
    gguf->tensors = calloc(count + 1, sizeof *gguf->tensors);
    gguf->tensor_index = calloc(count + 1, sizeof *gguf->tensor_index);
    struct extent *extents = calloc(count + 1, sizeof *extents);
    bool ok = gguf->tensors && gguf->tensor_index && extents;
    if (!ok)
        fail_memory(cursor);
    for (int i = 0; ok && i < gguf->tensor_count; i++) {
        snprintf(cursor->part, sizeof cursor->part, why_spoken("tensor %d of %d"), i + 1,
                 gguf->tensor_count);
        ok = take_tensor(cursor, &gguf->tensors[i], &extents[i].offset);
        gguf->tensor_index[i] = (struct named){gguf->tensors[i].name, i};
    }
    ok = ok && sort_index(cursor, gguf->tensor_index, gguf->tensor_count, "tensor");
    // Files that are only a vocabulary end right here, without padding.
    if (ok && gguf->tensor_count > 0)
        ok = place_tensors(cursor, extents);
    free(extents);
    return ok;
}

// --- The start of a file ---

// What people open by mistake, by its first bytes.
static const struct {
    const char *start, *what;
} other_files[] = {
    {"version https://git-lfs", "a Git LFS pointer, not the file itself; run git lfs pull"},
    {"ggjt", "an old GGML file; convert the model to GGUF again"},
    {"tjgg", "an old GGML file; convert the model to GGUF again"},
    {"lmgg", "an old GGML file; convert the model to GGUF again"},
    {"fmgg", "an old GGML file; convert the model to GGUF again"},
    {"FUGG", "a big-endian GGUF file; only little-endian ones are read"},
    {"PK\x03\x04", "a zip file or PyTorch checkpoint; convert it to GGUF first"},
    {"<", "a web page or XML, not a model; download the file itself"},
    {"{", "JSON, not a model; give the GGUF file"},
};

static bool fail_magic(const struct cursor *cursor, const uint8_t *start, size_t bytes) {
    for (size_t i = 0; i < sizeof other_files / sizeof other_files[0]; i++) {
        size_t length = strlen(other_files[i].start);
        if (bytes >= length && memcmp(start, other_files[i].start, length) == 0)
            return fail(cursor, "is %s", why_spoken(other_files[i].what));
    }
    if (bytes > 8 && start[8] == '{')
        return fail(cursor, "is a safetensors file; convert it to GGUF first");
    return fail(cursor, "is not a GGUF file (it does not start with \"GGUF\")");
}

// Magic and version, from the first `bytes` bytes of the file.
static bool check_start(const struct cursor *cursor, const uint8_t *start, size_t bytes) {
    if (bytes == 0)
        return fail(cursor, "is empty; get the file again");
    if (bytes < 4 || memcmp(start, "GGUF", 4) != 0)
        return fail_magic(cursor, start, bytes);
    if (bytes < 8)
        return fail_cut(cursor);
    uint32_t version = load_u32(start + 4);
    if (version == 2 || version == 3)
        return true;
    if (version != 0 && (version & 0xffff) == 0)
        return fail(cursor, "is a big-endian GGUF file; only little-endian ones are read");
    if (version == 1)
        return fail(cursor, "is GGUF version 1, whose counts have 32 bits; convert it again");
    return fail(cursor, "is GGUF version %" PRIu32 "; only 2 and 3 are read", version);
}

static bool take_count(struct cursor *cursor, int *out, const char *kind, size_t least_bytes) {
    uint64_t count;
    if (!take_u64(cursor, &count))
        return false;
    size_t rest = cursor->gguf->size > START_BYTES ? cursor->gguf->size - START_BYTES : 0;
    if (count > rest / least_bytes || count >= INT_MAX)
        return fail(cursor, "says it holds %" PRIu64 " %s, but only %zu bytes follow", count,
                    why_spoken(kind), rest);
    *out = (int)count;
    return true;
}

static bool parse(struct cursor *cursor) {
    struct gguf *gguf = cursor->gguf;
    if (!check_start(cursor, gguf->bytes, gguf->size))
        return false;
    gguf->version = (int)load_u32(gguf->bytes + 4);
    cursor->at = 8;
    return take_count(cursor, &gguf->tensor_count, "tensors", MIN_TENSOR_BYTES) &&
           take_count(cursor, &gguf->key_count, "keys", MIN_KEY_BYTES) && take_keys(cursor) &&
           find_alignment(cursor) && take_tensors(cursor);
}

// --- Open and close ---

// A file without content yet; NULL with `why` if memory runs out.
static struct gguf *create(const char *name, struct why *why) {
    struct gguf *gguf = calloc(1, sizeof *gguf);
    if (!gguf) {
        why_set(why, "not enough memory to open a GGUF file");
        return NULL;
    }
    const char *slash = strrchr(name, '/');
    const char *file = slash && slash[1] ? slash + 1 : name;
    utf8_printable(gguf->name, sizeof gguf->name, file, strlen(file));
    return gguf;
}

bool gguf_parse(struct gguf **out, const char *name, const void *data, size_t bytes,
                struct why *why) {
    *out = NULL;
    struct gguf *gguf = create(name, why);
    if (!gguf)
        return false;
    gguf->bytes = data;
    gguf->size = bytes;
    struct cursor cursor = {.gguf = gguf, .part = "the header", .why = why};
    if (!parse(&cursor)) {
        gguf_close(gguf);
        return false;
    }
    *out = gguf;
    return true;
}

// Reads the first `bytes` bytes; `got` is less only when the file ends before.
static bool read_at(const struct cursor *cursor, int fd, uint8_t *out, size_t bytes, size_t *got) {
    *got = 0;
    while (*got < bytes) {
        size_t chunk = bytes - *got;
        if (chunk > 1 << 30) // Linux gives at most 2 GiB a call
            chunk = 1 << 30;
        ssize_t n = pread(fd, out + *got, chunk, (off_t)*got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(cursor, "cannot be read: %s", strerror(errno));
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return true;
}

static bool check_size(const struct cursor *cursor, const struct stat *info) {
    const char *what = S_ISDIR(info->st_mode)    ? "a folder"
                       : S_ISFIFO(info->st_mode) ? "a pipe"
                       : S_ISREG(info->st_mode)  ? NULL
                                                 : "not a regular file";
    if (what)
        return fail(cursor, "is %s; give a GGUF file", why_spoken(what));
    return true;
}

static bool map_file(struct cursor *cursor, int fd) {
    struct gguf *gguf = cursor->gguf;
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail(cursor, "cannot be read: %s", strerror(errno));
    if (!check_size(cursor, &info))
        return false;

    // Checks the start first, to refuse a file that is no model without reading all of it.
    uint8_t start[START_BYTES];
    size_t size = (size_t)info.st_size, got;
    gguf->size = size;
    if (!read_at(cursor, fd, start, sizeof start, &got) || !check_start(cursor, start, got))
        return false;

    if (!mapfile_open(&gguf->map, fd, size, gguf->name) && errno == ENOMEM)
        return fail(cursor,
                    "has %zu MiB, more than this process may address: raise the limit (ulimit -v)",
                    size >> 20);
    if (!gguf->map.data)
        return fail(cursor, "cannot be read: %s", strerror(errno));
    gguf->bytes = gguf->map.data;
    return true;
}

bool gguf_open(struct gguf **out, const char *path, struct why *why) {
    *out = NULL;
    struct gguf *gguf = create(path, why);
    if (!gguf)
        return false;
    struct cursor cursor = {.gguf = gguf, .part = "the header", .why = why};
    // O_NONBLOCK: opening a pipe must not wait for someone to write into it.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok = fd >= 0 || fail(&cursor, "cannot be opened: %s", strerror(errno));
    ok = ok && map_file(&cursor, fd) && parse(&cursor);
    if (fd >= 0)
        close(fd);
    if (!ok) {
        gguf_close(gguf);
        return false;
    }
    *out = gguf;
    return true;
}

bool gguf_touch(const struct gguf *gguf, bool (*on_part)(void *context, size_t done_bytes),
                void *context) {
    return mapfile_touch(&gguf->map, on_part, context);
}

size_t gguf_bytes(const struct gguf *gguf) {
    return gguf->size;
}

void gguf_close(struct gguf *gguf) {
    if (!gguf)
        return;
    for (int i = 0; gguf->keys && i < gguf->key_count; i++)
        free(gguf->keys[i].strings);
    free(gguf->keys);
    free(gguf->key_index);
    free(gguf->tensors);
    free(gguf->tensor_index);
    mapfile_close(&gguf->map);
    free(gguf);
}

// --- Look-ups ---

const char *gguf_name(const struct gguf *gguf) {
    return gguf->name;
}

int gguf_version(const struct gguf *gguf) {
    return gguf->version;
}

int gguf_key_count(const struct gguf *gguf) {
    return gguf->key_count;
}

int gguf_tensor_count(const struct gguf *gguf) {
    return gguf->tensor_count;
}

const struct gguf_tensor *gguf_tensor_at(const struct gguf *gguf, int index) {
    return index >= 0 && index < gguf->tensor_count ? &gguf->tensors[index] : NULL;
}

const struct gguf_tensor *gguf_tensor_find(const struct gguf *gguf, const char *name) {
    return gguf_tensor_at(gguf, find_named(gguf->tensor_index, gguf->tensor_count, name));
}

// Number `index` of a key as an integer; false if it is none or does not fit.
static bool int_value(const struct key *key, size_t index, int64_t *out) {
    if (key->element == GGUF_STRING)
        return false;
    const uint8_t *p = key->value + index * value_rows[key->element].bytes;
    switch (key->element) {
    case GGUF_U8:
        *out = *p;
        return true;
    case GGUF_I8:
        *out = (int8_t)*p;
        return true;
    case GGUF_U16:
        *out = load_u16(p);
        return true;
    case GGUF_I16:
        *out = (int16_t)load_u16(p);
        return true;
    case GGUF_U32:
        *out = load_u32(p);
        return true;
    case GGUF_I32:
        *out = (int32_t)load_u32(p);
        return true;
    case GGUF_I64:
        *out = (int64_t)load_u64(p);
        return true;
    case GGUF_U64:
        if (load_u64(p) > INT64_MAX)
            return false;
        *out = (int64_t)load_u64(p);
        return true;
    default:
        return false;
    }
}

static bool float_value(const struct key *key, size_t index, double *out) {
    if (key->element == GGUF_F32)
        *out = load_f32(key->value + 4 * index);
    else if (key->element == GGUF_F64)
        *out = load_f64(key->value + 8 * index);
    else
        return false;
    return true;
}

bool gguf_has(const struct gguf *gguf, const char *key) {
    return find_key(gguf, key) != NULL;
}

bool gguf_int(const struct gguf *gguf, const char *key, int64_t *out) {
    const struct key *found = find_key(gguf, key);
    return found && found->type != GGUF_ARRAY && int_value(found, 0, out);
}

bool gguf_float(const struct gguf *gguf, const char *key, double *out) {
    const struct key *found = find_key(gguf, key);
    return found && found->type != GGUF_ARRAY && float_value(found, 0, out);
}

bool gguf_bool(const struct gguf *gguf, const char *key, bool *out) {
    const struct key *found = find_key(gguf, key);
    if (!found || found->type != GGUF_BOOL)
        return false;
    *out = *found->value == 1;
    return true;
}

bool gguf_string(const struct gguf *gguf, const char *key, struct gguf_string *out) {
    const struct key *found = find_key(gguf, key);
    if (!found || found->type != GGUF_STRING)
        return false;
    *out = found->text;
    return true;
}

static const struct key *find_array(const struct gguf *gguf, const char *key) {
    const struct key *found = find_key(gguf, key);
    return found && found->type == GGUF_ARRAY ? found : NULL;
}

bool gguf_array(const struct gguf *gguf, const char *key, enum gguf_value_type *type,
                size_t *count) {
    const struct key *found = find_array(gguf, key);
    if (!found)
        return false;
    *type = found->element;
    *count = found->count;
    return true;
}

bool gguf_array_int(const struct gguf *gguf, const char *key, size_t index, int64_t *out) {
    const struct key *found = find_array(gguf, key);
    return found && index < found->count && int_value(found, index, out);
}

bool gguf_array_float(const struct gguf *gguf, const char *key, size_t index, double *out) {
    const struct key *found = find_array(gguf, key);
    return found && index < found->count && float_value(found, index, out);
}

bool gguf_array_string(const struct gguf *gguf, const char *key, size_t index,
                       struct gguf_string *out) {
    const struct key *found = find_array(gguf, key);
    if (!found || found->element != GGUF_STRING || index >= found->count)
        return false;
    *out = found->strings[index];
    return true;
}

// --- Listings ---

enum { LISTED_ELEMENTS = 4 };

static void describe_element(const struct key *key, size_t index, char *out, size_t bytes) {
    int64_t whole;
    double real;
    if (key->element == GGUF_STRING) {
        char text[128];
        struct gguf_string value = key->type == GGUF_ARRAY ? key->strings[index] : key->text;
        utf8_printable(text, sizeof text, value.data, value.bytes);
        snprintf(out, bytes, "\"%s\"", text);
    } else if (key->element == GGUF_BOOL) {
        snprintf(out, bytes, "%s", key->value[index] ? "true" : "false");
    } else if (int_value(key, index, &whole)) {
        snprintf(out, bytes, "%" PRId64, whole);
    } else if (float_value(key, index, &real)) {
        snprintf(out, bytes, "%g", real);
    } else { // a u64 above every int64
        snprintf(out, bytes, "%" PRIu64, load_u64(key->value + 8 * index));
    }
}

void gguf_describe_key(const struct gguf *gguf, int index, char *out, size_t bytes) {
    if (bytes == 0)
        return;
    out[0] = '\0';
    if (index < 0 || index >= gguf->key_count)
        return;

    const struct key *key = &gguf->keys[index];
    char line[1024], name[128], element[160];
    utf8_printable(name, sizeof name, key->name.data, key->name.bytes);
    int used = snprintf(line, sizeof line, "%s %s", name, value_rows[key->element].name);
    if (key->type == GGUF_ARRAY)
        used += snprintf(line + used, sizeof line - (size_t)used, "[%zu]", key->count);
    for (size_t i = 0; i < key->count && i < LISTED_ELEMENTS; i++) {
        describe_element(key, i, element, sizeof element);
        used += snprintf(line + used, sizeof line - (size_t)used, "%s %s", i ? "," : "", element);
    }
    if (key->count > LISTED_ELEMENTS)
        snprintf(line + used, sizeof line - (size_t)used, ", ...");
    size_t whole = utf8_cut(line, strlen(line), bytes - 1);
    memcpy(out, line, whole);
    out[whole] = '\0';
}
