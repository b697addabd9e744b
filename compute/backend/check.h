// Checks that all backends share, so that they cannot disagree. Linked into the program
// and again into the CUDA plugin.
#ifndef COMPUTE_BACKEND_CHECK_H
#define COMPUTE_BACKEND_CHECK_H

#include "compute/base/why.h"

#include "compute/backend/backend.h"

// The limits of a state, see backend.h, pass.
struct backend_limits {
    int vocab;   // ids 0 .. vocab - 1
    int context; // tokens the cache has room for
    int cached;  // tokens it holds
};

// False with `why` refuses the pass.
bool backend_check_pass(const struct backend_pass *pass, const struct backend_limits *limits,
                        struct why *why);

// Called for every matrix of a model; false with `why` refuses the model.
typedef bool backend_matrix_check(const struct tensor *matrix, const char *name, bool is_made,
                                  struct why *why);

// Every matrix of the model, layer by layer, then embedding, output norm and output.
bool backend_check_matrices(const struct model *model, backend_matrix_check *check,
                            struct why *why);

// Whether the model has Llama's parts and no others, for a backend that knows only these.
bool backend_check_plain(const struct model *model, struct why *why);

// Whether query heads share the key heads evenly.
bool backend_check_heads(const struct model_shape *shape, struct why *why);

// Whether the end of `stage`, 0 .. layers, is marked; see backend_mark_fn.
bool backend_marks_has(enum backend_marks marks, int stage, int layers);

#endif
