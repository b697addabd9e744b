// What the files of actions share; nobody else needs it.
#ifndef APP_STATE_ACTIONS_PARTS_H
#define APP_STATE_ACTIONS_PARTS_H

#include "app/state/actions.h"

struct stage_state actions_toasted(struct stage_state state, enum toast toast);
// Moves to `run_ns` and settles: what was measured by then has landed.
struct stage_state actions_moved(struct stage_state state, int64_t wall_ns, int64_t run_ns);
struct stage_state actions_stopped_at(struct stage_state state, int64_t wall_ns, int64_t run_ns);
struct stage_state actions_restarted(struct stage_state state, int64_t wall_ns);

// actions_panel.c: what is open beside the stage, the focus, the guesses, the lengths.
// Each says whether the action was its own.
bool actions_by_focus(struct stage_state *state, enum action action,
                      const struct actions_context *context);
bool actions_by_side(struct stage_state *state, enum action action,
                     const struct actions_context *context);
struct stage_state actions_with_lengths(struct stage_state state, enum action action,
                                        const struct actions_context *context);

// actions_lesson.c: steps and chapters of the lesson, pages of Lab.
bool actions_by_lesson(struct stage_state *state, enum action action,
                       const struct actions_context *context);
struct stage_state actions_enter_mode(struct stage_state state, enum mode_choice mode,
                                      const struct actions_context *context);

#endif
