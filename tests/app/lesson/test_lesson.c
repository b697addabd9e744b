// The lessons that come with the program, in every language: each step of both schedules
// against its figures, every place filled for any run, languages alike, moves and
// places, the panel's words.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/compute/base/text_fault.h"
#include "tests/compute/run/random_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const languages[] = {"en", "de"};
enum { LANGUAGES = sizeof languages / sizeof languages[0], CHAPTERS = 8 };

static struct lesson_page page_of(const struct lesson *lesson, int chapter, int step,
                                  const struct run *run) {
    struct lesson_page page;
    struct lesson_place place = {chapter, step};
    lesson_page(&page, lesson, place, run, lesson_step_ns(lesson, place, run));
    return page;
}

// With plain spaces where no line may end.
static void expect_in(const char *held, const char *part) {
    char text[LESSON_TEXT_BYTES + 1];
    size_t used = 0;
    for (; *held && used + 1 < sizeof text; held++) {
        bool is_held = (unsigned char)held[0] == 0xC2 && (unsigned char)held[1] == 0xA0;
        text[used++] = is_held ? ' ' : *held;
        held += is_held;
    }
    text[used] = '\0';
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in \"%s\"", part, text);
}

// --- Exact figures ---

static void module_7_is_nine_steps_with_their_lines(void **state) {
    static const char *const lines[] = {
        "The prompt is ready, 18 tokens: the KV cache is empty, nothing is answered, the clock "
        "says 0 units.",
        "Prefill is done at 72 units: 18 tokens in the KV cache, no answer token yet.",
        "Charged step done at 97 units: answer token 1 is “Your”, and the KV cache still holds "
        "18 tokens.",
        "Decode step 2 done at 122 units: answer token 2 is “par”, 19 tokens in the KV cache.",
        "Decode step 3 done at 147 units: answer token 3 is “cel”, 20 tokens in the KV cache.",
        "Decode step 4 done at 172 units: answer token 4 is “arrives”, 21 tokens in the KV cache.",
        "Decode step 5 done at 197 units: answer token 5 is “today”, 22 tokens in the KV cache.",
        "Decode step 6 done at 222 units: answer token 6 is “.”, 23 tokens in the KV cache.",
        "Done at 247 units: 7 answer tokens, 24 tokens in the KV cache, decode took 71 %.",
    };
    static const char *const titles[] = {
        "Step 1 of 9 · request", "Step 2 of 9 · prefill", "Step 3 of 9 · decode, charged",
        "Step 4 of 9 · decode",  "Step 5 of 9 · decode",  "Step 6 of 9 · decode",
        "Step 7 of 9 · decode",  "Step 8 of 9 · decode",  "Step 9 of 9 · decode, last step"};
    enum { STEPS = sizeof lines / sizeof lines[0] };
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    assert_int_equal(lesson_steps(lesson, 1, run), STEPS);
    for (int i = 0; i < STEPS; i++) {
        struct lesson_page page = page_of(lesson, 1, i, run);
        assert_string_equal(page.summary, lines[i]);
        assert_string_equal(page.title, titles[i]);
        assert_int_equal(page.block_count, LESSON_BLOCKS);
        assert_string_equal(page.blocks[0].heading, "What happens");
        assert_string_equal(page.blocks[3].heading, i == STEPS - 1 ? "Next chapter" : "Next");
        assert_string_equal(page.chapter, "2 of 8 · Step by step");
        assert_int_equal(page.shows, LESSON_PARTIES);
        assert_int_equal(page.takeaway[0] != '\0', i == STEPS - 1);
    }
    run_destroy(run);
    lesson_destroy(lesson);
}

