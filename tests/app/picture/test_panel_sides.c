// What is opened in the panel's place: the log is the run's events, the questions reveal
// nothing before they were asked and then what this run says, why names a cause only from
// what was measured, the editor shows its text.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/utf8.h"

#include "app/state/editor.h"
#include "compute/analysis/roofline.h"
#include "compute/base/figures.h"
#include "tests/app/picture/panel_fixture.h"
#include "tests/render/data/alike.h"

#include <stdio.h>
#include <string.h>

// --- The log ---

static void check_log(const struct run *run, int64_t t_ns, uint64_t *random) {
    (void)random;
    struct showing source = source_of(run, t_ns, SIDE_LOG);
    panel_fill(&panel_a, &source.at, &source.stage);
    int total = run_events(run), past = 0;
    assert_int_equal(panel_lines(&source.at, source.stage.side), total);
    assert_int_equal(panel_a.line_count, total < PANEL_MAX_LINES ? total : PANEL_MAX_LINES);
    for (int i = 0; i < total; i++) {
        assert_int_equal(panel_a.lines[i].is_past, run_event_ns(run, i) <= t_ns);
        past += panel_a.lines[i].is_past;
    }
    assert_int_equal(run_event_at(run, t_ns), past - 1);
    assert_int_equal(panel_a.line_focus, past > 0 ? past - 1 : 0);
}

static void the_log_is_the_clocks_events(void **state) {
    (void)state;
    for_random_moments(check_log);
}

static void the_log_of_a_lesson_says_what_each_pass_gave(void **state) {
    (void)state;
    static const struct {
        const char *time, *holds;
        uint8_t tone;
    } rows[] = {
        {"0 units", "18 prompt tokens", TONE_QUIET},
        {"72 units", "no token", TONE_PREFILL},
        {"97 units", "token 1 \xE2\x80\x9CYour\xE2\x80\x9D", TONE_DECODE},
        {"122 units", "token 2 \xE2\x80\x9Cpar\xE2\x80\x9D", TONE_DECODE},
        {"147 units",
         "token 3 \xE2\x80\x9C"
         "cel\xE2\x80\x9D",
         TONE_DECODE},
        {"172 units", "token 4", TONE_DECODE},
        {"197 units", "token 5", TONE_DECODE},
        {"222 units", "token 6", TONE_DECODE},
        {"247 units", "token 7 </s>, the last", TONE_DECODE},
    };
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct showing source = source_of(run, run_end_ns(run), SIDE_LOG);
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_int_equal(panel_a.line_count, 9);
    for (int i = 0; i < 9; i++) {
        assert_string_equal(panel_a.lines[i].time, rows[i].time);
        assert_non_null(strstr(panel_a.lines[i].text, rows[i].holds));
        assert_int_equal(panel_a.lines[i].tone, rows[i].tone);
    }
    run_destroy(run);
}

static void the_log_quotes_as_its_language_does(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    lesson_destroy(lesson);
    lesson = lesson_in("de");
    struct showing source = source_of(run, run_end_ns(run), SIDE_LOG);
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_non_null(
        strstr(panel_a.lines[2].text, "Token 1 \xE2\x80\x9EYour\xE2\x80\x9C")); // low, then high
    lesson_destroy(lesson);
    lesson = lesson_in("en");
    run_destroy(run);
}

static void events_to_come_have_their_time_but_not_their_token(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct showing source = source_of(run, run_event_ns(run, 2), SIDE_LOG);
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_non_null(strstr(panel_a.lines[2].text, "Your"));
    for (int i = 3; i < 9; i++) {
        assert_false(panel_a.lines[i].is_past);
        assert_non_null(strstr(panel_a.lines[i].text, "\xE2\x80\xA6"));
        assert_null(strstr(panel_a.lines[i].text, "\xE2\x80\x9C"));
        assert_null(strstr(panel_a.lines[i].text, "last"));
    }
    assert_string_equal(panel_a.lines[8].time, "247 units");
    run_destroy(run);
}

