// The sweep of `measure --sweep`: runs it on an open engine and writes it as two tables with
// their fits in words, and as JSON. A value that cannot be told from noise is null, or
// words that say so.
#ifndef APP_COMMAND_MEASURE_SWEEP_H
#define APP_COMMAND_MEASURE_SWEEP_H

#include "compute/base/why.h"

#include "app/runs/source.h"
#include "compute/analysis/sweep.h"
#include "compute/run/run.h"

#include <jansson.h>
#include <stdio.h>

enum {
    MEASURE_SWEEP_LONGEST = 1024, // prompt tokens, if the prompt asked for is not longer
    MEASURE_SWEEP_REPEATS = 5,    // rounds over all lengths when none are asked for
};

// Measures and waits; `repeats` 0 = MEASURE_SWEEP_REPEATS. False: the device failed, or the
// user asked to stop.
bool measure_sweep(struct sweep *out, struct source *source, int repeats, struct why *why);

// For people.
void measure_sweep_print(FILE *out, const struct sweep *sweep);

// Adds "prefill_by_length" and "step_by_context", lists of {tokens, median, p10, p90} in
// ms, and "fits": {"prefill":{floor_ms, floor_error_ms, slope_ms_per_token,
// slope_error_ms_per_token, offset_ms, knee_tokens, knee_error_tokens, longest_tokens},
// "step":{base_ms, base_error_ms, slope_ms_per_token, slope_error_ms_per_token,
// longest_tokens}}; null where there is none. False: no memory.
bool measure_sweep_add_json(json_t *object, const struct sweep *sweep);

#endif
