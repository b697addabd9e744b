// What is around the stage: title or headline, the four stages as pills, the
// stamp that says where the numbers come from and how much they are slowed, the
// caption, the key hints. The stamp is part of every frame, so that no still and
// no film loses it.
#include "render/paint/parts.h"

#include "compute/base/words.h"

static void paint_pills(struct cmdlist *out, const struct paint *paint) {
    static const struct {
        const char *key;
        enum theme_color color;
    } PILLS[] = {
        [VIEW_PROMPT] = {"stage.prompt", COLOR_INK},
        [VIEW_PREFILL] = {"stage.prefill", COLOR_PREFILL},
        [VIEW_DECODE] = {"stage.decode", COLOR_DECODE},
        [VIEW_DONE] = {"stage.done", COLOR_INK},
    };
    const struct layout *layout = paint->layout;
    for (int i = 0; i < 4; i++) {
        struct rect rect = layout->pills[i];
        bool is_now = i == (int)paint->view->stage;
        if (rect.w <= 0)
            return;
        cmdlist_round(out, rect, rect.h / 2,
                      paint_color(paint, is_now ? PILLS[i].color : COLOR_PANEL));
        if (!is_now)
            cmdlist_ring(out, rect, rect.h / 2, layout->hair_px, paint_color(paint, COLOR_LINE));
        paint_put(out, paint,
                  (struct paint_label){rect, ALIGN_CENTER, is_now ? FACE_STRONG : FACE_WORDS,
                                       layout->label_px,
                                       paint_color(paint, is_now ? COLOR_ON_ACCENT : COLOR_QUIET)},
                  word(PILLS[i].key));
    }
}

// The first form of the origin that fits at the smallest size, else the last.
static const char *origin_that_fits(const struct paint *paint, int room_px) {
    const struct view *view = paint->view;
    for (int i = 0; i + 1 < VIEW_ORIGINS; i++)
        if (text_width_px(paint->text, FACE_WORDS, paint->layout->floor_px, view->origin[i]) <=
            room_px)
            return view->origin[i];
    return view->origin[VIEW_ORIGINS - 1];
}

static void paint_stamp(struct cmdlist *out, const struct paint *paint) {
    const struct layout *layout = paint->layout;
    // In a narrow Show the origin is left, under the headline.
    bool is_left = layout->origin.x == layout->margin_px;
    paint_put(out, paint,
              (struct paint_label){layout->origin, is_left ? ALIGN_LEFT : ALIGN_RIGHT, FACE_WORDS,
                                   layout->label_px, paint_tone(paint, paint->view->origin_tone)},
              origin_that_fits(paint, layout->origin.w));
    paint_put(out, paint,
              (struct paint_label){layout->rate, ALIGN_RIGHT, FACE_STRONG, layout->matter_px,
                                   paint_color(paint, COLOR_INK)},
              paint->view->rate);
}

// The note, or its short form where the caption would be cut beside it even at the least type.
static const char *note_beside(const struct paint *paint, int row_px) {
    const struct view *view = paint->view;
    const struct layout *layout = paint->layout;
    int used = text_width_px(paint->text, FACE_WORDS, layout->floor_px, view->caption) +
               text_width_px(paint->text, FACE_WORDS, layout->small_px, view->note) +
               2 * layout->unit_px;
    return view->note_short[0] && used > row_px ? view->note_short : view->note;
}

// Caption left, note right; the note takes what it needs, the caption the rest.
static void paint_caption(struct cmdlist *out, const struct paint *paint) {
    const struct layout *layout = paint->layout;
    struct rect row = layout->caption, left = row;
    if (paint->view->note[0] != '\0') {
        struct rect half = {row.x + row.w / 2, row.y, row.w - row.w / 2, row.h};
        left.w -= paint_put(out, paint,
                            (struct paint_label){half, ALIGN_RIGHT, FACE_WORDS, layout->small_px,
                                                 paint_color(paint, COLOR_QUIET)},
                            note_beside(paint, row.w));
        left.w -= 2 * layout->unit_px;
    }
    paint_put(out, paint,
              (struct paint_label){left, ALIGN_LEFT, FACE_WORDS, layout->body_px,
                                   paint_tone(paint, paint->view->caption_tone)},
              paint->view->caption);
}

void paint_frame(struct cmdlist *out, const struct paint *paint) {
    const struct layout *layout = paint->layout;
    bool is_show = layout->input.mode == LAYOUT_SHOW;
    paint_put(out, paint,
              (struct paint_label){layout->title, ALIGN_LEFT, FACE_STRONG, layout->title_px,
                                   paint_color(paint, COLOR_INK)},
              is_show ? paint->view->headline : paint->view->title);
    paint_pills(out, paint);
    paint_stamp(out, paint);
    paint_caption(out, paint);
}

void paint_keys(struct cmdlist *out, const struct paint *paint, const struct paint_key *keys,
                int key_count) {
    const struct layout *layout = paint->layout;
    struct rect row = layout->footer;
    int px = layout->floor_px, unit = layout->unit_px;
    int x = row.x;
    for (int i = 0; i < key_count && row.h > 0; i++) {
        int cap_w = text_width_px(paint->text, FACE_MONO, px, keys[i].key) + 3 * unit / 2;
        cap_w = cap_w < row.h ? row.h : cap_w;
        int does_w = text_width_px(paint->text, FACE_WORDS, px, keys[i].does);
        int end = x + cap_w + unit + does_w;
        if (end > row.x + row.w)
            return;
        struct rect cap = {x, row.y, cap_w, row.h};
        cmdlist_round(out, cap, unit / 2, paint_color(paint, COLOR_PANEL));
        cmdlist_ring(out, cap, unit / 2, layout->hair_px, paint_color(paint, COLOR_LINE));
        struct paint_label label = {cap, ALIGN_CENTER, FACE_MONO, px,
                                    paint_color(paint, COLOR_INK)};
        paint_text(out, paint->text, &label, keys[i].key);
        struct rect does = {x + cap_w + unit * 4 / 5, row.y, does_w, row.h};
        label =
            (struct paint_label){does, ALIGN_LEFT, FACE_WORDS, px, paint_color(paint, COLOR_QUIET)};
        paint_text(out, paint->text, &label, keys[i].does);
        x = end + 2 * unit;
    }
}
