// Kernels that read or make weights number by number: the embedding's rows, blocks of
// a file split into numbers and scales, random weights, and any matrix as bf16 for the
// matrix products of prefill. A decode step only uses the embedding of one token. Random
// weights have the same bits as the CPU's (shape_random.h, quant.h).
#include "compute/cuda/kernels.cuh"

#include "compute/model/shape_random.h"

enum { THREADS = 256, Q8_0_BYTES = 34, Q4_0_BYTES = 18, SCALE_BYTES = 2 };

static __device__ __forceinline__ float number_at(const struct matrix &m, size_t row, int col) {
    const size_t at = row * (size_t)m.stride + (size_t)col;
    switch (m.type) {
    case WEIGHT_F32:
        return reinterpret_cast<const float *>(m.data)[at];
    case WEIGHT_F16:
        return to_float(reinterpret_cast<const half16 *>(m.data)[at]);
    case WEIGHT_BF16:
        return to_float(reinterpret_cast<const bfloat16 *>(m.data)[at]);
    case WEIGHT_Q8_0:
        return to_float(m.scales[at / BLOCK_VALUES]) * (float)(signed char)m.data[at];
    case WEIGHT_Q4_0: {
        size_t block = at / BLOCK_VALUES;
        int in_block = (int)(at % BLOCK_VALUES);
        int pair = m.data[block * 16 + (size_t)(in_block % 16)];
        int half = in_block < 16 ? pair & 15 : pair >> 4;
        return to_float(m.scales[block]) * (float)(half - 8);
    }
    }
    return 0;
}

// --- Embedding ---

KERNEL void embed_kernel(struct embed_args args) {
    const size_t row = (size_t)args.tokens[blockIdx.x], dim = (size_t)args.table.cols;
    for (int i = (int)threadIdx.x; i < args.table.cols; i += THREADS)
        args.out[blockIdx.x * dim + (size_t)i] = number_at(args.table, row, i);
    if (args.step && threadIdx.x == 0) {
        args.step->token = args.tokens[0];
        args.step->position = args.tokens[1];
    }
    put_stamp(args.stamp);
}

void launch_embed(const struct embed_args &args, cudaStream_t stream) {
    LAUNCH(embed_kernel, (unsigned)args.count, THREADS, 0, stream, args);
}

KERNEL void stamp_kernel(struct stamp stamp) {
    put_stamp(stamp);
}

void launch_stamp(struct stamp stamp, cudaStream_t stream) {
    LAUNCH(stamp_kernel, 1, WARP_LANES, 0, stream, stamp);
}

enum { CLOCK_STEPS = 16, CLOCK_LOOKS = 1 << 16 };

// One thread polls until the clock has advanced a few times; not for ever, since the clock
// may stand still where a GPU is only partly visible.
KERNEL void clock_step_kernel(unsigned long long *step_ns) {
    unsigned long long least = ~0ull, before = global_timer();
    int steps = 0;
    for (int i = 0; i < CLOCK_LOOKS && steps < CLOCK_STEPS; i++) {
        unsigned long long now = global_timer();
        if (now == before)
            continue;
        least = now - before < least ? now - before : least;
        before = now;
        steps++;
    }
    *step_ns = least;
}

void launch_clock_step(unsigned long long *step_ns, cudaStream_t stream) {
    LAUNCH(clock_step_kernel, 1, 1, 0, stream, step_ns);
}

// --- To bf16 ---

struct widen_args {
    bfloat16 *out;
    int out_stride;
    struct matrix from;
};

// A block is one row.
KERNEL void to_bf16_kernel(struct widen_args args) {
    const size_t row = blockIdx.x;
    for (int i = (int)threadIdx.x; i < args.out_stride; i += THREADS) {
        float value = i < args.from.cols ? number_at(args.from, row, i) : 0;
        args.out[row * (size_t)args.out_stride + (size_t)i] = to_bfloat(value);
    }
}

void launch_to_bf16(bfloat16 *out, int out_stride, const struct matrix &from, cudaStream_t stream) {
    struct widen_args args = {out, out_stride, from};
    LAUNCH(to_bf16_kernel, (unsigned)from.rows, THREADS, 0, stream, args);
}

// --- Blocks ---

