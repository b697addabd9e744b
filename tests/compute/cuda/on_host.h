// What the files of the emulation share; see cuda_on_host.h.
#ifndef TESTS_COMPUTE_CUDA_ON_HOST_H
#define TESTS_COMPUTE_CUDA_ON_HOST_H

#include "tests/compute/cuda/cuda_on_host.h"

// Runs the blocks of a grid, one after the other. Returns what a kernel's failure is to
// the runtime; host_fail has told it.
cudaError_t host_run_grid(dim3 grid, dim3 block, size_t shared_bytes,
                          const std::function<void()> &kernel);
void host_reset_blocks(void); // forgets failures and where random orders were

// What a call returns: its own result, or the injected fault that sticks. Whatever is
// not success is the last error too, until that is asked for.
cudaError_t host_called(cudaError_t result);

#endif
