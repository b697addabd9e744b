// Opens what a model file holds, or says everything that keeps it from running (obstacles.h): one
// way for all who open one, so that they say the same.
#ifndef COMPUTE_MODEL_ACCEPT_H
#define COMPUTE_MODEL_ACCEPT_H

#include "compute/model/model.h"
#include "compute/tokenizer/tokenizer.h"

// Takes `file` on success. `name` as for model_from_gguf. Owner of both: the caller.
bool model_accept(struct model **model, struct tokenizer **tokenizer, struct gguf *file,
                  const char *name, struct why *why);

// Everything that keeps it from running, as obstacles_list has it. The file stays as it is.
int model_obstacles(struct why *list, int capacity, struct gguf *file, const char *name);

#endif
