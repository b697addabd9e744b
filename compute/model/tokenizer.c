// See tokenizer.h. The vocabulary is copied into two runs of bytes (pieces as the
// file has them, and as they are shown) and a hash map from piece to id. Encoding
// keeps the text as a linked list of symbols, at first one a character, and a heap
// of the pairs that could merge, best score first. A pair in the heap may be out of date,
// because its symbols have merged with others meanwhile; its length shows that, and it is
// skipped. Every merge adds at most two pairs, so n characters cost
// n log n. (The method is that of SentencePiece and llama.cpp.)
//
// No piece is trusted: byte tokens are parsed strictly, scores must be numbers, and a
// vocabulary whose hashes were made to collide is refused.
#include "compute/model/tokenizer.h"

#include "compute/base/utf8.h"
#include "compute/base/why.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACE_MARK "\xe2\x96\x81" // U+2581, what a space is inside a piece

enum { SPACE_MARK_BYTES = 3, MAX_PROBES = 256, NAME_BYTES = 64, LONGEST_ADDED_BYTES = 128 };

// tokenizer.ggml.token_type
enum piece_type {
    PIECE_NORMAL = 1,
    PIECE_UNKNOWN = 2,
    PIECE_CONTROL = 3,
    PIECE_USER_DEFINED = 4,
    PIECE_UNUSED = 5,
    PIECE_BYTE = 6,
};

enum flag { FLAG_CONTROL = 1, FLAG_END = 2 };

// Many byte strings in one run of memory: string i is data[at[i]] .. data[at[i + 1]].
struct strings {
    char *data;
    size_t *at; // [vocab + 1]
};

struct slot {
    uint32_t hash;
    int32_t id; // -1 = empty
};

struct tokenizer {
    int vocab;
    int32_t bos, eos, unknown; // -1 = none
    bool adds_bos, adds_space;
    struct strings pieces, shown;
    float *scores;         // [vocab]
    uint8_t *types;        // [vocab] enum piece_type
    uint8_t *flags;        // [vocab] enum flag
    int32_t byte_ids[256]; // -1 = none
    struct slot *slots;    // [slot_mask + 1], the pieces that merging may make
    uint32_t slot_mask;
    size_t longest_piece; // bytes, of those in slots
    // What the user-defined pieces begin with, and which lengths they have; longer ones are
    // made by merging alone, so that a vocabulary cannot make a text slow.
    bool starts_added[256], has_added_of[LONGEST_ADDED_BYTES + 1];
    size_t longest_added; // bytes; 0 = there is none
};

// --- The map from piece to id ---

// FNV-1a (Fowler, Noll, Vo), 64 bits, folded.
static uint32_t hash_of(const char *text, size_t bytes) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3;
    return (uint32_t)(hash ^ hash >> 32);
}

static bool piece_is(const struct tokenizer *tokenizer, int32_t id, const char *text,
                     size_t bytes) {
    size_t start = tokenizer->pieces.at[id];
    return tokenizer->pieces.at[id + 1] - start == bytes &&
           memcmp(tokenizer->pieces.data + start, text, bytes) == 0;
}

static int32_t find_piece(const struct tokenizer *tokenizer, const char *text, size_t bytes) {
    if (bytes > tokenizer->longest_piece)
        return -1;
    uint32_t hash = hash_of(text, bytes);
    for (uint32_t at = hash;; at++) {
        const struct slot *slot = &tokenizer->slots[at & tokenizer->slot_mask];
        if (slot->id < 0)
            return -1;
        if (slot->hash == hash && piece_is(tokenizer, slot->id, text, bytes))
            return slot->id;
    }
}

// False: so many pieces share a place that look-ups would crawl. Of two equal pieces
// the later one counts, as in llama.cpp.
static bool add_piece(struct tokenizer *tokenizer, int32_t id) {
    const char *text = tokenizer->pieces.data + tokenizer->pieces.at[id];
    size_t bytes = tokenizer->pieces.at[id + 1] - tokenizer->pieces.at[id];
    uint32_t hash = hash_of(text, bytes);
    for (uint32_t probe = 0; probe < MAX_PROBES; probe++) {
        struct slot *slot = &tokenizer->slots[(hash + probe) & tokenizer->slot_mask];
        if (slot->id < 0 || (slot->hash == hash && piece_is(tokenizer, slot->id, text, bytes))) {
            *slot = (struct slot){hash, id};
            if (bytes > tokenizer->longest_piece)
                tokenizer->longest_piece = bytes;
            return true;
        }
    }
    return false;
}

