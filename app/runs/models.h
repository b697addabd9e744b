// The model files that this machine already has: those of Ollama, LM Studio, llama.cpp and the
// Hugging Face cache, in ~/Downloads, and in a folder given. Folders and Ollama's manifests are
// read, no model file is opened (modelfile.h does that). What is no model by its name (mmproj,
// a picture's part of one) is left out; a model split over several files is one entry.
//
// Where they are, and under which variables: Ollama's docs/faq.md and server/manifest.go
// (manifests/HOST/NAMESPACE/MODEL/TAG names the blob of a layer), LM Studio's documentation of
// its models folder, llama.cpp's common/download.cpp, huggingface_hub's constants.py.
#ifndef APP_RUNS_MODELS_H
#define APP_RUNS_MODELS_H

#include "compute/base/why.h"

#include <stdbool.h>
#include <stdint.h>

enum { MODELS_PATH_BYTES = 4096 };

enum models_where {
    MODELS_FOLDER, // the one that was given
    MODELS_OLLAMA,
    MODELS_LM_STUDIO,
    MODELS_LLAMA_CPP,
    MODELS_HUGGING_FACE,
    MODELS_DOWNLOADS,
};

struct models_file {
    const char *name; // what --model takes: the end of full_name, where no other ends so
    char *full_name;  // "llama3.2:1b", "PUBLISHER/REPOSITORY/FILE" without ".gguf"
    char *path;
    int64_t bytes; // of all parts
    int parts;     // above 1: split over so many files, which nothing here opens
    enum models_where where;
};

struct models {
    struct models_file *list; // by place, then by name
    int count;
    bool is_cut; // there are more files than were looked at
};

// Finds them all. `folder` NULL: none is given; its files have their paths as names.
// False: no memory, or the folder given cannot be read. Owner: models_clear. Cost: a
// directory listing each; milliseconds.
bool models_find(struct models *out, const char *folder, struct why *why);
void models_clear(struct models *models); // a zeroed one is fine

// The one file that `name` means: its whole name or an end of that behind a slash, with or
// without ".gguf", in any case; Ollama's "NAME" is "NAME:latest". NULL with `why`, which gives
// the names meant or the nearest ones.
const struct models_file *models_choose(const struct models *models, const char *name,
                                        struct why *why);

// What --model or inspect was given, as a path: `name` itself if there is such a file, else
// that of the model it means, written to `out`. NULL with `why`; NULL stays NULL, without.
const char *models_path(char out[MODELS_PATH_BYTES], const char *name, struct why *why);

#endif
