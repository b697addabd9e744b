// Tests of publish.h: single-threaded rules first, then a worker that grows one
// run after another while a reader checks every snapshot it gets. Built with
// ThreadSanitizer this also proves that nothing is read while it is written.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "compute/run/publish.h"
#include "tests/compute/run/random_run.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

enum { RUNS = 16, READERS = 2 };

static struct why why;

static struct run *empty_twin(const struct run *run) {
    struct run *twin = NULL;
    assert_true(run_copy(&twin, run, &why));
    run_rewind(twin);
    return twin;
}

// Plays the marks of `from` into its empty twin, publishing as a worker does.
// `rest` (NULL is fine) is called after every publication.
static void replay(struct publish *publish, struct run *to, const struct run *from,
                   void (*rest)(void)) {
    struct why reason;
    for (int mark = 0; mark < from->mark_count; mark++) {
        int pass = mark / run_stages(from), stage = mark % run_stages(from);
        bool done = true;
        if (stage == 0)
            done = run_begin_pass(to, &from->passes[pass], &reason);
        int yields = from->passes[pass].yields;
        if (stage == run_stages(from) - 1 && yields >= 0) {
            size_t bytes = 0;
            int token = from->prompt_count + yields;
            const char *text = run_token_text(from, token, &bytes);
            done = done && run_add_answer_token(to, from->tokens[token].id, text, bytes,
                                                from->tokens[token].kind, &reason);
        }
        if (!done || !run_add_mark(to, from->mark_end_ns[mark], &reason))
            return; // the reader then misses marks and says so
        publish_marks(publish, to);
        if (rest)
            rest();
    }
    run_close(to, from->state);
    publish_end(publish, to);
}

// True if `prefix` is the first prefix->mark_count marks of `whole`.
static bool is_prefix_of(const struct run *prefix, const struct run *whole) {
    struct run same;
    size_t bytes = 0, same_bytes = 0;
    run_prefix(&same, whole, prefix->mark_count);
    if (prefix->mark_count > whole->mark_count ||
        memcmp(prefix->mark_end_ns, whole->mark_end_ns,
               (size_t)prefix->mark_count * sizeof(int64_t)) != 0)
        return false;
    for (int i = 0; i < run_passes_seen(prefix); i++) {
        if (prefix->passes[i].yields != whole->passes[i].yields ||
            prefix->passes[i].start_ns != whole->passes[i].start_ns)
            return false;
    }
    for (int i = 0; i < prefix->prompt_count + run_answers_seen(prefix); i++) {
        const char *text = run_token_text(prefix, i, &bytes);
        const char *same_text = run_token_text(&same, i, &same_bytes);
        if (bytes != same_bytes || memcmp(text, same_text, bytes) != 0 ||
            prefix->tokens[i].id != whole->tokens[i].id)
            return false;
    }
    return prefix->pass_count == same.pass_count && prefix->answer_count == same.answer_count &&
           prefix->text_used == same.text_used && run_e2e_ns(prefix) == run_e2e_ns(&same);
}

static void nothing_is_seen_before_the_first_begin(void **state) {
    (void)state;
    struct publish publish = {0};
    struct run out = {.mark_count = 77};
    uint32_t generation = 5;
    assert_false(publish_prefix(&publish, &out, &generation));
    assert_int_equal(out.mark_count, 77);
    assert_int_equal(generation, 5);
}

static void marks_are_seen_when_published_and_not_before(void **state) {
    (void)state;
    struct publish publish = {0};
    struct run *whole = random_run(11, &(struct random_run_limits){.max_layers = 4});
    struct run *run = empty_twin(whole), out;
    uint32_t generation = 0;
    publish_begin(&publish, run);
    assert_true(publish_prefix(&publish, &out, &generation));
    assert_int_equal(generation, 1);
    assert_int_equal(out.mark_count, 0);
    assert_int_equal(out.prompt_count, run->prompt_count);
    assert_true(run_begin_pass(run, &whole->passes[0], &why));
    assert_true(run_add_mark(run, whole->mark_end_ns[0], &why));
    assert_true(publish_prefix(&publish, &out, NULL));
    assert_int_equal(out.mark_count, 0);
    publish_marks(&publish, run);
    assert_true(publish_prefix(&publish, &out, NULL));
    assert_int_equal(out.mark_count, 1);
    assert_int_equal(out.state, RUN_OPEN);
    assert_true(is_prefix_of(&out, whole));
    assert_true(run_add_mark(run, whole->mark_end_ns[1], &why));
    run_close(run, RUN_FAILED);
    publish_end(&publish, run);
    assert_true(publish_prefix(&publish, &out, NULL));
    assert_int_equal(out.state, RUN_FAILED);
    assert_int_equal(out.mark_count, 2); // the end shows the marks before it, too
    assert_true(run_validate(&out, &why));
    run_destroy(run);
    run_destroy(whole);
}

