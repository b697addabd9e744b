// The kernels for processors with AVX2, FMA and F16C. Built with -mavx2 -mfma
// -mf16c; only kernels.c, which asks the processor first, may lead here.
#define KERNELS_NAME kernels_avx2
#define KERNELS_ISA "avx2"
#define KERNELS_LANES 8

#include "compute/cpu/kernels_body.h"
