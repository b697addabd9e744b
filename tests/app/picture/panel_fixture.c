// See panel_fixture.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/app/picture/panel_fixture.h"
#include "tests/compute/run/plain_run.h"

#include <stdio.h>
#include <string.h>

enum { RUNS = 200, MOMENTS = 10 };

struct lesson *lesson;
struct panel panel_a, panel_b;
struct lesson_page page;

int open_lesson(void **state) {
    (void)state;
    lesson = lesson_in("en");
    return 0;
}

int close_lesson(void **state) {
    (void)state;
    lesson_destroy(lesson);
    return 0;
}

static const struct random_run_limits small = {
    .max_layers = 40, .max_prompt = 300, .max_answers = 120, .may_fail = true};

struct run *measured_run(const struct measured *of) {
    static const char *const prompt[] = {" in", NULL}, *const answer[] = {" word", NULL};
    return plain_run(&(struct plain_run){.info = {.origin = RUN_MEASURED,
                                                  .device = "cpu",
                                                  .threads = 2,
                                                  .layers = 2,
                                                  .heads = 2,
                                                  .kv_heads = 2,
                                                  .head_dim = 4,
                                                  .kv_value_bytes = 2,
                                                  .weight_bytes = of->weight_bytes,
                                                  .prompt_tokens = of->prompt,
                                                  .answer_limit = of->answers},
                                         .prefill_ns = of->prefill_ns,
                                         .step_ns = of->step_ns,
                                         .prompt = prompt,
                                         .answer = answer});
}

struct showing source_of(const struct run *run, int64_t t_ns, enum side side) {
    return (struct showing){
        .at = {.run = run,
               .t_ns = t_ns,
               .lesson = lesson,
               .longest_prompt = 1024,
               .longest_answer = 512,
               .has_engine = true,
               .can_move = true},
        .stage = {.side = side, .focus = -1, .list_focus = -1, .guess = guess_new()},
    };
}

struct lesson_place place_with(const struct run *run, unsigned flags) {
    struct lesson_place place = {0, 0};
    do {
        lesson_page(&page, lesson, place, run, lesson_step_ns(lesson, place, run));
        if ((page.shows & flags) == flags)
            return place;
    } while (lesson_move(lesson, &place, 1, run));
    fail_msg("no step of the lesson shows %x", flags);
    return place;
}

struct lesson_place any_place(const struct run *run, uint64_t *random) {
    struct lesson_place place = {(int)random_between(random, 0, lesson_chapters(lesson) - 1), 0};
    int steps = lesson_steps(lesson, place.chapter, run);
    place.step = (int)random_between(random, 0, steps - 1);
    return place;
}

static int64_t any_moment(const struct run *run, uint64_t *random) {
    int64_t end_ns = run_end_ns(run);
    switch (random_between(random, 0, 7)) {
    case 0:
        return -random_between(random, 0, 1000000);
    case 1:
        return random_between(random, 0, 1) ? INT64_MAX : end_ns;
    case 2:
    case 3:
        return run->mark_count > 0
                   ? run->mark_end_ns[random_between(random, 0, run->mark_count - 1)]
                   : 0;
    case 4:
        return run_event_ns(run, (int)random_between(random, 0, run_events(run) - 1));
    default:
        return random_between(random, 0, end_ns);
    }
}

void for_random_moments(void (*check)(const struct run *, int64_t, uint64_t *)) {
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct run *run = random_run(seed, &small);
        uint64_t random = seed * 91;
        for (int i = 0; i < MOMENTS; i++)
            check(run, any_moment(run, &random), &random);
        run_destroy(run);
    }
}

struct showing any_source(const struct run *run, int64_t t_ns, uint64_t *random) {
    enum side side = (enum side)random_between(random, SIDE_NONE, SIDE_SIMPLE);
    struct showing source = source_of(run, t_ns, side);
    source.stage.place = any_place(run, random);
    source.stage.focus = (int)random_between(random, -1, 4);
    source.stage.list_focus = (int)random_between(random, -1, 40);
    source.stage.prompt_tokens = (int)random_between(random, 0, 1024);
    source.stage.answer_tokens = (int)random_between(random, 0, 512);
    source.at.can_move = random_between(random, 0, 1);
    source.at.is_measuring = random_between(random, 0, 1);
    return source;
}

const char *said(const char *key, const struct run *run, int64_t t_ns, const char *const *extra) {
    static char texts[4][400];
    static unsigned turn;
    char *out = texts[turn++ % 4];
    lesson_say(out, sizeof texts[0], lesson, key, &(struct lesson_facts){run, t_ns, extra, false});
    return out;
}

const char *plain_spaces(const char *text) {
    static char out[PANEL_TEXT_BYTES];
    size_t used = 0;
    for (; *text; text++) {
        bool is_held = (unsigned char)text[0] == 0xC2 && (unsigned char)text[1] == 0xA0;
        out[used++] = is_held ? ' ' : *text;
        text += is_held;
    }
    out[used] = '\0';
    return out;
}

const char *block_text(const struct panel *panel, const char *heading_key) {
    for (int i = 0; i < panel->block_count; i++)
        if (strcmp(panel->blocks[i].heading, lesson_word(lesson, heading_key)) == 0)
            return plain_spaces(panel->blocks[i].text);
    fail_msg("no block is headed by %s", heading_key);
    return "";
}

int control_of(const struct panel *panel, enum panel_target target) {
    for (int i = 0; i < panel->control_count; i++)
        if (panel->controls[i].target == target)
            return i;
    fail_msg("no control moves target %d", target);
    return -1;
}
