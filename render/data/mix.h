// The hash that the pictures' plain data go through (view, panel, plot, lab): FNV-1a's
// multiplier over whole values. Equal data give equal hashes; it guards nothing.
#ifndef RENDER_DATA_MIX_H
#define RENDER_DATA_MIX_H

#include <stddef.h>
#include <stdint.h>

uint64_t mix_int(uint64_t hash, int64_t value);

// A number's bits; its low ones are often 0, so the high ones go down, too.
uint64_t mix_real(uint64_t hash, double value);

// The text up to its NUL, and the NUL, so that "a" "b" differs from "ab" "".
uint64_t mix_text(uint64_t hash, const char *text, size_t capacity);

#endif
