// The playhead: moments are formulas of an anchor, nothing ever jumps, and a
// recording's frames are the exact moments of their numbers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/state/playhead.h"

static uint64_t random_state = 1;

static int64_t random_below(int64_t bound) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 20) % (uint64_t)bound);
}

static struct playhead replay(struct playhead_rate rate) {
    return (struct playhead){.rate = rate, .first_ns = -1000, .last_ns = INT64_C(1) << 50};
}

static void a_moment_is_anchor_plus_rate_times_wall(void **state) {
    (void)state;
    struct playhead p = replay((struct playhead_rate){1, 200});
    p = playhead_seek(p, 5000000000, 100);
    assert_int_equal(playhead_at(&p, 5000000000), 100);
    assert_int_equal(playhead_at(&p, 5000000000 + 2000), 110);
    assert_int_equal(playhead_at(&p, 5000000000 + 1000000000), 100 + 5000000);
}

static void a_moment_stays_within_its_bounds(void **state) {
    (void)state;
    struct playhead p = replay((struct playhead_rate){1000, 1});
    p.last_ns = 777;
    assert_int_equal(playhead_at(&p, INT64_MAX / 2), 777);
    p = playhead_seek(p, 0, INT64_MIN);
    assert_int_equal(playhead_at(&p, 0), -1000);
    assert_true(playhead_is_at_end(&p, INT64_MAX / 2));
    assert_false(playhead_is_at_end(&p, 0));
}

static void a_stall_and_a_clock_that_goes_back_move_nothing(void **state) {
    (void)state;
    enum { FRAME_NS = 33000000 };
    const int64_t hour_ns = INT64_C(3600000000000);
    struct playhead p = replay((struct playhead_rate){1, 1});
    int64_t wall_ns = hour_ns;
    p = playhead_seek(p, wall_ns, 0);
    static const struct {
        int64_t gap_ns, most_ns, moved_ns;
    } looks[] = {
        {20, FRAME_NS, 20},
        {FRAME_NS, FRAME_NS, FRAME_NS},
        {FRAME_NS + 1, FRAME_NS, FRAME_NS},
        {INT64_C(3600000000000), FRAME_NS, FRAME_NS}, // the process was stopped
        {5000, 0, 0},                                 // nobody could see it
        {-INT64_C(7200000000000), FRAME_NS, 0},
        {1000, FRAME_NS, 1000},
    };
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        int64_t before_ns = playhead_at(&p, wall_ns);
        p = playhead_look(p, wall_ns, wall_ns + looks[i].gap_ns, looks[i].most_ns);
        wall_ns += looks[i].gap_ns;
        assert_int_equal(playhead_at(&p, wall_ns), before_ns + looks[i].moved_ns);
    }
}

static void no_change_makes_the_moment_jump(void **state) {
    (void)state;
    struct playhead p = replay((struct playhead_rate){1, 50});
    int64_t wall_ns = 12345;
    for (int i = 0; i < 20000; i++) {
        wall_ns += random_below(30000000);
        int64_t before_ns = playhead_at(&p, wall_ns);
        int what = (int)random_below(4);
        if (what == 0)
            p = playhead_pause(p, wall_ns, !p.is_paused);
        else if (what == 1)
            p = playhead_set_rate(p, wall_ns, playhead_rate_step(p.rate, random_below(2) ? 1 : -1));
        else if (what == 2)
            p = playhead_set_bounds(p, wall_ns, p.first_ns, p.last_ns + random_below(1000));
        assert_int_equal(playhead_at(&p, wall_ns), before_ns);
    }
}

static void pause_stands_still(void **state) {
    (void)state;
    struct playhead p = playhead_pause(replay((struct playhead_rate){1, 1}), 1000, true);
    assert_int_equal(playhead_at(&p, 1000), playhead_at(&p, 999999999));
}

static void rates_are_on_the_1_2_5_ladder(void **state) {
    (void)state;
    static const struct {
        int64_t run_ns;
        int32_t num, den;
    } cases[] = {
        {247000000, 1, 100}, {4100000000, 1, 5},       {20000000000, 1, 1},
        {6000000, 1, 5000},  {1000000000000, 50, 1},   {1, 1, 1000000},
        {0, 1, 1000000},     {INT64_MAX / 4, 1000, 1}, {100000000, 1, 200},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct playhead_rate rate = playhead_rate_for(cases[i].run_ns);
        assert_int_equal(rate.num, cases[i].num);
        assert_int_equal(rate.den, cases[i].den);
    }
}

