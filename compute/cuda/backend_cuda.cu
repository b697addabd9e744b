// The CUDA backend's table. A pass over one token is a decode step: a graph of our own
// kernels, captured once, which reads its token and position from memory that the
// host wrote. A pass over more tokens goes layer by layer through cuBLASLt, in bf16
// unless the model is all f32, and the host stays only a few layers ahead of the
// device, so that it can be told to stop. Nothing is allocated in a pass. Whatever a
// CUDA call reports ends the pass with a reason; the state is then only good to close.
#include "backend_cuda.cuh"

#include "gemm.cuh"
#include "kernels.cuh"
#include "marks.cuh"
#include "rates.cuh"
#include "weights_cuda.cuh"

extern "C" {
#include "compute/shape.h"
#include "compute/stopwatch.h"
#include "compute/why.h"
}

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_CAPABILITY = 75,
    LAYERS_AHEAD = 4,  // of the device, in a prefill
    COARSE_NS = 2000,  // a step of the device's clock that is too long beside a layer
    PART_TOKENS = 256, // of the cache in one part of a step's attention, at most MOST_SPLITS parts
};

// Arrays in device memory, all of state.memory.
struct arrays {
    float *angles;              // [context][head_dim / 2][2]
    unsigned char *cache;       // [layers][2][kv_heads][context][stride]
    float *stream;              // [most][dim]
    float *qkv;                 // [most][q_rows + 2 * kv_rows]
    float *gate_up;             // [most][2 * ff_dim]
    unsigned char *normed;      // [most][dim] f32 or bf16, padded
    unsigned char *mixed;       // [most][q_rows]
    unsigned char *inner;       // [most][ff_dim]
    bfloat16 *widened;          // [weights.most_values], NULL when not needed
    int *tokens;                // [most]
    struct step *step;          // [1]
    float *query, *mixed_one;   // [q_rows]
    float *inner_one;           // [ff_dim]
    float *part_max, *part_sum; // [heads][splits]
    float *part_mixed;          // [heads][splits][head_dim]
    float *logits;              // [vocab]
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
    cudaStream_t stream;
    struct device_weights weights;
    unsigned char *memory; // owned
    size_t memory_bytes;
    struct arrays a;
    struct gemm *gemm;
    struct marks *marks;
    enum marks_kind marks_kind;
    cudaGraphExec_t graph; // of a step with logits; NULL: plain launches
    // Host memory that the device sees.
    int *next;          // [2]: token, position of a step
    int *device_next;   // the same, as the device sees it
    float *host_logits; // [vocab]
};

// --- The cards ---

static bool is_fit(const cudaDeviceProp *prop) {
    return 10 * prop->major + prop->minor >= LEAST_CAPABILITY;
}

static bool check_driver(char *why) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        return why_set(why, "no NVIDIA driver is running: install one, or use --device cpu");
    if (driver / 1000 < runtime / 1000)
        return why_set(why,
                       "the NVIDIA driver is too old: it can do CUDA %d.%d, this program needs "
                       "%d.0: update the driver",
                       driver / 1000, driver % 1000 / 10, runtime / 1000);
    return true;
}

// The first card that will do; -1 with `why`.
static int find_device(cudaDeviceProp *prop, char *why) {
    int count = 0;
    if (!check_driver(why))
        return -1;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
        why_set(why, "there is no NVIDIA GPU here, or CUDA_VISIBLE_DEVICES hides it");
        return -1;
    }
    if (!device_check(error, "be counted", why))
        return -1;
    for (int i = 0; i < count; i++) {
        if (!device_check(cudaGetDeviceProperties(prop, i), "describe itself", why))
            return -1;
        if (is_fit(prop))
            return i;
    }
    why_set(why, "%s has compute capability %d.%d, this program needs %d.%d", prop->name,
            prop->major, prop->minor, LEAST_CAPABILITY / 10, LEAST_CAPABILITY % 10);
    return -1;
}

static bool available(char *why) {
    cudaDeviceProp prop;
    return find_device(&prop, why) >= 0;
}

