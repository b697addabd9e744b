// See lesson.h. Loading, places and moves, the glossary; lesson_read.c reads the file,
// lesson_page.c fills the texts.
#include "app/lesson/parts.h"

#include "compute/base/assets.h"
#include "compute/base/json_in.h"
#include "compute/base/num.h"
#include "compute/base/why.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// --- Loading ---

static bool load(struct lesson **out, const char *path, const char *text, size_t bytes, char *why) {
    struct lesson *lesson = calloc(1, sizeof *lesson);
    *out = NULL;
    if (!lesson)
        return why_set(why, "%s: no memory for the lesson", jsonin_short(path));
    if (!lesson_parse(lesson, path, text, bytes, why)) {
        lesson_destroy(lesson);
        return false;
    }
    *out = lesson;
    return true;
}

bool lesson_load_text(struct lesson **out, const char *name, const char *json, size_t bytes,
                      char why[256]) {
    return load(out, name, json, bytes, why);
}

bool lesson_load(struct lesson **out, const char *path, char why[256]) {
    char *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    if (!jsonin_read(&text, &bytes, path, LESSON_MAX_BYTES, why))
        return false;
    bool is_loaded = load(out, path, text, bytes, why);
    free(text);
    return is_loaded;
}

static const char FIRST[] = "two-stages.json"; // in English
static const char BEGIN[] = "two-stages.", END[] = ".json";

// "de" of "two-stages.de.json"; false: it is no such file.
static bool language_of(const char *file, char out[16]) {
    size_t length = strlen(file), begin = sizeof BEGIN - 1, end = sizeof END - 1;
    if (length <= begin + end || strncmp(file, BEGIN, begin) != 0 ||
        strcmp(file + length - end, END) != 0 || length - begin - end >= 16)
        return false;
    memcpy(out, file + begin, length - begin - end);
    out[length - begin - end] = '\0';
    return true;
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

// ", de, es", sorted, of the files beside `path`.
static void list_languages(char *out, size_t bytes, const char *path) {
    enum { MOST = 24 };
    char names[MOST][16], folder[ASSETS_PATH_BYTES];
    int count = 0;
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    DIR *files = opendir(folder);
    for (struct dirent *file; files && count < MOST && (file = readdir(files));)
        count += language_of(file->d_name, names[count]);
    if (files)
        closedir(files);
    qsort(names, (size_t)count, sizeof names[0], by_name);
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < count && used + 20 < bytes; i++)
        used += (size_t)snprintf(out + used, bytes - used, ", %s", names[i]);
}

// Letters, digits and signs between them: never a path.
static bool is_language(const char *text) {
    size_t length = strlen(text);
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return length > 0 && length < 16 && strspn(text, plain) == length;
}

bool lesson_load_named(struct lesson **out, const char *language, char why[256]) {
    char path[ASSETS_PATH_BYTES], name[64], first[ASSETS_PATH_BYTES], languages[120];
    *out = NULL;
    if (strcmp(language, "en") == 0)
        snprintf(name, sizeof name, "lessons/%s", FIRST);
    else
        snprintf(name, sizeof name, "lessons/%s%.15s%s", BEGIN, language, END);
    if (is_language(language) && assets_find(path, name, why))
        return lesson_load(out, path, why);
    snprintf(name, sizeof name, "lessons/%s", FIRST);
    if (!assets_find(first, name, why))
        return false;
    list_languages(languages, sizeof languages, first);
    return why_set(why, "no lesson in \"%.20s\": choose one of en%s", language, languages);
}

void lesson_destroy(struct lesson *lesson) {
    if (!lesson)
        return;
    json_decref(lesson->json);
    free(lesson);
}

// --- Chapters, steps, places ---

int lesson_chapters(const struct lesson *lesson) {
    return lesson->chapter_count;
}

static const struct lesson_chapter *chapter_at(const struct lesson *lesson, int chapter) {
    return &lesson->chapters[clamp_int(chapter, 0, lesson->chapter_count - 1)];
}

const char *lesson_chapter_title(const struct lesson *lesson, int chapter) {
    return chapter_at(lesson, chapter)->title;
}

bool lesson_follows_run(const struct lesson *lesson, int chapter) {
    return chapter_at(lesson, chapter)->follows_run;
}

int lesson_steps(const struct lesson *lesson, int chapter, const struct run *run) {
    const struct lesson_chapter *at = chapter_at(lesson, chapter);
    if (!at->follows_run)
        return at->step_count;
    // A run that grows has a pass under way after its last event.
    return run_events(run) + (run->state == RUN_OPEN && run->mark_count > 0);
}

struct lesson_place lesson_clamp(const struct lesson *lesson, struct lesson_place place,
                                 const struct run *run) {
    place.chapter = clamp_int(place.chapter, 0, lesson->chapter_count - 1);
    place.step = clamp_int(place.step, 0, lesson_steps(lesson, place.chapter, run) - 1);
    return place;
}

