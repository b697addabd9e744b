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

// What the layers of a run see of `context` tokens: the mean over layers.
static double seen_of(const struct run *run, double context) {
    const struct run_info *info = &run->info;
    double windowed = (double)info->window_layers / info->layers;
    return context - windowed * fmax(context - info->window, 0);
}

double roofline_step_bytes(const struct run *run) {
    double seen = seen_of(run, mean_context(run));
    return (double)run->info.weight_bytes + (double)run_cache_entry_bytes(run) * seen;
}

static void finish(struct roofline_phase *phase, const struct device_rates *rates,
                   int64_t measured_ns) {
    double read_ns = rates_read_ns(rates, phase->bytes);
    double matrix_ns = rates_matrix_ns(rates, phase->flop);
    phase->is_read = read_ns >= matrix_ns;
    // Rounded down: a bound of 12.6 ns is not above a step of 12.
    phase->bound_ns = (int64_t)(phase->is_read ? read_ns : matrix_ns);
    phase->share = measured_ns > 0 ? (double)phase->bound_ns / (double)measured_ns : -1;
}

// A pass of a measured run that beats a bound raises the rate. Whoever shows the bound of
// one step uses the mean step's operations, so a step proves these; its bytes are its own.
static void prove_passes(struct roofline *roofline, const struct run *run) {
    struct device_rates *rates = &roofline->rates;
    rates_prove(rates, roofline->prefill.bytes, roofline->prefill.flop, run_prefill_ns(run));
    for (int i = 0; i < run_events(run) - 1; i++) { // whole passes
        const struct run_pass *pass = &run->passes[i];
        double bytes =
            (double)run->info.weight_bytes + (double)run_cache_bytes(run, pass->first_column);
        if (pass->phase == RUN_DECODE)
            rates_prove(rates, bytes, roofline->decode.flop,
                        run_pass_end_ns(run, i) - pass->start_ns);
    }
}

// Works out both bounds, with what the run and the medians prove.
static void settle(struct roofline *roofline, const struct run *run, int64_t prefill_ns,
                   int64_t step_ns) {
    struct roofline_phase *prefill = &roofline->prefill, *decode = &roofline->decode;
    if (run->info.origin == RUN_MEASURED) {
        rates_prove(&roofline->rates, prefill->bytes, prefill->flop, prefill_ns);
        rates_prove(&roofline->rates, decode->bytes, decode->flop, step_ns);
        prove_passes(roofline, run);
    }
    finish(prefill, &roofline->rates, prefill_ns);
    finish(decode, &roofline->rates, step_ns);
}

static int64_t measured_ns(const struct roofline_phase *phase) {
    return phase->share > 0 ? (int64_t)((double)phase->bound_ns / phase->share) : -1;
}

void roofline_prove(struct roofline *roofline, const struct run *run) {
    roofline->prefill.is_disturbed = roofline->decode.is_disturbed = run->info.is_disturbed;
    if (roofline->is_measured && run->info.origin == RUN_MEASURED)
        settle(roofline, run, measured_ns(&roofline->prefill), measured_ns(&roofline->decode));
}

void roofline_of(struct roofline *out, const struct model_shape *shape, const struct run *run,
                 const struct device_rates *rates, int64_t prefill_ns, int64_t step_ns) {
    double tokens = run->info.prompt_tokens;
    double width = (double)shape->layers * shape->heads * shape->head_dim;
    // In prefill token t sees t tokens, at most the window.
    double past = run->info.window > 0 ? fmax(tokens - run->info.window, 0) : 0;
    double hidden = past * (past + 1) / 2 * run->info.window_layers / run->info.layers;
    double pairs = tokens * (tokens + 1) / 2 - hidden;
    *out = (struct roofline){
        .is_measured = true,
        .rates = *rates,
        .prefill = {.bytes = (double)run->info.weight_bytes,
                    .flop = 2 * layer_weights(shape) * tokens + 4 * width * pairs +
                            2 * head_weights(shape)},
        // Scores and mixing: twice two operations for each number of the context.
        .decode = {.bytes = roofline_step_bytes(run),
                   .flop = 2 * layer_weights(shape) + 4 * width * seen_of(run, mean_context(run)) +
                           2 * head_weights(shape)},
    };
    out->prefill.is_disturbed = out->decode.is_disturbed = run->info.is_disturbed;
    settle(out, run, prefill_ns, step_ns);
}

enum roofline_cause roofline_cause(double read_ns, double matrix_ns, double took_ns) {
    double bound_ns = fmax(read_ns, matrix_ns);
    if (!(bound_ns > 0) || !(took_ns > 0) || bound_ns < took_ns / 2)
        return ROOFLINE_UNKNOWN;
    return read_ns >= matrix_ns ? ROOFLINE_READING : ROOFLINE_ARITHMETIC;
}

enum roofline_cause roofline_phase_cause(const struct roofline_phase *phase) {
    double took = phase->share > 0 && !phase->is_disturbed ? 1 / phase->share : 0; // in bounds
    return roofline_cause(phase->is_read, !phase->is_read, took);
}
