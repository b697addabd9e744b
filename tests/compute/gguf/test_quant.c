// Tests of the number formats: numbers that another program read from the same bytes, bytes
// written by hand from the formats' description, quantising and back within half a step, and
// what must be the same on any device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/compute/gguf/quant_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ONE_AND_A_HALF = 0x3e00, MINUS_QUARTER = 0xb400 }; // as f16
enum { Q8_K = 15 };                                       // a type that no file holds

static const enum gguf_tensor_type types[] = {
    GGUF_TENSOR_F32,  GGUF_TENSOR_F16,  GGUF_TENSOR_BF16,
    GGUF_TENSOR_Q8_0, GGUF_TENSOR_Q4_0, GGUF_TENSOR_Q4_K,
};
enum { TYPES = sizeof(types) / sizeof(types[0]) };

static uint64_t seed = 1;

static float random_float(void) { // -1 .. 1
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(seed >> 32) / 2147483648.0f;
}

static void a_row_has_the_bytes_its_blocks_have(void **state) {
    (void)state;
    static const struct {
        enum gguf_tensor_type type;
        int64_t cols;
        size_t bytes;
    } rows[] = {
        {GGUF_TENSOR_F32, 5, 20},
        {GGUF_TENSOR_F16, 5, 10},
        {GGUF_TENSOR_BF16, 5, 10},
        {GGUF_TENSOR_Q8_0, 64, 68},
        {GGUF_TENSOR_Q4_0, 64, 36},
        {GGUF_TENSOR_Q8_0, 33, 0},
        {GGUF_TENSOR_Q4_0, 16, 0},
        {GGUF_TENSOR_Q4_1, 64, 40},
        {GGUF_TENSOR_MXFP4, 96, 51},
        {GGUF_TENSOR_Q6_K, 512, 420},
        {GGUF_TENSOR_Q4_K, 576, 0},
        {(enum gguf_tensor_type)Q8_K, 256, 0},
        // Beyond 32 bits.
        {GGUF_TENSOR_F32, INT64_C(1) << 40, (size_t)1 << 42},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(quant_row_bytes(rows[i].type, rows[i].cols), rows[i].bytes);
    for (int i = 0; i < QUANT_FORMATS; i++) {
        const struct quant_format *format = &quant_formats[i];
        assert_ptr_equal(quant_format(format->type), format);
        assert_int_equal(quant_row_bytes(format->type, 2 * format->block), 2 * format->block_bytes);
    }
    assert_null(quant_format((enum gguf_tensor_type)Q8_K));
    assert_false(quant_is_known((enum gguf_tensor_type)Q8_K));
}

// --- What another program reads ---

// 64 blocks of bytes from the generator below, started with ggml's number of the type, and
// what the Python package gguf 0.19 made of them: a hash over all numbers, and three of them.
// tests/peers/quant_vectors.py prints these rows.
static const struct {
    enum gguf_tensor_type type;
    uint64_t hash;
    struct {
        int index;
        float number;
    } some[3];
} vectors[] = {
    {GGUF_TENSOR_F32,
     0xa7a73bb12d48b4c2,
     {{1, 0x1.291ec4p+55f}, {22, 0x1.0dd0ecp-62f}, {63, 0x1.9477fep+3f}}},
    {GGUF_TENSOR_F16,
     0x733b3a322960facb,
     {{1, 0x1.a94p+9f}, {21, 0x1.ffp+7f}, {63, -0x1.4ecp+11f}}},
    {GGUF_TENSOR_BF16,
     0x09a27cb22b6b18c7,
     {{1, -0x1.cap+52f}, {22, 0x1.22p-82f}, {63, 0x1.4ep+124f}}},
    {GGUF_TENSOR_Q8_0,
     0xbc8d7c47a28e11b0,
     {{1, 0x1.7b56p+14f}, {716, 0x1.0ab4p+0f}, {2047, 0x1.43eep+13f}}},
    {GGUF_TENSOR_Q4_0,
     0xcb2afc800cae9eab,
     {{1, -0x1.0eap+14f}, {721, -0x1.884p-12f}, {2046, -0x1.d6p-1f}}},
    {GGUF_TENSOR_Q4_1,
     0xcb8a8fe803b4b9be,
     {{1, 0x1.a0cp+7f}, {725, 0x1.aa8p+0f}, {2047, -0x1.0c4p+15f}}},
    {GGUF_TENSOR_Q5_0,
     0xec7a618f95c96380,
     {{1, 0x1.094p-10f}, {706, 0x1.45p+13f}, {2047, -0x1.7214p+13f}}},
    {GGUF_TENSOR_Q5_1,
     0xbd5881a804e59d84,
     {{1, -0x1.675a18p+16f}, {661, 0x1.7794p+10f}, {2015, 0x1.352802p+9f}}},
    {GGUF_TENSOR_IQ4_NL,
     0x7478e1f76b80d342,
     {{1, 0x1.7e8p+1f}, {672, 0x1.252p-2f}, {2047, -0x1.31p+7f}}},
    {GGUF_TENSOR_MXFP4,
     0xf1ffccd76d805981,
     {{3, 0x1.0p+8f}, {680, 0x1.0p+127f}, {2047, 0x1.0p+118f}}},
    {GGUF_TENSOR_Q2_K,
     0x384b6d34efef9f18,
     {{1, 0x1.0a001ap+10f}, {5483, 0x1.4108acp+4f}, {16383, 0x1.e3656cp+15f}}},
    {GGUF_TENSOR_Q3_K,
     0x2b67c1976cdeb911,
     {{1, 0x1.4e2p+3f}, {5246, -0x1.2328p-2f}, {16383, 0x1.2e4p+10f}}},
    {GGUF_TENSOR_Q4_K,
     0xaa25fd6bb9cb6c11,
     {{513, 0x1.1457p+23f}, {5971, -0x1.47cp-5f}, {16383, 0x1.7992c6p+11f}}},
    {GGUF_TENSOR_Q5_K,
     0x447d7a6f747e2eae,
     {{1, 0x1.64d5f6p+21f}, {5548, -0x1.5b671p+21f}, {16383, -0x1.2a0ad6p+18f}}},
    {GGUF_TENSOR_Q6_K,
     0x77804c4a4bc5b060,
     {{1, -0x1.dceep+8f}, {5467, -0x1.7a3fp-5f}, {16383, 0x1.2be48p+21f}}},
    {GGUF_TENSOR_IQ4_XS,
     0x4d55bdec531c680a,
     {{1, -0x1.1037d8p+26f}, {5493, -0x1.93a0cp+17f}, {16383, 0x1.160e2p+16f}}},
};
enum { VECTORS = sizeof(vectors) / sizeof(vectors[0]), VECTOR_BLOCKS = 64 };

static void made_bytes(unsigned char *out, uint64_t number, size_t count) {
    for (size_t i = 0; i < count; i++) {
        number = number * 6364136223846793005u + 1442695040888963407u;
        out[i] = (unsigned char)(number >> 56);
    }
}

// FNV-1a over the bits of the numbers, lowest byte first; all NaN are one, and so are zeros.
static uint64_t hash_of(const float *numbers, size_t count) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &numbers[i], sizeof bits);
        bits = isnan(numbers[i]) ? 0x7fc00000 : bits == 0x80000000 ? 0 : bits;
        for (int k = 0; k < 32; k += 8)
            hash = (hash ^ (bits >> k & 255)) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void every_format_is_read_as_the_gguf_package_reads_it(void **state) {
    (void)state;
    for (int v = 0; v < VECTORS; v++) {
        const struct quant_format *format = quant_format(vectors[v].type);
        const char *name = gguf_tensor_type_name(vectors[v].type);
        assert_non_null(format);
        size_t count = (size_t)(VECTOR_BLOCKS * format->block);
        size_t bytes = (size_t)(VECTOR_BLOCKS * format->block_bytes);
        unsigned char *row = malloc(bytes);
        float *numbers = malloc(count * sizeof *numbers);
        assert_true(row && numbers);
        made_bytes(row, (uint64_t)format->type, bytes);
        quant_row_to_float(numbers, format->type, row, count);
        for (int i = 0; i < 3; i++) {
            float got = numbers[vectors[v].some[i].index], wanted = vectors[v].some[i].number;
            if (!(got == wanted))
                fail_msg("%s: number %d is %a, expected %a", name, vectors[v].some[i].index,
                         (double)got, (double)wanted);
        }
        if (hash_of(numbers, count) != vectors[v].hash)
            fail_msg("%s: some of the numbers differ", name);
        free(row);
        free(numbers);
    }
    for (int i = 0; i < QUANT_FORMATS; i++) { // and no format is without a vector
        int v = 0;
        while (v < VECTORS && vectors[v].type != quant_formats[i].type)
            v++;
        assert_true(v < VECTORS);
    }
}

