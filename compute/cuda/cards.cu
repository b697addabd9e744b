// See cards.cuh.
#include "compute/cuda/cards.cuh"

#include "compute/cuda/weights_cuda.cuh"

extern "C" {
#include "compute/base/why.h"
}

#include <stdio.h>
#include <string.h>

enum { LEAST_CAPABILITY = 75, LINE_BYTES = 256 };

// One card.
struct look {
    cudaDeviceProp prop;
    size_t free_bytes, total_bytes;
};

static bool check_driver(struct why *why) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (driver == 0)
        return why_set(why, "no NVIDIA driver is running: install one, or use --device cpu");
    if (driver / 1000 < runtime / 1000)
        return why_set(why,
                       "the NVIDIA driver is too old: it can do CUDA %d.%d, this program needs "
                       "%d.0: update the driver",
                       driver / 1000, driver % 1000 / 10, runtime / 1000);
    return true;
}

static bool count_cards(int *count, struct why *why) {
    *count = 0;
    if (!check_driver(why))
        return false;
    cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaErrorNoDevice || (error == cudaSuccess && *count == 0)) {
        cudaGetLastError();
        return why_set(why, "there is no NVIDIA GPU here, or CUDA_VISIBLE_DEVICES hides it");
    }
    return device_check(error, "be counted", why);
}

// Creates the context, since only that tells whether the card can be used.
static bool look_at(struct look *out, int index, struct why *why) {
    const cudaDeviceProp *prop = &out->prop;
    if (!device_check(cudaGetDeviceProperties(&out->prop, index), "describe itself", why))
        return false;
    if (10 * prop->major + prop->minor < LEAST_CAPABILITY)
        return why_set(why, "%.60s has compute capability %d.%d, this program needs %d.%d",
                       prop->name, prop->major, prop->minor, LEAST_CAPABILITY / 10,
                       LEAST_CAPABILITY % 10);
    cudaError_t error = cudaSetDevice(index);
    if (error == cudaSuccess)
        error = cudaMemGetInfo(&out->free_bytes, &out->total_bytes);
    if (error == cudaSuccess)
        return true;
    cudaGetLastError();
    return why_set(why, "the GPU cuda:%d (%.60s) cannot be used: %s (%s)%s", index, prop->name,
                   cudaGetErrorString(error), cudaGetErrorName(error),
                   error == cudaErrorMemoryAllocation ? ": other programs hold its memory" : "");
}

static bool refuse_index(int wanted, int count, struct why *why) {
    if (count == 1)
        return why_set(why, "there is no card cuda:%d here: the only one is cuda:0", wanted);
    return why_set(why, "there is no card cuda:%d here: they are cuda:0 to cuda:%d", wanted,
                   count - 1);
}

bool cards_find(struct card *out, int wanted, struct why *why) {
    int count;
    if (!count_cards(&count, why))
        return false;
    if (wanted >= count)
        return refuse_index(wanted, count, why);
    struct why first_why = {0};
    int from = wanted < 0 ? 0 : wanted, to = wanted < 0 ? count : wanted + 1;
    for (int i = from; i < to; i++) {
        struct look look;
        struct why card_why = {0};
        if (look_at(&look, i, &card_why)) {
            out->index = i;
            out->multiprocessors = look.prop.multiProcessorCount;
            snprintf(out->name, sizeof out->name, "%.95s", look.prop.name);
            return true;
        }
        if (i == from)
            memcpy(first_why.text, card_why.text, sizeof first_why.text);
    }
    return why_set(why, "%s", first_why.text);
}

static void describe_card(char *out, int index) {
    struct look look;
    struct why why = {0};
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (!look_at(&look, index, &why)) {
        snprintf(out, LINE_BYTES, "cuda:%d cannot be used: %.200s", index, why.text);
        return;
    }
    snprintf(out, LINE_BYTES,
             "cuda:%d %.80s, %.0f GiB memory, %.1f GiB free, compute capability %d.%d, driver for "
             "CUDA %d.%d",
             index, look.prop.name, (double)look.total_bytes / 0x1p30,
             (double)look.free_bytes / 0x1p30, look.prop.major, look.prop.minor, driver / 1000,
             driver % 1000 / 10);
}

void cards_describe(char *out, size_t bytes) {
    struct why why = {0};
    int count;
    size_t used = 0;
    bool has_cards = count_cards(&count, &why);
    snprintf(out, bytes, "%s", why.text);
    for (int i = 0; has_cards && i < count; i++) {
        char line[LINE_BYTES];
        describe_card(line, i);
        if (i > 0 && used + 1 + strlen(line) >= bytes)
            return;
        used += (size_t)snprintf(out + used, bytes - used, "%s%s", i > 0 ? "\n" : "", line);
        if (used >= bytes)
            return;
    }
}
