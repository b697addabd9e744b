// Lesson files from outside: each kind of mistake with the path to it, files cut or
// changed anywhere, and texts cut to any size.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/lesson/load/load.h"
#include "app/lesson/parts.h"
#include "app/lesson/text.h"
#include "compute/base/why.h"
#include "tests/app/lesson/small_lesson.h"
#include "tests/compute/base/text_fault.h"
#include "tests/compute/run/random_run.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// `text` with the first `from` after `after` replaced. Owner: the caller.
static char *replaced(const char *text, const char *after, const char *from, const char *to) {
    const char *start = after ? strstr(text, after) : text;
    const char *at = start ? strstr(start, from) : NULL;
    if (!at)
        fail_msg("%s is not in the lesson", from);
    size_t head = (size_t)(at - text), bytes = strlen(text) + strlen(to) + 1;
    char *out = malloc(bytes);
    snprintf(out, bytes, "%.*s%s%s", (int)head, text, to, at + strlen(from));
    return out;
}

// Owner: the caller, lesson_destroy; NULL with `why`. A copy of exact size, so that a
// sanitizer sees a byte too far.
static struct lesson *load_bytes(const char *text, size_t bytes, struct why *why) {
    char *exact = malloc(bytes + !bytes);
    memcpy(exact, text, bytes);
    struct lesson *lesson = lesson_parse("folder/small.json", exact, bytes, why);
    free(exact);
    return lesson;
}

static void a_file_with_a_word_of_earlier_times_still_opens(void **state) {
    (void)state;
    struct why why = {0};
    char *text = small_lesson(), *older = NULL;
    char *at = strstr(text, "\"heading.what\":");
    assert_non_null(at);
    assert_true(
        asprintf(&older, "%.*s\"split.question\": \"How?\", %s", (int)(at - text), text, at) > 0);
    struct lesson *lesson = load_bytes(older, strlen(older), &why);
    if (!lesson)
        fail_msg("%s", why.text);
    lesson_destroy(lesson);
    free(older);
    free(text);
}

static void the_small_lesson_loads(void **state) {
    (void)state;
    struct why why = {0};
    char *text = small_lesson();
    struct lesson *lesson = load_bytes(text, strlen(text), &why);
    if (!lesson)
        fail_msg("%s", why.text);
    assert_int_equal(lesson_chapters(lesson), 2);
    assert_string_equal(lesson_chapter_title(lesson, 1), "two");
    assert_string_equal(lesson_word(lesson, "heading.what"), "x0");
    assert_int_equal(lesson_terms(lesson), 2);
    lesson_destroy(lesson);
    free(text);
}

// --- Mistakes ---

// 398 letters in quotes.
static const char *long_text(void) {
    static char text[401];
    memset(text, 'y', 400);
    text[0] = text[399] = '"';
    return text;
}

struct mistake {
    const char *after, *from, *to; // what is replaced
    const char *reason;            // its beginning: the path, and what is wrong there
};

static void check_mistake(const char *whole, const struct mistake *mistake) {
    static const char file[] = "folder/small.json: ";
    struct why why = {0};
    char *text = replaced(whole, mistake->after, mistake->from, mistake->to);
    struct lesson *lesson = load_bytes(text, strlen(text), &why);
    if (lesson)
        fail_msg("\"%s\" passed", mistake->to);
    size_t length = strlen(file);
    if (strncmp(why.text, file, length) != 0 || strchr(why.text, '\n') ||
        strncmp(why.text + length, mistake->reason, strlen(mistake->reason)) != 0)
        fail_msg("%s\ndoes not begin with %s%s", why.text, file, mistake->reason);
    free(text);
}

