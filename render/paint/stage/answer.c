// The answer line: one tile a token, wrapped, the oldest line leaving when there
// is no room. Tokens of one word form one shape, parted by a hairline; a token that
// begins with a space stands apart. So the text reads as text and its tokens can
// still be counted, those that left by the mark beside them. Where a tile stands depends only on the tokens before it.
#include "render/paint/parts.h"

#include "compute/base/figures.h"
#include "compute/base/num.h"
#include "compute/base/words.h"

// The pen that sets tiles from left to right and line by line.
struct pen {
    const struct paint *paint;
    int x, line;
    int width;     // of the answer's rectangle
    int apart;     // between words
    int pad;       // beside the text
    bool is_start; // nothing on this line yet
};

// Where the pen put one tile.
struct place {
    int x, w, line;
    bool is_joined; // shares its left border with the tile before it
};

static struct pen pen_of(const struct paint *paint) {
    const struct layout *layout = paint->layout;
    return (struct pen){
        .paint = paint,
        .width = layout->answer.w,
        .apart = layout->unit_px,
        .pad = layout->answer_px * 9 / 20,
        .is_start = true,
    };
}

// True if answer token `i` continues the word before it.
static bool is_continued(const struct view *view, int answer) {
    if (answer == 0)
        return false;
    const struct view_token *token = &view->tokens[view->prompt_tokens + answer];
    bool is_apart = token->look == TOKEN_CONTROL || token[-1].look == TOKEN_CONTROL;
    return !token->leading_space && !is_apart;
}

static struct place pen_put(struct pen *pen, int width, bool is_joined) {
    bool is_touching = is_joined && !pen->is_start;
    int gap = pen->is_start ? 0 : is_touching ? -pen->paint->layout->stroke_px : pen->apart;
    width = width < pen->width ? width : pen->width;
    if (!pen->is_start && pen->x + gap + width > pen->width) {
        pen->line++;
        pen->x = 0;
        gap = 0;
        is_touching = false;
    }
    struct place place = {pen->x + gap, width, pen->line, is_touching};
    pen->x = place.x + width;
    pen->is_start = false;
    return place;
}

static struct place pen_put_token(struct pen *pen, int answer) {
    const struct view *view = pen->paint->view;
    const struct view_token *token = &view->tokens[view->prompt_tokens + answer];
    int text_w = paint_token_width(pen->paint, token, pen->paint->layout->answer_px);
    int least = pen->paint->layout->answer_tile_px * 3 / 4;
    int width = text_w + 2 * pen->pad;
    return pen_put(pen, width < least ? least : width, is_continued(view, answer));
}

static struct rect rect_of(const struct layout *layout, const struct place *place, int first_line) {
    return (struct rect){layout->answer.x + place->x,
                         layout->answer.y + (place->line - first_line) * layout->answer_line_px,
                         place->w, layout->answer_tile_px};
}

static int known_answers(const struct view *view) {
    return max_int(0, view->token_count - view->prompt_tokens);
}

void paint_flow_make(struct paint_flow *flow, const struct paint *paint) {
    const struct view *view = paint->view;
    const struct layout *layout = paint->layout;
    struct pen pen = pen_of(paint);
    int known = known_answers(view);
    struct place last = {.w = 1}, next = {.w = 1};
    for (int i = 0; i < known; i++)
        last = pen_put_token(&pen, i);
    int last_line = pen.line;
    bool has_next = !view->is_finished && known < view->answer_limit;
    if (has_next) {
        next = pen_put(&pen, 8 * layout->unit_px, false);
        last_line = next.line;
    }
    int first_line = clamp_int(last_line - layout->answer_lines + 1, 0, last_line);
    *flow = (struct paint_flow){
        .first_line = first_line,
        .has_next = has_next,
        .next = rect_of(layout, &next, first_line),
        .last = rect_of(layout, &last, first_line),
    };
}

static enum theme_color accent_of(const struct view_token *token) {
    return token->is_prefill ? COLOR_PREFILL : COLOR_DECODE;
}

struct tile {
    struct rect rect;
    const struct view_token *token;
    bool is_joined; // the word began before it
    bool goes_on;   // the word goes on after it
};

