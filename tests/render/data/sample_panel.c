// See sample_panel.h. Words as long as the lesson's; times are those of sample_view.c.
#include "tests/render/data/sample_panel.h"

#include <stdio.h>
#include <string.h>

#define SET(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

static void add_block(struct panel *panel, const char *heading, const char *text) {
    struct panel_block *block = &panel->blocks[panel->block_count++];
    SET(block->heading, "%s", heading);
    SET(block->text, "%s", text);
    block->is_optional = false;
}

static void add_line(struct panel *panel, const char *time, const char *text, uint8_t tone,
                     bool is_past) {
    struct panel_line *line = &panel->lines[panel->line_count++];
    SET(line->time, "%s", time);
    SET(line->text, "%s", text);
    line->tone = tone;
    line->is_past = is_past;
}

static struct panel_control *add_control(struct panel *panel, enum panel_control_kind kind,
                                         const char *label, const char *value, int ppm) {
    struct panel_control *control = &panel->controls[panel->control_count++];
    *control = (struct panel_control){.kind = (uint8_t)kind, .ppm = ppm, .mark_ppm = -1};
    SET(control->label, "%s", label);
    SET(control->value, "%s", value);
    return control;
}

static void add_bar(struct panel *panel, const char *label, const char *value, const char *note,
                    int second_ppm) {
    struct panel_bar *bar = &panel->bars[panel->bar_count++];
    *bar = (struct panel_bar){.first_ppm = 180000, .second_ppm = second_ppm, .before_ppm = 150000};
    bar->tone = TONE_PREFILL;
    SET(bar->label, "%s", label);
    SET(bar->value, "%s", value);
    SET(bar->note, "%s", note);
}

static void fill_step(struct panel *panel) {
    SET(panel->title, "Step 5 of 9 \xC2\xB7 decode");
    panel->title_tone = TONE_DECODE;
    add_block(panel, "What happens",
              "The newest token goes through every \x0Elayer\x0F. Each layer reads what all "
              "earlier tokens saved in the \x0EKV cache\x0F.");
    add_block(panel, "Why",
              "The next word depends on this one, so steps can't be done side by side.");
}

static void fill_rest_of_step(struct panel *panel) {
    add_block(panel, "What changes", "KV cache: 20 \xE2\x86\x92 21 tokens.\nClock: +3.3 ms.");
    add_block(panel, "Next", "The drop lands: token 4. It is fed back as a new column.");
}

static void fill_parties(struct panel *panel) {
    panel->party_count = 2;
    panel->parties[0] =
        (struct panel_party){"Application", "waits for the next token", false, true, TONE_INK};
    panel->parties[1] =
        (struct panel_party){"Model", "decodes on 2 CPU threads", true, true, TONE_DECODE};
    SET(panel->foot, "Every step reads all weights and the whole cache for one token.");
}

static void fill_sliders(struct panel *panel) {
    SET(panel->title, "The clock: wait and total");
    panel->title_tone = TONE_DECODE;
    add_block(panel, "What you see",
              "Prefill is the wait before the first word. Each further word costs one \x0E"
              "decode step\x0F. Move a slider: both bars are measured anew.");
    add_bar(panel, "wait (TTFT)", "0.73 ms", "+12 %", 0);
    add_bar(panel, "total", "4.21 ms", "decode 83 %", 820000);
    struct panel_control *prompt =
        add_control(panel, CONTROL_SLIDER, "Prompt length", "512 tokens", 600000);
    prompt->tone = TONE_PREFILL;
    prompt->is_focused = true;
    add_control(panel, CONTROL_SLIDER, "Answer length", "60 tokens", 300000)->tone = TONE_DECODE;
    SET(panel->foot, "Shortening prompts alone misses half the cost.");
}

static void fill_question(struct panel *panel) {
    SET(panel->title, "Explain it back");
    panel->title_tone = TONE_READ;
    add_block(panel, "Where does the time go?",
              "A short prompt, a long answer that streams slowly. Divide the bar: how much is "
              "\x0Eprefill\x0F, how much \x0E"
              "decode\x0F?");
    struct panel_control *split =
        add_control(panel, CONTROL_SPLIT, "Prefill | decode", "30 % | 70 %", 300000);
    split->mark_ppm = 60000;
    split->is_focused = true;
    SET(split->mark_label, "measured: 6 %% | 94 %%");
    struct panel_control *first =
        add_control(panel, CONTROL_SLIDER, "First token after", "12 ms", 400000);
    first->tone = TONE_PREFILL;
    first->mark_ppm = 700000;
    SET(first->mark_label, "measured: 31 ms");
    add_control(panel, CONTROL_SWITCH, "engines", "lessons", 0);
    add_control(panel, CONTROL_BUTTON, "Show the answer", "", 0);
}

