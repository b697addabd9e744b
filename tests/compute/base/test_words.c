// The languages: choosing one, what a language lacks, files that are wrong, and that all
// languages of the program say the same things.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compute/base/figures.h"
#include "compute/base/places.h"
#include "compute/base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/tokendrip-words-XXXXXX";

static const char ENGLISH[] =
    "{\"name\": \"English\", \"numbers\": {\"decimal\": \".\", \"thousands\": \",\"},"
    " \"words\": {\"both\": \"both\", \"first\": \"only here\", \"count\": \"{n|cell|cells}\"},"
    " \"reasons\": {}, \"lesson\": {\"is\": \"English\"}}";
static const char FRENCH[] =
    "{\"name\": \"Français\", \"numbers\": {\"decimal\": \",\", \"thousands\": \" \"},"
    " \"words\": {\"both\": \"les deux\", \"count\": \"{n|cellule|cellules} de {who}\"},"
    " \"reasons\": {\"no %s in %d files\": \"aucun %s dans %d fichiers\","
    " \"at %d\": \"à %s\", \"twice %s\": \"deux fois %s, %s\"}}";

static void write_file(const char *code, const char *text, size_t bytes) {
    char path[256];
    snprintf(path, sizeof path, "%s/languages/%s.json", root, code);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

// Our own folder of languages stands in for the program's.
static int make_folder(void **state) {
    char path[256];
    (void)state;
    if (!mkdtemp(root))
        return -1;
    snprintf(path, sizeof path, "%s/languages", root);
    mkdir(path, 0777);
    setenv("TOKENDRIP_ASSETS", root, 1);
    write_file("en", ENGLISH, strlen(ENGLISH));
    write_file("fr", FRENCH, strlen(FRENCH));
    return 0;
}

static int remove_folder(void **state) {
    static const char *const names[] = {"/languages/en.json", "/languages/fr.json",
                                        "/languages/cut.json", "/languages", ""};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", root, names[i]);
        remove(path);
    }
    return 0;
}

static void choose(const char *code) {
    struct why why;
    if (!words_choose(code, &why))
        fail_msg("%s", why.text);
}

static void english_speaks_where_no_language_was_chosen(void **state) {
    (void)state;
    assert_string_equal(word("both"), "both");
    assert_string_equal(words_decimal(), ".");
}

static void a_chosen_language_speaks_and_english_fills_its_gaps(void **state) {
    const char *path;
    char out[64];
    (void)state;
    choose("fr");
    assert_string_equal(word("both"), "les deux");
    assert_string_equal(word("first"), "only here");
    assert_string_equal(words_decimal(), ",");
    assert_string_equal(words_thousands(), " ");
    assert_string_equal(words_say(out, sizeof out, "count", "n", "1", "who", "K", NULL),
                        "1 cellule de K");
    assert_string_equal(words_say(out, sizeof out, "count", "n", "3", NULL),
                        "3 cellules de \xE2\x80\x94");
    assert_string_equal(json_string_value(json_object_get(words_lesson(&path), "is")), "English");
    assert_non_null(strstr(path, "en.json"));
    choose("en");
    assert_string_equal(word("both"), "both");
}

static void an_unknown_key_is_seen(void **state) {
    (void)state;
    assert_string_equal(word("no.such.key"), "no.such.key");
}

// A translated format goes into printf: with other conversions it would read wrong memory.
static void a_reason_is_taken_only_with_the_same_conversions(void **state) {
    (void)state;
    choose("fr");
    assert_string_equal(words_reason("no %s in %d files"), "aucun %s dans %d fichiers");
    assert_string_equal(words_reason("at %d"), "at %d");
    assert_string_equal(words_reason("twice %s"), "twice %s");
    assert_string_equal(words_reason("not there"), "not there");
    struct why why;
    assert_false(why_set(&why, "no %s in %d files", "mot", 3));
    assert_string_equal(why.text, "aucun mot dans 3 fichiers");
    choose("en");
    assert_false(why_set(&why, "no %s in %d files", "word", 3));
    assert_string_equal(why.text, "no word in 3 files");
}

static void an_unknown_language_is_refused_with_a_list(void **state) {
    static const char *const codes[] = {"xx", "", "../en", "a-code-much-too-long"};
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        struct why why;
        assert_false(words_choose(codes[i], &why));
        assert_non_null(strstr(why.text, "there are en, fr"));
    }
}

// Cut anywhere, a file is refused with a reason, and the language before it goes on.
static void a_file_cut_anywhere_is_refused(void **state) {
    (void)state;
    for (size_t bytes = 0; bytes < sizeof FRENCH - 1; bytes++) {
        struct why why = {""};
        write_file("cut", FRENCH, bytes);
        assert_false(words_choose("cut", &why));
        assert_non_null(strstr(why.text, "cut.json"));
        assert_string_equal(word("both"), "both");
    }
}

static void members_of_a_wrong_kind_are_named(void **state) {
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"[]", "words: missing"},
        {"{\"words\": 3}", "words: missing"},
        {"{\"words\": {\"a.b\": 3}}", "words: a.b: must be a text"},
        {"{\"words\": {}}", "reasons: missing"},
        {"{\"words\": {}, \"reasons\": {}}", "numbers: missing"},
        {"{\"words\": {}, \"reasons\": {}, \"numbers\": {\"decimal\": \".\"}}", "numbers: needs"},
        {"{\"words\": {}, \"reasons\": {}, \"numbers\": {\"decimal\": \".\", \"thousands\":"
         " \"a long sign\"}}",
         "numbers: needs"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct why why = {""};
        write_file("cut", cases[i].text, strlen(cases[i].text));
        assert_false(words_choose("cut", &why));
        if (!strstr(why.text, cases[i].reason))
            fail_msg("%s: %s", cases[i].text, why.text);
    }
}

static void empty_parts_leave_no_dots_and_what_does_not_fit_is_cut(void **state) {
    static const char *const parts[] = {"", "a", "", "b", "c", "", NULL}, *const none[] = {"",
                                                                                           NULL};
    char out[64], small[4];
    (void)state;
    assert_string_equal(words_join(out, sizeof out, parts), "a" SIGN_DOT "b" SIGN_DOT "c");
    assert_string_equal(words_join(out, sizeof out, none), "");
    assert_int_equal(strlen(words_join(small, sizeof small, parts)), sizeof small - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(english_speaks_where_no_language_was_chosen),
        cmocka_unit_test(a_chosen_language_speaks_and_english_fills_its_gaps),
        cmocka_unit_test(an_unknown_key_is_seen),
        cmocka_unit_test(a_reason_is_taken_only_with_the_same_conversions),
        cmocka_unit_test(an_unknown_language_is_refused_with_a_list),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(empty_parts_leave_no_dots_and_what_does_not_fit_is_cut),
        cmocka_unit_test(members_of_a_wrong_kind_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