static void a_jump_from_the_log_is_a_direct_seek(void **state) {
    (void)state;
    struct random_run_limits limits = {.max_layers = 10, .max_prompt = 100, .max_answers = 60};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct run *run = random_run(seed, &limits);
        for (int line = 0; line < run_events(run); line++) {
            int64_t t_ns = run_event_ns(run, line);
            struct showing jumped = source_of(run, t_ns, SIDE_NONE);
            struct showing sought =
                source_of(run, line == 0 ? 0 : run_pass_end_ns(run, line - 1), SIDE_NONE);
            panel_fill(&panel_a, &jumped.at, &jumped.stage);
            panel_fill(&panel_b, &sought.at, &sought.stage);
            assert_true(alike_panels(&panel_a, &panel_b));
            int back = run_event_at(run, t_ns);
            assert_true(back >= line); // later only where passes took no time
            assert_int_equal(run_event_ns(run, back), t_ns);
        }
        run_destroy(run);
    }
}

static void a_log_longer_than_its_room_shows_the_part_around_the_focus(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 2000);
    static const int focuses[] = {0, 1, 255, 256, 257, 1000, 1745, 1746, 2000, 2001, 5000};
    for (size_t i = 0; i < sizeof focuses / sizeof focuses[0]; i++) {
        struct showing source = source_of(run, run_end_ns(run), SIDE_LOG);
        source.stage.list_focus = focuses[i];
        panel_fill(&panel_a, &source.at, &source.stage);
        assert_int_equal(panel_lines(&source.at, source.stage.side), 2002);
        assert_int_equal(panel_a.line_count, PANEL_MAX_LINES);
        int line = focuses[i] < 2001 ? focuses[i] : 2001;
        char time[24];
        snprintf(time, sizeof time, "%d units", (int)(run_event_ns(run, line) / 1000000));
        assert_string_equal(panel_a.lines[panel_a.line_focus].time, time);
    }
    run_destroy(run);
}

// --- Explain it back ---

static struct showing split_source(const struct run *run, const struct guess *guess) {
    struct showing source = source_of(run, 0, SIDE_NONE);
    source.stage.place = place_with(run, LESSON_SPLIT);
    source.stage.guess = *guess;
    return source;
}

static struct run *reveal_run(int which) {
    static const struct measured long_prompt = {900, 3, 80000000, 10000000, 4200000};
    if (which == 0)
        return lesson_run("stage-0", RUN_CHARGED, 0, 0); // 100 of 4,100 ms
    if (which == 1)
        return measured_run(&long_prompt);             // 80 of 100 ms: prefill dominates
    return lesson_run("module-7", RUN_CHARGED, 25, 4); // 100 of 200 units
}

static void the_reveal_is_computed_from_the_run_at_hand(void **state) {
    (void)state;
    static const struct {
        int guessed_prefill_ppm, prefill_ppm;
        const char *verdict, *nearness, *prefill, *decode, *figures, *origin;
    } rows[] = {
        {40000, 24390, "reveal.decode", "reveal.close", "2 %", "98 %", "decode 4.00 s",
         "origin.lesson"},
        {500000, 800000, "reveal.prefill", "reveal.far", "80 %", "20 %", "Prefill 80.0 ms",
         "origin.measured"},
        {400000, 500000, "reveal.even", "reveal.near", "50 %", "50 %", "decode 100 units",
         "origin.lesson"},
    };
    for (int i = 0; i < 3; i++) {
        struct run *run = reveal_run(i);
        struct guess guess = guess_new();
        guess.split_ppm = rows[i].guessed_prefill_ppm;
        guess.is_split_set = true;
        struct showing source = split_source(run, &guess);
        panel_fill(&panel_a, &source.at, &source.stage);
        const char *text = block_text(&panel_a, "reveal.heading");
        const char *extra[] = {"prefill", rows[i].prefill, "decode", rows[i].decode, NULL};
        const char *verdict = said(rows[i].verdict, run, 0, extra);
        assert_int_equal(strncmp(text, verdict, strlen(verdict)), 0);
        assert_int_equal(text[strlen(verdict)], ' '); // the next sentence stands apart
        assert_non_null(strstr(text, rows[i].figures));
        assert_non_null(strstr(text, lesson_word(lesson, rows[i].origin)));
        char guessed[16];
        snprintf(guessed, sizeof guessed, "%d %%", 100 - rows[i].guessed_prefill_ppm / 10000);
        const char *last =
            strstr(text, said(rows[i].nearness, run, 0,
                              (const char *[]){"guess", guessed, "truth", rows[i].decode, NULL}));
        assert_non_null(last);
        assert_int_equal(last[-1], '\n'); // on a line of its own
        // The question stays, what was to be done before gives way.
        assert_int_equal(panel_a.block_count, 2);
        assert_string_equal(panel_a.blocks[0].heading, lesson_word(lesson, "heading.what"));
        const struct panel_control *split = &panel_a.controls[control_of(&panel_a, TARGET_SPLIT)];
        assert_int_equal(split->kind, CONTROL_SPLIT);
        assert_int_equal(split->ppm, rows[i].guessed_prefill_ppm);
        assert_int_equal(split->mark_ppm, rows[i].prefill_ppm);
        assert_non_null(strstr(split->mark_label, rows[i].decode));
        run_destroy(run);
    }
}

