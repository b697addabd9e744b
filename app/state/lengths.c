// See lengths.h. The rungs are 2^k and, halfway up the octave, 3 * 2^k.
#include "app/state/lengths.h"

#include "compute/base/num.h"

#include <math.h>
#include <stdint.h>

int length_of_ppm(int ppm, int longest) {
    double share = (double)clamp_ppm(ppm) / WHOLE_PPM;
    if (longest <= 1)
        return 1;
    return clamp_int((int)lround(exp(log(longest) * share)), 1, longest);
}

int length_ppm(int length, int longest) {
    if (longest <= 1 || length <= 1)
        return 0;
    return clamp_ppm(lround(log(length) / log(longest) * WHOLE_PPM));
}

static int64_t rung_above(int64_t length) {
    int64_t octave = 1;
    while (2 * octave <= length)
        octave *= 2;
    return octave >= 2 && 2 * length < 3 * octave ? octave / 2 * 3 : 2 * octave;
}

static int rung_below(int length) {
    int rung = 1;
    while (rung_above(rung) < length)
        rung = (int)rung_above(rung);
    return rung;
}

int length_step(int length, int direction, int longest) {
    longest = max_int(longest, 1);
    length = clamp_int(length, 1, longest);
    if (direction < 0)
        return rung_below(length);
    return direction > 0 ? (int)min_i64(rung_above(length), longest) : length;
}
