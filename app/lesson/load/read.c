// Reads lesson files; form: assets/languages/lesson.schema.json. Each value is checked
// where it is read, and a reason names the path to it ("chapters[1].steps[0].what").
#include "app/lesson/load/load.h"
#include "app/lesson/parts.h"
#include "app/lesson/text.h"
#include "compute/base/json_in.h"
#include "compute/base/places.h"
#include "compute/base/spoken.h"
#include "compute/base/utf8.h"
#include "compute/base/why.h"
#include "compute/base/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Longest texts, in characters as written; a place counts as six.
enum {
    MOST_NAME = 60,
    MOST_LANGUAGE = 12,
    MOST_CHAPTER = 60,
    MOST_TITLE = 44,
    MOST_BLOCK = 180,
    MOST_SUMMARY = 160,
    MOST_TAKEAWAY = 120,
    MOST_TERM = 32,
    MOST_TERM_TEXT = 200,
    MOST_WORD = 240,
};

enum { PATH_DEPTH = 8, KEY_BYTES = 24, LIST_BYTES = 160 };

struct reader {
    struct lesson *lesson;
    const char *name; // of the file
    struct why *why;
    // The path to the value being read, with where it ends at each depth. The deepest
    // has six parts: a case of a text of a step.
    int depth;
    size_t ends[PATH_DEPTH + 1];
    char path[PATH_DEPTH * (KEY_BYTES + 1) + 1];
};

// --- The path, and reasons ---

// `key` NULL: item `index` of an array.
static void enter(struct reader *reader, const char *key, int index) {
    size_t from = reader->ends[reader->depth], room = sizeof reader->path - from;
    char *at = reader->path + from;
    if (key)
        snprintf(at, room, "%s%.*s", from ? "." : "", (int)utf8_cut(key, strlen(key), KEY_BYTES),
                 key);
    else
        snprintf(at, room, "[%d]", index);
    reader->ends[++reader->depth] = from + strlen(at);
}

// Always true, so that a chain of reads can end with it.
static bool leave(struct reader *reader) {
    reader->path[reader->ends[--reader->depth]] = '\0';
    return true;
}

__attribute__((format(printf, 2, 3))) static bool fail(const struct reader *reader,
                                                       const char *format, ...) {
    char text[WHY_BYTES];
    va_list args;
    int used = snprintf(text, sizeof text, "%s%s", reader->path, reader->depth ? ": " : "");
    va_start(args, format);
    vsnprintf(text + used, sizeof text - (size_t)used, why_spoken(format), args);
    va_end(args);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    return why_set(reader->why, "%s: %s", jsonin_short(reader->name), text);
}

// --- Names ---

