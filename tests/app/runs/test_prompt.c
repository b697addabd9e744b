// Prompts: exactly N tokens for every N, put together from the right parts, and
// the same ids as the program that trained the model builds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "app/runs/prompt.h"
#include "compute/base/why.h"
#include "compute/gguf/gguf.h"
#include "compute/run/run.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture {
    struct gguf *file;
    struct tokenizer *tokenizer;
    struct prompt base, instruction, question; // the last without a begin token
    char folder[32];
};

static struct prompt encode(const struct fixture *f, const char *text, bool with_bos) {
    struct why why;
    size_t capacity = tokenizer_encode_bound(strlen(text));
    struct prompt out = {.ids = calloc(capacity, sizeof out.ids[0])};
    out.count =
        tokenizer_encode(f->tokenizer, out.ids, (int)capacity, text, strlen(text), with_bos, &why);
    assert_true(out.count > 0);
    return out;
}

static int set_up(void **state) {
    static struct fixture f;
    struct why why;
    f = (struct fixture){.folder = "/tmp/tokendrip-prompt-XXXXXX"};
    assert_non_null(mkdtemp(f.folder));
    setenv("TOKENDRIP_ASSETS", TOKENDRIP_SOURCE_DIR "/assets", 1);
    if (!gguf_open(&f.file, TOKENDRIP_SOURCE_DIR "/assets/model/tokendrip.gguf", &why) ||
        !tokenizer_open(&f.tokenizer, f.file, &why)) {
        print_error("%s\n", why.text);
        return -1;
    }
    f.base =
        encode(&f, "You are a support agent. Answer from the policy. Where is my parcel?", true);
    f.instruction = encode(&f, "You are a support agent. Answer from the policy.", true);
    f.question = encode(&f, "Where is my parcel?", false);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    prompt_clear(&f->base);
    prompt_clear(&f->instruction);
    prompt_clear(&f->question);
    tokenizer_close(f->tokenizer);
    gguf_close(f->file);
    rmdir(f->folder);
    return 0;
}

static void assert_ids(const int32_t *ids, const int32_t *expected, int count) {
    for (int i = 0; i < count; i++)
        assert_int_equal(ids[i], expected[i]);
}

static void the_default_prompt_is_18_tokens(void **state) {
    struct fixture *f = *state;
    struct run_request request = {0};
    struct prompt prompt;
    struct why why;
    assert_true(prompt_from_request(&prompt, f->tokenizer, &request, &why));
    assert_int_equal(prompt.count, 18);
    assert_ids(prompt.ids, f->base.ids, 18);
    assert_int_equal(prompt.ids[0], 1); // the begin token
    prompt_clear(&prompt);
}

static void a_short_prompt_is_the_begin_token_and_the_end_of_the_default(void **state) {
    struct fixture *f = *state;
    for (int n = 1; n <= 18; n++) {
        struct prompt prompt;
        struct why why;
        assert_true(prompt_of_length(&prompt, f->tokenizer, n, &why));
        assert_int_equal(prompt.count, n);
        assert_int_equal(prompt.ids[0], f->base.ids[0]);
        assert_ids(prompt.ids + 1, f->base.ids + 18 - (n - 1), n - 1);
        prompt_clear(&prompt);
    }
}

static void a_long_prompt_is_instruction_end_of_policy_question(void **state) {
    struct fixture *f = *state;
    struct prompt policy =
        encode(f, "The shop is open. Parcels arrive today. We send it by post.", false);
    const char *text = "  The shop is open. \r\n\n Parcels arrive today.\t\nWe send it by post.\n";
    int head = f->instruction.count, tail = f->question.count;
    for (int n = 19; n <= 200; n++) {
        struct prompt prompt;
        struct why why;
        assert_true(prompt_build(&prompt, f->tokenizer, n, text, &why));
        assert_int_equal(prompt.count, n);
        assert_ids(prompt.ids, f->instruction.ids, head);
        assert_ids(prompt.ids + n - tail, f->question.ids, tail);
        // Cut at the front, repeated when it is too short.
        for (int back = 0; back < n - head - tail; back++)
            assert_int_equal(prompt.ids[n - tail - 1 - back],
                             policy.ids[policy.count - 1 - back % policy.count]);
        prompt_clear(&prompt);
    }
    prompt_clear(&policy);
}

static void a_built_prompt_has_exactly_the_tokens_asked_for(void **state) {
    struct fixture *f = *state;
    for (int i = 1; i <= 65; i++) {
        struct run_request request = {.prompt_tokens = i == 65 ? 1024 : i};
        struct prompt prompt;
        struct why why;
        assert_true(prompt_from_request(&prompt, f->tokenizer, &request, &why));
        assert_int_equal(prompt.count, request.prompt_tokens);
        for (int t = 0; t < prompt.count; t++)
            assert_in_range(prompt.ids[t], 0, tokenizer_vocab(f->tokenizer) - 1);
        prompt_clear(&prompt);
    }
}