static void every_mistake_is_refused_with_the_path_to_it(void **state) {
    (void)state;
    char long_heading[432];
    snprintf(long_heading, sizeof long_heading, "\"heading.what\": %s", long_text());
    const struct mistake mistakes[] = {
        // The outermost object.
        {NULL, "\"name\"", "\"nam\"", "nam: no such field; a lesson has"},
        {NULL, "\"name\": \"small\",", "", "\"name\" is missing: add it"},
        {NULL, "\"language\": \"en\"", "\"language\": 7", "language: must be a text"},
        {NULL, "\"small\"", "\"\"", "name: is empty"},
        {NULL, "\"small\"", "\"a {time}\"", "name: has {time}, but no values stand here"},
        {NULL, "\"small\"", "\"a\\u0007b\"", "name: has a control character"},
        {NULL, "\"small\"", "\"a\\u0085b\"", "name: has a control character"},
        // Words.
        {"words", "\"bar.wait\": \"x", "\"bar.weight\": \"x",
         "words.bar.weight: the panel has no such word"},
        {"words", "\"bar.tiny\"", "\"comment\"", "words.comment: the panel has no such word"},
        {"words", "\"heading.what\": \"x0\"", "\"heading.what\": [1]",
         "words.heading.what: must be a text: write"},
        {"words", "\"heading.what\": \"x0\"", "\"heading.what\": \"[token]\"",
         "words.heading.what: has [token], but no glossary words stand here"},
        {"words", "\"slider.tokens\": \"", "\"slider.tokens\": \"{cuont}",
         "words.slider.tokens: has an unknown value {cuont}: here also stand count"},
        {"words", "\"heading.what\": \"x0\"", "\"heading.what\": \"a\\nb\"",
         "words.heading.what: has a control character: none"},
        {"words", "\"heading.what\": \"x0\"", long_heading,
         "words.heading.what: has 398 characters, there is room for 240: shorten it"},
        // The glossary.
        {"\"glossary\"", "\"layer\"", "\"Token\"",
         "glossary[1]: \"Token\" is in the glossary already"},
        {"\"glossary\"", "\"text\"", "\"txt\"",
         "glossary[0].txt: no such field; a word has name text"},
        {"\"glossary\"", "\"a row\"", "\"a [token]\"",
         "glossary[1].text: has [token], but no glossary words stand here: drop the brackets"},
        {"\"glossary\"", "{\"name\": \"layer\", \"text\": \"a row\"}", "3",
         "glossary[1]: must be a word"},
        // Quotes and braces inside texts.
        {"\"glossary\": [", "\"a row\"}", "\"\\\"ä日{[\\\\\", \"txt\": 1}",
         "glossary[1].txt: no such field"},
        // Chapters.
        {"\"chapters\"", "\"takeaway\"", "\"takeawy\"",
         "chapters[0].takeawy: no such field; a chapter has title"},
        {"\"chapters\"", "\"follows\": \"run\"", "\"follows\": \"walk\"",
         "chapters[0].follows: must be \"run\", or be left out"},
        {"\"chapters\"", "\"follows\": \"run\", ", "",
         "chapters[0].steps: must be a list: write [...]"},
        {"\"chapters\"", "\"title\": \"two\"", "\"title\": \"two\", \"follows\": \"run\"",
         "chapters[1].steps: must be an object by kind of event"},
        {"\"chapters\"", "[\"parties\"]", "[\"partys\"]",
         "chapters[0].shows[0]: must be one of prompt, answer"},
        {"\"chapters\"", "[\"parties\"]", "[]",
         "chapters[0].shows: has 0 items, 1 to 8 fit: add one"},
        {"\"chapters\"", "[\"parties\"]", "\"parties\"", "chapters[0].shows: must be a list"},
        {"\"chapters\"", "\"chunk\"", "\"chunky\"",
         "chapters[0].steps.chunky: no such field; a chapter that follows the run has request "
         "chunk"},
        // Steps.
        {"\"charged\": {", "\"why\": \"w\", ", "", "chapters[0].steps.charged: \"why\" is missing"},
        {"\"decode\": {", "\"title\"", "\"at\": \"end\", \"title\"",
         "chapters[0].steps.decode.at: no such field; a step of a chapter that follows the run"},
        {"\"two\"", "\"at\": \"end\"", "\"at\": \"ending\"",
         "chapters[1].steps[0].at: must be one of request"},
        {"\"two\"", "\"at\": \"end\", ", "", "chapters[1].steps[0]: \"at\" is missing"},
        // Texts.
        {"\"two\"", "{time}", "{tme}",
         "chapters[1].steps[0].what: has an unknown value {tme}: did you mean {t"},
        {"\"two\"", "{time}", "{time|one}",
         "chapters[1].steps[0].what: has {time|...} with one form: write {time|one|many}"},
        {"\"two\"", "{time}", "{time",
         "chapters[1].steps[0].what: has a place that { opens and no } closes"},
        {"\"two\"", "{time}", "time}", "chapters[1].steps[0].what: has a lone } (write }})"},
        {"\"two\"", "[token]", "[tokn]",
         "chapters[1].steps[0].what: has [tokn], which the glossary lacks"},
        {"\"two\"", "[token]", "[a|b|c]",
         "chapters[1].steps[0].what: has [b], but no glossary words stand here"},
        {"\"two\"", "[token]", "[|token]",
         "chapters[1].steps[0].what: has [token], which the glossary lacks"},
        {"\"two\"", "[token]", "[token",
         "chapters[1].steps[0].what: has a word that [ opens and no ] closes"},
        {"\"two\"", "[token]", "token]", "chapters[1].steps[0].what: has a lone ] (write ]])"},
        {"\"two\"", "\"w\"", long_text(),
         "chapters[1].steps[0].why: has 398 characters, there is room for 180: shorten it"},
        {"\"two\"", "s {clock}", "s [token]",
         "chapters[1].steps[0].summary: has [token], but no glossary words stand here"},
        {"\"two\"", "\"n\"", "\"tab\\t\"",
         "chapters[1].steps[0].next: has a control character: only line"},
        // Cases.
        {"\"two\"", "\"charged\": \"c\"", "\"chargd\": \"c\"",
         "chapters[1].steps[0].changes.chargd: no such case; there are lesson"},
        {"\"two\"", ", \"else\": \"e\"", "",
         "chapters[1].steps[0].changes: \"else\" is missing: add it as"},
        {"\"two\"", "{\"charged\": \"c\", \"else\": \"e\"}",
         "{\"else\": \"e\", \"charged\": \"c\"}",
         "chapters[1].steps[0].changes.charged: comes after \"else\""},
        {"\"two\"", "{\"charged\": \"c\", \"else\": \"e\"}", "{}",
         "chapters[1].steps[0].changes: \"else\" is missing"},
        {"\"two\"", "\"else\": \"e\"", "\"else\": {}",
         "chapters[1].steps[0].changes.else: must be a text"},
    };
    char *whole = small_lesson();
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        check_mistake(whole, &mistakes[i]);
    free(whole);
}

