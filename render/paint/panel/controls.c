// What shows an amount: bars, and the controls that the user moves. Prefill is solid and
// decode striped, as on the clock. The control that the keyboard is on has a ring around
// it; what was measured is a hollow mark with its label below.
#include "render/paint/panel/parts.h"

#include "compute/base/num.h"

static int width_of(const struct panel_plan *plan, enum text_face face, const char *utf8) {
    return text_width_px(plan->paint->text, face, plan->type.px, utf8);
}

static rgba color_of(const struct panel_plan *plan, enum theme_color color) {
    return paint_color(plan->paint, color);
}

static int stripe_px(const struct panel_plan *plan) {
    return clamp_int(plan->paint->layout->unit_px * 6 / 10, 2, CMD_MAX_STROKE_PX);
}

static void put(struct panel_plan *plan, struct rect rect, enum paint_align align,
                enum text_face face, rgba color, const char *utf8) {
    paint_panel_put(plan, (struct paint_label){rect, align, face, plan->type.px, color}, utf8);
}

// Part of a bar with the bar's own round ends, from and to in px from its left.
static void fill_part(const struct panel_plan *plan, struct rect bar, int from, int to,
                      rgba color) {
    if (to <= from)
        return;
    cmdlist_clip(plan->out, (struct rect){bar.x + from, bar.y, to - from, bar.h});
    cmdlist_round(plan->out, bar, clamp_int(bar.h / 5, 1, plan->paint->layout->unit_px), color);
    cmdlist_clip(plan->out, (struct rect){0});
}

static void fill_striped(const struct panel_plan *plan, struct rect bar, int from, int to,
                         rgba color) {
    if (to <= from)
        return;
    fill_part(plan, bar, from, to, color);
    cmdlist_stripes(plan->out, (struct rect){bar.x + from, bar.y, to - from, bar.h},
                    stripe_px(plan), false, theme_fade(color_of(plan, COLOR_GROUND), 260000));
}

// Two texts side by side on one line, or the second below the first.
static bool is_one_line(const struct panel_plan *plan, const char *left, const char *right,
                        int width_px) {
    int gap = plan->type.px;
    return width_of(plan, FACE_WORDS, left) + gap + width_of(plan, FACE_STRONG, right) <= width_px;
}

// Splits a line between them: the right one takes what it needs.
static void split_line(const struct panel_plan *plan, struct rect line, const char *right,
                       struct rect *label, struct rect *value) {
    int need = min_int(width_of(plan, FACE_STRONG, right), line.w);
    *value = (struct rect){line.x + line.w - need, line.y, need, line.h};
    int gap = need > 0 ? plan->type.px / 2 : 0;
    *label = (struct rect){line.x, line.y, max_int(0, line.w - need - gap), line.h};
}

// Between the words of a bar or track and itself.
static int label_gap(const struct panel_plan *plan) {
    return plan->type.px / 8;
}

// --- bars ---

static bool is_bar_wide(const struct panel_plan *plan) {
    for (int i = 0; i < plan->panel->bar_count; i++)
        if (!is_one_line(plan, plan->panel->bars[i].label, plan->panel->bars[i].value,
                         plan->inner.w))
            return false;
    return true;
}

// In the densest fit a note follows its label, if that is possible for all.
static bool is_note_beside(const struct panel_plan *plan) {
    bool is_beside = plan->type.is_run_in && is_bar_wide(plan);
    for (int i = 0; i < plan->panel->bar_count && is_beside; i++) {
        const struct panel_bar *bar = &plan->panel->bars[i];
        int note = width_of(plan, FACE_WORDS, bar->note) + plan->type.px / 2;
        is_beside = is_one_line(plan, bar->label, bar->value, plan->inner.w - note);
    }
    return is_beside;
}

static bool has_bar_note(const struct panel_plan *plan) {
    for (int i = 0; i < plan->panel->bar_count; i++)
        if (plan->panel->bars[i].note[0] != '\0')
            return true;
    return false;
}

// Label, bar and value on one line, in columns as wide as the widest of each needs.
struct bar_columns {
    int label, bar, value; // px
};
static struct bar_columns bar_columns_of(const struct panel_plan *plan) {
    struct bar_columns columns = {0};
    for (int i = 0; i < plan->panel->bar_count; i++) {
        columns.label =
            max_int(columns.label, width_of(plan, FACE_WORDS, plan->panel->bars[i].label));
        columns.value =
            max_int(columns.value, width_of(plan, FACE_STRONG, plan->panel->bars[i].value));
    }
    columns.bar = plan->inner.w - columns.label - columns.value - plan->type.px;
    return columns;
}

