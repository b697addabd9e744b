// The lesson's step in the panel: who acts, the page, wait and total, the anatomy of a
// decode step, over runs whose figures are known and over random ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/app/picture/panel_fixture.h"

#include <stdio.h>
#include <string.h>

enum { RUNS = 200 };

// --- Parties, page, cache ---

static void assert_party(int party, bool acts, const char *state) {
    char text[80];
    snprintf(text, sizeof text, "%s: %s", acts ? "now" : "healthy", state);
    assert_string_equal(panel_a.parties[party].state, text);
}

static void nine_steps_say_who_acts(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    static const struct lesson_place place = {1, 0}; // the chapter that follows the run
    static const struct {
        int64_t units;
        bool model_acts;
        const char *application, *model;
        uint8_t tone;
    } rows[] = {
        {0, false, "application.ready", "model.waits", TONE_INK},
        {40, true, "application.waits", "model.prefill", TONE_PREFILL},
        {72, true, "application.waits", "model.prefill", TONE_PREFILL},
        {80, true, "application.waits", "model.charged", TONE_DECODE},
        {97, true, "application.reads", "model.charged", TONE_DECODE},
        {110, true, "application.reads", "model.decode", TONE_DECODE},
        {222, true, "application.reads", "model.decode", TONE_DECODE},
        {247, false, "application.done", "model.done", TONE_INK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct showing source = source_of(run, rows[i].units * 1000000, SIDE_NONE);
        source.stage.place = place;
        panel_fill(&panel_a, &source.at, &source.stage);
        assert_int_equal(panel_a.party_count, 2);
        assert_int_equal(panel_a.parties[0].acts, !rows[i].model_acts);
        assert_int_equal(panel_a.parties[1].acts, rows[i].model_acts);
        assert_true(panel_a.parties[0].is_well && panel_a.parties[1].is_well);
        assert_party(0, !rows[i].model_acts, said(rows[i].application, run, source.at.t_ns, NULL));
        assert_party(1, rows[i].model_acts, said(rows[i].model, run, source.at.t_ns, NULL));
        assert_int_equal(panel_a.title_tone, rows[i].tone);
    }
    run_destroy(run);
}

static void a_run_that_ended_early_leaves_its_model_unwell(void **state) {
    (void)state;
    static const struct random_run_limits limits = {.max_layers = 20, .may_fail = true};
    int failed = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct run *run = random_run(seed, &limits);
        struct showing source = source_of(run, run_end_ns(run), SIDE_NONE);
        source.stage.place = place_with(run, LESSON_PARTIES);
        panel_fill(&panel_a, &source.at, &source.stage);
        assert_int_equal(panel_a.parties[1].is_well, run->state == RUN_COMPLETE);
        assert_true(panel_a.parties[0].is_well);
        assert_false(panel_a.parties[1].acts);
        failed += run->state == RUN_FAILED;
        source.at.t_ns = -1;
        panel_fill(&panel_a, &source.at, &source.stage);
        if (run->mark_count > 0)
            assert_true(panel_a.parties[1].is_well);
        run_destroy(run);
    }
    assert_true(failed > 20);
}

static void check_page(const struct run *run, int64_t t_ns, uint64_t *random) {
    struct showing source = source_of(run, t_ns, SIDE_NONE);
    source.stage.place = any_place(run, random);
    panel_fill(&panel_a, &source.at, &source.stage);
    if (run->state == RUN_OPEN)
        return;
    struct lesson_place place = lesson_place_at(lesson, source.stage.place, run, t_ns);
    lesson_page(&page, lesson, place, run, t_ns);
    assert_string_equal(panel_a.title, page.title);
    assert_true(panel_a.block_count >= page.block_count);
    for (int i = 0; i < page.block_count; i++) {
        assert_string_equal(panel_a.blocks[i].heading, page.blocks[i].heading);
        assert_string_equal(panel_a.blocks[i].text, page.blocks[i].text);
    }
    assert_int_equal(panel_a.party_count, page.shows & LESSON_PARTIES ? 2 : 0);
}

