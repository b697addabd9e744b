// One frame of every mode, and the mouse on it: what is drawn is what is hit, and the
// mouse does what the keys do.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/window/pointer.h"
#include "compute/base/why.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/compute/run/random_run.h"

#include <stdlib.h>
#include <string.h>

static const struct random_run_limits small = {
    .max_layers = 12, .max_prompt = 40, .max_answers = 20};

struct bench {
    struct text *text;
    struct lesson *lesson;
    struct frame *frame;
};

static int open_bench(void **state) {
    struct bench *bench = calloc(1, sizeof *bench);
    struct why why;
    bench->frame = calloc(1, sizeof *bench->frame);
    if (!text_create(&bench->text, &why)) {
        print_error("%s\n", why.text);
        return -1;
    }
    bench->lesson = lesson_in("en");
    *state = bench;
    return 0;
}

static int close_bench(void **state) {
    struct bench *bench = *state;
    text_destroy(bench->text);
    lesson_destroy(bench->lesson);
    free(bench->frame);
    free(bench);
    return 0;
}

static struct stage_state stage_for(const struct run *run, enum mode_choice mode) {
    struct stage_state stage = {
        .playhead = {.rate = {1, 1}},
        .landed_ns = INT64_MIN,
        .mode = mode,
        .focus = -1,
        .list_focus = -1,
        .guess = guess_new(),
    };
    stage = actions_show_run(stage, run, NULL, 0);
    stage.playhead = playhead_pause(stage.playhead, 0, true);
    return stage;
}

static struct actions_context draw(struct bench *bench, const struct stage_state *stage,
                                   const struct run *run, int width_px, int height_px) {
    struct at_hand at = {
        .run = run,
        .t_ns = playhead_at(&stage->playhead, 0),
        .has_engine = true,
        .can_move = true,
        .longest_prompt = 1024,
        .longest_answer = 256,
        .lesson = bench->lesson,
    };
    struct frame_target target = {width_px, height_px, false, bench->text};
    frame_compose(bench->frame, &at, stage, &target);
    struct actions_context context = {.run = run,
                                      .longest_prompt = 1024,
                                      .longest_answer = 256,
                                      .lesson = bench->lesson,
                                      .can_measure = true};
    frame_fill_context(&context, bench->frame, stage);
    return context;
}

// The first place, going over the picture in a grid, that is of this kind; false: none.
static bool find(const struct frame *frame, enum frame_part part, enum panel_target target, int *x,
                 int *y) {
    // A hit places the whole panel: columns far apart are enough, nothing is narrower.
    for (*y = 2; *y < frame->layout.input.height_px; *y += 8) {
        for (*x = 2; *x < frame->layout.input.width_px; *x += 48) {
            struct frame_hit hit = frame_hit(frame, *x, *y);
            if (hit.part == part && (target == TARGET_NONE || hit.target == target))
                return true;
        }
    }
    return false;
}

static struct stage_state mouse(struct bench *bench, struct stage_state stage,
                                struct pointer *pointer, enum input_kind kind, int x, int y,
                                int turn, const struct actions_context *context) {
    enum action action;
    struct input_event event = {.kind = kind, .x = x, .y = y, .turn = turn};
    stage = pointer_apply(stage, pointer, &action, &event, bench->frame, context);
    return action == ACTION_NONE ? stage : actions_apply(stage, action, context);
}

static void the_same_frame_twice_is_the_same_list(void **state) {
    struct bench *bench = *state;
    for (uint64_t seed = 1; seed < 12; seed++) {
        struct run *run = random_run(seed, &small);
        for (int mode = MODE_STAGE; mode <= MODE_LAB; mode++) {
            struct stage_state stage = stage_for(run, (enum mode_choice)mode);
            struct actions_context context = {.run = run, .lesson = bench->lesson};
            stage = actions_seek(stage, run_end_ns(run) / 3, &context);
            draw(bench, &stage, run, 1280, 720);
            uint64_t hash = cmdlist_hash(&bench->frame->scene);
            assert_int_equal(bench->frame->scene.dropped, 0);
            assert_int_equal(bench->frame->is_lab, mode == MODE_LAB);
            assert_int_equal(bench->frame->has_panel, mode == MODE_LESSON);
            draw(bench, &stage, run, 640, 480);
            draw(bench, &stage, run, 1280, 720);
            assert_true(cmdlist_hash(&bench->frame->scene) == hash);
        }
        run_destroy(run);
    }
}

