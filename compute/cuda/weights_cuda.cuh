// A model's weights and everything a pass writes to, in two pieces of device memory:
// sizes, places of the arrays, and filling in the weights. Matrices that are read together
// (q, k, v; gate, up) are stored together as one. Launches nothing of a pass.
#ifndef COMPUTE_CUDA_WEIGHTS_CUDA_CUH
#define COMPUTE_CUDA_WEIGHTS_CUDA_CUH

#include "compute/cuda/kernels.cuh"

extern "C" {
#include "compute/model/model.h"
}

struct device_layer {
    struct matrix qkv, out, gate_up, down;
    const float *attn_norm, *ffn_norm;
};

struct device_weights {
    unsigned char *memory; // owned
    size_t bytes;
    struct matrix embedding, output;
    const float *output_norm;
    struct device_layer *layers; // [layers], owned
    bool is_f32;                 // every matrix: products in f32 then, else in bf16
    size_t most_values;          // of a layer's largest matrix, padded for bf16
};

// Whether the kernels can multiply a matrix of that type.
bool device_weights_knows(enum gguf_tensor_type type);

// Sizes and places; takes no device memory yet.
bool device_weights_plan(struct device_weights *weights, const struct model *model,
                         struct why *why);
// Fills weights->memory, which the caller allocated with weights->bytes. The weights of a
// model made from a shape are made here.
bool device_weights_fill(struct device_weights *weights, const struct model *model,
                         cudaStream_t stream, struct why *why);
// Device memory that filling needs as well while it runs.
size_t device_weights_staging_bytes(const struct model *model);
void device_weights_clear(struct device_weights *weights);

// Cuts arrays off a piece of memory; with base NULL it only adds up.
struct device_arena {
    unsigned char *base;
    size_t used;
};
void *device_take(struct device_arena *arena, size_t bytes);

// "the GPU could not WHAT: ..." unless it is success.
bool device_check(cudaError_t error, const char *what, struct why *why);

#endif
