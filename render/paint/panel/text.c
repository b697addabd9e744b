// The panel's running text: title, headings, paragraphs, foot, all as rows of one
// list. A row is one command, so that it is shaped as a whole; the fine line under a
// glossary word is placed by measuring the text before it.
#include "render/paint/panel/parts.h"

#include "compute/base/figures.h"
#include "compute/base/num.h"
#include "compute/base/utf8.h"
#include "compute/base/words.h"

#include <stdio.h>
#include <string.h>

int paint_panel_lines(const struct panel_plan *plan, const struct panel_words *words, int width_px,
                      int most) {
    struct wrap_style style = {words->face, plan->type.px, width_px - words->indent_px};
    struct wrap_line line;
    if (most < 1 || !wrap_next(&line, plan->paint->text, &style, words->utf8, 0))
        return 0;
    style.width_px = width_px;
    return 1 + wrap_count(plan->paint->text, &style, words->utf8 + line.next, most - 1);
}

bool paint_panel_can_begin(const struct panel_plan *plan, const struct panel_words *words,
                           int room_px) {
    const char *utf8 = words->utf8;
    struct wrap_style style = {words->face, plan->type.px, room_px};
    struct wrap_line line;
    if (room_px <= 0 || !wrap_next(&line, plan->paint->text, &style, utf8, 0))
        return false;
    if (strchr(utf8, '\n'))
        return utf8[line.next - 1] == '\n' || utf8[line.next] == '\0';
    int end = line.from + line.bytes;
    return utf8[end] == '\0' || utf8[end] == ' ' || (end > 0 && utf8[end - 1] == '-');
}

// Whether a term is still open after bytes [from, to).
static bool term_goes_on(const char *utf8, int from, int to, bool is_open) {
    for (int i = from; i < to; i++)
        if (utf8[i] == PANEL_TERM_BEGIN || utf8[i] == PANEL_TERM_END)
            is_open = utf8[i] == PANEL_TERM_BEGIN;
    return is_open;
}

int paint_panel_place(struct panel_plan *plan, const struct panel_words *words, struct rect room) {
    struct wrap_style style = {words->face, plan->type.px, room.w - words->indent_px};
    int line_px = plan->type.line_px, y = room.y;
    struct panel_row row = {
        .utf8 = words->utf8, .face = words->face, .px = style.px, .color = words->color};
    for (int at = 0; wrap_next(&row.line, plan->paint->text, &style, words->utf8, at);) {
        bool has_room = y + line_px <= room.y + room.h && plan->row_count < PLAN_MAX_TEXTS;
        if (!has_room) {
            if (y > room.y)
                plan->rows[plan->row_count - 1].is_cut = true;
            plan->cut++;
            break;
        }
        row.rect = (struct rect){room.x + room.w - style.width_px, y, style.width_px, line_px};
        plan->rows[plan->row_count++] = row;
        row.is_in_term = term_goes_on(words->utf8, at, row.line.next, row.is_in_term);
        at = row.line.next;
        y += line_px;
        style.width_px = room.w;
    }
    return y - room.y;
}

// The row as drawn: without marks, with an ellipsis when it was cut.
static void write_row(char out[WRAP_LINE_BYTES + 4], const struct panel_plan *plan,
                      const struct panel_row *row) {
    int from = row->line.from, count = wrap_copy(out, row->utf8, from, from + row->line.bytes);
    if (!row->is_cut)
        return;
    struct text *text = plan->paint->text;
    for (;;) {
        memcpy(out + count, SIGN_ELLIPSIS, sizeof SIGN_ELLIPSIS);
        if (count == 0 || text_width_px(text, row->face, row->px, out) <= row->rect.w)
            return;
        count = (int)utf8_before(out, (size_t)count);
        while (count > 0 && out[count - 1] == ' ')
            count--;
    }
}

