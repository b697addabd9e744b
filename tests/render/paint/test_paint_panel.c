// The panel, judged by its commands: all of it inside its place, no text on another or
// half over a shape, readable contrast, and the mouse finds what is drawn. Panels are
// the sample ones and random ones that hold too much.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/paint/panel/panel.h"
#include "tests/render/data/sample_panel.h"
#include "tests/render/data/sample_view.h"
#include "tests/render/render_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cmdlist list, other;
static struct layout layout;
static struct panel panel;
static struct paint paint;

static const int SIZES[][2] = {
    {640, 480},   {800, 600},   {1024, 768}, {1280, 720},  {1366, 768},
    {1920, 1080}, {3840, 2160}, {2560, 720}, {1080, 1920}, {1000, 1000},
};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

static void lay_out(int width_px, int height_px, enum layout_mode mode, int text_step) {
    struct layout_input in = {.width_px = width_px,
                              .height_px = height_px,
                              .text_step = text_step,
                              .mode = mode,
                              .layers = 6,
                              .prompt_tokens = 18,
                              .columns = 24,
                              .answer_limit = 7,
                              .readouts = 6,
                              .has_panel = true};
    assert_true(layout_make(&layout, &in));
    paint = (struct paint){NULL, &layout, theme_find(THEME_DARK), text};
}

static int draw(struct cmdlist *out) {
    cmdlist_clear(out);
    return paint_panel(out, &paint, &panel);
}

// --- random panels ---

static const char *const WORDS[] = {
    "a",
    "the",
    "token",
    "goes",
    "through",
    "every",
    "layer",
    "0.73",
    "ms",
    "1,024",
    "prefill",
    "cache",
    "internationalisation",
    "\xE2\x86\x92",
    "step",
    "side-by-side",
    "\x0EKV cache\x0F",
    "\x0E"
    "decode\x0F",
    "Donaudampfschifffahrtsgesellschaft",
    "\n",
    "waits",
    "and",
    "of",
};
enum { WORD_COUNT = sizeof WORDS / sizeof WORDS[0] };

static void random_words(char *out, int bytes, int most) {
    out[0] = '\0';
    for (int i = random_between(0, most); i > 0; i--) {
        const char *word = WORDS[random_between(0, WORD_COUNT - 1)];
        if ((int)(strlen(out) + strlen(word)) + 2 > bytes)
            return;
        strcat(out, word);
        strcat(out, " ");
    }
}

// One line: neither terms nor ends of lines.
static void random_label(char *out, int bytes, int most) {
    random_words(out, bytes, most);
    for (char *c = out; *c; c++)
        if (*c < ' ' && *c > 0)
            *c = '-';
}

// With `much` of it: everything at its bound.
static int count_of(int most, bool much) {
    return much ? most : random_between(0, 2) ? random_between(0, most) : 0;
}

static void random_controls(bool much) {
    panel.control_count = count_of(PANEL_MAX_CONTROLS, much);
    for (int i = 0; i < panel.control_count; i++) {
        struct panel_control *c = &panel.controls[i];
        c->kind = (uint8_t)random_between(CONTROL_SLIDER, CONTROL_BUTTON);
        c->tone = (uint8_t)random_between(TONE_INK, TONE_READ);
        c->is_focused = random_between(0, 1);
        c->is_off = random_between(0, 3) == 0;
        random_label(c->label, sizeof c->label, much ? 9 : 3);
        random_label(c->value, sizeof c->value, much ? 9 : 3);
        c->ppm = random_between(0, VIEW_PPM);
        c->mark_ppm = random_between(0, 1) ? -1 : random_between(0, VIEW_PPM);
        random_label(c->mark_label, sizeof c->mark_label, 4);
    }
}

static void random_list(bool much) {
    panel.line_count = count_of(much ? PANEL_MAX_LINES : 40, much);
    panel.line_focus = random_between(-1, panel.line_count - 1);
    bool has_times = random_between(0, 1);
    for (int i = 0; i < panel.line_count; i++) {
        struct panel_line *l = &panel.lines[i];
        l->time[0] = '\0';
        if (has_times)
            snprintf(l->time, sizeof l->time, "%d.%d ms", i * random_between(1, 900),
                     random_between(0, 9));
        random_label(l->text, sizeof l->text, 8);
        l->tone = (uint8_t)random_between(TONE_INK, TONE_READ);
        l->is_past = random_between(0, 1);
    }
}

static void random_field(bool much) {
    panel.has_field = much || random_between(0, 3) == 0;
    random_label(panel.field, sizeof panel.field, much ? 600 : 40);
    panel.field_cursor = random_between(0, (int)strlen(panel.field));
    while (panel.field_cursor > 0 && (panel.field[panel.field_cursor] & 0xC0) == 0x80)
        panel.field_cursor--;
    panel.tile_count = much ? PANEL_MAX_TILES : random_between(0, 50);
    for (int i = 0; i < panel.tile_count; i++) {
        panel.tiles[i] = (struct view_token){.look = (uint8_t)random_between(0, 3)};
        random_label(panel.tiles[i].text, VIEW_TOKEN_BYTES, 1);
        panel.tiles[i].leading_space = (uint8_t)random_between(0, 1);
    }
    random_label(panel.tiles_label, sizeof panel.tiles_label, 6);
}