// What changes: cache, clock and answer, in both languages at every step.
static void what_changes_has_cache_clock_and_answer_in_every_language(void **state) {
    static const struct {
        const char *cache, *clock, *answer;
    } steps[] = {
        {"KV", "0 / 247 units", ""},
        {"0 → 18 ", "\n72 / 247 units", ""},
        {"18 ", "97 / 247 units", "Your"},
        {"18 → 19 ", "122 / 247 units", "Your par"},
        {"19 → 20 ", "147 / 247 units", "Your parcel"},
        {"20 → 21 ", "172 / 247 units", "Your parcel arrives"},
        {"21 → 22 ", "197 / 247 units", "Your parcel arrives today"},
        {"22 → 23 ", "222 / 247 units", "Your parcel arrives today."},
        {"23 → 24 ", "247 / 247 units", "Your parcel arrives today."},
    };
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    for (int language = 0; language < LANGUAGES; language++) {
        struct lesson *lesson = lesson_in(languages[language]);
        assert_int_equal(lesson_steps(lesson, 1, run), 9);
        for (int i = 0; i < 9; i++) {
            const struct lesson_page page = page_of(lesson, 1, i, run);
            const char *text = page.blocks[2].text;
            const char *clock = steps[i].clock + (steps[i].clock[0] == '\n');
            expect_in(text, steps[i].cache);
            expect_in(text, clock);
            size_t length = strlen(text), tail = strlen(steps[i].answer);
            assert_true(length > tail);
            assert_string_equal(text + length - tail, steps[i].answer);
        }
        lesson_destroy(lesson);
    }
    run_destroy(run);
}

static void engine_counting_has_eight_steps_and_token_1_out_of_prefill(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = lesson_run("module-7", RUN_ENGINE, 0, 0);
    assert_int_equal(lesson_steps(lesson, 1, run), 8);
    assert_string_equal(page_of(lesson, 1, 1, run).summary,
                        "Prefill is done at 72 units: 18 tokens in the KV cache, and answer token "
                        "1 is “Your”.");
    assert_string_equal(page_of(lesson, 1, 2, run).summary,
                        "Decode step 1 done at 97 units: answer token 2 is “par”, 19 tokens in the "
                        "KV cache.");
    assert_string_equal(page_of(lesson, 1, 7, run).summary,
                        "Done at 222 units: 7 answer tokens, 24 tokens in the KV cache, decode "
                        "took 68 %.");
    run_destroy(run);
    lesson_destroy(lesson);
}

// Each step of the chapters after the first: {chapter, step, a part of its texts}.
struct figure {
    int chapter, step, block; // block -1: the summary
    const char *part;
};

static void expect_figures(const char *schedule, const struct figure *figures, int count) {
    struct lesson *lesson = lesson_in("en");
    struct run *run = lesson_run(schedule, RUN_CHARGED, 0, 0);
    for (int i = 0; i < count; i++) {
        struct lesson_page page = page_of(lesson, figures[i].chapter, figures[i].step, run);
        expect_in(figures[i].block < 0 ? page.summary : page.blocks[figures[i].block].text,
                  figures[i].part);
    }
    run_destroy(run);
    lesson_destroy(lesson);
}

static void the_other_chapters_have_the_figures_of_module_7(void **state) {
    static const struct figure figures[] = {
        {2, 0, 0, "18 columns"},
        {2, 1, 0, "8 layers"},
        {2, 2, 0, "18 entries"},
        {2, 3, 0, "72 units"},
        {2, 3, -1, "Prefill of 18 tokens took 72 units"},
        {3, 0, 0, "“Your”"},
        {3, 0, -1, "each reads 18 saved tokens"},
        {3, 1, -1, "One decode step of 25 units: all weights and 18 cache entries"},
        {3, 2, 0, "4 tokens"},
        {3, 2, -1, "4 answer tokens after 172 units"},
        {3, 3, 0, "7 tokens, 7 decode steps"},
        {3, 3, -1, "7 decode steps and 175 units of decode; 24 tokens"},
        {4, 0, -1, "247 units in all: prefill 72 units, that is 29 %; decode 175 units, that is"},
        {4, 1, -1, "97 units of 247 units"},
        {4, 2, -1, "First token after 97 units, then one every 25 units"},
        {4, 3, -1, "Wait 97 units, total 247 units"},
        {4, 4, -1, "Prefill 29 %, decode 71 % of 247 units"},
        {5, 0, -1, "Prefill is over at 72 units."},
        {5, 1, 0, "25 units for token 1"},
        {5, 1, -1, "still holds 18 tokens"},
        {5, 2, 0, "18 of the prompt, 6 of the answer, 24 in all"},
        {5, 2, 2, "Steps: 7. Answer columns: 6."},
        {5, 2, -1, "18 + 7 − 1 = 24 cache entries"},
        {7, 1, 0, "18 prompt tokens, 7 answer tokens. Prefill 29 %, decode 71 %"},
        {7, 1, 1, "72 units in all. Writing took 7 steps of 25 units"},
        {6, 0, -1, "lesson units"},
    };
    (void)state;
    expect_figures("module-7", figures, sizeof figures / sizeof figures[0]);
}

