// The seam between kernel sources and what compiles them: nvcc for a GPU, or a plain
// C++ compiler through tests/cuda_on_host.h, which emulates blocks and warps. All that
// the two see differently is here, each thing once: launches, shared memory, vector
// loads, 16-bit floats, dp4a and the clock. The only inline PTX is the clock's.
//
// Rules for every kernel, without which the emulation does not hold: warp calls under
// uniform control flow with the full mask; no barrier under a branch or after a return
// (guard the work, not the barrier); no reliance on lanes in lockstep.
#ifndef COMPUTE_CUDA_DEVICE_CUH
#define COMPUTE_CUDA_DEVICE_CUH

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                     \
    kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__)
#define SHARED(type, name, count) __shared__ type name[count]
#define SHARED_DYNAMIC(type, name)                                                                 \
    extern __shared__ __align__(16) unsigned char shared_dynamic[];                                \
    type *const name = reinterpret_cast<type *>(shared_dynamic)
#define KERNEL __global__ static
#define UNROLL _Pragma("unroll")
#define UNROLL_4 _Pragma("unroll 4")
#else
#include "tests/compute/cuda/cuda_on_host.h"
extern "C" {
#include "compute/gguf/half.h"
}
#define KERNEL static
#define UNROLL
#define UNROLL_4
#endif

enum { WARP_LANES = 32, FULL_MASK_BITS = 32 };
#define FULL_MASK 0xffffffffu

// Numbers of two bytes, by their bits.
struct half16 {
    uint16_t bits;
};
struct bfloat16 {
    uint16_t bits;
};

static __device__ __forceinline__ float to_float(float value) {
    return value;
}

static __device__ __forceinline__ float to_float(half16 value) {
#ifdef __CUDACC__
    return __half2float(__ushort_as_half(value.bits));
#else
    return half_to_float(value.bits);
#endif
}

static __device__ __forceinline__ float bits_to_float(uint32_t bits) {
#ifdef __CUDACC__
    return __uint_as_float(bits);
#else
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
#endif
}

static __device__ __forceinline__ uint32_t float_to_bits(float value) {
#ifdef __CUDACC__
    return __float_as_uint(value);
#else
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
#endif
}

static __device__ __forceinline__ float to_float(bfloat16 value) {
    return bits_to_float((uint32_t)value.bits << 16);
}

static __device__ __forceinline__ half16 to_half(float value) {
    half16 half;
#ifdef __CUDACC__
    half.bits = __half_as_ushort(__float2half_rn(value));
#else
    half.bits = half_from_float(value);
#endif
    return half;
}

