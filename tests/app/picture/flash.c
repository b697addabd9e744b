// See flash.h.
#include "tests/app/picture/flash.h"

#include <math.h>
#include <stdbool.h>

struct flash flash_begin(float luminance) {
    return (struct flash){.low = luminance, .high = luminance};
}

static bool is_change(float a, float b) {
    return fabsf(a - b) >= 0.1f && fminf(a, b) < 0.8f;
}

int flash_look(struct flash *flash, float luminance, int frame, int frames_a_second) {
    int direction = luminance > flash->low && is_change(luminance, flash->low)     ? 1
                    : luminance < flash->high && is_change(luminance, flash->high) ? -1
                                                                                   : 0;
    if (direction != 0 && direction != flash->direction) {
        flash->direction = direction;
        flash->at[flash->changes++ % (FLASH_MOST_CHANGES + 1)] = frame;
        flash->low = flash->high = luminance;
    }
    flash->low = fminf(flash->low, luminance);
    flash->high = fmaxf(flash->high, luminance);
    int recent = 0;
    for (int i = 0; i < FLASH_MOST_CHANGES + 1 && i < flash->changes; i++)
        recent += frame - flash->at[i] < frames_a_second;
    return recent;
}
