// Which run is asked for: a saved one, a lesson's, or one to be measured now. Texts belong to
// the caller; zero and NULL mean "not given".
#ifndef APP_RUNS_REQUEST_H
#define APP_RUNS_REQUEST_H

#include "app/state/choices.h"

#include <stdint.h>

struct run_request {
    const char *run_path; // a run file to replay
    enum clock_choice clock;
    enum counting_choice counting;
    const char *schedule; // of the lesson clock: "module-7", "stage-0" or a file

    // What measures.
    const char *device;          // "auto", "cpu", "cuda" or "cuda:N"
    const char *model_path;      // NULL = the bundled model
    const char *shape;           // a preset of compute/model/shape.h instead of a model
    enum weights_choice weights; // of the shape
    int threads;                 // 0 = physical cores
    int repeats;                 // warm runs; 0 = the command's default

    // What is asked of it.
    const char *prompt;      // NULL = the default prompt
    const char *prompt_file; // "-" = standard input
    int prompt_tokens;       // 0 = as the prompt has
    const char *chat;        // "auto", "none" or a name of compute/tokenizer/chat.h
    const char *system;      // NULL = the template's own
    int answer_tokens;       // 0 = to the end token
    uint64_t seed;           // of the sampler and of a shape's weights
    float temperature, top_p_unit;
};

#endif
