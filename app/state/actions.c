// See actions.h.
#include "app/state/actions_parts.h"

#include <string.h>

struct stage_state actions_toasted(struct stage_state state, enum toast toast) {
    state.toast = toast;
    state.toast_count++;
    return state;
}

struct stage_state actions_moved(struct stage_state state, int64_t wall_ns, int64_t run_ns) {
    state.playhead = playhead_seek(state.playhead, wall_ns, run_ns);
    state.landed_ns = run_ns;
    return state;
}

struct stage_state actions_stopped_at(struct stage_state state, int64_t wall_ns, int64_t run_ns) {
    state.playhead = playhead_pause(state.playhead, wall_ns, true);
    return actions_moved(state, wall_ns, run_ns);
}

struct stage_state actions_restarted(struct stage_state state, int64_t wall_ns) {
    state.playhead = playhead_pause(state.playhead, wall_ns, false);
    state = actions_moved(state, wall_ns, state.playhead.first_ns);
    return state;
}

static struct stage_state play_or_pause(struct stage_state state,
                                        const struct actions_context *context) {
    if (playhead_is_at_end(&state.playhead, context->wall_ns) &&
        state.playhead.mode != PLAYHEAD_LIVE)
        return actions_restarted(state, context->wall_ns);
    state.playhead = playhead_pause(state.playhead, context->wall_ns, !state.playhead.is_paused);
    return state;
}

static struct stage_state to_event(struct stage_state state, const struct actions_context *context,
                                   int direction) {
    const struct run *run = context->run;
    int64_t now_ns = playhead_at(&state.playhead, context->wall_ns);
    int event = run_event_at(run, now_ns);
    bool is_between = event >= 0 && now_ns > run_event_ns(run, event);
    int target = direction > 0 ? event + 1 : is_between ? event : event - 1;
    if (target >= run_events(run)) {
        state = actions_stopped_at(state, context->wall_ns, run_event_ns(run, run_events(run) - 1));
        return actions_toasted(state, TOAST_AT_END);
    }
    if (target < 0) {
        state = actions_stopped_at(state, context->wall_ns, run_event_ns(run, 0));
        return actions_toasted(state, TOAST_AT_START);
    }
    return actions_stopped_at(state, context->wall_ns, run_event_ns(run, target));
}

// Chapters begin at the request, at the end of prefill, and at the last event.
static struct stage_state to_chapter(struct stage_state state,
                                     const struct actions_context *context, int direction) {
    const struct run *run = context->run;
    int64_t now_ns = playhead_at(&state.playhead, context->wall_ns);
    int64_t prefill_ns = run_prefill_ns(run);
    int64_t marks[3] = {0, prefill_ns < 0 ? 0 : prefill_ns, run_event_ns(run, run_events(run) - 1)};
    int64_t target_ns = direction > 0 ? marks[2] : marks[0];
    for (int i = 0; i < 3; i++) {
        int at = direction > 0 ? i : 2 - i;
        if (direction > 0 ? marks[at] > now_ns : marks[at] < now_ns) {
            target_ns = marks[at];
            break;
        }
    }
    return actions_stopped_at(state, context->wall_ns, target_ns);
}

static struct stage_state by_frame(struct stage_state state, const struct actions_context *context,
                                   int direction) {
    enum { FRAMES_PER_SECOND = 60 };
    int64_t frame_ns = playhead_run_ns(state.playhead.rate, 1000000000 / FRAMES_PER_SECOND);
    if (frame_ns < 1)
        frame_ns = 1;
    int64_t now_ns = playhead_at(&state.playhead, context->wall_ns);
    state.playhead = playhead_pause(state.playhead, context->wall_ns, true);
    state.playhead = playhead_seek(state.playhead, context->wall_ns, now_ns + direction * frame_ns);
    if (state.landed_ns > now_ns + direction * frame_ns)
        state.landed_ns = now_ns + direction * frame_ns;
    return state;
}

// First and last moment of a run at a rate: the lead before and the tail after it.
static struct playhead with_bounds(struct playhead playhead, const struct run *run,
                                   int64_t wall_ns) {
    int64_t lead_ns = playhead_run_ns(playhead.rate, PLAYHEAD_LEAD_SCREEN_NS);
    int64_t tail_ns = playhead_run_ns(playhead.rate, PLAYHEAD_TAIL_SCREEN_NS);
    int64_t last_ns = run_end_ns(run) + (run->state == RUN_OPEN ? 0 : tail_ns);
    return playhead_set_bounds(playhead, wall_ns, -lead_ns, last_ns);
}

static struct stage_state at_rate(struct stage_state state, struct playhead_rate rate,
                                  const struct actions_context *context) {
    state.playhead = playhead_set_rate(state.playhead, context->wall_ns, rate);
    state.playhead = with_bounds(state.playhead, context->run, context->wall_ns);
    state.is_rate_chosen = true;
    return actions_toasted(state, TOAST_RATE);
}

