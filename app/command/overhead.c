// See overhead.h. A turn of one kind is a sweep of one length, the prompt's: it measures
// steps at that context without keeping a run, which needs all marks.
#include "app/command/overhead.h"

#include "app/runs/source.h"
#include "compute/base/num.h"
#include "compute/base/progress.h"
#include "compute/base/stopwatch.h"
#include "compute/base/why.h"

#include <stdlib.h>

enum { TURN_REPEATS = 11 };

static const int64_t TURN_BUDGET_NS = INT64_C(400000000);

static const enum backend_marks kinds[OVERHEAD_KINDS] = {BACKEND_MARKS_NONE, BACKEND_MARKS_ENDS,
                                                         BACKEND_MARKS_ALL};

// --- The numbers ---

static int compare_reals(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// By nearest rank, as all spreads here.
static double by_rank(const double *sorted, int count, int percent) {
    int rank = (count * percent + 99) / 100;
    return sorted[rank < 1 ? 0 : rank - 1];
}

void overhead_sum_up(struct overhead *out, int64_t steps_ns[OVERHEAD_KINDS][OVERHEAD_TURNS],
                     int turns, int layers) {
    const int marks[OVERHEAD_KINDS] = {0, 2, layers + 1};
    *out = (struct overhead){.count = OVERHEAD_KINDS};
    for (int kind = OVERHEAD_KINDS - 1; kind >= 0; kind--) { // kind 0 is sorted last
        double ratios[OVERHEAD_TURNS];
        for (int turn = 0; turn < turns; turn++)
            ratios[turn] = (double)steps_ns[kind][turn] / (double)steps_ns[0][turn];
        qsort(ratios, (size_t)turns, sizeof(*ratios), compare_reals);
        out->kinds[kind].marks = marks[kind];
        out->kinds[kind].ratio = by_rank(ratios, turns, 50);
        out->kinds[kind].ratio_p10 = by_rank(ratios, turns, 10);
        out->kinds[kind].ratio_p90 = by_rank(ratios, turns, 90);
        out->kinds[kind].step = spread_of_samples(steps_ns[kind], turns);
    }
}

// --- Measuring ---

static bool measure_turn(int64_t *step_ns, struct source *source, struct why *why) {
    struct sweep sweep;
    // A step needs a place behind the prompt.
    int count = min_int(source->prompt.count, engine_context(source->engine) - 1);
    struct engine_sweep_request request = {
        .prompt = source->prompt.ids,
        .prompt_count = count,
        .shortest = count,
        .repeats = TURN_REPEATS,
        .budget_ns = TURN_BUDGET_NS,
    };
    if (!engine_start_sweep(source->engine, &request, why) || !source_wait(source, NULL, why))
        return false;
    if (!engine_sweep_points(source->engine, &sweep) || sweep.step_count < 1)
        return why_set(why, "no step could be measured. Take a shorter prompt.");
    *step_ns = sweep.step[0].median_ns;
    return *step_ns > stopwatch_step_ns() || why_set(why, "a step is too short for this clock.");
}

// Every second turn goes through the kinds backwards, so that none is always the first. Turn
// -1 only warms up and is left out.
static bool take_turns(struct overhead *out, struct source sources[OVERHEAD_KINDS],
                       struct progress *progress, struct why *why) {
    int64_t steps_ns[OVERHEAD_KINDS][OVERHEAD_TURNS], unused_ns;
    struct run_info info;
    for (int turn = -1; turn < OVERHEAD_TURNS; turn++) {
        progress_say(progress, "measuring what marks cost: %d of %d", turn + 1, OVERHEAD_TURNS);
        for (int i = 0; i < OVERHEAD_KINDS; i++) {
            int kind = turn % 2 ? i : OVERHEAD_KINDS - 1 - i;
            int64_t *step_ns = turn < 0 ? &unused_ns : &steps_ns[kind][turn];
            if (!measure_turn(step_ns, &sources[kind], why))
                return false;
        }
    }
    engine_fill_info(sources[0].engine, &info);
    overhead_sum_up(out, steps_ns, OVERHEAD_TURNS, info.layers);
    return true;
}

bool overhead_measure(struct overhead *out, const struct run_request *request,
                      struct progress *progress, struct why *why) {
    struct source sources[OVERHEAD_KINDS] = {{0}};
    *out = (struct overhead){0};
    bool ok = true;
    for (int i = 0; i < OVERHEAD_KINDS && ok; i++)
        ok = source_open(&sources[i], request, &(struct source_opts){.marks = kinds[i]}, why);
    ok = ok && take_turns(out, sources, progress, why);
    for (int i = 0; i < OVERHEAD_KINDS; i++)
        source_close(&sources[i]);
    return ok;
}

// --- Writing ---

void overhead_print(FILE *out, const struct overhead *overhead) {
    fprintf(out, "\nwhat marks cost a step\n%-8s%11s%11s%11s%11s\n", "marks", "median ms", "ratio",
            "p10", "p90");
    for (int i = 0; i < overhead->count; i++)
        fprintf(out, "%-8d%11.3f%11.3f%11.3f%11.3f\n", overhead->kinds[i].marks,
                (double)overhead->kinds[i].step.median_ns / 1e6, overhead->kinds[i].ratio,
                overhead->kinds[i].ratio_p10, overhead->kinds[i].ratio_p90);
    if (overhead->count > 0)
        fprintf(out, "ratio: to the step without marks of the same turn, %d turns\n",
                overhead->kinds[0].step.count);
}

bool overhead_add_json(json_t *object, const struct overhead *overhead) {
    json_t *list = json_array();
    bool ok = true;
    for (int i = 0; i < overhead->count && ok; i++)
        ok =
            json_array_append_new(
                list, json_pack("{s:i,s:f,s:f,s:f,s:f}", "marks", overhead->kinds[i].marks,
                                "step_ms", (double)overhead->kinds[i].step.median_ns / 1e6, "ratio",
                                overhead->kinds[i].ratio, "ratio_p10", overhead->kinds[i].ratio_p10,
                                "ratio_p90", overhead->kinds[i].ratio_p90)) == 0;
    if (ok)
        return json_object_set_new(object, "observer", list) == 0; // takes it either way
    json_decref(list);
    return false;
}
