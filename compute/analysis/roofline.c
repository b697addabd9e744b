// See roofline.h. In double: a 70B model's prefill is 10^15 operations and more.
#include "compute/analysis/roofline.h"

#include "compute/model/model.h"

#include <math.h>

static double layer_weights(const struct model_shape *h) {
    double q = (double)h->heads * h->head_dim, kv = (double)h->kv_heads * h->head_dim;
    return h->dim * (2 * q + 2 * kv + 3.0 * h->ff_dim) * h->layers;
}

static double head_weights(const struct model_shape *h) {
    return (double)h->vocab * h->dim;
}

// Tokens that a decode step sees in the cache, its own included: the mean over steps.
static double mean_context(const struct run *run) {
    int steps = run->answer_count > 1 ? run->answer_count - 1 : 1;
    return run->info.prompt_tokens + (steps + 1) / 2.0;
}

double roofline_step_bytes(const struct run *run) {
    return (double)run->info.weight_bytes + (double)run_cache_entry_bytes(run) * mean_context(run);
}

static void finish(struct roofline_phase *phase, const struct device_rates *rates,
                   int64_t measured_ns) {
    double read_ns = phase->bytes / rates->read_bytes_s * 1e9;
    double matrix_ns = phase->flop / rates->matrix_flop_s * 1e9;
    phase->is_read = read_ns >= matrix_ns;
    phase->bound_ns = (int64_t)llround(phase->is_read ? read_ns : matrix_ns);
    phase->share = measured_ns > 0 ? (double)phase->bound_ns / (double)measured_ns : -1;
}

void roofline_of(struct roofline *out, const struct model_shape *shape, const struct run *run,
                 const struct device_rates *rates, int64_t prefill_ns, int64_t step_ns) {
    double tokens = run->info.prompt_tokens;
    double width = (double)shape->layers * shape->heads * shape->head_dim;
    *out = (struct roofline){
        .is_measured = true,
        .rates = *rates,
        .prefill = {.bytes = (double)run->info.weight_bytes,
                    .flop = 2 * layer_weights(shape) * tokens + 2 * width * tokens * tokens +
                            2 * head_weights(shape)},
        // Scores and mixing: twice two operations for each number of the context.
        .decode = {.bytes = roofline_step_bytes(run),
                   .flop = 2 * layer_weights(shape) + 4 * width * mean_context(run) +
                           2 * head_weights(shape)},
    };
    finish(&out->prefill, rates, prefill_ns);
    finish(&out->decode, rates, step_ns);
}
