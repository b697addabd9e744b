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

// What is left of a time without its first part, so that all three add up as they are
// written: with three digits, of which the whole's last one decides.
static int64_t rest_of(int64_t whole_ns, int64_t part_ns) {
    int64_t digit_ns = 1;
    while (digit_ns <= whole_ns / 1000)
        digit_ns *= 10;
    int64_t rest_ns = whole_ns - part_ns;
    if (rest_ns <= whole_ns / 10) // written with digits of its own
        return rest_ns;
    int64_t whole = (whole_ns + digit_ns / 2) / digit_ns,
            part = (part_ns + digit_ns / 2) / digit_ns;
    return (whole - part) * digit_ns;
}

struct figure run_decode_time(const struct run_info *info, int64_t prefill_ns, int64_t whole_ns) {
    if (prefill_ns < 0)
        return run_time(info, -1);
    // Units are whole, so they add up.
    int64_t rest_ns = whole_ns - prefill_ns;
    return run_time(info, run_counts_units(info) ? rest_ns : rest_of(whole_ns, prefill_ns));
}

static double decode_part(int64_t prefill_ns, int64_t whole_ns) {
    return (double)(whole_ns - prefill_ns) / (double)whole_ns;
}

struct figure run_decode_share(int64_t prefill_ns, int64_t whole_ns) {
    if (prefill_ns < 0 || whole_ns <= 0)
        return (struct figure){SIGN_DASH};
    return figure_share(decode_part(prefill_ns, whole_ns));
}

struct figure run_prefill_share(int64_t prefill_ns, int64_t whole_ns) {
    if (prefill_ns < 0 || whole_ns <= 0)
        return (struct figure){SIGN_DASH};
    return figure_rest(decode_part(prefill_ns, whole_ns));
}

struct figure run_range(const struct run_info *info, const struct run_range *range) {
    struct figure out = {""};
    if (range->p90_ns <= 0)
        return out;
    struct figure from = run_time_on(info, range->p10_ns, range->p90_ns);
    struct figure to = run_time(info, range->p90_ns);
    char *unit = strrchr(from.text, ' '), *same = strrchr(to.text, ' ');
    if (unit && same && strcmp(unit, same) == 0)
        *unit = '\0';
    WORDS_SAY(out.text, "run.range", "from", from.text, "to", to.text);
    return out;
}

struct figure run_disturbed(const struct run_info *info) {
    struct figure out = {""};
    if (info->is_disturbed)
        WORDS_SAY(out.text, info->is_loaded ? "run.disturbed_file" : "run.disturbed", "key",
                  word("name.shift_r"));
    return out;
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
