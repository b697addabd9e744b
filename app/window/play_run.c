// Which run is on the screen, and what is measured for it: takes what the session has,
// keeps the place where that makes sense, and says what is worth measuring next.
#include "app/window/player.h"

// Lengths that a schedule is asked for: what still makes a picture.
enum { LESSON_LONGEST_PROMPT = 1024, LESSON_LONGEST_ANSWER = 512 };
// Of an answer made from a file's sweep.
enum { MODELLED_LONGEST_ANSWER = 256 };

struct player_reach player_reach(const struct player *player) {
    int longest = session_longest(player->session);
    if (player->stage.clock == CLOCK_LESSON)
        return (struct player_reach){LESSON_LONGEST_PROMPT, LESSON_LONGEST_ANSWER};
    if (longest == 0 && session_can_model(player->session))
        return (struct player_reach){session_lab(player->session)->longest,
                                     MODELLED_LONGEST_ANSWER};
    if (longest > SOURCE_ANSWER_LIMIT)
        return (struct player_reach){longest - SOURCE_ANSWER_LIMIT, SOURCE_ANSWER_LIMIT};
    return (struct player_reach){longest > 1 ? longest - 1 : 1, 1};
}

// What the reducer is told of the world.
struct actions_context player_context(const struct player *player, int64_t wall_ns) {
    static const struct run nothing = {.info = {.layers = 1, .prompt_tokens = 1}};
    struct player_reach reach = player_reach(player);
    struct actions_context context = {
        .run = player->run ? player->run : &nothing,
        .wall_ns = wall_ns,
        .longest_prompt = reach.prompt,
        .longest_answer = reach.answer,
        .lesson = player->lesson,
    };
    frame_fill_context(&context, &player->easel->frame, &player->stage);
    return context;
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

void player_refresh_run(struct player *player, int64_t wall_ns, bool keep_place) {
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
    stage->can_model = session_can_model(player->session);
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
        player_trace("shown_tpot_ns", run_tpot_ns(show.run));
    stage->playhead.mode = PLAYHEAD_REPLAY;
    *stage = actions_show_run(*stage, show.run, keep_place ? before : NULL, wall_ns);
    if (is_there && !keep_place) {
        struct actions_context context = player_context(player, wall_ns);
        *stage = actions_rest(*stage, &context);
    }
}

// What is worth measuring for the picture that is on screen.
static unsigned wants_of(const struct stage_state *stage) {
    if (stage->clock != CLOCK_MEASURED)
        return 0;
    if (stage->mode == MODE_LAB)
        return labwork_wants(stage->page);
    return stage->side == SIDE_WHY ? LABWORK_FLOORS : 0;
}

void player_poll(struct player *player, int64_t wall_ns) {
    bool live_is_over = player->is_live && player->run->state != RUN_OPEN &&
                        playhead_is_at_end(&player->stage.playhead, wall_ns);
    if (live_is_over)
        session_end_live(player->session);
    session_want(player->session, wants_of(&player->stage));
    bool wants_live = !player->stage.playhead.is_paused && !player->place_run;
    if (!session_poll(player->session, wall_ns, wants_live) && !live_is_over)
        return;
    player->is_stale = true;
    // A lost device ends measuring; what was recorded plays on.
    if (session_has_failed(player->session) && player->has_shown && !player->has_told_failure) {
        player->has_told_failure = true;
        player_toast(player, wall_ns, session_failure(player->session));
    }
    if (player->stage.clock == CLOCK_MEASURED)
        player_refresh_run(player, wall_ns, false);
    player->stage.can_measure = session_can_measure(player->session);
}

void player_measure(struct player *player, int64_t wall_ns) {
    const struct stage_state *stage = &player->stage;
    char why[256];
    player->measure_at_ns = 0;
    if (player->is_live)
        session_end_live(player->session);
    if (stage->clock == CLOCK_LESSON) {
        if (!session_schedule(player->session, stage->prompt_tokens, stage->answer_tokens, why))
            player_toast(player, wall_ns, why);
        player_refresh_run(player, wall_ns, false);
        return;
    }
    bool ok = stage->can_measure
                  ? session_measure(player->session, stage->prompt_tokens, stage->answer_tokens,
                                    wall_ns, why)
                  : session_model(player->session, stage->prompt_tokens, stage->answer_tokens, why);
    if (!ok)
        player_toast(player, wall_ns, why);
    player_refresh_run(player, wall_ns, false);
}
