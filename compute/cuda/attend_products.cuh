// Causal attention of many tokens as matrix products, for the tensor cores: a tile of
// tokens at a time, scores = queries keys^T for the heads that share keys together, a
// softmax over each row, mixed = shares values. In f16 with f32 sums, since the cache is
// f16 and so need not be converted. Faster than launch_attend_rows from some 128 tokens
// on, at the price of memory for one tile's scores, which is bounded.
#ifndef COMPUTE_CUDA_ATTEND_PRODUCTS_CUH
#define COMPUTE_CUDA_ATTEND_PRODUCTS_CUH

#include "compute/cuda/gemm.cuh"
#include "compute/cuda/kernels.cuh"
#include "compute/cuda/weights_cuda.cuh"

enum {
    ATTEND_PRODUCTS_TOKENS = 128,      // faster from so many tokens on
    ATTEND_PRODUCTS_MOST_MIB = 256,    // for scores and shares, whatever the context
    ATTEND_PRODUCTS_TOGETHER_MIB = 64, // heads are computed together up to this, to stay in the L2
};

// What it works in: device memory, free to use between calls.
struct attend_products {
    int tile_tokens; // at once; 0: not used by this state
    size_t values;   // room for so many scores
    half16 *queries; // [heads][tile_tokens][cache.stride]
    float *scores;   // [values]
    half16 *shares;  // [values]
    float *mixed;    // [heads][tile_tokens][cache.stride]
    float *sums;     // [heads][tile_tokens]
};

// Sizes and places for passes of up to most_tokens over a cache of f16.
void attend_products_place(struct attend_products *out, struct device_arena *arena,
                           const struct heads &heads, int cache_stride, int context,
                           int most_tokens);

// As launch_attend_rows, of any number of tokens; tile_tokens is not 0.
bool attend_products_run(const struct attend_products *work, struct gemm *gemm,
                         const struct attend_rows_args &args, cudaStream_t stream, struct why *why);

#endif
