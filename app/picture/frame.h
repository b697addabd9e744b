// One frame: from what there is to show and what the user chose to a list of drawing
// commands, the same for the window and for the recorder. It decides which of the three
// pictures is drawn (the stage, the stage with a panel, the lab) and finds what lies under
// the pointer.
#ifndef APP_PICTURE_FRAME_H
#define APP_PICTURE_FRAME_H

#include "app/picture/lab/lab.h"
#include "app/picture/panel/panel.h"
#include "app/state/actions.h"
#include "render/paint/layout_lab.h"
#include "render/paint/paint.h"

// What a frame is drawn for.
struct frame_target {
    int width_px, height_px;
    bool is_film; // the stage gets the room of the window's key hints
    struct text *text;
};

// The buffers of a frame and what they were filled with; zero-initialise, then reuse from
// frame to frame.
struct frame {
    struct view view;
    struct panel panel;
    struct lab lab;
    struct layout layout;
    struct layout_input layout_input;
    struct lab_layout lab_layout;
    struct paint paint; // as last drawn
    struct cmdlist scene;
    bool has_panel, is_lab; // what was drawn
    int panel_cut;          // parts of the panel that found no room
    int scroll_most;        // lines that the panel's text can scroll
    int line_count;         // lines that the panel's focus goes through
    int64_t scale_ns;       // run time of the stage's whole clock
};

// Fills frame->scene, and all that is asked of the frame below. Without a run the scene is
// empty.
void frame_compose(struct frame *frame, const struct at_hand *at, const struct stage_state *stage,
                   const struct frame_target *target);

// Fills the part of `context` that depends on what was drawn. `context->lesson` is set.
void frame_fill_context(struct actions_context *context, const struct frame *frame,
                        const struct stage_state *stage);

// What lies under the pointer, and the fields of frame_hit that then count.
enum frame_part {
    FRAME_NOTHING,
    FRAME_CONTROL, // target, ppm
    FRAME_LINE,    // of log or glossary: index
    FRAME_TERM,    // an underlined word: term
    FRAME_CLOCK,   // t_ns
    FRAME_PAGE,    // of Lab: index
};
struct frame_hit {
    enum frame_part part;
    enum panel_target target;
    int index, ppm;
    int64_t t_ns; // run time
    char term[40];
};
struct frame_hit frame_hit(const struct frame *frame, int x_px, int y_px);

// Where a drag that began on a control or on the clock is now, at most at its ends.
int frame_drag_ppm(const struct frame *frame, int control, int x_px);
int64_t frame_clock_ns(const struct frame *frame, int x_px);

#endif