static void the_panel_shows_the_lessons_page_of_the_moment(void **state) {
    (void)state;
    for_random_moments(check_page);
}

static bool has_text(const struct panel *panel, const char *part) {
    for (int i = 0; i < panel->block_count; i++)
        if (strstr(plain_spaces(panel->blocks[i].text), part))
            return true;
    return false;
}

static void the_cache_line_says_what_one_entry_holds(void **state) {
    (void)state;
    static const struct measured of = {3, 4, 1000, 100, 10000};
    struct run *run = measured_run(&of);
    struct showing source = source_of(run, run_end_ns(run), SIDE_NONE);
    source.stage.place = place_with(run, LESSON_PARTIES);
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_true(has_text(&panel_a, "= 2 \xC3\x97 2 \xC3\x97 2 \xC3\x97 4 = 32 numbers, 64 B."));
    run_destroy(run);
    run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    source = source_of(run, 97 * INT64_C(1000000), SIDE_NONE);
    source.stage.place.chapter = 1; // the one that follows the run
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_true(has_text(&panel_a, lesson_word(lesson, "cache.unknown")));
    run_destroy(run);
}

static void what_this_simplifies_is_its_chapter_from_anywhere(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    int last = lesson_simple_chapter(lesson);
    assert_string_equal(lesson_chapter_title(lesson, last), "What this simplifies");
    struct showing source = source_of(run, 50, SIDE_SIMPLE);
    int steps = panel_lines(&source.at, source.stage.side);
    assert_int_equal(steps, lesson_steps(lesson, last, run));
    for (int step = -1; step <= steps; step++) {
        source.stage.list_focus = step;
        panel_fill(&panel_a, &source.at, &source.stage);
        int shown = step < 0 ? 0 : step < steps ? step : steps - 1;
        lesson_page(&page, lesson, (struct lesson_place){last, shown}, run, 50);
        assert_string_equal(panel_a.title, lesson_word(lesson, "title.simple"));
        assert_string_equal(panel_a.blocks[0].text, page.title);
        for (int i = 0; i < page.block_count; i++)
            assert_string_equal(panel_a.blocks[i + 1].text, page.blocks[i].text);
    }
    run_destroy(run);
}

// --- Bars ---

static void wait_and_total_stand_on_one_scale(void **state) {
    (void)state;
    struct run *run = lesson_run("stage-0", RUN_CHARGED, 0, 0);
    struct showing source = source_of(run, run_end_ns(run), SIDE_NONE);
    source.stage.place = place_with(run, LESSON_BARS);
    panel_fill(&panel_a, &source.at, &source.stage);
    const struct panel_bar *wait = &panel_a.bars[0], *total = &panel_a.bars[1];
    assert_string_equal(wait->value, "120 ms");
    assert_string_equal(total->value, "4.10 s");
    assert_int_equal(wait->first_ppm, 24390);  // 100 of 4,100
    assert_int_equal(wait->second_ppm, 4878);  // 20 of 4,100
    assert_int_equal(total->first_ppm, 24390); // the same prefill
    assert_int_equal(total->second_ppm, VIEW_PPM - 24390);
    assert_int_equal(wait->before_ppm, -1);
    assert_string_equal(wait->note, "");
    run_destroy(run);
}