bool paint_panel_term(struct panel_term_box *out, const struct panel_plan *plan,
                      const struct panel_row *row, int from) {
    const char *utf8 = row->utf8;
    int first = row->line.from, end = first + row->line.bytes;
    int begin = max_int(from, first);
    if (begin != first || !row->is_in_term) {
        while (begin < end && utf8[begin] != PANEL_TERM_BEGIN)
            begin++;
        if (begin >= end)
            return false;
        begin++;
    }
    int stop = begin;
    while (stop < end && utf8[stop] != PANEL_TERM_END && utf8[stop] != PANEL_TERM_BEGIN)
        stop++;
    struct wrap_style style = {row->face, row->px, row->rect.w};
    int x = wrap_width_px(plan->paint->text, &style, utf8, first, begin);
    int right = wrap_width_px(plan->paint->text, &style, utf8, first, stop);
    right = min_int(right, row->rect.w);
    x = min_int(x, right);
    *out = (struct panel_term_box){
        {row->rect.x + x, row->rect.y, right - x, row->rect.h}, begin, stop};
    return true;
}

static void underline(const struct panel_plan *plan, const struct panel_row *row) {
    const struct layout *layout = plan->paint->layout;
    int px = row->px, cap = text_cap_px(plan->paint->text, row->face, px);
    int y = row->rect.y + (row->rect.h + cap) / 2 + px / 7;
    struct panel_term_box term;
    for (int at = row->line.from; paint_panel_term(&term, plan, row, at); at = term.next + 1)
        cmdlist_fill(plan->out,
                     (struct rect){term.rect.x, y, term.rect.w, layout->hair_px + px / 30},
                     paint_color(plan->paint, COLOR_READ));
}

void paint_panel_draw_row(const struct panel_plan *plan, const struct panel_row *row) {
    char plain[WRAP_LINE_BYTES + 4];
    write_row(plain, plan, row);
    struct paint_label label = {row->rect, ALIGN_LEFT, row->face, row->px, row->color};
    paint_text(plan->out, plan->paint->text, &label, plain);
    underline(plan, row);
}

void paint_panel_draw_rows(const struct panel_plan *plan) {
    for (int i = 0; i < plan->row_count; i++)
        paint_panel_draw_row(plan, &plan->rows[i]);
}

void paint_panel_put(struct panel_plan *plan, struct paint_label label, const char *utf8) {
    char plain[WRAP_LINE_BYTES + 1];
    int bytes = (int)strlen(utf8);
    wrap_copy(plain, utf8, 0, bytes < WRAP_LINE_BYTES ? bytes : WRAP_LINE_BYTES);
    int least = min_int(plan->paint->layout->floor_px, label.px);
    if (plain[0] != '\0' &&
        text_width_px(plan->paint->text, label.face, least, plain) > label.rect.w)
        plan->cut++;
    paint_put(plan->out, plan->paint, label, plain);
}

void paint_panel_put_more(struct panel_plan *plan, struct panel_more more, bool is_above) {
    char words[32];
    if (more.count <= 0)
        return;
    WORDS_SAY(words, is_above ? "panel.more_above" : "panel.more_below", "count",
              figure_count(more.count, false).text);
    paint_panel_put(plan,
                    (struct paint_label){more.rect, ALIGN_LEFT, FACE_TOKEN,
                                         plan->paint->layout->floor_px,
                                         paint_color(plan->paint, COLOR_QUIET)},
                    words);
}

// --- the parties: a card each, name and state ---

static struct panel_words name_words(const struct panel_plan *plan, int party) {
    return (struct panel_words){plan->panel->parties[party].name, FACE_STRONG,
                                paint_color(plan->paint, COLOR_INK), 0};
}

static struct panel_words state_words(const struct panel_plan *plan, int party) {
    const struct panel_party *p = &plan->panel->parties[party];
    return (struct panel_words){p->state, FACE_WORDS,
                                paint_color(plan->paint, p->acts ? COLOR_INK : COLOR_QUIET), 0};
}

// The sign is left of the name.
static int sign_px(const struct panel_plan *plan) {
    return plan->type.px * 3 / 2;
}

