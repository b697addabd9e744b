// Models without a file: the sizes of well-known Llama-architecture models with
// random weights (standard deviation 1 / sqrt(fan-in), norms 1, never zeros), so
// that a device can be timed without downloading a model. Times are real, words are not:
// such a model knows no language. This is arithmetic over sizes and places; a backend
// makes the numbers in its own memory with shape_random.h.
#ifndef COMPUTE_MODEL_SHAPE_H
#define COMPUTE_MODEL_SHAPE_H

#include "compute/base/why.h"

#include "compute/model/model.h"
#include "compute/model/shape_random.h"

enum { SHAPE_ALIGN_BYTES = 256 }; // where a matrix may start

struct shape_preset {
    const char *name;
    struct model_shape shape;
    enum gguf_tensor_type type; // of the matrices, unless another one is requested
};

// Preset `index`, the smallest model first; NULL past the last.
const struct shape_preset *shape_at(int index);

// The preset of that name; NULL with `why`, which lists them.
const struct shape_preset *shape_find(const char *name, struct why *why);

// Bytes of all matrices of the preset in one piece of memory, each at a multiple of
// SHAPE_ALIGN_BYTES.
size_t shape_bytes(const struct shape_preset *preset, enum gguf_tensor_type type);

// A model of the preset's sizes whose matrices have no data yet (model.is_made).
// Weights "synthetic", name the preset's. type: F32 or one that quant.h rounds random weights
// to; its blocks must fill the rows. Owner: model_close.
bool shape_model(struct model **out, const struct shape_preset *preset, enum gguf_tensor_type type,
                 uint64_t seed, struct why *why);

// The matrices of a model one after the other: token embedding, output (not when
// tied), then of each layer q, k, v, attn_out, gate, up, down. The index is also the
// number of the matrix's random stream.
int shape_matrices(const struct model *model);
const struct tensor *shape_matrix(const struct model *model, int index);

// What the numbers of a matrix are scaled by (see shape_random_value).
float shape_scale(const struct tensor *matrix);

// For a backend: the views of `made` with each matrix at its place in the caller's
// `memory`, shape_bytes() long and aligned to SHAPE_ALIGN_BYTES (its address is used, its
// bytes are not). `made` must outlive it. Owner: model_close.
bool shape_place(struct model **out, const struct model *made, void *memory, struct why *why);
size_t shape_model_bytes(const struct model *made); // shape_bytes of its preset and type

// Returns false and says in `why` that `model` needs `needed_bytes` (weights, cache and
// scratch) of which only `free_bytes` are free, and which smaller preset would fit.
bool shape_refuse(const struct model *model, size_t needed_bytes, size_t free_bytes,
                  struct why *why);

#endif
