// The grid: columns are tokens, rows are layers, a filled cell is that token's K
// and V at that layer. A pass pours down through its columns; a decode step lights
// the cells to its left in the layer it is in, because it reads them now.
//
// Two ways to draw the same picture. While cells are large enough each is a rounded
// shape. When they are thin, neighbours of one colour are one span a row, and the
// gaps are cut out afterwards: the number of commands follows rows plus columns,
// not their product.
#include "render/paint/parts.h"

#include "compute/base/figures.h"
#include "compute/base/num.h"
#include "compute/base/words.h"

#include <stdio.h>

enum {
    RICH_CELL_PX = 9,      // smaller cells have no visible corners
    RICH_CELLS_MAX = 2400, // more are drawn as spans
};

struct grid {
    struct cmdlist *out;
    const struct paint *paint;
    const struct layout *layout;
    const struct view *view;
    bool is_rich;
    int prompt_radius_px, answer_radius_px; // corners of a cell
};

// Cells [from, to) of one layer.
struct cells {
    int layer, from, to;
};

static struct grid grid_of(struct cmdlist *out, const struct paint *paint) {
    const struct layout *layout = paint->layout;
    int columns = layout->input.columns, layers = layout->input.layers;
    struct rect first = layout_cell(layout, 0, 0), last = layout_cell(layout, columns - 1, 0);
    bool is_large = first.w >= RICH_CELL_PX && last.w >= RICH_CELL_PX && first.h >= RICH_CELL_PX;
    return (struct grid){
        .out = out,
        .paint = paint,
        .layout = layout,
        .view = paint->view,
        .is_rich = is_large && (int64_t)columns * layers <= RICH_CELLS_MAX,
        .prompt_radius_px =
            clamp_int(min_int(first.w, first.h) / 6, 1, layout->unit_px * 4 / 10 + 1),
        .answer_radius_px = clamp_int(min_int(last.w, last.h) / 6, 1, layout->unit_px * 4 / 10 + 1),
    };
}

// An accent laid over the ground.
static rgba over_ground(const struct grid *g, enum theme_color accent, int alpha) {
    const struct theme *theme = g->paint->theme;
    return theme_blend(theme->colors[accent], (uint8_t)clamp_int(alpha, 0, 255),
                       theme->colors[COLOR_GROUND]);
}

// A span of cells as one rectangle, gaps between them included.
static struct rect span_of(const struct grid *g, struct cells cells) {
    struct rect first = layout_cell(g->layout, cells.from, cells.layer);
    struct rect last = layout_cell(g->layout, cells.to - 1, cells.layer);
    return (struct rect){first.x, first.y, last.x + last.w - first.x, first.h};
}

static int radius_of(const struct grid *g, int column) {
    return column < g->layout->input.prompt_tokens ? g->prompt_radius_px : g->answer_radius_px;
}

static void fill_cells(const struct grid *g, struct cells cells, rgba color) {
    if (cells.from >= cells.to)
        return;
    if (!g->is_rich) {
        cmdlist_fill(g->out, span_of(g, cells), color);
        return;
    }
    for (int column = cells.from; column < cells.to; column++)
        cmdlist_round(g->out, layout_cell(g->layout, column, cells.layer), radius_of(g, column),
                      color);
}

// Outlines: one a cell, or one around a span of cells too narrow to bear their own.
static void ring_cells(const struct grid *g, struct cells cells, int stroke_px, rgba color) {
    if (cells.from >= cells.to)
        return;
    struct rect span = span_of(g, cells);
    int narrow_px = 3 * g->layout->unit_px / 2;
    bool is_narrow = layout_cell(g->layout, cells.from, cells.layer).w < narrow_px;
    if (!g->is_rich || (is_narrow && stroke_px > g->layout->hair_px)) {
        cmdlist_ring(g->out, span, 0, clamp_int(span.h / 4, 1, stroke_px), color);
        return;
    }
    for (int column = cells.from; column < cells.to; column++)
        cmdlist_ring(g->out, layout_cell(g->layout, column, cells.layer), radius_of(g, column),
                     stroke_px, color);
}

