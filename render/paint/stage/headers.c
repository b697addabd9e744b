// The headers: which token a column belongs to. While columns are about as wide as
// words, every header shows its token; a long word borrows room from its short
// neighbours, so the prompt can be read as a sentence. Narrower columns put their
// headers on two lines in turn, with a stem down to the column. Narrower still, the
// prompt is one band that says how many tokens it is, and of the answer only the
// newest token is named.
//
// Nothing moves later: the prompt's headers depend on the prompt alone, an answer
// token's only on those before it.
#include "render/paint/parts.h"

#include "compute/base/figures.h"
#include "compute/base/num.h"
#include "compute/base/words.h"

#include <math.h>

enum { RELAX_ROUNDS = 24, BAND_BYTES = 80 };

struct headers {
    struct cmdlist *out;
    const struct paint *paint;
    const struct layout *layout;
    const struct view *view;
    int px;     // font size of all headers that have room for it
    int pad_px; // beside the text inside a chip
};

// How a chip looks: its accent, and the part of it that is lit, from top to bottom.
struct chip {
    struct rect rect;
    enum theme_color accent; // where it is lit
    enum theme_color edge, ink;
    int lit_from_ppm, lit_to_ppm;
    const struct view_token *token;
    const char *words; // instead of the token's name
};

// Header i exists: the token is known to the view and the layout.
static int header_count(const struct headers *h) {
    return clamp_int(min_int(h->view->headers, h->view->token_count), 0, h->layout->input.columns);
}

static struct chip chip_of(const struct headers *h, int column, struct rect rect) {
    const struct view_pass *pass = &h->view->pass;
    const struct view_token *token = &h->view->tokens[column];
    struct chip chip = {
        .rect = rect,
        .accent = column < h->layout->input.prompt_tokens ? COLOR_PREFILL : COLOR_DECODE,
        .ink = token->is_framing ? COLOR_QUIET : COLOR_INK,
        .token = token,
    };
    chip.edge = token->is_framing ? COLOR_LINE : chip.accent;
    bool is_in_pass = pass->active && column >= pass->first_column &&
                      column < pass->first_column + pass->column_count;
    if (!is_in_pass)
        return chip;
    // The embedding pours in, the output stage lets it run out: both downwards.
    bool is_output = pass->stage > h->layout->input.layers;
    chip.lit_from_ppm = is_output ? clamp_ppm(pass->progress_ppm) : 0;
    chip.lit_to_ppm = pass->stage == 0 ? clamp_ppm(pass->progress_ppm) : VIEW_PPM;
    return chip;
}

static void put_text(const struct headers *h, const struct chip *chip, enum theme_color color) {
    struct rect rect = chip->rect;
    rect.x += h->pad_px / 2;
    rect.w -= h->pad_px;
    struct paint_label label = {rect, ALIGN_CENTER, FACE_WORDS, h->px,
                                paint_color(h->paint, color)};
    if (chip->words)
        paint_put(h->out, h->paint, label, chip->words);
    else
        paint_token(h->out, h->paint, label, chip->token);
}

static bool clip_rows(const struct headers *h, struct rect rect, int top, int bottom) {
    if (top >= bottom)
        return false;
    cmdlist_clip(h->out, (struct rect){rect.x, rect.y + top, rect.w, bottom - top});
    return true;
}

// The lit part of a chip, with the pixels that its two edges are in.
static void light(const struct headers *h, const struct chip *chip, int radius) {
    rgba accent = paint_color(h->paint, chip->accent);
    struct paint_edge from = paint_edge_at(chip->rect.h, chip->lit_from_ppm);
    struct paint_edge to = paint_edge_at(chip->rect.h, chip->lit_to_ppm);
    int first = from.whole_px + (from.part_ppm > 0);
    if (from.part_ppm > 0 && clip_rows(h, chip->rect, from.whole_px, first))
        cmdlist_round(h->out, chip->rect, radius, theme_fade(accent, VIEW_PPM - from.part_ppm));
    if (clip_rows(h, chip->rect, first, to.whole_px))
        cmdlist_round(h->out, chip->rect, radius, accent);
    if (to.part_ppm > 0 && clip_rows(h, chip->rect, to.whole_px, to.whole_px + 1))
        cmdlist_round(h->out, chip->rect, radius, theme_fade(accent, to.part_ppm));
}

