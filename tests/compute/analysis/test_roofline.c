// Tests of the roofline bound: its formulas against figures worked out by hand for two
// well-known models and one device, and that this device's own rates are such as
// rates can be.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/analysis/roofline.h"
#include "compute/backend/backend.h"
#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/model/shape.h"

#include <math.h>
#include <string.h>

static struct why why;

// A run of that model with so many tokens, complete enough to be asked.
static struct run *run_of(const struct model *model, int prompt, int answers) {
    const struct model_shape *h = &model->shape;
    struct run_info info = {
        .origin = RUN_MEASURED,
        .layers = h->layers,
        .heads = h->heads,
        .kv_heads = h->kv_heads,
        .head_dim = h->head_dim,
        .kv_value_bytes = 2,
        .weight_bytes = model_step_weight_bytes(model),
        .prompt_tokens = prompt,
        .answer_limit = answers,
    };
    struct run *run;
    if (!run_create(&run, &info, 1, &why))
        fail_msg("%s", why.text);
    run->answer_count = answers;
    return run;
}

static const struct device_rates h200 = {.read_bytes_s = 4.3e12, .matrix_flop_s = 790e12};

static void assert_close(double got, double wanted, double share) {
    if (!(fabs(got - wanted) <= share * wanted))
        fail_msg("%.6g, expected %.6g", got, wanted);
}

static void bounds_of_well_known_models_are_those_worked_out_by_hand(void **state) {
    static const struct {
        const char *shape;
        enum gguf_tensor_type type;
        int prompt;
        double prefill_ms, step_ms;
        bool is_read;
    } rows[] = {
        // Steps right behind the prompt; 32 and 128 KiB of cache a token.
        {"llama-3.2-1b", GGUF_TENSOR_BF16, 128, 0.575, 0.576, true},
        {"llama-3.2-1b", GGUF_TENSOR_BF16, 512, 1.28, 0.579, false},
        {"llama-3.2-1b", GGUF_TENSOR_BF16, 2048, 5.4, 0.590, false},
        {"llama-3.2-1b", GGUF_TENSOR_BF16, 8192, 25.7, 0.637, false},
        {"llama-3.2-1b", GGUF_TENSOR_Q8_0, 128, 0.32, 0.306, false},
        {"llama-3-8b", GGUF_TENSOR_BF16, 128, 3.49, 3.494, true},
        {"llama-3-8b", GGUF_TENSOR_BF16, 2048, 37.6, 3.55, false},
        {"llama-3-8b", GGUF_TENSOR_BF16, 8192, 167, 3.74, false},
        {"llama-3-8b", GGUF_TENSOR_Q8_0, 8192, 167, 2.10, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct model *model;
        struct roofline roofline;
        assert_true(shape_model(&model, shape_find(rows[i].shape, &why), rows[i].type, 1, &why));
        struct run *run = run_of(model, rows[i].prompt, 2);
        roofline_of(&roofline, &model->shape, run, &h200, 50000000, -1);
        assert_true(roofline.is_measured);
        assert_close((double)roofline.prefill.bound_ns / 1e6, rows[i].prefill_ms, 0.01);
        assert_close((double)roofline.decode.bound_ns / 1e6, rows[i].step_ms, 0.01);
        assert_int_equal(roofline.prefill.is_read, rows[i].is_read);
        assert_true(roofline.decode.is_read);
        assert_close(roofline.prefill.share, rows[i].prefill_ms / 50, 0.01);
        assert_true(roofline.decode.share == -1); // not measured
        run_destroy(run);
        model_close(model);
    }
}

static void a_step_is_counted_halfway_through_the_answer(void **state) {
    (void)state;
    struct model *model;
    assert_true(shape_model(&model, shape_at(0), GGUF_TENSOR_F16, 1, &why));
    // 10 prompt tokens, 5 answers: steps see 11, 12, 13 and 14 tokens.
    struct run *run = run_of(model, 10, 5);
    double entry = 2.0 * 12 * 12 * 64 * 2;
    assert_true(fabs(roofline_step_bytes(run) -
                     ((double)model_step_weight_bytes(model) + 12.5 * entry)) < 1e-6);
    run->answer_count = 1; // no step was made; one would see 11
    assert_true(fabs(roofline_step_bytes(run) -
                     ((double)model_step_weight_bytes(model) + 11 * entry)) < 1e-6);
    run_destroy(run);
    model_close(model);
}

static void this_device_has_rates_within_reason_and_soon(void **state) {
    (void)state;
    static const struct shape_preset little = {
        "little", {64, 1, 2, 2, 32, 64, 40, 64, 1e-5f, 1e4f, false}, GGUF_TENSOR_F16};
    struct model *model;
    struct backend_state *opened;
    struct backend_opts opts = {.threads = 2, .context = 64};
    assert_true(shape_model(&model, &little, GGUF_TENSOR_F16, 1, &why));
    assert_true(backend_cpu.open(&opened, model, &opts, &why));
    struct device_rates cached, memory;
    int64_t start_ns = stopwatch_now_ns();
    assert_true(backend_cpu.measure_rates(opened, 1 << 20, &cached, &why));
    assert_true(backend_cpu.measure_rates(opened, (size_t)1 << 40, &memory, &why));
    // One second each on a machine of its own; sanitizers and neighbours take longer.
    assert_true(stopwatch_now_ns() - start_ns < INT64_C(30000000000));
    assert_true(cached.is_cached);
    assert_false(memory.is_cached);
    assert_true(memory.read_bytes_s > 1e7 && memory.read_bytes_s < 1e14);
    assert_true(cached.read_bytes_s > 1e7 && cached.read_bytes_s < 1e14);
    assert_true(memory.matrix_flop_s > 1e7 && memory.matrix_flop_s < 1e16);
    // The state is as before: what it answers has not changed.
    const int32_t tokens[] = {1, 2};
    float logits[40];
    struct backend_pass pass = {.tokens = tokens, .count = 2, .logits = logits};
    assert_true(backend_cpu.pass(opened, &pass, &why));
    backend_cpu.close(opened);
    model_close(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_of_well_known_models_are_those_worked_out_by_hand),
        cmocka_unit_test(a_step_is_counted_halfway_through_the_answer),
        cmocka_unit_test(this_device_has_rates_within_reason_and_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
