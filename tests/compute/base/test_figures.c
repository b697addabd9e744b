// Figures at the ends of their ranges and on both sides of every rounding border.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/figures.h"
#include "compute/base/words.h"

#include <string.h>

#define US SIGN_MICRO "s"
#define SP SIGN_HELD_SPACE
#define PM SP SIGN_PLUS_MINUS SP

#define SHOWS(figure, expected) assert_string_equal((figure).text, expected)

static void a_time_has_the_decimals_of_its_scale(void **state) {
    (void)state;
    static const struct {
        int64_t ns, scale_ns;
        const char *text;
    } cases[] = {
        {-1, 1, SIGN_DASH},
        {INT64_MIN, INT64_MAX, SIGN_DASH},
        {0, 0, "0 ms"},
        {0, 1, "0.00 " US},
        {0, 30000000, "0.0 ms"},
        {1, 1, "0.00 " US},
        {5, 0, "0.01 " US}, // 5 ns are a little above 0.005 in binary
        {950, 950, "0.95 " US},
        {9999, 9999, "10.00 " US},
        {10000, 10000, "10.0 " US},
        {41234, 41234, "41.2 " US},
        {99999, 99999, "100.0 " US},
        {100000, 100000, "100 " US},
        {412345, 412345, "412 " US},
        {412345, 6000000, "0.41 ms"},
        {999499, 999499, "999 " US},
        {999999, 999999, "1000 " US},
        {1000000, 1000000, "1.00 ms"},
        {9600000, 30000000, "9.6 ms"},
        {10000000, 10000000, "10.0 ms"},
        {100000000, 100000000, "100 ms"},
        {999500001, 999500001, "1000 ms"},
        {1000000000, 1000000000, "1.00 s"},
        {4100000000, 4100000000, "4.10 s"},
        {99999999999, 99999999999, "100.00 s"},
        {100000000000, 100000000000, "100.0 s"},
        {1000000, 250000000000, "0.0 s"},
        {INT64_MAX, INT64_MAX, "9223372036.9 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        SHOWS(figure_time(cases[i].ns, cases[i].scale_ns), cases[i].text);
}

static void units_show_a_decimal_only_where_there_is_a_part(void **state) {
    (void)state;
    SHOWS(figure_units(-1, 0, 1000000, "units"), SIGN_DASH);
    SHOWS(figure_units(0, 0, 1000000, "units"), "0 units");
    SHOWS(figure_units(97000000, 97000000, 1000000, "units"), "97 units");
    SHOWS(figure_units(1500000, 1500000, 1000000, "units"), "1.5 units");
    SHOWS(figure_units(1500000, 9999999, 1000000, "units"), "1.5 units");
    SHOWS(figure_units(1600000, 10000000, 1000000, "units"), "2 units");
    SHOWS(figure_units(INT64_MAX, INT64_MAX, INT64_MAX, "unit"), "1 unit");
    SHOWS(figure_units(INT64_MAX, INT64_MAX, 1, "ticks"), "9223372036854775808 ticks");
}

static void an_estimate_has_the_digits_its_error_lets_stand(void **state) {
    (void)state;
    SHOWS(figure_estimate(0, -1), "0" SP "ns");
    SHOWS(figure_estimate(1, -1), "1.00" SP "ns");
    SHOWS(figure_estimate(9.994, -1), "9.99" SP "ns");
    SHOWS(figure_estimate(9.996, -1), "10.0" SP "ns");
    SHOWS(figure_estimate(99.94, -1), "99.9" SP "ns");
    SHOWS(figure_estimate(99.96, -1), "100" SP "ns");
    SHOWS(figure_estimate(999.4, -1), "999" SP "ns");
    SHOWS(figure_estimate(999.5, -1), "1.00" SP US);
    SHOWS(figure_estimate(999499, -1), "999" SP US);
    SHOWS(figure_estimate(999500, -1), "1.00" SP "ms");
    SHOWS(figure_estimate(999500000, -1), "1.00" SP "s");
    SHOWS(figure_estimate(1e15, -1), "1000000" SP "s");
    SHOWS(figure_estimate(-1234, -1), SIGN_MINUS "1.23" SP US);
    SHOWS(figure_estimate(1234, 0), "1.23" PM "0.00" SP US);
    SHOWS(figure_estimate(1200, 30), "1.20" PM "0.03" SP US);
    SHOWS(figure_estimate(1200, 100), "1.2" PM "0.1" SP US);
    SHOWS(figure_estimate(1200, 99), "1.20" PM "0.10" SP US);
    SHOWS(figure_estimate(1200, 0.001), "1.2000" PM "0.0000" SP US);
    SHOWS(figure_estimate(-2e6, 3e6), SIGN_MINUS "2" PM "3" SP "ms");
    SHOWS(figure_estimate(10, 2e9), "0" PM "2" SP "s");
    // What is too long is cut inside the text.
    assert_int_equal(strlen(figure_estimate(1e300, 1e300).text), FIGURE_BYTES - 1);
}

static void a_fitted_count_shows_no_more_than_a_tenth(void **state) {
    (void)state;
    SHOWS(figure_count_estimate(84.2, 0.64), "84.2" PM "0.6");
    SHOWS(figure_count_estimate(999.9, 0.999), "999.9" PM "1.0");
    SHOWS(figure_count_estimate(999.4, 1), "999" PM "1");
    SHOWS(figure_count_estimate(1000, 0.2), "1,000" PM "1");
    SHOWS(figure_count_estimate(2099.5, 300.4), "2,100" PM "300");
}

static void a_terminal_figure_shows_two_digits_of_its_error(void **state) {
    (void)state;
    SHOWS(figure_with_error(0.4123, 0.0129), "0.412 +- 0.013");
    SHOWS(figure_with_error(12.34, 1), "12.3 +- 1.0");
    SHOWS(figure_with_error(12.34, 9.99), "12.3 +- 10.0");
    SHOWS(figure_with_error(12.34, 10), "12 +- 10");
    SHOWS(figure_with_error(12.34, 0), "12 +- 0");
    SHOWS(figure_with_error(12.34, 0.1), "12.34 +- 0.10");
    SHOWS(figure_with_error(-1.5, 1e-12), "-1.500000 +- 0.000000");
}

static void bytes_are_counted_in_powers_of_1024(void **state) {
    (void)state;
    SHOWS(figure_bytes(-1), SIGN_DASH);
    SHOWS(figure_bytes(0), "0 B");
    SHOWS(figure_bytes(1), "1 B");
    SHOWS(figure_bytes(1023), "1023 B");
    SHOWS(figure_bytes(1024), "1 KiB");
    SHOWS(figure_bytes(1029), "1 KiB"); // 1.0049
    SHOWS(figure_bytes(1030), "1.01 KiB");
    SHOWS(figure_bytes(10239), "10.00 KiB");
    SHOWS(figure_bytes(10300), "10.1 KiB");
    SHOWS(figure_bytes(163840), "160 KiB");
    SHOWS(figure_bytes(1048570), "1024 KiB");
    SHOWS(figure_bytes(1310720), "1.25 MiB");
    SHOWS(figure_bytes(INT64_C(5) << 30), "5 GiB");
    SHOWS(figure_bytes(INT64_MAX), "8388608 TiB");
}

static void a_rate_has_three_digits_and_a_prefix(void **state) {
    (void)state;
    SHOWS(figure_si(0, "B/s"), "0 B/s");
    SHOWS(figure_si(5, "B/s"), "5 B/s");
    SHOWS(figure_si(999.4, "B/s"), "999 B/s");
    SHOWS(figure_si(999.5, "B/s"), "1.00 kB/s");
    SHOWS(figure_si(9.994e9, "B/s"), "9.99 GB/s");
    SHOWS(figure_si(9.996e9, "B/s"), "10.0 GB/s");
    SHOWS(figure_si(99.96e9, "FLOP/s"), "100 GFLOP/s");
    SHOWS(figure_si(999.6e9, "FLOP"), "1.00 TFLOP");
    SHOWS(figure_si(1e18, "FLOP"), "1.00 EFLOP");
    SHOWS(figure_si(2e22, "FLOP"), "20000 EFLOP");
}

static void counts_are_grouped_and_take_a_plural_when_asked(void **state) {
    (void)state;
    SHOWS(figure_count(0, true), "0");
    SHOWS(figure_count(999, true), "999");
    SHOWS(figure_count(1000, true), "1,000");
    SHOWS(figure_count(1000, false), "1000");
    SHOWS(figure_count(-999, true), "-999");
    SHOWS(figure_count(-123456, true), "-123,456");
    SHOWS(figure_count(INT64_MAX, true), "9,223,372,036,854,775,807");
    SHOWS(figure_count(INT64_MIN, true), "-9,223,372,036,854,775,808");
    SHOWS(figure_counted(0, false, "token"), "0 tokens");
    SHOWS(figure_counted(1, true, "token"), "1 token");
    SHOWS(figure_counted(-1, true, "token"), "-1 tokens");
    SHOWS(figure_counted(1024, true, "layer"), "1,024 layers");
}

static void a_number_has_six_digits_and_no_needless_zeros(void **state) {
    (void)state;
    SHOWS(figure_number(0), "0");
    SHOWS(figure_number(0.25), "0.25");
    SHOWS(figure_number(-1234.5), "-1,234.5");
    SHOWS(figure_number(99999.96), "100,000");
    SHOWS(figure_number(12345678), "12,345,678");
    SHOWS(figure_number(999999999999), "999,999,999,999");
    SHOWS(figure_number(1e12), "1e+12");
    SHOWS(figure_number(1.5e-7), "1.5e-07");
}

static void a_factor_has_four_digits_or_is_whole(void **state) {
    (void)state;
    SHOWS(figure_factor(0.25), "0.25");
    SHOWS(figure_factor(2.5), "2.5");
    SHOWS(figure_factor(200), "200");
    SHOWS(figure_factor(9999), "9999");
    SHOWS(figure_factor(10000), "10,000");
    SHOWS(figure_factor(16666.7), "16,666");
    SHOWS(figure_factor(1234567), "1,234,567");
    SHOWS(figure_factor(2147483647), "2,147,483,647");
}

static void a_share_never_rounds_to_nothing_or_all(void **state) {
    (void)state;
    SHOWS(figure_percent(0), "0 %");
    SHOWS(figure_percent(12.4), "12 %");
    SHOWS(figure_percent(12.6), "13 %");
    SHOWS(figure_percent(-3), "-3 %");
    SHOWS(figure_percent(10000), "10000 %");
    SHOWS(figure_share(0), "0 %");
    SHOWS(figure_share(0.0049), "less than 1 %");
    SHOWS(figure_share(0.005), "1 %"); // halves up
    SHOWS(figure_share(0.145), "15 %");
    SHOWS(figure_share(0.625), "63 %");
    SHOWS(figure_rest(0.625), "37 %");
    SHOWS(figure_share(0.98), "98 %");
    SHOWS(figure_share(0.9949), "99 %");
    SHOWS(figure_share(0.995), "more than 99 %");
    SHOWS(figure_rest(0.995), "less than 1 %");
    SHOWS(figure_share(0.99999999), "more than 99 %");
    SHOWS(figure_share(1), "100 %");
    SHOWS(figure_rest(1), "0 %");
    SHOWS(figure_rest(0.001), "more than 99 %");
    SHOWS(figure_share(1.2), "120 %");
}

static void held_spaces_begin_behind_the_first_digit(void **state) {
    (void)state;
    SHOWS(figure_held(figure_time(-1, 0)), SIGN_DASH);
    SHOWS(figure_held(figure_time(1300000000, 1300000000)), "1.30" SP "s");
    SHOWS(figure_held((struct figure){"up to 5 kind units"}), "up to 5" SP "kind" SP "units");
    SHOWS(figure_held((struct figure){"no digit at all"}), "no digit at all");
}

static void numbers_have_the_signs_of_the_language(void **state) {
    (void)state;
    struct why why;
    assert_true(words_choose("de", &why));
    SHOWS(figure_time(9604000, 9604000), "9,60 ms");
    SHOWS(figure_bytes(1310720), "1,25 MiB");
    SHOWS(figure_si(12.34e9, "B/s"), "12,3 GB/s");
    SHOWS(figure_count(1234567, true), "1.234.567");
    SHOWS(figure_count(1234567, false), "1234567");
    SHOWS(figure_estimate(1200, 30), "1,20" PM "0,03" SP US);
    SHOWS(figure_number(12500.5), "12.500,5");
    SHOWS(figure_factor(2.5), "2,5");
    SHOWS(figure_share(0.001), "weniger als 1 %");
    assert_true(words_choose("en", &why));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_has_the_decimals_of_its_scale),
        cmocka_unit_test(units_show_a_decimal_only_where_there_is_a_part),
        cmocka_unit_test(an_estimate_has_the_digits_its_error_lets_stand),
        cmocka_unit_test(a_fitted_count_shows_no_more_than_a_tenth),
        cmocka_unit_test(a_terminal_figure_shows_two_digits_of_its_error),
        cmocka_unit_test(bytes_are_counted_in_powers_of_1024),
        cmocka_unit_test(a_rate_has_three_digits_and_a_prefix),
        cmocka_unit_test(counts_are_grouped_and_take_a_plural_when_asked),
        cmocka_unit_test(a_number_has_six_digits_and_no_needless_zeros),
        cmocka_unit_test(a_factor_has_four_digits_or_is_whole),
        cmocka_unit_test(a_share_never_rounds_to_nothing_or_all),
        cmocka_unit_test(held_spaces_begin_behind_the_first_digit),
        cmocka_unit_test(numbers_have_the_signs_of_the_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
