// See pixels.h. The four channels of a pixel are blended at once in the four 16-bit
// lanes of a word; nothing here depends on the processor.
#include "render/pixel/pixels.h"

#include <string.h>

static uint64_t spread(uint32_t pixel) {
    return (pixel & 0x00FF00FF) | (uint64_t)(pixel >> 8 & 0x00FF00FF) << 32;
}

static uint32_t unspread(uint64_t lanes) {
    return (uint32_t)lanes | (uint32_t)(lanes >> 32) << 8;
}

// lanes / 255 to the nearest, for lanes up to 255 * 255.
static uint64_t divide_by_255(uint64_t lanes) {
    const uint64_t half = 0x0080008000800080, low = 0x00FF00FF00FF00FF;
    lanes += half;
    return (lanes + (lanes >> 8 & low)) >> 8 & low;
}

static uint32_t blend(uint64_t over, uint32_t alpha, uint32_t under) {
    return unspread(divide_by_255(over * alpha + spread(under) * (255 - alpha)));
}

static uint32_t opaque_pixel(rgba color) {
    return color >> 8 | 0xFF000000;
}

static uint32_t *row_at(const struct pixels *target, struct rect rect, int y) {
    return target->words + (size_t)(rect.y + y) * (size_t)target->pitch_px + rect.x;
}

void pixels_fill(const struct pixels *target, struct rect rect, rgba color) {
    uint32_t alpha = color & 0xFF, pixel = opaque_pixel(color);
    if (rect.w <= 0 || rect.h <= 0 || alpha == 0)
        return;
    if (alpha == 255) {
        uint32_t *first = row_at(target, rect, 0);
        for (int x = 0; x < rect.w; x++)
            first[x] = pixel;
        for (int y = 1; y < rect.h; y++)
            memcpy(row_at(target, rect, y), first, (size_t)rect.w * sizeof *first);
        return;
    }
    uint64_t over = spread(pixel);
    for (int y = 0; y < rect.h; y++) {
        uint32_t *row = row_at(target, rect, y);
        for (int x = 0; x < rect.w; x++)
            row[x] = blend(over, alpha, row[x]);
    }
}

// A row of the mask. Most of it is empty or full: eight such bytes go at once.
static void mask_row(uint32_t *row, const uint8_t *mask, int width, rgba color) {
    uint32_t alpha = color & 0xFF, pixel = opaque_pixel(color);
    uint64_t over = spread(pixel), eight;
    for (int x = 0; x < width;) {
        if (width - x >= 8) {
            memcpy(&eight, mask + x, sizeof eight);
            if (eight == 0) {
                x += 8;
                continue;
            }
            if (eight == UINT64_MAX && alpha == 255) {
                for (int i = 0; i < 8; i++)
                    row[x + i] = pixel;
                x += 8;
                continue;
            }
        }
        int end = width - x >= 8 ? x + 8 : width;
        for (; x < end; x++)
            if (mask[x])
                row[x] = blend(over, (uint32_t)divide_by_255(mask[x] * alpha), row[x]);
    }
}

void pixels_mask(const struct pixels *target, struct rect rect, const uint8_t *mask,
                 int mask_pitch_bytes, rgba color) {
    if (rect.w <= 0 || (color & 0xFF) == 0)
        return;
    for (int y = 0; y < rect.h; y++)
        mask_row(row_at(target, rect, y), mask + (size_t)y * (size_t)mask_pitch_bytes, rect.w,
                 color);
}
