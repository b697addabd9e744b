// The user's own prompt: the text with its cursor, its tokens below, how many there are
// of how many there may be, and why it cannot be measured if it cannot.
#include "app/state/editor.h"
#include "app/picture/panel/parts.h"

#include <stdio.h>
#include <string.h>

static void put_field(struct panel *out, const struct editor *editor) {
    out->has_field = true;
    if (!editor)
        return;
    _Static_assert((int)PANEL_FIELD_BYTES >= (int)EDITOR_BYTES, "a whole text fits");
    memcpy(out->field, editor->text, (size_t)editor->length);
    out->field[editor->length] = '\0';
    out->field_cursor = editor->cursor;
}

// Of more tokens than there is room for, those at the end: where one is typing.
static void put_tiles(struct panel *out, const struct at_hand *at) {
    int count = at->tile_count < PANEL_MAX_TILES ? at->tile_count : PANEL_MAX_TILES;
    out->tile_count = count;
    if (count > 0)
        memcpy(out->tiles, at->tiles + at->tile_count - count,
               (size_t)count * sizeof out->tiles[0]);
}

// What is wrong comes first from whoever tried; the panel itself sees the rest.
static void put_trouble(struct panel_block *block, const struct panel_seen *seen,
                        const char *const *lengths) {
    const struct at_hand *at = seen->at;
    bool is_empty = !at->editor || at->editor->length == 0;
    if (at->editor_message)
        snprintf(block->text, sizeof block->text, "%s", at->editor_message);
    else if (!at->has_engine)
        panel_append(block, seen, ' ', "editor.no_device", NULL);
    else if (is_empty)
        panel_append(block, seen, ' ', "editor.empty", NULL);
    else if (at->prompt_count > at->longest_prompt)
        panel_append(block, seen, ' ', "editor.too_long", lengths);
}

void panel_put_editor(struct panel *out, const struct panel_seen *seen) {
    const struct at_hand *at = seen->at;
    struct figure count = figure_count(at->prompt_count, 0);
    struct figure longest = figure_count(at->longest_prompt, 0);
    const char *const lengths[] = {"count", count.text, "longest", longest.text, NULL};
    panel_say(out->title, sizeof out->title, seen, "title.prompt", NULL);
    panel_say(out->foot, sizeof out->foot, seen, "editor.hint", NULL);
    put_trouble(panel_add_block(out, seen, "editor.label"), seen, lengths);
    put_field(out, at->editor);
    put_tiles(out, at);
    panel_say(out->tiles_label, sizeof out->tiles_label, seen, "editor.tokens", lengths);
}
