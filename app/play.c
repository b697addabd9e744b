// See play.h. The loop owns handles and three small states (session, stage, HUD); all
// knowledge of pictures is in scene and paint, all decisions in actions.
#include "play.h"

#include "actions.h"
#include "compute/stopwatch.h"
#include "compute/why.h"
#include "hud.h"
#include "input.h"
#include "render/layout.h"
#include "render/paint.h"
#include "render/surface.h"
#include "render/window.h"
#include "scene.h"
#include "session.h"
#include "signals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_HZ = 60,
    SOFTWARE_HZ = 30,
    MEASURING_HZ = 10, // beside a measurement on few cores
    FEW_CORES = 2,
};
#define TOAST_NS INT64_C(2200000000)
#define POINTER_NS INT64_C(2000000000)
// A toggle twice within this time is one press that bounced.
#define TOGGLE_GUARD_NS INT64_C(200000000)

// Large, so on the heap and not on the stack.
struct frames {
    struct view view;
    struct cmdlist scene, hud;
    struct layout layout;
    struct layout_input layout_input;
};

struct player {
    struct text *text;
    struct window *window;
    struct session *session;
    struct frames *frames;
    struct input input;
    struct stage_state stage;

    const struct run *run; // shown now, NULL = none yet
    bool has_shown;        // some run has been on screen
    bool has_presented;
    bool is_live, is_measuring;
    const char *message;
    // Where the lesson stood when its clock was left for one that is not there yet.
    const struct run *place_run;
    struct playhead place;

    char toast[128];
    int toast_seen; // stage.toast_count already put up
    int64_t toast_until_ns;
    int pointer_x, pointer_y;
    int64_t pointer_until_ns;
    int64_t toggled_ns;
    bool is_hidden, is_stale; // not on screen; must be drawn again
    uint64_t shown_hash;      // of the lists on the screen
    int64_t next_frame_ns;    // absolute deadline while something moves
    char title[96];
};

// For benchmarks and bug reports: TOKENDRIP_TRACE=1 prints moments of the wall clock
// and figures of the shown run on standard error.
static void trace(const char *what, int64_t value_ns) {
    const char *wanted = getenv("TOKENDRIP_TRACE");
    if (wanted && *wanted)
        fprintf(stderr, "trace %s %lld\n", what, (long long)value_ns);
}

// --- Which run ---

static void put_toast(struct player *player, int64_t wall_ns, const char *text) {
    snprintf(player->toast, sizeof player->toast, "%s", text);
    player->toast_until_ns = wall_ns + TOAST_NS;
}

static void follow_live(struct player *player, int64_t wall_ns, bool has_begun) {
    struct playhead *playhead = &player->stage.playhead;
    if (has_begun) {
        *playhead = (struct playhead){.mode = PLAYHEAD_LIVE, .rate = {1, 1}};
        *playhead = playhead_seek(*playhead, wall_ns, 0);
        player->stage.landed_ns = INT64_MIN;
    }
    int64_t last_ns = run_end_ns(player->run);
    if (player->run->state != RUN_OPEN)
        last_ns += playhead_run_ns(playhead->rate, PLAYHEAD_TAIL_SCREEN_NS);
    if (last_ns != playhead->last_ns)
        *playhead = playhead_set_bounds(*playhead, wall_ns, 0, last_ns);
}

// Takes what the session has to show; keeps the place when only clock or counting
// changed, starts at the beginning when another run came.
static void refresh_run(struct player *player, int64_t wall_ns, bool keep_place) {
    struct stage_state *stage = &player->stage;
    struct session_show show =
        session_show(player->session, stage->clock, stage->counting[stage->clock]);
    const struct run *before = player->run;
    bool was_live = player->is_live;
    player->message = show.message;
    player->is_measuring = show.is_measuring;
    player->is_live = show.is_live;
    player->run = show.run;
    stage->can_measure = session_can_measure(player->session);
    player->is_stale = true;
    bool is_there = show.run && show.run->state != RUN_OPEN;
    if (!is_there && keep_place && before && before->state != RUN_OPEN) {
        player->place_run = before;
        player->place = stage->playhead;
    }
    if (!show.run)
        return;
    player->has_shown = true;
    if (show.is_live) {
        follow_live(player, wall_ns, !was_live);
        return;
    }
    if (show.run == before)
        return;
    if (is_there && player->place_run) {
        before = player->place_run;
        stage->playhead = playhead_pause(player->place, wall_ns, stage->playhead.is_paused);
        player->place_run = NULL;
        keep_place = true;
    }
    if (is_there && run_tpot_ns(show.run) >= 0)
        trace("shown_tpot_ns", run_tpot_ns(show.run));
    stage->playhead.mode = PLAYHEAD_REPLAY;
    *stage = actions_show_run(*stage, show.run, keep_place ? before : NULL, wall_ns);
}

