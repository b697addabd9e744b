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

#include "app/state/actions.h"
#include "app/state/at_hand.h"
#include "render/data/panel.h"

// Fills the panel that the mode and the open side ask for. `at->run` and `at->lesson` are
// there. A list's focus out of range is the nearest; of the log, -1 is what happened last.
void panel_fill(struct panel *out, const struct at_hand *at, const struct stage_state *stage);

// Lines that the focus goes through: of the log all events, also those without room in
// panel.lines; of SIDE_SIMPLE its steps.
int panel_lines(const struct at_hand *at, enum side side);

// Sliders of lengths go by octaves: 1 .. longest on a logarithmic way, in whole tokens.
// Back and forth gives the same length up to 32,768, above it a neighbour at most.
int panel_length_of(int ppm, int longest);
int panel_ppm_of(int length, int longest);
// To the next rung: 1, 2, 3, 4, 6, 8, 12, 16, 24, ... and longest itself.
int panel_length_step(int length, int direction, int longest);

#endif