KERNEL void split_kernel(struct split_args args) {
    const size_t block = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (block >= args.count)
        return;
    const int bytes = args.type == WEIGHT_Q8_0 ? Q8_0_BYTES : Q4_0_BYTES;
    const int numbers = bytes - SCALE_BYTES;
    const unsigned char *from = args.blocks + block * (size_t)bytes;
    half16 scale;
    scale.bits = (uint16_t)(from[0] | from[1] << 8);
    args.scales[block] = scale;
    for (int i = 0; i < numbers; i++)
        args.data[block * (size_t)numbers + (size_t)i] = from[SCALE_BYTES + i];
}

void launch_split(const struct split_args &args, cudaStream_t stream) {
    const size_t blocks = (args.count + THREADS - 1) / THREADS;
    LAUNCH(split_kernel, (unsigned)blocks, THREADS, 0, stream, args);
}

// --- Random weights ---

// 32 neighbouring numbers of a row, fewer at its end.
struct piece {
    struct shape_random_row keys;
    int from, count;
    float scale;
};

static __device__ __forceinline__ float made_at(const struct piece &piece, int i) {
    return multiply((float)shape_random_raw(piece.keys, (uint32_t)(piece.from + i)), piece.scale);
}

template <class T>
static __device__ __forceinline__ void make_numbers(T *out, const struct piece &piece) {
    for (int i = 0; i < piece.count; i++)
        store(&out[piece.from + i], made_at(piece, i));
}

// The number of the largest magnitude, the first one of equals.
static __device__ __forceinline__ float most_of(const struct piece &piece) {
    float most = 0;
    for (int i = 0; i < piece.count; i++) {
        float value = made_at(piece, i);
        if (fabsf(value) > fabsf(most))
            most = value;
    }
    return most;
}

static __device__ __forceinline__ void make_q8_0(unsigned char *out, half16 *scale,
                                                 const struct piece &piece) {
    const float most = fabsf(most_of(piece)), per = most > 0 ? divide(127, most) : 0;
    *scale = to_half(divide(most, 127));
    for (int i = 0; i < BLOCK_VALUES; i++)
        out[i] = (unsigned char)((int)add(multiply(made_at(piece, i), per), 128.5f) - 128);
}

static __device__ __forceinline__ int nibble_of(float value, float per) {
    int nibble = (int)add(multiply(value, per), 8.5f);
    return nibble < 15 ? nibble : 15;
}

static __device__ __forceinline__ void make_q4_0(unsigned char *out, half16 *scale,
                                                 const struct piece &piece) {
    const float most = most_of(piece), per = most != 0 ? divide(-8, most) : 0;
    *scale = to_half(most != 0 ? divide(most, -8) : 0); // zeros must not get the scale -0
    for (int i = 0; i < BLOCK_VALUES / 2; i++) {
        int low = nibble_of(made_at(piece, i), per);
        int high = nibble_of(made_at(piece, i + BLOCK_VALUES / 2), per);
        out[i] = (unsigned char)(low | high << 4);
    }
}

// blockIdx.x: row; threads take its pieces. Padding behind cols is made zero.
KERNEL void make_kernel(struct make_args args) {
    const struct matrix &m = args.to;
    const size_t row = blockIdx.x, first = row * (size_t)m.stride;
    unsigned char *data = const_cast<unsigned char *>(m.data);
    struct piece piece;
    piece.keys = shape_random_keys(args.seed, args.number, (size_t)args.first_row + row);
    piece.scale = args.scale;
    for (piece.from = (int)threadIdx.x * BLOCK_VALUES; piece.from < m.cols;
         piece.from += THREADS * BLOCK_VALUES) {
        int left = m.cols - piece.from;
        const size_t block = (first + (size_t)piece.from) / BLOCK_VALUES;
        half16 *scale = const_cast<half16 *>(m.scales) + block;
        piece.count = left < BLOCK_VALUES ? left : (int)BLOCK_VALUES;
        if (m.type == WEIGHT_F32)
            make_numbers(reinterpret_cast<float *>(data) + first, piece);
        else if (m.type == WEIGHT_F16)
            make_numbers(reinterpret_cast<half16 *>(data) + first, piece);
        else if (m.type == WEIGHT_BF16)
            make_numbers(reinterpret_cast<bfloat16 *>(data) + first, piece);
        else if (m.type == WEIGHT_Q8_0)
            make_q8_0(data + block * 32, scale, piece);
        else
            make_q4_0(data + block * 16, scale, piece);
    }
}

void launch_make(const struct make_args &args, cudaStream_t stream) {
    LAUNCH(make_kernel, (unsigned)args.to.rows, THREADS, 0, stream, args);
}
