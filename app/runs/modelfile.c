// See modelfile.h. Read from the keys as they are, so that a file that does not open is still
// described.
#include "app/runs/modelfile.h"

#include "compute/base/utf8.h"
#include "compute/gguf/quant.h"
#include "compute/model/accept.h"
#include "compute/tokenizer/chat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void read_text(char *out, size_t bytes, const struct gguf *file, const char *key) {
    struct gguf_string text;
    if (gguf_string(file, key, &text))
        utf8_printable(out, bytes, text.data, text.bytes);
}

// A key of the file's architecture; 0 where it is missing, or one for each layer.
static int64_t size_of(const struct modelfile *about, const struct gguf *file, const char *name) {
    char key[96];
    int64_t value = 0;
    snprintf(key, sizeof key, "%s.%s", about->architecture, name);
    gguf_int(file, key, &value);
    return value > 0 ? value : 0;
}

static void read_sizes(struct modelfile *out, const struct gguf *file) {
    enum gguf_value_type type;
    size_t words = 0;
    out->layers = size_of(out, file, "block_count");
    out->width = size_of(out, file, "embedding_length");
    out->feed_forward = size_of(out, file, "feed_forward_length");
    out->heads = size_of(out, file, "attention.head_count");
    out->kv_heads = size_of(out, file, "attention.head_count_kv");
    out->head_width = size_of(out, file, "attention.key_length");
    out->context = size_of(out, file, "context_length");
    out->window = size_of(out, file, "attention.sliding_window");
    out->experts = size_of(out, file, "expert_count");
    if (out->kv_heads == 0)
        out->kv_heads = out->heads;
    if (out->head_width == 0 && out->heads > 0)
        out->head_width = out->width / out->heads;
    if (gguf_array(file, "tokenizer.ggml.tokens", &type, &words))
        out->vocabulary = (int64_t)words;
}

static void read_tokenizer(struct modelfile *out, const struct gguf *file) {
    struct gguf_string template;
    read_text(out->tokenizer, sizeof out->tokenizer, file, "tokenizer.ggml.model");
    if (strcmp(out->tokenizer, "llama") == 0) // which has no other way of cutting
        snprintf(out->tokenizer, sizeof out->tokenizer, "SentencePiece");
    else
        read_text(out->pre, sizeof out->pre, file, "tokenizer.ggml.pre");
    if (strcmp(out->tokenizer, "gpt2") == 0)
        snprintf(out->tokenizer, sizeof out->tokenizer, "byte-level BPE");
    if (!gguf_string(file, "tokenizer.chat_template", &template))
        return;
    const struct chat_format *chat = chat_recognise(template.data, template.bytes);
    snprintf(out->chat, sizeof out->chat, "%s", chat ? chat_name(chat) : "unknown");
}

static int compare_types(const void *a, const void *b) {
    const struct modelfile_type *x = a, *y = b;
    return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

static void add_bytes(struct modelfile *out, const struct gguf_tensor *tensor) {
    const char *name = gguf_tensor_type_name(tensor->type);
    int at = 0;
    while (at < out->type_count && strcmp(out->types[at].name, name) != 0)
        at++;
    if (at == MODELFILE_TYPES)
        return;
    if (at == out->type_count)
        out->types[out->type_count++] =
            (struct modelfile_type){name, 0, quant_is_known(tensor->type)};
    out->types[at].bytes += (int64_t)tensor->bytes;
}

static void read_types(struct modelfile *out, const struct gguf *file) {
    for (int i = 0; i < gguf_tensor_count(file); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(file, i);
        out->parameters += tensor->dims[0] * tensor->dims[1] * tensor->dims[2] * tensor->dims[3];
        out->weight_bytes += (int64_t)tensor->bytes;
        add_bytes(out, tensor);
    }
    qsort(out->types, (size_t)out->type_count, sizeof out->types[0], compare_types);
}

void modelfile_read(struct modelfile *out, struct gguf *file, const char *name) {
    *out = (struct modelfile){0};
    read_text(out->name, sizeof out->name, file, "general.name");
    read_text(out->architecture, sizeof out->architecture, file, "general.architecture");
    read_sizes(out, file);
    read_tokenizer(out, file);
    read_types(out, file);
    out->obstacle_count = model_obstacles(out->obstacles, MODELFILE_OBSTACLES, file, name);
}

static void look(struct modelfile *out, const char *path) {
    struct gguf *file;
    *out = (struct modelfile){.obstacle_count = 1};
    if (!gguf_open(&file, path, &out->obstacles[0]))
        return;
    modelfile_read(out, file, path);
    gguf_close(file);
}

void modelfile_look(struct modelfile *out, const char *path, int parts) {
    look(out, path);
    if (parts < 2)
        return;
    why_set(&out->obstacles[0], "it is one of %d parts; join them first (llama-gguf-split --merge)",
            parts);
    out->obstacle_count = out->obstacle_count > 1 ? out->obstacle_count : 1;
}