static void random_panel(bool much) {
    panel_clear(&panel);
    random_label(panel.title, sizeof panel.title, much ? 20 : 5);
    panel.title_tone = (uint8_t)random_between(TONE_INK, TONE_READ);
    panel.party_count = count_of(PANEL_MAX_PARTIES, much);
    for (int i = 0; i < panel.party_count; i++) {
        struct panel_party *p = &panel.parties[i];
        random_label(p->name, sizeof p->name, 3);
        random_label(p->state, sizeof p->state, 6);
        p->acts = random_between(0, 1);
        p->is_well = random_between(0, 2) > 0;
        p->tone = (uint8_t)random_between(TONE_INK, TONE_READ);
    }
    panel.block_count = count_of(PANEL_MAX_BLOCKS, much);
    for (int i = 0; i < panel.block_count; i++) {
        random_label(panel.blocks[i].heading, sizeof panel.blocks[i].heading, 3);
        random_words(panel.blocks[i].text, PANEL_TEXT_BYTES, much ? 120 : 25);
    }
    panel.bar_count = count_of(PANEL_MAX_BARS, much);
    for (int i = 0; i < panel.bar_count; i++) {
        struct panel_bar *b = &panel.bars[i];
        random_label(b->label, sizeof b->label, 4);
        random_label(b->value, sizeof b->value, 3);
        random_label(b->note, sizeof b->note, 4);
        b->first_ppm = random_between(0, VIEW_PPM);
        b->second_ppm = random_between(0, VIEW_PPM);
        b->before_ppm = random_between(-1, 1) * random_between(1, VIEW_PPM);
        b->tone = TONE_PREFILL;
    }
    random_field(much);
    random_controls(much);
    random_list(much);
    random_words(panel.foot, sizeof panel.foot, much ? 30 : 8);
    panel.block_scroll = random_between(0, 3) ? 0 : random_between(-2, 60);
}

// Pictures come in blocks of one size and type, so that few fonts are opened.
enum { BLOCK = 40, PICTURES = SIZE_COUNT * 3 * BLOCK };

static int random_picture(int round) {
    static enum layout_mode mode;
    if (round % BLOCK == 0) {
        const int *size = SIZES[round / BLOCK % SIZE_COUNT];
        const int steps[] = {0, -4, 8};
        mode = (enum layout_mode)random_between(LAYOUT_STAGE, LAYOUT_FILM);
        lay_out(size[0], size[1], mode, steps[round / BLOCK / SIZE_COUNT]);
    }
    int kind = random_between(0, SAMPLE_PANELS + 8);
    if (kind < SAMPLE_PANELS)
        sample_panel(&panel, (enum sample_panel_kind)kind);
    else
        random_panel(kind == SAMPLE_PANELS);
    paint.theme = theme_find((enum theme_id)random_between(0, THEME_COUNT - 1));
    return draw(&list);
}

static void say(char out[200], int round) {
    snprintf(out, 200, "round %d, %dx%d mode %d step %d, %d blocks %d bars %d controls %d lines",
             round, layout.input.width_px, layout.input.height_px, (int)layout.input.mode,
             layout.input.text_step, panel.block_count, panel.bar_count, panel.control_count,
             panel.line_count);
}

// --- boxes ---

// The first command with this text, or NULL.
static const struct cmd *find_text(const struct cmdlist *in, const char *utf8) {
    for (int i = 0; i < in->count; i++)
        if (in->cmds[i].kind == CMD_TEXT && strcmp(text_of(in, &in->cmds[i]), utf8) == 0)
            return &in->cmds[i];
    return NULL;
}

static int count_kind(const struct cmdlist *in, enum cmd_kind kind) {
    int count = 0;
    for (int i = 0; i < in->count; i++)
        count += in->cmds[i].kind == (int)kind;
    return count;
}

static void everything_is_inside_the_panel(void **state) {
    (void)state;
    for (int round = 0; round < PICTURES; round++) {
        char what[200];
        random_picture(round);
        say(what, round);
        assert_int_equal(list.dropped, 0);
        for (int i = 0; i < list.count; i++) {
            const struct cmd *cmd = &list.cmds[i];
            struct rect rect = cmd->kind == CMD_TEXT ? text_box(cmd) : cmd->rect;
            if (cmd->kind == CMD_CLIP && rect.w == 0)
                continue;
            if (!is_inside(rect, layout.panel))
                fail_msg("%s: command %d kind %d at %d,%d %dx%d \"%s\"", what, i, cmd->kind, rect.x,
                         rect.y, rect.w, rect.h, cmd->kind == CMD_TEXT ? text_of(&list, cmd) : "");
            assert_true(cmd->kind != CMD_TEXT || cmd->stroke >= layout.floor_px);
        }
    }
}

