// See panel.h. This file finds where the moment lies in the run, hands the panel to the
// file of the side that is open, and knows the bounds of what the keyboard can reach.
#include "app/picture/panel/panel.h"

#include "app/picture/panel/parts.h"
#include "compute/base/num.h"

#include <math.h>
#include <string.h>

// --- The moment ---

static bool shows_lesson(enum side side) {
    return side == SIDE_NONE || side == SIDE_SIMPLE;
}

static struct lesson_place place_of(const struct panel_source *source, int64_t t_ns) {
    const struct lesson *lesson = source->lesson;
    struct lesson_place place = source->place;
    if (source->side == SIDE_SIMPLE) {
        place.chapter = lesson_chapters(lesson) - 1;
        place.step = source->list_focus < 0 ? 0 : source->list_focus;
    }
    place = lesson_clamp(lesson, place, source->run);
    return lesson_place_at(lesson, place, source->run, t_ns);
}

// The pass under way, by the lesson's steps: what lies between two events belongs to the
// later one. At an event itself nobody can know that another pass follows.
static int pass_under_way(const struct run *run, int marks, int64_t t_ns) {
    int pass = marks / run_stages(run);
    if (pass >= run_passes_seen(run))
        return -1;
    return t_ns > run_event_ns(run, pass) ? pass : -1;
}

void panel_see(struct panel_seen *out, const struct panel_source *source) {
    const struct run *run = source->run;
    int64_t end_ns = run_end_ns(run), t_ns = source->t_ns;
    if (run->state == RUN_OPEN && t_ns > end_ns)
        t_ns = end_ns;
    int marks = run_marks_at(run, t_ns);
    *out = (struct panel_seen){
        .source = source,
        .lesson = source->lesson,
        .run = run,
        .guess = source->guess ? *source->guess : guess_new(),
        .t_ns = t_ns,
        .shown_ns = t_ns < 0        ? 0
                    : t_ns > end_ns ? end_ns
                                    : t_ns,
        .passes_done = marks / run_stages(run),
        .pass = pass_under_way(run, marks, t_ns),
        .answers = run_answers_at(run, t_ns),
        .cache_entries = run_cache_entries_at(run, t_ns),
    };
    out->prefill_done = out->cache_entries >= run->info.prompt_tokens;
    // A run that failed before its first mark is at its end as soon as it began.
    out->at_end = run->state != RUN_OPEN && t_ns >= end_ns && marks == run->mark_count;
    if (!shows_lesson(source->side))
        return;
    out->place = place_of(source, t_ns);
    lesson_page(&out->page, source->lesson, out->place, run, t_ns);
}

int panel_decode_pass(const struct panel_seen *seen) {
    int pass = seen->pass >= 0 ? seen->pass : seen->passes_done - 1;
    return pass >= 0 && seen->run->passes[pass].phase == RUN_DECODE ? pass : -1;
}

enum view_tone panel_tone(const struct panel_seen *seen) {
    if (seen->at_end || (seen->pass < 0 && seen->passes_done == 0))
        return TONE_INK;
    return panel_decode_pass(seen) >= 0 ? TONE_DECODE : TONE_PREFILL;
}

// --- The sides ---

void panel_fill(struct panel *out, const struct panel_source *source) {
    static void (*const sides[])(struct panel *, const struct panel_seen *) = {
        [SIDE_NONE] = panel_put_lesson,       [SIDE_LOG] = panel_put_log,
        [SIDE_GLOSSARY] = panel_put_glossary, [SIDE_WHY] = panel_put_why,
        [SIDE_PROMPT] = panel_put_editor,     [SIDE_PREDICT] = panel_put_predict,
        [SIDE_SIMPLE] = panel_put_lesson,
    };
    struct panel_seen seen;
    panel_see(&seen, source);
    panel_clear(out);
    sides[source->side](out, &seen);
    panel_put_controls(out, &seen);
}

int panel_controls(const struct panel_source *source) {
    struct panel_seen seen;
    enum panel_target targets[PANEL_MAX_CONTROLS];
    panel_see(&seen, source);
    return panel_targets(targets, &seen);
}

enum panel_target panel_target(const struct panel_source *source, int control) {
    struct panel_seen seen;
    enum panel_target targets[PANEL_MAX_CONTROLS];
    panel_see(&seen, source);
    int count = panel_targets(targets, &seen);
    return control >= 0 && control < count ? targets[control] : TARGET_NONE;
}

int panel_lines(const struct panel_source *source) {
    switch (source->side) {
    case SIDE_LOG:
        return run_events(source->run);
    case SIDE_GLOSSARY:
        return lesson_terms(source->lesson);
    case SIDE_SIMPLE:
        return lesson_steps(source->lesson, lesson_chapters(source->lesson) - 1, source->run);
    default:
        return 0;
    }
}

// --- Lengths ---

int panel_length_of(int ppm, int longest) {
    double way = (double)clamp_int(ppm, 0, VIEW_PPM) / VIEW_PPM;
    if (longest <= 1)
        return 1;
    return clamp_int((int)lround(exp(log(longest) * way)), 1, longest);
}

int panel_ppm_of(int length, int longest) {
    if (longest <= 1 || length <= 1)
        return 0;
    return clamp_int((int)lround(log(length) / log(longest) * VIEW_PPM), 0, VIEW_PPM);
}

// The rungs are 2^k and, halfway up the octave, 3 * 2^k.
static int64_t rung_above(int64_t length) {
    int64_t octave = 1;
    while (2 * octave <= length)
        octave *= 2;
    return octave >= 2 && 2 * length < 3 * octave ? octave / 2 * 3 : 2 * octave;
}

static int rung_below(int length) {
    int rung = 1;
    while (rung_above(rung) < length)
        rung = (int)rung_above(rung);
    return rung;
}

int panel_length_step(int length, int direction, int longest) {
    if (longest < 1)
        longest = 1;
    length = clamp_int(length, 1, longest);
    if (direction < 0)
        return rung_below(length);
    if (direction == 0)
        return length;
    int64_t next = rung_above(length);
    return next > longest ? longest : (int)next;
}
