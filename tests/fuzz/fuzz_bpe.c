// Fuzz target: byte-level BPE. The vocabulary is built here, since a random file rarely holds a
// valid one: the 256 bytes, and tokens that join two earlier ones, by a merge or without. Only
// the joins, their types, a few broken merges and the text are the fuzzer's. Checked: ids exist,
// the bound holds, and the tokens' bytes are the text again.
//
// Input: a byte for the pre-tokenizer, one for the number of joins; each join is two bytes for
// its parts and one for its kind; the rest is text.
#include "compute/base/why.h"
#include "compute/tokenizer/tokenizer.h"
#include "tests/compute/gguf/gguf_builder.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { BYTES = 256, MOST_JOINS = 64, TOKENS = BYTES + MOST_JOINS, TOKEN_BYTES = 96 };
enum { NORMAL = 1, CONTROL = 3, USER = 4 };

struct input {
    const uint8_t *data;
    size_t bytes;
};

static uint8_t take(struct input *input) {
    if (input->bytes == 0)
        return 0;
    input->bytes--;
    return *input->data++;
}

struct lists {
    char tokens[TOKENS][TOKEN_BYTES], merges[MOST_JOINS][2 * TOKEN_BYTES];
    int32_t types[TOKENS];
    size_t token_count, merge_count;
};

// Byte n in GPT-2's alphabet.
static void add_bytes(struct lists *lists) {
    int others = 0;
    for (int byte = 0; byte < BYTES; byte++) {
        bool is_plain = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
        int code = is_plain ? byte : 256 + others++;
        char *text = lists->tokens[byte];
        memset(text, 0, 3);
        text[0] = code < 0x80 ? (char)code : (char)(0xC0 | code >> 6);
        if (code >= 0x80)
            text[1] = (char)(0x80 | (code & 0x3F));
        lists->types[byte] = NORMAL;
    }
    lists->token_count = BYTES;
}

static void take_joins(struct lists *lists, struct input *input) {
    int joins = take(input) % MOST_JOINS;
    for (int i = 0; i < joins; i++) {
        // A part is a letter or so, or one of the joins so far.
        size_t left = take(input), right = take(input);
        uint8_t kind = take(input);
        if (kind & 1 && lists->token_count > BYTES)
            left = BYTES + left % (lists->token_count - BYTES);
        if (kind & 2 && lists->token_count > BYTES)
            right = BYTES + right % (lists->token_count - BYTES);
        const char *l = lists->tokens[left], *r = lists->tokens[right];
        if (strlen(l) + strlen(r) >= TOKEN_BYTES)
            continue;
        snprintf(lists->tokens[lists->token_count], TOKEN_BYTES, "%s%s", l, r);
        int type = kind >> 5 == 7 ? CONTROL : kind >> 5 == 6 ? USER : NORMAL;
        lists->types[lists->token_count++] = type;
        if (kind & 4)
            snprintf(lists->merges[lists->merge_count++], sizeof lists->merges[0], "%s%s%s", l,
                     kind & 8 ? "" : " ", r);
    }
}

static bool open_lists(struct tokenizer **out, const struct lists *lists, uint8_t kind) {
    static const char *const kinds[] = {"gpt-2",  "smollm", "llama-bpe", "qwen2",
                                        "tekken", "gpt-4o", "dbrx",      "?"};
    const char *tokens[TOKENS], *merges[MOST_JOINS];
    for (size_t i = 0; i < lists->token_count; i++)
        tokens[i] = lists->tokens[i];
    for (size_t i = 0; i < lists->merge_count; i++)
        merges[i] = lists->merges[i];
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    gguf_builder_text(&builder, "tokenizer.ggml.model", "gpt2");
    gguf_builder_text(&builder, "tokenizer.ggml.pre", kinds[kind % 8]);
    gguf_builder_texts(&builder, "tokenizer.ggml.tokens", lists->token_count, tokens);
    gguf_builder_numbers(&builder, "tokenizer.ggml.token_type", GGUF_I32, 4, lists->token_count,
                         lists->types);
    gguf_builder_texts(&builder, "tokenizer.ggml.merges", lists->merge_count, merges);

    struct why why = {0};
    struct gguf *file;
    size_t bytes;
    uint8_t *data = gguf_builder_finish(&builder, &bytes);
    if (!gguf_parse(&file, "fuzz.gguf", data, bytes, &why))
        abort();
    bool ok = tokenizer_open(out, file, &why);
    if (!ok && why.text[0] == '\0')
        abort();
    gguf_close(file);
    free(data);
    gguf_builder_clear(&builder);
    return ok;
}

static void encode(const struct tokenizer *tokenizer, const struct input *text,
                   const struct lists *lists) {
    struct why why = {0};
    size_t bound = tokenizer_encode_bound(text->bytes), at = 0, bytes;
    int32_t *ids = malloc(bound * sizeof *ids);
    if (!ids)
        abort();
    int count = tokenizer_encode(tokenizer, ids, (int)bound, (const char *)text->data, text->bytes,
                                 false, &why);
    if (count < 0)
        abort();
    for (int i = 0; i < count; i++) {
        if (ids[i] < 0 || ids[i] >= tokenizer_vocab(tokenizer) || lists->types[ids[i]] == CONTROL)
            abort();
        const char *token = tokenizer_text(tokenizer, ids[i], &bytes);
        if (bytes > text->bytes - at || memcmp(token, text->data + at, bytes) != 0)
            abort();
        at += bytes;
    }
    if (at != text->bytes)
        abort();
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static struct lists lists;
    lists = (struct lists){0};
    struct input input = {data, bytes};
    struct tokenizer *tokenizer;
    uint8_t kind = take(&input);
    add_bytes(&lists);
    take_joins(&lists, &input);
    if (open_lists(&tokenizer, &lists, kind)) {
        encode(tokenizer, &input, &lists);
        tokenizer_close(tokenizer);
    }
    return 0;
}
