// Lengths of prompts and answers: the slider's way there and back, and the ladder of steps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/state/lengths.h"
#include "compute/base/num.h"
#include "compute/run/run.h"

static void every_length_comes_back_from_its_place_on_the_way(void **state) {
    (void)state;
    static const int longest[] = {1, 2, 3, 7, 100, 512, 1024, 4096, 32768};
    for (size_t i = 0; i < sizeof longest / sizeof longest[0]; i++) {
        for (int length = 1; length <= longest[i]; length++)
            assert_int_equal(length_of_ppm(length_ppm(length, longest[i]), longest[i]), length);
        assert_int_equal(length_of_ppm(0, longest[i]), 1);
        assert_int_equal(length_of_ppm(WHOLE_PPM, longest[i]), longest[i]);
        assert_int_equal(length_of_ppm(-1, longest[i]), 1);
        assert_int_equal(length_of_ppm(WHOLE_PPM + 1, longest[i]), longest[i]);
        assert_int_equal(length_ppm(longest[i] + 1, longest[i]), longest[i] > 1 ? WHOLE_PPM : 0);
    }
    for (int length = 1; length <= RUN_MAX_TOKENS; length += 7)
        assert_in_range(
            length_of_ppm(length_ppm(length, RUN_MAX_TOKENS), RUN_MAX_TOKENS) - length + 1, 0, 2);
}

static void the_way_never_goes_back(void **state) {
    (void)state;
    int last = 1;
    for (int ppm = 0; ppm <= WHOLE_PPM; ppm += 97) {
        int length = length_of_ppm(ppm, 8192);
        assert_true(length >= last);
        last = length;
    }
    assert_int_equal(length_of_ppm(WHOLE_PPM / 2, 1024), 32); // half of the octaves
}

static void steps_go_by_half_octaves_and_end_at_the_longest(void **state) {
    (void)state;
    static const int rungs[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 100};
    enum { COUNT = sizeof rungs / sizeof rungs[0] };
    for (int i = 0; i + 1 < COUNT; i++) {
        assert_int_equal(length_step(rungs[i], 1, 100), rungs[i + 1]);
        assert_int_equal(length_step(rungs[i + 1], -1, 100), rungs[i]);
        for (int between = rungs[i] + 1; between < rungs[i + 1]; between++) {
            assert_int_equal(length_step(between, 1, 100), rungs[i + 1]);
            assert_int_equal(length_step(between, -1, 100), rungs[i]);
        }
    }
    assert_int_equal(length_step(100, 1, 100), 100);
    assert_int_equal(length_step(5000, 1, 100), 100);
    assert_int_equal(length_step(1, -1, 100), 1);
    assert_int_equal(length_step(-4, -1, 100), 1);
    assert_int_equal(length_step(5, 0, 100), 5);
    assert_int_equal(length_step(1, 1, 1), 1);
    assert_int_equal(length_step(3, 1, 0), 1);
    assert_int_equal(length_step(RUN_MAX_TOKENS - 1, 1, INT32_MAX), RUN_MAX_TOKENS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_comes_back_from_its_place_on_the_way),
        cmocka_unit_test(the_way_never_goes_back),
        cmocka_unit_test(steps_go_by_half_octaves_and_end_at_the_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