// The cells of the span that are the prompt's, and those that are the answer's.
static struct cells prompt_part(const struct grid *g, struct cells cells) {
    cells.to = min_int(cells.to, g->layout->input.prompt_tokens);
    return cells;
}

static struct cells answer_part(const struct grid *g, struct cells cells) {
    cells.from = max_int(cells.from, g->layout->input.prompt_tokens);
    return cells;
}

// The same, split where the prompt ends: its cells may be narrower.
static void ring_parts(const struct grid *g, struct cells cells, int stroke_px, rgba color) {
    if (!g->is_rich) {
        ring_cells(g, cells, stroke_px, color);
        return;
    }
    ring_cells(g, prompt_part(g, cells), stroke_px, color);
    ring_cells(g, answer_part(g, cells), stroke_px, color);
}

// The upper `ppm` of the cells in `color`, with the pixel that the edge is in.
static void pour_cells(const struct grid *g, struct cells cells, int ppm, rgba color) {
    if (cells.from >= cells.to)
        return;
    struct rect span = span_of(g, cells);
    struct paint_edge edge = paint_edge_at(span.h, ppm);
    struct rect upper = {span.x, span.y, span.w, edge.whole_px};
    struct rect partial = {span.x, span.y + edge.whole_px, span.w, 1};
    rgba partial_color = theme_fade(color, edge.part_ppm);
    if (!g->is_rich) {
        cmdlist_fill(g->out, upper, color);
        if (edge.whole_px < span.h)
            cmdlist_fill(g->out, partial, partial_color);
        return;
    }
    if (edge.whole_px > 0) {
        cmdlist_clip(g->out, upper);
        fill_cells(g, cells, color);
    }
    if (edge.part_ppm > 0 && edge.whole_px < span.h) {
        cmdlist_clip(g->out, partial);
        fill_cells(g, cells, partial_color);
    }
    cmdlist_clip(g->out, (struct rect){0});
}

// --- what every cell is ---

// The same span in layers [from, to): one rectangle when rows leave no gap.
static void fill_layers(const struct grid *g, struct cells cells, int to_layer, rgba color) {
    if (cells.from >= cells.to || cells.layer >= to_layer)
        return;
    if (!g->is_rich && g->layout->row_gap_px == 0) {
        struct rect span = span_of(g, cells);
        span.h = layout_layer_y(g->layout, to_layer) - span.y;
        cmdlist_fill(g->out, span, color);
        return;
    }
    for (; cells.layer < to_layer; cells.layer++)
        fill_cells(g, cells, color);
}

// Cells of columns [from, to) split where the prompt ends, in their own accent.
static void fill_accent(const struct grid *g, struct cells cells, int to_layer, int alpha) {
    fill_layers(g, prompt_part(g, cells), to_layer, over_ground(g, COLOR_PREFILL, alpha));
    fill_layers(g, answer_part(g, cells), to_layer, over_ground(g, COLOR_DECODE, alpha));
}

static void paint_empty(const struct grid *g, int from, int to) {
    rgba line = paint_color(g->paint, COLOR_LINE);
    if (!g->is_rich) {
        rgba pale = theme_blend(line, 64, paint_color(g->paint, COLOR_GROUND));
        fill_layers(g, (struct cells){0, from, to}, g->layout->input.layers, pale);
        return;
    }
    for (int layer = 0; layer < g->layout->input.layers; layer++)
        ring_cells(g, (struct cells){layer, from, to}, g->layout->hair_px, line);
}

// The gaps between columns, cut out of the spans in the ground's colour.
static void cut_gaps(const struct grid *g) {
    rgba ground = paint_color(g->paint, COLOR_GROUND);
    struct rect grid = g->layout->grid;
    for (int column = 0; column + 1 < g->layout->input.columns; column++) {
        struct rect cell = layout_cell(g->layout, column, 0);
        int next = layout_column_x(g->layout, column + 1);
        cmdlist_fill(g->out, (struct rect){cell.x + cell.w, grid.y, next - cell.x - cell.w, grid.h},
                     ground);
    }
}

