// See disturbance.h.
#include "compute/measure/disturbance.h"

#include "compute/analysis/spread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LEAST_REPEATS = 3, // fewer have no spread
    PPM = 1000000,
    LEAST_TICKS = 3,
    LEAST_SWITCHES = 3,
    MOST_LOST_PART = 10,
};
static const double MOST_RATIO = SPREAD_DISTURBED, MOST_STOLEN = 0.05, MOST_SWITCHES_S = 50;

unsigned disturbance_signs(const struct disturbance *d) {
    double seconds = (double)d->measured_ns / 1e9 * d->threads;
    bool is_spread = d->prefill_ratio > MOST_RATIO || d->step_ratio > MOST_RATIO;
    bool is_stolen = d->stolen_ticks >= LEAST_TICKS && d->stolen_share > MOST_STOLEN;
    bool is_switched =
        d->switches >= LEAST_SWITCHES && (double)d->switches > MOST_SWITCHES_S * seconds;
    bool is_waiting = d->lost_ns > d->measured_ns / MOST_LOST_PART;
    return (is_waiting ? DISTURBED_WAITS : 0u) | (is_spread ? DISTURBED_SPREAD : 0u) |
           (is_stolen ? DISTURBED_STEAL : 0u) | (is_switched ? DISTURBED_SWITCHES : 0u);
}

// --- Spread ---

static double ratio_of(int64_t *samples, int count) {
    struct spread spread = spread_of_samples(samples, count);
    return spread.count > 0 && spread.p10_ns > 0 ? (double)spread.p90_ns / (double)spread.p10_ns
                                                 : 0;
}

static int64_t took_ns(const struct run *run, int pass) {
    return run_pass_end_ns(run, pass) - run->passes[pass].start_ns;
}

// Each repeat's time of one pass as a share of that pass's median, in ppm.
static void compare_pass(int64_t *shares, struct run *const *runs, int count, int pass) {
    for (int i = 0; i < count; i++)
        shares[i] = took_ns(runs[i], pass);
    int64_t median_ns = shares[spread_median_index(shares, count)];
    for (int i = 0; i < count; i++)
        shares[i] = median_ns > 0 ? (int64_t)((double)shares[i] / (double)median_ns * PPM) : PPM;
}

bool disturbance_compare(struct disturbance *out, struct run *const *runs, int count) {
    out->prefill_ratio = out->step_ratio = 0;
    if (count < LEAST_REPEATS)
        return true;
    int passes = runs[0]->pass_count;
    int64_t *shares = calloc((size_t)passes * (size_t)count + 1, sizeof *shares);
    if (!shares)
        return false;
    for (int i = 0; i < count; i++)
        shares[i] = run_prefill_ns(runs[i]);
    out->prefill_ratio = ratio_of(shares, count);
    int used = 0;
    for (int pass = 0; pass < passes; pass++) {
        if (runs[0]->passes[pass].phase != RUN_DECODE)
            continue;
        compare_pass(shares + used, runs, count, pass);
        used += count;
    }
    out->step_ratio = ratio_of(shares, used);
    free(shares);
    return true;
}

// --- Stolen time ---

// "cpu  user nice system idle iowait irq softirq steal ..."
struct disturbance_ticks disturbance_parse(const char *text) {
    int64_t user, nice, system, idle, iowait, irq, softirq, steal;
    if (sscanf(text,
               "cpu %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
               " %" SCNd64 " %" SCNd64,
               &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) != 8)
        return (struct disturbance_ticks){0};
    return (struct disturbance_ticks){steal, user + nice + system + irq + softirq + steal};
}

struct disturbance_ticks disturbance_ticks_now(void) {
    char line[256] = "";
    FILE *file = fopen("/proc/stat", "re");
    if (file && !fgets(line, sizeof line, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    return disturbance_parse(line);
}