static void every_chapter_has_the_figures_of_stage_0(void **state) {
    static const struct figure figures[] = {
        {1, 0, -1, "25 tokens"},
        {1, 1, -1, "at 100 ms: 25 tokens"},
        {1, 2, -1, "at 120 ms: answer token 1 is “I”, and the KV cache still holds 25"},
        {1, 3, -1, "at 140 ms: answer token 2 is “am”, 26 tokens"},
        {1, 201, -1,
         "Done at 4.10 s: 200 answer tokens, 224 tokens in the KV cache, decode took 98 %"},
        {2, 3, -1, "Prefill of 25 tokens took 100 ms"},
        {3, 1, 0, "20.0 ms"},
        {3, 3, -1, "200 decode steps and 4.00 s of decode; 224 tokens"},
        {4, 0, -1, "4.10 s in all: prefill 100 ms, that is 2 %; decode 4.00 s, that is 98 %"},
        {4, 1, -1, "The first token came after 120 ms of 4.10 s"},
        {4, 2, -1, "then one every 20.0 ms"},
        {4, 3, -1, "Wait 120 ms, total 4.10 s"},
        {5, 1, 0, "20.0 ms for token 1"},
        {5, 2, -1, "25 + 200 − 1 = 224"},
        {7, 1, -1, "Prefill 2 %, decode 98 % of 4.10 s: 200 decode steps of 20.0 ms"},
    };
    (void)state;
    expect_figures("stage-0", figures, sizeof figures / sizeof figures[0]);
}

// --- Every place filled ---

static int shown_chars(const char *text) {
    int count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80 && *text != LESSON_TERM_BEGIN &&
                 *text != LESSON_TERM_END;
    return count;
}

// With marks a text may also have several lines.
static void check_text(const char *text, bool may_be_marked) {
    const char *fault = text_fault(text, may_be_marked ? "\n\x0E\x0F" : "");
    if (fault)
        fail_msg("%s in \"%s\"", fault, text);
}

static void check_page(const struct lesson_page *page, const char *braces) {
    assert_true(page->title[0] && page->summary[0]);
    check_text(page->title, false);
    check_text(page->summary, false);
    check_text(page->takeaway, false);
    assert_null(strpbrk(page->title, braces));
    assert_null(strpbrk(page->summary, braces));
    for (int i = 0; i < page->block_count; i++) {
        assert_true(page->blocks[i].text[0] && page->blocks[i].heading[0]);
        check_text(page->blocks[i].text, true);
        if (strpbrk(page->blocks[i].text, braces))
            fail_msg("a place is left in \"%s\"", page->blocks[i].text);
    }
}

// How much stands on a page of a narrow panel at once.
static void check_room(const struct lesson_page *page) {
    int all = 0;
    for (int i = 0; i < page->block_count; i++) {
        int chars = shown_chars(page->blocks[i].text);
        if (chars > 150)
            fail_msg("%d characters: %s", chars, page->blocks[i].text);
        all += chars;
    }
    if (all > 470 || shown_chars(page->summary) > 160 || shown_chars(page->takeaway) > 110)
        fail_msg("too much on \"%s\": %d characters", page->title, all);
}

