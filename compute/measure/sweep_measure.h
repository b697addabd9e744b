// Measures a sweep (sweep.h): for prompts of 1, 2, 4 ... tokens up to a longest one, the
// warm prefill and, at that context, a few decode steps. Each round takes one sample of
// every length, so that a drift of the device affects all points alike; a round begins
// with the two ends, then the middles, so that a sweep cut short already has its shape.
// One pass warms up a length before its first sample, unless that pass takes so long that
// it needs no warm-up.
#ifndef COMPUTE_MEASURE_SWEEP_MEASURE_H
#define COMPUTE_MEASURE_SWEEP_MEASURE_H

#include "compute/base/why.h"

#include "compute/analysis/sweep.h"
#include "compute/measure/generate.h"

enum {
    SWEEP_STEPS = 3,        // samples of the step a visit
    SWEEP_LEAST_VISITS = 3, // made even if the budget is spent
};

// The samples so far. Zero is a valid start.
struct sweep_work {
    int32_t *prompt; // owned: [longest]
    int longest, context;
    int count;                     // lengths
    int lengths[SWEEP_MAX_POINTS]; // ascending
    int order[SWEEP_MAX_POINTS];   // of the visits in a round
    int visits;                    // whole ones, all rounds together
    bool is_whole;                 // everything requested has been measured
    struct sweep_samples *samples; // owned: [count]
};

struct sweep_plan {
    const struct generate *generate; // what runs and stops it
    int repeats;                     // rounds, 1 .. MEASURE_MAX_REPEATS
    int64_t budget_ns;               // soft
    int64_t pause_ns;                // rest between two visits
    // After every visit, on the calling thread; NULL is fine. done and total: visits.
    void (*on_points)(void *context, const struct sweep *sweep, int done, int total);
    void *context;
};

// Prepares for the prefixes of `prompt` with at least `shortest` tokens. A stopped sweep of
// the same prompts continues where it was; anything else starts anew. False: no memory.
bool sweep_work_begin(struct sweep_work *work, const int32_t *prompt, int longest, int shortest,
                      int context, struct why *why);
void sweep_work_clear(struct sweep_work *work); // zeroed is fine

// Measures until all rounds are made or the budget is spent. If stopped or failed, `why` is
// set and the samples so far are kept for the next call.
enum generate_end sweep_measure(struct sweep_work *work, const struct sweep_plan *plan,
                                struct why *why);

#endif
