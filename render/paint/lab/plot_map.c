// The cells of a plot: prefill's side solid, decode's striped, each paler towards the
// half; and the line at the half itself, found by marching squares between the cells'
// middles and drawn strong over a halo, as one shape.
#include "render/paint/lab/parts.h"

#include "compute/base/num.h"
#include "compute/base/words.h"

#include <string.h>

enum {
    HALF = VIEW_PPM / 2,
    SHADES = 6, // on each side
    NODES_X = PLOT_MAX_COLUMNS + 2,
    NODES_Y = PLOT_MAX_ROWS + 2,
    EDGES = 2 * NODES_X * NODES_Y,
    MOST_RINGS = 20, // of places tried around the middle of a side
};

static int columns_of(const struct plot *plot) {
    return min_int(plot->columns, PLOT_MAX_COLUMNS);
}

static int rows_of(const struct plot *plot) {
    return min_int(plot->rows, PLOT_MAX_ROWS);
}

// --- cells ---

// -SHADES .. -1 prefill, 1 .. SHADES decode.
static int shade_of(int ppm) {
    int away = ppm > HALF ? ppm - HALF : HALF - ppm;
    int shade = 1 + min_int(SHADES - 1, (int)((int64_t)away * SHADES / HALF));
    return ppm > HALF ? shade : -shade;
}

static rgba color_of(const struct plot_canvas *canvas, int shade) {
    const struct paint *paint = canvas->paint;
    int alpha = 75 + (shade < 0 ? -shade : shade) * 150 / SHADES;
    return theme_blend(paint_color(paint, shade < 0 ? COLOR_PREFILL : COLOR_DECODE), (uint8_t)alpha,
                       paint_color(paint, COLOR_PANEL));
}

// Cells [from, to) of a row, from the bottom.
static struct rect cells(const struct plot_canvas *canvas, int row, int from, int to) {
    struct rect area = canvas->area;
    int columns = columns_of(canvas->plot), rows = rows_of(canvas->plot);
    int left = area.x + area.w * from / columns, right = area.x + area.w * to / columns;
    int bottom = area.y + area.h - area.h * row / rows;
    int top = area.y + area.h - area.h * (row + 1) / rows;
    return (struct rect){left, top, right - left, bottom - top};
}

static void paint_row(struct plot_canvas *canvas, int row) {
    const int *ppm = canvas->plot->cells_ppm[row];
    int columns = columns_of(canvas->plot), unit = canvas->paint->layout->unit_px;
    rgba stripe = theme_fade(paint_color(canvas->paint, COLOR_GROUND), 280000);
    for (int from = 0, to; from < columns; from = to) {
        int shade = shade_of(ppm[from]);
        for (to = from + 1; to < columns && shade_of(ppm[to]) == shade;)
            to++;
        cmdlist_fill(canvas->out, cells(canvas, row, from, to), color_of(canvas, shade));
    }
    for (int from = 0, to; from < columns; from = to) {
        for (to = from + 1; to < columns && (ppm[to] > HALF) == (ppm[from] > HALF);)
            to++;
        if (ppm[from] > HALF)
            cmdlist_stripes(canvas->out, cells(canvas, row, from, to), max_int(2, unit * 6 / 10),
                            false, stripe);
    }
}

// --- the line at the half ---

// Nodes are the cells' middles and, around them, the area's edge with the nearest
// cell's value. Edges between nodes: first all level ones, then all upright ones.
struct contour {
    const struct plot_canvas *canvas;
    int columns, rows;
    int16_t links[EDGES][2]; // edges that the line goes on to, -1 = none
    int count;
    struct plot_segment *segments; // the canvas's
};

static int value_at(const struct contour *c, int i, int j) {
    int column = max_int(0, min_int(i - 1, c->columns - 1)),
        row = max_int(0, min_int(j - 1, c->rows - 1));
    return c->canvas->plot->cells_ppm[row][column];
}

// In 1/16 px.
static void node_at(const struct contour *c, int i, int j, int *x, int *y) {
    struct rect area = c->canvas->area;
    int w = area.w * CMD_LINE_UNIT, h = area.h * CMD_LINE_UNIT;
    int from_x = i == 0           ? 0
                 : i > c->columns ? w
                                  : (int)((int64_t)w * (2 * i - 1) / (2 * c->columns));
    int from_y = j == 0 ? 0 : j > c->rows ? h : (int)((int64_t)h * (2 * j - 1) / (2 * c->rows));
    *x = area.x * CMD_LINE_UNIT + from_x;
    *y = (area.y + area.h) * CMD_LINE_UNIT - from_y;
}