// Rows too thin for gaps are told apart by a slight change of tone, two by two.
static void shade_rows(const struct grid *g) {
    enum { LEAST_ROW_PX = 2 };
    rgba shade = theme_fade(paint_color(g->paint, COLOR_GROUND), 160000);
    if (g->layout->row_gap_px > 0 || g->layout->row_px < LEAST_ROW_PX)
        return;
    for (int layer = 1; layer < g->layout->input.layers; layer += 2)
        cmdlist_fill(g->out, span_of(g, (struct cells){layer, 0, g->layout->input.columns}), shade);
}

// --- the pass under way ---

// Columns of the pass that lie in the layout.
static struct cells pass_cells(const struct grid *g) {
    const struct view_pass *pass = &g->view->pass;
    int columns = g->layout->input.columns;
    int from = clamp_int(pass->first_column, 0, columns);
    return (struct cells){clamp_int(pass->stage - 1, 0, g->layout->input.layers - 1), from,
                          clamp_int(from + pass->column_count, 0, columns)};
}

static bool is_in_layer(const struct grid *g) {
    const struct view_pass *pass = &g->view->pass;
    return pass->active && pass->stage >= 1 && pass->stage <= g->layout->input.layers;
}

static bool is_in_output(const struct grid *g) {
    return g->view->pass.active && g->view->pass.stage > g->layout->input.layers;
}

// The layers that the pass has finished. In its output stage they fade to the tone of saved
// cells while the drop takes shape.
static void paint_done(const struct grid *g) {
    const struct view_pass *pass = &g->view->pass;
    const struct theme *theme = g->paint->theme;
    int done = clamp_int(pass->stage - 1, 0, g->layout->input.layers);
    int alpha = is_in_output(g)
                    ? paint_between(theme->done_alpha, theme->saved_alpha, pass->progress_ppm)
                    : theme->done_alpha;
    struct cells cells = pass_cells(g);
    cells.layer = 0;
    fill_accent(g, cells, done, alpha);
}

// Calm in and out: nothing blinks. Passes too quick for the eye don't light at all.
static int light_ppm(const struct view_pass *pass) {
    enum { RISE_PPM = 220000 };
    int64_t in = (int64_t)pass->progress_ppm * VIEW_PPM / RISE_PPM;
    int64_t out = (int64_t)(VIEW_PPM - pass->progress_ppm) * VIEW_PPM / RISE_PPM;
    int64_t light = paint_smooth_ppm(clamp_ppm(in < out ? in : out));
    return (int)(light * (VIEW_PPM - clamp_ppm(pass->calm_ppm)) / VIEW_PPM);
}

// The cells that a decode step reads now; false = none.
static bool find_read_cells(const struct grid *g, struct cells *out) {
    const struct view_pass *pass = &g->view->pass;
    if (!is_in_layer(g) || pass->is_prefill || pass->is_charged)
        return false;
    *out = pass_cells(g);
    out->to = out->from;
    out->from = 0;
    return true;
}

// Brighter, and outlined.
static void paint_reading(const struct grid *g) {
    struct cells cells;
    if (!find_read_cells(g, &cells))
        return;
    int light = light_ppm(&g->view->pass);
    int alpha = paint_between(g->paint->theme->saved_alpha, 242, light);
    fill_accent(g, cells, cells.layer + 1, alpha);
}

static void paint_reading_rings(const struct grid *g) {
    struct cells cells;
    if (!find_read_cells(g, &cells))
        return;
    rgba color = paint_color(g->paint, COLOR_READ);
    ring_parts(g, cells, g->layout->stroke_px, theme_fade(color, light_ppm(&g->view->pass)));
}

