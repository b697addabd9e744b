// Attention of many tokens by matrix products, on the emulated device, against the
// formula in double arithmetic: lengths around every edge of a tile, starts inside the
// cache, one to eight heads on one key head, all three orders of lanes. What nobody wrote
// is NaN: rows of the cache behind the tokens, the work memory, the output.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include <cmocka.h>

#include "compute/base/why.h"
}

#include "compute/cuda/attend_products.cuh"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <vector>

static const double most_error = 1e-5; // queries, shares and outputs are rounded once each

static uint64_t random_state;

static float random_number(void) {
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (float)(int32_t)(random_state >> 32) / 2147483648.0f;
}

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

// One layer's pass: its turned queries and the cache with its keys and values in it.
struct fixture {
    struct heads heads;
    int tokens, first, context, stride;
    device<float> qkv;
    device<half16> keys, values;
    device<bfloat16> out;
    fixture(const struct heads &h, int tokens_, int first_, int context_);
    struct attend_rows_args args(void);
};

static size_t plane_of(const struct heads &h, int context) {
    return (size_t)h.kv_heads * (size_t)context * (size_t)matrix_stride(WEIGHT_F16, h.head_dim);
}

fixture::fixture(const struct heads &h, int tokens_, int first_, int context_)
    : heads(h), tokens(tokens_), first(first_), context(context_),
      stride(matrix_stride(WEIGHT_F16, h.head_dim)),
      qkv((size_t)tokens_ * (size_t)((h.heads + 2 * h.kv_heads) * h.head_dim)),
      keys(plane_of(h, context_)), values(plane_of(h, context_)),
      out((size_t)tokens_ * (size_t)matrix_stride(WEIGHT_BF16, h.heads * h.head_dim)) {
    for (size_t i = 0; i < qkv.count; i++)
        qkv.at[i] = 4 * random_number();
    for (half16 *plane : {keys.at, values.at}) {
        for (int row = 0; row < h.kv_heads * context; row++) {
            for (int i = 0; i < stride && row % context < first + tokens; i++)
                plane[row * stride + i] = to_half(i < h.head_dim ? 2 * random_number() : 0);
        }
    }
}

struct attend_rows_args fixture::args(void) {
    struct attend_rows_args a = {};
    a.out.data = out.at;
    a.out.stride = matrix_stride(WEIGHT_BF16, heads.heads * heads.head_dim);
    a.out.is_bf16 = true;
    a.qkv = qkv.at;
    a.tokens = tokens;
    a.first_position = first;
    a.heads = heads;
    a.cache.keys = keys.at;
    a.cache.values = values.at;
    a.cache.is_half = true;
    a.cache.context = context;
    a.cache.stride = stride;
    return a;
}

static std::vector<double> wanted_row(const struct fixture &f, int token, int head) {
    const struct heads &h = f.heads;
    const size_t kv = (size_t)(head / (h.heads / h.kv_heads)) * (size_t)f.context;
    const float *query = f.qkv.at +
                         (size_t)token * (size_t)((h.heads + 2 * h.kv_heads) * h.head_dim) +
                         head * h.head_dim;
    std::vector<double> shares, mixed((size_t)h.head_dim);
    double most = -INFINITY, sum = 0;
    for (int p = 0; p <= f.first + token; p++) {
        double score = 0;
        for (int i = 0; i < h.head_dim; i++)
            score += (double)query[i] *
                     (double)to_float(f.keys.at[(kv + (size_t)p) * (size_t)f.stride + (size_t)i]);
        shares.push_back(score / sqrt((double)h.head_dim));
        most = fmax(most, shares.back());
    }
    for (double &share : shares)
        sum += share = exp(share - most);
    for (size_t p = 0; p < shares.size(); p++) {
        for (int i = 0; i < h.head_dim; i++)
            mixed[(size_t)i] +=
                shares[p] / sum *
                (double)to_float(f.values.at[(kv + p) * (size_t)f.stride + (size_t)i]);
    }
    return mixed;
}

static void assert_mixed(const struct fixture &f, const struct rows_out &out, const char *what) {
    const struct heads &h = f.heads;
    double squares = 0, apart = 0;
    if (host_cuda_failure())
        fail_msg("%s: %s", what, host_cuda_failure());
    for (int t = 0; t < f.tokens; t++) {
        const bfloat16 *row = f.out.at + (size_t)t * (size_t)out.stride;
        for (int head = 0; head < h.heads; head++) {
            std::vector<double> wanted = wanted_row(f, t, head);
            for (int i = 0; i < h.head_dim; i++) {
                double difference =
                    (double)to_float(row[head * h.head_dim + i]) - wanted[(size_t)i];
                apart += difference * difference;
                squares += wanted[(size_t)i] * wanted[(size_t)i];
            }
        }
        for (int i = h.heads * h.head_dim; i < out.stride; i++)
            assert_int_equal(row[i].bits, 0);
    }
    if (!(apart <= most_error * squares))
        fail_msg("%s: NMSE %.3g, at most %.3g", what, apart / squares, most_error);
}

// Work memory of exactly the size that was counted; values: what there is room for, 0 =
// as many as it takes.
static void check(const struct heads &h, int tokens, int first, int tile, size_t values) {
    char what[128];
    struct why why = {0};
    const int context = first + tokens + 3;
    struct fixture f(h, tokens, first, context);
    struct attend_products work = {};
    struct device_arena count = {NULL, 0}, arena = {NULL, 0};
    struct gemm *gemm = NULL;
    snprintf(what, sizeof what, "heads %d/%d of %d, %d tokens after %d, tiles of %d", h.heads,
             h.kv_heads, h.head_dim, tokens, first, tile);
    attend_products_place(&work, &count, h, f.stride, context, 4096);
    device<unsigned char> memory(count.used);
    arena.base = memory.at;
    attend_products_place(&work, &arena, h, f.stride, context, 4096);
    assert_int_equal(arena.used, count.used);
    assert_int_equal(work.tile_tokens, 256);
    work.tile_tokens = tile;
    if (values > 0)
        work.values = values;
    assert_true(gemm_create(&gemm, &why));
    if (!attend_products_run(&work, gemm, f.args(), NULL, &why))
        fail_msg("%s: %s", what, why.text);
    assert_mixed(f, f.args().out, what);
    gemm_destroy(gemm);
}

