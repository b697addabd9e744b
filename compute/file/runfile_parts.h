// What writing and reading a run file share: the names and fields of the format, and the
// part kept beside the run (runfile_extras.c). Only for runfile_*.c.
#ifndef COMPUTE_FILE_RUNFILE_PARTS_H
#define COMPUTE_FILE_RUNFILE_PARTS_H

#include "compute/base/why.h"

#include "compute/base/json_in.h"
#include "compute/base/json_out.h"
#include "compute/file/runfile.h"

// By the values of their enums in run.h; NULL: never in a file.
extern const char *const runfile_origins[3], *const runfile_countings[2];
extern const char *const runfile_phases[2], *const runfile_states[3];

// The fields of struct run_info, in the order in which they are written.
enum { RUNFILE_FIELDS = 39 };
extern const struct runfile_field {
    const char *key;
    // RARE: left out when false, 0 or empty, because older files do not have it.
    enum {
        FIELD_TEXT,
        FIELD_INT,
        FIELD_INT64,
        FIELD_UINT64,
        FIELD_BOOL,
        FIELD_RARE,
        FIELD_RARE_TEXT,
        FIELD_RARE_INT,
        FIELD_RARE_INT64,
        FIELD_ORIGIN,
        FIELD_COUNTING
    } kind;
    size_t offset, bytes;
} runfile_fields[RUNFILE_FIELDS];

// Whether they can be written; NULL is fine.
bool runfile_extras_check(const struct runfile_extras *extras, struct why *why);

// Writes the keys "sweep" and "floors", each only if it has been measured; NULL is fine.
void runfile_extras_print(struct jsonout *out, const struct runfile_extras *extras);

// Reads both from the object `at`; a key that is absent leaves its part zeroed.
bool runfile_extras_read(struct runfile_extras *out, const struct jsonin *at);

#endif