// Only where a bar is still long enough to be compared with another, and where notes can't
// follow their labels, which would take less height.
static bool is_bar_inline(const struct panel_plan *plan) {
    bool is_saving = !has_bar_note(plan) || !is_note_beside(plan);
    return plan->type.is_inline && is_saving && bar_columns_of(plan).bar >= 5 * plan->type.px;
}

static int bar_px(const struct panel_plan *plan) {
    return plan->type.px * (plan->type.is_inline ? 7 : 8) / 10;
}

// The same for all of them, so that they are evenly spaced.
static int bar_height(const struct panel_plan *plan) {
    int note = has_bar_note(plan) ? plan->type.line_px : 0;
    if (is_bar_inline(plan))
        return plan->type.line_px + note;
    int lines = is_bar_wide(plan) ? 1 : 2;
    return lines * plan->type.line_px + (is_note_beside(plan) ? 0 : note) + bar_px(plan) +
           label_gap(plan);
}

int paint_panel_want_bars(const struct panel_plan *plan) {
    int count = plan->panel->bar_count;
    return count == 0 ? 0 : count * bar_height(plan) + (count - 1) * plan->type.pad_px;
}

static void place_bar_inline(const struct panel_plan *plan, struct panel_bar_box *box,
                             struct rect row) {
    struct bar_columns columns = bar_columns_of(plan);
    int gap = plan->type.px / 2, height = bar_px(plan);
    box->label = box->bar = box->value = box->note = row;
    box->label.w = columns.label;
    box->bar.x += columns.label + gap;
    box->bar.y += (row.h - height) / 2;
    box->bar.w = columns.bar;
    box->bar.h = height;
    box->value.x = row.x + row.w - columns.value;
    box->value.w = columns.value;
    box->note.y += row.h;
}

static void place_bar(struct panel_plan *plan, int i, struct rect row) {
    struct panel_bar_box *box = &plan->bars[i];
    const struct panel_bar *bar = &plan->panel->bars[i];
    if (is_bar_wide(plan)) {
        split_line(plan, row, bar->value, &box->label, &box->value);
    } else {
        box->label = row;
        row.y += row.h;
        box->value = row;
    }
    box->bar = (struct rect){row.x, row.y + row.h + label_gap(plan), row.w, bar_px(plan)};
    box->note = (struct rect){row.x, box->bar.y + box->bar.h, row.w, row.h};
    if (!is_note_beside(plan))
        return;
    int used = width_of(plan, FACE_WORDS, bar->label);
    box->note = box->label;
    box->note.x += used + plan->type.px / 2;
    box->note.w = box->value.x - plan->type.px / 2 - box->note.x;
    box->label.w = used;
}

void paint_panel_place_bars(struct panel_plan *plan, struct rect room) {
    int height = bar_height(plan), line = plan->type.line_px;
    for (int i = 0; i < plan->panel->bar_count; i++) {
        struct rect row = {room.x, room.y + i * (height + plan->type.pad_px), room.w, line};
        plan->bars[i].is_shown = row.y + height <= room.y + room.h;
        if (is_bar_inline(plan))
            place_bar_inline(plan, &plan->bars[i], row);
        else
            place_bar(plan, i, row);
    }
}

