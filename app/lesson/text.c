// See text.h.
#include "app/lesson/text.h"

#include "app/lesson/values.h"
#include "compute/base/figures.h"
#include "compute/base/places.h"
#include "compute/base/spoken.h"
#include "compute/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PLACE_CHARS = 6 };

// --- Filling ---

// What fills the places of one text.
struct filling {
    const struct lesson_facts *facts;
    const struct lesson *glossary;
};

// A number and its unit stay on one line: a value that begins with a digit and is no longer
// than a figure has its spaces held.
static void hold(char *out, size_t bytes) {
    enum { MOST_BYTES = 16 };
    struct figure figure;
    if (out[0] < '0' || out[0] > '9' || strlen(out) > MOST_BYTES)
        return;
    snprintf(figure.text, sizeof figure.text, "%s", out);
    snprintf(out, bytes, "%s", figure_held(figure).text);
}

static bool own_value(char *out, size_t bytes, const char *name, const struct lesson_facts *facts) {
    for (const char *const *pair = facts->extra; pair && pair[0] && pair[1]; pair += 2) {
        if (strcmp(pair[0], name) == 0) {
            snprintf(out, bytes, "%s", pair[1]);
            return true;
        }
    }
    return facts->run && lesson_value(out, bytes, name, facts->run, facts->t_ns);
}

static bool value_of(char *out, size_t bytes, const char *name, const void *context) {
    const struct filling *filling = context;
    if (!own_value(out, bytes, name, filling->facts))
        return false;
    if (filling->facts->wraps)
        hold(out, bytes);
    return true;
}

static bool has_term(const char *name, const void *context) {
    return lesson_find_term(((const struct filling *)context)->glossary, name) >= 0;
}

void lesson_text_fill(char *out, size_t bytes, const char *text, const struct lesson_facts *facts,
                      const struct lesson *glossary) {
    struct filling filling = {facts, glossary};
    struct place_filler filler = {.value = value_of, .has_term = has_term, .context = &filling};
    if (glossary) {
        filler.term_begin = LESSON_TERM_BEGIN;
        filler.term_end = LESSON_TERM_END;
    }
    places_fill(out, bytes, text, &filler);
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
    vsnprintf(problem, 160, why_spoken(format), args);
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

static bool check_value(const struct place *place, const struct lesson_text_rule *rule,
                        char problem[160]) {
    char name[40];
    quote(name, place->parts[0]);
    if (!rule->extra)
        return refuse(problem, "has {%s}, but no values stand here: write it out", name);
    if (place->part_count == 2)
        return refuse(problem, "has {%s|...} with one form: write {%s|one|many}", name, name);
    if (is_value(place->parts[0], rule))
        return true;
    if (rule->extra[0])
        return refuse(problem, "has an unknown value {%s}: here also stand %s", name, rule->extra);
    return refuse(problem, "has an unknown value {%s}: did you mean {%s}?", name,
                  nearest_value(place->parts[0]));
}

static bool check_term(const struct place *place, const struct lesson_text_rule *rule,
                       char problem[160]) {
    char name[40];
    const char *word = place->parts[place->part_count > 1 ? 1 : 0];
    quote(name, word);
    if (!rule->glossary || place->part_count > 2)
        return refuse(problem, "has [%s], but no glossary words stand here: drop the brackets",
                      name);
    if (place->parts[0][0] && lesson_find_term(rule->glossary, word) >= 0)
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

static int chars_of(const struct place *place) {
    if (place->kind == PLACE_SIGN)
        return 1;
    if (place->kind == PLACE_TERM)
        return utf8_count(place->parts[0]);
    return PLACE_CHARS + (place->part_count == 3 ? utf8_count(place->parts[2]) : 0);
}

static bool check_place(const struct place *place, const struct lesson_text_rule *rule,
                        char problem[160]) {
    if (place->kind == PLACE_BROKEN)
        return refuse(problem, "has %s", why_spoken(place->problem));
    if (place->kind == PLACE_VALUE)
        return check_value(place, rule, problem);
    return place->kind != PLACE_TERM || check_term(place, rule, problem);
}

bool lesson_text_check(const char *text, const struct lesson_text_rule *rule, char problem[160]) {
    struct place place;
    int chars = 0;
    if (!text[0])
        return refuse(problem, "is empty: write a text");
    if (has_control(text, rule->glossary))
        return refuse(problem, "has a control character: %s",
                      rule->glossary ? why_spoken("only line ends may stand in it")
                                     : why_spoken("none may stand in it"));
    while (place_next(&place, &text)) {
        if (!check_place(&place, rule, problem))
            return false;
        chars += chars_of(&place);
    }
    if (chars <= rule->most_chars)
        return true;
    return refuse(problem, "has %d characters, there is room for %d: shorten it", chars,
                  rule->most_chars);
}
