// Everything a user can do is an action; all choices of the user are in struct stage_state;
// actions_apply is the pure function (state, action) -> state. What needs the outside world
// (measure again, save a still) becomes a request that the window's loop carries out.
#ifndef APP_STATE_ACTIONS_H
#define APP_STATE_ACTIONS_H

#include "app/lesson/lesson.h"
#include "app/state/choices.h"
#include "app/state/guess.h"
#include "app/state/playhead.h"
#include "app/state/side.h"
#include "compute/run/run.h"
#include "render/paint/theme.h"

enum action {
    ACTION_NONE,
    ACTION_PLAY_PAUSE,
    ACTION_EVENT_NEXT,
    ACTION_EVENT_BACK,
    ACTION_PAGE_NEXT, // a clicker's key: the next plots in Lab, else the next event
    ACTION_PAGE_BACK,
    ACTION_CHAPTER_NEXT,
    ACTION_CHAPTER_BACK,
    ACTION_START,
    ACTION_END,
    ACTION_FRAME_NEXT,
    ACTION_FRAME_BACK,
    ACTION_PERIOD, // "." : blank in Show mode and while presenting, else one frame on
    ACTION_UP,     // moves the focus in panel or lab; where there is none: faster
    ACTION_DOWN,
    ACTION_LESS, // changes the control that has the focus
    ACTION_MORE,
    ACTION_ENTER,     // presses what has the focus
    ACTION_SCROLL_UP, // for a text longer than the panel
    ACTION_SCROLL_DOWN,
    ACTION_SCROLL_PAGE,
    ACTION_FASTER,
    ACTION_SLOWER,
    ACTION_REAL_TIME,
    ACTION_CLOCK,
    ACTION_COUNTING,
    ACTION_MODE,
    ACTION_THEME,
    ACTION_TEXT_LARGER,
    ACTION_TEXT_SMALLER,
    ACTION_TEXT_NORMAL,
    ACTION_FULLSCREEN,
    ACTION_PRESENT, // F5: Show mode and full screen together; only Esc ends it
    ACTION_NEXT_DISPLAY,
    ACTION_BLANK,
    ACTION_HELP,
    ACTION_LOG,
    ACTION_GLOSSARY,
    ACTION_WHY,
    ACTION_PREDICT,
    ACTION_EDIT,
    ACTION_SIMPLE,
    ACTION_MODELS,
    ACTION_KEEP,
    ACTION_CALM,
    ACTION_CLOSE, // Esc: closes what is open, never quits
    ACTION_RESTART,
    ACTION_MEASURE,
    ACTION_PROMPT_SHORTER,
    ACTION_PROMPT_LONGER,
    ACTION_ANSWER_SHORTER,
    ACTION_ANSWER_LONGER,
    ACTION_STILL,
    ACTION_QUIT,
    ACTION_COUNT
};

// What the loop must do after an action. The loop clears it.
enum request {
    REQUEST_MEASURE = 1 << 0,
    REQUEST_STILL = 1 << 1,
    REQUEST_NEXT_DISPLAY = 1 << 2,
    REQUEST_QUIT = 1 << 3,
    REQUEST_MEASURE_SOON = 1 << 4, // once the slider has stopped moving
    REQUEST_KEEP = 1 << 5,         // keep the run shown, to compare with
    REQUEST_EDIT = 1 << 6,         // the prompt's editor has been opened
    REQUEST_MODELS = 1 << 7,       // the list of models has been opened
    REQUEST_OPEN = 1 << 8,         // open the model in focus there
};

// The message shown for about two seconds after an action.
enum toast {
    TOAST_NONE,
    TOAST_RATE,
    TOAST_CLOCK,
    TOAST_ONE_CLOCK,
    TOAST_COUNTING,
    TOAST_MODE,
    TOAST_THEME,
    TOAST_TEXT,
    TOAST_LENGTHS,
    TOAST_MEASURING,
    TOAST_AT_START,
    TOAST_AT_END,
    TOAST_NO_LENGTHS, // the lengths of this run are fixed
    TOAST_NO_PROMPT,  // nothing here can measure a prompt
    TOAST_NO_LESSON,
    TOAST_GUESS_FIRST,
    TOAST_CALM,
    TOAST_LAST_STEP, // of the lesson
    TOAST_STILL_MEASURING,
};

enum { TEXT_STEP_MIN = -4, TEXT_STEP_MAX = 8 };

struct stage_state {
    struct playhead playhead;
    int64_t landed_ns; // drops of answers out by here left no trail; set by every seek
    enum clock_choice clock;
    enum run_counting counting[2]; // by clock
    bool is_rate_chosen;           // by the user; then it is kept when the run changes
    enum mode_choice mode;
    enum mode_choice mode_before; // the mode to return to after presenting
    enum theme_id theme;
    int text_step;
    bool is_fullscreen, is_presenting, is_blank, is_help;
    bool is_calm;              // nothing moves between two events
    enum side side;            // what is open in the panel
    struct lesson_place place; // in a chapter that follows the run, the moment decides the step
    int focus;                 // index of the control that has the keyboard's focus, -1 = none
    int list_focus;            // line of log or glossary, -1 = the line of the moment shown
    struct guess guess;
    int page;                         // of Lab
    int scroll;                       // lines of the panel's text scrolled past
    int prompt_tokens, answer_tokens; // requested; 0 = as given, until the end token
    unsigned requests;
    enum toast toast;
    int toast_count; // grows with every toast, so that a repeated one is noticed
};

struct actions_context {
    const struct run *run; // shown now, never NULL; may still be growing
    int64_t wall_ns;
    int longest_prompt, longest_answer; // what the model's context allows
    const struct lesson *lesson;        // NULL = none could be read
    bool can_measure;                   // there is an engine
    bool can_schedule;                  // the lesson's rule takes any length
    bool can_model;                     // other lengths can be computed from a sweep
    bool can_swap_clock;                // there are both clocks
    // Taken from the last frame drawn.
    int control_count, line_count, page_count;
    int scroll_most;          // lines the panel's text can scroll, 0 = all of it is visible
    int first_term;           // glossary index of the panel's first underlined word, -1 = none
    enum panel_target target; // of the control in focus; without one, an open question's bar
    bool has_question;        // the step asks a question that is not answered yet
};

struct stage_state actions_apply(struct stage_state state, enum action action,
                                 const struct actions_context *context);

// Sets a control to `ppm` of its range, as a mouse does. Clamped.
struct stage_state actions_set(struct stage_state state, enum panel_target target, int ppm,
                               const struct actions_context *context);

// Pauses at a moment of the run, as a click on the clock or on a line of the log does.
struct stage_state actions_seek(struct stage_state state, int64_t run_ns,
                                const struct actions_context *context);

// Pauses a new run where its mode shows it: Lesson at the moment of its step, Lab at the
// end. Other modes: unchanged.
struct stage_state actions_rest(struct stage_state state, const struct actions_context *context);

// Sets the playhead's bounds and rate for a new run, at the same place as in `before`: the
// same event and the same share of the way to the next. NULL: at the start.
struct stage_state actions_show_run(struct stage_state state, const struct run *run,
                                    const struct run *before, int64_t wall_ns);

#endif
