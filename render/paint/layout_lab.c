// See layout_lab.h. Rows from top to bottom, each as high as its text needs; the plots
// take the rest. There are a few ways to be generous, tried from the most to the least
// until the plots have their share: first air goes, then text size, then the notes,
// then the lanes' labels.
#include "render/paint/layout_lab.h"

#include "compute/base/num.h"

#include <string.h>

static int part(int whole, int permille) {
    return (int)(((int64_t)whole * permille + 500) / 1000);
}

// In permille of the reference (100 units), and the share of the middle that the plots
// must have for it.
struct fit {
    int pad, gap, bar, apart; // apart: between rows inside the clock
    int share;
    bool is_small, has_notes, has_labels;
};
static const struct fit FITS[] = {
    {20, 20, 64, 16, 560, false, true, true}, {16, 16, 44, 8, 520, false, true, true},
    {12, 12, 34, 5, 505, false, true, true},  {10, 10, 28, 3, 505, true, true, true},
    {9, 9, 24, 2, 500, true, false, true},    {8, 8, 20, 2, 0, true, false, false},
};
enum { FIT_COUNT = sizeof FITS / sizeof FITS[0] };

struct sizes {
    int reference;
    int gap, apart, bar, label, notes, control, pages;
};

static void find_middle(struct lab_layout *out, const struct layout *l) {
    const struct rect tops[] = {l->title,    l->origin,   l->rate,    l->pills[0],
                                l->pills[1], l->pills[2], l->pills[3]};
    int top = 0, bottom = l->input.height_px - 2 * l->unit_px;
    for (size_t i = 0; i < sizeof tops / sizeof tops[0]; i++)
        top = max_int(top, tops[i].y + tops[i].h);
    if (l->footer.h > 0)
        bottom = min_int(bottom, l->footer.y);
    for (int i = 0; i < l->readout_count; i++)
        bottom = min_int(bottom, l->readouts[i].y);
    int air = l->unit_px * 3 / 2;
    out->middle = (struct rect){l->margin_px, top + air, l->input.width_px - 2 * l->margin_px,
                                max_int(1, bottom - top - 2 * air)};
}

static void set_sizes(struct lab_layout *out, struct sizes *s, const struct layout *l,
                      const struct fit *fit) {
    int r = s->reference;
    out->text_px = fit->is_small ? l->floor_px : l->small_px;
    out->pad_px = max_int(2, part(r, fit->pad));
    out->radius_px = max_int(2, part(r, 12));
    out->overhang_px = max_int(1, part(r, 5));
    s->gap = max_int(2, part(r, fit->gap));
    s->apart = max_int(1, part(r, fit->apart));
    s->bar = max_int(6, part(r, fit->bar));
    s->label = fit->has_labels ? layout_line_px(out->text_px) : 0;
    s->notes = fit->has_notes ? layout_line_px(l->floor_px) : 0;
    s->control = layout_line_px(out->text_px) + part(r, 10);
    s->pages = layout_line_px(l->floor_px);
    // Side by side while label, track and value have room.
    int half = (out->middle.w - 2 * out->pad_px - 2 * out->text_px) / 2;
    out->are_controls_stacked = half < 24 * out->text_px;
}

static int clock_height(const struct lab_layout *out, const struct sizes *s) {
    int lane = s->label + s->bar + 2 * out->overhang_px + s->apart;
    int controls = (out->are_controls_stacked ? 2 : 1) * s->control;
    return 2 * out->pad_px + out->lanes * lane + s->notes + s->apart + controls;
}

// Down the inside of the clock's panel.
static void place_clock(struct lab_layout *out, const struct sizes *s) {
    int x = out->clock.x + out->pad_px, w = out->clock.w - 2 * out->pad_px;
    int y = out->clock.y + out->pad_px;
    for (int i = 0; i < out->lanes; i++) {
        out->lane_labels[i] = (struct rect){x, y, s->label > 0 ? w : 0, s->label};
        y += s->label + out->overhang_px;
        out->lane_bars[i] = (struct rect){x, y, w, s->bar};
        y += s->bar + out->overhang_px + s->apart;
    }
    out->notes = (struct rect){x, y, s->notes > 0 ? w : 0, s->notes};
    y += s->notes + s->apart;
    int between = 2 * out->text_px;
    for (int i = 0; i < 2; i++) {
        int half = (w - between) / 2;
        out->controls[i] = out->are_controls_stacked
                               ? (struct rect){x, y + i * s->control, w, s->control}
                               : (struct rect){x + i * (w - half), y, half, s->control};
    }
}

static void place_plots(struct lab_layout *out, const struct sizes *s, struct rect room) {
    out->are_plots_stacked = room.w < room.h;
    int w = (room.w - s->gap) / 2, h = (room.h - s->gap) / 2;
    for (int i = 0; i < LAB_PLOTS; i++)
        out->plots[i] = out->are_plots_stacked
                            ? (struct rect){room.x, room.y + i * (room.h - h), room.w, h}
                            : (struct rect){room.x + i * (room.w - w), room.y, w, room.h};
}

static bool arrange(struct lab_layout *out, const struct layout *l, const struct fit *fit) {
    struct sizes s = {.reference = 0};
    s.reference = min_int(l->input.height_px, (int)((int64_t)l->input.width_px * 3 / 4));
    set_sizes(out, &s, l, fit);
    struct rect all = out->middle;
    int clock = clock_height(out, &s), pages_gap = s.gap / 2;
    struct rect plots = {all.x, all.y + clock + s.gap, all.w, 0};
    plots.h = max_int(2 * s.gap + 2, all.y + all.h - s.pages - pages_gap - plots.y);
    out->clock = (struct rect){all.x, all.y, all.w, clock};
    out->pages = (struct rect){all.x, plots.y + plots.h + pages_gap, all.w, s.pages};
    place_clock(out, &s);
    place_plots(out, &s, plots);
    return plots.h >= part(all.h, fit->share);
}

void layout_lab_make(struct lab_layout *out, const struct layout *layout, int lanes) {
    memset(out, 0, sizeof *out);
    out->lanes = max_int(1, min_int(lanes, LAB_MAX_LANES));
    find_middle(out, layout);
    for (int i = 0; i < FIT_COUNT; i++)
        if (arrange(out, layout, &FITS[i]))
            return;
}
