// The cards that CUDA sees: which one can be used, and what each is or lacks. The first use
// of a card creates CUDA's context on it, which takes some tenths of a second.
#ifndef COMPUTE_CUDA_CARDS_CUH
#define COMPUTE_CUDA_CARDS_CUH

#include "compute/cuda/device.cuh"

struct card {
    int index; // as CUDA numbers them
    int multiprocessors;
    char name[96];
};

// wanted: a card's index, -1 = the first that works. Makes it the calling thread's device.
// False with `why`: the driver, the card's age, or CUDA's own error.
bool cards_find(struct card *out, int wanted, struct why *why);

// See struct backend.
void cards_describe(char *out, size_t bytes);

#endif
