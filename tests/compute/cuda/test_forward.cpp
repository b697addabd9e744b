// Whole passes through the CUDA backend's own host side on the emulated device: the
// CPU backend's tokens and logits, whatever the order of lanes, with the graph and
// without, in one pass and in several, with a device that lags behind its launches.
#include "tests/compute/cuda/built.h"

#include "compute/cuda/backend_cuda.cuh"
#include "tests/compute/cuda/cuda_on_host.h"

static void compare(const struct model *model, double most_error, int answer) {
    compare_with_cpu(&backend_cuda, model, most_error, answer);
    assert_int_equal(host_cuda.used_bytes, 0);
    assert_true(host_cuda.graph_launches > 0);
}

static void compare_file(const char *path, enum gguf_tensor_type type, double most_error,
                         int answer) {
    struct model *model = open_model(path);
    struct converted converted;
    convert(&converted, model, type);
    compare(&converted.model, most_error, answer);
    model_close(model);
}

static int setup(void **) {
    host_cuda_reset();
    other_failure = host_cuda_failure;
    unsetenv("TOKENDRIP_CUDA_MARKS");
    unsetenv("TOKENDRIP_CUDA_GRAPH");
    return 0;
}

// --- Answers ---

static void stories_answers_as_on_the_cpu_in_f32(void **) {
    compare_file(stories(), GGUF_TENSOR_F32, 1e-6, 12);
}

static void stories_answers_as_on_the_cpu_whatever_the_order_of_lanes(void **) {
    host_cuda.order = HOST_REVERSE;
    compare_file(stories(), GGUF_TENSOR_F32, 1e-6, ANSWER);
    host_cuda_reset();
    host_cuda.order = HOST_RANDOM;
    compare_file(stories(), GGUF_TENSOR_F32, 1e-6, ANSWER);
}

static void stories_in_every_format_has_the_cpus_logits(void **) {
    compare_file(stories(), GGUF_TENSOR_F16, 1e-3, ANSWER);
    compare_file(stories(), GGUF_TENSOR_BF16, 1e-3, ANSWER);
    compare_file(stories(), GGUF_TENSOR_Q8_0, 1e-3, ANSWER);
    compare_file(stories(), GGUF_TENSOR_Q4_0, 1e-3, ANSWER);
}

static void the_bundled_model_answers_as_on_the_cpu_in_f32(void **) {
    compare_file(bundled(), GGUF_TENSOR_F32, 1e-6, 2);
}

static void the_bundled_model_has_the_cpus_logits_as_it_is(void **) {
    struct model *model = open_model(bundled());
    compare(model, 1e-3, 2);
    model_close(model);
}

static void odd_sizes_answer_as_on_the_cpu(void **) {
    static const struct gguf_builder_llama shapes[] = {
        {16, 2, 4, 2, 4, 24, 20, 96, 0, true},   // gguf_builder_small's, tied
        {20, 1, 3, 1, 10, 28, 33, 96, 0, false}, // nothing a multiple of a vector
        {64, 2, 8, 1, 8, 172, 96, 96, 0, false}, // eight heads on one key head
        {32, 1, 1, 1, 66, 40, 50, 96, 0, true},  // one head, three pieces of it
        {40, 1, 2, 2, 128, 64, 50, 96, 0, true}, // the largest head
    };
    for (auto &shape : shapes) {
        struct built built = build(&shape);
        compare(built.model, 1e-6, ANSWER);
        drop(built);
    }
}

static void rope_factors_are_applied(void **) {
    struct built built = build(&gguf_builder_small);
    float factors[] = {1, 3.5f};
    struct model stretched = *built.model;
    assert_int_equal(stretched.shape.head_dim, 4);
    stretched.rope_factors = factors;
    compare(&stretched, 1e-6, ANSWER);
    drop(built);
}

// --- Ways through a pass ---

static void open_small(struct built *built, struct runner *r, struct runner *cpu) {
    *built = build(&small);
    open_runner(r, &backend_cuda, built->model);
    if (cpu)
        open_runner(cpu, &backend_cpu, built->model);
}

