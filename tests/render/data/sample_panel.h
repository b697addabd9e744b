// Panels for tests, filled as the app would fill them: a step of the lesson, sliders
// with bars, a question, the log, the editor, the glossary. Test-only.
#ifndef TESTS_RENDER_DATA_SAMPLE_PANEL_H
#define TESTS_RENDER_DATA_SAMPLE_PANEL_H

#include "render/data/panel.h"

enum sample_panel_kind {
    SAMPLE_STEP,     // four blocks
    SAMPLE_PARTIES,  // who acts, two blocks, a takeaway
    SAMPLE_LOGGED,   // four blocks and the last events
    SAMPLE_SLIDERS,  // a block, two bars, two sliders
    SAMPLE_QUESTION, // a split, a slider, both with what was measured, a switch, a button
    SAMPLE_LOG,
    SAMPLE_EDITOR,
    SAMPLE_GLOSSARY,
    SAMPLE_PANELS
};

void sample_panel(struct panel *panel, enum sample_panel_kind kind);

#endif
