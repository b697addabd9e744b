// Tests of moment.h: one run by hand with the header's table, then laws over random
// runs, asked at every boundary and a nanosecond before and after it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "compute/run/moment.h"
#include "tests/compute/run/random_run.h"

#include <string.h>

static struct why why;

static const struct random_run_limits small = {
    .max_layers = 6, .max_prompt = 40, .max_answers = 30, .may_fail = true, .may_recompute = true};

// --- By hand ---

// Three stages of 10 ns a pass: prefill 5 .. 35, a gap, steps 50 .. 80 and 80 .. 110.
static struct run *run_by_hand(void) {
    struct run_info info = {.layers = 1, .prompt_tokens = 2, .answer_limit = 3};
    const struct run_pass passes[] = {
        {RUN_PREFILL, 0, 2, 0, 5}, {RUN_DECODE, 2, 1, 1, 50}, {RUN_DECODE, 3, 1, 2, 80}};
    struct run *run = NULL;
    assert_true(run_create(&run, &info, 1, &why));
    for (int i = 0; i < 2; i++)
        assert_true(run_add_prompt_token(run, i, "a", 1, false, &why));
    for (int i = 0; i < 3; i++) {
        assert_true(run_begin_pass(run, &passes[i], &why));
        assert_true(run_add_answer_token(run, 7, "b", 1, false, &why));
        for (int stage = 1; stage <= 3; stage++)
            assert_true(run_add_mark(run, passes[i].start_ns + 10 * stage, &why));
    }
    return run;
}

static void a_moment_in_a_gap_has_three_answers(void **state) {
    (void)state;
    static const struct {
        int64_t t_ns;
        int running, pending, current;
    } rows[] = {
        {-1, -1, -1, -1},
        {0, -1, -1, -1},
        {1, -1, 0, 0},
        {5, -1, 0, 0},
        {6, 0, 0, 0},
        {34, 0, 0, 0},
        {35, -1, -1, 0},
        {36, -1, 1, 1},
        {50, -1, 1, 1},
        {51, 1, 1, 1},
        {80, -1, -1, 1},
        {81, 2, 2, 2},
        {109, 2, 2, 2},
        {110, -1, -1, 2},
        {111, -1, -1, 2},
        {INT64_MAX, -1, -1, 2},
        {INT64_MIN, -1, -1, -1},
    };
    struct run *run = run_by_hand();
    run_close(run, RUN_COMPLETE);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct run_moment at = run_moment_at(run, rows[i].t_ns);
        assert_int_equal(at.running, rows[i].running);
        assert_int_equal(at.pending, rows[i].pending);
        assert_int_equal(at.current, rows[i].current);
        assert_int_equal(at.at_end, rows[i].t_ns >= 110);
    }
    run_destroy(run);
}

static void a_run_that_failed_inside_a_pass_keeps_that_pass_running(void **state) {
    (void)state;
    for (int passes = 0; passes < 3; passes++) {
        struct run *run = run_by_hand();
        run->mark_count = 3 * passes + 1;
        run_close(run, RUN_FAILED);
        struct run_moment at = run_moment_at(run, run_end_ns(run) + 7);
        assert_true(at.at_end);
        assert_int_equal(at.running, passes);
        assert_int_equal(at.pending, passes);
        assert_int_equal(at.current, passes > 0 ? passes - 1 : 0);
        run_destroy(run);
    }
}

static void an_open_run_has_no_moment_past_its_last_mark(void **state) {
    (void)state;
    struct run *run = run_by_hand(), prefix;
    run_prefix(&prefix, run, 0);
    struct run_moment at = run_moment_at(&prefix, 100);
    assert_int_equal(at.t_ns, 0);
    assert_int_equal(at.current, -1);
    run_prefix(&prefix, run, 4); // one stage of the first step
    at = run_moment_at(&prefix, 100);
    assert_int_equal(at.t_ns, 60);
    assert_int_equal(at.shown_ns, 60);
    assert_int_equal(at.running, 1);
    assert_false(at.at_end);
    run_destroy(run);
}

