// The arithmetic of the picture: bands from top to bottom, each as high as its
// text needs, and the grid takes the rest. When the text is so large that the grid
// would starve, first drip height is given up, then lines, then text size. What a
// few layers leave over makes the drip longer, then the gaps wider, so that there
// is no hole in the middle. Integers only; no fonts are asked, so widths of texts
// are estimates in em and the painters shrink or cut what does not fit.
#include "render/paint/layout.h"

#include "compute/base/num.h"
#include "compute/base/utf8.h"
#include "compute/base/words.h"

#include <stdint.h>
#include <string.h>

enum { LOWEST_STEP = -4, HIGHEST_STEP = 8, MOST = 1 << 20 };

// Sizes that are settled before any rectangle is: fonts, lines, gaps.
struct sizes {
    int width, height;
    int reference; // min_int(height, 0.75 * width)
    int margin_y;
    int stamp_line, title_line, pill, pill_width, pill_gap;
    int caption, header, header_lines, header_gap;
    int output, drip, tile, answer_line, lines;
    int playhead, bar, clock_labels, readouts_rows, readout, footer;
    int min_grid;
    int column_gap;       // between things side by side
    int panel, panel_gap; // width of the panel and what parts it from the stage
    int guess;
};

// The bands' gaps, in permille of the reference, from top to bottom.
enum gap {
    GAP_CAPTION,
    GAP_HEADER,
    GAP_GRID,
    GAP_OUTPUT,
    GAP_CLOCK,
    GAP_LABELS,
    GAP_READOUTS,
    GAP_FOOTER,
    GAP_COUNT
};
static const int GAPS[GAP_COUNT] = {
    [GAP_CAPTION] = 14, [GAP_HEADER] = 12, [GAP_GRID] = 7,      [GAP_OUTPUT] = 5,
    [GAP_CLOCK] = 12,   [GAP_LABELS] = 2,  [GAP_READOUTS] = 16, [GAP_FOOTER] = 12,
};
// Which of them grow when there is height to spare.
static const bool GAP_GROWS[GAP_COUNT] = {
    [GAP_CAPTION] = true, [GAP_CLOCK] = true, [GAP_READOUTS] = true, [GAP_FOOTER] = true};

static int part(int whole, int permille) {
    return (int)(((int64_t)whole * permille + 500) / 1000);
}

static int floor_of(const struct sizes *s) {
    return (min_int(s->width, s->height) + 49) / 50;
}

// A font of `permille` of the reference at the text step, never below the floor.
static int font(const struct sizes *s, int permille, int step) {
    return max_int(floor_of(s), part(part(s->reference, permille), 1000 + 80 * step));
}

int layout_line_px(int font_px) {
    return (font_px * 5 + 3) / 4;
}

static int em(int font_px, int tenths) {
    return font_px * tenths / 10;
}

// Font sizes per mille of the reference. Nothing is below 1/45 (22) but what the
// painters shrink to fit; what matters is 1/36 (28) or more.
struct type_scale {
    int small, label, body, matter, title, value, token, answer;
};
static const struct type_scale STAGE_TYPE = {.small = 23,
                                             .label = 25,
                                             .body = 27,
                                             .matter = 28,
                                             .title = 34,
                                             .value = 46,
                                             .token = 26,
                                             .answer = 31};
static const struct type_scale SHOW_TYPE = {.small = 25,
                                            .label = 27,
                                            .body = 29,
                                            .matter = 30,
                                            .title = 46,
                                            .value = 50,
                                            .token = 28,
                                            .answer = 34};

