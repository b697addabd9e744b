// Tests of tokenizer.h. Vectors by others must come out id by id; small made-up
// vocabularies show each rule alone; random vocabularies are compared with the plain
// quadratic algorithm; long texts must not take quadratic time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/tokenizer/tokenizer.h"
#include "tests/compute/gguf/gguf_builder.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NORMAL = 1, UNKNOWN, CONTROL, USER, UNUSED, BYTE };

#define MARK "\xe2\x96\x81" // U+2581

static struct why why;

// --- Made-up vocabularies ---

struct piece {
    const char *text;
    float score;
    int type;
};

enum { MOST_PIECES = 1024 };

struct vocab {
    struct piece pieces[MOST_PIECES];
    char byte_names[256][8];
    size_t count;
    const char *without; // of its keys
};

static void add_piece(struct vocab *vocab, const char *text, float score, int type) {
    assert_true(vocab->count < MOST_PIECES);
    vocab->pieces[vocab->count++] = (struct piece){text, score, type};
}

// <unk> 0, <s> 1, </s> 2, then the 256 bytes from 3.
static void init_vocab(struct vocab *vocab) {
    memset(vocab, 0, sizeof *vocab);
    add_piece(vocab, "<unk>", 0, UNKNOWN);
    add_piece(vocab, "<s>", 0, CONTROL);
    add_piece(vocab, "</s>", 0, CONTROL);
    for (int i = 0; i < 256; i++) {
        snprintf(vocab->byte_names[i], sizeof vocab->byte_names[i], "<0x%02X>", (unsigned)i);
        add_piece(vocab, vocab->byte_names[i], 0, BYTE);
    }
}

enum { FIRST = 3 + 256 };

static void put_vocab(struct gguf_builder *builder, const struct vocab *vocab) {
    const char *texts[MOST_PIECES];
    float scores[MOST_PIECES];
    int32_t types[MOST_PIECES];
    for (size_t i = 0; i < vocab->count; i++) {
        texts[i] = vocab->pieces[i].text;
        scores[i] = vocab->pieces[i].score;
        types[i] = vocab->pieces[i].type;
    }
    builder->without = vocab->without;
    gguf_builder_text(builder, "tokenizer.ggml.model", "llama");
    gguf_builder_texts(builder, "tokenizer.ggml.tokens", vocab->count, texts);
    gguf_builder_numbers(builder, "tokenizer.ggml.scores", GGUF_F32, 4, vocab->count, scores);
    gguf_builder_numbers(builder, "tokenizer.ggml.token_type", GGUF_I32, 4, vocab->count, types);
    builder->without = NULL;
}

static bool open_builder(struct tokenizer **out, const struct gguf_builder *builder) {
    size_t bytes;
    struct gguf *file;
    uint8_t *data = gguf_builder_finish(builder, &bytes);
    if (!gguf_parse(&file, "vocab.gguf", data, bytes, &why))
        fail_msg("the builder's own file does not parse: %s", why.text);
    bool ok = tokenizer_open(out, file, &why);
    gguf_close(file); // the tokenizer must not need it any more
    memset(data, 0x55, bytes);
    free(data);
    return ok;
}

static struct tokenizer *open_vocab(const struct vocab *vocab) {
    struct gguf_builder builder;
    struct tokenizer *tokenizer;
    gguf_builder_init(&builder);
    put_vocab(&builder, vocab);
    if (!open_builder(&tokenizer, &builder))
        fail_msg("%s", why.text);
    gguf_builder_clear(&builder);
    return tokenizer;
}

enum { SOME_IDS = 512 };

static void expect_ids(const struct tokenizer *tokenizer, const char *text, size_t bytes,
                       const int32_t *wanted, int wanted_count) {
    int32_t ids[SOME_IDS];
    int count = tokenizer_encode(tokenizer, ids, SOME_IDS, text, bytes, false, &why);
    if (count < 0)
        fail_msg("'%s': %s", text, why.text);
    if (count != wanted_count)
        fail_msg("'%s': %d ids instead of %d", text, count, wanted_count);
    for (int i = 0; i < count; i++) {
        if (ids[i] != wanted[i])
            fail_msg("'%s': id %d is %d instead of %d", text, i, ids[i], wanted[i]);
    }
}

#define EXPECT(tokenizer, text, ...)                                                               \
    expect_ids(tokenizer, text, sizeof text - 1, (const int32_t[]){__VA_ARGS__},                   \
               sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

// --- Each rule alone ---

static void the_best_score_merges_first_and_ties_go_left(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    add_piece(&vocab, "a", -9, NORMAL);      // 259
    add_piece(&vocab, "b", -9, NORMAL);      // 260
    add_piece(&vocab, "ab", -2, NORMAL);     // 261
    add_piece(&vocab, "ba", -1, NORMAL);     // 262
    add_piece(&vocab, "aa", -3, NORMAL);     // 263
    add_piece(&vocab, "aba", -5, NORMAL);    // 264
    add_piece(&vocab, MARK, -9, NORMAL);     // 265
    add_piece(&vocab, MARK "a", -4, NORMAL); // 266
    add_piece(&vocab, "abaa", -6, NORMAL);   // 267: reached only through aba + a
    struct tokenizer *tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "ab", 265, 261); // ab before the mark's a
    EXPECT(tokenizer, "ba", 265, 262);
    EXPECT(tokenizer, "aba", 266, 262);       // ba first: then a + ba is aba, but
                                              // the mark + a scores higher
    EXPECT(tokenizer, "baaa", 265, 262, 263); // ba, then aa of what is left
    EXPECT(tokenizer, "aaa", 265, 263, 259);  // a tie: the left pair
    EXPECT(tokenizer, "aaaa", 265, 263, 263);
    EXPECT(tokenizer, "bab", 265, 262, 260);
    tokenizer_close(tokenizer);
}

