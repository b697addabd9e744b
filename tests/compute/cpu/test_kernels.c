// Tests of the kernels: each instruction set this processor can run against plain
// double arithmetic and against each other, at sizes that leave rests everywhere.
// Outputs lie between guard numbers, so that a kernel that writes past its share
// is found; inputs are in memory of their exact size, for the address sanitizer.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "compute/cpu/kernels.h"
#include "tests/compute/gguf/quant_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

static const float guard = 12345.0f;

// --- Numbers ---

static uint64_t seed = 1;

static float random_float(void) { // -1 .. 1
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (float)(int32_t)(seed >> 32) / 2147483648.0f;
}

static float *random_floats(size_t count) {
    float *values = malloc(count * sizeof(float));
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = random_float();
    return values;
}

static float *guarded(size_t count) {
    float *values = malloc(count * sizeof(float));
    assert_non_null(values);
    for (size_t i = 0; i < count; i++)
        values[i] = guard;
    return values;
}

// What a model can be made of (shape.h).
static const enum gguf_tensor_type made_types[] = {
    GGUF_TENSOR_F32,  GGUF_TENSOR_F16,  GGUF_TENSOR_BF16,
    GGUF_TENSOR_Q8_0, GGUF_TENSOR_Q4_0, GGUF_TENSOR_Q4_K,
};
enum { MADE_TYPES = sizeof(made_types) / sizeof(made_types[0]) };

static bool has_whole_blocks(enum gguf_tensor_type type, int cols) {
    return quant_row_bytes(type, cols) != 0;
}

static struct tensor random_tensor(enum gguf_tensor_type type, int rows, int cols) {
    size_t count = (size_t)rows * (size_t)cols, row_bytes = quant_row_bytes(type, cols);
    float *values = random_floats(count);
    unsigned char *data = malloc((size_t)rows * row_bytes);
    assert_non_null(data);
    for (int r = 0; r < rows; r++) {
        if (quant_format(type)->block > 1)
            quant_random_row(data + (size_t)r * row_bytes, type, (size_t)cols, &seed);
        else
            quant_row_from_float(data + (size_t)r * row_bytes, type, values + (size_t)(r * cols),
                                 (size_t)cols);
    }
    free(values);
    return (struct tensor){.type = type, .rows = rows, .cols = cols, .data = data};
}

static void free_tensor(const struct tensor *tensor) {
    free((void *)(uintptr_t)tensor->data);
}

static double weight_at(const struct tensor *tensor, int row, int col) {
    float block[QUANT_LARGE];
    int unit = quant_format(tensor->type)->block;
    const unsigned char *from = (const unsigned char *)tensor->data +
                                (size_t)row * quant_row_bytes(tensor->type, tensor->cols) +
                                (size_t)(col / unit) * quant_row_bytes(tensor->type, unit);
    quant_row_to_float(block, tensor->type, from, (size_t)unit);
    return (double)block[col % unit];
}

static void assert_near(const char *isa, double got, double wanted, double tolerance) {
    if (!(fabs(got - wanted) <= tolerance))
        fail_msg("%s: got %.9g, expected %.9g (tolerance %.2g)", isa, got, wanted, tolerance);
}

// --- Choice ---

static void the_named_set_is_chosen_and_others_are_refused(void **state) {
    (void)state;
    struct why why = {0};
    for (int i = 0; kernels_at(i); i++)
        assert_ptr_equal(kernels_choose(kernels_at(i)->isa, &why), kernels_at(i));
    unsetenv("TOKENDRIP_ISA");
    assert_ptr_equal(kernels_choose(NULL, &why), kernels_at(0));
    setenv("TOKENDRIP_ISA", "plain", 1);
    assert_string_equal(kernels_choose(NULL, &why)->isa, "plain");
    setenv("TOKENDRIP_ISA", "mmx", 1);
    assert_null(kernels_choose(NULL, &why));
    assert_non_null(strstr(why.text, "'mmx' is not known"));
    assert_string_equal(kernels_choose("plain", &why)->isa, "plain"); // the argument wins
    unsetenv("TOKENDRIP_ISA");
}

// --- Widening ---

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static void check_every_half(const struct kernels *kernels) {
    enum { COUNT = 1 << 16 };
    uint16_t *halves = malloc(COUNT * sizeof(*halves));
    float *floats = malloc(COUNT * sizeof(*floats));
    assert_true(halves && floats);
    for (int i = 0; i < COUNT; i++)
        halves[i] = (uint16_t)i;
    struct tensor tensor = {.type = GGUF_TENSOR_F16, .rows = 1, .cols = COUNT, .data = halves};
    kernels->widen(floats, &tensor, 0);
    for (int i = 0; i < COUNT; i++) {
        if (bits_of(floats[i]) != bits_of(half_to_float((uint16_t)i)))
            fail_msg("%s: half %04x became %08x", kernels->isa, (unsigned)i, bits_of(floats[i]));
    }
    free(halves);
    free(floats);
}

