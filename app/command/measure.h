// `tokendrip measure`: the figures of this machine as a table, JSON and CSV, and the run
// itself as a file. Measuring is done by compute/. A figure that was not measured is
// "not measured" or null, never 0.
#ifndef APP_COMMAND_MEASURE_H
#define APP_COMMAND_MEASURE_H

#include "compute/base/why.h"

#include "app/command/overhead.h"
#include "app/options/options.h"
#include "compute/analysis/sweep.h"
#include "compute/measure/measure.h"

// What one `measure` command found.
struct measured {
    struct measure_result result;
    struct sweep sweep;       // no points = none was asked for
    struct overhead overhead; // count 0 = not asked for
};

// The tables, for people.
void measure_print_table(FILE *out, const struct measured *measured);

// One JSON object, kept stable: {"run":{device, device_name, threads, model, weights,
// type, prompt_tokens, answer_tokens, repeats, date}, "prefill_ms":{median, p10,
// p90}, "step_ms", "ttft_ms", "tpot_ms", "e2e_ms"}, and where floors were measured
// "floor":{read_gb_s, matrix_gflop_s, prefill_share, decode_share}; with a sweep what
// measure_sweep.h adds, with --observer what overhead.h adds. Milliseconds as numbers,
// exact to the nanosecond. False: no memory.
bool measure_print_json(FILE *out, const struct measured *measured);

// A header and one line per figure and per point of the sweep. Each line names its run, so
// that files of several machines can be joined.
void measure_print_csv(FILE *out, const struct measured *measured);

// Only the words of the answer, as they read in a sentence.
void measure_print_answer(FILE *out, const struct run *run);

// Returns the exit code; `why` is "" or the one line to print.
int measure_command(const struct options *options, struct why *why);

#endif