static void spaces_become_marks_and_one_leads(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    add_piece(&vocab, MARK, -1, NORMAL);         // 259
    add_piece(&vocab, MARK MARK, -0.5F, NORMAL); // 260
    add_piece(&vocab, "a", -3, NORMAL);          // 261
    add_piece(&vocab, MARK "a", -2, NORMAL);     // 262
    struct tokenizer *tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "a", 262);
    EXPECT(tokenizer, " a", 260, 261);
    EXPECT(tokenizer, "  a", 260, 262);
    EXPECT(tokenizer, " ", 260);
    EXPECT(tokenizer, "a a", 262, 262);
    EXPECT(tokenizer, MARK "a", 260, 261); // the mark itself is a space too
    expect_ids(tokenizer, "", 0, NULL, 0);
    tokenizer_close(tokenizer);
}

static void the_leading_space_can_be_switched_off(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    add_piece(&vocab, "a", -3, NORMAL);      // 259
    add_piece(&vocab, MARK "a", -2, NORMAL); // 260
    struct gguf_builder builder;
    struct tokenizer *tokenizer;
    gguf_builder_init(&builder);
    put_vocab(&builder, &vocab);
    gguf_builder_bool(&builder, "tokenizer.ggml.add_space_prefix", false);
    assert_true(open_builder(&tokenizer, &builder));
    EXPECT(tokenizer, "a", 259);
    EXPECT(tokenizer, " a", 260);
    tokenizer_close(tokenizer);
    gguf_builder_clear(&builder);
}

static void what_is_no_piece_becomes_bytes(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    add_piece(&vocab, MARK, -1, NORMAL);       // 259
    add_piece(&vocab, "\xc3\xa9", -1, NORMAL); // 260
    add_piece(&vocab, "\xff", -1, NORMAL);     // 261: a piece that is no UTF-8
    struct tokenizer *tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "\n", 259, 3 + 0x0a);
    EXPECT(tokenizer, "\xc3\xa9", 259, 260);
    EXPECT(tokenizer, "\xe2\x82\xac", 259, 3 + 0xe2, 3 + 0x82, 3 + 0xac);
    EXPECT(tokenizer, "\xc3", 259, 3 + 0xc3);              // cut
    EXPECT(tokenizer, "\xa9\xc3\xa9", 259, 3 + 0xa9, 260); // a stray end
    EXPECT(tokenizer, "\xc3\xc3\xa9", 259, 3 + 0xc3, 260);
    EXPECT(tokenizer, "\xf0\x9f\x98", 259, 3 + 0xf0, 3 + 0x9f, 3 + 0x98);
    EXPECT(tokenizer, "\xff", 259, 261);
    EXPECT(tokenizer, "a\0b", 259, 3 + 'a', 3, 3 + 'b'); // NUL is a byte like any other
    tokenizer_close(tokenizer);
}

static void without_byte_tokens_a_sign_is_unknown_or_an_error(void **state) {
    (void)state;
    static struct vocab vocab;
    memset(&vocab, 0, sizeof vocab);
    add_piece(&vocab, MARK, -1, NORMAL);
    add_piece(&vocab, "a", -1, NORMAL);
    add_piece(&vocab, "<0xC3>", 0, BYTE); // only half of \xc3\xa9
    struct tokenizer *tokenizer = open_vocab(&vocab);
    int32_t ids[8];
    EXPECT(tokenizer, "a", 0, 1);
    EXPECT(tokenizer, "\xc3", 0, 2);
    assert_int_equal(tokenizer_encode(tokenizer, ids, 8, "a\xc3\xa9", 3, false, &why), -1);
    assert_non_null(strstr(why.text, "byte 0xA9, for which the model has no token"));
    tokenizer_close(tokenizer);

    add_piece(&vocab, "<unk>", 0, UNKNOWN); // 3
    tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "a\xc3\xa9", 0, 1, 3); // one for the sign, not one a byte
    tokenizer_close(tokenizer);
}

static void control_tokens_are_never_made_from_text(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    add_piece(&vocab, MARK, -9, NORMAL); // 259
    add_piece(&vocab, "<", -9, NORMAL);  // 260
    add_piece(&vocab, "s", -9, NORMAL);  // 261
    add_piece(&vocab, ">", -9, NORMAL);  // 262
    add_piece(&vocab, "<s", -1, NORMAL); // 263: <s + > would be <s>
    add_piece(&vocab, "ss", 0, CONTROL);
    add_piece(&vocab, ">>", 0, UNUSED);
    struct tokenizer *tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "<s>", 259, 263, 262);
    EXPECT(tokenizer, "ss", 259, 261, 261);
    EXPECT(tokenizer, ">>", 259, 262, 262);
    EXPECT(tokenizer, "<0x41>", 259, 260, 3 + '0', 3 + 'x', 3 + '4', 3 + '1', 262);
    tokenizer_close(tokenizer);
}

static void user_defined_pieces_are_cut_out_before_merging(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    add_piece(&vocab, MARK, -9, NORMAL);     // 259
    add_piece(&vocab, "a", -9, NORMAL);      // 260
    add_piece(&vocab, "b", -9, NORMAL);      // 261
    add_piece(&vocab, "ab", 0, NORMAL);      // 262
    add_piece(&vocab, "bb", -99, USER);      // 263: its score would never let it merge
    add_piece(&vocab, "bab", -99, USER);     // 264
    add_piece(&vocab, "  ", -99, USER);      // 265: two spaces, as they are in the text
    add_piece(&vocab, MARK "a", -1, NORMAL); // 266
    add_piece(&vocab, "", 0, USER);
    add_piece(&vocab, "<|x|>", 0, CONTROL);
    struct tokenizer *tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "abb", 266, 263); // merging alone would make ab, b
    EXPECT(tokenizer, "bbb", 263, 259, 261);
    EXPECT(tokenizer, "bba", 263, 266);       // a leading space of its own behind it
    EXPECT(tokenizer, "bbab", 259, 261, 264); // the longest first, not the leftmost
    EXPECT(tokenizer, "bbbb", 263, 263);
    EXPECT(tokenizer, "  a", 265, 266);
    EXPECT(tokenizer, "bb bb", 263, 259, 259, 263);
    EXPECT(tokenizer, "<|x|>", 259, 3 + '<', 3 + '|', 3 + 'x', 3 + '|', 3 + '>');
    int32_t ids[8];
    assert_int_equal(tokenizer_encode(tokenizer, ids, 1, "bbbb", 4, false, &why), -1);
    tokenizer_close(tokenizer);
}

