// One frame of the window: everything a frame needs gathered from the player's handles,
// key hints and HUD over it, and the line that is said of it.
#include "app/window/player.h"

#include "app/command/describe.h"
#include "app/window/hud.h"
#include "compute/base/stopwatch.h"

#include <stdio.h>
#include <string.h>

static int stage_hints(const struct stage_state *stage, struct paint_key *keys) {
    int count = 0;
    keys[count++] = (struct paint_key){"+ \xE2\x88\x92", "speed"};
    if (stage->can_measure && stage->clock == CLOCK_MEASURED) {
        keys[count++] = (struct paint_key){"[ ]", "prompt"};
        keys[count++] = (struct paint_key){"{ }", "answer"};
    }
    if (stage->can_swap_clock)
        keys[count++] =
            (struct paint_key){"U", stage->clock == CLOCK_MEASURED ? "lesson units" : "measured"};
    keys[count++] = (struct paint_key){"C", "counting"};
    return count;
}

static int lesson_hints(struct paint_key *keys) {
    int count = 0;
    keys[count++] = (struct paint_key){"G", "glossary"};
    keys[count++] = (struct paint_key){"L", "log"};
    keys[count++] = (struct paint_key){"P", "predict"};
    keys[count++] = (struct paint_key){"W", "why"};
    keys[count++] = (struct paint_key){"C", "counting"};
    return count;
}

static int lab_hints(const struct stage_state *stage, struct paint_key *keys) {
    int count = 0;
    keys[count++] = (struct paint_key){"PgUp PgDn", "plots"};
    if (stage->can_measure || stage->can_model) {
        keys[count++] = (struct paint_key){"[ ]", "prompt"};
        keys[count++] = (struct paint_key){"{ }", "answer"};
    }
    keys[count++] = (struct paint_key){"K", "keep and compare"};
    return count;
}

static int key_hints(const struct player *player, struct paint_key keys[12]) {
    const struct stage_state *stage = &player->stage;
    int count = 0;
    if (stage->side == SIDE_PROMPT) {
        keys[count++] = (struct paint_key){"Enter", "measure it"};
        keys[count++] = (struct paint_key){"Esc", "close"};
        return count;
    }
    keys[count++] = (struct paint_key){"Space", stage->playhead.is_paused ? "play" : "pause"};
    keys[count++] = (struct paint_key){"\xE2\x86\x90 \xE2\x86\x92", "step"};
    keys[count++] = (struct paint_key){"Tab", "mode"};
    keys[count++] = (struct paint_key){"?", "keys"};
    return count + (stage->mode == MODE_LESSON || stage->side != SIDE_NONE
                        ? lesson_hints(keys + count)
                    : stage->mode == MODE_LAB ? lab_hints(stage, keys + count)
                                              : stage_hints(stage, keys + count));
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
    at.tiles = desk->tiles;
    at.tile_count = desk->tile_count;
    at.prompt_count = desk->prompt_count;
    at.editor_message = desk->message[0] ? desk->message : NULL;
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
    struct at_hand at = at_hand_of(player, wall_ns);
    struct frame_target target = {.text = player->text};
    window_size_px(player->window, &target.width_px, &target.height_px);
    frame_compose(&easel->frame, &at, stage, &target);
    cmdlist_clear(&easel->hud);
    if (player->run && stage->mode != MODE_SHOW) {
        struct paint_key keys[12];
        paint_keys(&easel->hud, &easel->frame.paint, keys, key_hints(player, keys));
    }
    struct hud hud = {
        .toast = wall_ns < player->toast_until_ns ? player->toast : NULL,
        .message = player->run ? NULL : player->message,
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
    if (!player->is_describing || !run || run->state == RUN_OPEN)
        return;
    int event = run_event_at(run, playhead_at(&player->stage.playhead, wall_ns));
    struct lesson_place place = player->stage.place;
    bool is_lesson = player->stage.mode == MODE_LESSON && player->lesson &&
                     !lesson_follows_run(player->lesson, place.chapter);
    bool is_same_place =
        place.chapter == player->said_place.chapter && place.step == player->said_place.step;
    if (run == player->said_run && event == player->said_event && (!is_lesson || is_same_place))
        return;
    player->said_run = run;
    player->said_event = event;
    player->said_place = place;
    if (is_lesson) {
        struct lesson_page page;
        lesson_page(&page, player->lesson, place, run, run_event_ns(run, event < 0 ? 0 : event));
        printf("%s\n", page.summary);
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
