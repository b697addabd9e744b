// The runs at hand: what is measured, what Lab wants on top of it, what a file brings
// along without any device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/options/options.h"
#include "app/runs/session.h"
#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/file/runfile.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Posted by every wake-up of a session, as the window's loop is woken.
static sem_t woken;

static void wake(void *context) {
    (void)context;
    sem_post(&woken);
}

static struct options options_of(int argc, const char **argv) {
    struct options options;
    struct why why;
    if (!options_parse(&options, argc, (char **)argv, &why))
        fail_msg("%s", why.text);
    return options;
}

static struct session *open_session(const struct options *options) {
    struct session *session = NULL;
    struct why why;
    setenv("TOKENDRIP_ASSETS", TOKENDRIP_SOURCE_DIR "/assets", 1);
    if (!session_open(&session, &options->request, wake, NULL, &why))
        fail_msg("%s", why.text);
    return session;
}

// Polls until `is_done` says so; only a hang takes ten minutes, even under a sanitizer on a busy machine.
static void wait_until(struct session *session, bool (*is_done)(struct session *session)) {
    static const struct timespec pause = {.tv_nsec = 2000000};
    int64_t end_ns = stopwatch_now_ns() + INT64_C(600000000000);
    while (!is_done(session)) {
        if (session_failure(session))
            fail_msg("%s", session_failure(session));
        assert_true(stopwatch_now_ns() < end_ns);
        session_poll(session, stopwatch_now_ns(), false);
        nanosleep(&pause, NULL);
    }
}

// The same as the window does with nobody at it: polls once, then once for every wake-up.
// Every poll is ten seconds after the one before, so that every measurement is a slow one.
static void sleep_until(struct session *session, bool wants_live,
                        bool (*is_done)(struct session *session)) {
    int64_t wall_ns = stopwatch_now_ns();
    for (;; wall_ns += INT64_C(10000000000)) {
        while (sem_trywait(&woken) == 0)
            continue; // one event stands for all wake-ups before it
        session_poll(session, wall_ns, wants_live);
        if (session_failure(session))
            fail_msg("%s", session_failure(session));
        if (is_done(session))
            return;
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += 60;
        if (sem_timedwait(&woken, &end) != 0)
            fail_msg("it sleeps though there is more to do");
    }
}

static bool is_measured(struct session *session) {
    struct session_show show = session_show(session, CLOCK_MEASURED, RUN_ENGINE);
    return show.run && show.run->state == RUN_COMPLETE && !show.is_measuring;
}

static bool has_lab(struct session *session) {
    const struct labwork *work = session_lab(session);
    return work->roofline.is_measured && work->uncached;
}

static bool has_roofline(struct session *session) {
    return session_lab(session)->roofline.is_measured;
}

static bool has_sweep(struct session *session) {
    return session_lab(session)->is_sweep_whole;
}

static bool has_all(struct session *session) {
    return has_lab(session) && has_sweep(session);
}

static bool has_uncached_of_36(struct session *session) {
    const struct run *run = session_lab(session)->uncached;
    return run && run->info.prompt_tokens == 36;
}

static bool is_live(struct session *session) {
    return session_show(session, CLOCK_MEASURED, RUN_ENGINE).is_live;
}

static bool is_over(struct session *session) {
    session_end_live(session); // as the window does once it has shown all of it
    return is_measured(session);
}

static const struct run *shown(struct session *session) {
    return session_show(session, CLOCK_MEASURED, RUN_ENGINE).run;
}

