// How much memory can be allocated without being killed for it: Linux grants more than it
// has and kills the program later, so check before taking gigabytes. Reads /proc and /sys,
// allocates nothing.
#ifndef COMPUTE_CPU_MEMORY_H
#define COMPUTE_CPU_MEMORY_H

#include <stddef.h>

// The smaller of what the machine has available (MemAvailable) and what this process's
// cgroup v2 and those above it leave (memory.max - memory.current, not counting page cache
// that can be dropped). SIZE_MAX if the system does not say. `root` is put before "/proc"
// and "/sys": "" is this machine.
size_t memory_free_bytes(const char *root);

#endif