static void poll_session(struct player *player, int64_t wall_ns) {
    bool live_is_over = player->is_live && player->run->state != RUN_OPEN &&
                        playhead_is_at_end(&player->stage.playhead, wall_ns);
    if (live_is_over)
        session_end_live(player->session);
    bool wants_live = !player->stage.playhead.is_paused && !player->place_run;
    if (!session_poll(player->session, wall_ns, wants_live) && !live_is_over)
        return;
    if (player->stage.clock == CLOCK_MEASURED)
        refresh_run(player, wall_ns, false);
    player->stage.can_measure = session_can_measure(player->session);
}

// --- What the user did ---

static void save_still(struct player *player, int64_t wall_ns) {
    const struct frames *frames = player->frames;
    char name[64], why[256], toast[128];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(name, sizeof name, "tokendrip-%Y%m%d-%H%M%S.png", &local);
    struct surface *surface = NULL;
    bool ok = surface_create(&surface, frames->layout.input.width_px,
                             frames->layout.input.height_px, player->text, why);
    if (ok) {
        surface_draw(surface, &frames->scene);
        ok = surface_save_png(surface, name, why);
    }
    surface_destroy(surface);
    snprintf(toast, sizeof toast, ok ? "saved %s" : "not saved: %s", ok ? name : why);
    put_toast(player, wall_ns, toast);
}

static void measure_again(struct player *player, int64_t wall_ns) {
    char why[256];
    if (player->is_live)
        session_end_live(player->session);
    if (!session_measure(player->session, player->stage.prompt_tokens, player->stage.answer_tokens,
                         wall_ns, why))
        put_toast(player, wall_ns, why);
    refresh_run(player, wall_ns, false);
}

// Carries out what an action left to the loop. False: quit.
static bool serve_requests(struct player *player, int64_t wall_ns) {
    unsigned requests = player->stage.requests;
    player->stage.requests = 0;
    if (requests & REQUEST_STILL)
        save_still(player, wall_ns);
    if (requests & REQUEST_NEXT_DISPLAY)
        window_next_display(player->window);
    if (requests & REQUEST_MEASURE)
        measure_again(player, wall_ns);
    return !(requests & REQUEST_QUIT);
}

static bool is_toggle(enum action action) {
    return action == ACTION_FULLSCREEN || action == ACTION_PRESENT || action == ACTION_HELP ||
           action == ACTION_BLANK;
}

static void put_action_toast(struct player *player, int64_t wall_ns) {
    const struct stage_state *stage = &player->stage;
    if (stage->toast_count == player->toast_seen)
        return;
    player->toast_seen = stage->toast_count;
    char text[128] = "";
    if (player->run)
        hud_toast_text(text, sizeof text, stage, player->run);
    put_toast(player, wall_ns, text);
}

static bool act(struct player *player, enum action action, int64_t wall_ns) {
    static const struct run nothing = {.info = {.layers = 1, .prompt_tokens = 1}};
    if (is_toggle(action)) {
        if (wall_ns - player->toggled_ns < TOGGLE_GUARD_NS)
            return true;
        player->toggled_ns = wall_ns;
    }
    struct stage_state before = player->stage;
    int longest = session_longest(player->session);
    struct actions_context context = {
        .run = player->run ? player->run : &nothing,
        .wall_ns = wall_ns,
        .longest_prompt = longest > 256 ? longest - 256
                          : longest > 1 ? longest - 1
                                        : 1,
        .longest_answer = longest > 256 ? 256 : 1,
    };
    if (player->is_live && action == ACTION_RESTART)
        session_end_live(player->session);
    player->stage = actions_apply(player->stage, action, &context);
    const struct stage_state *after = &player->stage;
    if (after->is_fullscreen != before.is_fullscreen)
        window_set_fullscreen(player->window, after->is_fullscreen);
    if (after->clock != before.clock || after->counting[0] != before.counting[0] ||
        after->counting[1] != before.counting[1] || (player->is_live && action == ACTION_RESTART))
        refresh_run(player, wall_ns, true);
    bool goes_on = serve_requests(player, wall_ns);
    put_action_toast(player, wall_ns);
    player->is_stale = true;
    return goes_on;
}

