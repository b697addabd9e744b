// Everything a film shows, opened before its first frame: the run, the lesson, and what Lab
// plots, measured here and waited for, or read from files.
#ifndef APP_COMMAND_FOOTAGE_H
#define APP_COMMAND_FOOTAGE_H

#include "compute/base/why.h"

#include "app/lesson/lesson.h"
#include "app/options/options.h"
#include "app/runs/labwork.h"
#include "app/state/actions.h"

struct footage {
    struct run *run;                    // owned, complete
    struct lesson *lesson;              // owned; NULL unless the mode is Lesson
    struct labwork work;                // filled if the mode is Lab
    int longest_prompt, longest_answer; // of the model; 0 = no model was opened
};

// Opens what the options ask for, with progress on a terminal. Owner: footage_close.
bool footage_open(struct footage *out, const struct options *options, struct why *why);
void footage_close(struct footage *footage); // a zeroed one is fine

// The state that a film and a window with these options begin with.
struct stage_state footage_stage(const struct options *options);

// Opens the lesson of --lesson or --lang. False: *out is NULL; `why` names the fault in the
// file, or the languages that exist. *is_needed: the user asked for that lesson.
bool footage_lesson(struct lesson **out, bool *is_needed, const struct options *options,
                    struct why *why);

// Prints a line on standard error. What a note quotes comes from outside: see utf8_print.
void footage_tell_note(const char *note);

#endif