static void describe(char *out, size_t bytes) {
    int count = 0, driver = 0;
    size_t used = 0;
    cudaDriverGetVersion(&driver);
    cudaGetDeviceCount(&count);
    snprintf(out, bytes, "no card");
    for (int i = 0; i < count && used < bytes; i++) {
        cudaDeviceProp prop;
        if (cudaGetDeviceProperties(&prop, i) != cudaSuccess)
            continue;
        int wrote = snprintf(out + used, bytes - used,
                             "%scuda:%d %s, %.0f GiB memory, compute capability %d.%d%s, driver "
                             "for CUDA %d.%d",
                             used ? "; " : "", i, prop.name, (double)prop.totalGlobalMem / 0x1p30,
                             prop.major, prop.minor, is_fit(&prop) ? "" : " (too low)",
                             driver / 1000, driver % 1000 / 10);
        used += (size_t)wrote;
    }
}

// --- A decode step ---

static struct cache cache_of(const struct backend_state *s, int layer) {
    struct cache cache = {};
    cache.keys = s->a.cache + (size_t)layer * 2 * s->cache_plane_bytes;
    cache.values = static_cast<unsigned char *>(cache.keys) + s->cache_plane_bytes;
    cache.is_half = !s->weights.is_f32;
    cache.context = s->context;
    cache.stride = s->cache_stride;
    return cache;
}

static struct product_args product_of(const struct backend_state *s, float *out,
                                      const struct matrix &weights, const float *in) {
    struct product_args args = {};
    args.most_blocks = s->most_blocks;
    args.out = out;
    args.weights = weights;
    args.in = in;
    return args;
}

static void launch_step_attention(const struct backend_state *s, int layer) {
    const struct device_layer *l = &s->weights.layers[layer];
    struct qkv_args qkv = {};
    qkv.weights = l->qkv;
    qkv.stream = s->a.stream;
    qkv.norm = l->attn_norm;
    qkv.epsilon = s->model->shape.norm_epsilon;
    qkv.angles = s->a.angles;
    qkv.step = s->a.step;
    qkv.heads = s->heads;
    qkv.query = s->a.query;
    qkv.cache = cache_of(s, layer);
    launch_qkv(qkv, s->stream);

    struct attend_args attend = {};
    attend.query = s->a.query;
    attend.cache = qkv.cache;
    attend.heads = s->heads;
    attend.step = s->a.step;
    attend.splits = s->splits;
    attend.part_max = s->a.part_max;
    attend.part_sum = s->a.part_sum;
    attend.part_mixed = s->a.part_mixed;
    attend.mixed = s->a.mixed_one;
    launch_attend(attend, s->stream);
    launch_combine(attend, s->stream);

    struct product_args out = product_of(s, s->a.stream, l->out, s->a.mixed_one);
    out.add = true;
    launch_product(out, s->stream);
}

static bool launch_step_layer(const struct backend_state *s, int layer, char *why) {
    const struct device_layer *l = &s->weights.layers[layer];
    launch_step_attention(s, layer);
    struct gate_up_args gate_up = {};
    gate_up.inner = s->a.inner_one;
    gate_up.weights = l->gate_up;
    gate_up.stream = s->a.stream;
    gate_up.norm = l->ffn_norm;
    gate_up.epsilon = s->model->shape.norm_epsilon;
    gate_up.most_blocks = s->most_blocks;
    launch_gate_up(gate_up, s->stream);

    struct product_args down = product_of(s, s->a.stream, l->down, s->a.inner_one);
    down.add = true;
    down.stamp = marks_stamp(s->marks, layer + 1);
    launch_product(down, s->stream);
    return marks_put(s->marks, layer + 1, true, why);
}

// The logits of the token whose stream that is, on their way to the host.
static bool launch_logits(const struct backend_state *s, const float *stream, char *why) {
    struct product_args head = product_of(s, s->a.logits, s->weights.output, stream);
    head.norm = s->weights.output_norm;
    head.epsilon = s->model->shape.norm_epsilon;
    launch_product(head, s->stream);
    return device_check(cudaMemcpyAsync(s->host_logits, s->a.logits,
                                        (size_t)s->model->shape.vocab * sizeof(float),
                                        cudaMemcpyDeviceToHost, s->stream),
                        "give its logits", why);
}