static void pages_of_the_schedules_fit_their_panel_in_every_language(void **state) {
    static const char *const schedules[] = {"module-7", "stage-0"};
    (void)state;
    for (int i = 0; i < 4 * LANGUAGES; i++) {
        struct lesson *lesson = lesson_in(languages[i / 4]);
        struct run *run = lesson_run(schedules[i % 2], i / 2 % 2 ? RUN_ENGINE : RUN_CHARGED, 0, 0);
        struct lesson_place place = {0, 0};
        do {
            struct lesson_page page = page_of(lesson, place.chapter, place.step, run);
            check_page(&page, "{}[]");
            check_room(&page);
        } while (lesson_move(lesson, &place, 1, run));
        run_destroy(run);
        lesson_destroy(lesson);
    }
}

static void every_place_is_filled_for_any_run_at_any_moment(void **state) {
    static const struct random_run_limits limits = {
        .max_prompt = 300, .max_answers = 40, .max_layers = 12, .may_fail = true};
    (void)state;
    struct lesson *lessons[LANGUAGES];
    for (int i = 0; i < LANGUAGES; i++)
        lessons[i] = lesson_in(languages[i]);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct run *run = random_run(seed, &limits);
        uint64_t dice = seed;
        for (int i = 0; i < LANGUAGES; i++) {
            struct lesson_place place = {0, 0};
            do {
                struct lesson_page page = page_of(lessons[i], place.chapter, place.step, run);
                check_page(&page, "{}[]");
                lesson_page(&page, lessons[i], place, run,
                            random_between(&dice, -10, run_end_ns(run) + 10));
                check_page(&page, "{}[]");
            } while (lesson_move(lessons[i], &place, 1, run));
        }
        run_destroy(run);
    }
    for (int i = 0; i < LANGUAGES; i++)
        lesson_destroy(lessons[i]);
}

static void one_is_one_token_and_two_are_tokens(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *one = lesson_run("module-7", RUN_CHARGED, 1, 1);
    struct run *two = lesson_run("module-7", RUN_CHARGED, 2, 2);
    expect_in(page_of(lesson, 1, 1, one).summary, ": 1 token in the KV cache");
    expect_in(page_of(lesson, 1, 1, two).summary, ": 2 tokens in the KV cache");
    expect_in(page_of(lesson, 1, 2, one).blocks[3].text, "3 · Prefill: one pass");
    expect_in(page_of(lesson, 7, 1, one).blocks[0].text, "1 prompt token, 1 answer token.");
    expect_in(page_of(lesson, 4, 2, one).summary,
              "A single token after 29 units: there is no pace");
    run_destroy(one);
    run_destroy(two);
    lesson_destroy(lesson);
}

// --- Languages ---

static int count_marks(const char *text) {
    int count = 0;
    for (; *text; text++)
        count += *text == LESSON_TERM_BEGIN;
    return count;
}

static void languages_have_the_same_pages_places_words_and_terms(void **state) {
    (void)state;
    struct lesson *first = lesson_in("en"), *other = lesson_in("de");
    assert_int_equal(lesson_terms(first), lesson_terms(other));
    assert_true(lesson_terms(first) >= 25);
    assert_int_equal(lesson_chapters(first), CHAPTERS);
    assert_int_equal(lesson_chapters(other), CHAPTERS);
    for (int engine = 0; engine < 2; engine++) {
        struct run *run = lesson_run("module-7", engine ? RUN_ENGINE : RUN_CHARGED, 0, 0);
        struct lesson_place place = {0, 0}, same = {0, 0};
        for (bool is_more = true; is_more;) {
            struct lesson_page a = page_of(first, place.chapter, place.step, run);
            struct lesson_page b = page_of(other, place.chapter, place.step, run);
            assert_int_equal(a.shows, b.shows);
            assert_int_equal(lesson_step_ns(first, place, run), lesson_step_ns(other, place, run));
            assert_int_equal(!a.takeaway[0], !b.takeaway[0]);
            for (int i = 0; i < LESSON_BLOCKS; i++) {
                if (count_marks(a.blocks[i].text) != count_marks(b.blocks[i].text))
                    fail_msg("not the same words explained: %s | %s", a.blocks[i].text,
                             b.blocks[i].text);
                assert_string_not_equal(a.blocks[i].text, b.blocks[i].text);
            }
            assert_string_not_equal(a.summary, b.summary);
            is_more = lesson_move(first, &place, 1, run);
            assert_int_equal(is_more, lesson_move(other, &same, 1, run));
            assert_memory_equal(&place, &same, sizeof place);
        }
        run_destroy(run);
    }
    lesson_destroy(first);
    lesson_destroy(other);
}