bool lesson_move(const struct lesson *lesson, struct lesson_place *place, int direction,
                 const struct run *run) {
    struct lesson_place to = lesson_clamp(lesson, *place, run);
    to.step += direction;
    if (to.step < 0) {
        if (to.chapter == 0)
            return false;
        to.chapter--;
        to.step = lesson_steps(lesson, to.chapter, run) - 1;
    } else if (to.step >= lesson_steps(lesson, to.chapter, run)) {
        if (to.chapter + 1 >= lesson->chapter_count)
            return false;
        to.chapter++;
        to.step = 0;
    }
    *place = to;
    return true;
}

// The first whole decode step that has a column, -1 = none.
static int first_decode_pass(const struct run *run) {
    int whole = run_events(run) - 1, pass = 0;
    while (pass < whole &&
           (run->passes[pass].phase == RUN_PREFILL || !run->passes[pass].column_count))
        pass++;
    return pass < whole ? pass : -1;
}

static int64_t decode_ns(const struct run *run, bool is_halfway) {
    int pass = first_decode_pass(run);
    if (pass < 0)
        return run_end_ns(run);
    int64_t start_ns = run->passes[pass].start_ns, end_ns = run_pass_end_ns(run, pass);
    return is_halfway ? start_ns + (end_ns - start_ns) / 2 : end_ns;
}

static int64_t anchor_ns(enum lesson_anchor anchor, const struct run *run) {
    int64_t prefill_ns = run_prefill_ns(run), ttft_ns = run_ttft_ns(run), end_ns = run_end_ns(run);
    switch (anchor) {
    case ANCHOR_REQUEST:
        return 0;
    case ANCHOR_IN_PREFILL:
        return prefill_ns < 0 ? end_ns : prefill_ns / 2;
    case ANCHOR_PREFILL:
        return prefill_ns < 0 ? end_ns : prefill_ns;
    case ANCHOR_FIRST_TOKEN:
        return ttft_ns < 0 ? end_ns : ttft_ns;
    case ANCHOR_IN_DECODE:
    case ANCHOR_FIRST_DECODE:
        return decode_ns(run, anchor == ANCHOR_IN_DECODE);
    case ANCHOR_MIDDLE:
        return run_answers_seen(run) > 0 ? run_answer_ns(run, run_answers_seen(run) / 2) : end_ns;
    default:
        return end_ns;
    }
}

int64_t lesson_step_ns(const struct lesson *lesson, struct lesson_place place,
                       const struct run *run) {
    place = lesson_clamp(lesson, place, run);
    const struct lesson_chapter *chapter = &lesson->chapters[place.chapter];
    if (!chapter->follows_run)
        return anchor_ns(chapter->steps[place.step].anchor, run);
    return place.step < run_events(run) ? run_event_ns(run, place.step) : run_end_ns(run);
}

struct lesson_place lesson_place_at(const struct lesson *lesson, struct lesson_place place,
                                    const struct run *run, int64_t t_ns) {
    place = lesson_clamp(lesson, place, run);
    if (!lesson->chapters[place.chapter].follows_run)
        return place;
    int event = run_event_at(run, t_ns);
    if (event < 0)
        place.step = 0;
    else
        place.step = event + (run_event_ns(run, event) != t_ns);
    return lesson_clamp(lesson, place, run);
}

// --- Glossary ---

int lesson_terms(const struct lesson *lesson) {
    return lesson->term_count;
}

struct lesson_term lesson_term(const struct lesson *lesson, int index) {
    return lesson->terms[clamp_int(index, 0, lesson->term_count - 1)];
}

// The word that `[shown|word]` stands for in this text; 0 bytes: it is not in there.
static size_t word_shown_as(const char **word, const char *text, const char *shown) {
    size_t shown_bytes = strlen(shown);
    for (const char *at = strchr(text, '['); at; at = strchr(at + 1, '[')) {
        bool is_it = strncmp(at + 1, shown, shown_bytes) == 0 && at[1 + shown_bytes] == '|';
        const char *end = is_it ? strchr(at, ']') : NULL;
        if (!end)
            continue;
        *word = at + 2 + shown_bytes;
        return (size_t)(end - *word);
    }
    return 0;
}

// Looks through every text of the file: a form that differs stands in one of them.
static size_t find_shown(const char **word, json_t *value, const char *shown) {
    const char *key;
    json_t *part;
    size_t index, bytes = 0;
    if (json_is_string(value))
        return word_shown_as(word, json_string_value(value), shown);
    if (json_is_object(value)) {
        json_object_foreach(value, key,
                            part) if ((bytes = find_shown(word, part, shown)) > 0) return bytes;
    }
    if (json_is_array(value)) {
        json_array_foreach(value, index,
                           part) if ((bytes = find_shown(word, part, shown)) > 0) return bytes;
    }
    return 0;
}

int lesson_find_term(const struct lesson *lesson, const char *name) {
    const char *word = name;
    size_t bytes = strlen(name);
    for (int attempt = 0; attempt < 2 && bytes > 0; attempt++) {
        for (int i = 0; i < lesson->term_count; i++)
            if (strlen(lesson->terms[i].name) == bytes &&
                strncasecmp(lesson->terms[i].name, word, bytes) == 0)
                return i;
        bytes = find_shown(&word, lesson->json, name);
    }
    return -1;
}
