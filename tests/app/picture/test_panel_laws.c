// What holds for every panel, over random runs and moments and over the whole walk: the
// same source gives the same panel, a prefix shows what the whole run shows, every text
// fits and is whole, every control is the one it says, lengths come back from their place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/state/lengths.h"
#include "compute/analysis/roofline.h"
#include "compute/base/utf8.h"
#include "tests/app/picture/panel_fixture.h"
#include "tests/compute/base/text_fault.h"
#include "tests/render/data/alike.h"

#include <stdio.h>
#include <string.h>

// --- The laws ---

static void check_same(const struct run *run, int64_t t_ns, uint64_t *random) {
    struct showing source = any_source(run, t_ns, random);
    memset(&panel_a, 0x5A, sizeof panel_a);
    panel_fill(&panel_a, &source.at, &source.stage);
    memset(&panel_b, 0xC3, sizeof panel_b);
    panel_fill(&panel_b, &source.at, &source.stage);
    assert_true(alike_panels(&panel_a, &panel_b));
}

static void the_same_source_gives_the_same_panel_whatever_was_before(void **state) {
    (void)state;
    for_random_moments(check_same);
}

static void same_bars(void) {
    assert_int_equal(panel_a.bar_count, panel_b.bar_count);
    for (int i = 0; i < panel_a.bar_count; i++) {
        assert_string_equal(panel_a.bars[i].label, panel_b.bars[i].label);
        assert_string_equal(panel_a.bars[i].value, panel_b.bars[i].value);
        assert_int_equal(panel_a.bars[i].first_ppm, panel_b.bars[i].first_ppm);
        assert_int_equal(panel_a.bars[i].second_ppm, panel_b.bars[i].second_ppm);
    }
}

static void same_parties(void) {
    assert_int_equal(panel_a.party_count, panel_b.party_count);
    for (int i = 0; i < panel_a.party_count; i++) {
        assert_string_equal(panel_a.parties[i].state, panel_b.parties[i].state);
        assert_int_equal(panel_a.parties[i].acts, panel_b.parties[i].acts);
        assert_int_equal(panel_a.parties[i].is_well, panel_b.parties[i].is_well);
    }
}

// What the panel adds behind the page's own blocks: cache, step, counting.
static void same_added_blocks(int from) {
    assert_int_equal(panel_a.block_count, panel_b.block_count);
    for (int i = from; i < panel_a.block_count; i++) {
        assert_string_equal(panel_a.blocks[i].heading, panel_b.blocks[i].heading);
        assert_string_equal(panel_a.blocks[i].text, panel_b.blocks[i].text);
    }
}

static void same_past_lines(const struct showing *source) {
    int past = run_event_at(source->at.run, source->at.t_ns) + 1;
    assert_true(panel_lines(&source->at, source->stage.side) >= past);
    for (int i = 0; i < past && i < panel_b.line_count; i++) {
        assert_string_equal(panel_a.lines[i].time, panel_b.lines[i].time);
        assert_string_equal(panel_a.lines[i].text, panel_b.lines[i].text);
        assert_true(panel_a.lines[i].is_past && panel_b.lines[i].is_past);
    }
}

static const enum side prefix_sides[] = {SIDE_NONE, SIDE_LOG, SIDE_WHY, SIDE_GLOSSARY};

// The title counts the steps of the whole run and a page's text may name its total, so
// of the step only what the panel itself says is compared.
static void check_prefix(const struct run *run, int64_t t_ns, uint64_t *random) {
    int marks = run_marks_at(run, t_ns);
    if (marks >= run->mark_count)
        return;
    struct run prefix;
    int least = t_ns > (marks ? run->mark_end_ns[marks - 1] : 0) ? marks + 1 : marks;
    run_prefix(&prefix, run, least);
    for (size_t i = 0; i < sizeof prefix_sides / sizeof prefix_sides[0]; i++) {
        struct showing whole = source_of(run, t_ns, prefix_sides[i]);
        whole.stage.place = place_with(run, i % 2 ? LESSON_PARTIES : LESSON_ANATOMY);
        if (random_between(random, 0, 2) == 0)
            whole.stage.place = place_with(run, LESSON_BARS);
        struct showing growing = whole;
        growing.at.run = &prefix;
        panel_fill(&panel_a, &whole.at, &whole.stage);
        panel_fill(&panel_b, &growing.at, &growing.stage);
        same_parties();
        same_bars();
        if (prefix_sides[i] == SIDE_LOG)
            same_past_lines(&growing);
        else if (prefix_sides[i] != SIDE_NONE)
            assert_true(alike_panels(&panel_a, &panel_b));
        if (prefix_sides[i] != SIDE_NONE)
            continue;
        lesson_page(&page, lesson, whole.stage.place, run, t_ns);
        same_added_blocks(page.block_count);
    }
}

