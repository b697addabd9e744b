// See cuda_on_host.h: the fibres with their hand-overs, and the fake runtime. A warp
// runs until each of its lanes waits at the block's barrier or has ended, then the
// next one does; what stands still in any other way is a failure and is told with
// the line of the barrier or shuffle.
#include "tests/compute/cuda/cuda_on_host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <deque>
#include <map>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define HOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HOST_ASAN 1
#endif
#endif
#ifdef HOST_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifndef __x86_64__
#include <ucontext.h>
#endif

enum { STACK_BYTES = 128 << 10, MOST_THREADS = 1024, FAILURE_BYTES = 256 };
static const unsigned WARP = 32;

struct host_cuda host_cuda;
dim3 threadIdx, blockIdx, blockDim, gridDim;

static char failure[FAILURE_BYTES];

const char *host_cuda_failure(void) {
    return failure[0] ? failure : NULL;
}

void host_fail(const char *format, ...) {
    if (failure[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(failure, sizeof failure, format, args);
    va_end(args);
}

// --- Handing over ---

enum fibre_state { READY, AT_SHUFFLE, AT_BARRIER, ENDED };

struct fibre {
#ifdef __x86_64__
    void *at; // its stack pointer while it is not running
#else
    ucontext_t at;
#endif
    unsigned char *stack;
    enum fibre_state state;
    dim3 thread;
    int line;       // of the barrier or shuffle it waits at
    unsigned count; // of those it came to
    unsigned mask;
    int source;
    uint64_t given, taken;
    void *fake_stack;
};

static struct fibre fibres[MOST_THREADS], scheduler;
static struct fibre *current;
static const std::function<void()> *running;

#ifdef __x86_64__
extern "C" void host_switch(void **save, void *load);
__asm__(".text\n"
        ".globl host_switch\n"
        ".type host_switch, @function\n"
        "host_switch:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n"
        "    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n"
        "    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size host_switch, .-host_switch\n");
#endif

__attribute__((noinline)) static void hand_over(struct fibre *from, struct fibre *to, bool ends) {
#ifdef HOST_ASAN
    if (to == &scheduler)
        __sanitizer_start_switch_fiber(ends ? NULL : &from->fake_stack, scheduler.stack,
                                       scheduler.count);
    else
        __sanitizer_start_switch_fiber(&from->fake_stack, to->stack, STACK_BYTES);
#endif
    (void)ends;
#ifdef __x86_64__
    host_switch(&from->at, to->at);
#else
    swapcontext(&from->at, &to->at);
#endif
#ifdef HOST_ASAN
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

// Never returns, so that nothing of it may stay behind on the stack.
__attribute__((no_sanitize("address"))) static void enter(void) {
#ifdef HOST_ASAN
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(NULL, &bottom, &bytes);
    scheduler.stack = (unsigned char *)(uintptr_t)bottom;
    scheduler.count = (unsigned)bytes;
#endif
    (*running)();
    current->state = ENDED;
    hand_over(current, &scheduler, true);
    abort();
}

static void prepare(struct fibre *f, dim3 thread) {
    if (!f->stack) {
        f->stack = static_cast<unsigned char *>(
            mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (f->stack == MAP_FAILED)
            abort();
    }
#ifdef __x86_64__
    void **top = reinterpret_cast<void **>(f->stack + STACK_BYTES) - 2;
    top[0] = reinterpret_cast<void *>(enter);
    top[1] = NULL;
    for (int i = 1; i <= 6; i++)
        top[-i] = NULL;
    f->at = top - 6;
#else
    getcontext(&f->at);
    f->at.uc_stack.ss_sp = f->stack;
    f->at.uc_stack.ss_size = STACK_BYTES;
    f->at.uc_link = NULL;
    makecontext(&f->at, enter, 0);
#endif
    f->state = READY;
    f->thread = thread;
    f->count = 0;
    f->fake_stack = NULL;
}

// Back to the scheduler until what `f` waits for has come.
static void wait_as(enum fibre_state state, int line) {
    struct fibre *f = current;
    f->state = state;
    f->line = line;
    f->count++;
    hand_over(f, &scheduler, false);
}

void host_barrier(int line) {
    wait_as(AT_BARRIER, line);
}

uint64_t host_shuffle(uint64_t value, int source_lane, unsigned mask, int line) {
    current->given = value;
    current->source = source_lane;
    current->mask = mask;
    wait_as(AT_SHUFFLE, line);
    return current->taken;
}

// --- One block ---

static uint64_t random_state;

static unsigned random_below(unsigned count) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)((random_state >> 32) % count);
}

static void put_in_order(unsigned *order, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        order[i] = host_cuda.order == HOST_REVERSE ? count - 1 - i : i;
    if (host_cuda.order == HOST_RANDOM) {
        for (unsigned i = count; i > 1; i--) {
            unsigned other = random_below(i), kept = order[i - 1];
            order[i - 1] = order[other];
            order[other] = kept;
        }
    }
}

// Lets every lane that can run do so once. False: none could.
static bool sweep(struct fibre *lanes, unsigned count) {
    unsigned order[WARP];
    bool ran = false;
    put_in_order(order, count);
    for (unsigned i = 0; i < count; i++) {
        struct fibre *f = &lanes[order[i]];
        if (f->state != READY)
            continue;
        ran = true;
        current = f;
        threadIdx = f->thread;
        hand_over(&scheduler, f, false);
    }
    return ran;
}

// Exchanges when all lanes wait for it. False: there is nothing to exchange.
static bool exchange(struct fibre *lanes, unsigned count) {
    unsigned waiting = 0;
    for (unsigned i = 0; i < count; i++)
        waiting += lanes[i].state == AT_SHUFFLE;
    if (waiting == 0)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const struct fibre *f = &lanes[i];
        if (f->state != AT_SHUFFLE || f->line != lanes[0].line || f->count != lanes[0].count ||
            f->mask != 0xffffffffu || f->source < 0 || f->source >= (int)count) {
            host_fail("diverged shuffle: thread %u is %s line %d, thread %u is %s line %d",
                      lanes[0].thread.x, lanes[0].state == AT_SHUFFLE ? "at" : "past",
                      lanes[0].line, f->thread.x, f->state == AT_SHUFFLE ? "at" : "past", f->line);
            return false;
        }
    }
    for (unsigned i = 0; i < count; i++)
        lanes[i].taken = lanes[lanes[i].source].given;
    for (unsigned i = 0; i < count; i++)
        lanes[i].state = READY;
    return true;
}

// False: the block is over, or stands still.
static bool pass_barrier(unsigned threads) {
    unsigned waiting = 0;
    for (unsigned i = 0; i < threads; i++)
        waiting += fibres[i].state == AT_BARRIER;
    if (waiting == 0)
        return false;
    for (unsigned i = 0; i < threads; i++) {
        if (fibres[i].state != AT_BARRIER || fibres[i].line != fibres[0].line) {
            host_fail("barrier not reached by all: %u of %u threads wait, thread %u is not at "
                      "line %d",
                      waiting, threads, i, fibres[0].line);
            return false;
        }
    }
    for (unsigned i = 0; i < threads; i++)
        fibres[i].state = READY;
    return true;
}

struct shared_piece {
    void *memory;
    size_t bytes;
};
static std::map<int, shared_piece> shared_pieces;
static shared_piece dynamic_piece;

void *host_shared(int line, size_t bytes) {
    shared_piece &piece = shared_pieces[line];
    if (!piece.memory) {
        piece.memory = malloc(bytes);
        piece.bytes = bytes;
        memset(piece.memory, 0xff, bytes);
    }
    return piece.memory;
}

void *host_shared_dynamic(void) {
    return dynamic_piece.memory;
}

static void drop_shared(void) {
    for (auto &entry : shared_pieces)
        free(entry.second.memory);
    shared_pieces.clear();
}

static void run_block(unsigned threads) {
    unsigned warps = (threads + WARP - 1) / WARP;
    if (dynamic_piece.memory)
        memset(dynamic_piece.memory, 0xff, dynamic_piece.bytes);
    for (unsigned i = 0; i < threads; i++)
        prepare(&fibres[i],
                dim3(i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y));
    do {
        unsigned order[MOST_THREADS / WARP];
        put_in_order(order, warps);
        for (unsigned w = 0; w < warps && !failure[0]; w++) {
            struct fibre *lanes = &fibres[order[w] * WARP];
            unsigned count = threads - order[w] * WARP < WARP ? threads - order[w] * WARP : WARP;
            do
                while (sweep(lanes, count) && !failure[0])
                    ;
            while (!failure[0] && exchange(lanes, count));
        }
    } while (!failure[0] && pass_barrier(threads));
    drop_shared();
#ifdef HOST_ASAN
    if (failure[0]) { // fibres left in mid-air
        for (unsigned i = 0; i < threads; i++)
            __asan_unpoison_memory_region(fibres[i].stack, STACK_BYTES);
    }
#endif
}

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

static void run_grid(dim3 grid, dim3 block, size_t shared_bytes,
                     const std::function<void()> &kernel) {
    unsigned threads = block.x * block.y * block.z, blocks = grid.x * grid.y * grid.z;
    if (threads == 0 || threads > MOST_THREADS || blocks == 0 || shared_bytes > 48 << 10) {
        host_fail("a launch of %u blocks of %u threads with %zu bytes shared", blocks, threads,
                  shared_bytes);
        last_error = cudaErrorInvalidValue;
        return;
    }
    std::vector<unsigned> order(blocks);
    put_in_order(order.data(), blocks);
    dynamic_piece.memory = shared_bytes ? malloc(shared_bytes) : NULL;
    dynamic_piece.bytes = shared_bytes;
    running = &kernel;
    gridDim = grid;
    blockDim = block;
    for (unsigned i = 0; i < blocks && !failure[0]; i++) {
        unsigned b = order[i];
        blockIdx = dim3(b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y);
        run_block(threads);
    }
    free(dynamic_piece.memory);
    dynamic_piece.memory = NULL;
    if (failure[0])
        last_error = cudaErrorLaunchFailure;
}

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
    host_enqueue(stream, [=] { run_grid(grid, block, shared_bytes, kernel); });
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
    random_state = 0x9e3779b97f4a7c15ull;
    failure[0] = '\0';
    last_error = cudaSuccess;
}

