// Tests of what keeps a model file from running: all of it at once, in a fixed order, with advice
// that works; and of files whose weights are partly not there.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/model/accept.h"
#include "compute/model/obstacles.h"
#include "tests/compute/gguf/gguf_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { F32 = 0, IQ2_XXS = 16, IQ3_S = 21 };

static struct why why;

// The line that refuses the file, "" if it opens.
static const char *refusal(const struct gguf_builder *builder) {
    size_t bytes;
    struct gguf *file;
    struct model *model = NULL;
    struct tokenizer *tokenizer = NULL;
    uint8_t *data = gguf_builder_finish(builder, &bytes);
    why.text[0] = '\0';
    if (!gguf_parse(&file, "/some/where/test.gguf", data, bytes, &why))
        fail_msg("the builder's own file does not parse: %s", why.text);
    if (!model_accept(&model, &tokenizer, file, "/some/where/test.gguf", &why)) {
        assert_null(model);
        assert_null(tokenizer);
        gguf_close(file);
    }
    model_close(model);
    tokenizer_close(tokenizer);
    free(data);
    return why.text;
}

// A vocabulary of 20 tokens, as many as the small model's embedding has.
static void put_vocabulary(struct gguf_builder *builder) {
    const char *tokens[20];
    float scores[20] = {0};
    int32_t types[20];
    char names[20][4];
    for (int i = 0; i < 20; i++) {
        names[i][0] = (char)('a' + i);
        names[i][1] = '\0';
        tokens[i] = names[i];
        types[i] = 1;
    }
    gguf_builder_texts(builder, "tokenizer.ggml.tokens", 20, tokens);
    gguf_builder_numbers(builder, "tokenizer.ggml.scores", GGUF_F32, 4, 20, scores);
    gguf_builder_numbers(builder, "tokenizer.ggml.token_type", GGUF_I32, 4, 20, types);
}

// A matrix of a type that this program cannot read; 66 and 110 bytes are a block of 256.
static void put_strange(struct gguf_builder *builder, const char *name, uint32_t type,
                        size_t bytes) {
    const uint64_t dims[2] = {256, 1};
    while (builder->data.bytes % 32 != 0)
        gguf_buffer_put(&builder->data, "", 1);
    gguf_builder_info(builder, name, 2, dims, type, builder->data.bytes);
    gguf_buffer_put(&builder->data, (const uint8_t[110]){1}, bytes);
}

static void init(struct gguf_builder *builder, const char *without) {
    gguf_builder_init(builder);
    builder->without = without;
    gguf_builder_llama(builder, &gguf_builder_small);
    builder->without = NULL;
}

// The list is the line in parts: joined again it gives the same, and what can be done is last.
static void the_list_is_the_line_in_parts(void **state) {
    (void)state;
    struct gguf_builder builder;
    struct gguf *file;
    struct why list[9], line = {0};
    size_t bytes;
    init(&builder, NULL);
    gguf_builder_u32(&builder, "split.count", 3);
    gguf_builder_u32(&builder, "llama.expert_count", 8);
    gguf_builder_f32(&builder, "llama.logit_scale", 2);
    const char *wanted = refusal(&builder);
    uint8_t *data = gguf_builder_finish(&builder, &bytes);
    assert_true(gguf_parse(&file, "/some/where/test.gguf", data, bytes, &line));
    int count = model_obstacles(list, 9, file, "/some/where/test.gguf");
    size_t used = (size_t)snprintf(line.text, sizeof line.text, "test.gguf");
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(line.text + used, sizeof line.text - used, "%s%s",
                                 i == 0 || i == count - 1 ? ": " : "; ", list[i].text);
    assert_string_equal(line.text, wanted);
    assert_true(count >= 4);
    assert_string_equal(list[count - 1].text, "another model is needed");
    assert_int_equal(model_obstacles(list, 2, file, "test.gguf"), 2); // no more than asked for
    assert_string_equal(list[1].text, "another model is needed");
    gguf_close(file);
    free(data);
    gguf_builder_clear(&builder);
}

