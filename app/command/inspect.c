// See inspect.h. This file only prints: gguf.c has checked the file and makes its texts
// printable. A long list is cut and ends with the number of lines left out.
#include "app/command/inspect.h"

#include "compute/base/figures.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/model/model.h"
#include "compute/model/tokenizer.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAX_KEYS = 200, MAX_TENSORS = 400, LINE_BYTES = 160 };

static void print_keys(const struct gguf *gguf) {
    int count = gguf_key_count(gguf);
    int shown = count < MAX_KEYS ? count : MAX_KEYS;
    printf("\n%d keys\n", count);
    for (int i = 0; i < shown; i++) {
        char line[LINE_BYTES];
        gguf_describe_key(gguf, i, line, sizeof line);
        printf("  %s\n", line);
    }
    if (shown < count)
        printf("  and %d more\n", count - shown);
}

static void print_tensor(const struct gguf_tensor *tensor) {
    char name[2 * GGUF_MAX_NAME], dims[96] = "";
    size_t used = 0;
    utf8_printable(name, sizeof name, tensor->name.data, tensor->name.bytes);
    for (int d = 0; d < tensor->dim_count; d++)
        used += (size_t)snprintf(dims + used, sizeof dims - used, "%s%" PRId64, d ? " x " : "",
                                 tensor->dims[d]);
    printf("  %-32s %-6s %10s  %s\n", name, gguf_tensor_type_name(tensor->type),
           figure_bytes((int64_t)tensor->bytes).text, dims);
}

static void print_tensors(const struct gguf *gguf) {
    int count = gguf_tensor_count(gguf);
    int shown = count < MAX_TENSORS ? count : MAX_TENSORS;
    int64_t total = 0;
    for (int i = 0; i < count; i++)
        total += (int64_t)gguf_tensor_at(gguf, i)->bytes;
    printf("\n%d tensors, %s\n", count, figure_bytes(total).text);
    for (int i = 0; i < shown; i++)
        print_tensor(gguf_tensor_at(gguf, i));
    if (shown < count)
        printf("  and %d more\n", count - shown);
}

// What cuts a text into tokens, and how a question is framed.
static void print_tokenizer(const struct gguf *gguf) {
    struct tokenizer *tokenizer = NULL;
    char line[LINE_BYTES];
    if (!tokenizer_open(&tokenizer, gguf, NULL))
        return; // the verdict says why
    tokenizer_describe(tokenizer, line, sizeof line);
    printf("\n%s\n", line);
    tokenizer_close(tokenizer);
}

// Opens the model if this program can run its tokenizer and its weights. *gguf becomes NULL:
// the model owns it from then on.
static bool open_model(struct gguf **gguf, struct model **model, struct why *why) {
    struct tokenizer *tokenizer = NULL;
    bool ok = tokenizer_open(&tokenizer, *gguf, why);
    tokenizer_close(tokenizer);
    if (!ok || !model_from_gguf(model, *gguf, gguf_name(*gguf), why))
        return false;
    *gguf = NULL;
    return true;
}

static void print_verdict(struct gguf **gguf) {
    struct model *model = NULL;
    struct why why = {0};
    if (!open_model(gguf, &model, &why)) {
        printf("\ntokendrip cannot run it: %s\n", why.text);
        return;
    }
    const struct model_shape *shape = &model->shape;
    printf("\ntokendrip can run it: %.1f million parameters, %s, %d layers, %d heads (%d for K and "
           "V) of %d, context %d, a decode step reads %s of weights\n",
           (double)model_parameters(model) / 1e6, model_weight_type(model), shape->layers,
           shape->heads, shape->kv_heads, shape->head_dim, shape->context,
           figure_bytes(model_step_weight_bytes(model)).text);
    model_close(model);
}

int inspect_command(const struct options *options, struct why *why) {
    struct gguf *gguf = NULL;
    if (!gguf_open(&gguf, options->operand, why))
        return EXIT_FAILED;
    printf("%s: GGUF version %d\n", gguf_name(gguf), gguf_version(gguf));
    print_keys(gguf);
    print_tensors(gguf);
    print_tokenizer(gguf);
    print_verdict(&gguf);
    gguf_close(gguf);
    return EXIT_OK;
}
