// Finds the program's own files: the bundled model, its policy, the lesson schedules.
// Searches $TOKENDRIP_ASSETS alone if it is set, else beside the executable (assets,
// ../assets, ../share/tokendrip), then the installation folder; the first match wins.
// Opens no file.
#ifndef COMPUTE_BASE_ASSETS_H
#define COMPUTE_BASE_ASSETS_H

#include "compute/base/why.h"

#include <stdbool.h>
#include <stddef.h>

enum { ASSETS_PATH_BYTES = 4096 };

// Writes the full path of the asset `name` ("model/tokendrip.gguf"). On failure `why`
// lists the folders searched.
bool assets_find(char out[ASSETS_PATH_BYTES], const char *name, struct why *why);

// The same search with the value of the variable and the executable's folder given, for
// tests. NULL: either may be NULL.
bool assets_find_in(char out[ASSETS_PATH_BYTES], const char *name, const char *environment,
                    const char *executable_folder, struct why *why);

// Resolves what --run and --compare name: a file, or one of the program's own runs
// ("cpu-amd-epyc-2-cores" is assets/runs/cpu-amd-epyc-2-cores.json). Returns `name` itself
// or `out`; NULL stays NULL.
const char *assets_run(char out[ASSETS_PATH_BYTES], const char *name);

#endif
