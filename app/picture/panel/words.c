// Words and figures of the panel: the lesson's sentences with the run's values in them,
// blocks, percents. Every text that is shown comes through here, so that a translation
// is whole.
#include "app/picture/panel/parts.h"

#include "compute/base/num.h"

#include <string.h>

void panel_say(char *out, size_t bytes, const struct panel_seen *seen, const char *key,
               const char *const *extra) {
    lesson_say(out, bytes, seen->lesson, key,
               &(struct lesson_facts){seen->run, seen->now.t_ns, extra});
}

struct panel_block *panel_add_block(struct panel *out, const struct panel_seen *seen,
                                    const char *heading_key) {
    if (out->block_count == PANEL_MAX_BLOCKS)
        return NULL;
    struct panel_block *block = &out->blocks[out->block_count++];
    *block = (struct panel_block){0};
    if (heading_key)
        panel_say(block->heading, sizeof block->heading, seen, heading_key, NULL);
    return block;
}

void panel_append(struct panel_block *block, const struct panel_seen *seen, char before,
                  const char *key, const char *const *extra) {
    size_t used = strlen(block->text), whole = used;
    // Room for the sign between and at least one letter: what is full stays as it is.
    if (used + 3 > sizeof block->text)
        return;
    if (used > 0)
        block->text[used++] = before;
    panel_say(block->text + used, sizeof block->text - used, seen, key, extra);
    if (!block->text[used])
        block->text[whole] = '\0';
}

int panel_part_ppm(double part, double whole) {
    if (!(part > 0) || !(whole > 0))
        return 0;
    return part >= whole ? VIEW_PPM : (int)(part / whole * VIEW_PPM + 0.5);
}

struct figure panel_percent(int ppm) {
    return figure_percent(percent_of_ppm(ppm));
}

const char *panel_origin_key(const struct run *run) {
    static const char *const keys[] = {
        [RUN_MEASURED] = "origin.measured",
        [RUN_MODELLED] = "origin.modelled",
        [RUN_LESSON] = "origin.lesson",
    };
    return keys[run->info.origin];
}