static void no_text_lies_on_another(void **state) {
    (void)state;
    for (int round = 0; round < PICTURES; round++) {
        char what[200];
        random_picture(round);
        say(what, round);
        for (int i = 0; i < list.count; i++) {
            for (int k = 0; k < i; k++) {
                const struct cmd *a = &list.cmds[i], *b = &list.cmds[k];
                if (a->kind == CMD_TEXT && b->kind == CMD_TEXT && overlap(text_box(a), text_box(b)))
                    fail_msg("%s: \"%s\" on \"%s\"", what, text_of(&list, a), text_of(&list, b));
            }
        }
    }
}

// A text stands on a filled shape as a whole or beside it, and never on stripes.
static void no_text_is_half_over_a_shape(void **state) {
    (void)state;
    for (int round = 0; round < PICTURES; round++) {
        char what[200];
        random_picture(round);
        say(what, round);
        for (int i = 0; i < list.count; i++) {
            for (int k = 0; k < list.count; k++) {
                const struct cmd *words = &list.cmds[i], *shape = &list.cmds[k];
                if (words->kind != CMD_TEXT || !overlap(text_box(words), shape->rect))
                    continue;
                bool is_shape = shape->kind == CMD_ROUND;
                if (shape->kind == CMD_STRIPES ||
                    (is_shape && !is_inside(text_box(words), shape->rect)))
                    fail_msg("%s: \"%s\" over a shape at %d,%d %dx%d", what, text_of(&list, words),
                             shape->rect.x, shape->rect.y, shape->rect.w, shape->rect.h);
            }
        }
    }
}

// Against the last opaque shape below it, else the ground.
static void every_text_can_be_read(void **state) {
    (void)state;
    for (int round = 0; round < PICTURES; round++) {
        random_picture(round);
        for (int i = 0; i < list.count; i++) {
            const struct cmd *words = &list.cmds[i];
            rgba ground = paint.theme->colors[COLOR_GROUND];
            if (words->kind != CMD_TEXT)
                continue;
            for (int k = 0; k < i; k++)
                if (list.cmds[k].kind == CMD_ROUND && is_inside(text_box(words), list.cmds[k].rect))
                    ground = list.cmds[k].color;
            if (theme_contrast_x100(words->color, ground) < 450)
                fail_msg("%s: \"%s\" %08X on %08X", paint.theme->name, text_of(&list, words),
                         words->color, ground);
        }
    }
}

static void what_a_lesson_says_is_shown_in_full(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        for (int mode = 0; mode < 3; mode++) {
            lay_out(SIZES[i][0], SIZES[i][1], (enum layout_mode)mode, 0);
            for (int kind = 0; kind < SAMPLE_PANELS; kind++) {
                // The largest type in the smallest pictures has room for less.
                bool is_logged = kind == SAMPLE_LOGGED && mode == LAYOUT_SHOW;
                sample_panel(&panel, (enum sample_panel_kind)kind);
                int cut = draw(&list);
                if (cut > 0 && !is_logged)
                    fail_msg("%dx%d mode %d: panel %d cuts %d", SIZES[i][0], SIZES[i][1], mode,
                             kind, cut);
            }
        }
    }
}

static bool is_drawn(const struct cmdlist *drawn, const char *word) {
    for (int i = 0; i < drawn->count; i++)
        if (drawn->cmds[i].kind == CMD_TEXT &&
            strstr(drawn->text + drawn->cmds[i].text_offset, word))
            return true;
    return false;
}

// One block after another is added: the optional one goes, and with it nothing is cut,
// until even the densest text is too much.
static void an_optional_block_goes_before_anything_is_cut(void **state) {
    (void)state;
    static const char SENTENCE[] =
        "Every step reads all weights and the whole cache, for one token.";
    int shown = 0, left_out = 0, cut = 0;
    for (int repeats = 1; repeats <= 8; repeats++) {
        lay_out(1024, 768, LAYOUT_STAGE, 0);
        panel_clear(&panel);
        strcpy(panel.title, "Step 1 of 9");
        panel.block_count = 2;
        panel.blocks[0] = (struct panel_block){.heading = "Why"};
        panel.blocks[1] = (struct panel_block){.text = "Optionally said.", .is_optional = true};
        for (int i = 0; i < repeats; i++)
            strcat(strcat(panel.blocks[0].text, i > 0 ? "\n" : ""), SENTENCE);
        bool is_cut = draw(&list) > 0, is_there = is_drawn(&list, "Optionally");
        assert_false(is_cut && is_there);
        shown += is_there;
        left_out += !is_there && !is_cut;
        cut += is_cut;
    }
    assert_true(shown > 0 && left_out > 0);
    assert_int_equal(shown + left_out + cut, 8);
}

static void dense_parties_are_runs_of_text_at_their_signs(void **state) {
    (void)state;
    lay_out(1024, 768, LAYOUT_STAGE, 0);
    panel_clear(&panel);
    panel.party_count = 2;
    panel.parties[0] = (struct panel_party){"Application", "waits", false, true, TONE_INK};
    panel.parties[1] = (struct panel_party){"Model", "decodes", true, true, TONE_DECODE};
    panel.block_count = 1;
    panel.blocks[0] = (struct panel_block){.heading = "Why"};
    for (int i = 0; i < 9; i++)
        strcat(panel.blocks[0].text, "Every step reads all weights and the whole cache. ");
    assert_int_equal(draw(&list), 0);
    int name_y = -1, state_y = -2;
    for (int i = 0; i < list.count; i++) {
        const struct cmd *cmd = &list.cmds[i];
        const char *words = list.text + cmd->text_offset;
        if (cmd->kind == CMD_TEXT && strncmp(words, "Application", 11) == 0)
            name_y = cmd->rect.y;
        if (cmd->kind == CMD_TEXT && strncmp(words, "waits", 5) == 0)
            state_y = cmd->rect.y;
    }
    assert_true(name_y > 0);
    assert_int_equal(name_y, state_y); // one baseline
}

