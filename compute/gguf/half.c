// See half.h. A float is 1 sign, 8 exponent (bias 127) and 23 fraction bits; a
// half is 1, 5 (bias 15) and 10. Both ways move the bits: the sign is carried
// over, normal numbers shift by 13 fraction bits and re-bias the exponent by
// 112, and halves below 2^-14 have a fixed exponent and no leading one.
// Must not use float arithmetic, so that no processor setting can matter.
#include "compute/gguf/half.h"

#include <string.h>

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float half_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t exponent = (half >> 10) & 0x1f;
    uint32_t fraction = half & 0x3ff;

    if (exponent == 0x1f) { // infinity, NaN
        uint32_t quiet = fraction ? 0x400000 : 0;
        return float_of(sign | 0x7f800000 | quiet | (fraction << 13));
    }
    if (exponent > 0)
        return float_of(sign | ((exponent + 112) << 23) | (fraction << 13));
    if (fraction == 0)
        return float_of(sign);

    // Subnormal: fraction * 2^-24. Shift until the leading one is in place.
    exponent = 113;
    while (!(fraction & 0x400)) {
        fraction <<= 1;
        exponent--;
    }
    return float_of(sign | (exponent << 23) | ((fraction & 0x3ff) << 13));
}

// value >> shift, rounded to nearest, ties to even. shift: 1 .. 31
static uint32_t shift_rounded(uint32_t value, uint32_t shift) {
    uint32_t rest = value & ((1u << shift) - 1);
    uint32_t tie = 1u << (shift - 1);
    uint32_t out = value >> shift;
    return out + (rest > tie || (rest == tie && (out & 1)));
}

uint16_t half_from_float(float value) {
    uint32_t bits = bits_of(value);
    uint32_t sign = (bits >> 16) & 0x8000;
    uint32_t rest = bits & 0x7fffffff;
    uint32_t exponent = rest >> 23;

    if (rest > 0x7f800000) // NaN: keep what fits of the payload, quiet
        return (uint16_t)(sign | 0x7e00 | ((rest >> 13) & 0x1ff));
    if (exponent >= 143) // 2^16 and up, infinity
        return (uint16_t)(sign | 0x7c00);
    if (exponent >= 113) // 2^-14 and up; a carry moves into the exponent, up to infinity
        return (uint16_t)(sign | shift_rounded(rest - (112u << 23), 13));
    if (exponent < 102) // below half of the smallest half, 2^-25
        return (uint16_t)sign;

    uint32_t fraction = (rest & 0x7fffff) | 0x800000;
    return (uint16_t)(sign | shift_rounded(fraction, 126 - exponent));
}

float half_bf16_to_float(uint16_t bf16) {
    return float_of((uint32_t)bf16 << 16);
}
