// Tests of models made from a shape: the presets against the parameter counts their
// makers publish, places and bytes of the largest without taking them, the spread of
// the random numbers, and that who makes them and on how many threads cannot be told
// from the result.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/backend/backend.h"
#include "compute/base/why.h"
#include "compute/model/shape.h"
#include "tests/compute/gguf/quant_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum gguf_tensor_type types[] = {
    GGUF_TENSOR_F32, GGUF_TENSOR_F16, GGUF_TENSOR_BF16, GGUF_TENSOR_Q8_0, GGUF_TENSOR_Q4_0,
};
enum { TYPES = sizeof(types) / sizeof(types[0]) };

static struct why why;

static struct model *model_of(const struct shape_preset *preset, enum gguf_tensor_type type) {
    struct model *model;
    if (!shape_model(&model, preset, type, 1, &why))
        fail_msg("%s", why.text);
    return model;
}

// --- Presets ---

static void presets_have_as_many_parameters_as_is_published(void **state) {
    static const struct {
        const char *name;
        int64_t parameters;
    } published[] = {
        {"stories-110m", 109529856},           {"smollm2-135m", 134515008},
        {"llama-3.2-1b", 1235814400},          {"llama-3-8b", INT64_C(8030261248)},
        {"llama-3-70b", INT64_C(70553706496)},
    };
    (void)state;
    int count = sizeof published / sizeof published[0];
    for (int i = 0; i < count; i++) {
        const struct shape_preset *preset = shape_find(published[i].name, &why);
        assert_ptr_equal(preset, shape_at(i));
        struct model *model = model_of(preset, preset->type);
        assert_true(model_parameters(model) == published[i].parameters);
        assert_string_equal(model->name, published[i].name);
        assert_string_equal(model->weights, "synthetic");
        assert_string_equal(model_weight_type(model), gguf_tensor_type_name(preset->type));
        assert_true(preset->shape.heads % preset->shape.kv_heads == 0);
        assert_true(preset->shape.context <= MODEL_MAX_CONTEXT);
        model_close(model);
    }
    assert_null(shape_at(count));
    assert_null(shape_at(-1));
}

static void an_unknown_shape_is_refused_with_all_names(void **state) {
    (void)state;
    assert_null(shape_find("llama-3-9b", &why));
    assert_non_null(strstr(why.text, "\"llama-3-9b\""));
    for (int i = 0; shape_at(i); i++)
        assert_non_null(strstr(why.text, shape_at(i)->name));
}

static void blocks_that_do_not_fill_the_rows_are_refused(void **state) {
    (void)state;
    struct model *model;
    assert_false(shape_model(&model, shape_find("smollm2-135m", &why), GGUF_TENSOR_Q4_K, 1, &why));
    assert_non_null(strstr(why.text, "smollm2-135m has rows of 576 numbers, and Q4_K comes in "
                                     "blocks of 256: take q8_0"));
}

// Nothing is taken: only addresses are computed with.
static void matrices_lie_side_by_side_also_beyond_4_gb(void **state) {
    (void)state;
    for (int i = 0; shape_at(i); i++) {
        for (int t = 0; t < TYPES; t++) {
            struct model *made = model_of(shape_at(i), types[t]), *placed;
            size_t total = shape_bytes(shape_at(i), types[t]);
            assert_int_equal(shape_model_bytes(made), total);
            assert_true(shape_place(&placed, made, (void *)(uintptr_t)4096, &why));
            uintptr_t at = 4096;
            size_t exact = 0;
            for (int m = 0; m < shape_matrices(placed); m++) {
                const struct tensor *matrix = shape_matrix(placed, m);
                assert_int_equal((uintptr_t)matrix->data % SHAPE_ALIGN_BYTES, 0);
                assert_true((uintptr_t)matrix->data >= at);
                assert_true((uintptr_t)matrix->data < at + SHAPE_ALIGN_BYTES);
                assert_null(shape_matrix(made, m)->data);
                at = (uintptr_t)matrix->data + matrix->bytes;
                exact += matrix->bytes;
            }
            assert_true(at <= 4096 + total && at + SHAPE_ALIGN_BYTES > 4096 + total);
            // The matrices are all parameters but the norms.
            int64_t norms = placed->shape.dim * (2 * (int64_t)placed->shape.layers + 1);
            assert_int_equal(exact, quant_row_bytes(types[t], model_parameters(made) - norms));
            assert_int_equal(model_step_weight_bytes(placed), model_step_weight_bytes(made));
            model_close(placed);
            model_close(made);
        }
    }
}

