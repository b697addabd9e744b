// How many threads are worth starting on this machine: the physical cores that
// this process may use. Two hardware threads of one core share its multipliers
// and its caches, and a container's quota stops threads that exceed it, so more
// would only slow each other down. Reads /proc and /sys, starts nothing.
#ifndef COMPUTE_CPU_CORES_H
#define COMPUTE_CPU_CORES_H

#include <sched.h>
#include <stddef.h>

enum { CORES_MAX_CPUS = 4096 };

// The logical CPUs this process may run on, one bit each; if the system does not say,
// those that are online.
struct cores_mask {
    unsigned char bits[CORES_MAX_CPUS / 8];
};

void cores_allowed(struct cores_mask *out);

// Distinct physical cores among `allowed`, bounded by the CPU quota of this
// process's cgroup (v2 cpu.max, v1 cpu.cfs_quota_us; a started core counts whole
// only if all of it may be used) and at least 1. `root` is put before "/proc" and
// "/sys"; "" is this machine, tests have trees of their own.
int cores_usable(const struct cores_mask *allowed, const char *root);

// The two above, for this machine.
int cores_here(void);

// Logical CPUs in `allowed`.
int cores_logical(const struct cores_mask *allowed);

// The processor's name as people know it ("AMD EPYC 9654"), without trade marks,
// clock and core counts. "unknown processor" when /proc/cpuinfo has none.
void cores_name(char *out, size_t bytes, const char *root);

#endif
