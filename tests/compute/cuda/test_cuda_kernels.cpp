// Every kernel of the CUDA backend, on the emulated device, against the formula in
// double arithmetic: odd sizes, lengths around every tile edge, all three orders of
// lanes, outputs that were NaN before. NMSE at most 1e-6 in f32, 5e-4 where the input
// is rounded to bytes. Every array has memory of its own exact size, so that a step
// beyond it is seen by the address sanitizer.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include <cmocka.h>
}

#include "compute/cuda/gemm.cuh"
#include "compute/cuda/kernels.cuh"
#include "tests/compute/gguf/quant_rows.h"

extern "C" {
#include "compute/model/shape_random.h"
}

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <vector>

typedef std::vector<double> numbers;

static const enum host_order orders[] = {HOST_FORWARD, HOST_REVERSE, HOST_RANDOM};

// --- Device memory ---

template <class T> struct device {
    T *at;
    size_t count;
    explicit device(size_t count_) : at(NULL), count(count_) {
        assert_int_equal(cudaMalloc(&at, count * sizeof(T)), cudaSuccess);
    }
    ~device() {
        cudaFree(at);
    }
    device(const device &) = delete;
    device &operator=(const device &) = delete;
};

static uint64_t random_state;

static float random_number(void) {
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (float)(int32_t)(random_state >> 32) / 2147483648.0f;
}

static void fill(device<float> &d) {
    for (size_t i = 0; i < d.count; i++)
        d.at[i] = random_number();
}

static numbers values_of(const device<float> &d) {
    return numbers(d.at, d.at + d.count);
}

static void assert_near(const float *got, const numbers &wanted, double most, const char *what) {
    double squares = 0, apart = 0;
    if (host_cuda_failure())
        fail_msg("%s: %s", what, host_cuda_failure());
    for (size_t i = 0; i < wanted.size(); i++) {
        double difference = (double)got[i] - wanted[i];
        apart += difference * difference;
        squares += wanted[i] * wanted[i];
    }
    if (!(apart <= most * squares))
        fail_msg("%s: NMSE %.3g, at most %.3g", what, apart / squares, most);
}

// --- Matrices ---

static const struct {
    enum weight_type type;
    enum gguf_tensor_type file_type;
    double error;
} formats[] = {
    {WEIGHT_F32, GGUF_TENSOR_F32, 1e-6},   {WEIGHT_F16, GGUF_TENSOR_F16, 1e-6},
    {WEIGHT_BF16, GGUF_TENSOR_BF16, 1e-6}, {WEIGHT_Q8_0, GGUF_TENSOR_Q8_0, 5e-4},
    {WEIGHT_Q4_0, GGUF_TENSOR_Q4_0, 5e-4},
};

struct test_matrix {
    struct matrix matrix;
    device<unsigned char> data;
    device<half16> scales;
    numbers values; // [rows][cols]
};

static bool is_blocks(enum weight_type type) {
    return type == WEIGHT_Q8_0 || type == WEIGHT_Q4_0;
}

static size_t scale_count(enum weight_type type, int rows, int cols) {
    return is_blocks(type) ? (size_t)rows * (size_t)(cols / BLOCK_VALUES) : 0;
}

// Random rows as a file would have them, then as the device keeps them.
static test_matrix *make_matrix(size_t format, int rows, int cols) {
    enum weight_type type = formats[format].type;
    int stride = matrix_stride(type, cols);
    size_t pitch = matrix_row_bytes(type, stride), width = (size_t)cols;
    size_t row_bytes = quant_row_bytes(formats[format].file_type, cols);
    std::vector<float> row(width);
    std::vector<unsigned char> file(row_bytes * (size_t)rows);
    test_matrix *m = new test_matrix{{},
                                     device<unsigned char>(pitch * (size_t)rows),
                                     device<half16>(scale_count(type, rows, cols)),
                                     {}};
    for (int r = 0; r < rows; r++) {
        for (float &x : row)
            x = random_number();
        unsigned char *at = &file[row_bytes * (size_t)r];
        quant_row_from_float(at, formats[format].file_type, row.data(), width);
        quant_row_to_float(row.data(), formats[format].file_type, at, width);
        m->values.insert(m->values.end(), row.begin(), row.end());
    }
    m->matrix = {type, rows, cols, stride, m->data.at, is_blocks(type) ? m->scales.at : NULL};
    if (is_blocks(type)) {
        struct split_args split = {m->data.at, m->scales.at, file.data(), type, m->scales.count};
        launch_split(split, NULL);
        return m;
    }
    memset(m->data.at, 0, m->data.count);
    for (int r = 0; r < rows; r++)
        memcpy(m->data.at + pitch * (size_t)r, &file[row_bytes * (size_t)r], row_bytes);
    return m;
}