static int half_width(const struct panel_plan *plan) {
    return (plan->inner.w - plan->type.pad_px) / 2;
}

// In the denser fits there are no cards but signs and words alone, a party being one
// run of text.
static bool is_bare(const struct panel_plan *plan) {
    return plan->type.is_run_in;
}

// The cards are side by side when both names have room; else one below the other.
static bool is_side_by_side(const struct panel_plan *plan) {
    int width = half_width(plan) - 2 * plan->type.pad_px - sign_px(plan);
    if (is_bare(plan) || plan->panel->party_count != 2)
        return false;
    struct panel_words first = name_words(plan, 0), second = name_words(plan, 1);
    return paint_panel_lines(plan, &first, width, 2) < 2 &&
           paint_panel_lines(plan, &second, width, 2) < 2;
}

static int card_width(const struct panel_plan *plan) {
    return is_side_by_side(plan) ? half_width(plan) : plan->inner.w;
}

// Of one party, without the card's padding. Side by side a state has two lines from
// the first, so that another one moves nothing.
struct party_lines {
    int name, state;
    int state_x; // px from where the name begins; > 0: it goes on in the name's last line
    int all;     // lines of both together
};

static int last_line_px(const struct panel_plan *plan, const struct panel_words *words,
                        int width_px) {
    struct wrap_style style = {words->face, plan->type.px, width_px};
    struct wrap_line line = {0};
    for (int at = 0; wrap_next(&line, plan->paint->text, &style, words->utf8, at);)
        at = line.next;
    return wrap_width_px(plan->paint->text, &style, words->utf8, line.from, line.from + line.bytes);
}

enum { MOST_NAME_LINES = 2, MOST_STATE_LINES = 4 };

// Bare, the state goes on behind the name, and wraps beside the sign.
static struct party_lines bare_lines_of(const struct panel_plan *plan, int party) {
    struct panel_words name = name_words(plan, party), state = state_words(plan, party);
    int width = plan->inner.w - sign_px(plan);
    struct party_lines lines = {.name = paint_panel_lines(plan, &name, width, MOST_NAME_LINES + 1)};
    int beside = last_line_px(plan, &name, width) + plan->type.px / 2;
    bool is_whole = lines.name > 0 && lines.name <= MOST_NAME_LINES;
    if (is_whole && paint_panel_can_begin(plan, &state, width - beside))
        lines.state_x = state.indent_px = beside;
    lines.name = min_int(lines.name, MOST_NAME_LINES);
    lines.state = paint_panel_lines(plan, &state, width, MOST_STATE_LINES);
    lines.all = max_int(1, lines.name + lines.state - (lines.state_x > 0)); // 1: for the sign
    return lines;
}

static struct party_lines lines_of(const struct panel_plan *plan, int party) {
    if (is_bare(plan))
        return bare_lines_of(plan, party);
    struct panel_words name = name_words(plan, party), state = state_words(plan, party);
    int width = card_width(plan) - 2 * plan->type.pad_px;
    struct party_lines lines = {
        .name = paint_panel_lines(plan, &name, width - sign_px(plan), MOST_NAME_LINES),
        .state = paint_panel_lines(plan, &state, width, MOST_STATE_LINES),
    };
    lines.name = max_int(1, lines.name); // the sign needs it
    if (is_side_by_side(plan) && lines.state < 2)
        lines.state = 2;
    lines.all = lines.name + lines.state;
    return lines;
}

// All cards are alike; bare parties are as high as their words.
static int card_height(const struct panel_plan *plan, int party) {
    int most = 0, pad = is_bare(plan) ? 0 : plan->type.pad_px;
    for (int i = 0; i < plan->panel->party_count; i++) {
        int lines = i == party || !is_bare(plan) ? lines_of(plan, i).all : 1;
        most = max_int(most, lines);
    }
    return most * plan->type.line_px + pad;
}

// Of one with a mark in it, which is as high as a line of text that is not dense.
static int sign_height(const struct panel_plan *plan) {
    return max_int(plan->type.line_px, layout_line_px(plan->type.px));
}

