// Attention of one decode step, over the KV cache. Many blocks share the cache of one key
// head, each taking one part of its positions; a second kernel mixes what they found.
#include "compute/cuda/kernels.cuh"

enum { MOST_ATTEND_WARPS = 8 };

// A part's positions; those of part 0 begin at 0 and are never none.
struct part {
    int from, to;
};

static __device__ __forceinline__ int part_length(int length, int splits) {
    int each = (length + splits - 1) / splits;
    return (each + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
}

static __device__ __forceinline__ struct part part_of(int length, int splits, int index) {
    int each = part_length(length, splits);
    struct part part = {index * each, (index + 1) * each};
    part.to = part.to < length ? part.to : length;
    return part;
}

// query: [stride] in shared memory, zero where the cache's row is padding.
static __device__ __forceinline__ float dot_key(const float *row, const float *query, int stride) {
    float sum = 0;
    for (int i = 0; i < stride; i += 4) {
        uint4 k = load_vector(row + i);
        float4 q = load_floats(query + i);
        sum += bits_to_float(k.x) * q.x + bits_to_float(k.y) * q.y + bits_to_float(k.z) * q.z +
               bits_to_float(k.w) * q.w;
    }
    return sum;
}

static __device__ __forceinline__ float dot_key(const half16 *row, const float *query, int stride) {
    float sum = 0;
    for (int i = 0; i < stride; i += 8) {
        uint4 k = load_vector(row + i);
        float4 a = load_floats(query + i), b = load_floats(query + i + 4);
        half16 kind = {};
        sum += low_half(kind, k.x) * a.x + high_half(kind, k.x) * a.y + low_half(kind, k.y) * a.z +
               high_half(kind, k.y) * a.w + low_half(kind, k.z) * b.x + high_half(kind, k.z) * b.y +
               low_half(kind, k.w) * b.z + high_half(kind, k.w) * b.w;
    }
    return sum;
}

// One head over one part: a lane scores one position, then a lane holds D numbers of
// the mixed values. Online softmax, 32 positions at a time (Milakov, Gimelshein 2018).
template <int D, class C>
static __device__ __forceinline__ void attend_part(const struct attend_args &args, int head,
                                                   const float *query, struct part part) {
    const int group = args.heads.heads / args.heads.kv_heads, stride = args.cache.stride;
    const size_t plane = (size_t)(head / group) * (size_t)args.cache.context * (size_t)stride;
    const C *keys = static_cast<const C *>(args.cache.keys) + plane;
    const C *values = static_cast<const C *>(args.cache.values) + plane;
    float most = -INFINITY, sum = 0, mixed[D];
    UNROLL
    for (int d = 0; d < D; d++)
        mixed[d] = 0;
    for (int tile = part.from; tile < part.to; tile += WARP_LANES) {
        int position = tile + lane_of();
        float score = -INFINITY;
        if (position < part.to)
            score = dot_key(keys + (size_t)position * (size_t)stride, query, stride);
        float now = fmaxf(most, warp_max(score)), keep = expf(most - now);
        float share = position < part.to ? expf(score - now) : 0;
        sum = sum * keep + warp_sum(share);
        most = now;
        UNROLL
        for (int d = 0; d < D; d++)
            mixed[d] *= keep;
        int count = part.to - tile < WARP_LANES ? part.to - tile : (int)WARP_LANES;
        UNROLL_4
        for (int j = 0; j < count; j++) {
            float weight = __shfl_sync(FULL_MASK, share, j);
            const C *row = values + (size_t)(tile + j) * (size_t)stride;
            UNROLL
            for (int d = 0; d < D; d++) {
                int i = lane_of() + d * WARP_LANES;
                if (i < args.heads.head_dim)
                    mixed[d] += weight * to_float(row[i]);
            }
        }
    }
    const size_t at = (size_t)head * (size_t)args.splits + blockIdx.y;
    if (lane_of() == 0) {
        args.part_max[at] = most;
        args.part_sum[at] = sum;
    }
    UNROLL
    for (int d = 0; d < D; d++) {
        int i = lane_of() + d * WARP_LANES;
        if (i < args.heads.head_dim)
            args.part_mixed[at * (size_t)args.heads.head_dim + (size_t)i] = mixed[d];
    }
}

// A block is one key head and one part of the cache; its warps take the query heads.
template <int D, class C> KERNEL void attend_kernel(struct attend_args args) {
    SHARED_DYNAMIC(float, queries);
    const int group = args.heads.heads / args.heads.kv_heads, head_dim = args.heads.head_dim;
    const int first = (int)blockIdx.x * group, stride = args.cache.stride;
    const float scale = 1 / sqrtf((float)head_dim);
    for (int i = (int)threadIdx.x; i < group * stride; i += (int)blockDim.x) {
        int head = first + i / stride, at = i % stride;
        queries[i] = at < head_dim ? args.query[head * head_dim + at] * scale : 0;
    }
    __syncthreads();
    struct part part = part_of(args.step->position + 1, args.splits, (int)blockIdx.y);
    if (part.from >= part.to) // the same for all
        return;
    for (int head = warp_of(); head < group; head += (int)(blockDim.x / WARP_LANES))
        attend_part<D, C>(args, first + head, queries + head * stride, part);
}

void launch_attend(const struct attend_args &args, cudaStream_t stream) {
    const int group = args.heads.heads / args.heads.kv_heads;
    const int warps = group < MOST_ATTEND_WARPS ? group : (int)MOST_ATTEND_WARPS;
    const dim3 grid((unsigned)args.heads.kv_heads, (unsigned)args.splits);
    const size_t shared = (size_t)(group * args.cache.stride) * sizeof(float);
    const int pieces = (args.heads.head_dim + WARP_LANES - 1) / WARP_LANES;
    void (*kernel)(struct attend_args) = args.cache.is_half
                                             ? (pieces == 1   ? attend_kernel<1, half16>
                                                : pieces == 2 ? attend_kernel<2, half16>
                                                              : attend_kernel<4, half16>)
                                             : (pieces == 1   ? attend_kernel<1, float>
                                                : pieces == 2 ? attend_kernel<2, float>
                                                              : attend_kernel<4, float>);
    LAUNCH(kernel, grid, (unsigned)(warps * WARP_LANES), shared, stream, args);
}

// A block is one head, a thread one number of it.
KERNEL void combine_kernel(struct attend_args args) {
    const int length = args.step->position + 1, head_dim = args.heads.head_dim;
    const int each = part_length(length, args.splits), parts = (length + each - 1) / each;
    const size_t first = (size_t)blockIdx.x * (size_t)args.splits;
    const int i = (int)threadIdx.x;
    if (i >= head_dim)
        return;
    float most = -INFINITY, sum = 0, mixed = 0;
    for (int p = 0; p < parts; p++)
        most = fmaxf(most, args.part_max[first + (size_t)p]);
    for (int p = 0; p < parts; p++) {
        size_t at = first + (size_t)p;
        float weight = expf(args.part_max[at] - most);
        sum += weight * args.part_sum[at];
        mixed += weight * args.part_mixed[at * (size_t)head_dim + (size_t)i];
    }
    args.mixed[(int)blockIdx.x * head_dim + i] = mixed / sum;
}

void launch_combine(const struct attend_args &args, cudaStream_t stream) {
    const int threads = (args.heads.head_dim + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    LAUNCH(combine_kernel, (unsigned)args.heads.heads, (unsigned)threads, 0, stream, args);
}