// The threads that use the kernels count subnormal floats as zero; halves below
// the smallest normal one must survive that.
static void every_half_is_widened_exactly_also_with_subnormals_off(void **state) {
    (void)state;
    for (int i = 0; kernels_at(i); i++) {
        check_every_half(kernels_at(i));
#if defined(__SSE2__)
        unsigned before = _mm_getcsr();
        _mm_setcsr(before | 0x8040u);
        check_every_half(kernels_at(i));
        _mm_setcsr(before);
#endif
    }
}

static void every_bf16_is_widened_exactly(void **state) {
    (void)state;
    enum { COUNT = 1 << 16 };
    uint16_t *halves = malloc(COUNT * sizeof(*halves));
    float *floats = malloc(COUNT * sizeof(*floats));
    assert_true(halves && floats);
    for (int i = 0; i < COUNT; i++)
        halves[i] = (uint16_t)i;
    struct tensor tensor = {.type = GGUF_TENSOR_BF16, .rows = 1, .cols = COUNT, .data = halves};
    for (int i = 0; kernels_at(i); i++) {
        kernels_at(i)->widen(floats, &tensor, 0);
        for (int k = 0; k < COUNT; k++) {
            if (bits_of(floats[k]) != (uint32_t)k << 16)
                fail_msg("%s: bf16 %04x became %08x", kernels_at(i)->isa, (unsigned)k,
                         bits_of(floats[k]));
        }
    }
    free(halves);
    free(floats);
}

static void rows_of_any_length_and_type_are_widened(void **state) {
    (void)state;
    static const int lengths[] = {1, 3, 4, 7, 8, 15, 16, 17, 32, 64, 96, 172, 256, 768};
    enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };
    for (int i = 0; kernels_at(i); i++) {
        for (int k = 0; k < QUANT_FORMATS * LENGTHS; k++) {
            int cols = lengths[k / QUANT_FORMATS];
            if (!has_whole_blocks(quant_formats[k % QUANT_FORMATS].type, cols))
                continue;
            struct tensor tensor = random_tensor(quant_formats[k % QUANT_FORMATS].type, 3, cols);
            float *out = guarded((size_t)cols + 1);
            kernels_at(i)->widen(out, &tensor, 2);
            for (int c = 0; c < cols; c++)
                assert_true((double)out[c] == weight_at(&tensor, 2, c));
            assert_true(out[cols] == guard);
            free(out);
            free_tensor(&tensor);
        }
    }
}

// Whole rows of random bits, scales that are infinite or no number among them.
static void any_bits_are_widened_as_the_reference_does(void **state) {
    (void)state;
    enum { BLOCKS = 400 };
    for (int t = 0; t < QUANT_FORMATS; t++) {
        const struct quant_format *format = &quant_formats[t];
        size_t count = (size_t)BLOCKS * (size_t)format->block;
        size_t bytes = (size_t)BLOCKS * (size_t)format->block_bytes;
        unsigned char *row = malloc(bytes);
        float *wanted = malloc(count * sizeof *wanted), *got = malloc(count * sizeof *got);
        assert_true(row && wanted && got);
        for (size_t i = 0; i < bytes; i++)
            row[i] = (unsigned char)((int)(random_float() * 128) & 255);
        quant_row_to_float(wanted, format->type, row, count);
        struct tensor tensor = {
            .type = format->type, .rows = 1, .cols = (int64_t)count, .data = row};
        for (int i = 0; kernels_at(i); i++) {
            kernels_at(i)->widen(got, &tensor, 0);
            for (size_t k = 0; k < count; k++) {
                if (!(got[k] == wanted[k] || (isnan(got[k]) && isnan(wanted[k]))))
                    fail_msg("%s, %s: number %d is %g, expected %g", kernels_at(i)->isa,
                             gguf_tensor_type_name(format->type), (int)k, (double)got[k],
                             (double)wanted[k]);
            }
        }
        free(row);
        free(wanted);
        free(got);
    }
}

// Every scale a file may hold, subnormal ones among them, with their flushing on.
static void every_scale_of_a_block_is_exact(void **state) {
    (void)state;
    unsigned char block[QUANT_Q8_0_BYTES];
    for (int i = 0; i < QUANT_BLOCK; i++)
        block[2 + i] = (unsigned char)(i * 8 - 128);
    struct tensor tensor = {
        .type = GGUF_TENSOR_Q8_0, .rows = 1, .cols = QUANT_BLOCK, .data = block};
#if defined(__SSE2__)
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040u);
#endif
    for (int i = 0; kernels_at(i); i++) {
        for (unsigned half = 0; half < 0x7c00; half += 3) {
            float out[QUANT_BLOCK];
            block[0] = (unsigned char)half;
            block[1] = (unsigned char)(half >> 8);
            kernels_at(i)->widen(out, &tensor, 0);
            for (int k = 0; k < QUANT_BLOCK; k++)
                assert_true(out[k] == half_to_float((uint16_t)half) * (float)(k * 8 - 128));
        }
    }