static void a_slider_move_shows_its_change_in_percent_and_where_it_was(void **state) {
    (void)state;
    // Twice the prompt: wait 125 -> 225, total 4,100 -> 4,200 units.
    struct run *before = lesson_run("module-7", RUN_CHARGED, 25, 160);
    struct run *run = lesson_run("module-7", RUN_CHARGED, 50, 160);
    struct showing source = source_of(run, run_end_ns(run), SIDE_NONE);
    source.stage.place = place_with(run, LESSON_BARS);
    source.at.before = before;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_int_equal(strncmp(panel_a.bars[0].note, "+80 %", 5), 0);
    assert_int_equal(strncmp(panel_a.bars[1].note, "+2 %", 4), 0);
    assert_int_equal(panel_a.bars[0].before_ppm, 29762);  // 125 of 4,200
    assert_int_equal(panel_a.bars[1].before_ppm, 976190); // 4,100 of 4,200
    // And back: the longer one before sets the scale.
    source = source_of(before, run_end_ns(before), SIDE_NONE);
    source.stage.place = place_with(before, LESSON_BARS);
    source.at.before = run;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_int_equal(strncmp(panel_a.bars[0].note,
                             "\xE2\x88\x92"
                             "44 %",
                             7),
                     0);
    assert_int_equal(panel_a.bars[1].before_ppm, VIEW_PPM);
    assert_int_equal(panel_a.bars[1].first_ppm + panel_a.bars[1].second_ppm, 976190);
    source.at.before = before;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_string_equal(panel_a.bars[1].note, lesson_word(lesson, "bar.same"));
    before->info.is_disturbed = true; // its time stands, and no change is told
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_string_equal(panel_a.bars[1].note, "before: 4100 units");
    run_destroy(run);
    run_destroy(before);
}

static void units_and_time_are_never_compared(void **state) {
    (void)state;
    static const struct measured of = {3, 4, 1000, 100, 10000};
    struct run *measured = measured_run(&of), *units = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct run *ms = lesson_run("stage-0", RUN_CHARGED, 0, 0);
    const struct run *pairs[][2] = {{measured, units}, {units, measured}, {units, ms}};
    for (size_t i = 0; i < 3; i++) {
        struct showing source = source_of(pairs[i][0], INT64_MAX, SIDE_NONE);
        source.stage.place = place_with(pairs[i][0], LESSON_BARS);
        source.at.before = pairs[i][1];
        panel_fill(&panel_a, &source.at, &source.stage);
        assert_int_equal(panel_a.bars[0].before_ppm, -1);
        assert_int_equal(panel_a.bars[1].before_ppm, -1);
    }
    run_destroy(measured);
    run_destroy(units);
    run_destroy(ms);
}

static int ppm_of(double part, double whole) {
    return whole > 0 && part > 0 ? (int)(part / whole * VIEW_PPM + 0.5) : 0;
}

// Parts sum to the whole, widths are proportional to the run's own times.
static void check_bars(const struct run *run, int64_t t_ns, uint64_t *random) {
    (void)random;
    struct showing source = source_of(run, t_ns, SIDE_NONE);
    source.stage.place = place_with(run, LESSON_BARS);
    panel_fill(&panel_a, &source.at, &source.stage);
    int64_t end_ns = run_end_ns(run), now_ns = t_ns < 0 ? 0 : t_ns > end_ns ? end_ns : t_ns;
    bool has_token = run_answers_at(run, now_ns) > 0 && t_ns >= 0;
    int64_t wait_ns = has_token ? run_ttft_ns(run) : now_ns;
    int64_t prefill_ns =
        run_prefill_ns(run) < 0 || run_prefill_ns(run) > now_ns ? now_ns : run_prefill_ns(run);
    for (int i = 0; i < 2; i++) {
        const struct panel_bar *bar = &panel_a.bars[i];
        int64_t bar_ns = i == 0 ? wait_ns : now_ns;
        assert_int_equal(bar->first_ppm, ppm_of((double)prefill_ns, (double)now_ns));
        assert_int_equal(bar->first_ppm + bar->second_ppm, ppm_of((double)bar_ns, (double)now_ns));
        assert_true(bar->second_ppm >= 0);
    }
}

static void bars_show_what_has_been_and_add_up(void **state) {
    (void)state;
    for_random_moments(check_bars);
}

