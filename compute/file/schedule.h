// A run made from a rule instead of a measurement: the lesson clock. Inside a
// pass the embedding takes 1/16 of the time, the output 1/8 and the layers share
// the rest equally, to the nanosecond: a lesson says nothing about the inside of a
// pass, and the picture says "lesson units".
//
// Format. The rules are JSON files in assets/schedules/, UTF-8, one object:
//   "name"           text of 1 .. 63 bytes, shown as the model's name
//   "unit"           text of 1 .. 15 bytes: what one unit is called ("units", "ms")
//   "unit_ns"        integer >= 1: nanoseconds on the run's clock for one unit
//   "layers"         integer 1 .. RUN_MAX_LAYERS
//   "prefill"        {"fixed": F, "per_token": T}, integers >= 0, not both 0:
//                    prefill of P prompt tokens takes F + T * P units
//   "step"           integer >= 1: units of one decode step
//   "prompt"         optional list of token texts, as a tokenizer cuts them:
//   "answer"         a leading space is U+2581 ("▁parcel"), at most
//                    RUN_TOKEN_BYTES bytes each
//   "prompt_tokens"  integer >= 1; may be left out beside a "prompt", whose length
//   "answer_tokens"  then counts; the same for "answer"
//   "comment"        optional text, ignored
// Any other key is an error, so that a misspelt key does not pass unnoticed.
//
// Control tokens. The first text of "prompt" and the last of "answer" are control
// tokens (begin and end of text) if they have the form "<...>", as in "<s>" and
// "</s>"; anywhere else "<...>" is plain text.
//
// If more tokens are wanted than texts, the control token keeps its place at the very
// front or end and the texts between are repeated; if fewer, the list is cut. Without
// texts, tokens are numbered "▁1", "▁2", ...
#ifndef COMPUTE_FILE_SCHEDULE_H
#define COMPUTE_FILE_SCHEDULE_H

#include "compute/base/why.h"

#include "compute/run/run.h"

enum { SCHEDULE_MAX_BYTES = 1 << 20 };

struct schedule {
    char name[64];
    char unit[16];
    int64_t unit_ns;
    int layers;
    int64_t prefill_fixed, prefill_per_token, step; // units
    int prompt_tokens, answer_tokens;
    char **prompt, **answer; // [prompt_texts], [answer_texts]
    int prompt_texts, answer_texts;
};

// Both fill *out whole or leave it cleared. Errors: the file with line and column
// for what is not JSON, the field for a wrong value. Owner: the caller,
// schedule_clear.
bool schedule_load(struct schedule *out, const char *path, struct why *why);
bool schedule_parse(struct schedule *out, const char *name, const char *json, size_t bytes,
                    struct why *why);
void schedule_clear(struct schedule *schedule); // a cleared or zeroed one is fine

// The whole run, complete. prompt_tokens or answer_tokens of 0 take the
// schedule's own. Under RUN_CHARGED the charged step takes "step", too.
// Owner: the caller, run_destroy.
bool schedule_run(struct run **out, const struct schedule *schedule, enum run_counting counting,
                  int prompt_tokens, int answer_tokens, struct why *why);

#endif
