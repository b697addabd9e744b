// The read-outs: a quiet label, a large value, a small note. A value is split into
// its number, set in digits of equal width, and its unit, smaller, so that the number
// is found at once and nothing moves while it changes.
#include "render/paint/parts.h"

#include "compute/base/figures.h"
#include "compute/base/num.h"

#include <string.h>

// Bytes of the leading number: digits, point, comma, signs, an em dash.
static size_t number_bytes(const char *value) {
    size_t i = strspn(value, "0123456789.,+-");
    static const char *const SIGNS[] = {SIGN_DASH, SIGN_MINUS};
    for (size_t s = 0; i == 0 && s < sizeof SIGNS / sizeof SIGNS[0]; s++) {
        size_t bytes = strlen(SIGNS[s]);
        if (strncmp(value, SIGNS[s], bytes) == 0)
            i = bytes + strspn(value + bytes, "0123456789.,");
    }
    return i;
}

// Number and unit side by side on one baseline. The pair is shrunk together, so
// that the unit never disappears before the number does.
static void paint_value(struct cmdlist *out, const struct paint *paint, struct rect row,
                        const struct view_readout *readout) {
    const struct layout *layout = paint->layout;
    char number[sizeof readout->value];
    size_t bytes = number_bytes(readout->value);
    memcpy(number, readout->value, bytes);
    number[bytes] = '\0';
    const char *unit = readout->value + bytes + strspn(readout->value + bytes, " ");
    bool is_absent = unit[0] == '\0' && (unsigned char)number[0] >= 0x80;
    rgba color = paint_tone(paint, is_absent ? (uint8_t)TONE_QUIET : readout->tone);
    int px = layout->value_px, number_w = 0, unit_px = 0, gap = 0;
    for (;; px -= (px + 9) / 10) {
        unit_px = max_int(px * 5 / 8, layout->floor_px);
        gap = number[0] && unit[0] ? px / 5 : 0;
        number_w = text_width_px(paint->text, FACE_DIGITS, px, number);
        int unit_w = text_width_px(paint->text, FACE_STRONG, unit_px, unit);
        if (number_w + gap + unit_w <= row.w || px <= layout->floor_px)
            break;
    }
    px = max_int(px, layout->floor_px);
    struct paint_label label = {row, ALIGN_LEFT, FACE_DIGITS, px, color};
    number_w = paint_text(out, paint->text, &label, number);
    // The unit shares the number's baseline.
    int drop = (text_cap_px(paint->text, FACE_DIGITS, px) -
                text_cap_px(paint->text, FACE_STRONG, unit_px)) /
               2;
    label.rect.x += number_w + gap;
    label.rect.w -= number_w + gap;
    label.rect.y += drop;
    label.face = FACE_STRONG;
    label.px = unit_px;
    paint_text(out, paint->text, &label, unit);
}

static void paint_readout(struct cmdlist *out, const struct paint *paint, struct rect all,
                          const struct view_readout *readout) {
    const struct layout *layout = paint->layout;
    int small_h = layout_line_px(layout->small_px);
    struct rect row = {all.x, all.y, all.w, small_h};
    struct paint_label label = {row, ALIGN_LEFT, FACE_WORDS, layout->small_px,
                                paint_color(paint, COLOR_QUIET)};
    int width = paint_put(out, paint, label, readout->label);
    struct rect value = {all.x, all.y + small_h, all.w, all.h - small_h};
    label.color = paint_color(paint, COLOR_INK);
    if (layout->is_note_beside) {
        label.rect.x += width + layout->unit_px;
        label.rect.w -= width + layout->unit_px;
    } else {
        label.rect.y = all.y + all.h - small_h;
        value.h -= small_h;
    }
    paint_put(out, paint, label, readout->note);
    paint_value(out, paint, value, readout);
}

void paint_readouts(struct cmdlist *out, const struct paint *paint) {
    const struct view *view = paint->view;
    int count = min_int(view->readout_count, paint->layout->readout_count);
    for (int i = 0; i < count; i++)
        paint_readout(out, paint, paint->layout->readouts[i], &view->readouts[i]);
}
