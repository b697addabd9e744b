// The prompt as token ids: the user's text, the default prompt, or a prompt of exactly N
// tokens. The last is joined from ids, not from text, so that its length is exact: begin
// token, instruction, the end of the shop's policy cut at a token, question.
#ifndef APP_RUNS_PROMPT_H
#define APP_RUNS_PROMPT_H

#include "compute/base/why.h"

#include "app/runs/request.h"
#include "compute/run/run.h"
#include "compute/tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>

#define PROMPT_INSTRUCTION "You are a support agent. Answer from the policy."
#define PROMPT_QUESTION "Where is my parcel?"
#define PROMPT_DEFAULT PROMPT_INSTRUCTION " " PROMPT_QUESTION

struct prompt {
    int32_t *ids; // [count], owned
    int count;    // >= 1
    struct run_chat chat;
};

// What the request asks for. Reads its prompt file and, for a built prompt, the asset
// model/policy.txt. Owner: prompt_clear.
bool prompt_from_request(struct prompt *out, const struct tokenizer *tokenizer,
                         const struct run_request *request, struct why *why);

// The ids of a text, framed as the request's chat format says, begin token included where the
// model has one.
bool prompt_from_text(struct prompt *out, const struct tokenizer *tokenizer,
                      const struct run_request *request, const char *text, size_t bytes,
                      struct why *why);

// Exactly `tokens` >= 1 ids, with the asset model/policy.txt.
bool prompt_of_length(struct prompt *out, const struct tokenizer *tokenizer, int tokens,
                      struct why *why);

// The same with the policy as text: its lines are trimmed and joined by one space, cut at the
// front, and repeated if too short. Prompts no longer than the default one are its begin token
// and its last tokens.
bool prompt_build(struct prompt *out, const struct tokenizer *tokenizer, int tokens,
                  const char *policy, struct why *why);

void prompt_clear(struct prompt *prompt); // a zeroed one is fine

#endif