static void fill_log(struct panel *panel) {
    SET(panel->title, "Event log");
    add_line(panel, "0.0 ms", "the application sends 18 tokens", TONE_INK, true);
    for (int i = 1; i < 60; i++) {
        char time[24], text[96];
        snprintf(time, sizeof time, "%.1f ms", 9.6 + 3.3 * (i - 1));
        snprintf(text, sizeof text, "token %d \xE2\x80\x9Cword\xE2\x80\x9D", i);
        add_line(panel, time, text, i == 1 ? TONE_PREFILL : TONE_DECODE, i < 24);
    }
    panel->line_focus = 22;
    SET(panel->foot, "Enter goes to the event.");
}

static void fill_editor(struct panel *panel) {
    static const char *const PIECES[] = {
        "You",   "are", "a",  "support", "agent", ".", "Answer", "from",   "the",  "policy", ".",
        "Where", "is",  "my", "par",     "cel",   "?", "It",     "should", "have", "come",   ".",
    };
    SET(panel->title, "Own prompt");
    panel->title_tone = TONE_PREFILL;
    panel->has_field = true;
    for (size_t i = 0; i < sizeof PIECES / sizeof PIECES[0]; i++) {
        struct view_token *tile = &panel->tiles[panel->tile_count++];
        *tile = (struct view_token){.look = TOKEN_WORD};
        SET(tile->text, "%s", PIECES[i]);
        tile->leading_space = strlen(PIECES[i]) > 1 && strcmp(PIECES[i], "cel") != 0;
        size_t used = strlen(panel->field);
        snprintf(panel->field + used, sizeof panel->field - used, "%s%s",
                 used > 0 && tile->leading_space ? " " : "", PIECES[i]);
    }
    panel->field_cursor = (int)strlen(panel->field);
    SET(panel->tiles_label, "%d tokens of at most 1,024", panel->tile_count);
    SET(panel->foot, "Enter measures this prompt.");
}

static void fill_glossary(struct panel *panel) {
    static const char *const WORDS[] = {"prompt", "token", "prefill", "decode",  "KV cache", "TTFT",
                                        "TPOT",   "ITL",   "batch",   "layer",   "weight",   "head",
                                        "GQA",    "RoPE",  "logits",  "sampling"};
    SET(panel->title, "Glossary");
    add_block(panel, "KV cache",
              "What every \x0Elayer\x0F keeps of each token: its key and its value. Later tokens "
              "read it instead of computing it again.");
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++)
        add_line(panel, "", WORDS[i], TONE_INK, true);
    panel->line_focus = 4;
}

void sample_panel(struct panel *panel, enum sample_panel_kind kind) {
    panel_clear(panel);
    if (kind == SAMPLE_STEP || kind == SAMPLE_PARTIES || kind == SAMPLE_LOGGED)
        fill_step(panel);
    if (kind == SAMPLE_STEP || kind == SAMPLE_LOGGED)
        fill_rest_of_step(panel);
    if (kind == SAMPLE_PARTIES)
        fill_parties(panel);
    if (kind == SAMPLE_LOGGED) {
        add_line(panel, "9.6", "token 1 \xE2\x80\x9CYour\xE2\x80\x9D", TONE_PREFILL, true);
        add_line(panel, "12.9", "token 2 \xE2\x80\x9Cpar\xE2\x80\x9D", TONE_DECODE, true);
        add_line(panel, "16.2", "token 3", TONE_DECODE, false);
    }
    if (kind == SAMPLE_SLIDERS)
        fill_sliders(panel);
    if (kind == SAMPLE_QUESTION)
        fill_question(panel);
    if (kind == SAMPLE_LOG)
        fill_log(panel);
    if (kind == SAMPLE_EDITOR)
        fill_editor(panel);
    if (kind == SAMPLE_GLOSSARY)
        fill_glossary(panel);
}
