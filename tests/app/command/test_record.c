// The plan of a recording: which moments, how many, how large. Exact integers for
// any rate, and nothing refused late that could be refused early.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/command/record.h"
#include "app/picture/frame.h"
#include "app/runs/labwork.h"
#include "compute/base/why.h"
#include "render/pixel/surface.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct options options_for(const char *operand) {
    return (struct options){.command = COMMAND_RECORD,
                            .operand = operand,
                            .request = {.clock = CLOCK_LESSON, .schedule = "module-7"},
                            .language = "en",
                            .from_ns = -1,
                            .to_ns = -1,
                            .rate = {0, 1}};
}

static struct run *lesson(void) {
    struct options options = options_for("x.mp4");
    struct run *run = NULL;
    struct why why;
    if (!source_run(&run, NULL, &options.request, NULL, &why))
        fail_msg("%s", why.text);
    return run;
}

static struct record_plan plan_of(const struct options *options, const struct run *run) {
    struct record_plan plan;
    struct why why;
    assert_true(record_plan_picture(&plan, options, &why));
    if (!record_plan_moments(&plan, options, run, &why))
        fail_msg("%s", why.text);
    return plan;
}

static void a_film_is_full_hd_at_60_and_a_gif_is_smaller(void **state) {
    static const struct {
        const char *operand;
        enum record_kind kind;
        int width, height, fps;
    } cases[] = {
        {"a.mp4", RECORD_FILM, 1920, 1080, 60},  {"a.webm", RECORD_FILM, 1920, 1080, 60},
        {"-", RECORD_FILM, 1920, 1080, 60},      {"a.y4m", RECORD_FILM, 1920, 1080, 60},
        {"a.gif", RECORD_FILM, 854, 480, 25},    {"A.GIF", RECORD_FILM, 854, 480, 25},
        {"a.png", RECORD_STILL, 1920, 1080, 60}, {"no-such-folder", RECORD_STILLS, 1920, 1080, 60},
        {"/tmp", RECORD_STILLS, 1920, 1080, 60}, {"stills.d/", RECORD_STILLS, 1920, 1080, 60},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options = options_for(cases[i].operand);
        struct record_plan plan;
        struct why why;
        assert_true(record_plan_picture(&plan, &options, &why));
        assert_int_equal(plan.kind, cases[i].kind);
        assert_int_equal(plan.width_px, cases[i].width);
        assert_int_equal(plan.height_px, cases[i].height);
        assert_int_equal(plan.fps_num, cases[i].fps);
        options.width_px = 1024;
        options.height_px = 768;
        options.fps_num = 30000;
        options.fps_den = 1001;
        assert_true(record_plan_picture(&plan, &options, &why));
        assert_int_equal(plan.width_px, 1024);
        assert_int_equal(plan.height_px, 768);
        assert_int_equal(plan.fps_den, 1001);
    }
}

static void a_picture_too_small_for_its_text_is_refused(void **state) {
    (void)state;
    struct options options = options_for("a.mp4");
    struct record_plan plan;
    struct why why;
    options.width_px = 638;
    options.height_px = 480;
    assert_false(record_plan_picture(&plan, &options, &why));
    assert_non_null(strstr(why.text, "640x480"));
    options.width_px = 640;
    assert_true(record_plan_picture(&plan, &options, &why));
    options.height_px = 478;
    assert_false(record_plan_picture(&plan, &options, &why));
}

static void a_film_waits_a_second_plays_and_holds_two_seconds(void **state) {
    (void)state;
    struct run *run = lesson(); // 247 units of a millisecond
    struct options options = options_for("a.mp4");
    options.rate = (struct playhead_rate){1, 100};
    struct record_plan plan = plan_of(&options, run);
    assert_int_equal(plan.first_ns, -10000000);
    assert_int_equal(plan.last_ns, 247000000 + 20000000);
    // 1 + 24.7 + 2 s at 60 frames a second, the last moment included.
    assert_int_equal(plan.frame_count, 27.7 * 60 + 1);
    run_destroy(run);
}

static void from_and_to_cut_on_screen_time_half_open(void **state) {
    static const struct {
        int64_t from_ms, to_ms;
        int fps_num, fps_den;
        int64_t frames;
    } cases[] = {
        {2000, 8000, 60, 1, 360},   {0, 500, 60, 1, 30},     {2000, 2001, 60, 1, 1},
        {0, 1000, 30000, 1001, 30}, {1000, 2000, 25, 1, 25}, {-1, 1000, 50, 1, 50},
        {0, 27700, 60, 1, 1663},    {0, 99999, 60, 1, 1663}, {26700, -1, 60, 1, 61},
        {27700, -1, 60, 1, 1},
    };
    (void)state;
    struct run *run = lesson();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options = options_for("a.mp4");
        options.rate = (struct playhead_rate){1, 100};
        options.from_ns = cases[i].from_ms < 0 ? -1 : cases[i].from_ms * 1000000;
        options.to_ns = cases[i].to_ms < 0 ? -1 : cases[i].to_ms * 1000000;
        options.fps_num = cases[i].fps_num;
        options.fps_den = cases[i].fps_den;
        struct record_plan plan = plan_of(&options, run);
        if (plan.frame_count != cases[i].frames)
            fail_msg("case %zu: %lld frames", i, (long long)plan.frame_count);
        int64_t from_ms = cases[i].from_ms < 0 ? 0 : cases[i].from_ms;
        assert_int_equal(plan.first_ns, -10000000 + from_ms * 10000);
    }
    run_destroy(run);
}

