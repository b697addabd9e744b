// See shape.h. The sizes are facts from each model's published configuration
// (config.json; for stories-110m its training arguments). All bytes are size_t: the
// largest model has matrices beyond 2 GB. Must not touch a weight.
#include "compute/model/shape.h"

#include "compute/base/why.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// dim, layers, heads, kv_heads, head_dim, ff_dim, vocab, context, epsilon, base, tied.
// Llama 3.2 also stretches its lowest frequencies, which costs no time and needs no
// imitation in a model of random weights.
static const struct shape_preset presets[] = {
    {"stories-110m", {768, 12, 12, 12, 64, 2048, 32000, 1024, 1e-5f, 1e4f, true}, GGUF_TENSOR_F16},
    {"smollm2-135m", {576, 30, 9, 3, 64, 1536, 49152, 8192, 1e-5f, 1e5f, true}, GGUF_TENSOR_BF16},
    {"llama-3.2-1b",
     {2048, 16, 32, 8, 64, 8192, 128256, MODEL_MAX_CONTEXT, 1e-5f, 5e5f, true},
     GGUF_TENSOR_Q8_0},
    {"llama-3-8b",
     {4096, 32, 32, 8, 128, 14336, 128256, 8192, 1e-5f, 5e5f, false},
     GGUF_TENSOR_Q4_0},
    {"llama-3-70b",
     {8192, 80, 64, 8, 128, 28672, 128256, 8192, 1e-5f, 5e5f, false},
     GGUF_TENSOR_Q4_0},
};
enum { PRESETS = sizeof presets / sizeof presets[0], LAYER_MATRICES = 7 };

const struct shape_preset *shape_at(int index) {
    return index >= 0 && index < PRESETS ? &presets[index] : NULL;
}

const struct shape_preset *shape_find(const char *name, struct why *why) {
    char names[WHY_BYTES / 2] = "";
    for (int i = 0; i < PRESETS; i++) {
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s",
                 i == 0            ? ""
                 : i < PRESETS - 1 ? ", "
                                   : " and ",
                 presets[i].name);
    }
    why_set(why, "there is no shape \"%.60s\": the shapes are %s", name, names);
    return NULL;
}

// --- Sizes ---

static struct tensor matrix_of(enum gguf_tensor_type type, int64_t rows, int64_t cols) {
    return (struct tensor){
        .type = type,
        .rows = rows,
        .cols = cols,
        .bytes = (size_t)rows * quant_row_bytes(type, cols),
    };
}

static struct tensor norm_of(const float *ones, int64_t cols) {
    return (struct tensor){
        .type = GGUF_TENSOR_F32,
        .rows = 1,
        .cols = cols,
        .data = ones,
        .bytes = (size_t)cols * sizeof(float),
    };
}

static struct model_layer layer_of(const struct model_shape *h, enum gguf_tensor_type type,
                                   const float *ones) {
    int64_t q = (int64_t)h->heads * h->head_dim, kv = (int64_t)h->kv_heads * h->head_dim;
    return (struct model_layer){
        .attn_norm = norm_of(ones, h->dim),
        .q = matrix_of(type, q, h->dim),
        .k = matrix_of(type, kv, h->dim),
        .v = matrix_of(type, kv, h->dim),
        .attn_out = matrix_of(type, h->dim, q),
        .ffn_norm = norm_of(ones, h->dim),
        .gate = matrix_of(type, h->ff_dim, h->dim),
        .up = matrix_of(type, h->ff_dim, h->dim),
        .down = matrix_of(type, h->dim, h->ff_dim),
    };
}

static size_t padded(size_t bytes) {
    return (bytes + SHAPE_ALIGN_BYTES - 1) / SHAPE_ALIGN_BYTES * SHAPE_ALIGN_BYTES;
}

size_t shape_bytes(const struct shape_preset *preset, enum gguf_tensor_type type) {
    const struct model_shape *h = &preset->shape;
    struct model_layer layer = layer_of(h, type, NULL);
    size_t ends = padded(matrix_of(type, h->vocab, h->dim).bytes) * (h->tied_output ? 1 : 2);
    size_t each = padded(layer.q.bytes) + padded(layer.k.bytes) + padded(layer.v.bytes) +
                  padded(layer.attn_out.bytes) + padded(layer.gate.bytes) + padded(layer.up.bytes) +
                  padded(layer.down.bytes);
    return ends + each * (size_t)h->layers;
}

size_t shape_model_bytes(const struct model *made) {
    size_t bytes = 0;
    for (int i = 0; i < shape_matrices(made); i++)
        bytes += padded(shape_matrix(made, i)->bytes);
    return bytes;
}

