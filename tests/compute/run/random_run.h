// Random but valid runs from a seed, for the property tests of every module:
// any number of layers and tokens, chunked prefill, zero-length stages, gaps
// between passes, odd token texts, both countings. The same seed and limits give
// the same run everywhere; nothing here reads a clock.
#ifndef TESTS_COMPUTE_RUN_RANDOM_RUN_H
#define TESTS_COMPUTE_RUN_RANDOM_RUN_H

#include "compute/run/run.h"

enum random_run_counting {
    RANDOM_RUN_ANY_COUNTING,
    RANDOM_RUN_ONLY_ENGINE,
    RANDOM_RUN_ONLY_CHARGED
};

// Zero means the default.
struct random_run_limits {
    int max_layers;  // default 80
    int max_prompt;  // default 1,024
    int max_answers; // default 300; answer_limit may be up to as much
    enum random_run_counting counting;
    int64_t max_stage_ns;  // default: picked anew for each run, 1 ns .. 20 ms
    bool only_one_prefill; // no chunks
    bool only_plain_text;  // no partial UTF-8, control bytes or empty texts
    bool may_fail;         // a third of the runs ends early, state RUN_FAILED
    bool may_recompute;    // half of the runs keep no KV cache
};

// A closed run. Small sizes are as likely as large ones (the logarithm is what is
// uniform). NULL limits are all defaults. Owner: the caller, run_destroy. Ends the
// test program with a message if run.c refuses what must be valid.
struct run *random_run(uint64_t seed, const struct random_run_limits *limits);

// The generator itself (splitmix64), for tests that need more of the same.
uint64_t random_next(uint64_t *state);
int64_t random_between(uint64_t *state, int64_t least, int64_t most); // both included

#endif
