// The user's own prompt: why it cannot be measured, the text with its cursor, the tokens, and
// how many of them there are and may be.
#include "app/state/editor.h"
#include "app/picture/panel/parts.h"
#include "compute/base/num.h"

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

// The last tokens, where one is typing, if there is no room for all.
static void put_tiles(struct panel *out, const struct at_hand *at) {
    out->tile_count = min_int(at->tile_count, PANEL_MAX_TILES);
    if (out->tile_count > 0)
        memcpy(out->tiles, at->tiles + at->tile_count - out->tile_count,
               (size_t)out->tile_count * sizeof out->tiles[0]);
}

void panel_put_editor(struct panel *out, const struct panel_seen *seen) {
    const struct at_hand *at = seen->at;
    struct figure count = figure_count(at->prompt_count, false);
    struct figure longest = figure_count(at->longest_prompt, false);
    struct panel_block *trouble = panel_add_block(out, seen, "editor.label");
    if (at->editor_message)
        snprintf(trouble->text, sizeof trouble->text, "%s", at->editor_message);
    else if (!at->has_engine)
        panel_append(trouble, seen, ' ', "editor.no_device", NULL);
    else if (!at->editor || at->editor->length == 0)
        panel_append(trouble, seen, ' ', "editor.empty", NULL);
    else if (at->prompt_count > at->longest_prompt)
        panel_append(trouble, seen, ' ', "editor.too_long", "count", count.text, "longest",
                     longest.text, NULL);
    put_field(out, at->editor);
    put_tiles(out, at);
    PANEL_SAY(out->tiles_label, seen, "editor.tokens", "count", count.text, "longest",
              longest.text);
}
