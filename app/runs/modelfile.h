// What a model file is and whether it opens here, from its header alone: no weights are read.
// Says what it can about files that do not open, too.
#ifndef APP_RUNS_MODELFILE_H
#define APP_RUNS_MODELFILE_H

#include "compute/base/why.h"

#include <stdbool.h>
#include <stdint.h>

struct gguf;

enum { MODELFILE_TYPES = 16, MODELFILE_OBSTACLES = 9 };

// A type of tensors, by ggml's name, and what it takes.
struct modelfile_type {
    const char *name;
    int64_t bytes;
    bool is_known; // can be computed with here
};

// Texts are "" and numbers 0 where the file does not say.
struct modelfile {
    char name[96];         // general.name
    char architecture[32]; // general.architecture
    char tokenizer[32];    // "SentencePiece", "byte-level BPE", or as the file calls it
    char pre[32];          // how it cuts a text into pieces
    char chat[32];         // the chat format; "unknown" = a template that is not known here
    int64_t parameters;    // numbers in all tensors
    int64_t weight_bytes;  // of all tensors
    int64_t layers, width, heads, kv_heads, head_width, feed_forward, vocabulary, context;
    int64_t window; // tokens that some layers see
    int64_t experts;
    struct modelfile_type types[MODELFILE_TYPES]; // the largest first
    int type_count;
    struct why obstacles[MODELFILE_OBSTACLES]; // why it does not open; [0] is "" if it does
    int obstacle_count;
};

// `parts`: of how many files it is the first; more than one are refused. Cost: some 0.1 s for the
// largest vocabularies. Thread: any.
void modelfile_look(struct modelfile *out, const char *path, int parts);

// The same of a file that is open. `name` for its reasons.
void modelfile_read(struct modelfile *out, struct gguf *file, const char *name);

#endif