// The layer that the pass is in: filled as far as it has come, over an empty bed.
static void paint_current(const struct grid *g) {
    if (!is_in_layer(g) || g->view->pass.is_charged)
        return;
    struct cells cells = pass_cells(g);
    if (cells.from >= cells.to)
        return;
    fill_cells(g, cells, paint_color(g->paint, COLOR_PANEL));
    ring_cells(g, cells, g->layout->hair_px, paint_color(g->paint, COLOR_LINE));
    int ppm = g->view->pass.progress_ppm;
    pour_cells(g, prompt_part(g, cells), ppm, paint_color(g->paint, COLOR_PREFILL));
    pour_cells(g, answer_part(g, cells), ppm, paint_color(g->paint, COLOR_DECODE));
}

// A charged step goes down no column of its own and fills nothing: a hollow frame grows over
// the last column there is, as far as its time has come, and its name stands below.
static void paint_charged(const struct grid *g) {
    const struct view_pass *pass = &g->view->pass;
    if (!pass->active || !pass->is_charged)
        return;
    int column = clamp_int(g->view->full_columns - 1, 0, g->layout->input.columns - 1);
    int layers = g->layout->input.layers, done = clamp_int(pass->stage - 1, 0, layers);
    struct rect frame = layout_cell(g->layout, column, 0);
    frame.w = max_int(frame.w, 1);
    frame.h = layout_layer_y(g->layout, done) - frame.y;
    if (is_in_layer(g))
        frame.h += paint_edge_at(g->layout->row_px, pass->progress_ppm).whole_px;
    int stroke = min_int(2 * g->layout->stroke_px, CMD_MAX_STROKE_PX);
    cmdlist_ring(g->out, frame, radius_of(g, column), stroke, paint_color(g->paint, COLOR_DECODE));
}

// The name of the charged step, beside its cell in the output row where there is more room.
static void paint_charged_name(const struct grid *g, struct rect cell) {
    struct rect row = g->layout->output;
    int gap = g->layout->unit_px, right = cell.x + cell.w + gap;
    bool is_left = cell.x - row.x > row.x + row.w - right;
    struct rect room = is_left ? (struct rect){row.x, row.y, cell.x - gap - row.x, row.h}
                               : (struct rect){right, row.y, row.x + row.w - right, row.h};
    struct paint_label label = {room, is_left ? ALIGN_RIGHT : ALIGN_LEFT, FACE_STRONG,
                                g->layout->small_px, paint_color(g->paint, COLOR_DECODE)};
    paint_put(g->out, g->paint, label, word("stage.charged"));
}

// In grey the two accents are alike, so saved cells of the answer are striped, as decode is on
// the clock. The stripes have the ground's colour: between cells they can't be seen. Those of
// the pass under way come in its output stage.
static void stripe_columns(const struct grid *g, struct cells cells, int light_ppm) {
    enum { STRIPE_PPM = 450000 };
    cells = answer_part(g, cells);
    cells.layer = 0;
    if (cells.from >= cells.to || light_ppm <= 0)
        return;
    struct rect span = span_of(g, cells);
    span.h = layout_layer_y(g->layout, g->layout->input.layers) - span.y;
    int stroke = clamp_int(g->layout->unit_px * 8 / 10, 2, CMD_MAX_STROKE_PX);
    int alpha_ppm = paint_between(0, STRIPE_PPM, light_ppm);
    cmdlist_stripes(g->out, span, stroke, false,
                    theme_fade(paint_color(g->paint, COLOR_GROUND), alpha_ppm));
}

static void stripe_answer(const struct grid *g, int saved) {
    stripe_columns(g, (struct cells){0, 0, saved}, VIEW_PPM);
    if (is_in_output(g) && !g->view->pass.is_charged)
        stripe_columns(g, pass_cells(g), g->view->pass.progress_ppm);
}

// --- beside the cells ---

struct row_label {
    struct rect rect;
    int px;
    bool is_chip; // large enough for a shape of its own
    bool is_lit;
};

