// Tests of the CPU backend against a forward pass in double arithmetic, written as
// plainly as the formulas (llama's: RMSNorm, RoPE on neighbouring pairs, grouped
// heads, SwiGLU). The models are small, random and of odd sizes, so that every
// rest of every kernel is met; prefill lengths lie around the blocks' edges.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/backend/backend.h"
#include "compute/backend/check.h"
#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/cpu/kernels.h"
#include "compute/gguf/quant.h"
#include "tests/compute/gguf/gguf_builder.h"
#include "tests/compute/gguf/quant_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOKENS = 400 };

// --- Models ---

static const struct gguf_builder_llama odd = {24, 2, 3, 1, 8, 40, 33, MOST_TOKENS, 0, false};
static const struct gguf_builder_llama halves = {32, 2, 4, 2, 10, 52, 37, MOST_TOKENS, 1, true};
static const struct gguf_builder_llama wide = {64, 1, 2, 2, 48, 172, 64, MOST_TOKENS, 1, false};
static const struct gguf_builder_llama least = {4, 1, 1, 1, 2, 1, 3, 64, 0, true};

// Blocks of 32 want rows of that; bf16 does not.
static const struct gguf_builder_llama eights = {64, 2, 3, 1, 32, 160, 37, MOST_TOKENS, 8, false};
static const struct gguf_builder_llama fours = {96, 1, 6, 2, 16, 32, 41, MOST_TOKENS, 2, true};
static const struct gguf_builder_llama brains = {24, 1, 3, 3, 10, 44, 33, MOST_TOKENS, 30, false};

static const struct gguf_builder_llama *const shapes[] = {&odd,    &halves, &wide,  &least,
                                                          &eights, &fours,  &brains};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

// The bytes of the file stay with the model; both go in free_model.
struct fixture {
    struct model *model;
    uint8_t *bytes;
};

static struct fixture make_kind(const struct gguf_builder_llama *shape,
                                const struct gguf_builder_kind *kind) {
    struct fixture fixture = {0};
    struct why why = {0};
    struct gguf_builder builder;
    struct gguf *file;
    size_t bytes;
    gguf_builder_init(&builder);
    gguf_builder_model(&builder, shape, kind);
    fixture.bytes = gguf_builder_finish(&builder, &bytes);
    gguf_builder_clear(&builder);
    if (!gguf_parse(&file, "test", fixture.bytes, bytes, &why) ||
        !model_from_gguf(&fixture.model, file, "test", &why))
        fail_msg("%s", why.text);
    return fixture;
}

static struct fixture make_model(const struct gguf_builder_llama *shape) {
    static const struct gguf_builder_kind llama = {.architecture = "llama"};
    return make_kind(shape, &llama);
}

static void free_model(struct fixture *fixture) {
    model_close(fixture->model);
    free(fixture->bytes);
}

static void tokens_of(const struct model *model, int32_t *out, int count) {
    for (int i = 0; i < count; i++)
        out[i] = (int32_t)((i * 7 + i * i % 5) % model->shape.vocab);
}

// --- The reference ---

static double weight_at(const struct tensor *w, int64_t row, int64_t col) {
    float block[QUANT_LARGE];
    int unit = quant_format(w->type)->block;
    const unsigned char *from = (const unsigned char *)w->data +
                                (size_t)row * quant_row_bytes(w->type, w->cols) +
                                (size_t)(col / unit) * quant_row_bytes(w->type, unit);
    quant_row_to_float(block, w->type, from, (size_t)unit);
    return (double)block[col % unit];
}

// To multiples of a 127th of the largest of 32, as weights in blocks take it.
static void round_to_steps(double *out, const double *in) {
    double most = 0;
    for (int i = 0; i < QUANT_BLOCK; i++)
        most = fmax(most, fabs(in[i]));
    for (int i = 0; i < QUANT_BLOCK; i++)
        out[i] = most > 0 ? rint(in[i] / most * 127) * most / 127 : 0;
}

static void multiply(double *out, const struct tensor *w, const double *in) {
    double rounded[256];
    if (quant_format(w->type)->block > 1) {
        for (int64_t c = 0; c < w->cols; c += QUANT_BLOCK)
            round_to_steps(rounded + c, in + c);
        in = rounded;
    }
    for (int64_t r = 0; r < w->rows; r++) {
        out[r] = 0;
        for (int64_t c = 0; c < w->cols; c++)
            out[r] += weight_at(w, r, c) * in[c];
    }
}