static void set_fonts(struct layout *l, struct sizes *s, int step) {
    const struct type_scale *type = l->input.mode == LAYOUT_SHOW ? &SHOW_TYPE : &STAGE_TYPE;
    l->floor_px = floor_of(s);
    l->header_floor_px = (s->reference + 49) / 50;
    l->small_px = font(s, type->small, step);
    l->label_px = font(s, type->label, step);
    l->body_px = font(s, type->body, step);
    l->matter_px = font(s, type->matter, step);
    l->title_px = font(s, type->title, step);
    l->value_px = font(s, type->value, step);
    l->token_px = font(s, type->token, step);
    l->answer_px = font(s, type->answer, step);
    l->stroke_px = clamp_int(part(s->reference, 3), 1, CMD_MAX_STROKE_PX);
    l->hair_px = max_int(1, part(s->reference, 1));
    bool is_safe = l->input.mode == LAYOUT_SHOW || l->input.is_presented;
    l->margin_px = is_safe ? part(s->width, 50) : part(s->reference, 37);
    l->margin_y_px = is_safe ? part(s->height, 50) : part(s->reference, 20);
}

static void set_sizes(const struct layout *l, struct sizes *s) {
    int r = s->reference;
    bool is_show = l->input.mode == LAYOUT_SHOW;
    s->margin_y = l->margin_y_px;
    s->stamp_line = layout_line_px(max_int(l->label_px, l->matter_px));
    s->title_line = layout_line_px(l->title_px);
    s->pill = layout_line_px(l->label_px) + part(r, 10);
    s->pill_width = em(l->label_px, 52);
    s->pill_gap = part(r, 14);
    s->caption = layout_line_px(l->body_px);
    s->header = layout_line_px(l->token_px) + part(r, 10);
    s->header_gap = part(r, 8);
    s->output = layout_line_px(l->small_px);
    s->drip = part(r, is_show ? 96 : 104);
    s->tile = layout_line_px(l->answer_px) + part(r, 10);
    s->answer_line = s->tile + part(r, 8);
    s->playhead = part(r, 9);
    s->bar = part(r, is_show ? 46 : 40);
    s->clock_labels = layout_line_px(l->small_px);
    s->footer = l->input.mode == LAYOUT_STAGE ? layout_line_px(l->small_px) + part(r, 6) : 0;
    s->guess = l->input.has_guess ? layout_line_px(l->small_px) : 0;
    s->min_grid = max_int(part(r, 150), l->input.layers);
    s->column_gap = part(r, 22);
}

// --- across ---

// What a line of text needs in tenths of an em, a character being 0.53 em. A
// panel shows at least the first number of characters at the smallest size, and is
// never wider than the second needs at body size: longer lines are hard to follow.
enum { LEAST_LINE_TENTHS = 138, LONGEST_LINE_TENTHS = 190 };

// The panel's share of the width: in a wide window 27 %, in one narrower than 3:2, where
// the same words have to stand in fewer columns of the same height, 32 %; between the
// two it goes evenly, so that a window being resized jumps nowhere.
enum { WIDE_PANEL_PERMILLE = 270, NARROW_PANEL_PERMILLE = 320 };

static int panel_permille(const struct sizes *s) {
    int shape = (int)((int64_t)s->width * 1000 / s->height);
    return clamp_int(NARROW_PANEL_PERMILLE - (shape - 1500) * 18 / 100, WIDE_PANEL_PERMILLE,
                     NARROW_PANEL_PERMILLE);
}

// Beside the stage whatever the shape: in a window narrower than 4:3 the reference
// follows the width, so that 26 characters stay within the panel's share of it.
static void set_panel(struct layout *l, struct sizes *s) {
    if (!l->input.has_panel)
        return;
    int pads = 2 * layout_panel_pad_px(l);
    int least = em(l->floor_px, LEAST_LINE_TENTHS) + pads;
    int most = em(l->body_px, LONGEST_LINE_TENTHS) + pads;
    s->panel = clamp_int(part(s->width, panel_permille(s)), least, max_int(least, most));
    s->panel_gap = part(s->reference, 20);
}

// Where the stage ends on the right.
static int stage_right(const struct layout *l, const struct sizes *s) {
    return s->width - l->margin_px - s->panel - s->panel_gap;
}

// A column this wide shows its token on one line, with a little help from its
// neighbours; 0.55 of it is enough on two lines in turn, beside a panel, where width is
// dear, 0.5. An answer's columns that are favoured over the prompt's get room for words
// on their own.
enum { READABLE_EM_TENTHS = 28, GENEROUS_EM_TENTHS = 38 };

