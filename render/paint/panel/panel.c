// See panel.h. The panel is drawn on the ground colour, not on the panel colour, since its
// title and values have accents, which can only be read on the ground.
#include "render/paint/panel/panel.h"

#include "compute/base/utf8.h"
#include "render/paint/panel/parts.h"

#include <string.h>

static void draw_frame(const struct panel_plan *plan) {
    const struct layout *layout = plan->paint->layout;
    bool is_plain = plan->panel->title_tone == TONE_INK || plan->panel->title_tone == TONE_QUIET;
    cmdlist_ring(plan->out, layout->panel, layout->unit_px,
                 layout->hair_px + layout->hair_px / 2 + 1,
                 is_plain ? paint_color(plan->paint, COLOR_LINE)
                          : paint_tone(plan->paint, plan->panel->title_tone));
    struct rect foot = plan->sections[SECTION_FOOT];
    if (foot.h > 0)
        cmdlist_fill(plan->out, (struct rect){foot.x, foot.y, foot.w, layout->hair_px},
                     paint_color(plan->paint, COLOR_LINE));
}

int paint_panel(struct cmdlist *out, const struct paint *paint, const struct panel *panel) {
    struct panel_plan plan;
    if (!paint_panel_plan(&plan, paint, panel))
        return 0;
    plan.out = out;
    draw_frame(&plan);
    paint_panel_draw_rows(&plan);
    paint_panel_put_more(&plan, plan.above, true);
    paint_panel_put_more(&plan, plan.below, false);
    paint_panel_draw_parties(&plan);
    paint_panel_draw_bars(&plan);
    paint_panel_draw_field(&plan);
    paint_panel_draw_controls(&plan);
    paint_panel_draw_list(&plan);
    return plan.cut;
}

// The whole term around its byte `at`: the row may hold only its end.
static void copy_term(char out[40], const char *utf8, int at) {
    int begin = at;
    while (begin > 0 && utf8[begin - 1] != PANEL_TERM_BEGIN)
        begin--;
    static const char end[] = {PANEL_TERM_END, '\0'};
    const char *term = utf8 + begin;
    size_t bytes = utf8_cut(term, strcspn(term, end), 39);
    for (size_t i = 0; i < bytes; i++)
        out[i] = term[i] == '\n' ? ' ' : term[i];
    out[bytes] = '\0';
}

static bool hit_term(struct panel_hit *hit, const struct panel_plan *plan,
                     const struct panel_row *row, int x, int y) {
    struct panel_term_box term;
    for (int at = row->line.from; paint_panel_term(&term, plan, row, at); at = term.next + 1) {
        if (!rect_has(term.rect, x, y))
            continue;
        copy_term(hit->term, row->utf8, term.begin);
        return true;
    }
    return false;
}

static bool hit_control(struct panel_hit *hit, const struct panel_plan *plan, int x, int y) {
    for (int i = 0; i < plan->panel->control_count; i++) {
        if (!plan->boxes[i].is_shown || !rect_has(plan->boxes[i].all, x, y))
            continue;
        hit->part = PANEL_CONTROL;
        hit->index = i;
        hit->ppm = paint_panel_way_ppm(plan, i, x, y);
        return true;
    }
    return false;
}

static bool hit_line(struct panel_hit *hit, const struct panel_plan *plan, int x, int y) {
    const struct panel_list_box *list = &plan->list;
    if (list->count == 0 || !rect_has(list->rows, x, y))
        return false;
    hit->part = PANEL_LINE;
    hit->index = list->first + (y - list->rows.y) / list->row_px;
    struct panel_row row = paint_panel_list_row(plan, hit->index);
    hit_term(hit, plan, &row, x, y);
    return true;
}

struct panel_hit paint_panel_hit(const struct paint *paint, const struct panel *panel, int x_px,
                                 int y_px) {
    struct panel_plan plan;
    struct panel_hit hit = {.part = PANEL_NOTHING, .index = -1};
    if (!rect_has(paint->layout->panel, x_px, y_px) || !paint_panel_plan(&plan, paint, panel))
        return hit;
    if (hit_control(&hit, &plan, x_px, y_px) || hit_line(&hit, &plan, x_px, y_px))
        return hit;
    for (int i = 0; i < plan.row_count; i++) {
        if (hit_term(&hit, &plan, &plan.rows[i], x_px, y_px)) {
            hit.part = PANEL_TERM;
            return hit;
        }
    }
    return hit;
}

int paint_panel_drag_ppm(const struct paint *paint, const struct panel *panel, int control,
                         int x_px) {
    struct panel_plan plan;
    bool is_there = control >= 0 && control < panel->control_count &&
                    paint_panel_plan(&plan, paint, panel) && plan.boxes[control].is_shown;
    if (!is_there)
        return 0;
    // The halves of a switch may be stacked: a drag leaves it as it is.
    if (panel->controls[control].kind == CONTROL_SWITCH)
        return panel->controls[control].ppm;
    return paint_panel_way_ppm(&plan, control, x_px, 0);
}

int paint_panel_scroll_most(const struct paint *paint, const struct panel *panel) {
    struct panel_plan plan;
    return paint_panel_plan(&plan, paint, panel) ? plan.scroll_most : 0;
}
