// Measures a sweep (sweep.h): warm, for prompts of 1, 2, 4 ... tokens up to a longest one,
// the prefill and, at that context, a few decode steps. It goes over all lengths again and
// again, one sample of each a round, so that a drift of the device touches all points
// alike; in a round the two ends come first, then the middles, so that a sweep that is
// cut short has its shape already. A length is warmed up by one pass before its first
// sample, unless that pass takes so long that it is its own warm-up.
#ifndef COMPUTE_MEASURE_SWEEP_MEASURE_H
#define COMPUTE_MEASURE_SWEEP_MEASURE_H

#include "compute/analysis/sweep.h"
#include "compute/measure/generate.h"

enum {
    SWEEP_STEPS = 3,        // samples of the step a visit
    SWEEP_LEAST_VISITS = 3, // made whatever the budget says
};

// The samples so far. Zero is a valid start.
struct sweep_work {
    int32_t *prompt; // owned: [longest]
    int longest, context;
    int count;                     // lengths
    int lengths[SWEEP_MAX_POINTS]; // ascending
    int order[SWEEP_MAX_POINTS];   // of the visits in a round
    int visits;                    // whole ones, all rounds together
    bool is_whole;                 // nothing more was asked for
    struct sweep_samples *samples; // owned: [count]
};

struct sweep_plan {
    const struct generate *generate; // who runs it, and who stops it
    int repeats;                     // rounds, 1 .. MEASURE_MAX_REPEATS
    int64_t budget_ns;               // soft
    int64_t pause_ns;                // rest between two visits
    // After every visit, on the calling thread; NULL is fine. done and total: visits.
    void (*on_points)(void *context, const struct sweep *sweep, int done, int total);
    void *context;
};

// Ready for the prompts that are the prefixes of `prompt` with at least `shortest`
// tokens. A sweep of the same prompts that was stopped goes on where it was; anything
// else begins anew. False: no memory.
bool sweep_work_begin(struct sweep_work *work, const int32_t *prompt, int longest, int shortest,
                      int context, char *why);
void sweep_work_clear(struct sweep_work *work); // zeroed is fine

// Measures until all rounds are made or the budget is spent. Stopped or failed: `why`, and
// what was measured is there to be gone on with.
enum generate_end sweep_measure(struct sweep_work *work, const struct sweep_plan *plan, char *why);

#endif
