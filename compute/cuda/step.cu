// A decode step: the kernels of decode.cu in their order, captured once as a graph that
// reads its token and position from memory that the host wrote. The copies of the logits
// follow the graph, so that one graph serves every kind of pass.
#include "compute/cuda/state.cuh"

#include <stdio.h>
#include <string.h>

struct cache cache_of(const struct backend_state *s, int layer) {
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

static bool launch_step_layer(const struct backend_state *s, int layer, struct why *why) {
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

// --- The logits ---

bool wants_head(const struct backend_pass *pass) {
    return pass->logits || pass->greedy_id;
}

void launch_head(const struct backend_state *s, const float *stream) {
    struct product_args head = product_of(s, s->a.logits, s->weights.output, stream);
    head.norm = s->weights.output_norm;
    head.epsilon = s->model->shape.norm_epsilon;
    launch_product(head, s->stream);
}

bool launch_outputs(const struct backend_state *s, const struct backend_pass *pass,
                    struct why *why) {
    const size_t bytes = (size_t)s->model->shape.vocab * sizeof(float);
    if (pass->greedy_id) {
        struct largest_args largest = {};
        largest.out = s->device_next + NEXT_BEST;
        largest.values = s->a.logits;
        largest.count = s->model->shape.vocab;
        largest.part_values = s->a.best_values;
        largest.part_indices = s->a.best_ids;
        largest.arrived = s->a.best_arrived;
        launch_largest(largest, s->stream);
    }
    // Comes before any wait: a query of the stream would hide the error of a launch.
    return device_check(cudaGetLastError(), "start a pass", why) &&
           (!pass->logits || device_check(cudaMemcpyAsync(s->host_logits, s->a.logits, bytes,
                                                          cudaMemcpyDeviceToHost, s->stream),
                                          "give its logits", why));
}

// --- The step ---

static bool launch_step(const struct backend_state *s, bool has_head, struct why *why) {
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
    if (has_head)
        launch_head(s, s->a.stream);
    return device_check(cudaGetLastError(), "start a step", why);
}

// --- The graph ---

void name_driver(struct backend_state *s, const char *no_graph_why) {
    static const char *const kinds[] = {"timer", "events"}; // as marks_kind
    const bool has_marks = marks_has(s->marks, 0), has_all = marks_has(s->marks, 1);
    int driver = 0;
    cudaDriverGetVersion(&driver);
    int wrote = snprintf(s->driver, sizeof s->driver, "CUDA %d.%d, %s", driver / 1000,
                         driver % 1000 / 10, has_marks ? kinds[s->marks_kind] : "no marks");
    if (has_marks)
        wrote += snprintf(s->driver + wrote, sizeof s->driver - (size_t)wrote, " of %lld ns%s",
                          (long long)marks_step_ns(s->marks), has_all ? "" : " at both ends");
    snprintf(s->driver + wrote, sizeof s->driver - (size_t)wrote, ", %s%s",
             no_graph_why ? "no graph: " : "graph", no_graph_why ? no_graph_why : "");
}

static void drop_graph(struct backend_state *s, const char *why) {
    cudaGraphExecDestroy(s->graph);
    s->graph = NULL;
    cudaGetLastError(); // the graph's failure is dealt with; a lost device shows again
    name_driver(s, why);
}

static bool start_step(struct backend_state *s, bool has_head, struct why *why) {
    if (s->graph && has_head) {
        if (device_check(cudaGraphLaunch(s->graph, s->stream), "start a graph", why))
            return true;
        drop_graph(s, why->text);
    }
    return launch_step(s, has_head, why);
}

bool capture_step(struct backend_state *s, struct why *why) {
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

// --- A pass ---

bool tell_marks(const struct backend_state *s, const struct backend_pass *pass, int *told, int last,
                struct why *why) {
    for (; *told <= last; (*told)++) {
        int64_t end_ns;
        if (!marks_has(s->marks, *told))
            continue;
        if (!marks_wait(s->marks, &end_ns, *told, why))
            return false;
        if (pass->on_mark)
            pass->on_mark(pass->context, *told, end_ns);
    }
    return true;
}

bool finish_pass(const struct backend_state *s, const struct backend_pass *pass, struct why *why) {
    if (!device_check(cudaStreamSynchronize(s->stream), "finish a pass", why) ||
        !device_check(cudaGetLastError(), "finish a pass", why))
        return false;
    if (pass->logits && pass->logits != s->host_logits)
        memcpy(pass->logits, s->host_logits, (size_t)s->model->shape.vocab * sizeof(float));
    if (pass->greedy_id)
        *pass->greedy_id = s->next[NEXT_BEST];
    return true;
}

bool pass_step(struct backend_state *s, const struct backend_pass *pass, struct why *why) {
    int told = 0;
    s->next[NEXT_TOKEN] = pass->tokens[0];
    s->next[NEXT_POSITION] = pass->first_position;
    marks_begin(s->marks);
    return start_step(s, wants_head(pass), why) && launch_outputs(s, pass, why) &&
           tell_marks(s, pass, &told, s->model->shape.layers, why) && finish_pass(s, pass, why);
}
