// Tests of model.h. Small models of random weights are written, read back and
// counted by hand; then one thing at a time is made wrong, and the refusal must name
// it. Files by others and the program's own model must open as they are.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/why.h"
#include "compute/model/model.h"
#include "tests/compute/gguf/gguf_builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { F32 = 0, F16 = 1, Q4_0 = 2, Q8_0 = 8, BF16 = 30 };

static struct why why;

// A model over bytes in memory; close with close_bytes.
struct opened {
    struct model *model;
    uint8_t *bytes;
};

static bool open_builder(struct opened *out, const struct gguf_builder *builder) {
    size_t bytes;
    struct gguf *file;
    out->model = NULL;
    out->bytes = gguf_builder_finish(builder, &bytes);
    why.text[0] = '\0';
    if (!gguf_parse(&file, "/some/where/test.gguf", out->bytes, bytes, &why))
        fail_msg("the builder's own file does not parse: %s", why.text);
    if (model_from_gguf(&out->model, file, "/some/where/test.gguf", &why))
        return true;
    assert_null(out->model);
    gguf_close(file);
    return false;
}

static void close_bytes(struct opened *opened) {
    model_close(opened->model);
    free(opened->bytes);
}

static void open_shape(struct opened *out, const struct gguf_builder_llama *shape) {
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    gguf_builder_llama(&builder, shape);
    if (!open_builder(out, &builder))
        fail_msg("%s", why.text);
    gguf_builder_clear(&builder);
}

// --- Good models ---

static void a_small_model_opens_with_its_shape(void **state) {
    (void)state;
    struct opened opened;
    open_shape(&opened, &gguf_builder_small);
    const struct model *model = opened.model;
    const struct model_shape *shape = &model->shape;
    assert_int_equal(shape->dim, 16);
    assert_int_equal(shape->layers, 2);
    assert_int_equal(shape->heads, 4);
    assert_int_equal(shape->kv_heads, 2);
    assert_int_equal(shape->head_dim, 4);
    assert_int_equal(shape->ff_dim, 24);
    assert_int_equal(shape->vocab, 20);
    assert_int_equal(shape->context, 64);
    assert_true(shape->norm_epsilon == 1e-5F && shape->rope_base == 10000.0F);
    assert_false(shape->tied_output);
    assert_null(model->rope_factors);
    assert_string_equal(model->name, "random weights");
    assert_string_equal(model->weights, "file");
    close_bytes(&opened);
}

static void expect_tensor(const struct model *model, const struct tensor *tensor, const char *name,
                          int64_t rows, int64_t cols) {
    const struct gguf_tensor *wanted = gguf_tensor_find(model->file, name);
    assert_non_null(wanted);
    assert_int_equal(tensor->rows, rows);
    assert_int_equal(tensor->cols, cols);
    assert_ptr_equal(tensor->data, wanted->data);
    assert_int_equal(tensor->bytes, wanted->bytes);
    assert_int_equal(tensor->type, wanted->type);
}

static void every_tensor_is_where_its_name_says(void **state) {
    (void)state;
    struct opened opened;
    open_shape(&opened, &gguf_builder_small);
    const struct model *model = opened.model;
    expect_tensor(model, &model->token_embd, "token_embd.weight", 20, 16);
    expect_tensor(model, &model->output, "output.weight", 20, 16);
    expect_tensor(model, &model->output_norm, "output_norm.weight", 1, 16);
    for (int i = 0; i < 2; i++) {
        const struct model_layer *layer = &model->layers[i];
        const struct {
            const char *name;
            const struct tensor *tensor;
            int64_t rows, cols;
        } parts[] = {
            {"attn_norm", &layer->attn_norm, 1, 16},
            {"attn_q", &layer->q, 16, 16},
            {"attn_k", &layer->k, 8, 16},
            {"attn_v", &layer->v, 8, 16},
            {"attn_output", &layer->attn_out, 16, 16},
            {"ffn_norm", &layer->ffn_norm, 1, 16},
            {"ffn_gate", &layer->gate, 24, 16},
            {"ffn_up", &layer->up, 24, 16},
            {"ffn_down", &layer->down, 16, 24},
        };
        for (size_t j = 0; j < sizeof parts / sizeof parts[0]; j++) {
            char name[64];
            snprintf(name, sizeof name, "blk.%d.%s.weight", i, parts[j].name);
            expect_tensor(model, parts[j].tensor, name, parts[j].rows, parts[j].cols);
        }
    }
    close_bytes(&opened);
}

static void a_missing_output_matrix_means_tied(void **state) {
    (void)state;
    struct gguf_builder_llama shape = gguf_builder_small;
    shape.tied = true;
    struct opened opened;
    open_shape(&opened, &shape);
    assert_true(opened.model->shape.tied_output);
    assert_ptr_equal(opened.model->output.data, opened.model->token_embd.data);
    close_bytes(&opened);
}

