// What reading a vocabulary and encoding with it share. Only for tokenizer*.c.
#ifndef COMPUTE_TOKENIZER_TOKENIZER_PARTS_H
#define COMPUTE_TOKENIZER_TOKENIZER_PARTS_H

#include "compute/base/why.h"

#include "compute/gguf/gguf.h"
#include "compute/tokenizer/pretokenize.h"
#include "compute/tokenizer/tokenizer.h"

#define SPACE_MARK "\xe2\x96\x81" // U+2581, what a space is inside a piece of SentencePiece

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

// Many byte strings in one run of memory: string i is data[at[i]] .. data[at[i + 1]].
struct strings {
    char *data;
    size_t *at; // [vocab + 1]
};

struct slot {
    uint32_t hash;
    int32_t id; // -1 = empty
};

// Two tokens that byte-level BPE joins.
struct merge {
    int32_t left, right; // left -1 = empty
    int32_t id, rank;    // the token they make; smaller ranks first
};

struct tokenizer {
    int vocab;
    int32_t bos, eos, unknown; // -1 = none
    bool adds_bos, adds_eos, adds_space;
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

    const struct chat_format *chat;
    char *system; // of its template, owned

    // Byte-level BPE, whose pieces are kept as the bytes they stand for.
    const struct pretokenizer *pre; // NULL = SentencePiece
    struct merge *merges;           // [merge_mask + 1]
    uint32_t merge_mask;
};

// The piece that merging may make of these bytes; -1 = none.
int32_t tokenizer_find(const struct tokenizer *tokenizer, const char *text, size_t bytes);

// The merge of two tokens; NULL = none.
const struct merge *tokenizer_merge(const struct tokenizer *tokenizer, int32_t left, int32_t right);

// Writes the bytes that a piece of byte-level BPE stands for, at most as many as it has, and
// returns their count. *is_whole false: it has signs that stand for no byte, which are written
// as they are.
size_t tokenizer_bytes(char *out, struct gguf_string piece, bool *is_whole);

// Reads tokenizer.ggml.merges, after the vocabulary.
bool tokenizer_read_merges(struct tokenizer *tokenizer, const struct gguf *file, struct why *why);

#endif
