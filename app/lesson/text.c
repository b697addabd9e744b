// See text.h. Checking and filling read the places with the same function.
#include "app/lesson/text.h"

#include "app/lesson/values.h"
#include "compute/base/figures.h"
#include "compute/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PLACE_BYTES = 96, VALUE_BYTES = 512, PLACE_CHARS = 6 };

// --- Reading ---

enum piece_kind { PIECE_END, PIECE_SIGN, PIECE_VALUE, PIECE_TERM, PIECE_BROKEN };

// The next piece of a text: a character, or a place in up to three parts.
struct piece {
    enum piece_kind kind;
    const char *sign; // PIECE_SIGN: sign_bytes of it
    size_t sign_bytes;
    int part_count;
    char parts[3][PLACE_BYTES];
    const char *problem; // PIECE_BROKEN
};

static bool broken(struct piece *out, const char *problem) {
    out->kind = PIECE_BROKEN;
    out->problem = problem;
    return true;
}

// The inside of a place up to its closing sign.
static const char *read_place(struct piece *out, const char *text, char close) {
    size_t used = 0;
    out->part_count = 1;
    for (; *text && *text != close; text++) {
        if (strchr("{}[]\n", *text) || (*text == '|' && out->part_count == 3))
            break;
        if (*text == '|') {
            used = 0;
            out->part_count++;
            continue;
        }
        if (used + 1 >= PLACE_BYTES)
            break;
        out->parts[out->part_count - 1][used++] = *text;
    }
    return *text == close ? text + 1 : NULL;
}

// Reads one piece at *text and moves on. False at the end.
static bool next_piece(struct piece *out, const char **text) {
    const char *at = *text;
    *out = (struct piece){.kind = PIECE_END};
    if (!*at)
        return false;
    if (strchr("{}[]", *at) && at[1] == *at) {
        *out = (struct piece){.kind = PIECE_SIGN, .sign = at, .sign_bytes = 1};
        *text = at + 2;
        return true;
    }
    if (*at == '}' || *at == ']')
        return broken(out, *at == '}' ? "a lone } (write }})" : "a lone ] (write ]])");
    if (*at == '{' || *at == '[') {
        out->kind = *at == '{' ? PIECE_VALUE : PIECE_TERM;
        const char *after = read_place(out, at + 1, *at == '{' ? '}' : ']');
        if (!after)
            return broken(out, *at == '{' ? "a place that { opens and no } closes"
                                          : "a word that [ opens and no ] closes");
        *text = after;
        return true;
    }
    size_t length = utf8_length(at, strlen(at));
    out->kind = PIECE_SIGN;
    out->sign = at;
    out->sign_bytes = length ? length : 1;
    *text = at + out->sign_bytes;
    return true;
}

// --- Filling ---

struct writer {
    char *out;
    size_t bytes, used;
    bool is_cut, in_term;
};

enum { KEPT_BYTES = 5 }; // for an ellipsis, a closing mark and the NUL

static void put(struct writer *writer, const char *text, size_t length) {
    for (size_t i = 0; i < length && !writer->is_cut;) {
        size_t sign = utf8_length(text + i, length - i);
        sign = sign ? sign : 1;
        if (writer->used + sign + KEPT_BYTES > writer->bytes) {
            memcpy(writer->out + writer->used, SIGN_ELLIPSIS, 3);
            writer->used += 3;
            writer->is_cut = true;
            if (writer->in_term)
                writer->out[writer->used++] = LESSON_TERM_END;
            return;
        }
        memcpy(writer->out + writer->used, text + i, sign);
        writer->used += sign;
        i += sign;
    }
}

static void value_of(char *out, size_t bytes, const char *name, const struct lesson_facts *facts) {
    for (const char *const *pair = facts->extra; pair && pair[0] && pair[1]; pair += 2) {
        if (strcmp(pair[0], name) == 0) {
            snprintf(out, bytes, "%s", pair[1]);
            return;
        }
    }
    if (!facts->run || !lesson_value(out, bytes, name, facts->run, facts->t_ns))
        snprintf(out, bytes, SIGN_DASH);
}

static void put_value(struct writer *writer, const struct piece *piece,
                      const struct lesson_facts *facts) {
    char value[VALUE_BYTES];
    value_of(value, sizeof value, piece->parts[0], facts);
    put(writer, value, strlen(value));
    if (piece->part_count < 3)
        return;
    const char *form = piece->parts[strcmp(value, "1") == 0 ? 1 : 2];
    put(writer, " ", 1);
    put(writer, form, strlen(form));
}

static void put_term(struct writer *writer, const struct piece *piece, bool has_marks) {
    static const char begin = LESSON_TERM_BEGIN, end = LESSON_TERM_END;
    if (has_marks)
        put(writer, &begin, 1);
    writer->in_term = has_marks && !writer->is_cut;
    put(writer, piece->parts[0], strlen(piece->parts[0]));
    if (has_marks)
        put(writer, &end, 1);
    writer->in_term = false;
}

