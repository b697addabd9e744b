// Prompts that are long enough for attention by matrix products, as whole passes on the
// emulated device against the CPU backend: lengths around the edge, in several passes, in
// every order of lanes.
#include "tests/compute/cuda/built.h"

#include "compute/cuda/backend_cuda.cuh"
#include "tests/compute/cuda/cuda_on_host.h"

static int setup(void **) {
    host_cuda_reset();
    other_failure = host_cuda_failure;
    return 0;
}

static const struct gguf_builder_llama long_shapes[] = {
    {32, 1, 4, 2, 8, 48, 50, 320, 30, true}, // bf16
    {32, 1, 2, 2, 16, 32, 50, 320, 8, true}, // Q8_0
    {30, 1, 4, 1, 10, 44, 50, 320, 1, true}, // f16, rows that need padding
};

static void make_long_prompt(int32_t *prompt, int count, const struct model *model) {
    for (int i = 0; i < count; i++)
        prompt[i] = (3 + 7 * i + i * i % 11) % model->shape.vocab;
}

static void open_long(struct runner *cuda, struct runner *cpu, const struct model *model) {
    struct backend_opts opts = usual_opts(model);
    opts.context = 320;
    open_runner_with(cuda, &backend_cuda, model, opts);
    if (cpu)
        open_runner_with(cpu, &backend_cpu, model, opts);
}

static void close_long(struct built built, struct runner *cuda, struct runner *other) {
    cuda->backend->close(cuda->state);
    other->backend->close(other->state);
    drop(built);
    assert_int_equal(host_cuda.used_bytes, 0);
}

static void assert_close(const struct runner *got, const struct runner *wanted, int count) {
    double error = error_of(got, wanted);
    if (!(error <= 1e-3))
        fail_msg("NMSE %.3g after %d tokens", error, count);
}

static void long_prompts_in_bf16_have_the_cpus_logits(void **) {
    static struct runner cuda, cpu;
    for (auto &shape : long_shapes) {
        struct built built = build(&shape);
        int32_t prompt[300];
        make_long_prompt(prompt, 300, built.model);
        open_long(&cuda, &cpu, built.model);
        for (int count : {127, 128, 129, 255, 257}) {
            if (&shape != long_shapes && count != 257)
                continue;
            feed(&cpu, prompt, count, 0);
            feed(&cuda, prompt, count, 0);
            assert_close(&cuda, &cpu, count);
        }
        feed(&cpu, prompt, 300, 0);
        feed(&cuda, prompt, 9, 0); // and then from inside the cache
        feed(&cuda, prompt + 9, 160, 9);
        feed(&cuda, prompt + 169, 131, 169);
        assert_close(&cuda, &cpu, 300);
        close_long(built, &cuda, &cpu);
    }
}

static void a_long_prompt_is_the_same_in_every_order_of_lanes(void **) {
    static struct runner forward, other;
    struct built built = build(&long_shapes[0]);
    int32_t prompt[140];
    make_long_prompt(prompt, 140, built.model);
    open_long(&forward, NULL, built.model);
    open_long(&other, NULL, built.model);
    feed(&forward, prompt, 140, 0);
    for (enum host_order order : {HOST_REVERSE, HOST_RANDOM}) {
        host_cuda.order = order;
        feed(&other, prompt, 140, 0);
        assert_memory_equal(forward.logits, other.logits,
                            (size_t)built.model->shape.vocab * sizeof(float));
    }
    close_long(built, &forward, &other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(long_prompts_in_bf16_have_the_cpus_logits, setup),
        cmocka_unit_test_setup(a_long_prompt_is_the_same_in_every_order_of_lanes, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
