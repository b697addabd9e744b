// A transformer as data: hyper-parameters, what its architecture does differently from
// Llama's, views of its weights, byte counts. No arithmetic here; backends read these views.
//
// Shapes. A matrix with dims {in, out} in a GGUF file is `rows` = out rows of
// `cols` = in values, row after row; y = W x.
#ifndef COMPUTE_MODEL_MODEL_H
#define COMPUTE_MODEL_MODEL_H

#include "compute/base/why.h"

#include "compute/gguf/gguf.h"
#include "compute/gguf/quant.h"
#include "compute/model/rope.h"
#include "compute/run/run.h"

enum {
    MODEL_MAX_DIM = 1 << 16,
    MODEL_MAX_VOCAB = 1 << 20,
    MODEL_MAX_CONTEXT = RUN_MAX_TOKENS, // a model that can do more is used up to here
};

// heads is a multiple of kv_heads, head_dim is even; all are >= 1.
struct model_shape {
    int dim, layers, heads, kv_heads, head_dim, ff_dim, vocab, context;
    float norm_epsilon, rope_base;
    bool tied_output;
};

enum model_pairs {
    MODEL_PAIRS_NEIGHBOURS, // RoPE turns numbers 2i and 2i + 1 of a head together
    MODEL_PAIRS_HALVES,     // i and i + rotary / 2
};

enum model_gate {
    MODEL_GATE_SWISH, // x / (1 + e^-x)
    MODEL_GATE_GELU,  // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))
};

// Where the arithmetic of an architecture differs from Llama's, of which all is zero. Norms,
// biases and windows of a layer are in model_layer.
struct model_math {
    enum model_pairs pairs;
    enum model_gate gate;
    int rotary;            // numbers of a head that RoPE turns, even; 0 = all
    int window;            // tokens that a layer with a window sees, its own among them
    float embedding_scale; // of token embeddings; 0 = 1
    float score_scale;     // of a query times a key; 0 = 1 / sqrt(head_dim)
    float score_cap;       // scaled scores become cap * tanh(score / cap); 0 = they stay
    float logit_cap;       // the same for logits
};

struct tensor {
    enum gguf_tensor_type type;
    int64_t rows, cols;
    const void *data;
    size_t bytes;
};

// A tensor whose data is NULL and rows are 0 is one that the architecture does not have.
struct model_layer {
    struct tensor attn_norm; // {1, dim} F32
    struct tensor q;         // {heads * head_dim, dim}
    struct tensor k, v;      // {kv_heads * head_dim, dim}
    struct tensor attn_out;  // {dim, heads * head_dim}
    struct tensor ffn_norm;  // {1, dim} F32
    struct tensor gate, up;  // {ff_dim, dim}
    struct tensor down;      // {dim, ff_dim}
    // F32 vectors that not every architecture has.
    struct tensor q_bias, k_bias, v_bias; // {1, rows of q, k, v}: added to them
    struct tensor q_norm, k_norm;         // {1, head_dim}: of every head, before RoPE
    struct tensor attn_post_norm;         // {1, dim}: of what attention adds to the stream
    struct tensor ffn_post_norm;          // {1, dim}: of what the feed-forward network adds
    bool has_window;                      // sees model_math.window tokens, not all
};

struct model {
    struct model_shape shape;
    char name[96];             // general.name, else the file's name; printable
    char weights[16];          // "file"; the engine sets "bundled"
    struct tensor token_embd;  // {vocab, dim}
    struct tensor output_norm; // {1, dim} F32
    struct tensor output;      // {vocab, dim}; equals token_embd when tied
    struct model_math math;
    struct rope_scaling rope;   // of layers without a window
    float rope_window_base;     // of layers with a window, which are not scaled; 0 = rope_base
    float *rope_factors;        // [rotary / 2] per-frequency divisors, or NULL
    struct model_layer *layers; // [shape.layers]
    struct gguf *file;          // owns the bytes; NULL when there is no file
    // A model made from a shape (shape.h) has random weights. Its matrices hold no data:
    // each backend makes them in its own memory, with the same bytes everywhere.
    bool is_made;
    uint64_t seed;
    float *ones; // [dim], what all its norms are; owned, or NULL
};

// Opens a GGUF file of an architecture of architecture.h whose matrices are of the types of
// quant.h and whose norms and biases are F32. Everything else is refused by name: another
// architecture, another tensor type, a missing tensor, one this program would have to ignore
// (experts), a wrong shape, unknown RoPE scaling, a split file, NaN or infinity among norm
// weights. The dims of the file decide what a pass costs; they are bounded here, and nobody
// checks them again.
// RoPE turns pair i of a head (model_math.pairs) by
// position * rope_base^(-2i / rotary) / rope_factors[i], scaled as rope.h says.
// Owner: the caller, model_close. `name` is used in messages and when the file
// has no name of its own.
bool model_open(struct model **out, const char *path, struct why *why);
bool model_from_gguf(struct model **out, struct gguf *file, const char *name,
                     struct why *why); // takes `file` on success
void model_close(struct model *model);

int64_t model_parameters(const struct model *model);
const char *model_weight_type(const struct model *model); // of most matrix bytes
// Bytes of weights that one decode step reads: every matrix once, norms, the
// output head, one embedding row.
int64_t model_step_weight_bytes(const struct model *model);
// Fills the fields of a run that say how large the model is: layers, heads, windows, weights.
void model_fill_info(const struct model *model, struct run_info *info);

#endif