// As in Gemma's: no leading space, and runs of spaces and line ends, tags and emoji as
// user-defined pieces. tests/peers compares the real one.
static void a_vocabulary_like_gemma_s_keeps_runs_of_spaces_and_lines_whole(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    add_piece(&vocab, "\n", 0, USER);               // 259
    add_piece(&vocab, "\n\n", 0, USER);             // 260
    add_piece(&vocab, "\n\n\n", 0, USER);           // 261
    add_piece(&vocab, MARK MARK, 0, USER);          // 262
    add_piece(&vocab, MARK MARK MARK, 0, USER);     // 263
    add_piece(&vocab, "<h1>", 0, USER);             // 264
    add_piece(&vocab, MARK, -1, NORMAL);            // 265
    add_piece(&vocab, "a", -2, NORMAL);             // 266
    add_piece(&vocab, MARK "a", -3, NORMAL);        // 267
    add_piece(&vocab, "<start_of_turn>", 0, USER);  // 268, as old conversions have it
    add_piece(&vocab, "<end_of_turn>", 0, CONTROL); // 269
    struct gguf_builder builder;
    struct tokenizer *tokenizer;
    gguf_builder_init(&builder);
    put_vocab(&builder, &vocab);
    gguf_builder_bool(&builder, "tokenizer.ggml.add_space_prefix", false);
    assert_true(open_builder(&tokenizer, &builder));
    gguf_builder_clear(&builder);
    EXPECT(tokenizer, "a", 266);
    EXPECT(tokenizer, " a", 267);
    EXPECT(tokenizer, "a\n\na", 266, 260, 266);
    EXPECT(tokenizer, "\n\n\n\n", 261, 259);
    EXPECT(tokenizer, "<h1>a", 264, 266);
    EXPECT(tokenizer, "<h1> a", 264, 267);
    EXPECT(tokenizer, "\ta", 3 + '\t', 266);
    EXPECT(tokenizer, "  a", 262, 266); // made by merging: the piece has no real spaces
    EXPECT(tokenizer, "   a", 263, 266);
    tokenizer_close(tokenizer);
}

static void of_two_equal_pieces_the_later_one_counts(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    add_piece(&vocab, MARK "a", -1, NORMAL); // 259
    add_piece(&vocab, MARK "a", -1, NORMAL); // 260
    add_piece(&vocab, "a", -1, NORMAL);
    add_piece(&vocab, MARK, -1, NORMAL);
    add_piece(&vocab, "", 0, NORMAL); // an empty piece is never made
    struct tokenizer *tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "a", 260);
    tokenizer_close(tokenizer);
}

static void the_begin_token_comes_first_when_asked_for(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    add_piece(&vocab, MARK, -1, NORMAL); // 259
    struct tokenizer *tokenizer = open_vocab(&vocab);
    int32_t ids[4];
    assert_int_equal(tokenizer_encode(tokenizer, ids, 4, "a", 1, true, &why), 3);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[1], 259);
    assert_int_equal(tokenizer_encode(tokenizer, ids, 4, "", 0, true, &why), 1);
    assert_int_equal(ids[0], 1);
    assert_int_equal(tokenizer_encode(tokenizer, NULL, 0, "", 0, false, &why), 0);
    tokenizer_close(tokenizer);
}

static void too_little_room_is_an_error_not_a_cut(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    struct tokenizer *tokenizer = open_vocab(&vocab);
    int32_t *ids = malloc(5 * sizeof *ids);
    assert_non_null(ids);
    assert_int_equal(tokenizer_encode(tokenizer, ids, 5, "a", 1, true, &why), 5); // <s> E2 96 81 a
    for (int capacity = 0; capacity < 5; capacity++) {
        int32_t *few = malloc(capacity ? (size_t)capacity * sizeof *few : 1);
        assert_non_null(few);
        assert_int_equal(tokenizer_encode(tokenizer, few, capacity, "a", 1, true, &why), -1);
        assert_non_null(strstr(why.text, "there is room for"));
        free(few);
    }
    free(ids);
    tokenizer_close(tokenizer);
}

static void the_bound_is_enough_for_the_worst_text(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);              // no piece at all: each space costs three tokens
    add_piece(&vocab, "u", 0, USER); // each asks for another leading space behind it
    struct tokenizer *tokenizer = open_vocab(&vocab);
    char text[100];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? ' ' : 'u';
    for (size_t bytes = 0; bytes <= sizeof text; bytes++) {
        size_t bound = tokenizer_encode_bound(bytes);
        int32_t ids[512];
        int count = tokenizer_encode(tokenizer, ids, 512, text, bytes, true, &why);
        assert_int_equal(count, 1 + (bytes + 1) / 2 + 6 * (bytes / 2));
        assert_true((size_t)count <= bound);
    }
    memset(text, ' ', sizeof text);
    for (size_t bytes = 0; bytes <= sizeof text; bytes++) {
        size_t bound = tokenizer_encode_bound(bytes);
        int32_t *ids = malloc(bound * sizeof *ids);
        assert_non_null(ids);
        int count = tokenizer_encode(tokenizer, ids, (int)bound, text, bytes, true, &why);
        assert_int_equal(count, bytes ? 3 * (bytes + 1) + 1 : 1);
        assert_true((size_t)count <= bound);
        free(ids);
    }
    assert_int_equal(tokenizer_encode_bound(SIZE_MAX),
                     tokenizer_encode_bound(TOKENIZER_MAX_TEXT_BYTES));
    tokenizer_close(tokenizer);
}

