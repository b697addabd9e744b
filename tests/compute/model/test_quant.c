// Tests of the block formats: bytes written by hand from the formats' description,
// quantising and back within half a step, and what must be the same on any device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/compute/model/quant_rows.h"

#include <math.h>
#include <string.h>

enum { ONE_AND_A_HALF = 0x3e00, MINUS_QUARTER = 0xb400 }; // as f16

static const enum gguf_tensor_type types[] = {
    GGUF_TENSOR_F32, GGUF_TENSOR_F16, GGUF_TENSOR_BF16, GGUF_TENSOR_Q8_0, GGUF_TENSOR_Q4_0,
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
        {(enum gguf_tensor_type)14, 256, 0},
        // Beyond 32 bits.
        {GGUF_TENSOR_F32, INT64_C(1) << 40, (size_t)1 << 42},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(quant_row_bytes(rows[i].type, rows[i].cols), rows[i].bytes);
    for (int t = 0; t < TYPES; t++)
        assert_true(quant_is_known(types[t]));
    assert_false(quant_is_known((enum gguf_tensor_type)14));
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
    const float in[QUANT_BLOCK] = {0};
    for (int t = 0; t < TYPES; t++) {
        unsigned char row[QUANT_BLOCK * 4];
        float out[QUANT_BLOCK];
        quant_row_from_float(row, types[t], in, QUANT_BLOCK);
        quant_row_to_float(out, types[t], row, QUANT_BLOCK);
        for (int i = 0; i < QUANT_BLOCK; i++)
            assert_true(out[i] == 0 && !signbit(out[i]));
    }
}

// Quantising what came out of a block gives the block again.
static void a_quantised_row_is_stable(void **state) {
    (void)state;
    for (int n = 0; n < 200; n++) {
        float in[QUANT_BLOCK], once[QUANT_BLOCK], twice[QUANT_BLOCK];
        unsigned char row[QUANT_BLOCK * 4];
        for (int i = 0; i < QUANT_BLOCK; i++)
            in[i] = random_float();
        for (int t = 0; t < TYPES; t++) {
            quant_row_from_float(row, types[t], in, QUANT_BLOCK);
            quant_row_to_float(once, types[t], row, QUANT_BLOCK);
            quant_row_from_float(row, types[t], once, QUANT_BLOCK);
            quant_row_to_float(twice, types[t], row, QUANT_BLOCK);
            for (int i = 0; i < QUANT_BLOCK; i++)
                assert_true(fabs((double)once[i] - (double)twice[i]) <=
                            1e-3 * fabs((double)once[i]));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_the_bytes_its_blocks_have),
        cmocka_unit_test(q8_0_is_a_scale_and_32_signed_bytes),
        cmocka_unit_test(q4_0_has_the_first_16_numbers_in_the_low_halves),
        cmocka_unit_test(bf16_is_the_upper_half_of_a_float),
        cmocka_unit_test(quantising_stays_within_half_a_step),
        cmocka_unit_test(the_largest_number_of_a_q4_0_block_is_kept_with_its_sign),
        cmocka_unit_test(zeros_stay_zeros),
        cmocka_unit_test(a_quantised_row_is_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
