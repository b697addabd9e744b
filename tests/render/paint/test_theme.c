// The palettes: the design's colours to the bit, every text readable on every
// ground it stands on, shapes still to be told apart in a lit room.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/paint/theme.h"

#include <math.h>
#include <string.h>

static double channel(rgba color, int shift) {
    double c = (double)((color >> shift) & 0xFF) / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

// Contrast when `flare` of white falls on the screen from the room.
static double contrast(rgba a, rgba b, double flare) {
    double la = 0.2126 * channel(a, 24) + 0.7152 * channel(a, 16) + 0.0722 * channel(a, 8);
    double lb = 0.2126 * channel(b, 24) + 0.7152 * channel(b, 16) + 0.0722 * channel(b, 8);
    double high = fmax(la, lb) + flare, low = fmin(la, lb) + flare;
    return (high + 0.05) / (low + 0.05);
}

struct pair {
    enum theme_color text, ground;
};

// Every text on every ground that a painter puts it on.
static const struct pair PAIRS[] = {
    {COLOR_INK, COLOR_GROUND},        {COLOR_QUIET, COLOR_GROUND},
    {COLOR_PREFILL, COLOR_GROUND},    {COLOR_DECODE, COLOR_GROUND},
    {COLOR_READ, COLOR_GROUND},       {COLOR_INK, COLOR_PANEL},
    {COLOR_QUIET, COLOR_PANEL},       {COLOR_ON_ACCENT, COLOR_INK},
    {COLOR_ON_ACCENT, COLOR_PREFILL}, {COLOR_ON_ACCENT, COLOR_DECODE},
    {COLOR_ON_ACCENT, COLOR_READ},
};

static void every_text_has_a_contrast_of_at_least_4_5(void **state) {
    (void)state;
    for (int t = 0; t < THEME_COUNT; t++) {
        const struct theme *theme = theme_find((enum theme_id)t);
        int least = t == THEME_CONTRAST ? 700 : 450;
        for (size_t p = 0; p < sizeof PAIRS / sizeof PAIRS[0]; p++) {
            int got =
                theme_contrast_x100(theme->colors[PAIRS[p].text], theme->colors[PAIRS[p].ground]);
            if (got < least)
                fail_msg("%s: color %d on %d: %d", theme->name, (int)PAIRS[p].text,
                         (int)PAIRS[p].ground, got);
        }
    }
}

static void accents_are_shapes_to_be_seen_in_a_lit_room(void **state) {
    (void)state;
    static const enum theme_color ACCENTS[] = {COLOR_PREFILL, COLOR_DECODE, COLOR_READ};
    for (int t = 0; t < THEME_COUNT; t++) {
        const struct theme *theme = theme_find((enum theme_id)t);
        for (int a = 0; a < 3; a++)
            assert_true(contrast(theme->colors[ACCENTS[a]], theme->colors[COLOR_GROUND], 0.1) >=
                        3.0);
    }
}

// A saved cell differs from an empty one, and a cell being read from a saved one.
static void fills_differ_from_the_ground_and_from_each_other(void **state) {
    (void)state;
    static const enum theme_color ACCENTS[] = {COLOR_PREFILL, COLOR_DECODE};
    for (int t = 0; t < THEME_COUNT; t++) {
        const struct theme *theme = theme_find((enum theme_id)t);
        rgba ground = theme->colors[COLOR_GROUND];
        for (int a = 0; a < 2; a++) {
            rgba accent = theme->colors[ACCENTS[a]];
            rgba saved = theme_blend(accent, theme->saved_alpha, ground);
            rgba done = theme_blend(accent, theme->done_alpha, ground);
            assert_true(theme_contrast_x100(saved, ground) >= 150);
            assert_true(theme_contrast_x100(done, saved) >= 150);
        }
    }
}

static void contrast_is_that_of_wcag(void **state) {
    (void)state;
    assert_int_equal(theme_contrast_x100(0x000000FF, 0xFFFFFFFF), 2100);
    assert_int_equal(theme_contrast_x100(0xFFFFFFFF, 0x000000FF), 2100);
    assert_int_equal(theme_contrast_x100(0x123456FF, 0x123456FF), 100);
    assert_int_equal(theme_contrast_x100(0x777777FF, 0xFFFFFFFF), 447);
    for (uint32_t c = 0; c < 256; c += 5) {
        rgba a = (c << 24) | ((255 - c) << 16) | (c / 2 << 8) | 0xFF;
        double want = contrast(a, 0x808080FF, 0) * 100;
        assert_true(fabs(theme_contrast_x100(a, 0x808080FF) - want) <= 1.0);
    }
}

static void the_colours_are_the_designs(void **state) {
    (void)state;
    static const struct {
        enum theme_id theme;
        enum theme_color color;
        rgba value;
    } WANT[] = {
        {THEME_DARK, COLOR_GROUND, 0x0E1116FF},      {THEME_DARK, COLOR_PANEL, 0x161C24FF},
        {THEME_DARK, COLOR_INK, 0xEAF0F6FF},         {THEME_DARK, COLOR_QUIET, 0x9DA9B7FF},
        {THEME_DARK, COLOR_PREFILL, 0x56B4E9FF},     {THEME_DARK, COLOR_DECODE, 0xF0A830FF},
        {THEME_DARK, COLOR_READ, 0x2CC295FF},        {THEME_PROJECTOR, COLOR_GROUND, 0xFFFFFFFF},
        {THEME_PROJECTOR, COLOR_INK, 0x10151CFF},    {THEME_PROJECTOR, COLOR_PREFILL, 0x0072B2FF},
        {THEME_PROJECTOR, COLOR_DECODE, 0xB35900FF}, {THEME_PROJECTOR, COLOR_READ, 0x00735CFF},
    };
    for (size_t i = 0; i < sizeof WANT / sizeof WANT[0]; i++)
        assert_int_equal(theme_find(WANT[i].theme)->colors[WANT[i].color], WANT[i].value);
    for (int t = 0; t < THEME_COUNT; t++)
        for (int c = 0; c < COLOR_COUNT; c++)
            assert_int_equal(theme_find((enum theme_id)t)->colors[c] & 0xFF, 0xFF);
}

static void an_unknown_theme_is_the_dark_one(void **state) {
    (void)state;
    assert_ptr_equal(theme_find((enum theme_id)99), theme_find(THEME_DARK));
}

static void blending_ends_at_both_colours_and_rounds_between(void **state) {
    (void)state;
    assert_int_equal(theme_blend(0x102030FF, 0, 0xA0B0C0FF), 0xA0B0C0FF);
    assert_int_equal(theme_blend(0x102030FF, 255, 0xA0B0C0FF), 0x102030FF);
    assert_int_equal(theme_blend(0xFFFFFFFF, 128, 0x000000FF), 0x808080FF);
    assert_int_equal(theme_blend(0x0A0A0AFF, 128, 0x050505FF), 0x080808FF); // 7.51
    assert_int_equal(theme_fade(0x10203080, 1000000), 0x10203080);
    assert_int_equal(theme_fade(0x10203080, 500000), 0x10203040);
    assert_int_equal(theme_fade(0x102030FF, 0), 0x10203000);
    assert_int_equal(theme_fade(0x102030FF, -5), 0x10203000);
    assert_int_equal(theme_fade(0x102030FF, 2000000), 0x102030FF);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_text_has_a_contrast_of_at_least_4_5),
        cmocka_unit_test(accents_are_shapes_to_be_seen_in_a_lit_room),
        cmocka_unit_test(fills_differ_from_the_ground_and_from_each_other),
        cmocka_unit_test(contrast_is_that_of_wcag),
        cmocka_unit_test(the_colours_are_the_designs),
        cmocka_unit_test(an_unknown_theme_is_the_dark_one),
        cmocka_unit_test(blending_ends_at_both_colours_and_rounds_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
