// Token ids for comparison: reads one JSON text a line from standard input and writes a JSON
// list of ids for each, the begin token (and an end token) included where the file says so.
//
//     token_ids FILE.gguf < texts
//
// A line may also be a list of a question and a system text (null = none given); they are framed
// as the file's chat template asks for.
#include "compute/base/why.h"
#include "compute/tokenizer/chat.h"
#include "compute/tokenizer/tokenizer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int text_ids(int32_t **ids, const struct tokenizer *tokenizer, const json_t *text,
                    struct why *why) {
    size_t bytes = json_string_length(text), capacity = tokenizer_encode_bound(bytes);
    *ids = malloc(capacity * sizeof **ids);
    return *ids ? tokenizer_encode(tokenizer, *ids, (int)capacity, json_string_value(text), bytes,
                                   tokenizer_adds_bos(tokenizer), why)
                : -1;
}

static int chat_ids(int32_t **ids, const struct tokenizer *tokenizer, const json_t *pair,
                    struct why *why) {
    const json_t *question = json_array_get(pair, 0), *system = json_array_get(pair, 1);
    struct run_chat marks;
    struct chat chat = {.format = tokenizer_chat(tokenizer),
                        .system = tokenizer_chat_system(tokenizer),
                        .question = json_string_value(question),
                        .question_bytes = json_string_length(question)};
    if (json_is_string(system))
        chat.system = json_string_value(system);
    chat.system_bytes = strlen(chat.system);
    if (!chat.format || !chat.question) {
        why_set(why, "no chat format, or no question");
        return -1;
    }
    return chat_encode(ids, &marks, tokenizer, &chat, why);
}

static bool print_ids(const struct tokenizer *tokenizer, const json_t *line, struct why *why) {
    int32_t *ids = NULL;
    int count = json_is_array(line) ? chat_ids(&ids, tokenizer, line, why)
                                    : text_ids(&ids, tokenizer, line, why);
    for (int i = 0; i < count; i++)
        printf("%s%d", i ? "," : "[", (int)ids[i]);
    puts(count > 0 ? "]" : "[]");
    free(ids);
    return count >= 0;
}

int main(int argc, char **argv) {
    struct why why = {0};
    struct gguf *file;
    struct tokenizer *tokenizer;
    bool ok =
        argc == 2 && gguf_open(&file, argv[1], &why) && tokenizer_open(&tokenizer, file, &why);
    static char line[1 << 22];
    while (ok && fgets(line, sizeof line, stdin)) {
        json_t *text = json_loads(line, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        ok = text ? print_ids(tokenizer, text, &why) : why_set(&why, "no JSON text: %.80s", line);
        json_decref(text);
    }
    if (!ok)
        fprintf(stderr, "%s\n", why.text);
    return ok ? 0 : 1;
}
