// The least time that a prefill and a decode step can take on a device, by what it
// must read and what it must compute, and the share of that floor that was reached.
// The formulas are the field's (a roofline); the two rates are measured on the
// device itself. Arithmetic only: who measures the rates is the backend.
//
// Decode reads every weight once and the KV cache: bytes = W + KV. Prefill of T
// tokens multiplies: FLOPs = 2 * (weights of the layers) * T + 2 * layers * heads *
// head_dim * T^2 (causal) + 2 * (output matrix), and reads W. A floor is the longer
// of bytes / read rate and FLOPs / matrix rate.
#ifndef COMPUTE_MEASURE_FLOORS_H
#define COMPUTE_MEASURE_FLOORS_H

#include "compute/backend/backend.h"
#include "compute/run/run.h"

struct floors_phase {
    double bytes, flop;
    int64_t floor_ns;
    double share; // floor over measured time, 1 = at the floor; -1 = not measured
    bool is_read; // reading is the longer of the two
};

struct floors {
    bool is_measured;
    struct backend_rates rates;
    struct floors_phase prefill, decode;
};

// Bytes a decode step of `run` reads: weights, and the cache halfway through the
// answer (after one step, when there is only one answer token).
double floors_step_bytes(const struct run *run);

// prefill_ns, step_ns: measured medians, -1 = none. `run` is one of `model`.
void floors_of(struct floors *out, const struct model_shape *shape, const struct run *run,
               const struct backend_rates *rates, int64_t prefill_ns, int64_t step_ns);

#endif
