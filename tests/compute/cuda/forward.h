// What the tests of whole passes share, on the emulated device and on a real one: a
// backend and the CPU side by side over the same model in any format.
#ifndef TESTS_COMPUTE_CUDA_FORWARD_H
#define TESTS_COMPUTE_CUDA_FORWARD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include <cmocka.h>

#include "compute/backend/backend.h"
#include "compute/base/stopwatch.h"
#include "compute/model/sampler.h"
#include "compute/model/shape.h"
}

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vector>

#include "tests/compute/gguf/quant_rows.h"

enum { MOST_VOCAB = 4096, CONTEXT = 96, PROMPT = 19, ANSWER = 3 };

// --- Models ---

// What else may have gone wrong, NULL = nothing; set by a test that knows more.
static const char *(*other_failure)(void);

static inline void assert_good(bool ok, const char *why) {
    if (!ok)
        fail_msg("%s", why);
    if (other_failure && other_failure())
        fail_msg("%s", other_failure());
}

static inline struct model *open_model(const char *path) {
    struct why why = {0};
    struct model *model = NULL;
    assert_good(model_open(&model, path, &why), why.text);
    return model;
}

// A copy of the model with its matrices in another format, those of odd rows as floats.
struct converted {
    struct model model;
    std::vector<struct model_layer> layers;
    std::vector<std::vector<unsigned char>> bytes;
};

static inline void convert(struct converted *out, const struct model *from,
                           enum gguf_tensor_type type) {
    out->model = *from;
    out->layers.assign(from->layers, from->layers + from->shape.layers);
    out->model.layers = out->layers.data();
    out->bytes.resize((size_t)shape_matrices(from));
    for (int i = 0; i < shape_matrices(from); i++) {
        struct tensor *matrix = const_cast<struct tensor *>(shape_matrix(&out->model, i));
        const struct tensor old = *matrix;
        const size_t cols = (size_t)old.cols, old_bytes = quant_row_bytes(old.type, old.cols);
        matrix->type = quant_row_bytes(type, old.cols) ? type : GGUF_TENSOR_F32;
        const size_t row_bytes = quant_row_bytes(matrix->type, old.cols);
        std::vector<unsigned char> &to = out->bytes[(size_t)i];
        std::vector<float> numbers(cols);
        to.resize((size_t)old.rows * row_bytes);
        for (size_t r = 0; r < (size_t)old.rows; r++) {
            quant_row_to_float(numbers.data(), old.type,
                               static_cast<const unsigned char *>(old.data) + r * old_bytes, cols);
            quant_row_from_float(to.data() + r * row_bytes, matrix->type, numbers.data(), cols);
        }
        matrix->data = to.data();
        matrix->bytes = to.size();
    }
    if (from->shape.tied_output)
        out->model.output = out->model.token_embd;
}

// --- Two backends side by side ---

struct runner {
    const struct backend *backend;
    struct backend_state *state;
    const struct model *model;
    struct backend_opts opts;
    int marks; // told in this pass
    int64_t first_mark_ns, last_mark_ns;
    bool marks_ascend;
    float logits[MOST_VOCAB];
};

static inline void on_mark(void *context, int stage, int64_t end_ns) {
    struct runner *r = static_cast<struct runner *>(context);
    const int layers = r->model->shape.layers;
    int wanted = r->opts.marks == BACKEND_MARKS_ENDS ? r->marks * layers : r->marks;
    r->marks_ascend = r->marks_ascend && stage == wanted && end_ns >= r->last_mark_ns;
    r->last_mark_ns = end_ns;
    if (stage == 0)
        r->first_mark_ns = end_ns;
    r->marks++;
}

static inline struct backend_opts usual_opts(const struct model *model) {
    struct backend_opts opts = {};
    opts.threads = 1;
    opts.device = -1;
    opts.context = CONTEXT < model->shape.context ? CONTEXT : model->shape.context;
    return opts;
}

static inline void open_runner_with(struct runner *r, const struct backend *backend,
                                    const struct model *model, const struct backend_opts &opts) {
    struct why why = {0};
    memset(r, 0, sizeof *r);
    r->backend = backend;
    r->model = model;
    r->opts = opts;
    assert_in_range(model->shape.vocab, 1, MOST_VOCAB);
    assert_good(backend->open(&r->state, model, &opts, &why), why.text);
}

