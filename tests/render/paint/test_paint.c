// The painters, judged by their commands: nothing outside the target, no text on
// another text or out of its place, few commands however large the run, equal views
// equal commands, and motion without jumps. Where colours matter a small rasteriser
// below turns fills into pixels (corners square, texts and drops left out).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "render/paint/parts.h"
#include "tests/render/data/sample_view.h"
#include "tests/render/render_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct view view;
static struct cmdlist list, other;
static struct layout layout;

static const int SIZES[][2] = {
    {640, 480},   {800, 600},   {1024, 768}, {1280, 720},  {1280, 800}, {1920, 1080},
    {1920, 1200}, {3840, 2160}, {2560, 720}, {1080, 1920}, {3840, 480}, {1000, 1000},
};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

static const struct sample DEFAULT = {
    .layers = 8, .prompt_tokens = 18, .answer_limit = 7, .answers = 7};

static struct sample at(struct sample sample, struct sample_moment moment) {
    sample.moment = moment;
    return sample;
}

static void lay_out(const struct sample *sample, int width_px, int height_px,
                    enum layout_mode mode) {
    struct layout_input in = sample_input(sample, width_px, height_px, mode);
    assert_true(layout_make(&layout, &in));
}

static struct paint paint_with(enum theme_id theme) {
    return (struct paint){&view, &layout, theme_find(theme), text};
}

static void paint_into(struct cmdlist *out, const struct sample *sample) {
    sample_view(&view, sample);
    struct paint paint = paint_with(THEME_DARK);
    cmdlist_clear(out);
    paint_scene(out, &paint);
}

static struct sample random_sample(void) {
    struct sample s = {0};
    s.layers = random_between(0, 1) ? random_between(1, 12) : random_between(1, 80);
    s.prompt_tokens = random_between(0, 1) ? random_between(1, 40) : random_between(1, 1024);
    s.answer_limit = random_between(0, 1) ? random_between(1, 20) : random_between(1, 256);
    s.answers = random_between(1, s.answer_limit);
    s.is_charged = random_between(0, 3) == 0;
    s.is_complete = random_between(0, 9) == 0;
    s.moment.pass = random_between(-1, s.is_charged ? s.answers : s.answers - 1);
    s.moment.stage = random_between(0, s.layers + 1);
    s.moment.progress_ppm = random_between(0, VIEW_PPM);
    s.moment.falling_ppm = random_between(0, 1) ? random_between(1, VIEW_PPM) : 0;
    return s;
}

// Texts of a real run may be longer, or missing.
static void disturb_words(void) {
    if (random_between(0, 2) == 0)
        snprintf(view.note, sizeof view.note,
                 "answer length forced: the end token was passed over");
    if (random_between(0, 2) == 0)
        snprintf(view.origin[0], sizeof view.origin[0],
                 "modelled from a measured run \xC2\xB7 NVIDIA H200 \xC2\xB7 a-model-with-a-long-"
                 "name-8b, synthetic weights");
    if (random_between(0, 3) == 0)
        snprintf(view.caption, sizeof view.caption,
                 "the lesson charges one step for the first token; engines get it from prefill, "
                 "and this sentence is longer than any that the program has");
    if (random_between(0, 3) == 0)
        snprintf(view.headline, sizeof view.headline,
                 "A headline that is as long as a headline can possibly be made");
    view.decode_label_ppm =
        random_between(0, 2) ? view.decode_label_ppm : random_between(0, VIEW_PPM);
    if (random_between(0, 3) == 0)
        snprintf(view.decode_label, sizeof view.decode_label, "decode, 1234.56 ms a step and more");
    view.playhead_ppm = random_between(0, VIEW_PPM);
    if (view.readout_count > 3 && random_between(0, 2) == 0)
        snprintf(view.readouts[3].value, sizeof view.readouts[3].value, "1234567 tokens");
}

// --- boxes ---

static struct rect common(struct rect a, struct rect b) {
    int x = a.x > b.x ? a.x : b.x, y = a.y > b.y ? a.y : b.y;
    int right = a.x + a.w < b.x + b.w ? a.x + a.w : b.x + b.w;
    int bottom = a.y + a.h < b.y + b.h ? a.y + a.h : b.y + b.h;
    return (struct rect){x, y, right > x ? right - x : 0, bottom > y ? bottom - y : 0};
}

struct boxed_text {
    struct rect box; // what can be seen of it
    const struct cmd *cmd;
};

enum { MAX_TEXTS = 4096 };
static struct boxed_text boxes[MAX_TEXTS];

static struct rect target(void) {
    return (struct rect){0, 0, layout.input.width_px, layout.input.height_px};
}

static int collect_texts(const struct cmdlist *from) {
    struct rect clip = target();
    int count = 0;
    for (int i = 0; i < from->count; i++) {
        const struct cmd *cmd = &from->cmds[i];
        if (cmd->kind == CMD_CLIP)
            clip = cmd->rect.w == 0 ? target() : cmd->rect;
        if (cmd->kind != CMD_TEXT)
            continue;
        struct rect box = common(text_box(cmd), clip);
        if (box.w > 0 && box.h > 0 && count < MAX_TEXTS)
            boxes[count++] = (struct boxed_text){box, cmd};
    }
    return count;
}

static void say(char out[200], const struct sample *s) {
    snprintf(out, 200, "%dx%d mode %d step %d: L %d P %d N %d/%d pass %d stage %d at %d fall %d",
             layout.input.width_px, layout.input.height_px, (int)layout.input.mode,
             layout.input.text_step, s->layers, s->prompt_tokens, s->answers, s->answer_limit,
             s->moment.pass, s->moment.stage, s->moment.progress_ppm, s->moment.falling_ppm);
}

// Pictures come in blocks of one size and type, so that few fonts are opened.
enum { BLOCK = 30, PICTURES = SIZE_COUNT * BLOCK * 2 };

static struct sample random_picture(int round) {
    static enum layout_mode mode;
    static int step;
    const int *size = SIZES[round / BLOCK % SIZE_COUNT];
    if (round % BLOCK == 0) {
        mode = (enum layout_mode)random_between(LAYOUT_STAGE, LAYOUT_FILM);
        step = random_between(0, 2) ? 0 : random_between(-4, 8);
    }
    struct sample sample = random_sample();
    struct layout_input in = sample_input(&sample, size[0], size[1], mode);
    in.text_step = step;
    assert_true(layout_make(&layout, &in));
    sample_view(&view, &sample);
    disturb_words();
    struct paint paint = paint_with((enum theme_id)random_between(0, THEME_COUNT - 1));
    cmdlist_clear(&list);
    paint_scene(&list, &paint);
    return sample;
}

