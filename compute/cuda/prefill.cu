// The kernels of a pass over many tokens, except the matrix products (gemm.cuh).
// Attention: a block is one head and QUERIES of its queries; keys, then values, of 32
// positions go through shared memory, a lane scores one position for all queries of
// its warp, and then holds a few numbers of each query's mixed values. Online softmax
// in f32, so that nothing of tokens times positions is ever in memory.
#include "compute/cuda/kernels.cuh"

enum {
    THREADS = 256,
    ATTEND_WARPS = 4,
    QUERIES_EACH = 8, // of a warp
    QUERIES = ATTEND_WARPS * QUERIES_EACH,
    TILE = WARP_LANES, // positions
};

// --- Norm ---

// A block is one token.
KERNEL void norm_rows_kernel(struct norm_rows_args args) {
    SHARED(float, parts, THREADS / WARP_LANES);
    const float *in = args.in + (size_t)blockIdx.x * (size_t)args.cols;
    float squares = 0;
    for (int i = (int)threadIdx.x; i < args.cols; i += THREADS)
        squares += in[i] * in[i];
    float mean = block_sum(squares, parts) / (float)args.cols;
    float scale = 1 / sqrtf(mean + args.epsilon);
    for (int i = (int)threadIdx.x; i < args.out.stride; i += THREADS)
        put_number(args.out, (size_t)blockIdx.x * (size_t)args.out.stride + (size_t)i,
                   i < args.cols ? in[i] * scale * args.norm[i] : 0);
}

void launch_norm_rows(const struct norm_rows_args &args, cudaStream_t stream) {
    LAUNCH(norm_rows_kernel, (unsigned)args.tokens, THREADS, 0, stream, args);
}

// --- Into the cache ---

static __device__ __forceinline__ void keep(const struct cache &cache, void *half, size_t at,
                                            float value) {
    if (cache.is_half)
        static_cast<half16 *>(half)[at] = to_half(value);
    else
        static_cast<float *>(half)[at] = value;
}

// A block is one token; threads take its pairs.
KERNEL void keep_rows_kernel(struct keep_rows_args args) {
    const int head_dim = args.heads.head_dim, position = args.first_position + (int)blockIdx.x;
    const int q_rows = args.heads.heads * head_dim, kv_rows = args.heads.kv_heads * head_dim;
    const int rows = q_rows + 2 * kv_rows;
    const float *angles = args.angles + (size_t)position * (size_t)head_dim;
    float *token = args.qkv + (size_t)blockIdx.x * (size_t)rows;
    for (int row = 2 * (int)threadIdx.x; row < rows; row += 2 * THREADS) {
        float first = token[row], second = token[row + 1];
        if (row < q_rows + kv_rows) {
            float cosine = angles[row % head_dim], sine = angles[row % head_dim + 1];
            float turned = first * cosine - second * sine;
            second = first * sine + second * cosine;
            first = turned;
        }
        if (row < q_rows) {
            token[row] = first;
            token[row + 1] = second;
            continue;
        }
        const bool is_key = row < q_rows + kv_rows;
        const int kv_row = is_key ? row - q_rows : row - q_rows - kv_rows;
        const size_t at =
            ((size_t)(kv_row / head_dim) * (size_t)args.cache.context + (size_t)position) *
                (size_t)args.cache.stride +
            (size_t)(kv_row % head_dim);
        void *half = is_key ? args.cache.keys : args.cache.values;
        keep(args.cache, half, at, first);
        keep(args.cache, half, at + 1, second);
    }
}

void launch_keep_rows(const struct keep_rows_args &args, cudaStream_t stream) {
    LAUNCH(keep_rows_kernel, (unsigned)args.tokens, THREADS, 0, stream, args);
}

// --- Attention ---

// head_dim rounded up to a whole float4; and 4 floats more, which shifts every row by
// four banks so that lanes may read rows side by side.
static __host__ __device__ __forceinline__ int padded_dim(int head_dim) {
    return (head_dim + 3) / 4 * 4;
}

struct attend_shared {
    float *tile;    // [TILE][padded + 4]
    float *queries; // [QUERIES][padded]
    float *shares;  // [ATTEND_WARPS][TILE][QUERIES_EACH]
};

static size_t attend_shared_bytes(int head_dim) {
    size_t padded = (size_t)padded_dim(head_dim);
    return (TILE * (padded + 4) + QUERIES * padded + ATTEND_WARPS * TILE * QUERIES_EACH) *
           sizeof(float);
}

// Positions tile .. of one plane of the cache into shared memory; zeros behind `end`
// and behind head_dim.
template <class C>
static __device__ __forceinline__ void load_tile(float *to, const C *plane, int tile, int end,
                                                 const struct attend_rows_args &args) {
    const int head_dim = args.heads.head_dim, padded = padded_dim(head_dim);
    for (int i = (int)threadIdx.x; i < TILE * padded; i += ATTEND_WARPS * WARP_LANES) {
        int row = i / padded, at = i % padded;
        bool is_there = tile + row < end && at < head_dim;
        size_t from = (size_t)(tile + row) * (size_t)args.cache.stride + (size_t)at;
        to[row * (padded + 4) + at] = is_there ? to_float(plane[from]) : 0;
    }
}