static void what_has_no_room_is_counted(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(SIZES[i][0], SIZES[i][1], LAYOUT_STAGE, 0);
        sample_panel(&panel, SAMPLE_STEP);
        for (int b = 0; b < PANEL_MAX_BLOCKS; b++) {
            snprintf(panel.blocks[b].heading, sizeof panel.blocks[b].heading, "Heading");
            memset(panel.blocks[b].text, 'x', PANEL_TEXT_BYTES - 1);
            panel.blocks[b].text[PANEL_TEXT_BYTES - 1] = '\0';
        }
        panel.block_count = PANEL_MAX_BLOCKS;
        bool is_tall = SIZES[i][1] > SIZES[i][0];
        assert_true(draw(&list) > 0 || is_tall);
    }
    lay_out(640, 480, LAYOUT_STAGE, 0);
    sample_panel(&panel, SAMPLE_SLIDERS);
    assert_int_equal(draw(&list), 0);
    memset(panel.controls[0].label, 'm', sizeof panel.controls[0].label - 1);
    assert_int_equal(draw(&list), 1);
}

static void equal_panels_give_equal_commands(void **state) {
    (void)state;
    for (int round = 0; round < 200; round++) {
        random_picture(round);
        memset(&other, 0x5A, sizeof other);
        draw(&other);
        assert_true(cmdlist_hash(&list) == cmdlist_hash(&other));
    }
}

// --- nothing jumps ---

static void places_of_texts(const struct cmdlist *in, int out[200][2], int *count) {
    *count = 0;
    for (int i = 0; i < in->count && *count < 200; i++) {
        if (in->cmds[i].kind != CMD_TEXT)
            continue;
        out[*count][0] = in->cmds[i].stroke;
        out[(*count)++][1] = in->cmds[i].rect.y;
    }
}

static void another_digit_moves_no_line(void **state) {
    (void)state;
    int before[200][2], after[200][2], count, count_after;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(SIZES[i][0], SIZES[i][1], LAYOUT_STAGE, 0);
        for (int digit = '0'; digit <= '9'; digit++) {
            sample_panel(&panel, SAMPLE_PARTIES);
            snprintf(panel.blocks[0].text, PANEL_TEXT_BYTES,
                     "After 1234 tokens and 5678.90 ms the cache holds 1234 entries of 1234 "
                     "bytes in 1234 layers");
            draw(&list);
            for (char *c = panel.blocks[0].text; *c; c++)
                *c = *c >= '0' && *c <= '9' ? (char)digit : *c;
            draw(&other);
            places_of_texts(&list, before, &count);
            places_of_texts(&other, after, &count_after);
            assert_int_equal(count, count_after);
            assert_memory_equal(before, after, (size_t)count * sizeof before[0]);
        }
    }
}

static void a_longer_sentence_does_not_move_the_controls(void **state) {
    (void)state;
    static const int sizes[][2] = {{1280, 720}, {1920, 1080}, {3840, 2160}, {1080, 1920}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        lay_out(sizes[i][0], sizes[i][1], LAYOUT_STAGE, 0);
        sample_panel(&panel, SAMPLE_QUESTION);
        panel.control_count = 2;
        snprintf(panel.blocks[0].text, PANEL_TEXT_BYTES, "One line.");
        draw(&list);
        snprintf(panel.blocks[0].text, PANEL_TEXT_BYTES, "One line.\nAnd a second.");
        draw(&other);
        const char *label = "Prefill | decode";
        assert_int_equal(find_text(&list, label)->rect.y, find_text(&other, label)->rect.y);
        assert_int_equal(find_text(&list, "12 ms")->rect.y, find_text(&other, "12 ms")->rect.y);
    }
}

static void moving_a_knob_moves_nothing_else(void **state) {
    (void)state;
    int before[200][2], after[200][2], count, count_after;
    lay_out(1024, 768, LAYOUT_STAGE, 0);
    sample_panel(&panel, SAMPLE_SLIDERS);
    draw(&list);
    places_of_texts(&list, before, &count);
    for (int ppm = 0; ppm <= VIEW_PPM; ppm += VIEW_PPM / 7) {
        panel.controls[0].ppm = ppm;
        snprintf(panel.controls[0].value, sizeof panel.controls[0].value, "%d tokens",
                 100 + ppm / 10000);
        draw(&other);
        places_of_texts(&other, after, &count_after);
        assert_int_equal(count, count_after);
        assert_memory_equal(before, after, (size_t)count * sizeof before[0]);
    }
}

// --- the mouse ---

