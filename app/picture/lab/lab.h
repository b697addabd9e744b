// Lab mode's picture as data: lanes of the runs at hand, the sweep's points and fits as
// plots, the roofs, the map of who takes the time, with and without a cache. Pure: the
// same source gives the same lab. Knows both compute/ and render/data/lab.h.
//
// Of a growing run nothing is told that comes after the moment, not even its length:
// every prefix that reaches the moment gives the same lab. Of a finished run the figures
// stand at once; only its lane is played. What is missing gives a plot's message, never
// a number.
#ifndef APP_PICTURE_LAB_LAB_H
#define APP_PICTURE_LAB_LAB_H

#include "compute/measure/floors.h"
#include "compute/measure/sweep.h"
#include "compute/run/run.h"
#include "render/data/lab.h"

enum { LAB_PAGES = 3 }; // knee + roof, step + map, with and without a cache + the two runs

struct lab_source {
    const struct run *run;       // shown now, NULL = none yet
    int64_t t_ns;                // the playhead's moment
    const struct run *kept;      // K or --compare, NULL = none
    const char *kept_name;       // what it is called: "kept", or the file's name
    const struct run *uncached;  // the same answer, everything recomputed; NULL = none yet
    const struct sweep *sweep;   // NULL or no points yet: being measured, or none
    const struct floors *floors; // floors_of the run shown; NULL = roofs not measured
    bool is_measuring;           // the run for the sliders is on its way
    bool is_sweeping;            // so are more of the sweep's points, now or later
    bool is_modelled;            // no device: lengths come from the sweep, and without
                                 // one the sliders are off, but for a lesson's
    const char *trouble;         // why there is no sweep, or NULL
    // Under the hand; 0 = as the run has them. A longest length of 1 or less cannot be moved.
    int prompt_tokens, answer_tokens, longest_prompt, longest_answer;
    int longest_sweep; // the longest prompt the sweep goes to, 0 = longest_prompt
    int page;          // 0 .. LAB_PAGES - 1, the nearest is shown
    int focus;         // 0, 1: the slider that the keyboard is on, else none
    int plot_focus;    // 0, 1: the plot it is on, else none
};

void lab_fill(struct lab *out, const struct lab_source *source);

#endif
