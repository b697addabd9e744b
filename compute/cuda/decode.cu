// The matrix products of a decode step, and the choice of its token; its attention is in
// decode_attend.cu. A matrix is read once, by one warp a row (or a pair of rows that
// belong together), 16 bytes a lane and several loads in flight; the input of the product
// lies in shared memory, CHUNK numbers at a time, in the order in which lanes read it
// without bank conflicts. RMSNorm costs no pass of its own: its scale is known when the
// last number was staged and is applied to the finished sums. Blocks of Q8_0 and Q4_0 are
// multiplied as bytes: the input is rounded to 8 bits and one scale per 32 numbers, the
// products are exact.
#include "compute/cuda/kernels.cuh"

enum {
    THREADS = 256,
    WARPS = THREADS / WARP_LANES,
    CHUNK = 4096,  // numbers of the input in shared memory, whole blocks and vectors
    IN_FLIGHT = 4, // 16-byte loads of a row by one lane
};

template <enum weight_type W> struct format;
template <> struct format<WEIGHT_F32> {
    static const int vector = 4; // numbers in 16 bytes
    static const bool blocks = false;
};
template <> struct format<WEIGHT_F16> {
    static const int vector = 8;
    static const bool blocks = false;
    typedef half16 number;
};
template <> struct format<WEIGHT_BF16> {
    static const int vector = 8;
    static const bool blocks = false;
    typedef bfloat16 number;
};
template <> struct format<WEIGHT_Q8_0> {
    static const int vector = 16;
    static const bool blocks = true;
};
template <> struct format<WEIGHT_Q4_0> {
    static const int vector = 32;
    static const bool blocks = true;
};

int matrix_stride(enum weight_type type, int cols) {
    int unit = type == WEIGHT_F32                          ? 4
               : type == WEIGHT_F16 || type == WEIGHT_BF16 ? 8
                                                           : (int)BLOCK_VALUES;
    return (cols + unit - 1) / unit * unit;
}

size_t matrix_row_bytes(enum weight_type type, int stride) {
    size_t count = (size_t)stride;
    return type == WEIGHT_F32    ? count * 4
           : type == WEIGHT_Q8_0 ? count
           : type == WEIGHT_Q4_0 ? count / 2
                                 : count * 2;
}

// --- The input in shared memory ---

struct input {
    const float *numbers, *norm; // norm may be NULL
    float epsilon;
    float scale;    // of the norm, once known
    bool is_staged; // it lies in shared memory, scale is known
};

static __device__ __forceinline__ struct input input_of(const float *numbers, const float *norm,
                                                        float epsilon) {
    struct input in = {numbers, norm, epsilon, 1, false};
    return in;
}

// A chunk of it. Formats without blocks: floats; with blocks: bytes, a scale and the
// bytes' sum for every 32.
struct staged {
    float *numbers;
    int plane; // floats before the second half of every 8, see place_of
    unsigned char *bytes;
    float *scales;
    int *sums;
};

static size_t staged_bytes(enum weight_type type, int stride) {
    size_t count = (size_t)(stride < CHUNK ? stride : CHUNK);
    bool blocks = type == WEIGHT_Q8_0 || type == WEIGHT_Q4_0;
    return blocks ? count + count / BLOCK_VALUES * 8 : count * sizeof(float);
}

template <enum weight_type W>
static __device__ __forceinline__ struct staged staged_in(unsigned char *shared, int count) {
    struct staged s;
    s.numbers = reinterpret_cast<float *>(shared);
    s.plane = count / 2;
    s.bytes = shared;
    s.scales = reinterpret_cast<float *>(shared + count);
    s.sums = reinterpret_cast<int *>(s.scales + count / BLOCK_VALUES);
    return s;
}

// Lanes read 8 numbers each as two groups of 4; neighbours' groups lie side by side.
template <enum weight_type W> static __device__ __forceinline__ int place_of(int i, int plane) {
    if (format<W>::vector != 8)
        return i;
    return i / 8 * 4 + i % 4 + (i / 4 % 2) * plane;
}