static bool fits(size_t format, int cols) {
    return !is_blocks(formats[format].type) || cols % BLOCK_VALUES == 0;
}

// --- The formulas ---

static numbers normed(const numbers &in, const numbers &norm, double epsilon) {
    double sum = 0;
    for (double x : in)
        sum += x * x;
    double scale = 1 / sqrt(sum / (double)in.size() + epsilon);
    numbers out;
    for (size_t i = 0; i < in.size(); i++)
        out.push_back(in[i] * scale * norm[i]);
    return out;
}

static numbers times(const numbers &matrix, const numbers &in) {
    numbers out(matrix.size() / in.size());
    for (size_t r = 0; r < out.size(); r++) {
        for (size_t i = 0; i < in.size(); i++)
            out[r] += matrix[r * in.size() + i] * in[i];
    }
    return out;
}

// The input as kernels of block formats take it: 8 bits and a scale for 32 numbers.
static numbers rounded(const numbers &in) {
    numbers out;
    for (size_t first = 0; first < in.size(); first += BLOCK_VALUES) {
        float most = 0;
        for (size_t i = first; i < first + BLOCK_VALUES; i++)
            most = fmaxf(most, fabsf((float)in[i]));
        for (size_t i = first; i < first + BLOCK_VALUES; i++)
            out.push_back((double)rintf((float)in[i] * (127 / most)) * (double)(most / 127));
    }
    return out;
}

static numbers swiglu(const numbers &gate_up) {
    size_t half = gate_up.size() / 2;
    numbers out;
    for (size_t i = 0; i < half; i++)
        out.push_back(gate_up[i] / (1 + exp(-gate_up[i])) * gate_up[half + i]);
    return out;
}

static void turn(numbers &rows, size_t from, size_t to, int head_dim, int position,
                 const numbers &angles) {
    for (size_t r = from; r < to; r += 2) {
        size_t at = (size_t)position * (size_t)head_dim + r % (size_t)head_dim;
        double first = rows[r], second = rows[r + 1];
        rows[r] = first * angles[at] - second * angles[at + 1];
        rows[r + 1] = first * angles[at + 1] + second * angles[at];
    }
}

// --- Products of one token ---

static const double epsilon = 1e-5;

// Ties may be rounded either way when the norm's scale is applied before or after.
static double rounding_error(size_t format) {
    return is_blocks(formats[format].type) ? 1e-5 : 1e-6;
}

static void check_product(size_t format, int rows, int cols, bool has_norm) {
    char what[96];
    snprintf(what, sizeof what, "product of format %zu, %d x %d, norm %d", format, rows, cols,
             has_norm);
    test_matrix *m = make_matrix(format, rows, cols);
    device<float> in((size_t)cols), norm((size_t)cols), out((size_t)rows);
    device<unsigned> arrived(1);
    device<unsigned long long> slot(1);
    fill(in);
    fill(norm);
    numbers x = has_norm ? normed(values_of(in), values_of(norm), epsilon) : values_of(in);
    numbers exact = times(m->values, x), wanted = exact;
    if (is_blocks(formats[format].type))
        wanted = times(m->values, rounded(x));
    struct product_args args = {};
    args.out = out.at;
    args.weights = m->matrix;
    args.in = in.at;
    args.norm = has_norm ? norm.at : NULL;
    args.epsilon = (float)epsilon;
    args.most_blocks = 2; // more than 64 rows: a block takes several groups
    args.stamp = {slot.at, arrived.at};
    arrived.at[0] = 0;
    slot.at[0] = 0;
    unsigned long long before = host_global_timer();
    launch_product(args, NULL);
    // A few sums of many may be anything near zero: then only the rounded input tells.
    assert_near(out.at, wanted, rounding_error(format), what);
    if (rows >= 8)
        assert_near(out.at, exact, formats[format].error, what);
    assert_true(slot.at[0] >= before && slot.at[0] <= host_global_timer());
    assert_int_equal(arrived.at[0], 0);

    args.add = true; // once more on top
    launch_product(args, NULL);
    for (double &x_wanted : wanted)
        x_wanted *= 2;
    assert_near(out.at, wanted, rounding_error(format), what);
    delete m;
}