static void live_equals_replay(void **state) {
    (void)state;
    for_random_moments(check_prefix);
}

// A playhead that runs ahead of the worker waits at the last stage there is.
static void check_ahead(const struct run *run, int64_t t_ns, uint64_t *random) {
    (void)t_ns;
    if (run->mark_count == 0)
        return;
    struct run prefix;
    run_prefix(&prefix, run, (int)random_between(random, 1, run->mark_count));
    struct showing source = any_source(&prefix, run_end_ns(&prefix), random);
    panel_fill(&panel_a, &source.at, &source.stage);
    source.at.t_ns += random_between(random, 1, 1000000000);
    panel_fill(&panel_b, &source.at, &source.stage);
    assert_true(alike_panels(&panel_a, &panel_b));
}

static void past_what_there_is_a_growing_run_shows_its_last_stage(void **state) {
    (void)state;
    for_random_moments(check_ahead);
}

// --- Texts ---

static void check_text(const char *text, size_t capacity) {
    size_t length = strnlen(text, capacity);
    assert_true(length < capacity);
    const char *fault = text_fault(text, "\n\x0E\x0F");
    if (fault || strpbrk(text, "{}"))
        fail_msg("%s in \"%s\"", fault ? fault : "an unfilled place", text);
    if (length > 0 && text[length - 1] == ' ')
        fail_msg("a space at the end of \"%s\"", text);
}

#define CHECK_TEXT(field) check_text(field, sizeof(field))

static void check_texts(const struct panel *panel) {
    CHECK_TEXT(panel->title);
    CHECK_TEXT(panel->foot);
    CHECK_TEXT(panel->tiles_label);
    for (int i = 0; i < panel->party_count; i++) {
        CHECK_TEXT(panel->parties[i].name);
        CHECK_TEXT(panel->parties[i].state);
    }
    for (int i = 0; i < panel->block_count; i++) {
        CHECK_TEXT(panel->blocks[i].heading);
        CHECK_TEXT(panel->blocks[i].text);
        assert_true(panel->blocks[i].heading[0] || panel->blocks[i].text[0]);
    }
    for (int i = 0; i < panel->bar_count; i++) {
        CHECK_TEXT(panel->bars[i].label);
        CHECK_TEXT(panel->bars[i].value);
        CHECK_TEXT(panel->bars[i].note);
    }
    for (int i = 0; i < panel->control_count; i++) {
        CHECK_TEXT(panel->controls[i].label);
        CHECK_TEXT(panel->controls[i].value);
        CHECK_TEXT(panel->controls[i].mark_label);
    }
    for (int i = 0; i < panel->line_count; i++) {
        CHECK_TEXT(panel->lines[i].time);
        CHECK_TEXT(panel->lines[i].text);
    }
}

static void check_random_texts(const struct run *run, int64_t t_ns, uint64_t *random) {
    struct showing source = any_source(run, t_ns, random);
    // Places of the run's own texts may hold braces: only plain ones are drawn here.
    panel_fill(&panel_a, &source.at, &source.stage);
    check_texts(&panel_a);
    assert_true(panel_a.title[0] != '\0');
    assert_in_range(panel_a.block_count, 0, PANEL_MAX_BLOCKS);
    assert_in_range(panel_a.control_count, 0, PANEL_MAX_CONTROLS);
    for (int i = 0; i < panel_a.control_count; i++) {
        assert_in_range(panel_a.controls[i].ppm, 0, VIEW_PPM);
        assert_in_range(panel_a.controls[i].mark_ppm + 1, 0, VIEW_PPM + 1);
        // Without a focus an open question has it.
        assert_true(panel_a.controls[i].is_focused == (i == source.stage.focus) ||
                    (source.stage.focus < 0 && panel_a.controls[i].target == TARGET_SPLIT));
    }
}

