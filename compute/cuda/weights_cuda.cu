// See weights_cuda.cuh.
#include "compute/cuda/weights_cuda.cuh"

extern "C" {
#include "compute/base/why.h"
#include "compute/model/shape.h"
}

#include <stdlib.h>

enum {
    ALIGN_BYTES = 256,
    STAGING_BYTES = 16 << 20,
    MOST_MADE = 1 << 27, // numbers made by one kernel: some milliseconds
};

bool device_check(cudaError_t error, const char *what, struct why *why) {
    if (error == cudaSuccess)
        return true;
    cudaGetLastError(); // reported here, once
    return why_set(why, "the GPU could not %s: %s (%s)", what, cudaGetErrorString(error),
                   cudaGetErrorName(error));
}

void *device_take(struct device_arena *arena, size_t bytes) {
    unsigned char *at = arena->base ? arena->base + arena->used : NULL;
    arena->used += (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    return at;
}

// --- Places ---

static enum weight_type type_of(enum gguf_tensor_type type) {
    switch (type) {
    case GGUF_TENSOR_F16:
        return WEIGHT_F16;
    case GGUF_TENSOR_BF16:
        return WEIGHT_BF16;
    case GGUF_TENSOR_Q8_0:
        return WEIGHT_Q8_0;
    case GGUF_TENSOR_Q4_0:
        return WEIGHT_Q4_0;
    default:
        return WEIGHT_F32;
    }
}

bool device_weights_knows(enum gguf_tensor_type type) {
    return type == GGUF_TENSOR_F32 || type_of(type) != WEIGHT_F32;
}

// Matrices stored as one, rows after rows. If their types differ they are kept as floats,
// which is exact for each.
struct together {
    const struct tensor *parts[3];
    int count;
};

static bool is_blocks(enum weight_type type) {
    return type == WEIGHT_Q8_0 || type == WEIGHT_Q4_0;
}

static struct matrix place(struct device_arena *arena, const struct together &group) {
    struct matrix m = {};
    m.type = type_of(group.parts[0]->type);
    m.cols = (int)group.parts[0]->cols;
    for (int i = 0; i < group.count; i++) {
        m.rows += (int)group.parts[i]->rows;
        if (group.parts[i]->type != group.parts[0]->type)
            m.type = WEIGHT_F32;
    }
    m.stride = matrix_stride(m.type, m.cols);
    m.data = static_cast<unsigned char *>(
        device_take(arena, (size_t)m.rows * matrix_row_bytes(m.type, m.stride)));
    if (is_blocks(m.type))
        m.scales = static_cast<half16 *>(
            device_take(arena, (size_t)m.rows * (size_t)(m.cols / BLOCK_VALUES) * sizeof(half16)));
    return m;
}

static struct together alone(const struct tensor *t) {
    struct together group = {{t, NULL, NULL}, 1};
    return group;
}

static struct together qkv_of(const struct model_layer *l) {
    struct together group = {{&l->q, &l->k, &l->v}, 3};
    return group;
}

static struct together gate_up_of(const struct model_layer *l) {
    struct together group = {{&l->gate, &l->up, NULL}, 2};
    return group;
}

static const float *place_norm(struct device_arena *arena, int dim) {
    return static_cast<float *>(device_take(arena, (size_t)dim * sizeof(float)));
}

static void note(struct device_weights *w, const struct matrix &m) {
    size_t values = (size_t)m.rows * (size_t)matrix_stride(WEIGHT_BF16, m.cols);
    w->most_values = values > w->most_values ? values : w->most_values;
    w->is_f32 = w->is_f32 && m.type == WEIGHT_F32;
}

static void place_all(struct device_weights *w, const struct model *model,
                      struct device_arena *arena) {
    const int dim = model->shape.dim;
    w->is_f32 = true;
    w->most_values = 0;
    w->embedding = place(arena, alone(&model->token_embd));
    w->output = model->shape.tied_output ? w->embedding : place(arena, alone(&model->output));
    w->output_norm = place_norm(arena, dim);
    for (int i = 0; i < model->shape.layers; i++) {
        const struct model_layer *from = &model->layers[i];
        struct device_layer *to = &w->layers[i];
        to->qkv = place(arena, qkv_of(from));
        to->out = place(arena, alone(&from->attn_out));
        to->gate_up = place(arena, gate_up_of(from));
        to->down = place(arena, alone(&from->down));
        to->attn_norm = place_norm(arena, dim);
        to->ffn_norm = place_norm(arena, dim);
        note(w, to->qkv);
        note(w, to->out);
        note(w, to->gate_up);
        note(w, to->down);
    }
}

bool device_weights_plan(struct device_weights *w, const struct model *model, struct why *why) {
    w->layers =
        static_cast<struct device_layer *>(calloc((size_t)model->shape.layers, sizeof *w->layers));
    if (!w->layers)
        return why_set(why, "no memory for the places of %d layers", model->shape.layers);
    struct device_arena count = {NULL, 0};
    place_all(w, model, &count);
    w->bytes = count.used;
    return true;
}

void device_weights_clear(struct device_weights *w) {
    cudaFree(w->memory);
    free(w->layers);
    w->memory = NULL;
    w->layers = NULL;
}

// --- Filling ---

size_t device_weights_staging_bytes(const struct model *model) {
    return model->is_made ? 0 : (size_t)STAGING_BYTES;
}

struct filler {
    const struct model *model;
    cudaStream_t stream;
    unsigned char *staging; // device memory, STAGING_BYTES
    float *floats;          // host memory, STAGING_BYTES
    uint32_t number;        // of the next matrix, as shape.h counts
    struct why *why;
};

static struct matrix rows_of(const struct matrix &m, int first, int rows) {
    struct matrix part = m;
    part.rows = rows;
    part.data = m.data + (size_t)first * matrix_row_bytes(m.type, m.stride);
    if (m.scales)
        part.scales = m.scales + (size_t)first * (size_t)(m.cols / BLOCK_VALUES);
    return part;
}

static bool fill_rows(struct filler *f, const struct matrix &to, const void *from,
                      size_t from_row_bytes) {
    size_t pitch = matrix_row_bytes(to.type, to.stride);
    return device_check(cudaMemcpy2DAsync(const_cast<unsigned char *>(to.data), pitch, from,
                                          from_row_bytes, from_row_bytes, (size_t)to.rows,
                                          cudaMemcpyHostToDevice, f->stream),
                        "take weights", f->why);
}

static bool fill_blocks(struct filler *f, const struct matrix &to, const struct tensor *from) {
    const size_t block_bytes = to.type == WEIGHT_Q8_0 ? QUANT_Q8_0_BYTES : QUANT_Q4_0_BYTES;
    const size_t numbers = block_bytes - 2;
    const size_t blocks = (size_t)to.rows * (size_t)(to.cols / BLOCK_VALUES);
    const size_t at_once = STAGING_BYTES / block_bytes;
    for (size_t first = 0; first < blocks; first += at_once) {
        struct split_args args = {};
        args.count = blocks - first < at_once ? blocks - first : at_once;
        args.type = to.type;
        args.blocks = f->staging;
        args.data = const_cast<unsigned char *>(to.data) + first * numbers;
        args.scales = const_cast<half16 *>(to.scales) + first;
        const unsigned char *bytes = static_cast<const unsigned char *>(from->data);
        if (!device_check(cudaMemcpyAsync(f->staging, bytes + first * block_bytes,
                                          args.count * block_bytes, cudaMemcpyHostToDevice,
                                          f->stream),
                          "take weights", f->why))
            return false;
        launch_split(args, f->stream);
    }
    return true;
}

// Rows of any type as floats, a few at a time.
static bool fill_floats(struct filler *f, const struct matrix &to, const struct tensor *from) {
    const size_t cols = (size_t)to.cols, row_bytes = quant_row_bytes(from->type, from->cols);
    const int at_once = (int)(STAGING_BYTES / (cols * sizeof(float)));
    for (int first = 0; first < to.rows; first += at_once) {
        int rows = to.rows - first < at_once ? to.rows - first : at_once;
        for (int r = 0; r < rows; r++)
            quant_row_to_float(f->floats + (size_t)r * cols, from->type,
                               static_cast<const unsigned char *>(from->data) +
                                   (size_t)(first + r) * row_bytes,
                               cols);
        // Waits for the copy before the buffer is used again.
        if (!fill_rows(f, rows_of(to, first, rows), f->floats, cols * sizeof(float)) ||
            !device_check(cudaStreamSynchronize(f->stream), "take weights", f->why))
            return false;
    }
    return true;
}

static void make_matrix(struct filler *f, const struct matrix &to, const struct tensor *like) {
    const int at_once = MOST_MADE / to.cols > 0 ? MOST_MADE / to.cols : 1;
    struct make_args args = {};
    args.seed = f->model->seed;
    args.number = f->number;
    args.scale = shape_scale(like);
    for (int first = 0; first < to.rows; first += at_once) {
        args.to = rows_of(to, first, to.rows - first < at_once ? to.rows - first : at_once);
        args.first_row = first;
        launch_make(args, f->stream);
    }
}

static bool fill_matrix(struct filler *f, const struct matrix &to, const struct together &group) {
    int first = 0;
    bool ok = true;
    for (int i = 0; i < group.count && ok; i++) {
        const struct tensor *from = group.parts[i];
        struct matrix part = rows_of(to, first, (int)from->rows);
        if (f->model->is_made)
            make_matrix(f, part, from);
        else if (type_of(from->type) != to.type)
            ok = fill_floats(f, part, from);
        else if (is_blocks(to.type))
            ok = fill_blocks(f, part, from);
        else
            ok = fill_rows(f, part, from->data, quant_row_bytes(from->type, from->cols));
        first += (int)from->rows;
        f->number++;
    }
    return ok;
}

static bool fill_norm(struct filler *f, const float *to, const struct tensor *from) {
    return device_check(cudaMemcpyAsync(const_cast<float *>(to), from->data,
                                        (size_t)from->cols * sizeof(float), cudaMemcpyHostToDevice,
                                        f->stream),
                        "take weights", f->why);
}

static bool fill_layer(struct filler *f, const struct device_layer *to,
                       const struct model_layer *from) {
    return fill_matrix(f, to->qkv, qkv_of(from)) &&
           fill_matrix(f, to->out, alone(&from->attn_out)) &&
           fill_matrix(f, to->gate_up, gate_up_of(from)) &&
           fill_matrix(f, to->down, alone(&from->down)) &&
           fill_norm(f, to->attn_norm, &from->attn_norm) &&
           fill_norm(f, to->ffn_norm, &from->ffn_norm);
}

static bool fill_all(struct filler *f, const struct device_weights *w) {
    const struct model *model = f->model;
    if (!fill_matrix(f, w->embedding, alone(&model->token_embd)) ||
        !(model->shape.tied_output || fill_matrix(f, w->output, alone(&model->output))) ||
        !fill_norm(f, w->output_norm, &model->output_norm))
        return false;
    for (int i = 0; i < model->shape.layers; i++) {
        if (!fill_layer(f, &w->layers[i], &model->layers[i]))
            return false;
    }
    return device_check(cudaStreamSynchronize(f->stream), "take weights", f->why) &&
           device_check(cudaGetLastError(), "take weights", f->why);
}

bool device_weights_fill(struct device_weights *w, const struct model *model, cudaStream_t stream,
                         struct why *why) {
    struct device_arena arena = {w->memory, 0};
    struct filler f = {model, stream, NULL, NULL, 0, why};
    place_all(w, model, &arena);
    const size_t staging_bytes = device_weights_staging_bytes(model);
    bool ok = device_check(cudaMemsetAsync(w->memory, 0, w->bytes, stream), "clear memory", why);
    if (ok && staging_bytes > 0) {
        ok = device_check(cudaMalloc(&f.staging, staging_bytes), "take memory to stage weights",
                          why);
        f.floats = static_cast<float *>(malloc(staging_bytes));
        if (!f.floats)
            ok = why_set(why, "no memory to stage weights for the GPU");
    }
    ok = ok && fill_all(&f, w);
    cudaStreamSynchronize(stream); // a failed fill may still read what goes now
    cudaFree(f.staging);
    free(f.floats);
    return ok;
}