static void a_good_file_has_no_obstacle(void **state) {
    (void)state;
    struct gguf_builder builder;
    init(&builder, NULL);
    put_vocabulary(&builder);
    gguf_builder_text(&builder, "tokenizer.ggml.model", "llama");
    assert_string_equal(refusal(&builder), "");
    gguf_builder_clear(&builder);
}

static void everything_is_named_at_once_what_no_other_file_cures_first(void **state) {
    (void)state;
    struct gguf_builder builder;
    init(&builder, "general.architecture");
    gguf_builder_u32(&builder, "split.count", 3);
    gguf_builder_u32(&builder, "qwen3moe.expert_count", 128);
    gguf_builder_text(&builder, "general.architecture", "qwen3moe");
    put_strange(&builder, "one", IQ3_S, 110);
    put_strange(&builder, "two", IQ2_XXS, 66);
    put_strange(&builder, "three", IQ3_S, 110);
    assert_string_equal(
        refusal(&builder),
        "test.gguf: has the architecture \"qwen3moe\"; these work: llama, qwen2, qwen3, gemma2, "
        "gemma3, phi3; is a mixture of 128 experts; is one of 3 parts; has weights in IQ3_S, "
        "IQ2_XXS, which are not read here; has no tokenizer (tokenizer.ggml.model): another model "
        "is needed");
    gguf_builder_clear(&builder);
}

static void what_another_file_cures_is_told_with_the_way_out(void **state) {
    (void)state;
    struct gguf_builder builder;
    init(&builder, "blk.1.ffn_up.weight");
    put_strange(&builder, "one", IQ3_S, 110);
    assert_string_equal(
        refusal(&builder),
        "test.gguf: has weights in IQ3_S, which are not read here; has no tokenizer "
        "(tokenizer.ggml.model): another file of this model can work: in F16, Q8_0 or Q4_K_M, "
        "from a new conversion");
    gguf_builder_clear(&builder);

    init(&builder, "blk.1.ffn_up.weight");
    assert_string_equal(
        refusal(&builder),
        "test.gguf: the tensor blk.1.ffn_up.weight is missing; get the file again; has no "
        "tokenizer (tokenizer.ggml.model): another file of this model can work: in F16, Q8_0 or "
        "Q4_K_M, from a new conversion");
    gguf_builder_clear(&builder);

    init(&builder, NULL);
    put_vocabulary(&builder);
    gguf_builder_text(&builder, "tokenizer.ggml.model", "llama");
    gguf_builder_u32(&builder, "split.count", 2);
    assert_string_equal(refusal(&builder),
                        "test.gguf: is one of 2 parts: join them first (llama-gguf-split --merge)");
    put_strange(&builder, "one", IQ3_S, 110);
    assert_non_null(strstr(refusal(&builder), "all of it in one file, in F16"));
    gguf_builder_clear(&builder);
}

// No conversion makes another tokenizer of it, so no other file is advised.
static void a_kind_of_tokenizer_belongs_to_the_model(void **state) {
    static const char *const kinds[][2] = {{"rwkv", NULL}, {"gpt2", "of-the-future"}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct gguf_builder builder;
        init(&builder, NULL);
        put_vocabulary(&builder);
        gguf_builder_text(&builder, "tokenizer.ggml.model", kinds[i][0]);
        if (kinds[i][1])
            gguf_builder_text(&builder, "tokenizer.ggml.pre", kinds[i][1]);
        put_strange(&builder, "one", IQ3_S, 110);
        const char *line = refusal(&builder);
        const char *kind = strstr(line, i ? "\"of-the-future\"" : "\"rwkv\"");
        const char *type = strstr(line, "IQ3_S");
        assert_true(kind && type && kind < type);
        assert_non_null(strstr(line, ": another model is needed"));
        assert_null(strstr(line, "another file"));
        gguf_builder_clear(&builder);
    }
}