static void chapters_show_what_they_are_about(void **state) {
    static const unsigned shows[CHAPTERS] = {LESSON_PARTIES,
                                             LESSON_PARTIES,
                                             LESSON_PROMPT,
                                             LESSON_ANSWER | LESSON_ANATOMY | LESSON_FLOORS,
                                             LESSON_PROMPT | LESSON_ANSWER | LESSON_BARS,
                                             LESSON_COUNTING,
                                             0,
                                             LESSON_SPLIT};
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    for (int chapter = 0; chapter < CHAPTERS; chapter++) {
        unsigned all = 0;
        int steps = lesson_steps(lesson, chapter, run);
        for (int step = 0; step < steps; step++) {
            struct lesson_page page = page_of(lesson, chapter, step, run);
            all |= page.shows;
            assert_int_equal(page.takeaway[0] != '\0', step == steps - 1);
        }
        assert_int_equal(all, shows[chapter]);
        assert_int_equal(lesson_follows_run(lesson, chapter), chapter == 1);
        assert_true(chapter == 1 || (steps >= 2 && steps <= 5));
        assert_true(lesson_chapter_title(lesson, chapter)[0]);
    }
    assert_int_equal(lesson_run_chapter(lesson), 1);
    run_destroy(run);
    lesson_destroy(lesson);
}

// --- Places ---

static void moves_go_over_everything_and_back_to_the_start(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct lesson_place place = {0, 0}, way[64];
    int total = 0, count = 0;
    for (int chapter = 0; chapter < CHAPTERS; chapter++)
        total += lesson_steps(lesson, chapter, run);
    way[count++] = place;
    while (lesson_move(lesson, &place, 1, run) && count < 64) {
        bool is_next = place.chapter == way[count - 1].chapter
                           ? place.step == way[count - 1].step + 1
                           : place.chapter == way[count - 1].chapter + 1 && place.step == 0;
        assert_true(is_next);
        way[count++] = place;
    }
    assert_int_equal(count, total);
    assert_int_equal(place.chapter, CHAPTERS - 1);
    assert_memory_equal(&place, &way[count - 1], sizeof place);
    for (int i = count - 2; i >= 0; i--) {
        assert_true(lesson_move(lesson, &place, -1, run));
        assert_memory_equal(&place, &way[i], sizeof place);
    }
    assert_false(lesson_move(lesson, &place, -1, run));
    assert_true(place.chapter == 0 && place.step == 0);
    run_destroy(run);
    lesson_destroy(lesson);
}

static void places_are_brought_into_range(void **state) {
    static const struct {
        struct lesson_place from, to;
    } places[] = {
        {{-1, -1}, {0, 0}}, {{1, 99}, {1, 8}},        {{99, 0}, {7, 0}},
        {{99, 99}, {7, 2}}, {{4, INT32_MAX}, {4, 4}}, {{3, INT32_MIN}, {3, 0}},
    };
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct lesson_place to = lesson_clamp(lesson, places[i].from, run);
        assert_memory_equal(&to, &places[i].to, sizeof to);
        // No call minds a place out of range.
        struct lesson_page page = page_of(lesson, places[i].from.chapter, places[i].from.step, run);
        check_page(&page, "{}[]");
    }
    run_destroy(run);
    lesson_destroy(lesson);
}

