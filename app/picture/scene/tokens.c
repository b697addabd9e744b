// How a token's bytes are drawn: U+2581 and other white space become visible signs, control
// tokens get angle brackets, bytes that are not whole UTF-8 are shown as hex until the byte
// that completes them has come.
#include "app/picture/scene/parts.h"

#include "compute/base/figures.h"
#include "compute/base/utf8.h"
#include "compute/base/words.h"

#include <stdio.h>
#include <string.h>

static const char LEAD[] = SIGN_WORD_SPACE;
enum { LEAD_BYTES = 3, MAX_SEQUENCE = 4 };

// Appends `n` bytes at `at`; false: there is no room, and an ellipsis ends the text.
static bool append(struct view_token *out, size_t *at, const char *s, size_t n) {
    enum { ELLIPSIS_BYTES = 3 };
    if (*at + n + ELLIPSIS_BYTES + 1 > sizeof out->text) {
        memcpy(out->text + *at, SIGN_ELLIPSIS, ELLIPSIS_BYTES + 1);
        return false;
    }
    memcpy(out->text + *at, s, n);
    *at += n;
    out->text[*at] = '\0';
    return true;
}

// What stands for a white space or control character, NULL = itself.
static const char *sign_of(uint32_t code) {
    switch (code) {
    case 0x2581: // SentencePiece's space
    case ' ':
        return "␣";
    case '\n':
    case '\r':
        return "⏎";
    case '\t':
        return "⇥";
    default:
        return utf8_is_control(code) ? "␦" : NULL; // the sign for "no such character"
    }
}

// "E2 96": bytes that are not whole characters.
static void put_hex(struct view_token *out, const unsigned char *s, size_t n) {
    out->look = TOKEN_BYTES;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        char hex[4];
        int length = snprintf(hex, sizeof hex, "%s%02X", i ? " " : "", s[i]);
        if (!append(out, &at, hex, (size_t)length))
            return;
    }
}

static void put_text(struct view_token *out, const unsigned char *s, size_t n) {
    size_t at = 0, i = 0;
    bool is_blank = true;
    if (n > LEAD_BYTES && memcmp(s, LEAD, LEAD_BYTES) == 0) {
        out->leading_space = 1;
        i = LEAD_BYTES;
    } else if (n > 1 && s[0] == ' ') {
        out->leading_space = 1;
        i = 1;
    }
    for (; i < n;) {
        uint32_t code = 0;
        size_t bytes = utf8_next((const char *)s + i, n - i, &code);
        const char *sign = sign_of(code);
        is_blank = is_blank && sign != NULL;
        const char *piece = sign ? sign : (const char *)s + i;
        if (!append(out, &at, piece, sign ? strlen(sign) : bytes))
            break;
        i += bytes;
    }
    out->look = is_blank ? TOKEN_BLANK : TOKEN_WORD;
}

// "<s>" in mathematical angle brackets; "</s>" and other end tokens become "end".
static void put_control(struct view_token *out, const char *s, size_t n) {
    out->look = TOKEN_CONTROL;
    char name[24] = "";
    if (n >= 3 && s[0] == '<' && s[n - 1] == '>' && n - 2 < sizeof name) {
        memcpy(name, s + 1, n - 2);
        name[n - 2] = '\0';
    }
    for (char *c = name; *c; c++)
        if (*c < 0x21 || *c > 0x7E)
            name[0] = '\0';
    const char *shown = name[0] == '/' ? word("token.end") : name[0] ? name : word("token.control");
    snprintf(out->text, sizeof out->text, "⟨%s⟩", shown);
}

// Joins tokens that are parts of characters: if token `last` completes what began in the tokens
// before it, it shows the whole and they show a mark of continuation.
static void join_bytes(struct view *view, const struct run *run, int last) {
    unsigned char joined[MAX_SEQUENCE * RUN_TOKEN_BYTES];
    size_t count = 0;
    for (int back = 0; back < MAX_SEQUENCE && last - back >= 0; back++) {
        size_t bytes = 0;
        const char *s = run_token_text(run, last - back, &bytes);
        if (view->tokens[last - back].look != TOKEN_BYTES)
            return;
        memmove(joined + bytes, joined, count);
        memcpy(joined, s, bytes);
        count += bytes;
        if (!utf8_is_valid((const char *)joined, count))
            continue;
        for (int i = 1; i <= back; i++)
            snprintf(view->tokens[last - i].text, VIEW_TOKEN_BYTES, "⋯");
        view->tokens[last].text[0] = '\0';
        put_text(&view->tokens[last], joined, count);
        return;
    }
}

void scene_token(struct view_token *out, const char *text, size_t bytes, bool is_control) {
    *out = (struct view_token){.look = TOKEN_WORD};
    if (is_control)
        put_control(out, text, bytes);
    else if (bytes > 0 && utf8_is_valid(text, bytes))
        put_text(out, (const unsigned char *)text, bytes);
    else
        put_hex(out, (const unsigned char *)text, bytes);
}

void scene_put_tokens(struct view *view, const struct run_moment *now) {
    const struct run *run = now->run;
    int count = run->info.prompt_tokens + now->answers;
    if (count > VIEW_MAX_TOKENS) {
        view->dropped += count - VIEW_MAX_TOKENS;
        count = VIEW_MAX_TOKENS;
    }
    view->token_count = count;
    for (int i = 0; i < count; i++) {
        size_t bytes = 0;
        const char *s = run_token_text(run, i, &bytes);
        struct view_token *out = &view->tokens[i];
        scene_token(out, s, bytes, run->tokens[i].is_control);
        out->is_framing = run_token_is_framing(run, i);
        out->is_prefill = i == run->info.prompt_tokens && run->info.counting == RUN_ENGINE;
        if (out->look == TOKEN_BYTES)
            join_bytes(view, run, i);
    }
}
