// From logits to the next token id: greedy, or temperature with top-p, from a
// seeded generator, so that a run can be repeated. Same settings, seed and logits:
// same ids. Only comparisons decide a tie, never the order of a sort: of two equal
// logits the lower id comes first, in greedy choice and in top-p's cut.
#ifndef COMPUTE_MODEL_SAMPLER_H
#define COMPUTE_MODEL_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

// What a request may ask for, in thousandths.
enum { SAMPLER_MAX_TEMPERATURE_MILLI = 10000, SAMPLER_MIN_TOP_P_MILLI = 1 };

struct sampler {
    float temperature; // 0 (or less, or NaN) = greedy
    float top_p_unit;  // keep the likeliest tokens that together have at least this
                       // probability, never fewer than one; 1 (or more, or NaN) = all
    uint64_t seed;
    uint64_t state; // advanced once by every draw (not by greedy choices);
                    // sampler_reset sets it from seed
};

void sampler_reset(struct sampler *sampler);

// The next id. `scratch` holds `count` floats and `order` `count` ints, used when
// temperature > 0 (NULL is fine for greedy). Ties: the lowest id. `banned`
// [banned_count] lists ids that are never chosen (-1 and ids past `count` are ignored). NaN
// and -infinity are never chosen; +infinity beats every number. Returns -1 if nothing is
// left: the logits are not numbers, and the model or the backend is broken.
// Cost: one walk over `count`; top-p adds a walk and log(count) for each token kept.
int32_t sampler_next(struct sampler *sampler, const float *logits, int count, float *scratch,
                     int32_t *order, const int32_t *banned, int banned_count);

#endif
