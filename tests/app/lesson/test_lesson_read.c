// Lesson files from outside: each kind of mistake with its line and column, files cut or
// changed anywhere, and texts cut to any size.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/lesson/lesson.h"
#include "app/lesson/text.h"
#include "compute/base/utf8.h"
#include "tests/app/lesson/small_lesson.h"
#include "tests/compute/run/random_run.h"

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
static struct lesson *load_bytes(const char *text, size_t bytes, char why[256]) {
    struct lesson *lesson = NULL;
    char *exact = malloc(bytes + !bytes);
    memcpy(exact, text, bytes);
    bool is_loaded = lesson_load_text(&lesson, "folder/small.json", exact, bytes, why);
    free(exact);
    assert_int_equal(is_loaded, lesson != NULL);
    return lesson;
}

// "small.json:12:5:" of the first `part` after `after`, counted here once more.
static void place_of(char out[40], const char *text, const char *after, const char *part) {
    const char *at = strstr(after ? strstr(text, after) : text, part);
    int line = 1, column = 1;
    assert_non_null(at);
    for (const char *c = text; c < at; c++) {
        column = *c == '\n' ? 1 : column + (((unsigned char)*c & 0xC0) != 0x80);
        line += *c == '\n';
    }
    snprintf(out, 40, "small.json:%d:%d: ", line, column);
}

static void the_small_lesson_loads(void **state) {
    (void)state;
    char why[256] = "";
    char *text = small_lesson();
    struct lesson *lesson = load_bytes(text, strlen(text), why);
    if (!lesson)
        fail_msg("%s", why);
    assert_int_equal(lesson_chapters(lesson), 2);
    assert_string_equal(lesson_chapter_title(lesson, 1), "two");
    assert_string_equal(lesson_word(lesson, "heading.what"), "x0");
    assert_int_equal(lesson_terms(lesson), 2);
    lesson_destroy(lesson);
    free(text);
}

// --- Mistakes ---

static char long_text[700];

struct mistake {
    const char *after, *from, *to; // what is replaced
    const char *place;             // what the reason points to, after `after`
    const char *reason;
};

static void check_mistake(const char *whole, const struct mistake *mistake) {
    char why[256] = "", place[40];
    char *text = replaced(whole, mistake->after, mistake->from, mistake->to);
    struct lesson *lesson = load_bytes(text, strlen(text), why);
    if (lesson)
        fail_msg("\"%s\" passed", mistake->to);
    place_of(place, text, mistake->after, mistake->place);
    if (!strstr(why, place) || !strstr(why, mistake->reason) || strchr(why, '\n'))
        fail_msg("%s\nis not at %s or does not say %s", why, place, mistake->reason);
    free(text);
}

