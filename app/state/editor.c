// See editor.h. The text is valid UTF-8 at all times, so a step over a character is a
// step over continuation bytes; what comes from outside is cleaned before it gets in.
#include "app/state/editor.h"

#include "compute/base/utf8.h"

#include <stdint.h>
#include <string.h>

enum { CHARACTER_BYTES = 4 };

// --- From outside ---

// Ends of lines and paragraphs included: this is one line.
static bool becomes_space(uint32_t code) {
    return utf8_is_control(code) || utf8_is_line_end(code);
}

// The first character of `text`, cleaned. Returns the bytes taken from `text`, at least 1.
static size_t take_character(char out[CHARACTER_BYTES], size_t *out_bytes, const char *text,
                             size_t bytes) {
    static const char replacement[] = "\xEF\xBF\xBD";
    uint32_t code = 0;
    size_t taken = utf8_next(text, bytes, &code);
    const char *character = text;
    *out_bytes = taken;
    if (taken == 0) {
        taken = 1;
        character = replacement;
        *out_bytes = sizeof replacement - 1;
    } else if (becomes_space(code)) {
        // CR LF is one line end.
        taken += code == '\r' && taken < bytes && text[taken] == '\n';
        character = " ";
        *out_bytes = 1;
    }
    memcpy(out, character, *out_bytes);
    return taken;
}

// Copies as much of `text` as fits into `room` bytes, cleaned. `is_cut`: some did not fit.
static size_t clean(char *out, size_t room, const char *text, size_t bytes, int *characters,
                    bool *is_cut) {
    size_t used = 0;
    *characters = 0;
    *is_cut = false;
    utf8_open(&text, &bytes);
    for (size_t at = 0; at < bytes;) {
        char character[CHARACTER_BYTES];
        size_t length = 0;
        at += take_character(character, &length, text + at, bytes - at);
        if (used + length > room) {
            *is_cut = true;
            break;
        }
        memcpy(out + used, character, length);
        used += length;
        ++*characters;
    }
    return used;
}

// --- Undo ---

// Saves the text before a change, unless the change joins the last one.
static void begin_change(struct editor *editor, enum editor_change change) {
    bool joins = change != EDITOR_NOTHING && change == editor->change;
    editor->change = change;
    editor->is_full = false;
    if (joins)
        return;
    if (editor->undo_count == EDITOR_UNDO) {
        memmove(&editor->undo[0], &editor->undo[1], sizeof editor->undo - sizeof editor->undo[0]);
        editor->undo_count--;
    }
    int at = editor->undo_count++;
    memcpy(editor->undo[at].text, editor->text, (size_t)editor->length + 1);
    editor->undo[at].length = editor->length;
    editor->undo[at].cursor = editor->cursor;
}

bool editor_undo(struct editor *editor) {
    editor->change = EDITOR_NOTHING;
    editor->is_full = false;
    if (editor->undo_count == 0)
        return false;
    int at = --editor->undo_count;
    memcpy(editor->text, editor->undo[at].text, (size_t)editor->undo[at].length + 1);
    editor->length = editor->undo[at].length;
    editor->cursor = editor->undo[at].cursor;
    return true;
}

// --- Where a move goes ---

static int left_of(const struct editor *editor, int at) {
    return (int)utf8_before(editor->text, (size_t)at);
}

static int right_of(const struct editor *editor, int at) {
    return at + (int)utf8_length(editor->text + at, (size_t)(editor->length - at));
}

// Letters, digits and everything beyond ASCII except spaces: an unknown mark must not
// split a word.
static bool is_word(const struct editor *editor, int at) {
    uint32_t code = 0;
    utf8_next(editor->text + at, (size_t)(editor->length - at), &code);
    if (code < 0x80)
        return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') ||
               (code >= 'a' && code <= 'z') || code == '_';
    return !utf8_is_space(code);
}

static int word_left_of(const struct editor *editor, int at) {
    while (at > 0 && !is_word(editor, left_of(editor, at)))
        at = left_of(editor, at);
    while (at > 0 && is_word(editor, left_of(editor, at)))
        at = left_of(editor, at);
    return at;
}

static int word_right_of(const struct editor *editor, int at) {
    while (at < editor->length && !is_word(editor, at))
        at = right_of(editor, at);
    while (at < editor->length && is_word(editor, at))
        at = right_of(editor, at);
    return at;
}

static int target_of(const struct editor *editor, enum editor_move move) {
    switch (move) {
    case EDITOR_LEFT:
        return left_of(editor, editor->cursor);
    case EDITOR_RIGHT:
        return right_of(editor, editor->cursor);
    case EDITOR_WORD_LEFT:
        return word_left_of(editor, editor->cursor);
    case EDITOR_WORD_RIGHT:
        return word_right_of(editor, editor->cursor);
    case EDITOR_HOME:
        return 0;
    case EDITOR_END:
        return editor->length;
    }
    return editor->cursor;
}

// --- Changes ---

void editor_set(struct editor *editor, const char *text) {
    int characters = 0;
    size_t bytes =
        clean(editor->text, EDITOR_BYTES - 1, text, strlen(text), &characters, &editor->is_full);
    editor->text[bytes] = '\0';
    editor->length = editor->cursor = (int)bytes;
    editor->undo_count = 0;
    editor->change = EDITOR_NOTHING;
}

void editor_insert(struct editor *editor, const char *text, size_t bytes) {
    char cleaned[EDITOR_BYTES];
    int characters = 0;
    bool is_cut = false;
    size_t room = (size_t)(EDITOR_BYTES - 1 - editor->length);
    size_t added = clean(cleaned, room, text, bytes, &characters, &is_cut);
    if (added > 0) {
        // One character is typed; more came from the clipboard.
        begin_change(editor, characters == 1 && !is_cut ? EDITOR_TYPING : EDITOR_NOTHING);
        char *at = editor->text + editor->cursor;
        memmove(at + added, at, (size_t)(editor->length - editor->cursor) + 1);
        memcpy(at, cleaned, added);
        editor->length += (int)added;
        editor->cursor += (int)added;
    }
    editor->is_full = is_cut;
}

void editor_move(struct editor *editor, enum editor_move move) {
    editor->cursor = target_of(editor, move);
    editor->change = EDITOR_NOTHING;
}

void editor_delete(struct editor *editor, enum editor_move towards) {
    int to = target_of(editor, towards);
    int first = to < editor->cursor ? to : editor->cursor;
    int last = to < editor->cursor ? editor->cursor : to;
    if (first == last)
        return;
    bool is_one = towards == EDITOR_LEFT || towards == EDITOR_RIGHT;
    begin_change(editor, is_one ? EDITOR_ERASING : EDITOR_NOTHING);
    memmove(editor->text + first, editor->text + last, (size_t)(editor->length - last) + 1);
    editor->length -= last - first;
    editor->cursor = first;
}

void editor_clear(struct editor *editor) {
    if (editor->length == 0)
        return;
    begin_change(editor, EDITOR_NOTHING);
    editor->text[0] = '\0';
    editor->length = editor->cursor = 0;
}
