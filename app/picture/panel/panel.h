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

#endif