// `w` may be a norm that the model does not have.
static void normalise(double *out, const double *in, const struct tensor *w,
                      const struct model *m) {
    double squares = 0;
    for (int64_t i = 0; i < w->cols; i++)
        squares += in[i] * in[i];
    double scale = 1 / sqrt(squares / (double)w->cols + (double)m->shape.norm_epsilon);
    for (int64_t i = 0; i < w->cols; i++)
        out[i] = in[i] * scale * weight_at(w, 0, i);
}

// Where RoPE turns by: the frequencies of a head, which a window's layers may have of their own.
static double angle_of(const struct model *m, bool has_window, int pair, int position) {
    double base = has_window && m->rope_window_base > 0 ? (double)m->rope_window_base
                                                        : (double)m->shape.rope_base;
    double factor = m->rope_factors && !has_window ? (double)m->rope_factors[pair] : 1;
    return position * pow(base, -2.0 * pair / m->math.rotary) / factor;
}

static void turn_head(double *head, int position, const struct model *m, bool has_window) {
    int half = m->math.rotary / 2;
    bool is_apart = m->math.pairs == MODEL_PAIRS_HALVES;
    for (int pair = 0; pair < half; pair++) {
        double angle = angle_of(m, has_window, pair, position);
        double *one = is_apart ? &head[pair] : &head[2 * pair];
        double *other = is_apart ? &head[half + pair] : &head[2 * pair + 1];
        double first = *one, second = *other;
        *one = first * cos(angle) - second * sin(angle);
        *other = first * sin(angle) + second * cos(angle);
    }
}

// Bias, norm and turn of heads, as far as the model has them.
static void finish_heads(double *rows, int count, int position, const struct model *m,
                         const struct tensor *bias, const struct tensor *norm, bool has_window) {
    for (int r = 0; bias->data && r < count; r++)
        rows[r] += weight_at(bias, 0, r);
    for (int r = 0; r < count; r += m->shape.head_dim) {
        if (norm->data)
            normalise(rows + r, rows + r, norm, m);
        turn_head(rows + r, position, m, has_window);
    }
}

struct reference {
    const struct model *model;
    double *keys, *values; // [layers][MOST_TOKENS][kv_rows]
};

static struct reference make_reference(const struct model *model) {
    const struct model_shape *h = &model->shape;
    size_t count = (size_t)h->layers * MOST_TOKENS * (size_t)(h->kv_heads * h->head_dim);
    struct reference ref = {model, calloc(count, sizeof(double)), calloc(count, sizeof(double))};
    assert_true(ref.keys && ref.values);
    return ref;
}

static void free_reference(struct reference *ref) {
    free(ref->keys);
    free(ref->values);
}

static double capped(double x, float cap) {
    return cap > 0 ? (double)cap * tanh(x / (double)cap) : x;
}

static void attend(double *out, const double *q, const struct reference *ref, int layer,
                   int position) {
    const struct model_shape *h = &ref->model->shape;
    const struct model_math *math = &ref->model->math;
    bool has_window = ref->model->layers[layer].has_window;
    int first = has_window && position >= math->window ? position - math->window + 1 : 0;
    double scale =
        math->score_scale > 0 ? (double)math->score_scale : 1 / sqrt((double)h->head_dim);
    int kv_rows = h->kv_heads * h->head_dim;
    for (int head = 0; head < h->heads; head++) {
        int place = head / (h->heads / h->kv_heads) * h->head_dim;
        double shares[MOST_TOKENS], most = -INFINITY, sum = 0;
        for (int p = first; p <= position; p++) {
            const double *key = ref->keys + (layer * MOST_TOKENS + p) * kv_rows + place;
            shares[p] = 0;
            for (int c = 0; c < h->head_dim; c++)
                shares[p] += q[head * h->head_dim + c] * key[c];
            shares[p] = capped(shares[p] * scale, math->score_cap);
            most = fmax(most, shares[p]);
        }
        for (int p = first; p <= position; p++)
            sum += shares[p] = exp(shares[p] - most);
        for (int c = 0; c < h->head_dim; c++) {
            double *mixed = &out[head * h->head_dim + c];
            *mixed = 0;
            for (int p = first; p <= position; p++)
                *mixed +=
                    shares[p] / sum * ref->values[(layer * MOST_TOKENS + p) * kv_rows + place + c];
        }
    }
}

static void add(double *to, double *what, const struct tensor *norm, const struct model *m) {
    if (norm->data)
        normalise(what, what, norm, m);
    for (int i = 0; i < m->shape.dim; i++)
        to[i] += what[i];
}

static double opened(double gate, const struct model *m) {
    double y = sqrt(2 / acos(-1)) * (gate + 0.044715 * gate * gate * gate);
    return m->math.gate == MODEL_GATE_GELU ? gate / 2 * (1 + tanh(y)) : gate / (1 + exp(-gate));
}

