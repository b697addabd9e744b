// The prompt being typed: its text in a box that scrolls with the cursor, and below
// it the tokens it makes. The box has as many rows as its room allows from the start,
// so that typing moves nothing but the text. The cursor doesn't blink: a frame is a
// value.
#include "render/paint/panel/parts.h"

#include "compute/base/num.h"

#include <string.h>

static int tile_px(const struct panel_plan *plan) {
    return plan->paint->layout->floor_px;
}

static int tile_height(const struct panel_plan *plan) {
    return tile_px(plan) * 3 / 2;
}

static int tile_gap(const struct panel_plan *plan) {
    return tile_px(plan) / 4;
}

// Box borders and paddings, the label's row, the gaps.
static int fixed_height(const struct panel_plan *plan) {
    return plan->type.pad_px + plan->type.line_px + plan->type.pad_px / 2;
}

int paint_panel_want_field(const struct panel_plan *plan, int lines, int tile_rows) {
    return fixed_height(plan) + lines * plan->type.line_px +
           tile_rows * (tile_height(plan) + tile_gap(plan));
}

static struct wrap_style field_style(const struct panel_plan *plan) {
    return (struct wrap_style){FACE_WORDS, plan->field.px, plan->field.inner.w};
}

// The row with the cursor, counted from the text's first.
static int find_cursor(const struct panel_plan *plan) {
    struct wrap_style style = field_style(plan);
    const char *utf8 = plan->panel->field;
    struct wrap_line line;
    int row = -1, cursor = plan->panel->field_cursor;
    for (int at = 0; wrap_next(&line, plan->paint->text, &style, utf8, at); at = line.next) {
        row++;
        if (cursor < line.next)
            return row;
    }
    // Behind the end: a new row only after a line's end.
    size_t bytes = strlen(utf8);
    return bytes == 0 || utf8[bytes - 1] == '\n' ? row + 1 : row;
}

// Keeps the lines in sight: the cursor is on the last of them, or the text's first
// ones all fit.
static void place_lines(struct panel_plan *plan, int fits) {
    struct panel_field_box *field = &plan->field;
    struct wrap_style style = field_style(plan);
    const char *utf8 = plan->panel->field;
    int cursor = find_cursor(plan), first = cursor < fits ? 0 : cursor - fits + 1;
    struct wrap_line line;
    int row = 0;
    field->count = 0;
    field->cursor_row = cursor - first;
    for (int at = 0; field->count < fits && wrap_next(&line, plan->paint->text, &style, utf8, at);
         at = line.next) {
        if (row++ >= first)
            field->lines[field->count++] = line;
    }
}

static int tile_width(const struct panel_plan *plan, const struct view_token *tile) {
    int px = tile_px(plan);
    int width = paint_token_width(plan->paint, tile, px);
    return clamp_int(width + px * 3 / 4, px * 3 / 2, plan->inner.w);
}

// Sets the tiles in rows from the first one on and shows the last rows.
static void place_tiles(struct panel_plan *plan, int top, int rows) {
    struct panel_field_box *field = &plan->field;
    struct rect inner = plan->inner;
    int pitch = tile_height(plan) + tile_gap(plan), x = 0, row = 0;
    int count = clamp_int(plan->panel->tile_count, 0, PLAN_MAX_TILES);
    for (int i = 0; i < count; i++) {
        const struct view_token *tile = &plan->panel->tiles[i];
        int width = tile_width(plan, tile);
        int gap = x == 0 ? 0 : tile->leading_space ? 2 * tile_gap(plan) : tile_gap(plan) / 2 + 1;
        if (x + gap + width > inner.w) {
            row++;
            x = gap = 0;
        }
        field->tiles[i] = (struct rect){inner.x + x + gap, row, width, tile_height(plan)};
        x += gap + width;
    }
    int first = row - rows + 1 > 0 ? row - rows + 1 : 0;
    field->tile_first = 0;
    while (field->tile_first < count && field->tiles[field->tile_first].y < first)
        field->tile_first++;
    field->tile_shown = rows > 0 ? count - field->tile_first : 0;
    for (int i = field->tile_first; i < count; i++)
        field->tiles[i].y = top + (field->tiles[i].y - first) * pitch;
}

