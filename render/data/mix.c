// See mix.h.
#include "render/data/mix.h"

#include <string.h>

uint64_t mix_int(uint64_t hash, int64_t value) {
    return (hash ^ (uint64_t)value) * UINT64_C(0x100000001B3);
}

uint64_t mix_real(uint64_t hash, double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash = mix_int(hash, bits);
    return hash ^ hash >> 32;
}

uint64_t mix_text(uint64_t hash, const char *text, size_t capacity) {
    size_t i = 0;
    for (; i < capacity && text[i] != '\0'; i++)
        hash = mix_int(hash, (unsigned char)text[i]);
    return mix_int(hash, -1);
}