static void a_new_run_starts_empty_under_a_new_generation(void **state) {
    (void)state;
    struct publish publish = {0};
    for (uint32_t i = 1; i <= 5; i++) {
        struct run *whole = random_run(i, &(struct random_run_limits){.max_layers = 4});
        struct run *run = empty_twin(whole), out;
        uint32_t generation = 0;
        publish_begin(&publish, run);
        assert_true(publish_prefix(&publish, &out, &generation));
        assert_int_equal(generation, i);
        assert_int_equal(out.mark_count, 0);
        assert_int_equal(out.state, RUN_OPEN);
        replay(&publish, run, whole, NULL);
        assert_true(publish_prefix(&publish, &out, &generation));
        assert_int_equal(generation, i);
        assert_int_equal(out.state, RUN_COMPLETE);
        assert_true(is_prefix_of(&out, whole));
        assert_true(run_validate(&out, &why));
        run_destroy(run);
        run_destroy(whole);
    }
}

static void the_generation_steps_over_zero(void **state) {
    (void)state;
    struct publish publish = {0};
    struct run *run = random_run(3, &(struct random_run_limits){.max_layers = 4}), out;
    atomic_store(&publish.generation, UINT32_MAX);
    publish_begin(&publish, run);
    uint32_t generation = 0;
    assert_true(publish_prefix(&publish, &out, &generation));
    assert_int_equal(generation, 2);
    publish_marks(&publish, run);
    assert_true(publish_prefix(&publish, &out, &generation));
    assert_int_equal(out.mark_count, run->mark_count);
    run_destroy(run);
}

// --- Two threads ---

static struct {
    struct publish publish;
    struct run *whole[RUNS]; // what each run becomes; never changed
    struct run *live[RUNS];  // grown by the worker
    _Atomic unsigned looks[READERS];
    _Atomic bool is_done;
} stage;

// Lets every reader look now and then, so that the growing is really seen, on a
// busy machine too. Relaxed: this must not order anything for them.
static void rest_now_and_then(void) {
    static int calls;
    if (calls++ % 16 != 0)
        return;
    for (int i = 0; i < READERS; i++) {
        unsigned before = atomic_load_explicit(&stage.looks[i], memory_order_relaxed);
        while (atomic_load_explicit(&stage.looks[i], memory_order_relaxed) == before)
            sched_yield();
    }
}

static void *work(void *context) {
    (void)context;
    for (int i = 0; i < RUNS; i++) {
        publish_begin(&stage.publish, stage.live[i]);
        replay(&stage.publish, stage.live[i], stage.whole[i], rest_now_and_then);
    }
    atomic_store(&stage.is_done, true);
    return NULL;
}

// What a reader saw; checked by asserts after it was joined.
struct sightings {
    int partial, bad;
    int last_run, last_marks;
    enum run_state last_state;
};

static void look(struct sightings *seen) {
    struct run prefix;
    uint32_t generation = 0;
    if (!publish_prefix(&stage.publish, &prefix, &generation))
        return;
    int index = (int)generation - 1;
    const struct run *whole = stage.whole[index];
    bool is_new = index != seen->last_run;
    seen->partial += prefix.mark_count > 0 && prefix.mark_count < whole->mark_count;
    seen->bad += index < seen->last_run || (!is_new && prefix.mark_count < seen->last_marks);
    seen->bad += !is_new && seen->last_state != RUN_OPEN && prefix.state != seen->last_state;
    seen->bad += prefix.state != RUN_OPEN && prefix.mark_count != whole->mark_count;
    if (is_new || prefix.mark_count != seen->last_marks)
        seen->bad += !is_prefix_of(&prefix, whole);
    seen->last_run = index;
    seen->last_marks = prefix.mark_count;
    seen->last_state = prefix.state;
}

static struct sightings sightings[READERS];

static void *read_along(void *context) {
    int number = (int)((struct sightings *)context - sightings);
    sightings[number] = (struct sightings){.last_run = -1};
    while (!atomic_load_explicit(&stage.is_done, memory_order_relaxed)) {
        look(&sightings[number]);
        atomic_fetch_add_explicit(&stage.looks[number], 1, memory_order_relaxed);
    }
    return NULL;
}

