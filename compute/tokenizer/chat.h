// Chat formats: how a model expects a question to be framed. Which one a file wants is
// recognised by what its template's text holds (as llama.cpp's llm_chat_detect_template does);
// templates are programs, and none is ever run.
#ifndef COMPUTE_TOKENIZER_CHAT_H
#define COMPUTE_TOKENIZER_CHAT_H

#include "compute/base/why.h"

#include "compute/run/run.h"
#include "compute/tokenizer/tokenizer.h"

#define CHAT_NAMES                                                                                 \
    "chatml, llama3, gemma, llama2, phi3, phi4, mistral-v1, -v3, -tekken, -v7, -v7-tekken"

struct chat_format;

const struct chat_format *chat_find(const char *name); // NULL = none of CHAT_NAMES
const struct chat_format *chat_recognise(const char *text, size_t bytes); // NULL = not known
const char *chat_name(const struct chat_format *format);

// The system text that a ChatML template gives where the user gives none, as its literal text;
// *bytes 0 = none.
const char *chat_own_system(const char *text, size_t template_bytes, size_t *bytes);

// A question to be framed. The user's texts are encoded as text: no control token can come of
// them.
struct chat {
    const struct chat_format *format;
    const char *system, *question;
    size_t system_bytes, question_bytes; // system_bytes 0 = none
};

// Token ids of the whole prompt up to where the answer begins, the begin token included where
// the model adds one; *marks says which are the user's own. Owner of *ids: the caller, free().
// Returns the count, or -1 with `why` as tokenizer_encode does.
int chat_encode(int32_t **ids, struct run_chat *marks, const struct tokenizer *tokenizer,
                const struct chat *chat, struct why *why);

#endif
