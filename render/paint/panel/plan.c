// Places everything in the panel. The text is tried from body size down to the floor until
// all sections have the height they want. If even that is not enough, sections that can
// spare height lose some, then whole sections are left out, the controls last: the user
// must not lose the control being dragged.
//
// Bars and controls are at the bottom, above the foot, or at a fixed height in a tall
// panel, so that a longer sentence does not move them under the pointer.
#include "render/paint/panel/parts.h"

#include "compute/base/num.h"

#include <string.h>

// From generous to dense: the text size between body and floor, heights in percent of
// it, headings before their texts or in them, words before bars and tracks or beside
// them, and whether optional blocks are left out. Size comes before form: what is read
// from the back row is the letters.
struct fit {
    int shrink; // 0 = body size, 2 = the floor
    int line, gap, pad;
    bool is_run_in, is_inline, leaves_out;
};
static const struct fit FITS[] = {
    {0, 138, 80, 70, false, false, false}, {1, 138, 75, 70, false, false, false},
    {1, 130, 55, 55, false, false, false}, {1, 130, 45, 45, true, false, false},
    {1, 130, 45, 45, true, false, true},   {2, 134, 60, 55, false, false, false},
    {2, 130, 45, 40, true, false, false},  {2, 130, 45, 40, true, false, true},
    {2, 125, 25, 34, true, false, true},   {2, 125, 25, 34, true, true, true},
    {2, 118, 20, 25, true, true, true},
};
enum { FIT_COUNT = sizeof FITS / sizeof FITS[0] };

static struct panel_type type_of(const struct layout *layout, const struct fit *fit) {
    int body = layout->body_px, floor_px = layout->floor_px;
    int px = fit->shrink == 0 ? body : fit->shrink == 1 ? (body + floor_px) / 2 : floor_px;
    return (struct panel_type){px,
                               (px * fit->line + 99) / 100,
                               px * fit->gap / 100,
                               px * fit->pad / 100,
                               fit->is_run_in,
                               fit->is_inline};
}

static struct panel_words title_words(const struct panel_plan *plan) {
    return (struct panel_words){plan->panel->title, FACE_STRONG,
                                paint_tone(plan->paint, plan->panel->title_tone), 0};
}

// The chapter stands above the title, in the same section.
static struct panel_words chapter_words(const struct panel_plan *plan) {
    return (struct panel_words){plan->panel->chapter, FACE_STRONG,
                                paint_color(plan->paint, COLOR_QUIET), 0};
}

static struct panel_words foot_words(const struct panel_plan *plan) {
    return (struct panel_words){plan->panel->foot, FACE_WORDS, paint_color(plan->paint, COLOR_INK),
                                0};
}

static struct panel_words heading_words(const struct panel_plan *plan, int block) {
    return (struct panel_words){plan->panel->blocks[block].heading, FACE_STRONG,
                                paint_color(plan->paint, COLOR_INK), 0};
}

// The width of a heading that begins its text's first line; 0: it has a line of its own.
static int run_in_px(const struct panel_plan *plan, int block) {
    const struct panel_block *of = &plan->panel->blocks[block];
    struct panel_words text = {of->text, FACE_WORDS, 0, 0};
    int px = plan->type.px, width = text_width_px(plan->paint->text, FACE_STRONG, px, of->heading);
    int beside = width + px / 2;
    bool has_room = plan->type.is_run_in && width > 0 && width < plan->inner.w * 3 / 5 &&
                    paint_panel_can_begin(plan, &text, plan->inner.w - beside);
    return has_room ? beside : 0;
}

static struct panel_words block_words(const struct panel_plan *plan, int block) {
    return (struct panel_words){plan->panel->blocks[block].text, FACE_WORDS,
                                paint_color(plan->paint, COLOR_QUIET), run_in_px(plan, block)};
}

enum { MOST_LINES = PLAN_MAX_TEXTS };