// Numbers from .. from + count of `cols`, zeros behind them. Adds their squares.
template <enum weight_type W>
static __device__ __forceinline__ void stage(const struct staged &to, const struct input &in,
                                             int cols, int from, int count, float *squares) {
    if constexpr (!format<W>::blocks) {
        for (int i = (int)threadIdx.x; i < count; i += THREADS) {
            float value = from + i < cols ? in.numbers[from + i] : 0;
            *squares += value * value;
            if (in.norm)
                value = from + i < cols ? value * in.norm[from + i] : 0;
            to.numbers[place_of<W>(i, to.plane)] = value;
        }
    } else {
        for (int block = warp_of(); block < count / BLOCK_VALUES; block += WARPS) {
            float value = in.numbers[from + block * BLOCK_VALUES + lane_of()];
            *squares += value * value;
            if (in.norm)
                value *= in.norm[from + block * BLOCK_VALUES + lane_of()];
            float most = warp_max(fabsf(value));
            int byte = most > 0 ? (int)rintf(value * (127 / most)) : 0;
            int sum = warp_sum(byte);
            to.bytes[block * BLOCK_VALUES + lane_of()] = (unsigned char)byte;
            if (lane_of() == 0) {
                to.scales[block] = most / 127;
                to.sums[block] = sum;
            }
        }
    }
}

// --- A row times the input ---

template <enum weight_type W> struct product {
    typedef typename format<W>::number number;
    static __device__ __forceinline__ float of(uint4 w, const struct staged &x, int v) {
        float4 a = load_floats(x.numbers + 4 * v), b = load_floats(x.numbers + x.plane + 4 * v);
        number kind = {};
        return low_half(kind, w.x) * a.x + high_half(kind, w.x) * a.y + low_half(kind, w.y) * a.z +
               high_half(kind, w.y) * a.w + low_half(kind, w.z) * b.x + high_half(kind, w.z) * b.y +
               low_half(kind, w.w) * b.z + high_half(kind, w.w) * b.w;
    }
};

template <> struct product<WEIGHT_F32> {
    static __device__ __forceinline__ float of(uint4 w, const struct staged &x, int v) {
        float4 a = load_floats(x.numbers + 4 * v);
        return bits_to_float(w.x) * a.x + bits_to_float(w.y) * a.y + bits_to_float(w.z) * a.z +
               bits_to_float(w.w) * a.w;
    }
};

template <> struct product<WEIGHT_Q8_0> {
    static __device__ __forceinline__ float of(uint4 w, const struct staged &x, int v) {
        uint4 a = load_shared_vector(x.bytes + 16 * v);
        int sum = dot_bytes(w.x, a.x, 0);
        sum = dot_bytes(w.y, a.y, sum);
        sum = dot_bytes(w.z, a.z, sum);
        sum = dot_bytes(w.w, a.w, sum);
        return (float)sum * x.scales[v / 2];
    }
};

// Number i of a block is the low half of byte i, number 16 + i its high half, less 8.
template <> struct product<WEIGHT_Q4_0> {
    static __device__ __forceinline__ float of(uint4 w, const struct staged &x, int v) {
        const uint32_t low = 0x0f0f0f0fu;
        uint4 a = load_shared_vector(x.bytes + 32 * v);
        uint4 b = load_shared_vector(x.bytes + 32 * v + 16);
        int sum = -8 * x.sums[v];
        sum = dot_bytes(w.x & low, a.x, sum);
        sum = dot_bytes(w.y & low, a.y, sum);
        sum = dot_bytes(w.z & low, a.z, sum);
        sum = dot_bytes(w.w & low, a.w, sum);
        sum = dot_bytes(w.x >> 4 & low, b.x, sum);
        sum = dot_bytes(w.y >> 4 & low, b.y, sum);
        sum = dot_bytes(w.z >> 4 & low, b.z, sum);
        sum = dot_bytes(w.w >> 4 & low, b.w, sum);
        return (float)sum * x.scales[v];
    }
};

