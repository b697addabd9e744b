// How much memory may still be taken without being killed for it: Linux grants more
// than it has and ends the program later, so who takes gigabytes has to ask first.
// Reads /proc and /sys, takes nothing.
#ifndef COMPUTE_CPU_MEMORY_H
#define COMPUTE_CPU_MEMORY_H

#include <stddef.h>

// The smaller of what the machine has available (MemAvailable) and what this
// process's cgroup v2 and those above it leave (memory.max - memory.current, of
// which page cache that can go is not counted as used). SIZE_MAX when the system
// will not say. `root` is put before "/proc" and "/sys": "" is this machine.
size_t memory_free_bytes(const char *root);

#endif
