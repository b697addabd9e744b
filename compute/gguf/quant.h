// The number formats that a matrix may be stored in, row by row: F32, F16, BF16 and ggml's
// block formats, in which neighbouring numbers share a scale. Plain scalar code: the
// reference that every backend's kernels are checked against, not what multiplies in a
// measured pass.
//
// All are little-endian; q is a small whole number, an f16 is two bytes (half.h). Facts from
// ggml's sources: the structs and dequantize functions of ggml-common.h and ggml-quants.c,
// and gguf-py's quants.py, which computes the same (tests/peers compares with it).
//
// Blocks of 32. "Nibbles": 16 bytes, number i is the low half of byte i and number 16 + i
// its high half.
//   Q8_0, 34 bytes    f16 scale, 32 signed bytes: scale * q
//   Q4_0, 18 bytes    f16 scale, nibbles: scale * (q - 8)
//   Q4_1, 20 bytes    f16 scale, f16 least, nibbles: scale * q + least
//   Q5_0, 22 bytes    f16 scale, 4 bytes whose bit i is bit 4 of number i, nibbles:
//                     scale * (q - 16)
//   Q5_1, 24 bytes    f16 scale, f16 least, the same: scale * q + least
//   IQ4_NL, 18 bytes  as Q4_0, but q is looked up in 16 uneven steps (quant_iq4_steps)
//   MXFP4, 17 bytes   exponent e, nibbles: 2^(e - 128) * quant_mxfp4_steps[q], the steps being
//                     twice those of the OCP's E2M1; e = 255 is no special value
//
// Blocks of 256, cut into eight groups of 32: number n is number i = n % 32 of group
// g = n / 32; g = 4h + s. Runs are 16 numbers: run r = n / 16.
//   Q2_K, 84 bytes    16 bytes whose low half is run r's scale, high half its least; 64 bytes,
//                     of which bits 2s and 2s + 1 of byte 32h + i are q; f16 d, f16 dmin:
//                     d * scale * q - dmin * least
//   Q3_K, 110 bytes   32 bytes, bit g of byte i is bit 2 of q; 64 bytes with bits 0 and 1 as in
//                     Q2_K; 12 bytes with 16 scales; f16 d: d * (scale - 32) * (q - 4). Bits 0
//                     to 3 of scale r: low (r < 8) or high half of byte r % 8; bits 4 and 5:
//                     bits 2(r / 4) and the next of byte 8 + r % 4
//   Q4_K, 144 bytes   f16 d, f16 dmin, 12 bytes with 8 scales and leasts, 128 bytes: q is the
//                     low (g even) or high half of byte 32(g / 2) + i:
//                     d * scale * q - dmin * least. For g < 4, bits 0 to 5 of byte g are the
//                     scale, of byte 4 + g the least; for g = 4 + k, the low half of byte
//                     8 + k is bits 0 to 3 of the scale, its high half of the least, and
//                     bits 6 and 7 of bytes k and 4 + k are their bits 4 and 5
//   Q5_K, 176 bytes   as Q4_K with 32 bytes between the scales and the 128, bit g of byte i
//                     being bit 4 of q
//   Q6_K, 210 bytes   128 bytes, bits 0 to 3 of q in the low (s < 2) or high half of byte
//                     64h + 32(s % 2) + i; 64 bytes, bits 2s and 2s + 1 of byte 32h + i are
//                     bits 4 and 5; 16 signed scales; f16 d: d * scale[r] * (q - 32)
//   IQ4_XS, 136 bytes f16 d, 2 bytes with bits 4 and 5 and 4 bytes with bits 0 to 3 of the
//                     groups' scales, the first group lowest; for each group nibbles:
//                     d * (scale - 32) * quant_iq4_steps[q]
// All products here are exact in a float; a sum with a least is rounded once.
//
// Random weights (shape_random.h) are rounded to some of these formats by multiplications,
// divisions and additions that each round once, in this order, so that any machine makes the
// same bytes:
//   F16, BF16: to nearest, ties to even
//   Q8_0: scale = f16(most / 127), q = (int)(x * (127 / most) + 128.5) - 128, where
//         most is the largest magnitude of the block
//   Q4_0: scale = f16(most / -8), q = min(15, (int)(x * (-8 / most) + 8.5)), where
//         most is the number of the largest magnitude, sign included (the first one)
//   Q4_K: of each group low = -min(x), step = (max(x) + low) / 15; d = f16(largest step / 63),
//         dmin = f16(largest low / 63); scale = min(63, (int)(step / d + 0.5)), least =
//         min(63, (int)(low / dmin + 0.5)); q = (int)((x + dmin * least) / (d * scale) + 0.5),
//         at least 0 and at most 15; 0 where something would be divided by zero
// A block of zeros has scale 0.
#ifndef COMPUTE_GGUF_QUANT_H
#define COMPUTE_GGUF_QUANT_H

#include "compute/gguf/gguf.h"

enum {
    QUANT_BLOCK = 32,  // numbers of a small block, and of a group of a large one
    QUANT_LARGE = 256, // numbers of a large block
    QUANT_FORMATS = 16,
    QUANT_Q8_0_BYTES = 34,
    QUANT_Q4_0_BYTES = 18,
    QUANT_Q4_1_BYTES = 20,
    QUANT_Q5_0_BYTES = 22,
    QUANT_Q5_1_BYTES = 24,
    QUANT_IQ4_NL_BYTES = 18,
    QUANT_MXFP4_BYTES = 17,
    QUANT_Q2_K_BYTES = 84,
    QUANT_Q3_K_BYTES = 110,
    QUANT_Q4_K_BYTES = 144,
    QUANT_Q5_K_BYTES = 176,
    QUANT_Q6_K_BYTES = 210,
    QUANT_IQ4_XS_BYTES = 136,
};

struct quant_format {
    enum gguf_tensor_type type; // ggml's number; gguf_tensor_type_name has its name
    int block;                  // numbers of a block: 1, 32 or 256
    int block_bytes;
    int alignment; // address multiple that rows need: that of their numbers or scales
    void (*decode)(float *out, const unsigned char *block); // one block, exact
};

extern const struct quant_format quant_formats[QUANT_FORMATS];
extern const int8_t quant_iq4_steps[16], quant_mxfp4_steps[16];

// The format of a type; NULL: not known here.
const struct quant_format *quant_format(enum gguf_tensor_type type);

bool quant_is_known(enum gguf_tensor_type type);
size_t quant_alignment(enum gguf_tensor_type type); // 1 for a type that is not known

// Bytes of a row; 0 for a type that is not known or a row that is not whole blocks.
size_t quant_row_bytes(enum gguf_tensor_type type, int64_t cols);

// `count` numbers of a row, whole blocks, exact. `row` need not be aligned.
void quant_row_to_float(float *out, enum gguf_tensor_type type, const void *row, size_t count);

#endif