static void every_mistake_is_refused_with_its_line_and_column(void **state) {
    (void)state;
    memset(long_text, 'y', 400);
    static const struct mistake mistakes[] = {
        // The outermost object.
        {NULL, "\"name\"", "\"nam\"", "\"nam\"", "nam: no such field; a lesson has"},
        {NULL, "\"name\": \"small\",", "", "{", "\"name\" is missing: add it"},
        {NULL, "\"language\": \"en\"", "\"language\": 7", "\"language\"",
         "language: must be a text"},
        {NULL, "\"small\"", "\"\"", "\"name\"", "name: is empty"},
        {NULL, "\"small\"", "\"a {time}\"", "\"name\"", "no values stand here"},
        {NULL, "\"small\"", "\"a\\u0007b\"", "\"name\"", "has a control character"},
        {NULL, "\"small\"", "\"a\\u0085b\"", "\"name\"", "has a control character"},
        // Words.
        {"words", "\"bar.wait\": \"x", "\"bar.weight\": \"x", "\"bar.weight\"",
         "words.bar.weight: the panel has no such word"},
        {"words", "\"bar.tiny\"", "\"comment\"", "\"comment\"", "the panel has no such word"},
        {"\"language\"", "\"heading.what\": \"x0\",", "", "\"words\"",
         "words: \"heading.what\" is missing"},
        {"words", "\"heading.what\": \"x0\"", "\"heading.what\": [1]", "\"heading.what\"",
         "must be a text: write"},
        {"words", "\"heading.what\": \"x0\"", "\"heading.what\": \"[token]\"", "\"heading.what\"",
         "no glossary words stand here"},
        {"words", "\"slider.tokens\": \"", "\"slider.tokens\": \"{cuont}", "\"slider.tokens\"",
         "unknown value {cuont}: here also stand count"},
        {"words", "\"heading.what\": \"x0\"", "\"heading.what\": \"a\\nb\"", "\"heading.what\"",
         "control character: none"},
        {"words", "\"heading.what\": \"x0\"",
         "\"heading.what\": \"a heading that is far too long for where it stands\"",
         "\"heading.what\"", "has 50 characters, there is room for 36: shorten it"},
        // The glossary.
        {"\"glossary\"", "\"layer\"", "\"Token\"", "{\"name\": \"Token\"",
         "\"Token\" is in the glossary already"},
        {"\"glossary\"", "\"text\"", "\"txt\"", "\"txt\"", "no such field; a word has name text"},
        {"\"glossary\"", "\"a row\"", "\"a [token]\"", "\"text\": \"a [", "drop the brackets"},
        {"\"glossary\"", "{\"name\": \"layer\", \"text\": \"a row\"}", "3", "3",
         "glossary[1]: must be a word"},
        // Columns count characters; quotes and braces inside texts are no structure.
        {"\"glossary\": [", "\"a row\"}", "\"\\\"ä日{[\\\\\", \"txt\": 1}", "\"txt\"",
         "glossary[1].txt: no such field"},
        // Chapters.
        {"\"chapters\"", "\"takeaway\"", "\"takeawy\"", "\"takeawy\"",
         "chapters[0].takeawy: no such field; a chapter has title"},
        {"\"chapters\"", "\"follows\": \"run\"", "\"follows\": \"walk\"", "\"follows\"",
         "must be \"run\", or be left out"},
        {"\"chapters\"", "\"follows\": \"run\", ", "", "\"steps\"", "must be a list: write [...]"},
        {"\"chapters\"", "\"title\": \"two\"", "\"title\": \"two\", \"follows\": \"run\"",
         "\"steps\": [", "by kind of event"},
        {"\"chapters\"", "[\"parties\"]", "[\"partys\"]", "\"partys\"",
         "shows[0]: must be one of prompt, answer"},
        {"\"chapters\"", "[\"parties\"]", "[]", "\"shows\"", "has 0 items, 1 to 7 fit: add one"},
        {"\"chapters\"", "[\"parties\"]", "\"parties\"", "\"shows\"", "must be a list"},
        {"\"chapters\"", "\"chunk\"", "\"chunky\"", "\"chunky\"",
         "no such field; a chapter that follows the run has request chunk"},
        // Steps.
        {"\"charged\": {", "\"why\": \"w\", ", "", "\"charged\": {",
         "chapters[0].steps.charged: \"why\" is missing"},
        {"\"decode\": {", "\"title\"", "\"at\": \"end\", \"title\"", "\"at\"",
         "no such field; a step of a chapter that follows the run"},
        {"\"two\"", "\"at\": \"end\"", "\"at\": \"ending\"", "\"at\"",
         "chapters[1].steps[0].at: must be one of request"},
        {"\"two\"", "\"at\": \"end\", ", "", "{\"title\": \"t\"", "\"at\" is missing"},
        // Texts.
        {"\"two\"", "{time}", "{tme}", "\"what\"", "unknown value {tme}: did you mean {t"},
        {"\"two\"", "{time}", "{time|one}", "\"what\"", "write {time|one|many}"},
        {"\"two\"", "{time}", "{time", "\"what\"", "a place that { opens and no } closes"},
        {"\"two\"", "{time}", "time}", "\"what\"", "a lone } (write }})"},
        {"\"two\"", "[token]", "[tokn]", "\"what\"", "has [tokn], which the glossary lacks"},
        {"\"two\"", "[token]", "[a|b|c]", "\"what\"", "no glossary words stand here"},
        {"\"two\"", "[token]", "[|token]", "\"what\"", "which the glossary lacks"},
        {"\"two\"", "[token]", "[token", "\"what\"", "a word that [ opens and no ] closes"},
        {"\"two\"", "[token]", "token]", "\"what\"", "a lone ] (write ]])"},
        {"\"two\"", "\"w\"", long_text, "\"why\"", "there is room for 180: shorten it"},
        {"\"two\"", "s {clock}", "s [token]", "\"summary\"", "no glossary words stand here"},
        {"\"two\"", "\"n\"", "\"tab\\t\"", "\"next\"", "has a control character: only \\n"},
        // Cases.
        {"\"two\"", "\"charged\": \"c\"", "\"chargd\": \"c\"", "\"chargd\"",
         "changes.chargd: no such case; there are lesson"},
        {"\"two\"", ", \"else\": \"e\"", "", "\"changes\"", "\"else\" is missing: add it as"},
        {"\"two\"", "{\"charged\": \"c\", \"else\": \"e\"}",
         "{\"else\": \"e\", \"charged\": \"c\"}", "\"charged\"", "comes after \"else\""},
        {"\"two\"", "{\"charged\": \"c\", \"else\": \"e\"}", "{}", "\"changes\"",
         "\"else\" is missing"},
        {"\"two\"", "\"else\": \"e\"", "\"else\": {}", "\"else\"", "must be a text"},
    };
    long_text[0] = long_text[399] = '"';
    char *whole = small_lesson();
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        check_mistake(whole, &mistakes[i]);
    free(whole);
}

