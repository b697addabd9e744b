// Tests of byte-level BPE behind tokenizer.h, and of pretokenize.h: the pieces of each kind,
// small made-up vocabularies for each rule, random ones against the plain quadratic algorithm,
// and what is refused. Vectors by others are in test_tokenizer.c, and tests/peers/tokens.py
// compares with llama.cpp.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/gguf/gguf.h"
#include "compute/tokenizer/pretokenize.h"
#include "compute/tokenizer/tokenizer.h"
#include "tests/compute/gguf/gguf_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NORMAL = 1, CONTROL = 3, USER = 4 };

static struct why why;

// --- Pieces ---

static const struct pretokenizer *find_kind(const char *name) {
    const struct pretokenizer *kind = pretokenizer_find(name, strlen(name));
    if (!kind)
        fail_msg("%s is not known", name);
    return kind;
}

// `wanted`: the pieces with a | between them.
static void expect_pieces(const char *name, const char *text, const char *wanted) {
    const struct pretokenizer *kind = find_kind(name);
    char got[512];
    size_t used = 0, bytes = strlen(text);
    for (size_t at = 0; at < bytes;) {
        size_t piece = pretokenizer_piece(kind, text + at, bytes - at);
        assert_in_range(piece, 1, bytes - at);
        if (at > 0)
            got[used++] = '|';
        memcpy(got + used, text + at, piece);
        used += piece;
        at += piece;
    }
    got[used] = '\0';
    if (strcmp(got, wanted) != 0)
        fail_msg("%s: \"%s\" instead of \"%s\"", name, got, wanted);
}

static void each_kind_cuts_as_its_expression_does(void **state) {
    (void)state;
    expect_pieces("gpt-2", "it's IT'S  1234 a!\n\n b", "it|'s| IT|'|S| | 1234| a|!|\n\n| b");
    expect_pieces("gpt-2", "x   \n", "x|   \n");
    expect_pieces("gpt-2", "\xd0\x96\xcc\x81\xe4\xbd\xa0 \xe2\x85\xa7",
                  "\xd0\x96|\xcc\x81|\xe4\xbd\xa0| \xe2\x85\xa7");
    expect_pieces("smollm", "a12  34!", "a|1|2|  |3|4|!");
    expect_pieces("smollm", "  x", " | x");
    expect_pieces("llama-bpe", "it's IT'LL 'x 12345", "it|'s| IT|'LL| '|x| |123|45");
    expect_pieces("llama-bpe", "(abc)\r\n\n  \n  x\ty", "(abc|)\r\n\n|  \n| | x|\ty");
    expect_pieces("qwen2", "a 123\xc2\xa0", "a| |1|2|3|\xc2\xa0");
    expect_pieces("tekken",
                  "HTTPServer'sABC \xc3\x9c"
                  "ber/\n/ 12",
                  "HTTPServer|'s|ABC| \xc3\x9c"
                  "ber|/\n/| |1|2");
    expect_pieces("tekken",
                  "\xcc\x81"
                  "ABC",
                  "\xcc\x81|ABC");
    expect_pieces("tekken",
                  "ABC\xe4\xbd\xa0"
                  "DE",
                  "ABC\xe4\xbd\xa0|DE");
    expect_pieces("gpt-4o", "don't DON'T 1234", "don't| DON'T| |123|4");
}

static void bytes_that_are_no_utf8_count_as_signs(void **state) {
    (void)state;
    expect_pieces("gpt-2", "a\xff\xfe!b\xe4\xbd", "a|\xff\xfe!|b|\xe4\xbd");
    expect_pieces("llama-bpe",
                  "\xc3"
                  "abc\xc3",
                  "\xc3"
                  "abc|\xc3");
}

