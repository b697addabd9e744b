// See accept.h.
#include "compute/model/accept.h"

#include "compute/model/obstacles.h"

struct attempt {
    struct model *model;
    struct tokenizer *tokenizer;
    struct why detail, words;
    struct obstacles_more more; // points into the two above
};

static void try(struct attempt *out, struct gguf *file, const char *name) {
    *out = (struct attempt){.more.is_kind = tokenizer_is_of_unknown_kind(file)};
    if (!tokenizer_open(&out->tokenizer, file, &out->words))
        out->more.tokenizer = out->words.text;
    if (obstacles_none(file, NULL, NULL) && !model_from_gguf(&out->model, file, name, &out->detail))
        out->more.detail = out->detail.text;
}

static void undo(struct attempt *attempt) {
    if (attempt->model)
        attempt->model->file = NULL; // stays the caller's
    model_close(attempt->model);
    tokenizer_close(attempt->tokenizer);
}

bool model_accept(struct model **model, struct tokenizer **tokenizer, struct gguf *file,
                  const char *name, struct why *why) {
    struct attempt attempt;
    try(&attempt, file, name);
    bool ok = attempt.model && attempt.tokenizer;
    *model = ok ? attempt.model : NULL;
    *tokenizer = ok ? attempt.tokenizer : NULL;
    if (!ok) {
        obstacles_none(file, &attempt.more, why);
        undo(&attempt);
    }
    return ok;
}

int model_obstacles(struct why *list, int capacity, struct gguf *file, const char *name) {
    struct attempt attempt;
    try(&attempt, file, name);
    int count = obstacles_list(list, capacity, file, &attempt.more);
    undo(&attempt);
    return count;
}
