// See quant.h. Bytes are read and written one by one or by memcpy, so no row needs
// to be aligned and the byte order of the machine shows in half.h's rows alone.
#include "compute/model/quant.h"

#include "compute/model/half.h"

#include <math.h>
#include <string.h>

enum { SCALE_BYTES = 2, HALF_BLOCK = QUANT_BLOCK / 2 };

bool quant_is_known(enum gguf_tensor_type type) {
    return quant_row_bytes(type, QUANT_BLOCK) != 0;
}

int quant_block_values(enum gguf_tensor_type type) {
    return type == GGUF_TENSOR_Q8_0 || type == GGUF_TENSOR_Q4_0 ? QUANT_BLOCK : 1;
}

size_t quant_alignment(enum gguf_tensor_type type) {
    return type == GGUF_TENSOR_F32 ? 4 : 2;
}

// --- To float ---

static uint16_t read_u16(const unsigned char *from) {
    return (uint16_t)(from[0] | from[1] << 8);
}

static void write_u16(unsigned char *to, uint16_t value) {
    to[0] = (unsigned char)value;
    to[1] = (unsigned char)(value >> 8);
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

// --- From float ---

// The number of the largest magnitude, the first of several.
static float largest(const float *in) {
    float most = 0;
    for (int i = 0; i < QUANT_BLOCK; i++)
        most = fabsf(in[i]) > fabsf(most) ? in[i] : most;
    return most;
}

static void q8_0_from_float(unsigned char *block, const float *in) {
    float most = fabsf(largest(in));
    float per_step = most > 0 ? 127.0f / most : 0;
    write_u16(block, half_from_float(most / 127.0f));
    for (int i = 0; i < QUANT_BLOCK; i++)
        block[SCALE_BYTES + i] = (unsigned char)((int)(in[i] * per_step + 128.5f) - 128);
}

static unsigned q4_0_step(float value, float per_step) {
    int step = (int)(value * per_step + 8.5f);
    return (unsigned)(step < 15 ? step : 15);
}

static void q4_0_from_float(unsigned char *block, const float *in) {
    float most = largest(in);
    float per_step = most != 0 ? -8.0f / most : 0;
    // Zeros must not get the scale -0.
    write_u16(block, most != 0 ? half_from_float(most / -8.0f) : 0);
    for (int i = 0; i < HALF_BLOCK; i++)
        block[SCALE_BYTES + i] = (unsigned char)(q4_0_step(in[i], per_step) |
                                                 q4_0_step(in[HALF_BLOCK + i], per_step) << 4);
}

void quant_row_from_float(void *row, enum gguf_tensor_type type, const float *in, size_t count) {
    unsigned char *bytes = row;
    switch (type) {
    case GGUF_TENSOR_F32:
        memcpy(row, in, count * sizeof *in);
        break;
    case GGUF_TENSOR_F16:
        for (size_t i = 0; i < count; i++)
            write_u16(bytes + 2 * i, half_from_float(in[i]));
        break;
    case GGUF_TENSOR_BF16:
        for (size_t i = 0; i < count; i++)
            write_u16(bytes + 2 * i, half_bf16_from_float(in[i]));
        break;
    case GGUF_TENSOR_Q8_0:
        for (size_t b = 0; b < count / QUANT_BLOCK; b++)
            q8_0_from_float(bytes + b * QUANT_Q8_0_BYTES, in + b * QUANT_BLOCK);
        break;
    case GGUF_TENSOR_Q4_0:
        for (size_t b = 0; b < count / QUANT_BLOCK; b++)
            q4_0_from_float(bytes + b * QUANT_Q4_0_BYTES, in + b * QUANT_BLOCK);
        break;
    }
}

// --- The reference product ---

double quant_dot(enum gguf_tensor_type type, const void *row, const float *in, size_t count) {
    size_t unit = (size_t)quant_block_values(type);
    size_t unit_bytes = quant_row_bytes(type, (int64_t)unit);
    double sum = 0;
    for (size_t first = 0; first < count; first += unit) {
        float numbers[QUANT_BLOCK];
        const unsigned char *from = (const unsigned char *)row + first / unit * unit_bytes;
        quant_row_to_float(numbers, type, from, unit);
        for (size_t i = 0; i < unit; i++)
            sum += (double)numbers[i] * (double)in[first + i];
    }
    return sum;
}
