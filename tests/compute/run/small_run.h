// Runs small enough to check by hand: two layers, three prompt tokens, up to three answer
// tokens.
#ifndef TESTS_COMPUTE_RUN_SMALL_RUN_H
#define TESTS_COMPUTE_RUN_SMALL_RUN_H

#include "compute/run/run.h"

enum { SMALL_LAYERS = 2, SMALL_STAGES = SMALL_LAYERS + 2 };

struct run_info small_run_info(void);

// An empty run with room for `chunks` prefill passes. Owner: run_destroy.
struct run *small_run_new(enum run_counting counting, int chunks);

void small_run_add_prompt(struct run *run);

// Adds a pass whose stages end at start + 10, + 20, ..., and its answer token if it yields one.
void small_run_add_pass(struct run *run, struct run_pass pass, const char *answer);

// Engine counting, still open: prefill 5 .. 45 ns, then steps 50 .. 90 and 95 .. 135.
// Owner: run_destroy.
struct run *small_run(void);

// Whether both have the same seen passes, marks and tokens, whatever their infos say.
bool has_same_body(const struct run *a, const struct run *b);

#endif