static bool is_staggerable(const struct layout *l, int column_px, int readable_px) {
    return column_px * 20 >= readable_px * (l->input.has_panel ? 10 : 11);
}

// Splits the grid's width between prompt and answer and says how much of the
// headers can be shown. Equal columns are the truth of the cache and stay as long
// as they can be read; then the prompt is compressed in favour of the answer.
static void split_columns(struct layout *l) {
    int columns = l->input.columns, prompt = l->input.prompt_tokens;
    int answer = columns - prompt;
    int width = l->grid.w;
    int readable = em(l->floor_px, READABLE_EM_TENTHS);
    int64_t equal = (int64_t)width * answer / columns;
    int64_t share = equal;
    if (answer > 0 && !is_staggerable(l, width / columns, readable)) {
        int64_t most = max_int((int)equal, part(width, 600));
        share = (int64_t)answer * em(l->floor_px, GENEROUS_EM_TENTHS);
        share = share < equal ? equal : share > most ? most : share;
    }
    l->prompt_width_px = width - (int)share;
    int prompt_column = l->prompt_width_px / prompt;
    int answer_column = answer > 0 ? (int)share / answer : readable;
    bool can_list = columns <= LAYOUT_MAX_HEADERS;
    l->headers = !can_list || !is_staggerable(l, prompt_column, readable) ? HEADERS_NEWEST
                 : prompt_column < readable                               ? HEADERS_STAGGERED
                                                                          : HEADERS_TEXT;
    l->answer_headers = !can_list || !is_staggerable(l, answer_column, readable) ? HEADERS_NEWEST
                        : answer_column * 20 < readable * 19                     ? HEADERS_STAGGERED
                                                                                 : HEADERS_TEXT;
    // Equal columns look alike, whatever rounding does to one of them.
    if (share == equal || l->answer_headers > l->headers)
        l->answer_headers = l->headers;
}

// The gap beside a cell of this width or height.
static int cell_gap(const struct sizes *s, int size_px, int thinnest_px) {
    if (size_px < thinnest_px)
        return 0;
    return clamp_int(size_px / 13, 1, max_int(1, part(s->reference, 4)));
}

enum { THINNEST_COLUMN_PX = 5, THINNEST_ROW_PX = 5 };

// The column of layer labels. Beside a panel it is only as wide as "layer 12" needs at
// the floor: the grid needs the rest. Languages with a longer word get more.
static int labels_width(const struct layout *l) {
    static const int english_chars = 14; // "layer {number}"
    int layers = l->input.layers, tenths = layers < 10 ? 43 : layers < 100 ? 48 : 54;
    int longer = 6 * max_int(0, utf8_count(word("stage.layer")) - english_chars);
    return l->input.has_panel ? em(l->floor_px, tenths + longer) : em(l->small_px, 47 + longer);
}

static void place_columns(struct layout *l, struct sizes *s) {
    int gutter = labels_width(l) + part(s->reference, 8);
    l->labels.x = l->margin_px;
    l->labels.w = labels_width(l);
    l->grid.x = l->margin_px + gutter;
    int room = stage_right(l, s) - l->grid.x;
    int widest = part(s->reference, 130);
    // The last cell's gap hangs over, so that cells end where the clock ends.
    int gap_px = cell_gap(s, room / l->input.columns, THINNEST_COLUMN_PX);
    bool is_roomy = l->input.columns < room / widest;
    l->grid.w = is_roomy ? l->input.columns * widest : room + gap_px;
    split_columns(l);
    int answers = max_int(1, l->input.columns - l->input.prompt_tokens);
    l->prompt_gap_px = cell_gap(s, l->prompt_width_px / l->input.prompt_tokens, THINNEST_COLUMN_PX);
    l->answer_gap_px = cell_gap(s, (l->grid.w - l->prompt_width_px) / answers, THINNEST_COLUMN_PX);
    bool is_staggered = l->headers == HEADERS_STAGGERED || l->answer_headers == HEADERS_STAGGERED;
    s->header_lines = is_staggered ? 2 : 1;
    if (is_staggered)
        s->header = layout_line_px(l->token_px) + part(s->reference, 4);
    l->header_line_px = s->header;
}

