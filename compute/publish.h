// The hand-over from worker to window, and the only file with atomics on a run.
// The worker appends to the run and then publishes the number of marks; a
// reader takes a shallow prefix that shares the arrays. What lies below the
// published count is never written again, so neither side ever waits.
#ifndef COMPUTE_PUBLISH_H
#define COMPUTE_PUBLISH_H

#include "run.h"

#include <stdatomic.h>

// Zero is a valid start: nothing published.
struct publish {
    // worker and reader
    _Atomic(const struct run *) run;
    _Atomic int mark_count;
    _Atomic int state;           // enum run_state
    _Atomic uint32_t generation; // +1 for every new run
};

// Worker: starts showing `run` (prompt complete, no mark yet). The run must
// outlive every prefix taken from it.
void publish_begin(struct publish *publish, const struct run *run);

// Worker: everything up to run->mark_count may now be seen.
void publish_marks(struct publish *publish, const struct run *run);

// Worker: the run ended with run->state.
void publish_end(struct publish *publish, const struct run *run);

// Reader: a prefix of the run shown now. False: nothing has been published.
// Thread: any one reader, never waits.
bool publish_prefix(const struct publish *publish, struct run *out, uint32_t *generation);

#endif
