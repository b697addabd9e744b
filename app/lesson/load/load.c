// See load.h: finds and reads the file; read.c reads its text.
#include "app/lesson/load/load.h"

#include "compute/base/assets.h"
#include "compute/base/json_in.h"
#include "compute/base/why.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LESSON_MAX_BYTES = 1 << 19 }; // of a file

bool lesson_load(struct lesson **out, const char *path, struct why *why) {
    char *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    if (jsonin_read(&text, &bytes, path, LESSON_MAX_BYTES, why))
        *out = lesson_parse(path, text, bytes, why);
    free(text);
    return *out;
}

static const char FIRST[] = "two-stages.json"; // in English
static const char BEGIN[] = "two-stages.", END[] = ".json";

// "de" of "two-stages.de.json"; false: it is no such file.
static bool language_of(const char *file, char out[16]) {
    size_t length = strlen(file), begin = sizeof BEGIN - 1, end = sizeof END - 1;
    if (length <= begin + end || strncmp(file, BEGIN, begin) != 0 ||
        strcmp(file + length - end, END) != 0 || length - begin - end >= 16)
        return false;
    memcpy(out, file + begin, length - begin - end);
    out[length - begin - end] = '\0';
    return true;
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

// ", de, es", sorted, of the files beside `path`.
static void list_languages(char *out, size_t bytes, const char *path) {
    enum { MOST = 24 };
    char names[MOST][16], folder[ASSETS_PATH_BYTES];
    int count = 0;
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    DIR *files = opendir(folder);
    for (struct dirent *file; files && count < MOST && (file = readdir(files));)
        count += language_of(file->d_name, names[count]);
    if (files)
        closedir(files);
    qsort(names, (size_t)count, sizeof names[0], by_name);
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < count && used + 20 < bytes; i++)
        used += (size_t)snprintf(out + used, bytes - used, ", %s", names[i]);
}

// Letters, digits and signs between them: never a path.
static bool is_language(const char *text) {
    size_t length = strlen(text);
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return length > 0 && length < 16 && strspn(text, plain) == length;
}

bool lesson_load_named(struct lesson **out, const char *language, struct why *why) {
    char path[ASSETS_PATH_BYTES], name[64], first[ASSETS_PATH_BYTES], languages[120];
    *out = NULL;
    if (strcmp(language, "en") == 0)
        snprintf(name, sizeof name, "lessons/%s", FIRST);
    else
        snprintf(name, sizeof name, "lessons/%s%.15s%s", BEGIN, language, END);
    if (is_language(language) && assets_find(path, name, why))
        return lesson_load(out, path, why);
    snprintf(name, sizeof name, "lessons/%s", FIRST);
    if (!assets_find(first, name, why))
        return false;
    list_languages(languages, sizeof languages, first);
    return why_set(why, "no lesson in \"%.20s\": choose one of en%s", language, languages);
}