static void close_small(struct built built, struct runner *r, struct runner *cpu) {
    r->backend->close(r->state);
    if (cpu)
        cpu->backend->close(cpu->state);
    drop(built);
    assert_int_equal(host_cuda.used_bytes, 0);
}

static void one_pass_equals_several_and_single_steps(void **) {
    static struct runner cuda, cpu;
    struct built built;
    int32_t prompt[PROMPT];
    open_small(&built, &cuda, &cpu);
    make_prompt(prompt, built.model);
    feed(&cpu, prompt, PROMPT, 0);
    feed(&cuda, prompt, 7, 0);
    feed(&cuda, prompt + 7, PROMPT - 7, 7);
    assert_true(error_of(&cuda, &cpu) <= 1e-6);
    for (int p = 0; p < PROMPT; p++)
        feed(&cuda, prompt + p, 1, p);
    assert_true(error_of(&cuda, &cpu) <= 1e-6);
    feed(&cuda, prompt + 3, PROMPT - 3, 3); // back into the cache
    assert_true(error_of(&cuda, &cpu) <= 1e-6);
    close_small(built, &cuda, &cpu);
}

static void info_of(const struct runner *r, struct run_info *info) {
    memset(info, 0, sizeof *info);
    r->backend->fill_info(r->state, info);
}

static void without_a_graph_the_bits_are_the_same_and_it_says_so(void **) {
    static struct runner with, without;
    struct built built;
    struct run_info info;
    int32_t token = 1;
    open_small(&built, &with, NULL);
    info_of(&with, &info);
    assert_non_null(strstr(info.driver, "graph"));
    assert_null(strstr(info.driver, "no graph"));
    assert_string_equal(info.device, "cuda:0");
    assert_string_equal(info.device_name, "host emulation");
    assert_int_equal(info.kv_value_bytes, 4);
    host_cuda.refuses_graphs = true;
    open_runner(&without, &backend_cuda, built.model);
    info_of(&without, &info);
    assert_non_null(strstr(info.driver, "no graph: the GPU could"));
    for (int p = 0; p < 20; p++) {
        int launches = host_cuda.graph_launches;
        int32_t next = feed(&with, &token, 1, p);
        assert_int_equal(host_cuda.graph_launches, launches + 1);
        assert_int_equal(feed(&without, &token, 1, p), next);
        assert_int_equal(host_cuda.graph_launches, launches + 1);
        assert_memory_equal(with.logits, without.logits,
                            (size_t)built.model->shape.vocab * sizeof(float));
        token = next;
    }
    without.backend->close(without.state);
    close_small(built, &with, NULL);
}

static void a_graph_that_fails_later_is_dropped_once(void **) {
    static struct runner r, switched_off;
    struct built built;
    struct run_info info;
    float before[MOST_VOCAB];
    int32_t token = 1;
    open_small(&built, &r, NULL);
    feed(&r, &token, 1, 0);
    memcpy(before, r.logits, sizeof before);
    host_cuda.refuses_launches = true;
    feed(&r, &token, 1, 0);
    assert_memory_equal(before, r.logits, (size_t)built.model->shape.vocab * sizeof(float));
    info_of(&r, &info);
    assert_non_null(strstr(info.driver, "no graph: the GPU could"));
    host_cuda.refuses_launches = false;
    int launches = host_cuda.graph_launches;
    feed(&r, &token, 1, 0);
    setenv("TOKENDRIP_CUDA_GRAPH", "off", 1);
    open_runner(&switched_off, &backend_cuda, built.model);
    feed(&switched_off, &token, 1, 0);
    info_of(&switched_off, &info);
    assert_non_null(strstr(info.driver, "no graph: switched off"));
    assert_int_equal(host_cuda.graph_launches, launches);
    unsetenv("TOKENDRIP_CUDA_GRAPH");
    switched_off.backend->close(switched_off.state);
    close_small(built, &r, NULL);
}

