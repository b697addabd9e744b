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

static const struct shape_preset little = {
    "little", {64, 1, 2, 2, 32, 64, 40, 64, 1e-5f, 1e4f, false}, GGUF_TENSOR_F16};

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
        roofline_of(&roofline, &model->shape, run, &h200, 500000000, -1);
        assert_true(roofline.is_measured);
        assert_close((double)roofline.prefill.bound_ns / 1e6, rows[i].prefill_ms, 0.01);
        assert_close((double)roofline.decode.bound_ns / 1e6, rows[i].step_ms, 0.01);
        assert_int_equal(roofline.prefill.is_read, rows[i].is_read);
        assert_true(roofline.decode.is_read);
        assert_close(roofline.prefill.share, rows[i].prefill_ms / 500, 0.01);
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

// 9 of the model's 12 layers with a window of 8 tokens: in prefill the 9th token loses one
// pair and the 10th two; a step sees 8 tokens instead of 12.5.
static void a_window_hides_tokens_from_its_layers(void **state) {
    (void)state;
    struct model *model;
    struct roofline all, windowed;
    assert_true(shape_model(&model, shape_at(0), GGUF_TENSOR_F16, 1, &why));
    struct run *run = run_of(model, 10, 5);
    roofline_of(&all, &model->shape, run, &h200, -1, -1);
    run->info.window = 8;
    run->info.window_layers = 9;
    roofline_of(&windowed, &model->shape, run, &h200, -1, -1);
    double width = 12 * 64, cell = 2.0 * 12 * 64 * 2;
    assert_close(all.prefill.flop - windowed.prefill.flop, 4 * width * 9 * 3, 1e-9);
    assert_close(all.decode.flop - windowed.decode.flop, 4 * width * 9 * 4.5, 1e-9);
    assert_close(all.decode.bytes - windowed.decode.bytes, cell * 9 * 4.5, 1e-9);
    run_destroy(run);
    model_close(model);
}

// All stages of a pass end together: only its whole length matters here.
static void finish_run(struct run *run, const int64_t *ends_ns, int passes) {
    int stages = run->info.layers + 2;
    for (int i = 0; i < passes * stages; i++)
        run->mark_end_ns[i] = ends_ns[i / stages];
    run->pass_count = passes;
    run->mark_count = passes * stages;
}

// Whatever rates a disturbed moment gave: no measured pass lies below its bound.
static void a_pass_that_beats_a_bound_raises_the_rate(void **state) {
    (void)state;
    struct model *model;
    struct roofline roofline;
    struct device_rates slow = {.read_bytes_s = 1e9, .matrix_flop_s = 1e9, .is_cached = true};
    assert_true(shape_model(&model, &little, GGUF_TENSOR_F16, 1, &why));
    struct run *run = run_of(model, 3, 3);
    // A prefill of 30 us, steps of 12 us and 7 us.
    static const int64_t ends_ns[] = {30000, 42000, 49000};
    run->passes[0] = (struct run_pass){.phase = RUN_PREFILL, .column_count = 3};
    for (int i = 1; i < 3; i++)
        run->passes[i] = (struct run_pass){.phase = RUN_DECODE,
                                           .start_ns = ends_ns[i - 1],
                                           .first_column = 2 + i,
                                           .column_count = 1};
    finish_run(run, ends_ns, 3);
    roofline_of(&roofline, &model->shape, run, &slow, 30000, 12000);
    double bytes = (double)run->info.weight_bytes + (double)run_cache_entry_bytes(run) * 4;
    assert_close(roofline.rates.read_bytes_s, bytes / 7000e-9, 1e-9);
    assert_close(roofline.rates.matrix_flop_s,
                 fmax(roofline.decode.flop / 7e-6, roofline.prefill.flop / 30e-6), 1e-9);
    assert_true(roofline.prefill.bound_ns <= 30000 && roofline.decode.bound_ns <= 7100);
    assert_true(roofline.prefill.share <= 1 && roofline.decode.share <= 1);
    // A pass that broke off shows nothing: its last mark is not its end.
    run->mark_count--;
    roofline_of(&roofline, &model->shape, run, &slow, 30000, 12000);
    assert_close(roofline.rates.read_bytes_s, roofline.decode.bytes / 12000e-9, 1e-9);
    run->mark_count++;
    // Rates that were better stay; a run that was not measured proves nothing.
    roofline_of(&roofline, &model->shape, run, &h200, 30000, 12000);
    assert_true(roofline.rates.read_bytes_s == h200.read_bytes_s);
    run->info.origin = RUN_MODELLED;
    roofline_of(&roofline, &model->shape, run, &slow, 30000, 12000);
    assert_true(roofline.rates.read_bytes_s == slow.read_bytes_s);
    run_destroy(run);
    model_close(model);
}