static struct panel_hit hit(int x, int y) {
    return paint_panel_hit(&paint, &panel, x, y);
}

static void the_middle_of_a_drawn_label_is_its_control(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(SIZES[i][0], SIZES[i][1], LAYOUT_STAGE, 0);
        sample_panel(&panel, SAMPLE_QUESTION);
        draw(&list);
        for (int c = 0; c < panel.control_count; c++) {
            const struct cmd *label = find_text(&list, panel.controls[c].label);
            assert_non_null(label);
            struct rect box = text_box(label);
            struct panel_hit at = hit(box.x + box.w / 2, box.y + box.h / 2);
            assert_int_equal(at.part, PANEL_CONTROL);
            assert_int_equal(at.index, c);
        }
    }
}

// The knob: the last filled circle that a slider draws.
static struct rect knob_of(const struct cmdlist *in, rgba color) {
    struct rect knob = {0};
    for (int i = 0; i < in->count; i++)
        if (in->cmds[i].kind == CMD_ROUND && in->cmds[i].rect.w == in->cmds[i].rect.h &&
            in->cmds[i].color == color)
            knob = in->cmds[i].rect;
    return knob;
}

static void a_knob_is_hit_where_it_is_drawn(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(SIZES[i][0], SIZES[i][1], LAYOUT_STAGE, 0);
        sample_panel(&panel, SAMPLE_SLIDERS);
        rgba color = paint.theme->colors[COLOR_PREFILL];
        for (int ppm = 0; ppm <= VIEW_PPM; ppm += VIEW_PPM / 16) {
            panel.controls[0].ppm = ppm;
            draw(&list);
            struct rect knob = knob_of(&list, color);
            int x = knob.x + knob.w / 2, px_ppm = VIEW_PPM / (layout.panel.w / 2);
            struct panel_hit at = hit(x, knob.y + knob.h / 2);
            assert_true(knob.w > 0);
            assert_int_equal(at.part, PANEL_CONTROL);
            assert_int_equal(at.index, 0);
            assert_in_range(at.ppm - ppm + px_ppm, 0, 2 * px_ppm);
            assert_int_equal(paint_panel_drag_ppm(&paint, &panel, 0, x), at.ppm);
        }
    }
}

static void a_drag_goes_on_outside_and_is_clamped(void **state) {
    (void)state;
    lay_out(1280, 720, LAYOUT_STAGE, 0);
    sample_panel(&panel, SAMPLE_QUESTION);
    for (int c = 0; c < 2; c++) {
        assert_int_equal(paint_panel_drag_ppm(&paint, &panel, c, -100), 0);
        assert_int_equal(paint_panel_drag_ppm(&paint, &panel, c, 5000), VIEW_PPM);
        int last = 0;
        for (int x = layout.panel.x; x < layout.panel.x + layout.panel.w; x++) {
            int ppm = paint_panel_drag_ppm(&paint, &panel, c, x);
            assert_true(ppm >= last);
            last = ppm;
        }
    }
    assert_int_equal(paint_panel_drag_ppm(&paint, &panel, 9, 1100), 0);
    assert_int_equal(paint_panel_drag_ppm(&paint, &panel, -1, 1100), 0);
}

static void every_drawn_line_is_hit_by_its_row(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(SIZES[i][0], SIZES[i][1], LAYOUT_STAGE, 0);
        for (int focus = 0; focus < 60; focus += 7) {
            sample_panel(&panel, SAMPLE_LOG);
            panel.line_focus = focus;
            draw(&list);
            int found = 0;
            for (int l = 0; l < panel.line_count; l++) {
                const struct cmd *time = find_text(&list, panel.lines[l].time);
                if (!time)
                    continue;
                struct rect box = text_box(time);
                struct panel_hit at = hit(box.x + box.w / 2, box.y + box.h / 2);
                assert_int_equal(at.part, PANEL_LINE);
                assert_int_equal(at.index, l);
                found++;
            }
            assert_true(found >= 3);
            assert_non_null(find_text(&list, panel.lines[focus].time));
        }
    }
}

static void above_and_below_add_up_to_the_whole_list(void **state) {
    (void)state;
    lay_out(1280, 720, LAYOUT_STAGE, 0);
    for (int focus = 0; focus < 60; focus++) {
        sample_panel(&panel, SAMPLE_LOG);
        panel.line_focus = focus;
        draw(&list);
        int shown = 0, more = 0;
        for (int l = 0; l < panel.line_count; l++)
            shown += find_text(&list, panel.lines[l].time) != NULL;
        for (int i = 0; i < list.count; i++) {
            const char *words = list.cmds[i].kind == CMD_TEXT ? text_of(&list, &list.cmds[i]) : "";
            if (strstr(words, " more"))
                more += atoi(words + 4); // behind an arrow of three bytes and a space
        }
        assert_in_range(shown, 3, 59);
        assert_int_equal(shown + more, 60);
    }
}

