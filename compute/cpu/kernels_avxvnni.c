// The kernels for processors with AVX2 and AVX-VNNI: products of bytes in one instruction.
// Built with -mavx2 -mfma -mf16c -mavxvnni; only kernels.c, which asks the processor first,
// may lead here.
#define KERNELS_NAME kernels_avxvnni
#define KERNELS_ISA "avxvnni"
#define KERNELS_LANES 8
#define KERNELS_VNNI _mm256_dpbusd_avx_epi32

#include "compute/cpu/kernels_body.h"