static struct stage_state presenting(struct stage_state state, bool on) {
    if (on && state.mode != MODE_SHOW)
        state.mode_before = state.mode;
    state.is_presenting = on;
    state.is_fullscreen = on;
    state.mode = on ? MODE_SHOW : state.mode_before;
    return state;
}

static struct stage_state closed(struct stage_state state) {
    if (state.is_help)
        state.is_help = false;
    else if (state.is_blank)
        state.is_blank = false;
    else if (state.is_presenting)
        return presenting(state, false);
    else if (state.is_fullscreen)
        state.is_fullscreen = false;
    return state;
}

static enum mode_choice mode_after(enum mode_choice mode) {
    static const enum mode_choice next[] = {
        [MODE_STAGE] = MODE_LESSON,
        [MODE_LESSON] = MODE_LAB,
        [MODE_LAB] = MODE_SHOW,
        [MODE_SHOW] = MODE_STAGE,
    };
    return next[mode];
}

static struct stage_state by_choice(struct stage_state state, enum action action,
                                    const struct actions_context *context) {
    switch (action) {
    case ACTION_CLOCK:
        if (!state.can_swap_clock)
            return actions_toasted(state, TOAST_CLOCK);
        state.clock = state.clock == CLOCK_MEASURED ? CLOCK_LESSON : CLOCK_MEASURED;
        state.is_rate_chosen = false;
        return actions_toasted(state, TOAST_CLOCK);
    case ACTION_COUNTING: {
        enum run_counting *counting = &state.counting[state.clock];
        *counting = *counting == RUN_ENGINE ? RUN_CHARGED : RUN_ENGINE;
        return actions_toasted(state, TOAST_COUNTING);
    }
    case ACTION_MODE:
        return actions_enter_mode(state, mode_after(state.mode), context);
    case ACTION_THEME:
        state.theme = (enum theme_id)((state.theme + 1) % THEME_COUNT);
        return actions_toasted(state, TOAST_THEME);
    case ACTION_CALM:
        state.is_calm = !state.is_calm;
        return actions_toasted(state, TOAST_CALM);
    case ACTION_TEXT_LARGER:
        state.text_step += state.text_step < TEXT_STEP_MAX;
        return actions_toasted(state, TOAST_TEXT);
    case ACTION_TEXT_SMALLER:
        state.text_step -= state.text_step > TEXT_STEP_MIN;
        return actions_toasted(state, TOAST_TEXT);
    case ACTION_TEXT_NORMAL:
        state.text_step = 0;
        return actions_toasted(state, TOAST_TEXT);
    default:
        return state;
    }
}

static struct stage_state by_window(struct stage_state state, enum action action) {
    switch (action) {
    case ACTION_FULLSCREEN:
        state.is_fullscreen = !state.is_fullscreen;
        state.is_presenting = state.is_presenting && state.is_fullscreen;
        return state;
    case ACTION_PRESENT:
        return presenting(state, !state.is_presenting);
    case ACTION_NEXT_DISPLAY:
        state.requests |= REQUEST_NEXT_DISPLAY;
        return state;
    case ACTION_BLANK:
        state.is_blank = !state.is_blank;
        return state;
    case ACTION_HELP:
        state.is_help = !state.is_help;
        return state;
    case ACTION_CLOSE:
        return closed(state);
    case ACTION_STILL:
        state.requests |= REQUEST_STILL;
        return state;
    case ACTION_QUIT:
        state.requests |= REQUEST_QUIT;
        return state;
    default:
        return state;
    }
}

static struct stage_state by_time(struct stage_state state, enum action action,
                                  const struct actions_context *context) {
    switch (action) {
    case ACTION_PLAY_PAUSE:
        return play_or_pause(state, context);
    case ACTION_EVENT_NEXT:
        return to_event(state, context, 1);
    case ACTION_EVENT_BACK:
        return to_event(state, context, -1);
    case ACTION_CHAPTER_NEXT:
        return to_chapter(state, context, 1);
    case ACTION_CHAPTER_BACK:
        return to_chapter(state, context, -1);
    case ACTION_START:
        return actions_moved(state, context->wall_ns, state.playhead.first_ns);
    case ACTION_END:
        return actions_stopped_at(state, context->wall_ns, state.playhead.last_ns);
    case ACTION_FRAME_NEXT:
        return by_frame(state, context, 1);
    case ACTION_FRAME_BACK:
        return by_frame(state, context, -1);
    case ACTION_FASTER:
        return at_rate(state, playhead_rate_step(state.playhead.rate, 1), context);
    case ACTION_SLOWER:
        return at_rate(state, playhead_rate_step(state.playhead.rate, -1), context);
    case ACTION_REAL_TIME:
        return at_rate(state, (struct playhead_rate){1, 1}, context);
    case ACTION_RESTART:
        return actions_restarted(state, context->wall_ns);
    default:
        return state;
    }
}

// Keys that move through the story: on a blank screen they only bring it back.
static bool is_step(enum action action) {
    return action >= ACTION_PLAY_PAUSE && action <= ACTION_FRAME_BACK;
}

