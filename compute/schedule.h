// A run made from a rule instead of a measurement: the lesson clock. The rules
// are JSON files in assets/schedules/:
//   {"name":"module-7","unit":"units","unit_ns":1000000,"layers":8,
//    "prefill":{"fixed":0,"per_token":4},"step":25,
//    "prompt":["<s>","You",...],"answer":["Your",...],
//    "prompt_tokens":18,"answer_tokens":7}
// Times are integers in units. "prompt" and "answer" are the token texts; when
// shorter than the counts they are repeated, when absent tokens are numbered.
// Inside a pass the embedding takes 1/16 of the time, the output 1/8 and the
// layers share the rest equally, to the nanosecond: nothing is known about the
// inside of a lesson's pass, and the picture says "lesson units".
#ifndef COMPUTE_SCHEDULE_H
#define COMPUTE_SCHEDULE_H

#include "run.h"

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

bool schedule_load(struct schedule *out, const char *path, char *why);
bool schedule_parse(struct schedule *out, const char *name, const char *json, size_t bytes,
                    char *why);
void schedule_clear(struct schedule *schedule);

// The whole run, complete. prompt_tokens or answer_tokens of 0 take the
// schedule's own. Owner: the caller, run_destroy.
bool schedule_run(struct run **out, const struct schedule *schedule, enum run_counting counting,
                  int prompt_tokens, int answer_tokens, char *why);

#endif
