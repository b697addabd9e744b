// The pages of a lesson: chooses the texts that hold for a run at a moment and fills them
// with its numbers.
#include "app/lesson/parts.h"
#include "app/lesson/text.h"
#include "compute/base/words.h"

#include <stdio.h>
#include <string.h>

// --- Which variant ---

static bool knows_bytes(const struct run *run) {
    return run->info.origin != RUN_LESSON && run_cache_entry_bytes(run) > 0 &&
           run->info.weight_bytes > 0;
}

static bool holds(enum lesson_when when, const struct run *run, unsigned moment) {
    if (!run)
        return when == WHEN_ELSE;
    switch (when) {
    case WHEN_LESSON:
        return run->info.origin == RUN_LESSON;
    case WHEN_MEASURED:
        return run->info.origin == RUN_MEASURED;
    case WHEN_MODELLED:
        return run->info.origin == RUN_MODELLED;
    case WHEN_CHARGED:
        return run->info.counting == RUN_CHARGED;
    case WHEN_ENGINE:
        return run->info.counting == RUN_ENGINE;
    case WHEN_BYTES:
        return knows_bytes(run);
    case WHEN_GOING:
        return moment & MOMENT_GOING;
    case WHEN_OPEN:
        return run->state == RUN_OPEN;
    case WHEN_EACH:
        return run->info.rule.token_ns > 0 && run->info.rule.pass_ns == 0;
    case WHEN_ONE_PASS:
        return run->info.rule.pass_ns > 0 && run->info.rule.token_ns == 0;
    case WHEN_ONE_TOKEN:
        return run->state == RUN_COMPLETE && run_answers_seen(run) == 1;
    case WHEN_LAST:
        return (moment & MOMENT_FINAL) && run->state == RUN_COMPLETE;
    case WHEN_FAILED:
        return (moment & MOMENT_FINAL) && run->state == RUN_FAILED;
    default:
        return true;
    }
}

const char *lesson_pick(const struct lesson_text *text, const struct run *run, unsigned moment) {
    int i = 0;
    while (i + 1 < text->count && !holds(text->variants[i].when, run, moment))
        i++;
    return text->variants[i].text;
}

// --- Which step ---

// The kind of pass under way after all whole ones.
static enum lesson_kind kind_under_way(const struct run *run) {
    int whole = run_events(run) - 1;
    const struct run_pass *last = whole > 0 ? &run->passes[whole - 1] : NULL;
    if (last && last->phase == RUN_DECODE)
        return KIND_DECODE;
    if (!last || last->first_column + last->column_count < run->info.prompt_tokens)
        return KIND_PREFILL;
    return run->info.counting == RUN_CHARGED ? KIND_CHARGED : KIND_DECODE;
}

static enum lesson_kind kind_of_event(const struct run *run, int event) {
    if (event == 0)
        return KIND_REQUEST;
    if (event >= run_events(run))
        return kind_under_way(run);
    const struct run_pass *pass = &run->passes[event - 1];
    if (pass->phase == RUN_PREFILL)
        return pass->first_column + pass->column_count < run->info.prompt_tokens ? KIND_CHUNK
                                                                                 : KIND_PREFILL;
    if (pass->column_count == 0)
        return KIND_CHARGED;
    bool is_last = event == run_events(run) - 1 && run->state == RUN_COMPLETE;
    return is_last ? KIND_LAST : KIND_DECODE;
}

static const struct lesson_step *step_at(const struct lesson *lesson, struct lesson_place place,
                                         const struct run *run) {
    const struct lesson_chapter *chapter = &lesson->chapters[place.chapter];
    int step = chapter->follows_run ? (int)kind_of_event(run, place.step) : place.step;
    return &chapter->steps[step];
}

// --- The page ---

static void put_chapter(char *out, size_t bytes, const struct lesson *lesson, const char *key,
                        int chapter) {
    char number[16], count[16];
    snprintf(number, sizeof number, "%d", chapter + 1);
    snprintf(count, sizeof count, "%d", lesson->chapter_count);
    const char *const extra[] = {
        "number", number, "count", count, "title", lesson->chapters[chapter].title, NULL};
    lesson_say(out, bytes, lesson, key, &(struct lesson_facts){.extra = extra});
}

static void put_title(struct lesson_page *out, const struct lesson *lesson,
                      struct lesson_place place, const struct lesson_text *title,
                      const struct lesson_facts *facts, unsigned moment) {
    const struct run *run = facts->run;
    char step[16], steps[16], text[sizeof out->title];
    bool is_open = run->state == RUN_OPEN && lesson->chapters[place.chapter].follows_run;
    lesson_text_fill(text, sizeof text, lesson_pick(title, run, moment), facts, NULL);
    snprintf(step, sizeof step, "%d", place.step + 1);
    snprintf(steps, sizeof steps, "%d", lesson_steps(lesson, place.chapter, run));
    const char *const extra[] = {"place", step, "places", steps, "title", text, NULL};
    lesson_say(out->title, sizeof out->title, lesson, is_open ? "title.step_open" : "title.step",
               &(struct lesson_facts){.run = run, .t_ns = facts->t_ns, .extra = extra});
}

