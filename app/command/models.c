// See models.h.
#include "app/command/models.h"

#include "app/command/output.h"
#include "app/runs/modelfile.h"
#include "app/runs/models.h"
#include "compute/base/figures.h"
#include "compute/base/utf8.h"

#include <jansson.h>
#include <string.h>

enum { NAME_COLUMNS = 40 };

static const struct {
    const char *json, *title;
} places[] = {
    [MODELS_FOLDER] = {"folder", "In this folder"},
    [MODELS_OLLAMA] = {"ollama", "Ollama"},
    [MODELS_LM_STUDIO] = {"lm-studio", "LM Studio"},
    [MODELS_LLAMA_CPP] = {"llama.cpp", "llama.cpp"},
    [MODELS_HUGGING_FACE] = {"hugging-face", "Hugging Face"},
    [MODELS_DOWNLOADS] = {"downloads", "Downloads"},
};

static const char *type_of(const struct modelfile *about) {
    return about->type_count > 0 ? about->types[0].name : "";
}

static json_t *text_or_null(const char *text) {
    return text[0] ? json_string(text) : json_null();
}

// Names are bytes of the file system, and need not be UTF-8.
static json_t *printable(const char *text) {
    char out[2 * MODELS_PATH_BYTES];
    if (utf8_is_valid(text, strlen(text)))
        return json_string(text);
    utf8_printable(out, sizeof out, text, strlen(text));
    return json_string(out);
}

static json_t *file_json(const struct models_file *file) {
    struct modelfile about;
    modelfile_look(&about, file->path, file->parts);
    return json_pack("{s:o,s:o,s:s,s:I,s:i,s:o,s:o,s:b,s:o}", "name", printable(file->name), "path",
                     printable(file->path), "where", places[file->where].json, "bytes",
                     (json_int_t)file->bytes, "parts", file->parts, "architecture",
                     text_or_null(about.architecture), "type", text_or_null(type_of(&about)),
                     "opens", !about.obstacles[0].text[0], "why",
                     text_or_null(about.obstacles[0].text));
}

static bool print_json(FILE *out, const void *context) {
    const struct models *models = context;
    json_t *list = json_array(), *object = json_pack("{s:o}", "models", list);
    bool ok = object != NULL;
    for (int i = 0; ok && i < models->count; i++)
        ok = json_array_append_new(list, file_json(&models->list[i])) == 0;
    ok = ok && json_dumpf(object, out, JSON_INDENT(2)) == 0 && fputc('\n', out) != EOF;
    json_decref(object);
    return ok;
}

static void print_file(const struct models_file *file) {
    struct modelfile about;
    modelfile_look(&about, file->path, file->parts);
    const char *why = about.obstacles[0].text;
    utf8_print(stdout, "  ", 2);
    utf8_print(stdout, file->name, strlen(file->name));
    int room = NAME_COLUMNS - (int)strlen(file->name);
    printf("%*s %10s  %-12s %-7s %s", room > 0 ? room : 0, "", figure_bytes(file->bytes).text,
           about.architecture[0] ? about.architecture : SIGN_DASH,
           type_of(&about)[0] ? type_of(&about) : SIGN_DASH, why[0] ? "no: " : "opens");
    utf8_print(stdout, why, strlen(why));
    putchar('\n');
}

static void print_list(const struct models *models) {
    if (models->count == 0)
        printf("No model files where Ollama, LM Studio, llama.cpp and the Hugging Face cache keep "
               "them, and none in ~/Downloads.\ntokendrip models FOLDER looks there, too; --model "
               "FILE.gguf takes any file.\n");
    for (int i = 0; i < models->count; i++) {
        const struct models_file *file = &models->list[i];
        if (i == 0 || file->where != file[-1].where)
            printf("%s%s\n", i ? "\n" : "", places[file->where].title);
        print_file(file);
    }
    if (models->count > 0)
        printf("\n--model NAME takes one that opens.\n");
    if (models->is_cut)
        printf("There are more files than tokendrip looks at; name a folder of fewer.\n");
}

int models_command(const struct options *options, struct why *why) {
    struct models models;
    if (!output_check(options, why) || !models_find(&models, options->operand, why))
        return EXIT_FAILED;
    bool ok = true;
    if (options->json_path)
        ok = output_write(options->json_path, print_json, &models, options->overwrite, why);
    if (!options_is_stdout(options->json_path))
        print_list(&models);
    models_clear(&models);
    return ok ? EXIT_OK : EXIT_FAILED;
}