#if defined(__SSE2__)
    _mm_setcsr(before);
#endif
}

// --- Matrices ---

struct size {
    int rows, cols, tokens;
};

static const struct size sizes[] = {
    {1, 1, 1},    {3, 1, 2},     {1, 3, 1},    {4, 8, 1},    {5, 15, 3},    {31, 16, 6},
    {32, 17, 7},  {33, 64, 8},   {64, 64, 1},  {64, 172, 9}, {172, 64, 13}, {172, 64, 1},
    {8, 512, 2},  {40, 513, 5},  {7, 1030, 4}, {6, 1030, 1}, {65, 33, 24},  {2, 2, 25},
    {16, 8, 129}, {100, 100, 1}, {3, 511, 1},  {1, 32, 1},   {5, 96, 3},    {6, 1056, 1},
    {7, 1056, 4}, {65, 544, 9},  {172, 64, 1}, {2, 32, 25},  {6, 256, 1},   {33, 768, 9},
    {5, 1280, 3},
};
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

// A product's tokens in both forms; the one that the weights do not take is NULL.
struct inputs {
    float *in;
    struct rounded *rounded;
};

static struct inputs random_inputs(const struct kernels *kernels, const struct size *size,
                                   enum gguf_tensor_type type) {
    struct inputs inputs = {random_floats((size_t)size->tokens * (size_t)size->cols), NULL};
    if (quant_format(type)->block == 1)
        return inputs;
    size_t groups = (size_t)size->tokens * (size_t)(size->cols / QUANT_BLOCK);
    inputs.rounded = malloc(groups * sizeof *inputs.rounded);
    assert_non_null(inputs.rounded);
    for (int t = 0; t < size->tokens; t++)
        kernels->round(inputs.rounded + t * (size->cols / QUANT_BLOCK), inputs.in + t * size->cols,
                       size->cols);
    free(inputs.in);
    inputs.in = NULL;
    return inputs;
}

static void free_inputs(const struct inputs *inputs) {
    free(inputs->in);
    free(inputs->rounded);
}

static double input_at(const struct matmul *job, int token, int col) {
    if (!job->rounded)
        return (double)job->in[(size_t)token * job->in_stride + (size_t)col];
    const struct rounded *group = &job->rounded[(token * job->weights->cols + col) / QUANT_BLOCK];
    return (double)group->scale * group->q[col % QUANT_BLOCK];
}

static struct matmul job_of(const struct size *size, const struct tensor *weights,
                            const struct inputs *inputs, float *out) {
    static _Alignas(32) float panel[KERNELS_PANEL_FLOATS];
    return (struct matmul){
        .out = out,
        .out_stride = (size_t)size->rows + 3, // a gap that must stay as it is
        .in = inputs->in,
        .in_stride = (size_t)size->cols,
        .rounded = inputs->rounded,
        .weights = weights,
        .tokens = size->tokens,
        .row_to = size->rows,
        .panel = panel,
    };
}

static double *widened(const struct tensor *tensor) {
    double *out = malloc((size_t)(tensor->rows * tensor->cols) * sizeof(*out));
    assert_non_null(out);
    for (int r = 0; r < (int)tensor->rows; r++) {
        for (int c = 0; c < (int)tensor->cols; c++)
            out[r * tensor->cols + c] = weight_at(tensor, r, c);
    }
    return out;
}

static void check_product(const struct kernels *kernels, const struct matmul *job,
                          const struct size *size) {
    double *weights = widened(job->weights);
    for (int t = 0; t < size->tokens; t++) {
        for (int r = 0; r < (int)job->out_stride; r++) {
            double got = (double)job->out[(size_t)t * job->out_stride + (size_t)r];
            double wanted = r < size->rows && !job->add ? 0 : (double)guard;
            double tolerance = 0;
            for (int c = 0; r < size->rows && c < size->cols; c++) {
                double product = weights[r * size->cols + c] * input_at(job, t, c);
                wanted += product;
                tolerance += fabs(product) * 1e-6;
            }
            // What was there before is rounded at each addition: one a run of 16 in blocks, else
            // one a panel.
            double additions = 1 + size->cols / (job->rounded ? 16 : 512);
            double rest = r < size->rows && job->add ? (double)guard * 0x1p-24 * additions : 0;
            assert_near(kernels->isa, got, wanted, tolerance + rest);
        }
    }
    free(weights);
}