void lesson_text_fill(char *out, size_t bytes, const char *text, const struct lesson_facts *facts,
                      bool has_marks) {
    struct writer writer = {.out = out, .bytes = bytes};
    struct piece piece;
    if (bytes == 0)
        return;
    writer.is_cut = bytes < KEPT_BYTES;
    while (next_piece(&piece, &text) && piece.kind != PIECE_BROKEN) {
        if (piece.kind == PIECE_SIGN)
            put(&writer, piece.sign, piece.sign_bytes);
        else if (piece.kind == PIECE_VALUE)
            put_value(&writer, &piece, facts);
        else
            put_term(&writer, &piece, has_marks);
    }
    out[writer.used] = '\0';
}

// --- Checking ---

bool lesson_text_lists(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; length > 0 && (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static bool is_value(const char *name, const struct lesson_text_rule *rule) {
    const char *known;
    for (int i = 0; (known = lesson_value_name(i)); i++)
        if (strcmp(known, name) == 0)
            return true;
    return lesson_text_lists(rule->extra, name);
}

// The known name with the longest common beginning, as a hint.
static const char *nearest_value(const char *name) {
    const char *known, *found = lesson_value_name(0);
    size_t best = 0;
    for (int i = 0; (known = lesson_value_name(i)); i++) {
        size_t same = 0;
        while (name[same] && known[same] == name[same])
            same++;
        if (same > best) {
            best = same;
            found = known;
        }
    }
    return found;
}

// Writes what is wrong with a text. Returns false, so that it can end a check.
__attribute__((format(printf, 2, 3))) static bool refuse(char problem[160], const char *format,
                                                         ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(problem, 160, format, args);
    va_end(args);
    return false;
}

// A short copy without control characters, for a reason.
static void quote(char out[40], const char *text) {
    size_t bytes = utf8_cut(text, strlen(text), 35);
    for (size_t i = 0; i < bytes; i++)
        out[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? ' ' : text[i];
    out[bytes] = '\0';
}

static bool check_value(const struct piece *piece, const struct lesson_text_rule *rule,
                        char problem[160]) {
    char name[40];
    quote(name, piece->parts[0]);
    if (!rule->extra)
        return refuse(problem, "has {%s}, but no values stand here: write it out", name);
    if (piece->part_count == 2)
        return refuse(problem, "has {%s|...} with one form: write {%s|one|many}", name, name);
    if (is_value(piece->parts[0], rule))
        return true;
    if (rule->extra[0])
        return refuse(problem, "has an unknown value {%s}: here also stand %s", name, rule->extra);
    return refuse(problem, "has an unknown value {%s}: did you mean {%s}?", name,
                  nearest_value(piece->parts[0]));
}

static bool check_term(const struct piece *piece, const struct lesson_text_rule *rule,
                       char problem[160]) {
    char name[40];
    const char *word = piece->parts[piece->part_count > 1 ? 1 : 0];
    quote(name, word);
    if (!rule->glossary || piece->part_count > 2)
        return refuse(problem, "has [%s], but no glossary words stand here: drop the brackets",
                      name);
    if (piece->parts[0][0] && lesson_find_term(rule->glossary, word) >= 0)
        return true;
    return refuse(problem, "has [%s], which the glossary lacks: add it there or drop the brackets",
                  name);
}

// Control characters would break lines or marks.
static bool has_control(const char *text, bool has_lines) {
    uint32_t code;
    for (size_t sign; *text; text += sign ? sign : 1) {
        sign = utf8_next(text, strlen(text), &code);
        if (sign > 0 && utf8_is_control(code) && !(code == '\n' && has_lines))
            return true;
    }
    return false;
}

static int chars_of_piece(const struct piece *piece) {
    if (piece->kind == PIECE_SIGN)
        return 1;
    if (piece->kind == PIECE_TERM)
        return utf8_count(piece->parts[0]);
    return PLACE_CHARS + (piece->part_count == 3 ? utf8_count(piece->parts[2]) : 0);
}

static bool check_piece(const struct piece *piece, const struct lesson_text_rule *rule,
                        char problem[160]) {
    if (piece->kind == PIECE_BROKEN)
        return refuse(problem, "has %s", piece->problem);
    if (piece->kind == PIECE_VALUE)
        return check_value(piece, rule, problem);
    return piece->kind != PIECE_TERM || check_term(piece, rule, problem);
}

bool lesson_text_check(const char *text, const struct lesson_text_rule *rule, char problem[160]) {
    struct piece piece;
    int chars = 0;
    if (!text[0])
        return refuse(problem, "is empty: write a text");
    if (has_control(text, rule->glossary))
        return refuse(problem, "has a control character: %s",
                      rule->glossary ? "only \\n may stand in it" : "none may stand in it");
    while (next_piece(&piece, &text)) {
        if (!check_piece(&piece, rule, problem))
            return false;
        chars += chars_of_piece(&piece);
    }
    if (chars <= rule->most_chars)
        return true;
    return refuse(problem, "has %d characters, there is room for %d: shorten it", chars,
                  rule->most_chars);
}
