// What the CUDA backend says and does when a device is missing, too old, full, or lost in
// the middle of anything: one line each time, nothing left behind, never a crash.
#include "tests/compute/cuda/built.h"

#include "compute/cuda/backend_cuda.cuh"
#include "tests/compute/cuda/cuda_on_host.h"

static int setup(void **) {
    host_cuda_reset();
    other_failure = host_cuda_failure;
    unsetenv("TOKENDRIP_CUDA_MARKS");
    unsetenv("TOKENDRIP_CUDA_GRAPH");
    return 0;
}

static void assert_says(const char *why, const char *says) {
    if (!strstr(why, says))
        fail_msg("\"%s\" does not say \"%s\"", why, says);
    assert_null(strchr(why, '\n'));
}

static void assert_refused(const struct model *model, int device, const char *says) {
    struct backend_state *state = NULL;
    struct backend_opts opts = usual_opts(model);
    struct why why = {0};
    opts.device = device;
    assert_false(backend_cuda.open(&state, model, &opts, &why));
    assert_null(state);
    assert_says(why.text, says);
    assert_int_equal(host_cuda.used_bytes, 0);
}

static void assert_not_available(const char *says) {
    char line[512] = "";
    struct why why = {0};
    assert_false(backend_cuda.available(&why));
    assert_says(why.text, says);
    backend_cuda.describe(line, sizeof line);
    assert_says(line, says);
}

// --- Cards ---

static void a_machine_without_a_good_card_is_told_what_it_lacks(void **) {
    char line[512] = "";
    struct why why = {0};
    assert_true(backend_cuda.available(&why));
    backend_cuda.describe(line, sizeof line);
    assert_string_equal(line, "cuda:0 host emulation, 1 GiB memory, 1.0 GiB free, compute "
                              "capability 9.0, driver for CUDA 13.0");
    host_cuda.full_devices = 1;
    assert_not_available("(host emulation) cannot be used: out of memory "
                         "(cudaErrorMemoryAllocation): other programs hold its memory");
    host_cuda.full_devices = 0;
    host_cuda.capability = 61;
    assert_not_available("compute capability 6.1, this program needs 7.5");
    host_cuda.devices = 0;
    assert_not_available("no NVIDIA GPU here");
    host_cuda.driver_version = 12040;
    assert_not_available("too old: it can do CUDA 12.4, this program needs 13.0");
    host_cuda.driver_version = 0;
    assert_not_available("no NVIDIA driver");
    host_cuda_reset();
    cuda_on_host_fail_after(1);
    assert_not_available("the GPU could not be counted");
}

static int device_of(const struct model *model, int wanted) {
    static struct runner r;
    struct backend_opts opts = usual_opts(model);
    struct run_info info = {};
    int32_t token = 1;
    int device = -1;
    opts.device = wanted;
    open_runner_with(&r, &backend_cuda, model, opts);
    feed(&r, &token, 1, 0);
    backend_cuda.fill_info(r.state, &info);
    assert_int_equal(sscanf(info.device, "cuda:%d", &device), 1);
    assert_int_equal(host_cuda.device, device);
    backend_cuda.close(r.state);
    return device;
}

static void the_card_that_is_asked_for_is_taken_and_else_the_first_that_works(void **) {
    struct built built = build(&small);
    struct why why = {0};
    host_cuda.devices = 4;
    host_cuda.old_devices = 1 << 0;
    host_cuda.full_devices = 1 << 1;
    assert_true(backend_cuda.available(&why));
    assert_int_equal(device_of(built.model, -1), 2);
    assert_int_equal(device_of(built.model, 3), 3);
    assert_int_equal(device_of(built.model, 2), 2);
    assert_refused(built.model, 0, "compute capability 6.1");
    assert_refused(built.model, 1, "the GPU cuda:1 (host emulation) cannot be used: out of memory");
    assert_refused(built.model, 4, "no card cuda:4 here: they are cuda:0 to cuda:3");
    host_cuda.old_devices = 0xd; // what all lack is told of the first
    assert_refused(built.model, -1, "compute capability 6.1");
    host_cuda.devices = 1;
    assert_refused(built.model, 1, "no card cuda:1 here: the only one is cuda:0");
    drop(built);
}

static void every_card_has_a_line_and_no_line_is_cut(void **) {
    char all[1024], line[1024];
    host_cuda.devices = 3;
    host_cuda.old_devices = 1 << 1;
    backend_cuda.describe(all, sizeof all);
    const char *second = strchr(all, '\n'), *third = strrchr(all, '\n');
    assert_true(second && third && second < third);
    assert_memory_equal(all, "cuda:0 host emulation, ", 23);
    assert_memory_equal(second + 1, "cuda:1 cannot be used: ", 23);
    assert_memory_equal(third + 1, "cuda:2 host emulation, ", 23);
    assert_null(strstr(third + 1, "cannot"));
    for (size_t bytes = 1; bytes <= strlen(all) + 1; bytes++) {
        memset(line, 'x', sizeof line);
        backend_cuda.describe(line, bytes);
        size_t length = strlen(line);
        assert_true(length < bytes && line[bytes] == 'x');
        assert_memory_equal(line, all, length);
        bool is_first_cut = bytes <= (size_t)(second - all);
        assert_true(is_first_cut ? length == bytes - 1 : all[length] == '\n' || !all[length]);
    }
}

