// See gemm.cuh. Separate from cuBLASLt, so that the emulation has the same slices.
#include "compute/cuda/gemm.cuh"

enum { TILE = 128 }; // tokens

static int slice_tokens(const struct gemm_call *call, double most_flop) {
    const double fitting = most_flop / (2.0 * call->rows * call->cols);
    if (fitting >= call->tokens)
        return call->tokens;
    return fitting > TILE ? (int)fitting / TILE * TILE : (int)TILE;
}

bool gemm_run_in_slices(struct gemm *gemm, const struct gemm_call *call, double most_flop,
                        cudaStream_t stream, struct why *why) {
    const int at_once = slice_tokens(call, most_flop);
    const size_t row_bytes = (size_t)call->in_stride * (call->type == GEMM_F32 ? 4 : 2);
    for (int first = 0; first < call->tokens; first += at_once) {
        struct gemm_call slice = *call;
        slice.tokens = call->tokens - first < at_once ? call->tokens - first : at_once;
        slice.in = static_cast<const unsigned char *>(call->in) + (size_t)first * row_bytes;
        slice.out += (size_t)first * (size_t)call->out_stride;
        if (!gemm_run(gemm, &slice, stream, why))
            return false;
    }
    return true;
}
