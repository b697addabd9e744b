// Tests of half.h. All 65,536 halves against arithmetic in double, and rounding
// against a search for the nearest half, so that no bit trick is tested by the
// same bit trick.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/compute/gguf/quant_rows.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { HALVES = 1 << 16, HALF_INFINITY = 0x7c00 };

// The value of a half as its definition says.
static double defined_value(uint16_t half) {
    int exponent = (half >> 10) & 31, fraction = half & 1023;
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31)
        size = fraction ? (double)NAN : (double)INFINITY;
    return half & 0x8000 ? -size : size;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void every_half_has_its_defined_value(void **state) {
    (void)state;
    for (int i = 0; i < HALVES; i++) {
        float value = half_to_float((uint16_t)i);
        double wanted = defined_value((uint16_t)i);
        assert_true(isnan(wanted) ? isnan(value) : (double)value == wanted);
        assert_int_equal(signbit(value) != 0, i >= 0x8000);
        if (isnan(wanted)) // sign and payload kept, quiet
            assert_int_equal(bits_of(value), ((uint32_t)i & 0x8000) << 16 | 0x7fc00000 |
                                                 ((uint32_t)i & 0x3ff) << 13);
    }
}

static void every_half_comes_back_from_its_float(void **state) {
    (void)state;
    for (int i = 0; i < HALVES; i++) {
        uint16_t back = half_from_float(half_to_float((uint16_t)i));
        int quiet = isnan(defined_value((uint16_t)i)) ? i | 0x200 : i;
        assert_int_equal(back, quiet);
    }
}

// Between two neighbours: below the middle, the middle (to the even one), above it.
static void floats_round_to_the_nearest_half_and_ties_to_even(void **state) {
    (void)state;
    for (int i = 0; i < HALF_INFINITY; i++) {
        double low = defined_value((uint16_t)i);
        double high = i + 1 == HALF_INFINITY ? 65536.0 : defined_value((uint16_t)(i + 1));
        float middle = (float)((low + high) / 2);
        assert_true((double)middle == (low + high) / 2); // floats hold every middle
        assert_int_equal(half_from_float(nextafterf(middle, 0.0F)), i);
        assert_int_equal(half_from_float(middle), i % 2 ? i + 1 : i);
        assert_int_equal(half_from_float(nextafterf(middle, INFINITY)), i + 1);
        assert_int_equal(half_from_float(-middle), (i % 2 ? i + 1 : i) | 0x8000);
    }
}

static void what_a_half_cannot_hold_becomes_infinity_zero_or_nan(void **state) {
    (void)state;
    static const struct {
        float value;
        uint16_t half;
    } cases[] = {
        {65519.996F, 0x7bff}, {65520.0F, 0x7c00},  {98304.0F, 0x7c00},  {1e30F, 0x7c00},
        {-1e30F, 0xfc00},     {INFINITY, 0x7c00},  {-INFINITY, 0xfc00}, {1e-30F, 0x0000},
        {-1e-30F, 0x8000},    {0x1p-149F, 0x0000}, {0x1p-25F, 0x0000},  {0x1.8p-25F, 0x0001},
        {-0.0F, 0x8000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(half_from_float(cases[i].value), cases[i].half);

    // A NaN whose payload lies only in bits that are cut must not become infinity.
    uint32_t bits = 0x7f800001;
    float value;
    memcpy(&value, &bits, sizeof value);
    assert_true(isnan(half_to_float(half_from_float(value))));
}

static void bf16_is_the_upper_half_of_a_float(void **state) {
    (void)state;
    for (uint32_t i = 0; i < HALVES; i++) {
        float value = half_bf16_to_float((uint16_t)i);
        assert_int_equal(bits_of(value), i << 16);
        bool nan = (i & 0x7fff) > 0x7f80;
        assert_int_equal(half_bf16_from_float(value), nan ? i | 0x40 : i);
    }
}

static void bf16_rounds_to_the_nearest_and_ties_to_even(void **state) {
    (void)state;
    static const struct {
        uint32_t bits;
        uint16_t bf16;
    } cases[] = {
        {0x3f800000, 0x3f80}, {0x3f807fff, 0x3f80}, {0x3f808000, 0x3f80}, {0x3f808001, 0x3f81},
        {0x3f818000, 0x3f82}, {0x3f817fff, 0x3f81}, {0xbf818000, 0xbf82}, {0x7f7fffff, 0x7f80},
        {0x7f800000, 0x7f80}, {0xff800000, 0xff80}, {0x7f800001, 0x7fc0}, {0xffffffff, 0xffff},
        {0x00008001, 0x0001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float value;
        memcpy(&value, &cases[i].bits, sizeof value);
        assert_int_equal(half_bf16_from_float(value), cases[i].bf16);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_has_its_defined_value),
        cmocka_unit_test(every_half_comes_back_from_its_float),
        cmocka_unit_test(floats_round_to_the_nearest_half_and_ties_to_even),
        cmocka_unit_test(what_a_half_cannot_hold_becomes_infinity_zero_or_nan),
        cmocka_unit_test(bf16_is_the_upper_half_of_a_float),
        cmocka_unit_test(bf16_rounds_to_the_nearest_and_ties_to_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
