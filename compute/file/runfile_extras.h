// What a run file keeps beside its run, as JSON: the sweep and the floors. Only for
// runfile.c, whose header describes the format.
#ifndef COMPUTE_FILE_RUNFILE_EXTRAS_H
#define COMPUTE_FILE_RUNFILE_EXTRAS_H

#include "compute/base/json_in.h"
#include "compute/base/json_out.h"
#include "compute/file/runfile.h"

// Whether they can be written; NULL is fine.
bool runfile_extras_check(const struct runfile_extras *extras, char *why);

// The keys "sweep" and "floors", each only if there is something in it; NULL is fine.
void runfile_extras_print(struct jsonout *out, const struct runfile_extras *extras);

// From the object that holds them, or not.
bool runfile_extras_read(struct runfile_extras *out, const struct jsonin *at);

#endif
