// See rope.h.
#include "compute/model/rope.h"

#include <math.h>
#include <stddef.h>

static const double pi = 3.14159265358979323846;

// The pair, as a fraction of all numbers turned, that makes `turns` turns in the context.
static double pair_of_turns(const struct rope *rope, double turns) {
    double context = rope->scaling->original_context;
    return rope->rotary * log(context / (turns * 2 * pi)) / (2 * log(rope->base));
}

// 1 for pairs that keep their speed, 0 for those that are stretched.
static double kept(const struct rope *rope, int pair) {
    double low = fmax(floor(pair_of_turns(rope, (double)rope->scaling->fast)), 0);
    double high = fmin(ceil(pair_of_turns(rope, (double)rope->scaling->slow)), rope->rotary - 1);
    double along = (pair - low) / fmax(high - low, 0.001);
    return 1 - fmin(fmax(along, 0), 1);
}

double rope_speeds(double *speeds, const struct rope *rope, int context) {
    const struct rope_scaling *scaling = rope->scaling;
    enum rope_kind kind = scaling ? scaling->kind : ROPE_NONE;
    const float *factors = rope->factors;
    if (kind == ROPE_LONG && context > scaling->original_context)
        factors = scaling->long_factors;
    int pairs = rope->rotary / 2;
    for (int i = 0; i < pairs; i++) {
        speeds[i] = pow(rope->base, -(double)i / pairs);
        if (factors)
            speeds[i] /= (double)factors[i];
        double share = kind == ROPE_YARN ? kept(rope, i) : 0;
        if (kind == ROPE_LINEAR || kind == ROPE_YARN)
            speeds[i] *= share + (1 - share) / (double)scaling->stretch;
    }
    double growth = scaling && scaling->growth > 0 ? (double)scaling->growth : 1;
    return kind == ROPE_YARN ? growth * (1 + 0.1 * log((double)scaling->stretch)) : growth;
}
