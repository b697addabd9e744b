// The inside of an engine: what the worker and its owner exchange, and what each keeps.
#ifndef COMPUTE_ENGINE_ENGINE_PARTS_H
#define COMPUTE_ENGINE_ENGINE_PARTS_H

#include "compute/base/why.h"
#include "compute/engine/engine.h"
#include "compute/measure/sweep_measure.h"

#include <pthread.h>

// What worker and owner exchange. Allocated on its own, because getters of a const engine
// lock it, too.
struct exchange {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    // Under lock.
    bool is_closing;
    bool has_request;              // one the worker has not taken yet
    struct engine_request request; // its prompt is owned
    int sweep_from;                // > 0: the request is a sweep, from that length on
    struct engine_status status;
    bool has_result;
    struct measure_result result; // while has_result
    struct sweep sweep;           // its points so far
    struct why lost;              // why the device was lost; empty = it was not
    // Without the lock.
    _Atomic bool stop, busy;
    _Atomic uint32_t live_request; // whose cold run `publish` shows
    struct publish publish;
};

struct engine {
    // Set at open.
    const struct backend *backend;
    struct backend_state *state;
    struct model *model;
    struct tokenizer *tokenizer;
    struct generate_scratch scratch;
    struct generate_script script; // ids owned
    struct run_info info;
    int context;
    struct exchange *exchange;
    pthread_t worker;
    bool has_worker;
    // The owner's.
    uint32_t requested; // number of the last request
    bool is_taken;      // its result has been moved out, and the cold run with it
    // Set before the first request.
    void (*wake)(void *context);
    void *wake_context;
    // The worker's.
    uint32_t working_on;
    enum engine_stage woke_stage; // of the last wake-up for a status
    int64_t woke_ns;
    struct measure_result work;            // of the current or the last request
    struct sweep_work sweep;               // the current or the last one
    int32_t checked[MEASURE_CHECK_TOKENS]; // the prompt whose prefill was checked last
    int checked_count;
};

// The worker thread, for pthread_create; `context` is the engine.
void *engine_work(void *context);

#endif
