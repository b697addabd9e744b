// What measuring costs, for `measure --observer`: a decode step with a mark after every
// layer, as runs have it, with marks at both ends alone and with none. The three take
// turns on engines of their own, so that a drift of the device touches all alike; each
// turn gives the ratio to the step without marks of the same turn.
#ifndef APP_COMMAND_OVERHEAD_H
#define APP_COMMAND_OVERHEAD_H

#include "compute/base/why.h"

#include "app/runs/request.h"
#include "compute/analysis/spread.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct progress;

enum { OVERHEAD_KINDS = 3, OVERHEAD_TURNS = 9 };

struct overhead {
    int count; // OVERHEAD_KINDS, or 0: not measured
    struct {
        int marks;          // 0, 2, layers + 1
        struct spread step; // of the medians of the turns
        double ratio, ratio_p10, ratio_p90;
    } kinds[OVERHEAD_KINDS];
};

// The numbers from the medians of each turn. Pure.
void overhead_sum_up(struct overhead *out, int64_t steps_ns[OVERHEAD_KINDS][OVERHEAD_TURNS],
                     int turns, int layers);

// Opens the model three times and measures. False: one line.
bool overhead_measure(struct overhead *out, const struct run_request *request,
                      struct progress *progress, struct why *why);

void overhead_print(FILE *out, const struct overhead *overhead);

// Adds "observer": [{marks, step_ms, ratio, ratio_p10, ratio_p90}, ...]. False: no memory.
bool overhead_add_json(json_t *object, const struct overhead *overhead);

#endif
