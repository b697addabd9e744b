// What sweep.c, sweep_fit.c and sweep_clean.c share; nobody else includes it.
#ifndef COMPUTE_ANALYSIS_SWEEP_PARTS_H
#define COMPUTE_ANALYSIS_SWEEP_PARTS_H

#include "compute/analysis/sweep.h"

// At least 1 token each, ascending, and no more points than there is room for.
bool sweep_is_ascending(const struct sweep_point *points, int count);

// Sorts values, least first; for qsort.
int sweep_compare(const void *left, const void *right);

// The fits' own times at a length; -1: no fit, or beyond the points that it goes through.
double sweep_fitted_prefill_ns(const struct sweep *sweep, double prompt_tokens);
double sweep_fitted_step_ns(const struct sweep *sweep, double context_tokens);

#endif
