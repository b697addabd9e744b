// The sets that kernels_body.h was compiled into. Only kernels.c, which knows what
// the processor can run, and the files that make them may include this.
#ifndef COMPUTE_CPU_KERNELS_SETS_H
#define COMPUTE_CPU_KERNELS_SETS_H

#include "compute/cpu/kernels.h"

extern const struct kernels kernels_plain;
#if defined(__x86_64__)
extern const struct kernels kernels_avx2;
extern const struct kernels kernels_avxvnni;
extern const struct kernels kernels_avx512;
extern const struct kernels kernels_avx512vnni;
#endif

#endif
