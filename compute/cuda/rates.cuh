// Measures what the device can reach, for roofline.h.
#ifndef COMPUTE_CUDA_RATES_CUH
#define COMPUTE_CUDA_RATES_CUH

#include "compute/cuda/gemm.cuh"

extern "C" {
#include "compute/backend/backend.h"
}

// Allocates memory of its own for a moment. After false with `why` the stream is still good
// unless the device is lost.
bool rates_measure(struct device_rates *out, struct gemm *gemm, cudaStream_t stream,
                   size_t working_set_bytes, struct why *why);

#endif
