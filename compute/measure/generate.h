// One answer, measured: prefill, then decode steps until the answer ends, each
// stage's end written into a run as it happens. Inside a timed pass nothing is
// allocated, printed or waited for; a token's text is copied before its output
// mark (a few nanoseconds, measured with the rest of the output stage).
//
// An answer ends with an end token (which counts; with a script, its last token), with the
// requested number of tokens, or with a full KV cache. In all three cases the run is
// RUN_COMPLETE; fewer tokens than info.answer_limit without an end token mean that the
// cache was full.
#ifndef COMPUTE_MEASURE_GENERATE_H
#define COMPUTE_MEASURE_GENERATE_H

#include "compute/base/why.h"

#include "compute/backend/backend.h"
#include "compute/model/sampler.h"
#include "compute/run/publish.h"
#include "compute/tokenizer/tokenizer.h"

#include <stdatomic.h>

enum { GENERATE_WAKE_NS = 33000000 }; // on_grown comes at most this often

// Buffers for one answer at a time. Owner: generate_scratch_clear.
struct generate_scratch {
    float *logits;  // [vocab], of the last pass
    float *sorted;  // [vocab], for the sampler
    int32_t *order; // [vocab], for the sampler
    int32_t *ends;  // [end_count]: tokens that end an answer
    int end_count;
};

// Words for a model with random weights, which has none of its own: answer token n shows
// the text of ids[n % count], whatever id the model chose and was fed back. Unless an
// exact length is requested, the answer ends with the script.
struct generate_script {
    const int32_t *ids; // of the tokenizer; [count]
    int count;          // 0 = the model's own words
};

struct generate {
    // What runs it; all of it outlives the call.
    const struct backend *backend;
    struct backend_state *state;
    const struct tokenizer *tokenizer;
    const struct generate_scratch *scratch;
    struct generate_script script;
    int vocab, context; // of the state
    // What is asked.
    const int32_t *prompt; // [prompt_count], checked by generate_check
    int prompt_count;
    int answer_tokens;      // > 0: exactly so many, end tokens are skipped
    int answer_limit;       // used when answer_tokens is 0
    struct sampler sampler; // its state is not used: every run starts from the seed
    // Each step computes all tokens so far again, from position 0. A pass of more than
    // BACKEND_PREFILL_CHUNK tokens is computed in chunks; its marks are those of the last
    // chunk, when all columns have passed a stage.
    bool without_cache;
    // Each may be NULL; called on the calling thread.
    const _Atomic bool *stop;        // true ends the answer at its next pass or layer
    _Atomic bool *busy;              // true while passes are being computed
    void (*on_grown)(void *context); // after marks were published; must be quick
    void *watcher;                   // on_grown's context
};

// GENERATE_LOST: a pass failed, and the backend's state with it: no more calls on it.
enum generate_end { GENERATE_DONE, GENERATE_STOPPED, GENERATE_FAILED, GENERATE_LOST };

// Allocates the buffers. Errors: false with `why`, nothing is allocated.
bool generate_scratch_create(struct generate_scratch *out, const struct tokenizer *tokenizer,
                             int vocab, struct why *why);
void generate_scratch_clear(struct generate_scratch *scratch); // zeroed is fine

// False with `why` when the request cannot be met: no prompt, an id the model does
// not know, settings out of range, or more tokens than the context holds (an exact
// length must fit whole; a limit is cut to what fits).
bool generate_check(const struct generate *generate, struct why *why);

// A run for this request that holds the prompt's tokens; `info` describes device and
// model. Owner: the caller, run_destroy.
bool generate_prepare(struct run **out, const struct generate *generate,
                      const struct run_info *info, struct why *why);

// One pass of backend.h. STOPPED only if the backend gives that reason: a device lost
// while a stop was requested is lost.
enum generate_end generate_pass(const struct generate *generate, const struct backend_pass *pass,
                                struct why *why);

// Whether a stop was requested.
bool generate_is_stopped(const struct generate *generate);

// Sets `why` to "stopped" and returns GENERATE_STOPPED.
enum generate_end generate_stopped(struct why *why);

// Sets *busy, if there is one.
void generate_set_busy(const struct generate *generate, bool is_busy);

// Fills a prepared (or rewound) run; time 0 is right before its first pass. Marks
// go out through `publish` as they are made, if it is given: publish_begin has been
// called, publish_end is called here. `why` is set unless GENERATE_DONE; the run is
// then RUN_FAILED and what is in it is still true.
enum generate_end generate_answer(struct run *run, const struct generate *generate,
                                  struct publish *publish, struct why *why);

#endif