void paint_panel_place_field(struct panel_plan *plan, struct rect room) {
    struct panel_field_box *field = &plan->field;
    int pad = plan->type.pad_px, line = plan->type.line_px;
    int pitch = tile_height(plan) + tile_gap(plan), rest = room.h - fixed_height(plan);
    int lines = clamp_int((rest - pitch) / line, 1, 2);
    lines = clamp_int(rest * 45 / 100 / line, lines, PLAN_MAX_FIELD_LINES);
    int rows = clamp_int((rest - lines * line) / pitch, 0, PLAN_MAX_TILES);
    field->px = plan->type.px;
    field->line_px = line;
    field->box = (struct rect){room.x, room.y, room.w, lines * line + pad};
    field->inner = (struct rect){room.x + pad, room.y + pad / 2, room.w - 2 * pad, lines * line};
    field->label = (struct rect){room.x, room.y + field->box.h, room.w, line + pad / 2};
    place_lines(plan, lines);
    place_tiles(plan, field->label.y + field->label.h, rows);
}

static struct rect line_rect(const struct panel_plan *plan, int row) {
    const struct panel_field_box *field = &plan->field;
    return (struct rect){field->inner.x, field->inner.y + row * field->line_px, field->inner.w,
                         field->line_px};
}

static void draw_cursor(const struct panel_plan *plan) {
    const struct panel_field_box *field = &plan->field;
    struct wrap_style style = field_style(plan);
    int x = 0, row = field->cursor_row;
    if (row < field->count)
        x = wrap_width_px(plan->paint->text, &style, plan->panel->field, field->lines[row].from,
                          plan->panel->field_cursor);
    int width = plan->paint->layout->hair_px + 1;
    struct rect rect = line_rect(plan, row);
    cmdlist_fill(plan->out,
                 (struct rect){rect.x + clamp_int(x, 0, rect.w), rect.y + rect.h / 10, width,
                               rect.h - rect.h / 5},
                 paint_color(plan->paint, COLOR_INK));
}

static void draw_tile(const struct panel_plan *plan, int i) {
    const struct view_token *tile = &plan->panel->tiles[i];
    const struct layout *layout = plan->paint->layout;
    struct rect rect = plan->field.tiles[i];
    bool is_quiet = tile->look == TOKEN_CONTROL;
    cmdlist_ring(plan->out, rect, clamp_int(rect.h / 5, 2, layout->unit_px), layout->hair_px + 1,
                 paint_color(plan->paint, is_quiet ? COLOR_LINE : COLOR_PREFILL));
    struct paint_label label = {rect_inset(rect, 2, 0), ALIGN_CENTER, FACE_WORDS, tile_px(plan),
                                paint_color(plan->paint, is_quiet ? COLOR_QUIET : COLOR_INK)};
    paint_token(plan->out, plan->paint, label, tile);
}

// A line under what an input method composes; it may go over several rows.
static void draw_mark(const struct panel_plan *plan, int row) {
    const struct wrap_line *line = &plan->field.lines[row];
    const char *utf8 = plan->panel->field;
    int to = min_int(plan->panel->field_cursor, line->from + line->bytes);
    int from = max_int(plan->panel->field_cursor - plan->panel->field_mark, line->from);
    if (from >= to)
        return;
    struct wrap_style style = field_style(plan);
    struct rect rect = line_rect(plan, row);
    int x = wrap_width_px(plan->paint->text, &style, utf8, line->from, from);
    int end = wrap_width_px(plan->paint->text, &style, utf8, line->from, to);
    int thick = plan->paint->layout->hair_px + 1;
    cmdlist_fill(plan->out, (struct rect){rect.x + x, rect.y + rect.h - thick, end - x, thick},
                 paint_color(plan->paint, COLOR_INK));
}

void paint_panel_draw_field(struct panel_plan *plan) {
    const struct panel_field_box *field = &plan->field;
    const struct layout *layout = plan->paint->layout;
    if (plan->sections[SECTION_FIELD].h <= 0)
        return;
    cmdlist_ring(plan->out, field->box, layout->unit_px / 2, layout->stroke_px,
                 paint_color(plan->paint, COLOR_INK));
    for (int i = 0; i < field->count; i++) {
        char plain[WRAP_LINE_BYTES + 1];
        int from = field->lines[i].from;
        wrap_copy(plain, plan->panel->field, from, from + field->lines[i].bytes);
        struct paint_label label = {line_rect(plan, i), ALIGN_LEFT, FACE_WORDS, field->px,
                                    paint_color(plan->paint, COLOR_INK)};
        label.rect.w += field->px / 4;
        paint_text(plan->out, plan->paint->text, &label, plain);
        draw_mark(plan, i);
    }
    draw_cursor(plan);
    paint_panel_put(plan,
                    (struct paint_label){field->label, ALIGN_LEFT, FACE_WORDS, layout->floor_px,
                                         paint_color(plan->paint, COLOR_QUIET)},
                    plan->panel->tiles_label);
    for (int i = 0; i < field->tile_shown; i++)
        draw_tile(plan, field->tile_first + i);
}