static int words_height(const struct panel_plan *plan, struct panel_words words) {
    return paint_panel_lines(plan, &words, plan->inner.w, MOST_LINES) * plan->type.line_px;
}

static bool is_left_out(const struct panel_plan *plan, int block) {
    return plan->leaves_out && plan->panel->blocks[block].is_optional;
}

static int want_blocks(const struct panel_plan *plan) {
    int height = 0;
    for (int i = 0; i < plan->panel->block_count; i++) {
        if (is_left_out(plan, i))
            continue;
        height += (height > 0 ? plan->type.gap_px : 0) + words_height(plan, block_words(plan, i)) +
                  (run_in_px(plan, i) > 0 ? 0 : words_height(plan, heading_words(plan, i)));
    }
    return height;
}

// The rule and the gap below it.
static int foot_top(const struct panel_plan *plan) {
    return plan->paint->layout->hair_px + plan->type.gap_px / 2;
}

enum { LEAST_LIST = 3, WANTED_LIST = 5 };

// Heights at the plan's type; 0 = the section is empty.
static void measure(const struct panel_plan *plan, int want[SECTION_COUNT],
                    int least[SECTION_COUNT]) {
    const struct panel *panel = plan->panel;
    int line = plan->type.line_px;
    want[SECTION_TITLE] =
        words_height(plan, chapter_words(plan)) + words_height(plan, title_words(plan));
    want[SECTION_PARTIES] = paint_panel_want_parties(plan);
    want[SECTION_BLOCKS] = want_blocks(plan);
    want[SECTION_BARS] = paint_panel_want_bars(plan);
    want[SECTION_FIELD] = panel->has_field ? paint_panel_want_field(plan, 4, 3) : 0;
    want[SECTION_CONTROLS] = paint_panel_want_controls(plan);
    want[SECTION_LIST] = paint_panel_want_list(plan, min_int(panel->line_count, WANTED_LIST));
    want[SECTION_FOOT] = panel->foot[0] ? words_height(plan, foot_words(plan)) + foot_top(plan) : 0;
    memcpy(least, want, SECTION_COUNT * sizeof least[0]);
    least[SECTION_BLOCKS] = min_int(want[SECTION_BLOCKS], 4 * line);
    least[SECTION_FIELD] = panel->has_field ? paint_panel_want_field(plan, 2, 1) : 0;
    least[SECTION_LIST] = paint_panel_want_list(plan, min_int(panel->line_count, LEAST_LIST));
    least[SECTION_FOOT] = min_int(want[SECTION_FOOT], line + foot_top(plan));
}

// With a gap between any two sections that are shown.
static int total(const struct panel_plan *plan, const int heights[SECTION_COUNT]) {
    int sum = 0;
    for (int i = 0; i < SECTION_COUNT; i++)
        if (heights[i] > 0)
            sum += heights[i] + (sum > 0 ? plan->type.gap_px : 0);
    return sum;
}

// Brings the heights down to the room: first what can be cut, then whole sections.
static void shrink(struct panel_plan *plan, int heights[SECTION_COUNT],
                   const int least[SECTION_COUNT]) {
    static const enum panel_section CUT[] = {SECTION_LIST, SECTION_FIELD, SECTION_BLOCKS,
                                             SECTION_FOOT};
    static const enum panel_section LEFT_OUT[] = {SECTION_FOOT,  SECTION_PARTIES, SECTION_BARS,
                                                  SECTION_LIST,  SECTION_BLOCKS,  SECTION_FIELD,
                                                  SECTION_TITLE, SECTION_CONTROLS};
    for (size_t i = 0; i < sizeof CUT / sizeof CUT[0]; i++) {
        int over = total(plan, heights) - plan->inner.h;
        int spare = heights[CUT[i]] - least[CUT[i]];
        heights[CUT[i]] -= over < 0 ? 0 : min_int(over, spare);
    }
    for (size_t i = 0; i < sizeof LEFT_OUT / sizeof LEFT_OUT[0]; i++) {
        if (total(plan, heights) <= plan->inner.h)
            return;
        plan->cut += heights[LEFT_OUT[i]] > 0;
        bool is_last = i + 1 == sizeof LEFT_OUT / sizeof LEFT_OUT[0];
        heights[LEFT_OUT[i]] = is_last ? plan->inner.h : 0;
    }
}