static void a_slider_moves_the_measured_run_and_lab_follows_it(void **state) {
    (void)state;
    struct options options = options_of(3, (const char *[]){"tokendrip", "--device", "cpu"});
    struct session *session = open_session(&options);
    struct why why;
    wait_until(session, is_measured);
    assert_int_equal(shown(session)->info.prompt_tokens, 18);
    assert_null(session_before(session));
    assert_true(session_keep(session, shown(session), &why));

    session_want(session, LABWORK_ROOFLINE | LABWORK_UNCACHED);
    wait_until(session, has_lab);
    const struct labwork *work = session_lab(session);
    const struct run *uncached = work->uncached, *run = shown(session);
    assert_true(uncached->info.recomputes);
    assert_int_equal(uncached->answer_count, run->answer_count);
    for (int i = 0; i < run->answer_count; i++) // the same tokens, computed again and again
        assert_int_equal(uncached->tokens[18 + i].id, run->tokens[18 + i].id);
    double flop = work->roofline.prefill.flop;

    session_want(session, 0);
    assert_true(session_measure(session, 36, 0, stopwatch_now_ns(), &why));
    wait_until(session, is_measured);
    assert_int_equal(shown(session)->info.prompt_tokens, 36);
    assert_int_equal(session_before(session)->info.prompt_tokens, 18);
    assert_int_equal(session_lab(session)->kept->info.prompt_tokens, 18);
    assert_null(session_lab(session)->uncached);                     // it was another answer's
    assert_true(session_lab(session)->roofline.prefill.flop > flop); // of the run on screen

    assert_true(session_measure_text(session, "Where is my parcel?", 0, stopwatch_now_ns(), &why));
    wait_until(session, is_measured);
    int own = shown(session)->info.prompt_tokens;
    assert_true(own < 18);
    // Measured again it is the own prompt still.
    assert_true(session_measure(session, 0, 0, stopwatch_now_ns(), &why));
    wait_until(session, is_measured);
    assert_int_equal(shown(session)->info.prompt_tokens, own);
    assert_false(session_measure(session, 100000, 0, stopwatch_now_ns(), &why));
    assert_true(why.text[0]);
    session_close(session);
}

static void every_job_leads_to_the_next_without_any_event(void **state) {
    (void)state;
    struct options options = options_of(3, (const char *[]){"tokendrip", "--device", "cpu"});
    static const struct {
        unsigned wants;
        bool (*is_done)(struct session *session);
    } jobs[] = {
        {LABWORK_ROOFLINE | LABWORK_UNCACHED | LABWORK_SWEEP, has_all},
        {LABWORK_ROOFLINE, has_roofline},
        {LABWORK_SWEEP, has_sweep},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        struct session *session = open_session(&options);
        struct why why;
        session_show(session, CLOCK_MEASURED, RUN_ENGINE); // opens the model
        session_want(session, jobs[i].wants);              // from the start, as Lab does
        sleep_until(session, false, jobs[i].is_done);
        // New lengths interrupt what Lab measures and are followed by the rest of it.
        session_want(session, LABWORK_UNCACHED);
        assert_true(session_measure(session, 36, 0, stopwatch_now_ns(), &why));
        sleep_until(session, false, has_uncached_of_36);
        session_close(session);
    }
}

static void after_a_run_shown_live_the_jobs_go_on_without_any_event(void **state) {
    (void)state;
    struct options options = options_of(3, (const char *[]){"tokendrip", "--device", "cpu"});
    struct session *session = open_session(&options);
    session_show(session, CLOCK_MEASURED, RUN_ENGINE);
    session_want(session, LABWORK_ROOFLINE);
    sleep_until(session, true, is_live);
    wait_until(session, is_over); // frames are drawn meanwhile
    sleep_until(session, true, has_roofline);
    session_close(session);
}

static void lengths_that_are_refused_leave_the_measurement_alone(void **state) {
    (void)state;
    struct options options = options_of(3, (const char *[]){"tokendrip", "--device", "cpu"});
    struct session *session = open_session(&options);
    struct why why;
    wait_until(session, is_measured);
    assert_true(session_measure(session, 36, 0, stopwatch_now_ns(), &why));
    assert_false(session_measure(session, 100000, 0, stopwatch_now_ns(), &why));
    sleep_until(session, false, is_measured);
    assert_int_equal(shown(session)->info.prompt_tokens, 36);
    session_close(session);
}

