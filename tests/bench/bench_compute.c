// How fast the CPU backend is, as one line of JSON: prefill of 18 and 256 tokens and
// a decode step after each, with the share of every stage; effective bandwidth of a
// step (weights and cache read, over its time) and GFLOP/s of the longer prefill;
// and a step with each instruction set, taken in turn so that all of them see the
// same machine. Medians; figures are printed, never asserted.
//
//     bench_compute [MODEL.gguf [THREADS]]
#include "compute/backend/backend.h"
#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
#include "compute/cpu/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 5, MOST_STAGES = RUN_MAX_LAYERS + 2, LONG_PROMPT = 256 };

static const int prompts[] = {18, LONG_PROMPT};
enum { PROMPTS = sizeof(prompts) / sizeof(prompts[0]) };

struct bench {
    const struct model *model;
    struct backend_state *state;
    int context;
    float *logits;                     // [vocab]
    int32_t tokens[LONG_PROMPT];       // any ids
    int64_t stage_end_ns[MOST_STAGES]; // of the last pass
};

static void note_mark(void *context, int stage, int64_t end_ns) {
    ((struct bench *)context)->stage_end_ns[stage] = end_ns;
}

static int stages(const struct bench *bench) {
    return bench->model->shape.layers + 2;
}

// Nanoseconds of one pass; its stages' ends are left in the bench.
static int64_t time_pass(struct bench *bench, int count, int first) {
    struct why why;
    struct backend_pass pass = {.tokens = bench->tokens,
                                .count = count,
                                .first_position = first,
                                .logits = bench->logits,
                                .on_mark = note_mark,
                                .context = bench};
    int64_t start_ns = stopwatch_now_ns();
    if (!backend_cpu.pass(bench->state, &pass, &why)) {
        fprintf(stderr, "bench_compute: %s\n", why.text);
        exit(1);
    }
    int64_t end_ns = stopwatch_now_ns();
    bench->stage_end_ns[stages(bench) - 1] = end_ns;
    return end_ns - start_ns;
}

