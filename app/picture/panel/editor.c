// The user's own prompt: why it cannot be measured, the text with its cursor, the tokens, and
// how many of them there are and may be.
#include "app/state/editor.h"
#include "app/picture/panel/parts.h"
#include "compute/base/num.h"
#include "compute/base/utf8.h"

#include <stdio.h>
#include <string.h>

// Where the part of the text begins that the field holds: so far before the cursor that its
// lines are filled, and not farther with every character, or all lines would break anew.
static int field_start(const struct editor *editor) {
    enum { STEP = 1024, BEFORE = 2 * STEP };
    int start = max_int(editor->cursor - BEFORE, 0) / STEP * STEP;
    while (start > 0 && utf8_continues(editor->text[start]))
        start--;
    return start;
}

static void put_field(struct panel *out, const struct at_hand *at) {
    out->has_field = true;
    const struct editor *editor = at->editor;
    if (!editor)
        return;
    int start = field_start(editor), before = editor->cursor - start;
    const char *text = editor->text + start, *composed = at->composed ? at->composed : "";
    int mark = (int)strlen(composed), room = PANEL_FIELD_BYTES - 1 - before - mark;
    int after =
        (int)utf8_cut(text + before, (size_t)(editor->length - editor->cursor), (size_t)room);
    snprintf(out->field, sizeof out->field, "%.*s%s%.*s", before, text, composed, after,
             text + before);
    out->field_cursor = before + mark;
    out->field_mark = mark;
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
    put_field(out, at);
    put_tiles(out, at);
    PANEL_SAY(out->tiles_label, seen, "editor.tokens", "count", count.text, "longest",
              longest.text);
}
