// How a token is named, so that no two of a vocabulary look alike: white space and what shows
// nothing become signs or names in brackets, control tokens get angle brackets, a byte's own
// token and bytes that are not whole UTF-8 are hex, and the token that completes a character
// shows it behind a mark of continuation.
#include "app/picture/scene/parts.h"

#include "compute/base/figures.h"
#include "compute/base/utf8.h"
#include "compute/base/words.h"

#include <stdio.h>
#include <string.h>

static const char LEAD[] = SIGN_WORD_SPACE;
enum { LEAD_BYTES = 3, MAX_SEQUENCE = 4, NAME_BYTES = 16 };

struct name {
    char text[NAME_BYTES]; // "" = the character shows itself
};

// --- Characters that need a name ---

// Signs that stand for something else here, and what draws nothing although Unicode calls it a
// letter, a mark or a symbol.
static bool is_ambiguous(uint32_t code) {
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x034F, 0x034F}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F},
        {0x21E4, 0x21E5}, {0x2205, 0x2205}, {0x237D, 0x237D}, {0x23CE, 0x23CE},
        {0x2423, 0x2423}, {0x25CC, 0x25CC}, {0x27E6, 0x27E9}, {0x2800, 0x2800},
        {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFFA0, 0xFFA0}, {0xE0000, 0xE01EF},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

static const char *sign_of(uint32_t code) {
    switch (code) {
    case 0x2581: // SentencePiece's space
    case ' ':
        return "␣";
    case '\n':
        return "⏎";
    case '\r':
        return "⇤";
    case '\t':
        return "⇥";
    case 0xA0: // no line ends there
        return "⍽";
    default:
        return NULL;
    }
}

// Usual names; NULL: there is none.
static const char *abbreviation(uint32_t code) {
    static const char controls[][4] = {
        "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS",  "HT",  "LF",
        "VT",  "FF",  "CR",  "SO",  "SI",  "DLE", "DC1", "DC2", "DC3", "DC4", "NAK",
        "SYN", "ETB", "CAN", "EM",  "SUB", "ESC", "FS",  "GS",  "RS",  "US",
    };
    if (code < sizeof controls / sizeof controls[0])
        return controls[code];
    switch (code) {
    case 0x7F:
        return "DEL";
    case 0xAD:
        return "SHY";
    case 0x200B:
        return "ZWSP";
    case 0x200C:
        return "ZWNJ";
    case 0x200D:
        return "ZWJ";
    case 0x2060:
        return "WJ";
    case 0xFEFF:
        return "BOM";
    default:
        return NULL;
    }
}

// What stands for the character. A joiner between two letters is seen by their shape; at an end
// it is not (`is_edge`), and a mark has no letter there to stand on.
static struct name name_of(uint32_t code, bool is_start, bool is_edge) {
    struct name name = {""};
    const char *sign = sign_of(code), *usual = abbreviation(code);
    bool is_joiner = code == 0x200C || code == 0x200D;
    if (sign)
        snprintf(name.text, sizeof name.text, "%s", sign);
    else if (is_joiner && !is_edge)
        return name;
    else if (usual)
        snprintf(name.text, sizeof name.text, "⟦%s⟧", usual);
    else if (utf8_is_control(code) || utf8_is_space(code) || utf8_is_line_end(code) ||
             utf8_is_invisible(code) || is_ambiguous(code))
        snprintf(name.text, sizeof name.text, "⟦U+%04X⟧", code);
    else if (is_start && utf8_class(code) == UTF8_MARK)
        utf8_encode(name.text, 0x25CC); // a dotted circle
    return name;
}

// --- Names ---

// Appends `n` bytes at `at`. When there is no room, an ellipsis and `characters` end the text.
static bool append(struct view_token *out, size_t *at, const char *s, size_t n, int characters) {
    enum { END_BYTES = 8, BRACKET_BYTES = 3 }; // ellipsis, up to four digits, NUL
    size_t room = sizeof out->text - (out->look == TOKEN_CONTROL ? BRACKET_BYTES : 0);
    if (*at + n + END_BYTES > room) {
        snprintf(out->text + *at, END_BYTES, SIGN_ELLIPSIS "%d", characters);
        return false;
    }
    memcpy(out->text + *at, s, n);
    *at += n;
    out->text[*at] = '\0';
    return true;
}

// Appends "0xE2 96".
static void put_hex(struct view_token *out, const char *s, size_t n) {
    size_t at = strlen(out->text);
    for (size_t i = 0; i < n; i++) {
        char hex[5];
        int length = snprintf(hex, sizeof hex, "%s%02X", i ? " " : "0x", (unsigned char)s[i]);
        if (!append(out, &at, hex, (size_t)length, (int)n))
            return;
    }
}