// The calling thread's clock at both ends of a pass holds all its marks between them;
// the host's and the device's clocks differ by hours in the emulation.
static void marks_lie_within_the_pass_however_they_are_made(void **) {
    for (const char *kind : {"timer", "events"}) {
        for (enum backend_marks which : {BACKEND_MARKS_ALL, BACKEND_MARKS_ENDS}) {
            static struct runner r;
            struct built built = build(&small);
            struct backend_opts opts = usual_opts(built.model);
            int32_t prompt[PROMPT];
            setenv("TOKENDRIP_CUDA_MARKS", kind, 1);
            opts.marks = which;
            open_runner_with(&r, &backend_cuda, built.model, opts);
            make_prompt(prompt, built.model);
            for (int count : {(int)PROMPT, 1}) {
                bool is_spread = false;
                for (int n = 0; n < 20 && !is_spread; n++) {
                    int64_t before = stopwatch_now_ns();
                    r.last_mark_ns = before;
                    feed(&r, prompt, count, 0);
                    int64_t after = stopwatch_now_ns();
                    assert_true(r.last_mark_ns > before && r.last_mark_ns <= after);
                    // Nearly all of a pass is layers: marks that were not told apart, or
                    // were only put between the pass's ends, would always lie close
                    // together. Once is enough, since others may use this machine too.
                    is_spread = after - r.last_mark_ns < (after - before) / 2 &&
                                r.last_mark_ns - r.first_mark_ns > (after - before) / 4;
                }
                assert_true(is_spread);
            }
            close_small(built, &r, NULL);
        }
    }
    unsetenv("TOKENDRIP_CUDA_MARKS");
}

static void fewer_marks_change_no_bit_and_are_named(void **) {
    static const struct {
        enum backend_marks which;
        const char *says;
    } rows[] = {{BACKEND_MARKS_ENDS, " ns at both ends, graph"},
                {BACKEND_MARKS_NONE, "no marks, graph"}};
    for (auto &row : rows) {
        static struct runner all, fewer;
        struct built built = build(&small);
        struct backend_opts opts = usual_opts(built.model);
        struct run_info info;
        int32_t prompt[PROMPT];
        make_prompt(prompt, built.model);
        opts.marks = row.which;
        open_runner(&all, &backend_cuda, built.model);
        open_runner_with(&fewer, &backend_cuda, built.model, opts);
        info_of(&fewer, &info);
        if (!strstr(info.driver, row.says))
            fail_msg("\"%s\" does not say \"%s\"", info.driver, row.says);
        for (int count : {(int)PROMPT, 1}) {
            feed(&all, prompt, count, 0);
            feed(&fewer, prompt, count, 0);
            assert_memory_equal(all.logits, fewer.logits,
                                (size_t)built.model->shape.vocab * sizeof(float));
        }
        fewer.backend->close(fewer.state);
        close_small(built, &all, NULL);
    }
}

// A clock that goes on by 3 microseconds tells no layers apart; one by 1 does.
static void a_coarse_clock_gives_way_to_events(void **) {
    static const struct {
        unsigned long long step_ns;
        const char *says;
    } cases[] = {{1000, "timer of 1000 ns"}, {3000, "events of 500 ns"}};
    for (auto &row : cases) {
        static struct runner r;
        struct built built;
        struct run_info info;
        int32_t tokens[2] = {1, 2};
        host_cuda.timer_step_ns = row.step_ns;
        open_small(&built, &r, NULL);
        info_of(&r, &info);
        if (!strstr(info.driver, row.says))
            fail_msg("\"%s\" does not say \"%s\"", info.driver, row.says);
        feed(&r, tokens, 2, 0);
        close_small(built, &r, NULL);
    }
}

// Whichever mark is the first after it: a run takes no mark that is before the last one.
static void a_clock_set_back_within_a_pass_keeps_the_marks_in_order(void **) {
    struct gguf_builder_llama deep = small;
    deep.layers = 8;
    for (long marks = 1; marks <= (long)deep.layers + 1; marks++) {
        static struct runner r;
        struct built built = build(&deep);
        int32_t token = 1;
        open_runner(&r, &backend_cuda, built.model);
        feed(&r, &token, 1, 0);
        host_cuda.timer_back_after = marks;
        feed(&r, &token, 1, 0); // looks at the order
        assert_true(host_cuda.timer_back_ns > 0);
        close_small(built, &r, NULL);
        host_cuda_reset();
    }
}

