// The kernels of the CUDA backend, as functions that put one on a stream. Each takes
// one struct; all pointers in it are to device memory. Activations are f32, sums are
// f32, one thread block never waits for another. Must not allocate or synchronise.
//
// A decode step is, a layer: qkv, attend, combine, add, gate_up, add. Its token and
// position lie in device memory (struct step), so that the step's graph never changes.
#ifndef COMPUTE_CUDA_KERNELS_CUH
#define COMPUTE_CUDA_KERNELS_CUH

#include "compute/cuda/device.cuh"

enum weight_type { WEIGHT_F32, WEIGHT_F16, WEIGHT_BF16, WEIGHT_Q8_0, WEIGHT_Q4_0 };

enum {
    BLOCK_VALUES = 32,   // of Q8_0 and Q4_0
    MOST_HEAD_DIM = 128, // that the attention kernels have registers for
    MOST_SPLITS = 64,    // of the cache in one step's attention
    RESIDENT_BLOCKS = 3, // of a kernel that reads a matrix, on one multiprocessor
};

// A matrix: y = W x. Rows start `stride` numbers apart, a multiple of 16 bytes; what
// lies between cols and stride is zero. Q8_0 and Q4_0 keep the numbers of the file,
// but numbers and scales apart, since a block of 34 or 18 bytes cannot be read 16
// bytes at a time; their stride is cols, a multiple of 32.
struct matrix {
    enum weight_type type;
    int rows, cols, stride;
    const unsigned char *data; // [rows][stride]; Q8_0: bytes; Q4_0: [rows][cols / 2]
    const half16 *scales;      // [rows][cols / 32], NULL where there are none
};

size_t matrix_row_bytes(enum weight_type type, int stride); // without scales
int matrix_stride(enum weight_type type, int cols);

struct step {
    int token;
    int position;
};

// One layer's keys and values: [kv_heads][context][stride] each, f32 or f16; rows
// are multiples of 16 bytes and zero behind head_dim.
struct cache {
    void *keys, *values;
    bool is_half;
    int context, stride;
};

struct heads {
    int heads, kv_heads, head_dim;
};

// --- Both ways ---

// Rows of the embedding: out[t] = table[tokens[t]]. With `step`: writes it, so that
// what follows knows the position (one token then). `tokens` may be host memory that
// the device sees, two numbers with `step`: token, position.
struct embed_args {
    float *out; // [count][cols]
    struct matrix table;
    const int *tokens;
    int count;
    struct step *step;
    struct stamp stamp;
};
void launch_embed(const struct embed_args &args, cudaStream_t stream);

void launch_stamp(struct stamp stamp, cudaStream_t stream); // nothing but the time

// *step_ns = the smallest step in which the device's clock was seen to go on.
void launch_clock_step(unsigned long long *step_ns, cudaStream_t stream);

// --- Decode: one token ---

// query = turned(Wq n), cache row = turned(Wk n), Wv n, n = RMSNorm(stream).
struct qkv_args {
    struct matrix weights; // rows of q, then k, then v
    const float *stream;   // [cols]
    const float *norm;     // [cols]
    float epsilon;
    const float *angles; // [context][head_dim / 2][2]: cosine, sine
    const struct step *step;
    struct heads heads;
    float *query; // [heads * head_dim]
    struct cache cache;
};
void launch_qkv(const struct qkv_args &args, cudaStream_t stream);

// Attention over the cache up to and with step->position, in `splits` parts of it
// that are mixed by launch_combine. Parts without a token write nothing.
struct attend_args {
    const float *query;
    struct cache cache;
    struct heads heads;
    const struct step *step;
    int splits;
    float *part_max, *part_sum; // [heads][splits]
    float *part_mixed;          // [heads][splits][head_dim]
    float *mixed;               // [heads * head_dim]
};
void launch_attend(const struct attend_args &args, cudaStream_t stream);
void launch_combine(const struct attend_args &args, cudaStream_t stream);

