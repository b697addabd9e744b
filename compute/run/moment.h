// Where in a run a moment lies: run_moment_at works it out once, and everything that
// shows the run at that moment reads it from there. Pure, two binary searches.
//
// Which pass does a moment belong to? There are three answers. They agree inside a pass
// and differ between passes, because nothing promises that another pass will follow:
//
//     t_ns                                   running     pending   current
//     0 or before                            -1          -1        -1
//     gap before pass p (first gap: t > 0)   -1          p         p
//     exactly where pass p starts            -1          p *       p *
//     after its start, before its end        p           p         p
//     exactly at its end, an event           -1 **       -1        p
//     at the end of a closed run, or later   -1 ***      -1 ***    last whole pass
//
//     running   the pass that does work at the moment: what moves in a picture
//     pending   the pass whose end is the next event; the gap before a pass belongs to
//               it: words about what is going on
//     current   the pending pass or, at an event, the pass that has just ended: words
//               about one step and its result
//
//     *    if there is no gap, this is the end of pass p - 1: the line for its end holds
//     **   if pass p + 1 starts here with a stage of no length, that pass is running
//     ***  a run that failed inside a pass keeps that pass running and pending; if it has
//          no whole pass, that pass is current, too
//
// A prefix that reaches the moment gives the same answers as the run itself, except for
// what is said about the end of a closed run.
#ifndef COMPUTE_RUN_MOMENT_H
#define COMPUTE_RUN_MOMENT_H

#include "compute/run/run.h"

struct run_moment {
    const struct run *run;
    int64_t t_ns;      // as asked; of an open run at most its last mark
    int64_t shown_ns;  // t_ns within 0 .. the run's end
    int marks;         // stages finished
    int passes_done;   // passes finished
    int steps_done;    // of these, decode steps; a charged step counts
    int passes_begun;  // passes_done and the running one
    int running;       // index of a pass, -1 = none; see above
    int pending;       // the same
    int current;       // the same
    int answers;       // answer tokens that are out
    int cache_entries; // complete KV cache entries; see below
    bool prefill_done; // the whole prompt has gone through
    bool at_end;       // the run is closed, and t_ns is its end or later
    // As run.h defines them, of what is out by the moment; -1 = not known yet.
    int64_t prefill_ns, ttft_ns, tpot_ns;
    int64_t step_ns; // mean of the decode steps done, gaps included
};

// A cache entry is complete with the output mark of its pass. After prefill there are as
// many as prompt tokens, then one more with each decode step, except for the charged
// one; always 0 in a run that recomputes.
//
// `run` must outlive the result; `t_ns` may be anything.
struct run_moment run_moment_at(const struct run *run, int64_t t_ns);

// Neighbouring passes of one kind as one stretch of time.
struct run_span {
    int first, end; // passes first .. end - 1
    int64_t from_ns, to_ns;
    enum run_phase phase;
    bool is_charged;
};

// The next span of the passes begun by the moment, the first one after a zeroed `span`;
// false when there are no more. The running pass ends at the moment. Passes are merged
// as soon as there are `most` of them, never of two phases and never the charged step:
// at most `most` + 2 spans. `most` is at least 1.
bool run_next_span(struct run_span *span, const struct run_moment *at, int most);

#endif
