// The kernels for processors with AVX-512 F, BW, DQ and VL. Built with -mavx2 -mfma
// -mf16c -mavx512f -mavx512bw -mavx512dq -mavx512vl; only kernels.c, which asks the
// processor first, may lead here.
#define KERNELS_NAME kernels_avx512
#define KERNELS_ISA "avx512"
#define KERNELS_LANES 16

#include "compute/cpu/kernels_body.h"