// Adds the products of the chunk's part of R rows, lane by lane. The loads of a lane
// come first, all together, and then their use.
template <enum weight_type W, int R>
static __device__ __forceinline__ void add_chunk(float (&sums)[R], const unsigned char *(&data)[R],
                                                 const half16 *(&scales)[R], const struct staged &x,
                                                 int count) {
    const int vectors = count / format<W>::vector;
    for (int v = lane_of(); v < vectors; v += IN_FLIGHT * WARP_LANES) {
        uint4 w[IN_FLIGHT][R];
        float scale[IN_FLIGHT][R];
        UNROLL
        for (int u = 0; u < IN_FLIGHT; u++) {
            int at = v + u * WARP_LANES;
            UNROLL
            for (int r = 0; r < R; r++) {
                w[u][r] = {};
                scale[u][r] = 1;
                if (at < vectors) {
                    w[u][r] = load_vector(data[r] + (size_t)at * 16);
                    if (format<W>::blocks)
                        scale[u][r] = to_float(scales[r][at * format<W>::vector / BLOCK_VALUES]);
                }
            }
        }
        UNROLL
        for (int u = 0; u < IN_FLIGHT; u++) {
            int at = v + u * WARP_LANES;
            if (at < vectors) {
                UNROLL
                for (int r = 0; r < R; r++)
                    sums[r] += product<W>::of(w[u][r], x, at) * scale[u][r];
            }
        }
    }
}

// sums[r] = row rows[r] of m times the input, in every lane. is_mine false: the warp
// only helps to stage. All threads of the block come here. Called again with the same
// input it stages only what is too long to stay in shared memory.
template <enum weight_type W, int R>
static __device__ __forceinline__ void multiply_rows(float (&sums)[R], const struct matrix &m,
                                                     const int (&rows)[R], bool is_mine,
                                                     struct input &in) {
    SHARED(float, parts, WARPS);
    SHARED_DYNAMIC(unsigned char, shared);
    const unsigned char *data[R];
    const half16 *scales[R];
    const size_t row_bytes = format<W>::blocks ? (size_t)m.cols * 16 / format<W>::vector
                                               : (size_t)m.stride * (16 / format<W>::vector);
    UNROLL
    for (int r = 0; r < R; r++) {
        size_t row = is_mine ? (size_t)rows[r] : 0;
        sums[r] = 0;
        data[r] = m.data + row * row_bytes;
        scales[r] = format<W>::blocks ? m.scales + row * (size_t)(m.cols / BLOCK_VALUES) : NULL;
    }
    float squares = 0;
    for (int from = 0; from < m.stride; from += CHUNK) {
        int count = m.stride - from < CHUNK ? m.stride - from : (int)CHUNK;
        struct staged x = staged_in<W>(shared, count);
        if (!in.is_staged || m.stride > CHUNK) { // the same for all
            __syncthreads();
            stage<W>(x, in, m.cols, from, count, &squares);
            __syncthreads();
        }
        if (is_mine)
            add_chunk<W, R>(sums, data, scales, x, count);
        UNROLL
        for (int r = 0; r < R; r++) {
            data[r] += (size_t)count / format<W>::vector * 16;
            if (format<W>::blocks)
                scales[r] += count / BLOCK_VALUES;
        }
    }
    if (in.norm && !in.is_staged) { // the same for all
        float mean = block_sum(squares, parts) / (float)m.cols;
        in.scale = 1 / sqrtf(mean + in.epsilon);
    }
    in.is_staged = true;
    UNROLL
    for (int r = 0; r < R; r++)
        sums[r] = warp_sum(sums[r]) * in.scale;
}

static int blocks_of(int rows, int rows_each) {
    return (rows + WARPS * rows_each - 1) / (WARPS * rows_each);
}

// Where there are many times more rows than the card takes at once, a block stays and
// takes several groups of them: it stages the input only once. Else one group each.
static int staying_blocks(int rows, int most_blocks) {
    int blocks = blocks_of(rows, 1);
    return most_blocks > 0 && blocks > 4 * most_blocks ? most_blocks : blocks;
}