static void only_whole_names_are_known(void **state) {
    (void)state;
    static const char *const names[] = {"",      " ",       "gpt",   "gpt-2 phi-2",
                                        "llama", "default", "GPT-2", "qwen"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_null(pretokenizer_find(names[i], strlen(names[i])));
    assert_true(pretokenizer_adds_bos(find_kind("llama3")));
    assert_true(pretokenizer_ignores_merges(find_kind("llama3")));
    assert_false(pretokenizer_adds_bos(find_kind("qwen2")));
}

// --- Made-up vocabularies ---

enum { MOST_TOKENS = 1024, MOST_MERGES = 512, TOKEN_BYTES = 64, FIRST = 256 };

struct vocab {
    const char *pre; // NULL = the key is absent
    char tokens[MOST_TOKENS][TOKEN_BYTES];
    int32_t types[MOST_TOKENS];
    char merges[MOST_MERGES][TOKEN_BYTES];
    size_t token_count, merge_count;
    uint32_t bos, eos; // 0 = none
    bool adds_bos, adds_eos, has_merges;
};

static void add_token(struct vocab *vocab, const char *text, int32_t type) {
    assert_true(vocab->token_count < MOST_TOKENS);
    snprintf(vocab->tokens[vocab->token_count], TOKEN_BYTES, "%s", text);
    vocab->types[vocab->token_count++] = type;
}

// The token of both together, if there is none, and the merge.
static void add_merge(struct vocab *vocab, const char *left, const char *right) {
    char both[2 * TOKEN_BYTES];
    snprintf(both, sizeof both, "%s%s", left, right);
    bool is_there = false;
    for (size_t i = 0; i < vocab->token_count; i++)
        is_there = is_there || strcmp(vocab->tokens[i], both) == 0;
    if (!is_there)
        add_token(vocab, both, NORMAL);
    snprintf(vocab->merges[vocab->merge_count++], TOKEN_BYTES, "%s %s", left, right);
}

// Token n is byte n, written as GPT-2's alphabet does.
static void init_vocab(struct vocab *vocab, const char *pre) {
    memset(vocab, 0, sizeof *vocab);
    vocab->pre = pre;
    vocab->has_merges = true;
    int others = 0;
    for (int byte = 0; byte < 256; byte++) {
        bool is_plain = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
        int code = is_plain ? byte : 256 + others++;
        char text[3] = {(char)code, '\0', '\0'};
        if (code >= 0x80) {
            text[0] = (char)(0xC0 | code >> 6);
            text[1] = (char)(0x80 | (code & 0x3F));
        }
        add_token(vocab, text, NORMAL);
    }
}

static void put_vocab(struct gguf_builder *builder, const struct vocab *vocab) {
    const char *tokens[MOST_TOKENS], *merges[MOST_MERGES];
    for (size_t i = 0; i < vocab->token_count; i++)
        tokens[i] = vocab->tokens[i];
    for (size_t i = 0; i < vocab->merge_count; i++)
        merges[i] = vocab->merges[i];
    gguf_builder_text(builder, "tokenizer.ggml.model", "gpt2");
    if (vocab->pre)
        gguf_builder_text(builder, "tokenizer.ggml.pre", vocab->pre);
    gguf_builder_texts(builder, "tokenizer.ggml.tokens", vocab->token_count, tokens);
    gguf_builder_numbers(builder, "tokenizer.ggml.token_type", GGUF_I32, 4, vocab->token_count,
                         vocab->types);
    if (vocab->has_merges)
        gguf_builder_texts(builder, "tokenizer.ggml.merges", vocab->merge_count, merges);
    if (vocab->bos)
        gguf_builder_u32(builder, "tokenizer.ggml.bos_token_id", vocab->bos);
    if (vocab->eos)
        gguf_builder_u32(builder, "tokenizer.ggml.eos_token_id", vocab->eos);
    if (vocab->adds_bos)
        gguf_builder_bool(builder, "tokenizer.ggml.add_bos_token", true);
    if (vocab->adds_eos)
        gguf_builder_bool(builder, "tokenizer.ggml.add_eos_token", true);
}

static bool open_builder(struct tokenizer **out, struct gguf_builder *builder) {
    size_t bytes;
    struct gguf *file;
    uint8_t *data = gguf_builder_finish(builder, &bytes);
    gguf_builder_clear(builder);
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
    return tokenizer;
}

static void expect_refusal(const struct vocab *vocab, const char *wanted) {
    struct gguf_builder builder;
    struct tokenizer *tokenizer;
    gguf_builder_init(&builder);
    put_vocab(&builder, vocab);
    if (open_builder(&tokenizer, &builder))
        fail_msg("opened instead of: %s", wanted);
    assert_null(tokenizer);
    if (!strstr(why.text, wanted))
        fail_msg("\"%s\" instead of \"%s\"", why.text, wanted);
}

enum { SOME_IDS = 512 };

static void expect_ids(const struct tokenizer *tokenizer, const char *text, size_t bytes,
                       const int32_t *wanted, int wanted_count) {
    int32_t ids[SOME_IDS];
    int count = tokenizer_encode(tokenizer, ids, SOME_IDS, text, bytes,
                                 tokenizer_adds_bos(tokenizer), &why);
    if (count != wanted_count)
        fail_msg("'%s': %d ids instead of %d: %s", text, count, wanted_count, why.text);
    for (int i = 0; i < count; i++) {
        if (ids[i] != wanted[i])
            fail_msg("'%s': id %d is %d instead of %d", text, i, ids[i], wanted[i]);
    }
}

#define EXPECT(tokenizer, text, ...)                                                               \
    expect_ids(tokenizer, text, sizeof text - 1, (const int32_t[]){__VA_ARGS__},                   \
               sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

static void the_first_merge_of_the_list_goes_first_and_ties_go_left(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab, "gpt-2");
    add_merge(&vocab, "b", "c");        // 256
    add_merge(&vocab, "a", "b");        // 257
    add_merge(&vocab, "a", "bc");       // 258
    add_merge(&vocab, "\xc4\xa0", "a"); // 259: a space and a
    add_merge(&vocab, "a", "a");        // 260
    struct tokenizer *tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "abc", 258);
    EXPECT(tokenizer, "ab", 257);
    EXPECT(tokenizer, "bab", 'b', 257);
    EXPECT(tokenizer, "aaa", 260, 'a');
    EXPECT(tokenizer, "aaaa", 260, 260);
    EXPECT(tokenizer, "x abc", 'x', ' ', 258); // b and c come before the space and a
    EXPECT(tokenizer, "x a", 'x', 259);
    EXPECT(tokenizer, "a-b", 'a', '-', 'b');
    EXPECT(tokenizer, "a\xc3\xa9\xff\x01", 'a', 0xC3, 0xA9, 0xFF, 1);
    tokenizer_close(tokenizer);
}

