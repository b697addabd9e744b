// `tokendrip models [FOLDER]`: the model files that this machine has, and which of them open.
#ifndef APP_COMMAND_MODELS_H
#define APP_COMMAND_MODELS_H

#include "compute/base/why.h"

#include "app/options/options.h"

// Returns the exit code; `why` is "" or the one line to print. With --json one object, kept
// stable: {"models":[{"name", "path", "where", "bytes", "parts", "architecture", "type",
// "opens", "why"}]}; "where" is "folder", "ollama", "lm-studio", "llama.cpp", "hugging-face" or
// "downloads"; "architecture", "type" and "why" are null where there is none.
int models_command(const struct options *options, struct why *why);

#endif
