// Applies keys and mouse to the stage's state, and carries out the requests that result: a
// still, a measurement, the prompt's editor.
#include "app/window/player.h"

#include "app/window/hud.h"
#include "compute/base/why.h"
#include "compute/base/words.h"
#include "render/pixel/surface.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A toggle twice within this time is one press that bounced.
#define TOGGLE_GUARD_NS INT64_C(200000000)
#define POINTER_NS INT64_C(2000000000)
// A slider that did not move for this long is measured.
#define REST_NS INT64_C(150000000)

// A name by the clock that is free; the second still of a second gets a number.
static void name_still(char *out, size_t bytes) {
    enum { MOST = 99 };
    char date[32];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(date, sizeof date, "%Y%m%d-%H%M%S", &local);
    snprintf(out, bytes, "tokendrip-%s.png", date);
    for (int n = 2; n <= MOST && access(out, F_OK) == 0; n++)
        snprintf(out, bytes, "tokendrip-%s-%d.png", date, n);
}

static void save_still(struct player *player, int64_t wall_ns) {
    const struct frame *frame = &player->easel->frame;
    char name[64], toast[128];
    struct why why;
    name_still(name, sizeof name);
    struct surface *surface = NULL;
    bool ok = surface_create(&surface, frame->layout.input.width_px, frame->layout.input.height_px,
                             player->text, &why);
    if (ok) {
        surface_draw(surface, &frame->scene);
        ok = surface_save_png(surface, name, false, &why);
    }
    surface_destroy(surface);
    WORDS_SAY(toast, ok ? "toast.saved" : "toast.not_saved", "what", ok ? name : why.text);
    player_toast(player, wall_ns, toast);
}

static struct desk_reader desk_reader(const struct player *player, int longest) {
    return (struct desk_reader){session_tokenizer(player->session),
                                session_request(player->session), longest};
}

static void open_desk(struct player *player, const struct actions_context *context) {
    struct desk_reader reader = desk_reader(player, context->longest_prompt);
    desk_open(&player->easel->desk, player->run, &reader);
}

static void keep_run(struct player *player, int64_t wall_ns) {
    struct why why = {""};
    bool ok = player->run && session_keep(player->session, player->run, &why);
    const char *failure = player->run ? why.text : word("toast.nothing_shown");
    player_toast(player, wall_ns, ok ? word("toast.kept") : failure);
}

// The model in focus of the list.
static void open_model(struct player *player, int64_t wall_ns) {
    struct shelf *shelf = &player->shelf;
    int index = player->stage.list_focus;
    if (index < 0 || index >= shelf->count)
        return;
    shelf_look(shelf, index);
    if (shelf->list[index].is_open || shelf->about.obstacles[0].text[0])
        player_toast(player, wall_ns,
                     word(shelf->list[index].is_open ? "models.is_open" : "toast.not_opened"));
    else
        player_open_model(player, shelf->paths[index], shelf->list[index].name, wall_ns);
}

static void take_file(struct player *player, const char *path, int64_t wall_ns) {
    const char *slash = strrchr(path, '/');
    input_edit(&player->input, false);
    player_open_model(player, path, slash ? slash + 1 : path, wall_ns);
    player->is_stale = true;
}

// Carries out what an action left to the loop. False: quit.
static bool serve_requests(struct player *player, const struct actions_context *context) {
    int64_t wall_ns = context->wall_ns;
    unsigned requests = player->stage.requests;
    player->stage.requests = 0;
    if (requests & REQUEST_STILL)
        save_still(player, wall_ns);
    if (requests & REQUEST_NEXT_DISPLAY)
        window_next_display(player->window);
    if (requests & REQUEST_KEEP)
        keep_run(player, wall_ns);
    if (requests & REQUEST_EDIT)
        open_desk(player, context);
    if (requests & REQUEST_MODELS)
        player_list_models(player, NULL);
    if (requests & REQUEST_OPEN)
        open_model(player, wall_ns);
    if (requests & REQUEST_MEASURE)
        player_measure(player, wall_ns);
    else if (requests & REQUEST_MEASURE_SOON)
        player->measure_at_ns = wall_ns + REST_NS;
    return !(requests & REQUEST_QUIT);
}

static bool is_toggle(enum action action) {
    return action == ACTION_FULLSCREEN || action == ACTION_HELP || action == ACTION_BLANK ||
           action == ACTION_LOG || action == ACTION_GLOSSARY || action == ACTION_WHY ||
           action == ACTION_PREDICT || action == ACTION_SIMPLE || action == ACTION_MODELS;
}

