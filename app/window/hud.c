// See hud.h.
#include "app/window/hud.h"

#include "app/window/keys.h"
#include "compute/base/figures.h"
#include "compute/base/num.h"
#include "compute/base/words.h"
#include "render/paint/wrap.h"

#include <stdio.h>
#include <string.h>

static rgba color(const struct paint *paint, enum theme_color which) {
    return paint->theme->colors[which];
}

static void panel(struct cmdlist *out, const struct paint *paint, struct rect rect) {
    int unit = paint->layout->unit_px;
    cmdlist_round(out, rect, unit, color(paint, COLOR_PANEL));
    cmdlist_ring(out, rect, unit, unit / 5 + 1, color(paint, COLOR_QUIET));
}

static void centred(struct cmdlist *out, const struct paint *paint, struct rect rect,
                    enum text_face face, int px, const char *text) {
    struct paint_label label = {
        .rect = rect,
        .align = ALIGN_CENTER,
        .face = face,
        .px = px,
        .color = color(paint, COLOR_INK),
    };
    paint_text(out, paint->text, &label, text);
}

static void put_bar(struct cmdlist *out, const struct paint *paint, struct rect bar, int permille) {
    cmdlist_fill(out, bar, color(paint, COLOR_LINE));
    bar.w = (int)((int64_t)bar.w * permille / 1000);
    cmdlist_fill(out, bar, color(paint, COLOR_PREFILL));
}

// A toast, or that a model is being opened beside the run shown; with how much of it is read.
static void put_toast(struct cmdlist *out, const struct hud *hud, const struct paint *paint) {
    const struct layout *layout = paint->layout;
    const char *text = hud->toast && hud->toast[0] ? hud->toast : word("session.opening");
    int pad = 2 * layout->unit_px;
    int width = text_width_px(paint->text, FACE_STRONG, layout->label_px, text) + 2 * pad;
    int room = layout->input.width_px - 2 * layout->margin_px;
    int height = 2 * layout->label_px;
    width = min_int(width, room);
    struct rect rect = {
        .x = layout->input.width_px - layout->margin_px - width,
        .y = layout->input.height_px - height -
             (layout->input.is_presented ? layout->margin_y_px : layout->unit_px / 2),
        .w = width,
        .h = height,
    };
    panel(out, paint, rect);
    rect.x += pad;
    rect.w -= 2 * pad;
    centred(out, paint, rect, FACE_STRONG, layout->label_px, text);
    if (hud->loaded_permille < 0 || hud->message)
        return;
    int line = max_int(layout->unit_px / 3, 2);
    rect.y += rect.h - 2 * line;
    put_bar(out, paint, (struct rect){rect.x, rect.y, rect.w, line}, hud->loaded_permille);
}

static void put_message(struct cmdlist *out, const struct hud *hud, const struct paint *paint) {
    const struct layout *layout = paint->layout;
    struct rect all = {0, 0, layout->input.width_px, layout->input.height_px};
    cmdlist_fill(out, all, color(paint, COLOR_GROUND));
    all.x = layout->margin_px;
    all.w -= 2 * layout->margin_px;
    centred(out, paint, all, FACE_WORDS, layout->title_px, hud->message);
    if (hud->loaded_permille < 0)
        return;
    int width = all.w / 3, height = max_int(layout->unit_px, 4);
    struct rect bar = {all.x + width, layout->input.height_px / 2 + 2 * layout->title_px, width,
                       height};
    put_bar(out, paint, bar, hud->loaded_permille);
}

// One line of help: the key at the left, what it does beside it.
static void help_line(struct cmdlist *out, const struct paint *paint, struct rect rect,
                      int key_width, const char *key, const char *does) {
    int px = max_int(rect.h * 3 / 5, paint->layout->floor_px);
    struct paint_label label = {
        .rect = {rect.x, rect.y, key_width, rect.h},
        .align = ALIGN_LEFT,
        .face = FACE_MONO,
        .px = px,
        .color = color(paint, COLOR_READ),
    };
    paint_text(out, paint->text, &label, key);
    label.rect = (struct rect){rect.x + key_width, rect.y, rect.w - key_width, rect.h};
    label.face = FACE_WORDS;
    label.color = color(paint, COLOR_INK);
    paint_text(out, paint->text, &label, does);
}

