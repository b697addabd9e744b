// The view: arrays count what finds no room, clearing leaves nothing behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/data/view.h"

#include <string.h>

static struct view one, two;

static void a_full_array_counts_what_finds_no_room(void **state) {
    (void)state;
    struct view_readout readout = {.label = "TIME"};
    view_clear(&one);
    for (int i = 0; i < VIEW_MAX_READOUTS + 2; i++)
        view_add_readout(&one, &readout);
    assert_int_equal(one.readout_count, VIEW_MAX_READOUTS);
    assert_int_equal(one.dropped, 2);
}

static void spans_without_room_join_a_neighbour_of_their_kind(void **state) {
    (void)state;
    view_clear(&one);
    for (int i = 0; i < VIEW_MAX_SPANS + 10; i++)
        view_add_span(&one, (struct view_span){i * 100, (i + 1) * 100, 0, 0});
    assert_int_equal(one.span_count, VIEW_MAX_SPANS);
    assert_int_equal(one.spans[VIEW_MAX_SPANS - 1].to_ppm, (VIEW_MAX_SPANS + 10) * 100);
    assert_int_equal(one.dropped, 0);
    view_add_span(&one, (struct view_span){900000, 900100, 1, 0});
    assert_int_equal(one.dropped, 1);
    assert_int_equal(one.spans[VIEW_MAX_SPANS - 1].to_ppm, (VIEW_MAX_SPANS + 10) * 100);
}

static void a_cleared_view_is_the_same_whatever_it_held(void **state) {
    (void)state;
    memset(&one, 0xFF, sizeof one);
    memset(&two, 0, sizeof two);
    view_clear(&one);
    view_clear(&two);
    assert_memory_equal(&one, &two, sizeof one);
    assert_int_equal(one.decode_label_ppm, -1);
    assert_int_equal(one.guess_ppm, -1);
    assert_int_equal(one.layers, 1);
    assert_int_equal(one.token_count, 0);
    assert_int_equal(one.dropped, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_array_counts_what_finds_no_room),
        cmocka_unit_test(spans_without_room_join_a_neighbour_of_their_kind),
        cmocka_unit_test(a_cleared_view_is_the_same_whatever_it_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
