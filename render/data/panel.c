// Empties and hashes the plain data of the panel. As with the view, the hash covers
// what is in use and nothing else. No allocation, no pixels.
#include "render/data/panel.h"

#include "render/data/mix.h"

void panel_clear(struct panel *panel) {
    // Field by field: the arrays hold some 80 KB that nobody reads past the counts.
    panel->title[0] = '\0';
    panel->title_tone = TONE_INK;
    panel->party_count = 0;
    panel->block_count = 0;
    panel->block_scroll = 0;
    panel->bar_count = 0;
    panel->control_count = 0;
    panel->has_field = false;
    panel->field[0] = '\0';
    panel->field_cursor = 0;
    panel->tile_count = 0;
    panel->line_first = 0;
    panel->tiles_label[0] = '\0';
    panel->line_count = 0;
    panel->line_focus = -1;
    panel->foot[0] = '\0';
}

static uint64_t mix_party(uint64_t hash, const struct panel_party *party) {
    hash = mix_text(hash, party->name, sizeof party->name);
    hash = mix_text(hash, party->state, sizeof party->state);
    hash = mix_int(hash, party->acts);
    hash = mix_int(hash, party->is_well);
    return mix_int(hash, party->tone);
}

static uint64_t mix_bar(uint64_t hash, const struct panel_bar *bar) {
    hash = mix_text(hash, bar->label, sizeof bar->label);
    hash = mix_text(hash, bar->value, sizeof bar->value);
    hash = mix_text(hash, bar->note, sizeof bar->note);
    hash = mix_int(hash, bar->first_ppm);
    hash = mix_int(hash, bar->second_ppm);
    hash = mix_int(hash, bar->before_ppm);
    return mix_int(hash, bar->tone);
}

static uint64_t mix_control(uint64_t hash, const struct panel_control *control) {
    hash = mix_int(hash, control->kind);
    hash = mix_int(hash, control->tone);
    hash = mix_int(hash, control->is_focused);
    hash = mix_int(hash, control->is_off);
    hash = mix_text(hash, control->label, sizeof control->label);
    hash = mix_text(hash, control->value, sizeof control->value);
    hash = mix_int(hash, control->ppm);
    hash = mix_int(hash, control->mark_ppm);
    return mix_text(hash, control->mark_label, sizeof control->mark_label);
}

static uint64_t mix_field(uint64_t hash, const struct panel *panel) {
    hash = mix_int(hash, panel->has_field);
    if (!panel->has_field)
        return hash;
    hash = mix_text(hash, panel->field, sizeof panel->field);
    hash = mix_int(hash, panel->field_cursor);
    hash = mix_int(hash, panel->tile_count);
    for (int i = 0; i < panel->tile_count; i++) {
        const struct view_token *tile = &panel->tiles[i];
        hash = mix_text(hash, tile->text, sizeof tile->text);
        hash = mix_int(hash, tile->look);
        hash = mix_int(hash, tile->leading_space);
        hash = mix_int(hash, tile->is_prefill);
    }
    return mix_text(hash, panel->tiles_label, sizeof panel->tiles_label);
}

static uint64_t mix_lines(uint64_t hash, const struct panel *panel) {
    hash = mix_int(hash, panel->line_count);
    for (int i = 0; i < panel->line_count; i++) {
        const struct panel_line *line = &panel->lines[i];
        hash = mix_text(hash, line->time, sizeof line->time);
        hash = mix_text(hash, line->text, sizeof line->text);
        hash = mix_int(hash, line->tone);
        hash = mix_int(hash, line->is_past);
    }
    return mix_int(hash, panel->line_focus);
}

uint64_t panel_hash(const struct panel *panel) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    hash = mix_text(hash, panel->title, sizeof panel->title);
    hash = mix_int(hash, panel->title_tone);
    hash = mix_int(hash, panel->party_count);
    for (int i = 0; i < panel->party_count; i++)
        hash = mix_party(hash, &panel->parties[i]);
    hash = mix_int(hash, panel->block_count);
    hash = mix_int(hash, panel->block_scroll);
    for (int i = 0; i < panel->block_count; i++) {
        hash = mix_text(hash, panel->blocks[i].heading, sizeof panel->blocks[i].heading);
        hash = mix_text(hash, panel->blocks[i].text, sizeof panel->blocks[i].text);
        hash = mix_int(hash, panel->blocks[i].is_optional);
    }
    hash = mix_int(hash, panel->bar_count);
    for (int i = 0; i < panel->bar_count; i++)
        hash = mix_bar(hash, &panel->bars[i]);
    hash = mix_int(hash, panel->control_count);
    for (int i = 0; i < panel->control_count; i++)
        hash = mix_control(hash, &panel->controls[i]);
    hash = mix_field(hash, panel);
    hash = mix_lines(hash, panel);
    return mix_text(hash, panel->foot, sizeof panel->foot);
}
