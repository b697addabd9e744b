// The merges of byte-level BPE, see tokenizer_parts.h. In a file each byte is written as a
// printable character: the printable ones of Latin-1 as themselves, the other 68 as U+0100 to
// U+0143 in their order (so a space is U+0120). Here pieces are kept as bytes, and a merge as
// the ids of its tokens.
#include "compute/tokenizer/tokenizer_parts.h"

#include "compute/base/utf8.h"
#include "compute/base/why.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_MERGES = 1 << 22 }; // a float, in which the heap sorts, has every rank exactly

static int byte_of_code(uint32_t code) {
    if ((code >= 0x21 && code <= 0x7E) || (code >= 0xA1 && code <= 0xFF && code != 0xAD))
        return (int)code;
    if (code >= 0x100 && code <= 0x120)
        return (int)code - 0x100;
    if (code >= 0x121 && code <= 0x142)
        return (int)code - 0x121 + 0x7F;
    return code == 0x143 ? 0xAD : -1;
}

size_t tokenizer_bytes(char *out, struct gguf_string piece, bool *is_whole) {
    size_t used = 0;
    *is_whole = true;
    for (size_t at = 0; at < piece.bytes;) {
        uint32_t code = 0;
        size_t length = utf8_next(piece.data + at, piece.bytes - at, &code);
        int byte = length ? byte_of_code(code) : -1;
        if (length == 0)
            length = 1;
        if (byte >= 0) {
            out[used++] = (char)byte;
        } else {
            memcpy(out + used, piece.data + at, length);
            used += length;
            *is_whole = false;
        }
        at += length;
    }
    return used;
}

// The finaliser of MurmurHash3 (Appleby), 64 bits.
static uint32_t hash_of(int32_t left, int32_t right) {
    uint64_t hash = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
    return (uint32_t)(hash ^ hash >> 33);
}

const struct merge *tokenizer_merge(const struct tokenizer *tokenizer, int32_t left,
                                    int32_t right) {
    for (uint32_t at = hash_of(left, right);; at++) {
        const struct merge *merge = &tokenizer->merges[at & tokenizer->merge_mask];
        if (merge->left < 0)
            return NULL;
        if (merge->left == left && merge->right == right)
            return merge;
    }
}

// False: so many merges share a place that look-ups would crawl. Of two equal ones the first
// counts, as in llama.cpp.
static bool add_merge(struct tokenizer *tokenizer, struct merge added) {
    uint32_t hash = hash_of(added.left, added.right);
    for (uint32_t probe = 0; probe < MAX_PROBES; probe++) {
        struct merge *merge = &tokenizer->merges[(hash + probe) & tokenizer->merge_mask];
        if (merge->left >= 0 && (merge->left != added.left || merge->right != added.right))
            continue;
        if (merge->left < 0)
            *merge = added;
        return true;
    }
    return false;
}

// "Ġ t": the two parts, and what they make. `scratch` has room for all its bytes.
static bool parse_merge(struct merge *out, const struct tokenizer *tokenizer,
                        struct gguf_string text, char *scratch) {
    const char *space = memchr(text.data, ' ', text.bytes);
    if (!space)
        return false;
    size_t split = (size_t)(space - text.data);
    bool left_is_whole, right_is_whole;
    size_t left = tokenizer_bytes(scratch, (struct gguf_string){text.data, split}, &left_is_whole);
    size_t right = tokenizer_bytes(
        scratch + left, (struct gguf_string){space + 1, text.bytes - split - 1}, &right_is_whole);
    out->left = tokenizer_find(tokenizer, scratch, left);
    out->right = tokenizer_find(tokenizer, scratch + left, right);
    out->id = tokenizer_find(tokenizer, scratch, left + right);
    return left_is_whole && right_is_whole && out->left >= 0 && out->right >= 0 && out->id >= 0;
}

static bool allocate(struct tokenizer *tokenizer, const struct gguf *file, size_t count,
                     char **scratch, struct why *why) {
    size_t longest = 0, slots = 4;
    for (size_t i = 0; i < count; i++) {
        struct gguf_string text = {0};
        gguf_array_string(file, "tokenizer.ggml.merges", i, &text);
        longest = text.bytes > longest ? text.bytes : longest;
    }
    while (slots < 2 * count)
        slots *= 2;
    *scratch = malloc(longest + 1);
    tokenizer->merges = malloc(slots * sizeof *tokenizer->merges);
    tokenizer->merge_mask = (uint32_t)(slots - 1);
    if (!*scratch || !tokenizer->merges)
        return why_set(why, "%s: not enough memory for its vocabulary", gguf_name(file));
    for (size_t i = 0; i < slots; i++)
        tokenizer->merges[i].left = -1;
    return true;
}

static bool read_merge(struct tokenizer *tokenizer, const struct gguf *file, size_t index,
                       char *scratch, struct why *why) {
    struct gguf_string text = {0};
    struct merge merge = {.rank = (int32_t)index};
    gguf_array_string(file, "tokenizer.ggml.merges", index, &text);
    if (!parse_merge(&merge, tokenizer, text, scratch)) {
        char name[NAME_BYTES];
        utf8_printable(name, sizeof name, text.data, text.bytes);
        return why_set(why, "%s: merge %zu (\"%s\") is not of two tokens that make a third",
                       gguf_name(file), index, name);
    }
    return add_merge(tokenizer, merge) ||
           why_set(why, "%s: its merges are made to be slow (hash collisions)", gguf_name(file));
}

bool tokenizer_read_merges(struct tokenizer *tokenizer, const struct gguf *file, struct why *why) {
    enum gguf_value_type type = GGUF_U8;
    size_t count = 0;
    char *scratch = NULL;
    if (!gguf_array(file, "tokenizer.ggml.merges", &type, &count))
        return why_set(why, "%s: lacks tokenizer.ggml.merges", gguf_name(file));
    if (type != GGUF_STRING || count > MAX_MERGES)
        return why_set(why, "%s: tokenizer.ggml.merges is not a list of up to %d texts",
                       gguf_name(file), MAX_MERGES);
    bool ok = allocate(tokenizer, file, count, &scratch, why);
    for (size_t i = 0; ok && i < count; i++)
        ok = read_merge(tokenizer, file, i, scratch, why);
    free(scratch);
    return ok;
}
