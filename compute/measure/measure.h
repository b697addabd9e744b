// Warm-up, repeats and spread. A measurement is: one cold run, kept and labelled as such;
// a check that prefill gives the same logits as token by token; warm-up runs in batches of
// three until the E2E medians of two batches in a row agree within 2 % (`settled`) or half
// the budget is spent; the repeats; the median of each figure with p10 and p90.
// The run that is shown is the repeat that lies nearest to the medians of TTFT and of E2E,
// judged by the farther of the two: a real run, never an average. The repeat whose E2E alone
// is the median may have a TTFT that no other has.
#ifndef COMPUTE_MEASURE_MEASURE_H
#define COMPUTE_MEASURE_MEASURE_H

#include "compute/base/why.h"

#include "compute/analysis/roofline.h"
#include "compute/analysis/spread.h"
#include "compute/measure/disturbance.h"
#include "compute/measure/generate.h"
#include "compute/run/run.h"

enum {
    MEASURE_MAX_REPEATS = 101,
    // Made even if the budget is spent, if so many are requested; of answers without a
    // cache, which take longer, one.
    MEASURE_MIN_REPEATS = 3,
    MEASURE_CHECK_TOKENS = 64, // of the prompt that are checked token by token
};

// The samples are those of the repeats that count: one a repeat, but for `step`,
// which has every decode step of each, from its start to its output mark.
struct measure_result {
    struct spread prefill, step, ttft, tpot, e2e;
    int repeats, warmups;           // runs that count, runs before them
    int mismatched;                 // repeats left out: see stages_match
    bool settled;                   // warm-up medians agreed within 2 %
    bool stages_match;              // sum of stages within 5 % of wall in the shown run
    bool prefill_checked;           // prefill logits agreed with token-by-token logits
    struct disturbance disturbance; // of the repeats; shown->info.is_disturbed follows from it
    struct run *cold;               // owned
    struct run *shown;              // owned: the repeat nearest to the medians
    struct roofline roofline;       // if it was requested
    struct why no_roofline;         // why the device's rates could not be measured, or ""
};

enum measure_stage { MEASURE_COLD, MEASURE_WARM, MEASURE_REPEAT };

struct measure_plan {
    const struct generate *generate; // passes generate_check
    const struct run_info *info;     // device and model, for the runs
    int repeats;                     // 1 .. MEASURE_MAX_REPEATS
    int64_t budget_ns;               // soft, for warm-up and repeats together
    int64_t settle_ns;               // rest before the cold run
    int64_t pause_ns;                // rest between two runs
    bool is_checked;                 // this prompt's prefill has been checked before
    struct publish *publish;         // shows the cold run to others; NULL is fine
    // Each may be NULL. Called between runs, on the calling thread. on_cold: right
    // after publish_begin. total 0: not known.
    void (*on_cold)(void *context);
    void (*on_progress)(void *context, enum measure_stage stage, int done, int total);
    void *context;
};

// Measures and returns when done. Unless it returns GENERATE_DONE, `why` is set and *out
// holds at most `cold`, as far as it got. `out` is zeroed first. Owner: the caller, measure_clear.
enum generate_end measure_run(struct measure_result *out, const struct measure_plan *plan,
                              struct why *why);
void measure_clear(struct measure_result *result); // frees the runs; zeroed is fine

// Checks that the logits after the prompt (its first MEASURE_CHECK_TOKENS) are the same
// from one prefill as token by token, within the backend's prefill_error. Overwrites the
// cache.
enum generate_end measure_check_prefill(const struct generate *generate, struct why *why);

// Sleeps that long, or until a stop is requested.
void measure_rest(const struct generate *generate, int64_t rest_ns);

#endif
