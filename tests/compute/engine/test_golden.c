// Golden values: what two whole models must answer, to the token and to 1e-4 of a
// logit, with every instruction set this processor can run and on one and two
// threads. stories260K's values come from another program (llama2.c), those of the
// bundled model from a numpy pass in assets/model/train.py; either test skips where
// its files are absent.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/backend/backend.h"
#include "compute/base/why.h"
#include "compute/cpu/kernels.h"
#include "compute/model/sampler.h"
#include "compute/model/shape.h"
#include "tests/compute/gguf/quant_rows.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TOKENS = 512, MOST_VOCAB = 4096 };

// --- Files ---

static const char *testdata(void) {
    const char *folder = getenv("TOKENDRIP_TESTDATA");
#ifdef TOKENDRIP_TESTDATA
    folder = folder ? folder : TOKENDRIP_TESTDATA;
#endif
    return folder ? folder : "";
}

static json_t *load_json(const char *path) {
    json_error_t error;
    json_t *json = json_load_file(path, 0, &error);
    if (!json)
        fail_msg("%s: %s", path, error.text);
    return json;
}

static int ids_of(const json_t *list, int32_t *out) {
    int count = (int)json_array_size(list);
    assert_in_range(count, 1, MOST_TOKENS);
    for (int i = 0; i < count; i++)
        out[i] = (int32_t)json_integer_value(json_array_get(list, (size_t)i));
    return count;
}

static void assert_logits(const float *got, const json_t *wanted, int vocab, const char *what) {
    assert_int_equal(json_array_size(wanted), vocab);
    for (int i = 0; i < vocab; i++) {
        double value = json_number_value(json_array_get(wanted, (size_t)i));
        if (!(fabs((double)got[i] - value) <= 1e-4))
            fail_msg("%s: logit %d is %.7g, expected %.7g", what, i, (double)got[i], value);
    }
}

// --- One model on one backend state ---

struct runner {
    const struct model *model;
    struct backend_state *state;
    const char *isa;
    float logits[MOST_VOCAB];
    char what[96];
};

static void open_runner(struct runner *runner, const struct model *model, const char *isa,
                        int threads) {
    struct why why = {0};
    struct backend_opts opts = {.threads = threads, .context = MOST_TOKENS, .isa = isa};
    runner->model = model;
    runner->isa = isa;
    assert_in_range(model->shape.vocab, 1, MOST_VOCAB);
    if (!backend_cpu.open(&runner->state, model, &opts, &why))
        fail_msg("%s", why.text);
}

// The greedy choice after `count` tokens.
static int32_t feed(struct runner *runner, const int32_t *tokens, int count, int first) {
    struct why why = {0};
    struct backend_pass pass = {
        .tokens = tokens, .count = count, .first_position = first, .logits = runner->logits};
    if (!backend_cpu.pass(runner->state, &pass, &why))
        fail_msg("%s", why.text);
    struct sampler greedy = {0};
    return sampler_next(&greedy, runner->logits, runner->model->shape.vocab, NULL, NULL, NULL, 0);
}

// Calls `check` with every instruction set, on one thread and on two.
static void with_every_set(const struct model *model, const json_t *golden,
                           void (*check)(struct runner *runner, const json_t *golden)) {
    static struct runner runner;
    for (int i = 0; kernels_at(i); i++) {
        for (int threads = 1; threads <= 2; threads++) {
            open_runner(&runner, model, kernels_at(i)->isa, threads);
            snprintf(runner.what, sizeof(runner.what), "%s, %d threads", kernels_at(i)->isa,
                     threads);
            check(&runner, golden);
            backend_cpu.close(runner.state);
        }
    }
}

static struct model *open_model(const char *path) {
    struct why why = {0};
    struct model *model;
    if (!model_open(&model, path, &why))
        fail_msg("%s", why.text);
    return model;
}

// --- stories260K ---

static const json_t *golden_at(const json_t *golden, int position) {
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(golden, "logits"), i, row) {
        if (json_integer_value(json_object_get(row, "pos")) == position)
            return json_object_get(row, "logits");
    }
    return NULL;
}

static void check_stories_steps(struct runner *runner, const json_t *golden) {
    int32_t ids[MOST_TOKENS];
    int count = ids_of(json_object_get(golden, "greedy_ids"), ids);
    int32_t token = 1; // begin of text
    int compared = 0;
    for (int p = 0; p < count; p++) {
        token = feed(runner, &token, 1, p);
        if (token != ids[p])
            fail_msg("%s: token %d is %d, expected %d", runner->what, p, (int)token, (int)ids[p]);
        const json_t *wanted = golden_at(golden, p);
        if (wanted)
            assert_logits(runner->logits, wanted, runner->model->shape.vocab, runner->what);
        compared += wanted != NULL;
    }
    assert_int_equal(count, 256);
    assert_int_equal(compared, 5);
}

