// SentencePiece-style tokenizer ("llama" in GGUF's words): a leading space,
// spaces become U+2581, then the neighbouring pair whose merged piece has the
// highest score is merged until none is left (ties: the leftmost); what is no
// piece falls back to byte tokens <0xNN>. Added ("user-defined") tokens are cut out of the
// text before that, the longest first, and what follows one begins with a leading space
// of its own; control tokens, unknown and unused ones are never matched: a prompt cannot
// forge one. Both as in llama.cpp (src/llama-vocab.cpp, tokenizer_st_partition) without
// parse_special, which is for chat templates; here all text is the user's. Spaces around a
// cut token are kept (no model's own lstrip and rstrip).
// Other kinds of tokenizer are refused by name.
#ifndef COMPUTE_MODEL_TOKENIZER_H
#define COMPUTE_MODEL_TOKENIZER_H

#include "compute/base/why.h"

#include "compute/model/gguf.h"

enum { TOKENIZER_MAX_TEXT_BYTES = 1 << 20, TOKENIZER_MAX_VOCAB = 1 << 20 };

struct tokenizer;

// Copies what it needs: `file` may be closed afterwards. Owner: the caller,
// tokenizer_close. Errors: `why` names the key that is missing or wrong.
bool tokenizer_open(struct tokenizer **out, const struct gguf *file, struct why *why);
void tokenizer_close(struct tokenizer *tokenizer); // NULL is fine

// Everything below reads only. Thread: any, also several at once.

int tokenizer_vocab(const struct tokenizer *tokenizer);
int32_t tokenizer_eos(const struct tokenizer *tokenizer); // -1 = none
bool tokenizer_adds_bos(const struct tokenizer *tokenizer);

// True for the tokens that end an answer: eos, and those that end a turn (named by
// a key of the file, or a control token with one of the usual names).
bool tokenizer_is_end(const struct tokenizer *tokenizer, int32_t id);

// True for tokens that stand for no text: begin, end, unknown, unused.
bool tokenizer_is_control(const struct tokenizer *tokenizer, int32_t id);

// Token ids of `text`, with the begin token in front when with_bos (and there is
// one). Bytes that are no UTF-8 become byte tokens. Returns the count, at most
// `capacity`, or -1 with `why`: more text than TOKENIZER_MAX_TEXT_BYTES, more ids
// than `capacity`, a byte the vocabulary has no token for. tokenizer_encode_bound
// gives a capacity that is always enough. An empty text has no tokens of its own.
// Cost: n log n for n bytes, about a second for 1 MB of prose.
int tokenizer_encode(const struct tokenizer *tokenizer, int32_t *ids, int capacity,
                     const char *text, size_t bytes, bool with_bos, struct why *why);
size_t tokenizer_encode_bound(size_t text_bytes);

// The bytes that token `id` stands for when shown on its own: U+2581 is a space
// (kept, so that "my" and " my" differ), a byte token is its one byte, a control
// token its name ("<s>"). Points into the tokenizer; not NUL-terminated. An id that
// does not exist has no bytes.
const char *tokenizer_text(const struct tokenizer *tokenizer, int32_t id, size_t *bytes);

#endif