static void a_step_that_is_there_twice_is_refused_at_the_second(void **state) {
    (void)state;
    char why[256] = "", place[40];
    char *whole = small_lesson();
    char *text = replaced(whole, "\"two\"", "\"middle\"", "\"end\"");
    assert_null(load_bytes(text, strlen(text), why));
    // The first step ends with "clock}"},", the second stands after four spaces.
    const char *first = strstr(strstr(text, "\"two\""), "\"at\"");
    place_of(place, text, NULL, strstr(first, "clock}\"},\n") + 10 + 4);
    if (!strstr(why, place) || !strstr(why, "steps[1]: is the same as step [0]"))
        fail_msg("%s, expected %s", why, place);
    free(text);
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
        char *items = NULL, why[256];
        size_t bytes = 0;
        FILE *out = open_memstream(&items, &bytes);
        fprintf(out, "%s", lists[i].after);
        for (int k = 0; k < lists[i].count; k++)
            fprintf(out, lists[i].item, k);
        fclose(out);
        char *text = replaced(whole, NULL, lists[i].after, items);
        assert_null(load_bytes(text, strlen(text), why));
        if (!strstr(why, lists[i].reason))
            fail_msg("%s, expected %s", why, lists[i].reason);
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
    char *whole = small_lesson(), why[256];
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char *text = replaced(whole, NULL, faults[i].from, faults[i].to);
        assert_null(load_bytes(text, strlen(text), why));
        if (!strstr(why, "not valid JSON") || !strstr(why, faults[i].reason))
            fail_msg("%s, expected %s", why, faults[i].reason);
        free(text);
    }
    assert_null(load_bytes("[]", 2, why));
    assert_string_equal(why, "folder/small.json:1:1: must be a lesson: write {...}");
    free(whole);
}

static void a_lesson_cut_anywhere_is_refused(void **state) {
    (void)state;
    char *whole = small_lesson(), why[256];
    size_t bytes = strlen(whole);
    while (whole[bytes - 1] != '}')
        bytes--;
    for (size_t cut = 0; cut < bytes; cut++) {
        why[0] = '\0';
        assert_null(load_bytes(whole, cut, why));
        assert_non_null(strstr(why, "small.json:"));
        assert_null(strchr(why, '\n'));
    }
    free(whole);
}