static int readouts_per_row(const struct layout *l, const struct sizes *s) {
    int room = s->width - 2 * l->margin_px;
    int count = max_int(1, l->readout_count);
    int fits = max_int(1, room / em(l->matter_px, 54));
    int rows = (count + fits - 1) / fits;
    return (count + rows - 1) / rows;
}

// Lines the whole answer would need, by an average tile.
static int lines_wanted(const struct layout *l, const struct sizes *s) {
    int room = stage_right(l, s) - l->grid.x;
    int64_t need = (int64_t)l->input.answer_limit * em(l->answer_px, 48);
    int64_t lines = (need + room - 1) / room;
    bool is_tall = s->height > s->width;
    int most = is_tall ? LAYOUT_MAX_LINES : 3;
    return lines > most ? most : lines < 1 ? 1 : (int)lines;
}

// --- down ---

// True when title, pills and stamp share one row.
static bool is_top_wide(const struct layout *l, const struct sizes *s) {
    int room = s->width - 2 * l->margin_px;
    int stamp = em(l->label_px, 200);
    if (l->input.mode == LAYOUT_SHOW)
        return em(l->title_px, 145) + s->column_gap + stamp <= room;
    int pills = 4 * s->pill_width + 3 * s->pill_gap;
    return em(l->title_px, 128) + pills + stamp + 2 * s->column_gap <= room;
}

static int top_height(const struct layout *l, const struct sizes *s) {
    if (is_top_wide(l, s))
        return max_int(max_int(s->title_line, s->pill), 2 * s->stamp_line);
    int first = max_int(s->title_line, s->stamp_line);
    return first + part(s->reference, 9) + max_int(s->pill, s->stamp_line);
}

static int header_height(const struct sizes *s) {
    return s->header_lines * s->header + (s->header_lines - 1) * s->header_gap;
}

static int gap(const struct sizes *s, enum gap which) {
    return part(s->reference, GAPS[which]);
}

// Everything but the grid's rows.
static int fixed_height(const struct layout *l, const struct sizes *s) {
    int sum = 2 * s->margin_y + top_height(l, s) + s->caption + header_height(s) + s->output +
              s->drip + s->lines * s->answer_line + s->guess + 2 * s->playhead + s->bar +
              s->clock_labels + s->readouts_rows * s->readout + s->footer;
    for (int i = 0; i < GAP_COUNT; i++)
        sum += gap(s, (enum gap)i);
    return sum;
}

// Gives up drip height, then lines and read-out notes until the grid has its minimum.
// False: the text is too large.
static bool fit_height(const struct layout *l, struct sizes *s) {
    int comfortable = max_int(s->min_grid, part(s->reference, 235));
    int least_drip = part(s->reference, 80);
    int lent = max_int(0, s->drip - least_drip);
    s->lines = lines_wanted(l, s);
    while (s->lines > 1 && s->height - fixed_height(l, s) + lent < comfortable)
        s->lines--;
    int missing = comfortable - (s->height - fixed_height(l, s));
    if (missing > 0)
        s->drip = max_int(least_drip, s->drip - missing);
    // A guess's row must not cost text size, and at the least size the grid must be.
    int starving = s->min_grid - (s->height - fixed_height(l, s));
    if (starving > 0 && (s->guess > 0 || l->input.text_step == LOWEST_STEP))
        s->drip = max_int(part(s->reference, 40), s->drip - starving);
    return s->height - fixed_height(l, s) >= s->min_grid;
}

// A row may be this high: a grid of few layers isn't blown up absurdly.
static int highest_row(const struct layout *l, const struct sizes *s) {
    int layers = l->input.layers;
    int cap = part(s->reference, layers <= 2 ? 100 : 72);
    int spare = (s->height - s->reference) / (2 * layers); // tall pictures
    return min_int(cap + spare, part(s->reference, 200));
}

struct cursor {
    int y;
    int extra[GAP_COUNT]; // px on top of each gap
};