// Keys in two columns, in a tall picture in one, then each read-out with its formula. Within
// the margins, no text below the layout's floor.
static void put_help(struct cmdlist *out, const struct paint *paint) {
    const struct layout *layout = paint->layout;
    struct keys_line key;
    int closing = 0; // the last line
    while (keys_line(&key, closing + 1))
        closing++;
    int columns = layout->input.height_px > layout->input.width_px ? 1 : 2;
    int half = (closing + columns - 1) / columns;
    int formulas = paint->view->readout_count;
    int rows = half + formulas + 3;
    int room_h = layout->input.height_px - 2 * layout->margin_y_px;
    int row_h = min_int(room_h / rows, max_int(4 * layout->unit_px, layout->floor_px * 8 / 5 + 1));
    int width = min_int(layout->input.width_px - 2 * layout->margin_px, row_h * 44);
    struct rect box = {(layout->input.width_px - width) / 2,
                       (layout->input.height_px - row_h * rows) / 2, width, row_h * rows};
    panel(out, paint, box);
    int pad = row_h;
    int column_w = (width - (columns + 1) * pad) / columns, key_w = row_h * 26 / 5;
    for (int i = 0; i < closing && keys_line(&key, i); i++) {
        struct rect line = {box.x + pad + (i / half) * (column_w + pad),
                            box.y + row_h / 2 + (i % half) * row_h, column_w, row_h};
        help_line(out, paint, line, key_w, key.keys, key.does);
    }
    for (int i = 0; i < formulas; i++) {
        const struct view_readout *readout = &paint->view->readouts[i];
        struct rect line = {box.x + pad, box.y + row_h * (half + 1 + i), width - 2 * pad, row_h};
        help_line(out, paint, line, key_w, readout->label, readout->formula);
    }
    struct rect line = {box.x + pad, box.y + row_h * (half + formulas + 1) + row_h / 2,
                        width - 2 * pad, row_h};
    if (keys_line(&key, closing))
        help_line(out, paint, line, key_w, key.keys, key.does);
}

// The token under the pointer, large, when columns are too narrow for header texts.
static void put_lens(struct cmdlist *out, const struct hud *hud, const struct paint *paint) {
    const struct layout *layout = paint->layout;
    const struct view *view = paint->view;
    struct rect grid = layout->grid;
    bool is_inside = hud->pointer_x >= grid.x && hud->pointer_x < grid.x + grid.w &&
                     hud->pointer_y >= layout->header.y && hud->pointer_y < grid.y + grid.h;
    if (!is_inside || layout->headers != HEADERS_NEWEST)
        return;
    int column = 0;
    while (column + 1 < view->headers && layout_column_x(layout, column + 1) <= hud->pointer_x)
        column++;
    if (column >= view->token_count || hud->pointer_x >= layout_column_x(layout, view->headers))
        return;
    char text[64];
    snprintf(text, sizeof text, "%d  %s", column + 1, view->tokens[column].text);
    int px = layout->body_px, pad = layout->unit_px;
    int width = text_width_px(paint->text, FACE_TOKEN, px, text) + 2 * pad;
    int rightmost = layout->input.width_px - layout->margin_px - width;
    int x = clamp_int(hud->pointer_x - width / 2, layout->margin_px, rightmost);
    struct rect box = {x, layout->header.y, width, layout->header.h};
    panel(out, paint, box);
    box.x += pad;
    box.w -= 2 * pad;
    centred(out, paint, box, FACE_TOKEN, px, text);
}

// The glossary's text for the word under the pointer, at the foot of the panel or, if the
// word is there, at its top.
static void put_term(struct cmdlist *out, const struct hud *hud, const struct paint *paint) {
    const struct layout *layout = paint->layout;
    int pad = layout->unit_px, px = layout->small_px;
    struct rect box = layout->panel;
    struct wrap_style style = {FACE_WORDS, px, box.w - 2 * pad};
    int line_h = px * 4 / 3, lines = wrap_count(paint->text, &style, hud->term_text, 16) + 1;
    int height = lines * line_h + 2 * pad;
    bool is_low = hud->pointer_y > box.y + box.h - height - line_h;
    if (!is_low)
        box.y += box.h - height;
    box.h = height;
    panel(out, paint, box);
    struct paint_label label = {
        .rect = {box.x + pad, box.y + pad, style.width_px, line_h},
        .align = ALIGN_LEFT,
        .face = FACE_STRONG,
        .px = px,
        .color = color(paint, COLOR_INK),
    };
    paint_text(out, paint->text, &label, hud->term);
    label.face = FACE_WORDS;
    struct wrap_line line = {0};
    while (label.rect.y + 2 * line_h <= box.y + box.h &&
           wrap_next(&line, paint->text, &style, hud->term_text, line.next)) {
        char text[WRAP_LINE_BYTES + 1];
        wrap_copy(text, hud->term_text, line.from, line.from + line.bytes);
        label.rect.y += line_h;
        paint_text(out, paint->text, &label, text);
    }
}

