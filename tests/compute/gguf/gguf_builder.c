// See gguf_builder.h. Three growing buffers (keys, tensor table, data) are put one
// behind the other at the end, the data at the next multiple of the alignment.
// Numbers are written byte by byte, so the file is little-endian everywhere.
#include "tests/compute/gguf/gguf_builder.h"

#include "tests/compute/gguf/quant_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TYPE_U32 = 4, TYPE_F32 = 6, TYPE_BOOL = 7, TYPE_STRING = 8, TYPE_ARRAY = 9 };

const struct gguf_builder_llama gguf_builder_small = {
    .dim = 16,
    .layers = 2,
    .heads = 4,
    .kv_heads = 2,
    .head_dim = 4,
    .ff_dim = 24,
    .vocab = 20,
    .context = 64,
};

void gguf_builder_init(struct gguf_builder *builder) {
    *builder = (struct gguf_builder){.magic = {'G', 'G', 'U', 'F'}, .version = 3, .alignment = 32};
}

void gguf_builder_clear(struct gguf_builder *builder) {
    free(builder->keys.data);
    free(builder->infos.data);
    free(builder->data.data);
    gguf_builder_init(builder);
}

void gguf_buffer_put(struct gguf_buffer *buffer, const void *data, size_t bytes) {
    if (buffer->capacity - buffer->bytes < bytes) {
        buffer->capacity = 2 * buffer->capacity + bytes + 64;
        buffer->data = realloc(buffer->data, buffer->capacity);
        if (!buffer->data)
            abort();
    }
    if (bytes)
        memcpy(buffer->data + buffer->bytes, data, bytes);
    buffer->bytes += bytes;
}

void gguf_buffer_u32(struct gguf_buffer *buffer, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        uint8_t byte = (uint8_t)(value >> 8 * i);
        gguf_buffer_put(buffer, &byte, 1);
    }
}

void gguf_buffer_u64(struct gguf_buffer *buffer, uint64_t value) {
    gguf_buffer_u32(buffer, (uint32_t)value);
    gguf_buffer_u32(buffer, (uint32_t)(value >> 32));
}

void gguf_buffer_string(struct gguf_buffer *buffer, const char *text) {
    gguf_buffer_u64(buffer, strlen(text));
    gguf_buffer_put(buffer, text, strlen(text));
}

static bool is_passed_over(const struct gguf_builder *builder, const char *name) {
    return builder->without && strcmp(builder->without, name) == 0;
}

bool gguf_builder_key(struct gguf_builder *builder, const char *key, uint32_t type) {
    if (is_passed_over(builder, key))
        return false;
    gguf_buffer_string(&builder->keys, key);
    gguf_buffer_u32(&builder->keys, type);
    builder->key_count++;
    return true;
}

void gguf_builder_u32(struct gguf_builder *builder, const char *key, uint32_t value) {
    if (gguf_builder_key(builder, key, TYPE_U32))
        gguf_buffer_u32(&builder->keys, value);
}

static void put_f32(struct gguf_buffer *buffer, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    gguf_buffer_u32(buffer, bits);
}

void gguf_builder_f32(struct gguf_builder *builder, const char *key, float value) {
    if (gguf_builder_key(builder, key, TYPE_F32))
        put_f32(&builder->keys, value);
}

void gguf_builder_bool(struct gguf_builder *builder, const char *key, bool value) {
    uint8_t byte = value ? 1 : 0;
    if (gguf_builder_key(builder, key, TYPE_BOOL))
        gguf_buffer_put(&builder->keys, &byte, 1);
}

void gguf_builder_text(struct gguf_builder *builder, const char *key, const char *value) {
    if (gguf_builder_key(builder, key, TYPE_STRING))
        gguf_buffer_string(&builder->keys, value);
}

void gguf_builder_numbers(struct gguf_builder *builder, const char *key, uint32_t type, size_t each,
                          size_t count, const void *values) {
    if (!gguf_builder_key(builder, key, TYPE_ARRAY))
        return;
    gguf_buffer_u32(&builder->keys, type);
    gguf_buffer_u64(&builder->keys, count);
    gguf_buffer_put(&builder->keys, values, each * count);
}

void gguf_builder_texts(struct gguf_builder *builder, const char *key, size_t count,
                        const char *const *texts) {
    if (!gguf_builder_key(builder, key, TYPE_ARRAY))
        return;
    gguf_buffer_u32(&builder->keys, TYPE_STRING);
    gguf_buffer_u64(&builder->keys, count);
    for (size_t i = 0; i < count; i++)
        gguf_buffer_string(&builder->keys, texts[i]);
}