static void a_start_past_the_end_is_refused_with_the_films_length(void **state) {
    (void)state;
    struct run *run = lesson();
    struct options options = options_for("a.mp4");
    struct record_plan plan;
    struct why why;
    options.rate = (struct playhead_rate){1, 100};
    options.from_ns = INT64_C(27700000001);
    assert_true(record_plan_picture(&plan, &options, &why));
    assert_false(record_plan_moments(&plan, &options, run, &why));
    assert_non_null(strstr(why.text, "27.7 s"));
    run_destroy(run);
}

static void extreme_rates_and_lengths_do_not_overflow(void **state) {
    (void)state;
    struct run *run = lesson();
    struct options options = options_for("a.mp4");
    options.rate = (struct playhead_rate){1, 1000000};
    options.fps_num = 240;
    options.fps_den = 1;
    options.to_ns = INT64_C(86400000000000);
    assert_int_equal(plan_of(&options, run).frame_count, INT64_C(240) * 86400);
    options.to_ns = -1;
    assert_int_equal(plan_of(&options, run).frame_count, INT64_C(240) * (247000 + 3) + 1);
    options.rate = (struct playhead_rate){1000, 1};
    assert_int_equal(plan_of(&options, run).frame_count, 240 * 3 + 1 + 1);
    run_destroy(run);
}

static void without_a_speed_a_run_is_shown_in_about_20_seconds(void **state) {
    (void)state;
    struct run *run = lesson();
    struct options options = options_for("a.mp4");
    struct record_plan plan = plan_of(&options, run);
    assert_int_equal(plan.rate.num, 1);
    assert_int_equal(plan.rate.den, 100);
    run_destroy(run);
}

static void stills_are_one_an_event_or_those_within_the_cut(void **state) {
    (void)state;
    struct run *run = lesson();
    struct options options = options_for("/tmp");
    options.rate = (struct playhead_rate){1, 100};
    struct record_plan plan = plan_of(&options, run);
    assert_int_equal(plan.frame_count, 9);
    assert_int_equal(plan.first_event, 0);
    // Events lie at 1 s, 8.2 s (prefill), 10.7 s, 13.2 s ...
    options.from_ns = INT64_C(8200000000);
    options.to_ns = INT64_C(13200000000);
    plan = plan_of(&options, run);
    assert_int_equal(plan.first_event, 1);
    assert_int_equal(plan.frame_count, 2);
    struct why why;
    options.from_ns = INT64_C(8300000000);
    options.to_ns = INT64_C(8400000000);
    assert_true(record_plan_picture(&plan, &options, &why));
    assert_false(record_plan_moments(&plan, &options, run, &why));
    assert_non_null(strstr(why.text, "no event"));
    run_destroy(run);
}

static void a_single_still_shows_the_end_or_the_moment_asked_for(void **state) {
    (void)state;
    struct run *run = lesson();
    struct options options = options_for("a.png");
    options.rate = (struct playhead_rate){1, 100};
    struct record_plan plan = plan_of(&options, run);
    assert_int_equal(plan.frame_count, 1);
    assert_int_equal(plan.last_ns, 267000000);
    options.from_ns = INT64_C(8200000000);
    assert_int_equal(plan_of(&options, run).last_ns, 72000000);
    run_destroy(run);
}

static void stills_are_named_after_their_events(void **state) {
    static const char *const names[] = {"prompt",  "prefill", "token-1",   "token-2",    "token-3",
                                        "token-4", "token-5", "token-6 .", "token-7 end"};
    (void)state;
    struct run *run = lesson();
    char name[96];
    for (int event = 0; event < run_events(run); event++) {
        record_still_name(name, sizeof name, run, event);
        assert_int_equal(strncmp(name, names[event], strlen(names[event])), 0);
    }
    record_still_name(name, sizeof name, run, 3);
    assert_non_null(strstr(name, "par"));
    run_destroy(run);
}