static void no_command_reaches_out_of_the_target(void **state) {
    (void)state;
    for (int round = 0; round < PICTURES; round++) {
        struct sample sample = random_picture(round);
        for (int i = 0; i < list.count; i++) {
            const struct cmd *cmd = &list.cmds[i];
            struct rect rect = cmd->kind == CMD_TEXT ? text_box(cmd) : cmd->rect;
            if (cmd->kind == CMD_CLIP && rect.w == 0)
                continue;
            char what[200];
            say(what, &sample);
            // A word's outline may reach out of its own tile, which clips it.
            int reach = cmd->kind == CMD_ROUND || cmd->kind == CMD_RING ? 2 * layout.unit_px : 0;
            struct rect all = {-reach, 0, layout.input.width_px + 2 * reach,
                               layout.input.height_px};
            if (!is_inside(rect, all))
                fail_msg("%s: command %d kind %d at %d,%d %dx%d", what, i, cmd->kind, rect.x,
                         rect.y, rect.w, rect.h);
        }
        assert_int_equal(list.dropped, 0);
    }
}

static void no_text_lies_on_another(void **state) {
    (void)state;
    for (int round = 0; round < PICTURES; round++) {
        struct sample sample = random_picture(round);
        int count = collect_texts(&list);
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < i; k++) {
                struct rect both = common(boxes[i].box, boxes[k].box);
                if (both.w == 0 || both.h == 0)
                    continue;
                char what[200];
                say(what, &sample);
                fail_msg("%s: \"%s\" on \"%s\"", what, text_of(&list, boxes[i].cmd),
                         text_of(&list, boxes[k].cmd));
            }
        }
    }
}

// The rectangles of a layout that bear text.
static int text_places(struct rect out[40]) {
    int n = 0;
    const struct rect places[] = {layout.title,        layout.origin, layout.rate,
                                  layout.caption,      layout.header, layout.labels,
                                  layout.output_label, layout.answer, layout.answer_label,
                                  layout.clock_labels, layout.output, layout.clock_bar};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        out[n++] = places[i];
    out[n] = layout.answer_label; // the mark for what left is below it
    out[n++].h = layout.answer.h;
    for (int i = 0; i < 4; i++)
        out[n++] = layout.pills[i];
    for (int i = 0; i < layout.readout_count; i++)
        out[n++] = layout.readouts[i];
    return n;
}

static void every_text_lies_in_a_place_of_the_layout(void **state) {
    (void)state;
    for (int round = 0; round < PICTURES; round++) {
        struct sample sample = random_picture(round);
        struct rect places[40];
        int place_count = text_places(places), count = collect_texts(&list);
        for (int i = 0; i < count; i++) {
            bool is_placed = false;
            for (int p = 0; p < place_count && !is_placed; p++)
                is_placed = is_inside(boxes[i].box, places[p]);
            char what[200];
            say(what, &sample);
            if (!is_placed)
                fail_msg("%s: \"%s\" at %d,%d %dx%d is in no place", what,
                         text_of(&list, boxes[i].cmd), boxes[i].box.x, boxes[i].box.y,
                         boxes[i].box.w, boxes[i].box.h);
            bool is_name = is_inside(boxes[i].box, layout.header);
            assert_true(boxes[i].cmd->stroke >=
                        (is_name ? layout.header_floor_px : layout.floor_px));
        }
    }
}

// One header alone in its part has no neighbour to lend it room.
static void a_lone_answer_header_stays_beside_its_column(void **state) {
    (void)state;
    for (int prompt = 15; prompt < 80; prompt++) {
        struct sample s = {.layers = 4, .prompt_tokens = prompt, .answer_limit = 2, .answers = 2};
        s.moment = (struct sample_moment){1, 1, 500000, 0};
        lay_out(&s, 1024, 768, LAYOUT_STAGE);
        paint_into(&list, &s);
        for (int i = 0; i < list.count; i++)
            if (list.cmds[i].kind == CMD_ROUND && list.cmds[i].rect.y < layout.grid.y)
                assert_true(list.cmds[i].rect.x + list.cmds[i].rect.w <=
                            layout.grid.x + layout.grid.w);
    }
}

static void drops_stay_between_the_output_and_the_answers_end(void **state) {
    (void)state;
    for (int round = 0; round < PICTURES; round++) {
        random_picture(round);
        struct rect room = layout.drip;
        room.h = layout.answer.y + layout.answer.h - room.y;
        room.h += 2 * layout.unit_px; // a drop is a little taller than a tile
        for (int i = 0; i < list.count; i++)
            if (list.cmds[i].kind == CMD_DROP)
                assert_true(is_inside(list.cmds[i].rect, room));
    }
}

static void a_drop_over_a_narrow_tile_at_the_edge_stays_inside(void **state) {
    (void)state;
    struct sample s = at(DEFAULT, (struct sample_moment){1, 1, 0, VIEW_PPM});
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(&s, SIZES[i][0], SIZES[i][1], LAYOUT_SHOW);
        sample_view(&view, &s);
        snprintf(view.tokens[18].text, VIEW_TOKEN_BYTES, ".");
        struct paint paint = paint_with(THEME_DARK);
        cmdlist_clear(&list);
        paint_scene(&list, &paint);
        for (int k = 0; k < list.count; k++)
            if (list.cmds[k].kind == CMD_DROP)
                assert_true(list.cmds[k].rect.x >= layout.drip.x);
    }
}

static void commands_stay_few_however_large_the_run(void **state) {
    (void)state;
    static const struct {
        int layers, prompt, answers;
    } RUNS[] = {{80, 1024, 256},  {80, 1, 1},   {1, 1024, 1},  {80, 200, 256}, {32, 40, 40},
                {160, 1024, 256}, {8, 18, 200}, {12, 160, 30}, {80, 20, 8},    {40, 55, 5}};
    for (size_t r = 0; r < sizeof RUNS / sizeof RUNS[0]; r++) {
        for (int i = 0; i < SIZE_COUNT; i++) {
            struct sample s = {.layers = RUNS[r].layers,
                               .prompt_tokens = RUNS[r].prompt,
                               .answer_limit = RUNS[r].answers,
                               .answers = RUNS[r].answers};
            s.moment = (struct sample_moment){s.answers - 1, s.layers / 2, 500000, 500000};
            lay_out(&s, SIZES[i][0], SIZES[i][1], LAYOUT_STAGE);
            paint_into(&list, &s);
            assert_int_equal(list.dropped, 0);
            if (list.count > 12000)
                fail_msg("%d commands for L %d P %d", list.count, s.layers, s.prompt_tokens);
        }
    }
}