static void an_underlined_word_is_found_by_its_name(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(SIZES[i][0], SIZES[i][1], LAYOUT_STAGE, 0);
        sample_panel(&panel, SAMPLE_STEP);
        draw(&list);
        rgba color = paint.theme->colors[COLOR_READ];
        int found = 0;
        for (int k = 0; k < list.count; k++) {
            struct rect line = list.cmds[k].rect;
            if (list.cmds[k].kind != CMD_FILL || list.cmds[k].color != color)
                continue;
            struct panel_hit at = hit(line.x + line.w / 2, line.y - layout.floor_px / 2);
            assert_int_equal(at.part, PANEL_TERM);
            bool is_first = strcmp(at.term, "layer") == 0;
            assert_true(is_first || strcmp(at.term, "KV cache") == 0);
            assert_true(hit(line.x - 3 * layout.unit_px, line.y).part != PANEL_TERM || !is_first);
            found++;
        }
        assert_in_range(found, 2, 3); // a term may be broken over two lines
    }
}

// The name has room for 39 bytes; letters of two bytes leave one of them free.
static void a_name_too_long_for_the_answer_ends_with_a_whole_letter(void **state) {
    (void)state;
    enum { ROOM = sizeof((struct panel_hit *)0)->term - 1 };
    lay_out(1920, 1080, LAYOUT_STAGE, 0);
    for (int letters = ROOM / 2; letters <= ROOM / 2 + 1; letters++) {
        sample_panel(&panel, SAMPLE_STEP);
        char *at = panel.blocks[0].text, wanted[ROOM + 1] = "";
        *at++ = PANEL_TERM_BEGIN;
        for (int i = 0; i < letters; i++)
            at = stpcpy(at, "\xC3\xA9");
        *at++ = PANEL_TERM_END;
        *at = '\0';
        memcpy(wanted, panel.blocks[0].text + 1, ROOM / 2 * 2);
        draw(&list);
        int found = 0;
        for (int k = 0; k < list.count; k++) {
            struct rect line = list.cmds[k].rect;
            if (list.cmds[k].kind != CMD_FILL ||
                list.cmds[k].color != paint.theme->colors[COLOR_READ])
                continue;
            struct panel_hit on = hit(line.x + line.w / 2, line.y - layout.floor_px / 2);
            assert_int_equal(on.part, PANEL_TERM);
            assert_string_equal(on.term, wanted);
            found++;
        }
        assert_in_range(found, 1, 2); // a long one is broken over two lines
    }
}

// Draws the cursor before byte `at` of the field: the only upright fill in ink inside the
// field's ring, *box.
static struct rect cursor_at(int at, struct rect *box) {
    struct rect cursor = {0};
    *box = cursor;
    panel.field_cursor = at;
    draw(&list);
    for (int k = 0; k < list.count; k++) {
        bool is_ink = list.cmds[k].color == paint.theme->colors[COLOR_INK];
        if (is_ink && list.cmds[k].kind == CMD_RING)
            *box = list.cmds[k].rect;
        if (is_ink && list.cmds[k].kind == CMD_FILL && list.cmds[k].rect.h > 4 &&
            is_inside(list.cmds[k].rect, *box))
            cursor = list.cmds[k].rect;
    }
    return cursor;
}

static void the_cursor_is_always_in_sight(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(SIZES[i][0], SIZES[i][1], LAYOUT_STAGE, 0);
        sample_panel(&panel, SAMPLE_EDITOR);
        random_label(panel.field, sizeof panel.field, 400);
        int bytes = (int)strlen(panel.field);
        for (int at = 0; at <= bytes; at += 1 + bytes / 40) {
            struct rect box, cursor = cursor_at(at, &box);
            assert_true(cursor.w > 0 && box.w > 0 && is_inside(cursor, box));
        }
    }
}

// Where a line is broken the cursor goes on in the new row, as the next letter will.
static void before_a_rows_first_letter_the_cursor_is_in_that_row(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(SIZES[i][0], SIZES[i][1], LAYOUT_STAGE, 0);
        sample_panel(&panel, SAMPLE_EDITOR);
        for (int at = 0; at < 240; at++)
            panel.field[at] = at % 6 == 5 ? ' ' : 'w';
        panel.field[240] = '\0';
        struct rect box, first = cursor_at(0, &box), before = first, cursor = first;
        int rows = 1;
        for (int at = 1; at < 240; at++, before = cursor) {
            cursor = cursor_at(at, &box);
            if (cursor.x >= before.x)
                continue;
            assert_int_equal(at % 6, 0);
            assert_int_equal(cursor.x, first.x);
            rows++;
        }
        assert_true(rows > 1);
    }
}

static void what_is_composed_is_underlined_row_by_row(void **state) {
    (void)state;
    lay_out(1920, 1080, LAYOUT_STAGE, 0);
    sample_panel(&panel, SAMPLE_EDITOR);
    int px = 0, wanted = 0;
    for (int mark = 0; mark <= 60; mark += 30) {
        snprintf(panel.field, sizeof panel.field, "%060d", 0);
        panel.field_mark = mark;
        struct rect box, cursor = cursor_at(60, &box);
        int width = 0;
        for (int k = 0; k < list.count; k++) {
            const struct cmd *cmd = &list.cmds[k];
            if (cmd->kind == CMD_FILL && is_inside(cmd->rect, box) && cmd->rect.h <= 4)
                width += cmd->rect.w;
        }
        assert_true(cursor.w > 0);
        if (mark == 30)
            px = width;
        wanted = mark == 0 ? 0 : px * mark / 30;
        assert_in_range(width, wanted - wanted / 20, wanted + wanted / 20);
    }
    assert_true(px > 0);
    panel.field_mark = 0;
}

