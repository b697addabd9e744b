// A run as a file: Chrome Trace Event JSON (object form), which opens in
// Perfetto and chrome://tracing and comes back without losing a nanosecond.
//
// Format. {"displayTimeUnit":"ns","traceEvents":[...],"tokendrip":{...}}
//   traceEvents: for people and their tools. One "X" event a stage and a pass
//   with "ts"/"dur" in microseconds (decimal, three places = nanoseconds), thread
//   names as "M" events, an "i" event an answer token.
//   tokendrip: what is read back, integers only: version, info, prompt, passes,
//   marks, answer; token text as UTF-8 string, or "hex" where bytes are not UTF-8.
// Reading trusts nothing: sizes are bounded before memory is taken, and the
// result passes run_validate. Saving a run that was loaded gives the same bytes.
#ifndef COMPUTE_RUNFILE_H
#define COMPUTE_RUNFILE_H

#include "run.h"

enum { RUNFILE_MAX_BYTES = 256 << 20 };

// Writes to `path`.part, syncs and renames, so `path` is whole or untouched.
bool runfile_save(const char *path, const struct run *run, char *why);

// The file's text. Owner: the caller, free(). NULL with `why` on failure.
char *runfile_print(const struct run *run, size_t *bytes, char *why);

bool runfile_load(struct run **out, const char *path, char *why);

// `name` is used in messages only.
bool runfile_parse(struct run **out, const char *name, const char *json, size_t bytes, char *why);

#endif
