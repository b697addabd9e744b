// Test only. Lets kernel sources and the CUDA host side compile with a plain C++
// compiler: a block's threads are fibres on one operating-system thread, barriers and
// shuffles hand over from fibre to fibre, memory is the host's. It finds barriers and
// shuffles that not every thread reaches, misaligned vector loads and reads of what
// nobody wrote (fresh memory is NaN), and it runs lanes forward, in reverse and at
// random, so that logic which leans on an order fails. It cannot show races that need
// real concurrency, memory ordering between blocks, or any time.
#ifndef TESTS_COMPUTE_CUDA_CUDA_ON_HOST_H
#define TESTS_COMPUTE_CUDA_CUDA_ON_HOST_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <functional>

#include "tests/compute/cuda/host_cuda.h"

// --- Words of the language ---

#define __global__ static
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {
    }
};

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};

extern dim3 threadIdx, blockIdx, blockDim, gridDim;

// --- Inside a kernel ---

void host_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void host_barrier(int line);
uint64_t host_shuffle(uint64_t value, int source_lane, unsigned mask, int line);
void *host_shared(int line, size_t bytes); // the block's own, the same for all its threads
void *host_shared_dynamic(void);

#define SHARED(type, name, count)                                                                  \
    type *const name = static_cast<type *>(host_shared(__LINE__, sizeof(type) * (count)))
#define SHARED_DYNAMIC(type, name) type *const name = static_cast<type *>(host_shared_dynamic())

static inline int host_lane(void) {
    return (int)(threadIdx.x % 32);
}

static inline void __syncthreads(int line = __builtin_LINE()) {
    host_barrier(line);
}

static inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) {
    host_shuffle(0, host_lane(), mask, line);
}

template <class T> static T host_exchange(unsigned mask, T value, int source, int line) {
    static_assert(sizeof(T) <= sizeof(uint64_t), "shuffles move 8 bytes at most");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = host_shuffle(bits, source, mask, line);
    memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T>
static T __shfl_sync(unsigned mask, T value, int lane, int line = __builtin_LINE()) {
    return host_exchange(mask, value, lane & 31, line);
}

template <class T>
static T __shfl_xor_sync(unsigned mask, T value, int other, int line = __builtin_LINE()) {
    return host_exchange(mask, value, host_lane() ^ other, line);
}

template <class T>
static T __shfl_down_sync(unsigned mask, T value, int delta, int line = __builtin_LINE()) {
    int lane = host_lane();
    return host_exchange(mask, value, lane + delta < 32 ? lane + delta : lane, line);
}

static inline void __threadfence(void) {
}
static inline void __threadfence_system(void) {
}

static inline unsigned atomicAdd(unsigned *at, unsigned value) {
    unsigned before = *at;
    *at = before + value;
    return before;
}

static inline int host_dp4a(int a, int b, int sum) {
    for (int i = 0; i < 4; i++)
        sum += (int)(int8_t)(a >> (8 * i)) * (int)(int8_t)(b >> (8 * i));
    return sum;
}

// Loads that fault on the device when they are not aligned.
template <class T> static T host_load(const void *from, int line = __builtin_LINE()) {
    T value;
    if ((uintptr_t)from % alignof(T) != 0)
        host_fail("line %d: a load of %zu bytes from an address that is not a multiple of it", line,
                  sizeof(T));
    memcpy(&value, from, sizeof value);
    return value;
}

template <class T> static void host_store(void *to, T value, int line = __builtin_LINE()) {
    if ((uintptr_t)to % alignof(T) != 0)
        host_fail("line %d: a store of %zu bytes to an address that is not a multiple of it", line,
                  sizeof(T));
    memcpy(to, &value, sizeof value);
}

// An invented offset to the host's clock, so that nobody takes one for the other.
unsigned long long host_global_timer(void);

// --- Launches and the runtime: synchronous, on the host's memory ---

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorNotReady = 600,
    cudaErrorLaunchFailure = 719,
    cudaErrorStreamCaptureUnsupported = 900,
};

typedef struct host_stream *cudaStream_t;
typedef struct host_event *cudaEvent_t;
typedef struct host_graph *cudaGraph_t;
typedef struct host_graph *cudaGraphExec_t;

enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed };
enum {
    cudaStreamNonBlocking = 1,
    cudaHostAllocMapped = 2,
    cudaEventRecordDefault = 0,
    cudaEventRecordExternal = 1,
};

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem;
    int major, minor, multiProcessorCount;
};

void host_launch(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
                 const std::function<void()> &kernel);

template <class K, class... A>
static void host_launch_kernel(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream,
                               K kernel, A... args) {
    host_launch(grid, block, shared_bytes, stream, [=] { kernel(args...); });
}

#define LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                     \
    host_launch_kernel(dim3(grid), dim3(block), shared_bytes, stream, kernel, ##__VA_ARGS__)

// Puts any other work on a stream.
void host_enqueue(cudaStream_t stream, const std::function<void()> &work);

const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t host_malloc(void **out, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t host_host_alloc(void **out, size_t bytes);
cudaError_t host_device_pointer(void **out, void *memory);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *out);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph);

template <class T> static cudaError_t cudaMalloc(T **out, size_t bytes) {
    return host_malloc(reinterpret_cast<void **>(out), bytes);
}
template <class T> static cudaError_t cudaHostAlloc(T **out, size_t bytes, unsigned) {
    return host_host_alloc(reinterpret_cast<void **>(out), bytes);
}
template <class T> static cudaError_t cudaHostGetDevicePointer(T **out, void *memory, unsigned) {
    return host_device_pointer(reinterpret_cast<void **>(out), memory);
}

#endif
