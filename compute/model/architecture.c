// See architecture.h.
#include "compute/model/architecture.h"

#include <string.h>

enum { GEMMA = ARCHITECTURE_POST_NORMS | ARCHITECTURE_EMBEDDING };

static const struct architecture rows[] = {
    {.name = "llama", .models = "Llama, Mistral, TinyLlama, SmolLM2"},
    {.name = "qwen2",
     .models = "Qwen 2 and 2.5",
     .parts = ARCHITECTURE_QKV_BIASES,
     .pairs = MODEL_PAIRS_HALVES},
    {.name = "qwen3",
     .models = "Qwen 3",
     .parts = ARCHITECTURE_HEAD_NORMS,
     .pairs = MODEL_PAIRS_HALVES},
    {.name = "gemma2",
     .models = "Gemma 2",
     .parts = GEMMA | ARCHITECTURE_CAPS,
     .pairs = MODEL_PAIRS_HALVES,
     .gate = MODEL_GATE_GELU,
     .window_period = 2,
     .window = 4096,
     .wide_layers = 46},
    {.name = "gemma3",
     .models = "Gemma 3",
     .parts = GEMMA | ARCHITECTURE_HEAD_NORMS,
     .pairs = MODEL_PAIRS_HALVES,
     .gate = MODEL_GATE_GELU,
     .window_period = 6,
     .window_rope_base = 10000.0F,
     .wide_layers = 62},
    {.name = "phi3",
     .models = "Phi 3 and 4",
     .parts = ARCHITECTURE_FUSED_QKV | ARCHITECTURE_FUSED_GATE | ARCHITECTURE_LONG_ROPE,
     .pairs = MODEL_PAIRS_HALVES},
};

const struct architecture *architecture_at(int index) {
    int count = (int)(sizeof rows / sizeof rows[0]);
    return index >= 0 && index < count ? &rows[index] : NULL;
}

const struct architecture *architecture_find(const char *name, size_t bytes) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strlen(rows[i].name) == bytes && memcmp(rows[i].name, name, bytes) == 0)
            return &rows[i];
    }
    return NULL;
}