static void put_blocks(struct lesson_page *out, const struct lesson *lesson,
                       const struct lesson_step *step, const struct lesson_facts *facts,
                       unsigned moment) {
    static const char *const headings[LESSON_BLOCKS] = {"heading.what", "heading.why",
                                                        "heading.changes", "heading.next"};
    // "next" may be left out.
    out->block_count =
        step->blocks[LESSON_BLOCKS - 1].count > 0 ? LESSON_BLOCKS : LESSON_BLOCKS - 1;
    for (int i = 0; i < out->block_count; i++) {
        struct lesson_block *block = &out->blocks[i];
        snprintf(block->heading, sizeof block->heading, "%s", lesson_word(lesson, headings[i]));
        lesson_text_fill(block->text, sizeof block->text,
                         lesson_pick(&step->blocks[i], facts->run, moment), facts, lesson);
    }
}

// Names the chapter after this one where the step has said what comes next in its own.
static void put_next_chapter(struct lesson_page *out, const struct lesson *lesson, int chapter) {
    struct lesson_block *next = &out->blocks[LESSON_BLOCKS - 1];
    out->block_count = LESSON_BLOCKS;
    snprintf(next->heading, sizeof next->heading, "%s",
             lesson_word(lesson, "heading.next_chapter"));
    put_chapter(next->text, sizeof next->text, lesson, "title.next_chapter", chapter + 1);
}

static unsigned moment_of(const struct lesson_chapter *chapter, struct lesson_place place,
                          const struct run *run, int64_t t_ns) {
    if (!chapter->follows_run)
        return t_ns >= run_end_ns(run) ? MOMENT_FINAL : 0;
    bool is_there = place.step < run_events(run);
    bool is_going = place.step > 0 && (!is_there || t_ns < run_event_ns(run, place.step));
    unsigned moment = place.step + 1 >= run_events(run) ? MOMENT_FINAL : 0;
    return moment | (is_going ? MOMENT_GOING : 0);
}

void lesson_page(struct lesson_page *out, const struct lesson *lesson, struct lesson_place place,
                 const struct run *run, int64_t t_ns) {
    place = lesson_clamp(lesson, place, run);
    const struct lesson_chapter *chapter = &lesson->chapters[place.chapter];
    const struct lesson_step *step = step_at(lesson, place, run);
    int steps = lesson_steps(lesson, place.chapter, run);
    unsigned moment = moment_of(chapter, place, run, t_ns);
    const struct lesson_facts facts = {.run = run, .t_ns = t_ns};
    memset(out, 0, sizeof *out);
    put_chapter(out->chapter, sizeof out->chapter, lesson, "title.chapter", place.chapter);
    put_title(out, lesson, place, &step->title, &facts, moment);
    const struct lesson_facts wrapping = {.run = run, .t_ns = t_ns, .wraps = true};
    put_blocks(out, lesson, step, &wrapping, moment);
    lesson_text_fill(out->summary, sizeof out->summary, lesson_pick(&step->summary, run, moment),
                     &facts, NULL);
    bool is_last = place.step + 1 == steps && !(chapter->follows_run && run->state == RUN_OPEN);
    if (is_last)
        lesson_text_fill(out->takeaway, sizeof out->takeaway,
                         lesson_pick(&chapter->takeaway, run, moment), &facts, NULL);
    bool has_failed = chapter->follows_run && run->state == RUN_FAILED;
    if (is_last && !(moment & MOMENT_GOING) && !has_failed &&
        place.chapter + 1 < lesson->chapter_count)
        put_next_chapter(out, lesson, place.chapter);
    out->shows = chapter->shows | step->shows;
}

// --- Words ---

// What the lesson itself says under a key; NULL: nothing.
static const struct lesson_text *own_word(const struct lesson *lesson, const char *key) {
    for (int i = 0; i < lesson->word_count; i++)
        if (strcmp(lesson->words[i].key, key) == 0)
            return &lesson->words[i].text;
    return NULL;
}

const char *lesson_word(const struct lesson *lesson, const char *key) {
    const struct lesson_text *own = own_word(lesson, key);
    return own ? own->variants[own->count - 1].text : word(key);
}

void lesson_say(char *out, size_t bytes, const struct lesson *lesson, const char *key,
                const struct lesson_facts *facts) {
    const struct run *run = facts->run;
    const struct lesson_text *own = own_word(lesson, key);
    unsigned moment = run && facts->t_ns >= run_end_ns(run) ? MOMENT_FINAL : 0;
    const char *text = own ? lesson_pick(own, run, moment) : word(key);
    lesson_text_fill(out, bytes, text, facts, lesson);
}
