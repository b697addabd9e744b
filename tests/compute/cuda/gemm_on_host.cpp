// Takes cuBLASLt's place in the emulation: the products of gemm.cuh as plain loops, f32
// sums of eight columns at a time so that it is not the slowest part of a test.
#include "compute/cuda/gemm.cuh"

extern "C" {
#include "compute/base/why.h"
}

#include <vector>

struct gemm {
    unsigned char *workspace;
};

size_t gemm_workspace_bytes(void) {
    return 4096;
}

bool gemm_create(struct gemm **out, struct why *why) {
    *out = new gemm();
    if (cudaMalloc(&(*out)->workspace, gemm_workspace_bytes()) == cudaSuccess)
        return true;
    cudaGetLastError(); // dealt with
    gemm_destroy(*out);
    *out = NULL;
    return why_set(why, "the GPU has no room left for matrix products");
}

void gemm_destroy(struct gemm *gemm) {
    if (gemm)
        cudaFree(gemm->workspace);
    delete gemm;
}

static float number_at(const void *from, size_t at, enum gemm_type type) {
    switch (type) {
    case GEMM_F16:
        return to_float(static_cast<const half16 *>(from)[at]);
    case GEMM_BF16:
        return to_float(static_cast<const bfloat16 *>(from)[at]);
    default:
        return static_cast<const float *>(from)[at];
    }
}

// `count` numbers from `first`, `step` apart.
static void widen(float *out, const void *from, size_t first, size_t step, int count,
                  enum gemm_type type) {
    for (int i = 0; i < count; i++)
        out[i] = number_at(from, first + (size_t)i * step, type);
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

// Product number `b` of the batch.
static void multiply(const struct gemm_call &c, size_t b) {
    const size_t cols = (size_t)c.cols, stride = (size_t)c.weights_stride;
    float *const all = c.out + b * c.out_step;
    std::vector<float> in((size_t)c.tokens * cols), weights(cols);
    for (int t = 0; t < c.tokens; t++)
        widen(&in[(size_t)t * cols], c.in, b * c.in_step + (size_t)t * (size_t)c.in_stride, 1,
              c.cols, c.type);
    for (int r = 0; r < c.rows; r++) {
        const size_t first = b * c.weights_step + (size_t)r * (c.is_turned ? 1 : stride);
        widen(weights.data(), c.weights, first, c.is_turned ? stride : 1, c.cols, c.type);
        for (int t = 0; t < c.tokens; t++) {
            float sum = dot(weights.data(), &in[(size_t)t * cols], c.cols);
            float *out = &all[(size_t)t * (size_t)c.out_stride + (size_t)r];
            *out = c.add ? *out + sum : sum;
        }
    }
}

// What makes cuBLASLt find no algorithm, or a slow one.
static void check_alignment(const struct gemm_call &c) {
    const size_t bytes = c.type == GEMM_F32 ? 4 : 2;
    uintptr_t bits = (uintptr_t)c.out | (uintptr_t)c.in | (uintptr_t)c.weights |
                     bytes * (size_t)c.in_stride | bytes * (size_t)c.weights_stride |
                     bytes * c.in_step | bytes * c.weights_step | sizeof(float) * c.out_step;
    if (bits % 16 != 0)
        host_fail("a product over rows or arrays that do not begin at multiples of 16 bytes");
}

// Products are never part of a capture.
bool gemm_run(struct gemm *, const struct gemm_call *call, cudaStream_t stream, struct why *) {
    const struct gemm_call copy = *call;
    check_alignment(copy);
    host_enqueue(stream, [copy] {
        for (int b = 0; b < (copy.batch > 1 ? copy.batch : 1); b++)
            multiply(copy, (size_t)b);
    });
    return true;
}