// --- What a token is ---

static void expect_text(const struct tokenizer *tokenizer, int32_t id, const char *wanted,
                        size_t wanted_bytes) {
    size_t bytes;
    const char *text = tokenizer_text(tokenizer, id, &bytes);
    assert_int_equal(bytes, wanted_bytes);
    assert_memory_equal(text, wanted, bytes);
}

static void tokens_show_as_the_bytes_they_stand_for(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    add_piece(&vocab, MARK "my", -1, NORMAL);        // 259
    add_piece(&vocab, "my", -1, NORMAL);             // 260
    add_piece(&vocab, MARK MARK "a" MARK, -1, USER); // 261
    add_piece(&vocab, "<pad" MARK ">", 0, CONTROL);  // 262
    add_piece(&vocab, "\xe2\x96", -1, NORMAL);       // 263: not quite a mark
    struct tokenizer *tokenizer = open_vocab(&vocab);
    expect_text(tokenizer, 259, " my", 3);
    expect_text(tokenizer, 260, "my", 2);
    expect_text(tokenizer, 261, "  a ", 4);
    expect_text(tokenizer, 262, "<pad" MARK ">", 8);
    expect_text(tokenizer, 263, "\xe2\x96", 2);
    expect_text(tokenizer, 0, "<unk>", 5);
    expect_text(tokenizer, 1, "<s>", 3);
    expect_text(tokenizer, 3, "\0", 1);
    expect_text(tokenizer, 3 + 0xe9, "\xe9", 1);
    expect_text(tokenizer, -1, "", 0);
    expect_text(tokenizer, 264, "", 0);
    expect_text(tokenizer, INT32_MAX, "", 0);
    assert_int_equal(tokenizer_vocab(tokenizer), 264);
    for (int32_t id = -1; id <= 264; id++) {
        bool is_control = (id >= 0 && id < 3) || id == 262, is_byte = id >= 3 && id < 259;
        assert_int_equal(tokenizer_kind(tokenizer, id), is_control ? RUN_CONTROL
                                                        : is_byte  ? RUN_BYTE
                                                                   : RUN_PIECE);
    }
    tokenizer_close(tokenizer);
}

static int32_t begin_of(const struct tokenizer *tokenizer) {
    int32_t ids[4];
    return tokenizer_encode(tokenizer, ids, 4, "", 0, true, &why) == 1 ? ids[0] : -1;
}

static void begin_and_end_come_from_keys_or_from_their_usual_names(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab);
    add_piece(&vocab, "<|im_end|>", 0, CONTROL);     // 259
    add_piece(&vocab, "<|end|>", 0, USER);           // 260
    add_piece(&vocab, "<|eot_id|>", 0, NORMAL);      // 261: just text here
    add_piece(&vocab, "end of turn", 0, CONTROL);    // 262
    add_piece(&vocab, "end of message", 0, CONTROL); // 263
    struct tokenizer *tokenizer = open_vocab(&vocab);
    assert_int_equal(begin_of(tokenizer), 1);
    assert_int_equal(tokenizer_eos(tokenizer), 2);
    assert_true(tokenizer_adds_bos(tokenizer));
    for (int32_t id = -1; id <= 264; id++)
        assert_int_equal(tokenizer_is_end(tokenizer, id), id == 2 || id == 259 || id == 260);
    tokenizer_close(tokenizer);

    struct gguf_builder builder;
    gguf_builder_init(&builder);
    put_vocab(&builder, &vocab);
    gguf_builder_u32(&builder, "tokenizer.ggml.bos_token_id", 2);
    gguf_builder_u32(&builder, "tokenizer.ggml.eos_token_id", 1);
    gguf_builder_u32(&builder, "tokenizer.ggml.eot_token_id", 262);
    gguf_builder_u32(&builder, "tokenizer.ggml.eom_token_id", 263);
    gguf_builder_bool(&builder, "tokenizer.ggml.add_bos_token", false);
    assert_true(open_builder(&tokenizer, &builder));
    assert_int_equal(begin_of(tokenizer), 2);
    assert_int_equal(tokenizer_eos(tokenizer), 1);
    assert_false(tokenizer_adds_bos(tokenizer));
    for (int32_t id = -1; id <= 264; id++)
        assert_int_equal(tokenizer_is_end(tokenizer, id),
                         id == 1 || id == 2 || id == 259 || id == 260 || id == 262 || id == 263);
    tokenizer_close(tokenizer);
    gguf_builder_clear(&builder);
}

static void a_vocabulary_may_lack_begin_and_end(void **state) {
    (void)state;
    static struct vocab vocab;
    memset(&vocab, 0, sizeof vocab);
    add_piece(&vocab, MARK, -1, NORMAL);
    add_piece(&vocab, "<s>", -1, NORMAL); // text, not the begin token
    struct tokenizer *tokenizer = open_vocab(&vocab);
    assert_int_equal(begin_of(tokenizer), -1);
    assert_int_equal(tokenizer_eos(tokenizer), -1);
    assert_false(tokenizer_adds_bos(tokenizer));
    int32_t ids[4];
    assert_int_equal(tokenizer_encode(tokenizer, ids, 4, " ", 1, true, &why), 2);
    assert_int_equal(ids[0], 0);
    tokenizer_close(tokenizer);
}

// --- Refusals ---

static void expect_refusal(const struct gguf_builder *builder, const char *wanted) {
    struct tokenizer *tokenizer;
    bool ok = open_builder(&tokenizer, builder);
    if (ok || !strstr(why.text, wanted) || strncmp(why.text, "vocab.gguf: ", 12) != 0)
        fail_msg("wanted '%s', got '%s'", wanted, ok ? "a tokenizer" : why.text);
    assert_null(tokenizer);
}

