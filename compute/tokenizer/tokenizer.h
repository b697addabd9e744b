// The two kinds of tokenizer that a GGUF's "llama" and "gpt2" name. Both join neighbours until
// no two are left that join (ties: the leftmost), after cutting out a file's added
// ("user-defined") tokens, the longest first.
//
// SentencePiece ("llama"): a leading space, also behind each added token, unless the file says
// otherwise; spaces become U+2581; the pair whose merged piece has the highest score goes first;
// what is no piece falls back to byte tokens <0xNN>.
//
// Byte-level BPE ("gpt2"): the text is first cut into pieces by the rule that
// tokenizer.ggml.pre names (pretokenize.h); within a piece the earliest of the file's merges
// goes first. Every byte is a token.
//
// Control, unknown and unused tokens, and those that end a turn, are never matched: a prompt
// cannot forge one. All of this is as in llama.cpp (src/llama-vocab.cpp) without parse_special,
// which is for chat templates; here all text is the user's. Spaces around an added token are
// kept (no model's own lstrip and rstrip). Other kinds, and other rules of cutting, are refused
// by name.
#ifndef COMPUTE_TOKENIZER_TOKENIZER_H
#define COMPUTE_TOKENIZER_TOKENIZER_H

#include "compute/base/why.h"

#include "compute/gguf/gguf.h"
#include "compute/run/run.h"

enum { TOKENIZER_MAX_TEXT_BYTES = 1 << 20, TOKENIZER_MAX_VOCAB = 1 << 20 };

struct tokenizer;
struct chat_format;

// Copies what it needs: `file` may be closed afterwards. Owner: the caller,
// tokenizer_close. Errors: `why` names the key that is missing or wrong.
bool tokenizer_open(struct tokenizer **out, const struct gguf *file, struct why *why);

// True if the file says what kind its tokenizer is, and this program has no such kind: then no
// other file of the same model will do.
bool tokenizer_is_of_unknown_kind(const struct gguf *file);

void tokenizer_close(struct tokenizer *tokenizer); // NULL is fine

// Everything below reads only. Thread: any, also several at once.

int tokenizer_vocab(const struct tokenizer *tokenizer);

int32_t tokenizer_eos(const struct tokenizer *tokenizer); // -1 = none
bool tokenizer_adds_bos(const struct tokenizer *tokenizer);

// True for the tokens that end an answer: eos, and those that end a turn (named by
// a key of the file, or a control token with one of the usual names).
bool tokenizer_is_end(const struct tokenizer *tokenizer, int32_t id);

// RUN_CONTROL: it stands for no text: begin, end, unknown, unused. RUN_PIECE for an id that does
// not exist.
enum run_token_kind tokenizer_kind(const struct tokenizer *tokenizer, int32_t id);

// What its file's chat template asks for: the format (NULL = it has none that is known here) and
// the system text that goes with it where the user gives none ("" = none).
const struct chat_format *tokenizer_chat(const struct tokenizer *tokenizer);
const char *tokenizer_chat_system(const struct tokenizer *tokenizer);

// The control or user-defined token of this name; -1 = none.
int32_t tokenizer_named(const struct tokenizer *tokenizer, const char *name, size_t bytes);

// Token ids of `text`; with_bos: the begin token in front where there is one, and the end token
// behind where the file's add_eos_token asks for it. Bytes that are no UTF-8 become byte tokens.
// Returns the count, at most `capacity`, or -1 with `why`: more text than
// TOKENIZER_MAX_TEXT_BYTES, more ids than `capacity`, a byte the vocabulary has no token for.
// tokenizer_encode_bound gives a capacity that is always enough. An empty text has no tokens of
// its own. Cost: n log n for n bytes, about a second for 1 MB of prose.
int tokenizer_encode(const struct tokenizer *tokenizer, int32_t *ids, int capacity,
                     const char *text, size_t bytes, bool with_bos, struct why *why);
size_t tokenizer_encode_bound(size_t text_bytes);

// The bytes that token `id` stands for when shown on its own: U+2581 is a space
// (kept, so that "my" and " my" differ), a byte token is its one byte, a control
// token its name ("<s>"). Points into the tokenizer; not NUL-terminated. An id that
// does not exist has no bytes.
const char *tokenizer_text(const struct tokenizer *tokenizer, int32_t id, size_t *bytes);

#endif
