// The list of the panel: log or glossary. One line per row, times in cells so that decimal
// points align; past lines have a filled dot, future ones a hollow one. A list longer than
// its room shows the part around the focus and says how many lines are above and below.
#include "render/paint/panel/parts.h"

#include "compute/base/num.h"
#include "compute/base/utf8.h"

#include <string.h>

// Beside an explanation the list is small print; alone it is what is to be read, if
// its longest line allows. By count of characters: a list of hundreds isn't measured.
static int list_px(const struct panel_plan *plan) {
    const struct layout *layout = plan->paint->layout;
    const struct panel *panel = plan->panel;
    int time = 0, words = 0;
    for (int i = 0; i < panel->line_count; i++) {
        time = max_int(time, utf8_count(panel->lines[i].time));
        words = max_int(words, utf8_count(panel->lines[i].text));
    }
    int tenths = time * 6 + words * 5 + (time > 0 ? 20 : 0); // of an em
    bool is_small = panel->block_count > 0 || layout->small_px * tenths / 10 > plan->inner.w;
    return is_small ? layout->floor_px : layout->small_px;
}

static int row_height(int px) {
    return (px * 134 + 99) / 100;
}

int paint_panel_want_list(const struct panel_plan *plan, int lines) {
    bool is_long = lines < plan->panel->line_count;
    return lines <= 0 ? 0 : (lines + (is_long ? 2 : 0)) * row_height(list_px(plan));
}

// Of all lines, not only those shown: scrolling moves nothing sideways.
static int time_width(const struct panel_plan *plan, int px) {
    int most = 0;
    for (int i = 0; i < plan->panel->line_count; i++)
        most = max_int(most, utf8_count(plan->panel->lines[i].time));
    return most * text_width_px(plan->paint->text, FACE_MONO, px, "0");
}

// The line that must be seen: the focus, else the last one that has happened.
static int anchor_of(const struct panel *panel) {
    if (panel->line_focus >= 0)
        return panel->line_focus;
    int last = panel->line_count - 1;
    while (last > 0 && !panel->lines[last].is_past)
        last--;
    return last;
}

void paint_panel_place_list(struct panel_plan *plan, struct rect room) {
    struct panel_list_box *list = &plan->list;
    int px = list_px(plan), height = row_height(px);
    int count = plan->panel->line_count, fits = room.h / height;
    *list = (struct panel_list_box){.px = px, .row_px = height};
    list->time_px = time_width(plan, px);
    list->sign_px = list->time_px > 0 ? px * 4 / 5 : 0;
    bool is_long = count > fits && fits > 2;
    list->count = is_long ? fits - 2 : clamp_int(count, 0, fits);
    int middle = anchor_of(plan->panel) - list->count / 2;
    list->first = clamp_int(middle, 0, count - list->count);
    int y = room.y;
    if (is_long) {
        int below = count - list->first - list->count;
        list->above = (struct panel_more){{room.x, y, room.w, height}, list->first};
        y += height;
        list->below =
            (struct panel_more){{room.x, y + list->count * height, room.w, height}, below};
    }
    list->rows = (struct rect){room.x, y, room.w, list->count * height};
}

static void draw_dot(const struct panel_plan *plan, struct rect row, bool is_past, rgba color) {
    int size = plan->list.px / 2;
    struct rect dot = {row.x, row.y + (row.h - size) / 2, size, size};
    if (is_past)
        cmdlist_round(plan->out, dot, size / 2, color);
    else
        cmdlist_ring(plan->out, dot, size / 2, 1 + size / 8, color);
}

struct panel_row paint_panel_list_row(const struct panel_plan *plan, int line) {
    const struct panel_list_box *list = &plan->list;
    const struct panel_line *l = &plan->panel->lines[line];
    int left = list->time_px > 0 ? list->sign_px + list->time_px + list->px * 3 / 4 : 0;
    bool is_focus = line == plan->panel->line_focus;
    enum theme_color color = is_focus ? COLOR_ON_ACCENT : l->is_past ? COLOR_INK : COLOR_QUIET;
    struct rect row = {list->rows.x + left, list->rows.y + (line - list->first) * list->row_px,
                       list->rows.w - left, list->row_px};
    return (struct panel_row){
        .utf8 = l->text,
        .line = {0, (int)strlen(l->text), 0},
        .rect = row,
        .face = is_focus ? FACE_STRONG : FACE_WORDS,
        .px = list->px,
        .color = paint_color(plan->paint, color),
    };
}

static void draw_line(struct panel_plan *plan, int line) {
    const struct panel_list_box *list = &plan->list;
    const struct panel_line *l = &plan->panel->lines[line];
    struct panel_row row = paint_panel_list_row(plan, line);
    bool is_focus = line == plan->panel->line_focus;
    struct rect all = {list->rows.x, row.rect.y, list->rows.w, list->row_px};
    rgba tone = paint_tone(plan->paint, l->is_past ? l->tone : (uint8_t)TONE_QUIET);
    if (is_focus) {
        int reach = layout_panel_pad_px(plan->paint->layout) / 2;
        cmdlist_round(plan->out, rect_inset(all, -reach, 0), plan->paint->layout->unit_px / 2,
                      paint_color(plan->paint, COLOR_INK));
        tone = row.color;
    }
    if (list->time_px > 0) {
        draw_dot(plan, all, l->is_past, tone);
        struct rect time = {all.x + list->sign_px, all.y, list->time_px, all.h};
        paint_panel_put(plan, (struct paint_label){time, ALIGN_RIGHT, FACE_MONO, list->px, tone},
                        l->time);
    }
    paint_panel_draw_row(plan, &row);
}

void paint_panel_draw_list(struct panel_plan *plan) {
    const struct panel_list_box *list = &plan->list;
    for (int i = 0; i < list->count; i++)
        draw_line(plan, list->first + i);
    paint_panel_put_more(plan, list->above, true);
    paint_panel_put_more(plan, list->below, false);
    plan->cut +=
        plan->panel->line_count > 0 && list->count == 0 && plan->sections[SECTION_LIST].h > 0;
}
