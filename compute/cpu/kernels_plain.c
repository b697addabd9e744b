// The kernels for any processor: vectors of four floats, which the compiler maps
// to what the oldest processor of the kind has. Built without special flags.
#define KERNELS_NAME kernels_plain
#define KERNELS_ISA "plain"
#define KERNELS_LANES 4

#include "compute/cpu/kernels_body.h"
