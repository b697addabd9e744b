// The stopwatch counts nanoseconds and never goes back; the date is today's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/stopwatch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void a_nap_is_as_long_as_it_was_asked_to_be(void **state) {
    (void)state;
    const struct timespec nap = {.tv_nsec = 20000000};
    int64_t before = stopwatch_now_ns();
    nanosleep(&nap, NULL);
    int64_t after = stopwatch_now_ns();
    assert_true(after - before >= 20000000);
    assert_true(after - before < 5000000000); // a busy machine sleeps longer, not for minutes
}

static void time_never_goes_back(void **state) {
    (void)state;
    int64_t last = stopwatch_now_ns();
    for (int i = 0; i < 10000; i++) {
        int64_t now = stopwatch_now_ns();
        assert_true(now >= last);
        last = now;
    }
}

static void no_two_readings_are_nearer_than_a_step(void **state) {
    (void)state;
    int64_t step_ns = stopwatch_step_ns();
    assert_true(step_ns > 0);
    assert_true(step_ns < INT64_MAX);
}

static void the_date_is_now_in_utc(void **state) {
    (void)state;
    char date[32];
    struct tm utc = {0};
    time_t before = time(NULL);
    setenv("TZ", "Asia/Tokyo", 1); // the zone of the machine has no say
    tzset();
    stopwatch_utc_date(date);
    const char *end = strptime(date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    assert_non_null(end);
    assert_int_equal(*end, '\0');
    time_t said = timegm(&utc);
    assert_true(said >= before && said <= time(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nap_is_as_long_as_it_was_asked_to_be),
        cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(no_two_readings_are_nearer_than_a_step),
        cmocka_unit_test(the_date_is_now_in_utc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
