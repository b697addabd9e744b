// The numbers of a run at a moment, by name, as finished texts with units: what the
// places of a lesson's texts are filled with. Pure. A value that is not there (yet) is
// an em dash, never 0.
//
// No value looks past the moment, so that a growing run says the same as a finished
// one, but for `clock`, `run_total` and `time_left`: they are about the whole run by
// their meaning and are there only once it is complete. A moment before the request
// counts as the request, one after the end as the end.
//
// "This pass" is the one under way, or the one that ends at the very moment.
#ifndef APP_LESSON_VALUES_H
#define APP_LESSON_VALUES_H

#include "compute/run/run.h"

#include <stddef.h>

// Writes the value; false: there is none of that name. The names:
//   lengths      prompt_tokens, answer_now, answer_tokens (once complete), fed_count
//                (answer tokens in the cache), steps (decode steps done)
//   this pass    number (of the answer token it yields), token (that token), fed (the
//                token that goes in), step (number of this decode step), step_time
//   cache        cache_before (entries when this pass began), cache_now, cache_note
//                (", 160 KiB", or "" where no bytes are known), cache_bytes,
//                cache_read_bytes, entry_numbers, entry_bytes, entry_formula,
//                cell_numbers, weight_bytes, step_bytes, layers
//   times        time, clock ("97 / 247 units"), run_total, time_left, prefill,
//                ttft, tpot, decode (so far), step_average, total (once complete),
//                decode_share, prefill_share
//   texts        prompt (its beginning), answer (so far, its end), device, model, unit
bool lesson_value(char *out, size_t bytes, const char *name, const struct run *run, int64_t t_ns);

const char *const *lesson_values_names(int *count);

#endif