// A mark that is drawn on the character before it.
static bool is_mark(uint32_t code) {
    return utf8_class(code) == UTF8_MARK && !is_ambiguous(code);
}

// True if all of it is white space or shows nothing.
static bool is_blank(const char *s, size_t n) {
    for (size_t i = 0, bytes; i < n; i += bytes) {
        uint32_t code = 0;
        bytes = utf8_next(s + i, n - i, &code);
        if (is_mark(code) || !name_of(code, i == 0, true).text[0])
            return false;
    }
    return true;
}

static int characters_of(const char *s, size_t n) {
    int count = 0;
    for (size_t i = 0; i < n; i++)
        count += !utf8_continues(s[i]);
    return count;
}

// Appends the text; only of a word the leading space is left to the mark.
static void put_text(struct view_token *out, const char *s, size_t n) {
    size_t at = strlen(out->text), lead = 0;
    if (out->look == TOKEN_WORD && at == 0)
        lead = n > LEAD_BYTES && memcmp(s, LEAD, LEAD_BYTES) == 0 ? LEAD_BYTES : s[0] == ' ';
    int characters = characters_of(s, n);
    for (size_t i = lead, bytes; i < n; i += bytes) {
        uint32_t code = 0;
        bytes = utf8_next(s + i, n - i, &code);
        struct name name = name_of(code, i == lead, i == lead || i + bytes == n);
        if (name.text[0] && !append(out, &at, name.text, strlen(name.text), characters))
            break;
        if ((!name.text[0] || is_mark(code)) && !append(out, &at, s + i, bytes, characters))
            break;
    }
    out->leading_space = lead > 0;
}

// "<s>" in mathematical angle brackets; "</s>" becomes "end".
static void put_control(struct view_token *out, const char *s, size_t n) {
    bool is_end = n == 4 && memcmp(s, "</s>", n) == 0;
    bool is_bracketed = n >= 3 && s[0] == '<' && s[n - 1] == '>';
    const char *usual = is_end ? word("token.end") : n == 0 ? word("token.control") : "";
    out->look = TOKEN_CONTROL;
    snprintf(out->text, sizeof out->text, "⟨%s", usual);
    s += is_bracketed;
    n -= is_bracketed ? 2 : 0;
    if (!usual[0] && utf8_is_valid(s, n))
        put_text(out, s, n);
    else if (!usual[0])
        put_hex(out, s, n);
    memcpy(out->text + strlen(out->text), "⟩", sizeof "⟩");
}

// If token `last` completes a character that began in the tokens before it, it shows what they
// make together, behind a mark of continuation.
static void join_bytes(struct view_token *out, const struct view *view, const struct run *run,
                       int last) {
    char joined[MAX_SEQUENCE * RUN_TOKEN_BYTES];
    size_t count = 0;
    for (int back = 0; back < MAX_SEQUENCE && last - back >= 0; back++) {
        size_t bytes = 0;
        const char *s = run_token_text(run, last - back, &bytes);
        if (view->tokens[last - back].look != TOKEN_BYTES)
            return;
        memmove(joined + bytes, joined, count);
        memcpy(joined, s, bytes);
        count += bytes;
        if (!utf8_is_valid(joined, count))
            continue;
        if (back > 0) { // else it is a byte's own token
            *out = (struct view_token){.look = TOKEN_WORD, .text = "⋯"};
            put_text(out, joined, count);
        }
        return;
    }
}

void scene_token(struct view_token *out, const char *text, size_t bytes, enum run_token_kind kind) {
    *out = (struct view_token){.look = TOKEN_WORD};
    if (kind == RUN_CONTROL) {
        put_control(out, text, bytes);
    } else if (bytes == 0) {
        *out = (struct view_token){.look = TOKEN_BLANK, .text = "∅"};
    } else if (kind == RUN_BYTE || !utf8_is_valid(text, bytes)) {
        out->look = TOKEN_BYTES;
        put_hex(out, text, bytes);
    } else {
        out->look = is_blank(text, bytes) ? TOKEN_BLANK : TOKEN_WORD;
        put_text(out, text, bytes);
    }
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
        scene_token(out, s, bytes, run->tokens[i].kind);
        if (out->look == TOKEN_BYTES)
            join_bytes(out, view, run, i);
        out->is_framing = run_token_is_framing(run, i);
        out->is_prefill = i == run->info.prompt_tokens && run->info.counting == RUN_ENGINE;
    }
}
