// The lists: the log (every event with its time, the same events as the clock's marks), the
// glossary (all terms) and the models; what is in focus is explained above the last two.
#include "app/picture/panel/parts.h"

#include "compute/base/num.h"
#include "compute/base/words.h"

#include <stdio.h>
#include <string.h>

// Keeps the lines around the focus when there are more than the panel holds. Returns the
// focus, brought into range.
static int place_lines(struct panel *out, int total, int focus) {
    focus = clamp_int(focus, 0, total - 1);
    out->line_first = clamp_int(focus - PANEL_MAX_LINES / 2, 0, total - PANEL_MAX_LINES);
    out->line_count = min_int(total - out->line_first, PANEL_MAX_LINES);
    out->line_focus = focus - out->line_first;
    return focus;
}

// --- The log ---

// A token in the language's quotes; a control token by its bare name, or as the stage calls
// one without a name.
static void put_token(char *out, size_t bytes, const struct panel_seen *seen, int token) {
    char name[PANEL_WORD_BYTES];
    run_token_printable(name, sizeof name, seen->run, token);
    if (seen->run->tokens[token].kind != RUN_CONTROL)
        panel_say(out, bytes, seen, "log.quoted", "text", name, NULL);
    else if (name[0])
        snprintf(out, bytes, "%s", name);
    else
        snprintf(out, bytes, "⟨%s⟩", word("token.control"));
}

static const char *key_of(const struct panel_seen *seen, int event) {
    const struct run *run = seen->run;
    const struct run_pass *pass = &run->passes[event - 1];
    bool is_whole = pass->first_column + pass->column_count >= run->info.prompt_tokens;
    if (pass->phase == RUN_PREFILL)
        return !is_whole ? "log.chunk" : pass->yields < 0 ? "log.prefill" : "log.prefill_token";
    if (pass->column_count == 0)
        return "log.charged";
    // Which token is the last is known only at the end.
    bool is_over = seen->now.at_end && run->state == RUN_COMPLETE;
    return is_over && event == run_events(run) - 1 ? "log.end" : "log.token";
}

// An event to come shows its time and kind, and dots for its token.
static void put_event(struct panel_line *out, const struct panel_seen *seen, int event) {
    const struct run *run = seen->run;
    char text[2 * PANEL_WORD_BYTES];
    *out = (struct panel_line){.tone = TONE_QUIET, .is_past = event <= seen->now.passes_done};
    snprintf(out->time, sizeof out->time, "%s",
             run_time(&run->info, run_event_ns(run, event)).text);
    if (event == 0) {
        out->is_past = seen->now.t_ns >= 0;
        struct figure count = figure_count(run->info.prompt_tokens, false);
        PANEL_SAY(out->text, seen, "log.request", "count", count.text);
        return;
    }
    const struct run_pass *pass = &run->passes[event - 1];
    out->tone = pass->phase == RUN_PREFILL ? TONE_PREFILL : TONE_DECODE;
    struct figure count = figure_count(pass->column_count, false);
    struct figure number = figure_count(pass->yields + 1, false);
    snprintf(text, sizeof text, SIGN_ELLIPSIS);
    if (out->is_past && pass->yields >= 0)
        put_token(text, sizeof text, seen, run->info.prompt_tokens + pass->yields);
    PANEL_SAY(out->text, seen, key_of(seen, event), "count", count.text, "number", number.text,
              "text", text);
}

void panel_put_log(struct panel *out, const struct panel_seen *seen) {
    int focus = seen->stage->list_focus;
    if (focus < 0)
        focus = run_event_at(seen->run, seen->now.t_ns);
    place_lines(out, run_events(seen->run), focus);
    for (int i = 0; i < out->line_count; i++)
        put_event(&out->lines[i], seen, out->line_first + i);
}

// --- The glossary ---

void panel_put_glossary(struct panel *out, const struct panel_seen *seen) {
    int total = lesson_terms(seen->lesson);
    if (total == 0)
        return;
    int focus = place_lines(out, total, seen->stage->list_focus);
    struct lesson_term term = lesson_term(seen->lesson, focus);
    struct panel_block *block = panel_add_block(out, seen, NULL);
    snprintf(block->heading, sizeof block->heading, "%s", term.name);
    snprintf(block->text, sizeof block->text, "%s", term.text);
    for (int i = 0; i < out->line_count; i++) {
        struct panel_line *line = &out->lines[i];
        *line = (struct panel_line){.tone = TONE_INK, .is_past = true};
        snprintf(line->text, sizeof line->text, "%s",
                 lesson_term(seen->lesson, out->line_first + i).name);
    }
}

// --- The models ---

static void put_model(struct panel_block *out, const struct panel_seen *seen, int index) {
    const struct at_hand *at = seen->at;
    const struct at_hand_model *model = &at->models[index];
    snprintf(out->heading, sizeof out->heading, "%s", model->place);
    snprintf(out->text, sizeof out->text, "%s", model->name);
    if (at->model_focus != index)
        return;
    if (at->model_architecture[0] && at->model_type[0])
        panel_append(out, seen, '\n', "models.made_of", "architecture", at->model_architecture,
                     "type", at->model_type, NULL);
    if (model->is_open)
        panel_append(out, seen, '\n', "models.is_open", NULL);
    else if (at->model_refusal)
        panel_append(out, seen, '\n', "models.refused", "why", at->model_refusal, NULL);
    else
        panel_append(out, seen, '\n', "models.opens", NULL);
}

void panel_put_models(struct panel *out, const struct panel_seen *seen) {
    const struct at_hand *at = seen->at;
    if (at->model_count == 0)
        return;
    int focus = place_lines(out, at->model_count, seen->stage->list_focus);
    put_model(panel_add_block(out, seen, NULL), seen, focus);
    for (int i = 0; i < out->line_count; i++) {
        const struct at_hand_model *model = &at->models[out->line_first + i];
        struct panel_line *line = &out->lines[i];
        *line =
            (struct panel_line){.tone = model->is_open ? TONE_DECODE : TONE_QUIET, .is_past = true};
        snprintf(line->time, sizeof line->time, "%s", figure_bytes(model->bytes).text);
        snprintf(line->text, sizeof line->text, "%s", model->name);
    }
}
