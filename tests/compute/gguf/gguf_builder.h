// Writes GGUF bytes for tests: good files, and evil ones, since every count,
// length and offset can be set to what it should not be. It shares no code with
// the reader under test. Running out of memory ends the test program.
#ifndef TESTS_COMPUTE_GGUF_GGUF_BUILDER_H
#define TESTS_COMPUTE_GGUF_GGUF_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gguf_buffer {
    uint8_t *data;
    size_t bytes, capacity;
};

// The counts follow what is added; a test may change them before finish.
struct gguf_builder {
    char magic[4];
    uint32_t version;
    uint64_t tensor_count, key_count;
    size_t alignment;    // used to place tensors; writing the key is up to the test
    const char *without; // a key or tensor of this name is passed over, NULL = none
    struct gguf_buffer keys, infos, data;
};

void gguf_builder_init(struct gguf_builder *builder); // version 3, alignment 32
void gguf_builder_clear(struct gguf_builder *builder);

void gguf_buffer_put(struct gguf_buffer *buffer, const void *data, size_t bytes);
void gguf_buffer_u32(struct gguf_buffer *buffer, uint32_t value);
void gguf_buffer_u64(struct gguf_buffer *buffer, uint64_t value);
void gguf_buffer_string(struct gguf_buffer *buffer, const char *text); // length and bytes

// Name and value type of a key; the value is up to the caller (builder->keys).
// false: passed over, because of `without`.
bool gguf_builder_key(struct gguf_builder *builder, const char *key, uint32_t type);
void gguf_builder_u32(struct gguf_builder *builder, const char *key, uint32_t value);
void gguf_builder_f32(struct gguf_builder *builder, const char *key, float value);
void gguf_builder_bool(struct gguf_builder *builder, const char *key, bool value);
void gguf_builder_text(struct gguf_builder *builder, const char *key, const char *value);

// `count` numbers of `each` bytes, or NUL-terminated texts.
void gguf_builder_numbers(struct gguf_builder *builder, const char *key, uint32_t type, size_t each,
                          size_t count, const void *values);
void gguf_builder_texts(struct gguf_builder *builder, const char *key, size_t count,
                        const char *const *texts);

// One line of the tensor table, nothing else.
void gguf_builder_info(struct gguf_builder *builder, const char *name, uint32_t dim_count,
                       const uint64_t *dims, uint32_t type, uint64_t offset);

// The line and the data: rows x cols values (rows 0: a vector) of F32 (type 0), F16
// (1), Q4_0 (2), Q8_0 (8) or BF16 (30), at the next aligned place. values: [rows * cols] floats, or NULL for
// random ones of the size that keeps a transformer's activations finite.
void gguf_builder_tensor(struct gguf_builder *builder, const char *name, uint32_t type,
                         uint64_t rows, uint64_t cols, const float *values);

// A whole llama model of random weights, without a vocabulary.
struct gguf_builder_llama {
    uint32_t dim, layers, heads, kv_heads, head_dim, ff_dim, vocab, context;
    uint32_t type; // of matrices
    bool tied;
};

extern const struct gguf_builder_llama gguf_builder_small; // 16, 2, 4, 2, 4, 24, 20, 64, F32

void gguf_builder_llama(struct gguf_builder *builder, const struct gguf_builder_llama *shape);

// The same for another architecture, with the parts that it has besides.
struct gguf_builder_kind {
    const char *architecture;
    bool biases, head_norms, post_norms, fused;
    uint32_t rotary; // 0 = the whole head
    uint32_t window; // 0 = no such key
};

void gguf_builder_model(struct gguf_builder *builder, const struct gguf_builder_llama *shape,
                        const struct gguf_builder_kind *kind);

// The file in exactly so many bytes of its own memory. Owner: the caller, free().
uint8_t *gguf_builder_finish(const struct gguf_builder *builder, size_t *bytes);

#endif