static void other_tokenizers_are_refused_by_name(void **state) {
    (void)state;
    static const char *const models[] = {"gpt", "bert", "t5", "rwkv", "llama2", "ll\xff"};
    static const char *const shown[] = {"gpt", "bert", "t5", "rwkv", "llama2", "ll\\xff"};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        static struct vocab vocab;
        init_vocab(&vocab);
        vocab.without = "tokenizer.ggml.model";
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        put_vocab(&builder, &vocab);
        gguf_builder_text(&builder, "tokenizer.ggml.model", models[i]);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "has the tokenizer \"%s\"; only \"llama\"", shown[i]);
        expect_refusal(&builder, wanted);
        gguf_builder_clear(&builder);
    }
}

static void missing_lists_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *without, *wanted;
    } cases[] = {
        {"tokenizer.ggml.model", "has no tokenizer"},
        {"tokenizer.ggml.tokens", "lacks tokenizer.ggml.tokens, .scores or .token_type"},
        {"tokenizer.ggml.scores", "lacks tokenizer.ggml.tokens, .scores or .token_type"},
        {"tokenizer.ggml.token_type", "lacks tokenizer.ggml.tokens, .scores or .token_type"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static struct vocab vocab;
        init_vocab(&vocab);
        vocab.without = cases[i].without;
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        put_vocab(&builder, &vocab);
        expect_refusal(&builder, cases[i].wanted);
        gguf_builder_clear(&builder);
    }
}

static void lists_of_wrong_type_or_length_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"a", "b"};
    static const float scores[] = {1, 2};
    static const int32_t types[] = {1, 1};
    static const struct {
        const char *key;
        uint32_t type;
        size_t each, count;
        const void *values;
        const char *wanted;
    } cases[] = {
        {"tokenizer.ggml.tokens", GGUF_I32, 4, 2, types, "are not texts, floats and whole"},
        {"tokenizer.ggml.scores", GGUF_I32, 4, 2, types, "are not texts, floats and whole"},
        {"tokenizer.ggml.token_type", GGUF_F32, 4, 2, scores, "are not texts, floats and whole"},
        {"tokenizer.ggml.token_type", GGUF_BOOL, 1, 2, "\1\1", "are not texts, floats and whole"},
        {"tokenizer.ggml.scores", GGUF_F32, 4, 1, scores, "2 tokens, but 1 scores and 2 token"},
        {"tokenizer.ggml.token_type", GGUF_I32, 4, 1, types, "2 tokens, but 2 scores and 1 token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        builder.without = cases[i].key;
        gguf_builder_text(&builder, "tokenizer.ggml.model", "llama");
        gguf_builder_texts(&builder, "tokenizer.ggml.tokens", 2, texts);
        gguf_builder_numbers(&builder, "tokenizer.ggml.scores", GGUF_F32, 4, 2, scores);
        gguf_builder_numbers(&builder, "tokenizer.ggml.token_type", GGUF_I32, 4, 2, types);
        builder.without = NULL;
        gguf_builder_numbers(&builder, cases[i].key, cases[i].type, cases[i].each, cases[i].count,
                             cases[i].values);
        expect_refusal(&builder, cases[i].wanted);
        gguf_builder_clear(&builder);
    }
}

static void an_empty_vocabulary_is_refused(void **state) {
    (void)state;
    static struct vocab vocab;
    memset(&vocab, 0, sizeof vocab);
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    put_vocab(&builder, &vocab);
    expect_refusal(&builder, "has 0 tokens; 1 to 1048576");
    gguf_builder_clear(&builder);
}

static void bad_pieces_are_refused(void **state) {
    (void)state;
    static const struct {
        struct piece piece;
        const char *wanted;
    } cases[] = {
        {{"<0x-1>", 0, BYTE}, "byte token 259 is \"<0x-1>\", not <0x00> to <0xFF>"},
        {{"<0x1>", 0, BYTE}, "byte token 259 is \"<0x1>\""},
        {{"<0x001>", 0, BYTE}, "byte token 259 is"},
        {{"<0x 1>", 0, BYTE}, "byte token 259 is"},
        {{"<0x+1>", 0, BYTE}, "byte token 259 is"},
        {{"<0xG0>", 0, BYTE}, "byte token 259 is"},
        {{"<0x1G>", 0, BYTE}, "byte token 259 is"},
        {{"<0x01>x", 0, BYTE}, "byte token 259 is"},
        {{"<0x00)", 0, BYTE}, "byte token 259 is"},
        {{"<1x00>", 0, BYTE}, "byte token 259 is"},
        {{"", 0, BYTE}, "byte token 259 is"},
        {{"a", NAN, NORMAL}, "token 259 (\"a\") has a score that is not a number"},
        {{"a", 0, 0}, "token 259 (\"a\") has type 0; only 1 to 6"},
        {{"a", 0, 7}, "token 259 (\"a\") has type 7; only 1 to 6"},
        {{"a\n", 0, -1}, "token 259 (\"a\\x0a\") has type -1; only 1 to 6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static struct vocab vocab;
        init_vocab(&vocab);
        vocab.pieces[vocab.count++] = cases[i].piece;
        struct gguf_builder builder;
        gguf_builder_init(&builder);
        put_vocab(&builder, &vocab);
        expect_refusal(&builder, cases[i].wanted);
        gguf_builder_clear(&builder);
    }
}

static void ids_outside_the_vocabulary_are_refused(void **state) {
    (void)state;
    static const char *const keys[] = {
        "tokenizer.ggml.bos_token_id",     "tokenizer.ggml.eos_token_id",
        "tokenizer.ggml.eot_token_id",     "tokenizer.ggml.eom_token_id",
        "tokenizer.ggml.unknown_token_id",
    };
    static const uint32_t values[] = {259, UINT32_MAX};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        for (size_t j = 0; j < 2; j++) {
            static struct vocab vocab;
            init_vocab(&vocab);
            struct gguf_builder builder;
            gguf_builder_init(&builder);
            put_vocab(&builder, &vocab);
            gguf_builder_u32(&builder, keys[i], values[j]);
            char wanted[96];
            snprintf(wanted, sizeof wanted, "%s is no token of the vocabulary (0 to 258)", keys[i]);
            expect_refusal(&builder, wanted);
            gguf_builder_clear(&builder);
        }
    }
    struct gguf_builder builder;
    static struct vocab vocab;
    init_vocab(&vocab);
    gguf_builder_init(&builder);
    put_vocab(&builder, &vocab);
    gguf_builder_u32(&builder, "tokenizer.ggml.add_bos_token", 1);
    expect_refusal(&builder, "add_bos_token is not true or false");
    gguf_builder_clear(&builder);
}

