// The same answer counted another way: who pays for the first answer token (see enum
// run_counting).
#ifndef COMPUTE_RUN_RECOUNT_H
#define COMPUTE_RUN_RECOUNT_H

#include "compute/base/why.h"

#include "compute/run/run.h"

// Makes a run with the other counting out of a complete run; with the counting it has
// already, a copy.
// To RUN_CHARGED: a step as long as the first decode step (or, if there is none, as one
//     column of prefill) comes before the first token, and all that follows moves back
//     by it. What was RUN_MEASURED becomes RUN_MODELLED.
// To RUN_ENGINE: the charged step is taken out. What was RUN_MEASURED becomes
//     RUN_MODELLED.
// Owner: the caller, run_destroy. Errors: false with `why`, *out NULL.
bool run_recount(struct run **out, const struct run *run, enum run_counting counting,
                 struct why *why);

#endif
