// What the panel beside the stage holds: the lesson's step, or what was opened over it: log,
// glossary, why, the prompt's editor, the guesses.
//
// Like the scene it never looks past the moment: a prefix of the run that reaches the
// moment gives the same panel as the whole run. Three exceptions are asked for by the
// user: the log lists the events to come (their times, not their tokens), the answer to
// "where does the time go?" is computed from the whole run once the split is set, and the
// guesses are compared with the run once it has played to its end.
#ifndef APP_PICTURE_PANEL_PANEL_H
#define APP_PICTURE_PANEL_PANEL_H

#include "app/state/actions.h"
#include "app/state/at_hand.h"
#include "render/data/panel.h"

// Fills the panel of the open side. Needs `at->run` and `at->lesson`. A focus outside of a
// list means its nearest line; -1 in the log, the last event that has happened.
void panel_fill(struct panel *out, const struct at_hand *at, const struct stage_state *stage);

// How many lines the focus goes through: all events of the log, also those without room in
// panel.lines; all terms of the glossary; the steps of SIDE_SIMPLE; else 0.
int panel_lines(const struct at_hand *at, enum side side);

#endif