static void a_piece_that_is_a_token_needs_no_merges_where_the_kind_says_so(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab, "qwen2");
    add_token(&vocab, "abc", NORMAL); // 256: no merge makes it
    struct tokenizer *tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "abc", 'a', 'b', 'c');
    tokenizer_close(tokenizer);
    vocab.pre = "llama-bpe";
    tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "abc", 256);
    EXPECT(tokenizer, "abcd", 'a', 'b', 'c', 'd');
    tokenizer_close(tokenizer);
}

static void begin_and_end_tokens_follow_the_keys(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab, "gpt-2");
    add_token(&vocab, "<begin>", CONTROL); // 256
    add_token(&vocab, "<end>", CONTROL);   // 257
    vocab.bos = 256;
    vocab.eos = 257;
    struct tokenizer *tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "a", 'a');
    tokenizer_close(tokenizer);
    vocab.pre = "llama-bpe"; // its models have one without a key that says so
    tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "a", 256, 'a');
    tokenizer_close(tokenizer);
    vocab.pre = "gpt-2";
    vocab.adds_bos = vocab.adds_eos = true;
    tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "a", 256, 'a', 257);
    int32_t ids[2];
    assert_int_equal(tokenizer_encode(tokenizer, ids, 2, "a", 1, true, &why), -1);
    tokenizer_close(tokenizer);
}