// By hand, for dim 16, 2 layers, q 16, kv 8, ff 24, vocab 20:
// a layer has 2 norms of 16, q and out 256 each, k and v 128 each, three of 384.
enum { LAYER = 2 * 16 + 2 * 256 + 2 * 128 + 3 * 384, HEAD = 20 * 16 };

static void parameters_and_bytes_are_counted_exactly(void **state) {
    (void)state;
    static const struct {
        uint32_t type;
        bool tied;
        const char *name;
        int64_t parameters, step_bytes;
    } cases[] = {
        {F32, false, "F32", 2 * LAYER + 2 * HEAD + 16, 4 * (2 * LAYER + HEAD + 16 + 16)},
        {F32, true, "F32", 2 * LAYER + HEAD + 16, 4 * (2 * LAYER + HEAD + 16 + 16)},
        {F16, false, "F16", 2 * LAYER + 2 * HEAD + 16,
         2 * (2 * LAYER + HEAD + 16) + 2 * (4 * 16) + 4 * 16}, // norms stay F32
        {F16, true, "F16", 2 * LAYER + HEAD + 16,
         2 * (2 * LAYER + HEAD + 16) + 2 * (4 * 16) + 4 * 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gguf_builder_llama shape = gguf_builder_small;
        shape.type = cases[i].type;
        shape.tied = cases[i].tied;
        struct opened opened;
        open_shape(&opened, &shape);
        assert_int_equal(model_parameters(opened.model), cases[i].parameters);
        assert_int_equal(model_step_weight_bytes(opened.model), cases[i].step_bytes);
        assert_string_equal(model_weight_type(opened.model), cases[i].name);
        close_bytes(&opened);
    }
}

// --- Other architectures ---

static void open_kind(struct opened *out, const struct gguf_builder_kind *kind,
                      const char *without) {
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    builder.without = without;
    struct gguf_builder_llama shape = gguf_builder_small;
    shape.layers = 7;
    gguf_builder_model(&builder, &shape, kind);
    open_builder(out, &builder);
    gguf_builder_clear(&builder);
}

// The parts that each layer has besides Llama's; norms and biases are 4 or 16 or 8 numbers.
static void an_architecture_has_its_own_parts(void **state) {
    (void)state;
    static const struct {
        struct gguf_builder_kind kind;
        int64_t more; // numbers a layer
        const char *needed;
    } rows[] = {
        {{.architecture = "qwen2", .biases = true}, 16 + 8 + 8, "blk.3.attn_k.bias"},
        {{.architecture = "qwen3", .head_norms = true}, 4 + 4, "blk.6.attn_q_norm.weight"},
        {{.architecture = "gemma2", .post_norms = true}, 16 + 16, "blk.0.post_ffw_norm.weight"},
        {{.architecture = "gemma3", .post_norms = true, .head_norms = true, .window = 8},
         16 + 16 + 4 + 4,
         "blk.6.post_attention_norm.weight"},
        {{.architecture = "phi3", .fused = true}, 0, "blk.5.attn_qkv.weight"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct opened opened;
        open_kind(&opened, &rows[i].kind, NULL);
        if (!opened.model)
            fail_msg("%s", why.text);
        int64_t numbers = 7 * (LAYER + rows[i].more) + 2 * HEAD + 16;
        assert_int_equal(model_parameters(opened.model), numbers);
        assert_int_equal(model_step_weight_bytes(opened.model), 4 * (numbers - HEAD + 16));
        close_bytes(&opened);
        open_kind(&opened, &rows[i].kind, rows[i].needed);
        assert_null(opened.model);
        assert_non_null(strstr(why.text, rows[i].needed));
        free(opened.bytes);
    }
}

static void a_fused_matrix_is_several_in_a_row(void **state) {
    (void)state;
    struct opened opened;
    open_kind(&opened, &(struct gguf_builder_kind){.architecture = "phi3", .fused = true}, NULL);
    const struct model_layer *layer = &opened.model->layers[2];
    const struct gguf_tensor *qkv = gguf_tensor_find(opened.model->file, "blk.2.attn_qkv.weight");
    const char *data = qkv->data;
    assert_ptr_equal(layer->q.data, data);
    assert_ptr_equal(layer->k.data, data + 16 * 16 * 4);
    assert_ptr_equal(layer->v.data, data + (16 + 8) * 16 * 4);
    assert_int_equal(layer->q.rows, 16);
    assert_int_equal(layer->v.rows, 8);
    assert_int_equal(layer->q.bytes + layer->k.bytes + layer->v.bytes, qkv->bytes);
    const struct gguf_tensor *up = gguf_tensor_find(opened.model->file, "blk.2.ffn_up.weight");
    assert_ptr_equal(layer->gate.data, up->data);
    assert_ptr_equal(layer->up.data, (const char *)up->data + 24 * 16 * 4);
    assert_int_equal(layer->up.rows, 24);
    close_bytes(&opened);
}

static void windows_skip_every_sixth_layer_of_gemma_3(void **state) {
    (void)state;
    struct gguf_builder_kind kind = {
        .architecture = "gemma3", .post_norms = true, .head_norms = true, .window = 8};
    struct opened opened;
    open_kind(&opened, &kind, NULL);
    for (int i = 0; i < 7; i++)
        assert_int_equal(opened.model->layers[i].has_window, i != 5);
    assert_int_equal(opened.model->math.window, 8);
    assert_true(opened.model->rope_window_base == 10000.0F);
    assert_true(opened.model->math.embedding_scale == 4.0F);
    close_bytes(&opened);
    kind.window = 0; // as in the file of its smallest model
    open_kind(&opened, &kind, NULL);
    for (int i = 0; i < 7; i++)
        assert_false(opened.model->layers[i].has_window);
    close_bytes(&opened);
}

static void the_weight_type_is_that_of_most_matrix_bytes(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    struct gguf_builder_llama shape = gguf_builder_small;
    shape.type = F16;
    builder.without = "blk.0.ffn_up.weight"; // 384 of 5440 values
    gguf_builder_llama(&builder, &shape);
    builder.without = NULL;
    gguf_builder_tensor(&builder, "blk.0.ffn_up.weight", F32, 24, 16, NULL);
    struct opened opened;
    assert_true(open_builder(&opened, &builder));
    assert_int_equal(opened.model->layers[0].up.type, GGUF_TENSOR_F32);
    assert_string_equal(model_weight_type(opened.model), "F16");
    close_bytes(&opened);
    gguf_builder_clear(&builder);
}

// An embedding that is also the output is one matrix: two thirds of the F16 bytes
// here, and would win if it were counted twice.
static void a_tied_matrix_counts_once_for_the_weight_type(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    struct gguf_builder_llama shape = gguf_builder_small;
    shape.type = F16;
    shape.tied = true;
    builder.without = "token_embd.weight";
    gguf_builder_llama(&builder, &shape);
    builder.without = NULL;
    gguf_builder_tensor(&builder, "token_embd.weight", F32, 80, 16, NULL);
    struct opened opened;
    assert_true(open_builder(&opened, &builder));
    assert_string_equal(model_weight_type(opened.model), "F16");
    close_bytes(&opened);
    gguf_builder_clear(&builder);
}

static void heads_may_be_wider_than_the_embedding(void **state) {
    (void)state;
    struct gguf_builder_llama shape = gguf_builder_small;
    shape.head_dim = 6;
    struct opened opened;
    open_shape(&opened, &shape);
    assert_int_equal(opened.model->shape.head_dim, 6);
    assert_int_equal(opened.model->layers[1].q.rows, 24);
    assert_int_equal(opened.model->layers[1].k.rows, 12);
    assert_int_equal(opened.model->layers[1].attn_out.cols, 24);
    close_bytes(&opened);
}

static void a_context_above_what_a_run_can_hold_is_cut(void **state) {
    (void)state;
    struct gguf_builder_llama shape = gguf_builder_small;
    shape.context = 1u << 20;
    struct opened opened;
    open_shape(&opened, &shape);
    assert_int_equal(opened.model->shape.context, MODEL_MAX_CONTEXT);
    close_bytes(&opened);
}

static void rope_factors_are_read_from_their_tensor(void **state) {
    (void)state;
    static const float factors[2] = {1.0F, 8.0F};
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    gguf_builder_llama(&builder, &gguf_builder_small);
    gguf_builder_tensor(&builder, "rope_freqs.weight", F32, 0, 2, factors);
    struct opened opened;
    assert_true(open_builder(&opened, &builder));
    assert_non_null(opened.model->rope_factors);
    assert_memory_equal(opened.model->rope_factors, factors, sizeof factors);
    close_bytes(&opened);
    gguf_builder_clear(&builder);
}

static void optional_keys_have_their_usual_values(void **state) {
    (void)state;
    struct gguf_builder builder;
    static const char *const optional[] = {"llama.attention.head_count_kv", "llama.rope.freq_base",
                                           "llama.rope.dimension_count", "general.name"};
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++) {
        gguf_builder_init(&builder);
        builder.without = optional[i];
        struct gguf_builder_llama shape = gguf_builder_small;
        shape.kv_heads = shape.heads;
        gguf_builder_llama(&builder, &shape);
        struct opened opened;
        if (!open_builder(&opened, &builder))
            fail_msg("%s", why.text);
        assert_int_equal(opened.model->shape.kv_heads, 4);
        assert_true(opened.model->shape.rope_base == 10000.0F);
        assert_string_equal(opened.model->name, i == 3 ? "test.gguf" : "random weights");
        close_bytes(&opened);
        gguf_builder_clear(&builder);
    }
}

static void positions_scaled_by_one_are_not_scaled(void **state) {
    (void)state;
    static const struct {
        const char *type;
        float factor; // 0 = no key
    } cases[] = {{"none", 0}, {"none", 4}, {"linear", 0}, {"linear", 1}, {NULL, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        gguf_builder_llama(&builder, &gguf_builder_small);
        if (cases[i].type)
            gguf_builder_text(&builder, "llama.rope.scaling.type", cases[i].type);
        if (cases[i].factor > 0)
            gguf_builder_f32(&builder, "llama.rope.scaling.factor", cases[i].factor);
        struct opened opened;
        if (!open_builder(&opened, &builder))
            fail_msg("case %zu: %s", i, why.text);
        close_bytes(&opened);
        gguf_builder_clear(&builder);
    }
}

static void names_are_made_printable_and_cut(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    builder.without = "general.name";
    gguf_builder_llama(&builder, &gguf_builder_small);
    char name[200];
    memset(name, 'n', sizeof name - 1);
    memcpy(name, "bad\n", 4);
    name[sizeof name - 1] = '\0';
    builder.without = NULL;
    gguf_builder_text(&builder, "general.name", name);
    struct opened opened;
    assert_true(open_builder(&opened, &builder));
    assert_memory_equal(opened.model->name, "bad\\x0annn", 10);
    assert_int_equal(strlen(opened.model->name), 95);
    assert_string_equal(opened.model->name + 92, "...");
    close_bytes(&opened);
    gguf_builder_clear(&builder);
}

// --- One thing wrong ---

enum value { NO_KEY, WHOLE, REAL, TEXT };

struct fault {
    const char *without; // left out of the good file
    const char *key;     // then written instead
    enum value value;
    double number;
    const char *text;
    const char *tensor; // and this tensor
    uint32_t type;
    uint64_t rows, cols;
    const char *wanted; // part of the refusal
};

#define HEADS "llama.attention.head_count"
#define KV_HEADS "llama.attention.head_count_kv"
#define EPSILON "llama.attention.layer_norm_rms_epsilon"
#define ROPE_DIM "llama.rope.dimension_count"

static const struct fault faults[] = {
    {"general.architecture", .wanted = "does not say which architecture"},
    {"general.architecture", "general.architecture", TEXT, .text = "qwen3moe",
     .wanted = "has the architecture \"qwen3moe\"; these work: llama, qwen2, qwen3, gemma2, "
               "gemma3, phi3"},
    {"general.architecture", "general.architecture", TEXT, .text = "llama4",
     .wanted = "\"llama4\"; these work"},
    {"general.architecture", "general.architecture", TEXT, .text = "ll\x1b[5m",
     .wanted = "\"ll\\x1b[5m\"; these work"},
    {NULL, "split.count", WHOLE, 3, .wanted = "is one of 3 parts: join them"},
    {NULL, "llama.expert_count", WHOLE, 8, .wanted = "a mixture of 8 experts"},
    {NULL, "llama.logit_scale", REAL, 2, .wanted = "llama.logit_scale, which this program does"},
    {NULL, "llama.attention.scale", REAL, 2, .wanted = "llama.attention.scale, which"},
    {"llama.block_count", .wanted = "llama.block_count is missing"},
    {"llama.block_count", "llama.block_count", WHOLE, 0, .wanted = "block_count is 0; 1 to 160"},
    {"llama.block_count", "llama.block_count", WHOLE, 161, .wanted = "block_count is 161; 1 to"},
    {"llama.block_count", "llama.block_count", REAL, 2, .wanted = "is not one whole number"},
    {"llama.block_count", "llama.block_count", WHOLE, 3,
     .wanted = "the tensor blk.2.attn_norm.weight is missing"},
    {"llama.block_count", "llama.block_count", WHOLE, 1,
     .wanted = "has the tensor blk.1.attn_norm.weight, which this program does not compute"},
    {"llama.embedding_length", .wanted = "llama.embedding_length is missing"},
    {"llama.embedding_length", "llama.embedding_length", WHOLE, 65537, .wanted = "is 65537; 1 to"},
    {"llama.embedding_length", "llama.embedding_length", WHOLE, 18,
     .wanted = "an embedding of 18 does not divide into 4 heads"},
    {"llama.feed_forward_length", .wanted = "llama.feed_forward_length is missing"},
    {"llama.feed_forward_length", "llama.feed_forward_length", WHOLE, 0, .wanted = "is 0; 1 to"},
    {"llama.feed_forward_length", "llama.feed_forward_length", WHOLE, 25,
     .wanted = "blk.0.ffn_gate.weight is 16 x 24, but the keys ask for 16 x 25"},
    {"llama.context_length", .wanted = "llama.context_length is missing"},
    {"llama.context_length", "llama.context_length", WHOLE, 0, .wanted = "is 0; 1 to"},
    {HEADS, .wanted = HEADS " is missing"},
    {HEADS, HEADS, WHOLE, 0, .wanted = HEADS " is 0; 1 to"},
    {KV_HEADS, KV_HEADS, WHOLE, 0, .wanted = KV_HEADS " is 0; 1 to"},
    {KV_HEADS, KV_HEADS, WHOLE, 3, .wanted = "4 attention heads cannot share 3 KV heads"},
    {KV_HEADS, KV_HEADS, WHOLE, 8, .wanted = "4 attention heads cannot share 8 KV heads"},
    {KV_HEADS, KV_HEADS, WHOLE, 1,
     .wanted = "blk.0.attn_k.weight is 16 x 8, but the keys ask for "
               "16 x 4"},
    {ROPE_DIM, ROPE_DIM, WHOLE, 6, .wanted = "turns 6 numbers of heads of 4"},
    {ROPE_DIM, ROPE_DIM, WHOLE, 3, .wanted = "turns 3 numbers of a head; RoPE needs pairs"},
    {NULL, "llama.attention.value_length", WHOLE, 6, .wanted = "keys of 4 and values of 6"},
    {ROPE_DIM, "llama.attention.key_length", WHOLE, 3,
     .wanted = "turns 3 numbers of a head; RoPE needs"},
    {ROPE_DIM, "llama.attention.key_length", WHOLE, 32768, .wanted = "4 heads of 32768 are more"},
    {EPSILON, .wanted = EPSILON " is missing"},
    {EPSILON, EPSILON, WHOLE, 1, .wanted = EPSILON " is not a number"},
    {EPSILON, EPSILON, REAL, 0, .wanted = EPSILON " is out of range"},
    {EPSILON, EPSILON, REAL, NAN, .wanted = EPSILON " is out of range"},
    {EPSILON, EPSILON, REAL, -1, .wanted = EPSILON " is out of range"},
    {EPSILON, EPSILON, REAL, 2, .wanted = EPSILON " is out of range"},
    {"llama.rope.freq_base", "llama.rope.freq_base", REAL, INFINITY, .wanted = "is out of range"},
    {"llama.rope.freq_base", "llama.rope.freq_base", REAL, 0, .wanted = "is out of range"},
    {NULL, "llama.rope.scaling.type", TEXT, .text = "mrope",
     .wanted = "stretches positions by \"mrope\""},
    {NULL, "llama.rope.scaling.type", TEXT, .text = "longrope",
     .wanted = "stretches positions by \"longrope\""},
    {NULL, "llama.rope.scaling.type", WHOLE, 1, .wanted = "scaling.type is not a text"},
    {NULL, "llama.rope.scaling.factor", REAL, 0, .wanted = "scaling.factor is out of range"},
    {NULL, "llama.rope.scaling.factor", WHOLE, 1, .wanted = "scaling.factor is not a number"},
    {NULL, "llama.rope.scale_linear", REAL, NAN, .wanted = "scale_linear is out of range"},
    {NULL, "llama.vocab_size", WHOLE, 21,
     .wanted = "vocab_size is 21, but there is an embedding for 20"},
    {"token_embd.weight", .wanted = "token_embd.weight is missing; is this only a vocabulary?"},
    {"output_norm.weight", .wanted = "the tensor output_norm.weight is missing"},
    {"blk.1.ffn_down.weight", .wanted = "the tensor blk.1.ffn_down.weight is missing"},
    {"token_embd.weight", .tensor = "token_embd.weight", .rows = 20, .cols = 12,
     .wanted = "token_embd.weight is 12 x 20, but the keys ask for 16 x 20"},
    {"output.weight", .tensor = "output.weight", .rows = 19, .cols = 16,
     .wanted = "output.weight is 16 x 19, but the keys ask for 16 x 20"},
    {"blk.1.ffn_down.weight", .tensor = "blk.1.ffn_down.weight", .rows = 24, .cols = 16,
     .wanted = "blk.1.ffn_down.weight is 16 x 24, but the keys ask for 24 x 16"},
    {"output_norm.weight", .tensor = "output_norm.weight", .rows = 0, .cols = 17,
     .wanted = "output_norm.weight is 17 x 1, but the keys ask for 16 x 1"},
    {"output_norm.weight", .tensor = "output_norm.weight", .type = F16, .rows = 0, .cols = 16,
     .wanted = "output_norm.weight is F16; it must be F32"},
    {NULL, .tensor = "blk.0.attn_q.bias", .rows = 0, .cols = 16,
     .wanted = "has the bias blk.0.attn_q.bias, which this program does not compute"},
    {NULL, .tensor = "blk.0.attn_q_norm.weight", .rows = 0, .cols = 4,
     .wanted = "has the tensor blk.0.attn_q_norm.weight"},
    {NULL, .tensor = "rope_freqs.weight", .rows = 0, .cols = 4,
     .wanted = "rope_freqs.weight is 4 x 1, but the keys ask for 2 x 1"},
};

static void put_fault(struct gguf_builder *builder, const struct fault *fault) {
    builder->without = fault->without;
    gguf_builder_llama(builder, &gguf_builder_small);
    builder->without = NULL;
    if (fault->value == WHOLE)
        gguf_builder_u32(builder, fault->key, (uint32_t)fault->number);
    if (fault->value == REAL)
        gguf_builder_f32(builder, fault->key, (float)fault->number);
    if (fault->value == TEXT)
        gguf_builder_text(builder, fault->key, fault->text);
    if (fault->tensor)
        gguf_builder_tensor(builder, fault->tensor, fault->type, fault->rows, fault->cols, NULL);
}

static void expect_refusal(const struct gguf_builder *builder, size_t index, const char *wanted) {
    struct opened opened;
    bool ok = open_builder(&opened, builder);
    if (ok || !strstr(why.text, wanted) || strncmp(why.text, "test.gguf: ", 11) != 0)
        fail_msg("case %zu: wanted '%s', got '%s'", index, wanted, ok ? "a model" : why.text);
    close_bytes(&opened);
}

static void one_wrong_thing_is_refused_by_its_name(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        put_fault(&builder, &faults[i]);
        expect_refusal(&builder, i, faults[i].wanted);
        gguf_builder_clear(&builder);
    }
}

static void put_embedding(struct gguf_builder *builder, uint32_t type, uint64_t cols,
                          uint64_t row_bytes) {
    builder->without = "token_embd.weight";
    gguf_builder_llama(builder, &gguf_builder_small);
    while (builder->data.bytes % 32 != 0)
        gguf_buffer_put(&builder->data, "", 1);
    const uint64_t dims[2] = {cols, 20};
    gguf_builder_info(builder, "token_embd.weight", 2, dims, type, builder->data.bytes);
    gguf_buffer_put(&builder->data, (const uint8_t[20 * 210]){0}, 20 * row_bytes);
}

static void types_without_kernels_are_refused_with_a_way_out(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    put_embedding(&builder, 16, 256, 66);
    expect_refusal(&builder, 0, "has weights in IQ2_XXS, which are not read here: another file");
    gguf_builder_clear(&builder);
}

// What a Q4_K_M file is: matrices of several types, norms in F32.
static void matrices_of_different_types_may_be_in_one_file(void **state) {
    (void)state;
    struct gguf_builder builder;
    struct opened opened;
    gguf_builder_init(&builder);
    builder.without = "blk.0.ffn_gate.weight";
    struct gguf_builder_llama shape = gguf_builder_small;
    shape.dim = 256;
    gguf_builder_llama(&builder, &shape);
    const uint64_t dims[2] = {256, 24};
    while (builder.data.bytes % 32 != 0)
        gguf_buffer_put(&builder.data, "", 1);
    builder.without = NULL;
    gguf_builder_info(&builder, "blk.0.ffn_gate.weight", 2, dims, GGUF_TENSOR_Q6_K,
                      builder.data.bytes);
    gguf_buffer_put(&builder.data, (const uint8_t[24 * QUANT_Q6_K_BYTES]){0},
                    24 * QUANT_Q6_K_BYTES);
    if (!open_builder(&opened, &builder))
        fail_msg("%s", why.text);
    assert_int_equal(opened.model->layers[0].gate.type, GGUF_TENSOR_Q6_K);
    assert_int_equal(opened.model->layers[0].gate.bytes, 24 * QUANT_Q6_K_BYTES);
    assert_int_equal(opened.model->layers[0].up.type, GGUF_TENSOR_F32);
    close_bytes(&opened);
    gguf_builder_clear(&builder);
}

// The reader of the file refuses it before the model is looked at.
static void rows_that_are_not_whole_blocks_are_refused(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct gguf_builder builder;
        struct gguf *file;
        size_t bytes;
        gguf_builder_init(&builder);
        put_embedding(&builder, i ? Q4_0 : Q8_0, 48, 17);
        uint8_t *data = gguf_builder_finish(&builder, &bytes);
        assert_false(gguf_parse(&file, "test.gguf", data, bytes, &why));
        assert_non_null(strstr(why.text, i ? "rows of 48 values, but Q4_0 needs blocks of 32"
                                           : "rows of 48 values, but Q8_0 needs blocks of 32"));
        free(data);
        gguf_builder_clear(&builder);
    }
}