static void move_pointer(struct player *player, const struct input_event *event, int64_t wall_ns) {
    player->pointer_x = event->x;
    player->pointer_y = event->y;
    window_mouse_px(player->window, &player->pointer_x, &player->pointer_y);
    player->pointer_until_ns = wall_ns + POINTER_NS;
    window_show_pointer(player->window, true);
    player->is_stale = true;
}

// False: quit.
static bool take_event(struct player *player, const struct input_event *event, int64_t wall_ns) {
    switch (event->kind) {
    case INPUT_ACTION:
        return act(player, event->action, wall_ns);
    case INPUT_HIDDEN:
        player->is_hidden = true;
        return true;
    case INPUT_SHOWN:
    case INPUT_RESIZED:
    case INPUT_EXPOSED:
        player->is_hidden = window_is_hidden(player->window);
        player->shown_hash = 0;
        player->is_stale = true;
        return true;
    case INPUT_RESET:
    case INPUT_RESET_ALL:
        window_reset(player->window);
        player->shown_hash = 0;
        player->is_stale = true;
        return true;
    case INPUT_POINTER:
        move_pointer(player, event, wall_ns);
        return true;
    case INPUT_LEFT:
        player->pointer_x = player->pointer_y = -1;
        player->is_stale = true;
        return true;
    default:
        return true;
    }
}

// --- One frame ---

static int key_hints(const struct player *player, struct paint_key keys[12]) {
    const struct stage_state *stage = &player->stage;
    int count = 0;
    keys[count++] = (struct paint_key){"Space", stage->playhead.is_paused ? "play" : "pause"};
    keys[count++] = (struct paint_key){"\xE2\x86\x90 \xE2\x86\x92", "step"};
    keys[count++] = (struct paint_key){"?", "keys"};
    keys[count++] = (struct paint_key){"+ \xE2\x88\x92", "speed"};
    if (stage->can_measure && stage->clock == CLOCK_MEASURED) {
        keys[count++] = (struct paint_key){"[ ]", "prompt"};
        keys[count++] = (struct paint_key){"{ }", "answer"};
    }
    if (stage->can_swap_clock)
        keys[count++] =
            (struct paint_key){"U", stage->clock == CLOCK_MEASURED ? "lesson units" : "measured"};
    keys[count++] = (struct paint_key){"C", "counting"};
    keys[count++] = (struct paint_key){"Tab", "mode"};
    return count;
}

static void make_layout(struct player *player) {
    struct frames *frames = player->frames;
    const struct view *view = &frames->view;
    struct layout_input input = {
        .text_step = player->stage.text_step,
        .mode = player->stage.mode == MODE_SHOW ? LAYOUT_SHOW : LAYOUT_STAGE,
        .layers = 1,
        .prompt_tokens = 1,
        .columns = 1,
        .answer_limit = 1,
    };
    window_size_px(player->window, &input.width_px, &input.height_px);
    if (player->run) {
        input.layers = view->layers;
        input.prompt_tokens = view->prompt_tokens;
        input.columns = view->columns;
        input.answer_limit = view->answer_limit;
        input.readouts = view->readout_count;
    }
    if (memcmp(&input, &frames->layout_input, sizeof input) == 0)
        return;
    frames->layout_input = input;
    layout_make(&frames->layout, &input);
}

// The clock's scale while the end is not known: the next of 1, 2, 5, 10 ... with room
// for a quarter more, so that it changes seldom.
static int64_t open_scale_ns(int64_t end_ns) {
    int64_t wanted_ns = end_ns + end_ns / 4, scale_ns = 1000;
    if (end_ns <= 0)
        return 0;
    for (int rung = 0; scale_ns < wanted_ns && scale_ns < INT64_MAX / 10; rung++)
        scale_ns = rung % 3 == 1 ? scale_ns / 2 * 5 : scale_ns * 2;
    return scale_ns;
}

static void make_scene(struct player *player, int64_t wall_ns) {
    const struct stage_state *stage = &player->stage;
    struct scene_options options = scene_options_for(player->run, stage->playhead.rate);
    options.landed_ns = stage->landed_ns;
    options.is_live = player->is_live;
    options.is_measuring = player->is_measuring;
    if (player->run->state == RUN_OPEN)
        options.scale_ns = open_scale_ns(run_end_ns(player->run));
    scene_at(&player->frames->view, player->run, playhead_at(&stage->playhead, wall_ns), &options);
}