void paint_panel_draw_bars(struct panel_plan *plan) {
    const struct layout *layout = plan->paint->layout;
    for (int i = 0; i < plan->panel->bar_count; i++) {
        const struct panel_bar *bar = &plan->panel->bars[i];
        const struct panel_bar_box *box = &plan->bars[i];
        if (!box->is_shown) {
            plan->cut += plan->sections[SECTION_BARS].h > 0;
            continue;
        }
        int first = paint_edge_at(box->bar.w, bar->first_ppm).whole_px;
        int both = paint_edge_at(box->bar.w, (int)min_int(VIEW_PPM, clamp_ppm(bar->first_ppm) +
                                                                        clamp_ppm(bar->second_ppm)))
                       .whole_px;
        int radius = clamp_int(box->bar.h / 5, 1, layout->unit_px);
        cmdlist_round(plan->out, box->bar, radius, color_of(plan, COLOR_PANEL));
        fill_part(plan, box->bar, 0, first, paint_tone(plan->paint, bar->tone));
        fill_striped(plan, box->bar, first, both, color_of(plan, COLOR_DECODE));
        cmdlist_ring(plan->out, box->bar, radius, layout->hair_px, color_of(plan, COLOR_LINE));
        if (bar->before_ppm >= 0) {
            int width = max_int(2, layout->stroke_px);
            int x = box->bar.x + paint_edge_at(box->bar.w - width, bar->before_ppm).whole_px;
            cmdlist_fill(plan->out, (struct rect){x, box->bar.y, width, box->bar.h},
                         color_of(plan, COLOR_INK));
        }
        put(plan, box->label, ALIGN_LEFT, FACE_WORDS, color_of(plan, COLOR_INK), bar->label);
        bool is_right = is_bar_wide(plan) || is_bar_inline(plan);
        put(plan, box->value, is_right ? ALIGN_RIGHT : ALIGN_LEFT, FACE_STRONG,
            color_of(plan, COLOR_INK), bar->value);
        put(plan, box->note, ALIGN_LEFT, FACE_WORDS, color_of(plan, COLOR_QUIET), bar->note);
    }
}

// --- controls ---

static int knob_px(const struct panel_plan *plan) {
    return plan->type.px * (plan->type.is_inline ? 9 : 11) / 10 / 2 * 2;
}

// A mark's words have their line from the first: a split is there to be compared.
static bool has_mark_line(const struct panel_control *control) {
    return control->kind == CONTROL_SPLIT || control->mark_ppm >= 0;
}

// Whether label and value of every slider and split have room side by side.
static bool is_control_wide(const struct panel_plan *plan) {
    for (int i = 0; i < plan->panel->control_count; i++) {
        const struct panel_control *c = &plan->panel->controls[i];
        bool has_track = c->kind == CONTROL_SLIDER || c->kind == CONTROL_SPLIT;
        if (has_track && !is_one_line(plan, c->label, c->value, plan->inner.w))
            return false;
    }
    return true;
}

// A switch's halves are stacked when a word is too long for half the width.
static bool is_stacked(const struct panel_plan *plan, const struct panel_control *control) {
    int px = plan->type.px, half = plan->inner.w / 2 - px * 2 / 3;
    return control->kind == CONTROL_SWITCH && (width_of(plan, FACE_STRONG, control->label) > half ||
                                               width_of(plan, FACE_STRONG, control->value) > half);
}

static int control_height(const struct panel_plan *plan, const struct panel_control *control) {
    int line = plan->type.line_px, pad = plan->type.pad_px;
    if (control->kind == CONTROL_SWITCH || control->kind == CONTROL_BUTTON)
        return (line + pad) * (is_stacked(plan, control) ? 2 : 1) + pad / 2 * 2;
    int lines = (is_control_wide(plan) ? 1 : 2) + (has_mark_line(control) ? 1 : 0);
    return lines * line + knob_px(plan) + label_gap(plan) + pad / 2 * 2;
}

int paint_panel_want_controls(const struct panel_plan *plan) {
    int height = 0;
    for (int i = 0; i < plan->panel->control_count; i++)
        height +=
            control_height(plan, &plan->panel->controls[i]) + (i > 0 ? plan->type.pad_px / 2 : 0);
    return height;
}

// Of a switch.
static void halve(struct panel_box *box, bool is_stacked) {
    struct rect *first = &box->halves[0], *second = &box->halves[1];
    *first = *second = box->track;
    if (is_stacked) {
        first->h /= 2;
        second->y += first->h;
        second->h -= first->h;
    } else {
        first->w /= 2;
        second->x += first->w;
        second->w -= first->w;
    }
}

// The handle of a split may reach the very ends of its track.
static void place_slider(struct panel_box *box, const struct panel_control *control) {
    int knob = box->track.h, thick = max_int(3, knob / 4);
    box->slider = (struct paint_slider){box->track, 0};
    if (control->kind == CONTROL_SPLIT)
        return;
    box->slider.knob_px = knob;
    box->slider.rail.y += (knob - thick) / 2;
    box->slider.rail.h = thick;
}