// How far the bars and controls are moved down: to the bottom, but in a tall panel only to
// two fifths of its height.
static int lowered(const struct panel_plan *plan, int used, int slack) {
    int line = plan->type.line_px;
    if (slack <= 16 * line)
        return slack;
    return max_int(3 * line, min_int(slack, plan->inner.h * 2 / 5 - used));
}

// Height left over goes to the list or the field, or widens the gap above the controls.
static void stack(struct panel_plan *plan, int heights[SECTION_COUNT]) {
    int slack = plan->inner.h - total(plan, heights);
    bool has_list = heights[SECTION_LIST] > 0, has_field = heights[SECTION_FIELD] > 0;
    if (has_list) {
        int all = paint_panel_want_list(plan, plan->panel->line_count);
        heights[SECTION_LIST] += max_int(0, min_int(slack, all - heights[SECTION_LIST]));
    } else if (has_field) {
        heights[SECTION_FIELD] += slack;
    }
    int y = plan->inner.y;
    bool is_first = true, is_at_bottom = has_list || has_field;
    for (int i = 0; i < SECTION_COUNT; i++) {
        plan->sections[i] = (struct rect){0};
        if (heights[i] <= 0)
            continue;
        y += is_first ? 0 : plan->type.gap_px;
        is_first = false;
        bool is_low = i == SECTION_BARS || i == SECTION_CONTROLS;
        if (is_low && !is_at_bottom) {
            y += lowered(plan, y - plan->inner.y, slack);
            is_at_bottom = true;
        }
        if (i == SECTION_FOOT)
            y = plan->inner.y + plan->inner.h - heights[i];
        plan->sections[i] = (struct rect){plan->inner.x, y, plan->inner.w, heights[i]};
        y += heights[i];
    }
}

// Places all rows of the blocks from y down, room or not; returns the end.
static int flow_blocks(struct panel_plan *plan, struct rect room, int y) {
    enum { ENDLESS_PX = 1 << 24 };
    int top = y;
    for (int i = 0; i < plan->panel->block_count; i++) {
        if (is_left_out(plan, i))
            continue;
        struct panel_words heading = heading_words(plan, i), text = block_words(plan, i);
        y += y > top ? plan->type.gap_px : 0;
        struct rect rest = {room.x, y, room.w, ENDLESS_PX};
        int heading_px = paint_panel_place(plan, &heading, rest);
        y += text.indent_px > 0 ? 0 : heading_px;
        rest.y = y;
        y += paint_panel_place(plan, &text, rest);
    }
    return y;
}

// Keeps the rows from `first` on that are between top and bottom; counts the others.
static void keep_rows(struct panel_plan *plan, int first, int top, int bottom) {
    int kept = first;
    for (int i = first; i < plan->row_count; i++) {
        struct rect rect = plan->rows[i].rect;
        if (rect.y < top)
            plan->above.count++;
        else if (rect.y + rect.h > bottom)
            plan->below.count++;
        else
            plan->rows[kept++] = plan->rows[i];
    }
    plan->row_count = kept;
}

