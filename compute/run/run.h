// The record of one answer: prompt tokens, passes, the end of every layer of
// every pass, answer tokens. It is append-only: a worker adds to it while a
// window already reads it. What a reader may look at follows from one number,
// `mark_count`: a reader with a smaller count sees an exact prefix of the same
// record. The arrays are sized once at creation, so a shallow copy with a smaller
// `mark_count` is such a prefix (see run_prefix and publish.h).
//
// Shape. A pass is one forward pass over `column_count` tokens. With L layers it
// has exactly L + 2 marks, each the END of a stage on the run's clock:
//     mark 0            embedding
//     marks 1 .. L      layers 1 .. L
//     mark L + 1        output: final norm, logits and sampling
// Mark m of the whole run is stage m % (L + 2) of pass m / (L + 2). A stage
// starts where the one before it ended; stage 0 starts at the pass's start_ns.
// The answer token that a pass yields is out at its output mark.
//
// Order. Every pass is fixed by the one before it, except for the size of a
// prefill chunk:
//     prefill   next columns of the prompt; yields -1, but under RUN_ENGINE the
//               last one yields answer token 0
//     charged   under RUN_CHARGED only, once, after prefill: phase RUN_DECODE,
//               first_column = prompt tokens, column_count 0, yields 0
//     decode    one column, the token that the pass before it yielded; yields
//               the next one. In a run that `recomputes`, which keeps no KV cache,
//               all tokens so far, from column 0 on
//
// Time is int64_t nanoseconds from the request: token ids handed to the engine,
// no queue, no network, no tokenising. Lesson runs use the same field with
// `unit_ns` nanoseconds standing for one lesson unit. Times are 0 .. RUN_MAX_NS
// and never go backwards; zero-length stages and gaps between passes are allowed.
#ifndef COMPUTE_RUN_RUN_H
#define COMPUTE_RUN_RUN_H

#include "compute/base/why.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RUN_MAX_LAYERS = 160,
    RUN_MAX_TOKENS = 1 << 17, // prompt + answer
    RUN_TOKEN_BYTES = 128,    // longest text of one token; longer ones are cut
};

// The latest time a run may hold: 104 days. A double holds every nanosecond up
// to it, and sums and products with small numbers stay far inside int64_t.
#define RUN_MAX_NS ((int64_t)1 << 53)

enum run_origin { RUN_MEASURED, RUN_MODELLED, RUN_LESSON };
enum run_phase { RUN_PREFILL, RUN_DECODE };

// Who pays for the first answer token.
// RUN_ENGINE: it comes out of prefill; N tokens need N - 1 decode steps.
// RUN_CHARGED: a decode step is charged before it; N tokens take N steps, and
//     that first step writes no cache entry (it has column_count 0).
enum run_counting { RUN_ENGINE, RUN_CHARGED };

// RUN_OPEN: still growing. RUN_COMPLETE: ended as asked. RUN_FAILED: ended early
// (lost device, out of memory); the part before that is still true.
enum run_state { RUN_OPEN, RUN_COMPLETE, RUN_FAILED };

// What a lesson run's times follow from: prefill of P prompt tokens takes
// pass_ns + P * token_ns, a decode step step_ns. All 0 where it is unknown, as in a run
// read from a file.
struct run_rule {
    int64_t pass_ns, token_ns, step_ns;
};

// The chat format that frames the prompt, and which of its tokens are the user's own; the others
// are the format's. "" = none: all are the user's.
struct run_chat {
    char name[24];
    int system_first, system_tokens; // tokens 0 = there are none
    int question_first, question_tokens;
};

// From p10 to p90 of one figure over the repeats of a measurement. Zero = not kept.
struct run_range {
    int64_t p10_ns, p90_ns;
};