// The reader's own hash (FNV-1a, folded), to find pieces that share one place.
static bool hits_place_0(const char *text, uint32_t mask) {
    uint64_t hash = 0xcbf29ce484222325;
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3;
    return ((uint32_t)(hash ^ hash >> 32) & mask) == 0;
}

static void a_vocabulary_made_to_collide_is_refused(void **state) {
    (void)state;
    enum { COLLIDING = 257, PLACES = 2048 }; // 259 + 257 pieces, at most half full
    static struct vocab vocab;
    static char texts[COLLIDING][16];
    init_vocab(&vocab);
    int found = 0;
    for (int i = 0; found < COLLIDING; i++) {
        snprintf(texts[found], sizeof texts[found], "p%d", i);
        if (hits_place_0(texts[found], PLACES - 1))
            add_piece(&vocab, texts[found++], 0, NORMAL);
    }
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    put_vocab(&builder, &vocab);
    expect_refusal(&builder, "its vocabulary is made to be slow");
    gguf_builder_clear(&builder);
    vocab.count--; // one less just fits
    tokenizer_close(open_vocab(&vocab));
}

// --- Against the plain algorithm ---

static uint64_t random_state;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

// Index of the normal piece text[0 .. bytes), -1 = none; the later of two.
static int plain_find(const struct vocab *vocab, const char *text, size_t bytes) {
    for (size_t i = vocab->count; i-- > FIRST;) {
        const char *piece = vocab->pieces[i].text;
        if (strlen(piece) == bytes && memcmp(piece, text, bytes) == 0)
            return (int)i;
    }
    return -1;
}

enum { PLAIN_BYTES = 64 };

// The definition, step by step: find the best pair, merge it, start again. Texts of
// one-byte signs without spaces.
static int plain_encode(const struct vocab *vocab, const char *text, int bytes, int32_t *ids) {
    int start[PLAIN_BYTES + 1], symbols = bytes;
    for (int i = 0; i <= bytes; i++)
        start[i] = i;
    for (;;) {
        int best = -1, best_id = -1;
        for (int i = 0; i + 1 < symbols; i++) {
            int id = plain_find(vocab, text + start[i], (size_t)(start[i + 2] - start[i]));
            if (id >= 0 && (best < 0 || vocab->pieces[id].score > vocab->pieces[best_id].score)) {
                best = i;
                best_id = id;
            }
        }
        if (best < 0)
            break;
        memmove(&start[best + 1], &start[best + 2], (size_t)(symbols - best - 1) * sizeof start[0]);
        symbols--;
    }
    int count = 0;
    for (int i = 0; i < symbols; i++) {
        int id = plain_find(vocab, text + start[i], (size_t)(start[i + 1] - start[i]));
        ids[count++] = id >= 0 ? id : 3 + (uint8_t)text[start[i]];
    }
    return count;
}

static void random_vocabularies_give_what_the_plain_algorithm_gives(void **state) {
    (void)state;
    random_state = 1;
    for (int round = 0; round < 60; round++) {
        static struct vocab vocab;
        static char texts[80][8];
        init_vocab(&vocab);
        uint32_t letters = 1 + random_below(4);
        for (int i = 0; i < 80; i++) {
            size_t length = 1 + random_below(7);
            for (size_t j = 0; j < length; j++)
                texts[i][j] = (char)('a' + random_below(letters));
            texts[i][length] = '\0';
            // Few different scores, so that ties are common.
            add_piece(&vocab, texts[i], -(float)random_below(round % 2 ? 4 : 1000), NORMAL);
        }
        struct gguf_builder builder;
        struct tokenizer *tokenizer;
        gguf_builder_init(&builder);
        put_vocab(&builder, &vocab);
        gguf_builder_bool(&builder, "tokenizer.ggml.add_space_prefix", false);
        assert_true(open_builder(&tokenizer, &builder));
        for (int i = 0; i < 40; i++) {
            char text[PLAIN_BYTES + 1] = {0};
            int bytes = (int)random_below(PLAIN_BYTES + 1);
            for (int j = 0; j < bytes; j++)
                text[j] = (char)('a' + random_below(letters));
            int32_t wanted[PLAIN_BYTES];
            int count = plain_encode(&vocab, text, bytes, wanted);
            expect_ids(tokenizer, text, (size_t)bytes, wanted, count);
        }
        tokenizer_close(tokenizer);
        gguf_builder_clear(&builder);
    }
}

// --- Long texts ---

// Encodes and checks that the tokens' bytes are a space and the text again.
static void expect_round_trip(const struct tokenizer *tokenizer, const char *text, size_t bytes) {
    size_t bound = tokenizer_encode_bound(bytes);
    int32_t *ids = malloc(bound * sizeof *ids);
    assert_non_null(ids);
    int count = tokenizer_encode(tokenizer, ids, (int)bound, text, bytes, false, &why);
    if (count < 0)
        fail_msg("%s", why.text);
    size_t at = 0, token_bytes;
    for (int i = 0; i < count; i++) {
        const char *token = tokenizer_text(tokenizer, ids[i], &token_bytes);
        for (size_t j = 0; j < token_bytes; j++, at++) {
            char wanted = at == 0 ? ' ' : at <= bytes ? text[at - 1] : '\0';
            if (token[j] != wanted)
                fail_msg("byte %zu differs", at);
        }
    }
    assert_int_equal(at, bytes ? bytes + 1 : 0);
    free(ids);
}