// Index of a name, -1 = none.
static int index_of(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

// All of them in one line, for a reason.
static const char *join(char out[LIST_BYTES], const char *const *names, int count,
                        const char *between) {
    int used = 0;
    for (int i = 0; i < count; i++)
        used += snprintf(out + used, LIST_BYTES - (size_t)used, "%s%s", i ? between : "", names[i]);
    return out;
}

// The index of the text `json` among names; -1 with the reason where it is none of them.
static int read_choice(struct reader *reader, const json_t *json, const char *const *names,
                       int count) {
    char list[LIST_BYTES];
    int index = json_is_string(json) ? index_of(names, count, json_string_value(json)) : -1;
    if (index < 0)
        fail(reader, "must be one of %s", join(list, names, count, ", "));
    return index;
}

// --- Values of a type ---

// `what` is "a chapter", `known` its fields, parted by spaces.
static bool refuse_unknown(struct reader *reader, json_t *json, const char *what,
                           const char *known) {
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(json, key, value) {
        if (lesson_text_lists(known, key))
            continue;
        enter(reader, key, 0);
        return fail(reader, "no such field; %s has %s", why_spoken(what), known);
    }
    return true;
}

static bool need_object(struct reader *reader, const json_t *json, const char *what) {
    return json_is_object(json) || fail(reader, "must be %s: write {...}", why_spoken(what));
}

// The member `key`, entered; leave() after use.
static json_t *enter_member(struct reader *reader, const json_t *json, const char *key) {
    json_t *value = json_object_get(json, key);
    if (value)
        enter(reader, key, 0);
    else
        fail(reader, "\"%s\" is missing: add it", key);
    return value;
}

// An array and what reads item `index` of it into `out`, the reader being inside the item.
struct array {
    const char *key;
    int most; // items, at least 1
    bool (*read)(struct reader *reader, const json_t *array, size_t index, void *out);
};

static bool read_array(struct reader *reader, const json_t *json, const struct array *array,
                       void *out) {
    json_t *value = enter_member(reader, json, array->key);
    if (!value)
        return false;
    if (!json_is_array(value))
        return fail(reader, "must be a list: write [...]");
    size_t count = json_array_size(value);
    if (count < 1 || count > (size_t)array->most)
        return fail(reader, "has %zu items, 1 to %d fit: %s", count, array->most,
                    count ? why_spoken("take some out") : why_spoken("add one"));
    for (size_t i = 0; i < count; i++) {
        enter(reader, NULL, (int)i);
        if (!array->read(reader, value, i, out))
            return false;
        leave(reader);
    }
    return leave(reader);
}

// --- Texts ---

static const char *const when_names[WHENS] = {
    [WHEN_LESSON] = "lesson",       [WHEN_MEASURED] = "measured",
    [WHEN_MODELLED] = "modelled",   [WHEN_CHARGED] = "charged",
    [WHEN_ENGINE] = "engine",       [WHEN_BYTES] = "bytes",
    [WHEN_GOING] = "going",         [WHEN_OPEN] = "open",
    [WHEN_EACH] = "each_token",     [WHEN_ONE_PASS] = "one_pass",
    [WHEN_ONE_TOKEN] = "one_token", [WHEN_LAST] = "last",
    [WHEN_FAILED] = "failed",       [WHEN_ELSE] = "else"};

static bool read_string(struct reader *reader, const json_t *json,
                        const struct lesson_text_rule *rule, const char **out) {
    char problem[160];
    if (!json_is_string(json))
        return fail(reader, "must be a text: write \"...\"");
    *out = json_string_value(json);
    return lesson_text_check(*out, rule, problem) || fail(reader, "%s", problem);
}

// A text alone, or {"charged": text, ..., "else": text}.
static bool read_variants(struct reader *reader, json_t *json, const struct lesson_text_rule *rule,
                          struct lesson_text *out) {
    const char *key = NULL;
    char list[LIST_BYTES];
    json_t *value = NULL;
    out->count = 0;
    if (!json_is_object(json)) {
        out->count = 1;
        out->variants[0].when = WHEN_ELSE;
        return read_string(reader, json, rule, &out->variants[0].text);
    }
    json_object_foreach(json, key, value) {
        int when = index_of(when_names, WHENS, key);
        enter(reader, key, 0);
        if (when < 0)
            return fail(reader, "no such case; there are %s", join(list, when_names, WHENS, " "));
        if (out->count == LESSON_MAX_VARIANTS)
            return fail(reader, "is one case too many: at most %d", LESSON_MAX_VARIANTS);
        if (out->count > 0 && out->variants[out->count - 1].when == WHEN_ELSE)
            return fail(reader, "comes after \"else\": move it before, or it never counts");
        out->variants[out->count].when = (enum lesson_when)when;
        if (!read_string(reader, value, rule, &out->variants[out->count].text))
            return false;
        out->count++;
        leave(reader);
    }
    if (out->count > 0 && out->variants[out->count - 1].when == WHEN_ELSE)
        return true;
    return fail(reader, "\"else\" is missing: add it as the last case");
}

static bool read_text(struct reader *reader, const json_t *json, const char *key,
                      const struct lesson_text_rule *rule, struct lesson_text *out) {
    json_t *value = enter_member(reader, json, key);
    return value && read_variants(reader, value, rule, out) && leave(reader);
}

// A text without places and cases.
static bool read_plain(struct reader *reader, const json_t *json, const char *key, int most,
                       const char **out) {
    struct lesson_text_rule rule = {.most_chars = most};
    json_t *value = enter_member(reader, json, key);
    return value && read_string(reader, value, &rule, out) && leave(reader);
}

// A text with the run's values; with `has_terms` also with words of the glossary and new
// lines.
static struct lesson_text_rule text_rule(const struct reader *reader, int most, bool has_terms) {
    return (struct lesson_text_rule){
        .most_chars = most, .extra = "", .glossary = has_terms ? reader->lesson : NULL};
}

// --- Glossary and words ---

static bool read_term(struct reader *reader, const json_t *array, size_t index, void *out) {
    json_t *json = json_array_get(array, index);
    struct lesson *lesson = out;
    struct lesson_term term;
    if (!need_object(reader, json, "a word with its text") ||
        !refuse_unknown(reader, json, "a word", "name text") ||
        !read_plain(reader, json, "name", MOST_TERM, &term.name) ||
        !read_plain(reader, json, "text", MOST_TERM_TEXT, &term.text))
        return false;
    if (lesson_find_term(lesson, term.name) >= 0)
        return fail(reader, "\"%s\" is in the glossary already: take one out", term.name);
    lesson->terms[lesson->term_count++] = term;
    return true;
}

// A word that the panel once had: lesson files of that time still open, and it is passed over.
static const char RETIRED_WORD[] = "split.question";

// What the program's text of a word contains, which a lesson's own may contain, too: the
// names of its values, parted by spaces, and whether it has words of the glossary.
static bool read_places(char names[LIST_BYTES], const char *text) {
    struct place place;
    bool has_terms = false;
    size_t used = 0;
    names[0] = '\0';
    while (place_next(&place, &text)) {
        has_terms = has_terms || place.kind == PLACE_TERM;
        if (place.kind == PLACE_VALUE && used + strlen(place.parts[0]) + 2 < LIST_BYTES)
            used += (size_t)snprintf(names + used, LIST_BYTES - used, "%s%s", used ? " " : "",
                                     place.parts[0]);
    }
    return has_terms;
}

static bool read_word(struct reader *reader, const char *key, json_t *json) {
    struct lesson *lesson = reader->lesson;
    char names[LIST_BYTES];
    const char *text = word(key);
    if (text == key)
        return fail(reader, "the panel has no such word: correct or take out the key");
    if (lesson->word_count == LESSON_MAX_WORDS)
        return fail(reader, "is one word too many: at most %d", LESSON_MAX_WORDS);
    struct lesson_text_rule rule = text_rule(reader, MOST_WORD, read_places(names, text));
    rule.extra = names;
    struct lesson_own_word *out = &lesson->words[lesson->word_count++];
    out->key = key;
    return read_variants(reader, json, &rule, &out->text);
}

// "words", which may be left out, as may any of them.
static bool read_words(struct reader *reader, const json_t *root) {
    const char *key = NULL;
    json_t *value = NULL, *words = json_object_get(root, "words");
    if (!words)
        return true;
    enter(reader, "words", 0);
    if (!need_object(reader, words, "the words of the panel"))
        return false;
    json_object_foreach(words, key, value) {
        if (strcmp(key, RETIRED_WORD) == 0)
            continue;
        enter(reader, key, 0);
        if (!read_word(reader, key, value))
            return false;
        leave(reader);
    }
    return leave(reader);
}

// --- Chapters ---

static const char *const show_names[] = {"prompt",  "answer", "counting", "split",
                                         "parties", "bars",   "anatomy",  "floors"};
enum { SHOWS = sizeof show_names / sizeof show_names[0] };
_Static_assert(LESSON_FLOORS == 1 << (SHOWS - 1), "names and bits in one order");

static bool read_show(struct reader *reader, const json_t *array, size_t index, void *out) {
    int show = read_choice(reader, json_array_get(array, index), show_names, SHOWS);
    unsigned *shows = out;
    if (show >= 0)
        *shows |= 1u << show;
    return show >= 0;
}

// "shows", which may be left out.
static bool read_shows(struct reader *reader, const json_t *json, unsigned *out) {
    static const struct array shows = {"shows", SHOWS, read_show};
    *out = 0;
    return !json_object_get(json, "shows") || read_array(reader, json, &shows, out);
}

static const char *const anchor_names[ANCHORS] = {
    [ANCHOR_REQUEST] = "request",     [ANCHOR_IN_PREFILL] = "in_prefill",
    [ANCHOR_PREFILL] = "prefill",     [ANCHOR_FIRST_TOKEN] = "first_token",
    [ANCHOR_IN_DECODE] = "in_decode", [ANCHOR_FIRST_DECODE] = "first_decode",
    [ANCHOR_MIDDLE] = "middle",       [ANCHOR_END] = "end"};

static bool read_anchor(struct reader *reader, const json_t *json, enum lesson_anchor *out) {
    json_t *value = enter_member(reader, json, "at");
    int index = value ? read_choice(reader, value, anchor_names, ANCHORS) : -1;
    if (index < 0)
        return false;
    *out = (enum lesson_anchor)index;
    return leave(reader);
}

static bool read_step(struct reader *reader, const json_t *json, struct lesson_step *out) {
    static const char *const blocks[LESSON_BLOCKS] = {"what", "why", "changes", "next"};
    struct lesson_text_rule block = text_rule(reader, MOST_BLOCK, true);
    struct lesson_text_rule title = text_rule(reader, MOST_TITLE, false);
    struct lesson_text_rule summary = text_rule(reader, MOST_SUMMARY, false);
    if (!read_text(reader, json, "title", &title, &out->title) ||
        !read_shows(reader, json, &out->shows))
        return false;
    // "next" may be left out: a chapter's last step names the next chapter instead.
    for (int i = 0; i < LESSON_BLOCKS; i++)
        if ((i + 1 < LESSON_BLOCKS || json_object_get(json, blocks[i])) &&
            !read_text(reader, json, blocks[i], &block, &out->blocks[i]))
            return false;
    return read_text(reader, json, "summary", &summary, &out->summary);
}

static bool read_own_step(struct reader *reader, const json_t *array, size_t index, void *out) {
    json_t *json = json_array_get(array, index);
    struct lesson_chapter *chapter = out;
    struct lesson_step *step = &chapter->steps[index];
    if (!need_object(reader, json, "a step") ||
        !refuse_unknown(reader, json, "a step", "title at shows what why changes next summary") ||
        !read_anchor(reader, json, &step->anchor) || !read_step(reader, json, step))
        return false;
    for (size_t other = 0; other < index; other++)
        if (json_equal(json_array_get(array, other), json))
            return fail(reader, "is the same as step [%zu]: take one out", other);
    chapter->step_count++;
    return true;
}

static bool read_event_steps(struct reader *reader, const json_t *json,
                             struct lesson_chapter *out) {
    static const char *const names[KINDS] = {
        [KIND_REQUEST] = "request", [KIND_CHUNK] = "chunk",   [KIND_PREFILL] = "prefill",
        [KIND_CHARGED] = "charged", [KIND_DECODE] = "decode", [KIND_LAST] = "last"};
    char known[LIST_BYTES];
    json_t *steps = enter_member(reader, json, "steps");
    if (!steps ||
        !need_object(reader, steps, "an object by kind of event, since it follows the run") ||
        !refuse_unknown(reader, steps, "a chapter that follows the run",
                        join(known, names, KINDS, " ")))
        return false;
    for (int kind = 0; kind < KINDS; kind++) {
        json_t *step = enter_member(reader, steps, names[kind]);
        if (!step || !need_object(reader, step, "a step") ||
            !refuse_unknown(reader, step, "a step of a chapter that follows the run",
                            "title shows what why changes next summary") ||
            !read_step(reader, step, &out->steps[kind]))
            return false;
        leave(reader);
    }
    out->step_count = KINDS;
    return leave(reader);
}

// A member that is `only`, or left out.
static bool read_only(struct reader *reader, const json_t *json, const char *key, const char *only,
                      bool *out) {
    *out = false;
    if (!json_object_get(json, key))
        return true;
    json_t *value = enter_member(reader, json, key);
    const char *name = json_string_value(value);
    *out = name && strcmp(name, only) == 0;
    if (!*out)
        return fail(reader, "must be \"%s\", or be left out", only);
    return leave(reader);
}

static bool read_chapter(struct reader *reader, const json_t *array, size_t index,
                         void *out_lesson) {
    static const struct array own_steps = {"steps", LESSON_MAX_STEPS, read_own_step};
    json_t *json = json_array_get(array, index);
    struct lesson *lesson = out_lesson;
    struct lesson_chapter *out = &lesson->chapters[index];
    struct lesson_text_rule takeaway = text_rule(reader, MOST_TAKEAWAY, false);
    if (!need_object(reader, json, "a chapter") ||
        !refuse_unknown(reader, json, "a chapter", "title follows about shows steps takeaway") ||
        !read_plain(reader, json, "title", MOST_CHAPTER, &out->title) ||
        !read_only(reader, json, "follows", "run", &out->follows_run) ||
        !read_only(reader, json, "about", "simplifies", &out->is_simple) ||
        !read_shows(reader, json, &out->shows))
        return false;
    lesson->chapter_count++;
    return (out->follows_run ? read_event_steps(reader, json, out)
                             : read_array(reader, json, &own_steps, out)) &&
           read_text(reader, json, "takeaway", &takeaway, &out->takeaway);
}

// --- The whole ---

// Adds each `[shown|word]` of a text to the forms of the glossary's words.
static bool add_forms(struct lesson *lesson, const char *text) {
    for (const char *at = strchr(text, '['); at; at = strchr(at + 1, '[')) {
        size_t shown = strcspn(at + 1, "[]|"), bytes = strcspn(at + 1 + shown, "]");
        int term = at[1 + shown] == '|' && at[1 + shown + bytes] == ']'
                       ? lesson_term_named(lesson, at + 2 + shown, bytes - 1)
                       : -1;
        if (term < 0)
            continue;
        size_t count = (size_t)lesson->form_count;
        struct lesson_form *forms = realloc(lesson->forms, (count + 1) * sizeof *forms);
        if (!forms)
            return false;
        lesson->forms = forms;
        forms[lesson->form_count++] = (struct lesson_form){at + 1, shown, term};
    }
    return true;
}

// In every text of the file.
static bool find_forms(struct lesson *lesson, json_t *json) {
    const char *key;
    json_t *part;
    size_t index;
    bool is_done = !json_is_string(json) || add_forms(lesson, json_string_value(json));
    if (json_is_object(json)) {
        json_object_foreach(json, key, part) is_done = is_done && find_forms(lesson, part);
    }
    if (json_is_array(json)) {
        json_array_foreach(json, index, part) is_done = is_done && find_forms(lesson, part);
    }
    return is_done;
}

static bool read_lesson(struct reader *reader, json_t *json) {
    static const struct array glossary = {"glossary", LESSON_MAX_TERMS, read_term};
    static const struct array chapters = {"chapters", LESSON_MAX_CHAPTERS, read_chapter};
    struct lesson *out = reader->lesson;
    const char *name; // for readers of the file
    // The glossary comes first: texts are checked against it.
    return need_object(reader, json, "a lesson") &&
           refuse_unknown(reader, json, "a lesson",
                          "$schema comment name language words glossary chapters") &&
           read_plain(reader, json, "name", MOST_NAME, &name) &&
           (!json_object_get(json, "language") ||
            read_plain(reader, json, "language", MOST_LANGUAGE, &out->language)) &&
           read_array(reader, json, &glossary, out) &&
           (find_forms(out, json) || fail(reader, "no memory for the lesson")) &&
           read_words(reader, json) && read_array(reader, json, &chapters, out);
}

struct lesson *lesson_read(const char *name, json_t *json, struct why *why) {
    struct lesson *lesson = calloc(1, sizeof *lesson);
    struct reader reader = {.lesson = lesson, .name = name, .why = why};
    if (!lesson) {
        fail(&reader, "no memory for the lesson");
        json_decref(json);
        return NULL;
    }
    lesson->json = json;
    if (read_lesson(&reader, json))
        return lesson;
    lesson_destroy(lesson);
    return NULL;
}

void lesson_destroy(struct lesson *lesson) {
    if (!lesson)
        return;
    json_decref(lesson->json);
    free(lesson->forms);
    free(lesson);
}
