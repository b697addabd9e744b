// Playing, stepping and seeking in the run, and its speed. In a lesson the keys that move
// through the run move through the lesson instead.
#include "app/state/actions_parts.h"

#include "compute/base/num.h"

void stage_move(struct stage_state *state, int64_t wall_ns, int64_t run_ns) {
    state->playhead = playhead_seek(state->playhead, wall_ns, run_ns);
    state->landed_ns = run_ns;
}

void stage_stop_at(struct stage_state *state, int64_t wall_ns, int64_t run_ns) {
    state->playhead = playhead_pause(state->playhead, wall_ns, true);
    stage_move(state, wall_ns, run_ns);
}

void stage_restart(struct stage_state *state, int64_t wall_ns) {
    state->playhead = playhead_pause(state->playhead, wall_ns, false);
    stage_move(state, wall_ns, state->playhead.first_ns);
}

void action_restart(struct stage_state *state, const struct actions_context *context, int which) {
    (void)which;
    stage_restart(state, context->wall_ns);
}

void action_play(struct stage_state *state, const struct actions_context *context, int which) {
    (void)which;
    struct playhead *playhead = &state->playhead;
    if (playhead_is_at_end(playhead, context->wall_ns) && playhead->mode != PLAYHEAD_LIVE)
        stage_restart(state, context->wall_ns);
    else
        *playhead = playhead_pause(*playhead, context->wall_ns, !playhead->is_paused);
}

void action_event(struct stage_state *state, const struct actions_context *context, int direction) {
    if (stage_in_lesson(state, context)) {
        lesson_to_step(state, context, direction);
        return;
    }
    const struct run *run = context->run;
    int64_t now_ns = playhead_at(&state->playhead, context->wall_ns);
    int event = run_event_at(run, now_ns), last = run_events(run) - 1;
    bool is_between = event >= 0 && now_ns > run_event_ns(run, event);
    int target = direction > 0 ? event + 1 : is_between ? event : event - 1;
    if (target > last)
        stage_toast(state, TOAST_AT_END);
    else if (target < 0)
        stage_toast(state, TOAST_AT_START);
    stage_stop_at(state, context->wall_ns,
                  run_event_ns(run, target > last ? last : max_int(target, 0)));
}

void action_page(struct stage_state *state, const struct actions_context *context, int direction) {
    if (state->mode == MODE_LAB) {
        int page = state->page + direction;
        if (page < 0 || page >= context->page_count)
            stage_toast(state, direction > 0 ? TOAST_AT_END : TOAST_AT_START);
        else
            state->page = page;
    } else if (stage_in_lesson(state, context) && context->has_question && direction > 0) {
        state->guess.is_split_set = true; // a clicker has no key for "answer"
        state->focus = -1;
    } else {
        action_event(state, context, direction);
    }
}

// Chapters of a run begin at the request, at the end of prefill, and at the last event.
void action_chapter(struct stage_state *state, const struct actions_context *context,
                    int direction) {
    if (stage_in_lesson(state, context)) {
        lesson_to_chapter(state, context, direction);
        return;
    }
    const struct run *run = context->run;
    int64_t now_ns = playhead_at(&state->playhead, context->wall_ns);
    int64_t marks[3] = {0, max_i64(run_prefill_ns(run), 0), run_event_ns(run, run_events(run) - 1)};
    int at = direction > 0 ? 0 : 2;
    while (at + direction >= 0 && at + direction <= 2 &&
           (direction > 0 ? marks[at] <= now_ns : marks[at] >= now_ns))
        at += direction;
    stage_stop_at(state, context->wall_ns, marks[at]);
}

void action_edge(struct stage_state *state, const struct actions_context *context, int direction) {
    if (stage_in_lesson(state, context))
        lesson_to_edge(state, context, direction);
    else if (direction > 0)
        stage_stop_at(state, context->wall_ns, state->playhead.last_ns);
    else
        stage_move(state, context->wall_ns, state->playhead.first_ns);
}

void action_frame(struct stage_state *state, const struct actions_context *context, int direction) {
    enum { FRAMES_PER_SECOND = 60 };
    int64_t frame_ns = playhead_run_ns(state->playhead.rate, 1000000000 / FRAMES_PER_SECOND);
    int64_t now_ns = playhead_at(&state->playhead, context->wall_ns);
    int64_t target_ns = now_ns + direction * max_i64(frame_ns, 1);
    state->playhead = playhead_pause(state->playhead, context->wall_ns, true);
    state->playhead = playhead_seek(state->playhead, context->wall_ns, target_ns);
    state->landed_ns = min_i64(state->landed_ns, target_ns);
}

// First and last moment of a run at the playhead's rate: the lead before it and the tail after.
static void set_bounds(struct stage_state *state, const struct run *run, int64_t wall_ns) {
    struct playhead *playhead = &state->playhead;
    int64_t lead_ns = playhead_run_ns(playhead->rate, PLAYHEAD_LEAD_SCREEN_NS);
    int64_t tail_ns = playhead_run_ns(playhead->rate, PLAYHEAD_TAIL_SCREEN_NS);
    int64_t last_ns = run_end_ns(run) + (run->state == RUN_OPEN ? 0 : tail_ns);
    *playhead = playhead_set_bounds(*playhead, wall_ns, -lead_ns, last_ns);
}

void action_rate(struct stage_state *state, const struct actions_context *context, int direction) {
    struct playhead_rate rate = {1, 1};
    if (direction != 0)
        rate = playhead_rate_step(state->playhead.rate, direction);
    state->playhead = playhead_set_rate(state->playhead, context->wall_ns, rate);
    set_bounds(state, context->run, context->wall_ns);
    state->is_rate_chosen = true;
    stage_toast(state, TOAST_RATE);
}

struct stage_state actions_seek(struct stage_state state, int64_t run_ns,
                                const struct actions_context *context) {
    stage_stop_at(&state, context->wall_ns, run_ns);
    return state;
}

// The same event and the same share of the way to the next one; -1 before the first event.
static int64_t same_place_ns(const struct run *before, int64_t before_ns, const struct run *run) {
    int event = run_event_at(before, before_ns);
    if (event < 0)
        return -1;
    int last = run_events(run) - 1;
    if (event >= run_events(before) - 1 || event >= last)
        return run_event_ns(run, min_int(event, last));
    int64_t from_ns = run_event_ns(before, event);
    int64_t gap_ns = run_event_ns(before, event + 1) - from_ns;
    double share = gap_ns > 0 ? (double)(before_ns - from_ns) / (double)gap_ns : 0;
    int64_t to_ns = run_event_ns(run, event);
    return to_ns + (int64_t)(share * (double)(run_event_ns(run, event + 1) - to_ns));
}

struct stage_state actions_show_run(struct stage_state state, const struct run *run,
                                    const struct run *before, int64_t wall_ns) {
    int64_t before_ns = playhead_at(&state.playhead, wall_ns);
    bool is_past_end = before && before->state != RUN_OPEN && before_ns > run_end_ns(before);
    if (!state.is_rate_chosen)
        state.playhead.rate = playhead_rate_for(run_end_ns(run));
    set_bounds(&state, run, wall_ns);
    int64_t place_ns = before ? same_place_ns(before, before_ns, run) : -1;
    if (is_past_end)
        place_ns = state.playhead.last_ns;
    stage_move(&state, wall_ns, place_ns < 0 ? state.playhead.first_ns : place_ns);
    return state;
}
