// See quant.h. Bytes are read one by one or by memcpy, so no row needs to be aligned and
// the byte order of the machine shows in half.h's rows alone.
#include "compute/gguf/quant.h"

#include "compute/gguf/half.h"

#include <string.h>

const int8_t quant_iq4_steps[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                    1,    13,   25,  38,  53,  69,  89,  113};
const int8_t quant_mxfp4_steps[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static uint16_t read_u16(const unsigned char *from) {
    return (uint16_t)(from[0] | from[1] << 8);
}

static float read_half(const unsigned char *from) {
    return half_to_float(read_u16(from));
}

// Number i of 32 in 16 bytes.
static int nibble(const unsigned char *bytes, int i) {
    return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4;
}

// --- Without blocks ---

static void f32_decode(float *out, const unsigned char *number) {
    memcpy(out, number, sizeof *out);
}

static void f16_decode(float *out, const unsigned char *number) {
    *out = read_half(number);
}

static void bf16_decode(float *out, const unsigned char *number) {
    *out = half_bf16_to_float(read_u16(number));
}

// --- Blocks of 32 ---

static void q8_0_decode(float *out, const unsigned char *block) {
    for (int i = 0; i < QUANT_BLOCK; i++)
        out[i] = read_half(block) * (float)(int8_t)block[2 + i];
}

static void q4_0_decode(float *out, const unsigned char *block) {
    for (int i = 0; i < QUANT_BLOCK; i++)
        out[i] = read_half(block) * (float)(nibble(block + 2, i) - 8);
}

static void q4_1_decode(float *out, const unsigned char *block) {
    for (int i = 0; i < QUANT_BLOCK; i++)
        out[i] = read_half(block) * (float)nibble(block + 4, i) + read_half(block + 2);
}

static int five_bits(const unsigned char *tops, const unsigned char *nibbles, int i) {
    return nibble(nibbles, i) | (tops[i / 8] >> i % 8 & 1) << 4;
}

static void q5_0_decode(float *out, const unsigned char *block) {
    for (int i = 0; i < QUANT_BLOCK; i++)
        out[i] = read_half(block) * (float)(five_bits(block + 2, block + 6, i) - 16);
}

static void q5_1_decode(float *out, const unsigned char *block) {
    for (int i = 0; i < QUANT_BLOCK; i++)
        out[i] =
            read_half(block) * (float)five_bits(block + 4, block + 8, i) + read_half(block + 2);
}

static void iq4_nl_decode(float *out, const unsigned char *block) {
    for (int i = 0; i < QUANT_BLOCK; i++)
        out[i] = read_half(block) * (float)quant_iq4_steps[nibble(block + 2, i)];
}

// 2^(e - 128). The two smallest are no normal floats: 2^-128 has bit 21, 2^-127 bit 22.
static float mxfp4_scale(unsigned char e) {
    uint32_t bits = e < 2 ? UINT32_C(1) << (21 + e) : (uint32_t)(e - 1) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}

static void mxfp4_decode(float *out, const unsigned char *block) {
    for (int i = 0; i < QUANT_BLOCK; i++)
        out[i] = mxfp4_scale(block[0]) * (float)quant_mxfp4_steps[nibble(block + 1, i)];
}

// --- Blocks of 256 ---

// Bits 2s and 2s + 1 of byte 32h + i, of number n.
static int two_bits(const unsigned char *bytes, int n) {
    return bytes[n / 128 * 32 + n % 32] >> n / 32 % 4 * 2 & 3;
}

// Bit g of byte i, of number n.
static int top_bit(const unsigned char *bytes, int n) {
    return bytes[n % 32] >> n / 32 & 1;
}

static void q2_k_decode(float *out, const unsigned char *block) {
    float d = read_half(block + 80), dmin = read_half(block + 82);
    for (int n = 0; n < QUANT_LARGE; n++) {
        int run = block[n / 16];
        float scale = d * (float)(run & 15), least = dmin * (float)(run >> 4);
        out[n] = scale * (float)two_bits(block + 16, n) - least;
    }
}

static void q3_k_decode(float *out, const unsigned char *block) {
    const unsigned char *scales = block + 96;
    float d = read_half(block + 108);
    for (int n = 0; n < QUANT_LARGE; n++) {
        int r = n / 16;
        int low = r < 8 ? scales[r] & 15 : scales[r - 8] >> 4;
        int scale = low | (scales[8 + r % 4] >> r / 4 * 2 & 3) << 4;
        int q = two_bits(block + 32, n) | top_bit(block, n) << 2;
        out[n] = d * (float)(scale - 32) * (float)(q - 4);
    }
}

// Scale (at 0) or least (at 4) of group g, out of the 12 bytes of Q4_K and Q5_K.
static int six_bits(const unsigned char *scales, int at, int g) {
    if (g < 4)
        return scales[at + g] & 63;
    int low = at ? scales[4 + g] >> 4 : scales[4 + g] & 15;
    return low | scales[at + g - 4] >> 6 << 4;
}

static int half_of_pair(const unsigned char *pairs, int n) {
    return pairs[n / 64 * 32 + n % 32] >> n / 32 % 2 * 4 & 15;
}

static float k_number(const unsigned char *block, int n, int q) {
    float scale = read_half(block) * (float)six_bits(block + 4, 0, n / 32);
    float least = read_half(block + 2) * (float)six_bits(block + 4, 4, n / 32);
    return scale * (float)q - least;
}

static void q4_k_decode(float *out, const unsigned char *block) {
    for (int n = 0; n < QUANT_LARGE; n++)
        out[n] = k_number(block, n, half_of_pair(block + 16, n));
}

static void q5_k_decode(float *out, const unsigned char *block) {
    for (int n = 0; n < QUANT_LARGE; n++)
        out[n] = k_number(block, n, half_of_pair(block + 48, n) | top_bit(block + 16, n) << 4);
}

static void q6_k_decode(float *out, const unsigned char *block) {
    float d = read_half(block + 208);
    for (int n = 0; n < QUANT_LARGE; n++) {
        int low = block[n / 128 * 64 + n % 64] >> n / 64 % 2 * 4 & 15;
        int q = low | two_bits(block + 128, n) << 4;
        out[n] = d * (float)(int8_t)block[192 + n / 16] * (float)(q - 32);
    }
}

static void iq4_xs_decode(float *out, const unsigned char *block) {
    float d = read_half(block);
    int tops = read_u16(block + 2);
    for (int n = 0; n < QUANT_LARGE; n++) {
        int g = n / 32;
        int scale = (block[4 + g / 2] >> g % 2 * 4 & 15) | (tops >> 2 * g & 3) << 4;
        int step = quant_iq4_steps[nibble(block + 8 + 16 * g, n % 32)];
        out[n] = d * (float)(scale - 32) * (float)step;
    }
}

// --- The table ---

const struct quant_format quant_formats[QUANT_FORMATS] = {
    {GGUF_TENSOR_F16, 1, 2, 2, f16_decode},
    {GGUF_TENSOR_F32, 1, 4, 4, f32_decode},
    {GGUF_TENSOR_BF16, 1, 2, 2, bf16_decode},
    {GGUF_TENSOR_Q8_0, QUANT_BLOCK, QUANT_Q8_0_BYTES, 2, q8_0_decode},
    {GGUF_TENSOR_Q4_0, QUANT_BLOCK, QUANT_Q4_0_BYTES, 2, q4_0_decode},
    {GGUF_TENSOR_Q4_1, QUANT_BLOCK, QUANT_Q4_1_BYTES, 2, q4_1_decode},
    {GGUF_TENSOR_Q5_0, QUANT_BLOCK, QUANT_Q5_0_BYTES, 2, q5_0_decode},
    {GGUF_TENSOR_Q5_1, QUANT_BLOCK, QUANT_Q5_1_BYTES, 2, q5_1_decode},
    {GGUF_TENSOR_IQ4_NL, QUANT_BLOCK, QUANT_IQ4_NL_BYTES, 2, iq4_nl_decode},
    {GGUF_TENSOR_MXFP4, QUANT_BLOCK, QUANT_MXFP4_BYTES, 1, mxfp4_decode},
    {GGUF_TENSOR_Q2_K, QUANT_LARGE, QUANT_Q2_K_BYTES, 2, q2_k_decode},
    {GGUF_TENSOR_Q3_K, QUANT_LARGE, QUANT_Q3_K_BYTES, 2, q3_k_decode},
    {GGUF_TENSOR_Q4_K, QUANT_LARGE, QUANT_Q4_K_BYTES, 2, q4_k_decode},
    {GGUF_TENSOR_Q5_K, QUANT_LARGE, QUANT_Q5_K_BYTES, 2, q5_k_decode},
    {GGUF_TENSOR_Q6_K, QUANT_LARGE, QUANT_Q6_K_BYTES, 2, q6_k_decode},
    {GGUF_TENSOR_IQ4_XS, QUANT_LARGE, QUANT_IQ4_XS_BYTES, 2, iq4_xs_decode},
};

const struct quant_format *quant_format(enum gguf_tensor_type type) {
    for (int i = 0; i < QUANT_FORMATS; i++) {
        if (quant_formats[i].type == type)
            return &quant_formats[i];
    }
    return NULL;
}

bool quant_is_known(enum gguf_tensor_type type) {
    return quant_format(type) != NULL;
}

size_t quant_alignment(enum gguf_tensor_type type) {
    const struct quant_format *format = quant_format(type);
    return format ? (size_t)format->alignment : 1;
}

size_t quant_row_bytes(enum gguf_tensor_type type, int64_t cols) {
    const struct quant_format *format = quant_format(type);
    if (!format || cols % format->block != 0)
        return 0;
    return (size_t)(cols / format->block) * (size_t)format->block_bytes;
}

void quant_row_to_float(float *out, enum gguf_tensor_type type, const void *row, size_t count) {
    const struct quant_format *format = quant_format(type);
    const unsigned char *bytes = row;
    if (!format)
        return;
    for (size_t i = 0; i < count / (size_t)format->block; i++)
        format->decode(out + i * (size_t)format->block, bytes + i * (size_t)format->block_bytes);
}
