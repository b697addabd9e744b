// A run as a file: Chrome Trace Event JSON (object form), which opens in
// Perfetto and chrome://tracing and comes back without losing a nanosecond.
//
// Format. {"displayTimeUnit":"ns","traceEvents":[...],"tokendrip":{...}}, UTF-8.
//
// traceEvents: for people and their tools; tokendrip never reads them back. Process 1 with three
// threads, named by "M" events: "passes" and "stages" hold an "X" event each, with
// "ts" and "dur" in microseconds (three decimals = nanoseconds) and args such as
// columns and KV bytes; "tokens" holds an "i" event an answer token. Bytes in args
// follow from the shapes, they are not measured.
//
// tokendrip: what is read back. Integers, texts, booleans; times in nanoseconds.
//   "version"  1. A newer one is refused; unknown keys are ignored.
//   "state"    "complete" or "failed"
//   "info"     the fields of struct run_info by their names; "origin" is
//              "measured", "modelled" or "lesson", "counting" "engine" or "charged",
//              "seed" a decimal text (it may need 64 bits)
//   "prompt"   [{"id":1,"text":"<s>","control":true}, ...]: "text" in UTF-8, or "hex"
//   "answer"   where the bytes are not UTF-8 or hold a NUL; "control" only if true; "byte" if it
//              is the token of one byte
//   "passes"   [{"phase":"prefill","first_column":0,"column_count":18,"yields":0,
//              "start_ns":0,"marks_ns":[...]}, ...]: the end of every stage; fewer
//              than layers + 2 only in the last pass of a failed run
//   "sweep"    optional, what was measured besides the run (sweep.h): {"prefill":
//              [{"tokens":1,"median_ns":...,"p10_ns":...,"p90_ns":...,"count":5}, ...],
//              "step":[...]}
//   "floors"   optional (roofline.h): {"read_bytes_s":...,"matrix_flop_s":...,
//              "is_cached":false,"prefill":{"bytes":...,"flop":...,"floor_ns":...,
//              "share_ppm":...,"is_read":false},"decode":{...}}; rounded to integers,
//              "share_ppm" -1 where it was not measured
// Of "info", "recomputes" and "disturbed" are written only if true, with the latter the ranges
// of the repeats, "ttft_p10_ns", "ttft_p90_ns" and so on for "tpot" and "e2e"; and of a chat's
// "chat" (the format's name), "system_first", "system_tokens", "question_first",
// "question_tokens" what is not 0.
// Reading trusts nothing: sizes are bounded before memory is taken, and the result passes
// run_validate. Outside "tokendrip" only quotes and brackets are followed, to find it.
// Saving a run that was loaded gives the same bytes.
#ifndef COMPUTE_FILE_RUNFILE_H
#define COMPUTE_FILE_RUNFILE_H

#include "compute/base/why.h"

#include "compute/analysis/roofline.h"
#include "compute/analysis/sweep.h"
#include "compute/run/run.h"

enum {
    RUNFILE_VERSION = 1,
    RUNFILE_MAX_BYTES = 256 << 20,
    RUNFILE_MAX_VALUES = 1 << 21, // numbers and texts in "tokendrip"
};

// What a file may keep beside its run. Zeroed = nothing.
struct runfile_extras {
    struct sweep sweep;       // without points: left out
    struct roofline roofline; // not measured: left out
};

// `path` is whole or untouched afterwards (partfile_save). Complete or failed runs only.
// `extras` NULL = none.
bool runfile_save(const char *path, const struct run *run, const struct runfile_extras *extras,
                  bool overwrite, struct why *why);

// The file's text. Owner: the caller, free(). NULL with `why` on failure.
char *runfile_print(const struct run *run, const struct runfile_extras *extras, size_t *bytes,
                    struct why *why);

// Rates that a pass of the run beats are raised (roofline_prove). Owner of the run: the
// caller, run_destroy. `extras` NULL = not wanted, but checked all the same; a file
// without any leaves *extras zeroed.
bool runfile_load(struct run **out, struct runfile_extras *extras, const char *path,
                  struct why *why);

// The same from text; `name` is used in messages only.
bool runfile_parse(struct run **out, struct runfile_extras *extras, const char *name,
                   const char *json, size_t bytes, struct why *why);

#endif