// Known before the first pass, but for what follows from the repeats. All texts are UTF-8,
// NUL-terminated and empty when unknown.
struct run_info {
    enum run_origin origin;
    enum run_counting counting;
    bool cold;          // the first run of a process: caches and clocks not warm
    bool forced_length; // the end token was ignored to reach answer_limit
    bool recomputes;    // no KV cache: every step computes all tokens again
    bool is_loaded;     // it came from a run file, not from this process; not kept there
    // Other work got into its measurement (disturbance.h): its times are shown with their
    // ranges, and nothing is concluded from them. Without that all ranges are zero.
    bool is_disturbed;
    struct run_range ttft, tpot, e2e;
    char device[16]; // "cpu", "cuda:0", "lesson"
    char device_name[96];
    char driver[64];
    char model[96];
    char weights[16];              // "bundled", "file", "synthetic", "none"
    char weight_type[16];          // "F16", ...
    char clock[32];                // "CLOCK_MONOTONIC"
    char date[32];                 // UTC, ISO 8601
    char unit[16];                 // lesson runs: what one unit is called ("units", "ms")
    int64_t unit_ns;               // lesson runs: nanoseconds that stand for one unit, > 0
    struct run_rule rule;          // lesson runs
    int threads;                   // CPU threads, 0 = not applicable
    int layers;                    // 1 .. RUN_MAX_LAYERS
    int heads, kv_heads, head_dim; // 0 .. 65,536, 0 = unknown
    int kv_value_bytes;            // bytes of one number in the KV cache, 0 .. 16
    int window_layers;             // layers that see only the last `window` tokens
    int window;                    // 0 = no layer has one
    int64_t weight_bytes;          // bytes of weights read by one decode step, 0 = unknown
    uint64_t seed;
    struct run_chat chat;
    int prompt_tokens; // >= 1
    int answer_limit;  // >= 1: the most answer tokens this run may get
};

// RUN_BYTE: a byte that has a token of its own, apart from a piece that spells the same.
enum run_token_kind { RUN_PIECE, RUN_CONTROL, RUN_BYTE };

struct run_token {
    int32_t id;           // in the model's vocabulary, -1 = none (lesson runs)
    uint32_t text_offset; // into run.text
    uint32_t text_bytes;  // raw bytes: may be part of a UTF-8 sequence
    uint32_t kind;        // enum run_token_kind; RUN_CONTROL: begin, end, what is not text
};

struct run_pass {
    enum run_phase phase;
    int first_column; // first token position it goes through
    int column_count; // tokens side by side; 0 only for a charged step
    int yields;       // index of the answer token it yields, -1 = none
    int64_t start_ns;
};

struct run {
    struct run_info info;
    // Arrays with the capacities below; only the parts that mark_count covers
    // may be read by another thread.
    struct run_token *tokens; // prompt first, then answer: [token_capacity]
    struct run_pass *passes;  // [pass_capacity]
    int64_t *mark_end_ns;     // [pass_capacity * (layers + 2)], ascending
    char *text;               // [text_capacity] bytes of all tokens, no NULs between
    int token_capacity, pass_capacity;
    size_t text_capacity;
    // The writer's own state.
    size_t text_used;
    int prompt_count; // prompt tokens added
    int answer_count; // answer tokens added (an output mark makes each visible)
    int pass_count;   // passes begun
    // What readers may see.
    int mark_count;
    enum run_state state;
};

// A run ready for `info->prompt_tokens` prompt and up to `info->answer_limit`
// answer tokens, with room for `prefill_passes` (1 .. prompt_tokens) prefill
// chunks. All memory is allocated and touched here, none while measuring. Bytes of
// the info's texts that are not printable UTF-8 become "?".
// Owner: the caller, run_destroy. Errors: false with `why`, *out NULL.
bool run_create(struct run **out, const struct run_info *info, int prefill_passes, struct why *why);
void run_destroy(struct run *run); // NULL is fine

// Writing, in this order: every prompt token; then per pass run_begin_pass, the
// answer token if it yields one (any time before the output mark), its marks.
// Each returns false with `why`, leaving the run unchanged, when the order is
// broken, time runs backwards or a capacity is reached.
// Thread: one writer; what lies below mark_count is never written again.
bool run_add_prompt_token(struct run *run, int32_t id, const char *text, size_t bytes,
                          enum run_token_kind kind, struct why *why);