static void a_step_belongs_to_the_time_up_to_its_event(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct lesson_place place = {1, 0};
    for (int event = 0; event < run_events(run); event++) {
        int64_t at_ns = run_event_ns(run, event);
        assert_int_equal(lesson_step_ns(lesson, (struct lesson_place){1, event}, run), at_ns);
        assert_int_equal(lesson_place_at(lesson, place, run, at_ns).step, event);
        int after = event + 1 < run_events(run) ? event + 1 : event;
        assert_int_equal(lesson_place_at(lesson, place, run, at_ns + 1).step, after);
    }
    assert_int_equal(lesson_place_at(lesson, place, run, -1).step, 0);
    struct lesson_place own = {2, 3};
    struct lesson_place same = lesson_place_at(lesson, own, run, 0);
    assert_memory_equal(&own, &same, sizeof own);
    run_destroy(run);
    lesson_destroy(lesson);
}

static void steps_of_their_own_rest_at_their_place(void **state) {
    static const struct {
        int chapter, step;
        int64_t ns;
    } rests[] = {
        {2, 0, 36000000},  {2, 2, 72000000},  {3, 0, 109500000}, {3, 1, 122000000},
        {3, 2, 172000000}, {3, 3, 247000000}, {4, 0, 247000000}, {5, 0, 72000000},
        {5, 1, 97000000},  {7, 0, 0},         {7, 1, 247000000}, {6, 3, 247000000},
    };
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++) {
        struct lesson_place place = {rests[i].chapter, rests[i].step};
        assert_int_equal(lesson_step_ns(lesson, place, run), rests[i].ns);
    }
    run_destroy(run);
    lesson_destroy(lesson);
}

// --- Runs that grow, or end early ---

static void a_growing_run_has_a_step_for_the_pass_under_way(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0), part;
    run_prefix(&part, run, 0);
    assert_int_equal(lesson_steps(lesson, 1, &part), 1);
    assert_string_equal(page_of(lesson, 1, 0, &part).title, "Step 1 · request");
    expect_in(page_of(lesson, 1, 0, &part).blocks[2].text, "Clock: 0 units\n");
    run_prefix(&part, run, 3); // inside prefill
    assert_int_equal(lesson_steps(lesson, 1, &part), 2);
    assert_string_equal(page_of(lesson, 1, 1, &part).title, "Step 2 · prefill");
    run_prefix(&part, run, run_stages(run)); // prefill is over
    assert_string_equal(page_of(lesson, 1, 2, &part).title, "Step 3 · decode, charged");
    run_prefix(&part, run, 2 * run_stages(run) + 1);
    assert_int_equal(
        lesson_place_at(lesson, (struct lesson_place){1, 0}, &part, run_end_ns(&part)).step, 3);
    assert_string_equal(page_of(lesson, 1, 3, &part).title, "Step 4 · decode");
    assert_string_equal(page_of(lesson, 1, 3, &part).takeaway, "");
    run_prefix(&part, run, run->mark_count);
    assert_string_equal(page_of(lesson, 1, 8, &part).title, "Step 9 · decode");
    run_destroy(run);
    lesson_destroy(lesson);
}

static void a_run_that_ended_early_says_so(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0), part;
    for (int passes = 1; passes <= 4; passes++) {
        run_prefix(&part, run, passes * run_stages(run));
        part.state = RUN_FAILED;
        expect_in(page_of(lesson, 1, passes, &part).blocks[3].text, "the run ended early");
        part.state = RUN_OPEN;
        assert_null(strstr(page_of(lesson, 1, passes, &part).blocks[3].text, "ended early"));
    }
    run_destroy(run);
    lesson_destroy(lesson);
}

// --- Words and glossary ---

#define EXTRA(...) ((const char *const[]){__VA_ARGS__, NULL})

