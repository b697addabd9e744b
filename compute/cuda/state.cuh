// What the CUDA backend's files share: the state of an open model and the two kinds of
// pass over it. The state is made and given back in backend_cuda.cu.
#ifndef COMPUTE_CUDA_STATE_CUH
#define COMPUTE_CUDA_STATE_CUH

#include "compute/cuda/attend_products.cuh"
#include "compute/cuda/backend_cuda.cuh"
#include "compute/cuda/gemm.cuh"
#include "compute/cuda/kernels.cuh"
#include "compute/cuda/marks.cuh"
#include "compute/cuda/weights_cuda.cuh"

extern "C" {
#include "compute/base/why.h"
}

// Arrays in device memory, all of state.memory.
struct arrays {
    float *angles;                 // [context][head_dim / 2][2]
    unsigned char *cache;          // [layers][2][kv_heads][context][stride]
    float *stream;                 // [most][dim]
    float *qkv;                    // [most][q_rows + 2 * kv_rows]
    float *gate_up;                // [most][2 * ff_dim]
    unsigned char *normed;         // [most][dim] f32 or bf16, padded
    unsigned char *mixed;          // [most][q_rows]
    unsigned char *inner;          // [most][ff_dim]
    bfloat16 *widened;             // [weights.most_values], NULL when not needed
    int *tokens;                   // [most]
    struct step *step;             // [1]
    float *query, *mixed_one;      // [q_rows]
    float *inner_one;              // [ff_dim]
    float *part_max, *part_sum;    // [heads][splits]
    float *part_mixed;             // [heads][splits][head_dim]
    float *logits;                 // [vocab]
    float *best_values;            // [LARGEST_BLOCKS], of logits
    int *best_ids;                 // [LARGEST_BLOCKS]
    unsigned *best_arrived;        // [1]
    struct attend_products attend; // of long passes in bf16
};

struct backend_state {
    const struct model *model;
    struct heads heads;
    int device, context, cached, splits;
    int most;        // tokens of a pass
    int most_blocks; // of a matrix kernel, at once
    int q_rows, kv_rows;
    int cache_stride;
    size_t cache_plane_bytes; // keys or values of one layer
    char device_name[96], driver[64];
    struct why lost; // why nothing can be computed any more; "" = all is well
    bool is_stopped; // the last pass was stopped
    cudaStream_t stream;
    struct device_weights weights;
    unsigned char *memory; // owned
    size_t memory_bytes;
    struct arrays a;
    struct gemm *gemm;
    struct marks *marks;
    enum marks_kind marks_kind;
    cudaGraphExec_t graph; // of a step up to its logits; NULL: plain launches
    // Host memory that the device sees.
    int *next;          // [3], see below
    int *device_next;   // the same, as the device sees it
    float *host_logits; // [vocab]
};

// Places in `next`: a step's token and position, and the greedy id that a pass gave.
enum { NEXT_TOKEN, NEXT_POSITION, NEXT_BEST, NEXT_COUNT };

// Keys and values of a layer.
struct cache cache_of(const struct backend_state *s, int layer);

// Rows of activations in `data`: f32 if all weights are, else bf16.
struct rows_out rows_of(const struct backend_state *s, void *data, int cols);

// --- Passes: both are false with `why` when the device failed ---

// One token, by the graph if it was captured.
bool pass_step(struct backend_state *s, const struct backend_pass *pass, struct why *why);
// Many tokens. Also false with "stopped"; state.is_stopped then, and nothing is on the
// stream.
bool pass_rows(struct backend_state *s, const struct backend_pass *pass, struct why *why);

// Puts the logits of the token whose stream that is into device memory.
void launch_head(const struct backend_state *s, const float *stream);
// After launch_head: starts copying what the pass wants of the logits to the host.
bool launch_outputs(const struct backend_state *s, const struct backend_pass *pass,
                    struct why *why);
bool wants_head(const struct backend_pass *pass);

// Waits for marks `*told` .. `last` and reports each.
bool tell_marks(const struct backend_state *s, const struct backend_pass *pass, int *told, int last,
                struct why *why);
// Waits for the stream; the results of the pass are then on the host.
bool finish_pass(const struct backend_state *s, const struct backend_pass *pass, struct why *why);

// Captures a step. False with `why` is no failure of the state: steps work without a
// graph, too.
bool capture_step(struct backend_state *s, struct why *why);
// Fills the `driver` text of runs; no_graph_why: NULL = a graph is used.
void name_driver(struct backend_state *s, const char *no_graph_why);

#endif