// Rows first, then a longer drip, wider gaps, and the rest above and below.
static void share_height(struct layout *l, struct sizes *s, struct cursor *at) {
    int room = s->height - fixed_height(l, s);
    l->row_px = clamp_int(room / l->input.layers, 1, highest_row(l, s));
    int spare = room - l->row_px * l->input.layers;
    int longer = clamp_int(spare, 0, part(s->reference, 70));
    s->drip += longer;
    spare -= longer;
    memset(at->extra, 0, sizeof at->extra);
    int growing = 0;
    for (int i = 0; i < GAP_COUNT; i++)
        growing += GAP_GROWS[i];
    int each = clamp_int(spare / growing, 0, part(s->reference, 60));
    for (int i = 0; i < GAP_COUNT; i++)
        at->extra[i] = GAP_GROWS[i] ? each : 0;
    at->y = s->margin_y + max_int(0, spare - each * growing) / 2;
}

static void skip(struct cursor *at, const struct sizes *s, enum gap which) {
    at->y += gap(s, which) + at->extra[which];
}

static void place_pills(struct layout *l, const struct sizes *s, int x, int y, int height) {
    for (int i = 0; i < 4; i++) {
        l->pills[i] = (struct rect){x + i * (s->pill_width + s->pill_gap),
                                    y + (height - s->pill) / 2, s->pill_width, s->pill};
    }
}

static void place_top_wide(struct layout *l, const struct sizes *s, int y) {
    int height = top_height(l, s), right = s->width - l->margin_px;
    int title_w = em(l->title_px, l->input.mode == LAYOUT_SHOW ? 145 : 128);
    int stamp_x;
    if (l->input.mode == LAYOUT_SHOW) {
        // The stamp is as wide as a long origin needs; the headline has the rest.
        stamp_x = right - max_int(em(l->label_px, 200), (right - l->margin_px) * 2 / 5);
        stamp_x = max_int(stamp_x, l->margin_px + title_w + s->column_gap);
        title_w = stamp_x - s->column_gap - l->margin_px;
    } else {
        // Right behind the title: the stamp, whose words must never be cut, has the rest.
        int pills = 4 * s->pill_width + 3 * s->pill_gap;
        int x = l->margin_px + title_w + s->column_gap;
        place_pills(l, s, x, y, height);
        title_w = x - s->column_gap - l->margin_px;
        stamp_x = x + pills + s->column_gap;
    }
    l->title =
        (struct rect){l->margin_px, y + (height - s->title_line) / 2, title_w, s->title_line};
    int stamp_y = y + (height - 2 * s->stamp_line) / 2;
    l->origin = (struct rect){stamp_x, stamp_y, right - stamp_x, s->stamp_line};
    l->rate = (struct rect){stamp_x, stamp_y + s->stamp_line, right - stamp_x, s->stamp_line};
}

static void place_top_narrow(struct layout *l, const struct sizes *s, int y) {
    int room = s->width - 2 * l->margin_px, right = s->width - l->margin_px;
    int first = max_int(s->title_line, s->stamp_line);
    int second_y = y + first + part(s->reference, 9);
    int second = max_int(s->pill, s->stamp_line);
    if (l->input.mode == LAYOUT_SHOW) {
        int left = room * 3 / 5;
        l->title = (struct rect){l->margin_px, y, room, first};
        l->origin = (struct rect){l->margin_px, second_y, left, second};
        l->rate = (struct rect){l->margin_px + left, second_y, room - left, second};
        return;
    }
    int title_w = min_int(em(l->title_px, 128), room * 9 / 20);
    int stamp_x = l->margin_px + title_w + s->column_gap;
    l->title = (struct rect){l->margin_px, y, title_w, first};
    l->origin = (struct rect){stamp_x, y, right - stamp_x, first};
    place_pills(l, s, l->margin_px, second_y, second);
    int rate_x = l->pills[3].x + s->pill_width + s->column_gap;
    l->rate = (struct rect){rate_x, second_y, right - rate_x, second};
}

