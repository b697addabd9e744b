// What the tests of the panel share: the lesson, runs of known and of random figures,
// sources with sensible defaults, random places and moments.
#ifndef TESTS_APP_PICTURE_PANEL_FIXTURE_H
#define TESTS_APP_PICTURE_PANEL_FIXTURE_H

#include "app/picture/panel/panel.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/compute/run/random_run.h"

extern struct lesson *lesson;
extern struct panel panel_a, panel_b;
extern struct lesson_page page;

// Group set-up and tear-down: the English lesson from the source tree.
int open_lesson(void **state);
int close_lesson(void **state);

struct measured {
    int prompt, answers;
    int64_t prefill_ns, step_ns, weight_bytes;
};
// A measured run of known figures: 2 layers, 2 x 4 numbers of 2 bytes: 64 bytes an entry.
struct run *measured_run(const struct measured *of);

// What a panel is filled from.
struct showing {
    struct at_hand at;
    struct stage_state stage;
};
struct showing source_of(const struct run *run, int64_t t_ns, enum side side);
struct showing any_source(const struct run *run, int64_t t_ns, uint64_t *random);
// The first step whose page shows all of `flags`, in the lesson's order.
struct lesson_place place_with(const struct run *run, unsigned flags);
struct lesson_place any_place(const struct run *run, uint64_t *random);
void for_random_moments(void (*check)(const struct run *, int64_t, uint64_t *));

// A sentence as the lesson says it of this run at a moment; valid for three more calls.
const char *said(const char *key, const struct run *run, int64_t t_ns, const char *const *extra);
// The text under a heading; the control that moves a target. Fail where there is none.
const char *block_text(const struct panel *panel, const char *heading_key);
// With plain spaces where no line may end. Valid until the next call of either.
const char *plain_spaces(const char *text);
int control_of(const struct panel *panel, enum panel_target target);

#endif
