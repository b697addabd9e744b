// Reasons: written, cut at the end of the text, and left out where nobody asks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"

#include <string.h>

static void a_reason_is_written_and_the_answer_is_false(void **state) {
    (void)state;
    struct why why = {"something else"};
    assert_false(why_set(&why, "'%s' has %d layers", "a.gguf", 3));
    assert_string_equal(why.text, "'a.gguf' has 3 layers");
}

static void a_long_reason_is_cut_at_the_end_of_the_text(void **state) {
    (void)state;
    char longer[2 * WHY_BYTES];
    struct {
        struct why why;
        char behind;
    } at = {.behind = 'k'};
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_false(why_set(&at.why, "%s", longer));
    assert_int_equal(strlen(at.why.text), WHY_BYTES - 1);
    assert_int_equal(at.behind, 'k'); // what lies behind is untouched
}

static void a_caller_without_a_text_only_learns_of_the_failure(void **state) {
    (void)state;
    assert_false(why_set(NULL, "nobody reads this: %d", 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reason_is_written_and_the_answer_is_false),
        cmocka_unit_test(a_long_reason_is_cut_at_the_end_of_the_text),
        cmocka_unit_test(a_caller_without_a_text_only_learns_of_the_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