static bool launch_step(const struct backend_state *s, bool wants_logits, char *why) {
    struct embed_args embed = {};
    embed.out = s->a.stream;
    embed.table = s->weights.embedding;
    embed.tokens = s->device_next;
    embed.count = 1;
    embed.step = s->a.step;
    embed.stamp = marks_stamp(s->marks, 0);
    if (!marks_start(s->marks, why))
        return false;
    launch_embed(embed, s->stream);
    if (!marks_put(s->marks, 0, true, why))
        return false;
    for (int layer = 0; layer < s->model->shape.layers; layer++) {
        if (!launch_step_layer(s, layer, why))
            return false;
    }
    if (wants_logits && !launch_logits(s, s->a.stream, why))
        return false;
    return device_check(cudaGetLastError(), "start a step", why);
}

// --- A prefill ---

static struct rows_out rows_of(const struct backend_state *s, void *data, int cols) {
    struct rows_out rows = {};
    rows.data = data;
    rows.is_bf16 = !s->weights.is_f32;
    rows.stride = matrix_stride(rows.is_bf16 ? WEIGHT_BF16 : WEIGHT_F32, cols);
    return rows;
}

// Both sides are zero behind cols, so the product goes over whole strides.
static bool multiply(const struct backend_state *s, float *out, const struct rows_out *in,
                     const struct matrix *weights, struct gemm_call call, char *why) {
    call.out = out;
    call.in = in->data;
    call.weights = weights->data;
    call.rows = call.out_stride = weights->rows;
    call.cols = call.in_stride = call.weights_stride = in->stride;
    call.is_bf16 = in->is_bf16;
    if (in->is_bf16 && weights->type != WEIGHT_BF16) {
        launch_to_bf16(s->a.widened, in->stride, *weights, s->stream);
        call.weights = s->a.widened;
    }
    return gemm_run(s->gemm, &call, s->stream, why);
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
                                  const struct backend_pass *pass, char *why) {
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
    launch_attend_rows(attend, s->stream);
    return multiply(s, s->a.stream, &attend.out, &l->out, over(pass->count, true), why);
}

