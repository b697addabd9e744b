// (state, action) -> state. Everything a user can do is an action, everything that
// the window remembers about the user's choices is in `struct stage_state`, and
// actions_apply is a pure function between the two: no clock, no SDL, no drawing.
// What needs the outside world (measure again, save a still) is left as a request
// that the loop carries out.
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
    ACTION_PAGE_NEXT, // the clicker's: a page of plots in Lab, else an event
    ACTION_PAGE_BACK,
    ACTION_CHAPTER_NEXT,
    ACTION_CHAPTER_BACK,
    ACTION_START,
    ACTION_END,
    ACTION_FRAME_NEXT,
    ACTION_FRAME_BACK,
    ACTION_PERIOD, // "." : blank in Show mode, else one frame on
    ACTION_UP,     // the focus of panel or lab; without any, faster and slower
    ACTION_DOWN,
    ACTION_LESS, // moves what has the focus
    ACTION_MORE,
    ACTION_ENTER,     // what has the focus
    ACTION_SCROLL_UP, // a text that needs more than the panel's room
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
    ACTION_PRESENT, // F5: Show mode and full screen together
    ACTION_NEXT_DISPLAY,
    ACTION_BLANK,
    ACTION_HELP,
    ACTION_LOG,
    ACTION_GLOSSARY,
    ACTION_WHY,
    ACTION_PREDICT,
    ACTION_EDIT,
    ACTION_SIMPLE,
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

// What the loop must do after an action; cleared by it.
enum request {
    REQUEST_MEASURE = 1 << 0,
    REQUEST_STILL = 1 << 1,
    REQUEST_NEXT_DISPLAY = 1 << 2,
    REQUEST_QUIT = 1 << 3,
    REQUEST_MEASURE_SOON = 1 << 4, // when the hand has come to rest
    REQUEST_KEEP = 1 << 5,         // the run shown, to compare with
    REQUEST_EDIT = 1 << 6,         // the prompt's editor has been opened
};

// What is said for two seconds after an action.
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
    TOAST_NO_LENGTHS, // a replayed or lesson run has the lengths it has
    TOAST_NO_PROMPT,  // nothing here can measure a prompt
    TOAST_NO_LESSON,
    TOAST_GUESS_FIRST,
    TOAST_CALM,
    TOAST_LAST_STEP, // of the lesson
    TOAST_STILL_MEASURING,
    TOAST_OTHER, // text set by the loop
};

enum { TEXT_STEP_MIN = -4, TEXT_STEP_MAX = 8 };

struct stage_state {
    struct playhead playhead;
    int64_t landed_ns; // see scene_options; follows every seek
    enum clock_choice clock;
    enum run_counting counting[2]; // by clock
    bool is_rate_chosen;           // by the user: kept when the run changes
    enum mode_choice mode;
    enum mode_choice mode_before; // presenting
    enum theme_id theme;
    int text_step;
    bool is_fullscreen, is_presenting, is_blank, is_help;
    bool is_calm;              // nothing moves between two events
    enum side side;            // what is open in the panel
    struct lesson_place place; // of the lesson; a chapter that follows the run goes by time
    int focus;                 // control that the keyboard is on, -1 = none
    int list_focus;            // line of log or glossary, -1 = the one that belongs to now
    struct guess guess;
    int page;                         // of Lab
    int scroll;                       // lines of the panel's text scrolled past
    int prompt_tokens, answer_tokens; // asked for; 0 = as the prompt has, to the end token
    unsigned requests;
    enum toast toast;
    int toast_count; // +1 with every toast, so that the same one shows again
};

struct actions_context {
    const struct run *run; // shown now; a prefix while it grows
    int64_t wall_ns;
    int longest_prompt, longest_answer; // what the model's context allows
    const struct lesson *lesson;        // NULL = none could be read
    bool can_measure;                   // there is an engine
    bool can_schedule;                  // the lesson's rule takes any length
    bool can_model;                     // other lengths can be computed from a sweep
    bool can_swap_clock;                // there are both clocks
    // Of what is on the screen: panel or lab.
    int control_count, line_count, page_count;
    int scroll_most;          // how far the panel's text scrolls, 0 = all of it shows
    int first_term;           // of the glossary: the first one underlined in the panel, -1 = none
    enum panel_target target; // of the control in focus
    bool has_question;        // the step asks for a split, and it is not answered yet
};

struct stage_state actions_apply(struct stage_state state, enum action action,
                                 const struct actions_context *context);

// Puts a control to `ppm` of its way, as a mouse does.
struct stage_state actions_set(struct stage_state state, enum panel_target target, int ppm,
                               const struct actions_context *context);

// To a moment of the run, settled: a click on the clock or on a line of the log.
struct stage_state actions_seek(struct stage_state state, int64_t run_ns,
                                const struct actions_context *context);

// Where a new run is shown in Lesson and Lab: where the step rests, at the end. Other
// modes: unchanged.
struct stage_state actions_rest(struct stage_state state, const struct actions_context *context);

// Bounds and rate for a run that is shown from now on, keeping the place: the same
// event and the same share of the way to the next. `before` may be NULL (then the
// start).
struct stage_state actions_show_run(struct stage_state state, const struct run *run,
                                    const struct run *before, int64_t wall_ns);

#endif
