// Matrix products over many tokens: one thin function over cuBLASLt, so that the
// emulation of kernels on a host can put a plain loop in its place. The algorithm is
// asked for once a shape and kept; the workspace is taken once.
#ifndef COMPUTE_CUDA_GEMM_CUH
#define COMPUTE_CUDA_GEMM_CUH

#include "compute/cuda/device.cuh"

struct gemm;

enum gemm_type { GEMM_F32, GEMM_F16, GEMM_BF16 }; // of both inputs

// out[t][r] = sum over c of in[t][c] * weights[r][c] (weights[c][r] if they are turned),
// in f32, added to out if `add`. Strides and steps are in numbers; arrays, rows of the
// inputs and products begin at multiples of 16 bytes.
struct gemm_call {
    float *out;
    const void *in, *weights;
    int tokens, rows, cols;
    int out_stride, in_stride, weights_stride;
    enum gemm_type type;
    bool add, is_turned;
    int batch; // so many products, each a step behind the one before; 0 = one
    size_t out_step, in_step, weights_step;
};

// Bytes of device memory that a gemm takes.
size_t gemm_workspace_bytes(void);

// Owner: gemm_destroy, NULL is fine.
bool gemm_create(struct gemm **out, char *why);
void gemm_destroy(struct gemm *gemm);

// Puts it on the stream. Must not happen inside a capture for the first time of a shape.
bool gemm_run(struct gemm *gemm, const struct gemm_call *call, cudaStream_t stream, char *why);

// The same of one product (no batch) with its tokens in slices, whole tiles of 128, of
// most_flop at most where a tile is not more: no kernel is long.
bool gemm_run_in_slices(struct gemm *gemm, const struct gemm_call *call, double most_flop,
                        cudaStream_t stream, char *why);

#endif
