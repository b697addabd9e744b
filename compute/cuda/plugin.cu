// The plugin's one symbol, see compute/backend/load.h.
#include "compute/cuda/backend_cuda.cuh"

extern "C" __attribute__((visibility("default"))) const struct backend *tokendrip_backend(void) {
    return &backend_cuda;
}