static void matrices_of_every_type_open_and_are_counted(void **state) {
    (void)state;
    static const struct {
        uint32_t type;
        const char *name;
        size_t row_bytes; // of 32 numbers
    } rows[] = {
        {F32, "F32", 128},  {F16, "F16", 64},   {BF16, "BF16", 64},
        {Q8_0, "Q8_0", 34}, {Q4_0, "Q4_0", 18},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct gguf_builder_llama shape = {.dim = 32,
                                           .layers = 1,
                                           .heads = 4,
                                           .kv_heads = 2,
                                           .head_dim = 8,
                                           .ff_dim = 64,
                                           .vocab = 20,
                                           .context = 64,
                                           .type = rows[i].type};
        struct gguf_builder builder;
        struct opened opened;
        gguf_builder_init(&builder);
        gguf_builder_llama(&builder, &shape);
        if (!open_builder(&opened, &builder))
            fail_msg("%s: %s", rows[i].name, why.text);
        assert_string_equal(model_weight_type(opened.model), rows[i].name);
        assert_int_equal(opened.model->layers[0].gate.bytes, 64 * rows[i].row_bytes);
        assert_int_equal(opened.model->layers[0].down.bytes, 32 * 2 * rows[i].row_bytes);
        // q 32, k and v 16, out 32, gate and up 64 rows of 32; down 32 rows of 64; the
        // head's 20 rows and one of the embedding; three norms of 32 floats.
        assert_int_equal(model_step_weight_bytes(opened.model),
                         (32 + 16 + 16 + 32 + 64 + 64 + 2 * 32 + 20 + 1) * rows[i].row_bytes +
                             3 * 128);
        close_bytes(&opened);
        gguf_builder_clear(&builder);
    }
}

