// The table of the CUDA backend, see compute/backend/backend.h.
#ifndef COMPUTE_CUDA_BACKEND_CUDA_CUH
#define COMPUTE_CUDA_BACKEND_CUDA_CUH

extern "C" {
#include "compute/backend/backend.h"
}

extern const struct backend backend_cuda;

#endif