static void added_tokens_are_cut_out_and_control_and_end_tokens_are_not(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab, "llama-bpe");
    add_token(&vocab, "<tool>", USER);     // 256
    add_token(&vocab, "  ", USER);         // 257: two spaces, not in the alphabet
    add_token(&vocab, "abc", CONTROL);     // 258
    add_token(&vocab, "<|im_end|>", USER); // 259: ends a turn, whatever its type
    add_token(&vocab, "end", USER);        // 260: a key says that it ends an answer
    vocab.eos = 260;
    struct tokenizer *tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "end", 'e', 'n', 'd');
    EXPECT(tokenizer, "a<tool>b", 'a', 256, 'b');
    EXPECT(tokenizer, "a  b", 'a', 257, 'b');
    EXPECT(tokenizer, "abc", 'a', 'b', 'c');
    EXPECT(tokenizer, "<|im_end|>", '<', '|', 'i', 'm', '_', 'e', 'n', 'd', '|', '>');
    assert_true(tokenizer_is_end(tokenizer, 259));
    assert_int_equal(tokenizer_kind(tokenizer, 259), RUN_CONTROL);
    assert_int_equal(tokenizer_kind(tokenizer, 256), RUN_PIECE);
    tokenizer_close(tokenizer);
}

static void tokens_show_the_bytes_they_stand_for(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab, "gpt-2");
    add_merge(&vocab, "\xc4\xa0", "\xc4\x8a"); // 256: a space and a line feed
    add_merge(&vocab, "\xc3\xa2", "\xc4\xa4"); // 257: E2 and 82, the start of a euro sign
    add_token(&vocab, "\xc4\xa0x", CONTROL);   // 258
    add_token(&vocab, "\xe2\x96\x81", NORMAL); // 259: stands for no bytes
    struct tokenizer *tokenizer = open_vocab(&vocab);
    static const struct {
        int32_t id;
        const char *text;
    } cases[] = {
        {'a', "a"},   {' ', " "},        {0xE2, "\xe2"},     {0xAD, "\xad"},
        {256, " \n"}, {257, "\xe2\x82"}, {258, "\xc4\xa0x"}, {259, "\xe2\x96\x81"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t bytes;
        const char *text = tokenizer_text(tokenizer, cases[i].id, &bytes);
        assert_int_equal(bytes, strlen(cases[i].text));
        assert_memory_equal(text, cases[i].text, bytes);
    }
    EXPECT(tokenizer, "\xe2\x82\xac", 257, 0xAC);
    tokenizer_close(tokenizer);
}

static void malformed_vocabularies_are_refused_by_what_is_wrong(void **state) {
    (void)state;
    static struct vocab vocab;
    static const struct {
        const char *merge, *wanted;
    } merges[] = {
        {"ab", "merge 1 (\"ab\")"}, {"a ", "merge 1"},
        {" a", "merge 1"},          {"a b c", "merge 1"},
        {"a q", "merge 1"},         {"", "merge 1"},
        {"\xff \xfe", "merge 1"},   {"a zz", "merge 1"},
        {"  ", "merge 1"},          {"\xe2\x96\x81 a", "is not of two tokens that make a third"},
    };
    for (size_t i = 0; i < sizeof merges / sizeof merges[0]; i++) {
        init_vocab(&vocab, "gpt-2");
        add_merge(&vocab, "a", "b");
        snprintf(vocab.merges[vocab.merge_count++], TOKEN_BYTES, "%s", merges[i].merge);
        expect_refusal(&vocab, merges[i].wanted);
    }
    // U+2581 as it is, not in the alphabet, though there is a token of its three bytes.
    init_vocab(&vocab, "gpt-2");
    add_token(&vocab, "\xc3\xa2\xc4\xb8\xc4\xa3", NORMAL);
    add_token(&vocab,
              "\xc3\xa2\xc4\xb8\xc4\xa3"
              "a",
              NORMAL);
    snprintf(vocab.merges[vocab.merge_count++], TOKEN_BYTES, "\xe2\x96\x81 a");
    expect_refusal(&vocab, "merge 0");
    init_vocab(&vocab, "gpt-2");
    vocab.has_merges = false;
    expect_refusal(&vocab, "lacks tokenizer.ggml.merges");
    init_vocab(&vocab, NULL);
    expect_refusal(&vocab, "doesn't say how its tokenizer splits text (tokenizer.ggml.pre)");
    init_vocab(&vocab, "future\x01");
    expect_refusal(&vocab, "splits text as \"future\\x01\", which is not known here");
    init_vocab(&vocab, "gpt-2");
    vocab.bos = 5000;
    expect_refusal(&vocab, "tokenizer.ggml.bos_token_id is no token");
}

