// The hash of the pictures' data: what differs, differs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/data/mix.h"

static void texts_keep_their_borders(void **state) {
    (void)state;
    uint64_t one = mix_text(mix_text(1, "a", 8), "b", 8);
    uint64_t other = mix_text(mix_text(1, "ab", 8), "", 8);
    assert_true(one != other);
    // What lies behind the NUL, or behind the capacity, does not count.
    assert_true(mix_text(1, "ab\0x", 8) == mix_text(1, "ab\0y", 8));
    assert_true(mix_text(1, "abc", 2) == mix_text(1, "abd", 2));
}

static void numbers_that_differ_in_any_bit_differ(void **state) {
    (void)state;
    for (int bit = 0; bit < 63; bit++)
        assert_true(mix_int(7, INT64_C(1) << bit) != mix_int(7, 0));
    assert_true(mix_int(7, -1) != mix_int(7, 1));
    assert_true(mix_int(mix_int(7, 1), 2) != mix_int(mix_int(7, 2), 1));
}

static void reals_that_differ_little_differ(void **state) {
    (void)state;
    double value = 1.0;
    for (int i = 0; i < 50; i++, value *= 3.7) {
        assert_true(mix_real(7, value) != mix_real(7, value * (1 + 1e-15)));
        assert_true((uint32_t)mix_real(7, value) != (uint32_t)mix_real(7, value * 2));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_keep_their_borders),
        cmocka_unit_test(numbers_that_differ_in_any_bit_differ),
        cmocka_unit_test(reals_that_differ_little_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