static void check_matmul(const struct kernels *kernels, const struct size *size,
                         enum gguf_tensor_type type, bool add) {
    struct tensor weights = random_tensor(type, size->rows, size->cols);
    struct inputs inputs = random_inputs(kernels, size, type);
    float *out = guarded((size_t)size->tokens * ((size_t)size->rows + 3));
    struct matmul job = job_of(size, &weights, &inputs, out);
    job.add = add;
    kernels->matmul(&job);
    check_product(kernels, &job, size);
    free_inputs(&inputs);
    free(out);
    free_tensor(&weights);
}

static void products_equal_double_arithmetic_at_every_size(void **state) {
    (void)state;
    for (int i = 0; kernels_at(i); i++) {
        for (int k = 0; k < SIZES; k++) {
            for (int t = 0; t < QUANT_FORMATS; t++) {
                if (!has_whole_blocks(quant_formats[t].type, sizes[k].cols))
                    continue;
                check_matmul(kernels_at(i), &sizes[k], quant_formats[t].type, false);
                check_matmul(kernels_at(i), &sizes[k], quant_formats[t].type, true);
            }
        }
    }
}

// In three parts at odd places, each checked for staying within its rows.
static void rows_give_the_same_bits_however_they_are_split(void **state) {
    (void)state;
    for (int i = 0; kernels_at(i); i++) {
        for (int k = 0; k < SIZES * QUANT_FORMATS; k++) {
            const struct size *size = &sizes[k / QUANT_FORMATS];
            if (!has_whole_blocks(quant_formats[k % QUANT_FORMATS].type, size->cols))
                continue;
            size_t floats = (size_t)size->tokens * ((size_t)size->rows + 3);
            struct tensor weights =
                random_tensor(quant_formats[k % QUANT_FORMATS].type, size->rows, size->cols);
            struct inputs inputs = random_inputs(kernels_at(i), size, weights.type);
            float *whole = guarded(floats), *parts = guarded(floats);
            struct matmul job = job_of(size, &weights, &inputs, whole);
            kernels_at(i)->matmul(&job);
            int cuts[] = {0, size->rows / 3, size->rows * 3 / 4, size->rows};
            job.out = parts;
            for (int part = 0; part < 3; part++) {
                job.row_from = cuts[part];
                job.row_to = cuts[part + 1];
                if (job.row_from < job.row_to)
                    kernels_at(i)->matmul(&job);
            }
            assert_memory_equal(whole, parts, floats * sizeof(float));
            free_inputs(&inputs);
            free(whole);
            free(parts);
            free_tensor(&weights);
        }
    }
}

// Each token alone gives what it gave among others, and to numbers that were there before.
static void tokens_in_blocks_give_the_same_bits_in_any_company(void **state) {
    (void)state;
    for (int i = 0; kernels_at(i); i++) {
        for (int k = 0; k < SIZES * QUANT_FORMATS; k++) {
            const struct size *size = &sizes[k / QUANT_FORMATS];
            enum gguf_tensor_type type = quant_formats[k % QUANT_FORMATS].type;
            if (quant_format(type)->block == 1 || !has_whole_blocks(type, size->cols))
                continue;
            size_t floats = (size_t)size->tokens * ((size_t)size->rows + 3);
            struct tensor weights = random_tensor(type, size->rows, size->cols);
            struct inputs inputs = random_inputs(kernels_at(i), size, type);
            float *all = guarded(floats), *each = guarded(floats);
            struct matmul job = job_of(size, &weights, &inputs, all);
            job.add = k % 2;
            kernels_at(i)->matmul(&job);
            job.tokens = 1;
            for (int t = 0; t < size->tokens; t++) {
                job.out = each + (size_t)t * job.out_stride;
                job.rounded = inputs.rounded + t * (size->cols / QUANT_BLOCK);
                kernels_at(i)->matmul(&job);
            }
            assert_memory_equal(all, each, floats * sizeof(float));
            free_inputs(&inputs);
            free(all);
            free(each);
            free_tensor(&weights);
        }
    }
}