static bool launch_rows_layer(const struct backend_state *s, int layer,
                              const struct backend_pass *pass, char *why) {
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
                                  char *why) {
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

// --- A pass ---

// Tells marks `*told` .. `last`, waiting for each.
static bool tell(const struct backend_state *s, const struct backend_pass *pass, int *told,
                 int last, char *why) {
    for (; *told <= last; (*told)++) {
        int64_t end_ns;
        if (!marks_wait(s->marks, &end_ns, *told, why))
            return false;
        if (pass->on_mark)
            pass->on_mark(pass->context, *told, end_ns);
    }
    return true;
}

// Waits for what is on the stream; the logits have come then.
static bool finish(const struct backend_state *s, const struct backend_pass *pass, char *why) {
    if (!device_check(cudaStreamSynchronize(s->stream), "finish a pass", why) ||
        !device_check(cudaGetLastError(), "finish a pass", why))
        return false;
    if (pass->logits && pass->logits != s->host_logits)
        memcpy(pass->logits, s->host_logits, (size_t)s->model->shape.vocab * sizeof(float));
    return true;
}

static void name_driver(struct backend_state *s, const char *no_graph_why) {
    static const char *const kinds[] = {"timer", "events", "no marks"}; // as marks_kind
    int driver = 0;
    cudaDriverGetVersion(&driver);
    int wrote = snprintf(s->driver, sizeof s->driver, "CUDA %d.%d, %s", driver / 1000,
                         driver % 1000 / 10, kinds[s->marks_kind]);
    if (s->marks_kind != MARKS_NONE)
        wrote += snprintf(s->driver + wrote, sizeof s->driver - (size_t)wrote, " of %lld ns",
                          (long long)marks_step_ns(s->marks));
    snprintf(s->driver + wrote, sizeof s->driver - (size_t)wrote, ", %s%s",
             no_graph_why ? "no graph: " : "graph", no_graph_why ? no_graph_why : "");
}

static void drop_graph(struct backend_state *s, const char *why) {
    cudaGraphExecDestroy(s->graph);
    s->graph = NULL;
    cudaGetLastError(); // the graph's failure is dealt with; a lost device shows again
    name_driver(s, why);
}

static bool start_step(struct backend_state *s, bool wants_logits, char *why) {
    if (s->graph && wants_logits) {
        if (device_check(cudaGraphLaunch(s->graph, s->stream), "start a graph", why))
            return true;
        drop_graph(s, why);
    }
    return launch_step(s, wants_logits, why);
}

static bool pass_step(struct backend_state *s, const struct backend_pass *pass, char *why) {
    int told = 0;
    s->next[0] = pass->tokens[0];
    s->next[1] = pass->first_position;
    marks_begin(s->marks);
    return start_step(s, pass->logits != NULL, why) &&
           tell(s, pass, &told, s->model->shape.layers, why) && finish(s, pass, why);
}

static bool is_told_to_stop(const struct backend_pass *pass) {
    return pass->is_stopped && pass->is_stopped(pass->context);
}

// False with "stopped" when that was the reason; nothing is on the stream then.
static bool pass_rows(struct backend_state *s, const struct backend_pass *pass, char *why) {
    const int layers = s->model->shape.layers;
    int told = 0;
    marks_begin(s->marks);
    if (!launch_rows_embedding(s, pass, why))
        return false;
    for (int layer = 0; layer < layers; layer++) {
        if (s->marks_kind == MARKS_TIMER && !tell(s, pass, &told, layer - LAYERS_AHEAD, why))
            return false;
        if (is_told_to_stop(pass))
            return device_check(cudaStreamSynchronize(s->stream), "stop", why) &&
                   why_set(why, "stopped");
        if (!launch_rows_layer(s, layer, pass, why))
            return false;
    }
    const float *last = s->a.stream + (size_t)(pass->count - 1) * (size_t)s->model->shape.dim;
    if (pass->logits && !launch_logits(s, last, why))
        return false;
    return tell(s, pass, &told, layers, why) && finish(s, pass, why);
}

static bool check_pass(const struct backend_state *s, const struct backend_pass *pass, char *why) {
    int vocab = s->model->shape.vocab;
    if (!pass->tokens || pass->count < 1 || pass->count > BACKEND_PREFILL_CHUNK)
        return why_set(why, "a pass over %d tokens was asked for, expected 1 to %d", pass->count,
                       BACKEND_PREFILL_CHUNK);
    if (pass->first_position < 0 || pass->first_position > s->cached)
        return why_set(why, "the KV cache holds %d tokens, a pass cannot start at position %d",
                       s->cached, pass->first_position);
    if (pass->count > s->context - pass->first_position)
        return why_set(why, "%d tokens do not fit into a context of %d: use a shorter prompt",
                       pass->first_position + pass->count, s->context);
    for (int t = 0; t < pass->count; t++) {
        if (pass->tokens[t] < 0 || pass->tokens[t] >= vocab)
            return why_set(why, "token %d has id %d, the model knows ids 0 to %d", t,
                           (int)pass->tokens[t], vocab - 1);
    }
    return true;
}

static bool pass(struct backend_state *s, const struct backend_pass *pass, char *why) {
    if (!check_pass(s, pass, why))
        return false;
    s->cached = pass->first_position; // what lies behind is being overwritten
    // The calling thread may not be the one that opened.
    if (!device_check(cudaSetDevice(s->device), "be used", why) ||
        !(pass->count == 1 ? pass_step(s, pass, why) : pass_rows(s, pass, why)))
        return false;
    s->cached += pass->count;
    return true;
}

// --- Opening and closing ---

static void place_arrays(struct backend_state *s, struct device_arena *arena) {
    const struct model_shape *h = &s->model->shape;
    struct arrays *a = &s->a;
    const size_t most = (size_t)s->most, q_rows = (size_t)s->q_rows, ff = (size_t)h->ff_dim;
    const size_t parts = (size_t)h->heads * (size_t)s->splits;
    const struct device_weights *w = &s->weights;
    const size_t number = w->is_f32 ? sizeof(float) : sizeof(bfloat16);
    auto floats = [arena](size_t count) {
        return static_cast<float *>(device_take(arena, count * sizeof(float)));
    };
    auto rows = [arena, s, most, number](int cols) {
        size_t stride = (size_t)rows_of(s, NULL, cols).stride;
        return static_cast<unsigned char *>(device_take(arena, most * stride * number));
    };
    a->angles = floats((size_t)s->context * (size_t)h->head_dim);
    a->cache = static_cast<unsigned char *>(
        device_take(arena, (size_t)h->layers * 2 * s->cache_plane_bytes));
    a->stream = floats(most * (size_t)h->dim);
    a->qkv = floats(most * (q_rows + 2 * (size_t)s->kv_rows));
    a->gate_up = floats(most * 2 * ff);
    a->normed = rows(h->dim);
    a->mixed = rows(s->q_rows);
    a->inner = rows(h->ff_dim);
    a->widened =
        w->is_f32 ? NULL
                  : static_cast<bfloat16 *>(device_take(arena, w->most_values * sizeof(bfloat16)));
    a->tokens = static_cast<int *>(device_take(arena, most * sizeof(int)));
    a->step = static_cast<struct step *>(device_take(arena, sizeof(struct step)));
    a->query = floats(q_rows);
    a->mixed_one = floats(q_rows);
    a->inner_one = floats(ff);
    a->part_max = floats(parts);
    a->part_sum = floats(parts);
    a->part_mixed = floats(parts * (size_t)h->head_dim);
    a->logits = floats((size_t)h->vocab);
}

static bool refuse(const struct backend_state *s, size_t needed, size_t free_bytes, char *why) {
    if (s->model->is_made)
        return shape_refuse(s->model, needed, free_bytes, why);
    bool is_cache = s->weights.bytes <= free_bytes;
    return why_set(why,
                   "%.60s needs %.2f GB of GPU memory (weights %.2f, cache and scratch for %d "
                   "tokens %.2f) and %.2f GB are free: take %s",
                   s->model->name, (double)needed / 1e9, (double)s->weights.bytes / 1e9, s->context,
                   (double)(needed - s->weights.bytes) / 1e9, (double)free_bytes / 1e9,
                   is_cache ? "a shorter context" : "a smaller model, or --device cpu");
}

static bool take_memory(struct backend_state *s, char *why) {
    struct device_arena count = {NULL, 0};
    place_arrays(s, &count);
    s->memory_bytes = count.used;
    size_t free_bytes = 0, total_bytes = 0;
    size_t needed = s->weights.bytes + s->memory_bytes + gemm_workspace_bytes();
    if (!device_check(cudaMemGetInfo(&free_bytes, &total_bytes), "tell its free memory", why))
        return false;
    if (needed > free_bytes)
        return refuse(s, needed, free_bytes, why);
    cudaError_t error = cudaMalloc(&s->weights.memory, s->weights.bytes);
    if (error == cudaSuccess)
        error = cudaMalloc(&s->memory, s->memory_bytes);
    if (error == cudaErrorMemoryAllocation)
        return refuse(s, needed, free_bytes, why);
    if (!device_check(error, "give memory", why))
        return false;
    struct device_arena arena = {s->memory, 0};
    place_arrays(s, &arena);
    return device_check(cudaMemsetAsync(s->memory, 0, s->memory_bytes, s->stream), "clear memory",
                        why);
}

// As the CPU backend does it: in double, rounded once.
static bool fill_angles(struct backend_state *s, char *why) {
    const struct model *model = s->model;
    const int pairs = model->shape.head_dim / 2;
    const size_t bytes = (size_t)s->context * (size_t)pairs * 2 * sizeof(float);
    float *angles = static_cast<float *>(malloc(bytes));
    if (!angles)
        return why_set(why, "no memory for the angles of %d positions", s->context);
    for (int i = 0; i < pairs; i++) {
        double speed = pow((double)model->shape.rope_base, -(double)i / pairs);
        if (model->rope_factors)
            speed /= (double)model->rope_factors[i];
        for (int p = 0; p < s->context; p++) {
            float *at = angles + ((size_t)p * (size_t)pairs + (size_t)i) * 2;
            at[0] = (float)cos(p * speed);
            at[1] = (float)sin(p * speed);
        }
    }
    bool ok =
        device_check(cudaMemcpyAsync(s->a.angles, angles, bytes, cudaMemcpyHostToDevice, s->stream),
                     "take angles", why) &&
        device_check(cudaStreamSynchronize(s->stream), "take angles", why);
    free(angles);
    return ok;
}

static bool take_host_memory(struct backend_state *s, char *why) {
    size_t bytes = (size_t)s->model->shape.vocab * sizeof(float);
    return device_check(cudaHostAlloc(&s->next, 2 * sizeof(int), cudaHostAllocMapped),
                        "share memory", why) &&
           device_check(cudaHostGetDevicePointer(&s->device_next, s->next, 0), "share memory",
                        why) &&
           device_check(cudaHostAlloc(&s->host_logits, bytes, cudaHostAllocMapped), "share memory",
                        why);
}

// Captures a step. Without a graph steps still work, so that is no failure: `why`
// then says what the graph lacked.
static bool capture(struct backend_state *s, char *why) {
    cudaGraph_t graph = NULL;
    if (!device_check(cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeRelaxed), "capture",
                      why))
        return false;
    marks_capture(s->marks, true);
    bool ok = launch_step(s, true, why);
    marks_capture(s->marks, false);
    cudaError_t ended = cudaStreamEndCapture(s->stream, &graph);
    ok = ok && device_check(ended, "capture", why) &&
         device_check(cudaGraphInstantiate(&s->graph, graph, 0), "make a graph", why);
    if (graph)
        cudaGraphDestroy(graph);
    if (!ok) {
        s->graph = NULL;
        cudaGetLastError(); // the capture's failure is dealt with
    }
    return ok;
}