// What keys with a second meaning do where they have none.
static enum action plain(enum action action) {
    return action == ACTION_UP          ? ACTION_FASTER
           : action == ACTION_DOWN      ? ACTION_SLOWER
           : action == ACTION_PAGE_NEXT ? ACTION_EVENT_NEXT
           : action == ACTION_PAGE_BACK ? ACTION_EVENT_BACK
                                        : action;
}

struct stage_state actions_apply(struct stage_state state, enum action action,
                                 const struct actions_context *context) {
    if (action == ACTION_PERIOD)
        action = state.mode == MODE_SHOW ? ACTION_BLANK : ACTION_FRAME_NEXT;
    if (state.is_blank && is_step(action)) {
        state.is_blank = false;
        return state;
    }
    if (action == ACTION_MEASURE) {
        if (!state.can_measure)
            return actions_toasted(state, TOAST_NO_LENGTHS);
        state.requests |= REQUEST_MEASURE;
        state.clock = CLOCK_MEASURED;
        return actions_toasted(state, TOAST_MEASURING);
    }
    if (action >= ACTION_PROMPT_SHORTER && action <= ACTION_ANSWER_LONGER)
        return actions_with_lengths(state, action, context);
    if (actions_by_focus(&state, action, context) || actions_by_side(&state, action, context) ||
        actions_by_lesson(&state, action, context))
        return state;
    state = by_time(state, plain(action), context);
    state = by_choice(state, action, context);
    return by_window(state, action);
}

struct stage_state actions_seek(struct stage_state state, int64_t run_ns,
                                const struct actions_context *context) {
    return actions_stopped_at(state, context->wall_ns, run_ns);
}

// The share of the way from event to event, in parts per million, kept over a swap.
static int64_t same_place_ns(const struct run *before, int64_t before_ns, const struct run *run) {
    int event = run_event_at(before, before_ns);
    if (event < 0)
        return -1;
    int last = run_events(run) - 1;
    if (event >= run_events(before) - 1 || event >= last)
        return run_event_ns(run, event < last ? event : last);
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
    state.playhead = with_bounds(state.playhead, run, wall_ns);
    int64_t place_ns = before ? same_place_ns(before, before_ns, run) : -1;
    if (is_past_end)
        place_ns = state.playhead.last_ns;
    if (place_ns < 0)
        place_ns = state.playhead.first_ns;
    return actions_moved(state, wall_ns, place_ns);
}

const struct action_help *actions_help(int *count) {
    static const struct action_help help[] = {
        {ACTION_PLAY_PAUSE, "Space", "play or pause"},
        {ACTION_EVENT_NEXT, "\xE2\x86\x90 \xE2\x86\x92", "one event or step back, on"},
        {ACTION_PAGE_NEXT, "PgUp PgDn", "the same; in Lab, its pages"},
        {ACTION_CHAPTER_NEXT, "Shift \xE2\x86\x90 \xE2\x86\x92", "chapter back, on"},
        {ACTION_START, "Home End", "start, end"},
        {ACTION_FRAME_NEXT, ", .", "one frame back, on"},
        {ACTION_FASTER, "+ \xE2\x88\x92", "faster, slower"},
        {ACTION_REAL_TIME, "=", "real time"},
        {ACTION_RESTART, "R", "play from the start"},
        {ACTION_MODE, "Tab", "Stage, Lesson, Lab, Show"},
        {ACTION_DOWN, "\xE2\x86\x91 \xE2\x86\x93", "choose one; \xE2\x86\x90 \xE2\x86\x92 move it"},
        {ACTION_ENTER, "Enter", "go there, press it"},
        {ACTION_LOG, "L", "log of events"},
        {ACTION_GLOSSARY, "G", "glossary"},
        {ACTION_WHY, "W", "why it takes this long"},
        {ACTION_PREDICT, "P", "predict first, then play"},
        {ACTION_SIMPLE, "I", "what this simplifies"},
        {ACTION_EDIT, "E", "your own prompt"},
        {ACTION_KEEP, "K", "keep this run, to compare"},
        {ACTION_MEASURE, "Shift R", "measure again"},
        {ACTION_PROMPT_LONGER, "[ ]", "shorter, longer prompt"},
        {ACTION_ANSWER_LONGER, "{ }", "shorter, longer answer"},
        {ACTION_CLOCK, "U", "measured or lesson units"},
        {ACTION_COUNTING, "C", "who pays for the first token"},
        {ACTION_THEME, "T", "dark, projector, contrast"},
        {ACTION_CALM, "M", "calm: no motion, or motion"},
        {ACTION_TEXT_LARGER, "Ctrl + \xE2\x88\x92 0", "text size"},
        {ACTION_FULLSCREEN, "F / F11", "full screen"},
        {ACTION_PRESENT, "F5", "present: Show, full screen"},
        {ACTION_NEXT_DISPLAY, "Shift F11", "next display"},
        {ACTION_BLANK, "B", "blank the screen"},
        {ACTION_STILL, "S / F12", "save a still"},
        {ACTION_HELP, "? / F1", "these keys"},
        {ACTION_QUIT, "Ctrl Q", "quit"},
    };
    *count = (int)(sizeof help / sizeof help[0]);
    return help;
}