static void in_every_order(void (*check)(void)) {
    for (auto order : orders) {
        host_cuda_reset();
        host_cuda.order = order;
        random_state = 1;
        check();
        assert_int_equal(host_cuda.used_bytes, 0);
    }
}

static void check_products(void) {
    static const int sizes[][2] = {{1, 8},   {3, 20},    {8, 64},   {9, 172},   {17, 32},
                                   {2, 160}, {3, 4096},  {9, 4128}, {2, 4100},  {2, 8224},
                                   {1, 1},   {16, 1024}, {5, 4092}, {1, 12288}, {2, 2080},
                                   {65, 64}, {83, 172},  {73, 4160}};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (auto &size : sizes) {
            if (fits(f, size[1])) {
                check_product(f, size[0], size[1], false);
                check_product(f, size[0], size[1], true);
            }
        }
    }
}

static void products_are_those_of_the_numbers_they_stand_for(void **) {
    in_every_order(check_products);
}

static void check_gate_ups(void) {
    static const int sizes[][2] = {{1, 64}, {3, 160}, {172, 64}, {9, 20}};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (auto &size : sizes) {
            if (!fits(f, size[1]))
                continue;
            test_matrix *m = make_matrix(f, 2 * size[0], size[1]);
            device<float> in((size_t)size[1]), norm((size_t)size[1]), out((size_t)size[0]);
            fill(in);
            fill(norm);
            struct gate_up_args args = {out.at, m->matrix, in.at, norm.at, (float)epsilon, 2};
            launch_gate_up(args, NULL);
            numbers wanted =
                swiglu(times(m->values, normed(values_of(in), values_of(norm), epsilon)));
            assert_near(out.at, wanted, formats[f].error, "gate and up");
            delete m;
        }
    }
}

static void gate_and_up_make_the_inner_values(void **) {
    in_every_order(check_gate_ups);
}

// --- Keys and values ---

struct test_cache {
    struct cache cache;
    device<unsigned char> keys, values;
};

static size_t cache_bytes(const struct heads &h, bool is_half, int context) {
    size_t stride = (size_t)matrix_stride(is_half ? WEIGHT_F16 : WEIGHT_F32, h.head_dim);
    return (size_t)h.kv_heads * (size_t)context * stride * (is_half ? 2 : 4);
}

static test_cache *make_cache(const struct heads &h, bool is_half, int context) {
    size_t bytes = cache_bytes(h, is_half, context);
    test_cache *c = new test_cache{{}, device<unsigned char>(bytes), device<unsigned char>(bytes)};
    int stride = matrix_stride(is_half ? WEIGHT_F16 : WEIGHT_F32, h.head_dim);
    c->cache = {c->keys.at, c->values.at, is_half, context, stride};
    return c;
}

static double cached(const struct cache &c, const void *half, int kv_head, int position, int i) {
    size_t at =
        ((size_t)kv_head * (size_t)c.context + (size_t)position) * (size_t)c.stride + (size_t)i;
    return (double)(c.is_half ? to_float(static_cast<const half16 *>(half)[at])
                              : static_cast<const float *>(half)[at]);
}

// Random rows up to `length`; zeros behind head_dim, NaN in all later rows.
static void fill_cache(test_cache *c, const struct heads &h, int length) {
    for (void *half : {c->cache.keys, c->cache.values}) {
        for (int head = 0; head < h.kv_heads; head++) {
            for (int p = 0; p < length; p++) {
                for (int i = 0; i < c->cache.stride; i++) {
                    size_t at = ((size_t)head * (size_t)c->cache.context + (size_t)p) *
                                    (size_t)c->cache.stride +
                                (size_t)i;
                    float value = i < h.head_dim ? 2 * random_number() : 0;
                    if (c->cache.is_half)
                        static_cast<half16 *>(half)[at] = to_half(value);
                    else
                        static_cast<float *>(half)[at] = value;
                }
            }
        }
    }
}

