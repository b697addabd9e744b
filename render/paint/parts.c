// The few helpers that all painters share: aligned text, names of tokens, tones, easing, moving
// edges.
#include "render/paint/parts.h"

#include "compute/base/num.h"

rgba paint_color(const struct paint *paint, enum theme_color color) {
    return paint->theme->colors[color];
}

rgba paint_tone(const struct paint *paint, uint8_t tone) {
    static const enum theme_color COLORS[] = {
        [TONE_INK] = COLOR_INK,       [TONE_QUIET] = COLOR_QUIET, [TONE_PREFILL] = COLOR_PREFILL,
        [TONE_DECODE] = COLOR_DECODE, [TONE_READ] = COLOR_READ,
    };
    bool is_known = tone < sizeof COLORS / sizeof COLORS[0];
    return paint_color(paint, is_known ? COLORS[tone] : COLOR_INK);
}

int paint_smooth_ppm(int ppm) {
    int64_t t = clamp_ppm(ppm);
    return (int)(t * t / VIEW_PPM * (3 * (int64_t)VIEW_PPM - 2 * t) / VIEW_PPM);
}

int paint_between(int from, int to, int ppm) {
    int64_t way = (int64_t)(to - from) * clamp_ppm(ppm);
    int64_t half = way < 0 ? -VIEW_PPM / 2 : VIEW_PPM / 2;
    return from + (int)((way + half) / VIEW_PPM);
}

// Words, or hex, or signs.
static enum text_face token_face(uint8_t look) {
    return look == TOKEN_BYTES ? FACE_MONO : look == TOKEN_BLANK ? FACE_TOKEN : FACE_WORDS;
}

struct paint_edge paint_edge_at(int length_px, int ppm) {
    int64_t at = (int64_t)length_px * clamp_ppm(ppm);
    return (struct paint_edge){(int)(at / VIEW_PPM), (int)(at % VIEW_PPM)};
}

// The size at which the text fits: as asked, half-way, least. Few sizes, so that
// few fonts are open.
static int fitting_px(struct text *text, const struct paint_label *label, int least_px,
                      const char *utf8) {
    int least = min_int(least_px, label->px);
    const int sizes[] = {label->px, (label->px + least + 1) / 2};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (text_width_px(text, label->face, sizes[i], utf8) <= label->rect.w)
            return sizes[i];
    return least;
}

// Shrinks the text down to least_px before it is cut.
static int put(struct cmdlist *out, struct text *text, const struct paint_label *label,
               int least_px, const char *utf8) {
    if (utf8[0] == '\0' || label->rect.w <= 0)
        return 0;
    int px = fitting_px(text, label, least_px, utf8);
    int width = text_width_px(text, label->face, px, utf8);
    char cut[TEXT_MAX_BYTES];
    if (width > label->rect.w) {
        width = text_fit(text, cut, sizeof cut, label->face, px, utf8, label->rect.w);
        utf8 = cut;
    }
    int slack = label->rect.w - width;
    int x = label->rect.x + (label->align == ALIGN_LEFT     ? 0
                             : label->align == ALIGN_CENTER ? slack / 2
                                                            : slack);
    int cap = text_cap_px(text, label->face, px);
    struct cmd cmd = {
        .face = (uint8_t)label->face,
        .stroke = (uint16_t)px,
        .color = label->color,
        .rect = {x, label->rect.y + (label->rect.h + cap) / 2, width,
                 text_ascent_px(text, label->face, px)},
    };
    cmdlist_text(out, &cmd, utf8);
    return width;
}

int paint_text(struct cmdlist *out, struct text *text, const struct paint_label *label,
               const char *utf8) {
    return put(out, text, label, label->px, utf8);
}

int paint_put(struct cmdlist *out, const struct paint *paint, struct paint_label label,
              const char *utf8) {
    return put(out, paint->text, &label, paint->layout->floor_px, utf8);
}

// Width of the mark of a leading space, with the gap behind it.
static int lead_px(const struct view_token *token, int px) {
    return token->leading_space ? max_int(px * 2 / 5, 4) : 0;
}

static void put_lead(struct cmdlist *out, const struct paint *paint,
                     const struct paint_label *label, int x, int width, bool is_under) {
    int line = max_int(label->px / 14, 1), tall = max_int(label->px / 4, 3);
    int cap = text_cap_px(paint->text, label->face, label->px);
    int base = label->rect.y + (label->rect.h + cap) / 2 + line + (is_under ? tall : 0);
    cmdlist_fill(out, (struct rect){x, base - tall, line, tall}, label->color);
    cmdlist_fill(out, (struct rect){x + line, base - line, width - 2 * line, line}, label->color);
    cmdlist_fill(out, (struct rect){x + width - line, base - tall, line, tall}, label->color);
}

int paint_token_width(const struct paint *paint, const struct view_token *token, int px) {
    return lead_px(token, px) +
           text_width_px(paint->text, token_face(token->look), px, token->text);
}

void paint_token(struct cmdlist *out, const struct paint *paint, struct paint_label label,
                 const struct view_token *token) {
    int least = min_int(paint->layout->floor_px, label.px);
    const int sizes[] = {label.px, (label.px + least + 1) / 2, least};
    label.face = token_face(token->look);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        label.px = sizes[i];
        if (paint_token_width(paint, token, label.px) <= label.rect.w)
            break;
    }
    int lead = lead_px(token, label.px), mark = lead - max_int(label.px / 10, 1);
    // Where even the smallest name has no room for it, the mark stands under the first letter.
    if (paint_token_width(paint, token, label.px) > label.rect.w)
        lead = 0;
    label.rect.x += lead;
    label.rect.w -= lead;
    label.align = ALIGN_CENTER;
    int width = paint_text(out, paint->text, &label, token->text);
    int x = label.rect.x + (label.rect.w - width) / 2 - lead;
    if (token->leading_space && width > 0)
        put_lead(out, paint, &label, x, mark, lead == 0);
}
