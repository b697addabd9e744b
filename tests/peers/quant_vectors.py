#!/usr/bin/env python3
"""Prints the rows of the table in tests/compute/gguf/test_quant.c, decoded by the Python
package `gguf`, which ggml's authors wrote beside their C code. Run by hand after the package
learned something new:  python3 quant_vectors.py  (needs gguf and numpy).

A row is 64 blocks of bytes from a congruential generator started with the type's number, so
that scales of every kind (tiny, infinite, not a number) are among them. The hash is FNV-1a
over the bits of all numbers in order, every NaN counted as 0x7fc00000 and -0 as 0."""
import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as Type, quants

BLOCKS = 64
TYPES = ("F32 F16 BF16 Q8_0 Q4_0 Q4_1 Q5_0 Q5_1 IQ4_NL MXFP4 "
         "Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_XS").split()


def made_bytes(seed, count):
    out = bytearray()
    for _ in range(count):
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(seed >> 56)
    return np.frombuffer(bytes(out), dtype=np.uint8)


def bits_of(numbers):
    bits = numbers.astype(np.float32).view(np.uint32).copy()
    bits[np.isnan(numbers)] = 0x7FC00000
    bits[bits == 0x80000000] = 0
    return bits


def fnv(bits):
    value = 0xCBF29CE484222325
    for byte in bits.astype("<u4").tobytes():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def main():
    np.seterr(all="ignore")
    for name in TYPES:
        kind = Type[name]
        block, block_bytes = GGML_QUANT_SIZES[kind]
        data = made_bytes(int(kind), BLOCKS * block_bytes).reshape(1, -1)
        numbers = quants.dequantize(data, kind).ravel()
        assert numbers.size == BLOCKS * block
        plain = np.flatnonzero(np.isfinite(numbers) & (numbers != 0))
        some = [(i, numbers[i]) for i in (plain[1], plain[len(plain) // 3], plain[-1])]
        print(f"    {{GGUF_TENSOR_{name}, 0x{fnv(bits_of(numbers)):016x}, {{"
              + ", ".join(f"{{{i}, {float(v).hex()}f}}" for i, v in some) + "}},")


main()