static void panel_and_read_outs_show_one_time_while_it_runs(void **state) {
    struct bench *bench = *state;
    struct run *run = lesson_run("stage-0", RUN_ENGINE, 0, 0);
    struct stage_state stage = stage_for(run, MODE_LESSON);
    stage.playhead.rate = (struct playhead_rate){1, 50};
    stage.place = (struct lesson_place){1, 0};
    int seen = 0;
    for (int i = 1; i < 60; i++) {
        struct at_hand at = {.run = run, .t_ns = 1700000 * i, .lesson = bench->lesson};
        struct frame_target target = {1280, 720, true, bench->text};
        stage.playhead.is_paused = false;
        stage.landed_ns = INT64_MIN;
        frame_compose(bench->frame, &at, &stage, &target);
        const struct panel *panel = &bench->frame->panel;
        for (int block = 0; block < panel->block_count; block++) {
            const char *clock = strstr(panel->blocks[block].text, "Clock: ");
            const char *time = bench->frame->view.readouts[0].value;
            size_t digits = strspn(time, "0123456789.");
            if (clock && ++seen)
                assert_memory_equal(clock + strlen("Clock: "), time, digits);
        }
    }
    assert_true(seen > 20);
    run_destroy(run);
}

static void calm_pictures_change_only_with_events(void **state) {
    struct bench *bench = *state;
    struct run *run = random_run(5, &small);
    struct stage_state stage = stage_for(run, MODE_STAGE);
    struct actions_context context = {.run = run};
    stage.is_calm = true;
    stage.landed_ns = INT64_MIN; // as while it plays
    int pictures = 0;
    uint64_t before = 0;
    for (int i = 0; i <= 2000; i++) {
        stage.playhead = playhead_seek(stage.playhead, 0, run_end_ns(run) * i / 2000);
        draw(bench, &stage, run, 1280, 720);
        assert_int_equal(bench->frame->view.drop.grown_ppm, 0);
        assert_int_equal(bench->frame->view.trail.light_ppm, 0);
        uint64_t hash = cmdlist_hash(&bench->frame->scene);
        pictures += i == 0 || hash != before;
        before = hash;
    }
    assert_true(pictures <= run_events(run));
    assert_true(pictures > 2);
    stage = actions_seek(stage, run_event_ns(run, 1), &context);
    draw(bench, &stage, run, 1280, 720);
    uint64_t calm = cmdlist_hash(&bench->frame->scene);
    stage.is_calm = false;
    draw(bench, &stage, run, 1280, 720);
    assert_true(cmdlist_hash(&bench->frame->scene) == calm); // a settled event is what it is
    run_destroy(run);
}

static void every_control_of_the_lesson_can_be_taken_with_the_mouse(void **state) {
    struct bench *bench = *state;
    static const enum panel_target wanted[] = {TARGET_PROMPT, TARGET_ANSWER, TARGET_COUNTING,
                                               TARGET_SPLIT, TARGET_SPLIT_DONE};
    bool is_met[sizeof wanted / sizeof wanted[0]] = {false};
    struct run *run = random_run(9, &small);
    for (int chapter = 1; chapter < lesson_chapters(bench->lesson); chapter++) {
        for (int step = 0; step < lesson_steps(bench->lesson, chapter, run); step++) {
            struct stage_state stage = stage_for(run, MODE_LESSON);
            stage.place = (struct lesson_place){chapter, step};
            draw(bench, &stage, run, 1600, 900);
            for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
                int x, y;
                is_met[i] = is_met[i] || find(bench->frame, FRAME_CONTROL, wanted[i], &x, &y);
            }
        }
    }
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_true(is_met[i]);
    run_destroy(run);
}

static void a_slider_of_the_lab_follows_the_hand(void **state) {
    struct bench *bench = *state;
    struct run *run = random_run(9, &small);
    struct stage_state stage = stage_for(run, MODE_LAB);
    struct pointer pointer = {0};
    int x = 0, y = 0;
    struct actions_context context = draw(bench, &stage, run, 1600, 900);
    assert_true(find(bench->frame, FRAME_CONTROL, TARGET_PROMPT, &x, &y));
    stage = mouse(bench, stage, &pointer, INPUT_PRESS, x, y, 1, &context);
    assert_int_equal(stage.focus, 0);
    int first = stage.prompt_tokens;
    stage = mouse(bench, stage, &pointer, INPUT_DRAG, 1599, 0, 0, &context); // far off the track
    assert_int_equal(stage.prompt_tokens, 1024);
    assert_true(first < 1024);
    assert_true(stage.requests & REQUEST_MEASURE_SOON);
    stage = mouse(bench, stage, &pointer, INPUT_RELEASE, 1599, 0, 0, &context);
    stage = mouse(bench, stage, &pointer, INPUT_DRAG, 0, 0, 0, &context); // nothing is held
    assert_int_equal(stage.prompt_tokens, 1024);
    run_destroy(run);
}

static void the_clock_can_be_dragged_and_shows_where_it_is(void **state) {
    struct bench *bench = *state;
    struct run *run = random_run(4, &small);
    static const enum mode_choice modes[] = {MODE_STAGE, MODE_SHOW, MODE_LESSON, MODE_LAB};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct stage_state stage = stage_for(run, modes[i]);
        struct pointer pointer = {0};
        int x = 0, y = 0;
        struct actions_context context = draw(bench, &stage, run, 1280, 720);
        assert_true(find(bench->frame, FRAME_CLOCK, TARGET_NONE, &x, &y));
        stage = mouse(bench, stage, &pointer, INPUT_PRESS, x, y, 1, &context);
        assert_true(stage.playhead.is_paused);
        int64_t last_ns = -1;
        for (int at = 0; at < 1280; at += 64) {
            stage = mouse(bench, stage, &pointer, INPUT_DRAG, at, y, 0, &context);
            int64_t now_ns = playhead_at(&stage.playhead, 0);
            assert_true(now_ns >= last_ns && now_ns <= run_end_ns(run));
            last_ns = now_ns;
        }
        assert_true(last_ns > run_end_ns(run) / 2);
    }
    run_destroy(run);
}