struct stopping {
    int asked, after;
};

static bool is_stopped(void *context) {
    struct stopping *stopping = static_cast<struct stopping *>(context);
    return stopping->asked++ >= stopping->after;
}

static void a_prefill_can_be_stopped_and_the_cache_then_holds_what_came_before(void **) {
    static struct runner cuda, cpu;
    struct built built;
    struct why why = {0};
    int32_t prompt[PROMPT];
    open_small(&built, &cuda, &cpu);
    make_prompt(prompt, built.model);
    feed(&cpu, prompt, PROMPT, 0);
    feed(&cuda, prompt, 5, 0);
    struct stopping stopping = {0, 1};
    struct backend_pass pass = {};
    pass.tokens = prompt + 5;
    pass.count = PROMPT - 5;
    pass.first_position = 5;
    pass.is_stopped = is_stopped;
    pass.context = &stopping;
    assert_false(backend_cuda.pass(cuda.state, &pass, &why));
    assert_string_equal(why.text, "stopped");
    assert_int_equal(stopping.asked, 2);
    pass.first_position = 6;
    assert_false(backend_cuda.pass(cuda.state, &pass, &why));
    assert_non_null(strstr(why.text, "holds 5 tokens"));
    feed(&cuda, prompt + 5, PROMPT - 5, 5);
    assert_true(error_of(&cuda, &cpu) <= 1e-6);
    close_small(built, &cuda, &cpu);
}

// The greedy id alone is that of the logits, and a pass may want either, both or none.
static void a_greedy_id_needs_no_logits(void **) {
    static struct runner r;
    struct built built;
    struct why why = {0};
    int32_t prompt[PROMPT];
    open_small(&built, &r, NULL);
    make_prompt(prompt, built.model);
    for (int count : {(int)PROMPT, 1}) {
        int32_t wanted = feed(&r, prompt, count, 0), got = -2;
        float before[MOST_VOCAB];
        memcpy(before, r.logits, sizeof before);
        struct backend_pass pass = {};
        pass.tokens = prompt;
        pass.count = count;
        pass.greedy_id = &got;
        assert_good(backend_cuda.pass(r.state, &pass, &why), why.text);
        assert_int_equal(got, wanted);
        pass.greedy_id = NULL;
        pass.logits = r.logits;
        assert_good(backend_cuda.pass(r.state, &pass, &why), why.text);
        assert_memory_equal(before, r.logits, (size_t)built.model->shape.vocab * sizeof(float));
    }
    close_small(built, &r, NULL);
}

static void a_pass_without_logits_keeps_its_tokens(void **) {
    static struct runner cuda, cpu;
    struct built built;
    struct why why = {0};
    int32_t prompt[PROMPT];
    open_small(&built, &cuda, &cpu);
    make_prompt(prompt, built.model);
    feed(&cpu, prompt, PROMPT, 0);
    struct backend_pass pass = {};
    pass.tokens = prompt;
    pass.count = 10;
    assert_good(backend_cuda.pass(cuda.state, &pass, &why), why.text);
    pass.tokens = prompt + 10;
    pass.first_position = 10;
    pass.count = 1;
    assert_good(backend_cuda.pass(cuda.state, &pass, &why), why.text);
    feed(&cuda, prompt + 11, PROMPT - 11, 11);
    assert_true(error_of(&cuda, &cpu) <= 1e-6);
    close_small(built, &cuda, &cpu);
}

// --- A device behind its launches ---

