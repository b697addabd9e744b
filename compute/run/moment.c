// See moment.h. Like all reading of a run it looks only at what mark_count covers.
#include "compute/run/moment.h"

#include "compute/base/num.h"

static int running_pass(const struct run_moment *at) {
    const struct run *run = at->run;
    int pass = at->passes_done;
    if (at->marks % run_stages(run) > 0)
        return pass;
    bool has_begun = pass < run_passes_seen(run) && at->t_ns > run->passes[pass].start_ns;
    return has_begun ? pass : -1;
}

static int pending_pass(const struct run_moment *at) {
    int pass = at->passes_done;
    bool is_seen = pass < run_passes_seen(at->run);
    return is_seen && at->t_ns > run_event_ns(at->run, pass) ? pass : -1;
}

static void count_done(struct run_moment *at) {
    const struct run *run = at->run;
    if (at->passes_done == 0)
        return;
    const struct run_pass *last = &run->passes[at->passes_done - 1];
    int columns = last->first_column + last->column_count;
    at->answers = last->yields + 1;
    at->cache_entries = run->info.recomputes ? 0 : columns;
    at->prefill_done = columns >= run->info.prompt_tokens;
    // Every decode step yields an answer token; the engine's first one is prefill's.
    if (at->prefill_done)
        at->steps_done = at->answers - (run->info.counting == RUN_ENGINE);
}

// The mean of `count` steps from one time to another, rounded.
static int64_t mean_ns(int64_t from_ns, int64_t to_ns, int count) {
    return count > 0 ? (to_ns - from_ns + count / 2) / count : -1;
}

static void time_done(struct run_moment *at) {
    int64_t event_ns = run_event_ns(at->run, at->passes_done);
    at->prefill_ns = at->prefill_done ? run_prefill_ns(at->run) : -1;
    at->ttft_ns = at->answers > 0 ? run_ttft_ns(at->run) : -1;
    at->tpot_ns = mean_ns(at->ttft_ns, event_ns, at->answers - 1);
    at->step_ns = mean_ns(at->prefill_ns, event_ns, at->steps_done);
}

struct run_moment run_moment_at(const struct run *run, int64_t t_ns) {
    int64_t end_ns = run_end_ns(run);
    struct run_moment at = {
        .run = run,
        .t_ns = run->state == RUN_OPEN ? min_i64(t_ns, end_ns) : t_ns,
        .shown_ns = clamp_i64(t_ns, 0, end_ns),
        .at_end = run->state != RUN_OPEN && t_ns >= end_ns,
    };
    at.marks = run_marks_at(run, at.t_ns);
    at.passes_done = at.marks / run_stages(run);
    count_done(&at);
    time_done(&at);
    at.running = running_pass(&at);
    at.pending = pending_pass(&at);
    at.passes_begun = at.passes_done + (at.running >= 0);
    bool is_event = at.pending < 0 || (at.at_end && at.passes_done > 0);
    at.current = is_event ? at.passes_done - 1 : at.pending;
    return at;
}

bool run_next_span(struct run_span *span, const struct run_moment *at, int most) {
    const struct run_pass *passes = at->run->passes;
    int first = span->end, begun = at->passes_begun;
    if (first >= begun)
        return false;
    const struct run_pass *pass = &passes[first];
    bool is_charged = pass->column_count == 0;
    int group = is_charged ? 1 : begun / most + 1;
    int last = first;
    while (last + 1 < min_int(begun, first + group) && passes[last + 1].phase == pass->phase)
        last++;
    *span = (struct run_span){
        .first = first,
        .end = last + 1,
        .from_ns = pass->start_ns,
        .to_ns = min_i64(run_pass_end_ns(at->run, last), at->t_ns),
        .phase = pass->phase,
        .is_charged = is_charged,
    };
    return true;
}
