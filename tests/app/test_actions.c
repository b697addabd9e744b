// What a user can do, as a pure function: steps, chapters, choices, and that no key
// does more than it says.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/actions.h"
#include "tests/compute/random_run.h"

#include <string.h>

static const struct random_run_limits small = {
    .max_layers = 12, .max_prompt = 64, .max_answers = 30};

static struct stage_state stage_for(const struct run *run) {
    struct stage_state stage = {
        .playhead = {.rate = {1, 1}},
        .landed_ns = INT64_MIN,
        .counting = {[CLOCK_LESSON] = RUN_CHARGED},
        .can_measure = true,
        .can_swap_clock = true,
    };
    return actions_show_run(stage, run, NULL, 0);
}

static struct stage_state press(struct stage_state stage, enum action action, const struct run *run,
                                int64_t wall_ns) {
    struct actions_context context = {
        .run = run, .wall_ns = wall_ns, .longest_prompt = 1024, .longest_answer = 256};
    return actions_apply(stage, action, &context);
}

static int64_t moment(const struct stage_state *stage) {
    return playhead_at(&stage->playhead, 0);
}

static void steps_on_visit_every_event_and_stop_there(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 200; seed++) {
        struct run *run = random_run(seed, &small);
        struct stage_state stage = stage_for(run);
        int64_t last_ns = -1;
        for (int i = 0; i < run_events(run); i++) {
            stage = press(stage, ACTION_EVENT_NEXT, run, 0);
            // Events at one and the same moment are passed together.
            if (moment(&stage) == last_ns)
                break;
            assert_true(moment(&stage) >= run_event_ns(run, i));
            assert_int_equal(moment(&stage), run_event_ns(run, run_event_at(run, moment(&stage))));
            assert_true(stage.playhead.is_paused);
            assert_int_equal(stage.landed_ns, moment(&stage));
            last_ns = moment(&stage);
        }
        stage = press(stage, ACTION_EVENT_NEXT, run, 0);
        assert_int_equal(stage.toast, TOAST_AT_END);
        assert_int_equal(moment(&stage), run_end_ns(run));
        run_destroy(run);
    }
}

static void a_step_back_undoes_a_step_on(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 200; seed++) {
        struct run *run = random_run(seed, &small);
        struct stage_state stage = stage_for(run);
        stage = press(stage, ACTION_EVENT_NEXT, run, 0);
        while (moment(&stage) < run_end_ns(run)) {
            int64_t before_ns = moment(&stage);
            stage = press(stage, ACTION_EVENT_NEXT, run, 0);
            if (moment(&stage) == before_ns)
                break;
            struct stage_state back = press(stage, ACTION_EVENT_BACK, run, 0);
            assert_int_equal(moment(&back), before_ns);
        }
        run_destroy(run);
    }
}

static void space_at_the_end_starts_again(void **state) {
    (void)state;
    struct run *run = random_run(5, &small);
    struct stage_state stage = press(stage_for(run), ACTION_END, run, 0);
    assert_true(stage.playhead.is_paused);
    stage = press(stage, ACTION_PLAY_PAUSE, run, 0);
    assert_false(stage.playhead.is_paused);
    assert_int_equal(moment(&stage), stage.playhead.first_ns);
    run_destroy(run);
}

static void going_to_the_start_lets_the_drops_fall_again(void **state) {
    (void)state;
    struct run *run = random_run(5, &small);
    struct stage_state stage = press(stage_for(run), ACTION_END, run, 0);
    stage = press(stage, ACTION_START, run, 0);
    assert_true(stage.landed_ns < 0);
    run_destroy(run);
}

static void chapters_are_request_prefill_and_end(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 100; seed++) {
        struct run *run = random_run(seed, &small);
        struct stage_state stage = stage_for(run);
        stage = press(stage, ACTION_CHAPTER_NEXT, run, 0);
        assert_int_equal(moment(&stage), 0);
        if (run_prefill_ns(run) > 0) {
            stage = press(stage, ACTION_CHAPTER_NEXT, run, 0);
            assert_int_equal(moment(&stage), run_prefill_ns(run));
        }
        stage = press(stage, ACTION_CHAPTER_NEXT, run, 0);
        assert_int_equal(moment(&stage), run_end_ns(run));
        stage = press(press(stage, ACTION_CHAPTER_BACK, run, 0), ACTION_CHAPTER_BACK, run, 0);
        assert_int_equal(moment(&stage), 0);
        run_destroy(run);
    }
}

