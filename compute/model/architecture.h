// What the architectures of model files are made of, one row each: a new one of the same
// parts is a new row. Names, keys and parts follow the GGUF specification and what llama.cpp
// writes and reads (its src/models and convert_hf_to_gguf.py, 2026).
#ifndef COMPUTE_MODEL_ARCHITECTURE_H
#define COMPUTE_MODEL_ARCHITECTURE_H

#include "compute/model/model.h"

// Parts that every layer of the architecture has, besides Llama's.
enum {
    ARCHITECTURE_QKV_BIASES = 1 << 0, // attn_q.bias, attn_k.bias, attn_v.bias
    ARCHITECTURE_HEAD_NORMS = 1 << 1, // attn_q_norm, attn_k_norm
    ARCHITECTURE_POST_NORMS = 1 << 2, // post_attention_norm, post_ffw_norm
    ARCHITECTURE_FUSED_QKV = 1 << 3,  // attn_qkv: query rows, then key rows, then value rows
    ARCHITECTURE_FUSED_GATE = 1 << 4, // ffn_up: gate rows, then up rows
    ARCHITECTURE_EMBEDDING = 1 << 5,  // embeddings are scaled by sqrt(dim)
    ARCHITECTURE_CAPS = 1 << 6,       // attn_logit_softcapping, final_logit_softcapping
    ARCHITECTURE_LONG_ROPE = 1 << 7,  // rope_factors_short, rope_factors_long
};

struct architecture {
    const char *name;   // general.architecture
    const char *models; // well-known ones, for messages
    unsigned parts;
    enum model_pairs pairs;
    enum model_gate gate;
    // Every so-many-th layer sees all tokens and the others a window; 0 = none has a window.
    int window_period;
    int window;             // where the file says none
    float window_rope_base; // of layers with a window; 0 = the same as the others'
    int wide_layers;        // a model of so many layers scales scores by 1 / sqrt(dim / heads)
};

// Row `index`; NULL past the last.
const struct architecture *architecture_at(int index);

// The row of that name; NULL: none.
const struct architecture *architecture_find(const char *name, size_t bytes);

#endif
