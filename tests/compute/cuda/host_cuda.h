// What a test sets and asks of the emulated device; see cuda_on_host.h. Also for tests in C.
#ifndef TESTS_COMPUTE_CUDA_HOST_CUDA_H
#define TESTS_COMPUTE_CUDA_HOST_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum host_order { HOST_FORWARD, HOST_REVERSE, HOST_RANDOM };

struct host_cuda {
    enum host_order order;
    uint64_t seed;           // of HOST_RANDOM
    size_t memory_bytes;     // what the device has
    size_t used_bytes;       // of it; 0 when nothing leaks
    int devices;             // 0: none
    unsigned old_devices;    // a bit a device: its capability is 6.1
    unsigned full_devices;   // so: no context fits on it
    int device;              // the one that was set last
    int capability;          // 10 * major + minor
    int driver_version;      // 13000 = 13.0; 0: no driver
    long fail_after;         // so many runtime calls on, every one fails; -1 = never
    bool refuses_graphs;     // capture ends with an error
    bool refuses_launches;   // so does a graph's launch
    long refused_allocation; // this cudaMalloc (1 = the next) fails although memory is free
    bool is_lazy;            // streams do their work piece by piece, when they are looked at
    int graph_launches;
    unsigned long long timer_step_ns; // 0: as fine as the host's clock
    long timer_back_after;            // so many looks at it on, it is set back by 1 s; 0 = never
    unsigned long long timer_back_ns;
};

extern struct host_cuda host_cuda;
void host_cuda_reset(void);

// From the n-th runtime call on (1 = the next) every one fails, as after a fault of a
// kernel; -1: none does.
void cuda_on_host_fail_after(long n);

// The first failure of a kernel since host_cuda_reset, NULL = none.
const char *host_cuda_failure(void);

#ifdef __cplusplus
}
#endif

#endif