static void a_third_dimension_is_refused(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    builder.without = "output.weight";
    gguf_builder_llama(&builder, &gguf_builder_small);
    const uint64_t dims[3] = {16, 20, 2};
    while (builder.data.bytes % 32 != 0)
        gguf_buffer_put(&builder.data, "", 1);
    gguf_builder_info(&builder, "output.weight", 3, dims, F32, builder.data.bytes);
    gguf_buffer_put(&builder.data, (const uint8_t[16 * 20 * 2 * 4]){0}, 16 * 20 * 2 * 4);
    expect_refusal(&builder, 0, "output.weight is 16 x 20 x ..., but the keys ask for 16 x 20");
    gguf_builder_clear(&builder);
}

static void an_embedding_of_no_or_too_many_rows_is_refused(void **state) {
    (void)state;
    static const uint64_t rows[] = {0, MODEL_MAX_VOCAB + 1};
    static const char *const wanted[] = {"token_embd.weight has 0 rows; 1 to 1048576",
                                         "token_embd.weight has 1048577 rows; 1 to 1048576"};
    for (size_t i = 0; i < 2; i++) {
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        builder.without = "token_embd.weight";
        gguf_builder_llama(&builder, &gguf_builder_small);
        while (builder.data.bytes % 32 != 0)
            gguf_buffer_put(&builder.data, "", 1);
        const uint64_t dims[2] = {1, rows[i]};
        gguf_builder_info(&builder, "token_embd.weight", 2, dims, F16, builder.data.bytes);
        static const uint8_t data[2 * (MODEL_MAX_VOCAB + 1)];
        gguf_buffer_put(&builder.data, data, 2 * rows[i]);
        expect_refusal(&builder, i, wanted[i]);
        gguf_builder_clear(&builder);
    }
}

