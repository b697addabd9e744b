// See tokenizer.h. The vocabulary is copied into two runs of bytes (pieces as merging compares
// them, and as they are shown) and a hash map from piece to id.
//
// No piece is trusted: byte tokens are parsed strictly, scores must be numbers, and a
// vocabulary whose hashes were made to collide is refused.
#include "compute/tokenizer/tokenizer_parts.h"

#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/tokenizer/chat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum flag { FLAG_CONTROL = 1, FLAG_END = 2, FLAG_BYTE = 4 };

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

int32_t tokenizer_find(const struct tokenizer *tokenizer, const char *text, size_t bytes) {
    if (bytes > tokenizer->longest_piece)
        return -1;
    uint32_t hash = hash_of(text, bytes);
    for (uint32_t at = hash;; at++) {
        const struct slot *slot = &tokenizer->slots[at & tokenizer->slot_mask];
        if (slot->id < 0)
            return -1;
        if (slot->hash == hash && piece_is(tokenizer, slot->id, text, bytes))
            return tokenizer->types[slot->id] == PIECE_CONTROL ? -1 : slot->id;
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

static bool is_text(struct gguf_string text, const char *wanted) {
    return text.bytes == strlen(wanted) && memcmp(text.data, wanted, text.bytes) == 0;
}

static bool find_pretokenizer(struct tokenizer *tokenizer, const struct gguf *file,
                              struct why *why) {
    struct gguf_string pre;
    char rule[NAME_BYTES];
    if (!gguf_string(file, "tokenizer.ggml.pre", &pre))
        return why_set(why, "%s: doesn't say how its tokenizer splits text (tokenizer.ggml.pre)",
                       gguf_name(file));
    tokenizer->pre = pretokenizer_find(pre.data, pre.bytes);
    utf8_printable(rule, sizeof rule, pre.data, pre.bytes);
    return tokenizer->pre ||
           why_set(why, "%s: its tokenizer splits text as \"%s\", which is not known here",
                   gguf_name(file), rule);
}

static bool check_model(struct tokenizer *tokenizer, const struct gguf *file, struct why *why) {
    struct gguf_string model;
    char name[NAME_BYTES];
    if (!gguf_string(file, "tokenizer.ggml.model", &model))
        return why_set(why, "%s: has no tokenizer (tokenizer.ggml.model)", gguf_name(file));
    if (is_text(model, "llama"))
        return true;
    if (is_text(model, "gpt2"))
        return find_pretokenizer(tokenizer, file, why);
    utf8_printable(name, sizeof name, model.data, model.bytes);
    return why_set(why,
                   "%s: has the tokenizer \"%s\"; only \"llama\" (SentencePiece) and \"gpt2\" "
                   "(byte-level BPE) work so far",
                   gguf_name(file), name);
}

bool tokenizer_is_of_unknown_kind(const struct gguf *file) {
    struct gguf_string model, pre;
    if (!gguf_string(file, "tokenizer.ggml.model", &model) || is_text(model, "llama"))
        return false;
    return !is_text(model, "gpt2") || (gguf_string(file, "tokenizer.ggml.pre", &pre) &&
                                       !pretokenizer_find(pre.data, pre.bytes));
}

static bool is_integer_type(enum gguf_value_type type) {
    return type == GGUF_U8 || type == GGUF_I8 || type == GGUF_U16 || type == GGUF_I16 ||
           type == GGUF_U32 || type == GGUF_I32 || type == GGUF_U64 || type == GGUF_I64;
}

// The lists must exist, have the right types and be equally long. BPE has no scores.
static bool check_lists(struct tokenizer *tokenizer, const struct gguf *file, struct why *why) {
    enum gguf_value_type tokens = GGUF_U8, scores = GGUF_F32, types = GGUF_STRING;
    size_t count = 0, score_count = 0, type_count = 0;
    bool there = gguf_array(file, "tokenizer.ggml.tokens", &tokens, &count) &&
                 gguf_array(file, "tokenizer.ggml.token_type", &types, &type_count);
    if (tokenizer->pre)
        score_count = count;
    else
        there = there && gguf_array(file, "tokenizer.ggml.scores", &scores, &score_count);
    if (!there)
        return why_set(why, "%s: lacks tokenizer.ggml.tokens, .scores or .token_type",
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
    tokenizer->vocab = (int)count;
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

static bool fail_slow(const struct gguf *file, struct why *why) {
    return why_set(why, "%s: its vocabulary is made to be slow (hash collisions)", gguf_name(file));
}

// A normal piece of BPE, as bytes. One with a sign that stands for none is never made from text.
static bool append_bytes(struct tokenizer *tokenizer, int id, struct gguf_string piece) {
    bool is_whole;
    size_t at = tokenizer->pieces.at[id];
    size_t bytes = tokenizer_bytes(tokenizer->pieces.data + at, piece, &is_whole);
    tokenizer->pieces.at[id + 1] = at + bytes;
    append(&tokenizer->shown, id, (struct gguf_string){tokenizer->pieces.data + at, bytes}, false);
    if (is_whole && bytes == 1)
        tokenizer->byte_ids[(uint8_t)tokenizer->pieces.data[at]] = id;
    return !is_whole || add_piece(tokenizer, id);
}

static bool read_piece(struct tokenizer *tokenizer, const struct gguf *file, int id,
                       struct why *why) {
    struct gguf_string piece = {0};
    double score = 0;
    int64_t type = 0;
    gguf_array_string(file, "tokenizer.ggml.tokens", (size_t)id, &piece);
    if (!tokenizer->pre)
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
    if (tokenizer->pre && type == PIECE_NORMAL)
        return append_bytes(tokenizer, id, piece) || fail_slow(file, why);
    append(&tokenizer->pieces, id, piece, false);
    if (type == PIECE_BYTE) {
        int byte = byte_of(piece);
        if (byte < 0)
            return why_set(why, "%s: byte token %d is \"%s\", not <0x00> to <0xFF>",
                           gguf_name(file), id, name);
        tokenizer->byte_ids[byte] = id;
        tokenizer->flags[id] |= FLAG_BYTE;
        char shown = (char)byte;
        append(&tokenizer->shown, id, (struct gguf_string){&shown, 1}, false);
        return true;
    }
    append(&tokenizer->shown, id, piece, text && !tokenizer->pre);
    if (!text)
        tokenizer->flags[id] |= FLAG_CONTROL;
    if (type == PIECE_USER_DEFINED)
        note_added(tokenizer, piece);
    return !text || add_piece(tokenizer, id) || fail_slow(file, why);
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

// The first token of `type` with this name (NULL = any name); -1 = none.
static int32_t find_special(const struct tokenizer *tokenizer, enum piece_type type,
                            const char *name, size_t bytes) {
    for (int32_t id = 0; id < tokenizer->vocab; id++) {
        if (tokenizer->types[id] == type && (!name || piece_is(tokenizer, id, name, bytes)))
            return id;
    }
    return -1;
}

int32_t tokenizer_named(const struct tokenizer *tokenizer, const char *name, size_t bytes) {
    int32_t id = find_special(tokenizer, PIECE_CONTROL, name, bytes);
    return id >= 0 ? id : find_special(tokenizer, PIECE_USER_DEFINED, name, bytes);
}

// What ends a turn is a control token whatever the file says, so that no prompt forges it.
static void mark_end(struct tokenizer *tokenizer, int32_t id) {
    if (id < 0)
        return;
    tokenizer->flags[id] |= FLAG_END;
    if (tokenizer->types[id] == PIECE_USER_DEFINED) {
        tokenizer->types[id] = PIECE_CONTROL;
        tokenizer->flags[id] |= FLAG_CONTROL;
    }
}

// Fine-tunes end a turn with a token of their own, often without a key that says so.
static void mark_named_ends(struct tokenizer *tokenizer) {
    static const char *const names[] = {
        "<|eot_id|>",    "<|eom_id|>",      "<|im_end|>",    "<|end|>",
        "<|endoftext|>", "<|end_of_text|>", "<end_of_turn>", "</s>",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        mark_end(tokenizer, find_special(tokenizer, PIECE_CONTROL, names[i], strlen(names[i])));
        mark_end(tokenizer,
                 find_special(tokenizer, PIECE_USER_DEFINED, names[i], strlen(names[i])));
    }
}

static bool read_specials(struct tokenizer *tokenizer, const struct gguf *file, struct why *why) {
    int32_t turn_end, message_end;
    // The defaults of the kinds of tokenizer.
    tokenizer->adds_bos = !tokenizer->pre || pretokenizer_adds_bos(tokenizer->pre);
    tokenizer->adds_space = true;
    if (!read_id(tokenizer, file, "tokenizer.ggml.bos_token_id", &tokenizer->bos, why) ||
        !read_id(tokenizer, file, "tokenizer.ggml.eos_token_id", &tokenizer->eos, why) ||
        !read_id(tokenizer, file, "tokenizer.ggml.unknown_token_id", &tokenizer->unknown, why) ||
        !read_id(tokenizer, file, "tokenizer.ggml.eot_token_id", &turn_end, why) ||
        !read_id(tokenizer, file, "tokenizer.ggml.eom_token_id", &message_end, why) ||
        !read_flag(file, "tokenizer.ggml.add_bos_token", &tokenizer->adds_bos, why) ||
        !read_flag(file, "tokenizer.ggml.add_eos_token", &tokenizer->adds_eos, why) ||
        !read_flag(file, "tokenizer.ggml.add_space_prefix", &tokenizer->adds_space, why))
        return false;
    if (tokenizer->bos < 0)
        tokenizer->bos = find_special(tokenizer, PIECE_CONTROL, "<s>", 3);
    if (tokenizer->eos < 0)
        tokenizer->eos = find_special(tokenizer, PIECE_CONTROL, "</s>", 4);
    if (tokenizer->unknown < 0)
        tokenizer->unknown = find_special(tokenizer, PIECE_UNKNOWN, NULL, 0);
    tokenizer->adds_bos = tokenizer->adds_bos && tokenizer->bos >= 0;
    tokenizer->adds_eos = tokenizer->adds_eos && tokenizer->eos >= 0;
    mark_end(tokenizer, tokenizer->eos);
    mark_end(tokenizer, turn_end);
    mark_end(tokenizer, message_end);
    mark_named_ends(tokenizer);
    return true;
}

static bool read_chat(struct tokenizer *tokenizer, const struct gguf *file, struct why *why) {
    struct gguf_string text;
    if (!gguf_string(file, "tokenizer.chat_template", &text))
        return true;
    size_t bytes;
    const char *system = chat_own_system(text.data, text.bytes, &bytes);
    tokenizer->chat = chat_recognise(text.data, text.bytes);
    tokenizer->system = strndup(system, tokenizer->chat ? bytes : 0);
    return tokenizer->system || fail_memory(file, why);
}

// --- Open and close ---

static bool read_vocabulary(struct tokenizer *tokenizer, const struct gguf *file, struct why *why) {
    if (!check_model(tokenizer, file, why) || !check_lists(tokenizer, file, why) ||
        !allocate(tokenizer, file, why))
        return false;
    for (int id = 0; id < tokenizer->vocab; id++) {
        if (!read_piece(tokenizer, file, id, why))
            return false;
    }
    if (tokenizer->pre && !tokenizer_read_merges(tokenizer, file, why))
        return false;
    return read_specials(tokenizer, file, why) && read_chat(tokenizer, file, why);
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
    free(tokenizer->merges);
    free(tokenizer->system);
    free(tokenizer);
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

const struct chat_format *tokenizer_chat(const struct tokenizer *tokenizer) {
    return tokenizer->chat;
}

const char *tokenizer_chat_system(const struct tokenizer *tokenizer) {
    return tokenizer->system ? tokenizer->system : "";
}

bool tokenizer_is_end(const struct tokenizer *tokenizer, int32_t id) {
    return is_id(tokenizer, id) && (tokenizer->flags[id] & FLAG_END);
}

enum run_token_kind tokenizer_kind(const struct tokenizer *tokenizer, int32_t id) {
    int flags = is_id(tokenizer, id) ? tokenizer->flags[id] : 0;
    return flags & FLAG_CONTROL ? RUN_CONTROL : flags & FLAG_BYTE ? RUN_BYTE : RUN_PIECE;
}

const char *tokenizer_text(const struct tokenizer *tokenizer, int32_t id, size_t *bytes) {
    *bytes = 0;
    if (!is_id(tokenizer, id))
        return "";
    *bytes = tokenizer->shown.at[id + 1] - tokenizer->shown.at[id];
    return tokenizer->shown.data + tokenizer->shown.at[id];
}