static void the_lesson_has_any_length_by_its_rule(void **state) {
    (void)state;
    struct options options = options_of(3, (const char *[]){"tokendrip", "--clock", "lesson"});
    struct session *session = open_session(&options);
    struct why why;
    assert_true(session_can_schedule(session));
    assert_true(session_schedule(session, 30, 4, &why));
    const struct run *run = session_show(session, CLOCK_LESSON, RUN_CHARGED).run;
    assert_int_equal(run->info.prompt_tokens, 30);
    assert_int_equal(run_prefill_ns(run) / run->info.unit_ns, 120); // 4 units a token
    assert_int_equal(run_e2e_ns(run) / run->info.unit_ns, 120 + 4 * 25);
    session_close(session);
}

static void a_file_with_a_sweep_has_other_lengths_marked_modelled(void **state) {
    (void)state;
    struct options options = options_of(
        3, (const char *[]){"tokendrip", "--run",
                            TOKENDRIP_SOURCE_DIR "/assets/runs/cpu-amd-epyc-2-cores.json"});
    struct session *session = open_session(&options);
    struct why why;
    assert_false(session_can_measure(session));
    assert_true(session_can_model(session));
    assert_true(session_has_lesson(session)); // the bundled one, a rule, beside the file's run
    assert_true(session_can_schedule(session));
    assert_int_equal(shown(session)->info.origin, RUN_MEASURED);
    assert_true(session_model(session, 100, 20, &why));
    const struct run *run = shown(session);
    assert_int_equal(run->info.origin, RUN_MODELLED);
    assert_int_equal(run->info.prompt_tokens, 100);
    assert_int_equal(run_answers_seen(run), 20);
    assert_int_equal(session_before(session)->info.origin, RUN_MEASURED);
    session_close(session);
}

