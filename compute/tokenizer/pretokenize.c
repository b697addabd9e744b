// See pretokenize.h. The expressions, with the alternatives in the order in which they are
// tried (\s, \p{L}, \p{M} and \p{N} are the classes of utf8.h):
//
//     gpt-2    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//     smollm   \p{N} first, then gpt-2's in what lies between
//     llama3   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//              ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
//     qwen2    the same with \p{N} alone
//     tekken   [^\r\n\p{L}\p{N}]?U*L+|[^\r\n\p{L}\p{N}]?U+L*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|
//              \s*[\r\n]+|\s+(?!\S)|\s+
//              with U = [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] and L = [\p{Ll}\p{Lm}\p{Lo}\p{M}]
//     gpt-4o   tekken's with (?i:'s|...)? behind a word and \p{N}{1,3}
#include "compute/tokenizer/pretokenize.h"

#include "compute/base/utf8.h"

#include <string.h>

enum contractions { NONE, SMALL, ANY_CASE, BEHIND_A_WORD };
enum words { AFTER_A_SPACE, AFTER_A_SIGN, BY_CASE };
enum { ANY_NUMBER = 1 << 30 };

struct pretokenizer {
    const char *names; // each between two spaces
    enum contractions contractions;
    enum words words;
    int digits;           // most in one piece
    bool digits_first;    // they end the text for all other rules
    const char *line_end; // signs that stay with the punctuation before them
    bool adds_bos, ignores_merges;
};

static const struct pretokenizer pretokenizers[] = {
    {" gpt-2 phi-2 ", SMALL, AFTER_A_SPACE, ANY_NUMBER, false, "", false, false},
    {" smollm starcoder refact ", SMALL, AFTER_A_SPACE, 1, true, "", false, false},
    {" llama-bpe llama3 llama-v3 falcon3 pixtral lfm2 ", ANY_CASE, AFTER_A_SIGN, 3, false, "\r\n",
     true, true},
    {" dbrx smaug-bpe ", ANY_CASE, AFTER_A_SIGN, 3, false, "\r\n", false, false},
    {" qwen2 deepseek-r1-qwen megrez ", ANY_CASE, AFTER_A_SIGN, 1, false, "\r\n", false, false},
    {" tekken ", NONE, BY_CASE, 1, false, "\r\n/", true, true},
    {" gpt-4o ", BEHIND_A_WORD, BY_CASE, 3, false, "\r\n/", false, false},
};

const struct pretokenizer *pretokenizer_find(const char *name, size_t bytes) {
    for (size_t i = 0; i < sizeof pretokenizers / sizeof pretokenizers[0]; i++) {
        const char *names = pretokenizers[i].names;
        const char *at = memmem(names, strlen(names), name, bytes);
        if (bytes > 0 && !memchr(name, ' ', bytes) && at && at[-1] == ' ' && at[bytes] == ' ')
            return &pretokenizers[i];
    }
    return NULL;
}

bool pretokenizer_adds_bos(const struct pretokenizer *by) {
    return by->adds_bos;
}

bool pretokenizer_ignores_merges(const struct pretokenizer *by) {
    return by->ignores_merges;
}

// --- Reading signs ---

struct text {
    const struct pretokenizer *by;
    const char *data;
    size_t bytes;
};

enum { THE_END = -1 };

struct sign {
    int class; // enum utf8_class or THE_END
    char byte; // of a one-byte sign, else '\0'
    size_t next;
};

static struct sign sign_at(const struct text *text, size_t at) {
    if (at >= text->bytes)
        return (struct sign){THE_END, '\0', at};
    uint32_t code;
    size_t bytes = utf8_next(text->data + at, text->bytes - at, &code);
    if (bytes == 0)
        return (struct sign){UTF8_OTHER, '\0', at + 1};
    int class = (int)utf8_class(code);
    if (class == UTF8_NUMBER && at > 0 && text->by->digits_first)
        return (struct sign){THE_END, '\0', at};
    return (struct sign){class, bytes == 1 ? text->data[at] : '\0', at + bytes};
}

static bool is_letter(int class) {
    return class == UTF8_UPPER || class == UTF8_LOWER || class == UTF8_LETTER;
}

// [^\s\p{L}\p{N}]
static bool is_mark(int class) {
    return class == UTF8_OTHER || class == UTF8_MARK;
}

static bool is_upper_or_both(int class) {
    return class == UTF8_UPPER || class == UTF8_LETTER || class == UTF8_MARK;
}

static bool is_lower_or_both(int class) {
    return class == UTF8_LOWER || class == UTF8_LETTER || class == UTF8_MARK;
}

