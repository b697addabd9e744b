// See cuda_on_host.h: the fake runtime with its cards, streams, events and graphs.
#include "tests/compute/cuda/on_host.h"

#include <stdio.h>
#include <time.h>

#include <deque>
#include <vector>

struct host_cuda host_cuda;

// --- Launches ---

struct host_graph {
    std::vector<std::function<void()>> nodes;
};

struct host_stream {
    struct host_graph *capturing;
    std::deque<std::function<void()>> waiting; // of a lazy one
};

struct host_event {
    unsigned long long at_ns;
    bool is_recorded;
};

static cudaError_t last_error;

// Runs now, or when the graph that is being captured is launched, or when a lazy stream
// is looked at.
void host_enqueue(cudaStream_t stream, const std::function<void()> &work) {
    if (stream && stream->capturing)
        stream->capturing->nodes.push_back(work);
    else if (stream && host_cuda.is_lazy)
        stream->waiting.push_back(work);
    else
        work();
}

// Does at most `most` pieces of what waits.
static void run_waiting(cudaStream_t stream, size_t most) {
    for (size_t i = 0; stream && i < most && !stream->waiting.empty(); i++) {
        std::function<void()> work = stream->waiting.front();
        stream->waiting.pop_front();
        work();
    }
}

void host_launch(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
                 const std::function<void()> &kernel) {
    host_enqueue(stream, [=] {
        cudaError_t error = host_run_grid(grid, block, shared_bytes, kernel);
        if (error != cudaSuccess)
            last_error = error;
    });
}

// --- The runtime ---

enum { TIMER_OFFSET_NS = 1000000007 };

unsigned long long host_global_timer(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    unsigned long long ns = (unsigned long long)now.tv_sec * 1000000000ull +
                            (unsigned long long)now.tv_nsec +
                            (unsigned long long)TIMER_OFFSET_NS * 1000;
    if (host_cuda.timer_back_after > 0 && --host_cuda.timer_back_after == 0)
        host_cuda.timer_back_ns = 1000000000;
    ns -= host_cuda.timer_back_ns;
    return host_cuda.timer_step_ns ? ns - ns % host_cuda.timer_step_ns : ns;
}

void host_cuda_reset(void) {
    host_cuda = (struct host_cuda){};
    host_cuda.memory_bytes = (size_t)1 << 30;
    host_cuda.devices = 1;
    host_cuda.capability = 90;
    host_cuda.driver_version = 13000;
    host_cuda.fail_after = -1;
    host_cuda.seed = 1;
    host_reset_blocks();
    last_error = cudaSuccess;
}

void cuda_on_host_fail_after(long n) {
    host_cuda.fail_after = n;
}

cudaError_t host_called(cudaError_t result) {
    if (host_cuda.fail_after > 0)
        host_cuda.fail_after--;
    if (host_cuda.fail_after == 0 || host_cuda_failure())
        result = cudaErrorLaunchFailure;
    if (result != cudaSuccess)
        last_error = result;
    return result;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "driver too old for the runtime"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
};

const char *cudaGetErrorName(cudaError_t error) {
    for (auto &row : errors) {
        if (row.error == error)
            return row.name;
    }
    return "unknown";
}

const char *cudaGetErrorString(cudaError_t error) {
    for (auto &row : errors) {
        if (row.error == error)
            return row.text;
    }
    return "unknown";
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = host_called(last_error);
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaDriverGetVersion(int *version) {
    *version = host_cuda.driver_version;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = host_cuda.devices;
    if (host_cuda.driver_version < 13000)
        return host_called(cudaErrorInsufficientDriver);
    return host_called(host_cuda.devices ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int device) {
    memset(out, 0, sizeof *out);
    if (device < 0 || device >= host_cuda.devices)
        return host_called(cudaErrorInvalidValue);
    int capability = host_cuda.old_devices >> device & 1 ? 61 : host_cuda.capability;
    snprintf(out->name, sizeof out->name, "host emulation");
    out->totalGlobalMem = host_cuda.memory_bytes;
    out->major = capability / 10;
    out->minor = capability % 10;
    out->multiProcessorCount = 4;
    return host_called(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= host_cuda.devices)
        return host_called(cudaErrorInvalidValue);
    if (host_cuda.full_devices >> device & 1)
        return host_called(cudaErrorMemoryAllocation);
    host_cuda.device = device;
    return host_called(cudaSuccess);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
    if (host_called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    host_enqueue(stream, [=] { memcpy(to, from, bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind, cudaStream_t stream) {
    if (width > to_pitch || width > from_pitch)
        return host_called(cudaErrorInvalidValue);
    if (host_called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    host_enqueue(stream, [=] {
        for (size_t i = 0; i < height; i++)
            memcpy(static_cast<char *>(to) + i * to_pitch,
                   static_cast<const char *>(from) + i * from_pitch, width);
    });
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    if (host_called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    host_enqueue(stream, [=] { memset(to, value, bytes); });
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned) {
    *out = NULL;
    if (host_called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    *out = new host_stream();
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    run_waiting(stream, SIZE_MAX);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    run_waiting(stream, SIZE_MAX);
    return host_called(cudaSuccess);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    run_waiting(stream, 1);
    return host_called(stream && !stream->waiting.empty() ? cudaErrorNotReady : cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *out) {
    *out = NULL;
    if (host_called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    *out = new host_event();
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}

// In a capture only an external event is a time; any other is an edge of the graph.
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
    bool is_capturing = stream && stream->capturing;
    if (is_capturing && flags != cudaEventRecordExternal) {
        event->is_recorded = false; // it is no time from now on
        return cudaSuccess;
    }
    if (!is_capturing && flags == cudaEventRecordExternal)
        return host_called(cudaErrorInvalidValue);
    if (host_called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    host_enqueue(stream, [=] {
        event->at_ns = host_global_timer();
        event->is_recorded = true;
    });
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t) {
    return host_called(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    if (!start->is_recorded || !end->is_recorded)
        return host_called(cudaErrorInvalidValue);
    *ms = (float)((double)(int64_t)(end->at_ns - start->at_ns) / 1e6);
    return host_called(cudaSuccess);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    if (stream->capturing)
        return host_called(cudaErrorInvalidValue);
    if (host_called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    stream->capturing = new host_graph();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out) {
    *out = stream->capturing;
    stream->capturing = NULL;
    cudaError_t error =
        host_cuda.refuses_graphs ? cudaErrorStreamCaptureUnsupported : host_called(cudaSuccess);
    if (error != cudaSuccess) {
        delete *out;
        *out = NULL;
        last_error = error;
    }
    return error;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long) {
    *out = NULL;
    if (host_called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    *out = new host_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    if (host_called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    if (host_cuda.refuses_launches)
        return host_called(cudaErrorInvalidValue);
    host_cuda.graph_launches++;
    for (auto &node : graph->nodes)
        host_enqueue(stream, node);
    return last_error;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
    delete graph;
    return cudaSuccess;
}