static void weights_without_kernels_are_refused_with_a_way_out(void **) {
    struct built built = build(&small);
    struct tensor *up = &built.model->layers[1].up;
    const enum gguf_tensor_type kept = up->type;
    up->type = GGUF_TENSOR_Q6_K;
    assert_refused(built.model, -1,
                   "the GPU has no kernels for Q6_K weights, and the up weights are: use "
                   "--device cpu");
    up->type = kept;
    drop(built);
}

// --- Memory ---

static void a_full_card_is_told_with_bytes_needed_and_free(void **) {
    struct built built = build(&small);
    host_cuda.memory_bytes = 300000;
    assert_refused(built.model, -1, "and 0.00 GB are free: take a smaller model, or --device cpu");
    host_cuda.memory_bytes = 10000000;
    assert_refused(built.model, -1, "and 0.01 GB are free: take a shorter context");
    for (int n = 1; n <= 2; n++) { // the weights, then cache and scratch
        host_cuda_reset();
        host_cuda.refused_allocation = n; // free by the card's word, and yet refused
        assert_refused(built.model, -1,
                       "and 1.07 GB are free, but the card refused them: close other programs");
    }
    drop(built);
}

static void a_full_card_is_told_with_the_shape_that_fits(void **) {
    struct shape_preset preset = {
        "little", {64, 2, 4, 2, 16, 96, 80, 96, 1e-5f, 1e4f, false}, GGUF_TENSOR_F32};
    struct model *made = NULL;
    struct why why = {0};
    assert_good(shape_model(&made, &preset, GGUF_TENSOR_F32, 7, &why), why.text);
    host_cuda.memory_bytes = 100000;
    assert_refused(made, -1, "0.00 GB are free: no shape of this program fits");
    model_close(made);
    // Nothing is made of it before it is refused.
    const struct shape_preset *large = shape_find("llama-3-8b", &why);
    assert_non_null(large);
    assert_good(shape_model(&made, large, GGUF_TENSOR_Q4_0, 7, &why), why.text);
    host_cuda.memory_bytes = (size_t)2 << 30;
    assert_refused(made, -1, "2.15 GB are free: take llama-3.2-1b");
    made->is_made = false; // as a file's weights
    unsigned char byte = 0;
    for (int i = 0; i < shape_matrices(made); i++)
        const_cast<struct tensor *>(shape_matrix(made, i))->data = &byte;
    made->output.data = &byte;
    assert_refused(made, -1, "take a smaller model (--shape llama-3.2-1b fits), or --device cpu");
    model_close(made);
}

// Each allocation of opening is refused in turn: a line that names memory, nothing kept,
// and the next opening finds nothing of it.
static void memory_that_runs_out_anywhere_is_a_line(void **) {
    static struct runner r;
    struct built built = build(&small);
    int refused = 0;
    for (long n = 1;; n++, refused++) {
        struct backend_state *state = NULL;
        struct backend_opts opts = usual_opts(built.model);
        struct why why = {0};
        int32_t token = 1;
        host_cuda.refused_allocation = n;
        bool ok = backend_cuda.open(&state, built.model, &opts, &why);
        backend_cuda.close(state);
        assert_int_equal(host_cuda.used_bytes, 0);
        if (ok)
            break;
        assert_true(strstr(why.text, "memory") || strstr(why.text, "room"));
        host_cuda.refused_allocation = 0;
        open_runner(&r, &backend_cuda, built.model);
        feed(&r, &token, 1, 0);
        backend_cuda.close(r.state);
    }
    assert_true(refused >= 5); // weights, the rest, products, staging, marks
    drop(built);
}

// --- A lost device ---

static void prepare(struct backend_pass *pass, int count, float *logits, int32_t *greedy_id) {
    static const int32_t tokens[130] = {1, 2, 3};
    memset(pass, 0, sizeof *pass);
    pass->tokens = tokens;
    pass->count = count;
    pass->logits = logits;
    pass->greedy_id = greedy_id;
}

// The device is lost at every call of opening and of passes of all kinds in turn.
static void a_device_lost_at_any_call_is_a_line(void **) {
    struct built built = build(&gguf_builder_small);
    int refused = 0;
    bool is_through = false;
    for (long calls = 1; !is_through; calls++) {
        struct backend_state *state = NULL;
        struct backend_opts opts = {};
        struct why why = {0};
        struct backend_pass pass;
        float logits[96];
        int32_t greedy_id;
        opts.context = 8;
        host_cuda_reset();
        cuda_on_host_fail_after(calls);
        prepare(&pass, 3, logits, &greedy_id);
        bool ok = backend_cuda.open(&state, built.model, &opts, &why) &&
                  backend_cuda.pass(state, &pass, &why);
        pass.count = 1;
        ok = ok && backend_cuda.pass(state, &pass, &why);
        is_through = ok;
        if (!ok)
            assert_says(why.text, "GPU");
        refused += !ok;
        backend_cuda.close(state);
        assert_int_equal(host_cuda.used_bytes, 0);
    }
    assert_true(refused > 50);
    drop(built);
}

