// Cuts a text into the pieces within which byte-level BPE merges, as the regular
// expressions of the models' own tokenizer.json do. Scanners over Unicode classes: nothing
// is allocated, nothing recurs, and a text is gone over at most twice.
#ifndef COMPUTE_TOKENIZER_PRETOKENIZE_H
#define COMPUTE_TOKENIZER_PRETOKENIZE_H

#include <stdbool.h>
#include <stddef.h>

struct pretokenizer;

// The one that a file's tokenizer.ggml.pre names; NULL = not known here.
const struct pretokenizer *pretokenizer_find(const char *name, size_t bytes);

// Bytes of the first piece of `text`, 1 to `bytes`, which must be more than 0. Bytes that are
// no UTF-8 count as one sign each.
size_t pretokenizer_piece(const struct pretokenizer *by, const char *text, size_t bytes);

// What goes with these vocabularies where a file doesn't say: a begin token in front, and
// whether a piece that is a token as it stands is taken without merging.
bool pretokenizer_adds_bos(const struct pretokenizer *by);
bool pretokenizer_ignores_merges(const struct pretokenizer *by);

#endif
