// The CUDA plugin on a real card against the CPU backend. Ends with 77, a skip, and the
// reason where the plugin or a card is missing. The first argument is the plugin.
#include "tests/compute/cuda/forward.h"

extern "C" {
#include "compute/backend/load.h"
}

#include <algorithm>

enum { LONG_ANSWER = 70, STEPS = 40, SKIP = 77 };

static const struct backend *gpu;

static struct model *bundled_model(void) {
    return open_model(bundled());
}

static int setup(void **) {
    unsetenv("TOKENDRIP_CUDA_MARKS");
    unsetenv("TOKENDRIP_CUDA_GRAPH");
    return 0;
}

static void f32_models_have_the_cpus_logits_and_tokens(void **) {
    struct model *model = bundled_model();
    struct converted wide;
    convert(&wide, model, GGUF_TENSOR_F32);
    compare_with_cpu(gpu, &wide.model, 1e-6, LONG_ANSWER);
    model_close(model);
}

static void every_format_has_the_cpus_logits_and_tokens(void **) {
    static const enum gguf_tensor_type types[] = {GGUF_TENSOR_F16, GGUF_TENSOR_BF16,
                                                  GGUF_TENSOR_Q8_0, GGUF_TENSOR_Q4_0};
    struct model *model = bundled_model();
    for (enum gguf_tensor_type type : types) {
        struct converted converted;
        convert(&converted, model, type);
        compare_with_cpu(gpu, &converted.model, 1e-3, LONG_ANSWER);
    }
    model_close(model);
}

static void made_weights_are_the_cpus(void **) {
    static const enum gguf_tensor_type types[] = {GGUF_TENSOR_F32, GGUF_TENSOR_BF16,
                                                  GGUF_TENSOR_Q8_0, GGUF_TENSOR_Q4_0};
    struct shape_preset preset = {
        "little", {256, 2, 4, 2, 64, 512, 320, 96, 1e-5f, 1e4f, false}, GGUF_TENSOR_F32};
    for (enum gguf_tensor_type type : types) {
        struct why why = {0};
        struct model *model = NULL;
        assert_good(shape_model(&model, &preset, type, 7, &why), why.text);
        compare_with_cpu(gpu, model, type == GGUF_TENSOR_F32 ? 1e-6 : 2e-3, 4);
        model_close(model);
    }
}

// Attention by matrix products, from 128 tokens on.
static void long_prompts_have_the_cpus_logits(void **) {
    static struct runner cuda, cpu;
    struct model *model = bundled_model();
    struct converted converted;
    struct backend_opts opts = usual_opts(model);
    std::vector<int32_t> prompt(700);
    convert(&converted, model, GGUF_TENSOR_BF16);
    for (size_t i = 0; i < prompt.size(); i++)
        prompt[i] = (int32_t)((3 + 7 * i + i * i % 11) % (size_t)model->shape.vocab);
    opts.context = 700;
    opts.threads = 0;
    open_runner_with(&cuda, gpu, &converted.model, opts);
    open_runner_with(&cpu, &backend_cpu, &converted.model, opts);
    for (int count : {127, 128, 129, 257, 700}) {
        feed(&cpu, prompt.data(), count, 0);
        feed(&cuda, prompt.data(), count, 0);
        assert_true(error_of(&cuda, &cpu) <= 1e-3);
    }
    feed(&cuda, prompt.data(), 131, 0);
    feed(&cuda, prompt.data() + 131, 569, 131);
    assert_true(error_of(&cuda, &cpu) <= 1e-3);
    gpu->close(cuda.state);
    cpu.backend->close(cpu.state);
    model_close(model);
}

