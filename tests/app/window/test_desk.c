// The prompt's editor over a real tokenizer: what is typed is tokenised at once, and what
// cannot be measured says why.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/window/desk.h"
#include "compute/base/why.h"
#include "compute/gguf/gguf.h"
#include "tests/compute/run/random_run.h"

#include <stdlib.h>
#include <string.h>

static const struct run_request plain; // no chat format

struct bench {
    struct gguf *file;
    struct tokenizer *tokenizer;
    struct desk *desk;
};

static int open_bench(void **state) {
    struct bench *bench = calloc(1, sizeof *bench);
    struct why why;
    bench->desk = calloc(1, sizeof *bench->desk);
    if (!gguf_open(&bench->file, TOKENDRIP_SOURCE_DIR "/assets/model/tokendrip.gguf", &why) ||
        !tokenizer_open(&bench->tokenizer, bench->file, &why)) {
        print_error("%s\n", why.text);
        return -1;
    }
    *state = bench;
    return 0;
}

static int close_bench(void **state) {
    struct bench *bench = *state;
    tokenizer_close(bench->tokenizer);
    gguf_close(bench->file);
    free(bench->desk);
    free(bench);
    return 0;
}

static void type(struct bench *bench, const char *text, int longest) {
    struct input_event event = {.kind = INPUT_TYPED, .text = text};
    desk_type(bench->desk, &event, &(struct desk_reader){bench->tokenizer, &plain, longest});
}

static void press(struct bench *bench, enum input_edit edit) {
    struct input_event event = {.kind = INPUT_EDIT, .edit = edit};
    desk_type(bench->desk, &event, &(struct desk_reader){bench->tokenizer, &plain, 100});
}

static void an_empty_prompt_asks_for_one(void **state) {
    struct bench *bench = *state;
    desk_open(bench->desk, NULL, &(struct desk_reader){bench->tokenizer, &plain, 100});
    assert_int_equal(bench->desk->prompt_count, 0);
    assert_string_equal(bench->desk->message, "type a prompt");
}

static void typing_shows_the_tokens_that_the_model_would_read(void **state) {
    struct bench *bench = *state;
    const char *text = "Where is my parcel?";
    int32_t ids[64];
    struct why why;
    desk_open(bench->desk, NULL, &(struct desk_reader){bench->tokenizer, &plain, 100});
    for (size_t i = 0; i < strlen(text); i++)
        type(bench, (const char[]){text[i], '\0'}, 100);
    int count = tokenizer_encode(bench->tokenizer, ids, 64, text, strlen(text), true, &why);
    assert_int_equal(bench->desk->prompt_count, count);
    assert_int_equal(bench->desk->tile_count, count);
    assert_string_equal(bench->desk->message, "");
    assert_string_equal(bench->desk->tiles[count - 1].text, "?");
    assert_int_equal(bench->desk->tiles[0].look, TOKEN_CONTROL);
    press(bench, EDIT_ERASE_LEFT);
    assert_int_equal(bench->desk->prompt_count, count - 1);
    press(bench, EDIT_UNDO);
    assert_int_equal(bench->desk->prompt_count, count);
    press(bench, EDIT_CLEAR);
    assert_int_equal(bench->desk->editor.length, 0);
    assert_true(bench->desk->message[0]);
}

static void a_prompt_that_is_too_long_says_how_long_it_may_be(void **state) {
    struct bench *bench = *state;
    desk_open(bench->desk, NULL, &(struct desk_reader){bench->tokenizer, &plain, 8});
    type(bench, "Where is my parcel? Where is my parcel? Where is my parcel?", 8);
    assert_true(bench->desk->prompt_count > 8);
    assert_non_null(strstr(bench->desk->message, "at most 8"));
}