static void words_take_the_runs_values_and_the_callers(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    const struct {
        const char *key;
        struct lesson_facts facts;
        const char *said;
    } sentences[] = {
        {"slider.tokens", {run, 0, EXTRA("count", "1"), false}, "1 token"},
        {"slider.tokens", {NULL, 0, EXTRA("count", "512"), false}, "512 tokens"},
        {"application.reads", {run, run_end_ns(run), NULL, false}, "reads along"},
        {"party.model_lesson", {run, 0, NULL, false}, "Language model (lesson)"},
        {"party.model", {NULL, 0, NULL, false}, "Language model on —"},
        // What the caller gives is never read as a place.
        {"log.token",
         {run, 0, EXTRA("number", "3", "text", "{time} [token]"), false},
         "token 3 {time} [token]"},
        {"no.such.key", {run, 0, NULL, false}, "no.such.key"},
    };
    char out[256];
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        lesson_say(out, sizeof out, lesson, sentences[i].key, &sentences[i].facts);
        assert_string_equal(out, sentences[i].said);
    }
    struct lesson_facts end = {run, run_end_ns(run), EXTRA("decode", "71 %", "prefill", "29 %"),
                               false};
    lesson_say(out, sizeof out, lesson, "reveal.decode", &end);
    expect_in(out, "\x0E"
                   "Decode\x0F took 71 % of this run, prefill 29 %");
    lesson_say(out, 8, lesson, "slider.tokens", &sentences[1].facts);
    assert_string_equal(out, "512…");
    assert_string_equal(lesson_word(lesson, "no.such.key"), "no.such.key");
    assert_string_equal(lesson_word(lesson, "bar.wait"), "wait (TTFT)");
    run_destroy(run);
    lesson_destroy(lesson);
}

static void words_of_the_field_are_in_the_glossary_of_every_language(void **state) {
    static const char *const words[] = {"prefill", "decode", "prompt", "token", "TTFT",  "TPOT",
                                        "ITL",     "E2E",    "batch",  "GQA",   "Logits"};
    (void)state;
    for (int language = 0; language < LANGUAGES; language++) {
        struct lesson *lesson = lesson_in(languages[language]);
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (lesson_find_term(lesson, words[i]) < 0)
                fail_msg("%s has no \"%s\"", languages[language], words[i]);
        assert_int_equal(lesson_find_term(lesson, "speed"), -1);
        for (int i = 0; i < lesson_terms(lesson); i++) {
            struct lesson_term term = lesson_term(lesson, i);
            assert_int_equal(lesson_find_term(lesson, term.name), i);
            assert_in_range(shown_chars(term.text), 20, 200);
            check_text(term.text, false);
        }
        lesson_destroy(lesson);
    }
}

// Inside a step the page tells what goes on: nothing of it has a number yet, so none of
// its lines says that there is none.
static void a_step_under_way_is_told_as_one(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct lesson *lesson = lesson_in(languages[i % 2]);
        struct run *run = lesson_run("module-7", i / 2 ? RUN_ENGINE : RUN_CHARGED, 0, 0);
        for (int event = 1; event < run_events(run); event++) {
            int64_t end_ns = run_event_ns(run, event), start_ns = run_event_ns(run, event - 1);
            struct lesson_page going, rest;
            lesson_page(&going, lesson, (struct lesson_place){1, event}, run,
                        start_ns + (end_ns - start_ns) / 2);
            lesson_page(&rest, lesson, (struct lesson_place){1, event}, run, end_ns);
            assert_string_not_equal(going.blocks[0].text, rest.blocks[0].text);
            for (int block = 0; block < going.block_count; block++)
                assert_null(strstr(going.blocks[block].text, "\xE2\x80\x94")); // an em dash
        }
        lesson_destroy(lesson);
        run_destroy(run);
    }
}