void hud_paint(struct cmdlist *out, const struct hud *hud, const struct paint *paint) {
    if (hud->is_blank) {
        struct rect all = {0, 0, paint->layout->input.width_px, paint->layout->input.height_px};
        cmdlist_fill(out, all, 0x000000FF);
        return;
    }
    if (hud->message)
        put_message(out, hud, paint);
    else if (hud->has_lens)
        put_lens(out, hud, paint);
    if (hud->term && hud->term_text && paint->layout->panel.w > 0)
        put_term(out, hud, paint);
    if (hud->is_help)
        put_help(out, paint);
    bool is_opening = hud->loaded_permille >= 0 && !hud->message;
    if ((hud->toast && hud->toast[0]) || is_opening)
        put_toast(out, hud, paint);
}

static void rate_text(char *out, size_t bytes, const struct stage_state *state,
                      const struct run *run) {
    struct playhead_rate rate = state->playhead.rate;
    int64_t screen_ns = playhead_screen_ns(rate, run_end_ns(run));
    struct figure takes = figure_time(screen_ns, screen_ns);
    const char *time = takes.text;
    if (playhead_rate_is_real_time(rate))
        words_say(out, bytes, "toast.real_time", "time", time, NULL);
    else
        words_say(out, bytes, "toast.rate", "num", figure_count(rate.num, false).text, "den",
                  figure_count(rate.den, false).text, "time", time, NULL);
}

static void lengths_text(char *out, size_t bytes, const struct stage_state *state,
                         const struct run *run) {
    int prompt = state->prompt_tokens ? state->prompt_tokens : run->info.prompt_tokens;
    if (state->answer_tokens)
        words_say(out, bytes, "toast.lengths", "prompt", figure_count(prompt, false).text, "answer",
                  figure_count(state->answer_tokens, false).text, NULL);
    else
        words_say(out, bytes, "toast.lengths_to_end", "prompt", figure_count(prompt, false).text,
                  NULL);
}

void hud_toast_text(char *out, size_t bytes, const struct stage_state *state,
                    const struct run *run) {
    static const char *const plain[] = {
        [TOAST_ONE_CLOCK] = "toast.one_clock",   [TOAST_MEASURING] = "toast.measuring",
        [TOAST_AT_START] = "toast.at_start",     [TOAST_AT_END] = "toast.at_end",
        [TOAST_NO_LENGTHS] = "toast.no_lengths", [TOAST_NO_PROMPT] = "toast.no_prompt",
        [TOAST_NO_LESSON] = "toast.no_lesson",   [TOAST_GUESS_FIRST] = "toast.guess_first",
        [TOAST_LAST_STEP] = "toast.last_step",   [TOAST_STILL_MEASURING] = "toast.still_measuring",
    };
    static const char *const mode_keys[] = {
        [MODE_STAGE] = "toast.mode_stage",
        [MODE_SHOW] = "toast.mode_show",
        [MODE_LESSON] = "toast.mode_lesson",
        [MODE_LAB] = "toast.mode_lab",
    };
    static const char *const theme_keys[] = {
        [THEME_DARK] = "toast.theme_dark",
        [THEME_PROJECTOR] = "toast.theme_projector",
        [THEME_CONTRAST] = "toast.theme_contrast",
    };
    char step[16];
    snprintf(step, sizeof step, "%+d", state->text_step);
    const char *key = NULL;
    switch (state->toast) {
    case TOAST_RATE:
        rate_text(out, bytes, state, run);
        return;
    case TOAST_LENGTHS:
        lengths_text(out, bytes, state, run);
        return;
    case TOAST_CLOCK:
        key = state->clock == CLOCK_MEASURED ? "toast.measured" : "toast.lesson";
        break;
    case TOAST_COUNTING:
        key = state->counting[state->clock] == RUN_ENGINE ? "toast.engine" : "toast.charged";
        break;
    case TOAST_MODE:
        key = mode_keys[state->mode];
        break;
    case TOAST_CALM:
        key = state->is_calm ? "toast.calm" : "toast.motion";
        break;
    case TOAST_THEME:
        key = theme_keys[state->theme];
        break;
    case TOAST_TEXT:
        key = "toast.text";
        break;
    default:
        key = plain[state->toast];
    }
    out[0] = '\0';
    if (key)
        words_say(out, bytes, key, "step", step, NULL);
}