static void reference_layer(struct reference *ref, int layer, double *x, int position) {
    const struct model *m = ref->model;
    const struct model_shape *h = &m->shape;
    const struct model_layer *w = &m->layers[layer];
    int kv_rows = h->kv_heads * h->head_dim;
    double *key = ref->keys + (layer * MOST_TOKENS + position) * kv_rows;
    double *value = ref->values + (layer * MOST_TOKENS + position) * kv_rows;
    double normed[256], q[256], mixed[256], gate[256], up[256], delta[256];
    normalise(normed, x, &w->attn_norm, m);
    multiply(q, &w->q, normed);
    multiply(key, &w->k, normed);
    multiply(value, &w->v, normed);
    finish_heads(q, h->heads * h->head_dim, position, m, &w->q_bias, &w->q_norm, w->has_window);
    finish_heads(key, kv_rows, position, m, &w->k_bias, &w->k_norm, w->has_window);
    for (int r = 0; w->v_bias.data && r < kv_rows; r++)
        value[r] += weight_at(&w->v_bias, 0, r);
    attend(mixed, q, ref, layer, position);
    multiply(delta, &w->attn_out, mixed);
    add(x, delta, &w->attn_post_norm, m);
    normalise(normed, x, &w->ffn_norm, m);
    multiply(gate, &w->gate, normed);
    multiply(up, &w->up, normed);
    for (int i = 0; i < h->ff_dim; i++)
        gate[i] = opened(gate[i], m) * up[i];
    multiply(delta, &w->down, gate);
    add(x, delta, &w->ffn_post_norm, m);
}

static void reference_step(struct reference *ref, int32_t token, int position, double *logits) {
    const struct model *m = ref->model;
    double x[256], normed[256];
    for (int i = 0; i < m->shape.dim; i++) {
        x[i] = weight_at(&m->token_embd, token, i);
        x[i] *= m->math.embedding_scale > 0 ? (double)m->math.embedding_scale : 1;
    }
    for (int layer = 0; layer < m->shape.layers; layer++)
        reference_layer(ref, layer, x, position);
    normalise(normed, x, &m->output_norm, m);
    multiply(logits, &m->output, normed);
    for (int i = 0; i < m->shape.vocab; i++)
        logits[i] = capped(logits[i], m->math.logit_cap);
}

// --- The backend, called briefly ---

static struct backend_state *open_state(const struct model *model, const char *isa, int threads) {
    struct why why = {0};
    struct backend_state *state;
    struct backend_opts opts = {.threads = threads, .context = model->shape.context, .isa = isa};
    if (!backend_cpu.open(&state, model, &opts, &why))
        fail_msg("%s", why.text);
    return state;
}

static void pass(struct backend_state *state, const int32_t *tokens, int count, int first,
                 float *logits) {
    struct why why = {0};
    struct backend_pass job = {
        .tokens = tokens, .count = count, .first_position = first, .logits = logits};
    if (!backend_cpu.pass(state, &job, &why))
        fail_msg("%s", why.text);
}

static double apart(const float *got, const double *wanted, int vocab) {
    double most = 0;
    for (int i = 0; i < vocab; i++) {
        double difference = fabs((double)got[i] - wanted[i]);
        most = difference <= most ? most : difference; // keeps what is no number
    }
    return most;
}

static void assert_logits(const float *got, const double *wanted, int vocab, const char *what) {
    double difference = apart(got, wanted, vocab);
    if (!(difference <= 1e-4))
        fail_msg("%s: logits are %.3g apart", what, difference);
}

// --- Arithmetic ---

// Blocks: a number in the middle of two of the 127 steps may be rounded up in float and down in
// double. A step is 1/127 of the largest of 32 numbers, and it happens to one number in 10^4.
static void check_steps(const struct model *model, const char *isa, int threads) {
    bool has_blocks = quant_format(model->layers[0].q.type)->block > 1;
    int other_steps = 0;
    int32_t tokens[80];
    float logits[64];
    double wanted[64];
    int count = model->shape.context < 80 ? model->shape.context : 80;
    tokens_of(model, tokens, count);
    struct reference ref = make_reference(model);
    struct backend_state *state = open_state(model, isa, threads);
    for (int p = 0; p < count; p++) {
        reference_step(&ref, tokens[p], p, wanted);
        pass(state, &tokens[p], 1, p, logits);
        bool is_other = has_blocks && !(apart(logits, wanted, model->shape.vocab) <= 1e-4);
        other_steps += is_other;
        if (is_other)
            assert_true(apart(logits, wanted, model->shape.vocab) < 0.05);
        else
            assert_logits(logits, wanted, model->shape.vocab, isa);
    }
    assert_true(other_steps <= 2);
    backend_cpu.close(state);
    free_reference(&ref);
}

