// The numbers of a run at a moment, by name, as texts with units: what fills the places
// of a lesson's texts. Pure. A value that is not known (yet) is an em dash, never 0.
//
// No value depends on what comes after the moment, so that a growing run says the same as
// a finished one. The exceptions are `clock`, `run_total`, `time_left`, `whole_answer` and
// `recomputed`, which are about the whole run and known only once it is complete. A moment before the request counts as
// the request, one after the end as the end.
//
// "This pass" is the current one of compute/run/moment.h: the pass under way, or the one
// that ends at the moment.
#ifndef APP_LESSON_VALUES_H
#define APP_LESSON_VALUES_H

#include "compute/run/run.h"

#include <stddef.h>

// Writes the value; false if none has that name. The names:
//   lengths      prompt_tokens, answer_now, answer_tokens (once complete), fed_count
//                (answer tokens in the cache), steps (decode steps done)
//   this pass    number (of the answer token it yields), token (that token), fed (the
//                token it processes), step (number of this decode step), step_time
//   cache        cache_before (entries when this pass began), cache_now, cache_note
//                (", 160 KiB", or "" if its bytes are unknown), cache_bytes,
//                cache_read_bytes, entry_numbers, entry_bytes, entry_formula,
//                cell_numbers, weight_bytes, step_bytes, layers
//   times        time, clock ("97 / 247 units"), run_total, time_left, prefill,
//                ttft, tpot, decode (so far), step_average, total (once complete),
//                decode_share, prefill_share
//   whole run    whole_answer (its tokens), recomputed (tokens that its passes would go
//                through without a KV cache)
//   rule         rule_token (for each prompt token), rule_pass (of prefill at any length)
//   texts        prompt (its beginning), answer (so far, its end), device, model, unit
bool lesson_value(char *out, size_t bytes, const char *name, const struct run *run, int64_t t_ns);

// The name of value 0, 1, ...; NULL past the last.
const char *lesson_value_name(int index);

#endif
