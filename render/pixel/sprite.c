// See sprite.h. Coverage is the area of the shape inside each pixel: closed form for
// circles and diagonals; for drops exact along x and summed over 64 lines a pixel
// along y.
#include "render/pixel/sprite.h"

#include "compute/base/num.h"

#include <math.h>
#include <stdlib.h>

enum {
    DROP_LINES = 64,     // sample lines a pixel
    DROP_SEGMENTS = 256, // of a flattened side
};

static uint8_t to_byte(double coverage) {
    double scaled = coverage * 255 + 0.5;
    return scaled <= 0 ? 0 : scaled >= 255 ? 255 : (uint8_t)scaled;
}

// The integral of sqrt(r^2 - x^2) from 0 to x.
static double circle_integral(double r, double x) {
    double t = clamp_double(x, 0, r);
    return 0.5 * (t * sqrt(r * r - t * t) + r * r * asin(t / r));
}

// Area of the pixel [i, i+1] x [j, j+1] inside the circle around 0; i, j >= 0.
// Up to x_full the arc is above the pixel, up to x_end inside it.
static double disc_area(double r, int i, int j) {
    if (r <= j)
        return 0;
    double below = r * r - (double)j * j, above = r * r - (double)(j + 1) * (j + 1);
    double x_full = clamp_double(above > 0 ? sqrt(above) : 0, i, i + 1);
    double x_end = clamp_double(sqrt(below), i, i + 1);
    double under_arc = circle_integral(r, x_end) - circle_integral(r, x_full);
    return x_full - i + under_arc - j * (x_end - x_full);
}

// A ring from inner to outer radius; inner = 0: a disc. One quarter, mirrored.
static void rasterise_ring(uint8_t *coverage, int outer, int inner) {
    int pitch = 2 * outer;
    for (int j = 0; j < outer; j++)
        for (int i = 0; i < outer; i++) {
            double area = disc_area(outer, i, j);
            if (inner > 0)
                area -= disc_area(inner, i, j);
            uint8_t value = to_byte(area);
            uint8_t *up = coverage + (outer - 1 - j) * pitch + outer;
            uint8_t *down = coverage + (outer + j) * pitch + outer;
            up[i] = up[-1 - i] = down[i] = down[-1 - i] = value;
        }
}

// A pixel's x + y runs from u to u + 2 with its weight highest in the middle, so a
// stripe's edge, always on a whole u, halves exactly one pixel in each row.
static void rasterise_stripes(uint8_t *coverage, int w, int h, int stroke, bool mirrored) {
    int period = 2 * stroke;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int u = (mirrored ? w - 1 - x + y : x + y) % period;
            bool is_edge = u == stroke - 1 || u == period - 1;
            coverage[y * w + x] = is_edge ? 128 : u < stroke ? 255 : 0;
        }
}

// Half the width of a drop at `depth` below the tip, for width 1 and height 1.35: a
// cubic side, hollow towards the tip and upright where it meets the round belly.
struct side {
    double depth[DROP_SEGMENTS + 1], half[DROP_SEGMENTS + 1];
    int at; // asked from top to bottom only
};

#define DROP_HEIGHT 1.35
#define BELLY_DEPTH (DROP_HEIGHT - 0.5)

static void side_init(struct side *side) {
    // End points (0, 0) and (0.5, BELLY_DEPTH). The last handle is upright above the end; its
    // length gives the side the belly's curvature there, which is 2.
    const double x1 = 0.13, y1 = 0.34, x2 = 0.5, y2 = 0.499;
    for (int i = 0; i <= DROP_SEGMENTS; i++) {
        double t = (double)i / DROP_SEGMENTS, s = 1 - t;
        double b1 = 3 * s * s * t, b2 = 3 * s * t * t, b3 = t * t * t;
        side->half[i] = b1 * x1 + b2 * x2 + b3 * 0.5;
        side->depth[i] = b1 * y1 + b2 * y2 + b3 * BELLY_DEPTH;
    }
    side->at = 0;
}

