// The least time that a prefill and a decode step can take on a device (the roofline
// bound), and how near a measured time came to it. Arithmetic only: a backend measures
// the two rates on the device itself.
//
// A decode step reads every weight once and the KV cache: bytes = W + KV. Prefill of T
// tokens multiplies: FLOPs = 2 * (weights of the layers) * T + 4 * layers * heads *
// head_dim * (tokens seen, summed over the T) + 2 * (output matrix), and reads W. A token
// sees itself and those before it, so that sum is T * (T + 1) / 2, and a step is prefill's
// case T = 1 behind a full cache. The bound is the longer of bytes / read rate and FLOPs /
// matrix rate.
//
// No bound is above a time that was measured: a pass that beats one has shown what the
// device can do, and raises the rates (rates_prove).
#ifndef COMPUTE_ANALYSIS_ROOFLINE_H
#define COMPUTE_ANALYSIS_ROOFLINE_H

#include "compute/analysis/rates.h"
#include "compute/run/run.h"

struct model_shape;

struct roofline_phase {
    double bytes, flop;
    int64_t bound_ns;
    double share; // bound over measured time, 1 = as fast as the device allows; -1 = not measured
    bool is_read; // reading takes longer than computing, so memory sets the bound
    bool is_disturbed; // its time is that of a disturbed run: no cause is named
};

struct roofline {
    bool is_measured;
    struct device_rates rates;
    struct roofline_phase prefill, decode;
};

// Bytes that a decode step of `run` reads: the weights, and the cache as it is halfway
// through the answer (after one step, if there is only one answer token).
double roofline_step_bytes(const struct run *run);

// prefill_ns, step_ns: measured medians, -1 = none. `shape` is that of the run's model.
// If the run was measured, its passes raise out->rates.
void roofline_of(struct roofline *out, const struct model_shape *shape, const struct run *run,
                 const struct device_rates *rates, int64_t prefill_ns, int64_t step_ns);

// What a time is known to be spent on.
enum roofline_cause {
    ROOFLINE_UNKNOWN, // the bounds explain less than half of it, and no cause is named
    ROOFLINE_READING,
    ROOFLINE_ARITHMETIC,
};

// The one rule by which a cause is named: the longer bound explains at least half of the
// time. The rest (starting work, waiting for one another, other programs) is not measured
// by itself, so it is never named. Nor is a cause of what has not been timed: rates of 0, or
// a time that is not positive; nor of a disturbed run's time.
enum roofline_cause roofline_cause(double read_ns, double matrix_ns, double took_ns);
enum roofline_cause roofline_phase_cause(const struct roofline_phase *phase);

// Raises the rates by the passes of a measured run and by the medians in `roofline`, and
// works the bounds out anew. Of a run that was not measured only takes over whether it was
// disturbed.
void roofline_prove(struct roofline *roofline, const struct run *run);

#endif
