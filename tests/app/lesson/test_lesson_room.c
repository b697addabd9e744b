// Every page of the lesson, drawn: in both languages, on the clocks of the lesson and
// on measured ones, at the sizes of projectors and screens, nothing of the panel is out
// of sight and no text lies on another. A page that is out of sight cannot be taught.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/picture/frame.h"
#include "compute/base/why.h"
#include "compute/run/recount.h"
#include "render/paint/wrap.h"
#include "tests/app/picture/panel_fixture.h"
#include "tests/compute/run/plain_run.h"

#include <stdlib.h>
#include <string.h>

static struct frame *frame;
static struct text *text;

static const int SIZES[][2] = {{1024, 768}, {1280, 720}, {1280, 800}, {1920, 1080}, {3840, 2160}};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

static const char *const LANGUAGES[] = {"en", "de"};
enum { LANGUAGE_COUNT = sizeof LANGUAGES / sizeof LANGUAGES[0] };

// How a page can be met.
struct meeting {
    bool is_film, can_measure, is_split_set;
    const struct run *before; // another run to compare with, NULL = none
};

static int open_bench(void **state) {
    (void)state;
    struct why why;
    frame = calloc(1, sizeof *frame);
    if (!frame || !text_create(&text, &why)) {
        print_error("no frame or no fonts\n");
        return -1;
    }
    return 0;
}

static int close_bench(void **state) {
    (void)state;
    text_destroy(text);
    free(frame);
    return 0;
}

// --- A run of the bundled model's size, in milliseconds ---

// A device with a long name, and times that need all their digits.
static struct run *bundled_run(void) {
    static const char *const prompt[] = {
        "<s>",     " You", " are",   " a",  " support", " agent", ".",   " Answer", " from", " the",
        " policy", ".",    " Where", " is", " my",      " par",   "cel", "?",       NULL};
    static const char *const answer[] = {" Your", " parcel", " is",  " on",
                                         " its",  " way",    "</s>", NULL};
    return plain_run(&(struct plain_run){.info = {.origin = RUN_MEASURED,
                                                  .device = "cuda:0",
                                                  .device_name = "NVIDIA H100 80GB HBM3",
                                                  .model = "bundled",
                                                  .threads = 16,
                                                  .layers = 8,
                                                  .heads = 8,
                                                  .kv_heads = 4,
                                                  .head_dim = 32,
                                                  .kv_value_bytes = 4,
                                                  .weight_bytes = 4587520,
                                                  .prompt_tokens = 18,
                                                  .answer_limit = 7},
                                         .prefill_ns = 12847293,
                                         .step_ns = 10638211,
                                         .gap_ns = 1234,
                                         .prompt = prompt,
                                         .answer = answer});
}

// --- Drawing a page ---

static void compose(const struct run *run, const struct stage_state *stage, int64_t t_ns,
                    const struct meeting *meeting, const int size[2]) {
    struct at_hand at = {
        .run = run,
        .t_ns = t_ns,
        .can_move = meeting->can_measure,
        .longest_prompt = 1024,
        .longest_answer = 256,
        .lesson = lesson,
        .before = meeting->before,
    };
    struct frame_target target = {size[0], size[1], meeting->is_film, text};
    frame_compose(frame, &at, stage, &target);
}

static struct stage_state stage_for(const struct run *run, const struct meeting *meeting) {
    struct stage_state stage = {
        .playhead = {.rate = {1, 1}},
        .landed_ns = INT64_MIN,
        .mode = MODE_LESSON,
        .focus = -1,
        .list_focus = -1,
        .guess = guess_new(),
    };
    stage = actions_show_run(stage, run, NULL, 0);
    stage.playhead = playhead_pause(stage.playhead, 0, true);
    stage.guess.is_split_set = meeting->is_split_set;
    return stage;
}

static bool is_apart(struct rect a, struct rect b) {
    return a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
}