static void with_and_without_a_graph_the_bits_are_the_same(void **) {
    static struct runner with, without;
    struct model *model = bundled_model();
    struct run_info info = {};
    int32_t token = 1;
    open_runner(&with, gpu, model);
    gpu->fill_info(with.state, &info);
    assert_null(strstr(info.driver, "no graph"));
    setenv("TOKENDRIP_CUDA_GRAPH", "off", 1);
    open_runner(&without, gpu, model);
    for (int p = 0; p < CONTEXT; p++) {
        int32_t next = feed(&with, &token, 1, p);
        assert_int_equal(feed(&without, &token, 1, p), next);
        assert_memory_equal(with.logits, without.logits,
                            (size_t)model->shape.vocab * sizeof(float));
        token = next;
    }
    gpu->close(with.state);
    gpu->close(without.state);
    model_close(model);
}

// Of many steps: nanoseconds from the pass's start to its last layer's mark, and to its
// end; medians.
struct timing {
    int64_t layers_ns, pass_ns;
};

static struct timing time_steps(const struct model *model, const char *kind,
                                enum backend_marks which) {
    static struct runner r;
    std::vector<int64_t> layers, passes;
    int32_t token = 1;
    struct backend_opts opts = usual_opts(model);
    setenv("TOKENDRIP_CUDA_MARKS", kind, 1);
    opts.marks = which;
    open_runner_with(&r, gpu, model, opts);
    for (int p = 0; p < STEPS; p++) {
        int64_t start = stopwatch_now_ns();
        r.last_mark_ns = start;
        feed(&r, &token, 1, p);
        int64_t end = stopwatch_now_ns();
        assert_true(r.last_mark_ns <= end);
        layers.push_back(r.last_mark_ns - start);
        passes.push_back(end - start);
    }
    gpu->close(r.state);
    std::sort(layers.begin(), layers.end());
    std::sort(passes.begin(), passes.end());
    return {layers[STEPS / 2], passes[STEPS / 2]};
}

// A step of the shape is long enough for 5 % to mean something; its head is the rest.
static void marks_agree_with_the_wall_clock_and_with_events(void **) {
    struct why why = {0};
    struct model *model = NULL;
    struct shape_preset preset = {
        "marks", {4096, 4, 32, 8, 128, 14336, 320, 96, 1e-5f, 1e4f, true}, GGUF_TENSOR_BF16};
    assert_good(shape_model(&model, &preset, GGUF_TENSOR_BF16, 7, &why), why.text);
    struct timing timer = time_steps(model, "timer", BACKEND_MARKS_ALL);
    struct timing events = time_steps(model, "events", BACKEND_MARKS_ALL);
    struct timing ends = time_steps(model, "timer", BACKEND_MARKS_ENDS);
    struct timing none = time_steps(model, "timer", BACKEND_MARKS_NONE);
    print_message("step %.3f ms, its layers %.3f ms; by events %.3f and %.3f; two marks %.3f, none "
                  "%.3f\n",
                  (double)timer.pass_ns / 1e6, (double)timer.layers_ns / 1e6,
                  (double)events.pass_ns / 1e6, (double)events.layers_ns / 1e6,
                  (double)ends.pass_ns / 1e6, (double)none.pass_ns / 1e6);
    assert_true(timer.layers_ns >= timer.pass_ns * 95 / 100);
    assert_true(llabs(timer.layers_ns - events.layers_ns) <= timer.layers_ns * 5 / 100);
    model_close(model);
}

int main(int argc, char **argv) {
    struct why why = {0};
    gpu = argc > 1 ? backend_load_file(argv[1], "libcuda.so.1", &why) : NULL;
    if (!gpu) {
        printf("skipped: %s\n", argc > 1 ? why.text : "no plugin was named");
        return SKIP;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(f32_models_have_the_cpus_logits_and_tokens, setup),
        cmocka_unit_test_setup(every_format_has_the_cpus_logits_and_tokens, setup),
        cmocka_unit_test_setup(made_weights_are_the_cpus, setup),
        cmocka_unit_test_setup(long_prompts_have_the_cpus_logits, setup),
        cmocka_unit_test_setup(with_and_without_a_graph_the_bits_are_the_same, setup),
        cmocka_unit_test_setup(marks_agree_with_the_wall_clock_and_with_events, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
