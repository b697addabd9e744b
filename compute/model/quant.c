// See quant.h. Bytes are read one by one or by memcpy, so no row needs
// to be aligned and the byte order of the machine shows in half.h's rows alone.
#include "compute/model/quant.h"

#include "compute/model/half.h"

#include <string.h>

enum { SCALE_BYTES = 2, HALF_BLOCK = QUANT_BLOCK / 2 };

bool quant_is_known(enum gguf_tensor_type type) {
    return quant_row_bytes(type, QUANT_BLOCK) != 0;
}

size_t quant_alignment(enum gguf_tensor_type type) {
    return type == GGUF_TENSOR_F32 ? 4 : 2;
}

static uint16_t read_u16(const unsigned char *from) {
    return (uint16_t)(from[0] | from[1] << 8);
}

static void q8_0_to_float(float *out, const unsigned char *block) {
    float scale = half_to_float(read_u16(block));
    for (int i = 0; i < QUANT_BLOCK; i++)
        out[i] = scale * (float)(int8_t)block[SCALE_BYTES + i];
}

static void q4_0_to_float(float *out, const unsigned char *block) {
    float scale = half_to_float(read_u16(block));
    for (int i = 0; i < HALF_BLOCK; i++) {
        int pair = block[SCALE_BYTES + i];
        out[i] = scale * (float)((pair & 15) - 8);
        out[HALF_BLOCK + i] = scale * (float)((pair >> 4) - 8);
    }
}

void quant_row_to_float(float *out, enum gguf_tensor_type type, const void *row, size_t count) {
    const unsigned char *bytes = row;
    switch (type) {
    case GGUF_TENSOR_F32:
        memcpy(out, row, count * sizeof *out);
        break;
    case GGUF_TENSOR_F16:
        half_row_to_float(out, row, count);
        break;
    case GGUF_TENSOR_BF16:
        for (size_t i = 0; i < count; i++)
            out[i] = half_bf16_to_float(read_u16(bytes + 2 * i));
        break;
    case GGUF_TENSOR_Q8_0:
        for (size_t b = 0; b < count / QUANT_BLOCK; b++)
            q8_0_to_float(out + b * QUANT_BLOCK, bytes + b * QUANT_Q8_0_BYTES);
        break;
    case GGUF_TENSOR_Q4_0:
        for (size_t b = 0; b < count / QUANT_BLOCK; b++)
            q4_0_to_float(out + b * QUANT_BLOCK, bytes + b * QUANT_Q4_0_BYTES);
        break;
    }
}
