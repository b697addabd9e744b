// See lab.h. Fills and hashes the plain data of Lab mode: what is in use and nothing
// else, so that two labs that look the same are the same.
#include "render/data/lab.h"

#include "render/data/mix.h"

void lab_clear(struct lab *lab) {
    lab->lane_count = 0;
    lab->playhead_ppm = 0;
    lab->scale_label[0] = '\0';
    lab->clock_note[0] = '\0';
    lab->control_count = 0;
    lab->page = 0;
    lab->pages = 1;
    lab->plot_focus = -1;
    for (int i = 0; i < LAB_PLOTS; i++)
        plot_clear(&lab->plots[i]);
}

static uint64_t mix_lane(uint64_t hash, const struct lab_lane *lane) {
    hash = mix_text(hash, lane->label, sizeof lane->label);
    hash = mix_text(hash, lane->value, sizeof lane->value);
    hash = mix_int(hash, lane->span_count);
    for (int i = 0; i < lane->span_count; i++) {
        hash = mix_int(hash, lane->spans[i].from_ppm);
        hash = mix_int(hash, lane->spans[i].to_ppm);
        hash = mix_int(hash, lane->spans[i].is_prefill);
        hash = mix_int(hash, lane->spans[i].is_charged);
    }
    hash = mix_int(hash, lane->end_ppm);
    return mix_int(hash, lane->guess_ppm);
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

uint64_t lab_hash(const struct lab *lab) {
    uint64_t hash = mix_int(UINT64_C(0xCBF29CE484222325), lab->lane_count);
    for (int i = 0; i < lab->lane_count; i++)
        hash = mix_lane(hash, &lab->lanes[i]);
    hash = mix_int(hash, lab->playhead_ppm);
    hash = mix_text(hash, lab->scale_label, sizeof lab->scale_label);
    hash = mix_text(hash, lab->clock_note, sizeof lab->clock_note);
    hash = mix_int(hash, lab->control_count);
    for (int i = 0; i < lab->control_count; i++)
        hash = mix_control(hash, &lab->controls[i]);
    hash = mix_int(hash, lab->page);
    hash = mix_int(hash, lab->pages);
    hash = mix_int(hash, lab->plot_focus);
    for (int i = 0; i < LAB_PLOTS; i++)
        hash = mix_int(hash, (int64_t)plot_hash(&lab->plots[i]));
    return hash;
}
