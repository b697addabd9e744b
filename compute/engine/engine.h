// A model opened on a device, with one worker thread that measures. The window requests,
// polls and reads prefixes; it never waits for a pass. The two share a few values under a
// lock that is held only to copy them, and the marks of the cold run, which publish.h
// passes on without a lock.
#ifndef COMPUTE_ENGINE_ENGINE_H
#define COMPUTE_ENGINE_ENGINE_H

#include "compute/base/why.h"

#include "compute/analysis/sweep.h"
#include "compute/backend/backend.h"
#include "compute/gguf/gguf.h"
#include "compute/measure/measure.h"
#include "compute/run/run.h"
#include "compute/tokenizer/tokenizer.h"

enum { ENGINE_CONTEXT = 1024 + 256 };

enum { ENGINE_WAKE_NS = 100000000 }; // between two wake-ups within one stage

struct engine;

struct engine_opts {
    const char *device;     // "auto", "cpu", "cuda", "cuda:N"; NULL = auto: a card if one
                            // works and the model fits on it, else the CPU
    const char *model_path; // GGUF
    bool bundled;           // model_path is the program's own model
    // A preset of shape.h, or NULL: random weights of that size instead of those of
    // model_path, whose tokenizer alone is then used. `script` is the text shown as its
    // answer (see generate_script); its end ends the answer.
    const char *shape, *script;
    enum gguf_tensor_type shape_type; // of its matrices; GGUF_TENSOR_F32 = the preset's
    uint64_t shape_seed;
    int threads; // 0 = physical cores this process may use
    int context; // 0 = ENGINE_CONTEXT, or the model's if that is less
    // Runs need all of them; fewer are for sweeps that measure what marks cost.
    enum backend_marks marks;
    const struct backend *backend; // for tests: this one, whatever `device` says
    // Told on the caller's thread how much of a model's file has been read, some ten times a
    // GiB; false breaks off the opening. NULL = nobody is told.
    bool (*on_loading)(void *context, size_t done_bytes, size_t total_bytes);
    void *loading_context;
};

struct engine_request {
    const int32_t *prompt; // [prompt_count] ids, copied
    int prompt_count;
    struct run_chat chat; // what frames it
    int answer_tokens;    // > 0: exactly so many, end tokens are skipped;
                          // 0: until an end token (counted), at most answer_limit
    int answer_limit;     // used when answer_tokens is 0, >= 1; cut to what fits
    float temperature, top_p_unit;
    uint64_t seed;
    int repeats;         // warm repeats that count, 1 .. MEASURE_MAX_REPEATS
    int64_t budget_ns;   // soft limit for warm-up and repeats together; at least
                         // MEASURE_MIN_REPEATS are made in any case
    int64_t settle_ns;   // rest before the first run, while a window opens
    int64_t pause_ns;    // rest between two runs, so that a window can draw
    bool wants_roofline; // also measure the device's rates, after the repeats (<= 1 s);
                         // ignored with without_cache
    // Compute everything again for every token (see generate.h); at least one repeat is
    // made in any case.
    bool without_cache;
};

// Prefill time by prompt length and step time by context, see sweep_measure.h.
struct engine_sweep_request {
    const int32_t *prompt; // [prompt_count] ids of the longest one, copied; the shorter
    int prompt_count;      // lengths use its prefixes
    int shortest;          // measures the lengths from this one on; 0 = all from 1
    int repeats;           // rounds over all lengths, 1 .. MEASURE_MAX_REPEATS
    int64_t budget_ns;     // soft; at least SWEEP_LEAST_VISITS lengths are measured
    int64_t pause_ns;      // rest between two visits
};

enum engine_stage {
    ENGINE_IDLE,
    ENGINE_COLD,
    ENGINE_WARM,
    ENGINE_REPEAT,
    ENGINE_SWEEP, // done and total count visits: a sample of one length each
    ENGINE_DONE,
    ENGINE_FAILED
};

struct engine_status {
    enum engine_stage stage;
    int done, total;  // runs of this stage; total 0 = not known (warm-up)
    uint32_t request; // which engine_start this belongs to, from 1
    struct why why;   // ENGINE_FAILED: the reason
};

// Loads the model and opens the backend, synchronously. Owner: engine_close.
bool engine_open(struct engine **out, const struct engine_opts *opts, struct why *why);
void engine_close(struct engine *engine); // stops and joins; NULL is fine

const struct tokenizer *engine_tokenizer(const struct engine *engine);
int engine_context(const struct engine *engine);
const struct model_shape *engine_shape(const struct engine *engine);
void engine_fill_info(const struct engine *engine, struct run_info *info); // device, model, ...

// Asks the worker for a measurement and returns at once. A running one is stopped first,
// at its next pass or (in a prefill) layer; a result not taken is dropped. Errors: false
// with `why` if the request cannot be met (see generate_check, repeats out of range, a
// negative time); the running measurement then continues. A lost device stays lost, with
// its first reason. Thread: the owner's.
bool engine_start(struct engine *engine, const struct engine_request *request, struct why *why);

// Asks for a sweep, under the same rules; a later request of either kind stops it. Its
// points stay until a sweep of other prompts begins; requested again, a stopped sweep
// continues. At ENGINE_DONE there is no result to take, only points.
bool engine_start_sweep(struct engine *engine, const struct engine_sweep_request *request,
                        struct why *why);

// A copy of the points so far, more and more during ENGINE_SWEEP. False: none.
bool engine_sweep_points(const struct engine *engine, struct sweep *out);

// Stops the running measurement and drops a pending request; the engine then becomes
// ENGINE_IDLE. A finished result stays. Returns at once. Thread: the owner's.
void engine_stop(struct engine *engine);

// The state of the last request: ENGINE_COLD with done 0 right after engine_start. Never
// waits for a pass. Thread: the owner's.
void engine_poll(const struct engine *engine, struct engine_status *out);

// A prefix of the cold run of the current request, growing. False: none yet.
// The prefix stays valid until the next engine_start, engine_take or engine_close.
bool engine_live(const struct engine *engine, struct run *out);

// True while a pass is being computed (a window on few cores then draws less).
bool engine_is_busy(const struct engine *engine);

// Moves a finished measurement out. False: not ENGINE_DONE, or taken already.
bool engine_take(struct engine *engine, struct measure_result *out);

// `wake` is called on the worker thread when a stage begins or ends, at most once in
// ENGINE_WAKE_NS while runs are counted, and at most once in GENERATE_WAKE_NS while the
// cold run grows: often enough for a sleeping window, too seldom to affect the measured
// times. It must be quick and thread-safe and must not call back. Set it before the first
// engine_start; NULL = none.
void engine_on_change(struct engine *engine, void (*wake)(void *context), void *context);

#endif
