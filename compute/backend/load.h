// Finds the CUDA backend, which is a plugin so that the program itself needs nothing
// of CUDA: tokendrip-cuda.so beside the executable, else in ../lib/tokendrip of it.
// Whatever keeps it from being used is one line of text, never a crash; on a machine
// without an NVIDIA driver the plugin is not even opened, which keeps start-up short.
//
// A plugin has one symbol: const struct backend *tokendrip_backend(void). Its table
// begins with the interface version, which must be BACKEND_ABI.
#ifndef COMPUTE_BACKEND_LOAD_H
#define COMPUTE_BACKEND_LOAD_H

#include "compute/base/why.h"

#include "compute/backend/backend.h"

#define BACKEND_LOAD_SYMBOL "tokendrip_backend"
#define BACKEND_LOAD_FILE "tokendrip-cuda.so"

// The CUDA backend, ready to be opened on this machine; NULL with `why`. Its code
// stays in the process. Thread: any; the answer is found once and kept.
// Cost: under a millisecond without a driver.
const struct backend *backend_load_cuda(struct why *why);

// The same for one file, loaded anew at every call. driver_library: name or path of a
// library that must load before the plugin is opened; NULL = none.
const struct backend *backend_load_file(const char *path, const char *driver_library,
                                        struct why *why);

// Writes the path of the plugin: the first of the two places that has it, else the first
// place. executable: path of the program. False: it does not fit into `bytes`.
bool backend_load_place(char *out, size_t bytes, const char *executable);

#endif