static void no_matrix_is_too_large_for_its_place(void **state) {
    (void)state;
    // 2^16 x 2^20 floats: a quarter of a terabyte each.
    struct shape_preset huge = *shape_at(3);
    huge.shape.dim = MODEL_MAX_DIM;
    huge.shape.vocab = MODEL_MAX_VOCAB;
    struct model *made = model_of(&huge, GGUF_TENSOR_F32), *placed;
    assert_true(shape_place(&placed, made, (void *)(uintptr_t)4096, &why));
    size_t head = (size_t)1 << 38;
    assert_true(placed->output.bytes == head);
    assert_true((uintptr_t)placed->output.data == 4096 + head);
    assert_true((uintptr_t)placed->layers[0].q.data == 4096 + 2 * head);
    assert_true(shape_model_bytes(made) == shape_bytes(&huge, GGUF_TENSOR_F32));
    assert_true(shape_model_bytes(made) > 2 * head);
    model_close(placed);
    model_close(made);
}

static void the_largest_has_the_bytes_that_arithmetic_gives(void **state) {
    (void)state;
    const struct shape_preset *preset = shape_find("llama-3-70b", &why);
    assert_true(shape_bytes(preset, GGUF_TENSOR_BF16) == (size_t)141104775168);
    struct model *model = model_of(preset, GGUF_TENSOR_BF16);
    // Every matrix but the embedding, one row of that, and 161 norms of floats.
    assert_true(model_step_weight_bytes(model) ==
                INT64_C(141104775168) - INT64_C(128256) * 8192 * 2 + 8192 * 2 + 161 * 8192 * 4);
    model_close(model);
}

static void a_model_that_does_not_fit_is_refused_with_one_that_does(void **state) {
    static const struct {
        size_t needed_more, free_bytes;
        const char *wanted;
    } rows[] = {
        {0, (size_t)20000000000, "take llama-3-8b"},
        {(size_t)3000000000, (size_t)6000000000, "take llama-3.2-1b"},
        {0, (size_t)100000000, "take smollm2-135m"},
        {(size_t)200000000, (size_t)100000000, "no shape of this program fits"},
        {0, 1000, "no shape of this program fits"},
    };
    (void)state;
    struct model *model = model_of(shape_find("llama-3-70b", &why), GGUF_TENSOR_Q4_0);
    size_t bytes = shape_model_bytes(model);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_false(shape_refuse(model, bytes + rows[i].needed_more, rows[i].free_bytes, &why));
        if (!strstr(why.text, rows[i].wanted))
            fail_msg("row %zu: %s", i, why.text);
        assert_non_null(strstr(why.text, "llama-3-70b with Q4_0 weights needs "));
    }
    model_close(model);
}

// --- The numbers ---

enum { ROWS = 512, COLS = 1024 };

static double correlation(const float *a, const float *b, size_t count) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < count; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / sqrt(aa * bb);
}

static void make(float *out, uint64_t seed, uint32_t stream) {
    struct tensor matrix = {.rows = ROWS, .cols = COLS};
    for (uint64_t r = 0; r < ROWS; r++) {
        struct shape_random_row keys = shape_random_keys(seed, stream, r);
        for (uint32_t c = 0; c < COLS; c++)
            out[r * COLS + c] = shape_random_value(keys, c, shape_scale(&matrix));
    }
}

static int compare_rows(const void *left, const void *right) {
    return memcmp(left, right, 4 * sizeof(float));
}

static void random_numbers_have_the_spread_of_one_over_root_of_fan_in(void **state) {
    (void)state;
    enum { COUNT = ROWS * COLS };
    float *numbers = malloc(COUNT * sizeof *numbers), *others = malloc(COUNT * sizeof *others);
    assert_true(numbers && others);
    make(numbers, 1, 0);
    double sum = 0, squares = 0, most = 0;
    int zeros = 0;
    for (int i = 0; i < COUNT; i++) {
        sum += (double)numbers[i];
        squares += (double)numbers[i] * (double)numbers[i];
        most = fmax(most, fabs((double)numbers[i]));
        zeros += numbers[i] == 0;
    }
    double wanted = 1 / sqrt(COLS), sd = sqrt(squares / COUNT);
    // Five times what chance allows for half a million numbers.
    assert_true(fabs(sum / COUNT) < 5 * wanted / sqrt(COUNT));
    assert_true(fabs(sd / wanted - 1) < 5e-3);
    assert_true(most <= 2.45 * wanted);
    assert_true(zeros < 50);

    // Neighbours, rows, matrices and seeds know nothing of each other.
    double limit = 5 / sqrt(COUNT);
    assert_true(fabs(correlation(numbers, numbers + 1, COUNT - 1)) < limit);
    assert_true(fabs(correlation(numbers, numbers + COLS, COUNT - COLS)) < limit);
    make(others, 1, 1);
    assert_true(fabs(correlation(numbers, others, COUNT)) < limit);
    make(others, 2, 0);
    assert_true(fabs(correlation(numbers, others, COUNT)) < limit);
    make(others, 1, 0);
    assert_memory_equal(numbers, others, COUNT * sizeof *numbers);

    // No four neighbours come twice, whole rows even less.
    qsort(numbers, COUNT / 4, 4 * sizeof *numbers, compare_rows);
    for (int i = 4; i < COUNT; i += 4)
        assert_true(compare_rows(numbers + i, numbers + i - 4) != 0);
    free(numbers);
    free(others);
}