static void a_step_that_is_there_twice_is_refused_at_the_second(void **state) {
    (void)state;
    char *whole = small_lesson();
    check_mistake(whole, &(struct mistake){"\"two\"", "\"middle\"", "\"end\"",
                                           "chapters[1].steps[1]: is the same as step [0]"});
    free(whole);
}

// More of something than there is room for.
static void too_many_are_refused(void **state) {
    static const struct {
        const char *after, *item;
        int count;
        const char *reason;
    } lists[] = {
        {"\"glossary\": [", "{\"name\": \"w%d\", \"text\": \"t\"},", 127,
         "glossary: has 129 items"},
        {"\"chapters\": [", "%d,", 15, "chapters: has 17 items, 1 to 16 fit: take some out"},
        {"\"two\", \"steps\": [", "%d,", 31, "steps: has 33 items, 1 to 32 fit: take some out"},
    };
    (void)state;
    char *whole = small_lesson();
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char *items = NULL;
        struct why why;
        size_t bytes = 0;
        FILE *out = open_memstream(&items, &bytes);
        fprintf(out, "%s", lists[i].after);
        for (int k = 0; k < lists[i].count; k++)
            fprintf(out, lists[i].item, k);
        fclose(out);
        char *text = replaced(whole, NULL, lists[i].after, items);
        assert_null(load_bytes(text, strlen(text), &why));
        if (!strstr(why.text, lists[i].reason))
            fail_msg("%s, expected %s", why.text, lists[i].reason);
        free(text);
        free(items);
    }
    free(whole);
}

