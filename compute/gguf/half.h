// The two 16-bit number formats of model files, f16 (IEEE 754 binary16) and
// bf16 (the upper half of a binary32), to and from float with integer
// arithmetic only: the same result on every machine and at every compiler
// setting. Backends may use faster instructions; this is what they must equal.
// Nothing here depends on the rounding mode or on flush-to-zero settings.
#ifndef COMPUTE_GGUF_HALF_H
#define COMPUTE_GGUF_HALF_H

#include <stdint.h>

// Exact: every half is a float. NaN stays NaN with its payload, made quiet.
float half_to_float(uint16_t half);

// Nearest, ties to even. Too large: infinity. NaN stays NaN.
uint16_t half_from_float(float value);

// Exact.
float half_bf16_to_float(uint16_t bf16);

#endif