// --- Backends ---

static const struct shape_preset little = {
    "little", {64, 2, 4, 2, 16, 96, 70, 128, 1e-5f, 1e4f, false}, GGUF_TENSOR_F16};
static const struct shape_preset little_tied = {
    "tied", {96, 3, 3, 3, 32, 160, 41, 64, 1e-5f, 5e5f, true}, GGUF_TENSOR_F16};

// Logits after a few tokens, of a state opened with so many threads.
static void answer(const struct model *model, int threads, float *logits) {
    static const int32_t tokens[] = {3, 1, 4, 1, 5, 9, 2, 6};
    struct backend_opts opts = {.threads = threads, .context = 32};
    struct backend_state *opened;
    struct backend_pass pass = {.tokens = tokens, .count = 8, .logits = logits};
    if (!backend_cpu.open(&opened, model, &opts, &why) || !backend_cpu.pass(opened, &pass, &why))
        fail_msg("%s", why.text);
    struct backend_pass step = {
        .tokens = tokens, .count = 1, .first_position = 8, .logits = logits};
    assert_true(backend_cpu.pass(opened, &step, &why));
    backend_cpu.close(opened);
}

// The same weights made here, by the plain words of shape.h.
static struct model *made_by_hand(const struct model *made, void **memory) {
    struct model *placed;
    *memory = aligned_alloc(SHAPE_ALIGN_BYTES, shape_model_bytes(made));
    assert_non_null(*memory);
    assert_true(shape_place(&placed, made, *memory, &why));
    placed->is_made = false;
    for (int m = 0; m < shape_matrices(placed); m++) {
        const struct tensor *matrix = shape_matrix(placed, m);
        float numbers[256];
        for (int64_t r = 0; r < matrix->rows; r++) {
            struct shape_random_row keys = shape_random_keys(made->seed, (uint32_t)m, (uint64_t)r);
            for (uint32_t c = 0; c < (uint32_t)matrix->cols; c++)
                numbers[c] = shape_random_value(keys, c, shape_scale(matrix));
            quant_row_from_float((unsigned char *)(uintptr_t)matrix->data +
                                     (size_t)r * quant_row_bytes(matrix->type, matrix->cols),
                                 matrix->type, numbers, (size_t)matrix->cols);
        }
    }
    return placed;
}

static void check_shape(const struct shape_preset *preset, enum gguf_tensor_type type) {
    float wanted[128], got[128];
    size_t bytes = (size_t)preset->shape.vocab * sizeof(float);
    struct model *made = model_of(preset, type);
    void *memory;
    struct model *by_hand = made_by_hand(made, &memory);
    answer(by_hand, 1, wanted);
    for (int i = 0; i < preset->shape.vocab; i++)
        assert_true(isfinite(wanted[i]));
    assert_true(wanted[0] != wanted[1]);
    for (int threads = 1; threads <= 3; threads++) {
        answer(made, threads, got);
        assert_memory_equal(got, wanted, bytes);
    }
    model_close(by_hand);
    free(memory);
    made->seed = 2;
    answer(made, 1, got);
    assert_memory_not_equal(got, wanted, bytes);
    model_close(made);
}

static void weights_are_the_same_on_any_number_of_threads(void **state) {
    (void)state;
    for (int t = 0; t < TYPES; t++) {
        check_shape(&little, types[t]);
        check_shape(&little_tied, types[t]);
    }
}

static void a_shape_that_is_too_large_is_refused_before_memory_is_taken(void **state) {
    (void)state;
    // 2^16 x 2^20 floats, twice: half a terabyte.
    struct shape_preset huge = little;
    huge.shape.dim = MODEL_MAX_DIM;
    huge.shape.vocab = MODEL_MAX_VOCAB;
    struct model *model = model_of(&huge, GGUF_TENSOR_F32);
    struct backend_opts opts = {.threads = 1, .context = 32};
    struct backend_state *opened;
    assert_false(backend_cpu.open(&opened, model, &opts, &why));
    assert_null(opened);
    assert_non_null(strstr(why.text, "little with F32 weights needs 5"));
    assert_non_null(strstr(why.text, "are free: take "));
    model_close(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presets_have_as_many_parameters_as_is_published),
        cmocka_unit_test(blocks_that_do_not_fill_the_rows_are_refused),
        cmocka_unit_test(an_unknown_shape_is_refused_with_all_names),
        cmocka_unit_test(matrices_lie_side_by_side_also_beyond_4_gb),
        cmocka_unit_test(no_matrix_is_too_large_for_its_place),
        cmocka_unit_test(the_largest_has_the_bytes_that_arithmetic_gives),
        cmocka_unit_test(a_model_that_does_not_fit_is_refused_with_one_that_does),
        cmocka_unit_test(random_numbers_have_the_spread_of_one_over_root_of_fan_in),
        cmocka_unit_test(weights_are_the_same_on_any_number_of_threads),
        cmocka_unit_test(a_shape_that_is_too_large_is_refused_before_memory_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