static void single_steps_equal_double_arithmetic(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++) {
        struct fixture fixture = make_model(shapes[i]);
        for (int k = 0; kernels_at(k); k++) {
            check_steps(fixture.model, kernels_at(k)->isa, 1);
            check_steps(fixture.model, kernels_at(k)->isa, 3);
        }
        free_model(&fixture);
    }
}

static void per_frequency_rope_factors_are_divided_by(void **state) {
    (void)state;
    struct fixture fixture = make_model(&odd);
    int pairs = fixture.model->shape.head_dim / 2;
    fixture.model->rope_factors = malloc((size_t)pairs * sizeof(float));
    assert_non_null(fixture.model->rope_factors);
    for (int i = 0; i < pairs; i++)
        fixture.model->rope_factors[i] = 1.0f + 2.0f * (float)i;
    fixture.model->shape.rope_base = 500.0f;
    check_steps(fixture.model, NULL, 2);
    free_model(&fixture);
}

// The logits after every one of these lengths, from the reference, once a model.
static const int prefill_lengths[] = {1, 2, 3, 7, 24, 25, 48, 127, 128, 129, 130, 256, 257, 300};
enum { LENGTHS = sizeof(prefill_lengths) / sizeof(prefill_lengths[0]) };

static void check_prefills(const struct model *model, const double *wanted, const char *isa) {
    int32_t tokens[MOST_TOKENS];
    float logits[64];
    int vocab = model->shape.vocab;
    tokens_of(model, tokens, MOST_TOKENS);
    struct backend_state *state = open_state(model, isa, 2);
    for (int i = 0; i < LENGTHS; i++) {
        pass(state, tokens, prefill_lengths[i], 0, logits);
        assert_logits(logits, wanted + i * vocab, vocab, isa);
    }
    // Longer prompts go in parts: from the 7th token on, then one more step.
    pass(state, tokens, 7, 0, NULL);
    pass(state, tokens + 7, 122, 7, NULL);
    pass(state, tokens + 129, 1, 129, logits);
    assert_logits(logits, wanted + 10 * vocab, vocab, "in parts");
    backend_cpu.close(state);
}

static void check_every_prefill(const struct model *model) {
    struct reference ref = make_reference(model);
    int32_t tokens[MOST_TOKENS];
    double wanted[LENGTHS * 64], logits[64];
    tokens_of(model, tokens, MOST_TOKENS);
    size_t vocab = (size_t)model->shape.vocab;
    for (int p = 0, at = 0; at < LENGTHS; p++) {
        reference_step(&ref, tokens[p], p, logits);
        if (p + 1 == prefill_lengths[at])
            memcpy(wanted + (size_t)at++ * vocab, logits, vocab * sizeof(double));
    }
    for (int k = 0; kernels_at(k); k++)
        check_prefills(model, wanted, kernels_at(k)->isa);
    free_reference(&ref);
}

static void prefill_of_any_length_equals_single_steps(void **state) {
    (void)state;
    assert_int_equal(prefill_lengths[10], 130);
    for (int i = 0; i < 3; i++) {
        struct fixture fixture = make_model(shapes[i]);
        check_every_prefill(fixture.model);
        free_model(&fixture);
    }
}

// Tokens are rounded for weights in blocks, and what rounds differently once goes on to do so:
// only what agrees to the bit agrees at all.
static void prefill_with_weights_in_blocks_gives_the_bits_of_single_steps(void **state) {
    (void)state;
    enum { COUNT = 150 };
    const struct gguf_builder_llama *const in_blocks[] = {&eights, &fours};
    for (int i = 0; i < 2; i++) {
        struct fixture fixture = make_model(in_blocks[i]);
        int32_t tokens[COUNT];
        float steps[64] = {0}, whole[64] = {0};
        tokens_of(fixture.model, tokens, COUNT);
        for (int k = 0; kernels_at(k); k++) {
            struct backend_state *opened = open_state(fixture.model, kernels_at(k)->isa, 2);
            for (int p = 0; p < COUNT; p++)
                pass(opened, &tokens[p], 1, p, steps);
            pass(opened, tokens, COUNT, 0, whole);
            assert_memory_equal(steps, whole, sizeof(steps));
            backend_cpu.close(opened);
        }
        free_model(&fixture);
    }
}