static void a_block_of_zero_bytes_is_zeros(void **state) {
    (void)state;
    const unsigned char block[256] = {0};
    for (int i = 0; i < QUANT_FORMATS; i++) {
        float out[QUANT_LARGE];
        quant_formats[i].decode(out, block);
        for (int k = 0; k < quant_formats[i].block; k++)
            assert_true(out[k] == 0);
    }
}

// --- By hand ---

static void q6_k_has_its_scale_last_and_signed_scales_for_runs(void **state) {
    (void)state;
    unsigned char block[QUANT_Q6_K_BYTES] = {0};
    float out[QUANT_LARGE];
    block[208] = MINUS_QUARTER & 0xff;
    block[209] = MINUS_QUARTER >> 8;
    block[192 + 2] = 0x80;         // run 2 (numbers 32 to 47): -128
    block[192 + 13] = 127;         // run 13: 208 to 223
    block[0 + 32] = 0x0f;          // number 32, low bits
    block[128 + 0] = 3 << 2;       // number 32, top bits: q = 63
    block[64 + 16] = 0x90;         // number 128 + 64 + 16 = 208, low bits: 9
    block[128 + 32 + 16] = 1 << 4; // number 208, top bits: q = 25
    quant_row_to_float(out, GGUF_TENSOR_Q6_K, block, QUANT_LARGE);
    for (int i = 0; i < QUANT_LARGE; i++) {
        float scale = i / 16 == 2 ? 32.0f : i / 16 == 13 ? -31.75f : 0;
        float q = i == 32 ? 31.0f : i == 208 ? -7.0f : -32.0f;
        assert_true(out[i] == scale * q);
    }
}