void gguf_builder_info(struct gguf_builder *builder, const char *name, uint32_t dim_count,
                       const uint64_t *dims, uint32_t type, uint64_t offset) {
    gguf_buffer_string(&builder->infos, name);
    gguf_buffer_u32(&builder->infos, dim_count);
    for (uint32_t i = 0; i < dim_count; i++)
        gguf_buffer_u64(&builder->infos, dims[i]);
    gguf_buffer_u32(&builder->infos, type);
    gguf_buffer_u64(&builder->infos, offset);
    builder->tensor_count++;
}

static void pad(struct gguf_buffer *buffer, size_t alignment) {
    while (buffer->bytes % alignment != 0)
        gguf_buffer_put(buffer, "", 1);
}

// Roughly 1 / sqrt(cols) in size, evenly spread, a function of its place alone.
static float random_weight(uint64_t place, uint64_t cols) {
    uint64_t x = place * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 32;
    double unit = (double)(x >> 11) * 0x1p-53;
    return (float)((2 * unit - 1) * 1.7 / sqrt((double)cols));
}

// 32 numbers in Q8_0 (34 bytes) or Q4_0 (18 bytes), plainly: nearest steps of a scale
// that the largest number gives.
static void put_block(struct gguf_builder *builder, uint32_t type, const float *values) {
    double most = 0;
    for (int i = 0; i < 32; i++)
        most = fabs((double)values[i]) > most ? fabs((double)values[i]) : most;
    bool is_q8 = type == 8;
    uint16_t half = half_from_float((float)(most / (is_q8 ? 127 : 7)));
    double scale = half ? (double)half_to_float(half) : 1;
    uint8_t steps[32], bytes[2] = {(uint8_t)half, (uint8_t)(half >> 8)};
    gguf_buffer_put(&builder->data, bytes, 2);
    for (int i = 0; i < 32; i++) {
        long step = lround((double)values[i] / scale);
        steps[i] = (uint8_t)(is_q8 ? step : (step > 7 ? 7 : step) + 8);
    }
    for (int i = 0; i < 16 && !is_q8; i++)
        steps[i] = (uint8_t)(steps[i] | steps[16 + i] << 4);
    gguf_buffer_put(&builder->data, steps, is_q8 ? 32 : 16);
}

static void put_number(struct gguf_builder *builder, uint32_t type, float value) {
    uint16_t half = type == 1 ? half_from_float(value) : half_bf16_from_float(value);
    uint8_t bytes[2] = {(uint8_t)half, (uint8_t)(half >> 8)};
    if (type == 0)
        put_f32(&builder->data, value);
    else
        gguf_buffer_put(&builder->data, bytes, 2);
}

static void put_row(struct gguf_builder *builder, uint32_t type, uint64_t cols,
                    const float *values) {
    uint64_t each = type == 2 || type == 8 ? 32 : 1;
    for (uint64_t c = 0; c < cols; c += each) {
        float numbers[32];
        for (uint64_t i = 0; i < each; i++)
            numbers[i] = values ? values[c + i] : random_weight(builder->data.bytes * 32 + i, cols);
        if (each == 1)
            put_number(builder, type, numbers[0]);
        else
            put_block(builder, type, numbers);
    }
}

void gguf_builder_tensor(struct gguf_builder *builder, const char *name, uint32_t type,
                         uint64_t rows, uint64_t cols, const float *values) {
    if (is_passed_over(builder, name))
        return;
    pad(&builder->data, builder->alignment);
    const uint64_t dims[2] = {cols, rows};
    gguf_builder_info(builder, name, rows ? 2 : 1, dims, type, builder->data.bytes);
    for (uint64_t r = 0; r < (rows ? rows : 1); r++)
        put_row(builder, type, cols, values ? values + r * cols : NULL);
}

// Norms of Llama are ones, those of others differ from number to number; biases are small.
static void put_vector(struct gguf_builder *builder, const char *name, uint32_t cols, float middle,
                       float swing) {
    float *values = malloc(cols * sizeof *values);
    if (!values)
        abort();
    for (uint32_t i = 0; i < cols; i++)
        values[i] = middle + swing * (float)((int)(i * 7 % 11) - 5);
    gguf_builder_tensor(builder, name, 0, 0, cols, values);
    free(values);
}

