// See model.h. A file must agree with itself: every size is read from the keys and
// bounded, and every tensor must have exactly the shape that follows from them. The last
// check is that no tensor is left over: a bias or an expert that nobody reads would give
// wrong answers without any error.
// Must not compute with weights (except the scan of the norms).
#include "compute/model/model.h"

#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/model/architecture.h"
#include "compute/model/obstacles.h"

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
    const struct architecture *architecture;
    const struct gguf *file;
    const char *name; // of the file, without folders
    bool *used;       // [tensor_count]
    struct why *why;
};

static bool fail(const struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(const struct reader *reader, const char *format, ...) {
    va_list args;
    va_start(args, format);
    why_about(reader->why, gguf_name(reader->file), format, args);
    va_end(args);
    return false;
}

static bool string_is(struct gguf_string string, const char *text) {
    return string.bytes == strlen(text) && memcmp(string.data, text, string.bytes) == 0;
}

// --- Keys ---

// The key as it is called in this architecture.
struct key {
    char text[KEY_BYTES];
};

static struct key key_of(const struct reader *reader, const char *name) {
    struct key key;
    snprintf(key.text, sizeof key.text, "%s.%s", reader->architecture->name, name);
    return key;
}

static bool has_part(const struct reader *reader, unsigned part) {
    return (reader->architecture->parts & part) != 0;
}

static bool find_architecture(struct reader *reader) {
    struct gguf_string name;
    if (!obstacles_none(reader->file, NULL, reader->why))
        return false;
    gguf_string(reader->file, "general.architecture", &name);
    reader->architecture = architecture_find(name.data, name.bytes);
    return true;
}

// The architecture's `name` as a whole number from 1 to `most`.
static bool read_size(const struct reader *reader, const char *name, int most, int *out) {
    struct key key = key_of(reader, name);
    const char *full = key.text;
    int64_t value;
    if (!gguf_int(reader->file, full, &value)) {
        bool there = gguf_has(reader->file, full);
        return there ? fail(reader, "%s is not one whole number", full)
                     : fail(reader, "%s is missing", full);
    }
    if (value < 1 || value > most)
        return fail(reader, "%s is %" PRId64 "; 1 to %d are possible", full, value, most);
    *out = (int)value;
    return true;
}

// The same where the key may be absent: `out` then keeps its value.
static bool read_size_or(const struct reader *reader, const char *name, int most, int *out) {
    return !gguf_has(reader->file, key_of(reader, name).text) || read_size(reader, name, most, out);
}

// The architecture's `name` as a number in (0, most]; absent: `out` keeps its value if that is
// > 0.
static bool read_positive(const struct reader *reader, const char *name, double most, float *out) {
    struct key key = key_of(reader, name);
    const char *full = key.text;
    double value = (double)*out;
    if (!gguf_float(reader->file, full, &value) && gguf_has(reader->file, full))
        return fail(reader, "%s is not a number", full);
    // The comparison is false for NaN; the cast must not make a zero of a tiny value.
    if (!((float)value > 0.0F && value <= most))
        return gguf_has(reader->file, full) ? fail(reader, "%s is out of range", full)
                                            : fail(reader, "%s is missing", full);
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
    bool given = gguf_has(reader->file, key_of(reader, "attention.key_length").text);
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
    if (turned > shape->head_dim)
        return fail(reader, "turns %d numbers of heads of %d", turned, shape->head_dim);
    if (turned % 2 != 0)
        return fail(reader, "turns %d numbers of a head; RoPE needs pairs", turned);
    reader->model->math.rotary = turned;
    if ((int64_t)shape->heads * shape->head_dim > MODEL_MAX_DIM)
        return fail(reader, "%d heads of %d are more than %d numbers", shape->heads,
                    shape->head_dim, MODEL_MAX_DIM);
    return true;
}

static bool read_yarn(const struct reader *reader) {
    struct rope_scaling *rope = &reader->model->rope;
    rope->original_context = reader->model->shape.context;
    rope->fast = 32;
    rope->slow = 1;
    bool ok = read_size_or(reader, "rope.scaling.original_context_length", INT32_MAX,
                           &rope->original_context) &&
              read_positive(reader, "rope.scaling.yarn_beta_fast", 1e6, &rope->fast) &&
              read_positive(reader, "rope.scaling.yarn_beta_slow", 1e6, &rope->slow);
    return ok &&
           (rope->fast > rope->slow || fail(reader, "stretches positions from %g down to %g turns",
                                            (double)rope->fast, (double)rope->slow));
}

// Which kind of scaling (rope.h). Factors for each frequency come as tensors and are read with
// the weights.
static bool read_rope_scaling(const struct reader *reader) {
    struct rope_scaling *rope = &reader->model->rope;
    struct key key = key_of(reader, "rope.scaling.type");
    struct gguf_string type;
    bool named = gguf_string(reader->file, key.text, &type);
    rope->stretch = 1;
    rope->growth = 1;
    if (!named && gguf_has(reader->file, key.text))
        return fail(reader, "%s is not a text", key.text);
    if (named && string_is(type, "none"))
        return true;
    bool is_yarn = named && string_is(type, "yarn");
    bool is_long = named && string_is(type, "longrope") && has_part(reader, ARCHITECTURE_LONG_ROPE);
    if (named && !is_yarn && !is_long && !string_is(type, "linear")) {
        char text[TEXT_BYTES];
        utf8_printable(text, sizeof text, type.data, type.bytes);
        return fail(reader, "stretches positions by \"%s\", which is not supported", text);
    }
    // Without a type, a factor means linear (the older key is the same thing).
    const char *factor = "rope.scaling.factor";
    if (!gguf_has(reader->file, key_of(reader, factor).text))
        factor = "rope.scale_linear";
    if (!is_long && !read_positive(reader, factor, 1e6, &rope->stretch))
        return false;
    if (!is_long && rope->stretch != 1)
        rope->kind = is_yarn ? ROPE_YARN : ROPE_LINEAR;
    return read_positive(reader, "rope.scaling.attn_factor", 1e6, &rope->growth) &&
           (!is_yarn || read_yarn(reader));
}

// Every window_period-th layer sees all tokens; where the file says how many tokens a window
// has, the others see so many.
static bool read_window(const struct reader *reader) {
    const struct architecture *architecture = reader->architecture;
    struct model *model = reader->model;
    struct key key = key_of(reader, "attention.sliding_window");
    int64_t window = architecture->window;
    if (architecture->window_period == 0)
        return true;
    if (gguf_has(reader->file, key.text) &&
        (!gguf_int(reader->file, key.text, &window) || window < 0 || window > INT32_MAX))
        return fail(reader, "%s is not a number of tokens", key.text);
    model->math.window = (int)(window < MODEL_MAX_CONTEXT ? window : MODEL_MAX_CONTEXT);
    model->rope_window_base = architecture->window_rope_base;
    return model->rope_window_base == 0 ||
           read_positive(reader, "rope.freq_base_swa", 1e12, &model->rope_window_base);
}

static bool read_math(const struct reader *reader) {
    const struct architecture *architecture = reader->architecture;
    const struct model_shape *shape = &reader->model->shape;
    struct model_math *math = &reader->model->math;
    math->pairs = architecture->pairs;
    math->gate = architecture->gate;
    if (has_part(reader, ARCHITECTURE_EMBEDDING))
        math->embedding_scale = sqrtf((float)shape->dim);
    if (architecture->wide_layers == shape->layers)
        math->score_scale = 1.0F / sqrtf((float)(shape->dim / shape->heads));
    if (!has_part(reader, ARCHITECTURE_CAPS))
        return read_window(reader);
    math->score_cap = 50;
    math->logit_cap = 30;
    return read_positive(reader, "attn_logit_softcapping", 1e6, &math->score_cap) &&
           read_positive(reader, "final_logit_softcapping", 1e6, &math->logit_cap) &&
           read_window(reader);
}

static bool read_keys(struct reader *reader) {
    struct model_shape *shape = &reader->model->shape;
    int64_t context;
    shape->rope_base = 10000.0F;
    bool ok =
        read_size(reader, "block_count", RUN_MAX_LAYERS, &shape->layers) &&
        read_size(reader, "embedding_length", MODEL_MAX_DIM, &shape->dim) &&
        read_size(reader, "feed_forward_length", MODEL_MAX_DIM, &shape->ff_dim) &&
        read_size(reader, "context_length", INT32_MAX, &shape->context) && read_heads(reader) &&
        read_positive(reader, "attention.layer_norm_rms_epsilon", 1.0, &shape->norm_epsilon) &&
        read_positive(reader, "rope.freq_base", 1e12, &shape->rope_base) &&
        read_rope_scaling(reader) && read_math(reader);
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

// Cuts the first `rows` rows off a matrix that holds several: `from` keeps the others.
static void cut_rows(struct tensor *out, struct tensor *from, int64_t rows) {
    size_t bytes = from->bytes / (size_t)from->rows * (size_t)rows;
    *out = *from;
    out->rows = rows;
    out->bytes = bytes;
    from->data = (const unsigned char *)from->data + bytes;
    from->rows -= rows;
    from->bytes -= bytes;
}

// The place of a matrix or a vector in a layer, and its shape.
struct part {
    const char *name; // with its ending
    struct tensor *out;
    int64_t rows, cols; // rows 0 = a vector
    unsigned needs;     // read only where the architecture has it; 0 = always
    unsigned lacks;     // not read where it has it
};

static bool read_part(const struct reader *reader, int index, const struct part *part) {
    char name[TEXT_BYTES];
    if ((part->needs && !has_part(reader, part->needs)) || has_part(reader, part->lacks))
        return true;
    snprintf(name, sizeof name, "blk.%d.%s", index, part->name);
    return part->rows ? read_matrix(reader, name, part->rows, part->cols, part->out)
                      : read_vector(reader, name, part->cols, part->out);
}

static bool read_layer(const struct reader *reader, int index) {
    const struct model_shape *shape = &reader->model->shape;
    struct model_layer *layer = &reader->model->layers[index];
    int64_t dim = shape->dim, ff_dim = shape->ff_dim, head_dim = shape->head_dim;
    int64_t q_dim = (int64_t)shape->heads * head_dim;
    int64_t kv_dim = (int64_t)shape->kv_heads * head_dim;
    const unsigned qkv = ARCHITECTURE_FUSED_QKV, gate = ARCHITECTURE_FUSED_GATE;
    const unsigned biases = ARCHITECTURE_QKV_BIASES, heads = ARCHITECTURE_HEAD_NORMS;
    const unsigned post = ARCHITECTURE_POST_NORMS;
    struct tensor fused_qkv = {0}, fused_gate = {0};
    const struct part parts[] = {
        {"attn_norm.weight", &layer->attn_norm, 0, dim, 0, 0},
        {"attn_qkv.weight", &fused_qkv, q_dim + 2 * kv_dim, dim, qkv, 0},
        {"attn_q.weight", &layer->q, q_dim, dim, 0, qkv},
        {"attn_k.weight", &layer->k, kv_dim, dim, 0, qkv},
        {"attn_v.weight", &layer->v, kv_dim, dim, 0, qkv},
        {"attn_q.bias", &layer->q_bias, 0, q_dim, biases, 0},
        {"attn_k.bias", &layer->k_bias, 0, kv_dim, biases, 0},
        {"attn_v.bias", &layer->v_bias, 0, kv_dim, biases, 0},
        {"attn_q_norm.weight", &layer->q_norm, 0, head_dim, heads, 0},
        {"attn_k_norm.weight", &layer->k_norm, 0, head_dim, heads, 0},
        {"attn_output.weight", &layer->attn_out, dim, q_dim, 0, 0},
        {"post_attention_norm.weight", &layer->attn_post_norm, 0, dim, post, 0},
        {"ffn_norm.weight", &layer->ffn_norm, 0, dim, 0, 0},
        {"ffn_up.weight", &fused_gate, 2 * ff_dim, dim, gate, 0},
        {"ffn_gate.weight", &layer->gate, ff_dim, dim, 0, gate},
        {"ffn_up.weight", &layer->up, ff_dim, dim, 0, gate},
        {"ffn_down.weight", &layer->down, dim, ff_dim, 0, 0},
        {"post_ffw_norm.weight", &layer->ffn_post_norm, 0, dim, post, 0},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!read_part(reader, index, &parts[i]))
            return false;
    }
    if (has_part(reader, qkv)) {
        cut_rows(&layer->q, &fused_qkv, q_dim);
        cut_rows(&layer->k, &fused_qkv, kv_dim);
        layer->v = fused_qkv;
    }
    if (has_part(reader, gate)) {
        cut_rows(&layer->gate, &fused_gate, ff_dim);
        layer->up = fused_gate;
    }
    int period = reader->architecture->window_period;
    layer->has_window = period > 0 && reader->model->math.window > 0 && index % period < period - 1;
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
        return fail(reader, "%s is %d, but there is an embedding for %d tokens",
                    key_of(reader, "vocab_size").text, said, shape->vocab);
    return true;
}

static bool read_divisors(const struct reader *reader, const char *name, const float **out) {
    int pairs = reader->model->math.rotary / 2;
    struct tensor factors;
    *out = NULL;
    if (!gguf_tensor_find(reader->file, name))
        return true;
    if (!read_vector(reader, name, pairs, &factors))
        return false;
    *out = factors.data;
    for (int i = 0; i < pairs; i++) {
        if (!((*out)[i] > 0.0F))
            return fail(reader, "%s holds %g at %d; it divides, so it must be > 0", name,
                        (double)(*out)[i], i);
    }
    return true;
}

static bool keep_divisors(const struct reader *reader, const float *factors) {
    size_t bytes = (size_t)(reader->model->math.rotary / 2) * sizeof *factors;
    if (!factors)
        return true;
    reader->model->rope_factors = malloc(bytes);
    if (!reader->model->rope_factors)
        return fail(reader, "not enough memory");
    memcpy(reader->model->rope_factors, factors, bytes);
    return true;
}

// Phi: short and long divisors, of which the context decides.
static bool read_long_rope(const struct reader *reader) {
    struct rope_scaling *rope = &reader->model->rope;
    const float *factors;
    if (!read_divisors(reader, "rope_factors_short.weight", &factors) ||
        !read_divisors(reader, "rope_factors_long.weight", &rope->long_factors) ||
        !keep_divisors(reader, factors))
        return false;
    if (!factors || !rope->long_factors)
        return (!factors && !rope->long_factors) ||
               fail(reader, "has only one of rope_factors_short and rope_factors_long");
    rope->kind = ROPE_LONG;
    rope->original_context = reader->model->shape.context;
    return read_size_or(reader, "rope.scaling.original_context_length", INT32_MAX,
                        &rope->original_context);
}

// Llama 3.1 and later: a divisor for each RoPE frequency. Leaving it out is silently
// wrong at long contexts.
static bool read_rope_factors(const struct reader *reader) {
    const float *factors;
    if (has_part(reader, ARCHITECTURE_LONG_ROPE))
        return read_long_rope(reader);
    return read_divisors(reader, "rope_freqs.weight", &factors) && keep_divisors(reader, factors);
}

static bool check_all_used(const struct reader *reader) {
    for (int i = 0; i < gguf_tensor_count(reader->file); i++) {
        if (reader->used[i])
            continue;
        char text[TEXT_BYTES];
        struct gguf_string name = gguf_tensor_at(reader->file, i)->name;
        bool bias = name.bytes > 5 && memcmp(name.data + name.bytes - 5, ".bias", 5) == 0;
        utf8_printable(text, sizeof text, name.data, name.bytes);
        if (bias)
            return fail(reader,
                        "has the bias %s, which this program does not compute; use another model",
                        text);
        return fail(reader,
                    "has the tensor %s, which this program does not compute; use another model",
                    text);
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
    ok = ok && find_architecture(&reader) && read_keys(&reader) && read_tensors(&reader);
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
