// From logits to the next token id: greedy, or temperature with top-p, from a
// seeded generator, so that a run can be repeated.
#ifndef COMPUTE_SAMPLER_H
#define COMPUTE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

struct sampler {
    float temperature; // 0 = greedy
    float top_p_unit;  // 0 < top_p <= 1; 1 = all
    uint64_t seed;
    uint64_t state; // advanced by every draw; sampler_reset sets it from seed
};

void sampler_reset(struct sampler *sampler);

// The next id. `scratch` holds `count` floats and `order` `count` ints, used when
// temperature > 0 (NULL is fine for greedy). Ties: the lowest id. `banned` (-1 = none)
// lists ids that may not come out. NaN logits never win.
int32_t sampler_next(struct sampler *sampler, const float *logits, int count, float *scratch,
                     int32_t *order, const int32_t *banned, int banned_count);

#endif