static void put_action_toast(struct player *player, int64_t wall_ns) {
    const struct stage_state *stage = &player->stage;
    if (stage->toast_count == player->toast_seen)
        return;
    player->toast_seen = stage->toast_count;
    char text[128] = "";
    if (player->run)
        hud_toast_text(text, sizeof text, stage, player->run);
    player_toast(player, wall_ns, text);
}

// Makes window, input and run follow a change of the state. False: quit.
static bool follow(struct player *player, const struct stage_state *before, bool is_restart,
                   const struct actions_context *context) {
    const struct stage_state *after = &player->stage;
    if (after->is_fullscreen != before->is_fullscreen)
        window_set_fullscreen(player->window, after->is_fullscreen);
    bool is_editing = after->side == SIDE_PROMPT;
    if (is_editing != player->input.is_editing)
        input_edit(&player->input, is_editing);
    if (after->clock != before->clock || after->counting[0] != before->counting[0] ||
        after->counting[1] != before->counting[1] || is_restart)
        player_refresh_run(player, context->wall_ns, true);
    bool goes_on = serve_requests(player, context);
    put_action_toast(player, context->wall_ns);
    player->is_stale = true;
    return goes_on;
}

static bool act(struct player *player, enum action action, int64_t wall_ns) {
    if (is_toggle(action)) {
        if (action == player->toggled && wall_ns - player->toggled_ns < TOGGLE_GUARD_NS)
            return true;
        player->toggled = action;
        player->toggled_ns = wall_ns;
    }
    struct stage_state before = player->stage;
    struct actions_context context = player_context(player, wall_ns);
    bool is_restart = player->is_live && action == ACTION_RESTART;
    if (is_restart)
        session_end_live(player->session);
    player->stage = actions_apply(player->stage, action, &context);
    return follow(player, &before, is_restart, &context);
}

static bool use_mouse(struct player *player, struct input_event *event, int64_t wall_ns) {
    struct stage_state before = player->stage;
    struct actions_context context = player_context(player, wall_ns);
    enum action action = ACTION_NONE;
    window_mouse_px(player->window, &event->x, &event->y);
    player->stage = pointer_apply(player->stage, &player->pointer, &action, event,
                                  &player->easel->frame, &context);
    if (!follow(player, &before, false, &context))
        return false;
    // The focus may have moved, so `act` needs a new context.
    return action == ACTION_NONE || act(player, action, wall_ns);
}

static void close_desk(struct player *player) {
    player->stage.side = SIDE_NONE;
    input_edit(&player->input, false);
    player->is_stale = true;
}

static void measure_desk(struct player *player, int64_t wall_ns) {
    struct desk *desk = &player->easel->desk;
    struct why why;
    if (desk->message[0]) {
        player_toast(player, wall_ns, desk->message);
        return;
    }
    player->stage.prompt_tokens = 0;
    if (!session_measure_text(player->session, desk->editor.text, player->stage.answer_tokens,
                              wall_ns, &why)) {
        player_toast(player, wall_ns, why.text);
        return;
    }
    close_desk(player);
    player->stage.clock = CLOCK_MEASURED;
    player->asked_prompt[CLOCK_MEASURED] = 0;
    player->asked_answer[CLOCK_MEASURED] = player->stage.answer_tokens;
    player_refresh_run(player, wall_ns, false);
}

static void type_text(struct player *player, const struct input_event *event, int64_t wall_ns) {
    struct desk *desk = &player->easel->desk;
    struct desk_reader reader = desk_reader(player, player_reach(player).prompt);
    desk_type(desk, event, &reader);
    if (event->kind == INPUT_TYPED && desk->editor.is_full)
        player_toast(player, wall_ns, word("toast.text_cut"));
}

static void use_desk(struct player *player, const struct input_event *event, int64_t wall_ns) {
    bool is_key = event->kind == INPUT_EDIT;
    player->is_stale = true;
    if (is_key && event->edit == EDIT_CLOSE)
        close_desk(player);
    else if (is_key && event->edit == EDIT_DONE)
        measure_desk(player, wall_ns);
    else
        type_text(player, event, wall_ns);
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
bool player_take_event(struct player *player, struct input_event *event, int64_t wall_ns) {
    switch (event->kind) {
    case INPUT_PRESS:
    case INPUT_DRAG:
    case INPUT_RELEASE:
    case INPUT_WHEEL:
        return use_mouse(player, event, wall_ns);
    case INPUT_TYPED:
    case INPUT_COMPOSED:
    case INPUT_EDIT:
        use_desk(player, event, wall_ns);
        return true;
    case INPUT_DROPPED:
        take_file(player, event->text, wall_ns);
        return true;
    case INPUT_ACTION:
        return act(player, event->action, wall_ns);
    case INPUT_RESIZED:
    case INPUT_EXPOSED:
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
