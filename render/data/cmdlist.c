// See cmdlist.h. Commands that could show nothing (no area, no alpha, no text) are
// not recorded at all: they would only cost the renderer time. What doesn't fit is
// counted, never an error, and never half recorded.
#include "render/data/cmdlist.h"

#include "compute/base/num.h"

#include <string.h>

void cmdlist_clear(struct cmdlist *list) {
    list->count = 0;
    list->dropped = 0;
    list->text_used = 0;
}

static bool is_visible(struct rect rect, rgba color) {
    return rect.w > 0 && rect.h > 0 && (color & 0xFF) != 0;
}

static void add(struct cmdlist *list, struct cmd cmd) {
    if (list->count < CMDLIST_MAX)
        list->cmds[list->count++] = cmd;
    else
        list->dropped++;
}

void cmdlist_fill(struct cmdlist *list, struct rect rect, rgba color) {
    if (is_visible(rect, color))
        add(list, (struct cmd){.kind = CMD_FILL, .rect = rect, .color = color});
}

// The largest radius a rectangle can have and sprites come in.
static uint16_t clamp_radius(struct rect rect, int radius_px) {
    int half = min_int(rect.w, rect.h) / 2;
    return (uint16_t)clamp_int(radius_px, 0, min_int(half, CMD_MAX_RADIUS_PX));
}

void cmdlist_round(struct cmdlist *list, struct rect rect, int radius_px, rgba color) {
    if (!is_visible(rect, color))
        return;
    add(list, (struct cmd){.kind = CMD_ROUND,
                           .rect = rect,
                           .radius = clamp_radius(rect, radius_px),
                           .color = color});
}

void cmdlist_ring(struct cmdlist *list, struct rect rect, int radius_px, int stroke_px,
                  rgba color) {
    if (!is_visible(rect, color) || stroke_px <= 0)
        return;
    add(list, (struct cmd){.kind = CMD_RING,
                           .rect = rect,
                           .radius = clamp_radius(rect, radius_px),
                           .stroke = (uint16_t)clamp_int(stroke_px, 1, CMD_MAX_STROKE_PX),
                           .color = color});
}

void cmdlist_stripes(struct cmdlist *list, struct rect rect, int stroke_px, bool mirrored,
                     rgba color) {
    if (!is_visible(rect, color) || stroke_px <= 0)
        return;
    add(list, (struct cmd){.kind = CMD_STRIPES,
                           .rect = rect,
                           .stroke = (uint16_t)clamp_int(stroke_px, 1, CMD_MAX_STROKE_PX),
                           .mirrored = mirrored,
                           .color = color});
}

void cmdlist_drop(struct cmdlist *list, struct rect rect, int phase, rgba color) {
    if (!is_visible(rect, color))
        return;
    add(list, (struct cmd){.kind = CMD_DROP,
                           .rect = rect,
                           .phase = (uint8_t)clamp_int(phase, 0, CMD_DROP_PHASES - 1),
                           .color = color});
}

// Belongs to the line before it: nothing else came between, and both look the same.
static bool is_continuing(const struct cmdlist *list, const struct cmd *line) {
    const struct cmd *before = list->count > 0 ? &list->cmds[list->count - 1] : NULL;
    return before && before->kind == CMD_LINE && before->color == line->color &&
           before->stroke == line->stroke;
}

void cmdlist_line(struct cmdlist *list, const struct cmd_line *line, rgba color) {
    enum { FARTHEST = 1 << 24 };
    if ((color & 0xFF) == 0 || line->stroke <= 0)
        return;
    int x = clamp_int(line->x0, -FARTHEST, FARTHEST), y = clamp_int(line->y0, -FARTHEST, FARTHEST);
    struct cmd cmd = {
        .kind = CMD_LINE,
        .rect = {x, y, clamp_int(line->x1, -FARTHEST, FARTHEST) - x,
                 clamp_int(line->y1, -FARTHEST, FARTHEST) - y},
        .stroke = (uint16_t)clamp_int(line->stroke, 1, CMD_MAX_LINE_PX * CMD_LINE_UNIT),
        .color = color,
    };
    cmd.phase = line->is_continued && is_continuing(list, &cmd);
    add(list, cmd);
}

void cmdlist_text(struct cmdlist *list, const struct cmd *text, const char *utf8) {
    size_t bytes = strlen(utf8);
    if (bytes == 0 || (text->color & 0xFF) == 0)
        return;
    if (list->count >= CMDLIST_MAX || bytes > sizeof list->text - list->text_used) {
        list->dropped++;
        return;
    }
    add(list, (struct cmd){.kind = CMD_TEXT,
                           .face = text->face,
                           .stroke = text->stroke,
                           .color = text->color,
                           .rect = text->rect,
                           .text_offset = (uint32_t)list->text_used,
                           .text_bytes = (uint32_t)bytes});
    memcpy(list->text + list->text_used, utf8, bytes);
    list->text_used += bytes;
}

void cmdlist_clip(struct cmdlist *list, struct rect rect) {
    add(list, (struct cmd){.kind = CMD_CLIP, .rect = rect});
}

// One step of a 64-bit FNV-1a over whole words instead of bytes; the shift brings
// the high half back down, which a byte-wise hash gets from its many rounds.
static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x100000001B3u;
    return hash ^ hash >> 32;
}

static uint64_t pair(int high, int low) {
    return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

uint64_t cmdlist_hash(const struct cmdlist *list) {
    uint64_t hash = mix(0xCBF29CE484222325u, pair(list->count, list->dropped));
    for (int i = 0; i < list->count; i++) {
        const struct cmd *cmd = &list->cmds[i];
        hash = mix(hash, (uint64_t)cmd->kind | (uint64_t)cmd->face << 8 |
                             (uint64_t)cmd->phase << 16 | (uint64_t)cmd->mirrored << 24 |
                             (uint64_t)cmd->radius << 32 | (uint64_t)cmd->stroke << 48);
        hash = mix(hash, pair(cmd->rect.x, cmd->rect.y));
        hash = mix(hash, pair(cmd->rect.w, cmd->rect.h));
        hash = mix(hash, (uint64_t)cmd->color << 32 | cmd->text_bytes);
    }
    // The texts lie one after another in the order of their commands.
    size_t i = 0;
    for (; i + 8 <= list->text_used; i += 8) {
        uint64_t word;
        memcpy(&word, list->text + i, sizeof word);
        hash = mix(hash, word);
    }
    for (; i < list->text_used; i++)
        hash = mix(hash, (unsigned char)list->text[i]);
    return hash;
}
