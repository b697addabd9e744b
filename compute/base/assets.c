// See assets.h.
#include "compute/base/assets.h"

#include "compute/base/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TOKENDRIP_ASSETS_DIR
#define TOKENDRIP_ASSETS_DIR ""
#endif

// Folders under the executable's own.
static const char *const beside[] = {"assets", "../assets", "../share/tokendrip"};

// Folders tried, for the message.
struct search {
    char *out;
    const char *name;
    char tried[160];
};

static bool try_folder(struct search *search, const char *folder, const char *below) {
    int length = snprintf(search->out, ASSETS_PATH_BYTES, "%s%s%s/%s", folder, below[0] ? "/" : "",
                          below, search->name);
    if (length < ASSETS_PATH_BYTES && access(search->out, R_OK) == 0)
        return true;
    size_t used = strlen(search->tried);
    snprintf(search->tried + used, sizeof search->tried - used, "%s%s%s%s", used ? ", " : "",
             folder, below[0] ? "/" : "", below);
    return false;
}

bool assets_find_in(char out[ASSETS_PATH_BYTES], const char *name, const char *environment,
                    const char *executable_folder, struct why *why) {
    struct search search = {.out = out, .name = name};
    if (environment && environment[0]) {
        if (try_folder(&search, environment, ""))
            return true;
        return why_set(why,
                       "no readable %.60s in $TOKENDRIP_ASSETS (%.150s). Correct it or unset it.",
                       name, environment);
    }
    for (size_t i = 0; executable_folder && i < sizeof beside / sizeof beside[0]; i++) {
        if (try_folder(&search, executable_folder, beside[i]))
            return true;
    }
    if (TOKENDRIP_ASSETS_DIR[0] && try_folder(&search, TOKENDRIP_ASSETS_DIR, ""))
        return true;
    return why_set(why, "no %.40s; set TOKENDRIP_ASSETS to the assets folder. Looked in %s.", name,
                   search.tried[0] ? search.tried : "no folder at all");
}

// The folder of the running program, without a slash at the end.
static bool find_executable_folder(char out[ASSETS_PATH_BYTES]) {
    ssize_t length = readlink("/proc/self/exe", out, ASSETS_PATH_BYTES - 1);
    if (length <= 0)
        return false;
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

bool assets_find(char out[ASSETS_PATH_BYTES], const char *name, struct why *why) {
    char folder[ASSETS_PATH_BYTES];
    bool has_folder = find_executable_folder(folder);
    return assets_find_in(out, name, getenv("TOKENDRIP_ASSETS"), has_folder ? folder : NULL, why);
}

const char *assets_run(char out[ASSETS_PATH_BYTES], const char *name) {
    char asset[128];
    struct why why;
    if (!name || strchr(name, '/') || access(name, F_OK) == 0)
        return name;
    int length = snprintf(asset, sizeof asset, "runs/%s.json", name);
    bool is_own = length < (int)sizeof asset && assets_find(out, asset, &why);
    return is_own ? out : name;
}