static bool warm_pass(struct backend_state *s, int count, char *why) {
    static const int32_t zeros[2] = {0, 0};
    struct backend_pass warm = {};
    warm.tokens = zeros;
    warm.count = count;
    warm.logits = s->host_logits;
    return pass(s, &warm, why);
}

// Every kernel runs once before anything is timed: its module is loaded then, which
// may wait and allocate, and must not happen inside a capture.
static bool warm_up(struct backend_state *s, char *why) {
    char graph_why[WHY_BYTES] = "switched off";
    if (!warm_pass(s, 1, why) || (s->most > 1 && !warm_pass(s, 2, why)))
        return false;
    const char *word = getenv("TOKENDRIP_CUDA_GRAPH"); // "off": to compare with
    bool has_graph = !(word && strcmp(word, "off") == 0) && capture(s, graph_why);
    name_driver(s, has_graph ? NULL : graph_why);
    if (!warm_pass(s, 1, why)) // also shows that the device outlived a failed capture
        return false;
    s->cached = 0;
    return true;
}

static bool check_matrix(const struct tensor *t, const char *name, bool is_made, char *why) {
    if (!quant_is_known(t->type) || quant_row_bytes(t->type, t->cols) == 0)
        return why_set(why, "the GPU cannot multiply %s weights of type %s in rows of %d numbers",
                       name, gguf_tensor_type_name(t->type), (int)t->cols);
    if (!is_made && !t->data)
        return why_set(why, "the %s weights have no data", name);
    return true;
}