static void a_device_that_lags_behind_gives_the_same_bits(void **) {
    for (const char *kind : {"timer", "events"}) {
        static struct runner prompt_runner, lazy;
        struct built built = build(&small);
        int32_t prompt[PROMPT];
        setenv("TOKENDRIP_CUDA_MARKS", kind, 1);
        host_cuda.is_lazy = false;
        make_prompt(prompt, built.model);
        open_runner(&prompt_runner, &backend_cuda, built.model);
        host_cuda.is_lazy = true;
        open_runner(&lazy, &backend_cuda, built.model);
        for (int count : {(int)PROMPT, 1, 7}) {
            host_cuda.is_lazy = false;
            feed(&prompt_runner, prompt, count, 0);
            host_cuda.is_lazy = true;
            feed(&lazy, prompt, count, 0);
            assert_memory_equal(prompt_runner.logits, lazy.logits,
                                (size_t)built.model->shape.vocab * sizeof(float));
        }
        lazy.backend->close(lazy.state);
        close_small(built, &prompt_runner, NULL);
    }
    unsetenv("TOKENDRIP_CUDA_MARKS");
}

struct lagging {
    int asked, after, marks;
    bool is_far_ahead;
};

static void count_mark(void *context, int, int64_t) {
    static_cast<struct lagging *>(context)->marks++;
}

// Asked before each layer: the device has ended all but four of those launched.
static bool is_enough(void *context) {
    struct lagging *lagging = static_cast<struct lagging *>(context);
    lagging->is_far_ahead = lagging->is_far_ahead || lagging->asked - lagging->marks >= 4;
    return lagging->asked++ >= lagging->after;
}

static void a_lagging_prefill_is_never_far_ahead_when_it_is_stopped(void **) {
    static const struct gguf_builder_llama deep = {16, 12, 2, 1, 8, 24, 20, 96, 0, true};
    static struct runner r;
    struct built built = build(&deep);
    struct why why = {0};
    int32_t prompt[PROMPT];
    make_prompt(prompt, built.model);
    host_cuda.is_lazy = true;
    open_runner(&r, &backend_cuda, built.model);
    for (int after = 0; after < 12; after++) {
        struct lagging lagging = {0, after, 0, false};
        struct backend_pass pass = {};
        pass.tokens = prompt;
        pass.count = PROMPT;
        pass.on_mark = count_mark;
        pass.is_stopped = is_enough;
        pass.context = &lagging;
        assert_false(backend_cuda.pass(r.state, &pass, &why));
        assert_string_equal(why.text, "stopped");
        assert_int_equal(lagging.asked, after + 1);
        assert_false(lagging.is_far_ahead);
    }
    feed(&r, prompt, PROMPT, 0);
    close_small(built, &r, NULL);
}

static void what_cannot_be_passed_is_refused_and_nothing_changes(void **) {
    static struct runner r;
    struct built built;
    int32_t good[2] = {1, 2}, bad[2] = {1, 96};
    const struct {
        const int32_t *tokens;
        int count, first;
        const char *says;
    } cases[] = {
        {good, 0, 0, "expected 1 to 2048"},
        {good, 1, 3, "cannot start at position 3"},
        {bad, 2, 0, "token 1 has id 96, the model knows ids 0 to 95"},
        {good, 95, 2, "do not fit into a context of 96"},
    };
    open_small(&built, &r, NULL);
    feed(&r, good, 2, 0);
    for (auto &row : cases) {
        struct why why = {0};
        struct backend_pass pass = {};
        pass.tokens = row.tokens;
        pass.count = row.count;
        pass.first_position = row.first;
        assert_false(backend_cuda.pass(r.state, &pass, &why));
        if (!strstr(why.text, row.says))
            fail_msg("\"%s\" does not say \"%s\"", why.text, row.says);
    }
    feed(&r, good, 1, 2);
    close_small(built, &r, NULL);
}

// --- Weights ---

// Query, key and value in three formats are kept as floats.
static void matrices_of_one_group_may_have_different_formats(void **) {
    struct model *model = open_model(stories());
    struct converted mixed, half;
    convert(&mixed, model, GGUF_TENSOR_Q8_0);
    convert(&half, model, GGUF_TENSOR_F16);
    for (size_t i = 0; i < mixed.layers.size(); i++) {
        mixed.layers[i].k = half.layers[i].k;
        mixed.layers[i].up = half.layers[i].up;
    }
    compare(&mixed.model, 1e-3, 2);
    model_close(model);
}

