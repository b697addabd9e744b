// What runs a model: a table of functions, the same for the CPU and the CUDA
// plugin. One thread (the engine's worker) makes all calls on one backend state.
//
// A pass goes over `count` tokens that follow `first_position` tokens already in
// the KV cache. The backend stamps the end of the embedding and of every layer (or of
// fewer stages, see backend_marks) in nanoseconds of stopwatch_now_ns()'s clock; the
// caller stamps the output mark itself, after sampling. Everything is f32-accumulated.
#ifndef COMPUTE_BACKEND_BACKEND_H
#define COMPUTE_BACKEND_BACKEND_H

#include "compute/base/why.h"

#include "compute/analysis/rates.h"
#include "compute/model/model.h"

enum { BACKEND_ABI = 4, BACKEND_PREFILL_CHUNK = 2048, BACKEND_MAX_THREADS = 256 };

// Which stages of a pass are marked. A run needs all marks; the other kinds serve to
// measure what marks cost: the same passes with 0, 2 and layers + 1 of them.
enum backend_marks {
    BACKEND_MARKS_ALL,
    BACKEND_MARKS_ENDS, // 0 and `layers`: the first layer's start, the last one's end
    BACKEND_MARKS_NONE, // on_mark is never called
};

struct backend_opts {
    int threads; // CPU: 0 = physical cores this process may use
    int context; // KV cache length in tokens, <= shape.context
    int device;  // CUDA: the card, as CUDA numbers them; -1 = the first that works
    enum backend_marks marks;
    const char *isa; // CPU, for tests: "avx512", "avx2", "plain", NULL = best here
};

// Called on the calling thread as soon as a mark is known: stage 0 is the
// embedding, 1 .. layers the layers. Must be quick and must not call back.
typedef void backend_mark_fn(void *context, int stage, int64_t end_ns);

// Called in a pass over many tokens, at least once a layer, on the calling thread. True
// ends the pass: it returns false with the reason "stopped", the state stays good and its
// cache holds the first `first_position` tokens.
typedef bool backend_stop_fn(void *context);

struct backend_pass {
    const int32_t *tokens; // [count]
    int count;             // >= 1
    int first_position;    // 0 = a fresh cache
    float *logits;         // [vocab] of the last token, NULL = not wanted
    // The id of the last token's largest logit, the lowest of equals, as sampler_next
    // takes it greedily; -1: the largest is not a finite number. NULL = not wanted.
    // Without `logits` a device need not copy them to the host.
    int32_t *greedy_id;
    backend_mark_fn *on_mark;    // NULL is fine
    backend_stop_fn *is_stopped; // NULL is fine
    void *context;               // of the two
};

struct backend_state;

struct backend {
    int abi;          // BACKEND_ABI
    const char *name; // "cpu", "cuda"

    // How far logits of one prefill may lie from those of single steps, as a share of the
    // largest: rounding of this backend's activations, no more. 0 = 1/1000, for f32.
    double prefill_error;

    // Why this backend cannot be used here, or true.
    bool (*available)(struct why *why);

    // A line a device for `tokendrip devices`: name, memory, features, or why it cannot
    // be used. Lines are separated by newlines; a line that does not fit into `bytes` is
    // left out whole (but the first is cut): 256 bytes a card are enough.
    void (*describe)(char *out, size_t bytes);

    // Allocates weights (if it copies or makes them), cache and scratch, starts its
    // threads, touches every page. The weights of a model made from a shape
    // (model.is_made) have no data: they are made here, as shape.h says. Refuses with the
    // bytes needed and free. `model` must outlive the state.
    bool (*open)(struct backend_state **out, const struct model *model,
                 const struct backend_opts *opts, struct why *why);
    void (*close)(struct backend_state *state); // NULL is fine

    // One pass over at most BACKEND_PREFILL_CHUNK tokens. Refuses ids the model
    // does not know, a start behind the cache's end and an overflowing context, and
    // changes nothing then. After false with any other `why` but "stopped" the state is
    // lost and refuses every further pass with that reason: close it.
    bool (*pass)(struct backend_state *state, const struct backend_pass *pass, struct why *why);

    // Fills device ("cpu"), device_name, driver, threads and kv_value_bytes.
    void (*fill_info)(const struct backend_state *state, struct run_info *info);

    // Measures the device, in at most a second. working_set_bytes: what a decode step
    // reads. NULL: this backend cannot. The cache keeps its tokens.
    bool (*measure_rates)(struct backend_state *state, size_t working_set_bytes,
                          struct device_rates *out, struct why *why);

    // How often the threads that compute, all together, were taken off a processor since
    // the state was opened, although they had work: not when they gave it away while they
    // waited for one another. NULL: this backend cannot tell.
    int64_t (*switches)(struct backend_state *state);

    // For how long of all passes a thread that should compute had no processor: the others
    // waited for it, or went on without it. NULL: this backend cannot tell.
    int64_t (*lost_ns)(struct backend_state *state);
};

extern const struct backend backend_cpu; // compute/cpu/

#endif
