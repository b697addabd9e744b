// Sentences and figures of the panel. Every text that it shows comes from the lesson through
// here, so that a translated lesson leaves nothing untranslated.
#include "app/picture/panel/parts.h"

#include "compute/base/num.h"

#include <stdarg.h>
#include <string.h>

static void say(char *out, size_t bytes, const struct panel_seen *seen, bool wraps, const char *key,
                va_list args) {
    enum { MAX_EXTRA = 8 }; // names and their texts
    const char *extra[MAX_EXTRA + 1];
    int count = 0;
    while (count < MAX_EXTRA && (extra[count] = va_arg(args, const char *)))
        count++;
    extra[count] = NULL;
    struct lesson_facts facts = {seen->run, seen->now.t_ns, extra, wraps};
    lesson_say(out, bytes, seen->lesson, key, &facts);
}

void panel_say(char *out, size_t bytes, const struct panel_seen *seen, const char *key, ...) {
    va_list args;
    va_start(args, key);
    say(out, bytes, seen, false, key, args);
    va_end(args);
}

struct panel_block *panel_add_block(struct panel *out, const struct panel_seen *seen,
                                    const char *heading_key) {
    if (out->block_count == PANEL_MAX_BLOCKS)
        return NULL;
    struct panel_block *block = &out->blocks[out->block_count++];
    *block = (struct panel_block){0};
    if (heading_key)
        PANEL_SAY(block->heading, seen, heading_key);
    return block;
}

void panel_append(struct panel_block *block, const struct panel_seen *seen, char before,
                  const char *key, ...) {
    size_t whole = block ? strlen(block->text) : 0, used = whole;
    // Without room for `before` and one byte the text stays as it is.
    if (!block || used + 3 > sizeof block->text)
        return;
    if (used > 0)
        block->text[used++] = before;
    va_list args;
    va_start(args, key);
    say(block->text + used, sizeof block->text - used, seen, true, key, args);
    va_end(args);
    if (!block->text[used])
        block->text[whole] = '\0';
}

int panel_part_ppm(double part, double whole) {
    if (!(part > 0) || !(whole > 0))
        return 0;
    return part >= whole ? VIEW_PPM : (int)(part / whole * VIEW_PPM + 0.5);
}

struct figure panel_percent(int ppm) {
    return figure_share((double)ppm / VIEW_PPM);
}

struct figure panel_origin(const struct panel_seen *seen) {
    static const char *const keys[] = {
        [RUN_MEASURED] = "origin.measured",
        [RUN_MODELLED] = "origin.modelled",
        [RUN_LESSON] = "origin.lesson",
    };
    struct figure out;
    PANEL_SAY(out.text, seen, keys[seen->run->info.origin]);
    return out;
}
