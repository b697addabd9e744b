// Logits for comparison: reads a JSON list of token ids from standard input, takes them as a
// prompt and COUNT greedy steps after it, and writes for each of them a JSON line: the id chosen
// and the natural logarithm of every token's probability.
//
//     logits FILE.gguf COUNT < ids
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

// `ids` has room for `steps` more.
static bool answer(struct backend_state *state, const struct model *model, int32_t *ids, int count,
                   int steps, struct why *why) {
    int vocab = model->shape.vocab, done = 0;
    float *logits = malloc((size_t)vocab * sizeof *logits);
    bool ok = logits != NULL;
    for (int step = 0; ok && step < steps; step++) {
        struct backend_pass pass = {
            .tokens = ids + done, .count = count - done, .first_position = done, .logits = logits};
        ok = backend_cpu.pass(state, &pass, why);
        if (!ok)
            break;
        done = count;
        ids[count] = best_of(logits, vocab);
        print_step(logits, vocab, ids[count++]);
    }
    free(logits);
    return ok;
}

static int32_t *read_ids(int *count, int steps) {
    json_t *list = json_loadf(stdin, 0, NULL);
    *count = (int)json_array_size(list);
    int32_t *ids = calloc((size_t)*count + (size_t)steps, sizeof *ids);
    for (int i = 0; ids && i < *count; i++)
        ids[i] = (int32_t)json_integer_value(json_array_get(list, (size_t)i));
    json_decref(list);
    return ids;
}

int main(int argc, char **argv) {
    struct why why = {0};
    struct model *model = NULL;
    struct backend_state *state = NULL;
    int count = 0, steps = argc == 3 ? atoi(argv[2]) : 0;
    int32_t *ids = steps > 0 ? read_ids(&count, steps) : NULL;
    bool ok = ids && count > 0 && model_open(&model, argv[1], &why);
    if (ok) {
        struct backend_opts opts = {.threads = 2, .context = count + steps};
        ok = backend_cpu.open(&state, model, &opts, &why) &&
             answer(state, model, ids, count, steps, &why);
    }
    if (!ok)
        fprintf(stderr, "%s\n", why.text[0] ? why.text : "usage: logits FILE.gguf COUNT < ids");
    if (state)
        backend_cpu.close(state);
    model_close(model);
    free(ids);
    return ok ? 0 : 1;
}