// A chip with its text. Text over the lit part is set in another colour, cut
// exactly where the light ends.
static void paint_chip(const struct headers *h, struct chip chip) {
    int radius = clamp_int(chip.rect.h / 6, 2, h->layout->unit_px * 7 / 10 + 1);
    int stroke = clamp_int(2 * h->layout->stroke_px / 3, 1, CMD_MAX_STROKE_PX);
    bool is_dark = chip.lit_from_ppm >= chip.lit_to_ppm;
    bool is_full = chip.lit_from_ppm == 0 && chip.lit_to_ppm == VIEW_PPM;
    rgba accent = paint_color(h->paint, chip.accent), edge = paint_color(h->paint, chip.edge);
    cmdlist_round(h->out, chip.rect, radius, is_full ? accent : paint_color(h->paint, COLOR_PANEL));
    if (is_full) {
        put_text(h, &chip, COLOR_ON_ACCENT);
        return;
    }
    if (is_dark) {
        cmdlist_ring(h->out, chip.rect, radius, stroke, edge);
        put_text(h, &chip, chip.ink);
        return;
    }
    light(h, &chip, radius);
    int from = paint_edge_at(chip.rect.h, chip.lit_from_ppm).whole_px;
    int to = paint_edge_at(chip.rect.h, chip.lit_to_ppm).whole_px;
    if (clip_rows(h, chip.rect, 0, from))
        put_text(h, &chip, chip.ink);
    if (clip_rows(h, chip.rect, from, to))
        put_text(h, &chip, COLOR_ON_ACCENT);
    if (clip_rows(h, chip.rect, to, chip.rect.h))
        put_text(h, &chip, chip.ink);
    cmdlist_clip(h->out, (struct rect){0});
    cmdlist_ring(h->out, chip.rect, radius, stroke, edge);
}

static void paint_vacant(const struct headers *h, struct rect rect) {
    int radius = clamp_int(rect.h / 6, 2, h->layout->unit_px * 7 / 10 + 1);
    cmdlist_ring(h->out, rect, radius, h->layout->hair_px, paint_color(h->paint, COLOR_LINE));
}

// The column's token if it is known by now, else an empty place for it.
static void paint_header(const struct headers *h, int column, struct rect rect) {
    if (column < header_count(h))
        paint_chip(h, chip_of(h, column, rect));
    else
        paint_vacant(h, rect);
}

static int gap_of(const struct headers *h, int column) {
    return column < h->layout->input.prompt_tokens ? h->layout->prompt_gap_px
                                                   : h->layout->answer_gap_px;
}

// Width a column's header wants, gap included.
static int need_px(const struct headers *h, int column, int px) {
    return paint_token_width(h->paint, &h->view->tokens[column], px) + h->pad_px +
           gap_of(h, column);
}

// --- every header, on one line ---

// Boundaries between the prompt's headers: as near to their columns as the words
// allow. False when some word still lacks room.
static bool relax(int *edges, const int *needs, int count, int most_px) {
    int home[LAYOUT_MAX_HEADERS + 1];
    for (int i = 0; i <= count; i++)
        home[i] = edges[i];
    bool is_settled = false;
    for (int round = 0; round < RELAX_ROUNDS && !is_settled; round++) {
        is_settled = true;
        for (int i = 0; i < count; i++) {
            int lack = needs[i] - (edges[i + 1] - edges[i]);
            if (lack <= 0)
                continue;
            is_settled = false;
            int left = i == 0 ? 0 : i == count - 1 ? lack : (lack + 1) / 2;
            int right = i == count - 1 ? 0 : i == 0 ? lack : (lack + 1) / 2;
            if (i > 0)
                edges[i] = clamp_int(edges[i] - left, home[i] - most_px, home[i] + most_px);
            if (i < count - 1)
                edges[i + 1] =
                    clamp_int(edges[i + 1] + right, home[i + 1] - most_px, home[i + 1] + most_px);
        }
    }
    return is_settled;
}

