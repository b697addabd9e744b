// Matrix products over many tokens: one thin function over cuBLASLt, so that the
// emulation of kernels on a host can put a plain loop in its place. The algorithm is
// asked for once a shape and kept; the workspace is taken once.
#ifndef COMPUTE_CUDA_GEMM_CUH
#define COMPUTE_CUDA_GEMM_CUH

#include "device.cuh"

struct gemm;

// out[t][r] = sum over c of in[t][c] * weights[r][c], in f32, added to out if `add`.
// in and weights are both bf16 or both f32; strides are in numbers.
struct gemm_call {
    float *out;
    const void *in, *weights;
    int tokens, rows, cols;
    int out_stride, in_stride, weights_stride;
    bool is_bf16, add;
};

// Bytes of device memory that a gemm takes.
size_t gemm_workspace_bytes(void);

// Owner: gemm_destroy, NULL is fine.
bool gemm_create(struct gemm **out, char *why);
void gemm_destroy(struct gemm *gemm);

// Puts it on the stream. Must not happen inside a capture for the first time of a shape.
bool gemm_run(struct gemm *gemm, const struct gemm_call *call, cudaStream_t stream, char *why);

#endif
