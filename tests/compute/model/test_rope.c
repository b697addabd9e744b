// Tests of rope.h: speeds worked out another way, in closed form or by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/model/rope.h"

#include <math.h>

static void assert_close(double got, double wanted) {
    if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.12g instead of %.12g", got, wanted);
}

static void plain_speeds_fall_by_equal_factors(void **state) {
    (void)state;
    double speeds[4];
    struct rope rope = {.rotary = 8, .base = 10000};
    assert_close(rope_speeds(speeds, &rope, 100), 1);
    for (int i = 0; i < 4; i++)
        assert_close(speeds[i], 1 / (i == 0 ? 1 : i == 1 ? 10 : i == 2 ? 100.0 : 1000));
    const float factors[] = {1, 2, 4, 8};
    rope.factors = factors;
    rope_speeds(speeds, &rope, 100);
    assert_close(speeds[3], 1.0 / 8000);
}

static void linear_scaling_slows_every_pair_alike(void **state) {
    (void)state;
    double speeds[4];
    struct rope_scaling scaling = {.kind = ROPE_LINEAR, .stretch = 4, .growth = 1};
    struct rope rope = {.rotary = 8, .base = 10000, .scaling = &scaling};
    assert_close(rope_speeds(speeds, &rope, 100), 1);
    for (int i = 0; i < 4; i++)
        assert_close(speeds[i], pow(10, -i) / 4);
}

// In a context of 2010 pair i turns 319.9 / 10^i times: 32 turns lie just before pair 1 and one
// turn behind pair 2, so that the ramp goes from pair 0 to pair 3.
static void yarn_keeps_fast_pairs_and_stretches_slow_ones(void **state) {
    (void)state;
    double speeds[4];
    struct rope_scaling scaling = {.kind = ROPE_YARN,
                                   .stretch = 4,
                                   .original_context = 2010,
                                   .fast = 32,
                                   .slow = 1,
                                   .growth = 1};
    struct rope rope = {.rotary = 8, .base = 10000, .scaling = &scaling};
    double growth = rope_speeds(speeds, &rope, 8000);
    assert_close(growth, 1 + 0.1 * log(4));
    assert_close(speeds[0], 1);
    assert_close(speeds[1], 0.1 * (2 + 1 / 4.0) / 3);
    assert_close(speeds[2], 0.01 * (1 + 2 / 4.0) / 3);
    assert_close(speeds[3], 0.001 / 4);
    scaling.growth = 2;
    assert_close(rope_speeds(speeds, &rope, 8000), 2 * (1 + 0.1 * log(4)));
}

static void long_factors_count_beyond_the_original_context(void **state) {
    (void)state;
    double speeds[2];
    const float near_factors[] = {1, 2}, far_factors[] = {3, 6};
    struct rope_scaling scaling = {
        .kind = ROPE_LONG, .original_context = 4096, .growth = 1.25F, .long_factors = far_factors};
    struct rope rope = {.rotary = 4, .base = 100, .scaling = &scaling, .factors = near_factors};
    assert_close(rope_speeds(speeds, &rope, 4096), 1.25);
    assert_close(speeds[1], 0.1 / 2);
    rope_speeds(speeds, &rope, 4097);
    assert_close(speeds[0], 1.0 / 3);
    assert_close(speeds[1], 0.1 / 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_speeds_fall_by_equal_factors),
        cmocka_unit_test(linear_scaling_slows_every_pair_alike),
        cmocka_unit_test(yarn_keeps_fast_pairs_and_stretches_slow_ones),
        cmocka_unit_test(long_factors_count_beyond_the_original_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