static void what_is_no_json_or_no_utf8_is_refused_by_line(void **state) {
    static const struct {
        const char *from, *to, *reason;
    } faults[] = {
        {"\"small\"", "\"sm\xFF\"", "small.json:2:"},
        {"\"small\"", "\"\xC3\"", "small.json:2:"},
        {"\"small\"", "small", "small.json:2:"},
        {"\"language\"", "\"name\"", "duplicate object key"},
        {"\"en\"", "\"\\u0000\"", "small.json:3:"},
        {"}\n  ]\n}\n", "}\n  ]\n}\n{}", "end of file expected"},
    };
    (void)state;
    char *whole = small_lesson();
    struct why why;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char *text = replaced(whole, NULL, faults[i].from, faults[i].to);
        assert_null(load_bytes(text, strlen(text), &why));
        if (!strstr(why.text, "not valid JSON") || !strstr(why.text, faults[i].reason))
            fail_msg("%s, expected %s", why.text, faults[i].reason);
        free(text);
    }
    assert_null(load_bytes("[]", 2, &why));
    assert_string_equal(why.text, "folder/small.json: must be a lesson: write {...}");
    free(whole);
}

static void a_lesson_cut_anywhere_is_refused(void **state) {
    (void)state;
    char *whole = small_lesson();
    struct why why;
    size_t bytes = strlen(whole);
    while (whole[bytes - 1] != '}')
        bytes--;
    for (size_t cut = 0; cut < bytes; cut++) {
        why.text[0] = '\0';
        assert_null(load_bytes(whole, cut, &why));
        assert_non_null(strstr(why.text, "small.json:"));
        assert_null(strchr(why.text, '\n'));
    }
    free(whole);
}

// A byte changed: refused in one line, or a lesson whose pages can be shown.
static void a_lesson_changed_anywhere_is_refused_or_harmless(void **state) {
    static const char signs[] = "\"{}[]|\\,:\n\x01\x7f\xC2\x85\xFFzE0";
    static const struct random_run_limits limits = {
        .max_prompt = 9, .max_answers = 4, .max_layers = 3};
    (void)state;
    char *whole = small_lesson();
    struct why why;
    size_t bytes = strlen(whole);
    uint64_t dice = 7;
    struct run *run = random_run(3, &limits);
    for (int i = 0; i < 4000; i++) {
        size_t at = (size_t)random_between(&dice, 0, (int64_t)bytes - 1);
        char before = whole[at];
        whole[at] = signs[random_between(&dice, 0, sizeof signs - 2)];
        struct lesson *lesson = load_bytes(whole, bytes, &why);
        if (!lesson) {
            assert_true(strstr(why.text, "small.json:") && !strchr(why.text, '\n'));
        } else {
            struct lesson_page page;
            struct lesson_place place = {0, 0};
            do
                lesson_page(&page, lesson, place, run, 0);
            while (lesson_move(lesson, &place, 1, run));
        }
        lesson_destroy(lesson);
        whole[at] = before;
    }
    run_destroy(run);
    free(whole);
}

