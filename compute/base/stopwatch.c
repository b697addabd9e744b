// See stopwatch.h.
#include "compute/base/stopwatch.h"

#include <time.h>

int64_t stopwatch_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t stopwatch_step_ns(void) {
    int64_t least_ns = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        int64_t before_ns = stopwatch_now_ns(), now_ns = before_ns;
        while (now_ns == before_ns)
            now_ns = stopwatch_now_ns();
        if (now_ns - before_ns < least_ns)
            least_ns = now_ns - before_ns;
    }
    return least_ns;
}

void stopwatch_utc_date(char out[32]) {
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
