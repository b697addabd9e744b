// See marks.cuh.
#include "compute/cuda/marks.cuh"

#include "compute/cuda/kernels.cuh"

#include "compute/cuda/weights_cuda.cuh"

extern "C" {
#include "compute/backend/check.h"
#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
}

#include <sched.h>
#include <stdlib.h>

enum {
    ROUND_TRIPS = 32,    // that tie the clocks at the start
    SPINS = 2000,        // looks at a slot before the processor is offered to others
    DRIFT_PER_MS = 100,  // ns by which two clocks may part in a millisecond
    EVENT_STEP_NS = 500, // "around 0.5 microseconds", cuda_runtime_api.h
};

struct marks {
    enum marks_kind kind;
    enum backend_marks which;
    int count;
    cudaStream_t stream;
    volatile unsigned long long *slots; // [count + 1], host memory; the last one to tie clocks
    unsigned long long *device_slots;   // the same, as the device sees it
    unsigned *arrived;                  // [1] device memory
    cudaEvent_t *events;                // [count + 1], the last one the start
    int64_t began_ns, last_ns;
    bool is_over; // the stream was waited for
    bool is_capturing;
    // host time - device time lies between; known at tied_ns.
    int64_t low_ns, high_ns, tied_ns;
    int64_t step_ns;
};

bool marks_has(const struct marks *m, int stage) {
    return backend_marks_has(m->which, stage, m->count - 1);
}

// --- The two clocks ---

// A mark of device time `device_ns` was made between two host times.
static void tie(struct marks *m, int64_t after_ns, int64_t device_ns, int64_t before_ns) {
    int64_t low = after_ns - device_ns, high = before_ns - device_ns;
    int64_t drift = (before_ns - m->tied_ns) / 1000000 * DRIFT_PER_MS;
    bool is_first = m->tied_ns == 0;
    m->low_ns = is_first || low > m->low_ns - drift ? low : m->low_ns - drift;
    m->high_ns = is_first || high < m->high_ns + drift ? high : m->high_ns + drift;
    if (m->low_ns > m->high_ns) { // one of the clocks was set
        m->low_ns = low;
        m->high_ns = high;
    }
    m->tied_ns = before_ns;
}

int64_t marks_step_ns(const struct marks *m) {
    return m->step_ns;
}

static bool find_step(struct marks *m, struct why *why) {
    m->slots[m->count] = 0;
    launch_clock_step(m->device_slots + m->count, m->stream);
    if (!device_check(cudaStreamSynchronize(m->stream), "tell the step of its clock", why) ||
        !device_check(cudaGetLastError(), "tell the step of its clock", why))
        return false;
    unsigned long long step = m->slots[m->count];
    m->step_ns = step < INT64_MAX ? (int64_t)step : INT64_MAX;
    return true;
}

static bool tie_clocks(struct marks *m, struct why *why) {
    struct stamp stamp = {m->device_slots + m->count, m->arrived};
    for (int i = 0; i < ROUND_TRIPS; i++) {
        m->slots[m->count] = 0;
        int64_t before = stopwatch_now_ns();
        launch_stamp(stamp, m->stream);
        if (!device_check(cudaStreamSynchronize(m->stream), "write the time", why) ||
            !device_check(cudaGetLastError(), "write the time", why))
            return false;
        tie(m, before, (int64_t)m->slots[m->count], stopwatch_now_ns());
    }
    return true;
}

// --- Opening and closing ---

static bool take_slots(struct marks *m, struct why *why) {
    size_t bytes = ((size_t)m->count + 1) * sizeof *m->device_slots;
    unsigned long long *slots = NULL;
    if (!device_check(cudaHostAlloc(&slots, bytes, cudaHostAllocMapped), "share memory for marks",
                      why))
        return false;
    m->slots = slots;
    return device_check(cudaHostGetDevicePointer(&m->device_slots, slots, 0),
                        "share memory for marks", why) &&
           device_check(cudaMalloc(&m->arrived, sizeof *m->arrived), "take memory for marks",
                        why) &&
           device_check(cudaMemsetAsync(m->arrived, 0, sizeof *m->arrived, m->stream),
                        "clear memory", why) &&
           find_step(m, why) && tie_clocks(m, why);
}

static bool take_events(struct marks *m, struct why *why) {
    m->events = static_cast<cudaEvent_t *>(calloc((size_t)m->count + 1, sizeof *m->events));
    if (!m->events)
        return why_set(why, "no memory for %d events", m->count + 1);
    m->step_ns = EVENT_STEP_NS;
    for (int i = 0; i <= m->count; i++) {
        if (!device_check(cudaEventCreate(&m->events[i]), "make an event", why))
            return false;
    }
    return true;
}