static void a_vocabulary_must_be_as_long_as_the_embedding(void **state) {
    (void)state;
    static const char *const texts[21] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
                                          "l", "m", "n", "o", "p", "q", "r", "s", "t", "u"};
    for (size_t count = 19; count <= 21; count++) {
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        gguf_builder_llama(&builder, &gguf_builder_small);
        gguf_builder_texts(&builder, "tokenizer.ggml.tokens", count, texts);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "has %zu tokens, but an embedding for 20", count);
        struct opened opened;
        if (count == 20) {
            assert_true(open_builder(&opened, &builder));
            close_bytes(&opened);
        } else {
            expect_refusal(&builder, count, wanted);
        }
        gguf_builder_clear(&builder);
    }
}

static void norms_and_factors_must_be_finite_and_factors_positive(void **state) {
    (void)state;
    static const struct {
        const char *name;
        float value;
        const char *wanted;
    } cases[] = {
        {"output_norm.weight", NAN, "output_norm.weight holds NaN or infinity at 7"},
        {"blk.1.ffn_norm.weight", -INFINITY, "blk.1.ffn_norm.weight holds NaN or infinity at 7"},
        {"rope_freqs.weight", INFINITY, "rope_freqs.weight holds NaN or infinity at 7"},
        {"rope_freqs.weight", 0.0F, "rope_freqs.weight holds 0 at 7; it divides"},
        {"rope_freqs.weight", -1.0F, "rope_freqs.weight holds -1 at 7; it divides"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gguf_builder_llama shape = gguf_builder_small;
        shape.head_dim = 32; // so that every vector here has 16 numbers
        float values[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        values[7] = cases[i].value;
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        builder.without = cases[i].name;
        gguf_builder_llama(&builder, &shape);
        builder.without = NULL;
        gguf_builder_tensor(&builder, cases[i].name, F32, 0, 16, values);
        expect_refusal(&builder, i, cases[i].wanted);
        gguf_builder_clear(&builder);
    }
}

static void bytes_that_are_not_aligned_are_refused(void **state) {
    (void)state;
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    gguf_builder_llama(&builder, &gguf_builder_small);
    size_t bytes;
    uint8_t *data = gguf_builder_finish(&builder, &bytes);
    uint8_t *shifted = malloc(bytes + 1);
    assert_non_null(shifted);
    memcpy(shifted + 1, data, bytes);
    struct gguf *file;
    struct model *model;
    assert_true(gguf_parse(&file, "shifted.gguf", shifted + 1, bytes, &why));
    assert_false(model_from_gguf(&model, file, "shifted.gguf", &why));
    assert_non_null(strstr(why.text, "does not start on a whole number in memory"));
    gguf_close(file);
    free(shifted);
    free(data);
    gguf_builder_clear(&builder);
}

// --- Files ---

static const char *testdata_path(const char *name) {
    static char path[512];
    const char *root = getenv("TOKENDRIP_TESTDATA");
#ifdef TOKENDRIP_TESTDATA
    if (!root)
        root = TOKENDRIP_TESTDATA;
#endif
    snprintf(path, sizeof path, "%s/%s", root ? root : "", name);
    if (!root || access(path, R_OK) != 0) {
        print_message("TOKENDRIP_TESTDATA has no %s\n", name);
        skip();
    }
    return path;
}

static void open_path(struct model **out, const char *path) {
    if (!model_open(out, path, &why))
        fail_msg("%s", why.text);
}

static void models_by_others_open(void **state) {
    (void)state;
    struct model *model;
    open_path(&model, testdata_path("stories260K/stories260K.f32.gguf"));
    assert_int_equal(model->shape.dim, 64);
    assert_int_equal(model->shape.kv_heads, 4);
    assert_int_equal(model->shape.ff_dim, 172);
    assert_int_equal(model->shape.vocab, 512);
    assert_true(model->shape.tied_output);
    // 1,054,432 bytes of file hold 260,032 F32 values.
    assert_int_equal(model_parameters(model), 260032);
    assert_string_equal(model_weight_type(model), "F32");
    assert_string_equal(model->name, "stories260K");
    model_close(model);

    open_path(&model, testdata_path("gguf/llama-2-tiny-random.gguf"));
    assert_int_equal(model->shape.head_dim, 4);
    assert_int_equal(model->shape.vocab, 32000);
    assert_false(model->shape.tied_output);
    assert_string_equal(model_weight_type(model), "F16");
    model_close(model);
}

static void a_vocabulary_alone_is_no_model(void **state) {
    (void)state;
    struct model *model;
    assert_false(model_open(&model, testdata_path("vocab/ggml-vocab-llama-spm.gguf"), &why));
    assert_non_null(strstr(why.text, "is this only a vocabulary?"));
    assert_false(model_open(&model, testdata_path("vocab/ggml-vocab-gpt-2.gguf"), &why));
    assert_non_null(strstr(why.text, "has the architecture \"gpt2\"; these work: llama"));
    assert_null(model);
}

static void the_bundled_model_opens(void **state) {
    (void)state;
#ifdef TOKENDRIP_SOURCE_DIR
    const char *path = TOKENDRIP_SOURCE_DIR "/assets/model/tokendrip.gguf";
#else
    const char *path = "assets/model/tokendrip.gguf";
#endif
    if (access(path, R_OK) != 0) {
        print_message("%s is not there\n", path);
        skip();
    }
    struct model *model;
    open_path(&model, path);
    assert_true(model->shape.context >= 1024);
    assert_string_equal(model_weight_type(model), "F16");
    assert_true(model_step_weight_bytes(model) > 0);
    model_close(model);
}

static void a_missing_file_is_named(void **state) {
    (void)state;
    struct model *model;
    assert_false(model_open(&model, "/nowhere/at-all.gguf", &why));
    assert_string_equal(why.text, "at-all.gguf: cannot be opened: No such file or directory");
    assert_null(model);
    model_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_model_opens_with_its_shape),
        cmocka_unit_test(every_tensor_is_where_its_name_says),
        cmocka_unit_test(a_missing_output_matrix_means_tied),
        cmocka_unit_test(parameters_and_bytes_are_counted_exactly),
        cmocka_unit_test(an_architecture_has_its_own_parts),
        cmocka_unit_test(a_fused_matrix_is_several_in_a_row),
        cmocka_unit_test(windows_skip_every_sixth_layer_of_gemma_3),
        cmocka_unit_test(the_weight_type_is_that_of_most_matrix_bytes),
        cmocka_unit_test(a_tied_matrix_counts_once_for_the_weight_type),
        cmocka_unit_test(heads_may_be_wider_than_the_embedding),
        cmocka_unit_test(a_context_above_what_a_run_can_hold_is_cut),
        cmocka_unit_test(rope_factors_are_read_from_their_tensor),
        cmocka_unit_test(optional_keys_have_their_usual_values),
        cmocka_unit_test(positions_scaled_by_one_are_not_scaled),
        cmocka_unit_test(names_are_made_printable_and_cut),
        cmocka_unit_test(one_wrong_thing_is_refused_by_its_name),
        cmocka_unit_test(types_without_kernels_are_refused_with_a_way_out),
        cmocka_unit_test(matrices_of_different_types_may_be_in_one_file),
        cmocka_unit_test(rows_that_are_not_whole_blocks_are_refused),
        cmocka_unit_test(matrices_of_every_type_open_and_are_counted),
        cmocka_unit_test(a_third_dimension_is_refused),
        cmocka_unit_test(an_embedding_of_no_or_too_many_rows_is_refused),
        cmocka_unit_test(a_vocabulary_must_be_as_long_as_the_embedding),
        cmocka_unit_test(norms_and_factors_must_be_finite_and_factors_positive),
        cmocka_unit_test(bytes_that_are_not_aligned_are_refused),
        cmocka_unit_test(models_by_others_open),
        cmocka_unit_test(a_vocabulary_alone_is_no_model),
        cmocka_unit_test(the_bundled_model_opens),
        cmocka_unit_test(a_missing_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