// The two first texts of the panel that lie on each other; false: none do.
static bool has_overlap(const struct cmd **a, const struct cmd **b) {
    const struct cmdlist *list = &frame->scene;
    struct rect panel = frame->layout.panel;
    for (int i = 0; i < list->count; i++) {
        *a = &list->cmds[i];
        if ((*a)->kind != CMD_TEXT)
            continue;
        struct rect one = (*a)->rect;
        one.y -= one.h; // from its baseline up
        if (is_apart(one, panel))
            continue;
        for (int k = i + 1; k < list->count; k++) {
            *b = &list->cmds[k];
            struct rect two = (*b)->rect;
            two.y -= two.h;
            if ((*b)->kind == CMD_TEXT && !is_apart(one, two))
                return true;
        }
    }
    return false;
}

// Smallest font of the panel's texts, in px.
static int smallest_px(void) {
    int least = INT16_MAX;
    for (int i = 0; i < frame->scene.count; i++) {
        const struct cmd *cmd = &frame->scene.cmds[i];
        struct rect rect = {cmd->rect.x, cmd->rect.y - cmd->rect.h, cmd->rect.w, cmd->rect.h};
        if (cmd->kind == CMD_TEXT && !is_apart(rect, frame->layout.panel) && cmd->stroke < least)
            least = cmd->stroke;
    }
    return least;
}

// Lines of the foot at the least size that a text of the panel has.
static int foot_lines(void) {
    int pad = layout_panel_pad_px(&frame->layout);
    struct wrap_style style = {FACE_WORDS, frame->layout.floor_px, frame->layout.panel.w - 2 * pad};
    return wrap_count(text, &style, frame->panel.foot, 9);
}

static bool is_cut_text(const struct cmd *cmd) {
    const char *name = frame->scene.text + cmd->text_offset;
    size_t length = cmd->kind == CMD_TEXT ? (size_t)cmd->text_bytes : 0;
    return length >= 3 && memcmp(name + length - 3, "…", 3) == 0;
}

// A layer's name or a caption that ends in an ellipsis: the language's words find no room.
static bool has_cut_words(void) {
    struct rect grid = frame->layout.grid, caption = frame->layout.caption;
    for (int i = 0; i < frame->scene.count; i++) {
        const struct cmd *cmd = &frame->scene.cmds[i];
        bool is_name = cmd->rect.x < grid.x && cmd->rect.y > grid.y;
        bool is_caption = cmd->rect.x == caption.x && cmd->rect.y > caption.y &&
                          cmd->rect.y <= caption.y + caption.h;
        if (is_cut_text(cmd) && (is_name || is_caption))
            return true;
    }
    return false;
}

struct tally {
    int pages, cut, overlapping, small, long_feet;
};

static void judge(struct tally *tally, const char *name, const int size[2],
                  const struct meeting *meeting) {
    const struct cmd *a, *b;
    bool overlaps = has_overlap(&a, &b), is_cut = frame->panel_cut > 0 || has_cut_words();
    bool is_small = smallest_px()<frame->layout.floor_px, is_long = foot_lines()> 2;
    tally->pages++;
    tally->cut += is_cut;
    tally->overlapping += overlaps;
    tally->small += is_small;
    tally->long_feet += is_long;
    if (is_cut || overlaps || is_small || is_long)
        print_error("%s %s %dx%d%s%s: %s%s%s: %s | %s\n", name, lesson_word(lesson, "heading.why"),
                    size[0], size[1], meeting->is_film ? " film" : "",
                    meeting->is_split_set ? " split" : "", is_cut ? "cut" : "",
                    overlaps ? " overlap " : "", overlaps ? frame->scene.text + a->text_offset : "",
                    frame->panel.title, frame->panel.foot);
}

// Steps of a long answer differ by their words and digits. In the least room each is
// drawn; in more, these.
static bool is_drawn(struct lesson_place place, int size) {
    return size == 0 || place.chapter > 0 || place.step < 12 || place.step % 16 == 0;
}

// A theme moves nothing: they take turns, so that every page is met in both.
static void walk(struct tally *tally, const char *name, const struct run *run,
                 const struct meeting *meeting, int first_chapter) {
    struct stage_state stage = stage_for(run, meeting);
    int turn = 0;
    for (int i = 0; i < SIZE_COUNT; i++) {
        stage.place = (struct lesson_place){first_chapter, 0};
        do {
            if (!is_drawn(stage.place, i))
                continue;
            int64_t t_ns = lesson_step_ns(lesson, stage.place, run);
            stage.landed_ns = t_ns;
            stage.theme = (turn + stage.place.step + i) % 2 ? THEME_DARK : THEME_PROJECTOR;
            compose(run, &stage, t_ns, meeting, SIZES[i]);
            assert_true(frame->has_panel);
            judge(tally, name, SIZES[i], meeting);
        } while (lesson_move(lesson, &stage.place, 1, run));
        turn += meeting->is_film;
    }
}