static void check_stories_prefill(struct runner *runner, const json_t *golden) {
    static const int positions[] = {0, 1, 7, 63, 200};
    int32_t ids[MOST_TOKENS] = {1};
    ids_of(json_object_get(golden, "greedy_ids"), ids + 1);
    for (size_t i = 0; i < sizeof(positions) / sizeof(positions[0]); i++) {
        feed(runner, ids, positions[i] + 1, 0);
        assert_logits(runner->logits, golden_at(golden, positions[i]), runner->model->shape.vocab,
                      runner->what);
    }
}

static void with_stories(void (*check)(struct runner *runner, const json_t *golden)) {
    char model_path[512], golden_path[512];
    snprintf(model_path, sizeof(model_path), "%s/stories260K/stories260K.f32.gguf", testdata());
    snprintf(golden_path, sizeof(golden_path), "%s/stories260K/stories260K.golden.json",
             testdata());
    if (access(model_path, R_OK) != 0 || access(golden_path, R_OK) != 0) {
        print_message("no %s: set TOKENDRIP_TESTDATA to the folder with stories260K/\n",
                      model_path);
        skip();
    }
    struct model *model = open_model(model_path);
    json_t *golden = load_json(golden_path);
    with_every_set(model, golden, check);
    json_decref(golden);
    model_close(model);
}

static void stories_gives_its_256_greedy_tokens_and_five_rows_of_logits(void **state) {
    (void)state;
    with_stories(check_stories_steps);
}

static void stories_prefill_gives_the_same_logits(void **state) {
    (void)state;
    with_stories(check_stories_prefill);
}

// --- The bundled model ---

// The end token is fed back like any other here, so that the answer goes on.
static void check_bundled(struct runner *runner, const json_t *golden) {
    size_t i;
    json_t *row;
    assert_true(json_array_size(json_object_get(golden, "prompts")) > 0);
    json_array_foreach(json_object_get(golden, "prompts"), i, row) {
        int32_t prompt[MOST_TOKENS], answer[MOST_TOKENS];
        int prompt_count = ids_of(json_object_get(row, "ids"), prompt);
        int answer_count = ids_of(json_object_get(row, "greedy"), answer);
        int vocab = runner->model->shape.vocab;
        int32_t token = feed(runner, prompt, prompt_count, 0);
        assert_logits(runner->logits, json_object_get(row, "logits_last"), vocab, runner->what);
        for (int n = 0; n < answer_count; n++) {
            if (token != answer[n])
                fail_msg("%s: prompt %zu, token %d is %d, expected %d", runner->what, i, n,
                         (int)token, (int)answer[n]);
            if (n == 2)
                assert_logits(runner->logits, json_object_get(row, "logits_step3"), vocab,
                              runner->what);
            token = feed(runner, &token, 1, prompt_count + n);
        }
    }
}

// Prefill against token by token: the same logits, for the whole prompt. The long
// prompts go through the best set alone, since plain steps take their time.
static void check_bundled_steps(struct runner *runner, const json_t *golden) {
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(golden, "prompts"), i, row) {
        int32_t prompt[MOST_TOKENS];
        int count = ids_of(json_object_get(row, "ids"), prompt);
        if (count > 64 && runner->isa != kernels_at(0)->isa)
            continue;
        for (int p = 0; p < count; p++)
            feed(runner, &prompt[p], 1, p);
        assert_logits(runner->logits, json_object_get(row, "logits_last"),
                      runner->model->shape.vocab, runner->what);
    }
}

static void with_bundled(void (*check)(struct runner *runner, const json_t *golden)) {
    const char *model_path = TOKENDRIP_SOURCE_DIR "/assets/model/tokendrip.gguf";
    const char *golden_path = TOKENDRIP_SOURCE_DIR "/assets/model/golden.json";
    if (access(model_path, R_OK) != 0 || access(golden_path, R_OK) != 0) {
        print_message("no %s or golden.json: run assets/model/train.py\n", model_path);
        skip();
    }
    struct model *model = open_model(model_path);
    json_t *golden = load_json(golden_path);
    with_every_set(model, golden, check);
    json_decref(golden);
    model_close(model);
}

static void the_bundled_model_gives_its_golden_answers(void **state) {
    (void)state;
    with_bundled(check_bundled);
}

static void the_bundled_models_prefill_equals_single_steps(void **state) {
    (void)state;
    with_bundled(check_bundled_steps);
}

// --- Both, with their weights in other formats ---

