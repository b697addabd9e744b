// See stroke.h. A shape is the sum of simple outlines that all run the same way
// round: a bar for every line, half discs at its free ends, a wedge on the outer side
// where two lines meet. They share their edges point by point, so that these cancel
// exactly; where outlines overlap, on the inner side of a bend, the sum is cut at
// full. Each edge adds the signed area to its right to the pixels of its rows, and a
// running sum along the row turns that into coverage.
#include "render/pixel/stroke.h"

#include "compute/base/num.h"

#include <stdlib.h>

enum {
    SUB = 1024,           // parts of a pixel for corners of outlines
    FULL = 2 * SUB * SUB, // of a pixel's sum: covered
    SCALE = SUB / CMD_LINE_UNIT,
    ARC_DEPTH = 4, // a quarter is halved so often: 16 chords, 0.05 px off at the most
};

struct vec {
    int64_t x, y; // 1/SUB px
};

struct raster {
    int32_t *sums; // (width + 1) a row: area starting in the pixel
    int width, height;
    struct vec origin;
    struct vec first, last; // of the outline under way
    bool has_first;
};

// a / b to the nearest, b > 0.
static int64_t divide(int64_t a, int64_t b) {
    return a >= 0 ? (a + b / 2) / b : -((-a + b / 2) / b);
}

static int64_t floor_sub(int64_t a) {
    return a >= 0 ? a / SUB : -((-a + SUB - 1) / SUB);
}

static int64_t root(uint64_t square) {
    uint64_t result = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((result | bit) * (result | bit) <= square)
            result |= bit;
    return (int64_t)result;
}

// The vector at that length. Short ones are scaled up first to keep their direction.
static struct vec with_length(struct vec v, int64_t length) {
    int64_t size = max_i64(v.x < 0 ? -v.x : v.x, v.y < 0 ? -v.y : v.y);
    if (size == 0)
        return (struct vec){length, 0};
    while (size < 1 << 28) {
        v.x *= 2;
        v.y *= 2;
        size *= 2;
    }
    while (size >= 1 << 30) {
        v.x /= 2;
        v.y /= 2;
        size /= 2;
    }
    int64_t has = root((uint64_t)(v.x * v.x + v.y * v.y));
    return (struct vec){divide(v.x * length, has), divide(v.y * length, has)};
}

static struct vec add(struct vec a, struct vec b) {
    return (struct vec){a.x + b.x, a.y + b.y};
}

static struct vec minus(struct vec a) {
    return (struct vec){-a.x, -a.y};
}

static int64_t cross(struct vec a, struct vec b) {
    return a.x * b.y - a.y * b.x;
}

static int64_t dot(struct vec a, struct vec b) {
    return a.x * b.x + a.y * b.y;
}

// --- edges ---

// Part of an edge within one row, `dy` high, from x0 to x1, in the row's own x.
static void add_in_row(struct raster *r, int64_t row, int64_t dy, int64_t x0, int64_t x1,
                       int sign) {
    int32_t *sums = r->sums + row * (r->width + 1);
    int64_t right = (int64_t)r->width * SUB;
    int64_t left = min_i64(x0, x1), end = max_i64(x0, x1);
    int64_t first = floor_sub(max_i64(0, min_i64(left, right))), done_y = 0;
    // Left of the area all counts as at its edge; right of it nothing is seen.
    if (left < 0) {
        done_y = end <= 0 ? dy : -left * dy / (end - left);
        sums[0] += (int32_t)(sign * done_y * 2 * SUB);
        if (end <= 0)
            return;
    }
    for (int64_t column = first; column <= r->width; column++) {
        int64_t column_end = (column + 1) * SUB;
        bool is_last = end <= column_end || column == r->width;
        int64_t y = is_last ? dy : max_i64(0, (column_end - left) * dy / (end - left));
        int64_t from = max_i64(0, min_i64(max_i64(left, column * SUB), right));
        int64_t to = max_i64(0, min_i64(min_i64(end, column_end), right));
        int64_t part = y - done_y, twice = from + to - 2 * column * SUB;
        if (column < r->width) {
            sums[column] += (int32_t)(sign * part * (2 * SUB - twice));
            sums[column + 1] += (int32_t)(sign * part * twice);
        }
        done_y = y;
        if (is_last)
            return;
    }
}

// One edge of an outline. Always worked on from its upper end, so that the same edge
// of a neighbour, run the other way, takes away exactly what this one adds.
static void add_edge(struct raster *r, struct vec a, struct vec b) {
    int sign = 1;
    if (a.y > b.y) {
        struct vec swap = a;
        a = b;
        b = swap;
        sign = -1;
    }
    int64_t bottom = min_i64(b.y, (int64_t)r->height * SUB), y = max_i64(a.y, 0);
    if (y >= bottom)
        return;
    int64_t dx = b.x - a.x, dy = b.y - a.y;
    int64_t x = a.x + divide((y - a.y) * dx, dy);
    while (y < bottom) {
        int64_t row = y / SUB, next = min_i64((row + 1) * SUB, bottom);
        int64_t next_x = a.x + divide((next - a.y) * dx, dy);
        add_in_row(r, row, next - y, x, next_x, sign);
        y = next;
        x = next_x;
    }
}

// --- outlines ---

static void outline_to(struct raster *r, struct vec point) {
    point.x -= r->origin.x;
    point.y -= r->origin.y;
    if (r->has_first)
        add_edge(r, r->last, point);
    else
        r->first = point;
    r->has_first = true;
    r->last = point;
}

static void outline_end(struct raster *r) {
    add_edge(r, r->last, r->first);
    r->has_first = false;
}

