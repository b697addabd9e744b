// The number formats that a matrix may be stored in, row by row: F32, F16, BF16 and
// ggml's block formats Q8_0 and Q4_0, in which 32 neighbouring numbers share one f16
// scale. Plain scalar code: the reference that every backend's kernels are checked
// against, not what multiplies in a measured pass.
//
// Q8_0, 34 bytes: scale, 32 signed bytes; number i = scale * q[i].
// Q4_0, 18 bytes: scale, 16 bytes; number i is the low half of byte i and number
// 16 + i its high half, each minus 8, times scale.
//
// Random weights (shape_random.h) are rounded to these formats by multiplications and
// additions that each round once, in this order, so that any machine makes the same bytes:
//   F16, BF16: to nearest, ties to even
//   Q8_0: scale = f16(most / 127), q = (int)(x * (127 / most) + 128.5) - 128, where
//         most is the largest magnitude of the block
//   Q4_0: scale = f16(most / -8), q = min(15, (int)(x * (-8 / most) + 8.5)), where
//         most is the number of the largest magnitude, sign included (the first one)
// A block of zeros has scale 0.
#ifndef COMPUTE_MODEL_QUANT_H
#define COMPUTE_MODEL_QUANT_H

#include "compute/model/gguf.h"

enum { QUANT_BLOCK = 32, QUANT_Q8_0_BYTES = 34, QUANT_Q4_0_BYTES = 18 };

// Whether it is one of the five.
bool quant_is_known(enum gguf_tensor_type type);

// Address multiple that rows need: that of their numbers or scales.
size_t quant_alignment(enum gguf_tensor_type type);

// Bytes of a row; 0 for a type that is not known or a row that is not whole blocks.
// Inline because kernels of every instruction set ask for it row by row.
static inline size_t quant_row_bytes(enum gguf_tensor_type type, int64_t cols) {
    size_t count = (size_t)cols;
    switch (type) {
    case GGUF_TENSOR_F32:
        return count * 4;
    case GGUF_TENSOR_F16:
    case GGUF_TENSOR_BF16:
        return count * 2;
    case GGUF_TENSOR_Q8_0:
        return count % QUANT_BLOCK ? 0 : count / QUANT_BLOCK * QUANT_Q8_0_BYTES;
    case GGUF_TENSOR_Q4_0:
        return count % QUANT_BLOCK ? 0 : count / QUANT_BLOCK * QUANT_Q4_0_BYTES;
    }
    return 0;
}

// `count` numbers of a row, whole blocks, exact. `row` need not be aligned.
void quant_row_to_float(float *out, enum gguf_tensor_type type, const void *row, size_t count);

#endif