float shape_scale(const struct tensor *matrix) {
    return (float)(1 / (sqrt((double)matrix->cols) * SHAPE_RANDOM_RAW_SD));
}

// --- Models ---

bool shape_model(struct model **out, const struct shape_preset *preset, enum gguf_tensor_type type,
                 uint64_t seed, struct why *why) {
    const struct model_shape *h = &preset->shape;
    *out = NULL;
    const int rows[] = {h->dim, h->heads * h->head_dim, h->ff_dim};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (quant_row_bytes(type, rows[i]) == 0)
            return why_set(
                why, "%s has rows of %d numbers, and %s comes in blocks of %d: take q8_0",
                preset->name, rows[i], gguf_tensor_type_name(type), quant_format(type)->block);
    }
    struct model *model = calloc(1, sizeof *model);
    if (!model)
        return why_set(why, "no memory for a model");
    model->shape = *h;
    model->is_made = true;
    model->seed = seed;
    model->ones = malloc((size_t)h->dim * sizeof *model->ones);
    model->layers = calloc((size_t)h->layers, sizeof *model->layers);
    if (!model->ones || !model->layers) {
        model_close(model);
        return why_set(why, "no memory for a model of %d layers", h->layers);
    }
    for (int i = 0; i < h->dim; i++)
        model->ones[i] = 1;
    for (int i = 0; i < h->layers; i++)
        model->layers[i] = layer_of(h, type, model->ones);
    model->token_embd = matrix_of(type, h->vocab, h->dim);
    model->output = model->token_embd;
    model->output_norm = norm_of(model->ones, h->dim);
    snprintf(model->name, sizeof model->name, "%s", preset->name);
    snprintf(model->weights, sizeof model->weights, "synthetic");
    *out = model;
    return true;
}

// --- Matrices one after the other ---

int shape_matrices(const struct model *model) {
    return (model->shape.tied_output ? 1 : 2) + LAYER_MATRICES * model->shape.layers;
}

static struct tensor *matrix_at(struct model *model, int index) {
    int ends = model->shape.tied_output ? 1 : 2;
    if (index < ends)
        return index == 0 ? &model->token_embd : &model->output;
    struct model_layer *layer = &model->layers[(index - ends) / LAYER_MATRICES];
    struct tensor *const matrices[LAYER_MATRICES] = {
        &layer->q, &layer->k, &layer->v, &layer->attn_out, &layer->gate, &layer->up, &layer->down,
    };
    return matrices[(index - ends) % LAYER_MATRICES];
}

const struct tensor *shape_matrix(const struct model *model, int index) {
    return matrix_at((struct model *)(uintptr_t)model, index); // only looked at
}

bool shape_place(struct model **out, const struct model *made, void *memory, struct why *why) {
    size_t layers_bytes = (size_t)made->shape.layers * sizeof *made->layers;
    struct model *placed = malloc(sizeof *placed);
    struct model_layer *layers = malloc(layers_bytes);
    *out = NULL;
    if (!placed || !layers) {
        free(placed);
        free(layers);
        return why_set(why, "no memory for a model of %d layers", made->shape.layers);
    }
    *placed = *made;
    placed->layers = memcpy(layers, made->layers, layers_bytes);
    placed->ones = NULL; // the norms point into those of `made`
    unsigned char *at = memory;
    for (int i = 0; i < shape_matrices(placed); i++) {
        struct tensor *matrix = matrix_at(placed, i);
        matrix->data = at;
        at += padded(matrix->bytes);
    }
    if (placed->shape.tied_output)
        placed->output = placed->token_embd;
    *out = placed;
    return true;
}

// --- Refusal ---

bool shape_refuse(const struct model *model, size_t needed_bytes, size_t free_bytes,
                  struct why *why) {
    enum gguf_tensor_type type = model->token_embd.type;
    size_t weight_bytes = shape_model_bytes(model);
    size_t other_bytes = needed_bytes > weight_bytes ? needed_bytes - weight_bytes : 0;
    const char *fitting = NULL;
    for (int i = 0; i < PRESETS; i++) {
        size_t bytes = shape_bytes(&presets[i], type);
        if (other_bytes < free_bytes && bytes <= free_bytes - other_bytes)
            fitting = presets[i].name;
    }
    return why_set(why, "%s with %s weights needs %.2f GB of memory and %.2f GB are free: %s%s",
                   model->name, gguf_tensor_type_name(type), (double)needed_bytes / 1e9,
                   (double)free_bytes / 1e9, fitting ? "take " : "no shape of this program fits",
                   fitting ? fitting : "");
}