static void nothing_is_revealed_before_the_split_is_set(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct run *run = reveal_run(i);
        struct guess guess = guess_new();
        struct showing source = split_source(run, &guess);
        const int64_t moments[] = {0, run_end_ns(run) / 2, INT64_MAX};
        for (int m = 0; m < 3; m++) {
            source.at.t_ns = moments[m];
            panel_fill(&panel_a, &source.at, &source.stage);
            const struct panel_control *split =
                &panel_a.controls[control_of(&panel_a, TARGET_SPLIT)];
            assert_int_equal(split->mark_ppm, -1);
            assert_string_equal(split->mark_label, "");
            for (int b = 0; b < panel_a.block_count; b++)
                assert_string_not_equal(panel_a.blocks[b].heading,
                                        lesson_word(lesson, "reveal.heading"));
            assert_string_equal(panel_a.foot, lesson_word(lesson, "split.hint"));
            assert_int_equal(panel_a.block_count, LESSON_BLOCKS);
            int button = control_of(&panel_a, TARGET_SPLIT_DONE);
            assert_string_equal(panel_a.controls[button].label,
                                lesson_word(lesson, "split.button"));
        }
        run_destroy(run);
    }
}

static void a_run_without_an_end_reveals_nothing_when_asked(void **state) {
    (void)state;
    struct run *run = reveal_run(0), open;
    run_prefix(&open, run, run->mark_count - 1);
    struct guess guess = {.is_split_set = true, .split_ppm = 500000};
    struct showing source = split_source(&open, &guess);
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_string_equal(block_text(&panel_a, "reveal.heading"), lesson_word(lesson, "reveal.none"));
    assert_int_equal(panel_a.controls[control_of(&panel_a, TARGET_SPLIT)].mark_ppm, -1);
    run_destroy(run);
}

// --- Predict first ---

static void the_guesses_meet_what_came_at_the_runs_end_and_not_before(void **state) {
    (void)state;
    static const struct {
        const char *ttft, *decode;
        int decode_ppm;
    } rows[] = {
        {"120 ms", "98 %", 975610}, {"80.0 ms", "20 %", 200000}, {"125 units", "50 %", 500000}};
    for (int i = 0; i < 3; i++) {
        struct run *run = reveal_run(i);
        struct guess guess = {.stage = GUESS_SET, .ttft_ppm = 600000, .decode_ppm = 700000};
        struct showing source = source_of(run, run_end_ns(run) - 1, SIDE_PREDICT);
        source.stage.guess = guess;
        panel_fill(&panel_a, &source.at, &source.stage);
        assert_int_equal(panel_a.control_count, 3);
        assert_int_equal(panel_a.block_count, 1);
        assert_string_equal(panel_a.foot, lesson_word(lesson, "predict.plays"));
        for (int c = 0; c < 3; c++) {
            assert_int_equal(panel_a.controls[c].mark_ppm, -1);
            assert_string_equal(panel_a.controls[c].mark_label, "");
        }
        source.at.t_ns = run_end_ns(run);
        panel_fill(&panel_a, &source.at, &source.stage);
        assert_int_equal(panel_a.controls[0].ppm, 600000);
        assert_int_equal(panel_a.controls[0].mark_ppm, guess_ttft_ppm_of(run_ttft_ns(run), run));
        assert_non_null(strstr(panel_a.controls[0].mark_label, rows[i].ttft));
        assert_non_null(strstr(panel_a.foot, rows[i].ttft));
        assert_non_null(strstr(block_text(&panel_a, "predict.ttft"), rows[i].ttft));
        assert_int_equal(panel_a.controls[1].ppm, 700000);
        assert_int_equal(panel_a.controls[1].mark_ppm, rows[i].decode_ppm);
        assert_non_null(strstr(panel_a.controls[1].mark_label, rows[i].decode));
        assert_non_null(strstr(block_text(&panel_a, "predict.decode"), rows[i].decode));
        assert_non_null(strstr(block_text(&panel_a, "predict.decode"), "70 %"));
        // The same moment with a guess still open: nothing is told.
        source.stage.guess.stage = GUESS_DECODE;
        panel_fill(&panel_a, &source.at, &source.stage);
        assert_int_equal(panel_a.controls[0].mark_ppm, -1);
        assert_int_equal(panel_a.controls[1].mark_ppm, -1);
        assert_false(panel_a.controls[0].is_off);
        run_destroy(run);
    }
}

