// See play.h: start, loop and end of the window.
#include "app/window/play.h"

#include "app/command/footage.h"
#include "app/lesson/load/load.h"
#include "app/window/memory.h"
#include "app/window/player.h"
#include "compute/base/num.h"
#include "compute/base/signals.h"
#include "compute/base/stopwatch.h"
#include "compute/base/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FEW_CORES = 2,
    // A frame is drawn by the processor: half as many where cores are few, and fewer
    // beside a measurement, whose threads want all of them.
    MAX_HZ = 60,
    MEASURING_HZ = 30,
    FEW_CORES_HZ = 30,
    FEW_CORES_MEASURING_HZ = 10,
};

// --- When ---

static bool is_moving(const struct player *player, int64_t wall_ns) {
    const struct playhead *playhead = &player->stage.playhead;
    if (!player->run || player->is_hidden || player->stage.is_blank || playhead->is_paused)
        return false;
    if (player->is_live)
        return true;
    // While a first measurement uses the cores, its waiting prompt does not move.
    return player->run->state != RUN_OPEN && !playhead_is_at_end(playhead, wall_ns);
}

static int64_t frame_ns(const struct player *player) {
    bool is_few = sysconf(_SC_NPROCESSORS_ONLN) <= FEW_CORES;
    int most_hz = is_few ? FEW_CORES_HZ : MAX_HZ;
    if (session_is_busy(player->session))
        most_hz = is_few ? FEW_CORES_MEASURING_HZ : MEASURING_HZ;
    return 1000000000 / min_int(window_refresh_hz(player->window), most_hz);
}

// The wall clock. The playhead passes over no moment unseen: two frames late is a stall, and
// while the picture is hidden or blank time stands still.
static int64_t look_ns(struct player *player) {
    enum { LATE_FRAMES = 2 };
    bool is_seen = !player->is_hidden && !player->stage.is_blank;
    int64_t wall_ns = stopwatch_now_ns();
    player->stage.playhead = playhead_look(player->stage.playhead, player->looked_ns, wall_ns,
                                           is_seen ? LATE_FRAMES * frame_ns(player) : 0);
    player->looked_ns = wall_ns;
    return wall_ns;
}

