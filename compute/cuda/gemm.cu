// See gemm.cuh. cuBLASLt counts columns first: our rows of `cols` numbers are its
// columns, so out^T [rows x tokens] = weights^T^T [rows x cols] * in^T [cols x tokens];
// what it calls not transposed are our turned weights.
#include "compute/cuda/gemm.cuh"

extern "C" {
#include "compute/base/why.h"
}

#include <cublasLt.h>
#include <stdlib.h>

// A prompt of several chunks has some hundred shapes, since attention has a different
// length for every tile of tokens.
enum { MOST_SHAPES = 512, MOST_ALIGN_BYTES = 256 };

// What has been prepared for one shape.
struct prepared {
    struct gemm_call shape; // its pointers are not looked at
    uint32_t align_bytes;   // of all of them
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t weights, in, out;
    cublasLtMatmulAlgo_t algorithm;
    bool is_used;
};

struct gemm {
    cublasLtHandle_t handle;
    void *workspace;
    struct prepared prepared[MOST_SHAPES];
    int next; // place of the next shape; the oldest one goes
};

size_t gemm_workspace_bytes(void) {
    return (size_t)32 << 20; // NVIDIA's advice for Hopper, more than enough elsewhere
}

static bool check(cublasStatus_t status, const char *what, struct why *why) {
    if (status == CUBLAS_STATUS_SUCCESS)
        return true;
    return why_set(why, "cuBLASLt could not %s: %s", what, cublasLtGetStatusString(status));
}

bool gemm_create(struct gemm **out, struct why *why) {
    *out = NULL;
    struct gemm *gemm = static_cast<struct gemm *>(calloc(1, sizeof *gemm));
    if (!gemm)
        return why_set(why, "no memory for the matrix products");
    if (!check(cublasLtCreate(&gemm->handle), "start", why)) {
        free(gemm);
        return false;
    }
    if (cudaMalloc(&gemm->workspace, gemm_workspace_bytes()) != cudaSuccess) {
        cudaGetLastError(); // dealt with
        gemm_destroy(gemm);
        return why_set(why, "the GPU has no %zu MiB left for matrix products",
                       gemm_workspace_bytes() >> 20);
    }
    *out = gemm;
    return true;
}

static void clear(struct prepared *p) {
    if (p->out)
        cublasLtMatrixLayoutDestroy(p->out);
    if (p->in)
        cublasLtMatrixLayoutDestroy(p->in);
    if (p->weights)
        cublasLtMatrixLayoutDestroy(p->weights);
    if (p->product)
        cublasLtMatmulDescDestroy(p->product);
    struct prepared none = {};
    *p = none;
}

void gemm_destroy(struct gemm *gemm) {
    if (!gemm)
        return;
    for (int i = 0; i < MOST_SHAPES; i++)
        clear(&gemm->prepared[i]);
    cudaFree(gemm->workspace);
    cublasLtDestroy(gemm->handle);
    free(gemm);
}

static bool is_same(const struct gemm_call *a, const struct gemm_call *b) {
    return a->tokens == b->tokens && a->rows == b->rows && a->cols == b->cols &&
           a->out_stride == b->out_stride && a->in_stride == b->in_stride &&
           a->weights_stride == b->weights_stride && a->type == b->type && a->add == b->add &&
           a->is_turned == b->is_turned && a->batch == b->batch && a->out_step == b->out_step &&
           a->in_step == b->in_step && a->weights_step == b->weights_step;
}

// An algorithm may rely on it, so it is part of a prepared shape.
static uint32_t alignment_of(const struct gemm_call *c) {
    uintptr_t bits = reinterpret_cast<uintptr_t>(c->out) | reinterpret_cast<uintptr_t>(c->in) |
                     reinterpret_cast<uintptr_t>(c->weights) | (uintptr_t)MOST_ALIGN_BYTES;
    return (uint32_t)(bits & (~bits + 1));
}

static cudaDataType_t type_of(enum gemm_type type) {
    return type == GEMM_F32 ? CUDA_R_32F : type == GEMM_F16 ? CUDA_R_16F : CUDA_R_16BF;
}

static bool set_batch(cublasLtMatrixLayout_t layout, const struct gemm_call *c, size_t step,
                      struct why *why) {
    const int32_t batch = c->batch;
    const int64_t offset = (int64_t)step;
    if (batch <= 1)
        return true;
    return check(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                  &batch, sizeof batch),
                 "describe several products", why) &&
           check(cublasLtMatrixLayoutSetAttribute(
                     layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &offset, sizeof offset),
                 "describe several products", why);
}

