// What is counted of a model: parameters, bytes of a step, the commonest type. See model.h.
#include "compute/model/model.h"

#include <string.h>

enum { LAYER_TENSORS = 16 };

// The tensors of a layer as a list, for sums.
static void list_layer(const struct model_layer *layer, const struct tensor *out[LAYER_TENSORS]) {
    const struct tensor *all[LAYER_TENSORS] = {
        &layer->attn_norm,
        &layer->q,
        &layer->k,
        &layer->v,
        &layer->attn_out,
        &layer->ffn_norm,
        &layer->gate,
        &layer->up,
        &layer->down,
        &layer->q_bias,
        &layer->k_bias,
        &layer->v_bias,
        &layer->q_norm,
        &layer->k_norm,
        &layer->attn_post_norm,
        &layer->ffn_post_norm,
    };
    memcpy(out, all, sizeof all);
}

static int64_t values_of(const struct tensor *tensor) {
    return tensor->rows * tensor->cols;
}

int64_t model_parameters(const struct model *model) {
    int64_t sum = values_of(&model->token_embd) + values_of(&model->output_norm);
    if (!model->shape.tied_output)
        sum += values_of(&model->output);
    for (int i = 0; i < model->shape.layers; i++) {
        const struct tensor *parts[LAYER_TENSORS];
        list_layer(&model->layers[i], parts);
        for (int j = 0; j < LAYER_TENSORS; j++)
            sum += values_of(parts[j]);
    }
    return sum;
}

// By the place of the type in quant_formats, where the first of equals wins.
static void count_bytes(int64_t bytes[QUANT_FORMATS], const struct tensor *tensor) {
    bytes[quant_format(tensor->type) - quant_formats] += (int64_t)tensor->bytes;
}

const char *model_weight_type(const struct model *model) {
    int64_t bytes[QUANT_FORMATS] = {0};
    for (int i = -1; i < model->shape.layers; i++) {
        const struct tensor *parts[LAYER_TENSORS] = {&model->token_embd, &model->output};
        int count = model->shape.tied_output ? 1 : 2;
        if (i >= 0) {
            list_layer(&model->layers[i], parts);
            count = LAYER_TENSORS;
        }
        for (int j = 0; j < count; j++) {
            if (parts[j]->rows > 1) // others are no matrices
                count_bytes(bytes, parts[j]);
        }
    }
    int most = 0;
    for (int i = 1; i < QUANT_FORMATS; i++)
        most = bytes[i] > bytes[most] ? i : most;
    return gguf_tensor_type_name(quant_formats[most].type);
}

int64_t model_step_weight_bytes(const struct model *model) {
    int64_t row = (int64_t)quant_row_bytes(model->token_embd.type, model->shape.dim);
    int64_t sum = row + (int64_t)model->output_norm.bytes + (int64_t)model->output.bytes;
    for (int i = 0; i < model->shape.layers; i++) {
        const struct tensor *parts[LAYER_TENSORS];
        list_layer(&model->layers[i], parts);
        for (int j = 0; j < LAYER_TENSORS; j++)
            sum += (int64_t)parts[j]->bytes;
    }
    return sum;
}

void model_fill_info(const struct model *model, struct run_info *info) {
    info->layers = model->shape.layers;
    info->heads = model->shape.heads;
    info->kv_heads = model->shape.kv_heads;
    info->head_dim = model->shape.head_dim;
    info->window = model->math.window;
    info->window_layers = 0;
    for (int i = 0; i < model->shape.layers; i++)
        info->window_layers += model->layers[i].has_window;
    info->weight_bytes = model_step_weight_bytes(model);
}