static void escape_closes_one_thing_at_a_time_and_never_quits(void **state) {
    (void)state;
    struct run *run = random_run(3, &small);
    struct stage_state stage = press(stage_for(run), ACTION_PRESENT, run, 0);
    assert_true(stage.is_fullscreen);
    assert_int_equal(stage.mode, MODE_SHOW);
    stage = press(stage, ACTION_BLANK, run, 0);
    stage = press(stage, ACTION_HELP, run, 0);
    stage = press(stage, ACTION_CLOSE, run, 0);
    assert_false(stage.is_help);
    assert_true(stage.is_blank);
    stage = press(stage, ACTION_CLOSE, run, 0);
    assert_false(stage.is_blank);
    assert_true(stage.is_presenting);
    stage = press(stage, ACTION_CLOSE, run, 0);
    assert_false(stage.is_presenting);
    assert_false(stage.is_fullscreen);
    stage = press(press(stage, ACTION_PRESENT, run, 0), ACTION_FULLSCREEN, run, 0);
    assert_false(stage.is_fullscreen);
    assert_false(stage.is_presenting);
    for (int i = 0; i < 5; i++)
        stage = press(stage, ACTION_CLOSE, run, 0);
    assert_int_equal(stage.requests, 0);
    run_destroy(run);
}

static void a_step_on_a_blank_screen_only_brings_it_back(void **state) {
    (void)state;
    struct run *run = random_run(3, &small);
    struct stage_state stage = press(stage_for(run), ACTION_EVENT_NEXT, run, 0);
    int64_t before_ns = moment(&stage);
    stage = press(stage, ACTION_BLANK, run, 0);
    stage = press(stage, ACTION_EVENT_NEXT, run, 0);
    assert_false(stage.is_blank);
    assert_int_equal(moment(&stage), before_ns);
    run_destroy(run);
}

static void the_period_blanks_in_show_mode_and_steps_a_frame_elsewhere(void **state) {
    (void)state;
    struct run *run = random_run(3, &small);
    struct stage_state stage = press(stage_for(run), ACTION_PERIOD, run, 0);
    assert_false(stage.is_blank);
    assert_true(stage.playhead.is_paused);
    stage = press(stage, ACTION_MODE, run, 0);
    stage = press(stage, ACTION_PERIOD, run, 0);
    assert_true(stage.is_blank);
    run_destroy(run);
}

static void a_frame_on_and_a_frame_back_is_where_one_was(void **state) {
    (void)state;
    struct run *run = random_run(8, &small);
    struct stage_state stage = press(stage_for(run), ACTION_EVENT_NEXT, run, 0);
    int64_t before_ns = moment(&stage);
    stage = press(press(stage, ACTION_FRAME_NEXT, run, 0), ACTION_FRAME_BACK, run, 0);
    assert_int_equal(moment(&stage), before_ns);
    run_destroy(run);
}

static void speed_changes_keep_the_moment(void **state) {
    (void)state;
    struct run *run = random_run(9, &small);
    struct stage_state stage = press(stage_for(run), ACTION_EVENT_NEXT, run, 0);
    stage = press(stage, ACTION_PLAY_PAUSE, run, 0);
    for (int64_t wall_ns = 0; wall_ns < 400000; wall_ns += 17000) {
        int64_t before_ns = playhead_at(&stage.playhead, wall_ns);
        stage = press(stage, wall_ns % 2 ? ACTION_FASTER : ACTION_SLOWER, run, wall_ns);
        if (before_ns <= run_end_ns(run))
            assert_int_equal(playhead_at(&stage.playhead, wall_ns), before_ns);
    }
    stage = press(stage, ACTION_REAL_TIME, run, 0);
    assert_true(playhead_rate_is_real_time(stage.playhead.rate));
    assert_true(stage.is_rate_chosen);
    run_destroy(run);
}