static struct device_rates share(double read, double matrix, bool is_cached, int threads) {
    struct device_rates rates = {read, matrix, is_cached};
    rates_share(&rates, "card", threads);
    return rates;
}

// Every engine of a process starts from the best of those before it.
static void the_best_rates_ever_seen_are_kept_for_the_process(void **state) {
    (void)state;
    share(2e9, 5e9, false, 2);
    struct device_rates cached = share(9e9, 4e9, true, 2);
    assert_true(cached.read_bytes_s == 9e9 && cached.matrix_flop_s == 5e9);
    struct device_rates memory = share(1e9, 1e9, false, 2); // not that of the cache
    assert_true(memory.read_bytes_s == 2e9 && memory.matrix_flop_s == 5e9 && !memory.is_cached);
    struct device_rates other = share(1e9, 1e9, false, 1);
    assert_true(other.read_bytes_s == 1e9 && other.matrix_flop_s == 1e9);
}

// The border is half of the time; what has not been timed has no cause.
static void a_cause_is_named_only_where_it_explains_half_of_the_time(void **state) {
    (void)state;
    assert_int_equal(roofline_cause(50, 10, 100), ROOFLINE_READING);
    assert_int_equal(roofline_cause(49.9, 10, 100), ROOFLINE_UNKNOWN);
    assert_int_equal(roofline_cause(10, 50, 100), ROOFLINE_ARITHMETIC);
    assert_int_equal(roofline_cause(0.1, 0.2, 100), ROOFLINE_UNKNOWN);
    assert_int_equal(roofline_cause(1, 2, -1), ROOFLINE_UNKNOWN);
    assert_int_equal(roofline_cause(1, 2, 0), ROOFLINE_UNKNOWN);
    assert_int_equal(roofline_cause(0, 0, 100), ROOFLINE_UNKNOWN);
    struct roofline_phase phase = {.bound_ns = 60, .share = 0.6, .is_read = true};
    assert_int_equal(roofline_phase_cause(&phase), ROOFLINE_READING);
    phase.is_disturbed = true;
    assert_int_equal(roofline_phase_cause(&phase), ROOFLINE_UNKNOWN);
    phase.is_disturbed = false;
    phase.share = 0.4;
    assert_int_equal(roofline_phase_cause(&phase), ROOFLINE_UNKNOWN);
    phase.share = -1;
    assert_int_equal(roofline_phase_cause(&phase), ROOFLINE_UNKNOWN);
}

static void prefill_of_one_token_is_a_step_without_a_cache(void **state) {
    (void)state;
    struct model *model;
    struct roofline of_one, of_two;
    assert_true(shape_model(&model, &little, GGUF_TENSOR_F16, 1, &why));
    struct run *one = run_of(model, 1, 1), *two = run_of(model, 1, 2);
    roofline_of(&of_one, &model->shape, one, &h200, -1, -1);
    roofline_of(&of_two, &model->shape, two, &h200, -1, -1);
    // A step behind one token sees two, one more than prefill of one token.
    double token = 4.0 * model->shape.layers * model->shape.heads * model->shape.head_dim;
    assert_true(fabs(of_two.decode.flop - of_one.prefill.flop - token) < 1e-6);
    run_destroy(one);
    run_destroy(two);
    model_close(model);
}

static void this_device_has_rates_within_reason_and_soon(void **state) {
    (void)state;
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
    assert_true(stopwatch_now_ns() - start_ns < INT64_C(150000000000));
    // Neighbours may slow the cache down, so that nothing is called cached; memory never is.
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
        cmocka_unit_test(a_window_hides_tokens_from_its_layers),
        cmocka_unit_test(a_pass_that_beats_a_bound_raises_the_rate),
        cmocka_unit_test(the_best_rates_ever_seen_are_kept_for_the_process),
        cmocka_unit_test(a_cause_is_named_only_where_it_explains_half_of_the_time),
        cmocka_unit_test(prefill_of_one_token_is_a_step_without_a_cache),
        cmocka_unit_test(this_device_has_rates_within_reason_and_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
