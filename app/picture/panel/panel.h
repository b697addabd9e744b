// What the panel beside the stage holds: the lesson's step, or what was opened over
// it: log, glossary, why, the prompt's editor, the guesses. Pure: run + moment + lesson
// + what the user chose -> struct panel. Knows both compute/run/run.h and render/data/panel.h.
//
// Like the scene it never looks past the moment: what a prefix of the run shows there is
// what the whole run shows. Three things are let through, because they were asked for:
// the log lists the events to come (their times, not their tokens), the reveal of "where
// does the time go?" is computed from the whole run once the split is set, and the
// guesses meet what came once the run has played to its end.
#ifndef APP_PICTURE_PANEL_PANEL_H
#define APP_PICTURE_PANEL_PANEL_H

#include "app/lesson/lesson.h"
#include "app/state/editor.h"
#include "app/state/guess.h"
#include "app/state/side.h"
#include "compute/measure/floors.h"
#include "render/data/panel.h"

#include <stdbool.h>

struct panel_source {
    const struct lesson *lesson; // never NULL
    const struct run *run;       // shown now; may be growing. Never NULL
    int64_t t_ns;                // anything
    enum side side;
    struct lesson_place place; // of a chapter that follows the run, the moment picks the step
    int focus;                 // control that the keyboard is on, -1 = none
    int list_focus;            // line of the log or the glossary, step of SIDE_SIMPLE;
                               // out of range: the nearest. Log, -1: what happened last
    const struct guess *guess; // NULL = guess_new()
    // The hand's lengths, and how far they go.
    int prompt_tokens, answer_tokens; // asked for; 0 = the prompt's own, to the end token
    int longest_prompt, longest_answer;
    bool can_measure;  // else sliders are off: no engine, schedule or sweep behind them
    bool is_measuring; // a new run for these lengths is on its way
    // The run before the last move of a slider, for the bars; NULL = none.
    const struct run *before;
    // SIDE_PROMPT
    const struct editor *editor;    // NULL = an empty field
    const struct view_token *tiles; // [tile_count], the prompt being typed
    int tile_count, prompt_count;   // tiles given; tokens in all
    const char *editor_message;     // why it cannot be measured, or NULL
    // SIDE_WHY: measured roofs of the device, NULL = not measured
    const struct floors *floors;
};

void panel_fill(struct panel *out, const struct panel_source *source);

// Controls and lines the panel of this source has: bounds of the focus. Of the log all
// events are counted, also those that found no room in panel.lines; of SIDE_SIMPLE its
// steps.
int panel_controls(const struct panel_source *source);
int panel_lines(const struct panel_source *source);

// What a control of the panel moves.
enum panel_target panel_target(const struct panel_source *source, int control);

// Sliders of lengths go by octaves: 1 .. longest on a logarithmic way, in whole tokens.
// Back and forth gives the same length up to 32,768, above it a neighbour at most.
int panel_length_of(int ppm, int longest);
int panel_ppm_of(int length, int longest);
// To the next rung: 1, 2, 3, 4, 6, 8, 12, 16, 24, ... and longest itself.
int panel_length_step(int length, int direction, int longest);

// The run time of a line of the log; -1: no such line.
int64_t panel_log_ns(const struct run *run, int line);
int panel_log_line_at(const struct run *run, int64_t t_ns); // the last one that has happened

#endif