// The model with every matrix that has whole blocks quantised to `type`, the numbers
// then kept as they are or, is_wide, as the floats they stand for.
static struct model *quantised(const struct model *model, enum gguf_tensor_type type,
                               bool is_wide) {
    struct model *copy = malloc(sizeof(*copy));
    size_t layers_bytes = (size_t)model->shape.layers * sizeof(*model->layers);
    assert_non_null(copy);
    *copy = *model;
    copy->layers = malloc(layers_bytes);
    assert_non_null(copy->layers);
    memcpy(copy->layers, model->layers, layers_bytes);
    for (int i = 0; i < shape_matrices(copy); i++) {
        struct tensor *matrix = (struct tensor *)(uintptr_t)shape_matrix(copy, i);
        const struct tensor from = *matrix;
        size_t cols = (size_t)from.cols, row_bytes = quant_row_bytes(type, from.cols);
        matrix->type = is_wide || row_bytes == 0 ? GGUF_TENSOR_F32 : type;
        matrix->bytes = (size_t)from.rows * quant_row_bytes(matrix->type, from.cols);
        unsigned char *to = malloc(matrix->bytes), packed[4096];
        assert_true(to && quant_row_bytes(GGUF_TENSOR_F32, from.cols) <= sizeof(packed));
        for (int64_t r = 0; r < from.rows; r++) {
            float numbers[sizeof(packed) / sizeof(float)];
            const unsigned char *row = (const unsigned char *)from.data +
                                       (size_t)r * quant_row_bytes(from.type, from.cols);
            quant_row_to_float(numbers, from.type, row, cols);
            if (row_bytes != 0) {
                quant_row_from_float(packed, type, numbers, cols);
                quant_row_to_float(numbers, type, packed, cols);
            }
            quant_row_from_float(to + (size_t)r * quant_row_bytes(matrix->type, from.cols),
                                 matrix->type, numbers, cols);
        }
        matrix->data = to;
    }
    if (copy->shape.tied_output)
        copy->output = copy->token_embd;
    return copy;
}

static void free_quantised(struct model *copy) {
    for (int i = 0; i < shape_matrices(copy); i++)
        free((void *)(uintptr_t)shape_matrix(copy, i)->data);
    free(copy->layers);
    free(copy);
}

// Numbers are multiplied as they stand there: NMSE of the logits <= 1e-6, and the same greedy
// tokens. Blocks are multiplied with tokens rounded to 127 steps, each off by 1 / sqrt(12) of a
// step: with a largest number of three times the mean, NMSE 5e-5 a product, of which the
// stream adds up those of all layers. The next token is then that of the numbers.
static void same_answers(const struct model *packed, const struct model *wide, const char *isa) {
    enum { PROMPT = 19, ANSWER = 40 };
    bool is_rounded = quant_format(packed->token_embd.type)->block > 1;
    double bound = is_rounded ? 1e-3 : 1e-6;
    static struct runner got, wanted;
    int32_t prompt[PROMPT] = {1};
    for (int i = 1; i < PROMPT; i++)
        prompt[i] = 259 + 11 * i;
    open_runner(&got, packed, isa, 2);
    open_runner(&wanted, wide, "plain", 1);
    int32_t id = feed(&got, prompt, PROMPT, 0), other = feed(&wanted, prompt, PROMPT, 0);
    for (int n = 0; n < ANSWER; n++) {
        double squares = 0, apart = 0;
        for (int i = 0; i < packed->shape.vocab; i++) {
            double difference = (double)got.logits[i] - (double)wanted.logits[i];
            apart += difference * difference;
            squares += (double)wanted.logits[i] * (double)wanted.logits[i];
        }
        if (!(apart <= bound * squares))
            fail_msg("%s, %s: NMSE %.3g after token %d", packed->name, isa, apart / squares, n);
        if (id != other && !is_rounded)
            fail_msg("%s, %s: token %d is %d, expected %d", packed->name, isa, n, (int)id,
                     (int)other);
        id = feed(&got, &other, 1, PROMPT + n);
        other = feed(&wanted, &other, 1, PROMPT + n);
    }
    backend_cpu.close(got.state);
    backend_cpu.close(wanted.state);
}

static void check_formats(const char *path) {
    static const enum gguf_tensor_type formats[] = {GGUF_TENSOR_F16, GGUF_TENSOR_BF16,
                                                    GGUF_TENSOR_Q8_0, GGUF_TENSOR_Q4_0};
    if (access(path, R_OK) != 0) {
        print_message("no %s\n", path);
        skip();
    }
    struct model *model = open_model(path);
    for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
        struct model *packed = quantised(model, formats[f], false);
        struct model *wide = quantised(model, formats[f], true);
        assert_int_equal(packed->token_embd.type, formats[f]);
        for (int i = 0; kernels_at(i); i++)
            same_answers(packed, wide, kernels_at(i)->isa);
        free_quantised(packed);
        free_quantised(wide);
    }
    model_close(model);
}

static void stories_in_every_format_answers_as_the_numbers_it_stands_for(void **state) {
    char path[512];
    (void)state;
    snprintf(path, sizeof(path), "%s/stories260K/stories260K.f32.gguf", testdata());
    check_formats(path);
}

static void the_bundled_model_in_every_format_answers_as_its_numbers(void **state) {
    (void)state;
    check_formats(TOKENDRIP_SOURCE_DIR "/assets/model/tokendrip.gguf");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stories_gives_its_256_greedy_tokens_and_five_rows_of_logits),
        cmocka_unit_test(stories_prefill_gives_the_same_logits),
        cmocka_unit_test(the_bundled_model_gives_its_golden_answers),
        cmocka_unit_test(the_bundled_models_prefill_equals_single_steps),
        cmocka_unit_test(stories_in_every_format_answers_as_the_numbers_it_stands_for),
        cmocka_unit_test(the_bundled_model_in_every_format_answers_as_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