// Blocks that need more than their room are scrolled by lines. A row stays free for the
// note of lines below, and one for lines above once there are any.
static void place_blocks(struct panel_plan *plan, struct rect room) {
    int line = plan->type.line_px, first = plan->row_count;
    int over = flow_blocks(plan, room, room.y) - room.y - room.h;
    if (over <= 0)
        return;
    plan->scroll_most = (over + line + line - 1) / line;
    int scroll = max_int(0, min_int(plan->panel->block_scroll, plan->scroll_most));
    int top = room.y + (scroll > 0 ? line : 0);
    int bottom = room.y + room.h - (scroll < plan->scroll_most ? line : 0);
    plan->row_count = first;
    flow_blocks(plan, room, top - scroll * line);
    keep_rows(plan, first, top, bottom);
    plan->above.rect = (struct rect){room.x, room.y, room.w, line};
    plan->below.rect = (struct rect){room.x, room.y + room.h - line, room.w, line};
    plan->cut += plan->above.count + plan->below.count > 0;
}

static void place_sections(struct panel_plan *plan) {
    const struct rect *rooms = plan->sections;
    struct panel_words chapter = chapter_words(plan), title = title_words(plan);
    struct panel_words foot = foot_words(plan);
    if (rooms[SECTION_TITLE].h > 0) {
        struct rect room = rooms[SECTION_TITLE];
        int used = paint_panel_place(plan, &chapter, room);
        room.y += used;
        room.h -= used;
        paint_panel_place(plan, &title, room);
    }
    if (rooms[SECTION_PARTIES].h > 0)
        paint_panel_place_parties(plan, rooms[SECTION_PARTIES]);
    if (rooms[SECTION_BLOCKS].h > 0)
        place_blocks(plan, rooms[SECTION_BLOCKS]);
    if (rooms[SECTION_BARS].h > 0)
        paint_panel_place_bars(plan, rooms[SECTION_BARS]);
    if (rooms[SECTION_FIELD].h > 0)
        paint_panel_place_field(plan, rooms[SECTION_FIELD]);
    if (rooms[SECTION_CONTROLS].h > 0)
        paint_panel_place_controls(plan, rooms[SECTION_CONTROLS]);
    if (rooms[SECTION_LIST].h > 0)
        paint_panel_place_list(plan, rooms[SECTION_LIST]);
    if (rooms[SECTION_FOOT].h > 0) {
        struct rect room = rooms[SECTION_FOOT];
        room.y += foot_top(plan);
        room.h -= foot_top(plan);
        paint_panel_place(plan, &foot, room);
    }
}

// The most generous type at which everything has room, or the densest.
static void fit(struct panel_plan *plan, int want[SECTION_COUNT], int least[SECTION_COUNT]) {
    for (int i = 0; i < FIT_COUNT; i++) {
        plan->type = type_of(plan->paint->layout, &FITS[i]);
        plan->leaves_out = FITS[i].leaves_out;
        measure(plan, want, least);
        if (total(plan, want) <= plan->inner.h)
            return;
    }
}

bool paint_panel_plan(struct panel_plan *plan, const struct paint *paint,
                      const struct panel *panel) {
    const struct layout *layout = paint->layout;
    int pad = layout_panel_pad_px(layout);
    plan->paint = paint;
    plan->panel = panel;
    plan->out = NULL;
    plan->row_count = 0;
    plan->cut = plan->scroll_most = 0;
    plan->above = plan->below = (struct panel_more){0};
    plan->list = (struct panel_list_box){0};
    plan->field.count = plan->field.tile_shown = 0;
    for (int i = 0; i < PANEL_MAX_CONTROLS; i++)
        plan->boxes[i].is_shown = false;
    for (int i = 0; i < PANEL_MAX_BARS; i++)
        plan->bars[i].is_shown = false;
    for (int i = 0; i < PANEL_MAX_PARTIES; i++)
        plan->cards[i].rect = (struct rect){0};
    plan->inner = rect_inset(layout->panel, pad, pad);
    if (plan->inner.w <= 0 || plan->inner.h <= 0)
        return false;
    int want[SECTION_COUNT], least[SECTION_COUNT];
    fit(plan, want, least);
    shrink(plan, want, least);
    stack(plan, want);
    place_sections(plan);
    return true;
}
