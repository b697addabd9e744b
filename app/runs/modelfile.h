// What a model file is and whether it opens here, from its header alone: no weights are read.
// Says what it can about files that do not open, too.
#ifndef APP_RUNS_MODELFILE_H
#define APP_RUNS_MODELFILE_H

#include "compute/base/why.h"

struct modelfile {
    char architecture[32]; // general.architecture; "" = the file does not say
    char type[16];         // of most bytes of its matrices, "Q4_K"; "" = it has none
    struct why why;        // the first reason why it does not open; "" = it opens
};

// Cost: some 0.1 s for the largest vocabularies. Thread: any.
void modelfile_look(struct modelfile *out, const char *path);

#endif