static void the_last_step_of_a_chapter_names_the_next(void **state) {
    (void)state;
    for (int language = 0; language < LANGUAGES; language++) {
        struct lesson *lesson = lesson_in(languages[language]);
        struct run *run = lesson_run("stage-0", RUN_ENGINE, 0, 9);
        for (int chapter = 0; chapter < CHAPTERS; chapter++) {
            int last = lesson_steps(lesson, chapter, run) - 1;
            struct lesson_page page = page_of(lesson, chapter, last, run);
            expect_in(page.chapter, lesson_chapter_title(lesson, chapter));
            if (chapter + 1 == CHAPTERS)
                continue;
            assert_string_equal(page.blocks[3].heading,
                                lesson_word(lesson, "heading.next_chapter"));
            expect_in(page.blocks[3].text, lesson_chapter_title(lesson, chapter + 1));
        }
        run_destroy(run);
        lesson_destroy(lesson);
    }
}

static void prefill_is_told_by_the_rule_of_its_clock(void **state) {
    (void)state;
    struct lesson *lesson = lesson_in("en");
    struct run *each = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct run *one = lesson_run("stage-0", RUN_CHARGED, 0, 0);
    expect_in(page_of(lesson, 1, 1, each).blocks[0].text, "4 units for each of 18 prompt tokens");
    expect_in(page_of(lesson, 1, 1, one).blocks[0].text, "one pass, at any prompt length");
    expect_in(page_of(lesson, 4, 3, one).blocks[1].text, "the prompt moves neither bar");
    // 18 + 19 + ... + 24
    expect_in(page_of(lesson, 2, 2, each).blocks[1].text, "147 tokens");
    run_destroy(each);
    run_destroy(one);
    lesson_destroy(lesson);
}

static void the_opening_says_how_small_the_model_is(void **state) {
    static const char *const sizes[] = {"2.8 million", "2,8 Millionen"};
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    for (int language = 0; language < LANGUAGES; language++) {
        struct lesson *lesson = lesson_in(languages[language]);
        expect_in(page_of(lesson, 0, 1, run).blocks[1].text, sizes[language]);
        lesson_destroy(lesson);
    }
    run_destroy(run);
}

int main(void) {
    setenv("TOKENDRIP_ASSETS", TOKENDRIP_SOURCE_DIR "/assets", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_step_of_a_chapter_names_the_next),
        cmocka_unit_test(prefill_is_told_by_the_rule_of_its_clock),
        cmocka_unit_test(the_opening_says_how_small_the_model_is),
        cmocka_unit_test(module_7_is_nine_steps_with_their_lines),
        cmocka_unit_test(a_step_under_way_is_told_as_one),
        cmocka_unit_test(what_changes_has_cache_clock_and_answer_in_every_language),
        cmocka_unit_test(engine_counting_has_eight_steps_and_token_1_out_of_prefill),
        cmocka_unit_test(the_other_chapters_have_the_figures_of_module_7),
        cmocka_unit_test(every_chapter_has_the_figures_of_stage_0),
        cmocka_unit_test(pages_of_the_schedules_fit_their_panel_in_every_language),
        cmocka_unit_test(every_place_is_filled_for_any_run_at_any_moment),
        cmocka_unit_test(one_is_one_token_and_two_are_tokens),
        cmocka_unit_test(languages_have_the_same_pages_places_words_and_terms),
        cmocka_unit_test(chapters_show_what_they_are_about),
        cmocka_unit_test(moves_go_over_everything_and_back_to_the_start),
        cmocka_unit_test(places_are_brought_into_range),
        cmocka_unit_test(a_step_belongs_to_the_time_up_to_its_event),
        cmocka_unit_test(steps_of_their_own_rest_at_their_place),
        cmocka_unit_test(a_growing_run_has_a_step_for_the_pass_under_way),
        cmocka_unit_test(a_run_that_ended_early_says_so),
        cmocka_unit_test(words_take_the_runs_values_and_the_callers),
        cmocka_unit_test(words_of_the_field_are_in_the_glossary_of_every_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
