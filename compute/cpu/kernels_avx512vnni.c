// The kernels for processors with AVX-512 F, BW, DQ, VL and VNNI: products of bytes in one
// instruction. Built as kernels_avx512.c with -mavx512vnni; only kernels.c, which asks the
// processor first, may lead here.
#define KERNELS_NAME kernels_avx512vnni
#define KERNELS_ISA "avx512vnni"
#define KERNELS_LANES 16
#define KERNELS_VNNI _mm256_dpbusd_epi32

#include "compute/cpu/kernels_body.h"
