// What a user can do, as a pure function: steps, chapters, choices, and that no key
// does more than it says.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/state/actions.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/compute/run/random_run.h"

#include <string.h>

static const struct random_run_limits small = {
    .max_layers = 12, .max_prompt = 64, .max_answers = 30};

static struct stage_state stage_for(const struct run *run) {
    struct stage_state stage = {
        .playhead = {.rate = {1, 1}},
        .landed_ns = INT64_MIN,
        .counting = {[CLOCK_LESSON] = RUN_CHARGED},
        .focus = -1,
        .list_focus = -1,
    };
    return actions_show_run(stage, run, NULL, 0);
}

static struct stage_state press(struct stage_state stage, enum action action, const struct run *run,
                                int64_t wall_ns) {
    struct actions_context context = {.run = run,
                                      .wall_ns = wall_ns,
                                      .longest_prompt = 1024,
                                      .longest_answer = 256,
                                      .can_measure = true,
                                      .can_swap_clock = true};
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

// From anywhere within a pass: first to where it began, the event before; then one more.
static void a_step_back_from_within_a_pass_goes_to_its_beginning(void **state) {
    (void)state;
    int tried = 0;
    for (uint64_t seed = 1; seed < 200; seed++) {
        struct run *run = random_run(seed, &small);
        struct actions_context context = {.run = run};
        for (int i = 0; i + 1 < run_events(run); i++) {
            int64_t from_ns = run_event_ns(run, i), to_ns = run_event_ns(run, i + 1);
            const int64_t within[] = {from_ns + 1, from_ns + (to_ns - from_ns) / 2, to_ns - 1};
            for (int k = 0; k < 3 && to_ns - from_ns >= 2; k++) {
                struct stage_state stage = actions_seek(stage_for(run), within[k], &context);
                stage = press(stage, ACTION_EVENT_BACK, run, 0);
                assert_int_equal(moment(&stage), from_ns);
                assert_int_equal(stage.landed_ns, from_ns);
                assert_true(stage.playhead.is_paused);
                assert_int_equal(stage.toast, TOAST_NONE);
                stage = press(stage, ACTION_EVENT_BACK, run, 0);
                assert_int_equal(moment(&stage), run_event_ns(run, i > 0 ? i - 1 : 0));
                tried++;
            }
        }
        run_destroy(run);
    }
    assert_true(tried > 1000);
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
    stage.mode = MODE_SHOW;
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

// Both last as long on the screen at every speed.
static void a_new_speed_keeps_the_time_before_the_run_and_after_it(void **state) {
    (void)state;
    static const enum action actions[] = {ACTION_FASTER, ACTION_SLOWER, ACTION_SLOWER,
                                          ACTION_REAL_TIME};
    struct run *run = random_run(9, &small);
    struct stage_state stage = stage_for(run);
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        stage = press(stage, actions[i], run, 0);
        const struct playhead *playhead = &stage.playhead;
        assert_int_equal(playhead->first_ns,
                         -playhead_run_ns(playhead->rate, PLAYHEAD_LEAD_SCREEN_NS));
        assert_int_equal(playhead->last_ns - run_end_ns(run),
                         playhead_run_ns(playhead->rate, PLAYHEAD_TAIL_SCREEN_NS));
    }
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
    static const int down[] = {16, 12, 8, 6, 4, 3, 2, 1, 1};
    for (size_t i = 0; i < sizeof down / sizeof down[0]; i++) {
        stage = press(stage, ACTION_PROMPT_SHORTER, run, 0);
        assert_int_equal(stage.prompt_tokens, down[i]);
    }
    for (int i = 0; i < 40; i++)
        stage = press(stage, ACTION_PROMPT_LONGER, run, 0);
    assert_int_equal(stage.prompt_tokens, 1024);
    for (int tokens = 1; tokens <= 4; tokens++) {
        stage = press(stage, ACTION_ANSWER_LONGER, run, 0);
        assert_int_equal(stage.answer_tokens, tokens);
    }
    for (int tokens = 3; tokens >= -1; tokens--) {
        stage = press(stage, ACTION_ANSWER_SHORTER, run, 0);
        assert_int_equal(stage.answer_tokens, tokens < 0 ? 0 : tokens); // 0: to its end
    }
    stage.requests = 0;
    stage.clock = CLOCK_LESSON;
    stage = press(stage, ACTION_PROMPT_LONGER, run, 0);
    assert_int_equal(stage.requests, 0);
    assert_int_equal(stage.toast, TOAST_NO_LENGTHS);
    run_destroy(run);
}

// --- Lesson, Lab, focus, guesses ---

static struct actions_context with_lesson(const struct run *run, const struct lesson *lesson) {
    return (struct actions_context){.run = run,
                                    .longest_prompt = 1024,
                                    .longest_answer = 256,
                                    .lesson = lesson,
                                    .can_measure = true,
                                    .can_swap_clock = true,
                                    .page_count = 3};
}

static struct stage_state lesson_for(const struct run *run, struct actions_context *context) {
    struct stage_state stage = stage_for(run);
    stage.focus = -1;
    stage.list_focus = -1;
    stage = actions_apply(stage, ACTION_MODE, context);
    assert_int_equal(stage.mode, MODE_LESSON);
    return stage;
}

// Where the lesson is, the moment taken into account.
static struct lesson_place place_now(const struct stage_state *stage,
                                     const struct actions_context *context) {
    struct lesson_place place = lesson_clamp(context->lesson, stage->place, context->run);
    return lesson_place_at(context->lesson, place, context->run, moment(stage));
}

static void tab_goes_through_all_four_modes(void **state) {
    (void)state;
    struct run *run = random_run(3, &small);
    struct lesson *lesson = lesson_in("en");
    struct actions_context context = with_lesson(run, lesson);
    struct stage_state stage = stage_for(run);
    static const enum mode_choice order[] = {MODE_LESSON, MODE_LAB, MODE_SHOW, MODE_STAGE};
    for (int i = 0; i < 4; i++) {
        stage = actions_apply(stage, ACTION_MODE, &context);
        assert_int_equal(stage.mode, order[i]);
    }
    lesson_destroy(lesson);
    run_destroy(run);
}

static void a_key_that_starts_the_presentation_never_ends_it(void **state) {
    (void)state;
    struct run *run = random_run(3, &small);
    struct lesson *lesson = lesson_in("en");
    struct actions_context context = with_lesson(run, lesson);
    struct stage_state stage = lesson_for(run, &context);
    for (int i = 0; i < 3; i++) {
        stage = actions_apply(stage, ACTION_PRESENT, &context);
        assert_true(stage.is_presenting);
        assert_true(stage.is_fullscreen);
        assert_int_equal(stage.mode, MODE_SHOW);
    }
    // From another mode it leads back to Show, and Esc still to the mode before all of it.
    stage = actions_apply(stage, ACTION_MODE, &context);
    assert_int_not_equal(stage.mode, MODE_SHOW);
    stage = actions_apply(stage, ACTION_PRESENT, &context);
    assert_int_equal(stage.mode, MODE_SHOW);
    stage = actions_apply(stage, ACTION_CLOSE, &context);
    assert_false(stage.is_presenting);
    assert_int_equal(stage.mode, MODE_LESSON);
    lesson_destroy(lesson);
    run_destroy(run);
}

static void while_presenting_a_period_blanks_in_every_mode(void **state) {
    (void)state;
    struct run *run = random_run(3, &small);
    struct lesson *lesson = lesson_in("en");
    struct actions_context context = with_lesson(run, lesson);
    struct stage_state stage = lesson_for(run, &context);
    stage = actions_apply(stage, ACTION_PRESENT, &context);
    for (int i = 0; i < 4; i++) {
        struct stage_state blank = actions_apply(stage, ACTION_PERIOD, &context);
        assert_true(blank.is_blank);
        assert_false(actions_apply(blank, ACTION_PERIOD, &context).is_blank);
        stage = actions_apply(stage, ACTION_MODE, &context);
    }
    lesson_destroy(lesson);
    run_destroy(run);
}

static void presenting_comes_back_to_the_mode_it_left(void **state) {
    (void)state;
    struct run *run = random_run(3, &small);
    struct lesson *lesson = lesson_in("en");
    struct actions_context context = with_lesson(run, lesson);
    struct stage_state stage = lesson_for(run, &context);
    stage = actions_apply(stage, ACTION_PRESENT, &context);
    assert_int_equal(stage.mode, MODE_SHOW);
    stage = actions_apply(stage, ACTION_CLOSE, &context);
    assert_int_equal(stage.mode, MODE_LESSON);
    lesson_destroy(lesson);
    run_destroy(run);
}

// With the clicker alone every step of every chapter is met, in order, and the question
// is answered on the way; PageUp leads back over the same steps.
static void page_down_alone_walks_the_whole_lesson(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    for (uint64_t seed = 1; seed < 30; seed++) {
        struct run *run = random_run(seed, &small);
        struct actions_context context = with_lesson(run, lesson);
        struct stage_state stage = lesson_for(run, &context);
        int met = 1, revealed = 0;
        struct lesson_place before = place_now(&stage, &context);
        assert_int_equal(before.chapter, 0);
        for (int press_count = 0; press_count < 1000; press_count++) {
            struct lesson_page page;
            lesson_page(&page, lesson, before, run, moment(&stage));
            context.has_question = (page.shows & LESSON_SPLIT) && !stage.guess.is_split_set;
            bool asks = context.has_question;
            stage = actions_apply(stage, ACTION_PAGE_NEXT, &context);
            struct lesson_place now = place_now(&stage, &context);
            if (stage.toast == TOAST_LAST_STEP)
                break;
            if (asks) {
                assert_true(stage.guess.is_split_set);
                assert_int_equal(now.step, before.step);
                revealed++;
                continue;
            }
            assert_true(now.chapter > before.chapter ||
                        (now.chapter == before.chapter && now.step > before.step));
            assert_int_equal(moment(&stage), lesson_step_ns(lesson, now, run));
            assert_int_equal(stage.landed_ns, moment(&stage));
            before = now;
            met++;
        }
        assert_int_equal(before.chapter, lesson_chapters(lesson) - 1);
        assert_true(revealed >= 1);
        int back = 1;
        context.has_question = false;
        for (int press_count = 0; press_count < 1000; press_count++) {
            stage = actions_apply(stage, ACTION_PAGE_BACK, &context);
            if (stage.toast == TOAST_AT_START)
                break;
            stage.toast = TOAST_NONE;
            back++;
        }
        assert_int_equal(back, met);
        run_destroy(run);
    }
    lesson_destroy(lesson);
}

static void a_step_under_way_is_finished_before_the_next_one(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = random_run(7, &small);
    struct actions_context context = with_lesson(run, lesson);
    struct stage_state stage = lesson_for(run, &context);
    stage = actions_apply(stage, ACTION_CHAPTER_NEXT, &context); // to the run's events
    int64_t first_ns = run_event_ns(run, 1);
    assert_true(first_ns > 2);
    stage = actions_seek(stage, first_ns / 2, &context);
    stage = actions_apply(stage, ACTION_EVENT_NEXT, &context);
    assert_int_equal(moment(&stage), first_ns);
    stage = actions_seek(stage, first_ns / 2, &context);
    stage = actions_apply(stage, ACTION_EVENT_BACK, &context);
    assert_int_equal(moment(&stage), 0);
    lesson_destroy(lesson);
    run_destroy(run);
}

static void chapters_of_the_lesson_begin_at_their_first_step(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = random_run(8, &small);
    struct actions_context context = with_lesson(run, lesson);
    struct stage_state stage = lesson_for(run, &context);
    for (int chapter = 1; chapter < lesson_chapters(lesson); chapter++) {
        stage = actions_apply(stage, ACTION_CHAPTER_NEXT, &context);
        assert_int_equal(stage.place.chapter, chapter);
        assert_int_equal(stage.place.step, 0);
    }
    stage = actions_apply(stage, ACTION_CHAPTER_NEXT, &context);
    assert_int_equal(stage.toast, TOAST_LAST_STEP);
    stage = actions_apply(stage, ACTION_START, &context);
    assert_int_equal(place_now(&stage, &context).chapter, 0);
    assert_int_equal(moment(&stage), 0);
    lesson_destroy(lesson);
    run_destroy(run);
}

static void lab_turns_its_pages_and_stops_at_the_last(void **state) {
    (void)state;
    struct run *run = random_run(8, &small);
    struct actions_context context = with_lesson(run, NULL);
    struct stage_state stage = stage_for(run);
    stage.mode = MODE_LAB;
    int64_t before_ns = moment(&stage);
    for (int page = 1; page < 3; page++) {
        stage = actions_apply(stage, ACTION_PAGE_NEXT, &context);
        assert_int_equal(stage.page, page);
    }
    stage = actions_apply(stage, ACTION_PAGE_NEXT, &context);
    assert_int_equal(stage.page, 2);
    assert_int_equal(stage.toast, TOAST_AT_END);
    assert_int_equal(moment(&stage), before_ns);
    run_destroy(run);
}

static void a_line_of_the_log_is_a_direct_seek(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    for (uint64_t seed = 1; seed < 40; seed++) {
        struct run *run = random_run(seed, &small);
        struct actions_context context = with_lesson(run, lesson);
        context.line_count = run_events(run);
        struct stage_state stage = stage_for(run);
        stage.list_focus = -1;
        stage = actions_apply(stage, ACTION_LOG, &context);
        assert_int_equal(stage.side, SIDE_LOG);
        for (int i = 0; i < run_events(run); i++) {
            stage.list_focus = i;
            struct stage_state jumped = actions_apply(stage, ACTION_ENTER, &context);
            struct stage_state sought = actions_seek(stage, run_event_ns(run, i), &context);
            assert_int_equal(moment(&jumped), moment(&sought));
            assert_int_equal(jumped.landed_ns, sought.landed_ns);
            assert_true(jumped.playhead.is_paused);
        }
        stage = actions_apply(stage, ACTION_LOG, &context);
        assert_int_equal(stage.side, SIDE_NONE);
        run_destroy(run);
    }
    lesson_destroy(lesson);
}

static void a_model_of_the_list_is_asked_for_by_its_line(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = random_run(1, &small);
    struct actions_context context = with_lesson(run, lesson);
    struct stage_state stage = stage_for(run);
    stage.mode = MODE_LAB;
    stage = actions_apply(stage, ACTION_MODELS, &context);
    assert_int_equal(stage.side, SIDE_MODELS);
    assert_int_equal(stage.mode, MODE_STAGE); // Lab has no panel
    assert_int_equal(stage.requests, REQUEST_MODELS);
    stage.requests = 0;
    context.line_count = 3;
    stage = actions_apply(stage, ACTION_DOWN, &context);
    stage = actions_apply(stage, ACTION_DOWN, &context);
    int64_t before = moment(&stage);
    stage = actions_apply(stage, ACTION_ENTER, &context);
    assert_int_equal(stage.requests, REQUEST_OPEN);
    assert_int_equal(stage.list_focus, 2);
    assert_int_equal(moment(&stage), before);
    stage = actions_apply(stage, ACTION_MODELS, &context);
    assert_int_equal(stage.side, SIDE_NONE);
    run_destroy(run);
    lesson_destroy(lesson);
}

static void the_arrows_move_the_focus_and_then_what_it_is_on(void **state) {
    (void)state;
    struct run *run = random_run(8, &small);
    struct actions_context context = with_lesson(run, NULL);
    context.control_count = 2;
    struct stage_state stage = stage_for(run);
    stage.mode = MODE_LAB;
    stage.focus = -1;
    stage.prompt_tokens = 16;
    int64_t before_ns = moment(&stage);
    stage = actions_apply(stage, ACTION_DOWN, &context);
    assert_int_equal(stage.focus, 0);
    context.target = TARGET_PROMPT;
    stage = actions_apply(stage, ACTION_EVENT_NEXT, &context);
    assert_int_equal(stage.prompt_tokens, 24);
    assert_true(stage.requests & REQUEST_MEASURE_SOON);
    assert_int_equal(moment(&stage), before_ns);
    stage = actions_apply(stage, ACTION_CLOSE, &context);
    assert_int_equal(stage.focus, -1);
    stage = actions_apply(stage, ACTION_UP, &context);
    assert_int_equal(stage.focus, -1);
    for (int i = 0; i < 5; i++)
        stage = actions_apply(stage, ACTION_DOWN, &context);
    assert_int_equal(stage.focus, 1);
    run_destroy(run);
}

static void up_and_down_are_speed_where_nothing_can_have_the_focus(void **state) {
    (void)state;
    struct run *run = random_run(8, &small);
    struct stage_state stage = stage_for(run);
    struct playhead_rate before = stage.playhead.rate;
    stage = press(stage, ACTION_UP, run, 0);
    assert_true(stage.playhead.rate.num * before.den > before.num * stage.playhead.rate.den);
    run_destroy(run);
}

static void the_run_waits_until_both_guesses_are_set(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = random_run(8, &small);
    struct actions_context context = with_lesson(run, lesson);
    context.control_count = 3;
    struct stage_state stage = press(stage_for(run), ACTION_EVENT_NEXT, run, 0);
    stage = actions_apply(stage, ACTION_PREDICT, &context);
    assert_int_equal(stage.side, SIDE_PREDICT);
    int64_t start_ns = moment(&stage);
    assert_true(start_ns <= 0);
    static const enum action reveals[] = {ACTION_PLAY_PAUSE, ACTION_END,  ACTION_CHAPTER_NEXT,
                                          ACTION_FRAME_NEXT, ACTION_MODE, ACTION_RESTART};
    for (size_t i = 0; i < sizeof reveals / sizeof reveals[0]; i++) {
        struct stage_state tried = actions_apply(stage, reveals[i], &context);
        assert_int_equal(moment(&tried), start_ns);
        assert_true(tried.playhead.is_paused);
        assert_int_equal(tried.toast, TOAST_GUESS_FIRST);
    }
    context.target = TARGET_TTFT;
    int before_ppm = stage.guess.ttft_ppm;
    stage = actions_apply(stage, ACTION_EVENT_NEXT, &context);
    assert_true(stage.guess.ttft_ppm > before_ppm);
    stage = actions_apply(stage, ACTION_ENTER, &context);
    assert_int_equal(stage.guess.stage, GUESS_DECODE);
    assert_true(stage.playhead.is_paused);
    stage = actions_apply(stage, ACTION_PAGE_NEXT, &context); // a clicker can do it, too
    assert_int_equal(stage.guess.stage, GUESS_SET);
    assert_false(stage.playhead.is_paused);
    int set_ppm = stage.guess.ttft_ppm;
    stage = actions_set(stage, TARGET_TTFT, 1, &context);
    assert_int_equal(stage.guess.ttft_ppm, set_ppm); // it stands
    stage = actions_apply(stage, ACTION_CLOSE, &context);
    assert_int_equal(stage.guess.stage, GUESS_SET); // and stays on the clock
    lesson_destroy(lesson);
    run_destroy(run);
}

static void the_button_sets_both_guesses_and_then_asks_again(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = random_run(8, &small);
    struct actions_context context = with_lesson(run, lesson);
    context.control_count = 3;
    struct stage_state stage = actions_apply(stage_for(run), ACTION_PREDICT, &context);
    context.target = TARGET_GUESS_DONE;
    stage = actions_apply(stage, ACTION_ENTER, &context);
    assert_int_equal(stage.guess.stage, GUESS_SET);
    assert_false(stage.playhead.is_paused);
    stage = actions_apply(stage, ACTION_ENTER, &context);
    assert_int_equal(stage.guess.stage, GUESS_TTFT);
    assert_true(stage.playhead.is_paused);
    lesson_destroy(lesson);
    run_destroy(run);
}

static void a_guess_that_is_left_is_no_guess(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = random_run(8, &small);
    struct actions_context context = with_lesson(run, lesson);
    struct stage_state stage = actions_apply(stage_for(run), ACTION_PREDICT, &context);
    stage = actions_apply(stage, ACTION_CLOSE, &context);
    assert_int_equal(stage.guess.stage, GUESS_OFF);
    assert_int_equal(stage.side, SIDE_NONE);
    lesson_destroy(lesson);
    run_destroy(run);
}

static void without_a_model_there_is_no_prompt_to_type(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = random_run(8, &small);
    struct actions_context context = with_lesson(run, lesson);
    struct stage_state stage = stage_for(run);
    struct stage_state opened = actions_apply(stage, ACTION_EDIT, &context);
    assert_int_equal(opened.side, SIDE_PROMPT);
    assert_true(opened.requests & REQUEST_EDIT);
    context.can_measure = false;
    opened = actions_apply(stage, ACTION_EDIT, &context);
    assert_int_equal(opened.side, SIDE_NONE);
    assert_int_equal(opened.toast, TOAST_NO_PROMPT);
    lesson_destroy(lesson);
    run_destroy(run);
}

static void a_clicker_reads_a_long_text_to_its_end_before_the_next_step(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = random_run(8, &small);
    struct actions_context context = with_lesson(run, lesson);
    struct stage_state stage = lesson_for(run, &context);
    stage = actions_apply(stage, ACTION_CHAPTER_NEXT, &context); // to the run's events
    context.scroll_most = 11;
    int64_t before_ns = moment(&stage);
    stage = actions_apply(stage, ACTION_PAGE_NEXT, &context);
    assert_int_equal(stage.scroll, 8);
    stage = actions_apply(stage, ACTION_PAGE_NEXT, &context);
    assert_int_equal(stage.scroll, 11);
    assert_int_equal(moment(&stage), before_ns);
    struct stage_state on = actions_apply(stage, ACTION_PAGE_NEXT, &context);
    assert_true(moment(&on) > before_ns);
    assert_int_equal(on.scroll, 0);
    stage = actions_apply(stage, ACTION_SCROLL_UP, &context);
    assert_int_equal(stage.scroll, 8);
    for (int i = 0; i < 5; i++)
        stage = actions_apply(stage, ACTION_SCROLL_UP, &context);
    assert_int_equal(stage.scroll, 0);
    stage = actions_apply(stage, ACTION_EVENT_NEXT, &context); // the arrow goes on at once
    assert_true(moment(&stage) > before_ns);
    lesson_destroy(lesson);
    run_destroy(run);
}

static void a_step_waits_for_a_run_that_is_still_measured(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = random_run(8, &small);
    struct run prefix;
    run_prefix(&prefix, run, 0);
    struct actions_context context = with_lesson(&prefix, lesson);
    struct stage_state stage = lesson_for(&prefix, &context);
    for (int i = 0; i < 3; i++)
        stage = actions_apply(stage, ACTION_PAGE_NEXT, &context);
    assert_int_equal(stage.place.chapter, 0);
    assert_int_equal(stage.toast, TOAST_STILL_MEASURING);
    lesson_destroy(lesson);
    run_destroy(run);
}

static void the_glossary_opens_at_a_word_of_the_page(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = random_run(8, &small);
    struct actions_context context = with_lesson(run, lesson);
    context.first_term = 5;
    struct stage_state stage = actions_apply(stage_for(run), ACTION_GLOSSARY, &context);
    assert_int_equal(stage.side, SIDE_GLOSSARY);
    assert_int_equal(stage.list_focus, 5);
    lesson_destroy(lesson);
    run_destroy(run);
}

static void sliders_and_the_switch_go_where_the_mouse_is(void **state) {
    (void)state;
    struct run *run = random_run(8, &small);
    struct actions_context context = with_lesson(run, NULL);
    struct stage_state stage = stage_for(run);
    stage = actions_set(stage, TARGET_PROMPT, 1000000, &context);
    assert_int_equal(stage.prompt_tokens, 1024);
    stage = actions_set(stage, TARGET_ANSWER, -5, &context);
    assert_int_equal(stage.answer_tokens, 1);
    stage = actions_set(stage, TARGET_COUNTING, 1000000, &context);
    assert_int_equal(stage.counting[CLOCK_MEASURED], RUN_CHARGED);
    stage = actions_set(stage, TARGET_SPLIT, 300000, &context);
    assert_int_equal(stage.guess.split_ppm, 300000);
    stage.guess.is_split_set = true;
    stage = actions_set(stage, TARGET_SPLIT, 900000, &context);
    assert_int_equal(stage.guess.split_ppm, 300000); // an answer given stands
    context.can_measure = false;
    stage.requests = 0;
    stage = actions_set(stage, TARGET_PROMPT, 0, &context);
    assert_int_equal(stage.prompt_tokens, 1024);
    assert_int_equal(stage.requests, 0);
    assert_int_equal(stage.toast, TOAST_NO_LENGTHS);
    run_destroy(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_on_visit_every_event_and_stop_there),
        cmocka_unit_test(a_step_back_undoes_a_step_on),
        cmocka_unit_test(a_step_back_from_within_a_pass_goes_to_its_beginning),
        cmocka_unit_test(space_at_the_end_starts_again),
        cmocka_unit_test(going_to_the_start_lets_the_drops_fall_again),
        cmocka_unit_test(chapters_are_request_prefill_and_end),
        cmocka_unit_test(escape_closes_one_thing_at_a_time_and_never_quits),
        cmocka_unit_test(a_step_on_a_blank_screen_only_brings_it_back),
        cmocka_unit_test(the_period_blanks_in_show_mode_and_steps_a_frame_elsewhere),
        cmocka_unit_test(a_frame_on_and_a_frame_back_is_where_one_was),
        cmocka_unit_test(speed_changes_keep_the_moment),
        cmocka_unit_test(a_new_speed_keeps_the_time_before_the_run_and_after_it),
        cmocka_unit_test(swapping_the_run_keeps_the_event),
        cmocka_unit_test(past_the_end_of_one_run_is_past_the_end_of_the_other),
        cmocka_unit_test(lengths_move_on_their_ladder_and_ask_for_a_measurement),
        cmocka_unit_test(tab_goes_through_all_four_modes),
        cmocka_unit_test(a_key_that_starts_the_presentation_never_ends_it),
        cmocka_unit_test(while_presenting_a_period_blanks_in_every_mode),
        cmocka_unit_test(presenting_comes_back_to_the_mode_it_left),
        cmocka_unit_test(page_down_alone_walks_the_whole_lesson),
        cmocka_unit_test(a_step_under_way_is_finished_before_the_next_one),
        cmocka_unit_test(chapters_of_the_lesson_begin_at_their_first_step),
        cmocka_unit_test(lab_turns_its_pages_and_stops_at_the_last),
        cmocka_unit_test(a_line_of_the_log_is_a_direct_seek),
        cmocka_unit_test(a_model_of_the_list_is_asked_for_by_its_line),
        cmocka_unit_test(the_arrows_move_the_focus_and_then_what_it_is_on),
        cmocka_unit_test(up_and_down_are_speed_where_nothing_can_have_the_focus),
        cmocka_unit_test(the_run_waits_until_both_guesses_are_set),
        cmocka_unit_test(the_button_sets_both_guesses_and_then_asks_again),
        cmocka_unit_test(a_guess_that_is_left_is_no_guess),
        cmocka_unit_test(without_a_model_there_is_no_prompt_to_type),
        cmocka_unit_test(a_clicker_reads_a_long_text_to_its_end_before_the_next_step),
        cmocka_unit_test(a_step_waits_for_a_run_that_is_still_measured),
        cmocka_unit_test(the_glossary_opens_at_a_word_of_the_page),
        cmocka_unit_test(sliders_and_the_switch_go_where_the_mouse_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