// Half a step is the most that rounding moves a number; the steps are a 127th of the largest.
static void tokens_are_rounded_to_the_nearest_of_127_steps(void **state) {
    (void)state;
    enum { COUNT = 32 * 64 };
    static const float sizes_of_groups[] = {1, 1e-30f, 1e30f, 0, 3e-3f, 127};
    float *in = random_floats(COUNT);
    struct rounded *out = malloc(COUNT / QUANT_BLOCK * sizeof *out);
    assert_non_null(out);
    for (int c = 0; c < COUNT; c++)
        in[c] *= sizes_of_groups[c / QUANT_BLOCK % 6];
    for (int i = 0; kernels_at(i); i++) {
        kernels_at(i)->round(out, in, COUNT);
        for (int g = 0; g < COUNT / QUANT_BLOCK; g++) {
            double most = 0;
            int sum[2] = {0, 0};
            for (int c = 0; c < QUANT_BLOCK; c++) {
                double x = (double)in[g * QUANT_BLOCK + c];
                most = fmax(most, fabs(x));
                sum[c / 16] += out[g].q[c];
                assert_near(kernels_at(i)->isa, (double)out[g].scale * out[g].q[c], x,
                            (double)out[g].scale * (0.5 + 127 * 1e-6));
            }
            assert_near(kernels_at(i)->isa, (double)out[g].scale, most / 127, most * 1e-7);
            assert_int_equal(out[g].sum[0], sum[0]);
            assert_int_equal(out[g].sum[1], sum[1]);
        }
    }
    free(in);
    free(out);
}

static void a_rounded_group_with_no_number_gives_none(void **state) {
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; kernels_at(i); i++) {
        for (int k = 0; k < 3 * QUANT_BLOCK; k++) {
            float in[QUANT_BLOCK] = {0};
            struct rounded out;
            in[k / 3] = bad[k % 3];
            in[(k / 3 + 9) % QUANT_BLOCK] = 1;
            kernels_at(i)->round(&out, in, QUANT_BLOCK);
            assert_true(!isfinite(out.scale));
        }
    }
}

// The largest steps of both sides: sums in 16 bits would be the first to overflow.
static void the_largest_numbers_in_blocks_do_not_overflow(void **state) {
    (void)state;
    const struct size size = {9, 512, 5};
    for (int i = 0; kernels_at(i); i++) {
        for (int k = 0; k < QUANT_FORMATS * 2; k++) {
            enum gguf_tensor_type type = quant_formats[k / 2].type;
            if (quant_format(type)->block == 1)
                continue;
            struct tensor weights = random_tensor(type, size.rows, size.cols);
            unsigned char *block = (void *)(uintptr_t)weights.data;
            size_t bytes = (size_t)size.rows * quant_row_bytes(type, size.cols);
            for (size_t b = 0; b < bytes; b++) { // all bits set, and in Q8_0 -128, but for scales
                size_t place = b % (size_t)quant_format(type)->block_bytes;
                bool is_scale = type == GGUF_TENSOR_MXFP4 && place == 0;
                for (int s = 0; s < 2; s++)
                    is_scale |=
                        scale_place(type, s) >= 0 && place / 2 == (size_t)scale_place(type, s) / 2;
                if (!is_scale)
                    block[b] = type == GGUF_TENSOR_Q8_0 ? 0x80 : 0xff;
            }
            struct inputs inputs = random_inputs(kernels_at(i), &size, type);
            for (int g = 0; g < size.tokens * size.cols / QUANT_BLOCK; g++) {
                memset(inputs.rounded[g].q, k % 2 ? 127 : -127, QUANT_BLOCK);
                inputs.rounded[g].sum[0] = inputs.rounded[g].sum[1] = 16 * (k % 2 ? 127 : -127);
            }
            float *out = guarded((size_t)size.tokens * ((size_t)size.rows + 3));
            struct matmul job = job_of(&size, &weights, &inputs, out);
            kernels_at(i)->matmul(&job);
            check_product(kernels_at(i), &job, &size);
            free_inputs(&inputs);
            free(out);
            free_tensor(&weights);
        }
    }
}

static void instruction_sets_agree(void **state) {
    (void)state;
    const struct size size = {172, 512, 20};
    struct tensor weights = random_tensor(GGUF_TENSOR_F16, size.rows, size.cols);
    struct inputs inputs = random_inputs(kernels_at(0), &size, weights.type);
    size_t floats = (size_t)size.tokens * ((size_t)size.rows + 3);
    float *first = guarded(floats), *other = guarded(floats);
    struct matmul job = job_of(&size, &weights, &inputs, first);
    kernels_at(0)->matmul(&job);
    for (int i = 1; kernels_at(i); i++) {
        job.out = other;
        kernels_at(i)->matmul(&job);
        for (size_t k = 0; k < floats; k++)
            assert_near(kernels_at(i)->isa, (double)other[k], (double)first[k], 3e-5);
    }
    free_inputs(&inputs);
    free(first);
    free(other);
    free_tensor(&weights);
}

// --- Making weights, reading memory ---

