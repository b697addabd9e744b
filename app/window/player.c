// See player.h: what every file of the loop needs from the player.
#include "app/window/player.h"

#include "app/state/lengths.h"

#include <stdio.h>
#include <stdlib.h>

#define TOAST_NS INT64_C(2200000000)
// The longest answer computed from a sweep.
enum { MODELLED_LONGEST_ANSWER = 256 };

struct player_reach player_reach(const struct player *player) {
    int longest = session_longest(player->session);
    if (player->stage.clock == CLOCK_LESSON)
        return (struct player_reach){LENGTH_LESSON_PROMPT, LENGTH_LESSON_ANSWER};
    if (longest == 0 && session_can_model(player->session))
        return (struct player_reach){session_lab(player->session)->longest,
                                     MODELLED_LONGEST_ANSWER};
    if (longest > SOURCE_ANSWER_LIMIT)
        return (struct player_reach){longest - SOURCE_ANSWER_LIMIT, SOURCE_ANSWER_LIMIT};
    return (struct player_reach){longest > 1 ? longest - 1 : 1, 1};
}

struct actions_context player_context(const struct player *player, int64_t wall_ns) {
    static const struct run nothing = {.info = {.layers = 1, .prompt_tokens = 1}};
    struct player_reach reach = player_reach(player);
    struct actions_context context = {
        .run = player->run ? player->run : &nothing,
        .wall_ns = wall_ns,
        .longest_prompt = reach.prompt,
        .longest_answer = reach.answer,
        .lesson = player->lesson,
        .can_measure = session_can_measure(player->session),
        .can_schedule = session_can_schedule(player->session),
        .can_model = session_can_model(player->session),
        .can_swap_clock = player->can_swap_clock,
    };
    frame_fill_context(&context, &player->easel->frame, &player->stage);
    return context;
}

// For benchmarks and bug reports: TOKENDRIP_TRACE=1 prints moments of the wall clock
// and figures of the shown run on standard error.
void player_trace(const char *what, int64_t value_ns) {
    const char *wanted = getenv("TOKENDRIP_TRACE");
    if (wanted && *wanted)
        fprintf(stderr, "trace %s %lld\n", what, (long long)value_ns);
}

void player_toast(struct player *player, int64_t wall_ns, const char *text) {
    snprintf(player->toast, sizeof player->toast, "%s", text);
    player->toast_until_ns = wall_ns + TOAST_NS;
}
