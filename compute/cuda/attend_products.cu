// See attend_products.cuh. The queries of heads that share keys lie one after the other
// (head, token), so that one product serves them all, and the products of several key
// heads are one batch. The shares of a row are not divided by their sum until the values
// are mixed, which saves a walk over the scores; the sum is that of the rounded shares, so
// that rounding affects a share and the whole alike.
#include "compute/cuda/attend_products.cuh"

#include "compute/base/num.h"

enum {
    THREADS = 256,
    WARPS = THREADS / WARP_LANES,
    EACH = 8, // neighbouring scores of a thread: 16 bytes of shares
    VALUE_BYTES = sizeof(float) + sizeof(half16),
};

// A row of so many scores or shares has a stride that is a multiple of 16 bytes.
static int padded(int count) {
    return (count + EACH - 1) / EACH * EACH;
}

// --- Sizes ---

static size_t values_of(const struct heads &h, int tokens, int positions) {
    return (size_t)(h.heads / h.kv_heads) * (size_t)tokens * (size_t)padded(positions);
}

// The tile is as high as the memory allows at the end of the context, where it needs most,
// so that it fits everywhere.
static int choose_tile(const struct heads &h, int context, int most_tokens) {
    const size_t most = ((size_t)ATTEND_PRODUCTS_MOST_MIB << 20) / VALUE_BYTES;
    if (most_tokens < ATTEND_PRODUCTS_TOKENS)
        return 0;
    for (int tile = 256; tile >= 32; tile /= 2) {
        if (values_of(h, tile, context) <= most)
            return min_int(tile, most_tokens);
    }
    return 0;
}

void attend_products_place(struct attend_products *out, struct device_arena *arena,
                           const struct heads &heads, int cache_stride, int context,
                           int most_tokens) {
    const size_t together = ((size_t)ATTEND_PRODUCTS_TOGETHER_MIB << 20) / VALUE_BYTES;
    struct attend_products none = {};
    *out = none;
    out->tile_tokens = choose_tile(heads, context, most_tokens);
    if (out->tile_tokens == 0)
        return;
    const size_t one = values_of(heads, out->tile_tokens, context);
    const size_t all = one * (size_t)heads.kv_heads;
    out->values = one > together ? one : all < together ? all : together;
    const size_t rows = (size_t)heads.heads * (size_t)out->tile_tokens;
    const size_t numbers = rows * (size_t)cache_stride;
    out->queries = static_cast<half16 *>(device_take(arena, numbers * sizeof(half16)));
    out->scores = static_cast<float *>(device_take(arena, out->values * sizeof(float)));
    out->shares = static_cast<half16 *>(device_take(arena, out->values * sizeof(half16)));
    out->mixed = static_cast<float *>(device_take(arena, numbers * sizeof(float)));
    out->sums = static_cast<float *>(device_take(arena, rows * sizeof(float)));
}

// --- Queries ---

// A tile of a pass: the tokens from `first` on.
struct tile_args {
    struct attend_products work;
    struct attend_rows_args pass;
    int first, tokens;
};

// A block is one token. Scaled here, which also keeps large queries within f16.
KERNEL void queries_kernel(struct tile_args args) {
    const struct heads h = args.pass.heads;
    const int stride = args.pass.cache.stride, token = (int)blockIdx.x;
    const float scale = 1 / sqrtf((float)h.head_dim);
    const float *from = args.pass.qkv + (size_t)(args.first + token) *
                                            (size_t)((h.heads + 2 * h.kv_heads) * h.head_dim);
    for (int i = (int)threadIdx.x; i < h.heads * stride; i += THREADS) {
        const int head = i / stride, at = i % stride;
        const size_t row = (size_t)head * (size_t)args.tokens + (size_t)token;
        float value = at < h.head_dim ? from[head * h.head_dim + at] * scale : 0;
        args.work.queries[row * (size_t)stride + (size_t)at] = to_half(value);
    }
}

// --- Softmax ---

struct shares_args {
    const float *scores;
    half16 *shares;
    float *sums;
    int stride;         // of a row
    int first_position; // of the tile's first token
};

// Of the row's scores from `first` on: -infinity for those that are not seen.
static __device__ __forceinline__ void load_scores(float (&out)[EACH], const float *scores,
                                                   int first, int seen) {
    float4 a = {}, b = {};
    if (first < seen) {
        a = load_floats(scores + first);
        b = load_floats(scores + first + 4);
    }
    const float all[EACH] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    UNROLL
    for (int i = 0; i < EACH; i++)
        out[i] = first + i < seen ? all[i] : -INFINITY;
}

// blockIdx: token, head. Shares of what is not seen are zeros, to the end of the row.
KERNEL void __launch_bounds__(THREADS) shares_kernel(struct shares_args args) {
    SHARED(float, parts, WARPS);
    const size_t row = (size_t)blockIdx.y * gridDim.x + blockIdx.x;
    const float *scores = args.scores + row * (size_t)args.stride;
    half16 *shares = args.shares + row * (size_t)args.stride;
    const int seen = args.first_position + (int)blockIdx.x + 1;
    float most = -INFINITY, sum = 0;
    for (int at = EACH * (int)threadIdx.x; at < seen; at += EACH * THREADS) {
        float score[EACH];
        load_scores(score, scores, at, seen);
        UNROLL
        for (int i = 0; i < EACH; i++)
            most = fmaxf(most, score[i]);
    }
    most = block_max(most, parts);
    for (int at = EACH * (int)threadIdx.x; at < args.stride; at += EACH * THREADS) {
        float score[EACH];
        uint32_t words[EACH / 2];
        load_scores(score, scores, at, seen);
        UNROLL
        for (int i = 0; i < EACH; i += 2) {
            half16 low = to_half(at + i < seen ? expf(score[i] - most) : 0);
            half16 high = to_half(at + i + 1 < seen ? expf(score[i + 1] - most) : 0);
            sum += to_float(low) + to_float(high);
            words[i / 2] = (uint32_t)low.bits | (uint32_t)high.bits << 16;
        }
        uint4 vector = {words[0], words[1], words[2], words[3]};
        store_vector(shares + at, vector);
    }
    sum = block_sum(sum, parts);
    if (threadIdx.x == 0)
        args.sums[row] = sum;
}