// --- Architectures ---

static const struct {
    struct gguf_builder_llama shape;
    struct gguf_builder_kind kind;
} others[] = {
    {{24, 2, 3, 1, 8, 40, 33, MOST_TOKENS, 0, false}, {.architecture = "llama", .rotary = 6}},
    {{24, 2, 3, 1, 8, 40, 33, MOST_TOKENS, 0, false}, {.architecture = "qwen2", .biases = true}},
    {{32, 2, 4, 2, 12, 40, 33, MOST_TOKENS, 1, true},
     {.architecture = "qwen3", .head_norms = true}},
    {{32, 4, 4, 2, 12, 40, 33, MOST_TOKENS, 0, true},
     {.architecture = "gemma2", .post_norms = true, .window = 50}},
    {{32, 7, 2, 1, 16, 40, 33, MOST_TOKENS, 0, true},
     {.architecture = "gemma3", .post_norms = true, .head_norms = true, .window = 64}},
    {{32, 2, 4, 4, 8, 40, 33, MOST_TOKENS, 0, false},
     {.architecture = "phi3", .fused = true, .rotary = 6}},
};
enum { OTHERS = sizeof others / sizeof others[0] };

static void every_architecture_equals_double_arithmetic(void **state) {
    (void)state;
    for (int i = 0; i < OTHERS; i++) {
        struct fixture fixture = make_kind(&others[i].shape, &others[i].kind);
        for (int k = 0; kernels_at(k); k++) {
            check_steps(fixture.model, kernels_at(k)->isa, 1);
            check_steps(fixture.model, kernels_at(k)->isa, 3);
        }
        check_every_prefill(fixture.model);
        free_model(&fixture);
    }
}

static void a_device_that_knows_llama_alone_refuses_the_others(void **state) {
    (void)state;
    struct why why = {0};
    struct fixture llama = make_model(&odd);
    assert_true(backend_check_plain(llama.model, &why));
    free_model(&llama);
    for (int i = 0; i < OTHERS; i++) {
        struct fixture fixture = make_kind(&others[i].shape, &others[i].kind);
        assert_false(backend_check_plain(fixture.model, &why));
        assert_non_null(strstr(why.text, "use --device cpu"));
        free_model(&fixture);
    }
}

// 50 tokens of window take 192 rows: the token at position 250 overwrote the one at 58.
static void what_a_window_let_go_cannot_be_gone_back_to(void **state) {
    (void)state;
    struct fixture fixture = make_kind(&others[3].shape, &others[3].kind);
    struct backend_state *opened = open_state(fixture.model, NULL, 2);
    int32_t tokens[MOST_TOKENS];
    float logits[64], again[64];
    struct why why = {0};
    tokens_of(fixture.model, tokens, MOST_TOKENS);
    pass(opened, tokens, 251, 0, logits);
    struct backend_pass back = {.tokens = tokens, .count = 1, .first_position = 107};
    assert_false(backend_cpu.pass(opened, &back, &why));
    assert_non_null(strstr(why.text, "layers with a window keep only the last 192 tokens"));
    pass(opened, tokens + 251, 1, 251, logits); // the refusal lost nothing
    pass(opened, tokens + 120, 131, 120, NULL);
    pass(opened, tokens + 251, 1, 251, again);
    for (int i = 0; i < fixture.model->shape.vocab; i++)
        assert_true(fabsf(logits[i] - again[i]) <= 1e-4F);
    pass(opened, tokens, 1, 0, logits); // from the beginning always
    backend_cpu.close(opened);
    free_model(&fixture);
}

static void any_number_of_threads_gives_the_same_bits(void **state) {
    (void)state;
    static const int teams[] = {1, 2, 3, 5};
    struct fixture fixture = make_model(&halves);
    int32_t tokens[MOST_TOKENS];
    float first[3][64], other[3][64];
    tokens_of(fixture.model, tokens, MOST_TOKENS);
    for (size_t i = 0; i < sizeof(teams) / sizeof(teams[0]); i++) {
        float(*out)[64] = i ? other : first;
        memset(out, 0, sizeof(first));
        struct backend_state *opened = open_state(fixture.model, NULL, teams[i]);
        pass(opened, tokens, 150, 0, out[0]);
        pass(opened, tokens + 150, 1, 150, out[1]);
        pass(opened, tokens + 151, 30, 151, out[2]);
        backend_cpu.close(opened);
        if (i)
            assert_memory_equal(first, other, sizeof(first));
    }
    free_model(&fixture);
}

// --- Marks and stopping ---

struct marks {
    int count, stop_after;
    int stages[64];
    int64_t end_ns[64];
};