static void of_a_very_long_prompt_the_newest_tokens_are_shown(void **state) {
    struct bench *bench = *state;
    desk_open(bench->desk, NULL, &(struct desk_reader){bench->tokenizer, &plain, 4000});
    for (int i = 0; i < 60; i++)
        type(bench, "a parcel, ", 4000);
    type(bench, "what?", 4000);
    assert_true(bench->desk->prompt_count > PANEL_MAX_TILES);
    assert_int_equal(bench->desk->tile_count, PANEL_MAX_TILES);
    assert_string_equal(bench->desk->tiles[PANEL_MAX_TILES - 1].text, "?");
    assert_int_equal(bench->desk->tiles[0].look, TOKEN_WORD); // the first ones are not there
}

static void it_begins_with_the_prompt_that_is_shown(void **state) {
    struct bench *bench = *state;
    static const struct {
        const char *text;
        enum run_token_kind kind;
    } tokens[] = {{"<s>", RUN_CONTROL},
                  {"\xE2\x96\x81Where", RUN_PIECE},
                  {"\xE2\x96\x81is", RUN_PIECE},
                  {"?", RUN_PIECE}};
    struct run_info info = {
        .origin = RUN_MEASURED, .unit_ns = 1, .layers = 2, .prompt_tokens = 4, .answer_limit = 1};
    struct run *run = NULL;
    struct why why;
    assert_true(run_create(&run, &info, 1, &why));
    for (int i = 0; i < 4; i++)
        assert_true(run_add_prompt_token(run, i, tokens[i].text, strlen(tokens[i].text),
                                         tokens[i].kind, &why));
    desk_open(bench->desk, run, &(struct desk_reader){bench->tokenizer, &plain, 100});
    assert_string_equal(bench->desk->editor.text, "Where is?");
    run_destroy(run);
}

static void a_composed_text_is_apart_until_it_is_typed(void **state) {
    struct bench *bench = *state;
    struct desk_reader reader = {bench->tokenizer, &plain, 100};
    struct input_event composed = {.kind = INPUT_COMPOSED, .text = "parcel"};
    desk_open(bench->desk, NULL, &reader);
    type(bench, "my ", 100);
    int count = bench->desk->prompt_count;
    desk_type(bench->desk, &composed, &reader);
    assert_string_equal(bench->desk->composed, "parcel");
    assert_string_equal(bench->desk->editor.text, "my ");
    assert_int_equal(bench->desk->prompt_count, count);
    type(bench, "parcels", 100);
    assert_string_equal(bench->desk->composed, "");
    assert_string_equal(bench->desk->editor.text, "my parcels");
    desk_type(bench->desk, &composed, &reader);
    desk_open(bench->desk, NULL, &reader);
    assert_string_equal(bench->desk->composed, "");
}

static void there_is_room_for_64_kib_and_more_is_known_to_be_cut(void **state) {
    struct bench *bench = *state;
    static char text[(64 << 10) + 2];
    memset(text, 'a', sizeof text - 1);
    text[64 << 10] = '\0';
    desk_open(bench->desk, NULL, &(struct desk_reader){bench->tokenizer, &plain, 100});
    type(bench, text, 100);
    assert_int_equal(bench->desk->editor.length, 64 << 10);
    assert_false(bench->desk->editor.is_full);
    type(bench, "b", 100);
    assert_true(bench->desk->editor.is_full);
    assert_int_equal(bench->desk->editor.length, 64 << 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_prompt_asks_for_one),
        cmocka_unit_test(typing_shows_the_tokens_that_the_model_would_read),
        cmocka_unit_test(a_prompt_that_is_too_long_says_how_long_it_may_be),
        cmocka_unit_test(of_a_very_long_prompt_the_newest_tokens_are_shown),
        cmocka_unit_test(it_begins_with_the_prompt_that_is_shown),
        cmocka_unit_test(a_composed_text_is_apart_until_it_is_typed),
        cmocka_unit_test(there_is_room_for_64_kib_and_more_is_known_to_be_cut),
    };
    return cmocka_run_group_tests(tests, open_bench, close_bench);
}
