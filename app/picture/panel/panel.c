// See panel.h. This file works out the moment and the page, then hands the panel to the open
// side's file.
#include "app/picture/panel/panel.h"

#include "app/picture/panel/parts.h"
#include "compute/base/num.h"

#include <string.h>

// --- The moment ---

static struct lesson_place place_of(const struct panel_seen *seen) {
    const struct stage_state *stage = seen->stage;
    struct lesson_place place = stage->place;
    if (stage->side == SIDE_SIMPLE) {
        place.chapter = lesson_simple_chapter(seen->lesson);
        place.step = max_int(stage->list_focus, 0);
    }
    place = lesson_clamp(seen->lesson, place, seen->run);
    return lesson_place_at(seen->lesson, place, seen->run, seen->now.t_ns);
}

static void see(struct panel_seen *out, const struct at_hand *at, const struct stage_state *stage) {
    const struct run *run = at->run;
    *out = (struct panel_seen){
        .at = at,
        .stage = stage,
        .lesson = at->lesson,
        .run = run,
        .now = run_moment_at(run, at->t_ns),
    };
    if (stage->side != SIDE_NONE && stage->side != SIDE_SIMPLE)
        return;
    out->place = place_of(out);
    lesson_page(&out->page, out->lesson, out->place, run, out->now.t_ns);
}

int panel_decode_pass(const struct panel_seen *seen) {
    int pass = seen->now.pending >= 0 ? seen->now.pending : seen->now.passes_done - 1;
    return pass >= 0 && seen->run->passes[pass].phase == RUN_DECODE ? pass : -1;
}

enum view_tone panel_tone(const struct panel_seen *seen) {
    if (seen->now.at_end || seen->now.current < 0)
        return TONE_INK;
    return panel_decode_pass(seen) >= 0 ? TONE_DECODE : TONE_PREFILL;
}

// --- The sides ---

void panel_fill(struct panel *out, const struct at_hand *at, const struct stage_state *stage) {
    static const struct {
        void (*put)(struct panel *, const struct panel_seen *);
        const char *title, *foot; // NULL: `put` says it
    } sides[] = {
        [SIDE_NONE] = {panel_put_lesson, NULL, NULL},
        [SIDE_LOG] = {panel_put_log, "title.log", "log.hint"},
        [SIDE_GLOSSARY] = {panel_put_glossary, "title.glossary", "glossary.hint"},
        [SIDE_WHY] = {panel_put_why, "title.why", "why.hint"},
        [SIDE_PROMPT] = {panel_put_editor, "title.prompt", "editor.hint"},
        [SIDE_PREDICT] = {panel_put_predict, "title.predict", NULL},
        [SIDE_MODELS] = {panel_put_models, "title.models", "models.hint"},
        [SIDE_SIMPLE] = {panel_put_lesson, "title.simple", "simple.hint"},
    };
    struct panel_seen seen;
    see(&seen, at, stage);
    panel_clear(out);
    if (sides[stage->side].title)
        PANEL_SAY(out->title, &seen, sides[stage->side].title);
    if (sides[stage->side].foot)
        PANEL_SAY(out->foot, &seen, sides[stage->side].foot);
    sides[stage->side].put(out, &seen);
    panel_put_controls(out, &seen);
}

int panel_lines(const struct at_hand *at, enum side side) {
    switch (side) {
    case SIDE_LOG:
        return run_events(at->run);
    case SIDE_GLOSSARY:
        return lesson_terms(at->lesson);
    case SIDE_MODELS:
        return at->model_count;
    case SIDE_SIMPLE:
        return lesson_steps(at->lesson, lesson_simple_chapter(at->lesson), at->run);
    default:
        return 0;
    }
}
