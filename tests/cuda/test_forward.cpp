// Whole passes through the CUDA backend's own host side on the emulated device: the
// CPU backend's tokens and logits, whatever the order of lanes, with the graph and
// without, in one pass and in several; and what it says when a device is missing, too
// old, full or lost.
#include "forward.h"

#include "compute/cuda/backend_cuda.cuh"
#include "tests/cuda_on_host.h"

extern "C" {
#include "tests/compute/gguf_builder.h"
}

// A small one of random weights. The file's bytes stay with it.
struct built {
    struct model *model;
    uint8_t *bytes;
};

static struct built build(const struct gguf_builder_llama *shape) {
    char why[WHY_BYTES] = "";
    struct gguf_builder builder;
    struct gguf *file = NULL;
    struct built built = {};
    size_t bytes;
    gguf_builder_init(&builder);
    gguf_builder_llama(&builder, shape);
    built.bytes = gguf_builder_finish(&builder, &bytes);
    gguf_builder_clear(&builder);
    assert_good(gguf_parse(&file, "built", built.bytes, bytes, why), why);
    assert_good(model_from_gguf(&built.model, file, "built", why), why);
    return built;
}

static void drop(struct built built) {
    model_close(built.model);
    free(built.bytes);
}

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

static const struct gguf_builder_llama small = {64, 2, 8, 4, 8, 172, 96, 96, 0, true};

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
    static const char *const kinds[] = {"timer", "events", "none"};
    for (const char *kind : kinds) {
        static struct runner r;
        struct built built;
        int32_t prompt[PROMPT];
        setenv("TOKENDRIP_CUDA_MARKS", kind, 1);
        open_small(&built, &r, NULL);
        make_prompt(prompt, built.model);
        for (int n = 0; n < 4; n++) {
            int64_t before = stopwatch_now_ns();
            r.last_mark_ns = before;
            feed(&r, prompt, n % 2 ? 1 : PROMPT, 0);
            int64_t after = stopwatch_now_ns();
            assert_true(r.last_mark_ns > before && r.last_mark_ns <= after);
            // Nearly all of a pass is layers: marks that were not told apart, or were only
            // put between the pass's ends, would lie close together.
            if (strcmp(kind, "none") != 0) {
                assert_true(after - r.last_mark_ns < (after - before) / 2);
                assert_true(r.last_mark_ns - r.first_mark_ns > (after - before) / 4);
            }
        }
        close_small(built, &r, NULL);
    }
    unsetenv("TOKENDRIP_CUDA_MARKS");
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
    char why[WHY_BYTES] = "";
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
    assert_false(backend_cuda.pass(cuda.state, &pass, why));
    assert_string_equal(why, "stopped");
    assert_int_equal(stopping.asked, 2);
    pass.first_position = 6;
    assert_false(backend_cuda.pass(cuda.state, &pass, why));
    assert_non_null(strstr(why, "holds 5 tokens"));
    feed(&cuda, prompt + 5, PROMPT - 5, 5);
    assert_true(error_of(&cuda, &cpu) <= 1e-6);
    close_small(built, &cuda, &cpu);
}

static void a_pass_without_logits_keeps_its_tokens(void **) {
    static struct runner cuda, cpu;
    struct built built;
    char why[WHY_BYTES] = "";
    int32_t prompt[PROMPT];
    open_small(&built, &cuda, &cpu);
    make_prompt(prompt, built.model);
    feed(&cpu, prompt, PROMPT, 0);
    struct backend_pass pass = {};
    pass.tokens = prompt;
    pass.count = 10;
    assert_good(backend_cuda.pass(cuda.state, &pass, why), why);
    pass.tokens = prompt + 10;
    pass.first_position = 10;
    pass.count = 1;
    assert_good(backend_cuda.pass(cuda.state, &pass, why), why);
    feed(&cuda, prompt + 11, PROMPT - 11, 11);
    assert_true(error_of(&cuda, &cpu) <= 1e-6);
    close_small(built, &cuda, &cpu);
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
        char why[WHY_BYTES] = "";
        struct backend_pass pass = {};
        pass.tokens = row.tokens;
        pass.count = row.count;
        pass.first_position = row.first;
        assert_false(backend_cuda.pass(r.state, &pass, why));
        if (!strstr(why, row.says))
            fail_msg("\"%s\" does not say \"%s\"", why, row.says);
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
            char why[WHY_BYTES] = "";
            struct model *model = NULL;
            preset.shape.tied_output = is_tied;
            assert_good(shape_model(&model, &preset, type, 7, why), why);
            compare(model, type == GGUF_TENSOR_F32 ? 1e-6 : 2e-3, 2);
            model_close(model);
        }
    }
}

// --- Faults ---

static void assert_refused(const struct model *model, const char *says) {
    struct backend_state *state = NULL;
    struct backend_opts opts = {};
    char why[WHY_BYTES] = "";
    opts.context = model->shape.context;
    assert_false(backend_cuda.open(&state, model, &opts, why));
    assert_null(state);
    if (!strstr(why, says))
        fail_msg("\"%s\" does not say \"%s\"", why, says);
    assert_int_equal(host_cuda.used_bytes, 0);
}