// What can be measured and what was answered changes only chapters with controls.
static void walk_all(struct tally *tally, const char *name, const struct run *run,
                     const struct run *before) {
    for (int i = 0; i < 4; i++) {
        struct meeting meeting = {.is_film = i & 1, .can_measure = i < 2, .is_split_set = i >= 2};
        meeting.before = i < 2 ? NULL : before;
        walk(tally, name, run, &meeting, i < 2 ? 0 : 1);
    }
}

static void demand(const struct tally *tally, int least_pages) {
    assert_true(tally->pages >= least_pages);
    assert_int_equal(tally->cut, 0);
    assert_int_equal(tally->overlapping, 0);
    assert_int_equal(tally->small, 0);
    assert_int_equal(tally->long_feet, 0);
}

static void for_languages(void (*check)(struct tally *tally)) {
    struct tally tally = {0};
    for (int i = 0; i < LANGUAGE_COUNT; i++) {
        lesson = lesson_in(LANGUAGES[i]);
        check(&tally);
        lesson_destroy(lesson);
        lesson = NULL;
    }
    demand(&tally, 1000);
}

static void check_schedule(struct tally *tally, const char *name) {
    for (int counting = RUN_ENGINE; counting <= RUN_CHARGED; counting++) {
        struct run *run = lesson_run(name, (enum run_counting)counting, 0, 0);
        struct run *before = lesson_run(name, (enum run_counting)counting, 11, 5);
        walk_all(tally, name, run, before);
        run_destroy(before);
        run_destroy(run);
    }
}

static void check_module_7(struct tally *tally) {
    check_schedule(tally, "module-7");
}

static void check_stage_0(struct tally *tally) {
    check_schedule(tally, "stage-0");
}

static void check_measured(struct tally *tally) {
    static const struct measured shorter = {40, 9, 21000000, 11000000, 4587520};
    struct run *run = bundled_run(), *before = measured_run(&shorter), *charged = NULL;
    struct why why;
    walk_all(tally, "measured", run, before);
    assert_true(run_recount(&charged, run, RUN_CHARGED, &why));
    walk_all(tally, "modelled", charged, before);
    run_destroy(charged);
    run_destroy(before);
    run_destroy(run);
}

static void every_page_of_module_7_is_in_sight(void **state) {
    (void)state;
    for_languages(check_module_7);
}

static void every_page_of_stage_0_is_in_sight(void **state) {
    (void)state;
    for_languages(check_stage_0);
}

static void every_page_of_a_measured_run_is_in_sight(void **state) {
    (void)state;
    for_languages(check_measured);
}

// --- The two questions and what came of them ---

static void ask(struct tally *tally, const char *name, const struct run *run) {
    static const enum side sides[] = {SIDE_PREDICT, SIDE_PREDICT, SIDE_PREDICT, SIDE_SIMPLE};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 2 * SIZE_COUNT; i++) {
            struct meeting meeting = {.is_film = i % 2, .can_measure = true};
            struct stage_state stage = stage_for(run, &meeting);
            stage.side = sides[k];
            stage.guess.stage = k == 0 ? GUESS_TTFT : GUESS_SET;
            int64_t t_ns = k < 2 ? 0 : run_end_ns(run);
            compose(run, &stage, t_ns, &meeting, SIZES[i / 2]);
            judge(tally, name, SIZES[i / 2], &meeting);
        }
    }
}

static void every_question_is_in_sight(void **state) {
    (void)state;
    struct tally tally = {0};
    for (int i = 0; i < LANGUAGE_COUNT; i++) {
        lesson = lesson_in(LANGUAGES[i]);
        struct run *runs[] = {lesson_run("module-7", RUN_CHARGED, 0, 0),
                              lesson_run("stage-0", RUN_CHARGED, 0, 0), bundled_run()};
        for (int k = 0; k < 3; k++) {
            ask(&tally, "question", runs[k]);
            run_destroy(runs[k]);
        }
        lesson_destroy(lesson);
        lesson = NULL;
    }
    demand(&tally, 2 * 3 * 4 * 2 * SIZE_COUNT);
}