// Chooses the largest size, then the widest padding, at which the whole prompt fits
// and fills `edges`, in px, [0 .. prompt].
static void settle_prompt(struct headers *h, int *edges) {
    int prompt = h->layout->input.prompt_tokens;
    int known = min_int(header_count(h), prompt);
    int floor_px = h->layout->header_floor_px, large_px = h->px;
    int unit_px = h->layout->unit_px;
    const struct {
        int px, pad_px;
    } tries[] = {{large_px, 2 * unit_px},
                 {large_px, unit_px},
                 {(large_px + floor_px + 1) / 2, unit_px},
                 {floor_px, unit_px * 3 / 4},
                 {floor_px, unit_px / 4}};
    int most_px = h->layout->prompt_width_px / prompt * 9 / 20;
    for (size_t s = 0; s < sizeof tries / sizeof tries[0]; s++) {
        int needs[LAYOUT_MAX_HEADERS] = {0};
        h->px = tries[s].px;
        h->pad_px = tries[s].pad_px;
        for (int i = 0; i <= prompt; i++)
            edges[i] = layout_column_x(h->layout, i);
        for (int i = 0; i < known; i++)
            needs[i] = need_px(h, i, tries[s].px);
        if (relax(edges, needs, prompt, most_px))
            return;
    }
}

static struct rect lower_line(const struct headers *h, int x, int end) {
    const struct layout *layout = h->layout;
    return (struct rect){x, layout->header.y + layout->header.h - layout->header_line_px, end - x,
                         layout->header_line_px};
}

static void paint_listed_prompt(struct headers *h) {
    int edges[LAYOUT_MAX_HEADERS + 1];
    settle_prompt(h, edges);
    for (int i = 0; i < h->layout->input.prompt_tokens; i++)
        paint_header(h, i, lower_line(h, edges[i], edges[i + 1] - h->layout->prompt_gap_px));
}

// Answer headers: a long word pushes to the right only, into what is still empty.
static void paint_listed_answer(struct headers *h) {
    const struct layout *layout = h->layout;
    if (layout->headers != HEADERS_TEXT) {
        // Nothing to agree with: a size at which words of five letters fit.
        int answers = layout->input.columns - layout->input.prompt_tokens;
        int column_px = (layout->grid.w - layout->prompt_width_px) / answers;
        h->px = clamp_int(column_px * 10 / 34, layout->floor_px, layout->token_px);
    }
    int columns = layout->input.columns, known = header_count(h);
    int edge = layout_column_x(layout, layout->input.prompt_tokens);
    for (int i = layout->input.prompt_tokens; i < columns; i++) {
        int home = layout_column_x(layout, i + 1);
        int most = home + (home - layout_column_x(layout, i)) * 3 / 5;
        int next = home;
        if (i < known && i + 1 < columns)
            next = clamp_int(edge + need_px(h, i, h->px), home, most);
        paint_header(h, i, lower_line(h, edge, next - layout->answer_gap_px));
        edge = next;
    }
}

// --- on two lines in turn ---

struct stagger {
    int from, to; // columns that share the space of that many columns
};

static bool is_upper(struct stagger s, int column) {
    return (column - s.from) % 2 == 0;
}

// The most a chip may be wide: nearly two columns; on the lower line the stems of
// the upper one pass beside it, and the outermost have a neighbour on one side.
static int most_px(const struct headers *h, struct stagger s, int column) {
    int width = layout_column_x(h->layout, column + 1) - layout_column_x(h->layout, column);
    bool is_outermost = column == s.from || column == s.to - 1;
    int apart = 2 * h->layout->hair_px + (is_upper(s, column) ? 0 : 4);
    return (is_outermost ? width * 3 / 2 : 2 * width) - apart;
}

