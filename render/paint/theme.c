// Palettes and contrast. The colours are the design's; a third palette serves
// eyes and rooms that need more. Pure tables and arithmetic: nothing here knows
// what is drawn. Accent colours are for shapes on GROUND or PANEL and for text on
// GROUND; text on PANEL is INK or QUIET (the projector's orange is too weak there).
#include "render/paint/theme.h"

#include "compute/base/num.h"

#include <math.h>

#define OPAQUE(rgb) (((rgba)(rgb) << 8) | 0xFFu)

static const struct theme THEMES[THEME_COUNT] = {
    [THEME_DARK] =
        {
            .name = "dark",
            .colors =
                {
                    [COLOR_GROUND] = OPAQUE(0x0E1116),
                    [COLOR_PANEL] = OPAQUE(0x161C24),
                    [COLOR_LINE] = OPAQUE(0x2B3440),
                    [COLOR_INK] = OPAQUE(0xEAF0F6),
                    [COLOR_QUIET] = OPAQUE(0x9DA9B7),
                    [COLOR_PREFILL] = OPAQUE(0x56B4E9),
                    [COLOR_DECODE] = OPAQUE(0xF0A830),
                    [COLOR_READ] = OPAQUE(0x2CC295),
                    [COLOR_ON_ACCENT] = OPAQUE(0x0E1116),
                },
            .saved_alpha = 97,
            .done_alpha = 204,
        },
    [THEME_PROJECTOR] =
        {
            .name = "projector",
            .colors =
                {
                    [COLOR_GROUND] = OPAQUE(0xFFFFFF),
                    [COLOR_PANEL] = OPAQUE(0xF1F4F8),
                    [COLOR_LINE] = OPAQUE(0x9AA7B6),
                    [COLOR_INK] = OPAQUE(0x10151C),
                    [COLOR_QUIET] = OPAQUE(0x46525F),
                    [COLOR_PREFILL] = OPAQUE(0x0072B2),
                    [COLOR_DECODE] = OPAQUE(0xB35900),
                    [COLOR_READ] = OPAQUE(0x00735C),
                    [COLOR_ON_ACCENT] = OPAQUE(0xFFFFFF),
                },
            .saved_alpha = 97,
            .done_alpha = 204,
        },
    [THEME_CONTRAST] =
        {
            .name = "contrast",
            .colors =
                {
                    [COLOR_GROUND] = OPAQUE(0x000000),
                    [COLOR_PANEL] = OPAQUE(0x101010),
                    [COLOR_LINE] = OPAQUE(0x9FB0C2),
                    [COLOR_INK] = OPAQUE(0xFFFFFF),
                    [COLOR_QUIET] = OPAQUE(0xDDE5EE),
                    [COLOR_PREFILL] = OPAQUE(0x6CC8FF),
                    [COLOR_DECODE] = OPAQUE(0xFFC23D),
                    [COLOR_READ] = OPAQUE(0x4DF0BD),
                    [COLOR_ON_ACCENT] = OPAQUE(0x000000),
                },
            .saved_alpha = 122,
            .done_alpha = 224,
        },
};

const struct theme *theme_find(enum theme_id id) {
    bool is_known = (int)id >= 0 && id < THEME_COUNT;
    return &THEMES[is_known ? id : THEME_DARK];
}

// One sRGB channel to linear light, as WCAG 2 defines it.
static double linear(uint32_t channel) {
    double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(rgba color) {
    return 0.2126 * linear(color >> 24) + 0.7152 * linear((color >> 16) & 0xFF) +
           0.0722 * linear((color >> 8) & 0xFF);
}

int theme_contrast_x100(rgba a, rgba b) {
    double la = luminance(a), lb = luminance(b);
    double light = la > lb ? la : lb, dark = la > lb ? lb : la;
    return (int)((light + 0.05) / (dark + 0.05) * 100.0);
}

rgba theme_blend(rgba over, uint8_t alpha, rgba under) {
    rgba out = 0xFF;
    for (int shift = 8; shift <= 24; shift += 8) {
        uint32_t o = (over >> shift) & 0xFF, u = (under >> shift) & 0xFF;
        uint32_t mixed = (o * alpha + u * (255u - alpha) + 127u) / 255u;
        out |= mixed << shift;
    }
    return out;
}

rgba theme_fade(rgba color, int ppm) {
    int64_t kept = clamp_ppm(ppm);
    rgba alpha = (rgba)(((int64_t)(color & 0xFF) * kept + WHOLE_PPM / 2) / WHOLE_PPM);
    return (color & 0xFFFFFF00u) | alpha;
}
