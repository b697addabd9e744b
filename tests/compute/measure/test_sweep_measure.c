// Tests of measuring a sweep (sweep_measure.h) on a made-up device and a made-up clock,
// which moves only when the device works: which lengths are visited when, that every time
// is the one that passed, and what a stop, a loss and a spent budget leave behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/measure/sweep_measure.h"

#include <string.h>

enum { LONGEST = 20, CONTEXT = 32, MOST = 4000 };

static int64_t clock_ns;

int64_t stopwatch_step_ns(void) {
    return 1;
}

int64_t stopwatch_now_ns(void) {
    return clock_ns;
}

void stopwatch_utc_date(char out[32]) {
    out[0] = '\0';
}

// 1,000 ns a token of a prefill but never less than 4,000; a step 500 and 10 a token of
// context. The very first pass of a length takes ten times as long.
struct backend_state {
    int passes, stop_after, fail_after; // -1 = never
    int positions[MOST], counts[MOST];
    bool is_known[CONTEXT + 1];
    int64_t slow_ns; // more, every pass
    bool is_broken;
    _Atomic bool stop, busy;
};

static struct backend_state device;
static int32_t prompt[3 * BACKEND_PREFILL_CHUNK];

static bool device_pass(struct backend_state *d, const struct backend_pass *pass, struct why *why) {
    assert_true(d->passes < MOST);
    assert_true(atomic_load(&d->busy) && pass->on_mark && pass->is_stopped);
    assert_memory_equal(pass->tokens, prompt + (pass->count > 1 ? pass->first_position : 0),
                        (size_t)pass->count * sizeof(*pass->tokens));
    d->positions[d->passes] = pass->first_position;
    d->counts[d->passes++] = pass->count;
    if (d->fail_after >= 0 && d->passes > d->fail_after)
        return why_set(why, "the device was unplugged");
    int64_t ns = pass->count < 4 ? 4000 : 1000 * pass->count;
    if (pass->first_position > 0 && pass->count == 1)
        ns = 500 + 10 * pass->first_position;
    else if (pass->count <= CONTEXT && !d->is_known[pass->count])
        ns *= 10;
    if (pass->first_position == 0 && pass->count <= CONTEXT)
        d->is_known[pass->count] = true;
    clock_ns += ns + d->slow_ns;
    if (d->stop_after >= 0 && d->passes > d->stop_after)
        atomic_store(&d->stop, true);
    if (pass->is_stopped(pass->context))
        return why_set(why, "stopped");
    if (pass->greedy_id)
        *pass->greedy_id = d->is_broken ? -1 : 3;
    return true;
}

static const struct backend fake = {.abi = BACKEND_ABI, .name = "fake", .pass = device_pass};

static struct generate generate_of(void) {
    return (struct generate){
        .backend = &fake, .state = &device, .stop = &device.stop, .busy = &device.busy};
}

struct seen {
    int calls, done, total;
    struct sweep last;
};

static void note(void *context, const struct sweep *sweep, int done, int total) {
    struct seen *seen = context;
    struct why why = {0};
    assert_true(sweep_validate(sweep, &why));
    seen->calls++;
    seen->done = done;
    seen->total = total;
    seen->last = *sweep;
}

static int set_up(void **state) {
    (void)state;
    memset(&device, 0, sizeof(device));
    device.stop_after = device.fail_after = -1;
    clock_ns = 5;
    for (size_t i = 0; i < sizeof(prompt) / sizeof(*prompt); i++)
        prompt[i] = (int32_t)i;
    return 0;
}

static enum generate_end measure(struct sweep_work *work, struct seen *seen, int repeats,
                                 int64_t budget_ns, struct why *why) {
    struct generate generate = generate_of();
    atomic_store(&device.stop, false);
    if (!sweep_work_begin(work, prompt, LONGEST, 1, CONTEXT, why))
        fail_msg("%s", why->text);
    return sweep_measure(work,
                         &(struct sweep_plan){.generate = &generate,
                                              .repeats = repeats,
                                              .budget_ns = budget_ns,
                                              .on_points = note,
                                              .context = seen},
                         why);
}

static void check_points(const struct sweep *sweep, int rounds) {
    static const int lengths[] = {1, 2, 4, 8, 16, LONGEST};
    assert_int_equal(sweep->prefill_count, 6);
    assert_int_equal(sweep->step_count, 6);
    for (int i = 0; i < 6; i++) {
        int64_t ns = lengths[i] < 4 ? 4000 : 1000 * lengths[i];
        assert_int_equal(sweep->prefill[i].tokens, lengths[i]);
        assert_int_equal(sweep->prefill[i].median_ns, ns);
        assert_int_equal(sweep->prefill[i].p90_ns, ns); // warm: none is ten times as long
        assert_int_equal(sweep->prefill[i].count, rounds);
        assert_int_equal(sweep->step[i].tokens, lengths[i]);
        assert_int_equal(sweep->step[i].median_ns, 500 + 10 * lengths[i]);
        assert_int_equal(sweep->step[i].count, rounds * SWEEP_STEPS);
    }
}

