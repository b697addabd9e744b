// `tokendrip inspect FILE`: what a GGUF holds, and whether tokendrip can run it.
#ifndef APP_COMMAND_INSPECT_H
#define APP_COMMAND_INSPECT_H

#include "compute/base/why.h"

#include "app/options/options.h"

// Returns the exit code; `why` is "" or the one line to print.
int inspect_command(const struct options *options, struct why *why);

#endif