bool marks_create(struct marks **out, int count, enum marks_kind kind, enum backend_marks which,
                  cudaStream_t stream, struct why *why) {
    *out = NULL;
    struct marks *m = static_cast<struct marks *>(calloc(1, sizeof *m));
    if (!m)
        return why_set(why, "no memory for %d marks", count);
    m->kind = kind;
    m->which = which;
    m->count = count;
    m->stream = stream;
    bool ok = which == BACKEND_MARKS_NONE ||
              (kind == MARKS_TIMER ? take_slots(m, why) : take_events(m, why));
    if (!ok) {
        marks_destroy(m);
        return false;
    }
    *out = m;
    return true;
}

void marks_destroy(struct marks *m) {
    if (!m)
        return;
    for (int i = 0; m->events && i <= m->count; i++) {
        if (m->events[i])
            cudaEventDestroy(m->events[i]);
    }
    free(m->events);
    cudaFree(m->arrived);
    if (m->slots)
        cudaFreeHost(const_cast<unsigned long long *>(m->slots));
    free(m);
}

// --- A pass ---

void marks_begin(struct marks *m) {
    for (int i = 0; m->slots && i < m->count; i++)
        m->slots[i] = 0;
    m->is_over = false;
    m->began_ns = m->last_ns = stopwatch_now_ns();
}

void marks_capture(struct marks *m, bool is_on) {
    m->is_capturing = is_on;
}

// Without the flag an event would only be an edge of the graph, and outside a capture
// CUDA refuses the flag.
static bool record(struct marks *m, int event, struct why *why) {
    unsigned flags = m->is_capturing ? cudaEventRecordExternal : cudaEventRecordDefault;
    return device_check(cudaEventRecordWithFlags(m->events[event], m->stream, flags),
                        "record an event", why);
}

bool marks_start(struct marks *m, struct why *why) {
    return !m->events || record(m, m->count, why);
}

struct stamp marks_stamp(const struct marks *m, int stage) {
    struct stamp none = {NULL, NULL};
    struct stamp stamp = {m->device_slots + stage, m->arrived};
    return m->slots && marks_has(m, stage) ? stamp : none;
}

bool marks_put(struct marks *m, int stage, bool is_stamped, struct why *why) {
    if (!marks_has(m, stage))
        return true;
    if (m->slots && !is_stamped)
        launch_stamp(marks_stamp(m, stage), m->stream);
    return !m->events || record(m, stage, why);
}

static bool wait_for_slot(struct marks *m, int stage, struct why *why) {
    for (int spin = 1; m->slots[stage] == 0; spin++) {
        if (spin % SPINS != 0)
            continue;
        sched_yield();
        cudaError_t state = cudaStreamQuery(m->stream);
        if (state == cudaErrorNotReady) {
            // CUDA also keeps it as the last error, where it would look like a kernel's.
            cudaError_t last = cudaGetLastError();
            if (last == cudaErrorNotReady || last == cudaSuccess)
                continue;
            state = last;
        }
        if (!device_check(state, "go on", why))
            return false;
        if (m->slots[stage] == 0)
            return why_set(why, "the GPU ended its work without the mark of stage %d", stage);
    }
    return true;
}

static bool wait_for_all(struct marks *m, struct why *why) {
    if (!m->is_over && !device_check(cudaStreamSynchronize(m->stream), "go on", why))
        return false;
    m->is_over = true;
    return true;
}

// Elapsed times have a step of about half a microsecond; the pass starts on the device an
// unknown time after its launch began.
static bool event_ns(struct marks *m, int64_t *end_ns, int stage, struct why *why) {
    float ms = 0;
    if (!wait_for_all(m, why) ||
        !device_check(cudaEventElapsedTime(&ms, m->events[m->count], m->events[stage]),
                      "read an event", why))
        return false;
    *end_ns = m->began_ns + (int64_t)((double)ms * 1e6);
    return true;
}

static bool slot_ns(struct marks *m, int64_t *end_ns, int stage, struct why *why) {
    if (!wait_for_slot(m, stage, why))
        return false;
    int64_t device_ns = (int64_t)m->slots[stage];
    tie(m, m->began_ns, device_ns, stopwatch_now_ns());
    *end_ns = device_ns + m->low_ns + (m->high_ns - m->low_ns) / 2;
    return true;
}

bool marks_wait(struct marks *m, int64_t *end_ns, int stage, struct why *why) {
    *end_ns = 0;
    if (!(m->slots ? slot_ns(m, end_ns, stage, why) : event_ns(m, end_ns, stage, why)))
        return false;
    int64_t now = stopwatch_now_ns();
    if (*end_ns > now)
        *end_ns = now;
    if (*end_ns < m->last_ns)
        *end_ns = m->last_ns;
    m->last_ns = *end_ns;
    return true;
}