static void a_list_of_merges_of_another_type_is_refused(void **state) {
    (void)state;
    static struct vocab vocab;
    struct gguf_builder builder;
    struct tokenizer *tokenizer;
    init_vocab(&vocab, "gpt-2");
    vocab.has_merges = false;
    gguf_builder_init(&builder);
    put_vocab(&builder, &vocab);
    gguf_builder_numbers(&builder, "tokenizer.ggml.merges", GGUF_I32, 4, 3, vocab.types);
    assert_false(open_builder(&tokenizer, &builder));
    assert_non_null(strstr(why.text, "is not a list of up to 4194304 texts"));
}

static void of_two_equal_merges_the_first_counts(void **state) {
    (void)state;
    static struct vocab vocab;
    init_vocab(&vocab, "gpt-2");
    add_merge(&vocab, "a", "b"); // 256
    add_merge(&vocab, "b", "c"); // 257
    add_merge(&vocab, "a", "b");
    struct tokenizer *tokenizer = open_vocab(&vocab);
    EXPECT(tokenizer, "abc", 256, 'c');
    tokenizer_close(tokenizer);
}

// --- Against the plain algorithm ---

static uint64_t random_state;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

static int32_t plain_find(const struct vocab *vocab, const char *text, size_t bytes) {
    for (size_t i = 0; i < vocab->token_count; i++) {
        if (strlen(vocab->tokens[i]) == bytes && memcmp(vocab->tokens[i], text, bytes) == 0)
            return (int32_t)i;
    }
    return -1;
}

static size_t plain_rank(const struct vocab *vocab, const char *text, int start, int middle,
                         int end) {
    char merge[2 * TOKEN_BYTES];
    snprintf(merge, sizeof merge, "%.*s %.*s", middle - start, text + start, end - middle,
             text + middle);
    size_t rank = 0;
    while (rank < vocab->merge_count && strcmp(vocab->merges[rank], merge) != 0)
        rank++;
    return rank;
}

enum { PLAIN_BYTES = 60 };

// The definition, step by step: find the best pair, merge it, start again. Texts of letters.
static int plain_encode(const struct vocab *vocab, const char *text, int bytes, int32_t *ids) {
    int start[PLAIN_BYTES + 1], symbols = bytes;
    for (int i = 0; i <= bytes; i++)
        start[i] = i;
    for (;;) {
        size_t best_rank = vocab->merge_count;
        int best = -1;
        for (int i = 0; i + 1 < symbols; i++) {
            size_t rank = plain_rank(vocab, text, start[i], start[i + 1], start[i + 2]);
            if (rank < best_rank) {
                best = i;
                best_rank = rank;
            }
        }
        if (best < 0)
            break;
        memmove(&start[best + 1], &start[best + 2], (size_t)(symbols - best - 1) * sizeof start[0]);
        symbols--;
    }
    for (int i = 0; i < symbols; i++)
        ids[i] = plain_find(vocab, text + start[i], (size_t)(start[i + 1] - start[i]));
    return symbols;
}