static void a_line_that_is_too_long_still_says_what_can_be_done(void **state) {
    (void)state;
    struct gguf_builder builder;
    char name[121];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    init(&builder, NULL);
    gguf_builder_text(&builder, "tokenizer.ggml.model", name);
    gguf_builder_text(&builder, "llama.attention.scale", name);
    gguf_builder_text(&builder, "llama.logit_scale", name);
    gguf_builder_u32(&builder, "llama.expert_count", 128);
    gguf_builder_u32(&builder, "split.count", 128);
    put_strange(&builder, "one", IQ3_S, 110);
    put_strange(&builder, "two", IQ2_XXS, 66);
    const char *line = refusal(&builder);
    assert_string_equal(line + strlen(line) - 25, ": another model is needed");
    gguf_builder_clear(&builder);
}

// --- Holes ---

static bool has_no_holes(const struct gguf_builder *builder) {
    size_t bytes;
    struct gguf *file;
    uint8_t *data = gguf_builder_finish(builder, &bytes);
    why.text[0] = '\0';
    if (!gguf_parse(&file, "test.gguf", data, bytes, &why))
        fail_msg("%s", why.text);
    bool ok = obstacles_no_holes(file, &why);
    gguf_close(file);
    free(data);
    return ok;
}

static void zeros_instead_of_weights_are_refused_with_the_tensors_name(void **state) {
    enum { ROWS = 512, COLS = 1024 }; // 2 MiB
    static float values[ROWS * COLS];
    (void)state;
    for (size_t i = 0; i < ROWS * COLS; i++)
        values[i] = 1;
    struct gguf_builder builder;
    init(&builder, NULL);
    gguf_builder_tensor(&builder, "blk.0.attn_q.bias", F32, 0, 16, (const float[16]){0});
    gguf_builder_tensor(&builder, "blk.9.whole.weight", F32, ROWS, COLS, values);
    assert_true(has_no_holes(&builder));

    // A quarter of a matrix, somewhere in it.
    memset(values + ROWS * COLS / 2, 0, sizeof values / 4);
    gguf_builder_tensor(&builder, "blk.9.hole.weight", F32, ROWS, COLS, values);
    assert_false(has_no_holes(&builder));
    assert_non_null(strstr(why.text, "1 of its 24 tensors hold zeros"));
    assert_non_null(strstr(why.text, "the first is blk.9.hole.weight: "));
    gguf_builder_tensor(&builder, "blk.9.norm.weight", F32, 0, 16, (const float[16]){0});
    assert_false(has_no_holes(&builder));
    assert_non_null(strstr(why.text, "2 of its 25 tensors"));
    gguf_builder_clear(&builder);
}

static void rows_of_tokens_that_are_only_reserved_may_be_zero(void **state) {
    enum { ROWS = 2048, COLS = 1024 }; // 8 MiB
    static float values[ROWS * COLS];
    (void)state;
    struct gguf_builder builder;
    init(&builder, "token_embd.weight");
    for (size_t i = 0; i < ROWS * COLS; i++)
        values[i] = i < ROWS * COLS * 4 / 5;
    gguf_builder_tensor(&builder, "token_embd.weight", F32, ROWS, COLS, values);
    assert_true(has_no_holes(&builder));
    gguf_builder_clear(&builder);

    // From a quarter on it is no reserve.
    init(&builder, "token_embd.weight");
    memset(values + ROWS * COLS / 4 * 3, 0, sizeof values / 4);
    gguf_builder_tensor(&builder, "token_embd.weight", F32, ROWS, COLS, values);
    assert_false(has_no_holes(&builder));
    gguf_builder_clear(&builder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_the_line_in_parts),
        cmocka_unit_test(a_good_file_has_no_obstacle),
        cmocka_unit_test(everything_is_named_at_once_what_no_other_file_cures_first),
        cmocka_unit_test(what_another_file_cures_is_told_with_the_way_out),
        cmocka_unit_test(a_kind_of_tokenizer_belongs_to_the_model),
        cmocka_unit_test(a_line_that_is_too_long_still_says_what_can_be_done),
        cmocka_unit_test(zeros_instead_of_weights_are_refused_with_the_tensors_name),
        cmocka_unit_test(rows_of_tokens_that_are_only_reserved_may_be_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
