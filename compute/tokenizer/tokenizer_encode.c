// Encoding, see tokenizer.h. A text is cut at its user-defined pieces, and under BPE into the
// pieces of pretokenize.h. What remains is a linked list of symbols, at first one a character
// (BPE: a byte), and a heap of the pairs that could merge, best score first. A pair in the heap
// may be out of date, because its symbols have merged with others meanwhile; its length shows
// that, and it is skipped. Every merge adds at most two pairs, so n characters cost n log n.
// (The method is that of SentencePiece and llama.cpp.)
#include "compute/tokenizer/tokenizer_parts.h"

#include "compute/base/utf8.h"
#include "compute/base/why.h"

#include <stdlib.h>
#include <string.h>

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
    const char *text; // what is merged: SentencePiece's has a leading space, spaces as U+2581
    size_t text_bytes;
    char *marked;           // [3 * (text_bytes + 1)], where that is written
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

// Pushes `left` and its right neighbour if they merge.
static void consider(struct encoder *encoder, int left) {
    if (left < 0 || encoder->symbols[left].next < 0)
        return;
    int right = encoder->symbols[left].next;
    const struct symbol *symbol = &encoder->symbols[left];
    uint32_t bytes = symbol->bytes + encoder->symbols[right].bytes;
    struct pair pair = {.left = left, .right = right, .bytes = bytes, .id = -1};
    if (encoder->tokenizer->pre) {
        const struct merge *merge =
            tokenizer_merge(encoder->tokenizer, symbol->id, encoder->symbols[right].id);
        pair.score = merge ? -(float)merge->rank : 0;
        pair.id = merge ? merge->id : -1;
    } else {
        pair.id = tokenizer_find(encoder->tokenizer, encoder->text + symbol->at, bytes);
        pair.score = pair.id >= 0 ? encoder->tokenizer->scores[pair.id] : 0;
    }
    if (pair.id >= 0)
        heap_push(encoder, pair);
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
    char *out = encoder->marked;
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
    encoder->text = encoder->marked;
    encoder->text_bytes = (size_t)(out - encoder->marked);
}

// One symbol a character; a byte that begins none is a symbol of its own, as all are in BPE.
static void split_text(struct encoder *encoder) {
    size_t at = 0;
    int count = 0;
    while (at < encoder->text_bytes) {
        size_t bytes =
            encoder->tokenizer->pre ? 1 : utf8_length(encoder->text + at, encoder->text_bytes - at);
        if (bytes == 0)
            bytes = 1;
        int32_t id = tokenizer_find(encoder->tokenizer, encoder->text + at, bytes);
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

// Merges encoder->text and adds its ids.
static bool encode_merged(struct encoder *encoder, struct why *why) {
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

static bool encode_pieces(struct encoder *encoder, const char *text, size_t bytes,
                          struct why *why) {
    const struct tokenizer *tokenizer = encoder->tokenizer;
    for (size_t at = 0; at < bytes; at += encoder->text_bytes) {
        encoder->text = text + at;
        encoder->text_bytes = pretokenizer_piece(tokenizer->pre, text + at, bytes - at);
        int32_t id = pretokenizer_ignores_merges(tokenizer->pre)
                         ? tokenizer_find(tokenizer, encoder->text, encoder->text_bytes)
                         : -1;
        if (!(id >= 0 ? put_id(encoder, id, why) : encode_merged(encoder, why)))
            return false;
    }
    return true;
}

// A text without user-defined pieces.
static bool encode_plain(struct encoder *encoder, const char *text, size_t bytes, struct why *why) {
    if (encoder->tokenizer->pre)
        return encode_pieces(encoder, text, bytes, why);
    write_text(encoder, text, bytes);
    return encode_merged(encoder, why);
}

// --- User-defined pieces ---

// Of a byte of the text, else the id of the piece that begins there.
enum { NOT_CUT = -1, INSIDE_CUT = -2 };

// The user-defined piece of so many bytes that begins at `text`; -1 = none.
static int32_t find_added(const struct tokenizer *tokenizer, const char *text, size_t bytes) {
    int32_t id = -1;
    if (tokenizer->starts_added[(uint8_t)text[0]])
        id = tokenizer_find(tokenizer, text, bytes);
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
    encoder.marked = malloc(SPACE_MARK_BYTES * most);
    encoder.symbols = malloc(most * sizeof *encoder.symbols);
    encoder.heap = malloc(2 * most * sizeof *encoder.heap);
    int32_t *cuts = malloc(most * sizeof *cuts);
    bool ok = encoder.marked && encoder.symbols && encoder.heap && cuts;
    if (!ok)
        why_set(why, "not enough memory for a text of %zu bytes", bytes);
    ok = ok && encode(&encoder, cuts, text, bytes, why) &&
         (!with_bos || !tokenizer->adds_eos || put_id(&encoder, tokenizer->eos, why));
    free(cuts);
    free(encoder.marked);
    free(encoder.symbols);
    free(encoder.heap);
    return ok ? encoder.count : -1;
}

size_t tokenizer_encode_bound(size_t text_bytes) {
    // At worst every byte becomes a token, and a space is three bytes; plus the leading
    // space, the begin and the end token, and one more leading space behind a piece that is
    // cut out.
    if (text_bytes > TOKENIZER_MAX_TEXT_BYTES)
        text_bytes = TOKENIZER_MAX_TEXT_BYTES;
    return (SPACE_MARK_BYTES + 1) * text_bytes + SPACE_MARK_BYTES + 2;
}