static bool check_layer(const struct model_layer *l, bool is_made, char *why) {
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
        if (!check_matrix(rows[i].tensor, rows[i].name, is_made, why))
            return false;
    }
    return true;
}

static bool check_model(const struct model *model, char *why) {
    const struct model_shape *h = &model->shape;
    if (h->heads < 1 || h->kv_heads < 1 || h->heads % h->kv_heads != 0)
        return why_set(why, "%d query heads cannot share %d key heads evenly", h->heads,
                       h->kv_heads);
    if (h->head_dim < 2 || h->head_dim % 2 != 0 || h->head_dim > MOST_HEAD_DIM)
        return why_set(why,
                       "a head size of %d cannot be used on the GPU: it must be even and at "
                       "most %d: use --device cpu",
                       h->head_dim, MOST_HEAD_DIM);
    // Their queries share 48 KiB.
    if (h->heads / h->kv_heads * matrix_stride(WEIGHT_F16, h->head_dim) > 12288)
        return why_set(why, "%d heads of %d numbers share one key head: use --device cpu",
                       h->heads / h->kv_heads, h->head_dim);
    for (int i = 0; i < h->layers; i++) {
        if (!check_layer(&model->layers[i], model->is_made, why))
            return false;
    }
    return check_matrix(&model->token_embd, "embedding", model->is_made, why) &&
           check_matrix(&model->output_norm, "output norm", model->is_made, why) &&
           check_matrix(&model->output, "output", model->is_made, why);
}

static bool create_marks(struct backend_state *s, enum marks_kind kind, char *why) {
    s->marks_kind = kind;
    return marks_create(&s->marks, s->model->shape.layers + 1, kind, s->stream, why);
}

// The device's clock where it goes on finely enough, else events. A word in the
// environment has its way, for measuring what marks cost.
static bool choose_marks(struct backend_state *s, char *why) {
    const char *word = getenv("TOKENDRIP_CUDA_MARKS");
    if (word && strcmp(word, "events") == 0)
        return create_marks(s, MARKS_EVENTS, why);
    if (word && strcmp(word, "none") == 0)
        return create_marks(s, MARKS_NONE, why);
    if (!create_marks(s, MARKS_TIMER, why))
        return false;
    if (marks_step_ns(s->marks) <= COARSE_NS)
        return true;
    marks_destroy(s->marks);
    return create_marks(s, MARKS_EVENTS, why);
}

