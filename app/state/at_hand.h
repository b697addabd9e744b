// What there is to show, whoever shows it: the run and the moment, the lesson, what was
// measured beside the run, the prompt being edited. Together with the user's choices
// (struct stage_state) it is all that a picture is made from, in a window, a still or a
// film. Pointers are borrowed while a frame is composed.
#ifndef APP_STATE_AT_HAND_H
#define APP_STATE_AT_HAND_H

#include <stdbool.h>
#include <stdint.h>

// A model file that could be opened.
struct at_hand_model {
    const char *name, *place; // "llama3.2:1b", "Ollama"
    int64_t bytes;
    bool is_open; // it is the model here
};

struct at_hand {
    const struct run *run; // NULL = none yet; may be growing
    int64_t t_ns;          // the moment; may lie before the run's start or after its end
    bool is_live;          // the run grows on the screen
    bool is_measuring;     // a new run for the lengths asked for is being measured
    bool is_asked;         // or soon will be: the slider has just been moved
    bool has_engine;       // this machine measures; if not, what is measured is from a file
    bool can_move;         // something gives runs of other lengths: engine, sweep or rule
    int longest_prompt, longest_answer; // in tokens; 1 or less: this length is fixed
    const struct lesson *lesson;        // NULL = none, then there is no panel
    const struct run *before;           // the run before the last new lengths, NULL = none

    // Measured beside the run.
    const struct sweep *sweep;       // NULL or without points: being measured, or none
    bool is_sweeping;                // more of its points are still to come
    int longest_sweep;               // its longest prompt, 0 = longest_prompt
    const char *trouble;             // why there is no sweep, or NULL
    const struct roofline *roofline; // of this run; NULL = not measured
    const struct run *uncached;      // the same answer without a KV cache, NULL = not measured
    const struct run *kept;          // the run to compare with, NULL = none
    const char *kept_name;           // its file's name; NULL = "kept"

    // The prompt being edited.
    const struct editor *editor;    // NULL = an empty field
    const char *composed;           // by an input method at its cursor; NULL = nothing
    const struct view_token *tiles; // [tile_count], its last tokens
    int tile_count, prompt_count;   // prompt_count: tokens in all
    const char *editor_message;     // why it cannot be measured, or NULL

    // The models to choose from.
    const struct at_hand_model *models; // [model_count]
    int model_count;
    int model_focus;                             // which one the rest is about, -1 = none
    const char *model_architecture, *model_type; // "" = unknown
    const char *model_refusal;                   // why it does not open, or NULL
};

#endif