static void every_text_fits_is_whole_and_has_no_open_place(void **state) {
    (void)state;
    for_random_moments(check_random_texts);
}

static void check_not_cut(const char *text) {
    size_t length = strlen(text);
    if (length >= 3 && memcmp(text + length - 3, "\xE2\x80\xA6", 3) == 0)
        fail_msg("cut: \"%s\"", text);
}

static void check_none_cut(const struct panel *panel) {
    check_not_cut(panel->title);
    check_not_cut(panel->foot);
    check_not_cut(panel->tiles_label);
    for (int i = 0; i < panel->party_count; i++) {
        check_not_cut(panel->parties[i].name);
        check_not_cut(panel->parties[i].state);
    }
    for (int i = 0; i < panel->block_count; i++) {
        check_not_cut(panel->blocks[i].heading);
        check_not_cut(panel->blocks[i].text);
    }
    for (int i = 0; i < panel->bar_count; i++) {
        check_not_cut(panel->bars[i].label);
        check_not_cut(panel->bars[i].note);
    }
    for (int i = 0; i < panel->control_count; i++) {
        check_not_cut(panel->controls[i].label);
        check_not_cut(panel->controls[i].value);
        check_not_cut(panel->controls[i].mark_label);
    }
}

// Every step and every side at its end, with everything asked that can be asked.
static void check_whole_walk(const struct run *run) {
    struct lesson_place place = {0, 0};
    struct guess guess = {.stage = GUESS_SET, .is_split_set = true, .split_ppm = 333333};
    struct roofline roofline = {.is_measured = true, .rates = {12e9, 100e9, true}};
    do {
        struct showing source = source_of(run, lesson_step_ns(lesson, place, run), SIDE_NONE);
        source.stage.place = place;
        source.stage.guess = guess;
        source.stage.prompt_tokens = 1000;
        source.at.is_measuring = true;
        panel_fill(&panel_a, &source.at, &source.stage);
        check_none_cut(&panel_a);
    } while (lesson_move(lesson, &place, 1, run));
    for (int side = SIDE_NONE; side <= SIDE_SIMPLE; side++) {
        struct showing source = source_of(run, run_end_ns(run), (enum side)side);
        source.stage.guess = guess;
        source.at.roofline = &roofline;
        panel_fill(&panel_a, &source.at, &source.stage);
        check_none_cut(&panel_a);
    }
}

static void no_text_of_the_lesson_is_cut_in_any_language(void **state) {
    (void)state;
    static const struct measured of = {18, 7, 9600000, 3300000, 4200000};
    static const char *const languages[] = {"de", "en"};
    struct run *runs[] = {lesson_run("module-7", RUN_CHARGED, 0, 0),
                          lesson_run("stage-0", RUN_ENGINE, 0, 0), measured_run(&of)};
    for (size_t l = 0; l < 2; l++) {
        lesson_destroy(lesson);
        lesson = lesson_in(languages[l]);
        for (size_t r = 0; r < 3; r++)
            check_whole_walk(runs[r]);
    }
    for (size_t r = 0; r < 3; r++)
        run_destroy(runs[r]);
}

// --- Controls ---

static void check_controls(const struct run *run, int64_t t_ns, uint64_t *random) {
    struct showing source = any_source(run, t_ns, random);
    panel_fill(&panel_a, &source.at, &source.stage);
    static const uint8_t kinds[] = {
        [TARGET_PROMPT] = CONTROL_SLIDER,     [TARGET_ANSWER] = CONTROL_SLIDER,
        [TARGET_COUNTING] = CONTROL_SWITCH,   [TARGET_SPLIT] = CONTROL_SPLIT,
        [TARGET_SPLIT_DONE] = CONTROL_BUTTON, [TARGET_TTFT] = CONTROL_SLIDER,
        [TARGET_DECODE] = CONTROL_SLIDER,     [TARGET_GUESS_DONE] = CONTROL_BUTTON,
    };
    for (int i = 0; i < panel_a.control_count; i++) {
        enum panel_target target = (enum panel_target)panel_a.controls[i].target;
        assert_int_not_equal(target, TARGET_NONE);
        assert_int_equal(panel_a.controls[i].kind, kinds[target]);
    }
}