static void note_mark(void *context, int stage, int64_t end_ns) {
    struct marks *marks = context;
    marks->stages[marks->count] = stage;
    marks->end_ns[marks->count++] = end_ns;
}

static bool is_enough(void *context) {
    const struct marks *marks = context;
    return marks->count > marks->stop_after;
}

static void every_stage_is_marked_once_in_order_of_time(void **state) {
    (void)state;
    struct fixture fixture = make_model(&odd);
    struct backend_state *opened = open_state(fixture.model, NULL, 2);
    static const int counts[] = {1, 200};
    for (int i = 0; i < 2; i++) {
        int32_t tokens[MOST_TOKENS];
        struct why why = {0};
        struct marks marks = {0};
        tokens_of(fixture.model, tokens, MOST_TOKENS);
        struct backend_pass job = {
            .tokens = tokens, .count = counts[i], .on_mark = note_mark, .context = &marks};
        int64_t last_ns = stopwatch_now_ns();
        assert_true(backend_cpu.pass(opened, &job, &why));
        assert_int_equal(marks.count, fixture.model->shape.layers + 1);
        for (int m = 0; m < marks.count; m++) {
            assert_int_equal(marks.stages[m], m);
            assert_true(marks.end_ns[m] >= last_ns);
            last_ns = marks.end_ns[m];
        }
        assert_true(stopwatch_now_ns() >= last_ns);
    }
    backend_cpu.close(opened);
    free_model(&fixture);
}

static void a_prefill_stops_at_a_layer_and_the_state_stays_good(void **state) {
    (void)state;
    struct fixture fixture = make_model(&odd);
    int32_t tokens[MOST_TOKENS];
    float before[64] = {0}, after[64] = {0};
    tokens_of(fixture.model, tokens, MOST_TOKENS);
    struct backend_state *opened = open_state(fixture.model, NULL, 2);
    pass(opened, tokens, 140, 0, before);
    for (int layer = 0; layer < fixture.model->shape.layers; layer++) {
        struct why why = {0};
        struct marks marks = {.stop_after = layer};
        struct backend_pass job = {.tokens = tokens,
                                   .count = 100,
                                   .first_position = 40,
                                   .on_mark = note_mark,
                                   .is_stopped = is_enough,
                                   .context = &marks};
        pass(opened, tokens, 40, 0, NULL);
        assert_false(backend_cpu.pass(opened, &job, &why));
        assert_string_equal(why.text, "stopped");
        assert_int_equal(marks.count, layer + 1);
        // What came before the stopped pass is there, what it began is not.
        job = (struct backend_pass){.tokens = tokens, .count = 1, .first_position = 41};
        assert_false(backend_cpu.pass(opened, &job, &why));
        pass(opened, tokens + 40, 100, 40, after);
        assert_memory_equal(before, after, sizeof(before));
    }
    backend_cpu.close(opened);
    free_model(&fixture);
}

// Two of layers + 1 marks, or none, and the same bits.
static void fewer_marks_change_no_bit(void **state) {
    (void)state;
    static const struct {
        enum backend_marks which;
        int count;
    } rows[] = {{BACKEND_MARKS_ALL, 3}, {BACKEND_MARKS_ENDS, 2}, {BACKEND_MARKS_NONE, 0}};
    struct fixture fixture = make_model(&odd); // of two layers
    float wanted[2][64] = {{0}}, got[64] = {0};
    static const int counts[] = {1, 150};
    int32_t tokens[MOST_TOKENS];
    tokens_of(fixture.model, tokens, MOST_TOKENS);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct why why = {0};
        struct backend_state *opened;
        struct backend_opts opts = {
            .threads = 2, .context = MOST_TOKENS, .device = 7, .marks = rows[i].which};
        assert_true(backend_cpu.open(&opened, fixture.model, &opts, &why)); // no card is asked
        for (int k = 0; k < 2; k++) {
            struct marks marks = {0};
            struct backend_pass job = {.tokens = tokens,
                                       .count = counts[k],
                                       .logits = i == 0 ? wanted[k] : got,
                                       .on_mark = note_mark,
                                       .context = &marks};
            assert_true(backend_cpu.pass(opened, &job, &why));
            assert_int_equal(marks.count, rows[i].count);
            assert_true(marks.count < 2 ||
                        (marks.stages[0] == 0 && marks.stages[marks.count - 1] == 2));
            if (i > 0)
                assert_memory_equal(wanted[k], got, sizeof(got));
        }
        backend_cpu.close(opened);
    }
    free_model(&fixture);
}

// --- The greedy id ---