static void the_anatomy_of_a_step_is_in_bytes_on_one_scale(void **state) {
    (void)state;
    static const struct measured of = {100, 4, 1000000, 2500000, 12800};
    struct run *run = measured_run(&of);
    struct showing source = source_of(run, run_end_ns(run), SIDE_NONE);
    source.stage.place = place_with(run, LESSON_ANATOMY);
    panel_fill(&panel_a, &source.at, &source.stage);
    const struct panel_bar *bars = &panel_a.bars[panel_a.bar_count - 3];
    // The last step reads 102 entries of 64 bytes and writes one.
    assert_string_equal(bars[0].value, "12.5 KiB");
    assert_string_equal(bars[1].value, "6.38 KiB");
    assert_string_equal(bars[2].value, "64 B");
    assert_int_equal(bars[0].first_ppm, VIEW_PPM);
    assert_int_equal(bars[1].first_ppm, 510000);
    assert_int_equal(bars[2].first_ppm, 5000);
    assert_int_equal(strncmp(bars[0].note, "66 %", 4), 0);
    assert_int_equal(strncmp(bars[1].note, "34 %", 4), 0);
    assert_non_null(strstr(block_text(&panel_a, "bar.step"), "2.50 ms"));
    assert_non_null(strstr(block_text(&panel_a, "bar.step"), "measured"));
    // Under way: its bytes are known, its time is not.
    source.at.t_ns = 1000000 + 100;
    panel_fill(&panel_a, &source.at, &source.stage);
    bars = &panel_a.bars[panel_a.bar_count - 3];
    assert_string_equal(bars[1].value, "6.25 KiB");
    assert_null(strstr(block_text(&panel_a, "bar.step"), "ms"));
    // Before any step there is nothing to take apart.
    source.at.t_ns = 1000000;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_string_equal(block_text(&panel_a, "bar.step"), lesson_word(lesson, "anatomy.none"));
    run_destroy(run);
}

static void a_part_too_small_to_see_says_so(void **state) {
    (void)state;
    static const struct measured of = {10, 4, 1000000, 2500000, 1 << 20};
    struct run *run = measured_run(&of);
    struct showing source = source_of(run, run_end_ns(run), SIDE_NONE);
    source.stage.place = place_with(run, LESSON_ANATOMY);
    panel_fill(&panel_a, &source.at, &source.stage);
    const struct panel_bar *bars = &panel_a.bars[panel_a.bar_count - 3];
    assert_string_equal(bars[1].note, lesson_word(lesson, "bar.tiny"));
    assert_string_equal(bars[2].note, lesson_word(lesson, "bar.tiny"));
    assert_string_equal(bars[2].value, "64 B");
    assert_true(bars[2].first_ppm < bars[1].first_ppm);
    run_destroy(run);
}

static void a_lesson_has_no_bytes_to_take_apart(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct showing source = source_of(run, run_end_ns(run), SIDE_NONE);
    source.stage.place = place_with(run, LESSON_ANATOMY);
    panel_fill(&panel_a, &source.at, &source.stage);
    const char *text = block_text(&panel_a, "bar.step");
    assert_non_null(strstr(text, "25 units"));
    assert_non_null(strstr(text, lesson_word(lesson, "bar.no_bytes")));
    for (int i = 0; i < panel_a.bar_count; i++)
        assert_null(strstr(panel_a.bars[i].value, "B"));
    run_destroy(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nine_steps_say_who_acts),
        cmocka_unit_test(a_run_that_ended_early_leaves_its_model_unwell),
        cmocka_unit_test(the_panel_shows_the_lessons_page_of_the_moment),
        cmocka_unit_test(the_cache_line_says_what_one_entry_holds),
        cmocka_unit_test(what_this_simplifies_is_its_chapter_from_anywhere),
        cmocka_unit_test(wait_and_total_stand_on_one_scale),
        cmocka_unit_test(a_slider_move_shows_its_change_in_percent_and_where_it_was),
        cmocka_unit_test(units_and_time_are_never_compared),
        cmocka_unit_test(bars_show_what_has_been_and_add_up),
        cmocka_unit_test(the_anatomy_of_a_step_is_in_bytes_on_one_scale),
        cmocka_unit_test(a_part_too_small_to_see_says_so),
        cmocka_unit_test(a_lesson_has_no_bytes_to_take_apart),
    };
    return cmocka_run_group_tests(tests, open_lesson, close_lesson);
}