static void an_underlined_word_opens_the_glossary_at_itself(void **state) {
    struct bench *bench = *state;
    struct run *run = random_run(6, &small);
    struct stage_state stage = stage_for(run, MODE_LESSON);
    struct actions_context context = {.run = run, .lesson = bench->lesson};
    int words = 0;
    for (int event = 0; event < run_events(run) && event < 4; event++) {
        stage = actions_seek(stage, run_event_ns(run, event), &context);
        context = draw(bench, &stage, run, 1600, 900);
        int x = 0, y = 0;
        bool is_found = false;
        struct rect panel = bench->frame->layout.panel;
        for (y = panel.y; !is_found && y < panel.y + panel.h; y += 6)
            for (x = panel.x; !is_found && x < panel.x + panel.w; x += 12)
                is_found = frame_hit(bench->frame, x, y).part == FRAME_TERM;
        if (!is_found)
            continue;
        x -= 12;
        y -= 6;
        struct pointer pointer = {0};
        struct stage_state open = mouse(bench, stage, &pointer, INPUT_PRESS, x, y, 1, &context);
        assert_int_equal(open.side, SIDE_GLOSSARY);
        assert_true(open.list_focus >= 0);
        words++;
    }
    assert_true(words > 0);
    run_destroy(run);
}

static void a_line_of_the_log_is_a_click_away(void **state) {
    struct bench *bench = *state;
    struct run *run = random_run(6, &small);
    struct stage_state stage = stage_for(run, MODE_STAGE);
    stage.side = SIDE_LOG;
    struct actions_context context = draw(bench, &stage, run, 1600, 900);
    struct pointer pointer = {0};
    int x = 0, y = 0, met = 0, before = -1;
    for (y = 0; y < 900; y += 9) {
        x = bench->frame->layout.panel.x + bench->frame->layout.panel.w / 2;
        struct frame_hit hit = frame_hit(bench->frame, x, y);
        if (hit.part != FRAME_LINE || hit.index == before)
            continue;
        before = hit.index;
        struct stage_state went = mouse(bench, stage, &pointer, INPUT_PRESS, x, y, 1, &context);
        assert_int_equal(playhead_at(&went.playhead, 0), run_event_ns(run, hit.index));
        met++;
    }
    assert_true(met >= 2);
    run_destroy(run);
}

static void a_double_click_on_nothing_is_full_screen(void **state) {
    struct bench *bench = *state;
    struct run *run = random_run(6, &small);
    struct stage_state stage = stage_for(run, MODE_STAGE);
    struct actions_context context = draw(bench, &stage, run, 1600, 900);
    struct pointer pointer = {0};
    struct stage_state once = mouse(bench, stage, &pointer, INPUT_PRESS, 5, 5, 1, &context);
    assert_false(once.is_fullscreen);
    struct stage_state twice = mouse(bench, stage, &pointer, INPUT_PRESS, 5, 5, 2, &context);
    assert_true(twice.is_fullscreen);
    run_destroy(run);
}

static void nothing_is_hit_before_there_is_a_run(void **state) {
    struct bench *bench = *state;
    struct stage_state stage = {.focus = -1};
    struct at_hand at = {0};
    struct frame_target target = {800, 600, false, bench->text};
    memset(bench->frame, 0, sizeof *bench->frame);
    frame_compose(bench->frame, &at, &stage, &target);
    int x, y;
    assert_false(find(bench->frame, FRAME_CONTROL, TARGET_NONE, &x, &y));
    assert_false(find(bench->frame, FRAME_CLOCK, TARGET_NONE, &x, &y));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_frame_twice_is_the_same_list),
        cmocka_unit_test(panel_and_read_outs_show_one_time_while_it_runs),
        cmocka_unit_test(calm_pictures_change_only_with_events),
        cmocka_unit_test(every_control_of_the_lesson_can_be_taken_with_the_mouse),
        cmocka_unit_test(a_slider_of_the_lab_follows_the_hand),
        cmocka_unit_test(the_clock_can_be_dragged_and_shows_where_it_is),
        cmocka_unit_test(an_underlined_word_opens_the_glossary_at_itself),
        cmocka_unit_test(a_line_of_the_log_is_a_click_away),
        cmocka_unit_test(a_double_click_on_nothing_is_full_screen),
        cmocka_unit_test(nothing_is_hit_before_there_is_a_run),
    };
    return cmocka_run_group_tests(tests, open_bench, close_bench);
}
