// See models.h. Every folder is walked the same way, to a depth and with a limit on all entries
// together, so that a link in a circle or a huge disk costs no more than that.
#include "app/runs/models.h"

#include "compute/base/json_in.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_ENTRIES = 20000, // of all folders
    NAME_BYTES = 1024,
    MANIFEST_BYTES = 1 << 16,
    NEAREST = 3, // names in a refusal
    FAR = 600,   // see unlikeness
};

// A file while it is looked for, with what tells it from others.
struct found {
    struct models_file file;
    dev_t device;
    ino_t inode;
    int64_t changed_s;
};

struct finder {
    enum models_where where;
    char root[MODELS_PATH_BYTES]; // the folder being walked
    struct found *list;
    int count, capacity;
    int entries_left;
    bool is_out_of_memory;
};

// A folder in which models may lie: `below` the folder that `variable` names.
static const struct place {
    enum models_where where;
    const char *variable; // NULL: `below` is the whole path
    const char *below;
    int depth; // of folders in it
} places[] = {
    {MODELS_OLLAMA, "OLLAMA_MODELS", "", 4},
    {MODELS_OLLAMA, "HOME", "/.ollama/models", 4},
    {MODELS_OLLAMA, NULL, "/usr/share/ollama/.ollama/models", 4},
    {MODELS_LM_STUDIO, "HOME", "/.lmstudio/models", 4},
    {MODELS_LM_STUDIO, "HOME", "/.cache/lm-studio/models", 4},
    {MODELS_LLAMA_CPP, "LLAMA_CACHE", "", 1},
    {MODELS_LLAMA_CPP, "XDG_CACHE_HOME", "/llama.cpp", 1},
    {MODELS_LLAMA_CPP, "HOME", "/.cache/llama.cpp", 1},
    {MODELS_HUGGING_FACE, "HF_HUB_CACHE", "", 5},
    {MODELS_HUGGING_FACE, "HF_HOME", "/hub", 5},
    {MODELS_HUGGING_FACE, "XDG_CACHE_HOME", "/huggingface/hub", 5},
    {MODELS_HUGGING_FACE, "HOME", "/.cache/huggingface/hub", 5},
    {MODELS_DOWNLOADS, "HOME", "/Downloads", 0},
};

// --- Names ---

static bool ends_in_gguf(const char *name) {
    size_t bytes = strlen(name);
    return bytes > 5 && strcasecmp(name + bytes - 5, ".gguf") == 0;
}

// Cuts ".gguf" off, and the number of a first part; returns how many parts there are, 0 for a
// later one.
static int cut_ending(char *name) {
    int part = 1, parts = 1, used = 0;
    size_t bytes = strlen(name), tail = strlen("-00001-of-00002");
    name[bytes - 5] = '\0';
    if (bytes - 5 <= tail)
        return 1;
    char *number = name + bytes - 5 - tail;
    if (sscanf(number, "-%5d-of-%5d%n", &part, &parts, &used) != 2 || used != (int)tail ||
        parts < 2)
        return 1;
    *number = '\0';
    return part == 1 ? parts : 0;
}

// "models--ORGANISATION--REPOSITORY/snapshots/COMMIT/FILE" without what only the cache needs.
static void shorten_cached(char *name) {
    static const char start[] = "models--", middle[] = "/snapshots/";
    char *found = strstr(name, middle);
    char *file = found ? strchr(found + strlen(middle), '/') : NULL;
    if (strncmp(name, start, strlen(start)) != 0 || !file)
        return;
    memmove(found, file, strlen(file) + 1);
    memmove(name, name + strlen(start), strlen(name + strlen(start)) + 1);
    for (char *at = strstr(name, "--"); at && at < found; at = strstr(at, "--")) {
        *at = '/';
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
    }
}

// "HOST/NAMESPACE/MODEL/TAG" as Ollama writes it, without a host and namespace that it assumes.
static void shorten_manifest(char *name) {
    static const char host[] = "registry.ollama.ai/", space[] = "library/";
    char *tag = strrchr(name, '/');
    if (tag)
        *tag = ':';
    if (strncmp(name, host, strlen(host)) != 0)
        return;
    memmove(name, name + strlen(host), strlen(name + strlen(host)) + 1);
    if (strncmp(name, space, strlen(space)) == 0)
        memmove(name, name + strlen(space), strlen(name + strlen(space)) + 1);
}