static void the_guess_of_a_first_token_reads_in_the_runs_unit(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct guess guess = guess_new();
    guess.ttft_ppm = 666667; // two decades up from 1 unit
    struct showing source = source_of(run, 0, SIDE_PREDICT);
    source.stage.guess = guess;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_string_equal(panel_a.controls[0].value, "100 units");
    assert_string_equal(panel_a.controls[1].value, "50 %");
    run_destroy(run);
}

// --- Glossary, editor ---

static void the_glossary_explains_the_word_in_focus(void **state) {
    (void)state;
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct showing source = source_of(run, 0, SIDE_GLOSSARY);
    int terms = lesson_terms(lesson);
    assert_int_equal(panel_lines(&source.at, source.stage.side), terms);
    for (int i = -1; i <= terms; i++) {
        source.stage.list_focus = i;
        panel_fill(&panel_a, &source.at, &source.stage);
        int focus = i < 0 ? 0 : i < terms ? i : terms - 1;
        assert_int_equal(panel_a.line_count, terms);
        assert_int_equal(panel_a.line_focus, focus);
        assert_string_equal(panel_a.lines[focus].text, lesson_term(lesson, focus).name);
        assert_string_equal(panel_a.blocks[0].heading, lesson_term(lesson, focus).name);
        assert_string_equal(panel_a.blocks[0].text, lesson_term(lesson, focus).text);
    }
    run_destroy(run);
}

static void the_models_are_listed_and_the_one_in_focus_says_whether_it_opens(void **state) {
    (void)state;
    static const struct at_hand_model models[] = {
        {.name = "the bundled model", .place = "tokendrip", .bytes = 5700000, .is_open = true},
        {.name = "llama3.2:1b", .place = "Ollama", .bytes = 1300000000},
        {.name = "other", .place = "Downloads", .bytes = 1},
    };
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct showing source = source_of(run, 0, SIDE_MODELS);
    source.at.models = models;
    source.at.model_count = 3;
    source.at.model_focus = 1;
    source.at.model_architecture = "llama";
    source.at.model_type = "Q4_K";
    assert_int_equal(panel_lines(&source.at, SIDE_MODELS), 3);
    for (int i = 0; i < 3; i++) {
        source.stage.list_focus = i;
        panel_fill(&panel_a, &source.at, &source.stage);
        assert_int_equal(panel_a.line_count, 3);
        assert_int_equal(panel_a.line_focus, i);
        for (int k = 0; k < 3; k++)
            assert_string_equal(panel_a.lines[k].text, models[k].name);
        assert_string_equal(panel_a.blocks[0].heading, models[i].place);
        // What is not known yet of a file is not said of it.
        assert_true((strstr(panel_a.blocks[0].text, "Q4_K") != NULL) == (i == 1));
    }
    source.stage.list_focus = 1;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_non_null(strstr(panel_a.blocks[0].text, "Enter opens it"));
    assert_string_equal(panel_a.lines[1].time, figure_bytes(1300000000).text);
    source.at.model_refusal = "it is torn";
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_non_null(strstr(panel_a.blocks[0].text, "it is torn"));
    assert_null(strstr(panel_a.blocks[0].text, "Enter opens it"));
    source.at.model_refusal = NULL;
    source.at.model_focus = source.stage.list_focus = 0;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_non_null(strstr(panel_a.blocks[0].text, "is open"));
    run_destroy(run);
}

