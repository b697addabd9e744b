// One frame of the window: gathers what it shows, draws hints and HUD over it, and prints
// the line of its step.
#include "app/window/player.h"

#include "app/command/describe.h"
#include "app/window/hud.h"
#include "app/window/keys.h"
#include "compute/base/num.h"
#include "compute/base/stopwatch.h"
#include "compute/base/utf8.h"
#include "compute/base/words.h"

#include <stdio.h>
#include <string.h>

enum { HINTS = 9 }; // at most, at once

static bool has_hint(const struct player *player, enum action action) {
    bool can_measure = session_can_measure(player->session);
    bool is_lab = player->stage.mode == MODE_LAB;
    switch (action) {
    case ACTION_PROMPT_LONGER:
    case ACTION_ANSWER_LONGER:
        return is_lab ? can_measure || session_can_model(player->session)
                      : can_measure && player->stage.clock == CLOCK_MEASURED;
    case ACTION_CLOCK:
        return player->can_swap_clock;
    default:
        return true;
    }
}

static int key_hints(const struct player *player, struct paint_key keys[HINTS]) {
    enum place { STAGE, PANEL, LAB };
    static const enum action hints[][HINTS] = {
        [STAGE] = {ACTION_PLAY_PAUSE, ACTION_EVENT_NEXT, ACTION_MODE, ACTION_HELP, ACTION_FASTER,
                   ACTION_PROMPT_LONGER, ACTION_ANSWER_LONGER, ACTION_CLOCK, ACTION_COUNTING},
        [PANEL] = {ACTION_PLAY_PAUSE, ACTION_EVENT_NEXT, ACTION_MODE, ACTION_HELP, ACTION_GLOSSARY,
                   ACTION_LOG, ACTION_PREDICT, ACTION_WHY, ACTION_COUNTING},
        [LAB] = {ACTION_PLAY_PAUSE, ACTION_EVENT_NEXT, ACTION_MODE, ACTION_HELP, ACTION_PAGE_NEXT,
                 ACTION_PROMPT_LONGER, ACTION_ANSWER_LONGER, ACTION_KEEP},
    };
    const struct stage_state *stage = &player->stage;
    if (stage->side == SIDE_PROMPT) {
        keys[0] = (struct paint_key){word("name.enter"), word("hint.measure_prompt")};
        keys[1] = (struct paint_key){word("name.esc"), word("hint.close_prompt")};
        return 2;
    }
    enum place place = stage->mode == MODE_LESSON || stage->side != SIDE_NONE ? PANEL
                       : stage->mode == MODE_LAB                              ? LAB
                                                                              : STAGE;
    int count = 0;
    if (player->run && player->run->info.is_disturbed && session_can_measure(player->session))
        keys[count++] = keys_hint(ACTION_MEASURE);
    for (int i = 0; i < HINTS && count < HINTS && hints[place][i] != ACTION_NONE; i++) {
        enum action action = hints[place][i];
        if (!has_hint(player, action))
            continue;
        keys[count] = keys_hint(action);
        if (action == ACTION_PLAY_PAUSE && stage->playhead.is_paused)
            keys[count].does = word("hint.play");
        if (action == ACTION_CLOCK && stage->clock == CLOCK_LESSON)
            keys[count].does = word("hint.measured");
        count++;
    }
    return count;
}

static struct at_hand at_hand_of(const struct player *player, int64_t wall_ns) {
    const struct session *session = player->session;
    const struct desk *desk = &player->easel->desk;
    struct player_reach reach = player_reach(player);
    bool is_lesson = player->stage.clock == CLOCK_LESSON;
    bool has_engine = session_can_measure(session);
    struct at_hand at =
        labwork_at_hand(session_lab(session), player->run, player->lesson, has_engine);
    at.t_ns = player->run ? playhead_at(&player->stage.playhead, wall_ns) : 0;
    at.is_live = player->is_live;
    at.is_measuring = player->is_measuring;
    at.is_asked = player->measure_at_ns;
    at.can_move =
        is_lesson ? session_can_schedule(session) : has_engine || session_can_model(session);
    at.longest_prompt = reach.prompt;
    at.longest_answer = reach.answer;
    at.before = is_lesson ? NULL : session_before(session);
    at.editor = &desk->editor;
    at.composed = desk->composed;
    at.tiles = desk->tiles;
    at.tile_count = desk->tile_count;
    at.prompt_count = desk->prompt_count;
    at.editor_message = desk->message[0] ? desk->message : NULL;
    shelf_put(&at, &player->shelf);
    return at;
}

