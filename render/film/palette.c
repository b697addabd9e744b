// See palette.h. A hash table counts the colours. The set is cut in two where its
// squared error is largest, again and again (median cut by variance), until each
// colour is alone or there are 255 groups; then the means are settled by a few rounds
// of k-means. A colour that makes up most of its group replaces the mean, so that the
// flat areas of a drawing stay exact.
#include "render/film/palette.h"

#include <stdlib.h>
#include <string.h>

enum {
    TABLE_BITS = 18,
    TABLE_SIZE = 1 << TABLE_BITS,
    // Beyond this many, new colours are counted by their upper 5 bits: at most
    // 32768 more, so that the table can't fill up.
    MAX_EXACT = TABLE_SIZE - 2 * 32768,
    SETTLE_ROUNDS = 4,
    MANY_BINS = 32768, // beyond these one round has to do: seconds for little gain
};

static const uint32_t coarse_mask = 0xf8f8f8, coarse_middle = 0x040404;

struct bin {
    uint64_t count; // pixels; 0 = free slot
    uint32_t rgb;
    uint8_t index; // after palette_build
};

struct palette {
    struct bin *table; // TABLE_SIZE, open addressing
    int used;
    int color_count;
    uint32_t colors[PALETTE_COLORS];
};

// A group of colours: members [first, first + count) of the list being cut.
struct group {
    int first, count;
    double weight, mean[3], error[3]; // error: weighted squared distance to the mean
};

static int channel(uint32_t rgb, int axis) {
    return (int)(rgb >> (16 - 8 * axis) & 255);
}

