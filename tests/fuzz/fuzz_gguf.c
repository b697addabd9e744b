// Fuzz target: any bytes as a GGUF file, then as a model and as a vocabulary. What
// parses is read completely, so that a wrong bound shows as a read outside; what
// does not parse must leave a reason. The input is used where the fuzzer put it.
#include "compute/base/why.h"
#include "compute/gguf/gguf.h"
#include "compute/model/model.h"
#include "compute/tokenizer/tokenizer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static volatile uint8_t sink; // so that reads are not optimised away

static void read_keys(const struct gguf *file) {
    for (int i = 0; i < gguf_key_count(file); i++) {
        char line[120];
        gguf_describe_key(file, i, line, sizeof line);
        for (size_t j = 0; line[j]; j++) {
            if ((unsigned char)line[j] < 0x20)
                abort();
        }
    }
}

static void read_tensors(const struct gguf *file) {
    for (int i = 0; i < gguf_tensor_count(file); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(file, i);
        const uint8_t *data = tensor->data;
        if (tensor->bytes > 0)
            sink = (uint8_t)(data[0] + data[tensor->bytes - 1]);
    }
}

static void read_vocabulary(const struct gguf *file) {
    static const char text[] = "a b <s> \xe2\x96\x81\xff";
    struct why why;
    struct tokenizer *tokenizer;
    int32_t ids[256];
    size_t text_bytes;
    if (!tokenizer_open(&tokenizer, file, &why))
        return;
    int count = tokenizer_encode(tokenizer, ids, 256, text, sizeof text - 1, true, &why);
    for (int i = 0; i < count; i++) {
        const char *token = tokenizer_text(tokenizer, ids[i], &text_bytes);
        if (text_bytes > 0)
            sink = (uint8_t)token[text_bytes - 1];
    }
    tokenizer_close(tokenizer);
}

static void read_model(struct gguf *file) {
    struct why why;
    struct model *model;
    if (!model_from_gguf(&model, file, "fuzz.gguf", &why)) {
        gguf_close(file);
        return;
    }
    if (model_parameters(model) < 1 || model_step_weight_bytes(model) < 1 ||
        model->shape.heads % model->shape.kv_heads != 0 || model->shape.head_dim % 2 != 0)
        abort();
    const struct tensor *down = &model->layers[model->shape.layers - 1].down;
    sink = ((const uint8_t *)down->data)[down->bytes - 1];
    model_close(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    struct why why = {0};
    struct gguf *file;
    if (!gguf_parse(&file, "fuzz.gguf", data, bytes, &why)) {
        if (why.text[0] == '\0' || strchr(why.text, '\n'))
            abort();
        return 0;
    }
    read_keys(file);
    read_tensors(file);
    read_vocabulary(file);
    read_model(file);
    return 0;
}
