// See model.h. A file must agree with itself: every size is read from the keys and
// bounded, and every tensor must have exactly the shape that follows from them. The last
// check is that no tensor is left over: a bias or an expert that nobody reads would give
// wrong answers without any error.
// Must not compute with weights (except the scan of the norms).
#include "compute/model/model.h"

#include "compute/base/utf8.h"
#include "compute/base/why.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 80, TEXT_BYTES = 64 };

// A model while it is being put together.
struct reader {
    struct model *model;
    const struct gguf *file;
    const char *name; // of the file, without folders
    bool *used;       // [tensor_count]
    struct why *why;
};

static bool fail(const struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(const struct reader *reader, const char *format, ...) {
    char text[WHY_BYTES], name[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    utf8_printable(name, sizeof name, reader->name, strlen(reader->name));
    return why_set(reader->why, "%s: %s", name, text);
}

static bool string_is(struct gguf_string string, const char *text) {
    return string.bytes == strlen(text) && memcmp(string.data, text, string.bytes) == 0;
}

// --- Keys ---

// Keys that change the arithmetic in a way this program does not know.
static const char *const unknown_arithmetic[] = {
    "llama.attention.scale",         "llama.attention.clamp_kqv", "llama.logit_scale",
    "llama.embedding_scale",         "llama.residual_scale",      "llama.attn_logit_softcapping",
    "llama.final_logit_softcapping",
};

static bool check_kind(const struct reader *reader) {
    struct gguf_string architecture;
    char text[TEXT_BYTES];
    int64_t count;
    if (!gguf_string(reader->file, "general.architecture", &architecture))
        return fail(reader, "does not say which architecture it has; only \"llama\" works");
    if (!string_is(architecture, "llama")) {
        utf8_printable(text, sizeof text, architecture.data, architecture.bytes);
        return fail(reader,
                    "has the architecture \"%s\"; only \"llama\" works (Llama, SmolLM2, "
                    "TinyLlama)",
                    text);
    }
    if (gguf_int(reader->file, "split.count", &count) && count > 1)
        return fail(reader,
                    "is one of %" PRId64 " parts; join them first (llama-gguf-split --merge)",
                    count);
    if (gguf_int(reader->file, "llama.expert_count", &count) && count > 0)
        return fail(reader, "is a mixture of %" PRId64 " experts; use a dense model", count);
    for (size_t i = 0; i < sizeof unknown_arithmetic / sizeof unknown_arithmetic[0]; i++) {
        if (gguf_has(reader->file, unknown_arithmetic[i]))
            return fail(reader, "uses %s, which this program does not compute",
                        unknown_arithmetic[i]);
    }
    return true;
}

// llama.`key` as a whole number from 1 to `most`.
static bool read_size(const struct reader *reader, const char *key, int most, int *out) {
    char full[KEY_BYTES];
    int64_t value;
    snprintf(full, sizeof full, "llama.%s", key);
    if (!gguf_int(reader->file, full, &value)) {
        bool there = gguf_has(reader->file, full);
        return fail(reader, "%s is %s", full, there ? "not one whole number" : "missing");
    }
    if (value < 1 || value > most)
        return fail(reader, "%s is %" PRId64 "; 1 to %d are possible", full, value, most);
    *out = (int)value;
    return true;
}

// The same where the key may be absent: `out` then keeps its value.
static bool read_size_or(const struct reader *reader, const char *key, int most, int *out) {
    char full[KEY_BYTES];
    snprintf(full, sizeof full, "llama.%s", key);
    return !gguf_has(reader->file, full) || read_size(reader, key, most, out);
}

// llama.`key` as a number in (0, most]; absent: `out` keeps its value if that is > 0.
static bool read_positive(const struct reader *reader, const char *key, double most, float *out) {
    char full[KEY_BYTES];
    double value = (double)*out;
    snprintf(full, sizeof full, "llama.%s", key);
    if (!gguf_float(reader->file, full, &value) && gguf_has(reader->file, full))
        return fail(reader, "%s is not a number", full);
    // The comparison is false for NaN; the cast must not make a zero of a tiny value.
    if (!((float)value > 0.0F && value <= most))
        return fail(reader, "%s is %s", full,
                    gguf_has(reader->file, full) ? "out of range" : "missing");
    *out = (float)value;
    return true;
}

static bool read_heads(const struct reader *reader) {
    struct model_shape *shape = &reader->model->shape;
    if (!read_size(reader, "attention.head_count", MODEL_MAX_DIM, &shape->heads))
        return false;
    shape->kv_heads = shape->heads;
    if (!read_size_or(reader, "attention.head_count_kv", MODEL_MAX_DIM, &shape->kv_heads))
        return false;
    if (shape->heads % shape->kv_heads != 0)
        return fail(reader, "%d attention heads cannot share %d KV heads evenly", shape->heads,
                    shape->kv_heads);

    shape->head_dim = shape->dim / shape->heads;
    bool given = gguf_has(reader->file, "llama.attention.key_length");
    if (!given && shape->dim % shape->heads != 0)
        return fail(reader, "an embedding of %d does not divide into %d heads", shape->dim,
                    shape->heads);
    if (!read_size_or(reader, "attention.key_length", MODEL_MAX_DIM, &shape->head_dim))
        return false;
    int value_length = shape->head_dim, turned = shape->head_dim;
    if (!read_size_or(reader, "attention.value_length", MODEL_MAX_DIM, &value_length) ||
        !read_size_or(reader, "rope.dimension_count", MODEL_MAX_DIM, &turned))
        return false;
    if (value_length != shape->head_dim)
        return fail(reader, "keys of %d and values of %d numbers a head; they must be equal",
                    shape->head_dim, value_length);
    if (turned != shape->head_dim)
        return fail(reader, "turns %d of %d numbers a head (partial RoPE), which is not supported",
                    turned, shape->head_dim);
    if (shape->head_dim % 2 != 0)
        return fail(reader, "heads of %d numbers; RoPE needs pairs", shape->head_dim);
    if ((int64_t)shape->heads * shape->head_dim > MODEL_MAX_DIM)
        return fail(reader, "%d heads of %d are more than %d numbers", shape->heads,
                    shape->head_dim, MODEL_MAX_DIM);
    return true;
}

// Only unscaled positions: type none, or linear by 1. Llama 3.1's factors come as a
// tensor (rope_freqs.weight) and are read with the weights.
static bool check_rope_scaling(const struct reader *reader) {
    struct gguf_string type;
    double factor = 1.0;
    bool named = gguf_string(reader->file, "llama.rope.scaling.type", &type);
    if (!named && gguf_has(reader->file, "llama.rope.scaling.type"))
        return fail(reader, "llama.rope.scaling.type is not a text");
    if (named && string_is(type, "none"))
        return true;
    if (named && !string_is(type, "linear")) {
        char text[TEXT_BYTES];
        utf8_printable(text, sizeof text, type.data, type.bytes);
        return fail(reader, "stretches positions by \"%s\", which is not supported", text);
    }
    // Without a type, a factor means linear (the older key is the same thing).
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "llama.rope.scale_linear" : "llama.rope.scaling.factor";
        if (!gguf_has(reader->file, key))
            continue;
        if (!gguf_float(reader->file, key, &factor) || factor != 1.0)
            return fail(reader, "%s is not 1; stretched positions are not supported", key);
    }
    return true;
}

static bool read_keys(const struct reader *reader) {
    struct model_shape *shape = &reader->model->shape;
    int64_t context;
    shape->rope_base = 10000.0F;
    bool ok =
        check_kind(reader) && read_size(reader, "block_count", RUN_MAX_LAYERS, &shape->layers) &&
        read_size(reader, "embedding_length", MODEL_MAX_DIM, &shape->dim) &&
        read_size(reader, "feed_forward_length", MODEL_MAX_DIM, &shape->ff_dim) &&
        read_size(reader, "context_length", INT32_MAX, &shape->context) && read_heads(reader) &&
        read_positive(reader, "attention.layer_norm_rms_epsilon", 1.0, &shape->norm_epsilon) &&
        read_positive(reader, "rope.freq_base", 1e12, &shape->rope_base) &&
        check_rope_scaling(reader);
    context = shape->context;
    shape->context = (int)(context < MODEL_MAX_CONTEXT ? context : MODEL_MAX_CONTEXT);
    return ok;
}

// --- Tensors ---

static void mark_used(const struct reader *reader, const struct gguf_tensor *tensor) {
    reader->used[tensor - gguf_tensor_at(reader->file, 0)] = true;
}

// `name` must have exactly `rows` rows of `cols`; rows 0 = a vector of `cols`.
static bool check_shape(const struct reader *reader, const struct gguf_tensor *tensor,
                        const char *name, int64_t rows, int64_t cols) {
    int64_t wanted_rows = rows ? rows : 1;
    const int64_t *dims = tensor->dims;
    if (dims[0] != cols || dims[1] != wanted_rows || dims[2] != 1 || dims[3] != 1)
        return fail(
            reader,
            "%s is %" PRId64 " x %" PRId64 "%s, but the keys ask for %" PRId64 " x %" PRId64, name,
            dims[0], dims[1], dims[2] != 1 || dims[3] != 1 ? " x ..." : "", cols, wanted_rows);
    // Happens only with bytes given to gguf_parse; gguf_open aligns them.
    if ((uintptr_t)tensor->data % quant_alignment(tensor->type) != 0)
        return fail(reader, "%s does not start on a whole number in memory", name);
    return true;
}

static bool read_matrix(const struct reader *reader, const char *name, int64_t rows, int64_t cols,
                        struct tensor *out) {
    const struct gguf_tensor *tensor = gguf_tensor_find(reader->file, name);
    if (!tensor)
        return fail(reader, "the tensor %s is missing; get the file again", name);
    if (!quant_is_known(tensor->type))
        return fail(reader, "%s is %s, which comes in a later version; use an F16 or Q8_0 file",
                    name, gguf_tensor_type_name(tensor->type));
    if (!check_shape(reader, tensor, name, rows, cols))
        return false;
    mark_used(reader, tensor);
    *out = (struct tensor){tensor->type, rows, cols, tensor->data, tensor->bytes};
    return true;
}

// A vector of F32 numbers that must all be finite.
static bool read_vector(const struct reader *reader, const char *name, int64_t cols,
                        struct tensor *out) {
    const struct gguf_tensor *tensor = gguf_tensor_find(reader->file, name);
    if (!tensor)
        return fail(reader, "the tensor %s is missing; get the file again", name);
    if (tensor->type != GGUF_TENSOR_F32)
        return fail(reader, "%s is %s; it must be F32", name, gguf_tensor_type_name(tensor->type));
    if (!check_shape(reader, tensor, name, 0, cols))
        return false;
    const float *values = tensor->data;
    for (int64_t i = 0; i < cols; i++) {
        if (!isfinite(values[i]))
            return fail(reader, "%s holds NaN or infinity at %" PRId64 "; the file is broken", name,
                        i);
    }
    mark_used(reader, tensor);
    *out = (struct tensor){tensor->type, 1, cols, tensor->data, tensor->bytes};
    return true;
}

// The place of a matrix or a norm in a layer, and its shape.
struct part {
    const char *name;
    struct tensor *out;
    int64_t rows, cols; // rows 0 = a norm
};

static bool read_layer(const struct reader *reader, int index) {
    const struct model_shape *shape = &reader->model->shape;
    struct model_layer *layer = &reader->model->layers[index];
    int64_t dim = shape->dim, ff_dim = shape->ff_dim;
    int64_t q_dim = (int64_t)shape->heads * shape->head_dim;
    int64_t kv_dim = (int64_t)shape->kv_heads * shape->head_dim;
    const struct part parts[] = {
        {"attn_norm", &layer->attn_norm, 0, dim},
        {"attn_q", &layer->q, q_dim, dim},
        {"attn_k", &layer->k, kv_dim, dim},
        {"attn_v", &layer->v, kv_dim, dim},
        {"attn_output", &layer->attn_out, dim, q_dim},
        {"ffn_norm", &layer->ffn_norm, 0, dim},
        {"ffn_gate", &layer->gate, ff_dim, dim},
        {"ffn_up", &layer->up, ff_dim, dim},
        {"ffn_down", &layer->down, dim, ff_dim},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char name[TEXT_BYTES];
        const struct part *part = &parts[i];
        snprintf(name, sizeof name, "blk.%d.%s.weight", index, part->name);
        bool ok = part->rows ? read_matrix(reader, name, part->rows, part->cols, part->out)
                             : read_vector(reader, name, part->cols, part->out);
        if (!ok)
            return false;
    }
    return true;
}

// The vocabulary is as long as the embedding has rows; any other length in the file must
// agree.
static bool read_vocab(const struct reader *reader) {
    struct model_shape *shape = &reader->model->shape;
    const struct gguf_tensor *embedding = gguf_tensor_find(reader->file, "token_embd.weight");
    if (!embedding)
        return fail(reader, "the tensor token_embd.weight is missing; is this only a vocabulary?");
    int64_t rows = embedding->dims[1];
    if (rows < 1 || rows > MODEL_MAX_VOCAB)
        return fail(reader, "token_embd.weight has %" PRId64 " rows; 1 to %d are possible", rows,
                    MODEL_MAX_VOCAB);
    shape->vocab = (int)rows;

    enum gguf_value_type type;
    size_t tokens;
    if (gguf_array(reader->file, "tokenizer.ggml.tokens", &type, &tokens) && tokens != (size_t)rows)
        return fail(reader, "has %zu tokens, but an embedding for %" PRId64, tokens, rows);
    int said = shape->vocab;
    if (!read_size_or(reader, "vocab_size", INT32_MAX, &said))
        return false;
    if (said != shape->vocab)
        return fail(reader, "llama.vocab_size is %d, but there is an embedding for %d tokens", said,
                    shape->vocab);
    return true;
}

// Llama 3.1 and later: a divisor for each RoPE frequency. Leaving it out is silently
// wrong at long contexts.
static bool read_rope_factors(const struct reader *reader) {
    struct model *model = reader->model;
    struct tensor factors;
    int half = model->shape.head_dim / 2;
    if (!gguf_tensor_find(reader->file, "rope_freqs.weight"))
        return true;
    if (!read_vector(reader, "rope_freqs.weight", half, &factors))
        return false;
    model->rope_factors = malloc((size_t)half * sizeof *model->rope_factors);
    if (!model->rope_factors)
        return fail(reader, "not enough memory");
    memcpy(model->rope_factors, factors.data, factors.bytes);
    for (int i = 0; i < half; i++) {
        if (!(model->rope_factors[i] > 0.0F))
            return fail(reader, "rope_freqs.weight holds %g at %d; it divides, so it must be > 0",
                        (double)model->rope_factors[i], i);
    }
    return true;
}

static bool check_all_used(const struct reader *reader) {
    for (int i = 0; i < gguf_tensor_count(reader->file); i++) {
        if (reader->used[i])
            continue;
        char text[TEXT_BYTES];
        struct gguf_string name = gguf_tensor_at(reader->file, i)->name;
        bool bias = name.bytes > 5 && memcmp(name.data + name.bytes - 5, ".bias", 5) == 0;
        utf8_printable(text, sizeof text, name.data, name.bytes);
        return fail(reader, "has the %s %s, which this program does not compute; use another model",
                    bias ? "bias" : "tensor", text);
    }
    return true;
}

static bool read_tensors(const struct reader *reader) {
    struct model *model = reader->model;
    const struct model_shape *shape = &model->shape;
    if (!read_vocab(reader) ||
        !read_matrix(reader, "token_embd.weight", shape->vocab, shape->dim, &model->token_embd) ||
        !read_vector(reader, "output_norm.weight", shape->dim, &model->output_norm))
        return false;
    model->shape.tied_output = gguf_tensor_find(reader->file, "output.weight") == NULL;
    model->output = model->token_embd;
    if (!shape->tied_output &&
        !read_matrix(reader, "output.weight", shape->vocab, shape->dim, &model->output))
        return false;

    model->layers = calloc((size_t)shape->layers, sizeof *model->layers);
    if (!model->layers)
        return fail(reader, "not enough memory for %d layers", shape->layers);
    for (int i = 0; i < shape->layers; i++) {
        if (!read_layer(reader, i))
            return false;
    }
    return read_rope_factors(reader) && check_all_used(reader);
}

// --- Open and close ---

static void read_name(const struct reader *reader) {
    struct model *model = reader->model;
    struct gguf_string name;
    if (!gguf_string(reader->file, "general.name", &name) || name.bytes == 0)
        name = (struct gguf_string){reader->name, strlen(reader->name)};
    utf8_printable(model->name, sizeof model->name, name.data, name.bytes);
    snprintf(model->weights, sizeof model->weights, "file");
}

bool model_from_gguf(struct model **out, struct gguf *file, const char *name, struct why *why) {
    *out = NULL;
    const char *slash = strrchr(name, '/');
    struct reader reader = {.file = file, .name = slash && slash[1] ? slash + 1 : name, .why = why};
    reader.model = calloc(1, sizeof *reader.model);
    reader.used = calloc((size_t)gguf_tensor_count(file) + 1, sizeof *reader.used);
    bool ok = reader.model && reader.used;
    if (!ok)
        fail(&reader, "not enough memory");
    ok = ok && read_keys(&reader) && read_tensors(&reader);
    if (ok)
        read_name(&reader);
    free(reader.used);
    if (!ok) {
        model_close(reader.model);
        return false;
    }
    reader.model->file = file;
    *out = reader.model;
    return true;
}

bool model_open(struct model **out, const char *path, struct why *why) {
    *out = NULL;
    struct gguf *file;
    if (!gguf_open(&file, path, why))
        return false;
    if (model_from_gguf(out, file, path, why))
        return true;
    gguf_close(file);
    return false;
}

void model_close(struct model *model) {
    if (!model)
        return;
    free(model->layers);
    free(model->rope_factors);
    free(model->ones);
    gguf_close(model->file);
    free(model);
}

// --- Counts ---

enum { LAYER_TENSORS = 9 };

// The tensors of a layer as a list, for sums.
static void list_layer(const struct model_layer *layer, const struct tensor *out[LAYER_TENSORS]) {
    const struct tensor *all[LAYER_TENSORS] = {
        &layer->attn_norm, &layer->q,    &layer->k,  &layer->v,    &layer->attn_out,
        &layer->ffn_norm,  &layer->gate, &layer->up, &layer->down,
    };
    memcpy(out, all, sizeof all);
}

static int64_t values_of(const struct tensor *tensor) {
    return tensor->rows * tensor->cols;
}

int64_t model_parameters(const struct model *model) {
    int64_t sum = values_of(&model->token_embd) + values_of(&model->output_norm);
    if (!model->shape.tied_output)
        sum += values_of(&model->output);
    for (int i = 0; i < model->shape.layers; i++) {
        const struct tensor *parts[LAYER_TENSORS];
        list_layer(&model->layers[i], parts);
        for (int j = 0; j < LAYER_TENSORS; j++)
            sum += values_of(parts[j]);
    }
    return sum;
}

// The five types, in the order in which a tie is decided.
static const enum gguf_tensor_type matrix_types[] = {
    GGUF_TENSOR_F16, GGUF_TENSOR_F32, GGUF_TENSOR_BF16, GGUF_TENSOR_Q8_0, GGUF_TENSOR_Q4_0,
};
enum { MATRIX_TYPES = sizeof matrix_types / sizeof matrix_types[0] };

static void count_bytes(int64_t bytes[MATRIX_TYPES], const struct tensor *tensor) {
    for (int i = 0; i < MATRIX_TYPES; i++) {
        if (tensor->type == matrix_types[i])
            bytes[i] += (int64_t)tensor->bytes;
    }
}

const char *model_weight_type(const struct model *model) {
    int64_t bytes[MATRIX_TYPES] = {0};
    for (int i = -1; i < model->shape.layers; i++) {
        const struct tensor *parts[LAYER_TENSORS] = {&model->token_embd, &model->output};
        int count = model->shape.tied_output ? 1 : 2;
        if (i >= 0) {
            list_layer(&model->layers[i], parts);
            count = LAYER_TENSORS;
        }
        for (int j = 0; j < count; j++) {
            if (parts[j]->rows != 1) // a norm is no matrix
                count_bytes(bytes, parts[j]);
        }
    }
    int most = 0;
    for (int i = 1; i < MATRIX_TYPES; i++)
        most = bytes[i] > bytes[most] ? i : most;
    return gguf_tensor_type_name(matrix_types[most]);
}

int64_t model_step_weight_bytes(const struct model *model) {
    int64_t row = (int64_t)quant_row_bytes(model->token_embd.type, model->shape.dim);
    int64_t sum = row + (int64_t)model->output_norm.bytes + (int64_t)model->output.bytes;
    for (int i = 0; i < model->shape.layers; i++) {
        const struct tensor *parts[LAYER_TENSORS];
        list_layer(&model->layers[i], parts);
        for (int j = 0; j < LAYER_TENSORS; j++)
            sum += (int64_t)parts[j]->bytes;
    }
    return sum;
}