static __device__ __forceinline__ void load_queries(const struct attend_shared &shared, int first,
                                                    const struct attend_rows_args &args) {
    const int head_dim = args.heads.head_dim, padded = padded_dim(head_dim);
    const int row_floats = (args.heads.heads + 2 * args.heads.kv_heads) * head_dim;
    const float scale = 1 / sqrtf((float)head_dim);
    for (int i = (int)threadIdx.x; i < QUERIES * padded; i += ATTEND_WARPS * WARP_LANES) {
        int token = first + i / padded, at = i % padded;
        bool is_there = token < args.tokens && at < head_dim;
        size_t from =
            (size_t)token * (size_t)row_floats + (size_t)((int)blockIdx.y * head_dim + at);
        shared.queries[i] = is_there ? args.qkv[from] * scale : 0;
    }
}

// State of a warp's queries so far; `mixed` is spread over the lanes.
template <int D> struct mixture {
    float most[QUERIES_EACH], sum[QUERIES_EACH], mixed[QUERIES_EACH][D];
};

// Scores the tile's keys for the warp's queries, the first of which is token `first`,
// and leaves their shares of the softmax in shared memory, for after a barrier.
template <int D>
static __device__ __forceinline__ void score_tile(struct mixture<D> &m,
                                                  const struct attend_shared &shared, int tile,
                                                  int first, const struct attend_rows_args &args) {
    const int padded = padded_dim(args.heads.head_dim);
    const float *key = shared.tile + lane_of() * (padded + 4);
    const float *queries = shared.queries + warp_of() * QUERIES_EACH * padded;
    float *shares = shared.shares + (warp_of() * TILE + lane_of()) * QUERIES_EACH;
    float scores[QUERIES_EACH];
    UNROLL
    for (int q = 0; q < QUERIES_EACH; q++)
        scores[q] = 0;
    for (int i = 0; i < padded; i += 4) {
        float4 k = load_floats(key + i);
        UNROLL
        for (int q = 0; q < QUERIES_EACH; q++) {
            float4 x = load_floats(queries + q * padded + i);
            scores[q] += k.x * x.x + k.y * x.y + k.z * x.z + k.w * x.w;
        }
    }
    UNROLL
    for (int q = 0; q < QUERIES_EACH; q++) {
        bool is_seen = tile + lane_of() <= args.first_position + first + q;
        float now = fmaxf(m.most[q], warp_max(is_seen ? scores[q] : -INFINITY));
        // A query that sees no position of this tile has seen one before, or does not exist.
        float keep = m.most[q] == -INFINITY ? 0 : expf(m.most[q] - now);
        float share = is_seen ? expf(scores[q] - now) : 0;
        m.sum[q] = m.sum[q] * keep + warp_sum(share);
        m.most[q] = now;
        shares[q] = share;
        UNROLL
        for (int d = 0; d < D; d++)
            m.mixed[q][d] *= keep;
    }
}

template <int D>
static __device__ __forceinline__ void mix_tile(struct mixture<D> &m,
                                                const struct attend_shared &shared,
                                                const struct attend_rows_args &args) {
    const int head_dim = args.heads.head_dim, padded = padded_dim(head_dim);
    const float *shares = shared.shares + warp_of() * TILE * QUERIES_EACH;
    for (int j = 0; j < TILE; j++) {
        const float *row = shared.tile + j * (padded + 4);
        UNROLL
        for (int d = 0; d < D; d++) {
            int i = lane_of() + d * WARP_LANES;
            float value = i < head_dim ? row[i] : 0;
            UNROLL
            for (int q = 0; q < QUERIES_EACH; q++)
                m.mixed[q][d] += shares[j * QUERIES_EACH + q] * value;
        }
    }
}

template <int D>
static __device__ __forceinline__ void put_mixture(const struct mixture<D> &m, int first,
                                                   const struct attend_rows_args &args) {
    const int head_dim = args.heads.head_dim;
    UNROLL
    for (int q = 0; q < QUERIES_EACH; q++) {
        UNROLL
        for (int d = 0; d < D; d++) {
            int i = lane_of() + d * WARP_LANES;
            size_t at = (size_t)(first + q) * (size_t)args.out.stride +
                        (size_t)((int)blockIdx.y * head_dim + i);
            if (first + q < args.tokens && i < head_dim)
                put_number(args.out, at, m.mixed[q][d] / m.sum[q]);
        }
    }
}