static long calls_of(const struct model *model, const struct backend_pass *pass) {
    const long many = 1000000;
    struct backend_state *state = NULL;
    struct backend_opts opts = usual_opts(model);
    struct why why = {0};
    opts.context = 200;
    assert_good(backend_cuda.open(&state, model, &opts, &why), why.text);
    cuda_on_host_fail_after(many);
    assert_good(backend_cuda.pass(state, pass, &why), why.text);
    long calls = many - host_cuda.fail_after;
    cuda_on_host_fail_after(-1);
    backend_cuda.close(state);
    return calls;
}

// A pass fails at each of its calls; the state then refuses whatever comes with the same
// reason, although the device would answer again, and closes.
static void a_pass_that_failed_ends_the_state(void **) {
    static const struct gguf_builder_llama halves = {16, 1, 2, 1, 8, 24, 20, 200, 1, true};
    struct built built = build(&halves);
    float logits[96];
    int32_t greedy_id;
    for (int count : {1, 3, 130}) {
        struct backend_pass pass;
        prepare(&pass, count, logits, &greedy_id);
        long calls = calls_of(built.model, &pass);
        assert_true(calls >= 4);
        for (long n = 1; n <= calls; n++) {
            struct backend_state *state = NULL;
            struct backend_opts opts = usual_opts(built.model);
            struct device_rates rates;
            struct why why = {0};
            struct why again = {0};
            opts.context = 200;
            assert_good(backend_cuda.open(&state, built.model, &opts, &why), why.text);
            cuda_on_host_fail_after(n);
            assert_false(backend_cuda.pass(state, &pass, &why));
            assert_says(why.text, "GPU could not");
            cuda_on_host_fail_after(-1);
            assert_false(backend_cuda.pass(state, &pass, &again));
            assert_says(again.text,
                        "failed in an earlier pass and cannot go on: the GPU could not");
            assert_non_null(strstr(again.text, why.text));
            assert_false(backend_cuda.pass(state, &pass, NULL)); // nobody need ask why
            assert_false(backend_cuda.measure_rates(state, 4096, &rates, &again));
            assert_says(again.text, "cannot go on");
            backend_cuda.close(state);
            assert_int_equal(host_cuda.used_bytes, 0);
        }
    }
    drop(built);
}

// Every call of closing fails as well; and a state that was well until then.
static void closing_a_lost_device_gives_everything_back(void **) {
    struct built built = build(&small);
    for (long n = 1; n < 12; n++) {
        static struct runner r;
        int32_t token = 1;
        host_cuda_reset();
        host_cuda.is_lazy = n % 2 == 0;
        open_runner(&r, &backend_cuda, built.model);
        feed(&r, &token, 1, 0);
        cuda_on_host_fail_after(n);
        backend_cuda.close(r.state);
        assert_int_equal(host_cuda.used_bytes, 0);
        assert_null(host_cuda_failure());
        cuda_on_host_fail_after(-1);
        assert_int_equal(cudaGetLastError(), cudaSuccess);
    }
    drop(built);
}

static void rates_that_find_no_memory_leave_the_state_good(void **) {
    static struct runner r;
    struct built built = build(&small);
    struct device_rates rates;
    struct why why = {0};
    int32_t token = 1;
    open_runner(&r, &backend_cuda, built.model);
    host_cuda.refused_allocation = 1;
    assert_false(backend_cuda.measure_rates(r.state, 4096, &rates, &why));
    assert_says(why.text, "take memory to measure rates: out of memory");
    struct run_info info = {};
    feed(&r, &token, 1, 0);
    backend_cuda.fill_info(r.state, &info);
    assert_null(strstr(info.driver, "no graph")); // it took the refusal for none of its own
    backend_cuda.close(r.state);
    drop(built);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_machine_without_a_good_card_is_told_what_it_lacks, setup),
        cmocka_unit_test_setup(the_card_that_is_asked_for_is_taken_and_else_the_first_that_works,
                               setup),
        cmocka_unit_test_setup(every_card_has_a_line_and_no_line_is_cut, setup),
        cmocka_unit_test_setup(weights_without_kernels_are_refused_with_a_way_out, setup),
        cmocka_unit_test_setup(a_full_card_is_told_with_bytes_needed_and_free, setup),
        cmocka_unit_test_setup(a_full_card_is_told_with_the_shape_that_fits, setup),
        cmocka_unit_test_setup(memory_that_runs_out_anywhere_is_a_line, setup),
        cmocka_unit_test_setup(a_device_lost_at_any_call_is_a_line, setup),
        cmocka_unit_test_setup(a_pass_that_failed_ends_the_state, setup),
        cmocka_unit_test_setup(closing_a_lost_device_gives_everything_back, setup),
        cmocka_unit_test_setup(rates_that_find_no_memory_leave_the_state_good, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
