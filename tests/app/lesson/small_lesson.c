// See small_lesson.h.
#include "tests/app/lesson/small_lesson.h"

#include <stdio.h>
#include <stdlib.h>

static void put_step(FILE *out, const char *key, const char *extra) {
    fprintf(out,
            "    %s{\"title\": \"t\", %s\"what\": \"[token] {time}\",\n"
            "      \"why\": \"w\", \"changes\": {\"charged\": \"c\", \"else\": \"e\"},\n"
            "      \"next\": \"n\", \"summary\": \"s {clock}\"}",
            key, extra);
}

char *small_lesson(void) {
    static const char *const kinds[] = {"request", "chunk", "prefill", "charged", "decode", "last"};
    char *text = NULL, key[32];
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out, "{\n  \"name\": \"small\",\n  \"language\": \"en\",\n  \"words\": {\n"
                 "    \"heading.what\": \"x0\",\n    \"slider.tokens\": \"x1\",\n"
                 "    \"bar.wait\": \"x2\",\n    \"bar.tiny\": \"x3\"\n  },\n  \"glossary\": [\n   "
                 " {\"name\": \"token\", \"text\": \"a piece\"},\n"
                 "    {\"name\": \"layer\", \"text\": \"a row\"}\n  ],\n  \"chapters\": [\n"
                 "  {\"title\": \"one\", \"follows\": \"run\", \"shows\": [\"parties\"],\n"
                 "  \"steps\": {\n");
    for (int i = 0; i < 6; i++) {
        snprintf(key, sizeof key, "\"%s\": ", kinds[i]);
        put_step(out, key, "");
        fprintf(out, "%s\n", i < 5 ? "," : "");
    }
    fprintf(out, "  }, \"takeaway\": \"k\"},\n  {\"title\": \"two\", \"steps\": [\n");
    put_step(out, "", "\"at\": \"end\", ");
    fprintf(out, ",\n");
    put_step(out, "", "\"at\": \"middle\", ");
    fprintf(out, "\n  ], \"takeaway\": \"k\"}\n  ]\n}\n");
    fclose(out);
    return text;
}
