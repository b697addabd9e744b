// See words.h.
#include "compute/run/words.h"

#include "compute/base/words.h"

#include <stdio.h>
#include <string.h>

bool run_counts_units(const struct run_info *info) {
    return info->origin == RUN_LESSON && strcmp(info->unit, "ms") != 0;
}

struct figure run_time_on(const struct run_info *info, int64_t ns, int64_t scale_ns) {
    if (run_counts_units(info))
        return figure_units(ns, scale_ns, info->unit_ns, info->unit);
    return figure_time(ns, scale_ns);
}

struct figure run_time(const struct run_info *info, int64_t ns) {
    return run_time_on(info, ns, ns);
}

const char *run_model(const struct run_info *info) {
    return strcmp(info->weights, "bundled") == 0 ? word("stamp.bundled") : info->model;
}

struct run_device run_device(const struct run_info *info, bool with_threads) {
    struct run_device out;
    bool is_cpu = strcmp(info->device, "cpu") == 0;
    const char *name = info->device_name[0] ? info->device_name : is_cpu ? "CPU" : info->device;
    if (is_cpu && with_threads && info->threads > 0)
        WORDS_SAY(out.text, "device.threads", "device", name, "count",
                  figure_count(info->threads, false).text);
    else
        snprintf(out.text, sizeof out.text, "%s", name);
    return out;
}
