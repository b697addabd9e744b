// A run's times and device in words.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/run/words.h"

#include <string.h>

static void lessons_count_in_units_unless_these_are_milliseconds(void **state) {
    (void)state;
    struct run_info measured = {.origin = RUN_MEASURED, .unit = "units", .unit_ns = 1000000};
    struct run_info units = {.origin = RUN_LESSON, .unit = "units", .unit_ns = 1000000};
    struct run_info ms = {.origin = RUN_LESSON, .unit = "ms", .unit_ns = 1000000};
    assert_string_equal(run_time_on(&measured, 97400000, 247000000).text, "97 ms");
    assert_string_equal(run_time_on(&units, 97400000, 247000000).text, "97 units");
    assert_string_equal(run_time_on(&units, 1400000, 2000000).text, "1.4 units");
    assert_string_equal(run_time_on(&ms, 97400000, 247000000).text, "97 ms");
    assert_string_equal(run_time(&measured, 97400000).text, "97.4 ms");
    assert_string_equal(run_time(&units, -1).text, SIGN_DASH);
    assert_false(run_counts_units(&measured));
    assert_true(run_counts_units(&units));
    assert_false(run_counts_units(&ms));
}

static void the_beginning_is_zero_in_the_runs_own_words(void **state) {
    (void)state;
    struct run_info measured = {.origin = RUN_MEASURED};
    struct run_info units = {.origin = RUN_LESSON, .unit = "units", .unit_ns = 1000000};
    struct run_info ms = {.origin = RUN_LESSON, .unit = "ms", .unit_ns = 1000000};
    assert_string_equal(run_time(&measured, 0).text, "0 ms");
    assert_string_equal(run_time(&units, 0).text, "0 units");
    assert_string_equal(run_time(&ms, 0).text, "0 ms");
}

static void a_device_is_a_processor_with_threads_or_a_cards_name(void **state) {
    (void)state;
    struct run_info info = {.device = "cpu", .device_name = "AMD EPYC", .threads = 2};
    assert_string_equal(run_device(&info, true).text, "AMD EPYC, 2 threads");
    assert_string_equal(run_device(&info, false).text, "AMD EPYC");
    info.threads = 1;
    assert_string_equal(run_device(&info, true).text, "AMD EPYC, 1 thread");
    info.threads = 0;
    assert_string_equal(run_device(&info, true).text, "AMD EPYC");
    info.device_name[0] = '\0';
    assert_string_equal(run_device(&info, true).text, "CPU");
    info = (struct run_info){.device = "cuda:0", .threads = 2};
    assert_string_equal(run_device(&info, true).text, "cuda:0");
    memset(info.device_name, 'x', sizeof info.device_name - 1);
    assert_string_equal(run_device(&info, true).text, info.device_name);
    info = (struct run_info){0};
    assert_string_equal(run_device(&info, true).text, "");
}

static void a_range_has_its_unit_once_and_only_where_both_share_it(void **state) {
    (void)state;
    struct run_info info = {0};
    struct run_range none = {0, 0}, near = {920000, 1410000}, far = {7400, 21000000};
    assert_string_equal(run_range(&info, &none).text, "");
    assert_string_equal(run_range(&info, &near).text, "0.92\xE2\x80\x93"
                                                      "1.41 ms");
    assert_string_equal(run_range(&info, &far).text, "0.0\xE2\x80\x93"
                                                     "21.0 ms");
    assert_string_equal(run_disturbed(&info).text, "");
    info.is_disturbed = true;
    assert_string_equal(run_disturbed(&info).text, "disturbed; Shift R measures again");
    info.is_loaded = true;
    assert_string_equal(run_disturbed(&info).text, "disturbed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lessons_count_in_units_unless_these_are_milliseconds),
        cmocka_unit_test(the_beginning_is_zero_in_the_runs_own_words),
        cmocka_unit_test(a_range_has_its_unit_once_and_only_where_both_share_it),
        cmocka_unit_test(a_device_is_a_processor_with_threads_or_a_cards_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
