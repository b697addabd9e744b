// What the files of the reducer share: its handlers, one for each row of the table in
// actions.c, and the few changes that several of them make. For those files only.
#ifndef APP_STATE_ACTIONS_PARTS_H
#define APP_STATE_ACTIONS_PARTS_H

#include "app/state/actions.h"

// `which` comes from the row: a direction (-1, 1), a side, a request.
typedef void action_handler(struct stage_state *state, const struct actions_context *context,
                            int which);

// actions_time.c: moving through the run. Settled: what was measured by then has landed.
void stage_move(struct stage_state *state, int64_t wall_ns, int64_t run_ns);
void stage_stop_at(struct stage_state *state, int64_t wall_ns, int64_t run_ns);
void stage_restart(struct stage_state *state, int64_t wall_ns);
action_handler action_play, action_event, action_page, action_chapter, action_edge, action_frame;
action_handler action_rate, action_restart;

// actions_lesson.c: the same keys where a lesson is open.
bool stage_in_lesson(const struct stage_state *state, const struct actions_context *context);
void lesson_to_step(struct stage_state *state, const struct actions_context *context,
                    int direction);
void lesson_to_chapter(struct stage_state *state, const struct actions_context *context,
                       int direction);
void lesson_to_edge(struct stage_state *state, const struct actions_context *context,
                    int direction);
action_handler action_mode;

// actions_panel.c: what is open beside the stage, the focus, the guesses, the lengths.
bool stage_is_guessing(const struct stage_state *state);
void stage_close_side(struct stage_state *state);
action_handler action_focus, action_nudge, action_enter, action_scroll, action_side;
action_handler action_prompt, action_answer, action_counting;

// actions.c
void stage_toast(struct stage_state *state, enum toast toast);

#endif
