// Tests of the emulation itself: a test that leans on it is worth what it finds. Right
// kernels run right in every order of lanes; wrong ones are told by what is wrong.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include <cmocka.h>
}

#include "compute/cuda/device.cuh"
#include "tests/compute/gguf/quant_rows.h"

#include <stdio.h>
#include <string.h>

static const enum host_order orders[] = {HOST_FORWARD, HOST_REVERSE, HOST_RANDOM};

static void assert_fails(const char *part) {
    assert_non_null(host_cuda_failure());
    if (!strstr(host_cuda_failure(), part))
        fail_msg("\"%s\" does not say \"%s\"", host_cuda_failure(), part);
    assert_int_equal(cudaGetLastError(), cudaErrorLaunchFailure);
    host_cuda_reset();
}

static int setup(void **) {
    host_cuda_reset();
    return 0;
}

// --- Right kernels ---

KERNEL void sum_kernel(float *out, const float *in, int count) {
    SHARED(float, parts, 8);
    float sum = 0;
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < count;
         i += (int)(gridDim.x * blockDim.x))
        sum += in[i];
    sum = block_sum(sum, parts);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

static void a_block_sums_in_every_order_of_lanes(void **) {
    float in[1000], out[3];
    for (int i = 0; i < 1000; i++)
        in[i] = (float)i;
    for (auto order : orders) {
        host_cuda.order = order;
        LAUNCH(sum_kernel, 3, 256, 0, NULL, out, in, 1000);
        assert_null(host_cuda_failure());
        assert_true(out[0] + out[1] + out[2] == 499500.0f);
    }
}

KERNEL void shuffle_kernel(int *out) {
    int lane = lane_of(), i = (int)threadIdx.x;
    out[i] = __shfl_xor_sync(FULL_MASK, i, 1);
    out[64 + i] = __shfl_down_sync(FULL_MASK, i, 5);
    out[128 + i] = __shfl_sync(FULL_MASK, i, 31 - lane);
    __syncwarp();
}

static void shuffles_give_what_the_other_lane_gave(void **) {
    int out[192];
    for (auto order : orders) {
        host_cuda.order = order;
        LAUNCH(shuffle_kernel, 1, 64, 0, NULL, out);
        for (int i = 0; i < 64; i++) {
            assert_int_equal(out[i], i ^ 1);
            assert_int_equal(out[64 + i], i % 32 + 5 < 32 ? i + 5 : i);
            assert_int_equal(out[128 + i], i / 32 * 32 + 31 - i % 32);
        }
    }
}

static void dp4a_multiplies_signed_bytes(void **) {
    assert_int_equal(dot_bytes(0x7f80ff01u, 0x02030405u, 10), 127 * 2 - 128 * 3 - 4 + 5 + 10);
}

static void halves_are_those_of_the_host(void **) {
    static const float values[] = {0, 1, -2.5f, 65504, 1e-7f, 3.14159f};
    for (float value : values) {
        assert_int_equal(to_half(value).bits, half_from_float(value));
        assert_int_equal(to_bfloat(value).bits, half_bf16_from_float(value));
        assert_true(to_float(to_bfloat(value)) == half_bf16_to_float(half_bf16_from_float(value)));
    }
    assert_true(isnan(to_float(to_bfloat(NAN))));
}

// --- Wrong kernels ---

KERNEL void barrier_under_a_branch_kernel(void) {
    if (threadIdx.x < 40)
        __syncthreads();
}

KERNEL void two_barriers_kernel(void) {
    if (threadIdx.x < 40)
        __syncthreads();
    else
        __syncthreads();
}

static void a_barrier_that_not_all_reach_is_found(void **) {
    LAUNCH(barrier_under_a_branch_kernel, 1, 64, 0, NULL);
    assert_fails("barrier not reached by all");
    LAUNCH(two_barriers_kernel, 1, 64, 0, NULL);
    assert_fails("barrier not reached by all");
}

KERNEL void shuffle_under_a_branch_kernel(int *out) {
    if (threadIdx.x % 32 < 16)
        out[threadIdx.x] = __shfl_xor_sync(FULL_MASK, 1, 1);
}

KERNEL void uneven_loop_kernel(int *out) {
    for (unsigned i = 0; i <= threadIdx.x % 2; i++)
        out[threadIdx.x] = __shfl_xor_sync(FULL_MASK, 1, 1);
}

KERNEL void half_mask_kernel(int *out) {
    out[threadIdx.x] = __shfl_xor_sync(0xffffu, 1, 1);
}

static void a_shuffle_that_not_all_lanes_reach_is_found(void **) {
    int out[64];
    LAUNCH(shuffle_under_a_branch_kernel, 1, 64, 0, NULL, out);
    assert_fails("diverged shuffle");
    LAUNCH(uneven_loop_kernel, 1, 32, 0, NULL, out);
    assert_fails("diverged shuffle");
    LAUNCH(half_mask_kernel, 1, 32, 0, NULL, out);
    assert_fails("diverged shuffle");
}