static void random_rows_are_to_the_bit_what_shape_random_says(void **state) {
    (void)state;
    enum { COLS = 768 };
    const float scale = 1e-6f;
    for (int i = 0; kernels_at(i); i++) {
        for (int t = 0; t < MADE_TYPES; t++) {
            float numbers[COLS];
            unsigned char wanted[COLS * 4], got[COLS * 4];
            size_t bytes = quant_row_bytes(made_types[t], COLS);
            for (uint64_t row = 0; row < 50; row++) {
                struct shape_random_row keys = shape_random_keys(7, 3, row);
                for (uint32_t c = 0; c < COLS; c++)
                    numbers[c] = shape_random_value(keys, c, scale);
                quant_row_from_float(wanted, made_types[t], numbers, COLS);
                kernels_at(i)->random_row(got, made_types[t], COLS, keys, scale);
                if (memcmp(got, wanted, bytes) != 0)
                    fail_msg("%s: row %d of type %s differs", kernels_at(i)->isa, (int)row,
                             gguf_tensor_type_name(made_types[t]));
            }
        }
    }
}

static void reading_adds_up_every_number(void **state) {
    (void)state;
    enum { COUNT = 128 * 5 };
    float *numbers = malloc(COUNT * sizeof(float));
    assert_non_null(numbers);
    for (int k = 0; k < COUNT; k++)
        numbers[k] = (float)(k + 1);
    for (int i = 0; kernels_at(i); i++)
        assert_true(kernels_at(i)->read_all(numbers, COUNT) == (float)(COUNT * (COUNT + 1) / 2));
    free(numbers);
}

// --- Norm and activation ---

static const int lengths[] = {1, 2, 3, 4, 8, 15, 16, 17, 64, 172, 1000};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

static void norms_equal_double_arithmetic(void **state) {
    (void)state;
    for (int i = 0; kernels_at(i); i++) {
        for (int k = 0; k < LENGTHS; k++) {
            int count = lengths[k];
            float *in = random_floats((size_t)count), *weight = random_floats((size_t)count);
            float *out = guarded((size_t)count + 1);
            kernels_at(i)->rms_norm(out, in, weight, count, 1e-5f);
            double squares = 0;
            for (int c = 0; c < count; c++)
                squares += (double)in[c] * (double)in[c];
            for (int c = 0; c < count; c++) {
                double wanted = (double)in[c] / sqrt(squares / count + 1e-5) * (double)weight[c];
                assert_near(kernels_at(i)->isa, (double)out[c], wanted, 2e-6);
            }
            assert_true(out[count] == guard);
            free(in);
            free(weight);
            free(out);
        }
    }
}

static void swiglu_equals_double_arithmetic(void **state) {
    (void)state;
    for (int i = 0; kernels_at(i); i++) {
        for (int k = 0; k < LENGTHS; k++) {
            int count = lengths[k];
            float *up = random_floats((size_t)count), *in = random_floats((size_t)count);
            float *gate = guarded((size_t)count + 1);
            for (int c = 0; c < count; c++)
                gate[c] = in[c] *= c % 3 == 0 ? 100.0f : c % 3 == 1 ? 10.0f : 0.1f;
            kernels_at(i)->swiglu(gate, up, count);
            for (int c = 0; c < count; c++) {
                double x = (double)in[c];
                double wanted = x / (1 + exp(-x)) * (double)up[c];
                assert_near(kernels_at(i)->isa, (double)gate[c], wanted,
                            1e-6 * fabs(wanted) + 1e-9);
            }
            assert_true(gate[count] == guard);
            free(up);
            free(in);
            free(gate);
        }
    }
}

static void geglu_equals_double_arithmetic(void **state) {
    (void)state;
    for (int i = 0; kernels_at(i); i++) {
        for (int k = 0; k < LENGTHS; k++) {
            int count = lengths[k];
            float *up = random_floats((size_t)count), *in = random_floats((size_t)count);
            float *gate = guarded((size_t)count + 1);
            for (int c = 0; c < count; c++)
                gate[c] = in[c] *= c % 3 == 0 ? 100.0f : c % 3 == 1 ? 3.0f : 0.1f;
            kernels_at(i)->geglu(gate, up, count);
            for (int c = 0; c < count; c++) {
                double x = (double)in[c];
                double y = sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x);
                double wanted = x / 2 * (1 + tanh(y)) * (double)up[c];
                // Where tanh is near -1 the exact product is a difference of nearly equal numbers.
                assert_near(kernels_at(i)->isa, (double)gate[c], wanted,
                            3e-6 * fabs(wanted) + 1e-7);
            }
            assert_true(gate[count] == guard);
            free(up);
            free(in);
            free(gate);
        }
    }
}

