// What the CPU backend's files share: an open model, and the pass over it (pass.c). The
// state is made and given back in backend_cpu.c.
#ifndef COMPUTE_CPU_STATE_H
#define COMPUTE_CPU_STATE_H

#include "compute/base/why.h"

#include "compute/backend/backend.h"
#include "compute/cpu/kernels.h"
#include "compute/cpu/threads.h"

enum {
    BLOCK_TOKENS = 128,
    ROW_UNIT = 8, // rows of one token's products that go to one member together
};

// Scratch of one member.
struct own {
    float *normed;           // [dim]
    struct rounded *rounded; // of one token, as below
    float *panel;            // [KERNELS_PANEL_FLOATS]
    float *attend;           // [attend_floats()]
    int32_t best;            // of its rows of the logits, as find_best says
};

struct backend_state {
    // Set at open.
    const struct model *model; // the caller's, or `made`
    struct model *made;        // owned, of a model made from a shape: its views in `weights`
    void *weights;             // owned: [shape_model_bytes()]
    const struct kernels *kernels;
    struct threads *threads;
    struct own *own; // [members]
    int members;
    int context;  // tokens the cache has room for
    int q_rows;   // heads * head_dim
    int kv_rows;  // kv_heads * head_dim
    void *memory; // holds all arrays below
    // Cosine and sine of each pair's turn: [context][rotary / 2][2]; of layers with a window,
    // which may turn otherwise, or NULL.
    float *rope, *rope_window;
    int rotary;  // numbers of a head that are turned
    float scale; // of a query times a key
    // The cache, layer after layer: [kv_heads][rows][head_dim], the token at position p in row
    // p % rows; each KERNELS_KEY_BLOCK rows of the keys turned, so that attention finds a number
    // of neighbouring keys side by side. A layer without a window has rows for the whole
    // context, of which `cached` are filled; one with a window has window_rows, since older
    // tokens are not seen any more.
    float *keys, *values;
    size_t cache_at[RUN_MAX_LAYERS + 1]; // floats of keys (or values) of all layers before one
    int rows, window_rows;               // multiples of KERNELS_KEY_BLOCK
    int cached;
    int written; // tokens were written up to here since the cache was empty: older ones are lost
    enum backend_marks marks;
    // Of a pass.
    const struct backend_pass *pass;
    bool stopped;
    float *stream; // [tokens of the pass][dim]: what the layers add to
    float *normed; // [BLOCK_TOKENS][dim]
    float *qkv;    // [BLOCK_TOKENS][q_rows + 2 * kv_rows]
    float *added;  // [BLOCK_TOKENS][dim]: what is normalised before it is added, or NULL
    float *mixed;  // [BLOCK_TOKENS][q_rows]
    float *gate;   // [BLOCK_TOKENS][ff_dim]
    float *up;     // [BLOCK_TOKENS][ff_dim]
    // What matrices in blocks are multiplied with: [BLOCK_TOKENS][cols / QUANT_BLOCK], where
    // cols are those of the widest.
    struct rounded *rounded;
    float *logits; // [vocab], where the caller has no place for them
};

struct span {
    int from, to;
};

// Member's share of 0 .. count, cut only at multiples of `unit`.
struct span state_share(const struct backend_state *s, int member, int count, int unit);

int state_rows(const struct backend_state *s, int layer); // of its cache

// See backend.h, pass.
bool state_pass(struct backend_state *s, const struct backend_pass *pass, struct why *why);

#endif