static void files_that_are_not_there_or_too_large_are_named(void **state) {
    (void)state;
    char folder[] = "/tmp/tokendrip-lesson-XXXXXX", path[64];
    struct why why;
    struct lesson *lesson = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/large.json", folder);
    assert_false(lesson_load(&lesson, path, &why));
    assert_non_null(strstr(why.text, "large.json: cannot be opened"));
    FILE *file = fopen(path, "w");
    assert_int_equal(ftruncate(fileno(file), (1 << 19) + 1), 0);
    fclose(file);
    assert_false(lesson_load(&lesson, path, &why));
    assert_non_null(strstr(why.text, "large.json: larger than the 512 KiB"));
    assert_null(lesson);
    file = fopen(path, "w");
    char *whole = small_lesson();
    fputs(whole, file);
    fclose(file);
    assert_true(lesson_load(&lesson, path, &why));
    lesson_destroy(lesson);
    free(whole);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

// --- The schema ---

// The part of lesson.schema.json at "/" separated keys and indexes; borrowed.
static const json_t *at_path(const json_t *json, const char *path) {
    char key[32];
    for (size_t length; *path; path += length + (path[length] == '/')) {
        length = strcspn(path, "/");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        json = json_is_array(json) ? json_array_get(json, (size_t)atoi(key))
                                   : json_object_get(json, key);
    }
    assert_non_null(json);
    return json;
}

// An object's keys or an array's texts in one line.
static void join(char out[256], const json_t *json, const char *between) {
    const char *key;
    json_t *part;
    size_t index, used = 0;
    if (json_is_array(json)) {
        json_array_foreach(json, index, part) used += (size_t)snprintf(
            out + used, 256 - used, "%s%s", used ? between : "", json_string_value(part));
        return;
    }
    json_object_foreach((json_t *)json, key, part) used +=
        (size_t)snprintf(out + used, 256 - used, "%s%s", used ? between : "", key);
}

static json_t *read_schema(void) {
    json_t *schema =
        json_load_file(TOKENDRIP_SOURCE_DIR "/assets/languages/lesson.schema.json", 0, NULL);
    assert_non_null(schema);
    return schema;
}

// A reason lists all names that would have been right: the schema's, in its order.
static void the_schema_has_the_names_that_the_reader_knows(void **state) {
    static const struct {
        const char *after, *from, *to; // a mistake
        const char *before, *between;  // how its reason lists the names
        const char *path;
    } lists[] = {
        {NULL, "\"name\"", "\"nam\"", "a lesson has ", " ", "properties"},
        {"\"glossary\"", "\"text\"", "\"txt\"", "a word has ", " ",
         "properties/glossary/items/properties"},
        {"\"chapters\"", "\"takeaway\"", "\"takeawy\"", "a chapter has ", " ",
         "$defs/followingChapter/properties"},
        {"\"chapters\"", "\"chunk\"", "\"chunky\"", "follows the run has ", " ",
         "$defs/followingChapter/properties/steps/properties"},
        {"\"chapters\"", "\"chunk\"", "\"chunky\"", "follows the run has ", " ",
         "$defs/followingChapter/properties/steps/required"},
        {"\"decode\": {", "\"title\"", "\"titl\"", "follows the run has ", " ",
         "$defs/eventStep/properties"},
        {"\"two\"", "\"at\"", "\"att\"", "a step has ", " ", "$defs/ownStep/properties"},
        {"\"two\"", "\"end\"", "\"ending\"", "must be one of ", ", ",
         "$defs/ownStep/properties/at/enum"},
        {"\"chapters\"", "[\"parties\"]", "[\"partys\"]", "must be one of ", ", ",
         "$defs/shows/items/enum"},
        {"\"two\"", "\"charged\"", "\"chargd\"", "there are ", " ",
         "$defs/text/oneOf/1/propertyNames/enum"},
    };
    (void)state;
    json_t *schema = read_schema();
    char *whole = small_lesson(), names[256] = "";
    struct why why;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char *text = replaced(whole, lists[i].after, lists[i].from, lists[i].to);
        assert_null(load_bytes(text, strlen(text), &why));
        const char *list = strstr(why.text, lists[i].before);
        assert_non_null(list);
        join(names, at_path(schema, lists[i].path), lists[i].between);
        assert_string_equal(list + strlen(lists[i].before), names);
        free(text);
    }
    free(whole);
    json_decref(schema);
}

// The longest text that a part of the schema allows, also where only its description says.
static int most_chars(const json_t *part) {
    const json_t *most = json_object_get(part, "maxLength");
    const char *says = json_string_value(json_object_get(part, "description"));
    int chars = 0;
    if (most)
        return (int)json_integer_value(most);
    assert_int_equal(sscanf(says, "At most %d characters", &chars), 1);
    return chars;
}

