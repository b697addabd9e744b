// See desk.h.
#include "app/window/desk.h"

#include "app/picture/scene/scene.h"
#include "app/runs/prompt.h"
#include "compute/base/figures.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/base/words.h"

#include <stdio.h>
#include <string.h>

static void put_tiles(struct desk *desk, const struct tokenizer *tokenizer,
                      const struct prompt *prompt) {
    int first = prompt->count > PANEL_MAX_TILES ? prompt->count - PANEL_MAX_TILES : 0;
    desk->prompt_count = prompt->count;
    desk->tile_count = prompt->count - first;
    for (int i = 0; i < desk->tile_count; i++) {
        int32_t id = prompt->ids[first + i];
        size_t bytes = 0;
        const char *text = tokenizer_text(tokenizer, id, &bytes);
        scene_token(&desk->tiles[i], text, bytes, tokenizer_kind(tokenizer, id));
    }
}

static void tokenise(struct desk *desk, const struct desk_reader *reader) {
    struct prompt prompt = {0};
    struct why why;
    desk->message[0] = '\0';
    desk->tile_count = desk->prompt_count = 0;
    if (desk->editor.length == 0) {
        WORDS_SAY(desk->message, "desk.empty");
        return;
    }
    if (!prompt_from_text(&prompt, reader->tokenizer, reader->request, desk->editor.text,
                          (size_t)desk->editor.length, &why)) {
        snprintf(desk->message, sizeof desk->message, "%.120s", why.text);
        return;
    }
    put_tiles(desk, reader->tokenizer, &prompt);
    if (prompt.count > reader->longest)
        WORDS_SAY(desk->message, "desk.too_long", "count", figure_count(prompt.count, false).text,
                  "longest", figure_count(reader->longest, false).text);
    prompt_clear(&prompt);
}

// The question's tokens as one text: without control tokens and what a chat format put around
// it, and with a space for SentencePiece's sign.
static void prompt_text(char *out, size_t bytes, const struct run *run) {
    static const char lead[] = SIGN_WORD_SPACE;
    enum { LEAD_BYTES = 3 };
    size_t at = 0;
    for (int i = 0; i < run->info.prompt_tokens && i < run->prompt_count; i++) {
        size_t length = 0;
        const char *text = run_token_text(run, i, &length);
        bool is_question = !run->info.chat.name[0] ||
                           (i >= run->info.chat.question_first &&
                            i < run->info.chat.question_first + run->info.chat.question_tokens);
        if (run->tokens[i].kind == RUN_CONTROL || !is_question)
            continue;
        for (size_t k = 0; k < length && at + 1 < bytes;) {
            bool is_lead = length - k >= LEAD_BYTES && memcmp(text + k, lead, LEAD_BYTES) == 0;
            char c = is_lead ? ' ' : text[k];
            k += is_lead ? LEAD_BYTES : 1;
            if (at > 0 || c != ' ')
                out[at++] = c;
        }
    }
    out[at] = '\0';
}

void desk_open(struct desk *desk, const struct run *run, const struct desk_reader *reader) {
    char text[EDITOR_BYTES] = "";
    if (run)
        prompt_text(text, sizeof text, run);
    editor_set(&desk->editor, text);
    desk->composed[0] = '\0';
    tokenise(desk, reader);
}

static void edit(struct editor *editor, enum input_edit what) {
    static const struct {
        enum editor_move move;
        bool is_erase;
    } rows[] = {
        [EDIT_LEFT] = {EDITOR_LEFT, false},
        [EDIT_RIGHT] = {EDITOR_RIGHT, false},
        [EDIT_WORD_LEFT] = {EDITOR_WORD_LEFT, false},
        [EDIT_WORD_RIGHT] = {EDITOR_WORD_RIGHT, false},
        [EDIT_HOME] = {EDITOR_HOME, false},
        [EDIT_END] = {EDITOR_END, false},
        [EDIT_ERASE_LEFT] = {EDITOR_LEFT, true},
        [EDIT_ERASE_RIGHT] = {EDITOR_RIGHT, true},
        [EDIT_ERASE_WORD] = {EDITOR_WORD_LEFT, true},
    };
    if (what == EDIT_CLEAR)
        editor_clear(editor);
    else if (what == EDIT_UNDO)
        editor_undo(editor);
    else if ((size_t)what < sizeof rows / sizeof rows[0] && rows[what].is_erase)
        editor_delete(editor, rows[what].move);
    else if ((size_t)what < sizeof rows / sizeof rows[0])
        editor_move(editor, rows[what].move);
}

void desk_type(struct desk *desk, const struct input_event *event,
               const struct desk_reader *reader) {
    if (event->kind == INPUT_COMPOSED) {
        size_t bytes = utf8_cut(event->text, strlen(event->text), sizeof desk->composed - 1);
        memcpy(desk->composed, event->text, bytes);
        desk->composed[bytes] = '\0';
        return;
    }
    bool is_move = event->kind == INPUT_EDIT && event->edit <= EDIT_END;
    if (event->kind == INPUT_EDIT) {
        edit(&desk->editor, event->edit);
    } else {
        desk->composed[0] = '\0';
        editor_insert(&desk->editor, event->text, strlen(event->text));
    }
    if (!is_move)
        tokenise(desk, reader);
}