static bool term_under_pointer(const struct player *player, struct lesson_term *out) {
    const struct frame *frame = &player->easel->frame;
    if (!frame->has_panel || player->pointer_x < frame->layout.panel.x)
        return false;
    struct frame_hit hit = frame_hit(frame, player->pointer_x, player->pointer_y);
    int index = hit.part == FRAME_TERM ? lesson_find_term(player->lesson, hit.term) : -1;
    if (index >= 0)
        *out = lesson_term(player->lesson, index);
    return index >= 0;
}

static void compose(struct player *player, int64_t wall_ns) {
    struct easel *easel = player->easel;
    const struct stage_state *stage = &player->stage;
    if (stage->side == SIDE_MODELS)
        shelf_look(&player->shelf, max_int(stage->list_focus, 0));
    struct at_hand at = at_hand_of(player, wall_ns);
    struct frame_target target = {.text = player->text};
    window_size_px(player->window, &target.width_px, &target.height_px);
    frame_compose(&easel->frame, &at, stage, &target);
    cmdlist_clear(&easel->hud);
    if (player->run && stage->mode != MODE_SHOW) {
        struct paint_key keys[HINTS];
        paint_keys(&easel->hud, &easel->frame.paint, keys, key_hints(player, keys));
    }
    struct hud hud = {
        .toast = wall_ns < player->toast_until_ns ? player->toast : NULL,
        .message = player->run ? NULL : player->message,
        .loaded_permille = player->loaded_permille,
        .is_help = stage->is_help,
        .is_blank = stage->is_blank,
        .has_lens = !easel->frame.is_lab,
        .pointer_x = player->pointer_x,
        .pointer_y = player->pointer_y,
    };
    struct lesson_term term;
    if (term_under_pointer(player, &term)) {
        hud.term = term.name;
        hud.term_text = term.text;
    }
    hud_paint(&easel->hud, &hud, &easel->frame.paint);
}

void player_say_step(struct player *player, int64_t wall_ns) {
    const struct run *run = player->run;
    if (!player->options->is_describing || !run || run->state == RUN_OPEN)
        return;
    int event = run_event_at(run, playhead_at(&player->stage.playhead, wall_ns));
    struct lesson_place place = player->stage.place;
    bool is_lesson = player->stage.mode == MODE_LESSON && player->lesson &&
                     !lesson_follows_run(player->lesson, place.chapter);
    // Where the chapter follows the run the event is the step.
    bool is_same_place = place.chapter == player->said_place.chapter &&
                         (!is_lesson || place.step == player->said_place.step);
    if (run == player->said_run && event == player->said_event && is_same_place)
        return;
    player->said_run = run;
    player->said_event = event;
    player->said_place = place;
    if (is_lesson) {
        struct lesson_page page;
        lesson_page(&page, player->lesson, place, run, run_event_ns(run, event < 0 ? 0 : event));
        utf8_print(stdout, page.summary, strlen(page.summary));
        putchar('\n');
        fflush(stdout);
    } else if (event >= 0) {
        describe_step(stdout, player->lesson, run, event);
    }
}

static void put_title(struct player *player) {
    char title[96];
    const struct view *view = &player->easel->frame.view;
    snprintf(title, sizeof title, "tokendrip%s%s", player->run ? ": " : "",
             player->run ? view->headline : "");
    if (strcmp(title, player->title) == 0)
        return;
    memcpy(player->title, title, sizeof title);
    window_set_title(player->window, title);
}

void player_draw(struct player *player, int64_t wall_ns) {
    struct easel *easel = player->easel;
    compose(player, wall_ns);
    player->is_stale = false;
    uint64_t hash = cmdlist_hash(&easel->frame.scene) * 31 + cmdlist_hash(&easel->hud);
    if (hash == player->shown_hash)
        return;
    player->shown_hash = hash;
    put_title(player);
    window_show(player->window, &easel->frame.scene, &easel->hud);
    if (!player->has_presented)
        player_trace("first_frame_ns", stopwatch_now_ns());
    player->has_presented = true;
}