static numbers attended(const double *query, const struct cache &c, const struct heads &h, int head,
                        int length) {
    const int kv_head = head / (h.heads / h.kv_heads);
    numbers shares, mixed((size_t)h.head_dim);
    double most = -INFINITY, sum = 0;
    for (int p = 0; p < length; p++) {
        double score = 0;
        for (int i = 0; i < h.head_dim; i++)
            score += query[i] * cached(c, c.keys, kv_head, p, i);
        shares.push_back(score / sqrt((double)h.head_dim));
        most = fmax(most, shares.back());
    }
    for (double &share : shares)
        sum += share = exp(share - most);
    for (int p = 0; p < length; p++) {
        for (int i = 0; i < h.head_dim; i++)
            mixed[(size_t)i] += shares[(size_t)p] / sum * cached(c, c.values, kv_head, p, i);
    }
    return mixed;
}

static const struct heads head_sizes[] = {{4, 2, 8},  {3, 1, 4},   {2, 2, 64}, {9, 1, 10},
                                          {1, 1, 66}, {2, 1, 128}, {3, 3, 32}};

static void check_attention(const struct heads &h, bool is_half, int length, int splits) {
    char what[96];
    const int context = length + 3;
    const size_t rows = (size_t)(h.heads * h.head_dim), parts = (size_t)(h.heads * splits);
    snprintf(what, sizeof what, "attention, heads %d/%d of %d, half %d, length %d in %d", h.heads,
             h.kv_heads, h.head_dim, is_half, length, splits);
    test_cache *c = make_cache(h, is_half, context);
    fill_cache(c, h, length);
    device<float> query(rows), most(parts), sum(parts), part(parts * (size_t)h.head_dim), out(rows);
    device<struct step> step(1);
    fill(query);
    step.at->position = length - 1;
    struct attend_args args = {query.at, c->cache, h,       step.at, splits,
                               most.at,  sum.at,   part.at, out.at};
    launch_attend(args, NULL);
    launch_combine(args, NULL);
    numbers wanted, q = values_of(query);
    for (int head = 0; head < h.heads; head++) {
        numbers one = attended(&q[(size_t)(head * h.head_dim)], c->cache, h, head, length);
        wanted.insert(wanted.end(), one.begin(), one.end());
    }
    assert_near(out.at, wanted, 1e-6, what);
    delete c;
}

static void check_attentions(void) {
    static const int lengths[] = {1, 2, 31, 32, 33, 63, 64, 65, 96, 130};
    for (auto &h : head_sizes) {
        for (int length : lengths) {
            check_attention(h, false, length, 1);
            check_attention(h, true, length, length > 64 ? 3 : 2);
        }
    }
    check_attention({4, 2, 8}, false, 400, 4);
    check_attention({2, 1, 8}, true, 200, MOST_SPLITS);
}

static void a_steps_attention_mixes_the_values_of_the_whole_cache(void **) {
    in_every_order(check_attentions);
}

// Every place of the cache that is not the position's is as it was.
static void assert_kept(const test_cache *c, const struct heads &h, int position,
                        const numbers &rows, double most) {
    const size_t q_rows = (size_t)(h.heads * h.head_dim), kv = (size_t)(h.kv_heads * h.head_dim);
    std::vector<float> got;
    for (const void *half : {c->cache.keys, c->cache.values}) {
        for (int head = 0; head < h.kv_heads; head++) {
            for (int p = 0; p < c->cache.context; p++) {
                for (int i = 0; i < h.head_dim; i++) {
                    double value = cached(c->cache, half, head, p, i);
                    if (p == position)
                        got.push_back((float)value);
                    else
                        assert_true(isnan(value));
                }
            }
        }
    }
    assert_near(got.data(), numbers(rows.begin() + (long)q_rows, rows.end()), most, "the cache");
    assert_int_equal(got.size(), 2 * kv);
}