void paint_panel_place_controls(struct panel_plan *plan, struct rect room) {
    int y = room.y, pad = plan->type.pad_px, line = plan->type.line_px;
    bool is_wide = is_control_wide(plan);
    for (int i = 0; i < plan->panel->control_count; i++) {
        const struct panel_control *control = &plan->panel->controls[i];
        struct panel_box *box = &plan->boxes[i];
        int height = control_height(plan, control);
        box->is_shown = y + height <= room.y + room.h;
        // The ring is outside of the texts' column, in the panel's padding.
        int out = min_int(pad, layout_panel_pad_px(plan->paint->layout) * 3 / 5);
        box->all = rect_inset((struct rect){room.x, y, room.w, height}, -out, 0);
        struct rect row = {room.x, y + pad / 2, room.w, line};
        y += height + pad / 2;
        if (control->kind == CONTROL_SWITCH || control->kind == CONTROL_BUTTON) {
            box->track = row;
            box->track.h = height - pad / 2 * 2;
            halve(box, is_stacked(plan, control));
            continue;
        }
        if (is_wide) {
            split_line(plan, row, control->value, &box->label, &box->value);
        } else {
            box->label = row;
            row.y += line;
            box->value = row;
        }
        box->track = (struct rect){row.x, row.y + line + label_gap(plan), row.w, knob_px(plan)};
        place_slider(box, control);
        box->mark = (struct rect){row.x, box->track.y + box->track.h, row.w, line};
    }
}

int paint_panel_way_ppm(const struct panel_plan *plan, int control, int x_px, int y_px) {
    const struct panel_box *box = &plan->boxes[control];
    if (plan->panel->controls[control].kind == CONTROL_BUTTON)
        return 0;
    if (plan->panel->controls[control].kind != CONTROL_SWITCH)
        return paint_slider_ppm(&box->slider, x_px);
    struct rect second = box->halves[1];
    bool is_stacked = second.y > box->halves[0].y;
    return (is_stacked ? y_px < second.y : x_px < second.x) ? 0 : VIEW_PPM;
}

// A circle around a place on a way.
static struct rect circle(struct rect track, int x, int size) {
    return (struct rect){x - size / 2, track.y + (track.h - size) / 2, size, size};
}

static void draw_mark(struct panel_plan *plan, int i) {
    const struct panel_control *control = &plan->panel->controls[i];
    const struct panel_box *box = &plan->boxes[i];
    const struct layout *layout = plan->paint->layout;
    if (control->mark_ppm < 0)
        return;
    int x = paint_slider_x(&box->slider, control->mark_ppm), size = knob_px(plan);
    rgba ink = color_of(plan, COLOR_INK);
    if (control->kind == CONTROL_SPLIT) {
        // A hollow handle over the bar.
        int width = clamp_int(size / 2, 4, CMD_MAX_RADIUS_PX);
        int left = clamp_int(x - width / 2, box->track.x, box->track.x + box->track.w - width);
        struct rect handle = {left, box->track.y, width, box->track.h};
        cmdlist_ring(plan->out, handle, width / 3, layout->stroke_px + layout->hair_px,
                     color_of(plan, COLOR_GROUND));
        cmdlist_ring(plan->out, handle, width / 3, layout->stroke_px, ink);
    } else {
        struct rect disc = circle(box->track, x, size);
        cmdlist_round(plan->out, disc, size / 2, color_of(plan, COLOR_GROUND));
        cmdlist_ring(plan->out, disc, size / 2, layout->stroke_px, ink);
    }
    int width = min_int(width_of(plan, FACE_WORDS, control->mark_label), box->mark.w);
    struct rect words = box->mark;
    words.x = clamp_int(x - width / 2, words.x, words.x + words.w - width);
    words.w = width;
    put(plan, words, ALIGN_LEFT, FACE_WORDS, ink, control->mark_label);
}

static void draw_slider(struct panel_plan *plan, int i, rgba accent) {
    const struct panel_control *control = &plan->panel->controls[i];
    const struct panel_box *box = &plan->boxes[i];
    int x = paint_slider_x(&box->slider, control->ppm), size = box->slider.knob_px;
    paint_slider_rail(plan->out, plan->paint, &box->slider, control->ppm, accent);
    draw_mark(plan, i);
    struct rect knob = circle(box->track, x, control->mark_ppm >= 0 ? size * 3 / 5 : size);
    if (control->is_off) {
        cmdlist_round(plan->out, knob, knob.w / 2, color_of(plan, COLOR_GROUND));
        cmdlist_ring(plan->out, knob, knob.w / 2, plan->paint->layout->stroke_px, accent);
    } else {
        cmdlist_round(plan->out, knob, knob.w / 2, accent);
    }
}

