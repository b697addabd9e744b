// The lesson's step: its page, who takes part and who acts now, what a cache entry holds,
// and the line at the foot. Bars are bars.c, controls controls.c.
#include "app/picture/panel/parts.h"

#include <stdio.h>
#include <string.h>

// --- Who acts ---

static bool has_failed(const struct panel_seen *seen) {
    return seen->now.at_end && seen->run->state == RUN_FAILED;
}

static bool has_begun(const struct panel_seen *seen) {
    return seen->now.current >= 0;
}

static const char *application_key(const struct panel_seen *seen) {
    if (has_failed(seen))
        return "application.failed";
    if (!has_begun(seen))
        return "application.ready";
    if (seen->now.at_end)
        return "application.done";
    return seen->now.answers > 0 ? "application.reads" : "application.waits";
}

// At an event the step is the one that has just ended: nobody can know that another follows.
static const char *model_key(const struct panel_seen *seen) {
    if (has_failed(seen))
        return "model.failed";
    if (!has_begun(seen))
        return "model.waits";
    if (seen->now.at_end)
        return "model.done";
    int pass = panel_decode_pass(seen);
    if (pass < 0)
        return "model.prefill";
    return seen->run->passes[pass].column_count == 0 ? "model.charged" : "model.decode";
}

static void put_party(struct panel *out, const struct panel_seen *seen, const char *name_key,
                      const char *state_key, bool acts, bool is_well) {
    struct panel_party *party = &out->parties[out->party_count++];
    *party = (struct panel_party){.acts = acts, .is_well = is_well, .tone = TONE_INK};
    PANEL_SAY(party->name, seen, name_key);
    char says[sizeof party->state];
    PANEL_SAY(says, seen, state_key);
    PANEL_SAY(party->state, seen,
              acts      ? "party.now"
              : is_well ? "party.well"
                        : "party.ill",
              "state", says);
}

static void put_parties(struct panel *out, const struct panel_seen *seen) {
    bool model_acts = has_begun(seen) && !seen->now.at_end;
    put_party(out, seen, "party.application", application_key(seen), !model_acts, true);
    bool is_lesson = seen->run->info.origin == RUN_LESSON;
    put_party(out, seen, is_lesson ? "party.model_lesson" : "party.model", model_key(seen),
              model_acts, !has_failed(seen));
    out->parties[1].tone = (uint8_t)panel_tone(seen);
}

// --- The KV cache ---

// What one entry holds. How many there are is on the stage and in the page.
static void put_cache(struct panel *out, const struct panel_seen *seen) {
    bool is_known = seen->run->info.origin != RUN_LESSON && run_cache_entry_bytes(seen->run) > 0;
    struct panel_block *block = panel_add_block(out, seen, NULL);
    if (block)
        block->is_optional = true;
    panel_append(block, seen, ' ', is_known ? "cache.entry" : "cache.unknown", NULL);
}

// --- The page ---

// Opened from anywhere, the chapter has a title of its own and the page's is its first block.
static void put_title(struct panel *out, const struct panel_seen *seen) {
    const char *title = seen->page.title;
    if (seen->stage->side == SIDE_SIMPLE)
        snprintf(panel_add_block(out, seen, NULL)->text, PANEL_TEXT_BYTES, "%s", title);
    else
        snprintf(out->title, sizeof out->title, "%s", title);
    if (seen->stage->side == SIDE_NONE)
        snprintf(out->chapter, sizeof out->chapter, "%s", seen->page.chapter);
}

// Once the question is answered, only its first block stays: what the run says takes the
// place of what was to be thought over.
static void put_blocks(struct panel *out, const struct lesson_page *page, bool is_answered) {
    int count = is_answered && page->block_count > 1 ? 1 : page->block_count;
    for (int i = 0; i < count && out->block_count < PANEL_MAX_BLOCKS; i++) {
        struct panel_block *block = &out->blocks[out->block_count++];
        block->is_optional = false;
        snprintf(block->heading, sizeof block->heading, "%s", page->blocks[i].heading);
        snprintf(block->text, sizeof block->text, "%s", page->blocks[i].text);
    }
}

// The takeaway after its word, or alone if both are too long for the line.
static void put_takeaway(struct panel *out, const char *takeaway) {
    size_t used = strlen(out->foot);
    bool has_room = used + 1 + strlen(takeaway) < sizeof out->foot;
    if (has_room)
        out->foot[used++] = ' ';
    else
        used = 0;
    snprintf(out->foot + used, sizeof out->foot - used, "%s", takeaway);
}

// What the foot says: the takeaway, what keeps a control from moving, or what comes next.
static void put_foot(struct panel *out, const struct panel_seen *seen) {
    unsigned shows = seen->page.shows;
    struct lesson_place next = seen->place;
    bool is_asked = (shows & LESSON_SPLIT) && !seen->stage->guess.is_split_set;
    if (is_asked) { // a takeaway might answer it
        PANEL_SAY(out->foot, seen, "split.hint");
    } else if (seen->page.takeaway[0]) {
        PANEL_SAY(out->foot, seen, "foot.takeaway");
        put_takeaway(out, seen->page.takeaway);
    } else if ((shows & (LESSON_PROMPT | LESSON_ANSWER)) && !seen->at->can_move) {
        PANEL_SAY(out->foot, seen, "slider.off");
    } else if (!lesson_move(seen->lesson, &next, 1, seen->run)) {
        PANEL_SAY(out->foot, seen, "foot.end");
    } else if (next.chapter == seen->place.chapter) {
        PANEL_SAY(out->foot, seen, "foot.next");
    } else {
        PANEL_SAY(out->foot, seen, "foot.chapter", "title",
                  lesson_chapter_title(seen->lesson, next.chapter));
    }
}

void panel_put_lesson(struct panel *out, const struct panel_seen *seen) {
    unsigned shows = seen->page.shows;
    bool is_answered = (shows & LESSON_SPLIT) && seen->stage->guess.is_split_set;
    bool is_charged = seen->run->info.counting == RUN_CHARGED;
    put_title(out, seen);
    if (lesson_follows_run(seen->lesson, seen->place.chapter))
        out->title_tone = (uint8_t)panel_tone(seen);
    if (shows & LESSON_PARTIES)
        put_parties(out, seen);
    put_blocks(out, &seen->page, is_answered);
    if (is_answered)
        panel_put_split(out, seen);
    if (shows & LESSON_COUNTING) // in words, too: the switch alone says it by its place
        panel_append(panel_add_block(out, seen, "switch.counting"), seen, ' ',
                     is_charged ? "switch.lesson" : "switch.engine", NULL);
    if (shows & (LESSON_PARTIES | LESSON_ANATOMY))
        put_cache(out, seen);
    if (shows & LESSON_BARS)
        panel_put_bars(out, seen);
    if (shows & LESSON_ANATOMY)
        panel_put_anatomy(out, seen);
    if (shows & LESSON_FLOORS)
        panel_put_both_floors(out, seen);
    if (seen->stage->side == SIDE_NONE)
        put_foot(out, seen);
}
