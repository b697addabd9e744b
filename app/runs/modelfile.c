// See modelfile.h.
#include "app/runs/modelfile.h"

#include "compute/base/utf8.h"
#include "compute/model/model.h"
#include "compute/model/tokenizer.h"

#include <stdio.h>

enum { MOST_TYPES = 64 }; // of ggml's numbers, which gguf.h has bounded

static void find_type(struct modelfile *out, const struct gguf *file) {
    size_t bytes[MOST_TYPES] = {0};
    int most = 0;
    for (int i = 0; i < gguf_tensor_count(file); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(file, i);
        if (tensor->dim_count > 1 && (unsigned)tensor->type < MOST_TYPES)
            bytes[tensor->type] += tensor->bytes;
    }
    for (int i = 1; i < MOST_TYPES; i++)
        most = bytes[i] > bytes[most] ? i : most;
    if (bytes[most] > 0)
        snprintf(out->type, sizeof out->type, "%s",
                 gguf_tensor_type_name((enum gguf_tensor_type)most));
}

void modelfile_look(struct modelfile *out, const char *path) {
    struct gguf *file;
    struct gguf_string name;
    struct tokenizer *tokenizer = NULL;
    struct model *model;
    *out = (struct modelfile){0};
    if (!gguf_open(&file, path, &out->why))
        return;
    if (gguf_string(file, "general.architecture", &name))
        utf8_printable(out->architecture, sizeof out->architecture, name.data, name.bytes);
    find_type(out, file);
    if (!model_from_gguf(&model, file, path, &out->why)) {
        gguf_close(file);
        return;
    }
    if (tokenizer_open(&tokenizer, model->file, &out->why))
        tokenizer_close(tokenizer);
    model_close(model);
}