static inline void open_runner(struct runner *r, const struct backend *backend,
                               const struct model *model) {
    open_runner_with(r, backend, model, usual_opts(model));
}

// The greedy id of the backend, which must be that of its logits.
static inline int32_t feed(struct runner *r, const int32_t *tokens, int count, int first) {
    struct why why = {0};
    struct backend_pass pass = {};
    int32_t greedy_id = -2;
    pass.tokens = tokens;
    pass.count = count;
    pass.first_position = first;
    pass.logits = r->logits;
    pass.greedy_id = &greedy_id;
    pass.on_mark = on_mark;
    pass.context = r;
    r->marks = 0;
    r->marks_ascend = true;
    for (int i = 0; i < MOST_VOCAB; i++)
        r->logits[i] = NAN;
    assert_good(r->backend->pass(r->state, &pass, &why), why.text);
    const int all = r->model->shape.layers + 1;
    assert_int_equal(r->marks, r->opts.marks == BACKEND_MARKS_ALL    ? all
                               : r->opts.marks == BACKEND_MARKS_NONE ? 0
                                                                     : 2);
    assert_true(r->marks_ascend);
    struct sampler greedy = {};
    int32_t sampled = sampler_next(&greedy, r->logits, r->model->shape.vocab, NULL, NULL, NULL, 0);
    assert_int_equal(greedy_id, sampled);
    return sampled;
}

static inline double error_of(const struct runner *got, const struct runner *wanted) {
    double squares = 0, apart = 0;
    for (int i = 0; i < got->model->shape.vocab; i++) {
        double difference = (double)got->logits[i] - (double)wanted->logits[i];
        apart += difference * difference;
        squares += (double)wanted->logits[i] * (double)wanted->logits[i];
    }
    return apart / squares;
}

// A gap between the two best logits that the error could not close.
static inline bool is_clear(const struct runner *r, double nmse) {
    double best = -INFINITY, second = -INFINITY, squares = 0;
    for (int i = 0; i < r->model->shape.vocab; i++) {
        double x = (double)r->logits[i];
        second = x > best ? best : fmax(second, x);
        best = fmax(best, x);
        squares += x * x;
    }
    return best - second > 4 * sqrt(nmse * squares / r->model->shape.vocab);
}

static inline void make_prompt(int32_t *prompt, const struct model *model) {
    for (int i = 0; i < PROMPT; i++)
        prompt[i] = i == 0 ? 1 : (7 + 11 * i) % model->shape.vocab;
}

// The prompt in one pass and an answer step by step, both on the CPU's own tokens.
static inline void compare_with_cpu(const struct backend *backend, const struct model *model,
                                    double most_error, int answer) {
    static struct runner cuda, cpu;
    int32_t prompt[PROMPT];
    make_prompt(prompt, model);
    open_runner(&cuda, backend, model);
    open_runner(&cpu, &backend_cpu, model);
    int32_t wanted = feed(&cpu, prompt, PROMPT, 0), got = feed(&cuda, prompt, PROMPT, 0);
    for (int n = 0; n < answer; n++) {
        double error = error_of(&cuda, &cpu);
        if (!(error <= most_error))
            fail_msg("NMSE %.3g after token %d, at most %.3g", error, n, most_error);
        if (got != wanted && is_clear(&cpu, most_error))
            fail_msg("token %d is %d, expected %d", n, (int)got, (int)wanted);
        int32_t token = wanted;
        wanted = feed(&cpu, &token, 1, PROMPT + n);
        got = feed(&cuda, &token, 1, PROMPT + n);
    }
    cuda.backend->close(cuda.state);
    cpu.backend->close(cpu.state);
}

static inline const char *stories(void) {
    static char path[512];
    const char *folder = getenv("TOKENDRIP_TESTDATA");
#ifdef TOKENDRIP_TESTDATA
    folder = folder ? folder : TOKENDRIP_TESTDATA;
#endif
    snprintf(path, sizeof path, "%s/stories260K/stories260K.f32.gguf", folder ? folder : "");
    if (access(path, R_OK) != 0) {
        print_message("no %s: set TOKENDRIP_TESTDATA\n", path);
        skip();
    }
    return path;
}

static inline const char *bundled(void) {
    return TOKENDRIP_SOURCE_DIR "/assets/model/tokendrip.gguf";
}

#endif
