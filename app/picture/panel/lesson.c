// The lesson's step: its page, who takes part and who acts now, what a cache entry holds,
// and what stands at the foot. Bars are panel_bars.c, controls panel_controls.c.
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

// Between two passes the model has the next one in hand, but only of a pass under way is
// it known which token it writes; at the boundary it is the one just written.
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
    panel_say(party->name, sizeof party->name, seen, name_key, NULL);
    panel_say(party->state, sizeof party->state, seen, state_key, NULL);
}

void panel_put_parties(struct panel *out, const struct panel_seen *seen) {
    bool model_acts = has_begun(seen) && !seen->now.at_end;
    put_party(out, seen, "party.application", application_key(seen), !model_acts, true);
    put_party(out, seen, "party.model", model_key(seen), model_acts, !has_failed(seen));
    out->parties[1].tone = (uint8_t)panel_tone(seen);
}

// --- The KV cache ---

// What one entry holds. How many there are stands on the stage and in the page.
void panel_put_cache(struct panel *out, const struct panel_seen *seen) {
    struct panel_block *block = panel_add_block(out, seen, NULL);
    bool is_known = seen->run->info.origin != RUN_LESSON && run_cache_entry_bytes(seen->run) > 0;
    if (!block)
        return;
    block->is_optional = true;
    panel_append(block, seen, ' ', is_known ? "cache.entry" : "cache.unknown", NULL);
}

// --- The page ---

// From anywhere the chapter is named first, since nobody came to it step by step.
static void put_title(struct panel *out, const struct panel_seen *seen) {
    const char *title = seen->page.title;
    if (seen->stage->side != SIDE_SIMPLE) {
        snprintf(out->title, sizeof out->title, "%s", title);
        return;
    }
    panel_say(out->title, sizeof out->title, seen, "title.simple", NULL);
    struct panel_block *block = panel_add_block(out, seen, NULL);
    snprintf(block->text, sizeof block->text, "%s", title);
}

// Of a question that has been answered only itself stays: what is to be thought over and
// done before it gives way to what the run says.
static void put_blocks(struct panel *out, const struct lesson_page *page, bool is_answered) {
    int count = is_answered && page->block_count > 1 ? 1 : page->block_count;
    for (int i = 0; i < count && out->block_count < PANEL_MAX_BLOCKS; i++) {
        struct panel_block *block = &out->blocks[out->block_count++];
        block->is_optional = false;
        snprintf(block->heading, sizeof block->heading, "%s", page->blocks[i].heading);
        snprintf(block->text, sizeof block->text, "%s", page->blocks[i].text);
    }
}

// The takeaway behind its word, or alone when both are too long for the line.
static void put_takeaway(struct panel *out, const struct panel_seen *seen) {
    const char *takeaway = seen->page.takeaway;
    size_t used = 0;
    panel_say(out->foot, sizeof out->foot, seen, "foot.takeaway", NULL);
    if (strlen(out->foot) + 1 + strlen(takeaway) < sizeof out->foot) {
        used = strlen(out->foot);
        out->foot[used++] = ' ';
    }
    snprintf(out->foot + used, sizeof out->foot - used, "%s", takeaway);
}

static void put_hint(struct panel *out, const struct panel_seen *seen) {
    unsigned lengths = LESSON_PROMPT | LESSON_ANSWER;
    struct lesson_place next = seen->place;
    if (seen->stage->side == SIDE_SIMPLE) {
        panel_say(out->foot, sizeof out->foot, seen, "simple.hint", NULL);
    } else if ((seen->page.shows & LESSON_SPLIT) && !seen->stage->guess.is_split_set) {
        panel_say(out->foot, sizeof out->foot, seen, "split.hint", NULL);
    } else if ((seen->page.shows & lengths) && !seen->at->can_move) {
        panel_say(out->foot, sizeof out->foot, seen, "slider.off", NULL);
    } else if (!lesson_move(seen->lesson, &next, 1, seen->run)) {
        panel_say(out->foot, sizeof out->foot, seen, "foot.end", NULL);
    } else if (next.chapter == seen->place.chapter) {
        panel_say(out->foot, sizeof out->foot, seen, "foot.next", NULL);
    } else {
        const char *title = lesson_chapter_title(seen->lesson, next.chapter);
        panel_say(out->foot, sizeof out->foot, seen, "foot.chapter",
                  (const char *const[]){"title", title, NULL});
    }
}

// Which way is counted, in words: the switch alone would say it by where it stands.
static void put_counting(struct panel *out, const struct panel_seen *seen) {
    bool is_charged = seen->run->info.counting == RUN_CHARGED;
    struct panel_block *block = panel_add_block(out, seen, "switch.counting");
    if (block)
        panel_append(block, seen, ' ', is_charged ? "switch.lesson" : "switch.engine", NULL);
}

void panel_put_lesson(struct panel *out, const struct panel_seen *seen) {
    const struct lesson_page *page = &seen->page;
    put_title(out, seen);
    bool follows = lesson_follows_run(seen->lesson, seen->place.chapter);
    out->title_tone = (uint8_t)(follows ? panel_tone(seen) : TONE_INK);
    if (page->shows & LESSON_PARTIES)
        panel_put_parties(out, seen);
    put_blocks(out, page, (page->shows & LESSON_SPLIT) && seen->stage->guess.is_split_set);
    if (page->shows & LESSON_SPLIT)
        panel_put_split(out, seen);
    if (page->shows & LESSON_COUNTING)
        put_counting(out, seen);
    if (page->shows & (LESSON_PARTIES | LESSON_ANATOMY))
        panel_put_cache(out, seen);
    if (page->shows & LESSON_BARS)
        panel_put_bars(out, seen);
    if (page->shows & LESSON_ANATOMY)
        panel_put_anatomy(out, seen);
    // A takeaway may say what the question asks.
    bool is_asked = (page->shows & LESSON_SPLIT) && !seen->stage->guess.is_split_set;
    if (page->takeaway[0] && !is_asked && seen->stage->side == SIDE_NONE)
        put_takeaway(out, seen);
    else
        put_hint(out, seen);
}
