// Fills and hashes the plain data of one frame. The hash covers what is in use
// and nothing else: leftovers behind a count or behind a NUL don't count, so two
// views that look the same are the same. No allocation, no pixels, no clock.
#include "render/data/view.h"

#include "render/data/mix.h"

#include <string.h>

void view_clear(struct view *view) {
    // Field by field: the arrays hold some 150 KB that nobody reads past the counts.
    view->layers = 1;
    view->prompt_tokens = 1;
    view->answer_limit = 1;
    view->columns = 1;
    view->stage = VIEW_PROMPT;
    view->token_count = 0;
    view->headers = 0;
    view->full_columns = 0;
    memset(&view->pass, 0, sizeof view->pass);
    view->landed = 0;
    view->is_finished = false;
    view->drop_count = 0;
    view->stream = 0;
    view->span_count = 0;
    view->playhead_ppm = 0;
    view->prefill_label[0] = '\0';
    view->decode_label[0] = '\0';
    view->decode_label_ppm = -1;
    view->scale_label[0] = '\0';
    view->guess_ppm = -1;
    view->guess_label[0] = '\0';
    view->readout_count = 0;
    view->title[0] = '\0';
    view->headline[0] = '\0';
    view->caption[0] = '\0';
    view->caption_tone = TONE_INK;
    view->origin[0] = '\0';
    view->origin_tone = TONE_INK;
    view->rate[0] = '\0';
    view->note[0] = '\0';
    view->dropped = 0;
}

static uint64_t mix_tokens(uint64_t hash, const struct view *view) {
    hash = mix_int(hash, view->token_count);
    for (int i = 0; i < view->token_count; i++) {
        const struct view_token *token = &view->tokens[i];
        hash = mix_text(hash, token->text, sizeof token->text);
        hash = mix_int(hash, token->look);
        hash = mix_int(hash, token->leading_space);
        hash = mix_int(hash, token->is_prefill);
    }
    return hash;
}

static uint64_t mix_pass(uint64_t hash, const struct view_pass *pass) {
    hash = mix_int(hash, pass->active);
    hash = mix_int(hash, pass->is_prefill);
    hash = mix_int(hash, pass->is_charged);
    hash = mix_int(hash, pass->first_column);
    hash = mix_int(hash, pass->column_count);
    hash = mix_int(hash, pass->stage);
    hash = mix_int(hash, pass->calm_ppm);
    return mix_int(hash, pass->progress_ppm);
}

static uint64_t mix_drops(uint64_t hash, const struct view *view) {
    hash = mix_int(hash, view->drop_count);
    for (int i = 0; i < view->drop_count; i++) {
        const struct view_drop *drop = &view->drops[i];
        hash = mix_int(hash, drop->answer);
        hash = mix_int(hash, drop->column);
        hash = mix_int(hash, drop->is_falling);
        hash = mix_int(hash, drop->is_prefill);
        hash = mix_int(hash, drop->progress_ppm);
    }
    return mix_int(hash, view->stream);
}

static uint64_t mix_clock(uint64_t hash, const struct view *view) {
    hash = mix_int(hash, view->span_count);
    for (int i = 0; i < view->span_count; i++) {
        const struct view_span *span = &view->spans[i];
        hash = mix_int(hash, span->from_ppm);
        hash = mix_int(hash, span->to_ppm);
        hash = mix_int(hash, span->is_prefill);
        hash = mix_int(hash, span->is_charged);
    }
    hash = mix_int(hash, view->playhead_ppm);
    hash = mix_text(hash, view->prefill_label, sizeof view->prefill_label);
    hash = mix_text(hash, view->decode_label, sizeof view->decode_label);
    hash = mix_int(hash, view->decode_label_ppm);
    hash = mix_text(hash, view->scale_label, sizeof view->scale_label);
    hash = mix_int(hash, view->guess_ppm);
    return mix_text(hash, view->guess_label, sizeof view->guess_label);
}

static uint64_t mix_readouts(uint64_t hash, const struct view *view) {
    hash = mix_int(hash, view->readout_count);
    for (int i = 0; i < view->readout_count; i++) {
        const struct view_readout *readout = &view->readouts[i];
        hash = mix_text(hash, readout->label, sizeof readout->label);
        hash = mix_text(hash, readout->value, sizeof readout->value);
        hash = mix_text(hash, readout->note, sizeof readout->note);
        hash = mix_text(hash, readout->formula, sizeof readout->formula);
        hash = mix_int(hash, readout->tone);
    }
    return hash;
}

uint64_t view_hash(const struct view *view) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    hash = mix_int(hash, view->layers);
    hash = mix_int(hash, view->prompt_tokens);
    hash = mix_int(hash, view->answer_limit);
    hash = mix_int(hash, view->columns);
    hash = mix_int(hash, view->stage);
    hash = mix_tokens(hash, view);
    hash = mix_int(hash, view->headers);
    hash = mix_int(hash, view->full_columns);
    hash = mix_pass(hash, &view->pass);
    hash = mix_int(hash, view->landed);
    hash = mix_int(hash, view->is_finished);
    hash = mix_drops(hash, view);
    hash = mix_clock(hash, view);
    hash = mix_readouts(hash, view);
    hash = mix_text(hash, view->title, sizeof view->title);
    hash = mix_text(hash, view->headline, sizeof view->headline);
    hash = mix_text(hash, view->caption, sizeof view->caption);
    hash = mix_int(hash, view->caption_tone);
    hash = mix_text(hash, view->origin, sizeof view->origin);
    hash = mix_int(hash, view->origin_tone);
    hash = mix_text(hash, view->rate, sizeof view->rate);
    hash = mix_text(hash, view->note, sizeof view->note);
    return mix_int(hash, view->dropped);
}

void view_add_drop(struct view *view, struct view_drop drop) {
    if (view->drop_count >= VIEW_MAX_DROPS) {
        view->dropped++;
        return;
    }
    view->drops[view->drop_count++] = drop;
}

void view_add_span(struct view *view, struct view_span span) {
    if (view->span_count < VIEW_MAX_SPANS) {
        view->spans[view->span_count++] = span;
        return;
    }
    struct view_span *last = &view->spans[VIEW_MAX_SPANS - 1];
    bool is_same_kind = last->is_prefill == span.is_prefill && last->is_charged == span.is_charged;
    if (is_same_kind && span.from_ppm >= last->from_ppm && span.to_ppm >= last->to_ppm)
        last->to_ppm = span.to_ppm;
    else
        view->dropped++;
}

void view_add_readout(struct view *view, const struct view_readout *readout) {
    if (view->readout_count >= VIEW_MAX_READOUTS) {
        view->dropped++;
        return;
    }
    view->readouts[view->readout_count++] = *readout;
}