static void the_editor_shows_its_text_its_newest_tokens_and_its_trouble(void **state) {
    (void)state;
    static struct view_token tiles[PANEL_MAX_TILES + 10];
    for (int i = 0; i < PANEL_MAX_TILES + 10; i++)
        snprintf(tiles[i].text, sizeof tiles[i].text, "t%d", i);
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    static struct editor editor;
    strcpy(editor.text, "Where is my gr\xC3\xBC\xC3\x9F?");
    editor.length = (int)strlen(editor.text);
    editor.cursor = 5;
    struct showing source = source_of(run, 0, SIDE_PROMPT);
    source.at.editor = &editor;
    source.at.tiles = tiles;
    source.at.tile_count = PANEL_MAX_TILES + 10;
    source.at.prompt_count = 170;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_true(panel_a.has_field);
    assert_string_equal(panel_a.field, editor.text);
    assert_int_equal(panel_a.field_cursor, 5);
    source.at.composed = "nim"; // by an input method
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_string_equal(panel_a.field, "Wherenim is my gr\xC3\xBC\xC3\x9F?");
    assert_int_equal(panel_a.field_cursor, 8);
    assert_int_equal(panel_a.field_mark, 3);
    assert_int_equal(panel_a.tile_count, PANEL_MAX_TILES);
    assert_string_equal(panel_a.tiles[0].text, "t10");
    assert_string_equal(panel_a.tiles[PANEL_MAX_TILES - 1].text, "t169");
    assert_string_equal(panel_a.tiles_label, "170 tokens of at most 1024");
    assert_string_equal(panel_a.blocks[0].text, "");
    source.at.prompt_count = 1025;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_non_null(strstr(panel_a.blocks[0].text, "1025 tokens"));
    source.at.has_engine = false;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_string_equal(panel_a.blocks[0].text, lesson_word(lesson, "editor.no_device"));
    source.at.editor_message = "the model went away";
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_string_equal(panel_a.blocks[0].text, "the model went away");
    source = source_of(run, 0, SIDE_PROMPT); // nothing at hand at all
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_true(panel_a.has_field);
    assert_string_equal(panel_a.field, "");
    assert_string_equal(panel_a.blocks[0].text, lesson_word(lesson, "editor.empty"));
    run_destroy(run);
}

// --- Why ---

// 10 ns a KiB or so: read_bytes_s and matrix_flop_s chosen so that the bounds are round.
static struct roofline roofline_for(double read_bytes_s, double matrix_flop_s, double flop) {
    return (struct roofline){
        .is_measured = true,
        .rates = {.read_bytes_s = read_bytes_s, .matrix_flop_s = matrix_flop_s},
        .prefill = {.flop = flop},
        .decode = {.flop = flop},
    };
}

static bool says(const struct panel *panel, const char *key, const struct run *run,
                 const char *bound, const char *share) {
    const char *extra[] = {"floor", bound, "share", share, NULL};
    return strcmp(block_text(panel, "why.cause"), said(key, run, run_end_ns(run), extra)) == 0;
}