static void the_schema_has_the_room_that_the_reader_gives(void **state) {
    static const struct {
        const char *path;
        int most;
    } counts[] = {
        {"properties/glossary/maxItems", LESSON_MAX_TERMS},
        {"properties/chapters/maxItems", LESSON_MAX_CHAPTERS},
        {"$defs/ownChapter/properties/steps/maxItems", LESSON_MAX_STEPS},
        {"$defs/text/oneOf/1/maxProperties", LESSON_MAX_VARIANTS},
    };
    static const struct {
        const char *after, *text, *path; // a text of the small lesson
    } lengths[] = {
        {"\"name\"", "\"small\"", "properties/name"},
        {"\"language\"", "\"en\"", "properties/language"},
        {"\"glossary\"", "\"token\"", "properties/glossary/items/properties/name"},
        {"\"glossary\"", "\"a piece\"", "properties/glossary/items/properties/text"},
        {"\"chapters\"", "\"one\"", "$defs/followingChapter/properties/title"},
        {"\"chapters\"", "\"two\"", "$defs/ownChapter/properties/title"},
        {"\"two\"", "\"t\"", "$defs/title"},
        {"\"two\"", "\"w\"", "$defs/block"},
        {"\"two\"", "\"s {clock}\"", "$defs/summary"},
        {"\"two\"", "\"k\"", "$defs/takeaway"},
    };
    (void)state;
    json_t *schema = read_schema();
    char *whole = small_lesson(), room[40];
    struct why why;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        assert_int_equal(json_integer_value(at_path(schema, counts[i].path)), counts[i].most);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char *text = replaced(whole, lengths[i].after, lengths[i].text, long_text());
        assert_null(load_bytes(text, strlen(text), &why));
        snprintf(room, sizeof room,
                 "there is room for %d:", most_chars(at_path(schema, lengths[i].path)));
        if (!strstr(why.text, room))
            fail_msg("%s, but the schema: %s", why.text, room);
        free(text);
    }
    free(whole);
    json_decref(schema);
}

// --- Texts ---

static void signs_are_written_twice_and_forms_follow_the_count(void **state) {
    static const struct {
        const char *text, *filled;
    } texts[] = {
        {"{{a}} [[b]]", "{a} [b]"},
        {"{n|token|tokens}", "1 token"},
        {"{m|token|tokens}", "2 tokens"},
        {"{m} of {n}", "2 of 1"},
        {"{none}", "—"},
        {"{none|a|b}", "— b"},
        {"[token]s", "\x0Etoken\x0Fs"},
        {"[shown|token]", "\x0Eshown\x0F"},
        {"a\nb", "a\nb"},
        {"{{{n}}}", "{1}"},
    };
    static const char *const extra[] = {"n", "1", "m", "2", NULL};
    struct lesson_facts facts = {.extra = extra};
    (void)state;
    char *whole = small_lesson();
    struct why why;
    struct lesson *glossary = load_bytes(whole, strlen(whole), &why);
    assert_non_null(glossary);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char out[64];
        lesson_text_fill(out, sizeof out, texts[i].text, &facts, glossary);
        assert_string_equal(out, texts[i].filled);
    }
    lesson_destroy(glossary);
    free(whole);
}

static void a_text_cut_to_any_size_is_whole_utf8_with_closed_marks(void **state) {
    static const char text[] = "ä[größer|token]日本 {n|Stück|Stücke} [[x]] [ü|token]📦";
    static const char *const extra[] = {"n", "3", NULL};
    struct lesson_facts facts = {.extra = extra};
    (void)state;
    char *whole = small_lesson();
    struct why why;
    struct lesson *glossary = load_bytes(whole, strlen(whole), &why);
    assert_non_null(glossary);
    for (size_t bytes = 1; bytes <= 90; bytes++) {
        char *out = malloc(bytes);
        lesson_text_fill(out, bytes, text, &facts, glossary);
        assert_true(strlen(out) < bytes);
        assert_null(text_fault(out, "\x0E\x0F"));
        free(out);
    }
    lesson_destroy(glossary);
    free(whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_small_lesson_loads),
        cmocka_unit_test(a_file_with_a_word_of_earlier_times_still_opens),
        cmocka_unit_test(every_mistake_is_refused_with_the_path_to_it),
        cmocka_unit_test(a_step_that_is_there_twice_is_refused_at_the_second),
        cmocka_unit_test(too_many_are_refused),
        cmocka_unit_test(the_schema_has_the_names_that_the_reader_knows),
        cmocka_unit_test(the_schema_has_the_room_that_the_reader_gives),
        cmocka_unit_test(what_is_no_json_or_no_utf8_is_refused_by_line),
        cmocka_unit_test(a_lesson_cut_anywhere_is_refused),
        cmocka_unit_test(a_lesson_changed_anywhere_is_refused_or_harmless),
        cmocka_unit_test(files_that_are_not_there_or_too_large_are_named),
        cmocka_unit_test(signs_are_written_twice_and_forms_follow_the_count),
        cmocka_unit_test(a_text_cut_to_any_size_is_whole_utf8_with_closed_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
