// Small models of random weights for the tests on the emulated device.
#ifndef TESTS_COMPUTE_CUDA_BUILT_H
#define TESTS_COMPUTE_CUDA_BUILT_H

#include "tests/compute/cuda/forward.h"

extern "C" {
#include "tests/compute/gguf/gguf_builder.h"
}

// The file's bytes stay with it.
struct built {
    struct model *model;
    uint8_t *bytes;
};

static inline struct built build(const struct gguf_builder_llama *shape) {
    struct why why = {0};
    struct gguf_builder builder;
    struct gguf *file = NULL;
    struct built built = {};
    size_t bytes;
    gguf_builder_init(&builder);
    gguf_builder_llama(&builder, shape);
    built.bytes = gguf_builder_finish(&builder, &bytes);
    gguf_builder_clear(&builder);
    assert_good(gguf_parse(&file, "built", built.bytes, bytes, &why), why.text);
    assert_good(model_from_gguf(&built.model, file, "built", &why), why.text);
    return built;
}

static inline void drop(struct built built) {
    model_close(built.model);
    free(built.bytes);
}

static const struct gguf_builder_llama small = {64, 2, 8, 4, 8, 172, 96, 96, 0, true};

#endif