#define FOR_EVERY_TYPE(type, kernel, grid, shared, stream, args)                                   \
    switch (type) {                                                                                \
    case WEIGHT_F32:                                                                               \
        LAUNCH(kernel<WEIGHT_F32>, grid, THREADS, shared, stream, args);                           \
        break;                                                                                     \
    case WEIGHT_F16:                                                                               \
        LAUNCH(kernel<WEIGHT_F16>, grid, THREADS, shared, stream, args);                           \
        break;                                                                                     \
    case WEIGHT_BF16:                                                                              \
        LAUNCH(kernel<WEIGHT_BF16>, grid, THREADS, shared, stream, args);                          \
        break;                                                                                     \
    case WEIGHT_Q8_0:                                                                              \
        LAUNCH(kernel<WEIGHT_Q8_0>, grid, THREADS, shared, stream, args);                          \
        break;                                                                                     \
    case WEIGHT_Q4_0:                                                                              \
        LAUNCH(kernel<WEIGHT_Q4_0>, grid, THREADS, shared, stream, args);                          \
        break;                                                                                     \
    }

// --- Queries, keys, values ---

static __device__ __forceinline__ void keep(const struct cache &cache, void *half, int head_dim,
                                            int row, int position, float value) {
    size_t at = ((size_t)(row / head_dim) * (size_t)cache.context + (size_t)position) *
                    (size_t)cache.stride +
                (size_t)(row % head_dim);
    if (cache.is_half)
        static_cast<half16 *>(half)[at] = to_half(value);
    else
        static_cast<float *>(half)[at] = value;
}

template <enum weight_type W>
KERNEL void __launch_bounds__(THREADS, RESIDENT_BLOCKS) qkv_kernel(struct qkv_args args) {
    const int row = 2 * ((int)blockIdx.x * WARPS + warp_of());
    const int rows[2] = {row, row + 1};
    const bool is_mine = row < args.weights.rows;
    float pair[2];
    struct input in = input_of(args.stream, args.norm, args.epsilon);
    multiply_rows<W, 2>(pair, args.weights, rows, is_mine, in);
    if (!is_mine || lane_of() != 0)
        return;
    const int head_dim = args.heads.head_dim, position = args.step->position;
    const int q_rows = args.heads.heads * head_dim, kv_rows = args.heads.kv_heads * head_dim;
    if (row < q_rows + kv_rows) { // values are not turned
        const float *turn = args.angles + (size_t)position * (size_t)head_dim + row % head_dim;
        float first = pair[0], second = pair[1];
        pair[0] = first * turn[0] - second * turn[1];
        pair[1] = first * turn[1] + second * turn[0];
    }
    for (int i = 0; i < 2; i++) {
        if (row < q_rows)
            args.query[row + i] = pair[i];
        else if (row < q_rows + kv_rows)
            keep(args.cache, args.cache.keys, head_dim, row - q_rows + i, position, pair[i]);
        else
            keep(args.cache, args.cache.values, head_dim, row - q_rows - kv_rows + i, position,
                 pair[i]);
    }
}

void launch_qkv(const struct qkv_args &args, cudaStream_t stream) {
    const struct matrix &m = args.weights;
    FOR_EVERY_TYPE(m.type, qkv_kernel, blocks_of(m.rows, 2), staged_bytes(m.type, m.stride), stream,
                   args);
}

// --- Products that go out, or add to the stream ---

template <enum weight_type W>
KERNEL void __launch_bounds__(THREADS, RESIDENT_BLOCKS) product_kernel(struct product_args args) {
    struct input in = input_of(args.in, args.norm, args.epsilon);
    for (int first = (int)blockIdx.x * WARPS; first < args.weights.rows;
         first += (int)gridDim.x * WARPS) {
        const int rows[1] = {first + warp_of()};
        const bool is_mine = rows[0] < args.weights.rows;
        float sum[1];
        multiply_rows<W, 1>(sum, args.weights, rows, is_mine, in);
        if (is_mine && lane_of() == 0)
            args.out[rows[0]] = args.add ? args.out[rows[0]] + sum[0] : sum[0];
    }
    put_stamp(args.stamp);
}