static void draw_split(struct panel_plan *plan, int i) {
    const struct panel_control *control = &plan->panel->controls[i];
    const struct layout *layout = plan->paint->layout;
    struct rect track = plan->boxes[i].track;
    int at = paint_edge_at(track.w, control->ppm).whole_px;
    fill_part(plan, track, 0, at, color_of(plan, COLOR_PREFILL));
    fill_striped(plan, track, at, track.w, color_of(plan, COLOR_DECODE));
    draw_mark(plan, i);
    int width = max_int(3, layout->stroke_px * 2), edge = max_int(1, layout->hair_px);
    int x = clamp_int(track.x + at - width / 2, track.x, track.x + track.w - width);
    struct rect handle = {x, track.y, width, track.h};
    cmdlist_fill(plan->out, rect_inset(handle, -edge, 0), color_of(plan, COLOR_GROUND));
    cmdlist_round(plan->out, rect_inset(handle, 0, control->is_off ? 0 : -edge), width / 2,
                  color_of(plan, COLOR_INK));
}

// Two halves; the chosen one is filled and its words are bold.
static void draw_switch(struct panel_plan *plan, int i) {
    const struct panel_control *control = &plan->panel->controls[i];
    const struct layout *layout = plan->paint->layout;
    struct rect all = plan->boxes[i].track;
    bool is_second = control->ppm > VIEW_PPM / 2;
    int radius = clamp_int(plan->type.line_px / 4, 2, layout->unit_px), pad = plan->type.px / 3;
    cmdlist_ring(plan->out, all, radius, layout->hair_px, color_of(plan, COLOR_QUIET));
    for (int k = 0; k < 2; k++) {
        struct rect half = plan->boxes[i].halves[k];
        bool is_chosen = (k == 1) == is_second;
        enum theme_color color = is_chosen         ? COLOR_ON_ACCENT
                                 : control->is_off ? COLOR_QUIET
                                                   : COLOR_INK;
        if (is_chosen)
            cmdlist_round(plan->out, half, radius,
                          color_of(plan, control->is_off ? COLOR_QUIET : COLOR_INK));
        put(plan, rect_inset(half, pad, 0), ALIGN_CENTER, is_chosen ? FACE_STRONG : FACE_WORDS,
            color_of(plan, color), k == 0 ? control->label : control->value);
    }
}

static void draw_button(struct panel_plan *plan, int i) {
    const struct panel_control *control = &plan->panel->controls[i];
    const struct layout *layout = plan->paint->layout;
    struct rect all = plan->boxes[i].track;
    rgba ink = color_of(plan, control->is_off ? COLOR_QUIET : COLOR_INK);
    cmdlist_ring(plan->out, all, clamp_int(all.h / 4, 2, layout->unit_px),
                 control->is_off ? layout->hair_px : layout->stroke_px, ink);
    put(plan, rect_inset(all, plan->type.px / 2, 0), ALIGN_CENTER, FACE_STRONG, ink,
        control->label);
}

static void draw_control(struct panel_plan *plan, int i) {
    const struct panel_control *control = &plan->panel->controls[i];
    const struct panel_box *box = &plan->boxes[i];
    rgba accent =
        control->is_off ? color_of(plan, COLOR_QUIET) : paint_tone(plan->paint, control->tone);
    if (control->is_focused)
        cmdlist_ring(plan->out, box->all, plan->paint->layout->unit_px * 7 / 10,
                     plan->paint->layout->stroke_px, color_of(plan, COLOR_INK));
    if (control->kind == CONTROL_SWITCH) {
        draw_switch(plan, i);
        return;
    }
    if (control->kind == CONTROL_BUTTON) {
        draw_button(plan, i);
        return;
    }
    put(plan, box->label, ALIGN_LEFT, FACE_WORDS,
        color_of(plan, control->is_off ? COLOR_QUIET : COLOR_INK), control->label);
    put(plan, box->value, is_control_wide(plan) ? ALIGN_RIGHT : ALIGN_LEFT, FACE_STRONG, accent,
        control->value);
    if (control->kind == CONTROL_SPLIT)
        draw_split(plan, i);
    else
        draw_slider(plan, i, accent);
}

void paint_panel_draw_controls(struct panel_plan *plan) {
    for (int i = 0; i < plan->panel->control_count; i++) {
        if (plan->boxes[i].is_shown)
            draw_control(plan, i);
        else
            plan->cut += plan->sections[SECTION_CONTROLS].h > 0;
    }
}