static void check_qkv(size_t format, const struct heads &h, int dim, bool is_half, int position) {
    const int q_rows = h.heads * h.head_dim, kv_rows = h.kv_heads * h.head_dim, context = 7;
    test_matrix *m = make_matrix(format, q_rows + 2 * kv_rows, dim);
    test_cache *c = make_cache(h, is_half, context);
    device<float> in((size_t)dim), norm((size_t)dim), query((size_t)q_rows);
    device<float> angles((size_t)(context * h.head_dim));
    device<struct step> step(1);
    fill(in);
    fill(norm);
    fill(angles);
    step.at->position = position;
    struct qkv_args args = {m->matrix, in.at, norm.at,  (float)epsilon, angles.at,
                            step.at,   h,     query.at, c->cache};
    launch_qkv(args, NULL);
    numbers wanted = times(m->values, normed(values_of(in), values_of(norm), epsilon));
    turn(wanted, 0, (size_t)(q_rows + kv_rows), h.head_dim, position, values_of(angles));
    assert_near(query.at, numbers(wanted.begin(), wanted.begin() + q_rows), formats[format].error,
                "the query");
    assert_kept(c, h, position, wanted, formats[format].error);
    delete m;
    delete c;
}

static void check_qkvs(void) {
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (auto &h : head_sizes) {
            check_qkv(f, h, 64, false, 0);
            check_qkv(f, h, 160, true, 6);
        }
    }
}

static void queries_and_keys_are_turned_and_kept(void **) {
    in_every_order(check_qkvs);
}

// --- The largest ---

static void check_largest(void) {
    static const int counts[] = {1, 2, 31, 33, 255, 257, 20000};
    device<float> part_values(LARGEST_BLOCKS);
    device<int> part_indices(LARGEST_BLOCKS), out(1);
    device<unsigned> arrived(1);
    arrived.at[0] = 0;
    for (int count : counts) {
        device<float> values((size_t)count);
        struct largest_args args = {out.at,         values.at,       count,
                                    part_values.at, part_indices.at, arrived.at};
        fill(values);
        int first = count / 3;
        values.at[first] = 2;
        values.at[count - 1] = 2; // an equal one further on
        values.at[(first + count - 1) / 2] = 2;
        launch_largest(args, NULL);
        assert_null(host_cuda_failure());
        assert_int_equal(out.at[0], first);
        // NaN is never the largest, and an infinity is no number that one may take.
        for (int i = 0; i < count; i++)
            values.at[i] = i == first ? -3.0f : NAN;
        launch_largest(args, NULL);
        assert_int_equal(out.at[0], first);
        for (float odd : {-INFINITY, INFINITY, NAN}) {
            for (int i = 0; i < count; i++)
                values.at[i] = odd == INFINITY && i != first ? 1 : odd;
            launch_largest(args, NULL);
            assert_int_equal(out.at[0], -1);
        }
    }
}

static void the_lowest_index_of_the_largest_wins(void **) {
    in_every_order(check_largest);
}

// --- Many tokens ---

// Rows as they went out, and that the padding is zero.
static std::vector<float> rows_back(const struct rows_out &out, int tokens, int cols) {
    std::vector<float> back;
    for (int t = 0; t < tokens; t++) {
        for (int i = 0; i < out.stride; i++) {
            size_t at = (size_t)t * (size_t)out.stride + (size_t)i;
            float value = out.is_bf16 ? to_float(static_cast<bfloat16 *>(out.data)[at])
                                      : static_cast<float *>(out.data)[at];
            if (i < cols)
                back.push_back(value);
            else
                assert_true(value == 0); // not true of NaN
        }
    }
    return back;
}

struct test_rows {
    struct rows_out out;
    device<unsigned char> data;
};

static test_rows *make_rows(int tokens, int cols, bool is_bf16) {
    int stride = matrix_stride(is_bf16 ? WEIGHT_BF16 : WEIGHT_F32, cols);
    test_rows *r =
        new test_rows{{}, device<unsigned char>((size_t)(tokens * stride) * (is_bf16 ? 2 : 4))};
    r->out = {r->data.at, stride, is_bf16};
    return r;
}