void launch_product(const struct product_args &args, cudaStream_t stream) {
    const struct matrix &m = args.weights;
    FOR_EVERY_TYPE(m.type, product_kernel, staying_blocks(m.rows, args.most_blocks),
                   staged_bytes(m.type, m.stride), stream, args);
}

template <enum weight_type W>
KERNEL void __launch_bounds__(THREADS, RESIDENT_BLOCKS) gate_up_kernel(struct gate_up_args args) {
    const int half = args.weights.rows / 2;
    struct input in = input_of(args.stream, args.norm, args.epsilon);
    for (int first = (int)blockIdx.x * WARPS; first < half; first += (int)gridDim.x * WARPS) {
        const int row = first + warp_of(), rows[2] = {row, half + row};
        float pair[2];
        multiply_rows<W, 2>(pair, args.weights, rows, row < half, in);
        if (row < half && lane_of() == 0)
            args.inner[row] = pair[0] / (1 + expf(-pair[0])) * pair[1];
    }
}

void launch_gate_up(const struct gate_up_args &args, cudaStream_t stream) {
    const struct matrix &m = args.weights;
    FOR_EVERY_TYPE(m.type, gate_up_kernel, staying_blocks(m.rows / 2, args.most_blocks),
                   staged_bytes(m.type, m.stride), stream, args);
}

// --- The largest of many ---

struct candidate {
    float value;
    int index;
};

static __device__ __forceinline__ struct candidate better(struct candidate a, struct candidate b) {
    bool is_b = b.value > a.value || (b.value == a.value && b.index < a.index);
    return is_b ? b : a;
}

// In thread 0 of the block.
static __device__ __forceinline__ struct candidate best_of_block(struct candidate mine,
                                                                 float *values, int *indices) {
    UNROLL
    for (int delta = WARP_LANES / 2; delta > 0; delta /= 2) {
        struct candidate other;
        other.value = __shfl_down_sync(FULL_MASK, mine.value, delta);
        other.index = __shfl_down_sync(FULL_MASK, mine.index, delta);
        mine = better(mine, other);
    }
    __syncthreads();
    if (lane_of() == 0) {
        values[warp_of()] = mine.value;
        indices[warp_of()] = mine.index;
    }
    __syncthreads();
    for (int w = 0; w < WARPS; w++) {
        struct candidate other = {values[w], indices[w]};
        mine = w == 0 ? other : better(mine, other);
    }
    return mine;
}

KERNEL void __launch_bounds__(THREADS) largest_kernel(struct largest_args args) {
    SHARED(float, values, WARPS);
    SHARED(int, indices, WARPS);
    SHARED(int, is_last, 1);
    struct candidate mine = {-INFINITY, 0x7fffffff};
    for (int i = (int)(blockIdx.x * THREADS + threadIdx.x); i < args.count;
         i += (int)gridDim.x * THREADS) {
        struct candidate other = {args.values[i], i};
        mine = better(mine, other);
    }
    mine = best_of_block(mine, values, indices);
    if (threadIdx.x == 0) {
        args.part_values[blockIdx.x] = mine.value;
        args.part_indices[blockIdx.x] = mine.index;
        __threadfence();
        is_last[0] = atomicAdd(args.arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last[0]) // the same for all
        return;
    __threadfence();
    struct candidate all = {-INFINITY, 0x7fffffff};
    if (threadIdx.x < gridDim.x) {
        all.value = static_cast<volatile float *>(args.part_values)[threadIdx.x];
        all.index = static_cast<volatile int *>(args.part_indices)[threadIdx.x];
    }
    all = best_of_block(all, values, indices);
    if (threadIdx.x == 0) {
        *args.out = fabsf(all.value) < INFINITY ? all.index : -1;
        *args.arrived = 0;
    }
}

void launch_largest(const struct largest_args &args, cudaStream_t stream) {
    LAUNCH(largest_kernel, (unsigned)LARGEST_BLOCKS, THREADS, 0, stream, args);
}