static void long_texts_take_no_quadratic_time(void **state) {
    (void)state;
    static struct vocab vocab;
    static char runs[12][2049];
    init_vocab(&vocab);
    add_piece(&vocab, MARK, -1, NORMAL);
    for (int i = 0; i < 12; i++) { // a, aa, aaaa, ... as in the worst text for merging
        memset(runs[i], 'a', (size_t)1 << i);
        add_piece(&vocab, runs[i], (float)-i, NORMAL);
    }
    struct tokenizer *tokenizer = open_vocab(&vocab);
    static char text[TOKENIZER_MAX_TEXT_BYTES + 1];
    memset(text, 'a', sizeof text);
    int64_t start_ns = stopwatch_now_ns();
    expect_round_trip(tokenizer, text, TOKENIZER_MAX_TEXT_BYTES);
    random_state = 2;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "aaaaaaaa \xe2\n"[random_below(11)];
    expect_round_trip(tokenizer, text, TOKENIZER_MAX_TEXT_BYTES);
    // About a second even with sanitizers; n squared would be hours.
    assert_true(stopwatch_now_ns() - start_ns < INT64_C(100000000000));

    int32_t id;
    assert_int_equal(tokenizer_encode(tokenizer, &id, 1, text, sizeof text, false, &why), -1);
    assert_string_equal(why.text, "the text has 1048577 bytes; at most 1048576 are possible");
    tokenizer_close(tokenizer);
}

// --- Vectors by others ---

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

static struct tokenizer *open_file(const char *path) {
    struct gguf *file;
    struct tokenizer *tokenizer = NULL;
    if (!gguf_open(&file, path, &why) || !tokenizer_open(&tokenizer, file, &why))
        fail_msg("%s", why.text);
    gguf_close(file);
    return tokenizer;
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    size_t bytes = fread(text, 1, (1 << 16) - 1, file);
    assert_true(bytes > 0 && bytes < (1 << 16) - 1 && strlen(text) == bytes);
    fclose(file);
    return text;
}

// One line of ids, separated by blanks.
static int read_ids(char *line, int32_t *ids) {
    int count = 0;
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        ids[count++] = (int32_t)strtol(word, NULL, 10);
    return count;
}

static int check_vectors(const struct tokenizer *tokenizer, char *texts, char *lines) {
    static const char separator[] = "\n__ggml_vocab_test__\n";
    int checked = 0;
    for (char *end; (end = strstr(texts, separator)); texts = end + sizeof separator - 1) {
        char *line_end = strchr(lines, '\n');
        assert_non_null(line_end);
        *end = *line_end = '\0';
        int32_t wanted[SOME_IDS];
        int count = read_ids(lines, wanted);
        expect_ids(tokenizer, texts, (size_t)(end - texts), wanted, count);
        lines = line_end + 1;
        checked++;
    }
    assert_int_equal(*texts, 0);
    assert_int_equal(*lines, 0);
    return checked;
}

static void check_vocab(const char *name) {
    char path[128];
    struct tokenizer *tokenizer = open_file(testdata_path(name));
    snprintf(path, sizeof path, "%s.inp", name);
    char *texts = read_text(testdata_path(path));
    snprintf(path, sizeof path, "%s.out", name);
    char *lines = read_text(testdata_path(path));
    assert_int_equal(check_vectors(tokenizer, texts, lines), 46);
    free(texts);
    free(lines);
    tokenizer_close(tokenizer);
}

static void the_46_vectors_of_llama_come_out_exactly(void **state) {
    (void)state;
    check_vocab("vocab/ggml-vocab-llama-spm.gguf");
}

// None of the 46 texts spells one of its added tokens, so all of them apply.
static void the_46_vectors_of_phi_3_come_out_exactly(void **state) {
    (void)state;
    check_vocab("vocab/ggml-vocab-phi-3.gguf");
}

static void the_46_vectors_of_gpt_2_come_out_exactly(void **state) {
    (void)state;
    check_vocab("vocab/ggml-vocab-gpt-2.gguf");
}

// These two vocabularies are too large for a repository; who has them puts them there.
static void the_46_vectors_of_llama_3_come_out_exactly(void **state) {
    (void)state;
    check_vocab("vocab/ggml-vocab-llama-bpe.gguf");
}

static void the_46_vectors_of_qwen_2_come_out_exactly(void **state) {
    (void)state;
    check_vocab("vocab/ggml-vocab-qwen2.gguf");
}

static void phi_3_ends_with_its_own_tokens(void **state) {
    (void)state;
    struct tokenizer *tokenizer = open_file(testdata_path("vocab/ggml-vocab-phi-3.gguf"));
    assert_int_equal(tokenizer_eos(tokenizer), 32000);
    assert_true(tokenizer_is_end(tokenizer, 32000));
    assert_true(tokenizer_is_end(tokenizer, 32007)); // <|end|>
    assert_false(tokenizer_is_end(tokenizer, 32001));
    assert_int_equal(tokenizer_kind(tokenizer, 32001), RUN_CONTROL); // <|assistant|>
    tokenizer_close(tokenizer);
}

// Its types make </s> an added token; since it ends a turn, no text makes it all the same.
static void phi_3_has_no_control_or_end_token_made_from_text(void **state) {
    (void)state;
    struct tokenizer *tokenizer = open_file(testdata_path("vocab/ggml-vocab-phi-3.gguf"));
    assert_true(tokenizer_is_end(tokenizer, 2));
    int32_t ids[SOME_IDS];
    static const char text[] = "<|user|>Hi</s><|end|>";
    int count = tokenizer_encode(tokenizer, ids, SOME_IDS, text, sizeof text - 1, false, &why);
    assert_true(count > 0);
    for (int i = 0; i < count; i++)
        assert_true(ids[i] < 32000 && ids[i] != 2);
    tokenizer_close(tokenizer);
}

