// Bounds and parts per million, at their ends above all.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/num.h"

#include <limits.h>

static void the_smaller_and_the_larger_are_told_apart_at_the_ends(void **state) {
    (void)state;
    assert_int_equal(min_int(INT_MIN, INT_MAX), INT_MIN);
    assert_int_equal(max_int(INT_MIN, INT_MAX), INT_MAX);
    assert_int_equal(min_int(3, -2), -2);
    assert_int_equal(max_int(3, -2), 3);
    assert_true(min_i64(INT64_MIN, INT64_MAX) == INT64_MIN);
    assert_true(max_i64(INT64_MIN, INT64_MAX) == INT64_MAX);
    assert_true(min_i64(INT64_C(5000000001), INT64_C(5000000000)) == INT64_C(5000000000));
    assert_true(max_i64(INT64_C(5000000000), INT64_C(5000000001)) == INT64_C(5000000001));
}

static void a_clamped_value_is_within_and_low_wins_where_there_is_no_room(void **state) {
    (void)state;
    static const int cases[][4] = {
        // value, low, high, clamped
        {5, 1, 9, 5},     {0, 1, 9, 1}, {10, 1, 9, 9}, {1, 1, 9, 1},  {9, 1, 9, 9},
        {-7, -5, -5, -5}, {0, 9, 1, 9}, {5, 9, 1, 9},  {20, 9, 1, 9}, {INT_MAX, INT_MIN, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int *of = cases[i];
        assert_int_equal(clamp_int(of[0], of[1], of[2]), of[3]);
        assert_true(clamp_i64(of[0], of[1], of[2]) == of[3]);
    }
    assert_true(clamp_i64(INT64_MAX, 0, INT64_C(5000000000)) == INT64_C(5000000000));
    assert_true(clamp_double(0.5, 0.25, 0.75) == 0.5);
    assert_true(clamp_double(-1, 0.25, 0.75) == 0.25);
    assert_true(clamp_double(1, 0.25, 0.75) == 0.75);
}

static void parts_per_million_never_leave_the_whole(void **state) {
    (void)state;
    assert_int_equal(clamp_ppm(-1), 0);
    assert_int_equal(clamp_ppm(WHOLE_PPM + 1), WHOLE_PPM);
    assert_int_equal(clamp_ppm(INT64_MAX), WHOLE_PPM);
    assert_int_equal(clamp_ppm(INT64_MIN), 0);
    assert_int_equal(clamp_ppm(250000), 250000);

    static const struct {
        int64_t part, whole;
        int ppm;
    } cases[] = {
        {1, 2, 500000},
        {2, 3, 666666}, // down
        {0, 5, 0},
        {-3, 5, 0},
        {3, 0, 0},
        {3, -5, 0},
        {5, 5, WHOLE_PPM},
        {6, 5, WHOLE_PPM},
        {INT64_MAX / 4, INT64_MAX, 250000},
        {INT64_MAX - 1, INT64_MAX, WHOLE_PPM}, // its digits are given up
        {INT64_MAX / WHOLE_PPM - 1, INT64_MAX / WHOLE_PPM, 999999},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (ppm_of(cases[i].part, cases[i].whole) != cases[i].ppm)
            fail_msg("case %zu: %d", i, ppm_of(cases[i].part, cases[i].whole));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smaller_and_the_larger_are_told_apart_at_the_ends),
        cmocka_unit_test(a_clamped_value_is_within_and_low_wins_where_there_is_no_room),
        cmocka_unit_test(parts_per_million_never_leave_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
