// Chooses the run on the screen and its place, and asks the session for measurements.
#include "app/window/player.h"

#include "compute/base/why.h"
#include "compute/base/words.h"

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

// Remembers the place in the run shown until the run that replaces it is complete.
static void leave_place(struct player *player, const struct run *before, int64_t wall_ns) {
    if (!before || before->state == RUN_OPEN)
        return;
    player->place_run = before;
    player->place = playhead_pause(player->stage.playhead, wall_ns, true);
}

// `before`: the run whose place the new one takes over; NULL: it starts from its beginning.
static void show_other_run(struct player *player, const struct run *before, int64_t wall_ns) {
    struct stage_state *stage = &player->stage;
    const struct run *run = player->run;
    bool is_whole = run->state != RUN_OPEN;
    if (is_whole && player->place_run) {
        before = player->place_run;
        stage->playhead = playhead_pause(player->place, wall_ns, stage->playhead.is_paused);
        player->place_run = NULL;
    }
    if (is_whole && run_tpot_ns(run) >= 0)
        player_trace("shown_tpot_ns", run_tpot_ns(run));
    stage->playhead.mode = PLAYHEAD_REPLAY;
    *stage = actions_show_run(*stage, run, before, wall_ns);
    if (is_whole && !before) {
        struct actions_context context = player_context(player, wall_ns);
        *stage = actions_rest(*stage, &context);
    }
}

void player_refresh_run(struct player *player, int64_t wall_ns, bool keep_place) {
    const struct stage_state *stage = &player->stage;
    const struct run *before = player->run;
    bool was_live = player->is_live;
    struct session_show show =
        session_show(player->session, stage->clock, stage->counting[stage->clock]);
    player->run = show.run;
    player->message = show.message;
    player->loaded_permille = show.loaded_permille;
    player->is_measuring = show.is_measuring;
    player->is_live = show.is_live;
    player->is_stale = true;
    if (keep_place && (!show.run || show.run->state == RUN_OPEN))
        leave_place(player, before, wall_ns);
    if (!show.run)
        return;
    player->has_shown = true;
    if (show.is_live)
        follow_live(player, wall_ns, !was_live);
    else if (show.run != before)
        show_other_run(player, keep_place ? before : NULL, wall_ns);
}

// What the picture on the screen needs measured.
static unsigned wants_of(const struct stage_state *stage) {
    if (stage->clock != CLOCK_MEASURED)
        return 0;
    if (stage->mode == MODE_LAB)
        return labwork_wants(stage->page);
    return stage->side == SIDE_WHY ? LABWORK_ROOFLINE : 0;
}

// The lengths chosen hold for both clocks: one that is shown, or can measure, only after they
// were changed asks for them then.
static void keep_up(struct player *player, int64_t wall_ns) {
    const struct stage_state *stage = &player->stage;
    const struct session *session = player->session;
    bool is_asked = player->asked_prompt[stage->clock] == stage->prompt_tokens &&
                    player->asked_answer[stage->clock] == stage->answer_tokens;
    bool can_ask = stage->clock == CLOCK_LESSON
                       ? session_can_schedule(session)
                       : session_can_measure(session) || session_can_model(session);
    if (!is_asked && can_ask && !player->measure_at_ns)
        player_measure(player, wall_ns);
}

void player_list_models(struct player *player, const char *given) {
    struct stage_state *stage = &player->stage;
    int index = shelf_find(&player->shelf, session_request(player->session), given);
    if (!player->lesson || index < 0)
        return; // there is no panel
    if (stage->mode == MODE_LAB)
        stage->mode = MODE_STAGE;
    stage->side = SIDE_MODELS;
    stage->list_focus = index;
    player->is_stale = true;
}

void player_open_model(struct player *player, const char *path, const char *name, int64_t wall_ns) {
    char toast[sizeof player->toast];
    struct why why;
    if (!session_open_model(player->session, path, &why)) {
        player_toast(player, wall_ns, why.text);
        return;
    }
    player->has_chosen = true;
    player->has_told_failure = false;
    player->place_run = NULL;
    player->stage.side = SIDE_NONE;
    player->stage.clock = CLOCK_MEASURED;
    player->asked_prompt[CLOCK_MEASURED] = session_request(player->session)->prompt_tokens;
    player->asked_answer[CLOCK_MEASURED] = session_request(player->session)->answer_tokens;
    WORDS_SAY(toast, "toast.opening", "name", name);
    player_toast(player, wall_ns, toast);
    player_refresh_run(player, wall_ns, false);
}

// What became of the model that was chosen. A refusal needs room: the list's panel has it.
static void tell_choice(struct player *player, int64_t wall_ns) {
    const char *refusal = session_refusal(player->session);
    if (!player->has_chosen || (!refusal && !session_can_measure(player->session)))
        return;
    player->has_chosen = false;
    if (!refusal)
        return;
    player_toast(player, wall_ns, word("toast.not_opened"));
    player_list_models(player, session_refused(player->session));
    if (player->stage.side == SIDE_MODELS)
        shelf_refuse(&player->shelf, player->stage.list_focus, refusal);
}

void player_poll(struct player *player, int64_t wall_ns) {
    bool live_is_over = player->is_live && player->run->state != RUN_OPEN &&
                        playhead_is_at_end(&player->stage.playhead, wall_ns);
    if (live_is_over)
        session_end_live(player->session);
    keep_up(player, wall_ns);
    session_want(player->session, wants_of(&player->stage));
    bool wants_live = !player->stage.playhead.is_paused && !player->place_run;
    if (!session_poll(player->session, wall_ns, wants_live) && !live_is_over)
        return;
    player->is_stale = true;
    tell_choice(player, wall_ns);
    // A lost device ends measuring; what was recorded plays on.
    if (session_failure(player->session) && player->has_shown && !player->has_told_failure) {
        player->has_told_failure = true;
        player_toast(player, wall_ns, session_failure(player->session));
    }
    if (player->stage.clock == CLOCK_MEASURED)
        player_refresh_run(player, wall_ns, false);
}

void player_measure(struct player *player, int64_t wall_ns) {
    const struct stage_state *stage = &player->stage;
    struct why why;
    player->measure_at_ns = 0;
    player->asked_prompt[stage->clock] = stage->prompt_tokens;
    player->asked_answer[stage->clock] = stage->answer_tokens;
    if (player->is_live)
        session_end_live(player->session);
    if (stage->clock == CLOCK_LESSON) {
        if (!session_schedule(player->session, stage->prompt_tokens, stage->answer_tokens, &why))
            player_toast(player, wall_ns, why.text);
        player_refresh_run(player, wall_ns, false);
        return;
    }
    bool ok =
        session_can_measure(player->session)
            ? session_measure(player->session, stage->prompt_tokens, stage->answer_tokens, wall_ns,
                              &why)
            : session_model(player->session, stage->prompt_tokens, stage->answer_tokens, &why);
    if (!ok)
        player_toast(player, wall_ns, why.text);
    player_refresh_run(player, wall_ns, false);
}