// From center + a (there already) to center + b, the shorter way round.
static void arc_to(struct raster *r, struct vec center, struct vec a, struct vec b, int64_t radius,
                   int depth) {
    if (depth == 0) {
        outline_to(r, add(center, b));
        return;
    }
    struct vec middle = with_length(add(a, b), radius);
    arc_to(r, center, a, middle, radius, depth - 1);
    arc_to(r, center, middle, b, radius, depth - 1);
}

// The half disc on the side that `out` points to, `out` as long as the radius.
static void add_cap(struct raster *r, struct vec center, struct vec out, int64_t radius) {
    struct vec side = {-out.y, out.x};
    outline_to(r, add(center, side));
    arc_to(r, center, side, out, radius, ARC_DEPTH);
    arc_to(r, center, out, minus(side), radius, ARC_DEPTH);
    outline_end(r);
}

// The wedge on the outer side of a bend from direction `in` to `out`.
static void add_join(struct raster *r, struct vec center, struct vec in, struct vec out,
                     int64_t radius) {
    int64_t turn = cross(in, out);
    struct vec a = {-in.y, in.x}, b = {-out.y, out.x};
    if (turn == 0 && dot(in, out) > 0)
        return;
    if (turn > 0) { // the outer side is the other one; keep the way round
        struct vec swap = minus(a);
        a = minus(b);
        b = swap;
    }
    outline_to(r, center);
    outline_to(r, add(center, a));
    if (dot(in, out) >= 0) {
        arc_to(r, center, a, b, radius, ARC_DEPTH);
    } else {
        struct vec tip = with_length(add(in, minus(out)), radius);
        arc_to(r, center, a, tip, radius, ARC_DEPTH);
        arc_to(r, center, tip, b, radius, ARC_DEPTH);
    }
    outline_end(r);
}

static struct vec start_of(const struct cmd *line) {
    return (struct vec){(int64_t)line->rect.x * SCALE, (int64_t)line->rect.y * SCALE};
}

static struct vec end_of(const struct cmd *line) {
    return (struct vec){((int64_t)line->rect.x + line->rect.w) * SCALE,
                        ((int64_t)line->rect.y + line->rect.h) * SCALE};
}

static bool is_joined(const struct cmd *line, const struct cmd *next) {
    struct vec a = end_of(line), b = start_of(next);
    bool are_lines = (line->rect.w || line->rect.h) && (next->rect.w || next->rect.h);
    return are_lines && a.x == b.x && a.y == b.y;
}

static struct vec direction(const struct cmd *line, int64_t length) {
    return with_length((struct vec){line->rect.w, line->rect.h}, length);
}

static void add_line(struct raster *r, const struct cmd *lines, int count, int i) {
    const struct cmd *line = &lines[i];
    int64_t radius = (int64_t)line->stroke * SCALE / 2;
    struct vec way = direction(line, radius), side = {-way.y, way.x};
    struct vec from = start_of(line), to = end_of(line);
    outline_to(r, add(from, side));
    outline_to(r, add(to, side));
    outline_to(r, add(to, minus(side)));
    outline_to(r, add(from, minus(side)));
    outline_end(r);
    if (i == 0 || !is_joined(&lines[i - 1], line))
        add_cap(r, from, minus(way), radius);
    if (i + 1 == count || !is_joined(line, &lines[i + 1]))
        add_cap(r, to, way, radius);
    else
        add_join(r, to, way, direction(&lines[i + 1], radius), radius);
}

static void sum_up(uint8_t *out, const struct raster *r) {
    for (int y = 0; y < r->height; y++) {
        const int32_t *sums = r->sums + (int64_t)y * (r->width + 1);
        uint8_t *row = out + (int64_t)y * r->width;
        int64_t sum = 0;
        for (int x = 0; x < r->width; x++) {
            sum += sums[x];
            int64_t covered = min_i64(sum < 0 ? -sum : sum, FULL);
            row[x] = (uint8_t)((covered * 255 + FULL / 2) / FULL);
        }
    }
}

uint8_t *stroke_raster(const struct cmd *lines, int count, struct rect area) {
    struct raster r = {.width = area.w, .height = area.h};
    r.origin = (struct vec){(int64_t)area.x * SUB, (int64_t)area.y * SUB};
    size_t cells = ((size_t)area.w + 1) * (size_t)area.h;
    r.sums = calloc(cells, sizeof *r.sums);
    uint8_t *out = malloc((size_t)area.w * (size_t)area.h);
    if (!r.sums || !out) {
        free(r.sums);
        free(out);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        add_line(&r, lines, count, i);
    sum_up(out, &r);
    free(r.sums);
    return out;
}

struct rect stroke_bounds(const struct cmd *lines, int count) {
    int64_t left = INT64_MAX, top = INT64_MAX, right = INT64_MIN, bottom = INT64_MIN;
    for (int i = 0; i < count; i++) {
        struct vec a = start_of(&lines[i]), b = end_of(&lines[i]);
        int64_t reach = (int64_t)lines[i].stroke * SCALE / 2 + 1;
        left = min_i64(left, min_i64(a.x, b.x) - reach);
        top = min_i64(top, min_i64(a.y, b.y) - reach);
        right = max_i64(right, max_i64(a.x, b.x) + reach);
        bottom = max_i64(bottom, max_i64(a.y, b.y) + reach);
    }
    int x = (int)floor_sub(left), y = (int)floor_sub(top);
    return (struct rect){x, y, (int)floor_sub(right) + 1 - x, (int)floor_sub(bottom) + 1 - y};
}