static void built_prompts_equal_those_of_the_training_script(void **state) {
    struct fixture *f = *state;
    json_t *golden = json_load_file(TOKENDRIP_SOURCE_DIR "/assets/model/golden.json", 0, NULL);
    json_t *entry = NULL;
    size_t index = 0;
    assert_true(json_array_size(json_object_get(golden, "prompts")) >= 3);
    json_array_foreach(json_object_get(golden, "prompts"), index, entry) {
        json_t *ids = json_object_get(entry, "ids");
        struct prompt prompt;
        struct why why;
        assert_true(prompt_of_length(&prompt, f->tokenizer, (int)json_array_size(ids), &why));
        for (size_t i = 0; i < json_array_size(ids); i++)
            assert_int_equal(prompt.ids[i], json_integer_value(json_array_get(ids, i)));
        prompt_clear(&prompt);
    }
    json_decref(golden);
}

static void a_given_prompt_and_a_count_must_agree(void **state) {
    struct fixture *f = *state;
    struct run_request request = {.prompt = "Where is my parcel?", .prompt_tokens = 18};
    struct prompt prompt = {0};
    struct why why;
    assert_false(prompt_from_request(&prompt, f->tokenizer, &request, &why));
    assert_non_null(strstr(why.text, "has 7 tokens, not the 18"));
    assert_null(prompt.ids);
    request.prompt_tokens = 7;
    assert_true(prompt_from_request(&prompt, f->tokenizer, &request, &why));
    assert_int_equal(prompt.count, 7);
    prompt_clear(&prompt);
}

static void write_file(const char *path, const char *text, size_t bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
}

static void a_prompt_file_is_read_without_its_last_line_end(void **state) {
    struct fixture *f = *state;
    char path[64];
    struct why why;
    snprintf(path, sizeof path, "%s/prompt.txt", f->folder);
    struct run_request request = {.prompt_file = path};
    struct prompt prompt;
    write_file(path, "Where is my parcel?\r\n", 21);
    assert_true(prompt_from_request(&prompt, f->tokenizer, &request, &why));
    assert_int_equal(prompt.count, 1 + f->question.count);
    assert_ids(prompt.ids + 1, f->question.ids, f->question.count);
    prompt_clear(&prompt);
    unlink(path);
}

static void a_prompt_file_that_is_none_is_refused_in_one_line(void **state) {
    struct fixture *f = *state;
    char path[64];
    struct why why;
    snprintf(path, sizeof path, "%s/prompt.txt", f->folder);
    struct run_request request = {.prompt_file = path};
    struct prompt prompt;
    assert_false(prompt_from_request(&prompt, f->tokenizer, &request, &why));
    assert_non_null(strstr(why.text, "cannot read"));

    write_file(path, "a\0b", 3);
    assert_false(prompt_from_request(&prompt, f->tokenizer, &request, &why));
    assert_non_null(strstr(why.text, "zero byte"));

    char *large = malloc(TOKENIZER_MAX_TEXT_BYTES + 1);
    memset(large, 'a', TOKENIZER_MAX_TEXT_BYTES + 1);
    write_file(path, large, TOKENIZER_MAX_TEXT_BYTES + 1);
    free(large);
    assert_false(prompt_from_request(&prompt, f->tokenizer, &request, &why));
    assert_non_null(strstr(why.text, "longer than"));
    unlink(path);

    request.prompt_file = f->folder;
    assert_false(prompt_from_request(&prompt, f->tokenizer, &request, &why));
    assert_null(strchr(why.text, '\n'));
}

static void a_byte_order_mark_is_no_part_of_a_prompt_and_utf_16_is_refused(void **state) {
    struct fixture *f = *state;
    char path[64];
    struct why why;
    snprintf(path, sizeof path, "%s/prompt.txt", f->folder);
    struct run_request requests[] = {{.prompt_file = path},
                                     {.prompt = "\xEF\xBB\xBFWhere is my parcel?"}};
    write_file(path, "\xEF\xBB\xBFWhere is my parcel?\n", 23);
    for (int i = 0; i < 2; i++) {
        struct prompt prompt;
        assert_true(prompt_from_request(&prompt, f->tokenizer, &requests[i], &why));
        assert_int_equal(prompt.count, 1 + f->question.count);
        assert_ids(prompt.ids + 1, f->question.ids, f->question.count);
        prompt_clear(&prompt);
    }
    static const char *const encoded[] = {"\xFF\xFEW\0o\0", "W\0o\0"};
    for (int i = 0; i < 2; i++) {
        struct prompt prompt;
        write_file(path, encoded[i], i == 0 ? 6 : 4);
        assert_false(prompt_from_request(&prompt, f->tokenizer, &requests[0], &why));
        assert_non_null(strstr(why.text, "is UTF-16 text. Save it as UTF-8."));
    }
    unlink(path);
}