static void compose(struct player *player, int64_t wall_ns) {
    struct frames *frames = player->frames;
    const struct stage_state *stage = &player->stage;
    if (player->run)
        make_scene(player, wall_ns);
    else
        view_clear(&frames->view);
    make_layout(player);
    struct paint paint = {&frames->view, &frames->layout, theme_find(stage->theme), player->text};
    cmdlist_clear(&frames->scene);
    cmdlist_clear(&frames->hud);
    if (player->run) {
        struct paint_key keys[12];
        paint_scene(&frames->scene, &paint);
        if (stage->mode == MODE_STAGE)
            paint_keys(&frames->hud, &paint, keys, key_hints(player, keys));
    }
    struct hud hud = {
        .toast = wall_ns < player->toast_until_ns ? player->toast : NULL,
        .message = player->run ? NULL : player->message,
        .is_help = stage->is_help,
        .is_blank = stage->is_blank,
        .pointer_x = player->pointer_x,
        .pointer_y = player->pointer_y,
    };
    hud_paint(&frames->hud, &hud, &paint);
}

static void put_title(struct player *player) {
    char title[96];
    const struct view *view = &player->frames->view;
    snprintf(title, sizeof title, "tokendrip%s%s", player->run ? ": " : "",
             player->run ? view->headline : "");
    if (strcmp(title, player->title) == 0)
        return;
    memcpy(player->title, title, sizeof title);
    window_set_title(player->window, title);
}

static void draw_frame(struct player *player, int64_t wall_ns) {
    struct frames *frames = player->frames;
    compose(player, wall_ns);
    player->is_stale = false;
    uint64_t hash = cmdlist_hash(&frames->scene) * 31 + cmdlist_hash(&frames->hud);
    if (hash == player->shown_hash)
        return;
    player->shown_hash = hash;
    put_title(player);
    window_draw(player->window, &frames->scene, &frames->hud);
    window_present(player->window);
    if (!player->has_presented)
        trace("first_frame_ns", stopwatch_now_ns());
    player->has_presented = true;
}

// --- When ---

static bool is_moving(const struct player *player, int64_t wall_ns) {
    const struct playhead *playhead = &player->stage.playhead;
    if (!player->run || player->is_hidden || player->stage.is_blank || playhead->is_paused)
        return false;
    if (player->is_live)
        return true;
    // A prompt that waits for its first measurement stands still: that one has the cores.
    return player->run->state != RUN_OPEN && !playhead_is_at_end(playhead, wall_ns);
}

static int64_t frame_ns(const struct player *player) {
    int hz = window_refresh_hz(player->window);
    if (hz > MAX_HZ)
        hz = MAX_HZ;
    if (window_is_software(player->window) && hz > SOFTWARE_HZ)
        hz = SOFTWARE_HZ;
    if (session_is_busy(player->session) && sysconf(_SC_NPROCESSORS_ONLN) <= FEW_CORES)
        hz = MEASURING_HZ;
    return 1000000000 / hz;
}