static int compare_ns(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int64_t median_ns(int64_t *samples_ns, int count) {
    qsort(samples_ns, (size_t)count, sizeof(*samples_ns), compare_ns);
    return samples_ns[count / 2];
}

enum { REPEATS = 41 };

// A step after `position` tokens; the shares of embedding, layers and output.
static int64_t time_steps(struct bench *bench, int position, double share[3]) {
    int64_t samples_ns[REPEATS], part_ns[3] = {0};
    for (int i = 0; i < REPEATS; i++) {
        int64_t start_ns = stopwatch_now_ns();
        samples_ns[i] = time_pass(bench, 1, position);
        const int64_t *end_ns = bench->stage_end_ns;
        int last = stages(bench) - 1;
        part_ns[0] += end_ns[0] - start_ns;
        part_ns[1] += end_ns[last - 1] - end_ns[0];
        part_ns[2] += end_ns[last] - end_ns[last - 1];
    }
    double all_ns = (double)(part_ns[0] + part_ns[1] + part_ns[2]);
    for (int i = 0; i < 3; i++)
        share[i] = (double)part_ns[i] / all_ns;
    return median_ns(samples_ns, REPEATS);
}

static int64_t time_prefill(struct bench *bench, int count) {
    int64_t samples_ns[REPEATS / 4];
    for (int i = 0; i < REPEATS / 4; i++)
        samples_ns[i] = time_pass(bench, count, 0);
    return median_ns(samples_ns, REPEATS / 4);
}

static int64_t layer_weights(const struct model *model) {
    int64_t count = 0;
    for (int i = 0; i < model->shape.layers; i++) {
        const struct model_layer *l = &model->layers[i];
        const struct tensor *const matrices[] = {&l->q,    &l->k,  &l->v,   &l->attn_out,
                                                 &l->gate, &l->up, &l->down};
        for (size_t k = 0; k < sizeof(matrices) / sizeof(matrices[0]); k++)
            count += matrices[k]->rows * matrices[k]->cols;
    }
    return count;
}

// Multiplications and additions of a prefill: each weight of the layers for each
// token, scores and mixing for each pair of tokens that see each other, the output
// matrix once.
static double prefill_flop(const struct model *model, int count) {
    const struct model_shape *h = &model->shape;
    double pairs = (double)count * (count + 1) / 2;
    return 2.0 * (double)layer_weights(model) * count +
           4.0 * h->layers * h->heads * h->head_dim * pairs + 2.0 * h->vocab * h->dim;
}

static double step_bytes(const struct model *model, int position) {
    const struct model_shape *h = &model->shape;
    return (double)model_step_weight_bytes(model) +
           2.0 * h->layers * h->kv_heads * h->head_dim * sizeof(float) * position;
}

static bool open_state(struct bench *bench, int threads, const char *isa, struct why *why) {
    struct backend_opts opts = {.threads = threads, .context = bench->context, .isa = isa};
    return backend_cpu.open(&bench->state, bench->model, &opts, why);
}

static void print_lengths(struct bench *bench) {
    for (int i = 0; i < PROMPTS; i++) {
        double share[3];
        int count = prompts[i];
        if (count >= bench->context)
            continue;
        int64_t prefill_ns = time_prefill(bench, count);
        int64_t step_ns = time_steps(bench, count, share);
        printf(",\"prefill_%d_ms\":%.3f,\"prefill_%d_gflop_s\":%.1f", count,
               (double)prefill_ns / 1e6, count,
               prefill_flop(bench->model, count) / (double)prefill_ns);
        printf(",\"step_after_%d_ms\":%.4f,\"step_after_%d_gb_s\":%.1f", count,
               (double)step_ns / 1e6, count, step_bytes(bench->model, count) / (double)step_ns);
        printf(",\"step_after_%d_share\":{\"embedding\":%.3f,\"layers\":%.3f,\"output\":%.3f}",
               count, share[0], share[1], share[2]);
    }
}

// Step times of all sets within one stretch of time, and how much slower than the
// best each is.
static bool print_sets(struct bench *bench, int threads, struct why *why) {
    struct bench each[SETS];
    int64_t samples_ns[SETS][REPEATS];
    int count = 0;
    for (; count < SETS && kernels_at(count); count++) {
        each[count] = *bench;
        if (!open_state(&each[count], threads, kernels_at(count)->isa, why))
            return false;
        time_pass(&each[count], prompts[0], 0);
    }
    for (int i = 0; i < REPEATS; i++) {
        for (int k = 0; k < count; k++)
            samples_ns[k][i] = time_pass(&each[k], 1, prompts[0]);
    }
    double best_ns = (double)median_ns(samples_ns[0], REPEATS);
    printf(",\"step_by_isa\":{");
    for (int k = 0; k < count; k++) {
        double ns = k ? (double)median_ns(samples_ns[k], REPEATS) : best_ns;
        printf("%s\"%s\":{\"ms\":%.4f,\"ratio\":%.2f}", k ? "," : "", kernels_at(k)->isa, ns / 1e6,
               ns / best_ns);
        backend_cpu.close(each[k].state);
    }
    printf("}");
    return true;
}

static bool run_bench(const char *path, int threads, struct why *why) {
    static struct bench bench;
    struct model *model;
    if (!model_open(&model, path, why))
        return false;
    bench.model = model;
    bench.context = model->shape.context < 512 ? model->shape.context : 512;
    bench.logits = calloc((size_t)model->shape.vocab, sizeof(float));
    for (int i = 0; i < LONG_PROMPT; i++)
        bench.tokens[i] = i * 37 % model->shape.vocab;
    struct run_info info = {0};
    bool is_good = bench.logits && open_state(&bench, threads, NULL, why);
    if (is_good) {
        backend_cpu.fill_info(bench.state, &info);
        printf("{\"bench\":\"compute\",\"model\":\"%s\",\"type\":\"%s\",\"parameters\":%lld",
               model->name, model_weight_type(model), (long long)model_parameters(model));
        printf(",\"device\":\"%s\",\"isa\":\"%s\",\"threads\":%d", info.device_name, info.driver,
               info.threads);
        print_lengths(&bench);
        backend_cpu.close(bench.state);
        is_good = print_sets(&bench, threads, why);
        printf("}\n");
    }
    free(bench.logits);
    model_close(model);
    return is_good;
}

int main(int argc, char **argv) {
    struct why why = {"out of memory"};
    const char *path = argc > 1 ? argv[1] : TOKENDRIP_SOURCE_DIR "/assets/model/tokendrip.gguf";
    int threads = argc > 2 ? atoi(argv[2]) : 0;
    if (run_bench(path, threads, &why))
        return 0;
    fprintf(stderr, "bench_compute: %s\n", why.text);
    return 1;
}