static void paint_label(const struct grid *g, struct row_label label, const char *text) {
    const struct paint *paint = g->paint;
    enum theme_color accent = g->view->pass.is_prefill ? COLOR_PREFILL : COLOR_DECODE;
    bool is_filled = label.is_lit && !g->view->pass.is_charged;
    int radius = clamp_int(label.rect.h / 6, 1, g->layout->unit_px / 2 + 1);
    if (label.is_chip) {
        cmdlist_round(g->out, label.rect, radius,
                      paint_color(paint, is_filled ? accent : COLOR_PANEL));
        if (!is_filled)
            cmdlist_ring(g->out, label.rect, radius,
                         label.is_lit ? g->layout->stroke_px : g->layout->hair_px,
                         paint_color(paint, label.is_lit ? accent : COLOR_LINE));
    }
    struct paint_label words = {label.rect, label.is_chip ? ALIGN_CENTER : ALIGN_LEFT, FACE_WORDS,
                                label.px,
                                paint_color(paint, !label.is_chip ? COLOR_QUIET
                                                   : is_filled    ? COLOR_ON_ACCENT
                                                   : label.is_lit ? COLOR_INK
                                                                  : COLOR_QUIET)};
    paint_put(g->out, paint, words, text);
}

// A tick at the row in the last part of the label column; lit in the accent.
static void paint_tick(const struct grid *g, int layer, bool is_lit) {
    struct rect labels = g->layout->labels;
    int y = layout_layer_y(g->layout, layer);
    int width = g->layout->unit_px, height = g->layout->row_px - g->layout->row_gap_px;
    enum theme_color accent = g->view->pass.is_prefill ? COLOR_PREFILL : COLOR_DECODE;
    if (!is_lit) {
        cmdlist_fill(g->out,
                     (struct rect){labels.x + labels.w - width, y + (height - 1) / 2, width,
                                   g->layout->hair_px},
                     paint_color(g->paint, COLOR_LINE));
        return;
    }
    int least = 3 * g->layout->hair_px;
    int tall = height < least ? least : height;
    int top = clamp_int(y + (height - tall) / 2, labels.y, labels.y + labels.h - tall);
    cmdlist_fill(g->out, (struct rect){labels.x + labels.w - 2 * width, top, 2 * width, tall},
                 paint_color(g->paint, accent));
}

// False: even at the least size the names need more room, so that the numbers stand alone.
static bool layers_fit(const struct grid *g, int width_px) {
    char name[24];
    for (int layer = 0; layer < g->layout->input.layers; layer++) {
        WORDS_SAY(name, "stage.layer", "number", figure_count(layer + 1, false).text);
        if (text_width_px(g->paint->text, FACE_WORDS, g->layout->floor_px, name) > width_px)
            return false;
    }
    return true;
}

static void paint_labels(const struct grid *g) {
    const struct layout *layout = g->layout;
    bool is_calm = g->view->pass.calm_ppm > VIEW_PPM / 2;
    int lit = is_in_layer(g) && !is_calm ? g->view->pass.stage - 1 : -1;
    int line = layout_line_px(layout->small_px);
    bool is_chip = layout->label_every == 1;
    int most_px = (layout->row_px - layout->row_gap_px) * 4 / 5;
    int px = is_chip ? clamp_int(most_px, layout->floor_px, layout->small_px) : layout->small_px;
    int room = layout->labels.w - (is_chip ? 0 : 2 * layout->unit_px);
    bool has_names = layers_fit(g, room);
    for (int layer = 0; layer < layout->input.layers; layer++) {
        bool is_lit = layer == lit;
        bool is_named = (layer + 1) % layout->label_every == 0 || is_chip;
        if (!is_chip && (is_named || is_lit))
            paint_tick(g, layer, is_lit);
        if (!is_named)
            continue;
        struct rect rect = {layout->labels.x, layout_layer_y(layout, layer), layout->labels.w,
                            layout->row_px - layout->row_gap_px};
        if (!is_chip) {
            int y = rect.y + (rect.h - line) / 2;
            rect.y = clamp_int(y, layout->labels.y, layout->labels.y + layout->labels.h - line);
            rect.h = line;
            rect.w -= 2 * layout->unit_px;
        }
        char name[24];
        WORDS_SAY(name, has_names ? "stage.layer" : "stage.layer_number", "number",
                  figure_count(layer + 1, false).text);
        paint_label(g, (struct row_label){rect, px, is_chip, is_lit}, name);
    }
    paint_label(g, (struct row_label){layout->output_label, px, true, is_in_output(g) && !is_calm},
                word("stage.output"));
}