static void a_soft_cap_equals_double_arithmetic(void **state) {
    (void)state;
    for (int i = 0; kernels_at(i); i++) {
        for (int k = 0; k < LENGTHS; k++) {
            int count = lengths[k];
            float *in = random_floats((size_t)count), *out = guarded((size_t)count + 1);
            for (int c = 0; c < count; c++)
                out[c] = in[c] *= c % 2 == 0 ? 1000.0f : 10.0f;
            kernels_at(i)->soft_cap(out, count, 30);
            for (int c = 0; c < count; c++)
                assert_near(kernels_at(i)->isa, (double)out[c], 30 * tanh((double)in[c] / 30),
                            1e-5);
            assert_true(out[count] == guard);
            free(in);
            free(out);
        }
    }
}

static void what_is_not_a_number_stays_so(void **state) {
    (void)state;
    for (int i = 0; kernels_at(i); i++) {
        float gate[20], up[20];
        for (int c = 0; c < 20; c++) {
            gate[c] = c == 3 || c == 17 ? NAN : 1;
            up[c] = 1;
        }
        kernels_at(i)->swiglu(gate, up, 20);
        for (int c = 0; c < 20; c++)
            assert_int_equal(isnan(gate[c]) != 0, c == 3 || c == 17);
    }
}

// --- Attention ---

struct shape {
    int head_dim, heads, tokens, first_position;
    float score_size; // of queries
    int window, rows; // 0 = all
    float cap;
};

