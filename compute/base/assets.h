// Where the program's own files are: the bundled model, its policy, the lesson
// schedules. Looked for in this order, the first folder that has the file wins:
// $TOKENDRIP_ASSETS (then nowhere else), beside the executable (assets, ../assets,
// ../share/tokendrip), and where it was built from. Nothing is opened here.
#ifndef COMPUTE_BASE_ASSETS_H
#define COMPUTE_BASE_ASSETS_H

#include <stdbool.h>
#include <stddef.h>

enum { ASSETS_PATH_BYTES = 4096 };

// The full path of the asset `name` ("model/tokendrip.gguf"). False with `why`,
// which lists where it looked.
bool assets_find(char out[ASSETS_PATH_BYTES], const char *name, char why[256]);

// The same, with the environment's word and the executable's folder given
// (either may be NULL): what assets_find does, for tests.
bool assets_find_in(char out[ASSETS_PATH_BYTES], const char *name, const char *environment,
                    const char *executable_folder, char why[256]);

// What --run and --compare name: a file, or one of the program's own runs
// ("cpu-amd-epyc-2-cores" is assets/runs/cpu-amd-epyc-2-cores.json). Returns `name` itself
// or `out`; NULL stays NULL.
const char *assets_run(char out[ASSETS_PATH_BYTES], const char *name);

#endif