KERNEL void misaligned_kernel(float *out, const float *in) {
    out[0] = load_floats(in + 1).x;
}

static void a_misaligned_load_is_found(void **) {
    alignas(16) float in[8] = {0};
    float out[1];
    LAUNCH(misaligned_kernel, 1, 1, 0, NULL, out, in);
    assert_fails("not a multiple");
}

// Leans on lane 0 going first.
KERNEL void lockstep_kernel(int *out) {
    SHARED(int, value, 1);
    if (threadIdx.x == 0)
        value[0] = 7;
    out[threadIdx.x] = value[0];
}

static void a_missing_barrier_shows_in_another_order(void **) {
    int out[32];
    LAUNCH(lockstep_kernel, 1, 32, 0, NULL, out);
    assert_int_equal(out[31], 7);
    host_cuda.order = HOST_REVERSE;
    LAUNCH(lockstep_kernel, 1, 32, 0, NULL, out);
    assert_int_not_equal(out[31], 7);
}

KERNEL void unwritten_kernel(float *out) {
    SHARED_DYNAMIC(float, values);
    out[blockIdx.x] = values[0];
    __syncthreads();
    values[0] = 1;
}

static void fresh_memory_is_nan_for_every_block(void **) {
    float out[2], *memory = NULL;
    LAUNCH(unwritten_kernel, 2, 1, 16, NULL, out);
    assert_true(isnan(out[0]) && isnan(out[1]));
    assert_int_equal(cudaMalloc(&memory, 64), cudaSuccess);
    assert_true(isnan(memory[0]) && isnan(memory[15]));
    cudaFree(memory);
}

// --- The runtime ---

static void memory_runs_out(void **) {
    void *first = NULL, *second = NULL;
    host_cuda.memory_bytes = 1000;
    assert_int_equal(cudaMalloc(&first, 600), cudaSuccess);
    assert_int_equal(cudaMalloc(&second, 600), cudaErrorMemoryAllocation);
    assert_null(second);
    cudaFree(first);
    assert_int_equal(cudaMalloc(&second, 600), cudaSuccess);
    cudaFree(second);
    assert_int_equal(host_cuda.used_bytes, 0);
}

KERNEL void count_kernel(int *counter) {
    if (threadIdx.x == 0)
        *counter += 1;
}

static void a_graph_runs_when_it_is_launched_with_the_arguments_of_its_capture(void **) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t inside, external;
    int counter = 0;
    float ms;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&inside);
    cudaEventCreate(&external);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    int *argument = &counter;
    LAUNCH(count_kernel, 1, 32, 0, stream, argument);
    argument = NULL;
    cudaEventRecordWithFlags(inside, stream, cudaEventRecordDefault);
    cudaEventRecordWithFlags(external, stream, cudaEventRecordExternal);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    assert_int_equal(cudaGraphInstantiate(&exec, graph), cudaSuccess);
    assert_int_equal(counter, 0);
    cudaGraphLaunch(exec, stream);
    cudaGraphLaunch(exec, stream);
    assert_int_equal(counter, 2);
    assert_int_equal(cudaEventElapsedTime(&ms, external, external), cudaSuccess);
    assert_int_equal(cudaEventElapsedTime(&ms, inside, external), cudaErrorInvalidValue);
    assert_int_equal(cudaEventRecordWithFlags(external, stream, cudaEventRecordExternal),
                     cudaErrorInvalidValue);
    cudaGraphDestroy(graph);
    cudaGraphExecDestroy(exec);
    cudaEventDestroy(inside);
    cudaEventDestroy(external);
    cudaStreamDestroy(stream);
}

static void a_fault_sticks(void **) {
    void *memory;
    host_cuda.fail_after = 2;
    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    assert_int_equal(cudaSetDevice(0), cudaErrorLaunchFailure);
    assert_int_equal(cudaMalloc(&memory, 8), cudaErrorLaunchFailure);
    assert_int_equal(cudaStreamSynchronize(NULL), cudaErrorLaunchFailure);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_block_sums_in_every_order_of_lanes, setup),
        cmocka_unit_test_setup(shuffles_give_what_the_other_lane_gave, setup),
        cmocka_unit_test_setup(dp4a_multiplies_signed_bytes, setup),
        cmocka_unit_test_setup(halves_are_those_of_the_host, setup),
        cmocka_unit_test_setup(a_barrier_that_not_all_reach_is_found, setup),
        cmocka_unit_test_setup(a_shuffle_that_not_all_lanes_reach_is_found, setup),
        cmocka_unit_test_setup(a_misaligned_load_is_found, setup),
        cmocka_unit_test_setup(a_missing_barrier_shows_in_another_order, setup),
        cmocka_unit_test_setup(fresh_memory_is_nan_for_every_block, setup),
        cmocka_unit_test_setup(memory_runs_out, setup),
        cmocka_unit_test_setup(a_graph_runs_when_it_is_launched_with_the_arguments_of_its_capture,
                               setup),
        cmocka_unit_test_setup(a_fault_sticks, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