static void every_snapshot_of_a_growing_run_is_a_prefix_of_it(void **state) {
    (void)state;
    struct random_run_limits limits = {
        .max_layers = 6, .max_prompt = 40, .max_answers = 20, .may_fail = true};
    for (int i = 0; i < RUNS; i++) {
        stage.whole[i] = random_run((uint64_t)i + 100, &limits);
        stage.live[i] = empty_twin(stage.whole[i]);
    }
    pthread_t worker, readers[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_along, &sightings[i]), 0);
    assert_int_equal(pthread_create(&worker, NULL, work, NULL), 0);
    pthread_join(worker, NULL);
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i], NULL);
        assert_true(sightings[i].partial > 0);
        look(&sightings[i]); // the end can always be seen
        assert_int_equal(sightings[i].bad, 0);
        assert_int_equal(sightings[i].last_run, RUNS - 1);
        assert_int_equal(sightings[i].last_marks, stage.whole[RUNS - 1]->mark_count);
        assert_int_equal(sightings[i].last_state, stage.whole[RUNS - 1]->state);
    }
    for (int i = 0; i < RUNS; i++) {
        run_destroy(stage.live[i]);
        run_destroy(stage.whole[i]);
    }
}

// --- Interrupted half-way ---

// A signal stops a thread between any two of its instructions: what a worker or a
// reader that was put to sleep looks like to the other.
enum { INTERRUPTIONS = 2000 };

static struct publish busy;
static struct run *taking_turns[3];
static volatile sig_atomic_t interruptions, mixed;

static void begin_next_run(void) {
    publish_begin(&busy, taking_turns[(atomic_load(&busy.generation) + 1) % 3]);
}

static void end_this_run(void) {
    publish_end(&busy, taking_turns[atomic_load(&busy.generation) % 3]);
}

static void show_next_run(void) {
    begin_next_run();
    end_this_run();
}

static void look_for_a_mixture(void) {
    struct run prefix;
    uint32_t generation = 0;
    if (!publish_prefix(&busy, &prefix, &generation))
        return;
    const struct run *whole = taking_turns[generation % 3];
    bool is_all = prefix.mark_count == whole->mark_count;
    mixed += prefix.tokens != whole->tokens || (!is_all && prefix.mark_count != 0) ||
             (!is_all && prefix.state != RUN_OPEN);
}

static void interrupt_with_new_runs(int number) {
    (void)number;
    if (interruptions++ % 2 == 0) {
        end_this_run();
        return;
    }
    show_next_run();
    begin_next_run(); // the slot that was being read is filled again
}

static void interrupt_with_a_look(int number) {
    (void)number;
    look_for_a_mixture();
    interruptions++;
}

static void interrupt_often(void (*handler)(int), void (*interrupted)(void)) {
    for (int i = 0; i < 3; i++) {
        struct random_run_limits limits = {.max_layers = 2 + i, .max_answers = 9};
        taking_turns[i] = random_run((uint64_t)(i + 1) * 17, &limits);
    }
    interruptions = mixed = 0;
    show_next_run();
    struct sigaction on_alarm = {.sa_handler = handler}, kept;
    sigaction(SIGALRM, &on_alarm, &kept);
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    while (interruptions < INTERRUPTIONS)
        interrupted();
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &kept, NULL);
    for (int i = 0; i < 3; i++)
        run_destroy(taking_turns[i]);
    assert_int_equal(mixed, 0);
}

static void a_slow_reader_never_mixes_two_runs(void **state) {
    (void)state;
    interrupt_often(interrupt_with_new_runs, look_for_a_mixture);
}

static void a_worker_stopped_half_way_shows_no_mixture_and_stops_nobody(void **state) {
    (void)state;
    interrupt_often(interrupt_with_a_look, show_next_run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_seen_before_the_first_begin),
        cmocka_unit_test(marks_are_seen_when_published_and_not_before),
        cmocka_unit_test(a_new_run_starts_empty_under_a_new_generation),
        cmocka_unit_test(the_generation_steps_over_zero),
        cmocka_unit_test(every_snapshot_of_a_growing_run_is_a_prefix_of_it),
        cmocka_unit_test(a_slow_reader_never_mixes_two_runs),
        cmocka_unit_test(a_worker_stopped_half_way_shows_no_mixture_and_stops_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