static void scales_may_be_subnormal_or_infinite(void **state) {
    (void)state;
    unsigned char block[QUANT_Q8_0_BYTES] = {0x01, 0x80}; // -2^-24
    float out[QUANT_BLOCK];
    block[2] = 3;
    quant_row_to_float(out, GGUF_TENSOR_Q8_0, block, QUANT_BLOCK);
    assert_true(out[0] == -0x3p-24f && out[1] == 0);
    block[0] = 0x00;
    block[1] = 0x7c;
    quant_row_to_float(out, GGUF_TENSOR_Q8_0, block, QUANT_BLOCK);
    assert_true(isinf(out[0]) && isnan(out[1]));
}

static void q8_0_is_a_scale_and_32_signed_bytes(void **state) {
    (void)state;
    unsigned char block[2 * QUANT_Q8_0_BYTES] = {0};
    float out[64];
    block[0] = ONE_AND_A_HALF & 0xff;
    block[1] = ONE_AND_A_HALF >> 8;
    block[QUANT_Q8_0_BYTES] = MINUS_QUARTER & 0xff;
    block[QUANT_Q8_0_BYTES + 1] = MINUS_QUARTER >> 8;
    block[2] = 127;
    block[2 + 31] = 0x80; // -128
    block[QUANT_Q8_0_BYTES + 2 + 5] = 0xff;
    quant_row_to_float(out, GGUF_TENSOR_Q8_0, block, 64);
    for (int i = 0; i < 64; i++) {
        float wanted = i == 0 ? 190.5f : i == 31 ? -192.0f : i == 37 ? 0.25f : 0;
        assert_true(out[i] == wanted);
    }
}