static void random_vocabularies_give_what_the_plain_algorithm_gives(void **state) {
    (void)state;
    random_state = 1;
    for (int round = 0; round < 40; round++) {
        static struct vocab vocab;
        init_vocab(&vocab, "gpt-2");
        uint32_t letters = 1 + random_below(4);
        for (int i = 0; i < 60; i++) {
            // Two tokens that are there already: letters, or what merges made.
            char parts[2][TOKEN_BYTES];
            for (int part = 0; part < 2; part++) {
                uint32_t at = random_below(letters + (uint32_t)vocab.token_count - FIRST);
                uint32_t id = at < letters ? 'a' + at : FIRST + at - letters;
                snprintf(parts[part], TOKEN_BYTES, "%s", vocab.tokens[id]);
            }
            if (strlen(parts[0]) + strlen(parts[1]) < 20)
                add_merge(&vocab, parts[0], parts[1]);
        }
        struct tokenizer *tokenizer = open_vocab(&vocab);
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
    }
}

// --- Long texts ---

static void long_texts_take_no_quadratic_time(void **state) {
    (void)state;
    static const char *const kinds[] = {"gpt-2", "smollm", "llama-bpe", "tekken", "gpt-4o"};
    static char text[TOKENIZER_MAX_TEXT_BYTES];
    static struct vocab vocab;
    size_t bound = tokenizer_encode_bound(sizeof text);
    int32_t *ids = malloc(bound * sizeof *ids);
    assert_non_null(ids);
    int64_t start_ns = stopwatch_now_ns();
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        init_vocab(&vocab, kinds[i]);
        char run[TOKEN_BYTES] = "a";
        for (int length = 1; length < 32; length *= 2) { // as in the worst text for merging
            add_merge(&vocab, run, run);
            memset(run, 'a', (size_t)length * 2);
            run[length * 2] = '\0';
        }
        struct tokenizer *tokenizer = open_vocab(&vocab);
        static const char *const texts[] = {
            "a", " ", "\n", "A", "1", "'", "aA", "A\xe4\xbd\xa0", "\xcc\x81", "\xff"};
        for (size_t j = 0; j < sizeof texts / sizeof texts[0]; j++) {
            for (size_t at = 0; at < sizeof text; at++)
                text[at] = texts[j][at % strlen(texts[j])];
            int count = tokenizer_encode(tokenizer, ids, (int)bound, text, sizeof text, true, &why);
            assert_true(count > 0);
            size_t at = 0, bytes;
            for (int id = 0; id < count; id++, at += bytes) {
                const char *token = tokenizer_text(tokenizer, ids[id], &bytes);
                assert_true(bytes <= sizeof text - at && memcmp(token, text + at, bytes) == 0);
            }
            assert_int_equal(at, sizeof text);
        }
        tokenizer_close(tokenizer);
    }
    // Fifty texts of 1 MB, seconds even with sanitizers; n squared would be weeks.
    assert_true(stopwatch_now_ns() - start_ns < INT64_C(200000000000));
    free(ids);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_cuts_as_its_expression_does),
        cmocka_unit_test(bytes_that_are_no_utf8_count_as_signs),
        cmocka_unit_test(only_whole_names_are_known),
        cmocka_unit_test(the_first_merge_of_the_list_goes_first_and_ties_go_left),
        cmocka_unit_test(a_piece_that_is_a_token_needs_no_merges_where_the_kind_says_so),
        cmocka_unit_test(begin_and_end_tokens_follow_the_keys),
        cmocka_unit_test(added_tokens_are_cut_out_and_control_and_end_tokens_are_not),
        cmocka_unit_test(tokens_show_the_bytes_they_stand_for),
        cmocka_unit_test(malformed_vocabularies_are_refused_by_what_is_wrong),
        cmocka_unit_test(a_list_of_merges_of_another_type_is_refused),
        cmocka_unit_test(of_two_equal_merges_the_first_counts),
        cmocka_unit_test(random_vocabularies_give_what_the_plain_algorithm_gives),
        cmocka_unit_test(long_texts_take_no_quadratic_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
