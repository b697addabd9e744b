// What options and keys choose among: shared by the command line, the user's actions and
// the remembered settings.
#ifndef APP_STATE_CHOICES_H
#define APP_STATE_CHOICES_H

enum clock_choice { CLOCK_MEASURED, CLOCK_LESSON };
enum counting_choice { COUNTING_DEFAULT, COUNTING_ENGINE, COUNTING_LESSON };
enum weights_choice {
    WEIGHTS_DEFAULT,
    WEIGHTS_F16,
    WEIGHTS_BF16,
    WEIGHTS_Q8_0,
    WEIGHTS_Q4_0,
    WEIGHTS_Q4_K
};
enum mode_choice { MODE_STAGE, MODE_SHOW, MODE_LESSON, MODE_LAB };

#endif