bool run_begin_pass(struct run *run, const struct run_pass *pass, struct why *why);
bool run_add_answer_token(struct run *run, int32_t id, const char *text, size_t bytes,
                          enum run_token_kind kind, struct why *why);
bool run_add_mark(struct run *run, int64_t end_ns, struct why *why);

// Ends the run and drops what has no mark yet. A run that stops inside a pass, or
// without an answer token, cannot be complete and becomes RUN_FAILED. RUN_OPEN and
// a second close do nothing.
void run_close(struct run *run, enum run_state state);

// Drops passes, marks and answer, keeps info and prompt, so that the run can be
// repeated. No reader may hold a prefix of it.
void run_rewind(struct run *run);

// Checks every invariant of a run that came from outside. Errors: `why`.
bool run_validate(const struct run *run, struct why *why);

// True if the sum over passes of their stage times is within 5 % of the wall
// clock from request to last mark.
bool run_stages_match_wall(const struct run *run);

// A deep copy of what mark_count covers, with the same capacities and state.
// Owner: the caller.
bool run_copy(struct run **out, const struct run *run, struct why *why);

// The first `mark_count` marks of `run` as an open run that shares its arrays: valid
// as long as `run` is, never to be written or destroyed. `mark_count` must be 0 ..
// run->mark_count. If that many marks have been published, nothing is read that a
// writer may be changing.
void run_prefix(struct run *out, const struct run *run, int mark_count);

// --- Reading: pure, no allocation, at most one binary search. ---
// All follow from mark_count alone, so they hold for any prefix. `t_ns` may be
// any value, also negative or past the end. An index beyond what can be seen
// gives -1. What holds at one moment, all together: moment.h.

int run_stages(const struct run *run);                 // layers + 2
int run_passes_seen(const struct run *run);            // passes with at least one mark
int run_answers_seen(const struct run *run);           // answer tokens that are out
int run_marks_at(const struct run *run, int64_t t_ns); // marks with end <= t
int64_t run_end_ns(const struct run *run);             // last mark, 0 if none
int64_t run_stage_start_ns(const struct run *run, int mark);
int64_t run_pass_end_ns(const struct run *run, int pass); // last seen mark of it
int64_t run_answer_ns(const struct run *run, int answer); // when it came out
int run_answers_at(const struct run *run, int64_t t_ns);
int64_t run_cache_entry_bytes(const struct run *run); // 2 * layers * kv_heads * head_dim * bytes
// Of the KV cache after `tokens` tokens, as far as it is still read: layers with a window keep
// at most that many. 0: unknown.
int64_t run_cache_bytes(const struct run *run, int64_t tokens);
// Text of token `token` (prompt first, then answer) and its length; not
// NUL-terminated. "" and 0 for a token that cannot be seen yet.
const char *run_token_text(const struct run *run, int token, size_t *bytes);
// True for a prompt token that the chat format added.
bool run_token_is_framing(const struct run *run, int token);
// A copy of it with SentencePiece's leading U+2581 as a space. Returns the bytes;
// not NUL-terminated.
size_t run_token_words(char out[RUN_TOKEN_BYTES], const struct run *run, int token);
// The same as a word of its own, without the leading space and safe to show (see
// utf8_printable). NUL-terminated, cut to fit.
void run_token_printable(char *out, size_t out_bytes, const struct run *run, int token);

// The usual definitions; -1 as long as there is none (TPOT: up to N = 1).
int64_t run_prefill_ns(const struct run *run); // request to end of prefill
int64_t run_ttft_ns(const struct run *run);
int64_t run_e2e_ns(const struct run *run);    // to the last answer token seen
int64_t run_decode_ns(const struct run *run); // e2e - prefill
int64_t run_tpot_ns(const struct run *run);   // (e2e - ttft) / (N - 1), rounded

// Events are what one press of a clicker steps over: the request (time 0) and the
// end of every whole pass. Index 0 .. run_events() - 1.
int run_events(const struct run *run);
int64_t run_event_ns(const struct run *run, int event);
int run_event_at(const struct run *run, int64_t t_ns); // last event <= t, -1 before 0

#endif
