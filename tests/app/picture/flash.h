// Counts flashes in one place of a film, as WCAG 2.3.1 defines them: pairs of opposing changes of
// relative luminance of a tenth or more, the darker state below 0.80. More than three a second
// are too many. Pure.
#ifndef TESTS_APP_PICTURE_FLASH_H
#define TESTS_APP_PICTURE_FLASH_H

enum { FLASH_MOST_CHANGES = 6 }; // three pairs

struct flash {
    float low, high; // luminance since the last change
    int direction;   // of the last change, 0 = none yet
    int changes, at[FLASH_MOST_CHANGES + 1];
};

struct flash flash_begin(float luminance);

// Takes the place's luminance, 0 .. 1, in the next frame. Returns the opposing changes within the
// last second, at most FLASH_MOST_CHANGES + 1.
int flash_look(struct flash *flash, float luminance, int frame, int frames_a_second);

#endif