static void a_saved_lesson_is_no_rule_and_has_the_lengths_it_has(void **state) {
    (void)state;
    struct options options = options_of(3, (const char *[]){"tokendrip", "--clock", "lesson"});
    struct session *session = open_session(&options);
    char folder[] = "/tmp/tokendrip-session-XXXXXX", path[64];
    struct why why = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/lesson.json", folder);
    assert_true(
        runfile_save(path, session_show(session, CLOCK_LESSON, RUN_CHARGED).run, NULL, true, &why));
    session_close(session);

    options = options_of(3, (const char *[]){"tokendrip", "--run", path});
    session = open_session(&options);
    assert_true(session_has_lesson(session));
    assert_false(session_can_schedule(session));
    assert_false(session_can_model(session));
    assert_false(session_schedule(session, 30, 4, &why));
    assert_non_null(strstr(why.text, "saved run"));
    assert_int_equal(session_show(session, CLOCK_LESSON, RUN_CHARGED).run->info.prompt_tokens, 18);
    session_close(session);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void without_a_sweep_a_file_has_the_lengths_it_has(void **state) {
    (void)state;
    struct options options =
        options_of(3, (const char *[]){"tokendrip", "--run",
                                       TOKENDRIP_SOURCE_DIR
                                       "/assets/runs/cpu-amd-epyc-2-cores-llama-3.2-1b.json"});
    struct session *session = open_session(&options);
    struct why why;
    assert_false(session_can_model(session));
    assert_false(session_model(session, 100, 20, &why));
    assert_non_null(strstr(why.text, "no sweep"));
    session_close(session);
}

static const char other_model[] = TOKENDRIP_SOURCE_DIR "/assets/model/tokendrip.gguf";
static const char no_model[] = TOKENDRIP_SOURCE_DIR "/README.md";

static bool has_other_model(struct session *session) {
    const char *path = session_request(session)->model_path;
    return session_can_measure(session) && path && strcmp(path, other_model) == 0 &&
           is_measured(session);
}

static bool is_refused(struct session *session) {
    return session_refusal(session) && session_can_measure(session);
}

static void open_model(struct session *session, const char *path) {
    struct why why;
    if (!session_open_model(session, path, &why))
        fail_msg("%s", why.text);
    assert_false(session_can_measure(session));
}

static void another_model_takes_the_place_of_the_one_there_without_any_event(void **state) {
    (void)state;
    struct options options = options_of(3, (const char *[]){"tokendrip", "--device", "cpu"});
    struct session *session = open_session(&options);
    struct why why;
    shown(session); // begins to open the bundled one
    session_want(session, LABWORK_ROOFLINE);
    sleep_until(session, false, has_roofline);
    assert_true(session_keep(session, shown(session), &why));
    session_want(session, 0);
    open_model(session, other_model);
    sleep_until(session, false, has_other_model);
    assert_string_equal(session_request(session)->model_path, other_model);
    assert_false(session_lab(session)->roofline.is_measured);
    assert_non_null(session_lab(session)->kept);
    assert_null(session_refusal(session));
    if (!session_measure(session, 36, 4, 0, &why))
        fail_msg("%s", why.text);
    session_close(session);
}

static void a_model_that_does_not_open_leaves_the_old_one_in_place(void **state) {
    (void)state;
    struct options options = options_of(3, (const char *[]){"tokendrip", "--device", "cpu"});
    struct session *session = open_session(&options);
    sleep_until(session, false, is_measured);
    const struct run *before = shown(session);
    open_model(session, no_model);
    sleep_until(session, false, is_refused);
    assert_non_null(strstr(session_refusal(session), "README.md"));
    assert_ptr_equal(shown(session), before);
    assert_null(session_request(session)->model_path);
    // And the next choice counts as if nothing had been.
    open_model(session, other_model);
    assert_null(session_refusal(session));
    sleep_until(session, false, has_other_model);
    session_close(session);
}

static void the_model_chosen_last_is_the_one_that_opens(void **state) {
    (void)state;
    struct options options = options_of(3, (const char *[]){"tokendrip", "--device", "cpu"});
    struct session *session = open_session(&options);
    shown(session); // begins to open the bundled one
    open_model(session, no_model);
    open_model(session, other_model);
    sleep_until(session, false, has_other_model);
    assert_null(session_refusal(session));
    session_close(session);
}

static void a_run_that_grows_on_the_screen_is_left_before_its_model_goes(void **state) {
    (void)state;
    struct options options = options_of(3, (const char *[]){"tokendrip", "--device", "cpu"});
    struct session *session = open_session(&options);
    sleep_until(session, true, is_live);
    const struct run *live = shown(session);
    open_model(session, other_model);
    assert_true(live->answer_count >= 0 && live->passes);
    assert_null(shown(session));
    sleep_until(session, false, has_other_model);
    session_close(session);
}

static void a_model_can_be_opened_beside_a_replayed_run_and_given_up_again(void **state) {
    (void)state;
    struct options options = options_of(
        3, (const char *[]){"tokendrip", "--run",
                            TOKENDRIP_SOURCE_DIR "/assets/runs/cpu-amd-epyc-2-cores.json"});
    struct session *session = open_session(&options);
    assert_true(session_can_model(session));
    open_model(session, no_model);
    while (!session_refusal(session))
        session_poll(session, 0, false);
    assert_true(session_can_model(session));
    open_model(session, other_model);
    sleep_until(session, false, has_other_model);
    assert_false(session_can_model(session));
    assert_true(session_can_measure(session));
    session_close(session);
}

int main(void) {
    sem_init(&woken, 0, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slider_moves_the_measured_run_and_lab_follows_it),
        cmocka_unit_test(every_job_leads_to_the_next_without_any_event),
        cmocka_unit_test(after_a_run_shown_live_the_jobs_go_on_without_any_event),
        cmocka_unit_test(lengths_that_are_refused_leave_the_measurement_alone),
        cmocka_unit_test(the_lesson_has_any_length_by_its_rule),
        cmocka_unit_test(a_file_with_a_sweep_has_other_lengths_marked_modelled),
        cmocka_unit_test(a_saved_lesson_is_no_rule_and_has_the_lengths_it_has),
        cmocka_unit_test(without_a_sweep_a_file_has_the_lengths_it_has),
        cmocka_unit_test(another_model_takes_the_place_of_the_one_there_without_any_event),
        cmocka_unit_test(a_model_that_does_not_open_leaves_the_old_one_in_place),
        cmocka_unit_test(the_model_chosen_last_is_the_one_that_opens),
        cmocka_unit_test(a_run_that_grows_on_the_screen_is_left_before_its_model_goes),
        cmocka_unit_test(a_model_can_be_opened_beside_a_replayed_run_and_given_up_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