template <int D, class C>
KERNEL void __launch_bounds__(ATTEND_WARPS *WARP_LANES)
    attend_rows_kernel(struct attend_rows_args args) {
    SHARED_DYNAMIC(float, memory);
    const int padded = padded_dim(args.heads.head_dim);
    const int group = args.heads.heads / args.heads.kv_heads;
    // The longest blocks first, so that the last ones to run are short.
    const int block_first = (int)(gridDim.x - 1 - blockIdx.x) * QUERIES;
    const int first = block_first + warp_of() * QUERIES_EACH;
    const size_t plane =
        (size_t)((int)blockIdx.y / group) * (size_t)args.cache.context * (size_t)args.cache.stride;
    const C *keys = static_cast<const C *>(args.cache.keys) + plane;
    const C *values = static_cast<const C *>(args.cache.values) + plane;
    struct attend_shared shared;
    shared.tile = memory;
    shared.queries = shared.tile + TILE * (padded + 4);
    shared.shares = shared.queries + QUERIES * padded;
    struct mixture<D> m;
    UNROLL
    for (int q = 0; q < QUERIES_EACH; q++) {
        m.most[q] = -INFINITY;
        m.sum[q] = 0;
        UNROLL
        for (int d = 0; d < D; d++)
            m.mixed[q][d] = 0;
    }
    load_queries(shared, block_first, args);
    int last = block_first + QUERIES < args.tokens ? block_first + QUERIES : args.tokens;
    const int end = args.first_position + last; // positions that any query of the block sees
    for (int tile = 0; tile < end; tile += TILE) {
        // Some warps see no position of the last tiles; they only help to load.
        const bool is_seen = tile < args.first_position + first + QUERIES_EACH;
        __syncthreads();
        load_tile(shared.tile, keys, tile, end, args);
        __syncthreads();
        if (is_seen)
            score_tile<D>(m, shared, tile, first, args);
        __syncthreads();
        load_tile(shared.tile, values, tile, end, args);
        __syncthreads();
        if (is_seen)
            mix_tile<D>(m, shared, args);
    }
    put_mixture<D>(m, first, args);
}

// Pads a token's mixed values with zeros for the matrix product.
KERNEL void pad_rows_kernel(struct rows_out out, int cols) {
    for (int i = cols + (int)threadIdx.x; i < out.stride; i += WARP_LANES)
        put_number(out, (size_t)blockIdx.x * (size_t)out.stride + (size_t)i, 0);
}

static void launch_attend_slice(const struct attend_rows_args &args, cudaStream_t stream) {
    const int head_dim = args.heads.head_dim, cols = args.heads.heads * head_dim;
    const dim3 grid((unsigned)((args.tokens + QUERIES - 1) / QUERIES), (unsigned)args.heads.heads);
    const int pieces = (head_dim + WARP_LANES - 1) / WARP_LANES;
    void (*kernel)(struct attend_rows_args) = args.cache.is_half
                                                  ? (pieces == 1   ? attend_rows_kernel<1, half16>
                                                     : pieces == 2 ? attend_rows_kernel<2, half16>
                                                                   : attend_rows_kernel<4, half16>)
                                                  : (pieces == 1   ? attend_rows_kernel<1, float>
                                                     : pieces == 2 ? attend_rows_kernel<2, float>
                                                                   : attend_rows_kernel<4, float>);
    LAUNCH(kernel, grid, (unsigned)(ATTEND_WARPS * WARP_LANES), attend_shared_bytes(head_dim),
           stream, args);
    if (args.out.stride > cols)
        LAUNCH(pad_rows_kernel, (unsigned)args.tokens, (unsigned)WARP_LANES, 0, stream, args.out,
               cols);
}

// Whole blocks of queries whose scores and mixing stay within most_flop.
static int slice_tokens(const struct attend_rows_args &args) {
    const double last = (double)args.first_position + args.tokens;
    const double each = 4 * last * args.heads.heads * args.heads.head_dim;
    if (args.most_flop <= 0 || each * args.tokens <= args.most_flop)
        return args.tokens;
    int blocks = (int)(args.most_flop / each / QUERIES);
    return blocks > 0 ? blocks * QUERIES : (int)QUERIES;
}

void launch_attend_rows(const struct attend_rows_args &args, cudaStream_t stream) {
    const int at_once = slice_tokens(args);
    const size_t row = (size_t)((args.heads.heads + 2 * args.heads.kv_heads) * args.heads.head_dim);
    const size_t out_bytes = (size_t)args.out.stride * (args.out.is_bf16 ? 2 : 4);
    for (int first = 0; first < args.tokens; first += at_once) {
        struct attend_rows_args slice = args;
        slice.tokens = args.tokens - first < at_once ? args.tokens - first : at_once;
        slice.first_position += first;
        slice.qkv += (size_t)first * row;
        slice.out.data = static_cast<unsigned char *>(args.out.data) + (size_t)first * out_bytes;
        launch_attend_slice(slice, stream);
    }
}

// --- Feed-forward ---

// A block is one token.
KERNEL void swiglu_rows_kernel(struct swiglu_rows_args args) {
    const float *gate = args.gate_up + (size_t)blockIdx.x * 2 * (size_t)args.cols;
    const float *up = gate + args.cols;
    for (int i = (int)threadIdx.x; i < args.out.stride; i += THREADS) {
        float value = i < args.cols ? gate[i] / (1 + expf(-gate[i])) * up[i] : 0;
        put_number(args.out, (size_t)blockIdx.x * (size_t)args.out.stride + (size_t)i, value);
    }
}

void launch_swiglu_rows(const struct swiglu_rows_args &args, cudaStream_t stream) {
    LAUNCH(swiglu_rows_kernel, (unsigned)args.tokens, THREADS, 0, stream, args);
}