static const double bf16_error = 1e-5; // 2^-9 at most, rounded once

static void check_norm_rows(void) {
    static const int sizes[][2] = {{1, 64}, {3, 172}, {2, 5}, {4, 300}};
    for (auto &size : sizes) {
        for (bool is_bf16 : {false, true}) {
            const int tokens = size[0], cols = size[1];
            test_rows *r = make_rows(tokens, cols, is_bf16);
            device<float> in((size_t)(tokens * cols)), norm((size_t)cols);
            fill(in);
            fill(norm);
            struct norm_rows_args args = {r->out, in.at, norm.at, (float)epsilon, tokens, cols};
            launch_norm_rows(args, NULL);
            numbers wanted, x = values_of(in);
            for (int t = 0; t < tokens; t++) {
                numbers one = normed(numbers(&x[(size_t)(t * cols)], &x[(size_t)(t * cols)] + cols),
                                     values_of(norm), epsilon);
                wanted.insert(wanted.end(), one.begin(), one.end());
            }
            assert_near(rows_back(r->out, tokens, cols).data(), wanted, is_bf16 ? bf16_error : 1e-6,
                        "norm of rows");
            delete r;
        }
    }
}

static void rows_are_normed(void **) {
    in_every_order(check_norm_rows);
}

static void check_swiglu_rows(void) {
    static const int sizes[][2] = {{1, 172}, {3, 5}, {2, 300}};
    for (auto &size : sizes) {
        for (bool is_bf16 : {false, true}) {
            const int tokens = size[0], cols = size[1];
            test_rows *r = make_rows(tokens, cols, is_bf16);
            device<float> in((size_t)(tokens * 2 * cols));
            fill(in);
            struct swiglu_rows_args args = {r->out, in.at, tokens, cols};
            launch_swiglu_rows(args, NULL);
            numbers wanted, x = values_of(in);
            for (int t = 0; t < tokens; t++) {
                const double *row = &x[(size_t)(t * 2 * cols)];
                numbers one = swiglu(numbers(row, row + 2 * cols));
                wanted.insert(wanted.end(), one.begin(), one.end());
            }
            assert_near(rows_back(r->out, tokens, cols).data(), wanted, is_bf16 ? bf16_error : 1e-6,
                        "swiglu of rows");
            delete r;
        }
    }
}

static void rows_of_gate_and_up_make_inner_rows(void **) {
    in_every_order(check_swiglu_rows);
}

// Keys and values of `tokens` go into the cache, then the queries look at all of it.
static void check_rows_attention(const struct heads &h, bool is_half, int tokens, int first,
                                 double most_flop) {
    char what[96];
    const int q_rows = h.heads * h.head_dim, kv_rows = h.kv_heads * h.head_dim;
    const int rows = q_rows + 2 * kv_rows, context = first + tokens + 2;
    snprintf(what, sizeof what, "rows' attention, heads %d/%d of %d, half %d, %d tokens after %d",
             h.heads, h.kv_heads, h.head_dim, is_half, tokens, first);
    test_cache *c = make_cache(h, is_half, context);
    fill_cache(c, h, first);
    device<float> qkv((size_t)(tokens * rows)), angles((size_t)(context * h.head_dim));
    fill(qkv);
    fill(angles);
    numbers x = values_of(qkv), turned = values_of(angles);
    struct keep_rows_args keep = {qkv.at, tokens, first, angles.at, h, c->cache};
    launch_keep_rows(keep, NULL);
    numbers kept;
    std::vector<float> got;
    for (int t = 0; t < tokens; t++) {
        numbers row(&x[(size_t)(t * rows)], &x[(size_t)(t * rows)] + rows);
        turn(row, 0, (size_t)(q_rows + kv_rows), h.head_dim, first + t, turned);
        kept.insert(kept.end(), row.begin(), row.end());
        got.insert(got.end(), qkv.at + t * rows, qkv.at + t * rows + q_rows);
        for (const void *half : {c->cache.keys, c->cache.values}) {
            for (int i = 0; i < kv_rows; i++)
                got.push_back(
                    (float)cached(c->cache, half, i / h.head_dim, first + t, i % h.head_dim));
        }
    }
    assert_near(got.data(), kept, 1e-6, what);

    test_rows *r = make_rows(tokens, q_rows, is_half);
    struct attend_rows_args args = {r->out, qkv.at, tokens, first, h, c->cache, most_flop};
    launch_attend_rows(args, NULL);
    numbers wanted;
    for (int t = 0; t < tokens; t++) {
        for (int head = 0; head < h.heads; head++) {
            numbers one = attended(&kept[(size_t)(t * rows + head * h.head_dim)], c->cache, h, head,
                                   first + t + 1);
            wanted.insert(wanted.end(), one.begin(), one.end());
        }
    }
    assert_near(rows_back(r->out, tokens, q_rows).data(), wanted, is_half ? bf16_error : 1e-6,
                what);
    delete r;
    delete c;
}