static void a_made_model_has_the_cpus_weights(void **) {
    static const enum gguf_tensor_type types[] = {GGUF_TENSOR_F32, GGUF_TENSOR_BF16,
                                                  GGUF_TENSOR_Q8_0, GGUF_TENSOR_Q4_0};
    struct shape_preset preset = {
        "little", {64, 2, 4, 2, 16, 96, 80, 96, 1e-5f, 1e4f, false}, GGUF_TENSOR_F32};
    for (enum gguf_tensor_type type : types) {
        for (bool is_tied : {false, true}) {
            struct why why = {0};
            struct model *model = NULL;
            preset.shape.tied_output = is_tied;
            assert_good(shape_model(&model, &preset, type, 7, &why), why.text);
            compare(model, type == GGUF_TENSOR_F32 ? 1e-6 : 2e-3, 2);
            model_close(model);
        }
    }
}

static void rates_are_measured_and_the_cache_is_kept(void **) {
    static struct runner cuda, cpu;
    struct built built;
    struct why why = {0};
    int32_t prompt[PROMPT];
    struct device_rates rates = {};
    open_small(&built, &cuda, &cpu);
    make_prompt(prompt, built.model);
    feed(&cpu, prompt, PROMPT, 0);
    feed(&cuda, prompt, 10, 0);
    host_cuda.memory_bytes = host_cuda.used_bytes + 100000; // little: the emulation is slow
    assert_good(backend_cuda.measure_rates(cuda.state, 20000, &rates, &why), why.text);
    assert_true(rates.read_bytes_s > 0 && rates.matrix_flop_s > 0 && rates.is_cached);
    feed(&cuda, prompt + 10, PROMPT - 10, 10);
    assert_true(error_of(&cuda, &cpu) <= 1e-6);
    close_small(built, &cuda, &cpu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(odd_sizes_answer_as_on_the_cpu, setup),
        cmocka_unit_test_setup(rope_factors_are_applied, setup),
        cmocka_unit_test_setup(stories_answers_as_on_the_cpu_in_f32, setup),
        cmocka_unit_test_setup(stories_answers_as_on_the_cpu_whatever_the_order_of_lanes, setup),
        cmocka_unit_test_setup(stories_in_every_format_has_the_cpus_logits, setup),
        cmocka_unit_test_setup(the_bundled_model_answers_as_on_the_cpu_in_f32, setup),
        cmocka_unit_test_setup(the_bundled_model_has_the_cpus_logits_as_it_is, setup),
        cmocka_unit_test_setup(one_pass_equals_several_and_single_steps, setup),
        cmocka_unit_test_setup(without_a_graph_the_bits_are_the_same_and_it_says_so, setup),
        cmocka_unit_test_setup(a_graph_that_fails_later_is_dropped_once, setup),
        cmocka_unit_test_setup(marks_lie_within_the_pass_however_they_are_made, setup),
        cmocka_unit_test_setup(fewer_marks_change_no_bit_and_are_named, setup),
        cmocka_unit_test_setup(a_coarse_clock_gives_way_to_events, setup),
        cmocka_unit_test_setup(a_clock_set_back_within_a_pass_keeps_the_marks_in_order, setup),
        cmocka_unit_test_setup(a_prefill_can_be_stopped_and_the_cache_then_holds_what_came_before,
                               setup),
        cmocka_unit_test_setup(a_greedy_id_needs_no_logits, setup),
        cmocka_unit_test_setup(a_pass_without_logits_keeps_its_tokens, setup),
        cmocka_unit_test_setup(a_device_that_lags_behind_gives_the_same_bits, setup),
        cmocka_unit_test_setup(a_lagging_prefill_is_never_far_ahead_when_it_is_stopped, setup),
        cmocka_unit_test_setup(what_cannot_be_passed_is_refused_and_nothing_changes, setup),
        cmocka_unit_test_setup(matrices_of_one_group_may_have_different_formats, setup),
        cmocka_unit_test_setup(a_made_model_has_the_cpus_weights, setup),
        cmocka_unit_test_setup(rates_are_measured_and_the_cache_is_kept, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
