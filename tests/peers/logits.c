// Logits for comparison: reads two JSON lists of token ids from standard input, a prompt and an
// answer that is taken as it is, and writes for each place of the answer a JSON line: the id that
// is the likeliest there and the natural logarithm of every token's probability.
//
//     logits FILE.gguf < [[prompt], [answer]]
#include "compute/backend/backend.h"
#include "compute/base/why.h"
#include "compute/model/model.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void print_step(const float *logits, int vocab, int best) {
    double most = (double)logits[best], sum = 0;
    for (int i = 0; i < vocab; i++)
        sum += exp((double)logits[i] - most);
    printf("{\"id\": %d, \"logs\": [", best);
    for (int i = 0; i < vocab; i++)
        printf("%s%.6g", i ? ", " : "", (double)logits[i] - most - log(sum));
    printf("]}\n");
}

static int best_of(const float *logits, int vocab) {
    int best = 0;
    for (int i = 1; i < vocab; i++)
        best = logits[i] > logits[best] ? i : best;
    return best;
}

// The ids of a prompt, and of the answer after it.
struct text {
    int32_t *ids; // [prompt + answer]
    int prompt, answer;
};

static bool answer(struct backend_state *state, const struct model *model, const struct text *text,
                   struct why *why) {
    int vocab = model->shape.vocab;
    float *logits = malloc((size_t)vocab * sizeof *logits);
    bool ok = logits != NULL;
    for (int i = 0, done = 0; ok && i < text->answer; i++) {
        int count = text->prompt + i - done;
        struct backend_pass pass = {
            .tokens = text->ids + done, .count = count, .first_position = done, .logits = logits};
        ok = backend_cpu.pass(state, &pass, why);
        done += count;
        if (ok)
            print_step(logits, vocab, best_of(logits, vocab));
    }
    free(logits);
    return ok;
}

static bool read_text(struct text *out) {
    json_t *lists = json_loadf(stdin, 0, NULL);
    const json_t *prompt = json_array_get(lists, 0), *answer = json_array_get(lists, 1);
    *out = (struct text){NULL, (int)json_array_size(prompt), (int)json_array_size(answer)};
    out->ids = calloc((size_t)(out->prompt + out->answer) + 1, sizeof *out->ids);
    for (int i = 0; out->ids && i < out->prompt + out->answer; i++) {
        const json_t *id = i < out->prompt ? json_array_get(prompt, (size_t)i)
                                           : json_array_get(answer, (size_t)(i - out->prompt));
        out->ids[i] = (int32_t)json_integer_value(id);
    }
    json_decref(lists);
    return out->ids && out->prompt > 0 && out->answer > 0;
}

int main(int argc, char **argv) {
    struct why why = {0};
    struct model *model = NULL;
    struct backend_state *state = NULL;
    struct text text = {0};
    bool ok = argc == 2 && read_text(&text) && model_open(&model, argv[1], &why);
    if (ok) {
        struct backend_opts opts = {.threads = 2, .context = text.prompt + text.answer};
        ok = backend_cpu.open(&state, model, &opts, &why) && answer(state, model, &text, &why);
    }
    if (!ok)
        fprintf(stderr, "%s\n",
                why.text[0] ? why.text : "usage: logits FILE.gguf < [[prompt], [answer]]");
    if (state)
        backend_cpu.close(state);
    model_close(model);
    free(text.ids);
    return ok ? 0 : 1;
}