static void a_machine_without_a_good_card_is_told_what_it_lacks(void **) {
    char why[WHY_BYTES] = "", line[512] = "";
    assert_true(backend_cuda.available(why));
    backend_cuda.describe(line, sizeof line);
    assert_non_null(strstr(line, "cuda:0 host emulation, 1 GiB memory, compute capability 9.0"));
    assert_non_null(strstr(line, "driver for CUDA 13.0"));
    host_cuda.capability = 61;
    assert_false(backend_cuda.available(why));
    assert_non_null(strstr(why, "compute capability 6.1, this program needs 7.5"));
    host_cuda.devices = 0;
    assert_false(backend_cuda.available(why));
    assert_non_null(strstr(why, "no NVIDIA GPU here"));
    host_cuda.driver_version = 12040;
    assert_false(backend_cuda.available(why));
    assert_non_null(strstr(why, "too old: it can do CUDA 12.4, this program needs 13.0"));
    host_cuda.driver_version = 0;
    assert_false(backend_cuda.available(why));
    assert_non_null(strstr(why, "no NVIDIA driver"));
}

static void a_full_card_is_told_with_bytes_needed_and_free(void **) {
    struct built built = build(&small);
    struct shape_preset preset = {
        "little", {64, 2, 4, 2, 16, 96, 80, 96, 1e-5f, 1e4f, false}, GGUF_TENSOR_F32};
    struct model *made = NULL;
    char why[WHY_BYTES] = "";
    host_cuda.memory_bytes = 300000;
    assert_refused(built.model, "are free: take a smaller model");
    host_cuda.memory_bytes = 700000;
    assert_refused(built.model, "are free: take a shorter context");
    assert_good(shape_model(&made, &preset, GGUF_TENSOR_F32, 7, why), why);
    host_cuda.memory_bytes = 100000;
    assert_refused(made, "no shape of this program fits");
    host_cuda_reset();
    host_cuda.refuses_allocation = true; // free by the card's word, and yet refused
    assert_refused(built.model, "are free: take");
    model_close(made);
    drop(built);
}

// The device is lost at every call of opening and of two passes in turn: never a
// crash, always a line, nothing left behind.
static void a_device_lost_at_any_call_is_a_line(void **) {
    struct built built = build(&gguf_builder_small);
    int refused = 0;
    bool is_through = false;
    for (long calls = 1; !is_through; calls++) {
        struct backend_state *state = NULL;
        struct backend_opts opts = {};
        char why[WHY_BYTES] = "";
        int32_t tokens[3] = {1, 2, 3};
        struct backend_pass pass = {};
        float logits[96];
        pass.tokens = tokens;
        pass.logits = logits;
        pass.count = 3;
        opts.context = 8;
        host_cuda_reset();
        host_cuda.fail_after = calls;
        bool ok = backend_cuda.open(&state, built.model, &opts, why) &&
                  backend_cuda.pass(state, &pass, why);
        pass.count = 1;
        ok = ok && backend_cuda.pass(state, &pass, why);
        is_through = ok;
        if (!ok && !strstr(why, "GPU"))
            fail_msg("lost at call %ld: \"%s\"", calls, why);
        refused += !ok;
        backend_cuda.close(state);
        assert_int_equal(host_cuda.used_bytes, 0);
    }
    assert_true(refused > 50);
    drop(built);
}

static void rates_are_measured_and_the_cache_is_kept(void **) {
    static struct runner cuda, cpu;
    struct built built;
    char why[WHY_BYTES] = "";
    int32_t prompt[PROMPT];
    struct backend_rates rates = {};
    open_small(&built, &cuda, &cpu);
    make_prompt(prompt, built.model);
    feed(&cpu, prompt, PROMPT, 0);
    feed(&cuda, prompt, 10, 0);
    host_cuda.memory_bytes = host_cuda.used_bytes + 100000; // little: the emulation is slow
    assert_good(backend_cuda.measure_rates(cuda.state, 20000, &rates, why), why);
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
        cmocka_unit_test_setup(a_coarse_clock_gives_way_to_events, setup),
        cmocka_unit_test_setup(a_prefill_can_be_stopped_and_the_cache_then_holds_what_came_before,
                               setup),
        cmocka_unit_test_setup(a_pass_without_logits_keeps_its_tokens, setup),
        cmocka_unit_test_setup(what_cannot_be_passed_is_refused_and_nothing_changes, setup),
        cmocka_unit_test_setup(matrices_of_one_group_may_have_different_formats, setup),
        cmocka_unit_test_setup(a_made_model_has_the_cpus_weights, setup),
        cmocka_unit_test_setup(a_machine_without_a_good_card_is_told_what_it_lacks, setup),
        cmocka_unit_test_setup(a_full_card_is_told_with_bytes_needed_and_free, setup),
        cmocka_unit_test_setup(a_device_lost_at_any_call_is_a_line, setup),
        cmocka_unit_test_setup(rates_are_measured_and_the_cache_is_kept, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