// The bundled model has no template; a format's tokens are text for it.
static void a_chat_format_frames_a_given_prompt(void **state) {
    struct fixture *f = *state;
    struct why why;
    struct prompt plain, prompt;
    struct run_request request = {.prompt = "Where is it?"};
    assert_true(prompt_from_request(&plain, f->tokenizer, &request, &why));
    static const char *const bare[] = {"auto", "none"};
    for (int i = 0; i < 2; i++) {
        request.chat = bare[i];
        assert_true(prompt_from_request(&prompt, f->tokenizer, &request, &why));
        assert_int_equal(prompt.count, plain.count);
        assert_string_equal(prompt.chat.name, "");
        prompt_clear(&prompt);
        request.system = "Be brief.";
        assert_false(prompt_from_request(&prompt, f->tokenizer, &request, &why));
        assert_non_null(strstr(why.text, i ? "--chat is none" : "names none known here"));
        request.system = NULL;
    }
    request.chat = "gemma";
    assert_true(prompt_from_request(&prompt, f->tokenizer, &request, &why));
    assert_string_equal(prompt.chat.name, "gemma");
    assert_true(prompt.chat.question_first > 1 && prompt.chat.question_tokens > 2);
    assert_true(prompt.chat.question_first + prompt.chat.question_tokens < prompt.count);
    assert_int_equal(prompt.chat.system_tokens, 0);
    prompt_clear(&prompt);
    request.system = "Be brief.";
    assert_true(prompt_from_request(&prompt, f->tokenizer, &request, &why));
    assert_true(prompt.chat.system_tokens > 0);
    assert_true(prompt.chat.system_first + prompt.chat.system_tokens <= prompt.chat.question_first);
    prompt_clear(&prompt);
    prompt_clear(&plain);
    request = (struct run_request){.chat = "gemma", .prompt_tokens = 30};
    assert_true(prompt_from_request(&prompt, f->tokenizer, &request, &why)); // exact: no frame
    assert_string_equal(prompt.chat.name, "");
    assert_int_equal(prompt.count, 30);
    prompt_clear(&prompt);
}

static void an_empty_policy_cannot_fill_a_prompt(void **state) {
    struct fixture *f = *state;
    struct prompt prompt;
    struct why why;
    assert_false(prompt_build(&prompt, f->tokenizer, 100, " \n\n", &why));
    assert_non_null(strstr(why.text, "policy of 0 tokens"));
    assert_false(prompt_build(&prompt, f->tokenizer, 0, "text", &why));
    assert_false(prompt_build(&prompt, f->tokenizer, RUN_MAX_TOKENS, "text", &why));
}

static void another_models_tokenizer_gives_exact_lengths_too(void **state) {
    const char *testdata = getenv("TOKENDRIP_TESTDATA");
#ifdef TOKENDRIP_TESTDATA
    if (!testdata)
        testdata = TOKENDRIP_TESTDATA;
#endif
    char path[512];
    struct why why;
    struct gguf *file = NULL;
    struct tokenizer *tokenizer = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s/stories260K/stories260K.f32.gguf", testdata ? testdata : "");
    if (access(path, R_OK) != 0) {
        print_message("no %s: skipped\n", path);
        skip();
    }
    assert_true(gguf_open(&file, path, &why));
    assert_true(tokenizer_open(&tokenizer, file, &why));
    for (int n = 1; n <= 100; n++) {
        struct prompt prompt;
        assert_true(prompt_of_length(&prompt, tokenizer, n, &why));
        assert_int_equal(prompt.count, n);
        assert_int_equal(prompt.ids[0], 1); // the begin token
        prompt_clear(&prompt);
    }
    tokenizer_close(tokenizer);
    gguf_close(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_prompt_is_18_tokens),
        cmocka_unit_test(a_short_prompt_is_the_begin_token_and_the_end_of_the_default),
        cmocka_unit_test(a_long_prompt_is_instruction_end_of_policy_question),
        cmocka_unit_test(a_built_prompt_has_exactly_the_tokens_asked_for),
        cmocka_unit_test(built_prompts_equal_those_of_the_training_script),
        cmocka_unit_test(a_given_prompt_and_a_count_must_agree),
        cmocka_unit_test(a_prompt_file_is_read_without_its_last_line_end),
        cmocka_unit_test(a_prompt_file_that_is_none_is_refused_in_one_line),
        cmocka_unit_test(a_byte_order_mark_is_no_part_of_a_prompt_and_utf_16_is_refused),
        cmocka_unit_test(a_chat_format_frames_a_given_prompt),
        cmocka_unit_test(an_empty_policy_cannot_fill_a_prompt),
        cmocka_unit_test(another_models_tokenizer_gives_exact_lengths_too),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
