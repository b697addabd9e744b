// See load.h. Looks first for what is most often missing and cheapest to check: the file,
// the driver, the libraries that the plugin needs, its version, a card.
#include "compute/backend/load.h"

#include "compute/base/spoken.h"
#include "compute/base/why.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

typedef const struct backend *backend_symbol(void);

// --- Where ---

bool backend_load_place(char *out, size_t bytes, const char *executable) {
    static const char *const folders[] = {"", "../lib/tokendrip/"};
    const char *slash = strrchr(executable, '/');
    int folder_bytes = slash ? (int)(slash - executable) + 1 : 0;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        int wrote =
            snprintf(out, bytes, "%.*s%s" BACKEND_LOAD_FILE, folder_bytes, executable, folders[i]);
        if (wrote < 0 || (size_t)wrote >= bytes)
            return false;
        if (access(out, F_OK) == 0)
            return true;
    }
    int wrote = snprintf(out, bytes, "%.*s" BACKEND_LOAD_FILE, folder_bytes, executable);
    return wrote > 0 && (size_t)wrote < bytes;
}

// --- One file ---

static const struct backend *refuse(const char *path, const char *problem, struct why *why) {
    why_set(why, "the CUDA plugin %.80s %s", path, why_spoken(problem));
    return NULL;
}

// Stays loaded: a CUDA library that is closed while its threads run takes the process
// down with it.
static void *open_library(const char *path, struct why *why) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *reason = library ? NULL : dlerror();
    if (!library)
        why_set(why,
                "the CUDA plugin cannot be loaded: %.150s (install the CUDA runtime libraries, or "
                "build without CUDA)",
                reason ? reason : "no reason given");
    return library;
}

static const struct backend *table_of(void *library, const char *path, struct why *why) {
    // POSIX allows this conversion, but C does not allow it as a cast.
    union {
        void *symbol;
        backend_symbol *function;
    } found = {.symbol = dlsym(library, BACKEND_LOAD_SYMBOL)};
    const struct backend *backend = found.symbol ? found.function() : NULL;
    if (!backend)
        return refuse(path, "is no plugin of this program: build both together", why);
    if (backend->abi != BACKEND_ABI) {
        why_set(why,
                "the CUDA plugin %.80s has interface version %d, this program needs %d: build both "
                "together",
                path, backend->abi, BACKEND_ABI);
        return NULL;
    }
    return backend;
}

static bool has_driver(const char *library, struct why *why) {
    if (!library || dlopen(library, RTLD_LAZY | RTLD_LOCAL))
        return true;
    return why_set(why, "no NVIDIA driver is installed (%.60s is missing)", library);
}

const struct backend *backend_load_file(const char *path, const char *driver_library,
                                        struct why *why) {
    if (access(path, R_OK) != 0) {
        if (errno != ENOENT && errno != ENOTDIR)
            return refuse(path, "cannot be read", why);
        why_set(why, "no CUDA plugin: %.120s is missing (it is built where the CUDA Toolkit is)",
                path);
        return NULL;
    }
    if (!has_driver(driver_library, why))
        return NULL;
    void *library = open_library(path, why);
    const struct backend *backend = library ? table_of(library, path, why) : NULL;
    return backend && backend->available(why) ? backend : NULL;
}

// --- The program's own ---

static struct {
    const struct backend *backend;
    struct why why;
} found;

static void find(void) {
    char executable[PATH_BYTES], path[PATH_BYTES];
    ssize_t bytes = readlink("/proc/self/exe", executable, sizeof executable - 1);
    if (bytes < 0) {
        why_set(&found.why, "no CUDA plugin: this program cannot find its own file");
        return;
    }
    executable[bytes] = '\0';
    if (!backend_load_place(path, sizeof path, executable)) {
        why_set(&found.why, "no CUDA plugin: this program's path is too long");
        return;
    }
    found.backend = backend_load_file(path, "libcuda.so.1", &found.why);
}

const struct backend *backend_load_cuda(struct why *why) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    if (!found.backend)
        why_set(why, "%s", found.why.text);
    return found.backend;
}
