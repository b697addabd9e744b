// Labs for tests, without a run: a knee and a roof, a step plot and the map of who
// takes the time, empty plots, one lane or two. Numbers of an invented machine: one
// pass costs 0.4 ms up to some 100 tokens, a step 0.9 ms. Test-only.
#ifndef TESTS_RENDER_DATA_SAMPLE_LAB_H
#define TESTS_RENDER_DATA_SAMPLE_LAB_H

#include "render/data/lab.h"

struct sample_lab {
    int page;  // 0 knee and roof, 1 steps and map, 2 nothing measured yet
    int lanes; // 1 or 2
    int prompt_tokens, answer_tokens;
    int playhead_ppm;
};

void sample_lab(struct lab *lab, const struct sample_lab *sample);

#endif