// The largest logit's id by walking over them, as sampler_next does.
static int32_t largest_of(const float *logits, int vocab) {
    int32_t best = -1;
    for (int i = 0; i < vocab; i++) {
        if (best < 0 || logits[i] > logits[best])
            best = i;
    }
    return best;
}

static int32_t greedy(struct backend_state *state, const int32_t *tokens, int count,
                      float *logits) {
    struct why why = {0};
    int32_t id = -2;
    struct backend_pass job = {
        .tokens = tokens, .count = count, .logits = logits, .greedy_id = &id};
    assert_true(backend_cpu.pass(state, &job, &why));
    return id;
}

static void the_greedy_id_is_that_of_the_logits_with_and_without_them(void **state) {
    (void)state;
    for (int threads = 1; threads <= 5; threads += 2) {
        for (int i = 0; i < SHAPES; i++) {
            struct fixture fixture = make_model(shapes[i]);
            struct backend_state *opened = open_state(fixture.model, NULL, threads);
            int32_t tokens[40];
            float logits[64];
            tokens_of(fixture.model, tokens, 40);
            for (int count = 1; count <= 40; count += 13) {
                int32_t id = greedy(opened, tokens, count, logits);
                assert_int_equal(id, largest_of(logits, fixture.model->shape.vocab));
                assert_int_equal(greedy(opened, tokens, count, NULL), id);
            }
            backend_cpu.close(opened);
            free_model(&fixture);
        }
    }
}

// Rows of the output that are all the same make equal logits, and those of NaN or of
// infinities are no choice.
static void the_lowest_of_equals_is_greedy_and_no_number_is_none(void **state) {
    (void)state;
    static const float fills[] = {0, NAN, INFINITY};
    for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
        struct fixture fixture = make_model(&wide); // an output of its own, in F16
        struct tensor *output = &fixture.model->output;
        size_t numbers = (size_t)output->rows * (size_t)output->cols;
        float *rows = malloc(numbers * sizeof(float));
        assert_non_null(rows);
        for (size_t k = 0; k < numbers; k++)
            rows[k] = fills[i];
        *output = (struct tensor){.type = GGUF_TENSOR_F32,
                                  .rows = output->rows,
                                  .cols = output->cols,
                                  .data = rows,
                                  .bytes = numbers * sizeof(float)};
        struct backend_state *opened = open_state(fixture.model, NULL, 3);
        int32_t token = 1;
        assert_int_equal(greedy(opened, &token, 1, NULL), i == 0 ? 0 : -1);
        // All NaN but the last one.
        for (size_t k = numbers - (size_t)output->cols; k < numbers; k++)
            rows[k] = 0;
        if (i < 2) // INFINITY times numbers of both signs is NaN
            assert_int_equal(greedy(opened, &token, 1, NULL), i == 0 ? 0 : output->rows - 1);
        backend_cpu.close(opened);
        free(rows);
        free_model(&fixture);
    }
}

// --- Refusals ---

static void impossible_passes_are_refused_and_change_nothing(void **state) {
    (void)state;
    struct fixture fixture = make_model(&least); // vocabulary 3, context 64
    int32_t good[MOST_TOKENS] = {0};
    int32_t bad[] = {0, 3}, worse[] = {-1};
    const struct {
        struct backend_pass pass;
        const char *why;
    } rows[] = {
        {{.tokens = bad, .count = 2, .first_position = 5}, "token 1 has id 3"},
        {{.tokens = worse, .count = 1}, "id -1"},
        {{.tokens = good, .count = 0}, "a pass over 0 tokens"},
        {{.tokens = NULL, .count = 1}, "a pass over"},
        {{.tokens = good, .count = 65}, "65 tokens do not fit into a context of 64"},
        {{.tokens = good, .count = 60, .first_position = 5}, "65 tokens do not fit"},
        {{.tokens = good, .count = 1, .first_position = 7}, "holds 5 tokens"},
        {{.tokens = good, .count = 1, .first_position = -1}, "position -1"},
        {{.tokens = good, .count = INT32_MAX, .first_position = 5}, "a pass over"},
    };
    float before[3], after[3];
    struct backend_state *opened = open_state(fixture.model, NULL, 1);
    pass(opened, good, 5, 0, NULL);
    pass(opened, good, 1, 5, before);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct why why = {0};
        pass(opened, good, 5, 0, NULL);
        assert_false(backend_cpu.pass(opened, &rows[i].pass, &why));
        if (!strstr(why.text, rows[i].why))
            fail_msg("row %zu: %s", i, why.text);
        pass(opened, good, 1, 5, after);
        assert_memory_equal(before, after, sizeof(before));
    }
    pass(opened, good, 64, 0, NULL); // exactly full
    backend_cpu.close(opened);
    free_model(&fixture);
}

