// The files that a command writes besides what it prints.
#ifndef APP_COMMAND_OUTPUT_H
#define APP_COMMAND_OUTPUT_H

#include "compute/base/why.h"

#include "app/options/options.h"

// True if --json, --csv and --save can be written: none replaces an input, another of them, or
// without --overwrite anything else.
bool output_check(const struct options *options, struct why *why);

// Has `print` write `context`, into memory first, so that `path` then holds all of it or what
// it held before; "-" is standard output. print: false without memory.
typedef bool output_print(FILE *out, const void *context);
bool output_write(const char *path, output_print *print, const void *context, bool overwrite,
                  struct why *why);

#endif