static const struct shape shapes[] = {
    {8, 1, 1, 0, 1, 0, 0, 0},
    {8, 2, 1, 5, 1, 0, 0, 0},
    {32, 3, 1, 63, 1, 0, 0, 0},
    {48, 1, 1, 64, 1, 0, 0, 0},
    {64, 2, 1, 200, 1, 0, 0, 0},
    {80, 1, 1, 33, 1, 0, 0, 0},
    {128, 1, 1, 16, 1, 0, 0, 0},
    {1, 1, 1, 7, 1, 0, 0, 0},
    {3, 2, 1, 18, 1, 0, 0, 0},
    {8, 2, 2, 0, 1, 0, 0, 0},
    {8, 2, 24, 0, 1, 0, 0, 0},
    {32, 3, 18, 0, 1, 0, 0, 0},
    {32, 3, 24, 40, 1, 0, 0, 0},
    {48, 2, 5, 62, 1, 0, 0, 0},
    {64, 1, 24, 100, 1, 0, 0, 0},
    {80, 2, 7, 130, 1, 0, 0, 0},
    {128, 1, 13, 63, 1, 0, 0, 0},
    {1, 1, 3, 2, 1, 0, 0, 0},
    {3, 2, 9, 64, 1, 0, 0, 0},
    {16, 1, 24, 191, 1, 0, 0, 0},
    {32, 2, 1, 90, 1e3f, 0, 0, 0},
    {32, 2, 20, 90, 1e3f, 0, 0, 0},
    {8, 1, 24, 63, 1e4f, 0, 0, 0},
    // Windows, with all keys there or only the last ones; capped scores.
    {8, 2, 1, 5, 1, 3, 0, 0},
    {8, 2, 24, 0, 1, 1, 0, 0},
    {32, 2, 24, 100, 1, 7, 0, 0},
    {32, 1, 24, 180, 1, 100, 0, 0},
    {16, 2, 1, 300, 1, 64, 128, 0},
    {16, 2, 1, 127, 1, 100, 128, 0},
    {16, 2, 24, 300, 1, 64, 128, 0},
    {48, 1, 24, 500, 1, 104, 128, 0},
    {8, 1, 17, 117, 1, 40, 64, 0},
    {32, 2, 1, 90, 50, 0, 0, 5},
    {32, 2, 24, 90, 50, 0, 0, 5},
    {16, 2, 9, 300, 50, 64, 128, 20},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

// Blocks of keys are turned.
static int key_place(const struct attention *job, int key, int col) {
    int row = key % job->rows;
    return (row / KERNELS_KEY_BLOCK * job->head_dim + col) * KERNELS_KEY_BLOCK +
           row % KERNELS_KEY_BLOCK;
}

static double score(const struct attention *job, int token, int head, int key) {
    const float *query =
        job->queries + (size_t)token * job->query_stride + (size_t)head * (size_t)job->head_dim;
    double sum = 0;
    for (int c = 0; c < job->head_dim; c++)
        sum += (double)query[c] * (double)job->keys[key_place(job, key, c)];
    sum *= (double)job->scale;
    return job->cap > 0 ? (double)job->cap * tanh(sum / (double)job->cap) : sum;
}

static void mix_in_double(double *out, const struct attention *job, int token, int head) {
    int keys = job->first_position + token + 1;
    int first = keys > job->window ? keys - job->window : 0;
    double most = -INFINITY, sum = 0;
    for (int k = first; k < keys; k++)
        most = fmax(most, score(job, token, head, k));
    for (int c = 0; c < job->head_dim; c++)
        out[c] = 0;
    for (int k = first; k < keys; k++) {
        double share = exp(score(job, token, head, k) - most);
        sum += share;
        for (int c = 0; c < job->head_dim; c++)
            out[c] += share * (double)job->values[k % job->rows * job->head_dim + c];
    }
    for (int c = 0; c < job->head_dim; c++)
        out[c] /= sum;
}

static void check_attention(const struct kernels *kernels, const struct shape *shape) {
    size_t width = (size_t)shape->heads * (size_t)shape->head_dim;
    size_t stride = width + 5;
    size_t positions = (size_t)(shape->first_position + shape->tokens);
    size_t whole = (positions + KERNELS_KEY_BLOCK - 1) / KERNELS_KEY_BLOCK * KERNELS_KEY_BLOCK;
    size_t rows = shape->rows > 0 ? (size_t)shape->rows : whole;
    float *queries = random_floats((size_t)shape->tokens * stride);
    for (size_t i = 0; i < (size_t)shape->tokens * stride; i++)
        queries[i] *= shape->score_size;
    float *keys = random_floats(rows * (size_t)shape->head_dim);
    float *values = random_floats(rows * (size_t)shape->head_dim);
    float *out = guarded((size_t)shape->tokens * stride);
    struct attention job = {
        .out = out,
        .out_stride = stride,
        .queries = queries,
        .query_stride = stride,
        .keys = keys,
        .values = values,
        .rows = (int)rows,
        .tokens = shape->tokens,
        .first_position = shape->first_position,
        .window = shape->window > 0 ? shape->window : (int)positions + 1,
        .heads = shape->heads,
        .head_dim = shape->head_dim,
        .scale = 1.0f / sqrtf((float)shape->head_dim),
        .cap = shape->cap,
        .scratch = guarded(kernels->attend_floats(shape->heads, shape->head_dim)),
    };
    kernels->attend(&job);
    // f32 scores of size s are off by about s * 1e-6, and shares with them.
    double tolerance = 3e-6 * fmax(1, (double)shape->score_size * shape->head_dim);
    for (int t = 0; t < shape->tokens; t++) {
        for (int h = 0; h < shape->heads; h++) {
            double wanted[128];
            mix_in_double(wanted, &job, t, h);
            for (int c = 0; c < shape->head_dim; c++)
                assert_near(kernels->isa,
                            (double)out[(size_t)t * stride + (size_t)(h * shape->head_dim + c)],
                            wanted[c], tolerance);
        }
        for (size_t c = width; c < stride; c++)
            assert_true(out[(size_t)t * stride + c] == guard);
        // Alone, a token gets the same bits.
        float *alone = guarded(width);
        struct attention one = job;
        one.out = alone;
        one.queries += (size_t)t * stride;
        one.tokens = 1;
        one.first_position += t;
        kernels->attend(&one);
        assert_memory_equal(alone, out + (size_t)t * stride, width * sizeof(float));
        free(alone);
    }
    free(queries);
    free(keys);
    free(values);
    free(out);
    free(job.scratch);
}

static void attention_equals_double_arithmetic(void **state) {
    (void)state;
    for (int i = 0; kernels_at(i); i++) {
        for (int k = 0; k < SHAPES; k++)
            check_attention(kernels_at(i), &shapes[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_named_set_is_chosen_and_others_are_refused),
        cmocka_unit_test(every_half_is_widened_exactly_also_with_subnormals_off),
        cmocka_unit_test(every_bf16_is_widened_exactly),
        cmocka_unit_test(rows_of_any_length_and_type_are_widened),
        cmocka_unit_test(any_bits_are_widened_as_the_reference_does),
        cmocka_unit_test(every_scale_of_a_block_is_exact),
        cmocka_unit_test(random_rows_are_to_the_bit_what_shape_random_says),
        cmocka_unit_test(reading_adds_up_every_number),
        cmocka_unit_test(products_equal_double_arithmetic_at_every_size),
        cmocka_unit_test(rows_give_the_same_bits_however_they_are_split),
        cmocka_unit_test(tokens_in_blocks_give_the_same_bits_in_any_company),
        cmocka_unit_test(tokens_are_rounded_to_the_nearest_of_127_steps),
        cmocka_unit_test(a_rounded_group_with_no_number_gives_none),
        cmocka_unit_test(the_largest_numbers_in_blocks_do_not_overflow),
        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(norms_equal_double_arithmetic),
        cmocka_unit_test(swiglu_equals_double_arithmetic),
        cmocka_unit_test(geglu_equals_double_arithmetic),
        cmocka_unit_test(a_soft_cap_equals_double_arithmetic),
        cmocka_unit_test(what_is_not_a_number_stays_so),
        cmocka_unit_test(attention_equals_double_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
