// Measures what this machine can reach with the backend's own threads and kernels: bytes
// read a second, multiplications and additions a second (for roofline.h). Allocates and
// frees its own memory.
#ifndef COMPUTE_CPU_RATES_H
#define COMPUTE_CPU_RATES_H

#include "compute/base/why.h"

#include "compute/backend/backend.h"
#include "compute/cpu/kernels.h"
#include "compute/cpu/threads.h"

// See backend.h, measure_rates.
bool rates_measure(struct device_rates *out, struct threads *threads, const struct kernels *kernels,
                   size_t working_set_bytes, struct why *why);

// Bytes of the largest cache that a processor has, as the system gives it; 0 =
// unknown. `root` is put before "/sys": "" is this machine.
size_t rates_cache_bytes(const char *root);

#endif