static double side_half(struct side *side, double depth) {
    if (depth <= 0 || depth >= DROP_HEIGHT)
        return 0;
    if (depth >= BELLY_DEPTH)
        return sqrt(0.25 - (depth - BELLY_DEPTH) * (depth - BELLY_DEPTH));
    while (side->at < DROP_SEGMENTS - 1 && side->depth[side->at + 1] < depth)
        side->at++;
    const double *d = side->depth + side->at, *half = side->half + side->at;
    return half[0] + (half[1] - half[0]) * (depth - d[0]) / (d[1] - d[0]);
}

// Adds the span [from, to] to a row: its two end pixels by part, and what lies
// between as a step up and a step down in `steps`, summed up when the row is done.
static void add_span(float *parts, float *steps, double from, double to) {
    int first = (int)from, last = (int)to;
    if (first == last) {
        parts[first] += (float)(to - from);
        return;
    }
    parts[first] += (float)(first + 1 - from);
    parts[last] += (float)(to - last);
    steps[first + 1] += 1;
    steps[last] -= 1;
}

static void rasterise_drop(uint8_t *coverage, struct sprite_key key) {
    int w = key.a, h = key.b;
    struct side side;
    side_init(&side);
    double top = (double)key.c / CMD_DROP_PHASES, scale = DROP_HEIGHT / h;
    for (int y = 0; y < h + 1; y++) {
        float parts[CMD_MAX_DROP_PX + 2] = {0}, steps[CMD_MAX_DROP_PX + 2] = {0};
        for (int line = 0; line < DROP_LINES; line++) {
            double depth = (y + (line + 0.5) / DROP_LINES - top) * scale;
            double half = side_half(&side, depth) * w;
            if (half > 0)
                add_span(parts, steps, w * 0.5 - half, w * 0.5 + half);
        }
        float inside = 0;
        for (int x = 0; x < w; x++) {
            inside += steps[x];
            coverage[y * w + x] = to_byte((inside + parts[x]) / DROP_LINES);
        }
    }
}

static int round_up(int value, int step) {
    return (value + step - 1) / step * step;
}

static void measure(int *w, int *h, struct sprite_key key) {
    *w = *h = 2 * key.a;
    if (key.kind == SPRITE_STRIPES) {
        *w = round_up(SPRITE_STRIPES_MIN_WIDTH_PX, 2 * key.a);
        *h = round_up(SPRITE_STRIPES_MIN_HEIGHT_PX, 2 * key.a);
    } else if (key.kind == SPRITE_DROP) {
        *w = key.a;
        *h = key.b + 1; // a phase reaches into one more row
    }
}

static bool key_in_range(struct sprite_key key) {
    switch ((enum sprite_kind)key.kind) {
    case SPRITE_DISC:
        return key.a >= 1 && key.a <= CMD_MAX_RADIUS_PX;
    case SPRITE_RING:
        return key.b >= 1 && key.b < key.a && key.a <= CMD_MAX_RADIUS_PX;
    case SPRITE_STRIPES:
        return key.a >= 1 && key.a <= CMD_MAX_STROKE_PX && key.b <= 1;
    case SPRITE_DROP:
        return key.a >= 1 && key.b >= 1 && key.a <= CMD_MAX_DROP_PX &&
               key.b <= SPRITE_MAX_DROP_HEIGHT_PX && key.c < CMD_DROP_PHASES;
    }
    return false;
}

uint8_t *sprite_raster(int *w, int *h, struct sprite_key key) {
    *w = *h = 0;
    if (!key_in_range(key))
        return NULL;
    measure(w, h, key);
    uint8_t *coverage = malloc((size_t)*w * (size_t)*h);
    if (!coverage)
        return NULL;
    switch ((enum sprite_kind)key.kind) {
    case SPRITE_DISC:
        rasterise_ring(coverage, key.a, 0);
        break;
    case SPRITE_RING:
        rasterise_ring(coverage, key.a, key.a - key.b);
        break;
    case SPRITE_STRIPES:
        rasterise_stripes(coverage, *w, *h, key.a, key.b != 0);
        break;
    case SPRITE_DROP:
        rasterise_drop(coverage, key);
        break;
    }
    return coverage;
}
