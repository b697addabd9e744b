// All there is to show without a window: the run, the lesson, and for Lab what it
// plots, measured here and waited for, or taken from files. For the recorder.
#ifndef APP_RUNS_EXHIBIT_H
#define APP_RUNS_EXHIBIT_H

#include "app/lesson/lesson.h"
#include "app/runs/labwork.h"

struct exhibit {
    struct run *run;                    // owned, complete
    struct lesson *lesson;              // owned; NULL unless the mode is Lesson
    struct labwork work;                // filled if the mode is Lab
    int longest_prompt, longest_answer; // of the model; 0 = no model was opened
};

// What the options ask for, with progress on a terminal. Owner: exhibit_close.
bool exhibit_open(struct exhibit *out, const struct options *options, char why[256]);
void exhibit_close(struct exhibit *exhibit); // a zeroed one is fine

// The lesson of --lesson or --lang. `why` says what is wrong with it, or which there are.
bool exhibit_lesson(struct lesson **out, const struct options *options, char why[256]);

#endif