static int64_t earlier(int64_t a_ns, int64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

// The next moment at which something must happen by itself; INT64_MAX = never.
static int64_t next_deadline_ns(struct player *player, int64_t wall_ns) {
    int64_t deadline_ns = INT64_MAX;
    if (wall_ns < player->toast_until_ns)
        deadline_ns = earlier(deadline_ns, player->toast_until_ns);
    if (player->stage.is_fullscreen && wall_ns < player->pointer_until_ns)
        deadline_ns = earlier(deadline_ns, player->pointer_until_ns);
    if (!is_moving(player, wall_ns))
        return deadline_ns;
    int64_t period_ns = frame_ns(player);
    if (player->next_frame_ns <= wall_ns) {
        int64_t late_ns = wall_ns - player->next_frame_ns;
        player->next_frame_ns += (late_ns / period_ns + 1) * period_ns;
    }
    return earlier(deadline_ns, player->next_frame_ns);
}

static void expire(struct player *player, int64_t wall_ns) {
    if (player->toast_until_ns && wall_ns >= player->toast_until_ns) {
        player->toast_until_ns = 0;
        player->is_stale = true;
    }
    if (player->pointer_until_ns && wall_ns >= player->pointer_until_ns &&
        player->stage.is_fullscreen) {
        player->pointer_until_ns = 0;
        window_show_pointer(player->window, false);
    }
}

// Sleeps until an event or the deadline. False: quit.
static bool wait_and_act(struct player *player, int64_t deadline_ns) {
    struct input_event event;
    int64_t wall_ns = stopwatch_now_ns();
    int64_t wait_ns = deadline_ns == INT64_MAX ? -1 : deadline_ns - wall_ns;
    int timeout_ms = -1;
    if (deadline_ns != INT64_MAX)
        timeout_ms = wait_ns <= 0 ? 0 : (int)((wait_ns + 999999) / 1000000);
    if (player->is_stale && !player->is_hidden)
        timeout_ms = 0;
    while (input_wait(&player->input, &event, timeout_ms)) {
        if (!take_event(player, &event, stopwatch_now_ns()))
            return false;
        timeout_ms = 0;
    }
    return true;
}

static void loop(struct player *player) {
    for (bool goes_on = true; goes_on && !signals_stop_asked();) {
        int64_t wall_ns = stopwatch_now_ns();
        poll_session(player, wall_ns);
        if (!player->has_shown && session_has_failed(player->session))
            return; // nothing ever came: the reason is better read on the terminal
        expire(player, wall_ns);
        bool is_due = is_moving(player, wall_ns) && wall_ns >= player->next_frame_ns;
        if (!player->is_hidden && (player->is_stale || is_due))
            draw_frame(player, wall_ns);
        window_keep_awake(player->window,
                          is_moving(player, wall_ns) || player->stage.is_presenting);
        goes_on = wait_and_act(player, next_deadline_ns(player, wall_ns));
    }
}

// --- Start and end ---

static struct stage_state first_stage(const struct options *options,
                                      const struct session *session) {
    struct stage_state stage = {
        .playhead = {.rate = options->rate.num ? options->rate : (struct playhead_rate){1, 1}},
        .landed_ns = INT64_MIN,
        .clock = options->clock,
        .is_rate_chosen = options->rate.num != 0,
        .mode = options->mode,
        .theme = options->theme,
        .text_step = options->text_step,
        .is_fullscreen = options->is_fullscreen || options->is_projector,
        .is_presenting = options->is_projector,
        .answer_tokens = options->answer_tokens,
    };
    if (options->is_projector && !options->is_theme_given)
        stage.theme = THEME_PROJECTOR;
    if (options->is_projector)
        stage.mode = MODE_SHOW;
    for (int clock = 0; clock < 2; clock++)
        stage.counting[clock] = session_default_counting(session, (enum clock_choice)clock);
    bool is_saved_lesson = options->run_path && !session_has_measured(session);
    if (is_saved_lesson)
        stage.clock = CLOCK_LESSON;
    stage.can_swap_clock = session_has_lesson(session) && !is_saved_lesson;
    return stage;
}

static bool start(struct player *player, const struct options *options, int *code, char *why) {
    *code = EXIT_FAILED;
    if (!session_open(&player->session, options, input_wake, NULL, why))
        return false;
    player->stage = first_stage(options, player->session);
    if (!text_create(&player->text, why))
        return false;
    struct window_opts opts = {
        .title = "tokendrip",
        .width = options->width_px,
        .height = options->height_px,
        .display = options->display > 0 ? options->display : 0,
        .fullscreen = player->stage.is_fullscreen,
        .no_vsync = !options->vsync,
    };
    if (!window_open(&player->window, &opts, player->text, why)) {
        char display_why[256];
        *code = window_has_display(display_why) ? EXIT_FAILED : EXIT_NO_DISPLAY;
        return false;
    }
    window_set_text_input(player->window, true);
    *code = EXIT_OK;
    return true;
}

int play_command(const struct options *options, char why[256]) {
    int code = EXIT_FAILED;
    struct player player = {.pointer_x = -1, .pointer_y = -1, .is_stale = true};
    player.frames = calloc(1, sizeof *player.frames);
    if (!player.frames)
        why_set(why, "out of memory. Close other programs and try again.");
    else if (start(&player, options, &code, why)) {
        signals_on_stop(input_wake, NULL);
        refresh_run(&player, stopwatch_now_ns(), false);
        loop(&player);
        signals_on_stop(NULL, NULL);
        if (!player.run && session_has_failed(player.session)) {
            why_set(why, "%s", session_show(player.session, CLOCK_MEASURED, RUN_ENGINE).message);
            code = EXIT_FAILED;
        } else if (signals_stop_asked()) {
            code = 130;
        }
    }
    session_close(player.session);
    window_close(player.window);
    text_destroy(player.text);
    free(player.frames);
    return code;
}
