// See cuda_on_host.h: the threads of a block as fibres with their hand-overs. A warp runs
// until each of its lanes waits at the block's barrier or has ended, then the next one
// does; what stands still in any other way is a failure and is told with the line of the
// barrier or shuffle.
#include "tests/compute/cuda/on_host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

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

// --- A grid ---

cudaError_t host_run_grid(dim3 grid, dim3 block, size_t shared_bytes,
                          const std::function<void()> &kernel) {
    unsigned threads = block.x * block.y * block.z, blocks = grid.x * grid.y * grid.z;
    if (threads == 0 || threads > MOST_THREADS || blocks == 0 || shared_bytes > 48 << 10) {
        host_fail("a launch of %u blocks of %u threads with %zu bytes shared", blocks, threads,
                  shared_bytes);
        return cudaErrorInvalidValue;
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
    return failure[0] ? cudaErrorLaunchFailure : cudaSuccess;
}

void host_reset_blocks(void) {
    random_state = 0x9e3779b97f4a7c15ull;
    failure[0] = '\0';
}
