// Matrix products over many tokens: one thin function over cuBLASLt, which the emulation of
// kernels on a host replaces by a plain loop. The algorithm is chosen once for each shape
// and kept; the workspace is allocated once.
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
    int batch; // so many products, each one step after the previous one; 0 = one
    size_t out_step, in_step, weights_step;
};

// Bytes of device memory that a gemm takes.
size_t gemm_workspace_bytes(void);

// Owner: gemm_destroy, NULL is fine.
bool gemm_create(struct gemm **out, struct why *why);
void gemm_destroy(struct gemm *gemm);

// Puts it on the stream. The first call of a shape must not be inside a capture.
bool gemm_run(struct gemm *gemm, const struct gemm_call *call, cudaStream_t stream,
              struct why *why);

// The same for one product (no batch), with its tokens in slices of whole tiles of 128 and
// at most most_flop (or one tile), so that no kernel runs for long.
bool gemm_run_in_slices(struct gemm *gemm, const struct gemm_call *call, double most_flop,
                        cudaStream_t stream, struct why *why);

#endif