static int card_gap(const struct panel_plan *plan) {
    int missing = sign_height(plan) - plan->type.line_px; // signs keep apart
    return is_bare(plan) ? max_int(0, missing) : plan->type.pad_px * 2 / 3;
}

int paint_panel_want_parties(const struct panel_plan *plan) {
    int count = plan->panel->party_count, rows = is_side_by_side(plan) ? 1 : count, height = 0;
    for (int i = 0; i < rows; i++)
        height += card_height(plan, i) + (i > 0 ? card_gap(plan) : 0);
    return height;
}

static void place_party(struct panel_plan *plan, int party, struct rect card) {
    int pad = is_bare(plan) ? 0 : plan->type.pad_px, line = plan->type.line_px;
    int x = card.x + pad, y = card.y + pad / 2, wide = card.w - 2 * pad, sign = sign_px(plan);
    struct panel_words name = name_words(plan, party), state = state_words(plan, party);
    struct party_lines lines = lines_of(plan, party);
    plan->cards[party] = (struct panel_card){card, {x, y, sign, line}};
    struct rect room = {x + sign, y, wide - sign, lines.name * line};
    paint_panel_place(plan, &name, room);
    state.indent_px = lines.state_x;
    if (!is_bare(plan))
        room = (struct rect){x, y, wide, 0};
    room.y = y + (lines.name - (lines.state_x > 0)) * line;
    room.h = lines.state * line;
    paint_panel_place(plan, &state, room);
}

void paint_panel_place_parties(struct panel_plan *plan, struct rect room) {
    bool is_beside = is_side_by_side(plan);
    struct rect card = {room.x, room.y, card_width(plan), 0};
    for (int i = 0; i < plan->panel->party_count; i++) {
        card.h = card_height(plan, i);
        if (is_beside && i == 1)
            card.x = room.x + room.w - card.w;
        if (card.y + card.h > room.y + room.h)
            return;
        place_party(plan, i, card);
        card.y += is_beside ? 0 : card.h + card_gap(plan);
    }
}

// Works: a filled disc. Waits: a hollow one. Not well: an exclamation mark.
static void draw_sign(struct panel_plan *plan, const struct panel_party *party, struct rect row) {
    const struct layout *layout = plan->paint->layout;
    int size = plan->type.px * 4 / 5;
    struct rect disc = {row.x, row.y + (row.h - size) / 2, size, size};
    if (!party->is_well) {
        size = sign_height(plan);
        disc = (struct rect){row.x, row.y + (row.h - size) / 2, size, size};
        cmdlist_round(plan->out, disc, layout->unit_px / 3, paint_color(plan->paint, COLOR_INK));
        struct paint_label mark = {disc, ALIGN_CENTER, FACE_STRONG, layout->floor_px,
                                   paint_color(plan->paint, COLOR_ON_ACCENT)};
        paint_panel_put(plan, mark, "!");
    } else if (party->acts) {
        cmdlist_round(plan->out, disc, size / 2, paint_tone(plan->paint, party->tone));
    } else {
        cmdlist_ring(plan->out, disc, size / 2, layout->stroke_px,
                     paint_color(plan->paint, COLOR_QUIET));
    }
}

void paint_panel_draw_parties(struct panel_plan *plan) {
    const struct layout *layout = plan->paint->layout;
    for (int i = 0; i < plan->panel->party_count; i++) {
        const struct panel_party *party = &plan->panel->parties[i];
        const struct panel_card *card = &plan->cards[i];
        if (card->rect.h == 0) {
            plan->cut++;
            continue;
        }
        draw_sign(plan, party, card->sign);
        if (is_bare(plan))
            continue;
        rgba color = party->acts ? paint_tone(plan->paint, party->tone)
                                 : paint_color(plan->paint, COLOR_LINE);
        cmdlist_ring(plan->out, card->rect, layout->unit_px * 7 / 10,
                     party->acts ? layout->stroke_px : layout->hair_px, color);
    }
}