static void place_grid(struct layout *l, const struct sizes *s, struct cursor *at) {
    l->header = (struct rect){l->grid.x, at->y, l->grid.w, header_height(s)};
    at->y += l->header.h;
    skip(at, s, GAP_GRID);
    l->grid.y = l->labels.y = at->y;
    l->grid.h = l->labels.h = l->row_px * l->input.layers;
    int every = 1;
    l->row_gap_px = cell_gap(s, l->row_px, THINNEST_ROW_PX);
    if (l->row_px - l->row_gap_px < layout_line_px(l->floor_px)) {
        // The last label is moved up by half of what it is higher than its row, to
        // stay beside the grid; it must not touch the one before.
        int tall = layout_line_px(l->small_px), moved = (tall - l->row_px + 1) / 2;
        every = 4;
        while (every * l->row_px - max_int(0, moved) < tall)
            every *= 2;
    }
    l->label_every = every;
    at->y += l->grid.h;
    skip(at, s, GAP_OUTPUT);
    l->output = (struct rect){l->grid.x, at->y, l->grid.w, s->output};
    l->output_label = (struct rect){l->labels.x, at->y, l->labels.w, s->output};
    at->y += s->output;
}

static void place_answer(struct layout *l, const struct sizes *s, struct cursor *at) {
    int right = stage_right(l, s);
    l->drip = (struct rect){l->grid.x, at->y, right - l->grid.x, s->drip};
    at->y += s->drip;
    l->answer_lines = s->lines;
    l->answer_line_px = s->answer_line;
    l->answer_tile_px = s->tile;
    l->answer = (struct rect){l->grid.x, at->y, right - l->grid.x, s->lines * s->answer_line};
    l->answer_label = (struct rect){l->margin_px, at->y, l->labels.w, s->tile};
    at->y += l->answer.h;
}

static void place_clock(struct layout *l, const struct sizes *s, struct cursor *at) {
    int room = s->width - 2 * l->margin_px;
    skip(at, s, GAP_CLOCK);
    if (s->guess > 0)
        l->guess = (struct rect){l->margin_px, at->y, room, s->guess};
    at->y += s->guess;
    l->clock = (struct rect){l->margin_px, at->y, room, s->bar + 2 * s->playhead};
    l->clock_bar = (struct rect){l->margin_px, at->y + s->playhead, room, s->bar};
    at->y += l->clock.h;
    skip(at, s, GAP_LABELS);
    l->clock_labels = (struct rect){l->margin_px, at->y, room, s->clock_labels};
    at->y += s->clock_labels;
}

static void place_readouts(struct layout *l, const struct sizes *s, struct cursor *at) {
    int room = s->width - 2 * l->margin_px, per_row = readouts_per_row(l, s);
    skip(at, s, GAP_READOUTS);
    for (int i = 0; i < l->readout_count; i++) {
        int x = l->margin_px + room * (i % per_row) / per_row;
        int next = l->margin_px + room * (i % per_row + 1) / per_row;
        l->readouts[i] = (struct rect){x, at->y + i / per_row * s->readout,
                                       next - x - s->column_gap * 3 / 4, s->readout};
    }
    at->y += s->readouts_rows * s->readout;
    skip(at, s, GAP_FOOTER);
    l->footer = (struct rect){l->margin_px, at->y, s->footer > 0 ? room : 0, s->footer};
}