// Nearest, ties to even; NaN stays NaN.
static __device__ __forceinline__ bfloat16 to_bfloat(float value) {
    uint32_t bits = float_to_bits(value);
    bfloat16 out;
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        out.bits = (uint16_t)(bits >> 16 | 0x40u);
    else
        out.bits = (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    return out;
}

static __device__ __forceinline__ void store(float *to, float value) {
    *to = value;
}
static __device__ __forceinline__ void store(half16 *to, float value) {
    *to = to_half(value);
}
static __device__ __forceinline__ void store(bfloat16 *to, float value) {
    *to = to_bfloat(value);
}

// 16 bytes of memory that no kernel writes while this one runs; aligned to 16.
static __device__ __forceinline__ uint4 load_vector(const void *from) {
#ifdef __CUDACC__
    return __ldg(static_cast<const uint4 *>(from));
#else
    return host_load<uint4>(from);
#endif
}

static __device__ __forceinline__ uint4 load_shared_vector(const void *from) {
#ifdef __CUDACC__
    return *static_cast<const uint4 *>(from);
#else
    return host_load<uint4>(from);
#endif
}

static __device__ __forceinline__ float4 load_floats(const float *from) {
#ifdef __CUDACC__
    return *reinterpret_cast<const float4 *>(from);
#else
    return host_load<float4>(from);
#endif
}

// 16 bytes, aligned to 16.
static __device__ __forceinline__ void store_vector(void *to, uint4 vector) {
#ifdef __CUDACC__
    *static_cast<uint4 *>(to) = vector;
#else
    host_store(to, vector);
#endif
}

// The two 16-bit numbers of a word, the lower address first.
static __device__ __forceinline__ float low_half(half16, uint32_t word) {
    half16 half;
    half.bits = (uint16_t)word;
    return to_float(half);
}
static __device__ __forceinline__ float high_half(half16, uint32_t word) {
    half16 half;
    half.bits = (uint16_t)(word >> 16);
    return to_float(half);
}
static __device__ __forceinline__ float low_half(bfloat16, uint32_t word) {
    return bits_to_float(word << 16);
}
static __device__ __forceinline__ float high_half(bfloat16, uint32_t word) {
    return bits_to_float(word & 0xffff0000u);
}

// sum + the four products of signed bytes.
static __device__ __forceinline__ int dot_bytes(uint32_t a, uint32_t b, int sum) {
#ifdef __CUDACC__
    return __dp4a((int)a, (int)b, sum);
#else
    return host_dp4a((int)a, (int)b, sum);
#endif
}

// Nanoseconds of the device's own clock.
static __device__ __forceinline__ unsigned long long global_timer(void) {
#ifdef __CUDACC__
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
#else
    return host_global_timer();
#endif
}

// One multiplication and one addition that each round once, whatever the compiler
// would like to fuse.
static __device__ __forceinline__ float multiply(float a, float b) {
#ifdef __CUDACC__
    return __fmul_rn(a, b);
#else
    return a * b;
#endif
}
static __device__ __forceinline__ float add(float a, float b) {
#ifdef __CUDACC__
    return __fadd_rn(a, b);
#else
    return a + b;
#endif
}
static __device__ __forceinline__ float divide(float a, float b) {
#ifdef __CUDACC__
    return __fdiv_rn(a, b);
#else
    return a / b;
#endif
}

// --- Over a warp and over a block ---

static __device__ __forceinline__ int lane_of(void) {
    return (int)(threadIdx.x % WARP_LANES);
}
static __device__ __forceinline__ int warp_of(void) {
    return (int)(threadIdx.x / WARP_LANES);
}

template <class T> static __device__ __forceinline__ T warp_sum(T value) {
    UNROLL
    for (int other = WARP_LANES / 2; other > 0; other /= 2)
        value += __shfl_xor_sync(FULL_MASK, value, other);
    return value;
}

static __device__ __forceinline__ float warp_max(float value) {
    UNROLL
    for (int other = WARP_LANES / 2; other > 0; other /= 2)
        value = fmaxf(value, __shfl_xor_sync(FULL_MASK, value, other));
    return value;
}

// Every thread gets the sum. `parts`: [warps] of shared memory, free to use before
// and after. blockDim.x is a multiple of a warp.
static __device__ __forceinline__ float block_sum(float value, float *parts) {
    value = warp_sum(value);
    __syncthreads();
    if (lane_of() == 0)
        parts[warp_of()] = value;
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < (int)(blockDim.x / WARP_LANES); i++)
        sum += parts[i];
    return sum;
}

// The same of the largest; NaN counts for nothing.
static __device__ __forceinline__ float block_max(float value, float *parts) {
    value = warp_max(value);
    __syncthreads();
    if (lane_of() == 0)
        parts[warp_of()] = value;
    __syncthreads();
    float most = parts[0];
    for (int i = 1; i < (int)(blockDim.x / WARP_LANES); i++)
        most = fmaxf(most, parts[i]);
    return most;
}

// --- Marks ---

// Where the last block of a kernel to end writes the time; slot NULL: nowhere.
struct stamp {
    unsigned long long *slot; // host memory that the device sees
    unsigned *arrived;        // device memory, 0 between kernels
};

// The block's last statement, reached by all its threads.
static __device__ __forceinline__ void put_stamp(struct stamp stamp) {
    if (!stamp.slot) // the same for all
        return;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(stamp.arrived, 1u) == gridDim.x - 1) {
            *stamp.arrived = 0;
            *static_cast<volatile unsigned long long *>(stamp.slot) = global_timer();
            __threadfence_system();
        }
    }
}

#endif
