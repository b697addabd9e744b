// See cuda_on_host.h: the memory of the emulated device, and of the host that both see.
#include "tests/compute/cuda/on_host.h"

#include <stdlib.h>

#include <map>

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    *free_bytes = host_cuda.memory_bytes - host_cuda.used_bytes;
    *total_bytes = host_cuda.memory_bytes;
    return host_called(cudaSuccess);
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
        return host_called(cudaErrorMemoryAllocation);
    if (host_called(cudaSuccess) != cudaSuccess)
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
    return host_called(cudaSuccess);
}

cudaError_t host_host_alloc(void **out, size_t bytes) {
    *out = NULL;
    if (host_called(cudaSuccess) != cudaSuccess)
        return cudaErrorLaunchFailure;
    *out = take(bytes);
    return cudaSuccess;
}

cudaError_t host_device_pointer(void **out, void *memory) {
    *out = memory;
    return host_called(cudaSuccess);
}

cudaError_t cudaFreeHost(void *memory) {
    free(memory);
    return host_called(cudaSuccess);
}