// The outline of a whole word, as far as this tile has part in it: the shape
// reaches past the tile, out of sight, where the word goes on.
static void paint_outline(struct cmdlist *out, const struct paint *paint, const struct tile *tile) {
    const struct layout *layout = paint->layout;
    struct rect shape = tile->rect;
    int radius = clamp_int(shape.h / 5, 2, layout->unit_px), stroke = layout->stroke_px;
    int reach = radius + stroke;
    shape.x -= tile->is_joined ? reach : 0;
    shape.w += (tile->is_joined ? reach : 0) + (tile->goes_on ? reach : 0);
    bool is_quiet = tile->token->look == TOKEN_CONTROL;
    rgba ground = paint_color(paint, is_quiet ? COLOR_GROUND : COLOR_PANEL);
    rgba accent = paint_color(paint, is_quiet ? COLOR_LINE : accent_of(tile->token));
    bool is_part = tile->is_joined || tile->goes_on;
    if (is_part)
        cmdlist_clip(out, tile->rect);
    cmdlist_round(out, shape, radius, ground);
    cmdlist_ring(out, shape, radius, stroke, accent);
    if (is_part)
        cmdlist_clip(out, (struct rect){0});
}

static void paint_tile(struct cmdlist *out, const struct paint *paint, const struct tile *tile) {
    const struct layout *layout = paint->layout;
    struct rect rect = tile->rect;
    int stroke = layout->stroke_px;
    bool is_quiet = tile->token->look == TOKEN_CONTROL;
    paint_outline(out, paint, tile);
    if (tile->is_joined) {
        // The border between two tokens of a word: thin, and not full height.
        struct rect part = {rect.x + stroke / 2, rect.y + rect.h / 4, layout->hair_px,
                            rect.h - rect.h / 2};
        cmdlist_fill(out, part, paint_color(paint, accent_of(tile->token)));
    }
    rgba color = paint_color(paint, is_quiet ? COLOR_QUIET : COLOR_INK);
    struct paint_label label = {rect_inset(rect, stroke, 0), ALIGN_CENTER, FACE_WORDS,
                                layout->answer_px, color};
    paint_token(out, paint, label, tile->token);
}

static void paint_slot(struct cmdlist *out, const struct paint *paint, struct rect rect) {
    cmdlist_ring(out, rect, clamp_int(rect.h / 5, 2, paint->layout->unit_px),
                 2 * paint->layout->hair_px, paint_color(paint, COLOR_LINE));
}

// Returns how many tokens have left the picture.
static int paint_tiles(struct cmdlist *out, const struct paint *paint,
                       const struct paint_flow *flow) {
    const struct view *view = paint->view;
    struct pen pen = pen_of(paint);
    int known = known_answers(view), gone = 0;
    struct place place = {0};
    if (known > 0)
        place = pen_put_token(&pen, 0);
    for (int i = 0; i < known; i++) {
        struct place next = {0};
        if (i + 1 < known)
            next = pen_put_token(&pen, i + 1);
        struct tile tile = {
            .rect = rect_of(paint->layout, &place, flow->first_line),
            .token = &view->tokens[view->prompt_tokens + i],
            .is_joined = place.is_joined,
            .goes_on = next.is_joined,
        };
        if (place.line >= flow->first_line)
            paint_tile(out, paint, &tile);
        else
            gone++;
        place = next;
    }
    return gone;
}

// Says how many tokens stood above the first line: on the second line, or instead of the label.
static void paint_gone(struct cmdlist *out, const struct paint *paint, struct paint_label label,
                       int gone) {
    const char *const forms[] = {"stage.answer_above", "stage.above"};
    char said[40];
    label.rect.y += paint->layout->answer_lines > 1 ? paint->layout->answer_line_px : 0;
    label.face = FACE_WORDS;
    for (int i = 0; i < 2; i++) {
        WORDS_SAY(said, forms[i], "count", figure_count(gone, false).text);
        if (text_width_px(paint->text, label.face, paint->layout->floor_px, said) <= label.rect.w)
            break;
    }
    paint_put(out, paint, label, said);
}

void paint_answer(struct cmdlist *out, const struct paint *paint, const struct paint_flow *flow) {
    const struct layout *layout = paint->layout;
    struct paint_label label = {layout->answer_label, ALIGN_LEFT, FACE_STRONG, layout->label_px,
                                paint_color(paint, COLOR_QUIET)};
    if (flow->has_next)
        paint_slot(out, paint, flow->next);
    int gone = paint_tiles(out, paint, flow);
    if (gone == 0 || layout->answer_lines > 1)
        paint_put(out, paint, label, word("stage.answer"));
    if (gone > 0)
        paint_gone(out, paint, label, gone);
}
