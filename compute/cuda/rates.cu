// See rates.cuh. Reading: every block sums its share of a buffer as large as a decode
// step's weights, 16 bytes a lane and several loads in flight, as the decode kernels
// do. Multiplying: one large bf16 product, on numbers that are not zeros, since zeros
// make a GPU faster than it is. The best of several, by the host's clock around work
// that is long enough for that.
#include "compute/cuda/rates.cuh"

#include "compute/cuda/kernels.cuh"
#include "compute/cuda/weights_cuda.cuh"

extern "C" {
#include "compute/base/stopwatch.h"
#include "compute/base/why.h"
}

enum {
    THREADS = 256,
    BLOCKS = 132 * 8,
    IN_FLIGHT = 4,
    ROUNDS = 8,
    PRODUCT_DIM = 4096,
    CACHE_BYTES = 64 << 20, // what a last-level cache may hold
    MOST_BYTES = 1 << 30,   // read at most so much: as good as all
    LEAST_NS = 2000000,     // that is timed together, so that a launch is nothing to it
    MOST_TIMES = 256,
};

struct read_args {
    const unsigned char *from;
    size_t vectors;
    unsigned *sink; // [BLOCKS]
    int times;
};

// The sums only keep the compiler from leaving the reads out.
KERNEL void __launch_bounds__(THREADS) read_kernel(struct read_args args) {
    const size_t step = (size_t)gridDim.x * THREADS, first = (size_t)blockIdx.x * THREADS;
    unsigned sum = 0;
    for (int time = 0; time < args.times; time++) {
        for (size_t at = first + threadIdx.x; at < args.vectors; at += step * IN_FLIGHT) {
            uint4 v[IN_FLIGHT];
            UNROLL
            for (int u = 0; u < IN_FLIGHT; u++) {
                v[u] = {};
                if (at + u * step < args.vectors)
                    v[u] = load_vector(args.from + (at + u * step) * 16);
            }
            UNROLL
            for (int u = 0; u < IN_FLIGHT; u++)
                sum += v[u].x ^ v[u].y ^ v[u].z ^ v[u].w;
        }
    }
    sum = warp_sum(sum);
    if (lane_of() == 0)
        atomicAdd(&args.sink[blockIdx.x], sum);
}

struct bench {
    unsigned char *memory;
    unsigned *sink;
    struct gemm *gemm;
    cudaStream_t stream;
    size_t bytes; // of memory
};

// Work to be timed, put `times` times on the stream.
typedef bool work_fn(struct bench *b, size_t size, int times, struct why *why);

static bool do_read(struct bench *b, size_t bytes, int times, struct why *why) {
    struct read_args args = {};
    args.from = b->memory;
    args.vectors = bytes / 16;
    args.sink = b->sink;
    args.times = times;
    LAUNCH(read_kernel, (unsigned)BLOCKS, (unsigned)THREADS, 0, b->stream, args);
    return device_check(cudaGetLastError(), "read its memory", why);
}

static bool do_products(struct bench *b, size_t dim, int times, struct why *why) {
    struct gemm_call call = {};
    const size_t square = dim * dim;
    call.in = b->memory;
    call.weights = b->memory + square * 2;
    call.out = reinterpret_cast<float *>(b->memory + square * 4);
    call.tokens = call.rows = call.cols = (int)dim;
    call.out_stride = call.in_stride = call.weights_stride = (int)dim;
    call.type = GEMM_BF16;
    for (int i = 0; i < times; i++) {
        if (!gemm_run(b->gemm, &call, b->stream, why))
            return false;
    }
    return true;
}

static bool took(int64_t *ns, struct bench *b, size_t size, int times, work_fn *work,
                 struct why *why) {
    int64_t start_ns = stopwatch_now_ns();
    if (!work(b, size, times, why) ||
        !device_check(cudaStreamSynchronize(b->stream), "be measured", why))
        return false;
    *ns = stopwatch_now_ns() - start_ns;
    *ns = *ns > 0 ? *ns : 1;
    return true;
}

// Nanoseconds of the work done once, at best. The first run does not count.
static bool best_of(double *best_ns, struct bench *b, size_t size, work_fn *work, struct why *why) {
    int64_t ns;
    if (!took(&ns, b, size, 1, work, why) || !took(&ns, b, size, 1, work, why))
        return false;
    int64_t wanted = LEAST_NS / ns + 1;
    int times = wanted < MOST_TIMES ? (int)wanted : (int)MOST_TIMES;
    *best_ns = (double)ns;
    for (int i = 0; i < ROUNDS; i++) {
        if (!took(&ns, b, size, times, work, why))
            return false;
        *best_ns = (double)ns / times < *best_ns ? (double)ns / times : *best_ns;
    }
    return true;
}

static void fill(struct bench *b, size_t dim) {
    struct make_args args = {};
    args.to.type = WEIGHT_BF16;
    args.to.rows = (int)(2 * dim);
    args.to.cols = args.to.stride = (int)dim;
    args.to.data = b->memory;
    args.scale = 1e-5f;
    launch_make(args, b->stream);
}

static bool measure(struct device_rates *out, struct bench *b, size_t read_bytes, size_t dim,
                    struct why *why) {
    double read_ns, product_ns;
    fill(b, dim);
    if (!best_of(&product_ns, b, dim, do_products, why) ||
        !best_of(&read_ns, b, read_bytes, do_read, why))
        return false;
    out->read_bytes_s = (double)(read_bytes / 16 * 16) / read_ns * 1e9;
    out->matrix_flop_s = 2 * (double)dim * (double)dim * (double)dim / product_ns * 1e9;
    out->is_cached = read_bytes <= CACHE_BYTES;
    return true;
}

bool rates_measure(struct device_rates *out, struct gemm *gemm, cudaStream_t stream,
                   size_t working_set_bytes, struct why *why) {
    size_t free_bytes = 0, total_bytes = 0, dim = PRODUCT_DIM;
    size_t read_bytes = working_set_bytes < MOST_BYTES ? working_set_bytes : (size_t)MOST_BYTES;
    read_bytes = read_bytes > 4096 ? read_bytes : 4096;
    struct bench b = {NULL, NULL, gemm, stream, 0};
    if (!device_check(cudaMemGetInfo(&free_bytes, &total_bytes), "tell its free memory", why))
        return false;
    while (dim > 64 && dim * dim * 8 > free_bytes / 2)
        dim /= 2;
    while (read_bytes > 4096 && read_bytes > free_bytes / 2)
        read_bytes /= 2;
    b.bytes = dim * dim * 8 > read_bytes ? dim * dim * 8 : read_bytes;
    bool ok = device_check(cudaMalloc(&b.memory, b.bytes), "take memory to measure rates", why) &&
              device_check(cudaMalloc(&b.sink, BLOCKS * sizeof(unsigned)),
                           "take memory to measure rates", why) &&
              device_check(cudaMemsetAsync(b.memory, 0x5a, b.bytes, stream), "clear memory", why) &&
              device_check(cudaMemsetAsync(b.sink, 0, BLOCKS * sizeof(unsigned), stream),
                           "clear memory", why) &&
              measure(out, &b, read_bytes, dim, why);
    cudaStreamSynchronize(stream);
    cudaFree(b.memory);
    cudaFree(b.sink);
    return ok;
}