static void q4_0_has_the_first_16_numbers_in_the_low_halves(void **state) {
    (void)state;
    unsigned char block[QUANT_Q4_0_BYTES];
    float out[32];
    block[0] = ONE_AND_A_HALF & 0xff;
    block[1] = ONE_AND_A_HALF >> 8;
    for (int i = 0; i < 16; i++)
        block[2 + i] = (unsigned char)(i | (15 - i) << 4);
    quant_row_to_float(out, GGUF_TENSOR_Q4_0, block, 32);
    for (int i = 0; i < 16; i++) {
        assert_true(out[i] == 1.5f * (float)(i - 8));
        assert_true(out[16 + i] == 1.5f * (float)(7 - i));
    }
}

static void a_row_may_start_at_any_byte(void **state) {
    (void)state;
    const unsigned char bytes[1 + 2 * 3] = {0xff, 0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00};
    float out[4] = {9, 9, 9, 9};
    quant_row_to_float(out, GGUF_TENSOR_F16, bytes + 1, 3);
    assert_true(out[0] == 1 && out[1] == -2 && out[2] == 0x1p-24f && out[3] == 9);
}

static void bf16_is_the_upper_half_of_a_float(void **state) {
    (void)state;
    const unsigned char row[] = {0x80, 0x3f, 0x00, 0xc0, 0x01, 0x3f};
    float out[3];
    quant_row_to_float(out, GGUF_TENSOR_BF16, row, 3);
    assert_true(out[0] == 1 && out[1] == -2 && out[2] == 0.50390625f);
    unsigned char back[6];
    quant_row_from_float(back, GGUF_TENSOR_BF16, out, 3);
    assert_memory_equal(back, row, 6);
}

// The largest difference in steps of the block's largest magnitude.
static double worst_step(enum gguf_tensor_type type, const float *in, const float *out) {
    double most = 0, worst = 0;
    for (int i = 0; i < QUANT_BLOCK; i++)
        most = fmax(most, fabs((double)in[i]));
    for (int i = 0; i < QUANT_BLOCK; i++)
        worst = fmax(worst, fabs((double)in[i] - (double)out[i]));
    return most > 0 ? worst / (most / (type == GGUF_TENSOR_Q8_0 ? 127 : 8)) : worst;
}

static void quantising_stays_within_half_a_step(void **state) {
    (void)state;
    for (int n = 0; n < 2000; n++) {
        float in[QUANT_BLOCK], out[QUANT_BLOCK];
        unsigned char block[QUANT_Q8_0_BYTES];
        float size = powf(10, 1 + 2 * random_float()); // scales stay normal halves
        for (int i = 0; i < QUANT_BLOCK; i++)
            in[i] = size * random_float();
        quant_row_from_float(block, GGUF_TENSOR_Q8_0, in, QUANT_BLOCK);
        quant_row_to_float(out, GGUF_TENSOR_Q8_0, block, QUANT_BLOCK);
        // The scale itself is rounded to an f16: 127 steps drift by up to 127 / 2048.
        assert_true(worst_step(GGUF_TENSOR_Q8_0, in, out) <= 0.5 + 127.0 / 2048 + 1e-3);
        quant_row_from_float(block, GGUF_TENSOR_Q4_0, in, QUANT_BLOCK);
        quant_row_to_float(out, GGUF_TENSOR_Q4_0, block, QUANT_BLOCK);
        // The other sign has 7 steps only, so its largest can be a whole one away.
        assert_true(worst_step(GGUF_TENSOR_Q4_0, in, out) <= 1 + 8.0 / 2048 + 1e-3);
    }
}

