// The state of the window's loop, shared by its files: play.c calls play_frame.c,
// play_input.c and play_run.c; all of them call player.c. No other file includes it.
#ifndef APP_WINDOW_PLAYER_H
#define APP_WINDOW_PLAYER_H

#include "app/picture/frame.h"
#include "app/runs/session.h"
#include "app/window/desk.h"
#include "app/window/memory.h"
#include "app/window/pointer.h"
#include "app/window/shelf.h"
#include "render/pixel/window.h"

// Too large for the stack.
struct easel {
    struct frame frame;
    struct cmdlist hud;
    struct desk desk;
};

struct player {
    const struct options *options; // of the command line
    struct text *text;
    struct window *window;
    struct session *session;
    struct easel *easel;
    struct lesson *lesson; // owned, NULL = none could be read
    struct input input;
    struct pointer pointer;
    struct shelf shelf; // filled when the list of models is opened
    struct stage_state stage;
    struct memory memory; // as loaded, or defaults
    int first_width, first_height;
    struct stage_state first; // at the start: what differs at the end was changed by the user

    const struct run *run; // shown now, NULL = none yet
    bool has_shown;        // some run has been on screen
    bool has_presented;
    bool is_live, is_measuring;
    bool can_swap_clock; // there are both clocks
    const char *message;
    int loaded_permille; // of a model that is being opened, or -1
    // The place to restore once the other clock's run is complete. NULL = none.
    const struct run *place_run;
    struct playhead place;

    char toast[128];
    int toast_seen; // stage.toast_count of the last toast shown
    int64_t toast_until_ns;
    int pointer_x, pointer_y;
    int64_t pointer_until_ns;
    enum action toggled; // last, and when
    int64_t toggled_ns;
    int64_t measure_at_ns; // when to measure after a slider was moved; 0 = never
    // By clock: prompt and answer length that its run was last requested with.
    int asked_prompt[2], asked_answer[2];
    bool has_told_failure;      // the user was told that the device was lost
    bool has_chosen;            // a model, and was not yet told whether it opens
    const struct run *said_run; // whose step was printed last, for --describe
    int said_event;
    struct lesson_place said_place;
    bool is_hidden, is_stale; // not visible; must be drawn again
    int64_t looked_ns;        // when the clock was last read
    uint64_t shown_hash;      // of the lists on the screen
    int64_t next_frame_ns;    // absolute deadline while something moves
    char title[96];
};

// player.c
void player_trace(const char *what, int64_t value_ns);
void player_toast(struct player *player, int64_t wall_ns, const char *text);
// The longest prompt and answer that can be shown, in tokens.
struct player_reach {
    int prompt, answer;
};
struct player_reach player_reach(const struct player *player);
struct actions_context player_context(const struct player *player, int64_t wall_ns);

// play_run.c: which run is shown, and what is measured for it.
// Shows the session's current run: with keep_place at the place of the run before, else
// from its start.
void player_refresh_run(struct player *player, int64_t wall_ns, bool keep_place);
void player_poll(struct player *player, int64_t wall_ns);
void player_measure(struct player *player, int64_t wall_ns);
// Another model (NULL: the bundled one) in place of the one there is. `name` is said.
void player_open_model(struct player *player, const char *path, const char *name, int64_t wall_ns);
// Opens the list of models, with `given` in it and in focus (NULL: the open one).
void player_list_models(struct player *player, const char *given);

// play_input.c: applies what the user did. False: quit.
bool player_take_event(struct player *player, struct input_event *event, int64_t wall_ns);

// play_frame.c
void player_draw(struct player *player, int64_t wall_ns);
// With --describe: prints the line of each step once, when it is shown.
void player_say_step(struct player *player, int64_t wall_ns);

#endif