// out = W in, or out += W in.
struct product_args {
    float *out; // [rows]
    struct matrix weights;
    const float *in;   // [cols]
    const float *norm; // [cols]: in is RMS-normalised first; NULL: not
    float epsilon;
    bool add;
    int most_blocks; // that the card takes at once; 0: not known
    struct stamp stamp;
};
void launch_product(const struct product_args &args, cudaStream_t stream);

// inner[i] = swish(gate[i] . n) * (up[i] . n), n = RMSNorm(stream).
struct gate_up_args {
    float *inner;          // [weights.rows / 2]
    struct matrix weights; // rows of gate, then those of up
    const float *stream, *norm;
    float epsilon;
    int most_blocks;
};
void launch_gate_up(const struct gate_up_args &args, cudaStream_t stream);

// *out = the index of the largest of values, the lowest one of equals; -1: the largest
// is not a finite number.
struct largest_args {
    int *out; // may be host memory that the device sees
    const float *values;
    int count;
    float *part_values; // [LARGEST_BLOCKS]
    int *part_indices;  // [LARGEST_BLOCKS]
    unsigned *arrived;  // 0 between kernels
};
enum { LARGEST_BLOCKS = 64 };
void launch_largest(const struct largest_args &args, cudaStream_t stream);

// --- Prefill: many tokens ---

// Rows for a matrix product, bf16 or f32: zero between cols and stride.
struct rows_out {
    void *data; // [tokens][stride]
    int stride;
    bool is_bf16;
};

static __device__ __forceinline__ void put_number(const struct rows_out &out, size_t at,
                                                  float value) {
    if (out.is_bf16)
        static_cast<bfloat16 *>(out.data)[at] = to_bfloat(value);
    else
        static_cast<float *>(out.data)[at] = value;
}

struct norm_rows_args {
    struct rows_out out;
    const float *in, *norm; // [tokens][cols], [cols]
    float epsilon;
    int tokens, cols;
};
void launch_norm_rows(const struct norm_rows_args &args, cudaStream_t stream);

// Turns queries in place, keys on their way into the cache; values are copied there.
struct keep_rows_args {
    float *qkv; // [tokens][(heads + 2 * kv_heads) * head_dim]
    int tokens, first_position;
    const float *angles;
    struct heads heads;
    struct cache cache;
};
void launch_keep_rows(const struct keep_rows_args &args, cudaStream_t stream);

// Causal attention of the tokens over all of the cache before and with them.
struct attend_rows_args {
    struct rows_out out; // [tokens][heads * head_dim]
    const float *qkv;    // as above, turned
    int tokens, first_position;
    struct heads heads;
    struct cache cache;
    double most_flop; // of one kernel, so that none is long; 0: no limit
};
void launch_attend_rows(const struct attend_rows_args &args, cudaStream_t stream);

struct swiglu_rows_args {
    struct rows_out out;
    const float *gate_up; // [tokens][2 * cols]
    int tokens, cols;
};
void launch_swiglu_rows(const struct swiglu_rows_args &args, cudaStream_t stream);

// --- Weights ---

// [rows][stride] bf16, from any type.
void launch_to_bf16(bfloat16 *out, int out_stride, const struct matrix &from, cudaStream_t stream);

// Blocks as a file has them (quant.h) into numbers and scales: `count` blocks.
struct split_args {
    unsigned char *data;
    half16 *scales;
    const unsigned char *blocks;
    enum weight_type type;
    size_t count;
};
void launch_split(const struct split_args &args, cudaStream_t stream);

// Random weights as shape_random.h says, stored as quant.h says.
struct make_args {
    struct matrix to; // its data and scales are written
    int first_row;    // the number that its row 0 has
    uint64_t seed;
    uint32_t number; // the matrix's
    float scale;
};
void launch_make(const struct make_args &args, cudaStream_t stream);

#endif