static int level_edge(int i, int j) {
    return j * NODES_X + i;
}

static int upright_edge(int i, int j) {
    return NODES_X * NODES_Y + j * NODES_X + i;
}

// Where the line crosses an edge.
static void crossing(const struct contour *c, int edge, int *x, int *y) {
    bool is_upright = edge >= NODES_X * NODES_Y;
    int at = is_upright ? edge - NODES_X * NODES_Y : edge;
    int i = at % NODES_X, j = at / NODES_X, x1, y1;
    int a = value_at(c, i, j), b = value_at(c, i + !is_upright, j + is_upright);
    node_at(c, i, j, x, y);
    node_at(c, i + !is_upright, j + is_upright, &x1, &y1);
    int64_t part = HALF - a, whole = (int64_t)b - a;
    if (whole == 0)
        return;
    *x += (int)((x1 - *x) * part / whole);
    *y += (int)((y1 - *y) * part / whole);
}

static void link_one(struct contour *c, int from, int to) {
    c->links[from][c->links[from][0] >= 0] = (int16_t)to;
}

static void link_edges(struct contour *c, int a, int b) {
    link_one(c, a, b);
    link_one(c, b, a);
}

// One square between four nodes: joins the edges that the line crosses. Two corners
// across from each other: the line keeps them apart.
static void link_square(struct contour *c, int i, int j) {
    const int edges[] = {level_edge(i, j), upright_edge(i + 1, j), level_edge(i, j + 1),
                         upright_edge(i, j)};
    const bool in[] = {value_at(c, i, j) > HALF, value_at(c, i + 1, j) > HALF,
                       value_at(c, i + 1, j + 1) > HALF, value_at(c, i, j + 1) > HALF};
    int crossed[4], count = 0;
    for (int k = 0; k < 4; k++)
        if (in[k] != in[(k + 1) % 4])
            crossed[count++] = edges[k];
    if (count == 2) {
        link_edges(c, crossed[0], crossed[1]);
    } else if (count == 4) { // edges k - 1 and k meet at corner k
        int first = in[0] ? 3 : 0;
        link_edges(c, crossed[first], crossed[(first + 1) % 4]);
        link_edges(c, crossed[(first + 2) % 4], crossed[(first + 3) % 4]);
    }
}

static void unlink_one(struct contour *c, int from, int to) {
    int16_t *links = c->links[from];
    if (links[0] == to)
        links[0] = links[1];
    links[1] = -1;
}

// Follows the line from an edge to its end, taking the links away.
static void follow(struct contour *c, int edge) {
    int x, y;
    crossing(c, edge, &x, &y);
    while (c->links[edge][0] >= 0) {
        int next = c->links[edge][0], next_x, next_y;
        unlink_one(c, edge, next);
        unlink_one(c, next, edge);
        crossing(c, next, &next_x, &next_y);
        if (c->count < PLOT_MAX_SEGMENTS)
            c->segments[c->count++] = (struct plot_segment){x, y, next_x, next_y};
        edge = next;
        x = next_x;
        y = next_y;
    }
}

// The canvas's first segments: open lines from their ends, then closed ones.
static void find_contour(struct plot_canvas *canvas) {
    struct contour c = {.canvas = canvas,
                        .columns = columns_of(canvas->plot),
                        .rows = rows_of(canvas->plot),
                        .segments = canvas->segments};
    memset(c.links, -1, sizeof c.links);
    for (int j = 0; j <= c.rows; j++)
        for (int i = 0; i <= c.columns; i++)
            link_square(&c, i, j);
    for (int closed = 0; closed < 2; closed++)
        for (int edge = 0; edge < EDGES; edge++)
            if (closed || (c.links[edge][0] >= 0 && c.links[edge][1] < 0))
                follow(&c, edge);
    canvas->segment_count = canvas->half_segments = c.count;
}

static void paint_contour(struct plot_canvas *canvas, int stroke, rgba color) {
    for (int i = 0; i < canvas->segment_count; i++) {
        const struct plot_segment *s = &canvas->segments[i];
        struct cmd_line line = {s->x0, s->y0, s->x1, s->y1, stroke, i > 0};
        cmdlist_line(canvas->out, &line, color);
    }
}

