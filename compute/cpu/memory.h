// How much memory can be allocated without being killed for it: Linux grants more than it
// has and kills the program later, so check before taking gigabytes. Reads /proc and /sys,
// allocates nothing.
#ifndef COMPUTE_CPU_MEMORY_H
#define COMPUTE_CPU_MEMORY_H

#include <stddef.h>

// The smallest of what the machine has available (MemAvailable) and what this process's cgroups
// of v1 and v2 and those above them leave (limit - usage, not counting page cache that can be
// dropped). SIZE_MAX if the system does not say. `root` is put before "/proc" and "/sys": "" is
// this machine.
size_t memory_free_bytes(const char *root);

// What the limit on this process's address space (ulimit -v) leaves, mapped files included.
// SIZE_MAX: no limit.
size_t memory_address_bytes(const char *root);

#endif
