// What the device could reach at best, for the floors of measured times.
#ifndef COMPUTE_CUDA_RATES_CUH
#define COMPUTE_CUDA_RATES_CUH

#include "compute/cuda/gemm.cuh"

extern "C" {
#include "compute/backend/backend.h"
}

// Takes memory of its own for a moment. On false with `why` the stream is still good
// unless the device is lost.
bool rates_measure(struct device_rates *out, struct gemm *gemm, cudaStream_t stream,
                   size_t working_set_bytes, char *why);

#endif