static void set_sizes(struct backend_state *s, const struct backend_opts *opts) {
    const struct model_shape *h = &s->model->shape;
    s->context = opts->context;
    s->most = s->context < BACKEND_PREFILL_CHUNK ? s->context : (int)BACKEND_PREFILL_CHUNK;
    s->heads.heads = h->heads;
    s->heads.kv_heads = h->kv_heads;
    s->heads.head_dim = h->head_dim;
    s->q_rows = h->heads * h->head_dim;
    s->kv_rows = h->kv_heads * h->head_dim;
    int splits = (s->context + PART_TOKENS - 1) / PART_TOKENS;
    s->splits = splits < MOST_SPLITS ? splits : (int)MOST_SPLITS;
    s->cache_stride = matrix_stride(s->weights.is_f32 ? WEIGHT_F32 : WEIGHT_F16, h->head_dim);
    size_t number = s->weights.is_f32 ? sizeof(float) : sizeof(half16);
    s->cache_plane_bytes =
        (size_t)h->kv_heads * (size_t)s->context * (size_t)s->cache_stride * number;
}

static bool set_up(struct backend_state *s, const struct backend_opts *opts, char *why) {
    cudaDeviceProp prop;
    if (opts->context < 1 || opts->context > s->model->shape.context)
        return why_set(why, "a context of %d tokens was asked for, this model has 1 to %d",
                       opts->context, s->model->shape.context);
    s->device = find_device(&prop, why);
    if (s->device < 0 || !device_check(cudaSetDevice(s->device), "be used", why) ||
        !device_check(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "make a stream",
                      why) ||
        !device_weights_plan(&s->weights, s->model, why))
        return false;
    s->most_blocks = prop.multiProcessorCount * RESIDENT_BLOCKS;
    snprintf(s->device_name, sizeof s->device_name, "%.95s", prop.name);
    set_sizes(s, opts);
    return take_memory(s, why) && gemm_create(&s->gemm, why) &&
           device_weights_fill(&s->weights, s->model, s->stream, why) && fill_angles(s, why) &&
           take_host_memory(s, why) && choose_marks(s, why) && warm_up(s, why);
}

static void close_state(struct backend_state *s) {
    if (!s)
        return;
    if (s->stream)
        cudaStreamSynchronize(s->stream);
    if (s->graph)
        cudaGraphExecDestroy(s->graph);
    marks_destroy(s->marks);
    gemm_destroy(s->gemm);
    device_weights_clear(&s->weights);
    cudaFree(s->memory);
    if (s->next)
        cudaFreeHost(s->next);
    if (s->host_logits)
        cudaFreeHost(s->host_logits);
    if (s->stream)
        cudaStreamDestroy(s->stream);
    free(s);
}

static bool open_state(struct backend_state **out, const struct model *model,
                       const struct backend_opts *opts, char *why) {
    *out = NULL;
    if (!check_model(model, why))
        return false;
    struct backend_state *s = static_cast<struct backend_state *>(calloc(1, sizeof *s));
    if (!s)
        return why_set(why, "the CUDA backend is out of memory");
    s->model = model;
    if (!set_up(s, opts, why)) {
        close_state(s);
        return false;
    }
    *out = s;
    return true;
}

static void fill_info(const struct backend_state *s, struct run_info *info) {
    snprintf(info->device, sizeof info->device, "cuda:%d", s->device);
    snprintf(info->device_name, sizeof info->device_name, "%s", s->device_name);
    snprintf(info->driver, sizeof info->driver, "%s", s->driver);
    info->threads = 0;
    info->kv_value_bytes = (int)(s->weights.is_f32 ? sizeof(float) : sizeof(half16));
}

static bool measure_rates(struct backend_state *s, size_t working_set_bytes,
                          struct backend_rates *out, char *why) {
    return device_check(cudaSetDevice(s->device), "be used", why) &&
           rates_measure(out, s->gemm, s->stream, working_set_bytes, why);
}

const struct backend backend_cuda = {
    BACKEND_ABI, "cuda", available, describe,      open_state,
    close_state, pass,   fill_info, measure_rates,
};