// A byte changed: refused in one line, or a lesson whose pages can be shown.
static void a_lesson_changed_anywhere_is_refused_or_harmless(void **state) {
    static const char signs[] = "\"{}[]|\\,:\n\x01\x7f\xC2\x85\xFFzE0";
    static const struct random_run_limits limits = {
        .max_prompt = 9, .max_answers = 4, .max_layers = 3};
    (void)state;
    char *whole = small_lesson(), why[256];
    size_t bytes = strlen(whole);
    uint64_t dice = 7;
    struct run *run = random_run(3, &limits);
    for (int i = 0; i < 4000; i++) {
        size_t at = (size_t)random_between(&dice, 0, (int64_t)bytes - 1);
        char before = whole[at];
        whole[at] = signs[random_between(&dice, 0, sizeof signs - 2)];
        struct lesson *lesson = load_bytes(whole, bytes, why);
        if (!lesson) {
            assert_true(strstr(why, "small.json:") && !strchr(why, '\n'));
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
    char folder[] = "/tmp/tokendrip-lesson-XXXXXX", path[64], why[256];
    struct lesson *lesson = NULL;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/large.json", folder);
    assert_false(lesson_load(&lesson, path, why));
    assert_non_null(strstr(why, "large.json: cannot be opened"));
    FILE *file = fopen(path, "w");
    assert_int_equal(ftruncate(fileno(file), (1 << 19) + 1), 0);
    fclose(file);
    assert_false(lesson_load(&lesson, path, why));
    assert_non_null(strstr(why, "large.json: larger than the 512 KiB"));
    assert_null(lesson);
    file = fopen(path, "w");
    char *whole = small_lesson();
    fputs(whole, file);
    fclose(file);
    assert_true(lesson_load(&lesson, path, why));
    lesson_destroy(lesson);
    free(whole);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
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
    struct lesson_fill fill = {.extra = extra, .has_marks = true};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char out[64];
        lesson_text_fill(out, sizeof out, texts[i].text, &fill);
        assert_string_equal(out, texts[i].filled);
    }
}

static void a_text_cut_to_any_size_is_whole_utf8_with_closed_marks(void **state) {
    static const char text[] = "ä[größer|token]日本 {n|Stück|Stücke} [[x]] [ü|token]📦";
    static const char *const extra[] = {"n", "3", NULL};
    struct lesson_fill fill = {.extra = extra, .has_marks = true};
    (void)state;
    for (size_t bytes = 1; bytes <= 90; bytes++) {
        char *out = malloc(bytes);
        lesson_text_fill(out, bytes, text, &fill);
        size_t length = strlen(out);
        int open = 0;
        assert_true(length < bytes);
        for (size_t at = 0; at < length;) {
            size_t sign = utf8_length(out + at, length - at);
            assert_true(sign > 0);
            open += (out[at] == LESSON_TERM_BEGIN) - (out[at] == LESSON_TERM_END);
            assert_in_range(open, 0, 1);
            at += sign;
        }
        assert_int_equal(open, 0);
        free(out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_small_lesson_loads),
        cmocka_unit_test(every_mistake_is_refused_with_its_line_and_column),
        cmocka_unit_test(a_step_that_is_there_twice_is_refused_at_the_second),
        cmocka_unit_test(too_many_are_refused),
        cmocka_unit_test(what_is_no_json_or_no_utf8_is_refused_by_line),
        cmocka_unit_test(a_lesson_cut_anywhere_is_refused),
        cmocka_unit_test(a_lesson_changed_anywhere_is_refused_or_harmless),
        cmocka_unit_test(files_that_are_not_there_or_too_large_are_named),
        cmocka_unit_test(signs_are_written_twice_and_forms_follow_the_count),
        cmocka_unit_test(a_text_cut_to_any_size_is_whole_utf8_with_closed_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