// --- Against a walk over the arrays ---

// The same, one pass and one mark after the other.
static struct run_moment walk(const struct run *run, int64_t t_ns) {
    int64_t end_ns = run->mark_count ? run->mark_end_ns[run->mark_count - 1] : 0, event_ns = 0;
    bool is_open = run->state == RUN_OPEN;
    struct run_moment at = {.run = run, .running = -1, .pending = -1, .current = -1};
    at.prefill_ns = at.ttft_ns = at.tpot_ns = at.step_ns = -1;
    at.t_ns = is_open && t_ns > end_ns ? end_ns : t_ns;
    at.shown_ns = t_ns < 0 ? 0 : t_ns > end_ns ? end_ns : t_ns;
    at.at_end = !is_open && t_ns >= end_ns;
    int stages = run->info.layers + 2, columns = 0;
    for (int p = 0; p * stages < run->mark_count; p++) {
        const struct run_pass *pass = &run->passes[p];
        int marks = 0;
        while (marks < stages && p * stages + marks < run->mark_count &&
               run->mark_end_ns[p * stages + marks] <= at.t_ns)
            marks++;
        at.marks += marks;
        at.passes_begun += marks > 0 || pass->start_ns < at.t_ns;
        if (marks < stages) {
            at.running = marks > 0 || pass->start_ns < at.t_ns ? p : -1;
            at.pending = event_ns < at.t_ns ? p : -1;
            break;
        }
        event_ns = run->mark_end_ns[(p + 1) * stages - 1];
        at.passes_done++;
        at.steps_done += pass->phase == RUN_DECODE;
        at.answers += pass->yields >= 0;
        if (pass->phase == RUN_PREFILL &&
            (columns += pass->column_count) == run->info.prompt_tokens)
            at.prefill_ns = event_ns;
        if (pass->yields == 0)
            at.ttft_ns = event_ns;
        at.cache_entries += pass->column_count;
    }
    at.prefill_done = at.prefill_ns >= 0;
    if (at.steps_done > 0)
        at.step_ns = (event_ns - at.prefill_ns + at.steps_done / 2) / at.steps_done;
    if (at.answers > 1)
        at.tpot_ns = (event_ns - at.ttft_ns + (at.answers - 1) / 2) / (at.answers - 1);
    at.cache_entries = run->info.recomputes ? 0 : at.cache_entries;
    at.current = at.pending;
    if (at.pending < 0 || (at.at_end && at.passes_done > 0))
        at.current = at.passes_done - 1;
    return at;
}

static void check_equal(const struct run_moment *a, const struct run_moment *b) {
    assert_int_equal(a->t_ns, b->t_ns);
    assert_int_equal(a->shown_ns, b->shown_ns);
    assert_int_equal(a->marks, b->marks);
    assert_int_equal(a->passes_done, b->passes_done);
    assert_int_equal(a->steps_done, b->steps_done);
    assert_int_equal(a->passes_begun, b->passes_begun);
    assert_int_equal(a->running, b->running);
    assert_int_equal(a->pending, b->pending);
    assert_int_equal(a->answers, b->answers);
    assert_int_equal(a->cache_entries, b->cache_entries);
    assert_int_equal(a->prefill_done, b->prefill_done);
    assert_int_equal(a->prefill_ns, b->prefill_ns);
    assert_int_equal(a->ttft_ns, b->ttft_ns);
    assert_int_equal(a->tpot_ns, b->tpot_ns);
    assert_int_equal(a->step_ns, b->step_ns);
}

typedef void check_fn(const struct run *run, int64_t t_ns);