static void each_control_is_the_one_that_its_target_names(void **state) {
    (void)state;
    for_random_moments(check_controls);
}

static void sliders_stand_where_the_hand_is_and_mark_what_is_on_screen(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct showing source = source_of(run, run_end_ns(run), SIDE_NONE);
    source.stage.place = place_with(run, LESSON_PROMPT | LESSON_ANSWER);
    source.stage.prompt_tokens = 256;
    source.stage.answer_tokens = 7;
    source.at.is_measuring = true;
    panel_fill(&panel_a, &source.at, &source.stage);
    const struct panel_control *prompt = &panel_a.controls[control_of(&panel_a, TARGET_PROMPT)];
    const struct panel_control *answer = &panel_a.controls[control_of(&panel_a, TARGET_ANSWER)];
    assert_int_equal(prompt->ppm, 800000); // 2^8 of 2^10
    assert_int_equal(prompt->mark_ppm, length_ppm(18, 1024));
    assert_non_null(strstr(prompt->value, "256 tokens"));
    assert_non_null(strstr(prompt->mark_label, "18"));
    assert_int_equal(answer->ppm, length_ppm(7, 512));
    assert_int_equal(answer->mark_ppm, -1);
    assert_string_equal(answer->value, "7 tokens");
    assert_false(prompt->is_off || answer->is_off);
    source.at.can_move = false;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_true(panel_a.controls[control_of(&panel_a, TARGET_PROMPT)].is_off);
    assert_true(panel_a.controls[control_of(&panel_a, TARGET_ANSWER)].is_off);
    run_destroy(run);
}

// A run may stop at its limit: then the slider says how long it is, whatever was asked for.
static void an_answer_is_to_the_end_token_only_if_it_may_end_with_one(void **state) {
    (void)state;
    struct run *run = measured_run(&(struct measured){18, 16, 1000, 100, 64});
    struct showing source = source_of(run, run_end_ns(run), SIDE_NONE);
    source.stage.place = place_with(run, LESSON_ANSWER);
    panel_fill(&panel_a, &source.at, &source.stage);
    const struct panel_control *answer = &panel_a.controls[control_of(&panel_a, TARGET_ANSWER)];
    assert_string_equal(answer->value, "16 tokens");
    run->tokens[18 + 15].kind = RUN_CONTROL;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_string_equal(answer->value, "to the end token");
    run_destroy(run);
}

static void the_switch_stands_on_the_counting_shown(void **state) {
    (void)state;
    for (int counting = RUN_ENGINE; counting <= RUN_CHARGED; counting++) {
        struct run *run = lesson_run("module-7", (enum run_counting)counting, 0, 0);
        struct showing source = source_of(run, 0, SIDE_NONE);
        source.stage.place = place_with(run, LESSON_COUNTING);
        panel_fill(&panel_a, &source.at, &source.stage);
        const struct panel_control *control =
            &panel_a.controls[control_of(&panel_a, TARGET_COUNTING)];
        assert_int_equal(control->ppm, counting == RUN_CHARGED ? VIEW_PPM : 0);
        assert_string_equal(control->label, lesson_word(lesson, "switch.engine"));
        assert_string_equal(control->value, lesson_word(lesson, "switch.lesson"));
        assert_string_equal(block_text(&panel_a, "switch.counting"),
                            counting == RUN_CHARGED ? control->value : control->label);
        run_destroy(run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_source_gives_the_same_panel_whatever_was_before),
        cmocka_unit_test(live_equals_replay),
        cmocka_unit_test(past_what_there_is_a_growing_run_shows_its_last_stage),
        cmocka_unit_test(every_text_fits_is_whole_and_has_no_open_place),
        cmocka_unit_test(no_text_of_the_lesson_is_cut_in_any_language),
        cmocka_unit_test(each_control_is_the_one_that_its_target_names),
        cmocka_unit_test(sliders_stand_where_the_hand_is_and_mark_what_is_on_screen),
        cmocka_unit_test(an_answer_is_to_the_end_token_only_if_it_may_end_with_one),
        cmocka_unit_test(the_switch_stands_on_the_counting_shown),
    };
    return cmocka_run_group_tests(tests, open_lesson, close_lesson);
}