// The layout at one text step. False: the grid would starve.
static bool arrange(struct layout *l, const struct layout_input *input, int step) {
    struct sizes s = {.width = input->width_px, .height = input->height_px};
    s.reference = min_int(s.height, (int)((int64_t)s.width * 3 / 4));
    memset(l, 0, sizeof *l);
    l->input = *input;
    l->input.text_step = step;
    l->unit_px = max_int(1, part(s.reference, 10));
    set_fonts(l, &s, step);
    set_sizes(l, &s);
    set_panel(l, &s);
    place_columns(l, &s);
    // The stage in big type shows what fits in one row; the first ones matter most.
    bool is_few = l->input.mode == LAYOUT_SHOW && !is_top_wide(l, &s);
    l->readout_count = is_few ? min_int(input->readouts, 4) : input->readouts;
    int per_row = readouts_per_row(l, &s);
    int per_readout = (s.width - 2 * l->margin_px) / per_row;
    l->value_px = clamp_int(per_readout * 10 / 54, l->matter_px, l->value_px);
    s.readouts_rows = (l->readout_count + per_row - 1) / per_row;
    l->is_note_beside = per_readout >= em(l->small_px, 105);
    s.readout =
        (l->is_note_beside ? 1 : 2) * layout_line_px(l->small_px) + layout_line_px(l->value_px);
    if (!fit_height(l, &s))
        return false;
    struct cursor at;
    share_height(l, &s, &at);
    int top = top_height(l, &s);
    if (is_top_wide(l, &s))
        place_top_wide(l, &s, at.y);
    else
        place_top_narrow(l, &s, at.y);
    at.y += top;
    skip(&at, &s, GAP_CAPTION);
    l->caption = (struct rect){l->margin_px, at.y, stage_right(l, &s) - l->margin_px, s.caption};
    at.y += s.caption;
    skip(&at, &s, GAP_HEADER);
    place_grid(l, &s, &at);
    place_answer(l, &s, &at);
    if (s.panel > 0)
        l->panel = (struct rect){s.width - l->margin_px - s.panel, l->caption.y, s.panel,
                                 at.y - l->caption.y};
    place_clock(l, &s, &at);
    place_readouts(l, &s, &at);
    return l->grid.w >= part(s.reference, 300) ||
           input->columns * part(s.reference, 130) == l->grid.w;
}

bool layout_make(struct layout *out, const struct layout_input *input) {
    struct layout_input in = *input;
    bool is_large_enough =
        in.width_px >= LAYOUT_MIN_WIDTH_PX && in.height_px >= LAYOUT_MIN_HEIGHT_PX;
    in.width_px = clamp_int(in.width_px, LAYOUT_MIN_WIDTH_PX, MOST);
    in.height_px = clamp_int(in.height_px, LAYOUT_MIN_HEIGHT_PX, MOST);
    if (in.mode != LAYOUT_SHOW && in.mode != LAYOUT_FILM)
        in.mode = LAYOUT_STAGE;
    in.layers = clamp_int(in.layers, 1, LAYOUT_MAX_LAYERS);
    in.prompt_tokens = clamp_int(in.prompt_tokens, 1, MOST);
    in.columns = clamp_int(in.columns, in.prompt_tokens, 2 * MOST);
    in.answer_limit = clamp_int(in.answer_limit, 1, MOST);
    in.readouts = clamp_int(in.readouts, 0, LAYOUT_MAX_READOUTS);
    int step = clamp_int(in.text_step, LOWEST_STEP, HIGHEST_STEP);
    while (!arrange(out, &in, step) && step > LOWEST_STEP)
        step--;
    return is_large_enough;
}

int layout_column_x(const struct layout *layout, int column) {
    int prompt = layout->input.prompt_tokens, columns = layout->input.columns;
    int64_t answer_width = layout->grid.w - layout->prompt_width_px;
    int i = clamp_int(column, 0, columns);
    if (i <= prompt)
        return layout->grid.x + (int)((int64_t)layout->prompt_width_px * i / prompt);
    return layout->grid.x + layout->prompt_width_px +
           (int)(answer_width * (i - prompt) / (columns - prompt));
}

int layout_panel_pad_px(const struct layout *layout) {
    return layout->unit_px * 7 / 4;
}

int layout_layer_y(const struct layout *layout, int layer) {
    return layout->grid.y + clamp_int(layer, 0, layout->input.layers) * layout->row_px;
}

struct rect layout_cell(const struct layout *layout, int column, int layer) {
    int x = layout_column_x(layout, column), y = layout_layer_y(layout, layer);
    int gap_px =
        column < layout->input.prompt_tokens ? layout->prompt_gap_px : layout->answer_gap_px;
    return (struct rect){x, y, layout_column_x(layout, column + 1) - x - gap_px,
                         layout->row_px - layout->row_gap_px};
}