static void at_every_boundary(const struct run *run, check_fn *check) {
    static const int64_t far[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
        check(run, far[i]);
    for (int64_t off_ns = -1; off_ns <= 1; off_ns++) {
        for (int p = 0; p < run_passes_seen(run); p++)
            check(run, run->passes[p].start_ns + off_ns);
        for (int m = 0; m < run->mark_count; m++)
            check(run, run->mark_end_ns[m] + off_ns);
    }
}

static void check_walk(const struct run *run, int64_t t_ns) {
    struct run_moment at = run_moment_at(run, t_ns), expected = walk(run, t_ns);
    check_equal(&at, &expected);
    assert_ptr_equal(at.run, run);
    assert_int_equal(at.current, expected.current);
    assert_int_equal(at.at_end, expected.at_end);
    if (at.passes_done == run_events(run) - 1) // all there is by run.h's own definitions
        assert_int_equal(at.tpot_ns, run_tpot_ns(run));
    assert_int_equal(at.answers, run_answers_at(run, at.t_ns));
}

static void every_moment_equals_a_walk_over_the_arrays(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct run *run = random_run(seed, &small), prefix;
        uint64_t random = seed;
        at_every_boundary(run, check_walk);
        run_prefix(&prefix, run, (int)random_between(&random, 0, run->mark_count));
        at_every_boundary(&prefix, check_walk);
        run_destroy(run);
    }
}

// The shortest prefix that reaches the moment. That it ends is known of the whole alone.
static void check_prefix(const struct run *run, int64_t t_ns) {
    struct run_moment whole = run_moment_at(run, t_ns);
    struct run prefix;
    if (t_ns > run_end_ns(run))
        return;
    run_prefix(&prefix, run, whole.marks);
    if (run_end_ns(&prefix) < t_ns)
        run_prefix(&prefix, run, whole.marks + 1);
    struct run_moment at = run_moment_at(&prefix, t_ns);
    check_equal(&at, &whole);
    assert_false(at.at_end);
    if (!whole.at_end)
        assert_int_equal(at.current, whole.current);
}

static void a_prefix_that_reaches_the_moment_gives_the_same(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct run *run = random_run(seed, &small);
        at_every_boundary(run, check_prefix);
        run_destroy(run);
    }
}

// --- Spans ---

static void check_spans_of(const struct run_moment *at, int most) {
    const struct run *run = at->run;
    int next = 0, count = 0, group = at->passes_begun / most + 1;
    for (struct run_span span = {0}; run_next_span(&span, at, most); count++) {
        const struct run_pass *last = &run->passes[span.end - 1];
        assert_int_equal(span.first, next);
        assert_in_range(span.end, span.first + 1, span.first + group);
        assert_int_equal(span.from_ns, run->passes[span.first].start_ns);
        int64_t end_ns = run_pass_end_ns(run, span.end - 1);
        assert_int_equal(span.to_ns, end_ns < at->t_ns ? end_ns : at->t_ns);
        for (int p = span.first; p < span.end; p++) {
            assert_int_equal(run->passes[p].phase, span.phase);
            assert_int_equal(run->passes[p].column_count == 0, span.is_charged);
        }
        // Only another kind or the end cuts a group short.
        bool is_cut = span.end == at->passes_begun || span.is_charged ||
                      last[1].phase != span.phase || last[1].column_count == 0;
        assert_true(is_cut || span.end == span.first + group);
        next = span.end;
    }
    assert_int_equal(next, at->passes_begun);
    assert_true(count <= most + 2);
}

static void check_spans(const struct run *run, int64_t t_ns) {
    struct run_moment at = run_moment_at(run, t_ns);
    static const int mosts[] = {1, 2, 3, 7, 1024};
    for (size_t i = 0; i < sizeof mosts / sizeof mosts[0]; i++)
        check_spans_of(&at, mosts[i]);
}

static void spans_cover_every_pass_begun_and_are_few_enough(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct run *run = random_run(seed, &small);
        at_every_boundary(run, check_spans);
        run_destroy(run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_in_a_gap_has_three_answers),
        cmocka_unit_test(a_run_that_failed_inside_a_pass_keeps_that_pass_running),
        cmocka_unit_test(an_open_run_has_no_moment_past_its_last_mark),
        cmocka_unit_test(every_moment_equals_a_walk_over_the_arrays),
        cmocka_unit_test(a_prefix_that_reaches_the_moment_gives_the_same),
        cmocka_unit_test(spans_cover_every_pass_begun_and_are_few_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