// A group's step is at most 2/15 of the largest magnitude; scale and least are each rounded
// to a 63rd of the block's largest, of which 15 steps of scale count.
static void q4_k_stays_within_a_step(void **state) {
    (void)state;
    for (int n = 0; n < 500; n++) {
        float in[QUANT_LARGE], out[QUANT_LARGE];
        unsigned char block[QUANT_Q4_K_BYTES];
        float size = powf(10, 1 + 2 * random_float());
        for (int i = 0; i < QUANT_LARGE; i++)
            in[i] = size * random_float();
        quant_row_from_float(block, GGUF_TENSOR_Q4_K, in, QUANT_LARGE);
        quant_row_to_float(out, GGUF_TENSOR_Q4_K, block, QUANT_LARGE);
        for (int i = 0; i < QUANT_LARGE; i++)
            assert_true(fabsf(in[i] - out[i]) <=
                        size * (0.5f * 2 / 15 + 0.5f * 2 / 63 + 0.5f / 63 + 2e-3f));
    }
}

static void the_largest_number_of_a_q4_0_block_is_kept_with_its_sign(void **state) {
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        float in[QUANT_BLOCK] = {0}, out[QUANT_BLOCK];
        unsigned char block[QUANT_Q4_0_BYTES];
        in[9] = 4.0f * (float)sign;
        in[20] = -4.0f * (float)sign; // the first one of equals wins
        quant_row_from_float(block, GGUF_TENSOR_Q4_0, in, QUANT_BLOCK);
        quant_row_to_float(out, GGUF_TENSOR_Q4_0, block, QUANT_BLOCK);
        assert_true(out[9] == 4.0f * (float)sign);
        assert_true(out[20] == -3.5f * (float)sign);
        assert_true(out[0] == 0);
    }
}

static void zeros_stay_zeros(void **state) {
    (void)state;
    const float in[QUANT_LARGE] = {0};
    for (int t = 0; t < TYPES; t++) {
        unsigned char row[QUANT_LARGE * 4];
        float out[QUANT_LARGE];
        quant_row_from_float(row, types[t], in, QUANT_LARGE);
        quant_row_to_float(out, types[t], row, QUANT_LARGE);
        for (int i = 0; i < QUANT_LARGE; i++)
            assert_true(out[i] == 0 && !signbit(out[i]));
    }
}

// Quantising what came out of a block gives the block again.
static void a_quantised_row_is_stable(void **state) {
    (void)state;
    for (int n = 0; n < 200; n++) {
        float in[QUANT_LARGE], once[QUANT_LARGE], twice[QUANT_LARGE];
        unsigned char row[QUANT_LARGE * 4];
        for (int i = 0; i < QUANT_LARGE; i++)
            in[i] = random_float();
        for (int t = 0; t < TYPES; t++) {
            quant_row_from_float(row, types[t], in, QUANT_LARGE);
            quant_row_to_float(once, types[t], row, QUANT_LARGE);
            quant_row_from_float(row, types[t], once, QUANT_LARGE);
            quant_row_to_float(twice, types[t], row, QUANT_LARGE);
            // Q4_K may choose another of 64 scales then: a step of 1/63 of 2 / 15.
            double slack = types[t] == GGUF_TENSOR_Q4_K ? 0.14 : 0;
            for (int i = 0; i < QUANT_LARGE; i++)
                assert_true(fabs((double)once[i] - (double)twice[i]) <=
                            1e-3 * fabs((double)once[i]) + slack);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_the_bytes_its_blocks_have),
        cmocka_unit_test(every_format_is_read_as_the_gguf_package_reads_it),
        cmocka_unit_test(a_block_of_zero_bytes_is_zeros),
        cmocka_unit_test(q6_k_has_its_scale_last_and_signed_scales_for_runs),
        cmocka_unit_test(scales_may_be_subnormal_or_infinite),
        cmocka_unit_test(q8_0_is_a_scale_and_32_signed_bytes),
        cmocka_unit_test(q4_0_has_the_first_16_numbers_in_the_low_halves),
        cmocka_unit_test(a_row_may_start_at_any_byte),
        cmocka_unit_test(bf16_is_the_upper_half_of_a_float),
        cmocka_unit_test(quantising_stays_within_half_a_step),
        cmocka_unit_test(q4_k_stays_within_a_step),
        cmocka_unit_test(the_largest_number_of_a_q4_0_block_is_kept_with_its_sign),
        cmocka_unit_test(zeros_stay_zeros),
        cmocka_unit_test(a_quantised_row_is_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
