// Why a model file cannot run: all at once, so that nobody gets one file after another in vain.
#ifndef COMPUTE_MODEL_OBSTACLES_H
#define COMPUTE_MODEL_OBSTACLES_H

#include "compute/base/why.h"

#include "compute/gguf/gguf.h"

// What was found by reading on: reasons that may begin with the file's name, NULL = none.
struct obstacles_more {
    const char *detail;    // about keys and tensors
    const char *tokenizer; // about the vocabulary
    bool is_kind;          // ... of a kind that this program does not have
};

// True if nothing keeps this program from running the model: neither what its header says (the
// shapes of tensors are model_from_gguf's) nor what is in `more`, which may be NULL. Else `why`
// names everything in this order: what belongs to the model, so that no other file of it will do
// (architecture, experts, unknown arithmetic, kind of tokenizer), then what another file cures
// (parts, number formats, details, a vocabulary that is missing or broken), and at the end what
// can be done.
bool obstacles_none(const struct gguf *file, const struct obstacles_more *more, struct why *why);

// The same as a list in the same order, without the file's name; what can be done is its last
// entry. Returns how many of `capacity` were written; 0: there are none.
int obstacles_list(struct why *list, int capacity, const struct gguf *file,
                   const struct obstacles_more *more);

// True if every tensor holds weights: a download that broke off, or that another program was to
// fill, leaves zeros. Looks at little of a good file. Biases may be zero.
bool obstacles_no_holes(const struct gguf *file, struct why *why);

#endif