static void every_length_is_measured_warm_to_the_nanosecond(void **state) {
    (void)state;
    struct why why = {0};
    struct sweep_work work = {0};
    struct seen seen = {0};
    assert_int_equal(measure(&work, &seen, 4, INT64_MAX, &why), GENERATE_DONE);
    check_points(&seen.last, 4);
    assert_int_equal(seen.done, 24);
    assert_int_equal(seen.total, 24);
    assert_int_equal(seen.calls, 25); // one before the first visit
    assert_false(atomic_load(&device.busy));
    // A prefill more in the first round; a step more than the samples in each.
    assert_int_equal(device.passes, 6 + 24 * (1 + 1 + SWEEP_STEPS));
    sweep_work_clear(&work);
    sweep_work_clear(&work);
}

// The prompts as they come, a length of each visit.
static int visited(int *out) {
    int count = 0;
    for (int i = 0; i < device.passes; i++) {
        if (device.positions[i] == 0 && (i == 0 || device.positions[i - 1] != 0))
            out[count++] = device.counts[i];
    }
    return count;
}

static void ends_come_first_then_middles_round_by_round(void **state) {
    static const int order[] = {1, LONGEST, 16, 4, 2, 8};
    (void)state;
    struct why why = {0};
    struct sweep_work work = {0};
    struct seen seen = {0};
    int lengths[MOST];
    assert_int_equal(measure(&work, &seen, 3, INT64_MAX, &why), GENERATE_DONE);
    assert_int_equal(visited(lengths), 18);
    for (int i = 0; i < 18; i++)
        assert_int_equal(lengths[i], order[i % 6]);
    sweep_work_clear(&work);
    // Any number of lengths: each once, the two ends first.
    for (int longest = 1; longest <= 1 << 17; longest = longest * 3 + 1) {
        int32_t *ids = test_calloc((size_t)longest, sizeof(*ids));
        assert_true(sweep_work_begin(&work, ids, longest, 1, longest, &why));
        unsigned is_in = 0;
        for (int i = 0; i < work.count; i++)
            is_in |= 1u << work.order[i];
        assert_int_equal(is_in, (1u << work.count) - 1);
        assert_int_equal(work.order[0], 0);
        assert_int_equal(work.order[work.count > 1], work.count - 1);
        sweep_work_clear(&work);
        test_free(ids);
    }
}

static void a_spent_budget_leaves_the_shape(void **state) {
    (void)state;
    struct why why = {0};
    struct sweep_work work = {0};
    struct seen seen = {0};
    assert_int_equal(measure(&work, &seen, 5, 0, &why), GENERATE_DONE);
    assert_int_equal(seen.last.prefill_count, SWEEP_LEAST_VISITS);
    assert_int_equal(seen.last.prefill[0].tokens, 1);
    assert_int_equal(seen.last.prefill[2].tokens, LONGEST);
    assert_true(work.is_whole);
    sweep_work_clear(&work);
}

static void a_slow_first_pass_is_its_own_warm_up(void **state) {
    (void)state;
    struct why why = {0};
    struct sweep_work work = {0};
    struct seen seen = {0};
    device.slow_ns = 1000000000;
    assert_int_equal(measure(&work, &seen, 1, INT64_MAX, &why), GENERATE_DONE);
    assert_int_equal(device.passes, 6 * (1 + 1 + SWEEP_STEPS));
    sweep_work_clear(&work);
}

// Wherever it is stopped, what was measured is right, and it goes on to the same end.
static void a_stopped_sweep_keeps_its_points_and_goes_on(void **state) {
    for (int after = 0; after < 120; after += 7) {
        struct why why = {0};
        struct sweep_work work = {0};
        struct seen seen = {0};
        set_up(state);
        device.stop_after = after;
        assert_int_equal(measure(&work, &seen, 4, INT64_MAX, &why), GENERATE_STOPPED);
        assert_string_equal(why.text, "stopped");
        assert_true(device.passes <= after + 1);
        assert_false(atomic_load(&device.busy));
        int visits = work.visits, before = device.passes;
        device.stop_after = -1;
        assert_int_equal(measure(&work, &seen, 4, INT64_MAX, &why), GENERATE_DONE);
        check_points(&seen.last, 4);
        assert_true(device.passes - before <= 6 + (24 - visits) * (2 + SWEEP_STEPS));
        // Done: the next one begins anew.
        assert_true(sweep_work_begin(&work, prompt, LONGEST, 1, CONTEXT, &why));
        assert_int_equal(work.visits, 0);
        sweep_work_clear(&work);
    }
}