// The next moment at which the loop must act without an event; INT64_MAX = never.
static int64_t next_deadline_ns(struct player *player, int64_t wall_ns) {
    int64_t deadline_ns = INT64_MAX;
    if (wall_ns < player->toast_until_ns)
        deadline_ns = min_i64(deadline_ns, player->toast_until_ns);
    if (player->stage.is_fullscreen && wall_ns < player->pointer_until_ns)
        deadline_ns = min_i64(deadline_ns, player->pointer_until_ns);
    if (player->measure_at_ns)
        deadline_ns = min_i64(deadline_ns, player->measure_at_ns);
    if (!is_moving(player, wall_ns))
        return deadline_ns;
    int64_t period_ns = frame_ns(player);
    if (player->next_frame_ns <= wall_ns) {
        int64_t late_ns = wall_ns - player->next_frame_ns;
        player->next_frame_ns += (late_ns / period_ns + 1) * period_ns;
    }
    return min_i64(deadline_ns, player->next_frame_ns);
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

static void see_window(struct player *player) {
    bool was_hidden = player->is_hidden;
    player->is_hidden = window_is_hidden(player->window);
    if (was_hidden && !player->is_hidden) {
        player->shown_hash = 0;
        player->is_stale = true;
    }
}

// Sleeps until an event or the deadline. False: quit.
static bool wait_and_act(struct player *player, int64_t deadline_ns) {
    struct input_event event;
    int64_t wall_ns = look_ns(player);
    int64_t wait_ns = deadline_ns == INT64_MAX ? -1 : deadline_ns - wall_ns;
    int timeout_ms = -1;
    if (deadline_ns != INT64_MAX)
        timeout_ms = wait_ns <= 0 ? 0 : (int)((wait_ns + 999999) / 1000000);
    if (player->is_stale && !player->is_hidden)
        timeout_ms = 0;
    while (input_wait(&player->input, &event, timeout_ms)) {
        if (!player_take_event(player, &event, look_ns(player)))
            return false;
        timeout_ms = 0;
    }
    return true;
}

static void loop(struct player *player) {
    for (bool goes_on = true; goes_on && !signals_stop_asked();) {
        int64_t wall_ns = look_ns(player);
        see_window(player);
        player_poll(player, wall_ns);
        if (!player->has_shown && session_failure(player->session))
            return; // nothing to show: the reason is printed on the terminal
        expire(player, wall_ns);
        if (player->measure_at_ns && wall_ns >= player->measure_at_ns)
            player_measure(player, wall_ns);
        bool is_due = is_moving(player, wall_ns) && wall_ns >= player->next_frame_ns;
        if (!player->is_hidden && (player->is_stale || is_due))
            player_draw(player, wall_ns);
        player_say_step(player, wall_ns);
        window_keep_awake(player->window,
                          is_moving(player, wall_ns) || player->stage.is_presenting);
        goes_on = wait_and_act(player, next_deadline_ns(player, wall_ns));
    }
}

// --- Start and end ---

static bool is_saved_lesson(const struct options *options, const struct session *session) {
    return options->request.run_path && !session_has_measured(session);
}

static struct stage_state first_stage(const struct options *options,
                                      const struct session *session) {
    struct stage_state stage = footage_stage(options);
    stage.is_rate_chosen = options->rate.num != 0;
    stage.prompt_tokens = options->request.prompt_tokens;
    stage.answer_tokens = options->request.answer_tokens;
    stage.is_fullscreen = options->is_fullscreen || options->is_projector;
    stage.is_presenting = options->is_projector;
    if (options->is_projector)
        stage.mode = MODE_SHOW;
    for (int clock = 0; clock < 2; clock++)
        stage.counting[clock] = session_default_counting(session, (enum clock_choice)clock);
    if (is_saved_lesson(options, session))
        stage.clock = CLOCK_LESSON;
    return stage;
}

// What was remembered, where the command line says nothing.
static void recall(struct player *player) {
    const struct options *options = player->options;
    struct stage_state *stage = &player->stage;
    struct memory *memory = &player->memory;
    char path[PARTFILE_PATH_BYTES];
    if (!options->is_fresh && memory_path(path) && memory_load(memory, path)) {
        if (!options->is_mode_given)
            stage->mode = memory->mode;
        if (!options->is_theme_given && !options->is_projector)
            stage->theme = memory->theme;
        if (!options->is_text_step_given)
            stage->text_step = memory->text_step;
        if (!options->is_clock_given && player->can_swap_clock)
            stage->clock = memory->clock;
        if (!options->chapter)
            stage->place = memory->place;
        stage->is_calm = stage->is_calm || memory->is_calm;
    }
    player->first = *stage;
}

// What was changed in the window is remembered; what only the command line said is not.
static void remember(struct player *player) {
    const struct stage_state *stage = &player->stage, *first = &player->first;
    struct memory *memory = &player->memory;
    enum mode_choice mode = stage->is_presenting ? stage->mode_before : stage->mode;
    if (mode != first->mode)
        memory->mode = mode;
    if (stage->theme != first->theme)
        memory->theme = stage->theme;
    if (stage->text_step != first->text_step)
        memory->text_step = stage->text_step;
    if (stage->clock != first->clock)
        memory->clock = stage->clock;
    if (stage->is_calm != first->is_calm)
        memory->is_calm = stage->is_calm;
    if (stage->place.chapter != first->place.chapter || stage->place.step != first->place.step)
        memory->place = stage->place;
    int width = 0, height = 0;
    if (!stage->is_fullscreen)
        window_size(player->window, &width, &height);
    if (width && (width != player->first_width || height != player->first_height)) {
        memory->width_px = width;
        memory->height_px = height;
    }
    char path[PARTFILE_PATH_BYTES];
    struct why why;
    // A failure (say, a full disk) is not reported to a user who is leaving.
    if (!player->options->is_fresh && memory_path(path))
        memory_save(memory, path, &why);
}

static bool load_lesson(struct player *player, struct why *why) {
    bool is_needed;
    if (footage_lesson(&player->lesson, &is_needed, player->options, why))
        return true;
    if (is_needed)
        return false; // the program works without its own lessons
    footage_tell_note(why->text);
    return true;
}

static bool start(struct player *player, int *code, struct why *why) {
    const struct options *options = player->options;
    *code = EXIT_FAILED;
    if (!load_lesson(player, why) ||
        !session_open(&player->session, &options->request, input_wake, NULL, why) ||
        (options->compare_path && !session_compare(player->session, options->compare_path, why)))
        return false;
    player->stage = first_stage(options, player->session);
    for (int clock = 0; clock < 2; clock++) {
        player->asked_prompt[clock] = player->stage.prompt_tokens;
        player->asked_answer[clock] = player->stage.answer_tokens;
    }
    player->can_swap_clock =
        session_has_lesson(player->session) && !is_saved_lesson(options, player->session);
    recall(player);
    if (!text_create(&player->text, why))
        return false;
    struct window_opts opts = {
        .title = "tokendrip",
        .width = options->width_px ? options->width_px : player->memory.width_px,
        .height = options->height_px ? options->height_px : player->memory.height_px,
        .display = max_int(options->display, 0),
        .fullscreen = player->stage.is_fullscreen,
    };
    if (!window_open(&player->window, &opts, player->text, why)) {
        struct why display_why;
        *code = window_has_display(&display_why) ? EXIT_FAILED : EXIT_NO_DISPLAY;
        return false;
    }
    window_size(player->window, &player->first_width, &player->first_height);
    window_set_text_input(player->window, true);
    *code = EXIT_OK;
    return true;
}

// On the terminal and in the window: a user who started from a desktop sees only that.
static void tell_note(struct player *player, const char *note) {
    if (!note[0])
        return;
    footage_tell_note(note);
    player_toast(player, stopwatch_now_ns(), note);
}

// First the window goes, so that the user need not wait until the last pass is computed.
static void stop(struct player *player) {
    input_end();
    window_close(player->window);
    session_close(player->session);
    text_destroy(player->text);
    lesson_destroy(player->lesson);
    shelf_clear(&player->shelf);
    free(player->easel);
}

int play_command(const struct options *options, struct why *why) {
    int code = EXIT_FAILED;
    struct player player = {.options = options, .pointer_x = -1, .pointer_y = -1, .is_stale = true};
    player.easel = calloc(1, sizeof *player.easel);
    if (!player.easel)
        why_set(why, "out of memory. Close other programs and try again.");
    else if (start(&player, &code, why)) {
        signals_on_stop(input_wake, NULL);
        player.looked_ns = stopwatch_now_ns();
        player_refresh_run(&player, player.looked_ns, false);
        tell_note(&player, text_note(player.text));
        loop(&player);
        signals_on_stop(NULL, NULL);
        remember(&player);
        if (!player.run && session_failure(player.session)) {
            why_set(why, "%s", session_show(player.session, CLOCK_MEASURED, RUN_ENGINE).message);
            code = EXIT_FAILED;
        }
    }
    stop(&player);
    return code;
}