static void check_rows_attentions(void) {
    static const int cases[][2] = {{1, 0},  {3, 0},  {8, 0},  {9, 1},  {31, 0},
                                   {32, 0}, {33, 0}, {65, 0}, {2, 31}, {33, 31}};
    for (auto &h : head_sizes) {
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            check_rows_attention(h, i % 2 == 1, cases[i][0], cases[i][1], 0);
    }
    check_rows_attention({2, 1, 8}, false, 33, 63, 0);
    // In slices of 32, of 64, and in one.
    for (double most_flop : {1.0, 64.0 * 100 * 4 * 2 * 10, 1e12})
        check_rows_attention({2, 1, 10}, most_flop > 1, 97, 3, most_flop);
}

static void rows_attend_to_what_came_before_them(void **) {
    in_every_order(check_rows_attentions);
}

// The limit lets through all tokens, two tiles of them, one, or less than one.
static void products_in_slices_are_those_at_once(void **) {
    enum { ROWS = 12, COLS = 8, MOST = 300 };
    struct gemm *gemm = NULL;
    struct why why = {0};
    device<float> in(MOST * COLS), weights(ROWS * COLS), wanted(MOST * ROWS), got(MOST * ROWS);
    fill(in);
    fill(weights);
    assert_true(gemm_create(&gemm, &why));
    for (int tokens : {1, 127, 128, 129, 256, 300}) {
        for (double fitting : {1e9, 270.0, 200.0, 1.0}) {
            for (bool is_bf16 : {false, true}) {
                struct gemm_call call = {};
                call.in = in.at;
                call.weights = weights.at;
                call.out = wanted.at;
                call.tokens = tokens;
                call.rows = call.out_stride = ROWS;
                call.cols = call.in_stride = call.weights_stride = COLS;
                call.type = is_bf16 ? GEMM_BF16 : GEMM_F32;
                memset(got.at, 0xff, got.count * sizeof(float));
                assert_true(gemm_run(gemm, &call, NULL, &why));
                call.out = got.at;
                assert_true(gemm_run_in_slices(gemm, &call, fitting * 2 * ROWS * COLS, NULL, &why));
                assert_memory_equal(got.at, wanted.at, (size_t)(tokens * ROWS) * sizeof(float));
                if (tokens < MOST) // and nothing behind them
                    assert_true(isnan(got.at[tokens * ROWS]));
            }
        }
    }
    gemm_destroy(gemm);
}

// --- Weights ---

static void check_weights(void) {
    enum { TOKENS = 3, ROWS = 7 };
    static const int ids[TOKENS] = {6, 0, 3};
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        const int cols = fits(f, 20) ? 20 : 64;
        test_matrix *m = make_matrix(f, ROWS, cols);
        device<float> out((size_t)(TOKENS * cols));
        device<int> tokens(TOKENS);
        memcpy(tokens.at, ids, sizeof ids);
        struct embed_args embed = {};
        embed.out = out.at;
        embed.table = m->matrix;
        embed.tokens = tokens.at;
        embed.count = TOKENS;
        launch_embed(embed, NULL);
        for (int t = 0; t < TOKENS; t++)
            assert_near(out.at + t * cols,
                        numbers(&m->values[(size_t)(ids[t] * cols)],
                                &m->values[(size_t)(ids[t] * cols)] + cols),
                        0, "embedding");

        const int stride = matrix_stride(WEIGHT_BF16, cols);
        device<bfloat16> wide((size_t)(ROWS * stride));
        launch_to_bf16(wide.at, stride, m->matrix, NULL);
        for (int r = 0; r < ROWS; r++) {
            for (int i = 0; i < stride; i++) {
                float value = i < cols ? (float)m->values[(size_t)(r * cols + i)] : 0;
                assert_int_equal(wide.at[r * stride + i].bits, to_bfloat(value).bits);
            }
        }
        delete m;
    }
}