static void in_every_order(void (*checks)(void)) {
    for (enum host_order order : {HOST_FORWARD, HOST_REVERSE, HOST_RANDOM}) {
        host_cuda.order = order;
        checks();
    }
    assert_int_equal(host_cuda.used_bytes, 0);
}

static void check_lengths(void) {
    for (int tokens : {127, 128, 129, 255, 257})
        check({2, 1, 8}, tokens, 0, 128, 0);
    for (int tokens : {1, 255, 256, 257})
        check({1, 1, 8}, tokens, 0, 256, 0);
}

static void lengths_around_a_tile_equal_double_arithmetic(void **) {
    in_every_order(check_lengths);
}

static void check_starts(void) {
    for (int first : {1, 7, 8, 100})
        check({2, 2, 8}, 33, first, 32, 0);
    check({1, 1, 4}, 3, 2100, 32, 0); // rows longer than all threads take at once
}

static void passes_may_start_inside_the_cache(void **) {
    in_every_order(check_starts);
}

static void check_heads(void) {
    static const struct heads sizes[] = {{4, 4, 8},  {4, 2, 8},   {4, 1, 8}, {8, 1, 10},
                                         {3, 3, 66}, {2, 1, 128}, {9, 3, 4}};
    for (const struct heads &h : sizes) {
        check(h, 37, 5, 32, 0);
        // Room for one key head at a time, and for two.
        const size_t one = (size_t)(h.heads / h.kv_heads) * 32 * 48;
        check(h, 37, 5, 32, one);
        check(h, 37, 5, 32, 2 * one + 5);
    }
}

static void any_grouping_of_heads_goes_with_any_room_for_them(void **) {
    in_every_order(check_heads);
}

// One score far above the rest, and all of them far below zero: a softmax without its
// maximum would overflow or divide zero by zero.
static void extreme_scores_stay_numbers(void **) {
    struct why why = {0};
    struct fixture f({1, 1, 8}, 40, 0, 48);
    struct attend_products work = {};
    struct device_arena count = {NULL, 0};
    struct gemm *gemm = NULL;
    for (size_t i = 0; i < f.qkv.count; i++)
        f.qkv.at[i] *= 200;
    attend_products_place(&work, &count, f.heads, f.stride, 48, 4096);
    device<unsigned char> memory(count.used);
    struct device_arena arena = {memory.at, 0};
    attend_products_place(&work, &arena, f.heads, f.stride, 48, 4096);
    assert_true(gemm_create(&gemm, &why));
    assert_true(attend_products_run(&work, gemm, f.args(), NULL, &why));
    const struct rows_out out = f.args().out;
    for (size_t i = 0; i < f.out.count; i++)
        assert_true(isfinite(to_float(f.out.at[i])));
    // The first token sees itself alone.
    for (int i = 0; i < 8; i++)
        assert_int_equal(f.out.at[i].bits, to_bfloat(to_float(f.values.at[i])).bits);
    assert_int_equal(out.stride, 8);
    gemm_destroy(gemm);
}

// By arithmetic alone: no memory is taken.
static void the_work_memory_is_bounded_at_any_context(void **) {
    static const struct {
        struct heads heads;
        int context, most_tokens, tile;
    } rows[] = {
        {{32, 8, 128}, 8192, 2048, 256}, // llama-3-8b
        {{64, 8, 128}, 8192, 2048, 256}, // llama-3-70b
        {{32, 8, 64}, 131072, 2048, 64}, // llama-3.2-1b in full
        {{9, 3, 64}, 8192, 2048, 256},   // smollm2-135m
        {{32, 8, 128}, 1000, 1000, 256}, {{32, 8, 128}, 200, 200, 200},
        {{32, 8, 128}, 127, 127, 0},     {{64, 1, 64}, 131072, 2048, 0},
    };
    const size_t most = (size_t)ATTEND_PRODUCTS_MOST_MIB << 20;
    for (auto &row : rows) {
        struct attend_products work;
        struct device_arena count = {NULL, 0};
        attend_products_place(&work, &count, row.heads, row.heads.head_dim, row.context,
                              row.most_tokens);
        assert_int_equal(work.tile_tokens, row.tile);
        assert_true(work.values * 6 <= most);
        if (row.tile == 0) {
            assert_int_equal(count.used, 0);
            continue;
        }
        // One key head's tile at the context's end has room.
        size_t group = (size_t)(row.heads.heads / row.heads.kv_heads);
        assert_true(work.values >= group * (size_t)row.tile * (size_t)row.context);
        size_t others = (size_t)(row.heads.heads * row.tile * (row.heads.head_dim * 6 + 4));
        assert_in_range(count.used, work.values * 6 + others, work.values * 6 + others + 5 * 256);
    }
}

static int setup(void **) {
    host_cuda_reset();
    random_state = 1;
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(lengths_around_a_tile_equal_double_arithmetic, setup),
        cmocka_unit_test_setup(passes_may_start_inside_the_cache, setup),
        cmocka_unit_test_setup(any_grouping_of_heads_goes_with_any_room_for_them, setup),
        cmocka_unit_test_setup(extreme_scores_stay_numbers, setup),
        cmocka_unit_test_setup(the_work_memory_is_bounded_at_any_context, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