static void why_names_the_longer_bound_or_what_neither_explains(void **state) {
    (void)state;
    // Prefill 10 ms of 100 tokens; steps of 4 ms that read 1 MB of weights and more.
    static const struct measured of = {100, 3, 10000000, 4000000, 1000000 - 64 * 101};
    struct run *run = measured_run(&of);
    static const struct {
        bool is_prefill;
        double read_s, matrix_s, flop;
        const char *key, *bound, *share;
    } rows[] = {
        {false, 1e6 / 3e-3, 1e12, 1e6, "why.decode.read", "3.00 ms", "75 %"},
        {false, 1e12, 1e6 / 3e-3, 1e6, "why.decode.compute", "3.00 ms", "75 %"},
        {false, 1e6 / 2e-3, 1e12, 1e6, "why.decode.read", "2.00 ms", "50 %"},
        {false, 1e6 / 1e-4, 1e12, 1e6, "why.rest", "100 \xC2\xB5s", "3 %"},
        {false, 1e6 / 1e-3, 1e12, 1e6, "why.rest", "1.00 ms", "25 %"},
        {true, 1e12, 1e6 / 9e-3, 1e6, "why.prefill.compute", "9.00 ms", "90 %"},
        {true, 1e12, 1e6 / 1e-4, 1e6, "why.rest", "100 \xC2\xB5s", "1 %"},
        {true, 1e12, 1e6 / 2e-3, 1e6, "why.rest", "2.00 ms", "20 %"},
        {true, (1e6 - 64 * 101) / 8e-3, 1e12, 1e6, "why.prefill.read", "8.00 ms", "80 %"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct roofline roofline = roofline_for(rows[i].read_s, rows[i].matrix_s, rows[i].flop);
        struct showing source =
            source_of(run, rows[i].is_prefill ? 10000000 : run_end_ns(run), SIDE_WHY);
        source.at.roofline = &roofline;
        panel_fill(&panel_a, &source.at, &source.stage);
        assert_int_equal(panel_a.block_count, 3);
        if (!says(&panel_a, rows[i].key, run, rows[i].bound, rows[i].share))
            fail_msg("row %zu: %s", i, block_text(&panel_a, "why.cause"));
        assert_non_null(strstr(block_text(&panel_a, "why.floors"), rows[i].bound));
        assert_non_null(strstr(block_text(&panel_a, "why.floors"), rows[i].share));
        const char *took = block_text(&panel_a, rows[i].is_prefill ? "why.prefill" : "why.decode");
        assert_non_null(strstr(took, rows[i].is_prefill ? "10.0 ms" : "4.00 ms"));
        assert_non_null(strstr(took, "measured"));
        run->info.is_disturbed = true;
        panel_fill(&panel_a, &source.at, &source.stage);
        assert_true(says(&panel_a, "why.disturbed", run, rows[i].bound, rows[i].share));
        run->info.is_disturbed = false;
    }
    run_destroy(run);
}

static void why_says_what_it_reads_at_which_rate(void **state) {
    (void)state;
    static const struct measured of = {100, 3, 10000000, 4000000, 1000000 - 64 * 101};
    struct run *run = measured_run(&of);
    struct roofline roofline = roofline_for(12.34e9, 2.5e12, 1.25e9);
    struct showing source = source_of(run, run_end_ns(run), SIDE_WHY);
    source.at.roofline = &roofline;
    panel_fill(&panel_a, &source.at, &source.stage);
    const char *text = block_text(&panel_a, "why.floors");
    assert_non_null(strstr(text, "977 KiB")); // 1,000,000 bytes
    assert_non_null(strstr(text, "12.3 GB/s"));
    assert_non_null(strstr(text, "1.25 GFLOP "));
    assert_non_null(strstr(text, "2.50 TFLOP/s"));
    assert_null(strstr(text, lesson_word(lesson, "why.cached")));
    assert_non_null(strstr(block_text(&panel_a, "why.decode"), "6.31 KiB")); // 101 entries
    roofline.rates.is_cached = true;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_non_null(strstr(block_text(&panel_a, "why.floors"), lesson_word(lesson, "why.cached")));
    run_destroy(run);
}

static void why_gives_no_number_that_was_not_measured(void **state) {
    (void)state;
    static const struct measured of = {100, 3, 10000000, 4000000, 1000000};
    struct run *run = measured_run(&of), *units = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct roofline roofline = roofline_for(1e9, 1e9, 1e6), none = roofline;
    none.is_measured = false;
    for (int i = 0; i < 2; i++) {
        struct showing source = source_of(run, run_end_ns(run), SIDE_WHY);
        source.at.roofline = i ? &none : NULL;
        panel_fill(&panel_a, &source.at, &source.stage);
        assert_int_equal(panel_a.block_count, 2);
        assert_string_equal(panel_a.blocks[1].text, said("why.unmeasured", run, 0, NULL));
    }
    // A step under way has no time and no share yet.
    struct showing source = source_of(run, 10000000 + 5, SIDE_WHY);
    source.at.roofline = &roofline;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_null(strstr(block_text(&panel_a, "why.floors"), "%"));
    assert_non_null(
        strstr(block_text(&panel_a, "why.decode"), lesson_word(lesson, "why.under_way")));
    assert_int_equal(panel_a.block_count, 2); // nor a cause
    // Once one is over its time stands while the next is under way.
    source.at.t_ns = 14000000 + 5;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_non_null(strstr(block_text(&panel_a, "why.decode"), "4.00 ms"));
    assert_non_null(strstr(block_text(&panel_a, "why.decode"), "6.25 KiB")); // 100 entries
    // Before the request nothing is computed; lesson units have no cause.
    source.at.t_ns = 0;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_string_equal(panel_a.blocks[0].text, lesson_word(lesson, "why.nothing"));
    source = source_of(units, run_end_ns(units), SIDE_WHY);
    source.at.roofline = &roofline;
    panel_fill(&panel_a, &source.at, &source.stage);
    assert_int_equal(panel_a.block_count, 1);
    assert_string_equal(panel_a.blocks[0].text, said("why.lesson", units, 0, NULL));
    run_destroy(run);
    run_destroy(units);
}

static void of_a_long_text_the_field_holds_what_is_around_the_cursor(void **state) {
    (void)state;
    static struct editor editor;
    static char text[EDITOR_BYTES];
    for (int i = 0; i + 3 < EDITOR_BYTES; i += 3)
        memcpy(text + i, "\xE2\x82\xAC", 3);
    struct run *run = lesson_run("module-7", RUN_CHARGED, 0, 0);
    struct showing source = source_of(run, 0, SIDE_PROMPT);
    source.at.editor = &editor;
    source.at.composed = "nim";
    editor_set(&editor, text);
    int at = editor.length;
    for (int move = 0; at >= 0; at -= 3 * 97, move++) {
        editor.cursor = at;
        panel_fill(&panel_a, &source.at, &source.stage);
        int cursor = panel_a.field_cursor;
        assert_true(utf8_is_valid(panel_a.field, strlen(panel_a.field)));
        assert_true(cursor >= (at < 2048 ? at : 2048) + 3);
        assert_memory_equal(panel_a.field + cursor - 3, "nim", 3);
        assert_true(strlen(panel_a.field + cursor) >= (editor.length - at < 900 ? 0 : 900));
    }
    run_destroy(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_log_is_the_clocks_events),
        cmocka_unit_test(the_log_of_a_lesson_says_what_each_pass_gave),
        cmocka_unit_test(the_log_quotes_as_its_language_does),
        cmocka_unit_test(events_to_come_have_their_time_but_not_their_token),
        cmocka_unit_test(a_jump_from_the_log_is_a_direct_seek),
        cmocka_unit_test(a_log_longer_than_its_room_shows_the_part_around_the_focus),
        cmocka_unit_test(the_reveal_is_computed_from_the_run_at_hand),
        cmocka_unit_test(nothing_is_revealed_before_the_split_is_set),
        cmocka_unit_test(a_run_without_an_end_reveals_nothing_when_asked),
        cmocka_unit_test(the_guesses_meet_what_came_at_the_runs_end_and_not_before),
        cmocka_unit_test(the_guess_of_a_first_token_reads_in_the_runs_unit),
        cmocka_unit_test(the_glossary_explains_the_word_in_focus),
        cmocka_unit_test(the_models_are_listed_and_the_one_in_focus_says_whether_it_opens),
        cmocka_unit_test(the_editor_shows_its_text_its_newest_tokens_and_its_trouble),
        cmocka_unit_test(why_names_the_longer_bound_or_what_neither_explains),
        cmocka_unit_test(why_says_what_it_reads_at_which_rate),
        cmocka_unit_test(why_gives_no_number_that_was_not_measured),
        cmocka_unit_test(of_a_long_text_the_field_holds_what_is_around_the_cursor),
    };
    return cmocka_run_group_tests(tests, open_lesson, close_lesson);
}