static const char *last_part(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

// --- Finding ---

static bool grow(struct finder *finder) {
    int capacity = finder->capacity ? 2 * finder->capacity : 32;
    if (finder->count < finder->capacity)
        return true;
    struct found *list = realloc(finder->list, (size_t)capacity * sizeof *list);
    if (!list)
        return false;
    finder->list = list;
    finder->capacity = capacity;
    return true;
}

// The entry that a new one is the same as: one of its name in its place, or the same file under
// the same last name, through a link. Several of Ollama's names may mean one blob.
static struct found *find_same(const struct finder *finder, const char *name,
                               const struct stat *info) {
    for (struct found *at = finder->list; at < finder->list + finder->count; at++) {
        bool is_name = at->file.where == finder->where && strcmp(at->file.full_name, name) == 0;
        bool is_file = finder->where != MODELS_OLLAMA && at->device == info->st_dev &&
                       at->inode == info->st_ino;
        if (is_name || (is_file && strcmp(last_part(at->file.full_name), last_part(name)) == 0))
            return at;
    }
    return NULL;
}

static void free_file(struct models_file *file) {
    free(file->full_name);
    free(file->path);
}

// Of two versions the one that was changed last counts.
static void add(struct finder *finder, const char *name, const char *path, int parts,
                const struct stat *info) {
    struct found *same = find_same(finder, name, info);
    if (same && same->changed_s >= (int64_t)info->st_mtime)
        return;
    struct found entry = {.file = {.full_name = strdup(name),
                                   .path = strdup(path),
                                   .bytes = (int64_t)info->st_size,
                                   .parts = parts,
                                   .where = finder->where},
                          .device = info->st_dev,
                          .inode = info->st_ino,
                          .changed_s = (int64_t)info->st_mtime};
    if (!entry.file.full_name || !entry.file.path || !grow(finder)) {
        free_file(&entry.file);
        finder->is_out_of_memory = true;
        return;
    }
    if (same)
        free_file(&same->file);
    else
        same = &finder->list[finder->count++];
    *same = entry;
}

// Adds up the other parts of a file that is split.
static void add_part_bytes(struct stat *info, const char *path, int parts) {
    char other[MODELS_PATH_BYTES];
    struct stat more;
    size_t start = strlen(path) - strlen("00001-of-00002.gguf");
    for (int part = 2; part <= parts; part++) {
        int length =
            snprintf(other, sizeof other, "%.*s%05d%s", (int)start, path, part, path + start + 5);
        if (length >= (int)sizeof other || stat(other, &more) != 0)
            return;
        info->st_size += more.st_size;
    }
}

static void take_gguf(struct finder *finder, const char *path, struct stat *info) {
    char name[NAME_BYTES];
    const char *below = path + strlen(finder->root) + 1;
    if (!ends_in_gguf(path) || strstr(last_part(path), "mmproj"))
        return;
    if (finder->where == MODELS_FOLDER) // the path itself, which --model takes as it is
        below = path;
    if (snprintf(name, sizeof name, "%s", below) >= (int)sizeof name)
        return;
    int parts = cut_ending(name);
    if (finder->where == MODELS_FOLDER)
        snprintf(name, sizeof name, "%s", below);
    if (finder->where == MODELS_HUGGING_FACE)
        shorten_cached(name);
    if (parts > 1)
        add_part_bytes(info, path, parts);
    if (parts > 0)
        add(finder, name, path, parts, info);
}

// The digest of the layer that is the model; false: the manifest has none, or is none.
static bool read_manifest(char digest[128], const char *path) {
    struct jsonin at = {.name = path}, layer;
    const json_t *layers;
    char *text, type[64] = "";
    size_t bytes;
    if (!jsonin_read(&text, &bytes, path, MANIFEST_BYTES, NULL))
        return false;
    json_t *json = jsonin_parse(path, text, bytes, 1, NULL);
    bool is_found = false;
    at.json = json;
    if (json_is_object(json) &&
        jsonin_array(&at, "layers", (struct jsonin_range){0, 64}, &layers)) {
        for (size_t i = 0; i < json_array_size(layers) && !is_found; i++)
            is_found = jsonin_enter_item(&layer, &at, "layers", layers, i) &&
                       jsonin_text(&layer, "mediaType", type, sizeof type) &&
                       strcmp(type, "application/vnd.ollama.image.model") == 0 &&
                       jsonin_text(&layer, "digest", digest, 128);
    }
    json_decref(json);
    free(text);
    return is_found && !strchr(digest, '/');
}

static void take_manifest(struct finder *finder, const char *path, struct stat *info) {
    char name[NAME_BYTES], digest[128], blob[MODELS_PATH_BYTES];
    if (snprintf(name, sizeof name, "%s", path + strlen(finder->root) + 1) >= (int)sizeof name ||
        !read_manifest(digest, path))
        return;
    char *colon = strchr(digest, ':');
    if (colon)
        *colon = '-';
    size_t models = strlen(finder->root) - strlen("/manifests");
    int length = snprintf(blob, sizeof blob, "%.*s/blobs/%s", (int)models, finder->root, digest);
    if (length >= (int)sizeof blob || stat(blob, info) != 0 || !S_ISREG(info->st_mode))
        return; // not loaded yet, or removed
    shorten_manifest(name);
    add(finder, name, blob, 1, info);
}

static void walk(struct finder *finder, const char *folder, int depth) {
    DIR *open = opendir(folder);
    struct dirent *entry;
    while (open && (entry = readdir(open)) && finder->entries_left > 0) {
        char path[MODELS_PATH_BYTES];
        struct stat info;
        if (entry->d_name[0] == '.')
            continue;
        finder->entries_left--;
        int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (length >= (int)sizeof path || stat(path, &info) != 0)
            continue;
        if (S_ISDIR(info.st_mode) && depth > 0)
            walk(finder, path, depth - 1);
        else if (S_ISREG(info.st_mode) && finder->where == MODELS_OLLAMA)
            take_manifest(finder, path, &info);
        else if (S_ISREG(info.st_mode))
            take_gguf(finder, path, &info);
    }
    if (open)
        closedir(open);
}

static void walk_place(struct finder *finder, const struct place *place) {
    const char *base = place->variable ? getenv(place->variable) : "";
    if (!base || (place->variable && !base[0]))
        return;
    finder->where = place->where;
    int length = snprintf(finder->root, sizeof finder->root, "%s%s%s", base, place->below,
                          place->where == MODELS_OLLAMA ? "/manifests" : "");
    if (length < (int)sizeof finder->root)
        walk(finder, finder->root, place->depth);
}

static bool walk_given(struct finder *finder, const char *folder, struct why *why) {
    struct stat info;
    size_t bytes = strlen(folder);
    while (bytes > 1 && folder[bytes - 1] == '/')
        bytes--;
    if (bytes >= sizeof finder->root || stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return why_set(why, "%.150s is no folder that can be read.", folder);
    snprintf(finder->root, sizeof finder->root, "%.*s", (int)bytes, folder);
    finder->where = MODELS_FOLDER;
    walk(finder, finder->root, 4);
    return true;
}

// --- The list ---

static int compare_files(const void *a, const void *b) {
    const struct models_file *x = a, *y = b;
    if (x->where != y->where)
        return x->where < y->where ? -1 : 1;
    int order = strcasecmp(x->name, y->name);
    return order ? order : strcmp(x->name, y->name);
}

static bool is_same_end(const struct models_file *a, const struct models_file *b) {
    return strcasecmp(last_part(a->full_name), last_part(b->full_name)) == 0;
}

// The end of a name is enough where no other ends so. Ollama's are short, and paths must stay.
static void choose_names(struct models *models) {
    for (struct models_file *at = models->list; at < models->list + models->count; at++) {
        bool is_short = at->where != MODELS_FOLDER && at->where != MODELS_OLLAMA;
        for (int i = 0; i < models->count && is_short; i++)
            is_short = at == &models->list[i] || !is_same_end(at, &models->list[i]);
        at->name = is_short ? last_part(at->full_name) : at->full_name;
    }
}

bool models_find(struct models *out, const char *folder, struct why *why) {
    struct finder finder = {.entries_left = MOST_ENTRIES};
    *out = (struct models){0};
    bool ok = !folder || walk_given(&finder, folder, why);
    for (size_t i = 0; ok && i < sizeof places / sizeof places[0]; i++)
        walk_place(&finder, &places[i]);
    out->list = calloc((size_t)finder.count + 1, sizeof *out->list);
    if (!out->list || finder.is_out_of_memory)
        ok = why_set(why, "not enough memory for a list of models");
    for (int i = 0; i < finder.count; i++) {
        if (ok)
            out->list[out->count++] = finder.list[i].file;
        else
            free_file(&finder.list[i].file);
    }
    free(finder.list);
    if (!ok) {
        models_clear(out);
        return false;
    }
    out->is_cut = finder.entries_left == 0;
    choose_names(out);
    qsort(out->list, (size_t)out->count, sizeof *out->list, compare_files);
    return true;
}

void models_clear(struct models *models) {
    for (int i = 0; i < models->count; i++)
        free_file(&models->list[i]);
    free(models->list);
    *models = (struct models){0};
}

// --- Choosing by name ---

// True if `part`, the file's name or an end of it, is `name` of so many bytes.
static bool is_called(const struct models_file *file, const char *part, const char *name,
                      size_t bytes) {
    return strncasecmp(part, name, bytes) == 0 &&
           (!part[bytes] || (file->where == MODELS_OLLAMA && strcmp(part + bytes, ":latest") == 0));
}

static bool is_end_called(const struct models_file *file, const char *name, size_t bytes) {
    const char *at = strchr(file->full_name, '/');
    while (at && !is_called(file, at + 1, name, bytes))
        at = strchr(at + 1, '/');
    return at != NULL;
}

// How unlike two names are, in any case: the share of pairs of neighbouring letters that only
// one of them has (Sørensen and Dice), 0 to 1000.
static int unlikeness(const char *a, const char *b) {
    int pairs = 0, shared = 0;
    for (const char *at = a; at[0] && at[1]; at++) {
        bool is_there = false;
        for (const char *in = b; in[0] && in[1] && !is_there; in++)
            is_there = strncasecmp(at, in, 2) == 0;
        pairs++;
        shared += is_there;
    }
    pairs += (int)strlen(b) - 1;
    return pairs > 0 ? 1000 - 2000 * shared / pairs : 1000;
}

// Lists the names that are not too unlike `name`, the likest first; returns how many.
static int list_nearest(char *out, size_t out_bytes, const struct models *models,
                        const char *name) {
    const struct models_file *best[NEAREST] = {NULL};
    int ranks[NEAREST] = {FAR, FAR, FAR}, count = 0;
    for (int i = 0; i < models->count; i++) {
        int rank = unlikeness(name, last_part(models->list[i].full_name));
        for (int at = 0; at < NEAREST; at++) {
            if (rank >= ranks[at])
                continue;
            memmove(&ranks[at + 1], &ranks[at], (size_t)(NEAREST - at - 1) * sizeof *ranks);
            memmove(&best[at + 1], &best[at], (size_t)(NEAREST - at - 1) * sizeof(best[0]));
            ranks[at] = rank;
            best[at] = &models->list[i];
            break;
        }
    }
    for (size_t used = 0; count < NEAREST && best[count]; count++)
        used += (size_t)snprintf(out + used, used < out_bytes ? out_bytes - used : 0, "%s%.60s",
                                 count ? ", " : "", best[count]->name);
    return count;
}

static bool refuse_unknown(const struct models *models, const char *name, struct why *why) {
    char nearest[NEAREST * 64] = "";
    if (models->count == 0)
        return why_set(why,
                       "%.100s: cannot be opened: there is no such file, and no other program's "
                       "models are on this machine.",
                       name);
    if (list_nearest(nearest, sizeof nearest, models, last_part(name)) > 0)
        return why_set(why, "no file and no model is called %.60s. Did you mean %s?", name,
                       nearest);
    return why_set(why, "no file and no model is called %.100s. tokendrip models lists them.",
                   name);
}

const struct models_file *models_choose(const struct models *models, const char *name,
                                        struct why *why) {
    const struct models_file *first = NULL;
    char all[160] = "";
    size_t bytes = strlen(name), used = 0;
    int meant = 0;
    if (ends_in_gguf(name))
        bytes -= 5;
    for (int i = 0; i < models->count; i++) {
        const struct models_file *file = &models->list[i];
        if (is_called(file, file->full_name, name, bytes)) // whatever else ends so
            return file;
        if (!is_end_called(file, name, bytes))
            continue;
        first = meant++ == 0 ? file : first;
        if (used < sizeof all)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%.70s", used ? ", " : "",
                                     file->name);
    }
    if (meant == 0)
        refuse_unknown(models, name, why);
    else if (meant > 1)
        why_set(why, "%.60s means %d models. Take one of %s.", name, meant, all);
    return meant == 1 ? first : NULL;
}

const char *models_path(char out[MODELS_PATH_BYTES], const char *name, struct why *why) {
    struct models models;
    if (!name || access(name, F_OK) == 0)
        return name;
    if (!models_find(&models, NULL, why))
        return NULL;
    const struct models_file *file = models_choose(&models, name, why);
    bool ok = file && snprintf(out, MODELS_PATH_BYTES, "%s", file->path) < MODELS_PATH_BYTES;
    models_clear(&models);
    return ok ? out : NULL;
}
