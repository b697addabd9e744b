// A pass over many tokens: layer by layer through matrix products, in bf16 unless the
// model is all f32. The host stays only a few layers ahead of the device, so that a stop
// takes effect soon. No kernel is long: otherwise the tokens are split over several.
#include "compute/cuda/state.cuh"

enum { LAYERS_AHEAD = 4 }; // of the device

// Of one kernel: some 3 to 4 milliseconds on an H200 (50 TFLOP/s in f32 outside of tensor
// cores, 25 in attention, 790 in bf16). The longest products of a 70B model over 2,048
// tokens are 1.9e12, in one.
static const double most_f32_flop = 1.5e11, most_attend_flop = 1e11, most_bf16_flop = 2.5e12;

struct rows_out rows_of(const struct backend_state *s, void *data, int cols) {
    struct rows_out rows = {};
    rows.data = data;
    rows.is_bf16 = !s->weights.is_f32;
    rows.stride = matrix_stride(rows.is_bf16 ? WEIGHT_BF16 : WEIGHT_F32, cols);
    return rows;
}

// Both sides are zero behind cols, so the product goes over whole strides.
static bool multiply(const struct backend_state *s, float *out, const struct rows_out *in,
                     const struct matrix *weights, struct gemm_call call, struct why *why) {
    call.out = out;
    call.in = in->data;
    call.weights = weights->data;
    call.rows = call.out_stride = weights->rows;
    call.cols = call.in_stride = call.weights_stride = in->stride;
    call.type = in->is_bf16 ? GEMM_BF16 : GEMM_F32;
    if (in->is_bf16 && weights->type != WEIGHT_BF16) {
        launch_to_bf16(s->a.widened, in->stride, *weights, s->stream);
        call.weights = s->a.widened;
    }
    return gemm_run_in_slices(s->gemm, &call, in->is_bf16 ? most_bf16_flop : most_f32_flop,
                              s->stream, why);
}

static struct gemm_call over(int tokens, bool add) {
    struct gemm_call call = {};
    call.tokens = tokens;
    call.add = add;
    return call;
}

static void norm_rows(const struct backend_state *s, const struct rows_out &out, const float *norm,
                      int tokens) {
    struct norm_rows_args args = {};
    args.out = out;
    args.in = s->a.stream;
    args.norm = norm;
    args.epsilon = s->model->shape.norm_epsilon;
    args.tokens = tokens;
    args.cols = s->model->shape.dim;
    launch_norm_rows(args, s->stream);
}

static bool launch_rows_attention(const struct backend_state *s, int layer,
                                  const struct backend_pass *pass, struct why *why) {
    const struct device_layer *l = &s->weights.layers[layer];
    struct rows_out normed = rows_of(s, s->a.normed, s->model->shape.dim);
    norm_rows(s, normed, l->attn_norm, pass->count);
    if (!multiply(s, s->a.qkv, &normed, &l->qkv, over(pass->count, false), why))
        return false;

    struct keep_rows_args keep = {};
    keep.qkv = s->a.qkv;
    keep.tokens = pass->count;
    keep.first_position = pass->first_position;
    keep.angles = s->a.angles;
    keep.heads = s->heads;
    keep.cache = cache_of(s, layer);
    launch_keep_rows(keep, s->stream);

    struct attend_rows_args attend = {};
    attend.out = rows_of(s, s->a.mixed, s->q_rows);
    attend.qkv = s->a.qkv;
    attend.tokens = pass->count;
    attend.first_position = pass->first_position;
    attend.heads = s->heads;
    attend.cache = keep.cache;
    attend.most_flop = most_attend_flop;
    if (s->a.attend.tile_tokens == 0 || pass->count < ATTEND_PRODUCTS_TOKENS)
        launch_attend_rows(attend, s->stream);
    else if (!attend_products_run(&s->a.attend, s->gemm, attend, s->stream, why))
        return false;
    return multiply(s, s->a.stream, &attend.out, &l->out, over(pass->count, true), why);
}

static bool launch_rows_layer(const struct backend_state *s, int layer,
                              const struct backend_pass *pass, struct why *why) {
    const struct device_layer *l = &s->weights.layers[layer];
    struct rows_out normed = rows_of(s, s->a.normed, s->model->shape.dim);
    if (!launch_rows_attention(s, layer, pass, why))
        return false;
    norm_rows(s, normed, l->ffn_norm, pass->count);
    if (!multiply(s, s->a.gate_up, &normed, &l->gate_up, over(pass->count, false), why))
        return false;
    struct swiglu_rows_args swiglu = {};
    swiglu.out = rows_of(s, s->a.inner, s->model->shape.ff_dim);
    swiglu.gate_up = s->a.gate_up;
    swiglu.tokens = pass->count;
    swiglu.cols = s->model->shape.ff_dim;
    launch_swiglu_rows(swiglu, s->stream);
    return multiply(s, s->a.stream, &swiglu.out, &l->down, over(pass->count, true), why) &&
           marks_put(s->marks, layer + 1, false, why) &&
           device_check(cudaGetLastError(), "start a layer", why);
}

static bool launch_rows_embedding(const struct backend_state *s, const struct backend_pass *pass,
                                  struct why *why) {
    struct embed_args embed = {};
    embed.out = s->a.stream;
    embed.table = s->weights.embedding;
    embed.tokens = s->a.tokens;
    embed.count = pass->count;
    embed.stamp = marks_stamp(s->marks, 0);
    if (!marks_start(s->marks, why) ||
        !device_check(cudaMemcpyAsync(s->a.tokens, pass->tokens, (size_t)pass->count * sizeof(int),
                                      cudaMemcpyHostToDevice, s->stream),
                      "take tokens", why))
        return false;
    launch_embed(embed, s->stream);
    return marks_put(s->marks, 0, true, why);
}

static bool is_told_to_stop(const struct backend_pass *pass) {
    return pass->is_stopped && pass->is_stopped(pass->context);
}

bool pass_rows(struct backend_state *s, const struct backend_pass *pass, struct why *why) {
    const int layers = s->model->shape.layers;
    int told = 0;
    marks_begin(s->marks);
    if (!launch_rows_embedding(s, pass, why))
        return false;
    for (int layer = 0; layer < layers; layer++) {
        if (s->marks_kind == MARKS_TIMER && !tell_marks(s, pass, &told, layer - LAYERS_AHEAD, why))
            return false;
        if (is_told_to_stop(pass)) {
            if (!device_check(cudaStreamSynchronize(s->stream), "stop", why))
                return false;
            s->is_stopped = true;
            return why_set(why, "stopped");
        }
        if (!launch_rows_layer(s, layer, pass, why))
            return false;
    }
    if (wants_head(pass))
        launch_head(s, s->a.stream + (size_t)(pass->count - 1) * (size_t)s->model->shape.dim);
    return launch_outputs(s, pass, why) && tell_marks(s, pass, &told, layers, why) &&
           finish_pass(s, pass, why);
}
