// What measuring costs, for `measure --observer`: a decode step with a mark after every
// layer, as runs have it, with marks at both ends alone and with none. The three take
// turns on engines of their own, so that a drift of the device touches all alike; each
// turn gives the ratio to the step without marks of the same turn.
#ifndef APP_COMMAND_OBSERVER_H
#define APP_COMMAND_OBSERVER_H

#include "app/runs/request.h"
#include "compute/measure/measure.h"

#include <jansson.h>
#include <stdio.h>

struct progress;

enum { OBSERVER_KINDS = 3, OBSERVER_TURNS = 9 };

struct observer {
    int count; // OBSERVER_KINDS, or 0: not measured
    struct {
        int marks;                  // 0, 2, layers + 1
        struct measure_spread step; // of the medians of the turns
        double ratio, ratio_p10, ratio_p90;
    } kinds[OBSERVER_KINDS];
};

// The numbers from the medians of each turn. Pure.
void observer_sum_up(struct observer *out, int64_t steps_ns[OBSERVER_KINDS][OBSERVER_TURNS],
                     int turns, int layers);

// Opens the model three times and measures. False: one line.
bool observer_measure(struct observer *out, const struct run_request *request,
                      struct progress *progress, char why[256]);

void observer_print(FILE *out, const struct observer *observer);

// Adds "observer": [{marks, step_ms, ratio, ratio_p10, ratio_p90}, ...]. False: no memory.
bool observer_add_json(json_t *object, const struct observer *observer);

#endif
