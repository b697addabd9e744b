// SentencePiece-style tokenizer ("llama" in GGUF's words): a leading space,
// spaces become U+2581, then the neighbouring pair whose merged piece has the
// highest score is merged until none is left (ties: the leftmost); what is no
// piece falls back to byte tokens <0xNN>. Control tokens are never matched in text.
// Other tokenizers come later; they are refused by name.
#ifndef COMPUTE_TOKENIZER_H
#define COMPUTE_TOKENIZER_H

#include "gguf.h"

enum { TOKENIZER_MAX_TEXT_BYTES = 1 << 20 };

struct tokenizer;

bool tokenizer_open(struct tokenizer **out, const struct gguf *file, char *why);
void tokenizer_close(struct tokenizer *tokenizer);

int tokenizer_vocab(const struct tokenizer *tokenizer);
int32_t tokenizer_bos(const struct tokenizer *tokenizer); // -1 = none
int32_t tokenizer_eos(const struct tokenizer *tokenizer);
bool tokenizer_adds_bos(const struct tokenizer *tokenizer);
bool tokenizer_is_end(const struct tokenizer *tokenizer, int32_t id); // eos, eot
bool tokenizer_is_control(const struct tokenizer *tokenizer, int32_t id);

// Token ids of `text`, with the begin token in front when with_bos. Returns the
// count, at most `capacity`, or -1 with `why`. tokenizer_encode_bound gives a
// capacity that is always enough.
int tokenizer_encode(const struct tokenizer *tokenizer, int32_t *ids, int capacity,
                     const char *text, size_t bytes, bool with_bos, char *why);
size_t tokenizer_encode_bound(size_t text_bytes);

// The bytes that token `id` stands for when shown on its own: U+2581 is a space
// (kept, so that "my" and " my" differ), a byte token is its one byte, a control
// token its name ("<s>"). Points into the tokenizer; not NUL-terminated.
const char *tokenizer_text(const struct tokenizer *tokenizer, int32_t id, size_t *bytes);

#endif