static bool ends_line(char byte) {
    return byte == '\r' || byte == '\n';
}

// Where the run of such signs that begins at `at` ends.
static size_t run_end(const struct text *text, size_t at, bool (*belongs)(int class)) {
    for (;;) {
        struct sign sign = sign_at(text, at);
        if (!belongs(sign.class))
            return at;
        at = sign.next;
    }
}

// --- The rules: each returns where its piece ends, 0 = it doesn't apply ---

static size_t contraction(const struct text *text, size_t at, bool any_case) {
    static const char *const endings[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    if (at >= text->bytes || text->data[at] != '\'')
        return 0;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t length = strlen(endings[i]), same = 0;
        while (same < length && at + 1 + same < text->bytes) {
            char byte = text->data[at + 1 + same];
            if (any_case && byte >= 'A' && byte <= 'Z')
                byte = (char)(byte - 'A' + 'a');
            if (byte != endings[i][same])
                break;
            same++;
        }
        if (same == length)
            return at + 1 + length;
    }
    return 0;
}

// U*L+ from `at`: if no L follows the run of U, the last sign of the run that is in both
// classes is the L. Otherwise *upper_end is where U+ alone ends.
static size_t cased_word(const struct text *text, size_t at, size_t *upper_end) {
    size_t end = at, both_end = 0;
    for (struct sign sign; sign = sign_at(text, end), is_upper_or_both(sign.class);) {
        end = sign.next;
        if (is_lower_or_both(sign.class))
            both_end = end;
    }
    size_t lower_end = run_end(text, end, is_lower_or_both);
    if (lower_end > end)
        return lower_end;
    *upper_end = end;
    return both_end;
}

static size_t word_by_case(const struct text *text, struct sign first, bool has_prefix) {
    size_t after_prefix = 0, after_none = 0, end = 0;
    if (has_prefix)
        end = cased_word(text, first.next, &after_prefix);
    if (end == 0)
        end = cased_word(text, 0, &after_none);
    if (end == 0 && has_prefix && after_prefix > first.next)
        end = after_prefix;
    return end ? end : after_none;
}

static size_t word(const struct text *text, struct sign first) {
    bool has_prefix =
        text->by->words == AFTER_A_SPACE
            ? first.byte == ' '
            : !is_letter(first.class) && first.class != UTF8_NUMBER && !ends_line(first.byte);
    if (text->by->words == BY_CASE) {
        size_t end = word_by_case(text, first, has_prefix);
        size_t behind =
            end > 0 && text->by->contractions == BEHIND_A_WORD ? contraction(text, end, true) : 0;
        return behind ? behind : end;
    }
    size_t start = has_prefix ? first.next : 0;
    size_t end = run_end(text, start, is_letter);
    return end > start ? end : 0;
}

static size_t number(const struct text *text, struct sign first) {
    bool has_space = text->by->words == AFTER_A_SPACE && first.byte == ' ';
    size_t start = has_space ? first.next : 0, end = start;
    for (int i = 0; i < text->by->digits; i++) {
        struct sign sign = sign_at(text, end);
        if (sign.class != UTF8_NUMBER)
            break;
        end = sign.next;
    }
    return end > start ? end : 0;
}

static size_t punctuation(const struct text *text, struct sign first) {
    size_t start = first.byte == ' ' ? first.next : 0;
    size_t end = run_end(text, start, is_mark);
    if (end == start)
        return 0;
    while (end < text->bytes && text->data[end] && strchr(text->by->line_end, text->data[end]))
        end++;
    return end;
}

// A run of white space: up to its last line end, where lines count; else all of it, but for a
// last sign that belongs to what follows.
static size_t space(const struct text *text) {
    size_t end = 0, last = 0, line_end = 0;
    struct sign sign;
    for (; sign = sign_at(text, end), sign.class == UTF8_SPACE; end = sign.next) {
        last = end;
        if (ends_line(sign.byte))
            line_end = sign.next;
    }
    if (line_end > 0 && text->by->line_end[0])
        return line_end;
    return sign.class != THE_END && last > 0 ? last : end;
}

size_t pretokenizer_piece(const struct pretokenizer *by, const char *data, size_t bytes) {
    struct text text = {by, data, bytes};
    struct sign first = sign_at(&text, 0);
    size_t end = 0;
    if (by->contractions == SMALL || by->contractions == ANY_CASE)
        end = contraction(&text, 0, by->contractions == ANY_CASE);
    if (!end)
        end = word(&text, first);
    if (!end)
        end = number(&text, first);
    if (!end)
        end = punctuation(&text, first);
    return end ? end : space(&text);
}