void paint_plot_cells(struct plot_canvas *canvas) {
    const struct paint *paint = canvas->paint;
    if (columns_of(canvas->plot) <= 0 || rows_of(canvas->plot) <= 0)
        return;
    for (int row = 0; row < rows_of(canvas->plot); row++)
        paint_row(canvas, row);
    find_contour(canvas);
    int stroke = paint->layout->stroke_px * CMD_LINE_UNIT;
    cmdlist_clip(canvas->out, canvas->area);
    paint_contour(canvas, stroke * 5 / 2, paint_color(paint, COLOR_GROUND));
    paint_contour(canvas, stroke * 5 / 4, paint_color(paint, COLOR_INK));
    cmdlist_clip(canvas->out, (struct rect){0});
}

// --- what the sides mean ---

// Counts the clearer cells of a side and finds their middle, in px.
static int64_t middle_of_side(const struct plot_canvas *canvas, bool is_decode, int *x, int *y) {
    const struct plot *plot = canvas->plot;
    int64_t sum_x = 0, sum_y = 0, count = 0;
    for (int row = 0; row < rows_of(plot); row++)
        for (int column = 0; column < columns_of(plot); column++) {
            int shade = shade_of(plot->cells_ppm[row][column]);
            if (is_decode ? shade < 3 : shade > -3)
                continue;
            struct rect cell = cells(canvas, row, column, column + 1);
            sum_x += cell.x + cell.w / 2;
            sum_y += cell.y + cell.h / 2;
            count++;
        }
    *x = count > 0 ? (int)(sum_x / count) : 0;
    *y = count > 0 ? (int)(sum_y / count) : 0;
    return count;
}

// The cell at a place is on that side.
static bool is_on_side(const struct plot_canvas *canvas, bool is_decode, int x, int y) {
    struct rect area = canvas->area;
    const struct plot *plot = canvas->plot;
    int column = (int)((int64_t)(x - area.x) * columns_of(plot) / area.w);
    int row = (int)((int64_t)(area.y + area.h - 1 - y) * rows_of(plot) / area.h);
    column = max_int(0, min_int(column, columns_of(plot) - 1));
    row = max_int(0, min_int(row, rows_of(plot) - 1));
    return (plot->cells_ppm[row][column] > HALF) == is_decode;
}

// Says which side is which, as near as it can to the middle of its clearer part, on
// that side alone. The line at the half is taken, so that corners tell.
static void label_side(struct plot_canvas *canvas, bool is_decode, const char *utf8) {
    const struct plot_label label = {.utf8 = utf8,
                                     .face = FACE_WORDS,
                                     .px = canvas->tick_px,
                                     .color = paint_color(canvas->paint, COLOR_INK),
                                     .on_chip = true};
    struct rect area = canvas->area;
    int middle_x, middle_y;
    int step = max_int(max_int(2, canvas->tick_px / 2), max_int(area.w, area.h) / MOST_RINGS);
    if (middle_of_side(canvas, is_decode, &middle_x, &middle_y) == 0)
        return;
    for (int ring = 0; ring <= MOST_RINGS; ring++)
        for (int j = -ring; j <= ring; j++)
            for (int i = -ring; i <= ring;
                 i += j == -ring || j == ring || ring == 0 ? 1 : 2 * ring) {
                int x = middle_x + i * step, y = middle_y + j * step;
                bool is_in = x > area.x && x < area.x + area.w && y > area.y && y < area.y + area.h;
                if (is_in && is_on_side(canvas, is_decode, x, y) &&
                    paint_plot_label_over(canvas, &label, x, y))
                    return;
            }
}

void paint_plot_cell_labels(struct plot_canvas *canvas) {
    if (columns_of(canvas->plot) <= 0 || rows_of(canvas->plot) <= 0)
        return;
    const struct plot_label half = {.utf8 = "50 %",
                                    .face = FACE_STRONG,
                                    .px = canvas->tick_px,
                                    .color = paint_color(canvas->paint, COLOR_INK),
                                    .on_chip = true};
    paint_plot_label_path(canvas, 0, canvas->half_segments, &half, false);
    label_side(canvas, false, word("lab.prefill_more"));
    label_side(canvas, true, word("lab.decode_more"));
}
