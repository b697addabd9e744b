// Fuzz target: a vocabulary made of the input's first part, and its second part as
// text. A random file rarely holds a valid vocabulary, so the file is built here and
// only pieces, scores, types and text are the fuzzer's. Checked: ids exist, the bound
// holds, and with all bytes as tokens the text comes back.
//
// Input: bytes 0 and 1 are switches and the number of pieces; each piece is a type
// and score byte, a length byte and its bytes; the rest is text.
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/tokenizer/tokenizer.h"
#include "tests/compute/gguf/gguf_builder.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { MOST_PIECES = 64, BYTE_PIECES = 256, TOKENS = MOST_PIECES + BYTE_PIECES };
enum { WITH_BYTES = 1, WITH_SPACE = 2, WITH_BEGIN = 4, STRANGE_TYPES = 8 };

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
    struct gguf_buffer texts; // as in a GGUF array: length and bytes, one after another
    float scores[TOKENS];
    int32_t types[TOKENS];
    size_t count;
    bool has_added;     // a user-defined piece is among them
    bool has_cut_added; // one that is no whole characters
};

static void add(struct lists *lists, const void *text, size_t bytes, float score, int32_t type) {
    gguf_buffer_u64(&lists->texts, bytes);
    gguf_buffer_put(&lists->texts, text, bytes);
    lists->scores[lists->count] = score;
    lists->types[lists->count++] = type;
    lists->has_added = lists->has_added || type == 4;
    lists->has_cut_added = lists->has_cut_added || (type == 4 && !utf8_is_valid(text, bytes));
}

static void take_pieces(struct lists *lists, struct input *input, int switches) {
    for (int i = 0; i < BYTE_PIECES && (switches & WITH_BYTES); i++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        add(lists, name, 6, 0.0F, 6);
    }
    int pieces = take(input) % MOST_PIECES + 1;
    for (int i = 0; i < pieces; i++) {
        uint8_t kind = take(input);
        size_t length = take(input) % 12;
        if (length > input->bytes)
            length = input->bytes;
        int32_t type = switches & STRANGE_TYPES ? kind % 8 : kind % 8 == 4 ? 4 : 1;
        add(lists, input->data, length, (float)(kind >> 3), type);
        input->data += length;
        input->bytes -= length;
    }
}

static bool open_lists(struct tokenizer **out, const struct lists *lists, int switches) {
    struct gguf_builder builder;
    gguf_builder_init(&builder);
    gguf_builder_text(&builder, "tokenizer.ggml.model", "llama");
    gguf_builder_bool(&builder, "tokenizer.ggml.add_space_prefix", switches & WITH_SPACE);
    gguf_builder_numbers(&builder, "tokenizer.ggml.scores", GGUF_F32, 4, lists->count,
                         lists->scores);
    gguf_builder_numbers(&builder, "tokenizer.ggml.token_type", GGUF_I32, 4, lists->count,
                         lists->types);
    gguf_builder_key(&builder, "tokenizer.ggml.tokens", GGUF_ARRAY);
    gguf_buffer_u32(&builder.keys, GGUF_STRING);
    gguf_buffer_u64(&builder.keys, lists->count);
    gguf_buffer_put(&builder.keys, lists->texts.data, lists->texts.bytes);

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

// Text with U+2581 as spaces, as tokens show it.
static size_t shown_text(char *out, const struct input *text, bool with_space) {
    size_t used = 0;
    if (with_space && text->bytes > 0)
        out[used++] = ' ';
    for (size_t i = 0; i < text->bytes;) {
        bool mark = text->bytes - i >= 3 && memcmp(text->data + i, "\xe2\x96\x81", 3) == 0;
        out[used++] = mark ? ' ' : (char)text->data[i];
        i += mark ? 3 : 1;
    }
    return used;
}

// Without pieces that are not whole characters, the tokens' texts are the text again.
static void check_text(const struct tokenizer *tokenizer, const int32_t *ids, int count,
                       const struct input *text, int switches) {
    char *wanted = malloc(text->bytes + 2);
    if (!wanted)
        abort();
    size_t wanted_bytes = shown_text(wanted, text, switches & WITH_SPACE), at = 0;
    for (int i = 0; i < count; i++) {
        size_t bytes;
        const char *token = tokenizer_text(tokenizer, ids[i], &bytes);
        // A space that fell apart into byte tokens shows as its three bytes.
        bool mark = i + 2 < count && bytes == 1 && *token == '\xe2' && at < wanted_bytes &&
                    wanted[at] == ' ';
        if (mark) {
            at++;
            i += 2;
            continue;
        }
        if (bytes > wanted_bytes - at || memcmp(token, wanted + at, bytes) != 0)
            abort();
        at += bytes;
    }
    if (at != wanted_bytes)
        abort();
    free(wanted);
}

static void encode(const struct tokenizer *tokenizer, const struct input *text, int switches,
                   const struct lists *lists) {
    struct why why = {0};
    size_t bound = tokenizer_encode_bound(text->bytes);
    int32_t *ids = malloc(bound * sizeof *ids);
    if (!ids)
        abort();
    int count = tokenizer_encode(tokenizer, ids, (int)bound, (const char *)text->data, text->bytes,
                                 switches & WITH_BEGIN, &why);
    if (count < 0 && (why.text[0] == '\0' || (switches & WITH_BYTES)))
        abort();
    for (int i = 0; i < count; i++) {
        if (ids[i] < 0 || ids[i] >= tokenizer_vocab(tokenizer))
            abort();
    }
    // Behind a user-defined piece the text has a leading space more, and one that ends inside a
    // character cuts it in two.
    bool is_plain = !lists->has_cut_added && (!(switches & WITH_SPACE) || !lists->has_added);
    if ((switches & (WITH_BYTES | WITH_BEGIN)) == WITH_BYTES && is_plain)
        check_text(tokenizer, ids, count, text, switches);
    free(ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    struct input input = {data, bytes};
    static struct lists lists;
    lists = (struct lists){0};
    int switches = take(&input);
    take_pieces(&lists, &input, switches);
    struct tokenizer *tokenizer;
    if (open_lists(&tokenizer, &lists, switches)) {
        encode(tokenizer, &input, switches, &lists);
        tokenizer_close(tokenizer);
    }
    free(lists.texts.data);
    return 0;
}
