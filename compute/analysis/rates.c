// See rates.h.
#include "compute/analysis/rates.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// Devices and thread counts that one process measures; further ones share nothing.
enum { MOST_SHARED = 32 };

struct known_device {
    char device[96];
    int threads;
    double read_bytes_s[2]; // of memory, of a cache
    double matrix_flop_s;
};

static struct {
    pthread_mutex_t lock;
    int count;
    struct known_device of[MOST_SHARED];
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

void rates_prove(struct device_rates *rates, double bytes, double flop, int64_t took_ns) {
    if (took_ns <= 0)
        return;
    rates->read_bytes_s = fmax(rates->read_bytes_s, bytes / (double)took_ns * 1e9);
    rates->matrix_flop_s = fmax(rates->matrix_flop_s, flop / (double)took_ns * 1e9);
}

// The place for a device; NULL: there is none left.
static struct known_device *find_device(const char *device, int threads) {
    int i = 0;
    while (i < shared.count &&
           (strcmp(shared.of[i].device, device) != 0 || shared.of[i].threads != threads))
        i++;
    if (i == MOST_SHARED)
        return NULL;
    if (i == shared.count)
        snprintf(shared.of[shared.count++].device, sizeof shared.of[i].device, "%s", device);
    shared.of[i].threads = threads;
    return &shared.of[i];
}

void rates_share(struct device_rates *rates, const char *device, int threads) {
    pthread_mutex_lock(&shared.lock);
    struct known_device *known = find_device(device, threads);
    if (known) {
        double *read = &known->read_bytes_s[rates->is_cached];
        *read = rates->read_bytes_s = fmax(*read, rates->read_bytes_s);
        known->matrix_flop_s = rates->matrix_flop_s =
            fmax(known->matrix_flop_s, rates->matrix_flop_s);
    }
    pthread_mutex_unlock(&shared.lock);
}