static void another_prompt_begins_anew(void **state) {
    (void)state;
    struct why why = {0};
    struct sweep_work work = {0};
    struct seen seen = {0};
    device.stop_after = 60;
    assert_int_equal(measure(&work, &seen, 4, INT64_MAX, &why), GENERATE_STOPPED);
    assert_true(work.visits > 0);
    int32_t other[LONGEST];
    memcpy(other, prompt, sizeof(other));
    other[LONGEST - 1]++;
    assert_true(sweep_work_begin(&work, prompt, LONGEST, 1, CONTEXT, &why));
    assert_true(work.visits > 0);
    assert_true(sweep_work_begin(&work, other, LONGEST, 1, CONTEXT, &why));
    assert_int_equal(work.visits, 0);
    // From a length on: that one, or the next there is.
    assert_true(sweep_work_begin(&work, prompt, LONGEST, LONGEST, CONTEXT, &why));
    assert_int_equal(work.count, 1);
    assert_int_equal(work.lengths[0], LONGEST);
    assert_true(sweep_work_begin(&work, prompt, LONGEST, 5, CONTEXT, &why));
    assert_int_equal(work.lengths[0], 8);
    sweep_work_clear(&work);
}

static void a_prompt_that_fills_the_context_has_no_step(void **state) {
    (void)state;
    struct why why = {0};
    struct sweep_work work = {0};
    struct seen seen = {0};
    struct generate generate = generate_of();
    assert_true(sweep_work_begin(&work, prompt, CONTEXT, 1, CONTEXT, &why));
    struct sweep_plan plan = {.generate = &generate,
                              .repeats = 2,
                              .budget_ns = INT64_MAX,
                              .on_points = note,
                              .context = &seen};
    assert_int_equal(sweep_measure(&work, &plan, &why), GENERATE_DONE);
    assert_int_equal(seen.last.prefill_count, 6);
    assert_int_equal(seen.last.step_count, 5);
    assert_int_equal(seen.last.step[4].tokens, 16);
    sweep_work_clear(&work);
}

static void long_prompts_go_in_chunks_and_count_as_one(void **state) {
    enum { LONG = 2 * BACKEND_PREFILL_CHUNK + 100 };
    (void)state;
    struct why why = {0};
    struct sweep_work work = {0};
    struct seen seen = {0};
    struct generate generate = generate_of();
    assert_true(sweep_work_begin(&work, prompt, LONG, LONG, LONG, &why));
    struct sweep_plan plan = {.generate = &generate,
                              .repeats = 2,
                              .budget_ns = INT64_MAX,
                              .on_points = note,
                              .context = &seen};
    assert_int_equal(sweep_measure(&work, &plan, &why), GENERATE_DONE);
    assert_int_equal(device.passes, 3 * 3); // a warm-up and two rounds
    assert_int_equal(seen.last.prefill[0].median_ns, 1000 * LONG);
    sweep_work_clear(&work);
}

static void a_loss_or_bad_scores_end_it_with_the_reason(void **state) {
    (void)state;
    struct why why = {0};
    struct sweep_work work = {0};
    struct seen seen = {0};
    device.fail_after = 40;
    assert_int_equal(measure(&work, &seen, 4, INT64_MAX, &why), GENERATE_LOST);
    assert_string_equal(why.text, "the device was unplugged");
    assert_true(seen.last.prefill_count > 0 && work.visits > 0);
    sweep_work_clear(&work);
    set_up(state);
    device.is_broken = true;
    assert_int_equal(measure(&work, &seen, 4, INT64_MAX, &why), GENERATE_FAILED);
    assert_non_null(strstr(why.text, "not numbers"));
    sweep_work_clear(&work);
}

#define FRESH(test) cmocka_unit_test_setup(test, set_up)

int main(void) {
    const struct CMUnitTest tests[] = {
        FRESH(every_length_is_measured_warm_to_the_nanosecond),
        FRESH(ends_come_first_then_middles_round_by_round),
        FRESH(a_spent_budget_leaves_the_shape),
        FRESH(a_slow_first_pass_is_its_own_warm_up),
        FRESH(a_stopped_sweep_keeps_its_points_and_goes_on),
        FRESH(another_prompt_begins_anew),
        FRESH(a_prompt_that_fills_the_context_has_no_step),
        FRESH(long_prompts_go_in_chunks_and_count_as_one),
        FRESH(a_loss_or_bad_scores_end_it_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