// The largest size at which all known headers fit in the most they may have.
static void settle_staggered(struct headers *h, struct stagger s) {
    int floor_px = h->layout->header_floor_px, large_px = h->px;
    const int sizes[] = {large_px, (large_px + floor_px + 1) / 2, floor_px, floor_px};
    int known = min_int(header_count(h), s.to);
    for (int size = 0; size < 4; size++) {
        bool fits = true;
        h->px = sizes[size];
        h->pad_px = h->layout->unit_px * (4 - size) / 4;
        for (int i = s.from; i < known && fits; i++)
            fits = need_px(h, i, h->px) - gap_of(h, i) <= most_px(h, s, i);
        if (fits)
            return;
    }
}

static struct rect staggered_rect(const struct headers *h, struct stagger s, int column) {
    const struct layout *layout = h->layout;
    int left = layout_column_x(layout, s.from);
    int right = layout_column_x(layout, s.to) - gap_of(h, column);
    int x = layout_column_x(layout, column);
    int own = layout_column_x(layout, column + 1) - x - gap_of(h, column);
    int width = own;
    if (column < header_count(h))
        width =
            clamp_int(need_px(h, column, h->px) - gap_of(h, column), own, most_px(h, s, column));
    width = min_int(width, right - left);
    struct rect rect = lower_line(h, 0, max_int(width, own));
    rect.x = clamp_int(x + own / 2 - rect.w / 2, left, right - rect.w);
    if (is_upper(s, column))
        rect.y = layout->header.y;
    return rect;
}

static void paint_stem(const struct headers *h, struct rect chip, int column) {
    const struct layout *layout = h->layout;
    int x = layout_column_x(layout, column), next = layout_column_x(layout, column + 1);
    int middle = x + (next - x - gap_of(h, column)) / 2;
    int width = 2 * layout->hair_px, top = chip.y + chip.h;
    bool is_prompt = column < layout->input.prompt_tokens;
    cmdlist_fill(
        h->out,
        (struct rect){middle - width / 2, top, width, layout->header.y + layout->header.h - top},
        paint_color(h->paint, is_prompt ? COLOR_PREFILL : COLOR_DECODE));
}

static void paint_staggered(struct headers *h, int from, int to) {
    struct stagger s = {from, to};
    int known = header_count(h);
    if (from == 0) {
        settle_staggered(h, s);
    } else if (h->layout->headers != HEADERS_STAGGERED) {
        // Words to come are not known: the size at which most fit.
        h->px = h->layout->header_floor_px;
        h->pad_px = h->layout->unit_px * 3 / 4;
    }
    for (int i = from; i < to; i++) {
        struct rect rect = staggered_rect(h, s, i);
        if (i < known && is_upper(s, i))
            paint_stem(h, rect, i);
        paint_header(h, i, rect);
    }
}

// --- only the newest ---

// How many times as wide as a prompt's column an answer's is drawn; 1 = alike.
static double times_wider(const struct layout *layout) {
    int prompt = layout->input.prompt_tokens, answers = layout->input.columns - prompt;
    double prompt_px = (double)layout->prompt_width_px / prompt;
    double times =
        answers > 0 ? (layout->grid.w - layout->prompt_width_px) / prompt_px / answers : 1;
    return times >= 9.95 ? floor(times + 0.5) : floor(10 * times + 0.5) / 10;
}

static int count_framing(const struct headers *h) {
    int count = 0;
    for (int i = 0; i < min_int(header_count(h), h->layout->input.prompt_tokens); i++)
        count += h->view->tokens[i].is_framing;
    return count;
}

// "300 prompt tokens", shorter where there is less room; how many of them a chat format added,
// and where the answer's columns are drawn wider than the prompt's, it says so.
static const char *band_text(const struct headers *h, char out[BAND_BYTES], int room_px) {
    static const char *const FORMS[2][4] = {
        {"stage.prompt_framed", "stage.prompt_tokens", "stage.tokens", "stage.count"},
        {"stage.framed_narrow", "stage.prompt_narrow", "stage.tokens_narrow", "stage.narrow"}};
    int framing = count_framing(h);
    struct figure count = figure_count(h->layout->input.prompt_tokens, false);
    double times = times_wider(h->layout);
    for (int form = framing > 0 ? 0 : 1; form < 4; form++) {
        words_say(out, BAND_BYTES, FORMS[times > 1][form], "count", count.text, "times",
                  figure_number(times).text, "framing", figure_count(framing, false).text, NULL);
        if (text_width_px(h->paint->text, FACE_WORDS, h->layout->floor_px, out) <= room_px)
            break;
    }
    return out;
}

