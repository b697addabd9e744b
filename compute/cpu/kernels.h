// The arithmetic of a transformer for one thread: a table of functions, built
// from one source (kernels_body.h) for plain C, AVX2 and AVX-512, with VNNI or without, and chosen at
// run time. The functions know nothing of threads, layers or caches: the caller
// gives each thread its own rows and its own scratch. Sums are kept in f32.
//
// Every result is independent of how rows and tokens were split between calls,
// so that an answer does not depend on the number of threads.
#ifndef COMPUTE_CPU_KERNELS_H
#define COMPUTE_CPU_KERNELS_H

#include "compute/base/why.h"

#include "compute/gguf/quant.h"
#include "compute/model/model.h"
#include "compute/model/shape_random.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    KERNELS_PANEL_FLOATS = 512 * 32, // scratch of a matmul, on a line of 32 bytes
    KERNELS_ATTEND_TOKENS = 24,      // most tokens of one attend
    KERNELS_KEY_BLOCK = 64,          // keys that attend takes together
};

// 32 neighbouring numbers of a token, rounded to multiples of a 127th of their largest
// magnitude: number i is scale * q[i]. Weights in blocks are multiplied with these, as whole
// numbers and so exactly.
struct rounded {
    float scale;
    int32_t sum[2]; // of the first and the last 16 q
    int8_t q[QUANT_BLOCK];
};

// out[t][r] = sum over c of weights[r][c] * in[t][c], for row_from <= r < row_to. Weights in
// blocks: the same bits for a token whatever others it comes with.
struct matmul {
    float *out; // token t at out + t * out_stride, row r in its place r
    size_t out_stride;
    const float *in; // token t at in + t * in_stride: [weights->cols]
    size_t in_stride;
    const struct rounded *rounded; // the same, token after token, for weights in blocks, which
                                   // do not look at `in`: [tokens][weights->cols / QUANT_BLOCK]
    const struct tensor *weights;  // any type of quant.h, data aligned as it asks
    int tokens;                    // >= 1
    int row_from, row_to;
    bool add;     // add to what is in out
    float *panel; // [KERNELS_PANEL_FLOATS] from an address that 32 divides
};

// Causal attention of `tokens` neighbouring tokens, for the `heads` query heads
// that share one key and value head. The token at position p sees the keys of positions
// p - window + 1 .. p, of which the one at position k lies in row k % rows.
struct attention {
    float *out; // token t, head h at out + t * out_stride + h * head_dim
    size_t out_stride;
    const float *queries; // in the same way
    size_t query_stride;
    const float *keys;   // [rows / KERNELS_KEY_BLOCK][head_dim][KERNELS_KEY_BLOCK]
    const float *values; // [rows][head_dim]
    int rows;   // a multiple of KERNELS_KEY_BLOCK, >= window + tokens - 1 or than all positions
    int tokens; // 1 .. KERNELS_ATTEND_TOKENS
    int first_position; // of token 0
    int window;         // >= 1; more than all positions: there is none
    int heads, head_dim;
    float scale;    // of a query times a key
    float cap;      // what is scaled becomes cap * tanh(it / cap); 0: it stays
    float *scratch; // [attend_floats()]
};

struct kernels {
    const char *isa; // "plain", "avx2", "avxvnni", "avx512", "avx512vnni"
    int panel_rows;  // matmul is at its best when row_from is a multiple of it

    // Row `row` of `weights` as floats. out: [weights->cols]
    void (*widen)(float *out, const struct tensor *weights, int64_t row);

    // out = in / sqrt(mean of in^2 + epsilon) * weight. All: [count]
    void (*rms_norm)(float *out, const float *in, const float *weight, int count, float epsilon);

    // A token for weights in blocks; what is no number or infinite gives a scale that is so, too.
    // count: a multiple of QUANT_BLOCK. out: [count / QUANT_BLOCK]
    void (*round)(struct rounded *out, const float *in, int count);

    void (*matmul)(const struct matmul *job);

    // gate = gate / (1 + e^-gate) * up. Both: [count]
    void (*swiglu)(float *gate, const float *up, int count);

    // gate = gelu(gate) * up, as MODEL_GATE_GELU says. Both: [count]
    void (*geglu)(float *gate, const float *up, int count);

    // values = cap * tanh(values / cap). values: [count]
    void (*soft_cap)(float *values, int count, float cap);

    void (*attend)(const struct attention *job);

    // Scratch that attend needs.
    size_t (*attend_floats)(int heads, int head_dim);

    // A row of random weights of a model made from a shape: shape_random_value's numbers,
    // rounded as quant.h says. cols is a multiple of QUANT_BLOCK and of the type's block.
    // row: [quant_row_bytes()], aligned to its numbers
    void (*random_row)(void *row, enum gguf_tensor_type type, int cols,
                       struct shape_random_row keys, float scale);

    // Reads `count` floats, a multiple of 128, as fast as it can and adds them up.
    float (*read_all)(const float *from, size_t count);
};

// The best set for this processor, or the one named by `isa` or, when that is
// NULL, by the environment variable TOKENDRIP_ISA. NULL with `why` when the name
// is unknown or the processor cannot run it.
const struct kernels *kernels_choose(const char *isa, struct why *why);

// Set `index` of those this processor can run, the best first; NULL past the last.
const struct kernels *kernels_at(int index);

#endif