// A switch with words too long for half the width has its halves below each other.
static void either_half_of_a_switch_is_hit_where_its_words_are(void **state) {
    (void)state;
    static const char *const WORDS_OF[][2] = {{"prefill", "a step"},
                                              {"out of prefill", "a charged step of its own"}};
    for (int i = 0; i < SIZE_COUNT; i++) {
        for (int w = 0; w < 2; w++) {
            lay_out(SIZES[i][0], SIZES[i][1], LAYOUT_STAGE, 0);
            sample_panel(&panel, SAMPLE_QUESTION);
            snprintf(panel.controls[2].label, sizeof panel.controls[2].label, "%s", WORDS_OF[w][0]);
            snprintf(panel.controls[2].value, sizeof panel.controls[2].value, "%s", WORDS_OF[w][1]);
            draw(&list);
            for (int half = 0; half < 2; half++) {
                const struct cmd *words = find_text(&list, WORDS_OF[w][half]);
                assert_non_null(words);
                struct rect box = text_box(words);
                struct panel_hit at = hit(box.x + box.w / 2, box.y + box.h / 2);
                assert_int_equal(at.part, PANEL_CONTROL);
                assert_int_equal(at.index, 2);
                assert_int_equal(at.ppm, half == 0 ? 0 : VIEW_PPM);
            }
            // A drag that left it changes nothing.
            panel.controls[2].ppm = VIEW_PPM;
            assert_int_equal(paint_panel_drag_ppm(&paint, &panel, 2, 0), VIEW_PPM);
        }
    }
}

// --- blocks that need more than their room ---

static void fill_numbered(int lines) {
    panel_clear(&panel);
    panel.block_count = 2;
    memset(panel.blocks, 0, sizeof panel.blocks);
    for (int i = 0; i < lines; i++) {
        char line[12];
        snprintf(line, sizeof line, "%sline %d", i % 40 ? "\n" : "", i);
        strcat(panel.blocks[i / 40].text, line);
    }
    snprintf(panel.foot, sizeof panel.foot, "foot");
}

static bool is_line_shown(int line) {
    char words[12];
    snprintf(words, sizeof words, "line %d", line);
    return find_text(&list, words) != NULL;
}

static void scrolling_shows_every_line_and_counts_the_others(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(SIZES[i][0], SIZES[i][1], LAYOUT_STAGE, 0);
        bool is_seen[70] = {false};
        fill_numbered(70);
        int most = paint_panel_scroll_most(&paint, &panel);
        assert_in_range(most, 1, 69);
        for (int scroll = 0; scroll <= most; scroll++) {
            panel.block_scroll = scroll;
            assert_true(draw(&list) > 0);
            int shown = 0, more = 0;
            for (int l = 0; l < 70; l++) {
                shown += is_line_shown(l);
                is_seen[l] = is_seen[l] || is_line_shown(l);
            }
            for (int k = 0; k < list.count; k++) {
                const char *words =
                    list.cmds[k].kind == CMD_TEXT ? text_of(&list, &list.cmds[k]) : "";
                more += strstr(words, " more") ? atoi(words + 4) : 0;
            }
            assert_int_equal(shown + more, 70);
            assert_int_equal(is_line_shown(0), scroll == 0);
            assert_int_equal(is_line_shown(69), scroll == most);
        }
        for (int l = 0; l < 70; l++)
            assert_true(is_seen[l]);
        uint64_t last = cmdlist_hash(&list);
        panel.block_scroll = most + 9;
        draw(&list);
        assert_true(cmdlist_hash(&list) == last);
    }
}

static void what_has_room_does_not_scroll(void **state) {
    (void)state;
    lay_out(1280, 720, LAYOUT_STAGE, 0);
    fill_numbered(5);
    assert_int_equal(paint_panel_scroll_most(&paint, &panel), 0);
    draw(&list);
    panel.block_scroll = 3;
    assert_int_equal(draw(&other), 0);
    assert_true(cmdlist_hash(&list) == cmdlist_hash(&other));
}

// --- shape, not colour alone ---

static void the_focus_is_a_ring_in_every_theme(void **state) {
    (void)state;
    for (int theme = 0; theme < THEME_COUNT; theme++) {
        lay_out(1280, 720, LAYOUT_STAGE, 0);
        paint.theme = theme_find((enum theme_id)theme);
        for (int c = 0; c < 4; c++) {
            sample_panel(&panel, SAMPLE_QUESTION);
            panel.controls[0].is_focused = false;
            draw(&list);
            panel.controls[c].is_focused = true;
            draw(&other);
            assert_int_equal(count_kind(&other, CMD_RING), count_kind(&list, CMD_RING) + 1);
            const struct cmd *label = find_text(&other, panel.controls[c].label);
            bool is_around = false;
            for (int i = 0; i < other.count; i++)
                is_around = is_around || (other.cmds[i].kind == CMD_RING &&
                                          other.cmds[i].rect.w > layout.panel.w * 3 / 4 &&
                                          other.cmds[i].rect.h < layout.panel.h / 2 &&
                                          is_inside(text_box(label), other.cmds[i].rect));
            assert_true(is_around);
        }
    }
}

