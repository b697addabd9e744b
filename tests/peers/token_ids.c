// Token ids for comparison: reads one JSON text a line from standard input and writes a JSON
// list of ids for each, the begin token (and an end token) included where the file says so.
//
//     token_ids FILE.gguf < texts
#include "compute/base/why.h"
#include "compute/model/tokenizer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static bool print_ids(const struct tokenizer *tokenizer, const json_t *text, struct why *why) {
    size_t bytes = json_string_length(text), capacity = tokenizer_encode_bound(bytes);
    int32_t *ids = malloc(capacity * sizeof *ids);
    int count = ids ? tokenizer_encode(tokenizer, ids, (int)capacity, json_string_value(text),
                                       bytes, tokenizer_adds_bos(tokenizer), why)
                    : -1;
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