static bool describe(struct prepared *p, const struct gemm_call *c, struct why *why) {
    const cudaDataType_t type = type_of(c->type);
    const cublasOperation_t turned = c->is_turned ? CUBLAS_OP_N : CUBLAS_OP_T;
    const uint64_t rows = (uint64_t)c->rows, cols = (uint64_t)c->cols, tokens = (uint64_t)c->tokens;
    const uint64_t first = c->is_turned ? rows : cols, second = c->is_turned ? cols : rows;
    return check(cublasLtMatmulDescCreate(&p->product, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                 "describe a product", why) &&
           check(cublasLtMatmulDescSetAttribute(p->product, CUBLASLT_MATMUL_DESC_TRANSA, &turned,
                                                sizeof turned),
                 "describe a product", why) &&
           check(cublasLtMatrixLayoutCreate(&p->weights, type, first, second, c->weights_stride),
                 "describe weights", why) &&
           check(cublasLtMatrixLayoutCreate(&p->in, type, cols, tokens, c->in_stride),
                 "describe an input", why) &&
           check(cublasLtMatrixLayoutCreate(&p->out, CUDA_R_32F, rows, tokens, c->out_stride),
                 "describe an output", why) &&
           set_batch(p->weights, c, c->weights_step, why) && set_batch(p->in, c, c->in_step, why) &&
           set_batch(p->out, c, c->out_step, why);
}

// What an algorithm may use and rely on.
static bool describe_wish(cublasLtMatmulPreference_t wish, uint32_t align_bytes, struct why *why) {
    static const cublasLtMatmulPreferenceAttributes_t sides[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const size_t bytes = gemm_workspace_bytes();
    bool ok = check(cublasLtMatmulPreferenceSetAttribute(
                        wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
                    "ask for an algorithm", why);
    for (size_t i = 0; ok && i < sizeof sides / sizeof sides[0]; i++)
        ok = check(
            cublasLtMatmulPreferenceSetAttribute(wish, sides[i], &align_bytes, sizeof align_bytes),
            "ask for an algorithm", why);
    return ok;
}

static bool choose(struct gemm *gemm, struct prepared *p, struct why *why) {
    cublasLtMatmulPreference_t wish = NULL;
    cublasLtMatmulHeuristicResult_t best;
    int found = 0;
    bool ok = check(cublasLtMatmulPreferenceCreate(&wish), "ask for an algorithm", why) &&
              describe_wish(wish, p->align_bytes, why) &&
              check(cublasLtMatmulAlgoGetHeuristic(gemm->handle, p->product, p->weights, p->in,
                                                   p->out, p->out, wish, 1, &best, &found),
                    "find an algorithm", why);
    if (wish)
        cublasLtMatmulPreferenceDestroy(wish);
    if (!ok)
        return false;
    if (found == 0)
        return why_set(why, "cuBLASLt has no algorithm for %d tokens times %d x %d weights",
                       p->shape.tokens, p->shape.rows, p->shape.cols);
    p->algorithm = best.algo;
    return true;
}

static struct prepared *prepare(struct gemm *gemm, const struct gemm_call *call, struct why *why) {
    const uint32_t align_bytes = alignment_of(call);
    for (int i = 0; i < MOST_SHAPES; i++) {
        struct prepared *p = &gemm->prepared[i];
        if (p->is_used && p->align_bytes == align_bytes && is_same(&p->shape, call))
            return p;
    }
    struct prepared *p = &gemm->prepared[gemm->next];
    gemm->next = (gemm->next + 1) % MOST_SHAPES;
    clear(p);
    p->shape = *call;
    p->align_bytes = align_bytes;
    if (!describe(p, call, why) || !choose(gemm, p, why)) {
        clear(p);
        return NULL;
    }
    p->is_used = true;
    return p;
}

bool gemm_run(struct gemm *gemm, const struct gemm_call *call, cudaStream_t stream,
              struct why *why) {
    const struct prepared *p = prepare(gemm, call, why);
    if (!p)
        return false;
    const float one = 1, before = call->add ? 1.0f : 0.0f;
    return check(cublasLtMatmul(gemm->handle, p->product, &one, call->weights, p->weights, call->in,
                                p->in, &before, call->out, p->out, call->out, p->out, &p->algorithm,
                                gemm->workspace, gemm_workspace_bytes(), stream),
                 "multiply", why);
}