static void steps_on_the_ladder_go_up_and_down_and_end(void **state) {
    (void)state;
    struct playhead_rate rate = {1, 1};
    rate = playhead_rate_step(rate, -1);
    assert_int_equal(rate.den, 2);
    rate = playhead_rate_step(rate, -1);
    assert_int_equal(rate.den, 5);
    rate = playhead_rate_step(playhead_rate_step(rate, 1), 1);
    assert_true(playhead_rate_is_real_time(rate));
    rate = playhead_rate_step((struct playhead_rate){1, 37}, 1);
    assert_int_equal(rate.den, 20);
    rate = playhead_rate_step((struct playhead_rate){1, 37}, -1);
    assert_int_equal(rate.den, 50);
    for (int i = 0; i < 100; i++)
        rate = playhead_rate_step(rate, 1);
    assert_int_equal(rate.num, 1000);
    for (int i = 0; i < 100; i++)
        rate = playhead_rate_step(rate, -1);
    assert_int_equal(rate.den, 1000000);
}

static void frames_are_exact_and_do_not_drift(void **state) {
    (void)state;
    struct playhead_rate real = {1, 1}, slow = {1, 100};
    assert_int_equal(playhead_frame_ns(real, 0, 60, 60, 1), 1000000000);
    assert_int_equal(playhead_frame_ns(real, -5, 3600, 60, 1), 60000000000 - 5);
    assert_int_equal(playhead_frame_ns(real, 0, 30000, 30000, 1001), 1001000000000);
    assert_int_equal(playhead_frame_ns(slow, 0, 60, 60, 1), 10000000);
    assert_int_equal(playhead_frame_count(real, 0, 1000000000, 60, 1), 61);
    assert_int_equal(playhead_frame_count(slow, 0, 247000000, 60, 1), 1483);
    assert_int_equal(playhead_frame_count(real, 10, 9, 60, 1), 0);
    for (int64_t n = 1; n < 5000; n++) {
        int64_t gap_ns = playhead_frame_ns(slow, -7, n, 30000, 1001) -
                         playhead_frame_ns(slow, -7, n - 1, 30000, 1001);
        assert_in_range(gap_ns, 333666, 333667);
    }
}

static void screen_time_and_run_time_are_inverse(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct playhead_rate rate = {1, (int32_t)(1 + random_below(100000))};
        int64_t run_ns = random_below(INT64_C(1) << 40);
        assert_int_equal(playhead_run_ns(rate, playhead_screen_ns(rate, run_ns)), run_ns);
    }
}

// Away from zero at a half; the other way around, half a rate's numerator is the most lost.
static void screen_time_is_rounded_to_the_nearest_at_any_speed(void **state) {
    (void)state;
    static const struct {
        int32_t num, den;
        int64_t run_ns, screen_ns;
    } cases[] = {
        {2, 1, 2, 1},
        {2, 1, 3, 2},
        {2, 1, -3, -2},
        {5, 1, 7, 1},
        {5, 1, 8, 2},
        {5, 1, -7, -1},
        {5, 1, -8, -2},
        {1000, 1, 499, 0},
        {1000, 1, 500, 1},
        {1000, 1, 1499, 1},
        {3, 2, 1, 1},
        {3, 2, 2, 1},
        {1000, 1, -499, 0},
        {1000, 1, -500, -1},
        {7, 3, 1, 0},
        {7, 3, 2, 1},
        {2, 1, INT64_MAX, INT64_C(1) << 62},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct playhead_rate rate = {cases[i].num, cases[i].den};
        assert_int_equal(playhead_screen_ns(rate, cases[i].run_ns), cases[i].screen_ns);
    }
    for (int i = 0; i < 2000; i++) {
        struct playhead_rate rate = {(int32_t)(2 + random_below(999)),
                                     (int32_t)(1 + random_below(1000))};
        int64_t run_ns = random_below(INT64_C(1) << 40) - (INT64_C(1) << 39);
        int64_t off = playhead_screen_ns(rate, run_ns) * rate.num - run_ns * rate.den;
        assert_true(2 * (off < 0 ? -off : off) <= rate.num);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_is_anchor_plus_rate_times_wall),
        cmocka_unit_test(a_moment_stays_within_its_bounds),
        cmocka_unit_test(a_stall_and_a_clock_that_goes_back_move_nothing),
        cmocka_unit_test(no_change_makes_the_moment_jump),
        cmocka_unit_test(pause_stands_still),
        cmocka_unit_test(rates_are_on_the_1_2_5_ladder),
        cmocka_unit_test(steps_on_the_ladder_go_up_and_down_and_end),
        cmocka_unit_test(frames_are_exact_and_do_not_drift),
        cmocka_unit_test(screen_time_and_run_time_are_inverse),
        cmocka_unit_test(screen_time_is_rounded_to_the_nearest_at_any_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
