// See check.h. Must not touch a state: a refusal changes nothing.
#include "compute/backend/check.h"

#include "compute/base/why.h"

bool backend_check_pass(const struct backend_pass *pass, const struct backend_limits *limits,
                        struct why *why) {
    if (!pass->tokens || pass->count < 1 || pass->count > BACKEND_PREFILL_CHUNK)
        return why_set(why, "a pass over %d tokens was asked for, expected 1 to %d", pass->count,
                       BACKEND_PREFILL_CHUNK);
    if (pass->first_position < 0 || pass->first_position > limits->cached)
        return why_set(why, "the KV cache holds %d tokens, a pass cannot start at position %d",
                       limits->cached, pass->first_position);
    if (pass->count > limits->context - pass->first_position)
        return why_set(why, "%d tokens do not fit into a context of %d: use a shorter prompt",
                       pass->first_position + pass->count, limits->context);
    for (int t = 0; t < pass->count; t++) {
        if (pass->tokens[t] < 0 || pass->tokens[t] >= limits->vocab)
            return why_set(why, "token %d has id %d, the model knows ids 0 to %d", t,
                           (int)pass->tokens[t], limits->vocab - 1);
    }
    return true;
}

bool backend_marks_has(enum backend_marks marks, int stage, int layers) {
    switch (marks) {
    case BACKEND_MARKS_ALL:
        return true;
    case BACKEND_MARKS_ENDS:
        return stage == 0 || stage == layers;
    case BACKEND_MARKS_NONE:
        break;
    }
    return false;
}

static bool check_layer(const struct model_layer *l, backend_matrix_check *check, bool is_made,
                        struct why *why) {
    const struct {
        const char *name;
        const struct tensor *tensor;
    } rows[] = {
        {"attention norm", &l->attn_norm},
        {"query", &l->q},
        {"key", &l->k},
        {"value", &l->v},
        {"attention output", &l->attn_out},
        {"feed-forward norm", &l->ffn_norm},
        {"gate", &l->gate},
        {"up", &l->up},
        {"down", &l->down},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!check(rows[i].tensor, rows[i].name, is_made, why))
            return false;
    }
    return true;
}

bool backend_check_matrices(const struct model *model, backend_matrix_check *check,
                            struct why *why) {
    for (int i = 0; i < model->shape.layers; i++) {
        if (!check_layer(&model->layers[i], check, model->is_made, why))
            return false;
    }
    return check(&model->token_embd, "embedding", model->is_made, why) &&
           check(&model->output_norm, "output norm", model->is_made, why) &&
           check(&model->output, "output", model->is_made, why);
}

bool backend_check_plain(const struct model *model, struct why *why) {
    const struct model_math *math = &model->math;
    bool is_plain = math->pairs == MODEL_PAIRS_NEIGHBOURS && math->gate == MODEL_GATE_SWISH &&
                    (math->rotary == 0 || math->rotary == model->shape.head_dim) &&
                    math->window == 0 && math->embedding_scale == 0 && math->score_scale == 0 &&
                    math->score_cap == 0 && math->logit_cap == 0;
    for (int i = 0; i < model->shape.layers; i++) {
        const struct model_layer *l = &model->layers[i];
        is_plain = is_plain && !l->q_bias.data && !l->k_bias.data && !l->v_bias.data &&
                   !l->q_norm.data && !l->k_norm.data && !l->attn_post_norm.data &&
                   !l->ffn_post_norm.data;
    }
    return is_plain || why_set(why, "this device computes the architecture \"llama\" alone so "
                                    "far: use --device cpu");
}

bool backend_check_heads(const struct model_shape *shape, struct why *why) {
    if (shape->heads >= 1 && shape->kv_heads >= 1 && shape->heads % shape->kv_heads == 0)
        return true;
    return why_set(why, "%d query heads cannot share %d key heads evenly", shape->heads,
                   shape->kv_heads);
}
