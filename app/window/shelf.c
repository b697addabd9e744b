// See shelf.h.
#include "app/window/shelf.h"

#include "compute/base/assets.h"
#include "compute/base/num.h"
#include "compute/base/words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *place_of(enum models_where where) {
    static const char *const names[] = {
        [MODELS_FOLDER] = "models.given",     [MODELS_OLLAMA] = "models.ollama",
        [MODELS_LM_STUDIO] = "models.lm",     [MODELS_LLAMA_CPP] = "models.llama_cpp",
        [MODELS_HUGGING_FACE] = "models.hub", [MODELS_DOWNLOADS] = "models.downloads",
    };
    return word(names[where]);
}

static bool is_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

// The file to look at; NULL: the bundled one is missing.
static const char *file_of(const struct shelf *shelf, int index, char path[ASSETS_PATH_BYTES]) {
    struct why why;
    if (shelf->paths[index])
        return shelf->paths[index];
    return assets_find(path, "model/tokendrip.gguf", &why) ? path : NULL;
}

static void add(struct shelf *shelf, struct at_hand_model model, const char *path,
                const struct run_request *open) {
    char bundled[ASSETS_PATH_BYTES];
    struct stat about;
    int index = shelf->count++;
    shelf->paths[index] = path;
    const char *file = file_of(shelf, index, bundled);
    if (model.bytes == 0 && file && stat(file, &about) == 0)
        model.bytes = (int64_t)about.st_size;
    model.is_open = !open->shape && is_same(path, open->model_path);
    shelf->list[index] = model;
}

static bool is_listed(const struct models *models, const char *path) {
    for (int i = 0; i < models->count; i++)
        if (strcmp(models->list[i].path, path) == 0)
            return true;
    return false;
}

static int index_of(const struct shelf *shelf, const char *path) {
    for (int i = 0; i < shelf->count; i++)
        if (is_same(shelf->paths[i], path))
            return i;
    return 0;
}

int shelf_find(struct shelf *shelf, const struct run_request *request, const char *given) {
    enum { OWN = 2 }; // the bundled one and the given one
    struct why why;
    const char *wanted = given ? given : request->model_path;
    char *copy = wanted ? strdup(wanted) : NULL;
    shelf_clear(shelf);
    shelf->given = copy;
    if ((wanted && !copy) || !models_find(&shelf->found, NULL, &why))
        return -1;
    size_t most = (size_t)shelf->found.count + OWN;
    shelf->list = calloc(most, sizeof *shelf->list);
    shelf->paths = calloc(most, sizeof *shelf->paths);
    if (!shelf->list || !shelf->paths)
        return -1;
    add(shelf, (struct at_hand_model){.name = word("models.bundled"), .place = "tokendrip"}, NULL,
        request);
    if (copy && !is_listed(&shelf->found, copy)) {
        const char *slash = strrchr(copy, '/');
        const char *name = slash ? slash + 1 : copy;
        add(shelf, (struct at_hand_model){.name = name, .place = word("models.given")}, copy,
            request);
    }
    for (int i = 0; i < shelf->found.count; i++) {
        const struct models_file *file = &shelf->found.list[i];
        struct at_hand_model model = {
            .name = file->name, .place = place_of(file->where), .bytes = file->bytes};
        add(shelf, model, file->path, request);
    }
    return request->shape && !given ? 0 : index_of(shelf, copy);
}

void shelf_clear(struct shelf *shelf) {
    models_clear(&shelf->found);
    free(shelf->list);
    free(shelf->paths);
    free(shelf->given);
    *shelf = (struct shelf){.focus = -1};
}

void shelf_look(struct shelf *shelf, int index) {
    char bundled[ASSETS_PATH_BYTES];
    if (index == shelf->focus || index < 0 || index >= shelf->count)
        return;
    const char *file = file_of(shelf, index, bundled);
    int parts = 1;
    for (int i = 0; i < shelf->found.count; i++)
        if (shelf->found.list[i].path == file)
            parts = shelf->found.list[i].parts;
    shelf->focus = file ? index : -1;
    if (file)
        modelfile_look(&shelf->about, file, parts);
}

void shelf_refuse(struct shelf *shelf, int index, const char *why) {
    shelf_look(shelf, index);
    if (shelf->focus == index)
        why_set(&shelf->about.obstacles[0], "%s", why);
}

void shelf_put(struct at_hand *at, const struct shelf *shelf) {
    at->models = shelf->list;
    at->model_count = shelf->count;
    at->model_focus = shelf->count > 0 ? shelf->focus : -1;
    at->model_architecture = shelf->about.architecture;
    at->model_type = shelf->about.type_count > 0 ? shelf->about.types[0].name : "";
    at->model_refusal = shelf->about.obstacles[0].text[0] ? shelf->about.obstacles[0].text : NULL;
}
