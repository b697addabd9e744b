// Complete runs of known figures: one prefill pass, then a decode step for each further
// answer token, every stage of a pass equally long.
#ifndef TESTS_COMPUTE_RUN_PLAIN_RUN_H
#define TESTS_COMPUTE_RUN_PLAIN_RUN_H

#include "compute/run/run.h"

struct plain_run {
    struct run_info info; // with engine counting; yields all answer_limit tokens
    int64_t prefill_ns, step_ns;
    int64_t gap_ns; // before each step
    // Texts, NULL-terminated and repeated as needed; one in <angle brackets> is a control
    // token. NULL: "p" and "a".
    const char *const *prompt, *const *answer;
};

// Fails the test if run.c refuses it. Answer token n has the id 100 + n. Owner: run_destroy.
struct run *plain_run(const struct plain_run *of);

#endif