// --- Mixed values ---

// A block is one token; zeros behind its heads, for the matrix product.
KERNEL void mixed_kernel(struct tile_args args) {
    const int head_dim = args.pass.heads.head_dim, cols = args.pass.heads.heads * head_dim;
    const struct rows_out out = args.pass.out;
    const size_t to = (size_t)(args.first + (int)blockIdx.x) * (size_t)out.stride;
    for (int i = (int)threadIdx.x; i < out.stride; i += THREADS) {
        float value = 0;
        if (i < cols) {
            const size_t row = (size_t)(i / head_dim) * (size_t)args.tokens + blockIdx.x;
            const size_t from = row * (size_t)args.pass.cache.stride + (size_t)(i % head_dim);
            value = args.work.mixed[from] / args.work.sums[row];
        }
        put_number(out, to + (size_t)i, value);
    }
}

// --- A tile ---

// `count` key heads from `first_head` on, whose planes are `plane` numbers apart.
static bool run_heads(const struct tile_args &tile, int first_head, int count, struct gemm *gemm,
                      cudaStream_t stream, struct why *why) {
    const struct attend_products &work = tile.work;
    const struct cache &cache = tile.pass.cache;
    const int group = tile.pass.heads.heads / tile.pass.heads.kv_heads;
    const int seen = tile.pass.first_position + tile.first + tile.tokens;
    const size_t plane = (size_t)cache.context * (size_t)cache.stride;
    const size_t rows = (size_t)group * (size_t)tile.tokens;
    const size_t first_row = (size_t)first_head * rows, first_plane = (size_t)first_head * plane;

    struct gemm_call call = {};
    call.type = GEMM_F16;
    call.batch = count;
    call.tokens = (int)rows;
    call.weights_stride = cache.stride;
    call.weights_step = plane;

    struct gemm_call scores = call;
    scores.out = work.scores;
    scores.in = work.queries + first_row * (size_t)cache.stride;
    scores.weights = static_cast<const half16 *>(cache.keys) + first_plane;
    scores.rows = seen;
    scores.cols = scores.in_stride = cache.stride;
    scores.out_stride = padded(seen);
    scores.in_step = rows * (size_t)cache.stride;
    scores.out_step = rows * (size_t)scores.out_stride;
    if (!gemm_run(gemm, &scores, stream, why))
        return false;

    struct shares_args shares = {};
    shares.scores = work.scores;
    shares.shares = work.shares;
    shares.sums = work.sums + first_row;
    shares.stride = scores.out_stride;
    shares.first_position = tile.pass.first_position + tile.first;
    const dim3 grid((unsigned)tile.tokens, (unsigned)(group * count));
    LAUNCH(shares_kernel, grid, (unsigned)THREADS, 0, stream, shares);

    struct gemm_call mixed = call;
    mixed.out = work.mixed + first_row * (size_t)cache.stride;
    mixed.in = work.shares;
    mixed.weights = static_cast<const half16 *>(cache.values) + first_plane;
    mixed.is_turned = true;
    mixed.rows = mixed.out_stride = cache.stride;
    mixed.cols = seen;
    mixed.in_stride = scores.out_stride;
    mixed.in_step = scores.out_step;
    mixed.out_step = scores.in_step;
    return gemm_run(gemm, &mixed, stream, why);
}

static bool run_tile(const struct tile_args &tile, struct gemm *gemm, cudaStream_t stream,
                     struct why *why) {
    const struct heads &h = tile.pass.heads;
    const int seen = tile.pass.first_position + tile.first + tile.tokens;
    const int most = (int)(tile.work.values / values_of(h, tile.tokens, seen));
    // As few rounds as possible, each with about as many heads.
    const int at_once = min_int(most, h.kv_heads), rounds = (h.kv_heads + at_once - 1) / at_once;
    const int each = (h.kv_heads + rounds - 1) / rounds;
    LAUNCH(queries_kernel, (unsigned)tile.tokens, (unsigned)THREADS, 0, stream, tile);
    for (int head = 0; head < h.kv_heads; head += each) {
        if (!run_heads(tile, head, min_int(each, h.kv_heads - head), gemm, stream, why))
            return false;
    }
    LAUNCH(mixed_kernel, (unsigned)tile.tokens, (unsigned)THREADS, 0, stream, tile);
    return true;
}

bool attend_products_run(const struct attend_products *work, struct gemm *gemm,
                         const struct attend_rows_args &args, cudaStream_t stream,
                         struct why *why) {
    struct tile_args tile = {};
    tile.work = *work;
    tile.pass = args;
    for (tile.first = 0; tile.first < args.tokens; tile.first += work->tile_tokens) {
        tile.tokens = min_int(work->tile_tokens, args.tokens - tile.first);
        if (!run_tile(tile, gemm, stream, why))
            return false;
    }
    return true;
}