static uint32_t pixel_rgb(const uint8_t *rgb) {
    return (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | (uint32_t)rgb[2];
}

// The slot of a colour, or the free one where it belongs.
static struct bin *find(const struct palette *palette, uint32_t rgb) {
    uint32_t at = (rgb * 2654435761u) >> (32 - TABLE_BITS); // Fibonacci hashing
    while (palette->table[at].count != 0 && palette->table[at].rgb != rgb)
        at = (at + 1) & (TABLE_SIZE - 1);
    return &palette->table[at];
}

bool palette_create(struct palette **out) {
    struct palette *palette = calloc(1, sizeof *palette);
    *out = palette;
    if (!palette)
        return false;
    palette->table = calloc(TABLE_SIZE, sizeof *palette->table);
    if (palette->table)
        return true;
    palette_destroy(palette);
    *out = NULL;
    return false;
}

void palette_destroy(struct palette *palette) {
    if (!palette)
        return;
    free(palette->table);
    free(palette);
}

static void add(struct palette *palette, uint32_t rgb, int count) {
    struct bin *bin = find(palette, rgb);
    if (bin->count == 0 && palette->used >= MAX_EXACT)
        bin = find(palette, (rgb & coarse_mask) | coarse_middle);
    if (bin->count == 0) {
        bin->rgb = palette->used >= MAX_EXACT ? (rgb & coarse_mask) | coarse_middle : rgb;
        palette->used++;
    }
    bin->count += (uint64_t)count;
}

// Drawings are mostly runs of one colour: one look-up a run.
static int run_length(const uint8_t *rgb, int width_px) {
    int run = 1;
    while (run < width_px && memcmp(rgb, rgb + 3 * run, 3) == 0)
        run++;
    return run;
}

void palette_count(struct palette *palette, const uint8_t *rgb, int width_px) {
    for (int x = 0; x < width_px;) {
        int run = run_length(rgb + 3 * x, width_px - x);
        add(palette, pixel_rgb(rgb + 3 * x), run);
        x += run;
    }
}

static void measure(struct group *group, const struct bin *list) {
    double weight = 0, sum[3] = {0}, squares[3] = {0};
    for (int i = group->first; i < group->first + group->count; i++) {
        double count = (double)list[i].count;
        weight += count;
        for (int axis = 0; axis < 3; axis++) {
            double value = channel(list[i].rgb, axis);
            sum[axis] += count * value;
            squares[axis] += count * value * value;
        }
    }
    group->weight = weight;
    for (int axis = 0; axis < 3; axis++) {
        group->mean[axis] = sum[axis] / weight;
        group->error[axis] = squares[axis] - sum[axis] * group->mean[axis];
    }
}

static int widest_axis(const struct group *group) {
    int widest = 0;
    for (int axis = 1; axis < 3; axis++) {
        if (group->error[axis] > group->error[widest])
            widest = axis;
    }
    return widest;
}

// Moves the members above the mean to the end. Both parts get at least one, since
// the error on this axis isn't 0.
static struct group split(struct group *group, struct bin *list) {
    int axis = widest_axis(group), low = group->first, high = group->first + group->count;
    while (low < high) {
        if (channel(list[low].rgb, axis) <= group->mean[axis]) {
            low++;
        } else {
            struct bin bin = list[low];
            list[low] = list[--high];
            list[high] = bin;
        }
    }
    struct group upper = {.first = low, .count = group->first + group->count - low};
    group->count = low - group->first;
    measure(group, list);
    measure(&upper, list);
    return upper;
}

static int cut(struct group groups[PALETTE_COLORS], struct bin *list, int list_count) {
    groups[0] = (struct group){.first = 0, .count = list_count};
    measure(&groups[0], list);
    int count = 1;
    while (count < PALETTE_COLORS) {
        int worst = -1;
        double worst_error = 0;
        for (int i = 0; i < count; i++) {
            double error = groups[i].error[0] + groups[i].error[1] + groups[i].error[2];
            if (groups[i].count > 1 && error > worst_error) {
                worst = i;
                worst_error = error;
            }
        }
        if (worst < 0)
            break;
        groups[count] = split(&groups[worst], list);
        count++;
    }
    return count;
}

static int nearest(const struct palette *palette, uint32_t rgb) {
    int best = 0, best_distance = 3 * 256 * 256;
    for (int i = 0; i < palette->color_count; i++) {
        int distance = 0;
        for (int axis = 0; axis < 3; axis++) {
            int d = channel(rgb, axis) - channel(palette->colors[i], axis);
            distance += d * d;
        }
        if (distance < best_distance) {
            best = i;
            best_distance = distance;
        }
    }
    return best;
}

static uint32_t rounded(const double mean[3]) {
    uint32_t rgb = 0;
    for (int axis = 0; axis < 3; axis++)
        rgb = rgb << 8 | (uint32_t)(mean[axis] + 0.5);
    return rgb;
}

// What belongs to each colour, for one round of k-means.
struct tally {
    double weight, sum[3];
    uint64_t heaviest;
    uint32_t heaviest_rgb;
};

static void assign(struct palette *palette, struct tally tallies[PALETTE_COLORS], struct bin *list,
                   int list_count) {
    memset(tallies, 0, PALETTE_COLORS * sizeof *tallies);
    for (int i = 0; i < list_count; i++) {
        list[i].index = (uint8_t)nearest(palette, list[i].rgb);
        struct tally *tally = &tallies[list[i].index];
        tally->weight += (double)list[i].count;
        for (int axis = 0; axis < 3; axis++)
            tally->sum[axis] += (double)list[i].count * channel(list[i].rgb, axis);
        if (list[i].count > tally->heaviest) {
            tally->heaviest = list[i].count;
            tally->heaviest_rgb = list[i].rgb;
        }
    }
}

static void settle(struct palette *palette, struct bin *list, int list_count) {
    struct tally tallies[PALETTE_COLORS];
    int rounds = list_count > MANY_BINS ? 1 : SETTLE_ROUNDS;
    for (int round = 0; round < rounds; round++) {
        assign(palette, tallies, list, list_count);
        for (int i = 0; i < palette->color_count; i++) {
            const struct tally *tally = &tallies[i];
            if (tally->weight == 0)
                continue;
            const double mean[3] = {tally->sum[0] / tally->weight, tally->sum[1] / tally->weight,
                                    tally->sum[2] / tally->weight};
            bool is_flat = 2 * (double)tally->heaviest > tally->weight;
            palette->colors[i] = is_flat ? tally->heaviest_rgb : rounded(mean);
        }
    }
}

static struct bin *list_bins(const struct palette *palette) {
    struct bin *list = calloc((size_t)palette->used + 1, sizeof *list);
    for (int i = 0, count = 0; list && i < TABLE_SIZE; i++) {
        if (palette->table[i].count != 0)
            list[count++] = palette->table[i];
    }
    return list;
}

int palette_build(struct palette *palette) {
    palette->color_count = 1; // black, if nothing was counted
    if (palette->used == 0)
        return 1;
    struct bin *list = list_bins(palette);
    if (!list)
        return 0;
    struct group groups[PALETTE_COLORS];
    palette->color_count = cut(groups, list, palette->used);
    for (int i = 0; i < palette->color_count; i++)
        palette->colors[i] = rounded(groups[i].mean);
    settle(palette, list, palette->used);
    for (int i = 0; i < palette->used; i++)
        find(palette, list[i].rgb)->index = (uint8_t)nearest(palette, list[i].rgb);
    free(list);
    return palette->color_count;
}

uint32_t palette_color(const struct palette *palette, int index) {
    return index < palette->color_count ? palette->colors[index] : 0;
}

static uint8_t index_of(const struct palette *palette, uint32_t rgb) {
    const struct bin *bin = find(palette, rgb);
    if (bin->count == 0)
        bin = find(palette, (rgb & coarse_mask) | coarse_middle);
    return bin->count != 0 ? bin->index : (uint8_t)nearest(palette, rgb);
}

void palette_map(const struct palette *palette, uint8_t *out, const uint8_t *rgb, int width_px) {
    for (int x = 0; x < width_px;) {
        int run = run_length(rgb + 3 * x, width_px - x);
        memset(out + x, index_of(palette, pixel_rgb(rgb + 3 * x)), (size_t)run);
        x += run;
    }
}
