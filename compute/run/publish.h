// Hands a growing run from a worker to readers in other threads; the only file with
// atomics on a run. The worker appends to the run and then publishes the number of
// marks; a reader takes a shallow prefix that shares the arrays. What lies below the
// published count is never written again, so neither side ever waits.
//
// Two slots take turns: a new run goes into the slot that is not shown, then
// `generation` shows it. A reader tries again if the generation changed while it was
// reading; that takes a whole new run, so a worker that is suspended half-way never
// holds it up.
#ifndef COMPUTE_RUN_PUBLISH_H
#define COMPUTE_RUN_PUBLISH_H

#include "compute/run/run.h"

#include <stdatomic.h>

struct publish_slot {
    _Atomic(const struct run *) run;
    _Atomic int mark_count;
    _Atomic int state; // enum run_state
};

// Zero-initialise: nothing is published then.
struct publish {
    // worker and reader
    _Atomic uint32_t generation; // +1 for every new run; its lowest bit picks the slot
    struct publish_slot slots[2];
};

// Worker: starts showing `run` (info and prompt complete, no mark yet). From now on
// its info and prompt must not change. It must outlive every prefix taken from it and
// may be rewound and shown again only while no prefix is in use.
void publish_begin(struct publish *publish, const struct run *run);

// Worker: everything up to run->mark_count may now be seen. `run` is the one
// given to publish_begin. Cost: one atomic store.
void publish_marks(struct publish *publish, const struct run *run);

// Worker: the run ended with run->state, all its marks may be seen.
void publish_end(struct publish *publish, const struct run *run);

// Reader: a prefix of the run shown now (see run_prefix), with its state.
// `generation` may be NULL. False if nothing has been published; *out is unchanged.
// Thread: any number of readers, never waits.
bool publish_prefix(const struct publish *publish, struct run *out, uint32_t *generation);

#endif
