// The length of a prompt or an answer, in whole tokens, as sliders and keys change it. All
// functions expect and return 1 .. longest; a length or ppm outside is clamped.
#ifndef APP_STATE_LENGTHS_H
#define APP_STATE_LENGTHS_H

// The longest lesson run that still makes a readable picture.
enum { LENGTH_LESSON_PROMPT = 1024, LENGTH_LESSON_ANSWER = 512 };

// A slider is logarithmic: each octave has the same share of it. Converting a length to ppm
// and back returns the same length up to 32,768; above that it may be off by one.
int length_of_ppm(int ppm, int longest);
int length_ppm(int length, int longest);

// The next rung up (direction 1) or down (-1): 1, 2, 3, 4, 6, 8, 12, 16, 24, ... longest.
int length_step(int length, int direction, int longest);

#endif