static void prefill_is_solid_and_decode_striped(void **state) {
    (void)state;
    lay_out(1280, 720, LAYOUT_STAGE, 0);
    sample_panel(&panel, SAMPLE_SLIDERS);
    draw(&list);
    assert_int_equal(count_kind(&list, CMD_STRIPES), 1);
    panel.bars[1].second_ppm = 0;
    draw(&list);
    assert_int_equal(count_kind(&list, CMD_STRIPES), 0);
    sample_panel(&panel, SAMPLE_QUESTION);
    draw(&list);
    assert_int_equal(count_kind(&list, CMD_STRIPES), 1);
    panel.controls[0].ppm = VIEW_PPM;
    draw(&list);
    assert_int_equal(count_kind(&list, CMD_STRIPES), 0);
}

static void what_is_to_come_wears_another_sign(void **state) {
    (void)state;
    lay_out(1280, 720, LAYOUT_STAGE, 0);
    sample_panel(&panel, SAMPLE_LOGGED);
    for (int i = 0; i < 3; i++)
        panel.lines[i].is_past = true;
    draw(&list);
    panel.lines[1].is_past = false;
    draw(&other);
    assert_int_equal(count_kind(&other, CMD_RING), count_kind(&list, CMD_RING) + 1);
    assert_int_equal(count_kind(&other, CMD_ROUND), count_kind(&list, CMD_ROUND) - 1);
}

static void a_party_that_is_not_well_says_so_by_a_sign(void **state) {
    (void)state;
    lay_out(1280, 720, LAYOUT_STAGE, 0);
    sample_panel(&panel, SAMPLE_PARTIES);
    draw(&list);
    assert_null(find_text(&list, "!"));
    panel.parties[1].is_well = false;
    draw(&list);
    assert_non_null(find_text(&list, "!"));
}

static void a_layout_without_a_panel_shows_none(void **state) {
    (void)state;
    lay_out(1280, 720, LAYOUT_STAGE, 0);
    struct layout_input in = layout.input;
    in.has_panel = false;
    layout_make(&layout, &in);
    sample_panel(&panel, SAMPLE_QUESTION);
    assert_int_equal(draw(&list), 0);
    assert_int_equal(list.count, 0);
    assert_int_equal(hit(1100, 400).part, PANEL_NOTHING);
    lay_out(1280, 720, LAYOUT_STAGE, 0);
    panel_clear(&panel);
    assert_int_equal(draw(&list), 0);
    assert_int_equal(hit(1100, 400).part, PANEL_NOTHING);
    assert_int_equal(hit(10, 10).part, PANEL_NOTHING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_inside_the_panel),
        cmocka_unit_test(no_text_lies_on_another),
        cmocka_unit_test(no_text_is_half_over_a_shape),
        cmocka_unit_test(every_text_can_be_read),
        cmocka_unit_test(what_a_lesson_says_is_shown_in_full),
        cmocka_unit_test(an_optional_block_goes_before_anything_is_cut),
        cmocka_unit_test(dense_parties_are_runs_of_text_at_their_signs),
        cmocka_unit_test(what_has_no_room_is_counted),
        cmocka_unit_test(equal_panels_give_equal_commands),
        cmocka_unit_test(another_digit_moves_no_line),
        cmocka_unit_test(a_longer_sentence_does_not_move_the_controls),
        cmocka_unit_test(moving_a_knob_moves_nothing_else),
        cmocka_unit_test(the_middle_of_a_drawn_label_is_its_control),
        cmocka_unit_test(a_knob_is_hit_where_it_is_drawn),
        cmocka_unit_test(a_drag_goes_on_outside_and_is_clamped),
        cmocka_unit_test(every_drawn_line_is_hit_by_its_row),
        cmocka_unit_test(above_and_below_add_up_to_the_whole_list),
        cmocka_unit_test(an_underlined_word_is_found_by_its_name),
        cmocka_unit_test(a_name_too_long_for_the_answer_ends_with_a_whole_letter),
        cmocka_unit_test(the_cursor_is_always_in_sight),
        cmocka_unit_test(before_a_rows_first_letter_the_cursor_is_in_that_row),
        cmocka_unit_test(what_is_composed_is_underlined_row_by_row),
        cmocka_unit_test(either_half_of_a_switch_is_hit_where_its_words_are),
        cmocka_unit_test(scrolling_shows_every_line_and_counts_the_others),
        cmocka_unit_test(what_has_room_does_not_scroll),
        cmocka_unit_test(the_focus_is_a_ring_in_every_theme),
        cmocka_unit_test(prefill_is_solid_and_decode_striped),
        cmocka_unit_test(what_is_to_come_wears_another_sign),
        cmocka_unit_test(a_party_that_is_not_well_says_so_by_a_sign),
        cmocka_unit_test(a_layout_without_a_panel_shows_none),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