// --- Reading the vocabulary ---

static bool fail_memory(const struct gguf *file, struct why *why) {
    return why_set(why, "%s: not enough memory for its vocabulary", gguf_name(file));
}

static bool check_model(const struct gguf *file, struct why *why) {
    struct gguf_string model;
    char name[NAME_BYTES];
    if (!gguf_string(file, "tokenizer.ggml.model", &model))
        return why_set(why, "%s: has no tokenizer (tokenizer.ggml.model); convert the model again",
                       gguf_name(file));
    if (model.bytes == 5 && memcmp(model.data, "llama", 5) == 0)
        return true;
    utf8_printable(name, sizeof name, model.data, model.bytes);
    return why_set(why, "%s: has the tokenizer \"%s\"; only \"llama\" (SentencePiece) works so far",
                   gguf_name(file), name);
}

static bool is_integer_type(enum gguf_value_type type) {
    return type == GGUF_U8 || type == GGUF_I8 || type == GGUF_U16 || type == GGUF_I16 ||
           type == GGUF_U32 || type == GGUF_I32 || type == GGUF_U64 || type == GGUF_I64;
}

// The three lists must exist, have the right types and be equally long.
static bool check_lists(const struct gguf *file, int *vocab, struct why *why) {
    enum gguf_value_type tokens = GGUF_U8, scores = GGUF_U8, types = GGUF_STRING;
    size_t count = 0, score_count = 0, type_count = 0;
    bool there = gguf_array(file, "tokenizer.ggml.tokens", &tokens, &count) &&
                 gguf_array(file, "tokenizer.ggml.scores", &scores, &score_count) &&
                 gguf_array(file, "tokenizer.ggml.token_type", &types, &type_count);
    if (!there)
        return why_set(why,
                       "%s: lacks tokenizer.ggml.tokens, .scores or .token_type; convert it again",
                       gguf_name(file));
    if (tokens != GGUF_STRING || (scores != GGUF_F32 && scores != GGUF_F64) ||
        !is_integer_type(types))
        return why_set(why,
                       "%s: tokenizer.ggml.tokens, .scores and .token_type are not texts, "
                       "floats and whole numbers",
                       gguf_name(file));
    if (count < 1 || count > TOKENIZER_MAX_VOCAB)
        return why_set(why, "%s: has %zu tokens; 1 to %d are possible", gguf_name(file), count,
                       TOKENIZER_MAX_VOCAB);
    if (score_count != count || type_count != count)
        return why_set(why, "%s: has %zu tokens, but %zu scores and %zu token types",
                       gguf_name(file), count, score_count, type_count);
    *vocab = (int)count;
    return true;
}