static void embedding_and_bf16_are_exact(void **) {
    in_every_order(check_weights);
}

static void a_steps_embedding_tells_the_step_where_it_is(void **) {
    test_matrix *m = make_matrix(0, 5, 20);
    device<float> out(20);
    device<int> next(2);
    device<struct step> step(1);
    next.at[0] = 4;
    next.at[1] = 17;
    struct embed_args embed = {};
    embed.out = out.at;
    embed.table = m->matrix;
    embed.tokens = next.at;
    embed.count = 1;
    embed.step = step.at;
    launch_embed(embed, NULL);
    assert_int_equal(step.at->token, 4);
    assert_int_equal(step.at->position, 17);
    delete m;
}

// The bits that the CPU makes: the same numbers through quant_row_from_float.
static void check_make(void) {
    enum { ROWS = 3 };
    const float scale = 1e-6f;
    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (int cols : {32, 96, 300}) {
            if (!fits(f, cols))
                continue;
            test_matrix *m = make_matrix(f, ROWS, cols), *made = make_matrix(f, ROWS, cols);
            // Row by row and all at once are the same.
            struct make_args args = {made->matrix, 0, 99, 5, scale};
            args.to.rows = 1;
            launch_make(args, NULL);
            args.first_row = 1;
            args.to.rows = ROWS - 1;
            args.to.data += matrix_row_bytes(args.to.type, args.to.stride);
            args.to.scales += is_blocks(args.to.type) ? cols / BLOCK_VALUES : 0;
            launch_make(args, NULL);
            for (int r = 0; r < ROWS; r++) {
                std::vector<float> row((size_t)cols);
                std::vector<unsigned char> file(quant_row_bytes(formats[f].file_type, cols));
                struct shape_random_row keys = shape_random_keys(99, 5, (uint64_t)r);
                for (int i = 0; i < cols; i++)
                    row[(size_t)i] = shape_random_value(keys, (uint32_t)i, scale);
                quant_row_from_float(file.data(), formats[f].file_type, row.data(), row.size());
                quant_row_to_float(row.data(), formats[f].file_type, file.data(), row.size());
                device<float> out((size_t)cols);
                device<int> token(1);
                token.at[0] = r;
                struct embed_args embed = {};
                embed.out = out.at;
                embed.table = made->matrix;
                embed.tokens = token.at;
                embed.count = 1;
                launch_embed(embed, NULL);
                assert_memory_equal(out.at, row.data(), row.size() * sizeof(float));
            }
            delete m;
            delete made;
        }
    }
}

static void made_weights_have_the_cpus_bits(void **) {
    in_every_order(check_make);
}

static int setup(void **) {
    host_cuda_reset();
    random_state = 1;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(products_are_those_of_the_numbers_they_stand_for, setup),
        cmocka_unit_test_setup(gate_and_up_make_the_inner_values, setup),
        cmocka_unit_test_setup(a_steps_attention_mixes_the_values_of_the_whole_cache, setup),
        cmocka_unit_test_setup(queries_and_keys_are_turned_and_kept, setup),
        cmocka_unit_test_setup(the_lowest_index_of_the_largest_wins, setup),
        cmocka_unit_test_setup(rows_are_normed, setup),
        cmocka_unit_test_setup(rows_of_gate_and_up_make_inner_rows, setup),
        cmocka_unit_test_setup(rows_attend_to_what_came_before_them, setup),
        cmocka_unit_test_setup(products_in_slices_are_those_at_once, setup),
        cmocka_unit_test_setup(embedding_and_bf16_are_exact, setup),
        cmocka_unit_test_setup(a_steps_embedding_tells_the_step_where_it_is, setup),
        cmocka_unit_test_setup(made_weights_have_the_cpus_bits, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