// Under the band: which of its columns are the user's, in its accent, and which a chat format added.
static void paint_framing(const struct headers *h, struct rect band) {
    int tall = clamp_int(h->layout->unit_px / 2, 2, band.h), y = band.y + band.h - tall;
    int count = min_int(header_count(h), h->layout->input.prompt_tokens);
    for (int from = 0, to; from < count; from = to) {
        bool is_framing = h->view->tokens[from].is_framing;
        for (to = from + 1; to < count && h->view->tokens[to].is_framing == is_framing;)
            to++;
        int x = layout_column_x(h->layout, from), end = layout_column_x(h->layout, to);
        struct rect part = {x, y, min_int(end, band.x + band.w) - x, tall};
        cmdlist_fill(h->out, part, paint_color(h->paint, is_framing ? COLOR_LINE : COLOR_PREFILL));
    }
}

static void paint_band(const struct headers *h) {
    struct rect rect =
        lower_line(h, h->layout->grid.x, h->layout->grid.x + h->layout->prompt_width_px);
    rect.w -= h->layout->hair_px + 1;
    char text[BAND_BYTES];
    band_text(h, text, rect.w - h->pad_px);
    struct chip chip = chip_of(h, 0, rect);
    chip.words = text;
    if (count_framing(h) > 0) {
        chip.rect.h -= h->layout->unit_px;
        paint_framing(h, rect);
    }
    paint_chip(h, chip);
}

// A strip that grows with the fed-back tokens, and the newest one by name, unless names would
// follow one another too quickly for the eye.
static void paint_newest(const struct headers *h) {
    const struct layout *layout = h->layout;
    int prompt = layout->input.prompt_tokens, known = header_count(h);
    int left = layout_column_x(layout, prompt), right = layout->grid.x + layout->grid.w;
    struct rect strip = lower_line(h, left, right);
    int tall = clamp_int(layout->unit_px, 2, strip.h);
    strip.y += strip.h - tall;
    strip.h = tall;
    cmdlist_ring(h->out, strip, 0, layout->hair_px, paint_color(h->paint, COLOR_LINE));
    if (known <= prompt)
        return;
    strip.w = layout_column_x(layout, known) - left;
    cmdlist_fill(h->out, strip, paint_color(h->paint, COLOR_DECODE));
    if (h->view->pass.calm_ppm > VIEW_PPM / 2)
        return;
    int newest = known - 1;
    int width = clamp_int(need_px(h, newest, h->px), layout->header_line_px, right - left);
    int middle = (layout_column_x(layout, newest) + layout_column_x(layout, known)) / 2;
    struct rect rect = lower_line(h, 0, width);
    rect.x = clamp_int(middle - width / 2, left, right - width);
    paint_chip(h, chip_of(h, newest, rect));
}

void paint_headers(struct cmdlist *out, const struct paint *paint) {
    const struct layout *layout = paint->layout;
    struct headers headers = {
        .out = out,
        .paint = paint,
        .layout = layout,
        .view = paint->view,
        .px = layout->token_px,
        .pad_px = layout->unit_px,
    };
    int prompt = layout->input.prompt_tokens, columns = layout->input.columns;
    if (layout->headers == HEADERS_TEXT)
        paint_listed_prompt(&headers);
    else if (layout->headers == HEADERS_STAGGERED)
        paint_staggered(&headers, 0, prompt);
    else
        paint_band(&headers);
    if (columns == prompt)
        return;
    if (layout->answer_headers == HEADERS_TEXT)
        paint_listed_answer(&headers);
    else if (layout->answer_headers == HEADERS_STAGGERED)
        paint_staggered(&headers, prompt, columns);
    else
        paint_newest(&headers);
}