static void a_failed_recording_leaves_nothing_behind(void **state) {
    char folder[] = "/tmp/tokendrip-record-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    char path[64];
    struct why why;
    snprintf(path, sizeof path, "%s/out.y4m", folder);
    struct options options = options_for(path);
    options.is_quiet = true;
    options.width_px = 640;
    options.height_px = 480;
    options.request.schedule = "no-such-schedule";
    assert_int_equal(record_command(&options, &why), EXIT_FAILED);
    assert_non_null(strstr(why.text, "no-such-schedule"));
    options.request.schedule = "module-7";
    options.from_ns = INT64_C(80000000000000);
    assert_int_equal(record_command(&options, &why), EXIT_FAILED);
    assert_non_null(strstr(why.text, "--from lies past the end"));
    // Removes only an empty folder.
    assert_int_equal(rmdir(folder), 0);
}

// --- What a still shows ---

static const char saved_run[] = TOKENDRIP_SOURCE_DIR "/assets/runs/cpu-amd-epyc-2-cores.json";

// Lab as the window shows a saved run, without the key hints, as a PNG. Returns the knee
// plot's origin.
static const char *save_lab(const char *path, const struct options *options, bool has_engine) {
    static struct frame frame;
    struct runfile_extras extras;
    struct labwork work = {0};
    struct run *run = NULL;
    struct text *text = NULL;
    struct surface *surface = NULL;
    struct why why;
    assert_true(source_replay(&run, &extras, options->request.run_path, &why));
    run->info.answer_limit = run->answer_count;
    labwork_take(&work, &extras);
    struct record_plan plan = plan_of(options, run);
    struct stage_state stage = {.playhead = {.rate = plan.rate},
                                .landed_ns = INT64_MIN,
                                .mode = MODE_LAB,
                                .focus = -1,
                                .guess = guess_new()};
    struct at_hand at = labwork_at_hand(&work, run, NULL, has_engine);
    at.t_ns = plan.last_ns;
    at.can_move = true;
    at.longest_prompt = work.longest;
    at.longest_answer = SOURCE_ANSWER_LIMIT;
    assert_true(text_create(&text, &why));
    assert_true(surface_create(&surface, plan.width_px, plan.height_px, text, &why));
    struct frame_target target = {plan.width_px, plan.height_px, true, text};
    frame_compose(&frame, &at, &stage, &target);
    surface_draw(surface, &frame.scene);
    assert_true(surface_save_png(surface, path, true, &why));
    surface_destroy(surface);
    text_destroy(text);
    run_destroy(run);
    labwork_clear(&work);
    return frame.lab.plots[0].origin;
}

static bool are_equal_files(const char *a_path, const char *b_path) {
    FILE *a = fopen(a_path, "rb"), *b = fopen(b_path, "rb");
    assert_true(a && b);
    int x, y;
    do {
        x = fgetc(a);
        y = fgetc(b);
    } while (x == y && x != EOF);
    fclose(a);
    fclose(b);
    return x == y;
}

static void a_still_of_a_saved_run_is_the_windows_picture_and_says_from_a_file(void **state) {
    (void)state;
    char folder[] = "/tmp/tokendrip-record-XXXXXX", still[64], here[64], file[64];
    struct why why;
    assert_non_null(mkdtemp(folder));
    snprintf(still, sizeof still, "%s/still.png", folder);
    snprintf(here, sizeof here, "%s/here.png", folder);
    snprintf(file, sizeof file, "%s/file.png", folder);
    struct options options = options_for(still);
    options.request.clock = CLOCK_MEASURED;
    options.mode = MODE_LAB;
    options.request.run_path = saved_run;
    options.is_quiet = true;
    options.width_px = 1280;
    options.height_px = 720;
    assert_int_equal(record_command(&options, &why), EXIT_OK);
    assert_string_equal(save_lab(here, &options, true), "measured here");
    assert_string_equal(save_lab(file, &options, false), "measured, from a file");
    assert_true(are_equal_files(still, file));
    assert_false(are_equal_files(still, here));
    remove(still);
    remove(here);
    remove(file);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_film_is_full_hd_at_60_and_a_gif_is_smaller),
        cmocka_unit_test(a_picture_too_small_for_its_text_is_refused),
        cmocka_unit_test(a_film_waits_a_second_plays_and_holds_two_seconds),
        cmocka_unit_test(from_and_to_cut_on_screen_time_half_open),
        cmocka_unit_test(a_start_past_the_end_is_refused_with_the_films_length),
        cmocka_unit_test(extreme_rates_and_lengths_do_not_overflow),
        cmocka_unit_test(without_a_speed_a_run_is_shown_in_about_20_seconds),
        cmocka_unit_test(stills_are_one_an_event_or_those_within_the_cut),
        cmocka_unit_test(a_single_still_shows_the_end_or_the_moment_asked_for),
        cmocka_unit_test(stills_are_named_after_their_events),
        cmocka_unit_test(a_failed_recording_leaves_nothing_behind),
        cmocka_unit_test(a_still_of_a_saved_run_is_the_windows_picture_and_says_from_a_file),
    };
    setenv("TOKENDRIP_ASSETS", TOKENDRIP_SOURCE_DIR "/assets", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
