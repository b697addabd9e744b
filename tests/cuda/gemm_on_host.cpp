// Takes cuBLASLt's place in the emulation: the product of gemm.cuh as plain loops, f32
// sums of eight columns at a time so that it is not the slowest part of a test.
#include "compute/cuda/gemm.cuh"

extern "C" {
#include "compute/why.h"
}

#include <vector>

struct gemm {
    unsigned char *workspace;
};

size_t gemm_workspace_bytes(void) {
    return 4096;
}

bool gemm_create(struct gemm **out, char *why) {
    *out = new gemm();
    if (cudaMalloc(&(*out)->workspace, gemm_workspace_bytes()) == cudaSuccess)
        return true;
    gemm_destroy(*out);
    *out = NULL;
    return why_set(why, "the GPU has no room left for matrix products");
}

void gemm_destroy(struct gemm *gemm) {
    if (gemm)
        cudaFree(gemm->workspace);
    delete gemm;
}

static void widen(float *out, const void *rows, int index, int stride, int cols, bool is_bf16) {
    const size_t first = (size_t)index * (size_t)stride;
    for (int i = 0; i < cols; i++)
        out[i] = is_bf16 ? to_float(static_cast<const bfloat16 *>(rows)[first + (size_t)i])
                         : static_cast<const float *>(rows)[first + (size_t)i];
}

static float dot(const float *a, const float *b, int cols) {
    float sums[8] = {0}, sum = 0;
    int i = 0;
    for (; i + 8 <= cols; i += 8) {
        for (int j = 0; j < 8; j++)
            sums[j] += a[i + j] * b[i + j];
    }
    for (; i < cols; i++)
        sum += a[i] * b[i];
    for (float part : sums)
        sum += part;
    return sum;
}

static void multiply(const struct gemm_call &c) {
    const size_t cols = (size_t)c.cols;
    std::vector<float> in((size_t)c.tokens * cols), weights(cols);
    for (int t = 0; t < c.tokens; t++)
        widen(&in[(size_t)t * cols], c.in, t, c.in_stride, c.cols, c.is_bf16);
    for (int r = 0; r < c.rows; r++) {
        widen(weights.data(), c.weights, r, c.weights_stride, c.cols, c.is_bf16);
        for (int t = 0; t < c.tokens; t++) {
            float sum = dot(weights.data(), &in[(size_t)t * cols], c.cols);
            float *out = &c.out[(size_t)t * (size_t)c.out_stride + (size_t)r];
            *out = c.add ? *out + sum : sum;
        }
    }
}

// Launched work runs at once here, and products are never part of a capture.
bool gemm_run(struct gemm *, const struct gemm_call *call, cudaStream_t, char *) {
    multiply(*call);
    return true;
}