static void equal_views_give_equal_commands(void **state) {
    (void)state;
    for (int round = 0; round < 100; round++) {
        random_picture(round);
        uint64_t first = cmdlist_hash(&list);
        struct paint paint = paint_with(THEME_DARK);
        cmdlist_clear(&list);
        paint_scene(&list, &paint);
        first = cmdlist_hash(&list);
        memset(&other, 0x5A, sizeof other);
        cmdlist_clear(&other);
        paint_scene(&other, &paint);
        assert_true(cmdlist_hash(&other) == first);
    }
}

static void every_stage_of_a_pass_looks_different(void **state) {
    (void)state;
    uint64_t seen[64];
    int count = 0;
    lay_out(&DEFAULT, 1280, 720, LAYOUT_STAGE);
    for (int pass = -1; pass < 3; pass++) {
        for (int stage = 0; stage <= 9; stage++) {
            struct sample s = at(DEFAULT, (struct sample_moment){pass, stage, 500000, 0});
            paint_into(&list, &s);
            // Words and clock change anyway: look at the grid alone.
            struct paint paint = paint_with(THEME_DARK);
            cmdlist_clear(&list);
            paint_grid(&list, &paint);
            seen[count++] = cmdlist_hash(&list);
            if (pass < 0)
                break;
        }
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            assert_true(seen[i] != seen[k]);
}

// --- words ---

static bool is_shown(const struct cmdlist *from, const char *word, struct rect place) {
    for (int i = 0; i < from->count; i++) {
        const struct cmd *cmd = &from->cmds[i];
        if (cmd->kind == CMD_TEXT && is_inside(text_box(cmd), place) &&
            strcmp(text_of(from, cmd), word) == 0)
            return true;
    }
    return false;
}

static void the_default_prompt_and_answer_are_never_cut(void **state) {
    (void)state;
    for (int i = 0; i < SIZE_COUNT; i++) {
        for (int mode = 0; mode < 2; mode++) {
            struct sample s = DEFAULT;
            s.is_complete = true;
            lay_out(&s, SIZES[i][0], SIZES[i][1], (enum layout_mode)mode);
            paint_into(&list, &s);
            for (int t = 0; t < view.headers; t++)
                if (!is_shown(&list, view.tokens[t].text, layout.header))
                    fail_msg("%dx%d mode %d: header \"%s\" is cut", SIZES[i][0], SIZES[i][1], mode,
                             view.tokens[t].text);
            for (int t = 18; t < view.token_count; t++)
                assert_true(is_shown(&list, view.tokens[t].text, layout.answer));
            assert_true(is_shown(&list, view.rate, layout.rate));
            assert_true(is_shown(&list, view.origin[0], layout.origin));
        }
    }
}

static void a_note_gives_way_to_the_caption_beside_it(void **state) {
    (void)state;
    static const char *const captions[] = {
        "18 Token nebeneinander, Schicht für Schicht: ein Durchlauf",
        "ein Token allein; jede Schicht liest, was 23 Token gespeichert haben",
        "one token goes down alone; each layer reads what 18 tokens saved",
    };
    static const char *const notes[][2] = {{"gestört; Umschalt R misst neu", "gestört"},
                                           {"disturbed; Shift R measures again", "disturbed"}};
    for (int has_panel = 0; has_panel < 2; has_panel++) {
        struct layout_input in = sample_input(&DEFAULT, 1024, 768, LAYOUT_STAGE);
        in.has_panel = has_panel;
        assert_true(layout_make(&layout, &in));
        for (size_t i = 0; i < sizeof captions / sizeof captions[0]; i++) {
            const char *const *note = notes[i == 2];
            sample_view(&view, &DEFAULT);
            snprintf(view.caption, sizeof view.caption, "%s", captions[i]);
            snprintf(view.note, sizeof view.note, "%s", note[0]);
            snprintf(view.note_short, sizeof view.note_short, "%s", note[1]);
            struct paint paint = paint_with(THEME_DARK);
            cmdlist_clear(&list);
            paint_scene(&list, &paint);
            assert_true(is_shown(&list, captions[i], layout.caption));
            assert_true(is_shown(&list, note[has_panel], layout.caption));
        }
    }
}

static void stamps_and_captions_of_the_program_fit_at_4_to_3(void **state) {
    (void)state;
    static const char *const CAPTIONS[] = {
        "the lesson charges one step for the first token; engines get it from prefill",
        "answer token 3 is out; it is not in the KV cache until it is fed back",
        "7 answer tokens: one pass for the prompt, then 6 steps one after another",
    };
    for (int mode = 0; mode < 2; mode++) {
        lay_out(&DEFAULT, 1024, 768, (enum layout_mode)mode);
        for (size_t i = 0; i < sizeof CAPTIONS / sizeof CAPTIONS[0]; i++) {
            sample_view(&view, &DEFAULT);
            snprintf(view.caption, sizeof view.caption, "%s", CAPTIONS[i]);
            struct paint paint = paint_with(THEME_DARK);
            cmdlist_clear(&list);
            paint_scene(&list, &paint);
            assert_true(is_shown(&list, CAPTIONS[i], layout.caption));
            static const char *const forms[VIEW_ORIGINS] = {
                "measured · Intel Xeon Platinum 8481C, 64 threads · from a file · "
                "llama-3.2-1b · synthetic weights",
                "measured · Intel Xeon Platinum 8481C, 64 threads · from a file · "
                "synthetic weights",
                "measured · Intel Xeon Platinum 8481C · from a file · synthetic weights",
                "measured · Xeon Platinum 8481C · from a file · synthetic weights",
                "gemessen · Xeon Platinum · aus Datei · synthetische Gewichte"};
            for (int form = 0; form < VIEW_ORIGINS; form++)
                snprintf(view.origin[form], sizeof view.origin[form], "%s", forms[form]);
            cmdlist_clear(&list);
            paint_scene(&list, &paint);
            bool shown = false;
            for (int form = 0; form < VIEW_ORIGINS; form++)
                shown = shown || is_shown(&list, view.origin[form], layout.origin);
            assert_true(shown);
        }
    }
}

// Texts of one moment that stay must stand where they stood.
static void headers_and_tiles_never_move_while_the_answer_grows(void **state) {
    (void)state;
    static const struct {
        int layers, prompt, answers;
    } RUNS[] = {{8, 18, 7}, {8, 30, 12}, {4, 3, 9}};
    for (size_t r = 0; r < sizeof RUNS / sizeof RUNS[0]; r++) {
        struct sample s = {.layers = RUNS[r].layers,
                           .prompt_tokens = RUNS[r].prompt,
                           .answer_limit = RUNS[r].answers,
                           .answers = RUNS[r].answers};
        lay_out(&s, 1920, 1080, LAYOUT_STAGE);
        struct rect homes[2][80];
        int known[2] = {0};
        for (int pass = -1; pass < s.answers; pass++) {
            s.moment = (struct sample_moment){pass, 1, 500000, 0};
            paint_into(&list, &s);
            int seen[2] = {0};
            for (int i = 0; i < list.count; i++) {
                struct rect box = text_box(&list.cmds[i]);
                if (list.cmds[i].kind != CMD_TEXT)
                    continue;
                int where = is_inside(box, layout.header)   ? 0
                            : is_inside(box, layout.answer) ? 1
                                                            : -1;
                if (where < 0)
                    continue;
                int n = seen[where]++;
                if (n >= known[where])
                    homes[where][known[where]++] = box;
                assert_memory_equal(&homes[where][n], &box, sizeof box);
            }
        }
        assert_int_equal(known[0], RUNS[r].prompt + RUNS[r].answers - 1);
        assert_int_equal(known[1], RUNS[r].answers - 1);
    }
}

static void read_outs_stand_still_while_their_numbers_run(void **state) {
    (void)state;
    static const char *const VALUES[] = {"1.11 ms", "8.88 ms", "0.00 ms", "4.71 ms"};
    struct rect unit = {0};
    lay_out(&DEFAULT, 1920, 1080, LAYOUT_STAGE);
    for (int v = 0; v < 4; v++) {
        sample_view(&view, &DEFAULT);
        snprintf(view.readouts[0].value, sizeof view.readouts[0].value, "%s", VALUES[v]);
        struct paint paint = paint_with(THEME_DARK);
        cmdlist_clear(&list);
        paint_readouts(&list, &paint);
        bool is_found = false;
        for (int i = 0; i < list.count; i++) {
            if (strcmp(text_of(&list, &list.cmds[i]), "ms") != 0)
                continue;
            if (v == 0)
                unit = list.cmds[i].rect;
            assert_memory_equal(&unit, &list.cmds[i].rect, sizeof unit);
            is_found = true;
            break;
        }
        assert_true(is_found);
    }
}

static void a_unit_keeps_every_byte_of_its_first_character(void **state) {
    (void)state;
    lay_out(&DEFAULT, 1024, 768, LAYOUT_STAGE);
    snprintf(view.readouts[0].value, sizeof view.readouts[0].value, "114 \xC2\xB5s");
    struct paint paint = paint_with(THEME_DARK);
    cmdlist_clear(&list);
    paint_readouts(&list, &paint);
    int units = 0;
    for (int i = 0; i < list.count; i++)
        units += list.cmds[i].kind == CMD_TEXT &&
                 strcmp(text_of(&list, &list.cmds[i]), "\xC2\xB5s") == 0;
    assert_int_equal(units, 1);
}

static void tokens_of_one_word_touch_and_words_stand_apart(void **state) {
    (void)state;
    struct sample s = DEFAULT;
    s.is_complete = true;
    lay_out(&s, 1920, 1080, LAYOUT_STAGE);
    paint_into(&list, &s);
    int right[8] = {0}, left[8] = {0}, n = 0;
    for (int i = 0; i < list.count && n < 8; i++) {
        struct rect box = text_box(&list.cmds[i]);
        if (list.cmds[i].kind != CMD_TEXT || !is_inside(box, layout.answer))
            continue;
        left[n] = box.x;
        right[n++] = box.x + box.w;
    }
    assert_int_equal(n, 7); // Your par cel arrives today . end
    int within = left[2] - right[1], between = left[3] - right[2];
    assert_true(within < between);
    assert_true(left[5] - right[4] < left[4] - right[3]);
}

static void an_empty_place_waits_until_the_answer_is_finished(void **state) {
    (void)state;
    struct paint_flow flow;
    struct paint paint = paint_with(THEME_DARK);
    struct sample s = at(DEFAULT, (struct sample_moment){3, 4, 500000, 0});
    lay_out(&s, 1920, 1080, LAYOUT_STAGE);
    sample_view(&view, &s);
    paint_flow_make(&flow, &paint);
    assert_true(flow.has_next);
    assert_true(is_inside(flow.next, layout.answer));
    assert_true(is_inside(flow.last, layout.answer));
    assert_true(flow.last.x + flow.last.w <= flow.next.x);
    s.answers = 5; // fewer than there could have been
    s.is_complete = true;
    sample_view(&view, &s);
    paint_flow_make(&flow, &paint);
    assert_false(flow.has_next);
}

static void a_full_answer_scrolls_its_oldest_line_away(void **state) {
    (void)state;
    struct sample s = {.layers = 4, .prompt_tokens = 4, .answer_limit = 120, .answers = 120};
    lay_out(&s, 1280, 720, LAYOUT_STAGE);
    struct paint_flow flow;
    struct paint paint = paint_with(THEME_DARK);
    int last = 0;
    for (int pass = 0; pass < s.answers; pass++) {
        s.moment = (struct sample_moment){pass, 2, 500000, 0};
        sample_view(&view, &s);
        paint_flow_make(&flow, &paint);
        assert_true(flow.first_line >= last && flow.first_line <= last + 1);
        assert_true(is_inside(flow.next, layout.answer));
        last = flow.first_line;
    }
    assert_true(last > 2);
}

static void words_that_left_the_answer_leave_their_number(void **state) {
    (void)state;
    for (int size = 0; size < SIZE_COUNT; size++) {
        struct sample s = {.layers = 4, .prompt_tokens = 4, .answer_limit = 120, .answers = 120};
        lay_out(&s, SIZES[size][0], SIZES[size][1], LAYOUT_STAGE);
        struct rect place = layout.answer_label;
        place.h = layout.answer.h;
        for (int pass = 0; pass < 119; pass += 3) {
            s.moment = (struct sample_moment){pass, 2, 500000, 0};
            paint_into(&list, &s);
            int shown = 0, known = view.token_count - view.prompt_tokens;
            for (int i = 0; i < list.count; i++)
                shown += list.cmds[i].kind == CMD_TEXT &&
                         is_inside(text_box(&list.cmds[i]), layout.answer);
            char said[2][40];
            snprintf(said[0], sizeof said[0], "↑ %d tokens", known - shown);
            snprintf(said[1], sizeof said[1], "↑ %d", known - shown);
            bool is_said = is_shown(&list, said[0], place) || is_shown(&list, said[1], place);
            assert_int_equal(is_said, shown < known);
            assert_int_equal(is_shown(&list, "Answer", place), !is_said || layout.answer_lines > 1);
        }
    }
}

static void a_band_of_heads_shows_what_a_chat_format_added(void **state) {
    (void)state;
    struct sample s = {.layers = 4, .prompt_tokens = 100, .answer_limit = 10, .answers = 10};
    s.moment = (struct sample_moment){2, 2, 500000, 0};
    lay_out(&s, 1280, 720, LAYOUT_STAGE);
    assert_int_equal(layout.headers, HEADERS_NEWEST);
    sample_view(&view, &s);
    for (int i = 0; i < 100; i++)
        view.tokens[i].is_framing = i < 16 || i >= 44;
    struct paint paint = paint_with(THEME_DARK);
    cmdlist_clear(&list);
    paint_scene(&list, &paint);
    int x = layout_column_x(&layout, 16), found = 0, said = 0;
    for (int i = 0; i < list.count; i++) {
        const struct cmd *cmd = &list.cmds[i];
        said += cmd->kind == CMD_TEXT && is_inside(text_box(cmd), layout.header) &&
                strstr(text_of(&list, cmd), "72 from the chat format");
        found += cmd->kind == CMD_FILL && is_inside(cmd->rect, layout.header) && cmd->rect.x == x &&
                 cmd->rect.w == layout_column_x(&layout, 44) - x;
    }
    assert_int_equal(said, 1);
    assert_int_equal(found, 1);
}

// --- pixels ---

enum { RASTER_W = 640, RASTER_H = 480 };
static rgba pixels[RASTER_H][RASTER_W], before[RASTER_H][RASTER_W];

static void fill_pixels(struct rect rect, rgba color) {
    for (int y = rect.y; y < rect.y + rect.h; y++)
        for (int x = rect.x; x < rect.x + rect.w; x++)
            pixels[y][x] = theme_blend(color, (uint8_t)(color & 0xFF), pixels[y][x]);
}

static void ring_pixels(const struct cmd *cmd, struct rect clip) {
    struct rect r = cmd->rect;
    int s = cmd->stroke;
    fill_pixels(common((struct rect){r.x, r.y, r.w, s}, clip), cmd->color);
    fill_pixels(common((struct rect){r.x, r.y + r.h - s, r.w, s}, clip), cmd->color);
    fill_pixels(common((struct rect){r.x, r.y + s, s, r.h - 2 * s}, clip), cmd->color);
    fill_pixels(common((struct rect){r.x + r.w - s, r.y + s, s, r.h - 2 * s}, clip), cmd->color);
}

static void rasterise(const struct cmdlist *from) {
    struct rect all = {0, 0, RASTER_W, RASTER_H}, clip = all;
    for (int y = 0; y < RASTER_H; y++)
        for (int x = 0; x < RASTER_W; x++)
            pixels[y][x] = theme_find(THEME_DARK)->colors[COLOR_GROUND];
    for (int i = 0; i < from->count; i++) {
        const struct cmd *cmd = &from->cmds[i];
        if (cmd->kind == CMD_CLIP)
            clip = cmd->rect.w == 0 ? all : common(cmd->rect, all);
        else if (cmd->kind == CMD_FILL || cmd->kind == CMD_ROUND)
            fill_pixels(common(cmd->rect, clip), cmd->color);
        else if (cmd->kind == CMD_RING)
            ring_pixels(cmd, clip);
    }
}

static int channel_step(rgba a, rgba b) {
    int most = 0;
    for (int shift = 8; shift <= 24; shift += 8) {
        int step = abs((int)((a >> shift) & 0xFF) - (int)((b >> shift) & 0xFF));
        most = step > most ? step : most;
    }
    return most;
}

static void paint_part(const struct sample *sample,
                       void (*part)(struct cmdlist *, const struct paint *)) {
    sample_view(&view, sample);
    struct paint paint = paint_with(THEME_DARK);
    cmdlist_clear(&list);
    part(&list, &paint);
    rasterise(&list);
}

// How much of the accent is in the prompt's columns.
static int64_t blue_in_grid(void) {
    int64_t sum = 0;
    struct rect g = layout.grid;
    for (int y = g.y; y < g.y + g.h; y++)
        for (int x = g.x; x < g.x + layout.prompt_width_px; x++)
            sum += (pixels[y][x] >> 8) & 0xFF;
    return sum;
}

static void prefill_only_ever_fills(void **state) {
    (void)state;
    lay_out(&DEFAULT, RASTER_W, RASTER_H, LAYOUT_STAGE);
    for (int stage = 1; stage <= 8; stage++) {
        int64_t last = 0;
        for (int ppm = 0; ppm <= VIEW_PPM; ppm += 50000) {
            struct sample s = at(DEFAULT, (struct sample_moment){0, stage, ppm, 0});
            paint_part(&s, paint_grid);
            int64_t blue = blue_in_grid();
            assert_true(blue > last);
            last = blue;
        }
    }
}

// A ten-thousandth of a stage later no pixel may have changed by much.
static void a_short_time_changes_every_pixel_only_a_little(void **state) {
    (void)state;
    enum { STEP_PPM = 1500, MOST = 20 };
    static void (*const PARTS[])(struct cmdlist *, const struct paint *) = {paint_grid,
                                                                            paint_clock};
    lay_out(&DEFAULT, RASTER_W, RASTER_H, LAYOUT_STAGE);
    for (int part = 0; part < 2; part++) {
        for (int stage = 0; stage <= 9; stage++) {
            for (int ppm = 0; ppm + STEP_PPM <= VIEW_PPM; ppm += 61000) {
                struct sample s = at(DEFAULT, (struct sample_moment){3, stage, ppm, 0});
                paint_part(&s, PARTS[part]);
                memcpy(before, pixels, sizeof pixels);
                s.moment.progress_ppm += STEP_PPM;
                paint_part(&s, PARTS[part]);
                for (int y = 0; y < RASTER_H; y++)
                    for (int x = 0; x < RASTER_W; x++)
                        if (channel_step(before[y][x], pixels[y][x]) > MOST)
                            fail_msg("part %d stage %d at %d: pixel %d,%d jumps", part, stage, ppm,
                                     x, y);
            }
        }
    }
}

// The end of one stage and the beginning of the next are the same cells.
static void cells_do_not_jump_where_stages_meet(void **state) {
    (void)state;
    enum { MOST = 90 }; // done cells are a little paler than the one being filled
    lay_out(&DEFAULT, RASTER_W, RASTER_H, LAYOUT_STAGE);
    for (int pass = 0; pass < 4; pass++) {
        for (int stage = 1; stage <= 9; stage++) {
            struct sample s = at(DEFAULT, (struct sample_moment){pass, stage, VIEW_PPM, 0});
            paint_part(&s, paint_grid);
            memcpy(before, pixels, sizeof pixels);
            s.moment = stage == 9 ? (struct sample_moment){pass + 1, 0, 0, 0}
                                  : (struct sample_moment){pass, stage + 1, 0, 0};
            paint_part(&s, paint_grid);
            struct rect g = layout.grid;
            for (int y = g.y; y < g.y + g.h; y++)
                for (int x = g.x; x < g.x + g.w; x++)
                    assert_true(channel_step(before[y][x], pixels[y][x]) <= MOST);
        }
    }
}

static rgba pixel_in(struct rect rect) {
    return pixels[rect.y + rect.h / 2][rect.x + rect.w / 2];
}

static rgba dark(enum theme_color color) {
    return theme_find(THEME_DARK)->colors[color];
}

static void a_cell_is_filled_exactly_when_its_layer_is_behind_the_pass(void **state) {
    (void)state;
    const struct theme *theme = theme_find(THEME_DARK);
    rgba done = theme_blend(dark(COLOR_PREFILL), theme->done_alpha, dark(COLOR_GROUND));
    rgba saved = theme_blend(dark(COLOR_PREFILL), theme->saved_alpha, dark(COLOR_GROUND));
    rgba answer = theme_blend(dark(COLOR_DECODE), theme->done_alpha, dark(COLOR_GROUND));
    lay_out(&DEFAULT, RASTER_W, RASTER_H, LAYOUT_STAGE);
    for (int stage = 1; stage <= 8; stage++) {
        struct sample s = at(DEFAULT, (struct sample_moment){0, stage, 0, 0});
        paint_part(&s, paint_grid);
        for (int layer = 0; layer < 8; layer++)
            for (int column = 0; column < 24; column++) {
                bool is_done = column < 18 && layer < stage - 1;
                assert_int_equal(pixel_in(layout_cell(&layout, column, layer)) == done, is_done);
            }
        s.moment.pass = 2;
        paint_part(&s, paint_grid);
        for (int layer = 0; layer < 8; layer++) {
            assert_int_equal(pixel_in(layout_cell(&layout, 19, layer)) == answer,
                             layer < stage - 1);
            assert_int_equal(pixel_in(layout_cell(&layout, 5, layer)), saved);
            assert_int_equal(pixel_in(layout_cell(&layout, 20, layer)), dark(COLOR_GROUND));
        }
    }
}

static void decode_lights_the_cells_it_reads_and_no_others(void **state) {
    (void)state;
    lay_out(&DEFAULT, RASTER_W, RASTER_H, LAYOUT_STAGE);
    struct sample s = at(DEFAULT, (struct sample_moment){2, 4, 500000, 0});
    paint_part(&s, paint_grid);
    for (int layer = 0; layer < 8; layer++) {
        for (int column = 0; column < 24; column++) {
            struct rect cell = layout_cell(&layout, column, layer);
            bool is_read = layer == 3 && column < 19;
            rgba edge = pixels[cell.y][cell.x + cell.w / 2];
            assert_int_equal(edge == dark(COLOR_READ), is_read);
        }
    }
    // Calm: dark at both ends of the stage.
    for (int end = 0; end < 2; end++) {
        s.moment.progress_ppm = end * VIEW_PPM;
        paint_part(&s, paint_grid);
        struct rect cell = layout_cell(&layout, 5, 3), above = layout_cell(&layout, 5, 2);
        assert_int_equal(pixel_in(cell), pixel_in(above));
    }
}

static void a_charged_step_is_a_hollow_frame_with_a_name_and_adds_no_column(void **state) {
    (void)state;
    struct sample s = DEFAULT;
    s.is_charged = true;
    s.moment = (struct sample_moment){1, 5, 500000, 0};
    lay_out(&s, RASTER_W, RASTER_H, LAYOUT_STAGE);
    paint_part(&s, paint_grid);
    int frames = 0, names = 0;
    for (int i = 0; i < list.count; i++) {
        const struct cmd *cmd = &list.cmds[i];
        assert_int_not_equal(cmd->kind, CMD_STRIPES);
        frames += cmd->kind == CMD_RING && cmd->rect.x == layout_column_x(&layout, 17) &&
                  cmd->rect.h > 4 * layout.row_px && cmd->rect.h < 5 * layout.row_px;
        names +=
            cmd->kind == CMD_TEXT && strncmp(list.text + cmd->text_offset, "charged step", 12) == 0;
    }
    assert_int_equal(frames, 1);
    assert_int_equal(names, 1);
    const struct theme *theme = theme_find(THEME_DARK);
    assert_int_equal(pixel_in(layout_cell(&layout, 17, 2)), // nothing is filled
                     theme_blend(dark(COLOR_PREFILL), theme->saved_alpha, dark(COLOR_GROUND)));
    assert_int_equal(pixel_in(layout_cell(&layout, 18, 0)), dark(COLOR_GROUND));
}

static void thin_cells_show_the_same_picture(void **state) {
    (void)state;
    struct sample s = {.layers = 40, .prompt_tokens = 700, .answer_limit = 40, .answers = 40};
    lay_out(&s, RASTER_W, RASTER_H, LAYOUT_STAGE);
    const struct theme *theme = theme_find(THEME_DARK);
    rgba saved = theme_blend(dark(COLOR_PREFILL), theme->saved_alpha, dark(COLOR_GROUND));
    rgba done = theme_blend(dark(COLOR_DECODE), theme->done_alpha, dark(COLOR_GROUND));
    s.moment = (struct sample_moment){9, 21, 500000, 0};
    paint_part(&s, paint_grid);
    for (int layer = 0; layer < 40; layer += 2) {
        struct rect cell = layout_cell(&layout, 708, layer);
        assert_int_equal(pixels[cell.y][cell.x + cell.w / 2] == done, layer < 20);
        int x = (layout_column_x(&layout, 0) + layout_column_x(&layout, 700)) / 2;
        assert_int_equal(pixels[cell.y][x] == saved, layer != 20);
        // Columns wide enough to be told apart are, also by this way of drawing.
        assert_int_equal(pixels[cell.y][cell.x + cell.w], dark(COLOR_GROUND));
        assert_int_not_equal(pixels[cell.y][cell.x], dark(COLOR_GROUND));
    }
}

static void columns_of_two_widths_are_said_in_words(void **state) {
    (void)state;
    static const int sizes[][2] = {{1024, 768}, {1920, 1080}, {3840, 2160}};
    struct sample s = {.layers = 8, .prompt_tokens = 1024, .answer_limit = 60, .answers = 60};
    s.moment = (struct sample_moment){3, 5, 500000, 0};
    for (int prompt = 1024; prompt >= 18; prompt = prompt == 18 ? 0 : 18) {
        for (int i = 0; i < 3; i++) {
            s.prompt_tokens = prompt;
            s.answer_limit = s.answers = prompt == 18 ? 7 : 60;
            lay_out(&s, sizes[i][0], sizes[i][1], LAYOUT_STAGE);
            paint_part(&s, paint_grid);
            int said = 0;
            for (int c = 0; c < list.count; c++)
                said += list.cmds[c].kind == CMD_TEXT &&
                        strstr(text_of(&list, &list.cmds[c]), "\xC3\x97 narrower") != NULL;
            assert_int_equal(said, prompt == 1024);
        }
    }
}

// --- drops ---

static struct cmd the_drop(const struct sample *sample) {
    paint_into(&list, sample);
    for (int i = 0; i < list.count; i++)
        if (list.cmds[i].kind == CMD_DROP)
            return list.cmds[i];
    fail_msg("no drop");
    return (struct cmd){0};
}

static void a_drop_grows_lets_go_falls_and_comes_to_rest_over_its_place(void **state) {
    (void)state;
    lay_out(&DEFAULT, 1920, 1080, LAYOUT_STAGE);
    int wide = 0;
    struct cmd drop = {0};
    for (int ppm = 20000; ppm <= VIEW_PPM; ppm += 20000) {
        struct sample s = at(DEFAULT, (struct sample_moment){2, 9, ppm, 0});
        drop = the_drop(&s);
        assert_true(drop.rect.w >= wide);
        assert_int_equal(drop.rect.y, layout.drip.y);
        wide = drop.rect.w;
    }
    int last_quarters = drop.rect.y * 4 + drop.phase, last_x = drop.rect.x;
    for (int ppm = 1; ppm <= VIEW_PPM; ppm += 4995) {
        struct sample s = at(DEFAULT, (struct sample_moment){2, 9, 1, ppm});
        drop = the_drop(&s);
        int quarters = drop.rect.y * 4 + drop.phase;
        assert_true(quarters >= last_quarters && quarters - last_quarters <= 16);
        assert_true(drop.rect.x <= last_x && last_x - drop.rect.x <= 14);
        assert_int_equal(drop.rect.w, wide);
        last_quarters = quarters;
        last_x = drop.rect.x;
    }
    struct paint paint = paint_with(THEME_DARK);
    struct paint_flow flow;
    paint_flow_make(&flow, &paint);
    struct rect place = flow.next;
    assert_in_range(drop.rect.x + drop.rect.w / 2, place.x + place.w / 2 - 2,
                    place.x + place.w / 2 + 2);
    assert_in_range(drop.rect.y + drop.rect.h / 2, place.y + place.h / 2 - 3,
                    place.y + place.h / 2 + 3);
}

static void a_trail_leads_to_the_newest_tile_and_fades(void **state) {
    (void)state;
    lay_out(&DEFAULT, 1920, 1080, LAYOUT_STAGE);
    rgba last = 0x100;
    for (int ppm = VIEW_PPM; ppm > 0; ppm -= 300000) {
        struct sample s = at(DEFAULT, (struct sample_moment){4, 2, 0, ppm});
        paint_into(&list, &s);
        assert_true(is_shown(&list, "arrives", layout.answer));
        struct paint paint = paint_with(THEME_DARK);
        struct paint_flow flow;
        paint_flow_make(&flow, &paint);
        int drops = 0, y = 0;
        rgba color = 0;
        for (int i = 0; i < list.count; i++) {
            if (list.cmds[i].kind != CMD_DROP)
                continue;
            assert_true(list.cmds[i].rect.y > y);
            y = list.cmds[i].rect.y;
            color = list.cmds[i].color;
            drops++;
        }
        assert_true(drops > 5 && y < flow.last.y + flow.last.h);
        assert_true((color & 0xFF) < last);
        last = color & 0xFF;
    }
    struct sample s = at(DEFAULT, (struct sample_moment){4, 2, 0, 0});
    paint_into(&list, &s);
    for (int i = 0; i < list.count; i++)
        assert_int_not_equal(list.cmds[i].kind, CMD_DROP);
}

// --- the clock ---

static void prefill_is_solid_decode_striped_and_charged_hollow(void **state) {
    (void)state;
    struct sample s = DEFAULT;
    s.is_charged = true;
    s.moment = (struct sample_moment){0, 5, 500000, 0};
    lay_out(&s, 1280, 720, LAYOUT_STAGE);
    paint_part(&s, paint_clock);
    for (int i = 0; i < list.count; i++)
        assert_int_not_equal(list.cmds[i].kind, CMD_STRIPES);
    s.moment.pass = 4;
    paint_part(&s, paint_clock);
    int striped = 0, hollow = 0, names = 0;
    for (int i = 0; i < list.count; i++) {
        const struct cmd *cmd = &list.cmds[i];
        striped += cmd->kind == CMD_STRIPES;
        hollow += cmd->kind == CMD_RING && cmd->rect.w < layout.clock_bar.w;
        names += cmd->kind == CMD_TEXT && cmd->text_bytes == 7 &&
                 memcmp(list.text + cmd->text_offset, "charged", 7) == 0;
    }
    assert_int_equal(striped, 1);
    assert_int_equal(hollow, 1);
    assert_int_equal(names, 1);
}

static void the_clock_has_one_linear_scale(void **state) {
    (void)state;
    lay_out(&DEFAULT, 1920, 1080, LAYOUT_STAGE);
    struct rect bar = layout.clock_bar;
    for (int ppm = 100000; ppm <= 900000; ppm += 100000) {
        sample_view(&view, &DEFAULT);
        view.span_count = 0;
        view_add_span(&view, (struct view_span){0, ppm, 1, 0});
        struct paint paint = paint_with(THEME_DARK);
        cmdlist_clear(&list);
        paint_clock(&list, &paint);
        int right = 0;
        for (int i = 0; i < list.count; i++)
            if (list.cmds[i].kind == CMD_CLIP && list.cmds[i].rect.w > 1)
                right = list.cmds[i].rect.x + list.cmds[i].rect.w;
        assert_int_equal(right, bar.x + (int)((int64_t)bar.w * ppm / VIEW_PPM));
    }
}

static void the_bar_ends_inside_a_pixel_where_time_does(void **state) {
    (void)state;
    lay_out(&DEFAULT, RASTER_W, RASTER_H, LAYOUT_STAGE);
    struct rect bar = layout.clock_bar;
    int last = 0;
    for (int part = 1; part < 10; part++) {
        sample_view(&view, &DEFAULT);
        view.span_count = 0;
        view.playhead_ppm = VIEW_PPM;
        view_add_span(&view,
                      (struct view_span){0, (100 * VIEW_PPM + part * 100000) / bar.w + 1, 1, 0});
        struct paint paint = paint_with(THEME_DARK);
        cmdlist_clear(&list);
        paint_clock(&list, &paint);
        rasterise(&list);
        int blue = (int)(pixels[bar.y + bar.h / 2][bar.x + 100] >> 8) & 0xFF;
        assert_int_equal(pixels[bar.y + bar.h / 2][bar.x + 99], dark(COLOR_PREFILL));
        assert_true(blue > last);
        last = blue;
    }
}

static void many_short_steps_need_no_more_separators_than_can_be_seen(void **state) {
    (void)state;
    lay_out(&DEFAULT, 640, 480, LAYOUT_STAGE);
    sample_view(&view, &DEFAULT);
    view.span_count = 0;
    for (int i = 0; i < VIEW_MAX_SPANS; i++)
        view_add_span(&view, (struct view_span){i * 900, (i + 1) * 900, 0, 0});
    struct paint paint = paint_with(THEME_DARK);
    cmdlist_clear(&list);
    paint_clock(&list, &paint);
    assert_true(list.count < layout.clock_bar.w / 4 + 20);
}

// --- keys ---

static void key_hints_stay_in_the_footer_and_leave_out_what_does_not_fit(void **state) {
    (void)state;
    static const struct paint_key KEYS[] = {
        {"Space", "pause"},
        {"\xE2\x86\x90 \xE2\x86\x92", "step"},
        {"+ \xE2\x88\x92", "speed"},
        {"U", "lesson units"},
        {"C", "counting"},
        {"T", "theme"},
        {"F11", "full screen"},
        {"?", "keys"},
        {"Shift+R", "measure again"},
        {"Ctrl+Q", "quit the program for good"},
    };
    for (int i = 0; i < SIZE_COUNT; i++) {
        lay_out(&DEFAULT, SIZES[i][0], SIZES[i][1], LAYOUT_STAGE);
        struct paint paint = paint_with(THEME_PROJECTOR);
        cmdlist_clear(&list);
        paint_keys(&list, &paint, KEYS, 10);
        assert_true(list.count >= 4 * 5);
        for (int k = 0; k < list.count; k++) {
            const struct cmd *cmd = &list.cmds[k];
            assert_true(
                is_inside(cmd->kind == CMD_TEXT ? text_box(cmd) : cmd->rect, layout.footer));
        }
        int count = collect_texts(&list);
        for (int a = 0; a < count; a++)
            for (int b = 0; b < a; b++)
                assert_int_equal(common(boxes[a].box, boxes[b].box).w, 0);
        lay_out(&DEFAULT, SIZES[i][0], SIZES[i][1], LAYOUT_SHOW);
        cmdlist_clear(&list);
        paint_keys(&list, &paint, KEYS, 10);
        assert_int_equal(list.count, 0);
    }
}

static void a_label_is_aligned_shrunk_and_at_last_cut(void **state) {
    (void)state;
    const struct layout least = {.floor_px = 20};
    const struct paint paint = {.layout = &least, .text = text};
    struct paint_label label = {{100, 50, 300, 40}, ALIGN_LEFT, FACE_WORDS, 30, 0xFFFFFFFF};
    cmdlist_clear(&list);
    int width = paint_text(&list, text, &label, "token");
    assert_int_equal(list.cmds[0].rect.x, 100);
    label.align = ALIGN_RIGHT;
    paint_text(&list, text, &label, "token");
    assert_int_equal(list.cmds[1].rect.x + width, 400);
    label.align = ALIGN_CENTER;
    paint_text(&list, text, &label, "token");
    assert_in_range(list.cmds[2].rect.x * 2 + width, 499, 501);
    // Capitals stand in the middle.
    int cap = text_cap_px(text, FACE_WORDS, 30);
    assert_in_range(list.cmds[2].rect.y * 2 - cap, 139, 141);
    label.rect.w = width - 2;
    paint_put(&list, &paint, label, "token");
    assert_in_range(list.cmds[3].stroke, 20, 29);
    assert_string_equal(text_of(&list, &list.cmds[3]), "token");
    label.rect.w = width / 2;
    int cut = paint_put(&list, &paint, label, "token");
    assert_true(cut <= width / 2 && cut > 0);
    assert_int_equal(list.cmds[4].stroke, 20);
    assert_int_not_equal(strcmp(text_of(&list, &list.cmds[4]), "token"), 0);
    assert_int_equal(paint_text(&list, text, &label, ""), 0);
    assert_int_equal(list.count, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_command_reaches_out_of_the_target),
        cmocka_unit_test(no_text_lies_on_another),
        cmocka_unit_test(every_text_lies_in_a_place_of_the_layout),
        cmocka_unit_test(a_lone_answer_header_stays_beside_its_column),
        cmocka_unit_test(a_drop_over_a_narrow_tile_at_the_edge_stays_inside),
        cmocka_unit_test(drops_stay_between_the_output_and_the_answers_end),
        cmocka_unit_test(commands_stay_few_however_large_the_run),
        cmocka_unit_test(equal_views_give_equal_commands),
        cmocka_unit_test(every_stage_of_a_pass_looks_different),
        cmocka_unit_test(the_default_prompt_and_answer_are_never_cut),
        cmocka_unit_test(a_note_gives_way_to_the_caption_beside_it),
        cmocka_unit_test(stamps_and_captions_of_the_program_fit_at_4_to_3),
        cmocka_unit_test(headers_and_tiles_never_move_while_the_answer_grows),
        cmocka_unit_test(read_outs_stand_still_while_their_numbers_run),
        cmocka_unit_test(a_unit_keeps_every_byte_of_its_first_character),
        cmocka_unit_test(tokens_of_one_word_touch_and_words_stand_apart),
        cmocka_unit_test(an_empty_place_waits_until_the_answer_is_finished),
        cmocka_unit_test(a_full_answer_scrolls_its_oldest_line_away),
        cmocka_unit_test(words_that_left_the_answer_leave_their_number),
        cmocka_unit_test(a_band_of_heads_shows_what_a_chat_format_added),
        cmocka_unit_test(prefill_only_ever_fills),
        cmocka_unit_test(a_short_time_changes_every_pixel_only_a_little),
        cmocka_unit_test(cells_do_not_jump_where_stages_meet),
        cmocka_unit_test(a_cell_is_filled_exactly_when_its_layer_is_behind_the_pass),
        cmocka_unit_test(decode_lights_the_cells_it_reads_and_no_others),
        cmocka_unit_test(a_charged_step_is_a_hollow_frame_with_a_name_and_adds_no_column),
        cmocka_unit_test(thin_cells_show_the_same_picture),
        cmocka_unit_test(columns_of_two_widths_are_said_in_words),
        cmocka_unit_test(a_drop_grows_lets_go_falls_and_comes_to_rest_over_its_place),
        cmocka_unit_test(a_trail_leads_to_the_newest_tile_and_fades),
        cmocka_unit_test(prefill_is_solid_decode_striped_and_charged_hollow),
        cmocka_unit_test(the_clock_has_one_linear_scale),
        cmocka_unit_test(the_bar_ends_inside_a_pixel_where_time_does),
        cmocka_unit_test(many_short_steps_need_no_more_separators_than_can_be_seen),
        cmocka_unit_test(key_hints_stay_in_the_footer_and_leave_out_what_does_not_fit),
        cmocka_unit_test(a_label_is_aligned_shrunk_and_at_last_cut),
    };
    return cmocka_run_group_tests(tests, open_text, close_text);
}