static void put_layer(struct gguf_builder *builder, const struct gguf_builder_llama *shape,
                      const struct gguf_builder_kind *kind, uint32_t index) {
    const uint32_t q = shape->heads * shape->head_dim, kv = shape->kv_heads * shape->head_dim;
    const uint32_t dim = shape->dim, ff = shape->ff_dim;
    float swing = strcmp(kind->architecture, "llama") == 0 ? 0 : 0.05F;
    const struct {
        const char *name;
        bool is_there;
        uint32_t rows, cols; // rows 0: a vector
    } parts[] = {
        {"attn_norm.weight", true, 0, dim},
        {"attn_qkv.weight", kind->fused, q + 2 * kv, dim},
        {"attn_q.weight", !kind->fused, q, dim},
        {"attn_k.weight", !kind->fused, kv, dim},
        {"attn_v.weight", !kind->fused, kv, dim},
        {"attn_q.bias", kind->biases, 0, q},
        {"attn_k.bias", kind->biases, 0, kv},
        {"attn_v.bias", kind->biases, 0, kv},
        {"attn_q_norm.weight", kind->head_norms, 0, shape->head_dim},
        {"attn_k_norm.weight", kind->head_norms, 0, shape->head_dim},
        {"attn_output.weight", true, dim, q},
        {"post_attention_norm.weight", kind->post_norms, 0, dim},
        {"ffn_norm.weight", true, 0, dim},
        {"ffn_gate.weight", !kind->fused, ff, dim},
        {"ffn_up.weight", true, kind->fused ? 2 * ff : ff, dim},
        {"ffn_down.weight", true, dim, ff},
        {"post_ffw_norm.weight", kind->post_norms, 0, dim},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char name[64];
        bool is_bias = strstr(parts[i].name, ".bias") != NULL;
        snprintf(name, sizeof name, "blk.%u.%s", index, parts[i].name);
        if (!parts[i].is_there)
            continue;
        if (parts[i].rows)
            gguf_builder_tensor(builder, name, shape->type, parts[i].rows, parts[i].cols, NULL);
        else
            put_vector(builder, name, parts[i].cols, is_bias ? 0 : 1, swing);
    }
}

static const char *key(char out[64], const struct gguf_builder_kind *kind, const char *name) {
    snprintf(out, 64, "%s.%s", kind->architecture, name);
    return out;
}

void gguf_builder_model(struct gguf_builder *builder, const struct gguf_builder_llama *shape,
                        const struct gguf_builder_kind *kind) {
    const struct {
        const char *name;
        bool is_there;
        uint32_t value;
    } sizes[] = {
        {"block_count", true, shape->layers},
        {"context_length", true, shape->context},
        {"embedding_length", true, shape->dim},
        {"feed_forward_length", true, shape->ff_dim},
        {"attention.head_count", true, shape->heads},
        {"attention.head_count_kv", true, shape->kv_heads},
        {"attention.key_length", shape->heads * shape->head_dim != shape->dim, shape->head_dim},
        {"attention.value_length", shape->heads * shape->head_dim != shape->dim, shape->head_dim},
        {"attention.sliding_window", kind->window > 0, kind->window},
        {"rope.dimension_count", true, kind->rotary ? kind->rotary : shape->head_dim},
    };
    char text[64];
    gguf_builder_text(builder, "general.architecture", kind->architecture);
    gguf_builder_text(builder, "general.name", "random weights");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i].is_there)
            gguf_builder_u32(builder, key(text, kind, sizes[i].name), sizes[i].value);
    }
    gguf_builder_f32(builder, key(text, kind, "rope.freq_base"), 10000.0F);
    gguf_builder_f32(builder, key(text, kind, "attention.layer_norm_rms_epsilon"), 1e-5F);

    gguf_builder_tensor(builder, "token_embd.weight", shape->type, shape->vocab, shape->dim, NULL);
    put_vector(builder, "output_norm.weight", shape->dim, 1, 0);
    if (!shape->tied)
        gguf_builder_tensor(builder, "output.weight", shape->type, shape->vocab, shape->dim, NULL);
    for (uint32_t i = 0; i < shape->layers; i++)
        put_layer(builder, shape, kind, i);
}

void gguf_builder_llama(struct gguf_builder *builder, const struct gguf_builder_llama *shape) {
    static const struct gguf_builder_kind llama = {.architecture = "llama"};
    gguf_builder_model(builder, shape, &llama);
}

uint8_t *gguf_builder_finish(const struct gguf_builder *builder, size_t *bytes) {
    struct gguf_buffer file = {0};
    gguf_buffer_put(&file, builder->magic, 4);
    gguf_buffer_u32(&file, builder->version);
    gguf_buffer_u64(&file, builder->tensor_count);
    gguf_buffer_u64(&file, builder->key_count);
    gguf_buffer_put(&file, builder->keys.data, builder->keys.bytes);
    gguf_buffer_put(&file, builder->infos.data, builder->infos.bytes);
    if (builder->data.bytes) {
        pad(&file, builder->alignment);
        gguf_buffer_put(&file, builder->data.data, builder->data.bytes);
    }
    // A buffer grows in steps; a copy of the exact size lets a sanitizer see one byte
    // read too far.
    uint8_t *exact = malloc(file.bytes);
    if (!exact)
        abort();
    memcpy(exact, file.data, file.bytes);
    *bytes = file.bytes;
    free(file.data);
    return exact;
}
