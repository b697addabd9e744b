// See lesson.h: chapters, places and moves, the glossary. page.c fills the texts.
#include "app/lesson/parts.h"
#include "compute/base/num.h"

#include <string.h>
#include <strings.h>

// --- Chapters, steps, places ---

int lesson_chapters(const struct lesson *lesson) {
    return lesson->chapter_count;
}

static const struct lesson_chapter *chapter_at(const struct lesson *lesson, int chapter) {
    return &lesson->chapters[clamp_int(chapter, 0, lesson->chapter_count - 1)];
}

const char *lesson_chapter_title(const struct lesson *lesson, int chapter) {
    return chapter_at(lesson, chapter)->title;
}

const char *lesson_language(const struct lesson *lesson) {
    return lesson->language;
}

bool lesson_follows_run(const struct lesson *lesson, int chapter) {
    return chapter_at(lesson, chapter)->follows_run;
}

int lesson_run_chapter(const struct lesson *lesson) {
    for (int i = 0; i < lesson->chapter_count; i++)
        if (lesson->chapters[i].follows_run)
            return i;
    return -1;
}

int lesson_simple_chapter(const struct lesson *lesson) {
    int chapter = 0;
    while (chapter + 1 < lesson->chapter_count && !lesson->chapters[chapter].is_simple)
        chapter++;
    return chapter;
}

int lesson_steps(const struct lesson *lesson, int chapter, const struct run *run) {
    const struct lesson_chapter *at = chapter_at(lesson, chapter);
    if (!at->follows_run)
        return at->step_count;
    // A run that grows has a pass under way after its last event.
    return run_events(run) + (run->state == RUN_OPEN && run->mark_count > 0);
}

struct lesson_place lesson_clamp(const struct lesson *lesson, struct lesson_place place,
                                 const struct run *run) {
    place.chapter = clamp_int(place.chapter, 0, lesson->chapter_count - 1);
    place.step = clamp_int(place.step, 0, lesson_steps(lesson, place.chapter, run) - 1);
    return place;
}

bool lesson_move(const struct lesson *lesson, struct lesson_place *place, int direction,
                 const struct run *run) {
    struct lesson_place to = lesson_clamp(lesson, *place, run);
    to.step += direction;
    if (to.step < 0) {
        if (to.chapter == 0)
            return false;
        to.chapter--;
        to.step = lesson_steps(lesson, to.chapter, run) - 1;
    } else if (to.step >= lesson_steps(lesson, to.chapter, run)) {
        if (to.chapter + 1 >= lesson->chapter_count)
            return false;
        to.chapter++;
        to.step = 0;
    }
    *place = to;
    return true;
}

// The first whole decode step that has a column, -1 = none.
static int first_decode_pass(const struct run *run) {
    int whole = run_events(run) - 1, pass = 0;
    while (pass < whole &&
           (run->passes[pass].phase == RUN_PREFILL || !run->passes[pass].column_count))
        pass++;
    return pass < whole ? pass : -1;
}

static int64_t decode_ns(const struct run *run, bool is_halfway) {
    int pass = first_decode_pass(run);
    if (pass < 0)
        return run_end_ns(run);
    int64_t start_ns = run->passes[pass].start_ns, end_ns = run_pass_end_ns(run, pass);
    return is_halfway ? start_ns + (end_ns - start_ns) / 2 : end_ns;
}

static int64_t anchor_ns(enum lesson_anchor anchor, const struct run *run) {
    int64_t prefill_ns = run_prefill_ns(run), ttft_ns = run_ttft_ns(run), end_ns = run_end_ns(run);
    switch (anchor) {
    case ANCHOR_REQUEST:
        return 0;
    case ANCHOR_IN_PREFILL:
        return prefill_ns < 0 ? end_ns : prefill_ns / 2;
    case ANCHOR_PREFILL:
        return prefill_ns < 0 ? end_ns : prefill_ns;
    case ANCHOR_FIRST_TOKEN:
        return ttft_ns < 0 ? end_ns : ttft_ns;
    case ANCHOR_IN_DECODE:
    case ANCHOR_FIRST_DECODE:
        return decode_ns(run, anchor == ANCHOR_IN_DECODE);
    case ANCHOR_MIDDLE:
        return run_answers_seen(run) > 0 ? run_answer_ns(run, run_answers_seen(run) / 2) : end_ns;
    default:
        return end_ns;
    }
}

int64_t lesson_step_ns(const struct lesson *lesson, struct lesson_place place,
                       const struct run *run) {
    place = lesson_clamp(lesson, place, run);
    const struct lesson_chapter *chapter = &lesson->chapters[place.chapter];
    if (!chapter->follows_run)
        return anchor_ns(chapter->steps[place.step].anchor, run);
    return place.step < run_events(run) ? run_event_ns(run, place.step) : run_end_ns(run);
}

struct lesson_place lesson_place_at(const struct lesson *lesson, struct lesson_place place,
                                    const struct run *run, int64_t t_ns) {
    place = lesson_clamp(lesson, place, run);
    if (!lesson->chapters[place.chapter].follows_run)
        return place;
    int event = run_event_at(run, t_ns);
    if (event < 0)
        place.step = 0;
    else
        place.step = event + (run_event_ns(run, event) != t_ns);
    return lesson_clamp(lesson, place, run);
}

// --- Glossary ---

int lesson_terms(const struct lesson *lesson) {
    return lesson->term_count;
}

struct lesson_term lesson_term(const struct lesson *lesson, int index) {
    return lesson->terms[clamp_int(index, 0, lesson->term_count - 1)];
}

int lesson_term_named(const struct lesson *lesson, const char *name, size_t bytes) {
    for (int i = 0; i < lesson->term_count; i++)
        if (strlen(lesson->terms[i].name) == bytes &&
            strncasecmp(lesson->terms[i].name, name, bytes) == 0)
            return i;
    return -1;
}

int lesson_find_term(const struct lesson *lesson, const char *name) {
    size_t bytes = strlen(name);
    int term = lesson_term_named(lesson, name, bytes);
    for (int i = 0; term < 0 && i < lesson->form_count; i++)
        if (lesson->forms[i].bytes == bytes && memcmp(lesson->forms[i].shown, name, bytes) == 0)
            term = lesson->forms[i].term;
    return term;
}