// A key pressed on the frame drawn last.
static struct stage_state press(struct stage_state stage, enum action action, const struct run *run,
                                const struct meeting *meeting) {
    struct actions_context context = {.run = run, .lesson = lesson};
    frame_fill_context(&context, frame, &stage);
    stage = actions_apply(stage, action, &context);
    compose(run, &stage, playhead_at(&stage.playhead, 0), meeting, SIZES[0]);
    return stage;
}

// The hint names left, right, Enter and PageDown; nothing else is needed, and no key but
// those two answers.
static void the_question_works_by_the_keys_that_it_names(void **state) {
    static const enum action answers[] = {ACTION_ENTER, ACTION_PAGE_NEXT};
    static const struct meeting meeting = {.can_measure = true};
    (void)state;
    lesson = lesson_in("en");
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    for (int i = 0; i < 2; i++) {
        struct stage_state stage = stage_for(run, &meeting);
        struct lesson_page shown = {0};
        while (!(shown.shows & LESSON_SPLIT)) {
            assert_true(lesson_move(lesson, &stage.place, 1, run));
            lesson_page(&shown, lesson, stage.place, run, 0);
        }
        struct lesson_place asked = stage.place;
        stage.playhead = playhead_seek(stage.playhead, 0, lesson_step_ns(lesson, asked, run));
        compose(run, &stage, lesson_step_ns(lesson, asked, run), &meeting, SIZES[0]);
        assert_true(frame->panel.controls[0].is_focused);
        stage = press(stage, ACTION_EVENT_NEXT, run, &meeting);
        stage = press(stage, ACTION_EVENT_NEXT, run, &meeting);
        stage = press(stage, ACTION_EVENT_BACK, run, &meeting);
        assert_int_equal(stage.guess.split_ppm, 510000);
        static const enum action others[] = {ACTION_DOWN,      ACTION_EVENT_BACK, ACTION_UP,
                                             ACTION_UP,        ACTION_EVENT_BACK, ACTION_CLOSE,
                                             ACTION_EVENT_NEXT};
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
            stage = press(stage, others[k], run, &meeting);
        assert_int_equal(stage.guess.split_ppm, 500000);
        assert_false(stage.guess.is_split_set);
        assert_memory_equal(&stage.place, &asked, sizeof asked);
        stage = press(stage, answers[i], run, &meeting);
        assert_true(stage.guess.is_split_set);
        assert_memory_equal(&stage.place, &asked, sizeof asked);
        stage = press(stage, ACTION_EVENT_NEXT, run, &meeting); // and the arrows step again
        assert_int_equal(stage.place.step, asked.step + 1);
        stage = press(stage, ACTION_EVENT_BACK, run, &meeting);
        assert_false(stage.guess.is_split_set);
    }
    run_destroy(run);
    lesson_destroy(lesson);
    lesson = NULL;
}

static void an_answered_question_can_be_divided_again(void **state) {
    (void)state;
    struct actions_context context = {.target = TARGET_SPLIT_DONE, .control_count = 2};
    struct stage_state stage = {.mode = MODE_LESSON, .focus = 1, .guess = guess_new()};
    stage = actions_apply(stage, ACTION_ENTER, &context);
    assert_true(stage.guess.is_split_set);
    assert_int_equal(stage.focus, -1);
    stage = actions_apply(stage, ACTION_ENTER, &context);
    assert_false(stage.guess.is_split_set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_of_module_7_is_in_sight),
        cmocka_unit_test(every_page_of_stage_0_is_in_sight),
        cmocka_unit_test(every_page_of_a_measured_run_is_in_sight),
        cmocka_unit_test(every_question_is_in_sight),
        cmocka_unit_test(the_question_works_by_the_keys_that_it_names),
        cmocka_unit_test(an_answered_question_can_be_divided_again),
    };
    return cmocka_run_group_tests(tests, open_bench, close_bench);
}
