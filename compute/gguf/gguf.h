// Reader for GGUF v2 and v3 files (little-endian), as ggml's docs/gguf.md
// describes them. It parses the header once, checks every count, length and
// offset against the bytes that are there with overflow-safe arithmetic, and
// then answers look-ups. It knows nothing of models; it never trusts the file.
#ifndef COMPUTE_GGUF_GGUF_H
#define COMPUTE_GGUF_GGUF_H

#include "compute/base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GGUF_MAX_DIMS = 4, GGUF_MAX_NAME = 64 };

enum gguf_value_type {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
};

// The tensor types of ggml that this program computes with (quant.h). A file may use
// any of ggml's types: sizes are checked for all of them and `type` then holds
// ggml's number (gguf_tensor_type_name gives its name); who reads the tensor
// rejects types it cannot use. Numbers that ggml does not define are refused here.
enum gguf_tensor_type {
    GGUF_TENSOR_F32 = 0,
    GGUF_TENSOR_F16 = 1,
    GGUF_TENSOR_Q4_0 = 2,
    GGUF_TENSOR_Q4_1 = 3,
    GGUF_TENSOR_Q5_0 = 6,
    GGUF_TENSOR_Q5_1 = 7,
    GGUF_TENSOR_Q8_0 = 8,
    GGUF_TENSOR_Q2_K = 10,
    GGUF_TENSOR_Q3_K = 11,
    GGUF_TENSOR_Q4_K = 12,
    GGUF_TENSOR_Q5_K = 13,
    GGUF_TENSOR_Q6_K = 14,
    GGUF_TENSOR_IQ4_NL = 20,
    GGUF_TENSOR_IQ4_XS = 23,
    GGUF_TENSOR_BF16 = 30,
    GGUF_TENSOR_MXFP4 = 39,
};

struct gguf_string {
    const char *data; // not NUL-terminated, points into the file
    size_t bytes;
};

struct gguf_tensor {
    struct gguf_string name;
    enum gguf_tensor_type type;
    int dim_count;
    int64_t dims[GGUF_MAX_DIMS]; // fastest first: {in, out} for a matrix; 1 beyond dim_count
    const void *data;            // gguf_open: aligned to the smaller of general.alignment and 64
    size_t bytes;
};

struct gguf; // the file in memory

// Maps the file (see mapfile.h): only the header is read. Owner: the caller, gguf_close.
bool gguf_open(struct gguf **out, const char *path, struct why *why);

// The same over bytes the caller keeps alive and unchanged. `name` for messages.
// `data` need not be aligned; tensor data pointers then are not either.
bool gguf_parse(struct gguf **out, const char *name, const void *data, size_t bytes,
                struct why *why);
void gguf_close(struct gguf *gguf);

// Reads the whole file, so that no page has to be waited for later; see mapfile_touch.
bool gguf_touch(const struct gguf *gguf, bool (*on_part)(void *context, size_t done_bytes),
                void *context);
size_t gguf_bytes(const struct gguf *gguf); // of the whole file

const char *gguf_name(const struct gguf *gguf); // for messages: printable, short
int gguf_version(const struct gguf *gguf);
int gguf_key_count(const struct gguf *gguf);
int gguf_tensor_count(const struct gguf *gguf);
const struct gguf_tensor *gguf_tensor_at(const struct gguf *gguf, int index);
const struct gguf_tensor *gguf_tensor_find(const struct gguf *gguf, const char *name); // or NULL
const char *gguf_tensor_type_name(enum gguf_tensor_type type); // "Q4_K", ...; "?" = none

// Look-ups: false when the key is absent or of another type, `out` is then
// untouched. Integer look-ups take any integer type and fail when the value does
// not fit; float look-ups take F32 and F64.
bool gguf_has(const struct gguf *gguf, const char *key);
bool gguf_int(const struct gguf *gguf, const char *key, int64_t *out);
bool gguf_float(const struct gguf *gguf, const char *key, double *out);
bool gguf_bool(const struct gguf *gguf, const char *key, bool *out);
bool gguf_string(const struct gguf *gguf, const char *key, struct gguf_string *out);

// Arrays: element type and count; element look-ups by index (strings are
// indexed once at parse time, so this is O(1)).
bool gguf_array(const struct gguf *gguf, const char *key, enum gguf_value_type *type,
                size_t *count);
bool gguf_array_int(const struct gguf *gguf, const char *key, size_t index, int64_t *out);
bool gguf_array_float(const struct gguf *gguf, const char *key, size_t index, double *out);
bool gguf_array_string(const struct gguf *gguf, const char *key, size_t index,
                       struct gguf_string *out);

// Key `index` for listings: its name, type, and a short printable form of its
// value (cut at `bytes`).
void gguf_describe_key(const struct gguf *gguf, int index, char *out, size_t bytes);

#endif