static void refuse_open(struct model *model, struct backend_opts opts, const char *wanted) {
    struct why why = {0};
    struct backend_state *state = (void *)1;
    if (backend_cpu.open(&state, model, &opts, &why))
        fail_msg("opened, expected: %s", wanted);
    assert_null(state);
    if (!strstr(why.text, wanted))
        fail_msg("said: %s; expected: %s", &why, wanted);
}

static void impossible_settings_are_refused(void **state) {
    (void)state;
    struct fixture fixture = make_model(&least);
    refuse_open(fixture.model, (struct backend_opts){.context = 0}, "a context of 0");
    refuse_open(fixture.model, (struct backend_opts){.context = 65}, "1 to 64");
    refuse_open(fixture.model, (struct backend_opts){.context = 64, .threads = -1}, "-1 threads");
    refuse_open(fixture.model, (struct backend_opts){.context = 64, .threads = 9999}, "9999");
    refuse_open(fixture.model, (struct backend_opts){.context = 64, .isa = "sse9"}, "sse9");
    backend_cpu.close(NULL);
    free_model(&fixture);
}

static void weights_it_cannot_multiply_are_refused_by_name(void **state) {
    (void)state;
    struct fixture fixture = make_model(&least);
    struct model *model = fixture.model;
    struct backend_opts opts = {.context = 64};
    struct tensor *up = &model->layers[0].up;
    const struct tensor kept = *up;
    up->type = (enum gguf_tensor_type)15;
    refuse_open(model, opts, "up weights of type Q8_K: use an F16 file");
    up->type = GGUF_TENSOR_Q6_K;
    refuse_open(model, opts, "rows of 4 numbers: they come in blocks of 256");
    up->type = GGUF_TENSOR_Q8_0;
    refuse_open(model, opts, "up weights of type Q8_0 in rows of 4 numbers");
    *up = kept;
    up->data = (const unsigned char *)kept.data + 1;
    refuse_open(model, opts, "up weights are not aligned");
    *up = kept;
    model->shape.head_dim = 3;
    refuse_open(model, opts, "a head size of 3");
    model->shape.head_dim = 2;
    model->shape.kv_heads = 0;
    refuse_open(model, opts, "cannot share 0");
    model->shape.kv_heads = 1;
    free_model(&fixture);
}

static void it_says_what_it_is(void **state) {
    (void)state;
    char line[160] = "";
    struct why why = {0};
    struct fixture fixture = make_model(&odd);
    struct run_info info = {0};
    struct backend_state *opened = open_state(fixture.model, "plain", 2);
    backend_cpu.fill_info(opened, &info);
    assert_string_equal(info.device, "cpu");
    assert_string_equal(info.driver, "plain");
    assert_true(info.device_name[0] != '\0');
    assert_int_equal(info.threads, 2);
    assert_int_equal(info.kv_value_bytes, 4);
    assert_true(backend_cpu.available(&why));
    backend_cpu.describe(line, sizeof(line));
    assert_non_null(strstr(line, info.device_name));
    assert_non_null(strstr(line, "core"));
    assert_int_equal(backend_cpu.abi, BACKEND_ABI);
    backend_cpu.close(opened);
    free_model(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_steps_equal_double_arithmetic),
        cmocka_unit_test(per_frequency_rope_factors_are_divided_by),
        cmocka_unit_test(prefill_of_any_length_equals_single_steps),
        cmocka_unit_test(prefill_with_weights_in_blocks_gives_the_bits_of_single_steps),
        cmocka_unit_test(every_architecture_equals_double_arithmetic),
        cmocka_unit_test(a_device_that_knows_llama_alone_refuses_the_others),
        cmocka_unit_test(what_a_window_let_go_cannot_be_gone_back_to),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(every_stage_is_marked_once_in_order_of_time),
        cmocka_unit_test(fewer_marks_change_no_bit),
        cmocka_unit_test(the_greedy_id_is_that_of_the_logits_with_and_without_them),
        cmocka_unit_test(the_lowest_of_equals_is_greedy_and_no_number_is_none),
        cmocka_unit_test(a_prefill_stops_at_a_layer_and_the_state_stays_good),
        cmocka_unit_test(impossible_passes_are_refused_and_change_nothing),
        cmocka_unit_test(impossible_settings_are_refused),
        cmocka_unit_test(weights_it_cannot_multiply_are_refused_by_name),
        cmocka_unit_test(it_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
