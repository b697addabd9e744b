// See color.h. Luma first, row by row; then chroma from pairs of rows: the two
// rows are added, the sum is filtered across. Red and blue travel together in the
// halves of one 32-bit word. Plain loops that compilers vectorise at -O3; on x86-64
// a second copy is compiled for AVX2 and chosen at run time. (By hand: the thread
// sanitizer dies of the compilers' own way, target_clones.)
#include "render/film/color.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#define WITH_AVX2 __attribute__((target("avx2")))
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2");
}
#else
#define WITH_AVX2
static bool has_avx2(void) {
    return false;
}
#endif
// Bodies are inlined into both copies, so that each is compiled twice.
#define IN_BOTH static inline __attribute__((always_inline))

// 16.16 fixed point: luma scaled by 219/255, chroma by 224/255. Kr and Kb are 0.2126 and
// 0.0722 in BT.709, 0.299 and 0.114 in BT.601. The luma row adds up to the scale, the
// chroma rows to 0, so that greys stay exactly grey.
struct weights {
    uint32_t y_r, y_g, y_b;
    uint32_t cb_r, cb_g, cr_g, cr_b; // taken off; blue in Cb, red in Cr weigh CHROMA_FULL
};
static const struct weights weights_of[] = {
    [COLOR_BT709] = {11966, 40254, 4064, 6596, 22188, 26145, 2639},
    [COLOR_BT601] = {16829, 33039, 6416, 9714, 19070, 24103, 4681},
};
enum {
    CHROMA_FULL = 28784,
    SHIFT = 16,
    TILE_PX = 512, // luma pixels filtered at a time
};

// What 8 weighted samples add up to is 8 times as large: 3 bits more to shift.
enum { CHROMA_SHIFT = SHIFT + 3 };

static const uint32_t y_offset = (16u << SHIFT) + (1u << (SHIFT - 1));
static const uint32_t chroma_offset = (128u << CHROMA_SHIFT) + (1u << (CHROMA_SHIFT - 1));
static const uint32_t red_blue = 0x00ff00ff;

// 0xAARRGGBB of pixel x. One 32-bit load: four byte loads would not vectorise.
IN_BOTH uint32_t pixel_at(const uint8_t *bgra, int x) {
    uint32_t p;
    memcpy(&p, bgra + (size_t)x * 4, sizeof p);
    return le32toh(p);
}

IN_BOTH void luma_row(uint8_t *restrict out, const uint8_t *restrict bgra, int width_px,
                      struct weights w) {
    for (int x = 0; x < width_px; x++) {
        uint32_t p = pixel_at(bgra, x);
        uint32_t y =
            w.y_r * (p >> 16 & 255) + w.y_g * (p >> 8 & 255) + w.y_b * (p & 255) + y_offset;
        out[x] = (uint8_t)(y >> SHIFT);
    }
}

// Two rows of source, one row of chroma, for pairs [first, first + pairs).
struct chroma_job {
    const uint8_t *upper, *lower;
    uint8_t *cb, *cr;
    int first, pairs;
    struct weights weights;
};

IN_BOTH void chroma_tile(const struct chroma_job *job) {
    uint32_t rb[TILE_PX + 2], g[TILE_PX + 2]; // [0] is the pixel left of the tile
    // Locals: bytes written through cb could be part of *job, for all a compiler
    // knows, and then it doesn't vectorise.
    int first_px = job->first * 2, pairs = job->pairs;
    const struct weights w = job->weights;
    const uint8_t *restrict upper = job->upper + (size_t)first_px * 4;
    const uint8_t *restrict lower = job->lower + (size_t)first_px * 4;
    for (int x = 0; x < 2 * pairs; x++) {
        uint32_t a = pixel_at(upper, x), b = pixel_at(lower, x);
        rb[x + 1] = (a & red_blue) + (b & red_blue);
        g[x + 1] = (a >> 8 & 255) + (b >> 8 & 255);
    }
    bool at_edge = first_px == 0; // left of the picture: its first pixel again
    uint32_t a = pixel_at(job->upper, at_edge ? 0 : first_px - 1);
    uint32_t b = pixel_at(job->lower, at_edge ? 0 : first_px - 1);
    rb[0] = (a & red_blue) + (b & red_blue);
    g[0] = (a >> 8 & 255) + (b >> 8 & 255);

    uint8_t *restrict cb = job->cb + job->first, *restrict cr = job->cr + job->first;
    for (int i = 0; i < pairs; i++) {
        uint32_t sum_rb = rb[2 * i] + 2 * rb[2 * i + 1] + rb[2 * i + 2];
        uint32_t green = g[2 * i] + 2 * g[2 * i + 1] + g[2 * i + 2];
        uint32_t red = sum_rb >> 16, blue = sum_rb & 0xffff;
        cb[i] = (uint8_t)((chroma_offset + CHROMA_FULL * blue - w.cb_r * red - w.cb_g * green) >>
                          CHROMA_SHIFT);
        cr[i] = (uint8_t)((chroma_offset + CHROMA_FULL * red - w.cr_g * green - w.cr_b * blue) >>
                          CHROMA_SHIFT);
    }
}

// The source of a conversion.
struct pixels {
    const uint8_t *bgra;
    int pitch_bytes, width_px, height_px;
    struct weights weights;
};

IN_BOTH void convert(const struct color_planes *out, const struct pixels *in) {
    int pairs = in->width_px / 2;
    for (int y = 0; y < in->height_px; y += 2) {
        const uint8_t *upper = in->bgra + (size_t)y * (size_t)in->pitch_bytes;
        const uint8_t *lower = upper + in->pitch_bytes;
        uint8_t *luma = out->y + (size_t)y * (size_t)out->y_pitch_bytes;
        luma_row(luma, upper, in->width_px, in->weights);
        luma_row(luma + out->y_pitch_bytes, lower, in->width_px, in->weights);
        struct chroma_job job = {
            .upper = upper,
            .lower = lower,
            .cb = out->cb + (size_t)(y / 2) * (size_t)out->cb_pitch_bytes,
            .cr = out->cr + (size_t)(y / 2) * (size_t)out->cr_pitch_bytes,
            .weights = in->weights,
        };
        for (job.first = 0; job.first < pairs; job.first += TILE_PX / 2) {
            int left = pairs - job.first;
            job.pairs = left < TILE_PX / 2 ? left : TILE_PX / 2;
            chroma_tile(&job);
        }
    }
}

WITH_AVX2 static void convert_avx2(const struct color_planes *out, const struct pixels *in) {
    convert(out, in);
}

static void convert_plain(const struct color_planes *out, const struct pixels *in) {
    convert(out, in);
}

void color_to_yuv420(const struct color_planes *out, enum color_matrix matrix, const uint8_t *bgra,
                     int pitch_bytes, int width_px, int height_px) {
    const struct pixels in = {bgra, pitch_bytes, width_px, height_px, weights_of[matrix]};
    if (has_avx2())
        convert_avx2(out, &in);
    else
        convert_plain(out, &in);
}

void color_row_to_rgb24(uint8_t *out, const uint8_t *bgra, int width_px) {
    for (int x = 0; x < width_px; x++) {
        out[3 * x + 0] = bgra[4 * x + 2];
        out[3 * x + 1] = bgra[4 * x + 1];
        out[3 * x + 2] = bgra[4 * x + 0];
    }
}