struct rect paint_output_cell(const struct layout *layout, int column) {
    struct rect cell = layout_cell(layout, column, 0);
    int narrowest = 3 * layout->unit_px / 2;
    int x = cell.x, w = cell.w;
    if (w < narrowest) {
        x = clamp_int(cell.x + cell.w / 2 - narrowest / 2, layout->output.x,
                      layout->output.x + layout->output.w - narrowest);
        w = narrowest;
    }
    return (struct rect){x, layout->output.y, w, layout->output.h};
}

// The slim cell under the newest column: logits and sampling. It is there while a
// pass is on its way, and fills in the output stage.
static void paint_output(const struct grid *g) {
    const struct view_pass *pass = &g->view->pass;
    if (!pass->active)
        return;
    int newest =
        pass->is_charged ? g->view->full_columns - 1 : pass->first_column + pass->column_count - 1;
    newest = clamp_int(newest, 0, g->layout->input.columns - 1);
    struct rect cell = paint_output_cell(g->layout, newest);
    int radius = clamp_int(cell.h / 5, 1, g->layout->unit_px * 4 / 10 + 1);
    rgba accent = paint_color(g->paint, pass->is_prefill ? COLOR_PREFILL : COLOR_DECODE);
    accent = theme_fade(accent, VIEW_PPM - clamp_ppm(pass->calm_ppm));
    cmdlist_round(g->out, cell, radius, paint_color(g->paint, COLOR_PANEL));
    if (is_in_output(g)) {
        struct paint_edge edge = paint_edge_at(cell.h, pass->progress_ppm);
        struct rect upper = {cell.x, cell.y, cell.w, edge.whole_px};
        struct rect partial = {cell.x, cell.y + edge.whole_px, cell.w, 1};
        if (upper.h > 0 && !pass->is_charged) {
            cmdlist_clip(g->out, upper);
            cmdlist_round(g->out, cell, radius, accent);
        }
        if (edge.whole_px < cell.h && !pass->is_charged) {
            cmdlist_clip(g->out, partial);
            cmdlist_round(g->out, cell, radius, theme_fade(accent, edge.part_ppm));
        }
        cmdlist_clip(g->out, (struct rect){0});
    }
    if (pass->is_charged)
        paint_charged_name(g, cell);
    int stroke = pass->is_charged ? g->layout->stroke_px : g->layout->hair_px;
    cmdlist_ring(g->out, cell, radius, stroke, paint_color(g->paint, COLOR_LINE));
    if (is_in_output(g))
        cmdlist_ring(g->out, cell, radius, stroke, accent);
}

void paint_grid(struct cmdlist *out, const struct paint *paint) {
    struct grid grid = grid_of(out, paint);
    const struct grid *g = &grid;
    int columns = g->layout->input.columns, layers = g->layout->input.layers;
    int full = clamp_int(g->view->full_columns, 0, columns);
    struct cells pass = g->view->pass.active ? pass_cells(g) : (struct cells){0, full, full};
    // Saved columns first, then what the pass has done, then what is still empty.
    int saved = full < pass.from ? full : pass.from;
    saved = g->view->pass.active && !g->view->pass.is_charged ? saved : full;
    paint_headers(out, paint);
    paint_empty(g, saved, columns);
    fill_accent(g, (struct cells){0, 0, saved}, layers, paint->theme->saved_alpha);
    if (g->view->pass.active && !g->view->pass.is_charged)
        paint_done(g);
    paint_reading(g);
    paint_current(g);
    stripe_answer(g, saved);
    paint_charged(g);
    if (!g->is_rich) {
        shade_rows(g);
        cut_gaps(g);
    }
    paint_reading_rings(g);
    paint_labels(g);
    paint_output(g);
}