// A list of {text, ids} with the begin token, from a JSON file.
static void check_golden(const struct tokenizer *tokenizer, const char *path, const char *list) {
    json_error_t error;
    json_t *golden = json_load_file(path, 0, &error);
    if (!golden)
        fail_msg("%s: %s", path, error.text);
    json_t *cases = json_object_get(golden, list), *row;
    size_t index;
    assert_true(json_array_size(cases) >= 5);
    json_array_foreach(cases, index, row) {
        json_t *wanted = json_object_get(row, "ids"), *text = json_object_get(row, "text");
        int32_t ids[SOME_IDS];
        int count = tokenizer_encode(tokenizer, ids, SOME_IDS, json_string_value(text),
                                     json_string_length(text), true, &why);
        assert_int_equal(count, json_array_size(wanted));
        for (int i = 0; i < count; i++)
            assert_int_equal(ids[i], json_integer_value(json_array_get(wanted, (size_t)i)));
    }
    json_decref(golden);
}

static void stories260k_encodes_as_its_own_program_does(void **state) {
    (void)state;
    struct tokenizer *tokenizer = open_file(testdata_path("stories260K/stories260K.f32.gguf"));
    check_golden(tokenizer, testdata_path("stories260K/stories260K.golden.json"), "encode_bos");
    tokenizer_close(tokenizer);
}

#ifndef TOKENDRIP_SOURCE_DIR
#define TOKENDRIP_SOURCE_DIR "."
#endif
#define MODEL_DIR TOKENDRIP_SOURCE_DIR "/assets/model/"

static void the_bundled_model_encodes_as_its_maker_does(void **state) {
    (void)state;
    if (access(MODEL_DIR "tokendrip.gguf", R_OK) != 0 ||
        access(MODEL_DIR "golden.json", R_OK) != 0) {
        print_message("the bundled model or its golden values are not there\n");
        skip();
    }
    struct tokenizer *tokenizer = open_file(MODEL_DIR "tokendrip.gguf");
    check_golden(tokenizer, MODEL_DIR "golden.json", "encodings");
    static const char prompt[] =
        "You are a support agent. Answer from the policy. Where is my parcel?";
    int32_t ids[64];
    assert_int_equal(tokenizer_encode(tokenizer, ids, 64, prompt, sizeof prompt - 1, true, &why),
                     18);
    tokenizer_close(tokenizer);
}

static void every_token_of_a_real_vocabulary_has_its_text(void **state) {
    (void)state;
    struct tokenizer *tokenizer = open_file(testdata_path("vocab/ggml-vocab-llama-spm.gguf"));
    assert_int_equal(tokenizer_vocab(tokenizer), 32000);
    for (int32_t id = 0; id < 32000; id++) {
        size_t bytes;
        const char *text = tokenizer_text(tokenizer, id, &bytes);
        assert_true(bytes > 0 && bytes <= 48);
        assert_null(memmem(text, bytes, MARK, 3));
    }
    expect_round_trip(tokenizer, "Where is my parcel? \xf0\x9f\x93\xa6 caf\xc3\xa9\n\t ok", 33);
    tokenizer_close(tokenizer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_score_merges_first_and_ties_go_left),
        cmocka_unit_test(spaces_become_marks_and_one_leads),
        cmocka_unit_test(the_leading_space_can_be_switched_off),
        cmocka_unit_test(what_is_no_piece_becomes_bytes),
        cmocka_unit_test(without_byte_tokens_a_sign_is_unknown_or_an_error),
        cmocka_unit_test(control_tokens_are_never_made_from_text),
        cmocka_unit_test(user_defined_pieces_are_cut_out_before_merging),
        cmocka_unit_test(a_vocabulary_like_gemma_s_keeps_runs_of_spaces_and_lines_whole),
        cmocka_unit_test(of_two_equal_pieces_the_later_one_counts),
        cmocka_unit_test(the_begin_token_comes_first_when_asked_for),
        cmocka_unit_test(too_little_room_is_an_error_not_a_cut),
        cmocka_unit_test(the_bound_is_enough_for_the_worst_text),
        cmocka_unit_test(tokens_show_as_the_bytes_they_stand_for),
        cmocka_unit_test(begin_and_end_come_from_keys_or_from_their_usual_names),
        cmocka_unit_test(a_vocabulary_may_lack_begin_and_end),
        cmocka_unit_test(other_tokenizers_are_refused_by_name),
        cmocka_unit_test(missing_lists_are_refused),
        cmocka_unit_test(lists_of_wrong_type_or_length_are_refused),
        cmocka_unit_test(an_empty_vocabulary_is_refused),
        cmocka_unit_test(bad_pieces_are_refused),
        cmocka_unit_test(ids_outside_the_vocabulary_are_refused),
        cmocka_unit_test(a_vocabulary_made_to_collide_is_refused),
        cmocka_unit_test(random_vocabularies_give_what_the_plain_algorithm_gives),
        cmocka_unit_test(long_texts_take_no_quadratic_time),
        cmocka_unit_test(the_46_vectors_of_llama_come_out_exactly),
        cmocka_unit_test(the_46_vectors_of_phi_3_come_out_exactly),
        cmocka_unit_test(the_46_vectors_of_gpt_2_come_out_exactly),
        cmocka_unit_test(the_46_vectors_of_llama_3_come_out_exactly),
        cmocka_unit_test(the_46_vectors_of_qwen_2_come_out_exactly),
        cmocka_unit_test(phi_3_ends_with_its_own_tokens),
        cmocka_unit_test(phi_3_has_no_control_or_end_token_made_from_text),
        cmocka_unit_test(stories260k_encodes_as_its_own_program_does),
        cmocka_unit_test(the_bundled_model_encodes_as_its_maker_does),
        cmocka_unit_test(every_token_of_a_real_vocabulary_has_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