static bool allocate(struct tokenizer *tokenizer, const struct gguf *file, struct why *why) {
    size_t vocab = (size_t)tokenizer->vocab, bytes = 1, slots = 4;
    for (size_t i = 0; i < vocab; i++) {
        struct gguf_string piece = {0};
        gguf_array_string(file, "tokenizer.ggml.tokens", i, &piece);
        bytes += piece.bytes;
    }
    while (slots < 2 * vocab)
        slots *= 2;
    tokenizer->pieces = (struct strings){malloc(bytes), calloc(vocab + 1, sizeof(size_t))};
    tokenizer->shown = (struct strings){malloc(bytes), calloc(vocab + 1, sizeof(size_t))};
    tokenizer->scores = calloc(vocab, sizeof *tokenizer->scores);
    tokenizer->types = calloc(vocab, 1);
    tokenizer->flags = calloc(vocab, 1);
    tokenizer->slots = calloc(slots, sizeof *tokenizer->slots);
    tokenizer->slot_mask = (uint32_t)(slots - 1);
    if (!tokenizer->pieces.data || !tokenizer->pieces.at || !tokenizer->shown.data ||
        !tokenizer->shown.at || !tokenizer->scores || !tokenizer->types || !tokenizer->flags ||
        !tokenizer->slots)
        return fail_memory(file, why);
    for (size_t i = 0; i < slots; i++)
        tokenizer->slots[i].id = -1;
    for (int i = 0; i < 256; i++)
        tokenizer->byte_ids[i] = -1;
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

// The value of "<0xNN>", exactly; -1 for anything else.
static int byte_of(struct gguf_string piece) {
    if (piece.bytes != 6 || memcmp(piece.data, "<0x", 3) != 0 || piece.data[5] != '>')
        return -1;
    int high = hex_digit(piece.data[3]), low = hex_digit(piece.data[4]);
    return high < 0 || low < 0 ? -1 : 16 * high + low;
}

// Appends string `index`, after all before it. `as_text`: U+2581 becomes a space.
static void append(struct strings *strings, int index, struct gguf_string string, bool as_text) {
    size_t end = strings->at[index];
    for (size_t i = 0; i < string.bytes;) {
        bool mark = as_text && string.bytes - i >= SPACE_MARK_BYTES &&
                    memcmp(string.data + i, SPACE_MARK, SPACE_MARK_BYTES) == 0;
        strings->data[end++] = mark ? ' ' : string.data[i];
        i += mark ? SPACE_MARK_BYTES : 1;
    }
    strings->at[index + 1] = end;
}

static void note_added(struct tokenizer *tokenizer, struct gguf_string piece) {
    if (piece.bytes == 0 || piece.bytes > LONGEST_ADDED_BYTES)
        return;
    tokenizer->starts_added[(uint8_t)piece.data[0]] = true;
    tokenizer->has_added_of[piece.bytes] = true;
    if (piece.bytes > tokenizer->longest_added)
        tokenizer->longest_added = piece.bytes;
}

static bool read_piece(struct tokenizer *tokenizer, const struct gguf *file, int id,
                       struct why *why) {
    struct gguf_string piece = {0};
    double score = 0;
    int64_t type = 0;
    gguf_array_string(file, "tokenizer.ggml.tokens", (size_t)id, &piece);
    gguf_array_float(file, "tokenizer.ggml.scores", (size_t)id, &score);
    gguf_array_int(file, "tokenizer.ggml.token_type", (size_t)id, &type);
    char name[NAME_BYTES];
    utf8_printable(name, sizeof name, piece.data, piece.bytes);
    if (isnan(score))
        return why_set(why, "%s: token %d (\"%s\") has a score that is not a number",
                       gguf_name(file), id, name);
    if (type < PIECE_NORMAL || type > PIECE_BYTE)
        return why_set(why, "%s: token %d (\"%s\") has type %" PRId64 "; only 1 to 6 exist",
                       gguf_name(file), id, name, type);
    tokenizer->scores[id] = (float)score;
    tokenizer->types[id] = (uint8_t)type;

    bool text = type == PIECE_NORMAL || type == PIECE_USER_DEFINED;
    append(&tokenizer->pieces, id, piece, false);
    if (type == PIECE_BYTE) {
        int byte = byte_of(piece);
        if (byte < 0)
            return why_set(why, "%s: byte token %d is \"%s\", not <0x00> to <0xFF>",
                           gguf_name(file), id, name);
        tokenizer->byte_ids[byte] = id;
        char shown = (char)byte;
        append(&tokenizer->shown, id, (struct gguf_string){&shown, 1}, false);
        return true;
    }
    append(&tokenizer->shown, id, piece, text);
    if (!text)
        tokenizer->flags[id] |= FLAG_CONTROL;
    if (type == PIECE_USER_DEFINED)
        note_added(tokenizer, piece);
    if (text && !add_piece(tokenizer, id))
        return why_set(why, "%s: its vocabulary is made to be slow (hash collisions)",
                       gguf_name(file));
    return true;
}

// --- Special tokens ---

// The id a key gives; -1 when it is absent.
static bool read_id(const struct tokenizer *tokenizer, const struct gguf *file, const char *key,
                    int32_t *out, struct why *why) {
    int64_t id;
    *out = -1;
    if (!gguf_has(file, key))
        return true;
    if (!gguf_int(file, key, &id) || id < 0 || id >= tokenizer->vocab)
        return why_set(why, "%s: %s is no token of the vocabulary (0 to %d)", gguf_name(file), key,
                       tokenizer->vocab - 1);
    *out = (int32_t)id;
    return true;
}

static bool read_flag(const struct gguf *file, const char *key, bool *out, struct why *why) {
    if (gguf_has(file, key) && !gguf_bool(file, key, out))
        return why_set(why, "%s: %s is not true or false", gguf_name(file), key);
    return true;
}

// The first token of `type` named `name` (NULL = any name); -1 = none.
static int32_t find_special(const struct tokenizer *tokenizer, enum piece_type type,
                            const char *name) {
    for (int32_t id = 0; id < tokenizer->vocab; id++) {
        if (tokenizer->types[id] == type && (!name || piece_is(tokenizer, id, name, strlen(name))))
            return id;
    }
    return -1;
}

static void mark_end(struct tokenizer *tokenizer, int32_t id) {
    if (id >= 0)
        tokenizer->flags[id] |= FLAG_END;
}

// Fine-tunes end a turn with a token of their own, often without a key that says so.
static void mark_named_ends(struct tokenizer *tokenizer) {
    static const char *const names[] = {
        "<|eot_id|>",    "<|eom_id|>",      "<|im_end|>",    "<|end|>",
        "<|endoftext|>", "<|end_of_text|>", "<end_of_turn>",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        mark_end(tokenizer, find_special(tokenizer, PIECE_CONTROL, names[i]));
        mark_end(tokenizer, find_special(tokenizer, PIECE_USER_DEFINED, names[i]));
    }
}

static bool read_specials(struct tokenizer *tokenizer, const struct gguf *file, struct why *why) {
    int32_t turn_end, message_end;
    tokenizer->adds_bos = true; // the default of this kind of tokenizer
    tokenizer->adds_space = true;
    if (!read_id(tokenizer, file, "tokenizer.ggml.bos_token_id", &tokenizer->bos, why) ||
        !read_id(tokenizer, file, "tokenizer.ggml.eos_token_id", &tokenizer->eos, why) ||
        !read_id(tokenizer, file, "tokenizer.ggml.unknown_token_id", &tokenizer->unknown, why) ||
        !read_id(tokenizer, file, "tokenizer.ggml.eot_token_id", &turn_end, why) ||
        !read_id(tokenizer, file, "tokenizer.ggml.eom_token_id", &message_end, why) ||
        !read_flag(file, "tokenizer.ggml.add_bos_token", &tokenizer->adds_bos, why) ||
        !read_flag(file, "tokenizer.ggml.add_space_prefix", &tokenizer->adds_space, why))
        return false;
    if (tokenizer->bos < 0)
        tokenizer->bos = find_special(tokenizer, PIECE_CONTROL, "<s>");
    if (tokenizer->eos < 0)
        tokenizer->eos = find_special(tokenizer, PIECE_CONTROL, "</s>");
    if (tokenizer->unknown < 0)
        tokenizer->unknown = find_special(tokenizer, PIECE_UNKNOWN, NULL);
    tokenizer->adds_bos = tokenizer->adds_bos && tokenizer->bos >= 0;
    mark_end(tokenizer, tokenizer->eos);
    mark_end(tokenizer, turn_end);
    mark_end(tokenizer, message_end);
    mark_named_ends(tokenizer);
    return true;
}

// --- Open and close ---

static bool read_vocabulary(struct tokenizer *tokenizer, const struct gguf *file, struct why *why) {
    if (!check_model(file, why) || !check_lists(file, &tokenizer->vocab, why) ||
        !allocate(tokenizer, file, why))
        return false;
    for (int id = 0; id < tokenizer->vocab; id++) {
        if (!read_piece(tokenizer, file, id, why))
            return false;
    }
    return read_specials(tokenizer, file, why);
}

bool tokenizer_open(struct tokenizer **out, const struct gguf *file, struct why *why) {
    *out = NULL;
    struct tokenizer *tokenizer = calloc(1, sizeof *tokenizer);
    if (!tokenizer)
        return fail_memory(file, why);
    if (!read_vocabulary(tokenizer, file, why)) {
        tokenizer_close(tokenizer);
        return false;
    }
    *out = tokenizer;
    return true;
}

void tokenizer_close(struct tokenizer *tokenizer) {
    if (!tokenizer)
        return;
    free(tokenizer->pieces.data);
    free(tokenizer->pieces.at);
    free(tokenizer->shown.data);
    free(tokenizer->shown.at);
    free(tokenizer->scores);
    free(tokenizer->types);
    free(tokenizer->flags);
    free(tokenizer->slots);
    free(tokenizer);
}

// --- Encoding ---

// A run of text that is one token so far, in a list with its neighbours.
struct symbol {
    uint32_t at, bytes; // in encoder.text; bytes 0 = merged into its left neighbour
    int32_t id;         // -1 = no piece
    int previous, next; // -1 = none
};

// Two neighbours that would make piece `id`, as they were when it was pushed.
struct pair {
    float score;
    int left, right;
    uint32_t bytes;
    int32_t id;
};

struct encoder {
    const struct tokenizer *tokenizer;
    char *text; // with its leading space, spaces as U+2581
    size_t text_bytes;
    struct symbol *symbols; // [text_bytes]
    int symbol_count;
    struct pair *heap; // [2 * text_bytes], heap[0] is the best
    size_t heap_count;
    int32_t *ids;
    int capacity, count;
};

static bool is_better(const struct pair *a, const struct pair *b) {
    return a->score > b->score || (a->score == b->score && a->left < b->left);
}

static void heap_push(struct encoder *encoder, struct pair pair) {
    size_t at = encoder->heap_count++;
    while (at > 0 && is_better(&pair, &encoder->heap[(at - 1) / 2])) {
        encoder->heap[at] = encoder->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    encoder->heap[at] = pair;
}

static struct pair heap_pop(struct encoder *encoder) {
    struct pair *heap = encoder->heap, best = heap[0];
    struct pair last = heap[--encoder->heap_count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < encoder->heap_count) {
        if (child + 1 < encoder->heap_count && is_better(&heap[child + 1], &heap[child]))
            child++;
        if (!is_better(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return best;
}

// Pushes `left` and its right neighbour if together they are a piece.
static void consider(struct encoder *encoder, int left) {
    if (left < 0 || encoder->symbols[left].next < 0)
        return;
    int right = encoder->symbols[left].next;
    const struct symbol *symbol = &encoder->symbols[left];
    uint32_t bytes = symbol->bytes + encoder->symbols[right].bytes;
    int32_t id = find_piece(encoder->tokenizer, encoder->text + symbol->at, bytes);
    if (id >= 0)
        heap_push(encoder, (struct pair){encoder->tokenizer->scores[id], left, right, bytes, id});
}

static void merge(struct encoder *encoder, const struct pair *pair) {
    struct symbol *left = &encoder->symbols[pair->left], *right = &encoder->symbols[pair->right];
    // Out of date: one of them is gone, or has grown.
    if (left->bytes == 0 || right->bytes == 0 || left->bytes + right->bytes != pair->bytes)
        return;
    left->bytes = pair->bytes;
    left->id = pair->id;
    left->next = right->next;
    if (right->next >= 0)
        encoder->symbols[right->next].previous = pair->left;
    right->bytes = 0;
    consider(encoder, left->previous);
    consider(encoder, pair->left);
}

static void write_text(struct encoder *encoder, const char *text, size_t bytes) {
    char *out = encoder->text;
    if (encoder->tokenizer->adds_space && bytes > 0) {
        memcpy(out, SPACE_MARK, SPACE_MARK_BYTES);
        out += SPACE_MARK_BYTES;
    }
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == ' ') {
            memcpy(out, SPACE_MARK, SPACE_MARK_BYTES);
            out += SPACE_MARK_BYTES;
        } else {
            *out++ = text[i];
        }
    }
    encoder->text_bytes = (size_t)(out - encoder->text);
}

// One symbol a character; a byte that begins none is a symbol of its own.
static void split_text(struct encoder *encoder) {
    size_t at = 0;
    int count = 0;
    while (at < encoder->text_bytes) {
        size_t bytes = utf8_length(encoder->text + at, encoder->text_bytes - at);
        if (bytes == 0)
            bytes = 1;
        int32_t id = find_piece(encoder->tokenizer, encoder->text + at, bytes);
        encoder->symbols[count] =
            (struct symbol){(uint32_t)at, (uint32_t)bytes, id, count - 1, count + 1};
        count++;
        at += bytes;
    }
    if (count > 0)
        encoder->symbols[count - 1].next = -1;
    encoder->symbol_count = count;
}

static bool put_id(struct encoder *encoder, int32_t id, struct why *why) {
    if (encoder->count >= encoder->capacity)
        return why_set(why, "the text has more than the %d tokens there is room for",
                       encoder->capacity);
    encoder->ids[encoder->count++] = id;
    return true;
}

// A symbol that is no piece: its bytes, or the unknown token.
static bool put_bytes(struct encoder *encoder, const struct symbol *symbol, struct why *why) {
    const struct tokenizer *tokenizer = encoder->tokenizer;
    const uint8_t *bytes = (const uint8_t *)encoder->text + symbol->at;
    for (uint32_t i = 0; i < symbol->bytes; i++) {
        if (tokenizer->byte_ids[bytes[i]] >= 0)
            continue;
        if (tokenizer->unknown >= 0)
            return put_id(encoder, tokenizer->unknown, why);
        return why_set(why,
                       "the text has a byte 0x%02X, for which the model has no token; "
                       "leave that sign out",
                       bytes[i]);
    }
    for (uint32_t i = 0; i < symbol->bytes; i++) {
        if (!put_id(encoder, tokenizer->byte_ids[bytes[i]], why))
            return false;
    }
    return true;
}

// A text without user-defined pieces.
static bool encode_plain(struct encoder *encoder, const char *text, size_t bytes, struct why *why) {
    write_text(encoder, text, bytes);
    split_text(encoder);
    for (int i = 0; i + 1 < encoder->symbol_count; i++)
        consider(encoder, i);
    while (encoder->heap_count > 0) {
        struct pair best = heap_pop(encoder);
        merge(encoder, &best);
    }
    for (int i = encoder->symbol_count > 0 ? 0 : -1; i >= 0; i = encoder->symbols[i].next) {
        const struct symbol *symbol = &encoder->symbols[i];
        bool ok =
            symbol->id >= 0 ? put_id(encoder, symbol->id, why) : put_bytes(encoder, symbol, why);
        if (!ok)
            return false;
    }
    return true;
}

// --- User-defined pieces ---

// Of a byte of the text, else the id of the piece that begins there.
enum { NOT_CUT = -1, INSIDE_CUT = -2 };

// The user-defined piece of so many bytes that begins at `text`; -1 = none.
static int32_t find_added(const struct tokenizer *tokenizer, const char *text, size_t bytes) {
    int32_t id = -1;
    if (tokenizer->starts_added[(uint8_t)text[0]])
        id = find_piece(tokenizer, text, bytes);
    return id >= 0 && tokenizer->types[id] == PIECE_USER_DEFINED ? id : -1;
}

static void cut_length(const struct tokenizer *tokenizer, int32_t *cuts, const char *text,
                       size_t bytes, size_t length) {
    size_t uncut = 0; // bytes before the end of the window that belong to no piece yet
    for (size_t end = 1; end <= bytes; end++) {
        uncut = cuts[end - 1] == NOT_CUT ? uncut + 1 : 0;
        int32_t id = uncut < length ? -1 : find_added(tokenizer, text + end - length, length);
        if (id < 0)
            continue;
        for (size_t i = end - length; i < end; i++)
            cuts[i] = INSIDE_CUT;
        cuts[end - length] = id;
        uncut = 0;
    }
}

static bool encode(struct encoder *encoder, int32_t *cuts, const char *text, size_t bytes,
                   struct why *why) {
    const struct tokenizer *tokenizer = encoder->tokenizer;
    for (size_t i = 0; i < bytes; i++)
        cuts[i] = NOT_CUT;
    for (size_t length = tokenizer->longest_added; length > 0; length--) {
        if (tokenizer->has_added_of[length])
            cut_length(tokenizer, cuts, text, bytes, length);
    }
    for (size_t at = 0, end; at < bytes; at = end) {
        bool is_cut = cuts[at] >= 0;
        end = at + 1;
        while (end < bytes && cuts[end] == (is_cut ? INSIDE_CUT : NOT_CUT))
            end++;
        if (!(is_cut ? put_id(encoder, cuts[at], why)
                     : encode_plain(encoder, text + at, end - at, why)))
            return false;
    }
    return true;
}

int tokenizer_encode(const struct tokenizer *tokenizer, int32_t *ids, int capacity,
                     const char *text, size_t bytes, bool with_bos, struct why *why) {
    struct encoder encoder = {.tokenizer = tokenizer, .ids = ids, .capacity = capacity};
    if (bytes > TOKENIZER_MAX_TEXT_BYTES) {
        why_set(why, "the text has %zu bytes; at most %d are possible", bytes,
                TOKENIZER_MAX_TEXT_BYTES);
        return -1;
    }
    if (with_bos && tokenizer->bos >= 0 && !put_id(&encoder, tokenizer->bos, why))
        return -1;
    // Characters are at most one more than bytes (the leading space). Pairs: n at the
    // start, and a merge takes one out and puts up to two in, n - 1 times.
    size_t most = bytes + 1;
    encoder.text = malloc(SPACE_MARK_BYTES * most);
    encoder.symbols = malloc(most * sizeof *encoder.symbols);
    encoder.heap = malloc(2 * most * sizeof *encoder.heap);
    int32_t *cuts = malloc(most * sizeof *cuts);
    bool ok = encoder.text && encoder.symbols && encoder.heap && cuts;
    if (!ok)
        why_set(why, "not enough memory for a text of %zu bytes", bytes);
    ok = ok && encode(&encoder, cuts, text, bytes, why);
    free(cuts);
    free(encoder.text);
    free(encoder.symbols);
    free(encoder.heap);
    return ok ? encoder.count : -1;
}

size_t tokenizer_encode_bound(size_t text_bytes) {
    // At worst every byte becomes a token, and a space is three bytes; plus the leading
    // space and the begin token, and one more leading space behind a piece that is cut out.
    if (text_bytes > TOKENIZER_MAX_TEXT_BYTES)
        text_bytes = TOKENIZER_MAX_TEXT_BYTES;
    return (SPACE_MARK_BYTES + 1) * text_bytes + SPACE_MARK_BYTES + 1;
}

// --- What a token is ---

static bool is_id(const struct tokenizer *tokenizer, int32_t id) {
    return id >= 0 && id < tokenizer->vocab;
}

int tokenizer_vocab(const struct tokenizer *tokenizer) {
    return tokenizer->vocab;
}

int32_t tokenizer_eos(const struct tokenizer *tokenizer) {
    return tokenizer->eos;
}

bool tokenizer_adds_bos(const struct tokenizer *tokenizer) {
    return tokenizer->adds_bos;
}

bool tokenizer_is_end(const struct tokenizer *tokenizer, int32_t id) {
    return is_id(tokenizer, id) && (tokenizer->flags[id] & FLAG_END);
}

bool tokenizer_is_control(const struct tokenizer *tokenizer, int32_t id) {
    return is_id(tokenizer, id) && (tokenizer->flags[id] & FLAG_CONTROL);
}

const char *tokenizer_text(const struct tokenizer *tokenizer, int32_t id, size_t *bytes) {
    *bytes = 0;
    if (!is_id(tokenizer, id))
        return "";
    *bytes = tokenizer->shown.at[id + 1] - tokenizer->shown.at[id];
    return tokenizer->shown.data + tokenizer->shown.at[id];
}