static void swapping_the_run_keeps_the_event(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 100; seed++) {
        struct run *a = random_run(seed, &small), *b = random_run(seed + 1000, &small);
        struct stage_state stage = stage_for(a);
        for (int i = 0; i < 3; i++)
            stage = press(stage, ACTION_EVENT_NEXT, a, 0);
        int event = run_event_at(a, moment(&stage));
        struct stage_state swapped = actions_show_run(stage, b, a, 0);
        int last = run_events(b) - 1;
        int64_t expected_ns = run_event_ns(b, event < last ? event : last);
        assert_int_equal(moment(&swapped), expected_ns);
        assert_int_equal(swapped.playhead.is_paused, stage.playhead.is_paused);
        run_destroy(a);
        run_destroy(b);
    }
}

static void past_the_end_of_one_run_is_past_the_end_of_the_other(void **state) {
    (void)state;
    struct run *a = random_run(11, &small), *b = random_run(12, &small);
    struct stage_state stage = press(stage_for(a), ACTION_END, a, 0);
    struct stage_state swapped = actions_show_run(stage, b, a, 0);
    assert_int_equal(moment(&swapped), swapped.playhead.last_ns);
    assert_true(swapped.playhead.last_ns > run_end_ns(b));
    run_destroy(a);
    run_destroy(b);
}

static void lengths_move_on_their_ladder_and_ask_for_a_measurement(void **state) {
    (void)state;
    struct run *run = random_run(3, &small);
    struct stage_state stage = stage_for(run);
    stage.prompt_tokens = 18;
    stage = press(stage, ACTION_PROMPT_LONGER, run, 0);
    assert_int_equal(stage.prompt_tokens, 24);
    assert_true(stage.requests & REQUEST_MEASURE);
    stage = press(press(stage, ACTION_PROMPT_SHORTER, run, 0), ACTION_PROMPT_SHORTER, run, 0);
    assert_int_equal(stage.prompt_tokens, 12);
    for (int i = 0; i < 40; i++)
        stage = press(stage, ACTION_PROMPT_SHORTER, run, 0);
    assert_int_equal(stage.prompt_tokens, 1);
    for (int i = 0; i < 40; i++)
        stage = press(stage, ACTION_PROMPT_LONGER, run, 0);
    assert_int_equal(stage.prompt_tokens, 1024);
    stage = press(stage, ACTION_ANSWER_LONGER, run, 0);
    assert_int_equal(stage.answer_tokens, 1);
    stage = press(stage, ACTION_ANSWER_SHORTER, run, 0);
    assert_int_equal(stage.answer_tokens, 0);
    stage.requests = 0;
    stage.clock = CLOCK_LESSON;
    stage = press(stage, ACTION_PROMPT_LONGER, run, 0);
    assert_int_equal(stage.requests, 0);
    assert_int_equal(stage.toast, TOAST_NO_LENGTHS);
    run_destroy(run);
}

static void every_action_has_a_line_of_help_or_a_twin(void **state) {
    (void)state;
    int count = 0;
    const struct action_help *help = actions_help(&count);
    assert_true(count > 20);
    for (int i = 0; i < count; i++) {
        assert_true(help[i].keys[0] && help[i].does[0]);
        assert_true(strlen(help[i].does) < 32);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_on_visit_every_event_and_stop_there),
        cmocka_unit_test(a_step_back_undoes_a_step_on),
        cmocka_unit_test(space_at_the_end_starts_again),
        cmocka_unit_test(going_to_the_start_lets_the_drops_fall_again),
        cmocka_unit_test(chapters_are_request_prefill_and_end),
        cmocka_unit_test(escape_closes_one_thing_at_a_time_and_never_quits),
        cmocka_unit_test(a_step_on_a_blank_screen_only_brings_it_back),
        cmocka_unit_test(the_period_blanks_in_show_mode_and_steps_a_frame_elsewhere),
        cmocka_unit_test(a_frame_on_and_a_frame_back_is_where_one_was),
        cmocka_unit_test(speed_changes_keep_the_moment),
        cmocka_unit_test(swapping_the_run_keeps_the_event),
        cmocka_unit_test(past_the_end_of_one_run_is_past_the_end_of_the_other),
        cmocka_unit_test(lengths_move_on_their_ladder_and_ask_for_a_measurement),
        cmocka_unit_test(every_action_has_a_line_of_help_or_a_twin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