void cuda_on_host_fail_after(long n) {
    host_cuda.fail_after = n;
}

// What a call returns: its own result, or the injected fault that sticks. Whatever is
// not success is the last error too, until that is asked for.
static cudaError_t called(cudaError_t result) {
    if (host_cuda.fail_after > 0)
        host_cuda.fail_after--;
    if (host_cuda.fail_after == 0 || failure[0])
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
    cudaError_t error = called(last_error);
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
        return called(cudaErrorInsufficientDriver);
    return called(host_cuda.devices ? cudaSuccess : cudaErrorNoDevice);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int device) {
    memset(out, 0, sizeof *out);
    if (device < 0 || device >= host_cuda.devices)
        return called(cudaErrorInvalidValue);
    int capability = host_cuda.old_devices >> device & 1 ? 61 : host_cuda.capability;
    snprintf(out->name, sizeof out->name, "host emulation");
    out->totalGlobalMem = host_cuda.memory_bytes;
    out->major = capability / 10;
    out->minor = capability % 10;
    out->multiProcessorCount = 4;
    return called(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= host_cuda.devices)
        return called(cudaErrorInvalidValue);
    if (host_cuda.full_devices >> device & 1)
        return called(cudaErrorMemoryAllocation);
    host_cuda.device = device;
    return called(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    *free_bytes = host_cuda.memory_bytes - host_cuda.used_bytes;
    *total_bytes = host_cuda.memory_bytes;
    return called(cudaSuccess);
}

static std::map<void *, size_t> allocated;

static void *take(size_t bytes) {
    void *memory = NULL;
    if (posix_memalign(&memory, 256, bytes ? bytes : 1) != 0)
        return NULL;
    memset(memory, 0xff, bytes); // NaN in every format
    return memory;
}

cudaError_t host_malloc(void **out, size_t bytes) {
    *out = NULL;
    bool is_refused = host_cuda.refused_allocation > 0 && --host_cuda.refused_allocation == 0;
    if (is_refused || bytes > host_cuda.memory_bytes - host_cuda.used_bytes)
        return called(cudaErrorMemoryAllocation);
    if (called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    *out = take(bytes);
    allocated[*out] = bytes;
    host_cuda.used_bytes += bytes;
    return cudaSuccess;
}

// Gives back also when the device is lost, so that leaks are leaks.
cudaError_t cudaFree(void *memory) {
    auto entry = allocated.find(memory);
    if (memory && entry == allocated.end()) {
        host_fail("cudaFree of what cudaMalloc did not give");
        return cudaErrorInvalidValue;
    }
    if (memory) {
        host_cuda.used_bytes -= entry->second;
        allocated.erase(entry);
        free(memory);
    }
    return called(cudaSuccess);
}

cudaError_t host_host_alloc(void **out, size_t bytes) {
    *out = NULL;
    if (called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    *out = take(bytes);
    return cudaSuccess;
}

cudaError_t host_device_pointer(void **out, void *memory) {
    *out = memory;
    return called(cudaSuccess);
}

cudaError_t cudaFreeHost(void *memory) {
    free(memory);
    return called(cudaSuccess);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
    if (called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    host_enqueue(stream, [=] { memcpy(to, from, bytes); });
    return cudaSuccess;
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind, cudaStream_t stream) {
    if (width > to_pitch || width > from_pitch)
        return called(cudaErrorInvalidValue);
    if (called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    host_enqueue(stream, [=] {
        for (size_t i = 0; i < height; i++)
            memcpy(static_cast<char *>(to) + i * to_pitch,
                   static_cast<const char *>(from) + i * from_pitch, width);
    });
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    if (called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    host_enqueue(stream, [=] { memset(to, value, bytes); });
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned) {
    *out = NULL;
    if (called(cudaSuccess) != cudaSuccess)
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
    return called(cudaSuccess);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
    run_waiting(stream, 1);
    return called(stream && !stream->waiting.empty() ? cudaErrorNotReady : cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *out) {
    *out = NULL;
    if (called(cudaSuccess) != cudaSuccess)
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
        return called(cudaErrorInvalidValue);
    if (called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    host_enqueue(stream, [=] {
        event->at_ns = host_global_timer();
        event->is_recorded = true;
    });
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t) {
    return called(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    if (!start->is_recorded || !end->is_recorded)
        return called(cudaErrorInvalidValue);
    *ms = (float)((double)(int64_t)(end->at_ns - start->at_ns) / 1e6);
    return called(cudaSuccess);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
    if (stream->capturing)
        return called(cudaErrorInvalidValue);
    if (called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    stream->capturing = new host_graph();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out) {
    *out = stream->capturing;
    stream->capturing = NULL;
    cudaError_t error =
        host_cuda.refuses_graphs ? cudaErrorStreamCaptureUnsupported : called(cudaSuccess);
    if (error != cudaSuccess) {
        delete *out;
        *out = NULL;
        last_error = error;
    }
    return error;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long) {
    *out = NULL;
    if (called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    *out = new host_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
    if (called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    if (host_cuda.refuses_launches)
        return called(cudaErrorInvalidValue);
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
